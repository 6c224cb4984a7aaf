/*
 * Slots: the items of a list, dict or set that exist under conditions.
 *
 * If the two sides of a condition leave a container in different states, it gets slots: the items
 * that both have, and the items that only one has, with the condition of that side as their guard.
 * The items are those slots, in their order, whose guards hold. So an item keeps its identity, of
 * whichever kind, and a dict the order of its keys. What can be computed from guards is computed
 * (length, truth, `in`, an item, ==); for anything else the path forks on the guards: settle().
 */
#include <string.h>

#include "theories/theories.h"

/* -- guards ------------------------------------------------------------------------------------ */

Z3_ast guard_and(machine *m, Z3_ast l, Z3_ast r)
{
    if (!l || !r || l == r)
        return l ? l : r;
    return solver_simplify(m->solver, Z3_mk_and(m->solver->z, 2, (Z3_ast[]){ l, r }));
}

value *guard_truth(machine *m, Z3_ast guard)
{
    return guard ? value_of_bool(m, guard) : value_bool(m, true);
}

/* A bool as a guard: NULL always holds. */
static Z3_ast guard_of(machine *m, Z3_ast term)
{
    term = solver_simplify(m->solver, term);
    return solver_is_true(m->solver, term) ? NULL : term;
}

static Z3_ast guard_term(machine *m, Z3_ast guard)
{
    return guard ? guard : m->solver->yes;
}

/* -- slots and plain items --------------------------------------------------------------------- */

void slots_add(machine *m, slots *to, Z3_ast guard, value *item, value *other)
{
    if (guard && solver_is_false(m->solver, guard))
        return;
    if (guard && solver_is_true(m->solver, guard))
        guard = NULL;
    if (to->count == to->room) {
        size_t room = 2 * to->room + 4;
        if (room > MOST_ITEMS)
            path_bound(m, "the number of items of a container");
        slot *more = arena_take(m->arena, room * sizeof *more);
        if (to->count)
            memcpy(more, to->at, to->count * sizeof *more);
        to->at = more;
        to->room = room;
    }
    to->at[to->count++] = (slot){ guard, item, other };
}

slots slots_of(machine *m, const value *v)
{
    slots made = { 0 };
    for (size_t i = 0; v->slots && i < v->slots->count; i++)
        slots_add(m, &made, v->slots->at[i].guard, v->slots->at[i].item, v->slots->at[i].other);
    for (size_t i = 0; !v->slots && i < v->in.items.count; i++)
        slots_add(m, &made, NULL, v->in.items.at[i], v->kind == V_DICT ? v->in.others.at[i] : NULL);
    return made;
}

void slots_give(machine *m, value *v, slots items)
{
    bool plain = true;
    for (size_t i = 0; i < items.count; i++)
        plain = plain && !items.at[i].guard;
    v->slots = NULL;
    v->in.items = v->in.others = (values){ 0 };
    for (size_t i = 0; plain && i < items.count; i++) {
        values_add(m, &v->in.items, items.at[i].item);
        if (v->kind == V_DICT)
            values_add(m, &v->in.others, items.at[i].other);
    }
    if (plain)
        return;
    m->joined = true;
    v->slots = arena_take(m->arena, sizeof *v->slots);
    *v->slots = items;
    v->in.items = (values){ .count = SIZE_MAX / 64 };
}

/* -- joins ------------------------------------------------------------------------------------- */

static bool is_same_slot(const slot *l, const slot *r)
{
    return l->item == r->item && l->other == r->other && l->guard == r->guard;
}

/* True if it is the same key on both sides; otherwise keys are not joined, since each has its own
 * place in the dict. */
bool is_same_key(const value *l, const value *r)
{
    if (l == r || l->kind != r->kind || !l->known || !r->known)
        return l == r;
    return l->kind == V_INT    ? l->number == r->number
           : l->kind == V_BOOL ? l->truth == r->truth
           : l->kind == V_STR
               ? l->str.count == r->str.count &&
                     (!l->str.count ||
                      memcmp(l->str.chars, r->str.chars, l->str.count * sizeof *l->str.chars) == 0)
               : false;
}

/* Put both into one slot, with a value by the condition: `*joined`, of a dict. False: they have no
 * common value. */
