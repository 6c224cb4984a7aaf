/* Calls: arguments, functions of the code, and other callable values. */
#include <string.h>

#include "interpreter/interpreter.h"

/* -- functions --------------------------------------------------------------------------------- */

value *make_function(machine *m, scope *s, const node *n)
{
    value *made = value_new(m, V_FUNCTION);
    made->function.node = n;
    made->function.scope = s == m->globals ? NULL : s;
    const node *given = n->a;
    if (n->kind == N_FUNCTION && n->z.count) /* annotations are values that the body may use */
        path_unsupported(m, n->line, "leave them out", "type parameters");
    for (size_t i = 0; i < given->v.count; i++) {
        value *v = eval(m, s, given->v.at[i]);
        if (!v)
            return NULL;
        values_add(m, &made->function.defaults, v);
    }
    for (size_t i = 0; i < given->w.count; i++) {
        value *v = given->w.at[i] ? eval(m, s, given->w.at[i]) : NULL;
        if (given->w.at[i] && !v)
            return NULL;
        values_add(m, &made->function.keyword_defaults, v);
    }
    if (n->kind != N_FUNCTION)
        return made;
    nodes lists[] = { given->x, given->y, given->z };
    for (int l = 0; l < 3; l++)
        for (size_t i = 0; i < lists[l].count; i++)
            if (!annotation_exists(m, s, lists[l].at[i]->a))
                return NULL;
    bool good = annotation_exists(m, s, given->a ? given->a->a : NULL) &&
                annotation_exists(m, s, given->b ? given->b->a : NULL) &&
                annotation_exists(m, s, n->b);
    return good ? made : NULL;
}

/* An unknown name is one of a `**kwargs` that is a parameter of the analysis. */
static bool is_named(machine *m, value *given, const char *name)
{
    return given->known ? value_says(given, name)
                        : decide_truth(m, equal(m, given, value_ascii(m, name), 0), false) == 1;
}

/* Take the keyword of this name out of the arguments; NULL: it was not given. */
static value *take_keyword(machine *m, arguments *given, const char *name)
{
    for (size_t i = 0; i < given->names.count; i++) {
        value *v = given->keywords.at[i];
        if (v && is_named(m, given->names.at[i], name)) {
            given->keywords.at[i] = NULL;
            return v;
        }
    }
    return NULL;
}

/* Bind the arguments to the parameters, as Python does. False: a TypeError is raised. */
static bool bind(machine *m, scope *to, const value *function, arguments *given, int line)
{
    const node *a = function->function.node->a;
    size_t only = a->x.count, total = only + a->y.count;
    size_t defaults = function->function.defaults.count, used = 0;
    for (size_t i = 0; i < total; i++) {
        const node *parameter = i < only ? a->x.at[i] : a->y.at[i - only];
        value *v = NULL;
        if (used < given->places.count) {
            v = given->places.at[used++];
            for (size_t j = 0; i >= only && j < given->names.count; j++)
                if (given->keywords.at[j] && is_named(m, given->names.at[j], parameter->name))
                    return throw(m, "TypeError", line) != NULL;
        } else if (i >= only) {
            v = take_keyword(m, given, parameter->name);
        }
        if (!v && i + defaults >= total)
            v = function->function.defaults.at[i + defaults - total];
        if (!v)
            return throw(m, "TypeError", line) != NULL;
        scope_set(m, to, parameter->name, v);
    }
    if (a->a) {
        value *rest = value_new(m, V_TUPLE);
        while (used < given->places.count)
            values_add(m, &rest->in.items, given->places.at[used++]);
        scope_set(m, to, a->a->name, rest);
    }
    for (size_t i = 0; i < a->z.count; i++) {
        value *v = take_keyword(m, given, a->z.at[i]->name);
        if (!v)
            v = function->function.keyword_defaults.at[i];
        if (!v)
            return throw(m, "TypeError", line) != NULL;
        scope_set(m, to, a->z.at[i]->name, v);
    }
    value *rest = a->b ? value_new(m, V_DICT) : NULL;
    for (size_t i = 0; i < given->names.count; i++) {
        if (!given->keywords.at[i])
            continue;
        if (!rest)
            return throw(m, "TypeError", line) != NULL;
        values_add(m, &rest->in.items, given->names.at[i]);
        values_add(m, &rest->in.others, given->keywords.at[i]);
    }
    if (rest)
        scope_set(m, to, a->b->name, rest);
    if (used < given->places.count)
        return throw(m, "TypeError", line) != NULL;
    return true;
}

