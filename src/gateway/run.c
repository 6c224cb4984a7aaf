/*
 * The life of a gateway. One loop waits for signals, with a limit of time while nginx starts or
 * stops.
 *
 *     trial     nginx reads its configuration; its complaint is a finding
 *     starting  until nginx has written the file with its process id
 *     serving
 *     draining  nginx was told to stop when its requests are answered (SIGQUIT)
 *     ending    … at once (SIGTERM)
 *     ended     what is left is killed, and the folder is removed
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "base/system.h"
#include "gateway/gateway.h"
#include "sandbox/sandbox.h"

enum {
    LOOK_MS = 20,     /* how often the file of nginx is looked for */
    ENDING_MS = 5000, /* from SIGTERM to SIGKILL */
};

enum stage { STARTING, SERVING, DRAINING, ENDING };

struct gateway {
    mishap_gateway_plan plan;
    const char *program;
    char folder[PATH_MAX - 64]; /* of nginx */
    char configuration[PATH_MAX], pid_file[PATH_MAX], said[PATH_MAX];
    int opened; /* the folder */
    sigset_t watched;
    enum stage stage;
    bool stop; /* a signal came before nginx was there */
    int process;
    int64_t deadline_ns; /* of DRAINING and ENDING */
};

/* -- the folder -------------------------------------------------------------------------------- */

static mishap *no_folder(const char *folder)
{
    char why[128];
    mishap_system_error(errno, why, sizeof why);
    mishap *m = mishap_raise(UNAVAILABLE, "The gateway has no folder for the files of nginx: %s.",
                             folder);
    return mishap_tell_cause(m, why);
}

