/* What callers have changed lately: see positions.h. Runs in the loops. */
#include "worker/loop/positions.h"

#include "base/clock.h"
#include "base/shared.h"

mishap *mishap_positions_make(int stale_ms, mishap_positions **out)
{
    *out = NULL;
    if (stale_ms <= 0)
        return NULL;
    *out = mishap_shared_map(sizeof **out);
    if (!*out)
        return mishap_out_of_memory();
    (*out)->stale_ns = stale_ms * INT64_C(1000000);
    (*out)->begun_ns = mishap_clock_monotonic_ns();
    return NULL;
}

void mishap_positions_free(mishap_positions *positions)
{
    if (positions)
        mishap_shared_unmap(positions, sizeof *positions);
}

/* Each service has a log of its own. Callers without a number, such as those of tasks, share one
 * entry, which counts for every caller. */
static size_t place_of(const mishap_service *service, uint64_t holder)
{
    uint64_t word = (holder + 1) * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)(uintptr_t)service >> 4;
    word *= UINT64_C(0xD6E8FEB86659FD93);
    return word >> 32 & (MISHAP_POSITIONS - 1);
}

static void note(struct mishap_positions_entry *entry, uint64_t position)
{
    int64_t now = mishap_clock_monotonic_ns();
    uint64_t known = atomic_load(&entry->position);
    if (position == MISHAP_LOG_UNKNOWN) {
        atomic_store(&entry->unknown_ns, now);
        return;
    }
    while (known < position && !atomic_compare_exchange_weak(&entry->position, &known, position))
        continue;
    atomic_store(&entry->at_ns, now);
}

/* A change without a position was not made through the store of the call, or in a transaction that
 * is settled later: no standby is known to have it. */
void mishap_positions_note(mishap_positions *positions, mishap_call *call, bool failed)
{
    const mishap_operation *operation = call->operation;
    if (!positions || !operation->service || mishap_operation_danger(operation) == MISHAP_SAFE ||
        !mishap_service_is_stale(call->app, operation->service))
        return;
    uint64_t position = call->log_position ? call->log_position : MISHAP_LOG_UNKNOWN;
    if (failed)
        call->log_position = position;
    note(&positions->entries[place_of(operation->service, call->holder)], position);
}

static uint64_t look_up(const mishap_positions *positions, const mishap_service *service,
                        uint64_t holder, int64_t now)
{
    const struct mishap_positions_entry *entry = &positions->entries[place_of(service, holder)];
    int64_t at = atomic_load(&entry->at_ns), unknown = atomic_load(&entry->unknown_ns);
    if (unknown && now - unknown <= positions->stale_ns)
        return MISHAP_LOG_UNKNOWN;
    return at && now - at <= positions->stale_ns ? atomic_load(&entry->position) : 0;
}

/* A server that has just begun may have been used before, and lost its memory. */
void mishap_positions_need(const mishap_positions *positions, mishap_call *call)
{
    const mishap_service *service = call->operation->service;
    if (!positions || !call->operation->stale)
        return;
    int64_t now = mishap_clock_monotonic_ns();
    uint64_t own = look_up(positions, service, call->holder, now);
    uint64_t of_all = look_up(positions, service, 0, now);
    own = own > of_all ? own : of_all;
    if (now - positions->begun_ns <= positions->stale_ns)
        own = MISHAP_LOG_UNKNOWN;
    if (own > call->log_after)
        call->log_after = own;
}
