/* Built-in functions that iterate over items: min, sum, list, zip, iter and the like. */
#include <string.h>

#include "builtins/builtins.h"

/* A set whose result does not depend on the order of its items: ints and strs. */
static bool is_ordered_set(const value *v)
{
    for (size_t i = 0; v->kind == V_SET && i < v->in.items.count; i++)
        if (!value_is_integral(v->in.items.at[i]) && v->in.items.at[i]->kind != V_STR)
            return false;
    return v->kind == V_SET;
}

/* Items are taken one by one: a function that is called for one of them may change the source of
 * the others, and an exception leaves the rest unread. */
typedef struct taking {
    value *of; /* NULL: from `items` */
    cursor at;
    values items;
    size_t turn;
} taking;

static bool begin_taking(machine *m, taking *t, value *of, int line)
{
    *t = (taking){ 0 };
    if (is_ordered_set(of))
        return items_of(m, of, true, &t->items, line);
    t->of = of;
    return iterable(m, &t->of, line);
}

static value *take_next(machine *m, taking *t, int line)
{
    if (t->of)
        return item_next(m, t->of, &t->at, line);
    return t->turn < t->items.count ? t->items.at[t->turn++] : NULL;
}

static value *extreme(machine *m, arguments *given, bool greatest, int line)
{
    value *key = keyword_argument(given, "key"), *otherwise = keyword_argument(given, "default");
    if (key && key->kind == V_NONE)
        key = NULL;
    if (!arguments_fit(m, given, 1, otherwise ? 1 : MOST_ITEMS, line))
        return NULL;
    taking from = { .items = given->places };
    value *of = given->places.at[0];
    if (given->places.count == 1) {
        if (key && of->kind == V_SET && of->in.items.count > 1)
            path_unsupported(m, line, "sort the items first", "the order of the items of a set");
        if (!begin_taking(m, &from, of, line))
            return NULL;
    }
    value *best = take_next(m, &from, line), *item;
    if (!best)
        return m->raised ? NULL : otherwise ? otherwise : throw(m, "ValueError", line);
    value *best_key = key ? call_with(m, key, best, line) : best;
    while (best_key && (item = take_next(m, &from, line))) {
        value *its = key ? call_with(m, key, item, line) : item;
        value *better = its ? compare(m, greatest ? OP_GT : OP_LT, its, best_key, line) : NULL;
        better = better ? truth_of(m, better) : NULL;
        if (!better)
            return NULL;
        if (!better->known) {
            value *joined = choose(m, better->term, item, best);
            value *joined_key = joined && key ? choose(m, better->term, its, best_key) : joined;
            if (joined && joined_key) {
                best = joined;
                best_key = joined_key;
                continue;
            }
        }
        if (better->known ? better->truth : path_decide(m, better->term, true)) {
            best = item;
            best_key = its;
        }
    }
    return best_key && !m->raised ? best : NULL;
}

/* The sum of ints that exist under conditions; NULL: they are not ints. */
static value *total_of_slots(machine *m, const value *of, value *sum, int line)
{
    slots items = slots_over(m, of, true);
    if (!value_is_integral(sum))
        return NULL;
    for (size_t i = 0; i < items.count; i++)
        if (!value_is_integral(items.at[i].item))
            return NULL;
    for (size_t i = 0; i < items.count; i++) {
        value *item = items.at[i].item;
        value *added = items.at[i].guard
                           ? value_of_int(m, Z3_mk_ite(m->solver->z, items.at[i].guard,
                                                       value_int_term(m, item), m->solver->zero))
                           : item;
        sum = binary(m, OP_ADD, sum, added, line);
    }
    return sum;
}

static value *total(machine *m, arguments *given, int line)
{
    value *start = keyword_argument(given, "start");
    if (!arguments_fit(m, given, 1, start ? 1 : 2, line))
        return NULL;
    value *sum = start ? start : given->places.count == 2 ? given->places.at[1] : value_int(m, 0);
    if (sum->kind == V_STR || sum->kind == V_BYTES)
        return throw(m, "TypeError", line);
    taking from;
    value *item, *of = given->places.at[0], *at_once = m->code->all(m, of);
    of = at_once ? at_once : of;
    if (of->slots || slots_owner(of)) {
        value *all = total_of_slots(m, of, sum, line);
        if (all)
            return all;
        settle(m, of->kind == V_VIEW ? of->view.dict : of);
    }
    if (!begin_taking(m, &from, of, line))
        return NULL;
    while (sum && (item = take_next(m, &from, line))) {
        if (sum->kind != V_FLOAT && item->kind != V_FLOAT) {
            sum = binary(m, OP_ADD, sum, item, line);
            continue;
        }
        value *list = value_new(m, V_LIST); /* from 3.12 on, Python adds floats with a correction */
        do
            values_add(m, &list->in.items, item);
        while ((item = take_next(m, &from, line)));
        if (m->raised)
            return NULL;
        if (!value_is_concrete(m, list) || !value_is_concrete(m, sum) ||
            given->places.at[0]->kind == V_SET)
            path_unsupported(m, line, "add in a loop", "sum() of floats that are not known");
        values both_given = { (value *[]){ list, sum }, 2, 2 };
        return bridge(m, "sum(a, b)", &both_given, line);
    }
    return m->raised ? NULL : sum;
}

