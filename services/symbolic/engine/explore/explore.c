/* Exploration of all paths: see explore.h. */
#include <string.h>

#include "explore/explore.h"
#include "explore/nature.h"
#include "machine/terms.h"
#include "tree/validate.h"

/* -- opening ----------------------------------------------------------------------------------- */

static void out_of_memory(void *context)
{
    analysis *a = context;
    if (!a->m.path.ended)
        return;
    a->m.path.speculating = NULL;
    a->m.path.stop = (stop){ STOP_BOUND, a->m.line, "memory", NULL };
    longjmp(*a->m.path.ended, 1);
}

static const node *function_named(const tree *t, const char *name)
{
    const node *found = NULL;
    for (size_t i = 0; i < t->module->x.count; i++) {
        const node *n = t->module->x.at[i];
        if (n->kind == N_FUNCTION && strcmp(n->name, name) == 0)
            found = n; /* the last definition of a name counts */
    }
    return found;
}

static bool find_function(analysis *a, const char *name, const node **out, fault *wrong)
{
    *out = function_named(&a->tree, name);
    if (!*out)
        *wrong = (fault){ "ValueError",
                          arena_print(&a->tree_arena, "Function '%s' not found in code", name), 0 };
    return *out != NULL;
}

fault engine_fault(analysis *a)
{
    bool memory = strcmp(bridge_failure(), "MemoryError") == 0;
    return (fault){ memory ? "TimeoutError" : "RuntimeError",
                    arena_print(&a->tree_arena,
                                "Nothing was decided: the engine's own Python failed with %s%s",
                                bridge_failure(), memory ? ", so memory reached its limit" : ""),
                    0 };
}

/* The imports at the top of a module must exist. */
static bool check_imports(analysis *a, fault *wrong)
{
    nodes body = a->tree.module->x;
    for (size_t i = 0; i < body.count; i++) {
        const node *n = body.at[i];
        for (size_t j = 0; (n->kind == N_IMPORT || n->kind == N_IMPORT_FROM) && j < n->x.count;
             j++) {
            const char *name = n->x.at[j]->name;
            bool from = n->kind == N_IMPORT_FROM;
            int there = bridge_import(from ? n->name : name, from ? name : NULL);
            if (there == 2)
                continue;
            if (there < 0) {
                *wrong = engine_fault(a);
                return false;
            }
            *wrong = (fault){ "ImportError",
                              there ? arena_print(&a->tree_arena,
                                                  "Cannot import name '%s' from '%s' (line %d)",
                                                  name, n->name, n->line)
                                    : arena_print(&a->tree_arena, "No module named '%s' (line %d)",
                                                  from ? n->name : name, n->line),
                              n->line };
            return false;
        }
    }
    return true;
}

bool analysis_open(analysis *a, solver *s, const char *code, size_t length, const char *function,
                   const char *other, double seconds, type_kind guess, fault *wrong)
{
    *a = (analysis){ .solver = s, .code = code, .code_length = length, .began_ns = clock_ns() };
    a->deadline_ns = a->last_ns = a->began_ns + (int64_t)(seconds * 1e9);
    a->path_arena = (arena){ .limit = 512u << 20, .full = out_of_memory, .context = a };
    a->tree = (tree){ .arena = &a->tree_arena };
    *wrong = (fault){ 0 };
    if (!tree_parse(&a->tree, code, length, wrong) ||
        !validate(&a->tree, a->tree.module, NULL, wrong) || !check_imports(a, wrong) ||
        !find_function(a, function, &a->function, wrong) ||
        (other && !find_function(a, other, &a->other, wrong)) ||
        !contract_read(&a->tree, a->function, &a->contract, wrong))
        return false;
    a->rests_on = nature_of(a);
    bool known = input_parameters(&a->tree, a->function, a->other, guess, a->parameters,
                                  &a->parameter_count, wrong, &a->assumed, &a->guessed);
    if (a->tree.unread) { /* such as an annotation, which would then be a guess */
        *wrong = tree_unread;
        return false;
    }
    return known;
}

void analysis_close(analysis *a)
{
    if (a->m.solver)
        path_clear(&a->m);
    arena_free(&a->path_arena);
    arena_free(&a->tree_arena);
}

/* -- the module -------------------------------------------------------------------------------- */

