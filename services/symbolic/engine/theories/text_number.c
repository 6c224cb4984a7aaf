/* int() of strs that are not known. */
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

enum { FEW = 12 }; /* characters that are looked at one by one */

static Z3_ast is_code(machine *m, Z3_ast code, char c)
{
    return Z3_mk_eq(m->solver->z, code, term_int(m, c));
}

static Z3_ast between(machine *m, Z3_ast code, int from, int to)
{
    Z3_context z = m->solver->z;
    return term_and(m, Z3_mk_ge(z, code, term_int(m, from)), Z3_mk_le(z, code, term_int(m, to)));
}

/* -- character by character ----------------------------------------------------------------------
 */

/* The value of a character as a digit; -1: it is no digit of this base. */
static Z3_ast digit_of(machine *m, Z3_ast code, int base)
{
    Z3_context z = m->solver->z;
    static const char what[] = "int() of digits that are not ASCII";
    static const char instead[] = "allow ASCII characters only, as in s.isascii()";
    int least = base < 10 ? base : 10;
    Z3_ast other = path_guess(m, m->solver->ints, what, instead, code, NULL);
    other = term_if(m, between(m, other, 0, 9), other, m->solver->zero);
    Z3_ast digit = term_and(m, letter_is(m, code, "isdecimal"), between(m, other, 0, least - 1));
    Z3_ast made = term_if(m, term_and(m, Z3_mk_gt(z, code, term_int(m, 0xff)), digit), other,
                          term_int(m, -1));
    for (int from = 'A'; base > 10 && from <= 'a'; from += 'a' - 'A')
        made = term_if(m, between(m, code, from, from + base - 11),
                       Z3_mk_sub(z, 2, (Z3_ast[]){ code, term_int(m, from - 10) }), made);
    return term_if(m, between(m, code, '0', '0' + least - 1),
                   Z3_mk_sub(z, 2, (Z3_ast[]){ code, term_int(m, '0') }), made);
}

/* How far the text is an int: blanks, a sign, digits with single _ between them, blanks. */
enum { BEGIN, SIGN, ZERO, PREFIX, DIGITS, UNDER, END, WRONG };

typedef struct reading {
    Z3_ast state, sum, minus;
} reading;

static void read_one(machine *m, reading *r, Z3_ast code, int base)
{
    Z3_context z = m->solver->z;
    Z3_ast at[WRONG + 1], digit = digit_of(m, code, base), wrong = term_int(m, WRONG);
    for (int i = 0; i <= WRONG; i++)
        at[i] = Z3_mk_eq(z, r->state, term_int(m, i));
    /* U+1C to U+1F are blanks for isspace() alone. */
    Z3_ast blank = term_and(m, letter_is(m, code, "isspace"),
                            Z3_mk_not(z, between(m, code, 28, 31)));
    Z3_ast under = is_code(m, code, '_');
    Z3_ast sign = Z3_mk_or(z, 2, (Z3_ast[]){ is_code(m, code, '-'), is_code(m, code, '+') });
    Z3_ast is_digit = Z3_mk_ge(z, digit, m->solver->zero);
    Z3_ast begun = Z3_mk_or(z, 2, (Z3_ast[]){ at[ZERO], at[DIGITS] });
    Z3_ast before = Z3_mk_or(z, 2, (Z3_ast[]){ at[BEGIN], at[SIGN] });
    bool prefixed = base == 16 || base == 8 || base == 2;
    char letter = base == 16 ? 'x' : base == 8 ? 'o' : 'b';
    Z3_ast prefix = Z3_mk_or(
        z, 2, (Z3_ast[]){ is_code(m, code, letter), is_code(m, code, (char)(letter - 32)) });
    Z3_ast open = Z3_mk_not(z, Z3_mk_or(z, 2, (Z3_ast[]){ at[END], at[WRONG] }));
    Z3_ast first_zero = term_and(m, before, Z3_mk_eq(z, digit, m->solver->zero));
    Z3_ast next = wrong;
    next = term_if(m, term_and(m, blank, Z3_mk_or(z, 2, (Z3_ast[]){ begun, at[END] })),
                   term_int(m, END), next);
    next = term_if(m, term_and(m, blank, at[BEGIN]), term_int(m, BEGIN), next);
    next = term_if(m, term_and(m, sign, at[BEGIN]), term_int(m, SIGN), next);
    next = term_if(m, term_and(m, under, Z3_mk_or(z, 2, (Z3_ast[]){ begun, at[PREFIX] })),
                   term_int(m, UNDER), next);
    next = term_if(m, term_and(m, is_digit, open), term_int(m, DIGITS), next);
    next = prefixed ? term_if(m, first_zero, term_int(m, ZERO), next) : next;
    next = prefixed ? term_if(m, term_and(m, prefix, at[ZERO]), term_int(m, PREFIX), next) : next;
    Z3_ast more = Z3_mk_add(
        z, 2, (Z3_ast[]){ Z3_mk_mul(z, 2, (Z3_ast[]){ r->sum, term_int(m, base) }), digit });
    /* The "b" of a prefix is also a digit of base 16, but then there is no prefix. */
    r->sum = term_if(m, term_and(m, is_digit, open), more, r->sum);
    r->minus = term_if(m, term_and(m, at[BEGIN], is_code(m, code, '-')), m->solver->yes, r->minus);
    r->state = solver_simplify(m->solver, next);
    r->sum = solver_simplify(m->solver, r->sum);
}

