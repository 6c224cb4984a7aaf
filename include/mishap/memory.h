/*
 * Where the library takes its memory from.
 *
 * Every allocation goes through one table of functions, so that a program can bring its own and a
 * test can make any allocation fail. The library survives each such failure: see mishap.h on what a
 * caller gets then. What yyjson, PCRE2 and libuv allocate for the library goes through the table,
 * too.
 *
 * What the C library takes for itself does not: for threads, for getaddrinfo(), for the first stack
 * of a program without frame pointers. Nor does what libdw takes to name the functions of a stack,
 * in a process of its own. Nor does what a program's own libraries take, such as SQLite
 * of the todo service.
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

/* The functions of the table, for a service or program that wants to use the same memory. Any
 * thread may call them, if it may call those of the table. They return NULL when there is no
 * memory. To resize NULL is to allocate, and to release NULL does nothing. */
void *mishap_allocate(size_t size);
void *mishap_resize(void *block, size_t size);
void mishap_release(void *block);

#ifdef __cplusplus
}
#endif

#endif
