/*
 * Buckets of tokens, one word each: the generic cell rate algorithm, as in server/rate.c. The word
 * is the moment up to which tokens are used; it may lie `burst` tokens ahead of now.
 *
 * A kind has a slot in a table of fixed size. A slot that has all its tokens and nothing to report
 * is free for another kind. If none is free, kinds share the last slot: then these callers are
 * limited together, and so is the growth of the log.
 */
#include "incident/limit.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/shared.h"

enum {
    SLOTS = 2048,
    PROBES = 8,
    WORD = 80,              /* of a stored name, with its NUL */
    ENTRY = 3 * WORD + 300, /* bytes of the report about a slot, at most */
};
#define SECOND INT64_C(1000000000)
#define TELL   (10 * SECOND)
#define ODD    (3600 * SECOND) /* a word that lies so far ahead is invalid */

static const struct rate {
    int64_t each, burst; /* nanoseconds for a token; tokens */
} of_kind = { 6 * SECOND, 10 }, of_caller = { SECOND, 60 }, of_fault = { SECOND, 100 },
  of_lines = { SECOND / 50, 2000 };

/* The texts are for people. A process that cannot take `taken` at once leaves them unchanged, so a
 * process that dies while it holds `taken` does no harm. */
struct slot {
    _Atomic uint64_t key;          /* 0: free */
    _Atomic uint64_t whole, lines; /* the time up to which tokens are used */
    _Atomic uint64_t since_ns;     /* when the first of the counted entries came */
    _Atomic uint32_t counted;
    atomic_flag taken;
    char like[MISHAP_ID_LENGTH + 1]; /* the id of the last whole entry */
    char caller[WORD], operation[WORD], code[WORD];
};

