/* What code may depend on beside its inputs: see nature.h. Only the tree is looked at, so some code
 * that depends on nothing is found, too. The addresses in texts are in address.c. */
#include <string.h>

#include "explore/nature.h"
#include "tree/shadow.h"

static bool is_named(const node *n, const char *const *names)
{
    for (; n->name && *names; names++)
        if (strcmp(n->name, *names) == 0)
            return true;
    return false;
}

static bool is_name(const node *n, const char *const *names)
{
    return n->kind == N_NAME && is_named(n, names);
}

/* -- sets, hashes and chance ------------------------------------------------------------------- */

static bool is_set(const node *n, const void *unused)
{
    (void)unused;
    static const char *const names[] = { "set", "frozenset", NULL };
    return n->kind == N_SET || n->kind == N_SETCOMP ||
           ((n->kind == N_NAME || n->kind == N_ALIAS) && is_named(n, names));
}

static bool is_hash(const node *n, const void *unused)
{
    (void)unused;
    static const char *const names[] = { "hash", "id", "object", NULL };
    return ((n->kind == N_NAME || n->kind == N_ALIAS) && is_named(n, names)) ||
           (n->kind == N_ATTRIBUTE && strcmp(n->name, "__hash__") == 0);
}

/* The keys of a memo are addresses. */
static bool is_memo(const node *n, const void *unused)
{
    (void)unused;
    static const char *const names[] = { "deepcopy", NULL };
    return n->kind == N_CALL && n->x.count + n->y.count > 1 && is_named(n->a, names);
}

static bool is_chance(const node *n, const void *unused)
{
    (void)unused;
    static const char *const names[] = { "random", "Random", NULL };
    bool from = n->kind == N_IMPORT_FROM && n->name && strcmp(n->name, names[0]) == 0;
    return from || ((n->kind == N_NAME || n->kind == N_ALIAS) && is_named(n, names));
}

/* -- views of dicts: `d.keys() | e` is a set --------------------------------------------------- */

static bool is_view(const node *n)
{
    static const char *const names[] = { "keys", "items", NULL };
    return n->kind == N_ATTRIBUTE && is_named(n, names);
}

static bool is_view_call(const node *n)
{
    return n->kind == N_CALL && is_view(n->a);
}

/* A view that is only iterated over, measured or searched makes no set. */
static bool lets_view_out(const node *n, const void *unused)
{
    (void)unused;
    static const char *const takers[] = { "list", "tuple",     "sorted",   "len", "sum",
                                          "min",  "max",       "any",      "all", "zip",
                                          "dict", "enumerate", "reversed", "map", "filter",
                                          "iter", NULL };
    bool takes = n->kind == N_FOR || n->kind == N_COMPREHENSION || n->kind == N_COMPARE ||
                 n->kind == N_STARRED || (n->kind == N_CALL && is_name(n->a, takers));
    const node *parts[] = { n->a, n->b, n->c };
    for (int i = 0; i < 3; i++)
        if (parts[i] && (is_view_call(parts[i]) ? !takes : is_view(parts[i]) && !is_view_call(n)))
            return true;
    nodes lists[] = { n->x, n->y, n->z, n->w, n->v };
    for (int l = 0; l < 5; l++)
        for (size_t i = 0; i < lists[l].count; i++) {
            const node *one = lists[l].at[i];
            if (one && (is_view(one) || (is_view_call(one) && !takes)))
                return true;
        }
    return false;
}

static bool joins_sets(const node *n, const void *unused)
{
    (void)unused;
    static const char *const names[] = {
        "__and__", "__or__", "__xor__", "__sub__", "__rsub__", NULL
    };
    bool sign = n->op == OP_BITAND || n->op == OP_BITOR || n->op == OP_BITXOR || n->op == OP_SUB;
    return ((n->kind == N_BINOP || n->kind == N_AUGASSIGN) && sign) ||
           (n->kind == N_ATTRIBUTE && is_named(n, names)) ||
           (n->kind == N_ALIAS && strcmp(n->name, "operator") == 0) ||
           (n->kind == N_IMPORT_FROM && n->name && strcmp(n->name, "operator") == 0);
}

