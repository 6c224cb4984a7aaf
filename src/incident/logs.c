/* The processes that write logs, as seen from the other processes: start, restart, hand over,
 * end. */
#include "incident/logs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/life.h"
#include "base/shared.h"
#include "base/signals.h"
#include "incident/incident.h"
#include "incident/readers.h"

enum {
    QUEUE = 1 << 20, /* bytes, if the system allows that */
    READY_MS = 2000, /* time for a log to be opened, before anything else is written to stderr */
    END_MS = 1000,   /* at the end: time to write what was handed over … */
    END_MOST_MS = 10000,         /* … if it waits for a processor … */
    KILLED_MS = 100,             /* … and time for a killed process to be gone */
    AGAIN_NS = 500000000,        /* pause after a bad start */
    SOUND_START_NS = 1000000000, /* a process that ran for so long had a good start */
    PATIENCE_MS = 100,           /* of a command, if the pipe at stderr is full … */
    FULL_NS = 1000000000,        /* … after which it does not wait again for so long */
    LONGEST_LINE = 1024,         /* of a formatted line */
};

/* The state of a process with one thread; -1: not open. */
static struct {
    bool begun;
    bool json_errors; /* records go to standard error as JSON, too */
    const char *role; /* of this process; NULL: a command */
    mishap_logs_plan plan;
    mishap_log_counts *counts;    /* shared */
    mishap_limits *limits;        /* shared */
    mishap_ring *ring;            /* shared */
    mishap_incident_counts *told; /* shared */
    int real_error;               /* the original standard error */
    struct log {
        pid_t pid; /* 0: none runs */
        bool open; /* the first process could open its file */
        int in, out;
        int64_t begun_ns;
        int64_t start_at_ns; /* when to start it again; 0: it runs, or is not wanted */
    } logs[MISHAP_LOGS];
} all = { .real_error = -1,
          .logs = { { .in = -1, .out = -1 }, { .in = -1, .out = -1 }, { .in = -1, .out = -1 } } };

/* -- starting ---------------------------------------------------------------------------------- */

static void start_writer(mishap_log_kind which, int ready)
{
    struct log *log = &all.logs[which];
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        mishap_log_writer_run((mishap_log_writer){ .log = which,
                                                   .plan = &all.plan,
                                                   .counts = &all.counts[which],
                                                   .ring = all.ring,
                                                   .told = all.told,
                                                   .parent = parent,
                                                   .in = log->in,
                                                   .real_error = all.real_error,
                                                   .ready = ready });
    log->begun_ns = mishap_clock_monotonic_ns();
    log->pid = pid > 0 ? pid : 0;
    log->start_at_ns = pid > 0 ? 0 : log->begun_ns + AGAIN_NS;
}

/* Start the first process, and wait until it has reported. */
static mishap *start_first(mishap_log_kind which)
{
    int ends[2] = { -1, -1 };
    if (pipe2(ends, O_CLOEXEC) != 0)
        return mishap_raise(UNAVAILABLE, "The process that writes the log could not be started.");
    start_writer(which, ends[1]);
    int error = errno;
    close(ends[1]);
    struct pollfd ready = { .fd = ends[0], .events = POLLIN };
    char byte;
    if (all.logs[which].pid && poll(&ready, 1, READY_MS) == 1)
        all.logs[which].open = read(ends[0], &byte, 1) == 1;
    close(ends[0]);
    if (all.logs[which].pid)
        return NULL;
    return mishap_note(mishap_raise(UNAVAILABLE, "The process that writes the log could not be "
                                                 "started."),
                       "reason", strerror(error));
}

static mishap *cannot_open(void)
{
    return mishap_note(mishap_raise(UNAVAILABLE, "There can be no queue for a log."), "reason",
                       strerror(errno));
}

static mishap *open_packets(mishap_log_kind which)
{
    int ends[2], size = QUEUE;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return cannot_open();
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    all.logs[which].in = ends[0];
    all.logs[which].out = ends[1];
    return start_first(which);
}

