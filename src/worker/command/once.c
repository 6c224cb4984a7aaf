/*
 * A foreign program for one call: how a command and mishap_invoke() run it. The calling process is
 * the parent of the program, and waits for it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/signals.h"
#include "operation/settings.h"
#include "worker/spawn/lack.h"
#include "worker/spawn/spawn.h"
#include "worker/wire/frame.h"

enum {
    LOOK_MS = 20,       /* interval of the checks whether the call was cancelled */
    MOST_STRAYS = 1000, /* messages without effect in one call, before the process is ended */
};

#define MS INT64_C(1000000)

struct mishap_foreign_process {
    const mishap_foreign *foreign;
    mishap_spawned spawned;
    int socket; /* -1: closed */
    char *packet;
    mishap_buffer in;
    _Atomic uint32_t id;     /* of the latest call */
    atomic_bool interrupted; /* … and whether that call was interrupted */
    bool ready, over;
    bool code_began; /* code of a caller may have written what it sends */
    bool stuck;      /* it had closed its socket, but did not exit */
};

/* What this process waits for: a program that starts, or a call that it runs. */
struct abroad {
    mishap_foreign_process *process;
    const mishap_foreign *foreign;
    mishap_call *call; /* NULL: none */
    bool answered, last;
    int strays;             /* messages without effect */
    int64_t begun_ns;       /* when the call was handed over */
    int64_t limit_ms;       /* the time that the call was given; 0: unlimited */
    int64_t stop_at_ns;     /* when its time is over; 0: never */
    int64_t interrupted_ns; /* when the call was interrupted; 0: it was not */
    bool timed_out, cancelled;
    int64_t looked_ns; /* when the use of resources was checked last */
    const char *lie;
    mishap *failure;
};

static void take_report(const struct abroad *a, const mishap_foreign_message *message)
{
    const mishap_watcher *watcher = a->call->watcher;
    if (message->word == MISHAP_FOREIGN_LOG && message->level == MISHAP_FOR_OPERATOR)
        mishap_tell_operator(a->call, "%.*s", (int)message->words.length, message->words.data);
    else if (message->word == MISHAP_FOREIGN_LOG && watcher && watcher->log)
        watcher->log(watcher, (mishap_level)message->level, message->words);
    else if (message->word == MISHAP_FOREIGN_PROGRESS && watcher && watcher->progress)
        watcher->progress(watcher, message->done, message->total, message->words);
}

static void take_outcome(struct abroad *a, const mishap_foreign_message *message)
{
    mishap_foreign_known known = {
        .foreign = a->foreign,
        .code_began = a->process->code_began,
        .interrupted = atomic_load(&a->process->interrupted),
        .ran_ms = (mishap_clock_monotonic_ns() - a->begun_ns) / MS,
        .limit_ms = a->limit_ms,
    };
    a->last = mishap_foreign_is_last(message, &known, a->call);
    a->lie = mishap_foreign_take_outcome(message, &known, a->call, &a->failure);
    if (!a->lie && a->interrupted_ns)
        a->failure = mishap_foreign_correct(a->foreign, a->call, a->failure, a->timed_out);
    a->answered = !a->lie;
}

/* True if code of a caller may have written what the process sends now. */
static bool is_of_code(const struct abroad *a)
{
    return a->foreign->code && a->process->code_began;
}

/* A message without effect is no reason to end the process, unless they do not stop. */
static void count_stray(struct abroad *a)
{
    a->lie = ++a->strays > MOST_STRAYS ? "too much that is of no call" : NULL;
}

static void take_message(struct abroad *a, mishap_text text)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_foreign_message message;
    a->lie = mishap_foreign_read(&reader, text, &message);
    mishap_foreign_process *p = a->process;
    uint32_t id = atomic_load(&p->id);
    if (is_of_code(a)) {
        if (!a->lie && a->call && message.id == id && message.word >= MISHAP_FOREIGN_ANSWER)
            take_outcome(a, &message);
        else
            count_stray(a);
    } else if (a->lie)
        ;
    else if (!p->ready && message.word == MISHAP_FOREIGN_READY)
        p->ready = true;
    else if (!p->ready && message.word == MISHAP_FOREIGN_UNREADY)
        a->failure = mishap_foreign_take_failure(&message, &a->lie);
    else if (!p->ready || message.id > id || message.word <= MISHAP_FOREIGN_UNREADY)
        a->lie = "a message about a call that it does not have";
    else if (message.id < id || !a->call)
        ; /* it belongs to a call that is over: too late */
    else if (message.word >= MISHAP_FOREIGN_ANSWER)
        take_outcome(a, &message);
    else if (message.word == MISHAP_FOREIGN_BEGINS)
        p->code_began = true;
    else
        take_report(a, &message);
    mishap_json_reader_release(&reader);
}

