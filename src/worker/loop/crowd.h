/*
 * Which callers have called lately, in memory that all loops share. A long call gives way to calls
 * of other callers on the processors (yield.c), but only if there are other callers. So it is
 * enough to remember the last two callers.
 *
 * Nothing here blocks or locks. If two loops write at the same moment, both entries may name the
 * same caller, until the other caller makes its next call.
 */
#ifndef MISHAP_WORKER_LOOP_CROWD_H
#define MISHAP_WORKER_LOOP_CROWD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "worker/plan/plan.h"

enum { MISHAP_CROWD_MS = 30000 }; /* for so long after a call its caller counts as present */

/* All zero: no caller yet. */
typedef struct mishap_crowd {
    struct mishap_crowd_caller {
        _Atomic uint64_t holder;
        _Atomic int64_t seen_ns;
    } callers[2];
} mishap_crowd;

/* Create it in shared memory, before there are loops. */
mishap *mishap_crowd_make(mishap_crowd **out);
void mishap_crowd_free(mishap_crowd *crowd);

/* This caller makes a call; 0: a caller without a name, which is not counted. */
void mishap_crowd_see(mishap_crowd *crowd, uint64_t holder, int64_t now_ns);

/* True if another caller has called lately. */
bool mishap_crowd_has_others(const mishap_crowd *crowd, uint64_t holder, int64_t now_ns);

#endif
