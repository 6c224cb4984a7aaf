/*
 * A server whose handlers fail in ways that no service here does. connection_test.py, api_test.py
 * and bodies_test.py run it.
 *
 *     faulty serve --listen 127.0.0.1:0
 */
#include <mishap/main.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static mishap *crash(mishap_call *call)
{
    (void)call;
    raise(SIGSEGV);
    return NULL;
}

/* -- what must not leave ----------------------------------------------------------------------- */

#define TRACE                                                                                      \
    "Traceback (most recent call last):\n  File \"/srv/app/pay.py\", line 3, in charge\nKeyError"

static const char *const places[] = { "answer",  "key",     "document", "bracket", "warning",
                                      "address", "escaped", "message",  NULL };

static const mishap_param leak_params[] = {
    { "where", MISHAP_ENUM, .required = true, .choices = places },
    { "password", MISHAP_STRING, .secret = true },
    { 0 },
};

static bool is(const char *where, const char *place)
{
    return strcmp(where, place) == 0;
}

/* The text of a secret, or a stack trace, wherever a handler can put a text. */
static mishap *leak(mishap_call *call)
{
    const char *where = mishap_string(call, "where"), *password = mishap_string(call, "password");
    const char *text = password ? password : TRACE;
    mishap_answer_member(call, "done", (bool)true);
    if (is(where, "answer"))
        return mishap_answer_member(call, "found", text);
    if (is(where, "key"))
        return mishap_answer_member_value(call, mishap_text_of(text), mishap_value_of_int(1));
    if (is(where, "document"))
        return mishap_answer_document(call,
                                      mishap_text_of(mishap_call_print(call, "It says %s", text)));
    if (is(where, "bracket")) /* looks like JSON, and is none */
        return mishap_answer_document(call,
                                      mishap_text_of(mishap_call_print(call, "[info] %s", text)));
    if (is(where, "warning"))
        mishap_warn(call, "Mind this: %s", text);
    if (is(where, "address"))
        return mishap_created(call, "{}", mishap_call_print(call, "/leaks/%s", text));
    if (is(where, "escaped"))
        return mishap_created(call, "{}", "/leaks/tr%C3%A8s%20sec%72et");
    if (is(where, "message"))
        return mishap_raise(CONFLICT, "It says %s", text);
    return NULL;
}

static mishap *refuse(mishap_call *call)
{
    (void)call;
    return mishap_bad_request("Bad request");
}

/* -- callers that leave, and bodies that are held ---------------------------------------------- */

static void touch(const char *path, const char *more)
{
    char name[4096];
    snprintf(name, sizeof name, "%s%s", path, more);
    FILE *file = fopen(name, "w");
    if (file)
        fclose(file);
}

static void pause_ms(long milliseconds)
{
    nanosleep(&(struct timespec){ milliseconds / 1000, milliseconds % 1000 * 1000000 }, NULL);
}

static const mishap_param watch_params[] = {
    { "mark", MISHAP_STRING, .required = true },
    { "gives_up", MISHAP_BOOLEAN, .help = "Answer with a failure" },
    { 0 },
};

/* Waits until it is told that its caller has left, and answers all the same, or gives up. */
static mishap *watch(mishap_call *call)
{
    const char *mark = mishap_string(call, "mark");
    touch(mark, ".begun");
    while (!mishap_cancelled(call))
        pause_ms(5);
    touch(mark, "");
    if (mishap_boolean(call, "gives_up"))
        return mishap_raise(CANCELLED, "The caller has left.");
    return mishap_answer_member(call, "told", (bool)true);
}

static const mishap_param hold_params[] = {
    { "until", MISHAP_STRING, .required = true },
    { 0 },
};

/* Takes a body, and answers when a file is there. */
static mishap *hold(mishap_call *call)
{
    while (access(mishap_string(call, "until"), F_OK) != 0)
        pause_ms(5);
    return mishap_answer_member(call, "bytes", (uint64_t)mishap_body(call).length);
}

/* -- the program ------------------------------------------------------------------------------- */

static const mishap_operation operations[] = {
    { .name = "crash",
      .summary = "Crash on the thread of the loop",
      .route = "POST /crash",
      .quick = true,
      .run = crash },
    { .name = "leak",
      .summary = "Say what must not be said",
      .route = "POST /leaks",
      .params = leak_params,
      .run = leak,
      .raises = MISHAP_RAISES(CONFLICT) },
    { .name = "watch",
      .summary = "Wait until the caller leaves",
      .route = "POST /watches",
      .params = watch_params,
      .stateless = true,
      .run = watch },
    { .name = "hold",
      .summary = "Hold a body",
      .route = "POST /holds",
      .params = hold_params,
      .takes = "application/octet-stream",
      .stateless = true,
      .run = hold },
    { .name = "refuse",
      .summary = "Take no request at all",
      .route = "POST /refusals",
      .run = refuse },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "faulty",
                                      .version = "1.0",
                                      .summary = "Handlers that fail",
                                      .operations = operations });
}
