/* Witnesses: a call that follows a path to its end, its result in real Python, and the conclusion
 * if that differs from the path. */
#include <string.h>

#include "explore/nature.h"
#include "machine/terms.h"

/* -- witnesses --------------------------------------------------------------------------------- */

bool model_arguments(analysis *a, Z3_model model, values *out)
{
    *out = (values){ 0 };
    for (size_t i = 0; i < a->inputs.count; i++) {
        value *v = input_concrete(&a->m, model, a->inputs.at[i]);
        if (!v)
            return false;
        values_add(&a->m, out, v);
    }
    return true;
}

const char *python_list(arena *to, const char *const *items, size_t count, bool quote)
{
    text words = { .a = to };
    text_say(&words, "(");
    for (size_t i = 0; i < count; i++) {
        text_say(&words, quote ? "'" : "");
        for (const char *at = items[i]; *at; at++)
            text_print(&words, "%s%c", *at == '\'' || *at == '\\' ? "\\" : "", *at);
        text_say(&words, quote ? "'," : ",");
    }
    text_say(&words, ")");
    return words.data;
}

static bool write_call(analysis *a, const values *given, const char **arguments_text,
                       const char **call_text)
{
    const char *words[MOST_PARAMETERS];
    for (size_t i = 0; i < given->count; i++) {
        text one = { .a = &a->path_arena };
        if (!input_write(&a->m, given->at[i], &one))
            return false;
        words[i] = one.data;
    }
    *arguments_text = arguments_of(a, words, &a->path_arena);
    *call_text = call_shown(a, words, &a->path_arena);
    return true;
}

void contract_words(const analysis *a, arena *to, replay_call *out)
{
    const char *names[MOST_PARAMETERS];
    for (size_t i = 0; i < a->parameter_count; i++) {
        const parameter *p = &a->parameters[i];
        names[i] = p->rest ? arena_print(to, "%s%s", p->keyword ? "**" : "*", p->name) : p->name;
    }
    out->names = python_list(to, names, a->parameter_count, true);
    out->pre = python_list(to, a->contract.pre, a->contract.pre_count, true);
    out->post = python_list(to, a->contract.post, a->contract.post_count, true);
}

bool call_words(analysis *a, const values *given, replay_call *out, const char **shown)
{
    contract_words(a, a->m.arena, out);
    return write_call(a, given, &out->arguments, shown);
}

bool ends_alike(analysis *a, const replay_call *call, const replay_result *first)
{
    for (int seed = 1; seed <= 2; seed++) {
        replay_call c = *call;
        replay_result got;
        c.seed = seed;
        replay(&a->tree_arena, &c, a->last_ns, &got);
        bool both = !first->other_result || (got.other_result && got.same == first->same &&
                                             got.incomparable == first->incomparable);
        if (!got.ran || !got.pre || !got.type || got.raised != first->raised ||
            got.post != first->post || strcmp(got.type, first->type) != 0 ||
            got.line != first->line || !both)
            return false;
    }
    return true;
}

/* Prefer a letter for each unknown keyword of a `**kwargs`; NULL: there is none. */
static Z3_ast name_wishes(analysis *a, Z3_ast others)
{
    machine *m = &a->m;
    Z3_context z = m->solver->z;
    Z3_ast all = NULL;
    for (size_t i = 0; i < a->parameter_count; i++) {
        const parameter *p = &a->parameters[i];
        const value *dict = a->inputs.at[i];
        for (size_t j = 0; p->rest && p->keyword && j < dict->in.items.count; j++) {
            Z3_ast key = value_term(m, dict->in.items.at[j]);
            Z3_ast code = solver_code(m->solver, Z3_mk_seq_at(z, key, m->solver->zero));
            Z3_ast wish[] = { all ? all : m->solver->yes,
                              Z3_mk_eq(z, Z3_mk_seq_length(z, key), m->solver->one),
                              Z3_mk_ge(z, code, term_int(m, 'a')),
                              Z3_mk_le(z, code, term_int(m, 'z')) };
            all = Z3_mk_and(z, 4, wish);
        }
    }
    return all && others ? Z3_mk_and(z, 2, (Z3_ast[]){ all, others }) : all;
}

bool path_witness(analysis *a, witness *out)
{
    machine *m = &a->m;
    *out = (witness){ 0 };
    Z3_model model = NULL;
    Z3_ast wishes = input_wishes(m, a->inputs, false), names = name_wishes(a, wishes);
    int most = m->solver->check_ms;
    m->solver->check_ms = 500;
    if (names && path_possible(m, names, &model) != ANSWER_SAT)
        model = NULL;
    if (!model && wishes && path_possible(m, wishes, &model) != ANSWER_SAT)
        model = NULL;
    Z3_ast latin = model ? NULL : input_wishes(m, a->inputs, true);
    if (latin && latin != wishes && path_possible(m, latin, &model) != ANSWER_SAT)
        model = NULL;
    m->solver->check_ms = most;
    if (!model)
        model = path_model(m);
    bool good = model && model_arguments(a, model, &out->arguments);
    solver_drop(m->solver, model);
    if (!good)
        return false;
    out->condition = path_condition(m, &a->tree_arena);
    replay_call c = { .code = a->tree.source, .function = a->function->name };
    c.other = a->other ? a->other->name : NULL;
    if (!call_words(a, &out->arguments, &c, &out->call))
        return false;
    /* The path has ended, so the call will end, too; if the path was given up, it may not. */
    c.most_ns = m->path.stop.kind == STOP_NONE ? 5000000000 : 500000000;
    replay(&a->tree_arena, &c, a->last_ns, &out->replayed);
    /* The unsupported construct may be the order of a set. */
    if (m->path.stop.kind != STOP_NONE && out->replayed.ran && out->replayed.pre && a->rests_on &&
        !ends_alike(a, &c, &out->replayed))
        out->replayed = (replay_result){ .post = -1, .message = "it is not the same each time" };
    return true;
}

/* -- what real Python does not confirm --------------------------------------------------------- */

const char *path_ending(analysis *a, const value *raised, const char *otherwise)
{
    return raised ? arena_print(a->m.arena, "that it raises %s", value_type(raised)) : otherwise;
}

void path_contradicted(analysis *a, const char *call, const char *expected, const char *did)
{
    arena *to = &a->tree_arena;
    if (a->contradicted)
        return;
    a->contradicted_call = arena_print(to, "%s", call);
    a->contradicted = arena_print(to, "%.2000s: the engine expected %.500s; real Python %.1000s",
                                  call, expected, did);
}

static const char *done_words(arena *a, bool raised, const char *class, const char *message,
                              const char *result)
{
    return raised ? arena_print(a, "raised %s: %s", class, message)
                  : arena_print(a, "returned %s", result ? result : "something");
}

void path_refuted(analysis *a, const witness *w, const char *expected)
{
    const replay_result *got = &w->replayed;
    arena *to = a->m.arena;
    path_unconfirmed(&a->m);
    if (!got->ran || is_out_of_memory(got)) {
        a->unanswered++;
        a->unanswered_why = arena_print(&a->tree_arena, "%s",
                                        got->ran ? "it needs more memory than it may have"
                                                 : got->message);
        return;
    }
    const char *did = got->pre ? done_words(to, got->raised, got->type, got->message, got->result)
                               : "says that a precondition does not hold";
    if (got->pre && got->other_result)
        did = arena_print(to, "%s, and %s %s", did, a->other ? a->other->name : "the other",
                          done_words(to, got->other_raised, got->other_type, got->other_message,
                                     got->other_result));
    path_contradicted(a, w->call, expected, did);
}
