/* Enums and NamedTuples as operators see them: a member by its name, and their text. */
#include "theories/theories.h"

value *enum_named(machine *m, value *class, value *name, int line)
{
    const scope *members = class->class.members;
    name = plain_of(name);
    if (name->kind != V_STR)
        path_unsupported(m, line, "give a str", "the subscript of an Enum with a %s",
                         value_type(name));
    for (size_t i = 0; i < members->count; i++) {
        value *v = members->values[i];
        if (!v || v->kind != V_OBJECT || v->object.class != class)
            continue;
        int yes = decide_truth(m, equal(m, value_ascii(m, members->names[i]), name, line), true);
        if (yes)
            return v;
    }
    return throw(m, "KeyError", line);
}

value *enum_text(machine *m, value *member, bool representation, int line)
{
    const value *class = member->object.class;
    const char *name = value_utf8(m, object_field(m, member, "_name_"));
    value *v = object_field(m, member, "_value_");
    if (!representation && class->class.bare)
        return text_of(m, v, false, line);
    if (!representation)
        return value_ascii(m, arena_print(m->arena, "%s.%s", class->class.name, name));
    value *shown = text_of(m, v, true, line);
    return shown ? value_ascii(m, arena_print(m->arena, "<%s.%s: %s>", class->class.name, name,
                                              value_utf8(m, shown)))
                 : NULL;
}

value *named_text(machine *m, value *object, int line)
{
    const value *class = object->object.class;
    value *made = value_ascii(m, arena_print(m->arena, "%s(", class->class.name));
    if (++m->nested > MOST_NESTED)
        path_unsupported(m, line, "show the fields", "the text of what is nested deeply");
    for (size_t i = 0; made && i < class->class.field_count; i++) {
        value *item = text_of(m, object->object.plain->in.items.at[i], true, line);
        const char *name = arena_print(m->arena, "%s%s=", i ? ", " : "",
                                       class->class.fields[i].name);
        made = text_binary(m, OP_ADD, made, value_ascii(m, name), line);
        made = item ? text_binary(m, OP_ADD, made, item, line) : NULL;
    }
    m->nested--;
    return made ? text_binary(m, OP_ADD, made, value_ascii(m, ")"), line) : NULL;
}
