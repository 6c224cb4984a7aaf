/*
 * What all processes of a server know from the start: which operations share a process, and what a
 * worker may use.
 */
#ifndef MISHAP_WORKER_PLAN_PLAN_H
#define MISHAP_WORKER_PLAN_PLAN_H

#include "worker/spawn/child.h"

/* -- which calls share a process --------------------------------------------------------------- */

/*
 * Operations that run in the same processes. The operations of a service are a group, those without
 * a service and without state (.stateless) are one, and those without a service are one. Calls of a
 * service that are apart from its others (mishap_settlement.apart) are one more.
 */
typedef struct mishap_worker_group {
    const mishap_service *service;        /* NULL: operations without one */
    const struct mishap_foreign *foreign; /* the program that runs its calls; NULL: this one */
    bool alone;   /* state in memory: one process for the whole server, which is never put away */
    bool settled; /* its calls are settled in batches, in one process as well */
    bool apart;   /* … and these are the calls that take long */
    const char *const *program; /* another program to execute, its arguments, then NULL; NULL: this
                                   one, forked */
    bool opened; /* the service was, when the server started: a worker opens the same, or fails */
    char identity[MISHAP_IDENTITY_LIMIT]; /* … of what was opened */
} mishap_worker_group;

enum { MISHAP_WORKER_GROUPS = 34 }; /* at most: the two without a service are among them */

typedef struct mishap_worker_groups {
    size_t count;
    mishap_worker_group groups[MISHAP_WORKER_GROUPS];
} mishap_worker_groups;

/* The groups of a program, the same in every process of it. NOT_CONFIGURED: too many services. */
mishap *mishap_worker_groups_make(const mishap_app *app, mishap_worker_groups *groups);

/* The number of an operation's group, and of a call's: that may be apart. */
size_t mishap_worker_group_of(const mishap_worker_groups *groups,
                              const mishap_operation *operation);
size_t mishap_worker_group_of_call(const mishap_worker_groups *groups, const mishap_call *call);

/* -- the plan ---------------------------------------------------------------------------------- */

enum { MISHAP_KEEPER_LOOPS = 256 }; /* at most */

/* What a keeper and its workers need to know. All of it lives as long as the keeper's parent. */
typedef struct mishap_keeper_plan {
    const mishap_app *app;
    const mishap_setup *setup; /* for the services; NULL: the user's data folder */
    mishap_worker_groups groups;
    mishap_worker_limits limits;
    int batch; /* calls that a service settles together, at most; 0: as many as there may be */
    int caller_share; /* percent of the sessions that one caller may have; 0: all */
} mishap_keeper_plan;

#endif
