/*
 * The process that sends.
 *
 * It turns: it reads lines of the journal into one request of logs and one of spans, sends both,
 * and saves its place in the journal when both were taken or refused. While one of them has to
 * wait, nothing further is read: the journal is the queue. Metrics have a clock of their own; since
 * they are totals, those that could not be sent are not missed.
 */
#include "otlp/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/signals.h"
#include "incident/follow.h"
#include "incident/logs.h"
#include "incident/readers.h"
#include "otlp/metrics.h"
#include "otlp/place.h"
#include "otlp/records.h"
#include "worker/serving/served.h"

enum {
    TURN_MS = 500,        /* how often the journal is looked at */
    MOST_RECORDS = 512,   /* of a request … */
    MOST_BYTES = 1 << 20, /* … after which no further record is added */
    KEPT_BYTES = 4 << 20, /* memory that is kept for the next request */
    LAST_MS = 1500,       /* for a request when the server ends */
};

static volatile sig_atomic_t asked_to_end, abandon;

/* The state of this process, which has one thread. */
static struct {
    const mishap_otlp_export *what;
    mishap_otlp_signal signals[MISHAP_OTLP_KINDS];
    mishap_otlp_batch batch;
    bool pending[MISHAP_OTLP_KINDS]; /* requests of the batch that were not answered yet */
    bool holds;                      /* there is a batch */
    size_t most_records;
    size_t malformed; /* lines of the batch */
    mishap_follow *follow;
    mishap_follow_place saved, after; /* before and after the batch */
    uint64_t lost;                    /* what was lost before this follower */
    int64_t metrics_at_ns;
    mishap_buffer metrics;
    mishap_reader_counts *counts;
    bool told; /* that it cannot be sent */
} e;

/* -- the process ------------------------------------------------------------------------------- */

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    if (info->si_pid == e.what->parent || getppid() != e.what->parent)
        asked_to_end = abandon = 1;
}

static void take_signals(void)
{
    static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGXFSZ };
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
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

/* Only standard error stays open. It is a pipe, and does not block. */
static void leave_files(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    close_range(3, ~0U, 0);
    mishap_logs_forget();
}

/* Its memory has the keys of the collector: no core file, no debugger of other users, no programs
 * with more rights. */
