/* The reader of OpenAPI documents: operations, references, schemas, values, and a lack of memory.
 */
#include "audit/http/openapi.h"
#include "testing.h"

#define DOCUMENT(paths, more) "{\"openapi\":\"3.0.3\",\"paths\":{" paths "}" more "}"
#define BODY(schema)                                                                               \
    DOCUMENT(                                                                                      \
        "\"/a\":{\"post\":{\"requestBody\":{\"content\":{\"application/json\":{\"schema\":" schema \
        "}}}}}",                                                                                   \
        "")

static mishap_openapi document;

static void read_document(const char *text)
{
    const char *why = mishap_openapi_read(&document, mishap_text_of(text));
    if (why)
        print_message("# %s\n", why);
    assert_null(why);
}

static void assert_text(mishap_text text, const char *expected)
{
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.data, expected, text.length);
}

static void operations_are_read_in_their_order(void **state)
{
    static const char text[] =
        "{\n\"openapi\": \"3.1.0\",\n\"servers\": [{\"url\": \"https://example.com:8/v1//\"}],\n"
        "\"paths\": {\n"
        "\"/users\": {\"summary\": \"x\",\n \"post\": {\"requestBody\": {\"$ref\": "
        "\"#/b/a~1b\"}},\n"
        " \"get\": {\"responses\": {\"200\": {}, \"4XX\": {\"content\": {\"application/json\": "
        "{\"schema\": {\"type\": \"object\"}}}}}},\n \"trace\": {}},\n"
        "\"/users/{id}\": {\"parameters\": [{\"name\": \"id\", \"in\": \"path\", \"required\": "
        "true, "
        "\"schema\": {\"type\": \"string\"}}],\n \"delete\": {\"parameters\": [{\"name\": \"id\", "
        "\"in\": \"path\", \"schema\": {\"type\": \"integer\"}}, {\"name\": \"q\", \"in\": "
        "\"query\"}, 7]}},\n"
        "\"no slash\": {\"get\": {}}, \"/{a\": {\"get\": {}}, \"/?\": {\"get\": {}}},\n"
        "\"b\": {\"a/b\": {\"content\": {\"text/plain\": {}, \"application/x+json; q=1\": "
        "{\"schema\": {\"type\": \"array\"}}}}}}";
    (void)state;
    read_document(text);
    assert_int_equal(document.count, 3);
    assert_text(document.prefix, "/v1");
    const mishap_openapi_operation *all = document.operations;
    assert_text(all[0].method, "POST");
    assert_int_equal(all[0].line, 6);
    assert_int_equal(mishap_openapi_types(all[0].body), MISHAP_OPENAPI_ARRAY);
    assert_null(all[0].responses);
    assert_text(all[1].method, "GET");
    assert_int_equal(all[1].line, 7);
    assert_true(mishap_openapi_documents(&all[1], 200));
    assert_true(mishap_openapi_documents(&all[1], 499));
    assert_false(mishap_openapi_documents(&all[1], 500));
    assert_non_null(all[1].errors);
    assert_text(all[2].path, "/users/{id}");
    assert_int_equal(all[2].parameter_count, 2);
    assert_int_equal(mishap_openapi_types(all[2].parameters[0].schema), MISHAP_OPENAPI_INTEGER);
    assert_false(all[2].whole); /* one of its parameters is none */
    mishap_openapi_release(&document);
}

static void what_is_no_document_is_refused(void **state)
{
    static const char *const wrong[] = { "",
                                         "openapi: 3.0.0",
                                         "[]",
                                         "{}",
                                         "{\"openapi\":3,\"paths\":{}}",
                                         "{\"openapi\":\"3.0.0\"}",
                                         "{\"openapi\":\"3.0.0\",\"paths\":[]}",
                                         "{\"openapi\":\"2.0\",\"paths\":{}}",
                                         "{\"swagger\":\"2.0\",\"paths\":{}}",
                                         "{\"openapi\":\"3.0.0\",\"paths\":{}" };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_non_null(mishap_openapi_read(&document, mishap_text_of(wrong[i])));
        mishap_openapi_release(&document);
    }
}

