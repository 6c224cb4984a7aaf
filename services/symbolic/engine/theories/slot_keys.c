/* Keys of dicts and sets that exist under conditions, or that are not known: see slots.c. */
#include "theories/theories.h"

/* Keys whose comparison can neither raise nor fork. */
static bool is_plain_key(const value *v)
{
    for (size_t i = 0; v->kind == V_TUPLE && i < v->in.items.count; i++)
        if (!is_plain_key(v->in.items.at[i]))
            return false;
    return (value_is_scalar(v) && v->kind != V_FLOAT) || v->kind == V_NONE || v->kind == V_TUPLE;
}

bool key_hits(machine *m, value *of, value *key, slots *items, value ***hits, int line)
{
    enum { MOST_KEYS = 64 };
    if (m->no_joins || !is_plain_key(key) ||
        (of->slots ? of->slots->count : of->in.items.count) > MOST_KEYS)
        return false;
    *items = slots_of(m, of);
    *hits = arena_take(m->arena, (items->count + 1) * sizeof **hits);
    bool open = false;
    for (size_t i = 0; i < items->count; i++) {
        if (!is_plain_key(items->at[i].item))
            return false;
        value *same = same_or_equal(m, items->at[i].item, key, line);
        if (!same)
            return false;
        (*hits)[i] = both(m, guard_truth(m, items->at[i].guard), same);
        open = open || !(*hits)[i]->known;
    }
    return open || of->slots;
}

static value *any_of(machine *m, const slots *items, value **hits)
{
    value *any = value_bool(m, false);
    for (size_t i = 0; i < items->count; i++)
        any = either(m, any, hits[i]);
    return any;
}

value *keyed_get(machine *m, value *dict, value *key, value *otherwise, bool *there, bool *done,
                 int line)
{
    slots items;
    value **hits, *chosen = otherwise;
    *done = *there = false;
    if (!key_hits(m, dict, key, &items, &hits, line))
        return NULL;
    for (size_t i = items.count; i-- > 0;) {
        if (hits[i]->known && !hits[i]->truth)
            continue;
        chosen = chosen ? choose(m, value_term(m, hits[i]), items.at[i].other, chosen)
                        : items.at[i].other;
        if (!chosen)
            return NULL;
    }
    *done = true;
    if (!otherwise && decide_truth(m, any_of(m, &items, hits), true) == 0)
        return NULL;
    *there = !otherwise;
    return chosen;
}

bool keyed_set(machine *m, value *of, value *key, value *v, int line)
{
    slots items, made = { 0 };
    value **hits;
    if (!key_hits(m, of, key, &items, &hits, line))
        return false;
    for (size_t i = 0; i < items.count; i++) {
        slot old = items.at[i];
        value *hit = hits[i];
        bool kept = !v || (hit->known && !hit->truth);
        /* If the key is this one, the value of an unfilled slot does not matter. */
        bool same = hit->known || is_same_key(old.item, key);
        value *joined = kept ? old.other : same ? v : choose(m, value_term(m, hit), v, old.other);
        if (kept || joined) {
            slots_add(m, &made, old.guard, old.item, joined);
            continue;
        }
        slots_add(m, &made, value_term(m, hit), old.item, v);
        slots_add(m, &made, guard_and(m, old.guard, value_term(m, negated(m, hit))), old.item,
                  old.other);
    }
    value *fresh = negated(m, any_of(m, &items, hits));
    path_change(m, of);
    if (!(fresh->known && !fresh->truth)) {
        slots_add(m, &made, fresh->known ? NULL : value_term(m, fresh), key, v);
        of->version++;
    }
    slots_give(m, of, made);
    return true;
}
