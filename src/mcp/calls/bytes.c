/*
 * Answers that are bytes: an image, audio, or an embedded resource.
 */
#include "base/media.h"
#include "mcp/calls/result.h"
#include "operation/media.h"

bool mishap_mcp_has_bytes(const mishap_call *call)
{
    return call->answer_kind == MISHAP_ANSWER_BYTES || call->answer_kind == MISHAP_ANSWER_STREAM;
}

static bool is_readable(const char *type, mishap_text bytes)
{
    return mishap_media_is_text(type) && mishap_utf8_valid_length(bytes) == bytes.length &&
           !(bytes.length && memchr(bytes.data, '\0', bytes.length));
}

static void put_base64(mishap_buffer *b, mishap_text bytes)
{
    MISHAP_PUT(b, "\"");
    mishap_base64_put(b, bytes);
    MISHAP_PUT(b, "\"");
}

void mishap_mcp_put_bytes(mishap_buffer *b, const mishap_call *call, mishap_text uri)
{
    const char *type = mishap_media_clean(call->answer_type);
    mishap_text bytes = mishap_buffer_text(&call->answer);
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "uri");
    mishap_json_string(b, uri);
    MISHAP_JSON_KEY(b, "mimeType");
    mishap_json_string(b, mishap_text_of(type));
    if (is_readable(type, bytes)) {
        MISHAP_JSON_KEY(b, "text");
        mishap_json_string(b, bytes);
    } else {
        MISHAP_JSON_KEY(b, "blob");
        put_base64(b, bytes);
    }
    mishap_json_close(b, '}');
}

static void put_uri(mishap_buffer *b, const mishap_operation *operation, const char *id)
{
    char own_id[MISHAP_ID_LENGTH + 1];
    if (operation->resource && !strchr(operation->resource, '{')) {
        mishap_buffer_put_text(b, mishap_text_of(operation->resource));
        return;
    }
    if (!id) {
        mishap_id_make(own_id);
        id = own_id;
    }
    MISHAP_PUT(b, "mishap://");
    mishap_buffer_put_text(b, mishap_text_of(operation->name));
    MISHAP_PUT(b, "/");
    mishap_buffer_put_text(b, mishap_text_of(id));
}

void mishap_mcp_put_answer_uri(mishap_buffer *b, const mishap_operation *operation, const char *id)
{
    char room[512];
    mishap_buffer uri;
    mishap_buffer_init(&uri, room, sizeof room);
    put_uri(&uri, operation, id);
    mishap_json_string(b, mishap_buffer_text(&uri));
    b->failed = b->failed || uri.failed;
    mishap_buffer_release(&uri);
}

void mishap_mcp_put_bytes_block(mishap_buffer *b, const mishap_call *call, const char *id,
                                mishap_mcp_revision revision)
{
    char room[512];
    mishap_buffer uri;
    bool sounds = revision >= MISHAP_MCP_2025_03_26; /* earlier revisions have no audio */
    const char *type = mishap_media_clean(call->answer_type);
    const char *kind = mishap_media_is_kind(type, "image")             ? "image"
                       : sounds && mishap_media_is_kind(type, "audio") ? "audio"
                                                                       : NULL;
    bool picture = kind && !is_readable(type, mishap_buffer_text(&call->answer));
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "type");
    mishap_json_string(b, mishap_text_of(picture ? kind : "resource"));
    if (picture) {
        MISHAP_JSON_KEY(b, "data");
        put_base64(b, mishap_buffer_text(&call->answer));
        MISHAP_JSON_KEY(b, "mimeType");
        mishap_json_string(b, mishap_text_of(type));
    } else {
        mishap_buffer_init(&uri, room, sizeof room);
        put_uri(&uri, call->operation, id);
        MISHAP_JSON_KEY(b, "resource");
        mishap_mcp_put_bytes(b, call, mishap_buffer_text(&uri));
        b->failed = b->failed || uri.failed;
        mishap_buffer_release(&uri);
    }
    mishap_json_close(b, '}');
}
