/* Types that a module defines itself: what the annotation of a parameter may name. */
#ifndef SYMBOLIC_RECORD_H
#define SYMBOLIC_RECORD_H

#include "tree/tree.h"

enum { MOST_RECORD_FIELDS = 16 };

/* The fields that an object is made with, in their order. */
typedef struct record {
    const char *names[MOST_RECORD_FIELDS];
    const node *annotations[MOST_RECORD_FIELDS];
    size_t count;
} record;

/* The dataclass or NamedTuple of this name; NULL: there is none that is plain to see. */
const node *record_named(const tree *t, const char *name, record *out);
/* What `Vec = list[int]`, `Vec: TypeAlias = …`, `type Vec = …` or `Id = NewType("Id", int)` stand
 * for; NULL: it is none of these. */
const node *alias_named(const tree *t, const char *name);

#endif
