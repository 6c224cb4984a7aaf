/* Objects of classes of the code: their creation and their attributes. */
#include <string.h>

#include "classes/classes.h"

/* -- making objects ---------------------------------------------------------------------------- */

/* Exceptions of Python whose class depends on their arguments: OSError(2, "…") is a
 * FileNotFoundError. */
static bool makes_more(const value *class, const arguments *given)
{
    static const struct {
        const char *name;
        size_t places; /* from so many arguments on */
    } special[] = { { "OSError", 2 },
                    { "SyntaxError", 2 },
                    { "UnicodeDecodeError", 0 },
                    { "UnicodeEncodeError", 0 },
                    { "ImportError", SIZE_MAX },
                    { "AttributeError", SIZE_MAX },
                    { "NameError", SIZE_MAX } };
    for (size_t c = 0; c < class->class.mro.count; c++)
        for (size_t i = 0; i < sizeof special / sizeof *special; i++)
            if (strcmp(class->class.mro.at[c]->class.name, special[i].name) == 0)
                return given->names.count || given->places.count >= special[i].places;
    return false;
}

value *make_object(machine *m, value *class, arguments *given, int line)
{
    if (class->class.enumeration)
        return enum_lookup(m, class, given, line);
    if (class->class.named)
        return named_make(m, class, given, line);
    if (class->class.container)
        return make_kin(m, class, given, line);
    if (class->class.protocol || class_member(class, "__slots__"))
        path_unsupported(m, line, "use a plain class with __init__",
                         "an object of a Protocol or of a class with __slots__");
    if (class_is_abstract(class))
        return throw(m, "TypeError", line);
    value *made = value_new(m, V_OBJECT);
    made->object.class = class;
    value *init = class_member(class, "__init__");
    if (class->class.exception)
        made->object.arguments = given->places;
    if (init) {
        value *result = call_member(m, made, init, given, line);
        if (result && result->kind != V_NONE)
            return throw(m, "TypeError", line);
        if (result && !class->class.node->line && class_member(class, "__next__"))
            return iterator_by(m, made);
        return result ? made : NULL;
    }
    if (makes_more(class, given))
        path_unsupported(m, line, "give it one argument, its message",
                         "the exception %s with these arguments", class->class.name);
    if (given->names.count || (!class->class.exception && given->places.count))
        return throw(m, "TypeError", line);
    return made;
}

/* The members that super() finds last: __init__ and __eq__ of object, __init__ of an exception. */
value *call_root(machine *m, const char *name, arguments *given, int line)
{
    value *self = given->places.count ? given->places.at[0] : NULL;
    if (!self || self->kind != V_OBJECT)
        path_unsupported(m, line, "call it on an object", "%s without an object", name);
    arguments rest = { .names = given->names };
    for (size_t i = 1; i < given->places.count; i++)
        values_add(m, &rest.places, given->places.at[i]);
    if (strcmp(name, "__eq__") == 0)
        return rest.names.count || rest.places.count != 1 ? throw(m, "TypeError", line)
               : rest.places.at[0] == self                ? value_bool(m, true)
                                                          : value_new(m, V_NOT_IMPLEMENTED);
    if (!self->object.class->class.exception)
        return rest.names.count || rest.places.count ? throw(m, "TypeError", line) : value_none(m);
    if (makes_more(self->object.class, &rest))
        path_unsupported(m, line, "give it one argument, its message",
                         "the exception %s with these arguments", self->object.class->class.name);
    if (rest.names.count)
        return throw(m, "TypeError", line);
    path_touch(m, self->serial);
    self->object.arguments = rest.places;
    return value_none(m);
}

/* -- attributes -------------------------------------------------------------------------------- */

static value *bound(machine *m, value *self, const char *name, value *function)
{
    value *method = value_new(m, V_METHOD);
    method->builtin.self = self;
    method->builtin.name = name;
    method->builtin.call = function;
    return method;
}

