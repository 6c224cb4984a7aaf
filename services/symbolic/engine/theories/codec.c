/* Bytes as text and text as bytes: decode(), encode() and hex(). */
#include <stdio.h>
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

enum { LAST_EXACT = 0x2ff00 }; /* see value.c */

typedef enum codec { ASCII, LATIN, UTF_8 } codec;

static bool within(machine *m, Z3_ast code, int64_t from, int64_t to)
{
    Z3_context z = m->solver->z;
    Z3_ast both_of[] = { Z3_mk_ge(z, code, term_int(m, from)), Z3_mk_le(z, code, term_int(m, to)) };
    return path_decide(m, solver_simplify(m->solver, Z3_mk_and(z, 2, both_of)), true);
}

/* Are all of them at most `last`? */
static bool all_below(machine *m, const Z3_ast *codes, size_t count, int64_t last)
{
    Z3_context z = m->solver->z;
    Z3_ast *each = arena_take(m->arena, (count + 1) * sizeof *each);
    for (size_t i = 0; i < count; i++)
        each[i] = Z3_mk_le(z, codes[i], term_int(m, last));
    return count == 0 ||
           path_decide(m, solver_simplify(m->solver, Z3_mk_and(z, (unsigned)count, each)), true);
}

static bool says(const value *v, const char *word)
{
    size_t length = strlen(word);
    if (v->kind != V_STR || !v->known || v->str.count != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        uint32_t c = v->str.chars[i];
        c = c >= 'A' && c <= 'Z' ? c + 32 : c == '_' ? '-' : c;
        if (c != (unsigned char)word[i])
            return false;
    }
    return true;
}

/* The arguments of decode() and encode(). False: raised. */
static bool codec_of(machine *m, arguments *given, codec *out, int line)
{
    static const struct {
        const char *name;
        codec is;
    } names[] = { { "utf-8", UTF_8 },     { "utf8", UTF_8 },    { "ascii", ASCII },
                  { "us-ascii", ASCII },  { "latin-1", LATIN }, { "latin1", LATIN },
                  { "iso-8859-1", LATIN } };
    const value *name = keyword_argument(given, "encoding");
    const value *errors = keyword_argument(given, "errors");
    size_t places = given->places.count;
    if (!arguments_fit(m, given, 0, (name ? 0 : 1) + (errors ? 0 : 1), line))
        return false;
    if ((name && places) || (errors && places > 1)) {
        throw(m, "TypeError", line);
        return false;
    }
    name = places > 0 ? given->places.at[0] : name;
    errors = places > 1 ? given->places.at[1] : errors;
    if ((name && name->kind != V_STR) || (errors && errors->kind != V_STR)) {
        throw(m, "TypeError", line);
        return false;
    }
    if (errors && !value_says(errors, "strict"))
        path_unsupported(m, line, "leave it out", "`errors` of a codec");
    *out = UTF_8;
    bool found = !name;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (says(name, names[i].name)) {
            *out = names[i].is;
            found = true;
        }
    if (!found)
        path_unsupported(m, line, "use utf-8, ascii or latin-1", "this encoding");
    return true;
}

/* -- decode() ---------------------------------------------------------------------------------- */

/* The bytes that may begin a character of several bytes, how many follow, and the range of the
 * second one: no surrogates, nothing beyond U+10FFFF, and no overlong forms. */
static const struct {
    int from, to, more, low, high;
} leads[] = { { 0xc2, 0xdf, 1, 0x80, 0xbf }, { 0xe0, 0xe0, 2, 0xa0, 0xbf },
              { 0xe1, 0xec, 2, 0x80, 0xbf }, { 0xed, 0xed, 2, 0x80, 0x9f },
              { 0xee, 0xef, 2, 0x80, 0xbf }, { 0xf0, 0xf0, 3, 0x90, 0xbf },
              { 0xf1, 0xf3, 3, 0x80, 0xbf }, { 0xf4, 0xf4, 3, 0x80, 0x8f } };

/* The character at a place, and its number of bytes; 0: it is invalid. */
static size_t character_at(machine *m, const Z3_ast *codes, size_t left, Z3_ast *out, int line)
{
    Z3_context z = m->solver->z;
    if (within(m, codes[0], 0, 0x7f)) {
        *out = codes[0];
        return 1;
    }
    size_t lead = 0, most = sizeof leads / sizeof *leads;
    while (lead < most && !within(m, codes[0], leads[lead].from, leads[lead].to))
        lead++;
    if (lead == most || left < (size_t)leads[lead].more + 1)
        return 0;
    int more = leads[lead].more, base = more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0;
    Z3_ast sum = Z3_mk_sub(z, 2, (Z3_ast[]){ codes[0], term_int(m, base) });
    for (int i = 1; i <= more; i++) {
        if (!within(m, codes[i], i == 1 ? leads[lead].low : 0x80, i == 1 ? leads[lead].high : 0xbf))
            return 0;
        Z3_ast part = Z3_mk_sub(z, 2, (Z3_ast[]){ codes[i], term_int(m, 0x80) });
        Z3_ast shifted = Z3_mk_mul(z, 2, (Z3_ast[]){ sum, term_int(m, 64) });
        sum = Z3_mk_add(z, 2, (Z3_ast[]){ shifted, part });
    }
    if (more == 3 && !within(m, sum, 0, LAST_EXACT))
        path_unsupported(m, line, "allow ASCII only, as in data.isascii()",
                         "a character beyond U+2FF00");
    *out = sum;
    return (size_t)more + 1;
}

