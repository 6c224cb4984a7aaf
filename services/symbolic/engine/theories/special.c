/*
 * Special methods of classes of the code: ==, <, +, len(), truth, items, `in`.
 *
 * They are looked up in the class, never in the object. A method that returns NotImplemented leaves
 * the question to the other side. If a class does not define a method, an object that is also an
 * int, str or tuple uses that of this type.
 */
#include <string.h>

#include "theories/theories.h"

value *special_of(const value *v, const char *name)
{
    return v->kind == V_OBJECT ? class_member(v->object.class, name) : NULL;
}

value *plain_of(value *v)
{
    return v->kind == V_OBJECT && v->object.plain ? v->object.plain : v;
}

value *call_method_with(machine *m, value *self, value *method, values given, int line)
{
    arguments all = { .places = given };
    if (method->kind == V_WRAPPER && method->wrapper.as == AS_STATIC)
        return call(m, method->wrapper.get, &all, line);
    if (method->kind == V_WRAPPER && method->wrapper.as == AS_CLASS)
        return call_member(m, self->object.class, method->wrapper.get, &all, line);
    if (method->kind == V_NONE)
        return throw(m, "TypeError", line);
    if (method->kind != V_FUNCTION && !(method->kind == V_BUILTIN && method->builtin.self))
        path_unsupported(m, line, "make it a method", "a special method that is no function");
    return call_member(m, self, method, &all, line);
}

value *call_special(machine *m, value *self, value *method, value *argument, int line)
{
    values given = { 0 };
    if (argument)
        values_add(m, &given, argument);
    return call_method_with(m, self, method, given, line);
}

static bool is_declined(const value *v)
{
    return v && v->kind == V_NOT_IMPLEMENTED;
}

/* -- comparison -------------------------------------------------------------------------------- */

static const struct {
    operator_kind op, turned;
    const char *method;
} comparisons[] = { { OP_EQ, OP_EQ, "__eq__" }, { OP_NOTEQ, OP_NOTEQ, "__ne__" },
                    { OP_LT, OP_GT, "__lt__" }, { OP_LTE, OP_GTE, "__le__" },
                    { OP_GT, OP_LT, "__gt__" }, { OP_GTE, OP_LTE, "__ge__" } };

static size_t place_of(operator_kind op)
{
    size_t i = 0;
    while (comparisons[i].op != op)
        i++;
    return i;
}

/* True if their types are compared as an int, str or tuple. */
static bool compares_plainly(const value *l, const value *r)
{
    return (value_is_number(l) && value_is_number(r)) || l->kind == r->kind;
}

/* The result of the method of one side, which may be NotImplemented. */
static value *compare_side(machine *m, operator_kind op, value *self, value *other, int line)
{
    value *method = special_of(self, comparisons[place_of(op)].method);
    if (method)
        return call_special(m, self, method, other, line);
    value *equals = op == OP_NOTEQ ? special_of(self, "__eq__") : NULL;
    if (equals) {
        value *result = call_special(m, self, equals, other, line);
        if (!result || is_declined(result))
            return result;
        value *truth = truth_of(m, result);
        return truth ? negated(m, truth) : NULL;
    }
    value *l = plain_of(self), *r = plain_of(other);
    if (l->kind != V_OBJECT && r->kind != V_OBJECT && compares_plainly(l, r))
        return compare(m, op, l, r, line);
    if (self->kind == V_OBJECT && l == self && self == other && (op == OP_EQ || op == OP_NOTEQ))
        return value_bool(m, op == OP_EQ);
    return value_new(m, V_NOT_IMPLEMENTED);
}

/* True if the type of one is a subclass of the other's, so that its method is called first. */
static bool is_asked_first(const value *r, const value *l)
{
    if (r->kind != V_OBJECT)
        return false;
    if (l->kind != V_OBJECT)
        return r->object.plain && r->object.plain->kind == l->kind;
    return r->object.class != l->object.class && is_subclass(r->object.class, l->object.class);
}

value *rich_compare(machine *m, operator_kind op, value *l, value *r, int line)
{
    bool first = is_asked_first(r, l);
    operator_kind turned = comparisons[place_of(op)].turned;
    value *result = first ? compare_side(m, turned, r, l, line) : compare_side(m, op, l, r, line);
    if (is_declined(result))
        result = first ? compare_side(m, op, l, r, line) : compare_side(m, turned, r, l, line);
    if (!is_declined(result))
        return result;
    if (op == OP_EQ || op == OP_NOTEQ)
        return value_bool(m, (l == r) == (op == OP_EQ));
    return throw(m, "TypeError", line);
}

