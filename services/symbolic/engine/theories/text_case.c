/*
 * The case of unknown characters, by CPython's own tables. A character that becomes one character
 * is exact, except for "Σ": which of two letters it becomes depends on those around it, and is a
 * guess (path_guess()). A character that becomes several, such as "ß", is exact in a short str. In
 * a longer str the path forks on the length of the result, and the characters are guesses, with the
 * condition that a character without a case in the result was in the str before.
 */
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

enum {
    SHORT = 8,
    LAST_PLAIN = 0xff,
    LAST_LETTER = 0x2ffff,
    SIGMA = 0x3a3,
    SMALL = 0x3c3,
    FINAL = 0x3c2
};

static const char rewrite[] = "allow ASCII characters only, as in s.isascii()";

static Z3_ast in_range(machine *m, Z3_ast code, int64_t from, int64_t to)
{
    Z3_context z = m->solver->z;
    return from == to ? Z3_mk_eq(z, code, term_int(m, from))
                      : term_and(m, Z3_mk_ge(z, code, term_int(m, from)),
                                 Z3_mk_le(z, code, term_int(m, to)));
}

/* -- one character for one -----------------------------------------------------------------------
 */

static Z3_ast shifted(machine *m, Z3_ast code, int32_t by)
{
    return by ? Z3_mk_add(m->solver->z, 2, (Z3_ast[]){ code, term_int(m, by) }) : code;
}

/* By a tree of the ranges. */
static Z3_ast by_table(machine *m, Z3_ast code, const character_shift *at, size_t count)
{
    Z3_context z = m->solver->z;
    if (count > 1) {
        size_t half = count / 2;
        return Z3_mk_ite(z, Z3_mk_lt(z, code, term_int(m, at[half].from)),
                         by_table(m, code, at, half), by_table(m, code, at + half, count - half));
    }
    if (count == 0)
        return code;
    Z3_ast made = shifted(m, code, at->by[0]);
    if (at->by[0] != at->by[1]) {
        Z3_ast even = Z3_mk_eq(z, Z3_mk_mod(z, code, term_int(m, 2)), m->solver->zero);
        made = Z3_mk_ite(z, even, made, shifted(m, code, at->by[1]));
    }
    return Z3_mk_ite(z, in_range(m, code, at->from, at->to), made, code);
}

/* One beyond U+FF: exact if it becomes one up to U+FF, as the Kelvin sign becomes "k". */
static Z3_ast turned_beyond(machine *m, Z3_ast code, const char *name)
{
    Z3_context z = m->solver->z;
    size_t count;
    const character_shift *shifts = character_shifts(m, name, false, &count);
    const char *what = arena_print(m->kept, "str.%s of characters beyond U+FF", name);
    Z3_ast other = path_guess(m, m->solver->ints, what, rewrite, code, NULL);
    Z3_ast made = Z3_mk_ite(z, in_range(m, other, LAST_PLAIN + 1, LAST_LETTER), other, code);
    for (size_t i = 0; i < count; i++)
        for (uint32_t c = shifts[i].from; c <= shifts[i].to; c++) {
            int64_t to = (int64_t)c + shifts[i].by[c & 1];
            if (to <= LAST_PLAIN)
                made = Z3_mk_ite(z, Z3_mk_eq(z, code, term_int(m, c)), term_int(m, to), made);
        }
    return made;
}

static Z3_ast turned(machine *m, Z3_ast code, const char *name, bool plain_only)
{
    Z3_context z = m->solver->z;
    size_t count;
    int64_t known;
    uint32_t out[MOST_EXPANDED];
    if (Z3_is_numeral_ast(z, code) && Z3_get_numeral_int64(z, code, &known) &&
        character_turned(m, (uint32_t)known, name, out) == 1)
        return term_int(m, out[0]);
    const character_shift *shifts = character_shifts(m, name, true, &count);
    Z3_ast made = by_table(m, code, shifts, count);
    return plain_only ? made
                      : Z3_mk_ite(z, Z3_mk_le(z, code, term_int(m, LAST_PLAIN)), made,
                                  turned_beyond(m, code, name));
}

