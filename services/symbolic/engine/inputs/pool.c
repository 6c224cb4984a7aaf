/* Typical inputs: see pool.h. */
#include <math.h>
#include <string.h>

#include "inputs/domain.h"
#include "inputs/pool.h"

static void add_inputs(pool *p, const char *words)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->at[i], words) == 0)
            return;
    if (p->count < MOST_POOL)
        p->at[p->count++] = words;
}

static void add_all(pool *p, const pool *more, size_t most)
{
    for (size_t i = 0; i < more->count && i < most; i++)
        add_inputs(p, more->at[i]);
}

/* -- constants --------------------------------------------------------------------------------- */

static void hints_of_all(tree *t, nodes list, hints *out)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i])
            hints_of(t, list.at[i], out);
}

/* A number, its neighbours, and their negatives: where the result of a comparison changes. */
static void add_number(tree *t, int64_t n, pool *out)
{
    for (int64_t at = n - 1; at <= n + 1; at++)
        add_inputs(out, arena_print(t->arena, "%lld", (long long)at));
    if (n > 1)
        add_inputs(out, arena_print(t->arena, "%lld", (long long)-n));
}

static void add_real(tree *t, double n, pool *out)
{
    const double near[] = { n, nextafter(n, INFINITY), nextafter(n, -INFINITY), -n, n / 2 };
    for (size_t i = 0; isfinite(n) && i < sizeof near / sizeof *near; i++)
        add_inputs(out, arena_print(t->arena, "float(%.17g)", near[i]));
}

void hints_of(tree *t, const node *n, hints *out)
{
    const constant *k = n->kind == N_CONSTANT ? n->constant : NULL;
    if (n->kind == N_EXPR && n->a->kind == N_CONSTANT)
        return; /* a docstring */
    if (k && k->kind == C_INT && k->small && k->number > -(INT64_C(1) << 60) &&
        k->number < INT64_C(1) << 60)
        add_number(t, k->number, &out->ints);
    if (k && k->kind == C_FLOAT)
        add_real(t, k->real, &out->floats);
    if (k && k->kind == C_STR && k->count < 40)
        add_inputs(&out->strs, str_words(t->arena, k));
    if (k && k->kind == C_BYTES && k->count < 40)
        add_inputs(&out->bytes, arena_print(t->arena, "b%s", str_words(t->arena, k)));
    if (n->a)
        hints_of(t, n->a, out);
    if (n->b)
        hints_of(t, n->b, out);
    if (n->c)
        hints_of(t, n->c, out);
    hints_of_all(t, n->x, out);
    hints_of_all(t, n->y, out);
    hints_of_all(t, n->z, out);
    hints_of_all(t, n->w, out);
    hints_of_all(t, n->v, out);
}

/* -- values ------------------------------------------------------------------------------------ */

static void add_words(pool *out, const char *const *words)
{
    for (; *words; words++)
        add_inputs(out, *words);
}

/* A short constant without letters and digits, which may separate parts of a text. */
static bool is_separator(const char *words)
{
    size_t count = 0;
    for (const char *at = words; *at; at++, count++)
        if ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z'))
            return false;
    return count > 2 && count <= 5; /* with its quotes */
}

/* Texts with separators of the code: between parts, at the ends, twice, and once too often. */
static void add_separated(tree *t, const pool *strs, pool *out)
{
    static const char *const forms[][5] = {
        { "a", "b", NULL },      { "1", "2", NULL },
        { "a", "b", "c", NULL }, { "a", "", NULL },
        { "", "a", NULL },       { "a", "", "b", NULL },
        { "12", "99", NULL },    { "1", "2", "300", "4", NULL },
        { "", "", "", NULL },
    };
    size_t taken = 0;
    for (size_t i = 0; i < strs->count && taken < 3; i++) {
        const char *between = strs->at[i];
        if (!is_separator(between))
            continue;
        taken++;
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            text words = { .a = t->arena };
            text_say(&words, "'");
            for (size_t j = 0; j < 5 && forms[f][j]; j++)
                text_print(&words, "%.*s%s", j ? (int)strlen(between) - 2 : 0, between + 1,
                           forms[f][j]);
            text_say(&words, "'");
            add_inputs(out, words.data);
        }
    }
}