/* -- the time zone, the name of the module, memory --------------------------------------------- */

static bool is_local_time(const node *n, const void *unused)
{
    (void)unused;
    static const char *const names[] = { "fromtimestamp", "timestamp", "astimezone", NULL };
    if (n->kind != N_CALL || n->a->kind != N_ATTRIBUTE)
        return false;
    if (strcmp(n->a->name, "strftime") != 0)
        return is_named(n->a, names);
    const node *format = n->x.count ? n->x.at[n->x.count - 1] : NULL;
    if (!format || format->kind != N_CONSTANT || format->constant->kind != C_STR)
        return true;
    const constant *k = format->constant;
    for (size_t i = 0; i + 1 < k->count; i++) /* seconds since 1970 */
        if (k->chars[i] == '%' && k->chars[i + 1] == 's')
            return true;
    return false;
}

static bool is_module_name(const node *n, const void *unused)
{
    (void)unused;
    static const char *const names[] = { "__name__", NULL };
    return is_name(n, names);
}

/* An ABC of Python's library remembers what was registered with it. */
static bool is_registered(const node *n, const void *unused)
{
    (void)unused;
    return n->kind == N_ATTRIBUTE && strcmp(n->name, "register") == 0;
}

/* A class pattern reads attributes, too: `case type(register=r)`. */
static bool is_read_by_pattern(const node *n, const void *unused)
{
    (void)unused;
    static const char *const names[] = { "register",      "timestamp", "astimezone", "strftime",
                                         "fromtimestamp", "__hash__",  "keys",       "items",
                                         "__and__",       "__or__",    "__xor__",    "__sub__",
                                         "__rsub__",      NULL };
    if (n->kind != N_MATCH_CLASS)
        return false;
    for (size_t i = 0; i < n->y.count; i++)
        if (is_named(n->y.at[i], names))
            return true;
    return false;
}

static bool is_getattr(const node *n, const void *unused)
{
    (void)unused;
    static const char *const names[] = { "getattr", NULL };
    return is_name(n, names);
}

static bool is_depth(const node *n, const void *unused)
{
    (void)unused;
    static const char *const names[] = { "RecursionError", NULL };
    return is_name(n, names);
}

static bool is_out_of_bounds(const node *n, const void *unused)
{
    (void)unused;
    static const char *const names[] = { "MemoryError", NULL };
    return is_name(n, names);
}

/* -- identity ---------------------------------------------------------------------------------- */

/* Of a class, None or a bool there is one object. */
static bool is_single(const tree *t, const node *n)
{
    static const char *const types[] = { "int",      "str",   "float", "bool",  "list",
                                         "dict",     "tuple", "type",  "bytes", "NotImplemented",
                                         "Ellipsis", NULL };
    const constant *k = n->kind == N_CONSTANT ? n->constant : NULL;
    if (k)
        return k->kind == C_NONE || k->kind == C_BOOL || k->kind == C_ELLIPSIS;
    if (is_name(n, types))
        return is_of_python(t->module, n);
    const node *root = n->kind == N_ATTRIBUTE ? n->a : n; /* `Colour.RED` */
    for (size_t i = 0; root->kind == N_NAME && i < t->module->x.count; i++)
        if (t->module->x.at[i]->kind == N_CLASS && t->module->x.at[i]->name == root->name)
            return is_bound_once(t->module, root->name, t->module->x.at[i]) &&
                   !is_any_parameter(t->module, root->name);
    return false;
}

static bool imports_name(const node *n, const void *name)
{
    return n->kind == N_ALIAS && (n->other ? n->other : n->name) == name;
}

/* A function or a class of Python, or what a module or class has: the same object each time. */
static bool is_lasting(const tree *t, const node *n)
{
    if (n->kind == N_CALL || !is_of_python(t->module, n))
        return false;
    while (n->kind == N_ATTRIBUTE)
        n = n->a;
    return tree_first(t->module, imports_name, n->name) || bridge_has_builtin(n->name) == 1;
}

