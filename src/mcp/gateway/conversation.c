/*
 * A conversation: requests in flight and their deadlines, what the gateway sends on its own, and
 * what happens when a server ends and another one is started.
 */
#include <stdio.h>

#include "mcp/gateway/inside.h"

static const int64_t million = 1000000;

static bool put_line(mishap_buffer *out, mishap_text line)
{
    if (!mishap_buffer_reserve(out, line.length + 1)) {
        out->failed = false;
        return false;
    }
    mishap_buffer_put_text(out, line);
    mishap_buffer_put_char(out, '\n');
    return true;
}

bool mishap_mcp_gateway_to_client(gateway *g, mishap_text line)
{
    if (!g->to_client.capacity)
        mishap_buffer_init(&g->to_client, g->room, sizeof g->room);
    return put_line(&g->to_client, line);
}

bool mishap_mcp_gateway_to_server(gateway *g, mishap_text line)
{
    return put_line(&g->to_server, line);
}

void mishap_mcp_gateway_put_with_id(mishap_buffer *out, yyjson_val *root, mishap_text id)
{
    size_t index, count;
    yyjson_val *key, *value;
    mishap_json_open(out, '{');
    MISHAP_JSON_MEMBERS (root, index, count, key, value) {
        mishap_json_key(out, mishap_json_text(key));
        if (MISHAP_JSON_IS(key, "id"))
            mishap_buffer_put_text(out, id);
        else
            mishap_json_copy(out, value);
    }
    mishap_json_close(out, '}');
}

bool mishap_mcp_gateway_allows(const gateway *g, mishap_text tool)
{
    const mishap_mcp_gateway_settings *settings = g->settings;
    for (size_t i = 0; settings->allow && i < settings->allow_count; i++)
        if (mishap_text_equal(settings->allow[i], tool))
            return true;
    return !settings->allow;
}

/* -- requests in flight ------------------------------------------------------------------------ */

static void unlink_call(gateway *g, gateway_call *call)
{
    *(call->before ? &call->before->after : &g->oldest) = call->after;
    *(call->after ? &call->after->before : &g->newest) = call->before;
}

/* Behind all that have an earlier deadline or the same. Most calls have the same time, so the place
 * is near the end. */
static void link_call(gateway *g, gateway_call *call)
{
    gateway_call *before = g->newest;
    while (before && before->deadline_ns > call->deadline_ns)
        before = before->before;
    call->before = before;
    call->after = before ? before->after : g->oldest;
    *(call->before ? &call->before->after : &g->oldest) = call;
    *(call->after ? &call->after->before : &g->newest) = call;
}

static void set_deadline(gateway *g, gateway_call *call, int64_t deadline_ns)
{
    unlink_call(g, call);
    call->deadline_ns = deadline_ns;
    link_call(g, call);
}

/* The time of a request begins when the server gets it. One that waits has the time of a start
 * more, and one that is endless has an end once it is cancelled. A greeting has a deadline of its
 * own (greeting_ns), and this one is only behind it. */
static int64_t deadline_of(const gateway *g, const gateway_call *call)
{
    const mishap_mcp_gateway_settings *settings = g->settings;
    if (!call->cancelled && (call->kind == GATEWAY_ENDLESS || call->kind == GATEWAY_LISTEN))
        return INT64_MAX;
    if (call->kind == GATEWAY_INITIALIZE)
        return g->now_ns + 2 * settings->start_ms * million;
    if (call->kind >= GATEWAY_OWN_INITIALIZE)
        return g->now_ns + settings->start_ms * million;
    return g->now_ns + (settings->call_ms + (call->held ? settings->start_ms : 0)) * million;
}

void mishap_mcp_gateway_call_extend(gateway *g, gateway_call *call)
{
    set_deadline(g, call, deadline_of(g, call));
}

void mishap_mcp_gateway_call_hold(gateway *g, gateway_call *call)
{
    if (call->held)
        return;
    call->held = true;
    g->held++;
    mishap_mcp_gateway_call_extend(g, call);
}

void mishap_mcp_gateway_call_retry(gateway *g, gateway_call *call)
{
    set_deadline(g, call, g->now_ns + GATEWAY_AGAIN_MS * million);
}

static mishap_text copied(char **room, mishap_text text)
{
    mishap_text copy = { *room, text.length };
    if (!text.data)
        return text;
    memcpy(*room, text.data, text.length);
    *room += text.length;
    return copy;
}

