/* Methods of lists, tuples, dicts and sets; those of strs are in text_method.c. */
#include <string.h>

#include "base/base.h"
#include "builtins/builtins.h"

static bool count_is(machine *m, const arguments *given, size_t least, size_t most, int line)
{
    if (given->names.count == 0 && given->places.count >= least && given->places.count <= most)
        return true;
    throw(m, "TypeError", line);
    return false;
}

/* The index of the first item equal to this one; -1: none; -2: raised. */
static long place_of(machine *m, const value *of, value *item, int line)
{
    const values *items = &of->in.items;
    unsigned version = of->version;
    for (size_t i = 0; i < items->count; i++) {
        value *same = same_or_equal(m, items->at[i], item, line);
        int yes = same ? decide_truth(m, same, true) : -1;
        if (yes < 0)
            return -2;
        require_unchanged(m, of, version, line);
        if (yes)
            return (long)i;
    }
    return -1;
}

static value *count_of(machine *m, const value *of, value *item, int line)
{
    const values *items = &of->in.items;
    unsigned version = of->version;
    value *sum = value_int(m, 0);
    for (size_t i = 0; sum && i < items->count; i++) {
        value *same = same_or_equal(m, items->at[i], item, line);
        require_unchanged(m, of, version, line);
        sum = same ? binary(m, OP_ADD, sum, same, line) : NULL;
    }
    return sum;
}

static void remove_at(values *items, size_t place)
{
    memmove(items->at + place, items->at + place + 1,
            (items->count - place - 1) * sizeof *items->at);
    items->count--;
}

/* -- lists ------------------------------------------------------------------------------------- */

static value *append(machine *m, value *list, value *item)
{
    path_change(m, list);
    if (list->slots) {
        slots_add(m, list->slots, NULL, item, NULL);
        return value_none(m);
    }
    if (value_is_lazy(list) && item->kind == list->lazy.of) {
        Z3_context z = m->solver->z;
        list->lazy.array = Z3_mk_store(z, list->lazy.array, list->lazy.length, value_term(m, item));
        list->lazy.length = Z3_mk_add(z, 2, (Z3_ast[]){ list->lazy.length, m->solver->one });
        return value_none(m);
    }
    settle(m, list);
    values_add(m, &list->in.items, item);
    return value_none(m);
}

static value *insert(machine *m, value *list, value *at, value *item, int line)
{
    if (!value_is_integral(at))
        return throw(m, "TypeError", line);
    if (!is_index(m, at, line))
        return NULL;
    settle(m, list);
    path_change(m, list);
    int64_t first, stride;
    size_t count;
    /* As in list[at:at]. */
    if (!slice_bounds(m, (int64_t)list->in.items.count, at, value_none(m), value_none(m), line,
                      &first, &stride, &count))
        return NULL;
    values_add(m, &list->in.items, item);
    values *items = &list->in.items;
    memmove(items->at + first + 1, items->at + first,
            (items->count - 1 - (size_t)first) * sizeof *items->at);
    items->at[first] = item;
    return value_none(m);
}

static value *pop(machine *m, value *list, arguments *given, int line)
{
    value *index = given->places.count ? given->places.at[0] : value_int(m, -1);
    if (value_is_integral(index) && !is_index(m, index, line))
        return NULL;
    int64_t at;
    if (list->slots && value_whole(index, &at) && (at == 0 || at == -1)) {
        bool done;
        value *item = slots_pop(m, list, at == 0, line, &done);
        if (done)
            return item;
    }
    settle(m, list);
    path_change(m, list);
    value *item = item_get(m, list, index, line);
    return item && item_delete(m, list, index, line) ? item : NULL;
}

/* While Python sorts a list, the list is empty, which the key function can see. */
static value *sort(machine *m, value *list, value *key, bool reverse, int line)
{
    settle(m, list);
    path_change(m, list);
    values items = list->in.items;
    bool comparing = false;
    list->in.items = (values){ 0 };
    unsigned version = list->version;
    value *made = sorted(m, items, key, reverse, &comparing, line);
    if (list->version != version)
        path_unsupported(m, line, "sort a copy", "a list that changes while it is sorted");
    if (!made && comparing && items.count > 2)
        path_unsupported(m, line, "use sorted()", "the order of a list after a sort that raised");
    list->in.items = made ? made->in.items : items;
    return made ? value_none(m) : NULL;
}

