/*
 * src/boundary/mcp/flight: calls that run on threads, what they say meanwhile, and how they end.
 *
 * The transport of these tests runs jobs on real threads. A handler waits until the test lets it go
 * on, so nothing depends on who is faster.
 */
#include <errno.h>
#include <math.h>
#include <semaphore.h>

#include "mcp_set_up.h"

/* -- handlers ---------------------------------------------------------------------------------- */

static sem_t begun, go_on;
static atomic_int saw_cancel, runs;

static void pass(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        continue;
}

static mishap *echo(mishap_call *call)
{
    atomic_fetch_add(&runs, 1);
    return mishap_answer_member(call, "word", mishap_string(call, "word"));
}

static mishap *wait_and_echo(mishap_call *call)
{
    sem_post(&begun);
    pass(&go_on);
    atomic_store(&saw_cancel, mishap_cancelled(call));
    return echo(call);
}

/* However slow the machine is, what comes next comes too soon. */
static void stop_the_clock(const mishap_call *call)
{
    mishap_mcp_flight *flight = (mishap_mcp_flight *)(void *)((uintptr_t)call->watcher -
                                                              offsetof(mishap_mcp_flight, watcher));
    if (flight->progress_ns > 0) /* when the last one was told */
        flight->progress_ns = INT64_MAX;
}

static mishap *say_all(mishap_call *call)
{
    mishap_progress(call, 0, 100, "beginning");
    stop_the_clock(call);
    mishap_progress(call, 0, 100, "not more than before");
    mishap_progress(call, NAN, 100, NULL);
    mishap_progress(call, 25.5, 0, NULL);
    mishap_progress(call, 12, 0, NULL);
    mishap_log(call, MISHAP_DEBUG, "A detail.");
    mishap_log(call, MISHAP_INFO, "It goes \"on\".");
    mishap_log(call, MISHAP_LEVEL_WARNING, "The word is %s.", mishap_string(call, "key"));
    mishap_progress(call, 100, 100, "The word is open sesame.");
    mishap_progress(call, 100, 100, "not more than before");
    mishap_progress(call, 99, 100, "less than before");
    return wait_and_echo(call);
}

static mishap *say_too_much(mishap_call *call)
{
    for (int i = 0; i < 5000; i++) {
        mishap_log(call, MISHAP_EMERGENCY, "%01000d", i);
        mishap_progress(call, i, 5000, NULL);
    }
    return wait_and_echo(call);
}

/* Somebody else's trace, which is not to leave. */
static const char trace[] = "Traceback (most recent call last):\n  File \"x.py\", line 3, in f";

static mishap *say_a_trace(mishap_call *call)
{
    mishap_progress(call, 1, 2, trace);
    mishap_log(call, MISHAP_LEVEL_ERROR, "%s", trace);
    return wait_and_echo(call);
}

static mishap *say_traces(mishap_call *call)
{
    for (int i = 0; i < 100; i++)
        mishap_log(call, MISHAP_LEVEL_ERROR, "%s", trace);
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
        mishap_log(call, MISHAP_INFO, "step %d", i);
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
    { "wait", "Say it later", params, wait_and_echo, .danger = MISHAP_MUTATING },
    { "say", "Say much", params, say_all, .danger = MISHAP_SAFE },
    { "flood", "Say too much", params, say_too_much, .danger = MISHAP_SAFE },
    { "crash", "Crash", params, crash, .danger = MISHAP_SAFE },
    { "crash_quickly", "Crash at once", params, crash, .quick = true },
    { "crash_saying", "Crash while it says something", params, crash_while_it_says,
      .danger = MISHAP_SAFE },
    { "work", "Work", params, work, .danger = MISHAP_SAFE },
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
    mishap_threads *threads;
    sem_t woken;
    atomic_bool reports;
    bool refuses; /* to start anything */
    mishap_mcp_flight *started[64];
    size_t start_count, running;
};

static struct transport *transport_of(mishap_mcp_peer *peer)
{
    return (struct transport *)(void *)((char *)peer - offsetof(struct wire, peer));
}

