/* Workers: handlers that leave threads or processes behind. */

#include "workers_app.h"

static char told_operator[400];

static void on_operator(const char *program, const char *operation, const char *id,
                        mishap_text words, bool to_stderr)
{
    (void)program, (void)to_stderr;
    snprintf(told_operator, sizeof told_operator, "%s %s: %.*s", operation, id, (int)words.length,
             words.data);
}

static bool add_told(struct loop *loop, struct ours *o, const char *name, const char *arguments)
{
    bool added = add(loop, o, name, arguments);
    o->run.call->to_operator = on_operator;
    o->run.call->request_id = (mishap_text)MISHAP_TEXT("an-id");
    return added;
}

/* With one worker at most, the next call would run in the same one. */
static void begin_with_one(struct loop *loop)
{
    begin(loop);
    mishap_runner_close(loop->runner);
    open_runner(loop, 1, 100);
    told_operator[0] = '\0';
}

/* One that leaves a thread, and calls that were handed over behind it. */
static void leave_and_go_on(struct loop *loop, const char *leave, const char *fine,
                            const char *kind)
{
    enum { BEHIND = 3 };
    static struct ours first, behind[BEHIND];
    assert_true(add_told(loop, &first, leave, kind));
    for (size_t i = 0; i < BEHIND; i++)
        assert_true(add_told(loop, &behind[i], fine, "{}"));
    wait_for(loop, &first);
    int64_t pid = member(&first, "pid");
    for (size_t i = 0; i < BEHIND; i++) {
        wait_for(loop, &behind[i]);
        assert_int_not_equal(member(&behind[i], "pid"), pid);
        let_go(&behind[i]);
    }
    let_go(&first);
}

static void a_worker_in_which_a_handler_left_a_thread_takes_no_other_call(void **state)
{
    struct loop loop;
    (void)state;
    begin_with_one(&loop);
    leave_and_go_on(&loop, "leave", "join", "{\"number\":1}");
    assert_string_equal(told_operator,
                        "leave an-id: The handler of leave has left a thread behind. Its process "
                        "takes no further call. A service whose handlers do so on purpose says it "
                        "with .threads.");
    end(&loop);
}

static void nobody_waits_for_a_worker_that_does_not_end(void **state)
{
    struct loop loop;
    (void)state;
    begin_with_one(&loop);
    mishap_runner_close(loop.runner);
    loop.times = &patient;
    open_runner(&loop, 1, 100);
    leave_and_go_on(&loop, "leave", "join", "{\"number\":2}");
    end(&loop);
}

static void what_a_worker_has_started_ends_with_it(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    call(&loop, &o, "brood", "{}");
    pid_t left = (pid_t)member(&o, "left");
    assert_true(left > 0);
    assert_int_equal(kill(left, 0), 0);
    assert_int_equal(kill((pid_t)member(&o, "pid"), SIGKILL), 0);
    let_go(&o);
    int64_t until = long_after();
    while (kill(left, 0) == 0 && mishap_clock_monotonic_ns() < until)
        turn(&loop, 10);
    assert_int_equal(kill(left, 0), -1);
    end(&loop);
}

/* What was settled with it is answered, too. */
static void calls_of_a_batch_are_settled_before_a_worker_ends_for_a_thread(void **state)
{
    struct loop loop;
    struct ours before;
    (void)state;
    begin_with_one(&loop);
    call(&loop, &before, "till.leave", "{}");
    int64_t pid = member(&before, "pid");
    let_go(&before);
    assert_true(add_told(&loop, &before, "till.leave", "{}"));
    leave_and_go_on(&loop, "till.leave", "till.leave", "{\"number\":1}");
    assert_true(before.done);
    assert_int_equal(member(&before, "pid"), pid);
    let_go(&before);
    assert_string_equal(told_operator,
                        "till.leave an-id: The handler of till.leave has left a thread behind. Its "
                        "process takes no further call. A service whose handlers do so on purpose "
                        "says it with .threads.");
    end(&loop);
}

/* It may be its fault that a batch could not be settled: those before it are settled first, and
 * those behind it later. */
