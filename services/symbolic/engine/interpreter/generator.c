/*
 * Generator functions: how a function stops at `yield`, and how it is resumed.
 *
 * A statement without a yield inside is run as any other. One with a yield becomes a frame on a
 * stack of the generator's own: a block, a loop, a try. So nothing of it is on the stack of the
 * interpreter while it waits, and a path can be left at any point. A yield stands alone in a
 * statement: `yield x`, `y = yield x`, `yield from x`, `y = yield from x`.
 *
 * A generator that is dropped before its end is closed by Python: GeneratorExit is raised at its
 * yield. Code that could notice that (`finally`, `except BaseException`) is not supported around a
 * yield.
 */
#include <string.h>

#include "interpreter/interpreter.h"

enum { MOST_FRAMES = 60 };

typedef struct frame {
    enum { F_BLOCK, F_FOR, F_WHILE, F_TRY, F_HANDLER, F_FROM, F_SENT } kind;
    const node *n;
    nodes body; /* F_BLOCK: its statements, of which `at` is the next */
    size_t at;
    value *of; /* F_FOR, F_FROM: the iterable */
    cursor cursor;
    unsigned undecided;
    value *outer; /* F_HANDLER: the exception that was handled before */
} frame;

struct generator {
    scope *scope;
    frame frames[MOST_FRAMES];
    size_t count;
    value *handling; /* the exception that one of its handlers handles */
    value *around;   /* … and the exception that the code handles which asks for an item */
    value *returned; /* the value of its `return` */
    bool running;
};

value *make_generator(machine *m, const node *function, scope *inside)
{
    value *v = value_new(m, V_ITERATOR);
    struct generator *g = arena_take(m->arena, sizeof *g);
    v->iterator.how = BY_FUNCTION;
    v->iterator.generator = g;
    g->scope = inside;
    g->count = 1;
    g->frames[0] = (frame){ .kind = F_BLOCK, .body = function->x };
    return v;
}

/* -- frames ------------------------------------------------------------------------------------ */

static void push(machine *m, struct generator *g, frame f)
{
    if (g->count == MOST_FRAMES)
        path_bound(m, "the depth of statements in a generator");
    g->frames[g->count++] = f;
}

static void push_block(machine *m, struct generator *g, nodes body)
{
    push(m, g, (frame){ .kind = F_BLOCK, .body = body });
}

/* An exception reaches a `try`: enter its handler. RAISED: there is none. */
static outcome enter_handler(machine *m, struct generator *g, const node *n)
{
    value *raised = m->raised, *outer = m->handling;
    const node *handler = NULL;
    m->raised = NULL;
    m->handling = raised;
    int is = find_handler(m, g->scope, n, raised, &handler);
    if (is <= 0) {
        m->handling = outer;
        m->raised = is < 0 ? m->raised : raised;
        return RAISED;
    }
    if (handler->name)
        scope_set(m, g->scope, handler->name, raised);
    outer = outer == g->around ? NULL : outer;
    push(m, g, (frame){ .kind = F_HANDLER, .n = handler, .outer = outer });
    push_block(m, g, handler->x);
    return DONE;
}

static void leave_handler(machine *m, struct generator *g, const frame *f)
{
    if (f->n->name)
        scope_forget(m, g->scope, f->n->name);
    m->handling = f->outer ? f->outer : g->around;
}

/* A statement did not end normally: leave the frames that it leaves. */
static outcome unwind(machine *m, struct generator *g, outcome end)
{
    while (g->count) {
        frame *f = &g->frames[g->count - 1];
        bool loop = f->kind == F_FOR || f->kind == F_WHILE;
        if (loop && end == CONTINUED)
            return DONE;
        g->count--;
        frame left = *f;
        if (loop && end == BROKE)
            return DONE;
        if (left.kind == F_HANDLER)
            leave_handler(m, g, &left);
        if (left.kind == F_TRY && end == RAISED && enter_handler(m, g, left.n) == DONE)
            return DONE;
    }
    return end;
}

/* -- statements with a yield inside ------------------------------------------------------------ */

