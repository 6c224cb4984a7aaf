/*
 * A program whose operations may become tasks, and which notes each run of a handler in a file: for
 * task_test.py and storm_test.py.
 */
#include <mishap/main.h>
#include <mishap/store.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MARKER "MISHAP-PRIVATE-7f3a9c"

/* The clocks of the process of tasks, so that a test need not wait for limits of seconds: it is
 * ahead by as many seconds as the file WORKER_CLOCK has bytes. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    char name[16] = "";
    struct stat file;
    const char *path = getenv("WORKER_CLOCK");
    long result = syscall(SYS_clock_gettime, clock, time);
    if (!result && path && (clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME) &&
        prctl(PR_GET_NAME, name) == 0 && strcmp(name, "mishap-tasks") == 0 &&
        stat(path, &file) == 0)
        time->tv_sec += file.st_size;
    return (int)result;
}

/* One line, written at once: the word, its number, the id of the call. */
static void note(mishap_call *call, const char *word)
{
    char line[200];
    const char *file = mishap_string(call, "file");
    int length = snprintf(line, sizeof line, "%s %lld %s %s\n", word,
                          (long long)mishap_integer(call, "number"), mishap_call_id(call),
                          mishap_call_is_repeated(call) ? "again" : "first");
    int to = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (to < 0)
        return;
    if (write(to, line, (size_t)length) < 0)
        _exit(9);
    close(to);
}

/* Wait for so long, or while a file is there, or until it is cancelled. */
static void work(mishap_call *call)
{
    const char *gate = mishap_string(call, "gate");
    int64_t left = mishap_integer(call, "ms");
    while ((gate ? access(gate, F_OK) == 0 : left > 0) && !mishap_cancelled(call)) {
        usleep(1000);
        left--;
    }
}

static mishap *run_work(mishap_call *call)
{
    note(call, "begin");
    mishap_progress(call, 1, 2, "Half of it");
    work(call);
    note(call, mishap_cancelled(call) ? "cancelled" : "end");
    if (mishap_cancelled(call))
        return mishap_raise(CANCELLED, "The work was cancelled.");
    mishap_warn(call, "It took a while.");
    return mishap_answer_member(call, "number", mishap_integer(call, "number"));
}

/* It goes on after it was cancelled. */
static mishap *run_stubborn(mishap_call *call)
{
    note(call, "begin");
    while (!mishap_cancelled(call))
        usleep(1000);
    note(call, "cancelled");
    while (access(mishap_string(call, "gate"), F_OK) == 0)
        usleep(1000);
    return NULL;
}

/* An answer of so many kilobytes. */
static mishap *run_large(mishap_call *call)
{
    size_t length = (size_t)mishap_integer(call, "number") * 1000;
    char *text = mishap_call_take(call, length + 1);
    mishap_progress(call, NAN, INFINITY, "Not a number");
    work(call);
    memset(text, 'x', length);
    text[length] = '\0';
    return mishap_answer_member(call, "text", (const char *)text);
}

static mishap *run_lack(mishap_call *call)
{
    work(call);
    mishap *m = mishap_raise(NOT_FOUND, "There is no number %lld.",
                             (long long)mishap_integer(call, "number"));
    return mishap_note(m, "private", MARKER);
}

static mishap *run_crash(mishap_call *call)
{
    note(call, "begin");
    work(call);
    raise(SIGSEGV);
    return NULL;
}

static mishap *run_secret(mishap_call *call)
{
    note(call, "begin");
    mishap_task_mark(call, "%s", mishap_string(call, "token"));
    mishap_progress(call, 1, 2, mishap_string(call, "token"));
    work(call);
    mishap_warn(call, "The token was %s.", mishap_string(call, "token"));
    if (mishap_integer(call, "number"))
        return NULL;
    return mishap_raise(CONFLICT, "The token %s does not fit.", mishap_string(call, "token"));
}

/* It goes on where an earlier run has left its mark. With a gate it waits before the step `stop`.
 */
static mishap *run_steps(mishap_call *call)
{
    const char *last = mishap_task_last_mark(call);
    int64_t i = last ? strtoll(last, NULL, 10) : 0;
    note(call, "begin");
    note(call, mishap_call_print(call, "from-%lld", (long long)i));
    for (; i < mishap_integer(call, "count"); i++) {
        if (!mishap_given(call, "gate") || i == mishap_integer(call, "stop"))
            work(call);
        note(call, mishap_call_print(call, "step-%lld", (long long)i));
        mishap_task_mark(call, "%lld", (long long)i + 1);
    }
    note(call, "end");
    mishap_answer_member(call, "last", last ? last : "");
    return mishap_answer_member(call, "again", mishap_call_is_repeated(call));
}

