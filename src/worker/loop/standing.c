/* Which services can be opened: see standing.h. Runs in the loops. */
#include "worker/loop/standing.h"

#include "base/shared.h"

enum {
    FIRST_MS = 250, /* before the first try to open a service again; each pause is twice as long */
    DOUBLINGS = 3,  /* … up to two seconds */
};

mishap *mishap_standing_make(mishap_standing **out)
{
    *out = mishap_shared_map(sizeof **out);
    return *out ? NULL : mishap_out_of_memory();
}

void mishap_standing_free(mishap_standing *standing)
{
    if (standing)
        mishap_shared_unmap(standing, sizeof *standing);
}

static int64_t delay_ns(uint32_t tries)
{
    return (INT64_C(1000000) * FIRST_MS) << (tries < DOUBLINGS ? tries : DOUBLINGS);
}

/* What a try needs is written before any loop can see that the service is closed. */
bool mishap_standing_close(mishap_standing *standing, size_t group, uint32_t generation,
                           mishap_text reason, bool hopeless)
{
    struct mishap_standing_of *of = &standing->of[group];
    uint64_t hash = mishap_text_hash(reason);
    if (mishap_standing_generation(standing, group) != generation)
        return false; /* a late report: the service was closed or opened again since */
    atomic_store(&of->hopeless, hopeless);
    if (!mishap_generation_is_open(generation))
        return atomic_exchange(&of->told, hash) != hash;
    atomic_store(&of->tries, 1);
    atomic_store(&of->next_try_ns, mishap_clock_monotonic_ns() + delay_ns(0));
    atomic_store(&of->told, hash);
    return atomic_compare_exchange_strong(&of->generation, &generation, generation + 1);
}

bool mishap_standing_reopen(mishap_standing *standing, size_t group, uint32_t generation)
{
    return !mishap_generation_is_open(generation) &&
           atomic_compare_exchange_strong(&standing->of[group].generation, &generation,
                                          generation + 1);
}

int64_t mishap_standing_next_try(const mishap_standing *standing, size_t group)
{
    return atomic_load(&standing->of[group].next_try_ns);
}

/* If a loop claims a try and dies, the next try is delayed by one interval. */
bool mishap_standing_claim(mishap_standing *standing, size_t group, int64_t now_ns)
{
    struct mishap_standing_of *of = &standing->of[group];
    int64_t next = atomic_load(&of->next_try_ns);
    uint32_t tries = atomic_load(&of->tries);
    if (now_ns < next ||
        !atomic_compare_exchange_strong(&of->next_try_ns, &next, now_ns + delay_ns(tries)))
        return false;
    atomic_fetch_add(&of->tries, tries < DOUBLINGS);
    return true;
}
