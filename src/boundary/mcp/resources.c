/*
 * What can be read: the catalog of codes, as a whole and one by one, and what a server adds.
 *
 * A resource whose URI has a {variable} in it is a template. Both kinds stand in one list, and
 * which of them is shown is a matter of the method.
 */
#include "boundary/mcp/mcp.h"
#include "dialect/reference.h"

/* -- the catalog ------------------------------------------------------------------------------- */

static void put_row(mishap_buffer *json, const mishap_code *code)
{
    mishap_json_open(json, '{');
    mishap_code_put(json, code);
    mishap_json_close(json, '}');
}

/* {"uri":…,"mimeType":"application/json","text":…} of a document. */
static mishap *put_document(mishap_buffer *contents, mishap_text uri, mishap_buffer *document)
{
    bool failed = document->failed;
    mishap_json_open(contents, '{');
    MISHAP_JSON_KEY(contents, "uri");
    mishap_json_string(contents, uri);
    MISHAP_PUT(contents, ",\"mimeType\":\"application/json\",\"text\":");
    mishap_json_string(contents, mishap_buffer_text(document));
    mishap_json_close(contents, '}');
    mishap_buffer_release(document);
    return failed ? mishap_out_of_memory() : NULL;
}

static mishap *read_codes(mishap_text uri, mishap_text variable, mishap_buffer *contents)
{
    mishap_buffer json = { 0 };
    (void)variable;
    MISHAP_PUT(&json, "{\"codes\":[");
    for (const mishap_catalog *catalog = mishap_catalog_first(); catalog; catalog = catalog->next)
        for (size_t i = 0; i < catalog->count; i++)
            put_row(&json, &catalog->codes[i]);
    MISHAP_PUT(&json, "]}");
    return put_document(contents, uri, &json);
}

/* The name comes out of a URI, so it may have escapes in it. */
static mishap *read_code(mishap_text uri, mishap_text variable, mishap_buffer *contents)
{
    char room[128];
    mishap_buffer json = { 0 }, name;
    const mishap_code *code = NULL;
    mishap_buffer_init(&name, room, sizeof room);
    if (variable.length <= sizeof room && mishap_url_unescape(&name, variable, false))
        code = mishap_code_meant(mishap_buffer_text(&name));
    mishap_buffer_release(&name);
    if (!code)
        return mishap_suggest(mishap_raise(NOT_FOUND, "There is no such code in the catalog."),
                              "Read catalog://codes to see all codes.");
    put_row(&json, code);
    return put_document(contents, uri, &json);
}

static const mishap_mcp_resource codes = {
    .uri = "catalog://codes",
    .name = "codes",
    .title = "The catalog of error codes",
    .description = "Every code that a failure can have: what it means, whether trying again can "
                   "help, what to do, and how each error format spells it.",
    .mime_type = "application/json",
    .read = read_codes,
};

static const mishap_mcp_resource code = {
    .uri = "catalog://codes/{code}",
    .name = "code",
    .title = "One error code",
    .description = "What the catalog says of one code. Any spelling will do: NOT_FOUND, not_found, "
                   "NotFound, or an HTTP status.",
    .mime_type = "application/json",
    .read = read_code,
};

static const mishap_mcp_resource *const ours[] = { &codes, &code, NULL };

/* -- all of them ------------------------------------------------------------------------------- */

/* The next one after the place, ours first; NULL: that was all. */
static const mishap_mcp_resource *next(const mishap_mcp_server *server, size_t *place)
{
    enum { OURS = sizeof ours / sizeof *ours - 1 };
    size_t at = (*place)++;
    if (at < OURS)
        return ours[at];
    return server->resources ? server->resources[at - OURS] : NULL;
}

static bool is_template(const mishap_mcp_resource *resource)
{
    return strchr(resource->uri, '{') != NULL;
}

/* What stands in place of the {variable}: not nothing, and no slash, as RFC 6570 has it. */
static bool fits(const char *template, mishap_text uri, mishap_text *variable)
{
    const char *open = strchr(template, '{'), *close = open ? strchr(open, '}') : NULL;
    if (!close)
        return false;
    size_t before = (size_t)(open - template), after = strlen(close + 1);
    if (uri.length <= before + after || memcmp(uri.data, template, before) != 0 ||
        memcmp(uri.data + uri.length - after, close + 1, after) != 0)
        return false;
    *variable = (mishap_text){ uri.data + before, uri.length - before - after };
    return !memchr(variable->data, '/', variable->length);
}

