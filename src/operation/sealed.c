/* The state of a call that waits for an answer: see sealed.h. */
#include "operation/sealed.h"

#include <stdatomic.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/pack.h"
#include "base/shared.h"
#include "base/system.h"
#include "mishap/typed.h"

enum {
    VERSION = 2,
    DIGEST = 16,     /* bytes of the digest of the arguments */
    USED = 131072,   /* states of destructive operations that are remembered: 1 MB */
    HALF = USED / 2, /* a power of two */
    TRIES = 16,      /* places in which one may stand */
    MOST = 500,      /* that one caller may use at once, and then in ten minutes */
    EACH_MS = MISHAP_STATE_MS / MOST,
    FULL_MS = 60 * 1000, /* then other states have expired */
    ROWS = 4,
    COUNTS = 16384, /* words of a row: 128 KB */
    HEAD = 1 + 1 + 8 + 8 + DIGEST,
    SECONDS_BITS = 24,
};

/*
 * A state that was used is one number: the second at which it expires, and bits of its own. A place
 * is free when that second is over, so that nothing has to be removed. Two processes may put the
 * same number into two places and then look for the one of the other. So these accesses are
 * sequentially consistent: at least one of the two sees the number of the other, and gives way.
 */
struct mishap_seal {
    mishap_shared_secret secret;
    uint64_t run;       /* which run of which server this is; a state names it */
    uint64_t places[2]; /* for the places of states and the words of callers; no caller knows it */
    _Atomic(uint64_t) used[USED]; /* the first half is for callers with a key or a token */
    _Atomic(uint64_t) spent[ROWS][COUNTS];
    bool shared; /* states are claimed; set before any process is forked */
    uint64_t cluster;
    mishap_claims claims;
};

mishap *mishap_seal_make(mishap_seal **out)
{
    mishap_seal *seal = mishap_shared_map(sizeof *seal);
    *out = seal;
    if (!seal)
        return mishap_out_of_memory();
    seal->secret.count = 1;
    if (mishap_system_random(seal->secret.keys[0], sizeof seal->secret.keys[0]) &&
        mishap_system_random(&seal->run, sizeof seal->run) &&
        mishap_system_random(seal->places, sizeof seal->places))
        return NULL;
    mishap_seal_free(seal);
    *out = NULL;
    return mishap_raise(INTERNAL_ERROR, "The system has no random numbers.");
}

void mishap_seal_free(mishap_seal *seal)
{
    if (seal)
        mishap_shared_unmap(seal, sizeof *seal);
}

/* Keys of its own, so that no text under a secret means two things. */
void mishap_seal_use(mishap_seal *seal, const mishap_shared_secret *secret)
{
    static const mishap_text purpose = MISHAP_TEXT("mishap states of calls");
    if (!seal)
        return;
    seal->secret.count = secret->count;
    for (size_t i = 0; i < secret->count; i++)
        mishap_mac(secret->keys[i], purpose, seal->secret.keys[i]);
}

void mishap_seal_share(mishap_seal *seal, uint64_t cluster)
{
    if (!seal)
        return;
    seal->shared = true;
    seal->cluster = cluster;
}

mishap_claims *mishap_seal_claims(mishap_seal *seal)
{
    return seal && seal->shared ? &seal->claims : NULL;
}

/* -- what a state is for ----------------------------------------------------------------------- */

/* All arguments in the order of their declaration, with defaults, and the body. */
static bool digest(const unsigned char *key, const mishap_call *call, unsigned char out[DIGEST])
{
    char room[2048];
    mishap_buffer bytes;
    unsigned char mac[MISHAP_MAC];
    mishap_buffer_init(&bytes, room, sizeof room);
    for (size_t i = 0; i < call->param_count; i++) {
        mishap_buffer_put_char(&bytes, '\n'); /* no comma is due after it */
        if (call->values[i])
            mishap_json_copy(&bytes, call->values[i]);
        else if (call->presence && call->presence[i] == MISHAP_IS_NULL)
            MISHAP_PUT(&bytes, "null"); /* a typed handler tells it from an absent value */
    }
    if (call->body.data) {
        mishap_pack_text(&bytes, mishap_text_of(call->body_type ? call->body_type : ""));
        mishap_pack_text(&bytes, call->body);
    }
    bool made = !bytes.failed;
    if (made)
        mishap_mac(key, mishap_buffer_text(&bytes), mac);
    memcpy(out, mac, made ? DIGEST : 0);
    mishap_buffer_release(&bytes);
    return made;
}