/* Read one packet. False: the program has closed its end, or has ended. */
static bool read_packet(struct abroad *a)
{
    mishap_text message;
    mishap_foreign_process *p = a->process;
    ssize_t count = recv(p->socket, p->packet, MISHAP_PACKET + 1, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (count <= 0)
        return false;
    switch (mishap_foreign_gather(&p->in, (mishap_text){ p->packet, (size_t)count },
                                  mishap_foreign_limit(a->foreign), &message)) {
    case MISHAP_GATHERED_WHOLE:
        take_message(a, message);
        mishap_buffer_reset(&p->in);
        break;
    case MISHAP_GATHERED_PART:
        if (is_of_code(a))
            count_stray(a); /* a program could send them without end */
        break;
    case MISHAP_GATHERED_BAD:
        if (is_of_code(a)) {
            /* The packets that follow of this message are dropped, too. */
            mishap_buffer_release(&p->in);
            count_stray(a);
        } else {
            a->lie = p->in.failed ? "more than there is memory for" : "a packet that is none";
        }
        break;
    }
    return true;
}

/* -- time -------------------------------------------------------------------------------------- */

/* False: the process uses more than its profile allows, and is to be killed. Not checked before it
 * is ready, nor in the first moment of a call: no code of a caller has run by then. */
static bool mind_size(struct abroad *a, int64_t now)
{
    if (!a->looked_ns || !a->process->ready)
        a->looked_ns = now;
    if (now - a->looked_ns < LOOK_MS * MS)
        return true;
    a->looked_ns = now;
    return !mishap_spawn_look(&a->process->spawned);
}

/* When its time is over, the process is interrupted once, and killed if it goes on. False: the wait
 * is over. */
static bool mind_time(struct abroad *a)
{
    int64_t now = mishap_clock_monotonic_ns();
    if (!mind_size(a, now))
        return false;
    bool over = a->stop_at_ns && now >= a->stop_at_ns, left = a->call && mishap_cancelled(a->call);
    if ((over || left) && !a->interrupted_ns) {
        a->interrupted_ns = now;
        a->timed_out = over;
        a->cancelled = !over;
        if (!a->process->ready)
            return false;
        mishap_foreign_interrupt(a->process);
    }
    return !a->interrupted_ns || now - a->interrupted_ns < mishap_foreign_grace_ms(a->foreign) * MS;
}

static bool is_over(const struct abroad *a)
{
    return a->answered || a->failure || a->lie;
}

/* Milliseconds until the next check, or until its time is over. */
static int next_look_ms(const struct abroad *a)
{
    int64_t left = a->stop_at_ns && !a->interrupted_ns
                       ? a->stop_at_ns - mishap_clock_monotonic_ns() + MS - 1
                       : LOOK_MS * MS;
    return left <= 0 ? 0 : left < LOOK_MS * MS ? (int)(left / MS) : LOOK_MS;
}

/* Wait until *what is true, or the process or its time is over. */
static void wait_for(struct abroad *a, const bool *what)
{
    while (!*what && !is_over(a)) {
        struct pollfd file = { .fd = a->process->socket, .events = POLLIN };
        if (poll(&file, 1, next_look_ms(a)) > 0 && !read_packet(a))
            return;
        if (!is_over(a) && !*what && !mind_time(a))
            return;
    }
}

static bool send_call(struct abroad *a)
{
    mishap_buffer out = { 0 };
    size_t sent = 0;
    int64_t left = mishap_call_time_left(a->call);
    uint32_t id = atomic_fetch_add(&a->process->id, 1) + 1;
    atomic_store(&a->process->interrupted, false);
    a->begun_ns = mishap_clock_monotonic_ns();
    a->limit_ms = left > 0 ? left : 0;
    if (!mishap_foreign_put_call(&out, a->call, id, left > 0 ? left : 0)) {
        a->failure = out.failed ? mishap_out_of_memory()
                                : mishap_raise(BAD_REQUEST, "The arguments are too long.");
        mishap_buffer_release(&out);
        return false;
    }
    bool open = true;
    while (open && sent < out.length && mind_time(a)) {
        struct pollfd file = { .fd = a->process->socket, .events = POLLOUT };
        open = mishap_foreign_send(a->process->socket, &out, &sent);
        if (sent < out.length)
            poll(&file, 1, LOOK_MS);
    }
    mishap_buffer_release(&out);
    return open;
}

/* -- the end ----------------------------------------------------------------------------------- */

static mishap *tell_way(const struct abroad *a, int status, mishap_text output)
{
    const char *name = a->call ? a->call->operation->name : a->foreign->program;
    if (a->timed_out)
        return mishap_raise(TIMEOUT, "The call was not finished in time.");
    if (a->cancelled)
        return mishap_raise(CANCELLED, "The call was cancelled.");
    if (a->lie)
        return mishap_raise(INTERNAL_ERROR, "The process of %s sent what it must not.", name);
    const char *exceeded = mishap_spawn_excess(mishap_spawn_exceeded(&a->process->spawned));
    if (exceeded)
        return mishap_raise(INTERNAL_ERROR,
                            "The process of %s had more %s than it may have, and was ended.", name,
                            exceeded);
    mishap *lack = a->process->ready ? NULL : mishap_spawn_lack(a->foreign, output);
    if (!lack && !a->process->ready)
        lack = mishap_worker_too_few_files();
    if (lack)
        return lack;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && !a->process->ready)
        return mishap_raise(NOT_CONFIGURED, "The foreign program cannot be started.");
    if (WIFEXITED(status))
        return mishap_raise(INTERNAL_ERROR, "The process of %s ended with status %d.", name,
                            WEXITSTATUS(status));
    return mishap_raise(INTERNAL_ERROR, "The process of %s was killed with signal %d.", name,
                        WTERMSIG(status));
}

