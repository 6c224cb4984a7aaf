/* Key sets: JSON into keys. */
#include <string.h>

#include "base/base64.h"
#include "base/memory.h"
#include "oauth/inside.h"

const char *const mishap_jwa_names[MISHAP_JWAS] = { "RS256", "PS256", "ES256", "ES384", "EdDSA" };

const char *const mishap_jwk_fault_names[MISHAP_JWK_FAULTS] = {
    "used",      "no object", "no kid",     "same kid",   "other type",  "other use",
    "other alg", "private",   "bad number", "wrong size", "not on curve"
};

struct mishap_jwks {
    size_t counts[MISHAP_JWK_FAULTS];
    size_t count;
    mishap_jwk keys[MISHAP_JWKS_MOST];
    char ids[MISHAP_JWKS_MOST][MISHAP_JWK_LONGEST_ID];
};

static bool is_text(mishap_text text, const char *constant)
{
    return mishap_text_equal(text, mishap_text_of(constant));
}

bool mishap_jwa_is(mishap_jwa algorithm, mishap_text name)
{
    return is_text(name, mishap_jwa_names[algorithm]) ||
           (algorithm == MISHAP_JWA_EDDSA && is_text(name, "Ed25519"));
}

/* A member that is a string; no data: there is none. */
static mishap_text string_of(yyjson_val *object, const char *name)
{
    yyjson_val *value = yyjson_obj_get(object, name);
    return yyjson_is_str(value) ? mishap_json_text(value) : (mishap_text){ NULL, 0 };
}

/* -- one key ----------------------------------------------------------------------------------- */

/* The algorithms of a kind of key; without `alg` the first one counts. */
static const struct kind {
    const char *type, *curve;
    mishap_jwa algorithms[2];
    const char *first, *second;
} kinds[] = {
    { "RSA", NULL, { MISHAP_JWA_RS256, MISHAP_JWA_PS256 }, "n", "e" },
    { "EC", "P-256", { MISHAP_JWA_ES256, MISHAP_JWA_ES256 }, "x", "y" },
    { "EC", "P-384", { MISHAP_JWA_ES384, MISHAP_JWA_ES384 }, "x", "y" },
    { "OKP", "Ed25519", { MISHAP_JWA_EDDSA, MISHAP_JWA_EDDSA }, "x", NULL },
};

static const struct kind *kind_of(yyjson_val *object)
{
    mishap_text type = string_of(object, "kty"), curve = string_of(object, "crv");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_text(type, kinds[i].type) && (!kinds[i].curve || is_text(curve, kinds[i].curve)))
            return &kinds[i];
    return NULL;
}

static bool checks_signatures(yyjson_val *object)
{
    yyjson_val *use = yyjson_obj_get(object, "use"), *uses = yyjson_obj_get(object, "key_ops");
    yyjson_val *item;
    size_t i, count;
    if (use && !is_text(string_of(object, "use"), "sig"))
        return false;
    MISHAP_JSON_ITEMS (uses, i, count, item)
        if (is_text(mishap_json_text(item), "verify"))
            return true;
    return !uses;
}

static bool choose_algorithm(const struct kind *kind, yyjson_val *object, mishap_jwa *algorithm)
{
    mishap_text name = string_of(object, "alg");
    *algorithm = kind->algorithms[0];
    if (!yyjson_obj_get(object, "alg"))
        return true;
    for (size_t i = 0; i < 2; i++) {
        *algorithm = kind->algorithms[i];
        if (mishap_jwa_is(*algorithm, name))
            return true;
    }
    return false;
}

/* A number may have zeros in front, which its writer should have left out. */
static bool read_number(yyjson_val *object, const char *name, char *room, mishap_text *number)
{
    size_t length = 0;
    *number = (mishap_text){ NULL, 0 };
    if (!name)
        return true;
    if (!mishap_base64url_read(string_of(object, name), (unsigned char *)room,
                               MISHAP_JWK_LARGEST_NUMBER + 1, &length))
        return false;
    *number = (mishap_text){ room, length };
    return length > 0;
}

/* The first number with its length, then the second: no two keys have the same text. */
static bool digest_numbers(mishap_jwk *key, mishap_jwk_numbers numbers)
{
    char room[2 * MISHAP_JWK_LARGEST_NUMBER + 16];
    mishap_buffer text;
    mishap_buffer_init(&text, room, sizeof room);
    mishap_buffer_put_text(
        &text, (mishap_text){ (const char *)&numbers.first.length, sizeof numbers.first.length });
    mishap_buffer_put_text(&text, numbers.first);
    mishap_buffer_put_text(&text, numbers.second);
    bool made = !text.failed && mishap_oauth_digest(mishap_buffer_text(&text), key->digest);
    mishap_buffer_release(&text);
    return made;
}

static mishap_jwk_fault make_numbers(mishap_jwk *key, const struct kind *kind, yyjson_val *object)
{
    char room[2][MISHAP_JWK_LARGEST_NUMBER + 1];
    mishap_jwk_numbers numbers;
    if (!read_number(object, kind->first, room[0], &numbers.first) ||
        !read_number(object, kind->second, room[1], &numbers.second))
        return MISHAP_JWK_BAD_NUMBER;
    return digest_numbers(key, numbers) ? mishap_jwk_make(key, numbers) : MISHAP_JWK_BAD_NUMBER;
}