static void wake(void *state)
{
    sem_post(&((struct transport *)state)->woken);
}

static bool start(mishap_mcp_peer *peer, mishap_mcp_flight *flight)
{
    struct transport *t = transport_of(peer);
    if (t->refuses || !mishap_threads_add(t->threads, &flight->job))
        return false;
    t->started[t->start_count++ % 64] = flight;
    t->running++;
    return true;
}

static void wake_for_report(mishap_mcp_peer *peer, mishap_mcp_flight *flight)
{
    struct transport *t = transport_of(peer);
    (void)flight;
    atomic_store(&t->reports, true);
    wake(t);
}

static void open_transport(struct transport *t, mishap_mcp_revision revision)
{
    *t = (struct transport){ 0 };
    open_wire(&t->wire, &app, revision);
    t->wire.peer.start = start;
    t->wire.peer.wake = wake_for_report;
    sem_init(&t->woken, 0, 0);
    sem_init(&begun, 0, 0);
    sem_init(&go_on, 0, 0);
    atomic_store(&runs, 0);
    assert_null(mishap_threads_open(8, wake, t, &t->threads));
}

static void finish_jobs(struct transport *t)
{
    for (mishap_job *job = mishap_threads_finished(t->threads), *next; job; job = next) {
        next = job->after;
        t->running--;
        mishap_mcp_flight_finish((mishap_mcp_flight *)(void *)job);
    }
}

/* Until all jobs have come back. */
static void finish_all(struct transport *t)
{
    while (t->running) {
        pass(&t->woken);
        finish_jobs(t);
        if (atomic_exchange(&t->reports, false))
            for (mishap_mcp_flight *f = t->wire.peer.flights, *next; f; f = next) {
                next = f->next;
                mishap_mcp_flight_report(f);
            }
    }
    read_answer(&t->wire);
}

static void close_transport(struct transport *t)
{
    finish_all(t);
    mishap_threads_close(t->threads);
    close_wire(&t->wire);
    sem_destroy(&t->woken);
    sem_destroy(&begun);
    sem_destroy(&go_on);
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
    open_transport(&t, MISHAP_MCP_2025_11_25);
    send_text(&t.wire, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":"
                       "{\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}}}");
    pass(&begun);
    assert_int_equal(t.wire.out.length, 0);
    assert_int_equal(t.wire.finished, 0);
    assert_int_equal(t.wire.peer.flight_count, 1);
    assert_non_null(mishap_mcp_flight_find(&t.wire.peer, T("\"x\"")));
    assert_null(mishap_mcp_flight_find(&t.wire.peer, T("x")));
    /* Others are served meanwhile. */
    ask(&t.wire, "tools/call", "\"name\":\"echo\",\"arguments\":{\"word\":\"b\"}");
    assert_line(&t, 0, ANSWER("7", "b"));
    sem_post(&go_on);
    finish_all(&t);
    assert_line(&t, 1, ANSWER("\"x\"", "a"));
    assert_int_equal(t.wire.finished, 2);
    assert_null(t.wire.peer.flights);
    assert_int_equal(t.wire.peer.flight_count, 0);
    close_transport(&t);
}

static void arguments_of_any_size_arrive_whole(void **state)
{
    (void)state;
    struct transport t;
    char members[5200], word[5001];
    open_transport(&t, MISHAP_MCP_2025_11_25);
    memset(word, 'w', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    snprintf(members, sizeof members, "\"name\":\"wait\",\"arguments\":{\"word\":\"%s\"}", word);
    ask(&t.wire, "tools/call", members);
    sem_post(&go_on);
    finish_all(&t);
    assert_string_equal(text_at(&t.wire, "/result/structuredContent/word"), word);
    close_transport(&t);
}

static void bad_arguments_never_wait_for_a_thread(void **state)
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
    struct transport t;
    char caller[] = "ada";
    open_transport(&t, MISHAP_MCP_2025_11_25);
    t.wire.peer.caller = caller;
    ask(&t.wire, "tools/call", "\"name\":\"caller\"");
    memset(caller, '?', 3); /* it has a copy */
    finish_all(&t);
    assert_string_equal(text_at(&t.wire, "/result/structuredContent/caller"), "ada");
    close_transport(&t);
}

