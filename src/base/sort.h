/* Sorting in place. qsort() of the C library may take memory, and not from our table. */
#ifndef MISHAP_BASE_SORT_H
#define MISHAP_BASE_SORT_H

#include <stddef.h>

/* Like qsort(): `count` items of `size` bytes each. Which of two equal items comes first is not
 * said. It takes no memory and cannot fail, and n log n steps are the most it needs. */
void mishap_sort(void *items, size_t count, size_t size,
                 int (*compare)(const void *a, const void *b));

#endif
