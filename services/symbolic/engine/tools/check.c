/* check: does a function keep its contract on every path? A counterexample is a call that does not.
 */
#include <stdio.h>
#include <string.h>

#include "tools/tools.h"

typedef struct checking {
    reply *r;
    yyjson_mut_val *found; /* counterexamples */
    size_t count;
    const char *seen[MOST_WITNESSES];
    bool by_paths; /* the paths alone would say the same */
} checking;

static checking *current; /* of the path that is explored: one analysis runs at a time */

/* Did a leading assert fail? Then the call was not one that the function is for. */
static bool is_precondition_line(const analysis *a, const replay_result *got)
{
    nodes body = a->function->x;
    for (size_t i = 0; strcmp(got->type, "AssertionError") == 0 && i < body.count; i++) {
        const node *n = body.at[i];
        bool docstring = i == 0 && n->kind == N_EXPR && n->a->kind == N_CONSTANT;
        if (n->kind != N_ASSERT && !docstring)
            return false;
        if (n->kind == N_ASSERT && got->line >= n->line && got->line <= n->end_line)
            return true;
    }
    return false;
}

static bool is_declared(const analysis *a, const replay_result *got)
{
    for (size_t i = 0; i < a->contract.raises_count; i++) {
        char name[128];
        snprintf(name, sizeof name, ",%.100s,", a->contract.raises[i]);
        if (strstr(got->bases, name))
            return true;
    }
    return false;
}

/* What real Python says of a call: NULL if it is no violation. */
static const char *violation(analysis *a, const replay_result *got)
{
    arena *to = &a->tree_arena;
    if (!got->ran || !got->pre)
        return NULL;
    if (got->raised)
        return is_declared(a, got) || is_precondition_line(a, got)
                   ? NULL
                   : raised_words(to, got->type, got->message, got->line);
    if (got->post < 0 || (size_t)got->post >= a->contract.post_count)
        return NULL;
    const char *words = a->contract.post[got->post];
    return strcmp(got->post_words, "False") == 0
               ? arena_print(to, "Postcondition is false: %s", words)
               : arena_print(to, "Postcondition raised %s: %s", got->post_words, words);
}

static void add_counterexample(analysis *a, const witness *w, const char *words)
{
    checking *c = current;
    reply *r = c->r;
    if (!a->found_ns)
        a->found_ns = clock_ns();
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->seen[i], words) == 0)
            return;
    c->seen[c->count++] = words;
    yyjson_mut_val *one = yyjson_mut_obj(r->doc);
    reply_arguments(r, one, a, w);
    reply_text(r, one, "violation", words);
    const replay_result *got = &w->replayed;
    reply_text(r, one, "actual_result",
               got->raised ? raised_words(a->m.arena, got->type, got->message, 0) : got->result);
    reply_text(r, one, "path_condition", w->condition);
    yyjson_mut_arr_append(c->found, one);
    if (c->count == MOST_WITNESSES)
        a->done = true;
}

/* A path that ends in a violation, as far as the interpreter knows. */
static void suspect(analysis *a, const char *expected)
{
    witness w;
    if (!path_witness(a, &w)) {
        a->unsure++;
        return;
    }
    const char *words = violation(a, &w.replayed);
    if (words)
        add_counterexample(a, &w, words);
    else
        path_refuted(a, &w, expected);
}

static void check_path(analysis *a)
{
    machine *m = &a->m;
    values after;
    path_inputs(a);
    m->contract_of = a->function;
    value *result = path_call(a, a->function, &after);
    m->contract_of = NULL;
    a->paths++;
    if (!result) {
        const char *name = value_type(m->raised);
        a->type_errors += strcmp(name, "TypeError") == 0 || strcmp(name, "AttributeError") == 0;
        if (contract_allows(&a->contract, m->raised))
            a->good++;
        else
            suspect(a, path_ending(a, m->raised, NULL));
        return;
    }
    for (size_t i = 0; i < a->contract.post_count; i++) {
        value *truth = path_post(a, a->contract.post_nodes[i], &after, result);
        int is = truth ? decide_truth(m, truth, true) : -1;
        if (is != 1) {
            suspect(a, path_ending(
                           a, truth ? NULL : m->raised,
                           arena_print(m->arena, "that this is false: %s", a->contract.post[i])));
            return;
        }
    }
    a->good++;
}

static void check_salvage(analysis *a)
{
    witness w;
    if (!path_witness(a, &w))
        return;
    const char *words = violation(a, &w.replayed);
    if (words && !is_out_of_memory(&w.replayed))
        add_counterexample(a, &w, words);
}

/* Findings among inputs that were called, if the paths have none. */
static void take_findings(analysis *a)
{
    checking *c = current;
    bool none = c->count == 0;
    for (size_t i = 0; none && i < a->every.found_count; i++) {
        witness w;
        enumerate_witness(a, i, &w);
        const char *words = violation(a, &w.replayed);
        if (words && !is_out_of_memory(&w.replayed)) {
            enumerate_contradicts(a, &w, words);
            add_counterexample(a, &w, words);
            c->by_paths = false;
        }
    }
}

static void tell_findings(analysis *a)
{
    yyjson_mut_doc *doc = so_far_begin();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_obj_add_uint(doc, root, "paths_explored", a->paths);
    yyjson_mut_obj_add_uint(doc, root, "paths_verified", a->contradicted ? 0 : a->good);
    yyjson_mut_obj_add_real(doc, root, "coverage_estimate", explore_coverage(a));
    so_far_found(doc, current->count ? "counterexample" : NULL, "counterexamples", current->found);
    so_far_end(doc);
}

static void attempt_check(analysis *a, void *context)
{
    checking *c = context;
    c->found = yyjson_mut_arr(c->r->doc);
    c->count = 0;
    c->by_paths = true;
    current = c;
    search(a, &(question){ .asserts = true,
                           .path = check_path,
                           .salvage = check_salvage,
                           .take = take_findings,
                           .tell = tell_findings });
}

void tool_check(reply *r)
{
    static analysis a;
    int64_t began = clock_ns();
    checking c = { .r = r, .found = yyjson_mut_arr(r->doc) };
    fault wrong;
    bool opened = with_guesses(r, &a, r->request->function, NULL, r->request->seconds,
                               attempt_check, &c, &wrong);
    bool ran = opened;
    if (!opened) {
        reply_fault(r, "error", &wrong);
    } else if (c.count) {
        reply_status(r, "counterexample");
    } else {
        wrong = explore_fault(&a);
        c.by_paths = !wrong.type;
        ran = c.by_paths || enumerate_proves(&a);
        if (ran)
            reply_status(r, "verified");
        else
            reply_fault(r, strcmp(wrong.type, "TimeoutError") == 0 ? "timeout" : "error", &wrong);
    }
    bool proven = ran && c.count == 0 && enumerate_proves(&a);
    yyjson_mut_obj_add_val(r->doc, r->root, "counterexamples", c.found);
    yyjson_mut_obj_add_uint(r->doc, r->root, "paths_explored", opened ? a.paths : 0);
    yyjson_mut_obj_add_uint(r->doc, r->root, "paths_verified",
                            !opened || a.contradicted ? 0
                            : proven                  ? a.paths
                                                      : a.good);
    reply_seconds(r, began);
    yyjson_mut_obj_add_real(r->doc, r->root, "coverage_estimate",
                            proven   ? 1.0
                            : opened ? explore_coverage(&a)
                                     : 0.0);
    if (ran)
        reply_method(r, &a, c.by_paths);
    if (opened)
        reply_assumed(r, &a);
    reply_withdrawn(r, &a);
    analysis_close(&a);
}
