/*
 * Workers: calls in processes that may die, and what they say. The test is the parent of a keeper
 * and has a runner of its own, as a loop has.
 */

#include "base/shared.h"
#include "operation/changes.h"
#include "workers_app.h"

#ifdef __SANITIZE_ADDRESS__ /* by gcc; clang says it in another way, and keeps such frames         \
                               elsewhere */
#include <sanitizer/asan_interface.h>
#endif

/* -- a loop ------------------------------------------------------------------------------------ */

static void on_changed(void *state, mishap_text address)
{
    (void)state;
    snprintf(changed, sizeof changed, "%.*s", (int)address.length, address.data);
}

/* -- what it shows ----------------------------------------------------------------------------- */

static void a_call_is_run_by_another_process_and_answered(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    call(&loop, &o, "echo", "{\"number\":17}");
    assert_int_equal(member(&o, "number"), 17);
    assert_int_not_equal(member(&o, "pid"), getpid());
    assert_int_not_equal(member(&o, "pid"), loop.keeper.pid);
    assert_false(o.run.died);
    let_go(&o);
    end(&loop);
}

static void a_failure_arrives_with_both_of_its_sides(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char account[4000];
    (void)state;
    begin(&loop);
    call(&loop, &o, "fail", "{}");
    assert_ptr_equal(mishap_told(o.failure)->code, MISHAP_CODE_NOT_FOUND);
    account_of(o.failure, account, sizeof account);
    assert_non_null(strstr(account, "marker-private cause"));
    assert_non_null(strstr(account, "marker-private note"));
    assert_non_null(strstr(account, "do_fail"));
    let_go(&o);
    end(&loop);
}

/* How a handler dies, what the log says of it, and whether the stack of the handler is known. */
static const struct {
    const char *how, *words;
    bool stack, timeout;
} deaths[] = {
    { "segv", "crashed with SIGSEGV", true, false },
    { "abort", "crashed with SIGABRT", true, false },
    { "leaf", "crashed with SIGSEGV", true, false },
    { "divide", "crashed with SIGFPE", true, false },
    { "illegal", "crashed with SIGILL", true, false },
    { "trap", "crashed with SIGTRAP", true, false },
    { "sent segv", "crashed with SIGSEGV", true, false },
    { "system", "crashed with SIGSYS", true, false },
    { "time", "killed with SIGXCPU", true, false },
    { "quit", "killed with SIGQUIT", true, false },
    { "heap", "crashed with SIG", true, false },
#if !SANITIZED /* the address sanitizer has functions and stacks of its own */
    { "library", "crashed with SIGSEGV", true, false },
    { "stack", "crashed with SIGSEGV", false, false }, /* 24 frames of overflow() */
#endif
    { "exit", "called exit(3)", true, false },
    { "quick", "called quick_exit()", true, false },
    { "_exit", "_exit(4)", false, false },
    { "kill", "killed with SIGKILL", false, false },
    { "child exits", "killed with SIGKILL", false, false },
    { "child crashes", "killed with SIGKILL", false, false },
    { "stop", "was stopped", true, false },
    { "thread", "ended its thread", true, false },
    { "loop", "not finished in time", true, true },
    { "starve", "not finished in time", true, true },
    { "block", "not finished in time", true, true },
    { "starve deaf", "not finished in time", true, true },
    { "close", "closed the connection", true, false },
};

/* pthread_exit() leaves frames without their return, which the address sanitizer takes for an
 * overflow of the stack, unless it keeps such frames elsewhere (detect_stack_use_after_return). */
static bool would_be_a_false_alarm(const char *way)
{
#if defined __SANITIZE_ADDRESS__
    return strcmp(way, "thread") == 0 && !__asan_get_current_fake_stack();
#else
    (void)way;
    return false;
#endif
}