/* -- saying ------------------------------------------------------------------------------------ */

#define PROGRESS "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
#define MESSAGE  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"

static void what_is_said_meanwhile_comes_before_the_answer(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call",
        "\"name\":\"say\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"},"
        "\"_meta\":{\"progressToken\":0}");
    pass(&begun);
    mishap_mcp_flight_report(t.wire.peer.flights);
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
    assert_int_equal(line_count(&t), 4);
    mishap_mcp_flight_report(t.wire.peer.flights);
    assert_int_equal(line_count(&t), 4);
    sem_post(&go_on);
    finish_all(&t);
    assert_line(&t, 4, ANSWER("7", "a"));
    close_transport(&t);
}

static void a_stack_trace_is_not_said(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"say_trace\",\"_meta\":{\"progressToken\":0}");
    pass(&begun);
    mishap_mcp_flight_report(t.wire.peer.flights);
    assert_int_equal(line_count(&t), 2);
    assert_null(memmem(t.wire.out.data, t.wire.out.length, "x.py", 4));
    assert_line(&t, 0,
                PROGRESS "{\"progressToken\":0,\"progress\":1,\"total\":2,"
                         "\"message\":\"A stack trace was removed here.\"}}");
    assert_line(&t, 1,
                MESSAGE "{\"level\":\"error\",\"logger\":\"say_trace\","
                        "\"data\":\"A stack trace was removed here.\"}}");
    sem_post(&go_on);
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
    sem_post(&go_on);
    finish_all(&t);
    char *said = logged();
    ask(&t.wire, "tools/call", "\"name\":\"say_traces\"");
    sem_post(&go_on);
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
    pass(&begun);
    atomic_store(&t.reports, false);
    sem_post(&go_on);
    while (t.running) {
        pass(&t.woken);
        finish_jobs(&t);
    }
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
    sem_post(&go_on);
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

static void what_waits_to_be_heard_is_bounded(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call",
        "\"name\":\"flood\",\"arguments\":{},\"_meta\":{\"progressToken\":1}");
    pass(&begun);
    assert_true(t.wire.peer.flights->reports.length < 64 * 2048);
    mishap_mcp_flight_report(t.wire.peer.flights);
    assert_int_equal(line_count(&t), MISHAP_MCP_REPORTS + 1);
    yyjson_doc *last = line(&t, MISHAP_MCP_REPORTS);
    assert_int_equal(yyjson_get_int(yyjson_ptr_get(yyjson_doc_get_root(last), "/params/progress")),
                     4999);
    yyjson_doc_free(last);
    sem_post(&go_on);
    close_transport(&t);
}

/* -- ends -------------------------------------------------------------------------------------- */

static void who_cancels_gets_no_answer(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}");
    pass(&begun);
    send_text(&t.wire, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                       "\"params\":{\"requestId\":7}}");
    assert_int_equal(t.wire.finished, 2); /* of the call, and of the notification */
    assert_null(t.wire.peer.flights);
    mishap_mcp_flight *flight = t.started[0];
    assert_null(flight->peer);
    mishap_mcp_flight_cancel(flight); /* twice is as good as once */
    mishap_mcp_flight_give_up(flight);
    assert_int_equal(t.wire.finished, 2);
    sem_post(&go_on);
    finish_all(&t);
    assert_int_equal(t.wire.out.length, 0);
    assert_true(atomic_load(&saw_cancel));
    close_transport(&t);
}

