/* The process `mishap-otlp`, as seen from the supervisor: start, restart, end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "otlp/exporter.h"
#include "otlp/otlp.h"
#include "otlp/place.h"
#include "worker/serving/served.h"

enum {
    AGAIN_NS = 500000000,        /* pause after a bad start */
    SOUND_START_NS = 1000000000, /* a process that ran for so long had a good start */
    TRY_MS = 30000,              /* for the trial at the start */
    END_MS = 5000,               /* for what it sends when the server ends … */
    KILLED_MS = 100,             /* … and for a killed process to be gone */
};

/* Of the supervisor, which has one thread. */
static struct {
    mishap_otlp_settings settings;
    mishap_otlp_export what;
    pid_t pid; /* 0: none runs */
    int64_t begun_ns, start_at_ns;
} exporter;

/* Fork a child that has the settings. */
static pid_t fork_with_settings(void)
{
    mishap_otlp_settings_pass_on(&exporter.settings, true);
    pid_t pid = fork();
    if (pid != 0)
        mishap_otlp_settings_pass_on(&exporter.settings, false);
    return pid;
}

/* -- the trial --------------------------------------------------------------------------------- */

/* In a child: what the operator has to correct, as text: a letter for the code, the message, and
 * the suggestion on a line of its own. libcurl is not loaded in the supervisor, since all other
 * processes would inherit it. */
static _Noreturn void try_in_child(int out)
{
    mishap *failure = mishap_otlp_export_try(&exporter.settings);
    if (failure) {
        const mishap_public *told = mishap_told(failure);
        mishap_text message = mishap_public_message(told);
        mishap_text suggestion = mishap_public_suggestion(told);
        if (write(out, mishap_is(failure, PRECONDITION) ? "P" : "N", 1) < 0 ||
            write(out, message.data, message.length) < 0 || write(out, "\n", 1) < 0 ||
            write(out, suggestion.data, suggestion.length) < 0)
            _exit(2);
    }
    _exit(0);
}

static size_t read_words(int in, char *words, size_t size)
{
    size_t length = 0;
    struct pollfd file = { .fd = in, .events = POLLIN };
    while (length < size - 1 && poll(&file, 1, TRY_MS) == 1) {
        ssize_t count = read(in, words + length, size - 1 - length);
        if (count <= 0)
            break;
        length += (size_t)count;
    }
    words[length] = '\0';
    return length;
}

static mishap *try_settings(void)
{
    int ends[2];
    char words[1000];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return mishap_raise(UNAVAILABLE, "Telemetry could not be started.");
    pid_t pid = fork_with_settings();
    if (pid == 0)
        try_in_child(ends[1]);
    close(ends[1]);
    size_t length = pid > 0 ? read_words(ends[0], words, sizeof words) : 0;
    close(ends[0]);
    if (pid > 0) {
        mishap_signal_process(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    if (!length)
        return pid > 0 ? NULL : mishap_raise(UNAVAILABLE, "Telemetry could not be started.");
    char *feed = strchr(words, '\n');
    if (feed)
        *feed = '\0';
    mishap *m = words[0] == 'P'
                    ? mishap_raise(PRECONDITION, "Telemetry cannot be sent. %s", words + 1)
                    : mishap_raise(NOT_CONFIGURED, "Telemetry cannot be sent. %s", words + 1);
    return mishap_suggest(m, feed && feed[1] ? feed + 1 : NULL);
}

/* -- starting ---------------------------------------------------------------------------------- */

static mishap *find_files(const mishap_http_settings *settings)
{
    mishap_otlp_export *what = &exporter.what;
    const char *data = settings->served->setup.data;
    char cause[128];
    if (mishap_incident_log_is_off(settings->program) ||
        !mishap_incident_log_path(settings->program, what->journal, sizeof what->journal))
        what->journal[0] = '\0';
    if (mishap_otlp_place_path(data, what->place, sizeof what->place))
        return NULL;
    mishap_system_error(errno, cause, sizeof cause);
    mishap *m = mishap_raise(NOT_CONFIGURED, "The folder %s/otlp cannot be used.", data);
    return mishap_tell_cause(m, cause);
}

static mishap *read_otlp(const mishap_http_settings *settings)
{
    const mishap_app *app = settings->served->app;
    return mishap_otlp_settings_read(&(mishap_otlp_wish){ .url = settings->otlp,
                                                          .spans = settings->otlp_spans,
                                                          .program = app->name,
                                                          .version = app->version },
                                     &exporter.settings);
}

static mishap *prepare_otlp(const mishap_http_settings *settings, void **shared)
{
    mishap_otlp_export *what = &exporter.what;
    *shared = NULL;
    if (!mishap_otlp_wanted(&exporter.settings))
        return NULL;
    what->settings = &exporter.settings;
    what->server = settings;
    what->begun_ns = (uint64_t)mishap_clock_now_ms() * 1000000;
    what->parent = getpid();
    mishap_id_make(what->instance);
    mishap *failure = find_files(settings);
    if (!failure)
        failure = try_settings();
    if (!failure)
        *shared = &exporter;
    return failure;
}

static void start_process(void)
{
    pid_t pid = fork_with_settings();
    if (pid == 0)
        mishap_otlp_export_run(&exporter.what);
    exporter.begun_ns = mishap_clock_monotonic_ns();
    exporter.pid = pid > 0 ? pid : 0;
    exporter.start_at_ns = pid > 0 ? 0 : exporter.begun_ns + AGAIN_NS;
}

/* The counters of the server exist when this is first called, after prepare(). */
static void look_at_process(void *shared)
{
    if (shared && !exporter.pid && mishap_clock_monotonic_ns() >= exporter.start_at_ns)
        start_process();
}

static bool process_ended(void *shared, int pid, int status)
{
    if (!shared || pid <= 0 || pid != exporter.pid)
        return false;
    if (WIFSTOPPED(status)) {
        mishap_signal_process(pid, SIGKILL);
        return true;
    }
    int64_t now = mishap_clock_monotonic_ns();
    exporter.pid = 0;
    exporter.start_at_ns = now - exporter.begun_ns < SOUND_START_NS ? now + AGAIN_NS : now;
    mishap_log_say("%s: the process that sends telemetry has ended; another takes its place\n",
                   exporter.what.server->program);
    look_at_process(shared);
    return true;
}

static void wait_for_end(int most_ms)
{
    for (int i = 0; i < most_ms && exporter.pid; i++) {
        pid_t pid = waitpid(exporter.pid, NULL, WNOHANG);
        if (pid == exporter.pid || (pid < 0 && errno == ECHILD))
            exporter.pid = 0;
        else
            poll(NULL, 0, 1);
    }
}

/* A process that hangs so that even SIGKILL has no effect is left to the system. */
static void end_process(void *shared)
{
    if (shared && exporter.pid) {
        mishap_signal_process(exporter.pid, SIGUSR2);
        wait_for_end(END_MS);
        if (exporter.pid) {
            mishap_signal_process(exporter.pid, SIGKILL);
            wait_for_end(KILLED_MS);
        }
    }
    mishap_otlp_settings_release(&exporter.settings);
}

const mishap_http_extension mishap_otlp_over_http = {
    .name = "otlp",
    .read = read_otlp,
    .prepare = prepare_otlp,
    .dismiss = end_process,
    .child_ended = process_ended,
    .look = look_at_process,
};
