/* NamedTuples, as a class or by namedtuple(): objects that are also a tuple, their `plain`
 * value. */
#include <string.h>

#include "base/base.h"
#include "classes/classes.h"

enum { MOST_FIELDS = 64 };

static void add_field(machine *m, value *class, const char *name, value *otherwise, int line)
{
    size_t count = class->class.field_count;
    if (name[0] == '_' || count == MOST_FIELDS)
        path_unsupported(m, line, "name it otherwise", "the field %s of a NamedTuple", name);
    if (count && class->class.fields[count - 1].otherwise && !otherwise)
        path_unsupported(m, line, "give each a default",
                         "a field without a default after one with a default");
    for (size_t i = 0; i < count; i++)
        if (is_word(class->class.fields[i].name, name))
            path_unsupported(m, line, "name it otherwise", "the field %s twice", name);
    class->class.fields[class->class.field_count++] = (field){ name, .otherwise = otherwise };
}

bool make_named(machine *m, value *class)
{
    nodes body = class->class.node->z;
    class->class.fields = arena_take(m->arena, MOST_FIELDS * sizeof *class->class.fields);
    for (size_t i = 0; i < body.count; i++) {
        const node *n = body.at[i];
        bool known = n->kind == N_ANNASSIGN || n->kind == N_FUNCTION || n->kind == N_PASS ||
                     (n->kind == N_EXPR && n->a->kind == N_CONSTANT);
        if (!known || (n->kind == N_ANNASSIGN && n->a->kind != N_NAME) ||
            (n->kind == N_FUNCTION && n->name[0] == '_' && n->name[1] != '_') ||
            (n->kind == N_FUNCTION && is_word(n->name, "__init__")))
            path_unsupported(m, n->line, "keep to fields and methods",
                             "this statement in a NamedTuple");
        if (n->kind == N_ANNASSIGN)
            add_field(m, class, n->a->name, n->c ? own_member(class, n->a->name) : NULL, n->line);
    }
    for (size_t i = 0; i < class->class.field_count; i++)
        put_member(m, class, class->class.fields[i].name, NULL);
    return true;
}

/* The names of namedtuple(): "x y", "x, y" or a list of them. */
static void add_names(machine *m, value *class, value *of, int line)
{
    values given = { 0 };
    if (!value_is_concrete(m, of) ||
        (of->kind != V_STR && of->kind != V_LIST && of->kind != V_TUPLE))
        path_unsupported(m, line, "write the names as a str or a list", "these names of fields");
    values_add(m, &given, of);
    if (of->kind == V_STR)
        of = bridge(m, "a.replace(',', ' ').split()", &given, line);
    for (size_t i = 0; i < of->in.items.count; i++) {
        const value *one = of->in.items.at[i];
        if (one->kind != V_STR)
            path_unsupported(m, line, "write the names as strs", "these names of fields");
        add_field(m, class, tree_name(m->tree, value_utf8(m, one)), NULL, line);
    }
}

value *named_of_call(machine *m, arguments *given, int line)
{
    value *defaults = keyword_argument(given, "defaults");
    if (!arguments_fit(m, given, 2, 2, line) || given->places.at[0]->kind != V_STR ||
        !given->places.at[0]->known ||
        (defaults && defaults->kind != V_LIST && defaults->kind != V_TUPLE))
        path_unsupported(m, line, "give a name and the names of the fields",
                         "namedtuple() with these arguments");
    value *class = value_new(m, V_CLASS);
    class->class.name = value_utf8(m, given->places.at[0]);
    class->class.named = true;
    class->class.members = scope_new(m, NULL, NULL);
    class->class.members->class = class;
    class->class.fields = arena_take(m->arena, MOST_FIELDS * sizeof *class->class.fields);
    values_add(m, &class->class.mro, class);
    add_names(m, class, given->places.at[1], line);
    size_t count = class->class.field_count, last = defaults ? defaults->in.items.count : 0;
    if (last > count)
        return throw(m, "TypeError", line);
    for (size_t i = 0; i < last; i++)
        class->class.fields[count - last + i].otherwise = defaults->in.items.at[i];
    return class;
}

