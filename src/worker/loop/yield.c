/*
 * Long calls yield to calls of other callers on the processors: the keeper lowers the priority of
 * their process, and restores it when the call is over. Without that, a call that needs a
 * millisecond waits behind the time slice of every process that computes for a second. A worker
 * that gets one such call after the other keeps the low priority between them
 * (mishap_runner_flush).
 *
 * The priority is lowered only for a caller that has several calls, and more than all other callers
 * together, while there are other callers (crowd.h). On a busy machine the single call of a caller
 * takes long, too, although it does not cause the load. A worker that is alone never yields: calls
 * of all callers wait for it.
 */
#include "worker/loop/inside.h"

static void tell_keeper(const mishap_runner *r, mishap_link *link, bool yields)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_YIELD,
                                      .worker = link->worker,
                                      .yields = yields };
    if (mishap_keeper_send(r->settings.keeper, &message, NULL, 0))
        link->yields = yields;
}

static bool has_most(const mishap_runner *r, uint64_t holder)
{
    size_t calls = mishap_runner_holds(r, holder);
    return calls > 1 && 2 * calls > r->count;
}

/* True if the calls of this caller keep other callers from the processors. */
static bool is_in_the_way(const mishap_runner *r, uint64_t holder, int64_t now)
{
    return has_most(r, holder) && mishap_crowd_has_others(r->crowd, holder, now);
}

void mishap_runner_yield(const mishap_runner *r, mishap_link *link, int64_t now)
{
    bool yields = !mishap_runner_is_alone(r, link->group) && is_in_the_way(r, link->taken_by, now);
    if (yields != link->yields && !link->ending_since_ns)
        tell_keeper(r, link, yields);
}

void mishap_runner_end_yield(const mishap_runner *r, mishap_link *link)
{
    if (link->yields)
        tell_keeper(r, link, false);
}

bool mishap_runner_may_compute(mishap_runner *r, mishap_link *link, const mishap_run *run,
                               int64_t now)
{
    const mishap_worker_group *group = &r->settings.plan->groups.groups[link->group];
    if (!r->settings.permits || !group->apart || group->foreign ||
        !is_in_the_way(r, run->call->holder, now))
        return true;
    if (!link->used)
        link->permit = mishap_permits_take(r->settings.permits, mishap_life_self(), now);
    if (!link->used && link->permit)
        return true;
    mishap_runner_wake_at(r, now + MISHAP_PERMIT_AGAIN_MS * MISHAP_MS);
    return false;
}

void mishap_runner_return_permit(const mishap_runner *r, mishap_link *link)
{
    if (link->permit)
        mishap_permits_return(r->settings.permits, link->permit);
    link->permit = 0;
}
