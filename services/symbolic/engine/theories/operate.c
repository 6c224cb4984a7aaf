/* Operators: choose the theory for a pair of operands. */
#include <string.h>

#include "theories/theories.h"

value *choose(machine *m, Z3_ast condition, value *yes, value *no)
{
    if (yes == no)
        return yes;
    if (yes->kind != no->kind)
        return NULL;
    if (yes->kind == V_NONE)
        return yes;
    if (yes->kind == V_DATE || yes->kind == V_DELTA)
        return date_choose(m, condition, yes, no);
    if (yes->kind == V_BYTES)
        return value_bytes(m, choose(m, condition, yes->bytes.text, no->bytes.text));
    if (!value_is_scalar(yes)) {
        if (yes->kind != V_TUPLE || yes->in.items.count != no->in.items.count)
            return NULL;
        value *made = value_sequence(m, V_TUPLE, yes->in.items.count);
        for (size_t i = 0; i < yes->in.items.count; i++) {
            value *one = choose(m, condition, yes->in.items.at[i], no->in.items.at[i]);
            if (!one)
                return NULL;
            values_add(m, &made->in.items, one);
        }
        return made;
    }
    if (yes->kind == V_STR) {
        bool joined = false;
        value *made = text_choose(m, condition, yes, no, &joined);
        if (joined)
            return made;
    }
    Z3_ast a = value_term(m, yes), b = value_term(m, no);
    /* Two floats of one term are two objects, which a container distinguishes if they are NaN. */
    bool nan = yes->kind == V_FLOAT &&
               (yes->known ? yes->real != yes->real : !value_is_quotient(yes));
    return a == b && !nan ? yes : value_of(m, yes->kind, Z3_mk_ite(m->solver->z, condition, a, b));
}

value *negated(machine *m, value *truth)
{
    return truth->known ? value_bool(m, !truth->truth)
                        : value_of_bool(m, Z3_mk_not(m->solver->z, truth->term));
}

value *both(machine *m, value *l, value *r)
{
    if (l->known)
        return l->truth ? r : l;
    if (r->known)
        return r->truth ? l : r;
    return value_of_bool(m, Z3_mk_and(m->solver->z, 2, (Z3_ast[]){ l->term, r->term }));
}

value *either(machine *m, value *l, value *r)
{
    if (l->known)
        return l->truth ? l : r;
    if (r->known)
        return r->truth ? r : l;
    return value_of_bool(m, Z3_mk_or(m->solver->z, 2, (Z3_ast[]){ l->term, r->term }));
}

value *truth_of(machine *m, value *v)
{
    Z3_context z = m->solver->z;
    switch (v->kind) {
    case V_NONE:
        return value_bool(m, false);
    case V_BOOL:
        return v;
    case V_INT:
        return v->known ? value_bool(m, v->number != 0)
                        : value_of_bool(m, Z3_mk_not(z, Z3_mk_eq(z, v->term, m->solver->zero)));
    case V_FLOAT:
        if (!v->known) { /* not v == 0.0 */
            value *zero = equal(m, v, value_float(m, 0), m->line);
            return zero ? negated(m, zero) : NULL;
        }
        return value_bool(m, v->real != 0);
    case V_STR:
        if (text_is_pending(v)) /* it has quotes */
            return value_bool(m, true);
        return v->known || v->str.codes
                   ? value_bool(m, v->str.count != 0)
                   : value_of_bool(m, Z3_mk_not(z, Z3_mk_eq(z, v->term, Z3_mk_string(z, ""))));
    case V_BYTES:
        return truth_of(m, v->bytes.text);
    case V_LIST:
        if (value_is_lazy(v))
            return value_of_bool(m, Z3_mk_gt(z, v->lazy.length, m->solver->zero));
        return v->slots ? slots_truth(m, v) : value_bool(m, v->in.items.count != 0);
    case V_TUPLE:
    case V_DICT:
    case V_SET:
        return v->slots ? slots_truth(m, v) : value_bool(m, v->in.items.count != 0);
    case V_RANGE:
        return range_truth(m, v);
    case V_VIEW: {
        value *length = length_of(m, v, m->line);
        return length ? truth_of(m, length) : NULL;
    }
    case V_OBJECT:
        return object_truth(m, v);
    case V_CLASS:
        return value_bool(m, true); /* of an Enum, too */
    case V_DELTA:
        return date_truth(m, v);
    case V_NOT_IMPLEMENTED:
        path_unsupported(m, 0, NULL, "NotImplemented as a condition");
    default:
        return value_bool(m, true);
    }
}

