/*
 * `mcp`: the protocol over standard input and output, one message per line. Each loop iteration
 * reads once, handles all received lines, and writes once. A call of a quick operation therefore
 * costs one read and one write, and so does a burst of calls. While the runner has calls, the
 * iteration waits for input and for results. Standard output is reserved for the protocol. Output
 * of a handler goes to stderr, and its standard input is empty.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/signals.h"
#include "incident/logs.h"
#include "mcp/calls/flight.h"
#include "mcp/changes/subscribe.h"
#include "mcp/dispatch/dispatch.h"
#include "mcp/transport/lines.h"
#include "mishap/mcp.h"
#include "mishap/trace.h"
#include "operation/caller.h"
#include "operation/chosen.h"
#include "worker/serving/served.h"

enum {
    MOST_FLIGHTS = 256, /* while so many run, no further call is begun … */
    MOST_PARKED = 128,  /* calls that wait for an answer of the client */
    WAIT_MS = 1000,     /* … for so long; then it is refused */
    TICK_MS = 100,      /* how late periodic work may be */
    FINISH_MS = 2000,   /* at the end of the input, for calls to finish … */
    HURRY_MS = 500,     /* … if a signal asks for the end … */
    CANCEL_MS = 500,    /* … and for cancelled calls to notice */
    WRITE_S = 5,        /* for all of this, and for the client to read the last answers */
};

/* The client: the process at the other end of two pipes. */
struct pipes {
    mishap_mcp_lines lines;
    mishap_mcp_server server;
    mishap_mcp_peer peer;
    mishap_json_reader reader;
    mishap_text next_line; /* the line that was not processed yet; no data: none */
    int64_t full_since_ns; /* since when too many calls run; 0: they do not */
    int64_t looked_ns;     /* when periodic work was done last */
    mishap_served served;  /* keeper and runner */
    uint64_t changes_told;
};

/* -- messages ---------------------------------------------------------------------------------- */

/* Answer a line that was not read. */
static void refuse_line(struct pipes *p, int code, mishap *failure)
{
    mishap_mcp_refuse(&p->peer, &p->lines.channel, (mishap_text){ NULL, 0 }, code, 413, failure,
                      NULL, NULL);
    mishap_free(failure);
}

static void take_line(struct pipes *p, mishap_text line)
{
    mishap_mcp_take_text(&p->peer, &p->lines.channel, &p->reader, line);
    if (line.length > MISHAP_MCP_LINE_KEPT)
        mishap_json_reader_release(&p->reader);
}

/* True if this line may be a call that takes time. */
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

/* While too many calls run, another one waits, and the input with it. If that takes too long, it is
 * refused (flight.c): otherwise the client could not cancel the calls that hang. */
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

/* Process all lines that were read. False: one of them has to wait. */
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
                        mishap_raise(CONTENT_TOO_LARGE,
                                     "A message is larger than the limit of %d bytes.",
                                     MISHAP_MCP_LINE_LIMIT));
            break;
        case MISHAP_MCP_FORGOTTEN_LINE:
            refuse_line(p, -32603, mishap_out_of_memory());
            break;
        }
    }
}

/* -- changes ----------------------------------------------------------------------------------- */

static void tell_changes(struct pipes *p)
{
    char room[MISHAP_ADDRESS_LIMIT];
    mishap_text uri;
    while (mishap_news_next(p->served.news, &p->changes_told, room, &uri))
        mishap_mcp_tell_change(&p->peer, MISHAP_MCP_RESOURCE_UPDATED, uri);
}

static void catch_up(mishap_mcp_peer *peer)
{
    tell_changes((struct pipes *)(void *)((char *)peer - offsetof(struct pipes, peer)));
}

/* -- questions to the client ------------------------------------------------------------------- */

static size_t count_parked(const struct pipes *p)
{
    size_t count = 0;
    for (const mishap_mcp_flight *flight = p->peer.flights; flight; flight = flight->next)
        count += mishap_mcp_is_parked(flight);
    return count;
}

