/* lru_cache and cache of the module functools. */
#include <string.h>

#include "interpreter/interpreter.h"

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
