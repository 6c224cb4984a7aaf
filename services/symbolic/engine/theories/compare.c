/* Comparison: ==, <, in, is. A result may be a symbolic bool. What forks is `in` on a str of which
 * only the length is bounded, and an order of sequences whose items may have none. */
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

/* -- numbers ----------------------------------------------------------------------------------- */

static value *whole_compare(machine *m, operator_kind op, const value *l, const value *r)
{
    Z3_context z = m->solver->z;
    int64_t a, b;
    if (value_whole(l, &a) && value_whole(r, &b))
        return value_bool(m, op == OP_EQ    ? a == b
                             : op == OP_LT  ? a < b
                             : op == OP_LTE ? a <= b
                             : op == OP_GT  ? a > b
                                            : a >= b);
    if (l->kind == V_BOOL && r->kind == V_BOOL && op == OP_EQ)
        return value_of_bool(m, Z3_mk_eq(z, value_term(m, l), value_term(m, r)));
    Z3_ast x = value_int_term(m, l), y = value_int_term(m, r);
    return value_of_bool(m, op == OP_EQ    ? Z3_mk_eq(z, x, y)
                            : op == OP_LT  ? Z3_mk_lt(z, x, y)
                            : op == OP_LTE ? Z3_mk_le(z, x, y)
                            : op == OP_GT  ? Z3_mk_gt(z, x, y)
                                           : Z3_mk_ge(z, x, y));
}

static value *float_compare(machine *m, operator_kind op, value *l, value *r, int line)
{
    Z3_context z = m->solver->z;
    if (value_is_concrete(m, l) && value_is_concrete(m, r)) {
        if (l->kind == V_FLOAT && r->kind == V_FLOAT) {
            double a = l->real, b = r->real;
            return value_bool(m, op == OP_EQ    ? a == b
                                 : op == OP_LT  ? a < b
                                 : op == OP_LTE ? a <= b
                                 : op == OP_GT  ? a > b
                                                : a >= b);
        }
        values given = { (value *[]){ l, r }, 2, 2 };
        return bridge(m,
                      op == OP_EQ    ? "a == b"
                      : op == OP_LT  ? "a < b"
                      : op == OP_LTE ? "a <= b"
                      : op == OP_GT  ? "a > b"
                                     : "a >= b",
                      &given, line);
    }
    if (value_is_quotient(l) || value_is_quotient(r) || !value_float_term(m, l) ||
        !value_float_term(m, r))
        return ratio_compare(m, op, l, r, line);
    Z3_ast x = value_float_term(m, l), y = value_float_term(m, r);
    return value_of_bool(m, op == OP_EQ    ? Z3_mk_fpa_eq(z, x, y)
                            : op == OP_LT  ? Z3_mk_fpa_lt(z, x, y)
                            : op == OP_LTE ? Z3_mk_fpa_leq(z, x, y)
                            : op == OP_GT  ? Z3_mk_fpa_gt(z, x, y)
                                           : Z3_mk_fpa_geq(z, x, y));
}

/* -- == ---------------------------------------------------------------------------------------- */

static bool may_be_nan(const value *v)
{
    return v->known ? v->real != v->real : !value_is_quotient(v);
}

value *same_or_equal(machine *m, value *l, value *r, int line)
{
    if (l == r)
        return value_bool(m, true);
    if (l->kind == V_FLOAT && r->kind == V_FLOAT && may_be_nan(l) && may_be_nan(r))
        path_unsupported(m, line, "compare the floats themselves",
                         "a comparison of containers of floats that are not known");
    /* Nested containers, which may contain themselves: Python raises RecursionError. */
    if (++m->nested > MOST_NESTED)
        path_unsupported(m, line, "compare the items", "a comparison of what is nested deeply");
    value *result = equal(m, l, r, line);
    m->nested--;
    return result;
}

void require_unchanged(machine *m, const value *list, unsigned version, int line)
{
    if (list->version != version || list->slots)
        path_unsupported(m, line, "change it before or after",
                         "a list that changes while its items are compared or written");
}

/* … decided at once, if a method of the code computes it: Python does not call it for later items
 * then. */
static value *item_equal(machine *m, value *l, value *r, int line)
{
    value *same = same_or_equal(m, l, r, line);
    if (!same || same->known || !(has_own_order(l) || has_own_order(r)))
        return same;
    return value_bool(m, path_decide(m, same->term, true));
}

