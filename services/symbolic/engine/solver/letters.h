/*
 * Strings as letters: a condition that asks of unknown strings only for their lengths and for
 * single characters is one about ints. Such conditions are told to a solver of their own, which
 * knows nothing of strings: it is fast, and its "unsat" needs no second opinion.
 *
 * An int stands for each length and for each character that is asked for: -1 where the string is
 * too short for it. What cannot be said in this way is left out, so "unsat" always counts, and
 * "sat" only if nothing was left out.
 */
#ifndef SYMBOLIC_LETTERS_H
#define SYMBOLIC_LETTERS_H

#include "solver/solver.h"

void letters_open(solver *s);                /* a fresh context */
void letters_begin(solver *s, Z3_solver of); /* `of` is empty */
void letters_end(solver *s);

void letters_tell(solver *s, Z3_ast condition);
void letters_pop_to(solver *s, unsigned scopes);

/* The question as one about ints, asked by `ask`. ANSWER_UNKNOWN: others have to answer it. */
typedef answer letters_ask(solver *s, Z3_solver of, Z3_model *model);
answer letters_check(solver *s, Z3_ast condition, Z3_model *model, letters_ask *ask);

#endif