static value *sort_method(machine *m, value *self, arguments *given, int line)
{
    value *key = NULL, *reverse = NULL;
    for (size_t i = 0; i < given->names.count; i++)
        if (value_says(given->names.at[i], "key"))
            key = given->keywords.at[i]->kind == V_NONE ? NULL : given->keywords.at[i];
        else if (value_says(given->names.at[i], "reverse"))
            reverse = given->keywords.at[i];
        else
            return throw(m, "TypeError", line);
    if (given->places.count)
        return throw(m, "TypeError", line);
    if (reverse)
        require_flag(m, reverse, line);
    int turned = reverse ? decide_truth(m, reverse, false) : 0;
    return turned < 0 ? NULL : sort(m, self, key, turned, line);
}

static value *remove_item(machine *m, value *self, arguments *given, int line)
{
    long place = count_is(m, given, 1, 1, line) ? place_of(m, self, given->places.at[0], line) : -2;
    if (place == -2)
        return NULL;
    if (place < 0)
        return throw(m, "ValueError", line);
    path_change(m, self);
    remove_at(&self->in.items, (size_t)place);
    return value_none(m);
}

static value *turn_around(machine *m, value *self)
{
    values *items = &self->in.items;
    path_change(m, self);
    for (size_t i = 0; i < items->count / 2; i++) {
        value *held = items->at[i];
        items->at[i] = items->at[items->count - 1 - i];
        items->at[items->count - 1 - i] = held;
    }
    return value_none(m);
}

value *list_method(machine *m, value *self, const char *name, arguments *given, int line)
{
    value *first = given->places.count ? given->places.at[0] : NULL;
    if (is_word(name, "append"))
        return count_is(m, given, 1, 1, line) ? append(m, self, first) : NULL;
    if (is_word(name, "sort"))
        return sort_method(m, self, given, line);
    if (is_word(name, "pop"))
        return count_is(m, given, 0, 1, line) ? pop(m, self, given, line) : NULL;
    if (is_word(name, "extend")) {
        bool good = count_is(m, given, 1, 1, line) && extend(m, self, first, line);
        return good ? value_none(m) : NULL;
    }
    if (is_word(name, "copy") && count_is(m, given, 0, 0, line))
        return slice_get(m, self, value_none(m), value_none(m), value_none(m), line);
    if (m->raised)
        return NULL;
    settle(m, self);
    values *items = &self->in.items;
    if (is_word(name, "insert"))
        return count_is(m, given, 2, 2, line) ? insert(m, self, first, given->places.at[1], line)
                                              : NULL;
    if (is_word(name, "remove"))
        return remove_item(m, self, given, line);
    if (is_word(name, "reverse") && count_is(m, given, 0, 0, line))
        return turn_around(m, self);
    if (is_word(name, "clear") && count_is(m, given, 0, 0, line)) {
        path_change(m, self);
        *items = (values){ 0 };
        return value_none(m);
    }
    if (is_word(name, "index") && (given->places.count == 1 || given->names.count)) {
        long place = count_is(m, given, 1, 1, line) ? place_of(m, self, first, line) : -2;
        return place == -2 ? NULL : place < 0 ? throw(m, "ValueError", line) : value_int(m, place);
    }
    if (is_word(name, "count") && count_is(m, given, 1, 1, line))
        return count_of(m, self, first, line);
    if (m->raised)
        return NULL;
    path_unsupported(m, line, "write it out", "the method list.%s", name);
}

static value *tuple_method(machine *m, value *self, const char *name, arguments *given, int line)
{
    if (is_word(name, "index") && (given->places.count == 1 || given->names.count)) {
        long place = count_is(m, given, 1, 1, line) ? place_of(m, self, given->places.at[0], line)
                                                    : -2;
        return place == -2 ? NULL : place < 0 ? throw(m, "ValueError", line) : value_int(m, place);
    }
    if (is_word(name, "count"))
        return count_is(m, given, 1, 1, line) ? count_of(m, self, given->places.at[0], line) : NULL;
    path_unsupported(m, line, "write it out", "the method tuple.%s", name);
}

/* -- dicts ------------------------------------------------------------------------------------- */

static value *view_of(machine *m, value *dict, char part)
{
    value *v = value_new(m, V_VIEW);
    v->view.dict = dict;
    v->view.part = part;
    return v;
}

