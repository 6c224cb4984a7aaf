/*
 * The frame of every message that goes back, and what many results have in common: how long they
 * may be kept, the words of what is listed, and the cursors of pages.
 *
 * A message is written straight into the buffer of its channel, behind others. If memory runs out,
 * what was written is taken back, and there is room for a short error in its place.
 */
#include "mcp/mcp.h"

/* -- the frame of a message -------------------------------------------------------------------- */

/* There is always room for this, once a message was begun. */
#define LAST_WORDS ",\"error\":" MISHAP_MCP_LAST_ERROR "}"

mishap_buffer *mishap_mcp_begin_message(mishap_mcp_channel *channel, mishap_mcp_kind kind,
                                        mishap_text id)
{
    mishap_buffer *b = channel->begin(channel, kind);
    channel->start = channel->named = b->length;
    channel->room = b->capacity;
    if (!mishap_buffer_reserve(b, id.length + sizeof "{\"jsonrpc\":\"2.0\",\"id\":" LAST_WORDS))
        return b;
    channel->room = b->capacity;
    MISHAP_PUT(b, "{\"jsonrpc\":\"2.0\"");
    if (id.data) {
        MISHAP_PUT(b, ",\"id\":");
        mishap_buffer_put_text(b, id);
    }
    channel->named = b->length;
    return b;
}

/* Back to where something stood. A buffer that failed has forgotten how much room it has. */
static void cut_back(const mishap_mcp_channel *channel, mishap_buffer *b, size_t length)
{
    b->failed = false;
    b->length = length;
    if (b->capacity < channel->room)
        b->capacity = channel->room;
}

void mishap_mcp_take_back(const mishap_mcp_channel *channel, mishap_buffer *buffer)
{
    cut_back(channel, buffer, channel->start);
}

/* A message that found no memory: a notification is dropped, but who asks is told. False: there is
 * nothing to send. */
static bool mend(const mishap_mcp_channel *channel, mishap_buffer *b, mishap_mcp_kind kind)
{
    bool begun = channel->named > channel->start;
    cut_back(channel, b, channel->start);
    if (kind == MISHAP_MCP_RESPONSE && begun) {
        b->length = channel->named;
        MISHAP_PUT(b, LAST_WORDS);
    } else {
        b->failed = kind == MISHAP_MCP_RESPONSE;
    }
    return kind == MISHAP_MCP_RESPONSE;
}

void mishap_mcp_end_message(mishap_mcp_channel *channel, mishap_buffer *b, mishap_mcp_kind kind)
{
    if (!b->failed || mend(channel, b, kind))
        channel->end(channel, kind);
}

mishap_buffer *mishap_mcp_begin_result(mishap_mcp_channel *channel, mishap_text id)
{
    channel->status = 200;
    mishap_buffer *b = mishap_mcp_begin_message(channel, MISHAP_MCP_RESPONSE, id);
    MISHAP_PUT(b, ",\"result\":{");
    return b;
}

void mishap_mcp_finish_result(const mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                              mishap_buffer *buffer, mishap_mcp_revision revision,
                              mishap_mcp_outcome outcome)
{
    if (mishap_mcp_is_modern(revision) && !buffer->failed) {
        if (outcome == MISHAP_MCP_MEMBERS_AND_META) {
            buffer->length--; /* its bracket: it is open again */
        } else {
            MISHAP_JSON_KEY(buffer, "_meta");
            mishap_json_open(buffer, '{');
        }
        MISHAP_JSON_KEY(buffer, "io.modelcontextprotocol/serverInfo");
        mishap_mcp_put_implementation(buffer, peer->server, revision);
        MISHAP_PUT(buffer, "},\"resultType\":\"complete\"");
    }
    MISHAP_PUT(buffer, "}}");
    mishap_mcp_end_message(channel, buffer, MISHAP_MCP_RESPONSE);
}

void mishap_mcp_put_error(mishap_mcp_channel *channel, mishap_text id, mishap_text error)
{
    mishap_buffer *b = mishap_mcp_begin_message(channel, MISHAP_MCP_RESPONSE, id);
    MISHAP_PUT(b, ",\"error\":");
    mishap_buffer_put_text(b, error);
    MISHAP_PUT(b, "}");
    mishap_mcp_end_message(channel, b, MISHAP_MCP_RESPONSE);
}

mishap_buffer *mishap_mcp_begin_notification(mishap_mcp_channel *channel, const char *method)
{
    mishap_buffer *b = mishap_mcp_begin_message(channel, MISHAP_MCP_NOTIFICATION,
                                                (mishap_text){ NULL, 0 });
    MISHAP_PUT(b, ",\"method\":\"");
    mishap_buffer_put_text(b, mishap_text_of(method));
    MISHAP_PUT(b, "\",\"params\":{");
    return b;
}

