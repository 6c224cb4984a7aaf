/* The tables are made when the program is built: filter_tables.h says what is in them. */
#include "guard/filter.h"

#include "guard/filter_tables.h"

static inline bool class_has(unsigned char class, char c)
{
    return mishap_leak_classes[(unsigned char)c] >> class & 1;
}

/* Outside of the text there are only ends of words. */
static bool literal_at_edge(const mishap_leak_place *place, const char *at, const char *text)
{
    if (at >= place->end)
        return false;
    for (; *text; text++, at++) {
        unsigned char c = (unsigned char)*text;
        if (c >= LEAK_CLASSES ? at < place->start || at >= place->end || *at != *text
                              : !class_has(c, leak_char(place, at)))
            return false;
    }
    return true;
}

/* Do the first characters of the literal stand here, where so many can be read? */
static inline bool begins_at(const char *at, const mishap_leak_literal *literal)
{
    uint64_t text[2], begin[2], mask[2];
    memcpy(text, at, sizeof text);
    memcpy(begin, literal->begin, sizeof begin);
    memcpy(mask, literal->mask, sizeof mask);
    if (((text[0] ^ begin[0]) & mask[0]) | ((text[1] ^ begin[1]) & mask[1]))
        return false;
    for (unsigned several = literal->several; several; several &= several - 1) {
        int i = __builtin_ctz(several);
        if (!class_has((unsigned char)mishap_leak_texts[literal->text + i], at[i]))
            return false;
    }
    return true;
}

static inline bool literal_at(const mishap_leak_place *place, const char *at,
                              const mishap_leak_literal *literal)
{
    const char *text = mishap_leak_texts + literal->text;
    if (at < place->start || place->end - at < LEAK_BEGINNING || place->end - at < literal->length)
        return literal_at_edge(place, at, text);
    if (!begins_at(at, literal))
        return false;
    for (size_t i = LEAK_BEGINNING; i < literal->length; i++)
        if (at[i] != text[i] &&
            ((unsigned char)text[i] >= LEAK_CLASSES || !class_has((unsigned char)text[i], at[i])))
            return false;
    return true;
}

/* The slot of four bytes; a free one if they are no entry. */
static inline const mishap_leak_slot *find_slot(uint32_t gram)
{
    uint32_t slot = leak_slot_of(gram);
    while (mishap_leak_slots[slot].first && mishap_leak_slots[slot].gram != gram)
        slot = (slot + 1) % LEAK_SLOTS;
    return &mishap_leak_slots[slot];
}

/* The entries of four bytes that may have this character behind them. */
static uint16_t find_split(uint32_t gram, char behind)
{
    uint32_t at = leak_split_of(gram, behind);
    for (; mishap_leak_splits[at].first; at = (at + 1) % LEAK_SPLITS)
        if (mishap_leak_splits[at].gram == gram && mishap_leak_splits[at].behind == behind)
            return mishap_leak_splits[at].first;
    return behind ? find_split(gram, 0) : 0;
}

static inline bool may_be_entry(uint32_t gram)
{
    uint32_t bit = leak_bit_of(gram);
    return mishap_leak_bits[bit / 64] >> (bit % 64) & 1;
}

static inline uint32_t gram_at(const char *at)
{
    uint32_t gram;
    memcpy(&gram, at, sizeof gram);
    return le32toh(gram);
}

/* What one run of the filter does with a literal. */
struct visit {
    mishap_leak_place *place;
    unsigned kinds;
    mishap_leak_hit *hit;
    void *state;
};

/* All literals that have these entries at this place. */
static bool visit_entries(const struct visit *visit, const char *at, size_t first)
{
    mishap_leak_place *place = visit->place;
    bool inside = at - place->start >= LEAK_LONGEST && place->end - at >= LEAK_LONGEST;
    for (const mishap_leak_entry *entry = &mishap_leak_entries[first]; entry->length; entry++) {
        place->visits++;
        const char *begin = at - entry->offset;
        const char *other = begin + entry->other;
        if (entry->character && (!(inside || (other >= place->start && other < place->end)) ||
                                 *other != entry->character))
            continue;
        if (leak_is_off(place->off, entry->rule))
            continue;
        const mishap_leak_literal *literal = &mishap_leak_literals[entry->literal];
        if (!(visit->kinds >> entry->kind & 1) || !literal_at(place, begin, literal))
            continue;
        place->at = begin < place->start ? place->start : begin;
        place->behind = begin + entry->length > place->end ? place->end : begin + entry->length;
        place->rule = &mishap_leak_rules[literal->rule];
        place->steps += 4;
        if (!visit->hit(visit->state, place))
            return false;
    }
    return true;
}

