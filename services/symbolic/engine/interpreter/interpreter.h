/*
 * interpreter: it runs the tree with values that may be symbolic, one path at a time - statements,
 * expressions, calls, class statements, imports, comprehensions and generators.
 */
#ifndef SYMBOLIC_INTERPRETER_H
#define SYMBOLIC_INTERPRETER_H

#include "classes/classes.h"

/* What runs code, for the machine. */
extern const code_runner interpreter;

/* -- expressions (expression.c, comprehension.c) ----------------------------------------------- */
value *eval(machine *m, scope *s, const node *n);
/* The truth of an expression, which may be a symbolic bool. */
value *eval_truth(machine *m, scope *s, const node *n);
bool assign(machine *m, scope *s, const node *target, value *v);
value *eval_comprehension(machine *m, scope *s, const node *n);
/* All items of a generator expression to which there is no other reference (`frozen`), as a list,
 * if the time at which they are made does not matter: nothing is raised or changed. NULL: it may
 * matter. */
value *items_at_once(machine *m, value *of);
/* One item of a generator expression with a single `for`. */
value *expression_next(machine *m, value *of, int line);

/* -- statements (statement.c, branching.c, trying.c, with.c, matching.c, importing.c) ---------- */
outcome run(machine *m, scope *s, nodes body);
/* Run the body of a loop or function. Its end, and a statement that ends it (`meet`: CONTINUED or
 * RETURNED), count as the same place, where the sides of an `if` can be joined (branching.c). */
outcome run_until(machine *m, scope *s, nodes body, outcome meet);
outcome run_one(machine *m, scope *s, const node *n);
outcome run_if(machine *m, scope *s, const node *n);
/* The body of a `for` over a container with slots: BROKE, or DONE, RETURNED, RAISED. */
outcome run_over_slots(machine *m, scope *s, const node *n, value *of);
outcome run_try(machine *m, scope *s, const node *n);
/* The first handler of a `try` that handles an exception: 1; 0: there is none; -1: raised. */
int find_handler(machine *m, scope *s, const node *n, value *raised, const node **out);
outcome run_with(machine *m, scope *s, const node *n);
outcome run_match(machine *m, scope *s, const node *n);
outcome run_import(machine *m, scope *s, const node *n);

/* -- calls (call.c, caching.c) ----------------------------------------------------------------- */
value *eval_call(machine *m, scope *s, const node *n);
value *make_function(machine *m, scope *s, const node *n); /* NULL: raised */
/* lru_cache and cache; the callers of this function handle other decorators. */
void decorate_function(machine *m, scope *s, const node *n, value *function);
typedef value *cached_call(machine *m, value *function, arguments *given, int line);
value *call_cached(machine *m, value *function, arguments *given, int line, cached_call *otherwise);

/* -- generators (generator.c) ------------------------------------------------------------------ */
/* The next item of the generator of a function. */
value *generator_next(machine *m, value *of, int line);
value *make_generator(machine *m, const node *function, scope *inside);

/* -- class statements and decorators (class.c, enumeration.c) ---------------------------------- */
/* The full name of an imported name: "enum.Enum"; NULL: it does not come from a module. */
const char *library_name(machine *m, scope *s, const node *n);
outcome run_class(machine *m, scope *s, const node *n);
outcome run_enumeration(machine *m, scope *members, value *class);
/* The function of a definition after its decorators. NULL: raised. */
value *decorated_function(machine *m, scope *s, const node *n);
/* property(), staticmethod(), classmethod() and the like; false: it is none of these. */
bool call_decorator(machine *m, const char *name, arguments *given, value **result, int line);
value *property_with(machine *m, const value *property, const char *part, arguments *given,
                     int line);
value *eval_super(machine *m, scope *s, const node *n);

#endif
