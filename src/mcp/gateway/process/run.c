/*
 * The loop between a client on standard input and output and the process of a server.
 *
 * One thread waits for five things: signals, lines of the client, lines of the server, and room for
 * lines in both directions. It never waits for one side alone: a client that does not read keeps
 * the server waiting, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/signals.h"
#include "mcp/gateway/inside.h"
#include "mcp/gateway/process/child.h"
#include "mcp/gateway/process/process.h"
#include "mcp/gateway/process/remote.h"
#include "mcp/transport/lines.h"
#include "wrap/wrap.h"

enum {
    KEPT = 1 << 20,       /* memory of a buffer that stays */
    FIRST_PAUSE_MS = 100, /* before a server is started again that ended without an answer … */
    LONGEST_PAUSE_MS = 30000,
    EXIT_MS = 2000, /* for a server to end by itself, when its input has ended */
    STATUS_MS = 50, /* from the end of its output to the end of a server */
    LAST_MS = 5000, /* for a client to read the last answers */
};

static const int64_t million = 1000000;

struct loop {
    gateway g;
    const mishap_mcp_gateway_settings *settings;
    gateway_child child;
    mishap_mcp_lines client, server; /* only their input is used */
    int out;                         /* to the client */
    size_t to_client, to_server;     /* bytes of the two buffers that were written */
    int64_t read_ns;                 /* when the server last read, or had nothing to read */
    int signals;
    sigset_t mask; /* of this process, before */
    bool told_to_end, client_gone;
    unsigned failures; /* servers that ended without an answer, one after the other */
};

/* -- writing ----------------------------------------------------------------------------------- */

static size_t pending(const mishap_buffer *buffer, size_t written)
{
    return buffer->length - written;
}

/* Write as much as there is room for. False: the reader is gone. */
static bool write_out(int file, mishap_buffer *buffer, size_t *written)
{
    while (*written < buffer->length) {
        ssize_t count = write(file, buffer->data + *written, buffer->length - *written);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            break;
        if (count <= 0)
            return false;
        *written += (size_t)count;
    }
    if (*written == buffer->length) {
        mishap_buffer_reset_within(buffer, KEPT);
        *written = 0;
    } else if (*written > KEPT) {
        memmove(buffer->data, buffer->data + *written, buffer->length - *written);
        buffer->length -= *written;
        *written = 0;
    }
    return true;
}

static void write_both(struct loop *l)
{
    if (!l->client_gone && !write_out(l->out, &l->g.to_client, &l->to_client))
        l->client_gone = true;
    size_t before = pending(&l->g.to_server, l->to_server);
    if (l->child.in >= 0 && !write_out(l->child.in, &l->g.to_server, &l->to_server)) {
        mishap_mcp_gateway_child_close_in(&l->child);
        mishap_mcp_gateway_child_terminate(&l->child, l->g.now_ns);
    }
    size_t left = pending(&l->g.to_server, l->to_server);
    if (!left || left < before)
        l->read_ns = l->g.now_ns;
}

/* When the server has been given so much that the client has to wait, and does not read for the
 * time that a call has. INT64_MAX: it reads. */
static int64_t deaf_ns(const struct loop *l)
{
    return l->child.in >= 0 && pending(&l->g.to_server, l->to_server) >= GATEWAY_MOST_PENDING
               ? l->read_ns + l->settings->call_ms * million
               : INT64_MAX;
}

/* -- the server -------------------------------------------------------------------------------- */

/* A server that has answered the client is started again at once; for others the pause doubles. */
static int64_t next_start(struct loop *l)
{
    if (l->g.answers)
        l->failures = 0;
    unsigned doublings = l->failures < 10 ? l->failures : 10;
    int64_t ms = l->failures ? FIRST_PAUSE_MS * (INT64_C(1) << (doublings - 1)) : 0;
    l->failures++;
    return l->g.now_ns + (ms < LONGEST_PAUSE_MS ? ms : LONGEST_PAUSE_MS) * million;
}

static void server_lost(struct loop *l, const char *how)
{
    mishap_mcp_gateway_child_close_in(&l->child);
    mishap_mcp_gateway_child_close_out(&l->child);
    l->to_server = 0;
    if (l->g.phase != GATEWAY_DOWN)
        mishap_mcp_gateway_ended(&l->g, how, next_start(l));
}

