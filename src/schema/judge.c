/*
 * Does a value fit a schema? Nothing is written here, no memory is taken, and the first rule that
 * fails ends it: this is what a call that is right pays for.
 */
#include "schema/keywords.h"

#include "operation/number.h"

unsigned mishap_schema_types_of(yyjson_val *value)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_BOOL:
        return TYPE_BOOLEAN;
    case YYJSON_TYPE_NUM:
    case YYJSON_TYPE_RAW:
        return mishap_number_is_integer(value) ? TYPE_NUMBER | TYPE_INTEGER : TYPE_NUMBER;
    case YYJSON_TYPE_STR:
        return TYPE_STRING;
    case YYJSON_TYPE_ARR:
        return TYPE_ARRAY;
    case YYJSON_TYPE_OBJ:
        return TYPE_OBJECT;
    default:
        return TYPE_NULL;
    }
}

schema_verdict mishap_schema_typed(const schema_node *node, yyjson_val *value)
{
    if (!node->types || (node->types & mishap_schema_types_of(value)))
        return SCHEMA_FITS;
    /* 1e400 is an integer, 1e-400 is none: such a number is not worked out. */
    return (node->types & TYPE_INTEGER) && yyjson_is_raw(value) ? SCHEMA_OPEN : SCHEMA_FAILS;
}

/* -- strings and numbers ----------------------------------------------------------------------- */

schema_verdict mishap_schema_matches(schema_run *run, const schema_pattern *pattern,
                                     mishap_text text)
{
    /* A search can go through the rest of the text at each of its characters. */
    if (!pattern->compiled || run->tired || text.length > MISHAP_SCHEMA_MOST_TEXT ||
        !mishap_schema_charge(run, 16 + text.length * text.length / 256))
        return SCHEMA_OPEN;
    switch (mishap_pattern_match(pattern->compiled, text)) {
    case MISHAP_MATCH_YES:
        return SCHEMA_FITS;
    case MISHAP_MATCH_NO:
        return SCHEMA_FAILS;
    case MISHAP_MATCH_GAVE_UP:
        break;
    }
    run->tired = true;
    return SCHEMA_OPEN;
}

static schema_verdict judge_string(schema_run *run, const schema_strings *strings, mishap_text text)
{
    /* A character has at most four bytes: most lengths need not be counted. */
    if (text.length / 4 < strings->min || text.length > strings->max) {
        size_t count = mishap_schema_charge(run, text.length / 64) ? mishap_utf8_count(text)
                                                                   : SIZE_MAX;
        if (count == SIZE_MAX)
            return SCHEMA_OPEN;
        if (count < strings->min || count > strings->max)
            return SCHEMA_FAILS;
    }
    if (strings->format && !mishap_schema_charge(run, text.length / 64))
        return SCHEMA_OPEN;
    if (strings->format && !strings->format->holds(text))
        return SCHEMA_FAILS;
    return strings->pattern ? mishap_schema_matches(run, strings->pattern, text) : SCHEMA_FITS;
}

static schema_verdict judge_number(const schema_numbers *numbers, yyjson_val *value)
{
    schema_verdict verdict = SCHEMA_FITS;
    const struct {
        yyjson_val *bound;
        int least, most;
    } rules[] = { { numbers->min, 0, 1 },
                  { numbers->max, -1, 0 },
                  { numbers->above, 1, 1 },
                  { numbers->below, -1, -1 } };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!rules[i].bound)
            continue;
        int order = mishap_schema_compare(value, rules[i].bound);
        if (order == 2)
            verdict = SCHEMA_OPEN;
        else if (order < rules[i].least || order > rules[i].most)
            return SCHEMA_FAILS;
    }
    return numbers->multiple
               ? mishap_schema_both(verdict, mishap_schema_multiple(value, numbers->multiple))
               : verdict;
}

schema_verdict mishap_schema_chosen(schema_run *run, const schema_node *node, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *item;
    schema_verdict verdict = node->constant ? mishap_schema_equal(run, node->constant, value)
                                            : SCHEMA_FITS;
    if (!node->choices || verdict == SCHEMA_FAILS)
        return verdict;
    schema_verdict best = SCHEMA_FAILS;
    MISHAP_JSON_ITEMS (node->choices, index, count, item) {
        schema_verdict same = mishap_schema_equal(run, item, value);
        if (same < best)
            best = same;
        if (best == SCHEMA_FITS)
            break;
    }
    return mishap_schema_both(verdict, best);
}

