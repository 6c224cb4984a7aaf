/*
 * What is wrong with a value, rule by rule, as findings. A rule is asked again whether it fails,
 * and then says so; a value of a wrong type, or none of the choices, gets no further findings.
 */
#include "schema/telling.h"

#include "guard/guard.h"

mishap_spot mishap_schema_member_spot(schema_telling *t, const mishap_spot *of, mishap_text name)
{
    bool secret = of->secret || mishap_guard_secret_name(name);
    name.length = mishap_utf8_cut(name, SCHEMA_SHOWN_NAME);
    return (mishap_spot){ .outer = of == &t->root ? NULL : of, .name = name, .secret = secret };
}

/* -- single values ----------------------------------------------------------------------------- */

static void tell_choice(schema_telling *t, const schema_node *node, const mishap_spot *spot,
                        yyjson_val *value)
{
    enum { MOST = 50 };
    size_t index, count, taken = 0;
    yyjson_val *item, *values[MOST];
    if (node->constant)
        values[taken++] = node->constant;
    MISHAP_JSON_ITEMS (node->constant ? NULL : node->choices, index, count, item)
        if (taken < MOST)
            values[taken++] = item;
    if (taken)
        mishap_schema_say_choice(t, spot, values, taken, value);
    else
        mishap_schema_say(t, spot, "invalid_value", " cannot have any value", NULL);
}

static void tell_string(schema_telling *t, const schema_strings *strings, const mishap_spot *spot,
                        yyjson_val *value)
{
    mishap_text text = mishap_json_text(value);
    size_t count = mishap_utf8_count(text);
    if (count < strings->min || count > strings->max)
        mishap_schema_say_length(t, spot, strings->min, strings->max, value);
    if (strings->format)
        mishap_expect_format(&t->findings, spot, strings->format->name, NULL, value);
    if (strings->pattern && mishap_schema_matches(&t->run, strings->pattern, text) == SCHEMA_FAILS)
        mishap_schema_say_pattern(t, spot, strings->pattern->text, value);
}

/* -- arrays ------------------------------------------------------------------------------------ */

static void tell_items(schema_telling *t, const schema_node *node, const mishap_spot *spot,
                       yyjson_val *value)
{
    size_t index, count;
    yyjson_val *item;
    const schema_arrays *arrays = node->arrays;
    MISHAP_JSON_ITEMS (value, index, count, item) {
        mishap_spot place = { .outer = spot, .index = index, .secret = spot->secret };
        const schema_node *rule = index < arrays->prefix.count ? arrays->prefix.nodes[index]
                                                               : arrays->rest;
        if (!rule && arrays->unevaluated &&
            mishap_schema_evaluates_item(&t->run, node, node, value, index, item) == SCHEMA_FAILS)
            rule = arrays->unevaluated;
        if (!t->run.steps)
            return;
        if (rule && mishap_schema_judge(&t->run, rule, item) == SCHEMA_FAILS)
            mishap_schema_tell(t, rule, &place, item);
    }
}

static void tell_array(schema_telling *t, const schema_node *node, const mishap_spot *spot,
                       yyjson_val *value)
{
    size_t first, second, size = yyjson_arr_size(value);
    const schema_arrays *arrays = node->arrays;
    if (size < arrays->min || size > arrays->max)
        mishap_schema_say_length(t, spot, arrays->min, arrays->max, value);
    tell_items(t, node, spot, value);
    if (arrays->contains &&
        mishap_schema_count_contained(&t->run, arrays, value, &first) == SCHEMA_FAILS)
        mishap_schema_say_contained(t, spot, arrays, first);
    if (arrays->unique && mishap_schema_unique(&t->run, value, &first, &second) == SCHEMA_FAILS)
        mishap_schema_say_same(t, spot, first, second);
}

/* -- objects ----------------------------------------------------------------------------------- */

static void tell_missing(schema_telling *t, const schema_objects *objects, const mishap_spot *spot,
                         yyjson_val *value)
{
    size_t index, count;
    yyjson_val *name;
    MISHAP_JSON_ITEMS (objects->needed, index, count, name) {
        mishap_text text = mishap_json_text(name);
        if (!mishap_schema_charge(&t->run, 1 + yyjson_obj_size(value) / 4))
            return;
        if (yyjson_obj_getn(value, text.data, text.length))
            continue;
        const schema_property *property = mishap_schema_find_property(objects, text);
        mishap_spot place = mishap_schema_member_spot(t, spot, text);
        mishap_schema_say_missing(t, &place, property ? property->node : NULL);
    }
}