/* Numbers of the code as parts of a text: "24:00", "00:60", "1.1.1.256". */
static void add_numbered(tree *t, const hints *near, pool *out)
{
    for (size_t i = 0; i < near->strs.count; i++) {
        const char *between = near->strs.at[i] + 1;
        if (!is_separator(near->strs.at[i]))
            continue;
        int length = (int)strlen(between) - 1;
        for (size_t j = 0; j < near->ints.count && j < 12; j++) {
            const char *n = near->ints.at[j];
            if (*n == '-')
                continue;
            add_inputs(out, arena_print(t->arena, "'%s%.*s00'", n, length, between));
            add_inputs(out, arena_print(t->arena, "'00%.*s%s'", length, between, n));
            add_inputs(out, arena_print(t->arena, "'1%.*s1%.*s1%.*s%s'", length, between, length,
                                        between, length, between, n));
        }
        return; /* the first one of the code is enough */
    }
}

/* Sequences of no, one, two and three items, between two signs. */
static void add_sequences(tree *t, const pool *items, const char *open, const char *close,
                          pool *out)
{
    size_t n = items->count;
    text all = { .a = t->arena };
    text_say(&all, open);
    for (size_t i = n < 8 ? n : 8; i-- > 0;)
        text_print(&all, "%s%s", items->at[i], i ? ", " : "");
    text_say(&all, close);
    add_inputs(out, arena_print(t->arena, "%s%s", open, close));
    add_inputs(out, all.data);
    for (size_t i = 0; n && i < 6; i++)
        add_inputs(out, arena_print(t->arena, "%s%s%s", open, items->at[i % n], close));
    for (size_t i = 0; n && i < 4; i++) {
        const char *a = items->at[i % n], *b = items->at[(i + 1) % n];
        add_inputs(out, arena_print(t->arena, "%s%s, %s%s", open, b, a, close));
        add_inputs(out, arena_print(t->arena, "%s%s, %s, %s%s", open, a, b, a, close));
    }
}

static void add_dicts(tree *t, const pool *keys, const pool *items, pool *out)
{
    add_inputs(out, "{}");
    for (size_t i = 0; keys->count && items->count && i < 4; i++) {
        const char *k = keys->at[i % keys->count], *v = items->at[i % items->count];
        add_inputs(out, arena_print(t->arena, "{%s: %s}", k, v));
        add_inputs(out,
                   arena_print(t->arena, "{%s: %s, %s: %s}", k, v, keys->at[(i + 1) % keys->count],
                               items->at[(i + 1) % items->count]));
    }
}

/* Texts that are identifiers, except for the names of parameters. */
static void add_keywords(const type *of, const hints *near, pool *out)
{
    static const char *const usual[] = { "'a'", "'b'", "'key'", "'name'", "'x'", NULL };
    pool all = { 0 };
    add_all(&all, &near->strs, MOST_POOL);
    add_words(&all, usual);
    for (size_t i = 0; i < all.count; i++) {
        const char *key = all.at[i];
        size_t length = strlen(key) - 2, at = 0;
        while (of->names[at] &&
               (strlen(of->names[at]) != length || memcmp(of->names[at], key + 1, length) != 0))
            at++;
        bool name = length > 0 && key[1] > '9' &&
                    strspn(key + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                    "0123456789") == length;
        if (name && !of->names[at])
            add_inputs(out, key);
    }
}

/* A tuple or an object: each part takes its values in turn. */
static void add_records(tree *t, const type *of, const hints *near, int depth, const char *open,
                        const char *close, pool *out)
{
    pool parts[16];
    for (size_t i = 0; i < of->count; i++) {
        pool_of(t, of->parts[i], near, depth + 1, &parts[i]);
        if (parts[i].count == 0)
            return;
    }
    for (size_t row = 0; row < 8; row++) {
        text words = { .a = t->arena };
        text_say(&words, open);
        for (size_t i = 0; i < of->count; i++)
            text_print(&words, "%s%s%s%s", i ? ", " : "", of->names[i] ? of->names[i] : "",
                       of->names[i] ? "=" : "", parts[i].at[(row + row * i) % parts[i].count]);
        text_print(&words, "%s%s", of->kind == T_TUPLE && of->count == 1 ? "," : "", close);
        add_inputs(out, words.data);
    }
}

static void add_ints(const hints *near, int depth, pool *out)
{
    static const char *const ints[] = { "0", "1", "-1", "2", "-2", "3", "10", "100", NULL };
    if (depth > 0) /* of which only the first get into a container */
        add_all(out, &near->ints, 4);
    add_words(out, ints);
    add_all(out, &near->ints, MOST_POOL);
}

static void add_floats(tree *t, const hints *near, pool *out)
{
    static const char *const floats[] = { "0.0",   "1.0",          "-1.0",         "0.5",    "-0.0",
                                          "1e308", "float('nan')", "float('inf')", "-1e-20", NULL };
    add_words(out, floats);
    add_all(out, &near->floats, 25);
    for (size_t i = 0; i < near->ints.count && i < 9; i++)
        add_inputs(out, arena_print(t->arena, "float(%s)", near->ints.at[i]));
}

