/*
 * Operations as resources: the methods resources/list, resources/templates/list and resources/read.
 *
 * A resource whose address has a {variable} in it is a template. Both kinds stand in one list, and
 * which of them is shown is a matter of the method. To read is to run the operation, with the
 * variables as its parameters.
 */
#include "mcp/mcp.h"
#include "operation/caller.h"

#include "operation/call.h"

enum {
    PAGE = 50,
    ROOM = 1024, /* for the parameters of most, as JSON */
};

/* -- addresses --------------------------------------------------------------------------------- */

/* The next character, which is taken off. An escaped one is what it stands for, unless that would
 * mean something else if it were not escaped: then it is above all others. */
static int take_character(mishap_text *address)
{
    enum { ESCAPED = 256 };
    unsigned char c = (unsigned char)address->data[0];
    int escaped = mishap_url_escape(address->data, address->data + address->length);
    size_t length = escaped < 0 ? 1 : 3;
    *address = (mishap_text){ address->data + length, address->length - length };
    if (escaped < 0)
        return c;
    return memchr(":/?#[]@!$&'()*+,;=%", escaped, 19) ? ESCAPED + escaped : escaped;
}

bool mishap_mcp_same_address(mishap_text a, mishap_text b)
{
    while (a.length && b.length)
        if (take_character(&a) != take_character(&b))
            return false;
    return !a.length && !b.length;
}

uint32_t mishap_mcp_address_hash(mishap_text address)
{
    uint32_t hash = 2166136261;
    while (address.length)
        hash = (hash ^ (uint32_t)take_character(&address)) * 16777619;
    return hash;
}

static bool is_template(const mishap_mcp_offer *resource)
{
    return strchr(resource->operation->resource, '{') != NULL;
}

static mishap_type_of_param type_of(const mishap_operation *operation, mishap_text name)
{
    const mishap_param *param = mishap_param_find(operation->params, name);
    return param ? param->type : MISHAP_STRING; /* it is there: that was checked at the start */
}

/* One variable as a member of the object. It may have escapes; false: they are broken, or stand for
 * what is no text. */
static bool put_variable(mishap_buffer *object, const mishap_operation *operation, mishap_text name,
                         mishap_text raw)
{
    char room[ROOM];
    mishap_buffer plain;
    mishap_buffer_init(&plain, room, sizeof room);
    bool sound = mishap_url_unescape(&plain, raw, false);
    mishap_text text = mishap_buffer_text(&plain);
    sound = sound && text.length && !memchr(text.data, '\0', text.length) &&
            mishap_utf8_valid_length(text) == text.length;
    if (sound) {
        mishap_json_key(object, name);
        mishap_put_spelled(object, type_of(operation, name), text);
    }
    object->failed = object->failed || plain.failed;
    mishap_buffer_release(&plain);
    return sound || plain.failed;
}

/* Is it an address of this resource? The members of an object that is open are its variables. What
 * stands for one is not nothing, and ends where the next part of an address begins. */
static bool fits(const mishap_operation *operation, mishap_text uri, mishap_buffer *object)
{
    const char *at = uri.data, *end = at + uri.length, *pattern = operation->resource;
    while (*pattern) {
        if (*pattern != '{') {
            if (at == end || *at++ != *pattern++)
                return false;
            continue;
        }
        const char *close = strchr(pattern, '}'), *from = at;
        while (at < end && *at != '/' && *at != '?' && *at != '#')
            at++;
        mishap_text name = { pattern + 1, (size_t)(close - pattern - 1) };
        if (!put_variable(object, operation, name, (mishap_text){ from, (size_t)(at - from) }))
            return false;
        pattern = close + 1;
    }
    return at == end;
}

/* The resource that it is of, and the object of its variables. */
static const mishap_mcp_offer *match(const mishap_mcp_server *server, mishap_text uri,
                                     mishap_buffer *object)
{
    for (int templates = 0; templates < 2; templates++)
        for (size_t i = 0; i < server->resource_count; i++) {
            const mishap_mcp_offer *resource = &server->resources[i];
            if (is_template(resource) != templates)
                continue;
            mishap_buffer_reset(object);
            mishap_json_open(object, '{');
            if (fits(resource->operation, uri, object)) {
                mishap_json_close(object, '}');
                return resource;
            }
        }
    return NULL;
}

const mishap_mcp_offer *mishap_mcp_resource_find(const mishap_mcp_server *server, mishap_text uri)
{
    char room[ROOM];
    mishap_buffer object;
    mishap_buffer_init(&object, room, sizeof room);
    const mishap_mcp_offer *resource = match(server, uri, &object);
    mishap_buffer_release(&object);
    return resource;
}

