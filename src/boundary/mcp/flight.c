/*
 * Calls of tools. A quick one is answered at once; any other is a flight: its handler runs on a
 * thread, and says how far it has come, until it is answered, given up or cancelled.
 *
 * Who owns what: a flight belongs to the thread that reads, and is only lent to the one that runs
 * its job: call, result and `crashed` are that thread's until the job comes back. What the handler
 * says while it runs is gathered under the lock, and sent by the thread that reads. The lock also
 * guards peer and channel against the handler; only the thread that reads changes them.
 */
#include "boundary/mcp/mcp.h"

#include <math.h>

#include "incident/incident.h"
#include "operation/hide.h"

enum {
    FLIGHTS = 256,     /* of one peer, where the server says nothing */
    ROOM = 2048,       /* for the arguments of most calls, and for most reports */
    MOST_WORDS = 1024, /* bytes of a report that are told */
    PACE_NS = 45000000,
    BUSY_MS = 1000, /* when to try again */
};

#define META_LOG_LEVEL "io.modelcontextprotocol/logLevel"

/* -- levels ------------------------------------------------------------------------------------ */

/* In the order of mishap_level. */
static const char *const levels[] = { "debug",    "info",  "notice",    "warning", "error",
                                      "critical", "alert", "emergency", NULL };

static bool find_level(mishap_text name, mishap_level *level)
{
    for (mishap_level i = MISHAP_DEBUG; i <= MISHAP_EMERGENCY; i++) {
        if (mishap_text_equal(mishap_text_of(levels[i]), name)) {
            *level = i;
            return true;
        }
    }
    return false;
}

static const mishap_param level_params[] = {
    { "level", MISHAP_ENUM, .required = true, .choices = levels },
    { 0 },
};

mishap *mishap_mcp_set_level(mishap_mcp_request *request, mishap_buffer *result)
{
    yyjson_val none = { .tag = YYJSON_TYPE_OBJ }, *params = request->message->params;
    mishap *failure = mishap_params_check(level_params, params ? params : &none);
    (void)result;
    if (!failure)
        find_level(mishap_json_text(yyjson_obj_get(params, "level")), &request->peer->level);
    return failure;
}

/* Older revisions: what the session has asked for. The stateless one: what this request asks for,
 * and else nothing. */
static void choose_level(mishap_mcp_flight *flight, const mishap_mcp_request *request)
{
    yyjson_val *level = yyjson_obj_get(request->message->meta, META_LOG_LEVEL);
    flight->level = request->peer->level;
    flight->logs = !mishap_mcp_is_modern(flight->revision) ||
                   find_level(mishap_json_text(level), &flight->level);
}

/* -- what a handler says while it runs --------------------------------------------------------- */

static mishap_mcp_flight *flight_of(const mishap_watcher *watcher)
{
    return (mishap_mcp_flight *)(void *)((uintptr_t)watcher - offsetof(mishap_mcp_flight, watcher));
}

/* Whose lock this thread holds: a crash can come between. */
static _Thread_local mishap_mcp_flight *held;

static void lock(mishap_mcp_flight *flight)
{
    pthread_mutex_lock(&flight->lock);
    held = flight;
}

static void unlock(mishap_mcp_flight *flight)
{
    held = NULL;
    pthread_mutex_unlock(&flight->lock);
}

/* A string of what the handler said: not too long, and without what must not leave. */
static void put_words(mishap_buffer *b, const mishap_call *call, mishap_text words)
{
    char storage[4 * MOST_WORDS], room[ROOM];
    mishap_arena arena;
    mishap_buffer hidden;
    mishap_secrets secrets;
    secrets.count = 0;
    mishap_hide_learn(&secrets, call);
    mishap_arena_init(&arena, storage, sizeof storage);
    mishap_buffer_init(&hidden, room, sizeof room);
    words.length = words.length > MOST_WORDS ? mishap_utf8_cut(words, MOST_WORDS) : words.length;
    words = mishap_utf8_clean(&arena, words);
    if (mishap_guard_finds_trace(words, NULL))
        words = mishap_hide_removed;
    mishap_secrets_put_hidden(&hidden, &secrets, words);
    b->failed = b->failed || hidden.failed || !words.data;
    mishap_json_string(b, mishap_buffer_text(&hidden));
    mishap_buffer_release(&hidden);
    mishap_arena_release(&arena);
}

