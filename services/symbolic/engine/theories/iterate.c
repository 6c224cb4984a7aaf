/* Iteration: items one by one, from any kind of iterable. */
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

bool is_iterable(machine *m, const value *v, int line)
{
    switch (v->kind) {
    case V_STR:
    case V_BYTES:
    case V_TUPLE:
    case V_LIST:
    case V_DICT:
    case V_SET:
    case V_RANGE:
    case V_ITERATOR:
    case V_VIEW:
        return true;
    case V_OBJECT:
        if (v->object.plain || class_member(v->object.class, "__iter__") ||
            class_member(v->object.class, "__next__") ||
            class_member(v->object.class, "__getitem__"))
            path_unsupported(m, line, "return a list", "an iteration over an object");
        break;
    case V_CLASS:
        if (v->class.enumeration)
            path_unsupported(m, line, "list the members", "an iteration over an enum");
        break;
    default:
        break;
    }
    throw(m, "TypeError", line);
    return false;
}

/* Check the result of the method __iter__ of an object: it must be an iterator. */
static bool is_iterator(machine *m, const value *v, int line)
{
    if (v->kind == V_ITERATOR || special_of(v, "__next__"))
        return true;
    throw(m, "TypeError", line);
    return false;
}

bool iterable(machine *m, value **of, int line)
{
    value *v = *of;
    if (v->kind == V_CLASS && v->class.enumeration) {
        *of = value_new(m, V_TUPLE);
        (*of)->in.items = v->class.enumerated;
        return true;
    }
    value *method = special_of(v, "__iter__");
    if (method) {
        *of = call_special(m, v, method, NULL, line);
        return *of && is_iterator(m, *of, line);
    }
    if (v->kind == V_OBJECT && v->object.plain && !special_of(v, "__getitem__")) {
        *of = v->object.plain;
        return is_iterable(m, *of, line);
    }
    if (special_of(v, "__next__") && !special_of(v, "__getitem__")) { /* without __iter__ */
        throw(m, "TypeError", line);
        return false;
    }
    return is_iterable(m, v, line);
}

value *iterator_over(machine *m, values items)
{
    value *v = value_new(m, V_ITERATOR);
    v->iterator.how = BY_ITEMS;
    v->iterator.sources = items;
    return v;
}

value *iterator_by(machine *m, value *object)
{
    value *v = value_new(m, V_ITERATOR);
    v->iterator.how = BY_OBJECT;
    v->iterator.function = object;
    v->of_class = object->object.class;
    return v;
}

static const value *keys_of(const value *of)
{
    const value *keys = of->kind == V_VIEW ? of->view.dict : of;
    return keys->kind == V_DICT || keys->kind == V_SET ? keys : NULL;
}

static bool is_deque(const value *of)
{
    return of->kind == V_LIST && of->of_class;
}

/* Record the state of a dict or set when an iteration over it begins. */
static void begin(const value *of, cursor *at)
{
    const value *keys = keys_of(of);
    at->begun = true;
    at->count = keys ? keys->in.items.count : 0;
    at->version = keys ? keys->version : of->version;
}

void settle_source(machine *m, value *of)
{
    value *from = of->kind == V_VIEW ? of->view.dict : of;
    if (from->slots)
        settle(m, from);
}

value *iterator_from(machine *m, int how, values sources)
{
    value *v = iterator_over(m, sources);
    v->iterator.how = how;
    v->iterator.cursors = arena_take(m->arena, (sources.count + 1) * sizeof(cursor));
    for (size_t i = 0; i < sources.count; i++) {
        if (keys_of(sources.at[i]))
            settle_source(m, sources.at[i]);
        begin(sources.at[i], v->iterator.cursors + i);
    }
    return v;
}

/* Is there one more item? If that is not known the path forks, first to the end of the loop. */
static bool goes_on(machine *m, Z3_ast condition, unsigned *undecided)
{
    if (*undecided >= m->most_turns)
        path_bound(m, "the number of turns of a loop");
    ++*undecided;
    return path_decide(m, condition, false);
}

