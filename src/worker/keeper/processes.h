/*
 * The processes that the keeper has started: how they are started, found, killed and forgotten.
 * keeper.c decides when, and tells the loops.
 */
#ifndef MISHAP_WORKER_KEEPER_PROCESSES_H
#define MISHAP_WORKER_KEEPER_PROCESSES_H

#include <sys/types.h>

#include "worker/plan/plan.h"
#include "worker/spawn/spawn.h"
#include "worker/wire/keeper_messages.h"

enum { MISHAP_KEPT_USER_WORDS = MISHAP_KEEPER_LOOPS / 64 };

/* A living worker; pid 0: the place is free. */
typedef struct mishap_kept {
    pid_t pid;
    uint32_t number, group;
    int control; /* of a worker that several loops share: the socket that hands it connections; else
                    -1 */
    uint64_t users[MISHAP_KEPT_USER_WORDS]; /* loops that are connected to it, a bit each */
    int64_t kill_at_ns;                     /* when to kill it; 0: not */
    int64_t asked_at_ns;                    /* when it was asked for its stack, or to stop */
    bool stack_wanted;                      /* it was asked for its stack, … */
    bool stopping; /* … or did not answer, and is to stop so that the keeper can read its stack */
    bool stopped;  /* it has stopped itself */
    bool has_trace, killed;
    mishap_trace trace;
    bool foreign, session; /* it runs a foreign program; … for a session, which loops use one after
                              the other */
    mishap_spawned spawned;
} mishap_kept;

/* The two ends of a connection: a socket and a page for the loop, and a socket and a page for the
 * worker. */
typedef struct mishap_connection {
    int loop[MISHAP_KEEPER_FILES], worker[MISHAP_KEEPER_FILES];
} mishap_connection;

/* To be called first. Workers of two generations never have the same number. */
void mishap_kept_begin(const mishap_keeper_plan *plan, uint32_t generation);

/* -- finding ----------------------------------------------------------------------------------- */

/* After NULL comes the first; after the last, NULL. */
mishap_kept *mishap_kept_next(const mishap_kept *after);
mishap_kept *mishap_kept_by_number(uint32_t number); /* NULL: there is none */
mishap_kept *mishap_kept_by_process(pid_t pid);
mishap_kept *mishap_kept_shared(uint32_t group); /* a worker that takes more connections */

bool mishap_kept_is_used(const mishap_kept *worker, size_t loop);
void mishap_kept_set_used(mishap_kept *worker, size_t loop, bool used);

/* -- starting: where it fails, errno says why -------------------------------------------------- */

bool mishap_connection_make(mishap_connection *c);
void mishap_connection_close(int *end); /* both files of one end */

/* Fork a worker at the other end of a connection. */
bool mishap_kept_fork(uint32_t group, const mishap_connection *c, mishap_kept **worker);

/* Start the foreign program of a group; *end is the keeper's end of its socket. */
bool mishap_kept_spawn(uint32_t group, bool session, mishap_kept **worker, int *end);

/* Lower the priority of a worker and of the programs that it has started, or restore it. Nothing
 * happens where it could not be restored later. */
void mishap_kept_yield(const mishap_kept *worker, bool yields);

/* -- ending ------------------------------------------------------------------------------------ */

/* Kill it, and the processes that it has started. */
void mishap_kept_kill(mishap_kept *worker);

/* Kill it; with `stack`, ask it for its stack first. */
void mishap_kept_end(mishap_kept *worker, bool stack);

/* It has stopped: by itself, or because the keeper told it to. Read its stack, and kill it. */
void mishap_kept_stopped(mishap_kept *worker);

/* Its connection is closed, so it should exit; if it does not, it is killed soon. */
void mishap_kept_put_away(mishap_kept *worker);

/* Kill the workers whose time is over. Returns when the next one is due; INT64_MAX: never. */
int64_t mishap_kept_look(void);

/* If it is time, check the processes in a sandbox, and kill those that use more than their profile
 * allows. Returns when the next check is due; INT64_MAX: there is nothing to check. */
int64_t mishap_kept_watch(int64_t now_ns);

/* Its process has ended: free its place. */
void mishap_kept_remove(mishap_kept *worker);

/* Kill the processes that ended workers have left behind. */
void mishap_kept_kill_orphans(void);

/* At the end of the keeper: kill all workers, then wait until none of their processes is left. */
void mishap_kept_kill_all(void);
void mishap_kept_wait_for_all(void);

#endif