gateway_call *mishap_mcp_gateway_call_add(gateway *g, const mishap_mcp_message *message,
                                          mishap_text line, gateway_kind kind)
{
    char storage[MISHAP_MCP_ID_LIMIT];
    mishap_text tool = { NULL, 0 }, token = { NULL, 0 };
    if (kind == GATEWAY_TOOLS_CALL)
        tool = mishap_json_text(yyjson_obj_get(message->params, "name"));
    mishap_mcp_id_read(yyjson_obj_get(message->meta, "progressToken"), storage, &token);
    size_t size = message->id.length + tool.length + token.length + line.length;
    gateway_call *call = mishap_allocate(sizeof *call + size);
    if (!call)
        return NULL;
    char *room = (char *)(call + 1);
    *call = (gateway_call){ .kind = kind,
                            .modern = message->claims,
                            .first = !yyjson_obj_get(message->params, "cursor"),
                            .started_ns = g->now_ns };
    call->deadline_ns = deadline_of(g, call);
    call->entry.key = copied(&room, message->id);
    call->tool = copied(&room, tool);
    call->token = copied(&room, token);
    call->line = copied(&room, line);
    mishap_mcp_gateway_table_add(&g->calls, &call->entry);
    link_call(g, call);
    g->call_bytes += line.length;
    return call;
}

void mishap_mcp_gateway_call_remove(gateway *g, gateway_call *call)
{
    unlink_call(g, call);
    mishap_mcp_gateway_table_remove(&g->calls, &call->entry);
    g->call_bytes -= call->line.length;
    g->held -= call->held;
    mishap_release(call);
}

void mishap_mcp_gateway_call_send(gateway *g, gateway_call *call)
{
    if (call->held) {
        g->held--;
        call->held = false;
        mishap_mcp_gateway_call_extend(g, call);
    }
    if (!mishap_mcp_gateway_to_server(g, call->line)) {
        mishap_mcp_gateway_fail(g, call, mishap_out_of_memory());
        return;
    }
    if (call->kind == GATEWAY_INITIALIZE)
        g->greeting_ns = g->now_ns + g->settings->start_ms * million;
}

/* To look at a call may be the reason to look at all of them: that is done afterwards, so only the
 * call itself can leave the list meanwhile. */
void mishap_mcp_gateway_release_held(gateway *g)
{
    g->release_again = true;
    if (g->releasing)
        return;
    g->releasing = true;
    while (g->release_again) {
        g->release_again = false;
        for (gateway_call *call = g->oldest, *after; call && g->held; call = after) {
            after = call->after;
            if (call->held)
                mishap_mcp_gateway_dispatch(g, call);
        }
    }
    g->releasing = false;
}

/* -- own requests ------------------------------------------------------------------------------ */

bool mishap_mcp_gateway_send_own(gateway *g, gateway_kind kind, const char *method,
                                 mishap_text params)
{
    char id[40];
    mishap_buffer line = { 0 };
    do
        snprintf(id, sizeof id, "\"mishap-gateway-%llu\"", (unsigned long long)++g->last_own);
    while (mishap_mcp_gateway_call_find(g, mishap_text_of(id)));
    MISHAP_PUT(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
    mishap_buffer_put_text(&line, mishap_text_of(id));
    MISHAP_PUT(&line, ",\"method\":\"");
    mishap_buffer_put_text(&line, mishap_text_of(method));
    MISHAP_PUT(&line, "\",\"params\":");
    mishap_buffer_put_text(&line, params);
    MISHAP_PUT(&line, "}");
    mishap_mcp_message message = { .id = mishap_text_of(id) };
    gateway_call *call = line.failed ? NULL
                                     : mishap_mcp_gateway_call_add(g, &message,
                                                                   (mishap_text){ NULL, 0 }, kind);
    bool sent = call && mishap_mcp_gateway_to_server(g, mishap_buffer_text(&line));
    if (call && !sent)
        mishap_mcp_gateway_call_remove(g, call);
    mishap_buffer_release(&line);
    return sent;
}

void mishap_mcp_gateway_list_tools(gateway *g, mishap_text cursor)
{
    mishap_buffer params = { 0 };
    mishap_json_open(&params, '{');
    if (cursor.length) {
        MISHAP_JSON_KEY(&params, "cursor");
        mishap_json_string(&params, cursor);
    }
    if (g->meta.length) {
        MISHAP_JSON_KEY(&params, "_meta");
        mishap_buffer_put_text(&params, mishap_buffer_text(&g->meta));
    }
    mishap_json_close(&params, '}');
    g->listing = true;
    g->pages = cursor.length ? g->pages + 1 : 1;
    if (params.failed || g->pages > GATEWAY_MOST_PAGES ||
        !mishap_mcp_gateway_send_own(g, GATEWAY_OWN_LIST, "tools/list",
                                     mishap_buffer_text(&params)))
        mishap_mcp_gateway_listed(g);
    mishap_buffer_release(&params);
}

/* What is not known now will not be known: the calls that wait are not checked. */
void mishap_mcp_gateway_listed(gateway *g)
{
    g->listing = false;
    if (!g->tools.complete) {
        g->tools.complete = true;
        g->tools.until_ns = INT64_MAX;
    }
    mishap_mcp_gateway_release_held(g);
}

/* The greeting of the client once more, with an id of the gateway. False: no memory. */
static bool greet_again(gateway *g)
{
    mishap_buffer params = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    bool sent = false;
    if (mishap_json_read(&reader, mishap_buffer_text(&g->hello))) {
        mishap_json_copy(&params, yyjson_obj_get(reader.root, "params"));
        sent = !params.failed &&
               mishap_mcp_gateway_send_own(g, GATEWAY_OWN_INITIALIZE, "initialize",
                                           mishap_buffer_text(&params));
    }
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&params);
    return sent;
}

