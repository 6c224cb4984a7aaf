/* Where values go in calls: functions and classes of the code, builtins, methods, modules. See
 * address_inner.h. */
#include <string.h>

#include "explore/address_inner.h"

enum { MOST_GIVEN = 16 };

/* What a call is given: at places, and by keywords. */
typedef struct given {
    place places[MOST_GIVEN], named[MOST_GIVEN];
    size_t count, named_count;
    place rest; /* what is not in these */
    bool mixed; /* it is not known which value gets to which parameter */
} given;

static place all_given(flow *f, const given *g)
{
    place all = g->rest;
    for (size_t i = 0; i < g->count; i++)
        all = flow_join(f, all, g->places[i]);
    for (size_t i = 0; i < g->named_count; i++)
        all = flow_join(f, all, g->named[i]);
    return all;
}

/* -- functions of the code --------------------------------------------------------------------- */

static const node *scope_of(const flow *f, const node *function)
{
    for (size_t i = 0; i < f->function_count; i++)
        if (f->functions[i] == function)
            return f->scopes[i];
    return f->owner; /* a lambda is followed where it is written */
}

static void join_parameter(flow *f, const node *owner, const node *p, place from)
{
    if (p)
        flow_join(f, flow_variable_in(f, owner, p->name), from);
}

static const node *parameter_at(const node *takes, size_t i)
{
    size_t first = takes->x.count;
    if (i < first)
        return takes->x.at[i];
    return i - first < takes->y.count ? takes->y.at[i - first] : takes->a;
}

void flow_parameters(flow *f, const node *function, place from)
{
    const node *owner = scope_of(f, function), *takes = function->a;
    nodes lists[] = { takes->x, takes->y, takes->z };
    for (int l = 0; from && l < 3; l++)
        for (size_t i = 0; i < lists[l].count; i++)
            join_parameter(f, owner, lists[l].at[i], from);
    join_parameter(f, owner, takes->a, from);
    join_parameter(f, owner, takes->b, from);
}

static void give_keyword(flow *f, const node *function, const char *name, place from)
{
    const node *owner = scope_of(f, function), *takes = function->a;
    nodes lists[] = { takes->x, takes->y, takes->z };
    for (int l = 0; l < 3; l++)
        for (size_t i = 0; i < lists[l].count; i++)
            if (lists[l].at[i]->name == name)
                join_parameter(f, owner, lists[l].at[i], from);
    join_parameter(f, owner, takes->b, from);
}

/* `skip`: the first parameter is the object of a method. */
static void give_arguments(flow *f, const node *function, const node *call, const given *g,
                           size_t skip)
{
    if (g->mixed) {
        flow_parameters(f, function, all_given(f, g));
        return;
    }
    for (size_t i = 0; i < g->count; i++)
        join_parameter(f, scope_of(f, function), parameter_at(function->a, i + skip), g->places[i]);
    for (size_t i = 0; i < g->named_count; i++)
        give_keyword(f, function, call->y.at[i]->name, g->named[i]);
}

void flow_escapes(flow *f, const node *function)
{
    if (function->kind == N_LAMBDA)
        flow_parameters(f, function, flow_defaults(f, function));
    flow_parameters(f, function, f->called);
    f->called = function->kind == N_LAMBDA
                    ? flow_join(f, f->called, flow_of(f, function->b, false))
                    : flow_join(f, f->called, flow_place(f, PLACE_RESULT, NULL, function->name));
}

/* What functions of this name give. */
static place result_of(flow *f, const node *call, const char *name, const given *g, place object,
                       bool method, bool items)
{
    place all = flow_place(f, PLACE_RESULT, NULL, name);
    for (size_t i = 0; i < f->function_count; i++) {
        const node *n = f->functions[i];
        if (n->name != name)
            continue;
        bool of_class = method && !is_static(n);
        give_arguments(f, n, call, g, of_class);
        if (of_class)
            join_parameter(f, f->scopes[i], parameter_at(n->a, 0), object);
        if (tree_generates(n) && !items)
            all = flow_join(f, all, flow_dirty(f, call));
    }
    return all;
}

