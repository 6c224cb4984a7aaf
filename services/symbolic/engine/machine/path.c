/* Forks, joins and the trail: see path.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"

/* -- leaving a path ---------------------------------------------------------------------------- */

/* A speculation that fails does not end the path: the path forks instead. */
static bool ends_analysis(stop_kind kind)
{
    return kind == STOP_DEADLINE || kind == STOP_CONTRADICTION;
}

/* Give up the innermost speculation. */
_Noreturn static void leave(machine *m, Z3_ast hoist)
{
    m->path.hoist = hoist;
    longjmp(m->path.speculating->back, 1);
}

_Noreturn void path_stop(machine *m, stop why)
{
    if (m->path.speculating && !ends_analysis(why.kind))
        leave(m, NULL);
    m->path.stop = why;
    longjmp(*m->path.ended, 1);
}

_Noreturn void path_unsupported(machine *m, int line, const char *rewrite, const char *format, ...)
{
    char words[512];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    path_stop(m, (stop){ STOP_UNSUPPORTED, line ? line : m->line,
                         arena_copy(m->kept, words, strlen(words)), rewrite });
}

_Noreturn void path_bound(machine *m, const char *what)
{
    path_stop(m, (stop){ STOP_BOUND, m->line, arena_copy(m->kept, what, strlen(what)), NULL });
}

static void check_deadline(machine *m)
{
    if (m->solver->contradiction)
        path_stop(m, (stop){ STOP_CONTRADICTION, m->line, "the two solvers disagree", NULL });
    if (solver_interrupted() || m->solver->broken || clock_ns() > m->solver->deadline_ns)
        path_stop(m, (stop){ STOP_DEADLINE, m->line, "the time is over", NULL });
}

void step(machine *m)
{
    m->steps++;
    if ((m->steps & 255) == 0)
        check_deadline(m);
    if (m->steps > MOST_STEPS)
        path_bound(m, "the number of steps of a path");
}

/* -- the trail --------------------------------------------------------------------------------- */

bool path_is_replaying(const machine *m)
{
    return m->path.at < m->path.count;
}

static mark *add_mark(machine *m, mark added)
{
    path *p = &m->path;
    if (p->count == p->room) {
        size_t room = 2 * p->room + 64;
        mark *marks = realloc(p->marks, room * sizeof *marks);
        if (!marks)
            path_stop(m, (stop){ STOP_BOUND, m->line, "memory", NULL });
        p->marks = marks;
        p->room = room;
    }
    p->marks[p->count] = added;
    p->at = p->count + 1;
    return &p->marks[p->count++];
}

static void cut_trail(machine *m, size_t count)
{
    path *p = &m->path;
    while (p->count > count)
        solver_drop(m->solver, p->marks[--p->count].other);
    if (p->at > count)
        p->at = count;
}

static void set_model(machine *m, Z3_model model)
{
    solver_drop(m->solver, m->path.model);
    m->path.model = model;
}

/* The conditions of speculations are passed to the solver when it is first asked inside of them. */
static void tell_speculations(machine *m, speculation *s)
{
    if (!s)
        return;
    tell_speculations(m, s->outer);
    /* An inner speculation may have reset the solver. */
    if (s->told && m->solver->scopes >= s->told)
        return;
    solver_push(m->solver);
    solver_assert(m->solver, s->condition);
    s->told = m->solver->scopes;
}

static answer ask_solver(machine *m, Z3_ast condition, Z3_model *model)
{
    check_deadline(m);
    tell_speculations(m, m->path.speculating);
    answer found = solver_check(m->solver, condition, model);
    if (m->solver->contradiction)
        check_deadline(m);
    return found;
}

answer path_possible(machine *m, Z3_ast condition, Z3_model *model)
{
    return ask_solver(m, condition, model);
}

/* The answer of the current model, without asking the solver. */
static answer guess(machine *m, Z3_ast condition)
{
    if (!m->path.model || m->path.speculating)
        return ANSWER_UNKNOWN;
    Z3_ast told = solver_value(m->solver, m->path.model, condition);
    return !told                              ? ANSWER_UNKNOWN
           : solver_is_true(m->solver, told)  ? ANSWER_SAT
           : solver_is_false(m->solver, told) ? ANSWER_UNSAT
                                              : ANSWER_UNKNOWN;
}

