/*
 * Access tokens: a JWT (RFC 7519) of three parts, as RFC 9068 has it, or as issuers had it before.
 *
 * A header is read for three things: what the token is (`typ`), which key it names (`kid`), and
 * that its `alg` is the one of this key. What it says about where to get a key (`jku`, `jwk`,
 * `x5c`) is ignored.
 */
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "oauth/oauth.h"

const char *const mishap_token_flaw_names[MISHAP_TOKEN_FLAWS] = {
    "sound",   "memory",  "length",  "form",   "header",    "typ", "crit",
    "alg",     "no kid",  "claims",  "issuer", "id token",  "cnf", "audience",
    "expired", "not yet", "subject", "key",    "signature",
};

void mishap_token_reader_release(mishap_token_reader *reader)
{
    mishap_json_reader_release(&reader->header);
    mishap_json_reader_release(&reader->claims);
}

/* -- parts ------------------------------------------------------------------------------------- */

struct parts {
    mishap_text signed_bytes;              /* the first two, with the dot between them */
    mishap_text header, claims, signature; /* decoded */
};

static bool decode(mishap_text part, unsigned char **room, size_t *left, mishap_text *out)
{
    size_t length;
    if (!mishap_base64url_read(part, *room, *left, &length))
        return false;
    *out = (mishap_text){ (const char *)*room, length };
    *room += length;
    *left -= length;
    return true;
}

/* What is decoded is shorter than the token, so there is room. */
static bool split(mishap_text token, unsigned char *room, struct parts *parts)
{
    const char *end = token.data + token.length;
    const char *first = memchr(token.data, '.', token.length);
    const char *second = first ? memchr(first + 1, '.', (size_t)(end - first - 1)) : NULL;
    size_t left = MISHAP_TOKEN_LONGEST;
    if (!second)
        return false;
    parts->signed_bytes = (mishap_text){ token.data, (size_t)(second - token.data) };
    return decode((mishap_text){ token.data, (size_t)(first - token.data) }, &room, &left,
                  &parts->header) &&
           decode((mishap_text){ first + 1, (size_t)(second - first - 1) }, &room, &left,
                  &parts->claims) &&
           decode((mishap_text){ second + 1, (size_t)(end - second - 1) }, &room, &left,
                  &parts->signature);
}

/* An object without anything that two parsers may read differently. */
static mishap_token_flaw read_object(mishap_json_reader *reader, mishap_text text,
                                     mishap_token_flaw flaw)
{
    yyjson_val *at;
    if (!mishap_json_read(reader, text))
        return reader->flaw == MISHAP_JSON_NO_MEMORY ? MISHAP_TOKEN_NO_MEMORY : flaw;
    if (reader->flaw != MISHAP_JSON_SOUND || !yyjson_is_obj(reader->root) ||
        mishap_json_first_flaw(reader, &at) != MISHAP_JSON_SOUND)
        return flaw;
    return MISHAP_TOKEN_SOUND;
}

static mishap_text string_of(yyjson_val *object, const char *name)
{
    yyjson_val *value = yyjson_obj_get(object, name);
    return yyjson_is_str(value) ? mishap_json_text(value) : (mishap_text){ NULL, 0 };
}

static bool is_text(mishap_text text, const char *constant)
{
    return mishap_text_equal(text, mishap_text_of(constant));
}

/* -- the header -------------------------------------------------------------------------------- */

/* A media type, of which `application/` may be left out: its letters have no case. */
static bool is_type(mishap_text type, const char *name)
{
    static const char prefix[] = "application/";
    size_t length = sizeof prefix - 1;
    if (type.length > length && strncasecmp(type.data, prefix, length) == 0)
        type = (mishap_text){ type.data + length, type.length - length };
    return type.length == strlen(name) && strncasecmp(type.data, name, type.length) == 0;
}

static bool is_used(mishap_text algorithm)
{
    for (int i = 0; i < MISHAP_JWAS; i++)
        if (mishap_jwa_is((mishap_jwa)i, algorithm))
            return true;
    return false;
}

static mishap_token_flaw check_header(yyjson_val *header)
{
    mishap_text type = string_of(header, "typ");
    if (!is_type(type, "at+jwt") && !is_type(type, "JWT"))
        return MISHAP_TOKEN_TYPE;
    if (yyjson_obj_get(header, "crit"))
        return MISHAP_TOKEN_CRITICAL;
    if (!is_used(string_of(header, "alg")))
        return MISHAP_TOKEN_ALGORITHM;
    return string_of(header, "kid").length ? MISHAP_TOKEN_SOUND : MISHAP_TOKEN_NO_KEY_ID;
}

/* -- claims ------------------------------------------------------------------------------------ */

