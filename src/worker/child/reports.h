/*
 * What a call says while it runs, in the process of a worker: progress, log messages, pieces of a
 * stream, changes. Each is sent to the loop at once or, where calls are settled together, held
 * until the call is settled. Threads that a handler starts may report, too: they share the lock in
 * here, and nothing else of the worker.
 */
#ifndef MISHAP_WORKER_CHILD_REPORTS_H
#define MISHAP_WORKER_CHILD_REPORTS_H

#include "worker/child/batch.h"

/* Send all of it to a loop. False: it could not be sent, and errno says why. */
bool mishap_worker_send(int socket, const mishap_buffer *bytes);

/* What the call is to use that is about to run. */
const mishap_watcher *mishap_reports_watcher(const mishap_frame_call *asked);
void mishap_reports_operator(const char *program, const char *operation, const char *id,
                             mishap_text words, bool to_stderr);
void mishap_reports_change(void *state, mishap_text address);

/* From now on reports are those of this call, until the end. `held`: it is settled with others, and
 * what it says waits behind what its user holds; NULL: it is sent at once. */
void mishap_reports_begin(mishap_worker_user *user, unsigned slot, mishap_call *held);
void mishap_reports_end(void);

/* The call has ended with a failure: what it said and was held does not count. */
void mishap_reports_take_back(mishap_worker_user *user);

/* The process was forked by a handler. It reports nothing, and a thread that it does not have may
 * have had the lock. */
void mishap_reports_forget(void);

#endif
