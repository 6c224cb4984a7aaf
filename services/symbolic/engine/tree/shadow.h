/*
 * Shadows: names of the code that hide a builtin of the same name.
 *
 * A variable may be called `dir`, and a method `open`; what must not be reached is the builtin.
 * Python decides by the text of a function which names are its own: such a name is never looked up
 * among the builtins, not even before it is bound. A name of the module is, until the statement
 * that binds it has run.
 */
#ifndef SYMBOLIC_SHADOW_H
#define SYMBOLIC_SHADOW_H

#include "tree/tree.h"

/* A function, lambda, comprehension or class that something is inside of, and what that is in. */
typedef struct block {
    const node *n;
    const struct block *up;
    bool parameters_only; /* a contract: it sees the parameters of its function, and no more */
} block;

/* Is the name, read inside of these blocks, surely one of the code? `at` is the index of the
 * statement of the module that it is in; of a contract, the count of all. */
bool is_shadowed(const node *module, const block *inside, size_t at, const char *name);

#endif
