/*
 * What an audit reads of an MCP server and of a command: any bytes as a list of tools, as a stream
 * of events and as the text of help. Each tool has a name; the arguments that it requires are
 * counted; each value that fits is JSON. An event is not longer than its stream.
 */
#include "fuzz.h"

#include "audit/cli/inside.h"
#include "audit/mcp/inside.h"

static void expect_tool(const mcp_tool *tool)
{
    size_t required = 0;
    bool fillable = true;
    EXPECT(tool->name.data && tool->name.length && !tool->name.data[tool->name.length],
           "a tool without a name");
    EXPECT(tool->count <= MCP_MOST_ARGUMENTS, "%zu arguments", tool->count);
    for (size_t i = 0; i < tool->count; i++) {
        const mcp_argument *argument = &tool->arguments[i];
        mishap_json_reader reader = MISHAP_JSON_READER;
        required += argument->required;
        fillable = fillable && (!argument->required || argument->fits.data);
        if (argument->fits.data)
            EXPECT(mishap_json_read(&reader, argument->fits), "%.*s", SHOWN(argument->fits));
        mishap_json_reader_release(&reader);
    }
    EXPECT(required == tool->required, "%zu of %zu", required, tool->required);
    EXPECT(!tool->fillable || fillable, "a value is missing");
}

static void read_tools(mishap_text text)
{
    char storage[4096];
    mishap_arena arena;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_arena_init(&arena, storage, sizeof storage);
    if (mishap_json_read(&reader, text)) {
        size_t index, count;
        mcp_tool tool;
        yyjson_val *item, *list = yyjson_is_arr(reader.root) ? reader.root : NULL;
        EXPECT(mishap_audit_mcp_read_tool(&arena, reader.root, &tool), "no memory");
        expect_tool(&tool);
        MISHAP_JSON_ITEMS (list, index, count, item) {
            if (index >= MCP_MOST_TOOLS)
                break;
            EXPECT(mishap_audit_mcp_read_tool(&arena, item, &tool), "no memory");
            expect_tool(&tool);
        }
    }
    mishap_json_reader_release(&reader);
    mishap_arena_release(&arena);
}

static void read_events(mishap_text text)
{
    mishap_buffer data = { 0 };
    mishap_text rest = text;
    size_t events = 0;
    while (mishap_audit_mcp_next_event(&rest, &data)) {
        EXPECT(data.length <= text.length, "an event of %zu bytes", data.length);
        events++;
    }
    EXPECT(events <= text.length / 7 + 1, "%zu events", events);
    mishap_buffer_release(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_text text = input_text(data, size);
    read_tools(text);
    read_events(text);
    cli_help help = mishap_audit_cli_read_help(text);
    EXPECT(help.lists_commands || !help.has_manifest, "a manifest without commands");
    EXPECT(!mishap_audit_cli_has_escape(text) || memchr(text.data, '\033', text.length),
           "no escape");
    return 0;
}
