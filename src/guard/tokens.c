/* Checks for keys and tokens of well-known services, by the form that their provider documents. */
#include "guard/tokens.h"

static bool joins_parts(char c)
{
    return c == '.' || c == '+' || c == '/';
}

/* A prefix such as `ghp_`, then characters of a key. */
bool mishap_leak_token(mishap_leak_place *place)
{
    const char *from = place->at;
    if (!leak_word(*from)) /* what ends the word before */
        from++;
    else if (leak_word(leak_char(place, from - 1)))
        return false;
    const char *end = leak_skip(place, from, in_token, LEAK_FAR);
    while (joins_parts(leak_char(place, end)) && leak_word(leak_char(place, end + 1)) &&
           end - from < LEAK_FAR) /* SG.x.y, ya29.x, base64 */
        end = leak_skip(place, end + 1, in_token, LEAK_FAR);
    const char *key = place->behind < end ? place->behind - 1 : end;
    place->steps += (size_t)(end - from); /* it is read again */
    if ((size_t)(end - key) < place->rule->least || !has_digit(key, end) || all_same(key + 1, end))
        return leak_is_far(from, end) && leak_gave_up(place);
    place->from = from;
    return found_secret(place, key, end);
}

static bool in_aws_key(char c)
{
    return leak_upper(c) || leak_digit(c);
}

/* AKIA and 16 capital letters and digits. */
bool mishap_leak_aws_key(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->at, in_aws_key, 24);
    if (end - place->at != 20 || leak_word(leak_char(place, place->at - 1)) ||
        leak_word(leak_char(place, end)) || all_same(place->at + 4, end))
        return false;
    return found_secret(place, place->at + 4, end);
}

static bool in_upper_token(char c)
{
    return in_aws_key(c) || c == '-';
}

static bool is_hex(char c)
{
    return leak_hex(c);
}

static bool in_signature(char c)
{
    return in_base64(c) || c == '%';
}

/* Three parts of base64 with points between; the first begins with {" in base64. */
bool mishap_leak_jwt(mishap_leak_place *place)
{
    if (leak_word(leak_char(place, place->at - 1)))
        return false;
    const char *end = leak_skip(place, place->at, in_token, 1024);
    if (end - place->at < 12 || leak_char(place, end) != '.')
        return false;
    const char *second = end + 1;
    end = leak_skip(place, second, in_token, 1024);
    if ((end - second < 8 && end != second) || leak_char(place, end) != '.')
        return false;
    end = leak_skip(place, end + 1, in_token, 1024);
    return found_secret(place, place->at + 4, end);
}

/* `bot123456:AA…` of Telegram; the literal is `1:AA` and a character. */
bool mishap_leak_telegram(mishap_leak_place *place)
{
    const char *from = leak_skip_back(place, place->at + 1, leak_digit, 12);
    const char *end = leak_skip(place, place->behind, in_token, 64);
    if (place->at + 1 - from < 8 || end - place->behind < 28)
        return false;
    place->from = from;
    return found_secret(place, place->at + 2, end);
}

/* 32 hexadecimal digits and `-us1`, a key of Mailchimp. */
bool mishap_leak_mailchimp(mishap_leak_place *place)
{
    const char *from = leak_skip_back(place, place->at + 1, is_hex, 40);
    if (place->at + 1 - from != 32)
        return false;
    place->from = from;
    return found_secret(place, from, place->behind);
}

/* A long run of letters and digits behind a prefix that is not telling enough: AAAAAAAA… */
bool mishap_leak_long_token(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->at, in_signature, 300);
    place->steps += (size_t)(end - place->at); /* it is read again */
    return end - place->at >= 80 && !leak_word(leak_char(place, place->at - 1)) &&
           has_digit(place->at, end) && found_secret(place, place->behind, end);
}

/* The literal ends with the first character of the key. */
static const char *key_of_literal(const mishap_leak_place *place)
{
    return place->behind - 1;
}

/* `API-…`, `SCW…`: capital letters and digits behind a prefix, in groups with - between. */
bool mishap_leak_upper_key(mishap_leak_place *place)
{
    const char *from = place->at + !leak_word(*place->at);
    if (in_token(leak_char(place, from - 1)))
        return false;
    const char *end = leak_skip(place, from, in_upper_token, 80);
    size_t digits = 0;
    for (const char *c = from; c < end; c++)
        digits += leak_digit(*c);
    if (leak_word(leak_char(place, end)) || digits < 3 ||
        (size_t)(end - place->behind) + 3 < place->rule->least)
        return false;
    place->from = from;
    return found_secret(place, from + 3, end);
}

