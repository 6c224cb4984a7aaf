/*
 * A program whose tools do everything that a client over MCP has to cope with: long calls and short
 * ones, crashes, output of their own, failures in each dialect. stdio_test.py, hostile_test.py and
 * clients_test.py run it.
 *
 *     workshop mcp
 */
#include <mishap/main.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void wait_ms(int64_t ms)
{
    if (ms)
        nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* -- short calls ------------------------------------------------------------------------------- */

static const mishap_param text_params[] = {
    { "text", MISHAP_STRING, .required = true, .help = "What to say" },
    { 0 },
};

static mishap *echo(mishap_call *call)
{
    return mishap_answer_member(call, "text", mishap_string(call, "text"));
}

/* JSON as people like it, in many lines. */
static mishap *pretty(mishap_call *call)
{
    return mishap_answer(call, "{\n  \"text\": \"two\\nlines\",\r\n  \"list\": [\n    1,\n    2\n"
                               "  ]\n}\n");
}

static const mishap_param touch_params[] = {
    { "uri", MISHAP_STRING, .required = true, .help = "The address of what has changed" },
    { "times", MISHAP_INTEGER, .range = { 1, 10000 }, .initial = "1" },
    { 0 },
};

static mishap *touch(mishap_call *call)
{
    for (int64_t i = mishap_integer(call, "times"); i > 1; i--)
        mishap_changed(call, "workshop://echo/%d", (int)i);
    mishap_changed(call, "%s", mishap_string(call, "uri"));
    return mishap_answer_member(call, "touched", true);
}

/* -- long calls -------------------------------------------------------------------------------- */

static const mishap_param count_params[] = {
    { "to", MISHAP_INTEGER, .required = true, .range = { 1, 100000 } },
    { "pause_ms", MISHAP_INTEGER, .range = { 0, 10000 }, .initial = "0" },
    { "at_once", MISHAP_INTEGER, .range = { 0, 10000 }, .initial = "0",
      .help = "After which the pauses begin" },
    { 0 },
};

static mishap *count(mishap_call *call)
{
    int64_t to = mishap_integer(call, "to"), at = 0;
    char words[40];
    fprintf(stderr, "counting to %d\n", (int)to); /* who waits for that knows that it has begun */
    while (at < to && !mishap_cancelled(call)) {
        at++;
        snprintf(words, sizeof words, "at %d", (int)at);
        mishap_progress(call, (double)at, (double)to, words);
        wait_ms(at > mishap_integer(call, "at_once") ? mishap_integer(call, "pause_ms") : 0);
    }
    if (mishap_cancelled(call))
        fprintf(stderr, "cancelled at %d\n", (int)at);
    return mishap_answer_member(call, "counted", at);
}

static const mishap_param sleep_params[] = {
    { "ms", MISHAP_INTEGER, .required = true, .range = { 0, 60000 } },
    { 0 },
};

/* It notices nothing. */
static mishap *sleep_through(mishap_call *call)
{
    fprintf(stderr, "asleep\n");
    wait_ms(mishap_integer(call, "ms"));
    fprintf(stderr, "awake\n");
    return mishap_answer_member(call, "slept", mishap_integer(call, "ms"));
}

static mishap *chatter(mishap_call *call)
{
    for (int level = MISHAP_DEBUG; level <= MISHAP_EMERGENCY; level++)
        mishap_tell_client(call, (mishap_level)level, "This is level %d.", level);
    return mishap_answer_member(call, "levels", (int)MISHAP_EMERGENCY + 1);
}

/* -- what is not the protocol's ---------------------------------------------------------------- */

/* Everything that a careless handler does with standard input and output. */
static mishap *print(mishap_call *call)
{
    char byte;
    printf("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"a forgery\"}\n");
    fflush(stdout);
    ssize_t written = write(STDOUT_FILENO, "written by hand\n", 16);
    int status = system("echo by a child; cat");
    ssize_t got = read(STDIN_FILENO, &byte, 1);
    mishap_answer_member(call, "written", (int64_t)written);
    mishap_answer_member(call, "status", status);
    return mishap_answer_member(call, "got", (int64_t)got);
}

static const mishap_param ask_params[] = {
    { "times", MISHAP_INTEGER, .required = true, .range = { 1, 5 }, .help = "How often" },
    { "loudly", .type = MISHAP_BOOLEAN, .help = "With an exclamation mark" },
    { 0 },
};

/* As a prompt. */
static mishap *ask(mishap_call *call)
{
    char words[100] = "";
    for (int64_t i = mishap_integer(call, "times"); i > 0; i--)
        strcat(words, i > 1 ? "please " : "please");
    return mishap_answer_document(
        call, mishap_text_of(mishap_call_print(call, "%s%s", words,
                                               mishap_boolean(call, "loudly") ? "!" : "")));
}

static mishap *crash(mishap_call *call)
{
    static volatile char *volatile nowhere = NULL;
    mishap_answer(call, "{\"half\":\"done\"}"); /* must not be told */
    *nowhere = 1;
    return NULL;
}

/* -- failures ---------------------------------------------------------------------------------- */

static const char *const ways[] = { "not_found", "conflict", "busy", "private", NULL };
static const mishap_param fail_params[] = {
    { "how", MISHAP_ENUM, .required = true, .choices = ways, .help = "In which way" },
    { 0 },
};

static mishap *fail(mishap_call *call)
{
    const char *how = mishap_string(call, "how");
    if (strcmp(how, "not_found") == 0)
        return mishap_tell(mishap_raise(NOT_FOUND, "There is no user 7."), "user", 7);
    if (strcmp(how, "conflict") == 0)
        return mishap_suggest(mishap_raise(ALREADY_EXISTS, "The name is taken."),
                              "Choose another name.");
    if (strcmp(how, "busy") == 0)
        return mishap_retry_after(mishap_raise(UNAVAILABLE, "The store is busy."), 1500);
    return mishap_note(mishap_raise(INTERNAL_ERROR, "The private reason."), "noted", "privately");
}

static const mishap_service reporting = { .name = "reporting", .dialect = "condition-report" };
static const mishap_service trading = { .name = "trading", .dialect = "artifact" };

static const mishap_param said[] = { { "text", MISHAP_STRING, .required = true }, { 0 } };
static const mishap_param counted[] = { { "counted", MISHAP_INTEGER, .required = true }, { 0 } };

#define FAILS                                                                                      \
    .run = fail, .params = fail_params,                                                            \
    .raises = MISHAP_RAISES(NOT_FOUND, ALREADY_EXISTS, UNAVAILABLE)

static const mishap_operation operations[] = {
    { .name = "echo",
      .summary = "Say it again",
      .params = text_params,
      .answers = said,
      .run = echo,
      .quick = true },
    { .name = "apart.echo",
      .summary = "Say it again, from a worker",
      .resource = "workshop://echo/{text}",
      .params = text_params,
      .answers = said,
      .run = echo,
      .stateless = true },
    { .name = "pretty",
      .summary = "Answer in many lines",
      .resource = "workshop://pretty",
      .run = pretty,
      .quick = true },
    { .name = "ask",
      .summary = "Ask",
      .params = ask_params,
      .prompt = "ask",
      .run = ask,
      .stateless = true },
    { .name = "count",
      .summary = "Count, and say how far it is",
      .resource = "workshop://count/{to}/{pause_ms}",
      .params = count_params,
      .answers = counted,
      .run = count,
      .stateless = true },
    { .name = "sleep",
      .summary = "Sleep for a while",
      .resource = "workshop://sleep/{ms}",
      .params = sleep_params,
      .run = sleep_through,
      .stateless = true,
      .timeout_ms = 1000 },
    { .name = "chatter",
      .summary = "Say something of every level",
      .run = chatter,
      .stateless = true },
    { .name = "print", .summary = "Write to standard output", .run = print, .stateless = true },
    { .name = "crash", .summary = "Crash where it is called", .run = crash, .quick = true },
    { .name = "apart.crash",
      .summary = "Crash in a worker",
      .resource = "workshop://crash",
      .run = crash,
      .stateless = true },
    { .name = "fail", .summary = "Fail", .quick = true, FAILS },
    { .name = "apart.fail",
      .summary = "Fail in a worker",
      .resource = "workshop://fail/{how}",
      .stateless = true,
      FAILS },
    { .name = "report.fail", .summary = "Fail as a report", .service = &reporting, FAILS },
    { .name = "artifact.fail", .summary = "Fail as an artifact", .service = &trading, FAILS },
    { .name = "touch",
      .summary = "Say that a resource has changed",
      .params = touch_params,
      .run = touch,
      .danger = MISHAP_MUTATING,
      .quick = true },
    { .name = "apart.touch",
      .summary = "Say so from a worker",
      .params = touch_params,
      .run = touch,
      .danger = MISHAP_MUTATING,
      .stateless = true },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(
        argc, argv,
        &(mishap_app){ .name = "workshop", .version = "1.0", .operations = operations });
}
