/*
 * Decides whether a caller could tell two results apart. The rules are those of ==, with these
 * exceptions: NaN is the same as NaN, at any depth; values that == compares only by identity
 * (objects of plain classes, iterators, functions, exceptions) are the same if they have the same
 * parts; and where that is not known, the comparison is unsupported.
 *
 * A result may be a symbolic bool. The replay has the same rules for real objects, in Python.
 */
#include <string.h>

#include "theories/theories.h"

enum { MOST_DEPTH = 200 };

/* The pairs that are being compared: a pair that occurs again inside of itself counts as the
 * same. */
typedef struct pair {
    const value *l, *r;
    const struct pair *outer;
    unsigned depth;
} pair;

static value *compare_parts(machine *m, value *l, value *r, const pair *outer);

_Noreturn static void nobody_can_tell(machine *m, const char *what)
{
    path_unsupported(m, m->line, "return what == can compare",
                     "results that are not comparable: %s", what);
}

static bool is_nan_possible(const value *v)
{
    return v->kind == V_FLOAT && (v->known ? v->real != v->real : !value_is_quotient(v));
}

static value *numbers_alike(machine *m, value *l, value *r)
{
    Z3_context z = m->solver->z;
    if (!is_nan_possible(l) || !is_nan_possible(r))
        return equal(m, l, r, m->line);
    Z3_ast a = value_term(m, l), b = value_term(m, r);
    Z3_ast nan[] = { Z3_mk_fpa_is_nan(z, a), Z3_mk_fpa_is_nan(z, b) };
    Z3_ast either_of[] = { Z3_mk_fpa_eq(z, a, b), Z3_mk_and(z, 2, nan) };
    return a == b ? value_bool(m, true) : value_of_bool(m, Z3_mk_or(z, 2, either_of));
}

static value *all_alike(machine *m, const values *l, const values *r, const pair *outer)
{
    value *result = value_bool(m, l->count == r->count);
    for (size_t i = 0; i < l->count && !(result->known && !result->truth); i++)
        result = both(m, result, compare_parts(m, l->at[i], r->at[i], outer));
    return result;
}

static bool is_false(const value *v)
{
    return v->known && !v->truth;
}

static bool is_true(const value *v)
{
    return v->known && v->truth;
}

static value *parts_same(machine *m, value *l, value *r, void *outer)
{
    return compare_parts(m, l, r, outer);
}

static value *lists_alike(machine *m, value *l, value *r, const pair *outer)
{
    if (l->of_class != r->of_class)
        return value_bool(m, false);
    if (value_is_lazy(l) && value_is_lazy(r) && l->lazy.length == r->lazy.length &&
        l->lazy.array == r->lazy.array)
        return value_bool(m, true);
    if ((l->slots || r->slots) && !value_is_lazy(l) && !value_is_lazy(r)) {
        value *same = slots_equal(m, l, r, parts_same, (void *)(uintptr_t)outer);
        if (same)
            return same;
    }
    settle(m, l);
    settle(m, r);
    return all_alike(m, &l->in.items, &r->in.items, outer);
}

/* -- sets and dicts ---------------------------------------------------------------------------- */

/* Keys that may be like several others: those that == compares by identity. With more than one of
 * them, pairs would have to be found. */
static bool is_odd(const value *key)
{
    if (key->kind == V_FLOAT)
        return is_nan_possible(key);
    for (size_t i = 0; key->kind == V_TUPLE && i < key->in.items.count; i++)
        if (is_odd(key->in.items.at[i]))
            return true;
    return !value_is_scalar(key) && key->kind != V_NONE && key->kind != V_TUPLE;
}

static void limit_odd_keys(machine *m, const value *of)
{
    size_t odd = 0;
    for (size_t i = 0; i < of->in.items.count; i++) {
        const value *key = of->in.items.at[i];
        odd += is_odd(key);
    }
    if (odd > 1 && of->in.items.count > 1)
        nobody_can_tell(m, "sets or dicts with keys that are floats, objects or containers");
}

static value *entry_alike(machine *m, value *l, size_t i, value *r, size_t j, const pair *outer)
{
    value *one = compare_parts(m, l->in.items.at[i], r->in.items.at[j], outer);
    if (l->kind == V_SET || is_false(one))
        return one;
    return both(m, one, compare_parts(m, l->in.others.at[i], r->in.others.at[j], outer));
}

