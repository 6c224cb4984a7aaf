/*
 * Reports of a running call, in the process of a worker: progress, log messages, pieces of a
 * stream, changes. A report is sent to the loop at once or, where calls are settled together, held
 * until the call is settled. Threads that a handler starts may report, too: they share the lock in
 * reports.c, and nothing else of the worker.
 */
#ifndef MISHAP_WORKER_CHILD_REPORTS_H
#define MISHAP_WORKER_CHILD_REPORTS_H

#include "worker/child/batch.h"

/* Send all bytes to a loop. False: they could not be sent; errno says why. */
bool mishap_worker_send(int socket, const mishap_buffer *bytes);

/* The watcher for the call that is about to run. */
const mishap_watcher *mishap_reports_watcher(const mishap_frame_call *asked);
void mishap_reports_operator(const char *program, const char *operation, const char *id,
                             mishap_text words, bool to_stderr);
void mishap_reports_change(void *state, mishap_text address);

/* From now on, and until the end, reports belong to this call. `held`: the call is settled with
 * others, and its reports are appended to what its user holds; NULL: they are sent at once. */
void mishap_reports_begin(mishap_worker_user *user, unsigned slot, mishap_call *held);
void mishap_reports_end(void);

/* The call has failed: drop the reports of it that are held. */
void mishap_reports_take_back(mishap_worker_user *user);

/* This process was forked by a handler. It reports nothing: the lock may be held by a thread that
 * does not exist here. */
void mishap_reports_forget(void);

#endif
