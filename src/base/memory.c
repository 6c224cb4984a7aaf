#include "base/memory.h"

#include <stdlib.h>

static const mishap_allocator libc = { malloc, realloc, free };

/* Written once at start by mishap_use_allocator(), read by every thread afterwards. */
static mishap_allocator current = { malloc, realloc, free };

void mishap_use_allocator(const mishap_allocator *allocator)
{
    current = allocator ? *allocator : libc;
}

void *mishap_allocate(size_t size)
{
    return current.allocate(size);
}

void *mishap_resize(void *block, size_t size)
{
    return current.resize(block, size);
}

void mishap_release(void *block)
{
    current.release(block);
}