static void put_number(mishap_buffer *b, double number)
{
    if (number == floor(number) && fabs(number) < 9e15)
        mishap_json_int(b, (int64_t)number);
    else
        mishap_buffer_put_real(b, number);
}

/* The lock is held. */
static void queue(mishap_mcp_flight *flight, const mishap_buffer *line)
{
    mishap_buffer_put_text(&flight->reports, mishap_buffer_text(line));
    flight->report_count++;
    if (!flight->woken && flight->peer->wake) {
        flight->woken = true;
        flight->peer->wake(flight->peer, flight);
    }
}

/* What comes too soon is kept until something newer takes its place, or it is sent in the end. */
static void add_progress(mishap_mcp_flight *flight, double done, const mishap_buffer *line)
{
    int64_t now = mishap_clock_monotonic_ns();
    if (!flight->channel || !(done > flight->progress))
        return;
    flight->progress = done;
    mishap_buffer_reset(&flight->latest);
    if (flight->report_count < MISHAP_MCP_REPORTS && now - flight->progress_ns >= PACE_NS) {
        flight->progress_ns = now;
        queue(flight, line);
    } else {
        mishap_buffer_put_text(&flight->latest, mishap_buffer_text(line));
    }
}

/* Whatever a handler hands over is read before the lock is taken: it may be no sound address. */
static void on_progress(const mishap_watcher *watcher, double done, double total, const char *words)
{
    mishap_mcp_flight *flight = flight_of(watcher);
    char room[ROOM];
    mishap_buffer line;
    if (!isfinite(done))
        return;
    mishap_buffer_init(&line, room, sizeof room);
    MISHAP_PUT(&line, "p{");
    MISHAP_JSON_KEY(&line, "progressToken");
    mishap_buffer_put_text(&line, flight->progress_token);
    MISHAP_JSON_KEY(&line, "progress");
    put_number(&line, done);
    if (isfinite(total) && total > 0) {
        MISHAP_JSON_KEY(&line, "total");
        put_number(&line, total);
    }
    if (words) {
        MISHAP_JSON_KEY(&line, "message");
        put_words(&line, flight->job.call, mishap_text_of(words));
    }
    MISHAP_PUT(&line, "\n");
    if (!line.failed) {
        lock(flight);
        add_progress(flight, done, &line);
        unlock(flight);
    }
    mishap_buffer_release(&line);
}

static void on_log(const mishap_watcher *watcher, mishap_level level, mishap_text words)
{
    mishap_mcp_flight *flight = flight_of(watcher);
    char room[ROOM];
    mishap_buffer line;
    if (level < flight->level || level > MISHAP_EMERGENCY)
        return;
    mishap_buffer_init(&line, room, sizeof room);
    MISHAP_PUT(&line, "m{");
    MISHAP_JSON_KEY(&line, "level");
    mishap_json_string(&line, mishap_text_of(levels[level]));
    MISHAP_JSON_KEY(&line, "logger");
    mishap_json_string(&line, flight->tool->name);
    MISHAP_JSON_KEY(&line, "data");
    put_words(&line, flight->job.call, words);
    MISHAP_PUT(&line, "\n");
    if (!line.failed) {
        lock(flight);
        if (flight->channel && flight->report_count < MISHAP_MCP_REPORTS)
            queue(flight, &line);
        unlock(flight);
    }
    mishap_buffer_release(&line);
}

