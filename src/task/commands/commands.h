/*
 * The commands about the tasks of a server, for its operator: they read the rows in its store, and
 * need no connection to the server. A program with an operation that is `.task` has them. And
 * `--detach` of other commands (detach.c), whose calls go on after them.
 */
#ifndef MISHAP_TASK_COMMANDS_COMMANDS_H
#define MISHAP_TASK_COMMANDS_COMMANDS_H

#include "base/buffer.h"
#include "mishap/operation.h"

enum { MISHAP_TASK_COMMANDS = 6 };

/* The operations; the list ends with { 0 }. */
extern const mishap_operation mishap_task_commands[MISHAP_TASK_COMMANDS + 1];

/* Store a call as a task, in a store or (NULL) in the data folder (NULL: the usual one), and see to
 * it that it runs: in a server with that folder, or in a process that outlives this one. Writes
 * what `tasks show` says of it. */
mishap *mishap_task_detach(mishap_call *call, const char *folder, const char *store,
                           mishap_buffer *answer);

/* See to it that the tasks of a data folder run: in a server with that folder, or in a process that
 * outlives this one. */
void mishap_task_go_on(mishap_call *call, const char *folder, const char *store);

#endif
