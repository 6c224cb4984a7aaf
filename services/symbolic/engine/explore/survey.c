/* Which branches and lines are reached: see survey.h. */
#include <stdlib.h>
#include <string.h>

#include "explore/survey.h"

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
                n->kind == N_HANDLER || n->kind == N_MATCH_CASE || n->kind == N_WITH;
    bool try = n->kind == N_TRY, with = n->kind == N_WITH;
    if ((n->kind == N_FUNCTION || n->kind == N_CLASS || n->kind == N_LAMBDA) && statement)
        return true; /* it is another function */
    return (!n->a || collect(s, n->a, false)) && (!n->b || collect(s, n->b, false)) &&
           (!n->c || collect(s, n->c, false)) && collect_all(s, n->x, body) &&
           collect_all(s, n->y, body && !with) && collect_all(s, n->z, try) &&
           collect_all(s, n->w, try) && collect_all(s, n->v, false);
}

static const char *noting(survey *s);

static void survey_branch(watcher *w, machine *m, const node *n, Z3_ast condition);
static void survey_line(watcher *w, machine *m, int line);

bool survey_open(survey *s, analysis *a, const node *function)
{
    *s = (survey){ .watcher = { survey_branch, survey_line },
                   .a = a,
                   .line_count = function->end_line + 2 };
    s->lines = arena_take(&a->tree_arena, (size_t)s->line_count);
    bool fits = collect_all(s, function->x, true);
    s->noting = fits ? noting(s) : NULL;
    return fits;
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

static void survey_line(watcher *w, machine *m, int line)
{
    survey *s = (survey *)w;
    if (line <= 0 || line >= s->line_count || (s->lines[line] & 3) != 1)
        return;
    /* In a join both sides run, whether they are possible or not; and the solver may not know
     * whether this path is possible. */
    answer possible = ANSWER_SAT;
    if (m->path.guessed.kind != STOP_NONE)
        possible = ANSWER_UNKNOWN;
    else if (m->path.unsure || m->path.speculating)
        possible = path_possible(m, m->solver->yes, NULL);
    s->lines[line] |= possible == ANSWER_SAT ? 2 : possible == ANSWER_UNKNOWN ? 4 : 0;
}

/* -- examples ---------------------------------------------------------------------------------- */

static const char *place_in(const tree *t, int line, int column)
{
    const char *at = t->source;
    for (int i = 1; i < line && at; i++)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    return at ? at + column : t->source + t->length;
}

/* The code with `if c:` replaced by `if _mishap_note(0, (c)):`, and a function that calls the one
 * of interest and returns the record: bit 2 * i + 1 for a condition that was true, bit 2 * i for a
 * false one. */
static const char *noting(survey *s)
{
    const tree *t = &s->a->tree;
    text out = { .a = &s->a->tree_arena };
    const char *at = t->source;
    text_say(&out, "");
    for (size_t i = 0; i < s->count; i++) { /* in the order of the source */
        const node *test = s->branches[i].n->a;
        const char *from = place_in(t, test->line, test->column);
        const char *to = place_in(t, test->end_line, test->end_column);
        if (from < at || to < from)
            return NULL;
        text_print(&out, "%.*s_mishap_note(%zu, (%.*s))", (int)(from - at), at, i, (int)(to - from),
                   from);
        at = to;
    }
    text_print(&out,
               "%s\n"
               "_mishap_noted = [0, -1]\n"
               "def _mishap_note(i, v):\n"
               "    bit = 2 * i + (1 if v else 0)\n"
               "    _mishap_noted[0] |= 1 << bit\n"
               "    if bit == _mishap_noted[1]:\n"
               "        raise KeyboardInterrupt\n"
               "    return v\n"
               "def _mishap_run(*_mishap_a, **_mishap_k):\n" /* the function may be called `a` */
               "    _mishap_noted[0] = 0\n"
               "    try:\n"
               "        %s(*_mishap_a, **_mishap_k)\n"
               "    except BaseException:\n"
               "        pass\n"
               "    return '{:b}'.format(_mishap_noted[0])\n",
               at, s->a->function->name);
    return out.data;
}

/* Which conditions this call evaluates in real Python, and how. NULL: no answer or, if `*refused`,
 * a precondition does not hold there. `until`: it may stop as soon as this bit is set. */
static const char *noted(survey *s, const values *given, int until, bool *refused)
{
    analysis *a = s->a;
    const char *shown;
    replay_call c = { .function = "_mishap_run" };
    if (!s->noting || !call_words(a, given, &c, &shown))
        return NULL;
    c.post = "()";
    c.code = until < 0 ? s->noting
                       : arena_print(a->m.arena, "%s_mishap_noted[1] = %d\n", s->noting, until);
    c.most_ns = 400000000;
    replay_result got = { 0 };
    replay(a->m.arena, &c, a->deadline_ns, &got);
    *refused = got.ran && !got.pre;
    return got.ran && got.pre && !got.raised ? got.result : NULL;
}

static bool has_bit(const char *bits, size_t bit)
{
    size_t count = bits ? strspn(bits + 1, "01") : 0; /* after a quotation mark */
    return bit < count && bits[count - bit] == '1';
}

void survey_take(survey *s, const char *bits, const char *words)
{
    for (size_t i = 0; i < s->count; i++)
        for (int way = 0; way < 2; way++)
            if (!s->branches[i].example[way] && has_bit(bits, 2 * i + (size_t)way)) {
                s->branches[i].reached[way] = true;
                s->branches[i].example[way] = words;
            }
}

/* An example is reported if real Python takes that branch. It may also take other branches without
 * an example. */
static bool confirm(survey *s, const values *given, const char *words, size_t wanted)
{
    bool refused = false;
    const char *bits = noted(s, given, -1, &refused);
    if (!bits && !refused) /* it may never end */
        bits = noted(s, given, (int)wanted, &refused);
    survey_take(s, bits, words);
    bool went = has_bit(bits, wanted), guessed = s->a->m.path.guessed.kind != STOP_NONE;
    if (!went && !guessed && (bits || refused))
        path_contradicted(s->a, words ? words : "",
                          arena_print(s->a->m.arena, "that the condition at line %d is %s",
                                      s->branches[wanted / 2].n->line,
                                      wanted % 2 ? "true" : "false"),
                          refused ? "says that a precondition does not hold" : "goes another way");
    return went;
}

static const char *example_words(survey *s, values given)
{
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

static void survey_branch(watcher *w, machine *m, const node *n, Z3_ast condition)
{
    survey *s = (survey *)w;
    branch *b = NULL;
    for (size_t i = 0; !b && i < s->count; i++)
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
        values given;
        bool unsure = possible == ANSWER_UNKNOWN;
        if (possible == ANSWER_SAT && model && model_arguments(s->a, model, &given)) {
            size_t wanted = 2 * (size_t)(b - s->branches) + (size_t)way;
            unsure = !confirm(s, &given, example_words(s, given), wanted);
        } else if (possible == ANSWER_SAT) {
            unsure = m->path.guessed.kind != STOP_NONE;
            b->reached[way] = !unsure;
        }
        b->undecided[way] |= unsure;
        solver_drop(m->solver, model);
    }
}
