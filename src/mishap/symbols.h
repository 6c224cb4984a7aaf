/*
 * What stands at an address of this program: function, file and line, by libdw of elfutils.
 *
 * The library is loaded when it is first needed, reads the files of the program, and may take tens
 * of milliseconds and some megabytes for it. It trusts what it reads, and ends the process when
 * there is no memory. So this is for a process that may be lost: see trace_show.c.
 */
#ifndef MISHAP_MISHAP_SYMBOLS_H
#define MISHAP_MISHAP_SYMBOLS_H

#include <stdint.h>

#include "mishap/text.h"
#include "mishap/trace.h"

/*
 * Write a line for each function that the program is in at this address: those that the compiler
 * put into others first, then the one that has a frame. False: nothing is known, nothing is
 * written.
 *
 *     check_zip (inlined) at src/members.c:31
 *     add_member+0x4c (/usr/bin/loans) at src/members.c:58
 */
bool mishap_symbols_put(mishap_buffer *buffer, const void *address);

/* The function that the program exports at an address, as the loader knows it. */
typedef struct mishap_symbol {
    const void *address; /* where a call returns to: set by the caller */
    const char *name;    /* NULL: no exported function is there */
    const char *file;    /* NULL: the address is in no file of this program */
    uintptr_t start;     /* of the function; without a name, of the file in memory */
} mishap_symbol;

/* Find the functions of some addresses, of a stack in its order. All symbols of a file are read,
 * once for all addresses, so many of them take hardly longer than one. What has called main() gets
 * no name. Needs neither files nor memory: any process may ask. */
void mishap_symbols_find(mishap_symbol *symbols, size_t count);

/* The same for a stack, whose functions several parts of a record need. */
void mishap_symbols_find_trace(mishap_symbol symbols[MISHAP_TRACE_MAX], const mishap_trace *trace);

/* Write those that were found as strings of JSON with commas between, like mishap_trace_put_json().
 * Both are in trace_show.c. */
void mishap_symbols_put_json(mishap_buffer *buffer, const mishap_symbol *symbols, size_t count);

/* Write a line for a function that was found. */
void mishap_symbols_put_found(mishap_buffer *buffer, const mishap_symbol *symbol);

#endif
