/* Bounds of a parameter, from the conditions of a contract. See domain.h. */
#include <string.h>

#include "inputs/domain.h"

bool whole_number(const node *n, int64_t *out)
{
    bool minus = n->kind == N_UNARYOP && n->op == OP_USUB;
    const node *k = minus ? n->a : n;
    if (k->kind != N_CONSTANT || k->constant->kind != C_INT || !k->constant->small)
        return false;
    *out = minus ? -k->constant->number : k->constant->number;
    return *out > -(INT64_C(1) << 40) && *out < INT64_C(1) << 40;
}

static void at_least(span *s, int64_t n)
{
    s->from = s->low && s->from > n ? s->from : n;
    s->low = true;
}

static void at_most(span *s, int64_t n)
{
    s->to = s->high && s->to < n ? s->to : n;
    s->high = true;
}

static bool is_name(const node *n, const char *name)
{
    return n->kind == N_NAME && strcmp(n->name, name) == 0;
}

static bool is_call_of(const node *n, const char *builtin)
{
    return n->kind == N_CALL && is_name(n->a, builtin) && n->x.count == 1 && n->y.count == 0;
}

/* The span that an expression of the parameter restricts: `x` or `len(x)`. */
static span *span_of(const node *n, const char *name, bounds *b)
{
    if (is_name(n, name))
        return &b->itself;
    return is_call_of(n, "len") && is_name(n->x.at[0], name) ? &b->length : NULL;
}

/* `l op r`, where one is the parameter or its length and the other a constant. */
static void narrow_pair(const node *l, operator_kind op, const node *r, const char *name, bounds *b)
{
    static const struct {
        operator_kind op, turned;
    } turns[] = {
        { OP_LT, OP_GT }, { OP_LTE, OP_GTE }, { OP_GT, OP_LT }, { OP_GTE, OP_LTE }, { OP_EQ, OP_EQ }
    };
    span *s = span_of(l, name, b);
    const node *to = r;
    int64_t n;
    if (!s) {
        operator_kind turned = OP_NONE;
        for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
            if (turns[i].op == op)
                turned = turns[i].turned;
        op = turned;
        s = span_of(r, name, b);
        to = l;
    }
    if (!s)
        return;
    if (op == OP_EQ && to->kind == N_CONSTANT)
        s->equal = to;
    if (!whole_number(to, &n))
        return;
    if (op == OP_GT || op == OP_GTE || op == OP_EQ)
        at_least(s, op == OP_GT ? n + 1 : n);
    if (op == OP_LT || op == OP_LTE || op == OP_EQ)
        at_most(s, op == OP_LT ? n - 1 : n);
}

/* `x in (1, 2)`, `x in range(10)`, `x in "abc"` */
static void narrow_in(const node *in, span *s)
{
    int64_t n, least = INT64_MAX, most = INT64_MIN;
    bool range = in->kind == N_CALL && in->a->kind == N_NAME && strcmp(in->a->name, "range") == 0;
    if (range && in->x.count == 1 && whole_number(in->x.at[0], &n)) {
        at_least(s, 0);
        at_most(s, n - 1);
    } else if (range && in->x.count == 2 && whole_number(in->x.at[0], &least) &&
               whole_number(in->x.at[1], &n)) {
        at_least(s, least);
        at_most(s, n - 1);
    } else if (in->kind == N_TUPLE || in->kind == N_LIST || in->kind == N_SET) {
        for (size_t i = 0; i < in->x.count; i++)
            if (in->x.at[i]->kind != N_CONSTANT && !whole_number(in->x.at[i], &n))
                return;
        s->among = in;
        for (size_t i = 0; i < in->x.count; i++) {
            if (!whole_number(in->x.at[i], &n))
                return; /* a bool or a float may be equal to an int */
            least = n < least ? n : least;
            most = n > most ? n : most;
        }
        if (in->x.count) {
            at_least(s, least);
            at_most(s, most);
        }
    } else if (in->kind == N_CONSTANT && in->constant->kind == C_STR) {
        s->among = in;
    }
}

/* `all(… for item in x)`: bounds of the items. */
static void narrow_items(const node *n, const char *name, bounds *out)
{
    const node *each = n->x.at[0];
    if ((each->kind != N_GENERATOR && each->kind != N_LISTCOMP) || each->x.count != 1)
        return;
    const node *clause = each->x.at[0];
    if (clause->number || clause->x.count || !is_name(clause->b, name) || clause->a->kind != N_NAME)
        return;
    bounds item = { .itself = out->items };
    bounds_narrow(each->a, clause->a->name, &item);
    out->items = item.itself;
}

void bounds_narrow(const node *n, const char *name, bounds *out)
{
    if (n->kind == N_BOOLOP && n->op == OP_AND)
        for (size_t i = 0; i < n->x.count; i++)
            bounds_narrow(n->x.at[i], name, out);
    if (is_call_of(n, "all"))
        narrow_items(n, name, out);
    if (n->kind != N_COMPARE)
        return;
    const node *l = n->a;
    for (size_t i = 0; i < n->x.count; i++) {
        const node *r = n->x.at[i];
        span *s = span_of(l, name, out);
        if (n->y.at[i]->op != OP_IN)
            narrow_pair(l, n->y.at[i]->op, r, name, out);
        else if (s)
            narrow_in(r, s);
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
    return n->kind == N_NAME || whole_number(n, &number);
}
