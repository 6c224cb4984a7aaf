/*
 * src/operator: the operations of the operator, `incidents`. They read the index of the incidents
 * (index/index.h), which has the private side of failures: so they are `.operator_only`.
 *
 *     operations.c  the declarations: commands, routes and tools
 *     service.c     the service: the index as one process has it
 *     filters.c     filters of a call: times, names, and the nearest of a name that is unknown
 *     ids.c         ids in any text
 *     list.c        list, groups, group, resolve, mute, stats
 *     show.c        one incident: what the caller saw beside what happened
 *     source.c      … lines of source code, where they are at hand
 *     frames.c      … the frames of its stack that are the program's own code
 *     page.c        … as a page for a person
 *     table.c       lists and groups as lines for a person
 *     export.c      JSON lines and CSV
 *     tail.c        what happens now
 *
 * All of it runs in a command or in a worker of a server, never on a loop. Commands and workers
 * read the files themselves; who may call an operation is decided before that (base/scope.h).
 */
#ifndef MISHAP_OPERATOR_OPERATOR_H
#define MISHAP_OPERATOR_OPERATOR_H

#include "mishap/operation.h"

enum { MISHAP_OPERATOR_COUNT = 9 };

/* The operations; the list ends with { 0 }. */
extern const mishap_operation mishap_operator_operations[MISHAP_OPERATOR_COUNT + 1];

#endif
