/*
 * src/mcp/flight: calls that are run by the runner of calls, what they say meanwhile, and
 * how they end.
 *
 * Where it does not matter who runs a handler, it runs in this process, when the test says so.
 * Where something happens while it runs, or to its process, there are workers. A handler waits
 * there until the test lets it go on, so nothing depends on who is faster.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "mcp_runner.h"
#include "mcp_set_up.h"
#include "worker/keeper/keeper.h"
#include "mcp/calls/flight.h"

/* -- handlers ---------------------------------------------------------------------------------- */

/* What workers and the test share. */
static struct shared {
    sem_t begun, go_on;
    atomic_bool apart; /* handlers run in workers, and wait */
    atomic_bool saw_cancel;
    atomic_int runs;
} * shared;

/* In this process nobody waits; this is called instead, in the middle of the handler. */
static void (*meanwhile)(void);

static void pass(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        continue;
}

static mishap *echo(mishap_call *call)
{
    atomic_fetch_add(&shared->runs, 1);
    return mishap_answer_member(call, "word", mishap_string(call, "word"));
}

static void wait_for_test(mishap_call *call)
{
    if (atomic_load(&shared->apart)) {
        sem_post(&shared->begun);
        pass(&shared->go_on);
    } else if (meanwhile) {
        meanwhile();
    }
    atomic_store(&shared->saw_cancel, mishap_cancelled(call));
}

static mishap *wait_and_echo(mishap_call *call)
{
    wait_for_test(call);
    return echo(call);
}

static mishap *wait_and_say(mishap_call *call)
{
    wait_for_test(call);
    mishap_progress(call, 1, 2, "half");
    mishap_tell_client(call, MISHAP_LEVEL_ERROR, "It goes on.");
    return echo(call);
}

static mishap *wait_and_fail(mishap_call *call)
{
    wait_for_test(call);
    return mishap_note(mishap_raise(INTERNAL_ERROR, "It broke."), "at", "the very end");
}

static mishap *wait_and_crash(mishap_call *call)
{
    wait_for_test(call);
    raise(SIGSEGV);
    return NULL;
}

/* In this process the handler can set the clocks of its flight. However slow the machine is, what
 * comes next comes too soon … */
static mishap_mcp_flight *flight_of(const mishap_call *call)
{
    return (mishap_mcp_flight *)(void *)((uintptr_t)call->watcher -
                                         offsetof(mishap_mcp_flight, watcher));
}

static void stop_the_clock(const mishap_call *call)
{
    if (atomic_load(&shared->apart) || !call->watcher)
        return;
    flight_of(call)->window_ns = INT64_MAX;
    if (flight_of(call)->progress_ns > 0) /* when the last one was sent */
        flight_of(call)->progress_ns = INT64_MAX;
}

/* … or late enough. */
static void let_time_pass(const mishap_call *call)
{
    const int64_t pace = 45000000;
    flight_of(call)->progress_ns = flight_of(call)->window_ns = mishap_clock_monotonic_ns() - pace;
}

static mishap *say_all(mishap_call *call)
{
    mishap_progress(call, 0, 100, "beginning");
    stop_the_clock(call);
    mishap_progress(call, 0, 100, "not more than before");
    mishap_progress(call, NAN, 100, NULL);
    mishap_progress(call, 25.5, 0, NULL);
    mishap_progress(call, 12, 0, NULL);
    mishap_tell_client(call, MISHAP_DEBUG, "A detail.");
    mishap_tell_client(call, MISHAP_INFO, "It goes \"on\".");
    mishap_tell_client(call, MISHAP_LEVEL_WARNING, "The word is %s.", mishap_string(call, "key"));
    mishap_progress(call, 100, 100, "The word is open sesame.");
    mishap_progress(call, 100, 100, "not more than before");
    mishap_progress(call, 99, 100, "less than before");
    return wait_and_echo(call);
}

static mishap *say_too_much(mishap_call *call)
{
    for (int i = 0; i < 5000; i++) {
        mishap_tell_client(call, MISHAP_EMERGENCY, "%01000d", i);
        mishap_progress(call, i, 5000, NULL);
        if (i == 0)
            stop_the_clock(call);
    }
    return wait_and_echo(call);
}

enum { STEPS = 3 };

static mishap *say_in_steps(mishap_call *call)
{
    for (int i = 0; i < STEPS; i++) {
        let_time_pass(call);
        mishap_progress(call, i, STEPS, NULL);
        mishap_tell_client(call, MISHAP_INFO, "Step %d.", i);
    }
    for (int i = 0; i < 2; i++) {
        let_time_pass(call);
        for (int n = 0; n < 100; n++) {
            mishap_tell_client(call, MISHAP_INFO, "Word %d.", n);
            stop_the_clock(call);
        }
    }
    return echo(call);
}

/* Somebody else's trace, which is not to leave. */
static const char trace[] = "Traceback (most recent call last):\n  File \"x.py\", line 3, in f";

static mishap *say_a_trace(mishap_call *call)
{
    mishap_progress(call, 1, 2, trace);
    mishap_tell_client(call, MISHAP_LEVEL_ERROR, "%s", trace);
    return wait_and_echo(call);
}

static mishap *say_traces(mishap_call *call)
{
    for (int i = 0; i < 100; i++)
        mishap_tell_client(call, MISHAP_LEVEL_ERROR, "%s", trace);
    return wait_and_echo(call);
}

static mishap *crash(mishap_call *call)
{
    (void)call;
    raise(SIGSEGV);
    return NULL;
}

static mishap *crash_while_it_says(mishap_call *call)
{
    mishap_progress(call, 1, 2, "sound");
    mishap_progress(call, 2, 2, (const char *)(uintptr_t)8);
    return NULL;
}

