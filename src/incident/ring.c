/* Chunks of shared memory: see ring.h. */
#include "incident/ring.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "base/shared.h"

enum {
    COMMON = 64, /* chunks that any process may have beside its first one: 16 MB … */
    SPARE = 8,   /* … and first ones beyond those of the processes that were announced: a process
                    that ends and the one in its place each have one for a moment */
    MOST_CHUNKS = 256,
    CHUNK = 256 << 10,
    ALIGNED = 8,
    LOOK_NS = 1000000000, /* interval of the checks for processes that have ended */
};

/* Before each record. */
struct record_head {
    uint32_t size; /* of the record, without this */
    uint32_t kind;
};

struct chunk {
    _Atomic int owner;     /* the process that appends; 0: it is free */
    _Atomic uint32_t full; /* its process has claimed another one */
    _Atomic uint32_t head; /* bytes that are published; written by its process */
    _Atomic uint32_t tail; /* bytes that are written to the log; written by the reader */
    char line[48];         /* so that two processes do not share a cache line */
};

struct mishap_ring {
    _Atomic uint32_t sleep; /* mishap_ring_sleep */
    _Alignas(64) struct chunk chunks[MOST_CHUNKS];
    _Alignas(64) char bytes[][CHUNK];
};

/* How many chunks there are, and how many of them are first ones of a process. All processes know
 * this from the one that made the ring: what is shared may be damaged. */
static struct {
    size_t first, all;
} chunks;

_Static_assert(offsetof(struct mishap_ring, bytes) % ALIGNED == 0 &&
                   sizeof(struct record_head) % ALIGNED == 0,
               "records are aligned");
_Static_assert(MISHAP_RING_RECORD + sizeof(struct record_head) + ALIGNED <= CHUNK,
               "a record fits into a chunk");

