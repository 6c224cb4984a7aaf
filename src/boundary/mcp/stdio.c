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

#include "boundary/mcp/lines.h"
#include "boundary/mcp/watch.h"
#include "incident/incident.h"
#include "mishap/mcp.h"
#include "mishap/trace.h"

enum {
    THREADS = 8,
    MOST_FLIGHTS = 256, /* while so many run, no further call is taken … */
    WAIT_MS = 1000,     /* … for so long, and then it is refused */
    MOST_LEFT = 1024,   /* … those included that nobody waits for any more */
    TICK_MS = 100,      /* how late a timeout may be */
    FINISH_MS = 500,    /* at the end, for calls to finish … */
    CANCEL_MS = 500,    /* … and for those that did not to notice */
    WRITE_S = 3,        /* … and for somebody to read the last answers */
};

/* The process at the other end of two pipes. */
struct pipes {
    mishap_mcp_lines lines;
    mishap_mcp_server server;
    mishap_mcp_peer peer;
    mishap_json_reader reader;
    mishap_text next_line; /* that was not taken yet; no data: none */
    int64_t full_since_ns; /* when too many calls ran; 0: they do not */
    mishap_threads *threads;
    int wake;                    /* an eventfd: a flight has something to say */
    mishap_mcp_flight **flights; /* whose jobs wait or run; some have no peer any more */
    size_t flight_count, flight_room;
    atomic_bool reports; /* … some of them, while they run */
    mishap_mcp_watches *watches;
    uint64_t changes_told;
    atomic_bool changes; /* there are more */
    pthread_t reading;   /* the thread that reads, and runs quick handlers */
};

/* -- messages ---------------------------------------------------------------------------------- */

/* The answer to a line that is not read. */
static void refuse_line(struct pipes *p, int code, mishap *failure)
{
    mishap_mcp_refuse(&p->peer, &p->lines.channel, (mishap_text){ NULL, 0 }, code, 413, failure,
                      NULL);
    mishap_free(failure);
}

static void take_line(struct pipes *p, mishap_text line)
{
    mishap_mcp_take_text(&p->peer, &p->lines.channel, &p->reader, line);
    if (line.length > MISHAP_MCP_LINE_KEPT)
        mishap_json_reader_release(&p->reader);
}

/* Does this line ask for something that runs on a thread? */
static bool asks_for_call(struct pipes *p, mishap_text line)
{
    static const char *const methods[] = { "tools/call", "resources/read", "prompts/get" };
    mishap_mcp_message message;
    mishap_mcp_flaw flaw;
    if (!mishap_mcp_read(&p->reader, line, &message, &flaw)) {
        mishap_free(flaw.failure);
        return false;
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods && !message.batch; i++)
        if (mishap_text_equal(message.method, mishap_text_of(methods[i])))
            return true;
    return message.batch;
}

/* While too many calls run another one waits, and the input with it. If that takes too long it is
 * refused (flight.c): else nobody could cancel those that hang. */
static bool must_wait(struct pipes *p, mishap_text line)
{
    if (p->peer.flight_count < MOST_FLIGHTS) {
        p->full_since_ns = 0;
        return false;
    }
    int64_t now = mishap_clock_monotonic_ns();
    if (!p->full_since_ns)
        p->full_since_ns = now;
    return now - p->full_since_ns < WAIT_MS * INT64_C(1000000) && asks_for_call(p, line);
}