static bool orders_inside(const value *v, int depth)
{
    static const char *const own[] = { "__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__" };
    if (depth > 20)
        return true;
    if (v->kind == V_OBJECT) {
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
            const value *method = special_of(v, own[i]);
            if (method && !(method->kind == V_BUILTIN && method->builtin.self))
                return true;
        }
        for (size_t i = 0; i < v->object.fields.count; i++)
            if (v->object.fields.at[i] != v && orders_inside(v->object.fields.at[i], depth + 1))
                return record_of(v->object.class) != NULL;
        return v->object.plain && orders_inside(v->object.plain, depth + 1);
    }
    for (size_t i = 0; v->slots && i < v->slots->count; i++)
        if (orders_inside(v->slots->at[i].item, depth + 1) ||
            (v->slots->at[i].other && orders_inside(v->slots->at[i].other, depth + 1)))
            return true;
    bool inside = !v->slots && (v->kind == V_TUPLE || v->kind == V_DICT || v->kind == V_SET ||
                                (v->kind == V_LIST && !value_is_lazy(v)));
    for (size_t i = 0; inside && i < v->in.items.count; i++)
        if (orders_inside(v->in.items.at[i], depth + 1))
            return true;
    for (size_t i = 0; inside && i < v->in.others.count; i++)
        if (orders_inside(v->in.others.at[i], depth + 1))
            return true;
    return false;
}

bool has_own_order(const value *v)
{
    return orders_inside(v, 0);
}

int object_hashes(machine *m, const value *v, values *parts, int line)
{
    const value *hash = special_of(v, "__hash__");
    if (!hash) {
        if (special_of(v, "__eq__"))
            return -1;
        if (v->object.plain && v->object.plain->kind == V_TUPLE)
            *parts = v->object.plain->in.items;
        return 1;
    }
    if (hash->kind == V_NONE)
        return 0;
    const value *equals = special_of(v, "__eq__");
    if (hash->kind == V_FUNCTION && equals && equals->kind == V_FUNCTION)
        return own_hash_parts(m, v, parts, line) ? 1 : -1;
    if (hash->kind != V_BUILTIN || !equals || equals->kind != V_BUILTIN ||
        inherits_equality(v->object.class))
        return -1;
    *parts = object_declared(m, v, false, line);
    return 1;
}

/* -- arithmetic -------------------------------------------------------------------------------- */

static const struct {
    operator_kind op;
    const char *method, *reflected;
} dunders[] = {
    { OP_ADD, "__add__", "__radd__" },
    { OP_SUB, "__sub__", "__rsub__" },
    { OP_MULT, "__mul__", "__rmul__" },
    { OP_DIV, "__truediv__", "__rtruediv__" },
    { OP_FLOORDIV, "__floordiv__", "__rfloordiv__" },
    { OP_MOD, "__mod__", "__rmod__" },
    { OP_POW, "__pow__", "__rpow__" },
    { OP_BITAND, "__and__", "__rand__" },
    { OP_BITOR, "__or__", "__ror__" },
    { OP_BITXOR, "__xor__", "__rxor__" },
    { OP_LSHIFT, "__lshift__", "__rlshift__" },
    { OP_RSHIFT, "__rshift__", "__rrshift__" },
    { OP_MATMULT, "__matmul__", "__rmatmul__" },
};

