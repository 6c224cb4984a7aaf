/*
 * A process of a foreign program that waits for the next call of a service, so that this call finds
 * it started. Any thread may use one of these. A forked process has none at first: it does not
 * touch that of its parent.
 */
#ifndef SERVICES_WAITING_H
#define SERVICES_WAITING_H

#include <stdatomic.h>
#include <sys/types.h>

#include <mishap/worker.h>

/* All zero: none waits. */
typedef struct service_waiting {
    _Atomic(mishap_foreign_process *) process;
    _Atomic pid_t owner; /* the process that has started it */
} service_waiting;

bool service_waiting_is_there(const service_waiting *waiting);

/* Take the waiting process, which the caller owns from then on; NULL: there is none. It may have
 * ended. */
mishap_foreign_process *service_waiting_take(service_waiting *waiting);

/* Let a process wait. It is stopped instead if it has ended, or if another one waits already. */
void service_waiting_keep(service_waiting *waiting, mishap_foreign_process *process);

#endif
