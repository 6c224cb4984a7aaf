/* Statements; branching.c has `if`, and where its sides are joined. */
#include <string.h>

#include "interpreter/interpreter.h"
#include "interpreter/interpreter.h"

/* -- loops ------------------------------------------------------------------------------------- */

static outcome run_while(machine *m, scope *s, const node *n)
{
    unsigned undecided = 0;
    for (;;) {
        step(m);
        if (n->line)
            m->line = n->line;
        value *test = eval_truth(m, s, n->a);
        if (!test)
            return RAISED;
        watch_branch(m, n, value_term(m, test));
        bool on = test->truth;
        if (!test->known) {
            if (undecided++ >= m->most_turns)
                path_bound(m, "the number of turns of a loop");
            on = path_decide(m, test->term, false);
        }
        if (!on)
            return run(m, s, n->y);
        outcome end = run_until(m, s, n->x, CONTINUED);
        if (end == BROKE)
            return DONE;
        if (end != DONE && end != CONTINUED)
            return end;
    }
}

static outcome run_for(machine *m, scope *s, const node *n)
{
    value *of = eval(m, s, n->b);
    if (!of || !iterable(m, &of, n->line))
        return RAISED;
    if (slots_owner(of)) {
        outcome end = run_over_slots(m, s, n, of);
        return end == BROKE ? DONE : end == DONE ? run(m, s, n->y) : end;
    }
    cursor at = { 0 };
    for (;;) {
        if (n->line)
            m->line = n->line;
        value *item = item_next(m, of, &at, n->line);
        if (!item)
            return m->raised ? RAISED : run(m, s, n->y);
        if (!assign(m, s, n->a, item))
            return RAISED;
        outcome end = run_until(m, s, n->x, CONTINUED);
        if (end == BROKE)
            return DONE;
        if (end != DONE && end != CONTINUED)
            return end;
    }
}

/* -- assignments ------------------------------------------------------------------------------- */

/* += on a list or set changes it in place. */
static value *in_place(machine *m, operator_kind op, value *l, value *r, int line)
{
    value *result;
    if (kin_in_place(m, op, l, r, &result, line))
        return result;
    if (l->kind == V_LIST && op == OP_ADD) {
        return extend(m, l, r, line) ? l : NULL;
    }
    if (l->kind == V_DICT && op == OP_BITOR && r->kind != V_DICT)
        path_unsupported(m, line, "use update()", "|= of a dict and a %s", value_type(r));
    if ((l->kind == V_LIST && op == OP_MULT) || l->kind == V_SET || l->kind == V_DICT) {
        if (l->kind == V_DICT && op == OP_BITOR && r->kind != V_DICT)
            path_unsupported(m, line, "use update()", "|= of a dict and another kind of value");
        value *made = binary(m, op, l, r, line);
        if (!made || l->frozen)
            return made;
        settle(m, l);
        settle(m, made);
        path_change(m, l);
        l->in.items = made->in.items;
        l->in.others = made->in.others;
        l->version++;
        return l;
    }
    return binary(m, op, l, r, line);
}

static outcome run_augmented(machine *m, scope *s, const node *n)
{
    const node *target = n->a;
    value *of = NULL, *index = NULL, *old;
    if (target->kind == N_NAME) {
        old = scope_get(m, s, target->name);
    } else if (target->kind == N_SUBSCRIPT) {
        if (target->b->kind == N_SLICE)
            path_unsupported(m, n->line, "build a new list", "assignment to a slice");
        of = eval(m, s, target->a);
        index = of ? eval(m, s, target->b) : NULL;
        old = index ? item_get(m, of, index, n->line) : NULL;
    } else {
        of = eval(m, s, target->a);
        old = of ? get_attribute(m, of, target->name, n->line) : NULL;
    }
    value *r = old ? eval(m, s, n->b) : NULL;
    value *v = r ? in_place(m, n->op, old, r, n->line) : NULL;
    if (!v)
        return RAISED;
    if (target->kind == N_NAME)
        scope_set(m, s, target->name, v);
    else if (target->kind == N_SUBSCRIPT)
        return item_set(m, of, index, v, n->line) ? DONE : RAISED;
    else
        return attribute_set(m, of, target->name, v, n->line) ? DONE : RAISED;
    return DONE;
}

static outcome run_delete(machine *m, scope *s, const node *n)
{
    for (size_t i = 0; i < n->x.count; i++) {
        const node *target = n->x.at[i];
        if (target->kind == N_NAME) {
            if (!scope_unset(m, s, target->name))
                return RAISED;
        } else if (target->kind == N_SUBSCRIPT && target->b->kind != N_SLICE) {
            value *of = eval(m, s, target->a), *index = of ? eval(m, s, target->b) : NULL;
            if (!index || !item_delete(m, of, index, n->line))
                return RAISED;
        } else if (target->kind == N_ATTRIBUTE) {
            value *of = eval(m, s, target->a);
            if (!of || !attribute_delete(m, of, target->name, n->line))
                return RAISED;
        } else {
            path_unsupported(m, n->line, "build a new list", "del of %s", tree_construct(target));
        }
    }
    return DONE;
}

