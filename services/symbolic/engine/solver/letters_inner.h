/* Inside of letters.h: unknown strings with their ints, and conditions in rewritten form. */
#ifndef SYMBOLIC_LETTERS_INNER_H
#define SYMBOLIC_LETTERS_INNER_H

#include "solver/letters.h"

enum {
    MOST_DEPTH = 2000,  /* of a term */
    MOST_PLACES = 256,  /* characters of one string that have an int */
    MOST_LENGTH = 4096, /* of a string in a model */
    LAST_LETTER = 0x2ffff,
    LAST_LATIN = 0xff
};

/* An unknown string: a constant of the solver, or an item of an array of strings. */
typedef struct base {
    Z3_ast term, length;
    Z3_ast codes[MOST_PLACES];
    bool latin; /* the condition is given on each path that uses it */
} base;

typedef struct memo {
    Z3_ast of, made; /* `made` is NULL if it cannot be expressed with ints */
} memo;

typedef struct told {
    Z3_ast plain; /* NULL: it was left out */
    Z3_ast condition;
    unsigned scope;
    bool looked; /* `plain` is set */
} told;

struct letters {
    Z3_solver s;
    base **bases;
    size_t base_count, base_room;
    size_t axioms; /* how many ints there are; those of the solver: */
    size_t axioms_told;
    memo *memos; /* a hash table by the id of a term */
    size_t memo_count, memo_room;
    told *told;
    size_t count, room, at; /* `at`: how many the solver has got */
    unsigned scopes;        /* of the solver */
    size_t left_out;        /* … of those, how many were left out */
    bool broken;            /* no memory: nothing is answered */
};

/* A condition on strings as one on ints (letters_terms.c); NULL: it cannot be expressed. */
Z3_ast letters_rewrite(solver *s, Z3_ast condition);
/* Define the ints of a string. */
void letters_explain(solver *s, const base *b);
/* Add the strings that the ints of a model make; false: one is too long. */
bool letters_add_strings(solver *s, Z3_model model);

#endif
