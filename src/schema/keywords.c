/*
 * The keywords of JSON Schema as a table, and how each is read. A keyword whose value is not what
 * the drafts say leaves its schema open: it is then not known what its author meant.
 */
#include "schema/keywords.h"

#include "operation/number.h"

typedef struct keyword keyword;

/* False: the value is not what the keyword wants. */
typedef bool read_keyword(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                          const keyword *which);

struct keyword {
    const char *name;
    read_keyword *read; /* NULL: it only has schemas */
    size_t at;          /* where it goes in its group */
    schema_holds holds;
    schema_draft first, last;
};

/* -- groups ------------------------------------------------------------------------------------ */

static void *take_cleared(schema_compiler *c, size_t count, size_t size)
{
    void *memory = mishap_arena_take(&c->schema->arena, count ? count * size : 1);
    if (memory)
        memset(memory, 0, count * size);
    else
        c->no_memory = true;
    return memory;
}

static schema_strings *strings_of(schema_compiler *c, schema_node *node)
{
    if (!node->strings && (node->strings = take_cleared(c, 1, sizeof *node->strings)))
        node->strings->max = SIZE_MAX;
    return node->strings;
}

static schema_numbers *numbers_of(schema_compiler *c, schema_node *node)
{
    if (!node->numbers)
        node->numbers = take_cleared(c, 1, sizeof *node->numbers);
    return node->numbers;
}

static schema_arrays *arrays_of(schema_compiler *c, schema_node *node)
{
    if (!node->arrays && (node->arrays = take_cleared(c, 1, sizeof *node->arrays)))
        *node->arrays = (schema_arrays){ .max = SIZE_MAX,
                                         .contains_min = 1,
                                         .contains_max = SIZE_MAX };
    return node->arrays;
}

static schema_objects *objects_of(schema_compiler *c, schema_node *node)
{
    if (!node->objects && (node->objects = take_cleared(c, 1, sizeof *node->objects)))
        node->objects->max = SIZE_MAX;
    return node->objects;
}

static schema_applied *applied_of(schema_compiler *c, schema_node *node)
{
    if (!node->applied)
        node->applied = take_cleared(c, 1, sizeof *node->applied);
    return node->applied;
}

#define MEMBER_AT(type, group, which) ((type *)(void *)((char *)(group) + (which)->at))

/* -- values that many keywords have ------------------------------------------------------------ */

static bool is_number(yyjson_val *value)
{
    return yyjson_is_num(value) || yyjson_is_raw(value);
}

/* A count; 3.0 is one. */
static bool read_count(yyjson_val *value, size_t *count)
{
    if (yyjson_is_uint(value)) {
        *count = (size_t)unsafe_yyjson_get_uint(value);
        return true;
    }
    double real = yyjson_is_real(value) ? unsafe_yyjson_get_real(value) : -1;
    if (!(real >= 0 && real < 0x1p53) || (double)(size_t)real != real)
        return false;
    *count = (size_t)real;
    return true;
}

static bool read_list(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                      schema_list *list)
{
    size_t index, count;
    yyjson_val *item;
    if (!yyjson_is_arr(value))
        return false;
    list->nodes = take_cleared(c, yyjson_arr_size(value), sizeof(schema_node *));
    MISHAP_JSON_ITEMS (list->nodes ? value : NULL, index, count, item)
        if ((list->nodes[index] = mishap_schema_node(c, item, place->base)))
            list->count = index + 1;
    return true;
}

static schema_pattern *read_expression(schema_compiler *c, mishap_text text)
{
    char storage[512];
    mishap_buffer translated;
    schema_pattern *pattern = take_cleared(c, 1, sizeof *pattern);
    if (!pattern)
        return NULL;
    if (++c->pattern_count > MISHAP_SCHEMA_MOST_PATTERNS)
        c->schema->unread = "The schema has more than 200 patterns.";
    pattern->text = text;
    pattern->next = c->schema->patterns;
    c->schema->patterns = pattern;
    mishap_buffer_init(&translated, storage, sizeof storage);
    if (!c->schema->unread && mishap_expression_translate(&translated, text) &&
        !translated.failed && !mishap_pattern_make(translated.data, &pattern->compiled))
        c->no_memory = true;
    c->no_memory = c->no_memory || translated.failed;
    mishap_buffer_release(&translated);
    return pattern;
}

/* -- any value --------------------------------------------------------------------------------- */

