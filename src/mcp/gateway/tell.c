/*
 * Failures: what the server says becomes a mishap, and the mishap an answer in our words. The
 * operator has the original, under the id that the answer names.
 *
 * src/upstream reads what another program says. A text of a failing tool is for the model that has
 * called it, so all of it is told, as long as nothing in it shows the inside of the server.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/nearest.h"
#include "dialect/dialect.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "incident/record.h"
#include "mcp/calls/result.h"
#include "mcp/gateway/tell.h"
#include "mishap/bind.h"
#include "operation/secret.h"
#include "upstream/upstream.h"

enum {
    LONGEST_TEXT = 4000,    /* bytes of a text of a tool that are told */
    MOST_NOTED = 64 * 1024, /* bytes of the original that are kept */
    LEAST_KNOWN = 3,
    SHOWN = 300, /* bytes of a dropped line that are shown */
    ROOM = 4096,
    URL_NEEDED = -32042,
};

/* -- what the caller has sent ------------------------------------------------------------------ */

static void add_string(void *state, yyjson_val *string, const mishap_json_path *path)
{
    gateway_sent *sent = state;
    mishap_text text = mishap_json_text(string);
    (void)path;
    if (sent->count < GATEWAY_MOST_KNOWN && text.length >= LEAST_KNOWN)
        sent->known[sent->count++] = text;
}

static bool any_string(mishap_text string, mishap_text key)
{
    (void)string;
    (void)key;
    return true;
}

static void no_flaw(void *state, mishap_json_flaw flaw, const mishap_json_path *path)
{
    (void)state;
    (void)flaw;
    (void)path;
}

void mishap_mcp_gateway_sent_read(gateway_sent *sent, mishap_text line)
{
    *sent = (gateway_sent){ .reader = MISHAP_JSON_READER };
    if (!line.length || !mishap_json_read(&sent->reader, line))
        return;
    sent->params = yyjson_obj_get(sent->reader.root, "params");
    mishap_json_inspect(&sent->reader, &(mishap_json_visitor){ .flaw = no_flaw,
                                                               .string = add_string,
                                                               .suspect = any_string,
                                                               .state = sent });
}

void mishap_mcp_gateway_sent_release(gateway_sent *sent)
{
    mishap_json_reader_release(&sent->reader);
}

/* -- the record -------------------------------------------------------------------------------- */

static void put_more(const void *context, mishap_incident_more *more)
{
    const gateway_told *told = context;
    yyjson_val *root = told->sent->reader.root;
    yyjson_val *arguments = yyjson_obj_get(told->sent->params, "arguments");
    mishap_buffer_put_text(&more->request, mishap_json_text(yyjson_obj_get(root, "method")));
    if (yyjson_is_obj(arguments))
        mishap_json_copy(&more->arguments, arguments);
}

void mishap_mcp_gateway_record(const gateway_told *told, const mishap *failure,
                               const mishap *removed, const char *id)
{
    char tool[GATEWAY_LONGEST_NAME + 1] = "";
    const mishap_mcp_gateway_settings *settings = told->g->settings;
    mishap_text name = told->call ? told->call->tool : (mishap_text){ NULL, 0 };
    snprintf(tool, sizeof tool, "%.*s", (int)mishap_utf8_cut(name, GATEWAY_LONGEST_NAME),
             name.length ? name.data : "");
    if (!settings->program)
        return;
    mishap_incident_record(&(mishap_incident_entry){
        .program = settings->program,
        .version = settings->version,
        .id = id,
        .failure = failure,
        .removed = removed,
        .operation = *tool ? tool : "mcp-gateway",
        .response = told->response,
        .response_type = "application/json",
        .started_ns = told->call ? told->call->started_ns : 0,
        .status = *tool ? 200 : mishap_told(failure)->code->rpc_code,
        .boundary = MISHAP_INCIDENT_MCP,
        .secrets = settings->secrets,
        .more = put_more,
        .context = told,
    });
}

/* -- the answer -------------------------------------------------------------------------------- */

/* A result. A client may hold structuredContent against the outputSchema of the tool, which a
 * failure does not fit. */