/* An object of a class of the code. */
static place object_of(flow *f, const node *call, const char *name, const given *g)
{
    place all = flow_join(f, flow_place(f, PLACE_RESULT, NULL, name), all_given(f, g));
    f->raised = flow_join(f, f->raised, all); /* `Colour(7)` says that 7 is none */
    place object = 0;
    for (size_t i = 0; i < f->class_count; i++) {
        const node *class = f->classes[i];
        if (class->name != name)
            continue;
        bool own = false;
        for (size_t j = 0; j < class->z.count; j++) {
            const node *m = class->z.at[j];
            if (m->kind == N_FUNCTION && strcmp(m->name, "__init__") == 0) {
                own = true;
                give_arguments(f, m, call, g, 1);
            }
        }
        for (size_t j = 0; !own && j < f->function_count; j++)
            if (strcmp(f->functions[j]->name, "__init__") == 0)
                give_arguments(f, f->functions[j], call, g, 1);
        if (class_has_no_text(f, class, 0))
            object = flow_join(f, object, flow_dirty(f, call));
    }
    return object ? object : all;
}

void flow_instances(flow *f, const node *class)
{
    f->called = flow_join(f, f->called,
                          object_of(f, class, class->name, &(given){ .mixed = true }));
}

static place library_call(flow *f, const node *call, const char *name, bool items);

/* Attributes of values of Python that are no functions. */
static const char *const plain_attributes[] = { "__name__",
                                                "__doc__",
                                                "year",
                                                "month",
                                                "day",
                                                "hour",
                                                "minute",
                                                "second",
                                                "days",
                                                "seconds",
                                                "real",
                                                "imag",
                                                "numerator",
                                                "denominator",
                                                "start",
                                                "stop",
                                                "step",
                                                "string",
                                                "pos",
                                                "endpos",
                                                "pattern",
                                                "digits",
                                                "pi",
                                                "e",
                                                "tau",
                                                "inf",
                                                "nan",
                                                "prec",
                                                "rounding",
                                                "ascii_letters",
                                                "ascii_lowercase",
                                                "punctuation",
                                                "maxlen",
                                                "whitespace",
                                                "printable",
                                                "ascii_uppercase",
                                                "hexdigits",
                                                "octdigits",
                                                "lastindex",
                                                "microsecond",
                                                "flags",
                                                "microseconds",
                                                NULL };

/* -- what is called ---------------------------------------------------------------------------- */

place flow_named(flow *f, const node *n)
{
    unsigned is = flow_known(f, n->name);
    if (is & IS_FUNCTION) {
        for (size_t i = 0; i < f->function_count; i++)
            if (f->functions[i]->name == n->name)
                flow_escapes(f, f->functions[i]);
        return flow_dirty(f, n);
    }
    if (is & IS_CLASS) {
        f->called = flow_join(f, f->called, object_of(f, n, n->name, &(given){ .mixed = true }));
        return class_shows_module(f, n->name) ? flow_dirty(f, n) : 0;
    }
    if (is & IS_IMPORTED) {
        f->called = flow_join(f, f->called, library_call(f, n, n->name, false));
        bool plain = address_in(n->name, plain_attributes) ||
                     (n->name[0] >= 'A' && n->name[0] <= 'Z' && strcmp(n->name, "MISSING") != 0);
        return plain ? 0 : flow_dirty(f, n);
    }
    if (address_in(n->name, address_shows))
        f->loose = f->loose ? f->loose : flow_line(f, n);
    else if (address_in(n->name, address_iterators))
        f->called = flow_join(f, f->called, flow_dirty(f, n));
    return 0;
}

place flow_callback(flow *f, const node *n, place from)
{
    unsigned is = n->kind == N_NAME ? flow_known(f, n->name) : 0;
    if (n->kind == N_LAMBDA) {
        flow_parameters(f, n, flow_join(f, from, flow_defaults(f, n)));
        return flow_of(f, n->b, false);
    }
    if (n->kind == N_NAME && !(is & IS_VARIABLE)) {
        given g = { .rest = from, .mixed = true };
        if (is & IS_FUNCTION)
            return result_of(f, n, n->name, &g, 0, false, false);
        if (is & IS_CLASS)
            return object_of(f, n, n->name, &g);
        if (!is && address_in(n->name, address_shows)) {
            flow_show(f, from, n);
            return 0;
        }
        if (!is && !address_in(n->name, address_iterators))
            return from;
    }
    flow_of(f, n, false);
    f->called = flow_join(f, f->called, from);
    return f->called;
}

/* -- functions of modules ---------------------------------------------------------------------- */

static bool is_callback(flow *f, const node *n)
{
    return n->kind == N_LAMBDA ||
           (n->kind == N_NAME && (flow_known(f, n->name) & (IS_FUNCTION | IS_CLASS)));
}