struct mishap_limits {
    uint64_t secret[2];
    _Atomic uint32_t counted; /* entries of all slots that were not reported yet */
    struct slot slots[SLOTS + 1];
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

/* -- slots ------------------------------------------------------------------------------------- */

/* True if it has all its tokens, and nothing to report. */
static bool is_idle(struct slot *slot, uint64_t now)
{
    return !atomic_load(&slot->counted) && (int64_t)(atomic_load(&slot->whole) - now) <= 0 &&
           (int64_t)(atomic_load(&slot->lines) - now) <= 0;
}

static void keep_word(char to[WORD], mishap_text text)
{
    size_t length = mishap_utf8_cut(text, WORD - 1);
    if (length)
        memcpy(to, text.data, length);
    to[length] = '\0';
}

static void name(struct slot *slot, const mishap_limit_kind *kind)
{
    if (atomic_flag_test_and_set(&slot->taken))
        return;
    slot->like[0] = '\0';
    keep_word(slot->caller, mishap_text_of(kind->caller ? kind->caller : ""));
    keep_word(slot->operation, mishap_text_of(kind->operation ? kind->operation : ""));
    keep_word(slot->code, kind->code);
    atomic_flag_clear(&slot->taken);
}

static struct slot *find_slot(mishap_limits *limits, uint64_t key, const mishap_limit_kind *kind,
                              uint64_t now)
{
    for (size_t i = 0; i < PROBES; i++) {
        struct slot *slot = &limits->slots[(key + i) % SLOTS];
        if (atomic_load(&slot->key) == key)
            return slot;
    }
    for (size_t i = 0; i < PROBES; i++) {
        struct slot *slot = &limits->slots[(key + i) % SLOTS];
        uint64_t had = atomic_load(&slot->key);
        if ((had && !is_idle(slot, now)) || !atomic_compare_exchange_strong(&slot->key, &had, key))
            continue;
        name(slot, kind);
        return slot;
    }
    return &limits->slots[SLOTS];
}

/* The texts one behind the other, each with its NUL, so that different kinds have different
 * bytes. */
static uint64_t key_of(const mishap_limits *limits, const mishap_limit_kind *kind, bool of_all)
{
    char room[4 * WORD], caller[WORD], operation[WORD], code[WORD];
    unsigned char network[8];
    mishap_text from = mishap_text_of(kind->caller ? kind->caller : "");
    keep_word(caller, from);
    if (from.length && mishap_hash_network(from, network))
        snprintf(caller, sizeof caller, "%02x%02x%02x%02x%02x%02x%02x%02x/64", network[0],
                 network[1], network[2], network[3], network[4], network[5], network[6],
                 network[7]);
    keep_word(operation, mishap_text_of(of_all || !kind->operation ? "" : kind->operation));
    keep_word(code, of_all ? (mishap_text){ NULL, 0 } : kind->code);
    int length = snprintf(room, sizeof room, "%s%c%s%c%s%c%c", caller, 0, operation, 0, code, 0,
                          kind->fault ? 'f' : 'c');
    uint64_t key = mishap_hash(limits->secret, (mishap_text){ room, (size_t)length });
    return key ? key : 1;
}

static void remember(struct slot *slot, const char *id)
{
    if (atomic_flag_test_and_set(&slot->taken))
        return;
    snprintf(slot->like, sizeof slot->like, "%s", id);
    atomic_flag_clear(&slot->taken);
}

static void recall_id(struct slot *slot, char like[MISHAP_ID_LENGTH + 1])
{
    if (atomic_flag_test_and_set(&slot->taken))
        return;
    memcpy(like, slot->like, sizeof slot->like);
    atomic_flag_clear(&slot->taken);
}

static struct slot *find_caller(mishap_limits *limits, const mishap_limit_kind *kind, uint64_t now)
{
    const mishap_limit_kind all = { .caller = kind->caller, .fault = kind->fault };
    return find_slot(limits, key_of(limits, kind, true), &all, now);
}

/* The slot of the caller is searched only when that of the kind has given a token, or has none:
 * otherwise that slot would look free, and might be taken for the caller. */
mishap_limit mishap_limits_ask(mishap_limits *limits, const mishap_limit_kind *kind, const char *id,
                               int64_t now_ns, char like[MISHAP_ID_LENGTH + 1])
{
    uint64_t now = (uint64_t)now_ns;
    struct slot *slot = find_slot(limits, key_of(limits, kind, false), kind, now);
    like[0] = '\0';
    if (take_turn(&slot->whole, kind->fault ? &of_fault : &of_kind, now) &&
        (kind->fault || take_turn(&find_caller(limits, kind, now)->whole, &of_caller, now))) {
        if (slot != &limits->slots[SLOTS])
            remember(slot, id);
        return MISHAP_LIMIT_WHOLE;
    }
    if (kind->fault && take_turn(&find_caller(limits, kind, now)->lines, &of_lines, now)) {
        recall_id(slot, like);
        return MISHAP_LIMIT_LINE;
    }
    if (!atomic_load(&slot->counted))
        /* Stored before it counts, for the process that reports. */
        atomic_store(&slot->since_ns, now);
    atomic_fetch_add(&slot->counted, 1);
    atomic_fetch_add(&limits->counted, 1);
    return MISHAP_LIMIT_COUNT;
}

/* -- telling ----------------------------------------------------------------------------------- */

static void tell_suppressed(struct slot *slot, const char *program, uint32_t count, int64_t for_ns,
                            mishap_buffer *out)
{
    struct slot said = { .like = "" };
    if (!atomic_flag_test_and_set(&slot->taken)) {
        memcpy(said.like, slot->like, sizeof said.like);
        memcpy(said.caller, slot->caller, sizeof said.caller);
        memcpy(said.operation, slot->operation, sizeof said.operation);
        memcpy(said.code, slot->code, sizeof said.code);
        atomic_flag_clear(&slot->taken);
    }
    mishap_clock_put_timestamp(out, mishap_clock_now_ms());
    MISHAP_PUT(out, " - ");
    mishap_buffer_put_text(out, mishap_text_of(program));
    if (said.operation[0])
        MISHAP_PUT(out, " ");
    mishap_put_printable_line(out, mishap_text_of(said.operation));
    MISHAP_PUT(out, "\n  ");
    mishap_put_printable_line(out, mishap_text_of(said.code[0] ? said.code : "any code"));
    MISHAP_PUT(out, ": ");
    mishap_buffer_put_uint(out, count);
    MISHAP_PUT(out, " more like this from ");
    mishap_put_printable_line(out, mishap_text_of(said.caller[0] ? said.caller : "callers"));
    MISHAP_PUT(out, " in the last ");
    mishap_buffer_put_int(out, (for_ns + SECOND - 1) / SECOND);
    MISHAP_PUT(out, " s");
    if (said.like[0]) {
        MISHAP_PUT(out, "; written in full: ");
        mishap_put_printable_line(out, mishap_text_of(said.like));
    }
    MISHAP_PUT(out, "\n");
}

void mishap_limits_tell(mishap_limits *limits, const char *program, int64_t now_ns, bool all,
                        mishap_buffer *out)
{
    for (size_t i = 0; i <= SLOTS && atomic_load(&limits->counted); i++) {
        struct slot *slot = &limits->slots[i];
        /* `counted` is loaded before `since_ns`, since a loop that counts stores them in the
         * opposite order. Otherwise `since_ns` might be that of an earlier count, or 0. */
        if (!atomic_load(&slot->counted))
            continue;
        int64_t passed = now_ns - (int64_t)atomic_load(&slot->since_ns);
        if (!all && passed < TELL)
            continue;
        if (!mishap_buffer_reserve(out, ENTRY)) {
            out->failed = false; /* the complete part is written; the rest follows the next time */
            return;
        }
        uint32_t count = atomic_exchange(&slot->counted, 0);
        atomic_fetch_sub(&limits->counted, count);
        if (count)
            tell_suppressed(slot, program, count, passed > 0 ? passed : 1, out);
    }
}
