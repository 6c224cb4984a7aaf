/*
 * Which services can be opened, in memory that all loops of a server share: one loop finds out, and
 * every loop sees it at once.
 *
 * A service is open or closed. Each change from one to the other begins a new generation: even
 * numbers are open, odd ones closed. What was opened in an earlier generation is not used any more.
 * While a service is closed, one loop after the other tries to open it, at growing intervals.
 *
 * Memory order: what a try needs (tries, next_try_ns, told, hopeless) is written before the
 * generation, and read after it; all atomics are sequentially consistent, or acquire where the
 * generation is read.
 *
 * Nothing here blocks or locks: a loop that dies leaves nothing behind that others wait for.
 */
#ifndef MISHAP_WORKER_LOOP_STANDING_H
#define MISHAP_WORKER_LOOP_STANDING_H

#include <stdatomic.h>

#include "worker/plan/plan.h"

/* All zero: every service is open. One entry for each group of the plan. */
typedef struct mishap_standing {
    struct mishap_standing_of {
        _Atomic uint32_t generation;
        _Atomic uint32_t tries;      /* tries to open it since it was closed */
        _Atomic int64_t next_try_ns; /* on the monotonic clock */
        _Atomic uint64_t told;       /* a hash of the reason that the operator was told */
        _Atomic uint32_t hopeless;   /* with this reason, trying again cannot help */
    } of[MISHAP_WORKER_GROUPS];
} mishap_standing;

/* Create it in shared memory, before there are loops. */
mishap *mishap_standing_make(mishap_standing **out);
void mishap_standing_free(mishap_standing *standing);

static inline uint32_t mishap_standing_generation(const mishap_standing *standing, size_t group)
{
    return atomic_load_explicit(&standing->of[group].generation, memory_order_acquire);
}

static inline bool mishap_generation_is_open(uint32_t generation)
{
    return !(generation & 1);
}

/* It could not be opened in this generation, for this reason. `hopeless`: callers need not try
 * again until an operator has solved the problem. True: the operator is to be told, since it was
 * open until now, or the reason has changed. */
bool mishap_standing_close(mishap_standing *standing, size_t group, uint32_t generation,
                           mishap_text reason, bool hopeless);

static inline bool mishap_standing_is_hopeless(const mishap_standing *standing, size_t group)
{
    return atomic_load(&standing->of[group].hopeless);
}

/* It was opened in this generation. True: it was closed, and the operator is to be told. */
bool mishap_standing_reopen(mishap_standing *standing, size_t group, uint32_t generation);

/* For a closed service: when to try again. The second: true if it is time, and this loop is the one
 * to try. */
int64_t mishap_standing_next_try(const mishap_standing *standing, size_t group);
bool mishap_standing_claim(mishap_standing *standing, size_t group, int64_t now_ns);

#endif