static bool join_pair(machine *m, Z3_ast condition, value_kind kind, const slot *yes,
                      const slot *no, slots *to, value **joined)
{
    Z3_context z = m->solver->z;
    value *item, *other = NULL;
    if (kind == V_LIST) {
        item = choose(m, condition, yes->item, no->item);
    } else {
        item = is_same_key(yes->item, no->item) ? yes->item : NULL;
        other = item && kind == V_DICT ? choose(m, condition, yes->other, no->other) : NULL;
    }
    if (!item || (kind == V_DICT && !other))
        return false;
    Z3_ast guard = yes->guard == no->guard
                       ? yes->guard
                       : guard_of(m, Z3_mk_ite(z, condition, guard_term(m, yes->guard),
                                               guard_term(m, no->guard)));
    slots_add(m, to, guard, item, other);
    *joined = other;
    return true;
}

/* A key may have several slots, of which at most one is filled. If a side has the same value in
 * several slots, it stays one value when one slot has become a part of a term: `pairs` are the
 * joined slots, by their places on both sides. */
static value *shared(const slots *own, value *const *pairs, size_t pair_count, const slot *of)
{
    for (size_t i = 0; of->other && i < pair_count; i++)
        if (pairs[i] && own->at[i].other == of->other && is_same_key(own->at[i].item, of->item))
            return pairs[i];
    return of->other;
}

bool slots_join(machine *m, Z3_ast condition, const value *yes, value *no)
{
    Z3_ast against = Z3_mk_not(m->solver->z, condition);
    if (yes->kind != no->kind || yes->frozen != no->frozen)
        return false;
    slots l = slots_of(m, yes), r = slots_of(m, no), made = { 0 };
    size_t least = l.count < r.count ? l.count : r.count, first = 0, last = 0;
    while (first < least && is_same_slot(l.at + first, r.at + first))
        first++;
    while (last < least - first &&
           is_same_slot(l.at + l.count - 1 - last, r.at + r.count - 1 - last))
        last++;
    for (size_t i = 0; i < first; i++)
        slots_add(m, &made, l.at[i].guard, l.at[i].item, l.at[i].other);
    size_t ends[2] = { l.count - last, r.count - last };
    value **pairs = arena_take(m->arena, (least + 1) * sizeof *pairs);
    for (size_t i = first; i < ends[0] || i < ends[1]; i++) {
        const slot *a = i < ends[0] ? l.at + i : NULL, *b = i < ends[1] ? r.at + i : NULL;
        if (a && b && join_pair(m, condition, no->kind, a, b, &made, pairs + i))
            continue;
        if (a)
            slots_add(m, &made, guard_and(m, condition, a->guard), a->item,
                      shared(&l, pairs, least, a));
        if (b)
            slots_add(m, &made, guard_and(m, against, b->guard), b->item,
                      shared(&r, pairs, least, b));
    }
    for (size_t i = l.count - last; i < l.count; i++)
        slots_add(m, &made, l.at[i].guard, l.at[i].item, l.at[i].other);
    slots_give(m, no, made);
    return true;
}

/* -- what an iteration gives ------------------------------------------------------------------- */

slots slots_by_key(machine *m, const value *v)
{
    Z3_context z = m->solver->z;
    slots items = slots_of(m, v), made = { 0 };
    if (v->kind != V_DICT && v->kind != V_SET)
        return items;
    for (size_t i = 0; i < items.count; i++) {
        slot at = items.at[i];
        slot *same = NULL;
        for (size_t j = 0; at.guard && !same && j < made.count; j++)
            if (made.at[j].guard && is_same_key(made.at[j].item, at.item))
                same = made.at + j;
        value *other = same && v->kind == V_DICT ? choose(m, at.guard, at.other, same->other)
                                                 : at.other;
        if (!same || (v->kind == V_DICT && !other)) {
            slots_add(m, &made, at.guard, at.item, at.other);
            continue;
        }
        same->guard = guard_of(m, Z3_mk_or(z, 2, (Z3_ast[]){ same->guard, at.guard }));
        same->other = other;
    }
    return made;
}

value *slots_owner(value *of)
{
    value *owner = of->kind == V_VIEW ? of->view.dict : of;
    return owner->slots && owner->kind != V_SET ? owner : NULL;
}