/* Counters and OrderedDicts have their own ==; if it is false, NaN may be the reason. */
static value *kin_alike(machine *m, value *l, value *r, const pair *outer)
{
    value *same = equal(m, l, r, m->line);
    if (!same)
        nobody_can_tell(m, "values whose == raises");
    return either(m, same,
                  both(m, all_alike(m, &l->in.items, &r->in.items, outer),
                       all_alike(m, &l->in.others, &r->in.others, outer)));
}

static value *keyed_alike(machine *m, value *l, value *r, const pair *outer)
{
    const value *sides[] = { l, r };
    settle(m, l);
    settle(m, r);
    for (int i = 0; i < 2; i++)
        if (sides[i]->of_class && class_member(sides[i]->of_class, "__eq__"))
            return kin_alike(m, l, r, outer);
    size_t count = l->in.items.count;
    if (count != r->in.items.count)
        return value_bool(m, false);
    /* Otherwise they would be compared again and again. */
    for (size_t i = 0; i < l->in.others.count; i++)
        if (l->in.others.at[i]->kind == V_ITERATOR)
            nobody_can_tell(m, "dicts of iterators");
    value *result = value_bool(m, true);
    for (size_t i = 0; i < count && is_true(result); i++)
        result = entry_alike(m, l, i, r, i, outer);
    if (is_true(result)) /* and in the same order */
        return result;
    limit_odd_keys(m, l);
    limit_odd_keys(m, r);
    result = value_bool(m, true);
    for (size_t i = 0; i < count; i++) {
        value *found = value_bool(m, false);
        for (size_t j = 0; j < count; j++)
            found = either(m, found, entry_alike(m, l, i, r, j, outer));
        result = both(m, result, found);
    }
    return result;
}

/* -- what has a scope -------------------------------------------------------------------------- */

static bool decided(machine *m, value *truth)
{
    return decide_truth(m, truth, true) == 1;
}

static bool scopes_alike(machine *m, const scope *l, const scope *r, const pair *outer)
{
    for (; l != r; l = l->up, r = r->up) {
        if (!l || !r || l->count != r->count)
            return false;
        for (size_t i = 0; i < l->count; i++) {
            value *a = l->values[i], *b = r->values[i];
            if (strcmp(l->names[i], r->names[i]) != 0 || !a != !b)
                return false;
            if (a && !decided(m, compare_parts(m, a, b, outer)))
                return false;
        }
    }
    return true;
}

/* Those without a default are NULL. */
static bool keywords_alike(machine *m, const values *l, const values *r, const pair *outer)
{
    for (size_t i = 0; i < l->count; i++)
        if (!l->at[i] != !r->at[i] ||
            (l->at[i] && !decided(m, compare_parts(m, l->at[i], r->at[i], outer))))
            return false;
    return true; /* of one function, so there are equally many */
}

static bool functions_alike(machine *m, value *l, value *r, const pair *outer)
{
    return l->function.node == r->function.node &&
           decided(m, all_alike(m, &l->function.defaults, &r->function.defaults, outer)) &&
           keywords_alike(m, &l->function.keyword_defaults, &r->function.keyword_defaults, outer) &&
           scopes_alike(m, l->function.scope, r->function.scope, outer);
}

/* A class that a function defines differs in each call. */
static bool is_class_alike(machine *m, value *l, value *r, const pair *outer)
{
    if (l == r)
        return true;
    if (!l || !r || !l->class.node || l->class.node != r->class.node)
        return false;
    for (const pair *p = outer; p; p = p->outer)
        if (p->l == l && p->r == r)
            return true;
    pair here = { l, r, outer, outer ? outer->depth + 1 : 0 };
    bool same = here.depth <= MOST_DEPTH && l->class.mro.count == r->class.mro.count;
    for (size_t i = 1; same && i < l->class.mro.count; i++)
        same = is_class_alike(m, l->class.mro.at[i], r->class.mro.at[i], &here);
    if (!same || !scopes_alike(m, l->class.members, r->class.members, &here))
        nobody_can_tell(m, "objects of a class that is made anew in each call");
    return true;
}

/* The class of an exception is told by its name. So two classes of one name, each defined in a
 * function, cannot be told apart by a caller, who can name neither. */
