/*
 * Characters of strs that are not known: which are digits, letters, blanks. This is exact up to
 * U+FF, and for blanks. For other characters it is a guess (path_guess()), and guesses are
 * consistent: a decimal is a digit, and a digit is numeric.
 */
#include <string.h>

#include "base/base.h"
#include "theories/theories.h"
#include "machine/terms.h"

enum { LAST_PLAIN = 0xff };

static const char rewrite[] = "allow ASCII characters only, as in s.isascii()";

static Z3_ast any_of(machine *m, const Z3_ast *terms, unsigned count)
{
    return count == 0   ? m->solver->no
           : count == 1 ? terms[0]
                        : Z3_mk_or(m->solver->z, count, terms);
}

static Z3_ast in_range(machine *m, Z3_ast code, uint32_t from, uint32_t to)
{
    Z3_context z = m->solver->z;
    Z3_ast ends[] = { Z3_mk_ge(z, code, term_int(m, from)), Z3_mk_le(z, code, term_int(m, to)) };
    return from == to ? Z3_mk_eq(z, code, ends[0] = term_int(m, from)) : Z3_mk_and(z, 2, ends);
}

/* Those of U+0 to U+FF, as ranges. `continues`: those that may follow in an identifier. */
static Z3_ast plain_class(machine *m, Z3_ast code, const char *name, bool continues)
{
    Z3_ast each[LAST_PLAIN + 1];
    unsigned count = 0;
    for (uint32_t from = 0; from <= LAST_PLAIN; from++) {
        uint32_t to = from;
        while (to <= LAST_PLAIN &&
               (continues ? character_continues(m, to) : character_is(m, to, name)))
            to++;
        if (to == from)
            continue;
        each[count++] = in_range(m, code, from, to - 1);
        from = to;
    }
    return any_of(m, each, count);
}

