/* See enumerate.h. */
#include <string.h>
#include <time.h>

#include "explore/enumerate.h"
#include "inputs/pool.h"

/* -- which code ------------------------------------------------------------------------------- */

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

/* Does it depend on more than its inputs? The order of a set of strs, hash() and id() are others in
 * another process. What asks for random numbers or the time is seen when it is called. */
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

/* Can a call leave something behind? Two functions that do so are not compared. */
static bool leaves_something(const node *n)
{
    bool stores = n->kind == N_ASSIGN || n->kind == N_AUGASSIGN || n->kind == N_ANNASSIGN;
    const node *target = n->kind == N_ASSIGN ? n->x.at[0] : n->a;
    return n->kind == N_GLOBAL ||
           (stores && target->kind == N_ATTRIBUTE &&
            !(target->a->kind == N_NAME && strcmp(target->a->name, "self") == 0));
}

/* A value of the module that can be changed. */
static bool is_changeable(const node *n)
{
    return n->kind == N_LIST || n->kind == N_DICT || n->kind == N_SET || n->kind == N_CALL ||
           n->kind == N_LISTCOMP || n->kind == N_DICTCOMP || n->kind == N_SETCOMP ||
           n->kind == N_GENERATOR;
}

/* What these statements bind, when they are run, can be changed afterwards. */
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

static bool keeps_nothing(const tree *t)
{
    return !binds_changeable(t->module->x) && !any_node(t->module, leaves_something);
}

/* -- which inputs ------------------------------------------------------------------------------ */

static bounds bounds_of(const analysis *a, const char *name, bool asserts)
{
    bounds within = { 0 };
    nodes body = a->function->x;
    for (size_t i = 0; i < a->contract.pre_count; i++)
        bounds_narrow(a->contract.pre_nodes[i], name, &within);
    for (size_t i = 0; asserts && i < body.count; i++) {
        const node *n = body.at[i];
        if (i == 0 && n->kind == N_EXPR && n->a->kind == N_CONSTANT)
            continue;
        /* One that could raise something else would be a finding for inputs beyond the bounds. */
        if (n->kind != N_ASSERT || !is_plain_condition(n->a))
            break;
        bounds_narrow(n->a, name, &within);
    }
    return within;
}

static bool find_domains(analysis *a, const question *q, size_t *total)
{
    *total = 1;
    if (a->guessed || !bounds_are_plain(a) || any_node(a->tree.module, is_of_the_process) ||
        (a->other && !keeps_nothing(&a->tree)))
        return false;
    for (size_t i = 0; i < a->contract.pre_count + a->contract.post_count; i++) {
        size_t post = i - a->contract.pre_count;
        if (any_node(i < a->contract.pre_count ? a->contract.pre_nodes[i]
                                               : a->contract.post_nodes[post],
                     is_of_the_process))
            return false;
    }
    for (size_t i = 0; i < a->parameter_count; i++) {
        bounds within = bounds_of(a, a->parameters[i].name, q->asserts);
        domain *d = &a->every.domains[i];
        if (!domain_of(&a->tree, a->parameters[i].type, &within, d))
            return false;
        if (d->count && *total > MOST_CALLS_OF_ALL / d->count)
            return false;
        *total *= d->count;
    }
    return true;
}

/* -- the calls --------------------------------------------------------------------------------- */

/* "((%s, %s), {'k': %s})" for the driver, or with one input in it. */
static const char *arguments_of(const analysis *a, const char *const *words, arena *to)
{
    text places = { .a = to }, keywords = { .a = to };
    text_say(&places, "");
    text_say(&keywords, "");
    for (size_t i = 0; i < a->parameter_count; i++) {
        const char *one = words ? words[i] : "%s";
        if (a->parameters[i].keyword)
            text_print(&keywords, "'%s': %s, ", a->parameters[i].name, one);
        else
            text_print(&places, "%s, ", one);
    }
    return arena_print(to, "((%s), {%s})", places.data, keywords.data);
}

/* What the driver is to go through: [from, to] of ints, and tuples of the words of Python. */
static const char *sources_of(const analysis *a, arena *to)
{
    text out = { .a = to };
    text_say(&out, "(");
    for (size_t i = 0; i < a->parameter_count; i++) {
        const domain *d = &a->every.domains[i];
        if (!d->choices) {
            text_print(&out, "[%lld, %lld], ", (long long)d->from,
                       (long long)d->from + (long long)d->count);
            continue;
        }
        text_say(&out, "(");
        for (size_t j = 0; j < d->count; j++) {
            text_say(&out, "'");
            for (const char *at = d->choices[j]; *at; at++)
                text_print(&out, "%s%c", *at == '\'' || *at == '\\' ? "\\" : "", *at);
            text_say(&out, "', ");
        }
        text_say(&out, "), ");
    }
    text_say(&out, ")");
    return out.data;
}

