/* Checks whose findings take more steps than a check may have, and rules that are seldom met. */
#include "testing.h"
#include "schema/schema.h"

/* "NAME7":VALUE, */
static void put_member(mishap_buffer *to, unsigned number, const char *value)
{
    MISHAP_PUT(to, "\"a");
    mishap_buffer_put_uint(to, number);
    MISHAP_PUT(to, "\":");
    mishap_buffer_put_text(to, mishap_text_of(value));
    MISHAP_PUT(to, ",");
}

static void telling_many_dependencies_ends(void **state)
{
    (void)state;
    mishap_buffer text = { 0 }, json = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_schema *schema = NULL;
    MISHAP_PUT(&text, "{\"dependentRequired\":{");
    MISHAP_PUT(&json, "{");
    for (unsigned i = 0; i < 4000; i++) {
        put_member(&text, i, "[\"missing\"]");
        put_member(&json, i, "1");
    }
    MISHAP_PUT(&text, "\"b\":[]}}");
    MISHAP_PUT(&json, "\"b\":1}");
    assert_null(mishap_schema_compile(mishap_buffer_text(&text), &schema));
    assert_true(mishap_json_read(&reader, mishap_buffer_text(&json)));
    mishap *m = mishap_schema_check(schema, reader.root);
    assert_non_null(m);
    const mishap_member *left = mishap_public_member(mishap_told(m), "findings_left_out");
    assert_true(left && left->value.integer < 500); /* of 4000: a million steps are over */
    mishap_free(m);
    mishap_schema_free(schema);
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&text);
    mishap_buffer_release(&json);
}

static bool fits(const char *text, const char *json)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_schema *schema = NULL;
    assert_null(mishap_schema_compile(mishap_text_of(text), &schema));
    assert_true(mishap_json_read(&reader, mishap_text_of(json)));
    mishap *m = mishap_schema_check(schema, reader.root);
    bool fine = !m;
    mishap_free(m);
    mishap_schema_free(schema);
    mishap_json_reader_release(&reader);
    return fine;
}

static void seldom_rules_hold(void **state)
{
    (void)state;
    /* a schema that asks for what is not evaluated evaluates nothing by that */
    assert_false(fits("{\"unevaluatedProperties\":false}", "{\"a\":1}"));
    assert_true(fits("{\"allOf\":[{\"unevaluatedProperties\":true}],"
                     "\"unevaluatedProperties\":false}",
                     "{\"a\":1}"));
    /* a pattern that is not judged leaves its member open, also for `not` */
    assert_true(fits("{\"not\":{\"patternProperties\":{\"(a)\\\\1\":{}}}}", "{\"b\":1}"));
    /* in draft 7 an address beside a reference is ignored */
    assert_false(fits("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"properties\":{"
                      "\"x\":{\"$id\":\"http://b/\",\"$ref\":\"#/definitions/s\"}},"
                      "\"definitions\":{\"s\":{\"type\":\"string\"}}}",
                      "{\"x\":1}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(telling_many_dependencies_ends),
        TEST(seldom_rules_hold),
    };
    return RUN(tests);
}
