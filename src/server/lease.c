/* What a server has leased, and what it needs, in memory that its processes share. */
#include "server/lease.h"

#include <stdatomic.h>

#include "base/shared.h"

/* A lease is a word: the millisecond (of the monotonic clock) in which it ends, and how many
 * requests are left. So both change at once. */
enum { COUNT_BITS = 24, GROUP = 64, GROUPS = HTTP_RATE_PLACES / GROUP };
#define MOST_COUNT ((UINT64_C(1) << COUNT_BITS) - 1)

struct http_leases {
    _Atomic uint64_t words[HTTP_RATE_PLACES];
    _Atomic uint32_t needed[HTTP_RATE_PLACES]; /* requests */
    _Atomic uint64_t hot[GROUPS];              /* a bit for each place that needs any */
    size_t next; /* where the process that leases goes on; no loop reads it */
};

http_leases *mishap_http_leases_make(void)
{
    return mishap_shared_map(sizeof(http_leases));
}

void mishap_http_leases_free(http_leases *leases)
{
    if (leases)
        mishap_shared_unmap(leases, sizeof *leases);
}

/* -- in a loop ------------------------------------------------------------------------------------
 */

/* Relaxed order is enough, as in rate.c: a word says nothing about other memory. */
bool mishap_http_leases_take(http_leases *leases, size_t place, int64_t count, int64_t now_ns)
{
    _Atomic uint64_t *word = &leases->words[place];
    uint64_t now_ms = (uint64_t)(now_ns / 1000000);
    uint64_t found = atomic_load_explicit(word, memory_order_relaxed);
    do {
        if (found >> COUNT_BITS <= now_ms || (found & MOST_COUNT) < (uint64_t)count)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(word, &found, found - (uint64_t)count,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

void mishap_http_leases_need(http_leases *leases, size_t place, int64_t count)
{
    atomic_fetch_add_explicit(&leases->needed[place], (uint32_t)count, memory_order_relaxed);
    /* Release: the process that takes the bit sees the number. */
    atomic_fetch_or_explicit(&leases->hot[place / GROUP], UINT64_C(1) << place % GROUP,
                             memory_order_release);
}

/* -- in the process that leases -------------------------------------------------------------------
 */

/* Bits that do not fit in are put back. */
static size_t take_group(http_leases *leases, size_t group, mishap_http_need *needs, size_t most)
{
    uint64_t bits = atomic_exchange_explicit(&leases->hot[group], 0, memory_order_acquire);
    size_t count = 0;
    for (; bits && count < most; bits &= bits - 1) {
        size_t place = group * GROUP + (size_t)__builtin_ctzll(bits);
        uint32_t needed = atomic_exchange_explicit(&leases->needed[place], 0, memory_order_relaxed);
        if (needed)
            needs[count++] = (mishap_http_need){ (uint32_t)place, needed };
    }
    if (bits)
        atomic_fetch_or_explicit(&leases->hot[group], bits, memory_order_release);
    return count;
}

/* Where one call ends the next begins, so that many callers at low places do not keep those at high
 * ones from their leases. */
size_t mishap_http_leases_needs(http_leases *leases, mishap_http_need *needs, size_t most)
{
    size_t count = 0, from = leases->next % GROUPS;
    for (size_t i = 0; i < GROUPS && count < most; i++) {
        size_t group = (from + i) % GROUPS;
        leases->next = group; /* again, if not all of it fits in */
        if (atomic_load_explicit(&leases->hot[group], memory_order_relaxed))
            count += take_group(leases, group, needs + count, most - count);
    }
    return count;
}

void mishap_http_leases_put(http_leases *leases, size_t place, int64_t count, int64_t until_ns)
{
    uint64_t until_ms = (uint64_t)(until_ns / 1000000);
    uint64_t left = count < 0 ? 0 : (uint64_t)count > MOST_COUNT ? MOST_COUNT : (uint64_t)count;
    atomic_store_explicit(&leases->words[place % HTTP_RATE_PLACES], until_ms << COUNT_BITS | left,
                          memory_order_relaxed);
}
