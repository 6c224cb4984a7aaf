#include "memory_server.h"

#include <stdlib.h>

#include "mcp/transport/http/over_http.h"

size_t memory_slow_runs;
int64_t memory_slow_time_left;

static mishap *echo(mishap_call *call)
{
    return mishap_answer_member(call, "text", mishap_string(call, "text"));
}

static mishap *create(mishap_call *call)
{
    return mishap_created(call, "{\"id\":\"1\"}",
                          mishap_call_print(call, "/users/%s", mishap_string(call, "name")));
}

static mishap *slow(mishap_call *call)
{
    memory_slow_runs++;
    memory_slow_time_left = mishap_call_time_left(call);
    if (strcmp(mishap_string(call, "id"), "1") != 0)
        return mishap_not_found("Todo not found");
    return mishap_answer_member(call, "id", "1");
}

static mishap *stream(mishap_call *call)
{
    const char *id = mishap_string(call, "id");
    if (strcmp(id, "none") == 0)
        return mishap_not_found("No such stream");
    mishap_stream(call, "text/plain; charset=utf-8");
    mishap_stream_write(call, (mishap_text)MISHAP_TEXT("one "));
    mishap_stream_write(call, (mishap_text){ "", 0 });
    mishap_stream_write(call, (mishap_text)MISHAP_TEXT("and another"));
    return strcmp(id, "broken") == 0 ? mishap_raise(NOT_FOUND, "The rest is gone.") : NULL;
}

static mishap *list(mishap_call *call)
{
    mishap_warn(call, "a \"quoted\" warning\r\nwith a line break");
    const char *tags = mishap_json(call, "tag");
    return mishap_answer(call, mishap_call_print(call, "{\"tags\":%s}", tags ? tags : "null"));
}

static const mishap_param user_params[] = {
    { "name", MISHAP_STRING, .required = true, .length = { 1, 200 } },
    { "age", MISHAP_INTEGER, .range = { 0, 150 } },
    { "email", MISHAP_STRING, .required = true, .pattern = ".*@.*\\..*" },
    { 0 }
};
static const mishap_param id_params[] = { { "id", MISHAP_STRING, .required = true }, { 0 } };
static const mishap_param text_params[] = { { "text", MISHAP_STRING, .length = { 0, 60000 } },
                                            { 0 } };
static const mishap_param tag = { "tag", MISHAP_STRING, .length = { 0, 9 } };
static const mishap_param list_params[] = { { "tag", MISHAP_ARRAY, .items = &tag },
                                            { "limit", MISHAP_INTEGER, .range = { 1, 100 },
                                              .initial = "20" },
                                            { 0 } };

