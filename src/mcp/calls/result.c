/*
 * The outcome of a call. A tool has a result that a model reads: an answer, or a failure in the
 * dialect of the tool. A resource or a prompt has its answer (contents.c) or a protocol error.
 *
 * A failure contains nothing of its private side, no value that the call knows to be secret, and no
 * stack trace. What had to be taken out is recorded.
 */
#include "mcp/calls/asks.h"
#include "mcp/calls/result.h"
#include "mcp/offers/schema.h"
#include "dialect/dialect.h"
#include "incident/incident.h"
#include "mishap/inside.h"
#include "operation/hide.h"

enum {
    ROOM = 2048,       /* enough for the text of most failures */
    LAST_WORDS = 1024, /* enough for any constant failure */
};

/* -- hiding ------------------------------------------------------------------------------------ */

/* Replace the secrets in a failure whose dialect is text. The stack in such a report is that of the
 * caller's own code, and stays. */
static void hide_secrets(mishap_buffer *text, const mishap_secrets *secrets)
{
    mishap_buffer hidden = { 0 };
    if (!mishap_secrets_stand_in(secrets, mishap_buffer_text(text)))
        return;
    mishap_secrets_put_hidden(&hidden, secrets, mishap_buffer_text(text));
    mishap_buffer_release(text);
    *text = hidden;
}

/* -- an answer --------------------------------------------------------------------------------- */

#define BLOCK "{\"type\":\"text\",\"text\":"

/* Write each string of the list as a block of its own: it is JSON already, and is copied. */
static void put_warnings(mishap_buffer *b, mishap_text list)
{
    bool inside = false;
    for (size_t i = 0; i < list.length; i++) {
        char c = list.data[i];
        if (c == '"' && !inside) {
            MISHAP_PUT(b, "," BLOCK "\"Warning: ");
            inside = true;
        } else if (c == '"') {
            MISHAP_PUT(b, "\"}");
            inside = false;
        } else if (inside) {
            mishap_buffer_put_char(b, c);
            if (c == '\\' && i + 1 < list.length)
                mishap_buffer_put_char(b, list.data[++i]);
        }
    }
}

static void put_cut(mishap_buffer *b, const mishap_call *call)
{
    if (!call->total)
        return;
    MISHAP_PUT(b, "," BLOCK "\"Only ");
    mishap_buffer_put_uint(b, call->listed);
    MISHAP_PUT(b, " of ");
    mishap_buffer_put_uint(b, call->total);
    MISHAP_PUT(b, " are listed.\"}");
}

/* In the older revisions structuredContent must be an object. */
static void put_structure(mishap_buffer *b, mishap_text json, mishap_mcp_revision revision)
{
    if (revision < MISHAP_MCP_2025_06_18 ||
        (json.data[0] != '{' && !mishap_mcp_is_modern(revision)))
        return;
    MISHAP_JSON_KEY(b, "structuredContent");
    mishap_buffer_put_text(b, json);
}

/* True if the handler has written the blocks itself. An empty list counts as none. */
static bool has_blocks(const mishap_call *call, mishap_answer_kind kind, mishap_text answer)
{
    return call->content && kind == MISHAP_ANSWER_JSON && answer.length > 2 &&
           answer.data[0] == '[' && answer.data[answer.length - 1] == ']';
}

/* The handle of the session, without which the caller cannot go on in it. */
static void put_session(mishap_buffer *b, const mishap_call *call)
{
    if (!call || !call->session_is)
        return;
    MISHAP_PUT(b, "," BLOCK "\"Session: ");
    /* Only digits: nothing to escape. */
    mishap_buffer_put_text(b, mishap_text_of(call->session_is));
    MISHAP_PUT(b, "\"}");
}

