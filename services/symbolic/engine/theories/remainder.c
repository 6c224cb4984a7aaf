/*
 * Floor division and remainders of floats, and math.fmod(), as CPython computes them.
 *
 * The theory of floats has IEEE 754's remainder, which is another one, and which no solver decides.
 * A quotient that is rounded down has the floor of the exact quotient, as long as its floor is a
 * float. Below 2**49 the steps that Python's // takes give that floor, too; near 2**53 their own
 * errors show. % is computed where the quotient is below two, or the divisor is a power of two:
 * then no step of it is rounded but the last. Elsewhere it is a guess with bounds: circuits of a
 * fused multiply-add take the solvers minutes.
 */
#include <math.h>
#include <stdlib.h>

#include "theories/theories.h"
#include "machine/terms.h"

enum { MOST_QUOTIENT_BITS = 49, MOST_POWER = 500 };

typedef struct operands {
    Z3_ast x, y;
    double divisor; /* 0: it is not known */
    int line;
} operands;

static Z3_ast is_minus(machine *m, Z3_ast x)
{
    return Z3_mk_fpa_is_negative(m->solver->z, x); /* of -0.0, too */
}

/* A zero with the sign of a float. */
static Z3_ast zero_like(machine *m, Z3_ast x)
{
    return term_if(m, is_minus(m, x), term_float(m, -0.0), term_float(m, 0.0));
}

static Z3_ast is_whole(machine *m, Z3_ast x)
{
    Z3_context z = m->solver->z;
    return Z3_mk_fpa_eq(z, x, Z3_mk_fpa_round_to_integral(z, Z3_mk_fpa_rtz(z), x));
}

static Z3_ast signs_differ(machine *m, const operands *of)
{
    return Z3_mk_xor(m->solver->z, is_minus(m, of->x), is_minus(m, of->y));
}

/* |x| < |y| * 2**bits */
static Z3_ast is_within(machine *m, const operands *of, int bits)
{
    Z3_context z = m->solver->z;
    Z3_ast most = of->divisor != 0 ? term_float(m, ldexp(fabs(of->divisor), bits))
                                   : Z3_mk_fpa_mul(z, m->solver->nearest, Z3_mk_fpa_abs(z, of->y),
                                                   term_float(m, ldexp(1, bits)));
    return Z3_mk_fpa_lt(z, Z3_mk_fpa_abs(z, of->x), most);
}

/* The result of % is between zero and the divisor, and has its sign; only if the signs of the
 * operands differ, it may be rounded to the divisor itself. Stating this for a computed term, too,
 * saves the solver the proof. */
static value *in_bounds(machine *m, const operands *of, Z3_ast rest)
{
    Z3_context z = m->solver->z;
    Z3_ast size = Z3_mk_fpa_abs(z, rest), most = Z3_mk_fpa_abs(z, of->y);
    Z3_ast good[] = { Z3_mk_ite(z, signs_differ(m, of), Z3_mk_fpa_leq(z, size, most),
                                Z3_mk_fpa_lt(z, size, most)),
                      Z3_mk_not(z, Z3_mk_xor(z, is_minus(m, rest), is_minus(m, of->y))) };
    return value_of_float(m, term_if(m, Z3_mk_and(z, 2, good), rest, zero_like(m, of->y)));
}

/* -- the cases ----------------------------------------------------------------------------------
 */

/* |x| < |y|: no division is needed. */
static value *of_less(machine *m, operator_kind op, const operands *of)
{
    Z3_context z = m->solver->z;
    Z3_ast x_zero = Z3_mk_fpa_is_zero(z, of->x), differ = signs_differ(m, of);
    Z3_ast crosses = Z3_mk_and(z, 2, (Z3_ast[]){ Z3_mk_not(z, x_zero), differ });
    if (op == OP_FLOORDIV)
        return value_of_float(m,
                              term_if(m, crosses, term_float(m, -1.0),
                                      term_if(m, differ, term_float(m, -0.0), term_float(m, 0.0))));
    Z3_ast around = Z3_mk_fpa_add(z, m->solver->nearest, of->x, of->y);
    return in_bounds(m, of,
                     term_if(m, x_zero, zero_like(m, of->y), term_if(m, differ, around, of->x)));
}

/* |y| <= |x| < 2 * |y|: the difference is exact. */
static Z3_ast of_twice(machine *m, const operands *of)
{
    Z3_context z = m->solver->z;
    Z3_ast away = term_if(m, signs_differ(m, of), Z3_mk_fpa_neg(z, of->y), of->y);
    return Z3_mk_fpa_sub(z, m->solver->nearest, of->x, away);
}

/* The result of %, from the remainder with the sign of x. */
static value *with_sign_of_divisor(machine *m, const operands *of, Z3_ast rest)
{
    Z3_context z = m->solver->z;
    Z3_ast around = Z3_mk_fpa_add(z, m->solver->nearest, rest, of->y);
    return in_bounds(m, of,
                     term_if(m, Z3_mk_fpa_is_zero(z, rest), zero_like(m, of->y),
                             term_if(m, signs_differ(m, of), around, rest)));
}

