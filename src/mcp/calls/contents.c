/*
 * The answer of a call as the contents of a resource, and as the messages of a prompt.
 *
 * An answer is JSON, a document, bytes (bytes.c), or nothing; or content blocks, as tools have
 * them. Each block becomes a message of its own, or a part of the contents.
 */
#include "mcp/calls/result.h"

/* -- contents ---------------------------------------------------------------------------------- */

/* Write {"uri":…,"mimeType":…, without the closing brace. */
static void open_part(mishap_buffer *b, const mishap_mcp_asked *asked, mishap_text media_type)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "uri");
    mishap_json_string(b, asked->uri);
    MISHAP_JSON_KEY(b, "mimeType");
    mishap_json_string(b, media_type);
}

static const mishap_text plain = MISHAP_TEXT("text/plain"), json = MISHAP_TEXT("application/json"),
                         html = MISHAP_TEXT(MISHAP_MCP_PAGE_TYPE);

/* Images and audio are bytes, in base64 already; an embedded resource is copied as it is. */
static void put_part(mishap_buffer *b, const mishap_mcp_asked *asked, yyjson_val *block)
{
    yyjson_val *resource = yyjson_obj_get(block, "resource"), *data = yyjson_obj_get(block, "data"),
               *text = yyjson_obj_get(block, "text"), *type = yyjson_obj_get(block, "mimeType");
    if (yyjson_is_obj(resource)) {
        mishap_json_copy(b, resource);
        return;
    }
    if (yyjson_is_str(data) && yyjson_is_str(type)) {
        open_part(b, asked, mishap_json_text(type));
        MISHAP_JSON_KEY(b, "blob");
        mishap_json_string(b, mishap_json_text(data));
    } else if (yyjson_is_str(text)) {
        open_part(b, asked, plain);
        MISHAP_JSON_KEY(b, "text");
        mishap_json_string(b, mishap_json_text(text));
    } else {
        mishap_buffer copy = { 0 };
        mishap_json_copy(&copy, block);
        open_part(b, asked, json);
        MISHAP_JSON_KEY(b, "text");
        mishap_json_string(b, mishap_buffer_text(&copy));
        b->failed = b->failed || copy.failed;
        mishap_buffer_release(&copy);
    }
    mishap_json_close(b, '}');
}

void mishap_mcp_put_contents(mishap_buffer *result, const mishap_mcp_asked *asked,
                             const mishap_call *call)
{
    MISHAP_JSON_KEY(result, "contents");
    mishap_json_open(result, '[');
    if (mishap_mcp_has_bytes(call)) {
        mishap_mcp_put_bytes(result, call, asked->uri);
    } else if (!mishap_mcp_each_block(result, asked, call, put_part)) {
        bool page = mishap_mcp_is_page(asked->offer->operation);
        open_part(result, asked,
                  call->answer_kind == MISHAP_ANSWER_JSON ? json
                  : page                                  ? html
                                                          : plain);
        MISHAP_JSON_KEY(result, "text");
        mishap_json_string(result, mishap_buffer_text(&call->answer));
        mishap_json_close(result, '}');
    }
    mishap_json_close(result, ']');
    if (asked->offer->ours)
        mishap_mcp_put_cache(result, asked->revision);
    else
        mishap_mcp_put_no_cache(result, asked->revision);
}

/* -- messages ---------------------------------------------------------------------------------- */

#define MESSAGE "{\"role\":\"user\",\"content\":"

static void put_message(mishap_buffer *b, const mishap_mcp_asked *asked, yyjson_val *block)
{
    mishap_json_comma(b);
    MISHAP_PUT(b, MESSAGE);
    mishap_mcp_put_block(b, asked, block);
    MISHAP_PUT(b, "}");
}

void mishap_mcp_put_messages(mishap_buffer *result, const mishap_mcp_asked *asked,
                             const mishap_call *call, const char *incident)
{
    MISHAP_JSON_KEY(result, "description");
    mishap_json_string(result, mishap_text_of(asked->offer->operation->summary));
    MISHAP_JSON_KEY(result, "messages");
    mishap_json_open(result, '[');
    if (mishap_mcp_has_bytes(call)) {
        MISHAP_PUT(result, MESSAGE);
        mishap_mcp_put_bytes_block(result, call, incident, asked->revision);
        MISHAP_PUT(result, "}");
    } else if (!mishap_mcp_each_block(result, asked, call, put_message)) {
        MISHAP_PUT(result, MESSAGE "{\"type\":\"text\",\"text\":");
        mishap_json_string(result, mishap_buffer_text(&call->answer));
        MISHAP_PUT(result, "}}");
    }
    mishap_json_close(result, ']');
}

/* -- remarks ----------------------------------------------------------------------------------- */

/* Neither contents nor messages have a place for remarks, so they go into `_meta`. */
bool mishap_mcp_put_remarks(mishap_buffer *b, const mishap_call *call)
{
    mishap_text warnings = mishap_call_warnings(call);
    if (!warnings.length && !call->total)
        return false;
    MISHAP_JSON_KEY(b, "_meta");
    mishap_json_open(b, '{');
    if (warnings.length) {
        MISHAP_JSON_KEY(b, "dev.mishap/warnings");
        mishap_json_open(b, '[');
        mishap_buffer_put_text(b, warnings);
        mishap_json_close(b, ']');
    }
    if (call->total) {
        MISHAP_JSON_KEY(b, "dev.mishap/listed");
        mishap_buffer_put_uint(b, call->listed);
        MISHAP_JSON_KEY(b, "dev.mishap/total");
        mishap_buffer_put_uint(b, call->total);
    }
    mishap_json_close(b, '}');
    return true;
}
