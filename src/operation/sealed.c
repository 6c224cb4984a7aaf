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
    DIGEST = 16,   /* bytes of the digest of the arguments */
    USED = 65536,  /* states of destructive operations that are remembered: 512 KB */
    WINDOW = 1024, /* … of one caller: more would leave others no place */
    NEAR = 16,     /* places in which one may stand */
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
    uint64_t places[2]; /* for the places of callers; no caller knows it */
    _Atomic(uint64_t) used[USED];
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
        mishap_pack_u64(&body, seal->run);
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

static bool stands_near(mishap_seal *seal, uint64_t mark, size_t from, size_t but)
{
    for (size_t i = 0; i < NEAR; i++)
        if (i != but && atomic_load(&seal->used[from + i]) == mark)
            return true;
    return false;
}

/* The first place for a state of this caller. Callers cannot know which others have the same
 * window. */
static size_t place_of(const mishap_seal *seal, const mishap_call *call, uint64_t number)
{
    uint64_t hash = mishap_hash(seal->places, mishap_text_of(call->caller ? call->caller : ""));
    return (size_t)(hash % (USED / WINDOW)) * WINDOW + (size_t)(number % (WINDOW - NEAR));
}

/* SOUND for the first that uses it. Without a free place it cannot be used: that is safe. */
static mishap_state_flaw use_once(mishap_seal *seal, const mishap_call *call, uint64_t number,
                                  int64_t expires_ms)
{
    uint64_t now_s = (uint64_t)(mishap_clock_now_ms() / 1000);
    uint64_t mark = (uint64_t)(expires_ms / 1000 + 1) << (64 - SECONDS_BITS) |
                    number >> SECONDS_BITS;
    size_t from = place_of(seal, call, number);
    if (stands_near(seal, mark, from, NEAR))
        return MISHAP_STATE_USED;
    for (size_t i = 0; i < NEAR; i++) {
        _Atomic(uint64_t) *place = &seal->used[from + i];
        uint64_t seen = atomic_load(place);
        if ((seen == 0 || is_over(seen, now_s)) &&
            atomic_compare_exchange_strong(place, &seen, mark))
            return stands_near(seal, mark, from, i) /* another process may have been as quick */
                       ? MISHAP_STATE_USED
                       : MISHAP_STATE_SOUND;
    }
    return MISHAP_STATE_CROWDED;
}

static bool same_bytes(const unsigned char *a, const unsigned char *b, size_t count)
{
    unsigned char differs = 0;
    for (size_t i = 0; i < count; i++)
        differs |= a[i] ^ b[i];
    return !differs;
}

/* A state that may be used once is known only to the server that has made it. */
static bool is_elsewhere(const mishap_seal *seal, const mishap_call *call, mishap_unpack *in)
{
    return is_once(call) && mishap_unpack_u64(in) != seal->run;
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
    mishap_state_flaw flaw = is_once(call) ? use_once(seal, call, number, (int64_t)expires)
                                           : MISHAP_STATE_SOUND;
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

static mishap *refuse(mishap_state_flaw flaw)
{
    if (flaw == MISHAP_STATE_NO_MEMORY)
        return mishap_out_of_memory();
    if (flaw == MISHAP_STATE_CROWDED)
        return mishap_retry_after(
            mishap_raise(RATE_LIMITED, "Too many questions of this caller were answered."),
            MISHAP_STATE_MS);
    const char *why = flaw == MISHAP_STATE_EXPIRED ? "has expired"
                      : flaw == MISHAP_STATE_USED  ? "was used already"
                      : flaw == MISHAP_STATE_ELSEWHERE
                          ? "was made by another server, or before a restart"
                          : "does not belong to this call";
    return mishap_suggest(mishap_raise(BAD_REQUEST, "The state of the question %s.", why),
                          "Send the call without a state and answers; it is then asked again.");
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
