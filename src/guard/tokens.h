/* What the checks for credentials share: the characters of keys, and how a secret is reported. */
#ifndef MISHAP_GUARD_TOKENS_H
#define MISHAP_GUARD_TOKENS_H

#include "guard/rules.h"

static inline bool in_token(char c)
{
    return leak_kinds(c) & LEAK_TOKEN;
}

static inline bool in_base64(char c)
{
    return leak_kinds(c) & LEAK_BASE64;
}

/* The value of a header, a cookie or a command. */
static inline bool in_value(char c)
{
    return leak_kinds(c) & LEAK_VALUE;
}

static inline bool has_digit(const char *from, const char *to)
{
    for (; from < to; from++)
        if (leak_digit(*from))
            return true;
    return false;
}

static inline bool all_same(const char *from, const char *to)
{
    for (const char *c = from; c < to; c++)
        if (*c != *from)
            return false;
    return true;
}

/* Report from the literal on, and redact this part. */
static inline bool found_secret(mishap_leak_place *place, const char *secret, const char *end)
{
    place->secret = secret;
    place->secret_end = place->to = end;
    return true;
}

/* Made up or generated: letters with digits or signs, or small and capital letters, and no
 * blanks. */
bool mishap_leak_looks_secret(const char *from, const char *to);

/* Code and names of variables are no values. */
bool mishap_leak_is_code(const char *from, const char *to);

#endif