/* All lines that are there. False: one of them has to wait. */
static bool take_lines(struct pipes *p)
{
    for (;;) {
        mishap_mcp_line kind = p->next_line.data ? MISHAP_MCP_LINE
                                                 : mishap_mcp_lines_next(&p->lines, &p->next_line);
        mishap_text line = p->next_line;
        if (kind == MISHAP_MCP_LINE && must_wait(p, line))
            return false;
        p->next_line = (mishap_text){ NULL, 0 };
        switch (kind) {
        case MISHAP_MCP_NO_LINE:
            return true;
        case MISHAP_MCP_LINE:
            take_line(p, line);
            break;
        case MISHAP_MCP_LONG_LINE:
            refuse_line(p, -32600,
                        mishap_raise(CONTENT_TOO_LARGE, "A message has more than %d bytes.",
                                     MISHAP_MCP_LINE_LIMIT));
            break;
        case MISHAP_MCP_FORGOTTEN_LINE:
            refuse_line(p, -32603, mishap_out_of_memory());
            break;
        }
    }
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

/* -- changes ----------------------------------------------------------------------------------- */

/* Any thread. The one that reads is awake, and looks before it waits. */
static void hear_change(void *state, mishap_text uri)
{
    struct pipes *p = state;
    mishap_mcp_watches_change(p->watches, uri);
    if (!atomic_exchange(&p->changes, true) && !pthread_equal(pthread_self(), p->reading))
        wake(p);
}

static void tell_changes(struct pipes *p)
{
    char room[MISHAP_ADDRESS_LIMIT];
    mishap_text uri;
    if (!atomic_exchange(&p->changes, false))
        return;
    while (mishap_mcp_watches_next(p->watches, &p->changes_told, room, &uri))
        mishap_mcp_tell_change(&p->peer, MISHAP_MCP_RESOURCE_UPDATED, uri);
}

static void catch_up(mishap_mcp_peer *peer)
{
    tell_changes((struct pipes *)(void *)((char *)peer - offsetof(struct pipes, peer)));
}

/* All that there is to say so far. */
static void write_out(struct pipes *p)
{
    tell_changes(p);
    mishap_mcp_lines_write(&p->lines);
}

/* -- from beginning to end --------------------------------------------------------------------- */

/* Until a flight has something to say, there is input (if that is wanted), or time passed. True:
 * there is input. */
static bool wait_for_any(struct pipes *p, bool input, int most_ms)
{
    struct pollfd files[] = { { .fd = p->wake, .events = POLLIN },
                              { .fd = input ? p->lines.in : -1, .events = POLLIN } };
    uint64_t count;
    int ready = poll(files, 2, most_ms);
    if (ready > 0 && files[0].revents && read(p->wake, &count, sizeof count) > 0)
        hear_flights(p);
    sweep_flights(p);
    return ready > 0 && files[1].revents;
}

static void serve(struct pipes *p)
{
    while (!p->lines.ended && !p->lines.gone) {
        bool all = take_lines(p);
        write_out(p);
        if (p->flight_count && !wait_for_any(p, all, TICK_MS))
            continue;
        if (all)
            mishap_mcp_lines_read(&p->lines);
    }
    while (!take_lines(p) && !p->lines.gone) { /* the last one may have no end of line, and wait */
        write_out(p);
        wait_for_any(p, false, TICK_MS);
    }
    write_out(p);
}

/* Calls that run may finish, and are answered. The others are cancelled; a handler that asks
 * notices. */
static void finish(struct pipes *p)
{
    const int64_t million = 1000000;
    int64_t start = mishap_clock_monotonic_ns();
    alarm(WRITE_S);
    while (p->peer.flights && !p->lines.gone &&
           mishap_clock_monotonic_ns() - start < FINISH_MS * million) {
        wait_for_any(p, false, TICK_MS);
        write_out(p);
    }
    while (p->peer.flights)
        mishap_mcp_flight_cancel(p->peer.flights);
    start = mishap_clock_monotonic_ns();
    while (p->flight_count && mishap_clock_monotonic_ns() - start < CANCEL_MS * million)
        wait_for_any(p, false, TICK_MS);
    tell_changes(p);
    mishap_mcp_listen_end(&p->peer);
    mishap_mcp_lines_write(&p->lines);
    alarm(0);
}

static void release(struct pipes *p)
{
    if (p->flight_count || p->peer.crashed)
        _exit(0); /* threads may hang, or the heap be damaged: nothing is tidied up */
    mishap_mcp_peer_release(&p->peer);
    if (p->threads)
        mishap_threads_close(p->threads);
    mishap_changes_heard_by(NULL, NULL);
    mishap_mcp_watches_free(p->watches);
    mishap_mcp_server_release(&p->server);
    mishap_json_reader_release(&p->reader);
    mishap_mcp_lines_release(&p->lines);
    mishap_release(p->flights);
    close(p->lines.in);
    close(p->lines.out);
    close(p->wake);
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
    input_file = p->lines.in;
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
    p->lines.in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    p->lines.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 && nothing >= 0)
        dup2(nothing, STDOUT_FILENO);
    if (nothing < 0 || p->lines.in < 0 || p->lines.out < 0 || p->wake < 0)
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
    p->peer.aside = &p->lines.channel;
    p->peer.catch_up = catch_up;
    if (!mishap_mcp_lines_open(&p->lines) && !failure)
        failure = mishap_out_of_memory();
    if (!failure)
        failure = mishap_mcp_watches_make(&p->watches);
    if (!failure) {
        mishap_changes_heard_by(hear_change, p);
        failure = open_services(&p->server);
    }
    if (!failure)
        failure = mishap_threads_open(THREADS, wake, p, &p->threads);
    return failure;
}

/* A failure at the start is told on stderr, for nobody expects it in the protocol. */
static mishap *run(mishap_call *call)
{
    static char storage[MISHAP_JSON_STORAGE];
    static mishap_setup setup;
    static struct pipes pipes; /* threads that are lost may look at it for ever */
    pipes = (struct pipes){
        .server = { .app = call->app,
                    .service = mishap_string(call, "service"),
                    .message_limit = MISHAP_MCP_LINE_LIMIT,
                    .flight_limit = MOST_FLIGHTS,
                    .call_ms = call->timeout_ms,
                    .verbose = call->verbose },
        .reading = pthread_self(),
        .reader = MISHAP_JSON_READER_IN(storage),
    };
    setup = (mishap_setup){ .data = mishap_call_data_folder(call),
                            .store = mishap_string(call, "store") };
    mishap_service_use(&setup);
    mishap_trace_prepare();
    mishap_incident_announce(call->app->name);
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
