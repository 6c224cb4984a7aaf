/* The members that `properties` and `required` name, sorted, so that each member of a value is
 * found in a few steps. */
#include "base/sort.h"
#include "schema/keywords.h"

int mishap_schema_order_names(mishap_text a, mishap_text b)
{
    if (a.length != b.length)
        return a.length < b.length ? -1 : 1;
    return a.length ? memcmp(a.data, b.data, a.length) : 0;
}

bool mishap_schema_are_names(yyjson_val *value)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (value, index, count, item)
        if (!yyjson_is_str(item))
            return false;
    return yyjson_is_arr(value);
}

static int by_name(const void *a, const void *b)
{
    const schema_property *x = a, *y = b;
    int order = mishap_schema_order_names(x->name, y->name);
    /* The declared one comes first: the others of its name are dropped. */
    return order ? order : (x->node == NULL) - (y->node == NULL);
}

/* Each name once: what any of them says counts. */
static void merge_names(schema_objects *objects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        schema_property *last = objects->count ? &objects->properties[objects->count - 1] : NULL;
        if (last && mishap_text_equal(last->name, objects->properties[i].name))
            last->required = last->required || objects->properties[i].required;
        else
            objects->properties[objects->count++] = objects->properties[i];
    }
    for (size_t i = 0; i < objects->count; i++)
        objects->required += objects->properties[i].required;
}

bool mishap_schema_read_members(schema_compiler *c, const schema_keyword_place *place)
{
    size_t index, count, filled = 0;
    yyjson_val *key, *value, *item;
    schema_objects *objects = place->node->objects;
    yyjson_val *declared = yyjson_obj_get(place->schema, "properties");
    yyjson_val *needed = yyjson_obj_get(place->schema, "required");
    needed = mishap_schema_are_names(needed) ? needed : NULL;
    size_t most = yyjson_obj_size(declared) + yyjson_arr_size(needed);
    c->name_count += most;
    if (c->name_count > MISHAP_SCHEMA_MOST_NAMES) {
        c->schema->unread = "The schema has more than 50,000 names of properties.";
        return true;
    }
    objects->properties = mishap_arena_take(&c->schema->arena,
                                            (most + 1) * sizeof *objects->properties);
    if (!objects->properties)
        return false;
    objects->declared = declared;
    objects->needed = needed;
    MISHAP_JSON_MEMBERS (declared, index, count, key, value) {
        schema_node *node = mishap_schema_node(c, value, place->base);
        if (!node)
            return !c->no_memory;
        objects->properties[filled++] = (schema_property){ mishap_json_text(key), node, false };
    }
    MISHAP_JSON_ITEMS (needed, index, count, item)
        objects->properties[filled++] = (schema_property){ mishap_json_text(item), NULL, true };
    mishap_sort(objects->properties, filled, sizeof *objects->properties, by_name);
    merge_names(objects, filled);
    return true;
}