static void a_call_that_was_cancelled_before_it_began_does_not_begin(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    for (int i = 0; i < 8; i++) { /* all threads have something to do */
        char text[200];
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"wait\",\"arguments\":{}}}",
                 i + 100);
        t.wire.server.flight_limit = 100;
        send_text(&t.wire, text);
    }
    for (int i = 0; i < 8; i++)
        pass(&begun);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{}");
    mishap_mcp_flight_cancel(mishap_mcp_flight_find(&t.wire.peer, T("7")));
    for (int i = 0; i < 8; i++)
        sem_post(&go_on);
    finish_all(&t);
    assert_int_equal(atomic_load(&runs), 8);
    assert_int_equal(line_count(&t), 8);
    close_transport(&t);
}

static void what_takes_too_long_is_answered_without_it(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}");
    pass(&begun);
    mishap_mcp_flight_give_up(t.wire.peer.flights);
    assert_failed(&t, 0, "TimeoutError");
    assert_int_equal(t.wire.finished, 1);
    assert_null(t.wire.peer.flights);
    sem_post(&go_on);
    finish_all(&t);
    assert_int_equal(line_count(&t), 1);
    assert_true(atomic_load(&saw_cancel));
    close_transport(&t);
}

static void a_peer_that_is_gone_leaves_its_flights_to_themselves(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call",
        "\"name\":\"say\",\"arguments\":{\"key\":\"open sesame\"},\"_meta\":{\"progressToken\":1}");
    ask(&t.wire, "tools/list", "");
    pass(&begun);
    mishap_mcp_peer_release(&t.wire.peer);
    assert_int_equal(t.wire.peer.flight_count, 0);
    mishap_mcp_flight_report(t.started[0]); /* to nobody */
    mishap_buffer_reset(&t.wire.out);
    sem_post(&go_on);
    finish_all(&t);
    assert_int_equal(t.wire.out.length, 0);
    close_transport(&t);
}

static void a_crash_is_a_result_and_others_live_on(void **state)
{
    (void)state;
    struct transport t;
    contain_again();
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"crash\"");
    finish_all(&t);
    assert_failed(&t, 0, "RuntimeError");
    assert_true(t.wire.peer.crashed);
    t.wire.peer.crashed = false;
    ask(&t.wire, "tools/call", "\"name\":\"crash_quickly\"");
    assert_failed(&t, 0, "RuntimeError");
    assert_true(t.wire.peer.crashed);
    ask(&t.wire, "tools/call", "\"name\":\"echo\",\"arguments\":{\"word\":\"a\"}");
    assert_line(&t, 0, ANSWER("7", "a"));
    close_transport(&t);
}

static void a_crash_while_something_is_said_holds_nobody_up(void **state)
{
    (void)state;
    struct transport t;
    contain_again();
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"crash_saying\",\"_meta\":{\"progressToken\":1}");
    finish_all(&t);
    assert_line(&t, 0,
                PROGRESS "{\"progressToken\":1,\"progress\":1,\"total\":2,\"message\":\"sound\"}}");
    assert_failed(&t, 1, "RuntimeError");
    close_transport(&t);
}

static void so_many_run_at_once_and_no_more(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    t.wire.server.flight_limit = 1;
    send_text(&t.wire, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                       "{\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}}}");
    pass(&begun);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    assert_failed(&t, 0, "RuntimeError");
    assert_int_equal(number_at(&t.wire, "/result/structuredContent/retry_after_ms"), 1000);
    ask(&t.wire, "tools/call", "\"name\":\"echo\",\"arguments\":{\"word\":\"c\"}");
    assert_line(&t, 0, ANSWER("7", "c"));
    sem_post(&go_on);
    finish_all(&t);
    t.refuses = true;
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    assert_failed(&t, 0, "RuntimeError");
    assert_null(t.wire.peer.flights);
    close_transport(&t);
}

/* -- many at once ------------------------------------------------------------------------------ */

