/*
 * `mcp`: the protocol over standard input and output, one message a line.
 *
 * A turn reads once, takes all lines that came, and writes once. Where nothing runs on a thread,
 * that is all: a call of a quick operation costs one read and one write, and a burst of calls no
 * more than that. While something runs on a thread the turn waits for either.
 *
 * Standard output belongs to the protocol alone. What a handler prints goes to stderr, and what it
 * reads from standard input is nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "boundary/mcp/mcp.h"
#include "mishap/mcp.h"
#include "mishap/trace.h"

enum {
    THREADS = 8,
    MOST_FLIGHTS = 256,       /* while so many run, no further message is taken */
    MOST_LEFT = 1024,         /* … those included that nobody waits for any more */
    MESSAGE_LIMIT = 16 << 20, /* bytes of one line */
    READ_SIZE = 64 * 1024,    /* what a pipe holds */
    WRITE_SIZE = 256 * 1024,  /* answers are written when they are so many bytes */
    KEPT_SIZE = 1 << 20,      /* buffers that grew beyond are given back */
    TICK_MS = 100,            /* how late a timeout may be */
    FINISH_MS = 500,          /* at the end, for calls to finish … */
    CANCEL_MS = 500,          /* … and for those that did not to notice */
    WRITE_S = 3,              /* … and for somebody to read the last answers */
    LEAST_ROOM = 4096,        /* for a message that says that there is no memory */
};

struct pipes {
    mishap_mcp_channel channel; /* the first; the same for all messages */
    mishap_mcp_server server;
    mishap_mcp_peer peer;
    mishap_json_reader reader;
    mishap_threads *threads;
    int in, out, wake;

    char *input; /* bytes from `start` to `end` wait; up to `seen` there is no line feed in them */
    size_t capacity, start, seen, end;
    bool skipping; /* the rest of a line that is too long */
    bool ended;    /* there is no more input */
    bool gone;     /* nobody reads the output */

    mishap_buffer output;
    size_t begun; /* where the message that is being written starts */

    mishap_mcp_flight **flights; /* whose jobs wait or run; some have no peer any more */
    size_t flight_count, flight_room;
    atomic_bool reports; /* some have something to say */
};

/* -- out --------------------------------------------------------------------------------------- */

static char output_storage[READ_SIZE]; /* there is always room for a last word */

static void reset_output(struct pipes *p)
{
    if (p->output.on_heap && !p->output.failed && p->output.capacity <= KEPT_SIZE) {
        mishap_buffer_reset(&p->output);
        return;
    }
    mishap_buffer_release(&p->output);
    mishap_buffer_init(&p->output, output_storage, sizeof output_storage);
}

/* Whole messages, all at once. A reader that left is no failure: then there is nothing to do. */
static void write_output(struct pipes *p)
{
    mishap_text text = mishap_buffer_text(&p->output);
    while (text.length && !p->gone) {
        ssize_t count = write(p->out, text.data, text.length);
        if (count < 0 && errno == EAGAIN)
            poll(&(struct pollfd){ .fd = p->out, .events = POLLOUT }, 1, -1);
        else if (count < 0 && errno != EINTR)
            p->gone = true;
        if (count > 0) {
            text.data += count;
            text.length -= (size_t)count;
        }
    }
    reset_output(p);
}

static mishap_buffer *begin_message(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    struct pipes *p = (struct pipes *)(void *)channel; /* it is the first member */
    (void)kind;
    if (!mishap_buffer_reserve(&p->output, LEAST_ROOM))
        write_output(p);
    p->begun = p->output.length;
    return &p->output;
}

static void end_message(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    struct pipes *p = (struct pipes *)(void *)channel;
    mishap_buffer_put_char(&p->output, '\n');
    if (p->output.failed) {
        p->output.length = p->begun;
        write_output(p);
        if (kind == MISHAP_MCP_RESPONSE)
            MISHAP_PUT(&p->output, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":"
                                   "\"An internal error occurred.\"}}\n");
    }
    if (p->output.length >= WRITE_SIZE)
        write_output(p);
}

static void finish_messages(mishap_mcp_channel *channel)
{
    (void)channel;
}

/* -- in ---------------------------------------------------------------------------------------- */

static bool is_blank(mishap_text line)
{
    for (size_t i = 0; i < line.length; i++)
        if (!strchr(" \t\r", line.data[i]) || !line.data[i])
            return false;
    return true;
}

/* The answer to a line that is not read. */
static void refuse_line(struct pipes *p, int code, mishap *failure)
{
    mishap_mcp_refuse(&p->peer, &p->channel, (mishap_text){ NULL, 0 }, code, 413, failure, NULL);
    mishap_free(failure);
}

