/*
 * How many entries of one kind the log gets from one caller.
 *
 * Entries are of one kind if caller, operation and code are the same. A kind has a bucket of tokens
 * that fills at a fixed rate. Beyond it entries are counted, and one line says how many there were.
 * Failures that a caller causes have small buckets, and all kinds of one caller share another one.
 * A fault of the server has large buckets; beyond them an entry is a line with the id of the
 * request, so that an id that a caller was told can be found.
 *
 * The buckets are in memory that all processes of a server share. No process waits for a lock.
 */
#ifndef MISHAP_INCIDENT_LIMIT_H
#define MISHAP_INCIDENT_LIMIT_H

#include "base/base.h"

typedef struct mishap_limits mishap_limits;

/* NULL: there is no memory. */
mishap_limits *mishap_limits_make(void);
void mishap_limits_free(mishap_limits *limits);

typedef struct mishap_limit_kind {
    const char *caller;    /* a name or an address; NULL: a caller without a name */
    const char *operation; /* may be NULL */
    mishap_text code;
    bool fault; /* a fault of the server, not of the caller */
} mishap_limit_kind;

typedef enum mishap_limit {
    MISHAP_LIMIT_WHOLE, /* write the entry */
    MISHAP_LIMIT_LINE,  /* write one line, with the id of an entry that is like it */
    MISHAP_LIMIT_COUNT, /* write nothing: it is counted */
} mishap_limit;

/*
 * Decide what is written of an entry with this id. For MISHAP_LIMIT_LINE `like` is the id of the
 * last whole entry of this kind, empty if it is not known. `now_ns` is the monotonic clock. May be
 * called in any process; takes no lock.
 */
mishap_limit mishap_limits_ask(mishap_limits *limits, const mishap_limit_kind *kind, const char *id,
                               int64_t now_ns, char like[MISHAP_ID_LENGTH + 1]);

/* Write the counts, one entry for each kind, if that is due: every ten seconds, or `all` of them
 * now. For the one process that writes the log. */
void mishap_limits_tell(mishap_limits *limits, const char *program, int64_t now_ns, bool all,
                        mishap_buffer *out);

#endif
