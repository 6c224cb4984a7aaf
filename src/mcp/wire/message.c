/*
 * Parses messages: the structure of JSON-RPC 2.0, and of `_meta`. peer.c finds the method, and
 * decides whether it may be called now.
 *
 * An id is stored as JSON in one normal form, so that two ids are the same if their bytes are.
 */
#include "mcp/wire/message.h"

#define META_PREFIX       "io.modelcontextprotocol/"
#define META_VERSION      META_PREFIX "protocolVersion"
#define META_CAPABILITIES META_PREFIX "clientCapabilities"
#define META_LOG_LEVEL    META_PREFIX "logLevel"

/* -- revisions --------------------------------------------------------------------------------- */

static const mishap_text revisions[MISHAP_MCP_REVISIONS] = {
    [MISHAP_MCP_NONE] = MISHAP_TEXT("none"),
    [MISHAP_MCP_2024_11_05] = MISHAP_TEXT("2024-11-05"),
    [MISHAP_MCP_2025_03_26] = MISHAP_TEXT("2025-03-26"),
    [MISHAP_MCP_2025_06_18] = MISHAP_TEXT("2025-06-18"),
    [MISHAP_MCP_2025_11_25] = MISHAP_TEXT("2025-11-25"),
    [MISHAP_MCP_2026_07_28] = MISHAP_TEXT("2026-07-28"),
};

const char *mishap_mcp_revision_name(mishap_mcp_revision revision)
{
    return revisions[revision].data;
}

mishap_mcp_revision mishap_mcp_revision_find(mishap_text name)
{
    mishap_mcp_revision revision = MISHAP_MCP_REVISIONS - 1;
    while (revision != MISHAP_MCP_NONE && !mishap_text_equal(revisions[revision], name))
        revision--;
    return revision;
}

/* -- ids --------------------------------------------------------------------------------------- */

/* The reader stores a number as text if it is an integer beyond 64 bits, or a real number out of
 * range. */
static bool all_digits(mishap_text text)
{
    size_t i = text.data[0] == '-';
    while (i < text.length && text.data[i] >= '0' && text.data[i] <= '9')
        i++;
    return i == text.length;
}

bool mishap_mcp_id_read(yyjson_val *value, char *room, mishap_text *id)
{
    mishap_buffer buffer;
    *id = (mishap_text){ NULL, 0 };
    bool raw = yyjson_is_raw(value);
    if (raw ? !all_digits(mishap_json_text(value)) : !yyjson_is_str(value) && !yyjson_is_int(value))
        return false;
    if (mishap_json_text(value).length > MISHAP_MCP_ID_LIMIT - 2)
        return false;
    mishap_buffer_init(&buffer, room, MISHAP_MCP_ID_LIMIT);
    mishap_json_copy(&buffer, value);
    bool fits = !buffer.failed && !buffer.on_heap;
    if (fits)
        *id = mishap_buffer_text(&buffer);
    mishap_buffer_release(&buffer);
    return fits;
}

/* -- flaws ------------------------------------------------------------------------------------- */

static bool refuse_message(mishap_mcp_flaw *flaw, int code, mishap_text id, mishap *failure)
{
    *flaw = (mishap_mcp_flaw){
        .code = code, .status = code == -32602 ? 200 : 400, .failure = failure, .id = id
    };
    return false;
}

static bool refuse_shape(mishap_mcp_flaw *flaw, mishap_text id, const char *why)
{
    mishap *m = mishap_raise(BAD_REQUEST, "%s", why);
    return refuse_message(flaw, -32600, id,
                          mishap_suggest(m, "Send a JSON-RPC 2.0 request or notification."));
}

/* A member is missing, or has the wrong type: then `expected` names the right one. */
static bool refuse_member(mishap_mcp_flaw *flaw, mishap_text id, const char *field,
                          const char *expected, yyjson_val *actual)
{
    mishap *m;
    if (!actual) {
        m = mishap_raise(VALIDATION_ERROR, "`%s` is missing.", field);
        return refuse_message(flaw, -32602, id, mishap_field_required(m, field));
    }
    m = mishap_raise(VALIDATION_ERROR, "`%s` must be of type %s.", field, expected);
    m = mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                             .error = MISHAP_TEXT("invalid_type"),
                                             .expected = mishap_value_of_string(expected) });
    return refuse_message(flaw, -32602, id, m);
}

