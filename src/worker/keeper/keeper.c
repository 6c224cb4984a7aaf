/*
 * The process of the keeper: it forks workers when a loop asks for one, reaps them, kills them when
 * a loop says so, and takes the stack of those that do not answer.
 *
 * It has one thread, opens no service and blocks on no other process, so its workers cannot hold it
 * up. It is the parent of all workers, since under Yama only a parent may ptrace. It is also a
 * subreaper: a process that a worker leaves behind becomes its child and can be killed. When it
 * dies, its workers die (PR_SET_PDEATHSIG), and its own parent starts another keeper. Its processes
 * are in processes.c.
 */
#include "worker/keeper/keeper.h"
#include "worker/wire/keeper_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/shared.h"
#include "base/signals.h"
#include "incident/logs.h"
#include "worker/keeper/lease.h"
#include "worker/keeper/processes.h"
#include "worker/keeper/spare.h"

/* The state of the keeper: one in a process. */
static struct {
    const mishap_keeper_plan *plan;
    int parent, signals;
    int loops[MISHAP_KEEPER_LOOPS]; /* -1: free */
} k;

/* -- messages to loops ------------------------------------------------------------------------- */

static void tell_users(const mishap_kept *worker, const mishap_keeper_message *message)
{
    for (size_t i = 0; i < MISHAP_KEEPER_LOOPS; i++)
        if (mishap_kept_is_used(worker, i) && k.loops[i] >= 0)
            mishap_keeper_send(k.loops[i], message, NULL, 0);
}

bool mishap_keeper_tell_loop(size_t loop, const mishap_keeper_message *message, const int *file)
{
    return k.loops[loop] >= 0 && mishap_keeper_send(k.loops[loop], message, file, file ? 1 : 0);
}

/* -- starting ---------------------------------------------------------------------------------- */

/* A process of a pool belongs to the loop that asked for it. */
static void start_foreign(size_t loop, const mishap_keeper_message *asked)
{
    mishap_keeper_message answer = { .word = MISHAP_KEEPER_REFUSED,
                                     .number = asked->number,
                                     .group = asked->group };
    mishap_kept *worker;
    int end = -1;
    if (mishap_kept_spawn(asked->group, false, &worker, &end)) {
        answer.word = MISHAP_KEEPER_STARTED;
        answer.worker = worker->number;
        answer.pid = worker->pid;
        mishap_kept_set_used(worker, loop, true);
    } else {
        answer.status = errno;
    }
    mishap_keeper_tell_loop(loop, &answer, end >= 0 ? &end : NULL);
    if (end >= 0)
        close(end);
}

/* A worker that several loops share gets one more connection; otherwise a new worker is started. */
static void start_worker(size_t loop, const mishap_keeper_message *asked)
{
    mishap_keeper_message answer = { .word = MISHAP_KEEPER_REFUSED,
                                     .number = asked->number,
                                     .group = asked->group };
    mishap_keeper_message hand = { .word = MISHAP_KEEPER_ADMIT };
    mishap_connection c;
    mishap_kept *worker = NULL;
    if (asked->group < k.plan->groups.count && k.plan->groups.groups[asked->group].foreign) {
        start_foreign(loop, asked);
        return;
    }
    bool made = asked->group < k.plan->groups.count && mishap_connection_make(&c);
    answer.status = made ? 0 : errno;
    if (made) {
        worker = mishap_kept_shared(asked->group);
        answer.joined = worker != NULL;
        made = worker ? mishap_keeper_send(worker->control, &hand, c.worker, MISHAP_KEEPER_FILES)
                      : mishap_kept_fork(asked->group, &c, &worker);
        answer.status = errno;
        mishap_connection_close(c.worker);
    }
    if (made) {
        mishap_kept_set_used(worker, loop, true);
        answer.word = MISHAP_KEEPER_STARTED;
        answer.worker = worker->number;
        answer.pid = worker->pid;
        answer.status = 0;
    }
    mishap_keeper_send(k.loops[loop], &answer, c.loop, made ? MISHAP_KEEPER_FILES : 0);
    if (asked->group < k.plan->groups.count)
        mishap_connection_close(c.loop);
}

/* -- functions for lease.c --------------------------------------------------------------------- */

bool mishap_keeper_begin_foreign(uint32_t group, bool session, uint32_t *number, int32_t *pid,
                                 int *end)
{
    mishap_kept *worker;
    if (session && mishap_spare_take(group, number, pid, end))
        return true;
    if (!mishap_kept_spawn(group, session, &worker, end))
        return false;
    *number = worker->number;
    *pid = worker->pid;
    return true;
}

uint64_t mishap_keeper_resident(uint32_t number)
{
    const mishap_kept *worker = mishap_kept_by_number(number);
    return worker && !worker->killed ? worker->spawned.watch.resident : 0;
}

