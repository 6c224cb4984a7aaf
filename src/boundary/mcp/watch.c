#include "boundary/mcp/watch.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum {
    CHANGES = 512,     /* that are kept */
    WATCHES = 8192,    /* of all sessions */
    OF_A_SESSION = 256 /* … and of one of them */
};

struct change {
    uint32_t hash, length;
    char uri[MISHAP_ADDRESS_LIMIT];
};

/* Without its text, so that many can be looked through at once. */
struct watch {
    uint64_t session;
    uint32_t hash;
    uint16_t length;
    bool changed; /* and not told yet */
};

/* All of it is guarded by the lock, which is given up by whoever dies with it. The count may be
 * read without: it grows when all else is written. */
struct mishap_mcp_watches {
    pthread_mutex_t lock;
    _Atomic uint64_t count; /* of changes so far; the last is at count - 1, modulo CHANGES */
    struct change last[CHANGES];
    size_t used; /* of `watches`, from the start */
    struct watch watches[WATCHES];
    char uris[WATCHES][MISHAP_ADDRESS_LIMIT];
};

mishap *mishap_mcp_watches_make(mishap_mcp_watches **out)
{
    pthread_mutexattr_t kind;
    mishap_mcp_watches *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *out = NULL;
    if (w == MAP_FAILED)
        return mishap_out_of_memory();
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&w->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    *out = w;
    return NULL;
}

void mishap_mcp_watches_free(mishap_mcp_watches *w)
{
    if (w)
        munmap(w, sizeof *w);
}

/* What one who died with the lock was about to tell is not known. So anything may have changed. */
static void mend(mishap_mcp_watches *w)
{
    for (size_t i = 0; i < w->used; i++)
        w->watches[i].changed = true;
    atomic_fetch_add(&w->count, CHANGES + 1);
}

static void take_lock(mishap_mcp_watches *w)
{
    if (pthread_mutex_lock(&w->lock) == EOWNERDEAD) {
        mend(w);
        pthread_mutex_consistent(&w->lock);
    }
}

static uint32_t hash_of(mishap_text text)
{
    uint32_t hash = 2166136261;
    for (size_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * 16777619;
    return hash;
}

static mishap_text copy(char room[MISHAP_ADDRESS_LIMIT], const char *uri, size_t length)
{
    memcpy(room, uri, length);
    return (mishap_text){ room, length };
}

/* -- changes ----------------------------------------------------------------------------------- */

static bool is_of(const mishap_mcp_watches *w, size_t i, mishap_text uri, uint32_t hash)
{
    const struct watch *watch = &w->watches[i];
    return watch->hash == hash && watch->length == uri.length &&
           memcmp(w->uris[i], uri.data, uri.length) == 0;
}

void mishap_mcp_watches_change(mishap_mcp_watches *w, mishap_text uri)
{
    uint32_t hash = hash_of(uri);
    if (uri.length > MISHAP_ADDRESS_LIMIT)
        return; /* nobody can watch it */
    take_lock(w);
    uint64_t count = atomic_load(&w->count);
    struct change *change = &w->last[count % CHANGES];
    change->hash = hash;
    change->length = (uint32_t)uri.length;
    memcpy(change->uri, uri.data, uri.length);
    for (size_t i = 0; i < w->used; i++)
        if (is_of(w, i, uri, hash))
            w->watches[i].changed = true;
    atomic_store(&w->count, count + 1);
    pthread_mutex_unlock(&w->lock);
}

uint64_t mishap_mcp_watches_count(const mishap_mcp_watches *w)
{
    return atomic_load(&w->count);
}

/* Is the same told of by a later change as well? */
static bool comes_again(const mishap_mcp_watches *w, const struct change *change, uint64_t from,
                        uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        const struct change *other = &w->last[i % CHANGES];
        if (other->hash == change->hash && other->length == change->length &&
            memcmp(other->uri, change->uri, change->length) == 0)
            return true;
    }
    return false;
}

bool mishap_mcp_watches_next(mishap_mcp_watches *w, uint64_t *seen, char room[MISHAP_ADDRESS_LIMIT],
                             mishap_text *uri)
{
    *uri = (mishap_text){ NULL, 0 };
    if (*seen == atomic_load(&w->count))
        return false;
    take_lock(w);
    uint64_t count = atomic_load(&w->count);
    if (count - *seen > CHANGES)
        *seen = count; /* some are forgotten */
    while (*seen < count && !uri->data) {
        const struct change *change = &w->last[*seen % CHANGES];
        if (!comes_again(w, change, ++*seen, count))
            *uri = copy(room, change->uri, change->length);
    }
    pthread_mutex_unlock(&w->lock);
    return true;
}

/* -- what sessions watch ----------------------------------------------------------------------- */

/* The last one takes its place. Who dies in between leaves one that stands twice. */
static void remove_at(mishap_mcp_watches *w, size_t i)
{
    size_t last = w->used - 1;
    memcpy(w->uris[i], w->uris[last], w->watches[last].length);
    w->watches[i] = w->watches[last];
    w->used = last;
}

static void forget_sessions_that_are_over(mishap_mcp_watches *w, mishap_mcp_sessions *sessions)
{
    mishap_mcp_sessions_clear(sessions);
    for (size_t i = w->used; i-- > 0;)
        if (!mishap_mcp_session_lives(sessions, w->watches[i].session))
            remove_at(w, i);
}

/* False: it is not watched, and `room` says whether the session may watch one more. */
static bool find(const mishap_mcp_watches *w, uint64_t session, mishap_text uri, uint32_t hash,
                 bool *room)
{
    size_t count = 0;
    for (size_t i = 0; i < w->used; i++) {
        if (w->watches[i].session != session)
            continue;
        if (is_of(w, i, uri, hash))
            return true;
        count++;
    }
    *room = count < OF_A_SESSION;
    return false;
}

bool mishap_mcp_watch_begin(mishap_mcp_watches *w, mishap_mcp_sessions *sessions, uint64_t session,
                            mishap_text uri)
{
    uint32_t hash = hash_of(uri);
    bool room = false;
    if (uri.length > MISHAP_ADDRESS_LIMIT)
        return false;
    take_lock(w);
    bool watched = find(w, session, uri, hash, &room);
    if (!watched && room && w->used == WATCHES)
        forget_sessions_that_are_over(w, sessions);
    if (!watched && room && w->used < WATCHES) {
        memcpy(w->uris[w->used], uri.data, uri.length);
        w->watches[w->used++] = (struct watch){ .session = session,
                                                .hash = hash,
                                                .length = (uint16_t)uri.length };
        watched = true;
    }
    pthread_mutex_unlock(&w->lock);
    return watched;
}

void mishap_mcp_watch_end(mishap_mcp_watches *w, uint64_t session, mishap_text uri)
{
    uint32_t hash = hash_of(uri);
    take_lock(w);
    for (size_t i = w->used; i-- > 0;)
        if (w->watches[i].session == session && (!uri.data || is_of(w, i, uri, hash)))
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
        struct watch *watch = &w->watches[i];
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