static void put_answer(mishap_buffer *b, const mishap_mcp_asked *asked, const mishap_call *call,
                       const char *incident)
{
    static const mishap_text done = MISHAP_TEXT("Done.");
    mishap_answer_kind kind;
    mishap_text answer = mishap_call_answer(call, &kind);
    mishap_text words = kind == MISHAP_ANSWER_NOTHING ? done
                        : call->text.length           ? mishap_buffer_text(&call->text)
                                                      : answer;
    bool blocks = has_blocks(call, kind, answer);
    mishap_buffer_reserve(b, 2 * answer.length + 256);
    MISHAP_JSON_KEY(b, "content");
    if (mishap_mcp_has_bytes(call)) {
        MISHAP_PUT(b, "[");
        mishap_mcp_put_bytes_block(b, call, incident, asked->revision);
    } else if (blocks && asked->revision < MISHAP_MCP_2025_06_18) {
        MISHAP_PUT(b, "[");
        mishap_mcp_each_block(b, asked, call, mishap_mcp_put_block);
    } else if (blocks) {
        mishap_buffer_put(b, answer.data, answer.length - 1); /* without the closing bracket */
    } else {
        MISHAP_PUT(b, "[" BLOCK);
        mishap_json_string(b, words);
        MISHAP_PUT(b, "}");
    }
    put_session(b, call);
    put_warnings(b, mishap_call_warnings(call));
    put_cut(b, call);
    MISHAP_PUT(b, "]");
    if (kind == MISHAP_ANSWER_JSON && !blocks)
        put_structure(b, answer, asked->revision);
}

/* -- a failure --------------------------------------------------------------------------------- */

/* `structure` is a JSON object; no data: none. */
static void put_told(mishap_buffer *b, const mishap_call *call, mishap_text told,
                     mishap_text structure, const char *incident, mishap_mcp_revision revision)
{
    MISHAP_JSON_KEY(b, "content");
    MISHAP_PUT(b, "[" BLOCK);
    mishap_json_string(b, told);
    MISHAP_PUT(b, "}");
    put_session(b, call);
    MISHAP_PUT(b, "]");
    if (structure.length)
        put_structure(b, structure, revision);
    MISHAP_PUT(b, ",\"isError\":true,\"_meta\":{\"dev.mishap/incident\":\"");
    mishap_buffer_put(b, incident, MISHAP_ID_LENGTH);
    MISHAP_PUT(b, "\"}");
}

static void put_last_words(mishap_buffer *b, const mishap_mcp_offer *tool, const mishap_call *call,
                           const char *incident, mishap_mcp_revision revision)
{
    mishap_text words = tool->dialect->last_words;
    put_told(b, call, words, mishap_mcp_is_text(tool->dialect) ? (mishap_text){ NULL, 0 } : words,
             incident, revision);
}

/* Write a failure in a dialect that is text, with its parts as members beside it. */
static mishap *put_text_failure(mishap_buffer *b, const mishap_call *call,
                                const mishap_public *told, mishap_buffer *text,
                                const mishap_secrets *secrets, const char *incident,
                                mishap_mcp_revision revision)
{
    char room[ROOM];
    mishap_buffer members;
    mishap_buffer_init(&members, room, sizeof room);
    mishap *removed = mishap_mcp_put_report_members(&members, told, call, secrets);
    hide_secrets(text, secrets);
    if (text->failed || members.failed)
        /* Makes the buffer fail: then the constant failure is written. */
        mishap_buffer_reserve(b, SIZE_MAX);
    else
        put_told(b, call, mishap_buffer_text(text), mishap_buffer_text(&members), incident,
                 revision);
    mishap_buffer_release(&members);
    return removed;
}

static mishap *put_failure(mishap_buffer *b, const mishap_mcp_offer *tool, const mishap_call *call,
                           const mishap *failure, const mishap_secrets *secrets,
                           const char *incident, mishap_mcp_revision revision)
{
    char room[ROOM];
    mishap_buffer text;
    mishap *removed = NULL;
    const mishap_public *told = mishap_told(failure);
    mishap_buffer_init(&text, room, sizeof room);
    mishap_dialect_answer(tool->dialect, told, &text);
    if (tool->dialect == &mishap_tool_result)
        mishap_mcp_put_code(&text, told);
    if (!text.failed && !mishap_mcp_is_text(tool->dialect))
        removed = mishap_hide_json(&text, secrets, &(mishap_sent){ .call = call });
    if (text.failed)
        put_last_words(b, tool, call, incident, revision);
    else if (mishap_mcp_is_text(tool->dialect))
        removed = put_text_failure(b, call, told, &text, secrets, incident, revision);
    else
        put_told(b, call, mishap_buffer_text(&text), mishap_buffer_text(&text), incident, revision);
    mishap_buffer_release(&text);
    return removed;
}

