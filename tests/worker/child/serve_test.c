/*
 * The process of a worker that several loops use: whose call runs where when a handler closes what
 * is not its own, forks, or is about to be killed; what is settled for whom; threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/child/last_words.h"
#include "worker/child/threads.h"
#include "worker/loop/inside.h"
#include "worker_set_up.h"

enum {
    FIRST_SOCKET = 16, /* that of the loop for which the worker was started, in the worker */
    CONTROL = FIRST_SOCKET + 2, /* the connection to the keeper */
    TIMEOUT_MS = 60000,
};

enum way {
    FINE,
    NAP,          /* 100 ms */
    NAP_AGAIN,    /* the same, if it is the first of its kind that is run again */
    CLOSE_FIRST,  /* the socket of the first loop */
    CUT_FIRST,    /* the same, so that the loop seems to be gone; and nothing can be settled */
    FORK_RETURNS, /* a child of it returns from the handler, too */
    FORK_LOOKS,   /* a child of it looks for the socket of a loop */
    TALK,         /* more progress than a socket can hold */
    TIME,         /* how much it has */
    WAIT,         /* for the file of the test */
    WAIT_OUTSIDE, /* for its other file */
    SAY,          /* progress */
    SAY_AND_FAIL,
    GRANDCHILD, /* leave one behind, whose parent has ended */
    DIE,
    SETTLE_LATER,        /* when the file of the test is gone */
    CLOSE_ALL_BUT_FIRST, /* sockets of other loops */
};

static bool cut, settling_waits, has_napped;
static int64_t unsettled; /* calls that have run, and were not settled */
static char gate[] = "/tmp/serve-test-XXXXXX", door[] = "/tmp/serve-test-XXXXXX";

static mishap *settle(void *state)
{
    (void)state;
    while (settling_waits && access(gate, F_OK) == 0)
        usleep(1000);
    settling_waits = false;
    unsettled = 0;
    return cut ? mishap_raise(CONFLICT, "It cannot be settled.") : NULL;
}