static value *range_next(machine *m, value *of, cursor *c, int line)
{
    Z3_context z = m->solver->z;
    int64_t from, to, step, turn = (int64_t)c->turn;
    if (!value_whole(of->range.step, &step))
        step = range_step(m, of, line);
    if (value_whole(of->range.from, &from) && value_whole(of->range.to, &to)) {
        __int128 at = from + (__int128)turn * step; /* it may exceed 64 bits on its way to `to` */
        return (step > 0 ? at < to : at > to) ? value_int(m, (int64_t)at) : NULL;
    }
    Z3_ast factors[] = { term_int(m, turn), term_int(m, step) };
    Z3_ast away = Z3_mk_mul(z, 2, factors);
    Z3_ast here = Z3_mk_add(z, 2, (Z3_ast[]){ value_int_term(m, of->range.from), away });
    Z3_ast end = value_int_term(m, of->range.to);
    Z3_ast inside = step > 0 ? Z3_mk_lt(z, here, end) : Z3_mk_gt(z, here, end);
    return goes_on(m, inside, &c->undecided) ? value_of_int(m, here) : NULL;
}

static value *lazy_next(machine *m, value *of, cursor *c)
{
    Z3_context z = m->solver->z;
    Z3_ast at = term_int(m, (int64_t)c->turn);
    if (!goes_on(m, Z3_mk_lt(z, at, of->lazy.length), &c->undecided))
        return NULL;
    return value_of(m, of->lazy.of, Z3_mk_select(z, of->lazy.array, at));
}

static value *text_next(machine *m, value *of, cursor *c)
{
    Z3_context z = m->solver->z;
    if (of->known)
        return c->turn < of->str.count ? value_str(m, of->str.chars + c->turn, 1) : NULL;
    if (of->str.codes)
        return c->turn < of->str.count ? letters_part(m, of, c->turn, 1) : NULL;
    Z3_ast at = term_int(m, (int64_t)c->turn);
    if (!goes_on(m, Z3_mk_lt(z, at, Z3_mk_seq_length(z, of->term)), &c->undecided))
        return NULL;
    return letters_at(m, of, at);
}

/* reversed() of a list keeps an index and no copy: it returns the current items, and ends where the
 * list has become shorter. */
static value *backwards(machine *m, value *of, int line)
{
    Z3_context z = m->solver->z;
    value *list = of->iterator.sources.at[0];
    settle_source(m, list);
    if (of->iterator.ended)
        return NULL;
    value *turn = value_int(m, (int64_t)of->iterator.turn++);
    value *place = binary(m, OP_SUB, of->iterator.function, turn, line);
    value *length = length_of(m, list, line);
    int64_t at, count;
    bool inside;
    if (value_whole(place, &at) && value_whole(length, &count)) {
        inside = at >= 0 && at < count;
    } else {
        Z3_ast term = value_int_term(m, place);
        Z3_ast within[] = { Z3_mk_ge(z, term, m->solver->zero),
                            Z3_mk_lt(z, term, value_int_term(m, length)) };
        inside = goes_on(m, Z3_mk_and(z, 2, within), &of->iterator.cursors->undecided);
    }
    of->iterator.ended = !inside;
    if (inside && value_is_lazy(list))
        return value_of(m, list->lazy.of,
                        Z3_mk_select(z, list->lazy.array, value_int_term(m, place)));
    return inside ? item_get(m, list, place, line) : NULL;
}

static value *zipped(machine *m, value *of, int line)
{
    value *tuple = value_new(m, V_TUPLE);
    if (of->iterator.ended && of->iterator.sources.count > 1)
        path_unsupported(m, line, "make a list of it first", "zip() that is asked after its end");
    for (size_t i = 0; i < of->iterator.sources.count; i++) {
        value *item = item_next(m, of->iterator.sources.at[i], of->iterator.cursors + i, line);
        if (!item) {
            of->iterator.ended = true;
            return NULL;
        }
        values_add(m, &tuple->in.items, item);
    }
    return of->iterator.sources.count ? tuple : NULL;
}

/* A function that map() or filter() calls may raise StopIteration: that ends them, too. */
static value *called(machine *m, value *function, value *item, int line)
{
    value *result = call_with(m, function, item, line);
    if (!result && is_subclass(m->raised->object.class, exception_class(m, "StopIteration")))
        m->raised = NULL;
    return result;
}

