/* Lists, tuples, dicts and ranges: length, items, slices. */
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

/* -- a list whose length is not known ---------------------------------------------------------- */

static void settle_slots(machine *m, value *v)
{
    slots items = slots_of(m, v), made = { 0 };
    for (size_t i = 0; i < items.count; i++)
        if (!items.at[i].guard || path_decide(m, items.at[i].guard, true))
            slots_add(m, &made, NULL, items.at[i].item, items.at[i].other);
    path_reshape(m, v);
    slots_give(m, v, made);
}

void settle(machine *m, value *list)
{
    Z3_context z = m->solver->z;
    if (list->slots)
        settle_slots(m, list);
    if (!value_is_lazy(list))
        return;
    path_touch(m, list->serial);
    Z3_ast length = list->lazy.length, array = list->lazy.array;
    for (unsigned count = 0; count <= m->most_items; count++) {
        if (!path_decide(m, Z3_mk_eq(z, length, term_int(m, count)), true))
            continue;
        values items = { 0 };
        for (unsigned i = 0; i < count; i++)
            values_add(m, &items,
                       value_of(m, list->lazy.of, Z3_mk_select(z, array, term_int(m, i))));
        list->in.items = items;
        list->in.others = (values){ 0 };
        list->lazy.length = list->lazy.array = NULL;
        return;
    }
    path_bound(m, "the length of a list that is a parameter");
}

/* -- len() ------------------------------------------------------------------------------------- */

int64_t range_step(machine *m, value *v, int line)
{
    int64_t step = INT64_MIN;
    value *few = settled_int(m, v->range.step);
    if (!value_whole(few ? few : v->range.step, &step) || step == INT64_MIN)
        path_unsupported(m, line, "bound the step, as in pre: 1 <= step <= 4",
                         "a range whose step is not known");
    if (few && !m->path.speculating) /* it stays the same for the rest of the path */
        v->range.step = few;
    return step;
}

value *range_size(machine *m, value *v, int line)
{
    Z3_context z = m->solver->z;
    int64_t step = range_step(m, v, line);
    int64_t from, to;
    if (value_whole(v->range.from, &from) && value_whole(v->range.to, &to)) {
        __int128 size = step > 0 ? (__int128)to - from : (__int128)from - to;
        __int128 stride = step > 0 ? step : -(__int128)step;
        __int128 count = size <= 0 ? 0 : (size + stride - 1) / stride;
        if (count <= INT64_MAX)
            return value_int(m, (int64_t)count);
    }
    Z3_ast low = value_int_term(m, step > 0 ? v->range.from : v->range.to);
    Z3_ast high = value_int_term(m, step > 0 ? v->range.to : v->range.from);
    int64_t stride = step > 0 ? step : -step;
    Z3_ast size = Z3_mk_add(
        z, 2, (Z3_ast[]){ Z3_mk_sub(z, 2, (Z3_ast[]){ high, low }), term_int(m, stride - 1) });
    Z3_ast count = Z3_mk_ite(z, Z3_mk_le(z, high, low), m->solver->zero,
                             Z3_mk_div(z, size, term_int(m, stride)));
    return value_of_int(m, count);
}

value *range_truth(machine *m, const value *v)
{
    Z3_context z = m->solver->z;
    Z3_ast from = value_int_term(m, v->range.from), to = value_int_term(m, v->range.to);
    Z3_ast step = value_int_term(m, v->range.step);
    return value_of_bool(m, Z3_mk_ite(z, Z3_mk_gt(z, step, m->solver->zero), Z3_mk_lt(z, from, to),
                                      Z3_mk_gt(z, from, to)));
}

value *range_reversed(machine *m, value *v, int line)
{
    value *from = v->range.from, *step = v->range.step;
    value *before = binary(m, OP_SUB, from, step, line);
    value *away = binary(m, OP_MULT, range_size(m, v, line), step, line);
    value *made = value_new(m, V_RANGE);
    made->range.from = binary(m, OP_ADD, before, away, line);
    made->range.to = before;
    made->range.step = unary(m, OP_USUB, step, line);
    return made;
}

/* Only len() must return an index: a range may have more items than that. */
static value *range_length(machine *m, value *v, int line)
{
    Z3_context z = m->solver->z;
    value *size = range_size(m, v, line);
    Z3_ast count = value_int_term(m, size);
    return path_decide(m, Z3_mk_gt(z, count, term_int(m, INT64_MAX)), false)
               ? throw(m, "OverflowError", line)
               : size;
}

