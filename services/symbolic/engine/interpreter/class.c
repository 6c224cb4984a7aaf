/* Class statements: bases and their order, decorators of classes and functions, super(). */
#include <string.h>

#include "base/base.h"
#include "interpreter/interpreter.h"

const char *library_name(machine *m, scope *s, const node *n)
{
    const node *from = n->kind == N_ATTRIBUTE ? n->a : n;
    value *v = from->kind == N_NAME ? scope_get(m, s, from->name) : NULL;
    m->raised = NULL;
    if (!v || v->kind != V_MODULE)
        return NULL;
    return from == n ? v->builtin.name : arena_print(m->arena, "%s.%s", v->builtin.name, n->name);
}

/* -- the order of bases ------------------------------------------------------------------------ */

enum { MOST_BASES = 16 };

static bool is_in_tail(const values *list, const value *class)
{
    for (size_t i = 1; i < list->count; i++)
        if (list->at[i] == class)
            return true;
    return false;
}

/* C3: the first head of a list that is in the tail of none. False: there is none, a TypeError. */
static bool linearize(machine *m, value *class, const values *bases, int line)
{
    values lists[MOST_BASES + 1];
    for (size_t i = 0; i < bases->count; i++)
        lists[i] = bases->at[i]->class.mro;
    lists[bases->count] = *bases;
    values_add(m, &class->class.mro, class);
    for (;;) {
        value *next = NULL;
        bool left = false;
        for (size_t i = 0; !next && i <= bases->count; i++) {
            if (lists[i].count == 0)
                continue;
            left = true;
            next = lists[i].at[0];
            for (size_t j = 0; next && j <= bases->count; j++)
                next = is_in_tail(&lists[j], next) ? NULL : next;
        }
        if (!left)
            return true;
        if (!next) {
            throw(m, "TypeError", line);
            return false;
        }
        values_add(m, &class->class.mro, next);
        for (size_t i = 0; i <= bases->count; i++)
            if (lists[i].count && lists[i].at[0] == next)
                lists[i] = (values){ lists[i].at + 1, lists[i].count - 1, 0 };
    }
}

/* A base class from a module of the library: it sets a mark in the class. */
static void take_library_base(machine *m, value *class, const char *name, int line)
{
    if (is_word(name, "abc.ABC"))
        class->class.abc = true;
    else if (is_word(name, "typing.Protocol"))
        class->class.protocol = true;
    else if (is_word(name, "typing.NamedTuple"))
        class->class.named = true;
    else if (is_word(name, "enum.Enum") || is_word(name, "enum.IntEnum") ||
             is_word(name, "enum.StrEnum"))
        class->class.enumeration = true;
    else if (!is_word(name, "typing.Generic"))
        path_unsupported(m, line, "write the class without it", "the base %s of class %s", name,
                         class->class.name);
    class->class.bare = is_word(name, "enum.IntEnum") || is_word(name, "enum.StrEnum");
    if (class->class.bare)
        class->class.like = is_word(name, "enum.IntEnum") ? V_INT : V_STR;
}

static void take_base(machine *m, value *class, value *base, values *bases, int line)
{
    const char *builtin = base->kind == V_BUILTIN ? base->builtin.name : "";
    if (is_word(builtin, "object") && class->class.node->x.count == 1)
        return;
    if (!class->class.node->line && base->kind == V_BUILTIN) { /* of the library: see kin.c */
        class->class.container = is_word(builtin, "dict") ? V_DICT : V_LIST;
        return;
    }
    if ((is_word(builtin, "int") || is_word(builtin, "str")) && class->class.node->x.count == 2) {
        class->class.like = is_word(builtin, "int") ? V_INT : V_STR; /* … of an Enum */
        return;
    }
    if (base->kind != V_CLASS || base->class.named || base->class.slotted ||
        base->class.container || (base->class.enumeration && base->class.enumerated.count) ||
        bases->count == MOST_BASES)
        path_unsupported(m, line, "write the class without it", "this base of class %s",
                         class->class.name);
    if (class->class.exception && base->class.exception)
        path_unsupported(m, line, "use one of them", "two exceptions as bases of a class");
    values_add(m, bases, base);
    class->class.exception |= base->class.exception;
    class->class.enumeration |= base->class.enumeration;
    class->class.abc |= base->class.abc;
    class->class.bare |= base->class.bare;
    if (base->class.like != V_NONE)
        class->class.like = base->class.like;
}