static bool is_called_keyword(flow *f, const node *keyword, bool keeps)
{
    bool makes = keyword->name && strcmp(keyword->name, "default_factory") == 0;
    return (makes || !keeps) && is_callback(f, keyword->a);
}

/* Functions among the arguments are called, unless the result has them. */
static place library_arguments(flow *f, const node *call, bool keeps)
{
    place others = 0, all;
    for (size_t i = 0; i < call->x.count; i++)
        if (keeps || !is_callback(f, call->x.at[i]))
            others = flow_join(f, others, flow_of(f, call->x.at[i], true));
    for (size_t i = 0; i < call->y.count; i++)
        if (!is_called_keyword(f, call->y.at[i], keeps))
            others = flow_join(f, others, flow_of(f, call->y.at[i]->a, true));
    all = others;
    for (size_t i = 0; !keeps && i < call->x.count; i++)
        if (is_callback(f, call->x.at[i]))
            all = flow_join(f, all, flow_callback(f, call->x.at[i], others));
    for (size_t i = 0; i < call->y.count; i++)
        if (is_called_keyword(f, call->y.at[i], keeps))
            all = flow_join(f, all, flow_callback(f, call->y.at[i]->a, others));
    return all;
}

/* Types are arguments of these, and nothing is called. */
static bool takes_types(const char *name)
{
    static const char *const names[] = { "NewType", "TypeVar", "namedtuple", "NamedTuple", NULL };
    return address_in(name, names);
}

static place library_call(flow *f, const node *call, const char *name, bool items)
{
    static const char *const iterators[] = { "chain",
                                             "cycle",
                                             "accumulate",
                                             "islice",
                                             "starmap",
                                             "takewhile",
                                             "dropwhile",
                                             "filterfalse",

                                             "combinations",
                                             "permutations",
                                             "product",
                                             "zip_longest",
                                             "compress",
                                             "pairwise",

                                             "count",
                                             "repeat",
                                             "from_iterable",
                                             "batched",
                                             "finditer",
                                             "merge",
                                             "elements",
                                             "scanner",
                                             "combinations_with_replacement",
                                             NULL };
    static const char *const objects[] = {
        "partial",        "partialmethod", "cmp_to_key",  "wraps",        "lru_cache", "cache",
        "Template",       "JSONEncoder",   "JSONDecoder", "localcontext", "tzinfo",    "Random",
        "total_ordering", "fields",        "tee",         "groupby",      NULL
    };
    static const char *const calling[] = {
        "reduce",       "accumulate",   "starmap",     "takewhile", "dropwhile", "filterfalse",
        "groupby",      "sub",          "subn",        "dumps",     "loads",     "nlargest",
        "nsmallest",    "bisect",       "bisect_left", "insort",    "merge",     "insort_left",
        "insort_right", "bisect_right", NULL
    };
    bool keeps = !address_in(name, calling);
    bool formats = strcmp(name, "mod") == 0 || strcmp(name, "imod") == 0; /* of operator */
    if (takes_types(name)) /* all but a TypeVar show the name of the module */
        return strcmp(name, "TypeVar") != 0 ? flow_dirty(f, call) : 0;
    if (strcmp(name, "cast") == 0)
        return call->x.count == 2 ? flow_of(f, call->x.at[1], items) : 0;
    place all = library_arguments(f, call, keeps);
    if (formats && call->kind != N_CALL)
        f->loose = f->loose ? f->loose : flow_line(f, call);
    else if (formats)
        flow_show(f, all, call);
    bool shows = address_in(name, objects) || (address_in(name, iterators) && !items);
    return shows ? flow_join(f, all, flow_dirty(f, call)) : all;
}

/* -- attributes -------------------------------------------------------------------------------- */

static bool is_of_module(flow *f, const node *n)
{
    while (n->kind == N_ATTRIBUTE)
        n = n->a;
    return n->kind == N_NAME && (flow_known(f, n->name) & IS_MODULE);
}

/* The object of an attribute; a class or a module is none. */
static place receiver_of(flow *f, const node *n)
{
    bool none = n->kind == N_NAME && !(flow_known(f, n->name) & (IS_VARIABLE | IS_FUNCTION));
    return none || is_of_module(f, n) ? 0 : flow_of(f, n, false);
}

