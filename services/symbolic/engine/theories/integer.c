/*
 * Whole numbers without a bound: Python's // and % round down, the solvers' div and mod do not for
 * a negative divisor. Operators on bits are in integer_bits.c.
 */
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

enum { MOST_DEGREE = 12, MOST_MASK_BITS = 64 };

Z3_ast term_power_of_two(const machine *m, int64_t exponent)
{
    Z3_ast term = term_int(m, 1);
    for (; exponent > 0; exponent -= 62)
        term = term_mul(m, term, term_int(m, 1LL << (exponent < 62 ? exponent : 62)));
    return solver_simplify(m->solver, term);
}

/* How many bits a known int has; 0: it is not known. */
static size_t bits_of(machine *m, const value *v)
{
    int64_t whole;
    if (value_whole(v, &whole))
        return whole < 0 ? 64 : whole == 0 ? 1 : (size_t)(64 - __builtin_clzll((uint64_t)whole));
    if (v->kind == V_INT && Z3_is_numeral_ast(m->solver->z, v->term))
        return strlen(Z3_get_numeral_string(m->solver->z, v->term)) * 10 / 3 + 1;
    return 0;
}

static void limit_bits(machine *m, double bits)
{
    if (bits > MOST_BITS)
        path_bound(m, "the size of an int");
}

/* The degree of a term: its number of unknown factors, at most. */
static unsigned degree_of(machine *m, Z3_ast term, unsigned *left)
{
    Z3_context z = m->solver->z;
    if (*left == 0 || Z3_get_ast_kind(z, term) != Z3_APP_AST)
        return *left ? 0 : MOST_DEGREE + 1;
    --*left;
    Z3_app app = Z3_to_app(z, term);
    unsigned count = Z3_get_app_num_args(z, app), most = count == 0, sum = 0;
    bool product = Z3_get_decl_kind(z, Z3_get_app_decl(z, app)) == Z3_OP_MUL;
    for (unsigned i = 0; i < count; i++) {
        unsigned one = degree_of(m, Z3_get_app_arg(z, app, i), left);
        sum += one;
        most = one > most ? one : most;
    }
    return product ? sum : most;
}

/* Z3 cannot be interrupted while it works on polynomials of a high degree. */
static void limit_degree(machine *m, Z3_ast term)
{
    unsigned left = 3000;
    if (degree_of(m, term, &left) > MOST_DEGREE)
        path_bound(m, "the number of unknown factors of a product");
}

static value *product(machine *m, Z3_ast l, Z3_ast r)
{
    Z3_ast term = term_mul(m, l, r);
    if (!Z3_is_numeral_ast(m->solver->z, l) && !Z3_is_numeral_ast(m->solver->z, r))
        limit_degree(m, term);
    return value_of_int(m, term);
}

/* -- a few values ------------------------------------------------------------------------------ */

value *settled_int(machine *m, value *v)
{
    enum { LEAST = -64, MOST = 128 };
    Z3_context z = m->solver->z;
    if (!value_is_integral(v) || (!v->known && value_is_concrete(m, v)))
        return NULL;
    if (v->known)
        return v;
    Z3_ast term = value_int_term(m, v);
    Z3_ast bounds[] = { Z3_mk_ge(z, term, term_int(m, LEAST)),
                        Z3_mk_le(z, term, term_int(m, MOST)) };
    if (!path_sure(m, Z3_mk_and(z, 2, bounds)))
        return NULL;
    int64_t low = LEAST, high = MOST;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (path_decide(m, Z3_mk_le(z, term, term_int(m, middle)), true))
            high = middle;
        else
            low = middle + 1;
    }
    return value_int(m, low);
}

/* -- // and % ---------------------------------------------------------------------------------- */

