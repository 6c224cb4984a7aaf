#include "audit/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/process/orphans.h"
#include "audit/process/warden.h"
#include "base/search.h"
#include "base/signals.h"
#include "sandbox/sandbox.h"

enum {
    TIME_MS = 10000,
    GRACE_MS = 2000,
    KEEP = 1 << 20,
    MOST = 8 << 20,
    PIECE = 65536,
    LOOK_MS = 50,   /* between two looks at the processor time of a command */
    IDLE_LOOKS = 8, /* looks without any, after which it waits for something */
    FOLDER_MODE = 0700,
};

static int64_t after_ms(int64_t milliseconds)
{
    return mishap_clock_monotonic_ns() + milliseconds * 1000000;
}

static void close_file(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

/* -- starting ---------------------------------------------------------------------------------- */

/* The environment of the command, with room for its texts. */
typedef struct surroundings {
    mishap_audit_place place;
    char path[8192], language[128], home[256], temporary[256];
} surroundings;

static void add_variable(surroundings *s, size_t *count, char *room, size_t size, const char *name,
                         const char *value)
{
    int length = value ? snprintf(room, size, "%s=%s", name, value) : -1;
    if (length > 0 && (size_t)length < size)
        s->place.environment[(*count)++] = room;
}

/* Make the temporary folders. False: errno says why not. */
static bool make_place(surroundings *s, const mishap_audit_command *command)
{
    mishap_audit_place *place = &s->place;
    const char *above = getenv("TMPDIR");
    char temporary[sizeof place->home];
    size_t count = 0;
    above = above && above[0] == '/' && strlen(above) < 160 ? above : "/tmp";
    snprintf(place->root, sizeof place->root, "%s/mishap-audit-XXXXXX", above);
    if (!mkdtemp(place->root))
        return place->root[0] = '\0', false;
    snprintf(place->home, sizeof place->home, "%s/home", place->root);
    snprintf(place->work, sizeof place->work, "%s/work", place->root);
    snprintf(temporary, sizeof temporary, "%s/tmp", place->root);
    place->folder = command->same_folder ? NULL : place->work;
    add_variable(s, &count, s->path, sizeof s->path, "PATH", getenv("PATH"));
    add_variable(s, &count, s->language, sizeof s->language, "LANG", getenv("LANG"));
    add_variable(s, &count, s->home, sizeof s->home, "HOME", place->home);
    add_variable(s, &count, s->temporary, sizeof s->temporary, "TMPDIR", temporary);
    place->environment[count] = "TERM=dumb";
    place->file = open(place->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return place->file >= 0 && mkdir(place->home, FOLDER_MODE) == 0 &&
           mkdir(place->work, FOLDER_MODE) == 0 && mkdir(temporary, FOLDER_MODE) == 0;
}

/* A pipe whose end for the audit, `ours` (0: the reading one), does not block. */
static bool open_pipe(int ours, int *mine, int *theirs)
{
    int files[2];
    if (pipe2(files, O_CLOEXEC) != 0)
        return false;
    *mine = files[ours];
    *theirs = files[1 - ours];
    return fcntl(*mine, F_SETFL, O_NONBLOCK) == 0;
}

static bool open_files(mishap_audit_process *p, const mishap_audit_command *command,
                       mishap_audit_place *place)
{
    int sockets[2];
    bool fine = command->input ? open_pipe(1, &p->in, &place->in)
                               : (place->in = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;
    fine = fine && open_pipe(0, &p->from_out, &place->out) &&
           open_pipe(0, &p->from_err, &place->err) &&
           socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0;
    if (!fine)
        return false;
    p->warden = sockets[0];
    place->socket = sockets[1];
    if (command->unread)
        close_file(&p->from_out);
    return true;
}

/* The command has killed those that watch it. It is killed with all that it started, and its folder
 * is removed. */
static void take_over(mishap_audit_process *p)
{
    int status = SIGKILL; /* that of a command which was killed before it was looked for */
    int left = mishap_audit_kill_orphans(p->began, p->pid, &status);
    if (!p->gone && p->folder >= 0)
        mishap_sandbox_remove_opened(p->folder, p->root);
    if (!p->ended) {
        p->ended = p->killed = p->unwatched = true;
        p->status = status;
    }
    p->survivors += left > 1 ? left - 1 : 0;
    p->gone = true;
}

/* The first packet of the warden: the command runs, or errno says why not. */
static int hear_start(mishap_audit_process *p)
{
    mishap_audit_packet packet;
    ssize_t count;
    while ((count = recv(p->warden, &packet, sizeof packet, 0)) < 0 && errno == EINTR)
        continue;
    if (count != sizeof packet) { /* the command was faster than this first word of theirs */
        take_over(p);
        return 0;
    }
    p->pid = packet.value;
    if (packet.news == MISHAP_AUDIT_NEWS_STARTED)
        return 0;
    return packet.news == MISHAP_AUDIT_NEWS_REFUSED ? packet.value : ECHILD;
}

/* 0, or errno. The folder is the warden's to remove from the fork on. */
static int start_warden(const mishap_audit_command *command, mishap_audit_process *p,
                        surroundings *s)
{
    mishap_audit_place *place = &s->place;
    if (!make_place(s, command) || !open_files(p, command, place))
        return errno;
    memcpy(p->root, place->root, sizeof p->root);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    p->warden_pid = fork();
    if (p->warden_pid == 0) {
        close_file(&p->in);
        close_file(&p->warden);
        close_file(&p->from_out);
        close_file(&p->from_err);
        mishap_audit_warden(place);
    }
    if (p->warden_pid < 0)
        return errno;
    place->root[0] = '\0';
    p->began = mishap_audit_began(p->warden_pid);
    p->folder = place->file;
    place->file = -1;
    close_file(&place->socket);
    return hear_start(p);
}

/* Only folders that are empty are here: nothing ran in them. */
static void remove_place(const mishap_audit_place *place)
{
    char path[sizeof place->home];
    if (!place->root[0])
        return;
    snprintf(path, sizeof path, "%s/tmp", place->root);
    rmdir(path);
    rmdir(place->home);
    rmdir(place->work);
    rmdir(place->root);
}

static mishap *cannot_start(int error, const char *program)
{
    char words[128];
    mishap_system_error(error, words, sizeof words);
    if (error == EACCES || error == EPERM || error == ENOEXEC || error == EISDIR)
        return mishap_suggest(
            mishap_raise(NOT_AUTHORIZED, "The command %s cannot be executed: %s.", program, words),
            error == ENOEXEC ? "Name its interpreter, as in `python3 FILE`, or begin the file with "
                               "a line such as #!/bin/sh."
                             : "Make the file executable with `chmod +x`, or name its "
                               "interpreter, as in `python3 FILE`; a folder is no command.");
    if (error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG)
        return mishap_raise(NOT_FOUND, "There is no command %s: %s.", program, words);
    return mishap_raise(UNAVAILABLE, "The command %s cannot be started: %s.", program, words);
}

mishap *mishap_audit_process_start(const mishap_audit_command *command,
                                   mishap_audit_process *process)
{
    mishap_audit_process *p = process;
    surroundings s = {
        .place = { .argv = command->argv, .in = -1, .out = -1, .err = -1, .file = -1, .socket = -1 }
    };
    *p = (mishap_audit_process){
        .in = -1, .from_out = -1, .from_err = -1, .warden = -1, .folder = -1
    };
    p->keep = command->keep ? command->keep : KEEP;
    p->most = command->most ? command->most : MOST;
    p->grace_ms = command->grace_ms ? command->grace_ms : GRACE_MS;
    int error = command->argv[0] && mishap_search_program(command->argv[0], s.place.program,
                                                          sizeof s.place.program)
                    ? start_warden(command, p, &s)
                    : (command->argv[0] ? errno : ENOENT);
    close_file(&s.place.in);
    close_file(&s.place.out);
    close_file(&s.place.err);
    close_file(&s.place.file);
    close_file(&s.place.socket);
    remove_place(&s.place);
    if (error) {
        mishap_audit_process_close(p);
        return cannot_start(error, command->argv[0] ? command->argv[0] : "\"\"");
    }
    p->deadline_ns = after_ms(command->time_ms ? command->time_ms : TIME_MS);
    return NULL;
}

/* -- talking ----------------------------------------------------------------------------------- */

void mishap_audit_process_write(mishap_audit_process *process, mishap_text bytes)
{
    mishap_audit_process *p = process;
    if (p->in < 0)
        return;
    if (p->written == p->pending.length) {
        mishap_buffer_reset(&p->pending);
        p->written = 0;
    }
    mishap_buffer_put_text(&p->pending, bytes);
}

static bool is_all_written(const mishap_audit_process *p)
{
    return p->written >= p->pending.length;
}

/* Write to a pipe that may have lost its reader: SIGPIPE is blocked meanwhile, and taken back. */
static ssize_t write_quietly(int file, const char *data, size_t length)
{
    sigset_t broken, before, waiting;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&waiting);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    ssize_t count = write(file, data, length);
    int error = errno;
    if (count < 0 && error == EPIPE && !sigismember(&waiting, SIGPIPE))
        sigtimedwait(&broken, NULL, &(struct timespec){ 0 });
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return count;
}

static void write_some(mishap_audit_process *p)
{
    ssize_t count = write_quietly(p->in, p->pending.data + p->written,
                                  p->pending.length - p->written);
    if (count >= 0)
        p->written += (size_t)count;
    else if (errno != EAGAIN && errno != EINTR)
        close_file(&p->in);
}

void mishap_audit_process_end_input(mishap_audit_process *process)
{
    while (process->in >= 0 && !is_all_written(process) &&
           mishap_audit_process_wait(process, LOOK_MS))
        continue;
    close_file(&process->in);
}

/* Read what there is, at most a few pieces, so that no output keeps the others waiting. */
static void read_some(mishap_audit_process *p, int *file, mishap_buffer *kept, uint64_t *bytes)
{
    char piece[PIECE];
    for (int i = 0; i < 4 && *file >= 0; i++) {
        ssize_t count = read(*file, piece, sizeof piece);
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (count <= 0) {
            close_file(file);
            return;
        }
        *bytes += (uint64_t)count;
        size_t room = p->keep - (kept->length < p->keep ? kept->length : p->keep);
        mishap_buffer_put(kept, piece, (size_t)count < room ? (size_t)count : room);
    }
}

static void hear_warden(mishap_audit_process *p)
{
    mishap_audit_packet packet;
    ssize_t count = recv(p->warden, &packet, sizeof packet, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count != sizeof packet) { /* the warden has died, and its deputy */
        close_file(&p->warden);
        take_over(p);
    } else if (packet.news == MISHAP_AUDIT_NEWS_ENDED) {
        p->ended = true;
        p->status = packet.value;
    } else if (packet.news == MISHAP_AUDIT_NEWS_GONE) {
        p->gone = true;
        p->survivors = packet.value;
        p->files = packet.files;
        snprintf(p->file, sizeof p->file, "%.*s", (int)sizeof p->file - 1, packet.file);
    }
}

static void tell_warden(const mishap_audit_process *p, char word)
{
    if (p->warden >= 0)
        while (send(p->warden, &word, 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
            continue;
}

void mishap_audit_process_terminate(mishap_audit_process *process)
{
    if (process->terminated || process->ended)
        return;
    process->terminated = true;
    process->kill_ns = after_ms(process->grace_ms);
    tell_warden(process, MISHAP_AUDIT_TERMINATE);
}

/* Hold the process to its limits. How long may the audit wait until the next one? */
static int64_t keep_limits(mishap_audit_process *p)
{
    int64_t now = mishap_clock_monotonic_ns();
    if (p->ended || p->killed)
        return INT64_MAX;
    if (p->out_bytes + p->err_bytes > p->most && !p->flooded) {
        p->flooded = true;
        mishap_audit_process_terminate(p);
    }
    if (now >= p->deadline_ns && !p->overdue && !p->terminated) {
        p->overdue = true;
        mishap_audit_process_terminate(p);
    }
    if (p->terminated && now >= p->kill_ns) {
        p->killed = true;
        tell_warden(p, MISHAP_AUDIT_KILL);
        return INT64_MAX;
    }
    return (p->terminated ? p->kill_ns : p->deadline_ns) - now;
}

static bool is_over(const mishap_audit_process *p)
{
    return p->gone && p->from_out < 0 && p->from_err < 0;
}

/* Everything has ended: what is left in the pipes is read, though another process that is no
 * descendant may hold them open. */
static void read_rest(mishap_audit_process *p)
{
    for (uint64_t before = UINT64_MAX; before != p->out_bytes + p->err_bytes;) {
        before = p->out_bytes + p->err_bytes;
        read_some(p, &p->from_out, &p->out, &p->out_bytes);
        read_some(p, &p->from_err, &p->err, &p->err_bytes);
    }
    close_file(&p->from_out);
    close_file(&p->from_err);
}

/* Wait until there is something to read or to write, and do that. False: there is nothing. */
static bool serve_files(mishap_audit_process *p, int wait_ms)
{
    struct pollfd files[4] = { { p->from_out, POLLIN, 0 },
                               { p->from_err, POLLIN, 0 },
                               { p->warden, POLLIN, 0 },
                               { is_all_written(p) ? -1 : p->in, POLLOUT, 0 } };
    if (poll(files, 4, wait_ms) <= 0)
        return false;
    if (files[3].revents)
        write_some(p);
    if (files[0].revents)
        read_some(p, &p->from_out, &p->out, &p->out_bytes);
    if (files[1].revents)
        read_some(p, &p->from_err, &p->err, &p->err_bytes);
    if (files[2].revents)
        hear_warden(p);
    return true;
}

bool mishap_audit_process_wait(mishap_audit_process *process, int wait_ms)
{
    mishap_audit_process *p = process;
    if (is_over(p))
        return false;
    /* What has come is taken before the limits are kept: a command that has ended in time is not
     * overdue because this process had no time to notice it. */
    if (!serve_files(p, 0)) {
        int64_t left = keep_limits(p), wait_ns = (int64_t)wait_ms * 1000000;
        left = left < wait_ns ? left : wait_ns;
        serve_files(p, left < 0 ? 0 : (int)(left / 1000000) + 1);
    }
    keep_limits(p);
    if (p->gone)
        read_rest(p);
    return !is_over(p);
}

bool mishap_audit_process_settle(mishap_audit_process *process, int most_ms)
{
    int64_t end = after_ms(most_ms), used = -1;
    for (int idle = 0; !process->ended && idle < IDLE_LOOKS && mishap_clock_monotonic_ns() < end;) {
        char about[512];
        int64_t look = after_ms(LOOK_MS), now;
        while (!process->ended && (now = mishap_clock_monotonic_ns()) < look &&
               mishap_audit_process_wait(process, (int)((look - now) / 1000000)))
            continue;
        int64_t uses = mishap_clock_process_ns(process->pid);
        const char *state = mishap_system_read_about(process->pid, "stat", about, sizeof about)
                                ? mishap_system_stat_field(about, 3)
                                : NULL;
        idle = uses == used && state && *state == 'S' ? idle + 1 : 0;
        used = uses;
    }
    return !process->ended;
}

void mishap_audit_process_finish(mishap_audit_process *process)
{
    while (mishap_audit_process_wait(process, 1000))
        continue;
}

mishap *mishap_audit_process_run(const mishap_audit_command *command, mishap_audit_process *process)
{
    MISHAP_TRY(mishap_audit_process_start(command, process));
    mishap_audit_process_finish(process);
    return NULL;
}

/* The command may have stopped the deputy of the warden: it goes on. False: it was killed. */
static bool wait_for_warden(const mishap_audit_process *p)
{
    int status = 0;
    pid_t pid;
    if (p->warden_pid <= 0)
        return true;
    while (((pid = waitpid(p->warden_pid, &status, WUNTRACED)) < 0 && errno == EINTR) ||
           (pid > 0 && WIFSTOPPED(status)))
        if (pid > 0)
            mishap_signal_process(p->warden_pid, SIGCONT);
    return pid < 0 || WIFEXITED(status);
}

void mishap_audit_process_close(mishap_audit_process *process)
{
    mishap_audit_process *p = process;
    close_file(&p->in);
    close_file(&p->from_out);
    close_file(&p->from_err);
    close_file(&p->warden); /* the warden kills what is left */
    if (!wait_for_warden(p))
        take_over(p);
    p->warden_pid = 0;
    close_file(&p->folder);
    mishap_buffer_release(&p->out);
    mishap_buffer_release(&p->err);
    mishap_buffer_release(&p->pending);
}
