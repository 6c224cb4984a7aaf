/*
 * What stands at an address of this program: function, file and line, by libdw of elfutils.
 *
 * The library is loaded when it is first needed, reads the files of the program, and may take tens
 * of milliseconds and some megabytes for it. It trusts what it reads, and ends the process when
 * there is no memory. So this is for a process that may be lost: see trace_show.c.
 */
#ifndef MISHAP_MISHAP_SYMBOLS_H
#define MISHAP_MISHAP_SYMBOLS_H

#include "mishap/text.h"

/*
 * Write a line for each function that the program is in at this address: those that the compiler
 * put into others first, then the one that has a frame. False: nothing is known, nothing is
 * written.
 *
 *     check_zip (inlined) at src/members.c:31
 *     add_member+0x4c (/usr/bin/loans) at src/members.c:58
 */
bool mishap_symbols_put(mishap_buffer *buffer, const void *address);

/* The same with what the loader knows, which needs neither file nor memory: functions that the
 * program exports, or the place in the file. Any process may ask. */
void mishap_symbols_put_exported(mishap_buffer *buffer, const void *address);

#endif
