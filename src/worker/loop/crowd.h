/*
 * Which callers there were lately, in memory that all loops share. A call that takes long gives way
 * to calls of others on the processors (yield.c), but only if there are others. So it is enough to
 * remember the two callers that came last.
 *
 * Nothing here waits or locks. Loops that write at the same moment may remember one caller twice,
 * until the next call of the other.
 */
#ifndef MISHAP_WORKER_LOOP_CROWD_H
#define MISHAP_WORKER_LOOP_CROWD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "worker/plan/plan.h"

enum { MISHAP_CROWD_MS = 30000 }; /* so long a caller is there after it called */

/* All zero: nobody was there. */
typedef struct mishap_crowd {
    struct mishap_crowd_caller {
        _Atomic uint64_t holder;
        _Atomic int64_t seen_ns;
    } callers[2];
} mishap_crowd;

/* In shared memory, before there are loops. */
mishap *mishap_crowd_make(mishap_crowd **out);
void mishap_crowd_free(mishap_crowd *crowd);

/* This caller calls; 0: nobody in particular, who is not counted. */
void mishap_crowd_see(mishap_crowd *crowd, uint64_t holder, int64_t now_ns);

/* Was another caller there lately? */
bool mishap_crowd_has_others(const mishap_crowd *crowd, uint64_t holder, int64_t now_ns);

#endif
