/* What the files of src/schema share: the compiled form of a schema. */
#ifndef MISHAP_SCHEMA_INSIDE_H
#define MISHAP_SCHEMA_INSIDE_H

#include "operation/format.h"
#include "operation/operation.h"
#include "schema/schema.h"

typedef enum schema_draft { DRAFT_7, DRAFT_2019, DRAFT_2020 } schema_draft;

/* The outcome of a rule, and of all rules together: the largest of them. */
typedef enum schema_verdict {
    SCHEMA_FITS,
    SCHEMA_OPEN, /* it cannot be told */
    SCHEMA_FAILS,
} schema_verdict;

enum {
    TYPE_NULL = 1,
    TYPE_BOOLEAN = 2,
    TYPE_STRING = 4,
    TYPE_ARRAY = 8,
    TYPE_OBJECT = 16,
    TYPE_NUMBER = 32,
    TYPE_INTEGER = 64, /* an integer is a number, too */
};

typedef struct schema_node schema_node;

typedef struct schema_list {
    schema_node **nodes;
    size_t count;
} schema_list;

/* A regular expression of the schema. */
typedef struct schema_pattern {
    struct schema_pattern *next; /* all patterns of the schema */
    mishap_pattern *compiled;    /* NULL: it is not judged */
    mishap_text text;            /* as the schema has it */
} schema_pattern;

typedef struct schema_strings {
    size_t min, max; /* characters; SIZE_MAX: no limit */
    schema_pattern *pattern;
    const mishap_format *format;
} schema_strings;

typedef struct schema_numbers {
    yyjson_val *min, *max, *above, *below, *multiple; /* NULL: none */
} schema_numbers;

typedef struct schema_arrays {
    size_t min, max;
    bool unique;
    schema_list prefix;
    schema_node *rest; /* the items behind the prefix */
    schema_node *contains;
    size_t contains_min, contains_max;
    schema_node *unevaluated;
} schema_arrays;

typedef struct schema_property {
    mishap_text name;
    schema_node *node; /* NULL: only its presence is asked for */
    bool required;
} schema_property;

typedef struct schema_matched {
    schema_pattern *pattern;
    schema_node *node;
} schema_matched;

/* If there is a member of this name, the rest holds. */
typedef struct schema_dependency {
    mishap_text name;
    schema_node *node;  /* of the whole object; NULL: none */
    yyjson_val *needed; /* names of other members; NULL: none */
} schema_dependency;

typedef struct schema_objects {
    size_t min, max;
    schema_property *properties; /* each name once, in the order of length and bytes */
    size_t count, required;
    yyjson_val *declared, *needed; /* `properties` and `required`, in the order of the schema */
    schema_matched *patterns;
    size_t pattern_count;
    schema_node *additional, *names, *unevaluated;
    schema_dependency *dependencies;
    size_t dependency_count;
} schema_objects;

/* Schemas that apply to the same value. */
typedef struct schema_applied {
    schema_node *ref, *not, *when, *then, *otherwise;
    schema_list all, any, one;
} schema_applied;

struct schema_node {
    enum { NODE_RULES, NODE_TRUE, NODE_FALSE } kind;
    bool open;            /* a part of it is not judged */
    unsigned char types;  /* 0: any */
    yyjson_val *constant; /* NULL: none */
    yyjson_val *choices;  /* an array; NULL: none */
    schema_strings *strings;
    schema_numbers *numbers;
    schema_arrays *arrays;
    schema_objects *objects;
    schema_applied *applied;
};

struct mishap_schema {
    mishap_arena arena;
    mishap_json_reader reader;
    const char *unread;
    schema_draft draft;
    schema_node *root;
    schema_pattern *patterns;
    char storage[1024]; /* the arena begins here */
};

/* -- compiling --------------------------------------------------------------------------------- */

/* An address, or a piece of a document with one of its own. */
typedef struct schema_resource {
    struct schema_resource *next;
    mishap_text address; /* absolute, or as far as it is known; without a fragment */
    mishap_text anchor;  /* no data: the resource itself */
    yyjson_val *value;
    struct schema_resource *base; /* of an anchor: its resource */
    bool dynamic;                 /* a $dynamicAnchor */
} schema_resource;

typedef struct schema_compiler {
    mishap_schema *schema;
    schema_node **nodes;     /* of each value of the document; NULL: none yet */
    schema_resource **bases; /* … the resource that it belongs to; NULL: it was not seen yet */
    uint32_t *waiting;       /* values whose nodes are to be filled */
    size_t values, waiting_count, node_count, pattern_count, name_count, address_count, lookups;
    schema_resource *resources; /* newest first */
    bool no_memory;
} schema_compiler;