/* 0, or an errno. */
static int start_server(struct loop *l)
{
    int error = mishap_mcp_gateway_child_start(&l->child, l->settings, &l->mask);
    if (error)
        return error;
    mishap_mcp_lines_release(&l->server);
    l->server = (mishap_mcp_lines){ .in = l->child.out, .out = -1 };
    if (!mishap_mcp_lines_open(&l->server)) {
        mishap_mcp_gateway_child_terminate(&l->child, l->g.now_ns);
        return ENOMEM;
    }
    l->to_server = 0;
    l->read_ns = l->g.now_ns;
    mishap_mcp_gateway_started(&l->g);
    return 0;
}

static void start_again(struct loop *l)
{
    char words[128], how[64];
    if (l->g.phase != GATEWAY_DOWN || l->child.pid || l->g.now_ns < l->g.restart_ns)
        return;
    int error = start_server(l);
    if (!error)
        return;
    mishap_system_error(error, words, sizeof words);
    snprintf(how, sizeof how, "could not be started: %.40s", words);
    mishap_mcp_gateway_child_close_in(&l->child);
    mishap_mcp_gateway_child_close_out(&l->child);
    mishap_mcp_gateway_ended(&l->g, how, next_start(l));
}

static void take_server_lines(struct loop *l)
{
    mishap_text line;
    mishap_mcp_line kind;
    while ((kind = mishap_mcp_lines_next(&l->server, &line)) != MISHAP_MCP_NO_LINE) {
        if (kind == MISHAP_MCP_LINE)
            mishap_mcp_gateway_from_server(&l->g, line);
        else
            mishap_mcp_gateway_note(&l->g, "has sent a line that is too long",
                                    (mishap_text){ NULL, 0 });
    }
}

static bool is_readable(int file)
{
    struct pollfd ready = { .fd = file, .events = POLLIN };
    return file >= 0 && poll(&ready, 1, 0) == 1;
}

/* What it has written before it ended counts. A descendant may hold the pipe, so nothing is waited
 * for. */
static void read_rest(struct loop *l)
{
    while (is_readable(l->child.out) && !l->server.ended) {
        mishap_mcp_lines_read(&l->server);
        take_server_lines(l);
    }
    l->server.ended = true;
    take_server_lines(l);
}

static void look_at_server(struct loop *l)
{
    char how[64];
    if (!mishap_mcp_gateway_child_look(&l->child, l->g.now_ns))
        return;
    if (l->child.out >= 0)
        read_rest(l);
    mishap_mcp_gateway_child_tell(&l->child, how, sizeof how);
    server_lost(l, how);
}

/* The end of its output is its end, too. In most cases the process ends by itself a moment later,
 * and its status tells more. */
static void read_server(struct loop *l)
{
    mishap_mcp_lines_read(&l->server);
    take_server_lines(l);
    if (!l->server.ended)
        return;
    mishap_mcp_gateway_child_close_out(&l->child);
    mishap_mcp_gateway_child_close_in(&l->child);
    poll(&(struct pollfd){ .fd = l->signals, .events = POLLIN }, 1, STATUS_MS);
    look_at_server(l);
    mishap_mcp_gateway_child_terminate(&l->child, l->g.now_ns);
    server_lost(l, "closed its output");
}

/* -- the client -------------------------------------------------------------------------------- */

static void read_client(struct loop *l)
{
    mishap_text line;
    mishap_mcp_line kind;
    mishap_mcp_lines_read(&l->client);
    while ((kind = mishap_mcp_lines_next(&l->client, &line)) != MISHAP_MCP_NO_LINE) {
        if (kind == MISHAP_MCP_LINE)
            mishap_mcp_gateway_from_client(&l->g, line);
        else
            mishap_mcp_gateway_client_line_lost(&l->g, kind == MISHAP_MCP_FORGOTTEN_LINE);
    }
}

/* -- the loop ---------------------------------------------------------------------------------- */

static void take_signals(struct loop *l)
{
    struct signalfd_siginfo about;
    while (read(l->signals, &about, sizeof about) == (ssize_t)sizeof about)
        if (about.ssi_signo != SIGCHLD)
            l->told_to_end = true;
}

