#include "worker/permits.h"

#include <unistd.h>

#include "base/shared.h"

#define MS INT64_C(1000000)

mishap *mishap_permits_make(mishap_permits **out)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t half = processors > 1 ? (size_t)processors / 2 : 1;
    *out = mishap_shared_map(sizeof **out);
    if (!*out)
        return mishap_out_of_memory();
    (*out)->count = half < MISHAP_PERMITS ? half : MISHAP_PERMITS;
    return NULL;
}

void mishap_permits_free(mishap_permits *permits)
{
    if (permits)
        mishap_shared_unmap(permits, sizeof *permits);
}

/* Is the next one for another loop, which still tries? */
static bool is_wanted(const mishap_permits *permits, mishap_life loop, int64_t now_ns)
{
    mishap_life by = atomic_load_explicit(&permits->wanted_by, memory_order_relaxed);
    int64_t tried_ns = atomic_load_explicit(&permits->wanted_ns, memory_order_relaxed);
    return by && by != loop && now_ns - tried_ns < MISHAP_PERMIT_WANTED_MS * MS;
}

static size_t take_free(mishap_permits *permits, mishap_life loop)
{
    for (size_t i = 0; i < permits->count; i++) {
        mishap_life has = atomic_load_explicit(&permits->of[i], memory_order_relaxed);
        if ((!has || mishap_life_is_over(has)) &&
            atomic_compare_exchange_strong_explicit(&permits->of[i], &has, loop,
                                                    memory_order_relaxed, memory_order_relaxed))
            return i + 1;
    }
    return 0;
}

size_t mishap_permits_take(mishap_permits *permits, mishap_life loop, int64_t now_ns)
{
    if (is_wanted(permits, loop, now_ns))
        return 0;
    size_t taken = take_free(permits, loop);
    mishap_life by = taken ? loop : 0;
    if (taken) { /* if it was this loop that wanted one, it does so no more */
        atomic_compare_exchange_strong_explicit(&permits->wanted_by, &by, 0, memory_order_relaxed,
                                                memory_order_relaxed);
        return taken;
    }
    atomic_store_explicit(&permits->wanted_by, loop, memory_order_relaxed);
    atomic_store_explicit(&permits->wanted_ns, now_ns, memory_order_relaxed);
    return 0;
}

void mishap_permits_return(mishap_permits *permits, size_t permit)
{
    atomic_store_explicit(&permits->of[permit - 1], 0, memory_order_relaxed);
}
