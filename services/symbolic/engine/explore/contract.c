/* Contracts: lines of a docstring that begin with pre:, post: or raises:, and bounds of
 * annotations.
 */
#include <string.h>

#include "explore/explore.h"
#include "inputs/record.h"
#include "tree/validate.h"

static const char *docstring(tree *t, const node *function)
{
    if (function->x.count == 0)
        return NULL;
    const node *first = function->x.at[0];
    if (first->kind != N_EXPR || first->a->kind != N_CONSTANT || first->a->constant->kind != C_STR)
        return NULL;
    const constant *k = first->a->constant;
    machine only_arena = { .arena = t->arena };
    value words = { .kind = V_STR, .known = true, .str = { .chars = k->chars, .count = k->count } };
    return value_utf8(&only_arena, &words);
}

static bool add_condition(tree *t, const node *function, const char *words, const char **list,
                          const node **parsed, size_t *count, int line, fault *wrong)
{
    if (*count == MOST_CONDITIONS) {
        *wrong = (fault){ "ValueError", "A contract has at most 16 conditions of a kind", line };
        return false;
    }
    const node *n = tree_expression(t, words);
    if (!n) {
        *wrong = (fault){
            "SyntaxError",
            arena_print(t->arena, "Syntax error: invalid contract: %s (line %d)", words, line), line
        };
        return false;
    }
    if (!validate(t, n, function, wrong))
        return false;
    list[*count] = words;
    parsed[(*count)++] = n;
    return true;
}

static bool add_raises(tree *t, const char *words, contract *out, int line, fault *wrong)
{
    while (*words && out->raises_count < MOST_CONDITIONS) {
        words += strspn(words, " ,\t");
        size_t length = strcspn(words, " ,\t");
        const char *name = arena_copy(t->arena, words, length);
        *wrong = exception_fault(t, name, line);
        if (wrong->type)
            return false;
        if (length)
            out->raises[out->raises_count++] = exception_meant(t, name);
        words += length;
    }
    return true;
}

/* -- annotations ------------------------------------------------------------------------------- */

static bool is_number(const node *n)
{
    return n->kind == N_CONSTANT || (n->kind == N_UNARYOP && n->a->kind == N_CONSTANT);
}

/* A parameter, and a condition on it: on each item, if it is `*args` or `**kwargs`. */
typedef struct subject {
    const node *p;
    const char *name, *before, *after;
} subject;

static bool add_words(tree *t, const node *function, const subject *of, const char *words,
                      contract *out, fault *wrong)
{
    return add_condition(t, function, arena_print(t->arena, "%s%s%s", of->before, words, of->after),
                         out->pre, out->pre_nodes, &out->pre_count, of->p->line, wrong);
}

/* `Annotated[int, range(10)]`, `Annotated[int, Ge(0)]`, `Annotated[int, Interval(ge=0, lt=10)]` */
static bool add_annotated(tree *t, const node *function, const subject *of, const node *said,
                          contract *out, fault *wrong)
{
    static const struct {
        const char *name, *keyword, *sign;
    } signs[] = {
        { "Ge", "ge", ">=" }, { "Gt", "gt", ">" }, { "Le", "le", "<=" }, { "Lt", "lt", "<" }
    };
    const char *name = said->kind == N_CALL && said->a->name ? said->a->name : "";
    bool range = strcmp(name, "range") == 0, interval = strcmp(name, "Interval") == 0, good = true;
    if (range)
        good = add_words(
            t, function, of,
            arena_print(t->arena, "%s in %s", of->name, tree_source(t, t->arena, said)), out,
            wrong);
    for (size_t i = 0; good && i < sizeof signs / sizeof *signs; i++) {
        const node *bound = NULL;
        if (strcmp(name, signs[i].name) == 0 && said->x.count == 1)
            bound = said->x.at[0];
        for (size_t j = 0; interval && j < said->y.count; j++)
            if (said->y.at[j]->name && strcmp(said->y.at[j]->name, signs[i].keyword) == 0)
                bound = said->y.at[j]->a;
        if (bound && is_number(bound))
            good = add_words(t, function, of,
                             arena_print(t->arena, "%s %s %s", of->name, signs[i].sign,
                                         tree_source(t, t->arena, bound)),
                             out, wrong);
    }
    return good;
}

/* The meaning of a name that is bound once, as in `Age = Annotated[int, range(150)]`. */
static const node *meant_by(const tree *t, const node *n)
{
    for (int i = 0; i < 8 && n && n->kind == N_NAME; i++)
        n = scope_count(t->module->x, n->name) == 1 ? alias_named(t, n->name) : NULL;
    return n;
}

static bool add_annotation(tree *t, const node *function, const subject *of, contract *out,
                           fault *wrong)
{
    const node *n = meant_by(t, of->p->a);
    bool annotated = n && n->kind == N_SUBSCRIPT && n->a->name &&
                     strcmp(n->a->name, "Annotated") == 0 && n->b->kind == N_TUPLE;
    for (size_t i = 1; annotated && i < n->b->x.count; i++)
        if (!add_annotated(t, function, of, n->b->x.at[i], out, wrong))
            return false;
    return true;
}

static bool add_annotations(tree *t, const node *function, contract *out, fault *wrong)
{
    const node *a = function->a;
    nodes lists[] = { a->x, a->y, a->z };
    for (size_t l = 0; l < 3; l++)
        for (size_t i = 0; i < lists[l].count; i++) {
            const node *p = lists[l].at[i];
            if (!add_annotation(t, function, &(subject){ p, p->name, "", "" }, out, wrong))
                return false;
        }
    const node *rest[] = { a->a, a->b };
    bool plain = scope_count(t->module->x, tree_name(t, "all")) == 0;
    for (int i = 0; plain && i < 2; i++) {
        const char *in = rest[i] ? arena_print(t->arena, " for item in %s%s)", rest[i]->name,
                                               i ? ".values()" : "")
                                 : NULL;
        if (in &&
            !add_annotation(t, function, &(subject){ rest[i], "item", "all(", in }, out, wrong))
            return false;
    }
    return true;
}

bool contract_read(tree *t, const node *function, contract *out, fault *wrong)
{
    *out = (contract){ 0 };
    const char *at = docstring(t, function);
    int line = function->line;
    for (; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        at += strspn(at, " \t");
        size_t length = strcspn(at, "\n");
        char *words = arena_copy(t->arena, at, length);
        bool good = true;
        if (strncmp(words, "pre:", 4) == 0)
            good = add_condition(t, function, words + 4 + strspn(words + 4, " \t"), out->pre,
                                 out->pre_nodes, &out->pre_count, line, wrong);
        else if (strncmp(words, "post:", 5) == 0)
            good = add_condition(t, function, words + 5 + strspn(words + 5, " \t"), out->post,
                                 out->post_nodes, &out->post_count, line, wrong);
        else if (strncmp(words, "raises:", 7) == 0)
            good = add_raises(t, words + 7, out, line, wrong);
        if (!good)
            return false;
    }
    return add_annotations(t, function, out, wrong);
}

bool contract_allows(const contract *c, const value *raised)
{
    for (size_t i = 0; i < c->raises_count; i++)
        if (is_of_class_named(raised, c->raises[i]))
            return true;
    return false;
}
