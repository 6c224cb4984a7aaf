/* branches: which sides of which conditions can be reached and by which inputs, and which lines not
 */
#include <string.h>

#include "explore/survey.h"
#include "tools/tools.h"

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
    a->done = survey_complete(a->m.survey);
}

static void add_side(reply *r, yyjson_mut_val *to, const char *reachable, const char *named,
                     const branch *b, int way, bool asked)
{
    if (asked)
        yyjson_mut_obj_add_bool(r->doc, to, reachable, b->reached[way]);
    else
        yyjson_mut_obj_add_null(r->doc, to, reachable);
    yyjson_doc *parsed = b->example[way] ? yyjson_read(b->example[way], strlen(b->example[way]),
                                                       YYJSON_READ_BIGNUM_AS_RAW)
                                         : NULL;
    if (parsed) {
        yyjson_mut_val *copy = yyjson_val_mut_copy(r->doc, yyjson_doc_get_root(parsed));
        yyjson_mut_obj_add_val(r->doc, to, named, copy);
        yyjson_doc_free(parsed);
    } else {
        yyjson_mut_obj_add_null(r->doc, to, named);
    }
}

static void add_branches(reply *r, analysis *a, const survey *s, bool asked)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(r->doc, r->root, "branches");
    size_t reachable = 0;
    for (size_t i = 0; i < s->count; i++) {
        const branch *b = &s->branches[i];
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(r->doc, list);
        yyjson_mut_obj_add_int(r->doc, one, "line", b->n->line);
        reply_text(r, one, "condition", tree_source(&a->tree, &a->tree_arena, b->n->a));
        add_side(r, one, "true_reachable", "true_example", b, 1, asked);
        add_side(r, one, "false_reachable", "false_example", b, 0, asked);
        reachable += b->reached[0] || b->reached[1];
    }
    yyjson_mut_obj_add_uint(r->doc, r->root, "total_branches", s->count);
    yyjson_mut_obj_add_uint(r->doc, r->root, "reachable_branches", reachable);
    yyjson_mut_val *dead = yyjson_mut_obj_add_arr(r->doc, r->root, "dead_code_lines");
    for (int line = 1; asked && line < s->line_count; line++)
        if ((s->lines[line] & 3) == 1)
            yyjson_mut_arr_add_int(r->doc, dead, line);
    yyjson_mut_obj_add_int(r->doc, r->root, "cyclomatic_complexity",
                           1 + s->conditions + s->loops + s->operators);
}

typedef struct surveying {
    reply *r;
    survey *s;
    bool fits;
} surveying;

static void attempt(analysis *a, void *context)
{
    surveying *c = context;
    c->fits = survey_open(c->s, a, a->function);
    a->m.survey = c->s;
    if (c->fits && c->r->request->reachability)
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
    bool ran = with_guesses(r, &a, r->request->function, NULL, r->request->seconds, attempt, &c,
                            &wrong);
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
    if (!ran)
        s = (survey){ 0 };
    add_branches(r, &a, &s, asked);
    reply_seconds(r, began);
    if (ran) {
        reply_method(r, &a, true);
        reply_assumed(r, &a);
    }
    reply_withdrawn(r, &a);
    analysis_close(&a);
}
