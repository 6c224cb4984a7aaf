/* See domain.h. */
#include <string.h>

#include "inputs/domain.h"
#include "inputs/pool.h"

/* -- bounds ------------------------------------------------------------------------------------ */

static bool number_of(const node *n, int64_t *out)
{
    bool minus = n->kind == N_UNARYOP && n->op == OP_USUB;
    const node *k = minus ? n->a : n;
    if (k->kind != N_CONSTANT || k->constant->kind != C_INT || !k->constant->small)
        return false;
    *out = minus ? -k->constant->number : k->constant->number;
    return *out > -(INT64_C(1) << 40) && *out < INT64_C(1) << 40;
}

static void at_least(bounds *b, int64_t n)
{
    b->from = b->low && b->from > n ? b->from : n;
    b->low = true;
}

static void at_most(bounds *b, int64_t n)
{
    b->to = b->high && b->to < n ? b->to : n;
    b->high = true;
}

/* `l op r`, where one is the name and the other a number. */
static void narrow_pair(const node *l, operator_kind op, const node *r, const char *name, bounds *b)
{
    static const struct {
        operator_kind op, turned;
    } turns[] = {
        { OP_LT, OP_GT }, { OP_LTE, OP_GTE }, { OP_GT, OP_LT }, { OP_GTE, OP_LTE }, { OP_EQ, OP_EQ }
    };
    int64_t n;
    if (number_of(l, &n) && r->kind == N_NAME) {
        operator_kind turned = OP_NONE;
        for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
            if (turns[i].op == op)
                turned = turns[i].turned;
        op = turned;
        l = r;
    } else if (!number_of(r, &n)) {
        return;
    }
    if (l->kind != N_NAME || strcmp(l->name, name) != 0)
        return;
    if (op == OP_GT || op == OP_GTE || op == OP_EQ)
        at_least(b, op == OP_GT ? n + 1 : n);
    if (op == OP_LT || op == OP_LTE || op == OP_EQ)
        at_most(b, op == OP_LT ? n - 1 : n);
}

/* `name in (1, 2)`, `name in range(10)` */
static void narrow_in(const node *in, bounds *b)
{
    int64_t n, least = INT64_MAX, most = INT64_MIN;
    bool range = in->kind == N_CALL && in->a->kind == N_NAME && strcmp(in->a->name, "range") == 0;
    if (range && in->x.count == 1 && number_of(in->x.at[0], &n)) {
        at_least(b, 0);
        at_most(b, n - 1);
    } else if (range && in->x.count == 2 && number_of(in->x.at[0], &least) &&
               number_of(in->x.at[1], &n)) {
        at_least(b, least);
        at_most(b, n - 1);
    } else if (in->kind == N_TUPLE || in->kind == N_LIST || in->kind == N_SET) {
        for (size_t i = 0; i < in->x.count; i++) {
            if (!number_of(in->x.at[i], &n))
                return; /* a bool or a float may be equal to an int */
            least = n < least ? n : least;
            most = n > most ? n : most;
        }
        if (in->x.count) {
            at_least(b, least);
            at_most(b, most);
        }
    }
}

void bounds_narrow(const node *n, const char *name, bounds *out)
{
    if (n->kind == N_BOOLOP && n->op == OP_AND)
        for (size_t i = 0; i < n->x.count; i++)
            bounds_narrow(n->x.at[i], name, out);
    if (n->kind != N_COMPARE)
        return;
    const node *l = n->a;
    for (size_t i = 0; i < n->x.count; i++) {
        const node *r = n->x.at[i];
        if (n->y.at[i]->op == OP_IN && l->kind == N_NAME && strcmp(l->name, name) == 0)
            narrow_in(r, out);
        else
            narrow_pair(l, n->y.at[i]->op, r, name, out);
        l = r;
    }
}

bool is_plain_condition(const node *n)
{
    int64_t number;
    if (n->kind == N_BOOLOP || n->kind == N_COMPARE) {
        if (n->kind == N_COMPARE && !is_plain_condition(n->a))
            return false;
        for (size_t i = 0; i < n->x.count; i++)
            if (!is_plain_condition(n->x.at[i]) ||
                (n->kind == N_COMPARE && n->y.at[i]->op == OP_IN))
                return false;
        return true;
    }
    return n->kind == N_NAME || number_of(n, &number);
}

/* -- Enums ------------------------------------------------------------------------------------- */

static bool is_enum(const node *class)
{
    static const char *const names[] = { "Enum", "IntEnum", "StrEnum" };
    for (size_t i = 0; i < class->x.count; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            if (class->x.at[i]->name && strcmp(class->x.at[i]->name, names[j]) == 0)
                return class->y.count == 0 && class->w.count == 0;
    return false;
}

/* A value that makes a member: a constant, constants, auto(). A function would make a method. */
static bool is_member_value(const node *n)
{
    if (n->kind == N_CALL)
        return n->a->name && strcmp(n->a->name, "auto") == 0;
    for (size_t i = 0; n->kind == N_TUPLE && i < n->x.count; i++)
        if (!is_member_value(n->x.at[i]))
            return false;
    return n->kind == N_CONSTANT || n->kind == N_TUPLE ||
           (n->kind == N_UNARYOP && n->a->kind == N_CONSTANT);
}

size_t enum_members(const node *class, const char **names, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; is_enum(class) && i < class->z.count; i++) {
        const node *n = class->z.at[i];
        if (n->kind == N_FUNCTION || n->kind == N_PASS ||
            (n->kind == N_EXPR && n->a->kind == N_CONSTANT))
            continue;
        if (n->kind != N_ASSIGN || n->x.count != 1 || n->x.at[0]->kind != N_NAME ||
            n->x.at[0]->name[0] == '_' || !is_member_value(n->a) || count == most)
            return 0;
        names[count++] = n->x.at[0]->name;
    }
    return count;
}

