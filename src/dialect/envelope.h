/*
 * The command-line envelope as a whole: what every command prints on stdout, whether it worked or not.
 *
 * Five keys, always: ok, data, error, warnings, meta.
 */
#ifndef MISHAP_DIALECT_ENVELOPE_H
#define MISHAP_DIALECT_ENVELOPE_H

#include "mishap/mishap.h"

typedef struct mishap_envelope {
    mishap_text data;           /* JSON; without it null */
    const mishap_public *error; /* NULL: it worked */
    const mishap_text *warnings;
    size_t warning_count;
    int64_t duration_ms;
    mishap_text meta; /* further members of meta: JSON as it stands between braces; may be empty */
} mishap_envelope;

void mishap_envelope_put(mishap_buffer *buffer, const mishap_envelope *envelope);

#endif