/* -- raise and assert -------------------------------------------------------------------------- */

static outcome run_raise(machine *m, scope *s, const node *n)
{
    if (!n->a) {
        if (!m->handling)
            throw(m, "RuntimeError", n->line);
        else
            m->raised = m->handling;
        return RAISED;
    }
    value *v = eval(m, s, n->a);
    if (v && v->kind == V_CLASS && v->class.exception)
        v = make_object(m, v, &(arguments){ 0 }, n->line);
    value *cause = v && n->b ? eval(m, s, n->b) : NULL;
    if (!v || (n->b && !cause))
        return RAISED;
    if (cause && cause->kind != V_NONE && cause->kind != V_OBJECT && cause->kind != V_CLASS)
        path_unsupported(m, n->line, "raise from an exception", "this cause of an exception");
    if (v->kind != V_OBJECT || !v->object.class->class.exception)
        throw(m, "TypeError", n->line);
    else
        throw_value(m, v, n->line);
    if (!n->line) { /* raised by the library: its message is not modelled */
        check_mixed(m, value_type(m->raised), 0);
        m->raised->object.opaque = true;
    }
    return RAISED;
}

/* True for an assert at the beginning of a function, after its docstring. */
static bool is_precondition(const machine *m, const node *n)
{
    if (!m->contract_of || m->calls != 1)
        return false;
    nodes body = m->contract_of->x;
    for (size_t i = 0; i < body.count; i++) {
        const node *at = body.at[i];
        if (at == n)
            return true;
        bool docstring = i == 0 && at->kind == N_EXPR && at->a->kind == N_CONSTANT;
        if (at->kind != N_ASSERT && !docstring)
            return false;
    }
    return false;
}

static outcome run_assert(machine *m, scope *s, const node *n)
{
    value *test = eval_truth(m, s, n->a);
    if (!test)
        return RAISED;
    if (is_precondition(m, n)) {
        path_require(m, value_term(m, test));
        return DONE;
    }
    if (test->known ? test->truth : path_decide(m, test->term, true))
        return DONE;
    values given = { 0 };
    if (n->b) {
        value *words = eval(m, s, n->b);
        if (!words)
            return RAISED;
        values_add(m, &given, words);
    }
    throw_value(m, new_exception(m, exception_class(m, "AssertionError"), given), n->line);
    return RAISED;
}

/* -- all of them ------------------------------------------------------------------------------- */

static outcome run_assign(machine *m, scope *s, const node *n)
{
    value *v = eval(m, s, n->a);
    for (size_t i = 0; v && i < n->x.count; i++)
        if (!assign(m, s, n->x.at[i], v))
            return RAISED;
    return v ? DONE : RAISED;
}

static outcome run_annotated(machine *m, scope *s, const node *n)
{
    value *v = n->c ? eval(m, s, n->c) : NULL;
    if (n->c && (!v || !assign(m, s, n->a, v)))
        return RAISED;
    /* Within a function it is not evaluated. */
    return s->owner || annotation_exists(m, s, n->b) ? DONE : RAISED;
}

static outcome run_function(machine *m, scope *s, const node *n)
{
    value *v = decorated_function(m, s, n);
    if (v)
        scope_set(m, s, n->name, v);
    return v ? DONE : RAISED;
}

outcome run_one(machine *m, scope *s, const node *n)
{
    switch (n->kind) {
    case N_EXPR:
        return eval(m, s, n->a) ? DONE : RAISED;
    case N_ASSIGN:
        return run_assign(m, s, n);
    case N_ANNASSIGN:
        return run_annotated(m, s, n);
    case N_AUGASSIGN:
        return run_augmented(m, s, n);
    case N_RETURN:
        m->returned = n->a ? eval(m, s, n->a) : value_none(m);
        return m->returned ? RETURNED : RAISED;
    case N_IF:
        return run_if(m, s, n);
    case N_WHILE:
        return run_while(m, s, n);
    case N_FOR:
        return run_for(m, s, n);
    case N_RAISE:
        return run_raise(m, s, n);
    case N_ASSERT:
        return run_assert(m, s, n);
    case N_TRY:
        return run_try(m, s, n);
    case N_WITH:
        return run_with(m, s, n);
    case N_MATCH:
        return run_match(m, s, n);
    case N_FUNCTION:
        return run_function(m, s, n);
    case N_CLASS:
        if (n->v.count)
            path_unsupported(m, n->line, "leave them out", "type parameters");
        return run_class(m, s, n);
    case N_IMPORT:
    case N_IMPORT_FROM:
        return run_import(m, s, n);
    case N_GLOBAL:
    case N_NONLOCAL: /* see scope_declare() */
        return DONE;
    case N_DELETE:
        return run_delete(m, s, n);
    case N_PASS:
        return DONE;
    case N_BREAK:
        return BROKE;
    case N_CONTINUE:
        return CONTINUED;
    default:
        path_unsupported(m, n->line, "write it with if, for, while, try, return and raise", "%s",
                         tree_construct(n));
    }
}