static bool is_identity(const node *n, const void *of)
{
    static const char *const names[] = { "is_", "is_not", NULL };
    if ((n->kind == N_ATTRIBUTE || n->kind == N_ALIAS) && is_named(n, names))
        return true;
    const node *left = n->a;
    for (size_t i = 0; n->kind == N_COMPARE && i < n->x.count; left = n->x.at[i++]) {
        operator_kind op = n->y.at[i]->op;
        const node *right = n->x.at[i];
        if ((op == OP_IS || op == OP_ISNOT) && !is_single(of, left) && !is_single(of, right) &&
            !(is_lasting(of, left) && is_lasting(of, right)))
            return true;
    }
    return false;
}

/* -- the recursion limit ----------------------------------------------------------------------- */

static bool catches_type(const node *n)
{
    static const char *const names[] = { "RecursionError", "RuntimeError", "Exception",
                                         "BaseException", NULL };
    if (n->kind == N_TUPLE) {
        for (size_t i = 0; i < n->x.count; i++)
            if (catches_type(n->x.at[i]))
                return true;
        return false;
    }
    return n->kind != N_NAME || is_named(n, names);
}

static bool leaves_block(const node *n, const void *unused)
{
    (void)unused;
    return n->kind == N_RETURN || n->kind == N_BREAK || n->kind == N_CONTINUE;
}

/* True if it may go on after a RecursionError. */
static bool may_catch(const node *n, const void *unused)
{
    (void)unused;
    if (n->kind == N_HANDLER)
        return !n->a || catches_type(n->a);
    if (n->kind == N_TRY)
        return tree_first_of(n->w, leaves_block, NULL) != NULL;
    return (n->kind == N_FUNCTION && strcmp(n->name, "__exit__") == 0) ||
           (n->kind == N_OTHER && strcmp(n->name, "TryStar") == 0);
}

static bool mentions(const node *n, const void *name)
{
    return (n->kind == N_NAME || n->kind == N_ATTRIBUTE) && n->name == name;
}

static bool is_variable(const node *n, const void *name)
{
    switch (n->kind) {
    case N_ARG:
        return n->name == name;
    case N_ASSIGN:
        return tree_targets_bind(n->x, name);
    case N_ANNASSIGN:
    case N_FOR:
    case N_NAMED:
    case N_COMPREHENSION:
        return tree_target_binds(n->a, name);
    case N_WITH_ITEM:
        return tree_target_binds(n->b, name);
    case N_MATCH_AS:
    case N_MATCH_STAR:
        return n->name == name;
    default:
        return false;
    }
}

static bool is_stored(const node *n, const void *name)
{
    for (size_t i = 0; n->kind == N_ASSIGN && i < n->x.count; i++)
        if (n->x.at[i]->kind == N_ATTRIBUTE && n->x.at[i]->name == name)
            return true;
    return n->kind == N_CLASS && tree_first_of(n->z, is_variable, name);
}

/* A call of a value: which function that is, is not known. */
static bool calls_value(const node *n, const void *of)
{
    const tree *t = of;
    if (n->kind != N_CALL)
        return false;
    if (n->a->kind == N_ATTRIBUTE)
        return tree_first(t->module, is_stored, n->a->name) != NULL;
    return n->a->kind != N_NAME || tree_first(t->module, is_variable, n->a->name) != NULL;
}

/* A special method, which operators call without its name. */
static bool is_special(const node *n, const void *unused)
{
    (void)unused;
    return n->kind == N_FUNCTION && n->name[0] == '_' && n->name[1] == '_' &&
           strcmp(n->name, "__init__") != 0 && strcmp(n->name, "__post_init__") != 0;
}

enum { MOST_FUNCTIONS = 100 };

typedef struct calls {
    const node *functions[MOST_FUNCTIONS];
    size_t count;
    bool seen[MOST_FUNCTIONS];
} calls;

static bool add_function(const node *n, const void *to)
{
    calls *all = *(calls *const *)to;
    if (n->kind == N_FUNCTION && all->count < MOST_FUNCTIONS)
        all->functions[all->count++] = n;
    return all->count == MOST_FUNCTIONS;
}

/* True if a call of function `from` may lead to a call of function `to`. A class stands for its
 * __init__. */
