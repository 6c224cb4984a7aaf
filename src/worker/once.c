/*
 * A foreign program for one call: how commands and mishap_invoke() run it. The process that calls
 * is the parent, and waits.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "worker/frame.h"
#include "worker/spawn.h"

enum {
    LOOK_MS = 20, /* how often it is asked whether the call was cancelled */
};

#define MS INT64_C(1000000)

struct abroad {
    const mishap_foreign *foreign;
    mishap_call *call;
    mishap_spawned spawned;
    int socket; /* -1: closed */
    char *packet;
    mishap_buffer in;
    bool ready, answered;
    int64_t stop_at_ns;     /* when its time is over; 0: never */
    int64_t interrupted_ns; /* 0: it was not */
    bool timed_out, cancelled;
    const char *lie;
    mishap *failure;
};

static const uint32_t only_id = 1;

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
    a->lie = mishap_foreign_take_outcome(message, a->call, &a->failure);
    a->answered = !a->lie;
}

static void take(struct abroad *a, mishap_text text)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_foreign_message message;
    a->lie = mishap_foreign_read(&reader, text, &message);
    if (a->lie) {
        mishap_json_reader_release(&reader);
        return;
    }
    if (!a->ready && message.word == MISHAP_FOREIGN_READY)
        a->ready = true;
    else if (!a->ready && message.word == MISHAP_FOREIGN_UNREADY)
        a->failure = mishap_foreign_take_failure(&message, &a->lie);
    else if (!a->ready || message.id != only_id)
        a->lie = "a message about a call that it does not have";
    else if (message.word >= MISHAP_FOREIGN_ANSWER)
        take_outcome(a, &message);
    else
        take_report(a, &message);
    mishap_json_reader_release(&reader);
}

