/*
 * One public key: made of its numbers, and used. RSA and ECDSA keys keep a context that is ready,
 * so that a check costs the arithmetic and a digest alone.
 */
#include <string.h>

#include "oauth/inside.h"

/* -- making ------------------------------------------------------------------------------------ */

static evp_pkey *key_from(const char *type, ossl_param *params)
{
    evp_pkey *key = NULL;
    evp_pkey_ctx *context = mishap_libcrypto.EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (context && mishap_libcrypto.EVP_PKEY_fromdata_init(context) == 1 &&
        mishap_libcrypto.EVP_PKEY_fromdata(context, &key, EVP_PUBLIC, params) != 1)
        key = NULL;
    mishap_libcrypto.EVP_PKEY_CTX_free(context);
    mishap_libcrypto.ERR_clear_error(); /* else its list of errors grows */
    return key;
}

/* libcrypto takes numbers in the order of the processor. */
static ossl_param number_of(const char *name, unsigned char *to, mishap_text big_endian)
{
    for (size_t i = 0; i < big_endian.length; i++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        to[i] = (unsigned char)big_endian.data[big_endian.length - 1 - i];
#else
        to[i] = (unsigned char)big_endian.data[i];
#endif
    }
    return (ossl_param){ name, OSSL_UNSIGNED, to, big_endian.length, 0 };
}

static mishap_text without_zeros(mishap_text number)
{
    while (number.length && !number.data[0]) {
        number.data++;
        number.length--;
    }
    return number;
}

static size_t bits_of(mishap_text number)
{
    size_t bits = number.length * 8;
    for (unsigned top = number.length ? (unsigned char)number.data[0] : 0x80; !(top & 0x80);
         top <<= 1)
        bits--;
    return bits;
}

static bool is_odd(mishap_text number)
{
    return number.length && number.data[number.length - 1] & 1;
}

/* An exponent of 1 makes any text its own signature. Large ones only cost time. */
static mishap_jwk_fault make_rsa(mishap_jwk *key, mishap_jwk_numbers numbers)
{
    unsigned char room[2][MISHAP_JWK_LARGEST_NUMBER];
    mishap_text n = without_zeros(numbers.first), e = without_zeros(numbers.second);
    size_t bits = bits_of(n), exponent_bits = bits_of(e);
    if (bits < 2048 || bits > 4096 || !is_odd(n) || exponent_bits < 2 || exponent_bits > 33 ||
        !is_odd(e))
        return MISHAP_JWK_WRONG_SIZE;
    ossl_param params[] = { number_of("n", room[0], n), number_of("e", room[1], e), { 0 } };
    key->length = (bits + 7) / 8;
    key->key = key_from("RSA", params);
    return key->key ? MISHAP_JWK_USED : MISHAP_JWK_BAD_NUMBER;
}

/* libcrypto refuses a point that is not on the curve. There are no others of small order. */
static mishap_jwk_fault make_ec(mishap_jwk *key, mishap_jwk_numbers numbers)
{
    bool large = key->algorithm == MISHAP_JWA_ES384;
    size_t size = large ? 48 : 32;
    unsigned char point[1 + 2 * 48] = { 4 };
    char group[] = "P-256";
    if (numbers.first.length != size || numbers.second.length != size)
        return MISHAP_JWK_BAD_NUMBER;
    memcpy(point + 1, numbers.first.data, size);
    memcpy(point + 1 + size, numbers.second.data, size);
    if (large)
        memcpy(group, "P-384", sizeof group);
    ossl_param params[] = { { "group", OSSL_TEXT, group, sizeof group - 1, 0 },
                            { "pub", OSSL_BYTES, point, 1 + 2 * size, 0 },
                            { 0 } };
    key->length = 2 * size;
    key->key = key_from("EC", params);
    return key->key ? MISHAP_JWK_USED : MISHAP_JWK_NOT_ON_CURVE;
}

static mishap_jwk_fault make_ed25519(mishap_jwk *key, mishap_jwk_numbers numbers)
{
    const unsigned char *bytes = (const unsigned char *)numbers.first.data;
    if (numbers.first.length != 32)
        return MISHAP_JWK_BAD_NUMBER;
    if (!mishap_ed25519_is_sound(bytes))
        return MISHAP_JWK_NOT_ON_CURVE;
    key->length = 64;
    key->key = mishap_libcrypto.EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL, bytes, 32);
    return key->key ? MISHAP_JWK_USED : MISHAP_JWK_BAD_NUMBER;
}

static bool is_ready(const mishap_jwk *key)
{
    evp_pkey_ctx *context = key->context;
    bool rsa = key->algorithm == MISHAP_JWA_RS256 || key->algorithm == MISHAP_JWA_PS256;
    bool salted = key->algorithm == MISHAP_JWA_PS256;
    const evp_md *md = key->algorithm == MISHAP_JWA_ES384 ? mishap_crypto.sha384
                                                          : mishap_crypto.sha256;
    return context && mishap_libcrypto.EVP_PKEY_verify_init(context) == 1 &&
           (!rsa || mishap_libcrypto.EVP_PKEY_CTX_set_rsa_padding(
                        context, salted ? RSA_PSS : RSA_PKCS1) == 1) &&
           mishap_libcrypto.EVP_PKEY_CTX_set_signature_md(context, md) == 1 &&
           (!salted ||
            mishap_libcrypto.EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_AS_DIGEST) == 1);
}