/* A log that cannot block needs no process. */
static bool is_nothing(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
}

/* Only the writing end is non-blocking, and only in this process and its forks: workers open it
 * once more (worker/spawn/child.c), since programs that a handler starts may change that. */
static mishap *open_errors(void)
{
    int ends[2];
    if (is_nothing(STDERR_FILENO))
        return NULL;
    all.real_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (all.real_error < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return cannot_open();
    fcntl(ends[1], F_SETPIPE_SZ, QUEUE);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    all.logs[MISHAP_LOG_ERRORS].in = ends[0];
    all.logs[MISHAP_LOG_ERRORS].out = ends[1];
    mishap *failure = start_first(MISHAP_LOG_ERRORS);
    if (!failure && dup2(ends[1], STDERR_FILENO) < 0)
        failure = cannot_open();
    return failure;
}

mishap *mishap_logs_begin(const mishap_logs_plan *plan)
{
    mishap *failure = NULL;
    all.plan = *plan;
    all.begun = true;
    all.json_errors = plan->json_errors;
    all.role = "supervisor";
    all.ring = mishap_ring_make(plan->processes);
    all.counts = mishap_shared_map(MISHAP_LOGS * sizeof *all.counts);
    all.limits = mishap_limits_make();
    all.told = mishap_shared_map(sizeof *all.told);
    if (!all.counts || !all.limits || !all.told || !all.ring)
        failure = mishap_out_of_memory();
    if (!failure)
        failure = open_errors();
    if (!failure && !mishap_incident_log_is_off(plan->program))
        failure = open_packets(MISHAP_LOG_INCIDENTS);
    if (!failure && plan->access)
        failure = open_packets(MISHAP_LOG_ACCESS);
    if (failure)
        mishap_logs_end();
    return failure;
}

/* -- watching ---------------------------------------------------------------------------------- */

bool mishap_logs_ended(int pid, int status)
{
    for (size_t i = 0; i < MISHAP_LOGS && pid > 0; i++) {
        struct log *log = &all.logs[i];
        if (log->pid != pid)
            continue;
        if (WIFSTOPPED(status)) {
            mishap_signal_process(pid, SIGKILL);
            return true;
        }
        int64_t now = mishap_clock_monotonic_ns();
        log->pid = 0;
        log->start_at_ns = now - log->begun_ns < SOUND_START_NS ? now + AGAIN_NS : now;
        mishap_log_lose((mishap_log_kind)i, atomic_exchange(&all.counts[i].in_hand, 0));
        mishap_log_say("%s: the process that writes a log has ended; another takes its place\n",
                       all.plan.program);
        mishap_logs_look();
        return true;
    }
    return false;
}

void mishap_logs_look(void)
{
    for (size_t i = 0; i < MISHAP_LOGS; i++) {
        struct log *log = &all.logs[i];
        int status;
        pid_t pid = log->pid ? waitpid(log->pid, &status, WNOHANG | WUNTRACED) : 0;
        if (pid > 0)
            mishap_logs_ended(pid, status);
        if (log->start_at_ns && mishap_clock_monotonic_ns() >= log->start_at_ns)
            start_writer((mishap_log_kind)i, -1);
    }
}

void mishap_logs_reopen(void)
{
    if (all.logs[MISHAP_LOG_ACCESS].pid)
        mishap_signal_process(all.logs[MISHAP_LOG_ACCESS].pid, SIGHUP);
}

/* -- the end ----------------------------------------------------------------------------------- */

/* On a busy machine a process can wait for a processor for longer than its time. */
static bool has_ended(struct log *log, int wait_ms)
{
    int status;
    for (int i = 0;
         log->pid && (i < wait_ms || (i < END_MOST_MS && mishap_life_state(log->pid) == 'R'));
         i++) {
        pid_t pid = waitpid(log->pid, &status, WNOHANG);
        if (pid == log->pid || (pid < 0 && errno == ECHILD))
            log->pid = 0;
        else
            poll(NULL, 0, 1);
    }
    return !log->pid;
}

/* A process that hangs so that even SIGKILL has no effect is left to the system. */
static void end_some(mishap_log_kind first, mishap_log_kind last)
{
    for (size_t i = first; i <= last; i++)
        if (all.logs[i].pid)
            mishap_signal_process(all.logs[i].pid, SIGUSR2);
    for (size_t i = first; i <= last; i++)
        has_ended(&all.logs[i], END_MS);
    for (size_t i = first; i <= last; i++)
        if (all.logs[i].pid) {
            mishap_signal_process(all.logs[i].pid, SIGKILL);
            has_ended(&all.logs[i], KILLED_MS);
            all.logs[i].pid = 0;
        }
}

static void close_file(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

/* The other logs may report something on stderr, so its process ends last. */
void mishap_logs_end(void)
{
    if (!all.begun)
        return;
    end_some(MISHAP_LOG_INCIDENTS, MISHAP_LOG_ACCESS);
    if (all.real_error >= 0)
        dup2(all.real_error, STDERR_FILENO);
    end_some(MISHAP_LOG_ERRORS, MISHAP_LOG_ERRORS);
    for (size_t i = 0; i < MISHAP_LOGS; i++) {
        close_file(&all.logs[i].in);
        close_file(&all.logs[i].out);
        all.logs[i] = (struct log){ .in = -1, .out = -1 };
    }
    close_file(&all.real_error);
    mishap_limits_free(all.limits);
    mishap_ring_free(all.ring);
    mishap_shared_unmap(all.counts, MISHAP_LOGS * sizeof *all.counts);
    mishap_shared_unmap(all.told, sizeof *all.told);
    all.told = NULL;
    all.limits = NULL;
    all.ring = NULL;
    all.counts = NULL;
    all.role = NULL;
    all.begun = false;
}

void mishap_logs_forget(void)
{
    for (size_t i = 0; i < MISHAP_LOGS; i++)
        all.logs[i] = (struct log){ .in = -1, .out = -1 };
    all.real_error = -1;
    all.counts = NULL;
    all.limits = NULL;
    all.told = NULL;
    all.ring = NULL;
    all.role = "worker";
    all.begun = false;
}

void mishap_logs_leave(void)
{
    all.role = "loop";
    for (size_t i = 0; i < MISHAP_LOGS; i++) {
        close_file(&all.logs[i].in);
        all.logs[i].pid = 0;
        all.logs[i].start_at_ns = 0;
    }
    close_file(&all.real_error);
}

/* -- handing over ------------------------------------------------------------------------------ */

mishap_limits *mishap_logs_limits(void)
{
    return mishap_log_is_kept(MISHAP_LOG_INCIDENTS) ? all.limits : NULL;
}

mishap_ring *mishap_logs_ring(void)
{
    return mishap_log_is_kept(MISHAP_LOG_INCIDENTS) ? all.ring : NULL;
}

const char *mishap_logs_role(void)
{
    return all.role ? all.role : "command";
}

bool mishap_log_is_json(void)
{
    return all.json_errors;
}

mishap_incident_counts *mishap_incident_counts_shared(void)
{
    return all.told;
}

bool mishap_log_is_kept(mishap_log_kind log)
{
    return all.logs[log].out >= 0;
}

bool mishap_log_is_open(mishap_log_kind log)
{
    return all.logs[log].open;
}

/* The log says how much it has lost when it has room again; stderr says at once that it has
 * none. */
void mishap_log_lose(mishap_log_kind log, size_t count)
{
    if (!all.counts || !count)
        return;
    if (log == MISHAP_LOG_INCIDENTS && all.told)
        atomic_fetch_add(&all.told->lost, count);
    if (atomic_fetch_add(&all.counts[log].lost, count))
        return;
    if (log != MISHAP_LOG_ERRORS)
        mishap_log_say("%s: the %s log is not written fast enough; what is lost is counted\n",
                       all.plan.program, log == MISHAP_LOG_ACCESS ? "access" : "incident");
}

/* sendmsg() only reads it. */
static struct iovec piece_of(mishap_text text)
{
    union {
        const char *given;
        void *base;
    } start = { text.data };
    return (struct iovec){ start.base, text.length };
}

/* A packet of no bytes would look like the end of the queue, so each has one in front. */
bool mishap_log_add(mishap_log_kind log, mishap_text record)
{
    char mark = '.';
    struct iovec pieces[] = { { &mark, 1 }, piece_of(record) };
    struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2 };
    ssize_t count;
    do
        count = sendmsg(all.logs[log].out, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    return count >= 0;
}

/* -- standard error ---------------------------------------------------------------------------- */

static size_t count_lines(mishap_text text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++)
        count += text.data[i] == '\n' || i + 1 == text.length;
    return count;
}

/* As many whole lines as a pipe takes at once, or a part of a longer one. */
static size_t piece_length(mishap_text text)
{
    if (text.length <= PIPE_BUF)
        return text.length;
    const char *feed = memrchr(text.data, '\n', PIPE_BUF);
    return feed ? (size_t)(feed + 1 - text.data) : PIPE_BUF;
}

/* Write to the pipe of the process that writes standard error. Its descriptor is non-blocking. */
static void write_to_pipe(mishap_text text)
{
    while (text.length) {
        size_t length = piece_length(text);
        ssize_t count = write(STDERR_FILENO, text.data, length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            mishap_log_lose(MISHAP_LOG_ERRORS, count_lines(text));
            return;
        }
        text.data += count;
        text.length -= (size_t)count;
    }
}

/* Write without blocking, if the kernel supports it: others may have filled the pipe meanwhile. */
static ssize_t write_now(int file, mishap_text text)
{
    struct iovec piece = piece_of(text);
    ssize_t count = pwritev2(file, &piece, 1, -1, RWF_NOWAIT);
    bool cannot = count < 0 && errno != EAGAIN && errno != EINTR && errno != EPIPE;
    return cannot ? write(file, text.data, text.length) : count;
}

/* A pipe without a reader must not hold up a command: it gets some time, and after that none for a
 * second. poll() promises room for one piece only. */
static void write_by_self(mishap_text text)
{
    static _Atomic int64_t full_ns; /* when it was last found full */
    struct pollfd file = { .fd = STDERR_FILENO, .events = POLLOUT };
    int64_t begun = mishap_clock_monotonic_ns(), full = atomic_load(&full_ns);
    int patience = full && begun - full < FULL_NS ? 0 : PATIENCE_MS;
    while (text.length) {
        int left = patience - (int)((mishap_clock_monotonic_ns() - begun) / 1000000);
        if (poll(&file, 1, left > 0 ? left : 0) <= 0) {
            atomic_store(&full_ns, mishap_clock_monotonic_ns());
            return;
        }
        mishap_text piece = { text.data, text.length < PIPE_BUF ? text.length : PIPE_BUF };
        ssize_t count = write_now(STDERR_FILENO, piece);
        if (count < 0 && errno != EAGAIN && errno != EINTR)
            return;
        text.data += count > 0 ? count : 0;
        text.length -= count > 0 ? (size_t)count : 0;
    }
}

void mishap_log_error(mishap_text lines)
{
    if (mishap_log_is_kept(MISHAP_LOG_ERRORS))
        write_to_pipe(lines);
    else
        write_by_self(lines);
}

void mishap_log_say(const char *format, ...)
{
    char line[LONGEST_LINE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof line) {
        length = (int)sizeof line - 1;
        line[length - 1] = '\n';
    }
    if (length > 0)
        mishap_log_error((mishap_text){ line, (size_t)length });
}
