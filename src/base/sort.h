/* Sorting in place. qsort() of the C library may allocate memory, and not from the table of
 * mishap/memory.h. */
#ifndef MISHAP_BASE_SORT_H
#define MISHAP_BASE_SORT_H

#include <stddef.h>

/* Like qsort(): `count` items of `size` bytes each. The order of equal items is not defined. It
 * allocates nothing, cannot fail, and needs at most n log n steps. */
void mishap_sort(void *items, size_t count, size_t size,
                 int (*compare)(const void *a, const void *b));

#endif
