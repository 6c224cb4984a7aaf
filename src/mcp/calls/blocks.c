/*
 * The content blocks of an answer that a handler has written itself (mishap_answer_content), in the
 * revision of the client. A kind of block that the revision does not have is replaced by one that
 * it has: a client that does not know a kind refuses the whole result.
 */
#include "mcp/calls/result.h"

bool mishap_mcp_each_block(mishap_buffer *result, const mishap_mcp_asked *asked,
                           const mishap_call *call, mishap_mcp_put_each *put)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    size_t index, count;
    yyjson_val *block;
    if (!call->content || call->answer_kind != MISHAP_ANSWER_JSON || call->answer.data[0] != '[')
        return false;
    /* The JSON was checked when the handler returned. */
    if (!mishap_json_read(&reader, mishap_buffer_text(&call->answer)))
        /* Makes the buffer fail: half of the blocks is worse than none. */
        mishap_buffer_reserve(result, SIZE_MAX);
    MISHAP_JSON_ITEMS (reader.root, index, count, block)
        put(result, asked, block);
    mishap_json_reader_release(&reader);
    return true;
}

/* Write audio, which is in base64 already, as an embedded resource. */
static void put_audio(mishap_buffer *b, const mishap_mcp_asked *asked, yyjson_val *block)
{
    mishap_json_open(b, '{');
    MISHAP_PUT(b, "\"type\":\"resource\",\"resource\":{\"uri\":");
    mishap_mcp_put_answer_uri(b, asked->offer->operation, NULL);
    MISHAP_JSON_KEY(b, "mimeType");
    mishap_json_copy(b, yyjson_obj_get(block, "mimeType"));
    MISHAP_JSON_KEY(b, "blob");
    mishap_json_copy(b, yyjson_obj_get(block, "data"));
    MISHAP_PUT(b, "}}");
}

/* Write a link as text: "The report: todo://reports/7". */
static void put_link(mishap_buffer *b, yyjson_val *block)
{
    mishap_buffer words = { 0 };
    yyjson_val *title = yyjson_obj_get(block, "title"), *name = yyjson_obj_get(block, "name");
    mishap_buffer_put_text(&words, mishap_json_text(yyjson_is_str(title) ? title : name));
    MISHAP_PUT(&words, ": ");
    mishap_buffer_put_text(&words, mishap_json_text(yyjson_obj_get(block, "uri")));
    mishap_json_open(b, '{');
    MISHAP_PUT(b, "\"type\":\"text\",\"text\":");
    mishap_json_string(b, mishap_buffer_text(&words));
    mishap_json_close(b, '}');
    b->failed = b->failed || words.failed;
    mishap_buffer_release(&words);
}

/* True for a block of this kind that has the members of the kind. Missing members are not made up
 * here. */
static bool is_kind(yyjson_val *block, const char *kind, const char *first, const char *second)
{
    return yyjson_equals_str(yyjson_obj_get(block, "type"), kind) &&
           yyjson_is_str(yyjson_obj_get(block, first)) &&
           yyjson_is_str(yyjson_obj_get(block, second));
}

void mishap_mcp_put_block(mishap_buffer *b, const mishap_mcp_asked *asked, yyjson_val *block)
{
    if (asked->revision < MISHAP_MCP_2025_03_26 && is_kind(block, "audio", "mimeType", "data"))
        put_audio(b, asked, block);
    else if (asked->revision < MISHAP_MCP_2025_06_18 &&
             is_kind(block, "resource_link", "name", "uri"))
        put_link(b, block);
    else
        mishap_json_copy(b, block);
}
