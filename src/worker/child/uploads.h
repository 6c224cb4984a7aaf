/*
 * Streamed files in the process of a worker: their channels come as descriptors, each with the
 * frame of its call. A handler that waits for bytes says so in the page, so that its time is not
 * counted.
 */
#ifndef MISHAP_WORKER_CHILD_UPLOADS_H
#define MISHAP_WORKER_CHILD_UPLOADS_H

#include "worker/child/batch.h"

/* Read what has arrived, or wait for it: bytes, and descriptors for the calls among them. False:
 * the loop has gone away; errno says why, 0: it has closed the connection. */
bool mishap_uploads_receive(mishap_worker_user *user, bool wait);

/* The next call was read. If it has a streamed file, take the channel that came with it; the end
 * closes it, whether or not the call was run. */
void mishap_uploads_take(mishap_worker_user *user, bool has_upload);
void mishap_uploads_end(void);

/* The call is about to run; its handler reads from that channel. `guard_ms`: how long the guard of
 * this process lets it run (time_guard.h). */
void mishap_uploads_begin(const mishap_worker_user *user, unsigned slot, mishap_call *call,
                          int64_t guard_ms);

/* A loop has gone away: close its channels. */
void mishap_uploads_release(mishap_worker_user *user);

#endif
