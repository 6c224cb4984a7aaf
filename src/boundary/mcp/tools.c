/*
 * Operations as tools: the table of them, the methods tools/list and tools/call.
 *
 * What a tool is made of is all in the declaration of its operation: names, schemas, and what it
 * does to the world. What comes of a call is result.c's.
 */
#include "boundary/mcp/mcp.h"

#include <ctype.h>

#include "dialect/dialect.h"
#include "operation/schema.h"

enum {
    LONGEST_NAME = 64, /* that common clients take */
    PAGE = 50,
};

/* -- the table --------------------------------------------------------------------------------- */

static bool is_of(const mishap_operation *operation, const char *service)
{
    return !service || (operation->service && strcmp(operation->service->name, service) == 0);
}

static bool is_tool(const mishap_operation *operation, const char *service, bool chaos)
{
    return !operation->local && !operation->resident && (!operation->chaos || chaos) &&
           is_of(operation, service);
}

static uint32_t hash(mishap_text name)
{
    uint32_t h = 2166136261U; /* FNV-1a */
    for (size_t i = 0; i < name.length; i++)
        h = (h ^ (unsigned char)name.data[i]) * 16777619U;
    return h;
}

/* Where the tool of this name is, or would be. There is always a slot that is free. */
static const mishap_mcp_tool **slot_of(const mishap_mcp_server *server, mishap_text name)
{
    size_t at = hash(name) & (server->slot_count - 1);
    while (server->slots[at] && !mishap_text_equal(server->slots[at]->name, name))
        at = (at + 1) & (server->slot_count - 1);
    return &server->slots[at];
}

const mishap_mcp_tool *mishap_mcp_tool_find(const mishap_mcp_server *server, mishap_text name)
{
    return server->slot_count && name.length <= LONGEST_NAME ? *slot_of(server, name) : NULL;
}

static mishap *no_such_service(const mishap_mcp_server *server)
{
    mishap *m = mishap_raise(NOT_CONFIGURED, "There is no service named `%s`.", server->service);
    return mishap_tell(m, "service", server->service);
}

static bool is_name(mishap_text name)
{
    for (size_t i = 0; i < name.length; i++)
        if (!isalnum((unsigned char)name.data[i]) && !strchr("_.-", name.data[i]))
            return false;
    return name.length > 0 && name.length <= LONGEST_NAME;
}

/* A name as declared, or made of the operation's in the room. */
static mishap_text name_of(const mishap_operation *operation, char **room)
{
    if (operation->tool)
        return mishap_text_of(operation->tool);
    char *name = *room;
    size_t length = strlen(operation->name);
    for (size_t i = 0; i < length; i++)
        name[i] = isalnum((unsigned char)operation->name[i]) ? operation->name[i] : '_';
    *room += length;
    return (mishap_text){ name, length };
}

/* The dialects that an agent can be told of a failure in. */
static const mishap_dialect *dialect_of(const mishap_operation *operation)
{
    static const mishap_dialect *const ours[] = { &mishap_tool_result, &mishap_condition_report,
                                                  &mishap_artifact };
    const char *name = operation->service ? operation->service->dialect : NULL;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!name || strcmp(name, ours[i]->name) == 0)
            return ours[i];
    return NULL;
}

static mishap *add_tool(mishap_mcp_server *server, const mishap_operation *operation, char **room)
{
    mishap_mcp_tool *tool = &server->tools[server->tool_count];
    *tool = (mishap_mcp_tool){ operation, name_of(operation, room), dialect_of(operation) };
    if (!is_name(tool->name))
        return mishap_tell(mishap_raise(NOT_CONFIGURED,
                                        "`%.*s` is no name for a tool: letters, digits, _, - and "
                                        "., %d at most.",
                                        (int)tool->name.length, tool->name.data, LONGEST_NAME),
                           "operation", operation->name);
    if (!tool->dialect)
        return mishap_tell(mishap_raise(NOT_CONFIGURED, "`%s` is no dialect for agents.",
                                        operation->service->dialect),
                           "service", operation->service->name);
    const mishap_mcp_tool **slot = slot_of(server, tool->name);
    if (*slot)
        return mishap_tell(mishap_raise(NOT_CONFIGURED, "Two operations are the tool `%.*s`.",
                                        (int)tool->name.length, tool->name.data),
                           "operation", operation->name);
    *slot = tool;
    server->tool_count++;
    return NULL;
}

/* Tools, slots and the names that are made lie in one block. */
mishap *mishap_mcp_server_make(mishap_mcp_server *server, bool chaos)
{
    size_t count = 0, letters = 0, slots = 4;
    bool known = !server->service;
    mishap *failure = NULL;
    const mishap_operation *o;
    for (o = server->app->operations; o && o->name; o++) {
        known = known || is_of(o, server->service);
        count += is_tool(o, server->service, chaos);
        letters += strlen(o->name);
    }
    if (!known)
        return no_such_service(server);
    while (slots < 2 * count)
        slots *= 2;
    size_t size = count * sizeof *server->tools + slots * sizeof *server->slots;
    char *block = mishap_allocate(size + letters);
    if (!block)
        return mishap_out_of_memory();
    memset(block, 0, size);
    char *room = block + size;
    server->tools = (mishap_mcp_tool *)(void *)block;
    server->tool_count = 0;
    server->slots = (const mishap_mcp_tool **)(void *)(server->tools + count);
    server->slot_count = slots;
    for (o = server->app->operations; o && o->name && !failure; o++)
        if (is_tool(o, server->service, chaos))
            failure = add_tool(server, o, &room);
    if (failure)
        mishap_mcp_server_release(server);
    return failure;
}

