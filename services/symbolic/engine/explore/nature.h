/* The nature of code: what it may depend on beside its inputs, and what it may leave behind. */
#ifndef SYMBOLIC_NATURE_H
#define SYMBOLIC_NATURE_H

#include "explore/explore.h"

/* May it depend on the process that it runs in? The order of a set of strs, hash() and id() are
 * others in another process. What asks for random numbers or the time is seen when it is called. */
bool rests_on_process(const analysis *a);
/* Does no call leave anything behind that another one could see? */
bool keeps_nothing(const tree *t);

#endif
