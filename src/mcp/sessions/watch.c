/* Subscriptions of sessions: see watch.h. Runs in the loops, under the lock of the table. */
#include "mcp/sessions/watch.h"

#include <errno.h>

#include "base/shared.h"
#include "mcp/offers/address.h"
#include "mcp/sessions/shared.h"

enum {
    WATCHES = MISHAP_MCP_WATCHES,
    OF_A_SESSION = 256 /* of these */
};

mishap *mishap_mcp_watches_make(size_t of_one, mishap_mcp_watches **out)
{
    pthread_mutexattr_t kind;
    mishap_mcp_watches *w = *out = mishap_shared_map(sizeof *w);
    if (!w)
        return mishap_out_of_memory();
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&w->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    w->of_one = of_one;
    return NULL;
}

void mishap_mcp_watches_free(mishap_mcp_watches *w)
{
    if (w)
        mishap_shared_unmap(w, sizeof *w);
}

/* A place has no owner until it is complete: a session must never see what another one watches. */
static void put_at(mishap_mcp_watches *w, size_t i, struct mishap_mcp_watch watch, const char *uri)
{
    uint64_t session = watch.session;
    w->watches[i].session = 0;
    mishap_mcp_first_this();
    memcpy(w->uris[i], uri, watch.length);
    watch.session = 0;
    w->watches[i] = watch;
    mishap_mcp_first_this();
    w->watches[i].session = session;
    mishap_mcp_first_this();
}

/* The last entry takes its place. If the process dies in between, one entry exists twice. */
static void remove_at(mishap_mcp_watches *w, size_t i)
{
    size_t last = w->used - 1;
    if (i != last)
        put_at(w, i, w->watches[last], w->uris[last]);
    w->used = last;
}

/* What a process that died with the lock was about to publish is not known, so anything may have
 * changed. An entry that it was about to write has no owner, or a text that does not belong to
 * it. */
static void mend(mishap_mcp_watches *w)
{
    for (size_t i = w->used; i-- > 0;) {
        struct mishap_mcp_watch *watch = &w->watches[i];
        watch->changed = true;
        if (!watch->session ||
            mishap_mcp_address_hash((mishap_text){ w->uris[i], watch->length }) != watch->hash)
            remove_at(w, i);
    }
    w->position.count = 0; /* until the servers are known again */
    atomic_fetch_add(&w->count, 1);
}

static void take_lock(mishap_mcp_watches *w)
{
    if (pthread_mutex_lock(&w->lock) == EOWNERDEAD) {
        mend(w);
        pthread_mutex_consistent(&w->lock);
    }
}

static mishap_text copy(char room[MISHAP_ADDRESS_LIMIT], const char *uri, size_t length)
{
    memcpy(room, uri, length);
    return (mishap_text){ room, length };
}

/* -- changes ----------------------------------------------------------------------------------- */

/* The same address, in any spelling. */
static bool is_of(const mishap_mcp_watches *w, size_t i, mishap_text uri, uint32_t hash)
{
    const struct mishap_mcp_watch *watch = &w->watches[i];
    return watch->hash == hash &&
           mishap_mcp_same_address((mishap_text){ w->uris[i], watch->length }, uri);
}

void mishap_mcp_watches_change(mishap_mcp_watches *w, mishap_text uri)
{
    uint32_t hash = uri.data ? mishap_mcp_address_hash(uri) : 0;
    if (uri.length > MISHAP_ADDRESS_LIMIT)
        return; /* no session can watch it */
    take_lock(w);
    w->changes++;
    for (size_t i = 0; i < w->used; i++)
        if (!uri.data || is_of(w, i, uri, hash))
            w->watches[i].changed = true;
    atomic_fetch_add(&w->count, 1);
    pthread_mutex_unlock(&w->lock);
}

/* -- what sessions watch ----------------------------------------------------------------------- */

/* Those of one caller, or of all (0). */
static void forget_sessions_that_are_over(mishap_mcp_watches *w, mishap_mcp_sessions *sessions,
                                          uint64_t holder)
{
    mishap_mcp_sessions_clear(sessions);
    for (size_t i = w->used; i-- > 0;)
        if ((!holder || w->watches[i].holder == holder) &&
            !mishap_mcp_session_lives(sessions, w->watches[i].session))
            remove_at(w, i);
}

/* The same spelling: a session is notified of an address in the spelling that it used. */
static bool is_named(const mishap_mcp_watches *w, size_t i, mishap_text uri, uint32_t hash)
{
    return w->watches[i].hash == hash &&
           mishap_text_equal((mishap_text){ w->uris[i], w->watches[i].length }, uri);
}

enum outcome { WATCHED, MISSING, SESSION_FULL, OVER_SHARE, FULL };

