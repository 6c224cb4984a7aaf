/* Where the sides of an `if` meet again: after it, at the end of a loop's body, or where a function
 * returns. There they are joined (path.h). */
#include <string.h>

#include "interpreter/interpreter.h"

/* -- what may be joined ------------------------------------------------------------------------ */

/* True if a join is worth a try. A body that certainly leaves the block, or defines something,
 * cannot be joined. `leaves`: it contains a statement that may leave it. */
static bool may_join(nodes body, bool leaves)
{
    for (size_t i = 0; i < body.count; i++) {
        const node *n = body.at[i];
        switch (n->kind) {
        case N_ASSIGN:
        case N_AUGASSIGN:
        case N_ANNASSIGN:
        case N_PASS:
        case N_EXPR:
        case N_ASSERT:
            break;
        case N_IF:
        case N_FOR:
        case N_WHILE:
            if (!may_join(n->x, true) || !may_join(n->y, true))
                return false;
            break;
        case N_RETURN:
        case N_RAISE:
        case N_BREAK:
        case N_CONTINUE:
            if (!leaves)
                return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

/* True if a statement of this kind ends one of the sides, or a nested side. */
static bool has_end(nodes body, node_kind kind)
{
    for (size_t i = 0; i < body.count; i++) {
        const node *n = body.at[i];
        if (n->kind == kind || (n->kind == N_IF && (has_end(n->x, kind) || has_end(n->y, kind))))
            return true;
    }
    return false;
}

static bool calls(const node *n, const char *name);

static bool any_calls(nodes list, const char *name)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i] && calls(list.at[i], name))
            return true;
    return false;
}

/* True if the name is called in there. */
static bool calls(const node *n, const char *name)
{
    return ((n->kind == N_NAME || n->kind == N_ATTRIBUTE) && n->name == name) ||
           (n->a && calls(n->a, name)) || (n->b && calls(n->b, name)) ||
           (n->c && calls(n->c, name)) || any_calls(n->x, name) || any_calls(n->y, name) ||
           any_calls(n->z, name) || any_calls(n->w, name) || any_calls(n->v, name);
}

/* Results are joined for functions that the one of interest calls, and that do not call themselves:
 * the depth of the recursion is not known. */
static bool joins_results(const machine *m, const scope *s)
{
    return m->calls > 1 && s->owner && s->owner->kind == N_FUNCTION &&
           !any_calls(s->owner->x, s->owner->name);
}

/* -- if ---------------------------------------------------------------------------------------- */

typedef struct branches {
    scope *s;
    const node *n;
    Z3_ast condition;
    nodes rest;   /* the statements that follow, if the sides are joined after those */
    outcome meet; /* DONE: they are joined right after it */
    value *results[2], *joined;
} branches;

/* A side and the statements that follow, as one list: an `if` at its end is joined at the same
 * place. */
static nodes followed(machine *m, nodes first, nodes rest)
{
    const node **all = arena_take(m->arena, (first.count + rest.count + 1) * sizeof *all);
    if (first.count)
        memcpy(all, first.at, first.count * sizeof *all);
    if (rest.count)
        memcpy(all + first.count, rest.at, rest.count * sizeof *all);
    return (nodes){ all, first.count + rest.count };
}

static bool run_branch(machine *m, void *context, bool condition)
{
    branches *b = context;
    nodes body = condition ? b->n->x : b->n->y;
    outcome end = run_until(m, b->s, b->meet == DONE ? body : followed(m, body, b->rest), b->meet);
    if (b->meet == RETURNED && (end == DONE || end == RETURNED)) {
        b->results[condition] = end == DONE ? value_none(m) : m->returned;
        return true;
    }
    return end == DONE || end == b->meet;
}

static bool meet_branches(machine *m, void *context)
{
    branches *b = context;
    if (b->meet == RETURNED)
        b->joined = choose(m, b->condition, b->results[1], b->results[0]);
    return b->meet != RETURNED || b->joined;
}

/* `rest` and `meet`: see branches. `*all`: the rest was run, too. */
static outcome run_if_until(machine *m, scope *s, const node *n, nodes rest, outcome meet,
                            bool *all)
{
    value *test = eval_truth(m, s, n->a);
    if (!test)
        return RAISED;
    watch_branch(m, n, value_term(m, test));
    *all = false;
    if (test->known)
        return run(m, s, test->truth ? n->x : n->y);
    bool leaves = meet != DONE;
    if (may_join(n->x, leaves) && may_join(n->y, leaves) && may_join(rest, leaves)) {
        branches b = { .s = s, .n = n, .condition = test->term, .rest = rest, .meet = meet };
        side sides = { &b, run_branch, meet_branches };
        if (path_join(m, test->term, &sides)) {
            *all = leaves;
            m->returned = b.joined;
            return meet == RETURNED ? RETURNED : DONE;
        }
    }
    return run(m, s, path_decide(m, test->term, true) ? n->x : n->y);
}

outcome run_if(machine *m, scope *s, const node *n)
{
    bool all;
    return run_if_until(m, s, n, (nodes){ 0 }, DONE, &all);
}

/* -- lists of statements ----------------------------------------------------------------------- */

outcome run_until(machine *m, scope *s, nodes body, outcome meet)
{
    node_kind ends = meet == CONTINUED ? N_CONTINUE : N_RETURN;
    bool joins = !m->no_joins && (meet == CONTINUED || (meet == RETURNED && joins_results(m, s)));
    for (size_t i = 0; i < body.count; i++) {
        const node *n = body.at[i];
        step(m);
        if (n->line) /* otherwise it is code of the library: the line of the caller stays */
            m->line = n->line;
        watch_line(m, n->line);
        bool all = false;
        outcome end;
        if (joins && n->kind == N_IF && (has_end(n->x, ends) || has_end(n->y, ends))) {
            nodes rest = { body.at + i + 1, body.count - i - 1 };
            end = run_if_until(m, s, n, rest, meet, &all);
        } else {
            end = run_one(m, s, n);
        }
        if (end != DONE || all)
            return end;
    }
    return DONE;
}

outcome run(machine *m, scope *s, nodes body)
{
    return run_until(m, s, body, DONE);
}

/* -- for, over slots --------------------------------------------------------------------------- */

typedef struct turn {
    scope *s;
    const node *n;
    value *item;
} turn;

static bool run_turn(machine *m, void *context, bool condition)
{
    turn *t = context;
    if (!condition)
        return true;
    if (!assign(m, t->s, t->n->a, t->item))
        return false;
    outcome end = run_until(m, t->s, t->n->x, CONTINUED);
    return end == DONE || end == CONTINUED;
}

outcome run_over_slots(machine *m, scope *s, const node *n, value *of)
{
    slots items = slots_over(m, of, false);
    const value *owner = slots_owner(of);
    unsigned version = owner->version;
    bool may = may_join(n->x, true);
    for (size_t i = 0; i < items.count; i++) {
        slot at = items.at[i];
        step(m);
        if (n->line)
            m->line = n->line;
        turn t = { s, n, at.item };
        side sides = { &t, run_turn, NULL };
        if (!at.guard || !may || !path_join(m, at.guard, &sides)) {
            if (at.guard && !path_decide(m, at.guard, true))
                continue;
            if (!assign(m, s, n->a, at.item))
                return RAISED;
            outcome end = run_until(m, s, n->x, CONTINUED);
            if (end != DONE && end != CONTINUED)
                return end;
        }
        if (!owner->slots || owner->version != version)
            path_unsupported(m, n->line, "iterate over a copy",
                             "a list or dict that changes while it is iterated over");
    }
    return DONE;
}
