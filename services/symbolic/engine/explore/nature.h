/* What code may depend on beside its inputs, and what it may leave behind. */
#ifndef SYMBOLIC_NATURE_H
#define SYMBOLIC_NATURE_H

#include "explore/explore.h"

/* What the code may depend on that differs between processes: the order of a set of strs, hash(),
 * id(), the address in the text of an object. It is a sentence that says what to change; NULL:
 * nothing. Calls of all inputs prove nothing about such code, and a finding counts only if other
 * processes confirm it. Uses of random numbers or the time are noticed when the code is called.
 * This is asked once for an analysis: `rests_on` has it. */
const char *nature_of(analysis *a);
/* The line of a place where text with the address of an object may be made (address.c); 0: there
 * is none. */
int address_line(analysis *a);
/* True if no call leaves anything behind that another call could see. */
bool keeps_nothing(const tree *t);

#endif