static mishap *tell_end(const struct abroad *a, int status)
{
    char output[MISHAP_FOREIGN_LAST_OUTPUT];
    size_t length = mishap_spawn_output(&a->process->spawned, output);
    mishap_foreign_end end = { .operation = a->call ? a->call->operation->name : "",
                               .status = status,
                               .timed_out = a->timed_out,
                               .cancelled = a->cancelled,
                               .code_began = is_of_code(a),
                               .broke = a->lie              ? a->lie
                                        : a->process->stuck ? "nothing more, and did not end"
                                                            : NULL,
                               .exceeded = mishap_spawn_excess(
                                   mishap_spawn_exceeded(&a->process->spawned)),
                               .limit_ms = a->call ? a->call->limit_ms : 0,
                               .output = { output, length } };
    const char *meaning = mishap_foreign_own_exit(&end);
    bool asks = a->call && a->process->ready && a->foreign->ended && !meaning;
    mishap *m = asks ? a->foreign->ended(&end) : NULL;
    if (!m)
        m = mishap_foreign_code_ended(a->foreign, &end);
    if (!m)
        m = tell_way(a, status, end.output);
    m = mishap_note(m, "place",
                    a->process->ready ? "while it had the call" : "before it was ready");
    if (meaning)
        m = mishap_note(m, "meaning", meaning);
    if (a->lie)
        m = mishap_note(m, "reason", a->lie);
    return length ? mishap_note(m, "output", end.output) : m;
}

/* Reap the process. One that has closed its socket gets some time to exit by itself, so that its
 * own exit status is known. */
