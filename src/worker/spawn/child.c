/*
 * The first steps of a child process that was just forked, for a worker or a foreign program:
 * descriptors, signals, limits. Runs in the child.
 */
#include "worker/spawn/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/signals.h"
#include "base/system.h"

enum { FIRST_FILE = 16 };

/* -- descriptors ------------------------------------------------------------------------------- */

/*
 * In a server, stderr is a non-blocking pipe. Non-blocking is a property of the open file, and
 * programs that a handler starts may change it for all processes that share it. So a worker opens
 * the pipe again, in blocking mode: no output of a handler is lost as long as the pipe is read.
 */
static void open_error_again(void)
{
    struct stat status;
    if (fstat(STDERR_FILENO, &status) != 0 || !S_ISFIFO(status.st_mode))
        return;
    int file = open("/proc/self/fd/2", O_WRONLY | O_CLOEXEC);
    if (file >= 0)
        dup2(file, STDERR_FILENO);
}

/* The descriptors to keep are moved to high numbers first, so that they do not overwrite each
 * other. */
static bool arrange_files(int *files, size_t count)
{
    int last = FIRST_FILE - 1, nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (size_t i = 0; i < count; i++) {
        files[i] = fcntl(files[i], F_DUPFD_CLOEXEC, FIRST_FILE + MISHAP_CHILD_FILES);
        if (files[i] < 0)
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (dup3(files[i], FIRST_FILE + (int)i, O_CLOEXEC) < 0)
            return false;
        files[i] = last = FIRST_FILE + (int)i;
    }
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
        return false;
    open_error_again();
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 && dup2(nothing, STDOUT_FILENO) < 0)
        return false;
    for (int file = STDERR_FILENO + 1; file < FIRST_FILE; file++)
        if (file != nothing)
            dup3(nothing, file, O_CLOEXEC);
    return close_range((unsigned)last + 1, ~0U, 0) == 0;
}

/* -- signals ----------------------------------------------------------------------------------- */

static pid_t worker; /* the worker, not a child process that its handler forks */

static void no_matter(int signal)
{
    (void)signal;
}

/* For a signal that a worker does not use. Sent by another process, it has no effect. Sent by the
 * handler itself, or by a timer that the handler set, it has its default effect; so has any signal
 * in a child process that the handler has forked. */
static void on_unused(int number, siginfo_t *info, void *context)
{
    bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
    (void)context;
    if (sent && info->si_pid != worker && getpid() == worker)
        return;
    signal(number, SIG_DFL);
    raise(number); /* delivered when this function returns */
}

static void catch_unused(int number, void *action)
{
    sigaction(number, action, NULL);
}

/* systemd or a terminal may send a signal to the whole process group: what it means is for the
 * supervisor to decide. SIGPIPE and SIGXFSZ are reported as errors of write() instead. The signals
 * are caught without effect, not ignored: so programs that a handler executes start with the
 * default action. */
static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    struct sigaction unused = { .sa_sigaction = on_unused, .sa_flags = SA_SIGINFO | SA_RESTART };
    sigemptyset(&unused.sa_mask);
    worker = getpid();
    mishap_signals_unused(catch_unused, &unused);
    struct sigaction action = { .sa_handler = no_matter, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    static const int caught[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ };
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* -- limits ------------------------------------------------------------------------------------ */

/* 0: no limit but that of the system. */
static bool limit(int resource, uint64_t most, uint64_t spare)
{
    return !most || mishap_system_limit(resource, most, spare);
}

/* A sanitizer or valgrind uses most of the memory of the process itself. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif

static bool set_limits(const mishap_worker_limits *limits)
{
#ifdef WATCHED
    uint64_t memory = 0;
#else
    uint64_t memory = limits->memory_bytes;
#endif
    /* At the soft limit of processor time the process gets SIGXCPU, which says why it died. At the
     * hard limit it would get SIGKILL, which does not. */
    return limit(RLIMIT_DATA, memory, 0) && limit(RLIMIT_CPU, limits->cpu_seconds, 1) &&
           limit(RLIMIT_NOFILE, limits->files, 0) && limit(RLIMIT_NPROC, limits->processes, 0) &&
           limit(RLIMIT_FSIZE, limits->file_bytes, 0);
}

/* If the machine runs out of memory, the kernel should kill a worker before other processes. */
static void be_first_to_go(void)
{
    mishap_system_write("/proc/self/oom_score_adj", "1000");
}

bool mishap_child_begin(int keeper, const mishap_worker_limits *limits, int *files, size_t count)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        return false;
    prctl(PR_SET_NAME, "mishap-handler");
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    be_first_to_go();
    reset_signals();
    return arrange_files(files, count) && set_limits(limits);
}

/* -- a foreign program ------------------------------------------------------------------------- */

static bool arrange_foreign_files(int socket, int output)
{
    enum { ABOVE = 16 };
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    socket = fcntl(socket, F_DUPFD_CLOEXEC, ABOVE); /* to a number above the others */
    output = fcntl(output, F_DUPFD_CLOEXEC, ABOVE);
    if (nothing < 0 || socket < 0 || output < 0)
        return false;
    nothing = fcntl(nothing, F_DUPFD_CLOEXEC, ABOVE);
    /* The other descriptors are closed here and not by exec: a keeper with many sessions has more
     * of them open than the program may have. */
    return nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
           dup2(output, STDERR_FILENO) >= 0 && dup2(socket, STDERR_FILENO + 1) >= 0 &&
           close_range(STDERR_FILENO + 2, ~0U, 0) == 0;
}

bool mishap_child_begin_foreign(int parent, int socket, int output)
{
    static const int ignored[] = { SIGTERM, SIGHUP, SIGPIPE };
    sigset_t none;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (parent && getppid() != parent)
        return false;
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    be_first_to_go();
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN); /* these are for its parent, which then ends it */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return arrange_foreign_files(socket, output);
}
