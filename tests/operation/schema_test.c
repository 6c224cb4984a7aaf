/* The JSON Schema of parameters. */
#include "operation/schema.h"
#include "testing.h"

static char *schema_of(const mishap_param *params)
{
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    mishap_params_put_schema(&buffer, params);
    mishap_buffer_add(&buffer, "", 1);
    assert_false(buffer.failed);
    char *text = strdup(buffer.data);
    mishap_buffer_release(&buffer);
    return text;
}

static void assert_schema(const mishap_param *params, const char *expected)
{
    char *text = schema_of(params);
    assert_string_equal(text, expected);
    free(text);
}

/* The schema of one parameter `x`. */
#define ASSERT_ONE(expected, ...)                                                                  \
    assert_schema((const mishap_param[]){ { "x", __VA_ARGS__ }, { 0 } },                           \
                  "{\"type\":\"object\",\"properties\":{\"x\":" expected                           \
                  "},\"additionalProperties\":true}")

static const mishap_param user_params[] = {
    { "name", MISHAP_STRING, .required = true, .length = { 1, 200 }, .help = "Full name" },
    { "age", MISHAP_INTEGER, .range = { 0, 150 } },
    { "email", MISHAP_STRING, .required = true, .pattern = ".*@.*\\..*" },
    { 0 },
};

static void properties_come_in_the_order_of_declaration(void **state)
{
    (void)state;
    assert_schema(user_params,
                  "{\"type\":\"object\",\"properties\":{"
                  "\"name\":{\"type\":\"string\",\"description\":\"Full "
                  "name\",\"minLength\":1,\"maxLength\":200},"
                  "\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":150},"
                  "\"email\":{\"type\":\"string\",\"minLength\":1,\"pattern\":\".*@.*\\\\..*\"}},"
                  "\"required\":[\"name\",\"email\"],\"additionalProperties\":true}");
}

static void no_parameters_are_an_object_of_anything(void **state)
{
    (void)state;
    assert_schema(NULL, "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":true}");
    assert_schema((const mishap_param[]){ { 0 } },
                  "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":true}");
}

static void every_rule_has_its_keyword(void **state)
{
    (void)state;
    static const char *const colours[] = { "red", "\"green\"", NULL };
    static const mishap_param tag = { NULL, MISHAP_STRING, .required = true,
                                      .length = { .max = 9 } };
    ASSERT_ONE("{\"type\":\"string\"}", .type = MISHAP_STRING);
    ASSERT_ONE("{\"type\":\"string\",\"minLength\":3}", .type = MISHAP_STRING,
               .length = { .min = 3 });
    ASSERT_ONE("{\"type\":\"string\",\"maxLength\":3}", .type = MISHAP_STRING,
               .length = { .max = 3 });
    ASSERT_ONE("{\"type\":\"number\",\"minimum\":-0.5,\"maximum\":1000000}", .type = MISHAP_NUMBER,
               .range = { -0.5, 1e6 });
    ASSERT_ONE("{\"type\":\"number\",\"minimum\":0}", .type = MISHAP_NUMBER,
               .range = { 0, INFINITY });
    ASSERT_ONE("{\"type\":\"integer\",\"maximum\":-1}", .type = MISHAP_INTEGER,
               .range = { -INFINITY, -1 });
    ASSERT_ONE("{\"type\":\"boolean\"}", .type = MISHAP_BOOLEAN);
    ASSERT_ONE("{\"type\":\"string\",\"description\":\"Where it is; looks like HOST:PORT, such as "
               "a:80\",\"pattern\":\"^.+:.+$\"}",
               .type = MISHAP_STRING, .pattern = "^.+:.+$", .help = "Where it is",
               .looks = "HOST:PORT, such as a:80");
    ASSERT_ONE("{\"type\":\"string\",\"description\":\"Expected form: A:B\",\"pattern\":\":\"}",
               .type = MISHAP_STRING, .pattern = ":", .looks = "A:B");
    ASSERT_ONE("{\"type\":\"string\",\"description\":\"When; a day of "
               "2026\",\"pattern\":\"^2026\",\"format\":\"date\"}",
               .type = MISHAP_STRING, .pattern = "^2026", .format = "date", .help = "When",
               .looks = "a day of 2026");
    ASSERT_ONE("{\"type\":\"string\",\"format\":\"date-time\"}", .type = MISHAP_STRING,
               .format = "date-time");
    ASSERT_ONE("{\"type\":\"string\",\"enum\":[\"red\",\"\\\"green\\\"\"]}", .type = MISHAP_ENUM,
               .choices = colours);
    ASSERT_ONE("{\"type\":\"array\",\"minItems\":1,\"maxItems\":5,"
               "\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":9}}",
               .type = MISHAP_ARRAY, .length = { 1, 5 }, .items = &tag);
    ASSERT_ONE("{\"type\":\"array\",\"items\":{}}", .type = MISHAP_ARRAY);
    ASSERT_ONE("{\"type\":\"object\"}", .type = MISHAP_OBJECT);
    ASSERT_ONE("{\"type\":\"object\",\"properties\":{"
               "\"name\":{\"type\":\"string\",\"description\":\"Full "
               "name\",\"minLength\":1,\"maxLength\":200},"
               "\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":150},"
               "\"email\":{\"type\":\"string\",\"minLength\":1,\"pattern\":\".*@.*\\\\..*\"}},"
               "\"required\":[\"name\",\"email\"],\"additionalProperties\":true}",
               .type = MISHAP_OBJECT, .members = user_params);
}

