/*
 * Buckets of tokens, one word each: the generic cell rate algorithm, as in server/rate.c. The word
 * is the moment up to which tokens are used; it may lie `burst` tokens ahead of now.
 *
 * A kind has a slot in a table of fixed size. A slot that has all its tokens is free for another
 * kind. If none is free, kinds share the last slot: then these callers are limited together, and so
 * is the growth of the log.
 */
#include "incident/limit.h"

#include <arpa/inet.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "base/shared.h"

enum { SLOTS = 4096, PROBES = 8 };
#define SECOND INT64_C(1000000000)
#define ODD    (3600 * SECOND) /* a word that lies so far ahead is invalid */

static const struct rate {
    int64_t each, burst; /* nanoseconds for a token; tokens */
} of_kind = { 6 * SECOND, 10 }, of_caller = { SECOND, 60 }, of_fault = { SECOND, 100 };

/* Bytes are counted by the kilobyte. */
static const struct rate of_caller_bytes = { SECOND / 64, 4 << 10 },
                         of_class_bytes = { SECOND / 512, 32 << 10 };

/* A process that cannot take `taken` at once leaves `like` unchanged, so a process that dies while
 * it holds `taken` does no harm. */
struct slot {
    _Atomic uint64_t key;   /* 0: free */
    _Atomic uint64_t whole; /* the time up to which tokens are used */
    atomic_flag taken;
    unsigned char like[16]; /* the id of the last whole record */
};

/* See limit.h. A caller that is an address has no name. */
enum { CLASSES = 4 };

struct class
{
    _Atomic uint64_t bytes;
    struct slot slots[SLOTS + 1];
};

struct mishap_limits {
    uint64_t secret[2];
    struct class classes[CLASSES];
};

mishap_limits *mishap_limits_make(void)
{
    mishap_limits *limits = mishap_shared_map(sizeof *limits);
    if (limits && !mishap_system_random(limits->secret, sizeof limits->secret)) {
        mishap_limits_free(limits);
        return NULL;
    }
    return limits;
}

void mishap_limits_free(mishap_limits *limits)
{
    mishap_shared_unmap(limits, sizeof *limits);
}

/* -- tokens ------------------------------------------------------------------------------------ */

static int64_t ahead_of(uint64_t used, uint64_t now, const struct rate *rate)
{
    int64_t ahead = (int64_t)(used - now);
    return ahead < 0 || ahead > rate->each * rate->burst + ODD ? 0 : ahead;
}