static mishap *work(mishap_call *call)
{
    for (int i = 1; i <= 200 && !mishap_cancelled(call); i++) {
        mishap_progress(call, i, 200, "working");
        mishap_tell_client(call, MISHAP_INFO, "step %d", i);
    }
    return echo(call);
}

static mishap *warn(mishap_call *call)
{
    mishap_warn(call, "It is late.");
    return echo(call);
}

static mishap *tell_caller(mishap_call *call)
{
    return mishap_answer_member(call, "caller", mishap_caller(call));
}

static const mishap_param params[] = {
    { "word", MISHAP_STRING, .length = { 0, 5000 } },
    { "key", MISHAP_STRING, .secret = true },
    { 0 },
};

static const mishap_operation operations[] = {
    { "echo", "Say it again", params, echo, .quick = true },
    { "wait", "Say it later", params, wait_and_echo, .danger = MISHAP_MUTATING, .stateless = true },
    { "late", "Say much, but late", params, wait_and_say, .danger = MISHAP_SAFE },
    { "fail", "Fail later", params, wait_and_fail, .danger = MISHAP_SAFE },
    { "crash_late", "Crash later", params, wait_and_crash, .danger = MISHAP_SAFE },
    { "say", "Say much", params, say_all, .danger = MISHAP_SAFE },
    { "flood", "Say too much", params, say_too_much, .danger = MISHAP_SAFE },
    { "steps", "Say it step by step", params, say_in_steps, .danger = MISHAP_SAFE },
    { "crash", "Crash", params, crash, .danger = MISHAP_SAFE },
    { "crash_quickly", "Crash at once", params, crash, .quick = true },
    { "crash_saying", "Crash while it says something", params, crash_while_it_says,
      .danger = MISHAP_SAFE },
    { "work", "Work", params, work, .danger = MISHAP_SAFE, .stateless = true },
    { "caller", "Who calls?", params, tell_caller, .danger = MISHAP_SAFE },
    { "say.trace", "Say too much", params, say_a_trace, .danger = MISHAP_SAFE },
    { "say.traces", "Say it again and again", params, say_traces, .danger = MISHAP_SAFE },
    { "warn", "Warn", params, warn, .resource = "test://warn", .prompt = "warn",
      .danger = MISHAP_SAFE },
    { "read", "Read it later", params, wait_and_echo, .resource = "test://read/{word}",
      .danger = MISHAP_SAFE },
    { "read.crash", "Crash", params, crash, .resource = "test://crash", .prompt = "crash",
      .danger = MISHAP_SAFE },
    { "ask", "Ask much", params, say_all, .prompt = "ask", .danger = MISHAP_SAFE },
    { 0 },
};
static const mishap_app app = { .name = "mcp-flight", .version = "1", .operations = operations };

/* -- a transport ------------------------------------------------------------------------------- */

struct transport {
    struct wire wire; /* the first */
    mishap_keeper_plan plan;
    mishap_keeper keeper; /* of workers */
    bool refuses;         /* to start anything */
    size_t start_count;
    int deaths;        /* of processes, of a call */
    char orphan[1000]; /* what was to be recorded of a call that nobody waited for */
};

enum { WORKERS = 2, MOST_WAITING = 64 };

static struct transport *transport_of(mishap_mcp_peer *peer)
{
    return (struct transport *)(void *)((char *)peer - offsetof(struct wire, peer));
}

static bool start(mishap_mcp_peer *peer, mishap_mcp_flight *flight)
{
    struct transport *t = transport_of(peer);
    (void)flight;
    t->start_count += !t->refuses;
    return !t->refuses;
}

static void count_death(mishap_mcp_peer *peer)
{
    transport_of(peer)->deaths++;
}

static void on_orphan(void *state, const mishap_call *call, const char *incident, mishap *failure)
{
    struct transport *t = state;
    mishap_buffer account = { 0 };
    mishap_account(failure, &account);
    snprintf(t->orphan, sizeof t->orphan, "%s %s %.*s", call->operation->name, incident,
             (int)account.length, account.data);
    mishap_buffer_release(&account);
    mishap_free(failure);
}

static void open_workers(struct transport *t)
{
    int connection, kept;
    assert_null(mishap_worker_groups_make(&app, &t->plan.groups));
    assert_null(mishap_keeper_start(&t->keeper, &t->plan));
    assert_true(mishap_keeper_connect(&t->keeper, &connection, &kept));
    assert_null(mishap_runner_open(&(mishap_runner_settings){ .plan = &t->plan,
                                                              .keeper = connection,
                                                              .handlers = WORKERS,
                                                              .most_waiting = MOST_WAITING,
                                                              .orphaned = on_orphan,
                                                              .state = t },
                                   &t->wire.server.runner));
}

static void open_any(struct transport *t, mishap_mcp_revision revision, bool apart)
{
    *t = (struct transport){ .plan = { .app = &app } };
    meanwhile = NULL;
    sem_init(&shared->begun, 1, 0);
    sem_init(&shared->go_on, 1, 0);
    atomic_store(&shared->apart, apart);
    atomic_store(&shared->saw_cancel, false);
    atomic_store(&shared->runs, 0);
    open_wire(&t->wire, &app, revision);
    t->wire.peer.start = start;
    t->wire.peer.died = count_death;
    if (apart)
        open_workers(t);
    else
        t->wire.server.runner = open_inside(&t->plan, &app, MOST_WAITING);
}

static void open_transport(struct transport *t, mishap_mcp_revision revision)
{
    open_any(t, revision, false);
}

static void open_transport_with_workers(struct transport *t, mishap_mcp_revision revision)
{
    open_any(t, revision, true);
}

/* What a loop does over and over. */
static void turn(struct transport *t)
{
    struct pollfd file = { .fd = mishap_runner_file(t->wire.server.runner), .events = POLLIN };
    mishap_runner_flush(t->wire.server.runner);
    if (atomic_load(&shared->apart) && poll(&file, 1, 20) > 0)
        mishap_runner_turn(t->wire.server.runner);
}