static void a_call_that_is_repeated_is_settled_alone(void **state)
{
    enum { MANY = 8, REPEATED = 3 };
    static struct ours many[MANY];
    struct loop loop;
    struct ours first = { 0 };
    (void)state;
    begin_with_one(&loop);
    call(&loop, &first, "till.add", "{}");
    let_go(&first);
    for (size_t i = 0; i < MANY; i++)
        assert_true(add(&loop, &many[i], "till.add", "{}"));
    many[REPEATED].run.call->repeated = true;
    for (size_t i = 0; i < MANY; i++)
        wait_for(&loop, &many[i]);
    assert_int_equal(member(&many[REPEATED], "before"), 0);
    assert_int_equal(member(&many[REPEATED + 1], "before"), 0);
    for (size_t i = 0; i < MANY; i++)
        let_go(&many[i]);
    end(&loop);
}

/* What it loses is said, too. */
static void a_worker_that_is_alone_is_replaced_for_all_loops_when_a_thread_was_left(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    told_operator[0] = '\0';
    mishap_runner_close(loop.runner);
    loop.times = &patient;
    open_runner(&loop, 4, 100);
    mishap_runner *first = loop.runner;
    call(&loop, &o, "lonely.leave", "{}");
    int64_t pid = member(&o, "pid");
    let_go(&o);
    open_runner(&loop, 4, 100);
    mishap_runner *second = loop.runner;
    call(&loop, &o, "lonely.leave", "{}");
    assert_int_equal(member(&o, "pid"), pid);
    let_go(&o);
    loop.runner = first;
    assert_true(add_told(&loop, &o, "lonely.leave", "{\"number\":2}"));
    wait_for(&loop, &o);
    assert_int_equal(member(&o, "pid"), pid);
    assert_non_null(strstr(told_operator, "and what it had in memory is lost."));
    let_go(&o);
    loop.runner = second;
    call(&loop, &o, "lonely.leave", "{}");
    assert_int_not_equal(member(&o, "pid"), pid);
    let_go(&o);
    mishap_runner_close(first);
    end(&loop);
}

/* Threads that were joined are gone, though the system may count them for a moment more. */
static void threads_that_were_joined_or_that_the_service_started_are_no_matter(void **state)
{
    static const char *const names[] = { "join", "busy.join" };
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin_with_one(&loop);
    for (size_t i = 0; i < 2; i++) {
        int64_t pid = 0;
        for (int times = 0; times < 300; times++) {
            call(&loop, &o, names[i], "{}");
            pid = pid ? pid : member(&o, "pid");
            assert_int_equal(member(&o, "pid"), pid);
            let_go(&o);
        }
    }
    leave_and_go_on(&loop, "busy.leave", "busy.join", "{\"number\":1}");
    end(&loop);
}

static void
a_service_may_say_that_its_handlers_leave_threads_and_the_incident_names_them(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char account[4000];
    (void)state;
    begin_with_one(&loop);
    assert_true(add_told(&loop, &o, "knowing.leave", "{\"number\":3}"));
    wait_for(&loop, &o);
    int64_t pid = member(&o, "pid");
    let_go(&o);
    assert_string_equal(told_operator, "");
    call(&loop, &o, "knowing.fine", "{}");
    assert_int_equal(member(&o, "pid"), pid);
    let_go(&o);
    call(&loop, &o, "knowing.fine", "{\"number\":4}");
    assert_non_null(o.failure);
    account_of(o.failure, account, sizeof account);
    assert_non_null(strstr(account, "The handler of knowing.fine crashed with SIGSEGV."));
    assert_non_null(strstr(account, "not the one that runs handlers"));
    assert_non_null(strstr(account, "knowing.leave"));
    let_go(&o);
    end(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_worker_in_which_a_handler_left_a_thread_takes_no_other_call),
        TEST(nobody_waits_for_a_worker_that_does_not_end),
        TEST(a_worker_that_is_alone_is_replaced_for_all_loops_when_a_thread_was_left),
        TEST(calls_of_a_batch_are_settled_before_a_worker_ends_for_a_thread),
        TEST(a_call_that_is_repeated_is_settled_alone),
        TEST(what_a_worker_has_started_ends_with_it),
        TEST(threads_that_were_joined_or_that_the_service_started_are_no_matter),
        TEST(a_service_may_say_that_its_handlers_leave_threads_and_the_incident_names_them),
    };
    return RUN(tests);
}
