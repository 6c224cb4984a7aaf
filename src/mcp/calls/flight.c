/*
 * Calls of operations. A quick call is answered at once. Any other call is a flight: the runner of
 * calls runs it until it returns or is cancelled. report.c handles its progress and log messages.
 */
#include <stdio.h>

#include "mcp/calls/asks.h"
#include "mcp/calls/flight.h"
#include "mcp/offers/schema.h"
#include "operation/caller.h"
#include "incident/incident.h"

enum {
    FLIGHTS = 256,  /* of one peer, if the server sets no limit */
    ROOM = 2048,    /* enough for the arguments of most calls, and for most refusals */
    BUSY_MS = 1000, /* the hint when to try again */
};

/* -- failures of which no handler knows -------------------------------------------------------- */

static mishap *too_busy(const char *why)
{
    return mishap_retry_after(mishap_raise(UNAVAILABLE, "%s", why), BUSY_MS);
}

/* Write the result of a call that did not begin. Frees the failure. */
static mishap_mcp_outcome put_refusal(mishap_buffer *result, const mishap_mcp_peer *peer,
                                      const mishap_mcp_asked *asked, yyjson_val *arguments,
                                      mishap *failure, const char *incident)
{
    char id[MISHAP_ID_LENGTH + 1];
    size_t start = result->length;
    if (!incident) {
        mishap_id_make(id);
        incident = id;
    }
    mishap_mcp_outcome outcome = mishap_mcp_put_outcome(result, asked, NULL, failure, incident);
    mishap_mcp_record(
        &(mishap_mcp_failed){ .app = peer->server->app,
                              .asked = asked,
                              .arguments = arguments,
                              .caller = peer->counted_for,
                              .incident = incident,
                              .failure = failure,
                              .response = { result->data + start, result->length - start },
                              .verbose = peer->server->verbose });
    mishap_free(failure);
    return outcome;
}

/* A call is over. A client that reads the metrics sees a failure, though its HTTP status is 200. */
static void count_call(const mishap_mcp_server *server, const mishap_mcp_asked *asked,
                       const mishap_code *code, int64_t begun_ns)
{
    if (server->count)
        server->count(server, asked->offer->operation, code,
                      mishap_clock_monotonic_ns() - begun_ns);
}

/* -- flights ----------------------------------------------------------------------------------- */

static void on_done(mishap_run *run, mishap *failure);

static void put_token(mishap_buffer *b, const mishap_mcp_message *message)
{
    yyjson_val *token = yyjson_obj_get(message->meta, "progressToken");
    if (yyjson_is_str(token) || yyjson_is_int(token) || yyjson_is_raw(token))
        mishap_json_copy(b, token);
}

/* Text that is needed after the message is freed is stored behind the flight. */
static char *keep_text(char *to, mishap_text *kept, mishap_text text)
{
    if (text.length)
        memcpy(to, text.data, text.length);
    *kept = (mishap_text){ to, text.length };
    return to + text.length;
}

/* In revisions with sessions, a call that names no session of a service uses that of its
 * conversation. */
static void belong_to(mishap_call *call, const mishap_mcp_peer *peer, const mishap_mcp_asked *asked)
{
    const mishap_service *service = call->operation->service;
    if (service && service->worker && peer->conversation.data &&
        !mishap_mcp_is_modern(asked->revision))
        call->conversation = mishap_arena_copy(&call->arena, peer->conversation);
}

