/* Inside of theories: regular expressions on texts whose characters are known as code points. */
#ifndef SYMBOLIC_REGEX_H
#define SYMBOLIC_REGEX_H

#include "machine/machine.h"

/* `parts`: a pattern as regex.c reads it; `subject`: a str that was settled. The spans of a match
 * and its groups; NULL: there is none. `how` is fullmatch, match or search. */
value *regex_walk_once(machine *m, const value *parts, const value *subject, const char *how);
/* … of all matches, as a list. */
value *regex_walk_all(machine *m, const value *parts, const value *subject);

#endif