mishap *mishap_mcp_no_resource(mishap_mcp_request *request, mishap_text uri)
{
    request->code = mishap_mcp_is_modern(request->message->revision) ? -32602 : -32002;
    MISHAP_PUT(&request->members, "\"uri\":");
    mishap_json_string(&request->members, uri);
    mishap_buffer_put_char(&request->members, '\0');
    return mishap_suggest(mishap_raise(NOT_FOUND, "The resource does not exist."),
                          "Call resources/list and resources/templates/list to get all resources.");
}

bool mishap_mcp_resource_exists(mishap_mcp_peer *peer, mishap_text uri)
{
    char room[ROOM];
    mishap_buffer object;
    mishap_call *call = NULL;
    mishap_buffer_init(&object, room, sizeof room);
    const mishap_mcp_offer *resource = match(peer->server, uri, &object);
    mishap *failure = NULL;
    if (resource && !object.failed)
        failure = mishap_call_begin(peer->server->app, resource->operation,
                                    mishap_buffer_text(&object), &call);
    bool exists = resource && (!failure || mishap_told(failure)->category != MISHAP_VALIDATION);
    if (call && resource->operation->quick) {
        mishap_mcp_come_from(call, peer->incident, peer->remote);
        mishap_call_set_caller(call, peer->caller, peer->named, peer->caller_is_free);
        call->counted_for = peer->counted_for;
        failure = mishap_call_run(call);
        if (call->crashed && peer->died)
            peer->died(peer);
        exists = !failure || mishap_told(failure)->category != MISHAP_RESOURCE;
    }
    mishap_free(failure);
    mishap_call_end(call);
    mishap_buffer_release(&object);
    return exists;
}

/* -- lists ------------------------------------------------------------------------------------- */

static void put_resource(mishap_buffer *b, const mishap_app *app, const mishap_mcp_offer *resource,
                         mishap_mcp_revision revision)
{
    const mishap_operation *operation = resource->operation;
    mishap_json_open(b, '{');
    mishap_json_key(b, mishap_text_of(is_template(resource) ? "uriTemplate" : "uri"));
    mishap_json_string(b, mishap_text_of(operation->resource));
    MISHAP_JSON_KEY(b, "name");
    mishap_json_string(b, resource->name);
    mishap_mcp_put_words(b, app, operation, revision);
    if (operation->answers_type) {
        MISHAP_JSON_KEY(b, "mimeType");
        mishap_json_string(b, mishap_text_of(operation->answers_type));
    } else if (operation->answers) {
        MISHAP_PUT(b, ",\"mimeType\":\"application/json\"");
    }
    mishap_json_close(b, '}');
}

/* One page of the templates, or of the others. The key is that of the list, with its bracket. */
static mishap *put_list(mishap_mcp_request *request, mishap_buffer *result, const char *key,
                        bool templates)
{
    const mishap_mcp_server *server = request->peer->server;
    size_t first, count = 0, at = 0, size = server->page_size ? server->page_size : PAGE;
    for (size_t i = 0; i < server->resource_count; i++)
        count += is_template(&server->resources[i]) == templates;
    if (!mishap_mcp_cursor_read(request->message, count, &first))
        return mishap_raise(INVALID_ARGUMENT, "The cursor is not valid.");
    mishap_buffer_put_text(result, mishap_text_of(key));
    for (size_t i = 0; i < server->resource_count; i++) {
        if (is_template(&server->resources[i]) != templates)
            continue;
        if (at >= first && at - first < size)
            put_resource(result, server->app, &server->resources[i], request->message->revision);
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

/* -- resources/read ---------------------------------------------------------------------------- */

static const mishap_param read_params[] = {
    { "uri", MISHAP_STRING, .required = true },
    { 0 },
};

mishap *mishap_mcp_resources_read(mishap_mcp_request *request, mishap_buffer *result)
{
    yyjson_val none = { .tag = YYJSON_TYPE_OBJ }, *params = request->message->params;
    char room[ROOM];
    mishap_buffer object;
    mishap *failure = mishap_params_check(read_params, params ? params : &none);
    if (failure)
        return failure;
    mishap_text uri = mishap_json_text(yyjson_obj_get(params, "uri"));
    mishap_buffer_init(&object, room, sizeof room);
    mishap_mcp_asked asked = { .offer = match(request->peer->server, uri, &object),
                               .revision = request->message->revision,
                               .uri = uri };
    if (asked.offer)
        mishap_mcp_flight_begin(request, &asked, &(mishap_mcp_arguments){ .spelled = &object },
                                result);
    else
        failure = mishap_mcp_no_resource(request, uri);
    mishap_buffer_release(&object);
    return failure;
}
