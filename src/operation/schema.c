/*
 * JSON Schemas (2020-12) of parameters and answers, for clients that check values before a call.
 *
 * It says the same as check.c, but for what it cannot say: that null is as good as leaving an
 * optional member out. Where both are possible the schema is the stricter one, so what it accepts
 * will be accepted.
 */
#include "operation/schema.h"

#include <stdio.h>

#include "operation/findings.h"
#include "operation/format.h"
#include "operation/number.h"
#include "operation/rules.h"
#include "operation/type.h"

/* What a schema is for. What is given is held against the rules, with other members or without; in
 * a brief schema, words stand instead of the rules that they explain. In a form, a file is bytes.
 * Of an answer a required text may be empty, and what is not required may be null. */
enum purpose { GIVEN, GIVEN_CLOSED, GIVEN_BRIEF, GIVEN_IN_FORM, ANSWERED };

static bool is_of_tool(enum purpose purpose)
{
    return purpose == GIVEN_CLOSED || purpose == GIVEN_BRIEF;
}

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

static void put_string_rules(mishap_buffer *b, const mishap_param *param, enum purpose purpose)
{
    /* A required string is not empty. */
    bool not_empty = param->required && purpose != ANSWERED && !param->length.min;
    size_t least = not_empty ? 1 : param->length.min;
    if (purpose == GIVEN_BRIEF && param->looks)
        return;
    put_limit(b, "minLength", purpose == GIVEN_BRIEF && least == 1 ? 0 : least);
    put_limit(b, "maxLength", param->length.max);
    if (param->pattern) {
        MISHAP_JSON_KEY(b, "pattern");
        mishap_json_string(b, mishap_text_of(param->pattern));
    }
    if (param->format) {
        MISHAP_JSON_KEY(b, "format");
        mishap_json_string(b, mishap_text_of(param->format));
    }
}

static void put_choices(mishap_buffer *b, const mishap_param *param, bool nullable)
{
    MISHAP_JSON_KEY(b, "enum");
    mishap_json_open(b, '[');
    mishap_choices_put_items(b, param->choices);
    if (nullable)
        mishap_json_null(b);
    mishap_json_close(b, ']');
}

