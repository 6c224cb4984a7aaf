/* Detection of secrets: values whose key names a secret, and URLs that contain a password. */
#include "guard/guard.h"

#include "base/json_write.h"

const mishap_text mishap_guard_redacted = MISHAP_TEXT("[redacted]");

/* Compared with the letters of the name alone, in lower case: `API-Key`, `api_key` and `apiKey` are
 * one. */
static const char *const endings[] = {
    "password",   "passwd",    "passphrase", "secret", "token",         "apikey",
    "privatekey", "accesskey", "credential", "cookie", "authorization",
};

/* Several tokens are mostly a number of them (max_tokens), unless one of these stands before. */
static const char *const kinds_of_token[] = {
    "access", "api", "auth", "bearer", "csrf", "jwt", "refresh", "secret", "session", "xsrf",
};

/* The last two letters of every ending: most names are done after one look at theirs. */
static bool may_be_secret(mishap_text name)
{
    if (name.length < 5)
        return false;
    char before = (char)(name.data[name.length - 2] | 32);
    switch (name.data[name.length - 1] | 32) {
    case 'd':
        return before == 'r' || before == 'w';
    case 'e':
        return before == 's' || before == 'i';
    case 'l':
        return before == 'a';
    case 'n':
        return before == 'e' || before == 'o';
    case 's': /* of more than one */
        return strchr("ldetny", before);
    case 't':
    case 'y':
        return before == 'e';
    default: /* a name may end in a digit or a bracket */
        return !((name.data[name.length - 1] | 32) >= 'a' &&
                 (name.data[name.length - 1] | 32) <= 'z');
    }
}

static bool ends_in(mishap_text letters, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(words[i]);
        if (size <= letters.length &&
            memcmp(letters.data + letters.length - size, words[i], size) == 0)
            return true;
    }
    return false;
}

/* api_keys, cookies, access_tokens. */
static bool is_plural(mishap_text letters)
{
    static const char *const tokens[] = { "token" };
    letters.length--;
    if (!ends_in(letters, endings, sizeof endings / sizeof *endings))
        return false;
    if (!ends_in(letters, tokens, 1))
        return true;
    letters.length -= strlen(tokens[0]);
    return letters.length == 0 ||
           ends_in(letters, kinds_of_token, sizeof kinds_of_token / sizeof *kinds_of_token);
}

bool mishap_guard_secret_name(mishap_text name)
{
    char letters[64];
    size_t length = 0;
    if (name.length > sizeof letters) /* how it ends is all that counts */
        name = (mishap_text){ name.data + name.length - sizeof letters, sizeof letters };
    if (!may_be_secret(name))
        return false;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
            letters[length++] = (char)(c | 32);
    }
    if (length && letters[length - 1] == 's')
        return is_plural((mishap_text){ letters, length });
    return ends_in((mishap_text){ letters, length }, endings, sizeof endings / sizeof *endings);
}

/* The least number of six digits. */
static const double long_number = 100000;

static bool is_long(double number)
{
    return number >= long_number || number <= -long_number;
}

/* Several are counted: `tokens: 120000`. */
static bool names_secret_number(mishap_text name)
{
    return name.length && (name.data[name.length - 1] | 32) != 's' &&
           mishap_guard_secret_name(name);
}

bool mishap_guard_secret_value(mishap_text name, const mishap_value *value)
{
    switch (value->kind) {
    case MISHAP_KIND_INT:
        return is_long((double)value->integer) && names_secret_number(name);
    case MISHAP_KIND_UINT:
        return names_secret_number(name);
    case MISHAP_KIND_REAL:
        return is_long(value->real) && names_secret_number(name);
    case MISHAP_KIND_TEXT:
    case MISHAP_KIND_JSON:
        return mishap_guard_secret_name(name);
    default:
        return false;
    }
}

/* What may stand in the authority of an address before the @. */
static bool in_authority(char c)
{
    return c != '/' && c != '?' && c != '#' && c != '"' && c != '\'' && c != '<' && c != '>' &&
           (unsigned char)c > ' ';
}

