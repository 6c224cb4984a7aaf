/*
 * Messages of the server: answers to requests in flight, requests of its own, notifications.
 *
 * A success passes as it is. So it is not searched for flaws that two readers could understand
 * differently; only the members that decide are looked at, and they may stand there once only.
 *
 * Requests of a server get an id of the gateway. After a restart the next server may use the same
 * ids, and an answer to a question of the last one must not reach it.
 */
#include <stdio.h>

#include "mcp/gateway/inside.h"

/* -- answers ----------------------------------------------------------------------------------- */

/* True if the object has a member once; `*value` is the last. */
static bool has_once(yyjson_val *object, const char *name, yyjson_val **value)
{
    size_t index, count, found = 0, length = strlen(name);
    yyjson_val *key, *at;
    MISHAP_JSON_MEMBERS (object, index, count, key, at) {
        if (unsafe_yyjson_get_len(key) != length ||
            memcmp(unsafe_yyjson_get_str(key), name, length) != 0)
            continue;
        found++;
        *value = at;
    }
    return found == 1;
}

static void put_allowed(mishap_buffer *out, const gateway *g, yyjson_val *list)
{
    size_t index, count;
    yyjson_val *item;
    mishap_json_open(out, '[');
    MISHAP_JSON_ITEMS (list, index, count, item)
        if (mishap_mcp_gateway_allows(g, mishap_json_text(yyjson_obj_get(item, "name"))))
            mishap_json_copy(out, item);
    mishap_json_close(out, ']');
}

