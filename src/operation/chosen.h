/* A program with some of its services only: `serve --service todo,lisp`. */
#ifndef MISHAP_OPERATION_CHOSEN_H
#define MISHAP_OPERATION_CHOSEN_H

#include "base/arena.h"
#include "operation/operation.h"

enum { MISHAP_CHOSEN_NAMES = 1000 }; /* bytes of a list of names, at most */

/*
 * `out` becomes the program without the operations of other services, and without operations that
 * belong to no service; operations of the operator, for drills and for the command line stay.
 * `names` are separated by commas; NULL: `out` is the program as it is. The lists of `out` live in
 * the arena.
 *
 * ARG_ERROR: a name is empty, or no operation that is served belongs to such a service. The
 * suggestion has the nearest name and all names.
 */
mishap *mishap_app_choose(const mishap_app *app, const char *names, mishap_arena *arena,
                          mishap_app *out);

#endif
