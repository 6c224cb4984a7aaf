/*
 * A thread that keeps processes of foreign programs in stock: it stops those that have served their
 * call, and starts those that wait for the next one (waiting.h). Starting a process in a sandbox
 * takes milliseconds, and so does ending one; without this thread a caller would wait for both.
 *
 * A service starts it in its open() and ends it in its close(). All services of a process share one
 * thread. A forked process has none.
 */
#ifndef SERVICES_STOCK_H
#define SERVICES_STOCK_H

#include "waiting.h"

/* Start a process that will wait on a shelf. NULL: that failed; the next call then reports it. */
typedef mishap_foreign_process *service_launch(void *context);

enum { SERVICE_SHELF = 2 };

typedef struct service_shelf {
    service_waiting places[SERVICE_SHELF];
    int wanted; /* how many processes should wait; 0: 1 */
    service_launch *launch;
    void *context;
} service_shelf;

void service_stock_open(void);
void service_stock_close(void);

/* Soon have as many processes waiting on the shelf as are wanted, and stop one that has served its
 * call (NULL: none). Without the thread both happen at once. */
void service_stock_refill(service_shelf *shelf, mishap_foreign_process *served);

/* Take a waiting process, which the caller owns from then on; NULL: there is none. A process that
 * is about to be started is waited for. */
mishap_foreign_process *service_stock_take(service_shelf *shelf);

/* Put a process back that can serve another call. It is stopped if enough wait. */
void service_stock_return(service_shelf *shelf, mishap_foreign_process *process);

/* Stop the processes that wait. */
void service_stock_clear(service_shelf *shelf);

#endif