static bool refuse_level(mishap_mcp_flaw *flaw, mishap_text id)
{
    static const char field[] = "_meta." META_LOG_LEVEL;
    mishap *m = mishap_raise(VALIDATION_ERROR, "`%s` must be the name of a log level.", field);
    return refuse_message(flaw, -32602, id,
                          mishap_field_pattern(m, field,
                                               "^(debug|info|notice|warning|error|critical|alert|"
                                               "emergency)$"));
}

/* -- the members of a message ------------------------------------------------------------------ */

struct parts {
    yyjson_val *version, *id, *method, *params, *result, *error;
};

static struct parts take_apart(yyjson_val *root)
{
    struct parts parts = { 0 };
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (root, index, count, key, value) {
        switch (unsafe_yyjson_get_len(key)) {
        case 2:
            if (MISHAP_JSON_IS(key, "id"))
                parts.id = value;
            break;
        case 5:
            if (MISHAP_JSON_IS(key, "error"))
                parts.error = value;
            break;
        case 6:
            if (MISHAP_JSON_IS(key, "method"))
                parts.method = value;
            else if (MISHAP_JSON_IS(key, "params"))
                parts.params = value;
            else if (MISHAP_JSON_IS(key, "result"))
                parts.result = value;
            break;
        case 7:
            if (MISHAP_JSON_IS(key, "jsonrpc"))
                parts.version = value;
            break;
        default:
            break;
        }
    }
    return parts;
}

static bool is_level(yyjson_val *value)
{
    static const char *const levels[] = { "debug", "info",     "notice", "warning",
                                          "error", "critical", "alert",  "emergency" };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (yyjson_equals_str(value, levels[i]))
            return true;
    return false;
}

/* Read the claims of a request about itself. Only a known revision is checked by its rules: for any
 * other one, peer.c lists the known revisions. */
static bool read_meta(mishap_mcp_message *message, mishap_mcp_flaw *flaw)
{
    size_t index, count;
    yyjson_val *key, *value, *version = NULL, *capabilities = NULL, *level = NULL, *token = NULL;
    MISHAP_JSON_MEMBERS (message->meta, index, count, key, value) {
        if (MISHAP_JSON_IS(key, META_VERSION))
            version = value;
        else if (MISHAP_JSON_IS(key, META_CAPABILITIES))
            capabilities = value;
        else if (MISHAP_JSON_IS(key, META_LOG_LEVEL))
            level = value;
        else if (MISHAP_JSON_IS(key, "progressToken"))
            token = value;
    }
    message->claims = version != NULL;
    message->claimed = mishap_json_text(version);
    if (version && !yyjson_is_str(version))
        return refuse_member(flaw, message->id, "_meta." META_VERSION, "string", version);
    if (token && !yyjson_is_str(token) && !yyjson_is_int(token) && !yyjson_is_raw(token))
        return refuse_member(flaw, message->id, "_meta.progressToken", "string or integer", token);
    if (!version || !mishap_mcp_is_modern(mishap_mcp_revision_find(message->claimed)))
        return true;
    if (!yyjson_is_obj(capabilities))
        return refuse_member(flaw, message->id, "_meta." META_CAPABILITIES, "object", capabilities);
    if (level && !is_level(level))
        return refuse_level(flaw, message->id);
    return true;
}

static bool read_request(const struct parts *parts, mishap_mcp_message *message,
                         mishap_mcp_flaw *flaw)
{
    if (!mishap_mcp_id_read(parts->id, message->room, &message->id))
        return refuse_shape(flaw, message->id,
                            yyjson_is_str(parts->id) || yyjson_is_raw(parts->id)
                                ? "The id is too long, or not an integer."
                                : "The id must be a string or an integer.");
    if (yyjson_is_arr(parts->params))
        return refuse_member(flaw, message->id, "params", "object", parts->params);
    if (parts->params && !message->params)
        return refuse_shape(flaw, message->id, "`params` must be an object.");
    yyjson_val *meta = yyjson_obj_get(message->params, "_meta");
    if (meta && !message->meta)
        return refuse_member(flaw, message->id, "_meta", "object", meta);
    if (!meta || read_meta(message, flaw))
        return true;
    /* Only the stateless revision reports this by the HTTP status. Clients of the others would not
     * read the body. */
    if (message->claims)
        flaw->status = 400;
    return false;
}