static value *call_plainly(machine *m, value *function, arguments *given, int line)
{
    const node *n = function->function.node;
    if (m->calls >= MOST_CALLS)
        path_bound(m, "the depth of calls");
    scope *inside = scope_new(m, function->function.scope, n);
    if (n->kind == N_FUNCTION)
        scope_declare(m, inside, n->x);
    if (!bind(m, inside, function, given, line))
        return NULL;
    if (tree_generates(n)) {
        if (n->kind == N_LAMBDA)
            path_unsupported(m, n->line, "define a function", "a yield in a lambda");
        return make_generator(m, n, inside);
    }
    int at = m->line;
    if (!n->line && line) /* of the library: its exceptions get this line */
        m->line = line;
    /* A bare `raise` in here raises the exception that the caller handles. */
    value *handling = m->handling;
    m->calls++;
    value *result;
    if (n->kind == N_LAMBDA) {
        result = eval(m, inside, n->b);
    } else {
        outcome end = run_until(m, inside, n->x, RETURNED);
        result = end == RAISED ? NULL : end == RETURNED ? m->returned : value_none(m);
    }
    m->calls--;
    m->handling = handling;
    m->line = at;
    return result;
}

static value *call_function(machine *m, value *function, arguments *given, int line)
{
    return function->function.cache ? call_cached(m, function, given, line, call_plainly)
                                    : call_plainly(m, function, given, line);
}

/* Most built-in functions accept only containers whose items certainly exist. */
static void settle_arguments(machine *m, const value *callee, arguments *given)
{
    static const char *const aware[] = { "len",        "bool",   "isinstance", "type",   "any",
                                         "all",        "sum",    "list",       "set",    "append",
                                         "get",        "extend", "insert",     "remove", "index",
                                         "setdefault", "add",    "join" };
    for (size_t i = 0; i < sizeof aware / sizeof *aware; i++)
        if (strcmp(callee->builtin.name, aware[i]) == 0)
            return;
    for (size_t i = 0; i < given->places.count; i++)
        if (given->places.at[i]->slots)
            settle(m, given->places.at[i]);
    for (size_t i = 0; i < given->keywords.count; i++)
        if (given->keywords.at[i]->slots)
            settle(m, given->keywords.at[i]);
}

/* -- anything ---------------------------------------------------------------------------------- */

/* A method of str, called as a function. */
static value *call_unbound(machine *m, const char *name, const arguments *given, int line)
{
    arguments rest = { .names = given->names, .keywords = given->keywords };
    if (given->places.count == 0 || given->places.at[0]->kind != V_STR)
        return throw(m, "TypeError", line);
    for (size_t i = 1; i < given->places.count; i++)
        values_add(m, &rest.places, given->places.at[i]);
    return call_str_method(m, given->places.at[0], name, &rest, line);
}

/* Functions that use an object as the int or str that it also is. */
static void take_plainly(const char *name, arguments *given)
{
    static const char *const plainly[] = { "int", "float", "round", "divmod", "pow",      "range",
                                           "chr", "ord",   "bin",   "hex",    "reversed", "oct" };
    bool does = strncmp(name, "math.", 5) == 0;
    for (size_t i = 0; i < sizeof plainly / sizeof *plainly; i++)
        does = does || strcmp(name, plainly[i]) == 0;
    for (size_t i = 0; does && i < given->places.count; i++)
        given->places.at[i] = plain_of(given->places.at[i]);
}

static value *call_named(machine *m, value *callee, arguments *given, int line)
{
    const char *name = callee->builtin.name;
    value *result;
    if (callee->builtin.self)
        return call_generated(m, callee, given, line);
    if (strncmp(name, "object.", 7) == 0)
        return call_root(m, name + 7, given, line);
    if (call_class_library(m, name, given, &result, line) ||
        call_decorator(m, name, given, &result, line))
        return result;
    if (strncmp(name, "str.", 4) == 0)
        return call_unbound(m, name + 4, given, line);
    if (strcmp(name, "dict.fromkeys") == 0)
        return dict_fromkeys(m, given, line);
    take_plainly(name, given);
    if (strncmp(name, "math.", 5) == 0)
        return call_math(m, name + 5, given, line);
    if (strncmp(name, "datetime.", 9) == 0)
        return call_datetime(m, name + 9, given, line);
    if (strncmp(name, "library.", 8) == 0)
        return call_library(m, name + 8, given, line);
    return call_builtin(m, name, given, line);
}

static value *call_value(machine *m, value *callee, arguments *given, int line)
{
    switch (callee->kind) {
    case V_FUNCTION:
        return call_function(m, callee, given, line);
    case V_BUILTIN:
        settle_arguments(m, callee, given);
        return call_named(m, callee, given, line);
    case V_METHOD: {
        value *self = callee->builtin.self;
        if (callee->builtin.call)
            return call_member(m, self, callee->builtin.call, given, line);
        settle_arguments(m, callee, given);
        if (self->kind == V_WRAPPER)
            return property_with(m, self, callee->builtin.name, given, line);
        if (self->kind == V_OBJECT || self->kind == V_CLASS)
            return call_named_method(m, self, callee->builtin.name, given, line);
        return call_method(m, self, callee->builtin.name, given, line);
    }
    case V_CLASS:
        return make_object(m, callee, given, line);
    case V_WRAPPER: /* in the body of its class */
        return callee->wrapper.as == AS_STATIC ? call(m, callee->wrapper.get, given, line)
                                               : throw(m, "TypeError", line);
    case V_OBJECT:
        if (class_member(callee->object.class, "__call__"))
            return call_member(m, callee, class_member(callee->object.class, "__call__"), given,
                               line);
        return throw(m, "TypeError", line);
    default:
        return throw(m, "TypeError", line);
    }
}

