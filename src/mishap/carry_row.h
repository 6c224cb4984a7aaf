/* A row of the catalog as bytes: the part of carry.c that is about codes. */
#ifndef MISHAP_MISHAP_CARRY_ROW_H
#define MISHAP_MISHAP_CARRY_ROW_H

#include "base/pack.h"
#include "mishap/inside.h"

/* Append the row with all its texts and numbers. */
void mishap_carry_put_row(mishap_buffer *out, const mishap_code *row);

/*
 * Read a row, for a mishap that has no parts yet. The result is an equal row of a table, or a copy
 * in the arena of the mishap. NULL, and the reader has failed, if no table could have such a row.
 * Without memory for the copy the mishap is marked as incomplete, and the result is INTERNAL_ERROR
 * for a masked row and GENERAL_ERROR for any other.
 */
const mishap_code *mishap_carry_take_row(mishap_unpack *in, mishap *m);

#endif