/* Move the solver and the model to the chosen side. */
static void go(machine *m, Z3_ast condition, bool choice)
{
    solver_push(m->solver);
    solver_assert(m->solver, choice ? condition : Z3_mk_not(m->solver->z, condition));
}

/* The conditions of all speculations, and `condition`. */
static Z3_ast within(machine *m, Z3_ast condition)
{
    Z3_context z = m->solver->z;
    for (const speculation *at = m->path.speculating; at; at = at->outer)
        condition = Z3_mk_and(z, 2, (Z3_ast[]){ at->condition, condition });
    return condition;
}

bool path_decide(machine *m, Z3_ast condition, bool prefer)
{
    solver *s = m->solver;
    path *p = &m->path;
    condition = solver_simplify(s, condition);
    if (solver_is_true(s, condition))
        return true;
    if (solver_is_false(s, condition))
        return false;
    if (path_is_replaying(m)) {
        const mark *told = &p->marks[p->at++];
        p->unsure |= told->unsure;
        p->forks += told->kind == MARK_FORK;
        return told->choice;
    }
    Z3_model models[2] = { NULL, NULL };
    answer possible[2];
    answer guessed = guess(m, condition);
    for (int way = 0; way < 2; way++) {
        if (guessed == (way ? ANSWER_SAT : ANSWER_UNSAT)) {
            possible[way] = ANSWER_SAT;
            models[way] = p->model;
            solver_keep(s, models[way]);
        } else {
            possible[way] = ask_solver(m, way ? condition : Z3_mk_not(s->z, condition),
                                       &models[way]);
        }
    }
    if (possible[0] == ANSWER_UNSAT && possible[1] == ANSWER_UNSAT)
        path_stop(m, (stop){ STOP_INFEASIBLE, m->line, NULL, NULL });
    if (possible[0] == ANSWER_UNSAT || possible[1] == ANSWER_UNSAT) {
        bool choice = possible[1] != ANSWER_UNSAT;
        if (!p->speculating)
            set_model(m, models[choice]);
        else
            solver_drop(s, models[choice]);
        add_mark(m, (mark){ MARK_FORCED, .choice = choice });
        return choice;
    }
    if (p->speculating) {
        solver_drop(s, models[0]);
        solver_drop(s, models[1]);
        leave(m, within(m, prefer ? Z3_mk_not(s->z, condition) : condition));
    }
    if (++p->forks > m->most_forks) {
        solver_drop(s, models[0]);
        solver_drop(s, models[1]);
        path_bound(m, "the number of decisions on a path");
    }
    add_mark(m, (mark){ MARK_FORK, .choice = prefer, .left = true,
                        .unsure = possible[prefer] == ANSWER_UNKNOWN,
                        .left_unsure = possible[!prefer] == ANSWER_UNKNOWN, .scopes = s->scopes,
                        .condition = condition, .other = models[!prefer] });
    p->unsure |= possible[prefer] == ANSWER_UNKNOWN;
    set_model(m, models[prefer]);
    go(m, condition, prefer);
    return prefer;
}

bool path_sure(machine *m, Z3_ast condition)
{
    solver *s = m->solver;
    condition = solver_simplify(s, condition);
    if (solver_is_true(s, condition) || solver_is_false(s, condition))
        return solver_is_true(s, condition);
    if (path_is_replaying(m))
        return m->path.marks[m->path.at++].choice;
    bool sure = guess(m, condition) != ANSWER_UNSAT &&
                ask_solver(m, Z3_mk_not(s->z, condition), NULL) == ANSWER_UNSAT;
    add_mark(m, (mark){ MARK_FORCED, .choice = sure });
    return sure;
}

void path_require(machine *m, Z3_ast condition)
{
    solver *s = m->solver;
    condition = solver_simplify(s, condition);
    if (solver_is_true(s, condition))
        return;
    if (solver_is_false(s, condition))
        path_stop(m, (stop){ STOP_INFEASIBLE, m->line, NULL, NULL });
    if (path_is_replaying(m)) {
        m->path.unsure |= m->path.marks[m->path.at++].unsure;
        return;
    }
    if (m->path.speculating)
        leave(m, NULL);
    Z3_model model = m->path.model;
    answer possible = guess(m, condition);
    if (possible == ANSWER_SAT)
        solver_keep(s, model);
    else
        possible = ask_solver(m, condition, &model);
    if (possible == ANSWER_UNSAT)
        path_stop(m, (stop){ STOP_INFEASIBLE, m->line, NULL, NULL });
    bool unsure = possible == ANSWER_UNKNOWN;
    add_mark(m, (mark){ MARK_REQUIRED, .choice = true, .unsure = unsure, .scopes = s->scopes,
                        .condition = condition });
    m->path.unsure |= unsure;
    set_model(m, model);
    go(m, condition, true);
}

