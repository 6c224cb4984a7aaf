/*
 * From the JSON of a schema to its compiled form.
 *
 * Each value of the document that is used as a schema has one node, so that schemas which refer to
 * themselves end. A node is made empty and filled later, from a list: neither a long chain of
 * references nor a circle of them takes stack.
 */
#include "base/memory.h"
#include "schema/keywords.h"

/* -- nodes ------------------------------------------------------------------------------------- */

schema_node *mishap_schema_node(schema_compiler *c, yyjson_val *value, schema_resource *base)
{
    size_t index = (size_t)(value - c->schema->reader.root);
    schema_node *node = c->nodes[index];
    if (node || c->schema->unread)
        return node;
    if (c->node_count == MISHAP_SCHEMA_MOST_NODES) {
        c->schema->unread = "The schema has more than 20,000 schemas in it.";
        return NULL;
    }
    node = mishap_arena_take(&c->schema->arena, sizeof *node);
    if (!node) {
        c->no_memory = true;
        return NULL;
    }
    *node = (schema_node){ .kind = NODE_RULES };
    if (yyjson_is_bool(value))
        node->kind = yyjson_is_true(value) ? NODE_TRUE : NODE_FALSE;
    else if (!yyjson_is_obj(value))
        node->open = true;
    else
        c->waiting[c->waiting_count++] = (uint32_t)index;
    c->nodes[index] = node;
    c->node_count++;
    if (!c->bases[index])
        c->bases[index] = base;
    return node;
}

static void fill_node(schema_compiler *c, size_t index)
{
    size_t at, count;
    yyjson_val *key, *value, *object = c->schema->reader.root + index;
    schema_keyword_place place = { c->nodes[index], object, c->bases[index] };
    yyjson_val *reference = yyjson_obj_get(object, "$ref");
    if (reference && c->schema->draft == DRAFT_7) { /* what stands beside it is ignored */
        mishap_schema_read_keyword(c, &place, (mishap_text)MISHAP_TEXT("$ref"), reference);
        return;
    }
    MISHAP_JSON_MEMBERS (object, at, count, key, value)
        mishap_schema_read_keyword(c, &place, mishap_json_text(key), value);
}

static void fill_nodes(schema_compiler *c)
{
    while (c->waiting_count && !c->no_memory && !c->schema->unread)
        fill_node(c, c->waiting[--c->waiting_count]);
}

/* -- the schema -------------------------------------------------------------------------------- */

static bool names_draft(mishap_text schema, const char *draft)
{
    return memmem(schema.data, schema.length, draft, strlen(draft)) != NULL;
}

/* False: it is none that is known. */
static bool read_draft(yyjson_val *root, schema_draft *draft)
{
    static const struct {
        const char *name;
        schema_draft draft;
    } known[] = { { "//json-schema.org/draft/2020-12/schema", DRAFT_2020 },
                  { "//json-schema.org/draft/2019-09/schema", DRAFT_2019 },
                  { "//json-schema.org/draft-07/schema", DRAFT_7 },
                  { "//json-schema.org/draft-06/schema", DRAFT_7 },
                  { "//json-schema.org/draft-04/schema", DRAFT_7 } };
    yyjson_val *schema = yyjson_obj_get(root, "$schema");
    *draft = DRAFT_2020;
    if (!schema)
        return true;
    for (size_t i = 0; yyjson_is_str(schema) && i < sizeof known / sizeof *known; i++)
        if (names_draft(mishap_json_text(schema), known[i].name)) {
            *draft = known[i].draft;
            return true;
        }
    return false;
}

/* Why the document is not judged; NULL: it is. */
static const char *find_flaw(mishap_schema *schema)
{
    yyjson_val *at;
    if (schema->reader.flaw != MISHAP_JSON_SOUND ||
        mishap_json_first_flaw(&schema->reader, &at) != MISHAP_JSON_SOUND)
        return "The schema is JSON that two readers can see differently.";
    if (!yyjson_is_obj(schema->reader.root) && !yyjson_is_bool(schema->reader.root))
        return "The schema is neither an object nor true or false.";
    if (!read_draft(schema->reader.root, &schema->draft))
        return "The schema is of a draft that is not known.";
    return NULL;
}

static bool begin_compiling(schema_compiler *c)
{
    c->values = yyjson_doc_get_val_count(c->schema->reader.document);
    size_t each = sizeof *c->nodes + sizeof *c->bases + sizeof *c->waiting;
    char *memory = mishap_allocate(c->values * each);
    if (!memory)
        return false;
    memset(memory, 0, c->values * each);
    c->nodes = (schema_node **)(void *)memory;
    c->bases = (schema_resource **)(void *)(memory + c->values * sizeof *c->nodes);
    c->waiting = (uint32_t *)(void *)(memory + c->values * (sizeof *c->nodes + sizeof *c->bases));
    return true;
}

/* False: there is no memory. */
static bool compile_root(mishap_schema *schema)
{
    static schema_resource nowhere = { .address = { "", 0 } };
    schema_compiler c = { .schema = schema };
    schema_resource document = nowhere;
    document.value = schema->reader.root;
    if (!begin_compiling(&c))
        return false;
    c.resources = &document;
    mishap_schema_scan(&c, schema->reader.root, &document);
    schema->root = mishap_schema_node(&c, schema->reader.root, &document);
    fill_nodes(&c);
    mishap_release(c.nodes);
    return !c.no_memory;
}

mishap *mishap_schema_compile(mishap_text json, mishap_schema **out)
{
    mishap_schema *schema = mishap_allocate(sizeof *schema);
    *out = NULL;
    if (!schema)
        return mishap_out_of_memory();
    *schema = (mishap_schema){ .reader = MISHAP_JSON_READER };
    mishap_arena_init(&schema->arena, schema->storage, sizeof schema->storage);
    bool enough = true;
    if (json.length > MISHAP_SCHEMA_MOST_BYTES)
        schema->unread = "The schema is larger than 1 MiB.";
    else if (mishap_json_read(&schema->reader, json))
        schema->unread = find_flaw(schema);
    else if (schema->reader.flaw == MISHAP_JSON_NO_MEMORY)
        enough = false;
    else
        schema->unread = "The schema is not valid JSON.";
    if (enough && !schema->unread)
        enough = compile_root(schema);
    if (!enough) {
        mishap_schema_free(schema);
        return mishap_out_of_memory();
    }
    *out = schema;
    return NULL;
}

void mishap_schema_free(mishap_schema *schema)
{
    if (!schema)
        return;
    for (schema_pattern *pattern = schema->patterns; pattern; pattern = pattern->next)
        mishap_pattern_free(pattern->compiled);
    mishap_json_reader_release(&schema->reader);
    mishap_arena_release(&schema->arena);
    mishap_release(schema);
}

const char *mishap_schema_unread(const mishap_schema *schema)
{
    return schema->unread;
}