value *object_binary(machine *m, operator_kind op, value *l, value *r, int line)
{
    size_t i = 0;
    while (dunders[i].op != op)
        i++;
    value *method = special_of(l, dunders[i].method);
    value *other = special_of(r, dunders[i].reflected);
    bool same = l->kind == V_OBJECT && r->kind == V_OBJECT && l->object.class == r->object.class;
    value *a = plain_of(l), *b = plain_of(r);
    if (!method && (!other || same)) {
        if (a->kind == V_OBJECT || b->kind == V_OBJECT)
            return throw(m, "TypeError", line);
        return binary(m, op, a, b, line);
    }
    if ((l->kind == V_STR && op == OP_MOD) || (!method && a != l) || (other && b != r))
        path_unsupported(m, line, "call a function", "the method %s of such an object",
                         dunders[i].reflected);
    /* The right one is asked first if its class inherits from that of the left one. */
    if (other && !same && is_asked_first(r, l) && other != special_of(l, dunders[i].reflected)) {
        value *result = call_special(m, r, other, l, line);
        if (!is_declined(result))
            return result;
        other = NULL;
    }
    value *result = method ? call_special(m, l, method, r, line) : NULL;
    if (method && !is_declined(result))
        return result;
    result = other && !same ? call_special(m, r, other, l, line) : NULL;
    if (other && !same && !is_declined(result))
        return result;
    if (a != l || b != r) /* … of an int, str or tuple might know */
        path_unsupported(m, line, "call a function", "the method %s that declines",
                         dunders[i].method);
    return throw(m, "TypeError", line);
}

value *object_unary(machine *m, operator_kind op, value *v, int line)
{
    value *method = special_of(v, op == OP_USUB   ? "__neg__"
                                  : op == OP_UADD ? "__pos__"
                                                  : "__invert__");
    if (method)
        return call_special(m, v, method, NULL, line);
    return v->object.plain ? unary(m, op, v->object.plain, line) : throw(m, "TypeError", line);
}

/* -- len(), truth, items ----------------------------------------------------------------------- */

value *object_length(machine *m, value *v, int line)
{
    Z3_context z = m->solver->z;
    value *method = special_of(v, "__len__");
    if (!method)
        return v->object.plain ? length_of(m, v->object.plain, line) : throw(m, "TypeError", line);
    value *length = call_special(m, v, method, NULL, line);
    if (!length)
        return NULL;
    length = plain_of(length);
    if (!value_is_integral(length))
        return throw(m, "TypeError", line);
    Z3_ast term = value_int_term(m, length);
    if (path_decide(m, Z3_mk_lt(z, term, m->solver->zero), false))
        return throw(m, "ValueError", line);
    return is_index(m, length, line) ? value_of_int(m, term) : NULL;
}

value *object_truth(machine *m, value *v)
{
    value *method = special_of(v, "__bool__");
    if (method) {
        value *result = call_special(m, v, method, NULL, m->line);
        return !result || result->kind == V_BOOL ? result : throw(m, "TypeError", m->line);
    }
    if (special_of(v, "__len__")) {
        value *length = object_length(m, v, m->line);
        return length ? truth_of(m, length) : NULL;
    }
    return v->object.plain ? truth_of(m, v->object.plain) : value_bool(m, true);
}

value *object_item(machine *m, value *of, value *index, int line)
{
    value *method = special_of(of, "__getitem__");
    if (method)
        return call_special(m, of, method, index, line);
    return of->object.plain ? item_get(m, of->object.plain, index, line)
                            : throw(m, "TypeError", line);
}

bool object_item_set(machine *m, value *of, value *index, value *v, int line)
{
    value *method = special_of(of, "__setitem__");
    values given = { 0 };
    values_add(m, &given, index);
    values_add(m, &given, v);
    if (method)
        return call_method_with(m, of, method, given, line) != NULL;
    refuse_item(m, of, index, line);
    return false;
}

value *object_contains(machine *m, value *in, value *item, int line)
{
    value *method = special_of(in, "__contains__");
    if (method) {
        value *result = call_special(m, in, method, item, line);
        return result ? truth_of(m, result) : NULL;
    }
    if (in->object.plain && !special_of(in, "__iter__"))
        return contains(m, in->object.plain, item, line);
    value *from = in;
    return iterable(m, &from, line) ? iterator_contains(m, from, item, line) : NULL;
}

void refuse_mapping(machine *m, const value *v, int line)
{
    if (special_of(v, "keys") || (v->kind == V_OBJECT && object_field(m, v, "keys")))
        path_unsupported(m, line, "make a dict of it", "an object with keys() as a mapping");
}

value *iterator_contains(machine *m, value *from, value *item, int line)
{
    value *one;
    cursor at = { 0 };
    while ((one = item_next(m, from, &at, line))) {
        value *same = same_or_equal(m, one, item, line);
        int is = same ? decide_truth(m, same, true) : -1;
        if (is != 0)
            return is < 0 ? NULL : value_bool(m, true);
    }
    return m->raised ? NULL : value_bool(m, false);
}
