/* The keeper as its parent sees it: start, restart, connect. Runs in the supervisor, or in a
 * process that is its own supervisor. */
#include <errno.h>
#include <signal.h>
#include <poll.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "incident/logs.h"
#include "worker/keeper/keeper.h"
#include "worker/spawn/children.h"
#include "worker/spawn/lack.h"
#include "worker/wire/frame.h"
#include "worker/wire/keeper_messages.h"

enum {
    MOST_BAD_STARTS = 20,        /* after so many in a row the next start is delayed */
    AGAIN_NS = 500000000,        /* … for so long; so is a start whose fork failed */
    SOUND_START_NS = 1000000000, /* a keeper that ran for so long had a good start */
    TELL_NS = 1000000000,        /* between messages about a keeper that was stopped */
    STOP_LOOKS = 3000,           /* at its end: so many checks, one millisecond apart */
    READ_AT_ONCE = 64 * 1024,
    SERVICE_PATIENCE_MS = 60000, /* time for a service to open, when a server starts */
};

#define MS         INT64_C(1000000)
#define ORPHANS_NS INT64_C(5000000000) /* time for the workers of a dead keeper to die */

static bool admit(const mishap_keeper *keeper, int end)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_ADMIT };
    return mishap_keeper_send(keeper->socket, &message, &end, 1);
}