/* True if it becomes one character. */
static Z3_ast is_single(machine *m, Z3_ast code, const char *name)
{
    size_t count;
    const character_shift *others = character_others(m, name, &count);
    return Z3_mk_not(m->solver->z, letter_in(m, code, others, count));
}

/* -- all characters of a str ---------------------------------------------------------------------
 */

static const struct {
    const char *name, *first, *next; /* the methods of its characters */
    bool sigma;                      /* does it know the "ς" at the end of a word? */
} methods[] = {
    { "upper", "upper", "upper", false },     { "casefold", "casefold", "casefold", false },
    { "lower", "lower", "lower", true },      { "swapcase", "swapcase", "swapcase", true },
    { "capitalize", "title", "lower", true }, { "title", "title", "lower", true },
};

typedef struct turning {
    machine *m;
    value *of;
    const Z3_ast *codes;
    size_t count, which;
    bool plain_only; /* no character is beyond U+FF */
} turning;

/* "Σ" after a letter may be the end of a word. */
static Z3_ast with_sigma(const turning *t, size_t i, Z3_ast made)
{
    machine *m = t->m;
    Z3_context z = m->solver->z;
    Z3_ast sigma = solver_simplify(m->solver, Z3_mk_eq(z, t->codes[i], term_int(m, SIGMA)));
    if (!methods[t->which].sigma || i == 0 || t->plain_only || solver_is_false(m->solver, sigma))
        return made;
    Z3_ast is_final = path_guess(m, m->solver->bools, "the lower case of \"\xce\xa3\" in a word",
                                 rewrite, value_term(m, t->of), term_int(m, (int64_t)i));
    Z3_ast letter = Z3_mk_ite(z, is_final, term_int(m, FINAL), term_int(m, SMALL));
    return Z3_mk_ite(z, sigma, letter, made);
}

static value *all_single(const turning *t)
{
    machine *m = t->m;
    Z3_context z = m->solver->z;
    Z3_ast *made = arena_take(m->arena, (t->count + 1) * sizeof *made), after = m->solver->no;
    bool title = strcmp(methods[t->which].name, "title") == 0;
    size_t cased_count;
    const character_shift *cased = character_cased(m, &cased_count);
    for (size_t i = 0; i < t->count; i++) {
        Z3_ast code = t->codes[i];
        const char *name = i == 0 ? methods[t->which].first : methods[t->which].next;
        made[i] = with_sigma(t, i, turned(m, code, name, t->plain_only));
        if (title && i > 0)
            made[i] = Z3_mk_ite(z, after, made[i], turned(m, code, "title", t->plain_only));
        after = title ? letter_in(m, code, cased, cased_count) : after;
    }
    return value_letters(m, made, t->count);
}

/* -- what becomes several ------------------------------------------------------------------------
 */

/* A character that surely becomes several: the path forks on how many. */
static size_t expand(machine *m, Z3_ast code, const char *name, Z3_ast made[MOST_EXPANDED])
{
    Z3_context z = m->solver->z;
    size_t count;
    const character_shift *others = character_others(m, name, &count);
    Z3_ast two = m->solver->no;
    for (size_t i = 0; i < MOST_EXPANDED; i++)
        made[i] = m->solver->zero;
    for (size_t i = 0; i < count; i++)
        for (uint32_t c = others[i].from; c <= others[i].to; c++) {
            uint32_t out[MOST_EXPANDED] = { 0 };
            size_t size = character_turned(m, c, name, out);
            Z3_ast is = Z3_mk_eq(z, code, term_int(m, c));
            two = size == 2 ? term_or(m, two, is) : two;
            for (size_t j = 0; j < size && j < MOST_EXPANDED; j++)
                made[j] = Z3_mk_ite(z, is, term_int(m, out[j]), made[j]);
        }
    return path_decide(m, solver_simplify(m->solver, two), true) ? 2 : 3;
}

