/* cvc5, asked the questions of Z3: terms are translated one by one. */
#ifndef SYMBOLIC_SECOND_H
#define SYMBOLIC_SECOND_H

#include <stdbool.h>

#include "solver/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Can these assertions hold together? ANSWER_UNKNOWN also where a term has no translation. With
 * ANSWER_SAT `*model`, if asked for, is one that Z3 can evaluate, or NULL. */
answer second_check(Z3_context z, Z3_ast_vector assertions, int limit_ms, Z3_model *model);

bool second_is_there(void);
const char *second_version(void); /* "" if it is not there */

#ifdef __cplusplus
}
#endif

#endif
