/* Ids: UUID version 7 (RFC 9562), so that they sort by time and cannot be guessed. */
#ifndef MISHAP_BASE_ID_H
#define MISHAP_BASE_ID_H

#include <stdint.h>

enum { MISHAP_ID_LENGTH = 36 };

/* A new id as text, with a NUL after it. It is above all that this thread has made before, unless the
 * clock goes back, or the thread makes more than 2,000 in a millisecond. */
void mishap_id_make(char id[MISHAP_ID_LENGTH + 1]);

/* The same if the time is known already, in milliseconds since 1970. */
void mishap_id_make_at(char id[MISHAP_ID_LENGTH + 1], int64_t now_ms);

#endif
