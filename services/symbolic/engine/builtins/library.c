/* What the modules that are modelled in Python can do that Python code cannot. */
#include <string.h>

#include "builtins/builtins.h"

static bool is_callable(machine *m, const value *v, int line)
{
    if (v->kind == V_OBJECT && class_member(v->object.class, "__call__"))
        path_unsupported(m, line, "give a function", "an object with __call__ as a function");
    return v->kind == V_FUNCTION || v->kind == V_BUILTIN || v->kind == V_METHOD ||
           v->kind == V_CLASS;
}

static value *factory_words(machine *m, const value *dict, int line)
{
    static const char *const types[] = { "int",  "list",  "set",   "dict",     "str",
                                         "bool", "float", "tuple", "frozenset" };
    const value *f = dict->factory;
    if (f->kind == V_NONE)
        return value_ascii(m, "None");
    for (size_t i = 0; f->kind == V_BUILTIN && i < sizeof types / sizeof *types; i++)
        if (strcmp(f->builtin.name, types[i]) == 0)
            return value_ascii(m, arena_print(m->arena, "<class '%s'>", types[i]));
    path_unsupported(m, line, "make a dict of it",
                     "the text of a defaultdict whose factory is no type of Python");
}

static value *set_maxlen(machine *m, value *deque, value *most, int line)
{
    if (most->kind != V_NONE) {
        if (!value_is_integral(most))
            return throw(m, "TypeError", line);
        if (!is_index(m, most, line))
            return NULL;
        value *few = settled_int(m, most);
        if (!few)
            path_unsupported(m, line, "use a constant", "a maxlen that is not known");
        most = few;
        int64_t number;
        if (value_whole(most, &number) && number < 0)
            return throw(m, "ValueError", line);
    }
    deque->factory = most;
    return value_none(m);
}

value *call_library(machine *m, const char *name, arguments *given, int line)
{
    value *first = given->places.count ? given->places.at[0] : NULL;
    value *second = given->places.count > 1 ? given->places.at[1] : NULL;
    if (strcmp(name, "refuse") == 0)
        path_unsupported(m, 0, arena_copy(m->kept, value_utf8(m, second), second->str.count), "%s",
                         value_utf8(m, first));
    if (strcmp(name, "kind") == 0)
        return value_ascii(m, value_type(first));
    if (strcmp(name, "as_index") == 0) {
        if (!value_is_integral(first))
            return throw(m, "TypeError", line);
        return is_index(m, first, line) ? first : NULL;
    }
    if (strcmp(name, "settle") == 0) {
        settle(m, first);
        return value_none(m);
    }
    if (strcmp(name, "dict_update") == 0) {
        arguments rest = { .names = given->names, .keywords = given->keywords };
        for (size_t i = 1; i < given->places.count; i++)
            values_add(m, &rest.places, given->places.at[i]);
        return update_dict(m, first, &rest, line) ? value_none(m) : NULL;
    }
    if (strcmp(name, "set_factory") == 0) {
        if (second->kind != V_NONE && !is_callable(m, second, line))
            return throw(m, "TypeError", line);
        first->factory = second;
        return value_none(m);
    }
    if (strcmp(name, "factory_words") == 0)
        return factory_words(m, first, line);
    if (strcmp(name, "set_maxlen") == 0)
        return set_maxlen(m, first, second, line);
    if (strcmp(name, "regex") == 0)
        return regex_match(m, value_utf8(m, first), &given->places, line);
    if (strcmp(name, "regex_check") == 0)
        return regex_check(m, first, second, line);
    if (strcmp(name, "regex_call") == 0)
        return regex_call(m, value_utf8(m, first), &given->places, line);
    if (strcmp(name, "regex_all") == 0)
        return regex_all(m, &given->places, line);
    if (strcmp(name, "regex_template") == 0)
        return regex_template(m, &given->places, line);
    if (strcmp(name, "need_callable") == 0)
        return is_callable(m, first, line) ? value_none(m) : throw(m, "TypeError", line);
    path_unsupported(m, line, "use it as a decorator", "functools.%s() as a function", name);
}
