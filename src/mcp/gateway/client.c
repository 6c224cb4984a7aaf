/* Messages of the client: calls of tools are checked, all others pass. */
#include <stdio.h>

#include "base/nearest.h"
#include "mcp/gateway/inside.h"

/* -- tools that are not offered ---------------------------------------------------------------- */

static mishap *not_offered(const gateway *g, mishap_text name)
{
    mishap_guess guess = { .word = name };
    char words[GATEWAY_LONGEST_NAME + 40];
    for (size_t i = 0; i < g->settings->allow_count; i++)
        mishap_guess_weigh(&guess, g->settings->allow[i]);
    mishap *m = mishap_raise(NOT_FOUND, "There is no tool `%.*s`.",
                             (int)mishap_utf8_cut(name, GATEWAY_LONGEST_NAME),
                             name.length ? name.data : "");
    if (!guess.name.length || guess.name.length > GATEWAY_LONGEST_NAME)
        return mishap_suggest(m, "Ask for the list of tools.");
    snprintf(words, sizeof words, "Did you mean `%.*s`?", (int)guess.name.length, guess.name.data);
    return mishap_suggest(m, words);
}

/* -- calls ------------------------------------------------------------------------------------- */

/* True: the tools have to be asked for first. */
static bool must_list(const gateway *g)
{
    bool current = g->tools.complete && g->now_ns < g->tools.until_ns;
    return g->has_tools && !current;
}

/* The arguments of a call whose message was read already. */
static mishap *check(const gateway *g, const gateway_call *call, yyjson_val *params)
{
    if (!mishap_mcp_gateway_allows(g, call->tool))
        return not_offered(g, call->tool);
    const gateway_tool *tool = mishap_mcp_gateway_tools_find(&g->tools, call->tool);
    if (!tool || !tool->schema)
        return NULL;
    return mishap_schema_check(tool->schema, yyjson_obj_get(params, "arguments"));
}

static mishap *pausing(const gateway *g)
{
    mishap *m = mishap_raise(UNAVAILABLE, "The server has ended, and is started again later.");
    m = mishap_retry_after(m, (g->restart_ns - g->now_ns) / 1000000);
    return mishap_note(m, "server", mishap_text_of(g->last_end));
}

/* `params` are those of the call. It is checked as soon as it can be sent: the tools may be others
 * then. */
static void go_on(gateway *g, gateway_call *call, yyjson_val *params)
{
    bool tool = call->kind == GATEWAY_TOOLS_CALL;
    if (g->phase == GATEWAY_DOWN &&
        g->restart_ns - g->now_ns > GATEWAY_PATIENCE_MS * INT64_C(1000000)) {
        mishap_mcp_gateway_fail(g, call, pausing(g));
        return;
    }
    if (g->phase == GATEWAY_DOWN || g->phase == GATEWAY_GREETING || (tool && g->listing)) {
        mishap_mcp_gateway_call_hold(g, call);
        return;
    }
    if (tool && must_list(g)) {
        mishap_mcp_gateway_call_hold(g, call);
        mishap_mcp_gateway_list_tools(g, (mishap_text){ NULL, 0 });
        return;
    }
    mishap *failure = tool ? check(g, call, params) : NULL;
    if (failure)
        mishap_mcp_gateway_fail(g, call, failure);
    else
        mishap_mcp_gateway_call_send(g, call);
}

/* A call that has waited is read once more. */
void mishap_mcp_gateway_dispatch(gateway *g, gateway_call *call)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    yyjson_val *params = NULL;
    if (mishap_json_read(&reader, call->line))
        params = yyjson_obj_get(reader.root, "params");
    go_on(g, call, params);
    mishap_json_reader_release(&reader);
}

/* -- requests ---------------------------------------------------------------------------------- */

static const struct {
    const char *method;
    gateway_kind kind;
} kinds[] = {
    { "tools/call", GATEWAY_TOOLS_CALL }, { "tools/list", GATEWAY_TOOLS_LIST },
    { "initialize", GATEWAY_INITIALIZE }, { "subscriptions/listen", GATEWAY_LISTEN },
    { "tasks/result", GATEWAY_ENDLESS },
};

static gateway_kind kind_of(mishap_text method)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (mishap_text_equal(method, mishap_text_of(kinds[i].method)))
            return kinds[i].kind;
    return mishap_mcp_gateway_is_setup(method) ? GATEWAY_SETUP : GATEWAY_OTHER;
}

