/*
 * Operations as tools: the methods tools/list and tools/call.
 *
 * The name, the schemas and the annotations of a tool are derived from the declaration of its
 * operation. result.c writes the result of a call.
 */
#include "mcp/calls/flight.h"
#include "mcp/dispatch/dispatch.h"
#include "mcp/offers/schema.h"

#include "operation/schema.h"

enum { PAGE = 50 };

/* -- tools/list -------------------------------------------------------------------------------- */

static void put_input_schema(mishap_buffer *b, const mishap_operation *operation, bool full)
{
    mishap_buffer schema = { 0 };
    MISHAP_JSON_KEY(b, "inputSchema");
    mishap_mcp_put_params_schema(&schema, operation, full);
    if (schema.failed)
        mishap_buffer_reserve(b, SIZE_MAX);
    else
        mishap_mcp_put_schema(b, mishap_buffer_text(&schema));
    b->failed = b->failed || schema.failed;
    mishap_buffer_release(&schema);
}

/* Doing it twice has the same effect as doing it once: these HTTP methods promise that. */
static bool is_idempotent(const mishap_operation *operation)
{
    return operation->route && (strncmp(operation->route, "PUT ", 4) == 0 ||
                                strncmp(operation->route, "DELETE ", 7) == 0);
}

/* It adds something and overwrites nothing: as a rule this holds for this method. For an operation
 * without a route it is not known. */
static bool is_additive(const mishap_operation *operation)
{
    return operation->route && strncmp(operation->route, "POST ", 5) == 0;
}

/* A hint that is missing counts as `otherwise`. */
static void put_hint(mishap_buffer *b, const char *name, bool value, bool otherwise, bool full)
{
    if (!full && value == otherwise)
        return;
    mishap_json_key(b, mishap_text_of(name));
    mishap_json_bool(b, value);
}

/* In a revision without titles of tools, the title is an annotation. */
static void put_annotations(mishap_buffer *b, const mishap_operation *operation,
                            mishap_mcp_revision revision, bool full)
{
    mishap_danger danger = mishap_operation_danger(operation);
    bool safe = danger == MISHAP_SAFE;
    MISHAP_JSON_KEY(b, "annotations");
    mishap_json_open(b, '{');
    if (revision < MISHAP_MCP_2025_06_18) {
        MISHAP_JSON_KEY(b, "title");
        mishap_json_string(b, mishap_text_of(operation->summary));
    }
    put_hint(b, "readOnlyHint", safe, false, full);
    if (!safe) {
        bool destroys = danger == MISHAP_DESTRUCTIVE || !is_additive(operation);
        put_hint(b, "destructiveHint", destroys, true, full);
        put_hint(b, "idempotentHint", is_idempotent(operation), false, full);
    }
    mishap_json_close(b, '}');
}

/* Which tools belong together, and the page that shows the answers. */
static void put_meta(mishap_buffer *b, const mishap_service *service, const char *view)
{
    if (!service && !view)
        return;
    MISHAP_JSON_KEY(b, "_meta");
    mishap_json_open(b, '{');
    if (service) {
        MISHAP_JSON_KEY(b, "dev.mishap/service");
        mishap_json_string(b, mishap_text_of(service->name));
    }
    if (view)
        mishap_mcp_put_view(b, view);
    mishap_json_close(b, '}');
}

static void put_tool(mishap_buffer *b, const mishap_mcp_server *server,
                     const mishap_mcp_offer *tool, mishap_mcp_revision revision, bool views)
{
    const mishap_operation *operation = tool->operation;
    bool full = server->full_schemas;
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "name");
    mishap_json_string(b, tool->name);
    mishap_mcp_put_words(b, server->app, operation, revision, !full);
    put_input_schema(b, operation, full);
    if (revision >= MISHAP_MCP_2025_06_18) {
        mishap_buffer schema = { 0 };
        if (mishap_mcp_put_output_schema(&schema, tool, full)) {
            if (schema.failed)
                mishap_buffer_reserve(b, SIZE_MAX);
            MISHAP_JSON_KEY(b, "outputSchema");
            mishap_buffer_put_text(b, mishap_buffer_text(&schema));
        }
        mishap_buffer_release(&schema);
    }
    if (revision >= MISHAP_MCP_2025_03_26)
        put_annotations(b, operation, revision, full);
    if (revision >= MISHAP_MCP_2025_06_18)
        put_meta(b, operation->service, views ? operation->view : NULL);
    mishap_json_close(b, '}');
}

/* The first tool from an index on that exists for a caller with these scopes. */
static size_t next_tool(const mishap_mcp_server *server, unsigned scopes, size_t at)
{
    while (at < server->tool_count && !mishap_mcp_is_shown(&server->tools[at], scopes))
        at++;
    return at;
}

mishap *mishap_mcp_tools_list(mishap_mcp_request *request, mishap_buffer *result)
{
    const mishap_mcp_server *server = request->peer->server;
    unsigned scopes = request->peer->scopes;
    size_t at, count = server->tool_count;
    if (!mishap_mcp_cursor_read(request->message, count, &at))
        return mishap_mcp_no_cursor();
    size_t page = server->page_size ? server->page_size : PAGE;
    bool views = mishap_mcp_shows_views(request);
    MISHAP_JSON_KEY(result, "tools");
    mishap_json_open(result, '[');
    at = next_tool(server, scopes, at);
    for (size_t put = 0; at < count && put < page; put++) {
        put_tool(result, server, &server->tools[at], request->message->revision, views);
        at = next_tool(server, scopes, at + 1);
    }
    mishap_json_close(result, ']');
    if (at < count)
        mishap_mcp_put_cursor(result, at, count);
    mishap_mcp_put_cache(result, request->message->revision);
    return NULL;
}

/* -- tools/call -------------------------------------------------------------------------------- */

static const mishap_param call_params[] = {
    { "name", MISHAP_STRING, .required = true },
    { .name = "arguments", .type = MISHAP_OBJECT },
    { 0 },
};

static mishap *no_such_tool(mishap_mcp_request *request, mishap_text name)
{
    request->code = -32602;
    return mishap_mcp_no_tool(request->peer->server, request->peer->scopes, name);
}

mishap *mishap_mcp_tools_call(mishap_mcp_request *request, mishap_buffer *result)
{
    yyjson_val none = { .tag = YYJSON_TYPE_OBJ }, *params = request->message->params;
    yyjson_val *name = yyjson_obj_get(params, "name");
    yyjson_val *arguments = yyjson_obj_get(params, "arguments");
    if (!yyjson_is_str(name) || (arguments && !yyjson_is_obj(arguments))) {
        mishap *failure = mishap_params_check(call_params, params ? params : &none);
        if (failure)
            return failure;
        arguments = NULL; /* null counts as absent */
    }
    mishap_mcp_asked asked = {
        .offer = mishap_mcp_tool_find(request->peer->server, request->peer->scopes,
                                      mishap_json_text(name)),
        .revision = request->message->revision,
    };
    if (!asked.offer)
        return no_such_tool(request, mishap_json_text(name));
    mishap *refused = mishap_mcp_flight_permit(request, asked.offer);
    if (!refused)
        refused = mishap_mcp_task_permit(request, asked.offer);
    if (refused)
        return refused;
    mishap_mcp_flight_begin(
        request, &asked,
        &(mishap_mcp_arguments){ .object = arguments, .mended = request->message->mended }, result);
    return NULL;
}