static void every_way_to_die_is_told_and_costs_one_call(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char account[8000], arguments[64];
    (void)state;
    prepare(&loop, &app);
    loop.times = &unhurried;
    begin_prepared(&loop);
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        if (would_be_a_false_alarm(deaths[i].how))
            continue;
        snprintf(arguments, sizeof arguments, "{\"how\":\"%s\"}", deaths[i].how);
        call(&loop, &o, deaths[i].timeout ? "die" : "die.soon", arguments);
        assert_non_null(o.failure);
        assert_int_equal(o.run.died, !deaths[i].timeout);
        account_of(o.failure, account, sizeof account);
        if (!strstr(account, deaths[i].words) || (deaths[i].stack && !strstr(account, "do_die")))
            fail_msg("%s: %s", deaths[i].how, account);
        const char *frame = deaths[i].stack ? strstr(account, " do_die+0x") : NULL;
        if (frame && strstr(frame + 1, " do_die+0x")) /* it does not call itself */
            fail_msg("%s: a frame is there twice: %s", deaths[i].how, account);
        assert_int_equal(strstr(account, "noted limit_ms = 500") != NULL, deaths[i].timeout);
        assert_ptr_equal(mishap_told(o.failure)->code,
                         deaths[i].timeout ? MISHAP_CODE_TIMEOUT : MISHAP_CODE_INTERNAL_ERROR);
        let_go(&o);
        call(&loop, &o, "echo", "{\"number\":1}");
        assert_int_equal(member(&o, "number"), 1);
        let_go(&o);
    }
    mishap_runner_close(loop.runner);
    loop.runner = NULL;
    nothing_is_left(&loop);
    end(&loop);
}

/* What raise() puts in the place of an address is the id of a process. */
static void the_address_of_a_crash_is_noted_if_the_processor_gave_it(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char account[8000];
    (void)state;
    prepare(&loop, &app);
    loop.times = &unhurried;
    begin_prepared(&loop);
    call(&loop, &o, "die.soon", "{\"how\":\"leaf\"}");
    account_of(o.failure, account, sizeof account);
    assert_non_null(strstr(account, "noted address = 64"));
    let_go(&o);
    call(&loop, &o, "die.soon", "{\"how\":\"sent segv\"}");
    account_of(o.failure, account, sizeof account);
    assert_non_null(strstr(account, "crashed with SIGSEGV"));
    assert_null(strstr(account, "noted address"));
    let_go(&o);
    end(&loop);
}

static void operations_without_a_service_share_one_process_and_run_one_at_a_time(void **state)
{
    struct loop loop;
    static struct ours many[60];
    (void)state;
    begin(&loop);
    for (size_t i = 0; i < 60; i++)
        assert_true(add(&loop, &many[i], "count", "{}"));
    for (size_t i = 0; i < 60; i++)
        wait_for(&loop, &many[i]);
    for (size_t i = 0; i < 60; i++) {
        assert_int_equal(member(&many[i], "count"), (int64_t)i + 1);
        let_go(&many[i]);
    }
    end(&loop);
}

static void two_loops_share_the_worker_that_is_alone(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    mishap_runner *first = loop.runner;
    call(&loop, &o, "lonely.count", "{}");
    let_go(&o);
    open_runner(&loop, 4, 100);
    mishap_runner *second = loop.runner;
    for (int64_t i = 2; i < 40; i++) {
        loop.runner = i % 2 ? first : second;
        call(&loop, &o, "lonely.count", "{}");
        assert_int_equal(member(&o, "count"), i);
        let_go(&o);
    }
    mishap_runner_close(first);
    loop.runner = second;
    call(&loop, &o, "lonely.count", "{}");
    assert_int_equal(member(&o, "count"), 40);
    let_go(&o);
    end(&loop);
}

static size_t different(const int64_t *pids, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen = seen || pids[j] == pids[i];
        found += !seen;
    }
    return found;
}

/* Calls that come at once, and the processes that ran them: at most 4. On a busy machine the first
 * process may be done with all of them before the others have started, so they are sent again
 * until so many have taken part. */
static void sleep_in_many(struct loop *loop, const char *arguments, int64_t *pids, size_t count,
                          size_t wanted)
{
    static struct ours many[12];
    size_t found = 0;
    for (int turns = 0; turns < 100 && found < wanted; turns++) {
        for (size_t i = 0; i < count; i++)
            assert_true(add(loop, &many[i], "sleep", arguments));
        for (size_t i = 0; i < count; i++)
            wait_for(loop, &many[i]);
        for (size_t i = 0; i < count; i++) {
            pids[i] = member(&many[i], "pid");
            let_go(&many[i]);
        }
        found = different(pids, count);
        assert_in_range(found, 1, 4);
    }
    assert_true(found >= wanted);
}

static void a_service_runs_in_as_many_processes_as_allowed_and_no_more(void **state)
{
    struct loop loop;
    int64_t pids[12];
    (void)state;
    begin(&loop);
    sleep_in_many(&loop, "{\"number\":150}", pids, 12, 4);
    sleep_in_many(&loop, "{\"number\":10}", pids, 12, 1); /* nor are there more later */
    end(&loop);
}

