/*
 * The process that writes one log.
 *
 * Only this process waits for a pipe or a file system. It writes all records that are there
 * together, and then sleeps for a moment: until then, further records do not wake it. Incidents
 * stay in shared memory until they are written (ring.h), so this process may be killed at any time.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/signals.h"
#include "incident/drain.h"
#include "incident/file.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "incident/record.h"
#include "incident/sync.h"

enum {
    BATCH = 256 << 10,
    REST_NS = 2000000,
    LOOK_MS = 1000,       /* interval of the checks for counts to be reported */
    OTHERS_MS = 500,      /* and of those for lines that commands have appended to the log */
    GATHER_MS = 250,      /* how long compact records are gathered */
    IDLE_TURNS = 8,       /* after so many without a record, the next one wakes this process */
    SLOW_MS = 1000,       /* if stderr takes nothing for so long, lines are dropped … */
    SLOW_AT_END_MS = 300, /* … when the program ends */
    ORPHAN_S = 5,         /* how long it goes on for loops whose supervisor is gone */
};

static volatile sig_atomic_t asked_to_end, asked_to_reopen;

static struct {
    mishap_log_writer by;
    mishap_log_file file;
    char path[MISHAP_LOG_PATH]; /* empty: there is no place for the log */
    off_t synced;               /* bytes of the log that are on the disk, or soon will be */
    size_t length;              /* bytes in `batch` */
    bool torn;                  /* the last line on stderr is incomplete */
    char batch[BATCH];
} w;

/* -- signals ----------------------------------------------------------------------------------- */

/* Signals are blocked except while this process waits: so a signal cannot come just before that. */
static sigset_t waiting, working;

static void be_asked_to_end(void)
{
    asked_to_end = 1;
    signal(SIGALRM, SIG_DFL);
    alarm(ORPHAN_S); /* if its parent is gone, no other process ends it */
}

/* Only its parent, or the death of its parent, ends this process. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (number == SIGHUP)
        asked_to_reopen = 1;
    else if (info->si_pid == w.by.parent)
        be_asked_to_end();
}

static void take_signals(void)
{
    static const int ignored[] = { SIGTERM, SIGINT, SIGPIPE, SIGUSR1, SIGXFSZ };
    struct sigaction action = { .sa_sigaction = on_signal,
                                /* Without SA_RESTART, so that a signal interrupts a write. */
                                .sa_flags = SA_SIGINFO };
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&waiting);
    sigemptyset(&working);
    sigaddset(&working, SIGHUP);
    sigaddset(&working, SIGUSR2);
    sigprocmask(SIG_SETMASK, &working, NULL);
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    mishap_signals_survive();
}

/* Wait until there is something to read, a signal, or the time is over. */
static void wait_for_some(int most_ms)
{
    struct pollfd in = { .fd = w.by.in, .events = POLLIN };
    struct timespec most = { most_ms / 1000, most_ms % 1000 * 1000000L };
    ppoll(&in, 1, &most, &waiting);
}

/* -- descriptors ------------------------------------------------------------------------------- */

/* Close the files that were inherited from the parent, above all the other ends of the queues and
 * the standard output of a conversation. */
static void arrange_files(void)
{
    enum { IN = 3, READY, END };
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int in = fcntl(w.by.in, F_DUPFD_CLOEXEC, END);
    int ready = w.by.ready >= 0 ? fcntl(w.by.ready, F_DUPFD_CLOEXEC, END) : -1;
    if (w.by.log == MISHAP_LOG_ERRORS)
        dup2(w.by.real_error, STDERR_FILENO);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup3(in, IN, O_CLOEXEC);
    w.by.in = IN;
    if (ready >= 0)
        dup3(ready, READY, O_CLOEXEC);
    w.by.ready = ready >= 0 ? READY : -1;
    close_range(ready >= 0 ? END : READY, ~0U, 0);
}

/* Tell the process that waits whether the log is open. */
static void be_ready(bool open)
{
    if (w.by.ready >= 0 && open && write(w.by.ready, "", 1) < 0)
        open = false; /* then the start line does not name it */
    if (w.by.ready >= 0)
        close(w.by.ready);
    w.by.ready = -1;
}

/* -- standard error ---------------------------------------------------------------------------- */

static void count_lost(mishap_text text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.length; i++)
        lines += text.data[i] == '\n';
    atomic_fetch_add(&w.by.counts->lost, lines ? lines : 1);
}

/* False: it takes nothing, and the text is lost. */
static bool pass_on(mishap_text text)
{
    static bool slow; /* it took nothing the last time: then do not wait for it */
    struct pollfd file = { .fd = STDERR_FILENO, .events = POLLOUT };
    while (text.length) {
        int patience = slow ? 0 : asked_to_end ? SLOW_AT_END_MS : SLOW_MS;
        slow = poll(&file, 1, patience) == 0;
        if (slow)
            break;
        sigprocmask(SIG_SETMASK, &waiting, NULL);
        ssize_t count = write(STDERR_FILENO, text.data,
                              text.length < PIPE_BUF ? text.length : PIPE_BUF);
        int error = errno;
        sigprocmask(SIG_SETMASK, &working, NULL);
        if (count < 0 && error != EINTR && error != EAGAIN)
            return true; /* it has no reader any more */
        if (count > 0)
            w.torn = text.data[count - 1] != '\n';
        text.data += count > 0 ? count : 0;
        text.length -= count > 0 ? (size_t)count : 0;
    }
    if (text.length)
        count_lost(text);
    return !text.length;
}