void mishap_mcp_finish_notification(mishap_mcp_channel *channel, mishap_buffer *buffer)
{
    MISHAP_PUT(buffer, "}}");
    mishap_mcp_end_message(channel, buffer, MISHAP_MCP_NOTIFICATION);
}

/* It is not secret, but who may see it is up to the keys of the caller. */
static void put_cache(mishap_buffer *result, mishap_mcp_revision revision, int64_t ms)
{
    if (!mishap_mcp_is_modern(revision))
        return;
    MISHAP_JSON_KEY(result, "ttlMs");
    mishap_json_int(result, ms);
    MISHAP_JSON_KEY(result, "cacheScope");
    mishap_json_string(result, (mishap_text)MISHAP_TEXT("private"));
}

/* A list changes only when the server tells so. */
void mishap_mcp_put_cache(mishap_buffer *result, mishap_mcp_revision revision)
{
    put_cache(result, revision, 60000);
}

void mishap_mcp_put_no_cache(mishap_buffer *result, mishap_mcp_revision revision)
{
    put_cache(result, revision, 0);
}

/* -- items of lists ---------------------------------------------------------------------------- */

/* What it is, and by which codes it can fail: a result or an error names them. */
static void put_description(mishap_buffer *words, const mishap_app *app,
                            const mishap_operation *operation)
{
    const mishap_code *code;
    bool any = false;
    mishap_buffer_put_text(words, mishap_text_of(operation->summary));
    if (operation->description) {
        MISHAP_PUT(words, ". ");
        mishap_buffer_put_text(words, mishap_text_of(operation->description));
    }
    for (size_t at = 0; (code = mishap_operation_code(app, operation, &at)); any = true) {
        bool ended = words->length && words->data[words->length - 1] == '.';
        const char *before = any ? ", " : ended ? " May fail with " : ". May fail with ";
        mishap_buffer_put_text(words, mishap_text_of(before));
        mishap_buffer_put_text(words, code->name);
    }
    if (any)
        MISHAP_PUT(words, ".");
}

void mishap_mcp_put_words(mishap_buffer *buffer, const mishap_app *app,
                          const mishap_operation *operation, mishap_mcp_revision revision)
{
    mishap_buffer words = { 0 };
    put_description(&words, app, operation);
    if (words.failed)
        mishap_buffer_reserve(buffer, SIZE_MAX); /* fails: half a description is none */
    if (revision >= MISHAP_MCP_2025_06_18) {
        MISHAP_JSON_KEY(buffer, "title");
        mishap_json_string(buffer, mishap_text_of(operation->summary));
    }
    MISHAP_JSON_KEY(buffer, "description");
    mishap_json_string(buffer, mishap_buffer_text(&words));
    mishap_buffer_release(&words);
}

/* -- pages ------------------------------------------------------------------------------------- */

enum { CURSOR_LENGTH = 16 };

/* A cursor is the index of the next item and a check, so that nothing has to be kept for it and
 * what was not made here is told from what was. */
static void write_cursor(size_t next, size_t count, char cursor[CURSOR_LENGTH])
{
    static const char hex[] = "0123456789abcdef";
    uint64_t check = (uint64_t)next * UINT64_C(0x9E3779B97F4A7C15) +
                     (uint64_t)count * UINT64_C(0xC2B2AE3D27D4EB4F);
    check ^= check >> 29;
    uint64_t value = (uint64_t)next << 32 | (uint32_t)(check * UINT64_C(0xBF58476D1CE4E5B9) >> 32);
    for (size_t i = CURSOR_LENGTH; i-- > 0; value >>= 4)
        cursor[i] = hex[value & 15];
}

bool mishap_mcp_cursor_read(const mishap_mcp_message *message, size_t count, size_t *first)
{
    char ours[CURSOR_LENGTH];
    yyjson_val *cursor = yyjson_obj_get(message->params, "cursor");
    mishap_text given = mishap_json_text(cursor);
    size_t next = 0;
    *first = 0;
    if (!cursor || yyjson_is_null(cursor))
        return true;
    if (!yyjson_is_str(cursor) || given.length != CURSOR_LENGTH)
        return false;
    for (size_t i = 0; i < CURSOR_LENGTH / 2; i++) {
        char c = given.data[i];
        next = next * 16 + (size_t)(c >= '0' && c <= '9' ? c - '0' : (c - 'a' + 10) & 15);
    }
    write_cursor(next, count, ours);
    if (next >= count || memcmp(given.data, ours, CURSOR_LENGTH) != 0)
        return false;
    *first = next;
    return true;
}

void mishap_mcp_put_cursor(mishap_buffer *result, size_t next, size_t count)
{
    char cursor[CURSOR_LENGTH];
    if (next >= count)
        return;
    write_cursor(next, count, cursor);
    MISHAP_JSON_KEY(result, "nextCursor");
    mishap_json_string(result, (mishap_text){ cursor, sizeof cursor });
}
