/*
 * Strs whose length is known, as code points. Questions about them are questions about ints, which
 * the solvers decide much faster than those of the theory of strings (solver/letters.h).
 */
#include <stdlib.h>
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

enum {
    MOST_UNBOUNDED = 8,   /* characters of a str whose length has no bound, */
    MOST_BOUNDED = 64,    /* … of another one */
    LAST_EXACT = 0x2ff00, /* see LAST_CHARACTER in value.c: what is beyond stands for any such */
    LAST_OF_PYTHON = 0x10ffff,
};

static value *with_codes(machine *m, value *of, const Z3_ast *codes, size_t count)
{
    value *made = of;
    if (m->path.speculating) { /* it may hold on one side of a condition only */
        made = value_new(m, V_STR);
        made->term = of->term;
        made->above = of->above;
    }
    made->str.codes = codes;
    made->str.count = count;
    return count ? made : value_ascii(m, "");
}

/* A digit is a remainder of a quotient. For the solvers it is easier to have an int for each digit,
 * and the number as their sum. */
void letters_digits(machine *m, Z3_ast size, int base, size_t count, Z3_ast *digits)
{
    Z3_context z = m->solver->z;
    Z3_ast sum = m->solver->zero, radix = term_int(m, base), power = m->solver->one;
    bool fresh = !m->path.speculating && !Z3_is_numeral_ast(z, solver_simplify(m->solver, size));
    for (size_t i = count; i-- > 0;) {
        Z3_ast quotient = Z3_mk_div(z, size, power);
        digits[i] = i == 0 ? quotient : Z3_mk_mod(z, quotient, radix);
        if (fresh) { /* the name keeps it out of conditions that are shown */
            const char *name = arena_print(m->arena, "guess digit %u %d %zu %zu",
                                           Z3_get_ast_id(z, size), base, count, i);
            digits[i] = Z3_mk_const(z, Z3_mk_string_symbol(z, name), m->solver->ints);
            path_assume(m, Z3_mk_ge(z, digits[i], m->solver->zero));
            path_assume(m, Z3_mk_lt(z, digits[i], radix));
            Z3_ast worth = Z3_mk_mul(z, 2, (Z3_ast[]){ digits[i], power });
            sum = Z3_mk_add(z, 2, (Z3_ast[]){ sum, worth });
        }
        power = Z3_simplify(z, Z3_mk_mul(z, 2, (Z3_ast[]){ power, radix }));
    }
    if (fresh)
        path_assume(m, Z3_mk_eq(z, sum, size));
}

/* str() of an int: its digits. */
static value *settled_digits(machine *m, value *of)
{
    Z3_context z = m->solver->z;
    bool minus = path_decide(m, Z3_mk_lt(z, of->above, m->solver->zero), false);
    Z3_ast size = minus ? Z3_mk_unary_minus(z, of->above) : of->above;
    Z3_ast powers[MOST_BOUNDED] = { m->solver->one }, ten = term_int(m, 10);
    size_t count = 0;
    do {
        if (++count == MOST_BOUNDED)
            path_bound(m, "the number of characters of a str");
        powers[count] = Z3_simplify(z, Z3_mk_mul(z, 2, (Z3_ast[]){ powers[count - 1], ten }));
    } while (!path_decide(m, Z3_mk_lt(z, size, powers[count]), true));
    Z3_ast *codes = arena_take(m->arena, (count + 1) * sizeof *codes), digits[MOST_BOUNDED];
    letters_digits(m, size, 10, count, digits);
    for (size_t i = 0; i < count; i++)
        codes[minus + i] = Z3_mk_add(z, 2, (Z3_ast[]){ digits[i], term_int(m, '0') });
    codes[0] = minus ? term_int(m, '-') : codes[0];
    return with_codes(m, of, codes, count + minus);
}

bool text_is_short(machine *m, const value *of, int64_t most)
{
    Z3_context z = m->solver->z;
    return of->known || of->str.codes ||
           path_sure(m, Z3_mk_le(z, Z3_mk_seq_length(z, of->term), term_int(m, most)));
}

value *text_settled(machine *m, value *of)
{
    Z3_context z = m->solver->z;
    if (of->known || of->str.codes)
        return of;
    if (text_is_pending(of))
        return text_pending_settled(m, of);
    if (of->above)
        return settled_digits(m, of);
    Z3_ast length = Z3_mk_seq_length(z, of->term);
    int64_t count = 0;
    while (!path_decide(m, Z3_mk_eq(z, length, term_int(m, count)), true)) {
        bool more = count < MOST_UNBOUNDED ||
                    (count < MOST_BOUNDED &&
                     (count > MOST_UNBOUNDED || text_is_short(m, of, MOST_BOUNDED)));
        if (!more)
            path_bound(m, "the number of characters of a str");
        count++;
    }
    Z3_ast *codes = arena_take(m->arena, ((size_t)count + 1) * sizeof *codes);
    for (int64_t i = 0; i < count; i++)
        codes[i] = solver_code(m->solver, Z3_mk_seq_at(z, of->term, term_int(m, i)));
    return with_codes(m, of, codes, (size_t)count);
}