static void refuse_long_line(struct pipes *p)
{
    refuse_line(
        p, -32600,
        mishap_raise(CONTENT_TOO_LARGE, "A message has more than %d bytes.", MESSAGE_LIMIT));
}

static void take_line(struct pipes *p, mishap_text line)
{
    if (p->skipping)
        p->skipping = false; /* this was its end */
    else if (line.length > MESSAGE_LIMIT)
        refuse_long_line(p);
    else if (!is_blank(line))
        mishap_mcp_take_text(&p->peer, &p->channel, &p->reader, line);
    if (line.length > KEPT_SIZE)
        mishap_json_reader_release(&p->reader);
}

static bool is_full(const struct pipes *p)
{
    return p->peer.flight_count >= MOST_FLIGHTS;
}

/* All whole lines, as long as there is room for what they ask. True: that was all. */
static bool take_lines(struct pipes *p)
{
    while (!is_full(p)) {
        const char *from = p->input + p->seen;
        const char *feed = p->end > p->seen ? memchr(from, '\n', p->end - p->seen) : NULL;
        if (!feed) {
            p->seen = p->end;
            return true;
        }
        size_t start = p->start, after = (size_t)(feed - p->input) + 1;
        p->start = p->seen = after;
        take_line(p, (mishap_text){ p->input + start, after - 1 - start });
    }
    return false;
}

/* What is left at the end of input is taken for a line: it may be whole. */
static void take_rest(struct pipes *p)
{
    mishap_text rest = { p->input + p->start, p->end - p->start };
    p->start = p->seen = p->end = 0;
    take_line(p, rest);
}

/* The rest of this line is read and forgotten. */
static void skip_line(struct pipes *p)
{
    p->skipping = true;
    p->start = p->seen = p->end = 0;
}

/* A line that is not whole yet goes to the front. If it fills all, there must be more room; after a
 * large one, less will do. */
static void make_room(struct pipes *p)
{
    enum { MOST = MESSAGE_LIMIT + READ_SIZE };
    if (p->skipping) {
        skip_line(p);
    } else if (p->end - p->start > MESSAGE_LIMIT) {
        refuse_long_line(p);
        skip_line(p);
    }
    size_t length = p->end - p->start, capacity = p->capacity;
    if (p->start && length)
        memmove(p->input, p->input + p->start, length);
    p->start = 0;
    p->seen = p->end = length;
    if (length == capacity)
        capacity = 2 * length < MOST ? 2 * length : MOST;
    else if (capacity > KEPT_SIZE && length < READ_SIZE)
        capacity = READ_SIZE;
    char *input = capacity == p->capacity ? p->input : mishap_resize(p->input, capacity);
    if (input) {
        p->input = input;
        p->capacity = capacity;
    } else if (length == p->capacity) {
        refuse_line(p, -32603, mishap_out_of_memory());
        skip_line(p);
    }
}

static void read_input(struct pipes *p)
{
    make_room(p);
    ssize_t count = read(p->in, p->input + p->end, p->capacity - p->end);
    if (count > 0)
        p->end += (size_t)count;
    else if (count < 0 && errno == EAGAIN)
        poll(&(struct pollfd){ .fd = p->in, .events = POLLIN }, 1, -1);
    else if (count == 0 || errno != EINTR)
        p->ended = true;
    if (count == 0)
        take_rest(p);
}

/* -- flights ----------------------------------------------------------------------------------- */

static void wake(void *state)
{
    struct pipes *p = state;
    uint64_t one = 1;
    ssize_t written = write(p->wake, &one, sizeof one); /* fails only if it is awake already */
    (void)written;
}

static void wake_for_report(mishap_mcp_peer *peer, mishap_mcp_flight *flight)
{
    struct pipes *p = (struct pipes *)(void *)((char *)peer - offsetof(struct pipes, peer));
    (void)flight;
    atomic_store(&p->reports, true);
    wake(p);
}

static bool start_flight(mishap_mcp_peer *peer, mishap_mcp_flight *flight)
{
    struct pipes *p = (struct pipes *)(void *)((char *)peer - offsetof(struct pipes, peer));
    if (p->flight_count == p->flight_room) {
        size_t room = p->flight_room ? 2 * p->flight_room : 16;
        mishap_mcp_flight **more = room > MOST_LEFT
                                       ? NULL
                                       : mishap_resize(p->flights, room * sizeof *more);
        if (!more)
            return false;
        p->flights = more;
        p->flight_room = room;
    }
    if (!mishap_threads_add(p->threads, &flight->job))
        return false;
    p->flights[p->flight_count++] = flight;
    return true;
}

static void finish_flight(struct pipes *p, mishap_mcp_flight *flight)
{
    for (size_t i = 0; i < p->flight_count; i++) {
        if (p->flights[i] == flight) {
            p->flights[i] = p->flights[--p->flight_count];
            break;
        }
    }
    mishap_mcp_flight_finish(flight);
}