static int64_t in_seconds(int seconds)
{
    return mishap_clock_monotonic_ns() + seconds * INT64_C(1000000000);
}

/* Until a handler has begun, in a worker. */
static void let_begin(struct transport *t)
{
    int64_t until = in_seconds(120);
    while (sem_trywait(&shared->begun) != 0) {
        assert_true(mishap_clock_monotonic_ns() < until);
        turn(t);
    }
}

/* Until all calls have come back, also those that nobody waits for. */
static void finish_all(struct transport *t)
{
    int64_t until = in_seconds(120);
    while (mishap_runner_count(t->wire.server.runner, true)) {
        assert_true(mishap_clock_monotonic_ns() < until);
        turn(t);
    }
    read_answer(&t->wire);
}

static void close_transport(struct transport *t)
{
    finish_all(t);
    mishap_runner_close(t->wire.server.runner);
    if (atomic_load(&shared->apart))
        mishap_keeper_stop(&t->keeper);
    close_wire(&t->wire);
    sem_destroy(&shared->begun);
    sem_destroy(&shared->go_on);
}

/* The n-th line of what came, which must be there. */
static yyjson_doc *line(struct transport *t, size_t n)
{
    const char *from = t->wire.out.data, *end = from + t->wire.out.length, *feed = NULL;
    for (size_t i = 0; i <= n; i++) {
        from = i ? feed + 1 : from;
        feed = from < end ? memchr(from, '\n', (size_t)(end - from)) : NULL;
        assert_non_null(feed);
    }
    yyjson_doc *doc = yyjson_read(from, (size_t)(feed - from), 0);
    assert_non_null(doc);
    return doc;
}

static size_t line_count(const struct transport *t)
{
    size_t count = 0;
    for (size_t i = 0; i < t->wire.out.length; i++)
        count += t->wire.out.data[i] == '\n';
    return count;
}

static void assert_line(struct transport *t, size_t n, const char *expected)
{
    yyjson_doc *doc = line(t, n);
    char *text = yyjson_write(doc, 0, NULL);
    assert_string_equal(text, expected);
    free(text);
    yyjson_doc_free(doc);
}

/* The n-th line is a result that is an error of this type. */
static void assert_failed(struct transport *t, size_t n, const char *type)
{
    yyjson_doc *doc = line(t, n);
    yyjson_val *result = yyjson_obj_get(yyjson_doc_get_root(doc), "result");
    assert_true(yyjson_is_true(yyjson_obj_get(result, "isError")));
    assert_string_equal(yyjson_get_str(yyjson_ptr_get(result, "/structuredContent/error_type")),
                        type);
    yyjson_val *incident = yyjson_obj_get(yyjson_obj_get(result, "_meta"), "dev.mishap/incident");
    assert_int_equal(yyjson_get_len(incident), MISHAP_ID_LENGTH);
    yyjson_doc_free(doc);
}

#define ANSWER(id, word)                                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":"     \
    "\"{\\\"word\\\":\\\"" word "\\\"}\"}],\"structuredContent\":{\"word\":\"" word "\"}}}"

/* -- answering --------------------------------------------------------------------------------- */

static void a_quick_call_is_answered_at_once(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"echo\",\"arguments\":{\"word\":\"a\"}");
    assert_line(&t, 0, ANSWER("7", "a"));
    assert_int_equal(t.wire.finished, 1);
    assert_int_equal(t.start_count, 0);
    close_transport(&t);
}

static void any_other_is_answered_when_it_has_run(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    send_text(&t.wire, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":"
                       "{\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}}}");
    let_begin(&t);
    assert_int_equal(t.wire.out.length, 0);
    assert_int_equal(t.wire.finished, 0);
    assert_int_equal(t.wire.peer.flight_count, 1);
    assert_non_null(mishap_mcp_flight_find(&t.wire.peer, T("\"x\"")));
    assert_null(mishap_mcp_flight_find(&t.wire.peer, T("x")));
    /* Others are served meanwhile. */
    ask(&t.wire, "tools/call", "\"name\":\"echo\",\"arguments\":{\"word\":\"b\"}");
    assert_line(&t, 0, ANSWER("7", "b"));
    sem_post(&shared->go_on);
    finish_all(&t);
    assert_line(&t, 1, ANSWER("\"x\"", "a"));
    assert_int_equal(t.wire.finished, 2);
    assert_null(t.wire.peer.flights);
    assert_int_equal(t.wire.peer.flight_count, 0);
    assert_int_equal(t.deaths, 0);
    close_transport(&t);
}

static void arguments_of_any_size_arrive_whole(void **state)
{
    (void)state;
    struct transport t;
    char members[5200], word[5001];
    memset(word, 'w', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    snprintf(members, sizeof members, "\"name\":\"wait\",\"arguments\":{\"word\":\"%s\"}", word);
    for (int apart = 0; apart < 2; apart++) {
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        sem_post(&shared->go_on);
        ask(&t.wire, "tools/call", members);
        finish_all(&t);
        assert_string_equal(text_at(&t.wire, "/result/structuredContent/word"), word);
        close_transport(&t);
    }
}

static void bad_arguments_never_wait_for_a_worker(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":7}");
    assert_failed(&t, 0, "ValidationError");
    assert_int_equal(t.start_count, 0);
    close_transport(&t);
}

static void the_handler_gets_to_know_who_calls(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct transport t;
        char caller[] = "ada";
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        t.wire.peer.caller = caller;
        ask(&t.wire, "tools/call", "\"name\":\"caller\"");
        memset(caller, '?', 3); /* it has a copy */
        finish_all(&t);
        assert_string_equal(text_at(&t.wire, "/result/structuredContent/caller"), "ada");
        close_transport(&t);
    }
}

/* -- saying ------------------------------------------------------------------------------------ */

#define PROGRESS "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
#define MESSAGE  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"