int decide_truth(machine *m, value *v, bool prefer)
{
    value *truth = truth_of(m, v);
    if (!truth)
        return -1;
    return truth->known ? truth->truth : path_decide(m, truth->term, prefer);
}

/* -- set operators ----------------------------------------------------------------------------- */

/* Which of two equal items & keeps matters only if their types differ: 1 and True. */
static bool is_same_shape(const value *l, const value *r)
{
    if (l->kind != r->kind)
        return false;
    for (size_t i = 0; l->kind == V_TUPLE && i < l->in.items.count; i++)
        if (!is_same_shape(l->in.items.at[i], r->in.items.at[i]))
            return false;
    return l->kind != V_SET && l->kind != V_OBJECT;
}

static value *set_binary(machine *m, operator_kind op, value *l, value *r, int line)
{
    value *made = value_new(m, V_SET);
    made->frozen = l->frozen;
    settle(m, l);
    settle(m, r);
    if (op != OP_BITAND && op != OP_BITOR && op != OP_SUB && op != OP_BITXOR)
        return throw(m, "TypeError", line);
    for (size_t i = 0; i < l->in.items.count; i++) {
        value *item = l->in.items.at[i];
        long there = op == OP_BITOR ? -1 : find_key(m, r, item, line);
        if (there == -2)
            return NULL;
        if (op == OP_BITAND && there >= 0 && !is_same_shape(item, r->in.items.at[there]))
            path_unsupported(m, line, "use items of one type",
                             "& of sets with items of several types");
        if (op == OP_BITAND ? there >= 0 : there < 0)
            values_add(m, &made->in.items, item);
    }
    for (size_t i = 0; (op == OP_BITOR || op == OP_BITXOR) && i < r->in.items.count; i++) {
        long there = find_key(m, l, r->in.items.at[i], line);
        if (there == -2)
            return NULL;
        if (there < 0)
            values_add(m, &made->in.items, r->in.items.at[i]);
    }
    return made;
}

static value *merged(machine *m, value *l, value *r, int line)
{
    value *made = value_new(m, V_DICT);
    settle(m, l);
    settle(m, r);
    for (size_t i = 0; i < l->in.items.count; i++) {
        values_add(m, &made->in.items, l->in.items.at[i]);
        values_add(m, &made->in.others, l->in.others.at[i]);
    }
    for (size_t i = 0; i < r->in.items.count; i++)
        if (!set_key(m, made, r->in.items.at[i], r->in.others.at[i], line))
            return NULL;
    return made;
}

static value *joined(machine *m, value *l, value *r)
{
    if ((l->slots || r->slots) && !value_is_lazy(l) && !value_is_lazy(r)) {
        slots all = slots_of(m, l), more = slots_of(m, r);
        for (size_t i = 0; i < more.count; i++)
            slots_add(m, &all, more.at[i].guard, more.at[i].item, NULL);
        value *made = value_new(m, l->kind);
        slots_give(m, made, all);
        return made;
    }
    settle(m, l);
    settle(m, r);
    value *made = value_sequence(m, l->kind, l->in.items.count + r->in.items.count);
    for (size_t i = 0; i < l->in.items.count; i++)
        values_add(m, &made->in.items, l->in.items.at[i]);
    for (size_t i = 0; i < r->in.items.count; i++)
        values_add(m, &made->in.items, r->in.items.at[i]);
    return made;
}

