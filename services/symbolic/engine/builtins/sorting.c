/* sorted() and list.sort(). */
#include "builtins/builtins.h"

static bool plain(const values *items)
{
    for (size_t i = 0; i < items->count; i++)
        if (items->at[i]->kind != items->at[0]->kind ||
            (items->at[i]->kind != V_INT && items->at[i]->kind != V_STR))
            return false;
    return true;
}

/* A sorting network: the path need not fork on the order of plain values. */
static void sort_plain(machine *m, values *items, bool reverse, int line)
{
    for (size_t end = items->count; end > 1; end--)
        for (size_t i = 0; i + 1 < end; i++) {
            value **two = items->at + i;
            value *wrong = compare(m, reverse ? OP_LT : OP_GT, two[0], two[1], line);
            value *less = wrong->known ? NULL : choose(m, wrong->term, two[1], two[0]);
            value *more = less ? choose(m, wrong->term, two[0], two[1]) : NULL;
            if (!more) { /* it is known, or strs of different lengths have no common value */
                bool turn = decide_truth(m, wrong, false);
                less = two[turn];
                more = two[!turn];
            }
            two[0] = less;
            two[1] = more;
        }
}

/* Only with a total order is the result independent of the algorithm. A list may contain itself. */
static bool has_order(machine *m, value *v, int depth)
{
    settle_source(m, v);
    enum { MOST_DEPTH = 50 };
    if (v->kind == V_OBJECT && has_own_order(v))
        return false;
    v = plain_of(v);
    const values *parts = v->kind == V_OBJECT ? &v->object.fields : &v->in.items;
    if (v->kind == V_FLOAT)
        return v->known && v->real == v->real;
    bool inside = (v->kind == V_OBJECT && record_of(v->object.class)) || v->kind == V_TUPLE ||
                  (v->kind == V_LIST && !value_is_lazy(v));
    if (inside && depth == MOST_DEPTH)
        return false;
    for (size_t i = 0; inside && i < parts->count; i++)
        if (!has_order(m, parts->at[i], depth + 1))
            return false;
    return v->kind != V_SET && !(value_is_lazy(v) && v->lazy.of == V_FLOAT);
}

void require_flag(machine *m, const value *reverse, int line)
{
    int64_t number;
    if (reverse->kind == V_BOOL || (value_whole(reverse, &number) && number == (int)number))
        return;
    path_unsupported(m, line, "give True or False", "`reverse` that is no bool");
}

value *sorted(machine *m, values items, value *key, bool reverse, bool *comparing, int line)
{
    value *made = value_sequence(m, V_LIST, items.count);
    for (size_t i = 0; i < items.count; i++)
        values_add(m, &made->in.items, items.at[i]);
    if (!key && plain(&made->in.items)) {
        sort_plain(m, &made->in.items, reverse, line);
        return made;
    }
    values keys = { 0 };
    for (size_t i = 0; i < items.count; i++) {
        value *k = key ? call_with(m, key, items.at[i], line) : items.at[i];
        if (!k)
            return NULL;
        if (items.count > 1 && !has_order(m, k, 0) && !(items.count == 2 && k->kind == V_OBJECT))
            path_unsupported(
                m, line, "sort by ints or strs",
                "sorting by floats that may be NaN, by sets, or by what is nested deeply");
        values_add(m, &keys, k);
    }
    *comparing = true;
    /* Insertion sort, which is stable. `reverse` keeps the order of equal items, too. */
    for (size_t i = 1; i < items.count; i++)
        for (size_t j = i; j > 0; j--) {
            value *less = reverse ? compare(m, OP_LT, keys.at[j - 1], keys.at[j], line)
                                  : compare(m, OP_LT, keys.at[j], keys.at[j - 1], line);
            int is = less ? decide_truth(m, less, false) : -1;
            if (is < 0)
                return NULL;
            if (!is)
                break;
            value *held = keys.at[j], *item = made->in.items.at[j];
            keys.at[j] = keys.at[j - 1];
            keys.at[j - 1] = held;
            made->in.items.at[j] = made->in.items.at[j - 1];
            made->in.items.at[j - 1] = item;
        }
    return made;
}