/* -- reports ----------------------------------------------------------------------------------- */

static void send_lines(mishap_mcp_channel *channel, mishap_text lines)
{
    while (lines.length) {
        const char *feed = memchr(lines.data, '\n', lines.length);
        size_t length = (size_t)(feed - lines.data);
        const char *method = lines.data[0] == 'p' ? "notifications/progress"
                                                  : "notifications/message";
        mishap_buffer *buffer = mishap_mcp_begin_notification(channel, method);
        mishap_buffer_put(buffer, lines.data + 2, length - 2);
        mishap_mcp_finish_notification(channel, buffer);
        lines.data += length + 1;
        lines.length -= length + 1;
    }
}

void mishap_mcp_flight_report(mishap_mcp_flight *flight)
{
    lock(flight);
    mishap_buffer reports = flight->reports, latest = flight->latest;
    flight->reports = flight->latest = (mishap_buffer){ 0 };
    flight->report_count = 0;
    flight->woken = false;
    unlock(flight);
    if (flight->channel) {
        send_lines(flight->channel, mishap_buffer_text(&reports));
        send_lines(flight->channel, mishap_buffer_text(&latest));
    }
    mishap_buffer_release(&reports);
    mishap_buffer_release(&latest);
}

/* -- failures of which no handler knows -------------------------------------------------------- */

static mishap *too_busy(const char *why)
{
    return mishap_retry_after(mishap_raise(UNAVAILABLE, "%s", why), BUSY_MS);
}

/* The result of a call that did not begin, or is not waited for any more. Frees the failure. */
static void put_refusal(mishap_buffer *result, const mishap_mcp_server *server,
                        const mishap_mcp_tool *tool, mishap *failure, const char *incident,
                        mishap_mcp_revision revision)
{
    char id[MISHAP_ID_LENGTH + 1];
    if (!incident) {
        mishap_id_make(id);
        incident = id;
    }
    mishap_mcp_put_outcome(result, tool, NULL, failure, incident, revision);
    mishap_incident_record(&(mishap_incident_entry){
        .program = server->app->name,
        .operation = tool->operation->name,
        .id = incident,
        .failure = failure,
        .to_stderr = server->verbose && mishap_told(failure)->category != MISHAP_VALIDATION,
    });
    mishap_free(failure);
}

/* -- flights ----------------------------------------------------------------------------------- */

/* Run the handler and make the result: on a thread, or at once. */
static void conclude(mishap_call *call, const mishap_mcp_tool *tool, const char *incident,
                     mishap_mcp_revision revision, mishap_buffer *result)
{
    mishap *failure = mishap_call_run(call);
    if (held)
        unlock(held); /* it crashed in our hands */
    mishap_mcp_put_outcome(result, tool, call, failure, incident, revision);
    mishap_free(failure);
}

static void run_job(mishap_job *job)
{
    mishap_mcp_flight *flight = (mishap_mcp_flight *)(void *)job; /* it is the first member */
    if (mishap_cancelled(job->call))
        return; /* before it began */
    conclude(job->call, flight->tool, flight->incident, flight->revision, &flight->result);
    flight->crashed = job->call->crashed;
}

static void put_token(mishap_buffer *b, const mishap_mcp_message *message)
{
    yyjson_val *token = yyjson_obj_get(message->meta, "progressToken");
    if (yyjson_is_str(token) || yyjson_is_int(token) || yyjson_is_raw(token))
        mishap_json_copy(b, token);
}

/* Text that is needed after the message is gone lies behind the flight. */
static char *keep(char *to, mishap_text *kept, mishap_text text)
{
    if (text.length)
        memcpy(to, text.data, text.length);
    *kept = (mishap_text){ to, text.length };
    return to + text.length;
}