static bool is_once(const mishap_call *call)
{
    return mishap_operation_danger(call->operation) == MISHAP_DESTRUCTIVE;
}

/* A call of the others runs in the loop, or is kept by the process of tasks: neither waits for a
 * claim. */
static bool is_claimed(const mishap_seal *seal, const mishap_call *call)
{
    return seal->shared && is_once(call) && !call->operation->quick && !call->operation->task_only;
}

/* Who knows whether the state was used. */
static uint64_t judge_of(const mishap_seal *seal, const mishap_call *call)
{
    return is_claimed(seal, call) ? seal->cluster : seal->run;
}

/* The code of the bytes of a state, together with what it is for and not in it. */
static bool prove(const unsigned char *key, const mishap_call *call, mishap_text body,
                  unsigned char mac[MISHAP_MAC])
{
    char room[2048];
    mishap_buffer bytes;
    mishap_buffer_init(&bytes, room, sizeof room);
    mishap_pack_text(&bytes, mishap_text_of(call->operation->name));
    mishap_pack_u8(&bytes, call->caller != NULL);
    mishap_pack_text(&bytes, mishap_text_of(call->caller ? call->caller : ""));
    mishap_pack_u64(&bytes, call->owner);
    mishap_buffer_put_text(&bytes, body);
    bool made = !bytes.failed;
    if (made)
        mishap_mac(key, mishap_buffer_text(&bytes), mac);
    mishap_buffer_release(&bytes);
    return made;
}

/* -- writing ----------------------------------------------------------------------------------- */

void mishap_state_put(mishap_buffer *text, const mishap_seal *seal, const mishap_call *call)
{
    char room[2048];
    unsigned char arguments[DIGEST], mac[MISHAP_MAC];
    const unsigned char *key = seal->secret.keys[0];
    uint64_t number = 0;
    mishap_buffer body;
    mishap_buffer_init(&body, room, sizeof room);
    bool made = mishap_system_random(&number, sizeof number) && digest(key, call, arguments);
    mishap_pack_u8(&body, VERSION);
    mishap_pack_u8(&body, (uint8_t)(call->rounds + 1));
    mishap_pack_u64(&body, (uint64_t)(mishap_clock_now_ms() + MISHAP_STATE_MS));
    mishap_pack_u64(&body, number);
    if (is_once(call))
        mishap_pack_u64(&body, judge_of(seal, call));
    mishap_buffer_put(&body, (const char *)arguments, made ? DIGEST : 0);
    if (call->replies.length) {
        mishap_buffer_put_char(&body, '\n'); /* no comma is due after it */
        mishap_asking_put_kept(&body, call);
    }
    made = made && !body.failed && prove(key, call, mishap_buffer_text(&body), mac);
    mishap_buffer_put(&body, (const char *)mac, made ? sizeof mac : 0);
    if (made && !body.failed)
        mishap_base64_put(text, mishap_buffer_text(&body));
    else
        text->failed = true;
    mishap_buffer_release(&body);
}

/* -- reading ----------------------------------------------------------------------------------- */

static bool is_over(uint64_t mark, uint64_t now_s)
{
    const uint64_t all = (UINT64_C(1) << SECONDS_BITS) - 1;
    uint64_t left = ((mark >> (64 - SECONDS_BITS)) - now_s) & all;
    return left > MISHAP_STATE_MS / 1000 + 2; /* it lies in the past */
}

/* The places in which a state may stand. They are not next to each other, so they are taken only if
 * most of all places are. */
struct places {
    uint64_t first, step;
    size_t half;
};

