/*
 * Functions of the module math on floats that are not known, as far as IEEE 754 defines their
 * operations exactly; powers and round(x, n), which no theory models, are guesses between bounds.
 */
#include <math.h>
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

static Z3_ast product(machine *m, Z3_ast l, Z3_ast r)
{
    return Z3_mk_fpa_mul(m->solver->z, m->solver->nearest, l, r);
}

static Z3_ast size_of(machine *m, Z3_ast x)
{
    return Z3_mk_fpa_abs(m->solver->z, x);
}

/* A number as Float64. NULL: raised. */
static Z3_ast float_term(machine *m, value *v, int line)
{
    if (v->kind == V_OBJECT)
        path_unsupported(m, line, "pass a float", "an object as a float");
    value *x = value_is_number(v) ? int_to_float(m, v, line) : throw(m, "TypeError", line);
    return x ? value_term(m, x) : NULL;
}

/* -- math.isclose() -----------------------------------------------------------------------------
 */

static value *is_close(machine *m, arguments *given, int line)
{
    Z3_context z = m->solver->z;
    value *relative = keyword_argument(given, "rel_tol");
    value *absolute_one = keyword_argument(given, "abs_tol");
    if (!arguments_fit(m, given, 2, 2, line))
        return NULL;
    value *all[] = { given->places.at[0], given->places.at[1],
                     relative ? relative : value_float(m, 1e-9),
                     absolute_one ? absolute_one : value_float(m, 0) };
    Z3_ast x[4], zero = term_float(m, 0);
    for (int i = 0; i < 4; i++)
        if (!(x[i] = float_term(m, all[i], line)))
            return NULL;
    Z3_ast below[] = { Z3_mk_fpa_lt(z, x[2], zero), Z3_mk_fpa_lt(z, x[3], zero) };
    if (path_decide(m, Z3_mk_or(z, 2, below), false))
        return throw(m, "ValueError", line);
    Z3_ast apart = size_of(m, Z3_mk_fpa_sub(z, m->solver->nearest, x[1], x[0]));
    Z3_ast near[] = { Z3_mk_fpa_leq(z, apart, size_of(m, product(m, x[2], x[1]))),
                      Z3_mk_fpa_leq(z, apart, size_of(m, product(m, x[2], x[0]))),
                      Z3_mk_fpa_leq(z, apart, x[3]) };
    Z3_ast infinite[] = { Z3_mk_fpa_is_infinite(z, x[0]), Z3_mk_fpa_is_infinite(z, x[1]) };
    Z3_ast finite[] = { Z3_mk_not(z, Z3_mk_or(z, 2, infinite)), Z3_mk_or(z, 3, near) };
    Z3_ast close[] = { Z3_mk_fpa_eq(z, x[0], x[1]), Z3_mk_and(z, 2, finite) };
    return value_of_bool(m, Z3_mk_or(z, 2, close));
}

/* -- other functions ----------------------------------------------------------------------------
 */

static value *with_sign(machine *m, value *l, value *r, int line)
{
    Z3_context z = m->solver->z;
    Z3_ast x = float_term(m, l, line), y = x ? float_term(m, r, line) : NULL;
    if (!y)
        return NULL;
    if (path_decide(m, Z3_mk_fpa_is_nan(z, y), false))
        path_unsupported(m, line, "test it with math.isnan()", "the sign of NaN");
    Z3_ast size = size_of(m, x);
    return value_of_float(m,
                          Z3_mk_ite(z, Z3_mk_fpa_is_negative(z, y), Z3_mk_fpa_neg(z, size), size));
}

value *float_math(machine *m, const char *name, arguments *given, int line)
{
    static const double turn = 180.0;
    static const double pi = 3.14159265358979323846;
    if (strcmp(name, "isclose") == 0)
        return is_close(m, given, line);
    bool one = given->places.count == 1 && !given->names.count;
    bool two = given->places.count == 2 && !given->names.count;
    if (two && strcmp(name, "fmod") == 0)
        return float_fmod(m, given->places.at[0], given->places.at[1], line);
    if (two && strcmp(name, "copysign") == 0)
        return with_sign(m, given->places.at[0], given->places.at[1], line);
    bool degrees = strcmp(name, "degrees") == 0;
    if (!one || (!degrees && strcmp(name, "radians") != 0))
        return NULL;
    Z3_ast x = float_term(m, given->places.at[0], line);
    return x ? value_of_float(m, product(m, x, term_float(m, degrees ? turn / pi : pi / turn)))
             : NULL;
}

value *float_is_integer(machine *m, value *v, int line)
{
    Z3_context z = m->solver->z;
    if (value_is_quotient(v)) {
        Z3_ast most = term_int(m, INT64_C(1) << 52);
        Z3_ast within[] = { Z3_mk_le(z, v->above, most),
                            Z3_mk_ge(z, v->above, Z3_mk_unary_minus(z, most)) };
        if (!path_decide(m, Z3_mk_and(z, 2, within), true))
            path_unsupported(m, line, "use % of ints", "is_integer() of a quotient beyond 2**52");
        return value_of_bool(m, Z3_mk_eq(z, Z3_mk_mod(z, v->above, v->below), m->solver->zero));
    }
    Z3_ast x = value_term(m, v);
    Z3_ast whole[] = { Z3_mk_not(z, Z3_mk_fpa_is_infinite(z, x)),
                       Z3_mk_fpa_eq(z, x, Z3_mk_fpa_round_to_integral(z, Z3_mk_fpa_rtn(z), x)) };
    return value_of_bool(m, Z3_mk_and(z, 2, whole));
}

/* -- round(x, n) --------------------------------------------------------------------------------
 */