static mishap_mcp_flight *make_flight(const mishap_mcp_request *request,
                                      const mishap_mcp_asked *asked, mishap_call *call)
{
    char room[ROOM];
    mishap_buffer token;
    const mishap_mcp_peer *peer = request->peer;
    size_t caller = peer->caller ? strlen(peer->caller) + 1 : 0;
    mishap_text remote = mishap_arena_copy(&call->arena, peer->remote);
    mishap_buffer_init(&token, room, sizeof room);
    put_token(&token, request->message);
    mishap_mcp_flight *flight = token.failed ? NULL
                                             : mishap_allocate(sizeof *flight + token.length +
                                                               request->message->id.length +
                                                               asked->uri.length + caller);
    if (flight) {
        *flight = (mishap_mcp_flight){ .run = { .call = call, .done = on_done },
                                       .peer = request->peer,
                                       .channel = request->channel,
                                       .server = peer->server,
                                       .begun_ns = mishap_clock_monotonic_ns(),
                                       .asked = *asked };
        char *to = (char *)(flight + 1);
        to = keep_text(to, &flight->id, request->message->id);
        to = keep_text(to, &flight->progress_token, mishap_buffer_text(&token));
        to = keep_text(to, &flight->asked.uri, asked->uri);
        mishap_call_set_caller(call, caller ? memcpy(to, peer->caller, caller) : NULL, peer->named,
                               peer->caller_is_free, peer->scopes);
        call->counted_for = peer->counted_for;
        if (peer->incident)
            snprintf(flight->incident, sizeof flight->incident, "%s", peer->incident);
        else
            mishap_id_make(flight->incident);
        flight->run.incident = flight->incident;
        mishap_mcp_come_from(call, flight->incident, remote);
        call->request_id = mishap_arena_copy(&call->arena,
                                             /* The call may outlive the message. */
                                             call->request_id);
        if (asked->traceparent.length)
            call->traceparent = mishap_arena_copy(&call->arena, asked->traceparent);
        flight->asked.traceparent = call->traceparent;
        belong_to(call, peer, asked);
        mishap_mcp_report_begin(flight, request);
    }
    mishap_buffer_release(&token);
    return flight;
}

static void free_flight(mishap_mcp_flight *flight)
{
    mishap_buffer_release(&flight->parked.answers);
    mishap_call_end(flight->run.call);
    mishap_mcp_report_end(flight);
    mishap_release(flight);
}

static void link_flight(mishap_mcp_flight *flight)
{
    mishap_mcp_peer *peer = flight->peer;
    flight->next = peer->flights;
    if (flight->next)
        flight->next->previous = flight;
    peer->flights = flight;
    peer->flight_count++;
}

static void unlink_flight(mishap_mcp_flight *flight)
{
    mishap_mcp_peer *peer = flight->peer;
    *(flight->previous ? &flight->previous->next : &peer->flights) = flight->next;
    if (flight->next)
        flight->next->previous = flight->previous;
    flight->next = flight->previous = NULL;
    peer->flight_count--;
}

mishap_mcp_flight *mishap_mcp_flight_find(const mishap_mcp_peer *peer, mishap_text id)
{
    mishap_mcp_flight *flight = peer->flights;
    while (flight && !mishap_text_equal(flight->id, id))
        flight = flight->next;
    return flight;
}

/* -- arguments --------------------------------------------------------------------------------- */

/* Refuse arguments that the operation does not have. Those of a prompt are texts, which are
 * converted before they are checked. */
static mishap *refuse_unknown(const mishap_operation *operation,
                              const mishap_mcp_arguments *arguments)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    yyjson_val *checked = arguments->object;
    if (!checked)
        return NULL;
    if (arguments->spelled) /* it is valid JSON: reading fails only without memory */
        checked = mishap_json_read(&reader, mishap_buffer_text(arguments->spelled)) ? reader.root
                                                                                    : NULL;
    mishap *m = checked ? mishap_params_refuse_unknown(operation->params, operation->rules,
                                                       arguments->object, checked,
                                                       mishap_mcp_is_beside, operation)
                        : mishap_out_of_memory();
    mishap_json_reader_release(&reader);
    return m;
}

/* -- the beginning ----------------------------------------------------------------------------- */

void mishap_mcp_come_from(mishap_call *call, const char *id, mishap_text remote)
{
    call->boundary = MISHAP_BY_MCP;
    call->request_id = mishap_text_of(id); /* NULL: an id is made if it is needed */
    call->remote = remote;
    call->to_operator = mishap_incident_line;
}

static void set_limits(mishap_call *call, const mishap_mcp_server *server)
{
    mishap_call_limit(call, server->call_ms);
    call->verbose = server->verbose;
}

