/* What runs Python in a program of its own, for tests: the operations themselves, and one whose
 * handler calls it, as that of a service does. */
#include <mishap/call.h>
#include <mishap/main.h>

#include "python/python.h"

static const mishap_param code_and_arguments[] = {
    { "code", MISHAP_STRING, .required = true, .help = "The source of a module" },
    { "args", MISHAP_STRING, .initial = "\"[]\"", .help = "A JSON array" },
    { "timeout", MISHAP_NUMBER, .initial = "5", .help = "Seconds" },
    { 0 },
};

static mishap *handle(mishap_call *call)
{
    mishap_answered *answered = NULL;
    python_code what = { .code = mishap_string(call, "code"),
                         .timeout = mishap_number(call, "timeout") };
    mishap *failure = python_run(&what, mishap_string(call, "args"), &answered);
    if (!failure)
        failure = mishap_answer_json(call, "got", mishap_json(answered->json, "result"));
    mishap_answered_free(answered);
    return failure;
}

/* The first two are those that run Python. */
static mishap_operation operations[] = {
    { 0 },
    { 0 },
    { "handler.run", "Run code from a handler", code_and_arguments, handle,
      .route = "POST /handler/run", .stateless = true, .timeout_ms = 60 * 1000,
      .raises = MISHAP_RAISES(SYNTAX_ERROR, RUNTIME_ERROR, INVALID_ARGUMENT, NOT_CONFIGURED) },
    { 0 },
};

int main(int argc, char **argv)
{
    static const mishap_app app = {
        .name = "snake", .version = "1.0", .summary = "Python", .operations = operations
    };
    for (size_t i = 0; i < 2; i++)
        operations[i] = python_operations[i];
    return mishap_main(argc, argv, &app);
}
