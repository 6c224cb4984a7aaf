/*
 * What callers have changed lately, as positions in the logs of databases, in memory that all loops
 * share: so a caller sees its own changes, though a standby may run its reads (`serve --stale-ms`).
 *
 * A position is needed for `stale_ms` only: a standby that is used has everything that was
 * acknowledged before. So entries need not be removed. Callers with the same hash share an entry:
 * then one of them may read at the primary for nothing.
 *
 * Nothing here blocks or locks. Positions only grow. One is written before its time, and before the
 * response of its call is sent; so a loop that reads a later request of the caller sees both.
 */
#ifndef MISHAP_WORKER_LOOP_POSITIONS_H
#define MISHAP_WORKER_LOOP_POSITIONS_H

#include <stdatomic.h>

#include "operation/call.h"
#include "worker/plan/plan.h"

enum { MISHAP_POSITIONS = 4096 }; /* entries: a power of two */

typedef struct mishap_positions {
    int64_t stale_ns, begun_ns;
    struct mishap_positions_entry {
        _Atomic uint64_t position;
        _Atomic int64_t at_ns;      /* when it was noted; 0: never */
        _Atomic int64_t unknown_ns; /* when the outcome of a change was not known; 0: never */
    } entries[MISHAP_POSITIONS];
} mishap_positions;

/* Create it in shared memory, before there are loops. Without `stale_ms` there is none: *out is
 * NULL. */
mishap *mishap_positions_make(int stale_ms, mishap_positions **out);
void mishap_positions_free(mishap_positions *positions);

/* A call is over: note what it has changed. A failure of a call that may have changed something,
 * though its process did not say what, is MISHAP_LOG_UNKNOWN: call->log_position is set then.
 * `positions` may be NULL. */
void mishap_positions_note(mishap_positions *positions, mishap_call *call, bool failed);

/* Before a call is handed over: raise call->log_after to what its caller has changed. `positions`
 * may be NULL. */
void mishap_positions_need(const mishap_positions *positions, mishap_call *call);

#endif