static bool is_raised_alike(machine *m, value *l, value *r, const pair *outer)
{
    value *a = l->object.class, *b = r->object.class;
    if (is_class_alike(m, a, b, outer))
        return true;
    if (a && b && a->class.inner && b->class.inner && strcmp(a->class.name, b->class.name) == 0)
        nobody_can_tell(m, "exceptions of one name, whose classes are defined in functions");
    return false;
}

bool raised_alike(machine *m, value *l, value *r)
{
    return is_raised_alike(m, l, r, NULL);
}

/* -- objects ----------------------------------------------------------------------------------- */

static bool has_own_equality(const value *v)
{
    const value *equals = special_of(v, "__eq__");
    return (equals && !(equals->kind == V_BUILTIN && equals->builtin.self)) ||
           special_of(v, "__ne__");
}

static value *objects_alike(machine *m, value *l, value *r, const pair *outer)
{
    if (!is_class_alike(m, l->object.class, r->object.class, outer))
        return value_bool(m, false);
    if (l->object.class->class.node && !l->object.class->class.node->line)
        nobody_can_tell(m, "objects of the library");
    if (l->object.opaque || r->object.opaque)
        nobody_can_tell(m, "the messages of exceptions that Python raised");
    if (special_of(l, "__eq__")) { /* that of a dataclass, which compares the declared fields */
        values a = object_declared(m, l, false, m->line), b = object_declared(m, r, false, m->line);
        return all_alike(m, &a, &b, outer);
    }
    value *result = all_alike(m, &l->object.arguments, &r->object.arguments, outer);
    if (is_false(result) || l->object.names.count != r->object.names.count)
        return value_bool(m, false);
    for (size_t i = 0; i < l->object.names.count; i++) {
        value *other = object_field(m, r, value_utf8(m, l->object.names.at[i]));
        if (!other)
            return value_bool(m, false);
        result = both(m, result, compare_parts(m, l->object.fields.at[i], other, outer));
    }
    return result;
}

/* -- iterators --------------------------------------------------------------------------------- */

/* Iterators are the same if they give the same items, and end in the same way. */
static value *iterators_alike(machine *m, value *l, value *r, const pair *outer)
{
    cursor at[2] = { { 0 }, { 0 } };
    value *result = value_bool(m, true);
    while (!is_false(result)) {
        value *items[2], *raised[2];
        for (int way = 0; way < 2; way++) {
            items[way] = item_next(m, way ? r : l, &at[way], m->line);
            raised[way] = m->raised;
            m->raised = NULL;
        }
        if (!items[0] != !items[1] || !raised[0] != !raised[1])
            return value_bool(m, false);
        if (raised[0])
            return both(m, result, value_bool(m, is_raised_alike(m, raised[0], raised[1], outer)));
        if (!items[0])
            break;
        result = both(m, result, compare_parts(m, items[0], items[1], outer));
    }
    return result;
}

/* -- ranges, views, methods -------------------------------------------------------------------- */

static value *ranges_alike(machine *m, value *l, value *r)
{
    Z3_context z = m->solver->z;
    value *parts[2][3] = { { l->range.from, l->range.to, l->range.step },
                           { r->range.from, r->range.to, r->range.step } };
    Z3_ast same[3];
    bool all = true;
    for (int i = 0; i < 3; i++) {
        Z3_ast a = value_int_term(m, parts[0][i]), b = value_int_term(m, parts[1][i]);
        same[i] = Z3_mk_eq(z, a, b);
        all = all && a == b;
    }
    if (all)
        return value_bool(m, true);
    Z3_ast size = value_int_term(m, range_size(m, l, m->line));
    Z3_ast other = value_int_term(m, range_size(m, r, m->line));
    Z3_ast one = Z3_mk_or(z, 2, (Z3_ast[]){ Z3_mk_eq(z, size, m->solver->one), same[2] });
    Z3_ast some = Z3_mk_and(z, 2, (Z3_ast[]){ same[0], one });
    Z3_ast none_or = Z3_mk_or(z, 2, (Z3_ast[]){ Z3_mk_eq(z, size, m->solver->zero), some });
    return value_of_bool(m, Z3_mk_and(z, 2, (Z3_ast[]){ Z3_mk_eq(z, size, other), none_or }));
}