/* Bind the names of a skipped statement to a value that must not be used. */
static bool poison(machine *m, const node *n)
{
    nodes targets = n->x;
    const node *one[] = { n->a };
    if (n->kind == N_ANNASSIGN)
        targets = (nodes){ one, 1 };
    value *v = value_new(m, V_MODULE);
    if (n->kind == N_FUNCTION || n->kind == N_CLASS) {
        v->builtin.name = arena_print(m->arena, "%s, as line %d defines it", n->name, n->line);
        scope_set(m, m->globals, n->name, v);
        return true;
    }
    if (n->kind != N_ASSIGN && n->kind != N_ANNASSIGN)
        return false;
    for (size_t i = 0; i < targets.count; i++) {
        if (targets.at[i]->kind != N_NAME)
            return false;
        v->builtin.name = arena_print(m->arena, "the value of %s, as line %d computes it",
                                      targets.at[i]->name, n->line);
        scope_set(m, m->globals, targets.at[i]->name, v);
    }
    return true;
}

/* An unsupported statement of the module matters only if the names that it binds are used. */
static outcome run_guarded(machine *m, const node *n)
{
    speculation here = { .serial = m->serial,
                         .scopes = m->solver->scopes,
                         .condition = m->solver->yes };
    const node *one[] = { n };
    m->path.speculating = &here;
    outcome end = DONE;
    if (setjmp(here.back) == 0) {
        end = run(m, m->globals, (nodes){ one, 1 });
        m->path.speculating = NULL;
        return end;
    }
    m->path.speculating = NULL;
    m->raised = NULL;
    m->calls = m->nested = 0;
    m->line = n->line;
    m->left_out = true;
    if (poison(m, n))
        return DONE;
    return run(m, m->globals, (nodes){ one, 1 });
}

/* A module does not know whether it is run or imported; only `if __name__ == "__main__":` may ask
 * for it while the code is loaded. */
static void set_module_name(analysis *a, bool known)
{
    machine *m = &a->m;
    value *v = known ? value_ascii(m, "__replayed__") : value_new(m, V_MODULE);
    if (!known)
        v->builtin.name = "the name of the module";
    scope_set(m, m->globals, tree_name(&a->tree, "__name__"), v);
}

static void load(analysis *a)
{
    machine *m = &a->m;
    m->globals = scope_new(m, NULL, NULL);
    value_none(m);
    set_module_name(a, false);
    nodes body = a->tree.module->x;
    for (size_t i = 0; i < body.count; i++) {
        const node *n = body.at[i];
        outcome end = DONE;
        set_module_name(a, n->kind == N_IF);
        if (n->kind == N_ASSIGN || n->kind == N_ANNASSIGN || n->kind == N_FUNCTION ||
            n->kind == N_CLASS)
            end = run_guarded(m, n);
        else
            end = run(m, m->globals, (nodes){ body.at + i, 1 });
        if (end == RAISED)
            path_unsupported(m, n->line, "let the module load without an exception",
                             "an exception (%s) while the code is loaded", value_type(m->raised));
    }
    set_module_name(a, false);
}

/* -- the loop ---------------------------------------------------------------------------------- */

static void begin_path(analysis *a)
{
    machine *m = &a->m;
    arena_reset(&a->path_arena);
    path kept = m->path;
    *m = (machine){ .solver = a->solver,
                    .tree = &a->tree,
                    .arena = &a->path_arena,
                    .kept = &a->tree_arena,
                    .path = kept,
                    .most_turns = m->most_turns,
                    .most_items = m->most_items,
                    .most_forks = m->most_forks,
                    .no_joins = m->no_joins,
                    .joined = m->joined,
                    .left_out = m->left_out,
                    .digits_assumed = m->digits_assumed,
                    .code = &interpreter,
                    .joins = &theories_joiner,
                    .watcher = m->watcher,
                    .contract_of = m->contract_of };
    m->path.stop = m->path.guessed = (stop){ 0 };
    a->inputs = (values){ 0 };
}

static bool has_huge(const analysis *a)
{
    for (size_t i = 0; i < a->inputs.count; i++)
        if (a->inputs.at[i]->kind == V_HUGE)
            return true;
    return false;
}

/* For a path that was given up because of an unsupported construct or a limit: real Python can tell
 * whether a call that leads there is a finding. This proves nothing else. */
static void salvage(analysis *a)
{
    enum { MOST_SALVAGED = 4 };
    stop why = a->m.path.stop;
    jmp_buf again;
    if ((why.kind != STOP_UNSUPPORTED && why.kind != STOP_BOUND) || !a->salvage ||
        a->inputs.count != a->parameter_count || has_huge(a) || a->salvaged >= MOST_SALVAGED)
        return;
    a->salvaged++;
    a->m.path.ended = &again;
    if (setjmp(again) == 0)
        a->salvage(a);
    a->m.path.stop = why;
}