static void defaults_are_compact_json_and_secrets_write_only(void **state)
{
    (void)state;
    ASSERT_ONE("{\"type\":\"integer\",\"default\":5000}", .type = MISHAP_INTEGER,
               .initial = " 5000 ");
    ASSERT_ONE("{\"type\":\"string\",\"default\":\"a \\\"b\\\"\"}", .type = MISHAP_STRING,
               .initial = "\"a \\\"b\\\"\"");
    ASSERT_ONE("{\"type\":\"object\",\"default\":{\"a\":[1,2]}}", .type = MISHAP_OBJECT,
               .initial = "{ \"a\": [1, 2] }");
    ASSERT_ONE("{\"type\":\"string\"}", .type = MISHAP_STRING, .initial = "not JSON");
    ASSERT_ONE("{\"type\":\"string\",\"writeOnly\":true}", .type = MISHAP_STRING, .secret = true);
}

static char *text_of(mishap_buffer *buffer)
{
    mishap_buffer_add(buffer, "", 1);
    assert_false(buffer->failed);
    return buffer->data;
}

/* An answer is described, not checked: what is not required may be null, and text may be empty. */
static void answers_may_be_null_or_empty(void **state)
{
    (void)state;
    static const char *const colours[] = { "red", NULL };
    static const mishap_param members[] = {
        { "name", MISHAP_STRING, .required = true },
        { "age", MISHAP_INTEGER, .range = { 0, 150 } },
        { 0 },
    };
    static const mishap_param user = { .type = MISHAP_OBJECT, .members = members };
    static const mishap_param answers[] = {
        { "users", MISHAP_ARRAY, .required = true, .items = &user },
        { "colour", MISHAP_ENUM, .choices = colours },
        { "key", MISHAP_STRING, .required = true, .secret = true },
        { 0 },
    };
    mishap_buffer buffer = { 0 };
    mishap_answers_put_schema(&buffer, answers);
    assert_string_equal(
        text_of(&buffer),
        "{\"type\":\"object\",\"properties\":{"
        "\"users\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
        "\"name\":{\"type\":\"string\"},"
        "\"age\":{\"type\":[\"integer\",\"null\"],\"minimum\":0,\"maximum\":150}},"
        "\"required\":[\"name\"],\"additionalProperties\":true}},"
        "\"colour\":{\"type\":[\"string\",\"null\"],\"enum\":[\"red\",null]},"
        "\"key\":{\"type\":\"string\"}},"
        "\"required\":[\"users\",\"key\"],\"additionalProperties\":true}");
    mishap_buffer_release(&buffer);
}

static bool is_named(const mishap_param *param, const void *name)
{
    return strcmp(param->name, name) == 0;
}

static void parameters_can_be_left_out_or_stand_alone(void **state)
{
    (void)state;
    mishap_buffer buffer = { 0 };
    const mishap_operation operation = { .params = user_params, .schema = "{\"title\":\"User\"}" };
    mishap_params_put_schema_but(&buffer, &operation, is_named, "name");
    assert_string_equal(
        text_of(&buffer),
        "{\"type\":\"object\",\"properties\":{"
        "\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":150},"
        "\"email\":{\"type\":\"string\",\"minLength\":1,\"pattern\":\".*@.*\\\\..*\"}},"
        "\"required\":[\"email\"],\"additionalProperties\":true}");
    mishap_buffer_reset(&buffer);
    mishap_param_put_schema(&buffer, &user_params[1]);
    assert_string_equal(text_of(&buffer), "{\"type\":\"integer\",\"minimum\":0,\"maximum\":150}");
    mishap_buffer_release(&buffer);
}