/* Behind the end of the input there are no answers. */
static bool ask_client(mishap_mcp_peer *peer, mishap_mcp_flight *flight, uint64_t *number)
{
    const struct pipes *p = (struct pipes *)(void *)((char *)peer - offsetof(struct pipes, peer));
    (void)flight;
    if (p->lines.ended || p->lines.gone)
        return false;
    *number = count_parked(p) < MOST_PARKED ? ++peer->questions : 0;
    return true;
}

static mishap *no_more_answers(void)
{
    return mishap_raise(CANCELLED, "The input has ended before the question was answered.");
}

/* Send everything that is ready. */
static void write_out(struct pipes *p)
{
    tell_changes(p);
    mishap_mcp_lines_write(&p->lines);
}

static volatile sig_atomic_t told_to_end; /* set by a signal */
static _Atomic int64_t end_at_ns;         /* … when the alarm is due; 0: it is not set */

/* The process ends after so many seconds, in any state; 0: it does not. */
static void end_within(unsigned seconds)
{
    end_at_ns = seconds ? mishap_clock_monotonic_ns() + seconds * INT64_C(1000000000) : 0;
    alarm(seconds);
}

/* -- from beginning to end --------------------------------------------------------------------- */

/* Send progress that was held back and is due; end calls whose client does not answer. */
static void report(struct pipes *p, int64_t now)
{
    for (mishap_mcp_flight *flight = p->peer.flights, *next; flight; flight = next) {
        next = flight->next;
        if (mishap_mcp_is_parked(flight))
            mishap_mcp_parked_look(flight, now);
        else
            mishap_mcp_flight_report(flight);
    }
}

/* What is due now and then. While a call runs there is always something to wake up for, so this
 * cannot wait until nothing happens. */
static void look_after(struct pipes *p)
{
    int64_t now = mishap_clock_monotonic_ns();
    if (now - p->looked_ns < TICK_MS * INT64_C(1000000))
        return;
    p->looked_ns = now;
    report(p, now);
    mishap_keeper_look(&p->served.keeper);
    mishap_logs_look();
}

/* Wait until a call reports something, there is input (if that is wanted), or the time is over.
 * True: there is input. */
static bool wait_for_any(struct pipes *p, bool input, int most_ms)
{
    /* The signal handler replaces the input by an empty file, so that reading ends at once. */
    bool ended = input && told_to_end;
    bool ready = mishap_runner_wait(p->served.runner, input && !ended ? p->lines.in : -1,
                                    ended ? 0 : most_ms);
    look_after(p);
    return ready || ended;
}

/* Calls that wait or run, including those whose client does not wait any more. */
static bool has_calls(const struct pipes *p)
{
    return mishap_runner_count(p->served.runner, true) > 0;
}

static void serve(struct pipes *p)
{
    while (!p->lines.ended && !p->lines.gone) {
        bool all = take_lines(p);
        write_out(p);
        look_after(p);
        if ((has_calls(p) || count_parked(p)) && !wait_for_any(p, all, TICK_MS))
            continue;
        if (all)
            mishap_mcp_lines_read(&p->lines);
    }
    /* The last line may have no line feed, and may have to wait. */
    while (!take_lines(p) && !p->lines.gone) {
        write_out(p);
        wait_for_any(p, false, TICK_MS);
    }
    write_out(p);
}

/* Running calls may finish, and are answered. After some time the others are cancelled; a handler
 * can notice that. */
static void finish_pipes(struct pipes *p)
{
    const int64_t million = 1000000;
    int64_t start = mishap_clock_monotonic_ns();
    end_within(WRITE_S);
    p->lines.ended = true;
    mishap_mcp_parked_end_all(&p->peer, no_more_answers);
    while (p->peer.flights && !p->lines.gone &&
           mishap_clock_monotonic_ns() - start < (told_to_end ? HURRY_MS : FINISH_MS) * million) {
        wait_for_any(p, false, TICK_MS);
        write_out(p);
    }
    while (p->peer.flights)
        mishap_mcp_flight_cancel(p->peer.flights);
    start = mishap_clock_monotonic_ns();
    while (has_calls(p) && mishap_clock_monotonic_ns() - start < CANCEL_MS * million)
        wait_for_any(p, false, TICK_MS);
    tell_changes(p);
    mishap_mcp_listen_end(&p->peer);
    mishap_mcp_lines_write(&p->lines);
    end_within(0);
}

