/*
 * Compares ints and quotients of ints with floats, without terms of floats: rounding preserves the
 * order, so RN(a / b) < c is a question about a, b and the point from which numbers are rounded to
 * c.
 */
#include <math.h>
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

static bool is_even(double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return (bits & 1) == 0;
}

/* A finite float is whole * 2**exponent. */
static int64_t parts_of(double real, int *exponent)
{
    double fraction = frexp(real, exponent);
    *exponent -= 53;
    return (int64_t)ldexp(fraction, 53);
}

/* above / below < whole * 2**exponent, or <= */
static Z3_ast is_less(machine *m, const value *q, Z3_ast whole, int exponent, bool or_equal)
{
    Z3_context z = m->solver->z;
    Z3_ast l = q->above, r = term_mul(m, q->below, whole);
    if (exponent < 0)
        l = term_mul(m, l, term_power_of_two(m, -exponent));
    else
        r = term_mul(m, r, term_power_of_two(m, exponent));
    return or_equal ? Z3_mk_le(z, l, r) : Z3_mk_lt(z, l, r);
}

/* True if the rounded quotient is less than a known float. `exact`: it is an int, and not
 * rounded. */
static Z3_ast rounds_below(machine *m, const value *q, double c, bool exact)
{
    int exponent, other;
    if (isnan(c) || isinf(c))
        return c > 0 ? m->solver->yes : m->solver->no;
    int64_t whole = parts_of(c, &exponent);
    if (exact)
        return is_less(m, q, term_int(m, whole), exponent, false);
    double before = nextafter(c, -INFINITY);
    if (isinf(before)) /* nothing is rounded to less than the least float */
        return m->solver->no;
    int64_t part = parts_of(before, &other);
    /* The point in the middle, with a common exponent; one is at most twice the other. */
    if (whole == 0)
        exponent = other;
    if (part == 0)
        other = exponent;
    int least = exponent < other ? exponent : other;
    Z3_ast middle = Z3_mk_add(
        m->solver->z, 2,
        (Z3_ast[]){ term_mul(m, term_int(m, whole), term_power_of_two(m, exponent - least)),
                    term_mul(m, term_int(m, part), term_power_of_two(m, other - least)) });
    return is_less(m, q, middle, least - 1, is_even(before));
}

static value *negative(machine *m, const value *q)
{
    value *made = value_new(m, V_FLOAT);
    made->above = Z3_mk_unary_minus(m->solver->z, q->above);
    made->below = q->below;
    return made;
}

static value *compare_known(machine *m, operator_kind op, const value *q, double c, bool exact)
{
    Z3_context z = m->solver->z;
    if (isnan(c))
        return value_bool(m, false);
    Z3_ast less = rounds_below(m, q, c, exact);
    Z3_ast more = rounds_below(m, negative(m, q), -c, exact);
    Z3_ast apart[] = { less, more };
    return value_of_bool(m, op == OP_LT    ? less
                            : op == OP_GT  ? more
                            : op == OP_LTE ? Z3_mk_not(z, more)
                            : op == OP_GTE ? Z3_mk_not(z, less)
                                           : Z3_mk_not(z, Z3_mk_or(z, 2, apart)));
}

static operator_kind turned(operator_kind op)
{
    return op == OP_LT    ? OP_GT
           : op == OP_GT  ? OP_LT
           : op == OP_LTE ? OP_GTE
           : op == OP_GTE ? OP_LTE
                          : op;
}

/* An int as a quotient by one, if it and the ints beside it are floats. NULL: it is greater. */
static value *exact_int(machine *m, value *v)
{
    Z3_context z = m->solver->z;
    Z3_ast term = value_int_term(m, v), most = term_int(m, (1LL << 53) - 1);
    Z3_ast within[] = { Z3_mk_le(z, term, most), Z3_mk_ge(z, term, Z3_mk_unary_minus(z, most)) };
    if (!path_decide(m, Z3_mk_and(z, 2, within), true))
        return NULL;
    return value_quotient(m, term, m->solver->one);
}

static Z3_ast by_floats(machine *m, operator_kind op, const value *l, const value *r)
{
    Z3_context z = m->solver->z;
    Z3_ast x = value_term(m, l), y = value_term(m, r);
    return op == OP_EQ    ? Z3_mk_fpa_eq(z, x, y)
           : op == OP_LT  ? Z3_mk_fpa_lt(z, x, y)
           : op == OP_LTE ? Z3_mk_fpa_leq(z, x, y)
           : op == OP_GT  ? Z3_mk_fpa_gt(z, x, y)
                          : Z3_mk_fpa_geq(z, x, y);
}

/* Two quotients: their order decides, unless they may be rounded to the same float. `whole`: one of
 * them is an int that is not rounded. The path forks, so that few questions involve floats. */
static value *compare_two(machine *m, operator_kind op, const value *l, const value *r, bool whole)
{
    Z3_context z = m->solver->z;
    if (op == OP_GT || op == OP_GTE)
        return compare_two(m, turned(op), r, l, whole);
    Z3_ast a = term_mul(m, l->above, r->below), b = term_mul(m, r->above, l->below);
    Z3_ast unit = term_mul(m, l->below, r->below);
    /* The int beside an int is a float, too: what lies beyond that one stays there. */
    Z3_ast far_below = Z3_mk_le(z, a, Z3_mk_sub(z, 2, (Z3_ast[]){ b, unit }));
    Z3_ast far_above = Z3_mk_ge(z, a, Z3_mk_add(z, 2, (Z3_ast[]){ b, unit }));
    bool by_order = op == OP_LT    ? path_decide(m, Z3_mk_ge(z, a, b), false)
                    : op == OP_LTE ? path_decide(m, Z3_mk_le(z, a, b), true)
                                   : path_decide(m, Z3_mk_eq(z, a, b), true);
    if (by_order)
        return value_bool(m, op != OP_LT);
    if (whole && op != OP_LTE && path_decide(m, far_below, true))
        return value_bool(m, op == OP_LT);
    if (whole && op != OP_LT && path_decide(m, far_above, true))
        return value_bool(m, false);
    return value_of_bool(m, by_floats(m, op, l, r));
}

value *ratio_compare(machine *m, operator_kind op, value *l, value *r, int line)
{
    int64_t whole;
    for (int turn = 0; turn < 2; turn++) {
        bool known = r->kind == V_FLOAT
                         ? r->known
                         : value_whole(r, &whole) && whole >= -(1LL << 53) && whole <= 1LL << 53;
        if (known && (value_is_quotient(l) || (value_is_integral(l) && !l->known))) {
            bool exact = !value_is_quotient(l);
            value *q = exact ? value_quotient(m, value_int_term(m, l), m->solver->one) : l;
            return compare_known(m, op, q, r->kind == V_FLOAT ? r->real : (double)whole, exact);
        }
        value *held = l;
        l = r;
        r = held;
        op = turned(op);
    }
    value *sides[] = { l, r };
    bool exact = value_is_integral(l) || value_is_integral(r);
    for (int i = 0; i < 2; i++)
        if (value_is_integral(sides[i]) && !(sides[i] = exact_int(m, sides[i])))
            path_unsupported(m, line, "annotate the parameter as float, or keep to ints",
                             "an int beyond 2**53 beside a float");
    bool two = value_is_quotient(sides[0]) && value_is_quotient(sides[1]);
    return two ? compare_two(m, op, sides[0], sides[1], exact)
               : value_of_bool(m, by_floats(m, op, sides[0], sides[1]));
}
