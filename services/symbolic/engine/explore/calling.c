/* A call of the function as text: for real Python, and for a person. */
#include <string.h>

#include "explore/explore.h"

const char *arguments_of(const analysis *a, const char *const *words, arena *to)
{
    text places = { .a = to }, keywords = { .a = to };
    text_say(&places, "");
    text_say(&keywords, "");
    for (size_t i = 0; i < a->parameter_count; i++) {
        const parameter *p = &a->parameters[i];
        const char *one = words ? words[i] : "%s";
        if (!p->keyword)
            text_print(&places, "%s%s, ", p->rest ? "*" : "", one);
        else if (p->rest)
            text_print(&keywords, "**%s, ", one);
        else
            text_print(&keywords, "'%s': %s, ", p->name, one);
    }
    return arena_print(to, "((%s), {%s})", places.data, keywords.data);
}

/* -- what is in a tuple or dict ---------------------------------------------------------------- */

/* The text is on one line. */
static const char *part_of(arena *to, const char *words, const node *n)
{
    return arena_copy(to, words + n->column, (size_t)(n->end_column - n->column));
}

bool rest_items(analysis *a, const char *words, rest_item **out, size_t *count)
{
    arena *to = &a->tree_arena;
    const node *n = tree_expression(&a->tree, words);
    if (n && n->kind == N_CALL && n->x.count == 1) /* tuple([1, 2]) */
        n = n->x.at[0];
    if (!n || (n->kind != N_TUPLE && n->kind != N_LIST && n->kind != N_DICT))
        return false;
    const nodes *items = n->kind == N_DICT ? &n->y : &n->x;
    *count = items->count;
    *out = arena_take(to, (*count + 1) * sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        (*out)[i].words = part_of(to, words, items->at[i]);
        if (n->kind != N_DICT)
            continue;
        (*out)[i].key = n->x.at[i];
        (*out)[i].key_words = part_of(to, words, n->x.at[i]);
    }
    return true;
}

/* -- for a person ------------------------------------------------------------------------------ */

/* True if a keyword can be written as `name=`. The text is that of a str. */
static bool is_name(const char *words)
{
    static const char *const taken[] = {
        "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
        "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
        "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
        "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"
    };
    size_t length = strlen(words);
    if (length < 3 || words[0] != '\'' || (words[1] >= '0' && words[1] <= '9'))
        return false;
    for (const char *at = words + 1; at[1]; at++)
        if (!(*at >= '0' && *at <= '9') && !(*at >= 'a' && *at <= 'z') &&
            !(*at >= 'A' && *at <= 'Z') && *at != '_')
            return false;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strlen(taken[i]) == length - 2 && memcmp(taken[i], words + 1, length - 2) == 0)
            return false;
    return true;
}

static void show_rest(analysis *a, const parameter *p, const char *words, text *out)
{
    rest_item *items;
    size_t count;
    if (!rest_items(a, words, &items, &count)) {
        text_print(out, "%s%s%s", out->length ? ", " : "", p->keyword ? "**" : "*", words);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *key = items[i].key_words, *between = out->length ? ", " : "";
        if (!key)
            text_print(out, "%s%s", between, items[i].words);
        else if (is_name(key))
            text_print(out, "%s%.*s=%s", between, (int)strlen(key) - 2, key + 1, items[i].words);
        else
            text_print(out, "%s**{%s: %s}", between, key, items[i].words);
    }
}

const char *call_shown(analysis *a, const char *const *words, arena *to)
{
    text all = { .a = to };
    text_say(&all, "");
    for (size_t i = 0; i < a->parameter_count; i++) {
        const parameter *p = &a->parameters[i];
        if (p->rest)
            show_rest(a, p, words[i], &all);
        else
            text_print(&all, "%s%s%s%s", all.length ? ", " : "", p->keyword ? p->name : "",
                       p->keyword ? "=" : "", words[i]);
    }
    return arena_print(to, "%s(%s)", a->function->name, all.data);
}
