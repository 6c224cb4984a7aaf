/* Codes and statuses that are in no table: a document of another program may contain any. */
#ifndef MISHAP_MISHAP_CODE_H
#define MISHAP_MISHAP_CODE_H

#include "base/arena.h"
#include "mishap/catalog.h"

/* Is it a row of this table? For tables that the generator made, whose rows know their places. */
static inline bool mishap_catalog_has_row(const mishap_catalog *table, const mishap_code *code)
{
    return code->row < table->count && table->codes[code->row] == code;
}

/* The same for any table, and its place there; false if it is none of its rows. */
bool mishap_catalog_place(const mishap_catalog *table, const mishap_code *code, size_t *place);

/*
 * A row for a name that no table has. The spellings come from the name, the numbers from the
 * category, or from the HTTP status where that is known (not 0). NULL when the arena has no memory.
 */
const mishap_code *mishap_code_derive(mishap_arena *arena, mishap_text name,
                                      mishap_category category, int http_status);

/*
 * The row of an HTTP status: the one with the same name; for an unknown status the first of its
 * class. NULL: it is not the status of an error.
 */
const mishap_code *mishap_code_by_status(int http_status);

/*
 * Turn any spelling into a name: `not-found`, `not_found` and `NotFound` into NOT_FOUND. Writes at
 * most `size` bytes with a NUL; false if that gives no valid name.
 */
bool mishap_code_unspell(mishap_text spelling, char *name, size_t size);

#endif