/* Their truth is computed by their own methods. */
static bool has_objects(const value *of)
{
    const value *in = of->kind == V_VIEW ? of->view.dict : of;
    bool items = in->kind == V_TUPLE || in->kind == V_DICT || in->kind == V_SET ||
                 (in->kind == V_LIST && !value_is_lazy(in));
    const values *list = of->kind == V_VIEW && of->view.part == 'v' ? &in->in.others
                                                                    : &in->in.items;
    for (size_t i = 0; items && i < list->count; i++)
        if (list->at[i]->kind == V_OBJECT)
            return true;
    return false;
}

/* any() and all() stop at the first item that decides. */
static value *quantified(machine *m, arguments *given, bool all, int line)
{
    if (!arguments_fit(m, given, 1, 1, line))
        return NULL;
    value *of = given->places.at[0];
    if (!iterable(m, &of, line))
        return NULL;
    value *at_once = m->code->all(m, of);
    of = at_once ? at_once : of;
    value *result = value_bool(m, all);
    if ((of->slots || slots_owner(of)) && slots_are_plain(m, of)) {
        slots items = slots_over(m, of, true);
        for (size_t i = 0; result && i < items.count; i++) {
            value *there = guard_truth(m, items.at[i].guard),
                  *truth = truth_of(m, items.at[i].item);
            result = !truth ? NULL
                     : all  ? both(m, result, either(m, negated(m, there), truth))
                            : either(m, result, both(m, there, truth));
        }
        return result;
    }
    if (of->slots || slots_owner(of))
        settle(m, of->slots ? of : slots_owner(of));
    if (of->kind != V_ITERATOR && of->kind != V_OBJECT &&
        !has_objects(of)) { /* no side effect is possible in between: one term */
        values items;
        if (!items_of(m, of, true, &items, line))
            return NULL;
        for (size_t i = 0; result && i < items.count; i++) {
            value *truth = truth_of(m, items.at[i]);
            result = !truth ? NULL : all ? both(m, result, truth) : either(m, result, truth);
        }
        return result;
    }
    cursor at = { 0 };
    value *item;
    while ((item = item_next(m, of, &at, line))) {
        int is = decide_truth(m, item, all);
        if (is < 0)
            return NULL;
        if (is != all)
            return value_bool(m, !all);
    }
    return m->raised ? NULL : result;
}

static value *ranged(machine *m, arguments *given, int line)
{
    if (!arguments_fit(m, given, 1, 3, line))
        return NULL;
    for (size_t i = 0; i < given->places.count; i++)
        if (!value_is_integral(given->places.at[i]))
            return throw(m, "TypeError", line);
    value *v = value_new(m, V_RANGE);
    bool one = given->places.count == 1;
    v->range.from = one ? value_int(m, 0) : given->places.at[0];
    v->range.to = given->places.at[one ? 0 : 1];
    v->range.step = given->places.count == 3 ? given->places.at[2] : value_int(m, 1);
    Z3_ast zero = Z3_mk_eq(m->solver->z, value_int_term(m, v->range.step), m->solver->zero);
    if (path_decide(m, zero, false))
        return throw(m, "ValueError", line);
    return v;
}