/* Report twice while the handler is in the middle of it. */
static struct transport *reporting;
static size_t heard_once, heard_twice;

static void report_twice(void)
{
    mishap_mcp_flight_report(reporting->wire.peer.flights);
    heard_once = line_count(reporting);
    mishap_mcp_flight_report(reporting->wire.peer.flights);
    heard_twice = line_count(reporting);
}

static void report_meanwhile(struct transport *t)
{
    reporting = t;
    heard_once = heard_twice = SIZE_MAX;
    meanwhile = report_twice;
}

static void what_is_said_meanwhile_comes_before_the_answer(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    report_meanwhile(&t);
    ask(&t.wire, "tools/call",
        "\"name\":\"say\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"},"
        "\"_meta\":{\"progressToken\":0}");
    finish_all(&t);
    assert_line(&t, 0,
                PROGRESS "{\"progressToken\":0,\"progress\":0,\"total\":100,"
                         "\"message\":\"beginning\"}}");
    assert_line(&t, 1,
                MESSAGE "{\"level\":\"info\",\"logger\":\"say\","
                        "\"data\":\"It goes \\\"on\\\".\"}}");
    assert_line(&t, 2,
                MESSAGE "{\"level\":\"warning\",\"logger\":\"say\","
                        "\"data\":\"The word is [redacted].\"}}");
    /* Of those that came too soon after another, the last. */
    assert_line(&t, 3,
                PROGRESS "{\"progressToken\":0,\"progress\":100,\"total\":100,"
                         "\"message\":\"The word is [redacted].\"}}");
    assert_int_equal(heard_once, 4);
    assert_int_equal(heard_twice, 4);
    assert_line(&t, 4, ANSWER("7", "a"));
    assert_int_equal(line_count(&t), 5);
    close_transport(&t);
}

static void a_stack_trace_is_not_said(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"say_trace\",\"_meta\":{\"progressToken\":0}");
    finish_all(&t);
    assert_int_equal(line_count(&t), 3);
    assert_null(memmem(t.wire.out.data, t.wire.out.length, "x.py", 4));
    assert_line(&t, 0,
                PROGRESS "{\"progressToken\":0,\"progress\":1,\"total\":2,"
                         "\"message\":\"A stack trace was removed here.\"}}");
    assert_line(&t, 1,
                MESSAGE "{\"level\":\"error\",\"logger\":\"say_trace\","
                        "\"data\":\"A stack trace was removed here.\"}}");
    close_transport(&t);
    free(logged());
}

static size_t count_of(const char *text, const char *words)
{
    size_t count = 0;
    for (; (text = strstr(text, words)); text++)
        count++;
    return count;
}

/* Under the id of the call, without its secrets, and not without end. */
static void a_stack_trace_that_is_not_said_is_recorded(void **state)
{
    static const char incident[] = "01234567-89ab-7def-8123-456789abcdef";
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    t.wire.peer.incident = incident;
    ask(&t.wire, "tools/call",
        "\"name\":\"say_trace\",\"arguments\":{\"key\":\"x.py\"},"
        "\"_meta\":{\"progressToken\":0}");
    finish_all(&t);
    char *said = logged();
    ask(&t.wire, "tools/call", "\"name\":\"say_traces\"");
    close_transport(&t);
    char *said_often = logged();
    assert_int_equal(count_of(said, "line 3, in f"), 2);
    assert_int_equal(count_of(said, incident), 2);
    assert_null(strstr(said, "x.py"));
    assert_int_equal(count_of(said_often, "line 3, in f"), 64);
    free(said);
    free(said_often);
}

static void what_nobody_has_heard_is_sent_at_the_end(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call",
        "\"name\":\"say\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"},"
        "\"_meta\":{\"progressToken\":\"a\\\"b\"}");
    finish_all(&t);
    yyjson_doc *last = line(&t, 3);
    assert_string_equal(
        yyjson_get_str(yyjson_ptr_get(yyjson_doc_get_root(last), "/params/progressToken")), "a\"b");
    yyjson_doc_free(last);
    assert_line(&t, 4, ANSWER("7", "a"));
    assert_int_equal(line_count(&t), 5);
    close_transport(&t);
}

/* How many lines are of this method, when `say` is called with these further members. */
static size_t count_said(mishap_mcp_revision revision, const char *level, const char *meta,
                         const char *method)
{
    struct transport t;
    char text[1000];
    size_t count = 0;
    open_transport(&t, revision);
    if (level) {
        snprintf(text, sizeof text, "\"level\":\"%s\"", level);
        ask(&t.wire, "logging/setLevel", text);
        assert_int_equal(yyjson_obj_size(at(&t.wire, "/result")), 0);
    }
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"say\","
             "\"arguments\":{\"key\":\"open sesame\"}%s%s%s}}",
             *meta ? ",\"_meta\":{" : "", meta, *meta ? "}" : "");
    mishap_buffer_reset(&t.wire.out);
    send_text(&t.wire, text);
    finish_all(&t);
    for (size_t i = 0; i < line_count(&t); i++) {
        yyjson_doc *doc = line(&t, i);
        count += yyjson_equals_str(yyjson_obj_get(yyjson_doc_get_root(doc), "method"), method);
        yyjson_doc_free(doc);
    }
    close_transport(&t);
    return count;
}

static void progress_is_told_only_to_who_asks(void **state)
{
    (void)state;
    static const char method[] = "notifications/progress";
    assert_int_equal(count_said(MISHAP_MCP_2025_06_18, NULL, "", method), 0);
    assert_true(count_said(MISHAP_MCP_2025_06_18, NULL, "\"progressToken\":7", method) >= 2);
    assert_true(count_said(MISHAP_MCP_2025_06_18, NULL, "\"progressToken\":\"\"", method) >= 2);
}