/* A text that surely has nothing but ASCII digits is a plain sum; NULL: it may have more. */
static value *of_digits(machine *m, const Z3_ast *codes, size_t count, int base)
{
    Z3_context z = m->solver->z;
    Z3_ast all = m->solver->yes, sum = m->solver->zero;
    int least = base < 10 ? base : 10;
    for (size_t i = 0; i < count; i++) {
        Z3_ast is = between(m, codes[i], '0', '0' + least - 1);
        Z3_ast digit = Z3_mk_sub(z, 2, (Z3_ast[]){ codes[i], term_int(m, '0') });
        for (int from = 'A'; base > 10 && from <= 'a'; from += 'a' - 'A') {
            Z3_ast letter = between(m, codes[i], from, from + base - 11);
            is = Z3_mk_or(z, 2, (Z3_ast[]){ is, letter });
            digit = term_if(m, letter,
                            Z3_mk_sub(z, 2, (Z3_ast[]){ codes[i], term_int(m, from - 10) }), digit);
        }
        all = term_and(m, all, is);
        sum = Z3_mk_add(z, 2,
                        (Z3_ast[]){ Z3_mk_mul(z, 2, (Z3_ast[]){ sum, term_int(m, base) }), digit });
    }
    if (count == 0 || !path_sure(m, solver_simplify(m->solver, all)))
        return NULL;
    return value_of_int(m, solver_simplify(m->solver, sum));
}

static value *by_letters(machine *m, const value *v, int base, int line)
{
    Z3_context z = m->solver->z;
    value *plain = of_digits(m, value_codes(m, v), v->str.count, base);
    if (plain)
        return plain;
    reading r = { term_int(m, BEGIN), m->solver->zero, m->solver->no };
    const Z3_ast *codes = value_codes(m, v);
    for (size_t i = 0; i < v->str.count; i++)
        read_one(m, &r, codes[i], base);
    Z3_ast good[] = { Z3_mk_eq(z, r.state, term_int(m, ZERO)),
                      Z3_mk_eq(z, r.state, term_int(m, DIGITS)),
                      Z3_mk_eq(z, r.state, term_int(m, END)) };
    if (!path_decide(m, Z3_mk_or(z, 3, good), true))
        return throw(m, "ValueError", line);
    return value_of_int(m, term_if(m, r.minus, Z3_mk_unary_minus(z, r.sum), r.sum));
}

/* -- as a whole ----------------------------------------------------------------------------------
 */

static Z3_ast digits(machine *m)
{
    Z3_context z = m->solver->z;
    return Z3_mk_re_plus(z, Z3_mk_re_range(z, Z3_mk_string(z, "0"), Z3_mk_string(z, "9")));
}

static Z3_ast digits_value(machine *m, Z3_ast s)
{
    enum { MOST = 4300 }; /* Python makes no int of more digits */
    Z3_context z = m->solver->z;
    m->digits_assumed = true;
    path_require(m, Z3_mk_le(z, Z3_mk_seq_length(z, s), term_int(m, MOST)));
    return Z3_mk_str_to_int(z, s);
}

/* A str of any length: digits with a sign, by the theory of strings. */
static value *as_a_whole(machine *m, value *v, int line)
{
    Z3_context z = m->solver->z;
    Z3_ast s = value_term(m, v);
    Z3_ast rest = Z3_mk_seq_extract(z, s, m->solver->one, Z3_mk_seq_length(z, s));
    if (path_decide(m, Z3_mk_seq_in_re(z, s, digits(m)), true))
        return value_of_int(m, digits_value(m, s));
    Z3_ast first = Z3_mk_seq_at(z, s, m->solver->zero);
    Z3_ast minus = Z3_mk_eq(z, first, Z3_mk_string(z, "-"));
    Z3_ast signs[] = { minus, Z3_mk_eq(z, first, Z3_mk_string(z, "+")) };
    Z3_ast has_sign[] = { Z3_mk_or(z, 2, signs), Z3_mk_seq_in_re(z, rest, digits(m)) };
    if (path_decide(m, Z3_mk_and(z, 2, has_sign), true)) {
        Z3_ast whole = digits_value(m, rest);
        return value_of_int(m, Z3_mk_ite(z, minus, Z3_mk_unary_minus(z, whole), whole));
    }
    /* White space around it, _ between digits, and digits of other scripts: which other forms are
     * possible? */
    Z3_ast parts[] = { Z3_mk_re_range(z, Z3_mk_string(z, "!"), Z3_mk_string(z, "^")),
                       Z3_mk_re_range(z, Z3_mk_string(z, "`"), Z3_mk_string(z, "~")) };
    Z3_ast plain = Z3_mk_seq_in_re(z, s, Z3_mk_re_star(z, Z3_mk_re_union(z, 2, parts)));
    static const char what[] = "int() of a str with blanks, _ or digits that are not ASCII";
    static const char instead[] = "check the characters first";
    if (path_decide(m, plain, true) ||
        path_decide(m,
                    path_guess(m, m->solver->bools,
                               "whether a str with blanks, _ or other digits is an int", instead, s,
                               NULL),
                    true))
        return throw(m, "ValueError", line);
    return value_of_int(m, path_guess(m, m->solver->ints, what, instead, s, NULL));
}

value *text_to_int(machine *m, value *v, int base, int line)
{
    Z3_context z = m->solver->z;
    v = text_looked_at(m, v);
    if (v->above && base == 10) /* it is str() of an int */
        return value_of_int(m, v->above);
    bool few = v->known ? true
               : v->str.codes
                   ? v->str.count <= FEW
                   : !v->above &&
                         path_sure(m, Z3_mk_le(z, Z3_mk_seq_length(z, v->term), term_int(m, FEW)));
    if (!few && base == 10)
        return as_a_whole(m, v, line);
    value *settled = text_settled(m, v);
    if (!settled->known)
        return by_letters(m, settled, base, line);
    values given = { 0 };
    values_add(m, &given, settled);
    values_add(m, &given, value_int(m, base));
    return bridge(m, "int(a, b)", &given, line);
}
