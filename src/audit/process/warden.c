/*
 * The warden runs between fork() and _exit() of a process that may have threads: it uses system
 * calls, and the functions of directories, whose memory glibc makes safe after fork().
 */
#include "audit/process/warden.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/process/orphans.h"
#include "base/base.h"
#include "base/signals.h"
#include "sandbox/sandbox.h"

enum {
    LINGER_LOOK_MS = 5, /* between two looks at descendants that outlive the command … */
    LINGER_LOOKS = 40,  /* … after which they are killed; looks and not a time, because a machine
                         * without time for this process has none for them */
    KILL_MS = 10000,    /* how long the warden goes on killing */
    MOST_FILES = 1000000,   /* files that are counted */
    DEEPEST = 64,           /* folders in folders in which files are counted */
    MOST_BYTES = 256 << 20, /* of one file that the command writes */
    READY = 'R',            /* a warden in its own namespace says so */
};

static int64_t now_ms(void)
{
    return mishap_clock_monotonic_ns() / 1000000;
}

static void warden_says(const mishap_audit_place *place, const mishap_audit_packet *packet)
{
    while (send(place->socket, packet, sizeof *packet, MSG_NOSIGNAL) < 0 && errno == EINTR)
        continue;
}

/* -- the command ------------------------------------------------------------------------------- */

static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The process id of this process as the audit sees it: that of the /proc of the audit. */
static pid_t outer_pid(int proc)
{
    char text[32] = "";
    bool read = proc >= 0 && readlinkat(proc, "self", text, sizeof text - 1) > 0;
    return read ? (pid_t)strtol(text, NULL, 10) : getpid();
}

/* The warden and the deputy are told the process id before the command can do anything. */
static _Noreturn void become_command(const mishap_audit_place *place, int refused, int deputy)
{
    pid_t pid = outer_pid(place->proc);
    const struct rlimit no_core = { 0, 0 }, bytes = { MOST_BYTES, MOST_BYTES };
    int files[3] = { place->in, place->out, place->err };
    (void)!write(deputy, &pid, sizeof pid);
    (void)!write(refused, &pid, sizeof pid);
    setsid();
    reset_signals();
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_FSIZE, &bytes);
    for (int i = 0; i < 3; i++)
        files[i] = fcntl(files[i], F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 3; i++)
        dup2(files[i], i);
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (!place->folder || chdir(place->folder) == 0)
        execve(place->program, (char *const *)(uintptr_t)place->argv,
               (char *const *)(uintptr_t)place->environment);
    int error = errno;
    (void)!write(refused, &error, sizeof error);
    _exit(127);
}

/* The next number that the command wrote; 0: there is none. */
static int read_number(int file)
{
    int number = 0;
    while (read(file, &number, sizeof number) < 0 && errno == EINTR)
        continue;
    return number;
}

/* The process id of the command, and in `*outer` that which the audit knows it by; -1: errno says
 * why there is none. */
static pid_t start_command(const mishap_audit_place *place, int deputy, pid_t *outer)
{
    int refused[2], error = 0;
    if (pipe2(refused, O_CLOEXEC) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        become_command(place, refused[1], deputy);
    error = pid < 0 ? errno : 0;
    close(refused[1]);
    if (pid > 0) {
        *outer = read_number(refused[0]);
        error = read_number(refused[0]);
    }
    close(refused[0]);
    if (pid > 0 && error)
        waitpid(pid, NULL, 0);
    errno = error;
    return error ? -1 : pid;
}

/* -- what is left of it ------------------------------------------------------------------------ */

typedef struct watch {
    const mishap_audit_place *place;
    pid_t command; /* 0: it was waited for */
} watch;

/* Wait for all children that have ended. True: there is none any more. */
static bool reap(watch *w)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid > 0 && pid == w->command) {
            mishap_audit_packet packet = { .news = MISHAP_AUDIT_NEWS_ENDED, .value = status };
            w->command = 0;
            warden_says(w->place, &packet);
        } else if (pid <= 0)
            return pid < 0 && errno == ECHILD;
    }
}

static void sleep_briefly(long milliseconds)
{
    nanosleep(&(struct timespec){ .tv_nsec = milliseconds * 1000000 }, NULL);
}

