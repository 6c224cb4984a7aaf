/*
 * The supervisor process, which starts and monitors all other processes. It handles no requests, so
 * no client can harm it. It owns the listening sockets, a separate set for each loop. When a loop
 * exits for any reason, a new loop uses the same sockets, so waiting connections are not lost. When
 * the server stops, the supervisor closes the sockets at once, even if the loops are busy, and
 * passes the connections that still wait to the loops.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/signals.h"
#include "incident/logs.h"
#include "server/access.h"
#include "server/files.h"
#include "server/loop.h"

enum {
    MOST_PROCESSES = 256,
    MOST_IN_SLOT = 12,   /* processes that use the same sockets */
    MOST_BAD_STARTS = 5, /* after so many in a row it is no accident */
    SPARE_MS = 2000,     /* the time that a loop may take beyond its own deadline */
    BEAT_MS = 1000,      /* interval of the checks whether loops respond … */
    MOST_SILENT = 5,     /* … and the number of checks in a row that a loop may miss */
};

/* A living loop; pid 0: the place is free. */
struct process {
    pid_t pid;
    int control;
    int slot; /* the index of its sockets */
    bool ready, draining;
    bool empty; /* it has no session: only known while the server waits for the last one */
    int silent; /* checks since its last message */
    int64_t kill_at_ns;
    int numbers[MISHAP_HTTP_MOST_EXTENSIONS]; /* its numbers in the extensions */
};

typedef struct supervisor {
    const mishap_http_settings *settings;
    void *shared[MISHAP_HTTP_MOST_EXTENSIONS]; /* what the extensions have prepared */
    mishap_http_fields *fields;
    mishap_http_routes *routes;
    mishap_http_metrics *metrics;
    mishap_http_rates *rates;
    mishap_http_bodies *bodies; /* a loop has the same index there as among the processes */
    struct process processes[MOST_PROCESSES];
    mishap_http_sockets *sockets; /* of each slot */
    int *bad_starts;              /* … how often in a row its loop did not become ready */
    int64_t *begin_at_ns;         /* … when to try again; 0: it has a loop */
    int64_t beat_ns;              /* when loops were checked last */
    int64_t stop_at_ns;           /* when to stop: the server was told to; 0: it was not */
    int64_t empty_at_ns;          /* … and when to stop if no session is left */
    int slots, port, signals;
    size_t turn; /* the process that gets the next connections, if it can */
    bool announced, stopping;
    mishap *failure;
} supervisor;

/* -- loops ------------------------------------------------------------------------------------- */

/* In the new process: keep only the files open that a loop needs. When the whole server ends, a
 * loop has no socket. */
static _Noreturn void be_loop(supervisor *s, size_t place, int slot, int control)
{
    const mishap_http_common common = {
        s->routes, s->metrics, s->settings->rates ? s->settings->rates : s->rates,
        s->bodies, place,      s->stop_at_ns,
        s->shared
    };
    sigset_t none;
    for (int i = 0; i < s->slots; i++)
        if (i != slot || s->stopping)
            mishap_http_sockets_close(&s->sockets[i]);
    for (size_t i = 0; i < MOST_PROCESSES; i++)
        if (s->processes[i].pid)
            close(s->processes[i].control);
    close(s->signals);
    mishap_logs_leave();
    dup2(STDERR_FILENO, STDOUT_FILENO); /* a handler's output must not block either */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    mishap_http_loop_run(s->settings, &common, &s->sockets[slot], control);
}

static void begin_later(supervisor *s, int slot, int64_t delay_ms)
{
    s->begin_at_ns[slot] = mishap_clock_monotonic_ns() + delay_ms * 1000000;
}

static int count_in(const supervisor *s, int slot)
{
    int count = 0;
    for (size_t i = 0; i < MOST_PROCESSES; i++)
        count += s->processes[i].pid && s->processes[i].slot == slot;
    return count;
}

/* If loops are replaced faster than old ones end, clients wait a moment at the socket. */
static void begin_loop(supervisor *s, int slot)
{
    size_t which = 0;
    int ends[2];
    if (count_in(s, slot) >= MOST_IN_SLOT) {
        begin_later(s, slot, 10);
        return;
    }
    while (which < MOST_PROCESSES && s->processes[which].pid)
        which++;
    if (which == MOST_PROCESSES || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        begin_later(s, slot, 100);
        return;
    }
    struct process begun = { .control = ends[0], .slot = slot };
    mishap_http_bodies_come(s->bodies, which);
    mishap_http_extensions_before_loop(s->settings, s->shared, begun.numbers);
    begun.pid = fork();
    if (begun.pid == 0) {
        close(ends[0]);
        be_loop(s, which, slot, ends[1]);
    }
    close(ends[1]);
    mishap_http_extensions_loop_forked(s->settings, s->shared);
    if (begun.pid < 0) {
        mishap_http_extensions_loop_ended(s->settings, s->shared, begun.numbers);
        close(ends[0]);
        begin_later(s, slot, 100);
        return;
    }
    s->begin_at_ns[slot] = 0;
    s->processes[which] = begun;
}