/* The id of a response was made by this side. It is not sent back: the other side would take the
 * error for the answer to a request of its own. */
static bool read_response(const struct parts *parts, mishap_mcp_message *message,
                          mishap_mcp_flaw *flaw)
{
    mishap_text none = { NULL, 0 };
    message->kind = MISHAP_MCP_RESPONSE;
    message->result = parts->result;
    message->error = parts->error;
    if (parts->result && parts->error)
        return refuse_shape(flaw, none, "A response has a `result` or an `error`, not both.");
    if (!mishap_mcp_id_read(parts->id, message->room, &message->id) &&
        (parts->result || (parts->id && !yyjson_is_null(parts->id))))
        return refuse_shape(flaw, none, "The id of a response must be the id of a request.");
    return true;
}

bool mishap_mcp_message_read(yyjson_val *root, mishap_mcp_message *message, mishap_mcp_flaw *flaw)
{
    message->kind = MISHAP_MCP_REQUEST;
    message->id = message->method = message->claimed = (mishap_text){ NULL, 0 };
    message->params = message->meta = message->batch = message->result = message->error = NULL;
    message->claims = message->mended = false;
    message->revision = MISHAP_MCP_NONE;
    *flaw = (mishap_mcp_flaw){ 0 };
    if (yyjson_is_arr(root)) {
        message->batch = root;
        return true;
    }
    struct parts parts = take_apart(root);
    bool response = !parts.method && (parts.result || parts.error);
    mishap_text id = { NULL, 0 };
    if (!yyjson_is_obj(root))
        return refuse_shape(flaw, id, "A message must be a JSON object.");
    if (!response)
        mishap_mcp_id_read(parts.id, message->room, &id);
    if (!yyjson_equals_str(parts.version, "2.0"))
        return refuse_shape(flaw, id, "`jsonrpc` must be \"2.0\".");
    if (response)
        return read_response(&parts, message, flaw);
    if (!yyjson_is_str(parts.method))
        return refuse_shape(flaw, id,
                            parts.method ? "`method` must be a string."
                                         : "The member `method` is missing.");
    if (parts.result || parts.error)
        return refuse_shape(flaw, id, "A request has no `result` and no `error`.");
    message->method = mishap_json_text(parts.method);
    message->params = yyjson_is_obj(parts.params) ? parts.params : NULL;
    yyjson_val *meta = yyjson_obj_get(message->params, "_meta");
    message->meta = yyjson_is_obj(meta) ? meta : NULL;
    if (parts.id)
        return read_request(&parts, message, flaw);
    message->kind = MISHAP_MCP_NOTIFICATION; /* its sender gets no response */
    return true;
}

/* -- whole texts ------------------------------------------------------------------------------- */

/* The first place that two parsers could read differently. */
struct doubt {
    mishap_json_flaw flaw;
    char pointer[256];
    size_t length;
};

static void keep_first(void *state, mishap_json_flaw flaw, const mishap_json_path *path)
{
    struct doubt *doubt = state;
    if (doubt->flaw != MISHAP_JSON_SOUND && flaw != MISHAP_JSON_NO_MEMORY)
        return;
    mishap_buffer pointer;
    mishap_buffer_init(&pointer, doubt->pointer, sizeof doubt->pointer);
    doubt->flaw = flaw;
    mishap_json_put_pointer(&pointer, path);
    /* The pointer is shown only if it is short; a longer one is on the heap. */
    doubt->length = pointer.on_heap || pointer.failed ? 0 : pointer.length;
    mishap_buffer_release(&pointer);
}

static bool refuse_text(const mishap_json_reader *reader, mishap_mcp_flaw *flaw)
{
    mishap_text none = { NULL, 0 };
    if (reader->flaw == MISHAP_JSON_NO_MEMORY) {
        refuse_message(flaw, -32603, none, mishap_out_of_memory());
        flaw->status = 500;
        return false;
    }
    mishap *m = mishap_raise(MALFORMED_INPUT, "The message is not JSON: %s.", reader->problem);
    m = mishap_tell(mishap_tell(m, "line", reader->line), "column", reader->column);
    return refuse_message(flaw, -32700, none, m);
}

