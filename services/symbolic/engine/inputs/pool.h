/*
 * The pool: typical and boundary values of a type, and those that constants of the code suggest.
 * They prove nothing, but a call that is a finding counts.
 */
#ifndef SYMBOLIC_POOL_H
#define SYMBOLIC_POOL_H

#include "inputs/inputs.h"

enum { MOST_POOL = 56, MOST_ROWS = 64 };

typedef struct pool {
    const char *at[MOST_POOL]; /* as Python literals */
    size_t count;
} pool;

/* Constants of the code, as Python literals. */
typedef struct hints {
    pool ints, floats, strs, bytes;
} hints;

void hints_of(tree *t, const node *n, hints *out);
/* Values of a type; count 0: there are none. */
void pool_of(tree *t, const type *of, const hints *near, int depth, pool *out);

/* A str constant as Python writes it, in ASCII. */
const char *str_words(arena *a, const constant *k);

#endif
