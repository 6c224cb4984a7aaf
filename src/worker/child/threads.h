/*
 * Threads of a worker. A handler that returns and leaves a thread behind leaves it in a process
 * that goes on: if the thread crashes later, the call of another caller fails with it.
 */
#ifndef MISHAP_WORKER_CHILD_THREADS_H
#define MISHAP_WORKER_CHILD_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* The number of threads of this process, without those that are about to end; 0: not known. As long
 * as the C library has started none, this costs no system call. If the result is not above `known`,
 * it may include threads that are about to end: counting them is quicker, and the caller only asks
 * whether there are more than `known`. */
size_t mishap_threads_count(size_t known);

/* Tell the operator that the handler of an operation has left a thread behind; with it, what the
 * process had in memory may be lost. */
void mishap_threads_tell(const char *operation, bool memory_lost);

#endif