static bool has_same_id(const mishap_jwks *set, mishap_jwa algorithm, mishap_text id)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->keys[i].algorithm == algorithm && mishap_text_equal(set->keys[i].id, id))
            return true;
    return false;
}

static mishap_jwk_fault add_key(mishap_jwks *set, yyjson_val *object)
{
    mishap_jwk key = { 0 };
    const struct kind *kind = kind_of(object);
    mishap_text id = string_of(object, "kid");
    if (!yyjson_is_obj(object))
        return MISHAP_JWK_NO_OBJECT;
    if (!id.length || id.length > MISHAP_JWK_LONGEST_ID)
        return MISHAP_JWK_NO_ID;
    if (!kind)
        return MISHAP_JWK_OTHER_TYPE;
    if (!checks_signatures(object))
        return MISHAP_JWK_OTHER_USE;
    if (!choose_algorithm(kind, object, &key.algorithm))
        return MISHAP_JWK_OTHER_ALG;
    if (yyjson_obj_get(object, "d"))
        return MISHAP_JWK_PRIVATE;
    if (has_same_id(set, key.algorithm, id))
        return MISHAP_JWK_SAME_ID;
    mishap_jwk_fault fault = make_numbers(&key, kind, object);
    if (fault != MISHAP_JWK_USED) {
        mishap_jwk_release(&key);
        return fault;
    }
    memcpy(set->ids[set->count], id.data, id.length);
    key.id = (mishap_text){ set->ids[set->count], id.length };
    set->keys[set->count++] = key;
    return MISHAP_JWK_USED;
}

/* -- sets -------------------------------------------------------------------------------------- */

static mishap *no_set(const char *problem)
{
    return mishap_suggest(mishap_raise(NOT_CONFIGURED, "The key set of the issuer %s.", problem),
                          "Give a JSON Web Key Set (RFC 7517) with public keys, each with a `kid`: "
                          "RSA of 2048 to 4096 bits, EC P-256 or P-384, or OKP Ed25519.");
}

/* Two parsers could read two different sets from a document with a member twice. */
static mishap *read_keys(mishap_json_reader *reader, mishap_text json, mishap_jwks *set)
{
    yyjson_val *at, *keys, *item;
    size_t i, count;
    if (json.length > MISHAP_JWKS_LARGEST)
        return no_set("is larger than 256 KB");
    if (!mishap_json_read(reader, json))
        return reader->flaw == MISHAP_JSON_NO_MEMORY ? mishap_out_of_memory()
                                                     : no_set("is not JSON");
    if (reader->flaw != MISHAP_JSON_SOUND ||
        mishap_json_first_flaw(reader, &at) != MISHAP_JSON_SOUND)
        return no_set("has a member twice, or text that is not valid");
    keys = yyjson_is_obj(reader->root) ? yyjson_obj_get(reader->root, "keys") : NULL;
    if (!yyjson_is_arr(keys))
        return no_set("has no array `keys`");
    if (yyjson_arr_size(keys) > MISHAP_JWKS_MOST)
        return no_set("has more than 32 keys");
    MISHAP_JSON_ITEMS (keys, i, count, item)
        set->counts[add_key(set, item)]++;
    return set->count || !yyjson_arr_size(keys) ? NULL : no_set("has no key that can be used");
}

mishap *mishap_jwks_read(mishap_text json, mishap_jwks **out)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_jwks *set = mishap_allocate(sizeof *set);
    *out = NULL;
    if (!set)
        return mishap_out_of_memory();
    memset(set, 0, sizeof *set);
    mishap *failure = read_keys(&reader, json, set);
    mishap_json_reader_release(&reader);
    if (failure)
        mishap_jwks_free(set);
    else
        *out = set;
    return failure;
}

void mishap_jwks_free(mishap_jwks *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++)
        mishap_jwk_release(&set->keys[i]);
    mishap_release(set);
}

size_t mishap_jwks_count(const mishap_jwks *set, mishap_jwk_fault fault)
{
    return set->counts[fault];
}

const mishap_jwk *mishap_jwks_find(const mishap_jwks *set, mishap_text id, mishap_text algorithm)
{
    const mishap_jwk *found = NULL;
    for (size_t i = 0; set && i < set->count; i++)
        if (mishap_text_equal(set->keys[i].id, id) &&
            (!found || mishap_jwa_is(set->keys[i].algorithm, algorithm)))
            found = &set->keys[i];
    return found;
}

static bool has_key(const mishap_jwks *set, const mishap_jwk *key)
{
    for (size_t i = 0; set && i < set->count; i++)
        if (set->keys[i].algorithm == key->algorithm &&
            mishap_text_equal(set->keys[i].id, key->id) &&
            memcmp(set->keys[i].digest, key->digest, sizeof key->digest) == 0)
            return true;
    return false;
}

bool mishap_jwks_lacks(const mishap_jwks *set, const mishap_jwks *old)
{
    for (size_t i = 0; old && i < old->count; i++)
        if (!has_key(set, &old->keys[i]))
            return true;
    return false;
}

mishap_jwa mishap_jwk_algorithm(const mishap_jwk *key)
{
    return key->algorithm;
}
