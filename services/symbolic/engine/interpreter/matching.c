/* match: patterns over values. */
#include <string.h>

#include "machine/class.h"

/* Names are bound when the whole pattern has matched. */
typedef struct matching {
    scope *s;
    const char *names[64];
    value *captured[64];
    size_t count;
} matching;

static int matches(machine *m, matching *c, const node *p, value *v);

static void capture(machine *m, matching *c, const char *name, value *v)
{
    if (c->count == sizeof c->names / sizeof *c->names)
        path_bound(m, "the number of names in a pattern");
    c->names[c->count] = name;
    c->captured[c->count++] = v;
}

/* A comparison, decided. -1: it raised. */
static int is_equal(machine *m, value *l, value *r, int line)
{
    value *same = equal(m, l, r, line);
    return same ? decide_truth(m, same, true) : -1;
}

static int matches_sequence(machine *m, matching *c, const node *p, value *v)
{
    v = plain_of(v);
    if (v->kind == V_RANGE)
        path_unsupported(m, p->line, "match a list or tuple", "a sequence pattern on a %s",
                         value_type(v));
    if (v->kind != V_LIST && v->kind != V_TUPLE)
        return 0;
    settle(m, v);
    size_t starred = p->x.count, count = v->in.items.count;
    for (size_t i = 0; i < p->x.count; i++)
        if (p->x.at[i]->kind == N_MATCH_STAR)
            starred = i;
    bool has_star = starred < p->x.count;
    if (has_star ? count + 1 < p->x.count : count != p->x.count)
        return 0;
    size_t more = has_star ? count + 1 - p->x.count : 0, at = 0;
    for (size_t i = 0; i < p->x.count; i++) {
        const node *part = p->x.at[i];
        if (i == starred) {
            value *rest = value_sequence(m, V_LIST, more);
            for (size_t j = 0; j < more; j++)
                values_add(m, &rest->in.items, v->in.items.at[at + j]);
            if (part->name)
                capture(m, c, part->name, rest);
            at += more;
            continue;
        }
        int is = matches(m, c, part, v->in.items.at[at++]);
        if (is <= 0)
            return is;
    }
    return 1;
}

static int matches_mapping(machine *m, matching *c, const node *p, value *v)
{
    if (v->kind != V_DICT)
        return 0;
    if (p->name)
        path_unsupported(m, p->line, "take the keys one by one", "**rest in a pattern");
    for (size_t i = 0; i < p->x.count; i++) {
        value *key = eval(m, c->s, p->x.at[i]);
        long place = key ? find_key(m, v, key, p->line) : -2;
        if (place == -2)
            return -1;
        int is = place < 0 ? 0 : matches(m, c, p->y.at[i], v->in.others.at[place]);
        if (is <= 0)
            return is;
    }
    return 1;
}

static int matches_class(machine *m, matching *c, const node *p, value *v)
{
    value *class = eval(m, c->s, p->a);
    value *is = class ? is_instance(m, v, class, p->line) : NULL;
    if (!is)
        return -1;
    if (!is->truth)
        return 0;
    if (p->x.count > 0) {
        static const char *const whole[] = { "int",  "bool",  "float", "str",
                                             "list", "tuple", "dict",  "set" };
        bool itself = false;
        values declared = { 0 };
        for (size_t i = 0; class->kind == V_BUILTIN && i < sizeof whole / sizeof *whole; i++)
            itself = itself || strcmp(class->builtin.name, whole[i]) == 0;
        if (itself && p->x.count == 1) {
            int good = matches(m, c, p->x.at[0], v);
            if (good <= 0)
                return good;
        } else if (class->kind == V_CLASS && record_of(class) &&
                   p->x.count <= (declared = object_declared(m, v, true, p->line)).count) {
            for (size_t i = 0; i < p->x.count; i++) {
                int good = matches(m, c, p->x.at[i], declared.at[i]);
                if (good <= 0)
                    return good;
            }
        } else {
            path_unsupported(m, p->line, "name the attributes", "a positional class pattern");
        }
    }
    for (size_t i = 0; i < p->z.count; i++) {
        if (v->kind != V_OBJECT)
            path_unsupported(m, p->line, NULL, "a class pattern with this attribute");
        value *found = get_attribute(m, v, p->y.at[i]->name, p->line);
        if (!found && is_subclass(m->raised->object.class, exception_class(m, "AttributeError"))) {
            m->raised = NULL;
            return 0;
        }
        if (!found)
            return -1;
        int good = matches(m, c, p->z.at[i], found);
        if (good <= 0)
            return good;
    }
    return 1;
}

/* 1: it matches, and names are bound; 0: it does not; -1: raised. */
static int matches(machine *m, matching *c, const node *p, value *v)
{
    step(m);
    switch (p->kind) {
    case N_MATCH_VALUE: {
        value *other = eval(m, c->s, p->a);
        return other ? is_equal(m, v, other, p->line) : -1;
    }
    case N_MATCH_SINGLETON: {
        value *same = compare(m, OP_IS, v, value_constant(m, p->constant), p->line);
        return same ? decide_truth(m, same, true) : -1;
    }
    case N_MATCH_AS:
        if (p->a) {
            int is = matches(m, c, p->a, v);
            if (is <= 0)
                return is;
        }
        if (p->name)
            capture(m, c, p->name, v);
        return 1;
    case N_MATCH_OR:
        for (size_t i = 0, before = c->count; i < p->x.count; i++) {
            int is = matches(m, c, p->x.at[i], v);
            if (is != 0)
                return is;
            c->count = before;
        }
        return 0;
    case N_MATCH_SEQUENCE:
        return matches_sequence(m, c, p, v);
    case N_MATCH_MAPPING:
        return matches_mapping(m, c, p, v);
    case N_MATCH_CLASS:
        return matches_class(m, c, p, v);
    default:
        path_unsupported(m, p->line, NULL, "the pattern %s", tree_construct(p));
    }
}

outcome run_match(machine *m, scope *s, const node *n)
{
    value *v = eval(m, s, n->a);
    if (!v)
        return RAISED;
    for (size_t i = 0; i < n->x.count; i++) {
        const node *one = n->x.at[i];
        matching c = { .s = s };
        int is = matches(m, &c, one->a, v);
        for (size_t j = 0; is > 0 && j < c.count; j++)
            scope_set(m, s, c.names[j], c.captured[j]);
        if (is > 0 && one->b) {
            value *guard = eval_truth(m, s, one->b);
            is = guard ? decide_truth(m, guard, true) : -1;
        }
        if (is < 0)
            return RAISED;
        if (is)
            return run(m, s, one->x);
    }
    return DONE;
}
