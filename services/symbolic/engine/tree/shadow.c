/* Names of the code that hide a builtin: see shadow.h. */
#include <string.h>

#include "tree/shadow.h"

typedef bool node_test(const node *n, const char *name);

/* True for a node with a scope of its own. */
static bool has_names(const node *n)
{
    return n->kind == N_FUNCTION || n->kind == N_CLASS || n->kind == N_LAMBDA ||
           (n->kind == N_OTHER && strcmp(n->name, "AsyncFunctionDef") == 0);
}

/* True if the test holds for a node in here. `into`: also inside of functions and classes. */
static bool any_node(const node *n, const char *name, node_test *test, bool into);

static bool any_of(nodes list, const char *name, node_test *test, bool into)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i] && any_node(list.at[i], name, test, into))
            return true;
    return false;
}

static bool any_node(const node *n, const char *name, node_test *test, bool into)
{
    if (test(n, name))
        return true;
    if (!into && has_names(n))
        return false;
    return (n->a && any_node(n->a, name, test, into)) ||
           (n->b && any_node(n->b, name, test, into)) ||
           (n->c && any_node(n->c, name, test, into)) || any_of(n->x, name, test, into) ||
           any_of(n->y, name, test, into) || any_of(n->z, name, test, into) ||
           any_of(n->w, name, test, into) || any_of(n->v, name, test, into);
}

/* -- what binds a name ------------------------------------------------------------------------- */

bool alias_binds(const node *alias, const char *name)
{
    if (alias->other)
        return alias->other == name;
    size_t first = strcspn(alias->name, "."); /* `import a.b` binds `a` */
    return strlen(name) == first && strncmp(alias->name, name, first) == 0;
}

static bool binds(const node *n, const char *name)
{
    switch (n->kind) {
    case N_FUNCTION:
    case N_CLASS:
    case N_HANDLER:
    case N_MATCH_AS:
    case N_MATCH_STAR:
    case N_MATCH_MAPPING:
        return n->name == name;
    case N_ASSIGN:
        return tree_targets_bind(n->x, name);
    case N_AUGASSIGN:
    case N_ANNASSIGN:
    case N_TYPE_ALIAS:
    case N_FOR:
    case N_NAMED: /* of a comprehension, too: it binds in the function around it */
        return tree_target_binds(n->a, name);
    case N_WITH_ITEM:
        return tree_target_binds(n->b, name);
    case N_ALIAS:
        return alias_binds(n, name);
    default:
        return false;
    }
}

static bool unbinds(const node *n, const char *name)
{
    return (n->kind == N_DELETE && tree_targets_bind(n->x, name)) ||
           (n->kind == N_HANDLER && n->name == name); /* unbound when the handler ends */
}

static bool lists(const node *n, node_kind kind, const char *name)
{
    for (size_t i = 0; n->kind == kind && i < n->x.count; i++)
        if (n->x.at[i]->name == name)
            return true;
    return false;
}

static bool is_global(const node *n, const char *name)
{
    return lists(n, N_GLOBAL, name);
}

static bool is_outer(const node *n, const char *name)
{
    return lists(n, N_NONLOCAL, name);
}

typedef struct one_binding {
    const char *name;
    const node *by;
} one_binding;

static bool changes(const node *n, const char *name)
{
    return binds(n, name) || unbinds(n, name) || is_global(n, name) || is_outer(n, name);
}

static bool binds_otherwise(const node *n, const void *context)
{
    const one_binding *one = context;
    return n != one->by && changes(n, one->name);
}

static bool binds_argument(const node *n, const void *name)
{
    return n->kind == N_ARG && n->name == name;
}

static bool binds_unimported(const node *n, const void *name)
{
    return n->kind == N_ALIAS ? n->other == name : changes(n, name) || binds_argument(n, name);
}

static bool binds_no_module(const node *n, const void *name)
{
    return n->kind != N_ALIAS && (changes(n, name) || binds_argument(n, name));
}

static bool is_node(const node *n, const void *sought)
{
    return n == sought;
}

/* A loop, or a statement that the engine does not know, with the node inside. */
static bool repeats(const node *n, const void *inside)
{
    return (n->kind == N_FOR || n->kind == N_WHILE || n->kind == N_OTHER) &&
           tree_first(n, is_node, inside);
}

bool is_bound_once(const node *module, const char *name, const node *by)
{
    return !tree_first(module, binds_otherwise, &(one_binding){ name, by }) &&
           !(by && tree_first(module, repeats, by));
}

bool is_any_parameter(const node *module, const char *name)
{
    return tree_first(module, binds_argument, name) != NULL;
}

bool is_of_python(const node *module, const node *n)
{
    n = n->kind == N_CALL ? n->a : n;
    bool dotted = n->kind == N_ATTRIBUTE;
    while (n->kind == N_ATTRIBUTE)
        n = n->a;
    return n->kind == N_NAME &&
           !tree_first(module, dotted ? binds_no_module : binds_unimported, n->name);
}

static bool is_parameter(const node *arguments, const char *name)
{
    nodes all[] = { arguments->x, arguments->y, arguments->z };
    for (size_t l = 0; l < 3; l++)
        for (size_t i = 0; i < all[l].count; i++)
            if (all[l].at[i]->name == name)
                return true;
    return (arguments->a && arguments->a->name == name) ||
           (arguments->b && arguments->b->name == name);
}

/* -- where a name is looked up ----------------------------------------------------------------- */

/* True if the statement certainly binds the name, for everything that runs after it. */
static bool surely_binds(const node *n, const char *name)
{
    switch (n->kind) {
    case N_ANNASSIGN:
        return n->c && tree_target_binds(n->a, name);
    case N_FUNCTION:
    case N_CLASS:
    case N_ASSIGN:
        return binds(n, name);
    case N_IMPORT:
    case N_IMPORT_FROM:
        for (size_t i = 0; i < n->x.count; i++)
            if (binds(n->x.at[i], name))
                return true;
        return false;
    default:
        return false;
    }
}

static bool is_of_module(const node *module, const node *outermost, size_t at, const char *name)
{
    if (any_of(module->x, name, unbinds, true))
        return false;
    for (size_t i = 0; i < at && i < module->x.count; i++)
        if (surely_binds(module->x.at[i], name))
            return true;
    /* A function that calls itself; a decorator could call it before its name is bound. */
    return outermost && at < module->x.count && outermost == module->x.at[at] &&
           outermost->kind == N_FUNCTION && outermost->name == name && outermost->y.count == 0;
}

static bool is_comprehension(const node *n)
{
    return n->kind == N_LISTCOMP || n->kind == N_SETCOMP || n->kind == N_DICTCOMP ||
           n->kind == N_GENERATOR;
}

bool is_shadowed(const node *module, const block *inside, size_t at, const char *name)
{
    const node *outermost = NULL;
    bool global = false;
    for (const block *b = inside; b; b = b->up) {
        const node *n = b->n;
        outermost = n;
        if (global || n->kind == N_CLASS) /* methods do not see the names of their class */
            continue;
        if (is_comprehension(n)) {
            for (size_t i = 0; i < n->x.count; i++)
                if (tree_target_binds(n->x.at[i]->a, name))
                    return true;
            continue;
        }
        if (is_parameter(n->a, name))
            return true;
        if (n->kind != N_FUNCTION || b->parameters_only)
            continue;
        global = any_of(n->x, name, is_global, false);
        if (!global && !any_of(n->x, name, is_outer, false) && any_of(n->x, name, binds, false))
            return true;
    }
    return is_of_module(module, outermost, at, name);
}
