/* Which callers have called lately: see crowd.h. Runs in the loops. */
#include "worker/loop/crowd.h"

#include "base/shared.h"

enum { OFTEN_MS = 100 }; /* a caller that calls often is not recorded at each call */

#define MS INT64_C(1000000)

mishap *mishap_crowd_make(mishap_crowd **out)
{
    *out = mishap_shared_map(sizeof **out);
    return *out ? NULL : mishap_out_of_memory();
}

void mishap_crowd_free(mishap_crowd *crowd)
{
    if (crowd)
        mishap_shared_unmap(crowd, sizeof *crowd);
}

static int64_t seen(const struct mishap_crowd_caller *caller)
{
    return atomic_load_explicit(&caller->seen_ns, memory_order_relaxed);
}

static uint64_t holder_of(const struct mishap_crowd_caller *caller)
{
    return atomic_load_explicit(&caller->holder, memory_order_relaxed);
}

void mishap_crowd_see(mishap_crowd *crowd, uint64_t holder, int64_t now_ns)
{
    struct mishap_crowd_caller *one = &crowd->callers[0], *other = &crowd->callers[1];
    if (!holder)
        return;
    if (holder_of(one) != holder && (holder_of(other) == holder || seen(other) < seen(one)))
        one = other;
    if (holder_of(one) == holder && now_ns - seen(one) < OFTEN_MS * MS)
        return;
    atomic_store_explicit(&one->holder, holder, memory_order_relaxed);
    atomic_store_explicit(&one->seen_ns, now_ns, memory_order_relaxed);
}

bool mishap_crowd_has_others(const mishap_crowd *crowd, uint64_t holder, int64_t now_ns)
{
    for (size_t i = 0; i < sizeof crowd->callers / sizeof *crowd->callers; i++) {
        const struct mishap_crowd_caller *caller = &crowd->callers[i];
        if (seen(caller) && holder_of(caller) != holder &&
            now_ns - seen(caller) < MISHAP_CROWD_MS * MS)
            return true;
    }
    return false;
}