/* Is it watched already, or may the session, and its caller, watch one more? */
static enum outcome find_watch(const mishap_mcp_watches *w, uint64_t session, uint64_t holder,
                               mishap_text uri, uint32_t hash)
{
    size_t count = 0, of_caller = 0;
    for (size_t i = 0; i < w->used; i++) {
        of_caller += w->watches[i].holder == holder;
        if (w->watches[i].session != session)
            continue;
        if (is_named(w, i, uri, hash))
            return WATCHED;
        count++;
    }
    return count >= OF_A_SESSION              ? SESSION_FULL
           : holder && of_caller >= w->of_one ? OVER_SHARE
                                              : MISSING;
}

static void forget_session(mishap_mcp_watches *w, uint64_t session)
{
    for (size_t i = w->used; i-- > 0;)
        if (w->watches[i].session == session)
            remove_at(w, i);
}

static uint64_t who_has_most(const mishap_mcp_watches *w)
{
    uint16_t counts[MISHAP_MCP_HOLDERS] = { 0 };
    uint64_t found = 0;
    for (size_t i = 0, most = 0; i < w->used; i++) {
        size_t count = ++counts[mishap_mcp_holder_word(w->watches[i].holder)];
        if (count <= most)
            continue;
        most = count;
        found = w->watches[i].holder;
    }
    return found;
}

/* The session of a caller that watches something and was not used for the longest time; 0: all are
 * in use. */
static uint64_t longest_idle(const mishap_mcp_watches *w, mishap_mcp_sessions *sessions,
                             uint64_t holder)
{
    uint64_t found = 0, seen = 0;
    int64_t longest = 0;
    for (size_t i = 0; i < w->used; i++) {
        const struct mishap_mcp_watch *watch = &w->watches[i];
        if (watch->holder != holder || watch->session == seen)
            continue;
        seen = watch->session; /* most entries of a session are next to each other */
        int64_t idle = mishap_mcp_session_idle_ns(sessions, seen);
        if (idle > longest) {
            longest = idle;
            found = seen;
        }
    }
    return found;
}

/* Of the caller with the most subscriptions, unless that is this one, the session that was not used
 * for the longest time is removed as a whole: it comes back without subscriptions, like any session
 * that the server no longer knows. No session in use loses some of its subscriptions. */
static void end_idle_session(mishap_mcp_watches *w, mishap_mcp_sessions *sessions, uint64_t holder)
{
    uint64_t most = who_has_most(w);
    uint64_t session = most != holder ? longest_idle(w, sessions, most) : 0;
    if (!session)
        return;
    mishap_mcp_session_drop(sessions, session);
    forget_session(w, session);
}

static mishap *refuse_watch(const mishap_mcp_watches *w, enum outcome outcome)
{
    mishap *m = outcome == SESSION_FULL
                    ? mishap_raise(RATE_LIMITED, "One session can have at most %d subscriptions.",
                                   OF_A_SESSION)
                : outcome == OVER_SHARE
                    ? mishap_raise(
                          RATE_LIMITED,
                          "One caller can have at most %zu subscriptions in all of its sessions.",
                          w->of_one)
                    : mishap_retry_after(
                          mishap_raise(UNAVAILABLE,
                                       "The server has reached its limit of subscriptions."),
                          60000);
    return mishap_suggest(
        m, "End some subscriptions with resources/unsubscribe, or end a session with DELETE.");
}

mishap *mishap_mcp_watch_begin(mishap_mcp_watches *w, mishap_mcp_sessions *sessions,
                               uint64_t session, uint64_t holder, mishap_text uri)
{
    uint32_t hash = mishap_mcp_address_hash(uri);
    if (uri.length > MISHAP_ADDRESS_LIMIT)
        return mishap_raise(INVALID_ARGUMENT,
                            "The URI of a subscription can have at most %d bytes.",
                            MISHAP_ADDRESS_LIMIT);
    take_lock(w);
    enum outcome outcome = find_watch(w, session, holder, uri, hash);
    if (outcome == OVER_SHARE || (outcome == MISSING && w->used == WATCHES)) {
        forget_sessions_that_are_over(w, sessions, outcome == OVER_SHARE ? holder : 0);
        outcome = find_watch(w, session, holder, uri, hash);
    }
    if (outcome == MISSING && w->used == WATCHES) {
        end_idle_session(w, sessions, holder);
        outcome = w->used == WATCHES ? FULL : MISSING;
    }
    if (outcome == MISSING) {
        struct mishap_mcp_watch watch = { session, holder, hash, (uint16_t)uri.length, false };
        put_at(w, w->used, watch, uri.data);
        w->used++;
        outcome = WATCHED;
    }
    pthread_mutex_unlock(&w->lock);
    return outcome == WATCHED ? NULL : refuse_watch(w, outcome);
}

void mishap_mcp_watch_end(mishap_mcp_watches *w, uint64_t session, mishap_text uri)
{
    uint32_t hash = mishap_mcp_address_hash(uri);
    take_lock(w);
    for (size_t i = w->used; i-- > 0;)
        if (w->watches[i].session == session && (!uri.data || is_named(w, i, uri, hash)))
            remove_at(w, i);
    pthread_mutex_unlock(&w->lock);
}

