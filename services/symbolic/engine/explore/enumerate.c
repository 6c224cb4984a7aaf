/* See enumerate.h. */
#include <string.h>

#include "explore/enumerate.h"
#include "explore/nature.h"

/* -- which inputs ------------------------------------------------------------------------------ */

static bounds bounds_of(const analysis *a, const char *name, bool asserts)
{
    bounds within = { 0 };
    nodes body = a->function->x;
    for (size_t i = 0; i < a->contract.pre_count; i++)
        bounds_narrow(a->contract.pre_nodes[i], name, &within);
    for (size_t i = 0; asserts && i < body.count; i++) {
        const node *n = body.at[i];
        if (i == 0 && n->kind == N_EXPR && n->a->kind == N_CONSTANT)
            continue;
        /* A condition that could raise something else would be a finding for inputs beyond the
         * bounds. */
        if (n->kind != N_ASSERT || !is_plain_condition(n->a))
            break;
        bounds_narrow(n->a, name, &within);
    }
    return within;
}

bool find_domains(analysis *a, const question *q, size_t *total)
{
    *total = 1;
    if (a->guessed || !bounds_are_plain(a) || (a->other && !keeps_nothing(&a->tree)))
        return false;
    for (size_t i = 0; i < a->parameter_count; i++) {
        bounds within = bounds_of(a, a->parameters[i].name, q->asserts);
        domain *d = &a->every.domains[i];
        if (!domain_of(&a->tree, a->parameters[i].type, &within, d))
            return false;
        if (d->count && *total > MOST_CALLS_OF_ALL / d->count)
            return false;
        *total *= d->count;
    }
    a->every.barred = a->rests_on != NULL;
    return !a->every.barred;
}

/* -- the calls --------------------------------------------------------------------------------- */

/* The inputs for the driver: [from, to] of ints, and tuples of Python literals. */
static const char *sources_of(const analysis *a, arena *to)
{
    text out = { .a = to };
    text_say(&out, "(");
    for (size_t i = 0; i < a->parameter_count; i++) {
        const domain *d = &a->every.domains[i];
        if (!d->choices) {
            text_print(&out, "[%lld, %lld], ", (long long)d->from,
                       (long long)d->from + (long long)d->count);
            continue;
        }
        text_say(&out, "(");
        for (size_t j = 0; j < d->count; j++) {
            text_say(&out, "'");
            for (const char *at = d->choices[j]; *at; at++)
                text_print(&out, "%s%c", *at == '\'' || *at == '\\' ? "\\" : "", *at);
            text_say(&out, "', ");
        }
        text_say(&out, "), ");
    }
    text_say(&out, ")");
    return out.data;
}

/* The lines of asserts that are preconditions. */
static const char *assert_lines(const analysis *a, bool asserts, arena *to)
{
    text out = { .a = to };
    nodes body = a->function->x;
    text_say(&out, "(");
    for (size_t i = 0; asserts && i < body.count; i++) {
        const node *n = body.at[i];
        bool docstring = i == 0 && n->kind == N_EXPR && n->a->kind == N_CONSTANT;
        if (n->kind != N_ASSERT && !docstring)
            break;
        for (int line = n->line; n->kind == N_ASSERT && line <= n->end_line; line++)
            text_print(&out, "'%d', ", line);
    }
    text_say(&out, ")");
    return out.data;
}

static void take_found(analysis *a, const replay_result *got)
{
    every_input *e = &a->every;
    e->calls = got->calls;
    e->held = got->held;
    e->found_count = 0;
    for (size_t i = 0; i < got->found_count; i++)
        if (got->found[i] < got->calls) {
            e->found[e->found_count] = got->found[i];
            e->each[e->found_count++] = got->each[i];
        }
}

