/* What an audit reads of a tool: the values that its calls are made with. */
#include "audit/mcp/inside.h"
#include "testing.h"

/* The value for the one property of a tool with this schema; "": none is known. */
static const char *fitting(const char *schema)
{
    static char value[200];
    char json[600], storage[2048];
    mcp_tool tool;
    mishap_arena arena;
    mishap_json_reader reader = MISHAP_JSON_READER;
    snprintf(json, sizeof json,
             "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":%s},"
             "\"required\":[\"a\"],\"$defs\":{\"low\":{\"maximum\":3}}}}",
             schema);
    mishap_arena_init(&arena, storage, sizeof storage);
    assert_true(mishap_json_read(&reader, mishap_text_of(json)));
    assert_true(mishap_audit_mcp_read_tool(&arena, reader.root, &tool));
    assert_int_equal(tool.count, 1);
    assert_int_equal(tool.fillable, tool.arguments[0].fits.data != NULL);
    snprintf(value, sizeof value, "%.*s", (int)tool.arguments[0].fits.length,
             tool.arguments[0].fits.data ? tool.arguments[0].fits.data : "");
    mishap_json_reader_release(&reader);
    mishap_arena_release(&arena);
    return value;
}

static void a_value_is_made_of_the_schema(void **state)
{
    (void)state;
    assert_string_equal(fitting("{\"type\":\"string\"}"), "\"mishap\"");
    assert_string_equal(fitting("{\"type\":\"integer\",\"minimum\":7}"), "7");
    assert_string_equal(fitting("{\"enum\":[\"x\",\"y\"]}"), "\"x\"");
    assert_string_equal(fitting("{\"type\":\"string\",\"pattern\":\"^x\"}"), "");
}

static void a_value_that_the_schema_refuses_is_not_used(void **state)
{
    (void)state;
    assert_string_equal(fitting("{\"type\":\"string\",\"default\":null}"), "");
    assert_string_equal(fitting("{\"type\":\"integer\",\"default\":0,\"minimum\":1}"), "");
    assert_string_equal(fitting("{\"type\":\"string\",\"examples\":[\"no\"],\"minLength\":3}"), "");
    assert_string_equal(fitting("{\"$ref\":\"#/$defs/low\",\"default\":9}"), "");
    assert_string_equal(fitting("{\"$ref\":\"#/$defs/low\",\"default\":2}"), "2");
}

static void read_scarcely(const void *input)
{
    mcp_tool tool;
    mishap_arena arena;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_arena_init(&arena, NULL, 0);
    if (mishap_json_read(&reader, mishap_text_of(input)))
        (void)mishap_audit_mcp_read_tool(&arena, reader.root, &tool);
    mishap_json_reader_release(&reader);
    mishap_arena_release(&arena);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(read_scarcely, "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
                           "\"a\":{\"type\":\"string\",\"default\":7},\"b\":{\"enum\":[1]}},"
                           "\"required\":[\"a\",\"c\"]}}");
    mishap_use_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_value_is_made_of_the_schema),
        TEST(a_value_that_the_schema_refuses_is_not_used),
        TEST(every_allocation_may_fail),
    };
    return RUN(tests);
}
