/*
 * The process of the keeper: it forks workers when a loop asks for one, reaps them, kills them when
 * a loop says so, and takes the stack of those that do not answer.
 *
 * It has one thread, opens nothing and waits for nobody: whatever its workers do cannot hold it up.
 * It is the parent of all workers, for only a parent may ptrace under Yama, and a subreaper, so
 * that what a worker leaves behind becomes its child and can be killed. When it dies, its workers
 * die (PR_SET_PDEATHSIG), and its own parent starts another.
 */
#include "worker/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/shared.h"
#include "base/signals.h"
#include "incident/logs.h"
#include "worker/child.h"
#include "worker/children.h"
#include "worker/lease.h"
#include "worker/page.h"
#include "worker/serve.h"
#include "worker/spawn.h"
#include "worker/stack.h"
#include "worker/words.h"

enum {
    MOST_WORKERS = 1024,
    STACK_MS = 100,        /* how long a worker may take to tell its own stack */
    LAST_LOOKS = 200,      /* at the end, for what is left over */
    GENERATION_SHIFT = 20, /* a keeper gives out so many bits of numbers */
    DEEPEST = 32,          /* of processes that started each other */
    ORPHAN_MS = 2000,      /* … to end when nobody uses it any more */
    USER_WORDS = MISHAP_KEEPER_LOOPS / 64,
};

/* A worker that lives; pid 0: the place is free. */
struct kept {
    pid_t pid;
    uint32_t number, group;
    int control; /* of one that several loops share: to hand it connections; else -1 */
    uint64_t users[USER_WORDS]; /* loops that are connected to it, a bit each */
    int64_t kill_at_ns;         /* 0: nobody wants that */
    bool stack_wanted, stopped, has_trace, killed;
    mishap_trace trace;
    bool foreign, session; /* it runs a foreign program; … for a session: loops come and go */
    mishap_spawned spawned;
};

/* There is one in a process. */
static struct {
    const mishap_keeper_plan *plan;
    int parent, signals;
    pid_t pid;
    int loops[MISHAP_KEEPER_LOOPS]; /* -1: free */
    struct kept workers[MOST_WORKERS];
    size_t worker_end; /* all places from here on are free */
    uint32_t last_number;
} k;

/* -- which loops use a worker ----------------------------------------------------------------- */

static bool uses(const struct kept *worker, size_t loop)
{
    return worker->users[loop / 64] >> (loop % 64) & 1;
}

static void tell_users(const struct kept *worker, const mishap_keeper_message *message)
{
    for (size_t i = 0; i < MISHAP_KEEPER_LOOPS; i++)
        if (uses(worker, i) && k.loops[i] >= 0)
            mishap_keeper_send(k.loops[i], message, NULL, 0);
}

static struct kept *find_shared(uint32_t group)
{
    for (size_t i = 0; i < k.worker_end; i++)
        if (k.workers[i].pid && k.workers[i].group == group && k.workers[i].control >= 0 &&
            !k.workers[i].killed)
            return &k.workers[i];
    return NULL;
}

static struct kept *free_place(void)
{
    for (size_t i = 0; i < MOST_WORKERS; i++)
        if (!k.workers[i].pid) {
            if (i == k.worker_end)
                k.worker_end++;
            return &k.workers[i];
        }
    return NULL;
}

/* -- starting ---------------------------------------------------------------------------------- */

static void close_both(int *files)
{
    for (size_t i = 0; i < 2; i++) {
        if (files[i] >= 0)
            close(files[i]);
        files[i] = -1;
    }
}

/* The two ends of a connection: a socket and a page for the loop, and the same for the worker. */
struct connection {
    int loop[MISHAP_KEEPER_FILES], worker[MISHAP_KEEPER_FILES];
};