static void log_messages_keep_to_the_level_that_was_asked_for(void **state)
{
    (void)state;
    static const char method[] = "notifications/message";
#define CLAIM                                                                                      \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                  \
    "\"io.modelcontextprotocol/clientCapabilities\":{}"
    assert_int_equal(count_said(MISHAP_MCP_2025_06_18, NULL, "", method), 2);
    assert_int_equal(count_said(MISHAP_MCP_2025_06_18, "debug", "", method), 3);
    assert_int_equal(count_said(MISHAP_MCP_2025_06_18, "warning", "", method), 1);
    assert_int_equal(count_said(MISHAP_MCP_2025_06_18, "error", "", method), 0);
    assert_int_equal(count_said(MISHAP_MCP_2026_07_28, NULL, CLAIM, method), 0);
    assert_int_equal(count_said(MISHAP_MCP_2026_07_28, NULL,
                                CLAIM ",\"io.modelcontextprotocol/logLevel\":\"debug\"", method),
                     3);
    assert_int_equal(count_said(MISHAP_MCP_2026_07_28, NULL,
                                CLAIM ",\"io.modelcontextprotocol/logLevel\":\"notice\"", method),
                     1);
}

static void a_level_that_is_none_is_refused(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "logging/setLevel", "\"level\":\"loud\"");
    assert_error(&t.wire, -32602);
    ask(&t.wire, "logging/setLevel", "\"level\":3");
    assert_error(&t.wire, -32602);
    ask(&t.wire, "logging/setLevel", "");
    assert_error(&t.wire, -32602);
    assert_int_equal(t.wire.peer.level, MISHAP_INFO);
    close_transport(&t);
}

static void what_is_said_is_bounded(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    report_meanwhile(&t);
    ask(&t.wire, "tools/call",
        "\"name\":\"flood\",\"arguments\":{},\"_meta\":{\"progressToken\":1}");
    finish_all(&t);
    assert_int_equal(heard_once, 1 + 64 + 1); /* the first progress, log messages, the latest */
    assert_int_equal(heard_twice, heard_once);
    assert_int_equal(line_count(&t), heard_once + 1);
    yyjson_doc *first = line(&t, 1), *last = line(&t, heard_once - 1);
    assert_int_equal(yyjson_get_int(yyjson_ptr_get(yyjson_doc_get_root(first), "/params/progress")),
                     0);
    assert_int_equal(yyjson_get_int(yyjson_ptr_get(yyjson_doc_get_root(last), "/params/progress")),
                     4999);
    yyjson_doc_free(first);
    yyjson_doc_free(last);
    close_transport(&t);
}

/* After a while there is room for more. */
static void who_says_little_is_heard_each_time(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"steps\",\"_meta\":{\"progressToken\":1}");
    finish_all(&t);
    assert_int_equal(line_count(&t), 2 * STEPS + 2 * 64 + 1);
    close_transport(&t);
}

/* -- ends -------------------------------------------------------------------------------------- */

static void who_cancels_gets_no_answer(void **state)
{
    static const char cancel[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                                 "\"params\":{\"requestId\":7}}";
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}");
    let_begin(&t);
    send_text(&t.wire, cancel);
    assert_int_equal(t.wire.finished, 2); /* of the call, and of the notification */
    assert_null(t.wire.peer.flights);
    assert_int_equal(t.wire.peer.flight_count, 0);
    assert_int_equal(mishap_runner_count(t.wire.server.runner, true), 1); /* for nobody */
    assert_int_equal(mishap_runner_count(t.wire.server.runner, false), 0);
    send_text(&t.wire, cancel);           /* twice is as good as once … */
    assert_int_equal(t.wire.finished, 3); /* … of the notification alone */
    sem_post(&shared->go_on);
    finish_all(&t);
    assert_int_equal(t.wire.out.length, 0);
    assert_true(atomic_load(&shared->saw_cancel));
    assert_int_equal(atomic_load(&shared->runs), 1);
    assert_string_equal(t.orphan, "");
    close_transport(&t);
}

/* Nobody is told, but the operator may want to know; and finds it by the id of the call. */
static void what_fails_after_it_was_cancelled_is_recorded(void **state)
{
    static const struct {
        const char *params, *expected;
    } cases[] = {
        { "\"name\":\"fail\"", "the very end" },
        { "\"name\":\"crash_late\"", "crashed with SIGSEGV" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct transport t;
        char incident[] = "01234567-89ab-7def-8123-456789abcdef";
        open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
        t.wire.peer.incident = incident;
        ask(&t.wire, "tools/call", cases[i].params);
        let_begin(&t);
        mishap_mcp_flight_cancel(t.wire.peer.flights);
        memset(incident, '?', 8); /* it has a copy */
        sem_post(&shared->go_on);
        finish_all(&t);
        assert_non_null(strstr(t.orphan, i ? "crash_late 0123" : "fail 0123"));
        assert_non_null(strstr(t.orphan, cases[i].expected));
        assert_int_equal(t.wire.out.length, 0);
        assert_int_equal(t.deaths, 0); /* nobody is left to count it */
        close_transport(&t);
    }
}

static void a_call_that_was_cancelled_before_it_began_does_not_begin(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    for (int i = 0; i < WORKERS; i++) { /* all workers have something to do */
        char text[200];
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"wait\",\"arguments\":{}}}",
                 i + 100);
        send_text(&t.wire, text);
    }
    for (int i = 0; i < WORKERS; i++)
        let_begin(&t);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{}");
    turn(&t);
    mishap_mcp_flight_cancel(mishap_mcp_flight_find(&t.wire.peer, T("7")));
    assert_int_equal(mishap_runner_count(t.wire.server.runner, true), WORKERS);
    for (int i = 0; i < WORKERS; i++)
        sem_post(&shared->go_on);
    finish_all(&t);
    assert_int_equal(atomic_load(&shared->runs), WORKERS);
    assert_int_equal(line_count(&t), WORKERS);
    close_transport(&t);
}

