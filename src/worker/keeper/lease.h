/*
 * The sessions of the keeper: which process each of them is, which loop uses it, and which loops
 * wait for that loop to give it back. keeper.c starts and kills the processes.
 */
#ifndef MISHAP_WORKER_KEEPER_LEASE_H
#define MISHAP_WORKER_KEEPER_LEASE_H

#include "worker/plan/plan.h"
#include "worker/wire/keeper_messages.h"

/* How many sessions of a foreign program may be alive at once. One loop may use all of them, and
 * each needs a file there, so they get a part of the files that a process may open. */
size_t mishap_leases_most(const mishap_foreign *foreign);

/* -- called by the keeper ---------------------------------------------------------------------- */

void mishap_leases_begin(const mishap_keeper_plan *plan);

/* A loop wants a session, releases one, closes one, or has told its caller that one has ended.
 * Requests for sessions are queued: messages that other loops sent earlier count first, even if
 * they are read later. mishap_leases_wait() is true if requests are queued; mishap_leases_serve()
 * serves them when the messages of all loops were read. */
void mishap_leases_hear(size_t loop, const mishap_keeper_message *message);
bool mishap_leases_wait(void);
void mishap_leases_serve(void);

/* A loop has ended; a worker has ended. */
void mishap_leases_loop_gone(size_t loop);
void mishap_leases_worker_ended(uint32_t worker);

/* End the sessions that no loop uses and that were idle for too long; and, of each caller whose
 * sessions hold too much memory, the largest one. Returns when the next check is due; INT64_MAX:
 * never. */
int64_t mishap_leases_look(int64_t now_ns);

/* Close the connections of all sessions, in a child process that does not use them. */
void mishap_leases_stop(void);

/* -- functions of keeper.c that leases call ---------------------------------------------------- */

/* Start a process of a foreign program that no loop uses yet: its number, and the loop's end of the
 * connection to it. False: errno says why. */
bool mishap_keeper_begin_foreign(uint32_t group, bool session, uint32_t *worker, int32_t *pid,
                                 int *end);

/* The memory that a worker holds, in bytes, as seen last; 0: it was killed. */
uint64_t mishap_keeper_resident(uint32_t worker);

/* Kill it now, even in the middle of a call: its caller holds too much memory, and is told so. */
void mishap_keeper_end_heavy(uint32_t worker);

/* A loop uses a worker from now on, or no more. A loop that uses it is told when it ends. */
void mishap_keeper_set_user(uint32_t worker, size_t loop, bool uses);

/* Its connection was closed, so it is to exit by itself soon. */
void mishap_keeper_let_end(uint32_t worker);
void mishap_keeper_interrupt(uint32_t worker, uint32_t id);
bool mishap_keeper_tell_loop(size_t loop, const mishap_keeper_message *message, const int *file);

#endif
