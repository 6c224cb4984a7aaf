/*
 * A program that has routes of its own where the server would have pages. served_test.py sees that
 * these are preferred, for browsers and for programs.
 *
 *     own serve --listen 127.0.0.1:0
 */
#include <mishap/main.h>

static const mishap_param code_params[] = { { "name", MISHAP_STRING, .required = true }, { 0 } };

static mishap *answer_own(mishap_call *call)
{
    return mishap_answer_member(call, "own", mishap_operation_name(call));
}

#define OWN(words, path, ...)                                                                      \
    {                                                                                              \
        .name = (words), .summary = "A route of the program", .run = answer_own, .quick = true,    \
        .route = (path), __VA_ARGS__                                                               \
    }

static const mishap_operation operations[] = {
    OWN("own.home", "GET /"),
    OWN("own.docs", "GET /docs"),
    OWN("own.errors", "GET /errors"),
    OWN("own.error", "GET /errors/:name", .params = code_params),
    OWN("own.console", "GET /console"),
    OWN("own.play", "POST /playground"),
    { 0 },
};

static const mishap_app app = { .name = "own", .version = "1", .operations = operations };

int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &app);
}
