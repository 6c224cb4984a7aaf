#include "base/memory.h"

#include <stdlib.h>

#include "base/rehearsal.h"

static const mishap_allocator libc = { malloc, realloc, free };

/* Written once at start by mishap_use_allocator(), read by every thread afterwards. */
static mishap_allocator current = { malloc, realloc, free };

void mishap_use_allocator(const mishap_allocator *allocator)
{
    current = allocator ? *allocator : libc;
}

/* A test may ask for it. */
static inline bool is_lacking(void)
{
    return __builtin_expect(mishap_rehearsal_page != NULL, 0) && mishap_rehearsal_lacks_memory();
}

void *mishap_allocate(size_t size)
{
    if (is_lacking())
        return NULL;
    return current.allocate(size);
}

void *mishap_resize(void *block, size_t size)
{
    if (is_lacking())
        return NULL;
    return current.resize(block, size);
}

void mishap_release(void *block)
{
    current.release(block);
}
