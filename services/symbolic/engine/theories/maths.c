/* The module math: of known values by Python itself, of floats what IEEE 754 defines exactly. */
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

static bool all_known(machine *m, const arguments *given)
{
    for (size_t i = 0; i < given->places.count; i++)
        if (!value_is_concrete(m, given->places.at[i]))
            return false;
    return true;
}

/* floor(), ceil() and trunc() of a / b. Up to 2**53 a quotient that is no int is never rounded to
 * one: the nearest int is at least 1 / b away, which is more than half of the distance of two
 * floats. */
static value *whole_of_quotient(machine *m, const value *v, const char *name, int line)
{
    Z3_context z = m->solver->z;
    Z3_ast most = term_int(m, INT64_C(1) << 53);
    Z3_ast outside[] = { Z3_mk_gt(z, v->above, most),
                         Z3_mk_lt(z, v->above, Z3_mk_unary_minus(z, most)) };
    if (path_decide(m, Z3_mk_or(z, 2, outside), false))
        path_unsupported(m, line, "use // of ints",
                         "math.%s() of a quotient of an int beyond 2**53", name);
    value *above = value_of_int(m, v->above), *below = value_of_int(m, v->below);
    value *zero = value_int(m, 0);
    value *down = integer_binary(m, OP_FLOORDIV, above, below, line);
    value *minus = integer_binary(m, OP_SUB, zero, above, line);
    value *up = down ? integer_binary(m, OP_FLOORDIV, minus, below, line) : NULL;
    if (!up) /* a path on which the solver could not tell that `below` is not 0 */
        return NULL;
    up = integer_binary(m, OP_SUB, zero, up, line);
    if (strcmp(name, "trunc") != 0)
        return name[0] == 'f' ? down : up;
    return value_of_int(m, Z3_mk_ite(z, Z3_mk_lt(z, v->above, m->solver->zero),
                                     value_int_term(m, up), value_int_term(m, down)));
}

static value *product(machine *m, arguments *given, int line)
{
    value *made = keyword_argument(given, "start"), *item;
    cursor at = { 0 };
    if (!arguments_fit(m, given, 1, 1, line) || !is_iterable(m, given->places.at[0], line))
        return NULL;
    made = made ? made : value_int(m, 1);
    while (made && (item = item_next(m, given->places.at[0], &at, line)))
        made = binary(m, OP_MULT, made, item, line);
    return m->raised ? NULL : made;
}

/* factorial(), comb() and perm() are computed up to a size. */
static bool is_small(const arguments *given)
{
    enum { MOST = 300 };
    for (size_t i = 0; i < given->places.count; i++) {
        int64_t n;
        if (value_is_integral(given->places.at[i]) &&
            (!value_whole(given->places.at[i], &n) || n > MOST))
            return false;
    }
    return true;
}

value *call_math(machine *m, const char *name, arguments *given, int line)
{
    Z3_context z = m->solver->z;
    value *first = given->places.count ? given->places.at[0] : NULL;
    for (size_t i = 0; i < given->places.count; i++) {
        bool whole_only = strcmp(name, "floor") == 0 || strcmp(name, "ceil") == 0 ||
                          strcmp(name, "trunc") == 0;
        value *few = whole_only ? NULL : settled_int(m, given->places.at[i]);
        if (few)
            given->places.at[i] = few;
    }
    static const char *const operands[] = { "", "a", "a, b", "a, b, c" };
    if (!given->names.count && given->places.count < sizeof operands / sizeof *operands &&
        all_known(m, given) &&
        (is_small(given) || (strcmp(name, "factorial") != 0 && strcmp(name, "comb") != 0 &&
                             strcmp(name, "perm") != 0))) {
        const char *expression = arena_print(m->arena, "math.%s(%s)", name,
                                             operands[given->places.count]);
        return bridge(m, expression, &given->places, line);
    }
    if (strcmp(name, "prod") == 0)
        return product(m, given, line);
    if (given->places.count == 1 && !given->names.count && value_is_number(first)) {
        if (value_is_quotient(first) &&
            (strcmp(name, "floor") == 0 || strcmp(name, "ceil") == 0 || strcmp(name, "trunc") == 0))
            return whole_of_quotient(m, first, name, line);
        bool whole = value_is_integral(first);
        if (whole &&
            (strcmp(name, "floor") == 0 || strcmp(name, "ceil") == 0 || strcmp(name, "trunc") == 0))
            return value_of_int(m, value_int_term(m, first));
        if (!whole &&
            (strcmp(name, "floor") == 0 || strcmp(name, "ceil") == 0 || strcmp(name, "trunc") == 0))
            return float_to_int(m, first, name[0], line);
        if (value_is_quotient(first) && (strcmp(name, "isnan") == 0 || strcmp(name, "isinf") == 0))
            return value_bool(m, false);
        if (!whole && strcmp(name, "isnan") == 0)
            return value_of_bool(m, Z3_mk_fpa_is_nan(z, value_term(m, first)));
        if (!whole && strcmp(name, "isinf") == 0)
            return value_of_bool(m, Z3_mk_fpa_is_infinite(z, value_term(m, first)));
        if (!whole && strcmp(name, "isfinite") == 0) {
            Z3_ast either_of[] = { Z3_mk_fpa_is_nan(z, value_term(m, first)),
                                   Z3_mk_fpa_is_infinite(z, value_term(m, first)) };
            return value_of_bool(m, Z3_mk_not(z, Z3_mk_or(z, 2, either_of)));
        }
        if (!whole && strcmp(name, "fabs") == 0)
            return value_of_float(m, Z3_mk_fpa_abs(z, value_term(m, first)));
        if (!whole && strcmp(name, "sqrt") == 0) {
            Z3_ast zero = Z3_mk_fpa_zero(z, m->solver->floats, false);
            if (path_decide(m, Z3_mk_fpa_lt(z, value_term(m, first), zero), false))
                return throw(m, "ValueError", line);
            return value_of_float(m, Z3_mk_fpa_sqrt(z, m->solver->nearest, value_term(m, first)));
        }
    }
    value *result = float_math(m, name, given, line);
    if (result || m->raised)
        return result;
    path_unsupported(m, line, "write it out in plain Python",
                     "math.%s() of a value that is not known", name);
}