/* Naps in one process, one after the other. Each may take much longer than it does. */
static void waiting_is_not_charged_to_the_handler(void **state)
{
    enum { MANY = 16, LIMIT_MS = 6000 }; /* the last one waits for longer than that */
    struct loop loop;
    static struct ours many[MANY];
    (void)state;
    prepare(&loop, &app);
    loop.times = &patient;
    begin_prepared(&loop);
    for (size_t i = 0; i < MANY; i++) {
        assert_true(add(&loop, &many[i], "nap", "{\"number\":450}"));
        many[i].run.call->limit_ms = LIMIT_MS;
    }
    for (size_t i = 0; i < MANY; i++) {
        wait_for(&loop, &many[i]);
        assert_null(many[i].failure);
        let_go(&many[i]);
    }
    end(&loop);
}

static bool lives(int64_t pid)
{
    return kill((pid_t)pid, 0) == 0;
}

static void a_worker_that_is_put_away_and_hangs_at_its_end_is_killed(void **state)
{
    struct loop loop;
    mishap_runner_times times = patient;
    times.idle_ms = 200;
    (void)state;
    prepare(&loop, &app);
    loop.times = &times;
    begin_prepared(&loop);
    int64_t pids[2];
    sleep_in_many(&loop, "{\"number\":111}", pids, 2, 2);
    for (int i = 0; i < 2000 && lives(pids[0]) && lives(pids[1]); i++)
        turn(&loop, 50);
    assert_int_equal(lives(pids[0]) + lives(pids[1]), 1);
    end(&loop);
}

static void calls_that_a_dead_worker_had_not_begun_are_run_by_another(void **state)
{
    struct loop loop;
    static struct ours first, many[20];
    (void)state;
    begin(&loop);
    mishap_runner_close(loop.runner);
    mishap_keeper_disconnect(&loop.keeper, loop.kept);
    open_runner(&loop, 1, 100);
    call(&loop, &first, "echo", "{}"); /* there is a worker, which is idle */
    let_go(&first);
    assert_true(add(&loop, &first, "die", "{\"how\":\"segv\"}"));
    for (size_t i = 0; i < 20; i++)
        assert_true(add(&loop, &many[i], "echo", "{\"number\":3}"));
    wait_for(&loop, &first);
    assert_non_null(first.failure);
    let_go(&first);
    for (size_t i = 0; i < 20; i++) {
        wait_for(&loop, &many[i]);
        assert_int_equal(member(&many[i], "number"), 3);
        let_go(&many[i]);
    }
    end(&loop);
}

static void calls_behind_several_that_kill_the_worker_are_run_all_the_same(void **state)
{
    struct loop loop;
    static struct ours bad[5], good[5];
    (void)state;
    begin(&loop);
    for (size_t i = 0; i < 5; i++) {
        assert_true(add(&loop, &bad[i], "lose", "{}"));
        assert_true(add(&loop, &good[i], "count", "{}"));
    }
    for (size_t i = 0; i < 5; i++) {
        wait_for(&loop, &bad[i]);
        assert_true(bad[i].run.died);
        let_go(&bad[i]);
        wait_for(&loop, &good[i]);
        /* 1, unless the bad ones have taken so long that they come after the good ones. */
        assert_in_range(member(&good[i], "count"), 1, 5);
        let_go(&good[i]);
    }
    end(&loop);
}

/* A slot is used again while the call that had it before is still on its way to the worker. */
static void a_call_that_was_taken_back_is_not_run_in_place_of_the_next(void **state)
{
    struct loop loop;
    static struct ours slow, many[40];
    (void)state;
    begin(&loop);
    mishap_runner_close(loop.runner);
    mishap_keeper_disconnect(&loop.keeper, loop.kept);
    open_runner(&loop, 1, 100);
    for (int64_t round = 0; round < 20; round++) {
        assert_true(add(&loop, &slow, "sleep", "{\"number\":20}"));
        for (size_t i = 0; i < 40; i++) {
            char arguments[64];
            snprintf(arguments, sizeof arguments, "{\"number\":%d}", (int)(100 * round) + (int)i);
            assert_true(add(&loop, &many[i], i % 2 ? "same" : "sleep",
                            i % 2 ? arguments : "{\"number\":0}"));
        }
        for (size_t i = 0; i < 40; i++) {
            wait_for(&loop, &many[i]);
            if (i % 2)
                assert_int_equal(member(&many[i], "number"), 100 * round + (int64_t)i);
            else
                member(&many[i], "pid");
            let_go(&many[i]);
        }
        wait_for(&loop, &slow);
        let_go(&slow);
    }
    end(&loop);
}

