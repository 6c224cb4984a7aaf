/*
 * A JSON Schema (2020-12) of parameters, for those who want to know beforehand what the checks will
 * say.
 *
 * It says the same as check.c, but for what it cannot say: that null is as good as leaving an
 * optional member out, and that 3.0 is no integer. Where both are possible the schema is the
 * stricter one, so what it accepts will be accepted; 3.0 is the exception.
 */
#include "operation/findings.h"

static void put_bound(mishap_buffer *b, const char *key, double bound)
{
    mishap_value value = mishap_bound(bound);
    if (value.kind == MISHAP_KIND_NONE)
        return;
    mishap_json_key(b, mishap_text_of(key));
    mishap_json_value(b, &value);
}

static void put_limit(mishap_buffer *b, const char *key, size_t limit)
{
    if (limit == 0)
        return;
    mishap_value value = mishap_value_of_uint(limit);
    mishap_json_key(b, mishap_text_of(key));
    mishap_json_value(b, &value);
}

static void put_string_rules(mishap_buffer *b, const mishap_param *param)
{
    /* A required string is not empty. */
    put_limit(b, "minLength", param->required && !param->length.min ? 1 : param->length.min);
    put_limit(b, "maxLength", param->length.max);
    if (param->pattern) {
        MISHAP_JSON_KEY(b, "pattern");
        mishap_json_string(b, mishap_text_of(param->pattern));
    }
}

static void put_choices(mishap_buffer *b, const mishap_param *param)
{
    MISHAP_JSON_KEY(b, "enum");
    mishap_json_open(b, '[');
    for (size_t i = 0; param->choices && param->choices[i]; i++)
        mishap_json_string(b, mishap_text_of(param->choices[i]));
    mishap_json_close(b, ']');
}

/* The value where none is given is JSON already, but perhaps with space in it. */
static void put_default(mishap_buffer *b, const char *initial)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (mishap_json_read(&reader, mishap_text_of(initial))) {
        MISHAP_JSON_KEY(b, "default");
        mishap_json_copy(b, reader.root);
    } else if (reader.flaw == MISHAP_JSON_NO_MEMORY) {
        mishap_buffer_reserve(b, SIZE_MAX); /* fails: half a schema is none */
    }
    mishap_json_reader_release(&reader);
}

static void put_members(mishap_buffer *b, const mishap_param *params);

static void put_param(mishap_buffer *b, const mishap_param *param)
{
    const char *type = mishap_param_type_name(param->type);
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "type");
    mishap_json_string(b, mishap_text_of(type ? type : ""));
    if (param->help) {
        MISHAP_JSON_KEY(b, "description");
        mishap_json_string(b, mishap_text_of(param->help));
    }
    if (param->type == MISHAP_STRING)
        put_string_rules(b, param);
    if (param->type == MISHAP_ENUM)
        put_choices(b, param);
    if ((param->type == MISHAP_INTEGER || param->type == MISHAP_NUMBER) &&
        (param->range.min != 0 || param->range.max != 0)) {
        put_bound(b, "minimum", param->range.min);
        put_bound(b, "maximum", param->range.max);
    }
    if (param->type == MISHAP_ARRAY) {
        put_limit(b, "minItems", param->length.min);
        put_limit(b, "maxItems", param->length.max);
        MISHAP_JSON_KEY(b, "items");
        if (param->items)
            put_param(b, param->items);
        else
            mishap_json_bool(b, true);
    }
    if (param->type == MISHAP_OBJECT && param->members)
        put_members(b, param->members);
    if (param->initial)
        put_default(b, param->initial);
    if (param->secret) {
        MISHAP_JSON_KEY(b, "writeOnly");
        mishap_json_bool(b, true);
    }
    mishap_json_close(b, '}');
}

/* What an object with these members has beside its type. */
static void put_members(mishap_buffer *b, const mishap_param *params)
{
    bool any = false;
    MISHAP_JSON_KEY(b, "properties");
    mishap_json_open(b, '{');
    for (const mishap_param *param = params; param && param->name; param++) {
        mishap_json_key(b, mishap_text_of(param->name));
        put_param(b, param);
        any = any || param->required;
    }
    mishap_json_close(b, '}');
    if (any) {
        MISHAP_JSON_KEY(b, "required");
        mishap_json_open(b, '[');
        for (const mishap_param *param = params; param->name; param++)
            if (param->required)
                mishap_json_string(b, mishap_text_of(param->name));
        mishap_json_close(b, ']');
    }
    MISHAP_JSON_KEY(b, "additionalProperties");
    mishap_json_bool(b, true);
}

void mishap_params_put_schema(mishap_buffer *buffer, const mishap_param *params)
{
    mishap_json_open(buffer, '{');
    MISHAP_JSON_KEY(buffer, "type");
    mishap_json_string(buffer, (mishap_text)MISHAP_TEXT("object"));
    put_members(buffer, params);
    mishap_json_close(buffer, '}');
}