value *length_of(machine *m, value *v, int line)
{
    switch (v->kind) {
    case V_STR:
        v = text_looked_at(m, v);
        return v->known || v->str.codes ? value_int(m, (int64_t)v->str.count)
                                        : value_of_int(m, Z3_mk_seq_length(m->solver->z, v->term));
    case V_BYTES:
        return length_of(m, v->bytes.text, line);
    case V_LIST:
        if (value_is_lazy(v))
            return value_of_int(m, v->lazy.length);
        return v->slots ? slots_length(m, v) : value_int(m, (int64_t)v->in.items.count);
    case V_TUPLE:
    case V_DICT:
    case V_SET:
        return v->slots ? slots_length(m, v) : value_int(m, (int64_t)v->in.items.count);
    case V_HUGE:
        return value_of_int(m, v->term);
    case V_VIEW:
        return length_of(m, v->view.dict, line);
    case V_RANGE:
        return range_length(m, v, line);
    case V_OBJECT:
        return object_length(m, v, line);
    case V_CLASS:
        if (v->class.enumeration)
            return value_int(m, (int64_t)v->class.enumerated.count);
        return throw(m, "TypeError", line);
    default:
        return throw(m, "TypeError", line);
    }
}

/* -- ints as indexes -------------------------------------------------------------------------- */

/*
 * What CPython does with an int beyond -2**63 … 2**63 - 1:
 *
 *   OverflowError   insert(), pop(), sequence * int, the counts of split(), rsplit() and replace(),
 *                   the widths of zfill(), ljust(), rjust() and center(), expandtabs(), chr(),
 *                   len() of a range, and list(), tuple(), sorted() and extend() of one
 *   IndexError      an item of a list, tuple or str, and also when an item of what has none that
 *                   can be set or deleted is: of a str, tuple, set, range or view of a dict
 *   clamped         bounds and steps of slices, bounds of find(), rfind(), index(), rindex(),
 *                   count(), startswith() and endswith()
 *   as any int      index, truth, `in` and iteration of a range, the start of enumerate(), the
 *                   digits of round(), shifts (a negative number of bits is a ValueError)
 *
 * cases/indexes.py has one case for each of these that is modelled.
 */
static bool is_beyond(machine *m, value *v)
{
    Z3_context z = m->solver->z;
    int64_t whole;
    if (value_whole(v, &whole))
        return false;
    Z3_ast term = value_int_term(m, v);
    Z3_ast outside[] = { Z3_mk_gt(z, term, term_int(m, INT64_MAX)),
                         Z3_mk_lt(z, term, term_int(m, INT64_MIN)) };
    return path_decide(m, Z3_mk_or(z, 2, outside), false);
}

bool is_index(machine *m, value *v, int line)
{
    if (is_beyond(m, v))
        throw(m, "OverflowError", line);
    return !m->raised;
}

void refuse_item(machine *m, const value *of, value *index, int line)
{
    bool may_raise_both = of->kind == V_STR || of->kind == V_BYTES || of->kind == V_TUPLE ||
                          of->kind == V_SET || of->kind == V_RANGE || of->kind == V_VIEW ||
                          of->kind == V_OBJECT;
    index = plain_of(index);
    bool beyond = may_raise_both && value_is_integral(index) && is_beyond(m, index);
    if (beyond && of->kind == V_OBJECT) /* not for an exception of Python itself */
        path_unsupported(m, line, "use an index below 2**63", "an item of an object");
    throw(m, beyond ? "IndexError" : "TypeError", line);
}

/* -- items ------------------------------------------------------------------------------------- */

/* The place of an index, within 0 … n - 1. NULL: raised. If the answer is known without the solver,
 * it is not asked: it may not know, and then both sides would be explored. */
static Z3_ast place_of(machine *m, value *index, Z3_ast n, int line)
{
    Z3_context z = m->solver->z;
    Z3_ast i = value_int_term(m, index);
    Z3_ast outside[] = { Z3_mk_ge(z, i, n), Z3_mk_lt(z, i, Z3_mk_unary_minus(z, n)) };
    if (n == m->solver->zero || path_decide(m, Z3_mk_or(z, 2, outside), false)) {
        throw(m, "IndexError", line);
        return NULL;
    }
    return solver_simplify(m->solver, Z3_mk_ite(z, Z3_mk_lt(z, i, m->solver->zero),
                                                Z3_mk_add(z, 2, (Z3_ast[]){ i, n }), i));
}

