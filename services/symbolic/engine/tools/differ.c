/*
 * compare: do two functions do the same? For equal arguments they must return the same values
 * (theories/alike.c says what that is), or raise exceptions of one class. Messages of these, and
 * changed arguments, do not count.
 */
#include <string.h>

#include "tools/tools.h"

typedef struct difference {
    reply *r;
    yyjson_mut_val *found;
    bool by_paths; /* the paths alone would say the same */
} difference;

static difference *current;

static void add_difference(analysis *a, const witness *w)
{
    reply *r = current->r;
    const replay_result *got = &w->replayed;
    yyjson_mut_val *one = yyjson_mut_obj(r->doc);
    reply_arguments(r, one, a, w);
    reply_text(r, one, "result_a",
               got->raised ? raised_words(a->m.arena, got->type, got->message, 0) : got->result);
    reply_text(r, one, "result_b",
               got->other_raised ? raised_words(a->m.arena, got->other_type, got->other_message, 0)
                                 : got->other_result);
    reply_text(r, one, "path_condition", w->condition);
    current->found = one;
    a->found_ns = clock_ns();
    a->done = true;
}

static bool is_confirmed(const replay_result *got)
{
    return got->ran && got->pre && got->other_result && !got->same && !got->incomparable;
}

static void suspect(analysis *a)
{
    witness w;
    if (!path_witness(a, &w))
        a->unsure++;
    else if (is_confirmed(&w.replayed))
        add_difference(a, &w);
    else if (w.replayed.incomparable)
        path_unsupported(&a->m, a->function->line, "return what == can compare",
                         "results that are not comparable: %s and %s", w.replayed.result,
                         w.replayed.other_result);
    else
        path_refuted(a, &w, "that the functions differ");
}

static void salvage(analysis *a)
{
    witness w;
    if (path_witness(a, &w) && is_confirmed(&w.replayed) && !is_out_of_memory(&w.replayed))
        add_difference(a, &w);
}

static void compare_path(analysis *a)
{
    machine *m = &a->m;
    values after;
    unsigned loaded = m->serial;
    path_inputs(a);
    /* The second one begins where the first one began. */
    m->lasting = loaded;
    value *first = path_call(a, a->function, &after);
    m->lasting = 0;
    value *raised = m->raised;
    m->raised = NULL;
    if (m->module_changed)
        path_unsupported(m, a->function->line, "keep it in the arguments and the result",
                         "a comparison of functions that change what is global");
    value *second = path_call(a, a->other, &after);
    value *other = m->raised;
    m->raised = NULL;
    a->paths++;
    if (!first && !second) {
        const char *name = value_type(raised);
        a->type_errors += strcmp(name, "TypeError") == 0 || strcmp(name, "AttributeError") == 0;
    }
    if (!first || !second) {
        if (!first && !second && raised_alike(m, raised, other))
            a->good++;
        else
            suspect(a);
        return;
    }
    m->module_changed = false;
    int same = decide_truth(m, alike(m, first, second), true);
    if (m->module_changed) /* by an iterator, which was asked for its items only now */
        path_unsupported(m, a->function->line, "keep it in the arguments and the result",
                         "a comparison of functions that change what is global");
    if (same == 1)
        a->good++;
    else
        suspect(a);
}

/* A finding among inputs that were called, if the paths have none. */
static void take_difference(analysis *a)
{
    witness w;
    if (current->found || a->every.found_count == 0)
        return;
    enumerate_witness(a, 0, &w);
    if (is_confirmed(&w.replayed) && !is_out_of_memory(&w.replayed)) {
        enumerate_contradicts(a, &w, "differ");
        add_difference(a, &w);
        current->by_paths = false;
    }
}

static void tell_difference(analysis *a)
{
    yyjson_mut_doc *doc = so_far_begin();
    yyjson_mut_obj_add_uint(doc, yyjson_mut_doc_get_root(doc), "paths_compared", a->paths);
    so_far_end(doc);
}

static void attempt_difference(analysis *a, void *context)
{
    current = context;
    current->found = NULL;
    current->by_paths = true;
    search(a, &(question){ .path = compare_path,
                           .salvage = salvage,
                           .take = take_difference,
                           .tell = tell_difference });
}

static size_t parameter_count(const node *function)
{
    const node *given = function->a;
    return given->x.count + given->y.count;
}

void tool_compare(reply *r)
{
    static analysis a;
    int64_t began = clock_ns();
    difference d = { .r = r };
    const char *confidence = "none";
    fault wrong;
    bool ran = with_guesses(r, &a, r->request->function, r->request->other ? r->request->other : "",
                            r->request->seconds, attempt_difference, &d, &wrong);
    if (!ran) {
        reply_fault(r, "error", &wrong);
    } else if (d.found) {
        confidence = "replayed";
        reply_status(r, "different");
    } else {
        wrong = explore_fault(&a);
        d.by_paths = !wrong.type;
        if (enumerate_proves(&a))
            wrong = (fault){ 0 };
        if (!wrong.type && parameter_count(a.function) != parameter_count(a.other))
            wrong = (fault){ "ValueError", "The functions do not take the same parameters", 0 };
        if (!wrong.type) {
            confidence = "proven";
            reply_status(r, "equivalent");
        } else {
            reply_fault(r, "error", &wrong);
        }
    }
    if (d.found)
        yyjson_mut_obj_add_val(r->doc, r->root, "distinguishing_input", d.found);
    else
        yyjson_mut_obj_add_null(r->doc, r->root, "distinguishing_input");
    yyjson_mut_obj_add_uint(r->doc, r->root, "paths_compared", ran ? a.paths : 0);
    reply_text(r, r->root, "confidence", confidence);
    reply_seconds(r, began);
    if (strcmp(confidence, "none") != 0)
        reply_method(r, &a, d.by_paths);
    if (ran)
        reply_assumed(r, &a);
    reply_withdrawn(r, &a);
    analysis_close(&a);
}