static bool start_keeper(mishap_keeper *keeper)
{
    int ends[2];
    keeper->begun_ns = mishap_clock_monotonic_ns();
    keeper->start_at_ns = keeper->begun_ns + AGAIN_NS;
    keeper->pid = 0;
    keeper->generation++;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        mishap_keeper_run(keeper->plan, keeper->generation, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    keeper->pid = pid;
    keeper->start_at_ns = 0;
    keeper->socket = ends[0];
    for (size_t i = 0; i < keeper->end_count; i++)
        admit(keeper, keeper->ends[i]);
    return true;
}

mishap *mishap_keeper_start(mishap_keeper *keeper, const mishap_keeper_plan *plan)
{
    *keeper = (mishap_keeper){ .plan = plan, .socket = -1 };
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (start_keeper(keeper))
        return NULL;
    return mishap_worker_no_process(errno);
}

bool mishap_keeper_connect(mishap_keeper *keeper, int *loop, int *kept)
{
    int ends[2];
    if (keeper->end_count == MISHAP_KEEPER_LOOPS) {
        errno = EMFILE;
        return false;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    admit(keeper, ends[1]); /* if no keeper runs now, the next one gets it */
    keeper->ends[keeper->end_count++] = *kept = ends[1];
    *loop = ends[0];
    return true;
}

void mishap_keeper_disconnect(mishap_keeper *keeper, int kept)
{
    for (size_t i = 0; i < keeper->end_count; i++)
        if (keeper->ends[i] == kept) {
            close(kept);
            keeper->ends[i] = keeper->ends[--keeper->end_count];
            return;
        }
}

/* Kill the processes that a dead keeper has left to this process. Each worker has a session of its
 * own, other children of this process have not. True: there were some; when they die, the processes
 * that they had started may become children of this process next. */
static bool kill_orphans(void)
{
    mishap_children children;
    bool any = false;
    pid_t pid;
    mishap_children_open(&children, getpid());
    while ((pid = mishap_children_next(&children)))
        if (getsid(pid) != getsid(0)) {
            any = true;
            mishap_signal_process(pid, SIGKILL);
            waitpid(pid, NULL, WNOHANG);
        }
    mishap_children_close(&children);
    return any;
}

static void look_for_orphans(mishap_keeper *keeper)
{
    if (keeper->orphans_until_ns && !kill_orphans() &&
        mishap_clock_monotonic_ns() > keeper->orphans_until_ns)
        keeper->orphans_until_ns = 0;
}

/* A stopped keeper starts no worker and ends none, but its workers go on. If it were killed, they
 * would die with the calls that they have begun since. So it continues. */
static void continue_keeper(mishap_keeper *keeper)
{
    int64_t now = mishap_clock_monotonic_ns();
    mishap_signal_process(keeper->pid, SIGCONT);
    if (keeper->continued_ns && now - keeper->continued_ns < TELL_NS)
        return;
    keeper->continued_ns = now;
    mishap_log_say("%s: the process that keeps the handlers was stopped, and continues\n",
                   keeper->plan->app->name);
}

/* Nothing that callers or handlers do should end the keeper. If it ends nevertheless, its workers
 * die, and the processes that they had started become children of this process, one after the
 * other. The next keeper gets all connections that this one had. */
bool mishap_keeper_ended(mishap_keeper *keeper, int pid, int status)
{
    if (!keeper->pid || pid != keeper->pid) {
        look_for_orphans(keeper);
        return false;
    }
    if (WIFSTOPPED(status)) {
        continue_keeper(keeper);
        return true;
    }
    mishap_log_say("%s: the process that keeps the handlers has ended; another takes its place\n",
                   keeper->plan->app->name);
    int64_t now = mishap_clock_monotonic_ns();
    keeper->bad_starts = now - keeper->begun_ns < SOUND_START_NS ? keeper->bad_starts + 1 : 0;
    keeper->orphans_until_ns = now + ORPHANS_NS;
    keeper->start_at_ns = now + AGAIN_NS;
    close(keeper->socket);
    keeper->socket = -1;
    keeper->pid = 0;
    look_for_orphans(keeper);
    if (keeper->bad_starts < MOST_BAD_STARTS)
        start_keeper(keeper);
    return true;
}

void mishap_keeper_look(mishap_keeper *keeper)
{
    int status;
    pid_t pid = keeper->pid ? waitpid(keeper->pid, &status, WNOHANG | WUNTRACED) : 0;
    if (pid > 0)
        mishap_keeper_ended(keeper, pid, status);
    look_for_orphans(keeper);
    if (keeper->start_at_ns && mishap_clock_monotonic_ns() >= keeper->start_at_ns)
        start_keeper(keeper);
}

void mishap_keeper_leave(mishap_keeper *keeper)
{
    for (size_t i = 0; i < keeper->end_count; i++)
        close(keeper->ends[i]);
    if (keeper->socket >= 0)
        close(keeper->socket);
    *keeper = (mishap_keeper){ .plan = keeper->plan, .socket = -1 };
}

void mishap_keeper_stop(mishap_keeper *keeper)
{
    int status = 0, pid = keeper->pid;
    bool orphans = keeper->orphans_until_ns, ended = !pid;
    mishap_keeper_leave(keeper); /* the keeper notices that its connection is closed, and exits */
    for (int i = 0; !ended && i < STOP_LOOKS; i++) {
        ended = waitpid(pid, &status, WNOHANG) == pid;
        if (!ended)
            poll(NULL, 0, 1);
    }
    if (!ended) {
        mishap_signal_process(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    orphans = orphans || !WIFEXITED(status);
    for (int i = 0; orphans && i < STOP_LOOKS && kill_orphans(); i++)
        poll(NULL, 0, 1);
}

/* -- services ---------------------------------------------------------------------------------- */

static mishap *lost(const mishap_worker_group *group)
{
    mishap *lack = mishap_worker_too_few_files();
    if (lack)
        return lack;
    return mishap_raise(UNAVAILABLE, "The service %s could not be opened: its process ended.",
                        group->service->name);
}

/* Wait for the answer of a keeper that may die before it gives one. Its death shows only on the
 * connection between keeper and parent, since this process holds both ends of the other one. */
static void await_answer(const mishap_keeper *keeper, int socket)
{
    int64_t until = mishap_clock_monotonic_ns() + SERVICE_PATIENCE_MS * MS, left;
    struct pollfd files[] = { { .fd = socket, .events = POLLIN }, { .fd = keeper->socket } };
    while ((left = until - mishap_clock_monotonic_ns()) > 0 && !files[0].revents &&
           !files[1].revents)
        poll(files, 2, (int)(left / MS) + 1);
}

bool mishap_keeper_open_service(int socket, int wait_ms, char identity[MISHAP_IDENTITY_LIMIT],
                                mishap **failure)
{
    mishap_buffer bytes = { 0 };
    mishap_framed frame;
    size_t size;
    int64_t until = mishap_clock_monotonic_ns() + wait_ms * MS;
    mishap_frame_state state = MISHAP_FRAME_MORE;
    mishap_frame_put_open(&bytes, NULL);
    bool open = !bytes.failed &&
                send(socket, bytes.data, bytes.length, MSG_NOSIGNAL) == (ssize_t)bytes.length;
    mishap_buffer_reset(&bytes);
    while (open && state == MISHAP_FRAME_MORE && mishap_buffer_reserve(&bytes, READ_AT_ONCE)) {
        struct pollfd file = { .fd = socket, .events = POLLIN };
        int64_t left_ms = (until - mishap_clock_monotonic_ns()) / MS;
        ssize_t count = left_ms > 0 && poll(&file, 1, (int)left_ms) > 0
                            ? recv(socket, bytes.data + bytes.length, READ_AT_ONCE, MSG_DONTWAIT)
                            : 0;
        open = count > 0;
        bytes.length += open ? (size_t)count : 0;
        while ((state = mishap_frame_read(mishap_buffer_text(&bytes), &frame, &size)) ==
                   MISHAP_FRAME_WHOLE &&
               frame.type == MISHAP_FRAME_CHANGED) {
            memmove(bytes.data, bytes.data + size, bytes.length - size);
            bytes.length -= size;
        }
    }
    open = open && state == MISHAP_FRAME_WHOLE && frame.type == MISHAP_FRAME_OPENED &&
           mishap_frame_take_opened(frame.payload, identity, failure);
    mishap_buffer_release(&bytes);
    return open;
}

/* Ask a worker to open its service, and wait for the answer. */
static mishap *try_service(const mishap_keeper *keeper, int socket, uint32_t number,
                           mishap_worker_group *group)
{
    mishap_keeper_message asked = { .word = MISHAP_KEEPER_START, .group = number }, answer;
    int files[MISHAP_KEEPER_FILES];
    size_t count;
    if (!mishap_keeper_send(socket, &asked, NULL, 0))
        return lost(group);
    await_answer(keeper, socket);
    if (mishap_keeper_receive(socket, &answer, files, &count, 0) <= 0)
        return lost(group);
    if (answer.word == MISHAP_KEEPER_REFUSED && !count)
        return mishap_worker_no_process(answer.status);
    if (answer.word != MISHAP_KEEPER_STARTED || count != MISHAP_KEEPER_FILES)
        return lost(group);
    mishap *failure = NULL;
    group->opened = mishap_keeper_open_service(files[0], SERVICE_PATIENCE_MS, group->identity,
                                               &failure) &&
                    !failure;
    if (!group->opened && !failure)
        failure = lost(group);
    close(files[0]);
    close(files[1]);
    return failure;
}

mishap *mishap_keeper_try_services(mishap_keeper *keeper, mishap_worker_groups *groups)
{
    mishap *failure = NULL;
    for (size_t i = 0; i < groups->count && !failure; i++) {
        int loop, kept;
        if (!groups->groups[i].service || groups->groups[i].program || groups->groups[i].foreign)
            continue;
        if (!mishap_keeper_connect(keeper, &loop, &kept))
            return lost(&groups->groups[i]);
        failure = try_service(keeper, loop, (uint32_t)i, &groups->groups[i]);
        close(loop);
        mishap_keeper_disconnect(keeper, kept);
    }
    return failure;
}
