/*
 * One request over HTTP: the messages of a POST on their way to the gateway, and the response.
 * It is JSON, unless something else has to be said first, or a batch has several answers:
 * then it is a stream of events.
 */
#include <stdio.h>

#include "base/media.h"
#include "mcp/gateway/http/inside.h"

static const mishap_text heartbeat = MISHAP_TEXT(": still here\n\n");
static const int64_t heartbeat_ns = INT64_C(15000000000);

/* -- the end of an exchange -------------------------------------------------------------------- */

static void free_exchange(http_exchange *x)
{
    http_session *session = x->session;
    if (x->stands) {
        session->stream = NULL;
    } else {
        *(x->previous ? &x->previous->next : &session->exchanges) = x->next;
        if (x->next)
            x->next->previous = x->previous;
    }
    mishap_buffer_release(&x->answers);
    mishap_release(x);
}

void mishap_mcp_http_forget_awaited(http_session *session, http_awaited *awaited)
{
    mishap_mcp_gateway_table_remove(&session->awaited, &awaited->entry);
    mishap_release(awaited);
}

/* All that it waits for; `each` is told before. */
static void forget_all(http_exchange *x, void (*each)(http_session *, const http_awaited *))
{
    http_session *session = x->session;
    for (size_t i = 0; x->waits && i < MISHAP_GATEWAY_PLACES; i++)
        for (mishap_mcp_gateway_entry *at = session->awaited.places[i], *next; at; at = next) {
            http_awaited *awaited = (http_awaited *)(void *)at;
            next = at->next;
            if (awaited->exchange != x)
                continue;
            if (each)
                each(session, awaited);
            mishap_mcp_http_forget_awaited(session, awaited);
            x->waits--;
        }
}

