/*
 * Permits to compute, in memory that all loops share. While there are other callers, a caller with
 * many calls that take long computes on half of the processors at most: there is one permit for
 * each of these, and a call needs one to begin (yield.c).
 *
 * A lower priority is not enough. A process that wakes up beside others of a low priority still
 * waits for a part of their slices, each time, and a commit wakes up several times; and a database
 * server computes with a priority of its own.
 *
 * Nothing here waits or locks. A permit names the process that has it: that of a loop that has died
 * is taken by the next. Loops that got none stand in a line: the next permit is for the one that
 * has waited longest, and a loop that got one and wants another stands at the end again.
 */
#ifndef MISHAP_WORKER_LOOP_PERMITS_H
#define MISHAP_WORKER_LOOP_PERMITS_H

#include <stdatomic.h>

#include "base/life.h"
#include "worker/plan/plan.h"

enum {
    MISHAP_PERMITS = 64,           /* at most */
    MISHAP_PERMIT_AGAIN_MS = 2,    /* after so long, a loop that got none tries again */
    MISHAP_PERMIT_WANTED_MS = 100, /* one that has not tried for so long wants none any more */
};

typedef struct mishap_permits {
    size_t count;
    /* Who has each: 0: nobody. No other memory depends on it, so relaxed order is enough. */
    _Atomic mishap_life of[MISHAP_PERMITS];
    struct mishap_permits_want {
        _Atomic mishap_life loop; /* 0: the place is free */
        _Atomic int64_t since_ns; /* when it came into the line */
        _Atomic int64_t tried_ns; /* when it tried last */
    } line[MISHAP_KEEPER_LOOPS];
} mishap_permits;

/* In shared memory, before there are loops. */
mishap *mishap_permits_make(mishap_permits **out);
void mishap_permits_free(mishap_permits *permits);

/* 0: there is none now. Else it is for mishap_permits_return(). */
size_t mishap_permits_take(mishap_permits *permits, mishap_life loop, int64_t now_ns);
void mishap_permits_return(mishap_permits *permits, size_t permit);

#endif
