/*
 * A regular expression on a text whose characters are known as code points: it does what CPython's
 * matcher does, step by step, with its order of alternatives and its backtracking. The path forks
 * on whether a character is one of a set, so the places of all groups are known on each path.
 *
 * The rest of the pattern is a chain of `then`. If a step fails, the one before it tries its next
 * alternative.
 */
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"
#include "theories/regex.h"

enum { LAST_PLAIN = 0xff };

typedef struct asked {
    const value *set;
    size_t at;
    bool yes;
} asked;

typedef struct walk {
    machine *m;
    const Z3_ast *codes;
    size_t count;       /* characters */
    size_t groups;      /* … with the whole match */
    int64_t *spans;     /* two for each group; -1: it has none */
    bool full;          /* the match must reach the end of the text */
    size_t empty_never; /* an empty match at this place does not count; SIZE_MAX: any does */
    asked *asked;       /* the decisions of the path */
    size_t asked_count, asked_room;
} walk;

typedef struct then {
    enum { THEN_NODE, THEN_ITEMS, THEN_TURN, THEN_CLOSE, THEN_END } kind;
    const value *node;
    size_t done; /* the number of items or turns so far; where a group begins */
    const struct then *next;
} then;

static const value *part(const value *of, size_t i)
{
    return of->in.items.at[i];
}

static int64_t whole(const value *of, size_t i)
{
    int64_t n = 0;
    value_whole(part(of, i), &n);
    return n;
}

/* -- characters ----------------------------------------------------------------------------------
 */

static Z3_ast in_ranges(machine *m, Z3_ast code, const value *ranges)
{
    Z3_context z = m->solver->z;
    Z3_ast any = m->solver->no;
    for (size_t i = 0; i + 1 < ranges->in.items.count; i += 2) {
        Z3_ast ends[] = { Z3_mk_ge(z, code, term_int(m, whole(ranges, i))),
                          Z3_mk_le(z, code, term_int(m, whole(ranges, i + 1))) };
        any = Z3_mk_or(z, 2, (Z3_ast[]){ any, Z3_mk_and(z, 2, ends) });
    }
    return any;
}

/* A set with \w in it is exact up to U+FF. */
static Z3_ast in_set(machine *m, Z3_ast code, const value *set)
{
    Z3_context z = m->solver->z;
    if (part(set, 2)->kind != V_NONE)
        return in_ranges(m, code, part(set, 2));
    Z3_ast guess = path_guess(m, m->solver->bools, "\\w of characters beyond U+FF",
                              "use [A-Za-z0-9_], or re.ASCII", code,
                              in_ranges(m, m->solver->zero, part(set, 1)));
    return Z3_mk_ite(z, Z3_mk_le(z, code, term_int(m, LAST_PLAIN)),
                     in_ranges(m, code, part(set, 3)), guess);
}

static bool is_in_set(walk *w, const value *set, size_t at)
{
    machine *m = w->m;
    for (size_t i = 0; i < w->asked_count; i++)
        if (w->asked[i].set == set && w->asked[i].at == at)
            return w->asked[i].yes;
    bool yes = path_decide(m, solver_simplify(m->solver, in_set(m, w->codes[at], set)), true);
    if (w->asked_count == w->asked_room) {
        size_t room = 2 * w->asked_room + 32;
        asked *more = arena_take(m->arena, room * sizeof *more);
        if (w->asked_count)
            memcpy(more, w->asked, w->asked_count * sizeof *more);
        w->asked = more;
        w->asked_room = room;
    }
    w->asked[w->asked_count++] = (asked){ set, at, yes };
    return yes;
}

/* -- steps ---------------------------------------------------------------------------------------
 */

static bool go(walk *w, const then *t, size_t at);

/* `$` is also before a newline at the end. */
static bool ends(walk *w, const value *way, size_t at)
{
    machine *m = w->m;
    const value *end = part(way, 2);
    if (at == w->empty_never)
        return false;
    bool here = at == w->count || (!w->full && end->str.count == 0);
    if (!here && !w->full && value_says(end, "$") && at + 1 == w->count)
        here = path_decide(m, Z3_mk_eq(m->solver->z, w->codes[at], term_int(m, '\n')), false);
    if (here)
        w->spans[1] = (int64_t)at;
    return here;
}

/* If the match goes on without success, the group gets its earlier value again. */
static bool close_group(walk *w, const then *t, size_t at)
{
    int64_t *span = &w->spans[2 * whole(t->node, 1)], was[] = { span[0], span[1] };
    span[0] = (int64_t)t->done;
    span[1] = (int64_t)at;
    if (go(w, t->next, at))
        return true;
    span[0] = was[0];
    span[1] = was[1];
    return false;
}

/* One more turn of a repetition, or what follows it: a lazy one tries them in the opposite
 * order. */