/* The nearest decimal, which is then rounded to a float. Ints are decimals, too, so the result
 * stays between the same two ints. */
value *float_rounded(machine *m, value *v, int64_t places, int line)
{
    enum { MOST_DIGITS = 22 };
    Z3_context z = m->solver->z;
    static const char instead[] = "use ints, or a quotient of ints";
    if (places > MOST_DIGITS)
        path_unsupported(m, line, instead, "round() of a float");
    Z3_ast x = value_term(m, v);
    if (places == 0)
        return value_of_float(m, Z3_mk_fpa_round_to_integral(z, m->solver->nearest, x));
    Z3_ast digits = term_int(m, places);
    Z3_ast guess = path_guess(m, m->solver->floats, "round() of a float", instead, x, digits);
    Z3_ast down = Z3_mk_fpa_rtn(z), up = Z3_mk_fpa_rtp(z);
    Z3_ast half = term_float(m, nextafter(0.5 / pow(10, (double)places), 1) * (1 + 1e-9));
    Z3_ast good[] = {
        Z3_mk_fpa_geq(z, guess, Z3_mk_fpa_round_to_integral(z, down, x)),
        Z3_mk_fpa_leq(z, guess, Z3_mk_fpa_round_to_integral(z, up, x)),
        Z3_mk_fpa_geq(z, guess, Z3_mk_fpa_sub(z, down, x, half)),
        Z3_mk_fpa_leq(z, guess, Z3_mk_fpa_add(z, up, x, half)),
        Z3_mk_not(z, Z3_mk_xor(z, Z3_mk_fpa_is_negative(z, guess), Z3_mk_fpa_is_negative(z, x))),
    };
    return value_of_float(m, Z3_mk_ite(z, Z3_mk_and(z, 5, good), guess, x));
}

/* -- powers -------------------------------------------------------------------------------------
 */

/* The range of results that pow() of the C library may give: it is accurate to a bit or two. */
static Z3_ast is_near_power(machine *m, Z3_ast guess, Z3_ast rough)
{
    Z3_context z = m->solver->z;
    static const double small = 0x1p-900, error = 0x1p-48;
    Z3_ast size = size_of(m, guess), about = size_of(m, rough);
    Z3_ast is_small = Z3_mk_fpa_lt(z, about, term_float(m, small));
    Z3_ast between[] = { Z3_mk_fpa_geq(z, size, product(m, about, term_float(m, 1 - error))),
                         Z3_mk_fpa_leq(z, size, product(m, about, term_float(m, 1 + error))) };
    return Z3_mk_ite(z, is_small, Z3_mk_fpa_leq(z, size, term_float(m, 2 * small)),
                     Z3_mk_and(z, 2, between));
}

static value *power_of_float(machine *m, value *base, int64_t exponent, int line)
{
    enum { MOST_EXPONENT = 4 };
    Z3_context z = m->solver->z;
    if (exponent == 0)
        return value_float(m, 1);
    if (exponent < 0 || exponent > MOST_EXPONENT)
        path_unsupported(m, line, exponent < 0 ? "divide by the power" : "multiply in a loop",
                         "** of a float that is not known with the exponent %lld",
                         (long long)exponent);
    Z3_ast x = value_term(m, base), rough = x;
    for (int64_t i = 1; i < exponent; i++)
        rough = product(m, rough, x);
    Z3_ast size = size_of(m, x), strange[] = { Z3_mk_fpa_is_nan(z, x), Z3_mk_fpa_is_infinite(z, x),
                                               Z3_mk_fpa_is_zero(z, x) };
    if (path_decide(m, Z3_mk_or(z, 3, strange), false))
        return value_of_float(m, rough);
    const double limit = exponent == 1 ? INFINITY : pow(2, 1024 / (double)exponent);
    if (path_decide(m, Z3_mk_fpa_geq(z, size, term_float(m, limit * (1 + 0x1p-45))), false))
        return throw(m, "OverflowError", line);
    if (path_decide(m, Z3_mk_fpa_gt(z, size, term_float(m, limit * (1 - 0x1p-45))), false))
        path_unsupported(m, line, "multiply", "a power just at the limit of floats");
    Z3_ast guess = path_guess(m, m->solver->floats, "** of a float", "multiply", x,
                              term_int(m, exponent));
    /* Size and sign separately, so that the solver need not derive the sign. */
    Z3_ast near = size_of(m, Z3_mk_ite(z, is_near_power(m, guess, rough), guess, rough));
    Z3_ast sure = Z3_mk_ite(z, Z3_mk_fpa_is_nan(z, near), term_float(m, 0), near);
    Z3_ast minus = exponent % 2 ? Z3_mk_fpa_is_negative(z, x) : m->solver->no;
    return value_of_float(m, Z3_mk_ite(z, minus, Z3_mk_fpa_neg(z, sure), sure));
}

value *float_power(machine *m, value *l, value *r, int line)
{
    value *few = value_is_integral(r) ? settled_int(m, r) : NULL;
    if (few && value_is_concrete(m, l)) {
        values given = { (value *[]){ l, few }, 2, 2 };
        return bridge(m, "a ** b", &given, line);
    }
    int64_t exponent;
    if (few && value_whole(few, &exponent) && !value_is_quotient(l))
        return power_of_float(m, l, exponent, line);
    if (r->kind == V_FLOAT && r->known && r->real == floor(r->real) && fabs(r->real) < 1e9 &&
        l->kind == V_FLOAT && !value_is_quotient(l))
        return power_of_float(m, l, (int64_t)r->real, line);
    bool root = r->kind == V_FLOAT && r->known && r->real == 0.5;
    path_unsupported(m, line, root ? "use math.sqrt()" : "multiply",
                     "** on floats that are not known");
}