/* Its process is ended; another one takes the next call. */
static void what_takes_too_long_is_answered_without_it(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    t.wire.server.call_ms = 200;
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}");
    let_begin(&t);
    finish_all(&t);
    assert_failed(&t, 0, "TimeoutError");
    assert_int_equal(line_count(&t), 1);
    assert_int_equal(t.wire.finished, 1);
    assert_null(t.wire.peer.flights);
    assert_int_equal(t.deaths, 0); /* it did not crash */
    assert_int_equal(atomic_load(&shared->runs), 0);
    t.wire.server.call_ms = 0;
    sem_post(&shared->go_on);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    finish_all(&t);
    assert_line(&t, 0, ANSWER("7", "b"));
    close_transport(&t);
    free(logged());
}

static void a_peer_that_is_gone_leaves_its_flights_to_themselves(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call",
        "\"name\":\"late\",\"arguments\":{\"key\":\"open sesame\"},"
        "\"_meta\":{\"progressToken\":1}");
    ask(&t.wire, "tools/list", "");
    let_begin(&t);
    mishap_mcp_peer_release(&t.wire.peer);
    assert_int_equal(t.wire.peer.flight_count, 0);
    mishap_buffer_reset(&t.wire.out);
    sem_post(&shared->go_on);
    finish_all(&t);
    assert_int_equal(atomic_load(&shared->runs), 1);
    assert_int_equal(t.wire.out.length, 0); /* what it says, it says to nobody */
    close_transport(&t);
}

static void a_crash_is_a_result_and_others_live_on(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct transport t;
        contain_again();
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        ask(&t.wire, "tools/call", "\"name\":\"crash\"");
        finish_all(&t);
        assert_failed(&t, 0, "RuntimeError");
        assert_int_equal(t.deaths, 1);
        assert_int_equal(line_count(&t), 1);
        ask(&t.wire, "tools/call", "\"name\":\"crash_quickly\"");
        assert_failed(&t, 0, "RuntimeError");
        assert_int_equal(t.deaths, 2);
        ask(&t.wire, "tools/call", "\"name\":\"echo\",\"arguments\":{\"word\":\"a\"}");
        assert_line(&t, 0, ANSWER("7", "a"));
        sem_post(&shared->go_on);
        ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
        finish_all(&t);
        assert_line(&t, 0, ANSWER("7", "b"));
        close_transport(&t);
    }
    free(logged());
}

static void a_crash_while_something_is_said_holds_nobody_up(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct transport t;
        contain_again();
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        ask(&t.wire, "tools/call", "\"name\":\"crash_saying\",\"_meta\":{\"progressToken\":1}");
        finish_all(&t);
        assert_line(&t, 0,
                    PROGRESS
                    "{\"progressToken\":1,\"progress\":1,\"total\":2,\"message\":\"sound\"}}");
        assert_failed(&t, 1, "RuntimeError");
        sem_post(&shared->go_on);
        ask(&t.wire, "tools/call", "\"name\":\"late\",\"_meta\":{\"progressToken\":1}");
        finish_all(&t);
        assert_int_equal(line_count(&t), 3);
        close_transport(&t);
    }
    free(logged());
}

static void so_many_run_at_once_and_no_more(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    t.wire.server.flight_limit = 1;
    send_text(&t.wire, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                       "{\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}}}");
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    assert_failed(&t, 0, "RuntimeError");
    assert_int_equal(number_at(&t.wire, "/result/structuredContent/retry_after_ms"), 1000);
    ask(&t.wire, "tools/call", "\"name\":\"echo\",\"arguments\":{\"word\":\"c\"}");
    assert_line(&t, 0, ANSWER("7", "c"));
    finish_all(&t);
    assert_line(&t, 1, ANSWER("1", "a"));
    t.refuses = true;
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    assert_failed(&t, 0, "RuntimeError");
    assert_null(t.wire.peer.flights);
    close_transport(&t);
}

/* The runner has calls of others, too. */
static void a_runner_that_is_full_takes_no_more(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    t.wire.server.flight_limit = MOST_WAITING + 10;
    for (int i = 0; i < MOST_WAITING; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"wait\",\"arguments\":{}}}",
                 i + 100);
        send_text(&t.wire, text);
        assert_int_equal(t.wire.out.length, 0);
    }
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    assert_failed(&t, 0, "RuntimeError");
    assert_int_equal(number_at(&t.wire, "/result/structuredContent/retry_after_ms"), 1000);
    assert_int_equal(t.wire.peer.flight_count, MOST_WAITING);
    finish_all(&t);
    assert_int_equal(atomic_load(&shared->runs), MOST_WAITING);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    finish_all(&t);
    assert_line(&t, 0, ANSWER("7", "b"));
    close_transport(&t);
}

/* -- many at once ------------------------------------------------------------------------------ */

enum { CALLS = 40 };

/* Each line is whole, progress only grows, and none comes after the answer. */
static void read_lines(const struct transport *t, double *progress, bool *answered)
{
    const char *from = t->wire.out.data, *end = from + t->wire.out.length;
    for (const char *feed; from < end; from = feed + 1) {
        feed = memchr(from, '\n', (size_t)(end - from));
        yyjson_doc *doc = yyjson_read(from, (size_t)(feed - from), 0);
        yyjson_val *root = yyjson_doc_get_root(doc);
        yyjson_val *token = yyjson_ptr_get(root, "/params/progressToken");
        yyjson_val *id = yyjson_obj_get(root, "id");
        assert_non_null(doc);
        if (token) {
            size_t i = (size_t)yyjson_get_int(token);
            double done = yyjson_get_num(yyjson_ptr_get(root, "/params/progress"));
            assert_true(done > progress[i]);
            assert_false(answered[i]);
            progress[i] = done;
        }
        if (id)
            answered[yyjson_get_int(id)] = true;
        yyjson_doc_free(doc);
    }
}