static value *views_alike(machine *m, value *l, value *r, const pair *outer)
{
    value *a = l->view.dict, *b = r->view.dict;
    settle(m, a);
    settle(m, b);
    if (l->view.part != r->view.part)
        nobody_can_tell(m, "two views of dicts of unlike kinds");
    if (l->view.part == 'i')
        return keyed_alike(m, a, b, outer);
    if (l->view.part == 'v')
        return all_alike(m, &a->in.others, &b->in.others, outer);
    value *sets[2] = { value_new(m, V_SET), value_new(m, V_SET) };
    sets[0]->in.items = a->in.items;
    sets[1]->in.items = b->in.items;
    return keyed_alike(m, sets[0], sets[1], outer);
}

static bool methods_alike(machine *m, value *l, value *r, const pair *outer)
{
    const char *a = l->builtin.name, *b = r->builtin.name;
    if (!a != !b || (a && strcmp(a, b) != 0) || !l->builtin.call != !r->builtin.call)
        return false;
    return (!l->builtin.call ||
            decided(m, compare_parts(m, l->builtin.call, r->builtin.call, outer))) &&
           decided(m, compare_parts(m, l->builtin.self, r->builtin.self, outer));
}

/* -- all of them ------------------------------------------------------------------------------- */

static bool is_callable(const value *v)
{
    return v->kind == V_FUNCTION || v->kind == V_BUILTIN || v->kind == V_METHOD;
}

/* One of them has an __eq__ of its own. */
static value *compare_by_own(machine *m, value *l, value *r, const pair *here)
{
    value *same = equal(m, l, r, m->line);
    if (!same)
        nobody_can_tell(m, "objects whose __eq__ raises");
    if (decided(m, same))
        return value_bool(m, true);
    if (l->kind == r->kind && decided(m, objects_alike(m, l, r, here)))
        nobody_can_tell(m, "objects whose __eq__ looks at identity");
    return value_bool(m, false);
}

/* Two values of one kind. */
static value *compare_kind(machine *m, value *l, value *r, const pair *here)
{
    switch (l->kind) {
    case V_TUPLE:
    case V_LIST:
        return lists_alike(m, l, r, here);
    case V_SET:
    case V_DICT:
        return keyed_alike(m, l, r, here);
    case V_OBJECT:
        return objects_alike(m, l, r, here);
    case V_ITERATOR:
        return iterators_alike(m, l, r, here);
    case V_RANGE:
        return ranges_alike(m, l, r);
    case V_VIEW:
        return views_alike(m, l, r, here);
    case V_CLASS:
        return value_bool(m, is_class_alike(m, l, r, here));
    case V_FUNCTION:
        if (!functions_alike(m, l, r, here))
            nobody_can_tell(m, "functions");
        return value_bool(m, true);
    case V_METHOD:
        if (!methods_alike(m, l, r, here))
            nobody_can_tell(m, "methods");
        return value_bool(m, true);
    case V_NOT_IMPLEMENTED:
        return value_bool(m, true);
    case V_MODULE:
    case V_HUGE:
        nobody_can_tell(m, value_type(l));
    default:
        return equal(m, l, r, m->line);
    }
}

static value *compare_parts(machine *m, value *l, value *r, const pair *outer)
{
    step(m);
    if (value_is_number(l) && value_is_number(r))
        return numbers_alike(m, l, r);
    if (l == r)
        return value_bool(m, true);
    for (const pair *p = outer; p; p = p->outer)
        if (p->l == l && p->r == r)
            return value_bool(m, true);
    pair here = { l, r, outer, outer ? outer->depth + 1 : 0 };
    if (here.depth > MOST_DEPTH)
        nobody_can_tell(m, "what is nested deeply");
    if (has_own_equality(l) || has_own_equality(r))
        return compare_by_own(m, l, r, &here);
    if (plain_of(l) != l || plain_of(r) != r)
        return compare_parts(m, plain_of(l), plain_of(r), &here);
    if (l->kind != r->kind) {
        if ((is_callable(l) && is_callable(r)) || l->kind == V_VIEW || r->kind == V_VIEW)
            nobody_can_tell(m, "values of unlike types");
        return value_bool(m, false);
    }
    return compare_kind(m, l, r, &here);
}

value *alike(machine *m, value *l, value *r)
{
    return compare_parts(m, l, r, NULL);
}