/* A quick call ends before the message is freed; any other has a copy of its arguments. The text of
 * the message was checked when it was read. */
static mishap *begin_call(mishap_mcp_request *request, const mishap_mcp_asked *asked,
                          const mishap_mcp_arguments *arguments, bool at_once, mishap_call **call)
{
    const mishap_operation *operation = asked->offer->operation;
    static yyjson_val none = { .tag = YYJSON_TYPE_OBJ };
    const mishap_mcp_server *server = request->peer->server;
    yyjson_val *object = arguments->object ? arguments->object : &none;
    char room[ROOM];
    mishap_buffer json;
    if (arguments->mended)
        return mishap_suggest(mishap_raise(BAD_REQUEST,
                                           "A string contains half of a surrogate pair, which is "
                                           "no character."),
                              "Send each surrogate as part of a pair, or U+FFFD in its place.");
    mishap *failure = refuse_unknown(operation, arguments);
    if (failure)
        return failure;
    if (arguments->spelled) {
        failure = mishap_call_begin(server->app, operation, mishap_buffer_text(arguments->spelled),
                                    call);
    } else if (at_once) {
        failure = mishap_call_begin_with(server->app, operation, object, call);
    } else {
        mishap_buffer_init(&json, room, sizeof room);
        mishap_mcp_put_others(&json, operation, object);
        failure = json.failed
                      ? mishap_out_of_memory()
                      : mishap_call_begin(server->app, operation, mishap_buffer_text(&json), call);
        mishap_buffer_release(&json);
    }
    if (!failure)
        failure = mishap_mcp_take_body(*call, object);
    if (!failure && operation->headers && request->peer->headers)
        failure = request->peer->headers(request->peer, *call);
    if (!failure && operation->asks)
        failure = mishap_mcp_take_answers(request, asked, *call);
    if (!failure)
        set_limits(*call, server);
    return failure;
}

/* Answer a call that does not begin. Frees the failure. */
static void refuse_call(mishap_mcp_request *request, const mishap_mcp_asked *asked,
                        yyjson_val *arguments, mishap *failure, mishap_buffer *result)
{
    request->channel->code = mishap_told(failure)->code;
    if (request->code) { /* its state was refused */
        request->outcome = mishap_mcp_put_bad_state(result, request->code, failure);
        mishap_free(failure);
        return;
    }
    request->outcome = put_refusal(result, request->peer, asked, arguments, failure,
                                   request->peer->incident);
}

/* A quick call runs in this process, also if it is a flight because it may ask. */
mishap *mishap_mcp_flight_run(mishap_mcp_flight *flight)
{
    mishap_call *call = flight->run.call;
    flight->run = (mishap_run){ .call = call, .done = on_done, .incident = flight->incident };
    if (call->operation->stale && flight->asked.uri.length)
        call->log_after = MISHAP_LOG_UNKNOWN; /* a client that heard of a change reads it now */
    if (call->operation->quick) {
        mishap *outcome = mishap_call_run(call);
        flight->run.died = call->crashed;
        on_done(&flight->run, outcome);
        return NULL;
    }
    return mishap_runner_add(flight->server->runner, &flight->run)
               ? NULL
               : mishap_runner_refuse(flight->server->runner, call);
}

/* NULL: the flight has started, and owns the call. */
static mishap *start_flight(const mishap_mcp_request *request, const mishap_mcp_asked *asked,
                            mishap_call *call)
{
    mishap_mcp_peer *peer = request->peer;
    size_t limit = peer->server->flight_limit ? peer->server->flight_limit : FLIGHTS;
    if (peer->flight_count >= limit)
        return too_busy("Too many calls of this session are running.");
    mishap_mcp_flight *flight = make_flight(request, asked, call);
    if (!flight)
        return mishap_out_of_memory();
    link_flight(flight);
    bool starts = !peer->start || peer->start(peer, flight);
    if (starts && !call->claim.expires_ms && mishap_mcp_task_begin(flight, request->message))
        return NULL;
    mishap *refused = starts ? mishap_mcp_flight_run(flight)
                             : too_busy("The server is busy: too many calls are running.");
    if (!refused)
        return NULL;
    unlink_flight(flight);
    flight->run.call = NULL;
    call->watcher = NULL;
    free_flight(flight);
    return refused;
}