void mishap_keeper_end_heavy(uint32_t number)
{
    mishap_kept *worker = mishap_kept_by_number(number);
    if (!worker || worker->killed)
        return;
    worker->spawned.exceeded = MISHAP_EXCESS_MEMORY;
    mishap_kept_kill(worker);
}

void mishap_keeper_set_user(uint32_t number, size_t loop, bool used)
{
    mishap_kept *worker = mishap_kept_by_number(number);
    if (worker)
        mishap_kept_set_used(worker, loop, used);
}

void mishap_keeper_let_end(uint32_t number)
{
    mishap_kept *worker = mishap_kept_by_number(number);
    if (worker)
        mishap_kept_put_away(worker);
}

void mishap_keeper_interrupt(uint32_t number, uint32_t id)
{
    const mishap_kept *worker = mishap_kept_by_number(number);
    if (worker && worker->foreign && !worker->killed)
        mishap_spawn_interrupt(worker->pid, id);
}

/* -- reaping ----------------------------------------------------------------------------------- */

static void on_end(mishap_kept *worker, int status)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_ENDED,
                                      .worker = worker->number,
                                      .pid = worker->pid,
                                      .status = status,
                                      .stack = worker->has_trace,
                                      .stopped = worker->stopped,
                                      .exceeded = (uint8_t)mishap_spawn_exceeded(&worker->spawned),
                                      .trace = worker->trace };
    mishap_kept ended = *worker;
    if (ended.foreign)
        message.output_bytes = (uint32_t)mishap_spawn_output(&ended.spawned, message.output);
    mishap_kept_remove(worker);
    mishap_signal_group(ended.pid, SIGKILL);
    tell_users(&ended, &message);
    if (ended.session) {
        mishap_leases_worker_ended(ended.number);
        mishap_spares_worker_ended(ended.number);
    }
    if (ended.foreign)
        mishap_spawn_remove(&ended.spawned);
}

static void reap(void)
{
    struct signalfd_siginfo info;
    int status;
    pid_t pid;
    bool any = false;
    while (read(k.signals, &info, sizeof info) == sizeof info)
        continue;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        mishap_kept *worker = mishap_kept_by_process(pid);
        if (WIFSTOPPED(status)) {
            if (worker)
                mishap_kept_stopped(worker);
            continue;
        }
        any = true;
        if (worker)
            on_end(worker, status);
    }
    if (any)
        mishap_kept_kill_orphans();
}

/* -- loops ------------------------------------------------------------------------------------- */

static void admit(int file)
{
    for (size_t i = 0; i < MISHAP_KEEPER_LOOPS; i++)
        if (k.loops[i] < 0) {
            k.loops[i] = file;
            return;
        }
    close(file);
}

/* A loop has ended. Its workers notice that by themselves and exit. No loop would end a handler
 * that hangs, so the keeper kills what does not exit in time. */
static void part_with(size_t loop)
{
    close(k.loops[loop]);
    k.loops[loop] = -1;
    for (mishap_kept *worker = NULL; (worker = mishap_kept_next(worker));) {
        if (!mishap_kept_is_used(worker, loop))
            continue;
        mishap_kept_set_used(worker, loop, false);
        if (worker->session)
            /* The next loop does not know that the priority was lowered. */
            mishap_kept_yield(worker, false);
        else
            mishap_kept_put_away(worker);
    }
    mishap_leases_loop_gone(loop);
}

static void obey(size_t loop, mishap_kept *worker, const mishap_keeper_message *message)
{
    if (message->word == MISHAP_KEEPER_INTERRUPT) {
        mishap_keeper_message done = { .word = MISHAP_KEEPER_INTERRUPTED,
                                       .worker = worker->number,
                                       .number = message->number };
        mishap_keeper_interrupt(worker->number, message->number);
        mishap_keeper_tell_loop(loop, &done, NULL);
    } else if (message->word == MISHAP_KEEPER_YIELD) {
        mishap_kept_yield(worker, message->yields);
    } else if (message->word == MISHAP_KEEPER_END)
        mishap_kept_end(worker, message->stack);
    else if (message->word == MISHAP_KEEPER_PUT_AWAY)
        mishap_kept_put_away(worker);
}

static void listen_to(size_t loop)
{
    mishap_keeper_message message;
    mishap_kept *worker;
    int files[MISHAP_KEEPER_FILES], got;
    size_t count;
    while ((got = mishap_keeper_receive(k.loops[loop], &message, files, &count, 0)) > 0) {
        for (size_t i = 0; i < count; i++)
            close(files[i]);
        if (message.word == MISHAP_KEEPER_START)
            start_worker(loop, &message);
        else if (message.word >= MISHAP_KEEPER_LEASE)
            mishap_leases_hear(loop, &message);
        else if ((worker = mishap_kept_by_number(message.worker)) &&
                 mishap_kept_is_used(worker, loop))
            obey(loop, worker, &message);
    }
    if (got < 0)
        part_with(loop);
}

