/*
 * Calls of a worker that are settled together (mishap_settlement). The reports and the answer of
 * each call are held until the batch is settled. Then all of them are sent at once, each call's
 * reports before its answer. If the batch could not be settled, only failures are sent.
 */
#ifndef MISHAP_WORKER_CHILD_BATCH_H
#define MISHAP_WORKER_CHILD_BATCH_H

#include "worker/wire/frame.h"
#include "worker/wire/page.h"

enum {
    MISHAP_BATCH = 64,            /* calls of a batch, at most */
    MISHAP_BATCH_MS = 10,         /* a batch that is older accepts no more calls */
    MISHAP_HELD_LIMIT = 16 << 20, /* bytes that a call may report before it is settled */
};

/* A loop that uses this worker. */
typedef struct mishap_worker_user {
    int socket;
    mishap_worker_page *page;
    mishap_buffer in;    /* bytes received */
    size_t taken;        /* … and how many of them were processed */
    mishap_buffer held;  /* bytes to send when the batch is settled */
    bool broken;         /* sending failed */
    mishap_buffer files; /* descriptors that have come, for calls that were not begun: uploads.h */
} mishap_worker_user;

typedef struct mishap_batch {
    size_t count;
    int64_t since_ns; /* when its first call began */
    bool alone;       /* its only call must be settled by itself */
    struct mishap_batch_call {
        mishap_worker_user *user; /* NULL: the loop is gone */
        unsigned slot;
        uint32_t number;
        const mishap_operation *operation;
    } calls[MISHAP_BATCH];
} mishap_batch;

/* A call has run; its outcome was appended to user->held. */
void mishap_batch_add(mishap_batch *batch, mishap_worker_user *user, unsigned slot, uint32_t number,
                      const mishap_operation *operation);

/* True if the batch is to be settled now. `most`: calls of a batch. */
bool mishap_batch_is_due(const mishap_batch *batch, size_t most);

/* A loop has gone away; the one at `last` takes its place in the list of loops. */
void mishap_batch_leave(mishap_batch *batch, const mishap_worker_user *gone,
                        const mishap_worker_user *last);

/*
 * The batch was settled (`failure` is NULL), or could not be: then everything that is held is
 * replaced by failures. The calls become DONE, the batch is empty, and the caller sends what each
 * user holds. False: there is no memory.
 */
bool mishap_batch_conclude(mishap_batch *batch, const mishap_app *app, const mishap *failure);

#endif
