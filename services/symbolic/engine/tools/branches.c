/* branches: which sides of which conditions can be reached and by which inputs, and which lines not
 */
#include <string.h>

#include "explore/survey.h"
#include "tools/tools.h"

typedef struct surveying {
    reply *r;
    survey *s;
    bool fits;
} surveying;

static surveying *current; /* of the analysis that runs: it is one at a time */

static void branch_path(analysis *a)
{
    values after;
    path_inputs(a);
    path_call(a, a->function, &after);
    if (a->m.raised) {
        const char *name = value_type(a->m.raised);
        a->type_errors += strcmp(name, "TypeError") == 0 || strcmp(name, "AttributeError") == 0;
    }
    a->paths++;
    a->done = survey_complete(current->s);
}

/* Whether a side can be reached: known if it was, or if the survey came to its end. */
typedef enum knowledge { UNASKED, PARTIAL, WHOLE } knowledge;

static void add_side(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *reachable,
                     const char *named, const branch *b, int way, knowledge known)
{
    /* What real Python did not confirm is not told before the end. */
    bool reached = b->reached[way] && (known == WHOLE || b->example[way]);
    if (known == WHOLE || reached)
        yyjson_mut_obj_add_bool(doc, to, reachable, reached);
    else
        yyjson_mut_obj_add_null(doc, to, reachable);
    yyjson_doc *parsed = b->example[way] ? yyjson_read(b->example[way], strlen(b->example[way]),
                                                       YYJSON_READ_BIGNUM_AS_RAW)
                                         : NULL;
    if (parsed) {
        yyjson_mut_obj_add_val(doc, to, named,
                               yyjson_val_mut_copy(doc, yyjson_doc_get_root(parsed)));
        yyjson_doc_free(parsed);
    } else {
        yyjson_mut_obj_add_null(doc, to, named);
    }
}

static void add_branches(yyjson_mut_doc *doc, analysis *a, const survey *s, knowledge known)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "branches");
    size_t reachable = 0;
    for (size_t i = 0; i < s->count; i++) {
        const branch *b = &s->branches[i];
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_int(doc, one, "line", b->n->line);
        yyjson_mut_obj_add_strcpy(doc, one, "condition",
                                  tree_source(&a->tree, &a->tree_arena, b->n->a));
        add_side(doc, one, "true_reachable", "true_example", b, 1, known);
        add_side(doc, one, "false_reachable", "false_example", b, 0, known);
        reachable += known == WHOLE ? b->reached[0] || b->reached[1]
                                    : b->example[0] || b->example[1];
    }
    yyjson_mut_obj_add_uint(doc, root, "total_branches", s->count);
    yyjson_mut_obj_add_uint(doc, root, "reachable_branches", reachable);
    yyjson_mut_val *dead = yyjson_mut_obj_add_arr(doc, root, "dead_code_lines");
    for (int line = 1; known == WHOLE && line < s->line_count; line++)
        if ((s->lines[line] & 3) == 1)
            yyjson_mut_arr_add_int(doc, dead, line);
    yyjson_mut_obj_add_int(doc, root, "cyclomatic_complexity",
                           1 + s->conditions + s->loops + s->operators);
}

/* Inputs of the pool went ways that none before them did. */
static void take_ways(analysis *a)
{
    for (size_t i = 0; i < a->every.found_count; i++) {
        witness w;
        enumerate_witness(a, i, &w);
        if (w.replayed.ran && w.replayed.pre && !w.replayed.raised)
            survey_take(current->s, w.replayed.result, witness_json(current->r, a, &w));
    }
}

static void tell_branches(analysis *a)
{
    yyjson_mut_doc *doc = so_far_begin();
    add_branches(doc, a, current->s, PARTIAL);
    so_far_end(doc);
}

static void attempt_branches(analysis *a, void *context)
{
    surveying *c = current = context;
    c->fits = survey_open(c->s, a, a->function);
    a->m.watcher = &c->s->watcher;
    if (!c->fits || !c->r->request->reachability)
        return;
    if (c->s->noting && c->s->count)
        search_pool(a, &(question){ .noting = c->s->noting, .take = take_ways });
    a->tell = tell_branches;
    a->told_ns = clock_ns();
    explore(a, branch_path, NULL, c->r->request->seconds);
}

void tool_branches(reply *r)
{
    static analysis a;
    static survey s;
    int64_t began = clock_ns();
    surveying c = { r, &s, false };
    fault wrong;
    bool asked = r->request->reachability;
    bool opened = with_guesses(r, &a, r->request->function, NULL, r->request->seconds,
                               attempt_branches, &c, &wrong);
    bool ran = opened;
    if (ran && !c.fits) {
        wrong = (fault){ "ValueError", "The function has more than 256 conditions", 0 };
        ran = false;
    } else if (ran && asked && (a.contradicted || !survey_complete(&s))) {
        wrong = explore_fault(&a);
        if (!wrong.type && !survey_decided(&s))
            wrong = (fault){ "TimeoutError",
                             "The solver could not decide whether each branch can be reached", 0 };
        ran = !wrong.type;
    }
    if (ran)
        reply_status(r, "complete");
    else
        reply_fault(r, "error", &wrong);
    if (!opened || !c.fits)
        s = (survey){ 0 };
    add_branches(r->doc, &a, &s, !asked ? UNASKED : ran ? WHOLE : PARTIAL);
    reply_seconds(r, began);
    if (ran) {
        reply_method(r, &a, true);
        reply_assumed(r, &a);
    }
    reply_withdrawn(r, &a);
    analysis_close(&a);
}
