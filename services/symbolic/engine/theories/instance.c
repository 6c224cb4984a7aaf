/* isinstance(). */
#include <string.h>

#include "theories/theories.h"

static bool is_of_builtin(const value *v, const char *name)
{
    const char *type = value_type(v);
    if (strcmp(name, "object") == 0)
        return true;
    if (v->kind == V_OBJECT && v->object.plain)
        return is_of_builtin(v->object.plain, name);
    if (v->kind == V_OBJECT || v->kind == V_FUNCTION || v->kind == V_CLASS)
        return v->kind == V_CLASS && strcmp(name, "type") == 0;
    if (v->of_class)
        return v->kind == V_DICT && strcmp(name, "dict") == 0;
    if (strcmp(name, "int") == 0 && v->kind == V_BOOL)
        return true;
    if (v->kind == V_SET)
        return strcmp(name, v->frozen ? "frozenset" : "set") == 0;
    return strcmp(name, type) == 0;
}

value *is_instance(machine *m, value *v, value *class, int line)
{
    if (class->kind == V_TUPLE) {
        for (size_t i = 0; i < class->in.items.count; i++) {
            value *one = is_instance(m, v, class->in.items.at[i], line);
            if (!one || one->truth)
                return one;
        }
        return value_bool(m, false);
    }
    if (class->kind == V_CLASS && class->class.protocol)
        path_unsupported(m, line, "name a class", "isinstance() with a Protocol");
    if (class->kind == V_CLASS)
        return value_bool(m, v->of_class == class ||
                                 (v->kind == V_OBJECT && is_subclass(v->object.class, class)));
    static const char *const types[] = { "int",    "bool",      "float",     "str",
                                         "list",   "tuple",     "dict",      "set",
                                         "object", "frozenset", "range",     "type",
                                         "bytes",  "complex",   "bytearray", "memoryview" };
    for (size_t i = 0; class->kind == V_BUILTIN && i < sizeof types / sizeof *types; i++)
        if (strcmp(class->builtin.name, types[i]) == 0) {
            if (v->kind == V_BUILTIN && strcmp(types[i], "type") == 0)
                path_unsupported(m, line, "name the type", "isinstance() of a type of Python");
            return value_bool(m, is_of_builtin(v, types[i]));
        }
    if (class->kind == V_BUILTIN && strncmp(class->builtin.name, "datetime.", 9) == 0)
        return value_bool(m, (v->kind == V_DATE || v->kind == V_DELTA) &&
                                 strcmp(value_type(v), class->builtin.name + 9) == 0);
    if (class->kind == V_NONE || value_is_scalar(class))
        return throw(m, "TypeError", line);
    path_unsupported(m, line, "name a class or a tuple of classes", "isinstance() with this type");
}
