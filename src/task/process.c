/*
 * The process of tasks: its connections to loops, its runner of calls, and its clock. It answers
 * what loops ask, and waits only for the store.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/signals.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "operation/changes.h"
#include "task/inside.h"
#include "task/place/place.h"

enum { READ_AT_ONCE = 64 << 10, EVENTS = 64, TURN_MS = 1000 };

static volatile sig_atomic_t asked_to_end;

static void on_end(int number)
{
    (void)number;
    asked_to_end = 1;
}

void mishap_tasks_end(void)
{
    asked_to_end = 1;
}

/* -- connections ------------------------------------------------------------------------------- */

static void drop_conn(tasks *t, task_conn *c)
{
    if (c->socket < 0)
        return;
    close(c->socket);
    c->socket = -1;
    mishap_tasks_conn_gone(t, c);
}

static void free_dropped(tasks *t)
{
    for (task_conn **at = &t->conns, *c; (c = *at);) {
        if (c->socket >= 0) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        mishap_tasks_release_postponed(c);
        mishap_buffer_release(&c->in);
        mishap_buffer_release(&c->out);
        mishap_release(c);
    }
}

static void listen_for(const tasks *t, task_conn *c, bool send, int how)
{
    struct epoll_event event = { .events = EPOLLIN | (send ? (uint32_t)EPOLLOUT : 0),
                                 .data.ptr = c };
    epoll_ctl(t->epoll, how, c->socket, &event);
    c->waits_to_send = send;
}

/* Another user has no business here. */
static bool is_ours(int file)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

static void accept_conns(tasks *t)
{
    int file;
    while ((file = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        task_conn *c = is_ours(file) ? mishap_allocate(sizeof *c) : NULL;
        if (!c) {
            close(file);
            continue;
        }
        *c = (task_conn){ .socket = file, .next = t->conns };
        t->conns = c;
        listen_for(t, c, false, EPOLL_CTL_ADD);
    }
}

/* What was sent takes memory until it is removed. Each byte that is kept is moved about once. */
static void remove_sent(task_conn *c)
{
    if (c->sent <= c->out.length / 2)
        return;
    memmove(c->out.data, c->out.data + c->sent, c->out.length - c->sent);
    c->out.length -= c->sent;
    c->sent = 0;
}

static void flush_conn(tasks *t, task_conn *c)
{
    while (c->socket >= 0 && c->sent < c->out.length) {
        ssize_t count = send(c->socket, c->out.data + c->sent, c->out.length - c->sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count <= 0)
            break;
        c->sent += (size_t)count;
    }
    if (c->sent == c->out.length) {
        c->sent = 0;
        mishap_buffer_reset_within(&c->out, READ_AT_ONCE);
    }
    remove_sent(c);
    if ((c->owes || c->postponed) && !mishap_tasks_is_full(c)) {
        c->owes = false;
        t->drained = true;
    }
    bool rest = c->sent < c->out.length;
    if (c->socket >= 0 && rest != c->waits_to_send)
        listen_for(t, c, rest, EPOLL_CTL_MOD);
}

/* A failed buffer has all messages before this one. */
bool mishap_tasks_reply(tasks *t, task_conn *to, uint32_t number, const mishap_task_reply *reply)
{
    (void)t;
    mishap_task_put_reply(&to->out, number, reply);
    if (!to->out.failed)
        return true;
    to->out.failed = false;
    mishap_task_reply refusal = { .kind = MISHAP_TASK_REFUSED,
                                  .failure = mishap_raise(INTERNAL_ERROR,
                                                          "The reply of the process of tasks is "
                                                          "too long, or there is no memory.") };
    mishap_task_put_reply(&to->out, number, &refusal);
    mishap_free(refusal.failure);
    if (to->out.failed && to->socket >= 0)
        shutdown(to->socket, SHUT_RDWR); /* its loop takes all questions for lost */
    return false;
}

/* -- messages ---------------------------------------------------------------------------------- */

static bool take_block(tasks *t, mishap_text body)
{
    mishap_unpack in = mishap_unpack_of(body);
    mishap_text name = mishap_unpack_text(&in);
    if (!mishap_unpack_ended(&in))
        return false;
    mishap_tasks_block(t, name);
    return true;
}

/* False: it is not sound. */
static bool take_message(tasks *t, task_conn *c, const mishap_task_message *m)
{
    mishap_task_started started;
    mishap_task_wish wish;
    mishap_text owner, id;
    mishap_task_given given;
    if (!c->known) {
        mishap_unpack in = mishap_unpack_of(m->body);
        c->known = m->kind == MISHAP_TASK_HELLO &&
                   mishap_text_equal(mishap_unpack_text(&in), mishap_task_place_secret());
        return c->known;
    }
    switch (m->kind) {
    case MISHAP_TASK_START:
        if (!mishap_task_take_start(m->body, &started))
            return false;
        mishap_tasks_start(t, c, m->number, &started);
        return true;
    case MISHAP_TASK_ASK:
        if (!mishap_task_take_ask(m->body, &wish, &owner, &id))
            return false;
        if (!mishap_tasks_postpone(c, m->number, wish, owner, id))
            mishap_tasks_ask(t, c, m->number, wish, owner, id);
        return true;
    case MISHAP_TASK_GIVE:
        if (!mishap_task_take_give(m->body, &owner, &id, &given))
            return false;
        mishap_tasks_give(t, c, m->number, owner, id, &given);
        return true;
    case MISHAP_TASK_LEAVE:
        mishap_tasks_forget_postponed(c, m->number);
        mishap_tasks_left(t, c, m->number);
        return true;
    case MISHAP_TASK_BLOCK:
        return take_block(t, m->body);
    default:
        return false;
    }
}

/* False: the connection is of no more use. */
static bool read_conn(tasks *t, task_conn *c)
{
    mishap_task_message message;
    size_t taken = 0, size = 0;
    if (!mishap_buffer_reserve(&c->in, READ_AT_ONCE))
        return false;
    ssize_t count = recv(c->socket, c->in.data + c->in.length, c->in.capacity - c->in.length,
                         MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (count <= 0)
        return false;
    c->in.length += (size_t)count;
    while ((size = mishap_task_message_read(
                (mishap_text){ c->in.data + taken, c->in.length - taken }, &message)) &&
           size != SIZE_MAX && take_message(t, c, &message))
        taken += size;
    if (size)
        return false;
    memmove(c->in.data, c->in.data + taken, c->in.length - taken);
    c->in.length -= taken;
    return true;
}

static void take_events(tasks *t)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(t->epoll, events, EVENTS, 0);
    for (int i = 0; i < count; i++) {
        task_conn *c = events[i].data.ptr;
        if (!c)
            accept_conns(t);
        else if (c->socket >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR) &&
                 !read_conn(t, c))
            drop_conn(t, c);
    }
}

