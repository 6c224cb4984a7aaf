/*
 * A schema and a value: the first line of the input is the schema, the rest is the value. Each
 * finding is complete and valid UTF-8. No value is refused both by a schema and by its opposite,
 * also where parts of it are not judged.
 */
#include "fuzz.h"
#include "mishap/dialect.h"
#include "operation/operation.h"
#include "schema/schema.h"

static mishap *check_with(const char *before, mishap_text json, const char *behind,
                          yyjson_val *value)
{
    mishap_schema *schema = NULL;
    mishap_buffer whole = { 0 };
    mishap_buffer_put_text(&whole, mishap_text_of(before));
    mishap_buffer_put_text(&whole, json);
    mishap_buffer_put_text(&whole, mishap_text_of(behind));
    mishap *m = mishap_schema_compile(mishap_buffer_text(&whole), &schema);
    EXPECT(!m && schema, "no memory");
    m = mishap_schema_check(schema, value);
    EXPECT(!m || !mishap_schema_unread(schema), "a schema that is not judged refuses");
    mishap_schema_free(schema);
    mishap_buffer_release(&whole);
    return m;
}

static void expect_findings(const mishap *m)
{
    mishap_buffer rendered = { 0 };
    const mishap_public *told = mishap_told(m);
    EXPECT(told->code == MISHAP_CODE_VALIDATION_ERROR && told->fields, "nothing is wrong");
    EXPECT(told->field_count <= MISHAP_MOST_FINDINGS, "too many findings");
    expect_utf8(mishap_render(mishap_dialect_find("tool-result"), m, &rendered));
    mishap_buffer_release(&rendered);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_text input = { size ? (const char *)data : "", size };
    const char *end = memchr(input.data, '\n', size);
    mishap_text json = { input.data, end ? (size_t)(end - input.data) : size };
    mishap_text rest = { end ? end + 1 : "", end ? size - json.length - 1 : 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    yyjson_val *at, *value = NULL;
    if (mishap_json_read(&reader, rest) && reader.flaw == MISHAP_JSON_SOUND &&
        mishap_json_first_flaw(&reader, &at) == MISHAP_JSON_SOUND)
        value = reader.root;
    mishap *m = check_with("", json, "", value);
    if (m)
        expect_findings(m);
    /* A reference would mean something else inside of another schema, and so would a draft. */
    if (m && !memchr(json.data, '$', json.length) && !memchr(json.data, '\\', json.length)) {
        mishap *opposite = check_with("{\"not\":", json, "}", value);
        EXPECT(!opposite, "refused both ways");
        mishap_free(opposite);
    }
    mishap_free(m);
    mishap_json_reader_release(&reader);
    return 0;
}