/* -- arrays ------------------------------------------------------------------------------------ */

schema_verdict mishap_schema_count_contained(schema_run *run, const schema_arrays *arrays,
                                             yyjson_val *value, size_t *count_of)
{
    size_t index, count, fit = 0, open = 0;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (value, index, count, item) {
        schema_verdict verdict = mishap_schema_judge(run, arrays->contains, item);
        fit += verdict == SCHEMA_FITS;
        open += verdict == SCHEMA_OPEN;
    }
    *count_of = fit;
    if (fit + open < arrays->contains_min || fit > arrays->contains_max)
        return SCHEMA_FAILS;
    return fit >= arrays->contains_min && fit + open <= arrays->contains_max ? SCHEMA_FITS
                                                                             : SCHEMA_OPEN;
}

static schema_verdict judge_array(schema_run *run, const schema_node *node, yyjson_val *value)
{
    size_t index, count, first, second;
    yyjson_val *item;
    const schema_arrays *arrays = node->arrays;
    schema_verdict verdict = SCHEMA_FITS;
    if (yyjson_arr_size(value) < arrays->min || yyjson_arr_size(value) > arrays->max)
        return SCHEMA_FAILS;
    bool looks = arrays->prefix.count || arrays->rest || arrays->unevaluated;
    MISHAP_JSON_ITEMS (looks ? value : NULL, index, count, item) {
        const schema_node *rule = index < arrays->prefix.count ? arrays->prefix.nodes[index]
                                                               : arrays->rest;
        schema_verdict one = rule ? mishap_schema_judge(run, rule, item) : SCHEMA_FITS;
        if (arrays->unevaluated && !rule) {
            schema_verdict seen = mishap_schema_evaluates_item(run, node, node, value, index, item);
            one = seen == SCHEMA_FITS ? SCHEMA_FITS
                                      : mishap_schema_judge(run, arrays->unevaluated, item);
            one = seen == SCHEMA_OPEN && one == SCHEMA_FAILS ? SCHEMA_OPEN : one;
        }
        verdict = mishap_schema_both(verdict, one);
        if (verdict == SCHEMA_FAILS || !run->steps)
            return mishap_schema_both(verdict, SCHEMA_OPEN);
    }
    if (arrays->contains)
        verdict = mishap_schema_both(verdict,
                                     mishap_schema_count_contained(run, arrays, value, &first));
    if (arrays->unique && verdict != SCHEMA_FAILS)
        verdict = mishap_schema_both(verdict, mishap_schema_unique(run, value, &first, &second));
    return verdict;
}

/* -- objects ----------------------------------------------------------------------------------- */