/* The lines of asserts that are preconditions. */
static const char *assert_lines(const analysis *a, bool asserts, arena *to)
{
    text out = { .a = to };
    nodes body = a->function->x;
    text_say(&out, "(");
    for (size_t i = 0; asserts && i < body.count; i++) {
        const node *n = body.at[i];
        bool docstring = i == 0 && n->kind == N_EXPR && n->a->kind == N_CONSTANT;
        if (n->kind != N_ASSERT && !docstring)
            break;
        for (int line = n->line; n->kind == N_ASSERT && line <= n->end_line; line++)
            text_print(&out, "'%d', ", line);
    }
    text_say(&out, ")");
    return out.data;
}

/* Call what `sources` says. False: it gave no answer. */
static bool call_them(analysis *a, const question *q, const char *sources, int64_t until)
{
    arena *to = &a->tree_arena;
    replay_call c = { .code = a->tree.source, .function = a->function->name };
    c.arguments = arguments_of(a, NULL, to);
    c.other = a->other ? a->other->name : NULL;
    contract_words(a, to, &c);
    c.every = arena_print(to, "(%s, %s, %s, %s, %.3f, %d)", sources,
                          python_list(to, a->contract.raises, a->contract.raises_count, true),
                          assert_lines(a, q->asserts, to),
                          python_list(to, &q->exception, q->exception ? 1 : 0, true),
                          (double)(until - clock_ns()) / 1e9, MOST_WITNESSES);
    replay_result got;
    replay(to, &c, until, &got);
    a->every.calls = got.calls;
    a->every.held = got.held;
    a->every.found_count = 0;
    for (size_t i = 0; i < got.found_count && i < MOST_WITNESSES; i++)
        if (got.found[i] < got.calls)
            a->every.found[a->every.found_count++] = got.found[i];
    return got.every;
}

static void call_all(analysis *a, const question *q, size_t total)
{
    /* The paths need a part of the time, if this does not get to its end. */
    int64_t until = clock_ns() + (a->deadline_ns - clock_ns()) / 2;
    a->every.ran = call_them(a, q, sources_of(a, &a->tree_arena), until) &&
                   a->every.calls <= total && (a->every.found_count > 0 || a->every.calls == total);
    if (!a->every.ran)
        a->every.found_count = 0;
}

/* -- the pool ---------------------------------------------------------------------------------- */

/* Each with each, if they are few. Else the values of each parameter come in turn, then in an order
 * of which no two are the same. */
static size_t row_choice(const pool *pools, size_t count, bool few, size_t row, size_t i)
{
    size_t longest = 0, index = row;
    for (size_t j = count; few && j-- > i;)
        if (j > i)
            index /= pools[j].count;
    for (size_t j = 0; j < count; j++)
        longest = pools[j].count > longest ? pools[j].count : longest;
    if (!few && row >= longest) {
        uint64_t mixed = (row * 16 + i + 1) * UINT64_C(0x9E3779B97F4A7C15);
        index = (size_t)(mixed >> 33);
    }
    return index % pools[i].count;
}

static const char *rows_of(analysis *a, const pool *pools, arena *to)
{
    size_t count = a->parameter_count, total = 1;
    for (size_t i = 0; i < count; i++)
        total = total > MOST_ROWS ? total : total * pools[i].count;
    bool few = total <= MOST_ROWS;
    size_t rows = few ? total : MOST_ROWS;
    const char ***all = arena_take(to, rows * sizeof *all);
    text out = { .a = to };
    text_say(&out, "[");
    for (size_t row = 0; row < rows; row++) {
        all[row] = arena_take(to, (count + 1) * sizeof **all);
        for (size_t i = 0; i < count; i++)
            all[row][i] = pools[i].at[row_choice(pools, count, few, row, i)];
        text_print(&out, "%s, ", python_list(to, all[row], count, true));
    }
    text_say(&out, "]");
    a->every.rows = all;
    return out.data;
}

