/*
 * What all processes of a server know from the start: which operations share a process, and what a
 * worker may use.
 */
#ifndef MISHAP_WORKER_PLAN_PLAN_H
#define MISHAP_WORKER_PLAN_PLAN_H

#include "worker/spawn/child.h"

/* -- which calls share a process --------------------------------------------------------------- */

/*
 * A group: operations that run in the same worker processes. There is one group for each service,
 * one for operations without a service and without state (.stateless), and one for the other
 * operations without a service. Calls of a service that are apart from its others
 * (mishap_settlement.apart) have a group of their own.
 */
typedef struct mishap_worker_group {
    const mishap_service *service; /* NULL: operations without one */
    /* The foreign program that runs its calls; NULL: a fork of this one. */
    const struct mishap_foreign *foreign;
    bool alone; /* it keeps state in memory: one process for the whole server, which runs until the
                   end */
    bool settled; /* its calls are settled in batches, also in one process */
    bool apart;   /* … and this is the group of its long calls */
    /* Another program to execute, its arguments, then NULL; NULL: this one, forked. */
    const char *const *program;
    bool opened; /* the service was opened when the server started: a worker opens the same, or
                    fails */
    char identity[MISHAP_IDENTITY_LIMIT]; /* identity of what was opened */
} mishap_worker_group;

enum { MISHAP_WORKER_GROUPS = 34 }; /* at most, with the two groups without a service */

typedef struct mishap_worker_groups {
    size_t count;
    mishap_worker_group groups[MISHAP_WORKER_GROUPS];
} mishap_worker_groups;

/* The groups of a program, the same in each of its processes. NOT_CONFIGURED: its services need too
 * many. */
mishap *mishap_worker_groups_make(const mishap_app *app, mishap_worker_groups *groups);

/* The index of the group of an operation, and of a call, which may be apart. */
size_t mishap_worker_group_of(const mishap_worker_groups *groups,
                              const mishap_operation *operation);
size_t mishap_worker_group_of_call(const mishap_worker_groups *groups, const mishap_call *call);

/* -- the plan ---------------------------------------------------------------------------------- */

enum { MISHAP_KEEPER_LOOPS = 256 }; /* at most */

/* What the keeper and its workers need to know. It lives as long as the keeper's parent. */
typedef struct mishap_keeper_plan {
    const mishap_app *app;
    const mishap_setup *setup; /* for the services; NULL: the user's data folder */
    mishap_worker_groups groups;
    mishap_worker_limits limits;
    int batch;        /* calls that a service settles together, at most; 0: the limit of a batch */
    int caller_share; /* percent of the sessions that one caller may have; 0: all */
} mishap_keeper_plan;

#endif
