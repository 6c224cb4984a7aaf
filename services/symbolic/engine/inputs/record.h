/* Types that a module defines itself, and that an annotation may name. */
#ifndef SYMBOLIC_RECORD_H
#define SYMBOLIC_RECORD_H

#include "tree/tree.h"

enum { MOST_RECORD_FIELDS = 16 };

/* The parameters of an object's constructor, in their order. */
typedef struct record {
    const char *names[MOST_RECORD_FIELDS];
    const node *annotations[MOST_RECORD_FIELDS];
    size_t count;
} record;

/* The dataclass or NamedTuple of this name; NULL: none with a simple definition. */
const node *record_named(const tree *t, const char *name, record *out);
/* The meaning of `Vec = list[int]`, `Vec: TypeAlias = …`, `type Vec = …` or `Id = NewType("Id",
 * int)`; NULL: it is none of these. */
const node *alias_named(const tree *t, const char *name);

#endif