slots slots_over(machine *m, const value *of, bool any_order)
{
    const value *owner = of->kind == V_VIEW ? of->view.dict : of;
    slots items = any_order ? slots_by_key(m, owner) : slots_of(m, owner);
    if (of->kind != V_VIEW || of->view.part == 'k')
        return items;
    for (size_t i = 0; i < items.count; i++) {
        slot *at = items.at + i;
        value *pair = at->other;
        if (of->view.part == 'i') {
            pair = value_sequence(m, V_TUPLE, 2);
            values_add(m, &pair->in.items, at->item);
            values_add(m, &pair->in.items, at->other);
        }
        at->item = pair;
        at->other = NULL;
    }
    return items;
}

/* -- length and truth -------------------------------------------------------------------------- */

static Z3_ast as_number(machine *m, Z3_ast guard)
{
    return guard ? Z3_mk_ite(m->solver->z, guard, m->solver->one, m->solver->zero) : m->solver->one;
}

static Z3_ast plus(machine *m, Z3_ast l, Z3_ast r)
{
    return solver_simplify(m->solver, Z3_mk_add(m->solver->z, 2, (Z3_ast[]){ l, r }));
}

value *slots_length(machine *m, const value *v)
{
    Z3_ast sum = m->solver->zero;
    slots items = slots_by_key(m, v);
    for (size_t i = 0; i < items.count; i++)
        sum = plus(m, sum, as_number(m, items.at[i].guard));
    return value_of_int(m, sum);
}

value *slots_truth(machine *m, const value *v)
{
    value *any = value_bool(m, false);
    for (size_t i = 0; i < v->slots->count; i++)
        any = either(m, any, guard_truth(m, v->slots->at[i].guard));
    return any;
}

static bool is_plain_item(const value *v)
{
    return value_is_scalar(v) || v->kind == V_NONE;
}

bool slots_are_plain(machine *m, const value *of)
{
    slots items = slots_over(m, of, false);
    for (size_t i = 0; i < items.count; i++)
        if (!is_plain_item(items.at[i].item))
            return false;
    return true;
}

/* -- == ---------------------------------------------------------------------------------------- */

/* From the end: are the rests from slot i and slot j on equal? If a slot is not filled, the rest
 * after it counts. */
value *slots_equal(machine *m, const value *l, const value *r,
                   value *(*same)(machine *m, value *l, value *r, void *context), void *context)
{
    enum { MOST_PAIRS = 1024 };
    slots a = slots_of(m, l), b = slots_of(m, r);
    if ((a.count + 1) * (b.count + 1) > MOST_PAIRS)
        return NULL;
    for (size_t i = 0; i < a.count; i++)
        if (!is_plain_item(a.at[i].item))
            return NULL;
    for (size_t i = 0; i < b.count; i++)
        if (!is_plain_item(b.at[i].item))
            return NULL;
    value **below = arena_take(m->arena, (b.count + 1) * sizeof *below), **row = NULL;
    for (size_t i = a.count + 1; i-- > 0; below = row) {
        row = arena_take(m->arena, (b.count + 1) * sizeof *row);
        for (size_t j = b.count + 1; j-- > 0;) {
            value *g = i < a.count ? guard_truth(m, a.at[i].guard) : NULL;
            value *h = j < b.count ? guard_truth(m, b.at[j].guard) : NULL;
            if (!g && !h) {
                row[j] = value_bool(m, true);
            } else if (!g || !h) { /* nothing more may be there */
                row[j] = g ? both(m, negated(m, g), below[j]) : both(m, negated(m, h), row[j + 1]);
            } else {
                value *one = same(m, a.at[i].item, b.at[j].item, context);
                if (!one)
                    return NULL;
                value *filled = both(m, one, below[j + 1]);
                value *skip = choose(m, value_term(m, h), filled, row[j + 1]);
                row[j] = choose(m, value_term(m, g), skip, below[j]);
            }
        }
    }
    return row[0];
}

/* -- items of a list --------------------------------------------------------------------------- */