value *bytes_decode(machine *m, value *self, arguments *given, int line)
{
    codec by;
    if (!codec_of(m, given, &by, line))
        return NULL;
    if (by == LATIN)
        return self->bytes.text;
    if (self->bytes.text->known) {
        values one = { &self, 1, 1 };
        return bridge(m, by == ASCII ? "a.decode('ascii')" : "a.decode()", &one, line);
    }
    value *view = text_settled(m, self->bytes.text);
    const Z3_ast *codes = value_codes(m, view);
    size_t count = view->str.count, used = 0;
    if (all_below(m, codes, count, 0x7f))
        return view;
    if (by == ASCII)
        return throw(m, "UnicodeDecodeError", line);
    Z3_ast *made = arena_take(m->arena, (count + 1) * sizeof *made);
    for (size_t i = 0; i < count;) {
        size_t size = character_at(m, codes + i, count - i, &made[used], line);
        if (size == 0)
            return throw(m, "UnicodeDecodeError", line);
        used++;
        i += size;
    }
    return value_letters(m, made, used);
}

/* -- encode() ---------------------------------------------------------------------------------- */

/* The bytes of a character; 0: it is half of a surrogate pair. */
static size_t bytes_of(machine *m, Z3_ast code, Z3_ast *out, int line)
{
    Z3_context z = m->solver->z;
    if (within(m, code, 0, 0x7f)) {
        out[0] = code;
        return 1;
    }
    if (within(m, code, 0xd800, 0xdfff))
        return 0;
    size_t size = within(m, code, 0, 0x7ff) ? 2 : within(m, code, 0, 0xffff) ? 3 : 4;
    if (size == 4 && !within(m, code, 0, LAST_EXACT))
        path_unsupported(m, line, "allow ASCII characters only, as in s.isascii()",
                         "encode() of a character beyond U+2FF00");
    Z3_ast digits[4];
    letters_digits(m, code, 64, size, digits);
    for (size_t i = 0; i < size; i++)
        out[i] = Z3_mk_add(z, 2,
                           (Z3_ast[]){ digits[i], term_int(m, i > 0       ? 0x80
                                                              : size == 2 ? 0xc0
                                                              : size == 3 ? 0xe0
                                                                          : 0xf0) });
    return size;
}

value *text_encode(machine *m, value *self, arguments *given, int line)
{
    codec by;
    if (!codec_of(m, given, &by, line))
        return NULL;
    if (self->known) {
        values one = { &self, 1, 1 };
        return bridge(m,
                      by == ASCII   ? "a.encode('ascii')"
                      : by == LATIN ? "a.encode('latin-1')"
                                    : "a.encode()",
                      &one, line);
    }
    value *view = text_settled(m, self);
    const Z3_ast *codes = value_codes(m, view);
    size_t count = view->str.count, used = 0;
    if (all_below(m, codes, count, by == LATIN ? 0xff : 0x7f))
        return value_bytes(m, view);
    if (by != UTF_8)
        return throw(m, "UnicodeEncodeError", line);
    Z3_ast *made = arena_take(m->arena, (4 * count + 1) * sizeof *made);
    for (size_t i = 0; i < count; i++) {
        size_t size = bytes_of(m, codes[i], made + used, line);
        if (size == 0)
            return throw(m, "UnicodeEncodeError", line);
        used += size;
    }
    return value_bytes(m, value_letters(m, made, used));
}

/* -- hex() ------------------------------------------------------------------------------------- */

value *bytes_hex(machine *m, value *self)
{
    Z3_context z = m->solver->z;
    value *view = text_settled(m, self->bytes.text);
    const Z3_ast *codes = value_codes(m, view);
    Z3_ast *made = arena_take(m->arena, (2 * view->str.count + 1) * sizeof *made);
    for (size_t i = 0; i < view->str.count; i++) {
        Z3_ast digits[2];
        letters_digits(m, codes[i], 16, 2, digits);
        for (size_t j = 0; j < 2; j++)
            made[2 * i + j] = Z3_mk_add(
                z, 2,
                (Z3_ast[]){ digits[j], Z3_mk_ite(z, Z3_mk_lt(z, digits[j], term_int(m, 10)),
                                                 term_int(m, '0'), term_int(m, 'a' - 10)) });
    }
    return value_letters(m, made, 2 * view->str.count);
}