/* Kill all descendants: a child whose parent dies becomes a child of this process. */
static void kill_all(watch *w)
{
    static pid_t pids[MISHAP_AUDIT_MOST_PROCESSES];
    for (int64_t end = now_ms() + KILL_MS; !reap(w) && now_ms() < end; sleep_briefly(2)) {
        int count = mishap_audit_list_children(0, pids);
        for (int i = 0; i < count; i++)
            mishap_signal_process(pids[i], SIGKILL);
        if (w->command)
            mishap_signal_group(w->command, SIGKILL);
    }
}

/* The command has ended: wait a moment for the others. How many are left? */
static int linger(watch *w)
{
    static pid_t pids[MISHAP_AUDIT_MOST_PROCESSES];
    for (int look = 0; look < LINGER_LOOKS; look++, sleep_briefly(LINGER_LOOK_MS))
        if (reap(w))
            return 0;
    return reap(w) ? 0 : mishap_audit_list_children(0, pids);
}

/* -- its files --------------------------------------------------------------------------------- */

static void note_file(mishap_audit_packet *packet, const char *path)
{
    packet->files++;
    if (!packet->file[0] || strcmp(path, packet->file) < 0)
        snprintf(packet->file, sizeof packet->file, "%s", path);
}

static void count_files(int above, const char *name, const char *path, int depth,
                        mishap_audit_packet *packet)
{
    int file = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = file >= 0 ? fdopendir(file) : NULL;
    const struct dirent *entry;
    if (file >= 0 && !folder)
        close(file);
    while (folder && depth < DEEPEST && packet->files < MOST_FILES && (entry = readdir(folder))) {
        struct stat status;
        char inside[sizeof packet->file];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(file, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        snprintf(inside, sizeof inside, "%.60s%s%.60s", path, *path ? "/" : "", entry->d_name);
        if (S_ISDIR(status.st_mode))
            count_files(file, entry->d_name, inside, depth + 1, packet);
        else
            note_file(packet, inside);
    }
    if (folder)
        closedir(folder);
}

/* -- the warden -------------------------------------------------------------------------------- */

/* No signal has an effect but SIGKILL. */
static void block_signals(void)
{
    sigset_t all;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

static int read_child_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Until the command has ended, or everything is to be killed. */
static void attend(watch *w, int children)
{
    struct pollfd files[2] = { { w->place->socket, POLLIN, 0 }, { children, POLLIN, 0 } };
    while (!reap(w) && w->command) {
        struct signalfd_siginfo info;
        char word = 0;
        poll(files, children >= 0 ? 2 : 1, children >= 0 ? -1 : 10);
        while (children >= 0 && read(children, &info, sizeof info) > 0)
            continue;
        if (!(files[0].revents & (POLLIN | POLLHUP | POLLERR)))
            continue;
        ssize_t count = recv(w->place->socket, &word, 1, MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (count != 1 || word == MISHAP_AUDIT_KILL)
            return;
        mishap_signal_group(w->command, SIGTERM);
    }
}

/* Keep only these descriptors, as 3 and those behind it. */
static void leave_descriptors(int *const *kept, int count)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < count; i++)
        *kept[i] = fcntl(*kept[i], F_DUPFD_CLOEXEC, 3 + count);
    for (int file = 0; file < 3; file++)
        dup2(nothing, file);
    for (int i = 0; i < count; i++)
        *kept[i] = dup3(*kept[i], 3 + i, O_CLOEXEC);
    close_range(3 + (unsigned)count, ~0U, 0);
}

/* The command runs, or has ended already: wait for its end, and leave nothing of it. */
static _Noreturn void see_to_its_end(watch *w)
{
    const mishap_audit_place *place = w->place;
    mishap_audit_packet packet = { .news = MISHAP_AUDIT_NEWS_GONE };
    int children = read_child_signals();
    if (w->command > 0) {
        attend(w, children);
        packet.value = w->command ? 0 : linger(w);
    }
    kill_all(w);
    fchmod(place->file, S_IRWXU); /* the command may have closed it */
    count_files(place->file, "home", "", 0, &packet);
    count_files(place->file, "work", "", 0, &packet);
    mishap_sandbox_remove_opened(place->file, place->root);
    warden_says(place, &packet);
    _exit(0);
}

/* Say whether the command runs. Those that are told twice take the first word. */
static void say_start(const mishap_audit_place *place, pid_t command, int error)
{
    mishap_audit_packet packet = { .news = MISHAP_AUDIT_NEWS_STARTED, .value = command };
    if (command <= 0)
        packet = (mishap_audit_packet){ .news = MISHAP_AUDIT_NEWS_REFUSED, .value = error };
    warden_says(place, &packet);
}

/* A /proc of the namespace of this process, for the command: else the process ids that it sees
 * there were not those of its own system calls. False: the system does not allow it. */
static bool mount_proc(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

/* `ready`: it has a namespace of its own, and says there that it is ready; -1: it has none. */
static _Noreturn void be_warden(mishap_audit_place *place, int deputy, int ready)
{
    int *const kept[] = { &place->socket, &place->file };
    watch w = { .place = place };
    pid_t outer = 0;
    const char word = READY;
    place->proc = ready >= 0 ? open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (ready >= 0 && (place->proc < 0 || !mount_proc() || write(ready, &word, 1) != 1))
        _exit(1);
    if (ready >= 0)
        close(ready);
    prctl(PR_SET_NAME, "mishap-warden");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    w.command = start_command(place, deputy, &outer);
    say_start(place, w.command > 0 ? outer : w.command, errno);
    w.command = w.command > 0 ? w.command : 0;
    leave_descriptors(kept, 2);
    see_to_its_end(&w);
}

/* Wait for the warden. False: it was killed or stopped. */
static bool warden_did_its_work(pid_t warden)
{
    int status = 0;
    pid_t pid;
    while ((pid = waitpid(warden, &status, WUNTRACED)) < 0 && errno == EINTR)
        continue;
    if (pid == warden && WIFEXITED(status))
        return true;
    if (pid == warden && WIFSTOPPED(status)) {
        mishap_signal_process(warden, SIGKILL);
        while (waitpid(warden, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    return false;
}

/* Start the warden as the first process of a new namespace of processes: the command cannot name a
 * process outside of it, cannot kill the first one, and does not outlive it. -1: the system does
 * not allow it, which is so for most users but root. */
static pid_t start_apart(mishap_audit_place *place, int deputy)
{
    int ready[2] = { -1, -1 };
    char word = 0;
    pid_t warden = -1;
    int before = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
    if (before < 0 || pipe2(ready, O_CLOEXEC) != 0 || unshare(CLONE_NEWPID) != 0)
        goto done;
    warden = fork();
    if (warden == 0) {
        close(before);
        close(ready[0]);
        be_warden(place, deputy, ready[1]);
    }
    close(ready[1]);
    ready[1] = -1;
    while (warden > 0 && read(ready[0], &word, 1) < 0 && errno == EINTR)
        continue;
    if (word != READY) { /* it has ended, without a command */
        while (warden > 0 && waitpid(warden, NULL, 0) < 0 && errno == EINTR)
            continue;
        warden = -1;
        setns(before, CLONE_NEWPID);
    }
done:
    for (int i = 0; i < 2; i++)
        if (ready[i] >= 0)
            close(ready[i]);
    if (before >= 0)
        close(before);
    return warden;
}

_Noreturn void mishap_audit_warden(mishap_audit_place *place)
{
    int told[2] = { -1, -1 };
    int *const kept[] = { &place->socket, &place->file, &told[0] };
    watch w = { .place = place };
    pid_t warden = -1;
    setsid();
    prctl(PR_SET_NAME, "mishap-deputy");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    block_signals();
    if (pipe2(told, O_CLOEXEC | O_NONBLOCK) == 0) {
        warden = start_apart(place, told[1]);
        if (warden < 0 && (warden = fork()) == 0)
            be_warden(place, told[1], -1);
    }
    int error = errno;
    leave_descriptors(kept, 3);
    if (warden > 0 && warden_did_its_work(warden))
        _exit(0);
    if (warden < 0 || read(told[0], &w.command, sizeof w.command) != sizeof w.command)
        w.command = 0;
    say_start(place, w.command, warden < 0 ? error : ECHILD);
    see_to_its_end(&w);
}
