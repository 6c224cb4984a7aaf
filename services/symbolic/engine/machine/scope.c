/* Names: where they are bound, and where they are found. */
#include <string.h>

#include "machine/machine.h"
#include "tree/shadow.h"

scope *scope_new(machine *m, scope *up, const node *owner)
{
    scope *s = arena_take(m->arena, sizeof *s);
    s->up = up;
    s->owner = owner;
    s->serial = m->serial++;
    return s;
}

static long place_of(const scope *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->names[i] == name)
            return (long)i;
    return -1;
}

value *scope_peek(const scope *s, const char *name)
{
    long place = place_of(s, name);
    return place < 0 ? NULL : s->values[place];
}

static bool is_listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] == name)
            return true;
    return false;
}

/* -- which names a function binds -------------------------------------------------------------- */

static bool binds(const node *n, const char *name);

static bool any_binds(nodes list, const char *name)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i] && binds(list.at[i], name))
            return true;
    return false;
}

/* True if anything in here, except for nested functions, binds the name. */
static bool binds(const node *n, const char *name)
{
    switch (n->kind) {
    case N_FUNCTION:
    case N_CLASS:
        return n->name == name;
    case N_LAMBDA:
        return false;
    case N_ASSIGN:
    case N_DELETE:
        if (tree_targets_bind(n->x, name))
            return true;
        break;
    case N_AUGASSIGN:
    case N_ANNASSIGN:
    case N_TYPE_ALIAS:
    case N_FOR:
    case N_NAMED:
        if (tree_target_binds(n->a, name))
            return true;
        break;
    case N_WITH_ITEM:
        if (tree_target_binds(n->b, name))
            return true;
        break;
    case N_ALIAS:
        return alias_binds(n, name);
    case N_HANDLER:
    case N_MATCH_AS:
    case N_MATCH_STAR:
    case N_MATCH_MAPPING:
        if (n->name == name)
            return true;
        break;
    case N_COMPREHENSION: /* its names are local; a `:=` in it is not */
        return (n->b && binds(n->b, name)) || any_binds(n->x, name);
    default:
        break;
    }
    return (n->a && binds(n->a, name)) || (n->b && binds(n->b, name)) ||
           (n->c && binds(n->c, name)) || any_binds(n->x, name) || any_binds(n->y, name) ||
           any_binds(n->z, name) || any_binds(n->w, name) || any_binds(n->v, name);
}

bool scope_binds(machine *m, const node *function, const char *name)
{
    (void)m;
    return function->kind == N_LAMBDA ? binds(function->b, name) : any_binds(function->x, name);
}

static bool declares_global(const node *n, const void *name)
{
    for (size_t i = 0; n->kind == N_GLOBAL && i < n->x.count; i++)
        if (n->x.at[i]->name == name)
            return true;
    return false;
}

size_t scope_count(nodes body, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < body.count; i++) {
        const node *n = body.at[i];
        const char *from = n->kind == N_IMPORT_FROM && n->name ? n->name : "";
        bool types = strcmp(from, "typing") == 0 || strcmp(from, "typing_extensions") == 0 ||
                     strcmp(from, "collections.abc") == 0;
        count += !types && binds(n, name);
    }
    return count + (tree_first_of(body, declares_global, name) != NULL);
}

/* -- global and nonlocal ------------------------------------------------------------------------
 */

static void declare_names(machine *m, scope *s, const node *n)
{
    bool global = n->kind == N_GLOBAL;
    size_t *count = global ? &s->global_count : &s->outer_count;
    const char ***list = global ? &s->globals : &s->outers;
    const char **all = arena_take(m->arena, (*count + n->x.count + 1) * sizeof *all);
    if (*count)
        memcpy(all, *list, *count * sizeof *all);
    for (size_t i = 0; i < n->x.count; i++)
        all[*count + i] = n->x.at[i]->name;
    *list = all;
    *count += n->x.count;
}

void scope_declare(machine *m, scope *s, nodes body)
{
    for (size_t i = 0; i < body.count; i++) {
        const node *n = body.at[i];
        switch (n->kind) {
        case N_GLOBAL:
        case N_NONLOCAL:
            declare_names(m, s, n);
            break;
        case N_IF:
        case N_WHILE:
        case N_FOR:
        case N_MATCH:
        case N_MATCH_CASE:
        case N_TRY:
        case N_HANDLER:
        case N_WITH:
            scope_declare(m, s, n->x);
            scope_declare(m, s, n->y);
            scope_declare(m, s, n->z);
            scope_declare(m, s, n->w);
            break;
        default:
            break;
        }
    }
}

/* -- looking up and binding -------------------------------------------------------------------- */

/* The value at a place: if a join left one of two values, the path forks. Inside of another join
 * the decision holds for one side only, so it is not stored. */
static value *bound_value(machine *m, scope *s, long place)
{
    value *v = s->values[place];
    while (v && v->kind == V_EITHER)
        v = path_decide(m, v->term, true) ? v->either.yes : v->either.no;
    if (!m->path.speculating)
        s->values[place] = v;
    return v;
}