static bool at_place(machine *m, Z3_ast place, size_t at)
{
    return path_decide(m, Z3_mk_eq(m->solver->z, place, term_int(m, (int64_t)at)), true);
}

static value *sequence_item(machine *m, value *of, value *index, int line)
{
    Z3_context z = m->solver->z;
    int64_t at;
    if (value_is_lazy(of)) {
        Z3_ast place = place_of(m, index, of->lazy.length, line);
        return place ? value_of(m, of->lazy.of, Z3_mk_select(z, of->lazy.array, place)) : NULL;
    }
    if (of->slots) {
        bool done;
        value *item = slots_get(m, of, index, line, &done);
        if (done)
            return item;
        settle(m, of);
    }
    values *items = &of->in.items;
    if (value_whole(index, &at)) {
        at = at < 0 ? at + (int64_t)items->count : at;
        if (at < 0 || at >= (int64_t)items->count)
            return throw(m, "IndexError", line);
        return items->at[at];
    }
    Z3_ast place = place_of(m, index, term_int(m, (int64_t)items->count), line);
    if (!place)
        return NULL;
    value *found = items->at[items->count - 1];
    for (size_t i = items->count - 1; found && i-- > 0;)
        found = choose(m, Z3_mk_eq(z, place, term_int(m, (int64_t)i)), items->at[i], found);
    if (found)
        return found;
    for (size_t i = 0; i + 1 < items->count; i++)
        if (at_place(m, place, i))
            return items->at[i];
    return items->at[items->count - 1];
}

static value *range_item(machine *m, value *of, value *index, int line)
{
    Z3_context z = m->solver->z;
    Z3_ast place = place_of(m, index, value_int_term(m, range_size(m, of, line)), line);
    if (!place)
        return NULL;
    Z3_ast away = Z3_mk_mul(z, 2, (Z3_ast[]){ place, value_int_term(m, of->range.step) });
    return value_of_int(m, Z3_mk_add(z, 2, (Z3_ast[]){ value_int_term(m, of->range.from), away }));
}

value *item_get(machine *m, value *of, value *index, int line)
{
    if (of->kind == V_DICT) {
        bool there, done;
        bool counter = of->of_class && strcmp(value_type(of), "Counter") == 0;
        value *zero = counter ? value_int(m, 0) : NULL;
        value *found = keyed_get(m, of, index, zero, &there, &done, line);
        if (done)
            return there || zero ? found : missing_key(m, of, index, line);
        long place = find_key(m, of, index, line);
        if (place == -2)
            return NULL;
        return place < 0 ? missing_key(m, of, index, line) : of->in.others.at[place];
    }
    bool sequence = of->kind == V_LIST || of->kind == V_TUPLE || of->kind == V_STR ||
                    of->kind == V_RANGE || of->kind == V_BYTES;
    if (of->kind == V_CLASS && of->class.enumeration)
        return enum_named(m, of, index, line);
    if (of->kind == V_BUILTIN || of->kind == V_CLASS)
        path_unsupported(m, line, "use it in annotations only", "a subscript of a type");
    if (of->kind == V_OBJECT)
        return object_item(m, of, index, line);
    index = plain_of(index);
    if (!sequence || !value_is_integral(index))
        return throw(m, "TypeError", line);
    if (of->kind == V_BYTES)
        return byte_of(m, text_item(m, of->bytes.text, index, line));
    return of->kind == V_STR     ? text_item(m, of, index, line)
           : of->kind == V_RANGE ? range_item(m, of, index, line)
                                 : sequence_item(m, of, index, line);
}