static bool take_bases(machine *m, scope *s, value *class)
{
    const node *n = class->class.node;
    values bases = { 0 };
    size_t library = 0;
    for (size_t i = 0; i < n->x.count; i++) {
        const node *b = n->x.at[i], *named = b->kind == N_SUBSCRIPT ? b->a : b;
        const char *name = library_name(m, s, named);
        if (name) {
            take_library_base(m, class, name, n->line);
            library++;
            continue;
        }
        value *base = eval(m, s, b);
        if (!base)
            return false;
        if (library) /* base classes from modules are not in the order below */
            path_unsupported(m, n->line, "name the classes of modules last",
                             "this order of the bases of class %s", n->name);
        take_base(m, class, base, &bases, n->line);
    }
    for (size_t i = 0; i < n->y.count; i++) {
        const char *name = n->y.at[i]->name ? library_name(m, s, n->y.at[i]->a) : NULL;
        if (!name || !is_word(name, "abc.ABCMeta") || !is_word(n->y.at[i]->name, "metaclass"))
            path_unsupported(m, n->line, "leave them out", "these keywords of a class");
        class->class.abc = true;
    }
    bool odd = (class->class.named || library > 1) && n->x.count > 1;
    if (odd || (class->class.like != V_NONE && !class->class.enumeration) ||
        (class->class.enumeration && (class->class.abc || class->class.exception)))
        path_unsupported(m, n->line, "use one base class", "these bases of class %s", n->name);
    return linearize(m, class, &bases, n->line);
}

/* -- mangled names ----------------------------------------------------------------------------- */

/* A name with two underscores that Python would extend by the name of the class; NULL: there is
 * none. */
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

/* -- decorators -------------------------------------------------------------------------------- */

/* Evaluate a decorator, before it is called. Decorators of modules are builtin functions; an
 * unknown one gives a value that cannot be used. */
static value *eval_decorator(machine *m, scope *s, const node *d)
{
    static const char *const same[] = { "typing.final", "typing.override",
                                        "typing_extensions.final", "typing_extensions.override",
                                        "typing.runtime_checkable" };
    const char *name = library_name(m, s, d->kind == N_CALL ? d->a : d);
    if (!name)
        return eval(m, s, d);
    value *v = value_new(m, V_BUILTIN);
    v->builtin.name = name;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (is_word(name, same[i]) && d->kind != N_CALL)
            v->builtin.name = "identity";
    if (is_word(name, "functools.wraps") && d->kind == N_CALL && d->x.count == 1 && !d->y.count) {
        v->builtin.name = "identity"; /* except for names that are not modelled */
        return eval(m, s, d->x.at[0]) ? v : NULL;
    }
    if (is_word(name, "dataclasses.dataclass") || is_word(v->builtin.name, "identity") ||
        ((is_word(name, "abc.abstractmethod") || is_word(name, "enum.unique")) &&
         d->kind != N_CALL))
        return v;
    v->kind = V_MODULE;
    v->builtin.name = arena_print(m->arena, "the decorator %s", name);
    return v;
}

static bool eval_decorators(machine *m, scope *s, nodes list, values *out)
{
    for (size_t i = 0; i < list.count; i++) {
        value *v = eval_decorator(m, s, list.at[i]);
        if (!v)
            return false;
        values_add(m, out, v);
    }
    return true;
}

static value *decorated(machine *m, value *decorator, value *v, const node *n)
{
    const char *name = decorator->kind == V_BUILTIN ? decorator->builtin.name : "";
    if (is_word(name, "identity"))
        return v;
    if (is_word(name, "abc.abstractmethod")) {
        value *function = v->kind == V_WRAPPER ? v->wrapper.get : v;
        if (function->kind != V_FUNCTION)
            path_unsupported(m, n->line, "leave it out", "abstractmethod of this");
        function->function.abstract = true;
        return v;
    }
    if (v->kind == V_MODULE || decorator->kind == V_MODULE) {
        value *made = value_new(m, V_MODULE);
        made->builtin.name = arena_print(
            m->arena, "%s of %s", (v->kind == V_MODULE ? v : decorator)->builtin.name, n->name);
        return made;
    }
    return call_with(m, decorator, v, n->line);
}

value *decorated_function(machine *m, scope *s, const node *n)
{
    values decorators = { 0 };
    value *cached = value_new(m, V_FUNCTION); /* lru_cache has a model of its own */
    decorate_function(m, s, n, cached);
    if (!cached->function.cache && !eval_decorators(m, s, n->y, &decorators))
        return NULL;
    value *v = make_function(m, s, n);
    if (v && cached->function.cache) {
        v->function.cache = cached->function.cache;
        v->function.most_kept = cached->function.most_kept;
    }
    for (size_t i = decorators.count; v && i-- > 0;)
        v = decorated(m, decorators.at[i], v, n);
    return v;
}

bool call_decorator(machine *m, const char *name, arguments *given, value **result, int line)
{
    bool as_static = is_word(name, "staticmethod"), as_class = is_word(name, "classmethod");
    if (!as_static && !as_class && !is_word(name, "property"))
        return false;
    size_t most = as_static || as_class ? 1 : 2;
    for (size_t i = 0; i < given->places.count; i++)
        if (given->places.at[i]->kind != V_FUNCTION)
            path_unsupported(m, line, "decorate a function", "%s() of this", name);
    if (given->names.count || given->places.count < 1 || given->places.count > most)
        path_unsupported(m, line, "use it as a decorator", "%s() with these arguments", name);
    value *v = value_new(m, V_WRAPPER);
    v->wrapper.as = as_static ? AS_STATIC : as_class ? AS_CLASS : AS_PROPERTY;
    v->wrapper.get = given->places.at[0];
    v->wrapper.set = given->places.count > 1 ? given->places.at[1] : NULL;
    *result = v;
    return true;
}