static void many_run_and_are_heard_at_once(void **state)
{
    (void)state;
    enum { CALLS = 40 };
    struct transport t;
    char text[300];
    double progress[CALLS];
    bool answered[CALLS] = { false };
    open_transport(&t, MISHAP_MCP_2025_11_25);
    t.wire.server.flight_limit = CALLS;
    for (int i = 0; i < CALLS; i++) {
        progress[i] = 0;
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"work\",\"arguments\":{\"word\":\"w\"},\"_meta\":{\"progressToken\":%d}}}",
                 i, i);
        mishap_mcp_take_text(&t.wire.peer, &t.wire.channel, &t.wire.reader, mishap_text_of(text));
        if (i % 10 == 3)
            mishap_mcp_flight_cancel(t.wire.peer.flights);
        if (t.wire.peer.flights)
            mishap_mcp_flight_report(t.wire.peer.flights);
    }
    finish_all(&t);
    const char *from = t.wire.out.data, *end = from + t.wire.out.length;
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
    for (int i = 0; i < CALLS; i++)
        if (answered[i])
            assert_true(progress[i] == 200);
    close_transport(&t);
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

static void a_resource_is_read_on_a_thread(void **state)
{
    (void)state;
    struct transport t;
    char uri[] = "\"uri\":\"test://read/a%20b\"";
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "resources/read", uri);
    memset(uri, '?', sizeof uri); /* the message is gone */
    pass(&begun);
    assert_int_equal(t.wire.out.length, 0);
    assert_int_equal(t.wire.peer.flight_count, 1);
    ask(&t.wire, "resources/read", "\"uri\":\"catalog://codes\""); /* with the same id */
    assert_error(&t.wire, -32600);
    mishap_buffer_reset(&t.wire.out);
    sem_post(&go_on);
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
    pass(&begun);
    mishap_mcp_flight_report(t.wire.peer.flights);
    assert_line(&t, 0,
                PROGRESS "{\"progressToken\":0,\"progress\":0,\"total\":100,"
                         "\"message\":\"beginning\"}}");
    assert_line(&t, 1,
                MESSAGE "{\"level\":\"info\",\"logger\":\"ask\","
                        "\"data\":\"It goes \\\"on\\\".\"}}");
    sem_post(&go_on);
    finish_all(&t);
    assert_line(&t, line_count(&t) - 1,
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"description\":\"Ask much\","
                "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
                "\"{\\\"word\\\":\\\"a\\\"}\"}}]}}");
    assert_null(memmem(t.wire.out.data, t.wire.out.length, "open sesame", 11));
    close_transport(&t);
}

static void what_was_remarked_on_a_thread_is_told(void **state)
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
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "resources/read", "\"uri\":\"test://read/a\"");
    pass(&begun);
    send_text(&t.wire, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                       "{\"requestId\":7}}");
    sem_post(&go_on);
    finish_all(&t);
    assert_true(atomic_load(&saw_cancel));
    assert_int_equal(t.wire.out.length, 0);
    close_transport(&t);
}

static void reading_that_takes_too_long_is_an_error(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "resources/read", "\"uri\":\"test://read/a\"");
    pass(&begun);
    mishap_mcp_flight_give_up(t.wire.peer.flights);
    assert_refused(&t, 0, -32603, "TIMEOUT");
    assert_non_null(memmem(t.wire.out.data, t.wire.out.length, "\"uri\":\"test://read/a\"", 21));
    assert_non_null(memmem(t.wire.out.data, t.wire.out.length, "\"retryable\":true", 16));
    assert_int_equal(t.wire.finished, 1);
    sem_post(&go_on);
    finish_all(&t);
    assert_int_equal(line_count(&t), 1);
    close_transport(&t);
}

static void a_crash_of_either_is_an_error(void **state)
{
    (void)state;
    struct transport t;
    contain_again();
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "resources/read", "\"uri\":\"test://crash\"");
    finish_all(&t);
    assert_refused(&t, 0, -32603, "INTERNAL_ERROR");
    assert_true(t.wire.peer.crashed);
    ask(&t.wire, "prompts/get", "\"name\":\"crash\"");
    finish_all(&t);
    assert_refused(&t, 0, -32603, "INTERNAL_ERROR");
    close_transport(&t);
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
    pass(&begun);
    int64_t usual = t.wire.peer.flights->job.call->deadline_ns - mishap_clock_monotonic_ns();
    sem_post(&go_on);
    finish_all(&t);
    t.wire.server.call_ms = 500;
    ask(&t.wire, "tools/call", "\"name\":\"wait\"");
    pass(&begun);
    int64_t limited = t.wire.peer.flights->job.call->deadline_ns - mishap_clock_monotonic_ns();
    assert_true(usual > INT64_C(20000000000));
    assert_true(limited <= INT64_C(600000000));
    sem_post(&go_on);
    close_transport(&t);
}

