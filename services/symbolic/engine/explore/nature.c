/* What code may depend on, and what it may leave behind: see nature.h. */
#include <string.h>

#include "explore/nature.h"

typedef bool node_test(const node *n);

static bool any_node(const node *n, node_test *test);

static bool any_of(nodes list, node_test *test)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i] && any_node(list.at[i], test))
            return true;
    return false;
}

static bool any_node(const node *n, node_test *test)
{
    return test(n) || (n->a && any_node(n->a, test)) || (n->b && any_node(n->b, test)) ||
           (n->c && any_node(n->c, test)) || any_of(n->x, test) || any_of(n->y, test) ||
           any_of(n->z, test) || any_of(n->w, test) || any_of(n->v, test);
}

static bool is_named(const node *n, const char *const *names)
{
    for (; n->name && *names; names++)
        if (strcmp(n->name, *names) == 0)
            return true;
    return false;
}

static bool is_of_the_process(const node *n)
{
    static const char *const names[] = { "set",    "frozenset", "hash",   "id",
                                         "object", "random",    "Random", NULL };
    static const char *const views[] = { "keys", "items", NULL };
    if (n->kind == N_SET || n->kind == N_SETCOMP)
        return true;
    if ((n->kind == N_NAME || n->kind == N_ALIAS) && is_named(n, names))
        return true;
    /* `d.keys() & e` makes a set */
    return n->kind == N_BINOP &&
           ((n->a->kind == N_CALL && n->a->a->kind == N_ATTRIBUTE && is_named(n->a->a, views)) ||
            (n->b->kind == N_CALL && n->b->a->kind == N_ATTRIBUTE && is_named(n->b->a, views)));
}

/* True if a call can leave something behind. Two functions that do so are not compared. */
static bool leaves_something(const node *n)
{
    bool stores = n->kind == N_ASSIGN || n->kind == N_AUGASSIGN || n->kind == N_ANNASSIGN;
    const node *target = n->kind == N_ASSIGN ? n->x.at[0] : n->a;
    if (n->kind == N_WITH_ITEM && n->b && n->b->kind != N_NAME)
        return true;
    return n->kind == N_GLOBAL ||
           (stores && target->kind == N_ATTRIBUTE &&
            !(target->a->kind == N_NAME && strcmp(target->a->name, "self") == 0));
}

/* True for a mutable value of the module. */
static bool is_changeable(const node *n)
{
    return n->kind == N_LIST || n->kind == N_DICT || n->kind == N_SET || n->kind == N_CALL ||
           n->kind == N_LISTCOMP || n->kind == N_DICTCOMP || n->kind == N_SETCOMP ||
           n->kind == N_GENERATOR;
}

/* True if a name that these statements bind has a mutable value. */
static bool binds_changeable(nodes body)
{
    for (size_t i = 0; i < body.count; i++) {
        const node *n = body.at[i];
        const char *members[256];
        if (n->kind == N_CLASS && binds_changeable(n->z) &&
            !enum_members(n, members, sizeof members / sizeof *members))
            return true;
        if ((n->kind == N_ASSIGN && any_node(n->a, is_changeable)) ||
            (n->kind == N_ANNASSIGN && n->c && any_node(n->c, is_changeable)) ||
            (n->kind == N_FUNCTION && /* defaults */
             (any_of(n->a->v, is_changeable) || any_of(n->a->w, is_changeable))))
            return true;
    }
    return false;
}

bool keeps_nothing(const tree *t)
{
    return !binds_changeable(t->module->x) && !any_node(t->module, leaves_something);
}

bool rests_on_process(const analysis *a)
{
    const contract *c = &a->contract;
    bool does = any_node(a->tree.module, is_of_the_process);
    for (size_t i = 0; i < c->pre_count; i++)
        does = does || any_node(c->pre_nodes[i], is_of_the_process);
    for (size_t i = 0; i < c->post_count; i++)
        does = does || any_node(c->post_nodes[i], is_of_the_process);
    return does;
}
