/* Classes of the code: exceptions, dataclasses and plain classes; attributes; imports. */
#include <stdio.h>
#include <string.h>

#include "machine/machine.h"

/* -- members ----------------------------------------------------------------------------------- */

value *class_member(value *class, const char *name)
{
    for (; class; class = class->class.base) {
        const scope *members = class->class.members;
        for (size_t i = 0; members && i < members->count; i++)
            if (strcmp(members->names[i], name) == 0 && members->values[i])
                return members->values[i];
    }
    return NULL;
}

value *object_field(machine *m, const value *object, const char *name)
{
    (void)m;
    for (size_t i = 0; i < object->object.names.count; i++)
        if (value_says(object->object.names.at[i], name))
            return object->object.fields.at[i];
    return NULL;
}

void object_set(machine *m, value *object, const char *name, value *v)
{
    path_touch(m, object->serial);
    for (size_t i = 0; i < object->object.names.count; i++)
        if (value_says(object->object.names.at[i], name)) {
            object->object.fields.at[i] = v;
            return;
        }
    values_add(m, &object->object.names, value_ascii(m, name));
    values_add(m, &object->object.fields, v);
}

values object_declared(machine *m, const value *object, int line)
{
    value *class = object->object.class;
    const node *n = class->class.node;
    values declared = { 0 };
    for (size_t i = 0; i < n->z.count; i++) {
        const node *field = n->z.at[i];
        if (field->kind != N_ANNASSIGN || field->a->kind != N_NAME)
            continue;
        value *v = object_field(m, object, field->a->name);
        if (!v)
            v = class_member(class, field->a->name);
        if (!v)
            path_unsupported(m, line, "set each field in __init__",
                             "a dataclass without its field %s", field->a->name);
        values_add(m, &declared, v);
    }
    return declared;
}

/* -- making objects ---------------------------------------------------------------------------- */

/* The fields of a dataclass in order: `name: type` or `name: type = default`. */
static bool init_dataclass(machine *m, value *object, value *class, arguments *given, int line)
{
    const node *n = class->class.node;
    size_t used = 0;
    for (size_t i = 0; i < n->z.count; i++) {
        const node *field = n->z.at[i];
        if (field->kind != N_ANNASSIGN || field->a->kind != N_NAME)
            continue;
        const char *name = field->a->name;
        value *v = NULL;
        if (used < given->places.count)
            v = given->places.at[used++];
        for (size_t j = 0; j < given->names.count; j++) {
            if (!given->keywords.at[j] || !value_says(given->names.at[j], name))
                continue;
            if (v)
                return throw(m, "TypeError", line) != NULL;
            v = given->keywords.at[j];
            given->keywords.at[j] = NULL;
        }
        if (!v && field->c)
            v = scope_peek(class->class.members, name);
        if (!v)
            return throw(m, "TypeError", line) != NULL;
        values_add(m, &object->object.names, value_ascii(m, name));
        values_add(m, &object->object.fields, v);
    }
    bool rest = used < given->places.count;
    for (size_t j = 0; j < given->names.count; j++)
        rest = rest || given->keywords.at[j];
    if (rest)
        return throw(m, "TypeError", line) != NULL;
    value *after = class_member(class, "__post_init__");
    if (!after)
        return true;
    value *frozen = object;
    bool was = frozen->frozen;
    frozen->frozen = class->frozen;
    bool good = call_with(m, after, object, line) != NULL;
    frozen->frozen = was;
    return good;
}

/* Exceptions of Python that look at their arguments: OSError(2, "…") is a FileNotFoundError. */
static bool makes_more(const value *class, const arguments *given)
{
    static const struct {
        const char *name;
        size_t places; /* from which on it does */
    } special[] = { { "OSError", 2 },
                    { "SyntaxError", 2 },
                    { "UnicodeDecodeError", 0 },
                    { "UnicodeEncodeError", 0 },
                    { "ImportError", SIZE_MAX },
                    { "AttributeError", SIZE_MAX },
                    { "NameError", SIZE_MAX } };
    for (; class && class->class.exception; class = class->class.base)
        for (size_t i = 0; i < sizeof special / sizeof *special; i++)
            if (strcmp(class->class.name, special[i].name) == 0)
                return given->names.count || given->places.count >= special[i].places;
    return false;
}