void mishap_mcp_watches_revoke(mishap_mcp_watches *w, mishap_mcp_sessions *sessions, uint64_t key,
                               const char *caller)
{
    uint64_t numbers[64];
    const size_t most = sizeof numbers / sizeof *numbers;
    for (size_t count = most; count == most;) {
        count = mishap_mcp_sessions_revoke(sessions, key, caller, numbers, most);
        for (size_t i = 0; i < count; i++)
            mishap_mcp_watch_end(w, numbers[i], (mishap_text){ NULL, 0 });
    }
}

bool mishap_mcp_watch_next(mishap_mcp_watches *w, uint64_t session, uint64_t *seen,
                           char room[MISHAP_ADDRESS_LIMIT], mishap_text *uri)
{
    *uri = (mishap_text){ NULL, 0 };
    if (*seen == atomic_load(&w->count))
        return false;
    take_lock(w);
    for (size_t i = 0; i < w->used && !uri->data; i++) {
        struct mishap_mcp_watch *watch = &w->watches[i];
        if (watch->session != session || !watch->changed)
            continue;
        watch->changed = false;
        *uri = copy(room, w->uris[i], watch->length);
    }
    if (!uri->data)
        *seen = atomic_load(&w->count);
    pthread_mutex_unlock(&w->lock);
    return uri->data;
}

bool mishap_mcp_watch_take(mishap_mcp_watches *w, uint64_t session, uint64_t *seen,
                           mishap_buffer *uris, mishap_position *position)
{
    position->count = 0;
    if (*seen == atomic_load(&w->count) && *seen)
        return false;
    take_lock(w);
    for (size_t i = 0; i < w->used; i++) {
        struct mishap_mcp_watch *watch = &w->watches[i];
        if (watch->session != session || !watch->changed ||
            !mishap_buffer_reserve(uris, (size_t)watch->length + 1))
            continue;
        watch->changed = false;
        mishap_buffer_put(uris, w->uris[i], watch->length);
        mishap_buffer_put_char(uris, '\0');
    }
    *position = w->position;
    position->marks[0].change = w->changes;
    *seen = uris->failed ? 0 : atomic_load(&w->count);
    pthread_mutex_unlock(&w->lock);
    return uris->length;
}

/* -- other servers: see shared.h --------------------------------------------------------------- */

void mishap_mcp_watches_list(mishap_mcp_watches *w, uint64_t session, mishap_buffer *uris)
{
    take_lock(w);
    for (size_t i = 0; i < w->used; i++) {
        if (w->watches[i].session != session)
            continue;
        mishap_buffer_put(uris, w->uris[i], w->watches[i].length);
        mishap_buffer_put_char(uris, '\0');
    }
    pthread_mutex_unlock(&w->lock);
}

void mishap_mcp_watch_restore(mishap_mcp_watches *w, uint64_t session, uint64_t holder,
                              mishap_text uri)
{
    uint32_t hash = mishap_mcp_address_hash(uri);
    take_lock(w);
    if (w->used < WATCHES && find_watch(w, session, holder, uri, hash) == MISSING) {
        struct mishap_mcp_watch watch = { session, holder, hash, (uint16_t)uri.length, false };
        put_at(w, w->used, watch, uri.data);
        w->used++;
    }
    pthread_mutex_unlock(&w->lock);
}

void mishap_mcp_watch_change(mishap_mcp_watches *w, uint64_t session, mishap_text uri)
{
    uint32_t hash = uri.data ? mishap_mcp_address_hash(uri) : 0;
    take_lock(w);
    for (size_t i = 0; i < w->used; i++)
        if (w->watches[i].session == session && (!uri.data || is_of(w, i, uri, hash)))
            w->watches[i].changed = true;
    atomic_fetch_add(&w->count, 1);
    pthread_mutex_unlock(&w->lock);
}

int64_t mishap_mcp_watches_changes(mishap_mcp_watches *w)
{
    take_lock(w);
    int64_t changes = w->changes;
    pthread_mutex_unlock(&w->lock);
    return changes;
}

/* At once, so that a position has either all addresses of a row or none. */
void mishap_mcp_watches_hear(mishap_mcp_watches *w, uint32_t server, int64_t change,
                             mishap_text uris)
{
    mishap_text uri;
    take_lock(w);
    while (mishap_mcp_next_watched(&uris, &uri)) {
        uint32_t hash = mishap_mcp_address_hash(uri);
        for (size_t i = 0; i < w->used; i++)
            if (is_of(w, i, uri, hash))
                w->watches[i].changed = true;
    }
    for (size_t i = 1; i < w->position.count; i++)
        if (w->position.marks[i].server == server)
            w->position.marks[i].change = change;
    atomic_fetch_add(&w->count, 1);
    pthread_mutex_unlock(&w->lock);
}

void mishap_mcp_watches_place(mishap_mcp_watches *w, const mishap_position *position)
{
    take_lock(w);
    w->position = *position;
    pthread_mutex_unlock(&w->lock);
}
