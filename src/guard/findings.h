/* What was found in a block, before it is reported. */
#ifndef MISHAP_GUARD_FINDINGS_H
#define MISHAP_GUARD_FINDINGS_H

#include "guard/rules.h"

enum {
    MISHAP_LEAK_MOST_FOUND = 700,  /* in a block … */
    MISHAP_LEAK_MOST_UNDONE = 400, /* … and as soon as an escape was undone */
};

/* A finding before it is reported. Places are bytes of the window. */
typedef struct mishap_leak_finding {
    uint16_t start, end, rule;
    uint16_t secret, secret_end; /* in the text as it is read, from the start of the finding */
    uint8_t view, confidence;
    bool limit;
} mishap_leak_finding;

/* Findings in the order in which they were made. Where they stand and which rule has made them are
 * lists of their own, since one is looked for among all of them for each match of another view. */
typedef struct mishap_leak_findings {
    size_t count;
    size_t doubled; /* what mishap_leak_findings_repeat() found last */
    uint16_t starts[MISHAP_LEAK_MOST_FOUND], ends[MISHAP_LEAK_MOST_FOUND];
    uint16_t rules[MISHAP_LEAK_MOST_FOUND]; /* and MISHAP_LEAK_MOST_RULES if it is a limit */
    struct {
        uint16_t secret, secret_end;
        uint8_t view, confidence;
    } rest[MISHAP_LEAK_MOST_FOUND];
} mishap_leak_findings;

/* Add one. False: there are `most` of them or more, and it has become a limit in place of the last.
 */
bool mishap_leak_findings_add(mishap_leak_findings *list, const mishap_leak_finding *finding,
                              size_t most);

/* Has the same rule found some of these bytes already? Of the two the surer one stays. */
bool mishap_leak_findings_repeat(mishap_leak_findings *list, const mishap_leak_finding *finding);

/* All, by their first bytes; of those that begin together the longest first, then the surest. There
 * must be room for MISHAP_LEAK_MOST_FOUND. Returns how many there are. */
size_t mishap_leak_findings_sort(const mishap_leak_findings *list, mishap_leak_finding *sorted);

#endif
