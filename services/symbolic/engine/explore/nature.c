/* What code may leave behind: see nature.h. process.c has what it may depend on. */
#include <string.h>

#include "explore/nature.h"

static bool any_node(const node *n, tree_test *test)
{
    return tree_first(n, test, NULL) != NULL;
}

static bool any_of(nodes list, tree_test *test)
{
    return tree_first_of(list, test, NULL) != NULL;
}

/* True if a call can leave something behind. Two functions that do so are not compared. */
static bool leaves_something(const node *n, const void *unused)
{
    (void)unused;
    bool stores = n->kind == N_ASSIGN || n->kind == N_AUGASSIGN || n->kind == N_ANNASSIGN;
    const node *target = n->kind == N_ASSIGN ? n->x.at[0] : n->a;
    if (n->kind == N_WITH_ITEM && n->b && n->b->kind != N_NAME)
        return true;
    return n->kind == N_GLOBAL ||
           (stores && target->kind == N_ATTRIBUTE &&
            !(target->a->kind == N_NAME && strcmp(target->a->name, "self") == 0));
}

/* True for a mutable value of the module. */
static bool is_changeable(const node *n, const void *unused)
{
    (void)unused;
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
