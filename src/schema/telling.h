/* Findings about a value that does not fit: the walk (tell.c), the choice among alternatives
 * (alternatives.c), and the words (words.c). */
#ifndef MISHAP_SCHEMA_TELLING_H
#define MISHAP_SCHEMA_TELLING_H

#include "operation/findings.h"
#include "schema/inside.h"

typedef struct schema_telling {
    schema_run run;
    mishap_findings findings;
    mishap_spot root; /* members of the root are named without it */
} schema_telling;

enum {
    SCHEMA_SHOWN_NAME = 100, /* bytes of a name */
    SCHEMA_ANY_TYPE = 127,
};

/* Find out what is wrong with a value that fails. */
void mishap_schema_tell(schema_telling *t, const schema_node *node, const mishap_spot *spot,
                        yyjson_val *value);

/* … with one that fits none of the schemas, or more than one where only one may be. */
void mishap_schema_tell_any(schema_telling *t, const schema_list *list, const mishap_spot *spot,
                            yyjson_val *value);
void mishap_schema_tell_one(schema_telling *t, const schema_list *list, const mishap_spot *spot,
                            yyjson_val *value);

/* The place of a member. */
mishap_spot mishap_schema_member_spot(schema_telling *t, const mishap_spot *of, mishap_text name);

/* -- single findings --------------------------------------------------------------------------- */

/* The place, words, and the value if it may be shown. */
void mishap_schema_say(schema_telling *t, const mishap_spot *spot, const char *error,
                       const char *words, yyjson_val *value);

void mishap_schema_say_type(schema_telling *t, const mishap_spot *spot, unsigned types,
                            yyjson_val *value);
void mishap_schema_say_missing(schema_telling *t, const mishap_spot *spot, const schema_node *node);
void mishap_schema_say_needed(schema_telling *t, const mishap_spot *spot, mishap_text because);
void mishap_schema_say_unknown(schema_telling *t, const mishap_spot *spot,
                               const schema_objects *objects, yyjson_val *object);
void mishap_schema_say_pattern(schema_telling *t, const mishap_spot *spot, mishap_text pattern,
                               yyjson_val *value);
void mishap_schema_say_number(schema_telling *t, const mishap_spot *spot,
                              const schema_numbers *numbers, yyjson_val *value);
void mishap_schema_say_length(schema_telling *t, const mishap_spot *spot, size_t min, size_t max,
                              yyjson_val *value);
void mishap_schema_say_same(schema_telling *t, const mishap_spot *spot, size_t first,
                            size_t second);
void mishap_schema_say_contained(schema_telling *t, const mishap_spot *spot,
                                 const schema_arrays *arrays, size_t count);

/* One of these values, of which there is at least one. */
void mishap_schema_say_choice(schema_telling *t, const mishap_spot *spot, yyjson_val *const *values,
                              size_t count, yyjson_val *value);

#endif