value *make_object(machine *m, value *class, arguments *given, int line)
{
    if (class->class.enumeration)
        path_unsupported(m, line, "use the member itself", "a call of an enum");
    if (class->class.container)
        return make_kin(m, class, given, line);
    value *made = value_new(m, V_OBJECT);
    made->object.class = class;
    value *init = class_member(class, "__init__");
    if (class->class.dataclass && init && class->class.base)
        path_unsupported(m, line, "write __init__ in full", "a dataclass with a base class");
    if (class_member(class, "__slots__") || class_member(class, "__new__") ||
        class_member(class, "__getattr__") || class_member(class, "__setattr__") ||
        class_member(class, "__getattribute__"))
        path_unsupported(m, line, "use __init__",
                         "a class with __slots__, __new__ or attribute hooks");
    if (class->class.exception)
        made->object.arguments = given->places;
    if (class->class.dataclass && !init) {
        bool good = init_dataclass(m, made, class, given, line);
        made->frozen = class->frozen;
        return good ? made : NULL;
    }
    if (init) {
        value *method = value_new(m, V_METHOD);
        method->builtin.self = made;
        method->builtin.call = init;
        value *result = call(m, method, given, line);
        if (result && result->kind != V_NONE)
            return throw(m, "TypeError", line);
        return result ? made : NULL;
    }
    if (makes_more(class, given))
        path_unsupported(m, line, "give it one argument, its message",
                         "the exception %s with these arguments", class->class.name);
    if (given->names.count || (!class->class.exception && given->places.count))
        return throw(m, "TypeError", line);
    return made;
}

/* -- class statements -------------------------------------------------------------------------- */

static bool keyword_is_true(const node *call_node, const char *name)
{
    for (size_t i = 0; call_node->kind == N_CALL && i < call_node->y.count; i++) {
        const node *k = call_node->y.at[i];
        if (k->name && strcmp(k->name, name) == 0)
            return k->a->kind == N_CONSTANT && k->a->constant->kind == C_BOOL &&
                   k->a->constant->truth;
    }
    return false;
}

/* Does the name of a decorator mean what is in the module dataclasses? */
static bool is_from_dataclasses(machine *m, scope *s, const node *named)
{
    const node *from = named->kind == N_ATTRIBUTE ? named->a : named;
    value *v = from->kind == N_NAME ? scope_get(m, s, from->name) : NULL;
    m->raised = NULL;
    return v && v->kind == V_MODULE &&
           strcmp(v->builtin.name, from == named ? "dataclasses.dataclass" : "dataclasses") == 0;
}

static bool decorate(machine *m, scope *s, value *class, const node *d)
{
    const node *named = d->kind == N_CALL ? d->a : d;
    const char *name = named->name ? named->name : "";
    if (strcmp(name, "dataclass") != 0 || !is_from_dataclasses(m, s, named))
        path_unsupported(m, d->line, "leave it out", "the decorator of class %s",
                         class->class.name);
    for (size_t i = 0; d->kind == N_CALL && i < d->y.count; i++)
        if (!d->y.at[i]->name ||
            (strcmp(d->y.at[i]->name, "frozen") != 0 && strcmp(d->y.at[i]->name, "order") != 0))
            path_unsupported(m, d->line, "use frozen and order only", "this option of dataclass");
    class->class.dataclass = true;
    class->class.ordered = keyword_is_true(d, "order");
    class->frozen = keyword_is_true(d, "frozen");
    return true;
}

/* A default that each object would get a copy of is not modelled. */
static void check_fields(machine *m, const value *class)
{
    if (class->class.base && class->class.base->class.dataclass)
        path_unsupported(m, class->class.node->line, "repeat the fields",
                         "a dataclass that inherits from another");
    bool optional = false;
    for (size_t i = 0; i < class->class.node->z.count; i++) {
        const node *field = class->class.node->z.at[i];
        if (field->kind != N_ANNASSIGN)
            continue;
        const node *kind = field->b->kind == N_SUBSCRIPT ? field->b->a : field->b;
        if (kind->kind == N_CONSTANT || (kind->name && (strcmp(kind->name, "ClassVar") == 0 ||
                                                        strcmp(kind->name, "InitVar") == 0 ||
                                                        strcmp(kind->name, "KW_ONLY") == 0)))
            path_unsupported(m, field->line, "use a plain annotation",
                             "this annotation of a field");
        if (optional && !field->c)
            path_unsupported(m, field->line, "give each a default",
                             "a field without a default after one with a default");
        optional = field->c != NULL;
        if (field->c && field->c->kind != N_CONSTANT && field->c->kind != N_UNARYOP &&
            field->c->kind != N_TUPLE)
            path_unsupported(m, field->line, "give it in the call",
                             "a field of a dataclass with a computed default");
    }
}

/* A name with two underscores that Python gives the name of the class; NULL: there is none. */
static const char *mangled_in(const node *n);

static const char *mangled_among(nodes list)
{
    for (size_t i = 0; i < list.count; i++) {
        const char *name = list.at[i] ? mangled_in(list.at[i]) : NULL;
        if (name)
            return name;
    }
    return NULL;
}

