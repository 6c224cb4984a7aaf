/*
 * Callers whose tokens were sound: a table of sets with four places each. The place of a token is
 * determined by its digest. Only sound tokens are in it, so strangers cannot fill it.
 *
 * The digest is the SHA-256 of a keyed hash of the token (SipHash-2-4 with 128 bits). SHA-256 of
 * the token itself would cost more than all else that is done for a caller: a token has ten blocks
 * of 64 bytes and more, and a keyed hash one. The key is random and stays in this process. Without
 * it, a text with the keyed hash of a token that is known can only be guessed: 4,096 chances in
 * 2^128. An attacker that reads this memory has the key, and could make such a text for a keyed
 * hash; so the table has only its SHA-256.
 */
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/system.h"
#include "oauth/oauth.h"

enum { PLACES = 4, SETS = MISHAP_TOKEN_CACHED / PLACES };

struct place {
    unsigned char digest[MISHAP_OAUTH_DIGEST];
    int64_t until_s; /* 0: free */
    mishap_identity identity;
};

struct mishap_token_cache {
    uint64_t secret[2];
    struct place places[SETS][PLACES];
};

mishap *mishap_token_cache_make(mishap_token_cache **out)
{
    *out = mishap_allocate(sizeof **out);
    if (!*out)
        return mishap_out_of_memory();
    mishap_token_cache_clear(*out);
    if (mishap_system_random((*out)->secret, sizeof(*out)->secret))
        return NULL;
    mishap_token_cache_free(*out);
    *out = NULL;
    return mishap_raise(INTERNAL_ERROR, "The system could not provide random bytes.");
}

void mishap_token_cache_free(mishap_token_cache *cache)
{
    mishap_release(cache);
}

void mishap_token_cache_clear(mishap_token_cache *cache)
{
    memset(cache->places, 0, sizeof cache->places);
}

bool mishap_token_cache_digest(const mishap_token_cache *cache, mishap_text token,
                               unsigned char digest[MISHAP_OAUTH_DIGEST])
{
    uint64_t hash[2];
    mishap_hash_wide(cache->secret, token, hash);
    return mishap_oauth_digest((mishap_text){ (const char *)hash, sizeof hash }, digest);
}

static size_t set_of(const unsigned char digest[MISHAP_OAUTH_DIGEST])
{
    return ((size_t)digest[0] << 8 | digest[1]) % SETS;
}

const mishap_identity *mishap_token_cache_find(const mishap_token_cache *cache,
                                               const unsigned char digest[MISHAP_OAUTH_DIGEST],
                                               int64_t now_s)
{
    const struct place *set = cache->places[set_of(digest)];
    for (size_t i = 0; i < PLACES; i++)
        if (set[i].until_s > now_s && memcmp(set[i].digest, digest, MISHAP_OAUTH_DIGEST) == 0)
            return &set[i].identity;
    return NULL;
}

/* A token is accepted until its end and the difference of clocks, and so is what is kept of it. */
static int64_t until(const mishap_identity *identity, int64_t now_s)
{
    int64_t end_s = identity->ends_s + MISHAP_TOKEN_SKEW_S, most_s = now_s + MISHAP_TOKEN_CACHED_S;
    return end_s < most_s ? end_s : most_s;
}

const mishap_identity *mishap_token_cache_add(mishap_token_cache *cache,
                                              const unsigned char digest[MISHAP_OAUTH_DIGEST],
                                              const mishap_identity *identity, int64_t now_s)
{
    struct place *set = cache->places[set_of(digest)], *to = set;
    for (size_t i = 1; i < PLACES; i++)
        if (set[i].until_s < to->until_s)
            to = &set[i];
    memcpy(to->digest, digest, MISHAP_OAUTH_DIGEST);
    to->until_s = until(identity, now_s);
    to->identity = *identity;
    return &to->identity;
}
