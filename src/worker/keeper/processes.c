/* The processes that the keeper has started: see processes.h. Runs in the keeper. */
#include "worker/keeper/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/life.h"
#include "base/priority.h"
#include "base/signals.h"
#include "base/system.h"
#include "worker/child/last_words.h"
#include "worker/child/serve.h"
#include "worker/keeper/stack.h"
#include "worker/spawn/child.h"
#include "worker/spawn/children.h"
#include "worker/wire/page.h"

enum {
    MOST_WORKERS = 1024,
    STACK_MS = 100,        /* time for a worker to record its own stack */
    STOP_MS = 50,          /* … and to stop, so that the keeper can read its stack */
    STOP_LOOK_MS = 10,     /* between checks whether it has stopped */
    STACK_MOST_MS = 5000,  /* … at most, if it has to wait for a processor first */
    LAST_LOOKS = 200,      /* checks at the end, for processes that are left over */
    GENERATION_SHIFT = 20, /* bits of the numbers that one keeper may give out */
    DEEPEST = 32,          /* levels of processes that have started each other */
    ORPHAN_MS = 2000,      /* time to exit when no loop uses it any more */
    YIELDS = 10,           /* the nice value of a worker whose call takes long */
    /* … of programs that such a worker has started, and of a foreign program. */
    FOREIGN_YIELDS = 15,
    WATCH_MS = 50,       /* between checks of foreign programs */
    WATCH_IDLE_MS = 200, /* … if none of them has run since the last check */
    WATCH_NEAR_MS = 10,  /* … if one of them is near its limit of memory */
};

#define MS INT64_C(1000000)

/* The state of this file: one in a process. */
static struct {
    const mishap_keeper_plan *plan;
    pid_t pid; /* process id of the keeper */
    mishap_kept workers[MOST_WORKERS];
    size_t end; /* all places from here on are free */
    uint32_t last_number;
    int64_t watched_ns; /* when foreign programs were checked last */
    int watch_ms;       /* … and the interval until the next check */
} k;

void mishap_kept_begin(const mishap_keeper_plan *plan, uint32_t generation)
{
    k.plan = plan;
    k.pid = getpid();
    k.last_number = generation << GENERATION_SHIFT;
}

/* -- finding ----------------------------------------------------------------------------------- */

mishap_kept *mishap_kept_next(const mishap_kept *after)
{
    for (size_t i = after ? (size_t)(after - k.workers) + 1 : 0; i < k.end; i++)
        if (k.workers[i].pid)
            return &k.workers[i];
    return NULL;
}

mishap_kept *mishap_kept_by_number(uint32_t number)
{
    mishap_kept *worker = mishap_kept_next(NULL);
    while (worker && worker->number != number)
        worker = mishap_kept_next(worker);
    return worker;
}

mishap_kept *mishap_kept_by_process(pid_t pid)
{
    mishap_kept *worker = mishap_kept_next(NULL);
    while (worker && worker->pid != pid)
        worker = mishap_kept_next(worker);
    return worker;
}

mishap_kept *mishap_kept_shared(uint32_t group)
{
    mishap_kept *worker = mishap_kept_next(NULL);
    while (worker && (worker->group != group || worker->control < 0 || worker->killed))
        worker = mishap_kept_next(worker);
    return worker;
}

bool mishap_kept_is_used(const mishap_kept *worker, size_t loop)
{
    return worker->users[loop / 64] >> (loop % 64) & 1;
}

void mishap_kept_set_used(mishap_kept *worker, size_t loop, bool used)
{
    uint64_t bit = UINT64_C(1) << (loop % 64);
    if (used)
        worker->users[loop / 64] |= bit;
    else
        worker->users[loop / 64] &= ~bit;
}

/* -- starting ---------------------------------------------------------------------------------- */

void mishap_connection_close(int *end)
{
    for (size_t i = 0; i < MISHAP_KEEPER_FILES; i++) {
        if (end[i] >= 0)
            close(end[i]);
        end[i] = -1;
    }
}

bool mishap_connection_make(mishap_connection *c)
{
    int ends[2] = { -1, -1 };
    *c = (mishap_connection){ { -1, -1 }, { -1, -1 } };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    c->loop[0] = ends[0];
    c->worker[0] = ends[1];
    c->loop[1] = mishap_system_memory("mishap-call", sizeof(mishap_worker_page), F_SEAL_SEAL);
    if (c->loop[1] >= 0)
        c->worker[1] = fcntl(c->loop[1], F_DUPFD_CLOEXEC, 0);
    if (c->worker[1] >= 0)
        return true;
    mishap_connection_close(c->loop);
    mishap_connection_close(c->worker);
    return false;
}

/* NULL: all places are taken. */
static mishap_kept *free_place(void)
{
    for (size_t i = 0; i < MOST_WORKERS; i++)
        if (!k.workers[i].pid) {
            if (i == k.end)
                k.end++;
            return &k.workers[i];
        }
    errno = EUSERS;
    return NULL;
}

