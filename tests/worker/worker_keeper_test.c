/* Workers: keepers that die, and workers that loops share, or shared with one that is lost. */

#include "workers_app.h"

static void a_keeper_that_dies_is_followed_by_another(void **state)
{
    struct loop loop;
    struct ours o = { 0 }, other = { 0 };
    char account[4000];
    (void)state;
    begin(&loop);
    for (int i = 0; i < 2; i++) {
        int before = loop.keeper.pid;
        call(&loop, &o, "echo", "{}");
        let_go(&o);
        begin_to_run(&loop, &other, "watch", "{}");
        kill(loop.keeper.pid, SIGKILL);
        wait_for(&loop, &other);
        account_of(other.failure, account, sizeof account);
        assert_non_null(strstr(account, "was lost"));
        let_go(&other);
        call(&loop, &o, "echo", "{\"number\":5}");
        assert_int_equal(member(&o, "number"), 5);
        let_go(&o);
        assert_int_not_equal(loop.keeper.pid, before);
    }
    end(&loop);
}

/* The state of a process as /proc shows it: 'T' if it is stopped. */
static char state_of(int pid)
{
    char path[32], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
    fclose(file);
    return state;
}

/* Its workers would die with it: those that ran before it was stopped, and those that have begun a
 * call since. Another worker is needed for the last call: the keeper starts it. */
static void a_keeper_that_is_stopped_continues_and_no_call_is_lost(void **state)
{
    struct loop loop;
    struct ours before = { 0 }, since = { 0 }, last = { 0 };
    (void)state;
    begin(&loop);
    int keeper = loop.keeper.pid;
    begin_to_run(&loop, &before, "watch", "{}");
    call(&loop, &since, "echo", "{}");
    int64_t worker = member(&since, "pid");
    let_go(&since);
    for (int i = 0; i < 3; i++) {
        int64_t until = long_after();
        assert_int_equal(kill(keeper, SIGSTOP), 0);
        while (state_of(keeper) != 'T' && mishap_clock_monotonic_ns() < until)
            usleep(1000);
        assert_int_equal(state_of(keeper), 'T'); /* this process has not looked yet */
        call(&loop, &since, "echo", "{}");
        assert_int_equal(member(&since, "pid"), worker);
        let_go(&since);
        while (state_of(keeper) == 'T' && mishap_clock_monotonic_ns() < until)
            turn(&loop, 10);
        assert_int_not_equal(state_of(keeper), 'T');
    }
    call(&loop, &last, "count", "{}");
    assert_int_equal(member(&last, "count"), 1);
    let_go(&last);
    mishap_runner_cancel(loop.runner, &before.run);
    wait_for(&loop, &before);
    char account[4000];
    account_of(before.failure, account, sizeof account);
    assert_non_null(strstr(account, "It was cancelled.")); /* its handler said so */
    let_go(&before);
    assert_int_equal(loop.keeper.pid, keeper);
    end(&loop);
}

static bool has_ended(int pid)
{
    int64_t until = long_after();
    while (kill(pid, 0) == 0 && mishap_clock_monotonic_ns() < until)
        usleep(1000);
    return kill(pid, 0) != 0;
}

/* A keeper that cannot even start is no accident: another one would not help. */
static void a_keeper_that_ends_at_once_is_not_followed_for_ever(void **state)
{
    struct loop loop;
    int started = 0;
    (void)state;
    begin(&loop);
    for (; loop.keeper.pid && started < 100; started++) {
        int pid = loop.keeper.pid;
        kill(pid, SIGKILL);
        while (loop.keeper.pid == pid)
            mishap_keeper_look(&loop.keeper);
    }
    assert_int_equal(started, 20);
    end(&loop);
}

static mishap_keeper_message answer_of_keeper(int socket, uint32_t word)
{
    mishap_keeper_message message;
    int files[MISHAP_KEEPER_FILES];
    size_t count;
    do {
        assert_int_equal(mishap_keeper_receive(socket, &message, files, &count, 120000), 1);
        for (size_t i = 0; i < count; i++)
            close(files[i]);
    } while (message.word != word);
    return message;
}

/* A keeper that is stopped meanwhile reads both messages at once, before it has reaped the worker.
 */