static value *collected(machine *m, arguments *given, const char *name, int line)
{
    value_kind kind = strcmp(name, "list") == 0    ? V_LIST
                      : strcmp(name, "tuple") == 0 ? V_TUPLE
                                                   : V_SET;
    if (!arguments_fit(m, given, 0, 1, line))
        return NULL;
    value *made = value_new(m, kind);
    made->frozen = strcmp(name, "frozenset") == 0;
    values items = { 0 };
    value *of = given->places.count ? given->places.at[0] : NULL;
    value *at_once = of ? m->code->all(m, of) : NULL;
    if (at_once && kind == V_LIST)
        return at_once;
    of = at_once ? at_once : of;
    if (of && of->slots && kind == V_LIST && of->kind == V_LIST)
        return slice_get(m, of, value_none(m), value_none(m), value_none(m), line);
    if (of && of->slots)
        settle(m, of);
    if (of &&
        (kind == V_SET ? !items_of(m, of, true, &items, line) : !list_items(m, of, &items, line)))
        return NULL;
    for (size_t i = 0; i < items.count; i++)
        if (kind != V_SET)
            values_add(m, &made->in.items, items.at[i]);
        else if (!add_item(m, made, items.at[i], line))
            return NULL;
    return made;
}

/* Add pairs one by one: their source may read the dict that they go to. */
static bool add_pairs(machine *m, value *dict, value *of, int line)
{
    cursor at = { 0 };
    value *pair;
    refuse_mapping(m, of, line);
    if (!iterable(m, &of, line))
        return false;
    while ((pair = item_next(m, of, &at, line))) {
        if ((pair->kind != V_TUPLE && pair->kind != V_LIST) || value_is_lazy(pair))
            path_unsupported(m, line, "give pairs", "dict() of these items");
        settle(m, pair);
        if (pair->in.items.count != 2)
            throw(m, "ValueError", line);
        if (m->raised || !set_key(m, dict, pair->in.items.at[0], pair->in.items.at[1], line))
            return false;
    }
    return !m->raised;
}

bool update_dict(machine *m, value *dict, arguments *given, int line)
{
    if (given->places.count > 1)
        return throw(m, "TypeError", line) != NULL;
    value *of = given->places.count ? given->places.at[0] : NULL;
    if (of && of->kind == V_DICT)
        settle(m, of);
    for (size_t i = 0; of && of->kind == V_DICT && i < of->in.items.count; i++)
        if (!set_key(m, dict, of->in.items.at[i], of->in.others.at[i], line))
            return false;
    if (of && of->kind != V_DICT && !add_pairs(m, dict, of, line))
        return false;
    for (size_t i = 0; i < given->names.count; i++)
        if (!set_key(m, dict, given->names.at[i], given->keywords.at[i], line))
            return false;
    return true;
}

value *dict_fromkeys(machine *m, arguments *given, int line)
{
    if (!arguments_fit(m, given, 1, 2, line))
        return NULL;
    value *of = given->places.at[0], *made = value_new(m, V_DICT), *key;
    value *each = given->places.count > 1 ? given->places.at[1] : value_none(m);
    cursor at = { 0 };
    if (!iterable(m, &of, line))
        return NULL;
    while ((key = item_next(m, of, &at, line)))
        if (!set_key(m, made, key, each, line))
            return NULL;
    return m->raised ? NULL : made;
}

static value *to_dict(machine *m, arguments *given, int line)
{
    value *made = value_new(m, V_DICT);
    return update_dict(m, made, given, line) ? made : NULL;
}

static value *iterating(machine *m, arguments *given, const char *name, int line)
{
    value *function = NULL;
    int how;
    size_t from = 0;
    if (strcmp(name, "enumerate") == 0) {
        value *start = keyword_argument(given, "start");
        value *of = keyword_argument(given, "iterable");
        if (of && given->places.count)
            return throw(m, "TypeError", line);
        if (of)
            values_add(m, &given->places, of);
        if (!arguments_fit(m, given, 1, start ? 1 : 2, line))
            return NULL;
        how = BY_ENUMERATE;
        function = start ? start : given->places.count == 2 ? given->places.at[1] : value_int(m, 0);
        if (!value_is_integral(function))
            return throw(m, "TypeError", line);
        given->places.count = 1;
    } else if (strcmp(name, "zip") == 0) {
        if (given->names.count)
            path_unsupported(m, line, "compare the lengths", "zip() with strict");
        how = BY_ZIP;
    } else {
        if (!arguments_fit(m, given, 2, MOST_ITEMS, line))
            return NULL;
        if (given->places.count > 2)
            path_unsupported(m, line, "use zip()", "map() over several iterables");
        how = strcmp(name, "map") == 0 ? BY_MAP : BY_FILTER;
        function = given->places.at[0];
        from = 1;
    }
    values sources = { 0 };
    for (size_t i = from; i < given->places.count; i++) {
        value *of = given->places.at[i];
        if (!iterable(m, &of, line))
            return NULL;
        values_add(m, &sources, of);
    }
    value *v = iterator_from(m, how, sources);
    v->iterator.function = function;
    return v;
}

