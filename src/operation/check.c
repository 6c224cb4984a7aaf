/*
 * Check the parameters of a call: iterate over the declaration, in its order, and check each value.
 *
 * - A value that is missing or null counts as absent: a finding if it is required, else it is not
 *   checked further. For a required value the empty string counts as absent, too. An item of an
 *   array is always there, so null has the wrong type.
 * - If the type of a value is wrong, nothing else is reported. Else each rule is checked, in the
 *   order length, range, pattern.
 * - A string must not contain NUL: a handler that gets it as a C string would see only its
 *   beginning.
 * - Undeclared members are ignored here: unknown.c handles them.
 * - If a key occurs twice, the first counts, as in yyjson_obj_get().
 */
#include "base/memory.h"
#include "operation/findings.h"
#include "operation/members.h"
#include "operation/rules.h"

enum { SHOWN_NAME = 64 }; /* bytes of a name that a caller has chosen */

/* -- walking the declaration ------------------------------------------------------------------- */

static bool is_empty(const mishap_findings *findings, yyjson_val *value)
{
    return !findings->answered && yyjson_equals_str(value, "");
}

static void check_member(mishap_findings *findings, const mishap_spot *outer,
                         const mishap_param *param, yyjson_val *value)
{
    mishap_spot spot = { outer, mishap_text_of(param->name), 0, outer ? outer->depth + 1 : 0,
                         param->secret || (outer && outer->secret) };
    bool there = value && !yyjson_is_null(value);
    if (param->required && (!there || is_empty(findings, value)))
        mishap_miss(findings, &spot, param);
    else if (there)
        mishap_expect_param(findings, &spot, param, value);
}

static void check_object(mishap_findings *findings, const mishap_spot *outer,
                         const mishap_param *params, const mishap_relation *rules,
                         yyjson_val *object)
{
    yyjson_val *few[MISHAP_MEMBERS_FEW], **values = few;
    mishap_members members = mishap_members_of(params);
    if (members.count > MISHAP_MEMBERS_FEW) {
        values = mishap_allocate(members.count * sizeof *values + mishap_members_room(&members));
        if (!values) {
            findings->no_memory = true;
            return;
        }
        members.table = (uint32_t *)(void *)(values + members.count);
    }
    mishap_members_values(&members, object, values);
    for (size_t i = 0; i < members.count && !findings->failure; i++)
        check_member(findings, outer, &params[i], values[i]);
    if (rules && !findings->failure && !findings->answered)
        mishap_expect_rules(findings, outer, params, rules, values);
    if (values != few)
        mishap_release(values);
}

static void check_items(mishap_findings *findings, const mishap_spot *outer,
                        const mishap_param *param, yyjson_val *array)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (array, index, count, item) {
        mishap_spot spot = {
            outer, { NULL, 0 }, index, outer->depth + 1, outer->secret || param->secret
        };
        if (param->required && (yyjson_is_null(item) || is_empty(findings, item)))
            mishap_miss(findings, &spot, param);
        else
            mishap_expect_param(findings, &spot, param, item);
        if (findings->failure)
            break;
    }
}

/* The values of a map. Its names are not shown if it is secret. */
static void check_values(mishap_findings *findings, const mishap_spot *outer,
                         const mishap_param *param, yyjson_val *map)
{
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (map, index, count, key, value) {
        mishap_spot spot = { outer, mishap_json_text(key), 0, outer->depth + 1,
                             outer->secret || param->secret };
        spot.name.length = mishap_utf8_cut(spot.name, SHOWN_NAME);
        if (outer->secret)
            spot = (mishap_spot){ outer, { NULL, 0 }, index, spot.depth, true };
        if (param->required && (yyjson_is_null(value) || is_empty(findings, value)))
            mishap_miss(findings, &spot, param);
        else
            mishap_expect_param(findings, &spot, param, value);
        if (findings->failure)
            break;
    }
}

static bool limits_range(const mishap_param *param)
{
    return param->range.min != 0 || param->range.max != 0;
}

void mishap_expect_param(mishap_findings *findings, const mishap_spot *spot,
                         const mishap_param *param, yyjson_val *value)
{
    if (!mishap_expect_type(findings, spot, param->type, value))
        return;
    /* A declaration may contain itself by mistake; then the values decide how deep this goes. */
    if (spot->depth > MISHAP_JSON_MAX_DEPTH) {
        findings->failure = mishap_raise(BAD_REQUEST, "Values are nested more than %d levels deep.",
                                         MISHAP_JSON_MAX_DEPTH);
        return;
    }
    bool holds = true;
    if (param->type == MISHAP_STRING || param->type == MISHAP_ARRAY || param->type == MISHAP_MAP)
        holds = mishap_expect_length(findings, spot, param->length.min, param->length.max, value);
    switch (param->type) {
    case MISHAP_STRING:
        if (!findings->answered && !mishap_expect_text(findings, spot, value))
            break;
        if (param->pattern)
            holds = mishap_expect_pattern(findings, spot, param->pattern, param->looks, !holds,
                                          value) &&
                    holds;
        if (param->format && holds)
            mishap_expect_format(findings, spot, param->format, param->looks, value);
        break;
    case MISHAP_INTEGER:
    case MISHAP_NUMBER:
        mishap_expect_range(findings, spot, limits_range(param) ? param->range.min : -INFINITY,
                            limits_range(param) ? param->range.max : INFINITY, param->type, value);
        break;
    case MISHAP_ENUM:
        mishap_expect_choice(findings, spot, param->choices, value);
        break;
    case MISHAP_ARRAY:
        if (param->items)
            check_items(findings, spot, param->items, value);
        if (param->unique && !findings->failure)
            mishap_expect_unique(findings, spot, value);
        break;
    case MISHAP_OBJECT:
        check_object(findings, spot, param->members, param->rules, value);
        break;
    case MISHAP_FILE:
        mishap_expect_file(findings, spot, param->length.min, param->length.max, value);
        break;
    case MISHAP_MAP:
        if (param->items)
            check_values(findings, spot, param->items, value);
        break;
    default:
        mishap_expect_form(findings, spot, param, value);
        break;
    case MISHAP_BOOLEAN:
        break;
    }
}

void mishap_expect_members(mishap_findings *findings, const mishap_param *params,
                           const mishap_relation *rules, yyjson_val *object)
{
    check_object(findings, NULL, params, rules, object);
}

mishap *mishap_params_check(const mishap_param *params, yyjson_val *object)
{
    return mishap_arguments_check(params, NULL, object);
}

mishap *mishap_arguments_check(const mishap_param *params, const mishap_relation *rules,
                               yyjson_val *object)
{
    mishap_findings findings = { .declared = true };
    if (!yyjson_is_obj(object))
        return mishap_raise(BAD_REQUEST, "The parameters must be a JSON object.");
    check_object(&findings, NULL, params, rules, object);
    return mishap_findings_end(&findings);
}

mishap *mishap_answers_check(const mishap_param *answers, yyjson_val *object)
{
    mishap_findings findings = { .declared = true, .answered = true };
    check_object(&findings, NULL, answers, NULL, object);
    return mishap_findings_end(&findings);
}
