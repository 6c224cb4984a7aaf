/*
 * Rounding to whole numbers. A quotient of ints is exact here as long as the dividend is so small
 * that its float cannot be on another side of a whole number or of a half. For any other float, the
 * result of int() and the like is a guess (path_guess()) of the right sign.
 */
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

enum { MOST_PLACES = 12 };

static Z3_ast power_of_ten(machine *m, int64_t exponent)
{
    Z3_ast term = m->solver->one;
    for (; exponent > 0; exponent--)
        term = Z3_mk_mul(m->solver->z, 2, (Z3_ast[]){ term, term_int(m, 10) });
    return solver_simplify(m->solver, term);
}

/* The whole number nearest to above / below, the even one in the middle. `below` is positive. */
static Z3_ast nearest_even(machine *m, Z3_ast above, Z3_ast below)
{
    Z3_context z = m->solver->z;
    Z3_ast down = Z3_mk_div(z, above, below), two = term_int(m, 2);
    Z3_ast twice = Z3_mk_mul(z, 2, (Z3_ast[]){ Z3_mk_mod(z, above, below), two });
    Z3_ast odd = Z3_mk_eq(z, Z3_mk_mod(z, down, two), m->solver->one);
    Z3_ast tie[] = { Z3_mk_eq(z, twice, below), odd };
    Z3_ast up[] = { Z3_mk_gt(z, twice, below), Z3_mk_and(z, 2, tie) };
    return Z3_mk_add(
        z, 2, (Z3_ast[]){ down, term_if(m, Z3_mk_or(z, 2, up), m->solver->one, m->solver->zero) });
}

Z3_ast quotient_rounded(machine *m, Z3_ast above, Z3_ast below, int64_t places, int line)
{
    Z3_context z = m->solver->z;
    if (places > MOST_PLACES)
        path_unsupported(m, line, "use fewer digits", "so many digits of a float");
    Z3_ast most = term_int(m, 1LL << 49), two = term_int(m, 2);
    Z3_ast scaled = Z3_mk_mul(z, 2, (Z3_ast[]){ above, power_of_ten(m, places) });
    Z3_ast small[] = { Z3_mk_lt(z, scaled, most), Z3_mk_gt(z, scaled, Z3_mk_unary_minus(z, most)) };
    /* The float differs from the quotient by less than a part in 2**53, and 100 * x for a percent
     * by twice that; where there is no tie it is at least 1 / (2 * below) away from one. A quotient
     * by a power of two is exact. */
    int64_t divisor = 0;
    bool exact = places == 0 ||
                 (Z3_get_numeral_int64(z, below, &divisor) && (divisor & (divisor - 1)) == 0);
    Z3_ast twice = Z3_mk_mul(z, 2, (Z3_ast[]){ Z3_mk_mod(z, scaled, below), two });
    if (!path_decide(m, Z3_mk_and(z, 2, small), true) ||
        (!exact && path_decide(m, Z3_mk_eq(z, twice, below), false)))
        path_unsupported(m, line, "compute with ints",
                         "a float that is too big or just between two that it is rounded to");
    return nearest_even(m, scaled, below);
}

/* int(), math.floor(), math.ceil(), round() of a quotient: t, f, c, r. */
static value *quotient_to_int(machine *m, const value *v, char how, int line)
{
    Z3_context z = m->solver->z;
    if (how == 'r')
        return value_of_int(m, quotient_rounded(m, v->above, v->below, 0, line));
    Z3_ast most = term_int(m, 1LL << 52);
    Z3_ast small[] = { Z3_mk_lt(z, v->above, most),
                       Z3_mk_gt(z, v->above, Z3_mk_unary_minus(z, most)) };
    if (!path_decide(m, Z3_mk_and(z, 2, small), true))
        path_unsupported(m, line, "use //", "int() of a quotient of ints beyond 2**52");
    Z3_ast down = Z3_mk_div(z, v->above, v->below);
    Z3_ast up = Z3_mk_unary_minus(z, Z3_mk_div(z, Z3_mk_unary_minus(z, v->above), v->below));
    Z3_ast minus = Z3_mk_lt(z, v->above, m->solver->zero);
    return value_of_int(m, how == 'f' ? down : how == 'c' ? up : term_if(m, minus, up, down));
}