/* Seconds since 1970, rounded down. False: it is no such number. Times beyond the year 9999 are
 * mistakes, such as milliseconds. */
static bool read_time(yyjson_val *value, int64_t *seconds)
{
    static const double most = 253402300800.0;
    if (!yyjson_is_num(value))
        return false;
    double number = yyjson_get_num(value);
    if (!(number >= 0 && number < most))
        return false;
    *seconds = (int64_t)number;
    return true;
}

static bool is_absent_or(yyjson_val *claims, const char *name, const char *value)
{
    return !yyjson_obj_get(claims, name) || is_text(string_of(claims, name), value);
}

/*
 * A token for the client alone (OpenID Connect). Those of today say JWT in `typ`, as older access
 * tokens do; what tells them apart are claims that only they have. Keycloak says what a token is in
 * a claim `typ`, Cognito in `token_use`. A logout token has `events`.
 */
static bool is_id_token(yyjson_val *header, yyjson_val *claims)
{
    static const char *const of_id_tokens[] = { "nonce", "at_hash", "c_hash", "s_hash" };
    if (!is_absent_or(claims, "typ", "Bearer") || !is_absent_or(claims, "token_use", "access") ||
        yyjson_obj_get(claims, "events"))
        return true;
    if (is_type(string_of(header, "typ"), "at+jwt") || yyjson_obj_get(claims, "typ"))
        return false;
    for (size_t i = 0; i < sizeof of_id_tokens / sizeof *of_id_tokens; i++)
        if (yyjson_obj_get(claims, of_id_tokens[i]))
            return true;
    return false;
}

static bool is_one_of(const mishap_token_rules *rules, yyjson_val *audience)
{
    mishap_text text = mishap_json_text(audience);
    for (size_t i = 0; yyjson_is_str(audience) && i < rules->audience_count; i++)
        if (mishap_text_equal(rules->audiences[i], text))
            return true;
    return false;
}

/* One of several is enough. All of them must be strings. */
static mishap_token_flaw check_audience(const mishap_token_rules *rules, yyjson_val *audience)
{
    yyjson_val *item;
    size_t i, count;
    bool ours = is_one_of(rules, audience);
    if (!yyjson_is_str(audience) && !yyjson_is_arr(audience))
        return MISHAP_TOKEN_AUDIENCE;
    MISHAP_JSON_ITEMS (audience, i, count, item) {
        if (!yyjson_is_str(item))
            return MISHAP_TOKEN_CLAIMS;
        ours = ours || is_one_of(rules, item);
    }
    return ours ? MISHAP_TOKEN_SOUND : MISHAP_TOKEN_AUDIENCE;
}

/* `exp` is needed; the others are checked if they are there. */
static mishap_token_flaw check_times(yyjson_val *claims, int64_t now_s, int64_t *expires_s)
{
    static const char *const beginnings[] = { "nbf", "iat" };
    if (!yyjson_obj_get(claims, "exp"))
        return MISHAP_TOKEN_EXPIRED;
    if (!read_time(yyjson_obj_get(claims, "exp"), expires_s))
        return MISHAP_TOKEN_CLAIMS;
    if (*expires_s <= now_s - MISHAP_TOKEN_SKEW_S)
        return MISHAP_TOKEN_EXPIRED;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        yyjson_val *value = yyjson_obj_get(claims, beginnings[i]);
        int64_t begins_s = 0;
        if (value && !read_time(value, &begins_s))
            return MISHAP_TOKEN_CLAIMS;
        if (begins_s > now_s + MISHAP_TOKEN_SKEW_S)
            return MISHAP_TOKEN_NOT_YET;
    }
    return MISHAP_TOKEN_SOUND;
}

/* A name of a scope or a subject has no characters that a log or a header could not show: printable
 * ones alone. yyjson has checked that it is UTF-8. */
static bool is_printable(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7F)
            return false;
    return true;
}

/* Issuers have different names for the client: RFC 9068, OpenID Connect, Okta, Entra. */
static mishap_text client_of(yyjson_val *claims)
{
    static const char *const names[] = { "client_id", "azp", "cid", "appid" };
    mishap_text client = { NULL, 0 };
    for (size_t i = 0; i < sizeof names / sizeof *names && !client.data; i++)
        client = string_of(claims, names[i]);
    return client;
}

static mishap_token_flaw check_subject(yyjson_val *claims, mishap_token *out)
{
    out->subject = string_of(claims, "sub");
    out->client = client_of(claims);
    if (!out->subject.length || out->subject.length > MISHAP_TOKEN_LONGEST_SUBJECT ||
        out->client.length > MISHAP_TOKEN_LONGEST_SUBJECT || !is_printable(out->subject) ||
        !is_printable(out->client))
        return MISHAP_TOKEN_SUBJECT;
    return MISHAP_TOKEN_SOUND;
}