static value *all_equal(machine *m, const value *l, const value *r, int line)
{
    const values *a = &l->in.items, *b = &r->in.items;
    unsigned versions[] = { l->version, r->version };
    if (a->count != b->count)
        return value_bool(m, false);
    value *result = value_bool(m, true);
    step(m);
    for (size_t i = 0; i < a->count; i++) {
        value *one = item_equal(m, a->at[i], b->at[i], line);
        if (!one)
            return NULL;
        require_unchanged(m, l, versions[0], line);
        require_unchanged(m, r, versions[1], line);
        result = both(m, result, one);
        if (result->known && !result->truth)
            return result;
    }
    return result;
}

/* Sets and dicts: each key of one is in the other, with an equal value. */
static value *keyed_equal(machine *m, value *l, value *r, int line)
{
    if (!l->slots && !r->slots && l->in.items.count != r->in.items.count)
        return value_bool(m, false);
    if (has_own_order(l) || has_own_order(r))
        path_unsupported(m, line, "compare the items", "== of dicts or sets of such objects");
    slots a = slots_by_key(m, l), b = slots_by_key(m, r);
    value *result = equal(m, length_of(m, l, line), length_of(m, r, line), line);
    for (size_t i = 0; i < a.count; i++) {
        value *found = negated(m, guard_truth(m, a.at[i].guard));
        for (size_t j = 0; j < b.count; j++) {
            value *one = same_or_equal(m, a.at[i].item, b.at[j].item, line);
            if (one && l->kind == V_DICT) {
                value *other = same_or_equal(m, a.at[i].other, b.at[j].other, line);
                one = other ? both(m, one, other) : NULL;
            }
            if (!one)
                return NULL;
            found = either(m, found, both(m, guard_truth(m, b.at[j].guard), one));
        }
        result = both(m, result, found);
    }
    return result;
}

static value *items_same(machine *m, value *l, value *r, void *context)
{
    return same_or_equal(m, l, r, *(const int *)context);
}

value *equal(machine *m, value *l, value *r, int line)
{
    if (value_is_integral(l) && value_is_integral(r))
        return whole_compare(m, OP_EQ, l, r);
    if (value_is_number(l) && value_is_number(r))
        return float_compare(m, OP_EQ, l, r, line);
    if (l->kind == V_OBJECT || r->kind == V_OBJECT) {
        value *result = rich_compare(m, OP_EQ, l, r, line);
        return result ? truth_of(m, result) : NULL;
    }
    if (l->kind == V_VIEW || r->kind == V_VIEW)
        path_unsupported(m, line, "compare lists or sets of it",
                         "a comparison of a view of a dict");
    value *result;
    if (l->kind != r->kind)
        return value_bool(m, false);
    if (kin_compare(m, OP_EQ, l, r, &result, line))
        return result;
    switch (l->kind) {
    case V_NONE:
        return value_bool(m, true);
    case V_STR:
        return text_compare(m, OP_EQ, l, r);
    case V_BYTES:
        return text_compare(m, OP_EQ, l->bytes.text, r->bytes.text);
    case V_TUPLE:
    case V_LIST:
        if (l == r)
            return value_bool(m, true);
        if ((l->slots || r->slots) && !value_is_lazy(l) && !value_is_lazy(r)) {
            value *same = slots_equal(m, l, r, items_same, &line);
            if (same)
                return same;
        }
        settle(m, l);
        settle(m, r);
        return all_equal(m, l, r, line);
    case V_SET:
    case V_DICT:
        return keyed_equal(m, l, r, line);
    case V_RANGE:
        return alike(m, l, r);
    case V_DATE:
    case V_DELTA:
        return date_compare(m, OP_EQ, l, r);
    case V_BUILTIN:
        return value_bool(m, strcmp(l->builtin.name, r->builtin.name) == 0);
    case V_METHOD:
        path_unsupported(m, line, "compare lists", "a comparison of methods");
    default:
        return value_bool(m, l == r);
    }
}

/* -- order ------------------------------------------------------------------------------------- */

/* If methods of the code compute equality: item by item. NULL: raised; `*decided` is false if all
 * are equal. */