/* get, pop and setdefault, which look for a key among those that are there. */
static value *item_method(machine *m, value *self, const char *name, arguments *given, int line)
{
    long place = count_is(m, given, 1, 2, line) ? find_key(m, self, given->places.at[0], line) : -2;
    if (place == -2)
        return NULL;
    value *second = given->places.count > 1 ? given->places.at[1] : NULL;
    if (place >= 0) {
        value *found = self->in.others.at[place];
        if (is_word(name, "pop")) {
            path_change(m, self);
            self->version++;
            remove_at(&self->in.items, (size_t)place);
            remove_at(&self->in.others, (size_t)place);
        }
        return found;
    }
    if (is_word(name, "pop") && !second)
        return throw(m, "KeyError", line);
    value *otherwise = second ? second : value_none(m);
    if (is_word(name, "setdefault")) {
        path_change(m, self);
        self->version++;
        values_add(m, &self->in.items, given->places.at[0]);
        values_add(m, &self->in.others, otherwise);
    }
    return otherwise;
}

static value *dict_method(machine *m, value *self, const char *name, arguments *given, int line)
{
    value *first = given->places.count ? given->places.at[0] : NULL;
    value *second = given->places.count > 1 ? given->places.at[1] : NULL;
    if ((is_word(name, "keys") || is_word(name, "values") || is_word(name, "items")) &&
        count_is(m, given, 0, 0, line))
        return view_of(m, self, name[0]);
    if (is_word(name, "fromkeys") && !self->of_class)
        return dict_fromkeys(m, given, line);
    if (is_word(name, "update"))
        return update_dict(m, self, given, line) ? value_none(m) : NULL;
    if (is_word(name, "copy") && count_is(m, given, 0, 0, line)) {
        arguments same = { 0 };
        values_add(m, &same.places, self);
        return call_builtin(m, "dict", &same, line);
    }
    if (is_word(name, "clear") && count_is(m, given, 0, 0, line)) {
        settle(m, self);
        path_change(m, self);
        self->in.items = self->in.others = (values){ 0 };
        self->version++;
        return value_none(m);
    }
    if (is_word(name, "get") && count_is(m, given, 1, 2, line)) {
        bool there, done;
        value *found = second ? keyed_get(m, self, first, second, &there, &done, line) : NULL;
        if (second && done)
            return found;
        found = keyed_get(m, self, first, NULL, &there, &done, line);
        if (done)
            return there ? found : second ? second : value_none(m);
    }
    if (m->raised)
        return NULL;
    if (is_word(name, "get") || is_word(name, "pop") || is_word(name, "setdefault"))
        return item_method(m, self, name, given, line);
    if (m->raised)
        return NULL;
    path_unsupported(m, line, "write it out", "the method dict.%s", name);
}

/* -- sets -------------------------------------------------------------------------------------- */

/* Are all of these items in the set (`wanted`), or none of them? The first exception to that
 * decides: an iterator keeps the items after it. */
static value *has_items(machine *m, value *set, value *of, bool wanted, int line)
{
    values items = { 0 };
    cursor at = { 0 };
    value *item, *result = value_bool(m, true);
    bool iterator = of->kind == V_ITERATOR;
    if (!is_iterable(m, of, line) || (!iterator && !items_of(m, of, true, &items, line)))
        return NULL;
    for (size_t i = 0; i < items.count; i++) {
        value *one = contains(m, set, items.at[i], line);
        if (!one && i > 0 && decide_truth(m, result, true) == 0) {
            m->raised = NULL; /* Python would not have come that far */
            return result;
        }
        if (!one)
            return NULL;
        result = both(m, result, wanted ? one : negated(m, one));
    }
    while (iterator && (item = item_next(m, of, &at, line))) {
        value *one = contains(m, set, item, line);
        int is = one ? decide_truth(m, one, wanted) : -1;
        if (is < 0)
            return NULL;
        if (is != wanted)
            return value_bool(m, false);
    }
    return m->raised ? NULL : result;
}

static bool takes_several(const char *name)
{
    return is_word(name, "union") || is_word(name, "intersection") || is_word(name, "difference") ||
           is_word(name, "update") || is_word(name, "intersection_update") ||
           is_word(name, "difference_update");
}

static bool is_like_operator(const char *name, operator_kind *op)
{
    static const struct {
        const char *name;
        operator_kind op;
    } like[] = { { "union", OP_BITOR },    { "intersection", OP_BITAND },
                 { "difference", OP_SUB }, { "symmetric_difference", OP_BITXOR },
                 { "issubset", OP_LTE },   { "issuperset", OP_GTE } };
    for (size_t i = 0; i < sizeof like / sizeof *like; i++)
        if (is_word(name, like[i].name)) {
            *op = like[i].op;
            return true;
        }
    return false;
}