value *binary(machine *m, operator_kind op, value *l, value *r, int line)
{
    if (l->kind == V_STR && op == OP_MOD && !value_is_concrete(m, r))
        return text_binary(m, op, l, r, line);
    /* With a view these operators make a set of any iterable. */
    bool of_sets = op == OP_BITAND || op == OP_BITOR || op == OP_BITXOR || op == OP_SUB;
    if (of_sets && (l->kind == V_VIEW || r->kind == V_VIEW))
        path_unsupported(m, line, "make a set or list of it", "an operator on a view of a dict");
    if (l->kind == V_OBJECT || r->kind == V_OBJECT)
        return object_binary(m, op, l, r, line);
    if (l->kind == V_DATE || l->kind == V_DELTA || r->kind == V_DATE || r->kind == V_DELTA)
        return date_binary(m, op, l, r, line);
    if (l->kind == V_BYTES || r->kind == V_BYTES)
        return bytes_binary(m, op, l, r, line);
    value *result;
    if (kin_binary(m, op, l, r, &result, line))
        return result;
    if (value_is_integral(l) && value_is_integral(r))
        return integer_binary(m, op, l, r, line);
    if (value_is_number(l) && value_is_number(r))
        return float_binary(m, op, l, r, line);
    if (l->kind == V_STR && (r->kind == V_STR || op == OP_MOD))
        return text_binary(m, op, l, r, line);
    if (op == OP_ADD && l->kind == r->kind && (l->kind == V_LIST || l->kind == V_TUPLE))
        return joined(m, l, r);
    if (op == OP_MULT) {
        bool left = l->kind == V_LIST || l->kind == V_TUPLE || l->kind == V_STR;
        bool right = r->kind == V_LIST || r->kind == V_TUPLE || r->kind == V_STR;
        if (left && value_is_integral(r))
            return repeat(m, l, r, line);
        if (right && value_is_integral(l))
            return repeat(m, r, l, line);
    }
    if (l->kind == V_SET && r->kind == V_SET)
        return set_binary(m, op, l, r, line);
    if (op == OP_BITOR && l->kind == V_DICT && r->kind == V_DICT)
        return merged(m, l, r, line);
    bool has_type = l->kind == V_BUILTIN || l->kind == V_CLASS || r->kind == V_BUILTIN ||
                    r->kind == V_CLASS;
    if (op == OP_BITOR && has_type)
        path_unsupported(m, line, "use typing.Union", "a union of types as a value");
    return throw(m, "TypeError", line);
}

value *unary(machine *m, operator_kind op, value *v, int line)
{
    Z3_context z = m->solver->z;
    if (op == OP_NOT) {
        value *truth = truth_of(m, v);
        return truth ? negated(m, truth) : NULL;
    }
    if (v->kind == V_OBJECT)
        return object_unary(m, op, v, line);
    if (v->kind == V_FLOAT && op != OP_INVERT)
        return op == OP_UADD ? v
               : v->known    ? value_float(m, -v->real)
                             : value_of_float(m, Z3_mk_fpa_neg(z, value_term(m, v)));
    value *result;
    if (kin_unary(m, op, v, &result, line))
        return result;
    if (v->kind == V_DELTA && op != OP_INVERT)
        return op == OP_UADD ? v : date_negative(m, v, line);
    if (!value_is_integral(v))
        return throw(m, "TypeError", line);
    int64_t number;
    if (value_whole(v, &number) && number != INT64_MIN)
        return value_int(m, op == OP_UADD ? number : op == OP_USUB ? -number : -number - 1);
    Z3_ast term = value_int_term(m, v), minus = Z3_mk_unary_minus(z, term);
    return value_of_int(m, op == OP_UADD   ? term
                           : op == OP_USUB ? minus
                                           : Z3_mk_sub(z, 2, (Z3_ast[]){ minus, m->solver->one }));
}

value *absolute(machine *m, value *v, int line)
{
    Z3_context z = m->solver->z;
    int64_t number;
    if (v->kind == V_FLOAT)
        return v->known ? value_float(m, __builtin_fabs(v->real))
                        : value_of_float(m, Z3_mk_fpa_abs(z, value_term(m, v)));
    if (v->kind == V_DELTA) {
        value *below = compare(m, OP_LT, v->delta.days, value_int(m, 0), line);
        return decide_truth(m, below, false) ? date_negative(m, v, line) : v;
    }
    if (!value_is_integral(v))
        return throw(m, "TypeError", line);
    if (value_whole(v, &number) && number != INT64_MIN)
        return value_int(m, number < 0 ? -number : number);
    Z3_ast term = value_int_term(m, v);
    return value_of_int(
        m, Z3_mk_ite(z, Z3_mk_lt(z, term, m->solver->zero), Z3_mk_unary_minus(z, term), term));
}