static void as_many_calls_wait_as_may_and_not_one_more(void **state)
{
    struct loop loop;
    static struct ours many[4];
    (void)state;
    begin(&loop);
    mishap_runner_close(loop.runner);
    mishap_keeper_disconnect(&loop.keeper, loop.kept);
    open_runner(&loop, 1, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(add(&loop, &many[i], "echo", "{}"));
    assert_false(add(&loop, &many[3], "echo", "{}"));
    let_go(&many[3]);
    assert_int_equal(mishap_runner_count(loop.runner, true), 3);
    for (size_t i = 0; i < 3; i++) {
        wait_for(&loop, &many[i]);
        let_go(&many[i]);
    }
    assert_int_equal(mishap_runner_count(loop.runner, true), 0);
    end(&loop);
}

static void said(const mishap_watcher *watcher, const char *what, mishap_text words)
{
    struct ours *o = (struct ours *)(void *)((uintptr_t)watcher - offsetof(struct ours, watcher));
    size_t used = strlen(o->said);
    assert_false(o->done);
    snprintf(o->said + used, sizeof o->said - used, "%s(%.*s)%s", what, (int)words.length,
             words.data ? words.data : "", changed);
}

static void on_progress(const mishap_watcher *watcher, double done, double total, mishap_text words)
{
    assert_true(done == 1 || done == 2);
    assert_true(total == 3);
    said(watcher, "progress", words);
}

static void on_log(const mishap_watcher *watcher, mishap_level level, mishap_text words)
{
    assert_int_equal(level, MISHAP_INFO);
    said(watcher, "log", words);
}

static bool on_stream(const mishap_watcher *watcher, mishap_text media_type)
{
    said(watcher, "stream", media_type);
    return true;
}

static bool on_piece(const mishap_watcher *watcher, mishap_text piece)
{
    said(watcher, "piece", piece);
    return true;
}

static void what_a_call_says_arrives_in_order_and_before_its_answer(void **state)
{
    struct loop loop;
    struct ours o = { .watcher = { .progress = on_progress, .log = on_log } };
    (void)state;
    begin(&loop);
    mishap_changes_heard_by(on_changed, NULL);
    call(&loop, &o, "say", "{}");
    assert_string_equal(o.said, "progress(one)log(between)progress()thing://7");
    assert_int_equal(member(&o, "done"), 1);
    let_go(&o);
    mishap_changes_heard_by(NULL, NULL);
    end(&loop);
}

static void a_stream_arrives_in_pieces_and_says_what_it_waits_for(void **state)
{
    struct loop loop;
    struct ours o = { .watcher = { .stream = on_stream, .piece = on_piece } };
    (void)state;
    begin(&loop);
    call(&loop, &o, "stream", "{}");
    assert_null(o.failure);
    assert_string_equal(o.said, "stream(text/plain)piece(first )piece(no cursor)");
    assert_int_equal(o.run.call->answer_kind, MISHAP_ANSWER_STREAM);
    assert_string_equal(o.run.call->resumed_by, "thing://7");
    assert_string_equal(o.run.call->cursor, "at 12");
    let_go(&o);
    end(&loop);
}

static void a_stream_goes_on_where_its_cursor_is(void **state)
{
    struct loop loop;
    struct ours o = { .watcher = { .stream = on_stream, .piece = on_piece } };
    (void)state;
    begin(&loop);
    assert_true(add(&loop, &o, "stream", "{}"));
    o.run.call->cursor = "at 12";
    wait_for(&loop, &o);
    assert_string_equal(o.said, "stream(text/plain)piece(first )piece(at 12)");
    let_go(&o);
    end(&loop);
}

static void keeper_and_worker_have_nothing_of_the_server(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    int open_here = fcntl(0, F_DUPFD, 500); /* such as a socket that listens */
    memory_of_loops = mishap_shared_map(PAGE);
    assert_non_null(memory_of_loops);
    memcpy(memory_of_loops, mark, sizeof mark);
    begin(&loop);
    call(&loop, &o, "self", "{}");
    char path[64], target[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", loop.keeper.pid, open_here);
    assert_int_equal(readlink(path, target, sizeof target), -1);
    close(open_here);
    mishap_shared_unmap(memory_of_loops, PAGE);
    memory_of_loops = NULL;
    assert_int_equal(member(&o, "shared"), 0);
    assert_int_equal(member(&o, "session"), 1);
    assert_int_equal(member(&o, "parent_death"), SIGKILL);
    assert_int_equal(member(&o, "highest"), 16); /* its socket */
    assert_int_equal(member(&o, "input"), 0);
    assert_int_equal(member(&o, "garbage"), 7);
    assert_int_equal(member(&o, "oom"), 1000);
    let_go(&o);
    end(&loop);
}

static void a_forgotten_call_is_cancelled_and_its_failure_recorded(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    begin_to_run(&loop, &o, "watch", "{}");
    mishap_runner_forget(loop.runner, &o.run);
    assert_null(o.run.call);
    assert_int_equal(mishap_runner_count(loop.runner, false), 0);
    while (mishap_runner_count(loop.runner, true))
        turn(&loop, 100);
    assert_false(o.done);
    assert_non_null(strstr(orphan, "watch an-incident"));
    assert_non_null(strstr(orphan, "It was cancelled."));
    end(&loop);
}

static void a_forgotten_call_that_waits_is_never_run(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    assert_true(add(&loop, &o, "count", "{}"));
    mishap_runner_forget(loop.runner, &o.run);
    call(&loop, &o, "count", "{}");
    assert_int_equal(member(&o, "count"), 1);
    let_go(&o);
    end(&loop);
}

static void an_answer_may_be_large(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    mishap_answer_kind kind;
    (void)state;
    begin(&loop);
    static const int sizes[] = { 60000, 65536, 70000, 300000, 10000000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "{\"number\":%d}", sizes[i]);
        call(&loop, &o, "large", arguments);
        assert_null(o.failure);
        assert_int_equal(mishap_call_answer(o.run.call, &kind).length, sizes[i] + 8);
        let_go(&o);
    }
    end(&loop);
}

/* It does not fit into a socket at once. */
static void the_arguments_of_a_call_may_be_large(void **state)
{
    enum { SIZE = 3000000 };
    struct loop loop;
    static struct ours many[3];
    static char arguments[SIZE + 100];
    (void)state;
    begin(&loop);
    snprintf(arguments, sizeof arguments, "{\"text\":\"%0*d\"}", SIZE, 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(add(&loop, &many[i], "measure", arguments));
    for (size_t i = 0; i < 3; i++) {
        wait_for(&loop, &many[i]);
        assert_int_equal(member(&many[i], "length"), SIZE);
        let_go(&many[i]);
    }
    end(&loop);
}

static void a_call_that_was_ended_by_a_jump_leaves_no_lock_behind(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    for (int i = 0; i < 3; i++) {
        call(&loop, &o, "misuse", "{\"number\":1}");
        assert_ptr_equal(mishap_told(o.failure)->code, MISHAP_CODE_INTERNAL_ERROR);
        let_go(&o);
        call(&loop, &o, "misuse", "{\"number\":0}");
        assert_int_equal(member(&o, "fine"), 1);
        let_go(&o);
    }
    end(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_is_run_by_another_process_and_answered),
        TEST(a_failure_arrives_with_both_of_its_sides),
        TEST(every_way_to_die_is_told_and_costs_one_call),
        TEST(the_address_of_a_crash_is_noted_if_the_processor_gave_it),
        TEST(operations_without_a_service_share_one_process_and_run_one_at_a_time),
        TEST(two_loops_share_the_worker_that_is_alone),
        TEST(a_service_runs_in_as_many_processes_as_allowed_and_no_more),
        TEST(waiting_is_not_charged_to_the_handler),
        TEST(a_worker_that_is_put_away_and_hangs_at_its_end_is_killed),
        TEST(calls_that_a_dead_worker_had_not_begun_are_run_by_another),
        TEST(calls_behind_several_that_kill_the_worker_are_run_all_the_same),
        TEST(a_call_that_was_taken_back_is_not_run_in_place_of_the_next),
        TEST(as_many_calls_wait_as_may_and_not_one_more),
        TEST(what_a_call_says_arrives_in_order_and_before_its_answer),
        TEST(a_stream_arrives_in_pieces_and_says_what_it_waits_for),
        TEST(a_stream_goes_on_where_its_cursor_is),
        TEST(keeper_and_worker_have_nothing_of_the_server),
        TEST(a_forgotten_call_is_cancelled_and_its_failure_recorded),
        TEST(a_forgotten_call_that_waits_is_never_run),
        TEST(an_answer_may_be_large),
        TEST(the_arguments_of_a_call_may_be_large),
        TEST(a_call_that_was_ended_by_a_jump_leaves_no_lock_behind),
    };
    return RUN(tests);
}
