#include "operation/news.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/shared.h"

enum { KEPT = MISHAP_NEWS_KEPT };

struct change {
    uint32_t hash;
    uint16_t length;
    bool foreign; /* at another server of a cluster */
    bool all;     /* anything may have changed: it has no address */
    char address[MISHAP_ADDRESS_LIMIT];
};

/* All of it is guarded by the lock, which is released if its owner dies. The count may be read
 * without it: it grows after everything else was written, and a reader that sees a new count takes
 * the lock. */
struct mishap_news {
    pthread_mutex_t lock;
    _Atomic uint64_t count; /* of changes so far; the last is at count - 1, modulo KEPT */
    _Atomic uint64_t total; /* see mishap_news_add_total() */
    struct change last[KEPT];
};

mishap *mishap_news_make(mishap_news **out)
{
    pthread_mutexattr_t kind;
    mishap_news *news = *out = mishap_shared_map(sizeof *news);
    if (!news)
        return mishap_out_of_memory();
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&news->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    return NULL;
}

void mishap_news_free(mishap_news *news)
{
    if (news)
        mishap_shared_unmap(news, sizeof *news);
}

/* If a process died with the lock, it is not known what it was about to publish: anything may have
 * changed. */
static void take_lock(mishap_news *news)
{
    if (pthread_mutex_lock(&news->lock) == EOWNERDEAD) {
        atomic_fetch_add(&news->count, KEPT + 1);
        pthread_mutex_consistent(&news->lock);
    }
}

static uint32_t hash_of(mishap_text address)
{
    return (uint32_t)mishap_text_hash(address);
}

static bool is_of(const struct change *change, uint32_t hash, mishap_text address)
{
    return change->hash == hash && !change->all &&
           mishap_text_equal((mishap_text){ change->address, change->length }, address);
}

static void add_change(mishap_news *news, mishap_text address, bool foreign)
{
    if (!news || address.length > MISHAP_ADDRESS_LIMIT)
        return;
    take_lock(news);
    uint64_t count = atomic_load(&news->count);
    struct change *change = &news->last[count % KEPT];
    change->hash = hash_of(address);
    change->length = (uint16_t)address.length;
    change->foreign = foreign;
    change->all = !address.data;
    if (address.length)
        memcpy(change->address, address.data, address.length);
    atomic_store(&news->count, count + 1);
    pthread_mutex_unlock(&news->lock);
}

void mishap_news_add(mishap_news *news, mishap_text address)
{
    add_change(news, address, false);
}

void mishap_news_add_foreign(mishap_news *news, mishap_text address)
{
    add_change(news, address, true);
}

void mishap_news_add_total(mishap_news *news, uint64_t total, mishap_text address)
{
    if (!news)
        return;
    uint64_t known = atomic_load(&news->total);
    if (known != total && atomic_compare_exchange_strong(&news->total, &known, total))
        mishap_news_add(news, address);
}

uint64_t mishap_news_count(const mishap_news *news)
{
    return news ? atomic_load(&news->count) : 0;
}

/* True if a change between these two has the same address, and is an own one if only those are
 * wanted. Needs the lock. */
static bool is_told(const mishap_news *news, uint64_t from, uint64_t to, const struct change *first,
                    bool own)
{
    mishap_text address = { first->address, first->length };
    for (uint64_t i = from; i < to; i++) {
        const struct change *change = &news->last[i % KEPT];
        if (own && change->foreign)
            continue;
        if (first->all ? change->all : is_of(change, first->hash, address))
            return true;
    }
    return false;
}

static bool find_next(mishap_news *news, uint64_t *seen, char room[MISHAP_ADDRESS_LIMIT],
                      mishap_text *address, bool own)
{
    bool all = false;
    *address = (mishap_text){ NULL, 0 };
    if (*seen == mishap_news_count(news))
        return false;
    take_lock(news);
    uint64_t count = atomic_load(&news->count);
    if (count - *seen > KEPT) {
        *seen = count; /* some changes are no longer kept */
        all = true;
    }
    while (*seen < count && !address->data && !all) {
        const struct change *change = &news->last[(*seen)++ % KEPT];
        if ((own && change->foreign) || is_told(news, *seen, count, change, own))
            continue; /* the same follows later */
        all = change->all;
        if (all)
            continue;
        memcpy(room, change->address, change->length);
        *address = (mishap_text){ room, change->length };
    }
    pthread_mutex_unlock(&news->lock);
    return all || address->data;
}

bool mishap_news_next(mishap_news *news, uint64_t *seen, char room[MISHAP_ADDRESS_LIMIT],
                      mishap_text *address)
{
    return find_next(news, seen, room, address, false);
}

bool mishap_news_next_own(mishap_news *news, uint64_t *seen, char room[MISHAP_ADDRESS_LIMIT],
                          mishap_text *address)
{
    return find_next(news, seen, room, address, true);
}

bool mishap_news_has(mishap_news *news, uint64_t seen, mishap_text address)
{
    if (seen == mishap_news_count(news))
        return false;
    take_lock(news);
    uint64_t count = atomic_load(&news->count);
    bool has = count - seen > KEPT;
    const uint32_t hash = hash_of(address);
    for (uint64_t i = seen; i < count && !has; i++) {
        const struct change *change = &news->last[i % KEPT];
        has = change->all || is_of(change, hash, address);
    }
    pthread_mutex_unlock(&news->lock);
    return has;
}
