/*
 * What an access token costs: the first check of each algorithm, one that is forged, and one that
 * is cached beside an API key.
 *
 *     oauth_bench FOLDER      the tokens: tests/fuzz/corpus/token
 */
#include <string.h>

#include "../../tests/fuzz/fuzz_keys.h"
#include "../measure.h"
#include "http/keys/file.h"
#include "oauth/oauth.h"

enum { NOW_S = 1800000000 };

static struct {
    mishap_jwks *keys;
    mishap_token_reader reader;
    mishap_token_cache *cache;
    char bytes[MISHAP_TOKEN_LONGEST];
    mishap_text token;
    mishap_token_flaw wanted;
} now;

static const mishap_token_rules *rules(void)
{
    static mishap_token_issuer issuers[] = { { MISHAP_TEXT("https://login.example.com"), NULL } };
    static const mishap_text audiences[] = { MISHAP_TEXT("https://api.example.com") };
    static const mishap_token_rules made = { issuers, 1, audiences, 1 };
    issuers[0].keys = now.keys;
    return &made;
}

static void read_token(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    now.token = (mishap_text){ now.bytes, file ? fread(now.bytes, 1, sizeof now.bytes, file) : 0 };
    if (file)
        fclose(file);
    if (!now.token.length)
        end_void(path, "it cannot be read");
}

static void check(void)
{
    mishap_token token;
    if (mishap_token_check(&now.reader, rules(), now.token, NOW_S, &token) != now.wanted)
        end_void("a token", "it was judged otherwise");
}

static void nothing(void)
{
}

static void measure(const char *what, mishap_token_flaw wanted, double at_most_us)
{
    double ours, theirs;
    now.wanted = wanted;
    compare(check, nothing, 5, &ours, &theirs);
    double us = figure(what, ours / 1000);
    if (at_most_us > 0)
        printf("%-44s %8.1f µs   at most %.0f: %s\n", what, us, at_most_us,
               outcome(us, 1, at_most_us));
    else
        printf("%-44s %8.1f µs\n", what, us);
}

static void cached(void)
{
    unsigned char digest[MISHAP_OAUTH_DIGEST];
    if (!mishap_token_cache_digest(now.cache, now.token, digest) ||
        !mishap_token_cache_find(now.cache, digest, NOW_S))
        end_void("a cached token", "it is not there");
}

/* What a request with an API key does: SHA-256 and a comparison. */
static void with_key(void)
{
    static const char key[] = "mk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    unsigned char hash[MISHAP_KEY_HASH];
    mishap_key_hash((mishap_text){ key, MISHAP_KEY_LENGTH }, hash);
    if (!hash[0] && !hash[1] && !hash[2] && !hash[3])
        end_void("an API key", "it has no hash");
}

static void measure_cached(void)
{
    unsigned char digest[MISHAP_OAUTH_DIGEST];
    mishap_identity identity;
    mishap_token token;
    double token_ns, key_ns;
    if (mishap_token_cache_make(&now.cache) ||
        !mishap_token_cache_digest(now.cache, now.token, digest) ||
        mishap_token_check(&now.reader, rules(), now.token, NOW_S, &token) ||
        !mishap_token_identify(&token, (mishap_text)MISHAP_TEXT("login"), NULL, &identity))
        end_void("a cached token", "it is not sound");
    mishap_token_cache_add(now.cache, digest, &identity, NOW_S);
    compare(cached, with_key, 500, &token_ns, &key_ns);
    double more = (figure("a cached token", token_ns) - figure("an API key", key_ns)) / 1000;
    printf("%-44s %8.2f µs   (%zu bytes)\n", "a cached token", token_ns / 1000, now.token.length);
    printf("%-44s %8.2f µs\n", "an API key", key_ns / 1000);
    printf("%-44s %8.2f µs   at most 1: %s\n", "a cached token, over an API key", more,
           outcome(more, 2, 1));
}

int main(int count, char **arguments)
{
    static const struct {
        const char *file, *name;
        double at_most_us;
    } rows[] = {
        { "RS256-with-rs", "RS256", 40 },  { "PS256-with-ps", "PS256, 3072 bits", 0 },
        { "ES256-with-es", "ES256", 100 }, { "ES384-with-es3", "ES384", 0 },
        { "EdDSA-with-ed", "EdDSA", 120 },
    };
    if (count != 2 || mishap_oauth_load() || mishap_jwks_read(mishap_text_of(fuzz_keys), &now.keys))
        end_void("the benchmark", "give the folder of tokens; libcrypto must be installed");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char what[64];
        read_token(arguments[1], rows[i].file);
        snprintf(what, sizeof what, "first check, %s", rows[i].name);
        measure(what, MISHAP_TOKEN_SOUND, rows[i].at_most_us);
        char *digit = &now.bytes[now.token.length - 20];
        *digit = *digit == 'A' ? 'B' : 'A';
        snprintf(what, sizeof what, "… forged, %s", rows[i].name);
        measure(what, MISHAP_TOKEN_SIGNATURE, 0);
    }
    read_token(arguments[1], "RS256-with-rs");
    measure_cached();
    return 0;
}
