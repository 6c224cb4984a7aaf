/*
 * What is read of a tool: its name, its hints, and of its inputSchema `type`, `required`,
 * `properties` and `additionalProperties`; of a property its type and what makes a value that fits.
 * Everything else of JSON Schema is left alone: where it could decide, no value is made. A value
 * that the whole schema of its property refuses is not used: a default, too, may be wrong.
 */
#include "audit/mcp/inside.h"
#include "schema/schema.h"

enum { MOST_NAME = 200, MOST_LENGTH = 1000 };

static const char *const type_names[] = {
    [MCP_STRING] = "string",   [MCP_INTEGER] = "integer", [MCP_NUMBER] = "number",
    [MCP_BOOLEAN] = "boolean", [MCP_ARRAY] = "array",     [MCP_OBJECT] = "object"
};

const char *mishap_audit_mcp_wrong_value(mcp_type type)
{
    static const char *const values[] = { [MCP_STRING] = "{\"mishap\":[1]}",
                                          [MCP_INTEGER] = "\"mishap\"",
                                          [MCP_NUMBER] = "\"mishap\"",
                                          [MCP_BOOLEAN] = "\"mishap\"",
                                          [MCP_ARRAY] = "7",
                                          [MCP_OBJECT] = "7" };
    return values[type];
}

