/* The stack of a worker that does not answer, read by the keeper from outside. */
#ifndef MISHAP_WORKER_KEEPER_STACK_H
#define MISHAP_WORKER_KEEPER_STACK_H

#include "mishap/trace.h"

/*
 * Tell the main thread of a child to stop, with ptrace. It stops as soon as it has a processor, and
 * SIGCHLD reports that; inside of the kernel that may take long. It stays stopped: the caller kills
 * it in the end. False: the system does not allow it.
 */
bool mishap_stack_stop(int pid);

/* Follow the frame pointers of a child that has stopped. False: it has not stopped, or cannot be
 * read. */
bool mishap_stack_read(int pid, mishap_trace *trace);

#endif
