/*
 * Any text as a key set: it is refused with a sentence for the operator, or has at least one key
 * that can be used, or no key at all. Reading it again gives the same keys. No key takes a
 * signature of zeros.
 */
#include "fuzz.h"
#include "oauth/oauth.h"

static void expect_refusal(const mishap *failure)
{
    const mishap_public *told = mishap_told(failure);
    EXPECT(told->code == MISHAP_CODE_NOT_CONFIGURED, "refused otherwise: %s",
           told->code->name.data);
    expect_utf8(told->message);
}

static void expect_keys(const mishap_jwks *set)
{
    size_t all = 0;
    for (int i = 0; i < MISHAP_JWK_FAULTS; i++)
        all += mishap_jwks_count(set, (mishap_jwk_fault)i);
    EXPECT(!all || mishap_jwks_count(set, MISHAP_JWK_USED) > 0, "no key can be used");
    EXPECT(mishap_jwks_lacks(NULL, set) == (all > 0), "another number of keys");
    EXPECT(all <= MISHAP_JWKS_MOST, "%zu keys", all);
}

static void expect_no_forgery(const mishap_jwks *set)
{
    static const char zeros[512];
    static const char *const names[] = { "es", "rs", "ed", "beside", "same" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const mishap_jwk *key = mishap_jwks_find(set, mishap_text_of(names[i]),
                                                 (mishap_text)MISHAP_TEXT("ES256"));
        for (size_t length = 0; key && length <= sizeof zeros; length += 32)
            EXPECT(!mishap_jwk_verify(key, (mishap_text)MISHAP_TEXT("text"),
                                      (mishap_text){ zeros, length }),
                   "%zu zeros are a signature", length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_jwks *set = NULL, *again = NULL;
    mishap *missing = mishap_oauth_load();
    EXPECT(!missing, "libcrypto cannot be loaded");
    mishap *failure = mishap_jwks_read(input_text(data, size), &set);
    mishap *second = mishap_jwks_read(input_text(data, size), &again);
    EXPECT(!failure == !second && !failure == (set != NULL), "not the same");
    if (failure) {
        expect_refusal(failure);
    } else {
        expect_keys(set);
        EXPECT(!mishap_jwks_lacks(set, again) && !mishap_jwks_lacks(again, set), "not the same");
        expect_no_forgery(set);
    }
    mishap_free(failure);
    mishap_free(second);
    mishap_jwks_free(set);
    mishap_jwks_free(again);
    return 0;
}