static value *first_differing(machine *m, operator_kind op, const value *l, const value *r,
                              bool *decided, int line)
{
    const values *a = &l->in.items, *b = &r->in.items;
    unsigned versions[] = { l->version, r->version };
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        value *same = same_or_equal(m, a->at[i], b->at[i], line);
        int is = same ? decide_truth(m, same, true) : -1;
        require_unchanged(m, l, versions[0], line);
        require_unchanged(m, r, versions[1], line);
        *decided = is != 1;
        if (*decided)
            return is < 0 ? NULL : compare(m, op, a->at[i], b->at[i], line);
    }
    return NULL;
}

static bool have_order(const value *l, const value *r, int depth);

static bool items_have_order(const value *l, const value *r, int depth)
{
    const values *a = &l->in.items, *b = &r->in.items;
    if (depth == 5 || value_is_lazy(l) || value_is_lazy(r) || l->slots || r->slots)
        return false;
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (!have_order(a->at[i], b->at[i], depth + 1))
            return false;
    return true;
}

/* True if an order of these raises no exception, whether they are equal or not. */
static bool have_order(const value *l, const value *r, int depth)
{
    if (value_is_number(l) && value_is_number(r))
        return true;
    if (l->kind != r->kind)
        return false;
    if (l->kind == V_TUPLE || l->kind == V_LIST)
        return items_have_order(l, r, depth);
    return l->kind == V_STR || l->kind == V_BYTES || l->kind == V_DATE || l->kind == V_DELTA ||
           l->kind == V_SET;
}

/* Lexicographic: by the first items that differ, or by length. */
static value *items_compare(machine *m, operator_kind op, value *l, value *r, int line)
{
    settle(m, l);
    settle(m, r);
    const values *a = &l->in.items, *b = &r->in.items;
    size_t common = a->count < b->count ? a->count : b->count;
    value *result = value_bool(m, op == OP_LT    ? a->count < b->count
                                  : op == OP_LTE ? a->count <= b->count
                                  : op == OP_GT  ? a->count > b->count
                                                 : a->count >= b->count);
    operator_kind strict = op == OP_LT || op == OP_LTE ? OP_LT : OP_GT;
    if (has_own_order(l) || has_own_order(r)) {
        bool decided = false;
        value *differs = first_differing(m, op, l, r, &decided, line);
        return decided ? differs : result;
    }
    for (size_t i = common; i-- > 0;) {
        value *same = same_or_equal(m, a->at[i], b->at[i], line);
        if (!same)
            return NULL;
        /* If items cannot be compared Python raises, but only if they are the first to differ. */
        if (!same->known && !have_order(a->at[i], b->at[i], 0))
            same = value_bool(m, path_decide(m, same->term, true));
        if (same->known && same->truth)
            continue;
        value *before = compare(m, strict, a->at[i], b->at[i], line);
        if (!before && i > 0)
            path_unsupported(m, line, "compare items of one type",
                             "an order of sequences of unlike items");
        if (!before)
            return NULL;
        if (same->known) {
            result = before;
            continue;
        }
        result = value_of_bool(
            m, Z3_mk_ite(m->solver->z, same->term, value_term(m, result), value_term(m, before)));
    }
    return result;
}

static value *subset(machine *m, operator_kind op, value *l, value *r, int line)
{
    value *small = op == OP_LT || op == OP_LTE ? l : r, *big = small == l ? r : l;
    settle(m, l);
    settle(m, r);
    value *result = value_bool(m, op == OP_LTE || op == OP_GTE ||
                                      small->in.items.count < big->in.items.count);
    for (size_t i = 0; i < small->in.items.count; i++) {
        value *one = contains(m, big, small->in.items.at[i], line);
        if (!one)
            return NULL;
        result = both(m, result, one);
    }
    return result;
}

static value *order(machine *m, operator_kind op, value *l, value *r, int line)
{
    if (value_is_integral(l) && value_is_integral(r))
        return whole_compare(m, op, l, r);
    if (value_is_number(l) && value_is_number(r))
        return float_compare(m, op, l, r, line);
    if (l->kind == V_OBJECT || r->kind == V_OBJECT)
        return rich_compare(m, op, l, r, line);
    if (l->kind == V_VIEW || r->kind == V_VIEW)
        path_unsupported(m, line, "compare lists or sets of it",
                         "a comparison of a view of a dict");
    value *result;
    if (l->kind != r->kind)
        return throw(m, "TypeError", line);
    if (kin_compare(m, op, l, r, &result, line))
        return result;
    if (l->kind == V_STR)
        return text_compare(m, op, l, r);
    if (l->kind == V_BYTES)
        return text_compare(m, op, l->bytes.text, r->bytes.text);
    if (l->kind == V_DATE || l->kind == V_DELTA)
        return date_compare(m, op, l, r);
    if (l->kind == V_TUPLE || l->kind == V_LIST)
        return items_compare(m, op, l, r, line);
    if (l->kind == V_SET)
        return subset(m, op, l, r, line);
    return throw(m, "TypeError", line);
}