/* Those that have run, and what the others say while they run. */
static void hear_flights(struct pipes *p)
{
    for (mishap_job *job = mishap_threads_finished(p->threads), *next; job; job = next) {
        next = job->after;
        finish_flight(p, (mishap_mcp_flight *)(void *)job); /* it is the first member */
    }
    if (atomic_exchange(&p->reports, false))
        for (size_t i = 0; i < p->flight_count; i++)
            if (p->flights[i]->peer)
                mishap_mcp_flight_report(p->flights[i]);
}

/*
 * A handler that outstays its time is answered for, and another thread takes the place of its own.
 * A call that was cancelled before it began need not begin.
 */
static void sweep_flights(struct pipes *p)
{
    int64_t now = mishap_clock_monotonic_ns();
    for (size_t i = p->flight_count; i-- > 0;) {
        mishap_mcp_flight *flight = p->flights[i];
        int64_t deadline = atomic_load(&flight->job.deadline_ns);
        if (!deadline && !flight->peer && mishap_threads_take_back(p->threads, &flight->job)) {
            finish_flight(p, flight);
        } else if (deadline && now >= deadline) {
            if (!flight->job.lost)
                mishap_threads_replace(p->threads, &flight->job);
            if (flight->peer)
                mishap_mcp_flight_give_up(flight);
        }
    }
}

/* Until a flight has something to say, there is input (if that is wanted), or time passed. True:
 * there is input. */
static bool wait_for_any(struct pipes *p, bool input, int most_ms)
{
    struct pollfd files[] = { { .fd = p->wake, .events = POLLIN },
                              { .fd = input ? p->in : -1, .events = POLLIN } };
    uint64_t count;
    int ready = poll(files, 2, most_ms);
    if (ready > 0 && files[0].revents && read(p->wake, &count, sizeof count) > 0)
        hear_flights(p);
    sweep_flights(p);
    return ready > 0 && files[1].revents;
}

/* -- from beginning to end --------------------------------------------------------------------- */

static void serve(struct pipes *p)
{
    while (!p->ended && !p->gone) {
        bool all = take_lines(p);
        write_output(p);
        if (p->flight_count && !wait_for_any(p, all, TICK_MS))
            continue;
        if (all)
            read_input(p);
    }
    write_output(p);
}

/* Calls that run may finish, and are answered. The others are cancelled; a handler that asks
 * notices. */
static void finish(struct pipes *p)
{
    const int64_t million = 1000000;
    int64_t start = mishap_clock_monotonic_ns();
    alarm(WRITE_S);
    while (p->peer.flights && !p->gone &&
           mishap_clock_monotonic_ns() - start < FINISH_MS * million) {
        wait_for_any(p, false, TICK_MS);
        write_output(p);
    }
    while (p->peer.flights)
        mishap_mcp_flight_cancel(p->peer.flights);
    start = mishap_clock_monotonic_ns();
    while (p->flight_count && mishap_clock_monotonic_ns() - start < CANCEL_MS * million)
        wait_for_any(p, false, TICK_MS);
    mishap_mcp_listen_end(&p->peer);
    write_output(p);
    alarm(0);
}

static void release(struct pipes *p)
{
    if (p->flight_count || p->peer.crashed)
        _exit(0); /* threads may hang, or the heap be damaged: nothing is tidied up */
    mishap_mcp_peer_release(&p->peer);
    if (p->threads)
        mishap_threads_close(p->threads);
    mishap_mcp_server_release(&p->server);
    mishap_json_reader_release(&p->reader);
    mishap_buffer_release(&p->output);
    mishap_release(p->flights);
    mishap_release(p->input);
    for (int i = 0; i < 3; i++)
        if ((int[]){ p->in, p->out, p->wake }[i] >= 0)
            close((int[]){ p->in, p->out, p->wake }[i]);
}

/* -- signals ----------------------------------------------------------------------------------- */

static int input_file, no_input_file;
static volatile sig_atomic_t told_to_end;

/* The input ends here and now. Nothing stands where the input stood, so a read that has not yet
 * begun ends, too. */
static void on_signal(int number)
{
    if (number == SIGALRM || told_to_end)
        _exit(number == SIGALRM ? 0 : 128 + number);
    told_to_end = 1;
    dup2(no_input_file, input_file);
    alarm(WRITE_S);
}

static void mind_signals(struct pipes *p, int no_input)
{
    struct sigaction action = { .sa_handler = on_signal };
    input_file = p->in;
    no_input_file = no_input;
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a log that has grown too large is no reason to end */
}

/* -- the beginning ----------------------------------------------------------------------------- */