/* -- without memory ---------------------------------------------------------------------------- */

/* A job that runs in the hands of whoever waits for it, so that every run is the same. */
static mishap_mcp_flight *waiting;

static bool keep_waiting(mishap_mcp_peer *peer, mishap_mcp_flight *flight)
{
    (void)peer;
    waiting = flight;
    return true;
}

static const char *message;

static void call_one(const void *input)
{
    struct wire w;
    open_small_wire(&w, input);
    w.peer.start = keep_waiting;
    waiting = NULL;
    mishap_mcp_take_text(&w.peer, &w.channel, &w.reader, mishap_text_of(message));
    if (waiting) {
        sem_post(&go_on);
        waiting->job.run(&waiting->job);
        mishap_mcp_flight_finish(waiting);
    }
    assert_int_equal(w.finished, 1);
    assert_null(w.peer.flights);
    read_response(&w);
    close_small_wire(&w);
}

static void without_memory_every_call_is_answered(void **state)
{
    (void)state;
    mishap_mcp_server server = { .app = &app };
    assert_null(mishap_mcp_server_make(&server, false));
    sem_init(&begun, 0, 0);
    sem_init(&go_on, 0, 0);
    mishap_use_allocator(&failing_allocator);
    static const char *const messages[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"
        "{\"name\":\"say\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"}"
        ",\"_meta\":{\"progressToken\":1}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":"
        "{\"uri\":\"test://read/a\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/get\",\"params\":"
        "{\"name\":\"ask\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"}}}",
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        message = messages[i];
        torture(call_one, &server);
    }
    mishap_use_allocator(NULL);
    mishap_mcp_server_release(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_quick_call_is_answered_at_once),
        TEST(any_other_is_answered_when_it_has_run),
        TEST(arguments_of_any_size_arrive_whole),
        TEST(bad_arguments_never_wait_for_a_thread),
        TEST(the_handler_gets_to_know_who_calls),
        TEST(what_is_said_meanwhile_comes_before_the_answer),
        TEST(a_stack_trace_is_not_said),
        TEST(a_stack_trace_that_is_not_said_is_recorded),
        TEST(what_nobody_has_heard_is_sent_at_the_end),
        TEST(progress_is_told_only_to_who_asks),
        TEST(log_messages_keep_to_the_level_that_was_asked_for),
        TEST(a_level_that_is_none_is_refused),
        TEST(what_waits_to_be_heard_is_bounded),
        TEST(who_cancels_gets_no_answer),
        TEST(a_call_that_was_cancelled_before_it_began_does_not_begin),
        TEST(what_takes_too_long_is_answered_without_it),
        TEST(a_peer_that_is_gone_leaves_its_flights_to_themselves),
        TEST(a_crash_is_a_result_and_others_live_on),
        TEST(a_crash_while_something_is_said_holds_nobody_up),
        TEST(so_many_run_at_once_and_no_more),
        TEST(many_run_and_are_heard_at_once),
        TEST(a_resource_is_read_on_a_thread),
        TEST(a_prompt_says_how_far_it_is),
        TEST(what_was_remarked_on_a_thread_is_told),
        TEST(who_cancels_reading_gets_no_answer),
        TEST(reading_that_takes_too_long_is_an_error),
        TEST(a_crash_of_either_is_an_error),
        TEST(a_transport_can_say_by_which_id_a_failure_is_found),
        TEST(a_server_can_set_a_limit_for_all),
        TEST(without_memory_every_call_is_answered),
    };
    learn_containment(&app, &operations[0]);
    return RUN_WITH_LOG(tests, "MCP_FLIGHT_LOG");
}
