/*
 * The endpoint /mcp: find the session and the protocol revision of a request. In the stateless
 * revision each request is self-contained; the older revisions have sessions. The body of a message
 * names its revision, and the headers must match.
 */
#include "mcp/transport/http/over_http.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "operation/handover.h"
#include "server/ending.h"

/* Answer with a protocol error: it is not a request of this protocol. */
static void refuse_exchange(mishap_mcp_post *post, mishap_text id, int status, mishap *failure)
{
    mishap_mcp_post_refuse(post, id, MISHAP_MCP_INVALID_REQUEST, status, failure);
}

/* -- sessions ---------------------------------------------------------------------------------- */

/* True if a version that no older revision has looks like a later one. */
static bool looks_modern(mishap_text version)
{
    static const char modern[] = "2026-07-28";
    return version.length == sizeof modern - 1 && memcmp(version.data, modern, version.length) >= 0;
}

/* The version of an older revision, if the header has one. True: it was refused. */
static bool refuse_version(mishap_mcp_post *post, const mishap_http_request *request,
                           mishap_text id)
{
    mishap_text version = mishap_mcp_field(request, MISHAP_MCP_FIELD_VERSION);
    if (!version.data || mishap_mcp_revision_find(version) != MISHAP_MCP_NONE)
        return false;
    refuse_exchange(
        post, id, 400,
        mishap_suggest(
            mishap_raise(BAD_REQUEST,
                         "The protocol revision in MCP-Protocol-Version is not supported."),
            "Send the revision that the response to initialize named."));
    return true;
}

static mishap_mcp_owner owner_of(const mishap_http_request *request)
{
    return (mishap_mcp_owner){ request->caller, request->caller_key };
}

/* The id of the session. False: it is missing, and the request was refused. */
static bool take_session_id(mishap_mcp_post *post, const mishap_http_request *request,
                            mishap_text id, mishap_text *session)
{
    *session = mishap_mcp_field(request, MISHAP_MCP_FIELD_SESSION);
    if (session->data)
        return true;
    refuse_exchange(
        post, id, 400,
        mishap_suggest(mishap_raise(BAD_REQUEST, "The header Mcp-Session-Id is missing."),
                       "Send initialize first, then send the Mcp-Session-Id of its response."));
    return false;
}

/* The server was told to stop, and serves only the sessions that it has. Another one can begin or
 * restore this one. */
static mishap *refuse_while_ending(const mishap_mcp_front *front)
{
    if (mishap_http_sessions_end_in(front->http) < 0)
        return NULL;
    mishap *m = mishap_raise(UNAVAILABLE, "The server is about to stop and begins no session.");
    return mishap_suggest(mishap_retry_after(m, 1000),
                          "Send the request again: another server may begin a session.");
}

static bool join_session(mishap_mcp_post *post, const mishap_http_request *request, mishap_text id)
{
    mishap_mcp_front *front = post->front;
    mishap_mcp_owner owner = owner_of(request);
    mishap_text session;
    mishap *failure = NULL;
    if (!take_session_id(post, request, id, &session))
        return false;
    if (!mishap_mcp_session_find(front->sessions, session, owner, &post->session)) {
        failure = refuse_while_ending(front);
        if (!failure)
            failure = mishap_mcp_session_revive(front->sessions, session, owner,
                                                mishap_http_caller_of(front->http, request),
                                                &post->session);
    }
    if (failure && mishap_told(failure)->code == MISHAP_CODE_NOT_FOUND)
        refuse_exchange(post, id, 404, failure);
    else if (failure)
        mishap_mcp_post_refuse_for_now(post, id, failure);
    if (failure)
        return false;
    post->in_session = true;
    post->peer.conversation = (mishap_text){ (const char *)&post->session.number,
                                             sizeof post->session.number };
    post->peer.revision = post->session.revision;
    post->peer.initialized = post->session.initialized;
    post->peer.level = post->session.level;
    post->peer.capabilities = post->session.capabilities;
    return true;
}

/* A call may run in another loop than the one that receives its cancellation. */
static void pass_on_cancelling(const mishap_mcp_post *post, yyjson_val *message)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    yyjson_val *params = yyjson_obj_get(message, "params");
    if (yyjson_equals_str(yyjson_obj_get(message, "method"), "notifications/cancelled") &&
        mishap_mcp_id_read(yyjson_obj_get(params, "requestId"), room, &id)) {
        mishap_mcp_call_cancel(post->front->sessions, post->session.number, id);
        uv_async_send(&post->front->wake); /* it may run in this loop */
    }
}