static void put_type(mishap_buffer *b, mishap_type_of_param type, bool nullable)
{
    const char *name = mishap_param_type_name(type);
    MISHAP_JSON_KEY(b, "type");
    if (nullable)
        mishap_json_open(b, '[');
    mishap_json_string(b, mishap_text_of(name ? name : ""));
    if (nullable) {
        mishap_json_string(b, (mishap_text)MISHAP_TEXT("null"));
        mishap_json_close(b, ']');
    }
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

/* A range that no keyword of JSON Schema can state: of a decimal that is a string. */
static void put_range_words(mishap_buffer *b, const mishap_param *param)
{
    mishap_value min = mishap_bound(param->range.min), max = mishap_bound(param->range.max);
    if (min.kind != MISHAP_KIND_NONE) {
        MISHAP_PUT(b, "; at least ");
        mishap_json_bare(b, &min);
    }
    if (max.kind != MISHAP_KIND_NONE) {
        MISHAP_PUT(b, "; at most ");
        mishap_json_bare(b, &max);
    }
}

void mishap_param_put_words(mishap_buffer *b, const mishap_param *param, bool alone)
{
    const mishap_type_facts *facts = mishap_type_find(param->type);
    bool told = facts && facts->looks && !facts->format; /* the schema has no word for the type */
    const char *looks = alone || told ? mishap_param_looks(param) : param->looks;
    if (param->help)
        mishap_buffer_put_text(b, mishap_text_of(param->help));
    if (looks) {
        const char *before = mishap_looks_name_it(looks)
                                 ? (param->help ? "; " : "It is ")
                                 : (param->help ? "; looks like " : "Expected form: ");
        mishap_buffer_put_text(b, mishap_text_of(before));
        mishap_buffer_put_text(b, mishap_text_of(looks));
    }
    if (told && param->type != MISHAP_DECIMAL_NUMBER &&
        (param->range.min != 0 || param->range.max != 0))
        put_range_words(b, param);
    if (alone && param->choices && param->type == MISHAP_ENUM) {
        mishap_buffer_put_text(b, mishap_text_of(param->help ? "; one of " : "One of "));
        mishap_choices_put_words(b, param->choices);
    }
}

static void put_description(mishap_buffer *b, const mishap_param *param)
{
    mishap_buffer words = { 0 };
    mishap_param_put_words(&words, param, false);
    if (param->rules && words.length)
        MISHAP_PUT(&words, "; ");
    mishap_rules_put_words(&words, param->rules);
    MISHAP_JSON_TEXT_MEMBER(b, "description", mishap_buffer_text(&words));
    b->failed = b->failed || words.failed;
    mishap_buffer_release(&words);
}

/* The pattern of a decimal, or of an amount in one of the currencies. */
static void put_decimal_pattern(mishap_buffer *b, const mishap_param *param)
{
    char digits[80];
    int scale = param->scale ? param->scale : MISHAP_DECIMAL_DIGITS - 1;
    bool money = param->type == MISHAP_MONEY;
    mishap_buffer pattern = { 0 };
    if (money)
        scale = 4;
    snprintf(digits, sizeof digits, "^-?(0|[1-9][0-9]{0,%d})(\\.[0-9]{1,%d})?",
             MISHAP_DECIMAL_DIGITS - 1 - (param->scale ? scale : 0), scale);
    mishap_buffer_put_text(&pattern, mishap_text_of(digits));
    if (money)
        MISHAP_PUT(&pattern, " ");
    for (size_t i = 0; money && param->choices && param->choices[i]; i++) {
        mishap_buffer_put_char(&pattern, i ? '|' : '(');
        mishap_buffer_put_text(&pattern, mishap_text_of(param->choices[i]));
    }
    if (money)
        mishap_buffer_put_text(&pattern, mishap_text_of(param->choices ? ")" : "[A-Z]{3}"));
    MISHAP_PUT(&pattern, "$");
    MISHAP_JSON_KEY(b, "pattern");
    mishap_json_string(b, mishap_buffer_text(&pattern));
    b->failed = b->failed || pattern.failed;
    mishap_buffer_release(&pattern);
}

/* A form has a format of JSON Schema, an encoding or a pattern. Three bytes are four characters. */
static void put_form(mishap_buffer *b, const mishap_param *param)
{
    const char *format = mishap_type_find(param->type)->format;
    if (format) {
        MISHAP_JSON_KEY(b, "format");
        mishap_json_string(b, mishap_text_of(format));
    } else if (param->type == MISHAP_BYTES) {
        MISHAP_JSON_KEY(b, "contentEncoding");
        mishap_json_string(b, (mishap_text)MISHAP_TEXT("base64"));
        put_limit(b, "minLength", (param->length.min + 2) / 3 * 4);
        put_limit(b, "maxLength", (param->length.max + 2) / 3 * 4);
    } else {
        put_decimal_pattern(b, param);
    }
}

static void put_members(mishap_buffer *b, const mishap_param *params, enum purpose purpose);

static void put_param(mishap_buffer *b, const mishap_param *param, enum purpose purpose,
                      bool nullable)
{
    mishap_json_open(b, '{');
    put_type(b, param->type, nullable);
    put_description(b, param);
    if (param->type == MISHAP_STRING)
        put_string_rules(b, param, purpose);
    if (param->type == MISHAP_FILE) {
        bool bytes = purpose == GIVEN_IN_FORM; /* as OpenAPI 3.1 spells it, 4.8.14.3 */
        mishap_json_key(b, mishap_text_of(bytes ? "contentMediaType" : "contentEncoding"));
        mishap_json_string(b, mishap_text_of(bytes ? "application/octet-stream" : "base64"));
    }
    if (param->type == MISHAP_ENUM)
        put_choices(b, param, nullable);
    if (mishap_type_is_form(param->type))
        put_form(b, param);
    if ((param->type == MISHAP_INTEGER || param->type == MISHAP_NUMBER ||
         param->type == MISHAP_DECIMAL_NUMBER) &&
        (param->range.min != 0 || param->range.max != 0)) {
        put_bound(b, "minimum", param->range.min);
        put_bound(b, "maximum", param->range.max);
    }
    if (param->type == MISHAP_MAP) {
        put_limit(b, "minProperties", param->length.min);
        put_limit(b, "maxProperties", param->length.max);
        if (param->items) {
            MISHAP_JSON_KEY(b, "additionalProperties");
            put_param(b, param->items, purpose, false);
        }
    }
    if (param->type == MISHAP_ARRAY) {
        put_limit(b, "minItems", param->length.min);
        put_limit(b, "maxItems", param->length.max);
        MISHAP_JSON_KEY(b, "items");
        if (param->items)
            put_param(b, param->items, purpose, false);
        else
            MISHAP_PUT(b, "{}"); /* some clients do not take `true` for a schema */
    }
    if (param->unique) {
        MISHAP_JSON_KEY(b, "uniqueItems");
        mishap_json_bool(b, true);
    }
    if (param->type == MISHAP_OBJECT && param->members) {
        put_members(b, param->members, purpose);
        mishap_rules_put_schema(b, param->members, param->rules);
    }
    if (param->initial)
        put_default(b, param->initial);
    if (param->secret && purpose != ANSWERED) {
        MISHAP_JSON_KEY(b, "writeOnly");
        mishap_json_bool(b, true);
    }
    if (param->header && is_of_tool(purpose)) {
        MISHAP_JSON_KEY(b, "x-mcp-header");
        mishap_json_string(b, mishap_text_of(param->header));
    }
    mishap_schema_put_words(b, param->schema, is_of_tool(purpose));
    mishap_json_close(b, '}');
}

/* What an object with these members has beside its type, but for those that are left out. */
static void put_members_but(mishap_buffer *b, const mishap_param *params, enum purpose purpose,
                            mishap_param_test *left_out, const void *state)
{
    bool any = false;
    MISHAP_JSON_KEY(b, "properties");
    mishap_json_open(b, '{');
    for (const mishap_param *param = params; param && param->name; param++) {
        if (left_out && left_out(param, state))
            continue;
        mishap_json_key(b, mishap_text_of(param->name));
        put_param(b, param, purpose, param->nullable || (purpose == ANSWERED && !param->required));
        any = any || param->required;
    }
    mishap_json_close(b, '}');
    if (any) {
        MISHAP_JSON_KEY(b, "required");
        mishap_json_open(b, '[');
        for (const mishap_param *param = params; param->name; param++)
            if (param->required && !(left_out && left_out(param, state)))
                mishap_json_string(b, mishap_text_of(param->name));
        mishap_json_close(b, ']');
    }
    MISHAP_JSON_KEY(b, "additionalProperties");
    mishap_json_bool(b, purpose != GIVEN_CLOSED && purpose != GIVEN_BRIEF);
}

static void put_members(mishap_buffer *b, const mishap_param *params, enum purpose purpose)
{
    put_members_but(b, params, purpose, NULL, NULL);
}

static void put_object(mishap_buffer *b, const mishap_param *params, enum purpose purpose)
{
    mishap_json_open(b, '{');
    put_type(b, MISHAP_OBJECT, false);
    put_members_but(b, params, purpose, NULL, NULL);
    mishap_json_close(b, '}');
}

void mishap_params_put_schema(mishap_buffer *buffer, const mishap_param *params)
{
    put_object(buffer, params, GIVEN);
}

void mishap_params_put_tool_schema(mishap_buffer *buffer, const mishap_param *params,
                                   const char *words, bool brief)
{
    mishap_json_open(buffer, '{');
    put_type(buffer, MISHAP_OBJECT, false);
    put_members(buffer, params, brief ? GIVEN_BRIEF : GIVEN_CLOSED);
    mishap_schema_put_words(buffer, words, true);
    mishap_json_close(buffer, '}');
}

/* All parameters of the rule are in the schema. */
static bool is_stated(const mishap_param *params, const mishap_relation *rule,
                      mishap_param_test *left_out, const void *state)
{
    for (size_t i = 0; rule->fields[i]; i++) {
        const mishap_param *param = mishap_param_find(params, mishap_text_of(rule->fields[i]));
        if (!param || left_out(param, state))
            return false;
    }
    return true;
}

/* False if a parameter is not in the schema. */
static bool has_all(const mishap_param *params, mishap_param_test *left_out, const void *state)
{
    for (; params && params->name; params++)
        if (left_out(params, state))
            return false;
    return true;
}

void mishap_params_put_schema_but(mishap_buffer *buffer, const mishap_operation *operation,
                                  mishap_param_test *left_out, const void *state)
{
    const mishap_param *params = operation->params;
    const mishap_relation *rules = operation->rules, *first = rules;
    mishap_json_open(buffer, '{');
    put_type(buffer, MISHAP_OBJECT, false);
    put_members_but(buffer, params, GIVEN, left_out, state);
    while (first && first->kind && is_stated(params, first, left_out, state))
        first++;
    if (first && !first->kind) /* half of the rules would look like all of them */
        mishap_rules_put_schema(buffer, params, rules);
    if (has_all(params, left_out, state))
        mishap_schema_put_words(buffer, operation->schema, false);
    mishap_json_close(buffer, '}');
}

void mishap_params_put_form_schema(mishap_buffer *buffer, const mishap_param *params,
                                   mishap_param_test *left_out, const void *state)
{
    mishap_json_open(buffer, '{');
    put_type(buffer, MISHAP_OBJECT, false);
    put_members_but(buffer, params, GIVEN_IN_FORM, left_out, state);
    mishap_json_close(buffer, '}');
}

void mishap_param_put_schema(mishap_buffer *buffer, const mishap_param *param)
{
    put_param(buffer, param, GIVEN, false);
}

void mishap_answers_put_schema(mishap_buffer *buffer, const mishap_param *answers)
{
    put_object(buffer, answers, ANSWERED);
}

void mishap_answers_put_names(mishap_buffer *buffer, const mishap_param *answers)
{
    mishap_json_open(buffer, '{');
    put_type(buffer, MISHAP_OBJECT, false);
    MISHAP_JSON_KEY(buffer, "properties");
    mishap_json_open(buffer, '{');
    for (const mishap_param *member = answers; member->name; member++) {
        mishap_json_key(buffer, mishap_text_of(member->name));
        MISHAP_PUT(buffer, "{}");
    }
    mishap_json_close(buffer, '}');
    mishap_json_close(buffer, '}');
}