/* Marks that are none, and the longest that is one, which the next run has. */
static mishap *run_measure(mishap_call *call)
{
    static const char *const wrong[] = { "a\xFF", "\xED\xA0\x80", "\xC0\x80" };
    const char *last = mishap_task_last_mark(call);
    int64_t length = mishap_integer(call, "number");
    char *mark = mishap_call_take(call, (size_t)length + 1);
    bool kept;
    memset(mark, 'x', (size_t)length);
    mark[length] = '\0';
    kept = mishap_task_mark(call, "{\"of\":\"%s\"}", "an earlier one") &&
           mishap_task_mark(call, "%s", mark);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (mishap_task_mark(call, "%s", wrong[i]))
            return mishap_raise(INTERNAL_ERROR, "It is no UTF-8.");
    if (mishap_boolean(call, "removed"))
        mishap_task_mark(call, "%s", "");
    if (mishap_boolean(call, "dies") && !mishap_call_is_repeated(call))
        raise(SIGKILL);
    mishap_answer_member(call, "kept", kept);
    mishap_answer_member(call, "length", last ? (int64_t)strlen(last) : -1);
    return mishap_answer_member(call, "last", last && length > 100 ? "" : last);
}

static const mishap_param sure_params[] = {
    { "sure", MISHAP_BOOLEAN, .required = true, .help = "Do it" },
    { 0 },
};

/* It changes something once, also if it is asked about the rest. */
static mishap *run_charge(mishap_call *call)
{
    const mishap_call *sure = mishap_reply(call, "sure");
    if (!mishap_task_last_mark(call)) {
        note(call, "charge");
        mishap_task_mark(call, "charged");
    }
    work(call);
    if (!sure)
        return mishap_ask(call, "sure", sure_params, "Send it?");
    return mishap_answer_member(call, "mark", mishap_task_last_mark(call));
}

static mishap *run_image(mishap_call *call)
{
    static const char bytes[] = "\0\1\2image\377";
    work(call);
    mishap_set_header(call, "X-Made-By", "worker");
    return mishap_answer_bytes(call, (mishap_text){ bytes, sizeof bytes - 1 }, "image/png");
}

static const mishap_param place_params[] = {
    { "place", MISHAP_STRING, .required = true, .length = { 1, 20 } },
    { 0 },
};

/* It asks once or twice, and then works. */
static mishap *run_ask(mishap_call *call)
{
    const mishap_call *sure = mishap_reply(call, "sure"), *place = mishap_reply(call, "place");
    mishap *asks = NULL;
    note(call, "asked");
    work(call);
    if (!sure)
        asks = mishap_ask(call, "sure", sure_params, "Do number %lld?",
                          (long long)mishap_integer(call, "number"));
    if (mishap_is(asks, CANCELLED))
        return asks;
    if (!place && mishap_boolean(call, "both"))
        asks = mishap_ask(call, "place", place_params, "Where?");
    if (asks)
        return asks;
    note(call, "begin");
    note(call, "end");
    mishap_answer_member(call, "number", mishap_integer(call, "number"));
    mishap_answer_member(call, "sure", mishap_boolean(sure, "sure"));
    return mishap_answer_member(call, "place", place ? mishap_string(place, "place") : "");
}

/* It goes on without an answer. */
static mishap *run_lenient(mishap_call *call)
{
    work(call);
    if (mishap_reply_state(call, "sure") == MISHAP_REPLY_NONE)
        return mishap_ask(call, "sure", sure_params, "Do it?");
    return mishap_answer_member(call, "declined", (bool)!mishap_reply(call, "sure"));
}

/* A question is told to the caller, so it has nothing that a failure must not have. */
static mishap *run_leaky(mishap_call *call)
{
    work(call);
    if (mishap_reply(call, "sure"))
        return mishap_answer_member(call, "done", (bool)true);
    return mishap_ask(call, "sure", sure_params,
                      "Do it?\nTraceback (most recent call last):\n"
                      "  File \"/srv/" MARKER ".py\", line 3, in run\nValueError: " MARKER);
}

/* clang-format off */
#define PARAMS                                                                                     \
    { "number", MISHAP_INTEGER, .initial = "0" }, { "ms", MISHAP_INTEGER, .initial = "0" },        \
    { "gate", MISHAP_STRING, .help = "Waits while it is there" }, \
    { "file", MISHAP_STRING, .help = "Takes notes" },                  \
    { "padding", MISHAP_STRING, .help = "Makes the call large" }
static const mishap_param params[] = { PARAMS, { 0 } };
static const mishap_param ask_params[] = {
    PARAMS, { "both", MISHAP_BOOLEAN, .initial = "false", .help = "Two questions" }, { 0 } };
static const mishap_param step_params[] = {
    PARAMS, { "count", MISHAP_INTEGER, .initial = "5" }, { "stop", MISHAP_INTEGER, .help = "Waits" },
    { 0 } };
static const mishap_param measure_params[] = {
    PARAMS, { "dies", MISHAP_BOOLEAN, .initial = "true" },
    { "removed", MISHAP_BOOLEAN, .initial = "false" }, { 0 } };
static const mishap_param secret_params[] = {
    PARAMS, { "token", MISHAP_STRING, .required = true, .secret = true }, { 0 } };