static int reap(mishap_foreign_process *p, bool kill_it)
{
    int status = 0;
    pid_t got = 0;
    int64_t end = mishap_clock_monotonic_ns() +
                  (kill_it ? 0 : mishap_foreign_grace_ms(p->foreign) * MS);
    p->over = true; /* from now on the pid may be reused: it gets no more signals */
    while (mishap_clock_monotonic_ns() < end &&
           (got = waitpid(p->spawned.pid, &status, WNOHANG)) == 0)
        poll(NULL, 0, 1);
    if (got != p->spawned.pid) {
        p->stuck = !kill_it;
        mishap_signal_process(p->spawned.pid, SIGKILL);
        while (waitpid(p->spawned.pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    return status;
}

/* If the process is over: reap it, and make the failure of the call. */
static void conclude(struct abroad *a)
{
    if (a->answered && !a->last)
        return;
    int status = reap(a->process,
                      is_over(a) || a->timed_out || a->cancelled || a->process->spawned.exceeded);
    if (!a->answered && !a->failure)
        a->failure = tell_end(a, status);
}

/* -- processes --------------------------------------------------------------------------------- */

void mishap_foreign_interrupt(mishap_foreign_process *p)
{
    atomic_store(&p->interrupted, true);
    if (!p->over)
        mishap_spawn_interrupt(p->spawned.pid, atomic_load(&p->id));
}

bool mishap_foreign_is_over(const mishap_foreign_process *p)
{
    return p->over;
}

bool mishap_foreign_was_given_a_call(const mishap_foreign_process *p)
{
    return atomic_load(&p->id) > 0;
}

void mishap_foreign_stop(mishap_foreign_process *p)
{
    if (!p)
        return;
    if (p->spawned.pid && !p->over)
        reap(p, true);
    if (p->socket >= 0)
        close(p->socket);
    mishap_spawn_remove(&p->spawned);
    mishap_buffer_release(&p->in);
    mishap_release(p->packet);
    mishap_release(p);
}

static mishap_foreign_process *make_process(const mishap_foreign *foreign)
{
    mishap_foreign_process *p = mishap_allocate(sizeof *p);
    char *packet = mishap_allocate(MISHAP_PACKET + 1);
    if (!p || !packet) {
        mishap_release(p);
        mishap_release(packet);
        return NULL;
    }
    *p = (mishap_foreign_process){
        .foreign = foreign, .socket = -1, .packet = packet, .spawned.output = -1
    };
    return p;
}

static bool spawn(mishap_foreign_process *p)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    bool started = mishap_spawn(p->foreign, ends[1], &p->spawned);
    int error = errno;
    close(ends[1]);
    p->socket = ends[0];
    errno = error;
    return started;
}

static mishap *launch(const mishap_app *app, const mishap_foreign *foreign,
                      mishap_foreign_process **out)
{
    *out = NULL;
    mishap_spawn_use_usual(app);
    mishap *failure = mishap_spawn_check(foreign);
    if (failure)
        return failure;
    mishap_foreign_process *p = make_process(foreign);
    if (!p)
        return mishap_out_of_memory();
    if (!spawn(p)) {
        failure = mishap_worker_no_process(errno);
        mishap_foreign_stop(p);
        return failure;
    }
    *out = p;
    return NULL;
}

/* How long a process may take to start: as its service declares. A caller who asks for more time,
 * as on a slow machine, gets it for the start, too. */
static int64_t most_to_start_ms(const mishap_foreign *foreign, const mishap_call *call)
{
    int declared_ms = mishap_foreign_ready_ms(foreign);
    return call && call->timeout_ms > declared_ms ? call->timeout_ms : declared_ms;
}

/* Wait until the process can be given calls. If there is a call (else NULL), the time counts as the
 * call's. */
static mishap *await(mishap_foreign_process *p, mishap_call *call)
{
    struct abroad a = { .process = p, .foreign = p->foreign, .call = call };
    int64_t left_ms = call ? mishap_call_time_left(call) : -1;
    int64_t ready_ms = most_to_start_ms(p->foreign, call);
    if (p->ready)
        return NULL;
    a.stop_at_ns = mishap_clock_monotonic_ns() +
                   (left_ms >= 0 && left_ms < ready_ms ? left_ms : ready_ms) * MS;
    wait_for(&a, &p->ready);
    if (!p->ready)
        conclude(&a);
    return a.failure;
}

/* A process that was started in advance may have ended meanwhile, which is not the fault of any
 * call. */
static mishap *has_ended(const mishap_call *call)
{
    return mishap_raise(UNAVAILABLE, "The process that is to run %s has ended.",
                        call->operation->name);
}

/* Make sure that a process which was started in advance can be given a call. If it was not waited
 * for yet and could not begin, the failure says why, even if the process has ended. */
static mishap *look_at(mishap_foreign_process *p, mishap_call *call)
{
    int status;
    mishap *failure = p->over ? has_ended(call) : await(p, call);
    if (failure && mishap_told(failure)->code == MISHAP_CODE_INTERNAL_ERROR)
        return mishap_because(has_ended(call), failure);
    if (!failure && waitpid(p->spawned.pid, &status, WNOHANG) != 0) {
        p->over = true;
        failure = has_ended(call);
    }
    return failure;
}

/* Start a process and wait until it is ready. */
static mishap *start_process(const mishap_app *app, const mishap_foreign *foreign,
                             mishap_call *call, mishap_foreign_process **out)
{
    mishap *failure = launch(app, foreign, out);
    if (!failure)
        failure = await(*out, call);
    if (failure) {
        mishap_foreign_stop(*out);
        *out = NULL;
    }
    return failure;
}

static mishap *open_service(const mishap_app *app, const mishap_foreign *foreign)
{
    const mishap_service *services[MISHAP_MOST_SERVICES];
    size_t count = mishap_services_of(app, services);
    mishap *failure = NULL;
    void *state;
    for (size_t i = 0; i < count && !failure; i++)
        if (services[i]->worker == foreign)
            failure = mishap_service_open(app, services[i], &state);
    return failure;
}

mishap *mishap_foreign_start(const mishap_app *app, const mishap_foreign *foreign,
                             mishap_foreign_process **out)
{
    *out = NULL;
    mishap *failure = open_service(app, foreign);
    return failure ? failure : start_process(app, foreign, NULL, out);
}

mishap *mishap_foreign_launch(const mishap_app *app, const mishap_foreign *foreign,
                              mishap_foreign_process **out)
{
    *out = NULL;
    mishap *failure = open_service(app, foreign);
    return failure ? failure : launch(app, foreign, out);
}

/* -- calls ------------------------------------------------------------------------------------- */

static mishap *run_call(mishap_foreign_process *p, mishap_call *call)
{
    int64_t left_ms = mishap_call_time_left(call);
    struct abroad a = { .process = p, .foreign = p->foreign, .call = call };
    int64_t limit_ms = p->foreign->untimed ? mishap_foreign_interrupt_ms(p->foreign, call) : 0;
    if (limit_ms > 0 && (left_ms < 0 || limit_ms < left_ms))
        left_ms = limit_ms; /* the limit counts from now on: the process was ready before */
    if (left_ms >= 0)
        a.stop_at_ns = mishap_clock_monotonic_ns() + left_ms * MS;
    if (send_call(&a))
        wait_for(&a, &a.answered);
    else if (a.failure)
        return a.failure; /* no packet was sent */
    conclude(&a);
    return a.failure;
}

static bool names_session(const mishap_call *call)
{
    for (size_t i = 0; i < call->param_count; i++)
        if (strcmp(call->operation->params[i].name, "session") == 0)
            return call->values[i] != NULL;
    return false;
}

mishap *mishap_foreign_run(mishap_call *call)
{
    const mishap_operation *operation = call->operation;
    const mishap_foreign *foreign = operation->service ? operation->service->worker : NULL;
    mishap_foreign_process *process = call->process;
    if (!foreign)
        return mishap_raise(NOT_CONFIGURED, "The service of %s has no foreign program.",
                            operation->name);
    if (foreign->sessions && names_session(call))
        return mishap_suggest(mishap_raise(NOT_FOUND, "There is no such session."),
                              "A command begins a session of its own, unless --server names a "
                              "server that has one.");
    if (!process) /* the call of a person at a terminal, who can interrupt it */
        mishap_foreign_shorten(foreign, call);
    mishap *failure = process ? look_at(process, call)
                              : start_process(call->app, foreign, call, &process);
    if (!failure)
        failure = run_call(process, call);
    if (process != call->process)
        mishap_foreign_stop(process);
    return failure;
}
