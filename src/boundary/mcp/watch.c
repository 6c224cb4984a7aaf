#include "boundary/mcp/watch.h"

#include <errno.h>

#include "base/shared.h"
#include "boundary/mcp/shared.h"

enum {
    WATCHES = MISHAP_MCP_WATCHES,
    OF_A_SESSION = 256 /* of these */
};

mishap *mishap_mcp_watches_make(mishap_mcp_watches **out)
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
    return NULL;
}

void mishap_mcp_watches_free(mishap_mcp_watches *w)
{
    if (w)
        mishap_shared_unmap(w, sizeof *w);
}

/* It is nobody's until all of it is there: what one session watches is no other's business. */
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

/* The last one takes its place. Who dies in between leaves one that stands twice. */
static void remove_at(mishap_mcp_watches *w, size_t i)
{
    size_t last = w->used - 1;
    if (i != last)
        put_at(w, i, w->watches[last], w->uris[last]);
    w->used = last;
}

/* What one who died with the lock was about to tell is not known: so anything may have changed.
 * What it was about to write is nobody's, or its text is not the one that belongs to it. */
static void mend(mishap_mcp_watches *w)
{
    for (size_t i = w->used; i-- > 0;) {
        struct mishap_mcp_watch *watch = &w->watches[i];
        watch->changed = true;
        if (!watch->session ||
            mishap_mcp_address_hash((mishap_text){ w->uris[i], watch->length }) != watch->hash)
            remove_at(w, i);
    }
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

/* In whichever spelling. */
static bool is_of(const mishap_mcp_watches *w, size_t i, mishap_text uri, uint32_t hash)
{
    const struct mishap_mcp_watch *watch = &w->watches[i];
    return watch->hash == hash &&
           mishap_mcp_same_address((mishap_text){ w->uris[i], watch->length }, uri);
}

void mishap_mcp_watches_change(mishap_mcp_watches *w, mishap_text uri)
{
    uint32_t hash = mishap_mcp_address_hash(uri);
    if (uri.length > MISHAP_ADDRESS_LIMIT)
        return; /* nobody can watch it */
    take_lock(w);
    for (size_t i = 0; i < w->used; i++)
        if (is_of(w, i, uri, hash))
            w->watches[i].changed = true;
    atomic_fetch_add(&w->count, 1);
    pthread_mutex_unlock(&w->lock);
}

/* -- what sessions watch ----------------------------------------------------------------------- */

static void forget_sessions_that_are_over(mishap_mcp_watches *w, mishap_mcp_sessions *sessions)
{
    mishap_mcp_sessions_clear(sessions);
    for (size_t i = w->used; i-- > 0;)
        if (!mishap_mcp_session_lives(sessions, w->watches[i].session))
            remove_at(w, i);
}

/* In this spelling: a session is told of an address as it has named it. */
static bool is_named(const mishap_mcp_watches *w, size_t i, mishap_text uri, uint32_t hash)
{
    return w->watches[i].hash == hash &&
           mishap_text_equal((mishap_text){ w->uris[i], w->watches[i].length }, uri);
}

/* False: it is not watched, and `room` says whether the session may watch one more. */
static bool find(const mishap_mcp_watches *w, uint64_t session, mishap_text uri, uint32_t hash,
                 bool *room)
{
    size_t count = 0;
    for (size_t i = 0; i < w->used; i++) {
        if (w->watches[i].session != session)
            continue;
        if (is_named(w, i, uri, hash))
            return true;
        count++;
    }
    *room = count < OF_A_SESSION;
    return false;
}

bool mishap_mcp_watch_begin(mishap_mcp_watches *w, mishap_mcp_sessions *sessions, uint64_t session,
                            mishap_text uri)
{
    uint32_t hash = mishap_mcp_address_hash(uri);
    bool room = false;
    if (uri.length > MISHAP_ADDRESS_LIMIT)
        return false;
    take_lock(w);
    bool watched = find(w, session, uri, hash, &room);
    if (!watched && room && w->used == WATCHES)
        forget_sessions_that_are_over(w, sessions);
    if (!watched && room && w->used < WATCHES) {
        struct mishap_mcp_watch watch = { session, hash, (uint16_t)uri.length, false };
        put_at(w, w->used, watch, uri.data);
        w->used++;
        watched = true;
    }
    pthread_mutex_unlock(&w->lock);
    return watched;
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
