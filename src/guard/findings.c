#include "guard/findings.h"

#include "base/sort.h"

static uint16_t rule_of(const mishap_leak_finding *finding)
{
    return (uint16_t)(finding->rule | (finding->limit ? MISHAP_LEAK_MOST_RULES : 0));
}

static void set_finding(mishap_leak_findings *list, size_t at, const mishap_leak_finding *finding)
{
    list->starts[at] = finding->start;
    list->ends[at] = finding->end;
    list->rules[at] = rule_of(finding);
    list->rest[at].secret = finding->secret;
    list->rest[at].secret_end = finding->secret_end;
    list->rest[at].view = finding->view;
    list->rest[at].confidence = finding->confidence;
}

static mishap_leak_finding get_finding(const mishap_leak_findings *list, size_t at)
{
    return (mishap_leak_finding){
        .start = list->starts[at],
        .end = list->ends[at],
        .rule = list->rules[at] % MISHAP_LEAK_MOST_RULES,
        .secret = list->rest[at].secret,
        .secret_end = list->rest[at].secret_end,
        .view = list->rest[at].view,
        .confidence = list->rest[at].confidence,
        .limit = list->rules[at] >= MISHAP_LEAK_MOST_RULES,
    };
}

bool mishap_leak_findings_add(mishap_leak_findings *list, const mishap_leak_finding *finding,
                              size_t most)
{
    if (list->count < most) {
        set_finding(list, list->count++, finding);
        return true;
    }
    mishap_leak_finding last = *finding;
    last.limit = true;
    last.confidence = MISHAP_LEAK_HIGH;
    set_finding(list, list->count - 1, &last);
    return false;
}

/* -- in another view --------------------------------------------------------------------------- */

static inline bool shares_bytes(const mishap_leak_findings *list, size_t at,
                                const mishap_leak_finding *finding)
{
    return list->rules[at] == rule_of(finding) && list->starts[at] < finding->end &&
           list->ends[at] > finding->start;
}

/* Does one of the eight from here on share bytes with it? */
static inline bool one_of_eight(const mishap_leak_findings *list, size_t at,
                                const mishap_leak_finding *finding)
{
    typedef uint16_t lanes __attribute__((vector_size(16)));
    lanes starts, ends, rules;
    uint64_t halves[2];
    memcpy(&starts, list->starts + at, sizeof starts);
    memcpy(&ends, list->ends + at, sizeof ends);
    memcpy(&rules, list->rules + at, sizeof rules);
    lanes same = (lanes)(rules == rule_of(finding)) & (lanes)(starts < finding->end) &
                 (lanes)(ends > finding->start);
    memcpy(halves, &same, sizeof halves);
    return halves[0] | halves[1];
}

/* The first in a part of the list that shares bytes with it; `to` if there is none. */
static size_t find_shared(const mishap_leak_findings *list, size_t from, size_t to,
                          const mishap_leak_finding *finding)
{
    size_t at = from;
    while (to - at >= 8 && !one_of_eight(list, at, finding))
        at += 8;
    while (at < to && !shares_bytes(list, at, finding))
        at++;
    return at;
}

bool mishap_leak_findings_repeat(mishap_leak_findings *list, const mishap_leak_finding *finding)
{
    size_t count = list->count;
    size_t first = list->doubled < count ? list->doubled : 0; /* it is mostly beside the last */
    size_t at = find_shared(list, first, count, finding);
    if (at == count) {
        at = find_shared(list, 0, first, finding);
        if (at == first)
            return false;
    }
    if (list->rest[at].confidence < finding->confidence)
        set_finding(list, at, finding); /* this view shows more of it */
    list->doubled = at;
    return true;
}

/* -- sorted ------------------------------------------------------------------------------------ */

static int compare_findings(const void *a, const void *b)
{
    const mishap_leak_finding *one = a, *other = b;
    if (one->start != other->start)
        return one->start < other->start ? -1 : 1;
    if (one->end != other->end)
        return one->end > other->end ? -1 : 1;
    if (one->confidence != other->confidence)
        return one->confidence > other->confidence ? -1 : 1;
    return one->rule < other->rule ? -1 : one->rule > other->rule;
}

/* The findings of one view are nearly sorted: few move, and not far. */
size_t mishap_leak_findings_sort(const mishap_leak_findings *list, mishap_leak_finding *sorted)
{
    size_t left = 4 * list->count; /* moves */
    for (size_t i = 0; i < list->count; i++) {
        mishap_leak_finding moved = get_finding(list, i);
        size_t at = i;
        for (; at && left && compare_findings(&sorted[at - 1], &moved) > 0; at--, left--)
            sorted[at] = sorted[at - 1];
        sorted[at] = moved;
    }
    if (!left)
        mishap_sort(sorted, list->count, sizeof *sorted, compare_findings);
    return list->count;
}
