/*
 * The native stack: return addresses only, taken in some ten nanoseconds by walking frame pointers
 * (trace.c). Names are looked up when it is shown (trace_show.c).
 */
#ifndef MISHAP_MISHAP_TRACE_H
#define MISHAP_MISHAP_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mishap/text.h"

enum { MISHAP_TRACE_MAX = 24 };

typedef struct mishap_trace {
    size_t count;
    void *addresses[MISHAP_TRACE_MAX];
} mishap_trace;

/* The stack of the caller of the function that calls this, innermost frame first. */
void mishap_trace_take(mishap_trace *trace);

/* The stack of a thread that a signal stopped: its registers at that moment. `link` is where the
 * function returns to, for processors that have a register for it; else NULL. */
typedef struct mishap_trace_start {
    void *instruction, *frame, *stack, *link;
} mishap_trace_start;
void mishap_trace_take_from(mishap_trace *trace, const mishap_trace_start *start);

/* Where a return address leads to. Code for arm64 may sign the addresses that it keeps (pointer
 * authentication): the signature lies in the upper bits, and is taken out. The instruction does
 * nothing on processors that do not sign. It knows one register. */
static inline void *mishap_trace_strip(void *address)
{
#if defined(__aarch64__)
    register void *stripped __asm__("x30") = address;
    __asm__("hint #7" : "+r"(stripped)); /* xpaclri */
    return stripped;
#else
    return address;
#endif
}

/* Does a call instruction stand before this address, which is one of code? */
static inline bool mishap_trace_is_behind_call(const void *address)
{
#if defined(__x86_64__)
    const unsigned char *at = address;
    return at[-5] == 0xE8 || (at[-2] == 0xFF && (at[-1] & 0x38) == 0x10) ||
           (at[-3] == 0xFF && (at[-2] & 0x38) == 0x10) || (at[-6] == 0xFF && at[-5] == 0x15);
#elif defined(__aarch64__)
    uint32_t before; /* bl, or blr with or without authentication */
    if ((uintptr_t)address % sizeof before != 0)
        return false;
    memcpy(&before, (const char *)address - sizeof before, sizeof before);
    return (before & 0xFC000000) == 0x94000000 || (before & 0xFEFFF000) == 0xD63F0000;
#else
    (void)address;
    return false;
#endif
}

/*
 * Get ready to unwind, which loads a library and takes memory: not to be done in a signal handler.
 * Only a program that stays needs it.
 */
void mishap_trace_prepare(void);

/* The frames from an instruction on, by unwinding: slow, but it gets through code without frame
 * pointers, such as that of abort(). False if it was not prepared. Safe in a signal handler. */
bool mishap_trace_unwind(mishap_trace *trace, void *instruction);

/*
 * A line for each function: its name and how far in it is, the file of the program, and where that
 * is known the line of the sources. Functions of the program that are not exported, and those that
 * the compiler put into others, are named where libdw is installed. The first stack takes some
 * milliseconds, two seconds at most; another process does the work meanwhile. Any thread may ask.
 */
void mishap_trace_put(mishap_buffer *buffer, const mishap_trace *trace);

/*
 * For a process that must not wait: lines that have an address and a mark, which no printable text
 * has in it. Another process of the program makes text of them, in place, two columns further in as
 * the entries of a log are. Not `in_detail`: at once, with the names of exported functions alone.
 */
void mishap_trace_put_marked(mishap_buffer *buffer, const mishap_trace *trace);
bool mishap_trace_is_marked(mishap_text text);
void mishap_trace_unmark(mishap_buffer *buffer, mishap_text text, bool in_detail);

/* The same as strings of JSON with commas between: for an array that is open in the buffer, and for
 * marked lines in place of its items. */
void mishap_trace_put_json(mishap_buffer *buffer, const mishap_trace *trace, bool in_detail);
void mishap_trace_unmark_json(mishap_buffer *buffer, mishap_text text);

#endif