static int64_t status_of_child(mishap_call *call, bool returns)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0 && returns)
        return -1;
    if (child == 0) {
        mishap_progress(call, 1, 2, "from a child"); /* no loop receives it */
        _exit(fcntl(FIRST_SOCKET, F_GETFD) < 0 ? 7 : 8);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

/* Its id; 0: it has none. */
static int64_t leave_grandchild(void)
{
    int pipes[2];
    pid_t grandchild = 0;
    if (pipe(pipes) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        grandchild = fork();
        while (grandchild == 0)
            pause();
        _exit(write(pipes[1], &grandchild, sizeof grandchild) != sizeof grandchild);
    }
    waitpid(child, NULL, 0);
    if (read(pipes[0], &grandchild, sizeof grandchild) != sizeof grandchild)
        grandchild = 0;
    close(pipes[0]);
    close(pipes[1]);
    return grandchild;
}

static mishap *run(mishap_call *call)
{
    enum way way = (enum way)mishap_integer(call, "way");
    int64_t seen = 0, before = unsettled++;
    bool naps;
    switch (way) {
    case NAP:
    case NAP_AGAIN:
        naps = way == NAP || (mishap_call_is_repeated(call) && !has_napped);
        has_napped = has_napped || (naps && way == NAP_AGAIN);
        for (int i = 0; i < 100 && naps; i++)
            usleep(1000);
        break;
    case CLOSE_FIRST:
        close(FIRST_SOCKET);
        break;
    case CLOSE_ALL_BUT_FIRST:
        for (int file = FIRST_SOCKET + 1; file < FIRST_SOCKET + 20; file++)
            if (file != CONTROL)
                close(file);
        break;
    case CUT_FIRST:
        cut = true;
        shutdown(FIRST_SOCKET, SHUT_RDWR);
        break;
    case FORK_RETURNS:
    case FORK_LOOKS:
        seen = status_of_child(call, way == FORK_RETURNS);
        break;
    case TALK:
        for (int i = 0; i < 100000; i++)
            mishap_progress(call, i, 100000, "something that takes some bytes");
        break;
    case GRANDCHILD:
        seen = leave_grandchild();
        break;
    case DIE:
        _exit(1);
    case SETTLE_LATER:
        settling_waits = true;
        break;
    case TIME:
        seen = mishap_call_time_left(call);
        break;
    case WAIT:
    case WAIT_OUTSIDE:
        while (access(way == WAIT ? gate : door, F_OK) == 0)
            usleep(1000);
        break;
    case SAY:
    case SAY_AND_FAIL:
        mishap_progress(call, 1, 2, "half");
        if (way == SAY_AND_FAIL)
            return mishap_raise(CONFLICT, "It failed.");
        break;
    default:
        break;
    }
    mishap_answer_member(call, "pid", (int64_t)getpid());
    mishap_answer_member(call, "before", before);
    return mishap_answer_member(call, "seen", seen);
}

static const mishap_settlement settlement = { .settle = settle };
static const mishap_service till = { "till", "Settles its calls", .settlement = &settlement };
static const mishap_service lone = { "lone", "State in memory", .alone = true };
static const mishap_param params[] = {
    { "way", MISHAP_INTEGER, .required = true },
    { 0 },
};
static const mishap_operation operations[] = {
    { "till", "Settled", params, run, .service = &till, .raises = MISHAP_RAISES(CONFLICT),
      .timeout_ms = TIMEOUT_MS },
    { "lone", "Alone", params, run, .service = &lone, .timeout_ms = TIMEOUT_MS },
    { "many", "In one of several", params, run, .stateless = true, .timeout_ms = TIMEOUT_MS },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

/* -- loops ------------------------------------------------------------------------------------- */

enum { LOOPS = 3 };

static mishap_runner *runners[LOOPS];

/* Nothing is ended because it takes long. */
static const mishap_runner_times patient = { .wait_ms = TIMEOUT_MS,
                                             .begin_ms = TIMEOUT_MS,
                                             .answer_ms = TIMEOUT_MS,
                                             .start_ms = TIMEOUT_MS,
                                             .retry_ms = 100,
                                             .gone_ms = 20,
                                             .lost_ms = TIMEOUT_MS,
                                             .idle_ms = TIMEOUT_MS,
                                             .open_ms = TIMEOUT_MS,
                                             .settle_ms = TIMEOUT_MS };

static void begin(struct loop *loop)
{
    prepare(loop, &app);
    loop->times = &patient;
    assert_null(mishap_keeper_start(&loop->keeper, &loop->plan));
    for (size_t i = 0; i < LOOPS; i++) {
        open_runner(loop, 1, 100);
        runners[i] = loop->runner;
    }
}

static void finish(struct loop *loop)
{
    for (size_t i = 1; i < LOOPS; i++)
        mishap_runner_close(runners[i]);
    loop->runner = runners[0];
    end(loop);
}

static void add_of(struct loop *loop, size_t runner, struct ours *o, const char *name, enum way way)
{
    char arguments[40];
    snprintf(arguments, sizeof arguments, "{\"way\":%d}", (int)way);
    loop->runner = runners[runner];
    assert_true(add(loop, o, name, arguments));
    mishap_runner_flush(loop->runner);
}

static void wait_of(struct loop *loop, size_t runner, struct ours *o)
{
    loop->runner = runners[runner];
    wait_for(loop, o);
}

static void wait_until_handed(struct loop *loop, size_t runner, struct ours *o)
{
    int64_t until = mishap_clock_monotonic_ns() + TIMEOUT_MS * INT64_C(1000000);
    loop->runner = runners[runner];
    while (!o->run.link && !o->done && mishap_clock_monotonic_ns() < until)
        turn(loop, 5);
}

static int64_t call_of(struct loop *loop, size_t runner, const char *name, enum way way,
                       const char *wanted)
{
    struct ours o = { 0 };
    add_of(loop, runner, &o, name, way);
    wait_of(loop, runner, &o);
    int64_t found = member(&o, wanted);
    let_go(&o);
    return found;
}

/* All loops use one worker, which was started for the first. */
static int64_t meet(struct loop *loop, const char *name)
{
    int64_t pid = call_of(loop, 0, name, FINE, "pid");
    for (size_t i = 1; i < LOOPS; i++)
        assert_int_equal(call_of(loop, i, name, FINE, "pid"), pid);
    return pid;
}

static mishap_worker_page *page_of(size_t runner)
{
    assert_non_null(runners[runner]->links);
    return runners[runner]->links->page;
}

static bool comes_to(mishap_worker_page *page, unsigned slot, mishap_slot_state state, int most_ms)
{
    int64_t until = mishap_clock_monotonic_ns() + most_ms * INT64_C(1000000);
    while ((atomic_load(&page->slots[slot]) & 7) != (unsigned)state) {
        if (mishap_clock_monotonic_ns() > until)
            return false;
        usleep(1000);
    }
    return true;
}

static void make_file(char *path)
{
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

static void make_gate(void)
{
    make_file(gate);
}

/* -- what it shows ----------------------------------------------------------------------------- */

/* So a loop whose call was never begun knows that the worker could be started. */
static void every_loop_learns_that_a_call_has_begun(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    for (size_t i = 0; i < LOOPS; i++) { /* they are there before the first call */
        loop.runner = runners[i];
        mishap_runner_start_worker(loop.runner, 1, mishap_clock_monotonic_ns());
        int64_t until = mishap_clock_monotonic_ns() + INT64_C(60000000000);
        while ((!loop.runner->links || loop.runner->links->opening_since_ns) &&
               mishap_clock_monotonic_ns() < until)
            turn(&loop, 10);
        assert_int_equal(atomic_load(&page_of(i)->has_begun), false);
    }
    mishap_runner_close(runners[2]);
    add_of(&loop, 1, &o, "lone", FINE);
    wait_of(&loop, 1, &o);
    let_go(&o);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(atomic_load(&page_of(i)->has_begun), true);
    open_runner(&loop, 1, 100); /* and one that comes later */
    runners[2] = loop.runner;
    mishap_runner_start_worker(loop.runner, 1, mishap_clock_monotonic_ns());
    while (!loop.runner->links || loop.runner->links->opening_since_ns)
        turn(&loop, 10);
    assert_int_equal(atomic_load(&page_of(2)->has_begun), true);
    finish(&loop);
}

/* Its calls have no loop, and those of the loop that takes its place in the list stay its own. */
static void a_loop_that_is_gone_takes_no_answer_of_another_along(void **state)
{
    struct loop loop;
    struct ours nap = { 0 }, first = { 0 }, last = { 0 };
    (void)state;
    begin(&loop);
    meet(&loop, "till");
    add_of(&loop, 1, &nap, "till", NAP); /* meanwhile the others come, and are one batch */
    add_of(&loop, 0, &first, "till", FINE);
    add_of(&loop, 2, &last, "till", CUT_FIRST);
    wait_of(&loop, 1, &nap);
    assert_null(nap.failure);
    wait_of(&loop, 2, &last);
    assert_non_null(last.failure);
    assert_ptr_equal(mishap_told(last.failure)->code, MISHAP_CODE_CONFLICT);
    let_go(&nap);
    let_go(&last);
    mishap_runner_forget(runners[0], &first.run);
    finish(&loop);
}

/* The loop whose socket it was has the worker killed, and no other loop is to suffer. */
static void no_call_runs_after_a_handler_closed_a_socket_of_a_loop(void **state)
{
    static const struct {
        size_t runner;
        enum way way;
    } rows[] = { { 1, CLOSE_FIRST }, { 0, CLOSE_ALL_BUT_FIRST } };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loop loop;
        struct ours nap = { 0 }, closes = { 0 }, behind = { 0 };
        begin(&loop);
        int64_t pid = meet(&loop, "lone");
        add_of(&loop, rows[i].runner, &nap, "lone", NAP);
        add_of(&loop, rows[i].runner, &closes, "lone", rows[i].way);
        add_of(&loop, rows[i].runner, &behind, "lone", FINE);
        wait_of(&loop, rows[i].runner, &behind);
        assert_int_not_equal(member(&behind, "pid"), pid);
        assert_true(nap.done && closes.done);
        let_go(&nap);
        let_go(&closes);
        let_go(&behind);
        finish(&loop);
    }
}

/* True if the last call ran in another process than the handler that closed its socket. */
static bool runs_elsewhere(void)
{
    struct loop loop;
    struct ours nap = { 0 }, closes = { 0 }, other = { 0 };
    begin(&loop);
    int64_t pid = meet(&loop, "lone");
    add_of(&loop, 0, &nap, "lone", NAP);
    add_of(&loop, 0, &closes, "lone", CLOSE_FIRST);
    add_of(&loop, 1, &other, "lone", NAP); /* in turn, then: this one is before or behind … */
    wait_of(&loop, 1, &other);
    let_go(&other);
    add_of(&loop, 1, &other, "lone", FINE); /* … and this one behind */
    wait_of(&loop, 1, &other);
    bool elsewhere = member(&other, "pid") != pid;
    let_go(&other);
    wait_of(&loop, 0, &nap);
    wait_of(&loop, 0, &closes);
    let_go(&nap);
    let_go(&closes);
    finish(&loop);
    return elsewhere;
}

/* On a busy machine the last call may run before the one that closes the socket was handed over:
 * then it is tried again. All of it takes a quarter of a second. */
static void no_call_of_another_loop_runs_after_a_handler_closed_its_own_socket(void **state)
{
    (void)state;
    int64_t began = mishap_clock_monotonic_ns();
    for (int attempt = 0; !runs_elsewhere(); attempt++) {
        assert_true(attempt < 10 && mishap_clock_monotonic_ns() - began > INT64_C(600000000));
        began = mishap_clock_monotonic_ns();
    }
}

/* A call that waits at the gate, and one that its worker has been handed as well. On a busy machine
 * the first may run for so long already that the second waits for another worker: then anew. */
static mishap_worker_page *hand_over_two(struct loop *loop, struct ours *first, struct ours *second)
{
    int64_t until = long_after();
    for (;;) {
        make_gate();
        begin(loop);
        call_of(loop, 0, "many", FINE, "pid");
        add_of(loop, 0, first, "many", WAIT);
        add_of(loop, 0, second, "many", FINE);
        mishap_worker_page *page = page_of(0);
        assert_true(comes_to(page, 0, MISHAP_SLOT_BEGUN, TIMEOUT_MS));
        if ((atomic_load(&page->slots[1]) & 7) == MISHAP_SLOT_HANDED)
            return page;
        assert_true(mishap_clock_monotonic_ns() < until);
        unlink(gate);
        wait_of(loop, 0, first);
        wait_of(loop, 0, second);
        let_go(first);
        let_go(second);
        finish(loop);
    }
}

/* The loop decides to kill it in the very moment in which its handler returns. */
static void a_worker_that_is_about_to_be_killed_begins_nothing(void **state)
{
    struct loop loop;
    struct ours killed = { 0 }, behind = { 0 };
    (void)state;
    mishap_worker_page *page = hand_over_two(&loop, &killed, &behind);
    assert_true(mishap_slot_change(page, 0, runners[0]->links->slots[0].number, MISHAP_SLOT_BEGUN,
                                   MISHAP_SLOT_KILLED));
    unlink(gate);
    assert_false(comes_to(page, 1, MISHAP_SLOT_DONE, 300));
    assert_int_equal(atomic_load(&page->slots[1]) & 7, MISHAP_SLOT_HANDED);
    loop.runner = runners[0];
    mishap_runner_ask_to_end(loop.runner, loop.runner->links, MISHAP_LINK_TIMEOUT, NULL, false);
    wait_of(&loop, 0, &behind);
    assert_true(member(&behind, "pid") > 0);
    wait_of(&loop, 0, &killed);
    assert_ptr_equal(mishap_told(killed.failure)->code, MISHAP_CODE_TIMEOUT);
    let_go(&killed);
    let_go(&behind);
    finish(&loop);
}

static void a_child_of_a_handler_has_no_part_in_the_call(void **state)
{
    struct loop loop;
    (void)state;
    begin(&loop);
    int64_t pid = call_of(&loop, 0, "lone", FINE, "pid");
    assert_int_equal(call_of(&loop, 0, "lone", FORK_RETURNS, "seen"), 0);
    assert_int_equal(call_of(&loop, 0, "lone", FORK_LOOKS, "seen"), 7);
    assert_int_equal(call_of(&loop, 0, "lone", FORK_RETURNS, "pid"), pid);
    assert_int_equal(call_of(&loop, 0, "till", FORK_RETURNS, "seen"), 0);
    finish(&loop);
}

/* It is a child of the keeper by then, which ends what dead workers have left. */
static void what_a_living_worker_has_started_outlives_other_workers(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    pid_t started = (pid_t)call_of(&loop, 0, "lone", GRANDCHILD, "seen");
    assert_true(started > 0 && kill(started, 0) == 0);
    for (int i = 0; i < 3; i++) {
        add_of(&loop, 0, &o, "many", DIE);
        wait_of(&loop, 0, &o);
        assert_non_null(o.failure);
        let_go(&o);
    }
    call_of(&loop, 0, "many", FINE, "pid"); /* the keeper is done with those that died */
    assert_int_equal(kill(started, 0), 0);
    add_of(&loop, 0, &o, "lone", DIE);
    wait_of(&loop, 0, &o);
    let_go(&o);
    int64_t until = mishap_clock_monotonic_ns() + TIMEOUT_MS * INT64_C(1000000);
    while (kill(started, 0) == 0 && mishap_clock_monotonic_ns() < until)
        usleep(1000);
    assert_int_equal(kill(started, 0), -1);
    finish(&loop);
}

/* Of the signals that mean nothing to it, and of the one by which its keeper asks for its stack. */
static void signals_of_other_processes_end_no_worker(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    make_gate();
    begin(&loop);
    pid_t pid = (pid_t)call_of(&loop, 0, "many", FINE, "pid");
    add_of(&loop, 0, &o, "many", WAIT);
    assert_true(comes_to(page_of(0), o.run.slot, MISHAP_SLOT_BEGUN, TIMEOUT_MS));
    const int sent[] = { SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGHUP, mishap_words_signal() };
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
        assert_int_equal(kill(pid, sent[i]), 0);
    unlink(gate);
    wait_of(&loop, 0, &o);
    assert_int_equal(member(&o, "pid"), pid);
    let_go(&o);
    finish(&loop);
}

static size_t heard;

static void on_progress(const mishap_watcher *watcher, double done, double total, mishap_text words)
{
    (void)watcher, (void)done, (void)total, (void)words;
    heard++;
}

static void progress_that_no_loop_reads_holds_up_no_handler(void **state)
{
    struct loop loop;
    struct ours o = { .watcher.progress = on_progress };
    (void)state;
    begin(&loop);
    call_of(&loop, 0, "many", FINE, "pid");
    heard = 0;
    add_of(&loop, 0, &o, "many", TALK);
    assert_true(comes_to(page_of(0), 0, MISHAP_SLOT_DONE, TIMEOUT_MS)); /* the loop does not turn */
    wait_of(&loop, 0, &o);
    assert_true(heard > 0 && heard < 100000);
    let_go(&o);
    finish(&loop);
}

static void what_a_call_said_is_told_only_if_it_worked_and_was_settled(void **state)
{
    struct loop loop;
    struct ours o = { .watcher.progress = on_progress };
    (void)state;
    begin(&loop);
    heard = 0;
    add_of(&loop, 0, &o, "till", SAY);
    wait_of(&loop, 0, &o);
    assert_null(o.failure);
    assert_int_equal(heard, 1);
    let_go(&o);
    add_of(&loop, 0, &o, "till", SAY_AND_FAIL);
    wait_of(&loop, 0, &o);
    assert_ptr_equal(mishap_told(o.failure)->code, MISHAP_CODE_CONFLICT);
    assert_int_equal(heard, 1);
    let_go(&o);
    finish(&loop);
}

/* So a loop can tell a settlement that hangs from a batch that goes on. */
static void every_loop_learns_that_calls_are_settled(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    make_gate(); /* before there is a keeper, whose workers know its name then */
    begin(&loop);
    meet(&loop, "till");
    int64_t since = mishap_clock_monotonic_ns(), until = since + INT64_C(60000000000);
    add_of(&loop, 1, &o, "till", SETTLE_LATER);
    for (size_t i = 0; i < LOOPS; i++) {
        while (!atomic_load(&page_of(i)->settling_ns) && mishap_clock_monotonic_ns() < until)
            usleep(1000);
        assert_true(atomic_load(&page_of(i)->settling_ns) >= since);
    }
    unlink(gate);
    wait_of(&loop, 1, &o);
    assert_null(o.failure);
    for (size_t i = 0; i < LOOPS; i++)
        assert_int_equal(atomic_load(&page_of(i)->settling_ns), 0);
    let_go(&o);
    finish(&loop);
}

/* Their answers come together, which says nothing of what each of them took. */
static void what_calls_took_that_are_settled_together_is_told(void **state)
{
    struct loop loop;
    struct ours quick = { 0 }, nap = { 0 };
    (void)state;
    begin(&loop);
    meet(&loop, "till");
    add_of(&loop, 0, &quick, "till", FINE);
    add_of(&loop, 0, &nap, "till", NAP);
    wait_until_handed(&loop, 0, &quick);
    wait_until_handed(&loop, 0, &nap);
    unsigned slots[] = { quick.run.slot, nap.run.slot };
    wait_of(&loop, 0, &quick);
    wait_of(&loop, 0, &nap);
    assert_true(atomic_load(&page_of(0)->ran_us[slots[1]]) >= 100000);
    assert_true(atomic_load(&page_of(0)->ran_us[slots[0]]) >= 1);
    let_go(&quick);
    let_go(&nap);
    finish(&loop);
}

/* Calls that have run in a process that was killed, before they were settled: two of the first
 * loop, and two of the second, which has another one that waits at the gate then. */
enum { AGAIN = 4 };

static bool kill_after_run(struct loop *loop, struct ours *first)
{
    struct ours before = { 0 }, waits = { 0 };
    pid_t pid = (pid_t)meet(loop, "till");
    add_of(loop, 2, &before, "till", WAIT_OUTSIDE); /* until the process has all others */
    add_of(loop, 0, &first[0], "till", NAP_AGAIN);
    add_of(loop, 0, &first[1], "till", NAP_AGAIN);
    add_of(loop, 1, &first[2], "till", FINE);
    add_of(loop, 1, &first[3], "till", FINE);
    add_of(loop, 1, &waits, "till", WAIT);
    unlink(door);
    assert_true(comes_to(page_of(1), waits.run.slot, MISHAP_SLOT_BEGUN, TIMEOUT_MS));
    bool ran = true;
    for (size_t i = 0; i < AGAIN; i++)
        ran = ran && comes_to(page_of(i / 2), first[i].run.slot, MISHAP_SLOT_RAN, 0);
    mishap_runner_forget(runners[1], &waits.run);
    if (ran)
        kill(pid, SIGKILL);
    unlink(gate);
    wait_of(loop, 2, &before);
    let_go(&before);
    return ran;
}

/* It may have been settled before: if it fails for that, no other call is to fail with it. */
static void a_call_that_is_run_again_is_settled_alone(void **state)
{
    struct loop loop;
    struct ours first[AGAIN] = { 0 }, between = { 0 }, behind = { 0 };
    bool killed = false;
    (void)state;
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(200000000000);
    while (!killed && mishap_clock_monotonic_ns() < until) {
        make_gate();
        make_file(door);
        begin(&loop);
        killed = kill_after_run(&loop, first);
        for (size_t i = 0; !killed && i < AGAIN;
             i++) { /* a busy machine: they were settled before */
            wait_of(&loop, i / 2, &first[i]);
            let_go(&first[i]);
        }
        if (!killed)
            finish(&loop);
    }
    assert_true(killed);
    for (size_t i = 2; i < AGAIN; i++)
        wait_of(&loop, 1, &first[i]); /* so this loop has the new process */
    wait_until_handed(&loop, 0, &first[0]);
    wait_until_handed(&loop, 0, &first[1]);
    add_of(&loop, 1, &between, "till", FINE);
    add_of(&loop, 0, &behind, "till", FINE);
    for (size_t i = 0; i < 2; i++)
        wait_of(&loop, 0, &first[i]);
    wait_of(&loop, 0, &behind);
    wait_of(&loop, 1, &between);
    for (size_t i = 0; i < AGAIN; i++) {
        assert_int_equal(member(&first[i], "before"), 0);
        let_go(&first[i]);
    }
    assert_int_equal(member(&behind, "before"), 0);
    let_go(&behind);
    let_go(&between);
    finish(&loop);
}

static void a_handler_knows_how_much_time_it_has(void **state)
{
    struct loop loop;
    (void)state;
    begin(&loop);
    int64_t left = call_of(&loop, 0, "many", TIME, "seen");
    assert_true(left > 0 && left <= TIMEOUT_MS);
    finish(&loop);
}

/* -- threads ----------------------------------------------------------------------------------- */

static pid_t leader;

/* The system counts a thread that has ended for as long as its entry is there. */
static void *count_without_leader(void *unused)
{
    char path[64], text[200];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)leader);
    for (char at = 'R'; at != 'Z'; usleep(1000)) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
        if (file < 0 || length <= 0)
            _exit(100);
        close(file);
        text[length] = '\0';
        at = strrchr(text, ')')[2];
    }
    _exit((int)mishap_threads_count(0));
    return unused;
}