static bool catches_exit(machine *m, const value *class)
{
    return class->kind != V_CLASS || is_subclass(exception_class(m, "GeneratorExit"), class);
}

/* Python closes a dropped generator by an exception at its yield. */
static void check_try(machine *m, scope *s, const node *n)
{
    if (n->w.count)
        path_unsupported(m, n->line, "yield outside of it", "a yield inside of try … finally");
    for (size_t i = 0; tree_any_yields(n->x) && i < n->y.count; i++) {
        const node *handler = n->y.at[i];
        value *of = handler->a ? eval(m, s, handler->a) : NULL;
        bool good = of && (of->kind == V_TUPLE || !catches_exit(m, of));
        for (size_t j = 0; good && of->kind == V_TUPLE && j < of->in.items.count; j++)
            good = !catches_exit(m, of->in.items.at[j]);
        if (!good)
            path_unsupported(m, n->line, "name the exceptions",
                             "a yield inside of a try that handles GeneratorExit");
    }
}

/* `y = yield x` and the like: `*out` is the item; NULL and DONE: go on. */
static outcome begin_yield(machine *m, struct generator *g, const node *n, const node *yield,
                           value **out)
{
    bool bare = n->kind == N_EXPR;
    if (!bare && n->kind != N_ASSIGN)
        path_unsupported(m, n->line, "give it a statement of its own", "a yield in this statement");
    value *v = yield->a ? eval(m, g->scope, yield->a) : value_none(m);
    if (!v)
        return RAISED;
    if (yield->kind == N_YIELD_FROM) {
        if (!iterable(m, &v, n->line))
            return RAISED;
        push(m, g, (frame){ .kind = F_FROM, .n = bare ? NULL : n, .of = v });
        return DONE;
    }
    if (!bare)
        push(m, g, (frame){ .kind = F_SENT, .n = n });
    *out = v;
    return DONE;
}

static outcome begin_statement(machine *m, struct generator *g, const node *n, value **out)
{
    scope *s = g->scope;
    if ((n->kind == N_EXPR || n->kind == N_ASSIGN) && n->a &&
        (n->a->kind == N_YIELD || n->a->kind == N_YIELD_FROM) && !(n->a->a && tree_yields(n->a->a)))
        return begin_yield(m, g, n, n->a, out);
    switch (n->kind) {
    case N_IF: {
        value *test = tree_yields(n->a) ? NULL : eval_truth(m, s, n->a);
        if (!test && m->raised)
            return RAISED;
        if (!test)
            break;
        watch_branch(m, n, value_term(m, test));
        bool way = test->known ? test->truth : path_decide(m, test->term, true);
        push_block(m, g, way ? n->x : n->y);
        return DONE;
    }
    case N_WHILE:
        if (tree_yields(n->a))
            break;
        push(m, g, (frame){ .kind = F_WHILE, .n = n });
        return DONE;
    case N_FOR: {
        value *of = tree_yields(n->b) || tree_yields(n->a) ? NULL : eval(m, s, n->b);
        if (!of && !m->raised)
            break;
        if (!of || !iterable(m, &of, n->line))
            return RAISED;
        push(m, g, (frame){ .kind = F_FOR, .n = n, .of = of });
        return DONE;
    }
    case N_TRY:
        check_try(m, s, n);
        push(m, g, (frame){ .kind = F_TRY, .n = n });
        push_block(m, g, n->x);
        return DONE;
    default:
        break;
    }
    path_unsupported(m, n->line, "give it a statement of its own", "a yield in this statement");
}

static outcome next_statement(machine *m, struct generator *g, frame *f, value **out)
{
    const node *n = f->body.at[f->at++], *one[] = { n };
    if (!tree_yields(n))
        return run(m, g->scope, (nodes){ one, 1 });
    step(m);
    if (n->line)
        m->line = n->line;
    watch_line(m, n->line);
    return begin_statement(m, g, n, out);
}

/* -- frames that are on top again -------------------------------------------------------------- */

