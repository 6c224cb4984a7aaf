/*
 * The processes that a keeper has: how they are started, found, killed and forgotten. The keeper
 * (keeper.c) decides when, and tells the loops.
 */
#ifndef MISHAP_WORKER_KEEPER_PROCESSES_H
#define MISHAP_WORKER_KEEPER_PROCESSES_H

#include <sys/types.h>

#include "worker/plan/plan.h"
#include "worker/spawn/spawn.h"
#include "worker/wire/keeper_messages.h"

enum { MISHAP_KEPT_USER_WORDS = MISHAP_KEEPER_LOOPS / 64 };

/* A worker that lives; pid 0: the place is free. */
typedef struct mishap_kept {
    pid_t pid;
    uint32_t number, group;
    int control; /* of one that several loops share: to hand it connections; else -1 */
    uint64_t users[MISHAP_KEPT_USER_WORDS]; /* loops that are connected to it, a bit each */
    int64_t kill_at_ns;                     /* 0: nobody wants that */
    int64_t asked_at_ns;                    /* for its stack, or to stop */
    bool stack_wanted;                      /* it is asked for it, … */
    bool stopping; /* … or did not answer, and is to stop so that it can be read */
    bool stopped;  /* by itself */
    bool has_trace, killed;
    mishap_trace trace;
    bool foreign, session; /* it runs a foreign program; … for a session: loops come and go */
    mishap_spawned spawned;
} mishap_kept;

/* The two ends of a connection: a socket and a page for the loop, and the same for the worker. */
typedef struct mishap_connection {
    int loop[MISHAP_KEEPER_FILES], worker[MISHAP_KEEPER_FILES];
} mishap_connection;

/* To be called first. Workers of two generations never have the same number. */
void mishap_kept_begin(const mishap_keeper_plan *plan, uint32_t generation);

/* -- finding ----------------------------------------------------------------------------------- */

mishap_kept *mishap_kept_next(const mishap_kept *after); /* NULL: the first; the last has none */
mishap_kept *mishap_kept_by_number(uint32_t number);     /* NULL: there is none */
mishap_kept *mishap_kept_by_process(pid_t pid);
mishap_kept *mishap_kept_shared(uint32_t group); /* one that takes more connections */

bool mishap_kept_is_used(const mishap_kept *worker, size_t loop);
void mishap_kept_set_used(mishap_kept *worker, size_t loop, bool used);

/* -- starting: where it fails, errno says why -------------------------------------------------- */

bool mishap_connection_make(mishap_connection *c);
void mishap_connection_close(int *end); /* the files of one end */

/* Fork a worker at the other end of a connection. */
bool mishap_kept_fork(uint32_t group, const mishap_connection *c, mishap_kept **worker);

/* Start the foreign program of a group; *end is our end of its socket. */
bool mishap_kept_spawn(uint32_t group, bool session, mishap_kept **worker, int *end);

/* Let it, and the programs that it has started, have less of the processors than others that want
 * them, or as much again. Nothing happens where the second would be refused. */
void mishap_kept_yield(const mishap_kept *worker, bool yields);

/* -- ending ------------------------------------------------------------------------------------ */

/* Kill it, and whatever it has started. */
void mishap_kept_kill(mishap_kept *worker);

/* Kill it; with `stack`, ask it before what it is doing. */
void mishap_kept_end(mishap_kept *worker, bool stack);

/* It has stopped: by itself, or because it was asked to. Its stack is read, and it is killed. */
void mishap_kept_stopped(mishap_kept *worker);

/* Its connection is closed, so it ends; if it does not, it is killed soon. */
void mishap_kept_put_away(mishap_kept *worker);

/* Kill those whose time is over. Returns the time of the next one, INT64_MAX: there is none. */
int64_t mishap_kept_look(void);

/* Look at those in a sandbox, if it is time, and kill those that have more than they may. Returns
 * when the next look is due, INT64_MAX: there is nothing to look at. */
int64_t mishap_kept_watch(int64_t now_ns);

/* Its process has ended: the place is free. */
void mishap_kept_remove(mishap_kept *worker);

/* Kill what workers left behind that have ended. */
void mishap_kept_kill_orphans(void);

/* At the end of the keeper: kill all, and wait until nothing is left of them. */
void mishap_kept_kill_all(void);
void mishap_kept_wait_for_all(void);

#endif