/* The quotient, rounded down to a float and then to a whole number. */
static value *floor_of_quotient(machine *m, const operands *of)
{
    Z3_context z = m->solver->z;
    Z3_ast down = Z3_mk_fpa_rtn(z);
    return value_of_float(
        m, Z3_mk_fpa_round_to_integral(z, down, Z3_mk_fpa_div(z, down, of->x, of->y)));
}

static bool is_power_of_two(double divisor)
{
    int exponent;
    return divisor != 0 && fabs(frexp(divisor, &exponent)) == 0.5 && abs(exponent) < MOST_POWER;
}

/* By a power of two division and multiplication are exact, for any quotient; from 2**53 on there is
 * no rest. */
static value *of_power_of_two(machine *m, operator_kind op, const operands *of)
{
    Z3_context z = m->solver->z;
    Z3_ast down = Z3_mk_fpa_rtn(z);
    Z3_ast part = of->divisor == 1 ? of->x
                                   : Z3_mk_fpa_mul(z, down, of->x, term_float(m, 1 / of->divisor));
    if (op == OP_FLOORDIV) { /* where it overflows, Python's is rounded to nearest */
        Z3_ast quotient = Z3_mk_fpa_mul(z, m->solver->nearest, of->x,
                                        term_float(m, 1 / of->divisor));
        return value_of_float(m, term_if(m, is_within(m, of, 53),
                                         Z3_mk_fpa_round_to_integral(z, down, part), quotient));
    }
    Z3_ast whole = Z3_mk_fpa_round_to_integral(z, down, part);
    Z3_ast product = of->divisor == 1 ? whole : Z3_mk_fpa_mul(z, m->solver->nearest, whole, of->y);
    Z3_ast rest = Z3_mk_fpa_sub(z, m->solver->nearest, of->x, product);
    Z3_ast none = Z3_mk_or(
        z, 2, (Z3_ast[]){ Z3_mk_fpa_eq(z, product, of->x), Z3_mk_not(z, is_within(m, of, 53)) });
    return in_bounds(m, of, term_if(m, none, zero_like(m, of->y), rest));
}

/* A guess, if it satisfies the conditions of the result; otherwise another value that does. */
static value *bounded(machine *m, const operands *of, const char *what, const char *instead,
                      value *(*limits)(machine *m, const operands *of, Z3_ast guess))
{
    Z3_ast guess = path_guess(m, m->solver->floats, what, instead, of->x, of->y);
    m->solver->floats_used = true;
    return limits(m, of, guess);
}

static value *limit_whole(machine *m, const operands *of, Z3_ast guess)
{
    Z3_context z = m->solver->z;
    Z3_ast least = term_float(m, ldexp(1, MOST_QUOTIENT_BITS - 1));
    Z3_ast size = Z3_mk_fpa_abs(z, guess);
    Z3_ast good[] = { Z3_mk_fpa_geq(z, size, least), is_whole(m, size) };
    Z3_ast fair = term_if(m, Z3_mk_and(z, 2, good), size, least);
    return value_of_float(m, term_if(m, signs_differ(m, of), Z3_mk_fpa_neg(z, fair), fair));
}

/* For whole numbers, the result is a whole number. */
static value *limit_rest(machine *m, const operands *of, Z3_ast guess)
{
    Z3_context z = m->solver->z;
    Z3_ast wholes[] = { is_whole(m, of->x), is_whole(m, of->y), Z3_mk_not(z, is_whole(m, guess)) };
    return in_bounds(m, of, term_if(m, Z3_mk_and(z, 3, wholes), zero_like(m, of->y), guess));
}

static value *limit_fmod(machine *m, const operands *of, Z3_ast guess)
{
    Z3_context z = m->solver->z;
    Z3_ast good[] = { Z3_mk_fpa_lt(z, Z3_mk_fpa_abs(z, guess), Z3_mk_fpa_abs(z, of->y)),
                      Z3_mk_not(z, Z3_mk_xor(z, is_minus(m, guess), is_minus(m, of->x))) };
    return value_of_float(m, term_if(m, Z3_mk_and(z, 2, good), guess, zero_like(m, of->x)));
}

/* -- floats that are whole numbers --------------------------------------------------------------
 */

/* A number that is certainly whole and not rounded, as an Int term; NULL: it may be another. */
static Z3_ast whole_term(machine *m, const value *v)
{
    Z3_context z = m->solver->z;
    const double most = ldexp(1, 53);
    if (v->kind == V_FLOAT && v->known) {
        bool good = v->real == floor(v->real) && fabs(v->real) <= most;
        return good ? term_int(m, (int64_t)v->real) : NULL;
    }
    if (v->kind == V_FLOAT && (!value_is_quotient(v) || v->below != m->solver->one))
        return NULL;
    Z3_ast term = v->kind == V_FLOAT ? v->above : value_int_term(m, v);
    Z3_ast limit = term_int(m, INT64_C(1) << 53);
    Z3_ast within[] = { Z3_mk_le(z, term, limit), Z3_mk_ge(z, term, Z3_mk_unary_minus(z, limit)) };
    return path_decide(m, Z3_mk_and(z, 2, within), true) ? term : NULL;
}