static void release_pipes(struct pipes *p)
{
    mishap_mcp_peer_release(&p->peer);
    mishap_served_close(&p->served);
    mishap_served_end(&p->served);
    mishap_mcp_server_release(&p->server);
    mishap_json_reader_release(&p->reader);
    mishap_mcp_lines_release(&p->lines);
    close(p->lines.in);
    close(p->lines.out);
}

/* -- signals ----------------------------------------------------------------------------------- */

static int input_file, no_input_file;

/* End the input now. The descriptor is replaced by an empty file, so a read that has not yet begun
 * ends, too. */
static void on_signal(int number)
{
    if (told_to_end)
        _exit(128 + number);
    told_to_end = 1;
    dup2(no_input_file, input_file);
    end_within(WRITE_S);
}

/* A signal that another process has sent ends nothing. */
static void on_alarm(int number)
{
    (void)number;
    if (end_at_ns && mishap_clock_monotonic_ns() >= end_at_ns)
        _exit(0);
}

static void mind_signals(struct pipes *p, int no_input)
{
    struct sigaction action = { .sa_handler = on_signal };
    input_file = p->lines.in;
    no_input_file = no_input;
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    mishap_signals_survive();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a log that has grown too large is no reason to exit */
}

/* -- the beginning ----------------------------------------------------------------------------- */

/* From now on standard output goes to stderr. */
static void print_to_stderr(void)
{
    int nothing = -1;
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDOUT_FILENO);
}

/* The two ends of the protocol get descriptor numbers of their own. So nothing that a handler or
 * its children do to descriptors 0 and 1 affects the protocol. */
static mishap *take_files(struct pipes *p)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    p->lines.in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    p->lines.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    print_to_stderr();
    if (nothing < 0 || p->lines.in < 0 || p->lines.out < 0)
        return mishap_note(mishap_raise(UNAVAILABLE, "Standard input or output cannot be used."),
                           "reason", strerror(errno));
    dup2(nothing, STDIN_FILENO);
    mind_signals(p, nothing);
    return NULL;
}

/* Handlers run in workers here, too: a handler that crashes must not end the conversation. */
static mishap *open_runner(struct pipes *p)
{
    mishap_served *served = &p->served;
    int connection = -1, kept;
    mishap *failure = mishap_served_begin(served);
    if (!failure && served->handlers && !mishap_keeper_connect(&served->keeper, &connection, &kept))
        failure = mishap_note(mishap_raise(UNAVAILABLE, "The worker processes cannot be reached."),
                              "reason", strerror(errno));
    return failure ? failure : mishap_served_open(served, connection);
}

static mishap *begin_pipes(struct pipes *p, mishap_call *call)
{
    bool for_operator = mishap_boolean(call, "operator");
    p->server.full_schemas = p->served.full_schemas;
    mishap *failure = mishap_mcp_server_make(&p->server, p->served.chaos);
    if (!mishap_mcp_lines_open(&p->lines) && !failure)
        failure = mishap_out_of_memory();
    if (!failure)
        failure = open_runner(p);
    p->server.runner = p->served.runner;
    p->server.seal = p->served.seal;
    mishap_mcp_peer_init(&p->peer, &p->server);
    p->peer.scopes = for_operator ? MISHAP_SCOPES_ALL : MISHAP_SCOPES_USUAL;
    p->peer.aside = &p->lines.channel;
    p->peer.conversation = (mishap_text)MISHAP_TEXT("stdio");
    p->peer.catch_up = catch_up;
    p->peer.ask = ask_client;
    p->peer.named = mishap_text_of(mishap_string(call, "caller"));
    p->peer.caller_is_free = mishap_caller_keys_of(p->served.setup.data) ==
                             MISHAP_CALLER_KEYS_UNUSED;
    return failure;
}