value *text_choose(machine *m, Z3_ast condition, value *yes, value *no, bool *joined)
{
    bool letters = yes->str.codes || no->str.codes;
    *joined = text_is_pending(yes) || text_is_pending(no);
    if ((!yes->known && !yes->str.codes) || (!no->known && !no->str.codes) ||
        (!letters && (yes->str.count != no->str.count || yes->str.count > MOST_BOUNDED)))
        return NULL;
    *joined = true;
    if (yes->str.count != no->str.count) /* a fork is cheaper than a choice of strings */
        return NULL;
    const Z3_ast *a = value_codes(m, yes), *b = value_codes(m, no);
    Z3_ast *codes = arena_take(m->arena, (yes->str.count + 1) * sizeof *codes);
    for (size_t i = 0; i < yes->str.count; i++)
        codes[i] = a[i] == b[i] ? a[i] : Z3_mk_ite(m->solver->z, condition, a[i], b[i]);
    return value_letters(m, codes, yes->str.count);
}

/* -- items ---------------------------------------------------------------------------------------
 */

value *letters_part(machine *m, const value *of, size_t first, size_t count)
{
    return value_letters(m, value_codes(m, of) + first, count);
}

value *letters_at(machine *m, const value *of, Z3_ast place)
{
    Z3_context z = m->solver->z;
    const Z3_ast *codes = value_codes(m, of);
    if (!codes) {
        Z3_ast one = solver_code(m->solver, Z3_mk_seq_at(z, value_term(m, of), place));
        return value_letters(m, &one, 1);
    }
    Z3_ast found = codes[of->str.count - 1];
    for (size_t i = of->str.count - 1; i-- > 0;)
        found = Z3_mk_ite(z, Z3_mk_eq(z, place, term_int(m, (int64_t)i)), codes[i], found);
    return value_letters(m, &found, 1);
}

/* -- comparisons ---------------------------------------------------------------------------------
 */

Z3_ast letters_match(machine *m, const Z3_ast *whole, const Z3_ast *part, size_t count)
{
    Z3_context z = m->solver->z;
    Z3_ast *each = arena_take(m->arena, (count + 1) * sizeof *each);
    for (size_t i = 0; i < count; i++)
        each[i] = Z3_mk_eq(z, whole[i], part[i]);
    return count == 0 ? m->solver->yes : Z3_mk_and(z, (unsigned)count, each);
}

static int by_code(const void *l, const void *r)
{
    uint32_t a = *(const uint32_t *)l, b = *(const uint32_t *)r;
    return (a > b) - (a < b);
}

/* A character that is one of known ones: ranges of them are fewer. */
static Z3_ast is_one_of_letters(machine *m, Z3_ast code, const value *known)
{
    Z3_context z = m->solver->z;
    size_t count = known->str.count, used = 0;
    uint32_t *sorted = arena_take(m->arena, (count + 1) * sizeof *sorted);
    Z3_ast *each = arena_take(m->arena, (count + 1) * sizeof *each);
    (void)value_codes(m, known); /* none is beyond the solvers' */
    memcpy(sorted, known->str.chars, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_code);
    for (size_t i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && sorted[last + 1] <= sorted[last] + 1;)
            last++;
        Z3_ast ends[] = { Z3_mk_ge(z, code, term_int(m, sorted[i])),
                          Z3_mk_le(z, code, term_int(m, sorted[last])) };
        each[used++] = sorted[i] == sorted[last] ? Z3_mk_eq(z, code, term_int(m, sorted[i]))
                                                 : Z3_mk_and(z, 2, ends);
    }
    return used == 0 ? m->solver->no : Z3_mk_or(z, (unsigned)used, each);
}

static Z3_ast part_of(machine *m, const value *part, const value *whole)
{
    size_t count = part->str.count, total = whole->str.count;
    if (count > total)
        return m->solver->no;
    if (count == 1 && whole->known)
        return is_one_of_letters(m, value_codes(m, part)[0], whole);
    const Z3_ast *a = value_codes(m, part), *b = value_codes(m, whole);
    Z3_ast *each = arena_take(m->arena, (total - count + 1) * sizeof *each);
    for (size_t i = 0; i + count <= total; i++)
        each[i] = letters_match(m, b + i, a, count);
    return Z3_mk_or(m->solver->z, (unsigned)(total - count + 1), each);
}

/* By the first code points that differ, or by length. */
static Z3_ast before(machine *m, const value *l, const value *r, bool or_equal)
{
    Z3_context z = m->solver->z;
    const Z3_ast *a = value_codes(m, l), *b = value_codes(m, r);
    size_t common = l->str.count < r->str.count ? l->str.count : r->str.count;
    bool end = or_equal ? l->str.count <= r->str.count : l->str.count < r->str.count;
    Z3_ast result = end ? m->solver->yes : m->solver->no;
    for (size_t i = common; i-- > 0;)
        result = Z3_mk_ite(z, Z3_mk_eq(z, a[i], b[i]), result, Z3_mk_lt(z, a[i], b[i]));
    return result;
}

