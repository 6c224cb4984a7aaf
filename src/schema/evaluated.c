/*
 * Which members and items of a value a schema, or one that applies to the same value, has looked
 * at. The drafts tell it with annotations; here each member is asked for when unevaluatedProperties
 * or unevaluatedItems wants to know, and a branch counts if the value fits it.
 */
#include "schema/inside.h"

/* A member or an item of `whole`. */
struct place {
    yyjson_val *whole, *key, *item;
    size_t index;
};

static schema_verdict either(schema_verdict a, schema_verdict b)
{
    return a < b ? a : b;
}

static schema_verdict evaluates(schema_run *run, const schema_node *node, const schema_node *self,
                                const struct place *place);

/* A branch that may not apply. */
static schema_verdict branch_evaluates(schema_run *run, const schema_node *branch,
                                       const struct place *place)
{
    schema_verdict fits = mishap_schema_judge(run, branch, place->whole);
    if (fits == SCHEMA_FAILS)
        return SCHEMA_FAILS;
    schema_verdict seen = evaluates(run, branch, NULL, place);
    return seen == SCHEMA_FAILS ? SCHEMA_FAILS : mishap_schema_both(fits, seen);
}

static schema_verdict list_evaluates(schema_run *run, const schema_list *list,
                                     const struct place *place)
{
    schema_verdict best = SCHEMA_FAILS;
    for (size_t i = 0; i < list->count && best != SCHEMA_FITS; i++)
        best = either(best, branch_evaluates(run, list->nodes[i], place));
    return best;
}

static schema_verdict applied_evaluates(schema_run *run, const schema_applied *applied,
                                        const struct place *place)
{
    schema_verdict best = applied->ref ? evaluates(run, applied->ref, NULL, place) : SCHEMA_FAILS;
    const schema_list *lists[] = { &applied->all, &applied->any, &applied->one };
    for (size_t i = 0; i < sizeof lists / sizeof *lists && best != SCHEMA_FITS; i++)
        best = either(best, list_evaluates(run, lists[i], place));
    if (!applied->when || best == SCHEMA_FITS)
        return best;
    schema_verdict when = mishap_schema_judge(run, applied->when, place->whole);
    const schema_node *next = when == SCHEMA_FAILS ? applied->otherwise : applied->then;
    if (when == SCHEMA_OPEN)
        return SCHEMA_OPEN;
    if (when == SCHEMA_FITS)
        best = either(best, evaluates(run, applied->when, NULL, place));
    return next ? either(best, evaluates(run, next, NULL, place)) : best;
}

static schema_verdict object_evaluates(schema_run *run, const schema_objects *objects, bool own,
                                       const struct place *place)
{
    mishap_text name = mishap_json_text(place->key);
    const schema_property *property = mishap_schema_find_property(objects, name);
    schema_verdict best = SCHEMA_FAILS;
    if ((property && property->node) || objects->additional || (objects->unevaluated && !own))
        return SCHEMA_FITS;
    for (size_t i = 0; i < objects->pattern_count && best != SCHEMA_FITS; i++)
        best = either(best, mishap_schema_matches(run, objects->patterns[i].pattern, name));
    for (size_t i = 0; i < objects->dependency_count && best != SCHEMA_FITS; i++) {
        const schema_dependency *dependency = &objects->dependencies[i];
        if (!mishap_schema_charge(run, 1 + yyjson_obj_size(place->whole) / 4))
            return SCHEMA_OPEN;
        if (dependency->node &&
            yyjson_obj_getn(place->whole, dependency->name.data, dependency->name.length))
            best = either(best, evaluates(run, dependency->node, NULL, place));
    }
    return best;
}

static schema_verdict array_evaluates(schema_run *run, const schema_arrays *arrays, bool own,
                                      const struct place *place)
{
    if (place->index < arrays->prefix.count || arrays->rest || (arrays->unevaluated && !own))
        return SCHEMA_FITS;
    return arrays->contains ? mishap_schema_judge(run, arrays->contains, place->item)
                            : SCHEMA_FAILS;
}

static schema_verdict evaluates(schema_run *run, const schema_node *node, const schema_node *self,
                                const struct place *place)
{
    schema_verdict best = node->open ? SCHEMA_OPEN : SCHEMA_FAILS;
    if (node->kind != NODE_RULES)
        return SCHEMA_FAILS;
    if (run->depth == MISHAP_SCHEMA_MOST_DEPTH || !mishap_schema_charge(run, 1))
        return SCHEMA_OPEN;
    run->depth++;
    if (place->key && node->objects)
        best = either(best, object_evaluates(run, node->objects, node == self, place));
    if (!place->key && node->arrays)
        best = either(best, array_evaluates(run, node->arrays, node == self, place));
    if (node->applied && best != SCHEMA_FITS)
        best = either(best, applied_evaluates(run, node->applied, place));
    run->depth--;
    return best;
}

schema_verdict mishap_schema_evaluates_member(schema_run *run, const schema_node *node,
                                              const schema_node *self, yyjson_val *object,
                                              yyjson_val *key)
{
    return evaluates(run, node, self, &(struct place){ .whole = object, .key = key });
}

schema_verdict mishap_schema_evaluates_item(schema_run *run, const schema_node *node,
                                            const schema_node *self, yyjson_val *array,
                                            size_t index, yyjson_val *item)
{
    return evaluates(run, node, self,
                     &(struct place){ .whole = array, .item = item, .index = index });
}
