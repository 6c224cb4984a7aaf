/* The stack of a child process that does not answer, read from outside. */
#ifndef MISHAP_WORKER_KEEPER_STACK_H
#define MISHAP_WORKER_KEEPER_STACK_H

#include "mishap/trace.h"

/*
 * Let the main thread of a child stop, with ptrace. It does as soon as it has a processor, and
 * SIGCHLD says so; inside of the kernel that may take long. It stays stopped: the caller kills it
 * in the end. False: the system does not allow it.
 */
bool mishap_stack_stop(int pid);

/* Follow the frame pointers of one that has stopped. False: it has not, or cannot be read. */
bool mishap_stack_read(int pid, mishap_trace *trace);

#endif