/* A member of a class as seen from an object of it or, without one, from the class itself. */
static value *bind_member(machine *m, value *found, value *self, value *class, const char *name,
                          int line)
{
    switch (found->kind) {
    case V_FUNCTION: /* a value of the library, such as a partial, is no method of other classes */
        if (found->function.node->line == 0 && class->class.node && class->class.node->line)
            return found;
        return self ? bound(m, self, name, found) : found;
    case V_BUILTIN:
        if (!self && found->builtin.self && strcmp(name, "__init__") != 0)
            path_unsupported(m, line, "use the operator or function",
                             "the generated method %s of a class", name);
        return self && found->builtin.self ? bound(m, self, name, found) : found;
    case V_WRAPPER:
        if (found->wrapper.as == AS_STATIC)
            return found->wrapper.get;
        if (found->wrapper.as == AS_CLASS)
            return bound(m, class, name, found->wrapper.get);
        if (!self)
            return found;
        return found->wrapper.get ? call_with(m, found->wrapper.get, self, line)
                                  : throw(m, "AttributeError", line);
    case V_MODULE: /* a method with a decorator that is not supported */
        path_unsupported(m, line, "leave it out", "%s", found->builtin.name);
    default:
        return found;
    }
}

static value *exception_attribute(machine *m, value *v, const char *name, int line)
{
    if (strcmp(name, "args") != 0)
        path_unsupported(m, line, "set it in __init__", "the attribute %s of an exception", name);
    if (v->object.opaque)
        path_unsupported(m, line, "use a message of your own",
                         "the message of an exception of Python");
    value *tuple = value_new(m, V_TUPLE);
    tuple->in.items = v->object.arguments;
    return tuple;
}

static bool is_property(const value *member)
{
    return member && member->kind == V_WRAPPER && member->wrapper.as == AS_PROPERTY;
}

/* A class that is modelled in Python: only the model itself, which has no line numbers, may use its
 * internals. */
static bool is_private(const value *class, int line)
{
    return line && class->class.node && !class->class.node->line;
}

static value *object_attribute(machine *m, value *v, const char *name, int line)
{
    if (name[0] == '_' && is_private(v->object.class, line))
        path_unsupported(m, line, NULL, "the attribute %s of a %s", name, value_type(v));
    if (name[0] == '_' && name[1] == '_' && name[strlen(name) - 1] != '_')
        path_unsupported(m, line, "use one underscore", "the mangled name %s", name);
    value *class = v->object.class, *found = NULL;
    if (class->class.named && (found = named_attribute(m, v, name, line)))
        return found;
    value *member = class_member(class, name);
    if (class->class.enumeration && member && member->kind == V_OBJECT &&
        member->object.class == class)
        path_unsupported(m, line, "take it from the class", "a member of an Enum's member");
    if (class->class.enumeration && !member && (found = enum_attribute(m, v, name, line)))
        return found;
    if (!is_property(member) && (found = object_field(m, v, name)))
        return found;
    if (member)
        return bind_member(m, member, v, class, name, line);
    if (class->class.exception && strcmp(name, "args") == 0)
        return exception_attribute(m, v, name, line);
    if (name[0] == '_' && name[1] == '_')
        path_unsupported(m, line, NULL, "the attribute %s", name);
    if (class->class.exception)
        return exception_attribute(m, v, name, line);
    if (class->class.node && !class->class.node->line)
        path_unsupported(m, line, NULL, "the attribute %s of a %s", name, value_type(v));
    if (v->object.plain) {
        static const char *const itself[] = { "split",      "rsplit",     "partition", "rpartition",
                                              "splitlines", "expandtabs", "translate" };
        for (size_t i = 0; i < sizeof itself / sizeof *itself; i++)
            if (strcmp(name, itself[i]) == 0) /* the result may contain the object itself */
                path_unsupported(m, line, "take its value", "%s() of an Enum's member", name);
        return get_attribute(m, v->object.plain, name, line);
    }
    return throw(m, "AttributeError", line);
}

static value *class_attribute(machine *m, value *v, const char *name, int line)
{
    if (strcmp(name, "__name__") == 0)
        return value_ascii(m, v->class.name);
    value *found = v->class.named ? named_class_attribute(m, v, name, line) : NULL;
    if (found)
        return found;
    found = class_member(v, name);
    if (found)
        return bind_member(m, found, NULL, v, name, line);
    if (v->class.exception || v->class.container || v->class.like != V_NONE || v->class.named ||
        name[0] == '_' || v->class.slotted || (v->class.abc && strcmp(name, "register") == 0))
        path_unsupported(m, line, NULL, "the attribute %s of a class", name);
    return throw(m, "AttributeError", line);
}

