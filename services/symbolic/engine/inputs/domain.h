/*
 * Small domains: all values that a parameter can have, if they are few. Bools, Literals, Enums and
 * None are. Ints are if the preconditions bound them; strs if these tell which ones there are, or
 * the length and the characters; lists if they bound the length and the items.
 */
#ifndef SYMBOLIC_DOMAIN_H
#define SYMBOLIC_DOMAIN_H

#include "inputs/inputs.h"

enum { MOST_CALLS_OF_ALL = 20000 };

typedef struct domain {
    const char **choices; /* as Python literals; NULL: the ints from `from` on */
    int64_t from;
    size_t count;
} domain;

/* The bounds of a value: all values that the conditions allow are within. */
typedef struct span {
    bool low, high; /* whether there is a lower, an upper bound of an int */
    int64_t from, to;
    const node *among; /* constants in a display, or a str, in which it is; NULL: none */
    const node *equal; /* the constant that it is equal to; NULL: none */
} span;

/* … of a parameter, its length, and each of its items or characters. */
typedef struct bounds {
    span itself, length, items;
} bounds;

/* Narrow the bounds of the parameter `name` by a condition that must hold. */
void bounds_narrow(const node *condition, const char *name, bounds *out);
/* An int literal. */
bool whole_number(const node *n, int64_t *out);
/* True for a comparison of names and numbers that cannot raise if the names are ints. */
bool is_plain_condition(const node *condition);

/* The values of a type. False: there are too many, or their number is not known. */
bool domain_of(tree *t, const type *of, const bounds *within, domain *out);
/* The literal of one of them. */
const char *domain_words(const domain *d, size_t index, arena *a);

/* The names of the members of an Enum, if its definition is simple. 0: it is not. */
size_t enum_members(const node *class, const char **names, size_t most);
/* The Enum of the module with this name; NULL: none with a simple definition. */
const node *enum_named_in(const tree *t, const char *name);

#endif