/* -- the main loop ----------------------------------------------------------------------------- */

static int wait_ms(const tasks *t, int64_t due_ns)
{
    int64_t now = mishap_clock_monotonic_ns();
    due_ns = t->watch_ns < due_ns ? t->watch_ns : due_ns;
    int64_t left = due_ns == INT64_MAX ? TURN_MS : (due_ns - now) / TASK_MS + 1;
    if (t->drained || (t->changed && !t->retry_ns))
        return 0;
    return left < 0 ? 0 : left > TURN_MS ? TURN_MS : (int)left;
}

static void run_turn(tasks *t)
{
    int64_t now = mishap_clock_monotonic_ns();
    bool stores = t->rows && !t->retry_ns;
    int64_t due_ns = stores ? mishap_tasks_look_at_due(t, now) : INT64_MAX;
    int64_t mark_ns = stores ? mishap_tasks_look_at_marks(t, now) : INT64_MAX;
    due_ns = mark_ns < due_ns ? mark_ns : due_ns;
    mishap_tasks_schedule(t);
    mishap_tasks_commit(t);
    mishap_tasks_schedule(t); /* places that ends have made free */
    mishap_tasks_tell_watches(t);
    for (task_conn *c = t->conns; c; c = c->next) {
        mishap_tasks_ask_postponed(t, c);
        flush_conn(t, c);
    }
    free_dropped(t);
    mishap_runner_wait(t->runner, t->epoll, wait_ms(t, due_ns));
    take_events(t);
    mishap_runner_tend(t->runner);
    mishap_tasks_tick(t, mishap_clock_monotonic_ns());
}

/* Tasks that run may end; all others wait for the next start of the server. */
static void end_tasks(tasks *t)
{
    int64_t until = mishap_clock_monotonic_ns() + t->plan->stop_ms * TASK_MS;
    t->ending = true;
    while ((t->running || t->changed) && mishap_clock_monotonic_ns() < until)
        run_turn(t);
}

/* -- the beginning ----------------------------------------------------------------------------- */

/* Only its parent ends it; a signal for the whole group does not. */
static void take_signals(void)
{
    static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGXFSZ };
    struct sigaction action = { .sa_handler = on_end };
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
    mishap_signals_survive();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A socket of the server that this process had too would keep its clients waiting. */
static void close_listeners(int own)
{
    int most = 4096;
    for (int file = 3; file < most; file++) {
        int listens = 0;
        socklen_t size = sizeof listens;
        if (file != own && getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 &&
            listens)
            close(file);
    }
}

static void hear(void *news, mishap_text address)
{
    mishap_news_add(news, address);
}

static mishap *open_all(tasks *t, int keeper)
{
    mishap_served *served = t->plan->served;
    struct epoll_event event = { .events = EPOLLIN };
    mishap_changes_heard_by(hear, served->news);
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->listener = mishap_task_place_listener();
    if (t->epoll < 0 || epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->listener, &event) != 0)
        return mishap_raise(UNAVAILABLE, "The process for tasks cannot wait for calls.");
    return mishap_runner_open(&(mishap_runner_settings){ .plan = &served->plan,
                                                         .keeper = keeper,
                                                         .handlers = t->plan->places,
                                                         .most_waiting = 2 * t->plan->places + 16,
                                                         .wait_ms = INT_MAX,
                                                         .standing = served->standing,
                                                         .sessions = served->sessions,
                                                         .crowd = served->crowd,
                                                         .permits = served->permits,
                                                         .state = t },
                              &t->runner);
}

_Noreturn void mishap_task_process_run(const mishap_task_plan *plan, int keeper, int parent)
{
    static tasks t;
    t.plan = plan;
    t.lock = -1;
    mishap_logs_leave();
    mishap_keeper_leave(&plan->served->keeper);
    close_listeners(mishap_task_place_listener());
    dup2(STDERR_FILENO, STDOUT_FILENO);
    take_signals();
    prctl(PR_SET_NAME, "mishap-tasks");
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    mishap *failure = open_all(&t, keeper);
    if (failure) {
        mishap_log_say("%s: %s\n", plan->served->app->name, mishap_told(failure)->message.data);
        _exit(1);
    }
    mishap_tasks_open_rows(&t);
    while (!asked_to_end)
        run_turn(&t);
    end_tasks(&t);
    plan->engine->close(t.rows);
    _exit(0);
}
