/*
 * Memory that several processes of a server share. All such memory is registered here, so that a
 * worker process, which must not access it, can unmap it.
 */
#ifndef MISHAP_BASE_SHARED_H
#define MISHAP_BASE_SHARED_H

#include <stddef.h>

/* Memory of this size, all zero, that processes forked from this one have in common. NULL: there is
 * none. */
void *mishap_shared_map(size_t size);
void mishap_shared_unmap(void *memory, size_t size);

/* Give all of it up in this process: for others it stays. */
void mishap_shared_leave(void);

#endif
