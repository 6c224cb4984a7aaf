/* match: patterns over values. */
#include <string.h>

#include "interpreter/interpreter.h"

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
    /* All items are read before the first comparison, which may change the list. */
    values taken = { 0 };
    for (size_t i = 0; i < count; i++)
        values_add(m, &taken, v->in.items.at[i]);
    size_t more = has_star ? count + 1 - p->x.count : 0, at = 0;
    for (size_t i = 0; i < p->x.count; i++) {
        const node *part = p->x.at[i];
        if (i == starred) {
            value *rest = value_sequence(m, V_LIST, more);
            for (size_t j = 0; j < more; j++)
                values_add(m, &rest->in.items, taken.at[at + j]);
            if (part->name)
                capture(m, c, part->name, rest);
            at += more;
            continue;
        }
        int is = matches(m, c, part, taken.at[at++]);
        if (is <= 0)
            return is;
    }
    return 1;
}

static int all_match(machine *m, matching *c, nodes patterns, const values *of)
{
    for (size_t i = 0; i < patterns.count; i++) {
        int is = matches(m, c, patterns.at[i], of->at[i]);
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
    settle(m, v);
    if (v->in.items.count < p->x.count)
        return 0;
    values keys = { 0 }, found = { 0 };
    for (size_t i = 0; i < p->x.count; i++) {
        value *key = eval(m, c->s, p->x.at[i]);
        if (!key)
            return -1;
        values_add(m, &keys, key);
    }
    for (size_t i = 0; i < keys.count; i++) {
        for (size_t j = 0; j < i; j++)
            if (is_equal(m, keys.at[j], keys.at[i], p->line) == 1) {
                throw(m, "ValueError", p->line);
                return -1;
            }
        long place = find_key(m, v, keys.at[i], p->line);
        if (place < 0)
            return place == -2 ? -1 : 0;
        values_add(m, &found, v->in.others.at[place]);
    }
    return all_match(m, c, p->y, &found);
}

/* The attributes of positional patterns of a class; false: it has none. */
static bool place_names(machine *m, value *class, size_t count, const char **names, int line)
{
    const value *record = class->kind == V_CLASS ? record_of(class) : NULL;
    size_t at = 0;
    for (size_t i = 0; record && at < count && i < record->class.field_count; i++) {
        const field *f = &record->class.fields[i];
        if (record->class.named || (f->init && !f->keyword))
            names[at++] = f->name;
    }
    if (record && at < count)
        throw(m, "TypeError", line);
    return record;
}

/* An attribute of the matched value: 0: it has none; -1: raised. */
static int take_attribute(machine *m, value *v, const char *name, values *found, int line)
{
    if (v->kind != V_OBJECT)
        path_unsupported(m, line, NULL, "a class pattern with this attribute");
    value *one = get_attribute(m, v, name, line);
    if (!one && is_subclass(m->raised->object.class, exception_class(m, "AttributeError"))) {
        m->raised = NULL;
        return 0;
    }
    if (one)
        values_add(m, found, one);
    return one ? 1 : -1;
}

static bool takes_itself(const value *class)
{
    static const char *const whole[] = { "int",  "bool",  "float", "str", "bytes",
                                         "list", "tuple", "dict",  "set" };
    for (size_t i = 0; class->kind == V_BUILTIN && i < sizeof whole / sizeof *whole; i++)
        if (strcmp(class->builtin.name, whole[i]) == 0)
            return true;
    return false;
}

/* All attributes are read before the first one is matched. */
static int matches_class(machine *m, matching *c, const node *p, value *v)
{
    enum { MOST_PLACES = 64 };
    const char *names[MOST_PLACES];
    size_t count = p->x.count;
    values found = { 0 };
    value *class = eval(m, c->s, p->a);
    if (class && class->kind == V_TUPLE)
        throw(m, "TypeError", p->line);
    value *is = class && !m->raised ? is_instance(m, v, class, p->line) : NULL;
    if (!is)
        return -1;
    if (!is->truth)
        return 0;
    if (takes_itself(class) && count == 1)
        return p->z.count ? path_unsupported(m, p->line, NULL, "attributes of such a pattern"),
               -1         : matches(m, c, p->x.at[0], v);
    if (count > 0 && (count > MOST_PLACES || !place_names(m, class, count, names, p->line)))
        path_unsupported(m, p->line, "name the attributes", "a positional class pattern");
    for (size_t i = 0; i < p->z.count; i++) /* an attribute twice is a TypeError */
        for (size_t j = 0; !m->raised && j < count; j++)
            if (strcmp(names[j], p->y.at[i]->name) == 0)
                throw(m, "TypeError", p->line);
    if (m->raised)
        return -1;
    for (size_t i = 0; i < count + p->z.count; i++) {
        const char *name = i < count ? names[i] : p->y.at[i - count]->name;
        int there = take_attribute(m, v, name, &found, p->line);
        if (there <= 0)
            return there;
    }
    values by_name = { found.at + count, found.count - count, 0 };
    int good = all_match(m, c, p->x, &found);
    return good > 0 ? all_match(m, c, p->z, &by_name) : good;
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