static unsigned char type_bit(yyjson_val *name)
{
    static const struct {
        const char *name;
        unsigned char bit;
    } types[] = { { "null", TYPE_NULL },      { "boolean", TYPE_BOOLEAN },
                  { "string", TYPE_STRING },  { "array", TYPE_ARRAY },
                  { "object", TYPE_OBJECT },  { "number", TYPE_NUMBER },
                  { "integer", TYPE_INTEGER } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (yyjson_equals_str(name, types[i].name))
            return types[i].bit;
    return 0;
}

static bool read_type(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                      const keyword *which)
{
    size_t index, count;
    yyjson_val *item;
    unsigned types = type_bit(value);
    (void)c, (void)which;
    MISHAP_JSON_ITEMS (value, index, count, item) {
        unsigned char bit = type_bit(item);
        if (!bit)
            return false;
        types |= bit;
    }
    place->node->types = (unsigned char)types;
    return types;
}

static bool read_choices(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                         const keyword *which)
{
    (void)c, (void)which;
    if (yyjson_is_arr(value))
        place->node->choices = value;
    return yyjson_is_arr(value);
}

static bool read_constant(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                          const keyword *which)
{
    (void)c, (void)which;
    place->node->constant = value;
    return true;
}

/* It is there, and is not judged. */
static bool read_unknown(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                         const keyword *which)
{
    (void)c, (void)place, (void)value, (void)which;
    return false;
}

/* -- strings and numbers ----------------------------------------------------------------------- */

static bool read_string_count(schema_compiler *c, const schema_keyword_place *place,
                              yyjson_val *value, const keyword *which)
{
    schema_strings *group = strings_of(c, place->node);
    return !group || read_count(value, MEMBER_AT(size_t, group, which));
}

static bool read_pattern(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                         const keyword *which)
{
    schema_strings *group = strings_of(c, place->node);
    (void)which;
    if (group && yyjson_is_str(value))
        group->pattern = read_expression(c, mishap_json_text(value));
    return yyjson_is_str(value);
}

/* The formats whose check here is exactly that of the standards. */
static bool read_format(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                        const keyword *which)
{
    static const char *const exact[] = { "date", "date-time", "ipv4", "ipv6", "uri" };
    schema_strings *group = c->schema->draft == DRAFT_7 ? strings_of(c, place->node) : NULL;
    (void)which;
    for (size_t i = 0; group && i < sizeof exact / sizeof *exact; i++)
        if (yyjson_equals_str(value, exact[i]))
            group->format = mishap_format_find(exact[i]);
    return group && group->format;
}

static bool read_number(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                        const keyword *which)
{
    schema_numbers *group = numbers_of(c, place->node);
    if (group && is_number(value))
        *MEMBER_AT(yyjson_val *, group, which) = value;
    return is_number(value);
}

static bool read_multiple(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                          const keyword *which)
{
    return is_number(value) && mishap_number_compare(value, 0) > 0 &&
           read_number(c, place, value, which);
}

/* -- arrays ------------------------------------------------------------------------------------ */

static bool read_array_count(schema_compiler *c, const schema_keyword_place *place,
                             yyjson_val *value, const keyword *which)
{
    schema_arrays *group = arrays_of(c, place->node);
    return !group || read_count(value, MEMBER_AT(size_t, group, which));
}

static bool read_array_schema(schema_compiler *c, const schema_keyword_place *place,
                              yyjson_val *value, const keyword *which)
{
    schema_arrays *group = arrays_of(c, place->node);
    if (group)
        *MEMBER_AT(schema_node *, group, which) = mishap_schema_node(c, value, place->base);
    return true;
}

static bool read_prefix(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                        const keyword *which)
{
    schema_arrays *group = arrays_of(c, place->node);
    (void)which;
    return !group || read_list(c, place, value, &group->prefix);
}

/* One schema for all (behind the prefix), or before 2020-12 one for each. */
static bool read_items(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                       const keyword *which)
{
    if (!yyjson_is_arr(value))
        return read_array_schema(c, place, value, which);
    return c->schema->draft != DRAFT_2020 && read_prefix(c, place, value, which);
}

/* Without a list in `items` it means nothing. */
static bool read_rest(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                      const keyword *which)
{
    return !yyjson_is_arr(yyjson_obj_get(place->schema, "items")) ||
           read_array_schema(c, place, value, which);
}

static bool read_unique(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                        const keyword *which)
{
    schema_arrays *group = arrays_of(c, place->node);
    (void)which;
    if (group)
        group->unique = yyjson_is_true(value);
    return yyjson_is_bool(value);
}

/* -- objects ----------------------------------------------------------------------------------- */

static bool read_object_count(schema_compiler *c, const schema_keyword_place *place,
                              yyjson_val *value, const keyword *which)
{
    schema_objects *group = objects_of(c, place->node);
    return !group || read_count(value, MEMBER_AT(size_t, group, which));
}

static bool read_object_schema(schema_compiler *c, const schema_keyword_place *place,
                               yyjson_val *value, const keyword *which)
{
    schema_objects *group = objects_of(c, place->node);
    if (group)
        *MEMBER_AT(schema_node *, group, which) = mishap_schema_node(c, value, place->base);
    return true;
}

/* Both are read together, by the first of them. */
static bool read_members(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                         const keyword *which)
{
    schema_objects *group = objects_of(c, place->node);
    if (group && !group->properties && !mishap_schema_read_members(c, place))
        c->no_memory = true;
    return which->holds == HOLDS_MAP ? yyjson_is_obj(value) : mishap_schema_are_names(value);
}

static bool read_patterns(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                          const keyword *which)
{
    size_t index, count;
    yyjson_val *key, *item;
    schema_objects *group = objects_of(c, place->node);
    (void)which;
    if (!yyjson_is_obj(value))
        return false;
    if (group)
        group->patterns = take_cleared(c, yyjson_obj_size(value), sizeof *group->patterns);
    MISHAP_JSON_MEMBERS (group && group->patterns ? value : NULL, index, count, key, item) {
        schema_matched *matched = &group->patterns[index];
        matched->pattern = read_expression(c, mishap_json_text(key));
        matched->node = mishap_schema_node(c, item, place->base);
        if (!matched->pattern || !matched->node)
            return true;
        group->pattern_count = index + 1;
    }
    return true;
}

enum { NAMES = 1, SCHEMAS = 2 }; /* what a dependency may be */

static bool read_dependencies(schema_compiler *c, const schema_keyword_place *place,
                              yyjson_val *value, const keyword *which)
{
    size_t index, count;
    yyjson_val *key, *item;
    schema_objects *group = objects_of(c, place->node);
    if (!yyjson_is_obj(value))
        return false;
    if (!group)
        return true;
    size_t before = group->dependency_count, more = yyjson_obj_size(value);
    schema_dependency *all = take_cleared(c, before + more, sizeof *all);
    if (!all)
        return true;
    if (before)
        memcpy(all, group->dependencies, before * sizeof *all);
    group->dependencies = all;
    MISHAP_JSON_MEMBERS (value, index, count, key, item) {
        schema_dependency dependency = { .name = mishap_json_text(key) };
        bool names = (which->at & NAMES) && mishap_schema_are_names(item);
        if (names)
            dependency.needed = item;
        else if (!(which->at & SCHEMAS))
            return false;
        else if (!(dependency.node = mishap_schema_node(c, item, place->base)))
            return true;
        all[group->dependency_count++] = dependency;
    }
    return true;
}

/* -- schemas for the same value ---------------------------------------------------------------- */

static bool read_applied(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                         const keyword *which)
{
    schema_applied *group = applied_of(c, place->node);
    if (group)
        *MEMBER_AT(schema_node *, group, which) = mishap_schema_node(c, value, place->base);
    return true;
}

static bool read_applied_list(schema_compiler *c, const schema_keyword_place *place,
                              yyjson_val *value, const keyword *which)
{
    schema_applied *group = applied_of(c, place->node);
    return !group || (yyjson_arr_size(value) &&
                      read_list(c, place, value, MEMBER_AT(schema_list, group, which)));
}

static bool read_reference(schema_compiler *c, const schema_keyword_place *place, yyjson_val *value,
                           const keyword *which)
{
    schema_resource *base = NULL;
    schema_applied *group = applied_of(c, place->node);
    (void)which;
    if (!group || !yyjson_is_str(value))
        return !group;
    yyjson_val *target = mishap_schema_resolve(c, mishap_json_text(value), place->base, &base);
    if (target)
        group->ref = mishap_schema_node(c, target, base);
    return target;
}

/* The same, unless it depends on the way that was taken to it: that is not followed. */
static bool read_dynamic_reference(schema_compiler *c, const schema_keyword_place *place,
                                   yyjson_val *value, const keyword *which)
{
    schema_applied *group = applied_of(c, place->node);
    /* One node has room for one reference. */
    if (!group || yyjson_obj_get(place->schema, "$ref") || !yyjson_is_str(value) ||
        mishap_schema_is_dynamic(c, mishap_json_text(value)))
        return !group;
    return read_reference(c, place, value, which);
}

/* -- the table --------------------------------------------------------------------------------- */

#define ALL     DRAFT_7, DRAFT_2020
#define LATER   DRAFT_2019, DRAFT_2020
#define EARLIER DRAFT_7, DRAFT_2019

static const keyword keywords[] = {
    { "type", read_type, 0, HOLDS_NONE, ALL },
    { "enum", read_choices, 0, HOLDS_NONE, ALL },
    { "const", read_constant, 0, HOLDS_NONE, ALL },
    { "minLength", read_string_count, offsetof(schema_strings, min), HOLDS_NONE, ALL },
    { "maxLength", read_string_count, offsetof(schema_strings, max), HOLDS_NONE, ALL },
    { "pattern", read_pattern, 0, HOLDS_NONE, ALL },
    { "format", read_format, 0, HOLDS_NONE, ALL },
    { "minimum", read_number, offsetof(schema_numbers, min), HOLDS_NONE, ALL },
    { "maximum", read_number, offsetof(schema_numbers, max), HOLDS_NONE, ALL },
    { "exclusiveMinimum", read_number, offsetof(schema_numbers, above), HOLDS_NONE, ALL },
    { "exclusiveMaximum", read_number, offsetof(schema_numbers, below), HOLDS_NONE, ALL },
    { "multipleOf", read_multiple, offsetof(schema_numbers, multiple), HOLDS_NONE, ALL },
    { "minItems", read_array_count, offsetof(schema_arrays, min), HOLDS_NONE, ALL },
    { "maxItems", read_array_count, offsetof(schema_arrays, max), HOLDS_NONE, ALL },
    { "minContains", read_array_count, offsetof(schema_arrays, contains_min), HOLDS_NONE, LATER },
    { "maxContains", read_array_count, offsetof(schema_arrays, contains_max), HOLDS_NONE, LATER },
    { "uniqueItems", read_unique, 0, HOLDS_NONE, ALL },
    { "prefixItems", read_prefix, 0, HOLDS_LIST, DRAFT_2020, DRAFT_2020 },
    { "items", read_items, offsetof(schema_arrays, rest), HOLDS_EITHER, ALL },
    { "additionalItems", read_rest, offsetof(schema_arrays, rest), HOLDS_ONE, EARLIER },
    { "contains", read_array_schema, offsetof(schema_arrays, contains), HOLDS_ONE, ALL },
    { "unevaluatedItems", read_array_schema, offsetof(schema_arrays, unevaluated), HOLDS_ONE,
      LATER },
    { "minProperties", read_object_count, offsetof(schema_objects, min), HOLDS_NONE, ALL },
    { "maxProperties", read_object_count, offsetof(schema_objects, max), HOLDS_NONE, ALL },
    { "properties", read_members, 0, HOLDS_MAP, ALL },
    { "required", read_members, 0, HOLDS_NONE, ALL },
    { "patternProperties", read_patterns, 0, HOLDS_MAP, ALL },
    { "additionalProperties", read_object_schema, offsetof(schema_objects, additional), HOLDS_ONE,
      ALL },
    { "propertyNames", read_object_schema, offsetof(schema_objects, names), HOLDS_ONE, ALL },
    { "unevaluatedProperties", read_object_schema, offsetof(schema_objects, unevaluated), HOLDS_ONE,
      LATER },
    { "dependencies", read_dependencies, NAMES | SCHEMAS, HOLDS_MAP, DRAFT_7, DRAFT_7 },
    { "dependencies", read_unknown, 0, HOLDS_MAP, LATER },
    { "dependentRequired", read_dependencies, NAMES, HOLDS_NONE, LATER },
    { "dependentSchemas", read_dependencies, SCHEMAS, HOLDS_MAP, LATER },
    { "$ref", read_reference, 0, HOLDS_NONE, ALL },
    { "$dynamicRef", read_dynamic_reference, 0, HOLDS_NONE, DRAFT_2020, DRAFT_2020 },
    { "$recursiveRef", read_unknown, 0, HOLDS_NONE, LATER },
    { "not", read_applied, offsetof(schema_applied, not ), HOLDS_ONE, ALL },
    { "if", read_applied, offsetof(schema_applied, when), HOLDS_ONE, ALL },
    { "then", read_applied, offsetof(schema_applied, then), HOLDS_ONE, ALL },
    { "else", read_applied, offsetof(schema_applied, otherwise), HOLDS_ONE, ALL },
    { "allOf", read_applied_list, offsetof(schema_applied, all), HOLDS_LIST, ALL },
    { "anyOf", read_applied_list, offsetof(schema_applied, any), HOLDS_LIST, ALL },
    { "oneOf", read_applied_list, offsetof(schema_applied, one), HOLDS_LIST, ALL },
    { "definitions", NULL, 0, HOLDS_MAP, ALL },
    { "$defs", NULL, 0, HOLDS_MAP, ALL },
};

void mishap_schema_read_keyword(schema_compiler *c, const schema_keyword_place *place,
                                mishap_text name, yyjson_val *value)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        const keyword *which = &keywords[i];
        if (!which->read || c->schema->draft < which->first || c->schema->draft > which->last ||
            !mishap_text_equal(name, mishap_text_of(which->name)))
            continue;
        if (!which->read(c, place, value, which))
            place->node->open = true;
        return;
    }
}

schema_holds mishap_schema_keyword_holds(mishap_text name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (mishap_text_equal(name, mishap_text_of(keywords[i].name)))
            return keywords[i].holds;
    return HOLDS_NONE;
}