static value *by_object(machine *m, value *object, int line)
{
    value *next = class_member(object->object.class, "__next__");
    value *result = call_with(m, next, object, line);
    if (!result && is_subclass(m->raised->object.class, exception_class(m, "StopIteration")))
        m->raised = NULL;
    return result;
}

static value *iterator_next(machine *m, value *of, int line)
{
    path_touch(m, of->serial);
    switch (of->iterator.how) {
    case BY_ITEMS:
        return of->iterator.turn < of->iterator.sources.count
                   ? of->iterator.sources.at[of->iterator.turn++]
                   : NULL;
    case BY_SOURCE:
        return item_next(m, of->iterator.sources.at[0], of->iterator.cursors, line);
    case BY_REVERSED:
        return backwards(m, of, line);
    case BY_GENERATOR:
    case BY_FUNCTION:
        return m->code->next(m, of, line);
    case BY_ZIP:
        return zipped(m, of, line);
    case BY_ENUMERATE: {
        value *item = item_next(m, of->iterator.sources.at[0], of->iterator.cursors, line);
        if (!item)
            return NULL;
        value *place = binary(m, OP_ADD, of->iterator.function,
                              value_int(m, (int64_t)of->iterator.turn++), line);
        if (!place)
            return NULL;
        value *pair = value_sequence(m, V_TUPLE, 2);
        values_add(m, &pair->in.items, place);
        values_add(m, &pair->in.items, item);
        return pair;
    }
    case BY_OBJECT:
        return by_object(m, of->iterator.function, line);
    case BY_MAP:
    case BY_FILTER:
        break;
    }
    for (;;) {
        value *item = item_next(m, of->iterator.sources.at[0], of->iterator.cursors, line);
        if (!item)
            return NULL;
        value *result = of->iterator.how == BY_FILTER && of->iterator.function->kind == V_NONE
                            ? item
                            : called(m, of->iterator.function, item, line);
        if (!result || of->iterator.how == BY_MAP)
            return result;
        int is = decide_truth(m, result, true);
        if (is < 0)
            return NULL;
        if (is)
            return item;
    }
}

static value *viewed(machine *m, const value *of, size_t turn)
{
    const value *dict = of->view.dict;
    if (turn >= dict->in.items.count)
        return NULL;
    if (of->view.part != 'i')
        return (of->view.part == 'k' ? dict->in.items : dict->in.others).at[turn];
    value *pair = value_sequence(m, V_TUPLE, 2);
    values_add(m, &pair->in.items, dict->in.items.at[turn]);
    values_add(m, &pair->in.items, dict->in.others.at[turn]);
    return pair;
}

/* Check that a dict or set is not changed during an iteration. False: raised. */
static bool is_unchanged(machine *m, const value *of, cursor *at, int line)
{
    const value *keys = keys_of(of);
    if (!at->begun)
        begin(of, at);
    if (is_deque(of) && of->version != at->version) {
        throw(m, "RuntimeError", line);
        return false;
    }
    if (!keys)
        return true;
    if (keys->in.items.count != at->count) {
        throw(m, "RuntimeError", line);
        return false;
    }
    if (keys->version != at->version)
        path_unsupported(m, line, "iterate over list(…)",
                         "a dict or set whose keys change while it is iterated over");
    return true;
}

static value *next_from(machine *m, value *of, cursor *at, int line)
{
    switch (of->kind) {
    case V_RANGE:
        return range_next(m, of, at, line);
    case V_STR:
        return text_next(m, of, at);
    case V_BYTES:
        return byte_of(m, text_next(m, at->turn ? of->bytes.text : bytes_view(m, of), at));
    case V_ITERATOR:
        return iterator_next(m, of, line);
    case V_OBJECT: { /* with __next__ */
        value *item = call_special(m, of, special_of(of, "__next__"), NULL, line);
        value *end = exception_class(m, "StopIteration");
        if (!item && m->raised->object.class == end)
            m->raised = NULL;
        else if (!item && is_subclass(m->raised->object.class, end))
            path_unsupported(m, line, "raise StopIteration itself", "another StopIteration");
        return item;
    }
    case V_SET:
        if (of->in.items.count > 1)
            path_unsupported(m, line, "iterate over sorted(…)", "the order of the items of a set");
        break;
    case V_VIEW:
        return viewed(m, of, at->turn);
    case V_LIST:
        if (value_is_lazy(of))
            return lazy_next(m, of, at);
        break;
    default:
        break;
    }
    return at->turn < of->in.items.count ? of->in.items.at[at->turn] : NULL;
}