/* A member of the classes after that of the current method. */
static value *super_attribute(machine *m, value *v, const char *name, int line)
{
    value *self = v->super.self, *class = self->kind == V_CLASS ? self : self->object.class;
    value *found = member_after(class, v->super.after, name);
    if (found)
        return bind_member(m, found, self->kind == V_CLASS ? NULL : self, class, name, line);
    bool known = strcmp(name, "__init__") == 0 || strcmp(name, "__eq__") == 0;
    if (!known || self->kind == V_CLASS || self->object.plain || class->class.enumeration ||
        (strcmp(name, "__eq__") == 0 && class->class.exception)) {
        if (name[0] == '_' || self->kind == V_CLASS || class->class.exception ||
            self->object.plain || class->class.enumeration)
            path_unsupported(m, line, "write it out", "super().%s of object", name);
        return throw(m, "AttributeError", line);
    }
    value *root = value_new(m, V_BUILTIN);
    root->builtin.name = arena_print(m->arena, "object.%s", name);
    return bound(m, self, name, root);
}

/* -- setting them ------------------------------------------------------------------------------ */

static bool class_attribute_set(machine *m, value *class, const char *name, value *v, int line)
{
    value *there = class_member(class, name);
    if (!class->class.node || is_private(class, line) || class->class.enumeration ||
        class->class.named || class->class.dataclass || class->class.abc || name[0] == '_' ||
        (there && there->kind == V_WRAPPER) || (m->own_keys && v->kind == V_WRAPPER))
        path_unsupported(m, line, "keep it in a variable", "this attribute that is set on a class");
    path_touch(m, class->class.members->serial);
    put_member(m, class, name, v);
    return true;
}

bool attribute_set(machine *m, value *of, const char *name, value *v, int line)
{
    if (of->kind == V_CLASS)
        return class_attribute_set(m, of, name, v, line);
    if (of->kind != V_OBJECT || is_private(of->object.class, line))
        path_unsupported(m, line, "keep it in a variable", "an attribute that is set on a %s",
                         value_type(of));
    if (!may_set_field(m, of, name, line))
        return false;
    value *class = of->object.class, *member = class_member(class, name);
    if (name[0] == '_' && name[1] == '_')
        path_unsupported(m, line, "use another name", "the attribute %s that is set", name);
    if (class->class.exception && strcmp(name, "args") == 0)
        path_unsupported(m, line, "give it to __init__", "args that are set");
    if (class->class.named) {
        throw(m, "AttributeError", line);
        return false;
    }
    if (class->class.enumeration && class->class.members->class) /* the class is complete */
        path_unsupported(m, line, "make another one", "an attribute that is set on a %s",
                         class->class.name);
    if (!is_property(member)) {
        keep_own_hash(m, of, name, line);
        object_set(m, of, name, v);
        return true;
    }
    if (!member->wrapper.set) {
        throw(m, "AttributeError", line);
        return false;
    }
    arguments given = { 0 };
    values_add(m, &given.places, v);
    return call_member(m, of, member->wrapper.set, &given, line) != NULL;
}

bool attribute_delete(machine *m, value *of, const char *name, int line)
{
    if (of->kind != V_OBJECT || is_private(of->object.class, line) || of->object.plain ||
        of->object.class->class.enumeration || of->object.class->class.slotted ||
        is_property(class_member(of->object.class, name)))
        path_unsupported(m, line, "set it to None", "del of an attribute of a %s", value_type(of));
    if (!may_set_field(m, of, name, line))
        return false;
    keep_own_hash(m, of, name, line);
    values *names = &of->object.names, *fields = &of->object.fields;
    for (size_t i = 0; i < names->count; i++) {
        if (!value_says(names->at[i], name))
            continue;
        path_touch(m, of->serial);
        size_t after = names->count - i - 1;
        memmove(names->at + i, names->at + i + 1, after * sizeof *names->at);
        memmove(fields->at + i, fields->at + i + 1, after * sizeof *fields->at);
        names->count--;
        fields->count--;
        return true;
    }
    throw(m, "AttributeError", line);
    return false;
}

/* -- of any value ------------------------------------------------------------------------------ */

/* CPython is asked for the methods of its own types. False: raised. */
static bool has_method(machine *m, const value *v, const char *name, int line)
{
    const char *of = v->kind == V_SET && v->frozen ? "frozenset"
                     : v->kind == V_DICT           ? "dict"
                                                   : value_type(v);
    int how = bridge_attribute(of, name);
    if (how < 0)
        bridge_give_up(m, line, "the search of an attribute");
    if (how == 2)
        path_unsupported(m, line, "use the value itself", "the attribute %s of a %s", name, of);
    if (how == 0)
        throw(m, "AttributeError", line);
    return how == 1;
}