place flow_attribute(flow *f, const node *n)
{
    static const char *const inner[] = { "args", "value", "name", NULL };
    unsigned is = flow_known(f, n->name);
    if (n->a->kind == N_NAME && strcmp(n->a->name, "__old__") == 0)
        return flow_variable(f, n->name);
    place from = receiver_of(f, n->a), all = 0;
    if (is & IS_PROPERTY)
        all = result_of(f, n, n->name, &(given){ .mixed = true }, from, true, false);
    if (is & IS_ATTRIBUTE)
        all = flow_join(f, all, flow_place(f, PLACE_ATTRIBUTE, NULL, n->name));
    if (address_in(n->name, inner) || (is & IS_FIELD))
        all = flow_join(f, all, from);
    if ((is & (IS_PROPERTY | IS_ATTRIBUTE)) || address_in(n->name, plain_attributes) ||
        address_in(n->name, inner))
        return is & (IS_FUNCTION) && !(is & IS_PROPERTY) ? flow_join(f, all, flow_dirty(f, n))
                                                         : all;
    /* A method that is not called: text is made by `x.__repr__`, too. */
    if (is & IS_FUNCTION)
        for (size_t i = 0; i < f->function_count; i++)
            if (f->functions[i]->name == n->name)
                flow_escapes(f, f->functions[i]);
    f->called = flow_join(f, f->called, from);
    static const char *const shows[] = { "__repr__", "__str__", "__mod__", "mod", "imod", NULL };
    if (address_in(n->name, shows))
        f->loose = f->loose ? f->loose : flow_line(f, n);
    return flow_dirty(f, n);
}

/* -- calls ------------------------------------------------------------------------------------- */

static given given_of(flow *f, const node *call, bool items)
{
    given g = { 0 };
    for (size_t i = 0; i < call->x.count; i++) {
        place one = flow_of(f, call->x.at[i], items);
        g.mixed = g.mixed || call->x.at[i]->kind == N_STARRED || g.count == MOST_GIVEN;
        if (g.mixed)
            g.rest = flow_join(f, g.rest, one);
        else
            g.places[g.count++] = one;
    }
    for (size_t i = 0; i < call->y.count; i++) {
        place one = flow_of(f, call->y.at[i]->a, items);
        g.mixed = g.mixed || !call->y.at[i]->name || g.named_count == MOST_GIVEN;
        if (g.mixed)
            g.rest = flow_join(f, g.rest, one);
        else
            g.named[g.named_count++] = one;
    }
    return g;
}

/* map(), filter(): the first argument is called. sorted(), min(), max(), sort(): the key is. */
static place calling_builtin(flow *f, const node *n, const char *name)
{
    bool first = strcmp(name, "map") == 0 || strcmp(name, "filter") == 0;
    place all = 0, got = 0;
    for (size_t i = first; i < n->x.count; i++)
        all = flow_join(f, all, flow_of(f, n->x.at[i], true));
    if (first && n->x.count)
        got = flow_callback(f, n->x.at[0], all);
    for (size_t i = 0; i < n->y.count; i++)
        if (n->y.at[i]->name && strcmp(n->y.at[i]->name, "key") == 0)
            flow_callback(f, n->y.at[i]->a, all);
        else
            all = flow_join(f, all, flow_of(f, n->y.at[i]->a, true));
    return strcmp(name, "map") == 0 ? got : all;
}

static bool has_keyword(const node *n, const char *name)
{
    for (size_t i = 0; i < n->y.count; i++)
        if (!n->y.at[i]->name || strcmp(n->y.at[i]->name, name) == 0)
            return true;
    return false;
}

static place builtin_call(flow *f, const node *n, bool items)
{
    static const char *const plain[] = { "len",  "int",     "float", "bool", "ord", "chr",
                                         "bin",  "hex",     "oct",   "any",  "all", "callable",
                                         "type", "complex", "hash",  "id",   NULL };
    static const char *const types[] = { "isinstance", "issubclass", "hasattr", NULL };
    static const char *const calling[] = { "map", "filter", "sorted", "min", "max", NULL };
    const char *name = n->a->name;
    for (size_t i = 0; strcmp(name, "type") == 0 && i < f->class_count; i++)
        flow_instances(f, f->classes[i]); /* `type(self)()` */
    if (address_in(name, types))
        return n->x.count ? (flow_of(f, n->x.at[0], false), 0) : 0;
    place all = 0;
    if (address_in(name, calling)) {
        all = calling_builtin(f, n, name);
    } else {
        bool whole = address_in(name, address_shows) || strcmp(name, "print") == 0;
        given g = given_of(f, n, !whole);
        all = all_given(f, &g);
    }
    if (f->has_operators)
        all = flow_join(f, all, f->operands);
    if (address_in(name, address_shows) || (strcmp(name, "print") == 0 && has_keyword(n, "file")))
        flow_show(f, all, n);
    if (strcmp(name, "type") == 0 && class_shows_module(f, NULL))
        return flow_dirty(f, n);
    if (address_in(name, address_shows) || address_in(name, plain) || strcmp(name, "print") == 0)
        return 0;
    bool shows = (address_in(name, address_iterators) && !items) || strcmp(name, "getattr") == 0;
    return shows ? flow_join(f, all, flow_dirty(f, n)) : all;
}

