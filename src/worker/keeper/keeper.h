/* The keeper as its parent (the supervisor) sees it: how it is started, restarted and ended. */
#ifndef MISHAP_WORKER_KEEPER_KEEPER_H
#define MISHAP_WORKER_KEEPER_KEEPER_H

#include "worker/plan/plan.h"

/* The keeper as its parent sees it. */
typedef struct mishap_keeper {
    const mishap_keeper_plan *plan;
    int pid;                       /* 0: none */
    uint32_t generation;           /* the number of keepers so far */
    int socket;                    /* the connection to it; -1: none */
    int ends[MISHAP_KEEPER_LOOPS]; /* the keeper's ends of the connections to loops, kept for its
                                      successor */
    size_t end_count;
    int64_t begun_ns;
    int64_t continued_ns; /* when stderr was told last that it had been stopped; 0: never */
    int bad_starts;       /* how often in a row it ended right after its start */
    int64_t start_at_ns;  /* no keeper runs: when to start one; 0: one runs, or none is wanted */
    int64_t
        /* Until then, after its death, the parent looks for processes that its workers had
         * started. */
        orphans_until_ns;
} mishap_keeper;

/*
 * Fork the keeper. The calling process must have one thread, and best has opened nothing yet: open
 * files are closed in the keeper, but mapped memory stays, apart from that of mishap_shared_map()
 * (base/shared.h).
 */
mishap *mishap_keeper_start(mishap_keeper *keeper, const mishap_keeper_plan *plan);

/* Make a connection for a loop, or for this process itself. *loop is the loop's end, which the
 * process that uses it closes. *kept is the keeper's end, which is remembered until
 * mishap_keeper_disconnect(). False: errno says why. */
bool mishap_keeper_connect(mishap_keeper *keeper, int *loop, int *kept);
void mishap_keeper_disconnect(mishap_keeper *keeper, int kept);

/* A child of this process has ended or stopped. If it is the keeper, start another one, or let the
 * stopped one continue, and return true. If it is a worker that the keeper left behind, kill what
 * the worker has started, too. */
bool mishap_keeper_ended(mishap_keeper *keeper, int pid, int status);

/* Ask the system whether the keeper has ended or stopped, and handle that; also start a keeper that
 * could not be started before. To be called at least once per second. */
void mishap_keeper_look(mishap_keeper *keeper);

/* In a child of the keeper's parent that does not use the keeper: close its connections. */
void mishap_keeper_leave(mishap_keeper *keeper);

/* End the keeper, and with it every worker. */
void mishap_keeper_stop(mishap_keeper *keeper);

/* Open each service in a worker of its own, one after the other, and wait for the result. A server
 * does this before it reports that it listens. The worker of a service that is `.alone` stays.
 * The identity of what was opened
 * is noted in `groups`, those of the keeper's plan, for loops that are forked later. */
mishap *mishap_keeper_try_services(mishap_keeper *keeper, mishap_worker_groups *groups);

/* Over a connection that no other process uses: have the worker open its service for the first
 * time, and wait for the result: the failure, or the identity of what was opened. False: the worker
 * has ended, or took too long. */
bool mishap_keeper_open_service(int socket, int wait_ms, char identity[MISHAP_IDENTITY_LIMIT],
                                mishap **failure);

/* Run the process of the keeper, connected to its parent. `generation` counts the keepers of that
 * parent: workers of two generations never have the same number. */
_Noreturn void mishap_keeper_run(const mishap_keeper_plan *plan, uint32_t generation, int parent);

#endif