static const char *mangled_in(const node *n)
{
    const char *name = n->name && n->kind != N_IMPORT_FROM ? n->name : "";
    if (strncmp(name, "__", 2) == 0 && strcmp(name + strlen(name) - 2, "__") != 0)
        return name;
    const node *parts[] = { n->a, n->b, n->c };
    const nodes lists[] = { n->x, n->y, n->z, n->w, n->v };
    const char *found = NULL;
    for (int i = 0; !found && i < 3; i++)
        found = parts[i] ? mangled_in(parts[i]) : NULL;
    for (int i = 0; !found && i < 5; i++)
        found = mangled_among(lists[i]);
    return found;
}

outcome run_class(machine *m, scope *s, const node *n)
{
    value *class = value_new(m, V_CLASS);
    class->class.name = n->name;
    class->class.node = n;
    const char *mangled = mangled_among(n->z);
    if (mangled)
        path_unsupported(m, n->line, "use one underscore", "the mangled name %s", mangled);
    if (n->y.count || n->x.count > 1)
        path_unsupported(m, n->line, "use one base class", "several bases of a class");
    for (size_t i = 0; i < n->x.count; i++) {
        value *base = eval(m, s, n->x.at[i]);
        if (!base)
            return RAISED;
        bool object = base->kind == V_BUILTIN && strcmp(base->builtin.name, "object") == 0;
        if (!n->line && base->kind == V_BUILTIN) { /* of the library: see kin.c */
            class->class.container = strcmp(base->builtin.name, "dict") == 0 ? V_DICT : V_LIST;
            continue;
        }
        if ((base->kind != V_CLASS && !object) || (base->kind == V_CLASS && base->class.container))
            path_unsupported(m, n->line, "write the class without it", "this base of class %s",
                             n->name);
        if (!object) {
            if (base->class.dataclass && n->w.count == 0)
                path_unsupported(m, n->line, "repeat the fields",
                                 "a class that inherits from a dataclass");
            class->class.base = base;
            class->class.exception = base->class.exception;
        }
    }
    for (size_t i = 0; i < n->w.count; i++)
        decorate(m, s, class, n->w.at[i]);
    if (class->class.dataclass)
        check_fields(m, class);
    scope *members = scope_new(m, s == m->globals ? NULL : s, NULL);
    members->is_class = true;
    scope_declare(m, members, n->z);
    outcome end = run(m, members, n->z);
    if (end != DONE)
        return end;
    class->class.members = members;
    for (size_t i = 0; i < members->count; i++)
        if (members->values[i] && members->values[i]->kind == V_FUNCTION)
            members->values[i]->function.owner = class;
    scope_set(m, s, n->name, class);
    return DONE;
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

static value *object_attribute(machine *m, value *v, const char *name, int line)
{
    if (name[0] == '_' && name[1] == '_' && name[strlen(name) - 1] != '_')
        path_unsupported(m, line, "use one underscore", "the mangled name %s", name);
    value *found = object_field(m, v, name);
    if (found)
        return found;
    found = class_member(v->object.class, name);
    if (found && found->kind == V_FUNCTION) {
        const node *n = found->function.node;
        if (n->kind == N_FUNCTION && n->y.count) {
            const node *d = n->y.at[0];
            bool property = n->y.count == 1 && d->kind == N_NAME &&
                            strcmp(d->name, "property") == 0;
            if (n->y.count == 1 && d->kind == N_NAME && strcmp(d->name, "staticmethod") == 0)
                return found;
            path_unsupported(m, n->line, property ? "call a method" : "leave it out",
                             property ? "a property" : "the decorator of a method");
        }
        return bound(m, v, name, found);
    }
    if (found)
        return found;
    if (strcmp(name, "args") == 0 && v->object.class->class.exception) {
        if (v->object.opaque)
            path_unsupported(m, line, "use a message of your own",
                             "the message of an exception of Python");
        value *tuple = value_new(m, V_TUPLE);
        tuple->in.items = v->object.arguments;
        return tuple;
    }
    if (name[0] == '_' && name[1] == '_')
        path_unsupported(m, line, NULL, "the attribute %s", name);
    if (v->object.class->class.exception)
        path_unsupported(m, line, "set it in __init__", "the attribute %s of an exception", name);
    if (v->object.class->class.node && !v->object.class->class.node->line)
        path_unsupported(m, line, NULL, "the attribute %s of a %s", name, value_type(v));
    return throw(m, "AttributeError", line);
}

static value *class_attribute(machine *m, value *v, const char *name, int line)
{
    if (strcmp(name, "__name__") == 0)
        return value_ascii(m, v->class.name);
    value *found = class_member(v, name);
    if (found && found->kind == V_FUNCTION && found->function.node->kind == N_FUNCTION &&
        found->function.node->y.count &&
        strcmp(found->function.node->y.at[0]->name ? found->function.node->y.at[0]->name : "",
               "staticmethod") != 0)
        path_unsupported(m, line, "leave it out", "the decorator of a method");
    if (found)
        return found;
    if (v->class.exception || v->class.container || name[0] == '_')
        path_unsupported(m, line, NULL, "the attribute %s of a class", name);
    return throw(m, "AttributeError", line);
}

/* Python itself knows the methods of its types. False: raised. */
static bool has_method(machine *m, const value *v, const char *name, int line)
{
    const char *of = v->kind == V_SET && v->frozen ? "frozenset"
                     : v->kind == V_DICT           ? "dict"
                                                   : value_type(v);
    int how = bridge_attribute(of, name);
    if (how == 2)
        path_unsupported(m, line, "use the value itself", "the attribute %s of a %s", name, of);
    if (how == 0)
        throw(m, "AttributeError", line);
    return how == 1;
}

value *get_attribute(machine *m, value *v, const char *name, int line)
{
    switch (v->kind) {
    case V_OBJECT:
        return object_attribute(m, v, name, line);
    case V_CLASS:
        return class_attribute(m, v, name, line);
    case V_MODULE: {
        const char *member = arena_print(m->arena, "%s.%s", v->builtin.name, name);
        if (strcmp(v->builtin.name, "math") == 0) {
            static const char *const constants[] = { "pi", "e", "tau", "inf", "nan" };
            for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
                if (strcmp(name, constants[i]) == 0)
                    return bridge(m, member, &(values){ 0 }, line);
            value *f = value_new(m, V_BUILTIN);
            f->builtin.name = member;
            return f;
        }
        if (library_has(v->builtin.name)) {
            if (bridge_import(v->builtin.name, name) < 2)
                return throw(m, "AttributeError", line);
            value *found = library_member(m, v->builtin.name, name);
            if (found)
                return found;
        }
        path_unsupported(m, line, "write it out in plain Python", "%s", member);
    }
    case V_BUILTIN:
        if (strncmp(v->builtin.name, "datetime.", 9) == 0)
            return date_class_attribute(m, v->builtin.name + 9, name, line);
        if (strcmp(name, "__name__") == 0)
            return value_ascii(m, v->builtin.name);
        path_unsupported(m, line, "call it on the value", "%s.%s", v->builtin.name, name);
    case V_STR:
    case V_LIST:
    case V_DICT:
    case V_SET:
    case V_TUPLE:
    case V_INT:
    case V_FLOAT:
    case V_BOOL:
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

/* -- imports ----------------------------------------------------------------------------------- */

outcome run_import(machine *m, scope *s, const node *n)
{
    for (size_t i = 0; i < n->x.count; i++) {
        const node *alias = n->x.at[i];
        const char *bound_to = alias->other ? alias->other : alias->name;
        value *module = value_new(m, V_MODULE);
        if (n->kind == N_IMPORT) {
            const char *dot = strchr(alias->name, '.');
            module->builtin.name = alias->name;
            if (bridge_import(alias->name, NULL) < 2) {
                throw(m, "ModuleNotFoundError", n->line);
                return RAISED;
            }
            if (dot && !alias->other) {
                char first[64];
                snprintf(first, sizeof first, "%.*s", (int)(dot - alias->name), alias->name);
                module->builtin.name = bound_to = tree_name(m->tree, first);
            }
            library_member(m, module->builtin.name, ""); /* so that it is loaded with the rest */
            scope_set(m, s, bound_to, module);
            continue;
        }
        module->builtin.name = n->name ? n->name : "";
        value *v;
        int there = bridge_import(module->builtin.name, alias->name);
        if (there < 2) {
            throw(m, there ? "ImportError" : "ModuleNotFoundError", n->line);
            return RAISED;
        }
        if (strcmp(alias->name, "*") == 0)
            path_unsupported(m, n->line, "name what is imported", "import *");
        if (strcmp(module->builtin.name, "math") == 0) {
            v = get_attribute(m, module, alias->name, n->line);
        } else {
            v = library_member(m, module->builtin.name, alias->name);
        }
        if (!v && !m->raised) {
            /* Only a use of it is not supported: annotations are not evaluated. */
            v = value_new(m, V_MODULE);
            v->builtin.name = arena_print(m->arena, "%s.%s", module->builtin.name, alias->name);
        }
        if (!v)
            return RAISED;
        scope_set(m, s, bound_to, v);
    }
    return DONE;
}
