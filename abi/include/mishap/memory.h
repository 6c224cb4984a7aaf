/*
 * The memory allocator of the library.
 *
 * Every allocation goes through one table of functions, so that a program can use its own allocator
 * and a test can make any allocation fail. The library handles every failed allocation; mishap.h
 * says what a caller gets then. yyjson, PCRE2 and libuv use the same table.
 *
 * Allocations of the C library do not use the table: for threads, for getaddrinfo(), and for the
 * first stack trace of a program without frame pointers. Neither do those of libdw, which names the
 * functions of a stack in a process of its own, nor those of other libraries that a program links
 * or loads, such as SQLite and libpq behind mishap/store.h.
 */
#ifndef MISHAP_MEMORY_H
#define MISHAP_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct mishap_allocator {
    void *(*allocate)(size_t size);            /* like malloc */
    void *(*resize)(void *block, size_t size); /* like realloc */
    void (*release)(void *block);              /* like free, accepts NULL */
} mishap_allocator;

/*
 * Use these functions from now on; NULL goes back to malloc, realloc and free. Call it before
 * anything else of the library and from one thread: a block must be released by the table that
 * allocated it.
 */
void mishap_use_allocator(const mishap_allocator *allocator);

/* The functions of the table, for a service or program that wants to use the same memory. Any
 * thread may call them if the functions of the table allow that. They return NULL if there is no
 * memory. Resizing NULL allocates, and releasing NULL does nothing. */
void *mishap_allocate(size_t size);
void *mishap_resize(void *block, size_t size);
void mishap_release(void *block);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