/* The list without the tools that are not offered. */
static bool put_list(gateway *g, const gateway_call *call, yyjson_val *result)
{
    size_t index, count;
    yyjson_val *key, *value;
    mishap_buffer out = { 0 };
    MISHAP_PUT(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
    mishap_buffer_put_text(&out, call->entry.key);
    MISHAP_PUT(&out, ",\"result\":{");
    MISHAP_JSON_MEMBERS (result, index, count, key, value) {
        mishap_json_key(&out, mishap_json_text(key));
        if (MISHAP_JSON_IS(key, "tools"))
            put_allowed(&out, g, value);
        else
            mishap_json_copy(&out, value);
    }
    MISHAP_PUT(&out, "}}");
    bool put = !out.failed && mishap_mcp_gateway_to_client(g, mishap_buffer_text(&out));
    mishap_buffer_release(&out);
    return put;
}

static mishap *unreadable(void)
{
    return mishap_raise(BAD_GATEWAY, "The server has sent an answer that cannot be read.");
}

static void pass_answer(gateway *g, gateway_call *call, mishap_text line)
{
    if (mishap_mcp_gateway_to_client(g, line))
        mishap_mcp_gateway_call_remove(g, call);
    else
        mishap_mcp_gateway_fail(g, call, mishap_out_of_memory());
}

static void take_list(gateway *g, gateway_call *call, mishap_text line, yyjson_val *result,
                      const mishap_json_reader *reader)
{
    yyjson_val *at;
    bool sound = mishap_json_first_flaw(reader, &at) == MISHAP_JSON_SOUND;
    if (sound)
        mishap_mcp_gateway_tools_learn(&g->tools, result, call->first, g->now_ns);
    if (!g->settings->allow)
        pass_answer(g, call, line);
    else if (!sound)
        mishap_mcp_gateway_fail(g, call, mishap_note(unreadable(), "answer", line));
    else if (put_list(g, call, result))
        mishap_mcp_gateway_call_remove(g, call);
    else
        mishap_mcp_gateway_fail(g, call, mishap_out_of_memory());
}

/* A task that has failed says so in a success. */
static void take_task(gateway *g, gateway_call *call, mishap_text line,
                      const mishap_json_reader *reader)
{
    yyjson_val *at;
    if (mishap_json_first_flaw(reader, &at) != MISHAP_JSON_SOUND)
        mishap_mcp_gateway_fail(g, call, mishap_note(unreadable(), "answer", line));
    else if (mishap_mcp_gateway_tell_tasks(g, call, line, reader->root))
        mishap_mcp_gateway_call_remove(g, call);
    else
        mishap_mcp_gateway_fail(g, call, mishap_out_of_memory());
}

/* What the greeting of a server says: the revision, and whether it has tools. */
static void learn_greeting(gateway *g, yyjson_val *result)
{
    g->revision = mishap_mcp_revision_find(
        mishap_json_text(yyjson_obj_get(result, "protocolVersion")));
    g->has_tools = yyjson_obj_get(yyjson_obj_get(result, "capabilities"), "tools") != NULL;
}

static void take_result(gateway *g, gateway_call *call, mishap_text line, yyjson_val *result,
                        const mishap_json_reader *reader)
{
    yyjson_val *failed = NULL;
    bool tool = call->kind == GATEWAY_TOOLS_CALL || call->kind == GATEWAY_ENDLESS;
    if (call->kind == GATEWAY_TOOLS_LIST) {
        take_list(g, call, line, result, reader);
        return;
    }
    if (tool && !has_once(result, "isError", &failed) && failed) {
        mishap_mcp_gateway_fail(g, call, mishap_note(unreadable(), "answer", line));
    } else if (tool && failed && !yyjson_is_false(failed) && !yyjson_is_null(failed)) {
        mishap_mcp_gateway_tell_result(g, call, line, result);
    } else if (call->kind == GATEWAY_INITIALIZE) {
        learn_greeting(g, result);
        g->greeted = g->hello.length > 0 && !g->hello.failed;
        pass_answer(g, call, line);
        mishap_mcp_gateway_ready(g);
    } else if (mishap_mcp_gateway_has_failed_task(result)) {
        take_task(g, call, line, reader);
    } else {
        if (call->kind == GATEWAY_SETUP)
            mishap_mcp_gateway_setup_learn(g, call->line);
        pass_answer(g, call, line);
    }
}

/* A response of a server behind a URL that answers no call of the client: the operator gets it. If
 * the server is lost with it, each call that waits has it in its record, too. False: it is none. */
static bool keep_response(gateway *g, yyjson_val *holder)
{
    char words[80];
    gateway_response response;
    if (!g->settings->url || !mishap_mcp_gateway_response_read(holder, &response))
        return false;
    snprintf(words, sizeof words, "has answered with the HTTP status %d", response.status);
    mishap_mcp_gateway_note(g, words, response.body);
    if (response.lost) {
        mishap_mcp_gateway_response_release(&g->last_response);
        g->last_response = response;
    } else {
        mishap_mcp_gateway_response_release(&response);
    }
    return true;
}

/* The answer to a request of the gateway itself. */
static void take_own(gateway *g, gateway_call *call, yyjson_val *result,
                     const mishap_json_reader *reader)
{
    char room[1024];
    yyjson_val *at;
    bool greeting = call->kind == GATEWAY_OWN_INITIALIZE, setup = call->kind == GATEWAY_OWN_SETUP;
    mishap_mcp_gateway_call_remove(g, call);
    if (!result)
        keep_response(g, yyjson_obj_get(yyjson_obj_get(reader->root, "error"), "data"));
    if (setup)
        return;
    if (greeting && result) {
        learn_greeting(g, result);
        if (g->hello_done.length)
            mishap_mcp_gateway_to_server(g, mishap_buffer_text(&g->hello_done));
        mishap_mcp_gateway_setup_repeat(g);
        mishap_mcp_gateway_ready(g);
        return;
    }
    if (greeting) {
        g->stuck = true;
        return;
    }
    bool sound = result && mishap_json_first_flaw(reader, &at) == MISHAP_JSON_SOUND;
    mishap_text cursor = mishap_json_text(yyjson_obj_get(result, "nextCursor"));
    bool last = !sound ||
                mishap_mcp_gateway_tools_learn(&g->tools, result, g->pages == 1, g->now_ns);
    if (last || cursor.length > sizeof room) {
        mishap_mcp_gateway_listed(g);
        return;
    }
    memcpy(room, cursor.data, cursor.length);
    mishap_mcp_gateway_list_tools(g, (mishap_text){ room, cursor.length });
}

static void take_answer(gateway *g, const mishap_mcp_message *message, mishap_text line,
                        const mishap_json_reader *reader)
{
    gateway_call *call = message->id.length ? mishap_mcp_gateway_call_find(g, message->id) : NULL;
    yyjson_val *result = yyjson_obj_get(reader->root, "result");
    yyjson_val *error = yyjson_obj_get(reader->root, "error"), *at;
    bool own = call && mishap_mcp_gateway_is_own(call);
    if (call && call->kind == GATEWAY_INITIALIZE && (error || call->cancelled))
        g->greeting_ns = INT64_MAX; /* it lives, and does not want this greeting */
    g->answers += call && !own;
    if (!call || call->held || call->answered)
        mishap_mcp_gateway_note(g, "answers a request that is not waiting", line);
    else if (own)
        take_own(g, call, result, reader);
    else if (call->cancelled)
        mishap_mcp_gateway_call_remove(g, call);
    else if (error)
        mishap_mcp_gateway_tell_error(g, call, line, error,
                                      mishap_json_first_flaw(reader, &at) == MISHAP_JSON_SOUND);
    else
        take_result(g, call, line, result, reader);
}

/* -- requests ---------------------------------------------------------------------------------- */

static gateway_question *add_question(gateway *g, const mishap_mcp_message *message)
{
    mishap_text id = message->id;
    gateway_question *question = g->questions.count < GATEWAY_MOST_QUESTIONS
                                     ? mishap_allocate(sizeof *question + id.length)
                                     : NULL;
    if (!question)
        return NULL;
    memcpy(question + 1, id.data, id.length);
    *question = (gateway_question){ .id = { (const char *)(question + 1), id.length },
                                    .ping = mishap_text_equal(message->method,
                                                              mishap_text_of("ping")) };
    snprintf(question->key, sizeof question->key, "%llu", (unsigned long long)++g->last_question);
    question->entry.key = mishap_text_of(question->key);
    mishap_mcp_gateway_table_add(&g->questions, &question->entry);
    return question;
}

/* The server gets an answer, too, if its request cannot be passed on. */
static void refuse_question(gateway *g, mishap_text id)
{
    mishap_buffer line = { 0 };
    if (g->to_server.length > GATEWAY_MOST_PENDING)
        return; /* it asks, and does not read */
    MISHAP_PUT(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
    mishap_buffer_put_text(&line, id);
    MISHAP_PUT(&line, ",\"error\":{\"code\":-32603,\"message\":\"The request cannot be passed on "
                      "to the client.\"}}");
    if (!line.failed)
        mishap_mcp_gateway_to_server(g, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
}

static void take_question(gateway *g, const mishap_mcp_message *message,
                          const mishap_json_reader *reader)
{
    yyjson_val *at;
    bool sound = mishap_json_first_flaw(reader, &at) == MISHAP_JSON_SOUND;
    gateway_question *question = sound ? add_question(g, message) : NULL;
    mishap_buffer line = { 0 };
    if (question)
        mishap_mcp_gateway_put_with_id(&line, reader->root, question->entry.key);
    bool put = question && !line.failed &&
               mishap_mcp_gateway_to_client(g, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
    if (put)
        return;
    if (question) {
        mishap_mcp_gateway_table_remove(&g->questions, &question->entry);
        mishap_release(question);
    }
    refuse_question(g, message->id);
}

/* -- notifications ----------------------------------------------------------------------------- */

/* A call that makes progress has its whole time again. */
static void take_progress(gateway *g, yyjson_val *params)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text token;
    if (!mishap_mcp_id_read(yyjson_obj_get(params, "progressToken"), room, &token))
        return;
    for (gateway_call *call = g->oldest; call; call = call->after)
        if (!call->held && call->token.data && mishap_text_equal(call->token, token)) {
            mishap_mcp_gateway_call_extend(g, call);
            return;
        }
}

/* The server has given up a request of its own: the client knows it by another id. If it was
 * answered, the client need not know. */
static void withdraw_question(gateway *g, yyjson_val *params)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    if (!mishap_mcp_id_read(yyjson_obj_get(params, "requestId"), room, &id))
        return;
    for (size_t i = 0; g->questions.count && i < MISHAP_GATEWAY_PLACES; i++)
        for (mishap_mcp_gateway_entry *at = g->questions.places[i]; at; at = at->next) {
            gateway_question *question = (gateway_question *)(void *)at;
            if (!mishap_text_equal(question->id, id))
                continue;
            mishap_buffer line = { 0 };
            MISHAP_PUT(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                              "\"params\":{\"requestId\":");
            mishap_buffer_put_text(&line, question->entry.key);
            MISHAP_PUT(&line, "}}");
            if (!line.failed)
                mishap_mcp_gateway_to_client(g, mishap_buffer_text(&line));
            mishap_buffer_release(&line);
            mishap_mcp_gateway_table_remove(&g->questions, at);
            mishap_release(question);
            return;
        }
}

static void pass_notification(gateway *g, const mishap_mcp_message *message, mishap_text line,
                              const mishap_json_reader *reader)
{
    yyjson_val *at;
    if (!mishap_mcp_gateway_has_failed_task(message->params))
        mishap_mcp_gateway_to_client(g, line);
    else if (mishap_json_first_flaw(reader, &at) == MISHAP_JSON_SOUND)
        mishap_mcp_gateway_tell_tasks(g, NULL, line, reader->root);
    else
        mishap_mcp_gateway_note(g, "has sent a notification that cannot be read", line);
}

static void take_notification(gateway *g, const mishap_mcp_message *message, mishap_text line,
                              const mishap_json_reader *reader)
{
    if (mishap_text_equal(message->method, mishap_text_of(GATEWAY_RESPONSE_METHOD)) &&
        keep_response(g, message->params))
        return;
    if (mishap_text_equal(message->method, mishap_text_of("notifications/progress")))
        take_progress(g, message->params);
    if (mishap_text_equal(message->method, mishap_text_of("notifications/tools/list_changed")))
        g->tools.complete = false;
    if (mishap_text_equal(message->method, mishap_text_of("notifications/cancelled")))
        withdraw_question(g, message->params);
    else
        pass_notification(g, message, line, reader);
}

/* -- messages ---------------------------------------------------------------------------------- */

/* Members that decide what a message is stand there once at most. */
static bool is_clear(yyjson_val *root)
{
    unsigned seen = 0;
    size_t index, count;
    yyjson_val *key, *value;
    static const char *const names[] = { "id", "method", "params", "result", "error", "jsonrpc" };
    MISHAP_JSON_MEMBERS (root, index, count, key, value) {
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
            if (!mishap_text_equal(mishap_json_text(key), mishap_text_of(names[i])))
                continue;
            if (seen & 1U << i)
                return false;
            seen |= 1U << i;
        }
    }
    return true;
}

static void take_batch(gateway *g, yyjson_val *batch)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (batch, index, count, item) {
        mishap_buffer line = { 0 };
        if (yyjson_is_obj(item))
            mishap_json_copy(&line, item);
        if (!line.failed && line.length)
            mishap_mcp_gateway_from_server(g, mishap_buffer_text(&line));
        mishap_buffer_release(&line);
    }
}

