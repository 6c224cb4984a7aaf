/*
 * The validator: which names code may use. It checks every node of the tree, before anything runs.
 *
 * Imports are an allow-list. Builtins and attributes that lead out of the sandbox of the language
 * are refused as a call, a bare name, an attribute, and as text that could become one of these
 * (getattr, format strings, annotations). A name of the code that hides a builtin is the code's
 * (shadow.h). A module may be used as `module.name` only, and `name` must not be another module.
 * This is one layer: the process has a sandbox of its own.
 */
#ifndef SYMBOLIC_VALIDATE_H
#define SYMBOLIC_VALIDATE_H

#include "tree/tree.h"

/* False: `wrong` is the first violation. `contract_of`: the node is a contract of this function;
 * NULL: it is the module. */
bool validate(tree *t, const node *n, const node *contract_of, fault *wrong);

/* The lists, for the resource that shows them; they end with NULL. */
extern const char *const validate_blocked_modules[], *const validate_allowed_modules[];
extern const char *const validate_blocked_builtins[], *const validate_blocked_attributes[];
/* … as an attribute or a name; members of modules; names with two underscores that do no harm. */
extern const char *const validate_blocked_indirect[], *const validate_blocked_members[];
extern const char *const validate_allowed_dunders[];

#endif