bool item_set(machine *m, value *of, value *index, value *v, int line)
{
    Z3_context z = m->solver->z;
    int64_t at;
    if (of->kind == V_DICT)
        return set_key(m, of, index, v, line);
    if (of->kind == V_OBJECT)
        return object_item_set(m, of, index, v, line);
    index = plain_of(index);
    if (of->kind != V_LIST || !value_is_integral(index)) {
        refuse_item(m, of, index, line);
        return false;
    }
    path_change(m, of);
    if (of->slots)
        return slots_set(m, of, index, v, line);
    if (value_is_lazy(of) && v->kind == of->lazy.of) {
        Z3_ast place = place_of(m, index, of->lazy.length, line);
        if (place)
            of->lazy.array = Z3_mk_store(z, of->lazy.array, place, value_term(m, v));
        return place != NULL;
    }
    settle(m, of);
    values *items = &of->in.items;
    if (value_whole(index, &at)) {
        at = at < 0 ? at + (int64_t)items->count : at;
        if (at < 0 || at >= (int64_t)items->count) {
            throw(m, "IndexError", line);
            return false;
        }
        items->at[at] = v;
        return true;
    }
    Z3_ast place = place_of(m, index, term_int(m, (int64_t)items->count), line);
    if (!place)
        return false;
    value **fresh = arena_take(m->arena, items->count * sizeof *fresh);
    bool joined = true;
    for (size_t i = 0; joined && i < items->count; i++) {
        fresh[i] = choose(m, Z3_mk_eq(z, place, term_int(m, (int64_t)i)), v, items->at[i]);
        joined = fresh[i] != NULL;
    }
    if (joined) {
        memcpy(items->at, fresh, items->count * sizeof *fresh);
        return true;
    }
    size_t last = items->count - 1;
    for (size_t i = 0; i < items->count; i++)
        if (i == last || at_place(m, place, i)) {
            items->at[i] = v;
            break;
        }
    return true;
}

bool item_delete(machine *m, value *of, value *index, int line)
{
    long place = -1;
    bool good;
    if (of->kind == V_LIST || of->kind == V_DICT) {
        settle(m, of);
        path_change(m, of);
    }
    if (of->of_class && kin_delete(m, of, index, &good, line))
        return good;
    if (of->kind == V_DICT) {
        place = find_key(m, of, index, line);
        if (place == -2)
            return false;
        if (place == -1) {
            throw(m, "KeyError", line);
            return false;
        }
        of->version++;
    } else if (of->kind == V_LIST && value_is_integral(index)) {
        settle(m, of);
        Z3_ast at = place_of(m, index, term_int(m, (int64_t)of->in.items.count), line);
        if (!at)
            return false;
        for (place = 0; place + 1 < (long)of->in.items.count && !at_place(m, at, (size_t)place);)
            place++;
    } else {
        refuse_item(m, of, index, line);
        return false;
    }
    values *lists[] = { &of->in.items, &of->in.others };
    for (int i = 0; i < (of->kind == V_DICT ? 2 : 1); i++) {
        memmove(lists[i]->at + place, lists[i]->at + place + 1,
                (lists[i]->count - (size_t)place - 1) * sizeof(value *));
        lists[i]->count--;
    }
    of->version += of->kind == V_LIST;
    return true;
}

/* -- slices ------------------------------------------------------------------------------------ */

static bool is_negative(machine *m, const value *concrete)
{
    return Z3_get_numeral_string(m->solver->z, value_int_term(m, concrete))[0] == '-';
}

/* An unknown bound: the path forks on its range, as far as it matters. */
static int64_t bound_of(machine *m, value *bound, int64_t length)
{
    Z3_context z = m->solver->z;
    int64_t at;
    if (value_whole(bound, &at))
        return at;
    if (value_is_concrete(m, bound)) /* too big for the other test, so beyond any length */
        return is_negative(m, bound) ? INT64_MIN : INT64_MAX;
    Z3_ast term = value_int_term(m, bound);
    if (path_decide(m, Z3_mk_le(z, term, term_int(m, -length)), false))
        return -length;
    if (path_decide(m, Z3_mk_ge(z, term, term_int(m, length)), false))
        return length;
    for (at = -length + 1; at < length - 1; at++)
        if (path_decide(m, Z3_mk_eq(z, term, term_int(m, at)), true))
            return at;
    return length - 1;
}

