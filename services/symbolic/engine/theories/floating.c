/* Floats: IEEE 754 double precision, rounded to nearest, as Python computes with them. */
#include <math.h>

#include "theories/theories.h"

/* The operands as Float64. An int beside a float is converted, as Python does. False: raised. */
static bool terms(machine *m, value *l, value *r, Z3_ast out[2], int line)
{
    value *both_sides[] = { l, r };
    for (int i = 0; i < 2; i++) {
        value *converted = int_to_float(m, both_sides[i], line);
        if (!converted)
            return false;
        out[i] = value_term(m, converted);
    }
    return true;
}

static value *by_python(machine *m, const char *expression, value *l, value *r, int line)
{
    values given = { (value *[]){ l, r }, 2, 2 };
    return bridge(m, expression, &given, line);
}

value *float_binary(machine *m, operator_kind op, value *l, value *r, int line)
{
    Z3_context z = m->solver->z;
    Z3_ast of[2], nearest = m->solver->nearest;
    if (value_is_concrete(m, l) && value_is_concrete(m, r)) {
        double a = l->kind == V_FLOAT ? l->real : 0, b = r->kind == V_FLOAT ? r->real : 0;
        bool floats = l->kind == V_FLOAT && r->kind == V_FLOAT;
        switch (op) {
        case OP_ADD:
            return floats ? value_float(m, a + b) : by_python(m, "a + b", l, r, line);
        case OP_SUB:
            return floats ? value_float(m, a - b) : by_python(m, "a - b", l, r, line);
        case OP_MULT:
            return floats ? value_float(m, a * b) : by_python(m, "a * b", l, r, line);
        case OP_DIV:
            return by_python(m, "a / b", l, r, line);
        case OP_FLOORDIV:
            return by_python(m, "a // b", l, r, line);
        case OP_MOD:
            return by_python(m, "a % b", l, r, line);
        case OP_POW:
            return by_python(m, "a ** b", l, r, line);
        default:
            return throw(m, "TypeError", line);
        }
    }
    switch (op) {
    case OP_ADD:
        if (!terms(m, l, r, of, line))
            return NULL;
        return value_of_float(m, Z3_mk_fpa_add(z, nearest, of[0], of[1]));
    case OP_SUB:
        if (!terms(m, l, r, of, line))
            return NULL;
        return value_of_float(m, Z3_mk_fpa_sub(z, nearest, of[0], of[1]));
    case OP_MULT:
        if (!terms(m, l, r, of, line))
            return NULL;
        return value_of_float(m, Z3_mk_fpa_mul(z, nearest, of[0], of[1]));
    case OP_DIV:
        if (!terms(m, l, r, of, line))
            return NULL;
        if (path_decide(m, Z3_mk_fpa_is_zero(z, of[1]), false))
            return throw(m, "ZeroDivisionError", line);
        return value_of_float(m, Z3_mk_fpa_div(z, nearest, of[0], of[1]));
    case OP_FLOORDIV:
    case OP_MOD:
        return float_divide(m, op, l, r, line);
    case OP_POW:
        return float_power(m, l, r, line);
    default:
        return throw(m, "TypeError", line);
    }
}