/* -- is, in ------------------------------------------------------------------------------------ */

static value *identical(machine *m, value *l, value *r, int line)
{
    if (l->kind != r->kind)
        return value_bool(m, false);
    switch (l->kind) {
    case V_NONE:
    case V_NOT_IMPLEMENTED:
        return value_bool(m, true);
    case V_BOOL:
        return whole_compare(m, OP_EQ, l, r);
    case V_INT:
    case V_FLOAT:
    case V_STR:
    case V_BYTES:
    case V_TUPLE:
    case V_RANGE:
    case V_METHOD:
    case V_VIEW:
    case V_DATE:
    case V_DELTA:
        path_unsupported(m, line, "use == in place of is", "`is` between values of type %s",
                         value_type(l));
    case V_BUILTIN:
        return value_bool(m, strcmp(l->builtin.name, r->builtin.name) == 0);
    case V_SET:
        if (l->frozen)
            path_unsupported(m, line, "use == in place of is", "`is` between frozensets");
        return value_bool(m, l == r);
    default:
        return value_bool(m, l == r);
    }
}

/* Python raises RecursionError for a key that contains itself, at a depth of its own. */
enum { DEEPEST_KEY = 100 };

static bool is_hashable_at(machine *m, const value *v, int depth, int line)
{
    if (depth > DEEPEST_KEY)
        path_unsupported(m, line, "use a flat key",
                         "a key that contains itself or is nested deeply");
    if (v->kind == V_LIST || v->kind == V_DICT || (v->kind == V_SET && !v->frozen))
        return false;
    values declared = { 0 };
    int hashes = v->kind == V_OBJECT ? object_hashes(m, v, &declared, line) : 1;
    if (hashes < 0)
        path_unsupported(m, line,
                         "use a frozen dataclass, or write hash((self.x, self.y)) beside "
                         "isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)",
                         "a key with a method __hash__ or __eq__ of its own");
    if (hashes == 0)
        return false;
    if (v->kind == V_VIEW || v->kind == V_RANGE || v->kind == V_METHOD)
        path_unsupported(m, line, "use a tuple", "a key of this kind");
    const values *parts = v->kind == V_TUPLE ? &v->in.items : &declared;
    for (size_t i = 0; i < parts->count; i++)
        if (!is_hashable_at(m, parts->at[i], depth + 1, line))
            return false;
    return true;
}

static bool is_hashable(machine *m, const value *v, int line)
{
    return is_hashable_at(m, v, 0, line);
}

static value *in_range(machine *m, value *range, value *item, int line)
{
    Z3_context z = m->solver->z;
    if (!value_is_integral(item))
        path_unsupported(m, line, "compare with < and >=", "`in` a range of this kind");
    int64_t step = range_step(m, range, line);
    Z3_ast x = value_int_term(m, item), from = value_int_term(m, range->range.from);
    Z3_ast to = value_int_term(m, range->range.to);
    Z3_ast size = term_int(m, step < 0 ? -step : step);
    Z3_ast away = Z3_mk_sub(z, 2, (Z3_ast[]){ x, from });
    Z3_ast all[] = {
        step > 0 ? Z3_mk_ge(z, x, from) : Z3_mk_le(z, x, from),
        step > 0 ? Z3_mk_lt(z, x, to) : Z3_mk_gt(z, x, to),
        Z3_mk_eq(z, Z3_mk_mod(z, away, size), m->solver->zero),
    };
    return value_of_bool(m, Z3_mk_and(z, 3, all));
}

