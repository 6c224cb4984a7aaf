/* The library's own malloc, realloc and free: the functions that mishap_use_allocator() was
 * given. */
#ifndef MISHAP_BASE_MEMORY_H
#define MISHAP_BASE_MEMORY_H

#include "mishap/memory.h"

#endif
