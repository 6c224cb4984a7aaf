/* Permits to compute: see permits.h. Runs in the loops. */
#include "worker/loop/permits.h"

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

static int64_t load_time(const _Atomic int64_t *time_ns)
{
    return atomic_load_explicit(time_ns, memory_order_relaxed);
}

/* True if a loop still waits in this place. */
static bool is_wanted(const struct mishap_permits_want *want, int64_t now_ns)
{
    return atomic_load_explicit(&want->loop, memory_order_relaxed) &&
           now_ns - load_time(&want->tried_ns) < MISHAP_PERMIT_WANTED_MS * MS;
}

/* The place in which a loop waits; NULL: it does not wait. */
static struct mishap_permits_want *find_want(mishap_permits *permits, mishap_life loop,
                                             int64_t now_ns)
{
    for (size_t i = 0; i < MISHAP_KEEPER_LOOPS; i++) {
        struct mishap_permits_want *want = &permits->line[i];
        if (atomic_load_explicit(&want->loop, memory_order_relaxed) == loop &&
            is_wanted(want, now_ns))
            return want;
    }
    return NULL;
}

/* True if another loop has waited longer. */
static bool is_behind(const mishap_permits *permits, const struct mishap_permits_want *own,
                      int64_t now_ns)
{
    int64_t since_ns = own ? load_time(&own->since_ns) : INT64_MAX;
    for (size_t i = 0; i < MISHAP_KEEPER_LOOPS; i++) {
        const struct mishap_permits_want *want = &permits->line[i];
        if (want != own && is_wanted(want, now_ns) && load_time(&want->since_ns) < since_ns)
            return true;
    }
    return false;
}

static void line_up(mishap_permits *permits, mishap_life loop, int64_t now_ns)
{
    for (size_t i = 0; i < MISHAP_KEEPER_LOOPS; i++) {
        struct mishap_permits_want *want = &permits->line[i];
        mishap_life has = atomic_load_explicit(&want->loop, memory_order_relaxed);
        if (!is_wanted(want, now_ns) &&
            atomic_compare_exchange_strong_explicit(&want->loop, &has, loop, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            atomic_store_explicit(&want->since_ns, now_ns, memory_order_relaxed);
            atomic_store_explicit(&want->tried_ns, now_ns, memory_order_relaxed);
            return;
        }
    }
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
    struct mishap_permits_want *own = find_want(permits, loop, now_ns);
    size_t taken = is_behind(permits, own, now_ns) ? 0 : take_free(permits, loop);
    if (taken && own)
        atomic_store_explicit(&own->loop, 0, memory_order_relaxed);
    else if (own)
        atomic_store_explicit(&own->tried_ns, now_ns, memory_order_relaxed);
    else if (!taken)
        line_up(permits, loop, now_ns);
    return taken;
}

void mishap_permits_return(mishap_permits *permits, size_t permit)
{
    atomic_store_explicit(&permits->of[permit - 1], 0, memory_order_relaxed);
}