static void pass_on_all_cancelling(const mishap_mcp_post *post, const mishap_json_reader *reader)
{
    yyjson_val *message;
    size_t at, count;
    if (!yyjson_is_arr(reader->root))
        pass_on_cancelling(post, reader->root);
    else if (mishap_mcp_has_batches(post->session.revision))
        yyjson_arr_foreach(reader->root, at, count, message) pass_on_cancelling(post, message);
}

static bool is_method(const mishap_mcp_message *message, const char *method)
{
    return mishap_text_equal(message->method, mishap_text_of(method));
}

/* Reserve a place for a session before the message is answered: then there is a session, or a
 * refusal. */
static bool refuse_session(mishap_mcp_post *post, const mishap_http_request *request,
                           mishap_text id)
{
    mishap_mcp_front *front = post->front;
    post->session = (mishap_mcp_session){ .revision = MISHAP_MCP_NONE };
    mishap *failure = refuse_while_ending(front);
    if (!failure)
        failure = mishap_mcp_session_reserve(front->sessions, owner_of(request),
                                             mishap_http_caller_of(front->http, request),
                                             &post->session, post->begins);
    if (!failure)
        return false;
    post->begins[0] = '\0';
    mishap_mcp_post_refuse_for_now(post, id, failure);
    return true;
}

/* Each message of a batch counts as a request for --rate. All are allowed, or none: a client can
 * send the same batch again. A batch that is refused as a whole counts as one request. */
static bool refuse_batch(mishap_mcp_post *post, const mishap_http_request *request,
                         const mishap_json_reader *reader)
{
    size_t count = yyjson_arr_size(reader->root);
    if (!mishap_mcp_has_batches(post->session.revision) || count > MISHAP_MCP_BATCH_LIMIT)
        return false;
    mishap *failure = mishap_http_check_rate(post->front->http, request, count);
    if (failure)
        mishap_mcp_post_refuse_for_now(post, MISHAP_MCP_NO_ID, failure);
    return failure != NULL;
}

static void take_older(mishap_mcp_post *post, const mishap_http_request *request,
                       const mishap_json_reader *reader, mishap_mcp_message *message)
{
    bool begins = !message->batch && message->kind == MISHAP_MCP_REQUEST &&
                  is_method(message, "initialize") &&
                  !mishap_mcp_field(request, MISHAP_MCP_FIELD_SESSION).data;
    if (begins && refuse_session(post, request, message->id))
        return;
    if (!begins &&
        (refuse_version(post, request, message->id) || !join_session(post, request, message->id)))
        return;
    if (message->batch && refuse_batch(post, request, reader))
        return;
    if (!begins)
        pass_on_all_cancelling(post, reader);
    if (message->batch)
        post->peer.incident = NULL; /* each call needs an id of its own */
    mishap_mcp_take(&post->peer, &post->channel, message);
    if (!begins)
        mishap_mcp_post_keep_session(post);
}

static void take_stateless(mishap_mcp_post *post, const mishap_http_request *request,
                           mishap_mcp_message *message)
{
    bool listens = message->kind == MISHAP_MCP_REQUEST &&
                   is_method(message, "subscriptions/listen");
    post->peer.single_request = true;
    if (listens && !post->may_stream) {
        refuse_exchange(
            post, message->id, 406,
            mishap_suggest(mishap_raise(NOT_ACCEPTABLE,
                                        "The Accept header must list text/event-stream, "
                                        "because the response is a stream."),
                           "Send `Accept: application/json, text/event-stream`."));
        return;
    }
    if (message->kind == MISHAP_MCP_REQUEST && message->claims &&
        mishap_mcp_refuse_headers(post, request, message))
        return;
    mishap *failure = listens ? mishap_http_stream_begins(post->front->http, request, &post->held)
                              : NULL;
    if (failure) {
        mishap_mcp_post_refuse_for_now(post, message->id, failure);
        return;
    }
    mishap_mcp_take(&post->peer, &post->channel, message);
}

/* -- endpoints --------------------------------------------------------------------------------- */

static void take_post(mishap_mcp_post *post, const mishap_http_request *request)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    mishap_mcp_message message;
    mishap_mcp_flaw flaw;
    bool modern = looks_modern(mishap_mcp_field(request, MISHAP_MCP_FIELD_VERSION));
    if (!mishap_mcp_read(&reader, request->body, &message, &flaw)) {
        mishap_mcp_refuse_flaw(&post->peer, &post->channel, &flaw);
    } else if (!message.batch && message.kind == MISHAP_MCP_NOTIFICATION && modern) {
        post->channel.finish(&post->channel); /* no notification would change anything */
    } else if (!message.batch &&
               (message.claims || (message.kind == MISHAP_MCP_REQUEST && modern))) {
        if (!message.claims)
            message.revision = MISHAP_MCP_2026_07_28;
        take_stateless(post, request, &message);
    } else {
        take_older(post, request, &reader, &message);
    }
    mishap_json_reader_release(&reader);
}

