/*
 * Calls that are run by the runner of calls, for the tests of the MCP boundary. Where it does not
 * matter who runs a handler, it runs in this process, when the test says so. Where something
 * happens while it runs, or to its process, there are workers. A handler waits there until the test
 * lets it go on, so nothing depends on who is faster.
 */
#ifndef MISHAP_MCP_FLIGHTS_H
#define MISHAP_MCP_FLIGHTS_H

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/mman.h>

#include "mcp_runner.h"
#include "mcp/calls/flight.h"
#include "mcp_set_up.h"
#include "runs.h"
#include "worker/keeper/keeper.h"

/* What workers and the test share. */
static struct shared {
    sem_t begun, go_on;
    atomic_bool apart; /* handlers run in workers, and wait */
    atomic_bool saw_cancel;
    atomic_int runs;
} * shared;

/* In this process no loop waits; this is called instead, in the middle of the handler. */
static void (*meanwhile)(void);

static inline void pass(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        continue;
}

static inline mishap *echo(mishap_call *call)
{
    atomic_fetch_add(&shared->runs, 1);
    return mishap_answer_member(call, "word", mishap_string(call, "word"));
}

static inline void wait_for_test(mishap_call *call)
{
    if (atomic_load(&shared->apart)) {
        sem_post(&shared->begun);
        pass(&shared->go_on);
    } else if (meanwhile) {
        meanwhile();
    }
    atomic_store(&shared->saw_cancel, mishap_cancelled(call));
}

static inline mishap *wait_and_echo(mishap_call *call)
{
    wait_for_test(call);
    return echo(call);
}

static inline mishap *wait_and_say(mishap_call *call)
{
    wait_for_test(call);
    mishap_progress(call, 1, 2, "half");
    mishap_tell_client(call, MISHAP_LEVEL_ERROR, "It goes on.");
    return echo(call);
}

static inline mishap *wait_and_fail(mishap_call *call)
{
    wait_for_test(call);
    return mishap_note(mishap_raise(INTERNAL_ERROR, "It broke."), "at", "the very end");
}

static inline mishap *wait_and_crash(mishap_call *call)
{
    wait_for_test(call);
    raise(SIGSEGV);
    return NULL;
}

/* In this process the handler can set the clocks of its flight. However slow the machine is, what
 * comes next comes too soon … */
static inline mishap_mcp_flight *flight_of(const mishap_call *call)
{
    return (mishap_mcp_flight *)(void *)((uintptr_t)call->watcher -
                                         offsetof(mishap_mcp_flight, watcher));
}

static inline void stop_the_clock(const mishap_call *call)
{
    if (atomic_load(&shared->apart) || !call->watcher)
        return;
    flight_of(call)->window_ns = INT64_MAX;
    if (flight_of(call)->progress_ns > 0) /* when the last one was sent */
        flight_of(call)->progress_ns = INT64_MAX;
}

/* … or late enough. */
static inline void let_time_pass(const mishap_call *call)
{
    const int64_t pace = 45000000;
    flight_of(call)->progress_ns = flight_of(call)->window_ns = mishap_clock_monotonic_ns() - pace;
}

static inline mishap *say_all(mishap_call *call)
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

static inline mishap *say_too_much(mishap_call *call)
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

static inline mishap *say_in_steps(mishap_call *call)
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

/* A trace of the server's code, which must not leave. */
static const char trace[] = "Traceback (most recent call last):\n  File \"x.py\", line 3, in f";

static inline mishap *say_a_trace(mishap_call *call)
{
    mishap_progress(call, 1, 2, trace);
    mishap_tell_client(call, MISHAP_LEVEL_ERROR, "%s", trace);
    return wait_and_echo(call);
}

static inline mishap *say_traces(mishap_call *call)
{
    for (int i = 0; i < 100; i++)
        mishap_tell_client(call, MISHAP_LEVEL_ERROR, "%s", trace);
    return wait_and_echo(call);
}

static inline mishap *crash(mishap_call *call)
{
    (void)call;
    raise(SIGSEGV);
    return NULL;
}

static inline mishap *crash_while_it_says(mishap_call *call)
{
    mishap_progress(call, 1, 2, "sound");
    mishap_progress(call, 2, 2, (const char *)(uintptr_t)8);
    return NULL;
}

