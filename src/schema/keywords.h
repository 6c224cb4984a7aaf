/* The keywords of JSON Schema, each read into the node of its schema. */
#ifndef MISHAP_SCHEMA_KEYWORDS_H
#define MISHAP_SCHEMA_KEYWORDS_H

#include "schema/inside.h"

typedef struct schema_keyword_place {
    schema_node *node;
    yyjson_val *schema;
    schema_resource *base;
} schema_keyword_place;

/* Read one keyword. One that is not known, or not in this draft, changes nothing. */
void mishap_schema_read_keyword(schema_compiler *c, const schema_keyword_place *place,
                                mishap_text name, yyjson_val *value);

/* Where a keyword has schemas. */
typedef enum schema_holds {
    HOLDS_NONE,
    HOLDS_ONE,
    HOLDS_LIST,
    HOLDS_MAP,
    HOLDS_EITHER, /* one, or a list */
} schema_holds;

/* HOLDS_NONE: the keyword has none, or is not known. */
schema_holds mishap_schema_keyword_holds(mishap_text name);

/* True for an array of strings. */
bool mishap_schema_are_names(yyjson_val *value);

/* Sort the members that `properties` and `required` name into the node; false: no memory. */
bool mishap_schema_read_members(schema_compiler *c, const schema_keyword_place *place);

/* The order in which they are sorted. */
int mishap_schema_order_names(mishap_text a, mishap_text b);

#endif