/* A failure of a POST as a protocol error without an id, since the message was not read. */
static void refuse_post(mishap_http_server *server, const mishap_http_request *request,
                        const mishap_http_match *match, mishap_http_reply *reply, mishap *failure)
{
    mishap_mcp_post *post = mishap_mcp_post_make(match->state, request, reply);
    const mishap_public *told = mishap_told(failure);
    int64_t wait_ms = told->retry_after_ms;
    int status = told->code->http_status;
    if (!post) {
        mishap_http_refuse(reply, mishap_http_settings_of(server), request, failure);
        mishap_free(failure);
        return;
    }
    if (status >= 500)
        /* That the server is busy is not recorded in the log. */
        mishap_incident(failure, request->id);
    if (wait_ms >= 0) {
        char seconds[24];
        int length = snprintf(seconds, sizeof seconds, "%lld", (long long)((wait_ms + 999) / 1000));
        mishap_http_reply_field(reply, "Retry-After", (mishap_text){ seconds, (size_t)length });
    }
    mishap_mcp_post_refuse(post, MISHAP_MCP_NO_ID,
                           status < 500 ? MISHAP_MCP_INVALID_REQUEST : MISHAP_MCP_INTERNAL_ERROR,
                           status, failure);
    mishap_mcp_post_leave(post);
}

static bool screen_post(mishap_http_server *server, const mishap_http_request *request,
                        const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap *failure = mishap_mcp_check_caller(mishap_http_settings_of(server), request);
    if (!failure)
        failure = mishap_mcp_check_form(request);
    if (failure)
        refuse_post(server, request, match, reply, failure);
    return failure;
}

static size_t limit_post(const mishap_http_settings *settings)
{
    const mishap_served *served = settings->served;
    return served->message_limit ? served->message_limit : settings->body_limit;
}

