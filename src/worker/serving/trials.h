/*
 * Which services work, as far as trials have shown: in memory that all loops of a server share.
 *
 * A service that depends on another program declares a trial (mishap_service.trial), a small call
 * with a known answer. The first request of /ready or /health has each trial run once for the whole
 * server: one loop hands the call to its runner, as any other call, and every loop sees the result.
 * Without such a request no trial runs.
 *
 * A trial that failed is repeated soon, and then after pauses that grow. A service counts as failed
 * if two trials in a row failed: a single one may fail because a process was killed or the machine
 * was too busy. A trial that worked is repeated only if a call of its service ended with
 * INTERNAL_ERROR, and at most once a minute, since the code of a caller may cause that. The result
 * of a trial is only reported: calls are served in any case.
 */
#ifndef MISHAP_WORKER_SERVING_TRIALS_H
#define MISHAP_WORKER_SERVING_TRIALS_H

#include <stdatomic.h>

#include "worker/serving/served.h"

typedef enum mishap_trial_state {
    MISHAP_TRIAL_NONE, /* not tried yet */
    MISHAP_TRIAL_WORKS,
    MISHAP_TRIAL_FAILS,
    MISHAP_TRIAL_MISSING, /* what the service needs is not installed */
    MISHAP_TRIAL_REFUSED, /* the machine does not offer the sandbox that it needs */
    MISHAP_TRIAL_CLOSED,  /* it cannot be opened: standing.h */
} mishap_trial_state;

/* All zero: nothing was tried, and no trial is due. One entry for each group of the plan. */
typedef struct mishap_trials {
    struct mishap_trial_of {
        _Atomic uint32_t state;
        _Atomic uint32_t failures; /* trials in a row that failed */
        _Atomic int64_t due_ns;    /* when the next trial is due; 0: none is */
        _Atomic int64_t ended_ns;  /* when the last trial ended; 0: there was none */
    } of[MISHAP_WORKER_GROUPS];
} mishap_trials;

/* Create it in shared memory, before there are loops. */
mishap *mishap_trials_make(mishap_trials **out);
void mishap_trials_free(mishap_trials *trials);

/* A client asks for the state: trials that were not run yet are due now, and begin. */
void mishap_trials_ask(mishap_served *served);

/* A call of this service ended with INTERNAL_ERROR. */
void mishap_trials_suspect(mishap_served *served, const mishap_service *service);

/* Begin the trials that are due and that no other loop has begun. To be called every second or more
 * often. */
void mishap_trials_tend(mishap_served *served);

/* This loop ends: forget the trials that it has begun. */
void mishap_trials_leave(mishap_served *served);

/* The known state of a service. */
typedef struct mishap_readiness {
    const mishap_service *service;
    mishap_trial_state state;
    bool known, ready;
    const char *word, *message; /* both constant, and safe to show to any client */
} mishap_readiness;

/* Iterate over the services that have a trial, and those that cannot be opened. *at is 0 at first.
 * False: there are no more. */
bool mishap_trials_next(const mishap_served *served, size_t *at, mishap_readiness *out);

#endif