static void many_run_and_are_heard_at_once(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct transport t;
        char text[300];
        double progress[CALLS] = { 0 };
        bool answered[CALLS] = { false };
        int count = 0;
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        t.wire.server.flight_limit = CALLS;
        for (int i = 0; i < CALLS; i++) {
            snprintf(text, sizeof text,
                     "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
                     "\"name\":\"work\",\"arguments\":{\"word\":\"w\"},"
                     "\"_meta\":{\"progressToken\":%d}}}",
                     i, i);
            mishap_mcp_take_text(&t.wire.peer, &t.wire.channel, &t.wire.reader,
                                 mishap_text_of(text));
            if (i % 10 == 3)
                mishap_mcp_flight_cancel(t.wire.peer.flights);
            if (i % 4 == 0)
                turn(&t);
            if (t.wire.peer.flights)
                mishap_mcp_flight_report(t.wire.peer.flights);
        }
        finish_all(&t);
        read_lines(&t, progress, answered);
        for (int i = 0; i < CALLS; i++) {
            count += answered[i];
            assert_int_equal(answered[i], i % 10 != 3);
            if (answered[i] && !apart) /* a worker drops what its loop has no time to read */
                assert_true(progress[i] == 200);
        }
        assert_int_equal(count, CALLS - 4);
        assert_int_equal(t.wire.finished, CALLS);
        close_transport(&t);
    }
}

/* -- resources and prompts --------------------------------------------------------------------- */

/* The n-th line is a protocol error with this number and code. */
static void assert_refused(struct transport *t, size_t n, int number, const char *code)
{
    yyjson_doc *doc = line(t, n);
    yyjson_val *error = yyjson_obj_get(yyjson_doc_get_root(doc), "error");
    assert_int_equal(yyjson_get_int(yyjson_obj_get(error, "code")), number);
    yyjson_val *data = yyjson_obj_get(error, "data");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(data, "code")), code);
    assert_int_equal(yyjson_get_len(yyjson_obj_get(data, "incident")), MISHAP_ID_LENGTH);
    yyjson_doc_free(doc);
}

static void a_resource_is_read_by_a_worker(void **state)
{
    (void)state;
    struct transport t;
    char uri[] = "\"uri\":\"test://read/a%20b\"";
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "resources/read", uri);
    memset(uri, '?', sizeof uri); /* the message is gone */
    let_begin(&t);
    assert_int_equal(t.wire.out.length, 0);
    assert_int_equal(t.wire.peer.flight_count, 1);
    ask(&t.wire, "resources/read", "\"uri\":\"catalog://codes\""); /* with the same id */
    assert_error(&t.wire, -32600);
    mishap_buffer_reset(&t.wire.out);
    sem_post(&shared->go_on);
    finish_all(&t);
    assert_line(&t, 0,
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"contents\":[{\"uri\":"
                "\"test://read/a%20b\",\"mimeType\":\"application/json\",\"text\":"
                "\"{\\\"word\\\":\\\"a b\\\"}\"}]}}");
    assert_int_equal(t.wire.finished, 2);
    close_transport(&t);
}

static void a_prompt_says_how_far_it_is(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "prompts/get",
        "\"name\":\"ask\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"},"
        "\"_meta\":{\"progressToken\":0}");
    finish_all(&t);
    assert_line(&t, 0,
                PROGRESS "{\"progressToken\":0,\"progress\":0,\"total\":100,"
                         "\"message\":\"beginning\"}}");
    assert_line(&t, 1,
                MESSAGE "{\"level\":\"info\",\"logger\":\"ask\","
                        "\"data\":\"It goes \\\"on\\\".\"}}");
    assert_line(&t, line_count(&t) - 1,
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"description\":\"Ask much\","
                "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
                "\"{\\\"word\\\":\\\"a\\\"}\"}}]}}");
    assert_null(memmem(t.wire.out.data, t.wire.out.length, "open sesame", 11));
    close_transport(&t);
}

static void what_was_remarked_is_told(void **state)
{
    static const char *const asked[][2] = { { "resources/read", "\"uri\":\"test://warn\"" },
                                            { "prompts/get", "\"name\":\"warn\"" } };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct transport t;
        open_transport(&t, i < 2 ? MISHAP_MCP_2025_11_25 : MISHAP_MCP_2026_07_28);
        ask(&t.wire, asked[i % 2][0], asked[i % 2][1]);
        finish_all(&t);
        assert_string_equal(text_at(&t.wire, "/result/_meta/dev.mishap~1warnings/0"),
                            "It is late.");
        assert_int_equal(
            at(&t.wire, "/result/_meta/io.modelcontextprotocol~1serverInfo/name") != NULL, i >= 2);
        close_transport(&t);
    }
}

static void who_cancels_reading_gets_no_answer(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "resources/read", "\"uri\":\"test://read/a\"");
    let_begin(&t);
    send_text(&t.wire, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                       "{\"requestId\":7}}");
    sem_post(&shared->go_on);
    finish_all(&t);
    assert_true(atomic_load(&shared->saw_cancel));
    assert_int_equal(t.wire.out.length, 0);
    close_transport(&t);
}

static void reading_that_takes_too_long_is_an_error(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    t.wire.server.call_ms = 200;
    ask(&t.wire, "resources/read", "\"uri\":\"test://read/a\"");
    let_begin(&t);
    finish_all(&t);
    assert_refused(&t, 0, -32603, "TIMEOUT");
    assert_non_null(memmem(t.wire.out.data, t.wire.out.length, "\"uri\":\"test://read/a\"", 21));
    assert_non_null(memmem(t.wire.out.data, t.wire.out.length, "\"retryable\":true", 16));
    assert_int_equal(t.wire.finished, 1);
    assert_int_equal(line_count(&t), 1);
    assert_int_equal(atomic_load(&shared->runs), 0);
    close_transport(&t);
    free(logged());
}