size_t mishap_guard_find_password(mishap_text text, size_t from, size_t *start)
{
    const char *end = text.data + text.length, *at = text.data + from;
    while (at < end && (at = memchr(at, ':', (size_t)(end - at)))) {
        if (end - at < 3 || at[1] != '/' || at[2] != '/') {
            at++;
            continue;
        }
        at += 3;
        const char *colon = NULL, *sign = NULL;
        for (const char *c = at; c < end && in_authority(*c); c++) {
            if (*c == ':' && !colon)
                colon = c;
            if (*c == '@')
                sign = c; /* the last one counts: a password may have an @ in it */
        }
        if (colon && sign && sign > colon + 1) {
            *start = (size_t)(colon + 1 - text.data);
            return (size_t)(sign - colon - 1);
        }
    }
    return 0;
}

bool mishap_guard_has_password(mishap_text text)
{
    size_t start, length;
    for (size_t from = 0; text.length && (length = mishap_guard_find_password(text, from, &start));
         from = start + length)
        if (!mishap_text_equal((mishap_text){ text.data + start, length }, mishap_guard_redacted))
            return true;
    return false;
}

static void put_redacted(mishap_buffer *buffer, mishap_text text)
{
    size_t done = 0, start, length;
    while ((length = mishap_guard_find_password(text, done, &start))) {
        mishap_buffer_put(buffer, text.data + done, start - done);
        mishap_buffer_put_text(buffer, mishap_guard_redacted);
        done = start + length;
    }
    mishap_buffer_put(buffer, text.data + done, text.length - done);
}

mishap_text mishap_guard_redact(mishap_arena *arena, mishap_text text)
{
    size_t start;
    if (text.length == 0 || mishap_guard_find_password(text, 0, &start) == 0)
        return text;
    mishap_buffer redacted;
    mishap_buffer_init(&redacted, NULL, 0);
    put_redacted(&redacted, text);
    mishap_text copy = { NULL, 0 };
    if (!redacted.failed)
        copy = mishap_arena_copy(arena, mishap_buffer_text(&redacted));
    mishap_buffer_release(&redacted);
    return copy;
}

static void copy_string(mishap_buffer *buffer, yyjson_val *string)
{
    mishap_arena scratch;
    mishap_arena_init(&scratch, NULL, 0);
    mishap_text text = mishap_guard_redact(&scratch, mishap_json_text(string));
    mishap_json_string(buffer, text.data ? text : mishap_guard_redacted);
    mishap_arena_release(&scratch);
}

/* Which values stand somewhere below the name of a secret, and so are not copied. */
struct secret {
    bool texts, numbers;
};

/* Raw numbers have more digits than fit 64 bits. */
static bool is_secret(yyjson_val *value, struct secret secret)
{
    if (yyjson_is_str(value))
        return secret.texts;
    return secret.numbers &&
           (yyjson_is_raw(value) || (yyjson_is_num(value) && is_long(yyjson_get_num(value))));
}

static void copy_value(mishap_buffer *buffer, yyjson_val *value, struct secret secret)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (yyjson_is_obj(value)) {
        mishap_json_open(buffer, '{');
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            mishap_text name = mishap_json_text(key);
            /* A key may be an address too. Redacted, two could become one, so such a member is left
             * out. */
            if (mishap_guard_has_password(name))
                continue;
            mishap_json_key(buffer, name);
            copy_value(buffer, item,
                       (struct secret){ secret.texts || mishap_guard_secret_name(name),
                                        secret.numbers || names_secret_number(name) });
        }
        mishap_json_close(buffer, '}');
    } else if (yyjson_is_arr(value)) {
        mishap_json_open(buffer, '[');
        MISHAP_JSON_ITEMS (value, index, count, item)
            copy_value(buffer, item, secret);
        mishap_json_close(buffer, ']');
    } else if (is_secret(value, secret)) {
        mishap_json_string(buffer, mishap_guard_redacted);
    } else if (yyjson_is_str(value)) {
        copy_string(buffer, value);
    } else {
        mishap_json_copy(buffer, value);
    }
}

void mishap_guard_copy_json(mishap_buffer *buffer, yyjson_val *value)
{
    copy_value(buffer, value, (struct secret){ false, false });
}
