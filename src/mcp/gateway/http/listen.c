/* The endpoint /mcp of a gateway: which session a request belongs to. */
#include "mcp/gateway/http/inside.h"

#include <signal.h>

#include "mcp/transport/lines.h"
#include "mcp/wire/write.h"

enum {
    INVALID_REQUEST = -32600,
    HEAD_LIMIT = 32 << 10,
    SESSION_IDLE_MS = 30 * 60 * 1000,
};

static http_front front;

/* -- refusals ---------------------------------------------------------------------------------- */

static void tell(mishap_http_reply *reply, mishap_text id, int code, int status,
                 const mishap *failure)
{
    const mishap_public *told = mishap_told(failure);
    mishap_buffer *body = &reply->body;
    MISHAP_PUT(body, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (id.length)
        mishap_buffer_put_text(body, id);
    else
        MISHAP_PUT(body, "null");
    mishap_buffer error = { 0 };
    mishap_free(mishap_mcp_put_error_object(&error, code, told, NULL, NULL, NULL));
    MISHAP_PUT(body, ",\"error\":");
    mishap_buffer_put_text(body, mishap_buffer_text(&error));
    MISHAP_PUT(body, "}");
    mishap_buffer_release(&error);
    reply->status = status;
    reply->code = told->code;
    reply->media_type = "application/json";
    reply->content = mishap_buffer_text(body);
}

void mishap_mcp_http_refuse(mishap_http_reply *reply, mishap_text id, int code, int status,
                            mishap *failure)
{
    tell(reply, id, code, status, failure);
    mishap_free(failure);
}

/* What the server itself refuses. It frees the failure. */
static void refuse_all(mishap_http_reply *reply, const mishap_http_settings *settings,
                       const mishap_http_request *request, mishap *failure)
{
    const mishap_code *code = mishap_told(failure)->code;
    (void)settings, (void)request;
    tell(reply, (mishap_text){ NULL, 0 }, INVALID_REQUEST,
         code->http_status ? code->http_status : 500, failure);
}

static void refuse(mishap_http_reply *reply, mishap_text id, int status, mishap *failure)
{
    mishap_mcp_http_refuse(reply, id, INVALID_REQUEST, status, failure);
}

/* -- sessions ---------------------------------------------------------------------------------- */

/* NULL: the request was refused. */
static http_session *session_of(const mishap_http_request *request, mishap_text id,
                                mishap_http_reply *reply)
{
    mishap_text name = request->fields[front.session_field];
    http_session *session = name.data ? mishap_mcp_http_session_find(&front, name) : NULL;
    if (!name.data)
        refuse(reply, id, 400,
               mishap_suggest(mishap_raise(BAD_REQUEST, "The header Mcp-Session-Id is missing."),
                              "Send initialize first, then send the Mcp-Session-Id of its "
                              "response."));
    else if (!session)
        refuse(reply, id, 404,
               mishap_suggest(mishap_raise(NOT_FOUND, "There is no such session."),
                              "Send initialize to begin a new session."));
    else
        session->used_ns = mishap_clock_monotonic_ns();
    return session;
}

static http_session *started(bool stateless, mishap_text id, mishap_http_reply *reply)
{
    http_session *session = NULL;
    mishap *failure = mishap_mcp_http_session_start(&front, stateless, &session);
    if (failure)
        refuse(reply, id, 503, failure);
    return session;
}

static http_session *session_for(const mishap_mcp_message *message,
                                 const mishap_http_request *request, mishap_http_reply *reply)
{
    bool hello = mishap_text_equal(message->method, (mishap_text)MISHAP_TEXT("initialize"));
    if (message->batch)
        return session_of(request, (mishap_text){ NULL, 0 }, reply);
    if (message->claims && hello) {
        refuse(reply, message->id, 400,
               mishap_raise(BAD_REQUEST, "The stateless revision has no initialize."));
        return NULL;
    }
    if (message->claims)
        return front.stateless ? front.stateless : started(true, message->id, reply);
    if (hello && message->kind == MISHAP_MCP_REQUEST && !request->fields[front.session_field].data)
        return started(false, message->id, reply);
    return session_of(request, message->id, reply);
}

/* -- endpoints --------------------------------------------------------------------------------- */

static void answer_post(mishap_http_server *server, const mishap_http_request *request,
                        const mishap_http_match *match, mishap_http_reply *reply)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    mishap_mcp_message message;
    mishap_mcp_flaw flaw = { 0 };
    (void)server, (void)match;
    if (!mishap_mcp_read(&reader, request->body, &message, &flaw)) {
        mishap *failure = flaw.failure ? flaw.failure
                                       : mishap_raise(BAD_REQUEST, "The message cannot be read.");
        mishap_mcp_http_refuse(reply, flaw.id, flaw.code ? flaw.code : INVALID_REQUEST,
                               flaw.status >= 400 ? flaw.status : 400, failure);
    } else {
        http_session *session = session_for(&message, request, reply);
        if (session)
            mishap_mcp_http_exchange_post(session, request, reply, reader.root,
                                          message.mended ? (mishap_text){ NULL, 0 }
                                                         : request->body);
    }
    mishap_json_reader_release(&reader);
}