/* Words that refer to places mean others in the description of an HTTP API. */
static void words_of_a_declaration_are_added(void **state)
{
    (void)state;
    static const mishap_param params[] = {
        { "x", .type = MISHAP_STRING, .schema = " { \"title\" : \"X\" } ", .header = "X" },
        { "y", .type = MISHAP_OBJECT, .schema = "{\"title\":\"Y\",\"$ref\":\"#/$defs/y\"}" },
        { 0 }
    };
    const mishap_operation told = { .params = params, .schema = "{\"$comment\":\"both\"}" },
                           referring = { .params = params,
                                         .schema = "{\"allOf\":[{\"$anchor\":\"a\"}]}" };
    static const char of_tool[] =
        "{\"type\":\"object\",\"properties\":{"
        "\"x\":{\"type\":\"string\",\"x-mcp-header\":\"X\",\"title\":\"X\"},"
        "\"y\":{\"type\":\"object\",\"title\":\"Y\",\"$ref\":\"#/$defs/y\"}},"
        "\"additionalProperties\":false,\"$comment\":\"both\"}";
    static const char of_api[] = "{\"type\":\"object\",\"properties\":{"
                                 "\"x\":{\"type\":\"string\",\"title\":\"X\"},"
                                 "\"y\":{\"type\":\"object\"}},\"additionalProperties\":true";
    mishap_buffer buffer = { 0 };
    char wanted[400];
    mishap_params_put_tool_schema(&buffer, params, told.schema, false);
    assert_string_equal(text_of(&buffer), of_tool);
    mishap_buffer_reset(&buffer);
    mishap_params_put_tool_schema(&buffer, params, told.schema, true);
    assert_string_equal(text_of(&buffer), of_tool);
    mishap_buffer_reset(&buffer);
    mishap_params_put_schema_but(&buffer, &told, is_named, "none");
    snprintf(wanted, sizeof wanted, "%s,\"$comment\":\"both\"}", of_api);
    assert_string_equal(text_of(&buffer), wanted);
    mishap_buffer_reset(&buffer);
    mishap_params_put_schema_but(&buffer, &referring, is_named, "none");
    snprintf(wanted, sizeof wanted, "%s}", of_api);
    assert_string_equal(text_of(&buffer), wanted);
    mishap_buffer_release(&buffer);
}

static void a_schema_is_json_itself(void **state)
{
    (void)state;
    char *text = schema_of(user_params);
    yyjson_doc *document = yyjson_read(text, strlen(text), 0);
    assert_non_null(document);
    yyjson_val *properties = yyjson_obj_get(yyjson_doc_get_root(document), "properties");
    assert_int_equal(yyjson_obj_size(properties), 3);
    yyjson_doc_free(document);
    free(text);
}

static void without_memory_the_buffer_says_so(void **state)
{
    (void)state;
    static const mishap_param params[] = {
        { "x", MISHAP_STRING, .initial = "\"something\"", .help = "A word or two" },
        { "y", MISHAP_OBJECT, .members = user_params, .initial = "{}" },
        { 0 },
    };
    char *whole = schema_of(params);
    mishap_use_allocator(&failing_allocator);
    fail_once = true;
    for (fail_at = 1, calls = 1; calls >= fail_at; fail_at++) {
        mishap_buffer buffer;
        mishap_buffer_init(&buffer, NULL, 0);
        calls = 0;
        mishap_params_put_schema(&buffer, params);
        if (calls >= fail_at)
            assert_true(buffer.failed);
        else
            assert_memory_equal(buffer.data, whole, strlen(whole));
        mishap_buffer_release(&buffer);
    }
    mishap_use_allocator(NULL);
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(properties_come_in_the_order_of_declaration),
        TEST(no_parameters_are_an_object_of_anything),
        TEST(every_rule_has_its_keyword),
        TEST(defaults_are_compact_json_and_secrets_write_only),
        TEST(answers_may_be_null_or_empty),
        TEST(parameters_can_be_left_out_or_stand_alone),
        TEST(words_of_a_declaration_are_added),
        TEST(a_schema_is_json_itself),
        TEST(without_memory_the_buffer_says_so),
    };
    return RUN(tests);
}