static void tell_process(const struct process *p, char word)
{
    send(p->control, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* From now on this loop only finishes the requests that it has. */
static void let_go(const supervisor *s, struct process *p)
{
    p->draining = true;
    p->kill_at_ns = mishap_clock_monotonic_ns() +
                    (2 * (int64_t)s->settings->stop_ms + 5000 + SPARE_MS) * 1000000;
}

static bool slot_is_served(const supervisor *s, int slot)
{
    for (size_t i = 0; i < MOST_PROCESSES; i++)
        if (s->processes[i].pid && s->processes[i].slot == slot && !s->processes[i].draining)
            return true;
    return false;
}

/* True if a loop is not ready yet. */
static bool is_beginning(const supervisor *s, int slot)
{
    for (size_t i = 0; i < MOST_PROCESSES; i++)
        if (s->processes[i].pid && s->processes[i].slot == slot && !s->processes[i].ready &&
            !s->processes[i].draining)
            return true;
    return false;
}

static void announce(supervisor *s)
{
    for (int i = 0; i < s->slots; i++) {
        bool ready = false;
        for (size_t j = 0; j < MOST_PROCESSES; j++)
            ready = ready ||
                    (s->processes[j].pid && s->processes[j].slot == i && s->processes[j].ready);
        if (!ready)
            return;
    }
    s->announced = true;
    mishap_http_tell_address(s->settings, s->port);
}

static void on_word(supervisor *s, struct process *p, char word)
{
    p->silent = 0;
    if (word == MISHAP_HTTP_EMPTY || word == MISHAP_HTTP_HAS)
        p->empty = word == MISHAP_HTTP_EMPTY;
    if (word == MISHAP_HTTP_READY) {
        p->ready = true;
        s->bad_starts[p->slot] = 0;
        if (!s->announced)
            announce(s);
        /* The loop that is replaced by this one may end. */
        for (size_t i = 0; i < MOST_PROCESSES && !p->draining; i++) {
            struct process *other = &s->processes[i];
            if (other->pid && other != p && other->slot == p->slot && !other->draining) {
                tell_process(other, MISHAP_HTTP_DRAIN);
                let_go(s, other);
            }
        }
    } else if (word == MISHAP_HTTP_LEAVING && !p->draining) {
        let_go(s, p);
        tell_process(p, MISHAP_HTTP_DRAIN); /* and send it no more connections */
        if (!s->stopping)
            begin_loop(s, p->slot);
    }
}

static void listen_to(supervisor *s, struct process *p)
{
    char words[16];
    ssize_t count = recv(p->control, words, sizeof words, MSG_DONTWAIT);
    for (ssize_t i = 0; i < count; i++)
        on_word(s, p, words[i]);
}

/* -- ending ------------------------------------------------------------------------------------ */

/* Connections that waited at a socket go to the next loop that is not about to end. */
static void distribute(void *state, const int *files, size_t count)
{
    supervisor *s = state;
    for (size_t i = 0; i < MOST_PROCESSES; i++) {
        const struct process *p = &s->processes[s->turn++ % MOST_PROCESSES];
        if (p->pid && !p->draining &&
            mishap_http_hand_over(p->control, MISHAP_HTTP_TAKE, files, count))
            return;
    }
}

/* Waiting connections must be answered even if a slot has no loop just now. */
static void end_sockets(supervisor *s)
{
    for (int i = 0; i < s->slots && !s->failure; i++)
        if (!slot_is_served(s, i))
            begin_loop(s, i);
    for (int i = 0; i < s->slots; i++)
        mishap_http_sockets_end(&s->sockets[i], distribute, s);
}

static void stop_processes(supervisor *s)
{
    s->stopping = true;
    end_sockets(s);
    for (size_t i = 0; i < MOST_PROCESSES; i++) {
        struct process *p = &s->processes[i];
        if (!p->pid)
            continue;
        tell_process(p, MISHAP_HTTP_STOP);
        p->draining = true;
        p->kill_at_ns = mishap_clock_monotonic_ns() +
                        ((int64_t)s->settings->stop_ms + SPARE_MS) * 1000000;
    }
}

/* The first request to stop. Until it stops, the server accepts connections and says at /ready that
 * it will: so a load balancer that looks there sends no request to a closed socket. */
static void stop_soon(supervisor *s)
{
    int64_t now = mishap_clock_monotonic_ns(), delay_ms = mishap_http_drains_for(s->settings);
    s->stop_at_ns = now + delay_ms * 1000000;
    s->empty_at_ns = now + (int64_t)s->settings->drain_ms * 1000000;
    if (!delay_ms) {
        stop_processes(s);
        return;
    }
    for (size_t i = 0; i < MOST_PROCESSES; i++)
        if (s->processes[i].pid)
            tell_process(&s->processes[i], MISHAP_HTTP_WARN);
    if (s->settings->sessions_ms)
        mishap_log_say("%s: stopping when no session is left, in %lld s at the latest\n",
                       s->settings->program, (long long)(delay_ms / 1000));
    else
        mishap_log_say("%s: stopping in %lld ms\n", s->settings->program, (long long)delay_ms);
}

static void kill_all(supervisor *s)
{
    for (size_t i = 0; i < MOST_PROCESSES; i++)
        if (s->processes[i].pid)
            mishap_signal_process(s->processes[i].pid, SIGKILL);
}

/* A loop that ended before it was ready has said why on stderr. When the server starts, this ends
 * the server. Later it is tried again, with growing pauses. */
static void on_bad_start(supervisor *s, int slot)
{
    int count = ++s->bad_starts[slot];
    if (!s->announced && count >= MOST_BAD_STARTS) {
        s->failure = mishap_raise(UNAVAILABLE, "The server could not be started.");
        stop_processes(s);
        return;
    }
    begin_later(s, slot, count < MOST_BAD_STARTS ? 50L * count : 2000);
}

/* If a signal ended a loop, that is worth a line, even if the loop was about to end. Except for
 * SIGKILL, by which the supervisor ends a loop that takes too long. */
static void tell_of_signal(const supervisor *s, const struct process *ended, int status)
{
    if (!WIFSIGNALED(status) || (ended->draining && WTERMSIG(status) == SIGKILL))
        return;
    const char *name = sigabbrev_np(WTERMSIG(status));
    mishap_log_say("%s: a server process was terminated by SIG%s%s\n", s->settings->program,
                   name ? name : "?",
                   ended->draining ? " while it was stopping" : " and is being replaced");
}

static struct process *find_process(supervisor *s, pid_t pid)
{
    for (size_t i = 0; i < MOST_PROCESSES; i++)
        if (s->processes[i].pid == pid)
            return &s->processes[i];
    return NULL;
}

static void on_end(supervisor *s, struct process *which, pid_t pid, int status)
{
    struct process ended = *which;
    close(ended.control);
    *which = (struct process){ 0 };
    mishap_http_metrics_gone(s->metrics, pid); /* its files are closed now */
    mishap_http_bodies_gone(s->bodies, (size_t)(which - s->processes));
    mishap_http_extensions_loop_ended(s->settings, s->shared, ended.numbers);
    tell_of_signal(s, &ended, status);
    if (s->stopping || slot_is_served(s, ended.slot))
        return;
    if (!ended.ready)
        on_bad_start(s, ended.slot);
    else if (!s->begin_at_ns[ended.slot])
        begin_loop(s, ended.slot);
}

static int64_t cpu_of(const struct rusage *used)
{
    const struct timeval *user = &used->ru_utime, *system = &used->ru_stime;
    return ((int64_t)user->tv_sec + system->tv_sec) * 1000000000 +
           ((int64_t)user->tv_usec + system->tv_usec) * 1000;
}

/* A stopped (SIGSTOP) loop answers no requests: kill it. */
static void reap(supervisor *s)
{
    int status;
    pid_t pid;
    struct rusage used;
    while ((pid = wait4(-1, &status, WNOHANG | WUNTRACED, &used)) > 0) {
        struct process *loop = find_process(s, pid);
        if (!WIFSTOPPED(status))
            mishap_http_metrics_used(s->metrics, pid, loop != NULL, cpu_of(&used));
        if (WIFSTOPPED(status) && loop)
            mishap_signal_process(pid, SIGKILL);
        else if (loop)
            on_end(s, loop, pid, status);
        else if (!mishap_logs_ended(pid, status))
            mishap_http_extensions_child_ended(s->settings, s->shared, pid, status);
    }
}

static void on_signal(supervisor *s, int number)
{
    switch (number) {
    case SIGCHLD:
        reap(s);
        break;
    case SIGHUP: /* log files were rotated; loops write what they have */
        for (size_t i = 0; i < MOST_PROCESSES; i++)
            if (s->processes[i].pid)
                mishap_signal_process(s->processes[i].pid, SIGHUP);
        mishap_logs_reopen();
        break;
    case SIGUSR1: /* replace all loops by new ones */
        for (int i = 0; i < s->slots && !s->stopping; i++)
            if (!is_beginning(s, i))
                begin_loop(s, i);
        break;
    default:
        reap(s); /* so that no connection is handed to a dead loop */
        if (!s->stop_at_ns) {
            stop_soon(s);
            break;
        }
        if (!s->stopping)
            stop_processes(s);
        kill_all(s); /* the second request to stop */
    }
}

/* -- the main loop ----------------------------------------------------------------------------- */

static bool any_left(const supervisor *s)
{
    for (size_t i = 0; i < MOST_PROCESSES; i++)
        if (s->processes[i].pid)
            return true;
    return false;
}

static bool is_over(const supervisor *s, int64_t now)
{
    bool empty = s->settings->sessions_ms && now >= s->empty_at_ns;
    for (size_t i = 0; i < MOST_PROCESSES && empty; i++)
        empty = !s->processes[i].pid || s->processes[i].draining || s->processes[i].empty;
    return s->stop_at_ns && !s->stopping && (empty || now >= s->stop_at_ns);
}

/* Do what is due now. Returns the milliseconds until something is due next. */
static int look_at_clock(supervisor *s)
{
    int64_t now = mishap_clock_monotonic_ns(), next = now + INT64_C(1000000000);
    if (is_over(s, now))
        stop_processes(s);
    if (s->stop_at_ns && !s->stopping && s->stop_at_ns < next)
        next = s->stop_at_ns;
    for (int i = 0; i < s->slots && !s->stopping; i++) {
        if (s->begin_at_ns[i] && now >= s->begin_at_ns[i])
            begin_loop(s, i);
        if (s->begin_at_ns[i] && s->begin_at_ns[i] < next)
            next = s->begin_at_ns[i];
    }
    for (size_t i = 0; i < MOST_PROCESSES; i++) {
        struct process *p = &s->processes[i];
        if (p->pid && p->kill_at_ns && now >= p->kill_at_ns)
            mishap_signal_process(p->pid, SIGKILL);
        else if (p->pid && p->kill_at_ns && p->kill_at_ns < next)
            next = p->kill_at_ns;
    }
    return next > now ? (int)((next - now) / 1000000) + 1 : 10;
}

/* The supervisor counts its own checks, not time: so a machine that was paused, or Ctrl-Z, ends no
 * loop. */
static void look_for_silent(supervisor *s)
{
    int64_t now = mishap_clock_monotonic_ns();
    if (!s->settings->heartbeat || now - s->beat_ns < BEAT_MS * INT64_C(1000000))
        return;
    s->beat_ns = now;
    for (size_t i = 0; i < MOST_PROCESSES; i++) {
        struct process *p = &s->processes[i];
        if (!p->pid || !p->ready || p->silent++ < MOST_SILENT)
            continue;
        mishap_log_say(
            "%s: a server process did not respond for %d seconds and is being replaced\n",
            s->settings->program, MOST_SILENT);
        p->silent = 0;
        mishap_signal_process(p->pid, SIGKILL);
    }
}

/* Files that only wake the supervisor: then extensions look. */
static nfds_t add_wakes(const supervisor *s, struct pollfd *files)
{
    int wakes[MISHAP_HTTP_MOST_EXTENSIONS];
    size_t count = mishap_http_extensions_wakes(s->settings, s->shared, wakes);
    for (size_t i = 0; i < count; i++)
        files[i] = (struct pollfd){ .fd = wakes[i], .events = POLLIN };
    return count;
}

static void watch(supervisor *s)
{
    struct pollfd files[MOST_PROCESSES + 1 + MISHAP_HTTP_MOST_EXTENSIONS];
    struct process *whose[MOST_PROCESSES + 1];
    while (!s->stopping || any_left(s)) {
        int wait_ms = look_at_clock(s);
        look_for_silent(s);
        mishap_http_extensions_look(s->settings, s->shared);
        mishap_logs_look();
        mishap_http_metrics_look(s->metrics);
        nfds_t count = 0;
        files[count++] = (struct pollfd){ .fd = s->signals, .events = POLLIN };
        for (size_t i = 0; i < MOST_PROCESSES; i++)
            if (s->processes[i].pid) {
                whose[count] = &s->processes[i];
                files[count++] = (struct pollfd){ .fd = s->processes[i].control, .events = POLLIN };
            }
        if (poll(files, count + add_wakes(s, files + count), wait_ms) <= 0)
            continue;
        for (nfds_t i = 1; i < count; i++)
            if (files[i].revents & POLLIN)
                listen_to(s, whose[i]);
            else if (files[i].revents)
                poll(NULL, 0, 1); /* it has ended; SIGCHLD follows in a moment */
        struct signalfd_siginfo info;
        while (read(s->signals, &info, sizeof info) == sizeof info)
            on_signal(s, (int)info.ssi_signo);
    }
}

/* -- start and end ----------------------------------------------------------------------------- */

static mishap *open_signals(supervisor *s)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < 5; i++)
        sigaddset(&set, (int[]){ SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD }[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    s->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return s->signals < 0 ? mishap_raise(INTERNAL_ERROR, "The server cannot receive signals.")
                          : NULL;
}

static mishap *open_all(supervisor *s)
{
    const mishap_http_settings *settings = s->settings;
    size_t size = (size_t)s->slots;
    mishap *failure = NULL;
    s->sockets = mishap_allocate(size * sizeof *s->sockets);
    s->bad_starts = mishap_allocate(size * sizeof *s->bad_starts);
    s->begin_at_ns = mishap_allocate(size * sizeof *s->begin_at_ns);
    if (!s->sockets || !s->bad_starts || !s->begin_at_ns)
        return mishap_out_of_memory();
    for (int i = 0; i < s->slots; i++) {
        s->sockets[i].count = 0;
        s->bad_starts[i] = 0;
        s->begin_at_ns[i] = 0;
    }
    failure = mishap_http_fields_make(settings->extensions, &s->fields);
    if (!failure)
        failure = mishap_http_extensions_route(settings, &s->routes);
    if (!failure)
        failure = mishap_http_metrics_make(s->routes, &settings->counted, &s->metrics);
    if (!failure)
        failure = settings->rates ? NULL : mishap_http_rates_make(settings->rate, &s->rates);
    if (!failure)
        failure = mishap_http_bodies_make(settings->bodies_limit, MOST_PROCESSES, &s->bodies);
    if (!failure)
        failure = mishap_http_listen(settings, s->sockets, s->slots, &s->port);
    return failure ? failure : open_signals(s);
}

static void close_all(supervisor *s)
{
    for (int i = 0; s->sockets && i < s->slots; i++)
        mishap_http_sockets_close(&s->sockets[i]);
    if (s->signals >= 0)
        close(s->signals);
    mishap_http_rates_free(s->rates);
    mishap_http_bodies_free(s->bodies);
    mishap_http_metrics_free(s->metrics);
    mishap_http_routes_free(s->routes);
    mishap_http_fields_free(s->fields);
    mishap_release(s->sockets);
    mishap_release(s->bad_starts);
    mishap_release(s->begin_at_ns);
}

mishap *mishap_http_supervise(mishap_http_settings *settings)
{
    supervisor s = { .settings = settings, .slots = settings->loops, .signals = -1 };
    mishap_signals_survive();
    if (!mishap_system_random(settings->secret, sizeof settings->secret))
        return mishap_raise(INTERNAL_ERROR, "The system could not provide random bytes.");
    mishap_http_files_raise(settings);
    s.failure = mishap_http_extensions_read(settings);
    if (!s.failure)
        s.failure = mishap_http_logs_begin(settings);
    if (s.failure)
        return s.failure;
    s.failure = mishap_http_extensions_prepare(settings, s.shared);
    if (s.failure) {
        mishap_logs_end();
        return s.failure;
    }
    s.failure = open_all(&s);
    if (!s.failure)
        s.failure = mishap_http_files_fit(settings, (size_t)s.sockets[0].count,
                                          mishap_http_extensions_files(settings, s.shared));
    if (!s.failure) {
        settings->fields = s.fields;
        settings->metrics = s.metrics;
        settings->routes = s.routes;
        for (int i = 0; i < s.slots; i++)
            begin_loop(&s, i);
        watch(&s);
    }
    close_all(&s);
    mishap_http_extensions_dismiss(settings, s.shared);
    mishap_logs_end();
    settings->fields = NULL;
    settings->metrics = NULL;
    settings->routes = NULL;
    return s.failure;
}