void path_assume(machine *m, Z3_ast condition)
{
    if (m->path.speculating)
        leave(m, NULL);
    if (path_is_replaying(m)) {
        m->path.at++;
        return;
    }
    add_mark(m, (mark){ MARK_REQUIRED, .choice = true, .scopes = m->solver->scopes,
                        .condition = condition });
    if (guess(m, condition) != ANSWER_SAT)
        set_model(m, NULL);
    go(m, condition, true);
}

/* -- joins ------------------------------------------------------------------------------------- */

void path_join_ends(machine *m, unsigned serial)
{
    if (m->path.speculating && serial < m->path.speculating->serial)
        leave(m, NULL);
}

/* A value that outlives the call must not be changed. */
static void check_lasting(machine *m, unsigned serial)
{
    m->module_changed |= serial < m->loaded;
    if (serial < m->lasting)
        path_unsupported(m, m->line, "change only what the function makes or is given",
                         "a change of what outlives the call");
}

void path_touch(machine *m, unsigned serial)
{
    path_join_ends(m, serial);
    check_lasting(m, serial);
}

void path_reshape(machine *m, value *v)
{
    bool noted = (v->kind == V_LIST && !v->of_class) || v->kind == V_DICT || v->kind == V_SET ||
                 v->kind == V_OBJECT;
    for (speculation *at = m->path.speculating; at && v->serial < at->serial; at = at->outer) {
        if (!noted || !at->joins)
            leave(m, NULL);
        journal_value(m, at, v);
    }
}

void path_change(machine *m, value *v)
{
    path_reshape(m, v);
    check_lasting(m, v->serial);
    v->version += v->kind == V_LIST && !v->of_class; /* a deque counts its changes itself */
}

void path_change_names(machine *m, scope *s, bool own)
{
    for (speculation *at = m->path.speculating; at && s->serial < at->serial; at = at->outer)
        if (at->joins)
            journal_names(m, at, s);
        else if (!own)
            leave(m, NULL);
    if (!own)
        check_lasting(m, s->serial);
}

typedef enum sides_end {
    SIDES_JOINED,
    SIDES_APART, /* their results cannot be joined */
    SIDES_LEFT, /* one of them leaves the block, or does something that cannot be joined: `*left` */
} sides_end;

/* `*left`: the condition of the side that failed. */
static sides_end run_sides(machine *m, Z3_ast condition, const side *sides, Z3_ast *left)
{
    speculation here = { .outer = m->path.speculating,
                         .serial = m->serial,
                         .scopes = m->solver->scopes,
                         .joins = true };
    const unsigned calls = m->calls, nested = m->nested;
    const int line = m->line;
    value *const handling = m->handling, *const returned = m->returned;
    m->path.speculating = &here;
    m->path.hoist = NULL;
    volatile sides_end end = SIDES_LEFT;
    if (setjmp(here.back) == 0) {
        here.condition = condition;
        if (sides->run(m, sides->context, true)) {
            solver_pop_to(m->solver, here.scopes);
            here.told = 0;
            here.condition = Z3_mk_not(m->solver->z, condition);
            journal_turn(m, &here);
            here.second = true;
            if (sides->run(m, sides->context, false)) {
                end = SIDES_APART; /* unless it ends normally, without a jump */
                if ((!sides->meet || sides->meet(m, sides->context)) &&
                    journal_join(m, &here, condition))
                    end = SIDES_JOINED;
            }
        }
    }
    *left = here.condition;
    solver_pop_to(m->solver, here.scopes);
    m->path.speculating = here.outer;
    if (end != SIDES_JOINED) {
        journal_undo(m, &here);
        m->returned = returned;
    }
    m->calls = calls;
    m->nested = nested;
    m->line = line;
    m->handling = handling;
    m->raised = NULL;
    return end;
}