static mishap_token_flaw check_scope(yyjson_val *claims, mishap_token *out)
{
    yyjson_val *item;
    size_t i, count;
    out->scope = yyjson_obj_get(claims, "scope");
    if (!out->scope)
        out->scope = yyjson_obj_get(claims, "scp");
    if (out->scope && !yyjson_is_str(out->scope) && !yyjson_is_arr(out->scope))
        return MISHAP_TOKEN_CLAIMS;
    MISHAP_JSON_ITEMS (out->scope, i, count, item)
        if (!yyjson_is_str(item))
            return MISHAP_TOKEN_CLAIMS;
    return MISHAP_TOKEN_SOUND;
}

static mishap_token_flaw find_issuer(const mishap_token_rules *rules, mishap_token *out)
{
    for (size_t i = 0; i < rules->issuer_count; i++) {
        if (mishap_text_equal(rules->issuers[i].url, out->issuer_is)) {
            out->issuer = i;
            return MISHAP_TOKEN_SOUND;
        }
    }
    return MISHAP_TOKEN_ISSUER;
}

static mishap_token_flaw check_claims(const mishap_token_rules *rules, yyjson_val *header,
                                      yyjson_val *claims, int64_t now_s, mishap_token *out)
{
    out->issuer_is = string_of(claims, "iss");
    out->audience = yyjson_obj_get(claims, "aud");
    mishap_token_flaw flaw = find_issuer(rules, out);
    if (!flaw && is_id_token(header, claims))
        flaw = MISHAP_TOKEN_ID_TOKEN;
    if (!flaw && yyjson_obj_get(claims, "cnf")) /* the server checks no proof of that key */
        flaw = MISHAP_TOKEN_BOUND;
    if (!flaw)
        flaw = check_audience(rules, out->audience);
    if (!flaw)
        flaw = check_times(claims, now_s, &out->expires_s);
    if (!flaw)
        flaw = check_subject(claims, out);
    return flaw ? flaw : check_scope(claims, out);
}

bool mishap_token_next_scope(const mishap_token *token, size_t *at, mishap_text *name)
{
    if (yyjson_is_arr(token->scope)) {
        *name = mishap_json_text(yyjson_arr_get(token->scope, (*at)++));
        return name->data != NULL;
    }
    mishap_text list = mishap_json_text(token->scope);
    while (*at < list.length && list.data[*at] == ' ')
        ++*at;
    if (!list.data || *at >= list.length)
        return false;
    const char *from = list.data + *at;
    const char *space = memchr(from, ' ', list.length - *at);
    *name = (mishap_text){ from, space ? (size_t)(space - from) : list.length - *at };
    *at += name->length;
    return true;
}

/* -- the whole --------------------------------------------------------------------------------- */

static mishap_token_flaw check_signature(const mishap_token_rules *rules, yyjson_val *header,
                                         const struct parts *parts, const mishap_token *token)
{
    mishap_text algorithm = string_of(header, "alg");
    const mishap_jwk *key = mishap_jwks_find(rules->issuers[token->issuer].keys,
                                             string_of(header, "kid"), algorithm);
    if (!key)
        return MISHAP_TOKEN_UNKNOWN_KEY;
    if (!mishap_jwa_is(mishap_jwk_algorithm(key), algorithm))
        return MISHAP_TOKEN_ALGORITHM;
    return mishap_jwk_verify(key, parts->signed_bytes, parts->signature) ? MISHAP_TOKEN_SOUND
                                                                         : MISHAP_TOKEN_SIGNATURE;
}

mishap_token_flaw mishap_token_check(mishap_token_reader *reader, const mishap_token_rules *rules,
                                     mishap_text token, int64_t now_s, mishap_token *out)
{
    struct parts parts;
    *out = (mishap_token){ 0 };
    if (token.length > MISHAP_TOKEN_LONGEST)
        return MISHAP_TOKEN_TOO_LONG;
    if (!token.length || !split(token, reader->bytes, &parts))
        return MISHAP_TOKEN_NOT_COMPACT;
    mishap_token_flaw flaw = read_object(&reader->header, parts.header, MISHAP_TOKEN_HEADER);
    if (!flaw)
        flaw = check_header(reader->header.root);
    if (!flaw)
        flaw = read_object(&reader->claims, parts.claims, MISHAP_TOKEN_CLAIMS);
    if (!flaw)
        flaw = check_claims(rules, reader->header.root, reader->claims.root, now_s, out);
    return flaw ? flaw : check_signature(rules, reader->header.root, &parts, out);
}