static bool leads_to(const tree *t, calls *all, size_t from, size_t to)
{
    all->seen[from] = true;
    for (size_t i = 0; i < all->count; i++) {
        const char *name = all->functions[i]->name;
        bool calls_it = tree_first_of(all->functions[from]->x, mentions, name) != NULL ||
                        strncmp(name, "__", 2) == 0;
        if (calls_it && (i == to || (!all->seen[i] && leads_to(t, all, i, to))))
            return true;
    }
    return false;
}

static bool may_recurse(const tree *t)
{
    calls all = { 0 }, *to = &all;
    if (tree_first(t->module, add_function, &to) || tree_first(t->module, is_special, NULL) ||
        tree_first(t->module, calls_value, t))
        return true;
    for (size_t i = 0; i < all.count; i++) {
        memset(all.seen, 0, sizeof all.seen);
        if (leads_to(t, &all, i, i))
            return true;
    }
    return false;
}

/* -- the answer -------------------------------------------------------------------------------- */

/* The first node of the code or of the contract; NULL: none. */
static const node *first_in(const analysis *a, tree_test *test, const void *context)
{
    const contract *c = &a->contract;
    const node *found = tree_first(a->tree.module, test, context);
    for (size_t i = 0; !found && i < c->pre_count; i++)
        found = tree_first(c->pre_nodes[i], test, context) ? a->function : NULL;
    for (size_t i = 0; !found && i < c->post_count; i++)
        found = tree_first(c->post_nodes[i], test, context) ? a->function : NULL;
    return found;
}

static bool imports_dates(const node *n, const void *unused)
{
    (void)unused;
    return (n->kind == N_ALIAS || n->kind == N_IMPORT_FROM) && n->name &&
           strcmp(n->name, "datetime") == 0;
}

/* `if __name__ == "__main__":` of the module is no part of any call. */
static const node *module_named(const analysis *a)
{
    nodes body = a->tree.module->x;
    for (size_t i = 0; i < body.count; i++)
        if (body.at[i]->kind != N_IF && tree_first(body.at[i], is_module_name, NULL))
            return body.at[i];
    return NULL;
}

static const node *limited(const analysis *a)
{
    const node *caught = first_in(a, is_depth, NULL); /* of the code, or of a text in Python */
    if (caught)
        return caught;
    caught = first_in(a, may_catch, NULL);
    return caught && may_recurse(&a->tree) ? caught : NULL;
}

const char *nature_of(analysis *a)
{
    arena *to = &a->tree_arena;
    const struct {
        const node *at;
        const char *words;
    } found[] = {
        { first_in(a, is_hash, NULL), "a hash or an address; compare the values themselves" },
        { first_in(a, is_memo, NULL),
          "the memo of a copy, whose keys are addresses; leave it out" },
        { first_in(a, is_chance, NULL), "chance; pass the number in as a parameter" },
        { first_in(a, is_set, NULL), "the order of a set; use a list or a dict, or sort it" },
        { first_in(a, joins_sets, NULL) ? first_in(a, lets_view_out, NULL) : NULL,
          "the order of a set that is made of views of a dict; make lists of them" },
        { first_in(a, is_identity, &a->tree),
          "which objects Python makes but once; use == in place of `is`" },
        { tree_first(a->tree.module, imports_dates, NULL) ? first_in(a, is_local_time, NULL) : NULL,
          "the time zone; pass the time in as a parameter" },
        { module_named(a), "the name of the module; pass it in as a parameter" },
        { first_in(a, is_getattr, NULL), "what getattr() finds; write the attribute" },
        { first_in(a, is_read_by_pattern, NULL),
          "an attribute that a pattern reads; read it outside of the pattern" },
        { first_in(a, is_registered, NULL), "what was registered before; derive the class" },
        { first_in(a, is_out_of_bounds, NULL), "how much memory there is; bound the sizes" },
        { limited(a), "the recursion limit; name the exceptions that are meant, or use a loop" },
    };
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        if (found[i].at)
            return arena_print(to, "line %d may depend on %s", found[i].at->line, found[i].words);
    int line = address_line(a);
    return line ? arena_print(to,
                              "the text that line %d makes may have the address of an object in "
                              "it, or the name of the module; give its class a __repr__, and make "
                              "no text of functions, methods, iterators and classes",
                              line)
                : NULL;
}