static void answer_post(mishap_http_server *server, const mishap_http_request *request,
                        const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap_mcp_post *post = mishap_mcp_post_make(match->state, request, reply);
    if (!post) {
        mishap_http_refuse(reply, mishap_http_settings_of(server), request, mishap_out_of_memory());
        return;
    }
    take_post(post, request);
    mishap_mcp_post_leave(post);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "7-12" → 7 and 12 */
static bool read_event_id(mishap_text id, uint64_t *stream, uint64_t *place)
{
    char text[48], *end;
    if (!id.length || id.length >= sizeof text)
        return false;
    memcpy(text, id.data, id.length);
    text[id.length] = '\0';
    *stream = strtoull(text, &end, 10);
    if (*end != '-' || !is_digit(text[0]) || !*stream || !is_digit(end[1]))
        return false;
    *place = strtoull(end + 1, &end, 10);
    return *end == '\0';
}

/* Last-Event-ID: of a stream that is stored here or, in a cluster, perhaps elsewhere; or a position
 * of changes, which only servers of a cluster send. False: it is neither. */
static bool read_last_event(mishap_mcp_front *front, const mishap_http_request *request,
                            const mishap_mcp_session *session, mishap_mcp_from *from)
{
    mishap_position position;
    mishap_text last = mishap_mcp_field(request, MISHAP_MCP_FIELD_LAST_EVENT);
    bool shared = mishap_mcp_sessions_are_shared(front->sessions);
    *from = (mishap_mcp_from){ 0 };
    if (!last.data)
        return true;
    if (shared && mishap_position_read(last, &position)) {
        from->position = last;
        return true;
    }
    if (!read_event_id(last, &from->stream, &from->place))
        return false;
    from->ask = !mishap_mcp_event_known(front->sessions, session->number, from->stream, from->place,
                                        request->scopes);
    return shared || !from->ask;
}

/* The stateless revision has only POST. True: it was refused. */
static bool refuse_stateless(mishap_mcp_post *post, const mishap_http_request *request)
{
    if (!looks_modern(mishap_mcp_field(request, MISHAP_MCP_FIELD_VERSION)))
        return false;
    mishap_http_reply_field(post->reply, "Allow", (mishap_text)MISHAP_TEXT("POST"));
    refuse_exchange(
        post, MISHAP_MCP_NO_ID, 405,
        mishap_raise(METHOD_NOT_ALLOWED,
                     "This protocol revision has no sessions, and no streams without a request."));
    return true;
}

static bool may_have_stream(mishap_mcp_post *post, const mishap_http_request *request)
{
    mishap_text accept = request->fields[MISHAP_HTTP_ACCEPT];
    if (mishap_mcp_refuse_caller(post, request) || refuse_stateless(post, request) ||
        refuse_version(post, request, MISHAP_MCP_NO_ID))
        return false;
    if (request->method == MISHAP_HTTP_HEAD) {
        mishap_http_reply_field(post->reply, "Allow",
                                (mishap_text)MISHAP_TEXT("GET, POST, DELETE"));
        refuse_exchange(
            post, MISHAP_MCP_NO_ID, 405,
            mishap_raise(METHOD_NOT_ALLOWED, "HEAD is not supported for an event stream."));
        return false;
    }
    if (accept.length && mishap_mcp_accepts_stream(request))
        return true;
    refuse_exchange(post, MISHAP_MCP_NO_ID, 406,
                    mishap_suggest(mishap_raise(NOT_ACCEPTABLE,
                                                "The Accept header must list text/event-stream."),
                                   "Send `Accept: text/event-stream`."));
    return false;
}

/* This message itself is not answered: another part of the code fills the reply, now or later. */
static void leave_to_reply(mishap_mcp_post *post)
{
    post->finished = post->answered = true;
    mishap_mcp_post_leave(post);
}

static void answer_get(mishap_http_server *server, const mishap_http_request *request,
                       const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap_mcp_front *front = match->state;
    mishap_mcp_post *post = mishap_mcp_post_make(front, request, reply);
    mishap_mcp_from from;
    if (!post) {
        mishap_http_refuse(reply, mishap_http_settings_of(server), request, mishap_out_of_memory());
        return;
    }
    if (may_have_stream(post, request) && join_session(post, request, MISHAP_MCP_NO_ID)) {
        mishap_mcp_session session = post->session;
        bool known = read_last_event(front, request, &session, &from);
        mishap *failure = NULL;
        if (known)
            failure = mishap_mcp_stream_open(front, request, reply, &session, &from);
        if (known && !failure) {
            leave_to_reply(post);
            return;
        }
        if (failure)
            mishap_mcp_post_refuse_for_now(post, MISHAP_MCP_NO_ID, failure);
        else
            refuse_exchange(
                post, MISHAP_MCP_NO_ID, 400,
                mishap_suggest(
                    mishap_raise(BAD_REQUEST, "Last-Event-ID is not the id of an event of this "
                                              "session, or the event is no longer stored."),
                    "Send the request without Last-Event-ID to receive new events only."));
    }
    mishap_mcp_post_leave(post);
}

static void answer_delete(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap_mcp_front *front = match->state;
    mishap_mcp_post *post = mishap_mcp_post_make(front, request, reply);
    if (!post) {
        mishap_http_refuse(reply, mishap_http_settings_of(server), request, mishap_out_of_memory());
        return;
    }
    uint64_t number;
    mishap_text session;
    if (mishap_mcp_refuse_caller(post, request) || refuse_stateless(post, request) ||
        refuse_version(post, request, MISHAP_MCP_NO_ID) ||
        !take_session_id(post, request, MISHAP_MCP_NO_ID, &session)) {
        mishap_mcp_post_leave(post);
    } else if (!mishap_mcp_session_end(front->sessions, session, owner_of(request), &number)) {
        refuse_exchange(post, MISHAP_MCP_NO_ID, 404, mishap_mcp_no_session());
        mishap_mcp_post_leave(post);
    } else {
        if (number) {
            mishap_mcp_watch_end(front->watches, number, MISHAP_MCP_NO_ID);
            mishap_runner_dismiss(front->served->runner, mishap_http_owner_of(request),
                                  (mishap_text){ (const char *)&number, sizeof number });
        }
        reply->status = 204;
        leave_to_reply(post);
    }
}

/* Host and Origin are checked here for every caller, browser or not: see caller.c. */
const mishap_http_endpoint mishap_mcp_endpoints[] = {
    { .route = "POST /mcp",
      .name = "mcp",
      .any_host = true,
      .answer = answer_post,
      .screen = screen_post,
      .refuse = refuse_post,
      .body_limit = limit_post },
    { .route = "GET /mcp", .name = "mcp.stream", .any_host = true, .answer = answer_get },
    { .route = "DELETE /mcp", .name = "mcp.end", .any_host = true, .answer = answer_delete },
    { 0 },
};