static inline mishap *work(mishap_call *call)
{
    for (int i = 1; i <= 200 && !mishap_cancelled(call); i++) {
        mishap_progress(call, i, 200, "working");
        mishap_tell_client(call, MISHAP_INFO, "step %d", i);
    }
    return echo(call);
}

static inline mishap *warn(mishap_call *call)
{
    mishap_warn(call, "It is late.");
    return echo(call);
}

static inline mishap *tell_caller(mishap_call *call)
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

struct transport {
    struct wire wire; /* the first */
    mishap_keeper_plan plan;
    mishap_keeper keeper; /* of workers */
    bool refuses;         /* to start anything */
    size_t start_count;
    int deaths;        /* of processes, of a call */
    char orphan[1000]; /* what was to be recorded of a call whose caller had left */
};

enum { WORKERS = 2, MOST_WAITING = 64 };

static inline struct transport *transport_of(mishap_mcp_peer *peer)
{
    return (struct transport *)(void *)((char *)peer - offsetof(struct wire, peer));
}

static inline bool start(mishap_mcp_peer *peer, mishap_mcp_flight *flight)
{
    struct transport *t = transport_of(peer);
    (void)flight;
    t->start_count += !t->refuses;
    return !t->refuses;
}

static inline void count_death(mishap_mcp_peer *peer)
{
    transport_of(peer)->deaths++;
}

static inline void on_orphan(void *state, const mishap_call *call, const char *incident,
                             mishap *failure)
{
    struct transport *t = state;
    put_orphan(t->orphan, sizeof t->orphan, call, incident, failure);
}

static inline void open_workers(struct transport *t)
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

static inline void open_any(struct transport *t, mishap_mcp_revision revision, bool apart)
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

static inline void open_transport(struct transport *t, mishap_mcp_revision revision)
{
    open_any(t, revision, false);
}

static inline void open_transport_with_workers(struct transport *t, mishap_mcp_revision revision)
{
    open_any(t, revision, true);
}

/* What a loop does over and over. */
static inline void turn(struct transport *t)
{
    struct pollfd file = { .fd = mishap_runner_file(t->wire.server.runner), .events = POLLIN };
    mishap_runner_flush(t->wire.server.runner);
    if (atomic_load(&shared->apart) && poll(&file, 1, 20) > 0)
        mishap_runner_turn(t->wire.server.runner);
}

/* Until a handler has begun, in a worker. */
static inline void let_begin(struct transport *t)
{
    int64_t until = long_after();
    while (sem_trywait(&shared->begun) != 0) {
        assert_true(mishap_clock_monotonic_ns() < until);
        turn(t);
    }
}

/* Until all calls have come back, also those whose callers have left. */
static inline void finish_all(struct transport *t)
{
    int64_t until = long_after();
    while (mishap_runner_count(t->wire.server.runner, true)) {
        assert_true(mishap_clock_monotonic_ns() < until);
        turn(t);
    }
    read_answer(&t->wire);
}

static inline void close_transport(struct transport *t)
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
static inline yyjson_doc *line(struct transport *t, size_t n)
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

static inline size_t line_count(const struct transport *t)
{
    size_t count = 0;
    for (size_t i = 0; i < t->wire.out.length; i++)
        count += t->wire.out.data[i] == '\n';
    return count;
}

static inline void assert_line(struct transport *t, size_t n, const char *expected)
{
    yyjson_doc *doc = line(t, n);
    char *text = yyjson_write(doc, 0, NULL);
    assert_string_equal(text, expected);
    free(text);
    yyjson_doc_free(doc);
}

#define ANSWER(id, word)                                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":"     \
    "\"{\\\"word\\\":\\\"" word "\\\"}\"}],\"structuredContent\":{\"word\":\"" word "\"}}}"

#define PROGRESS "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
#define MESSAGE  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"

/* The tests, with memory that workers share with them, and a log. */
static inline int run_flights(const struct CMUnitTest *tests, size_t count)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !open_log("MCP_FLIGHT_LOG"))
        return 1;
    learn_containment(&app, &operations[0]);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return close_log(_cmocka_run_group_tests("flights", tests, count, NULL, NULL));
}

#endif
