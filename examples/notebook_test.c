/* The tests of the notebook: by C calls, and over HTTP with a session. */
#include <mishap/test.h>

#include <stdio.h>

/* The service is one file, and this is a program of its own. */
int notebook_main(int argc, char **argv);
#define main notebook_main
#include "notebook.c"
#undef main

static void run_code(mishap_test *t)
{
    mishap_test_call(t, "python.run", "{\"code\":\"answer = 6 * 7\"}");
    mishap_expect_value(t, "answer", "42");
    mishap_test_call(t, "python.run", "{\"code\":\"1 / 0\"}");
    mishap_expect_code(t, RUNTIME_ERROR);
    mishap_test_call(t, "python.run", "{\"code\":\"open('/etc/passwd')\"}");
    mishap_expect_code(t, RUNTIME_ERROR);
    mishap_test_call(t, "python.run", "{\"code\":\"import os; os._exit(3)\"}");
    mishap_expect_code(t, INTERNAL_ERROR); /* one call is lost, and the next one works */
    mishap_test_call(t, "python.run", "{\"code\":\"answer = 1\"}");
    mishap_expect_value(t, "answer", "1");
}

/* A C call has a session of its own, which ends with the call. A server keeps sessions. */
static void forget_variables(mishap_test *t)
{
    mishap_test_call(t, "python.run", "{\"code\":\"x = 41\"}");
    mishap_expect_ok(t);
    mishap_expect_nothing(t, "session");
    mishap_test_call(t, "python.run", "{\"code\":\"answer = x\"}");
    mishap_expect_code(t, RUNTIME_ERROR);
    mishap_test_call(t, "python.run",
                     "{\"code\":\"answer = x\",\"session\":"
                     "\"000000000000000000000000000000000000000000000000\"}");
    mishap_expect_code(t, NOT_FOUND);
    mishap_test_call(t, "python.run", "{\"code\":\"answer = x\",\"session\":\"short\"}");
    mishap_expect_field(t, "session", "pattern_mismatch");
}

static void keep_variables(mishap_test *t)
{
    char session[128] = "";
    const char *const headers[] = { "Mishap-Session", session, NULL };
    mishap_test_send(t, &(mishap_test_request){ .path = "/python",
                                                .body = mishap_text_of("{\"code\":\"x = 41\"}") });
    mishap_expect_status(t, 200);
    const char *id = mishap_test_header(t, "Mishap-Session");
    snprintf(session, sizeof session, "%s", id ? id : "");
    mishap_test_send(
        t, &(mishap_test_request){ .path = "/python",
                                   .headers = headers,
                                   .body = mishap_text_of("{\"code\":\"answer = x + 1\"}") });
    mishap_expect_value(t, "answer", "42");
    mishap_test_send(
        t, &(mishap_test_request){ .path = "/python",
                                   .body = mishap_text_of("{\"code\":\"answer = x + 1\"}") });
    mishap_expect_code(t, RUNTIME_ERROR); /* another session has other variables */
}

/* Not every machine has all layers of the sandbox. */
static bool has_sandbox(mishap_test *t)
{
    mishap_test_call(t, "python.run", "{\"code\":\"\"}");
    const mishap *failure = mishap_test_failure(t);
    return !failure || !mishap_is(failure, NOT_CONFIGURED);
}

int main(void)
{
    mishap_test *t = mishap_test_begin(&notebook);
    mishap_test_call(t, "python.run", "{}");
    mishap_expect_field(t, "code", "field_required");
    if (has_sandbox(t)) {
        run_code(t);
        forget_variables(t);
        keep_variables(t);
        mishap_expect_getters(t);
    } else {
        printf("# SKIP the sandbox is not available here\n");
    }
    return mishap_test_end(t);
}