static void add_strs(tree *t, const hints *near, int depth, pool *out)
{
    static const char *const strs[] = { "''",    "'a'",  "' '",   "'0'", "'ab'",
                                        "'A b'", "'-1'", "'a,b'", NULL };
    /* Digits that int() refuses, and others that are not ASCII; a letter whose length changes with
     * its case. */
    static const char *const odd_strs[] = { "'\\xb2'", "'\\u0661'", "'\\xdf'", "'12'", "'aa'",
                                            "'  '",    "'A'",       "'z'",     "'a1'", NULL };
    if (depth > 0)
        add_all(out, &near->strs, 4);
    add_words(out, strs);
    add_all(out, &near->strs, depth > 0 ? MOST_POOL : 16);
    if (depth == 0) {
        add_separated(t, &near->strs, out);
        add_words(out, odd_strs);
        add_numbered(t, near, out);
        add_all(out, &near->strs, MOST_POOL);
    }
}

static void add_bytes(tree *t, const hints *near, int depth, pool *out)
{
    static const char *const bytes[] = { "b''",    "b'a'",          "b'\\x00'",      "b'\\xff'",
                                         "b'ab'",  "b'0'",          "b'\\x80'",      "b'aa'",
                                         "b'a b'", "b'\\x01\\x02'", "b'\\xc3\\xa9'", "b'abcd'",
                                         NULL };
    add_all(out, &near->bytes, depth > 0 ? 4 : 12);
    add_words(out, bytes);
    for (size_t i = 0; depth == 0 && i < near->bytes.count && i < 6; i++) /* and one more byte */
        add_inputs(out, arena_print(t->arena, "%s + b'\\x01'", near->bytes.at[i]));
}

static void add_dates(tree *t, const type *of, pool *out)
{
    static const char *const dates[] = { "2024, 2, 29",  "2023, 12, 31", "2024, 1, 1",
                                         "2023, 2, 28",  "2000, 1, 31",  "1, 1, 1",
                                         "9999, 12, 31", "1900, 3, 1",   NULL };
    static const char *const deltas[] = { "0", "1", "-1", "30", "365", "0, 1", "7, 3600", NULL };
    for (const char *const *at = of->kind == T_DATE ? dates : deltas; *at; at++)
        add_inputs(out, arena_print(t->arena, "%s(%s)", of->words, *at));
}

static const struct brackets {
    const char *open, *close;
} brackets[] = { [T_LIST] = { "[", "]" },
                 [T_TUPLE_OF] = { "tuple([", "])" },
                 [T_SET] = { "set([", "])" },
                 [T_FROZENSET] = { "frozenset([", "])" } };

void pool_of(tree *t, const type *of, const hints *near, int depth, pool *out)
{
    pool items = { 0 }, keys = { 0 };
    domain few;
    *out = (pool){ 0 };
    if (depth > 3)
        return;
    if (of->parts[0] && of->kind != T_UNION && of->kind != T_TUPLE && of->kind != T_OBJECT)
        pool_of(t, of->parts[of->kind == T_DICT ? 1 : 0], near, depth + 1, &items);
    switch (of->kind) {
    case T_INT:
        add_ints(near, depth, out);
        return;
    case T_FLOAT:
        add_floats(t, near, out);
        return;
    case T_STR:
        add_strs(t, near, depth, out);
        return;
    case T_BYTES:
        add_bytes(t, near, depth, out);
        return;
    case T_LIST:
    case T_TUPLE_OF:
    case T_SET:
    case T_FROZENSET:
        add_sequences(t, &items, brackets[of->kind].open, brackets[of->kind].close, out);
        return;
    case T_DICT:
        if (of->keywords)
            add_keywords(of, near, &keys);
        else
            pool_of(t, of->parts[0], near, depth + 1, &keys);
        add_dicts(t, &keys, &items, out);
        return;
    case T_TUPLE:
        add_records(t, of, near, depth, "(", ")", out);
        return;
    case T_DATE:
    case T_DELTA:
        add_dates(t, of, out);
        return;
    case T_OBJECT:
        add_records(t, of, near, depth, arena_print(t->arena, "%s(", of->node->name), ")", out);
        return;
    case T_UNION:
        for (size_t i = 0; i < of->count; i++) {
            pool_of(t, of->parts[i], near, depth + 1, &items);
            add_all(out, &items, 8);
        }
        return;
    default:
        if (domain_of(t, of, &(bounds){ 0 }, &few))
            for (size_t i = 0; i < few.count && i < MOST_POOL; i++)
                add_inputs(out, domain_words(&few, i, t->arena));
        return;
    }
}
