/*
 * libcrypto 3, loaded when a server is given an issuer. These are the functions and numbers that we
 * use; its own headers are not needed to build. Nothing is linked with it: the start of every
 * command would take a millisecond longer.
 */
#ifndef MISHAP_OAUTH_LIBCRYPTO_H
#define MISHAP_OAUTH_LIBCRYPTO_H

#include <stddef.h>

#include "mishap/mishap.h"

typedef struct evp_md evp_md;             /* libcrypto's EVP_MD */
typedef struct evp_md_ctx evp_md_ctx;     /* … EVP_MD_CTX */
typedef struct evp_pkey evp_pkey;         /* … EVP_PKEY */
typedef struct evp_pkey_ctx evp_pkey_ctx; /* … EVP_PKEY_CTX */
typedef struct big_number big_number;     /* … BIGNUM */
typedef struct big_context big_context;   /* … BN_CTX */

/* OSSL_PARAM: a number or a text that a key is made of. */
typedef struct ossl_param {
    const char *key;
    unsigned type;
    void *data;
    size_t size, returned;
} ossl_param;

enum {
    OSSL_UNSIGNED = 2, /* OSSL_PARAM_UNSIGNED_INTEGER: bytes in the order of this processor */
    OSSL_TEXT = 4,     /* OSSL_PARAM_UTF8_STRING */
    OSSL_BYTES = 5,    /* OSSL_PARAM_OCTET_STRING */
    EVP_PUBLIC = 0x86, /* EVP_PKEY_PUBLIC_KEY */
    RSA_PKCS1 = 1,     /* RSA_PKCS1_PADDING */
    RSA_PSS = 6,       /* RSA_PKCS1_PSS_PADDING */
    RSA_AS_DIGEST = -1 /* RSA_PSS_SALTLEN_DIGEST */
};

/* The functions: result, name, parameters. */
#define LIBCRYPTO(ROW)                                                                             \
    ROW(evp_md *, EVP_MD_fetch, (void *library, const char *name, const char *properties))         \
    ROW(evp_md_ctx *, EVP_MD_CTX_new, (void))                                                      \
    ROW(int, EVP_MD_CTX_reset, (evp_md_ctx * context))                                             \
    ROW(int, EVP_DigestInit_ex, (evp_md_ctx * context, const evp_md *md, void *engine))            \
    ROW(int, EVP_DigestUpdate, (evp_md_ctx * context, const void *bytes, size_t count))            \
    ROW(int, EVP_DigestFinal_ex, (evp_md_ctx * context, unsigned char *digest, unsigned *count))   \
    ROW(int, EVP_DigestVerifyInit,                                                                 \
        (evp_md_ctx * context, evp_pkey_ctx * *key_context, const evp_md *md, void *engine,        \
         evp_pkey *key))                                                                           \
    ROW(int, EVP_DigestVerify,                                                                     \
        (evp_md_ctx * context, const unsigned char *signature, size_t signature_length,            \
         const unsigned char *bytes, size_t count))                                                \
    ROW(evp_pkey_ctx *, EVP_PKEY_CTX_new_from_name,                                                \
        (void *library, const char *name, const char *properties))                                 \
    ROW(evp_pkey_ctx *, EVP_PKEY_CTX_new_from_pkey,                                                \
        (void *library, evp_pkey *key, const char *properties))                                    \
    ROW(void, EVP_PKEY_CTX_free, (evp_pkey_ctx * context))                                         \
    ROW(int, EVP_PKEY_fromdata_init, (evp_pkey_ctx * context))                                     \
    ROW(int, EVP_PKEY_fromdata,                                                                    \
        (evp_pkey_ctx * context, evp_pkey * *key, int selection, ossl_param *params))              \
    ROW(evp_pkey *, EVP_PKEY_new_raw_public_key_ex,                                                \
        (void *library, const char *type, const char *properties, const unsigned char *bytes,      \
         size_t count))                                                                            \
    ROW(void, EVP_PKEY_free, (evp_pkey * key))                                                     \
    ROW(int, EVP_PKEY_verify_init, (evp_pkey_ctx * context))                                       \
    ROW(int, EVP_PKEY_CTX_set_rsa_padding, (evp_pkey_ctx * context, int padding))                  \
    ROW(int, EVP_PKEY_CTX_set_rsa_pss_saltlen, (evp_pkey_ctx * context, int length))               \
    ROW(int, EVP_PKEY_CTX_set_signature_md, (evp_pkey_ctx * context, const evp_md *md))            \
    ROW(int, EVP_PKEY_verify,                                                                      \
        (evp_pkey_ctx * context, const unsigned char *signature, size_t signature_length,          \
         const unsigned char *digest, size_t count))                                               \
    ROW(void, ERR_clear_error, (void))                                                             \
    ROW(big_context *, BN_CTX_new, (void))                                                         \
    ROW(void, BN_CTX_free, (big_context * context))                                                \
    ROW(void, BN_CTX_start, (big_context * context))                                               \
    ROW(void, BN_CTX_end, (big_context * context))                                                 \
    ROW(big_number *, BN_CTX_get, (big_context * context))                                         \
    ROW(big_number *, BN_lebin2bn, (const unsigned char *bytes, int count, big_number *to))        \
    ROW(int, BN_hex2bn, (big_number * *to, const char *digits))                                    \
    ROW(int, BN_cmp, (const big_number *a, const big_number *b))                                   \
    ROW(int, BN_is_one, (const big_number *a))                                                     \
    ROW(int, BN_is_zero, (const big_number *a))                                                    \
    ROW(int, BN_add_word, (big_number * a, unsigned long word))                                    \
    ROW(int, BN_sub_word, (big_number * a, unsigned long word))                                    \
    ROW(int, BN_rshift1, (big_number * to, const big_number *a))                                   \
    ROW(int, BN_mod_mul,                                                                           \
        (big_number * to, const big_number *a, const big_number *b, const big_number *m,           \
         big_context *context))                                                                    \
    ROW(int, BN_mod_exp,                                                                           \
        (big_number * to, const big_number *a, const big_number *exponent, const big_number *m,    \
         big_context *context))

#define LIBCRYPTO_MEMBER(type, name, parameters) type(*name) parameters;
typedef struct libcrypto {
    LIBCRYPTO(LIBCRYPTO_MEMBER)
} libcrypto;
extern libcrypto mishap_libcrypto;

/* Digests that were fetched when the library was loaded, and a context for each purpose: a context
 * that verifies must not be used for a digest. One thread of a process uses them. */
typedef struct mishap_crypto_tools {
    evp_md *sha256, *sha384;
    evp_md_ctx *digest, *verify;
} mishap_crypto_tools;
extern mishap_crypto_tools mishap_crypto;

#endif