bool slice_bounds(machine *m, int64_t length, value *from, value *to, value *step, int line,
                  int64_t *first, int64_t *stride, size_t *count)
{
    value *all[] = { from, to, step };
    for (int i = 0; i < 3; i++)
        if (all[i]->kind != V_NONE && !value_is_integral(all[i])) {
            throw(m, "TypeError", line);
            return false;
        }
    *stride = 1;
    if (step->kind != V_NONE && !value_whole(step, stride) && value_is_concrete(m, step))
        *stride = is_negative(m, step) ? -INT64_MAX : INT64_MAX;
    else if (step->kind != V_NONE && !value_whole(step, stride)) {
        value *few = settled_int(m, step);
        if (!few || !value_whole(few, stride))
            path_unsupported(m, line, "bound the step, as in pre: 1 <= step <= 4",
                             "a slice whose step is not known");
    }
    if (*stride == 0) {
        throw(m, "ValueError", line);
        return false;
    }
    bool up = *stride > 0;
    if (!up && (!value_is_concrete(m, from) || !value_is_concrete(m, to)))
        path_unsupported(m, line, "use constant bounds",
                         "a slice with a negative step whose bounds are not known");
    int64_t low = up ? 0 : -1, high = up ? length : length - 1;
    int64_t bounds[2] = { up ? low : high, up ? high : low };
    for (int i = 0; i < 2; i++) {
        if (all[i]->kind == V_NONE)
            continue;
        int64_t at = bound_of(m, all[i], length);
        if (at < 0)
            at = at < -length ? low : at + length;
        bounds[i] = at < low ? low : at > high ? high : at;
    }
    int64_t size = up ? bounds[1] - bounds[0] : bounds[0] - bounds[1];
    __int128 width = up ? *stride : -(__int128)*stride;
    *first = bounds[0];
    *count = size <= 0 ? 0 : (size_t)((size + width - 1) / width);
    return true;
}

value *slice_get(machine *m, value *of, value *from, value *to, value *step, int line)
{
    if (of->kind == V_STR)
        return text_slice(m, of, from, to, step, line);
    if (of->kind == V_BYTES)
        return bytes_slice(m, of, from, to, step, line);
    if (of->kind == V_RANGE)
        path_unsupported(m, line, "make a list of it first", "a slice of a range");
    if (special_of(of, "__getitem__"))
        path_unsupported(m, line, "call a method by its name", "a slice of an object");
    if (of->kind == V_BUILTIN || of->kind == V_CLASS)
        path_unsupported(m, line, "use it in annotations only", "a slice of a type");
    if (plain_of(of) != of)
        return slice_get(m, plain_of(of), from, to, step, line);
    if ((of->kind != V_LIST && of->kind != V_TUPLE) || of->of_class)
        return throw(m, "TypeError", line);
    if (of->slots && from->kind == V_NONE && to->kind == V_NONE && step->kind == V_NONE) {
        value *copy = value_new(m, of->kind);
        slots_give(m, copy, slots_of(m, of));
        return copy;
    }
    settle(m, of);
    int64_t first, stride;
    size_t count;
    if (!slice_bounds(m, (int64_t)of->in.items.count, from, to, step, line, &first, &stride,
                      &count))
        return NULL;
    value *made = value_sequence(m, of->kind, count);
    for (size_t i = 0; i < count; i++)
        values_add(m, &made->in.items, of->in.items.at[first + (int64_t)i * stride]);
    return made;
}

value *repeat(machine *m, value *sequence, value *times, int line)
{
    int64_t count;
    if (!is_index(m, times, line))
        return NULL;
    settle(m, sequence);
    bool is_text = sequence->kind == V_STR;
    if (is_text ? sequence->known && !sequence->str.count : !sequence->in.items.count)
        return is_text ? sequence : value_new(m, sequence->kind);
    value *few = settled_int(m, times);
    if (!few &&
        path_decide(m, Z3_mk_le(m->solver->z, value_int_term(m, times), m->solver->zero), true))
        few = value_int(m, 0);
    if (!few || !value_whole(few, &count))
        path_unsupported(m, line, "repeat by a constant", "a repetition (*) that is not known");
    count = count < 0 ? 0 : count;
    if (is_text) {
        if (!sequence->known && count > 64)
            path_bound(m, "the size of a str");
        if (sequence->known && sequence->str.count &&
            count > (int64_t)(MOST_CONCRETE_CHARS / sequence->str.count))
            path_bound(m, "the size of a str");
        value *made = value_ascii(m, "");
        for (int64_t i = 0; i < count; i++)
            made = text_binary(m, OP_ADD, made, sequence, line);
        return made;
    }
    size_t size = sequence->in.items.count;
    if (size && count > (int64_t)(MOST_ITEMS / size))
        path_bound(m, "the number of items of a container");
    value *made = value_sequence(m, sequence->kind, size * (size_t)count);
    for (int64_t i = 0; i < count; i++)
        for (size_t j = 0; j < size; j++)
            values_add(m, &made->in.items, sequence->in.items.at[j]);
    return made;
}