/* The last places, where less than five bytes are left: line feeds follow. The first place is one
 * of these, too: nothing stands before it. */
static bool visit_edge(const struct visit *visit, const char *at, const char *to)
{
    for (; at < to; at += 2) {
        char bytes[LEAK_GRAM] = { '\n', '\n', '\n', '\n' };
        size_t left = (size_t)(visit->place->end - at);
        memcpy(bytes, at, left < LEAK_GRAM ? left : LEAK_GRAM);
        uint32_t gram = gram_at(bytes);
        if (may_be_entry(gram) && !visit_entries(visit, at, find_slot(gram)->first))
            return false;
    }
    return true;
}

enum { PLACES = 256 };

/* Which of so many places, two bytes apart, may begin an entry: their numbers. No branch depends on
 * the text, since a processor could not foresee it. */
static size_t list_places(const char *at, size_t count, uint16_t *places)
{
    size_t found = 0, i = 0;
    for (; i + 4 <= count; i += 4) {
        const char *four = at + 2 * i;
        bool a = may_be_entry(gram_at(four)), b = may_be_entry(gram_at(four + 2)),
             c = may_be_entry(gram_at(four + 4)), d = may_be_entry(gram_at(four + 6));
        places[found] = (uint16_t)i;
        found += a;
        places[found] = (uint16_t)(i + 1);
        found += b;
        places[found] = (uint16_t)(i + 2);
        found += c;
        places[found] = (uint16_t)(i + 3);
        found += d;
    }
    for (; i < count; i++) {
        places[found] = (uint16_t)i;
        found += may_be_entry(gram_at(at + 2 * i));
    }
    return found;
}

/* Keep those that are an entry, and whose neighbours may be; `firsts` are their entries. */
static size_t keep_entries(const char *at, uint16_t *places, size_t count, uint16_t *firsts)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const char *now = at + 2 * (size_t)places[i];
        const mishap_leak_slot *slot = find_slot(gram_at(now));
        bool split = slot->behind == LEAK_SPLIT;
        firsts[kept] = split ? find_split(slot->gram, now[LEAK_GRAM]) : slot->first;
        places[kept] = places[i];
        kept += (slot->first != 0) & ((slot->before == 0) | (slot->before == now[-1])) &
                ((slot->behind == 0) | split | (slot->behind == now[LEAK_GRAM]));
    }
    return kept;
}

void mishap_leak_filter(mishap_leak_place *place, const char *from, const char *to, unsigned kinds,
                        mishap_leak_hit *hit, void *state)
{
    const struct visit visit = { place, kinds, hit, state };
    uint16_t places[PLACES], firsts[PLACES];
    const char *at = from;
    if (at == place->start && at < to) {
        if (!visit_edge(&visit, at, at + 1))
            return;
        at += 2;
    }
    while (to > at && place->end - at > LEAK_GRAM) {
        /* Places from `at` on that begin before `to` and have a byte behind their four. */
        size_t before = (size_t)(to - at + 1) / 2,
               whole = (size_t)(place->end - at - LEAK_GRAM + 1) / 2;
        size_t count = before < whole ? before : whole;
        count = count < PLACES ? count : PLACES;
        size_t kept = keep_entries(at, places, list_places(at, count, places), firsts);
        for (size_t i = 0; i < kept; i++)
            if (!visit_entries(&visit, at + 2 * (size_t)places[i], firsts[i]))
                return;
        at += 2 * count;
    }
    visit_edge(&visit, at, to);
}

bool mishap_leak_judge(mishap_leak_place *place)
{
    place->from = place->at;
    place->to = place->behind;
    place->secret = place->secret_end = NULL;
    place->confidence = place->rule->confidence;
    place->limit = false;
    return place->rule->check(place) || place->limit;
}
