/*
 * Checks for credentials: keys of well-known services by their form, and values by their names. A
 * message such as `"password": "must have 8 characters"` is what an API says to its caller, so a
 * value by its name has to look like one that was made up or generated.
 */
#include "guard/tokens.h"

/* What stands between the lines of a key: also `\\n`, and `", "` if the lines are an array. */
static const char *skip_between_lines(const mishap_leak_place *place, const char *at)
{
    for (int i = 0; i < 16; i++) {
        char c = leak_char(place, at);
        if (at < place->end && c == '\\' && memchr("nr", leak_char(place, at + 1), 2))
            at += 2;
        else if (at < place->end && (leak_space(c) || leak_quote(c) || c == ',' || c == '\\'))
            at++;
        else
            break;
    }
    return at;
}

/* The end of a private key whose first line ends here: its last line if that is in sight, else the
 * end of the lines of base64. */
static const char *private_key_end(mishap_leak_place *place, const char *at)
{
    enum { LONGEST = 3500, SHORTEST_LINE = 24 };
    const char *most = place->end - at > LONGEST ? at + LONGEST : place->end;
    const char *last = leak_find(place, at, most, "-----END");
    if (last)
        return leak_is(place, last + 8, " ") && leak_find(place, last, most, "KEY-----")
                   ? leak_find(place, last, most, "KEY-----") + 8
                   : last + 8;
    for (const char *line = at; at < most;) {
        line = skip_between_lines(place, at);
        const char *end = leak_skip(place, line, in_base64, LONGEST);
        if (end - line < SHORTEST_LINE)
            break;
        at = end;
    }
    return at;
}

/* `-----BEGIN RSA PRIVATE KEY-----` and its text. */
bool mishap_leak_private_key(mishap_leak_place *place)
{
    const char *end = leak_line_end(place, place->behind);
    const char *most = end - place->behind > 60 ? place->behind + 60 : end;
    const char *key = leak_find(place, place->behind, most, "PRIVATE KEY");
    if (!key)
        return false;
    const char *rest = key + 11;
    rest = leak_is(place, rest, "-----") ? rest + 5 : rest;
    place->to = private_key_end(place, rest);
    if (place->to > rest) {
        place->secret = rest;
        place->secret_end = place->to;
    }
    return true;
}

/* `Bearer TOKEN`. */
bool mishap_leak_bearer(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, in_base64, LEAK_FAR);
    while (leak_char(place, end) == '.' && leak_word(leak_char(place, end + 1)) &&
           end - place->behind < LEAK_FAR)
        end = leak_skip(place, end + 1, in_base64, LEAK_FAR);
    if (leak_is_far(place->behind, end) && !has_digit(place->behind, end))
        return leak_gave_up(place);
    if (end - place->behind < 12 || !has_digit(place->behind, end) ||
        mishap_leak_placeholder(place->behind, end))
        return false;
    return found_secret(place, place->behind, end);
}

static int base64_value(char c)
{
    return leak_upper(c)   ? c - 'A'
           : leak_lower(c) ? c - 'a' + 26
           : leak_digit(c) ? c - '0' + 52
           : c == '+'      ? 62
           : c == '/'      ? 63
                           : -1;
}

/* `Basic dXNlcjpwYXNz`: base64 of printable text with a colon in it. */
bool mishap_leak_basic(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, in_base64, 200);
    unsigned bits = 0, count = 0;
    bool colon = false;
    if (end - place->behind < 8)
        return false;
    for (const char *c = place->behind; c < end && *c != '='; c++) {
        int value = base64_value(*c);
        if (value < 0)
            return false;
        bits = (bits << 6 | (unsigned)value) & 0xFFFF;
        count += 6;
        if (count < 8)
            continue;
        count -= 8;
        unsigned byte = bits >> count & 0xFF;
        if (byte < ' ' || byte > '~')
            return false;
        colon = colon || byte == ':';
    }
    return colon && found_secret(place, place->behind, end);
}

