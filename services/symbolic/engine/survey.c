/* See survey.h. */
#include <stdlib.h>
#include <string.h>

#include "survey.h"

static bool collect(survey *s, const node *n, bool statement);

static bool collect_all(survey *s, nodes list, bool statement)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i] && !collect(s, list.at[i], statement))
            return false;
    return true;
}

static bool collect(survey *s, const node *n, bool statement)
{
    if (statement && n->line > 0 && n->line < s->line_count)
        s->lines[n->line] |= 1;
    if (n->kind == N_IF || n->kind == N_WHILE) {
        if (s->count == MOST_BRANCHES)
            return false;
        s->branches[s->count++] = (branch){ .n = n };
        s->conditions++;
    }
    s->loops += n->kind == N_FOR;
    if (n->kind == N_BOOLOP)
        s->operators += (int)n->x.count - 1;
    bool body = n->kind == N_IF || n->kind == N_WHILE || n->kind == N_FOR || n->kind == N_TRY ||
                n->kind == N_HANDLER || n->kind == N_MATCH_CASE;
    bool try = n->kind == N_TRY;
    if ((n->kind == N_FUNCTION || n->kind == N_CLASS || n->kind == N_LAMBDA) && statement)
        return true; /* another function */
    return (!n->a || collect(s, n->a, false)) && (!n->b || collect(s, n->b, false)) &&
           (!n->c || collect(s, n->c, false)) && collect_all(s, n->x, body) &&
           collect_all(s, n->y, body && !try ? true : try) && collect_all(s, n->z, try) &&
           collect_all(s, n->w, try) && collect_all(s, n->v, false);
}

bool survey_open(survey *s, analysis *a, const node *function)
{
    *s = (survey){ .a = a, .line_count = function->end_line + 2 };
    s->lines = arena_take(&a->tree_arena, (size_t)s->line_count);
    return collect_all(s, function->x, true);
}

bool survey_complete(const survey *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->branches[i].reached[0] || !s->branches[i].reached[1])
            return false;
    for (int i = 0; i < s->line_count; i++)
        if ((s->lines[i] & 3) == 1)
            return false;
    return true;
}

bool survey_decided(const survey *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (int way = 0; way < 2; way++)
            if (s->branches[i].undecided[way] && !s->branches[i].reached[way])
                return false;
    for (int i = 0; i < s->line_count; i++)
        if ((s->lines[i] & 6) == 4)
            return false;
    return true;
}

void survey_line(machine *m, int line)
{
    survey *s = m->survey;
    if (!s || line <= 0 || line >= s->line_count || (s->lines[line] & 3) != 1)
        return;
    /* Inside of a join both sides are run, whether they are possible or not; and the solver may not
     * have known whether this path is. */
    answer possible = ANSWER_SAT;
    if (m->path.unsure || m->path.speculating)
        possible = path_possible(m, m->solver->yes, NULL);
    s->lines[line] |= possible == ANSWER_SAT ? 2 : possible == ANSWER_UNKNOWN ? 4 : 0;
}

static const char *example(survey *s, Z3_model model)
{
    values given;
    if (!model || !model_arguments(s->a, model, &given))
        return NULL;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *args = yyjson_mut_obj(doc);
    for (size_t i = 0; i < given.count; i++)
        yyjson_mut_obj_add_val(doc, args, s->a->parameters[i].name,
                               input_json(&s->a->m, given.at[i], doc));
    yyjson_mut_doc_set_root(doc, args);
    char *words = yyjson_mut_write(doc, 0, NULL);
    const char *kept = words ? arena_copy(&s->a->tree_arena, words, strlen(words)) : NULL;
    free(words);
    yyjson_mut_doc_free(doc);
    return kept;
}

void survey_branch(machine *m, const node *n, Z3_ast condition)
{
    survey *s = m->survey;
    branch *b = NULL;
    for (size_t i = 0; s && !b && i < s->count; i++)
        if (s->branches[i].n == n)
            b = &s->branches[i];
    if (!b || path_is_replaying(m))
        return;
    for (int way = 0; way < 2; way++) {
        if (b->reached[way])
            continue;
        Z3_ast side_of = solver_simplify(m->solver,
                                         way ? condition : Z3_mk_not(m->solver->z, condition));
        if (solver_is_false(m->solver, side_of))
            continue;
        Z3_model model = NULL;
        answer possible = path_possible(m, side_of, &model);
        if (possible == ANSWER_SAT) {
            b->reached[way] = true;
            b->example[way] = example(s, model);
        }
        b->undecided[way] |= possible == ANSWER_UNKNOWN;
        solver_drop(m->solver, model);
    }
}