static value *iterator_of(machine *m, arguments *given, int line)
{
    if (given->places.count == 2)
        path_unsupported(m, line, "use a while loop", "iter() with a sentinel");
    value *of = given->places.count ? given->places.at[0] : NULL;
    if (!arguments_fit(m, given, 1, 1, line) || !iterable(m, &of, line))
        return NULL;
    if (of->kind == V_ITERATOR || of->kind == V_OBJECT)
        return of;
    values sources = { 0 };
    values_add(m, &sources, of);
    return iterator_from(m, BY_SOURCE, sources);
}

static value *reversed(machine *m, arguments *given, int line)
{
    if (!arguments_fit(m, given, 1, 1, line))
        return NULL;
    value *of = given->places.at[0];
    values items, sources = { 0 }, turned = { 0 };
    if (of->kind == V_LIST && !of->of_class) {
        values_add(m, &sources, of);
        value *v = iterator_from(m, BY_REVERSED, sources);
        v->iterator.function = binary(m, OP_SUB, length_of(m, of, line), value_int(m, 1), line);
        return v;
    }
    if (of->kind == V_RANGE) {
        value *range = range_reversed(m, of, line);
        values_add(m, &sources, range);
        return iterator_from(m, BY_SOURCE, sources);
    }
    if ((of->kind != V_TUPLE && of->kind != V_STR && of->kind != V_BYTES) || of->of_class)
        path_unsupported(m, line, "make a list of it", "reversed() of a %s", value_type(of));
    if (!items_of(m, of, false, &items, line))
        return NULL;
    for (size_t i = items.count; i-- > 0;)
        values_add(m, &turned, items.at[i]);
    return iterator_over(m, turned);
}

static value *in_order(machine *m, arguments *given, int line)
{
    value *key = keyword_argument(given, "key"), *reverse = keyword_argument(given, "reverse");
    values items;
    if (!arguments_fit(m, given, 1, 1, line))
        return NULL;
    if (reverse)
        require_flag(m, reverse, line);
    bool any_order = (!key || key->kind == V_NONE) && is_ordered_set(given->places.at[0]);
    value *of = given->places.at[0];
    if (any_order ? !items_of(m, of, true, &items, line) : !list_items(m, of, &items, line))
        return NULL;
    bool comparing = false;
    int turned = reverse ? decide_truth(m, reverse, false) : 0;
    return turned < 0 ? NULL
                      : sorted(m, items, key && key->kind != V_NONE ? key : NULL, turned,
                               &comparing, line);
}

static value *next_of(machine *m, arguments *given, int line)
{
    if (!arguments_fit(m, given, 1, 2, line))
        return NULL;
    value *of = given->places.at[0];
    if (of->kind != V_ITERATOR && !special_of(of, "__next__"))
        return throw(m, "TypeError", line);
    cursor at = { 0 };
    value *item = item_next(m, of, &at, line);
    if (item || m->raised)
        return item;
    return given->places.count == 2 ? given->places.at[1] : throw(m, "StopIteration", line);
}

/* -- all of them ------------------------------------------------------------------------------- */

bool call_over_items(machine *m, const char *name, arguments *given, value **result, int line)
{
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        *result = extreme(m, given, name[1] == 'a', line);
    else if (strcmp(name, "sum") == 0)
        *result = total(m, given, line);
    else if (strcmp(name, "any") == 0 || strcmp(name, "all") == 0)
        *result = quantified(m, given, name[1] == 'l', line);
    else if (strcmp(name, "range") == 0)
        *result = ranged(m, given, line);
    else if (strcmp(name, "list") == 0 || strcmp(name, "tuple") == 0 || strcmp(name, "set") == 0 ||
             strcmp(name, "frozenset") == 0)
        *result = collected(m, given, name, line);
    else if (strcmp(name, "dict") == 0)
        *result = to_dict(m, given, line);
    else if (strcmp(name, "enumerate") == 0 || strcmp(name, "zip") == 0 ||
             strcmp(name, "map") == 0 || strcmp(name, "filter") == 0)
        *result = iterating(m, given, name, line);
    else if (strcmp(name, "iter") == 0)
        *result = iterator_of(m, given, line);
    else if (strcmp(name, "reversed") == 0)
        *result = reversed(m, given, line);
    else if (strcmp(name, "sorted") == 0)
        *result = in_order(m, given, line);
    else if (strcmp(name, "next") == 0)
        *result = next_of(m, given, line);
    else
        return false;
    return true;
}
