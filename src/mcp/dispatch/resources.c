/*
 * Operations as resources: the methods resources/list, resources/templates/list and resources/read.
 *
 * A resource whose address has a {variable} in it is a template. Both kinds are in one table, and
 * each of the two list methods shows one kind. Reading a resource runs its operation, with the
 * variables as parameters.
 */
#include "mcp/calls/flight.h"
#include "mcp/dispatch/dispatch.h"
#include "mcp/offers/address.h"

enum {
    PAGE = 50,
    ROOM = 1024, /* enough for most parameters, as JSON */
};

/* -- lists ------------------------------------------------------------------------------------- */

static void put_resource(mishap_buffer *b, const mishap_app *app, const mishap_mcp_offer *resource,
                         mishap_mcp_revision revision)
{
    const mishap_operation *operation = resource->operation;
    mishap_json_open(b, '{');
    mishap_json_key(b, mishap_text_of(mishap_mcp_is_template(resource) ? "uriTemplate" : "uri"));
    mishap_json_string(b, mishap_text_of(operation->resource));
    MISHAP_JSON_KEY(b, "name");
    mishap_json_string(b, resource->name);
    mishap_mcp_put_words(b, app, operation, revision, false);
    if (mishap_mcp_is_page(operation)) {
        MISHAP_JSON_KEY(b, "mimeType");
        mishap_json_string(b, mishap_text_of(MISHAP_MCP_PAGE_TYPE));
    } else if (operation->answers_type) {
        MISHAP_JSON_KEY(b, "mimeType");
        mishap_json_string(b, mishap_text_of(operation->answers_type));
    } else if (operation->answers) {
        MISHAP_PUT(b, ",\"mimeType\":\"application/json\"");
    }
    mishap_json_close(b, '}');
}

/* Pages are for clients that show them. */
static bool is_listed(const mishap_mcp_offer *resource, bool templates, bool views)
{
    return mishap_mcp_is_template(resource) == templates &&
           (views || !mishap_mcp_is_page(resource->operation));
}

/* Write one page of the templates, or of the other resources. The key is that of the list, with its
 * bracket. */
static mishap *put_list(mishap_mcp_request *request, mishap_buffer *result, const char *key,
                        bool templates)
{
    const mishap_mcp_server *server = request->peer->server;
    size_t first, count = 0, at = 0, size = server->page_size ? server->page_size : PAGE;
    bool views = mishap_mcp_shows_views(request);
    for (size_t i = 0; i < server->resource_count; i++)
        count += is_listed(&server->resources[i], templates, views);
    if (!mishap_mcp_cursor_read(request->message, count, &first))
        return mishap_mcp_no_cursor();
    mishap_buffer_put_text(result, mishap_text_of(key));
    for (size_t i = 0; i < server->resource_count; i++) {
        if (!is_listed(&server->resources[i], templates, views))
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
    mishap_mcp_asked asked = { .offer = mishap_mcp_resource_match(request->peer->server, uri,
                                                                  &object),
                               .revision = request->message->revision,
                               .uri = uri };
    if (asked.offer)
        failure = mishap_mcp_flight_permit(request, asked.offer);
    else
        failure = mishap_mcp_no_resource(request, uri);
    if (!failure)
        mishap_mcp_flight_begin(request, &asked, &(mishap_mcp_arguments){ .spelled = &object },
                                result);
    mishap_buffer_release(&object);
    return failure;
}