static const mishap_operation operations[] = {
    { .name = "read", .summary = "Work that changes nothing", .params = params, .run = run_work,
      .route = "GET /read", .task = true, .stateless = true, .timeout_ms = 600000 },
    { .name = "change", .summary = "Work that changes something", .params = params,
      .run = run_work, .route = "POST /change", .task = true, .stateless = true, .status = 201,
      .timeout_ms = 600000 },
    { .name = "set", .summary = "Work that may run twice", .params = params, .run = run_work,
      .route = "PUT /set", .task = true, .idempotent = true, .stateless = true,
      .timeout_ms = 600000 },
    { .name = "steps", .summary = "It sets marks", .params = step_params, .run = run_steps,
      .route = "PUT /steps", .task = true, .idempotent = true, .stateless = true,
      .timeout_ms = 600000 },
    { .name = "measure", .summary = "It sets marks of all sizes", .params = measure_params,
      .run = run_measure, .route = "GET /measure", .task = true, .stateless = true },
    { .name = "charge", .summary = "It marks what it has done, and asks", .params = params,
      .run = run_charge, .route = "POST /charge", .task = true, .stateless = true,
      .timeout_ms = 600000, .asks = MISHAP_ASKS({ "sure", .params = sure_params }) },
    { .name = "large", .summary = "A large answer", .params = params, .run = run_large,
      .route = "GET /large", .task = true, .stateless = true, .timeout_ms = 600000 },
    { .name = "lack", .summary = "What it reads is not there", .params = params, .run = run_lack,
      .route = "GET /lack", .task = true, .stateless = true, .raises = MISHAP_RAISES(NOT_FOUND) },
    { .name = "crash", .summary = "It crashes", .params = params, .run = run_crash,
      .route = "POST /crash", .task = true, .stateless = true },
    { .name = "crash_safe", .summary = "It crashes, and changes nothing", .params = params,
      .run = run_crash, .route = "GET /crash", .task = true, .stateless = true },
    { .name = "secret", .summary = "It has a secret", .params = secret_params, .run = run_secret,
      .route = "POST /secret", .task = true, .idempotent = true, .stateless = true,
      .raises = MISHAP_RAISES(CONFLICT), .timeout_ms = 600000 },
    { .name = "stubborn", .summary = "It goes on", .params = params, .run = run_stubborn,
      .route = "GET /stubborn", .task = true, .stateless = true, .timeout_ms = 600000 },
    { .name = "alone", .summary = "One at a time", .params = params, .run = run_work,
      .route = "POST /alone", .task = true, .timeout_ms = 600000 },
    { .name = "scoped", .summary = "It needs a scope", .params = params, .run = run_work,
      .route = "POST /scoped", .task = true, .stateless = true, .scope = "work:do",
      .timeout_ms = 600000 },
    { .name = "image", .summary = "Bytes", .params = params, .run = run_image,
      .route = "GET /image", .task = true, .stateless = true, .answers_type = "image/png" },
    { .name = "ask", .summary = "It asks first", .params = ask_params, .run = run_ask,
      .route = "POST /ask", .task = true, .stateless = true, .timeout_ms = 600000,
      .asks = MISHAP_ASKS({ "sure", .params = sure_params }, { "place", .params = place_params }) },
    { .name = "ask_safe", .summary = "It asks, and changes nothing", .params = ask_params,
      .run = run_ask, .route = "GET /ask", .task = true, .stateless = true, .timeout_ms = 600000,
      .asks = MISHAP_ASKS({ "sure", .params = sure_params }, { "place", .params = place_params }) },
    { .name = "lenient", .summary = "It goes on without an answer", .params = params,
      .run = run_lenient, .route = "POST /lenient", .task = true, .stateless = true,
      .asks = MISHAP_ASKS({ "sure", .params = sure_params }) },
    { .name = "leaky", .summary = "It asks with what must not leave", .params = params,
      .run = run_leaky, .route = "POST /leaky", .task = true, .stateless = true,
      .asks = MISHAP_ASKS({ "sure", .params = sure_params }) },
    { .name = "scoped_ask", .summary = "It asks, and needs a scope", .params = ask_params,
      .run = run_ask, .route = "POST /scoped-ask", .task = true, .stateless = true,
      .scope = "work:do", .asks = MISHAP_ASKS({ "sure", .params = sure_params },
                                              { "place", .params = place_params }) },
    { .name = "long", .summary = "No caller waits for it", .params = params, .run = run_work,
      .route = "POST /long", .task = true, .task_only = true, .stateless = true,
      .timeout_ms = 600000 },
    { .name = "plain", .summary = "No task", .params = params, .run = run_work,
      .route = "GET /plain", .stateless = true },
    { 0 },
};
/* clang-format on */

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "worker",
                                      .version = "1.0",
                                      .operations = operations,
                                      .scopes = MISHAP_SCOPES({ "work:do", .help = "Work" }),
                                      .task_store = &mishap_tasks_in_store });
}
