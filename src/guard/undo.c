#include "guard/undo.h"

#include <endian.h>
#include <string.h>

#include "base/encode.h"

enum {
    LONGEST_TAG = 512,
    LONGEST_ENTITY = 24,
    MOST_DIGITS = 16, /* of a character, zeros before it included */
};

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The number of `count` hexadecimal digits; -1 if they are not. */
static long hex_number(const char *at, const char *to, int count)
{
    long number = 0;
    if (to - at < count)
        return -1;
    for (int i = 0; i < count; i++) {
        int value = hex_value(at[i]);
        if (value < 0)
            return -1;
        number = number * 16 + value;
    }
    return number;
}

/* A reader does not see these characters: soft hyphens, joiners and spaces without a width. */
static bool is_invisible(unsigned long c)
{
    return c == 0xAD || (c >= 0x200B && c <= 0x200D) || c == 0x2060 || c == 0xFEFF;
}

/* As UTF-8; what is no character becomes U+FFFD, and what a reader does not see is left out. */
static size_t put_character(char *out, unsigned long c)
{
    if (is_invisible(c))
        return 0;
    if (c >= 0x110000 || (c >= 0xD800 && c < 0xE000))
        c = 0xFFFD;
    return mishap_utf8_encode((uint32_t)c, out);
}

/* -- JSON -------------------------------------------------------------------------------------- */

/* What the letter behind a backslash stands for; 0: nothing. */
static char json_letter(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case 'b':
    case 'f':
        return ' ';
    case '"':
    case '\\':
    case '/':
    case '\'':
        return c;
    default:
        return 0;
    }
}