/* What own requests of the stateless revision have to say: what the client says. */
static void keep_meta(gateway *g, const mishap_mcp_message *message)
{
    static const char prefix[] = "io.modelcontextprotocol/", level[] = "logLevel";
    size_t index, count;
    yyjson_val *key, *value;
    mishap_buffer meta = { 0 };
    mishap_json_open(&meta, '{');
    MISHAP_JSON_MEMBERS (message->meta, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        bool ours = name.length > sizeof prefix - 1 &&
                    memcmp(name.data, prefix, sizeof prefix - 1) == 0;
        if (!ours || strcmp(name.data + sizeof prefix - 1, level) == 0)
            continue;
        mishap_json_key(&meta, name);
        mishap_json_copy(&meta, value);
    }
    mishap_json_close(&meta, '}');
    if (meta.failed) {
        mishap_buffer_release(&meta);
        return;
    }
    mishap_buffer_release(&g->meta);
    g->meta = meta;
    g->revision = mishap_mcp_revision_find(message->claimed);
}

static void refuse_request(gateway *g, const mishap_mcp_message *message, mishap *failure)
{
    mishap_mcp_gateway_refuse(g, message->id, -32600, failure);
}

static void take_request(gateway *g, const mishap_mcp_message *message, mishap_text line)
{
    gateway_kind kind = kind_of(message->method);
    if (mishap_mcp_gateway_call_find(g, message->id)) {
        refuse_request(g, message,
                       mishap_raise(BAD_REQUEST, "A request with this id is not answered yet."));
        return;
    }
    if (g->calls.count >= GATEWAY_MOST_CALLS || g->call_bytes + line.length > GATEWAY_MOST_HELD) {
        refuse_request(g, message,
                       mishap_raise(UNAVAILABLE, "Too many requests are not answered yet."));
        return;
    }
    if (message->claims && !g->meta.length && mishap_mcp_revision_find(message->claimed))
        keep_meta(g, message);
    if (kind == GATEWAY_INITIALIZE) {
        mishap_buffer_reset(&g->hello);
        mishap_buffer_reset(&g->hello_done);
        mishap_buffer_put_text(&g->hello, line);
        g->greeted = false;
    }
    gateway_call *call = mishap_mcp_gateway_call_add(g, message, line, kind);
    if (!call)
        refuse_request(g, message, mishap_out_of_memory());
    else
        go_on(g, call, message->params);
}

/* -- notifications and answers ----------------------------------------------------------------- */

/* A call that was not sent yet is forgotten, and the server need not know. */
static bool cancel_call(gateway *g, const mishap_mcp_message *message)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    if (!mishap_mcp_id_read(yyjson_obj_get(message->params, "requestId"), room, &id))
        return true;
    gateway_call *call = mishap_mcp_gateway_call_find(g, id);
    if (!call || mishap_mcp_gateway_is_own(call))
        return false;
    bool sent = !call->held;
    call->cancelled = true;
    if (!sent)
        mishap_mcp_gateway_call_remove(g, call);
    else if (call->deadline_ns == INT64_MAX)
        mishap_mcp_gateway_call_extend(g, call); /* it is no longer endless */
    return sent;
}

/* A request without its id would reach a server that looks at the method alone, unchecked. */
static bool is_notification(mishap_text method)
{
    static const char first[] = "notifications/";
    return method.length >= sizeof first - 1 && memcmp(method.data, first, sizeof first - 1) == 0;
}

static void take_notification(gateway *g, const mishap_mcp_message *message, mishap_text line)
{
    bool pass = (g->phase == GATEWAY_FRESH || g->phase == GATEWAY_READY) &&
                is_notification(message->method);
    if (mishap_text_equal(message->method, mishap_text_of("notifications/cancelled")))
        pass = cancel_call(g, message) && pass;
    if (mishap_text_equal(message->method, mishap_text_of("notifications/initialized"))) {
        mishap_buffer_reset(&g->hello_done);
        mishap_buffer_put_text(&g->hello_done, line);
    }
    if (pass)
        mishap_mcp_gateway_to_server(g, line);
}

