/*
 * The process `mishap-index` of a server, and its parent's side.
 *
 * It waits for changes of the journal (inotify), so an idle server does not wake it. After a batch
 * it rests for a quarter of a second: what comes meanwhile is the next batch, and each batch costs
 * one synchronization of a file. Nothing waits for it: if the disk is full or a file is locked, it
 * tries again, and the journal has everything until then.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/signals.h"
#include "incident/logs.h"
#include "incident/readers.h"
#include "index/inside.h"

enum {
    REST_MS = 250,
    AGAIN_MS = 1000, /* after a failure */
    IDLE_MS = 30000, /* a file system without inotify */
    LOCK_MS = 1000,  /* a command catches up just now */
    END_MS = 2000,   /* for the last batch, when the server ends */
    KILLED_MS = 1000,
    BUSY_TIMES = 5, /* tries that a lock may take before that is told */
    NO_SQLITE = 3,  /* exit status: it is not started again */
    SLOW_S = 5,     /* a batch that takes longer is told */
};
#define NS_OF_MS       INT64_C(1000000)
#define SOUND_START_NS INT64_C(1000000000)
#define NEXT_START_NS  INT64_C(500000000)

static struct {
    mishap_index_plan plan;
    char data[INDEX_PATH], journal[INDEX_PATH], store[INDEX_PATH];
    bool wanted;
    pid_t pid; /* 0: none runs */
    int64_t begun_ns, start_at_ns;
} all;

/* -- the process ------------------------------------------------------------------------------- */

static volatile sig_atomic_t asked_to_end;
static pid_t parent;
static sigset_t waiting;

static void on_end(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    if (info->si_pid == parent || getppid() != parent)
        asked_to_end = 1;
}

/* Only its parent, or the death of its parent, ends this process. */
static void take_signals(void)
{
    static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGXFSZ };
    struct sigaction action = { .sa_sigaction = on_end, .sa_flags = SA_SIGINFO };
    sigset_t working;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&waiting);
    sigemptyset(&working);
    sigaddset(&working, SIGUSR2);
    sigprocmask(SIG_SETMASK, &working, NULL);
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
    mishap_signals_survive();
}

static void arrange_files(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    close_range(3, ~0U, 0);
    mishap_logs_forget();
}

/* The folder tells of a new file, the file of what is appended to it. Watches that exist already
 * are not added twice. */
static void watch_journal(int watch)
{
    char folder[INDEX_PATH];
    const char *slash = strrchr(all.journal, '/');
    size_t length = slash ? (size_t)(slash - all.journal) : 0;
    memcpy(folder, all.journal, length);
    folder[length] = '\0';
    if (watch < 0)
        return;
    inotify_add_watch(watch, length ? folder : "/", IN_CREATE | IN_MOVED_TO);
    inotify_add_watch(watch, all.journal, IN_MODIFY);
}

static void wait_for_change(int watch, int most_ms)
{
    char events[4096];
    struct pollfd file = { .fd = watch, .events = POLLIN };
    struct timespec most = { most_ms / 1000, most_ms % 1000 * NS_OF_MS };
    if (ppoll(&file, watch >= 0, &most, &waiting) > 0)
        while (read(watch, events, sizeof events) > 0)
            ;
}

static void rest(void)
{
    struct timespec time = { .tv_nsec = REST_MS * NS_OF_MS };
    ppoll(NULL, 0, &time, &waiting);
}

/* -- a database that does not answer ----------------------------------------------------------- */

static mishap_incident_counts *told_counts;

/* The call that waits for it goes on waiting: only /health is told. */
static void on_slow(int number)
{
    (void)number;
    if (told_counts) {
        atomic_store(&told_counts->index.error, ETIMEDOUT);
        atomic_store(&told_counts->index.state, MISHAP_READER_RETRIES);
    }
}

/* From now on a batch has so many seconds; 0: there is none. */
static void expect_batch(int seconds)
{
    struct itimerval time = { .it_value.tv_sec = all.plan.store ? seconds : 0 };
    setitimer(ITIMER_REAL, &time, NULL);
}

static void watch_for_slowness(mishap_incident_counts *counts)
{
    struct sigaction action = { .sa_handler = on_slow, .sa_flags = SA_RESTART };
    told_counts = counts;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
}

/* -- counts ------------------------------------------------------------------------------------ */

/* What other processes have found is counted here, too. */
static void count_groups(const index_report *report, mishap_incident_counts *counts)
{
    static uint64_t known_fresh, known_regressed;
    static bool begun;
    if (!report->has_groups)
        return;
    if (begun && report->fresh > known_fresh)
        atomic_fetch_add(&counts->new_groups, report->fresh - known_fresh);
    if (begun && report->regressed > known_regressed)
        atomic_fetch_add(&counts->regressed_groups, report->regressed - known_regressed);
    begun = true;
    known_fresh = report->fresh;
    known_regressed = report->regressed;
}

static void tell_counts(const index_report *report, mishap_incident_counts *counts)
{
    static uint64_t told_records, told_bad, told_rebuilt;
    if (!counts)
        return;
    atomic_store(&counts->index.lag_bytes, report->lag);
    atomic_store(&counts->index.error, (uint32_t)report->error);
    atomic_store(&counts->index.state, (uint32_t)report->state);
    atomic_fetch_add(&counts->index.records, report->records - told_records);
    atomic_fetch_add(&counts->index.lost, report->bad_lines - told_bad);
    atomic_fetch_add(&counts->index.rebuilt, report->rebuilt - told_rebuilt);
    told_records = report->records;
    told_rebuilt = report->rebuilt;
    told_bad = report->bad_lines;
    count_groups(report, counts);
}