value *float_to_int(machine *m, value *v, char how, int line)
{
    Z3_context z = m->solver->z;
    if (value_is_quotient(v))
        return quotient_to_int(m, v, how, line);
    static const char instead[] = "use ints, or a quotient of ints";
    Z3_ast x = value_term(m, v);
    if (path_decide(m, Z3_mk_fpa_is_nan(z, x), false))
        return throw(m, "ValueError", line);
    if (path_decide(m, Z3_mk_fpa_is_infinite(z, x), false))
        return throw(m, "OverflowError", line);
    const char *what = how == 'r'   ? "round() of a float"
                       : how == 'f' ? "math.floor() of a float"
                       : how == 'c' ? "math.ceil() of a float"
                                    : "int() of a float";
    Z3_ast guess = path_guess(m, m->solver->ints, what, instead, x, NULL);
    /* Beyond these it is at least 1 or at most -1; between them it is 0. */
    double high = how == 'r'   ? 0.5
                  : how == 'c' ? 0
                               : 1,
           low = how == 'r'   ? -0.5
                 : how == 'f' ? 0
                              : -1;
    Z3_ast over = Z3_mk_fpa_numeral_double(z, high, m->solver->floats);
    Z3_ast under = Z3_mk_fpa_numeral_double(z, low, m->solver->floats);
    bool open_high = how == 'r' || how == 'c', open_low = how == 'r' || how == 'f';
    Z3_ast positive = open_high ? Z3_mk_fpa_gt(z, x, over) : Z3_mk_fpa_geq(z, x, over);
    Z3_ast negative = open_low ? Z3_mk_fpa_lt(z, x, under) : Z3_mk_fpa_leq(z, x, under);
    Z3_ast up = term_if(m, Z3_mk_ge(z, guess, m->solver->one), guess, m->solver->one);
    Z3_ast down = term_if(m, Z3_mk_le(z, guess, term_int(m, -1)), guess, term_int(m, -1));
    return value_of_int(m, term_if(m, positive, up, term_if(m, negative, down, m->solver->zero)));
}

/* round() of an int to a power of ten. */
static value *whole_rounded(machine *m, value *v, int64_t digits)
{
    Z3_ast term = value_int_term(m, v);
    if (digits >= 0)
        return value_of_int(m, term);
    Z3_ast power = power_of_ten(m, -digits);
    return value_of_int(
        m, Z3_mk_mul(m->solver->z, 2, (Z3_ast[]){ nearest_even(m, term, power), power }));
}

value *rounded_to(machine *m, value *v, value *digits, int line)
{
    enum { MOST_TENS = 30 };
    int64_t places;
    if (!digits || digits->kind == V_NONE)
        return v->kind == V_FLOAT ? float_to_int(m, v, 'r', line)
                                  : value_of_int(m, value_int_term(m, v));
    if (!value_is_integral(digits))
        return throw(m, "TypeError", line);
    value *few = settled_int(m, digits);
    if (!few || !value_whole(few, &places) || places < -MOST_TENS)
        path_unsupported(m, line, "round to a constant number of digits",
                         "round() to a number of digits that is not known");
    if (v->kind != V_FLOAT)
        return whole_rounded(m, v, places);
    if (places < 0)
        path_unsupported(m, line, "use ints, or a quotient of ints", "round() of a float");
    if (!value_is_quotient(v))
        return float_rounded(m, v, places, line);
    Z3_ast whole = quotient_rounded(m, v->above, v->below, places, line);
    value *made = value_quotient(m, whole, power_of_ten(m, places));
    made->flipped = true; /* -0.0, of a small negative one */
    return made;
}

/* -- pow() with a modulus ------------------------------------------------------------------------
 */

value *power_modulo(machine *m, value *base, value *exponent, value *modulus, int line)
{
    Z3_context z = m->solver->z;
    if (!value_is_integral(base) || !value_is_integral(exponent) || !value_is_integral(modulus))
        return throw(m, "TypeError", line);
    if (path_decide(m, Z3_mk_eq(z, value_int_term(m, modulus), m->solver->zero), false))
        return throw(m, "ValueError", line);
    value *few = settled_int(m, exponent);
    int64_t left;
    if (!few || !value_whole(few, &left))
        path_unsupported(m, line, "make the exponent a constant",
                         "pow() with an exponent that is not known");
    if (left < 0)
        path_unsupported(m, line, "use a positive exponent", "pow() with a negative exponent");
    value *result = binary(m, OP_MOD, value_int(m, 1), modulus, line);
    value *square = binary(m, OP_MOD, base, modulus, line);
    for (; left > 0; left >>= 1) {
        if (left & 1)
            result = binary(m, OP_MOD, binary(m, OP_MULT, result, square, line), modulus, line);
        if (left > 1)
            square = binary(m, OP_MOD, binary(m, OP_MULT, square, square, line), modulus, line);
    }
    return result;
}