/* The two ends of the protocol get numbers of their own. Then whatever a handler or its children
 * do to descriptors 0 and 1 is no matter of the protocol. */
static mishap *take_files(struct pipes *p)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    p->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    p->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 && nothing >= 0)
        dup2(nothing, STDOUT_FILENO);
    if (nothing < 0 || p->in < 0 || p->out < 0 || p->wake < 0)
        return mishap_note(mishap_raise(UNAVAILABLE, "Standard input or output cannot be used."),
                           "reason", strerror(errno));
    dup2(nothing, STDIN_FILENO);
    mind_signals(p, nothing);
    return NULL;
}

static mishap *open_services(const mishap_mcp_server *server)
{
    mishap *failure = NULL;
    void *state;
    for (size_t i = 0; i < server->tool_count && !failure; i++)
        if (server->tools[i].operation->service)
            failure = mishap_service_open(server->app, server->tools[i].operation->service, &state);
    return failure;
}

static mishap *begin(struct pipes *p, bool chaos)
{
    mishap *failure = mishap_mcp_server_make(&p->server, chaos);
    mishap_mcp_peer_init(&p->peer, &p->server);
    p->peer.start = start_flight;
    p->peer.wake = wake_for_report;
    p->peer.aside = &p->channel;
    p->capacity = READ_SIZE;
    p->input = mishap_allocate(p->capacity);
    reset_output(p);
    if (!failure && !p->input)
        failure = mishap_out_of_memory();
    if (!failure)
        failure = open_services(&p->server);
    if (!failure)
        failure = mishap_threads_open(THREADS, wake, p, &p->threads);
    return failure;
}

static const char *optional(mishap_call *call, const char *name)
{
    return mishap_given(call, name) ? mishap_string(call, name) : NULL;
}

/* A failure at the start is told on stderr, for nobody expects it in the protocol. */
static mishap *run(mishap_call *call)
{
    static char storage[MISHAP_JSON_STORAGE];
    static mishap_setup setup;
    static struct pipes pipes; /* threads that are lost may look at it for ever */
    pipes = (struct pipes){
        .channel = { begin_message, end_message, finish_messages, .status = 200 },
        .server = { .app = call->app,
                    .service = optional(call, "service"),
                    .message_limit = MESSAGE_LIMIT,
                    .flight_limit = MOST_FLIGHTS,
                    .verbose = call->verbose },
        .reader = MISHAP_JSON_READER_IN(storage),
    };
    setup = (mishap_setup){ .data = optional(call, "data"), .store = optional(call, "store") };
    char folder[4096];
    if (!setup.data && mishap_data_folder(call->app->name, folder, sizeof folder))
        setup.data = mishap_call_print(call, "%s", folder);
    mishap_service_use(&setup);
    mishap_trace_prepare();
    bool person = isatty(STDIN_FILENO);
    mishap *failure = take_files(&pipes);
    if (!failure)
        failure = begin(&pipes, mishap_boolean(call, "chaos"));
    if (!failure && person)
        fprintf(stderr, "%s: Reading messages, one a line. Ctrl-D ends it.\n", call->app->name);
    if (!failure) {
        serve(&pipes);
        finish(&pipes);
    }
    release(&pipes);
    return failure ? failure : mishap_answer_document(call, (mishap_text)MISHAP_TEXT(""));
}

static const mishap_param params[] = {
    { "service", MISHAP_STRING, .length = { 1, 100 }, .placeholder = "NAME",
      .help = "Only the tools of this service" },
    { "data", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "DIR",
      .help = "The folder for what must last" },
    { "store", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "URL",
      .help = "Where the store is, if not in the data folder" },
    { "chaos", MISHAP_BOOLEAN, .help = "Serve the operations that fail on purpose, for drills" },
    { 0 },
};

static const mishap_example examples[] = {
    { "mcp", "For an MCP client, which starts it" },
    { "mcp --service todo", "Nothing but the tools of one service" },
    { 0 },
};

const mishap_operation mishap_mcp_command = {
    .name = "mcp",
    .summary = "Serve the operations as MCP tools over standard input and output",
    .description =
        "Speaks the Model Context Protocol, one message a line: revisions 2025-03-26, 2025-06-18 "
        "and 2025-11-25 after `initialize`, and 2026-07-28, which is stateless. Every operation "
        "that is not for the command line alone is a tool; the catalog of codes can be read as a "
        "resource.\n\n"
        "A client starts this command itself. It ends with its input, or with SIGTERM or SIGINT.",
    .params = params,
    .run = run,
    .raises = MISHAP_RAISES(UNAVAILABLE, NOT_CONFIGURED),
    .danger = MISHAP_MUTATING,
    .examples = examples,
    .group = "Server",
    .resident = true,
};
