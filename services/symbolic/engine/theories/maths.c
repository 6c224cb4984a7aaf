/* The module math: of known values by Python itself, of floats what IEEE 754 defines exactly. */
#include <string.h>

#include "machine/machine.h"

static bool all_known(machine *m, const arguments *given)
{
    for (size_t i = 0; i < given->places.count; i++)
        if (!value_is_concrete(m, given->places.at[i]))
            return false;
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
        all_known(m, given) && strcmp(name, "factorial") != 0 && strcmp(name, "comb") != 0 &&
        strcmp(name, "perm") != 0) {
        const char *expression = arena_print(m->arena, "math.%s(%s)", name,
                                             operands[given->places.count]);
        return bridge(m, expression, &given->places, line);
    }
    if (given->places.count == 1 && !given->names.count && value_is_number(first)) {
        bool whole = value_is_integral(first);
        if (whole &&
            (strcmp(name, "floor") == 0 || strcmp(name, "ceil") == 0 || strcmp(name, "trunc") == 0))
            return value_of_int(m, value_int_term(m, first));
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
    path_unsupported(m, line, "write it out in plain Python",
                     "math.%s() of a value that is not known", name);
}
