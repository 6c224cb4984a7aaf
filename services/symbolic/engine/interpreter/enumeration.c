/*
 * The class statement of an Enum, which makes its members.
 *
 * A member is a unique object. A member of an IntEnum, StrEnum or `class C(str, Enum)` is also an
 * int or str, its `plain` value.
 */
#include <string.h>

#include "interpreter/interpreter.h"

static bool is_auto(machine *m, scope *s, const node *n)
{
    const char *name = n->kind == N_CALL && !n->x.count && !n->y.count ? library_name(m, s, n->a)
                                                                       : NULL;
    return name && is_word(name, "enum.auto");
}

/* auto(): one more than the last value. If that is not the greatest, versions of Python differ. */
static value *next_value(machine *m, const value *class, const char *name, int line)
{
    const values *before = &class->class.enumerated;
    int64_t last = -(1 << 30), number;
    if (class->class.like == V_STR && class->class.bare) {
        values given = { 0 };
        values_add(m, &given, value_ascii(m, name));
        return bridge(m, "a.lower()", &given, line);
    }
    for (size_t i = 0; i < before->count; i++) {
        const value *v = object_field(m, before->at[i], "_value_");
        if (v->kind != V_INT || !value_whole(v, &number) || number <= last || number > 1 << 30)
            path_unsupported(m, line, "write the numbers", "auto() after these values");
        last = number;
    }
    if (class->class.like == V_STR || own_member(class, "_generate_next_value_"))
        path_unsupported(m, line, "write the values", "auto() in this Enum");
    return value_int(m, before->count ? last + 1 : 1);
}

/* The member with this value; NULL: there is none. All values are known. */
static value *member_of(machine *m, const value *class, value *v, int line)
{
    for (size_t i = 0; i < class->class.enumerated.count; i++) {
        value *one = class->class.enumerated.at[i];
        value *same = same_or_equal(m, object_field(m, one, "_value_"), v, line);
        if (!same || !same->known)
            path_unsupported(m, line, "use ints or strs", "an Enum with such values");
        if (same->truth)
            return one;
    }
    return NULL;
}

static value *make_member(machine *m, value *class, const char *name, value *v, int line)
{
    bool plain = class->class.like != V_NONE;
    if (!value_is_concrete(m, v) || (plain && v->kind != class->class.like) || v->kind == V_LIST ||
        v->kind == V_DICT || v->kind == V_SET)
        path_unsupported(m, line, "use ints, strs or tuples", "this value of an Enum's member");
    value *known = member_of(m, class, v, line);
    if (known) /* it is another name for the same member */
        return known;
    value *made = value_new(m, V_OBJECT);
    made->object.class = class;
    made->object.plain = plain ? v : NULL;
    m->mixed |= plain;
    object_set(m, made, "_name_", value_ascii(m, name));
    object_set(m, made, "_value_", v);
    values_add(m, &class->class.enumerated, made);
    return made;
}

/* Members whose class has __init__ get their value, or the items of a tuple, as arguments. */
static bool init_members(machine *m, value *class)
{
    value *init = class_member(class, "__init__");
    for (size_t i = 0; init && i < class->class.enumerated.count; i++) {
        value *one = class->class.enumerated.at[i], *v = object_field(m, one, "_value_");
        arguments given = { 0 };
        if (v->kind == V_TUPLE)
            given.places = v->in.items;
        else
            values_add(m, &given.places, v);
        if (!call_member(m, one, init, &given, class->class.node->line))
            return false;
        if (object_field(m, one, "_value_") != v)
            path_unsupported(m, class->class.node->line, "write the values", "_value_ that is set");
    }
    return true;
}

static outcome run_member(machine *m, scope *members, value *class, const node *n)
{
    const char *name = n->x.at[0]->name;
    bool automatic = is_auto(m, members, n->a);
    value *v = automatic ? next_value(m, class, name, n->line) : eval(m, members, n->a);
    if (!v)
        return RAISED;
    if (name[0] == '_' || is_word(name, "name") || is_word(name, "value") || is_word(name, "mro") ||
        scope_peek(members, name) || v->kind == V_FUNCTION || v->kind == V_WRAPPER ||
        v->kind == V_OBJECT || v->kind == V_CLASS)
        path_unsupported(m, n->line, "write NAME = value", "the member %s of an Enum", name);
    make_member(m, class, name, v, n->line);
    scope_set(m, members, name, v); /* while the class is being made: its plain value */
    return DONE;
}

outcome run_enumeration(machine *m, scope *members, value *class)
{
    nodes body = class->class.node->z;
    class->class.members = NULL;
    for (size_t i = 0; i < body.count; i++) {
        const node *n = body.at[i], *one[] = { n };
        bool member = n->kind == N_ASSIGN && n->x.count == 1 && n->x.at[0]->kind == N_NAME;
        bool other = n->kind == N_FUNCTION || n->kind == N_PASS ||
                     (n->kind == N_EXPR && n->a->kind == N_CONSTANT);
        if (n->kind == N_FUNCTION && (n->name[0] == '_' && n->name[1] != '_'))
            path_unsupported(m, n->line, "leave it out", "%s of an Enum", n->name);
        if (n->kind == N_FUNCTION && scope_peek(members, n->name))
            path_unsupported(m, n->line, "name it otherwise", "%s twice in an Enum", n->name);
        if (!member && !other)
            path_unsupported(m, n->line, "write NAME = value", "this statement in an Enum");
        outcome end = member ? run_member(m, members, class, n)
                             : run(m, members, (nodes){ one, 1 });
        if (end != DONE)
            return end;
    }
    for (size_t i = 0; i < body.count; i++)
        if (body.at[i]->kind == N_ASSIGN) {
            const char *name = body.at[i]->x.at[0]->name;
            value *member = member_of(m, class, scope_peek(members, name), body.at[i]->line);
            scope_set(m, members, name, member);
        }
    class->class.members = members;
    return init_members(m, class) ? DONE : RAISED;
}