static bool turn(walk *w, const then *t, size_t at)
{
    int64_t low = whole(t->node, 1), high = whole(t->node, 2), done = (int64_t)t->done;
    bool lazy = part(t->node, 4)->truth;
    then again = { THEN_TURN, t->node, t->done + 1, t->next };
    then body = { THEN_NODE, part(t->node, 3), 0, &again };
    for (int i = 0; i < 2; i++) {
        bool after = (i == 0) == lazy;
        if (after ? done >= low && go(w, t->next, at)
                  : (high < 0 || done < high) && go(w, &body, at))
            return true;
    }
    return false;
}

static bool go_node(walk *w, const then *t, size_t at)
{
    const value *of = t->node, *kind = part(of, 0);
    if (value_says(kind, "set"))
        return at < w->count && is_in_set(w, of, at) && go(w, t->next, at + 1);
    if (value_says(kind, "grp")) {
        then after = { THEN_CLOSE, of, at, t->next };
        return go(w, &(then){ THEN_NODE, part(of, 2), 0, &after }, at);
    }
    if (value_says(kind, "rep"))
        return go(w, &(then){ THEN_TURN, of, 0, t->next }, at);
    if (value_says(kind, "cat"))
        return go(w, &(then){ THEN_ITEMS, of, 1, t->next }, at);
    for (size_t i = 1; i < of->in.items.count; i++)
        if (go(w, &(then){ THEN_NODE, part(of, i), 0, t->next }, at))
            return true;
    return false;
}

static bool go(walk *w, const then *t, size_t at)
{
    step(w->m);
    switch (t->kind) {
    case THEN_NODE:
        return go_node(w, t, at);
    case THEN_ITEMS: {
        if (t->done == t->node->in.items.count)
            return go(w, t->next, at);
        then rest = { THEN_ITEMS, t->node, t->done + 1, t->next };
        return go(w, &(then){ THEN_NODE, part(t->node, t->done), 0, &rest }, at);
    }
    case THEN_TURN:
        return turn(w, t, at);
    case THEN_CLOSE:
        return close_group(w, t, at);
    default:
        return ends(w, t->node, at);
    }
}

/* -- matches -------------------------------------------------------------------------------------
 */

static bool matches_at(walk *w, const values *ways, size_t at)
{
    for (size_t i = 0; i < ways->count; i++) {
        if (part(ways->at[i], 0)->truth && at > 0)
            continue; /* it has a ^ */
        for (size_t j = 0; j < 2 * w->groups; j++)
            w->spans[j] = -1;
        w->spans[0] = (int64_t)at;
        then end = { THEN_END, ways->at[i], 0, NULL };
        if (go(w, &(then){ THEN_NODE, part(ways->at[i], 1), 0, &end }, at))
            return true;
    }
    return false;
}

static value *spans_of(const walk *w)
{
    value *all = value_new(w->m, V_TUPLE);
    for (size_t i = 0; i < w->groups; i++) {
        value *pair = value_new(w->m, V_TUPLE);
        values_add(w->m, &pair->in.items, value_int(w->m, w->spans[2 * i]));
        values_add(w->m, &pair->in.items, value_int(w->m, w->spans[2 * i + 1]));
        values_add(w->m, &all->in.items, pair);
    }
    return all;
}

static walk begin(machine *m, const value *parts, const value *subject)
{
    walk w = { .m = m, .codes = value_codes(m, subject), .count = subject->str.count };
    w.groups = (size_t)whole(parts, 1) + 1;
    w.spans = arena_take(m->arena, 2 * w.groups * sizeof *w.spans);
    w.empty_never = SIZE_MAX;
    return w;
}

value *regex_walk_once(machine *m, const value *parts, const value *subject, const char *how)
{
    walk w = begin(m, parts, subject);
    const values *ways = &part(parts, 0)->in.items;
    size_t last = strcmp(how, "search") == 0 ? w.count : 0;
    w.full = strcmp(how, "fullmatch") == 0;
    for (size_t at = 0; at <= last; at++)
        if (matches_at(&w, ways, at))
            return spans_of(&w);
    return NULL;
}

/* After an empty match the next one is not empty, or begins further on. */
value *regex_walk_all(machine *m, const value *parts, const value *subject)
{
    walk w = begin(m, parts, subject);
    const values *ways = &part(parts, 0)->in.items;
    value *found = value_new(m, V_LIST);
    for (size_t at = 0; at <= w.count;) {
        if (!matches_at(&w, ways, at)) {
            w.empty_never = SIZE_MAX;
            at++;
            continue;
        }
        values_add(m, &found->in.items, spans_of(&w));
        at = (size_t)w.spans[1];
        w.empty_never = w.spans[0] == w.spans[1] ? at : SIZE_MAX;
    }
    return found;
}
