#include "base/shared.h"

#include <limits.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* An atomic that contains a lock would have one in each process, and guard nothing. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2 &&
                   ATOMIC_CHAR_LOCK_FREE == 2 && ATOMIC_POINTER_LOCK_FREE == 2,
               "what processes share is changed by instructions, without a lock");
_Static_assert(sizeof(size_t) == 8 && CHAR_BIT == 8, "a processor of 64 bits");

enum { MOST = 32 };

/* The state of a process with one thread. */
static struct region {
    void *memory;
    size_t size;
} regions[MOST];

static struct region *find_region(void *memory)
{
    for (size_t i = 0; i < MOST; i++)
        if (regions[i].memory == memory)
            return &regions[i];
    return NULL;
}

void *mishap_shared_map(size_t size)
{
    struct region *region = find_region(NULL);
    if (!region)
        return NULL;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    *region = (struct region){ memory, size };
    return memory;
}

void mishap_shared_unmap(void *memory, size_t size)
{
    struct region *region = find_region(memory);
    if (!memory)
        return;
    if (region)
        region->memory = NULL;
    munmap(memory, size);
}

void mishap_shared_leave(void)
{
    for (size_t i = 0; i < MOST; i++)
        if (regions[i].memory)
            mishap_shared_unmap(regions[i].memory, regions[i].size);
}
