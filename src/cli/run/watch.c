/*
 * The watcher: a thread that sleeps until the time is up or SIGTERM or SIGINT comes, while the
 * handler may block anywhere. It then prints the answer itself and ends the program. A handler that
 * has called mishap_cancelled() gets a short time to return.
 *
 * Ownership: main() owns the mishap_cli until a thread claims the answer: main(), the watcher, or a
 * thread on which the handler called exit() (leave.c). That thread then owns it. The call stays as
 * long as main() has not claimed it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cli/run/run.h"

/* For a handler to clean up: in steps, so that seconds in which the machine runs neither of the
 * threads are counted once. */
enum { GRACE_STEPS = 20, GRACE_STEP_NS = 100000000 };

static atomic_flag answered = ATOMIC_FLAG_INIT;
static mishap_cli *watched;
static int64_t
    /* Of `watched`, which main() ends once it has claimed the answer. */
    started_ns;
static atomic_int watched_timeout_ms; /* main() may still change it while the watcher sleeps */
static atomic_bool paused;            /* the command waits for a person … */
static _Atomic(int64_t) waited_ns;    /* … and has waited so long in all */
static _Atomic(mishap_call *) watched_call; /* NULL as long as there is none */
static sem_t handler_ended;                 /* main() is back, but too late to answer */
static bool watching;

bool mishap_cli_claim_first(void)
{
    bool first = !atomic_flag_test_and_set(&answered);
    if (!first)
        sem_post(&handler_ended);
    return first;
}

void mishap_cli_claim_answer(void)
{
    if (!mishap_cli_claim_first())
        for (;;)
            pause(); /* the other thread is answering, and ends the program */
}

static void watched_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
}

/* Wait for a signal; 0: the time is up. The time counts from the start of the program. */
static int wait_for_something(const sigset_t *set)
{
    for (;;) {
        /* Read first: when a pause ends, its time is added before this is cleared. */
        bool waits = atomic_load(&paused);
        int64_t end = started_ns + (int64_t)watched_timeout_ms * 1000000 + atomic_load(&waited_ns);
        int64_t left = end - mishap_clock_monotonic_ns();
        if (left <= 0 && !waits)
            return 0;
        mishap_cli_live_tick();
        if (left > 50000000 || waits)
            left = 50000000; /* check again, since the limit may have changed */
        struct timespec wait = { 0, left };
        int signal = sigtimedwait(set, NULL, &wait);
        if (signal > 0)
            return signal;
    }
}

void mishap_cli_watch_pause(bool pause_it)
{
    static int64_t since_ns;
    if (pause_it)
        since_ns = mishap_clock_monotonic_ns();
    else
        atomic_fetch_add(&waited_ns, mishap_clock_monotonic_ns() - since_ns);
    atomic_store(&paused, pause_it);
}

static mishap *timed_out(const mishap_cli *cli)
{
    mishap *m = mishap_raise(TIMEOUT, "The command did not finish within %d ms.",
                             (int)watched_timeout_ms);
    m = mishap_tell(m, "timeout_ms", (int)watched_timeout_ms);
    /* Only an operation that changes nothing can be tried again without checking what was done. */
    return mishap_retryable(m, cli->operation &&
                                   mishap_operation_danger(cli->operation) == MISHAP_SAFE);
}

/* A signal that comes well after the first, while the answer cannot be written because its reader
 * has stopped, ends the program. A signal may also be delivered late, because the machine had no
 * time for the program since the first: the answer is then still to be written, and can be. */
enum { PATIENCE_NS = 300000000 };
static const int64_t most_patience_ns = INT64_C(5000000000);
static int64_t first_signal_ns;
static atomic_bool answer_told; /* only the handler is waited for */

/* Neither the answer nor its text for a person can be blocked while both files take more. */
static bool may_be_blocked(void)
{
    struct pollfd files[] = { { .fd = watched->out, .events = POLLOUT },
                              { .fd = STDERR_FILENO, .events = POLLOUT } };
    return poll(files, 2, 0) < 2;
}

static void on_further_signal(int signal)
{
    int before = errno;
    int64_t waited = mishap_clock_monotonic_ns() - first_signal_ns;
    if (waited > PATIENCE_NS &&
        (waited > most_patience_ns || atomic_load(&answer_told) || may_be_blocked()))
        _exit(128 + signal);
    errno = before;
}

static void heed_further_signals(const sigset_t *set)
{
    struct sigaction action = { .sa_handler = on_further_signal };
    first_signal_ns = mishap_clock_monotonic_ns();
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
}

/* main() is about to answer: let it finish, but not for ever. */
static _Noreturn void wait_for_main(const sigset_t *set, int signal)
{
    while (signal <= 0) /* the time was up after the work was done: only a signal ends it now */
        signal = sigwaitinfo(set, NULL);
    struct timespec patience = { 0, PATIENCE_NS };
    nanosleep(&patience, NULL);
    _exit(128 + signal);
}

/* The answer was printed already: wait only for the handler, and only if it checks for
 * cancellation. */
static void let_handler_end(const mishap_call *call)
{
    struct timespec until;
    atomic_store(&answer_told, true);
    if (!call || !atomic_load(&call->asked))
        return;
    for (int step = 0; step < GRACE_STEPS; step++) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += GRACE_STEP_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (sem_timedwait(&handler_ended, &until) == 0)
            return;
    }
}

/* Ctrl-C is the normal end of a command that shows what happens until then, as that of `tail -f`:
 * it is no failure. */
static bool is_end(int signal, mishap_call *call)
{
    return signal && call && atomic_load(&call->follows) && !watched->envelope;
}

static _Noreturn void end_following(mishap_call *call)
{
    atomic_store(&call->cancelled, true);
    mishap_cli_live_end();
    let_handler_end(call);
    mishap_cli_bytes_end(watched, false);
    _exit(0);
}

static void *watch(void *unused)
{
    (void)unused;
    sigset_t set;
    watched_signals(&set);
    int signal = wait_for_something(&set);
    if (atomic_flag_test_and_set(&answered))
        wait_for_main(&set, signal);
    heed_further_signals(&set);
    mishap_call *call = atomic_load(&watched_call);
    if (is_end(signal, call))
        end_following(call);
    if (call)
        atomic_store(&call->cancelled, true);
    mishap_cli_answer answer = { 0 };
    if (signal) {
        answer.signal = signal == SIGTERM ? "SIGTERM" : "SIGINT";
        answer.exit_code = 128 + signal;
        answer.failure = mishap_raise(CANCELLED, "The command was terminated by %s.",
                                      answer.signal);
    } else {
        answer.failure = timed_out(watched);
    }
    mishap_buffer warning = { 0 };
    if (mishap_cli_put_captured(&warning, watched))
        answer.warnings = mishap_buffer_text(&warning);
    int status = mishap_cli_tell(watched, &answer);
    let_handler_end(call);
    _exit(status);
}

mishap *mishap_cli_watch(mishap_cli *cli, int timeout_ms, mishap_call *call)
{
    pthread_t thread;
    sigset_t set;
    watched_timeout_ms = timeout_ms;
    atomic_store(&watched_call, call);
    if (watching)
        return NULL;
    watching = true;
    watched = cli;
    sem_init(&handler_ended, 0, 0);
    started_ns = cli->started_ns;
    watched_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pthread_create(&thread, NULL, watch, NULL) != 0) {
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        return mishap_raise(INTERNAL_ERROR,
                            "The thread that watches the timeout could not be started.");
    }
    pthread_detach(thread);
    return NULL;
}
