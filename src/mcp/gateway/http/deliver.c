/*
 * What a gateway sends to its clients: answers, progress, and questions of the server. A question
 * that cannot reach a client is answered with an error, because calls have no time limit while a
 * client is asked.
 */
#include <stdio.h>

#include "mcp/gateway/http/inside.h"

enum {
    QUESTION_MS = 5000,      /* until a client has a stream for a question … */
    MOST_QUESTIONS = 256,    /* … that are not answered yet */
    MOST_ANSWERS = 64 << 20, /* bytes of the answers of a batch */
    NO_METHOD = -32601,      /* the stateless revision has no questions */
    NOT_DELIVERED = -32603,
};

#define SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

/* -- messages with other ids ------------------------------------------------------------------- */

typedef enum level { MESSAGE, PARAMS, META } level;

static void put_changed(mishap_buffer *out, yyjson_val *value, const http_change *change, level at)
{
    size_t index, count;
    yyjson_val *key, *member;
    mishap_json_open(out, '{');
    MISHAP_JSON_MEMBERS (value, index, count, key, member) {
        bool inner = yyjson_is_obj(member) && ((at == MESSAGE && MISHAP_JSON_IS(key, "params")) ||
                                               (at == PARAMS && MISHAP_JSON_IS(key, "_meta")));
        mishap_json_key(out, mishap_json_text(key));
        if (at == MESSAGE && change->id.data && MISHAP_JSON_IS(key, "id"))
            mishap_buffer_put_text(out, change->id);
        else if (at != MESSAGE && change->token.data && MISHAP_JSON_IS(key, "progressToken"))
            mishap_buffer_put_text(out, change->token);
        else if (at == META && change->subscription.data && MISHAP_JSON_IS(key, SUBSCRIPTION))
            mishap_buffer_put_text(out, change->subscription);
        else if (inner)
            put_changed(out, member, change, at + 1);
        else
            mishap_json_copy(out, member);
    }
    mishap_json_close(out, '}');
}

void mishap_mcp_http_put_changed(mishap_buffer *out, yyjson_val *root, const http_change *change)
{
    put_changed(out, root, change, MESSAGE);
}

/* -- answers ----------------------------------------------------------------------------------- */

