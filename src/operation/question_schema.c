/* The schema of an answer to a question, in the few words that forms of MCP clients have: no
 * pattern, no nesting, four formats. The checks of the answer know the rest. */
#include "operation/asking.h"

#include "base/memory.h"
#include "operation/findings.h"
#include "operation/number.h"
#include "operation/type.h"

static void put_number(mishap_buffer *b, const char *key, mishap_value number)
{
    if (number.kind == MISHAP_KIND_NONE)
        return;
    mishap_json_key(b, mishap_text_of(key));
    mishap_json_value(b, &number);
}

static void put_size(mishap_buffer *b, const char *key, size_t size)
{
    put_number(b, key, size ? mishap_value_of_uint(size) : mishap_value_none());
}

static bool has_format(const char *format)
{
    static const char *const formats[] = { "email", "uri", "date", "date-time" };
    for (size_t i = 0; format && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i], format) == 0)
            return true;
    return false;
}

static void put_string_rules(mishap_buffer *b, const mishap_param *param)
{
    const char *format = mishap_type_is_form(param->type) ? mishap_type_find(param->type)->format
                                                          : param->format;
    put_size(b, "minLength", param->length.min);
    put_size(b, "maxLength", param->length.max);
    if (!has_format(format))
        return;
    MISHAP_JSON_KEY(b, "format");
    mishap_json_string(b, mishap_text_of(format));
}

static void put_choices(mishap_buffer *b, const mishap_param *param)
{
    MISHAP_JSON_KEY(b, "enum");
    mishap_json_open(b, '[');
    mishap_choices_put_items(b, param->choices);
    mishap_json_close(b, ']');
}

static void put_items(mishap_buffer *b, const mishap_param *param)
{
    put_size(b, "minItems", param->length.min);
    put_size(b, "maxItems", param->length.max);
    MISHAP_JSON_KEY(b, "items");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "type");
    mishap_json_string(b, (mishap_text)MISHAP_TEXT("string"));
    put_choices(b, param->items);
    mishap_json_close(b, '}');
}

/* The type in a schema, whose name in findings may say more. */
static mishap_text type_of(const mishap_param *param)
{
    switch (param->type) {
    case MISHAP_INTEGER:
        return (mishap_text)MISHAP_TEXT("integer");
    case MISHAP_NUMBER:
        return (mishap_text)MISHAP_TEXT("number");
    case MISHAP_BOOLEAN:
        return (mishap_text)MISHAP_TEXT("boolean");
    case MISHAP_ARRAY:
        return (mishap_text)MISHAP_TEXT("array");
    default:
        return (mishap_text)MISHAP_TEXT("string");
    }
}

static void put_param(mishap_buffer *b, const mishap_param *param)
{
    mishap_json_key(b, mishap_text_of(param->name));
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "type");
    mishap_json_string(b, type_of(param));
    if (param->help) {
        MISHAP_JSON_KEY(b, "description");
        mishap_json_string(b, mishap_text_of(param->help));
    }
    if (param->type == MISHAP_STRING || mishap_type_is_form(param->type))
        put_string_rules(b, param);
    if (param->type == MISHAP_ENUM)
        put_choices(b, param);
    if (param->type == MISHAP_ARRAY)
        put_items(b, param);
    if (param->range.min != 0 || param->range.max != 0) {
        put_number(b, "minimum", mishap_bound(param->range.min));
        put_number(b, "maximum", mishap_bound(param->range.max));
    }
    if (param->initial) {
        MISHAP_JSON_KEY(b, "default");
        mishap_buffer_put_text(b, mishap_text_of(param->initial));
    }
    mishap_json_close(b, '}');
}

void mishap_question_put_schema(mishap_buffer *b, const mishap_question *question)
{
    bool any = false;
    MISHAP_PUT(b, "{\"type\":\"object\",\"properties\":{");
    for (const mishap_param *p = question->params; p && p->name; p++) {
        put_param(b, p);
        any = any || p->required;
    }
    mishap_json_close(b, '}');
    if (any) {
        MISHAP_JSON_KEY(b, "required");
        mishap_json_open(b, '[');
        for (const mishap_param *p = question->params; p->name; p++)
            if (p->required)
                mishap_json_string(b, mishap_text_of(p->name));
        mishap_json_close(b, ']');
    }
    mishap_json_close(b, '}');
}

const mishap_param mishap_asking_params[] = {
    { "_state", MISHAP_STRING, .help = "To answer questions: their `state`" },
    { "_answers", MISHAP_OBJECT, .help = "{\"QUESTION\":{…}}, or {\"QUESTION\":null} to decline" },
    { 0 },
};

mishap_param *mishap_params_join(const mishap_param *first, const mishap_param *second,
                                 const mishap_param *third)
{
    const mishap_param *const lists[] = { first, second, third };
    size_t count = 0;
    for (size_t i = 0; i < 3; i++)
        count += mishap_param_count(lists[i]);
    mishap_param *all = mishap_allocate((count + 1) * sizeof *all), *at = all;
    if (!all)
        return NULL;
    for (size_t i = 0; i < 3; i++)
        for (const mishap_param *p = lists[i]; p && p->name; p++)
            *at++ = *p;
    *at = (mishap_param){ 0 };
    return all;
}
