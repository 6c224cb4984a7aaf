/*
 * Memory that several processes of a server share. All such memory is registered here, so that a
 * worker process, which must not access it, can unmap it.
 */
#ifndef MISHAP_BASE_SHARED_H
#define MISHAP_BASE_SHARED_H

#include <stddef.h>

/* Zeroed memory of this size that this process shares with processes that it forks. NULL: there is
 * none. */
void *mishap_shared_map(size_t size);
void mishap_shared_unmap(void *memory, size_t size);

/* Unmap all of it in this process; other processes keep it. */
void mishap_shared_leave(void);

#endif
