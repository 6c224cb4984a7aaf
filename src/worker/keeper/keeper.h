/* A keeper as its parent has it: how it is started, restarted and ended. */
#ifndef MISHAP_WORKER_KEEPER_KEEPER_H
#define MISHAP_WORKER_KEEPER_KEEPER_H

#include "worker/plan/plan.h"

/* A keeper as its parent has it. */
typedef struct mishap_keeper {
    const mishap_keeper_plan *plan;
    int pid;                       /* 0: none */
    uint32_t generation;           /* how many there were */
    int socket;                    /* to it; -1: none */
    int ends[MISHAP_KEEPER_LOOPS]; /* the keeper's ends of the connections to loops, for its
                                      successor */
    size_t end_count;
    int64_t begun_ns;
    int bad_starts;      /* how often in a row it ended at once */
    int64_t start_at_ns; /* there is none, and when to start one; 0: there is, or none is wanted */
    int64_t
        orphans_until_ns; /* so long after its death, what its workers had started is looked for */
} mishap_keeper;

/*
 * Fork the keeper. It must happen in a process with one thread, best before that has opened
 * anything: what is open is closed in the keeper, but memory that is mapped stays, apart from what
 * mishap_shared_map() (base/shared.h) has made.
 */
mishap *mishap_keeper_start(mishap_keeper *keeper, const mishap_keeper_plan *plan);

/* A connection for a loop, or for this process itself: the loop's end in *loop, to be closed by
 * whoever has it, and the keeper's end in *kept, which is remembered until
 * mishap_keeper_disconnect(). False: errno says why. */
bool mishap_keeper_connect(mishap_keeper *keeper, int *loop, int *kept);
void mishap_keeper_disconnect(mishap_keeper *keeper, int kept);

/* A child of this process has ended or stopped: if it is the keeper, start another. True: it was.
 * If it is a worker that the keeper left behind, what that has started is ended, too. */
bool mishap_keeper_ended(mishap_keeper *keeper, int pid, int status);

/* Ask the system itself, and do the same; and start the keeper that could not be started before. To
 * be called every second or more often. */
void mishap_keeper_look(mishap_keeper *keeper);

/* In a child of the keeper's parent, which has nothing to do with it: close what is open of it. */
void mishap_keeper_leave(mishap_keeper *keeper);

/* End it and, with it, every worker. */
void mishap_keeper_stop(mishap_keeper *keeper);

/* Open each service in a worker of its own, one after the other, and wait for it: what a server
 * does before it says that it listens. The worker of a service that is alone stays. `only` is the
 * name of the one service that is wanted; NULL: all. What was opened is noted in `groups`, those of
 * the keeper's plan, for loops that are forked later. */
mishap *mishap_keeper_try_services(mishap_keeper *keeper, const char *only,
                                   mishap_worker_groups *groups);

/* Over a connection that nobody else uses: have the worker open its service for the first time, and
 * wait for what comes of it: the failure, or the identity of what was opened. False: it is gone, or
 * took too long. */
bool mishap_keeper_open_service(int socket, int wait_ms, char identity[MISHAP_IDENTITY_LIMIT],
                                mishap **failure);

/* The process of the keeper, connected to its parent. `generation` counts the keepers of that
 * parent: workers of two generations never have the same number. */
_Noreturn void mishap_keeper_run(const mishap_keeper_plan *plan, uint32_t generation, int parent);

#endif