value *item_next(machine *m, value *of, cursor *at, int line)
{
    step(m);
    settle_source(m, of);
    if (at->ended || !is_unchanged(m, of, at, line))
        return NULL;
    value *item = next_from(m, of, at, line);
    at->turn++;
    at->ended = !item && !m->raised && of->kind != V_ITERATOR && of->kind != V_OBJECT &&
                !is_deque(of);
    return item;
}

static bool drain(machine *m, value *of, values *out, int line)
{
    cursor at = { 0 };
    value *item;
    while ((item = item_next(m, of, &at, line)))
        values_add(m, out, item);
    return !m->raised;
}

bool items_of(machine *m, value *v, bool any_order, values *out, int line)
{
    *out = (values){ 0 };
    if (!iterable(m, &v, line))
        return false;
    if (v->kind == V_SET)
        settle(m, v);
    if (v->kind == V_SET && any_order) {
        for (size_t i = 0; i < v->in.items.count; i++)
            values_add(m, out, v->in.items.at[i]);
        return true;
    }
    return drain(m, v, out, line);
}

bool list_items(machine *m, value *v, values *out, int line)
{
    value *from = v;
    *out = (values){ 0 };
    if (v->kind != V_OBJECT)
        return has_length_hint(m, v, line) && items_of(m, v, false, out, line);
    return iterable(m, &from, line) && has_length_hint(m, v, line) && drain(m, from, out, line);
}

/* Python asks an object for its length before it makes a list of it: a TypeError is ignored. */
static bool hinted(machine *m, value *v, int line)
{
    int64_t few;
    value *length = object_length(m, v, line);
    if (!length && is_subclass(m->raised->object.class, exception_class(m, "TypeError"))) {
        m->raised = NULL;
        return true;
    }
    if (length && (!value_whole(length, &few) || few > 1000))
        path_unsupported(m, line, "make the list in a loop",
                         "a list of an object whose length is not known");
    return length != NULL;
}

bool has_length_hint(machine *m, value *v, int line)
{
    size_t turn = 0;
    if (special_of(v, "__len__"))
        return hinted(m, v, line);
    if (v->kind == V_ITERATOR && v->iterator.how == BY_SOURCE) {
        turn = v->iterator.cursors->turn;
        v = v->iterator.sources.at[0];
    }
    if (v->kind != V_RANGE)
        return true;
    int64_t few;
    value *left = range_size(m, v, line);
    left = left ? binary(m, OP_SUB, left, value_int(m, (int64_t)turn), line) : NULL;
    if (!left || value_whole(left, &few))
        return left != NULL;
    Z3_ast most = term_int(m, INT64_MAX);
    if (path_decide(m, Z3_mk_gt(m->solver->z, value_int_term(m, left), most), false))
        throw(m, "OverflowError", line);
    return !m->raised;
}

bool extend(machine *m, value *list, value *with, int line)
{
    value *hint = with;
    if (!iterable(m, &with, line) || !has_length_hint(m, hint, line))
        return false;
    if (!value_is_lazy(list) && with->kind == V_LIST && !value_is_lazy(with) &&
        (list->slots || with->slots)) {
        slots all = slots_of(m, list), added = slots_of(m, with);
        for (size_t i = 0; i < added.count; i++)
            slots_add(m, &all, added.at[i].guard, added.at[i].item, NULL);
        path_change(m, list);
        slots_give(m, list, all);
        return true;
    }
    settle(m, list);
    path_change(m, list);
    values more;
    if (with->kind != V_ITERATOR && with->kind != V_OBJECT) { /* `with` may be the list itself */
        if (!items_of(m, with, false, &more, line))
            return false;
        for (size_t i = 0; i < more.count; i++)
            values_add(m, &list->in.items, more.at[i]);
        return true;
    }
    cursor at = { 0 };
    value *item;
    while ((item = item_next(m, with, &at, line)))
        values_add(m, &list->in.items, item);
    return !m->raised;
}
