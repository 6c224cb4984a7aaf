/* The worker of the server: it answers calls on descriptor 3 until the server closes it. */
#ifndef SYMBOLIC_SERVE_H
#define SYMBOLIC_SERVE_H

#include "tools/tools.h"

/* `asked`: the server replays inputs, and stores what is known so far. */
_Noreturn void serve(solver *s, bool asked);

#endif