mishap *mishap_mcp_flight_permit(mishap_mcp_request *request, const mishap_mcp_offer *offer)
{
    const mishap_mcp_peer *peer = request->peer;
    const mishap_mcp_asked asked = { .offer = offer };
    mishap *m = mishap_scopes_permit(peer->server->app, peer->scopes, offer->needs, "caller");
    if (!m)
        return NULL;
    count_call(peer->server, &asked, mishap_told(m)->code, mishap_clock_monotonic_ns());
    request->code = -32600;
    request->channel->lacks = offer->needs;
    return mishap_suggest(m, "Send a token or a key that has the scopes of this call.");
}

void mishap_mcp_flight_begin(mishap_mcp_request *request, const mishap_mcp_asked *offered,
                             const mishap_mcp_arguments *arguments, mishap_buffer *result)
{
    mishap_mcp_peer *peer = request->peer;
    mishap_mcp_asked traced = *offered, *asked = &traced;
    const mishap_operation *operation = asked->offer->operation;
    traced.traceparent = mishap_json_text(yyjson_obj_get(request->message->meta, "traceparent"));
    if (!traced.traceparent.length)
        traced.traceparent = peer->traceparent;
    traced.started_ns = mishap_clock_monotonic_ns();
    traced.seal = peer->server->seal;
    if (operation->asks)
        traced.capabilities = mishap_mcp_capabilities(request) & ~(unsigned)MISHAP_MCP_CAN_SHOW;
    /* A call that may have to wait for an answer needs its own copy of everything. */
    bool at_once = operation->quick &&
                   (!traced.capabilities || mishap_mcp_is_modern(traced.revision));
    mishap_call *call = NULL;
    bool lost = arguments->spelled && arguments->spelled->failed;
    int64_t begun_ns = traced.started_ns;
    mishap *failure = lost ? mishap_out_of_memory()
                           : begin_call(request, asked, arguments, at_once, &call);
    if (!failure && at_once) {
        mishap_mcp_come_from(call, peer->incident, peer->remote);
        mishap_call_set_caller(call, peer->caller, peer->named, peer->caller_is_free, peer->scopes);
        call->counted_for = peer->counted_for;
        call->traceparent = asked->traceparent;
        mishap *outcome = mishap_call_run(call);
        if (call->crashed && peer->died)
            peer->died(peer);
        request->channel->code = outcome ? mishap_told(outcome)->code : NULL;
        request->outcome = mishap_mcp_put_outcome(result, asked, call, outcome,
                                                  call->request_id.data);
        count_call(peer->server, asked, request->channel->code, begun_ns);
        mishap_free(outcome);
    } else if (!failure) {
        failure = start_flight(request, asked, call);
        request->later = !failure;
    }
    if (!request->later)
        mishap_call_end(call);
    if (!failure)
        return;
    count_call(peer->server, asked, mishap_told(failure)->code, begun_ns);
    refuse_call(request, asked, arguments->object, failure, result);
}

/* -- the end ----------------------------------------------------------------------------------- */

/* A buffer that failed contains at most half of the result, so it counts as empty. */
static void put_response(const mishap_mcp_flight *flight, const mishap_buffer *members,
                         mishap_mcp_outcome outcome)
{
    mishap_mcp_channel *channel = flight->channel;
    if (outcome >= MISHAP_MCP_ERROR) {
        channel->status = outcome == MISHAP_MCP_ERROR_400 ? 400 : 200;
        mishap_mcp_put_error(channel, flight->id,
                             members->failed ? mishap_mcp_last_error : mishap_buffer_text(members));
        return;
    }
    mishap_buffer *buffer = mishap_mcp_begin_result(channel, flight->id);
    if (members->failed)
        mishap_buffer_reserve(buffer, SIZE_MAX); /* makes the buffer fail */
    mishap_buffer_put_text(buffer, mishap_buffer_text(members));
    mishap_mcp_finish_result(flight->peer->server->app, channel, buffer, flight->asked.revision,
                             outcome);
}