static mishap_mcp_flight *make_flight(const mishap_mcp_request *request,
                                      const mishap_mcp_tool *tool, mishap_call *call)
{
    char room[ROOM];
    mishap_buffer token;
    const mishap_mcp_peer *peer = request->peer;
    size_t caller = peer->caller ? strlen(peer->caller) + 1 : 0;
    mishap_buffer_init(&token, room, sizeof room);
    put_token(&token, request->message);
    mishap_mcp_flight *flight = token.failed
                                    ? NULL
                                    : mishap_allocate(sizeof *flight + token.length +
                                                      request->message->id.length + caller);
    if (flight) {
        *flight = (mishap_mcp_flight){ .job = { .run = run_job, .call = call },
                                       .peer = request->peer,
                                       .channel = request->channel,
                                       .server = peer->server,
                                       .tool = tool,
                                       .revision = request->message->revision,
                                       .progress = -INFINITY,
                                       .progress_ns = INT64_MIN / 2 };
        char *to = (char *)(flight + 1);
        to = keep(to, &flight->id, request->message->id);
        to = keep(to, &flight->progress_token, mishap_buffer_text(&token));
        call->caller = caller ? memcpy(to, peer->caller, caller) : NULL;
        choose_level(flight, request);
        flight->watcher.progress = flight->progress_token.length ? on_progress : NULL;
        flight->watcher.log = flight->logs ? on_log : NULL;
        call->watcher = &flight->watcher;
        mishap_id_make(flight->incident);
        pthread_mutex_init(&flight->lock, NULL);
    }
    mishap_buffer_release(&token);
    return flight;
}

static void free_flight(mishap_mcp_flight *flight)
{
    mishap_call_end(flight->job.call);
    mishap_buffer_release(&flight->result);
    mishap_buffer_release(&flight->reports);
    mishap_buffer_release(&flight->latest);
    pthread_mutex_destroy(&flight->lock);
    mishap_release(flight);
}

static void enter(mishap_mcp_flight *flight)
{
    mishap_mcp_peer *peer = flight->peer;
    flight->next = peer->flights;
    if (flight->next)
        flight->next->previous = flight;
    peer->flights = flight;
    peer->flight_count++;
}

/* From here on the handler reaches neither peer nor channel. */
static void leave(mishap_mcp_flight *flight)
{
    mishap_mcp_peer *peer = flight->peer;
    *(flight->previous ? &flight->previous->next : &peer->flights) = flight->next;
    if (flight->next)
        flight->next->previous = flight->previous;
    flight->next = flight->previous = NULL;
    peer->flight_count--;
    lock(flight);
    flight->peer = NULL;
    flight->channel = NULL;
    unlock(flight);
}

mishap_mcp_flight *mishap_mcp_flight_find(const mishap_mcp_peer *peer, mishap_text id)
{
    mishap_mcp_flight *flight = peer->flights;
    while (flight && !mishap_text_equal(flight->id, id))
        flight = flight->next;
    return flight;
}

/* -- the beginning ----------------------------------------------------------------------------- */

/* A quick call is over before the message is gone; any other has a copy of its arguments. The text
 * of the message was inspected when it was read. */
static mishap *begin_call(const mishap_mcp_request *request, const mishap_operation *operation,
                          yyjson_val *arguments, mishap_call **call)
{
    static yyjson_val none = { .tag = YYJSON_TYPE_OBJ };
    const mishap_mcp_server *server = request->peer->server;
    char room[ROOM];
    mishap_buffer json;
    mishap *failure;
    if (!arguments)
        arguments = &none;
    if (operation->quick) {
        failure = mishap_call_begin_with(server->app, operation, arguments, call);
    } else {
        mishap_buffer_init(&json, room, sizeof room);
        mishap_json_copy(&json, arguments);
        failure = json.failed
                      ? mishap_out_of_memory()
                      : mishap_call_begin(server->app, operation, mishap_buffer_text(&json), call);
        mishap_buffer_release(&json);
    }
    if (!failure)
        (*call)->verbose = server->verbose;
    return failure;
}