/* \u and four digits, or two of them for one character; \x and two digits, as programs print it. */
static size_t undo_json_number(const char *at, const char *to, char *out, size_t *used)
{
    int digits = at[1] == 'u' ? 4 : 2;
    long c = hex_number(at + 2, to, digits);
    if (c < 0) {
        *used = 1;
        out[0] = *at;
        return 1;
    }
    *used = 2 + (size_t)digits;
    if (c >= 0xD800 && c < 0xDC00 && to - at >= 12 && at[6] == '\\' && at[7] == 'u') {
        long low = hex_number(at + 8, to, 4);
        if (low >= 0xDC00 && low < 0xE000) {
            *used = 12;
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return put_character(out, (unsigned long)c);
}

static size_t undo_json_one(const char *at, const char *to, char *out, size_t *used)
{
    *used = 1;
    out[0] = *at;
    if (to - at < 2)
        return 1;
    char letter = json_letter(at[1]);
    if (letter) {
        *used = 2;
        out[0] = letter;
        return 1;
    }
    return at[1] == 'u' || at[1] == 'x' ? undo_json_number(at, to, out, used) : 1;
}

/* Characters beyond ASCII are part of no rule: these escapes need not be undone. */
static const char *json_escaped(const char *at, const char *to)
{
    while (at < to && (at = memchr(at, '\\', (size_t)(to - at)))) {
        if (to - at < 2)
            break;
        if (json_letter(at[1]))
            return at;
        long c = at[1] == 'u' ? hex_number(at + 2, to, 4) : -1;
        if (c >= 0 && (c < 0x80 || is_invisible((unsigned long)c)))
            return at;
        if (at[1] == 'x' && hex_number(at + 2, to, 2) >= 0)
            return at;
        at++;
    }
    return to;
}

/* -- HTML -------------------------------------------------------------------------------------- */

static const struct entity {
    const char *name;
    char c; /* 0: a reader does not see it */
} entities[] = {
    /* by their letters; of those with the same one the most frequent first */
    { "NewLine;", '\n' }, { "Tab;", '\t' },   { "ZeroWidthSpace;", 0 },
    { "amp;", '&' },      { "apos;", '\'' },  { "ast;", '*' },
    { "bsol;", '\\' },    { "colon;", ':' },  { "comma;", ',' },
    { "commat;", '@' },   { "dollar;", '$' }, { "equals;", '=' },
    { "excl;", '!' },     { "gt;", '>' },     { "grave;", '`' },
    { "lt;", '<' },       { "lbrack;", '[' }, { "lcub;", '{' },
    { "lowbar;", '_' },   { "lpar;", '(' },   { "lsqb;", '[' },
    { "nbsp;", ' ' },     { "num;", '#' },    { "percnt;", '%' },
    { "period;", '.' },   { "plus;", '+' },   { "quot;", '"' },
    { "quest;", '?' },    { "rbrack;", ']' }, { "rcub;", '}' },
    { "rpar;", ')' },     { "rsqb;", ']' },   { "semi;", ';' },
    { "shy;", 0 },        { "sol;", '/' },    { "vert;", '|' },
    { "zwj;", 0 },        { "zwnj;", 0 },     { "", 0 },
};

/* The number of the first entity with a letter, from 1. */
static const uint8_t first_entities[256] = {
    ['N'] = 1,  ['T'] = 2,  ['Z'] = 3,  ['a'] = 4,  ['b'] = 7,  ['c'] = 8,
    ['d'] = 11, ['e'] = 12, ['g'] = 14, ['l'] = 16, ['n'] = 22, ['p'] = 24,
    ['q'] = 27, ['r'] = 29, ['s'] = 33, ['v'] = 36, ['z'] = 37
};

/* &#39; and &#x27;, also without the semicolon, as browsers read them. False: it is no number. */
static bool undo_entity_number(const char *at, const char *to, char *out, size_t *used,
                               size_t *length)
{
    const char *digit = at + 2;
    unsigned long c = 0;
    unsigned base = 10;
    if (digit < to && (*digit | 32) == 'x') {
        base = 16;
        digit++;
    }
    const char *first = digit;
    for (; digit < to && digit - first < MOST_DIGITS && c < 0x110000; digit++) {
        int value = hex_value(*digit);
        if (value < 0 || (unsigned)value >= base)
            break;
        c = c * base + (unsigned)value;
    }
    if (digit == first)
        return false;
    *used = (size_t)(digit - at) + (digit < to && *digit == ';');
    *length = put_character(out, c == 0xA0 ? ' ' : c);
    return true;
}

static size_t undo_entity(const char *at, const char *to, char *out, size_t *used)
{
    if (to - at > 3 && at[1] == '#') {
        size_t length;
        if (undo_entity_number(at, to, out, used, &length))
            return length;
    } else if (to - at > 3 && (at[1] | 32) >= 'a' && (at[1] | 32) <= 'z') {
        size_t number = first_entities[(unsigned char)at[1]];
        for (; number && *entities[number - 1].name == at[1]; number++) {
            const struct entity *entity = &entities[number - 1];
            size_t length = 1;
            while (entity->name[length] && at + 1 + length < to &&
                   at[1 + length] == entity->name[length])
                length++;
            if (entity->name[length])
                continue;
            *used = length + 1;
            out[0] = entity->c;
            return entity->c != 0;
        }
    }
    *used = 1;
    out[0] = *at;
    return 1;
}

/* Tags that begin or end a line. */
static bool breaks_line(const char *name, size_t length)
{
    static const char *const tags[] = { "br", "p",  "div", "li",    "tr",    "pre", "h1",
                                        "h2", "h3", "ul",  "table", "title", "body" };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        if (strlen(tags[i]) != length)
            continue;
        size_t j = 0;
        while (j < length && (name[j] | 32) == (tags[i][j] | 32))
            j++;
        if (j == length)
            return true;
    }
    return false;
}

static bool begins_tag(const char *at, const char *to)
{
    return to - at > 2 &&
           (((at[1] | 32) >= 'a' && (at[1] | 32) <= 'z') || at[1] == '/' || at[1] == '!');
}

/* Where the tag or the comment ends; NULL if it does not, or if another one begins before. */
static const char *tag_end(const char *at, size_t most)
{
    bool comment = most > 4 && memcmp(at, "<!--", 4) == 0;
    for (size_t i = 4; comment && i + 3 <= most; i++) {
        if (memcmp(at + i, "-->", 3) == 0)
            return at + i + 2;
        if (at[i] == '<' && at[i + 1] == '!')
            return NULL;
    }
    if (comment)
        return NULL;
    for (size_t i = 1; i < most && at[i] != '<'; i++)
        if (at[i] == '>')
            return at + i;
    return NULL;
}

/* A tag is left out, or becomes a line feed. */
static size_t undo_tag(const char *at, const char *to, char *out, size_t *used)
{
    size_t most = (size_t)(to - at) < LONGEST_TAG ? (size_t)(to - at) : LONGEST_TAG;
    const char *close = begins_tag(at, to) ? tag_end(at, most) : NULL;
    *used = 1;
    out[0] = *at;
    if (!close)
        return 1;
    const char *name = at[1] == '/' ? at + 2 : at + 1, *end = name;
    while (end < close && ((*end | 32) >= 'a' ? (*end | 32) <= 'z' : *end >= '0' && *end <= '9'))
        end++;
    *used = (size_t)(close - at) + 1;
    if (end - name == 2 && (*name | 32) == 't' &&
        ((name[1] | 32) == 'd' || (name[1] | 32) == 'h')) {
        out[0] = '\t'; /* cells of a table stand apart */
        return 1;
    }
    out[0] = '\n';
    return breaks_line(name, (size_t)(end - name)) ? 1 : 0;
}

/* Is there something to undo at this & or <? */
static bool is_html_escape(const char *at, const char *to)
{
    if (*at == '<')
        return begins_tag(at, to);
    if (to - at > 3 && at[1] == '#')
        return true;
    size_t most = (size_t)(to - at) < LONGEST_ENTITY ? (size_t)(to - at) : LONGEST_ENTITY;
    return memchr(at, ';', most);
}

/* The next & or <, looked for in short pieces, so that many of one kind do not make the search for
 * the other long. */
static const char *html_escaped(const char *at, const char *to)
{
    enum { PIECE = 512 };
    while (at < to) {
        const char *end = to - at > PIECE ? at + PIECE : to;
        while (at < end) {
            const char *tag = memchr(at, '<', (size_t)(end - at));
            const char *entity = memchr(at, '&', (size_t)((tag ? tag : end) - at));
            const char *first = entity ? entity : tag;
            if (!first)
                break;
            if (is_html_escape(first, to))
                return first;
            at = first + 1;
        }
        at = end;
    }
    return to;
}

/* -- both -------------------------------------------------------------------------------------- */

const char *mishap_leak_escaped(mishap_leak_escape escape, const char *at, const char *to)
{
    return escape == MISHAP_LEAK_JSON ? json_escaped(at, to) : html_escaped(at, to);
}

static inline bool is_special(mishap_leak_escape escape, char c)
{
    return escape == MISHAP_LEAK_JSON ? c == '\\' : c == '&' || c == '<';
}

/* The next character that may begin an escape; `to` if there is none. */
static inline const char *next_special(mishap_leak_escape escape, const char *at, const char *to)
{
    typedef unsigned char lanes __attribute__((vector_size(16)));
    for (int i = 0; to - at >= 16; at += 16, i++) {
        lanes now;
        uint64_t halves[2];
        memcpy(&now, at, sizeof now);
        lanes special = escape == MISHAP_LEAK_JSON ? (lanes)(now == '\\')
                                                   : (lanes)(now == '&') | (lanes)(now == '<');
        memcpy(halves, &special, sizeof halves);
        if (halves[0])
            return at + (size_t)__builtin_ctzll(le64toh(halves[0])) / 8;
        if (halves[1])
            return at + 8 + (size_t)__builtin_ctzll(le64toh(halves[1])) / 8;
        if (i == 4 && escape == MISHAP_LEAK_JSON) { /* they are rare */
            const char *found = memchr(at + 16, '\\', (size_t)(to - at - 16));
            return found ? found : to;
        }
    }
    while (at < to && !is_special(escape, *at))
        at++;
    return at;
}

static inline size_t undo_one(mishap_leak_escape escape, const char *at, const char *to, char *out,
                              size_t *used)
{
    if (escape == MISHAP_LEAK_JSON)
        return undo_json_one(at, to, out, used);
    return *at == '&' ? undo_entity(at, to, out, used) : undo_tag(at, to, out, used);
}

size_t mishap_leak_undo(mishap_leak_escape escape, const char *from, const char *to, char *out,
                        mishap_leak_mark *marks)
{
    size_t done = 0, next = 0, used; /* `next`: the next mark is for this byte of the result */
    const char *at = from;
    while (at < to) {
        const char *special = is_special(escape, *at) ? at : next_special(escape, at, to);
        size_t length = (size_t)(special - at);
        for (; marks && next < done + length; next += MISHAP_LEAK_MARK)
            marks[next / MISHAP_LEAK_MARK] = (mishap_leak_mark){
                (uint16_t)next, (uint16_t)((size_t)(at - from) + next - done)
            };
        if (length <= 16 && to - at >= 16)
            memcpy(out + done, at, 16); /* `out` has room for it, and no call is made */
        else
            memcpy(out + done, at, length);
        done += length;
        at = special;
        if (at == to)
            break;
        char bytes[4];
        length = undo_one(escape, at, to, bytes, &used);
        for (; marks && next < done + length; next += MISHAP_LEAK_MARK)
            marks[next / MISHAP_LEAK_MARK] = (mishap_leak_mark){ (uint16_t)done,
                                                                 (uint16_t)(at - from) };
        if (length == 1)
            out[done] = *bytes;
        else
            memcpy(out + done, bytes, length);
        done += length;
        at += used;
    }
    if (marks) /* for the end of the result */
        for (; next <= done; next += MISHAP_LEAK_MARK)
            marks[next / MISHAP_LEAK_MARK] = (mishap_leak_mark){ (uint16_t)done,
                                                                 (uint16_t)(at - from) };
    return done;
}

bool mishap_leak_undoes_to(mishap_leak_escape escape, const char *from, const char *to,
                           const char *text, size_t length)
{
    const char *at = from;
    while (at < to) {
        const char *special = next_special(escape, at, to);
        size_t run = (size_t)(special - at), used;
        if (run > length || memcmp(text, at, run) != 0)
            return false;
        text += run;
        length -= run;
        at = special;
        if (at == to)
            break;
        char bytes[4];
        run = undo_one(escape, at, to, bytes, &used);
        if (run > length || memcmp(text, bytes, run) != 0)
            return false;
        text += run;
        length -= run;
        at += used;
    }
    return length == 0;
}

size_t mishap_leak_way_back(mishap_leak_escape escape, const char *from, const char *to,
                            const mishap_leak_mark *marks, mishap_leak_mark *last, size_t at,
                            bool end)
{
    /* An end is looked for from the byte before it. */
    mishap_leak_mark mark = marks[(end && at ? at - 1 : at) / MISHAP_LEAK_MARK];
    if (last->in > mark.in && (end ? last->out < at : last->out <= at))
        mark = *last;
    size_t out = mark.out;
    const char *in = from + mark.in;
    char bytes[4];
    for (;;) {
        if (in < to && out < at) {
            const char *far = (size_t)(to - in) > at - out ? in + (at - out) : to;
            const char *special = next_special(escape, in, far);
            out += (size_t)(special - in);
            in = special;
        }
        if (in == to || (out >= at && (end || !is_special(escape, *in))))
            break;
        size_t used, length = undo_one(escape, in, to, bytes, &used);
        if (!end && out + length > at)
            break;
        out += length;
        in += used;
    }
    *last = (mishap_leak_mark){ (uint16_t)out, (uint16_t)(in - from) };
    return (size_t)(in - from);
}
