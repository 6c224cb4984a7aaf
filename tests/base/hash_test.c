/* The keyed hashes (base/hash.h), against OpenSSL's SipHash. */
#include "base/hash.h"

#include <string.h>

#include "testing.h"

/*
 * What `openssl mac -macopt hexkey:000102…0f -macopt size:16 SIPHASH` says of the bytes 0, 1, 2 …,
 * and with size:8, c-rounds:1 and d-rounds:3.
 */
static const struct {
    size_t length;
    const char *wide, *narrow;
} told[] = {
    { 0, "a3817f04ba25a8e66df67214c7550293", "dcc40f055801acab" },
    { 1, "da87c1d86b99af44347659119b22fc45", "93ca577df39bf4c9" },
    { 2, "8177228da4a45dc7fca38bdef60affe4", "4dd4c74d029bcb82" },
    { 3, "9c70b60c5267a94e5f33b6b02985ed51", "fbf7dde7b80af88b" },
    { 7, "a1f1ebbed8dbc153c0b84aa61ff08239", "4011b19b987d92d3" },
    { 8, "3b62a9ba6258f5610f83e264f31497b4", "8e9a298d11959036" },
    { 15, "5493e99933b0a8117e08ec0f97cfc3d9", "5699512a6dd820d3" },
    { 63, "5150d1772f50834a503e069a973fbd7c", "a8b3bbb76290199d" },
    { 613, "823dccd6e1e1805eb767e1fd574d3588", "f6bb0b010ce5b2ea" },
};

static const uint64_t secret[2] = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };

static void assert_digits(const void *hash, size_t count, const char *digits)
{
    char text[2 * 16 + 1] = "";
    const unsigned char *bytes = hash;
    for (size_t i = 0; i < count; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, digits);
}

static void hashes_are_those_of_openssl(void **state)
{
    char bytes[613];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(unsigned char)i;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const mishap_text text = { bytes, told[i].length };
        uint64_t wide[2], narrow = mishap_hash(secret, text);
        mishap_hash_wide(secret, text, wide);
        assert_digits(wide, sizeof wide, told[i].wide);
        assert_digits(&narrow, sizeof narrow, told[i].narrow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(hashes_are_those_of_openssl),
    };
    return RUN(tests);
}