/* For a place, counted from 0: the condition for each slot that it is at that place. */
static Z3_ast *places_of(machine *m, const slots *items, Z3_ast place)
{
    Z3_context z = m->solver->z;
    Z3_ast *at = arena_take(m->arena, (items->count + 1) * sizeof *at), before = m->solver->zero;
    for (size_t i = 0; i < items->count; i++) {
        Z3_ast here = Z3_mk_eq(z, before, place);
        at[i] = solver_simplify(
            m->solver,
            items->at[i].guard ? Z3_mk_and(z, 2, (Z3_ast[]){ here, items->at[i].guard }) : here);
        before = plus(m, before, as_number(m, items->at[i].guard));
    }
    return at;
}

/* The place of an index, from 0 on. NULL: raised. */
static Z3_ast place_of(machine *m, value *list, value *index, int line)
{
    Z3_context z = m->solver->z;
    Z3_ast n = value_int_term(m, slots_length(m, list)), i = value_int_term(m, index);
    Z3_ast outside[] = { Z3_mk_ge(z, i, n), Z3_mk_lt(z, i, Z3_mk_unary_minus(z, n)) };
    if (path_decide(m, Z3_mk_or(z, 2, outside), false)) {
        throw(m, "IndexError", line);
        return NULL;
    }
    return solver_simplify(m->solver,
                           Z3_mk_ite(z, Z3_mk_lt(z, i, m->solver->zero), plus(m, i, n), i));
}

/* One of the items by the first of these conditions that holds; one does. NULL: no common kind. */
static value *one_of(machine *m, const slots *items, const Z3_ast *when)
{
    value *found = NULL;
    for (size_t i = items->count; i-- > 0;) {
        if (solver_is_false(m->solver, when[i]))
            continue;
        found = found ? choose(m, when[i], items->at[i].item, found) : items->at[i].item;
        if (!found)
            return NULL;
    }
    return found;
}

value *slots_get(machine *m, value *list, value *index, int line, bool *done)
{
    slots items = slots_of(m, list);
    Z3_ast place = place_of(m, list, index, line);
    *done = true;
    if (!place)
        return NULL;
    value *found = one_of(m, &items, places_of(m, &items, place));
    *done = found != NULL;
    return found;
}

bool slots_set(machine *m, value *list, value *index, value *v, int line)
{
    Z3_context z = m->solver->z;
    slots items = slots_of(m, list), made = { 0 };
    Z3_ast place = place_of(m, list, index, line);
    if (!place)
        return false;
    const Z3_ast *when = places_of(m, &items, place);
    for (size_t i = 0; i < items.count; i++) {
        slot old = items.at[i];
        value *joined = choose(m, when[i], v, old.item);
        if (joined) {
            slots_add(m, &made, old.guard, joined, NULL);
            continue;
        }
        slots_add(m, &made, guard_of(m, when[i]), v, NULL);
        slots_add(m, &made,
                  guard_and(m, old.guard, solver_simplify(m->solver, Z3_mk_not(z, when[i]))),
                  old.item, NULL);
    }
    path_change(m, list);
    slots_give(m, list, made);
    return true;
}

value *slots_pop(machine *m, value *list, bool first, int line, bool *done)
{
    Z3_context z = m->solver->z;
    slots items = slots_of(m, list), made = { 0 };
    *done = true;
    if (decide_truth(m, slots_truth(m, list), true) == 0)
        return throw(m, "IndexError", line);
    Z3_ast *when = arena_take(m->arena, (items.count + 1) * sizeof *when);
    Z3_ast passed = m->solver->no; /* one that is nearer to the end was filled */
    for (size_t i = 0; i < items.count; i++) {
        size_t at = first ? i : items.count - 1 - i;
        Z3_ast filled = guard_term(m, items.at[at].guard);
        when[at] = solver_simplify(m->solver,
                                   Z3_mk_and(z, 2, (Z3_ast[]){ filled, Z3_mk_not(z, passed) }));
        items.at[at].guard = guard_of(m, Z3_mk_and(z, 2, (Z3_ast[]){ filled, passed }));
        passed = solver_simplify(m->solver, Z3_mk_or(z, 2, (Z3_ast[]){ passed, filled }));
    }
    value *found = one_of(m, &items, when);
    *done = found != NULL;
    if (!found)
        return NULL;
    for (size_t i = 0; i < items.count; i++)
        slots_add(m, &made, items.at[i].guard, items.at[i].item, NULL);
    path_change(m, list);
    slots_give(m, list, made);
    return found;
}

const joiner theories_joiner = { choose, slots_join };