/* `"auth": "BASE64"` as Docker keeps it. */
bool mishap_leak_docker_auth(mishap_leak_place *place)
{
    const char *quote = leak_skip(place, place->behind, leak_blank, 4);
    if (leak_char(place, quote) != '"')
        return false;
    place->behind = quote + 1;
    return mishap_leak_basic(place);
}

/* `Cookie: NAME=VALUE`, `Set-Cookie: NAME=VALUE`: the value is generated. */
bool mishap_leak_cookie(mishap_leak_place *place)
{
    const char *name_end = leak_skip(place, place->behind, in_token, 64);
    while (leak_char(place, name_end) == '.' && name_end - place->behind < 64)
        name_end = leak_skip(place, name_end + 1, in_token, 64);
    if (leak_char(place, name_end) != '=' || name_end == place->behind)
        return false;
    const char *end = leak_skip(place, name_end + 1, in_value, LEAK_FAR);
    if (leak_is_far(name_end + 1, end) && !has_digit(name_end, end))
        return leak_gave_up(place);
    if (end - name_end < 17 || !has_digit(name_end, end) ||
        mishap_leak_placeholder(name_end + 1, end))
        return false;
    return found_secret(place, name_end + 1, end);
}

static bool in_signature(char c)
{
    return in_base64(c) || c == '%';
}

/* `&sig=SIGNATURE` of a signed address. */
bool mishap_leak_signature(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, in_signature, 300);
    size_t least = place->rule->least ? place->rule->least : 20;
    if ((size_t)(end - place->behind) < least || !has_digit(place->behind, end))
        return false;
    return found_secret(place, place->behind, end);
}

/* `machine HOST login NAME password PASSWORD`. */
bool mishap_leak_netrc(mishap_leak_place *place)
{
    const char *from = place->at - place->start > 200 ? place->at - 200 : place->start;
    const char *machine = leak_find(place, from, place->at, "machine ");
    const char *end = leak_skip(place, place->behind, in_value, 128);
    if (!machine || !leak_find(place, machine, place->at, "login ") || end - place->behind < 4 ||
        mishap_leak_placeholder(place->behind, end))
        return false;
    return found_secret(place, place->behind, end);
}

/* Does this word stand right before the literal? */
static bool leak_find_before(const mishap_leak_place *place, const char *word)
{
    return leak_ends(place, place->at, word) ||
           leak_ends(place, place->at - 1 > place->start ? place->at - 1 : place->at, word);
}

/* `the key 4b1d…`: many things are called a key, so the value has small and capital letters, and no
 * word before it says that it is public. */
static bool is_told_secret(const mishap_leak_place *place, const char *value, const char *end)
{
    static const char *const public[] = { "ublic",    "cache",    "object", "primary", "foreign",
                                          "mpotency", "artition", "sort",   "index",   NULL };
    size_t small = 0, capital = 0;
    for (const char *c = value; c < end; c++) {
        small += leak_lower(*c);
        capital += leak_upper(*c);
    }
    for (size_t i = 0; public[i]; i++)
        if (leak_find_before(place, public[i]))
            return false;
    return small >= 4 && capital >= 4;
}

/* `auth token 3c55…`: a long token with several digits in a sentence. A UUID is an id. */
bool mishap_leak_told_token(mishap_leak_place *place)
{
    const char *value = place->behind;
    if (leak_quote(leak_char(place, value)))
        value++;
    const char *end = leak_skip(place, value, leak_host, 200);
    size_t digits = 0, dashes = 0, letters = 0;
    for (const char *c = value; c < end; c++) {
        digits += leak_digit(*c);
        dashes += *c == '-';
        letters += leak_letter(*c);
    }
    if (end - value < 24 || digits < 4 || letters < 4 || (dashes == 4 && end - value == 36) ||
        (leak_is(place, place->behind - 4, "key ") && !is_told_secret(place, value, end)))
        return false;
    return found_secret(place, value, end);
}