/* z3's div rounds down for a positive divisor: a // b is -a div -b for a negative b. */
static Z3_ast floor_div(machine *m, Z3_ast l, Z3_ast r)
{
    Z3_context z = m->solver->z;
    Z3_ast up = Z3_mk_div(z, l, r);
    Z3_ast down = Z3_mk_div(z, Z3_mk_unary_minus(z, l), Z3_mk_unary_minus(z, r));
    return Z3_mk_ite(z, Z3_mk_gt(z, r, m->solver->zero), up, down);
}

static Z3_ast floor_mod(machine *m, Z3_ast l, Z3_ast r)
{
    Z3_context z = m->solver->z;
    Z3_ast up = Z3_mk_mod(z, l, r);
    Z3_ast down = Z3_mk_unary_minus(z,
                                    Z3_mk_mod(z, Z3_mk_unary_minus(z, l), Z3_mk_unary_minus(z, r)));
    return Z3_mk_ite(z, Z3_mk_gt(z, r, m->solver->zero), up, down);
}

static value *divide(machine *m, operator_kind op, value *l, value *r, int line)
{
    Z3_context z = m->solver->z;
    int64_t a, b;
    Z3_ast divisor = value_int_term(m, r);
    if (path_decide(m, Z3_mk_eq(z, divisor, m->solver->zero), false))
        return throw(m, "ZeroDivisionError", line);
    if (value_whole(l, &a) && value_whole(r, &b) && !(a == INT64_MIN && b == -1)) {
        int64_t rest = a % b, whole = a / b;
        if (rest != 0 && (rest < 0) != (b < 0)) {
            whole--;
            rest += b;
        }
        return value_int(m, op == OP_MOD ? rest : whole);
    }
    Z3_ast term = value_int_term(m, l);
    return value_of_int(m,
                        op == OP_MOD ? floor_mod(m, term, divisor) : floor_div(m, term, divisor));
}

/* The float that is nearest to a / b; from 2**1024 - 2**970 on there is none. */
static value *nearest_float(machine *m, Z3_ast above, Z3_ast below, int line)
{
    Z3_context z = m->solver->z;
    value *made = value_quotient(m, above, below);
    Z3_ast most = term_mul(m, made->below,
                           term_sub(m, term_power_of_two(m, 1024), term_power_of_two(m, 970)));
    Z3_ast outside[] = { Z3_mk_ge(z, made->above, most),
                         Z3_mk_le(z, made->above, Z3_mk_unary_minus(z, most)) };
    if (path_decide(m, Z3_mk_or(z, 2, outside), false))
        return throw(m, "OverflowError", line);
    return made;
}

value *int_to_float(machine *m, value *v, int line)
{
    if (v->kind == V_FLOAT)
        return v;
    if (value_is_concrete(m, v)) {
        values given = { &v, 1, 1 };
        return bridge(m, "float(a)", &given, line);
    }
    Z3_ast term = value_float_term(m, v);
    if (term)
        return value_of_float(m, term);
    value *few = settled_int(m, v);
    return few ? value_float(m, (double)few->number)
               : nearest_float(m, value_int_term(m, v), m->solver->one, line);
}

/* a / b is the float that is nearest to the quotient. */
static value *true_divide(machine *m, value *l, value *r, int line)
{
    Z3_context z = m->solver->z;
    if (path_decide(m, Z3_mk_eq(z, value_int_term(m, r), m->solver->zero), false))
        return throw(m, "ZeroDivisionError", line);
    if (!value_is_concrete(m, l) || !value_is_concrete(m, r)) {
        value *x = settled_int(m, l), *y = x ? settled_int(m, r) : NULL;
        if (y)
            return true_divide(m, x, y, line);
        return nearest_float(m, value_int_term(m, l), value_int_term(m, r), line);
    }
    values given = { (value *[]){ l, r }, 2, 2 };
    return bridge(m, "a / b", &given, line);
}

/* -- **, << and >> ----------------------------------------------------------------------------- */