static int wait_ms(const struct loop *l, int64_t next)
{
    if (l->g.phase == GATEWAY_DOWN && !l->child.pid && l->g.restart_ns < next)
        next = l->g.restart_ns;
    if (l->child.kill_ns < next)
        next = l->child.kill_ns;
    if (deaf_ns(l) < next)
        next = deaf_ns(l);
    if (next == INT64_MAX)
        return -1;
    int64_t left = next - mishap_clock_monotonic_ns();
    return left <= 0 ? 0 : left > INT64_C(3600000) * million ? 3600000 : (int)(left / million) + 1;
}

/* Wait for anything, and handle it. */
static void turn(struct loop *l, int64_t next)
{
    enum { SIGNALS, CLIENT, SERVER, TO_CLIENT, TO_SERVER, FILES };
    bool client_reads = pending(&l->g.to_client, l->to_client) < GATEWAY_MOST_PENDING;
    bool server_reads = pending(&l->g.to_server, l->to_server) < GATEWAY_MOST_PENDING;
    bool from_client = !l->client.ended && server_reads && client_reads;
    struct pollfd files[FILES] = {
        [SIGNALS] = { .fd = l->signals, .events = POLLIN },
        [CLIENT] = { .fd = from_client ? l->client.in : -1, .events = POLLIN },
        [SERVER] = { .fd = client_reads ? l->child.out : -1, .events = POLLIN },
        /* Without bytes to be written it says only that the reader is gone. */
        [TO_CLIENT] = { .fd = l->out,
                        .events = pending(&l->g.to_client, l->to_client) ? POLLOUT : 0 },
        [TO_SERVER] = { .fd = pending(&l->g.to_server, l->to_server) ? l->child.in : -1,
                        .events = POLLOUT },
    };
    int ready = poll(files, FILES, wait_ms(l, next));
    l->g.now_ns = mishap_clock_monotonic_ns();
    if (ready < 0)
        return;
    if (files[TO_CLIENT].revents & (POLLERR | POLLHUP | POLLNVAL))
        l->client_gone = true;
    if (files[SERVER].revents)
        read_server(l);
    if (files[CLIENT].revents)
        read_client(l);
    if (files[SIGNALS].revents)
        take_signals(l);
    if (files[SIGNALS].revents || l->g.now_ns >= l->child.kill_ns)
        look_at_server(l);
}

/* True if the client waits for an answer. */
static bool is_awaited(const gateway *g)
{
    for (const gateway_call *call = g->oldest; call; call = call->after)
        if (!call->cancelled && call->kind != GATEWAY_LISTEN)
            return true;
    return false;
}

/* At the end of its input the client still gets the answers that it waits for. */
static bool is_over(const struct loop *l)
{
    bool idle = !pending(&l->g.to_client, l->to_client) && !is_awaited(&l->g);
    return l->told_to_end || l->client_gone || (l->client.ended && idle);
}

static void serve(struct loop *l)
{
    while (!is_over(l)) {
        mishap_mcp_gateway_tick(&l->g);
        if (l->g.stuck) {
            mishap_mcp_gateway_child_terminate(&l->child, l->g.now_ns);
            server_lost(l, "did not answer `initialize`");
        }
        if (l->g.now_ns >= deaf_ns(l)) {
            mishap_mcp_gateway_child_terminate(&l->child, l->g.now_ns);
            server_lost(l, "did not read its input");
        }
        start_again(l);
        int64_t next = mishap_mcp_gateway_tick(&l->g); /* a start has deadlines of its own */
        write_both(l);
        if (is_over(l)) /* that was the last answer */
            break;
        turn(l, next);
    }
}

/* -- the end ----------------------------------------------------------------------------------- */