/* Of the stateless revision: a client that closes its connection has cancelled the request. */
static void cancel(http_session *session, const http_awaited *awaited)
{
    mishap_buffer line = { 0 };
    MISHAP_PUT(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                      "\"requestId\":");
    mishap_buffer_put_text(&line, awaited->entry.key);
    MISHAP_PUT(&line, "}}");
    if (!line.failed)
        mishap_mcp_http_session_send(session, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
}

/* The peer is gone. In a session its requests go on, and their answers are dropped. */
static void on_closed(mishap_http_later *later)
{
    http_exchange *x = later->owner;
    x->later = NULL;
    mishap_mcp_http_questions_left(x, true);
    if (x->greets) { /* the client does not know the id of the session */
        mishap_mcp_http_session_kill(x->session);
        return;
    }
    if (!x->stands && !x->session->id[0])
        forget_all(x, cancel);
    if (!x->waits)
        free_exchange(x);
}

void mishap_mcp_http_exchange_finish(http_exchange *x, int status, mishap_text body)
{
    mishap_http_later *later = x->later;
    x->later = NULL;
    x->session->used_ns = mishap_clock_monotonic_ns();
    mishap_mcp_http_questions_left(x, false);
    if (later && x->streams) {
        mishap_http_later_end(later);
    } else if (later) {
        mishap_http_reply reply = { .status = status };
        if (body.length) {
            reply.media_type = "application/json";
            reply.content = body;
        }
        if (x->greets && x->session->greeted)
            mishap_http_reply_field(&reply, "Mcp-Session-Id", mishap_text_of(x->session->id));
        mishap_http_later_answer(later, &reply);
        mishap_http_reply_release(&reply);
    }
    free_exchange(x);
}

/* -- streams ----------------------------------------------------------------------------------- */

void mishap_mcp_http_put_event(mishap_buffer *out, mishap_text data)
{
    MISHAP_PUT(out, "event: message\ndata: ");
    size_t start = out->length;
    mishap_buffer_put_text(out, data);
    for (size_t i = start; i < out->length; i++)
        if (out->data[i] == '\r') /* it would end the line; in JSON it is white space */
            out->data[i] = ' ';
    MISHAP_PUT(out, "\n\n");
}

static void begin_stream(http_exchange *x)
{
    mishap_http_reply head = { .status = 200, .media_type = "text/event-stream" };
    if (x->streams || !x->later)
        return;
    x->streams = true;
    x->quiet_ns = mishap_clock_monotonic_ns();
    mishap_http_reply_field(&head, "Cache-Control",
                            (mishap_text)MISHAP_TEXT("no-cache, no-transform"));
    mishap_http_reply_field(&head, "X-Accel-Buffering", (mishap_text)MISHAP_TEXT("no"));
    mishap_http_later_begin(x->later, &head);
    mishap_http_reply_release(&head);
}

/* A peer that does not read is told nothing any more: closed() follows. */
void mishap_mcp_http_exchange_send(http_exchange *x, mishap_text data)
{
    mishap_buffer event = { 0 };
    begin_stream(x);
    mishap_mcp_http_put_event(&event, data);
    if (x->later && !event.failed)
        mishap_http_later_send(x->later, mishap_buffer_text(&event));
    x->quiet_ns = mishap_clock_monotonic_ns();
    mishap_buffer_release(&event);
}

static void beat(http_exchange *x, int64_t now_ns)
{
    if (!x || !x->later || !x->streams || now_ns - x->quiet_ns < heartbeat_ns)
        return;
    x->quiet_ns = now_ns;
    mishap_http_later_send(x->later, heartbeat);
}

void mishap_mcp_http_exchanges_tick(http_session *session, int64_t now_ns)
{
    mishap_mcp_http_questions_tick(session, now_ns);
    beat(session->stream, now_ns);
    for (http_exchange *x = session->exchanges; x; x = x->next)
        beat(x, now_ns);
}

void mishap_mcp_http_exchanges_end(http_session *session)
{
    static const mishap_text words = MISHAP_TEXT(
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"
        "\"message\":\"The session has ended.\"}}");
    mishap_mcp_gateway_entry *entry;
    mishap_mcp_http_questions_release(session);
    while ((entry = mishap_mcp_gateway_table_any(&session->awaited)))
        mishap_mcp_http_forget_awaited(session, (http_awaited *)(void *)entry);
    while (session->exchanges)
        mishap_mcp_http_exchange_finish(session->exchanges, 404, words);
    if (session->stream)
        mishap_mcp_http_exchange_finish(session->stream, 404, (mishap_text){ NULL, 0 });
}

/* -- what the client sends --------------------------------------------------------------------- */

static http_exchange *make_exchange(http_session *session, const mishap_http_request *request)
{
    mishap_text accept = request->fields[MISHAP_HTTP_ACCEPT];
    http_exchange *x = mishap_allocate(sizeof *x);
    if (!x)
        return NULL;
    *x = (http_exchange){
        .session = session,
        .accepts_json = mishap_http_accepts(accept, (mishap_text)MISHAP_TEXT("application/json")),
        .accepts_stream = mishap_http_accepts(accept,
                                              (mishap_text)MISHAP_TEXT("text/event-stream")),
    };
    return x;
}

static void link_exchange(http_exchange *x)
{
    http_session *session = x->session;
    x->next = session->exchanges;
    if (x->next)
        x->next->previous = x;
    session->exchanges = x;
}

static bool defer(http_exchange *x, const mishap_http_request *request)
{
    x->later = mishap_http_defer(x->session->front->http, request);
    if (!x->later)
        return false;
    x->later->owner = x;
    x->later->closed = on_closed;
    return true;
}

/* Remember a request. NULL: it has the id of another one, or there is no memory. */
static http_awaited *await(http_exchange *x, const mishap_mcp_message *message)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text token = { NULL, 0 };
    http_session *session = x->session;
    mishap_mcp_id_read(yyjson_obj_get(message->meta, "progressToken"), room, &token);
    if (session->awaited.count >= HTTP_MOST_AWAITED)
        return NULL;
    http_awaited *awaited = mishap_allocate(sizeof *awaited + message->id.length + token.length);
    if (!awaited)
        return NULL;
    char *text = (char *)(awaited + 1);
    *awaited = (http_awaited){ .exchange = x, .id = { text, message->id.length } };
    memcpy(text, message->id.data, message->id.length);
    if (token.data) {
        awaited->token = (mishap_text){ text + message->id.length, token.length };
        memcpy(text + message->id.length, token.data, token.length);
    }
    awaited->entry.key = awaited->id;
    if (!session->id[0]) {
        snprintf(awaited->key, sizeof awaited->key, "%llu",
                 (unsigned long long)++session->last_number);
        awaited->entry.key = mishap_text_of(awaited->key);
    }
    if (mishap_mcp_gateway_table_find(&session->awaited, awaited->entry.key)) {
        mishap_release(awaited);
        return NULL;
    }
    mishap_mcp_gateway_table_add(&session->awaited, &awaited->entry);
    x->waits++;
    return awaited;
}

/* An answer need not come any more. `filled` is the exchange that the message came with: its POST
 * is still being read, and ends by itself. */
static void take_cancelling(http_exchange *filled, const mishap_mcp_message *message)
{
    http_session *session = filled->session;
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    if (!mishap_text_equal(message->method, (mishap_text)MISHAP_TEXT("notifications/cancelled")) ||
        !mishap_mcp_id_read(yyjson_obj_get(message->params, "requestId"), room, &id))
        return;
    http_awaited *awaited = (http_awaited *)(void *)mishap_mcp_gateway_table_find(&session->awaited,
                                                                                  id);
    http_exchange *x = awaited ? awaited->exchange : NULL;
    if (!x)
        return;
    mishap_mcp_http_forget_awaited(session, awaited);
    if (!--x->waits && x != filled)
        mishap_mcp_http_exchange_finish(x, 202, (mishap_text){ NULL, 0 });
}