static _Noreturn void be_worker(uint32_t group, const mishap_connection *c, int control)
{
    int files[MISHAP_CHILD_FILES] = { c->worker[0], c->worker[1], control };
    size_t count = control >= 0 ? 3 : 2;
    if (!mishap_child_begin(k.pid, &k.plan->limits, files, count))
        _exit(127);
    mishap_worker_serve(k.plan, group, files, count);
}

bool mishap_kept_fork(uint32_t group, const mishap_connection *c, mishap_kept **worker)
{
    mishap_kept *place = free_place();
    int control[2] = { -1, -1 };
    if (!place)
        return false;
    if (k.plan->groups.groups[group].alone &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        be_worker(group, c, control[1]);
    int error = errno;
    if (control[1] >= 0)
        close(control[1]);
    if (pid < 0) {
        if (control[0] >= 0)
            close(control[0]);
        errno = error;
        return false;
    }
    *place = (mishap_kept){
        .pid = pid, .number = ++k.last_number, .group = group, .control = control[0]
    };
    *worker = place;
    return true;
}

bool mishap_kept_spawn(uint32_t group, bool session, mishap_kept **worker, int *end)
{
    mishap_kept *place = free_place();
    mishap_spawned spawned;
    int ends[2];
    if (!place || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    bool made = mishap_spawn(k.plan->groups.groups[group].foreign, ends[1], &spawned);
    int error = errno;
    close(ends[1]);
    if (!made) {
        close(ends[0]);
        errno = error;
        return false;
    }
    *place = (mishap_kept){ .pid = spawned.pid,
                            .number = ++k.last_number,
                            .group = group,
                            .control = -1,
                            .foreign = true,
                            .session = session,
                            .spawned = spawned };
    *worker = place;
    *end = ends[0];
    return true;
}

/* -- priorities -------------------------------------------------------------------------------- */

/* A worker may hold a lock that other processes wait for, so its priority is lowered less than that
 * of the programs that it has started. */
void mishap_kept_yield(const mishap_kept *worker, bool yields)
{
    mishap_children children;
    pid_t child;
    if (!mishap_priority_can_be_restored())
        return;
    mishap_priority_lower(worker->pid, !yields ? 0 : worker->foreign ? FOREIGN_YIELDS : YIELDS);
    mishap_children_open(&children, worker->pid);
    while ((child = mishap_children_next(&children)))
        mishap_priority_lower(child, yields ? FOREIGN_YIELDS : 0);
    mishap_children_close(&children);
}

/* -- killing ----------------------------------------------------------------------------------- */

/* Kill the processes that a process has started, and those that they have started. They may have
 * sessions of their own, so that only the tree of parents and children leads to them. */
static void kill_below(pid_t pid, int depth)
{
    mishap_children children;
    pid_t child;
    if (depth == DEEPEST)
        return;
    mishap_children_open(&children, pid);
    while ((child = mishap_children_next(&children))) {
        kill_below(child, depth + 1);
        mishap_signal_process(child, SIGKILL);
    }
    mishap_children_close(&children);
}

void mishap_kept_kill(mishap_kept *worker)
{
    worker->killed = true;
    worker->kill_at_ns = 0;
    kill_below(worker->pid, 0);
    mishap_signal_process(worker->pid, SIGKILL);
}

/* On a busy machine a process can wait for a processor, or for a page of its own, for longer than
 * STACK_MS. Its state decides, not the processor time that it has used: a virtual machine counts
 * time that it did not get. */
static bool may_wait(const mishap_kept *worker, int64_t now)
{
    if (now - worker->asked_at_ns >= STACK_MOST_MS * MS)
        return false;
    char state = mishap_life_state(worker->pid);
    return state == 'R' || state == 'D';
}

/* The worker is asked for its stack, and exits after it has recorded it. If it does not, the keeper
 * reads the stack from outside. Calls run in its main thread. */
void mishap_kept_end(mishap_kept *worker, bool stack)
{
    if (worker->killed || (worker->kill_at_ns && !worker->foreign))
        return;
    if (!stack || worker->foreign) { /* a foreign program does not know the signal */
        mishap_kept_kill(worker);
        return;
    }
    worker->stack_wanted = true;
    worker->asked_at_ns = mishap_clock_monotonic_ns();
    worker->kill_at_ns = worker->asked_at_ns + STACK_MS * MS;
    if (mishap_priority_can_be_restored())
        mishap_priority_lower(worker->pid, 0); /* other calls wait for its end */
    syscall(SYS_tgkill, worker->pid, worker->pid, mishap_words_signal());
}

/* The worker stops as soon as it runs next, and SIGCHLD reports that. The keeper does not block
 * meanwhile. */
static void stop(mishap_kept *worker, int64_t now)
{
    if (!mishap_stack_stop(worker->pid)) {
        mishap_kept_kill(worker);
        return;
    }
    worker->stopping = true;
    worker->asked_at_ns = now;
    worker->kill_at_ns = now + STOP_MS * MS;
}

/* Read the stack of a worker that was told to stop. False: it has not stopped yet. */
static bool read_stack(mishap_kept *worker)
{
    worker->has_trace = mishap_stack_read(worker->pid, &worker->trace);
    return worker->has_trace;
}

void mishap_kept_stopped(mishap_kept *worker)
{
    if (worker->killed || (worker->stack_wanted && !worker->stopping))
        return;
    /* It may have stopped itself; the stop that was asked for follows soon. */
    if (worker->stopping) {
        if (read_stack(worker))
            mishap_kept_kill(worker);
        return;
    }
    worker->stopped = true; /* it has stopped itself: its caller would wait for ever */
    if (worker->foreign)
        mishap_kept_kill(worker);
    else
        stop(worker, mishap_clock_monotonic_ns());
}

/* Its time is over. True: there is a reason to wait longer. */
static bool is_waited_for(mishap_kept *worker, int64_t now)
{
    if (worker->stopping) {
        worker->kill_at_ns = now + STOP_LOOK_MS * MS;
        return !read_stack(worker) && may_wait(worker, now);
    }
    if (!worker->stack_wanted)
        return false;
    worker->kill_at_ns = now + STACK_MS * MS;
    if (may_wait(worker, now) && !mishap_life_is_deaf(worker->pid, mishap_words_signal()))
        return true;
    stop(worker, now);
    return !worker->killed;
}

/* The worker may run code of a handler when it exits, which may hang: so it is killed after some
 * time. */
void mishap_kept_put_away(mishap_kept *worker)
{
    if (worker->control < 0 && !worker->kill_at_ns && !worker->killed)
        worker->kill_at_ns = mishap_clock_monotonic_ns() + ORPHAN_MS * MS;
}

int64_t mishap_kept_look(void)
{
    int64_t now = mishap_clock_monotonic_ns(), next = INT64_MAX;
    for (mishap_kept *worker = NULL; (worker = mishap_kept_next(worker));) {
        if (!worker->kill_at_ns)
            continue;
        if (now >= worker->kill_at_ns && !is_waited_for(worker, now))
            mishap_kept_kill(worker);
        if (worker->kill_at_ns)
            next = worker->kill_at_ns < next ? worker->kill_at_ns : next;
    }
    return next;
}

int64_t mishap_kept_watch(int64_t now_ns)
{
    bool look = now_ns >= k.watched_ns + k.watch_ms * MS, any = false;
    if (look) {
        k.watched_ns = now_ns;
        k.watch_ms = WATCH_IDLE_MS;
    }
    for (mishap_kept *worker = NULL; (worker = mishap_kept_next(worker));) {
        if (!worker->foreign || !worker->spawned.sandbox || worker->killed)
            continue;
        any = true;
        if (!look)
            break;
        const mishap_sandbox_watch *watch = &worker->spawned.watch;
        if (mishap_spawn_look(&worker->spawned))
            mishap_kept_kill(worker);
        int wait_ms = watch->near ? WATCH_NEAR_MS : watch->ran ? WATCH_MS : WATCH_IDLE_MS;
        k.watch_ms = wait_ms < k.watch_ms ? wait_ms : k.watch_ms;
    }
    return any ? k.watched_ns + k.watch_ms * MS : INT64_MAX;
}

void mishap_kept_remove(mishap_kept *worker)
{
    if (worker->control >= 0)
        close(worker->control);
    *worker = (mishap_kept){ 0 };
    while (k.end && !k.workers[k.end - 1].pid)
        k.end--;
}

/* -- what workers leave behind ----------------------------------------------------------------- */

/* A process that a worker left behind is a child of the keeper by now, or in the process group of
 * the worker. Processes in the session of a living worker are not touched. */
static bool is_of_living_worker(pid_t pid)
{
    pid_t session = getsid(pid);
    for (mishap_kept *worker = NULL; (worker = mishap_kept_next(worker));)
        if (worker->pid == pid || worker->pid == session)
            return true;
    return false;
}

void mishap_kept_kill_orphans(void)
{
    mishap_children children;
    pid_t pid;
    mishap_children_open(&children, k.pid);
    while ((pid = mishap_children_next(&children)))
        if (!is_of_living_worker(pid))
            mishap_signal_process(pid, SIGKILL);
    mishap_children_close(&children);
}

void mishap_kept_kill_all(void)
{
    for (mishap_kept *worker = NULL; (worker = mishap_kept_next(worker));)
        mishap_kept_kill(worker);
}

/* A process that dies leaves its children to the keeper, so one pass is not enough. */
void mishap_kept_wait_for_all(void)
{
    size_t end = k.end;
    k.end = 0; /* from now on no worker counts as living */
    for (int i = 0; i < LAST_LOOKS; i++) {
        mishap_kept_kill_orphans();
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        if (waitpid(-1, NULL, WNOHANG) < 0)
            break; /* no child is left */
        poll(NULL, 0, 5);
    }
    for (size_t i = 0; i < end; i++)
        if (k.workers[i].pid && k.workers[i].foreign)
            mishap_spawn_remove(&k.workers[i].spawned); /* its folder and its control group */
}
