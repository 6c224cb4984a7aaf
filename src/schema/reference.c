/*
 * Addresses of schemas: `$id` begins a resource, `$anchor` names a place in it, and a `$ref` leads
 * to either, or by a JSON pointer to any value of a resource. Nothing is fetched: an address that
 * no
 * `$id` of the document has leads nowhere.
 */
#include "base/url.h"
#include "schema/keywords.h"

/* -- what has an address ----------------------------------------------------------------------- */

static schema_resource *add_resource(schema_compiler *c, schema_resource resource)
{
    if (++c->address_count > MISHAP_SCHEMA_MOST_ADDRESSES) {
        c->schema->unread = "The schema has more than 1,000 addresses.";
        return NULL;
    }
    schema_resource *added = mishap_arena_take(&c->schema->arena, sizeof *added);
    if (!added) {
        c->no_memory = true;
        return NULL;
    }
    *added = resource;
    added->next = c->resources;
    return c->resources = added;
}

/* An address without its fragment, and the fragment; no data: there is none. */
static mishap_text cut_fragment(mishap_text *address)
{
    const char *mark = address->length ? memchr(address->data, '#', address->length) : NULL;
    if (!mark)
        return (mishap_text){ NULL, 0 };
    mishap_text fragment = { mark + 1, (size_t)(address->data + address->length - mark) - 1 };
    address->length = (size_t)(mark - address->data);
    return fragment;
}

static mishap_text resolved(schema_compiler *c, mishap_text base, mishap_text reference)
{
    char storage[512];
    mishap_buffer address;
    mishap_buffer_init(&address, storage, sizeof storage);
    mishap_address_resolve(&address, base, reference);
    mishap_text kept = { NULL, 0 };
    if (!address.failed)
        kept = mishap_arena_copy(&c->schema->arena, mishap_buffer_text(&address));
    if (!kept.data)
        c->no_memory = true;
    mishap_buffer_release(&address);
    return kept;
}

/* The resource that a schema belongs to: its own, if it has an address. In draft 7 a fragment alone
 * is an anchor. */
static schema_resource *read_address(schema_compiler *c, yyjson_val *schema, schema_resource *base)
{
    yyjson_val *id = yyjson_obj_get(schema, "$id");
    bool early = c->schema->draft == DRAFT_7;
    if (!yyjson_is_str(id) || (early && yyjson_obj_get(schema, "$ref")))
        return base;
    mishap_text address = mishap_json_text(id), fragment = cut_fragment(&address);
    if (address.length) {
        address = resolved(c, base->address, address);
        schema_resource *own = address.data ? add_resource(c, (schema_resource){ .address = address,
                                                                                 .value = schema })
                                            : NULL;
        base = own ? own : base;
    }
    if (early && fragment.length && fragment.data[0] != '/')
        add_resource(
            c, (schema_resource){
                   .address = base->address, .anchor = fragment, .value = schema, .base = base });
    return base;
}

static void read_anchors(schema_compiler *c, yyjson_val *schema, schema_resource *base)
{
    static const char *const names[] = { "$anchor", "$dynamicAnchor" };
    for (size_t i = 0; c->schema->draft != DRAFT_7 && i < sizeof names / sizeof *names; i++) {
        yyjson_val *anchor = yyjson_obj_get(schema, names[i]);
        if (yyjson_is_str(anchor) && yyjson_get_len(anchor))
            add_resource(c, (schema_resource){ .address = base->address,
                                               .anchor = mishap_json_text(anchor),
                                               .value = schema,
                                               .base = base,
                                               .dynamic = i == 1 });
    }
}

/* The document has at most 128 levels. */
void mishap_schema_scan(schema_compiler *c, yyjson_val *value, schema_resource *base)
{
    size_t at, count, index, inside;
    yyjson_val *key, *member, *name, *item;
    size_t number = (size_t)(value - c->schema->reader.root);
    if (!yyjson_is_obj(value) || c->bases[number] || c->no_memory || c->schema->unread)
        return;
    c->bases[number] = base = read_address(c, value, base);
    read_anchors(c, value, base);
    MISHAP_JSON_MEMBERS (value, at, count, key, member) {
        schema_holds holds = mishap_schema_keyword_holds(mishap_json_text(key));
        if (holds == HOLDS_ONE || holds == HOLDS_EITHER)
            mishap_schema_scan(c, member, base);
        if (holds == HOLDS_LIST || holds == HOLDS_EITHER)
            MISHAP_JSON_ITEMS (member, index, inside, item)
                mishap_schema_scan(c, item, base);
        if (holds == HOLDS_MAP)
            MISHAP_JSON_MEMBERS (member, index, inside, name, item)
                mishap_schema_scan(c, item, base);
    }
}

/* -- what a reference leads to ----------------------------------------------------------------- */

static schema_resource *find_resource(schema_compiler *c, mishap_text address, mishap_text anchor)
{
    for (schema_resource *resource = c->resources; resource; resource = resource->next)
        if (mishap_text_equal(resource->address, address) &&
            (anchor.length ? resource->anchor.data && mishap_text_equal(resource->anchor, anchor)
                           : !resource->anchor.data))
            return resource;
    return NULL;
}

/* A value by its JSON pointer, which may be written with escapes of URLs. */
static yyjson_val *follow_pointer(schema_compiler *c, yyjson_val *from, mishap_text fragment)
{
    char storage[512];
    mishap_buffer pointer;
    yyjson_val *value = NULL;
    c->lookups += c->values / 2; /* the largest object of the document */
    if (c->lookups > MISHAP_SCHEMA_MOST_LOOKUPS) {
        c->schema->unread = "The schema has too many references for its size.";
        return NULL;
    }
    mishap_buffer_init(&pointer, storage, sizeof storage);
    if (mishap_url_unescape(&pointer, fragment, false) && !pointer.failed)
        value = yyjson_ptr_getn(from, pointer.data, pointer.length);
    c->no_memory = c->no_memory || pointer.failed;
    mishap_buffer_release(&pointer);
    return value;
}

yyjson_val *mishap_schema_resolve(schema_compiler *c, mishap_text reference, schema_resource *base,
                                  schema_resource **base_of_it)
{
    mishap_text fragment = cut_fragment(&reference);
    mishap_text address = reference.length ? resolved(c, base->address, reference) : base->address;
    bool pointer = fragment.length && (fragment.data[0] == '/' || fragment.data[0] == '%');
    if (!address.data)
        return NULL;
    schema_resource *resource = find_resource(c, address,
                                              pointer ? (mishap_text){ NULL, 0 } : fragment);
    if (!resource)
        return NULL;
    schema_resource *owner = resource->base ? resource->base : resource;
    yyjson_val *value = pointer ? follow_pointer(c, resource->value, fragment) : resource->value;
    if (!value)
        return NULL;
    mishap_schema_scan(c, value, owner); /* it may stand where no schema is looked for */
    schema_resource *own = c->bases[value - c->schema->reader.root];
    *base_of_it = own ? own : owner;
    return value;
}

bool mishap_schema_is_dynamic(const schema_compiler *c, mishap_text reference)
{
    size_t places = 0;
    mishap_text fragment = cut_fragment(&reference);
    for (const schema_resource *resource = c->resources; resource; resource = resource->next)
        places += resource->dynamic && mishap_text_equal(resource->anchor, fragment);
    return places > 1;
}