static void a_worker_that_was_killed_is_shared_with_no_other_loop(void **state)
{
    struct loop loop;
    int socket, kept;
    (void)state;
    begin(&loop);
    size_t group = 0;
    while (!loop.plan.groups.groups[group].alone)
        group++;
    mishap_keeper_message start = { .word = MISHAP_KEEPER_START, .group = (uint32_t)group };
    assert_true(mishap_keeper_connect(&loop.keeper, &socket, &kept));
    assert_true(mishap_keeper_send(socket, &start, NULL, 0));
    mishap_keeper_message first = answer_of_keeper(socket, MISHAP_KEEPER_STARTED);
    mishap_keeper_message kill_it = { .word = MISHAP_KEEPER_END, .worker = first.worker };

    assert_int_equal(kill(loop.keeper.pid, SIGSTOP), 0);
    assert_true(mishap_keeper_send(socket, &kill_it, NULL, 0));
    assert_true(mishap_keeper_send(socket, &start, NULL, 0));
    assert_int_equal(kill(loop.keeper.pid, SIGCONT), 0);
    mishap_keeper_message second = answer_of_keeper(socket, MISHAP_KEEPER_STARTED);
    assert_int_not_equal(second.worker, first.worker);
    assert_int_not_equal(second.pid, first.pid);
    close(socket);
    mishap_keeper_disconnect(&loop.keeper, kept);
    end(&loop);
}

/* The worker of one loop is none of another's business, and dies when its own loop is gone. */
static void a_worker_has_the_loop_that_asked_for_it(void **state)
{
    struct loop loop;
    struct ours o = { 0 }, hangs = { 0 };
    int socket, kept;
    mishap_runner *first;
    (void)state;
    begin(&loop);
    call(&loop, &o, "echo", "{}");
    int pid = (int)member(&o, "pid");
    let_go(&o);
    first = loop.runner;
    int first_kept = loop.kept;

    assert_true(mishap_keeper_connect(&loop.keeper, &socket, &kept));
    for (uint32_t worker = 0; worker < 5; worker++) {
        mishap_keeper_message message = { .word = MISHAP_KEEPER_END, .worker = worker };
        assert_true(mishap_keeper_send(socket, &message, NULL, 0));
    }
    close(socket);
    mishap_keeper_disconnect(&loop.keeper, kept);

    open_runner(&loop, 1, 100); /* a loop whose handler hangs, and which is gone */
    begin_to_run(&loop, &hangs, "watch", "{}");
    char path[64];
    int child, other = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", loop.keeper.pid, loop.keeper.pid);
    FILE *children = fopen(path, "re");
    while (fscanf(children, "%d", &child) == 1)
        other = child != pid ? child : other;
    fclose(children);
    assert_true(other > 0);
    mishap_runner_close(loop.runner);
    mishap_keeper_disconnect(&loop.keeper, loop.kept);
    assert_true(has_ended(other));
    let_go(&hangs);

    loop.runner = first;
    loop.kept = first_kept;
    usleep(300000); /* if the keeper meant to end this one, too, it has done so by now */
    call(&loop, &o, "echo", "{}");
    assert_int_equal(member(&o, "pid"), pid);
    let_go(&o);
    end(&loop);
}

/* No loop is left to end the call of a loop that is gone, and other loops need the worker. */
static void a_worker_that_is_alone_ends_itself_when_the_call_of_a_lost_loop_hangs(void **state)
{
    struct loop loop;
    struct ours o = { 0 }, hangs = { 0 };
    (void)state;
    begin(&loop);
    begin_to_run(&loop, &hangs, "nap", "{\"number\":60000}");
    mishap_runner_close(loop.runner);
    mishap_keeper_disconnect(&loop.keeper, loop.kept);
    open_runner(&loop, 1, 100);
    call(&loop, &o, "count", "{}");
    assert_int_equal(member(&o, "count"), 1);
    let_go(&o);
    assert_true(add(&loop, &o, "nap", "{\"number\":1}"));
    o.run.call->limit_ms = 5000; /* over before the next look */
    wait_for(&loop, &o);
    assert_null(o.failure);
    let_go(&o);
    usleep(5600000); /* no clock goes on for a call that is over */
    call(&loop, &o, "count", "{}");
    assert_int_equal(member(&o, "count"), 2);
    let_go(&o);
    let_go(&hangs);
    end(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_keeper_that_dies_is_followed_by_another),
        TEST(a_keeper_that_is_stopped_continues_and_no_call_is_lost),
        TEST(a_keeper_that_ends_at_once_is_not_followed_for_ever),
        TEST(a_worker_that_was_killed_is_shared_with_no_other_loop),
        TEST(a_worker_has_the_loop_that_asked_for_it),
        TEST(a_worker_that_is_alone_ends_itself_when_the_call_of_a_lost_loop_hangs),
    };
    return RUN(tests);
}