/* -- domains ----------------------------------------------------------------------------------- */

typedef struct listing {
    tree *t;
    const char **at;
    size_t count;
} listing;

static bool add_choice(listing *l, const char *words)
{
    if (l->count == MOST_CALLS_OF_ALL)
        return false;
    if ((l->count & (l->count - 1)) == 0) { /* it is full */
        const char **more = arena_take(l->t->arena, (l->count ? 2 * l->count : 1) * sizeof *more);
        if (l->count)
            memcpy(more, l->at, l->count * sizeof *more);
        l->at = more;
    }
    l->at[l->count++] = words;
    return true;
}

const char *str_words(arena *a, const constant *k)
{
    text out = { .a = a };
    text_say(&out, "'");
    for (size_t i = 0; i < k->count; i++) {
        uint32_t c = k->chars[i];
        if (c >= ' ' && c < 127 && c != '\'' && c != '\\')
            text_print(&out, "%c", (char)c);
        else if (c < 0x100)
            text_print(&out, "\\x%02x", (unsigned)c);
        else if (c < 0x10000)
            text_print(&out, "\\u%04x", (unsigned)c);
        else
            text_print(&out, "\\U%08x", (unsigned)c);
    }
    text_say(&out, "'");
    return out.data;
}

static bool add_constant(listing *l, const node *n)
{
    int64_t number;
    if (number_of(n, &number))
        return add_choice(l, arena_print(l->t->arena, "%lld", (long long)number));
    if (n->kind != N_CONSTANT)
        return false;
    switch (n->constant->kind) {
    case C_NONE:
        return add_choice(l, "None");
    case C_BOOL:
        return add_choice(l, n->constant->truth ? "True" : "False");
    case C_STR:
        return add_choice(l, str_words(l->t->arena, n->constant));
    default:
        return false;
    }
}

static bool add_ints(listing *l, const bounds *within)
{
    if (!within || !within->low || !within->high || within->to - within->from >= MOST_CALLS_OF_ALL)
        return false;
    for (int64_t n = within->from; n <= within->to; n++)
        if (!add_choice(l, arena_print(l->t->arena, "%lld", (long long)n)))
            return false;
    return true;
}

static bool add_values(listing *l, const type *of, const bounds *within);

/* Each item with each of the others. */
static bool add_tuples(listing *l, const type *of)
{
    listing whole = { .t = l->t };
    add_choice(&whole, "");
    for (size_t i = 0; i < of->count; i++) {
        listing items = { .t = l->t }, longer = { .t = l->t };
        if (!add_values(&items, of->parts[i], NULL))
            return false;
        for (size_t j = 0; j < whole.count; j++)
            for (size_t k = 0; k < items.count; k++)
                if (!add_choice(&longer,
                                arena_print(l->t->arena, "%s%s, ", whole.at[j], items.at[k])))
                    return false;
        whole = longer;
    }
    for (size_t j = 0; j < whole.count; j++)
        if (!add_choice(l, arena_print(l->t->arena, "(%s)", whole.at[j])))
            return false;
    return true;
}

static bool add_members(listing *l, const node *class)
{
    const char *names[256];
    size_t count = enum_members(class, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < count; i++)
        if (!add_choice(l, arena_print(l->t->arena, "%s.%s", class->name, names[i])))
            return false;
    return count > 0;
}

static bool add_values(listing *l, const type *of, const bounds *within)
{
    switch (of->kind) {
    case T_INT:
        return add_ints(l, within);
    case T_BOOL:
        return add_choice(l, "False") && add_choice(l, "True");
    case T_NONE:
        return add_choice(l, "None");
    case T_LITERAL:
        if (of->node->kind != N_TUPLE)
            return add_constant(l, of->node);
        for (size_t i = 0; i < of->node->x.count; i++)
            if (!add_constant(l, of->node->x.at[i]))
                return false;
        return true;
    case T_UNION:
        for (size_t i = 0; i < of->count; i++)
            if (!add_values(l, of->parts[i], within))
                return false;
        return true;
    case T_TUPLE:
        return add_tuples(l, of);
    case T_ENUM:
        return add_members(l, of->node);
    default:
        return false;
    }
}

bool domain_of(tree *t, const type *of, const bounds *within, domain *out)
{
    *out = (domain){ 0 };
    if (of->kind == T_INT) {
        if (!within->low || !within->high || within->to - within->from >= MOST_CALLS_OF_ALL)
            return false;
        out->from = within->from;
        out->count = within->to < within->from ? 0 : (size_t)(within->to - within->from) + 1;
        return true;
    }
    listing all = { .t = t };
    if (!add_values(&all, of, within))
        return false;
    out->choices = all.at;
    out->count = all.count;
    return true;
}

const char *domain_words(const domain *d, size_t index, arena *a)
{
    return d->choices ? d->choices[index]
                      : arena_print(a, "%lld", (long long)(d->from + (int64_t)index));
}
