/* The tools of the server, as its lists say. */
#include "mcp/gateway/inside.h"

enum { LEAST_TTL_MS = 10000 }; /* a list that may be kept for a shorter time is kept so long */

static void free_tool(gateway_tools *tools, gateway_tool *tool)
{
    tools->bytes -= tool->input.length;
    mishap_mcp_gateway_table_remove(&tools->table, &tool->entry);
    mishap_schema_free(tool->schema);
    mishap_release(tool);
}

void mishap_mcp_gateway_tools_release(gateway_tools *tools)
{
    mishap_mcp_gateway_entry *entry;
    while ((entry = mishap_mcp_gateway_table_any(&tools->table)))
        free_tool(tools, (gateway_tool *)(void *)entry);
}

const gateway_tool *mishap_mcp_gateway_tools_find(const gateway_tools *tools, mishap_text name)
{
    return (const gateway_tool *)(const void *)mishap_mcp_gateway_table_find(&tools->table, name);
}

/* A tool with copies of its name and the JSON of its schema behind it. */
static gateway_tool *make_tool(gateway_tools *tools, mishap_text name, mishap_text input)
{
    gateway_tool *tool = mishap_allocate(sizeof *tool + name.length + input.length);
    if (!tool)
        return NULL;
    char *room = (char *)(tool + 1);
    *tool = (gateway_tool){ .entry.key = { room, name.length },
                            .input = { room + name.length, input.length } };
    memcpy(room, name.data, name.length);
    if (input.length)
        memcpy(room + name.length, input.data, input.length);
    tools->bytes += input.length;
    mishap_mcp_gateway_table_add(&tools->table, &tool->entry);
    return tool;
}

/* The same schema is not compiled again. Without memory for it nothing is checked. */
static gateway_tool *renew_tool(gateway_tools *tools, mishap_text name, mishap_text input)
{
    gateway_tool *tool = (gateway_tool *)(void *)mishap_mcp_gateway_table_find(&tools->table, name);
    if (tool && mishap_text_equal(tool->input, input))
        return tool;
    if (tool)
        free_tool(tools, tool);
    if (tools->table.count >= GATEWAY_MOST_TOOLS ||
        tools->bytes + input.length > GATEWAY_MOST_TOOL_BYTES)
        return NULL;
    tool = make_tool(tools, name, input);
    if (tool && input.length)
        mishap_free(mishap_schema_compile(tool->input, &tool->schema));
    return tool;
}

static void learn_tool(gateway_tools *tools, yyjson_val *item)
{
    mishap_text name = mishap_json_text(yyjson_obj_get(item, "name"));
    yyjson_val *schema = yyjson_obj_get(item, "inputSchema");
    yyjson_val *hints = yyjson_obj_get(item, "annotations");
    mishap_buffer input = { 0 };
    if (!name.length || name.length > GATEWAY_LONGEST_NAME)
        return;
    if (yyjson_is_obj(schema) || yyjson_is_bool(schema))
        mishap_json_copy(&input, schema);
    if (input.failed || input.length > MISHAP_SCHEMA_MOST_BYTES)
        mishap_buffer_reset(&input);
    gateway_tool *tool = renew_tool(tools, name, mishap_buffer_text(&input));
    mishap_buffer_release(&input);
    if (!tool)
        return;
    tool->repeatable = yyjson_is_true(yyjson_obj_get(hints, "readOnlyHint")) ||
                       yyjson_is_true(yyjson_obj_get(hints, "idempotentHint"));
    tool->structured = yyjson_obj_get(item, "outputSchema") != NULL;
    tool->listing = tools->listing;
}

/* Tools that the last complete list did not have are gone. */
static void forget_others(gateway_tools *tools)
{
    for (size_t i = 0; i < MISHAP_GATEWAY_PLACES; i++)
        for (mishap_mcp_gateway_entry *at = tools->table.places[i], *next; at; at = next) {
            gateway_tool *tool = (gateway_tool *)(void *)at;
            next = at->next;
            if (tool->listing != tools->listing)
                free_tool(tools, tool);
        }
}

static int64_t kept_until(yyjson_val *result, int64_t now_ns)
{
    yyjson_val *ttl = yyjson_obj_get(result, "ttlMs");
    double ms = yyjson_get_num(ttl);
    if (!yyjson_is_num(ttl) || !(ms < 86400e3))
        return INT64_MAX;
    return now_ns + (int64_t)(ms > LEAST_TTL_MS ? ms : LEAST_TTL_MS) * 1000000;
}

bool mishap_mcp_gateway_tools_learn(gateway_tools *tools, yyjson_val *result, bool first,
                                    int64_t now_ns)
{
    size_t index, count;
    yyjson_val *item;
    bool last = !mishap_json_text(yyjson_obj_get(result, "nextCursor")).length;
    if (first)
        tools->listing++;
    MISHAP_JSON_ITEMS (yyjson_obj_get(result, "tools"), index, count, item)
        learn_tool(tools, item);
    if (last && yyjson_is_arr(yyjson_obj_get(result, "tools"))) {
        forget_others(tools);
        tools->complete = true;
        tools->until_ns = kept_until(result, now_ns);
    }
    return last;
}
