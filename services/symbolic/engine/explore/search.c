/* Decides which inputs are called, when the paths are explored, and for how long: see
 * enumerate.h. */
#include <string.h>

#include "explore/enumerate.h"
#include "explore/nature.h"
#include "inputs/pool.h"

/* -- the pool ---------------------------------------------------------------------------------- */

/* Rows of indexes into the pools of the parameters. */
typedef struct rows {
    const pool *pools;
    size_t width, count;
    unsigned char at[MOST_ROWS][MOST_PARAMETERS];
} rows;

static void add_row(rows *r, const unsigned char *row)
{
    for (size_t i = 0; i < r->count; i++)
        if (memcmp(r->at[i], row, r->width) == 0)
            return;
    if (r->count < MOST_ROWS)
        memcpy(r->at[r->count++], row, r->width);
}

/* All combinations. */
static void add_product(rows *r, size_t total)
{
    for (size_t n = 0; n < total; n++) {
        unsigned char row[MOST_PARAMETERS] = { 0 };
        size_t left = n;
        for (size_t i = r->width; i-- > 0; left /= r->pools[i].count)
            row[i] = (unsigned char)(left % r->pools[i].count);
        add_row(r, row);
    }
}

/* Each value of each parameter, with one fixed value of all others. */
static void add_singles(rows *r, size_t base)
{
    for (size_t n = 0; n < MOST_POOL; n++)
        for (size_t i = 0; i < r->width; i++) {
            unsigned char row[MOST_PARAMETERS] = { 0 };
            for (size_t j = 0; j < r->width; j++)
                row[j] = (unsigned char)((j == i ? n : base) % r->pools[j].count);
            if (n < r->pools[i].count)
                add_row(r, row);
        }
}

static void add_mixed(rows *r)
{
    uint64_t state = 1;
    for (int tries = 0; r->count < MOST_ROWS && tries < 4 * MOST_ROWS; tries++) {
        unsigned char row[MOST_PARAMETERS] = { 0 };
        for (size_t i = 0; i < r->width; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            row[i] = (unsigned char)((state >> 33) % r->pools[i].count);
        }
        add_row(r, row);
    }
}

static const char *rows_of(analysis *a, const pool *pools, arena *to)
{
    rows *r = arena_take(to, sizeof *r);
    size_t total = 1;
    *r = (rows){ .pools = pools, .width = a->parameter_count };
    for (size_t i = 0; i < r->width; i++)
        total = total > MOST_ROWS ? total : total * pools[i].count;
    if (total <= MOST_ROWS) {
        add_product(r, total);
    } else {
        for (size_t base = 0; base < 3 && r->count < MOST_ROWS / 2; base++)
            add_singles(r, base);
        add_mixed(r);
    }
    const char ***all = arena_take(to, r->count * sizeof *all);
    text out = { .a = to };
    text_say(&out, "[");
    for (size_t row = 0; row < r->count; row++) {
        all[row] = arena_take(to, (r->width + 1) * sizeof **all);
        for (size_t i = 0; i < r->width; i++)
            all[row][i] = pools[i].at[r->at[row][i]];
        text_print(&out, "%s, ", python_list(to, all[row], r->width, true));
    }
    text_say(&out, "]");
    a->every.rows = all;
    return out.data;
}

/* Collect constants of the code, those of the contract first. */
static void find_hints(analysis *a, hints *near)
{
    for (size_t i = 0; i < a->contract.pre_count; i++)
        hints_of(&a->tree, a->contract.pre_nodes[i], near);
    hints_of(&a->tree, a->function, near);
    if (a->other)
        hints_of(&a->tree, a->other, near);
    for (size_t i = 0; i < a->contract.post_count; i++)
        hints_of(&a->tree, a->contract.post_nodes[i], near);
    hints_of(&a->tree, a->tree.module, near);
}

/* A finding that may depend on the order of a set counts only if it also occurs with another hash
 * seed. */
static void drop_unstable(analysis *a)
{
    every_input *e = &a->every;
    size_t kept = 0;
    for (size_t i = 0; i < e->found_count; i++)
        if (enumerate_again(a, i)) {
            e->found[kept] = e->found[i];
            e->each[kept++] = e->each[i];
        }
    e->found_count = kept;
}