static void a_path_fits_its_template(void **state)
{
    static const struct {
        const char *template, *path;
        bool fits;
    } rows[] = {
        { "/a", "/a", true },       { "/a", "/b", false },
        { "/a", "/a/", false },     { "/{x}", "/a", true },
        { "/{x}", "/a/b", false },  { "/{x}", "/", false },
        { "/{x}/b", "/a/b", true }, { "/{x}.{y}", "/a.b", true },
        { "/{x}-b", "/a", false },  { "/a/{x}/{y}", "/a/b/c", true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(
            mishap_openapi_fits(mishap_text_of(rows[i].template), mishap_text_of(rows[i].path)),
            rows[i].fits);
}

/* The value that is made for a schema; NULL: none. */
typedef struct sample {
    const char *text;
    mishap_openapi_flaw flaw;
    const char *made;
} sample;

static const sample samples[] = {
    { BODY("{\"type\":\"string\"}"), MISHAP_OPENAPI_VALID, "\"mishap\"" },
    { BODY("{\"type\":\"string\",\"minLength\":8}"), MISHAP_OPENAPI_VALID, "\"mishapmi\"" },
    { BODY("{\"type\":\"string\",\"maxLength\":2}"), MISHAP_OPENAPI_VALID, "\"mi\"" },
    { BODY("{\"type\":\"string\",\"maxLength\":2}"), MISHAP_OPENAPI_OUT_OF_LIMITS, "\"mis\"" },
    { BODY("{\"type\":\"string\",\"minLength\":2}"), MISHAP_OPENAPI_OUT_OF_LIMITS, "\"\"" },
    { BODY("{\"type\":\"string\",\"minLength\":3,\"maxLength\":2}"), MISHAP_OPENAPI_VALID, NULL },
    { BODY("{\"type\":\"string\",\"minLength\":1e18}"), MISHAP_OPENAPI_VALID, NULL },
    { BODY("{\"type\":\"string\"}"), MISHAP_OPENAPI_OUT_OF_LIMITS, NULL },
    { BODY("{\"type\":\"string\"}"), MISHAP_OPENAPI_WRONG_TYPE, "{\"mishap\":true}" },
    { BODY("{\"type\":\"string\",\"pattern\":\"x\"}"), MISHAP_OPENAPI_VALID, NULL },
    { BODY("{\"type\":\"string\",\"format\":\"date\"}"), MISHAP_OPENAPI_VALID, NULL },
    { BODY("{\"type\":\"integer\",\"minimum\":2.5}"), MISHAP_OPENAPI_VALID, "3" },
    { BODY("{\"type\":\"integer\",\"maximum\":-2}"), MISHAP_OPENAPI_VALID, "-2" },
    { BODY("{\"type\":\"integer\",\"minimum\":4,\"maximum\":3}"), MISHAP_OPENAPI_VALID, NULL },
    { BODY("{\"type\":\"integer\",\"maximum\":7}"), MISHAP_OPENAPI_OUT_OF_LIMITS, "8" },
    { BODY("{\"type\":\"number\",\"minimum\":7}"), MISHAP_OPENAPI_OUT_OF_LIMITS, "6" },
    { BODY("{\"type\":\"boolean\"}"), MISHAP_OPENAPI_VALID, "true" },
    { BODY("{\"type\":\"array\",\"items\":{}}"), MISHAP_OPENAPI_VALID, "[]" },
    { BODY("{\"type\":\"array\",\"minItems\":1}"), MISHAP_OPENAPI_VALID, NULL },
    { BODY("{\"type\":\"array\"}"), MISHAP_OPENAPI_WRONG_TYPE, "\"mishap\"" },
    { BODY("{\"enum\":[\"b\",\"a\"]}"), MISHAP_OPENAPI_VALID, "\"b\"" },
    { BODY("{\"type\":\"string\",\"enum\":[\"b\"]}"), MISHAP_OPENAPI_OUT_OF_LIMITS,
      "\"mishap-audit-none-of-these\"" },
    { BODY("{\"type\":[\"null\",\"integer\"]}"), MISHAP_OPENAPI_VALID, "1" },
    { BODY("{}"), MISHAP_OPENAPI_VALID, NULL },
    { BODY("{\"oneOf\":[]}"), MISHAP_OPENAPI_VALID, NULL },
    { BODY("{\"type\":\"object\",\"required\":[\"b\",\"i\"],\"properties\":{\"i\":{\"readOnly\":"
           "true},"
           "\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"string\"}}}"),
      MISHAP_OPENAPI_VALID, "{\"b\":\"mishap\"}" },
    { BODY("{\"type\":\"object\",\"required\":[\"b\"],\"properties\":{\"a\":{\"type\":\"integer\"},"
           "\"b\":{\"type\":\"string\"}}}"),
      MISHAP_OPENAPI_WRONG_TYPE, "{\"a\":{\"mishap\":true},\"b\":\"mishap\"}" },
    { BODY("{\"type\":\"object\",\"required\":[\"b\"],\"properties\":{\"a\":{\"type\":\"integer\"},"
           "\"b\":{\"type\":\"string\",\"maxLength\":1}}}"),
      MISHAP_OPENAPI_OUT_OF_LIMITS, "{\"b\":\"mi\"}" },
    { DOCUMENT("\"/a\":{\"post\":{\"requestBody\":{\"content\":{\"application/json\":{\"schema\":{"
               "\"$ref\":\"#/s\"}}}}}}",
               ",\"s\":{\"type\":\"object\",\"required\":[\"s\"],\"properties\":{\"s\":{\"$ref\":"
               "\"#/s\"}}}"),
      MISHAP_OPENAPI_VALID, NULL },
    { DOCUMENT(
          "\"/a\":{\"post\":{\"requestBody\":{\"content\":{\"application/json\":{\"schema\":{"
          "\"type\":\"object\",\"required\":[\"s\"],\"properties\":{\"s\":{\"$ref\":\"#/r\"}}}}"
          "}}}}",
          ",\"r\":{\"$ref\":\"#/t\"},\"t\":{\"type\":\"boolean\"}"),
      MISHAP_OPENAPI_VALID, "{\"s\":true}" },
};

static void values_are_made_for_schemas(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        mishap_buffer made = { 0 };
        mishap_text broken = { NULL, 0 };
        read_document(samples[i].text);
        assert_int_equal(document.count, 1);
        bool could = mishap_openapi_sample(&document, document.operations[0].body, samples[i].flaw,
                                           &made, &broken);
        if (could != (samples[i].made != NULL))
            print_message("# %s: %.*s\n", samples[i].text, (int)made.length,
                          made.data ? made.data : "");
        assert_int_equal(could, samples[i].made != NULL);
        if (could)
            assert_text(mishap_buffer_text(&made), samples[i].made);
        mishap_buffer_release(&made);
        mishap_openapi_release(&document);
    }
}

static void values_of_parameters_are_escaped(void **state)
{
    mishap_buffer made = { 0 };
    (void)state;
    read_document(BODY("{\"type\":\"string\",\"enum\":[\"a b/\\u00e9\"]}"));
    assert_true(mishap_openapi_sample_text(&document, document.operations[0].body,
                                           MISHAP_OPENAPI_VALID, &made));
    assert_text(mishap_buffer_text(&made), "a%20b%2F%C3%A9");
    assert_false(mishap_openapi_sample_text(&document, document.operations[0].body,
                                            MISHAP_OPENAPI_WRONG_TYPE, &made));
    mishap_buffer_release(&made);
    mishap_openapi_release(&document);
}

static void references_are_followed_a_bounded_number_of_times(void **state)
{
    char text[2000];
    size_t length = (size_t)snprintf(text, sizeof text, "{\"openapi\":\"3.0.0\",\"paths\":{}");
    (void)state;
    for (int i = 0; i < 30; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   ",\"r%d\":{\"$ref\":\"#/r%d\"}", i, i + 1);
    snprintf(text + length, sizeof text - length, ",\"r30\":{\"type\":\"string\"}}");
    read_document(text);
    char name[8];
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "r%d", i);
        yyjson_val *found = mishap_openapi_resolve(&document, yyjson_obj_get(document.root, name));
        assert_int_equal(found != NULL, 30 - i < 16);
    }
    document.looked = MISHAP_OPENAPI_MOST_LOOKED - 100; /* r30 is behind 32 other names */
    yyjson_val *last = yyjson_obj_get(document.root, "r29");
    for (int i = 0; i < 3; i++)
        assert_non_null(mishap_openapi_resolve(&document, last));
    for (int i = 0; i < 3; i++)
        assert_null(mishap_openapi_resolve(&document, last));
    mishap_openapi_release(&document);
}

/* -- a lack of memory -------------------------------------------------------------------------- */

static void read_and_sample(const void *input)
{
    const sample *one = input;
    mishap_openapi own;
    mishap_buffer made = { 0 };
    mishap_text broken = { NULL, 0 };
    if (!mishap_openapi_read(&own, mishap_text_of(one->text)))
        for (size_t i = 0; i < own.count; i++)
            if (mishap_openapi_sample(&own, own.operations[i].body, one->flaw, &made, &broken) &&
                !made.failed)
                assert_text(mishap_buffer_text(&made), one->made);
    mishap_buffer_release(&made);
    mishap_openapi_release(&own);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(read_and_sample, &samples[26]);
    torture(read_and_sample, &samples[29]);
    mishap_use_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(operations_are_read_in_their_order),
        TEST(what_is_no_document_is_refused),
        TEST(a_path_fits_its_template),
        TEST(values_are_made_for_schemas),
        TEST(values_of_parameters_are_escaped),
        TEST(references_are_followed_a_bounded_number_of_times),
        TEST(every_allocation_may_fail),
    };
    return RUN(tests);
}