/* A join inside of another one has failed. If one side is impossible, the other one is taken.
 * Otherwise the outermost join has to fork. */
static bool path_apart(machine *m, sides_end end, Z3_ast left)
{
    path *p = &m->path;
    if (end == SIDES_APART) /* the caller decides */
        return false;
    if (!p->hoist && p->speculating->joins && ask_solver(m, left, NULL) != ANSWER_UNSAT)
        p->hoist = within(m, left);
    else if (!p->hoist)
        return false;
    leave(m, p->hoist);
}

bool path_join(machine *m, Z3_ast condition, const side *sides)
{
    enum { MOST_HOISTED = 8 };
    path *p = &m->path;
    Z3_ast left;
    if (m->no_joins)
        return false;
    m->joined = true;
    while (path_is_replaying(m)) {
        const mark *told = &p->marks[p->at++];
        if (told->kind == MARK_SPLIT)
            return false;
        if (told->kind == MARK_JOINED) {
            if (run_sides(m, condition, sides, &left) != SIDES_JOINED)
                /* Cannot happen: runs are deterministic. */
                path_bound(m, "a join that did not repeat");
            return true;
        }
        p->unsure |= told->unsure; /* the condition was hoisted */
        p->forks += told->kind == MARK_FORK;
    }
    for (int turn = 0;; turn++) {
        size_t place = p->count;
        add_mark(m, (mark){ MARK_JOINED, .choice = true });
        sides_end end = run_sides(m, condition, sides, &left);
        if (end == SIDES_JOINED)
            return true;
        bool hoist = !p->speculating && end == SIDES_LEFT && p->hoist && turn < MOST_HOISTED;
        cut_trail(m, hoist ? place : place + 1);
        if (hoist) {
            path_decide(m, p->hoist, true);
            continue;
        }
        p->at = place + 1;
        p->marks[place].kind = MARK_SPLIT;
        return p->speculating ? path_apart(m, end, left) : false;
    }
}

/* -- guesses ----------------------------------------------------------------------------------- */

Z3_ast path_guess(machine *m, Z3_sort sort, const char *what, const char *rewrite, Z3_ast l,
                  Z3_ast r)
{
    Z3_context z = m->solver->z;
    const char *name = arena_print(m->arena, "guess %s %u %u", what, Z3_get_ast_id(z, l),
                                   r ? Z3_get_ast_id(z, r) : 0);
    if (m->path.guessed.kind == STOP_NONE)
        m->path.guessed = (stop){ STOP_UNSUPPORTED, m->line, what, rewrite };
    return Z3_mk_const(z, Z3_mk_string_symbol(z, name), sort);
}

void path_unconfirmed(machine *m)
{
    if (m->path.guessed.kind != STOP_NONE)
        path_stop(m, m->path.guessed);
}

/* -- from path to path ------------------------------------------------------------------------- */

bool path_next(machine *m)
{
    path *p = &m->path;
    size_t last = p->count;
    while (last > 0 && !(p->marks[last - 1].kind == MARK_FORK && p->marks[last - 1].left))
        last--;
    if (last == 0)
        return false;
    cut_trail(m, last);
    mark *turned = &p->marks[last - 1];
    solver_pop_to(m->solver, turned->scopes);
    turned->choice = !turned->choice;
    turned->left = false;
    turned->unsure = turned->left_unsure;
    set_model(m, turned->other);
    turned->other = NULL;
    go(m, turned->condition, turned->choice);
    p->at = p->forks = 0;
    p->unsure = false;
    p->speculating = NULL;
    return true;
}

size_t path_left(const machine *m)
{
    size_t left = 0;
    for (size_t i = 0; i < m->path.count; i++)
        left += m->path.marks[i].kind == MARK_FORK && m->path.marks[i].left;
    return left;
}

Z3_model path_model(machine *m)
{
    if (m->path.model && !m->path.speculating) {
        solver_keep(m->solver, m->path.model);
        return m->path.model;
    }
    Z3_model model = NULL;
    return ask_solver(m, m->solver->yes, &model) == ANSWER_SAT ? model : NULL;
}

void path_clear(machine *m)
{
    cut_trail(m, 0);
    set_model(m, NULL);
    free(m->path.marks);
    m->path = (path){ 0 };
}
