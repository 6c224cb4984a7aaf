/*
 * Context and the other parts of a mishap side by side in one open object: `details` of an
 * artifact, the result of a tool.
 *
 * The context stands there under its own names, and beside it what else the occurrence brings:
 * fields, suggestion, retry_after_ms, cause, docs_url, incident. What was told under one of those
 * names, or under a name that the format has fixed, stands in a `context` of its own, lest it be
 * read as something else.
 */
#ifndef MISHAP_DIALECT_BESIDE_H
#define MISHAP_DIALECT_BESIDE_H

#include "dialect/parts.h"

/* The names of the object that the format has fixed; the list ends with NULL. */
typedef const char *const mishap_fixed_names[];

/*
 * Write all into the object that is open. `row` is what a reader will know the code by: a
 * suggestion or address that it has anyway is not repeated. `but` is a member of the context that
 * stands elsewhere; NULL: none does.
 */
void mishap_put_beside(mishap_buffer *buffer, const mishap_public *told, const mishap_code *row,
                       mishap_fixed_names fixed, const mishap_member *but);

/* True if there is something to write. */
bool mishap_has_beside(const mishap_public *told, const mishap_code *row);

/* Read all members of the object but the fixed ones. `retryable` is what the document says of that,
 * NULL if nothing. */
void mishap_read_beside(mishap *m, yyjson_val *object, yyjson_val *retryable,
                        mishap_fixed_names fixed);

#endif