/* A method that does what an operator does with a set of its argument. */
static value *combine(machine *m, value *self, operator_kind op, arguments *given, int line)
{
    if (op == OP_GTE && given->places.at[0]->kind != V_SET)
        return has_items(m, self, given->places.at[0], true, line);
    unsigned version = self->version;
    value *other = call_builtin(m, "set", given, line);
    if (!other)
        return NULL;
    if (self->version != version)
        path_unsupported(m, line, "make a set of the items first",
                         "a set that changes while it is compared or joined");
    return op == OP_LTE || op == OP_GTE ? compare(m, op, self, other, line)
                                        : binary(m, op, self, other, line);
}

static value *add_items(machine *m, value *self, value *first, int line)
{
    values items = { 0 };
    cursor at = { 0 };
    value *item;
    /* The items may come from a view of this very set. */
    bool one_by_one = first->kind != V_SET;
    if (!is_iterable(m, first, line) || (!one_by_one && !items_of(m, first, true, &items, line)))
        return NULL;
    for (size_t i = 0; i < items.count; i++)
        if (!add_item(m, self, items.at[i], line))
            return NULL;
    while (one_by_one && (item = item_next(m, first, &at, line)))
        if (!add_item(m, self, item, line))
            return NULL;
    return m->raised ? NULL : value_none(m);
}

static value *take_item(machine *m, value *self, value *first, bool must, int line)
{
    long place = find_key(m, self, sought_in(m, self, first), line);
    if (place == -2)
        return NULL;
    if (place < 0)
        return must ? throw(m, "KeyError", line) : value_none(m);
    path_change(m, self);
    self->version++;
    remove_at(&self->in.items, (size_t)place);
    return value_none(m);
}

static value *set_method(machine *m, value *self, const char *name, arguments *given, int line)
{
    operator_kind op;
    value *first = given->places.count ? given->places.at[0] : NULL;
    if (given->places.count > 1 && takes_several(name))
        path_unsupported(m, line, "call it once for each", "set.%s() with several arguments", name);
    if (!count_is(m, given, 0, 1, line))
        return NULL;
    if (first && is_like_operator(name, &op))
        return combine(m, self, op, given, line);
    if (is_word(name, "isdisjoint") && first)
        return has_items(m, self, first, false, line);
    if (is_word(name, "copy") && !first)
        return binary(m, OP_BITOR, self, value_new(m, V_SET), line);
    if (self->frozen)
        path_unsupported(m, line, "use a set", "the method frozenset.%s", name);
    if (is_word(name, "add") && first)
        return add_item(m, self, first, line) ? value_none(m) : NULL;
    if (is_word(name, "update") && first)
        return add_items(m, self, first, line);
    if ((is_word(name, "remove") || is_word(name, "discard")) && first)
        return take_item(m, self, first, is_word(name, "remove"), line);
    if (is_word(name, "clear") && !first) {
        settle(m, self);
        path_change(m, self);
        self->version++;
        self->in.items = (values){ 0 };
        return value_none(m);
    }
    path_unsupported(m, line, "write it out", "the method set.%s", name);
}

static value *number_method(machine *m, value *self, const char *name, arguments *given, int line)
{
    if (value_is_concrete(m, self) && !given->names.count && !given->places.count &&
        (is_word(name, "bit_length") || is_word(name, "is_integer") || is_word(name, "conjugate") ||
         is_word(name, "bit_count"))) {
        values one = { &self, 1, 1 };
        return bridge(m, arena_print(m->arena, "a.%s()", name), &one, line);
    }
    bool plain = value_is_integral(self) && !given->names.count && !given->places.count;
    if (plain && (is_word(name, "bit_length") || is_word(name, "bit_count")))
        return integer_bit_count(m, self, is_word(name, "bit_length"), line);
    if (value_is_integral(self) && is_word(name, "to_bytes"))
        return int_to_bytes(m, self, given, line);
    if (plain && is_word(name, "conjugate"))
        return value_of_int(m, value_int_term(m, self));
    if (self->kind == V_FLOAT && is_word(name, "is_integer"))
        return arguments_fit(m, given, 0, 0, line) ? float_is_integer(m, self, line) : NULL;
    path_unsupported(m, line, "write it out", "the method %s.%s", value_type(self), name);
}

value *call_method(machine *m, value *self, const char *name, arguments *given, int line)
{
    switch (self->kind) {
    case V_STR:
        return call_str_method(m, self, name, given, line);
    case V_BYTES:
        return bytes_method(m, self, name, given, line);
    case V_LIST:
        return self->of_class ? deque_method(m, self, name, given, line)
                              : list_method(m, self, name, given, line);
    case V_TUPLE:
        return tuple_method(m, self, name, given, line);
    case V_DICT:
        return dict_method(m, self, name, given, line);
    case V_SET:
        return set_method(m, self, name, given, line);
    default:
        return number_method(m, self, name, given, line);
    }
}