static value *power(machine *m, value *l, value *r, int line)
{
    int64_t exponent;
    Z3_context z = m->solver->z;
    if (value_is_concrete(m, l) && value_is_concrete(m, r)) {
        if (value_whole(r, &exponent) && exponent > 0) {
            int64_t base = 0;
            bool unit = value_whole(l, &base) && base >= -1 && base <= 1;
            if (!unit)
                limit_bits(m, (double)bits_of(m, l) * (double)exponent);
        } else if (!value_whole(r, &exponent)) {
            path_bound(m, "the size of an int");
        }
        values given = { (value *[]){ l, r }, 2, 2 };
        return bridge(m, "a ** b", &given, line);
    }
    if (!value_whole(r, &exponent)) {
        value *few = settled_int(m, r);
        if (few)
            return power(m, l, few, line);
    }
    if (!value_whole(r, &exponent))
        path_unsupported(m, line, "multiply in a loop, or make the exponent a constant",
                         "a power whose exponent is not known");
    if (exponent < 0)
        path_unsupported(m, line, "divide by the power", "a negative exponent");
    if (exponent > MOST_DEGREE)
        path_unsupported(m, line, "use a smaller exponent", "an exponent above %d", MOST_DEGREE);
    (void)z;
    Z3_ast base = value_int_term(m, l), term = term_int(m, 1);
    for (int64_t i = 0; i < exponent; i++)
        term = i == 0 ? base : term_mul(m, term, base);
    limit_degree(m, term);
    return value_of_int(m, term);
}

static value *shift(machine *m, operator_kind op, value *l, value *r, int line)
{
    int64_t by;
    if (path_decide(m, Z3_mk_lt(m->solver->z, value_int_term(m, r), m->solver->zero), false))
        return throw(m, "ValueError", line);
    if (!value_whole(r, &by)) {
        int64_t zero;
        if (value_whole(l, &zero) && zero == 0)
            return value_int(m, 0);
        value *few = settled_int(m, r);
        if (few)
            return shift(m, op, l, few, line);
        path_unsupported(m, line, "make the number of bits a constant",
                         "a shift by a number of bits that is not known");
    }
    if (op == OP_LSHIFT) {
        limit_bits(m, (double)bits_of(m, l) + (double)by);
        return value_of_int(m, term_mul(m, value_int_term(m, l), term_power_of_two(m, by)));
    }
    if (by > MOST_BITS)
        path_bound(m, "the size of an int");
    return value_of_int(m, Z3_mk_div(m->solver->z, value_int_term(m, l), term_power_of_two(m, by)));
}

value *integer_binary(machine *m, operator_kind op, value *l, value *r, int line)
{
    int64_t a, b, c;
    bool small = value_whole(l, &a) && value_whole(r, &b);
    switch (op) {
    case OP_ADD:
        if (small && !__builtin_add_overflow(a, b, &c))
            return value_int(m, c);
        return value_of_int(m, term_add(m, value_int_term(m, l), value_int_term(m, r)));
    case OP_SUB:
        if (small && !__builtin_sub_overflow(a, b, &c))
            return value_int(m, c);
        return value_of_int(m, term_sub(m, value_int_term(m, l), value_int_term(m, r)));
    case OP_MULT:
        if (small && !__builtin_mul_overflow(a, b, &c))
            return value_int(m, c);
        limit_bits(m, (double)bits_of(m, l) + (double)bits_of(m, r));
        return product(m, value_int_term(m, l), value_int_term(m, r));
    case OP_DIV:
        return true_divide(m, l, r, line);
    case OP_FLOORDIV:
    case OP_MOD:
        return divide(m, op, l, r, line);
    case OP_POW:
        return power(m, l, r, line);
    case OP_LSHIFT:
    case OP_RSHIFT:
        return shift(m, op, l, r, line);
    case OP_BITAND:
    case OP_BITOR:
    case OP_BITXOR:
        return integer_bits(m, op, l, r, line);
    default:
        return throw(m, "TypeError", line);
    }
}