mishap_jwk_fault mishap_jwk_make(mishap_jwk *key, mishap_jwk_numbers numbers)
{
    mishap_jwk_fault fault;
    switch (key->algorithm) {
    case MISHAP_JWA_RS256:
    case MISHAP_JWA_PS256:
        fault = make_rsa(key, numbers);
        break;
    case MISHAP_JWA_ES256:
    case MISHAP_JWA_ES384:
        fault = make_ec(key, numbers);
        break;
    default:
        return make_ed25519(key, numbers);
    }
    if (fault != MISHAP_JWK_USED)
        return fault;
    key->context = mishap_libcrypto.EVP_PKEY_CTX_new_from_pkey(NULL, key->key, NULL);
    return is_ready(key) ? MISHAP_JWK_USED : MISHAP_JWK_BAD_NUMBER;
}

void mishap_jwk_release(mishap_jwk *key)
{
    mishap_libcrypto.EVP_PKEY_CTX_free(key->context);
    mishap_libcrypto.EVP_PKEY_free(key->key);
    key->context = NULL;
    key->key = NULL;
}

/* -- checking ---------------------------------------------------------------------------------- */

/* A number of a signature as DER: without zeros in front, but with one if it looks negative. */
static unsigned char *put_integer(unsigned char *to, mishap_text number)
{
    number = without_zeros(number);
    bool looks_negative = number.length && number.data[0] & 0x80;
    bool zero = !number.length;
    *to++ = 2;
    *to++ = (unsigned char)(number.length + (looks_negative || zero));
    if (looks_negative || zero)
        *to++ = 0;
    if (number.length)
        memcpy(to, number.data, number.length);
    return to + number.length;
}

/* JWS has the two numbers of an ECDSA signature beside each other. libcrypto takes DER. */
static size_t to_der(mishap_text signature, unsigned char der[128])
{
    size_t half = signature.length / 2;
    unsigned char *end = put_integer(der + 2, (mishap_text){ signature.data, half });
    end = put_integer(end, (mishap_text){ signature.data + half, half });
    der[0] = 0x30;
    der[1] = (unsigned char)(end - der - 2); /* at most 2 * 51 */
    return (size_t)(end - der);
}

static bool digest_of(const evp_md *md, mishap_text bytes, unsigned char digest[48],
                      unsigned *length)
{
    return mishap_libcrypto.EVP_DigestInit_ex(mishap_crypto.digest, md, NULL) == 1 &&
           mishap_libcrypto.EVP_DigestUpdate(mishap_crypto.digest, bytes.data, bytes.length) == 1 &&
           mishap_libcrypto.EVP_DigestFinal_ex(mishap_crypto.digest, digest, length) == 1;
}

static bool verify_ed25519(const mishap_jwk *key, mishap_text bytes, mishap_text signature)
{
    evp_md_ctx *context = mishap_crypto.verify;
    bool right = mishap_libcrypto.EVP_DigestVerifyInit(context, NULL, NULL, NULL, key->key) == 1 &&
                 mishap_libcrypto.EVP_DigestVerify(
                     context, (const unsigned char *)signature.data, signature.length,
                     (const unsigned char *)bytes.data, bytes.length) == 1;
    mishap_libcrypto.EVP_MD_CTX_reset(context); /* it keeps no key that may be freed */
    return right;
}

static bool verify_digest(const mishap_jwk *key, mishap_text bytes, mishap_text signature)
{
    unsigned char digest[48], der[128];
    unsigned length = 0;
    bool ec = key->algorithm == MISHAP_JWA_ES256 || key->algorithm == MISHAP_JWA_ES384;
    const unsigned char *at = (const unsigned char *)signature.data;
    size_t size = signature.length;
    if (!digest_of(key->algorithm == MISHAP_JWA_ES384 ? mishap_crypto.sha384 : mishap_crypto.sha256,
                   bytes, digest, &length))
        return false;
    if (ec) {
        size = to_der(signature, der);
        at = der;
    }
    return mishap_libcrypto.EVP_PKEY_verify(key->context, at, size, digest, length) == 1;
}

bool mishap_jwk_verify(const mishap_jwk *key, mishap_text bytes, mishap_text signature)
{
    if (signature.length != key->length)
        return false;
    bool right = key->algorithm == MISHAP_JWA_EDDSA ? verify_ed25519(key, bytes, signature)
                                                    : verify_digest(key, bytes, signature);
    if (!right)
        mishap_libcrypto.ERR_clear_error();
    return right;
}
