/*
 * The solvers: Z3 answers, cvc5 is the second opinion.
 *
 * Z3 holds the condition of the path that is explored, as a stack of scopes. Its theory of strings
 * has a history of wrong "unsat", so an "unsat" that depends on strings counts only if cvc5 agrees
 * (`strings`). Questions with floats go to cvc5 first, which decides them much faster.
 */
#ifndef SYMBOLIC_SOLVER_H
#define SYMBOLIC_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <z3.h>

typedef enum answer { ANSWER_UNKNOWN, ANSWER_SAT, ANSWER_UNSAT } answer;

typedef struct solver {
    Z3_context z;
    Z3_solver s;
    Z3_params brief; /* of a simplification */
    Z3_sort bools, ints, floats, strings_sort;
    Z3_ast yes, no, zero, one, nearest; /* `nearest` is the rounding of floats */
    bool strings, floats_used;          /* a symbolic one is used */
    bool contradiction;                 /* the two solvers disagreed: no answer counts any more */
    bool undecided;      /* a question had no answer: with more time there may be one */
    bool broken;         /* Z3 answers nothing any more, until solver_begin() */
    int64_t deadline_ns; /* of the analysis; by the monotonic clock */
    int check_ms;        /* most for one question: processor time */
    unsigned scopes, analyses;
    uint64_t checks, second_checks;
    Z3_func_decl to_code, from_code; /* of strings of one character, and ints */
    Z3_ast printable;                /* a regular expression: characters from " " to "~" */
    Z3_ast latin;                    /* … up to U+FF */
    struct letters *letters;         /* conditions on strings as conditions on ints: letters.h */
} solver;

/* Open Z3; once a process. */
void solver_open(solver *s);
/* Begin an analysis that ends at `deadline_ns`: an empty stack. */
void solver_begin(solver *s, int64_t deadline_ns);
void solver_end(solver *s);

void solver_push(solver *s);
void solver_pop_to(solver *s, unsigned scopes);
void solver_assert(solver *s, Z3_ast condition);

/* Can what was asserted and `condition` hold together? With ANSWER_SAT `*model`, if asked for, is a
 * model that the caller releases with solver_drop(); it may be NULL all the same. */
answer solver_check(solver *s, Z3_ast condition, Z3_model *model);
void solver_keep(solver *s, Z3_model model);
void solver_drop(solver *s, Z3_model model); /* NULL is allowed */

/* A string of one character as its code point, and the other way around. */
Z3_ast solver_code(solver *s, Z3_ast character);
Z3_ast solver_letter(solver *s, Z3_ast code);
/* That an unknown string has no characters beyond U+FF: to be told of it before all else, on each
 * path. */
Z3_ast solver_is_latin(solver *s, Z3_ast string);
/* A wish for a model: that a string has only printable characters of ASCII. A model may not fulfil
 * it, so it must not be asserted. */
Z3_ast solver_wish_printable(solver *s, Z3_ast string);

/* The value of a term in a model: a numeral or a constant of its theory. NULL: it has none. */
Z3_ast solver_value(solver *s, Z3_model model, Z3_ast term);
/* The term in a simpler form, or itself where that would take many steps. */
Z3_ast solver_simplify(solver *s, Z3_ast term);
bool solver_is_true(solver *s, Z3_ast term);
bool solver_is_false(solver *s, Z3_ast term);

/* A call was interrupted: every question from now on is ANSWER_UNKNOWN, until solver_begin(). It
 * may be called in a handler of a signal. */
void solver_interrupt(void);
bool solver_interrupted(void);

const char *solver_version(void);
int64_t clock_ns(void);
/* The processor time of this thread: other processes may use the processors. */
int64_t processor_ns(void);

#endif