/* A caller can read the number, but cannot tell the places from it. Callers without a key or a
 * token have a half of their own, so they cannot use up all places. */
static struct places places_of(const mishap_seal *seal, const mishap_call *call, uint64_t number)
{
    uint64_t hash[2];
    mishap_hash_wide(seal->places, (mishap_text){ (const char *)&number, sizeof number }, hash);
    return (struct places){ hash[0], hash[1] | 1, call->owner ? 0 : HALF };
}

static _Atomic(uint64_t) *place(mishap_seal *seal, const struct places *places, size_t i)
{
    return &seal->used[places->half + (places->first + i * places->step) % HALF];
}

static bool stands_in_one(mishap_seal *seal, uint64_t mark, const struct places *places, size_t but)
{
    for (size_t i = 0; i < TRIES; i++)
        if (i != but && atomic_load(place(seal, places, i)) == mark)
            return true;
    return false;
}

/* A caller with a key or a token is that; any other, also one that names itself, is the network
 * that it calls from. */
static void find_words(mishap_seal *seal, const mishap_call *call, _Atomic(uint64_t) *words[ROWS])
{
    uint64_t hash[ROWS / 2];
    const uint64_t owners[2] = { ~seal->places[0], seal->places[1] };
    unsigned char network[8];
    mishap_text who = call->remote;
    if (call->owner)
        who = (mishap_text){ (const char *)&call->owner, sizeof call->owner };
    else if (who.length && mishap_hash_network(who, network))
        who = (mishap_text){ (const char *)network, sizeof network };
    mishap_hash_wide(call->owner ? owners : seal->places, who, hash);
    for (size_t i = 0; i < ROWS; i++)
        words[i] = &seal->spent[i][(hash[i / 2] >> (i % 2 * 32)) % COUNTS];
}

/* How far in the future a word lies. One that lies further than a word can come is from before the
 * clock was set back, and does not count. */
static int64_t ahead_of(uint64_t word, int64_t now_ms)
{
    int64_t ahead = (int64_t)word - now_ms;
    return ahead < 0 || ahead > MISHAP_STATE_MS ? 0 : ahead;
}

static void advance(_Atomic(uint64_t) *word, int64_t now_ms)
{
    uint64_t seen = atomic_load(word), next;
    do {
        int64_t ahead = ahead_of(seen, now_ms) + EACH_MS;
        next = (uint64_t)(now_ms + (ahead < MISHAP_STATE_MS ? ahead : MISHAP_STATE_MS));
    } while (!atomic_compare_exchange_weak(word, &seen, next));
}

/*
 * Count one state for its caller; false: it has used all that it may. This is the generic cell rate
 * algorithm, as in src/server/rate.c: a word is the time up to which a caller has used its
 * allowance. A caller has a word in each row, and the one that lies less far ahead counts: so two
 * callers share an allowance only if they share all their words. The rows take a constant amount of
 * memory. Two processes that count at once may let one more pass.
 */
static bool count_for_caller(mishap_seal *seal, const mishap_call *call, int64_t now_ms)
{
    _Atomic(uint64_t) *words[ROWS];
    int64_t least = MISHAP_STATE_MS;
    find_words(seal, call, words);
    for (size_t i = 0; i < ROWS; i++) {
        int64_t ahead = ahead_of(atomic_load(words[i]), now_ms);
        least = ahead < least ? ahead : least;
    }
    if (least + EACH_MS > MISHAP_STATE_MS)
        return false;
    for (size_t i = 0; i < ROWS; i++)
        advance(words[i], now_ms);
    return true;
}