/* -- a failure of a resource or a prompt ------------------------------------------------------- */

/* A missing resource has an error number of its own, but not in the last revision. */
static int code_of(const mishap_mcp_asked *asked, const mishap_public *told)
{
    bool missing = told->code == MISHAP_CODE_NOT_FOUND || told->code == MISHAP_CODE_GONE;
    if (asked->offer->sort == MISHAP_MCP_RESOURCE && missing)
        return mishap_mcp_is_modern(asked->revision) ? -32602 : -32002;
    return told->category == MISHAP_VALIDATION ? -32602 : -32603;
}

/* A result always has a place for the incident id; an error has it if the caller is not at
 * fault. */
static bool is_internal(const mishap_mcp_asked *asked, const mishap *failure)
{
    return asked->offer->sort != MISHAP_MCP_TOOL && code_of(asked, mishap_told(failure)) == -32603;
}

static mishap *put_error(mishap_buffer *b, const mishap_mcp_asked *asked, const mishap_call *call,
                         const mishap *failure, const mishap_secrets *secrets)
{
    char room[ROOM], storage[512];
    mishap_buffer text, members;
    const mishap_public *told = mishap_told(failure);
    mishap_buffer_init(&text, room, sizeof room);
    mishap_buffer_init(&members, storage, sizeof storage);
    if (asked->offer->sort == MISHAP_MCP_RESOURCE) {
        MISHAP_PUT(&members, "\"uri\":");
        mishap_json_string(&members, asked->uri);
    }
    mishap_buffer_put_char(&members, '\0');
    mishap *removed = mishap_mcp_put_error_object(
        &text, code_of(asked, told), told, members.failed ? NULL : members.data, secrets,
        &(mishap_sent){ .call = call, .text = asked->uri });
    mishap_buffer_put_text(b, text.failed ? mishap_mcp_last_error : mishap_buffer_text(&text));
    mishap_buffer_release(&members);
    mishap_buffer_release(&text);
    return removed;
}

/* -- either ------------------------------------------------------------------------------------ */

bool mishap_mcp_is_incident(const mishap *failure)
{
    bool busy = mishap_told(failure)->code == MISHAP_CODE_UNAVAILABLE;
    return mishap_incident_is_one(failure) && (!busy || failure->noted || failure->cause);
}

int mishap_mcp_status_of(const mishap_mcp_asked *asked, const mishap *failure)
{
    return asked->offer->sort == MISHAP_MCP_TOOL ? 200 : code_of(asked, mishap_told(failure));
}

/* The client that cancelled its call need not be told. */
static bool is_cancelled(const mishap_call *call, const mishap *failure)
{
    return mishap_cancelled(call) && mishap_told(failure)->code == MISHAP_CODE_CANCELLED;
}

/* Remove the result from where it began. There was room for LAST_WORDS then, and a buffer never
 * gets smaller. */
static void take_back(mishap_buffer *result, size_t start)
{
    size_t least = start + LAST_WORDS;
    result->failed = false;
    result->length = start;
    result->capacity = result->capacity > least ? result->capacity : least;
}

/* Remarks are a block of a tool's answer. */
static mishap_mcp_outcome put_remarks(mishap_buffer *result, const mishap_mcp_asked *asked,
                                      const mishap_call *call)
{
    return asked->offer->sort != MISHAP_MCP_TOOL && mishap_mcp_put_remarks(result, call)
               ? MISHAP_MCP_MEMBERS_AND_META
               : MISHAP_MCP_MEMBERS;
}