static void put_error(mishap_buffer *out, mishap_text id, int code, const char *words)
{
    MISHAP_PUT(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    mishap_buffer_put_text(out, id);
    MISHAP_PUT(out, ",\"error\":{\"code\":");
    mishap_json_int(out, code);
    MISHAP_PUT(out, ",\"message\":");
    mishap_json_string(out, mishap_text_of(words));
    MISHAP_PUT(out, "}}");
}

/* One of the answers of a POST that is answered as JSON. */
static void keep_answer(http_exchange *x, mishap_text id, mishap_text line)
{
    if (x->batch)
        MISHAP_PUT(&x->answers, ",");
    if (x->answers.length + line.length > MOST_ANSWERS)
        put_error(&x->answers, id, NOT_DELIVERED, "The answers of the batch are too large.");
    else
        mishap_buffer_put_text(&x->answers, line);
}

static void end_answers(http_exchange *x)
{
    if (x->batch && x->answers.length) {
        x->answers.data[0] = '[';
        MISHAP_PUT(&x->answers, "]");
    }
    if (!x->accepts_json && x->later && !x->streams && !x->answers.failed)
        mishap_mcp_http_exchange_send(x, mishap_buffer_text(&x->answers));
    mishap_text body = mishap_buffer_text(&x->answers);
    if (x->answers.failed)
        mishap_mcp_http_exchange_finish(x, 500, (mishap_text){ NULL, 0 });
    else
        mishap_mcp_http_exchange_finish(x, 200, body);
}

static void take_answer(http_session *session, const mishap_mcp_message *message, yyjson_val *root,
                        mishap_text line)
{
    char room[MISHAP_MCP_ID_LIMIT + 200];
    http_awaited *awaited = (http_awaited *)(void *)mishap_mcp_gateway_table_find(&session->awaited,
                                                                                  message->id);
    mishap_buffer own = { 0 }, last;
    if (!awaited)
        return;
    http_exchange *x = awaited->exchange;
    mishap_buffer_init(&last, room, sizeof room);
    if (!session->id[0]) {
        mishap_mcp_http_put_changed(&own, root, &(http_change){ .id = awaited->id });
        if (own.failed)
            put_error(&last, awaited->id, NOT_DELIVERED, "There is no memory for the answer.");
        line = mishap_buffer_text(own.failed ? &last : &own);
    }
    if (x->greets && yyjson_obj_get(root, "result"))
        session->greeted = true;
    bool refused = x->greets && !session->greeted;
    if (x->streams)
        mishap_mcp_http_exchange_send(x, line);
    else
        keep_answer(x, awaited->id, line);
    mishap_mcp_http_forget_awaited(session, awaited);
    if (!--x->waits)
        end_answers(x);
    mishap_buffer_release(&own);
    mishap_buffer_release(&last);
    if (refused)
        mishap_mcp_http_session_end(session); /* there is no session */
}

/* -- questions --------------------------------------------------------------------------------- */

static void free_question(http_question **at)
{
    http_question *question = *at;
    *at = question->next;
    mishap_buffer_release(&question->line);
    mishap_release(question);
}

static void refuse(http_session *session, mishap_text id, int code, const char *words)
{
    mishap_buffer line = { 0 };
    put_error(&line, id, code, words);
    if (!line.failed)
        mishap_mcp_http_session_send(session, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
}

void mishap_mcp_http_question_forget(http_session *session, mishap_text id)
{
    for (http_question **at = &session->questions; *at; at = &(*at)->next)
        if (mishap_text_equal((*at)->id, id)) {
            free_question(at);
            return;
        }
}

void mishap_mcp_http_questions_release(http_session *session)
{
    while (session->questions)
        free_question(&session->questions);
}

void mishap_mcp_http_questions_left(http_exchange *x, bool closed)
{
    for (http_question **at = &x->session->questions; *at;) {
        bool own = (*at)->exchange == x;
        if (own)
            (*at)->exchange = NULL;
        if (own && closed) {
            refuse(x->session, (*at)->id, NOT_DELIVERED, "The client has closed its connection.");
            free_question(at);
        } else {
            at = &(*at)->next;
        }
    }
}

/* Those that wait for a stream for too long. */
void mishap_mcp_http_questions_tick(http_session *session, int64_t now_ns)
{
    for (http_question **at = &session->questions; *at;)
        if ((*at)->line.length && now_ns >= (*at)->until_ns) {
            refuse(session, (*at)->id, NOT_DELIVERED,
                   "The client has no stream that a question can reach.");
            free_question(at);
        } else {
            at = &(*at)->next;
        }
}

void mishap_mcp_http_questions_send(http_exchange *x)
{
    for (http_question *at = x->session->questions; at; at = at->next)
        if (at->line.length) {
            mishap_mcp_http_exchange_send(x, mishap_buffer_text(&at->line));
            mishap_buffer_release(&at->line);
            at->exchange = x;
        }
}

/* The newest request whose peer takes a stream; else the stream of the session; else NULL. */
static http_exchange *find_stream(const http_session *session)
{
    http_exchange *x = session->exchanges;
    while (x && (!x->later || !x->accepts_stream || x->greets))
        x = x->next;
    return x ? x : session->stream;
}

/* False: it cannot be kept. */
static bool keep_question(http_session *session, mishap_text id, mishap_text line)
{
    http_exchange *x = find_stream(session);
    http_question **end = &session->questions;
    size_t count = 0, parked = session->parked.length + line.length;
    for (; *end; end = &(*end)->next, count++)
        parked += (*end)->line.length;
    if (count >= MOST_QUESTIONS || (!x && parked > HTTP_MOST_PARKED))
        return false;
    http_question *question = mishap_allocate(sizeof *question + id.length);
    if (!question)
        return false;
    char *room = (char *)(question + 1);
    memcpy(room, id.data, id.length);
    *question = (http_question){ .exchange = x,
                                 .id = { room, id.length },
                                 .until_ns = mishap_clock_monotonic_ns() +
                                             QUESTION_MS * INT64_C(1000000) };
    *end = question;
    if (x)
        mishap_mcp_http_exchange_send(x, line);
    else
        mishap_buffer_put_text(&question->line, line);
    if (!question->line.failed)
        return true;
    free_question(end);
    return false;
}

static void take_question(http_session *session, const mishap_mcp_message *message,
                          mishap_text line)
{
    if (!session->id[0])
        refuse(session, message->id, NO_METHOD, "Clients of this revision take no questions.");
    else if (!keep_question(session, message->id, line))
        refuse(session, message->id, NOT_DELIVERED, "The client cannot be asked now.");
}

/* The server takes a question back. True: no client has seen it. */
static bool take_back(http_session *session, const mishap_mcp_message *message)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    bool unseen = false;
    if (!mishap_text_equal(message->method, (mishap_text)MISHAP_TEXT("notifications/cancelled")) ||
        !mishap_mcp_id_read(yyjson_obj_get(message->params, "requestId"), room, &id))
        return false;
    for (const http_question *at = session->questions; at; at = at->next)
        unseen = unseen || (at->line.length && mishap_text_equal(at->id, id));
    mishap_mcp_http_question_forget(session, id);
    return unseen;
}

/* -- notifications ----------------------------------------------------------------------------- */

static void send_changed(http_exchange *x, yyjson_val *root, const http_change *change)
{
    mishap_buffer line = { 0 };
    if (!x->later || !x->accepts_stream)
        return;
    mishap_mcp_http_put_changed(&line, root, change);
    if (!line.failed)
        mishap_mcp_http_exchange_send(x, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
}

static http_awaited *awaited_with(http_session *session, mishap_text token)
{
    for (size_t i = 0; i < MISHAP_GATEWAY_PLACES; i++)
        for (mishap_mcp_gateway_entry *at = session->awaited.places[i]; at; at = at->next) {
            http_awaited *awaited = (http_awaited *)(void *)at;
            if (awaited->token.data && mishap_text_equal(awaited->token, token))
                return awaited;
        }
    return NULL;
}

/* The token of a stateless request is its id here: clients do not know the tokens of each other. */
static void send_progress(http_session *session, const mishap_mcp_message *message,
                          yyjson_val *root)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text token;
    if (!mishap_mcp_id_read(yyjson_obj_get(message->params, "progressToken"), room, &token))
        return;
    const http_awaited *awaited = session->id[0]
                                      ? awaited_with(session, token)
                                      : (const http_awaited *)(const void *)
                                            mishap_mcp_gateway_table_find(&session->awaited, token);
    if (awaited && awaited->token.data) /* in a session nothing changes */
        send_changed(awaited->exchange, root, &(http_change){ .token = awaited->token });
}

/* With the id of the subscription that the client knows. */
static void send_subscribed(http_session *session, const mishap_mcp_message *message,
                            yyjson_val *root)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    if (!mishap_mcp_id_read(yyjson_obj_get(message->meta, SUBSCRIPTION), room, &id))
        return;
    const http_awaited *awaited = (const http_awaited *)(const void *)mishap_mcp_gateway_table_find(
        &session->awaited, id);
    if (awaited)
        send_changed(awaited->exchange, root, &(http_change){ .subscription = awaited->id });
}

