/* What code may depend on beside its inputs, and what it may leave behind. */
#ifndef SYMBOLIC_NATURE_H
#define SYMBOLIC_NATURE_H

#include "explore/explore.h"

/* True if it may depend on its process: the order of a set of strs, hash() and id() differ between
 * processes. Uses of random numbers or the time are noticed when it is called. */
bool rests_on_process(const analysis *a);
/* True if no call leaves anything behind that another call could see. */
bool keeps_nothing(const tree *t);

#endif
