/* Modules that are modelled in Python: see library.h. */
#include <string.h>

#include "interpreter/library.h"

enum { MOST_MODULES = 16 };

/* -- what the library can do that Python code cannot ------------------------------------------- */

/* Names that are supported, and their module ("": any). */
static const struct {
    const char *name, *module;
} intrinsics[] = { { "refuse", "" },
                   { "kind", "" },
                   { "as_index", "" },
                   { "settle", "" },
                   { "need_callable", "" },
                   { "dict_update", "collections" },
                   { "set_factory", "collections" },
                   { "factory_words", "collections" },
                   { "set_maxlen", "collections" },
                   { "lru_cache", "functools" },
                   { "cache", "functools" },
                   { "date", "datetime" },
                   { "timedelta", "datetime" },
                   { "ordinal", "datetime" },
                   { "from_ordinal", "datetime" },
                   { "total", "datetime" },
                   { "digit", "datetime" },
                   { "regex", "re" },
                   { "regex_check", "re" },
                   { "regex_call", "re" },
                   { "regex_all", "re" },
                   { "regex_template", "re" } };

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

/* -- modules ----------------------------------------------------------------------------------- */

/* The tree of a module, which is kept for the life of the process; NULL: it has no model. */
static tree *parsed(const char *module)
{
    static struct {
        arena arena;
        tree tree;
    } all[MOST_MODULES];
    for (size_t i = 0; library_sources[i].module && i < MOST_MODULES; i++) {
        if (strcmp(library_sources[i].module, module) != 0)
            continue;
        tree *t = &all[i].tree;
        fault wrong;
        if (t->module)
            return t;
        *t = (tree){ .arena = &all[i].arena, .without_places = true };
        if (tree_parse(t, library_sources[i].text, strlen(library_sources[i].text), &wrong))
            return t;
        t->module = NULL;
    }
    return NULL;
}

static scope *loaded(machine *m, const char *module)
{
    for (size_t i = 0; i < m->library_count; i++)
        if (strcmp(m->libraries[i].module, module) == 0)
            return m->libraries[i].members;
    tree *t = parsed(module);
    if (!t || m->library_count == sizeof m->libraries / sizeof *m->libraries)
        return NULL;
    scope *members = scope_new(m, NULL, NULL);
    for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++) {
        bool own = strcmp(intrinsics[i].module, module) == 0;
        if (!own && intrinsics[i].module[0])
            continue;
        value *v = value_new(m, V_BUILTIN);
        const char *from = own && strcmp(module, "datetime") == 0 ? module : "library";
        v->builtin.name = arena_print(m->arena, "%s.%s", from, intrinsics[i].name);
        scope_set(m, members, tree_name(t, intrinsics[i].name), v);
    }
    if (run(m, members, t->module->x) != DONE)
        path_unsupported(m, 0, NULL, "the module %s, whose model does not load", module);
    m->libraries[m->library_count].module = arena_copy(m->arena, module, strlen(module));
    m->libraries[m->library_count++].members = members;
    return members;
}

const char *library_instead(const char *what)
{
    bool exact = strncmp(what, "decimal", 7) == 0 || strncmp(what, "fractions", 9) == 0;
    return exact ? "use ints, such as cents" : "write it out in plain Python";
}

bool library_has(const char *module)
{
    for (size_t i = 0; library_sources[i].module; i++)
        if (strcmp(library_sources[i].module, module) == 0)
            return true;
    return false;
}

value *library_member(machine *m, const char *module, const char *name)
{
    scope *members = library_has(module) ? loaded(m, module) : NULL;
    for (size_t i = 0; members && i < members->count; i++)
        if (strcmp(members->names[i], name) == 0)
            return members->values[i];
    return NULL;
}

/* -- lru_cache and cache ------------------------------------------------------------------------
 */

