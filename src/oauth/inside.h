/* One key, for the files of this folder. */
#ifndef MISHAP_OAUTH_INSIDE_H
#define MISHAP_OAUTH_INSIDE_H

#include "oauth/libcrypto.h"
#include "oauth/oauth.h"

struct mishap_jwk {
    mishap_jwa algorithm;
    size_t length; /* bytes of a signature */
    evp_pkey *key;
    evp_pkey_ctx *context; /* ready to verify; NULL for Ed25519, which takes the bytes themselves */
    mishap_text id;        /* in memory of its own */
    unsigned char digest[MISHAP_OAUTH_DIGEST]; /* the SHA-256 of its numbers */
};

/* Numbers of a key, big-endian as JWK has them: RSA n and e; EC x and y; OKP x alone. */
typedef struct mishap_jwk_numbers {
    mishap_text first, second;
} mishap_jwk_numbers;

enum { MISHAP_JWK_LARGEST_NUMBER = 512 }; /* bytes: RSA with 4096 bits */

/* Make a key for its algorithm. MISHAP_JWK_USED: it is made. */
mishap_jwk_fault mishap_jwk_make(mishap_jwk *key, mishap_jwk_numbers numbers);
void mishap_jwk_release(mishap_jwk *key);

/* True if these 32 bytes are a point of the curve of Ed25519, and none of small order: with such a
 * point as its key, a signature would fit any text. */
bool mishap_ed25519_is_sound(const unsigned char bytes[32]);

#endif