/* nginx that is started by root works as another user, who has to pass through the folder. */
static mishap *make_folder(struct gateway *g)
{
    const char *above = getenv("TMPDIR");
    if (!above || above[0] != '/' || !mishap_gateway_can_quote(above))
        above = "/tmp";
    int length = snprintf(g->folder, sizeof g->folder, "%s/mishap-gateway-XXXXXX", above);
    if (length < 0 || (size_t)length >= sizeof g->folder || !mkdtemp(g->folder))
        return no_folder(above);
    g->opened = open(g->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (g->opened < 0 || (geteuid() == 0 && fchmod(g->opened, 0711) != 0)) {
        mishap *failure = no_folder(g->folder);
        rmdir(g->folder);
        return failure;
    }
    snprintf(g->configuration, sizeof g->configuration, "%s/nginx.conf", g->folder);
    snprintf(g->pid_file, sizeof g->pid_file, "%s/pid", g->folder);
    snprintf(g->said, sizeof g->said, "%s/said", g->folder);
    return NULL;
}

static void remove_folder(struct gateway *g)
{
    if (g->opened < 0)
        return;
    mishap_sandbox_remove_opened(g->opened, g->folder);
    close(g->opened);
}

static mishap *write_configuration(const struct gateway *g, const mishap_buffer *text)
{
    if (text->failed)
        return mishap_out_of_memory();
    int file = open(g->configuration, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t written = file >= 0 ? write(file, text->data, text->length) : -1;
    if (written >= 0 && (size_t)written < text->length)
        errno = ENOSPC;
    if (file < 0 || written != (ssize_t)text->length) {
        mishap *failure = no_folder(g->folder);
        if (file >= 0)
            close(file);
        return failure;
    }
    return close(file) == 0 ? NULL : no_folder(g->folder);
}

/* -- signals ----------------------------------------------------------------------------------- */

static const int watched[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGCHLD };

static void watch_signals(struct gateway *g)
{
    sigemptyset(&g->watched);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&g->watched, watched[i]);
    sigprocmask(SIG_BLOCK, &g->watched, NULL);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would leave no child to wait for */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static bool ends(int number)
{
    return number == SIGTERM || number == SIGINT || number == SIGQUIT;
}

/* The next signal; 0: none has come in this time. */
static int next_signal(const struct gateway *g, int64_t wait_ms)
{
    const struct timespec wait = { .tv_sec = wait_ms / 1000,
                                   .tv_nsec = (wait_ms % 1000) * 1000000 };
    int number = sigtimedwait(&g->watched, NULL, wait_ms < 0 ? NULL : &wait);
    return number > 0 ? number : 0;
}

/* -- the trial --------------------------------------------------------------------------------- */

/* What nginx complained of: the words of the first line of the highest level. Before them stand
 * numbers of processes, behind them the place in a file that is gone by then. */
static mishap_text complaint(const struct gateway *g, char *said, size_t size)
{
    static const char level[] = "[emerg] ";
    char place[PATH_MAX + 8];
    if (!mishap_system_read(AT_FDCWD, g->said, said, size))
        return (mishap_text)MISHAP_TEXT("nginx gives no reason");
    const char *line = strstr(said, level);
    line = line ? line + sizeof level - 1 : said;
    size_t numbers = strspn(line, "0123456789#");
    if (numbers && line[numbers] == ':' && line[numbers + 1] == ' ')
        line += numbers + 2;
    size_t length = strcspn(line, "\n");
    snprintf(place, sizeof place, " in %s:", g->configuration);
    const char *end = memmem(line, length, place, strlen(place));
    return (mishap_text){ line, end ? (size_t)(end - line) : length };
}

static bool has(mishap_text line, const char *words)
{
    return memmem(line.data, line.length, words, strlen(words));
}

static void find_complaint(const struct gateway *g, mishap **found)
{
    char said[2048];
    mishap_text line = complaint(g, said, sizeof said);
    bool module = has(line, g->plan.module) || has(line, "dlopen()");
    mishap_gateway_find(found, module ? "module" : "nginx", "nginx refuses: %.*s.",
                        (int)line.length, line.data);
}

static mishap *not_started(const struct gateway *g, int error)
{
    char why[128];
    mishap_system_error(error, why, sizeof why);
    return mishap_tell_cause(mishap_raise(UNAVAILABLE, "%s cannot be started.", g->plan.nginx),
                             why);
}

static mishap_gateway_start command(const struct gateway *g)
{
    return (mishap_gateway_start){
        .argv = { g->plan.nginx, "-p", g->folder, "-c", g->configuration, "-e", "stderr" },
        .err = -1,
    };
}

/* nginx reads the configuration. A complaint is a finding. */
static mishap *try_configuration(struct gateway *g, const mishap_buffer *text, mishap **found)
{
    mishap_gateway_start start = command(g);
    mishap *failure = write_configuration(g, text);
    if (failure)
        return failure;
    start.argv[7] = "-tq";
    start.err = open(g->said, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (start.err < 0)
        return no_folder(g->folder);
    int process = mishap_gateway_start_nginx(&start), error = errno;
    close(start.err);
    if (process < 0)
        return not_started(g, error);
    while (!g->stop && !mishap_gateway_has_ended(process))
        g->stop = ends(next_signal(g, -1));
    int status = mishap_gateway_sweep(process);
    if (!g->stop && status != 0)
        find_complaint(g, found);
    unlink(g->pid_file); /* the trial has made it, empty */
    return NULL;
}

/* With other findings nginx is asked only whether the module fits. */
static mishap *try_settings(struct gateway *g, mishap **found)
{
    mishap_buffer text = { 0 };
    if (*found && (!*g->plan.nginx || !*g->plan.module))
        return NULL;
    if (*found)
        mishap_gateway_configure_least(g->plan.module, g->folder, &text);
    else
        mishap_gateway_configure(&g->plan, g->folder, &text);
    mishap *failure = try_configuration(g, &text, found);
    mishap_buffer_release(&text);
    return failure;
}

/* -- serving ----------------------------------------------------------------------------------- */

static void stop_nginx(struct gateway *g, enum stage stage)
{
    bool drain = stage == DRAINING;
    g->stage = stage;
    g->deadline_ns = mishap_clock_monotonic_ns() +
                     (drain ? (int64_t)g->plan.stop_s * 1000 : ENDING_MS) * 1000000;
    mishap_signal_process(g->process, drain ? SIGQUIT : SIGTERM);
}

/* nginx catches signals before it writes its file; before that they would end it. */
static void on_signal(struct gateway *g, int number)
{
    if (ends(number))
        stop_nginx(g, g->stage == SERVING ? DRAINING : ENDING);
    else if ((number == SIGHUP || number == SIGUSR1) && g->stage == SERVING)
        mishap_signal_process(g->process, number);
}

static void look_for_start(struct gateway *g)
{
    char number[32];
    if (!mishap_system_read(AT_FDCWD, g->pid_file, number, sizeof number))
        return;
    g->stage = SERVING;
    mishap_http_tell_address(
        &(mishap_http_settings){ .host = g->plan.host,
                                 .program = g->program,
                                 .log = *g->plan.incidents ? g->plan.incidents : NULL },
        g->plan.port);
}

static int64_t wait_ms(const struct gateway *g)
{
    if (g->stage == STARTING)
        return LOOK_MS;
    if (g->stage == SERVING)
        return -1;
    int64_t left = (g->deadline_ns - mishap_clock_monotonic_ns()) / 1000000;
    return left > 0 ? left + 1 : 0;
}

/* Until nginx has ended, or did not although it was told to. */
static void wait_for_end(struct gateway *g)
{
    while (!mishap_gateway_has_ended(g->process)) {
        int number = next_signal(g, wait_ms(g));
        if (number)
            on_signal(g, number);
        else if (g->stage == STARTING)
            look_for_start(g);
        else if (g->stage != SERVING && wait_ms(g) == 0) {
            if (g->stage == ENDING)
                return;
            stop_nginx(g, ENDING);
        }
    }
}

static mishap *ended_by_itself(const struct gateway *g, int status)
{
    char said[2048];
    mishap *m = mishap_raise(UNAVAILABLE, "nginx has ended by itself.");
    if (g->stage == STARTING)
        m = mishap_note(m, "nginx", complaint(g, said, sizeof said));
    if (WIFSIGNALED(status))
        return mishap_tell(m, "signal", WTERMSIG(status));
    return mishap_tell(m, "exit_code", WEXITSTATUS(status));
}

static mishap *serve(struct gateway *g)
{
    mishap_gateway_start start = command(g);
    start.sockets = &g->plan.sockets;
    start.argv[6] = g->said; /* until nginx has read where its log is */
    g->process = mishap_gateway_start_nginx(&start);
    int error = errno;
    mishap_http_sockets_close(&g->plan.sockets); /* nginx has them */
    if (g->process < 0)
        return not_started(g, error);
    wait_for_end(g);
    bool told = g->stage == DRAINING || g->stage == ENDING;
    int status = mishap_gateway_sweep(g->process);
    return told ? NULL : ended_by_itself(g, status);
}

/* nginx may have as many files as the system allows. */
static void raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

mishap *mishap_gateway_run(const mishap_gateway_wish *wish)
{
    struct gateway g = { .program = wish->program, .opened = -1 };
    raise_limit();
    watch_signals(&g);
    mishap *found = mishap_gateway_plan_make(wish, &g.plan);
    mishap *failure = make_folder(&g);
    if (!failure)
        failure = try_settings(&g, &found);
    if (!failure && !found && !g.stop)
        failure = serve(&g);
    mishap_http_sockets_close(&g.plan.sockets);
    remove_folder(&g);
    if (!found)
        return failure;
    mishap_free(failure);
    return found;
}
