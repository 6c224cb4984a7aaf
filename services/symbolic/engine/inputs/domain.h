/*
 * Small domains: all values that a parameter can have, if they are few. Bools, Literals, Enums and
 * None are; ints are if the preconditions bound them.
 */
#ifndef SYMBOLIC_DOMAIN_H
#define SYMBOLIC_DOMAIN_H

#include "inputs/input.h"

enum { MOST_CALLS_OF_ALL = 20000 };

typedef struct domain {
    const char **choices; /* as Python writes them; NULL: the ints from `from` on */
    int64_t from;
    size_t count;
} domain;

/* What the conditions say of an int: all values that they allow lie within. */
typedef struct bounds {
    bool low, high;
    int64_t from, to;
} bounds;

/* Narrow the bounds of the parameter `name` by a condition that must hold. */
void bounds_narrow(const node *condition, const char *name, bounds *out);
/* Is this a comparison of names and numbers, which raises nothing where the names are ints? */
bool is_plain_condition(const node *condition);

/* The values of a type. False: there are too many, or nobody knows how many. */
bool domain_of(tree *t, const type *of, const bounds *within, domain *out);
/* The words of one of them. */
const char *domain_words(const domain *d, size_t index, arena *a);

/* The names of the members of an Enum, if they are plain to see. 0: it is none. */
size_t enum_members(const node *class, const char **names, size_t most);

#endif