mishap *mishap_mcp_gateway_put_result(mishap_buffer *out, const gateway_told *told,
                                      const mishap *failure, const char *id)
{
    char room[ROOM];
    mishap_buffer text;
    const gateway *g = told->g;
    const gateway_tool *tool = told->call
                                   ? mishap_mcp_gateway_tools_find(&g->tools, told->call->tool)
                                   : NULL;
    const mishap_public *public = mishap_told(failure);
    mishap_buffer_init(&text, room, sizeof room);
    mishap_dialect_answer(&mishap_tool_result, public, &text);
    mishap_mcp_put_code(&text, public);
    mishap *removed = text.failed
                          ? NULL
                          : mishap_guard_json(&text, false, told->sent->known, told->sent->count);
    mishap_hide_json_secrets(&text, g->settings->secrets);
    mishap_text words = text.failed ? mishap_tool_result.last_words : mishap_buffer_text(&text);
    MISHAP_PUT(out, "{\"content\":[{\"type\":\"text\",\"text\":");
    mishap_json_string(out, words);
    MISHAP_PUT(out, "}]");
    if (tool && !tool->structured && g->revision >= MISHAP_MCP_2025_06_18) {
        MISHAP_JSON_KEY(out, "structuredContent");
        mishap_buffer_put_text(out, words);
    }
    MISHAP_PUT(out, ",\"isError\":true,\"_meta\":{\"dev.mishap/incident\":\"");
    mishap_buffer_put(out, id, MISHAP_ID_LENGTH);
    MISHAP_PUT(out, "\"}");
    if (told->call && told->call->modern)
        MISHAP_PUT(out, ",\"resultType\":\"complete\"");
    MISHAP_PUT(out, "}");
    mishap_buffer_release(&text);
    return removed;
}

static mishap *put_error(mishap_buffer *out, const gateway_told *told, const mishap *failure,
                         int code)
{
    char room[ROOM];
    mishap_buffer error;
    const mishap_sent sent = { .json = told->sent->params };
    mishap_buffer_init(&error, room, sizeof room);
    mishap *removed = mishap_mcp_put_error_object(&error, code, mishap_told(failure), told->members,
                                                  told->g->settings->secrets, &sent);
    mishap_buffer_put_text(out, error.failed ? mishap_mcp_last_error : mishap_buffer_text(&error));
    mishap_buffer_release(&error);
    return removed;
}

/* Write the whole answer and record it; without a code it is a result. False: there is no memory
 * for it. The failure is freed. */
