/* States that are claimed: see claims.h. */
#include "operation/claims.h"

#include <stdbool.h>

/* The phases of a place. Those of a claim that was made have the numbers of its answers. */
enum {
    OPEN = MISHAP_CLAIM_OPEN,
    LAST_ANSWER = MISHAP_CLAIM_UNKNOWN,
    BEGUN = 6, /* it is being written */
    FREE = 7,
    PHASE = 7,
    PHASE_BITS = 3,
    PLACE_BITS = 8, /* of a ticket */
};
#define LOST_NS (INT64_C(60) * 1000000000)

_Static_assert(MISHAP_CLAIMS <= 1 << PLACE_BITS, "a ticket has room for the place");

static uint64_t generation_of(uint64_t word)
{
    return word >> PHASE_BITS;
}

static bool is_free(uint64_t word, const struct mishap_claims_place *place, int64_t now_ns)
{
    unsigned phase = word & PHASE;
    return word == 0 || phase == FREE ||
           (phase <= LAST_ANSWER && now_ns - atomic_load(&place->asked_ns) > LOST_NS);
}

static struct mishap_claims_place *place_of(mishap_claims *claims, uint64_t ticket)
{
    return &claims->places[ticket & ((1 << PLACE_BITS) - 1)];
}

uint64_t mishap_claims_ask(mishap_claims *claims, uint64_t number, int64_t expires_ms,
                           int64_t now_ns)
{
    for (size_t i = 0; i < MISHAP_CLAIMS; i++) {
        struct mishap_claims_place *place = &claims->places[(number + i) % MISHAP_CLAIMS];
        uint64_t word = atomic_load(&place->word), generation = generation_of(word) + 1;
        if (!is_free(word, place, now_ns) ||
            !atomic_compare_exchange_strong(&place->word, &word, generation << PHASE_BITS | BEGUN))
            continue;
        atomic_store(&place->number, number);
        atomic_store(&place->expires_ms, expires_ms);
        atomic_store(&place->asked_ns, now_ns);
        atomic_store(&place->word, generation << PHASE_BITS | OPEN);
        return generation << PLACE_BITS | (uint64_t)(place - claims->places);
    }
    return 0;
}

mishap_claim_answer mishap_claims_look(mishap_claims *claims, uint64_t ticket)
{
    uint64_t word = atomic_load(&place_of(claims, ticket)->word);
    unsigned phase = word & PHASE;
    if (generation_of(word) != ticket >> PLACE_BITS || phase > LAST_ANSWER)
        return MISHAP_CLAIM_UNKNOWN;
    return (mishap_claim_answer)phase;
}

void mishap_claims_drop(mishap_claims *claims, uint64_t ticket)
{
    struct mishap_claims_place *place = place_of(claims, ticket);
    uint64_t word = atomic_load(&place->word);
    while (generation_of(word) == ticket >> PLACE_BITS &&
           !atomic_compare_exchange_weak(&place->word, &word, word | FREE))
        ;
}

size_t mishap_claims_open(mishap_claims *claims, mishap_claim *out, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < MISHAP_CLAIMS && count < most; i++) {
        struct mishap_claims_place *place = &claims->places[i];
        uint64_t word = atomic_load(&place->word);
        if (word == 0 || (word & PHASE) != OPEN)
            continue;
        out[count] = (mishap_claim){ generation_of(word) << PLACE_BITS | i,
                                     atomic_load(&place->number), atomic_load(&place->expires_ms) };
        count += atomic_load(&place->word) == word;
    }
    return count;
}

void mishap_claims_decide(mishap_claims *claims, uint64_t ticket, mishap_claim_answer answer)
{
    uint64_t word = (ticket >> PLACE_BITS) << PHASE_BITS | OPEN;
    atomic_compare_exchange_strong(&place_of(claims, ticket)->word, &word, word | answer);
}