/* "{0.append}": a field that asks for an attribute. */
static bool has_attribute_field(const node *template)
{
    const constant *k = template->kind == N_CONSTANT ? template->constant : NULL;
    bool inside = false;
    for (size_t i = 0; k && k->kind == C_STR && i < k->count; i++) {
        uint32_t c = k->chars[i];
        if (inside && c == '.')
            return true;
        inside = c == '{' || (inside && c != ':' && c != '!' && c != '}');
    }
    return false;
}

/* `a.b(c)`: a method of the code, of a value of Python, or both. */
static place method_call(flow *f, const node *n, bool items)
{
    static const char *const shared[] = { "append", "appendleft", "add",     "extend", "insert",
                                          "pop",    "popleft",    "popitem", "get",    "setdefault",
                                          "update", "copy",       "keys",    "values", "items",
                                          "index",  "count",      "remove",  "join",   NULL };
    static const char *const fails[] = { "index", "pop", "remove", NULL };
    static const char *const shows[] = { "format",   "substitute", "safe_substitute",
                                         "__repr__", "__str__",    "__mod__",
                                         NULL };
    const char *name = n->a->name;
    if (is_of_module(f, n->a->a))
        return library_call(f, n, name, items);
    place object = receiver_of(f, n->a->a), all = 0;
    unsigned is = flow_known(f, name);
    if (strcmp(name, "format") == 0 && has_attribute_field(n->a->a))
        flow_show(f, flow_dirty(f, n), n);
    bool sorts = strcmp(name, "sort") == 0;
    given g = sorts ? (given){ .rest = calling_builtin(f, n, name) }
                    : given_of(f, n, strcmp(name, "append") != 0 && strcmp(name, "add") != 0);
    if (is & (IS_ATTRIBUTE | IS_VARIABLE)) /* a function that is kept there */
        all = f->called = flow_join(f, f->called, all_given(f, &g));
    if (is & IS_FUNCTION)
        all = flow_join(f, all, result_of(f, n, name, &g, object, true, items));
    if (address_in(name, shows))
        flow_show(f, flow_join(f, object, all_given(f, &g)), n);
    if (address_in(name, fails))
        f->raised = flow_join(f, f->raised, all_given(f, &g));
    if ((is & IS_FUNCTION) && !address_in(name, shared))
        return all;
    all = flow_join(f, all, flow_join(f, object, all_given(f, &g)));
    bool iterates = strcmp(name, "finditer") == 0 || strcmp(name, "elements") == 0 ||
                    strcmp(name, "__iter__") == 0;
    return iterates && !items ? flow_join(f, all, flow_dirty(f, n)) : all;
}

place flow_call(flow *f, const node *n, bool items)
{
    if (n->a->kind == N_ATTRIBUTE)
        return method_call(f, n, items);
    unsigned is = n->a->kind == N_NAME ? flow_known(f, n->a->name) : IS_VARIABLE;
    if (!is)
        return builtin_call(f, n, items);
    if (is == IS_IMPORTED)
        return library_call(f, n, n->a->name, items);
    given g = given_of(f, n, false);
    place all = 0;
    if (is & IS_FUNCTION)
        all = result_of(f, n, n->a->name, &g, 0, false, items);
    if (is & IS_CLASS)
        all = flow_join(f, all, object_of(f, n, n->a->name, &g));
    if (is & IS_IMPORTED)
        all = flow_join(f, all, library_call(f, n, n->a->name, items));
    if (is & (IS_VARIABLE | IS_OF_MODULE)) { /* a function that is a value */
        if (n->a->kind != N_NAME)
            flow_of(f, n->a, false);
        f->called = flow_join(f, f->called, all_given(f, &g));
        if (f->has_operators)
            f->called = flow_join(f, f->called, f->operands);
        all = flow_join(f, all, f->called);
    }
    return all;
}
