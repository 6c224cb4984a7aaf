/*
 * A value that fits none of several schemas. It was most likely meant for one of them, and only
 * what that one says helps: the schemas of another type are left out, then those whose constant
 * members (`"kind": {"const": "circle"}`) are different, then those with more findings.
 */
#include "schema/telling.h"

enum {
    MOST = 32,
    MOST_HOPS = 8
}; /* alternatives that are looked at; references that are followed */

/* The node that says something, behind references. */
static const schema_node *behind(const schema_node *node)
{
    for (int hop = 0; hop < MOST_HOPS && node->applied && node->applied->ref; hop++)
        node = node->applied->ref;
    return node;
}

/* The types that a schema may accept. */
static unsigned types_of(const schema_node *node)
{
    size_t index, count;
    yyjson_val *item;
    unsigned types = 0;
    node = behind(node);
    if (node->kind == NODE_FALSE)
        return 0;
    if (node->types)
        return node->types & TYPE_NUMBER ? node->types | TYPE_INTEGER : node->types;
    if (node->constant)
        return mishap_schema_types_of(node->constant);
    MISHAP_JSON_ITEMS (node->choices, index, count, item) {
        if (index == MOST)
            return SCHEMA_ANY_TYPE;
        types |= mishap_schema_types_of(item);
    }
    return types ? types : SCHEMA_ANY_TYPE;
}

/* The schema of a member that is a constant or one of some choices; NULL: it is neither. */
static const schema_node *tag_of(const schema_property *property)
{
    const schema_node *node = property->node ? behind(property->node) : NULL;
    return node && (node->constant || node->choices) ? node : NULL;
}

/* How many tags a schema has that the object has, too; 0 if one of them is different. `known`
 * counts the former. */
static size_t count_fitting_tags(schema_telling *t, const schema_node *node, yyjson_val *object,
                                 size_t *known)
{
    size_t fit = 0;
    const schema_objects *objects = behind(node)->objects;
    *known = 0;
    for (size_t i = 0; objects && yyjson_is_obj(object) && i < objects->count; i++) {
        const schema_property *property = &objects->properties[i];
        const schema_node *tag = tag_of(property);
        if (!mishap_schema_charge(&t->run, tag ? 1 + yyjson_obj_size(object) / 4 : 1))
            break;
        yyjson_val *value = tag ? yyjson_obj_getn(object, property->name.data,
                                                  property->name.length)
                                : NULL;
        if (!value)
            continue;
        ++*known;
        fit += mishap_schema_chosen(&t->run, tag, value) != SCHEMA_FAILS;
    }
    return fit == *known ? fit : 0;
}

/* A tag of the first that all have, and that the object has with a value of none: told. */
static bool tell_tag(schema_telling *t, const schema_node *const *nodes, size_t count,
                     const mishap_spot *spot, yyjson_val *object)
{
    yyjson_val *values[MOST];
    const schema_objects *first = behind(nodes[0])->objects;
    for (size_t i = 0; first && i < first->count; i++) {
        mishap_text name = first->properties[i].name;
        yyjson_val *given = yyjson_obj_getn(object, name.data, name.length);
        size_t taken = 0;
        if (!mishap_schema_charge(&t->run, 1 + yyjson_obj_size(object) / 4 + (given ? count : 0)))
            return false;
        for (size_t k = 0; given && k < count; k++) {
            const schema_objects *objects = behind(nodes[k])->objects;
            const schema_property *same = objects ? mishap_schema_find_property(objects, name)
                                                  : NULL;
            const schema_node *tag = same ? tag_of(same) : NULL;
            if (!tag || !tag->constant || mishap_schema_chosen(&t->run, tag, given) != SCHEMA_FAILS)
                break;
            values[taken++] = tag->constant;
        }
        if (taken == count) {
            mishap_spot place = mishap_schema_member_spot(t, spot, name);
            mishap_schema_say_choice(t, &place, values, taken, given);
            return true;
        }
    }
    return false;
}