/* The one type that a schema names. */
static mcp_type read_type(yyjson_val *schema)
{
    static const char *const others[] = { "$ref", "anyOf", "oneOf", "allOf", "not", "if" };
    mishap_text name = mishap_json_text(yyjson_obj_get(schema, "type"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (yyjson_obj_get(schema, others[i]))
            return MCP_ANY;
    for (int type = MCP_STRING; type <= MCP_OBJECT; type++)
        if (mishap_text_equal(name, mishap_text_of(type_names[type])))
            return (mcp_type)type;
    return MCP_ANY;
}

/* -- values that fit --------------------------------------------------------------------------- */

static double limit_of(yyjson_val *schema, const char *name, double otherwise)
{
    yyjson_val *limit = yyjson_obj_get(schema, name);
    return yyjson_is_num(limit) ? yyjson_get_num(limit) : otherwise;
}

static bool put_string(mishap_buffer *b, yyjson_val *schema)
{
    static const struct {
        const char *format, *value;
    } formats[] = { { "date", "2026-02-28" },
                    { "date-time", "2026-02-28T12:00:00Z" },
                    { "email", "mishap@example.com" },
                    { "uri", "https://example.com/mishap" },
                    { "uuid", "123e4567-e89b-42d3-a456-426614174000" } };
    mishap_text format = mishap_json_text(yyjson_obj_get(schema, "format"));
    const char *value = format.length ? NULL : "mishap";
    double least = limit_of(schema, "minLength", 0), most = limit_of(schema, "maxLength", 1e9);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (mishap_text_equal(format, mishap_text_of(formats[i].format)))
            value = formats[i].value;
    if (!value || yyjson_obj_get(schema, "pattern") || least > MOST_LENGTH || most < least)
        return false;
    size_t length = strlen(value), wanted = length;
    if (!format.length) {
        wanted = length < least ? (size_t)least : length;
        wanted = (double)wanted > most ? (size_t)(most > 0 ? most : 0) : wanted;
    }
    mishap_buffer_put_char(b, '"');
    for (size_t i = 0; i < wanted; i++)
        mishap_buffer_put_char(b, i < length ? value[i] : 'm');
    mishap_buffer_put_char(b, '"');
    return true;
}

static bool put_number(mishap_buffer *b, yyjson_val *schema)
{
    const double exact =
        9007199254740992.0; /* all integers up to here have a double of their own */
    double least = limit_of(schema, "minimum", -exact), most = limit_of(schema, "maximum", exact);
    if (yyjson_obj_get(schema, "multipleOf") || yyjson_obj_get(schema, "exclusiveMinimum") ||
        yyjson_obj_get(schema, "exclusiveMaximum") || !(least >= -exact && least <= exact) ||
        !(most >= -exact && most <= exact))
        return false;
    int64_t value = least > 1 ? (int64_t)least + ((double)(int64_t)least < least) : 1;
    if ((double)value > most)
        value = (int64_t)most - ((double)(int64_t)most > most);
    if ((double)value < least || (double)value > most)
        return false;
    mishap_buffer_put_int(b, value);
    return true;
}

/* A value of the schema's own: const, default, the first example, the first of enum. */
static bool put_given(mishap_buffer *b, yyjson_val *schema)
{
    yyjson_val *value = yyjson_obj_get(schema, "const");
    value = value ? value : yyjson_obj_get(schema, "default");
    value = value ? value : yyjson_arr_get_first(yyjson_obj_get(schema, "examples"));
    value = value ? value : yyjson_arr_get_first(yyjson_obj_get(schema, "enum"));
    if (value)
        mishap_json_copy(b, value);
    return value && b->length <= MOST_LENGTH;
}

static bool put_value(mishap_buffer *b, yyjson_val *schema, mcp_type type)
{
    switch (type) {
    case MCP_STRING:
        return put_string(b, schema);
    case MCP_INTEGER:
    case MCP_NUMBER:
        return put_number(b, schema);
    case MCP_BOOLEAN:
        MISHAP_PUT(b, "true");
        return true;
    case MCP_ARRAY:
        MISHAP_PUT(b, "[]");
        return !yyjson_obj_get(schema, "minItems");
    case MCP_OBJECT:
        MISHAP_PUT(b, "{}");
        return !yyjson_obj_get(schema, "required") && !yyjson_obj_get(schema, "minProperties");
    default:
        return false;
    }
}

/* The value of a property, as JSON, by the schema of the tool. False: there is no memory. */
static bool is_refused(mishap_arena *arena, const mishap_schema *whole, mishap_text name,
                       mishap_text json, bool *refused)
{
    const mishap_schema_part *part = mishap_schema_property(whole, name);
    yyjson_val *value = part ? mishap_json_read_into(arena, json) : NULL;
    *refused = value && mishap_schema_refuses(part, value);
    return value || !part;
}

/* False: there is no memory. */
static bool read_argument(mishap_arena *arena, mishap_text name, yyjson_val *schema,
                          const mishap_schema *whole, mcp_argument *argument)
{
    bool refused = false;
    char storage[256];
    mishap_buffer value;
    *argument = (mcp_argument){ .name = mishap_arena_copy(arena, name), .type = read_type(schema) };
    mishap_buffer_init(&value, storage, sizeof storage);
    bool fits = yyjson_is_obj(schema) && put_given(&value, schema);
    if (!fits && yyjson_is_obj(schema)) {
        mishap_buffer_reset(&value);
        fits = put_value(&value, schema, argument->type);
    }
    if (fits)
        argument->fits = mishap_arena_copy(arena, mishap_buffer_text(&value));
    bool fine = argument->name.data && !value.failed && (!fits || argument->fits.data);
    if (fine && fits)
        fine = is_refused(arena, whole, name, argument->fits, &refused);
    if (refused)
        argument->fits = (mishap_text){ NULL, 0 };
    mishap_buffer_release(&value);
    return fine;
}

/* -- the tool ---------------------------------------------------------------------------------- */

static mcp_argument *find_argument(const mcp_tool *tool, mishap_text name)
{
    for (size_t i = 0; i < tool->count; i++)
        if (mishap_text_equal(tool->arguments[i].name, name))
            return &tool->arguments[i];
    return NULL;
}

static bool read_arguments(mishap_arena *arena, yyjson_val *schema, const mishap_schema *whole,
                           mcp_tool *tool)
{
    size_t index, count;
    yyjson_val *key, *value, *item;
    yyjson_val *properties = yyjson_obj_get(schema, "properties");
    yyjson_val *required = yyjson_obj_get(schema, "required");
    tool->arguments = mishap_arena_take(arena, MCP_MOST_ARGUMENTS * sizeof *tool->arguments);
    if (!tool->arguments)
        return false;
    MISHAP_JSON_MEMBERS (yyjson_is_obj(properties) ? properties : NULL, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        if (tool->count == MCP_MOST_ARGUMENTS || name.length > MOST_NAME)
            continue;
        if (!read_argument(arena, name, value, whole, &tool->arguments[tool->count++]))
            return false;
    }
    tool->fillable = true;
    MISHAP_JSON_ITEMS (yyjson_is_arr(required) ? required : NULL, index, count, item) {
        mishap_text name = mishap_json_text(item);
        mcp_argument *argument = find_argument(tool, name);
        if (!name.data || name.length > MOST_NAME) {
            tool->fault = name.data ? NULL : "`required` has an item that is no string.";
            continue;
        }
        if (!argument && tool->count < MCP_MOST_ARGUMENTS) {
            argument = &tool->arguments[tool->count++];
            if (!read_argument(arena, name, NULL, whole, argument))
                return false;
        }
        if (argument && !argument->required) {
            argument->required = true;
            tool->required++;
        }
        tool->fillable = tool->fillable && argument && argument->fits.data;
    }
    return true;
}

/* NULL: there is no memory. */
static mishap_schema *compile_schema(yyjson_val *schema)
{
    mishap_buffer json = { 0 };
    mishap_schema *whole = NULL;
    if (schema)
        mishap_json_copy(&json, schema);
    if (!json.failed)
        mishap_free(mishap_schema_compile(mishap_buffer_text(&json), &whole));
    mishap_buffer_release(&json);
    return whole;
}

bool mishap_audit_mcp_read_tool(mishap_arena *arena, yyjson_val *item, mcp_tool *tool)
{
    yyjson_val *schema = yyjson_obj_get(item, "inputSchema");
    yyjson_val *hints = yyjson_obj_get(item, "annotations");
    yyjson_val *others = yyjson_obj_get(schema, "additionalProperties");
    mishap_text name = mishap_json_text(yyjson_obj_get(item, "name"));
    *tool = (mcp_tool){ .fault = NULL };
    tool->name = mishap_arena_copy(
        arena, name.length
                   ? (mishap_text){ name.data, name.length < MOST_NAME ? name.length : MOST_NAME }
                   : (mishap_text)MISHAP_TEXT("(a tool without a name)"));
    if (!name.length || memchr(name.data, '\0', name.length))
        tool->fault = "The tool has no name, or one that is not valid.";
    else if (!yyjson_is_obj(schema))
        tool->fault = "The tool has no inputSchema.";
    else if (!mishap_text_equal(mishap_json_text(yyjson_obj_get(schema, "type")),
                                (mishap_text)MISHAP_TEXT("object")))
        tool->fault = "The type of inputSchema is not object.";
    tool->read_only = yyjson_is_true(yyjson_obj_get(hints, "readOnlyHint"));
    tool->destructive = yyjson_is_true(yyjson_obj_get(hints, "destructiveHint"));
    if (mishap_text_equal(
            mishap_json_text(yyjson_obj_get(yyjson_obj_get(item, "execution"), "taskSupport")),
            (mishap_text)MISHAP_TEXT("required")))
        tool->left_out = "The tool can be called only as a task, and was not called.";
    if (name.length > MOST_NAME)
        tool->left_out = "The name of the tool is longer than 200 bytes. It was not called.";
    tool->closed = yyjson_is_bool(others) && !yyjson_is_true(others);
    mishap_schema *whole = compile_schema(schema);
    bool fine = tool->name.data && whole && read_arguments(arena, schema, whole, tool);
    mishap_schema_free(whole);
    return fine;
}