static value *new_named(machine *m, value *class, values items)
{
    value *made = value_new(m, V_OBJECT);
    made->object.class = class;
    made->object.plain = value_new(m, V_TUPLE);
    made->object.plain->in.items = items;
    m->mixed = true;
    return made;
}

value *named_make(machine *m, value *class, arguments *given, int line)
{
    values items = { 0 };
    size_t count = class->class.field_count;
    for (size_t i = 0; i < count; i++) {
        const field *f = &class->class.fields[i];
        value *v = i < given->places.count ? given->places.at[i] : NULL;
        value *named = keyword_argument(given, f->name);
        if (v && named)
            return throw(m, "TypeError", line);
        v = v ? v : named ? named : f->otherwise;
        if (!v)
            return throw(m, "TypeError", line);
        values_add(m, &items, v);
    }
    return arguments_fit(m, given, 0, count, line) ? new_named(m, class, items) : NULL;
}

static value *names_of(machine *m, const value *class)
{
    value *names = value_new(m, V_TUPLE);
    for (size_t i = 0; i < class->class.field_count; i++)
        values_add(m, &names->in.items, value_ascii(m, class->class.fields[i].name));
    return names;
}

static value *method_of(machine *m, value *self, const char *name)
{
    value *method = value_new(m, V_METHOD);
    method->builtin.self = self;
    method->builtin.name = name;
    return method;
}

value *named_attribute(machine *m, value *object, const char *name, int line)
{
    const value *class = object->object.class;
    for (size_t i = 0; i < class->class.field_count; i++)
        if (is_word(class->class.fields[i].name, name))
            return object->object.plain->in.items.at[i];
    if (is_word(name, "_fields"))
        return names_of(m, class);
    if (is_word(name, "_replace") || is_word(name, "_asdict"))
        return method_of(m, object, name);
    if (name[0] == '_' && name[1] != '_' && name[1])
        path_unsupported(m, line, "write it out", "the attribute %s of a NamedTuple", name);
    return NULL;
}

value *named_class_attribute(machine *m, value *class, const char *name, int line)
{
    if (is_word(name, "_fields"))
        return names_of(m, class);
    if (is_word(name, "_make"))
        return method_of(m, class, name);
    for (size_t i = 0; i < class->class.field_count; i++)
        if (is_word(class->class.fields[i].name, name))
            path_unsupported(m, line, "take it from an object", "a field of a NamedTuple's class");
    return NULL;
}

static value *replaced(machine *m, value *self, arguments *given, int line)
{
    const value *class = self->object.class;
    values items = { 0 };
    for (size_t i = 0; i < class->class.field_count; i++) {
        value *v = keyword_argument(given, class->class.fields[i].name);
        values_add(m, &items, v ? v : self->object.plain->in.items.at[i]);
    }
    for (size_t i = 0; i < given->names.count; i++)
        if (given->keywords.at[i]) /* ValueError, from 3.13 on TypeError */
            path_unsupported(m, line, "name a field", "_replace() of what is no field");
    return arguments_fit(m, given, 0, 0, line) ? new_named(m, self->object.class, items) : NULL;
}

value *call_named_method(machine *m, value *self, const char *name, arguments *given, int line)
{
    if (is_word(name, "_replace"))
        return replaced(m, self, given, line);
    if (is_word(name, "_asdict")) {
        value *made = value_new(m, V_DICT);
        made->in.items = names_of(m, self->object.class)->in.items;
        for (size_t i = 0; i < made->in.items.count; i++)
            values_add(m, &made->in.others, self->object.plain->in.items.at[i]);
        return arguments_fit(m, given, 0, 0, line) ? made : NULL;
    }
    values items;
    if (!arguments_fit(m, given, 1, 1, line) ||
        !items_of(m, given->places.at[0], false, &items, line))
        return NULL;
    return items.count == self->class.field_count ? new_named(m, self, items)
                                                  : throw(m, "TypeError", line);
}
