/*
 * /mcp: whose request is it, and by which rules? The stateless revision says all in each request,
 * headers and body alike; the older ones have sessions. Which of them a message is of, its body
 * says; headers must agree with it.
 */
#include "program/mcp_http.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
    EVENT_BYTES = 8 * 1024 * 1024, /* kept of all streams of all sessions */
    SESSION_IDLE_MS = 30 * 60 * 1000,
    HEADER_MISMATCH = -32020,
    INVALID_REQUEST = -32600,
};

/* -- hosts and origins ------------------------------------------------------------------------- */

static mishap_text without_port(mishap_text host)
{
    for (size_t i = host.length; i > 0; i--) {
        char c = host.data[i - 1];
        if (c == ':')
            return (mishap_text){ host.data, i - 1 };
        if (c < '0' || c > '9')
            break;
    }
    return host;
}

static bool same_host(mishap_text a, const char *b)
{
    return b && a.length == strlen(b) && strncasecmp(a.data, b, a.length) == 0;
}

static bool is_this_machine(mishap_text host)
{
    return same_host(host, "localhost") || same_host(host, "127.0.0.1") || same_host(host, "[::1]");
}

/* "https://HOST:PORT/…" → HOST:PORT */
static mishap_text host_of(mishap_text url)
{
    const char *slashes = url.length ? memmem(url.data, url.length, "://", 3) : NULL;
    if (!slashes)
        return (mishap_text){ "", 0 };
    size_t start = (size_t)(slashes - url.data) + 3, end = start;
    while (end < url.length && url.data[end] != '/')
        end++;
    return (mishap_text){ url.data + start, end - start };
}

/* A page that a browser was lured to can make a name of its own stand for this machine, and call us
 * by it. So without keys only our own names are answered to. */
static bool knows_host(const mishap_http_settings *settings, mishap_text host)
{
    mishap_text name = without_port(host);
    mishap_text ours = without_port(host_of(mishap_text_of(settings->public_url)));
    return settings->key_required || is_this_machine(name) || same_host(name, settings->host) ||
           (ours.length && ours.length == name.length &&
            strncasecmp(ours.data, name.data, name.length) == 0);
}