/* Read one packet. False: the program has closed its end, or has ended. */
static bool read_packet(struct abroad *a)
{
    mishap_text message;
    ssize_t count = recv(a->socket, a->packet, MISHAP_PACKET + 1, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (count <= 0)
        return false;
    switch (mishap_foreign_gather(&a->in, (mishap_text){ a->packet, (size_t)count },
                                  mishap_foreign_limit(a->foreign), &message)) {
    case MISHAP_GATHERED_WHOLE:
        take(a, message);
        mishap_buffer_reset(&a->in);
        break;
    case MISHAP_GATHERED_PART:
        break;
    case MISHAP_GATHERED_BAD:
        a->lie = a->in.failed ? "more than there is memory for" : "a packet that is none";
        break;
    }
    return true;
}

/* -- time -------------------------------------------------------------------------------------- */

/* It is asked to stop once, and killed if it does not. False: it is over. */
static bool mind_time(struct abroad *a)
{
    int64_t now = mishap_clock_monotonic_ns();
    bool over = a->stop_at_ns && now >= a->stop_at_ns, left = mishap_cancelled(a->call);
    if ((over || left) && !a->interrupted_ns) {
        a->interrupted_ns = now;
        a->timed_out = over;
        a->cancelled = !over;
        if (!a->ready)
            return false;
        mishap_spawn_interrupt(a->spawned.pid, only_id);
    }
    return !a->interrupted_ns || now - a->interrupted_ns < mishap_foreign_grace_ms(a->foreign) * MS;
}

static bool is_over(const struct abroad *a)
{
    return a->answered || a->failure || a->lie;
}

/* Wait until *what is so, or it is over. */
static void wait_for(struct abroad *a, const bool *what)
{
    while (!*what && !is_over(a)) {
        struct pollfd file = { .fd = a->socket, .events = POLLIN };
        if (poll(&file, 1, LOOK_MS) > 0 && !read_packet(a))
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
    if (!mishap_foreign_put_call(&out, a->call, only_id, left > 0 ? left : 0)) {
        a->failure = out.failed ? mishap_out_of_memory()
                                : mishap_raise(BAD_REQUEST, "The arguments are too long.");
        mishap_buffer_release(&out);
        return false;
    }
    bool open = true;
    while (open && sent < out.length && mind_time(a)) {
        struct pollfd file = { .fd = a->socket, .events = POLLOUT };
        open = mishap_foreign_send(a->socket, &out, &sent);
        if (sent < out.length)
            poll(&file, 1, LOOK_MS);
    }
    mishap_buffer_release(&out);
    return open;
}

/* -- the end ----------------------------------------------------------------------------------- */

static mishap *tell_way(const struct abroad *a, int status)
{
    const char *name = a->call->operation->name;
    if (a->timed_out)
        return mishap_raise(TIMEOUT, "The call was not finished in time.");
    if (a->cancelled)
        return mishap_raise(CANCELLED, "The call was cancelled.");
    if (a->lie)
        return mishap_raise(INTERNAL_ERROR, "The process of %s sent what it must not.", name);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && !a->ready)
        return mishap_raise(NOT_CONFIGURED, "The program that runs %s cannot be started.", name);
    if (WIFEXITED(status))
        return mishap_raise(INTERNAL_ERROR, "The process of %s ended with status %d.", name,
                            WEXITSTATUS(status));
    return mishap_raise(INTERNAL_ERROR, "The process of %s was killed with signal %d.", name,
                        WTERMSIG(status));
}

static mishap *tell_end(const struct abroad *a, int status)
{
    char output[MISHAP_FOREIGN_LAST_OUTPUT];
    size_t length = mishap_spawn_output(&a->spawned, output);
    mishap_foreign_end end = { .operation = a->call->operation->name,
                               .status = status,
                               .timed_out = a->timed_out,
                               .cancelled = a->cancelled,
                               .broke = a->lie,
                               .limit_ms = a->call->limit_ms,
                               .output = { output, length } };
    mishap *m = a->ready && a->foreign->ended ? a->foreign->ended(&end) : NULL;
    if (!m)
        m = tell_way(a, status);
    if (a->lie)
        m = mishap_note(m, "reason", a->lie);
    return length ? mishap_note(m, "output", end.output) : m;
}

/* How it ended of itself: it closed its end, and that says nothing yet. */
static int reap(struct abroad *a, bool kill_it)
{
    int status = 0, looks = kill_it ? 0 : mishap_foreign_grace_ms(a->foreign);
    pid_t got = 0;
    while (looks-- > 0 && (got = waitpid(a->spawned.pid, &status, WNOHANG)) == 0)
        poll(NULL, 0, 1);
    if (got != a->spawned.pid) {
        kill(a->spawned.pid, SIGKILL);
        while (waitpid(a->spawned.pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    return status;
}

static bool start(struct abroad *a)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    bool started = mishap_spawn(a->foreign, ends[1], &a->spawned);
    int error = errno;
    close(ends[1]);
    a->socket = ends[0];
    errno = error;
    return started;
}

static void run(struct abroad *a)
{
    bool started = start(a);
    if (!started) {
        a->failure = mishap_note(mishap_raise(UNAVAILABLE,
                                              "The program that runs %s cannot be "
                                              "started.",
                                              a->call->operation->name),
                                 "reason", strerror(errno));
        return;
    }
    int64_t now = mishap_clock_monotonic_ns(), left = mishap_call_time_left(a->call);
    int64_t ready_at = now + mishap_foreign_ready_ms(a->foreign) * MS;
    int64_t over_at = left >= 0 ? now + left * MS : 0;
    a->stop_at_ns = over_at && over_at < ready_at ? over_at : ready_at;
    wait_for(a, &a->ready);
    a->stop_at_ns = over_at;
    if (a->ready && !is_over(a) && send_call(a))
        wait_for(a, &a->answered);
    int status = reap(a, is_over(a) || a->timed_out || a->cancelled);
    if (!a->answered && !a->failure)
        a->failure = tell_end(a, status);
}

mishap *mishap_foreign_run(mishap_call *call)
{
    struct abroad a = { .foreign = call->operation->service ? call->operation->service->worker
                                                            : NULL,
                        .call = call,
                        .socket = -1,
                        .spawned.output = -1 };
    if (!a.foreign)
        return mishap_raise(NOT_CONFIGURED, "The service of %s has no foreign program.",
                            call->operation->name);
    if (a.foreign->sessions && mishap_given(call, "session"))
        return mishap_suggest(mishap_raise(NOT_FOUND, "There is no such session."),
                              "A command begins a session of its own, unless --server names a "
                              "server that has one.");
    mishap_spawn_use_usual(call->app);
    mishap *failure = mishap_spawn_check(a.foreign);
    if (failure)
        return failure;
    a.packet = mishap_allocate(MISHAP_PACKET + 1);
    if (!a.packet)
        return mishap_out_of_memory();
    run(&a);
    if (a.socket >= 0)
        close(a.socket);
    mishap_spawn_remove(&a.spawned);
    mishap_buffer_release(&a.in);
    mishap_release(a.packet);
    return a.failure;
}