/* Of whole numbers up to 2**53 the result is that of the ints; only -0.0 is none of them. */
static value *of_wholes(machine *m, operator_kind op, value *l, value *r, int line)
{
    Z3_ast b = whole_term(m, r), a = b ? whole_term(m, l) : NULL;
    if (!a)
        return NULL;
    value *result = integer_binary(m, op, value_of_int(m, a), value_of_int(m, b), line);
    if (!result)
        return NULL;
    value *made = value_quotient(m, value_int_term(m, result), m->solver->one);
    made->flipped = true;
    return made;
}

/* -- what others call ---------------------------------------------------------------------------
 */

static const char instead_of_float[] = "use ints, or a divisor that is a power of two";

/* Both as floats, in this order. False: raised. */
static bool as_floats(machine *m, value *l, value *r, operands *of, int line)
{
    value *x = int_to_float(m, l, line), *y = x ? int_to_float(m, r, line) : NULL;
    if (!y)
        return false;
    *of = (operands){ value_term(m, x), value_term(m, y), 0, line };
    if (y->known && isfinite(y->real))
        of->divisor = y->real;
    return true;
}

/* fmod() of |x| >= |y|, if the sign of a zero does not matter. NULL: it needs a guess. */
static Z3_ast fmod_of(machine *m, const operands *of)
{
    bool twice = of->divisor != 0 && path_decide(m, is_within(m, of, 1), true);
    return twice ? of_twice(m, of) : NULL;
}

value *float_divide(machine *m, operator_kind op, value *l, value *r, int line)
{
    Z3_context z = m->solver->z;
    operands of;
    value *result = of_wholes(m, op, l, r, line);
    if (result || m->raised)
        return result;
    if (!as_floats(m, l, r, &of, line))
        return NULL;
    if (path_decide(m, Z3_mk_fpa_is_zero(z, of.y), false))
        return throw(m, "ZeroDivisionError", line);
    Z3_ast strange[] = { Z3_mk_fpa_is_nan(z, of.x), Z3_mk_fpa_is_infinite(z, of.x),
                         Z3_mk_fpa_is_nan(z, of.y) };
    if (path_decide(m, Z3_mk_or(z, 3, strange), false))
        return value_float(m, NAN);
    if (is_power_of_two(of.divisor))
        return of_power_of_two(m, op, &of);
    if (path_decide(m, Z3_mk_fpa_lt(z, Z3_mk_fpa_abs(z, of.x), Z3_mk_fpa_abs(z, of.y)), true))
        return of_less(m, op, &of);
    if (op == OP_FLOORDIV)
        return path_decide(m, is_within(m, &of, MOST_QUOTIENT_BITS), true)
                   ? floor_of_quotient(m, &of)
                   : bounded(m, &of, "// of floats whose quotient is 2**49 or more",
                             instead_of_float, limit_whole);
    Z3_ast rest = fmod_of(m, &of);
    return rest ? with_sign_of_divisor(m, &of, rest)
                : bounded(m, &of, "% of floats", instead_of_float, limit_rest);
}

value *float_fmod(machine *m, value *l, value *r, int line)
{
    Z3_context z = m->solver->z;
    operands of;
    if (l->kind == V_OBJECT || r->kind == V_OBJECT)
        path_unsupported(m, line, "pass a float", "an object as a float");
    if (!value_is_number(l) || !value_is_number(r))
        return throw(m, "TypeError", line);
    if (!as_floats(m, l, r, &of, line))
        return NULL;
    Z3_ast nan[] = { Z3_mk_fpa_is_nan(z, of.x), Z3_mk_fpa_is_nan(z, of.y) };
    if (path_decide(m, Z3_mk_or(z, 2, nan), false))
        return value_float(m, NAN);
    Z3_ast wrong[] = { Z3_mk_fpa_is_infinite(z, of.x), Z3_mk_fpa_is_zero(z, of.y) };
    if (path_decide(m, Z3_mk_or(z, 2, wrong), false))
        return throw(m, "ValueError", line);
    if (path_decide(m, Z3_mk_fpa_lt(z, Z3_mk_fpa_abs(z, of.x), Z3_mk_fpa_abs(z, of.y)), true))
        return value_of_float(m, of.x);
    Z3_ast rest = fmod_of(m, &of);
    return rest
               ? value_of_float(m, term_if(m, Z3_mk_fpa_is_zero(z, rest), zero_like(m, of.x), rest))
               : bounded(m, &of, "math.fmod() of floats", instead_of_float, limit_fmod);
}
