/* The worker of the server: it answers calls on descriptor 3 until the server closes it. */
#ifndef SYMBOLIC_SERVE_H
#define SYMBOLIC_SERVE_H

#include "tools/tools.h"

_Noreturn void serve(solver *s);

#endif
