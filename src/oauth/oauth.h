/*
 * src/oauth: access tokens of an authorization server, checked with its public keys: JWT (RFC 7519,
 * 9068), JWK (RFC 7517), with signatures RS256, PS256, ES256, ES384 and Ed25519.
 *
 *     libcrypto.c  the library that checks signatures, loaded when it is needed
 *     jwk.c        key sets: JSON into keys
 *     signature.c  one key: made of its numbers, and used
 *     ed25519.c    … whether the number of an Ed25519 key is a point that may be used
 *     token.c      a token into the claims that are used
 *     identity.c   … and those into a caller
 *     cache.c      callers whose tokens were sound a moment ago
 *
 * Nothing here knows HTTP, files or callers. The caller of a request is told nothing but that its
 * token is not valid: the flaw is for the log.
 */
#ifndef MISHAP_OAUTH_OAUTH_H
#define MISHAP_OAUTH_OAUTH_H

#include "base/base.h"
#include "base/json_read.h"
#include "base/scope.h"
#include "mishap/mishap.h"

/* Load libcrypto, before any other function of this header is called and before processes are
 * forked. PRECONDITION: it is not installed. */
mishap *mishap_oauth_load(void);

/* The SHA-256 of a text. False: there is no memory. */
enum { MISHAP_OAUTH_DIGEST = 32 };
bool mishap_oauth_digest(mishap_text text, unsigned char digest[MISHAP_OAUTH_DIGEST]);

/* -- key sets ---------------------------------------------------------------------------------- */

enum {
    MISHAP_JWKS_LARGEST = 256 * 1024, /* bytes of a set … */
    MISHAP_JWKS_MOST = 32,            /* … and keys in it */
    MISHAP_JWK_LONGEST_ID = 255,      /* bytes of a `kid` */
};

/* The algorithm of a key. It alone says how a signature is checked; the header of a token must
 * agree. */
typedef enum mishap_jwa {
    MISHAP_JWA_RS256,
    MISHAP_JWA_PS256,
    MISHAP_JWA_ES256,
    MISHAP_JWA_ES384,
    MISHAP_JWA_EDDSA, /* with Ed25519 */
    MISHAP_JWAS,
} mishap_jwa;
extern const char *const mishap_jwa_names[MISHAP_JWAS];

/* True if the `alg` of a header is that algorithm; `Ed25519` (RFC 9864) is one with `EdDSA`. */
bool mishap_jwa_is(mishap_jwa algorithm, mishap_text name);

/* Why a key of a set is ignored. */
typedef enum mishap_jwk_fault {
    MISHAP_JWK_USED,       /* it is not */
    MISHAP_JWK_NO_OBJECT,  /* it is no object */
    MISHAP_JWK_NO_ID,      /* no `kid`, or one that is empty or too long */
    MISHAP_JWK_SAME_ID,    /* another key has this `kid` and algorithm */
    MISHAP_JWK_OTHER_TYPE, /* `kty` or `crv` that are not used here, such as `oct` */
    MISHAP_JWK_OTHER_USE,  /* `use` or `key_ops` say that it checks no signatures */
    MISHAP_JWK_OTHER_ALG,  /* `alg` is not used here, or not that of such a key */
    MISHAP_JWK_PRIVATE,    /* its private part is published, too */
    MISHAP_JWK_BAD_NUMBER, /* a number is missing, or not written in base64url */
    MISHAP_JWK_WRONG_SIZE, /* RSA outside of 2048 to 4096 bits, or with an exponent out of range */
    MISHAP_JWK_NOT_ON_CURVE,
    MISHAP_JWK_FAULTS,
} mishap_jwk_fault;
extern const char *const mishap_jwk_fault_names[MISHAP_JWK_FAULTS];

typedef struct mishap_jwk mishap_jwk;
typedef struct mishap_jwks mishap_jwks;

/* Read a key set. Keys that cannot be used are ignored, and counted. A set without keys says that
 * none is valid any more. NOT_CONFIGURED: it is no key set, it is too large, or none of its keys
 * can be used. The failure says so to the operator; what stands in the set is not repeated. */
mishap *mishap_jwks_read(mishap_text json, mishap_jwks **out);
void mishap_jwks_free(mishap_jwks *set);

/* How many keys have this fault; MISHAP_JWK_USED: how many can be used. */
size_t mishap_jwks_count(const mishap_jwks *set, mishap_jwk_fault fault);

/* True if the old set has a key (id, algorithm and numbers) that the set has not. Either may be
 * NULL: a set without keys. */
bool mishap_jwks_lacks(const mishap_jwks *set, const mishap_jwks *old);

/* The key of an id; NULL: there is none. If several algorithms have it, the one of the name. */
const mishap_jwk *mishap_jwks_find(const mishap_jwks *set, mishap_text id, mishap_text algorithm);

mishap_jwa mishap_jwk_algorithm(const mishap_jwk *key);

/* True if the signature, in the form of JWS, is one of the bytes with this key. */
bool mishap_jwk_verify(const mishap_jwk *key, mishap_text bytes, mishap_text signature);

/* -- tokens ------------------------------------------------------------------------------------ */

enum {
    MISHAP_TOKEN_LONGEST = 8192,        /* bytes of a token */
    MISHAP_TOKEN_LONGEST_SUBJECT = 255, /* … of its subject, its client */
    MISHAP_TOKEN_SKEW_S = 60,           /* seconds by which clocks may differ */
};

