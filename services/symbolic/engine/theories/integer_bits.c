/*
 * Operators on bits of ints. If one int is known, the result is a sum of single bits. If two
 * unknown ints have no bit in common, the result is their sum; otherwise both must be bounded, and
 * each bit is an int of its own (letters_digits()). Negative ints have all bits of 2**width + x.
 */
#include "theories/theories.h"
#include "machine/terms.h"

enum { MOST_WIDTH = 64 };

/* -- with a known int ----------------------------------------------------------------------------
 */

/* Bit `place` of a term, 0 or 1: also correct for negative ones, since div rounds down. */
static Z3_ast bit(machine *m, Z3_ast term, int place)
{
    Z3_context z = m->solver->z;
    return Z3_mk_mod(z, place ? Z3_mk_div(z, term, term_power_of_two(m, place)) : term,
                     term_int(m, 2));
}

/* x & mask for a mask that is not negative. */
static Z3_ast masked(machine *m, Z3_ast term, int64_t mask)
{
    if (((uint64_t)mask & ((uint64_t)mask + 1)) == 0) /* 2**n - 1 */
        return mask == 0
                   ? m->solver->zero
                   : Z3_mk_mod(m->solver->z, term, term_add(m, term_int(m, mask), term_int(m, 1)));
    Z3_ast sum = m->solver->zero;
    for (int place = 0; place < 63; place++)
        if (mask >> place & 1)
            sum = term_add(m, sum, term_mul(m, bit(m, term, place), term_power_of_two(m, place)));
    return sum;
}

/* x & c for any known c: for a negative one, x without the bits of ~c. */
static Z3_ast and_known(machine *m, Z3_ast term, int64_t c)
{
    return c >= 0 ? masked(m, term, c) : term_sub(m, term, masked(m, term, ~c));
}

/* -- of two unknown ints -------------------------------------------------------------------------
 */

/* Within 0 … 2**width - 1, or with a sign within -2**width … 2**width - 1. */
static Z3_ast within(machine *m, Z3_ast l, Z3_ast r, int width, bool sign)
{
    Z3_context z = m->solver->z;
    Z3_ast top = term_power_of_two(m, width);
    Z3_ast least = sign ? Z3_mk_unary_minus(z, top) : m->solver->zero;
    return Z3_mk_and(z, 4,
                     (Z3_ast[]){ Z3_mk_le(z, least, l), Z3_mk_lt(z, l, top), Z3_mk_le(z, least, r),
                                 Z3_mk_lt(z, r, top) });
}

/* How many bits both surely have; 0: not known. */
static int width_of(machine *m, Z3_ast l, Z3_ast r, bool *sign)
{
    static const int widths[] = { 4, 8, 16, 32, 64 };
    for (int s = 0; s < 2; s++)
        for (size_t i = s; i < sizeof widths / sizeof *widths; i++)
            if (path_sure(m, within(m, l, r, widths[i], s))) {
                *sign = s;
                return widths[i];
            }
    *sign = false;
    return path_decide(m, within(m, l, r, 16, false), true) ? 16 : 0;
}

/* The number of lowest bits that are 0 in every value of a term, as far as its form shows it. */
static int zero_bits(machine *m, Z3_ast term, int depth)
{
    enum { DEEPEST = 8 };
    Z3_context z = m->solver->z;
    int64_t n;
    if (Z3_get_numeral_int64(z, term, &n))
        return n ? __builtin_ctzll((uint64_t)n) : MOST_WIDTH;
    if (depth == DEEPEST || Z3_get_ast_kind(z, term) != Z3_APP_AST)
        return 0;
    Z3_app app = Z3_to_app(z, term);
    Z3_decl_kind kind = Z3_get_decl_kind(z, Z3_get_app_decl(z, app));
    unsigned count = Z3_get_app_num_args(z, app);
    bool product = kind == Z3_OP_MUL, chosen = kind == Z3_OP_ITE;
    if (!product && !chosen && kind != Z3_OP_ADD && kind != Z3_OP_SUB && kind != Z3_OP_UMINUS)
        return 0;
    int bits = product ? 0 : MOST_WIDTH;
    for (unsigned i = chosen; i < count; i++) {
        int of = zero_bits(m, Z3_get_app_arg(z, app, i), depth + 1);
        bits = product ? bits + of : of < bits ? of : bits;
    }
    return bits < MOST_WIDTH ? bits : MOST_WIDTH;
}

/* True if the two have no bit in common, as in high << 8 | low. */
static bool are_apart(machine *m, Z3_ast high, Z3_ast low)
{
    Z3_context z = m->solver->z;
    int bits = zero_bits(m, high, 0);
    return bits &&
           path_sure(m, Z3_mk_and(z, 2,
                                  (Z3_ast[]){ Z3_mk_ge(z, low, m->solver->zero),
                                              Z3_mk_lt(z, low, term_power_of_two(m, bits)) }));
}

