/*
 * src/worker: child processes that run calls, one at a time, and can be killed at any moment
 * without harm to anybody else.
 *
 *     supervisor: owns the listening sockets; restarts keeper and loops
 *         keeper: forks workers on request, reaps them, kills them, reads their stacks
 *             worker, worker, …: one call at a time; each opens its service for itself
 *         loop, loop, …: read requests, check them, hand calls over, answer
 *
 * Each of these processes has one thread.
 *
 *     group.c    which operations share a process
 *     runner.c   of a loop: calls that wait, run and end
 *     dispatch.c … which call is next, and which worker gets it
 *     turns.c    … callers that take turns
 *     yield.c    … calls that take long, and the processors
 *     crowd.c    … which callers there were lately, for all loops
 *     hear.c     … what workers and keeper say
 *     opening.c  … services that workers open, and cannot open
 *     lose.c     … workers that end, and what becomes of their calls
 *     sweep.c    … time
 *     link.c     … its end of the connection to one worker
 *     end.c      … what a caller and the log are told of a worker that died
 *     keeper.c   the keeper's process: start, reap, kill
 *     keep.c     … as its parent sees it: start, restart, connect
 *     talk.c     … the messages between it and its parent or a loop
 *     stack.c    … the stack of a process that does not answer, read from outside
 *     children.c … what processes a process has started
 *     serve.c    the worker's process: from frames to calls, and back
 *     batch.c    … calls that are settled together
 *     child.c    … how it begins: descriptors, signals, limits
 *     threads.c  … how many threads it has
 *     words.c    … its last words: what it leaves in its page when it dies
 *     frame.c    the messages between a loop and a worker
 *     foreign.c  … and between it, or a command, and a foreign program
 *     code.c     … messages that code of a caller may have written
 *     spawn.c    how the process of a foreign program begins
 *     abroad.c   of a loop: calls that foreign programs run
 *     session.c  … sessions: their handles, and which process is which
 *     lease.c    of the keeper: sessions, each of which one loop uses at a time
 *     once.c     of a command: a foreign program without a keeper
 *     lack.c     what the system lacks if no process can be started
 *     page.h     the page of memory that a loop and a worker share
 *     standing.c which services can be opened, for all loops
 *     health.c   what services say of themselves in /health
 *     trials.c   which services work: a small call of each, and what came of it
 *     served.c   keeper and runner of a server, for all boundaries that share it
 *
 * Who owns what: a worker is the child of the keeper, which alone may reap, kill and ptrace it. The
 * connection between a worker and a loop, a socket and a page, belongs to the two of them. A call
 * is the loop's; the worker has a copy of its arguments.
 */
#ifndef MISHAP_WORKER_WORKER_H
#define MISHAP_WORKER_WORKER_H

#include "operation/operation.h"

/* -- no process ------------------------------------------------------------------------------- */

/* UNAVAILABLE: the error of the system says what it lacks, and so do its cause and suggestion. */
mishap *mishap_worker_no_process(int error);

/* A child that ended before it began: the same, if this process may open fewer files than a child
 * needs for its beginning; else NULL. */
mishap *mishap_worker_too_few_files(void);

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

/* -- limits ------------------------------------------------------------------------------------ */

/* What a worker may use; 0: no limit beyond that of the server itself. */
typedef struct mishap_worker_limits {
    uint64_t memory_bytes; /* of private memory (RLIMIT_DATA); malloc fails beyond it */
    uint64_t cpu_seconds;  /* over all of its calls; then the system kills it */
    uint64_t files;        /* open descriptors */
    uint64_t processes;    /* of this user on the machine, and not for root (RLIMIT_NPROC) */
    uint64_t file_bytes;   /* size of a file that it writes; then writing fails */
} mishap_worker_limits;

/* -- the keeper -------------------------------------------------------------------------------- */

/* What a keeper and its workers need to know. All of it lives as long as the keeper's parent. */
typedef struct mishap_keeper_plan {
    const mishap_app *app;
    const mishap_setup *setup; /* for the services; NULL: the user's data folder */
    mishap_worker_groups groups;
    mishap_worker_limits limits;
    int batch; /* calls that a service settles together, at most; 0: as many as there may be */
    int caller_share; /* percent of the sessions that one caller may have; 0: all */
} mishap_keeper_plan;

enum { MISHAP_KEEPER_LOOPS = 256 };

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

#endif
