#include "base/mac.h"

#include <sha2.h>
#include <string.h>

_Static_assert(MISHAP_MAC == SHA256_DIGEST_LENGTH && MISHAP_MAC_KEY <= SHA256_BLOCK_LENGTH,
               "the key is no longer than a block, so it is not hashed first");

/* Hash a block of the key, filled up with zeros and combined with `pad`, and then the text. */
static void hash(const unsigned char key[MISHAP_MAC_KEY], unsigned char pad, const void *text,
                 size_t length, unsigned char out[MISHAP_MAC])
{
    SHA2_CTX context;
    uint8_t block[SHA256_BLOCK_LENGTH];
    memset(block, pad, sizeof block);
    for (size_t i = 0; i < MISHAP_MAC_KEY; i++)
        block[i] ^= key[i];
    SHA256Init(&context);
    SHA256Update(&context, block, sizeof block);
    SHA256Update(&context, text, length);
    SHA256Final(out, &context);
    explicit_bzero(block, sizeof block);
    explicit_bzero(&context, sizeof context);
}

void mishap_mac(const unsigned char key[MISHAP_MAC_KEY], mishap_text message,
                unsigned char mac[MISHAP_MAC])
{
    unsigned char inner[MISHAP_MAC];
    hash(key, 0x36, message.data, message.length, inner);
    hash(key, 0x5c, inner, sizeof inner, mac);
}