/* Write the answer. It belongs to the program, so nothing in it is changed. Without memory, nothing
 * is written. */
static void put_success(mishap_buffer *result, const mishap_mcp_asked *asked, mishap_call *call,
                        const char *incident, mishap_mcp_outcome *outcome)
{
    mishap_call_clean_document(call);
    if (call->answer.failed || call->warnings.failed)
        result->failed = true;
    else if (asked->offer->sort == MISHAP_MCP_TOOL)
        put_answer(result, asked, call, incident);
    else if (asked->offer->sort == MISHAP_MCP_RESOURCE)
        mishap_mcp_put_contents(result, asked, call);
    else
        mishap_mcp_put_messages(result, asked, call, incident);
    *outcome = put_remarks(result, asked, call);
}

/* The same for a failure, for which there is room if there was any at all. */
static mishap *put_failed(mishap_buffer *result, const mishap_mcp_asked *asked,
                          const mishap_call *call, const mishap *failure,
                          const mishap_secrets *secrets, const char *incident,
                          mishap_mcp_outcome *outcome)
{
    size_t start = result->length;
    bool room = !result->failed && result->capacity - start >= LAST_WORDS;
    bool tool = asked->offer->sort == MISHAP_MCP_TOOL;
    mishap *removed = tool ? put_failure(result, asked->offer, call, failure, secrets, incident,
                                         asked->revision)
                           : put_error(result, asked, call, failure, secrets);
    if (result->failed && room) {
        take_back(result, start);
        if (tool)
            put_last_words(result, asked->offer, NULL, incident, asked->revision);
        else
            mishap_buffer_put_text(result, mishap_mcp_last_error);
    }
    *outcome = tool ? MISHAP_MCP_MEMBERS_AND_META : MISHAP_MCP_ERROR;
    return removed;
}

mishap_mcp_outcome mishap_mcp_put_outcome(mishap_buffer *result, const mishap_mcp_asked *asked,
                                          mishap_call *call, mishap *failure, const char *incident)
{
    mishap_mcp_outcome outcome = MISHAP_MCP_MEMBERS;
    char own_id[MISHAP_ID_LENGTH + 1];
    size_t start = result->length;
    bool room = mishap_buffer_reserve(result, LAST_WORDS);
    if (!failure) {
        put_success(result, asked, call, incident, &outcome);
        if (!result->failed)
            return outcome;
        failure = mishap_out_of_memory(); /* a constant, which need not be freed */
        if (room)
            take_back(result, start);
    }
    if (!incident) {
        mishap_id_make(own_id);
        incident = own_id;
    }
    const mishap_secrets *secrets = call ? mishap_call_secrets(call) : NULL;
    if (mishap_asking_is(call, failure) &&
        mishap_mcp_put_questions(result, asked, call, failure, secrets, &outcome))
        return outcome;
    mishap_service_amend(asked->offer->operation, failure);
    mishap_hide_failure(failure, asked->offer->operation->params, secrets);
    if (asked->offer->sort == MISHAP_MCP_TOOL && mishap_mcp_is_text(asked->offer->dialect))
        mishap_hide_report_leaks(failure, &(mishap_sent){ .call = call });
    if (mishap_mcp_is_incident(failure) || is_internal(asked, failure))
        mishap_incident(failure, incident); /* something was recorded that can be looked up */
    mishap *removed = put_failed(result, asked, call, failure, secrets, incident, &outcome);
    if (call && !asked->replayed && (removed || !is_cancelled(call, failure)))
        mishap_mcp_record(
            &(mishap_mcp_failed){ .app = call->app,
                                  .asked = asked,
                                  .call = call,
                                  .caller = call->counted_for,
                                  .incident = incident,
                                  .failure = failure,
                                  .removed = removed,
                                  .secrets = secrets,
                                  .response = { result->data + start, result->length - start },
                                  .verbose = call->verbose });
    mishap_free(removed);
    return outcome;
}