static void tell_report(mishap_index *index, index_report *report)
{
    ((const index_base *)index)->engine->report(index, report);
    tell_counts(report, told_counts);
}

static void hear_progress(mishap_index *index)
{
    index_report report;
    expect_batch(SLOW_S);
    tell_report(index, &report);
}

/* A failure is told once, until it is over; that a command writes just now is none. */
static void tell_failure(const mishap *failure, bool busy)
{
    static char words[256];
    static int times;
    mishap_text message = mishap_public_message(mishap_told(failure));
    size_t length = message.length < sizeof words ? message.length : sizeof words - 1;
    times = failure ? times + 1 : 0;
    if (!failure)
        words[0] = '\0';
    if (!failure || (busy && times < BUSY_TIMES) ||
        (strncmp(words, message.data, length) == 0 && !words[length]))
        return;
    memcpy(words, message.data, length);
    words[length] = '\0';
    mishap_log_say("%s: %s The log file has all incidents.\n",
                   all.plan.program ? all.plan.program : "mishap", words);
}

static void follow_journal(mishap_index *index)
{
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    index_report report;
    for (bool last = false; !last;) {
        last = asked_to_end;
        watch_journal(watch);
        expect_batch(SLOW_S);
        mishap *failure = mishap_index_catch_up(index, LOCK_MS);
        expect_batch(0);
        tell_report(index, &report);
        tell_failure(failure, report.busy);
        bool failed = failure != NULL;
        mishap_free(failure);
        if (last)
            break;
        rest();
        if (!asked_to_end)
            wait_for_change(watch, failed ? AGAIN_MS : IDLE_MS);
    }
}

/* A folder that cannot be made may be there later; SQLite is not installed meanwhile. */
static mishap_index *open_index(mishap_incident_counts *counts)
{
    mishap_index *index = NULL;
    while (!asked_to_end) {
        mishap *failure = mishap_index_open(&all.plan, &index);
        if (!failure)
            return index;
        bool lacks = mishap_is(failure, NOT_CONFIGURED);
        tell_failure(failure, false);
        mishap_free(failure);
        if (counts)
            atomic_store(&counts->index.state, lacks ? MISHAP_READER_OFF : MISHAP_READER_RETRIES);
        if (lacks)
            _exit(NO_SQLITE);
        wait_for_change(-1, AGAIN_MS);
    }
    _exit(0);
}

static _Noreturn void run_process(pid_t by)
{
    mishap_incident_counts *counts = mishap_incident_counts_shared();
    parent = by;
    arrange_files();
    take_signals();
    prctl(PR_SET_NAME, "mishap-index");
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    prctl(PR_SET_PDEATHSIG, SIGUSR2);
    if (getppid() != parent)
        _exit(0);
    watch_for_slowness(counts);
    mishap_index *index = open_index(counts);
    mishap_index_own(all.data, all.journal);
    ((index_base *)index)->progress = hear_progress;
    follow_journal(index);
    mishap_index_close(index);
    _exit(0);
}

/* -- its parent -------------------------------------------------------------------------------- */

static void start_process(void)
{
    pid_t self = getpid(), pid = fork();
    if (pid == 0)
        run_process(self);
    all.begun_ns = mishap_clock_monotonic_ns();
    all.pid = pid > 0 ? pid : 0;
    all.start_at_ns = pid > 0 ? 0 : all.begun_ns + NEXT_START_NS;
}

void mishap_index_process_start(const mishap_index_plan *plan)
{
    all.plan = *plan;
    if (!plan->journal ||
        (size_t)snprintf(all.data, sizeof all.data, "%s", plan->data) >= sizeof all.data ||
        (size_t)snprintf(all.journal, sizeof all.journal, "%s", plan->journal) >=
            sizeof all.journal ||
        (size_t)snprintf(all.store, sizeof all.store, "%s", plan->store ? plan->store : "") >=
            sizeof all.store)
        return;
    all.plan.data = all.data;
    all.plan.journal = all.journal;
    all.plan.store = plan->store ? all.store : NULL;
    all.wanted = true;
    start_process();
}

bool mishap_index_process_ended(int pid, int status)
{
    if (!all.pid || pid != all.pid)
        return false;
    if (WIFSTOPPED(status)) {
        mishap_signal_process(pid, SIGKILL);
        return true;
    }
    int64_t now = mishap_clock_monotonic_ns();
    all.pid = 0;
    all.wanted = all.wanted && !(WIFEXITED(status) && WEXITSTATUS(status) == NO_SQLITE);
    all.start_at_ns = now - all.begun_ns < SOUND_START_NS ? now + NEXT_START_NS : now;
    if (WIFSIGNALED(status))
        mishap_log_say("%s: the process that writes the index of incidents has ended; another "
                       "takes its place\n",
                       all.plan.program ? all.plan.program : "mishap");
    mishap_index_process_look();
    return true;
}

void mishap_index_process_look(void)
{
    if (all.wanted && !all.pid && all.start_at_ns && mishap_clock_monotonic_ns() >= all.start_at_ns)
        start_process();
}

static void wait_for_end(int most_ms)
{
    int status;
    for (int i = 0; i < most_ms && all.pid; i++) {
        pid_t pid = waitpid(all.pid, &status, WNOHANG);
        if (pid == all.pid || (pid < 0 && errno == ECHILD))
            all.pid = 0;
        else
            poll(NULL, 0, 1);
    }
}

/* What it has not written yet is in the journal: the next one goes on there. */
void mishap_index_process_end(void)
{
    all.wanted = false;
    if (all.pid)
        mishap_signal_process(all.pid, SIGUSR2);
    wait_for_end(END_MS);
    if (all.pid)
        mishap_signal_process(all.pid, SIGKILL);
    wait_for_end(KILLED_MS);
    all.pid = 0;
}
