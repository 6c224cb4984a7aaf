/* find: which inputs make a function raise an exception of a type, or of a class derived from it?
 */
#include <stdio.h>
#include <string.h>

#include "tools/tools.h"

typedef struct finding {
    reply *r;
    yyjson_mut_val *found;
    size_t count, paths; /* triggers that are told; paths that raise it */
    const char *type;
    int exists;    /* is there such an exception? -1: not known */
    fault wrong;   /* the name of the exception has several meanings */
    bool by_paths; /* the paths alone would say the same */
} finding;

static finding *current;

static void add_trigger(analysis *a, const witness *w)
{
    finding *f = current;
    reply *r = f->r;
    if (!a->found_ns)
        a->found_ns = clock_ns();
    f->count++;
    yyjson_mut_val *one = yyjson_mut_obj(r->doc);
    reply_arguments(r, one, a, w);
    const replay_result *got = &w->replayed;
    reply_text(r, one, "exception", raised_words(a->m.arena, got->type, got->message, got->line));
    yyjson_mut_obj_add_int(r->doc, one, "line", got->line);
    reply_text(r, one, "path_condition", w->condition);
    yyjson_mut_arr_append(f->found, one);
    if (f->count == MOST_WITNESSES)
        a->done = true;
}

static bool is_confirmed(const replay_result *got)
{
    char name[128];
    snprintf(name, sizeof name, ",%.100s,", current->type);
    return got->ran && got->pre && got->raised && strstr(got->bases, name);
}

static void find_path(analysis *a)
{
    machine *m = &a->m;
    values after;
    path_inputs(a);
    value *result = path_call(a, a->function, &after);
    a->paths++;
    if (result) {
        a->good++;
        return;
    }
    const char *name = value_type(m->raised);
    a->type_errors += strcmp(name, "TypeError") == 0 || strcmp(name, "AttributeError") == 0;
    if (!is_of_class_named(m->raised, current->type)) {
        a->good++;
        return;
    }
    witness w;
    if (!path_witness(a, &w)) {
        a->unsure++;
    } else if (is_confirmed(&w.replayed)) {
        current->paths++;
        add_trigger(a, &w);
    } else {
        path_refuted(a, &w, path_ending(a, m->raised, NULL));
    }
}

static void find_salvage(analysis *a)
{
    witness w;
    if (path_witness(a, &w) && is_confirmed(&w.replayed) && !is_out_of_memory(&w.replayed)) {
        current->paths++;
        add_trigger(a, &w);
    }
}

/* Findings among inputs that were called, if the paths have none. */
static void take_findings(analysis *a)
{
    finding *f = current;
    bool none = f->count == 0 && f->exists == 1;
    for (size_t i = 0; none && i < a->every.found_count; i++) {
        witness w;
        enumerate_witness(a, i, &w);
        if (is_confirmed(&w.replayed) && !is_out_of_memory(&w.replayed)) {
            enumerate_contradicts(a, &w, w.replayed.type);
            f->paths++;
            add_trigger(a, &w);
            f->by_paths = false;
        }
    }
}

static void tell_paths(analysis *a)
{
    yyjson_mut_doc *doc = so_far_begin();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_obj_add_uint(doc, root, "total_paths_explored", a->paths);
    yyjson_mut_obj_add_uint(doc, root, "paths_to_exception", current->paths);
    so_far_found(doc, current->count ? "found" : NULL, "triggering_inputs", current->found);
    so_far_end(doc);
}

static void attempt_find(analysis *a, void *context)
{
    finding *f = context;
    f->found = yyjson_mut_arr(f->r->doc);
    f->count = f->paths = 0;
    f->by_paths = true;
    current = f;
    f->type = exception_meant(&a->tree, f->r->request->exception_type);
    f->exists = exception_exists(&a->tree, f->type);
    f->wrong = exception_fault(&a->tree, f->r->request->exception_type, 0);
    if (f->wrong.type)
        f->exists = 0;
    if (f->exists != 1)
        return;
    search(a, &(question){ .exception = f->type,
                           .path = find_path,
                           .salvage = find_salvage,
                           .take = take_findings,
                           .tell = tell_paths });
    if (strcmp(f->type, "TypeError") == 0 || strcmp(f->type, "AttributeError") == 0)
        a->type_errors = 0; /* it is what is looked for */
}

void tool_find(reply *r)
{
    static analysis a;
    int64_t began = clock_ns();
    finding f = { .r = r, .found = yyjson_mut_arr(r->doc), .type = r->request->exception_type };
    fault wrong;
    bool ran = with_guesses(r, &a, r->request->function, NULL, r->request->seconds, attempt_find,
                            &f, &wrong);
    if (ran && f.exists < 0)
        wrong = engine_fault(&a);
    if (ran && f.exists == 0)
        wrong = f.wrong.type
                    ? f.wrong
                    : (fault){ "ValueError",
                               arena_print(&a.tree_arena, "Unknown exception type: '%.100s'",
                                           r->request->exception_type),
                               0 };
    bool answered = ran && f.exists == 1;
    if (!answered) {
        reply_fault(r, "error", &wrong);
    } else if (f.count) {
        reply_status(r, "found");
    } else {
        wrong = explore_fault(&a);
        f.by_paths = !wrong.type;
        answered = f.by_paths || enumerate_proves(&a);
        if (answered)
            reply_status(r, "unreachable");
        else
            reply_fault(r, "error", &wrong);
    }
    yyjson_mut_obj_add_val(r->doc, r->root, "triggering_inputs", f.found);
    yyjson_mut_obj_add_uint(r->doc, r->root, "paths_to_exception", f.paths);
    yyjson_mut_obj_add_uint(r->doc, r->root, "total_paths_explored", ran ? a.paths : 0);
    reply_seconds(r, began);
    if (answered)
        reply_method(r, &a, f.by_paths);
    if (ran)
        reply_assumed(r, &a);
    reply_withdrawn(r, &a);
    analysis_close(&a);
}