static void one_path(analysis *a)
{
    jmp_buf ended;
    a->m.path.ended = &ended;
    if (setjmp(ended) == 0) {
        begin_path(a);
        load(a);
        a->m.loaded = a->m.serial;
        a->path(a);
    } else {
        a->m.path.speculating = NULL;
        salvage(a);
    }
    a->m.path.ended = NULL;
}

static void note_stop(analysis *a)
{
    const stop *why = &a->m.path.stop;
    if (why->kind == STOP_NONE || why->kind == STOP_INFEASIBLE)
        return;
    a->stopped++;
    /* Reasons that the caller can change come first, a deadline last. */
    if (a->first_stop.kind == STOP_NONE || why->kind < a->first_stop.kind)
        a->first_stop = *why;
}

static void explore_round(analysis *a)
{
    /* With joins terms grow, and a few paths with small terms may be faster: a part of the time is
     * reserved for these. */
    int64_t left = a->deadline_ns - clock_ns();
    solver_begin(a->solver, a->m.no_joins ? a->deadline_ns : a->deadline_ns - left / 2);
    a->m.solver = a->solver;
    int64_t found_at = 0; /* … in processor time, since other processes may use the processors */
    for (;;) {
        one_path(a);
        note_stop(a);
        stop_kind why = a->m.path.stop.kind;
        if (why == STOP_DEADLINE || why == STOP_CONTRADICTION || a->done)
            break;
        /* The verdict is certain; search a little longer for similar findings. */
        int64_t enough = a->found_ns + 200000000;
        if (a->found_ns && !found_at)
            found_at = processor_ns();
        if (a->found_ns && (clock_ns() > enough || processor_ns() - found_at > 15000000))
            a->done = true;
        else if (a->found_ns && a->solver->deadline_ns < enough)
            a->solver->deadline_ns = enough < a->last_ns ? enough : a->last_ns;
        /* Report a finding at once: the solver may get stuck from now on. */
        if (a->tell && (clock_ns() - a->told_ns > 500000000 || a->found_ns > a->told_ns)) {
            a->told_ns = clock_ns();
            a->tell(a);
        }
        if (a->done || !path_next(&a->m))
            break;
    }
    a->left = path_left(&a->m);
    a->exhausted = !a->done && a->stopped == 0 && a->unsure == 0 && a->left == 0;
    watcher *watching = a->m.watcher;
    path_clear(&a->m);
    a->m.watcher = watching;
    solver_end(a->solver);
}

/* Loops and containers are explored with small limits first: most findings are there. */
static void explore_rounds(analysis *a)
{
    static const struct {
        unsigned turns, items, forks;
    } rounds[] = { { 6, 2, 40 }, { 40, 5, 150 } };
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        a->m.most_turns = rounds[i].turns;
        a->m.most_items = rounds[i].items;
        a->m.most_forks = rounds[i].forks;
        a->paths = a->good = a->unsure = a->stopped = a->type_errors = 0;
        a->first_stop = (stop){ 0 };
        explore_round(a);
        stop_kind why = a->first_stop.kind;
        bool again = why == STOP_DEADLINE ||
                     (a->m.joined && (why == STOP_UNSUPPORTED || a->unsure > 0));
        if (again && !a->m.no_joins && !a->found_ns && !a->done && !solver_interrupted()) {
            /* Explore once more, with forks instead of joins: a construct may support each value
             * alone. */
            a->m.no_joins = true;
            i--;
            continue;
        }
        if (a->found_ns || a->done || a->exhausted || a->first_stop.kind != STOP_BOUND)
            return;
    }
}

void explore(analysis *a, path_function *by, path_function *by_salvage, double seconds)
{
    int64_t deadline = a->deadline_ns, left = deadline - clock_ns();
    a->path = by;
    a->salvage = by_salvage;
    a->m.no_joins = false;
    bool limited = seconds * 1e9 < (double)left;
    a->last_ns = deadline;
    a->unanswered = 0;
    a->solver->undecided = false;
    if (limited)
        a->deadline_ns = clock_ns() + (int64_t)(seconds * 1e9);
    explore_rounds(a);
    /* A question without an answer may belong to a path that is impossible. */
    a->late = limited && (clock_ns() >= a->deadline_ns || a->first_stop.kind == STOP_DEADLINE ||
                          a->solver->undecided);
    a->deadline_ns = deadline;
}

