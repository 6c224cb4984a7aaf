/*
 * Calls of tools. A quick one is answered at once; any other is a flight: its handler runs on a
 * thread, until it is answered, given up or cancelled. What it says meanwhile is report.c's.
 *
 * Who owns what: a flight belongs to the thread that reads, and is only lent to the one that runs
 * its job: call, result and `crashed` are that thread's until the job comes back. The lock guards
 * peer and channel against the handler; only the thread that reads changes them.
 */
#include "boundary/mcp/mcp.h"
#include "incident/incident.h"

enum {
    FLIGHTS = 256,  /* of one peer, where the server says nothing */
    ROOM = 2048,    /* for the arguments of most calls, and for most refusals */
    BUSY_MS = 1000, /* when to try again */
};

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
    if (mishap_mcp_is_incident(failure))
        mishap_incident_record(&(mishap_incident_entry){ .program = server->app->name,
                                                         .operation = tool->operation->name,
                                                         .id = incident,
                                                         .failure = failure,
                                                         .to_stderr = server->verbose });
    mishap_free(failure);
}

/* -- flights ----------------------------------------------------------------------------------- */

/* Run the handler and make the result: on a thread, or at once. */
static void conclude(mishap_call *call, const mishap_mcp_tool *tool, const char *incident,
                     mishap_mcp_revision revision, mishap_buffer *result)
{
    mishap *failure = mishap_call_run(call);
    mishap_mcp_report_let_go();
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
                                       .revision = request->message->revision };
        char *to = (char *)(flight + 1);
        to = keep(to, &flight->id, request->message->id);
        to = keep(to, &flight->progress_token, mishap_buffer_text(&token));
        call->caller = caller ? memcpy(to, peer->caller, caller) : NULL;
        mishap_id_make(flight->incident);
        mishap_mcp_report_begin(flight, request);
    }
    mishap_buffer_release(&token);
    return flight;
}

static void free_flight(mishap_mcp_flight *flight)
{
    mishap_call_end(flight->job.call);
    mishap_buffer_release(&flight->result);
    mishap_mcp_report_end(flight);
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
    mishap_mcp_report_to_nobody(flight);
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