/* -- the server -------------------------------------------------------------------------------- */

void mishap_mcp_gateway_ready(gateway *g)
{
    g->phase = GATEWAY_READY;
    g->greeting_ns = INT64_MAX;
    mishap_mcp_gateway_release_held(g);
}

/* Without a greeting that was answered the client has to send one, or the revision has none. */
void mishap_mcp_gateway_started(gateway *g)
{
    g->stuck = false;
    g->notes = 0;
    g->answers = 0;
    g->greeting_ns = INT64_MAX;
    g->phase = GATEWAY_FRESH;
    g->tools.complete = false;
    if (!g->greeted) {
        mishap_mcp_gateway_release_held(g);
        return;
    }
    g->phase = GATEWAY_GREETING;
    g->greeting_ns = g->now_ns + g->settings->start_ms * million;
    if (!greet_again(g))
        g->stuck = true; /* the next start may have more memory */
}

static bool may_repeat(const gateway *g, const gateway_call *call)
{
    const gateway_tool *tool = call->kind == GATEWAY_TOOLS_CALL
                                   ? mishap_mcp_gateway_tools_find(&g->tools, call->tool)
                                   : NULL;
    return tool && tool->repeatable && !call->repeated && !call->cancelled;
}

/* What the caller is told. Only a call of a tool that may not be repeated can have had effects. */
static mishap *lost(const gateway *g, const gateway_call *call)
{
    const gateway_tool *tool = mishap_mcp_gateway_tools_find(&g->tools, call->tool);
    bool repeatable = call->kind != GATEWAY_TOOLS_CALL || (tool && tool->repeatable);
    mishap *m;
    if (repeatable) {
        m = mishap_raise(UNAVAILABLE, "The server has ended before it answered.");
        m = mishap_suggest(m, "Try again later.");
    } else {
        m = mishap_raise(PARTIAL_FAILURE,
                         "The server has ended during the call. It is not known what was done.");
        m = mishap_suggest(m, "Check what the call has done before you repeat it.");
    }
    m = mishap_note(m, "server", mishap_text_of(g->last_end));
    return g->last_response.status ? mishap_mcp_gateway_response_note(m, &g->last_response) : m;
}

static void end_call(gateway *g, gateway_call *call)
{
    if (call->held || call->answered)
        return;
    if (mishap_mcp_gateway_is_own(call) || call->cancelled) {
        mishap_mcp_gateway_call_remove(g, call);
    } else if (may_repeat(g, call)) {
        call->repeated = true;
        mishap_mcp_gateway_call_hold(g, call);
    } else {
        mishap_mcp_gateway_fail(g, call, lost(g, call));
    }
}

/* The client need not answer any more. */
static void withdraw_questions(gateway *g)
{
    mishap_mcp_gateway_entry *entry;
    while ((entry = mishap_mcp_gateway_table_any(&g->questions))) {
        mishap_buffer line = { 0 };
        MISHAP_PUT(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                          "\"params\":{\"requestId\":");
        mishap_buffer_put_text(&line, entry->key);
        MISHAP_PUT(&line, ",\"reason\":\"The server has ended.\"}}");
        if (!line.failed)
            mishap_mcp_gateway_to_client(g, mishap_buffer_text(&line));
        mishap_buffer_release(&line);
        mishap_mcp_gateway_table_remove(&g->questions, entry);
        mishap_release(entry);
    }
}

void mishap_mcp_gateway_ended(gateway *g, const char *how, int64_t restart_ns)
{
    snprintf(g->last_end, sizeof g->last_end, "%s", how);
    g->phase = GATEWAY_DOWN;
    g->restart_ns = restart_ns;
    g->greeting_ns = INT64_MAX;
    g->stuck = g->listing = false;
    mishap_buffer_release(&g->to_server);
    for (gateway_call *call = g->oldest, *after; call; call = after) {
        after = call->after;
        end_call(g, call);
    }
    mishap_mcp_gateway_response_release(&g->last_response);
    g->last_response = (gateway_response){ 0 };
    withdraw_questions(g);
    mishap_mcp_gateway_release_held(g); /* before a long pause nothing waits */
}