/* Each character by itself; not for title(), where the character before matters. */
static value *expanded(const turning *t)
{
    machine *m = t->m;
    Z3_ast *made = arena_take(m->arena, (MOST_EXPANDED * t->count + 1) * sizeof *made);
    size_t used = 0;
    for (size_t i = 0; i < t->count; i++) {
        const char *name = i == 0 ? methods[t->which].first : methods[t->which].next;
        if (path_decide(m, solver_simplify(m->solver, is_single(m, t->codes[i], name)), true))
            made[used++] = with_sigma(t, i, turned(m, t->codes[i], name, t->plain_only));
        else
            used += expand(m, t->codes[i], name, made + used);
    }
    return value_letters(m, made, used);
}

/* A character of the result: one that has a case, or is not ASCII, or was there before. */
static Z3_ast guessed_letter(const turning *t, size_t total, size_t i)
{
    machine *m = t->m;
    Z3_context z = m->solver->z;
    const char *what = arena_print(m->kept, "str.%s of characters that become several",
                                   methods[t->which].name);
    Z3_ast place = term_int(m, (int64_t)(total * 1000 + i));
    Z3_ast c = path_guess(m, m->solver->ints, what, rewrite, value_term(m, t->of), place);
    Z3_ast there = term_or(m, in_range(m, c, 128, LAST_LETTER),
                           term_or(m, in_range(m, c, 'a', 'z'), in_range(m, c, 'A', 'Z')));
    for (size_t j = 0; j < t->count; j++)
        there = term_or(m, there, Z3_mk_eq(z, c, t->codes[j]));
    path_assume(m, there);
    bool lower = strcmp(methods[t->which].name, "lower") == 0;
    bool upper = strcmp(methods[t->which].name, "upper") == 0;
    if (lower || strcmp(methods[t->which].name, "casefold") == 0)
        path_assume(m, Z3_mk_not(z, in_range(m, c, 'A', 'Z')));
    if (upper)
        path_assume(m, Z3_mk_not(z, in_range(m, c, 'a', 'z')));
    return c;
}

static value *guessed(const turning *t)
{
    machine *m = t->m;
    const char *what = arena_print(m->kept, "the length of str.%s", methods[t->which].name);
    Z3_ast length = path_guess(m, m->solver->ints, what, rewrite, value_term(m, t->of), NULL);
    bool lower = strcmp(methods[t->which].name, "lower") == 0;
    bool title = strcmp(methods[t->which].name, "title") == 0; /* "\xdf" stays within a word */
    size_t total = t->count + !title, most = (lower ? 2 : MOST_EXPANDED) * t->count;
    while (total < most &&
           !path_decide(m, Z3_mk_le(m->solver->z, length, term_int(m, (int64_t)total)), true))
        total++;
    Z3_ast *codes = arena_take(m->arena, total * sizeof *codes);
    for (size_t i = 0; i < total; i++)
        codes[i] = guessed_letter(t, total, i);
    return value_letters(m, codes, total);
}

value *text_case(machine *m, value *self, const char *name)
{
    enum { COUNT = sizeof methods / sizeof *methods };
    Z3_context z = m->solver->z;
    turning t = { .m = m };
    while (t.which < COUNT && strcmp(name, methods[t.which].name) != 0)
        t.which++;
    if (t.which == COUNT)
        return NULL;
    t.of = text_settled(m, self);
    t.count = t.of->str.count;
    t.codes = value_codes(m, t.of);
    Z3_ast single = m->solver->yes, plain = m->solver->yes;
    bool title = strcmp(name, "title") == 0;
    for (size_t i = 0; i < t.count; i++) {
        const char *of = i == 0 ? methods[t.which].first : methods[t.which].next;
        single = term_and(m, single, is_single(m, t.codes[i], of));
        if (title && i > 0)
            single = term_and(m, single, is_single(m, t.codes[i], "title"));
        plain = term_and(m, plain, Z3_mk_le(z, t.codes[i], term_int(m, LAST_PLAIN)));
    }
    if (path_decide(m, solver_simplify(m->solver, single), true)) {
        t.plain_only = path_sure(m, solver_simplify(m->solver, plain));
        return all_single(&t);
    }
    bool few = t.count == 1 || (t.count == 2 && !title) ||
               (strcmp(name, "lower") == 0 && t.count <= SHORT);
    return few ? expanded(&t) : guessed(&t);
}
