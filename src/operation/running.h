/* A call that runs: what dispatch.c and settle.c share. */
#ifndef MISHAP_OPERATION_RUNNING_H
#define MISHAP_OPERATION_RUNNING_H

#include "operation/call.h"

/* What runs inside containment: the handler, what it deferred, or the functions of a settlement. */
typedef struct mishap_running {
    mishap_call *call;
    mishap *outcome;  /* of the function */
    const char *what; /* for the operator */
    uintptr_t entry;  /* of the function that runs */
    bool begun;       /* begin() of its settlement has worked: end() is due */
    bool keep;        /* … and whether it is to keep what the call did */
} mishap_running;

/* Run a function with `running` as its state. NULL if it returned, else why it did not. */
mishap *mishap_running_contain(mishap_running *running, void (*run)(void *state));

/* Make an INTERNAL_ERROR of a failure that the operation does not declare. */
mishap *mishap_running_allow(const mishap_app *app, const mishap_operation *operation,
                             mishap *failure);

/* A handler that was ended, or whose changes are undone, has answered nothing. */
mishap *mishap_running_drop_answer(mishap_call *call, mishap *failure);

/* -- settle.c ---------------------------------------------------------------------------------- */

/* How the service of a call settles it; NULL: it does not. This is found out once, on the thread of
 * the handler: apart() may read parameters, which no other thread may. */
static inline const mishap_settlement *mishap_settlement_of(const mishap_call *call)
{
    const mishap_service *service = call->operation->service;
    const mishap_settlement *settlement = service ? service->settlement : NULL;
    if (!settlement || !settlement->settle)
        return NULL;
    return settlement->apart && settlement->apart(call) ? NULL : settlement;
}

/* Before the handler, inside containment. */
mishap *mishap_settlement_begin(mishap_running *running);

/* After the handler: `failure` is what came of it, and the result is what came of all. */
mishap *mishap_settlement_finish(mishap_running *running, mishap *failure);

#endif
