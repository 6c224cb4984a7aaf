/* A service of 200 operations, and one with 100 parameters, for the `mishap` program in place of
 * its own. many_test.py runs it. */
#include "artifacts/artifacts.h"
#include "lisp/lisp.h"
#include "symbolic/symbolic.h"
#include "python/python.h"
#include "todo/todo.h"

static mishap *tell(mishap_call *call)
{
    return mishap_answer(call, mishap_call_print(call, "{\"number\":%lld}",
                                                 (long long)mishap_integer(call, "number")));
}

static mishap *do_nothing(mishap_call *call)
{
    return mishap_no_content(call);
}

#define FLAG(n)                                                                                    \
    {                                                                                              \
        .name = "flag_with_number_" #n, .type = MISHAP_STRING                                      \
    }
#define TEN_FLAGS(n)                                                                               \
    FLAG(n##0), FLAG(n##1), FLAG(n##2), FLAG(n##3), FLAG(n##4), FLAG(n##5), FLAG(n##6),            \
        FLAG(n##7), FLAG(n##8), FLAG(n##9)

static const mishap_param flags[] = { TEN_FLAGS(0), TEN_FLAGS(1), TEN_FLAGS(2), TEN_FLAGS(3),
                                      TEN_FLAGS(4), TEN_FLAGS(5), TEN_FLAGS(6), TEN_FLAGS(7),
                                      TEN_FLAGS(8), TEN_FLAGS(9), { 0 } };

#define PARAMS(n)                                                                                  \
    (const mishap_param[])                                                                         \
    {                                                                                              \
        { "number", MISHAP_INTEGER, .initial = #n },                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define ONE(n)                                                                                     \
    {                                                                                              \
        "many.thing_with_number_" #n, "Tell the number of thing " #n, PARAMS(n), tell,             \
            .route = "GET /things/" #n, .quick = true                                              \
    }
#define TEN(n)                                                                                     \
    ONE(n##0), ONE(n##1), ONE(n##2), ONE(n##3), ONE(n##4), ONE(n##5), ONE(n##6), ONE(n##7),        \
        ONE(n##8), ONE(n##9)
#define HUNDRED(n)                                                                                 \
    TEN(n##0), TEN(n##1), TEN(n##2), TEN(n##3), TEN(n##4), TEN(n##5), TEN(n##6), TEN(n##7),        \
        TEN(n##8), TEN(n##9)

const mishap_service todo_service = { .name = "many", .summary = "Many operations" };

const mishap_scope todo_scopes[] = { { 0 } };

const mishap_operation todo_operations[] = {
    HUNDRED(1),
    HUNDRED(2),
    { .name = "many.flags", .summary = "Take 100 flags", .params = flags, .run = do_nothing },
    { 0 },
};

/* No Lisp. */
const mishap_service lisp_service = { .name = "lisp", .summary = "Nothing" };
const mishap_operation lisp_operations[] = { { 0 } };

/* No artifacts. */
mishap_service artifacts_service = { .name = "artifacts", .summary = "Nothing" };
const mishap_operation artifacts_operations[] = { { 0 } };

/* No analyses. */
const mishap_service symbolic_service = { .name = "symbolic", .summary = "Nothing" };
const mishap_operation symbolic_operations[] = { { 0 } };

/* Nothing that `doctor` could look for or try. */
const service_part lisp_parts[] = { { 0 } }, python_parts[] = { { 0 } },
                   symbolic_parts[] = { { 0 } };
const mishap_service python_service = { .name = "python", .summary = "Nothing" };
const mishap_app python_app = { .name = "python" };