static value *named_builtin(machine *m, const char *name)
{
    value *made = value_new(m, V_BUILTIN);
    made->builtin.name = name;
    return made;
}

static bool module_has(machine *m, const value *module, const char *name, int line)
{
    int there = bridge_import(module->builtin.name, name);
    if (there < 0)
        bridge_give_up(m, line, "an import");
    return there == 2;
}

static value *module_attribute(machine *m, value *v, const char *name, int line)
{
    const char *member = arena_print(m->arena, "%s.%s", v->builtin.name, name);
    if (strcmp(v->builtin.name, "math") == 0) {
        static const char *const constants[] = { "pi", "e", "tau", "inf", "nan" };
        for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
            if (strcmp(name, constants[i]) == 0)
                return bridge(m, member, &(values){ 0 }, line);
        if (!module_has(m, v, name, line))
            return throw(m, "AttributeError", line);
        return named_builtin(m, member);
    }
    if (is_class_library(member))
        return named_builtin(m, member);
    if (library_has(v->builtin.name)) {
        if (!module_has(m, v, name, line))
            return throw(m, "AttributeError", line);
        value *found = library_member(m, v->builtin.name, name);
        if (found)
            return found;
    }
    path_unsupported(m, line, library_instead(member), "%s", member);
}

static value *builtin_attribute(machine *m, value *v, const char *name, int line)
{
    if (strncmp(v->builtin.name, "datetime.", 9) == 0)
        return date_class_attribute(m, v->builtin.name + 9, name, line);
    if (strcmp(name, "__name__") == 0)
        return value_ascii(m, v->builtin.name);
    if (strcmp(v->builtin.name, "str") == 0 && name[0] != '_' && strcmp(name, "maketrans") != 0 &&
        bridge_attribute("str", name) == 1) /* str.upper: its first argument is a str */
        return named_builtin(m, arena_print(m->arena, "str.%s", name));
    if (strcmp(v->builtin.name, "dict") == 0 && strcmp(name, "fromkeys") == 0)
        return named_builtin(m, "dict.fromkeys");
    if (is_bytes_function(v->builtin.name, name))
        return named_builtin(m, arena_print(m->arena, "%s.%s", v->builtin.name, name));
    path_unsupported(m, line, "call it on the value", "%s.%s", v->builtin.name, name);
}

/* A method of a value that the machine knows by itself. */
static value *method_attribute(machine *m, value *v, const char *name, int line)
{
    if (name[0] == '_')
        path_unsupported(m, line, "use the operator or function", "the attribute %s", name);
    if (v->of_class) {
        value *own = kin_attribute(m, v, name, line);
        if (own || m->raised)
            return own;
    }
    if (!has_method(m, v, name, line))
        return NULL;
    return bound(m, v, name, NULL);
}

value *get_attribute(machine *m, value *v, const char *name, int line)
{
    switch (v->kind) {
    case V_OBJECT:
        return object_attribute(m, v, name, line);
    case V_CLASS:
        return class_attribute(m, v, name, line);
    case V_SUPER:
        return super_attribute(m, v, name, line);
    case V_WRAPPER:
        if (v->wrapper.as != AS_PROPERTY ||
            (strcmp(name, "setter") != 0 && strcmp(name, "getter") != 0))
            path_unsupported(m, line, NULL, "the attribute %s of a property", name);
        return bound(m, v, name, NULL);
    case V_MODULE:
        return module_attribute(m, v, name, line);
    case V_BUILTIN:
        return builtin_attribute(m, v, name, line);
    case V_STR:
    case V_BYTES:
    case V_LIST:
    case V_DICT:
    case V_SET:
    case V_TUPLE:
    case V_INT:
    case V_FLOAT:
    case V_BOOL:
        return method_attribute(m, v, name, line);
    case V_DATE:
    case V_DELTA:
        return date_attribute(m, v, name, line);
    case V_NONE:
        if (name[0] != '_')
            return throw(m, "AttributeError", line);
        path_unsupported(m, line, NULL, "the attribute %s", name);
    default:
        path_unsupported(m, line, NULL, "the attribute %s of a %s", name, value_type(v));
    }
}
