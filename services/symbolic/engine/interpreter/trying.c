/* try, except, else, finally. */
#include "interpreter/interpreter.h"

/* True if this handler handles the exception. -1: evaluating its type raised another one. */
static int handles(machine *m, scope *s, const node *handler, value *raised)
{
    if (!handler->a)
        return 1;
    value *of = eval(m, s, handler->a);
    if (!of)
        return -1;
    values one = { &of, 1, 1 };
    const values *classes = of->kind == V_TUPLE ? &of->in.items : &one;
    for (size_t i = 0; i < classes->count; i++) {
        const value *class = classes->at[i];
        if (class->kind != V_CLASS || !class->class.exception) {
            throw(m, "TypeError", handler->line);
            return -1;
        }
        if (is_subclass(raised->object.class, class))
            return 1;
    }
    return 0;
}

int find_handler(machine *m, scope *s, const node *n, value *raised, const node **out)
{
    for (size_t i = 0; i < n->y.count; i++) {
        watch_line(m, n->y.at[i]->line); /* its line is run, whether it handles this one or not */
        int is = handles(m, s, n->y.at[i], raised);
        *out = n->y.at[i];
        if (is != 0)
            return is;
    }
    return 0;
}

static outcome run_handlers(machine *m, scope *s, const node *n)
{
    value *raised = m->raised, *outer = m->handling;
    const node *handler = NULL;
    m->raised = NULL;
    m->handling = raised;
    int is = find_handler(m, s, n, raised, &handler);
    outcome end = RAISED;
    if (is > 0) {
        if (handler->name)
            scope_set(m, s, handler->name, raised);
        end = run(m, s, handler->x);
        if (handler->name)
            scope_forget(m, s, handler->name);
    } else if (is == 0) {
        m->raised = raised;
    }
    m->handling = outer;
    return end;
}

outcome run_try(machine *m, scope *s, const node *n)
{
    outcome end = run(m, s, n->x);
    if (end == RAISED)
        end = run_handlers(m, s, n);
    else if (end == DONE)
        end = run(m, s, n->z);
    if (n->w.count == 0)
        return end;
    /* A pending exception or return waits for `finally`, which may replace it. */
    value *raised = m->raised, *returned = m->returned, *outer = m->handling;
    m->raised = NULL;
    if (end == RAISED)
        m->handling = raised;
    outcome last = run(m, s, n->w);
    m->handling = outer;
    if (last != DONE)
        return last;
    m->raised = raised;
    m->returned = returned;
    return end;
}
