/*
 * A thread that keeps processes of foreign programs in stock: it stops those that have served their
 * call, and starts those that wait for the next one (waiting.h). To start a process in a sandbox
 * takes milliseconds, and so does the end of one; without this thread a caller would wait for both.
 *
 * A service starts it in its open() and ends it in its close(). Any number of services may: there
 * is one thread. A process that is forked has none.
 */
#ifndef SERVICES_STOCK_H
#define SERVICES_STOCK_H

#include "waiting.h"

/* Start a process for a place in which none waits: NULL if that fails, which the next call is told.
 */
typedef mishap_foreign_process *service_launch(void *context);

enum { SERVICE_SHELF = 2 };

typedef struct service_shelf {
    service_waiting places[SERVICE_SHELF];
    int wanted; /* processes that are to wait; 0: 1 */
    service_launch *launch;
    void *context;
} service_shelf;

void service_stock_open(void);
void service_stock_close(void);

/* Have as many processes wait on the shelf as are wanted, soon, and stop one that has served (NULL:
 * none). Without the thread both happen at once. */
void service_stock_refill(service_shelf *shelf, mishap_foreign_process *served);

/* The process that waits, which the caller owns from then on; NULL: none does. One that is about to
 * be started is waited for. */
mishap_foreign_process *service_stock_take(service_shelf *shelf);

/* Have a process wait that has served, and can do so again. It is stopped if enough wait. */
void service_stock_return(service_shelf *shelf, mishap_foreign_process *process);

/* Stop the processes that wait. */
void service_stock_clear(service_shelf *shelf);

#endif