static bool is_listed(const char *list, mishap_text origin)
{
    while (list && *list) {
        size_t length = strcspn(list, ",");
        if ((length == 1 && *list == '*') ||
            (length == origin.length && memcmp(list, origin.data, length) == 0))
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}

static bool knows_origin(const mishap_http_settings *settings, mishap_text origin)
{
    mishap_text host = host_of(origin);
    return !origin.data || is_listed(settings->cors, origin) ||
           (host.length && is_this_machine(without_port(host))) ||
           (host.length && !settings->key_required && knows_host(settings, host));
}

/* -- refusing ---------------------------------------------------------------------------------- */

/* A protocol error, and the end of it. Takes the mishap. */
static void refuse(mishap_mcp_post *post, mishap_text id, int code, int status, mishap *failure)
{
    mishap_mcp_refuse(&post->peer, &post->channel, id, code, status, failure, NULL);
    mishap_free(failure);
    post->channel.finish(&post->channel);
}

static mishap_text no_id(void)
{
    return (mishap_text){ NULL, 0 };
}

/* Who may call at all, and in which form. True: it was refused. */
static bool refuse_caller(mishap_mcp_post *post, const mishap_http_request *request)
{
    const mishap_http_settings *settings = post->front->http->settings;
    mishap_text host = request->fields[MISHAP_HTTP_HOST];
    if (knows_host(settings, host) && knows_origin(settings, request->fields[MISHAP_HTTP_ORIGIN]))
        return false;
    refuse(post, no_id(), INVALID_REQUEST, 403,
           mishap_raise(FORBIDDEN, "Pages of this origin may not call."));
    return true;
}

static bool accepts(mishap_text accept, const char *type, const char *any)
{
    return !accept.length || memmem(accept.data, accept.length, type, strlen(type)) ||
           memmem(accept.data, accept.length, any, strlen(any)) ||
           memmem(accept.data, accept.length, "*/*", 3);
}

static bool is_json(mishap_text type)
{
    static const mishap_text json = MISHAP_TEXT("application/json");
    return type.length >= json.length && strncasecmp(type.data, json.data, json.length) == 0 &&
           (type.length == json.length || strchr("; \t", type.data[json.length]));
}

static bool refuse_form(mishap_mcp_post *post, const mishap_http_request *request)
{
    mishap_text accept = request->fields[MISHAP_HTTP_ACCEPT];
    if (!is_json(request->fields[MISHAP_HTTP_CONTENT_TYPE])) {
        refuse(post, no_id(), INVALID_REQUEST, 415,
               mishap_raise(UNSUPPORTED_MEDIA_TYPE, "A message must be application/json."));
        return true;
    }
    if (!accepts(accept, "application/json", "application/*") &&
        !accepts(accept, "text/event-stream", "text/*")) {
        refuse(post, no_id(), INVALID_REQUEST, 406,
               mishap_raise(NOT_ACCEPTABLE,
                            "Accept must name application/json and text/event-stream."));
        return true;
    }
    return false;
}

/* -- the stateless revision -------------------------------------------------------------------- */

static int sextet(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Is this the value that a header field stands for? Plain, or as =?base64?…?=. */
static bool header_equals(mishap_text field, mishap_text value)
{
    static const mishap_text begin = MISHAP_TEXT("=?base64?"), end = MISHAP_TEXT("?=");
    if (field.length < begin.length + end.length ||
        memcmp(field.data, begin.data, begin.length) != 0 ||
        memcmp(field.data + field.length - end.length, end.data, end.length) != 0)
        return mishap_text_equal(field, value);
    mishap_text code = { field.data + begin.length, field.length - begin.length - end.length };
    size_t at = 0, padding = 0;
    while (padding < 2 && code.length && code.data[code.length - 1] == '=')
        code.length--, padding++;
    if ((code.length + padding) % 4 != 0)
        return false;
    for (size_t i = 0; i < code.length; i += 4) {
        uint32_t word = 0;
        size_t digits = code.length - i < 4 ? code.length - i : 4;
        for (size_t j = 0; j < 4; j++) {
            int digit = j < digits ? sextet(code.data[i + j]) : 0;
            if (digit < 0)
                return false;
            word = word << 6 | (uint32_t)digit;
        }
        if (digits < 4 && word & (digits == 2 ? 0xFFFF : 0xFF))
            return false; /* bits that mean nothing: the same value in two ways */
        for (size_t j = 0; j + 1 < digits; j++, at++)
            if (at >= value.length ||
                (unsigned char)value.data[at] != (word >> (16 - 8 * j) & 0xFF))
                return false;
    }
    return at == value.length;
}

/* What Mcp-Name repeats: the name of a tool or prompt, the address of a resource. */
static mishap_text name_in(const mishap_mcp_message *message)
{
    static const mishap_text read = MISHAP_TEXT("resources/read"), call = MISHAP_TEXT("tools/call"),
                             get = MISHAP_TEXT("prompts/get");
    const char *key = mishap_text_equal(message->method, read) ? "uri"
                      : mishap_text_equal(message->method, call) ||
                              mishap_text_equal(message->method, get)
                          ? "name"
                          : NULL;
    return key ? mishap_json_text(yyjson_obj_get(message->params, key)) : (mishap_text){ NULL, 0 };
}

static bool refuse_headers(mishap_mcp_post *post, const mishap_http_request *request,
                           const mishap_mcp_message *message)
{
    mishap_text name = name_in(message);
    const char *which = NULL;
    if (!mishap_text_equal(request->fields[MISHAP_HTTP_MCP_VERSION], message->claimed))
        which = "MCP-Protocol-Version";
    else if (mishap_mcp_revision_find(message->claimed) != MISHAP_MCP_2026_07_28)
        return false; /* which is refused for that */
    else if (!header_equals(request->fields[MISHAP_HTTP_MCP_METHOD], message->method))
        which = "Mcp-Method";
    else if (name.data && !header_equals(request->fields[MISHAP_HTTP_MCP_NAME], name))
        which = "Mcp-Name";
    if (!which)
        return false;
    refuse(post, message->id, HEADER_MISMATCH, 400,
           mishap_raise(BAD_REQUEST, "The header field %s does not say what the message says.",
                        which));
    return true;
}

/* -- sessions ---------------------------------------------------------------------------------- */

/* True if a version that no older revision has looks like a later one. */
static bool looks_modern(mishap_text version)
{
    static const char modern[] = "2026-07-28";
    return version.length == sizeof modern - 1 && memcmp(version.data, modern, version.length) >= 0;
}

/* The version of an older revision, if the header says one. True: it was refused. */
static bool refuse_version(mishap_mcp_post *post, const mishap_http_request *request,
                           mishap_text id)
{
    mishap_text version = request->fields[MISHAP_HTTP_MCP_VERSION];
    if (!version.data || mishap_mcp_revision_find(version) != MISHAP_MCP_NONE)
        return false;
    refuse(post, id, INVALID_REQUEST, 400,
           mishap_raise(BAD_REQUEST, "The revision that MCP-Protocol-Version names "
                                     "is not spoken here."));
    return true;
}

static bool join_session(mishap_mcp_post *post, const mishap_http_request *request, mishap_text id)
{
    mishap_text session = request->fields[MISHAP_HTTP_MCP_SESSION];
    if (!session.data) {
        refuse(post, id, INVALID_REQUEST, 400,
               mishap_raise(BAD_REQUEST, "The header field Mcp-Session-Id is missing."));
        return false;
    }
    if (!mishap_mcp_session_find(post->front->sessions, session, request->caller, &post->session)) {
        refuse(post, id, INVALID_REQUEST, 404,
               mishap_raise(NOT_FOUND, "There is no such session; begin a new one."));
        return false;
    }
    post->in_session = true;
    post->peer.revision = post->session.revision;
    post->peer.initialized = post->session.initialized;
    post->peer.level = post->session.level;
    return true;
}

/* A call may run in another worker than the one that hears of its end. */
static void pass_on_cancelling(const mishap_mcp_post *post, yyjson_val *message)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    yyjson_val *params = yyjson_obj_get(message, "params");
    if (yyjson_equals_str(yyjson_obj_get(message, "method"), "notifications/cancelled") &&
        mishap_mcp_id_read(yyjson_obj_get(params, "requestId"), room, &id)) {
        mishap_mcp_session_cancel(post->front->sessions, post->session.number, id);
        uv_async_send(&post->front->wake); /* it may be one of ours */
    }
}

static void pass_on_all_cancelling(const mishap_mcp_post *post, const mishap_json_reader *reader)
{
    yyjson_val *message;
    size_t at, count;
    if (!yyjson_is_arr(reader->root))
        pass_on_cancelling(post, reader->root);
    else if (post->session.revision == MISHAP_MCP_2025_03_26)
        yyjson_arr_foreach(reader->root, at, count, message) pass_on_cancelling(post, message);
}

static void keep_session(mishap_mcp_post *post)
{
    if (post->peer.initialized == post->session.initialized &&
        post->peer.level == post->session.level)
        return;
    post->session.initialized = post->peer.initialized;
    post->session.level = post->peer.level;
    mishap_mcp_session_keep(post->front->sessions, &post->session);
}

static bool is_method(const mishap_mcp_message *message, const char *method)
{
    return mishap_text_equal(message->method, mishap_text_of(method));
}

static void take_older(mishap_mcp_post *post, const mishap_http_request *request,
                       const mishap_json_reader *reader, mishap_mcp_message *message)
{
    bool begins = !message->batch && message->kind == MISHAP_MCP_REQUEST &&
                  is_method(message, "initialize") &&
                  !request->fields[MISHAP_HTTP_MCP_SESSION].data;
    post->begins_session = begins;
    if (!begins &&
        (refuse_version(post, request, message->id) || !join_session(post, request, message->id)))
        return;
    if (!begins)
        pass_on_all_cancelling(post, reader);
    mishap_mcp_take(&post->peer, &post->channel, message);
    if (!begins)
        keep_session(post);
}

static void take_stateless(mishap_mcp_post *post, const mishap_http_request *request,
                           mishap_mcp_message *message)
{
    post->peer.single_request = true;
    if (message->kind == MISHAP_MCP_REQUEST && message->claims &&
        refuse_headers(post, request, message))
        return;
    mishap_mcp_take(&post->peer, &post->channel, message);
}

/* -- endpoints --------------------------------------------------------------------------------- */

static void take_post(mishap_mcp_post *post, const mishap_http_request *request)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    mishap_mcp_message message;
    mishap_mcp_flaw flaw;
    if (refuse_caller(post, request) || refuse_form(post, request))
        return;
    bool modern = looks_modern(request->fields[MISHAP_HTTP_MCP_VERSION]);
    if (!mishap_mcp_read(&reader, request->body, &message, &flaw)) {
        mishap_mcp_refuse_flaw(&post->peer, &post->channel, &flaw);
    } else if (!message.batch && message.kind == MISHAP_MCP_NOTIFICATION && modern) {
        post->channel.finish(&post->channel); /* there is none that would change anything */
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

static void answer_post(mishap_http_server *server, const mishap_http_request *request,
                        mishap_text segment, mishap_http_reply *reply)
{
    mishap_mcp_post *post = mishap_mcp_post_make(server->extension_state, request, reply);
    (void)segment;
    if (!post) {
        mishap_http_refuse(reply, server->settings, request, mishap_out_of_memory());
        return;
    }
    take_post(post, request);
    if (post->peer.crashed)
        mishap_http_server_taint(server);
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

/* The stateless revision has POST alone. True: it was refused. */
static bool refuse_stateless(mishap_mcp_post *post, const mishap_http_request *request)
{
    if (!looks_modern(request->fields[MISHAP_HTTP_MCP_VERSION]))
        return false;
    mishap_http_reply_field(post->reply, "Allow", (mishap_text)MISHAP_TEXT("POST"));
    refuse(post, no_id(), INVALID_REQUEST, 405,
           mishap_raise(METHOD_NOT_ALLOWED, "This revision has neither sessions nor streams "
                                            "without a request."));
    return true;
}

static bool may_have_stream(mishap_mcp_post *post, const mishap_http_request *request)
{
    mishap_text accept = request->fields[MISHAP_HTTP_ACCEPT];
    if (refuse_caller(post, request) || refuse_stateless(post, request) ||
        refuse_version(post, request, no_id()))
        return false;
    if (request->method == MISHAP_HTTP_HEAD) {
        mishap_http_reply_field(post->reply, "Allow",
                                (mishap_text)MISHAP_TEXT("GET, POST, DELETE"));
        refuse(post, no_id(), INVALID_REQUEST, 405,
               mishap_raise(METHOD_NOT_ALLOWED, "A stream has no head without its events."));
        return false;
    }
    if (accept.length && accepts(accept, "text/event-stream", "text/*"))
        return true;
    refuse(post, no_id(), INVALID_REQUEST, 406,
           mishap_raise(NOT_ACCEPTABLE, "Accept must name text/event-stream."));
    return false;
}

/* Nothing of the message's own is to be answered: the reply is, or will be, somebody else's. */
static void leave_to_reply(mishap_mcp_post *post)
{
    post->finished = post->answered = true;
    mishap_mcp_post_leave(post);
}

static void answer_get(mishap_http_server *server, const mishap_http_request *request,
                       mishap_text segment, mishap_http_reply *reply)
{
    mishap_mcp_front *front = server->extension_state;
    mishap_mcp_post *post = mishap_mcp_post_make(front, request, reply);
    mishap_text last = request->fields[MISHAP_HTTP_LAST_EVENT];
    uint64_t stream = 0, place = 0;
    (void)segment;
    if (!post) {
        mishap_http_refuse(reply, server->settings, request, mishap_out_of_memory());
        return;
    }
    if (may_have_stream(post, request) && join_session(post, request, no_id())) {
        mishap_mcp_session session = post->session;
        bool known = !last.data ||
                     (read_event_id(last, &stream, &place) &&
                      mishap_mcp_event_known(front->sessions, session.number, stream, place));
        if (known) {
            leave_to_reply(post);
            mishap_mcp_stream_open(front, request, reply, &session, stream, place);
            return;
        }
        refuse(post, no_id(), INVALID_REQUEST, 400,
               mishap_raise(BAD_REQUEST, "Last-Event-ID is not the id of an event of this session, "
                                         "or it is too long ago."));
    }
    mishap_mcp_post_leave(post);
}

static void answer_delete(mishap_http_server *server, const mishap_http_request *request,
                          mishap_text segment, mishap_http_reply *reply)
{
    mishap_mcp_front *front = server->extension_state;
    mishap_mcp_post *post = mishap_mcp_post_make(front, request, reply);
    (void)segment;
    if (!post) {
        mishap_http_refuse(reply, server->settings, request, mishap_out_of_memory());
        return;
    }
    if (!refuse_caller(post, request) && !refuse_stateless(post, request) &&
        !refuse_version(post, request, no_id()) && join_session(post, request, no_id())) {
        mishap_mcp_session_end(front->sessions, request->fields[MISHAP_HTTP_MCP_SESSION],
                               request->caller);
        reply->status = 204;
        leave_to_reply(post);
        return;
    }
    mishap_mcp_post_leave(post);
}

static const mishap_http_endpoint endpoints[] = {
    { .route = "POST /mcp", .name = "mcp", .answer = answer_post },
    { .route = "GET /mcp", .name = "mcp.stream", .answer = answer_get },
    { .route = "DELETE /mcp", .name = "mcp.end", .answer = answer_delete },
    { 0 },
};

/* -- the extension ----------------------------------------------------------------------------- */

static const mishap_mcp_resource *const *offered_resources;
static const mishap_mcp_prompt *const *offered_prompts;
static mishap_mcp_sessions *sessions; /* of the process, and shared with the others */

void mishap_mcp_offer(const mishap_mcp_resource *const *resources,
                      const mishap_mcp_prompt *const *prompts)
{
    offered_resources = resources;
    offered_prompts = prompts;
}

void mishap_mcp_changed(mishap_mcp_change change)
{
    if (sessions && change < MISHAP_MCP_RESOURCE_UPDATED)
        mishap_mcp_sessions_change(sessions, change);
}

static mishap *prepare(const mishap_http_settings *settings, void **shared)
{
    (void)settings;
    mishap *failure = mishap_mcp_sessions_make(EVENT_BYTES, SESSION_IDLE_MS, &sessions);
    *shared = sessions;
    return failure;
}

static void on_wake(uv_async_t *wake)
{
    mishap_mcp_posts_tick(wake->data);
}

static mishap *open_front(mishap_http_server *server, void *shared, void **state)
{
    mishap_mcp_front *front = mishap_allocate(sizeof *front);
    if (!front)
        return mishap_out_of_memory();
    *front = (mishap_mcp_front){ .http = server, .sessions = shared };
    front->server = (mishap_mcp_server){ .app = server->settings->app,
                                         .message_limit = server->settings->body_limit,
                                         .resources = offered_resources,
                                         .prompts = offered_prompts,
                                         .flight_limit = 64,
                                         .verbose = server->settings->verbose };
    for (mishap_mcp_change list = 0; list < MISHAP_MCP_RESOURCE_UPDATED; list++)
        mishap_mcp_sessions_changed(shared, list, &front->changes[list]);
    mishap *failure = mishap_mcp_server_make(&front->server, server->settings->chaos);
    int error = failure ? 0 : uv_async_init(server->loop, &front->wake, on_wake);
    front->wake.data = front;
    if (error)
        failure = mishap_raise(INTERNAL_ERROR, "The loop cannot be woken: %s.", uv_strerror(error));
    if (failure)
        mishap_release(front);
    else
        *state = front;
    if (!failure)
        mishap_mcp_posts_begin(front);
    return failure;
}

static void tell_changes(mishap_mcp_front *front)
{
    for (mishap_mcp_change list = 0; list < MISHAP_MCP_RESOURCE_UPDATED; list++) {
        if (!mishap_mcp_sessions_changed(front->sessions, list, &front->changes[list]))
            continue;
        mishap_mcp_posts_tell(front, list);
        mishap_mcp_streams_tell(front, list);
    }
}

static void tick(void *state)
{
    tell_changes(state);
    mishap_mcp_posts_tick(state);
    mishap_mcp_streams_tick(state);
}

static void drain(void *state)
{
    mishap_mcp_posts_drain(state);
    mishap_mcp_streams_drain(state);
}

static void close_front(void *state)
{
    mishap_mcp_front *front = state;
    mishap_mcp_server_release(&front->server);
    mishap_release(front);
}

const mishap_http_extension mishap_mcp_over_http = {
    .endpoints = endpoints,
    .prepare = prepare,
    .open = open_front,
    .tick = tick,
    .drain = drain,
    .close = close_front,
};