static void tell_lost_lines(void)
{
    char line[200];
    uint64_t lost = atomic_exchange(&w.by.counts->lost, 0);
    if (!lost)
        return;
    int length = snprintf(line, sizeof line,
                          "%s%s: %llu lines of standard error were lost: its reader was too slow\n",
                          w.torn ? "\n" : "", w.by.plan->program, (unsigned long long)lost);
    struct pollfd file = { .fd = STDERR_FILENO, .events = POLLOUT };
    if (poll(&file, 1, 0) == 1 && pass_on((mishap_text){ line, (size_t)length }))
        return;
    atomic_fetch_add(&w.by.counts->lost, lost); /* reported the next time */
}

/* Handlers block when this pipe is full, so it is emptied even while its output is not read. */
static void relay(void)
{
    fcntl(w.by.in, F_SETFL, O_NONBLOCK);
    be_ready(true);
    for (;;) {
        ssize_t count = read(w.by.in, w.batch, sizeof w.batch);
        if (count > 0)
            pass_on((mishap_text){ w.batch, (size_t)count });
        else if (count == 0 || (asked_to_end && getppid() == w.by.parent))
            break;
        if (atomic_load(&w.by.counts->lost))
            tell_lost_lines();
        if (count < 0)
            wait_for_some(LOOK_MS);
    }
    tell_lost_lines();
}

/* -- files ------------------------------------------------------------------------------------- */

static bool write_out(mishap_text text)
{
    if (!w.path[0])
        return false;
    if (w.by.log == MISHAP_LOG_ACCESS) /* a signal tells when that file was rotated */
        w.file.looked_ns = mishap_clock_monotonic_ns();
    int stuck = w.file.stuck;
    if (!mishap_log_file_open(&w.file, w.path) || !mishap_log_file_rotate(&w.file, text.length))
        return false;
    if (w.file.stuck && w.file.stuck != stuck) /* reported once */
        mishap_log_say("%s: the log is larger than it may be, and cannot be moved away: %s\n",
                       w.by.plan->program, strerror(w.file.stuck));
    sigprocmask(SIG_SETMASK, &waiting, NULL);
    bool written = mishap_log_file_write(&w.file, text);
    int error = errno;
    sigprocmask(SIG_SETMASK, &working, NULL);
    errno = error;
    return written;
}

/* Lines that cannot be written are counted. */
static void write_batch(void)
{
    mishap_text text = { w.batch, w.length };
    if (text.length && !write_out(text))
        count_lost(text);
    w.length = 0;
    atomic_store(&w.by.counts->in_hand, 0);
}

/* Take all records of the access log that are there. For incidents a packet only wakes this
 * process. False: there is none, and none will follow. */
static bool take_records(void)
{
    for (;;) {
        char mark = 0;
        if (sizeof w.batch - w.length < MISHAP_LOG_RECORD)
            write_batch();
        struct iovec pieces[] = { { &mark, 1 }, { w.batch + w.length, MISHAP_LOG_RECORD } };
        struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2 };
        ssize_t count = recvmsg(w.by.in, &message, MSG_DONTWAIT);
        if (count <= 0) {
            write_batch();
            return count < 0;
        }
        if (count > 1)
            atomic_fetch_add(&w.by.counts->in_hand, 1);
        w.length += (size_t)count - 1;
    }
}

static void put_lost(mishap_buffer *out, uint64_t lost)
{
    if (w.by.log == MISHAP_LOG_INCIDENTS) {
        mishap_record_put_lost(out, w.by.plan->program, lost);
        MISHAP_PUT(out, "\n");
        return;
    }
    MISHAP_PUT(out, "{\"time\":\"");
    mishap_clock_put_timestamp(out, mishap_clock_now_ms());
    MISHAP_PUT(out, "\",\"lost\":");
    mishap_buffer_put_uint(out, lost);
    MISHAP_PUT(out, "}\n");
}

/* Report how many records were lost. */
static void tell_counts(void)
{
    char storage[1024];
    mishap_buffer out;
    uint64_t lost = atomic_exchange(&w.by.counts->lost, 0);
    if (!lost)
        return;
    mishap_buffer_init(&out, storage, sizeof storage);
    put_lost(&out, lost);
    if (!write_out(mishap_buffer_text(&out)))
        atomic_fetch_add(&w.by.counts->lost, lost); /* reported the next time */
    mishap_buffer_release(&out);
}

