/*
 * The sessions that a keeper has: which process each of them is, which loop uses it, and which wait
 * for that loop to give it back. The keeper itself starts and kills the processes.
 */
#ifndef MISHAP_WORKER_KEEPER_LEASE_H
#define MISHAP_WORKER_KEEPER_LEASE_H

#include "worker/plan/plan.h"
#include "worker/wire/keeper_messages.h"

/* How many sessions of a foreign program may live at once. A loop may use all of them, with a file
 * each, so they have a part of the files that a process may open. */
size_t mishap_leases_most(const mishap_foreign *foreign);

/* -- what the keeper tells --------------------------------------------------------------------- */

void mishap_leases_begin(const mishap_keeper_plan *plan);

/* A loop wants a session, releases, closes one, or has told of its end. What loops want is kept: a
 * word that another loop has said before counts first, though it may be read later. True: something
 * waits for mishap_leases_serve(), which is to be called when all loops were heard. */
void mishap_leases_hear(size_t loop, const mishap_keeper_message *message);
bool mishap_leases_wait(void);
void mishap_leases_serve(void);

/* A loop is gone; a worker is. */
void mishap_leases_loop_gone(size_t loop);
void mishap_leases_worker_ended(uint32_t worker);

/* End those that no loop uses and that were idle for too long, and of callers whose sessions hold
 * too much memory the largest one. Returns when the next one is due;
 * INT64_MAX: none. */
int64_t mishap_leases_look(int64_t now_ns);

/* Close all ends of processes, in a child that has nothing to do with them. */
void mishap_leases_stop(void);

/* -- what they ask of the keeper (keeper.c) ---------------------------------------------------- */

/* A process of a foreign program, for no loop yet: its number, and the loops' end of the connection
 * to it. False: errno says why. */
bool mishap_keeper_begin_foreign(uint32_t group, bool session, uint32_t *worker, int32_t *pid,
                                 int *end);

/* What a worker holds of memory, in bytes, as it was seen last; 0: it was killed. */
uint64_t mishap_keeper_resident(uint32_t worker);

/* Kill it now, whatever it runs: its caller holds too much memory, and is told so. */
void mishap_keeper_end_heavy(uint32_t worker);

/* A loop uses a worker, and no more: then it hears of its end. */
void mishap_keeper_set_user(uint32_t worker, size_t loop, bool uses);

/* It has no connection any more, and is to end by itself soon. */
void mishap_keeper_let_end(uint32_t worker);
void mishap_keeper_interrupt(uint32_t worker, uint32_t id);
bool mishap_keeper_tell_loop(size_t loop, const mishap_keeper_message *message, const int *file);

#endif
