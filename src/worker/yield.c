/*
 * Calls that take long yield to those of other callers on the processors: the keeper lowers the
 * priority of their process, and restores it when the call is over. Without that a call that needs
 * a millisecond waits for its slice behind every process that computes for a second.
 *
 * The priority is lowered only for a caller that has several calls, and more than all other callers
 * together, while there are other callers (crowd.h). On a busy machine the single call of a caller
 * takes long, too, although it does not cause the load. A worker that is alone never yields: calls
 * of all callers wait for it.
 */
#include "worker/inside.h"

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

void mishap_runner_yield(const mishap_runner *r, mishap_link *link, int64_t now)
{
    if (!link->yields && !link->ending_since_ns && !mishap_runner_is_alone(r, link->group) &&
        has_most(r, link->taken_by) && mishap_crowd_has_others(r->crowd, link->taken_by, now))
        tell_keeper(r, link, true);
}

void mishap_runner_end_yield(const mishap_runner *r, mishap_link *link)
{
    if (link->yields)
        tell_keeper(r, link, false);
}