bool call_inputs(analysis *a, const question *q, const char *sources, int64_t until,
                 int64_t most_ns)
{
    arena *to = &a->tree_arena;
    replay_call c = { .code = q->noting ? q->noting : a->tree.source,
                      .function = q->noting ? "_mishap_run" : a->function->name,
                      .other = a->other ? a->other->name : NULL,
                      .most_ns = most_ns };
    int64_t left = until - clock_ns();
    bool by_processor = most_ns > 0 && left / 4 > most_ns && replay_counts_processor_time();
    if (most_ns > 0 && most_ns < left)
        left = most_ns;
    c.arguments = arguments_of(a, NULL, to);
    contract_words(a, to, &c);
    if (q->noting)
        c.post = "()";
    /* It is interrupted when its time is over: it reports its findings before. */
    c.every = arena_print(to, "(%s, %s, %s, %s, %.3f, %s, %d, %s, %s)", sources,
                          python_list(to, a->contract.raises, a->contract.raises_count, true),
                          assert_lines(a, q->asserts, to),
                          python_list(to, &q->exception, q->exception ? 1 : 0, true),
                          0.8 * (double)left / 1e9, by_processor ? "True" : "False",
                          q->noting ? (int)MOST_FOUND : (int)MOST_WITNESSES,
                          keeps_nothing(&a->tree) ? "True" : "False", q->noting ? "True" : "False");
    replay_result got;
    replay(to, &c, until, &got);
    take_found(a, &got);
    a->every.why = got.every ? NULL : got.message;
    return got.every;
}

void call_all(analysis *a, const question *q, size_t total)
{
    /* The paths need a part of the time, in case that this does not finish. */
    int64_t until = clock_ns() + (a->deadline_ns - clock_ns()) / 2;
    a->every.rows = NULL;
    a->every.ran = call_inputs(a, q, sources_of(a, &a->tree_arena), until, 0) &&
                   a->every.calls <= total && (a->every.found_count > 0 || a->every.calls == total);
    if (!a->every.ran)
        a->every.found_count = 0;
}

bool enumerate_proves(const analysis *a)
{
    return a->every.ran && a->every.found_count == 0;
}

/* The literal of each argument. */
static void words_of(analysis *a, size_t index, const char **words)
{
    for (size_t i = a->parameter_count; i-- > 0;) {
        const domain *d = &a->every.domains[i];
        if (a->every.rows) {
            words[i] = a->every.rows[index][i];
            continue;
        }
        words[i] = domain_words(d, index % d->count, &a->tree_arena);
        index /= d->count;
    }
}

void enumerate_witness(analysis *a, size_t found, witness *out)
{
    arena *to = &a->tree_arena;
    text condition = { .a = to };
    *out = (witness){ .enumerated = true, .replayed = a->every.each[found] };
    words_of(a, a->every.found[found], out->words);
    for (size_t i = 0; i < a->parameter_count; i++)
        if (!strstr(out->words[i], "nan")) /* NaN is not equal to itself */
            text_print(&condition, "%s%s == %s", condition.length ? " and " : "",
                       a->parameters[i].name, out->words[i]);
    out->call = call_shown(a, out->words, to);
    out->condition = condition.length ? condition.data : "True";
}

bool enumerate_again(analysis *a, size_t found)
{
    arena *to = &a->tree_arena;
    const char *words[MOST_PARAMETERS];
    replay_call c = { .code = a->tree.source, .function = a->function->name };
    words_of(a, a->every.found[found], words);
    c.arguments = arguments_of(a, words, to);
    c.other = a->other ? a->other->name : NULL;
    contract_words(a, to, &c);
    return ends_alike(a, &c, &a->every.each[found]);
}

void enumerate_contradicts(analysis *a, const witness *w, const char *did)
{
    if (a->exhausted && a->unanswered == 0 && !a->found_ns)
        path_contradicted(a, w->call, "that no input is a finding", did);
}

const char *enumerate_method(const analysis *a, bool by_paths)
{
    return by_paths ? a->every.ran ? "both" : "paths" : "enumeration";
}
