/*
 * A regular expression of ECMAScript, which JSON Schema means, as one of our matcher, which is
 * Perl's. Both read most patterns alike. What they read differently is written in another way here;
 * what cannot be, such as a reference to a group that may not have matched, is not translated.
 */
#include "schema/inside.h"

enum { LONGEST = 1000 }; /* bytes of an expression */

struct translation {
    mishap_buffer *to;
    const char *at, *end;
    bool repeatable; /* something stands before, which can be repeated */
};

/* White space and ends of lines, as they stand in a class. */
#define SPACES                                                                                     \
    "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}"  \
    "\\x{3000}\\x{feff}"
#define NO_SPACES                                                                                  \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-"     \
    "\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"        \
    "\\x{ff00}-\\x{10ffff}"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* A character by its number. Halves of a pair are none. */
static bool put_code(struct translation *t, uint32_t code)
{
    static const char digits[] = "0123456789abcdef";
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return false;
    MISHAP_PUT(t->to, "\\x{");
    for (int shift = 20; shift >= 0; shift -= 4)
        mishap_buffer_put_char(t->to, digits[code >> shift & 15]);
    mishap_buffer_put_char(t->to, '}');
    return true;
}

static bool take_hex(struct translation *t, size_t count, uint32_t *code)
{
    *code = 0;
    for (; count; count--, t->at++) {
        int digit = t->at < t->end ? hex_digit(*t->at) : -1;
        if (digit < 0)
            return false;
        *code = *code << 4 | (uint32_t)digit;
    }
    return true;
}

/* \u20ac, \ud83d\ude00, \u{1f600}; the u is taken already. */
static bool put_unicode(struct translation *t)
{
    uint32_t code = 0, low;
    if (t->at < t->end && *t->at == '{') {
        size_t digits = 0;
        for (t->at++; t->at < t->end && hex_digit(*t->at) >= 0 && digits < 6; digits++, t->at++)
            code = code << 4 | (uint32_t)hex_digit(*t->at);
        if (!digits || t->at == t->end || *t->at++ != '}')
            return false;
        return put_code(t, code);
    }
    if (!take_hex(t, 4, &code))
        return false;
    if (code >= 0xd800 && code < 0xdc00 && t->end - t->at >= 6 && t->at[0] == '\\' &&
        t->at[1] == 'u') {
        t->at += 2;
        if (!take_hex(t, 4, &low) || low < 0xdc00 || low > 0xdfff)
            return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return put_code(t, code);
}

/* \p{L}: general categories, by their short names, which both know, or their long ones. */
static bool put_category(struct translation *t, char letter)
{
    static const struct {
        const char *name, *long_name;
    } known[] = { { "L", "Letter" },
                  { "Lu", "Uppercase_Letter" },
                  { "Ll", "Lowercase_Letter" },
                  { "Lt", "Titlecase_Letter" },
                  { "Lm", "Modifier_Letter" },
                  { "Lo", "Other_Letter" },
                  { "M", "Mark" },
                  { "Mn", "Nonspacing_Mark" },
                  { "N", "Number" },
                  { "Nd", "Decimal_Number" },
                  { "Nd", "digit" },
                  { "Nl", "Letter_Number" },
                  { "No", "Other_Number" },
                  { "P", "Punctuation" },
                  { "S", "Symbol" },
                  { "Sc", "Currency_Symbol" },
                  { "Z", "Separator" },
                  { "Zs", "Space_Separator" } };
    const char *close = t->end > t->at ? memchr(t->at, '}', (size_t)(t->end - t->at)) : NULL;
    if (!close || *t->at != '{')
        return false;
    mishap_text name = { t->at + 1, (size_t)(close - t->at) - 1 };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!mishap_text_equal(name, mishap_text_of(known[i].name)) &&
            !mishap_text_equal(name, mishap_text_of(known[i].long_name)))
            continue;
        mishap_buffer_put_char(t->to, '\\');
        mishap_buffer_put_char(t->to, letter);
        mishap_buffer_put_char(t->to, '{');
        mishap_buffer_put_text(t->to, mishap_text_of(known[i].name));
        mishap_buffer_put_char(t->to, '}');
        t->at = close + 1;
        return true;
    }
    return false;
}

static bool put_control(struct translation *t)
{
    char letter = t->at < t->end ? *t->at++ : ' ';
    return (letter | 32) >= 'a' && (letter | 32) <= 'z' && put_code(t, (uint32_t)letter & 31);
}

static bool put_space(struct translation *t, bool in_class, bool negated)
{
    if (!in_class)
        mishap_buffer_put_char(t->to, '[');
    if (negated)
        MISHAP_PUT(t->to, NO_SPACES);
    else
        MISHAP_PUT(t->to, SPACES);
    if (!in_class)
        mishap_buffer_put_char(t->to, ']');
    return true;
}

