/* The process of a worker: it takes calls from loops and runs them, one at a time, until no loop is
 * connected to it any more. */
#ifndef MISHAP_WORKER_CHILD_SERVE_H
#define MISHAP_WORKER_CHILD_SERVE_H

#include "worker/plan/plan.h"

/* Run the worker. `files` are the socket and the page of its first connection. If several loops may
 * use it, the third is a socket over which the keeper hands it more connections. */
_Noreturn void mishap_worker_serve(const mishap_keeper_plan *plan, size_t group, const int *files,
                                   size_t count);

#endif