const schema_property *mishap_schema_find_property(const schema_objects *objects, mishap_text name)
{
    size_t low = 0, high = objects->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = mishap_schema_order_names(objects->properties[middle].name, name);
        if (order == 0)
            return &objects->properties[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

schema_verdict mishap_schema_judge_member(schema_run *run, const schema_objects *objects,
                                          yyjson_val *key, yyjson_val *value, schema_member *member)
{
    mishap_text name = mishap_json_text(key);
    schema_verdict verdict = SCHEMA_FITS, matched = SCHEMA_FAILS;
    *member = (schema_member){ .property = mishap_schema_find_property(objects, name) };
    if (member->property && member->property->node) {
        verdict = mishap_schema_judge(run, member->property->node, value);
        matched = SCHEMA_FITS;
    }
    for (size_t i = 0; i < objects->pattern_count && verdict != SCHEMA_FAILS; i++) {
        schema_verdict fits = mishap_schema_matches(run, objects->patterns[i].pattern, name);
        if (fits < matched)
            matched = fits;
        if (fits == SCHEMA_FITS)
            verdict = mishap_schema_both(
                verdict, mishap_schema_judge(run, objects->patterns[i].node, value));
        else if (fits == SCHEMA_OPEN)
            verdict = mishap_schema_both(verdict, SCHEMA_OPEN);
    }
    if (matched == SCHEMA_FAILS && objects->additional) {
        member->additional = objects->additional;
        verdict = mishap_schema_both(verdict, mishap_schema_judge(run, objects->additional, value));
    }
    if (objects->names && verdict != SCHEMA_FAILS)
        verdict = mishap_schema_both(verdict, mishap_schema_judge(run, objects->names, key));
    return verdict;
}

size_t mishap_schema_cost_of(const schema_dependency *dependency, yyjson_val *object)
{
    size_t names = dependency->needed ? yyjson_arr_size(dependency->needed) : 0;
    return (names + 1) * (yyjson_obj_size(object) / 4 + 1);
}

bool mishap_schema_lacks(const schema_dependency *dependency, yyjson_val *object,
                         mishap_text *missing)
{
    size_t index, count;
    yyjson_val *name;
    if (!dependency->needed ||
        !yyjson_obj_getn(object, dependency->name.data, dependency->name.length))
        return false;
    MISHAP_JSON_ITEMS (dependency->needed, index, count, name) {
        *missing = mishap_json_text(name);
        if (!yyjson_obj_getn(object, missing->data, missing->length))
            return true;
    }
    return false;
}

static schema_verdict judge_dependencies(schema_run *run, const schema_objects *objects,
                                         yyjson_val *value)
{
    mishap_text missing;
    schema_verdict verdict = SCHEMA_FITS;
    for (size_t i = 0; i < objects->dependency_count && verdict != SCHEMA_FAILS; i++) {
        const schema_dependency *dependency = &objects->dependencies[i];
        if (!mishap_schema_charge(run, mishap_schema_cost_of(dependency, value)))
            return SCHEMA_OPEN;
        if (mishap_schema_lacks(dependency, value, &missing))
            return SCHEMA_FAILS;
        if (dependency->node &&
            yyjson_obj_getn(value, dependency->name.data, dependency->name.length))
            verdict = mishap_schema_both(verdict,
                                         mishap_schema_judge(run, dependency->node, value));
    }
    return verdict;
}

static schema_verdict judge_unevaluated(schema_run *run, const schema_node *node, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *member;
    schema_verdict verdict = SCHEMA_FITS;
    MISHAP_JSON_MEMBERS (value, index, count, key, member) {
        schema_verdict seen = mishap_schema_evaluates_member(run, node, node, value, key);
        if (seen == SCHEMA_FITS)
            continue;
        schema_verdict one = mishap_schema_judge(run, node->objects->unevaluated, member);
        one = seen == SCHEMA_OPEN && one == SCHEMA_FAILS ? SCHEMA_OPEN : one;
        verdict = mishap_schema_both(verdict, one);
        if (verdict == SCHEMA_FAILS || !run->steps)
            return mishap_schema_both(verdict, SCHEMA_OPEN);
    }
    return verdict;
}

static schema_verdict judge_object(schema_run *run, const schema_node *node, yyjson_val *value)
{
    size_t index, count, required = 0;
    yyjson_val *key, *item;
    schema_member member;
    const schema_objects *objects = node->objects;
    schema_verdict verdict = SCHEMA_FITS;
    size_t size = yyjson_obj_size(value);
    if (size < objects->min || size > objects->max || size < objects->required)
        return SCHEMA_FAILS;
    bool looks = objects->count || objects->pattern_count || objects->additional || objects->names;
    MISHAP_JSON_MEMBERS (looks ? value : NULL, index, count, key, item) {
        verdict = mishap_schema_both(verdict,
                                     mishap_schema_judge_member(run, objects, key, item, &member));
        if (verdict == SCHEMA_FAILS || !mishap_schema_charge(run, 1))
            return mishap_schema_both(verdict, SCHEMA_OPEN);
        required += member.property && member.property->required;
    }
    if (required < objects->required)
        return SCHEMA_FAILS;
    if (objects->dependency_count)
        verdict = mishap_schema_both(verdict, judge_dependencies(run, objects, value));
    if (objects->unevaluated && verdict != SCHEMA_FAILS)
        verdict = mishap_schema_both(verdict, judge_unevaluated(run, node, value));
    return verdict;
}

/* -- schemas for the same value ---------------------------------------------------------------- */

static schema_verdict judge_all(schema_run *run, const schema_list *list, yyjson_val *value)
{
    schema_verdict verdict = SCHEMA_FITS;
    for (size_t i = 0; i < list->count && verdict != SCHEMA_FAILS; i++)
        verdict = mishap_schema_both(verdict, mishap_schema_judge(run, list->nodes[i], value));
    return verdict;
}

static schema_verdict judge_any(schema_run *run, const schema_list *list, yyjson_val *value)
{
    schema_verdict best = SCHEMA_FAILS;
    for (size_t i = 0; i < list->count && best != SCHEMA_FITS; i++) {
        schema_verdict verdict = mishap_schema_judge(run, list->nodes[i], value);
        best = verdict < best ? verdict : best;
    }
    return best;
}

static schema_verdict judge_one(schema_run *run, const schema_list *list, yyjson_val *value)
{
    size_t fit = 0, open = 0;
    for (size_t i = 0; i < list->count && fit < 2; i++) {
        schema_verdict verdict = mishap_schema_judge(run, list->nodes[i], value);
        fit += verdict == SCHEMA_FITS;
        open += verdict == SCHEMA_OPEN;
    }
    if (fit > 1 || fit + open == 0)
        return SCHEMA_FAILS;
    return open ? SCHEMA_OPEN : SCHEMA_FITS;
}

static schema_verdict judge_condition(schema_run *run, const schema_applied *applied,
                                      yyjson_val *value)
{
    schema_verdict when = mishap_schema_judge(run, applied->when, value);
    const schema_node *next = when == SCHEMA_FITS ? applied->then : applied->otherwise;
    if (when == SCHEMA_OPEN)
        return SCHEMA_OPEN;
    return next ? mishap_schema_judge(run, next, value) : SCHEMA_FITS;
}

static schema_verdict judge_applied(schema_run *run, const schema_applied *applied,
                                    yyjson_val *value)
{
    schema_verdict verdict = SCHEMA_FITS;
    if (applied->ref)
        verdict = mishap_schema_judge(run, applied->ref, value);
    if (applied->all.count && verdict != SCHEMA_FAILS)
        verdict = mishap_schema_both(verdict, judge_all(run, &applied->all, value));
    if (applied->any.count && verdict != SCHEMA_FAILS)
        verdict = mishap_schema_both(verdict, judge_any(run, &applied->any, value));
    if (applied->one.count && verdict != SCHEMA_FAILS)
        verdict = mishap_schema_both(verdict, judge_one(run, &applied->one, value));
    if (applied->when && verdict != SCHEMA_FAILS)
        verdict = mishap_schema_both(verdict, judge_condition(run, applied, value));
    if (applied->not &&verdict != SCHEMA_FAILS) {
        schema_verdict inner = mishap_schema_judge(run, applied->not, value);
        schema_verdict outer = inner == SCHEMA_FITS    ? SCHEMA_FAILS
                               : inner == SCHEMA_FAILS ? SCHEMA_FITS
                                                       : SCHEMA_OPEN;
        verdict = mishap_schema_both(verdict, outer);
    }
    return verdict;
}

/* -- all of it --------------------------------------------------------------------------------- */

static schema_verdict judge_rules(schema_run *run, const schema_node *node, yyjson_val *value)
{
    schema_verdict verdict = node->open ? SCHEMA_OPEN : SCHEMA_FITS, more = SCHEMA_FITS;
    verdict = mishap_schema_both(verdict, mishap_schema_typed(node, value));
    if (verdict == SCHEMA_FAILS)
        return verdict;
    if (node->constant || node->choices)
        verdict = mishap_schema_both(verdict, mishap_schema_chosen(run, node, value));
    if (verdict == SCHEMA_FAILS)
        return verdict;
    if (node->strings && yyjson_is_str(value))
        more = judge_string(run, node->strings, mishap_json_text(value));
    else if (node->numbers && (yyjson_is_num(value) || yyjson_is_raw(value)))
        more = judge_number(node->numbers, value);
    else if (node->arrays && yyjson_is_arr(value))
        more = judge_array(run, node, value);
    else if (node->objects && yyjson_is_obj(value))
        more = judge_object(run, node, value);
    verdict = mishap_schema_both(verdict, more);
    if (node->applied && verdict != SCHEMA_FAILS)
        verdict = mishap_schema_both(verdict, judge_applied(run, node->applied, value));
    return verdict;
}

schema_verdict mishap_schema_judge(schema_run *run, const schema_node *node, yyjson_val *value)
{
    if (node->kind != NODE_RULES)
        return node->kind == NODE_TRUE ? SCHEMA_FITS : SCHEMA_FAILS;
    size_t cost = yyjson_is_raw(value) ? 1 + unsafe_yyjson_get_len(value) / 64 : 1;
    if (run->depth == MISHAP_SCHEMA_MOST_DEPTH || !mishap_schema_charge(run, cost))
        return SCHEMA_OPEN;
    run->depth++;
    schema_verdict verdict = judge_rules(run, node, value);
    run->depth--;
    return verdict;
}
