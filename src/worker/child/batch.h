/*
 * Calls of a worker that are settled together (mishap_settlement). What a call says and answers is
 * held until the batch is settled. Then all of it leaves at once: what it says before its answer,
 * and for a batch that could not be settled only failures.
 */
#ifndef MISHAP_WORKER_CHILD_BATCH_H
#define MISHAP_WORKER_CHILD_BATCH_H

#include "worker/wire/frame.h"
#include "worker/wire/page.h"

enum {
    MISHAP_BATCH = 64,            /* calls of a batch, at most */
    MISHAP_BATCH_MS = 10,         /* a batch that is older takes no more calls */
    MISHAP_HELD_LIMIT = 16 << 20, /* bytes that a call may say before it is settled */
};

/* A loop that uses this worker. */
typedef struct mishap_worker_user {
    int socket;
    mishap_worker_page *page;
    mishap_buffer in;   /* what has come */
    size_t taken;       /* … and was taken of it */
    mishap_buffer held; /* what is to be sent when the batch is settled */
    bool broken;        /* it could not be sent */
} mishap_worker_user;

typedef struct mishap_batch {
    size_t count;
    int64_t since_ns; /* when its first call began */
    bool alone;       /* its call is to be settled by itself */
    struct mishap_batch_call {
        mishap_worker_user *user; /* NULL: it is gone */
        unsigned slot;
        uint32_t number;
        const mishap_operation *operation;
    } calls[MISHAP_BATCH];
} mishap_batch;

/* A call has run, and its outcome is behind what its user holds. */
void mishap_batch_add(mishap_batch *batch, mishap_worker_user *user, unsigned slot, uint32_t number,
                      const mishap_operation *operation);

/* Is it time to settle? `most`: calls of a batch. */
bool mishap_batch_is_due(const mishap_batch *batch, size_t most);

/* A loop is gone, and the one at `last` takes its place in the list of loops. */
void mishap_batch_leave(mishap_batch *batch, const mishap_worker_user *gone,
                        const mishap_worker_user *last);

/*
 * It was settled (NULL), or could not be: then all that is held becomes failures. The calls become
 * DONE, and the batch is empty; what users hold is to be sent. False: there is no memory.
 */
bool mishap_batch_conclude(mishap_batch *batch, const mishap_app *app, const mishap *failure);

#endif
