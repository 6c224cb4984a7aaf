/* The first steps of a child process after fork(): it keeps nothing of the server but what it is
 * given. */
#ifndef MISHAP_WORKER_SPAWN_CHILD_H
#define MISHAP_WORKER_SPAWN_CHILD_H

#include "operation/operation.h"

/* Resource limits of a worker; 0: the limit of the server itself. */
typedef struct mishap_worker_limits {
    uint64_t memory_bytes; /* of private memory (RLIMIT_DATA); malloc fails beyond it */
    uint64_t cpu_seconds;  /* over all of its calls; at the limit the system kills it */
    uint64_t files;        /* open descriptors */
    uint64_t processes;    /* of this user on the machine; not enforced for root (RLIMIT_NPROC) */
    uint64_t file_bytes;   /* size of a file that it writes; beyond it, writing fails */
} mishap_worker_limits;

enum { MISHAP_CHILD_FILES = 3 }; /* at most, that a worker is given */

/*
 * Call this first in a worker that the keeper (with this process id) has forked. The process gets a
 * session of its own, dies with the keeper, and has the signal actions of a new program, a name and
 * the limits. Descriptor 0 is at its end, 1 is stderr, and 3 to 15 are /dev/null, so that stray
 * writes to them reach no other process. `files` get the numbers from 16 on, and all others are
 * closed. False: the process must exit.
 */
bool mishap_child_begin(int keeper, const mishap_worker_limits *limits, int *files, size_t count);

/*
 * The same for a process that is about to execute a foreign program. It gets a session of its own
 * and the signal actions of a new program, but ignores SIGTERM, SIGHUP and SIGPIPE. Descriptor 0 is
 * at its end, 1 and 2 are `output`, 3 is `socket`, and all others are closed. Nothing here
 * allocates memory or takes a lock. `parent`: the process dies with it; 0: the caller takes care of
 * that.
 */
bool mishap_child_begin_foreign(int parent, int socket, int output);

#endif