static void try_pool(analysis *a, const question *q)
{
    const int64_t most = 1000000000; /* ns: an input for which the code never ends uses all of it */
    const int64_t least = 10000000;
    pool pools[MOST_PARAMETERS];
    hints near = { 0 };
    int64_t now = clock_ns(), left = (a->deadline_ns - now) / 4;
    if (left < least)
        return;
    find_hints(a, &near);
    for (size_t i = 0; i < a->parameter_count; i++) {
        pool_of(&a->tree, a->parameters[i].type, &near, 0, &pools[i]);
        if (pools[i].count == 0)
            return;
    }
    const char *called = rows_of(a, pools, &a->tree_arena);
    call_inputs(a, q, called, now + left, most);
    if (a->every.found_count && a->rests_on)
        drop_unstable(a);
    q->take(a);
    a->every.rows = NULL;
    a->every.found_count = 0;
    a->every.why = NULL; /* it need not come to an end */
}

/* -- paths ------------------------------------------------------------------------------------- */

/* Explore the paths for so many seconds of processor time: on a busy machine that takes longer, and
 * the findings must not depend on it. */
static void explore_a_while(analysis *a, const question *q, path_function *salvage, double seconds,
                            double most)
{
    int64_t begun = processor_ns();
    for (double wait = seconds;; wait *= 4) {
        explore(a, q->path, salvage, wait < most ? wait : most);
        if (!a->late || a->exhausted || explore_settles(a) || solver_interrupted() ||
            wait >= most || (double)(processor_ns() - begun) > seconds * 0.9e9)
            return;
    }
}

static bool pool_is_late;

void search_pool_late(void)
{
    pool_is_late = true;
}

/* True if there is nothing left to find. */
static bool is_settled(const analysis *a)
{
    return a->every.ran || a->found_ns || a->done || a->contradicted || a->exhausted ||
           solver_interrupted();
}

void search_pool(analysis *a, const question *q)
{
    if (!pool_is_late && !a->guessed && !a->rests_on)
        try_pool(a, q);
}

/* Call the pool before the paths, after a short exploration: what that settles needs no process of
 * CPython. */
static void search_pool_first(analysis *a, const question *q, bool small, size_t total)
{
    const double all = 1e6, first = 0.25, glance = 0.004;
    double left = (double)(a->deadline_ns - clock_ns()) / 1e9;
    explore_a_while(a, q, NULL, glance, left / 4);
    if (explore_settles(a) || solver_interrupted())
        return;
    try_pool(a, q);
    if (is_settled(a))
        return;
    a->tell = q->tell;
    a->told_ns = clock_ns();
    if (small) {
        explore_a_while(a, q, q->salvage, first, left / 4);
        if (solver_interrupted() || (explore_settles(a) && !a->contradicted))
            return;
        call_all(a, q, total);
        q->take(a);
        if (is_settled(a) || !a->late)
            return;
    }
    explore(a, q->path, q->salvage, all);
}

/* Explore the paths first, for a short time. */
static void search_paths_first(analysis *a, const question *q, bool small, size_t total)
{
    const double all = 1e6, first = 0.25, at_once = 0.1;
    double left = (double)(a->deadline_ns - clock_ns()) / 1e9;
    explore_a_while(a, q, q->salvage, small ? first : at_once, left / 4);
    if (solver_interrupted())
        return;
    if (small && (a->contradicted || !explore_settles(a)))
        call_all(a, q, total);
    else if (explore_settles(a))
        return;
    if (a->every.ran)
        q->take(a);
    else if (!a->guessed && !a->contradicted)
        try_pool(a, q);
    if (is_settled(a) || !a->late)
        return;
    a->tell = q->tell;
    a->told_ns = clock_ns();
    q->tell(a);
    explore(a, q->path, q->salvage, all);
}

void search(analysis *a, const question *q)
{
    enum { FEW = 256 }; /* so many calls take less time than starting a process */
    const double all = 1e6, beside = 0.5;
    size_t total;
    bool small = find_domains(a, q, &total);
    if (small && total <= FEW) {
        call_all(a, q, total);
        explore(a, q->path, q->salvage, a->every.ran ? beside : all);
        q->take(a);
    } else if (pool_is_late || a->guessed || a->rests_on) {
        search_paths_first(a, q, small, total);
    } else {
        search_pool_first(a, q, small, total);
    }
}