static const char *const builtin_names[] = { "abs",
                                             "all",
                                             "any",
                                             "bool",
                                             "dict",
                                             "divmod",
                                             "enumerate",
                                             "filter",
                                             "float",
                                             "frozenset",
                                             "int",
                                             "isinstance",
                                             "len",
                                             "list",
                                             "map",
                                             "max",
                                             "min",
                                             "next",
                                             "pow",
                                             "print",
                                             "range",
                                             "repr",
                                             "reversed",
                                             "round",
                                             "set",
                                             "sorted",
                                             "str",
                                             "sum",
                                             "tuple",
                                             "type",
                                             "zip",
                                             "object",
                                             "iter",
                                             "callable",
                                             "chr",
                                             "ord",
                                             "hash",
                                             "id",
                                             "input",
                                             "bin",
                                             "hex",
                                             "oct",
                                             "format",
                                             "bytes",
                                             "bytearray",
                                             "complex",
                                             "memoryview",
                                             "slice",
                                             "super",
                                             "property",
                                             "staticmethod",
                                             "classmethod",
                                             "getattr",
                                             "setattr",
                                             "hasattr",
                                             "delattr",
                                             "issubclass",
                                             "ascii",
                                             "NotImplemented",
                                             "Ellipsis",
                                             "breakpoint",
                                             "help",
                                             "exit",
                                             "quit" };

static bool is_builtin_name(const char *name)
{
    for (size_t i = 0; i < sizeof builtin_names / sizeof *builtin_names; i++)
        if (strcmp(name, builtin_names[i]) == 0)
            return true;
    return false;
}

value *scope_get(machine *m, scope *s, const char *name)
{
    for (scope *at = s; at; at = at->up) {
        if (at->is_class && at != s)
            continue; /* methods do not see the names of their class */
        if (is_listed(at->globals, at->global_count, name))
            break;
        long place = place_of(at, name);
        value *found = place < 0 ? NULL : bound_value(m, at, place);
        if (found)
            return found;
        if (at->owner && !is_listed(at->outers, at->outer_count, name) &&
            scope_binds(m, at->owner, name))
            return throw(m, at == s ? "UnboundLocalError" : "NameError", m->line);
    }
    value *found = m->globals ? scope_peek(m->globals, name) : NULL;
    if (found)
        return found;
    value *class = strcmp(name, "FrozenInstanceError") == 0 ? NULL : exception_class(m, name);
    if (class)
        return class;
    if (strcmp(name, "NotImplemented") == 0)
        return value_new(m, V_NOT_IMPLEMENTED);
    if (is_builtin_name(name)) {
        value *v = value_new(m, V_BUILTIN);
        v->builtin.name = name;
        return v;
    }
    int has = bridge_has_builtin(name);
    if (has < 0)
        bridge_give_up(m, 0, "the search of a name");
    if (has)
        path_unsupported(m, 0, "write it out in plain Python", "the name %s", name);
    return throw(m, "NameError", m->line);
}

static void put_name(machine *m, scope *s, const char *name, value *v)
{
    long place = place_of(s, name);
    if (place >= 0) {
        s->values[place] = v;
        return;
    }
    if (s->count == s->room) {
        size_t room = 2 * s->room + 8;
        const char **names = arena_take(m->arena, room * sizeof *names);
        value **more = arena_take(m->arena, room * sizeof *more);
        if (s->count) {
            memcpy(names, s->names, s->count * sizeof *names);
            memcpy(more, s->values, s->count * sizeof *more);
        }
        s->names = names;
        s->values = more;
        s->room = room;
    }
    s->names[s->count] = name;
    s->values[s->count++] = v;
}

/* True if a name that an inner `nonlocal` declares belongs to this function. */
static bool owns(machine *m, const scope *s, const char *name)
{
    if (!s->owner || is_listed(s->globals, s->global_count, name) ||
        is_listed(s->outers, s->outer_count, name))
        return false;
    return place_of(s, name) >= 0 || scope_binds(m, s->owner, name);
}

/* The scope in which an assignment in this one binds a name. */
static scope *scope_for(machine *m, scope *s, const char *name)
{
    scope *to = s;
    if (is_listed(s->globals, s->global_count, name)) {
        to = m->globals;
    } else if (is_listed(s->outers, s->outer_count, name)) {
        for (to = s->up; to && !owns(m, to, name);)
            to = to->up;
        if (!to)
            path_unsupported(m, 0, "bind the name in the function around it",
                             "the name %s, which nonlocal declares", name);
    }
    path_change_names(m, to, to == s);
    return to;
}

void scope_set(machine *m, scope *s, const char *name, value *v)
{
    put_name(m, scope_for(m, s, name), name, v);
}

bool scope_unset(machine *m, scope *s, const char *name)
{
    scope *in = scope_for(m, s, name);
    long place = place_of(in, name);
    if (place < 0 || !bound_value(m, in, place)) {
        throw(m, in->owner ? "UnboundLocalError" : "NameError", m->line);
        return false;
    }
    in->values[place] = NULL;
    return true;
}

void scope_forget(machine *m, scope *s, const char *name)
{
    scope *in = scope_for(m, s, name);
    long place = place_of(in, name);
    if (place >= 0)
        in->values[place] = NULL;
}

/* -- annotations ------------------------------------------------------------------------------- */

static bool are_postponed(const machine *m)
{
    nodes body = m->tree->module->x;
    for (size_t i = 0; i < body.count; i++)
        if (body.at[i]->kind == N_IMPORT_FROM && body.at[i]->name &&
            strcmp(body.at[i]->name, "__future__") == 0)
            return true;
    return false;
}

static bool names_exist(machine *m, scope *s, const node *n)
{
    if (!n)
        return true;
    if (n->kind == N_NAME)
        return scope_get(m, s, n->name) != NULL;
    bool good = names_exist(m, s, n->a) && names_exist(m, s, n->b) && names_exist(m, s, n->c);
    for (size_t i = 0; good && i < n->x.count; i++)
        good = names_exist(m, s, n->x.at[i]);
    return good;
}

bool annotation_exists(machine *m, scope *s, const node *n)
{
    return !n || are_postponed(m) || names_exist(m, s, n);
}