static Z3_ast combined(machine *m, operator_kind op, Z3_ast l, Z3_ast r, int line)
{
    Z3_context z = m->solver->z;
    Z3_ast bits[2][MOST_WIDTH + 1], sides[] = { l, r }, sum = m->solver->zero;
    bool sign;
    if (are_apart(m, l, r) || are_apart(m, r, l))
        return op == OP_BITAND ? m->solver->zero : term_add(m, l, r);
    int width = width_of(m, l, r, &sign);
    if (width == 0)
        path_unsupported(m, line,
                         "bound both operands, as in 0 <= x < 2**32, or make one a constant",
                         "an operator on the bits of two ints that are not known");
    Z3_ast top = term_power_of_two(m, width), all = term_power_of_two(m, width + 1);
    for (int i = 0; i < 2; i++) {
        if (sign)
            sides[i] = Z3_mk_ite(z, Z3_mk_lt(z, sides[i], m->solver->zero),
                                 term_add(m, sides[i], all), sides[i]);
        letters_digits(m, solver_simplify(m->solver, sides[i]), 2, (size_t)width + sign, bits[i]);
    }
    for (int i = 0; i < width + sign; i++) {
        Z3_ast a = Z3_mk_eq(z, bits[0][i], m->solver->one);
        Z3_ast b = Z3_mk_eq(z, bits[1][i], m->solver->one), two[] = { a, b };
        Z3_ast one = op == OP_BITAND  ? Z3_mk_and(z, 2, two)
                     : op == OP_BITOR ? Z3_mk_or(z, 2, two)
                                      : Z3_mk_xor(z, a, b);
        sum = term_add(
            m, sum, Z3_mk_ite(z, one, term_power_of_two(m, width + sign - 1 - i), m->solver->zero));
    }
    return sign ? Z3_mk_ite(z, Z3_mk_ge(z, sum, top), term_sub(m, sum, all), sum) : sum;
}

value *integer_bits(machine *m, operator_kind op, value *l, value *r, int line)
{
    int64_t a, b;
    Z3_context z = m->solver->z;
    if (l->kind == V_BOOL && r->kind == V_BOOL) {
        Z3_ast x = value_term(m, l), y = value_term(m, r);
        Z3_ast two[] = { x, y };
        return value_of_bool(m, op == OP_BITAND  ? Z3_mk_and(z, 2, two)
                                : op == OP_BITOR ? Z3_mk_or(z, 2, two)
                                                 : Z3_mk_xor(z, x, y));
    }
    bool known_l = value_whole(l, &a), known_r = value_whole(r, &b);
    if (known_l && known_r)
        return value_int(m, op == OP_BITAND ? (a & b) : op == OP_BITOR ? (a | b) : (a ^ b));
    if (value_is_concrete(m, l) && value_is_concrete(m, r)) {
        values given = { (value *[]){ l, r }, 2, 2 };
        return bridge(m,
                      op == OP_BITAND  ? "a & b"
                      : op == OP_BITOR ? "a | b"
                                       : "a ^ b",
                      &given, line);
    }
    Z3_ast x = value_int_term(m, l), y = value_int_term(m, r);
    if (!known_l && !known_r)
        return value_of_int(m, combined(m, op, x, y, line));
    Z3_ast common = known_r ? and_known(m, x, b) : and_known(m, y, a);
    if (op == OP_BITAND)
        return value_of_int(m, common);
    Z3_ast sum = term_sub(m, term_add(m, x, y), common); /* x | y */
    return value_of_int(m, op == OP_BITOR ? sum : term_sub(m, sum, common));
}

/* -- bit_length() and bit_count() ----------------------------------------------------------------
 */

value *integer_bit_count(machine *m, value *v, bool length, int line)
{
    Z3_context z = m->solver->z;
    Z3_ast term = value_int_term(m, v), bits[MOST_WIDTH], sum = m->solver->zero;
    Z3_ast size = solver_simplify(m->solver, Z3_mk_ite(z, Z3_mk_lt(z, term, m->solver->zero),
                                                       Z3_mk_unary_minus(z, term), term));
    int width = 8;
    while (width < MOST_WIDTH && !path_sure(m, Z3_mk_lt(z, size, term_power_of_two(m, width))))
        width *= 2;
    if (width == MOST_WIDTH &&
        !path_decide(m, Z3_mk_lt(z, size, term_power_of_two(m, width)), true))
        path_unsupported(m, line, "bound the int, as in 0 <= x < 2**32",
                         "the bits of an int that is not known");
    if (!length)
        letters_digits(m, size, 2, (size_t)width, bits);
    for (int i = 0; i < width; i++)
        sum = term_add(m, sum,
                       length ? Z3_mk_ite(z, Z3_mk_ge(z, size, term_power_of_two(m, i)),
                                          m->solver->one, m->solver->zero)
                              : bits[i]);
    return value_of_int(m, sum);
}