/* A str of known length and one that is an input. */
static Z3_ast equal_to_input(machine *m, const value *letters, const value *input)
{
    Z3_context z = m->solver->z;
    size_t count = letters->str.count;
    const Z3_ast *codes = value_codes(m, letters);
    Z3_ast *each = arena_take(m->arena, (count + 1) * sizeof *each);
    each[0] = Z3_mk_eq(z, Z3_mk_seq_length(z, input->term), term_int(m, (int64_t)count));
    for (size_t i = 0; i < count; i++) {
        Z3_ast one = Z3_mk_seq_at(z, input->term, term_int(m, (int64_t)i));
        each[i + 1] = Z3_mk_eq(z, solver_code(m->solver, one), codes[i]);
    }
    return Z3_mk_and(z, (unsigned)count + 1, each);
}

static bool is_input(machine *m, const value *v)
{
    Z3_context z = m->solver->z;
    return !v->known && v->term && Z3_get_ast_kind(z, v->term) == Z3_APP_AST &&
           Z3_get_decl_kind(z, Z3_get_app_decl(z, Z3_to_app(z, v->term))) == Z3_OP_UNINTERPRETED;
}

value *letters_compare(machine *m, operator_kind op, const value *l, const value *r)
{
    bool a = l->known || l->str.codes, b = r->known || r->str.codes;
    if (op == OP_EQ && a != b && (a ? l : r)->str.codes && is_input(m, a ? r : l))
        return value_of_bool(m, equal_to_input(m, a ? l : r, a ? r : l));
    if (!a || !b)
        return NULL;
    switch (op) {
    case OP_EQ:
        if (l->str.count != r->str.count)
            return value_bool(m, false);
        return value_of_bool(m,
                             letters_match(m, value_codes(m, l), value_codes(m, r), l->str.count));
    case OP_IN:
        return value_of_bool(m, part_of(m, l, r));
    case OP_LT:
    case OP_LTE:
        return value_of_bool(m, before(m, l, r, op == OP_LTE));
    case OP_GT:
    case OP_GTE:
        return value_of_bool(m, before(m, r, l, op == OP_GTE));
    default:
        return NULL;
    }
}

/* -- ord() and chr() -----------------------------------------------------------------------------
 */

value *text_ord(machine *m, value *c, int line)
{
    Z3_context z = m->solver->z;
    if (c->kind != V_STR)
        return throw(m, "TypeError", line);
    value *length = length_of(m, c, line);
    if (!length || !decide_truth(m, compare(m, OP_EQ, length, value_int(m, 1), line), true))
        return throw(m, "TypeError", line);
    Z3_ast code = c->known || c->str.codes ? value_codes(m, c)[0]
                                           : solver_code(m->solver, value_term(m, c));
    if (Z3_is_numeral_ast(z, code))
        return value_of_int(m, code);
    Z3_ast other = path_guess(m, m->solver->ints, "ord() of a character beyond U+2FF00",
                              "allow ASCII characters only, as in s.isascii()", code, NULL);
    Z3_ast within[] = { Z3_mk_gt(z, other, term_int(m, LAST_EXACT)),
                        Z3_mk_le(z, other, term_int(m, LAST_OF_PYTHON)) };
    other = Z3_mk_ite(z, Z3_mk_and(z, 2, within), other, term_int(m, LAST_OF_PYTHON));
    return value_of_int(m, Z3_mk_ite(z, Z3_mk_le(z, code, term_int(m, LAST_EXACT)), code, other));
}

value *text_chr(machine *m, value *code, int line)
{
    Z3_context z = m->solver->z;
    if (!value_is_integral(code))
        return throw(m, "TypeError", line);
    Z3_ast term = value_int_term(m, code);
    Z3_ast small[] = { Z3_mk_ge(z, term, m->solver->zero),
                       Z3_mk_le(z, term, term_int(m, LAST_OF_PYTHON)) };
    if (!path_decide(m, Z3_mk_and(z, 2, small), true)) {
        Z3_ast fits[] = { Z3_mk_ge(z, term, term_int(m, INT32_MIN)),
                          Z3_mk_le(z, term, term_int(m, INT32_MAX)) };
        if (path_decide(m, Z3_mk_and(z, 2, fits), true))
            return throw(m, "ValueError", line);
        values big = { 0 }; /* that was an OverflowError before Python 3.13 */
        values_add(m, &big, value_int(m, INT64_MAX));
        return bridge(m, "chr(a)", &big, line);
    }
    if (!path_decide(m, Z3_mk_le(z, term, term_int(m, LAST_EXACT)), true))
        path_unsupported(m, line, "bound the code point to 0x2ff00", "chr() beyond U+2FF00");
    return value_letters(m, &term, 1);
}