/* A failure at the start goes to stderr: clients do not expect it in the protocol. */
static mishap *run_mcp(mishap_call *call)
{
    static char storage[MISHAP_JSON_STORAGE];
    static struct pipes pipes; /* large */
    static mishap_app app;
    pipes = (struct pipes){
        .server = { .app = &app,
                    .services = mishap_string(call, "service"),
                    .message_limit = MISHAP_MCP_LINE_LIMIT,
                    .flight_limit = MOST_FLIGHTS,
                    .call_ms = call->timeout_ms,
                    .verbose = call->verbose },
        .served = { .app = &app,
                    .setup = { .data = mishap_call_data_folder(call) },
                    /* With those whose client does not wait any more. */
                    .most_calls = 2 * MOST_FLIGHTS,
                    .chaos = mishap_boolean(call, "chaos"),
                    .verbose = call->verbose,
                    .call_ms = call->timeout_ms,
                    .keeper.socket = -1 },
        .reader = MISHAP_JSON_READER_IN(storage),
    };
    mishap *failure = mishap_app_choose(call->app, pipes.server.services, &call->arena, &app);
    if (!failure)
        failure = mishap_caller_check_flag(mishap_string(call, "caller"), pipes.served.setup.data);
    if (failure) {
        print_to_stderr();
        return failure;
    }
    mishap_served_read(&pipes.served, call);
    mishap_trace_prepare();
    bool person = isatty(STDIN_FILENO);
    failure = take_files(&pipes);
    if (!failure)
        failure = mishap_logs_begin(&(mishap_logs_plan){ .program = call->app->name,
                                                         .incident_bytes = pipes.served.log_bytes,
                                                         .json_errors = pipes.served.log_json });
    print_to_stderr();
    if (!failure)
        failure = begin_pipes(&pipes, call);
    if (!failure && person)
        mishap_log_say(
            "%s: Reading MCP messages from standard input, one per line. Press Ctrl-D to exit.\n",
            call->app->name);
    if (!failure) {
        serve(&pipes);
        finish_pipes(&pipes);
    }
    release_pipes(&pipes);
    mishap_logs_end();
    print_to_stderr();
    return failure ? failure : mishap_answer_document(call, (mishap_text)MISHAP_TEXT(""));
}

static const mishap_param params[] = {
    { "data", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "DIR",
      .help = "The folder for persistent data" },
    { "caller", MISHAP_STRING, .length = { 1, MISHAP_CALLER_LONGEST }, .placeholder = "NAME",
      .help = "Name of the caller, for services that act for their callers; only where API keys "
              "are not used" },
    { "operator", MISHAP_BOOLEAN,
      .help =
          "Also offer the tools that are for the operator, such as incidents_show. Their answers "
          "have the private side of failures" },
    MISHAP_SERVED_PARAMS,
    { "chaos", MISHAP_BOOLEAN,
      .help = "Also serve the operations that fail on purpose, for drills" },
    { 0 },
};

static const mishap_example examples[] = {
    { "mcp", "The command that an MCP client runs" },
    { "mcp --service NAME", "Offer only the tools of one service" },
    { 0 },
};

const mishap_operation mishap_mcp_command = {
    .name = "mcp",
    .summary = "Serve the operations as MCP tools over standard input and output",
    .description =
        "The server implements the Model Context Protocol, with one message per line: revisions "
        "2024-11-05, 2025-03-26, 2025-06-18 and 2025-11-25 after `initialize`, and 2026-07-28, "
        "which is stateless. Every operation is a tool unless it is declared for the command line "
        "only. The catalog of error codes can be read as a resource.\n\nAn MCP client starts this "
        "command itself. The command exits at the end of its input, or on SIGTERM or SIGINT. The "
        "timeout of a handler is the one that its operation declares, or 30 seconds; --timeout-ms "
        "can only shorten it.",
    .params = params,
    .run = run_mcp,
    .raises = MISHAP_RAISES(UNAVAILABLE, NOT_CONFIGURED),
    .danger = MISHAP_MUTATING,
    .examples = examples,
    .group = "Server",
    .resident = true,
};