/* A schema of the document; NULL: no memory, or too many. It is filled later. */
schema_node *mishap_schema_node(schema_compiler *c, yyjson_val *value, schema_resource *base);

/* Find the addresses and anchors of a schema and of all that is in it. */
void mishap_schema_scan(schema_compiler *c, yyjson_val *value, schema_resource *base);

/* What a $ref means; NULL: nothing that is in this document, or no memory. */
yyjson_val *mishap_schema_resolve(schema_compiler *c, mishap_text reference, schema_resource *base,
                                  schema_resource **base_of_it);

/* True if a $dynamicRef to this can lead to more than one place, depending on the way that was
 * taken to it. */
bool mishap_schema_is_dynamic(const schema_compiler *c, mishap_text reference);

/* Add a reference to the buffer, resolved against a base, without the fragment. */
void mishap_address_resolve(mishap_buffer *buffer, mishap_text base, mishap_text reference);

/* Add a pattern of ECMAScript as our matcher reads it, with a NUL behind. False: it has a part that
 * cannot be translated. */
bool mishap_expression_translate(mishap_buffer *buffer, mishap_text expression);

/* -- judging ----------------------------------------------------------------------------------- */

typedef struct schema_run {
    size_t steps; /* that are left */
    size_t depth;
    bool tired; /* a search for a pattern gave up: there are no further ones */
} schema_run;

static inline schema_run mishap_schema_run(void)
{
    return (schema_run){ .steps = MISHAP_SCHEMA_MOST_STEPS };
}

/* False: there are not that many left. */
static inline bool mishap_schema_charge(schema_run *run, size_t steps)
{
    if (run->steps < steps) {
        run->steps = 0;
        return false;
    }
    run->steps -= steps;
    return true;
}

/* The types of a value, as bits. */
unsigned mishap_schema_types_of(yyjson_val *value);

schema_verdict mishap_schema_judge(schema_run *run, const schema_node *node, yyjson_val *value);

/* Single rules, which a finding is made of. */
schema_verdict mishap_schema_typed(const schema_node *node, yyjson_val *value);
schema_verdict mishap_schema_matches(schema_run *run, const schema_pattern *pattern,
                                     mishap_text text);
schema_verdict mishap_schema_chosen(schema_run *run, const schema_node *node, yyjson_val *value);
schema_verdict mishap_schema_count_contained(schema_run *run, const schema_arrays *arrays,
                                             yyjson_val *value, size_t *count);
const schema_property *mishap_schema_find_property(const schema_objects *objects, mishap_text name);

/* The schemas that a member is held against: `additional` is NULL if others are there. */
typedef struct schema_member {
    const schema_property *property;
    const schema_node *additional;
} schema_member;

/* The verdict of all rules for one member. */
schema_verdict mishap_schema_judge_member(schema_run *run, const schema_objects *objects,
                                          yyjson_val *key, yyjson_val *value,
                                          schema_member *member);

/* The steps that it takes to look for the names of a dependency. */
size_t mishap_schema_cost_of(const schema_dependency *dependency, yyjson_val *object);

/* True for a dependency that applies, and whose other names are not all there: `missing`. */
bool mishap_schema_lacks(const schema_dependency *dependency, yyjson_val *object,
                         mishap_text *missing);

/* Two numbers: -1, 0, 1; 2: it cannot be told. */
int mishap_schema_compare(yyjson_val *a, yyjson_val *b);
schema_verdict mishap_schema_multiple(yyjson_val *value, yyjson_val *of);
schema_verdict mishap_schema_equal(schema_run *run, yyjson_val *a, yyjson_val *b);

/* FAILS: two items are equal, and `first` and `second` are their numbers. */
schema_verdict mishap_schema_unique(schema_run *run, yyjson_val *array, size_t *first,
                                    size_t *second);

/* FITS: the node, or one that applies to the same object, evaluates the member or item. `self` is
 * the node that asks. */
schema_verdict mishap_schema_evaluates_member(schema_run *run, const schema_node *node,
                                              const schema_node *self, yyjson_val *object,
                                              yyjson_val *key);
schema_verdict mishap_schema_evaluates_item(schema_run *run, const schema_node *node,
                                            const schema_node *self, yyjson_val *array,
                                            size_t index, yyjson_val *item);

static inline schema_verdict mishap_schema_both(schema_verdict a, schema_verdict b)
{
    return a > b ? a : b;
}

#endif
