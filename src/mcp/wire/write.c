/*
 * The frame of every outgoing message, and what many results have in common: how long they may be
 * cached, and the name of the program.
 *
 * A message is written directly into the buffer of its channel, behind others. If memory runs out,
 * it is removed, and there is room for a short error in its place.
 */
#include "mcp/wire/write.h"

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

/* Cut the buffer back to an earlier length. A buffer that failed has lost its capacity, which is
 * restored. */
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

/* There was no memory for a message: a notification is dropped, but a request gets an error. False:
 * there is nothing to send. */
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

/* The name for people is the program's name with a capital. */
static void put_title(mishap_buffer *buffer, mishap_text name)
{
    char title[64];
    size_t length = mishap_utf8_cut(name, sizeof title);
    memcpy(title, name.data, length);
    if (length && title[0] >= 'a' && title[0] <= 'z')
        title[0] = (char)(title[0] - 'a' + 'A');
    MISHAP_JSON_KEY(buffer, "title");
    mishap_json_string(buffer, (mishap_text){ title, length });
}

/* "48x48 96x96" is an array of two. */
static void put_sizes(mishap_buffer *b, const char *sizes)
{
    MISHAP_JSON_KEY(b, "sizes");
    mishap_json_open(b, '[');
    for (const char *at = sizes; *at;) {
        size_t length = strcspn(at, " ");
        mishap_json_string(b, (mishap_text){ at, length });
        at += length + (at[length] == ' ');
    }
    mishap_json_close(b, ']');
}

void mishap_mcp_put_icons(mishap_buffer *b, const mishap_icon *icons, mishap_mcp_revision revision)
{
    if (!icons || !icons->source || revision < MISHAP_MCP_2025_11_25)
        return;
    MISHAP_JSON_KEY(b, "icons");
    mishap_json_open(b, '[');
    for (; icons->source; icons++) {
        mishap_json_open(b, '{');
        MISHAP_JSON_KEY(b, "src");
        mishap_json_string(b, mishap_text_of(icons->source));
        if (icons->type)
            MISHAP_JSON_TEXT_MEMBER(b, "mimeType", mishap_text_of(icons->type));
        if (icons->sizes)
            put_sizes(b, icons->sizes);
        if (icons->theme)
            MISHAP_JSON_TEXT_MEMBER(b, "theme", mishap_text_of(icons->theme));
        mishap_json_close(b, '}');
    }
    mishap_json_close(b, ']');
}

void mishap_mcp_put_implementation(mishap_buffer *buffer, const mishap_app *app,
                                   mishap_mcp_revision revision, bool icons)
{
    mishap_json_open(buffer, '{');
    MISHAP_JSON_KEY(buffer, "name");
    mishap_json_string(buffer, mishap_text_of(app->name));
    if (revision >= MISHAP_MCP_2025_06_18)
        put_title(buffer, mishap_text_of(app->name));
    MISHAP_JSON_KEY(buffer, "version");
    mishap_json_string(buffer, mishap_text_of(app->version ? app->version : "0"));
    mishap_mcp_put_icons(buffer, icons ? app->icons : NULL, revision);
    mishap_json_close(buffer, '}');
}

mishap_buffer *mishap_mcp_begin_result(mishap_mcp_channel *channel, mishap_text id)
{
    channel->status = 200;
    mishap_buffer *b = mishap_mcp_begin_message(channel, MISHAP_MCP_RESPONSE, id);
    MISHAP_PUT(b, ",\"result\":{");
    return b;
}

void mishap_mcp_finish_result(const mishap_app *app, mishap_mcp_channel *channel,
                              mishap_buffer *buffer, mishap_mcp_revision revision,
                              mishap_mcp_outcome outcome)
{
    if (mishap_mcp_is_modern(revision) && !buffer->failed) {
        if (outcome == MISHAP_MCP_MEMBERS_AND_META) {
            buffer->length--; /* without its closing bracket */
        } else {
            MISHAP_JSON_KEY(buffer, "_meta");
            mishap_json_open(buffer, '{');
        }
        MISHAP_JSON_KEY(buffer, "io.modelcontextprotocol/serverInfo");
        mishap_mcp_put_implementation(buffer, app, revision, outcome == MISHAP_MCP_INTRODUCTION);
        MISHAP_PUT(buffer, "},\"resultType\":");
        mishap_json_string(
            buffer, outcome == MISHAP_MCP_QUESTIONS ? (mishap_text)MISHAP_TEXT("input_required")
                    : outcome == MISHAP_MCP_TASK    ? (mishap_text)MISHAP_TEXT("task")
                                                    : (mishap_text)MISHAP_TEXT("complete"));
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

/* The content is not secret, but which parts a caller sees depends on its key. */
static void put_cache(mishap_buffer *result, mishap_mcp_revision revision, int64_t ms)
{
    if (!mishap_mcp_is_modern(revision))
        return;
    MISHAP_JSON_KEY(result, "ttlMs");
    mishap_json_int(result, ms);
    MISHAP_JSON_KEY(result, "cacheScope");
    mishap_json_string(result, (mishap_text)MISHAP_TEXT("private"));
}

/* A list changes only when the server announces it. */
void mishap_mcp_put_cache(mishap_buffer *result, mishap_mcp_revision revision)
{
    put_cache(result, revision, 60000);
}

void mishap_mcp_put_no_cache(mishap_buffer *result, mishap_mcp_revision revision)
{
    put_cache(result, revision, 0);
}
