/*
 * The command-line envelope as a whole: what every command prints on stdout, whether it worked or
 * not.
 *
 * Five keys, always: ok, data, error, warnings, meta.
 */
#ifndef MISHAP_DIALECT_ENVELOPE_H
#define MISHAP_DIALECT_ENVELOPE_H

#include "mishap/mishap.h"

typedef struct mishap_envelope {
    mishap_text data;           /* JSON; without it null */
    const mishap_public *error; /* NULL: it worked */
    const char *phase;    /* in which it failed: validation, execution, cleanup; may be NULL */
    const char *signal;   /* that ended it, may be NULL */
    mishap_text warnings; /* JSON strings with commas between; may be empty */
    int64_t duration_ms;
    mishap_text meta; /* further members of meta: JSON as it stands between braces; may be empty */
} mishap_envelope;

void mishap_envelope_put(mishap_buffer *buffer, const mishap_envelope *envelope);

/* The sentence on one field, as it stands in `errors`: "age must be at least 0 and at most 150, not
 * 200." */
void mishap_envelope_put_field_sentence(mishap_buffer *buffer, const mishap_field *field);

#endif
