/*
 * Words of JSON Schema that a declaration adds to its schema: `.schema` of a parameter or an
 * operation. They are written behind the words that schema.c makes, and never repeat one of those.
 */
#include "operation/declare.h"
#include "operation/findings.h"
#include "operation/schema.h"

/* -- writing ----------------------------------------------------------------------------------- */

/* True if a word is about other places of its document, such as $ref. In the description of an HTTP
 * API these places are others than in a schema by itself. */
static bool has_reference(yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (yyjson_is_arr(value)) {
        MISHAP_JSON_ITEMS (value, index, count, item)
            if (has_reference(item))
                return true;
    } else if (yyjson_is_obj(value)) {
        MISHAP_JSON_MEMBERS (value, index, count, key, item)
            if ((*yyjson_get_str(key) == '$' && !MISHAP_JSON_IS(key, "$comment")) ||
                has_reference(item))
                return true;
    }
    return false;
}

void mishap_schema_put_words(mishap_buffer *b, const char *schema, bool alone)
{
    size_t index, count;
    yyjson_val *key, *value;
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (!schema)
        return;
    if (!mishap_json_read(&reader, mishap_text_of(schema))) {
        if (reader.flaw == MISHAP_JSON_NO_MEMORY)
            mishap_buffer_reserve(b, SIZE_MAX); /* fails: half a schema is none */
    } else if (alone || !has_reference(reader.root)) {
        MISHAP_JSON_MEMBERS (reader.root, index, count, key, value) {
            mishap_json_key(b, mishap_json_text(key));
            mishap_json_copy(b, value);
        }
    }
    mishap_json_reader_release(&reader);
}

/* -- checking ---------------------------------------------------------------------------------- */

/* Words that the library writes, and the members of a declaration that they are made of: those are
 * checked at every call. */
static const struct {
    const char *word, *member;
} written[] = {
    { "type", ".type" },
    { "description", ".help" },
    { "minLength", ".length" },
    { "maxLength", ".length" },
    { "minItems", ".length" },
    { "maxItems", ".length" },
    { "minProperties", ".length" },
    { "maxProperties", ".length" },
    { "pattern", ".pattern" },
    { "format", ".format" },
    { "enum", ".choices" },
    { "const", ".choices" },
    { "minimum", ".range" },
    { "maximum", ".range" },
    { "items", ".items" },
    { "properties", ".members" },
    { "required", ".required" },
    { "additionalProperties", ".items" },
    { "uniqueItems", ".unique" },
    { "default", ".initial" },
    { "writeOnly", ".secret" },
    { "contentEncoding", ".type" },
    { "contentMediaType", ".type" },
    { "x-mcp-header", ".header" },
};

static mishap *check_word(const mishap_declared *what, yyjson_val *key)
{
    const mishap_operation *operation = what->operation;
    const char *word = yyjson_get_str(key);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (strcmp(written[i].word, word) == 0)
            return mishap_declared_wrongly(
                what, "has a `.schema` with `%s`; declare `%s` instead, which is checked, too",
                word, what->param ? written[i].member : ".params");
    if (strcmp(word, "allOf") == 0 && !what->param && operation && operation->rules)
        return mishap_declared_wrongly(what, "has `.rules`, and a `.schema` with `allOf`, which "
                                             "those are written as");
    return NULL;
}

static mishap *check_dialect(const mishap_declared *what, yyjson_val *schema)
{
    yyjson_val *dialect = yyjson_obj_get(schema, "$schema");
    return !dialect || yyjson_equals_str(dialect, "https://json-schema.org/draft/2020-12/schema")
               ? NULL
               : mishap_declared_wrongly(what, "has a `.schema` whose `$schema` is not that of "
                                               "2020-12, which all schemas are");
}

/* Examples must be accepted. */
static mishap *check_samples(const mishap_declared *what, const mishap_param *param,
                             yyjson_val *samples)
{
    size_t index, count;
    yyjson_val *sample;
    mishap *m = NULL;
    if (!samples || !param)
        return NULL;
    if (!yyjson_is_arr(samples))
        return mishap_declared_wrongly(what, "has a `.schema` whose `examples` are no array");
    MISHAP_JSON_ITEMS (samples, index, count, sample) {
        mishap_findings findings = { 0 };
        mishap_spot spot = { .name = mishap_text_of(param->name) };
        mishap_expect_param(&findings, &spot, param, sample);
        mishap *found = m ? NULL : mishap_findings_end(&findings);
        const mishap_field *first = found ? mishap_told(found)->fields : NULL;
        if (found)
            m = mishap_declared_wrongly(what, "has an example that breaks its own rules: %s",
                                        first ? first->error.data : "");
        mishap_free(found);
        if (m)
            break;
    }
    return m;
}

mishap *mishap_schema_declared(const mishap_declared *what, const mishap_param *param,
                               const char *schema)
{
    size_t index, count;
    yyjson_val *key, *value;
    mishap *m = NULL;
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (!schema || what->shape_only)
        return NULL;
    bool read = mishap_json_read(&reader, mishap_text_of(schema));
    if (!read && reader.flaw == MISHAP_JSON_NO_MEMORY)
        m = mishap_out_of_memory();
    else if (!read)
        m = mishap_declared_wrongly(what, "has a `.schema` that is not JSON: %s", reader.problem);
    else if (!yyjson_is_obj(reader.root))
        m = mishap_declared_wrongly(what, "has a `.schema` that is not a JSON object");
    if (!m) {
        MISHAP_JSON_MEMBERS (reader.root, index, count, key, value)
            if ((m = check_word(what, key)))
                break;
    }
    if (!m)
        m = check_dialect(what, reader.root);
    if (!m)
        m = check_samples(what, param, yyjson_obj_get(reader.root, "examples"));
    mishap_json_reader_release(&reader);
    return m;
}