static bool in_hash(char c)
{
    return leak_word(c) || c == '$' || c == '.' || c == '/' || c == '+' || c == '=' || c == ',' ||
           c == '-';
}

/* `$2b$12$…`, `$argon2id$v=19$…`, `root:$6$…`. */
bool mishap_leak_password_hash(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, in_hash, 300);
    return end - place->behind >= 20 && found_secret(place, place->behind, end);
}

/* -- values by their names --------------------------------------------------------------------- */

static bool in_bare_value(char c)
{
    return leak_kinds(c) & LEAK_BARE;
}

static bool in_double(char c)
{
    return c != '"' && c != '\n';
}

static bool in_single(char c)
{
    return c != '\'' && c != '\n';
}

static bool is_space(char c)
{
    return leak_space(c);
}

struct value {
    const char *from, *to;
    bool quoted, equals; /* in quotation marks; behind = without a blank */
};

/* The value of an element, or of a field of a form: `>x</password>`, `"` and an empty line. */
static bool value_of_element(mishap_leak_place *place, const char *at, struct value *value)
{
    const char *close = at;
    if (*at == ' ') /* attributes */
        for (close = at; close < place->end && close - at < 80 && *close != '>' && *close != '<';)
            close++;
    if (leak_char(place, close) == '>') {
        value->from = close + 1;
        value->to = leak_skip(place, close + 1, in_bare_value, 300);
        value->quoted = value->equals = false;
        return value->to > value->from && leak_is(place, value->to, "</");
    }
    size_t length = leak_is(place, at, "\r\n\r\n") ? 4 : 2;
    value->from = at + length;
    value->to = leak_skip(place, value->from, in_bare_value, 300);
    value->quoted = value->equals = false;
    return value->to > value->from;
}

/* Behind the name of the value in `"name":"DB_PASSWORD","value":"x"`, as lists of variables are
 * written; NULL if that is not here. */
static const char *value_of_pair(mishap_leak_place *place, const char *at)
{
    if (leak_char(place, at) != ',')
        return NULL;
    at = leak_skip(place, at + 1, is_space, 24);
    return leak_is(place, at, "\"value\"") ? at + 7 : NULL;
}

/* The value behind a name: `=x`, `: x`, `": "x"`, ` => 'x'`. */
static bool value_behind(mishap_leak_place *place, const char *name_end, struct value *value)
{
    const char *at = name_end;
    if (leak_quote(leak_char(place, at)) || leak_char(place, at) == ']')
        at++;
    if (leak_quote(leak_char(place, at - 1)) && leak_char(place, at) == ']') /* ["password"] */
        at++;
    if (leak_char(place, at) == '>' || leak_is(place, at, " Type=\"") ||
        (at > name_end && (leak_is(place, at, "\r\n\r\n") || leak_is(place, at, "\n\n"))))
        return value_of_element(place, at, value);
    if (leak_is(place, at, " value")) /* name="api_key" value="x" */
        at += 6;
    const char *pair = at > name_end ? value_of_pair(place, at) : NULL;
    at = pair ? pair : at;
    const char *sign = leak_skip(place, at, leak_blank, 4);
    char c = leak_char(place, sign);
    bool argument = c == ',' && at > name_end &&
                    leak_quote(leak_char(place, leak_skip(place, sign + 1, leak_blank, 16)));
    if (c != '=' && c != ':' && !argument) /* define('DB_PASSWORD', 'x') */
        return false;
    value->equals = c == '=' && sign == name_end;
    at = sign + 1;
    if (leak_char(place, at) == '>' || (c == ':' && leak_char(place, at) == '='))
        at++;
    const char *first = leak_skip(place, at, leak_blank, argument ? 16 : 4);
    if (leak_is(place, first, "\n") &&
        leak_ends(place, at, "=>")) /* as var_dump() of PHP prints it */
        first = leak_skip(place, first, is_space, 12);
    if (leak_is(place, first, "string("))
        first = leak_skip(place, first + 7, leak_digit, 9) + 2;
    if (first != at)
        value->equals = false;
    if (first >= place->end)
        return false;
    if (leak_is(place, first, "b'") || leak_is(place, first, "b\"")) /* bytes of Python */
        first++;
    c = leak_char(place, first);
    value->quoted = c == '"' || c == '\'';
    value->from = value->quoted ? first + 1 : first;
    value->to = leak_skip(place, value->from,
                          !value->quoted ? in_bare_value
                          : c == '"'     ? in_double
                                         : in_single,
                          300);
    place->steps += 32 + 4 * (size_t)(value->to - value->from); /* it is read several times */
    return value->to > value->from;
}