static bool make_connection(struct connection *c)
{
    int ends[2] = { -1, -1 };
    *c = (struct connection){ { -1, -1 }, { -1, -1 } };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    c->loop[0] = ends[0];
    c->worker[0] = ends[1];
    c->loop[1] = memfd_create("mishap-call", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (c->loop[1] >= 0 && ftruncate(c->loop[1], sizeof(mishap_worker_page)) == 0 &&
        fcntl(c->loop[1], F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        c->worker[1] = fcntl(c->loop[1], F_DUPFD_CLOEXEC, 0);
    if (c->worker[1] >= 0)
        return true;
    close_both(c->loop);
    close_both(c->worker);
    return false;
}

static _Noreturn void be_worker(uint32_t group, const struct connection *c, int control)
{
    int files[MISHAP_CHILD_FILES] = { c->worker[0], c->worker[1], control };
    size_t count = control >= 0 ? 3 : 2;
    if (!mishap_child_begin(k.pid, &k.plan->limits, files, count))
        _exit(127);
    mishap_worker_serve(k.plan, group, files, count);
}

/* True: it runs, and *worker is its place. */
static bool fork_worker(uint32_t group, const struct connection *c, struct kept **worker)
{
    struct kept *place = free_place();
    int control[2] = { -1, -1 };
    if (!place) {
        errno = EAGAIN;
        return false;
    }
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
    *place = (struct kept){
        .pid = pid, .number = ++k.last_number, .group = group, .control = control[0]
    };
    *worker = place;
    return true;
}

/* -- foreign programs ---------------------------------------------------------------------------
 */

bool mishap_keeper_begin_foreign(uint32_t group, bool session, uint32_t *worker, int32_t *pid,
                                 int *end)
{
    struct kept *place = free_place();
    mishap_spawned spawned;
    int ends[2];
    if (!place) {
        errno = EAGAIN;
        return false;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    bool made = mishap_spawn(k.plan->groups.groups[group].foreign, ends[1], &spawned);
    int error = errno;
    close(ends[1]);
    if (!made) {
        close(ends[0]);
        errno = error;
        return false;
    }
    *place = (struct kept){ .pid = spawned.pid,
                            .number = ++k.last_number,
                            .group = group,
                            .control = -1,
                            .foreign = true,
                            .session = session,
                            .spawned = spawned };
    *worker = place->number;
    *pid = place->pid;
    *end = ends[0];
    return true;
}

static struct kept *find_number(uint32_t number)
{
    for (size_t i = 0; i < k.worker_end; i++)
        if (k.workers[i].pid && k.workers[i].number == number)
            return &k.workers[i];
    return NULL;
}

void mishap_keeper_set_user(uint32_t number, size_t loop, bool used)
{
    struct kept *worker = find_number(number);
    uint64_t bit = UINT64_C(1) << (loop % 64);
    if (worker && used)
        worker->users[loop / 64] |= bit;
    else if (worker)
        worker->users[loop / 64] &= ~bit;
}

void mishap_keeper_interrupt(uint32_t number, uint32_t id)
{
    const struct kept *worker = find_number(number);
    if (worker && worker->foreign && !worker->killed)
        mishap_spawn_interrupt(worker->pid, id);
}

bool mishap_keeper_tell_loop(size_t loop, const mishap_keeper_message *message, const int *file)
{
    return k.loops[loop] >= 0 && mishap_keeper_send(k.loops[loop], message, file, file ? 1 : 0);
}

/* One of a pool belongs to the loop that asked for it. */
static void start_foreign(size_t loop, const mishap_keeper_message *asked)
{
    mishap_keeper_message answer = { .word = MISHAP_KEEPER_REFUSED,
                                     .number = asked->number,
                                     .group = asked->group };
    int end = -1;
    if (mishap_keeper_begin_foreign(asked->group, false, &answer.worker, &answer.pid, &end)) {
        answer.word = MISHAP_KEEPER_STARTED;
        mishap_keeper_set_user(answer.worker, loop, true);
    } else {
        answer.status = errno;
    }
    mishap_keeper_tell_loop(loop, &answer, end >= 0 ? &end : NULL);
    if (end >= 0)
        close(end);
}

/* A worker that several loops share gets one more connection; else there is a new one. */
static void start(size_t loop, const mishap_keeper_message *asked)
{
    mishap_keeper_message answer = { .word = MISHAP_KEEPER_REFUSED,
                                     .number = asked->number,
                                     .group = asked->group };
    mishap_keeper_message hand = { .word = MISHAP_KEEPER_ADMIT };
    struct connection c;
    struct kept *worker = NULL;
    if (asked->group < k.plan->groups.count && k.plan->groups.groups[asked->group].foreign) {
        start_foreign(loop, asked);
        return;
    }
    bool made = asked->group < k.plan->groups.count && make_connection(&c);
    if (made) {
        worker = find_shared(asked->group);
        answer.joined = worker != NULL;
        made = worker ? mishap_keeper_send(worker->control, &hand, c.worker, MISHAP_KEEPER_FILES)
                      : fork_worker(asked->group, &c, &worker);
        answer.status = errno;
        close_both(c.worker);
    }
    if (made) {
        worker->users[loop / 64] |= UINT64_C(1) << (loop % 64);
        answer.word = MISHAP_KEEPER_STARTED;
        answer.worker = worker->number;
        answer.pid = worker->pid;
        answer.status = 0;
    }
    mishap_keeper_send(k.loops[loop], &answer, c.loop, made ? MISHAP_KEEPER_FILES : 0);
    if (asked->group < k.plan->groups.count)
        close_both(c.loop);
}

/* -- killing ----------------------------------------------------------------------------------- */

/* What a process has started, and what that has: in sessions of their own, perhaps, so that nothing
 * else leads from them to the worker. */
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

static void kill_worker(struct kept *worker)
{
    worker->killed = true;
    worker->kill_at_ns = 0;
    kill_below(worker->pid, 0);
    mishap_signal_process(worker->pid, SIGKILL);
}

/* It was asked for its stack and ends itself after it. If it does not, the stack is read from
 * outside. The main thread is the one that runs calls. */
static void end_worker(struct kept *worker, bool stack)
{
    if (worker->killed || (worker->kill_at_ns && !worker->foreign))
        return;
    if (!stack || worker->foreign) { /* which knows no such signal */
        kill_worker(worker);
        return;
    }
    worker->stack_wanted = true;
    worker->kill_at_ns = mishap_clock_monotonic_ns() + STACK_MS * INT64_C(1000000);
    syscall(SYS_tgkill, worker->pid, worker->pid, mishap_words_signal());
}

static void look_at_clock(void)
{
    int64_t now = mishap_clock_monotonic_ns();
    for (size_t i = 0; i < k.worker_end; i++) {
        struct kept *worker = &k.workers[i];
        if (!worker->pid || !worker->kill_at_ns || now < worker->kill_at_ns)
            continue;
        if (worker->stack_wanted)
            worker->has_trace = mishap_stack_read(worker->pid, &worker->trace);
        kill_worker(worker);
    }
}

/* What a worker leaves behind is a child of ours by now, or is in its process group. Sessions of
 * workers that live are left alone. */
static bool is_of_living_worker(pid_t pid)
{
    pid_t session = getsid(pid);
    for (size_t i = 0; i < k.worker_end; i++)
        if (k.workers[i].pid && (k.workers[i].pid == pid || k.workers[i].pid == session))
            return true;
    return false;
}

static void kill_left_over(void)
{
    mishap_children children;
    pid_t pid;
    mishap_children_open(&children, k.pid);
    while ((pid = mishap_children_next(&children)))
        if (!is_of_living_worker(pid))
            mishap_signal_process(pid, SIGKILL);
    mishap_children_close(&children);
}

/* -- reaping ----------------------------------------------------------------------------------- */

static struct kept *find_process(pid_t pid)
{
    for (size_t i = 0; i < k.worker_end; i++)
        if (k.workers[i].pid == pid)
            return &k.workers[i];
    return NULL;
}

static void on_end(struct kept *worker, int status)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_ENDED,
                                      .worker = worker->number,
                                      .pid = worker->pid,
                                      .status = status,
                                      .stack = worker->has_trace,
                                      .stopped = worker->stopped,
                                      .trace = worker->trace };
    struct kept ended = *worker;
    if (ended.foreign)
        message.output_bytes = (uint32_t)mishap_spawn_output(&ended.spawned, message.output);
    *worker = (struct kept){ 0 };
    mishap_signal_group(ended.pid, SIGKILL);
    if (ended.control >= 0)
        close(ended.control);
    tell_users(&ended, &message);
    if (ended.session)
        mishap_leases_worker_ended(ended.number);
    if (ended.foreign)
        mishap_spawn_remove(&ended.spawned);
    while (k.worker_end && !k.workers[k.worker_end - 1].pid)
        k.worker_end--;
}

/* One that has stopped itself would keep its caller waiting for ever. */
static void on_stop(struct kept *worker)
{
    if (worker->killed || worker->stack_wanted)
        return;
    worker->stopped = true;
    worker->has_trace = !worker->foreign && mishap_stack_read(worker->pid, &worker->trace);
    kill_worker(worker);
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
        struct kept *worker = find_process(pid);
        if (WIFSTOPPED(status)) {
            if (worker)
                on_stop(worker);
            continue;
        }
        any = true;
        if (worker)
            on_end(worker, status);
    }
    if (any)
        kill_left_over();
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

/* Its connection is closed, so it ends; but what it does at its end is a handler's, too, and may
 * hang. */
static void put_away(struct kept *worker)
{
    if (worker->control < 0 && !worker->kill_at_ns && !worker->killed)
        worker->kill_at_ns = mishap_clock_monotonic_ns() + ORPHAN_MS * INT64_C(1000000);
}

void mishap_keeper_let_end(uint32_t number)
{
    struct kept *worker = find_number(number);
    if (worker)
        put_away(worker);
}

/* A loop is gone. Its workers notice; one whose handler hangs has nobody left to look after it. */
static void part_with(size_t loop)
{
    close(k.loops[loop]);
    k.loops[loop] = -1;
    for (size_t i = 0; i < k.worker_end; i++) {
        struct kept *worker = &k.workers[i];
        if (!worker->pid || !uses(worker, loop))
            continue;
        worker->users[loop / 64] &= ~(UINT64_C(1) << (loop % 64));
        if (!worker->session)
            put_away(worker);
    }
    mishap_leases_loop_gone(loop);
}

static void obey(size_t loop, struct kept *worker, const mishap_keeper_message *message)
{
    if (message->word == MISHAP_KEEPER_INTERRUPT) {
        mishap_keeper_message done = { .word = MISHAP_KEEPER_INTERRUPTED,
                                       .worker = worker->number,
                                       .number = message->number };
        mishap_keeper_interrupt(worker->number, message->number);
        mishap_keeper_tell_loop(loop, &done, NULL);
    } else if (message->word == MISHAP_KEEPER_END)
        end_worker(worker, message->stack);
    else if (message->word == MISHAP_KEEPER_PUT_AWAY)
        put_away(worker);
}

static void listen_to(size_t loop)
{
    mishap_keeper_message message;
    int files[MISHAP_KEEPER_FILES], got;
    size_t count;
    while ((got = mishap_keeper_receive(k.loops[loop], &message, files, &count, 0)) > 0) {
        for (size_t i = 0; i < count; i++)
            close(files[i]);
        if (message.word == MISHAP_KEEPER_START)
            start(loop, &message);
        else if (message.word >= MISHAP_KEEPER_LEASE)
            mishap_leases_hear(loop, &message);
        else
            for (size_t i = 0; i < k.worker_end; i++)
                if (k.workers[i].pid && k.workers[i].number == message.worker &&
                    uses(&k.workers[i], loop))
                    obey(loop, &k.workers[i], &message);
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

/* -- the loop ---------------------------------------------------------------------------------- */

/* Whoever could ask for something is gone: so is the reason to be here. */
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
    for (size_t i = 0; i < k.worker_end; i++)
        if (k.workers[i].pid && k.workers[i].kill_at_ns && k.workers[i].kill_at_ns < next)
            next = k.workers[i].kill_at_ns;
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
        look_at_clock();
    }
}

/* All that the parent had open is the parent's. */
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

/* What dies leaves its children to us, so it takes more than one look. */
static void wait_for_all(void)
{
    for (int i = 0; i < LAST_LOOKS; i++) {
        kill_left_over();
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        if (waitpid(-1, NULL, WNOHANG) < 0)
            return; /* there is none */
        poll(NULL, 0, 5);
    }
}

/* Nobody is left to tell: what is still there ends with us. */
static void end_all(void)
{
    size_t end = k.worker_end;
    for (size_t i = 0; i < end; i++)
        if (k.workers[i].pid)
            kill_worker(&k.workers[i]);
    k.worker_end = 0;
    mishap_leases_stop();
    wait_for_all();
    for (size_t i = 0; i < end; i++)
        if (k.workers[i].pid && k.workers[i].foreign)
            mishap_spawn_remove(&k.workers[i].spawned); /* its folder and its control group */
    mishap_spawn_sweep(); /* those of a keeper before, whose processes were still about to die */
}

_Noreturn void mishap_keeper_run(const mishap_keeper_plan *plan, uint32_t generation, int parent)
{
    mishap_shared_leave();
    mishap_logs_forget();
    k.plan = plan;
    k.parent = parent;
    k.pid = getpid();
    /* Loops may still think of a worker of the keeper before: no other has its number. */
    k.last_number = generation << GENERATION_SHIFT;
    for (size_t i = 0; i < MISHAP_KEEPER_LOOPS; i++)
        k.loops[i] = -1;
    close_others();
    take_signals();
    mishap_leases_begin(plan);
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