static bool take_turn(_Atomic uint64_t *word, const struct rate *rate, uint64_t now)
{
    uint64_t used = atomic_load_explicit(word, memory_order_relaxed), next;
    do {
        int64_t ahead = ahead_of(used, now, rate) + rate->each;
        if (ahead > rate->each * rate->burst)
            return false;
        next = now + (uint64_t)ahead;
    } while (!atomic_compare_exchange_weak_explicit(word, &used, next, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

/* A record is written before its size is known: tokens may be used that are not there yet. */
static void use_tokens(_Atomic uint64_t *word, const struct rate *rate, size_t tokens, uint64_t now)
{
    uint64_t used = atomic_load_explicit(word, memory_order_relaxed), next;
    do
        next = now + (uint64_t)ahead_of(used, now, rate) + tokens * (uint64_t)rate->each;
    while (!atomic_compare_exchange_weak_explicit(word, &used, next, memory_order_relaxed,
                                                  memory_order_relaxed));
}

static bool has_tokens(_Atomic uint64_t *word, const struct rate *rate, uint64_t now)
{
    uint64_t used = atomic_load_explicit(word, memory_order_relaxed);
    return ahead_of(used, now, rate) < rate->each * rate->burst;
}

/* -- slots ------------------------------------------------------------------------------------- */

/* True if it has all its tokens. */
static bool is_idle(struct slot *slot, uint64_t now)
{
    int64_t ahead = (int64_t)(atomic_load(&slot->whole) - now);
    return ahead <= 0 || ahead > of_fault.each * of_fault.burst + ODD;
}

static void remember_id(struct slot *slot, const unsigned char id[16])
{
    if (atomic_flag_test_and_set_explicit(&slot->taken, memory_order_acquire))
        return;
    memcpy(slot->like, id, sizeof slot->like);
    atomic_flag_clear_explicit(&slot->taken, memory_order_release);
}

static void recall_id(struct slot *slot, unsigned char like[16])
{
    if (atomic_flag_test_and_set_explicit(&slot->taken, memory_order_acquire))
        return;
    memcpy(like, slot->like, sizeof slot->like);
    atomic_flag_clear_explicit(&slot->taken, memory_order_release);
}

static struct slot *find_slot(struct class *class, uint64_t key, uint64_t now)
{
    static const unsigned char none[16];
    for (size_t i = 0; i < PROBES; i++) {
        struct slot *slot = &class->slots[(key + i) % SLOTS];
        if (atomic_load_explicit(&slot->key, memory_order_relaxed) == key)
            return slot;
    }
    for (size_t i = 0; i < PROBES; i++) {
        struct slot *slot = &class->slots[(key + i) % SLOTS];
        uint64_t had = atomic_load(&slot->key);
        if ((had && !is_idle(slot, now)) || !atomic_compare_exchange_strong(&slot->key, &had, key))
            continue;
        remember_id(slot, none);
        return slot;
    }
    return &class->slots[SLOTS];
}

/* An IPv4 address as inet_pton() knows it, in a third of its instructions: this is done for each
 * refused request. */
static bool is_ipv4(const char *caller)
{
    unsigned numbers = 0;
    for (;; caller++) {
        unsigned number = (unsigned)(unsigned char)*caller - '0';
        if (number > 9)
            return false;
        bool zero = number == 0;
        while ((unsigned)(unsigned char)*++caller - '0' <= 9) {
            number = number * 10 + (unsigned)(unsigned char)*caller - '0';
            if (zero || number > 255)
                return false;
        }
        if (++numbers == 4)
            return !*caller;
        if (*caller != '.')
            return false;
    }
}

/* Who has made the call: what class it is in, and its number. A caller with an IPv6 address is its
 * network. */
struct caller {
    struct class *class;
    uint64_t number;
};

static struct caller find_caller(mishap_limits *limits, const mishap_limit_kind *kind)
{
    unsigned char network[8];
    struct in6_addr any;
    const char *caller = kind->caller ? kind->caller : "";
    mishap_text text = mishap_text_of(caller);
    bool address = !kind->caller || is_ipv4(caller);
    if (!address && memchr(caller, ':', text.length)) {
        address = inet_pton(AF_INET6, caller, &any) == 1;
        if (address && mishap_hash_network(text, network))
            text = (mishap_text){ (const char *)network, sizeof network };
    }
    return (struct caller){ .class = &limits->classes[2 * kind->fault + address],
                            .number = mishap_hash(limits->secret, text) };
}

/* The number of a caller is secret, and so is the place of its kinds. */
static uint64_t key_of(uint64_t caller, uint64_t group)
{
    uint64_t key = caller ^ (group * 0x9e3779b97f4a7c15);
    key ^= key >> 29;
    return key ? key : 1;
}

/* In the place of a group: the slots of a caller for all its kinds, and for their bytes. */
#define ALL_KINDS UINT64_MAX
#define ALL_BYTES (UINT64_MAX - 1)

/* The slots of the caller are searched only when that of the kind has given a token: otherwise that
 * slot would look free, and might be taken for the caller. */
static bool take_turns(struct class *class, uint64_t caller, struct slot *slot, bool fault,
                       uint64_t now)
{
    if (!has_tokens(&class->bytes, &of_class_bytes, now) ||
        !take_turn(&slot->whole, fault ? &of_fault : &of_kind, now))
        return false;
    if (fault)
        return true;
    return take_turn(&find_slot(class, key_of(caller, ALL_KINDS), now)->whole, &of_caller, now) &&
           has_tokens(&find_slot(class, key_of(caller, ALL_BYTES), now)->whole, &of_caller_bytes,
                      now);
}

bool mishap_limits_ask(mishap_limits *limits, const mishap_limit_kind *kind,
                       const unsigned char id[16], int64_t now_ns, unsigned char like[16])
{
    struct caller caller = find_caller(limits, kind);
    struct class *class = caller.class;
    uint64_t now = (uint64_t)now_ns;
    struct slot *slot = find_slot(class, key_of(caller.number, kind->group), now);
    memset(like, 0, 16);
    bool whole = take_turns(class, caller.number, slot, kind->fault, now);
    if (slot != &class->slots[SLOTS]) {
        if (whole)
            remember_id(slot, id);
        else
            recall_id(slot, like);
    }
    return whole;
}

void mishap_limits_spend(mishap_limits *limits, const mishap_limit_kind *kind, size_t bytes,
                         int64_t now_ns)
{
    struct caller caller = find_caller(limits, kind);
    size_t tokens = (bytes + 1023) / 1024;
    uint64_t now = (uint64_t)now_ns;
    use_tokens(&caller.class->bytes, &of_class_bytes, tokens, now);
    if (kind->fault)
        return;
    struct slot *slot = find_slot(caller.class, key_of(caller.number, ALL_BYTES), now);
    use_tokens(&slot->whole, &of_caller_bytes, tokens, now);
}