static void answer_get(mishap_http_server *server, const mishap_http_request *request,
                       const mishap_http_match *match, mishap_http_reply *reply)
{
    (void)server, (void)match;
    http_session *session = session_of(request, (mishap_text){ NULL, 0 }, reply);
    if (session)
        mishap_mcp_http_exchange_get(session, request, reply);
}

static void answer_delete(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply)
{
    (void)server, (void)match;
    http_session *session = session_of(request, (mishap_text){ NULL, 0 }, reply);
    if (!session)
        return;
    mishap_mcp_http_session_end(session);
    reply->status = 204;
}

static const mishap_http_endpoint endpoints[] = {
    { .route = "POST /mcp", .name = "mcp.post", .open = true, .answer = answer_post },
    { .route = "GET /mcp", .name = "mcp.get", .open = true, .answer = answer_get },
    { .route = "DELETE /mcp", .name = "mcp.delete", .open = true, .answer = answer_delete },
    { 0 },
};

static const mishap_http_wish fields[] = {
    { "Mcp-Session-Id", .from_pages = true, .to_pages = true },
    { "MCP-Protocol-Version", .from_pages = true },
    { "Mcp-Method", .from_pages = true },
    { "Mcp-Name", .from_pages = true },
    { "Last-Event-ID", .from_pages = true },
    { 0 },
};

/* -- the extension ----------------------------------------------------------------------------- */

static const mishap_mcp_gateway_listen *given;

static mishap *open_front(mishap_http_server *server, void *shared, void **state)
{
    const mishap_http_settings *settings = mishap_http_settings_of(server);
    sigset_t ended;
    (void)shared;
    sigemptyset(&ended); /* libuv waits for the end of its children with it */
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_UNBLOCK, &ended, NULL);
    front = (http_front){ .http = server,
                          .settings = given,
                          .session_field = mishap_http_field_find(
                              settings->fields, (mishap_text)MISHAP_TEXT("Mcp-Session-Id")) };
    *state = &front;
    return NULL;
}

static bool is_idle(const http_session *session, int64_t now_ns)
{
    return !mishap_mcp_http_session_is_used(session) &&
           now_ns - session->used_ns > SESSION_IDLE_MS * INT64_C(1000000);
}

static void tick(void *state)
{
    int64_t now_ns = mishap_clock_monotonic_ns();
    (void)state;
    if (front.stateless)
        mishap_mcp_http_exchanges_tick(front.stateless, now_ns);
    for (http_session *session = front.sessions, *next; session; session = next) {
        next = session->next;
        mishap_mcp_http_exchanges_tick(session, now_ns);
        if (is_idle(session, now_ns))
            mishap_mcp_http_session_end(session);
    }
}

/* Gateways end by themselves when their input ends, with all processes of their servers. */
static void drain(void *state)
{
    (void)state;
    while (front.sessions)
        mishap_mcp_http_session_kill(front.sessions);
    if (front.stateless)
        mishap_mcp_http_session_kill(front.stateless);
}

static bool is_busy(void *state)
{
    (void)state;
    return front.running > 0;
}

static const mishap_http_extension extension = {
    .name = "mcp-gateway",
    .endpoints = endpoints,
    .fields = fields,
    .open = open_front,
    .tick = tick,
    .drain = drain,
    .busy = is_busy,
};

mishap *mishap_mcp_gateway_serve(const mishap_mcp_gateway_listen *settings)
{
    static const mishap_http_extension *const extensions[] = { &extension, NULL };
    given = settings;
    return mishap_http_supervise(&(mishap_http_settings){ .extensions = extensions,
                                                          .refuse = refuse_all,
                                                          .program = settings->program,
                                                          .host = settings->host,
                                                          .port = settings->port,
                                                          .loops = 1,
                                                          .max_connections = 4096,
                                                          .head_limit = HEAD_LIMIT,
                                                          .target_limit = 8192,
                                                          .body_limit = MISHAP_MCP_LINE_LIMIT,
                                                          .bodies_limit = (size_t)256 << 20,
                                                          .head_ms = 10000,
                                                          .body_ms = 30000,
                                                          .write_ms = 30000,
                                                          .idle_ms = 60000,
                                                          .stop_ms = 10000 });
}