/* The name of a decorator for caching; NULL: it is another one. */
static const char *cache_named(machine *m, scope *s, const node *d)
{
    value *v = NULL;
    const node *from = d->kind == N_ATTRIBUTE ? d->a : d;
    if (from->kind != N_NAME)
        return NULL;
    v = scope_get(m, s, from->name);
    m->raised = NULL;
    if (v && d->kind == N_ATTRIBUTE)
        v = v->kind == V_MODULE && strcmp(v->builtin.name, "functools") == 0
                ? library_member(m, "functools", d->name)
                : NULL;
    bool ours = v && v->kind == V_BUILTIN &&
                (strcmp(v->builtin.name, "library.lru_cache") == 0 ||
                 strcmp(v->builtin.name, "library.cache") == 0);
    return ours ? v->builtin.name : NULL;
}

/* The maxsize of lru_cache. False: it has options that are not modelled. */
static bool most_kept(const node *d, size_t *most)
{
    const node *given = d->x.count ? d->x.at[0] : NULL;
    for (size_t i = 0; i < d->y.count; i++) {
        if (given || !d->y.at[i]->name || strcmp(d->y.at[i]->name, "maxsize") != 0)
            return false;
        given = d->y.at[i]->a;
    }
    const constant *k = given && given->kind == N_CONSTANT ? given->constant : NULL;
    if (!given)
        return true;
    if (d->x.count > 1 || !k || (k->kind != C_NONE && (k->kind != C_INT || !k->small)))
        return false;
    *most = k->kind == C_NONE ? SIZE_MAX : (size_t)k->number;
    return true;
}

void decorate_function(machine *m, scope *s, const node *n, value *function)
{
    enum { USUAL = 128 };
    const node *d = n->y.count == 1 ? n->y.at[0] : NULL;
    const char *name = d ? cache_named(m, s, d->kind == N_CALL ? d->a : d) : NULL;
    bool limited = name && strcmp(name, "library.lru_cache") == 0;
    size_t most = limited ? USUAL : SIZE_MAX;
    if (!name || (d->kind == N_CALL && (!limited || !most_kept(d, &most))))
        return;
    function->function.most_kept = most;
    function->function.cache = value_new(m, V_DICT);
}

/* True if several callers may share a result: none can change it. */
static bool is_shareable(const value *v)
{
    for (size_t i = 0; v->kind == V_TUPLE && i < v->in.items.count; i++)
        if (!is_shareable(v->in.items.at[i]))
            return false;
    return value_is_scalar(v) || v->kind == V_NONE || v->kind == V_TUPLE;
}

/* A single int or str is the key itself, anything else is a tuple: so f(1) and f(1.0) are two
 * entries, f(1, 2) and f(1.0, 2) are one. */
value *call_cached(machine *m, value *function, arguments *given, int line, cached_call *otherwise)
{
    value *cache = function->function.cache;
    if (given->names.count)
        path_unsupported(m, line, "give the arguments by their place",
                         "keywords of a function with lru_cache");
    value *key = given->places.count == 1 ? given->places.at[0] : NULL;
    if (!key || (key->kind != V_INT && key->kind != V_STR)) {
        key = value_sequence(m, V_TUPLE, given->places.count);
        for (size_t i = 0; i < given->places.count; i++)
            values_add(m, &key->in.items, given->places.at[i]);
    }
    long place = find_key(m, cache, key, line);
    if (place != -1)
        return place < 0 ? NULL : cache->in.others.at[place];
    unsigned version = cache->version;
    value *result = otherwise(m, function, given, line);
    if (!result || function->function.most_kept == 0)
        return result;
    if (!is_shareable(result))
        path_unsupported(m, line, "return a tuple, or leave the cache out",
                         "a function with lru_cache that returns a %s", value_type(result));
    if (version != cache->version) {
        place = find_key(m, cache, key, line);
        if (place >= 0)
            return result;
    }
    if (cache->in.items.count >= function->function.most_kept)
        path_bound(m, "the size of an lru_cache");
    path_join_ends(m, cache->serial);
    cache->version++;
    values_add(m, &cache->in.items, key);
    values_add(m, &cache->in.others, result);
    return result;
}
