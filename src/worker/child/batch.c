/* Calls of a worker that are settled together: see batch.h. Runs in a worker. */
#include "worker/child/batch.h"

#include "mishap/carry.h"

void mishap_batch_add(mishap_batch *batch, mishap_worker_user *user, unsigned slot, uint32_t number,
                      const mishap_operation *operation)
{
    batch->calls[batch->count++] = (struct mishap_batch_call){ user, slot, number, operation };
}

bool mishap_batch_is_due(const mishap_batch *batch, size_t most)
{
    return batch->count &&
           (batch->alone || batch->count >= most ||
            mishap_clock_monotonic_ns() - batch->since_ns > MISHAP_BATCH_MS * INT64_C(1000000));
}

void mishap_batch_leave(mishap_batch *batch, const mishap_worker_user *gone,
                        const mishap_worker_user *last)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct mishap_batch_call *call = &batch->calls[i];
        if (call->user == gone)
            call->user = NULL;
        else if (call->user == last)
            call->user -= last - gone;
    }
}

static void put_failure(const struct mishap_batch_call *call, const mishap_app *app,
                        const mishap *failure)
{
    mishap_buffer *held = &call->user->held;
    mishap *told = mishap_call_not_settled(app, call->operation, failure);
    mishap_frame_put_failure(held, call->slot, told);
    mishap_free(told);
}

bool mishap_batch_conclude(mishap_batch *batch, const mishap_app *app, const mishap *failure)
{
    bool whole = true;
    for (size_t i = 0; failure && i < batch->count; i++)
        if (batch->calls[i].user)
            mishap_buffer_reset(&batch->calls[i].user->held);
    for (size_t i = 0; i < batch->count; i++) {
        const struct mishap_batch_call *call = &batch->calls[i];
        if (!call->user)
            continue;
        if (failure)
            put_failure(call, app, failure);
        whole = whole && !call->user->held.failed;
        mishap_slot_change(call->user->page, call->slot, call->number, MISHAP_SLOT_RAN,
                           MISHAP_SLOT_DONE);
    }
    batch->count = 0;
    batch->alone = false;
    return whole;
}