bool explore_settles(const analysis *a)
{
    return a->found_ns || a->done || a->contradicted || (a->exhausted && a->unanswered == 0);
}

/* A skipped statement of the module may raise an exception in real Python. */
static fault load_fault(analysis *a)
{
    replay_result got;
    replay_call only_load = { .code = a->tree.source,
                              .function = a->function->name,
                              .arguments = "((), {})",
                              .names = "()",
                              .pre = "['False']",
                              .post = "[]" };
    replay(&a->tree_arena, &only_load, a->deadline_ns, &got);
    if (got.ran)
        return (fault){ 0 };
    return (fault){
        "RuntimeError",
        arena_print(&a->tree_arena, "The code does not load in real Python: %s", got.message), 0
    };
}

static fault paths_fault(analysis *a)
{
    arena *to = &a->tree_arena;
    const stop *why = &a->first_stop;
    size_t left = a->left + a->stopped + a->unsure;
    if (a->contradicted)
        return (
            fault){ "RuntimeError",
                    arena_print(to,
                                "An input was found that real Python does not confirm (%.200s): "
                                "the engine is wrong about something in this code, so no "
                                "path of it counts as verified",
                                a->contradicted_call),
                    0 };
    if (a->exhausted && a->unanswered == 0)
        return a->m.left_out ? load_fault(a) : (fault){ 0 };
    switch (why->kind) {
    case STOP_UNSUPPORTED:
        return (fault){ "RuntimeError",
                        arena_print(to, "Unsupported construct at line %d: %s%s%s", why->line,
                                    why->what, why->rewrite ? "; try this: " : "",
                                    why->rewrite ? why->rewrite : ""),
                        why->line };
    case STOP_CONTRADICTION:
        return (fault){ "RuntimeError",
                        "The two solvers contradict each other, so no answer can be trusted", 0 };
    case STOP_BOUND:
        return (fault){ "TimeoutError",
                        arena_print(to,
                                    "Not every path was explored: %s reached its limit at line %d; "
                                    "%zu paths were explored and at least %zu were not%s",
                                    why->what, why->line, a->paths, left, explore_advice(a)),
                        why->line };
    case STOP_DEADLINE:
        return (fault){ "TimeoutError",
                        arena_print(to,
                                    "The time was over after %.1f seconds; %zu paths were explored "
                                    "and at least %zu were not%s",
                                    (double)(clock_ns() - a->began_ns) / 1e9, a->paths, left,
                                    explore_advice(a)),
                        0 };
    default:
        break;
    }
    if (a->unanswered)
        return (fault){ "RuntimeError",
                        arena_print(to,
                                    "An input was found, but its call in real Python gave no "
                                    "answer (%.200s), so it is not reported",
                                    a->unanswered_why),
                        0 };
    return (fault){ "TimeoutError",
                    arena_print(to,
                                "The solver could not decide %zu of the paths; %zu were explored%s",
                                a->unsure ? a->unsure : left, a->paths, explore_advice(a)),
                    0 };
}

fault explore_fault(analysis *a)
{
    fault wrong = paths_fault(a);
    if (wrong.type && a->every.barred && !a->contradicted)
        wrong.message = arena_print(&a->tree_arena, "%s. Calls of all inputs prove nothing: %s",
                                    wrong.message, a->rests_on);
    else if (wrong.type && a->every.why && !a->contradicted)
        wrong.message = arena_print(&a->tree_arena,
                                    "%s. Calls of all inputs did not decide either: %.200s",
                                    wrong.message, a->every.why);
    return wrong;
}

double explore_coverage(const analysis *a)
{
    size_t open = a->left + a->stopped + a->unsure;
    if (a->contradicted)
        return 0.0;
    if (a->exhausted)
        return 1.0;
    return a->paths + open == 0 ? 0.0 : (double)a->paths / (double)(a->paths + open);
}

/* -- within a path ----------------------------------------------------------------------------- */

static scope *bind_inputs(analysis *a, const values *from)
{
    scope *s = scope_new(&a->m, NULL, NULL);
    for (size_t i = 0; i < a->parameter_count; i++)
        scope_set(&a->m, s, a->parameters[i].name, from->at[i]);
    return s;
}

static values copies(machine *m, const values *of)
{
    values made = { 0 };
    for (size_t i = 0; i < of->count; i++)
        values_add(m, &made, value_copy(m, of->at[i]));
    return made;
}

