/* The stack of a child process that does not answer, read from outside. */
#ifndef MISHAP_WORKER_STACK_H
#define MISHAP_WORKER_STACK_H

#include "mishap/trace.h"

/*
 * Stop the main thread of a child with ptrace and follow its frame pointers. It stays stopped: the
 * caller kills it next. Takes a tenth of a millisecond, and at most 50; 1000 on a machine that is
 * so busy that the child does not run. False: the system does not allow it, or the child does not
 * stop.
 */
bool mishap_stack_read(int pid, mishap_trace *trace);

#endif
