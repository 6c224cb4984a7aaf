/* What the two sides of a join change: recorded, undone and joined. See path.h. */
#include <string.h>

#include "machine/machine.h"

/* A value or scope from before a speculation that one of its sides changes. */
typedef struct change {
    struct change *next;
    value *v; /* NULL: a scope */
    scope *s;
    /* Its contents, with arrays of their own; `after`: those of the first side. */
    value before, after;
    scope names_before, names_after;
    bool second; /* only the second side changes it */
} change;

/* -- contents ---------------------------------------------------------------------------------- */

static values copied(machine *m, values of)
{
    values copy = { 0 };
    if (of.count == 0)
        return copy;
    copy.at = arena_take(m->arena, of.count * sizeof *of.at);
    memcpy(copy.at, of.at, of.count * sizeof *of.at);
    copy.count = copy.room = of.count;
    return copy;
}

/* The contents with arrays that no other object shares. */
static value contents(machine *m, const value *v)
{
    value copy = *v;
    if (v->slots) {
        copy.slots = arena_take(m->arena, sizeof *copy.slots);
        copy.slots->at = arena_take(m->arena, (v->slots->count + 1) * sizeof(slot));
        memcpy(copy.slots->at, v->slots->at, v->slots->count * sizeof(slot));
        copy.slots->count = v->slots->count;
        copy.slots->room = v->slots->count + 1;
    } else if (v->kind == V_OBJECT) {
        copy.object.names = copied(m, v->object.names);
        copy.object.fields = copied(m, v->object.fields);
        copy.object.arguments = copied(m, v->object.arguments);
    } else if (!value_is_lazy(v)) {
        copy.in.items = copied(m, v->in.items);
        copy.in.others = copied(m, v->in.others);
    }
    return copy;
}

static scope names_of(machine *m, const scope *s)
{
    scope copy = *s;
    copy.room = s->count + 1;
    copy.names = arena_take(m->arena, copy.room * sizeof *copy.names);
    copy.values = arena_take(m->arena, copy.room * sizeof *copy.values);
    if (s->count) {
        memcpy(copy.names, s->names, s->count * sizeof *copy.names);
        memcpy(copy.values, s->values, s->count * sizeof *copy.values);
    }
    return copy;
}

/* -- notes ------------------------------------------------------------------------------------- */

static change *note(machine *m, speculation *in)
{
    change *c = arena_take(m->arena, sizeof *c);
    c->next = in->changes;
    c->second = in->second;
    in->changes = c;
    return c;
}

void journal_value(machine *m, speculation *in, value *v)
{
    for (const change *c = in->changes; c; c = c->next)
        if (c->v == v)
            return;
    change *c = note(m, in);
    c->v = v;
    c->before = contents(m, v);
}

void journal_names(machine *m, speculation *in, scope *s)
{
    for (const change *c = in->changes; c; c = c->next)
        if (c->s == s)
            return;
    change *c = note(m, in);
    c->s = s;
    c->names_before = names_of(m, s);
}

static void restore(machine *m, const change *c)
{
    if (c->v)
        *c->v = contents(m, &c->before);
    else
        *c->s = names_of(m, &c->names_before);
}

void journal_turn(machine *m, speculation *in)
{
    for (change *c = in->changes; c; c = c->next) {
        if (c->v)
            c->after = contents(m, c->v);
        else
            c->names_after = names_of(m, c->s);
        restore(m, c);
    }
}

void journal_undo(machine *m, speculation *in)
{
    for (change *c = in->changes; c; c = c->next)
        restore(m, c);
}

/* -- names ------------------------------------------------------------------------------------- */

static value *named(const scope *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->names[i] == name)
            return s->values[i];
    return NULL;
}

/* One of two values, or none: which one is decided when the name is used. */
static value *either_of(machine *m, Z3_ast condition, value *yes, value *no)
{
    value *v = value_new(m, V_EITHER);
    v->term = condition;
    v->either.yes = yes;
    v->either.no = no;
    return v;
}

static bool join_names(machine *m, Z3_ast condition, const scope *yes, scope *no)
{
    scope made = names_of(m, no);
    /* In their order: those of the other side are in it already. */
    for (size_t i = 0; i < yes->count; i++)
        if (yes->values[i] && !named(&made, yes->names[i])) {
            size_t at = 0;
            while (at < made.count && made.names[at] != yes->names[i])
                at++;
            if (at == made.count) {
                made = names_of(m, &made);
                made.names[made.count] = yes->names[i];
                made.values[made.count++] = NULL;
            }
        }
    for (size_t i = 0; i < made.count; i++) {
        value *a = named(yes, made.names[i]), *b = made.values[i];
        if (a == b)
            continue;
        bool scalars = a && b && a->kind != V_EITHER && b->kind != V_EITHER;
        value *joined = scalars ? m->joins->values(m, condition, a, b) : NULL;
        if (!joined && !no->owner && !no->comprehension)
            return false; /* names of a module or a class are used in many places */
        made.values[i] = joined ? joined : either_of(m, condition, a, b);
    }
    *no = made;
    return true;
}

/* -- containers and objects -------------------------------------------------------------------- */

static bool join_objects(machine *m, Z3_ast condition, const value *yes, value *no)
{
    const values *names = &yes->object.names;
    if (names->count != no->object.names.count || yes->object.class != no->object.class ||
        yes->frozen != no->frozen)
        return false;
    for (size_t i = 0; i < names->count; i++) {
        if (!value_says(no->object.names.at[i], value_utf8(m, names->at[i])))
            return false;
        value *joined = m->joins->values(m, condition, yes->object.fields.at[i],
                                         no->object.fields.at[i]);
        if (!joined)
            return false;
        no->object.fields.at[i] = joined;
    }
    return true;
}

static bool join_lazy(machine *m, Z3_ast condition, const value *yes, value *no)
{
    Z3_context z = m->solver->z;
    if (!value_is_lazy(yes) || !value_is_lazy(no) || yes->lazy.of != no->lazy.of)
        return false;
    no->lazy.length = Z3_mk_ite(z, condition, yes->lazy.length, no->lazy.length);
    no->lazy.array = Z3_mk_ite(z, condition, yes->lazy.array, no->lazy.array);
    return true;
}

static bool join_values(machine *m, Z3_ast condition, const value *yes, value *no)
{
    unsigned version = yes->version > no->version ? yes->version : no->version;
    version += yes->version != no->version;
    bool good = no->kind == V_OBJECT ? join_objects(m, condition, yes, no)
                : value_is_lazy(yes) || value_is_lazy(no)
                    ? join_lazy(m, condition, yes, no)
                    : m->joins->containers(m, condition, yes, no);
    no->version = version;
    return good;
}

bool journal_join(machine *m, speculation *in, Z3_ast condition)
{
    for (change *c = in->changes; c; c = c->next) {
        bool good = c->v ? join_values(m, condition, c->second ? &c->before : &c->after, c->v)
                         : join_names(m, condition, c->second ? &c->names_before : &c->names_after,
                                      c->s);
        if (!good)
            return false;
    }
    return true;
}

bool journal_has_only(const speculation *in, const scope *s)
{
    for (const change *c = in->changes; c; c = c->next)
        if (c->s != s)
            return false;
    return true;
}
