/* Comprehensions and generator expressions. */
#include "interpreter/interpreter.h"

static bool comprehend(machine *m, scope *s, const node *n, size_t at, value *made);
static bool comprehend_if(machine *m, scope *s, const node *n, size_t at, size_t from, value *made);

/* The element that is added if a condition holds: the clause `at` from its condition `from` on. */
typedef struct addition {
    scope *s;
    const node *n;
    size_t at, from;
    /* `item`: the value that the clause binds first; NULL: it is bound already. */
    value *made, *item;
} addition;

static bool run_addition(machine *m, void *context, bool condition)
{
    addition *a = context;
    if (!condition)
        return true;
    return (!a->item || assign(m, a->s, a->n->x.at[a->at]->a, a->item)) &&
           comprehend_if(m, a->s, a->n, a->at, a->from, a->made);
}

static bool comprehend_if(machine *m, scope *s, const node *n, size_t at, size_t from, value *made)
{
    nodes conditions = n->x.at[at]->x;
    for (size_t i = from; i < conditions.count; i++) {
        value *truth = eval_truth(m, s, conditions.at[i]);
        if (!truth)
            return false;
        if (!truth->known) {
            addition a = { s, n, at, i + 1, made, NULL };
            side sides = { &a, run_addition, NULL };
            if (path_join(m, truth->term, &sides))
                return true;
        }
        if (!(truth->known ? truth->truth : path_decide(m, truth->term, true)))
            return true;
    }
    return comprehend(m, s, n, at + 1, made);
}

static bool comprehend_slots(machine *m, scope *s, const node *n, size_t at, value *of, value *made)
{
    slots items = slots_over(m, of, false);
    const value *owner = slots_owner(of);
    unsigned version = owner->version;
    for (size_t i = 0; i < items.count; i++) {
        addition a = { s, n, at, 0, made, items.at[i].item };
        side sides = { &a, run_addition, NULL };
        Z3_ast guard = items.at[i].guard;
        step(m);
        bool joined = guard && path_join(m, guard, &sides);
        if (!joined && (!guard || path_decide(m, guard, true)) && !run_addition(m, &a, true))
            return false;
        if (!owner->slots || owner->version != version)
            path_unsupported(m, n->line, "iterate over a copy",
                             "a list or dict that changes while it is iterated over");
    }
    return true;
}

/* The clause `at`, over its iterable. */
static bool comprehend_over(machine *m, scope *s, const node *n, size_t at, value *of, value *made)
{
    const node *clause = n->x.at[at];
    if (slots_owner(of))
        return comprehend_slots(m, s, n, at, of, made);
    cursor from = { 0 };
    value *item;
    while ((item = item_next(m, of, &from, clause->b->line))) {
        if (!assign(m, s, clause->a, item))
            return false;
        if (!comprehend_if(m, s, n, at, 0, made))
            return false;
    }
    return !m->raised;
}

/* The clauses of a comprehension from `at` on, with an element at the innermost. */
static bool comprehend(machine *m, scope *s, const node *n, size_t at, value *made)
{
    if (at == n->x.count) {
        value *v = eval(m, s, n->a);
        if (!v)
            return false;
        if (n->kind == N_DICTCOMP) {
            value *other = eval(m, s, n->b);
            return other && set_key(m, made, v, other, n->line);
        }
        if (n->kind == N_SETCOMP)
            return add_item(m, made, v, n->line);
        path_change(m, made);
        if (made->slots)
            slots_add(m, made->slots, NULL, v, NULL);
        else
            values_add(m, &made->in.items, v);
        return true;
    }
    const node *clause = n->x.at[at];
    if (clause->number)
        path_unsupported(m, n->line, NULL, "an async comprehension");
    /* The first iterable belongs to the scope around the comprehension. */
    value *of = eval(m, at == 0 ? s->up : s, clause->b);
    if (!of || !iterable(m, &of, clause->b->line))
        return false;
    return comprehend_over(m, s, n, at, of, made);
}

static scope *inner_scope(machine *m, scope *s)
{
    scope *inner = scope_new(m, s, NULL);
    inner->comprehension = true;
    return inner;
}

value *eval_comprehension(machine *m, scope *s, const node *n)
{
    scope *inner = inner_scope(m, s);
    if (n->kind == N_GENERATOR) {
        const node *clause = n->x.at[0];
        if (n->x.count != 1 || clause->number)
            path_unsupported(m, n->line, "use a list comprehension",
                             "a generator expression with several for clauses");
        value *of = eval(m, s, clause->b);
        if (!of || !iterable(m, &of, clause->b->line))
            return NULL;
        values sources = { 0 };
        values_add(m, &sources, of);
        value *made = iterator_from(m, BY_GENERATOR, sources);
        made->iterator.node = n;
        made->iterator.scope = inner;
        return made;
    }
    value *made = value_new(m, n->kind == N_LISTCOMP   ? V_LIST
                               : n->kind == N_DICTCOMP ? V_DICT
                                                       : V_SET);
    return comprehend(m, inner, n, 0, made) ? made : NULL;
}

/* -- one item -------------------------------------------------------------------------------------
 */

/* StopIteration in a generator becomes a RuntimeError (PEP 479). */
static value *generator_raised(machine *m, value *of, int line)
{
    of->iterator.ended = true;
    if (m->raised && is_subclass(m->raised->object.class, exception_class(m, "StopIteration")))
        throw(m, "RuntimeError", line);
    return NULL;
}

value *expression_next(machine *m, value *of, int line)
{
    const node *n = of->iterator.node, *clause = n->x.at[0];
    if (of->iterator.ended)
        return NULL;
    for (;;) {
        value *item = item_next(m, of->iterator.sources.at[0], of->iterator.cursors, line);
        if (!item || !assign(m, of->iterator.scope, clause->a, item))
            return generator_raised(m, of, line);
        bool wanted = true;
        for (size_t i = 0; wanted && i < clause->x.count; i++) {
            value *truth = eval_truth(m, of->iterator.scope, clause->x.at[i]);
            int is = truth ? decide_truth(m, truth, true) : -1;
            if (is < 0)
                return generator_raised(m, of, line);
            wanted = is;
        }
        if (wanted) {
            value *made = eval(m, of->iterator.scope, n->a);
            return made ? made : generator_raised(m, of, line);
        }
    }
}

/* -- all items at once ------------------------------------------------------------------------- */

typedef struct eager {
    value *of, *list;
} eager;

static bool run_eager(machine *m, void *context, bool condition)
{
    eager *e = context;
    if (!condition)
        return true;
    e->list = value_new(m, V_LIST);
    return comprehend_over(m, e->of->iterator.scope, e->of->iterator.node, 0,
                           e->of->iterator.sources.at[0], e->list);
}

static bool meet_eager(machine *m, void *context)
{
    const eager *e = context;
    return journal_has_only(m->path.speculating, e->of->iterator.scope);
}

value *items_at_once(machine *m, value *of)
{
    if (of->kind != V_ITERATOR || of->iterator.how != BY_GENERATOR || !of->frozen ||
        of->iterator.ended || of->iterator.cursors->turn > 0)
        return NULL;
    eager e = { .of = of };
    side sides = { &e, run_eager, meet_eager };
    if (!path_join(m, m->solver->yes, &sides))
        return NULL;
    of->iterator.ended = true;
    return e.list;
}
