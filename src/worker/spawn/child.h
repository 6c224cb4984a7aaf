/* How the process of a worker begins: nothing of the server is left in it but what it was given. */
#ifndef MISHAP_WORKER_SPAWN_CHILD_H
#define MISHAP_WORKER_SPAWN_CHILD_H

#include "operation/operation.h"

/* What a worker may use; 0: no limit beyond that of the server itself. */
typedef struct mishap_worker_limits {
    uint64_t memory_bytes; /* of private memory (RLIMIT_DATA); malloc fails beyond it */
    uint64_t cpu_seconds;  /* over all of its calls; then the system kills it */
    uint64_t files;        /* open descriptors */
    uint64_t processes;    /* of this user on the machine, and not for root (RLIMIT_NPROC) */
    uint64_t file_bytes;   /* size of a file that it writes; then writing fails */
} mishap_worker_limits;

enum { MISHAP_CHILD_FILES = 3 }; /* that a worker is given, at most */

/*
 * To be called first in a process that the keeper has forked, whose id is `keeper`: a session of
 * its own; death with the keeper; the signals as a new program has them; a name; the limits.
 * Descriptor 0 reads nothing, 1 is stderr, 3 to 15 are /dev/null, so that garbage that is written
 * there reaches nobody; `files` get numbers from 16 on, and all others are closed. False: the
 * process must end.
 */
bool mishap_child_begin(int keeper, const mishap_worker_limits *limits, int *files, size_t count);

/*
 * The same for a process that is to execute a foreign program: a session of its own; the signals as
 * a new program has them, but for SIGTERM, SIGHUP and SIGPIPE, which are ignored; descriptor 0
 * reads nothing, 1 and 2 are `output`, 3 is `socket`, and all others are closed. Nothing here takes
 * memory or a lock. `parent`: this process dies with it; 0: that is seen to elsewhere.
 */
bool mishap_child_begin_foreign(int parent, int socket, int output);

#endif