static void send_somewhere(http_session *session, mishap_text line)
{
    http_exchange *x = find_stream(session);
    if (x)
        mishap_mcp_http_exchange_send(x, line);
    else if (session->parked.length + line.length < HTTP_MOST_PARKED)
        mishap_mcp_http_put_event(&session->parked, line);
}

static void take_other(http_session *session, const mishap_mcp_message *message, yyjson_val *root,
                       mishap_text line)
{
    if (message->kind == MISHAP_MCP_REQUEST)
        take_question(session, message, line);
    else if (mishap_text_equal(message->method, (mishap_text)MISHAP_TEXT("notifications/progress")))
        send_progress(session, message, root);
    else if (!session->id[0])
        send_subscribed(session, message, root);
    else if (!take_back(session, message))
        send_somewhere(session, line);
}

void mishap_mcp_http_deliver(http_session *session, mishap_text line)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    mishap_mcp_message message;
    mishap_mcp_flaw flaw = { 0 };
    if (mishap_json_read(&reader, line) && mishap_mcp_message_read(reader.root, &message, &flaw)) {
        if (message.kind == MISHAP_MCP_RESPONSE)
            take_answer(session, &message, reader.root, line);
        else
            take_other(session, &message, reader.root, line);
    }
    mishap_free(flaw.failure);
    mishap_json_reader_release(&reader);
}