/* A member that no rule allows has an unknown name; any other has a wrong value. */
static void tell_extra(schema_telling *t, const schema_node *rule, const schema_objects *objects,
                       const mishap_spot *place, yyjson_val *object, yyjson_val *value)
{
    if (mishap_schema_judge(&t->run, rule, value) != SCHEMA_FAILS)
        return;
    if (rule->kind == NODE_FALSE)
        mishap_schema_say_unknown(t, place, objects, object);
    else
        mishap_schema_tell(t, rule, place, value);
}

static void tell_name(schema_telling *t, const schema_node *names, const mishap_spot *place,
                      yyjson_val *key)
{
    if (names && mishap_schema_judge(&t->run, names, key) == SCHEMA_FAILS)
        mishap_schema_say(t, place, "invalid_value", " is a name that is not allowed here", NULL);
}

static void tell_member(schema_telling *t, const schema_node *node, const mishap_spot *spot,
                        yyjson_val *object, yyjson_val *key)
{
    schema_member member;
    yyjson_val *value = key + 1; /* a value follows its key */
    const schema_objects *objects = node->objects;
    mishap_spot place = mishap_schema_member_spot(t, spot, mishap_json_text(key));
    schema_verdict verdict = mishap_schema_judge_member(&t->run, objects, key, value, &member);
    if (objects->unevaluated &&
        mishap_schema_evaluates_member(&t->run, node, node, object, key) == SCHEMA_FAILS)
        tell_extra(t, objects->unevaluated, objects, &place, object, value);
    if (verdict != SCHEMA_FAILS)
        return;
    if (member.property && member.property->node &&
        mishap_schema_judge(&t->run, member.property->node, value) == SCHEMA_FAILS)
        mishap_schema_tell(t, member.property->node, &place, value);
    for (size_t i = 0; i < objects->pattern_count; i++)
        if (mishap_schema_matches(&t->run, objects->patterns[i].pattern, mishap_json_text(key)) ==
                SCHEMA_FITS &&
            mishap_schema_judge(&t->run, objects->patterns[i].node, value) == SCHEMA_FAILS)
            mishap_schema_tell(t, objects->patterns[i].node, &place, value);
    if (member.additional)
        tell_extra(t, member.additional, objects, &place, object, value);
    tell_name(t, objects->names, &place, key);
}

static void tell_dependencies(schema_telling *t, const schema_objects *objects,
                              const mishap_spot *spot, yyjson_val *value)
{
    mishap_text missing;
    for (size_t i = 0; i < objects->dependency_count && t->run.steps; i++) {
        const schema_dependency *dependency = &objects->dependencies[i];
        if (!mishap_schema_charge(&t->run, mishap_schema_cost_of(dependency, value)))
            return;
        if (mishap_schema_lacks(dependency, value, &missing)) {
            mishap_spot place = mishap_schema_member_spot(t, spot, missing);
            mishap_schema_say_needed(t, &place, dependency->name);
        }
        if (dependency->node &&
            yyjson_obj_getn(value, dependency->name.data, dependency->name.length) &&
            mishap_schema_judge(&t->run, dependency->node, value) == SCHEMA_FAILS)
            mishap_schema_tell(t, dependency->node, spot, value);
    }
}

static void tell_object(schema_telling *t, const schema_node *node, const mishap_spot *spot,
                        yyjson_val *value)
{
    size_t index, count, size = yyjson_obj_size(value);
    yyjson_val *key, *item;
    const schema_objects *objects = node->objects;
    tell_missing(t, objects, spot, value);
    MISHAP_JSON_MEMBERS (value, index, count, key, item)
        if (mishap_schema_charge(&t->run, 1))
            tell_member(t, node, spot, value, key);
    if (size < objects->min || size > objects->max)
        mishap_schema_say_length(t, spot, objects->min, objects->max, value);
    tell_dependencies(t, objects, spot, value);
}

/* -- schemas for the same value ---------------------------------------------------------------- */