static const mishap_operation operations[] = {
    { "users.create", "Create a user", user_params, create, .route = "POST /users",
      .danger = MISHAP_MUTATING, .quick = true },
    { "slow.get", "Get something slowly", id_params, slow, .route = "GET /slow/:id",
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { "echo.say", "Say it again", text_params, echo, .route = "POST /echo",
      .danger = MISHAP_MUTATING },
    { "pieces.get", "Get something in pieces", id_params, stream, .route = "GET /pieces/:id",
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { "list.all", "List things", list_params, list, .route = "GET /list", .quick = true },
    { 0 }
};

/* -- answers that come later ------------------------------------------------------------------- */

static void forget(mishap_http_later *later)
{
    memory_server *m = later->owner;
    m->later = NULL;
    m->closed++;
}

static mishap_http_later *defer(mishap_http_server *server, const mishap_http_request *request,
                                mishap_http_reply *reply)
{
    mishap_http_later *later = mishap_http_defer(server, request);
    if (!later) {
        mishap *m = mishap_out_of_memory();
        mishap_http_refuse(reply, server->settings, request, m);
        mishap_free(m);
        return NULL;
    }
    memory_server *m = (memory_server *)(void *)server;
    m->later = later;
    m->steps = 0;
    later->owner = m;
    later->closed = forget;
    return later;
}

/* What was asked for is repeated, so that it shows if it was not kept. */
static void answer_whole(mishap_http_later *later)
{
    mishap_http_reply reply = { .status = 200, .media_type = "text/plain" };
    mishap_http_reply_field(&reply, "X-Query", later->request.query);
    reply.content = later->request.path;
    ((memory_server *)later->owner)->later = NULL;
    mishap_http_later_answer(later, &reply);
    mishap_http_reply_release(&reply);
}

static void answer_later(mishap_http_server *server, const mishap_http_request *request,
                         const mishap_http_match *match, mishap_http_reply *reply)
{
    (void)match;
    defer(server, request, reply);
}

static void answer_now(mishap_http_server *server, const mishap_http_request *request,
                       const mishap_http_match *match, mishap_http_reply *reply)
{
    (void)match;
    mishap_http_later *later = defer(server, request, reply);
    if (later)
        answer_whole(later);
}

static void answer_stream(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply)
{
    (void)match;
    mishap_http_later *later = defer(server, request, reply);
    if (!later)
        return;
    mishap_http_reply head = { .status = 200, .media_type = "text/event-stream" };
    mishap_http_reply_field(&head, "Cache-Control", (mishap_text)MISHAP_TEXT("no-store"));
    mishap_http_later_begin(later, &head);
    mishap_http_reply_release(&head);
    mishap_http_later_send(later, (mishap_text)MISHAP_TEXT("data: one\n\n"));
    mishap_http_later_send(later, (mishap_text){ "", 0 });
}

/* The next part of the answer that waits. */
static void advance(memory_server *m)
{
    mishap_http_later *later = m->later;
    if (!later->streaming) {
        answer_whole(later);
    } else if (m->steps++ < 2) {
        mishap_http_later_send(later, (mishap_text)MISHAP_TEXT("data: another one\n\n"));
    } else {
        m->later = NULL;
        mishap_http_later_end(later);
    }
}

static const mishap_http_extension extension = {
    .name = "beside",
    .fields = mishap_mcp_fields,
    .endpoints =
        (const mishap_http_endpoint[]){
            { .route = "GET /now", .name = "now", .answer = answer_now },
            { .route = "GET /later", .name = "later", .answer = answer_later },
            { .route = "GET /stream", .name = "stream", .answer = answer_stream },
            { 0 } },
};

static bool push(mishap_http_server *server, mishap_http_exchange *exchange, mishap_text bytes)
{
    memory_server *m = (memory_server *)(void *)server;
    (void)exchange;
    if (m->deaf || !bytes.data)
        return false;
    mishap_buffer_put_text(m->to, bytes);
    return true;
}

static void go_on(mishap_http_server *server, mishap_http_exchange *exchange)
{
    (void)server, (void)exchange; /* talk() does */
}

/* -- the server -------------------------------------------------------------------------------- */

const mishap_app memory_app = { .name = "memory", .version = "1", .operations = operations };

static const mishap_http_extension *const extensions[] = { &mishap_api_over_http, &extension,
                                                           NULL };

void memory_server_open(memory_server *m)
{
    *m = (memory_server){
        .served = { .app = &memory_app, .setup = { .data = "/nonexistent" } },
        .settings = { .extensions = extensions,
                      .served = &m->served,
                      .admit = mishap_api_admit,
                      .refuse = mishap_api_refuse,
                      .guide = "/openapi.json",
                      .public_url = "http://127.0.0.1:8080",
                      .head_limit = 16384,
                      .target_limit = 8192,
                      .body_limit = 65536 },
    };
    m->server = (mishap_http_server){ .settings = &m->settings, .push = push, .go_on = go_on };
    if (mishap_http_fields_make(extensions, &m->fields) ||
        mishap_http_extensions_route(&m->settings, &m->routes))
        abort();
    m->settings.fields = m->fields;
    m->server.routes = m->routes;
    if (mishap_http_server_open(&m->server) || mishap_api_make(&m->api, &m->server))
        abort();
    m->served.plan.app = &memory_app;
    if (mishap_worker_groups_make(&memory_app, &m->served.plan.groups) ||
        mishap_served_open(&m->served, -1))
        abort();
    m->server.states[0] = &m->api;
    m->server.open_extensions = 2;
}

void memory_server_close(memory_server *m)
{
    mishap_served_close(&m->served);
    mishap_api_release(&m->api);
    mishap_http_server_close(&m->server);
    mishap_http_routes_free(m->routes);
    mishap_http_fields_free(m->fields);
}

static void take_out(memory_server *m, mishap_buffer *out)
{
    mishap_buffer_put_text(out, mishap_buffer_text(&m->server.out));
    if (m->server.out.failed)
        mishap_buffer_release(&m->server.out);
    mishap_buffer_reset(&m->server.out);
}

/* Every handler that is asked for, and what was kept behind it. */
static mishap_http_state run_calls(memory_server *m, mishap_http_exchange *exchange,
                                   mishap_http_state state, mishap_buffer *out)
{
    for (;;) {
        take_out(m, out);
        if (mishap_runner_count(m->served.runner, true)) {
            mishap_runner_flush(m->served.runner);
            state = mishap_http_exchange_feed(&m->server, exchange, NULL, 0);
        } else if (state != MISHAP_HTTP_ENDED && state != MISHAP_HTTP_RUNNING &&
                   mishap_http_reader_has_more(&exchange->reader)) {
            state = mishap_http_exchange_feed(&m->server, exchange, NULL, 0);
        } else {
            return state;
        }
    }
}

/* More of the answer that waits, and all that can be answered behind it. */
static mishap_http_state go_further(memory_server *m, mishap_http_exchange *exchange,
                                    mishap_buffer *out)
{
    advance(m);
    mishap_http_state state = mishap_http_exchange_feed(&m->server, exchange, NULL, 0);
    return run_calls(m, exchange, state, out);
}

mishap_http_state memory_server_talk(memory_server *m, mishap_text bytes, const uint8_t *pieces,
                                     size_t piece_count, mishap_buffer *out)
{
    mishap_http_exchange exchange;
    mishap_http_state state = MISHAP_HTTP_IDLE;
    m->to = out;
    mishap_http_exchange_init(&exchange, &m->server, (mishap_text)MISHAP_TEXT("127.0.0.1"));
    for (size_t at = 0, turn = 0; at < bytes.length && state != MISHAP_HTTP_ENDED; turn++) {
        size_t size = bytes.length - at;
        bool waits = m->later && !m->silent;
        if (piece_count && pieces[turn % piece_count] + 1U < size)
            size = pieces[turn % piece_count] + 1U;
        char *piece = malloc(size); /* of its own, so that what is used too late shows */
        memcpy(piece, bytes.data + at, size);
        state = mishap_http_exchange_feed(&m->server, &exchange, piece, size);
        free(piece);
        state = run_calls(m, &exchange, state, out);
        if (waits && m->later && state != MISHAP_HTTP_ENDED)
            state = go_further(m, &exchange, out);
        at += size;
    }
    while (m->later && !m->silent && !exchange.ended)
        state = go_further(m, &exchange, out);
    mishap_http_exchange_release(&m->server, &exchange);
    return state;
}

static void blank_after(char *text, size_t length, const char *mark, size_t count)
{
    size_t size = strlen(mark);
    for (char *at = text; (at = memmem(at, length - (size_t)(at - text), mark, size)); at += size)
        for (size_t i = 0; i < count && at + size + i < text + length; i++)
            at[size + i] = 'x';
}

void memory_server_steady(mishap_buffer *out)
{
    if (!out->length)
        return;
    blank_after(out->data, out->length, "\r\nX-Request-Id: ", MISHAP_ID_LENGTH);
    blank_after(out->data, out->length, "\r\nDate: ", 29);
    blank_after(out->data, out->length, "\"instance\":\"urn:uuid:", MISHAP_ID_LENGTH);
    blank_after(out->data, out->length, "\"incident\":\"", MISHAP_ID_LENGTH);
}