/* What is no message, but has the id of a call, was to be its answer: the client need not wait for
 * the end of its time. */
static void fail_unreadable(gateway *g, mishap_text id, yyjson_val *root, mishap_text line)
{
    gateway_call *call = id.length && !yyjson_obj_get(root, "method")
                             ? mishap_mcp_gateway_call_find(g, id)
                             : NULL;
    if (call && !mishap_mcp_gateway_is_own(call) && !call->held && !call->answered &&
        !call->cancelled)
        mishap_mcp_gateway_fail(g, call, mishap_note(unreadable(), "answer", line));
}

/* A line that is no message. `clear`: none of its members stands there twice. */
static void take_nonsense(gateway *g, mishap_text line, yyjson_val *root, bool clear,
                          mishap_mcp_flaw *flaw)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    mishap_mcp_gateway_note(g, "has sent a line that is no message", line);
    mishap_free(flaw->failure);
    if (clear && mishap_mcp_id_read(yyjson_obj_get(root, "id"), room, &id))
        fail_unreadable(g, id, root, line);
}

void mishap_mcp_gateway_from_server(gateway *g, mishap_text line)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    mishap_mcp_message message;
    mishap_mcp_flaw flaw = { 0 };
    yyjson_val *at;
    bool read = mishap_json_read(&reader, line);
    if (read && yyjson_is_arr(reader.root)) {
        if (mishap_json_first_flaw(&reader, &at) == MISHAP_JSON_SOUND)
            take_batch(g, reader.root);
        else
            mishap_mcp_gateway_note(g, "has sent a batch that cannot be read", line);
    } else if (!read || !is_clear(reader.root) ||
               !mishap_mcp_message_read(reader.root, &message, &flaw)) {
        take_nonsense(g, line, reader.root, read && is_clear(reader.root), &flaw);
    } else if (message.kind == MISHAP_MCP_RESPONSE) {
        take_answer(g, &message, line, &reader);
    } else if (message.kind == MISHAP_MCP_REQUEST) {
        take_question(g, &message, &reader);
    } else {
        take_notification(g, &message, line, &reader);
    }
    mishap_json_reader_release(&reader);
}