/* The state of this process. A child that is forked claims chunks of its own. */
static struct {
    pthread_mutex_t lock;
    struct chunk *chunk; /* NULL: none is claimed */
    uint32_t reserved;   /* where the chunk ends when the record is published */
} own = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void forget_own(void)
{
    own.chunk = NULL;
    own.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static size_t size_of_ring(void)
{
    return sizeof(mishap_ring) + chunks.all * CHUNK;
}

mishap_ring *mishap_ring_make(size_t processes)
{
    static bool prepared;
    size_t most = MOST_CHUNKS - COMMON - SPARE;
    chunks.first = (processes < most ? processes : most) + SPARE;
    chunks.all = chunks.first + COMMON;
    if (!prepared)
        prepared = pthread_atfork(NULL, NULL, forget_own) == 0;
    own.chunk = NULL;
    return prepared ? mishap_shared_map(size_of_ring()) : NULL;
}

void mishap_ring_free(mishap_ring *ring)
{
    own.chunk = NULL;
    mishap_shared_unmap(ring, size_of_ring());
}

/* -- appending --------------------------------------------------------------------------------- */

static size_t padded(size_t size)
{
    return (size + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static bool claim_one(struct chunk *chunk, int self)
{
    int none = 0;
    return !atomic_load_explicit(&chunk->owner, memory_order_relaxed) &&
           atomic_compare_exchange_strong(&chunk->owner, &none, self);
}

/*
 * A process has at most one of the first chunks: then the others of a server with many loops have
 * one, too, even if one loop records a lot. The first free one, so that a server with few failures
 * uses little memory.
 */
static struct chunk *claim_chunk(mishap_ring *ring)
{
    int self = (int)getpid();
    bool has_first = false;
    for (size_t i = 0; i < chunks.first && !has_first; i++)
        has_first = atomic_load_explicit(&ring->chunks[i].owner, memory_order_relaxed) == self;
    for (size_t i = has_first ? chunks.first : 0; i < chunks.all; i++)
        if (claim_one(&ring->chunks[i], self))
            return &ring->chunks[i];
    return NULL;
}

void *mishap_ring_reserve(mishap_ring *ring, uint32_t kind, size_t size)
{
    size_t whole = sizeof(struct record_head) + padded(size);
    if (size > MISHAP_RING_RECORD)
        return NULL;
    pthread_mutex_lock(&own.lock);
    uint32_t head = own.chunk ? atomic_load_explicit(&own.chunk->head, memory_order_relaxed) : 0;
    if (!own.chunk || CHUNK - head < whole) {
        if (own.chunk)
            atomic_store(&own.chunk->full, 1);
        own.chunk = claim_chunk(ring);
        head = 0;
    }
    if (!own.chunk) {
        pthread_mutex_unlock(&own.lock);
        return NULL;
    }
    char *at = ring->bytes[own.chunk - ring->chunks] + head;
    struct record_head before = { (uint32_t)size, kind };
    memcpy(at, &before, sizeof before);
    own.reserved = head + (uint32_t)whole;
    return at + sizeof before;
}

void mishap_ring_publish(mishap_ring *ring)
{
    (void)ring;
    atomic_store_explicit(&own.chunk->head, own.reserved, memory_order_release);
    pthread_mutex_unlock(&own.lock);
}

bool mishap_ring_wake(mishap_ring *ring, bool at_once)
{
    uint32_t sleep = atomic_load_explicit(&ring->sleep, memory_order_relaxed);
    if (sleep == MISHAP_RING_AWAKE || (sleep == MISHAP_RING_NAPS && !at_once))
        return false;
    return atomic_exchange(&ring->sleep, MISHAP_RING_AWAKE) != MISHAP_RING_AWAKE;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* How far each chunk was read; only the reader uses it. */
static uint32_t read_to[MOST_CHUNKS];

/* Memory of another process may hold anything, if that process has gone wrong. */
static size_t visit_chunk(char *bytes, uint32_t from, uint32_t head, mishap_ring_visit *visit,
                          void *state)
{
    struct record_head before;
    size_t count = 0;
    while (head <= CHUNK && from < head && head - from >= sizeof before) {
        memcpy(&before, bytes + from, sizeof before);
        from += (uint32_t)sizeof before;
        if (before.size > head - from)
            break;
        visit(state, before.kind, bytes + from, before.size);
        from += (uint32_t)padded(before.size);
        count++;
    }
    return count;
}

size_t mishap_ring_read(mishap_ring *ring, mishap_ring_visit *visit, void *state)
{
    size_t count = 0;
    for (size_t i = 0; i < chunks.all; i++) {
        struct chunk *chunk = &ring->chunks[i];
        uint32_t tail = atomic_load_explicit(&chunk->tail, memory_order_relaxed);
        uint32_t head = atomic_load_explicit(&chunk->head, memory_order_acquire);
        read_to[i] = head;
        if (head != tail)
            count += visit_chunk(ring->bytes[i], tail, head, visit, state);
    }
    return count;
}

static bool has_ended(int process)
{
    return process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

/* `full` is read before `head`: after it was set, nothing is appended any more. */
static void free_if_done(struct chunk *chunk, uint32_t to, bool look)
{
    int owner = atomic_load(&chunk->owner);
    bool over = atomic_load(&chunk->full) || (look && has_ended(owner));
    if (!owner || !over || atomic_load(&chunk->head) != to)
        return;
    atomic_store(&chunk->full, 0);
    atomic_store(&chunk->head, 0);
    atomic_store(&chunk->tail, 0);
    atomic_store(&chunk->owner, 0);
}

void mishap_ring_done(mishap_ring *ring)
{
    static int64_t looked_ns;
    int64_t now = mishap_clock_monotonic_ns();
    bool look = now - looked_ns >= LOOK_NS;
    if (look)
        looked_ns = now;
    for (size_t i = 0; i < chunks.all; i++) {
        atomic_store(&ring->chunks[i].tail, read_to[i]);
        free_if_done(&ring->chunks[i], read_to[i], look);
    }
}

void mishap_ring_sleep_as(mishap_ring *ring, mishap_ring_sleep sleep)
{
    atomic_store(&ring->sleep, (uint32_t)sleep);
}