/* Which check a token has not passed, in the order of the checks. */
typedef enum mishap_token_flaw {
    MISHAP_TOKEN_SOUND,
    MISHAP_TOKEN_NO_MEMORY,
    MISHAP_TOKEN_TOO_LONG,
    MISHAP_TOKEN_NOT_COMPACT, /* not three parts in base64url with one spelling each */
    MISHAP_TOKEN_HEADER,      /* no JSON object, or a member twice */
    MISHAP_TOKEN_TYPE,        /* `typ` is neither at+jwt nor JWT */
    MISHAP_TOKEN_CRITICAL,    /* it has `crit` */
    MISHAP_TOKEN_ALGORITHM,   /* `alg` is not used here, or not that of the key */
    MISHAP_TOKEN_NO_KEY_ID,   /* no `kid` */
    MISHAP_TOKEN_CLAIMS,      /* no JSON object, a member twice, or of the wrong type */
    MISHAP_TOKEN_ISSUER,
    MISHAP_TOKEN_ID_TOKEN, /* it tells a client who its user is, and gives no access */
    MISHAP_TOKEN_BOUND,    /* it has `cnf`: only the owner of a key may use it (DPoP, mTLS) */
    MISHAP_TOKEN_AUDIENCE,
    MISHAP_TOKEN_EXPIRED,     /* … or it has no `exp` */
    MISHAP_TOKEN_NOT_YET,     /* `nbf` or `iat` lie ahead */
    MISHAP_TOKEN_SUBJECT,     /* no `sub`, or one that is empty or too long */
    MISHAP_TOKEN_UNKNOWN_KEY, /* the set of its issuer has no such key */
    MISHAP_TOKEN_SIGNATURE,
    MISHAP_TOKEN_FLAWS,
} mishap_token_flaw;
extern const char *const mishap_token_flaw_names[MISHAP_TOKEN_FLAWS];

typedef struct mishap_token_issuer {
    mishap_text url;         /* `iss`, byte by byte */
    const mishap_jwks *keys; /* NULL: none are known yet */
} mishap_token_issuer;

/* What a token must say. */
typedef struct mishap_token_rules {
    const mishap_token_issuer *issuers;
    size_t issuer_count;
    const mishap_text *audiences; /* `aud` must have one of them, byte by byte */
    size_t audience_count;
} mishap_token_rules;

/* What a token says. All text is in the reader, until it is used again. */
typedef struct mishap_token {
    size_t issuer;         /* the index of the issuer; only if the token has come that far … */
    mishap_text issuer_is; /* … its `iss`, a string; no data: none was read */
    yyjson_val *audience;  /* … its `aud`; NULL: none was read */
    mishap_text subject;
    mishap_text client; /* `client_id`, else `azp`, `cid` or `appid`; no data: none */
    yyjson_val *scope;  /* `scope`, else `scp`: a string, or an array of strings; NULL: none */
    int64_t expires_s;  /* since 1970 */
} mishap_token;

/* Memory that is kept from token to token. */
typedef struct mishap_token_reader {
    mishap_json_reader header, claims;
    unsigned char bytes[MISHAP_TOKEN_LONGEST]; /* the parts, decoded */
} mishap_token_reader;

void mishap_token_reader_release(mishap_token_reader *reader);

/* Check a token. Everything that costs little is checked first, and the signature last: a token
 * with another flaw costs no more than reading it. `now_s`: seconds since 1970. */
mishap_token_flaw mishap_token_check(mishap_token_reader *reader, const mishap_token_rules *rules,
                                     mishap_text token, int64_t now_s, mishap_token *out);

/* Read the next name of a scope claim; the first time *at is 0. False: there are no more. */
bool mishap_token_next_scope(const mishap_token *token, size_t *at, mishap_text *name);

/* -- callers ----------------------------------------------------------------------------------- */

enum { MISHAP_TOKEN_LONGEST_ALIAS = 15 };

/* True if a text can stand for an issuer in the names of callers: up to 15 of a-z, 0-9, dot,
 * underscore and hyphen, with a letter or digit first. */
bool mishap_token_is_alias(mishap_text text);

/*
 * The caller that a sound token stands for. Its name is ALIAS:SUBJECT, which no API key can have:
 * characters other than letters, digits and -._|@+= are written as %XX, and a subject that is too
 * long as ~ and its SHA-256. A client that acts for itself, whose subject is its own id, is
 * ALIAS::CLIENT: so it cannot pass for a user, even if it may choose its id. The number belongs to
 * issuer, client and subject, and no API key has it. Its scopes are those of the token that the
 * program has (`declared`), and what they imply. False: there is no memory.
 */
bool mishap_token_identify(const mishap_token *token, mishap_text alias,
                           const mishap_scope *declared, mishap_identity *out);

/* Callers whose tokens were sound, by a digest of the token, for five minutes or until the token
 * ends. The memory is the same for tokens of all lengths. One thread uses it. */
typedef struct mishap_token_cache mishap_token_cache;
enum { MISHAP_TOKEN_CACHED = 4096, MISHAP_TOKEN_CACHED_S = 300 };
mishap *mishap_token_cache_make(mishap_token_cache **out);
void mishap_token_cache_free(mishap_token_cache *cache);

/* The digest of a token, for this cache alone: each has a key of its own. False: there is no
 * memory. */
bool mishap_token_cache_digest(const mishap_token_cache *cache, mishap_text token,
                               unsigned char digest[MISHAP_OAUTH_DIGEST]);

/* The caller of a token; NULL: not known. It is valid until the cache is changed. */
const mishap_identity *mishap_token_cache_find(const mishap_token_cache *cache,
                                               const unsigned char digest[MISHAP_OAUTH_DIGEST],
                                               int64_t now_s);
const mishap_identity *mishap_token_cache_add(mishap_token_cache *cache,
                                              const unsigned char digest[MISHAP_OAUTH_DIGEST],
                                              const mishap_identity *identity, int64_t now_s);

/* Forget all, since a key was removed. */
void mishap_token_cache_clear(mishap_token_cache *cache);

#endif