const mishap_mcp_resource *mishap_mcp_resource_find(const mishap_mcp_server *server,
                                                    mishap_text uri, mishap_text *variable)
{
    const mishap_mcp_resource *resource;
    *variable = (mishap_text){ NULL, 0 };
    for (size_t place = 0; (resource = next(server, &place));)
        if (!is_template(resource) && mishap_text_equal(mishap_text_of(resource->uri), uri))
            return resource;
    for (size_t place = 0; (resource = next(server, &place));)
        if (is_template(resource) && fits(resource->uri, uri, variable))
            return resource;
    *variable = (mishap_text){ NULL, 0 };
    return NULL;
}

mishap *mishap_mcp_no_resource(mishap_mcp_request *request, mishap_text uri)
{
    request->code = mishap_mcp_is_modern(request->message->revision) ? -32602 : -32002;
    MISHAP_PUT(&request->members, "\"uri\":");
    mishap_json_string(&request->members, uri);
    mishap_buffer_put_char(&request->members, '\0');
    return mishap_suggest(mishap_raise(NOT_FOUND, "There is no such resource."),
                          "Ask resources/list and resources/templates/list for what there is.");
}

/* -- the methods ------------------------------------------------------------------------------- */

static void put_member(mishap_buffer *b, const char *key, const char *value)
{
    if (!value)
        return;
    mishap_json_key(b, mishap_text_of(key));
    mishap_json_string(b, mishap_text_of(value));
}

static void put_resource(mishap_buffer *b, const mishap_mcp_resource *resource,
                         mishap_mcp_revision revision)
{
    mishap_json_open(b, '{');
    put_member(b, is_template(resource) ? "uriTemplate" : "uri", resource->uri);
    put_member(b, "name", resource->name);
    if (revision >= MISHAP_MCP_2025_06_18)
        put_member(b, "title", resource->title);
    put_member(b, "description", resource->description);
    put_member(b, "mimeType", resource->mime_type);
    mishap_json_close(b, '}');
}

/* One page of the templates, or of the others. The key is that of the list, with its bracket. */
static mishap *put_list(mishap_mcp_request *request, mishap_buffer *result, const char *key,
                        bool templates)
{
    const mishap_mcp_server *server = request->peer->server;
    const mishap_mcp_resource *resource;
    size_t first, count = 0, at = 0, size = server->page_size ? server->page_size : 50;
    for (size_t place = 0; (resource = next(server, &place));)
        count += is_template(resource) == templates;
    if (!mishap_mcp_cursor_read(request->message, count, &first))
        return mishap_raise(INVALID_ARGUMENT, "The cursor is none of this server's.");
    mishap_buffer_put_text(result, mishap_text_of(key));
    for (size_t place = 0; (resource = next(server, &place));) {
        if (is_template(resource) != templates)
            continue;
        if (at >= first && at - first < size)
            put_resource(result, resource, request->message->revision);
        at++;
    }
    mishap_json_close(result, ']');
    if (count - first > size)
        mishap_mcp_put_cursor(result, first + size, count);
    mishap_mcp_put_cache(result, request->message->revision);
    return NULL;
}

mishap *mishap_mcp_resources_list(mishap_mcp_request *request, mishap_buffer *result)
{
    return put_list(request, result, "\"resources\":[", false);
}

mishap *mishap_mcp_templates_list(mishap_mcp_request *request, mishap_buffer *result)
{
    return put_list(request, result, "\"resourceTemplates\":[", true);
}

static const mishap_param read_params[] = {
    { "uri", MISHAP_STRING, .required = true },
    { 0 },
};

mishap *mishap_mcp_resources_read(mishap_mcp_request *request, mishap_buffer *result)
{
    yyjson_val none = { .tag = YYJSON_TYPE_OBJ }, *params = request->message->params;
    mishap_text variable;
    mishap *failure = mishap_params_check(read_params, params ? params : &none);
    if (failure)
        return failure;
    mishap_text uri = mishap_json_text(yyjson_obj_get(params, "uri"));
    const mishap_mcp_resource *resource = mishap_mcp_resource_find(request->peer->server, uri,
                                                                   &variable);
    if (!resource)
        return mishap_mcp_no_resource(request, uri);
    MISHAP_PUT(result, "\"contents\":[");
    failure = resource->read(uri, variable, result);
    if (failure && mishap_told(failure)->category == MISHAP_RESOURCE) {
        mishap_free(failure);
        return mishap_mcp_no_resource(request, uri);
    }
    if (failure)
        return failure;
    mishap_json_close(result, ']');
    mishap_mcp_put_cache(result, request->message->revision);
    return NULL;
}
