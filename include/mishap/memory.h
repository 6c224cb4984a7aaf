/*
 * Where the library takes its memory from.
 *
 * Every allocation goes through one table of functions, so that a program can bring its own and a
 * test can make any allocation fail. The library survives each such failure: see mishap.h on what a
 * caller gets then.
 */
#ifndef MISHAP_MEMORY_H
#define MISHAP_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mishap_allocator {
    void *(*allocate)(size_t size);            /* like malloc */
    void *(*resize)(void *block, size_t size); /* like realloc */
    void (*release)(void *block);              /* like free, accepts NULL */
} mishap_allocator;

/*
 * Use these functions from now on; NULL goes back to malloc, realloc and free. Call it before
 * anything else of the library and from one thread: a block must be released by the table that gave
 * it.
 */
void mishap_use_allocator(const mishap_allocator *allocator);

#ifdef __cplusplus
}
#endif

#endif
