/*
 * Any text as a token, in the time of the tokens of the corpus. One that is sound has claims that
 * are valid text and not too long, is not sound without its last character, and not for another
 * server or a day later.
 */
#include "fuzz.h"
#include "fuzz_keys.h"
#include "oauth/oauth.h"

enum { NOW_S = 1800000000, DAY_S = 86400 };

static mishap_jwks *keys;
static mishap_token_reader reader;

static mishap_token_flaw check(mishap_text text, const char *audience, int64_t now_s,
                               mishap_token *token)
{
    const mishap_token_issuer issuers[] = { { MISHAP_TEXT("https://login.example.com"), keys } };
    const mishap_text audiences[] = { mishap_text_of(audience) };
    const mishap_token_rules rules = { issuers, 1, audiences, 1 };
    return mishap_token_check(&reader, &rules, text, now_s, token);
}

static void expect_claims(const mishap_token *token)
{
    mishap_text name;
    size_t at = 0;
    EXPECT(token->subject.length && token->subject.length <= MISHAP_TOKEN_LONGEST_SUBJECT &&
               token->client.length <= MISHAP_TOKEN_LONGEST_SUBJECT,
           "%zu and %zu bytes", token->subject.length, token->client.length);
    expect_utf8(token->subject);
    expect_utf8(token->client);
    while (mishap_token_next_scope(token, &at, &name))
        expect_utf8(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char ours[] = "https://api.example.com", mcp[] = "https://api.example.com/mcp";
    mishap_token token;
    mishap *missing = mishap_oauth_load();
    EXPECT(!missing, "libcrypto cannot be loaded");
    if (!keys)
        EXPECT(!mishap_jwks_read(mishap_text_of(fuzz_keys), &keys), "the keys cannot be read");
    mishap_text text = input_text(data, size);
    const char *audience = ours;
    mishap_token_flaw flaw = check(text, audience, NOW_S, &token);
    EXPECT(flaw < MISHAP_TOKEN_FLAWS && flaw != MISHAP_TOKEN_NO_MEMORY, "flaw %d", (int)flaw);
    if (flaw == MISHAP_TOKEN_AUDIENCE)
        flaw = check(text, audience = mcp, NOW_S, &token);
    if (flaw != MISHAP_TOKEN_SOUND)
        return 0;
    expect_claims(&token);
    EXPECT(check(text, "https://other.example.com", NOW_S, &token) == MISHAP_TOKEN_AUDIENCE,
           "it is for every server");
    EXPECT(check(text, audience, NOW_S + DAY_S, &token) == MISHAP_TOKEN_EXPIRED, "it has no end");
    text.length--;
    EXPECT(check(text, audience, NOW_S, &token), "sound without its last character");
    return 0;
}