/* Keywords are bound to the parameters of a function of the code, even if their names are
 * unknown. */
static bool takes_any_names(const value *callee)
{
    if (callee->kind == V_METHOD && callee->builtin.call)
        callee = callee->builtin.call;
    return (callee->kind == V_FUNCTION && !callee->function.cache) ||
           (callee->kind == V_BUILTIN && strcmp(callee->builtin.name, "dict") == 0);
}

/* `last`: no other argument is evaluated after these. */
static bool add_keywords(machine *m, const value *callee, arguments *given, value *dict, bool last,
                         int line)
{
    refuse_mapping(m, dict, line);
    if (dict->kind != V_DICT)
        return throw(m, "TypeError", line) != NULL;
    settle(m, dict);
    for (size_t i = 0; i < dict->in.items.count; i++) {
        value *name = dict->in.items.at[i];
        /* Another error may come first. */
        if (name->kind != V_STR && (!last || callee->kind != V_FUNCTION))
            path_unsupported(m, line, "use names as keys", "** with keys that are no strs");
        if (name->kind != V_STR)
            return throw(m, "TypeError", line) != NULL;
        if (!name->known && !takes_any_names(callee))
            path_unsupported(m, line, "name the keywords", "** with keys that are not known");
        values_add(m, &given->names, name);
        values_add(m, &given->keywords, dict->in.others.at[i]);
    }
    return true;
}

/* Built-in functions that read an iterator to its end and keep nothing of it. */
static bool takes_all(const value *callee)
{
    static const char *const names[] = { "all", "any", "frozenset", "list", "set", "sum", "tuple" };
    for (size_t i = 0; callee->kind == V_BUILTIN && i < sizeof names / sizeof *names; i++)
        if (strcmp(callee->builtin.name, names[i]) == 0)
            return true;
    return false;
}

value *eval_call(machine *m, scope *s, const node *n)
{
    value *callee = eval(m, s, n->a);
    if (!callee)
        return NULL;
    if (callee->kind == V_BUILTIN && strcmp(callee->builtin.name, "super") == 0)
        return eval_super(m, s, n);
    if (callee->kind == V_BUILTIN && strcmp(callee->builtin.name, "len") == 0 && n->x.count == 1 &&
        n->y.count == 0 && n->x.at[0]->kind == N_NAME) {
        /* The only thing that is known of a parameter that is too big is its length. */
        value *huge = scope_get(m, s, n->x.at[0]->name);
        if (!huge || huge->kind == V_HUGE)
            return huge ? length_of(m, huge, n->line) : NULL;
    }
    arguments given = { 0 };
    for (size_t i = 0; i < n->x.count; i++) {
        const node *argument = n->x.at[i];
        bool starred = argument->kind == N_STARRED;
        value *v = eval(m, s, starred ? argument->a : argument);
        values more;
        if (!v || (starred && !list_items(m, v, &more, n->line)))
            return NULL;
        v->frozen |= argument->kind == N_GENERATOR && takes_all(callee);
        if (!starred)
            values_add(m, &given.places, v);
        for (size_t j = 0; starred && j < more.count; j++)
            values_add(m, &given.places, more.at[j]);
    }
    for (size_t i = 0; i < n->y.count; i++) {
        const node *keyword = n->y.at[i];
        value *v = eval(m, s, keyword->a);
        if (!v)
            return NULL;
        if (keyword->name) {
            values_add(m, &given.names, value_ascii(m, keyword->name));
            values_add(m, &given.keywords, v);
        } else if (!add_keywords(m, callee, &given, v, i + 1 == n->y.count, n->line)) {
            return NULL;
        }
    }
    for (size_t i = 0; i < given.names.count; i++)
        for (size_t j = 0; j < i; j++)
            if (decide_truth(m, equal(m, given.names.at[i], given.names.at[j], n->line), false))
                return throw(m, "TypeError", n->line);
    return call(m, callee, &given, n->line);
}

/* -- for the machine --------------------------------------------------------------------------- */

static value *next_item(machine *m, value *of, int line)
{
    return of->iterator.how == BY_GENERATOR ? expression_next(m, of, line)
                                            : generator_next(m, of, line);
}

const code_runner interpreter = { run, call_value, next_item, items_at_once };
