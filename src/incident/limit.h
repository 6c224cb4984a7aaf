/*
 * How many records of one kind are written whole for one caller.
 *
 * Failures are of one kind if caller and group are the same. A kind has a bucket of tokens that
 * fills at a fixed rate: each record that is written whole takes one. Failures that a caller causes
 * have small buckets, and all kinds of one caller share another one. A fault of the server has
 * large buckets. Without a token a failure has a compact record (compact.h), so each id that a
 * caller was told is found.
 *
 * Bytes are limited, too: a record may have 128 KB. A caller has 4 MB for its mistakes and then
 * 64 KB per second; all callers of a class have 32 MB together and then 512 KB per second.
 *
 * There are four classes, and no class takes anything from another: mistakes and faults of callers
 * with a name, which the operator has given them, and of callers that are only an address, of which
 * an attacker may have many.
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
    const char *caller; /* a name or an address; NULL: a caller without a name */
    uint64_t group;
    bool fault; /* a fault of the server, not of the caller */
} mishap_limit_kind;

/*
 * True if the record with this id is to be written whole. If not, `like` is the id of the last
 * whole record of this kind; zeros: it is not known. `now_ns` is the monotonic clock. May be called
 * in any process; takes no lock.
 */
bool mishap_limits_ask(mishap_limits *limits, const mishap_limit_kind *kind,
                       const unsigned char id[16], int64_t now_ns, unsigned char like[16]);

/* A whole record has so many bytes. */
void mishap_limits_spend(mishap_limits *limits, const mishap_limit_kind *kind, size_t bytes,
                         int64_t now_ns);

#endif
