/* Enums: how a member is found by its value, and the attributes of one. */
#include "base/base.h"
#include "classes/classes.h"

value *enum_lookup(machine *m, value *class, arguments *given, int line)
{
    if (given->names.count || given->places.count != 1 || !class->class.enumerated.count)
        path_unsupported(m, line, "give one value", "a call of an Enum with these arguments");
    value *v = given->places.at[0];
    if (v->kind == V_OBJECT && v->object.class == class)
        return v;
    v = plain_of(v);
    if (!value_is_scalar(v) && v->kind != V_NONE && v->kind != V_TUPLE)
        path_unsupported(m, line, "give an int or a str", "a call of an Enum with a %s",
                         value_type(v));
    for (size_t i = 0; i < class->class.enumerated.count; i++) {
        value *one = class->class.enumerated.at[i];
        value *same = same_or_equal(m, object_field(m, one, "_value_"), v, line);
        int yes = same ? decide_truth(m, same, true) : -1;
        if (yes < 0)
            return NULL;
        if (yes)
            return one;
    }
    return throw(m, "ValueError", line);
}

value *enum_attribute(machine *m, value *member, const char *name, int line)
{
    (void)line;
    return is_word(name, "name")    ? object_field(m, member, "_name_")
           : is_word(name, "value") ? object_field(m, member, "_value_")
                                    : NULL;
}