void mishap_mcp_server_release(mishap_mcp_server *server)
{
    mishap_release(server->tools);
    server->tools = NULL;
    server->slots = NULL;
    server->tool_count = server->slot_count = 0;
}

/* -- tools/list -------------------------------------------------------------------------------- */

static void put_input_schema(mishap_buffer *b, const mishap_operation *operation)
{
    mishap_buffer schema = { 0 };
    MISHAP_JSON_KEY(b, "inputSchema");
    if (mishap_param_count(operation->params) == 0) {
        MISHAP_PUT(b, "{\"type\":\"object\",\"additionalProperties\":false}");
        return;
    }
    mishap_params_put_schema(&schema, operation->params);
    if (schema.failed)
        mishap_buffer_reserve(b, SIZE_MAX);
    else
        mishap_mcp_put_schema(b, mishap_buffer_text(&schema));
    mishap_buffer_release(&schema);
}

static void put_description(mishap_buffer *b, const mishap_operation *operation)
{
    mishap_buffer words = { 0 };
    mishap_buffer_put_text(&words, mishap_text_of(operation->summary));
    if (operation->description) {
        MISHAP_PUT(&words, ". ");
        mishap_buffer_put_text(&words, mishap_text_of(operation->description));
    }
    if (words.failed)
        mishap_buffer_reserve(b, SIZE_MAX);
    MISHAP_JSON_KEY(b, "description");
    mishap_json_string(b, mishap_buffer_text(&words));
    mishap_buffer_release(&words);
}

/* To do it twice is as good as once: that is what these methods of HTTP promise. */
static bool is_idempotent(const mishap_operation *operation)
{
    return operation->route && (strncmp(operation->route, "PUT ", 4) == 0 ||
                                strncmp(operation->route, "DELETE ", 7) == 0);
}

static void put_hint(mishap_buffer *b, const char *name, bool value)
{
    mishap_json_key(b, mishap_text_of(name));
    mishap_json_bool(b, value);
}

/* The first revision has no other place for a title. */
static void put_annotations(mishap_buffer *b, const mishap_operation *operation,
                            mishap_mcp_revision revision)
{
    bool safe = operation->danger == MISHAP_SAFE;
    MISHAP_JSON_KEY(b, "annotations");
    mishap_json_open(b, '{');
    if (revision < MISHAP_MCP_2025_06_18) {
        MISHAP_JSON_KEY(b, "title");
        mishap_json_string(b, mishap_text_of(operation->summary));
    }
    put_hint(b, "readOnlyHint", safe);
    if (!safe) {
        put_hint(b, "destructiveHint", operation->danger == MISHAP_DESTRUCTIVE);
        put_hint(b, "idempotentHint", is_idempotent(operation));
    }
    put_hint(b, "openWorldHint", false);
    mishap_json_close(b, '}');
}

static void put_tool(mishap_buffer *b, const mishap_mcp_tool *tool, mishap_mcp_revision revision)
{
    const mishap_operation *operation = tool->operation;
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "name");
    mishap_json_string(b, tool->name);
    if (revision >= MISHAP_MCP_2025_06_18) {
        MISHAP_JSON_KEY(b, "title");
        mishap_json_string(b, mishap_text_of(operation->summary));
    }
    put_description(b, operation);
    put_input_schema(b, operation);
    if (revision >= MISHAP_MCP_2025_06_18) {
        mishap_buffer schema = { 0 };
        if (mishap_mcp_put_output_schema(&schema, tool)) {
            if (schema.failed)
                mishap_buffer_reserve(b, SIZE_MAX);
            MISHAP_JSON_KEY(b, "outputSchema");
            mishap_buffer_put_text(b, mishap_buffer_text(&schema));
        }
        mishap_buffer_release(&schema);
    }
    put_annotations(b, operation, revision);
    mishap_json_close(b, '}');
}

mishap *mishap_mcp_tools_list(mishap_mcp_request *request, mishap_buffer *result)
{
    const mishap_mcp_server *server = request->peer->server;
    size_t first, end, count = server->tool_count;
    if (!mishap_mcp_cursor_read(request->message, count, &first))
        return mishap_raise(INVALID_ARGUMENT, "The cursor is none of this server's.");
    size_t page = server->page_size ? server->page_size : PAGE;
    end = count - first > page ? first + page : count;
    MISHAP_JSON_KEY(result, "tools");
    mishap_json_open(result, '[');
    for (size_t i = first; i < end; i++)
        put_tool(result, &server->tools[i], request->message->revision);
    mishap_json_close(result, ']');
    if (end < count)
        mishap_mcp_put_cursor(result, end, count);
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
    name.length = mishap_utf8_cut(name, LONGEST_NAME);
    mishap *m = mishap_raise(NOT_FOUND, "There is no such tool.");
    return mishap_suggest(mishap_tell(m, "tool", name), "Ask tools/list which tools there are.");
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
        arguments = NULL; /* null is as good as none */
    }
    const mishap_mcp_tool *tool = mishap_mcp_tool_find(request->peer->server,
                                                       mishap_json_text(name));
    if (!tool)
        return no_such_tool(request, mishap_json_text(name));
    request->later = !mishap_mcp_flight_begin(request, tool, arguments, result);
    return NULL;
}