/* SOUND for the first that uses it. Without a free place it cannot be used: that is safe. */
static mishap_state_flaw use_once(mishap_seal *seal, const mishap_call *call, uint64_t number,
                                  int64_t expires_ms)
{
    int64_t now_ms = mishap_clock_now_ms();
    uint64_t mark = (uint64_t)(expires_ms / 1000 + 1) << (64 - SECONDS_BITS) |
                    number >> SECONDS_BITS;
    const struct places places = places_of(seal, call, number);
    if (stands_in_one(seal, mark, &places, TRIES))
        return MISHAP_STATE_USED;
    if (!count_for_caller(seal, call, now_ms))
        return MISHAP_STATE_CROWDED;
    for (size_t i = 0; i < TRIES; i++) {
        _Atomic(uint64_t) *at = place(seal, &places, i);
        uint64_t seen = atomic_load(at);
        if ((seen == 0 || is_over(seen, (uint64_t)(now_ms / 1000))) &&
            atomic_compare_exchange_strong(at, &seen, mark))
            return stands_in_one(seal, mark, &places,
                                 i) /* another process may have been as quick */
                       ? MISHAP_STATE_USED
                       : MISHAP_STATE_SOUND;
    }
    return MISHAP_STATE_FULL;
}

static bool same_bytes(const unsigned char *a, const unsigned char *b, size_t count)
{
    unsigned char differs = 0;
    for (size_t i = 0; i < count; i++)
        differs |= a[i] ^ b[i];
    return !differs;
}

/* Only who has made a state that may be used once knows whether it was: a server, or a cluster. */
static bool is_elsewhere(const mishap_seal *seal, const mishap_call *call, mishap_unpack *in)
{
    return is_once(call) && mishap_unpack_u64(in) != judge_of(seal, call);
}

/* What is claimed is not marked as used here: a claim without an answer may be made again. */
static mishap_state_flaw use(mishap_seal *seal, mishap_call *call, uint64_t number,
                             int64_t expires_ms)
{
    if (!is_once(call))
        return MISHAP_STATE_SOUND;
    if (!is_claimed(seal, call))
        return use_once(seal, call, number, expires_ms);
    if (!count_for_caller(seal, call, mishap_clock_now_ms()))
        return MISHAP_STATE_CROWDED;
    call->claim.number = number;
    call->claim.expires_ms = expires_ms;
    return MISHAP_STATE_SOUND;
}

static mishap_state_flaw read_body(mishap_seal *seal, const unsigned char *key, mishap_call *call,
                                   mishap_text body)
{
    unsigned char arguments[DIGEST];
    mishap_unpack in = mishap_unpack_of(body);
    uint8_t version = mishap_unpack_u8(&in), rounds = mishap_unpack_u8(&in);
    uint64_t expires = mishap_unpack_u64(&in), number = mishap_unpack_u64(&in);
    if (in.failed || version != VERSION)
        return MISHAP_STATE_FORGED;
    bool elsewhere = is_elsewhere(seal, call, &in);
    if (in.failed || in.left < DIGEST)
        return MISHAP_STATE_FORGED;
    if (!digest(key, call, arguments))
        return MISHAP_STATE_NO_MEMORY;
    if (!same_bytes((const unsigned char *)in.data, arguments, DIGEST))
        return MISHAP_STATE_FORGED;
    if ((int64_t)expires < mishap_clock_now_ms())
        return MISHAP_STATE_EXPIRED;
    if (elsewhere)
        return MISHAP_STATE_ELSEWHERE;
    mishap_state_flaw flaw = use(seal, call, number, (int64_t)expires);
    if (flaw != MISHAP_STATE_SOUND)
        return flaw;
    call->rounds = rounds;
    if (in.left == DIGEST)
        return MISHAP_STATE_SOUND;
    call->replies = mishap_arena_copy(&call->arena,
                                      (mishap_text){ in.data + DIGEST + 1, in.left - DIGEST - 1 });
    return call->replies.data ? MISHAP_STATE_SOUND : MISHAP_STATE_NO_MEMORY;
}