value *contains(machine *m, value *in, value *item, int line)
{
    if (in->kind == V_STR) {
        if (item->kind != V_STR)
            return throw(m, "TypeError", line);
        item = text_looked_at(m, item);
        if (!in->known && !in->str.codes && (item->known || item->str.codes) &&
            text_is_short(m, in, MOST_SETTLED))
            in = text_settled(m, in);
        return text_compare(m, OP_IN, item, in);
    }
    if (in->kind == V_BYTES)
        return bytes_contains(m, in, item, line);
    if (in->kind == V_VIEW && in->view.part == 'k')
        return contains(m, in->view.dict, item, line);
    if (in->kind == V_VIEW) {
        value *list = value_new(m, V_LIST);
        return items_of(m, in, true, &list->in.items, line) ? contains(m, list, item, line) : NULL;
    }
    if (in->kind == V_RANGE)
        return in_range(m, in, item, line);
    if (in->kind == V_OBJECT)
        return object_contains(m, in, item, line);
    if (in->kind == V_CLASS && in->class.enumeration && item->kind == V_OBJECT &&
        item->object.class->class.enumeration && !item->object.plain)
        return value_bool(m, item->object.class == in);
    if (in->kind == V_ITERATOR)
        return iterator_contains(m, in, item, line);
    if (in->kind == V_BUILTIN || in->kind == V_CLASS)
        path_unsupported(m, line, "use a list", "`in` a %s", value_type(in));
    if (in->kind != V_LIST && in->kind != V_TUPLE && in->kind != V_SET && in->kind != V_DICT)
        return throw(m, "TypeError", line);
    if ((in->kind == V_SET || in->kind == V_DICT) && !is_hashable(m, item, line))
        return throw(m, "TypeError", line);
    if (!in->slots || !slots_are_plain(m, in))
        settle(m, in);
    slots items = slots_of(m, in);
    value *found = value_bool(m, false);
    unsigned version = in->version;
    bool guarded = in->slots;
    for (size_t i = 0; i < items.count; i++) {
        value *one = item_equal(m, items.at[i].item, item, line);
        if (!guarded)
            require_unchanged(m, in, version, line);
        if (one)
            one = both(m, guard_truth(m, items.at[i].guard), one);
        if (!one || (one->known && one->truth))
            return one;
        found = either(m, found, one);
    }
    return found;
}

/* `set in set`: Python searches for a frozenset. */
value *sought_in(machine *m, const value *in, value *item)
{
    if (in->kind != V_SET || item->kind != V_SET || item->frozen)
        return item;
    value *frozen = value_new(m, V_SET);
    unsigned serial = frozen->serial;
    *frozen = *item;
    frozen->serial = serial;
    frozen->frozen = true;
    return frozen;
}

value *compare(machine *m, operator_kind op, value *l, value *r, int line)
{
    value *result;
    switch (op) {
    case OP_EQ:
    case OP_NOTEQ:
        if (l->kind == V_OBJECT || r->kind == V_OBJECT)
            return rich_compare(m, op, l, r, line);
        result = equal(m, l, r, line);
        if (op == OP_EQ)
            return result;
        return result ? negated(m, result) : NULL;
    case OP_IS:
        return identical(m, l, r, line);
    case OP_ISNOT:
        result = identical(m, l, r, line);
        return result ? negated(m, result) : NULL;
    case OP_IN:
        return contains(m, r, sought_in(m, r, l), line);
    case OP_NOTIN:
        result = contains(m, r, sought_in(m, r, l), line);
        return result ? negated(m, result) : NULL;
    default:
        return order(m, op, l, r, line);
    }
}

/* -- keys -------------------------------------------------------------------------------------- */

long find_key(machine *m, value *of, value *key, int line)
{
    if (!is_hashable(m, key, line)) {
        throw(m, "TypeError", line);
        return -2;
    }
    settle(m, of);
    for (size_t i = 0; i < of->in.items.count; i++) {
        value *same = same_or_equal(m, of->in.items.at[i], key, line);
        int is = same ? decide_truth(m, same, true) : -1;
        if (is < 0)
            return -2;
        if (is)
            return (long)i;
    }
    return -1;
}

bool set_key(machine *m, value *dict, value *key, value *v, int line)
{
    if (keyed_set(m, dict, key, v, line))
        return true;
    long place = find_key(m, dict, key, line);
    if (place == -2)
        return false;
    path_change(m, dict);
    if (place >= 0) {
        dict->in.others.at[place] = v;
        return true;
    }
    dict->version++;
    values_add(m, &dict->in.items, key);
    values_add(m, &dict->in.others, v);
    return true;
}

bool add_item(machine *m, value *set, value *item, int line)
{
    if (keyed_set(m, set, item, NULL, line))
        return true;
    long place = find_key(m, set, item, line);
    if (place == -2)
        return false;
    if (place < 0) {
        path_change(m, set);
        set->version++;
        values_add(m, &set->in.items, item);
    }
    return true;
}