static void tell_failing(schema_telling *t, const schema_node *node, const mishap_spot *spot,
                         yyjson_val *value)
{
    if (node && mishap_schema_judge(&t->run, node, value) == SCHEMA_FAILS)
        mishap_schema_tell(t, node, spot, value);
}

static void tell_applied(schema_telling *t, const schema_applied *applied, const mishap_spot *spot,
                         yyjson_val *value)
{
    tell_failing(t, applied->ref, spot, value);
    for (size_t i = 0; i < applied->all.count && t->run.steps; i++)
        tell_failing(t, applied->all.nodes[i], spot, value);
    if (applied->any.count)
        mishap_schema_tell_any(t, &applied->any, spot, value);
    if (applied->one.count)
        mishap_schema_tell_one(t, &applied->one, spot, value);
    if (applied->when) {
        schema_verdict when = mishap_schema_judge(&t->run, applied->when, value);
        if (when != SCHEMA_OPEN)
            tell_failing(t, when == SCHEMA_FITS ? applied->then : applied->otherwise, spot, value);
    }
    if (applied->not &&mishap_schema_judge(&t->run, applied->not, value) == SCHEMA_FITS)
        mishap_schema_say(t, spot, "invalid_value",
                          " is something that `not` of the schema excludes", value);
}

static void tell_rules(schema_telling *t, const schema_node *node, const mishap_spot *spot,
                       yyjson_val *value)
{
    if (mishap_schema_typed(node, value) == SCHEMA_FAILS) {
        mishap_schema_say_type(t, spot, node->types, value);
        return;
    }
    if ((node->constant || node->choices) &&
        mishap_schema_chosen(&t->run, node, value) == SCHEMA_FAILS) {
        tell_choice(t, node, spot, value);
        return;
    }
    if (node->strings && yyjson_is_str(value))
        tell_string(t, node->strings, spot, value);
    if (node->numbers && (yyjson_is_num(value) || yyjson_is_raw(value)))
        mishap_schema_say_number(t, spot, node->numbers, value);
    if (node->arrays && yyjson_is_arr(value))
        tell_array(t, node, spot, value);
    if (node->objects && yyjson_is_obj(value))
        tell_object(t, node, spot, value);
    if (node->applied)
        tell_applied(t, node->applied, spot, value);
}

void mishap_schema_tell(schema_telling *t, const schema_node *node, const mishap_spot *spot,
                        yyjson_val *value)
{
    if (node->kind == NODE_FALSE)
        mishap_schema_say(t, spot, "invalid_value", " is not allowed here", NULL);
    if (node->kind != NODE_RULES || t->run.depth == MISHAP_SCHEMA_MOST_DEPTH ||
        !mishap_schema_charge(&t->run, 1))
        return;
    t->run.depth++;
    tell_rules(t, node, spot, value);
    t->run.depth--;
}

/* -- the check --------------------------------------------------------------------------------- */

static mishap *tell_all(const mishap_schema *schema, yyjson_val *value)
{
    schema_telling t = { .run = mishap_schema_run(), .root = { .name = MISHAP_TEXT("arguments") } };
    mishap_schema_tell(&t, schema->root, &t.root, value);
    if (!t.findings.count && !t.findings.no_memory)
        mishap_schema_say(&t, &t.root, "invalid_value", " do not fit the schema", NULL);
    return mishap_findings_end(&t.findings);
}

mishap *mishap_schema_check(const mishap_schema *schema, yyjson_val *arguments)
{
    static yyjson_val empty = { .tag = YYJSON_TYPE_OBJ };
    schema_run run = mishap_schema_run();
    if (schema->unread)
        return NULL;
    if (!arguments)
        arguments = &empty;
    return mishap_schema_judge(&run, schema->root, arguments) == SCHEMA_FAILS
               ? tell_all(schema, arguments)
               : NULL;
}

const mishap_schema_part *mishap_schema_property(const mishap_schema *schema, mishap_text name)
{
    const schema_objects *objects = schema->unread ? NULL : schema->root->objects;
    const schema_property *property = objects ? mishap_schema_find_property(objects, name) : NULL;
    return property ? property->node : NULL;
}

bool mishap_schema_refuses(const mishap_schema_part *part, yyjson_val *value)
{
    schema_run run = mishap_schema_run();
    return mishap_schema_judge(&run, part, value) == SCHEMA_FAILS;
}
