/* Rules across parameters for people, and for JSON Schema. */
#include "operation/rules.h"

#include "operation/type.h"

/* -- words ------------------------------------------------------------------------------------- */

static void put_word(mishap_buffer *b, const char *word)
{
    mishap_buffer_put_text(b, mishap_text_of(word));
}

static void put_names(mishap_buffer *b, const char *const *fields)
{
    for (size_t i = 0; fields[i]; i++) {
        put_word(b, !i ? "" : fields[i + 1] ? ", " : " and ");
        put_word(b, fields[i]);
    }
}

bool mishap_rule_put_words(mishap_buffer *b, const mishap_relation *rule)
{
    switch (rule->kind) {
    case MISHAP_RELATION_AFTER:
    case MISHAP_RELATION_NOT_BEFORE:
        put_word(b, rule->fields[0]);
        put_word(b,
                 rule->kind == MISHAP_RELATION_AFTER ? " must be after " : " must not be before ");
        put_word(b, rule->fields[1]);
        break;
    case MISHAP_RELATION_EXACTLY_ONE:
    case MISHAP_RELATION_AT_LEAST_ONE:
        put_word(b, rule->kind == MISHAP_RELATION_EXACTLY_ONE ? "exactly one of "
                                                              : "at least one of ");
        put_names(b, rule->fields);
        put_word(b, " must be given");
        break;
    case MISHAP_RELATION_REQUIRED_IF:
        put_word(b, rule->fields[0]);
        put_word(b, " is required if ");
        put_word(b, rule->fields[1]);
        put_word(b, " is ");
        put_word(b, rule->value ? rule->value : "given");
        break;
    case MISHAP_RELATION_FUNCTION:
        if (rule->words)
            put_word(b, rule->words);
        return rule->words;
    }
    return true;
}

void mishap_rules_put_words(mishap_buffer *b, const mishap_relation *rules)
{
    bool any = false;
    for (; rules && rules->kind; rules++) {
        size_t before = b->length;
        put_word(b, any ? "; " : "");
        if (mishap_rule_put_words(b, rules))
            any = true;
        else if (!b->failed)
            b->length = before;
    }
}

/* -- schema ------------------------------------------------------------------------------------ */

static void put_required_name(mishap_buffer *b, const char *field)
{
    MISHAP_JSON_KEY(b, "required");
    mishap_json_open(b, '[');
    mishap_json_string(b, mishap_text_of(field));
    mishap_json_close(b, ']');
}

static void put_required(mishap_buffer *b, const char *field)
{
    mishap_json_open(b, '{');
    put_required_name(b, field);
    mishap_json_close(b, '}');
}

/* Linters of OpenAPI ask that a `then` names the property that it requires. */
static void put_consequence(mishap_buffer *b, const char *field)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "properties");
    mishap_json_open(b, '{');
    mishap_json_key(b, mishap_text_of(field));
    mishap_json_open(b, '{');
    mishap_json_close(b, '}');
    mishap_json_close(b, '}');
    put_required_name(b, field);
    mishap_json_close(b, '}');
}

static void put_choice_of(mishap_buffer *b, const mishap_relation *rule)
{
    mishap_json_open(b, '{');
    mishap_json_key(b,
                    mishap_text_of(rule->kind == MISHAP_RELATION_EXACTLY_ONE ? "oneOf" : "anyOf"));
    mishap_json_open(b, '[');
    for (size_t i = 0; rule->fields[i]; i++)
        put_required(b, rule->fields[i]);
    mishap_json_close(b, ']');
    mishap_json_close(b, '}');
}

/* A value of a type that is a string in JSON has quotes. */
static void put_condition(mishap_buffer *b, const mishap_param *params, const mishap_relation *rule)
{
    const mishap_param *other = mishap_param_find(params, mishap_text_of(rule->fields[1]));
    const char *json = other ? mishap_param_type_name(other->type) : NULL;
    mishap_text value = mishap_text_of(rule->value);
    mishap_json_open(b, '{');
    if (rule->value) {
        MISHAP_JSON_KEY(b, "properties");
        mishap_json_open(b, '{');
        mishap_json_key(b, mishap_text_of(rule->fields[1]));
        mishap_json_open(b, '{');
        MISHAP_JSON_KEY(b, "const");
        if (json && strcmp(json, "string") == 0)
            mishap_json_string(b, value);
        else
            mishap_buffer_put_text(b, value);
        mishap_json_close(b, '}');
        mishap_json_close(b, '}');
    }
    if (!rule->value || !other || !other->initial) /* a default counts as given */
        put_required_name(b, rule->fields[1]);
    mishap_json_close(b, '}');
}

void mishap_rules_put_schema(mishap_buffer *b, const mishap_param *params,
                             const mishap_relation *rules)
{
    bool any = false;
    for (; rules && rules->kind; rules++) {
        if (rules->kind < MISHAP_RELATION_EXACTLY_ONE || rules->kind > MISHAP_RELATION_REQUIRED_IF)
            continue;
        if (!any) {
            MISHAP_JSON_KEY(b, "allOf");
            mishap_json_open(b, '[');
        }
        any = true;
        if (rules->kind != MISHAP_RELATION_REQUIRED_IF) {
            put_choice_of(b, rules);
            continue;
        }
        mishap_json_open(b, '{');
        MISHAP_JSON_KEY(b, "if");
        put_condition(b, params, rules);
        MISHAP_JSON_KEY(b, "then");
        put_consequence(b, rules->fields[0]);
        mishap_json_close(b, '}');
    }
    if (any)
        mishap_json_close(b, ']');
}