bool mishap_leak_is_code(const char *from, const char *to)
{
    static const char *const begins[] = { "os.",      "process.", "self.", "this.",  "req.",
                                          "request.", "env.",     "ENV[",  "config", "args.",
                                          "params",   "your",     "YOUR",  "my_",    "getenv",
                                          "vault:",   "arn:",     NULL };
    for (size_t i = 0; from < to && leak_letter(*from) && begins[i]; i++)
        if (*from == *begins[i] && (size_t)(to - from) >= strlen(begins[i]) &&
            memcmp(from, begins[i], strlen(begins[i])) == 0)
            return true;
    bool name = true; /* DB_PASSWORD */
    for (const char *c = from; c < to; c++) {
        if (*c == '(' || *c == '[' || *c == '{')
            return true;
        name = name && (leak_upper(*c) || *c == '_');
    }
    return name;
}

bool mishap_leak_looks_secret(const char *from, const char *to)
{
    unsigned some = 0, all = LEAK_HOST; /* what one of its characters is, and what all are */
    size_t capitals = 0;
    for (const char *c = from; c < to; c++) {
        unsigned kinds = leak_kinds(*c);
        some |= kinds;
        all &= kinds;
        capitals += leak_upper(*c);
    }
    if (some & LEAK_SPACE || !(some & (LEAK_LOWER | LEAK_UPPER)))
        return false;
    if (some & LEAK_DIGIT || !all) /* digits, or signs */
        return true;
    return capitals > 1 && some & LEAK_LOWER; /* `Word` is none */
}

static bool name_ends_here(const mishap_leak_place *place, const char *at)
{
    return !leak_word(leak_char(place, at)) && leak_char(place, at) != '-';
}

/* What may follow the word in a name: `secret_key`, `SECRET_KEY_BASE`, `passwordHash`. */
static const char *rest_of_name(const mishap_leak_place *place, const char *at)
{
    static const char *const rests[] = { "-access-key", "-key",      "_access_key", "_ACCESS_KEY",
                                         "AccessKey",   "_key_base", "_KEY_BASE",   "_key",
                                         "_KEY",        "Key",       "_hash",       "Hash",
                                         "_HASH",       "_id",       "2",           "1",
                                         "s",           NULL };
    char first = leak_char(place, at);
    for (size_t i = 0; rests[i]; i++)
        if (first == *rests[i] && leak_is(place, at, rests[i]))
            return at + strlen(rests[i]);
    return at;
}

/* A password in the words of a connection: any word may be one. */
bool mishap_leak_any_password(mishap_leak_place *place)
{
    struct value value;
    if (!name_ends_here(place, place->behind) || !value_behind(place, place->behind, &value))
        return false;
    for (const char *c = value.from; c < value.to; c++)
        if (leak_space(*c))
            return false;
    if (value.to - value.from < 3 || mishap_leak_placeholder(value.from, value.to) ||
        mishap_leak_is_code(value.from, value.to))
        return false;
    place->from = leak_skip_back(place, place->at, leak_word, 40);
    return found_secret(place, value.from, value.to);
}

static bool is_number(const char *from, const char *to)
{
    while (from < to && leak_digit(*from))
        from++;
    return from == to;
}

