/*
 * Permits to compute, in memory that all loops share. While there are other callers, a caller with
 * many long calls computes on half of the processors at most: there is one permit for each of
 * these, and a call needs one to begin (yield.c).
 *
 * A lower priority is not enough. A process that wakes up beside processes of low priority still
 * waits for a part of their time slices, each time, and a commit wakes up several times. And a
 * database server computes with a priority of its own.
 *
 * Nothing here blocks or locks. A permit names the process that has it: the permit of a loop that
 * has died goes to the next loop. Loops that got none form a queue: the next permit is for the one
 * that has waited longest, and a loop that got one and wants another goes to the end of the queue.
 */
#ifndef MISHAP_WORKER_LOOP_PERMITS_H
#define MISHAP_WORKER_LOOP_PERMITS_H

#include <stdatomic.h>

#include "base/life.h"
#include "worker/plan/plan.h"

enum {
    MISHAP_PERMITS = 64,           /* at most */
    MISHAP_PERMIT_AGAIN_MS = 2,    /* after so long a loop that got none tries again */
    MISHAP_PERMIT_WANTED_MS = 100, /* a loop that has not tried for so long wants none any more */
};

typedef struct mishap_permits {
    size_t count;
    /* Which loop has each permit; 0: none. No other memory depends on it, so relaxed order is
     * enough. */
    _Atomic mishap_life of[MISHAP_PERMITS];
    struct mishap_permits_want {
        _Atomic mishap_life loop; /* 0: the place is free */
        _Atomic int64_t since_ns; /* when it joined the queue */
        _Atomic int64_t tried_ns; /* when it tried last */
    } line[MISHAP_KEEPER_LOOPS];
} mishap_permits;

/* Create it in shared memory, before there are loops. */
mishap *mishap_permits_make(mishap_permits **out);
void mishap_permits_free(mishap_permits *permits);

/* Take a permit; it is given back with mishap_permits_return(). 0: there is none now. */
size_t mishap_permits_take(mishap_permits *permits, mishap_life loop, int64_t now_ns);
void mishap_permits_return(mishap_permits *permits, size_t permit);

#endif