static Z3_ast blank(machine *m, Z3_ast code)
{
    static const struct {
        uint32_t from, to;
    } blanks[] = { { 9, 13 },          { 28, 32 },         { 0x85, 0x85 },     { 0xa0, 0xa0 },
                   { 0x1680, 0x1680 }, { 0x2000, 0x200a }, { 0x2028, 0x2029 }, { 0x202f, 0x202f },
                   { 0x205f, 0x205f }, { 0x3000, 0x3000 } };
    enum { COUNT = sizeof blanks / sizeof *blanks };
    Z3_ast terms[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        terms[i] = in_range(m, code, blanks[i].from, blanks[i].to);
    return any_of(m, terms, COUNT);
}

/* As a tree: the number of comparisons grows with the depth, not with the number of ranges. */
Z3_ast letter_in(machine *m, Z3_ast code, const character_shift *ranges, size_t count)
{
    Z3_context z = m->solver->z;
    if (count <= 1)
        return count ? in_range(m, code, ranges->from, ranges->to) : m->solver->no;
    size_t half = count / 2;
    return Z3_mk_ite(z, Z3_mk_lt(z, code, term_int(m, ranges[half].from)),
                     letter_in(m, code, ranges, half),
                     letter_in(m, code, ranges + half, count - half));
}

static Z3_ast guessed(machine *m, Z3_ast code, const char *name)
{
    const char *what = arena_print(m->kept, "str.%s of characters beyond U+FF", name);
    return path_guess(m, m->solver->bools, what, rewrite, code, NULL);
}

/* Those of long ranges that repr() writes as they are, and a guess of the others. */
static Z3_ast printable(machine *m, Z3_ast code, const character_shift *at, size_t count,
                        Z3_ast guess)
{
    Z3_context z = m->solver->z;
    if (count <= 1)
        return Z3_mk_ite(z, in_range(m, code, at->from, at->to),
                         at->by[0] ? m->solver->yes : m->solver->no, guess);
    size_t half = count / 2;
    return Z3_mk_ite(z, Z3_mk_lt(z, code, term_int(m, at[half].from)),
                     printable(m, code, at, half, guess),
                     printable(m, code, at + half, count - half, guess));
}

Z3_ast letter_is(machine *m, Z3_ast code, const char *name)
{
    Z3_context z = m->solver->z;
    int64_t known;
    if (Z3_is_numeral_ast(z, code) && Z3_get_numeral_int64(z, code, &known))
        return character_is(m, (uint32_t)known, name) ? m->solver->yes : m->solver->no;
    if (is_word(name, "isspace"))
        return blank(m, code);
    if (is_word(name, "isascii"))
        return Z3_mk_le(z, code, term_int(m, 127));
    if (is_word(name, "isalnum"))
        return term_or(m, letter_is(m, code, "isalpha"), letter_is(m, code, "isnumeric"));
    Z3_ast other = guessed(m, code, name);
    if (is_word(name, "isdigit") || is_word(name, "isnumeric"))
        other = term_or(m, other, guessed(m, code, "isdecimal"));
    if (is_word(name, "isnumeric"))
        other = term_or(m, other, guessed(m, code, "isdigit"));
    if (is_word(name, "isprintable")) {
        size_t count;
        const character_shift *at = character_printable(&count);
        other = printable(m, code, at, count, other);
    }
    return Z3_mk_ite(z, Z3_mk_le(z, code, term_int(m, LAST_PLAIN)),
                     plain_class(m, code, name, false), other);
}

void text_characters(machine *m, value *of, values *out, int line)
{
    (void)line;
    *out = (values){ 0 };
    const value *settled = text_settled(m, of);
    for (size_t i = 0; i < settled->str.count; i++)
        values_add(m, out,
                   settled->known ? value_str(m, settled->str.chars + i, 1)
                                  : letters_part(m, settled, i, 1));
}

value *text_is_blank(machine *m, value *c)
{
    return value_of_bool(m, letter_is(m, value_codes(m, text_settled(m, c))[0], "isspace"));
}

/* -- all characters of a str ---------------------------------------------------------------------
 */

/* isupper(): an upper-case letter, and none of lower or title case; islower() the other way around.
 */
static value *cased(machine *m, const Z3_ast *codes, size_t count, const char *name)
{
    Z3_context z = m->solver->z;
    bool upper = is_word(name, "isupper");
    Z3_ast some = m->solver->no, none = m->solver->yes;
    for (size_t i = 0; i < count; i++) {
        Z3_ast wrong = term_or(m, letter_is(m, codes[i], upper ? "islower" : "isupper"),
                               Z3_mk_and(z, 2,
                                         (Z3_ast[]){ Z3_mk_gt(z, codes[i], term_int(m, LAST_PLAIN)),
                                                     guessed(m, codes[i], "istitle") }));
        some = term_or(m, some, letter_is(m, codes[i], name));
        none = Z3_mk_and(z, 2, (Z3_ast[]){ none, Z3_mk_not(z, wrong) });
    }
    return value_of_bool(m, Z3_mk_and(z, 2, (Z3_ast[]){ some, none }));
}

/* istitle(): upper case after what has no case, lower case after what has, and at least one. */
static value *titled(machine *m, const Z3_ast *codes, size_t count)
{
    Z3_context z = m->solver->z;
    Z3_ast some = m->solver->no, good = m->solver->yes, after = m->solver->no;
    for (size_t i = 0; i < count; i++) {
        Z3_ast up = letter_is(m, codes[i], "isupper"), low = letter_is(m, codes[i], "islower");
        Z3_ast wrong = Z3_mk_ite(z, after, up, low);
        good = Z3_mk_and(z, 2, (Z3_ast[]){ good, Z3_mk_not(z, wrong) });
        after = term_or(m, up, low);
        some = term_or(m, some, after);
    }
    return value_of_bool(m, Z3_mk_and(z, 2, (Z3_ast[]){ some, good }));
}

static value *identifier(machine *m, const Z3_ast *codes, size_t count)
{
    Z3_context z = m->solver->z;
    Z3_ast result = count ? m->solver->yes : m->solver->no;
    for (size_t i = 0; i < count; i++) {
        Z3_ast other = guessed(m, codes[i], i ? "isidentifier (within)" : "isidentifier");
        Z3_ast one = Z3_mk_ite(z, Z3_mk_le(z, codes[i], term_int(m, LAST_PLAIN)),
                               plain_class(m, codes[i], "isidentifier", i > 0), other);
        result = Z3_mk_and(z, 2, (Z3_ast[]){ result, one });
    }
    return value_of_bool(m, result);
}

value *text_class(machine *m, value *self, const char *name, int line)
{
    static const char *const each[] = { "isdigit", "isdecimal", "isnumeric", "isalpha",
                                        "isalnum", "isspace",   "isascii",   "isprintable" };
    bool simple = false;
    (void)line;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        simple = simple || is_word(name, each[i]);
    bool others = is_word(name, "isupper") || is_word(name, "islower") ||
                  is_word(name, "istitle") || is_word(name, "isidentifier");
    if (!simple && !others)
        return text_case(m, self, name);
    const value *settled = text_settled(m, self);
    size_t count = settled->str.count;
    const Z3_ast *codes = value_codes(m, settled);
    if (is_word(name, "istitle")) {
        for (size_t i = 0; i < count; i++)
            if (!path_decide(m, Z3_mk_le(m->solver->z, codes[i], term_int(m, LAST_PLAIN)), true))
                return value_of_bool(m, path_guess(m, m->solver->bools,
                                                   "str.istitle of characters beyond U+FF", rewrite,
                                                   value_term(m, settled), NULL));
        return titled(m, codes, count);
    }
    if (is_word(name, "isidentifier"))
        return identifier(m, codes, count);
    if (others)
        return cased(m, codes, count, name);
    bool may_be_empty = is_word(name, "isascii") || is_word(name, "isprintable");
    value *result = value_bool(m, may_be_empty || count > 0);
    for (size_t i = 0; i < count; i++)
        result = both(m, result, value_of_bool(m, letter_is(m, codes[i], name)));
    return result;
}
