/* The child processes of a process, as /proc lists them. The list is read piece by piece: it takes
 * no memory. */
#ifndef MISHAP_WORKER_SPAWN_CHILDREN_H
#define MISHAP_WORKER_SPAWN_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct mishap_children {
    int file; /* -1: there is no list */
    size_t at, length;
    char text[512];
} mishap_children;

/* Open the list of a process: it has the children of its main thread. The list must be closed. */
void mishap_children_open(mishap_children *children, pid_t parent);

/* The next child, or 0 at the end. */
pid_t mishap_children_next(mishap_children *children);

void mishap_children_close(mishap_children *children);

#endif
