/*
 * Threads of a worker. A handler that returns and leaves a thread behind leaves it in a process
 * that goes on: if the thread crashes later, the call of another caller fails with it.
 */
#ifndef MISHAP_WORKER_THREADS_H
#define MISHAP_WORKER_THREADS_H

#include <stddef.h>

/* How many threads this process has, without those that are about to end; 0: that cannot be found
 * out here. As long as the C library has started none, this costs no system call. `known` is a
 * number that need not be exceeded to be of interest: up to it, threads that are about to end may
 * be counted, which is quicker. */
size_t mishap_threads_count(size_t known);

#endif