mishap_state_flaw mishap_state_take(mishap_seal *seal, mishap_call *call, mishap_text text)
{
    char room[2048];
    unsigned char mac[MISHAP_MAC];
    mishap_buffer bytes;
    mishap_state_flaw flaw = MISHAP_STATE_FORGED;
    if (text.length > MISHAP_STATE_LIMIT)
        return flaw;
    mishap_buffer_init(&bytes, room, sizeof room);
    if (!mishap_base64_read(&bytes, text)) {
        flaw = bytes.failed ? MISHAP_STATE_NO_MEMORY : MISHAP_STATE_FORGED;
    } else if (bytes.length >= HEAD + MISHAP_MAC) {
        mishap_text body = { bytes.data, bytes.length - MISHAP_MAC };
        for (size_t i = 0; i < seal->secret.count && flaw == MISHAP_STATE_FORGED; i++) {
            const unsigned char *key = seal->secret.keys[i];
            if (!prove(key, call, body, mac))
                flaw = MISHAP_STATE_NO_MEMORY;
            else if (same_bytes(mac, (const unsigned char *)bytes.data + body.length, MISHAP_MAC))
                flaw = read_body(seal, key, call, body);
        }
    }
    mishap_buffer_release(&bytes);
    return flaw;
}

/* -- for boundaries ---------------------------------------------------------------------------- */

static const char anew[] = "Send the call again without a state and without answers: the server "
                           "then asks its questions anew.";

static mishap *refuse(mishap_state_flaw flaw)
{
    if (flaw == MISHAP_STATE_NO_MEMORY)
        return mishap_out_of_memory();
    if (flaw == MISHAP_STATE_CROWDED)
        return mishap_retry_after(
            mishap_raise(RATE_LIMITED, "This caller has answered too many questions in a short "
                                       "time."),
            EACH_MS);
    if (flaw == MISHAP_STATE_FULL)
        return mishap_suggest(
            mishap_retry_after(mishap_raise(RATE_LIMITED,
                                            "The callers of this server have answered too many "
                                            "questions in a short time."),
                               FULL_MS),
            anew);
    const char *why = flaw == MISHAP_STATE_EXPIRED ? "has expired"
                      : flaw == MISHAP_STATE_USED  ? "was used already"
                      : flaw == MISHAP_STATE_ELSEWHERE
                          ? "was made by another server, or before a restart"
                          : "does not belong to this call";
    return mishap_suggest(mishap_raise(BAD_REQUEST, "The state of the question %s.", why), anew);
}

mishap *mishap_state_refuse_claim(mishap_claim_answer answer)
{
    if (answer == MISHAP_CLAIM_TAKEN)
        return mishap_suggest(
            mishap_raise(BAD_REQUEST, "The state of the question was used already, or its call was "
                                      "refused while the database of the cluster was away."),
            anew);
    return mishap_retry_after(
        mishap_raise(UNAVAILABLE, "The database of the cluster does not say whether the state of "
                                  "the question was used. Nothing was done."),
        1000);
}

mishap *mishap_sealed_begin(mishap_seal *seal, mishap_call *call, yyjson_val *state,
                            yyjson_val *answers, mishap_answers_form form)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_state_flaw flaw = MISHAP_STATE_FORGED;
    if (!seal || !state || yyjson_is_null(state))
        return NULL;
    /* Before the state: one that may come once can still be sent with other answers. */
    mishap *failure = form == MISHAP_ANSWERS_OF_CLIENT
                          ? NULL
                          : mishap_asking_check(call, &reader, &answers);
    if (!failure) {
        if (yyjson_is_str(state))
            flaw = mishap_state_take(seal, call, mishap_json_text(state));
        failure = flaw == MISHAP_STATE_SOUND ? mishap_asking_answer(call, answers, form)
                                             : refuse(flaw);
    }
    mishap_json_reader_release(&reader);
    return failure;
}

void mishap_sealed_tell(const mishap_seal *seal, const mishap_call *call, mishap *failure,
                        const char *how)
{
    char room[1024];
    mishap_buffer text;
    if (!seal)
        return;
    mishap_buffer_init(&text, room, sizeof room);
    mishap_state_put(&text, seal, call);
    if (!text.failed)
        mishap_tell_value(failure, (mishap_text)MISHAP_TEXT("state"),
                          mishap_value_of_text(mishap_buffer_text(&text)));
    mishap_suggest(failure, how);
    mishap_buffer_release(&text);
}