/* Wait for signals and for the server; false: the time is over. */
static bool wait_for_end(struct loop *l, int64_t until_ns)
{
    struct pollfd files[] = { { .fd = l->signals, .events = POLLIN },
                              { .fd = l->child.out, .events = POLLIN } };
    int64_t now = mishap_clock_monotonic_ns();
    int64_t end = until_ns < l->child.kill_ns ? until_ns : l->child.kill_ns;
    if (now < end)
        poll(files, 2, (int)((end - now) / million) + 1);
    if (files[1].revents && l->child.out >= 0) {
        mishap_mcp_lines_read(&l->server); /* what it says now reaches no reader */
        l->server.start = l->server.seen = l->server.end = 0;
        if (l->server.ended)
            mishap_mcp_gateway_child_close_out(&l->child);
    }
    take_signals(l);
    l->g.now_ns = mishap_clock_monotonic_ns();
    mishap_mcp_gateway_child_look(&l->child, l->g.now_ns);
    return l->g.now_ns < until_ns;
}

/* As the protocol says: its input ends, then it is asked to, then it is killed. */
static void end_server(struct loop *l)
{
    int64_t until = mishap_clock_monotonic_ns() + (l->told_to_end ? 0 : EXIT_MS * million);
    mishap_mcp_gateway_child_close_in(&l->child);
    while (l->child.pid && wait_for_end(l, until))
        ;
    mishap_mcp_gateway_child_terminate(&l->child, l->g.now_ns);
    while (l->child.pid)
        wait_for_end(l, INT64_MAX);
    mishap_mcp_gateway_child_close_out(&l->child);
}

/* -- the beginning ----------------------------------------------------------------------------- */

static const int watched[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP };

static bool watch_signals(struct loop *l)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&set, watched[i]);
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, there is nothing to wait for */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, &l->mask) != 0)
        return false;
    l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return l->signals >= 0;
}

/* Standard output, so that writing never waits. Other processes may use the same open file, so a
 * pipe or a terminal is opened once more; a file never keeps a writer waiting. */
static int open_out(void)
{
    struct stat about;
    if (fstat(STDOUT_FILENO, &about) != 0)
        return -1;
    if (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode)) {
        int again = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (again >= 0)
            return again;
    }
    int file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (file >= 0 && !S_ISREG(about.st_mode))
        fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
    return file;
}

/* What is printed from now on goes to stderr, and a server that reads standard input gets a pipe.
 */
static mishap *take_files(struct loop *l)
{
    l->client.in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    l->out = open_out();
    bool ready = l->client.in >= 0 && l->out >= 0 && watch_signals(l);
    if (!ready)
        return mishap_raise_errno(errno, "Standard input or output cannot be used.");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    return mishap_mcp_lines_open(&l->client) ? NULL : mishap_out_of_memory();
}

static void release(struct loop *l)
{
    int64_t until = mishap_clock_monotonic_ns() + LAST_MS * million;
    while (pending(&l->g.to_client, l->to_client) && !l->client_gone && !l->told_to_end &&
           mishap_clock_monotonic_ns() < until) {
        poll(&(struct pollfd){ .fd = l->out, .events = POLLOUT }, 1, 100);
        write_both(l);
    }
    end_server(l);
    mishap_mcp_lines_release(&l->client);
    mishap_mcp_lines_release(&l->server);
    mishap_mcp_gateway_close(&l->g);
    if (l->client.in >= 0)
        close(l->client.in);
    if (l->out >= 0)
        close(l->out);
    if (l->signals >= 0)
        close(l->signals);
    sigprocmask(SIG_SETMASK, &l->mask, NULL);
}

mishap *mishap_mcp_gateway_run(const mishap_mcp_gateway_settings *settings, int *error)
{
    static struct loop l; /* large */
    l = (struct loop){ .settings = settings, .out = -1, .signals = -1 };
    l.client.in = l.client.out = l.server.in = -1;
    l.child = (gateway_child){ .in = -1, .out = -1, .kill_ns = INT64_MAX };
    *error = 0;
    sigprocmask(SIG_SETMASK, NULL, &l.mask);
    mishap_mcp_gateway_open(&l.g, settings);
    l.g.now_ns = mishap_clock_monotonic_ns();
    mishap *failure = settings->url ? mishap_mcp_gateway_remote_check(settings) : NULL;
    if (!failure)
        failure = take_files(&l);
    if (!failure && (*error = start_server(&l)))
        failure = settings->url ? mishap_raise_errno(*error, "The gateway cannot start a process.")
                                : mishap_wrap_not_started(settings->argv, *error);
    if (!failure)
        serve(&l);
    release(&l);
    return failure;
}