/* -- time -------------------------------------------------------------------------------------- */

/* Tell the server that its answer is not needed any more. */
static void cancel(gateway *g, const gateway_call *call)
{
    mishap_buffer line = { 0 };
    MISHAP_PUT(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                      "\"requestId\":");
    mishap_buffer_put_text(&line, call->entry.key);
    MISHAP_PUT(&line, ",\"reason\":\"The time is over.\"}}");
    if (!line.failed)
        mishap_mcp_gateway_to_server(g, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
}

static void expire(gateway *g, gateway_call *call)
{
    bool sent = !call->held && g->phase != GATEWAY_DOWN;
    if (call->kind == GATEWAY_OWN_INITIALIZE) {
        g->stuck = true;
        mishap_mcp_gateway_call_remove(g, call);
        return;
    }
    if (call->kind == GATEWAY_OWN_LIST) {
        mishap_mcp_gateway_call_remove(g, call);
        mishap_mcp_gateway_listed(g);
        return;
    }
    if (call->cancelled || mishap_mcp_gateway_is_own(call)) {
        mishap_mcp_gateway_call_remove(g, call);
        return;
    }
    if (call->answered) {
        mishap_mcp_gateway_fail(g, call, mishap_out_of_memory());
        return;
    }
    if (sent && call->kind != GATEWAY_INITIALIZE)
        cancel(g, call);
    mishap *m = sent ? mishap_raise(TIMEOUT, "The server did not answer within %lld seconds.",
                                    (long long)(g->settings->call_ms / 1000))
                     : mishap_raise(UNAVAILABLE, "The server could not be started in time.");
    mishap_mcp_gateway_fail(g, call, mishap_note(m, "server", mishap_text_of(g->last_end)));
}

/* While a person or a model answers a question of the server, its calls cannot go on. */
static void wait_for_answers(gateway *g)
{
    for (gateway_call *call = g->oldest; call && call->deadline_ns <= g->now_ns && !call->answered;
         call = g->oldest)
        mishap_mcp_gateway_call_extend(g, call);
}

/* A client answers a ping at once, or never. */
static bool has_real_question(const gateway *g)
{
    for (size_t i = 0; g->questions.count && i < MISHAP_GATEWAY_PLACES; i++)
        for (mishap_mcp_gateway_entry *at = g->questions.places[i]; at; at = at->next)
            if (!((gateway_question *)(void *)at)->ping)
                return true;
    return false;
}

int64_t mishap_mcp_gateway_tick(gateway *g)
{
    if (g->oldest && g->oldest->deadline_ns <= g->now_ns && has_real_question(g))
        wait_for_answers(g);
    for (size_t left = g->calls.count; left && g->oldest && g->oldest->deadline_ns <= g->now_ns;
         left--)
        expire(g, g->oldest);
    if (g->now_ns >= g->greeting_ns)
        g->stuck = true;
    int64_t next = g->oldest ? g->oldest->deadline_ns : INT64_MAX;
    return next < g->greeting_ns ? next : g->greeting_ns;
}

/* -- from beginning to end --------------------------------------------------------------------- */

void mishap_mcp_gateway_open(gateway *g, const mishap_mcp_gateway_settings *settings)
{
    *g = (gateway){ .settings = settings, .greeting_ns = INT64_MAX, .has_tools = true };
    mishap_mcp_gateway_table_init(&g->calls);
    mishap_mcp_gateway_table_init(&g->questions);
    mishap_mcp_gateway_table_init(&g->setups);
    mishap_mcp_gateway_table_init(&g->tools.table);
}

void mishap_mcp_gateway_close(gateway *g)
{
    mishap_mcp_gateway_entry *entry;
    while (g->oldest)
        mishap_mcp_gateway_call_remove(g, g->oldest);
    while ((entry = mishap_mcp_gateway_table_any(&g->questions))) {
        mishap_mcp_gateway_table_remove(&g->questions, entry);
        mishap_release(entry);
    }
    mishap_mcp_gateway_setup_release(g);
    mishap_mcp_gateway_tools_release(&g->tools);
    mishap_buffer_release(&g->to_client);
    mishap_buffer_release(&g->to_server);
    mishap_buffer_release(&g->hello);
    mishap_buffer_release(&g->hello_done);
    mishap_buffer_release(&g->meta);
    mishap_mcp_gateway_response_release(&g->last_response);
}
