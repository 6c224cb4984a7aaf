/*
 * The settlement of calls (mishap_settlement): begin() and end() around each handler, and settle()
 * behind each call that is not in a batch. A worker settles batches itself (worker/serve.c).
 */
#include "mishap/carry.h"
#include "mishap/inside.h"
#include "operation/changes.h"
#include "operation/running.h"

mishap *mishap_settlement_begin(mishap_running *running)
{
    const mishap_settlement *settlement = running->call->settlement;
    mishap *failure = settlement->begin ? settlement->begin(running->call) : NULL;
    running->begun = !failure;
    return failure;
}

static void run_end(void *state)
{
    mishap_running *running = state;
    running->outcome = running->call->settlement->end(running->call, running->keep);
}

static void run_settle(void *state)
{
    mishap_running *running = state;
    running->outcome = running->call->settlement->settle(running->call->service_state);
}

/* One step of it; the failure is the function's own, or says why that did not return. */
static mishap *run_step(mishap_running *running, const char *what, void (*step)(void *state),
                        uintptr_t entry)
{
    running->what = what;
    running->entry = entry;
    running->outcome = NULL;
    mishap *ended = mishap_running_contain(running, step);
    return ended ? mishap_because(ended, running->outcome) : running->outcome;
}

/* What cannot be undone must not be settled either: the process that has it open ends. */
static mishap *end_call(mishap_running *running, mishap *failure)
{
    mishap_call *call = running->call;
    const mishap_settlement *settlement = call->settlement;
    if (!settlement->end)
        return failure;
    uintptr_t entry = (uintptr_t)settlement->end;
    running->keep = !failure;
    mishap *m = run_step(running, "end() of the settlement", run_end, entry);
    if (!m)
        return failure;
    if (running->keep) {
        failure = mishap_running_drop_answer(call,
                                             mishap_running_allow(call->app, call->operation, m));
        running->keep = false;
        m = call->crashed ? NULL : run_step(running, "end() of the settlement", run_end, entry);
    }
    call->ended = call->ended || m;
    call->lost = call->lost || m;
    return m ? mishap_because(failure, m) : failure;
}

static mishap *settle_alone(mishap_running *running, mishap *failure)
{
    mishap_call *call = running->call;
    mishap *m = run_step(running, "settle()", run_settle, (uintptr_t)call->settlement->settle);
    if (!m)
        return failure;
    m = mishap_running_allow(call->app, call->operation, m);
    return mishap_running_drop_answer(call, mishap_because(m, failure));
}

/* Such a call must not count, even if its handler has answered. */
static mishap *refuse_to_keep(mishap_call *call)
{
    if (call->lost)
        return mishap_running_drop_answer(call, mishap_raise(UNAVAILABLE,
                                                             "The service %s is not available.",
                                                             call->operation->service->name));
    return atomic_load(&call->overlong)
               ? mishap_running_drop_answer(
                     call, mishap_raise(INTERNAL_ERROR,
                                        "%s said more than can be held until it is settled.",
                                        call->operation->name))
               : NULL;
}

/* A crash may have damaged what the service has open: it is opened anew. */
mishap *mishap_settlement_finish(mishap_running *running, mishap *failure)
{
    mishap_call *call = running->call;
    if (!failure)
        failure = refuse_to_keep(call);
    if (call->crashed)
        call->lost = true;
    else if (running->begun)
        failure = end_call(running, failure);
    if (!call->batched && !call->lost && running->begun)
        failure = settle_alone(running, failure);
    if (!failure)
        mishap_changes_tell_all(mishap_buffer_text(&call->changes));
    if (!failure && call->changes.failed) /* there was no memory for one of them */
        mishap_changes_tell((mishap_text){ NULL, 0 });
    return failure;
}

mishap *mishap_call_not_settled(const mishap_app *app, const mishap_operation *operation,
                                const mishap *failure)
{
    mishap_buffer bytes = { 0 };
    mishap *copy = NULL;
    mishap_carry_put(&bytes, failure);
    if (bytes.failed || !mishap_carry_take(mishap_buffer_text(&bytes), &copy))
        copy = mishap_out_of_memory();
    mishap_buffer_release(&bytes);
    if (failure && failure->of_worker)
        mishap_set_of_worker(copy);
    return mishap_running_allow(app, operation, copy);
}