/* Send one message. `text` is the whole of it, as the client has sent it; no data: it is one of a
 * batch. NULL, or why it was not sent. */
static mishap *send_message(http_exchange *x, yyjson_val *root, mishap_text text)
{
    http_session *session = x->session;
    mishap_mcp_message message;
    mishap_mcp_flaw flaw = { 0 };
    http_awaited *awaited = NULL;
    mishap_buffer line = { 0 };
    if (!mishap_mcp_message_read(root, &message, &flaw)) {
        mishap_free(flaw.failure); /* of a batch: the gateway refuses it, without an id */
        return mishap_raise(BAD_REQUEST, "A message of the batch cannot be read.");
    }
    bool stateless = !session->id[0];
    if (message.kind == MISHAP_MCP_REQUEST && !(awaited = await(x, &message)))
        return mishap_raise(BAD_REQUEST, "Too many requests are not answered yet, or one with "
                                         "this id.");
    x->greets = x->greets ||
                (awaited && !stateless &&
                 mishap_text_equal(message.method, (mishap_text)MISHAP_TEXT("initialize")));
    if (!awaited && stateless)
        return NULL; /* a notification without a connection concerns nothing */
    if (awaited && stateless)
        mishap_mcp_http_put_changed(
            &line, root,
            &(http_change){ .id = awaited->entry.key,
                            .token = awaited->token.data ? awaited->entry.key : awaited->token });
    else if (!text.data)
        mishap_json_copy(&line, root);
    bool sent = !line.failed && mishap_mcp_http_session_send(
                                    session, line.length ? mishap_buffer_text(&line) : text);
    mishap_buffer_release(&line);
    if (sent && message.kind == MISHAP_MCP_RESPONSE)
        mishap_mcp_http_question_forget(session, message.id);
    else if (sent && !awaited)
        take_cancelling(x, &message);
    return sent ? NULL : mishap_raise(UNAVAILABLE, "The server does not read its messages.");
}

static mishap *send_all(http_exchange *x, yyjson_val *root, mishap_text text)
{
    size_t index, count;
    yyjson_val *item;
    mishap *failure = NULL;
    x->batch = yyjson_is_arr(root);
    if (!x->batch)
        return send_message(x, root, text);
    MISHAP_JSON_ITEMS (root, index, count, item)
        if (!failure)
            failure = send_message(x, item, (mishap_text){ NULL, 0 });
    return failure;
}

void mishap_mcp_http_exchange_post(http_session *session, const mishap_http_request *request,
                                   mishap_http_reply *reply, yyjson_val *root, mishap_text text)
{
    http_exchange *x = make_exchange(session, request);
    mishap *failure = x ? NULL : mishap_out_of_memory();
    if (x) {
        link_exchange(x);
        if (!x->accepts_json && !x->accepts_stream)
            failure = mishap_raise(NOT_ACCEPTABLE, "The Accept header must list application/json "
                                                   "and text/event-stream.");
    }
    if (!failure)
        failure = send_all(x, root, text);
    if (!failure && x->waits && defer(x, request))
        return;
    if (!failure && x->waits)
        failure = mishap_out_of_memory();
    if (failure)
        mishap_mcp_http_refuse(reply, (mishap_text){ NULL, 0 }, -32600,
                               mishap_told(failure)->code->http_status, failure);
    else
        reply->status = 202;
    if (x) {
        forget_all(x, NULL);
        free_exchange(x);
    }
    if (session->id[0] && !session->greeted && !session->exchanges)
        mishap_mcp_http_session_end(session); /* no client knows its id */
}

void mishap_mcp_http_exchange_get(http_session *session, const mishap_http_request *request,
                                  mishap_http_reply *reply)
{
    http_exchange *x = session->stream ? NULL : make_exchange(session, request);
    if (!x || !x->accepts_stream || !defer(x, request)) {
        mishap *failure = session->stream
                              ? mishap_raise(CONFLICT, "The session has a stream already.")
                          : x && !x->accepts_stream
                              ? mishap_raise(NOT_ACCEPTABLE,
                                             "The Accept header must list text/event-stream.")
                              : mishap_out_of_memory();
        mishap_release(x);
        mishap_mcp_http_refuse(reply, (mishap_text){ NULL, 0 }, -32600,
                               mishap_told(failure)->code->http_status, failure);
        return;
    }
    x->stands = true;
    session->stream = x;
    begin_stream(x);
    if (session->parked.length && x->later)
        mishap_http_later_send(x->later, mishap_buffer_text(&session->parked));
    mishap_buffer_reset(&session->parked);
    mishap_mcp_http_questions_send(x);
}