static void listen_to_parent(void)
{
    mishap_keeper_message message;
    int files[MISHAP_KEEPER_FILES], got;
    size_t count;
    while ((got = mishap_keeper_receive(k.parent, &message, files, &count, 0)) > 0) {
        for (size_t i = 0; i < count; i++) {
            if (message.word == MISHAP_KEEPER_ADMIT && i == 0)
                admit(files[i]);
            else
                close(files[i]);
        }
    }
    if (got < 0) {
        close(k.parent);
        k.parent = -1;
    }
}

/* -- the event loop ---------------------------------------------------------------------------- */

/* False: neither a loop nor the parent is connected any more, so the keeper exits. */
static bool is_needed(void)
{
    for (size_t i = 0; i < MISHAP_KEEPER_LOOPS; i++)
        if (k.loops[i] >= 0)
            return true;
    return k.parent >= 0;
}

static int next_wait_ms(void)
{
    int64_t now = mishap_clock_monotonic_ns(), next = mishap_leases_look(now);
    int64_t kill_at = mishap_kept_look(), watch_at = mishap_kept_watch(now);
    int64_t spare_at = mishap_spares_look(now);
    next = spare_at < next ? spare_at : next;
    next = kill_at < next ? kill_at : next;
    next = watch_at < next ? watch_at : next;
    if (next == INT64_MAX)
        return -1;
    int64_t wait_ms = next > now ? (next - now) / 1000000 + 1 : 0;
    return wait_ms < INT_MAX ? (int)wait_ms : INT_MAX;
}

static void watch(void)
{
    struct pollfd files[MISHAP_KEEPER_LOOPS + 2];
    size_t whose[MISHAP_KEEPER_LOOPS + 2];
    while (is_needed()) {
        nfds_t count = 0;
        files[count++] = (struct pollfd){ .fd = k.signals, .events = POLLIN };
        files[count++] = (struct pollfd){ .fd = k.parent, .events = POLLIN };
        for (size_t i = 0; i < MISHAP_KEEPER_LOOPS; i++)
            if (k.loops[i] >= 0) {
                whose[count] = i;
                files[count++] = (struct pollfd){ .fd = k.loops[i], .events = POLLIN };
            }
        if (poll(files, count, next_wait_ms()) < 0 && errno != EINTR)
            break;
        if (files[0].revents)
            reap();
        for (nfds_t i = 2; i < count; i++)
            if (files[i].revents)
                listen_to(whose[i]);
        if (mishap_leases_wait()) {
            for (size_t i = 0; i < MISHAP_KEEPER_LOOPS; i++)
                if (k.loops[i] >= 0)
                    listen_to(i);
            mishap_leases_serve();
        }
        if (files[1].revents)
            listen_to_parent();
    }
}

/* Close all descriptors that were inherited from the parent. */
static void close_others(void)
{
    int parent = fcntl(k.parent, F_DUPFD_CLOEXEC, 3);
    if (parent > 3)
        dup3(parent, 3, O_CLOEXEC);
    k.parent = 3;
    close_range(4, ~0U, 0);
}

static void take_signals(void)
{
    sigset_t set;
    static const int ignored[] = { SIGTERM, SIGINT, SIGPIPE };
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN); /* the parent decides what they mean */
    mishap_signals_survive();
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_SETMASK, &set, NULL);
    k.signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* No process is left that could be told: kill all workers before the keeper exits. */
static void end_all(void)
{
    mishap_kept_kill_all();
    mishap_leases_stop();
    mishap_kept_wait_for_all();
    mishap_spawn_sweep(); /* what an earlier keeper has left: its processes have died by now */
}

_Noreturn void mishap_keeper_run(const mishap_keeper_plan *plan, uint32_t generation, int parent)
{
    mishap_shared_leave();
    mishap_logs_forget();
    k.plan = plan;
    k.parent = parent;
    /* Loops may still refer to workers of an earlier keeper, so no number is used twice. */
    mishap_kept_begin(plan, generation);
    for (size_t i = 0; i < MISHAP_KEEPER_LOOPS; i++)
        k.loops[i] = -1;
    close_others();
    take_signals();
    mishap_leases_begin(plan);
    mishap_spares_begin(plan);
    prctl(PR_SET_NAME, "mishap-keeper");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    mishap_trace_prepare(); /* once here, for all workers */
    for (size_t i = 0; i < plan->groups.count; i++)
        if (plan->groups.groups[i].foreign)
            mishap_spawn_prepare(plan->groups.groups[i].foreign);
    mishap_spawn_sweep();
    if (k.signals >= 0)
        watch();
    end_all();
    _exit(0);
}
