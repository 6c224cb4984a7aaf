/*
 * Strings as letters: a condition that uses only the lengths and single characters of unknown
 * strings is one about ints. Such conditions go to a solver of their own, without the theory of
 * strings: it is fast, and its "unsat" needs no second opinion.
 *
 * An int stands for each length and for each character that is used: -1 if the string is too short
 * for it. Conditions that cannot be expressed in this way are left out, so "unsat" always counts,
 * and "sat" only if nothing was left out.
 */
#ifndef SYMBOLIC_LETTERS_H
#define SYMBOLIC_LETTERS_H

#include "solver/solver.h"

void letters_open(solver *s);                /* a fresh context */
void letters_begin(solver *s, Z3_solver of); /* `of` is empty */
void letters_end(solver *s);

void letters_tell(solver *s, Z3_ast condition);
void letters_pop_to(solver *s, unsigned scopes);

/* Ask the question as one about ints, with `ask`. ANSWER_UNKNOWN: another solver has to answer
 * it. */
typedef answer letters_ask(solver *s, Z3_solver of, Z3_model *model);
answer letters_check(solver *s, Z3_ast condition, Z3_model *model, letters_ask *ask);

#endif
