/*
 * Typed arguments beside getters: the same call of the same operation, whose handler reads every
 * parameter, with its checks and its end; and a call that is refused with three findings, as the
 * 422 of seed 003, up to the body of its response. CPU time for each call; under callgrind, with a
 * number of calls as its argument, the instructions of each function.
 *
 *     typed_bench [CALLS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../figure.h"
#include "dialect/dialect.h"
#include "mishap/typed.h"
#include "operation/call.h"

#define LINE(member)                                                                               \
    member(MISHAP_STRING, title, .required = true) member(MISHAP_INTEGER, count, .required = true) \
        member(MISHAP_DECIMAL, price, .required = true, .scale = 2)
MISHAP_STRUCT(line, LINE);

#define ORDER(member)                                                                              \
    member(MISHAP_STRING, name, .required = true, .length = { 1, 200 })                            \
        member(MISHAP_STRING, email, .required = true, .format = "email")                          \
            member(MISHAP_INTEGER, age, .range = { 0, 150 })                                       \
                member(MISHAP_TIMESTAMP, starts, .required = true)                                 \
                    member(MISHAP_DECIMAL, price, .required = true, .scale = 2)                    \
                        member(MISHAP_BOOLEAN, gift)                                               \
                            member(MISHAP_OBJECTS_OF(line), lines, .required = true)
MISHAP_STRUCT(order, ORDER);

static int64_t sum;

static mishap *by_struct(mishap_call *call, const struct order *in)
{
    (void)call;
    sum += in->name[0] + in->email[0] + in->age + in->starts.time.tv_sec + in->price.units +
           in->gift;
    for (size_t i = 0; i < in->lines.count; i++)
        sum += in->lines.data[i].title[0] + in->lines.data[i].count * in->lines.data[i].price.units;
    return NULL;
}

static mishap *by_getters(mishap_call *call)
{
    sum += mishap_string(call, "name")[0] + mishap_string(call, "email")[0] +
           mishap_integer(call, "age") + mishap_timestamp_of(call, "starts").time.tv_sec +
           mishap_decimal_of(call, "price").units + mishap_boolean(call, "gift");
    for (const mishap_call *line = mishap_first(call, "lines"); line; line = mishap_next(line))
        sum += mishap_string(line, "title")[0] +
               mishap_integer(line, "count") * mishap_decimal_of(line, "price").units;
    return NULL;
}

static const mishap_operation operations[] = {
    { "struct", "By a struct", MISHAP_TYPED(order, by_struct) },
    { "getters", "By getters", order_params, by_getters },
    { 0 },
};
static const mishap_app app = { .name = "typed", .operations = operations };

static const char arguments[] =
    "{\"name\":\"Ada Lovelace\",\"email\":\"ada@example.com\",\"age\":36,"
    "\"starts\":\"2026-02-28T18:30:00+01:00\",\"price\":\"120.50\",\"gift\":true,"
    "\"lines\":[{\"title\":\"tea\",\"count\":2,\"price\":\"1.50\"},"
    "{\"title\":\"milk\",\"count\":1,\"price\":\"2\"}]}";

/* The name is empty, the address has no domain, and nobody is 200 years old. */
static const char wrong_arguments[] =
    "{\"name\":\"\",\"email\":\"ada\",\"age\":200,"
    "\"starts\":\"2026-02-28T18:30:00+01:00\",\"price\":\"120.50\",\"gift\":true,"
    "\"lines\":[{\"title\":\"tea\",\"count\":2,\"price\":\"1.50\"},"
    "{\"title\":\"milk\",\"count\":1,\"price\":\"2\"}]}";

static void call_once(const mishap_operation *operation)
{
    mishap_call *call;
    mishap *m = mishap_call_begin(&app, operation, mishap_text_of(arguments), &call);
    m = m ? m : mishap_call_run(call);
    if (m)
        abort();
    mishap_call_end(call);
}

static void refuse_once(const mishap_operation *operation)
{
    static const mishap_dialect *dialect;
    char room[1024];
    mishap_buffer body;
    mishap_call *call;
    mishap *m = mishap_call_begin(&app, operation, mishap_text_of(wrong_arguments), &call);
    if (!m || mishap_told(m)->field_count != 3)
        abort();
    dialect = dialect ? dialect : mishap_dialect_find("http-api");
    mishap_buffer_init(&body, room, sizeof room);
    mishap_render(dialect, m, &body);
    sum += (int64_t)body.length;
    mishap_buffer_release(&body);
    mishap_free(m);
}

/* -- measuring --------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double measure(void (*once)(const mishap_operation *), const mishap_operation *operation,
                      long calls)
{
    double start = seconds();
    for (long i = 0; i < calls; i++)
        once(operation);
    return (seconds() - start) / (double)calls * 1e9;
}

/* The quickest round of each way; the two take turns. Rounds are short, so that other programs do
 * not run in all of them. */
static void compare(const char *what, void (*once)(const mishap_operation *), long calls,
                    int rounds, double most)
{
    double best[2] = { 1e9, 1e9 };
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 2; i++) {
            double found = measure(once, &operations[i], calls);
            best[i] = found < best[i] ? found : best[i];
        }
    double ratio = figure(what, best[0]) / figure(what, best[1]);
    printf("%s: a struct: %.0f ns, getters: %.0f ns, ratio %.3f (at most %.2f): %s\n", what,
           best[0], best[1], ratio, most, outcome(ratio, 3, most));
}

int main(int argc, char **argv)
{
    enum { ROUNDS = 60 };
    long calls = argc > 1 ? atol(argv[1]) : 4000;
    int rounds = argc > 1 ? 1 : ROUNDS;
    compare("a call", call_once, calls, rounds, 1.0);
    compare("a refused call", refuse_once, calls, rounds, 1.02);
    if (sum == 0)
        end_void("the bytes of the answers", "0, so nothing was read");
    return 0;
}