static void a_thread_that_has_ended_is_not_counted(void **state)
{
    int status;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        leader = getpid();
        if (mishap_threads_count(0) != 1 ||
            pthread_create(&thread, NULL, count_without_leader, NULL) != 0 ||
            mishap_threads_count(0) != 2)
            _exit(101);
        pthread_exit(NULL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(every_loop_learns_that_a_call_has_begun),
        TEST(a_loop_that_is_gone_takes_no_answer_of_another_along),
        TEST(no_call_runs_after_a_handler_closed_a_socket_of_a_loop),
        TEST(no_call_of_another_loop_runs_after_a_handler_closed_its_own_socket),
        TEST(a_worker_that_is_about_to_be_killed_begins_nothing),
        TEST(a_child_of_a_handler_has_no_part_in_the_call),
        TEST(what_a_living_worker_has_started_outlives_other_workers),
        TEST(signals_of_other_processes_end_no_worker),
        TEST(progress_that_no_loop_reads_holds_up_no_handler),
        TEST(what_a_call_said_is_told_only_if_it_worked_and_was_settled),
        TEST(every_loop_learns_that_calls_are_settled),
        TEST(what_calls_took_that_are_settled_together_is_told),
        TEST(a_call_that_is_run_again_is_settled_alone),
        TEST(a_handler_knows_how_much_time_it_has),
        TEST(a_thread_that_has_ended_is_not_counted),
    };
    return RUN(tests);
}