static void drop_rights(void)
{
    const struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void begin_process(void)
{
    mishap_incident_counts *counts = mishap_incident_counts_shared();
    e.counts = counts ? &counts->otlp : NULL;
    leave_files();
    take_signals();
    drop_rights();
    prctl(PR_SET_NAME, "mishap-otlp");
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    prctl(PR_SET_PDEATHSIG, SIGUSR2);
    if (getppid() != e.what->parent)
        asked_to_end = 1;
}

/* -- what operators are told ------------------------------------------------------------------- */

static const mishap_otlp_signal *find_trouble(void)
{
    for (size_t i = 0; i < MISHAP_OTLP_KINDS; i++)
        if (e.signals[i].client && e.signals[i].error)
            return &e.signals[i];
    return NULL;
}

/* The counts for /health and /metrics; a line on stderr when trouble begins and when it ends. */
static void publish(void)
{
    const mishap_otlp_signal *trouble = find_trouble();
    const char *program = e.what->server->program;
    if (trouble && !e.told)
        mishap_log_say("%s: telemetry cannot be sent: %s\n", program, trouble->words);
    else if (!trouble && e.told)
        mishap_log_say("%s: telemetry is sent again\n", program);
    e.told = trouble;
    if (!e.counts)
        return;
    atomic_store(&e.counts->state, trouble ? MISHAP_READER_RETRIES : MISHAP_READER_FOLLOWS);
    atomic_store(&e.counts->error, trouble ? (uint32_t)trouble->error : 0);
    if (!e.follow)
        return;
    uint64_t held = e.holds ? e.after.offset : 0;
    if (e.holds && e.after.inode == e.saved.inode && e.after.offset >= e.saved.offset)
        held -= e.saved.offset;
    atomic_store(&e.counts->lag_bytes, mishap_follow_behind(e.follow) + held);
    atomic_store(&e.counts->lost, e.lost + mishap_follow_lost(e.follow));
}

static void count_dropped(uint64_t count)
{
    if (e.counts && count)
        atomic_fetch_add(&e.counts->dropped, count);
}

static void count_retry(void)
{
    if (e.counts)
        atomic_fetch_add(&e.counts->retries, 1);
}

/* -- the journal ------------------------------------------------------------------------------- */

/* Begin to follow at the saved place. False: there is no memory now. */
static bool follow_again(void)
{
    if (e.follow)
        return true;
    mishap *failure = mishap_follow_open(e.what->journal, e.saved, &e.follow);
    mishap_free(failure);
    return !failure;
}

/* Read what is held once more, later. */
static void read_again(void)
{
    mishap_follow_close(e.follow);
    e.follow = NULL;
    e.holds = false;
}

/* Read lines into a batch. False: there are none. */
static bool fill_batch(void)
{
    mishap_otlp_batch *batch = &e.batch;
    size_t lines = 0;
    mishap_text line;
    mishap_buffer_reset_within(&batch->logs, KEPT_BYTES);
    mishap_buffer_reset_within(&batch->spans, KEPT_BYTES);
    mishap_otlp_batch_begin(batch);
    e.malformed = 0;
    while (batch->log_count < e.most_records && batch->span_count < e.most_records &&
           batch->logs.length + batch->spans.length < MOST_BYTES &&
           mishap_follow_next(e.follow, &line)) {
        e.malformed += !mishap_otlp_batch_add(batch, line);
        lines++;
    }
    e.after = mishap_follow_at(e.follow);
    if (!mishap_otlp_batch_end(batch)) {
        read_again();
        return false;
    }
    e.holds = lines;
    e.pending[MISHAP_OTLP_LOGS] = batch->log_count;
    e.pending[MISHAP_OTLP_TRACES] = batch->span_count;
    return e.holds;
}

/* The batch is done: save the place behind it. If that fails, the next one saves a later place. */
static void save_place(void)
{
    e.lost += e.malformed;
    e.malformed = 0;
    if (e.counts)
        atomic_fetch_add(&e.counts->records, e.batch.log_count + e.batch.span_count);
    if (!mishap_otlp_place_save(e.what->place, e.after) && e.counts)
        atomic_store(&e.counts->error, (uint32_t)errno);
    e.saved = e.after;
    e.holds = false;
    if (e.most_records < MOST_RECORDS)
        e.most_records *= 2;
}

/* Send one request of the batch. */
static void send_part(mishap_otlp_kind kind, int timeout_ms)
{
    bool logs = kind == MISHAP_OTLP_LOGS;
    mishap_otlp_signal *signal = &e.signals[kind];
    size_t count = logs ? e.batch.log_count : e.batch.span_count;
    uint64_t rejected;
    if (!e.holds || !e.pending[kind] || !mishap_otlp_signal_may_send(signal))
        return;
    mishap_text body = mishap_buffer_text(logs ? &e.batch.logs : &e.batch.spans);
    switch (mishap_otlp_signal_send(signal, body, timeout_ms, &rejected)) {
    case MISHAP_OTLP_SENT:
        count_dropped(rejected);
        e.pending[kind] = false;
        break;
    case MISHAP_OTLP_TOO_LARGE:
        if (count > 1) {
            e.most_records = count / 2;
            read_again(); /* half as many */
            break;
        } /* fallthrough */
    case MISHAP_OTLP_REFUSED:
        count_dropped(count);
        e.pending[kind] = false;
        break;
    case MISHAP_OTLP_LATER:
        count_retry();
        break;
    }
}

/* True if there may be more to read. */
static bool turn_journal(int timeout_ms)
{
    if (!e.what->journal[0] ||
        (!e.signals[MISHAP_OTLP_LOGS].client && !e.signals[MISHAP_OTLP_TRACES].client))
        return false;
    if (!follow_again() || (!e.holds && !fill_batch()))
        return false;
    send_part(MISHAP_OTLP_LOGS, timeout_ms);
    send_part(MISHAP_OTLP_TRACES, timeout_ms);
    if (!e.holds)
        return true;
    if (e.pending[MISHAP_OTLP_LOGS] || e.pending[MISHAP_OTLP_TRACES])
        return false;
    save_place();
    return true;
}

/* -- metrics ----------------------------------------------------------------------------------- */

static void turn_metrics(bool last)
{
    mishap_otlp_signal *signal = &e.signals[MISHAP_OTLP_METRICS];
    int64_t now = mishap_clock_monotonic_ns();
    uint64_t rejected;
    if (!signal->client || (!last && now < e.metrics_at_ns) || !mishap_otlp_signal_may_send(signal))
        return;
    e.metrics_at_ns = now + (int64_t)e.what->settings->metrics_ms * 1000000;
    mishap_buffer_reset(&e.metrics);
    size_t points = mishap_otlp_put_metrics(&e.metrics, e.what);
    if (e.metrics.failed || !points)
        return;
    switch (mishap_otlp_signal_send(signal, mishap_buffer_text(&e.metrics), last ? LAST_MS : 0,
                                    &rejected)) {
    case MISHAP_OTLP_SENT:
        count_dropped(rejected);
        break;
    case MISHAP_OTLP_LATER:
        count_retry();
        e.metrics_at_ns = signal->not_before_ns; /* the totals of that moment */
        break;
    default:
        count_dropped(points);
    }
}

/* -- turns ------------------------------------------------------------------------------------- */

mishap *mishap_otlp_export_try(const mishap_otlp_settings *settings)
{
    mishap_otlp_signal signal;
    mishap *failure = NULL;
    for (size_t i = 0; i < MISHAP_OTLP_KINDS && !failure; i++) {
        failure = mishap_otlp_signal_open(&signal, (mishap_otlp_kind)i, &settings->targets[i],
                                          NULL);
        mishap_otlp_signal_close(&signal);
    }
    return failure;
}

static void open_signals(void)
{
    const mishap_otlp_settings *settings = e.what->settings;
    for (size_t i = 0; i < MISHAP_OTLP_KINDS; i++) {
        mishap *failure = mishap_otlp_signal_open(&e.signals[i], (mishap_otlp_kind)i,
                                                  &settings->targets[i], &abandon);
        if (failure)
            _exit(1); /* no memory, or libcurl was removed: another process tries again */
    }
}

/* The server ends: the records that wait are sent once more, except where a collector must be
 * waited for. */
static void turn_last(void)
{
    abandon = 0;
    while (turn_journal(LAST_MS))
        if (abandon)
            break;
    turn_metrics(true);
    publish();
}

_Noreturn void mishap_otlp_export_run(const mishap_otlp_export *what)
{
    e.what = what;
    begin_process();
    open_signals();
    e.most_records = MOST_RECORDS;
    e.batch.settings = what->settings;
    e.batch.instance = what->instance;
    e.batch.find = mishap_otlp_find_name;
    e.batch.find_state = what->server->served->app;
    e.saved = e.after = mishap_otlp_place_read(what->place);
    e.lost = e.counts ? atomic_load(&e.counts->lost) : 0;
    e.metrics_at_ns = mishap_clock_monotonic_ns() + (int64_t)what->settings->metrics_ms * 1000000;
    while (!asked_to_end) {
        bool more = turn_journal(0);
        if (!asked_to_end)
            turn_metrics(false);
        publish();
        if (!more && !asked_to_end)
            poll(NULL, 0, TURN_MS);
    }
    turn_last();
    _exit(0);
}