static bool answer(gateway *g, gateway_told *told, mishap_text id, mishap *failure, int code)
{
    char incident[MISHAP_ID_LENGTH + 1], room[ROOM];
    mishap_buffer out;
    bool result = told->call && !code;
    mishap_record_choose_id(failure, incident);
    mishap_hide_failure(failure, NULL, g->settings->secrets);
    if (mishap_incident_is_one(failure) || !result)
        mishap_incident(failure, incident);
    mishap_buffer_init(&out, room, sizeof room);
    MISHAP_PUT(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
    mishap_buffer_put_text(&out, id.length ? id : (mishap_text)MISHAP_TEXT("null"));
    mishap_buffer_put_text(&out, mishap_text_of(result ? ",\"result\":" : ",\"error\":"));
    mishap *removed = result ? mishap_mcp_gateway_put_result(&out, told, failure, incident)
                             : put_error(&out, told, failure, code);
    if (out.failed) {
        mishap_buffer_release(&out);
        mishap_buffer_init(&out, room, sizeof room);
        MISHAP_PUT(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
        mishap_buffer_put_text(&out, id.length ? id : (mishap_text)MISHAP_TEXT("null"));
        MISHAP_PUT(&out, ",\"error\":" MISHAP_MCP_LAST_ERROR);
    }
    MISHAP_PUT(&out, "}");
    told->response = mishap_buffer_text(&out);
    bool put = mishap_mcp_gateway_to_client(g, mishap_buffer_text(&out));
    if (put)
        mishap_mcp_gateway_record(told, failure, removed, incident);
    mishap_buffer_release(&out);
    mishap_free(removed);
    mishap_free(failure);
    return put;
}

/* The number of an error that has none of its own. */
static int number_of(const mishap *failure)
{
    const mishap_public *public = mishap_told(failure);
    return public->code->rpc_code < 0 ? public->code->rpc_code : -32603;
}

/* Without memory the answer is tried again soon, as that there is no memory. */
static void answer_call(gateway *g, gateway_call *call, gateway_sent *sent, mishap *failure,
                        int code, const char *members)
{
    gateway_told told = { .g = g, .call = call, .sent = sent, .members = members };
    if (answer(g, &told, call->entry.key, failure, code)) {
        mishap_mcp_gateway_call_remove(g, call);
        return;
    }
    call->answered = true;
    g->held -= call->held;
    call->held = false;
    mishap_mcp_gateway_call_retry(g, call);
}

void mishap_mcp_gateway_fail(gateway *g, gateway_call *call, mishap *failure)
{
    gateway_sent sent;
    mishap_mcp_gateway_sent_read(&sent, call->line);
    failure = mishap_guard_told(failure, false, sent.known, sent.count);
    answer_call(g, call, &sent, failure, call->kind == GATEWAY_TOOLS_CALL ? 0 : number_of(failure),
                NULL);
    mishap_mcp_gateway_sent_release(&sent);
}

void mishap_mcp_gateway_refuse(gateway *g, mishap_text id, int code, mishap *failure)
{
    gateway_sent none = { .reader = MISHAP_JSON_READER };
    gateway_told told = { .g = g, .sent = &none };
    answer(g, &told, id, failure, code);
}

/* -- what the server says ---------------------------------------------------------------------- */

/* The text blocks of a result, one below the other. */
void mishap_mcp_gateway_put_texts(mishap_buffer *out, yyjson_val *result)
{
    size_t index, count;
    yyjson_val *block;
    MISHAP_JSON_ITEMS (yyjson_obj_get(result, "content"), index, count, block) {
        mishap_text text = mishap_json_text(yyjson_obj_get(block, "text"));
        if (!text.length)
            continue;
        if (out->length)
            MISHAP_PUT(out, "\n");
        mishap_buffer_put_text(out, text);
    }
}

/* "MCP error -32602: …", as an SDK begins the text of an error that it has caught. The number, and
 * the rest; 0: there is none. */
static int take_number(mishap_text *text)
{
    static const char prefix[] = "MCP error -";
    char digits[8] = "";
    size_t at = sizeof prefix - 1, length = 0;
    if (text->length < at || memcmp(text->data, prefix, at) != 0)
        return 0;
    while (at < text->length && length < sizeof digits - 1 && text->data[at] >= '0' &&
           text->data[at] <= '9')
        digits[length++] = text->data[at++];
    if (!length || at + 2 > text->length || text->data[at] != ':' || text->data[at + 1] != ' ')
        return 0;
    *text = (mishap_text){ text->data + at + 2, text->length - at - 2 };
    return -(int)strtol(digits, NULL, 10);
}

/* A text of a tool as a mishap. The reader tells the first line; here all lines are told, if the
 * reader found nothing private in any of them. */
mishap *mishap_mcp_gateway_read_text(mishap_text text, const gateway_sent *sent)
{
    mishap *m = NULL;
    const char *shape = NULL;
    int number = take_number(&text);
    mishap *failure = mishap_upstream_read(
        &(mishap_upstream_response){
            .body = text, .known = sent->known, .known_count = sent->count },
        &m, &shape);
    if (failure)
        return failure;
    const mishap_public *public = mishap_told(m);
    bool plain = public->code == MISHAP_CODE_GENERAL_ERROR && public->message.length;
    if (number == -32602 && public->code == MISHAP_CODE_GENERAL_ERROR) {
        mishap *other = mishap_raise_text(MISHAP_CODE_INVALID_ARGUMENT, public->message);
        m = mishap_because(other, m);
    }
    if (plain && strcmp(shape, "text") == 0 && memchr(text.data, '\n', text.length)) {
        text.length = mishap_utf8_cut(text, LONGEST_TEXT);
        m = mishap_message(m, text);
    }
    return m;
}

/* The original, where the text alone does not say all. */
mishap *mishap_mcp_gateway_note_original(mishap *m, mishap_text line)
{
    line.length = mishap_utf8_cut(line, MOST_NOTED);
    return mishap_note(m, "original", line);
}

/* "Unknown tool: ecko", "Tool ecko not found" */
static bool says_missing(mishap_text text)
{
    char start[200];
    snprintf(start, sizeof start, "%.*s", (int)mishap_utf8_cut(text, sizeof start - 1),
             text.length ? text.data : "");
    return strcasestr(start, "tool") &&
           (strcasestr(start, "unknown") || strcasestr(start, "not found") ||
            strcasestr(start, "not exist") || strcasestr(start, "no such"));
}

/* A tool that no list has, and that the server does not know either: the one that may be meant. */
static mishap *suggest_tool(const gateway *g, const gateway_call *call, mishap *m, mishap_text text)
{
    mishap_guess guess = { .word = call->tool };
    char words[GATEWAY_LONGEST_NAME + 40];
    if (!call->tool.length || !g->tools.table.count || !says_missing(text) ||
        mishap_mcp_gateway_tools_find(&g->tools, call->tool))
        return m;
    for (size_t i = 0; i < MISHAP_GATEWAY_PLACES; i++)
        for (mishap_mcp_gateway_entry *at = g->tools.table.places[i]; at; at = at->next)
            if (mishap_mcp_gateway_allows(g, at->key))
                mishap_guess_weigh(&guess, at->key);
    mishap *other = mishap_raise(NOT_FOUND, "There is no tool `%.*s`.",
                                 (int)mishap_utf8_cut(call->tool, GATEWAY_LONGEST_NAME),
                                 call->tool.data);
    snprintf(words, sizeof words, "Did you mean `%.*s`?", (int)guess.name.length,
             guess.name.length ? guess.name.data : "");
    other = mishap_suggest(other, guess.name.length ? words : "Ask for the list of tools.");
    return mishap_because(other, m);
}

void mishap_mcp_gateway_tell_result(gateway *g, gateway_call *call, mishap_text line,
                                    yyjson_val *result)
{
    gateway_sent sent;
    mishap_buffer text = { 0 };
    mishap_mcp_gateway_sent_read(&sent, call->line);
    mishap_mcp_gateway_put_texts(&text, result);
    mishap *m = text.failed ? mishap_out_of_memory()
                            : mishap_mcp_gateway_read_text(mishap_buffer_text(&text), &sent);
    yyjson_val *blocks = yyjson_obj_get(result, "content");
    if (yyjson_arr_size(blocks) != 1 || yyjson_obj_size(result) > 2)
        m = mishap_mcp_gateway_note_original(m, line);
    m = suggest_tool(g, call, m, mishap_buffer_text(&text));
    mishap_buffer_release(&text);
    answer_call(g, call, &sent, m, 0, NULL);
    mishap_mcp_gateway_sent_release(&sent);
}

/* -- errors of JSON-RPC ------------------------------------------------------------------------ */

/* Errors that a client has to know as such: it acts on their numbers. All others of a call are for
 * the model. */
static bool is_for_client(int64_t number)
{
    static const int numbers[] = { -32700, -32600, -32601, -32020, -32021, -32022, URL_NEEDED };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* … and of some the data: addresses to go to, revisions, capabilities. */
static bool has_needed_data(int64_t number)
{
    return number == URL_NEEDED || (number <= -32020 && number >= -32022);
}

/* The members of the data, with a NUL behind them, but for those that our own data has. */
static void put_data(mishap_buffer *out, yyjson_val *data)
{
    static const char *const ours[] = { "code",           "message", "category", "retryable",
                                        "retry_after_ms", "cause",   "context",  "suggestion",
                                        "docs_url",       "fields",  "incident" };
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (data, index, count, key, value) {
        bool taken = false;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            taken = taken || mishap_text_equal(mishap_json_text(key), mishap_text_of(ours[i]));
        if (taken)
            continue;
        if (out->length)
            MISHAP_PUT(out, ",");
        mishap_buffer member = { 0 };
        mishap_json_key(&member, mishap_json_text(key));
        mishap_json_copy(&member, value);
        out->failed = out->failed || member.failed;
        mishap_buffer_put_text(out, mishap_buffer_text(&member));
        mishap_buffer_release(&member);
    }
    mishap_buffer_put_char(out, '\0');
}

static mishap *read_error(const gateway_call *call, mishap_text line, yyjson_val *error,
                          int64_t number, const gateway_sent *sent)
{
    bool tool = call->kind == GATEWAY_TOOLS_CALL;
    bool unnamed = mishap_mcp_gateway_number_is_general(number);
    mishap *m = NULL;
    if (!yyjson_is_obj(error))
        return mishap_mcp_gateway_note_original(
            mishap_raise(BAD_GATEWAY, "The server has sent an answer that cannot be read."), line);
    if (has_needed_data(number) || (tool && unnamed))
        return mishap_mcp_gateway_note_original(
            mishap_mcp_gateway_read_text(mishap_json_text(yyjson_obj_get(error, "message")), sent),
            line);
    mishap *failure = mishap_upstream_read(
        &(mishap_upstream_response){ .content_type = MISHAP_TEXT("application/json"),
                                     .body = line,
                                     .known = sent->known,
                                     .known_count = sent->count },
        &m, NULL);
    return failure ? failure : m;
}

/* A proxy has lost the connection to the server, or did not wait any longer: as when a server dies,
 * a call of a tool that may not be repeated can have had effects. */
static mishap *doubt(const gateway *g, const gateway_call *call, int status, mishap *m)
{
    const gateway_tool *tool = mishap_mcp_gateway_tools_find(&g->tools, call->tool);
    if ((status != 502 && status != 504) || call->kind != GATEWAY_TOOLS_CALL ||
        (tool && tool->repeatable))
        return m;
    return mishap_suggest(mishap_retryable(m, false),
                          "Check what the call has done before you repeat it.");
}

/* A response of a server behind a URL that has no answer. NULL: it is none. */
static mishap *read_response(const gateway *g, const gateway_call *call, yyjson_val *error,
                             const gateway_sent *sent)
{
    gateway_response response;
    if (!g->settings->url ||
        !mishap_mcp_gateway_response_read(yyjson_obj_get(error, "data"), &response))
        return NULL;
    mishap *m = mishap_mcp_gateway_response_tell(&response, sent->known, sent->count);
    m = doubt(g, call, response.status, m);
    mishap_mcp_gateway_response_release(&response);
    return m;
}

/* The data is copied: a document with a flaw may be too deep for that. */
void mishap_mcp_gateway_tell_error(gateway *g, gateway_call *call, mishap_text line,
                                   yyjson_val *error, bool sound)
{
    gateway_sent sent;
    mishap_buffer data = { 0 };
    int64_t number = yyjson_get_sint(yyjson_obj_get(error, "code"));
    bool kept = call->kind != GATEWAY_TOOLS_CALL || is_for_client(number);
    bool modest = number >= -33000 && number < 0;
    mishap_mcp_gateway_sent_read(&sent, call->line);
    mishap *response = read_response(g, call, error, &sent);
    mishap *m = response ? response : read_error(call, line, error, number, &sent);
    if (sound && has_needed_data(number))
        put_data(&data, yyjson_obj_get(error, "data"));
    if (!kept)
        m = suggest_tool(g, call, m, mishap_json_text(yyjson_obj_get(error, "message")));
    answer_call(g, call, &sent, m,
                !kept      ? 0
                : response ? number_of(m)
                : modest   ? (int)number
                           : -32603,
                data.failed ? NULL : data.data);
    mishap_buffer_release(&data);
    mishap_mcp_gateway_sent_release(&sent);
}

/* -- for the operator -------------------------------------------------------------------------- */

void mishap_mcp_gateway_note(gateway *g, const char *words, mishap_text line)
{
    char storage[4 * SHOWN];
    mishap_arena arena;
    mishap_buffer said = { 0 }, shown = { 0 };
    if (!g->settings->program || g->notes++ >= GATEWAY_MOST_NOTES)
        return;
    mishap_arena_init(&arena, storage, sizeof storage);
    line.length = line.length < SHOWN ? line.length : SHOWN;
    MISHAP_PUT(&said, "The server ");
    mishap_buffer_put_text(&said, mishap_text_of(words));
    MISHAP_PUT(&said, ": ");
    mishap_buffer_put_text(&said, mishap_utf8_clean(&arena, line));
    mishap_secrets_put_hidden(&shown, g->settings->secrets, mishap_buffer_text(&said));
    if (!said.failed && !shown.failed)
        mishap_incident_line(g->settings->program, "mcp-gateway", NULL, mishap_buffer_text(&shown),
                             false);
    mishap_buffer_release(&said);
    mishap_buffer_release(&shown);
    mishap_arena_release(&arena);
}
