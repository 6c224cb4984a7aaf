/*
 * A program whose handler tries to tell what must not leave, in every way there is: while it runs,
 * with its answer, with its failure. leak_test.py runs it.
 *
 *     leaky serve --listen 127.0.0.1:0      leaky mcp
 */
#include <mishap/main.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the test looks for begins so (tests/cli/leaks.py). */
#define PRIVATE "marker-private"
#define TRACE                                                                                      \
    "Traceback (most recent call last):\n  File \"" PRIVATE ".py\", line 3, in helper\n"           \
    "#0 0x00005581c0ffee00 in helper () at " PRIVATE ".c:3"
#define TRACE_JSON                                                                                 \
    "Traceback (most recent call last):\\n  File \\\"" PRIVATE ".py\\\", line 3, in helper"

static const char *const ways[] = { "answer", "document",   "trace", "content",
                                    "raise",  "undeclared", "crash", NULL };
static const mishap_param leak_params[] = {
    { "how", MISHAP_ENUM, .required = true, .choices = ways, .help = "In which way" },
    { "password", MISHAP_STRING, .secret = true },
    { "pin", MISHAP_INTEGER, .secret = true, .range = { 0, 9999 } },
    { 0 },
};

/* -- while it runs ----------------------------------------------------------------------------- */

static void wait_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void tell_meanwhile(mishap_call *call, const char *password)
{
    const char *const said[] = { password, TRACE, "all of it" };
    for (int i = 0; i < 3; i++) {
        mishap_progress(call, i + 1, 3, said[i]);
        mishap_tell_client(call, MISHAP_INFO, "%s", said[i]);
        mishap_warn(call, "%s", said[i]);
        wait_ms(50); /* so that each is heard */
    }
    mishap_changed(call, "leaky://%s", password);
    mishap_changed(call, "leaky://open");
}

/* -- in the end -------------------------------------------------------------------------------- */

static mishap *answer(mishap_call *call, const char *password)
{
    mishap_answer_member(call, password, "its name");
    mishap_answer_member(call, "password", password);
    return mishap_answer_member(call, "output", TRACE);
}

static mishap *answer_content(mishap_call *call, const char *password)
{
    return mishap_answer_content(
        call, mishap_call_print(call,
                                "[{\"type\":\"text\",\"text\":\"It is %s.\"},"
                                "{\"type\":\"text\",\"text\":\"" TRACE_JSON "\"},"
                                "{\"type\":\"resource\",\"resource\":{\"uri\":\"leaky://open\","
                                "\"mimeType\":\"text/plain\",\"text\":\"%s\"}}]",
                                password, password));
}

static mishap *fail(const char *password)
{
    mishap *m = mishap_raise(NOT_FOUND, "There is nobody with %s.", password);
    m = mishap_tell(m, "given", password);
    m = mishap_tell(m, "output", TRACE);
    m = mishap_tell_cause(m, password);
    m = mishap_suggest(m, password);
    return mishap_note(m, "query", PRIVATE "-noted");
}

static mishap *fail_undeclared(const char *password)
{
    mishap *cause = mishap_raise(INPUT_UNREADABLE, "SELECT " PRIVATE "-cause: %s", password);
    return mishap_because(mishap_raise(CONFLICT, PRIVATE "-message: %s", password), cause);
}

static mishap *leak(mishap_call *call)
{
    const char *how = mishap_string(call, "how");
    const char *password = mishap_given(call, "password") ? mishap_string(call, "password")
                                                          : "nobody";
    tell_meanwhile(call, password);
    if (strcmp(how, "answer") == 0)
        return answer(call, password);
    if (strcmp(how, "document") == 0)
        return mishap_answer_document(
            call, mishap_text_of(mishap_call_print(call, "It is %s.", password)));
    if (strcmp(how, "trace") == 0)
        return mishap_answer_document(call, mishap_text_of(TRACE));
    if (strcmp(how, "content") == 0)
        return answer_content(call, password);
    if (strcmp(how, "raise") == 0)
        return fail(password);
    if (strcmp(how, "undeclared") == 0)
        return fail_undeclared(password);
    mishap_answer_member(call, "half", PRIVATE "-half");
    raise(SIGSEGV);
    return NULL;
}

/* -- secrets of all types, at any depth -------------------------------------------------------- */