static void a_crash_of_either_is_an_error(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct transport t;
        contain_again();
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        ask(&t.wire, "resources/read", "\"uri\":\"test://crash\"");
        finish_all(&t);
        assert_refused(&t, 0, -32603, "INTERNAL_ERROR");
        assert_int_equal(t.deaths, 1);
        ask(&t.wire, "prompts/get", "\"name\":\"crash\"");
        finish_all(&t);
        assert_refused(&t, 0, -32603, "INTERNAL_ERROR");
        assert_int_equal(t.deaths, 2);
        close_transport(&t);
    }
    free(logged());
}

/* Where one request is one call, both are found by one id. */
static void a_transport_can_say_by_which_id_a_failure_is_found(void **state)
{
    (void)state;
    static const char id[] = "01234567-89ab-7def-8123-456789abcdef";
    static const char *const names[] = { "\"name\":\"crash\"", "\"name\":\"crash_quickly\"",
                                         "\"name\":\"wait\",\"arguments\":{\"word\":7}" };
    struct transport t;
    contain_again();
    open_transport(&t, MISHAP_MCP_2025_11_25);
    t.wire.peer.incident = id;
    for (size_t i = 0; i < 3; i++) {
        ask(&t.wire, "tools/call", names[i]);
        finish_all(&t);
        yyjson_val *meta = at(&t.wire, "/result/_meta");
        assert_string_equal(yyjson_get_str(yyjson_obj_get(meta, "dev.mishap/incident")), id);
    }
    ask(&t.wire, "resources/read", "\"uri\":\"test://crash\"");
    finish_all(&t);
    assert_string_equal(text_at(&t.wire, "/error/data/incident"), id);
    close_transport(&t);
}

/* A program may say that nothing takes longer than that. */
static void a_server_can_set_a_limit_for_all(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"wait\"");
    assert_true(t.wire.peer.flights->run.call->limit_ms > 20000);
    finish_all(&t);
    t.wire.server.call_ms = 500;
    ask(&t.wire, "tools/call", "\"name\":\"wait\"");
    assert_int_equal(t.wire.peer.flights->run.call->limit_ms, 500);
    finish_all(&t);
    assert_null(at(&t.wire, "/result/isError"));
    close_transport(&t);
}

/* -- without memory ---------------------------------------------------------------------------- */

static const char *message;

static void call_one(const void *input)
{
    struct wire w;
    open_small_wire(&w, input);
    mishap_mcp_take_text(&w.peer, &w.channel, &w.reader, mishap_text_of(message));
    mishap_runner_flush(w.peer.server->runner);
    assert_int_equal(w.finished, 1);
    assert_null(w.peer.flights);
    read_response(&w);
    close_small_wire(&w);
}

static void without_memory_every_call_is_answered(void **state)
{
    (void)state;
    mishap_keeper_plan plan;
    mishap_mcp_server server = { .app = &app };
    assert_null(mishap_mcp_server_make(&server, false));
    server.runner = open_inside(&plan, &app, MOST_WAITING);
    meanwhile = NULL;
    atomic_store(&shared->apart, false);
    static const char *const messages[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"
        "{\"name\":\"say\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"}"
        ",\"_meta\":{\"progressToken\":1}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":"
        "{\"uri\":\"test://read/a\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/get\",\"params\":"
        "{\"name\":\"ask\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"}}}",
    };
    message = messages[0];
    call_one(&server); /* the runner keeps what it knew of a caller for the next one */
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        message = messages[i];
        torture(call_one, &server);
    }
    mishap_use_allocator(NULL);
    assert_int_equal(mishap_runner_count(server.runner, true), 0);
    mishap_runner_close(server.runner);
    mishap_mcp_server_release(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_quick_call_is_answered_at_once),
        TEST(any_other_is_answered_when_it_has_run),
        TEST(arguments_of_any_size_arrive_whole),
        TEST(bad_arguments_never_wait_for_a_worker),
        TEST(the_handler_gets_to_know_who_calls),
        TEST(what_is_said_meanwhile_comes_before_the_answer),
        TEST(a_stack_trace_is_not_said),
        TEST(a_stack_trace_that_is_not_said_is_recorded),
        TEST(what_nobody_has_heard_is_sent_at_the_end),
        TEST(progress_is_told_only_to_who_asks),
        TEST(log_messages_keep_to_the_level_that_was_asked_for),
        TEST(a_level_that_is_none_is_refused),
        TEST(what_is_said_is_bounded),
        TEST(who_says_little_is_heard_each_time),
        TEST(who_cancels_gets_no_answer),
        TEST(what_fails_after_it_was_cancelled_is_recorded),
        TEST(a_call_that_was_cancelled_before_it_began_does_not_begin),
        TEST(what_takes_too_long_is_answered_without_it),
        TEST(a_peer_that_is_gone_leaves_its_flights_to_themselves),
        TEST(a_crash_is_a_result_and_others_live_on),
        TEST(a_crash_while_something_is_said_holds_nobody_up),
        TEST(so_many_run_at_once_and_no_more),
        TEST(a_runner_that_is_full_takes_no_more),
        TEST(many_run_and_are_heard_at_once),
        TEST(a_resource_is_read_by_a_worker),
        TEST(a_prompt_says_how_far_it_is),
        TEST(what_was_remarked_is_told),
        TEST(who_cancels_reading_gets_no_answer),
        TEST(reading_that_takes_too_long_is_an_error),
        TEST(a_crash_of_either_is_an_error),
        TEST(a_transport_can_say_by_which_id_a_failure_is_found),
        TEST(a_server_can_set_a_limit_for_all),
        TEST(without_memory_every_call_is_answered),
    };
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    learn_containment(&app, &operations[0]);
    return RUN_WITH_LOG(tests, "MCP_FLIGHT_LOG");
}
