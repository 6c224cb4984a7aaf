/*
 * Shadows: names of the code that hide a builtin of the same name.
 *
 * A variable may be called `dir`, and a method `open`; only the builtin must not be reached. Python
 * decides by the text of a function which names are its own: such a name is never looked up among
 * the builtins, not even before it is bound. A name of the module is, until the statement that
 * binds it has run.
 */
#ifndef SYMBOLIC_SHADOW_H
#define SYMBOLIC_SHADOW_H

#include "tree/tree.h"

/* A function, lambda, comprehension or class around a node, and the block around that one. */
typedef struct block {
    const node *n;
    const struct block *up;
    bool parameters_only; /* a contract: it sees only the parameters of its function */
} block;

/* True if the name, read inside of these blocks, certainly belongs to the code. `at` is the index
 * of the module's statement that contains it; for a contract, the number of all statements. */
bool is_shadowed(const node *module, const block *inside, size_t at, const char *name);

#endif