static const char *const ends[] = {
    "raise", "undeclared", "crash", "exit", "nonsense", "hang", NULL
};
static const mishap_param holder_members[] = {
    { "name", MISHAP_STRING, .help = "Who it is" },
    { "pin", MISHAP_INTEGER, .secret = true, .range = { 0, 99999999999 } },
    { "rate", MISHAP_NUMBER, .secret = true, .range = { 0, 99999999999 } },
    { "keys", MISHAP_ARRAY,
      .items = &(
          const mishap_param){ .type = MISHAP_STRING, .secret = true, .length = { 0, 60 } } },
    { 0 },
};
static const mishap_param vault_params[] = {
    { "end", MISHAP_ENUM, .choices = ends, .initial = "\"raise\"" },
    { "holder", MISHAP_OBJECT, .members = holder_members },
    { "holders", MISHAP_ARRAY,
      .items = &(const mishap_param){ .type = MISHAP_OBJECT, .members = holder_members } },
    { "code", MISHAP_INTEGER, .secret = true, .range = { 0, 99999999999 } },
    { "content", MISHAP_OBJECT, .secret = true, .environment = "LEAKY_CONTENT" },
    { 0 },
};

/* A failure that says all there is, in text and in values. */
static mishap *tell_all(mishap_call *call, mishap *m)
{
    for (const mishap_param *param = vault_params + 1; param->name; param++) {
        const char *json = mishap_given(call, param->name) ? mishap_json(call, param->name) : "{}";
        mishap_warn(call, "There is %s.", json);
        mishap_tell_client(call, MISHAP_LEVEL_ERROR, "There is %s.", json);
        m = mishap_tell(m, mishap_call_print(call, "my_%s", param->name),
                        mishap_value_of_json(json));
        m = mishap_note(m, mishap_call_print(call, "text_of_%s", param->name), json);
        m = mishap_note(m, param->name, mishap_value_of_json(json));
        m = mishap_because(m, mishap_raise(INPUT_UNREADABLE, "It was %s.", json));
    }
    return m;
}

static mishap *use_vault(mishap_call *call)
{
    const char *end = mishap_string(call, "end");
    const char *holder = mishap_given(call, "holder") ? mishap_json(call, "holder") : "{}";
    if (strcmp(end, "raise") == 0)
        return tell_all(call, mishap_raise(NOT_FOUND, "There is no %s.", holder));
    if (strcmp(end, "undeclared") == 0)
        return tell_all(call, mishap_raise(CONFLICT, "There is %s.", holder));
    printf("It is %s.\n", holder);
    if (strcmp(end, "nonsense") == 0)
        return mishap_answer(call, mishap_call_print(call, "{\"holder\":%s", holder));
    if (strcmp(end, "exit") == 0)
        exit(3);
    while (strcmp(end, "hang") == 0)
        wait_ms(10);
    raise(SIGSEGV);
    return NULL;
}

static mishap *show_open(mishap_call *call)
{
    return mishap_answer_member(call, "open", true);
}

/* -- the program ------------------------------------------------------------------------------- */

static const mishap_service reporting = { .name = "reporting", .dialect = "condition-report" };
static const mishap_service trading = { .name = "trading", .dialect = "artifact" };

#define LEAKS                                                                                      \
    .summary = "Leak", .params = leak_params, .raises = MISHAP_RAISES(NOT_FOUND), .run = leak

static const mishap_operation operations[] = {
    { .name = "leak", .route = "POST /leak", LEAKS },
    { .name = "quick.leak", .quick = true, LEAKS },
    { .name = "report.leak", .service = &reporting, LEAKS },
    { .name = "artifact.leak", .service = &trading, LEAKS },
    { .name = "read.leak", .resource = "leaky://tries/{how}", LEAKS },
    { .name = "ask.leak", .prompt = "leak", LEAKS },
    { .name = "vault.use",
      .summary = "Use a vault",
      .route = "POST /vault",
      .params = vault_params,
      .raises = MISHAP_RAISES(NOT_FOUND),
      .run = use_vault,
      .timeout_ms = 5000 }, /* what does not hang ends before, also on a busy machine */
    { .name = "open",
      .summary = "What can be subscribed to",
      .resource = "leaky://open",
      .run = show_open },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(
        argc, argv, &(mishap_app){ .name = "leaky", .version = "1.0", .operations = operations });
}