/* NULL: it has started, and the call is its own. */
static mishap *start_flight(const mishap_mcp_request *request, const mishap_mcp_tool *tool,
                            mishap_call *call)
{
    mishap_mcp_peer *peer = request->peer;
    size_t limit = peer->server->flight_limit ? peer->server->flight_limit : FLIGHTS;
    if (peer->flight_count >= limit)
        return too_busy("Too many calls are running already.");
    mishap_mcp_flight *flight = make_flight(request, tool, call);
    if (!flight)
        return mishap_out_of_memory();
    enter(flight);
    if (peer->start && peer->start(peer, flight))
        return NULL;
    leave(flight);
    flight->job.call = NULL;
    free_flight(flight);
    return too_busy("The server is busy with other calls.");
}

bool mishap_mcp_flight_begin(mishap_mcp_request *request, const mishap_mcp_tool *tool,
                             yyjson_val *arguments, mishap_buffer *result)
{
    mishap_mcp_peer *peer = request->peer;
    mishap_mcp_revision revision = request->message->revision;
    mishap_call *call = NULL;
    mishap *failure = begin_call(request, tool->operation, arguments, &call);
    if (!failure && tool->operation->quick) {
        call->caller = peer->caller;
        conclude(call, tool, NULL, revision, result);
        peer->crashed = peer->crashed || call->crashed;
    } else if (!failure) {
        failure = start_flight(request, tool, call);
        if (!failure)
            return false;
    }
    mishap_call_end(call);
    if (failure)
        put_refusal(result, peer->server, tool, failure, NULL, revision);
    return true;
}

/* -- the end ----------------------------------------------------------------------------------- */

/* The last that is heard of it. To finish the channel may be the end of the peer. */
static void respond(mishap_mcp_flight *flight, const mishap_buffer *members)
{
    mishap_mcp_channel *channel = flight->channel;
    mishap_buffer *buffer = mishap_mcp_begin_result(channel, flight->id);
    if (members->failed)
        mishap_buffer_reserve(buffer, SIZE_MAX); /* fails: half a result is none */
    mishap_buffer_put_text(buffer, mishap_buffer_text(members));
    mishap_mcp_finish_result(flight->peer, channel, buffer, flight->revision);
    leave(flight);
    channel->finish(channel);
}

static void respond_with(mishap_mcp_flight *flight, mishap *failure)
{
    char room[ROOM];
    mishap_buffer members;
    mishap_buffer_init(&members, room, sizeof room);
    put_refusal(&members, flight->server, flight->tool, failure, flight->incident,
                flight->revision);
    respond(flight, &members);
    mishap_buffer_release(&members);
}

void mishap_mcp_flight_finish(mishap_mcp_flight *flight)
{
    bool has_run = flight->result.length || flight->result.failed;
    if (flight->peer) {
        mishap_mcp_flight_report(flight);
        flight->peer->crashed = flight->peer->crashed || flight->crashed;
        if (has_run)
            respond(flight, &flight->result);
        else
            respond_with(flight, too_busy("The server is busy with other calls."));
    }
    free_flight(flight);
}

void mishap_mcp_flight_give_up(mishap_mcp_flight *flight)
{
    bool safe = flight->tool->operation->danger == MISHAP_SAFE;
    if (!flight->peer)
        return;
    atomic_store(&flight->job.call->cancelled, true);
    mishap_mcp_flight_report(flight);
    mishap *m = mishap_raise(TIMEOUT, "The call was not finished in time.");
    respond_with(flight, mishap_retryable(m, safe)); /* of another it is not known what it did */
}

void mishap_mcp_flight_cancel(mishap_mcp_flight *flight)
{
    mishap_mcp_channel *channel = flight->channel;
    if (!flight->peer)
        return;
    atomic_store(&flight->job.call->cancelled, true);
    leave(flight);
    channel->finish(channel);
}