/* The server that has asked may be gone: then there is no such question any more. */
static void take_answer(gateway *g, const mishap_mcp_message *message, yyjson_val *root)
{
    gateway_question *question = (gateway_question *)(void *)mishap_mcp_gateway_table_find(
        &g->questions, message->id);
    mishap_buffer line = { 0 };
    if (!question)
        return;
    mishap_mcp_gateway_put_with_id(&line, root, question->id);
    if (!line.failed)
        mishap_mcp_gateway_to_server(g, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
    mishap_mcp_gateway_table_remove(&g->questions, &question->entry);
    mishap_release(question);
}

/* -- messages that two readers understand differently -------------------------------------------
 */

/* The next letter of a name, in lower case. Some readers of JSON (Go's) find members without regard
 * to case, and take U+017F for an s and U+212A for a k. */
static char next_letter(const char **at, const char *end)
{
    const char *c = *at;
    if (end - c >= 2 && memcmp(c, "\xc5\xbf", 2) == 0) {
        *at += 2;
        return 's';
    }
    if (end - c >= 3 && memcmp(c, "\xe2\x84\xaa", 3) == 0) {
        *at += 3;
        return 'k';
    }
    *at += 1;
    return (char)(*c >= 'A' && *c <= 'Z' ? *c | 32 : *c);
}

static bool is_other_case(mishap_text key, mishap_text name)
{
    const char *at = key.data, *end = key.data + key.length;
    size_t i = 0;
    if (mishap_text_equal(key, name))
        return false;
    while (i < name.length && at < end && next_letter(&at, end) == name.data[i])
        i++;
    return i == name.length && at == end;
}

/* Whether a name can begin as the key does: most names are excluded by that. */
static bool may_be(mishap_text key, mishap_text name)
{
    return key.length >= name.length &&
           ((key.data[0] | 32) == name.data[0] || ((unsigned char)key.data[0] & 0x80));
}

static bool has_other_case(yyjson_val *object, const mishap_text *names, size_t count_of_names)
{
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        mishap_text text = mishap_json_text(key);
        for (size_t i = 0; i < count_of_names; i++)
            if (may_be(text, names[i]) && is_other_case(text, names[i]))
                return true;
    }
    return false;
}

/* Such a server would see a method or a tool that was not checked. */
static bool is_ambiguous(const mishap_mcp_message *message, yyjson_val *root)
{
    static const mishap_text of_root[] = { MISHAP_TEXT("jsonrpc"), MISHAP_TEXT("id"),
                                           MISHAP_TEXT("method"),  MISHAP_TEXT("params"),
                                           MISHAP_TEXT("result"),  MISHAP_TEXT("error") };
    static const mishap_text of_call[] = { MISHAP_TEXT("name"), MISHAP_TEXT("arguments") };
    return has_other_case(root, of_root, sizeof of_root / sizeof *of_root) ||
           (kind_of(message->method) == GATEWAY_TOOLS_CALL &&
            has_other_case(message->params, of_call, sizeof of_call / sizeof *of_call));
}

/* -- messages ---------------------------------------------------------------------------------- */

static void take_message(gateway *g, const mishap_mcp_message *message, yyjson_val *root,
                         mishap_text line)
{
    if (is_ambiguous(message, root)) {
        refuse_request(g, message,
                       mishap_raise(BAD_REQUEST,
                                    "The name of a member differs from one of the protocol only "
                                    "in the case of its letters."));
        return;
    }
    switch (message->kind) {
    case MISHAP_MCP_REQUEST:
        take_request(g, message, line);
        break;
    case MISHAP_MCP_NOTIFICATION:
        take_notification(g, message, line);
        break;
    case MISHAP_MCP_RESPONSE:
        take_answer(g, message, root);
        break;
    }
}

static void refuse_flaw(gateway *g, mishap_mcp_flaw *flaw)
{
    if (flaw->failure)
        mishap_mcp_gateway_refuse(g, flaw->id, flaw->code, flaw->failure);
}

/* Each message of a batch is one of its own, and so is its answer. */
static void take_batch(gateway *g, yyjson_val *batch)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (batch, index, count, item) {
        mishap_mcp_message message;
        mishap_mcp_flaw flaw;
        mishap_buffer line = { 0 };
        mishap_json_copy(&line, item);
        if (line.failed)
            mishap_mcp_gateway_client_line_lost(g, true);
        else if (!mishap_mcp_message_read(item, &message, &flaw))
            refuse_flaw(g, &flaw);
        else if (!message.batch)
            take_message(g, &message, item, mishap_buffer_text(&line));
        mishap_buffer_release(&line);
    }
}

void mishap_mcp_gateway_from_client(gateway *g, mishap_text line)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    mishap_mcp_message message;
    mishap_mcp_flaw flaw;
    if (!mishap_mcp_read(&reader, line, &message, &flaw))
        refuse_flaw(g, &flaw);
    else if (message.batch)
        take_batch(g, message.batch);
    else
        take_message(g, &message, reader.root, line);
    mishap_json_reader_release(&reader);
}

void mishap_mcp_gateway_client_line_lost(gateway *g, bool no_memory)
{
    mishap_text none = { NULL, 0 };
    if (no_memory)
        mishap_mcp_gateway_refuse(g, none, -32603, mishap_out_of_memory());
    else
        mishap_mcp_gateway_refuse(g, none, -32600,
                                  mishap_raise(CONTENT_TOO_LARGE, "The message is too large."));
}