/* password, passwd, pwd, passphrase: a password may be any word. */
bool mishap_leak_named_password(mishap_leak_place *place)
{
    struct value value;
    if (!leak_word(place->behind[-1]))
        place->behind--;
    const char *end = rest_of_name(place, place->behind);
    if (!name_ends_here(place, end) || !value_behind(place, end, &value))
        return false;
    size_t length = (size_t)(value.to - value.from);
    place->from = leak_skip_back(place, place->at, leak_word, 40);
    if (is_number(value.from, value.to) && end == place->behind) /* "password": 12345678 */
        return length >= 6 && found_secret(place, value.from, value.to);
    if (mishap_leak_placeholder(value.from, value.to) || mishap_leak_is_code(value.from, value.to))
        return false;
    if (!(value.equals && !value.quoted && length >= 3) &&
        (length < 5 || !mishap_leak_looks_secret(value.from, value.to)))
        return false;
    if (value.equals && !value.quoted && leak_lower(*value.from) && length > 24 &&
        !mishap_leak_looks_secret(value.from, value.to))
        return false;
    if ((*place->at == '_' || leak_is(place, place->at, "pass") ||
         leak_is(place, place->at + 1, "pass")) &&
        !mishap_leak_looks_secret(value.from, value.to)) /* first_pass=12 */
        return false;
    return found_secret(place, value.from, value.to);
}

static bool has_word(const char *from, const char *to, const char *word)
{
    size_t length = strlen(word);
    for (; from + length <= to; from++) {
        size_t i = (from[0] | 32) == word[0];
        while (i && i < length && (from[i] | 32) == word[i])
            i++;
        if (i == length)
            return true;
    }
    return false;
}

/* Does a name have one of these words in it? A place is compared only with words that begin with
 * its letter. */
static bool has_harmless_word(const char *from, const char *to)
{
    static const char *const words[] = { "cache",   "contin", "csrf",   "cursor", "idempot",
                                         "max",     "next",   "object", "page",   "partition",
                                         "prev",    "public", "sort",   "start",  "sync",
                                         "websock", "" };
    /* The number of the first word with a letter, from 1; they are sorted. */
    static const uint8_t firsts[256] = {
        ['c'] = 1, ['i'] = 5, ['m'] = 6, ['n'] = 7, ['o'] = 8, ['p'] = 9, ['s'] = 13, ['w'] = 16
    };
    for (; from < to; from++) {
        char letter = (char)(*from | 32);
        size_t number = firsts[(unsigned char)letter];
        for (; number && *words[number - 1] == letter; number++) {
            const char *word = words[number - 1];
            size_t length = 1;
            while (word[length] && from + length < to && (from[length] | 32) == word[length])
                length++;
            if (!word[length])
                return true;
        }
    }
    return false;
}

/* token, secret, api_key, private_key: generated, so at least twelve characters with a digit. Marks
 * of pages (`next_page_token`) are for the caller. */
bool mishap_leak_named_key(mishap_leak_place *place)
{
    struct value value;
    if (leak_char(place, place->behind - 1) == ':') /* `-Key:` */
        place->behind--;
    const char *end = rest_of_name(place, place->behind);
    if (!name_ends_here(place, end) || !value_behind(place, end, &value))
        return false;
    const char *name = leak_skip_back(place, place->at, in_token, 40);
    if (has_harmless_word(name, end))
        return false;
    size_t least = has_word(name, end, "secret") ? 8 : 12;
    if ((size_t)(value.to - value.from) < least || !has_digit(value.from, value.to) ||
        !mishap_leak_looks_secret(value.from, value.to) ||
        mishap_leak_placeholder(value.from, value.to) ||
        mishap_leak_is_code(value.from, value.to) ||
        memmem(value.from, (size_t)(value.to - value.from), "://", 3))
        return false;
    place->from = name;
    return found_secret(place, value.from, value.to);
}