/* `…AZDO1a2b`, `…_mmk`: the mark stands at the end or near it. */
bool mishap_leak_key_before(mishap_leak_place *place)
{
    const char *from = leak_skip_back(place, place->at + 1, leak_word, 120);
    const char *end = leak_skip(place, place->behind, leak_word, 8);
    if ((size_t)(place->at + 1 - from) < place->rule->least || end - place->behind > 4 ||
        !has_digit(from, place->at))
        return false;
    place->from = from;
    return found_secret(place, from, end);
}

static bool in_azure_secret(char c)
{
    return in_token(c) || c == '~' || c == '.';
}

/* `abc8Q~…`: three characters, a digit, Q~, then 31 to 34. */
bool mishap_leak_azure_secret(mishap_leak_place *place)
{
    const char *end = leak_skip(place, key_of_literal(place), in_azure_secret, 60);
    const char *from = leak_skip_back(place, place->at + 1, in_azure_secret, 8);
    if (end - key_of_literal(place) < 31 || end - key_of_literal(place) > 40 ||
        place->at + 1 - from > 4)
        return false;
    place->from = from;
    return found_secret(place, from, end);
}

/* Does a UUID stand here? */
static bool is_uuid(const mishap_leak_place *place, const char *at)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (form[i] == 'x' ? !leak_hex(leak_char(place, at + i)) : leak_char(place, at + i) != '-')
            return false;
    return !leak_word(leak_char(place, at + sizeof form - 1));
}

/* `sdk-UUID`. */
bool mishap_leak_uuid_key(mishap_leak_place *place)
{
    const char *uuid = place->at + 4;
    return !in_token(leak_char(place, place->at - 1)) && is_uuid(place, uuid) &&
           found_secret(place, uuid, uuid + 36);
}

/* `https://KEY@host.sentry.io/1`: 32 hexadecimal digits before the @. */
bool mishap_leak_dsn_key(mishap_leak_place *place)
{
    const char *from = place->at - place->start > 120 ? place->at - 120 : place->start;
    const char *sign = from < place->at ? memrchr(from, '@', (size_t)(place->at - from)) : NULL;
    if (!sign || leak_skip_back(place, sign, is_hex, 40) != sign - 32)
        return false;
    place->from = sign - 32;
    place->secret = sign - 32;
    place->secret_end = sign;
    return true;
}

/* `'md5…'`: 32 hexadecimal digits behind md5, as PostgreSQL keeps a password. */
bool mishap_leak_md5_password(mishap_leak_place *place)
{
    const char *hash = key_of_literal(place), *end = leak_skip(place, hash, is_hex, 40);
    return end - hash == (*place->at == ' ' ? 40 : 32) && !leak_word(leak_char(place, end)) &&
           found_secret(place, hash, end);
}

/* `MTA….Gabcde.…`: the id of a bot in base64, six characters, and 27 or more. */
bool mishap_leak_bot_token(mishap_leak_place *place)
{
    const char *from = place->at + !leak_word(*place->at);
    const char *first = leak_skip(place, from, in_token, 40);
    if (first - from < 22 || leak_char(place, first) != '.')
        return false;
    const char *second = leak_skip(place, first + 1, in_token, 8);
    const char *end = leak_skip(place, second + 1, in_token, 60);
    if (second - first != 7 || leak_char(place, second) != '.' || end - second < 28)
        return false;
    place->from = from;
    return found_secret(place, from, end);
}

static bool in_phrase(char c)
{
    return leak_lower(c) || c == ' ';
}

/* `seed phrase: abandon ability …`: twelve short words or more, with nothing but blanks between. */
bool mishap_leak_seed_phrase(mishap_leak_place *place)
{
    const char *at = place->behind;
    while (at < place->end && at - place->behind < 6 && memchr(": \"'=", *at, 5))
        at++;
    const char *end = leak_skip(place, at, in_phrase, 300);
    size_t words = at > place->behind, length = 0;
    for (const char *c = at; c < end; c++) {
        length = *c == ' ' ? 0 : length + 1;
        words += *c == ' ' && c + 1 < end && c[1] != ' ';
        if (length > 8) /* of the list of words */
            return false;
    }
    return words >= 12 && found_secret(place, at, end);
}

/* `"d":"…"` beside `"kty"`: the private part of a key as JSON. */
bool mishap_leak_private_jwk(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, in_token, LEAK_FAR);
    const char *from = place->at - place->start > 500 ? place->at - 500 : place->start;
    const char *to = place->end - end > 300 ? end + 300 : place->end;
    if (leak_is_far(place->behind, end))
        return leak_gave_up(place);
    if (end - place->behind < 32 || leak_char(place, end) != '"' ||
        (!leak_find(place, from, place->at, "\"kty\"") && !leak_find(place, end, to, "\"kty\"")))
        return false;
    return found_secret(place, place->behind, end);
}