static void reopen(void)
{
    asked_to_reopen = 0;
    if (w.by.log != MISHAP_LOG_ACCESS)
        return;
    /* If it cannot be opened, the old file stays in use. */
    mishap_log_file next = w.file;
    next.file = -1;
    if (!mishap_log_file_open(&next, w.path))
        return;
    close(w.file.file);
    w.file.file = next.file;
}

static void open_log(void)
{
    const mishap_logs_plan *plan = w.by.plan;
    w.file = (mishap_log_file)MISHAP_LOG_FILE(.waits = true);
    if (w.by.log == MISHAP_LOG_ACCESS) {
        w.file.mode = 0640;
        snprintf(w.path, sizeof w.path, "%s", plan->access);
        mishap_log_file_open(&w.file, w.path);
    } else {
        w.file.most_bytes = plan->incident_bytes;
        if (!mishap_incident_log_path(plan->program, w.path, sizeof w.path))
            w.path[0] = '\0';
        if (!w.path[0] || !mishap_log_file_open(&w.file, w.path))
            mishap_incident_announce(plan->program, w.path, errno);
    }
    be_ready(w.file.file >= 0);
}

/* True if this process has to end: its parent wants that, or no process is left that records. */
static bool is_over(bool more)
{
    return !more || (asked_to_end && getppid() == w.by.parent);
}

static void tell_counts_if_due(bool now)
{
    static int64_t told_ns;
    int64_t time = mishap_clock_monotonic_ns();
    if (!now && time - told_ns < LOOK_MS * INT64_C(1000000))
        return;
    told_ns = time;
    tell_counts();
}

static void write_access_log(void)
{
    static const struct timespec rest = { .tv_nsec = REST_NS };
    for (;;) {
        bool last = is_over(take_records());
        tell_counts_if_due(last);
        if (last)
            return;
        if (asked_to_reopen)
            reopen();
        nanosleep(&rest, NULL);
        wait_for_some(LOOK_MS);
    }
}

/* -- incidents --------------------------------------------------------------------------------- */

static bool write_incidents_out(mishap_text text)
{
    bool written = write_out(text);
    if (written) {
        mishap_sync_soon(w.file.file);
        w.synced = lseek(w.file.file, 0, SEEK_CUR);
    }
    return written;
}

/* A command appends its line and does not wait for the disk, which would take it milliseconds.
 * While a server runs with the same log, this process does that for it. */
static void sync_lines_of_commands(void)
{
    struct stat status;
    if (w.file.file < 0 || fstat(w.file.file, &status) != 0 || status.st_size == w.synced)
        return;
    w.synced = status.st_size;
    mishap_sync_soon(w.file.file);
}

static void lose_incidents(uint64_t count)
{
    atomic_fetch_add(&w.by.counts->lost, count);
    atomic_fetch_add(&w.by.told->lost, count);
}

/*
 * Compact records are gathered for a quarter of a second; whole ones wake this process. When
 * nothing has come for two seconds, a compact record wakes it, too.
 */
static void sleep_after(mishap_drained drained)
{
    static const struct timespec rest = { .tv_nsec = REST_NS };
    static int idle;
    idle = drained.records ? 0 : idle + 1;
    if (drained.compact) {
        ppoll(NULL, 0, &(struct timespec){ .tv_nsec = GATHER_MS * 1000000L }, &waiting);
        return;
    }
    bool deep = idle > IDLE_TURNS;
    nanosleep(&rest, NULL);
    mishap_ring_sleep_as(w.by.ring, deep ? MISHAP_RING_SLEEPS : MISHAP_RING_NAPS);
    wait_for_some(deep ? OTHERS_MS : GATHER_MS);
    mishap_ring_sleep_as(w.by.ring, MISHAP_RING_AWAKE);
}

static void write_incidents(void)
{
    const mishap_drain drain = { .ring = w.by.ring,
                                 .program = w.by.plan->program,
                                 .path = w.path,
                                 .counts = w.by.told,
                                 .json_errors = w.by.plan->json_errors,
                                 .write = write_incidents_out,
                                 .lose = lose_incidents };
    for (;;) {
        bool last = is_over(take_records());
        mishap_drained drained = mishap_drain_run(&drain);
        tell_counts_if_due(last);
        if (last)
            break;
        if (!drained.records)
            sync_lines_of_commands();
        sleep_after(drained);
    }
    mishap_sync_now(w.file.file);
}

_Noreturn void mishap_log_writer_run(mishap_log_writer writer)
{
    w.by = writer;
    arrange_files();
    take_signals();
    prctl(PR_SET_NAME, "mishap-log");
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    prctl(PR_SET_PDEATHSIG, SIGUSR2);
    if (getppid() != w.by.parent)
        be_asked_to_end();
    if (w.by.log == MISHAP_LOG_ERRORS) {
        relay();
    } else {
        open_log();
        if (w.by.log == MISHAP_LOG_ACCESS)
            write_access_log();
        else
            write_incidents();
    }
    _exit(0);
}
