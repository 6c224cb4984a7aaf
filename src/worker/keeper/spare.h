/*
 * Processes that wait for the next session of a foreign program (`.waits` in mishap/worker.h), one
 * of each program. They are started while no session begins, so that the first call of the next one
 * does not wait for its process. keeper.c hands them to leases.
 */
#ifndef MISHAP_WORKER_KEEPER_SPARE_H
#define MISHAP_WORKER_KEEPER_SPARE_H

#include "worker/plan/plan.h"

void mishap_spares_begin(const mishap_keeper_plan *plan);

/* Take the process that waits for a session of this group: its number, and the loop's end of the
 * connection to it. False: there is none. */
bool mishap_spare_take(uint32_t group, uint32_t *worker, int32_t *pid, int *end);

/* A worker has ended. */
void mishap_spares_worker_ended(uint32_t worker);

/* Start those that are due. Returns when the next one is; INT64_MAX: none is. */
int64_t mishap_spares_look(int64_t now_ns);

#endif