/* An object with a flaw inside still has an id, unless the id itself is in doubt. */
static bool refuse_doubt(yyjson_val *root, const struct doubt *doubt, mishap_mcp_message *message,
                         mishap_mcp_flaw *flaw)
{
    static const char *const sentences[] = {
        [MISHAP_JSON_LONE_SURROGATE] = "The message contains half of a surrogate pair.",
        [MISHAP_JSON_DUPLICATE_KEY] = "The message contains a duplicate key.",
        [MISHAP_JSON_NUL_IN_KEY] = "The message contains a key with a NUL character.",
        [MISHAP_JSON_TOO_DEEP] = "The message has too many nested levels.",
    };
    size_t index, count, ids = 0;
    yyjson_val *key, *value;
    mishap_text id = { NULL, 0 };
    struct parts parts = take_apart(root);
    MISHAP_JSON_MEMBERS (root, index, count, key, value)
        ids += MISHAP_JSON_IS(key, "id");
    if (ids == 1 && parts.method)
        mishap_mcp_id_read(parts.id, message->room, &id);
    if (doubt->flaw == MISHAP_JSON_LONE_SURROGATE && id.data &&
        memmem(id.data, id.length, "\xef\xbf\xbd", 3))
        id = (mishap_text){ NULL, 0 }; /* the id that was read is not the one that was sent */
    if (doubt->flaw == MISHAP_JSON_NO_MEMORY) {
        refuse_message(flaw, -32603, id, mishap_out_of_memory());
        flaw->status = 500;
        return false;
    }
    bool notification = ids == 0 && yyjson_is_str(parts.method) &&
                        yyjson_equals_str(parts.version, "2.0");
    if (notification)
        return refuse_message(flaw, -32600, id, NULL);
    mishap *m = mishap_raise(BAD_REQUEST, "%s", sentences[doubt->flaw]);
    m = mishap_suggest(m, "Send JSON without duplicate keys, without NUL characters in keys and "
                          "without broken surrogate pairs.");
    if (doubt->length)
        m = mishap_tell(m, "pointer", ((mishap_text){ doubt->pointer, doubt->length }));
    return refuse_message(flaw, -32600, id, m);
}

/* True if half of a surrogate pair is the only flaw in the call of a tool. A tool answers in its
 * own format, so the tool refuses the call. */
static bool is_for_a_tool(yyjson_val *root, mishap_mcp_message *message)
{
    static const char replaced[] = "\xef\xbf\xbd";
    mishap_mcp_flaw flaw = { 0 };
    bool whole = yyjson_is_obj(root) && mishap_mcp_message_read(root, message, &flaw);
    mishap_free(flaw.failure);
    return whole && message->kind == MISHAP_MCP_REQUEST &&
           mishap_text_equal(message->method, mishap_text_of("tools/call")) &&
           !memmem(message->id.data, message->id.length, replaced, sizeof replaced - 1);
}

bool mishap_mcp_read(mishap_json_reader *reader, mishap_text text, mishap_mcp_message *message,
                     mishap_mcp_flaw *flaw)
{
    if (!mishap_json_read(reader, text))
        return refuse_text(reader, flaw);
    struct doubt doubt;
    doubt.flaw = MISHAP_JSON_SOUND;
    doubt.length = 0;
    mishap_json_inspect(reader, &(mishap_json_visitor){ .flaw = keep_first, .state = &doubt });
    if (reader->flaw == MISHAP_JSON_LONE_SURROGATE && doubt.flaw != MISHAP_JSON_NO_MEMORY) {
        if (doubt.flaw == MISHAP_JSON_SOUND && is_for_a_tool(reader->root, message)) {
            *flaw = (mishap_mcp_flaw){ 0 };
            message->mended = true;
            return true;
        }
        doubt.flaw = MISHAP_JSON_LONE_SURROGATE;
        doubt.length = 0;
    }
    if (doubt.flaw != MISHAP_JSON_SOUND)
        return refuse_doubt(reader->root, &doubt, message, flaw);
    return mishap_mcp_message_read(reader->root, message, flaw);
}
