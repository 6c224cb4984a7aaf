/*
 * The case of characters that are not known. It is exact up to U+FF. Beyond that a character
 * becomes another one that is a guess (path_guess()); a str with one that becomes several, such as
 * "ß", or depends on those around it, becomes a str that is a guess.
 */
#include <string.h>

#include "machine/machine.h"

enum { LAST_PLAIN = 0xff, LAST_LETTER = 0x2ffff };

static const char rewrite[] = "allow ASCII characters only, as in s.isascii()";

static Z3_ast number(machine *m, int64_t n)
{
    return Z3_mk_int64(m->solver->z, n, m->solver->ints);
}

static Z3_ast in_range(machine *m, Z3_ast code, const character_shift *range)
{
    Z3_context z = m->solver->z;
    Z3_ast ends[] = { Z3_mk_ge(z, code, number(m, range->from)),
                      Z3_mk_le(z, code, number(m, range->to)) };
    return range->from == range->to ? Z3_mk_eq(z, code, number(m, range->from))
                                    : Z3_mk_and(z, 2, ends);
}

/* One of U+0 to U+FF. */
static Z3_ast turned_plain(machine *m, Z3_ast code, const char *name)
{
    Z3_context z = m->solver->z;
    size_t count;
    const character_shift *shifts = character_shifts(name, &count);
    Z3_ast made = code;
    for (size_t i = count; i-- > 0;)
        made = Z3_mk_ite(z, in_range(m, code, &shifts[i]),
                         Z3_mk_add(z, 2, (Z3_ast[]){ code, number(m, shifts[i].by) }), made);
    return made;
}

static Z3_ast turned(machine *m, Z3_ast code, const char *name)
{
    Z3_context z = m->solver->z;
    const char *what = arena_print(m->kept, "str.%s of characters beyond U+FF", name);
    Z3_ast other = path_guess(m, m->solver->ints, what, rewrite, code, NULL);
    Z3_ast within[] = { Z3_mk_ge(z, other, m->solver->zero),
                        Z3_mk_le(z, other, number(m, LAST_LETTER)) };
    other = Z3_mk_ite(z, Z3_mk_and(z, 2, within), other, code);
    return Z3_mk_ite(z, Z3_mk_le(z, code, number(m, LAST_PLAIN)), turned_plain(m, code, name),
                     other);
}

/* Does it become one character, whatever is around it? */
static Z3_ast is_single(machine *m, Z3_ast code, const char *name, bool plain_only)
{
    Z3_context z = m->solver->z;
    size_t count;
    const character_shift *others = character_others(name, &count);
    Z3_ast sharp = Z3_mk_not(z, Z3_mk_eq(z, code, number(m, 0xdf)));
    bool expands = strcmp(name, "lower") != 0; /* "ß" is the only one of U+0 to U+FF */
    Z3_ast plain = Z3_mk_le(z, code, number(m, LAST_PLAIN));
    if (plain_only)
        return Z3_mk_and(z, 2, (Z3_ast[]){ plain, sharp });
    Z3_ast good = m->solver->yes;
    for (size_t i = 0; i < count; i++)
        good = Z3_mk_and(z, 2, (Z3_ast[]){ good, Z3_mk_not(z, in_range(m, code, &others[i])) });
    return Z3_mk_ite(z, plain, expands ? sharp : m->solver->yes, good);
}

/* title(): upper case after what has no case, lower case after what has. capitalize(): the first.
 */
static void by_place(machine *m, const Z3_ast *codes, size_t count, bool title, Z3_ast *made)
{
    Z3_context z = m->solver->z;
    Z3_ast after = m->solver->no;
    for (size_t i = 0; i < count; i++) {
        Z3_ast up = turned_plain(m, codes[i], "title"), low = turned_plain(m, codes[i], "lower");
        made[i] = title ? Z3_mk_ite(z, after, low, up) : i == 0 ? up : low;
        after = Z3_mk_or(
            z, 2,
            (Z3_ast[]){ letter_is(m, codes[i], "isupper"), letter_is(m, codes[i], "islower") });
    }
}

value *text_case(machine *m, value *self, const char *name)
{
    static const char *const names[] = { "upper",    "lower", "casefold",
                                         "swapcase", "title", "capitalize" };
    enum { COUNT = sizeof names / sizeof *names, BY_PLACE = 4 };
    Z3_context z = m->solver->z;
    size_t which = 0;
    while (which < COUNT && strcmp(name, names[which]) != 0)
        which++;
    if (which == COUNT)
        return NULL;
    name = names[which]; /* it outlives the path */
    value *settled = text_settled(m, self);
    size_t count = settled->str.count;
    const Z3_ast *codes = value_codes(m, settled);
    Z3_ast *made = arena_take(m->arena, (count + 1) * sizeof *made), single = m->solver->yes;
    for (size_t i = 0; i < count; i++)
        single = Z3_mk_and(z, 2,
                           (Z3_ast[]){ single, is_single(m, codes[i], name, which >= BY_PLACE) });
    if (!path_decide(m, single, true)) {
        const char *what = arena_print(m->kept, "str.%s of characters that are not ASCII", name);
        Z3_ast other = path_guess(m, m->solver->strings_sort, what, rewrite, value_term(m, settled),
                                  NULL);
        Z3_ast length = Z3_mk_seq_length(z, other);
        path_assume(m, Z3_mk_ge(z, length, number(m, (int64_t)count)));
        path_assume(m, Z3_mk_le(z, length, number(m, 3 * (int64_t)count)));
        return value_of_str(m, other);
    }
    if (which >= BY_PLACE)
        by_place(m, codes, count, strcmp(name, "title") == 0, made);
    for (size_t i = 0; which < BY_PLACE && i < count; i++)
        made[i] = turned(m, codes[i], name);
    return value_letters(m, made, count);
}
