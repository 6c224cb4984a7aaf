/*
 * The commands about the tasks of a server, for its operator: they read the rows in its store, and
 * need no connection to the server. A program with an operation that is `.task` has them.
 */
#ifndef MISHAP_TASK_COMMANDS_COMMANDS_H
#define MISHAP_TASK_COMMANDS_COMMANDS_H

#include "mishap/operation.h"

enum { MISHAP_TASK_COMMANDS = 5 };

/* The operations; the list ends with { 0 }. */
extern const mishap_operation mishap_task_commands[MISHAP_TASK_COMMANDS + 1];

#endif
