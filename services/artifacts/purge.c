/*
 * Removal of old rows, so that nothing grows without a limit (docs/growth.md). Stored answers
 * (kept.c) and events (events.c) have limits, which this process checks after so many calls, or so
 * many bytes.
 */
#include "artifacts/request.h"

enum { CALLS = 4096, BYTES = 1 << 20 };

static struct {
    unsigned calls;
    size_t bytes;
    int64_t most_events, event_ms;
} since = { .most_events = INT64_MAX, .event_ms = INT64_MAX };

/* A command makes one call and ends: one in so many commands removes something. */
void artifacts_purge_begin(int64_t most_events, int64_t days)
{
    since.calls = (unsigned)(artifacts_now() % CALLS);
    since.bytes = 0;
    since.most_events = most_events;
    since.event_ms = days * 24 * 3600 * 1000;
}

void artifacts_purge_note(size_t bytes)
{
    since.calls++;
    since.bytes += bytes;
}

void artifacts_purge_if_due(mishap_store *store, int64_t now)
{
    if (since.calls < CALLS && since.bytes < BYTES)
        return;
    since.calls = 0;
    since.bytes = 0;
    artifacts_kept_purge(store, now);
    artifacts_events_purge(store, since.most_events, now - since.event_ms);
}