value *property_with(machine *m, const value *property, const char *part, arguments *given,
                     int line)
{
    value *function = given->places.count == 1 && !given->names.count ? given->places.at[0] : NULL;
    if (!function || function->kind != V_FUNCTION)
        path_unsupported(m, line, "decorate a function", "property.%s() of this", part);
    value *made = value_new(m, V_WRAPPER);
    made->wrapper = property->wrapper;
    if (is_word(part, "setter"))
        made->wrapper.set = function;
    else
        made->wrapper.get = function;
    return made;
}

/* -- class statements -------------------------------------------------------------------------- */

static bool decorate_class(machine *m, value **class, value *decorator, const node *d)
{
    const char *name = decorator->kind == V_BUILTIN ? decorator->builtin.name : "";
    value *of = *class;
    if (of->kind != V_CLASS || decorator->kind == V_MODULE)
        path_unsupported(m, d->line, "leave it out", "the decorator of a class");
    if (is_word(name, "dataclasses.dataclass"))
        return class_becomes_dataclass(m, of, d);
    if (is_word(name, "enum.unique")) {
        size_t names = 0;
        for (size_t i = 0; i < of->class.members->count; i++) {
            const value *v = of->class.members->values[i];
            names += v && v->kind == V_OBJECT && v->object.class == of;
        }
        if (names != of->class.enumerated.count)
            throw(m, "ValueError", d->line);
        return !m->raised;
    }
    if (!is_word(name, "identity"))
        *class = call_with(m, decorator, of, d->line);
    return *class != NULL;
}

static outcome run_body(machine *m, scope *s, value *class)
{
    const node *n = class->class.node;
    scope *members = scope_new(m, s == m->globals ? NULL : s, NULL);
    members->is_class = true;
    scope_declare(m, members, n->z);
    outcome end = class->class.enumeration ? run_enumeration(m, members, class)
                                           : run(m, members, n->z);
    if (end != DONE)
        return end;
    class->class.members = members;
    members->class = class;
    /* A class that defines __eq__ must define __hash__ as well, or its objects have no hash. */
    if (own_member(class, "__eq__") && !own_member(class, "__hash__") && !class->class.named)
        put_member(m, class, "__hash__", value_none(m));
    return class->class.named && !make_named(m, class) ? RAISED : DONE;
}

outcome run_class(machine *m, scope *s, const node *n)
{
    value *class = value_new(m, V_CLASS);
    class->class.name = n->name;
    class->class.node = n;
    class->class.inner = s != m->globals;
    class->class.like = V_NONE;
    const char *mangled = mangled_among(n->z);
    if (mangled)
        path_unsupported(m, n->line, "use one underscore", "the mangled name %s", mangled);
    values decorators = { 0 };
    if (!eval_decorators(m, s, n->w, &decorators) || !take_bases(m, s, class))
        return RAISED;
    outcome end = run_body(m, s, class);
    if (end != DONE)
        return end;
    for (size_t i = decorators.count; i-- > 0;)
        if (!decorate_class(m, &class, decorators.at[i], n->w.at[i]))
            return RAISED;
    scope_set(m, s, n->name, class);
    return DONE;
}

/* -- super() ----------------------------------------------------------------------------------- */

/* super() without arguments: the class of the method, and its first argument. */
static void find_super(machine *m, scope *s, value **after, value **self, int line)
{
    const node *a = s->owner ? s->owner->a : NULL;
    const node *first = !a ? NULL : a->x.count ? a->x.at[0] : a->y.count ? a->y.at[0] : NULL;
    scope *class = s->up;
    while (class && !class->is_class)
        class = class->up;
    *self = first ? scope_peek(s, first->name) : NULL;
    *after = class ? class->class : NULL;
    if (!*self || !*after || (*after)->class.slotted)
        path_unsupported(m, line, "call it in a method, with self", "super() here");
}

value *eval_super(machine *m, scope *s, const node *n)
{
    value *after = NULL, *self = NULL;
    if (n->y.count || (n->x.count != 0 && n->x.count != 2))
        path_unsupported(m, n->line, "use super()", "super() with these arguments");
    if (n->x.count == 2) {
        after = eval(m, s, n->x.at[0]);
        self = after ? eval(m, s, n->x.at[1]) : NULL;
        if (!self)
            return NULL;
    } else {
        find_super(m, s, &after, &self, n->line);
    }
    const value *class = self->kind == V_CLASS    ? self
                         : self->kind == V_OBJECT ? self->object.class
                                                  : NULL;
    if (after->kind != V_CLASS || !class || !is_subclass(class, after))
        return throw(m, "TypeError", n->line);
    value *v = value_new(m, V_SUPER);
    v->super.after = after;
    v->super.self = self;
    return v;
}
