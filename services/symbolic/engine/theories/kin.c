/*
 * Subclasses of dict and list: Counter, defaultdict, OrderedDict and deque of the module
 * collections. Such a value is a dict or list whose `of_class` is the class; members that the class
 * defines in library/collections.py come first, and all others are those of a dict or list.
 *
 * Here are their keys, operators and text; builtins/kin.c has their attributes and methods.
 */
#include <string.h>

#include "theories/theories.h"

value *kin_member(const value *v, const char *name)
{
    return v->of_class ? class_member(v->of_class, name) : NULL;
}

value *kin_call(machine *m, value *v, value *method, value *other, int line)
{
    arguments given = { 0 };
    values_add(m, &given.places, v);
    if (other)
        values_add(m, &given.places, other);
    return call(m, method, &given, line);
}

/* -- keys -------------------------------------------------------------------------------------- */

value *missing_key(machine *m, value *dict, value *key, int line)
{
    const char *class = dict->of_class ? value_type(dict) : "";
    if (strcmp(class, "Counter") == 0)
        return value_int(m, 0);
    if (strcmp(class, "defaultdict") != 0 || dict->factory->kind == V_NONE)
        return throw(m, "KeyError", line);
    unsigned version = dict->version;
    value *made = call(m, dict->factory, &(arguments){ 0 }, line);
    if (!made)
        return NULL;
    if (version != dict->version || dict->slots) /* the factory changed it */
        return set_key(m, dict, key, made, line) ? made : NULL;
    path_change(m, dict);
    dict->version++;
    values_add(m, &dict->in.items, key);
    values_add(m, &dict->in.others, made);
    return made;
}

bool kin_delete(machine *m, value *of, value *index, bool *good, int line)
{
    value *method = kin_member(of, "__delitem__");
    if (!method)
        return false;
    *good = kin_call(m, of, method, index, line) != NULL;
    return true;
}

/* -- operators --------------------------------------------------------------------------------- */

static const struct {
    operator_kind op;
    const char *method, *in_place;
} methods[] = {
    { OP_ADD, "__add__", "__iadd__" }, { OP_SUB, "__sub__", "__isub__" },
    { OP_BITOR, "__or__", "__ior__" }, { OP_BITAND, "__and__", "__iand__" },
    { OP_LT, "__lt__", NULL },         { OP_LTE, "__le__", NULL },
    { OP_GT, "__gt__", NULL },         { OP_GTE, "__ge__", NULL },
    { OP_EQ, "__eq__", NULL },         { OP_UADD, "__pos__", NULL },
    { OP_USUB, "__neg__", NULL },
};

value *kin_method(const value *v, operator_kind op, bool in_place)
{
    for (size_t i = 0; v->of_class && i < sizeof methods / sizeof *methods; i++)
        if (methods[i].op == op && (!in_place || methods[i].in_place))
            return kin_member(v, in_place ? methods[i].in_place : methods[i].method);
    return NULL;
}

bool kin_compare(machine *m, operator_kind op, value *l, value *r, value **result, int line)
{
    if (!l->of_class && !r->of_class)
        return false;
    value *method = l->of_class == r->of_class ? kin_method(l, op, false) : NULL;
    if (method) {
        *result = kin_call(m, l, method, r, line);
        return true;
    }
    if (l->of_class == r->of_class || l->kind != V_LIST)
        return false; /* compared as dicts, or as deques */
    *result = op == OP_EQ ? value_bool(m, false) : throw(m, "TypeError", line);
    return true;
}

bool kin_binary(machine *m, operator_kind op, value *l, value *r, value **result, int line)
{
    if (!l->of_class && !r->of_class)
        return false;
    value *method = kin_method(l, op, false);
    *result = NULL;
    if (method && l->of_class == r->of_class) {
        *result = kin_call(m, l, method, r, line);
        return true;
    }
    const value *kin = l->of_class ? l : r;
    if (kin->kind == V_LIST || (op == OP_BITOR && l->kind == V_DICT && r->kind == V_DICT))
        path_unsupported(m, line, "use update() or extend()", "the operator %s of a %s",
                         tree_sign(op), value_type(kin));
    throw(m, "TypeError", line);
    return true;
}

bool kin_unary(machine *m, operator_kind op, value *v, value **result, int line)
{
    value *method = kin_method(v, op, false);
    if (method)
        *result = kin_call(m, v, method, NULL, line);
    return method != NULL;
}

value *kin_text(machine *m, value *v, int line)
{
    value *method = class_member(v->of_class, "__repr__");
    if (!method)
        path_unsupported(m, line, "make a list of it", "the text of a %s", value_type(v));
    return kin_call(m, v, method, NULL, line);
}