bool bounds_are_plain(analysis *a)
{
    static const char *const names[] = { "all", "len", "range" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t j = 0; j < a->parameter_count; j++)
            if (strcmp(a->parameters[j].name, names[i]) == 0)
                return false;
        if (scope_count(a->tree.module->x, tree_name(&a->tree, names[i])))
            return false;
    }
    return true;
}

/* A precondition may read a container before another one limits its length. Longer containers do
 * not satisfy both, so they are excluded first. */
static void require_length(analysis *a, const char *name, const value *v)
{
    machine *m = &a->m;
    bounds within = { 0 };
    if (v->kind != V_HUGE && !value_is_lazy(v))
        return;
    for (size_t i = 0; i < a->contract.pre_count; i++)
        bounds_narrow(a->contract.pre_nodes[i], name, &within);
    if (within.length.high && bounds_are_plain(a))
        path_require(m, Z3_mk_le(m->solver->z, v->kind == V_HUGE ? v->term : v->lazy.length,
                                 term_int(m, within.length.to)));
}

void path_inputs(analysis *a)
{
    machine *m = &a->m;
    m->line = a->function->line;
    m->lasting = m->serial; /* a precondition is not part of the call */
    for (size_t i = 0; i < a->parameter_count; i++)
        values_add(m, &a->inputs, input_make(m, a->parameters[i].type, a->parameters[i].name));
    for (size_t i = 0; i < a->parameter_count; i++)
        require_length(a, a->parameters[i].name, a->inputs.at[i]);
    for (size_t i = 0; i < a->contract.pre_count; i++) {
        values own = copies(m, &a->inputs);
        value *truth = eval_truth(m, bind_inputs(a, &own), a->contract.pre_nodes[i]);
        if (!truth && strcmp(value_type(m->raised), "NameError") == 0)
            path_unsupported(m, a->function->line, "name the parameters",
                             "a precondition with a name that is not there");
        if (!truth) /* a precondition that raises does not hold */
            path_stop(m, (stop){ STOP_INFEASIBLE, m->line, NULL, NULL });
        path_require(m, value_term(m, truth));
    }
    m->lasting = 0;
    for (size_t i = 0; i < a->inputs.count; i++)
        if (a->inputs.at[i]->kind == V_HUGE)
            path_bound(m, "the number of items of a parameter");
}

static void give(machine *m, const parameter *p, value *v, arguments *to)
{
    values one = { &v, 1, 1 }, name = { 0 };
    const values *items = p->rest ? &v->in.items : &one;
    if (p->keyword && !p->rest)
        values_add(m, &name, value_ascii(m, p->name));
    for (size_t i = 0; i < items->count; i++)
        if (!p->keyword) {
            values_add(m, &to->places, items->at[i]);
        } else {
            values_add(m, &to->names, p->rest ? items->at[i] : name.at[0]);
            values_add(m, &to->keywords, p->rest ? v->in.others.at[i] : v);
        }
}

value *path_call(analysis *a, const node *function, values *after)
{
    machine *m = &a->m;
    value *callee = scope_peek(m->globals, function->name);
    *after = copies(m, &a->inputs);
    arguments given = { 0 };
    for (size_t i = 0; i < a->parameter_count; i++)
        give(m, &a->parameters[i], after->at[i], &given);
    if (callee && callee->kind == V_MODULE)
        path_unsupported(m, function->line, "call it without", "%s", callee->builtin.name);
    if (!callee || callee->kind != V_FUNCTION || callee->function.node != function)
        path_unsupported(m, function->line, "define it once",
                         "a function that is defined again or decorated: %s", function->name);
    m->line = function->line;
    return call(m, callee, &given, function->line);
}

value *path_post(analysis *a, const node *post, values *after, value *result)
{
    machine *m = &a->m;
    scope *s = bind_inputs(a, after);
    value *old = value_new(m, V_OBJECT), *class = value_new(m, V_CLASS);
    class->class.name = "old";
    old->object.class = class;
    values own = copies(m, &a->inputs);
    for (size_t i = 0; i < a->parameter_count; i++)
        object_set(m, old, a->parameters[i].name, own.at[i]);
    scope_set(m, s, tree_name(&a->tree, "_"), result);
    scope_set(m, s, tree_name(&a->tree, "__return__"), result);
    scope_set(m, s, tree_name(&a->tree, "__old__"), old);
    m->line = a->function->line;
    return eval_truth(m, s, post);
}
