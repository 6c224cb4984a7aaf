/*
 * What the boundaries that share one server have in common, though they do not know each other: the
 * program whose operations they call, how it was started, and the threads that run handlers.
 */
#ifndef MISHAP_OPERATION_SERVED_H
#define MISHAP_OPERATION_SERVED_H

#include "operation/operation.h"
#include "operation/threads.h"

enum { MISHAP_CALLS_FOR_EACH_THREAD = 64 }; /* that may wait or run at once */

typedef struct mishap_served {
    const mishap_app *app;
    mishap_setup setup; /* data folder and store */
    bool chaos;         /* with the operations that fail on purpose */
    bool verbose;       /* the private side of a failure on stderr, too */
    int call_ms;        /* how long any handler may take; 0: as its operation says */
    int thread_count;   /* handlers that run at once in each process */

    /* In each process that serves, on the thread of its loop. Whoever adds a job to the threads
     * gives it a done(), which is called on that thread, and counts it here until then. */
    mishap_threads *threads;
    size_t waiting; /* calls that wait for a thread or run on one */
} mishap_served;

/* Are there as many calls as may be? */
static inline bool mishap_served_is_busy(const mishap_served *served)
{
    return served->waiting >= (size_t)served->thread_count * MISHAP_CALLS_FOR_EACH_THREAD;
}

#endif
