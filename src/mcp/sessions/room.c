/*
 * Make room for a new session: select a session to end if there are too many, or refuse the new
 * one. Sessions are counted by scanning the table, so no counter can become wrong when a loop dies.
 */
#include "mcp/sessions/shared.h"

/* A session that was not used for so long may end for another one of the same caller. A session
 * with a stream or a running call counts as used. */
#define IDLE_NS INT64_C(60000000000)

bool mishap_mcp_place_is_idle(const struct mishap_mcp_place *place, int64_t now)
{
    return now - place->used_ns >= IDLE_NS;
}

/* The session of a caller that was not used for the longest time; NULL: it has none. `count` is how
 * many it has, including the places that are reserved for it; those are never given away. */
static struct mishap_mcp_place *least_used(mishap_mcp_sessions *s, uint64_t holder, size_t *count)
{
    struct mishap_mcp_place *found = NULL;
    *count = 0;
    for (size_t i = 0; i < MISHAP_MCP_PLACES; i++) {
        struct mishap_mcp_place *place = &s->places[i];
        if (!place->id[0] || place->holder != holder)
            continue;
        ++*count;
        if (!place->reserved && (!found || place->used_ns < found->used_ns))
            found = place;
    }
    return found;
}

/* True if `a` is ended before `b`: first sessions that were never initialized, then those that were
 * not used for the longest time. */
static bool goes_before(const struct mishap_mcp_place *a, const struct mishap_mcp_place *b)
{
    if (a->session.initialized != b->session.initialized)
        return b->session.initialized;
    return a->used_ns < b->used_ns;
}

/* The session that is ended first, of the caller with the most sessions, and how many it has; NULL:
 * there is none. Callers with the same hash count as one at first. */
static struct mishap_mcp_place *first_of_most(mishap_mcp_sessions *s, size_t *most)
{
    uint16_t counts[MISHAP_MCP_HOLDERS] = { 0 };
    struct mishap_mcp_place *found = NULL;
    *most = 0;
    for (size_t i = 0; i < MISHAP_MCP_PLACES; i++)
        if (s->places[i].id[0])
            counts[mishap_mcp_holder_word(s->places[i].holder)]++;
    for (size_t i = 0; i < MISHAP_MCP_PLACES; i++) {
        struct mishap_mcp_place *place = &s->places[i];
        size_t count = place->id[0] ? counts[mishap_mcp_holder_word(place->holder)] : 0;
        if (count < *most || !count || place->reserved ||
            (count == *most && !goes_before(place, found)))
            continue;
        found = place;
        *most = count;
    }
    if (found)
        least_used(s, found->holder, most);
    return found;
}

/* A caller that begins sessions without using them must not keep others out, nor itself for
 * long. */
mishap_mcp_room mishap_mcp_room_make(mishap_mcp_sessions *s, uint64_t holder, int64_t now,
                                     int64_t *wait_ns)
{
    size_t own, most;
    *wait_ns = IDLE_NS;
    if (s->count < s->of_one && s->count < MISHAP_MCP_SESSIONS)
        return MISHAP_MCP_ROOM; /* without reading places that were never used */
    struct mishap_mcp_place *place = least_used(s, holder, &own);
    if ((holder && own >= s->of_one) || s->count >= MISHAP_MCP_SESSIONS) {
        mishap_mcp_places_clear_old(s);
        place = least_used(s, holder, &own);
    }
    if (holder && own >= s->of_one) {
        if (place)
            *wait_ns = IDLE_NS - (now - place->used_ns);
        if (!place || !mishap_mcp_place_is_idle(place, now))
            return MISHAP_MCP_OVER_SHARE;
        mishap_mcp_place_clear(s, place);
        return MISHAP_MCP_ROOM;
    }
    if (s->count < MISHAP_MCP_SESSIONS)
        return MISHAP_MCP_ROOM;
    /* A caller that has many more sessions makes room in any case; one that has a few more, only
     * with a session that it does not use. */
    place = first_of_most(s, &most);
    if (!place || (most <= own + 1 && !mishap_mcp_place_is_idle(place, now)))
        return MISHAP_MCP_FULL;
    mishap_mcp_place_clear(s, place);
    return MISHAP_MCP_ROOM;
}

mishap *mishap_mcp_room_refuse(const mishap_mcp_sessions *s, mishap_mcp_room room, int64_t wait_ns)
{
    mishap *m = room == MISHAP_MCP_OVER_SHARE
                    ? mishap_raise(RATE_LIMITED, "One caller can have at most %zu sessions.",
                                   s->of_one)
                    : mishap_raise(UNAVAILABLE, "The server has reached its limit of sessions.");
    return mishap_suggest(mishap_retry_after(m, (wait_ns + 999999) / 1000000),
                          "End an unused session with DELETE, or use an existing session.");
}