static outcome next_turn(machine *m, struct generator *g, frame *f)
{
    const node *n = f->n;
    if (n->line)
        m->line = n->line;
    step(m);
    bool on = true;
    if (f->kind == F_FOR) {
        value *item = item_next(m, f->of, &f->cursor, n->line);
        if (m->raised || (item && !assign(m, g->scope, n->a, item)))
            return RAISED;
        on = item != NULL;
    } else {
        value *test = eval_truth(m, g->scope, n->a);
        if (!test)
            return RAISED;
        watch_branch(m, n, value_term(m, test));
        if (!test->known && f->undecided++ >= m->most_turns)
            path_bound(m, "the number of turns of a loop");
        on = test->known ? test->truth : path_decide(m, test->term, false);
    }
    if (!on)
        g->count--;
    push_block(m, g, on ? n->x : n->y);
    return DONE;
}

static bool assign_all(machine *m, scope *s, const node *n, value *v)
{
    for (size_t i = 0; n && i < n->x.count; i++)
        if (!assign(m, s, n->x.at[i], v))
            return false;
    return true;
}

/* `yield from`: an item of another iterator, or, after its end, the value that it returned. */
static outcome delegate(machine *m, struct generator *g, frame *f, value **out)
{
    *out = item_next(m, f->of, &f->cursor, m->line);
    if (*out || m->raised)
        return *out ? DONE : RAISED;
    frame left = *f;
    bool generator = left.of->kind == V_ITERATOR && left.of->iterator.how == BY_FUNCTION;
    value *result = generator ? left.of->iterator.generator->returned : NULL;
    if (left.n && left.of->kind == V_OBJECT)
        path_unsupported(m, left.n->line, "use a for loop", "the value of yield from an object");
    g->count--;
    return assign_all(m, g->scope, left.n, result ? result : value_none(m)) ? DONE : RAISED;
}

static outcome advance(machine *m, struct generator *g, value **out)
{
    frame *f = &g->frames[g->count - 1];
    switch (f->kind) {
    case F_BLOCK:
        if (f->at < f->body.count)
            return next_statement(m, g, f, out);
        g->count--;
        return DONE;
    case F_FOR:
    case F_WHILE:
        return next_turn(m, g, f);
    case F_TRY: { /* its body has ended */
        nodes otherwise = f->n->z;
        g->count--;
        push_block(m, g, otherwise);
        return DONE;
    }
    case F_HANDLER: {
        frame left = *f;
        g->count--;
        leave_handler(m, g, &left);
        return DONE;
    }
    case F_FROM:
        return delegate(m, g, f, out);
    case F_SENT: {
        const node *n = f->n;
        g->count--;
        return assign_all(m, g->scope, n, value_none(m)) ? DONE : RAISED; /* next() sends None */
    }
    }
    return DONE;
}

/* -- next() ------------------------------------------------------------------------------------ */

static value *resumed(machine *m, struct generator *g)
{
    while (g->count) {
        value *out = NULL;
        outcome end = advance(m, g, &out);
        if (out)
            return out;
        if (end == DONE)
            continue;
        if (end == RETURNED)
            g->returned = m->returned;
        end = unwind(m, g, end);
        if (end != DONE)
            break;
    }
    g->count = 0;
    return NULL;
}

value *generator_next(machine *m, value *of, int line)
{
    struct generator *g = of->iterator.generator;
    if (g->running)
        return throw(m, "ValueError", line);
    if (!g->count) {
        g->returned = NULL; /* returned only once */
        return NULL;
    }
    if (m->calls >= MOST_CALLS)
        path_bound(m, "the depth of calls");
    int at = m->line;
    value *outer = m->handling;
    g->around = outer;
    m->handling = g->handling ? g->handling : outer;
    m->calls++;
    g->running = true;
    value *item = resumed(m, g);
    g->running = false;
    m->calls--;
    g->handling = m->handling != outer ? m->handling : NULL;
    m->handling = outer;
    m->line = at;
    /* StopIteration in a generator becomes a RuntimeError (PEP 479). */
    if (!item && m->raised &&
        is_subclass(m->raised->object.class, exception_class(m, "StopIteration")))
        throw(m, "RuntimeError", line);
    return item;
}