/* What stands behind a backslash. */
static bool put_escape(struct translation *t, bool in_class)
{
    uint32_t code;
    char c = t->at < t->end ? *t->at++ : '\0';
    switch (c) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
    case 'n':
    case 'r':
    case 't':
    case 'f':
        mishap_buffer_put_char(t->to, '\\');
        mishap_buffer_put_char(t->to, c);
        return true;
    case 'b':
        if (in_class)
            return put_code(t, 8);
        MISHAP_PUT(t->to, "\\b");
        t->repeatable = false;
        return true;
    case 'B':
        MISHAP_PUT(t->to, "\\B");
        t->repeatable = false;
        return !in_class;
    case 's':
    case 'S':
        return put_space(t, in_class, c == 'S');
    case 'v':
        return put_code(t, 11);
    case '0':
        return (t->at == t->end || *t->at < '0' || *t->at > '9') && put_code(t, 0);
    case 'c':
        return put_control(t);
    case 'x':
        return take_hex(t, 2, &code) && put_code(t, code);
    case 'u':
        return put_unicode(t);
    case 'p':
    case 'P':
        return put_category(t, c);
    default:
        if (!c || !strchr("^$\\.*+?()[]{}|/-\"'#%&,:;<=>@`~!_ ", c))
            return false;
        return put_code(t, (unsigned char)c);
    }
}

/* A character as it stands there; a byte of a longer one, too. */
static bool put_plain(struct translation *t, char c)
{
    if ((unsigned char)c >= 128 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z')) {
        mishap_buffer_put_char(t->to, c);
        return true;
    }
    return put_code(t, (unsigned char)c);
}

/* [a-z], with the bracket taken already. */
static bool put_class(struct translation *t)
{
    bool negated = t->at < t->end && *t->at == '^';
    t->at += negated;
    if (t->at < t->end && *t->at == ']') { /* nothing, or anything */
        t->at++;
        mishap_buffer_put_text(t->to, mishap_text_of(negated ? "[\\s\\S]" : "(?!)"));
        return true;
    }
    mishap_buffer_put_text(t->to, mishap_text_of(negated ? "[^" : "["));
    bool several = false; /* what stands before is no single character, which begins no range */
    while (t->at < t->end && *t->at != ']') {
        char c = *t->at++, letter = c == '\\' && t->at < t->end ? *t->at : '\0';
        if (c == '-' && !several)
            mishap_buffer_put_char(t->to, '-');
        else if (!(c == '\\' ? put_escape(t, true) : put_plain(t, c)))
            return false;
        several = letter && strchr("dDwWsSpP", letter);
    }
    mishap_buffer_put_char(t->to, ']');
    return t->at++ < t->end;
}

/* Groups that both have. Names of groups are left out: the matches are not asked for. */
static bool put_group(struct translation *t)
{
    static const char *const kinds[] = { "?:", "?=", "?!", "?<=", "?<!" };
    mishap_buffer_put_char(t->to, '(');
    t->repeatable = false;
    if (t->at == t->end || (*t->at != '?' && *t->at != '*'))
        return t->at < t->end;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i]);
        if ((size_t)(t->end - t->at) < length || memcmp(t->at, kinds[i], length) != 0)
            continue;
        mishap_buffer_put(t->to, t->at, length);
        t->at += length;
        return true;
    }
    const char *close = memchr(t->at, '>', (size_t)(t->end - t->at));
    if (t->end - t->at < 3 || t->at[0] != '?' || t->at[1] != '<' || !close)
        return false;
    t->at = close + 1;
    return true;
}

/* {2}, {2,} or {2,5}, with the brace taken already. */
static bool put_counts(struct translation *t)
{
    const char *close = t->at < t->end ? memchr(t->at, '}', (size_t)(t->end - t->at)) : NULL;
    if (!close || *t->at < '0' || *t->at > '9')
        return false;
    size_t commas = 0;
    for (const char *c = t->at; c < close; c++) {
        commas += *c == ',';
        if (*c != ',' && (*c < '0' || *c > '9'))
            return false;
    }
    mishap_buffer_put_char(t->to, '{');
    mishap_buffer_put(t->to, t->at, (size_t)(close - t->at) + 1);
    t->at = close + 1;
    return commas <= 1;
}

static bool put_repetition(struct translation *t, char c)
{
    if (!t->repeatable)
        return false;
    t->repeatable = false;
    if (c == '{') {
        if (!put_counts(t))
            return false;
    } else {
        mishap_buffer_put_char(t->to, c);
    }
    if (t->at < t->end && *t->at == '?') /* as few as possible */
        mishap_buffer_put_char(t->to, *t->at++);
    return true;
}

static bool put_next(struct translation *t)
{
    char c = *t->at++;
    if (strchr("*+?{", c) && c)
        return put_repetition(t, c);
    t->repeatable = true;
    switch (c) {
    case '\\':
        return put_escape(t, false);
    case '[':
        return put_class(t);
    case '(':
        return put_group(t);
    case '.':
        MISHAP_PUT(t->to, "[^\\n\\r\\x{2028}\\x{2029}]");
        return true;
    case '^':
    case '$':
    case '|':
        t->repeatable = false;
        mishap_buffer_put_char(t->to, c);
        return true;
    case ')':
        mishap_buffer_put_char(t->to, c);
        return true;
    default:
        return put_plain(t, c);
    }
}

bool mishap_expression_translate(mishap_buffer *buffer, mishap_text expression)
{
    struct translation t = { .to = buffer,
                             .at = expression.data,
                             .end = expression.data + expression.length };
    if (expression.length > LONGEST)
        return false;
    while (t.at < t.end)
        if (!put_next(&t))
            return false;
    mishap_buffer_put_char(buffer, '\0');
    return !buffer->failed;
}