static void call_pool(analysis *a, const question *q)
{
    const int64_t most = 500000000; /* ns: an input for which the code never ends takes it all */
    const int64_t least = 10000000;
    pool pools[MOST_PARAMETERS];
    hints near = { 0 };
    int64_t now = clock_ns(), left = (a->deadline_ns - now) / 4;
    if (left < least)
        return;
    hints_of(&a->tree, a->function, &near);
    if (a->other)
        hints_of(&a->tree, a->other, &near);
    hints_of(&a->tree, a->tree.module, &near);
    for (size_t i = 0; i < a->parameter_count; i++) {
        pool_of(&a->tree, a->parameters[i].type, &near, 0, &pools[i]);
        if (pools[i].count == 0)
            return;
    }
    const char *rows = rows_of(a, pools, &a->tree_arena);
    call_them(a, q, rows, now + (left < most ? left : most));
}

static int64_t processor_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* Explore the paths for so many seconds of the processor: on a busy machine that takes longer, and
 * what is found must not depend on it. */
static void explore_a_while(analysis *a, const question *q, double seconds, double most)
{
    int64_t begun = processor_ns();
    for (double wait = seconds;; wait *= 4) {
        explore(a, q->path, q->salvage, wait < most ? wait : most);
        if (!a->late || a->exhausted || explore_settles(a) || solver_interrupted() ||
            wait >= most || (double)(processor_ns() - begun) > seconds * 0.9e9)
            return;
    }
}

void search(analysis *a, const question *q)
{
    enum { FEW = 256 }; /* inputs that take less time than a process does to start */
    const double all = 1e6, beside = 0.5, first = 0.25, at_once = 0.1;
    double left = (double)(a->deadline_ns - clock_ns()) / 1e9;
    size_t total;
    bool small = find_domains(a, q, &total);
    if (small && total <= FEW) {
        call_all(a, q, total);
        explore(a, q->path, q->salvage, a->every.ran ? beside : all);
        q->take(a);
        return;
    }
    explore_a_while(a, q, small ? first : at_once, left / 4);
    if (solver_interrupted())
        return;
    if (small && (a->contradicted || !explore_settles(a)))
        call_all(a, q, total);
    else if (explore_settles(a))
        return;
    if (!a->every.ran && !a->guessed && !a->contradicted)
        call_pool(a, q);
    q->take(a);
    if (a->every.ran || a->found_ns || a->contradicted || !a->late || a->exhausted ||
        solver_interrupted())
        return;
    a->tell = q->tell;
    a->told_ns = clock_ns();
    q->tell(a);
    explore(a, q->path, q->salvage, all);
}

bool enumerate_proves(const analysis *a)
{
    return a->every.ran && a->every.found_count == 0;
}

bool enumerate_witness(analysis *a, size_t index, witness *out)
{
    arena *to = &a->tree_arena;
    text shown = { .a = to }, condition = { .a = to };
    *out = (witness){ .enumerated = true };
    for (size_t i = a->parameter_count; i-- > 0;) {
        const domain *d = &a->every.domains[i];
        if (a->every.rows) {
            out->words[i] = a->every.rows[index][i];
            continue;
        }
        out->words[i] = domain_words(d, index % d->count, to);
        index /= d->count;
    }
    text_print(&shown, "%s(", a->function->name);
    for (size_t i = 0; i < a->parameter_count; i++) {
        const parameter *p = &a->parameters[i];
        text_print(&shown, "%s%s%s%s", i ? ", " : "", p->keyword ? p->name : "",
                   p->keyword ? "=" : "", out->words[i]);
        if (!strstr(out->words[i], "nan")) /* which is not equal to itself */
            text_print(&condition, "%s%s == %s", condition.length ? " and " : "", p->name,
                       out->words[i]);
    }
    text_say(&shown, ")");
    out->call = shown.data;
    out->condition = condition.length ? condition.data : "True";
    replay_call c = { .code = a->tree.source, .function = a->function->name };
    c.arguments = arguments_of(a, out->words, to);
    c.other = a->other ? a->other->name : NULL;
    contract_words(a, to, &c);
    int64_t most_ns = clock_ns() + 5000000000;
    replay(to, &c, most_ns < a->deadline_ns ? most_ns : a->deadline_ns, &out->replayed);
    return out->replayed.ran;
}

void enumerate_contradicts(analysis *a, const witness *w, const char *did)
{
    if (a->exhausted && a->unanswered == 0 && !a->found_ns)
        path_contradicted(a, w->call, "that no input is a finding", did);
}

const char *enumerate_method(const analysis *a, bool by_paths)
{
    return by_paths ? a->every.ran ? "both" : "paths" : "enumeration";
}
