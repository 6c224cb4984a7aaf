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

/* True if no statement of the module, in any of its blocks, binds or deletes this name or declares
 * it as global or nonlocal, other than the class statement `by`, and if no loop contains that one.
 * What the name means then never changes. `by` is NULL for a name of Python. Parameters do not
 * count. */
bool is_bound_once(const node *module, const char *name, const node *by);

/* True if a function or lambda of the module has a parameter of this name. */
bool is_any_parameter(const node *module, const char *name);

/* True if a name, a dotted name or a call of one is what it is called: a builtin, or imported under
 * its own name. In `e.Enum`, `e` may be any import. */
bool is_of_python(const node *module, const node *n);

/* True if an alias of an import statement binds the name. */
bool alias_binds(const node *alias, const char *name);

#endif