/* Send the response, the last message of the flight. Finishing the channel may free the peer. */
static void respond(mishap_mcp_flight *flight, const mishap_buffer *members,
                    mishap_mcp_outcome outcome, const mishap_code *code)
{
    mishap_mcp_channel *channel = flight->channel;
    channel->code = code;
    put_response(flight, members, outcome);
    unlink_flight(flight);
    channel->finish(channel);
}

void mishap_mcp_flight_count(const mishap_mcp_flight *flight, const mishap_code *code)
{
    count_call(flight->server, &flight->asked, code, flight->begun_ns);
}

void mishap_mcp_flight_respond(mishap_mcp_flight *flight, const mishap_buffer *members,
                               mishap_mcp_outcome outcome, const mishap_code *code)
{
    respond(flight, members, outcome, code);
    free_flight(flight);
}

void mishap_mcp_flight_done(mishap_mcp_flight *flight, mishap *failure)
{
    char room[ROOM];
    mishap_buffer members;
    mishap_mcp_flight_report(flight);
    if (mishap_mcp_park(flight, &failure))
        return;
    mishap_buffer_init(&members, room, sizeof room);
    const mishap_code *code = failure ? mishap_told(failure)->code : NULL;
    mishap_mcp_flight_count(flight, code);
    mishap_mcp_outcome outcome = mishap_mcp_put_outcome(&members, &flight->asked, flight->run.call,
                                                        failure, flight->incident);
    mishap_mcp_flight_respond(flight, &members, outcome, code);
    mishap_buffer_release(&members);
    mishap_free(failure);
}

/* As one that is refused at once (mishap_mcp_take_answers()). */
static void refuse_state(mishap_mcp_flight *flight, mishap *failure)
{
    mishap_buffer error = { 0 };
    mishap_mcp_outcome outcome = mishap_mcp_put_bad_state(&error, MISHAP_MCP_BAD_STATE, failure);
    mishap_mcp_flight_count(flight, mishap_told(failure)->code);
    mishap_mcp_flight_respond(flight, &error, outcome, mishap_told(failure)->code);
    mishap_buffer_release(&error);
    mishap_free(failure);
}

static void on_done(mishap_run *run, mishap *failure)
{
    /* The run is the first member of the flight. */
    mishap_mcp_flight *flight = (mishap_mcp_flight *)(void *)run;
    if (run->call->claim.late && mishap_mcp_is_modern(flight->asked.revision)) {
        refuse_state(flight, failure);
        return;
    }
    if (run->died && flight->peer->died)
        flight->peer->died(flight->peer);
    mishap_mcp_flight_done(flight, failure);
}

mishap_mcp_flight *mishap_mcp_flight_make_empty(const mishap_mcp_request *request)
{
    mishap_mcp_peer *peer = request->peer;
    mishap_text id = request->message->id;
    size_t limit = peer->server->flight_limit ? peer->server->flight_limit : FLIGHTS;
    mishap_mcp_flight *flight = peer->flight_count < limit
                                    ? mishap_allocate(sizeof *flight + id.length)
                                    : NULL;
    if (!flight)
        return NULL;
    *flight = (mishap_mcp_flight){ .peer = peer,
                                   .channel = request->channel,
                                   .server = peer->server,
                                   .asked = { .revision = request->message->revision } };
    keep_text((char *)(flight + 1), &flight->id, id);
    link_flight(flight);
    return flight;
}

void mishap_mcp_flight_cancel(mishap_mcp_flight *flight)
{
    mishap_mcp_channel *channel = flight->channel;
    if (flight->run.call)
        mishap_mcp_flight_count(flight, MISHAP_CODE_CANCELLED);
    if (flight->waits)
        mishap_task_client_leave(*flight->server->tasks, &flight->wait);
    else if (mishap_mcp_is_parked(flight))
        mishap_mcp_parked_withdraw(flight);
    else
        mishap_runner_forget(flight->server->runner, &flight->run);
    unlink_flight(flight);
    free_flight(flight);
    channel->finish(channel);
}
