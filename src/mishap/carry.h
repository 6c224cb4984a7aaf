/*
 * A mishap as bytes, for another process of the same program: both sides of it, nothing lost.
 *
 * The account and every rendering of the mishap that arrives are those of the mishap that was sent,
 * byte for byte. Both processes must be forks of one process, since the addresses of the native
 * stack are carried as numbers and named by the reader.
 *
 * The bytes have the private side in them: they are for a socket between two of our processes,
 * never for a caller. The reader does not trust them: the sender may be a process that a handler
 * has damaged.
 */
#ifndef MISHAP_MISHAP_CARRY_H
#define MISHAP_MISHAP_CARRY_H

#include "mishap/mishap.h"

/* How many mishaps of a chain of causes are carried, the first one included. */
enum { MISHAP_CARRY_CHAIN = 32 };

/*
 * Append a mishap. NULL and the mishap that stands for "no memory" arrive as themselves. Causes
 * beyond MISHAP_CARRY_CHAIN are left out, and the last one that is carried is marked as incomplete.
 * Without memory the buffer fails.
 */
void mishap_carry_put(mishap_buffer *out, const mishap *m);

/*
 * Make a mishap of such bytes: *out is the caller's, and NULL if NULL was sent. False, with *out
 * NULL, if the bytes are not exactly what mishap_carry_put() writes for some mishap.
 *
 * A code that is not in the built-in table arrives with its whole row. If a table of this process
 * has an equal row, that one is used, so that codes can be compared by their addresses; else the
 * mishap has a copy of the row.
 *
 * Text is mended and redacted as that of a new mishap, which changes nothing in what was sent by an
 * intact process. Without memory, parts are left out and the mishap is marked as incomplete, or the
 * mishap that stands for "no memory" takes its place.
 */
bool mishap_carry_take(mishap_text bytes, mishap **out);

#endif