static size_t count_findings(schema_telling *t, const schema_node *node, const mishap_spot *spot,
                             yyjson_val *value)
{
    mishap_findings before = t->findings;
    t->findings = (mishap_findings){ 0 };
    mishap_schema_tell(t, node, spot, value);
    size_t count = t->findings.count;
    bool no_memory = t->findings.no_memory;
    mishap_free(mishap_findings_end(&t->findings));
    t->findings = before;
    t->findings.no_memory = t->findings.no_memory || no_memory;
    return count ? count : SIZE_MAX;
}

/* The one that is meant most likely; NULL: it cannot be told. */
static const schema_node *likeliest(schema_telling *t, const schema_node *const *nodes,
                                    size_t count, const mishap_spot *spot, yyjson_val *value)
{
    enum { MOST_TRIED = 8 };
    const schema_node *best = NULL;
    size_t least = SIZE_MAX;
    if (count == 1)
        return nodes[0];
    for (size_t i = 0; i < count && i < MOST_TRIED && t->run.steps; i++) {
        size_t found = count_findings(t, nodes[i], spot, value);
        if (found < least) {
            least = found;
            best = nodes[i];
        }
    }
    return best;
}

/* Keep the schemas whose tags fit, if any does. */
static size_t keep_tagged(schema_telling *t, const schema_node **nodes, size_t count,
                          yyjson_val *value, bool *tagged)
{
    size_t kept = 0, known;
    const schema_node *fitting[MOST];
    *tagged = false;
    for (size_t i = 0; i < count; i++) {
        bool fits = count_fitting_tags(t, nodes[i], value, &known) > 0;
        *tagged = *tagged || known;
        if (fits)
            fitting[kept++] = nodes[i];
    }
    if (!kept)
        return count;
    memcpy(nodes, fitting, kept * sizeof *nodes);
    *tagged = false;
    return kept;
}

static void tell_alternatives(schema_telling *t, const schema_list *list, const mishap_spot *spot,
                              yyjson_val *value)
{
    size_t count = 0, before = t->findings.count;
    unsigned all = 0, given = mishap_schema_types_of(value);
    const schema_node *nodes[MOST];
    for (size_t i = 0; i < list->count; i++) {
        unsigned types = types_of(list->nodes[i]);
        all |= types;
        if ((types & given) && count < MOST)
            nodes[count++] = list->nodes[i];
    }
    if (!count && all) {
        mishap_schema_say_type(t, spot, all, value);
        return;
    }
    bool tagged = false;
    if (count)
        count = keep_tagged(t, nodes, count, value, &tagged);
    if (tagged && tell_tag(t, nodes, count, spot, value))
        return;
    const schema_node *best = count ? likeliest(t, nodes, count, spot, value) : NULL;
    if (best)
        mishap_schema_tell(t, best, spot, value);
    if (t->findings.count == before && !t->findings.no_memory)
        mishap_schema_say(t, spot, "invalid_value", " fits none of the alternatives of the schema",
                          NULL);
}

/* How many of the schemas fit, and how many of them cannot be judged. */
static size_t count_fitting(schema_telling *t, const schema_list *list, yyjson_val *value,
                            size_t *open)
{
    size_t fit = 0;
    *open = 0;
    for (size_t i = 0; i < list->count; i++) {
        schema_verdict verdict = mishap_schema_judge(&t->run, list->nodes[i], value);
        fit += verdict == SCHEMA_FITS;
        *open += verdict == SCHEMA_OPEN;
    }
    return fit;
}

void mishap_schema_tell_any(schema_telling *t, const schema_list *list, const mishap_spot *spot,
                            yyjson_val *value)
{
    size_t open, fit = count_fitting(t, list, value, &open);
    if (!fit && !open)
        tell_alternatives(t, list, spot, value);
}

void mishap_schema_tell_one(schema_telling *t, const schema_list *list, const mishap_spot *spot,
                            yyjson_val *value)
{
    size_t open, fit = count_fitting(t, list, value, &open);
    if (fit > 1)
        mishap_schema_say(t, spot, "invalid_value",
                          " fits more than one of the alternatives, of which only one may fit",
                          NULL);
    else if (!fit && !open)
        tell_alternatives(t, list, spot, value);
}
