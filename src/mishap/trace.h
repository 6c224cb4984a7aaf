/*
 * The native stack: return addresses only, taken in some ten nanoseconds by walking frame pointers.
 * Names are looked up when somebody reads the account.
 */
#ifndef MISHAP_MISHAP_TRACE_H
#define MISHAP_MISHAP_TRACE_H

#include <stddef.h>

#include "mishap/text.h"

enum { MISHAP_TRACE_MAX = 24 };

typedef struct mishap_trace {
    size_t count;
    void *addresses[MISHAP_TRACE_MAX];
} mishap_trace;

/* The stack of the caller of the function that calls this, innermost frame first. */
void mishap_trace_take(mishap_trace *trace);

/* The stack of a thread that a signal stopped: its registers at that moment. */
typedef struct mishap_trace_start {
    void *instruction, *frame, *stack;
} mishap_trace_start;
void mishap_trace_take_from(mishap_trace *trace, const mishap_trace_start *start);

/*
 * Get ready to unwind, which loads a library and takes memory: not to be done in a signal handler.
 * Only a program that stays needs it.
 */
void mishap_trace_prepare(void);

/* The frames from an instruction on, by unwinding: slow, but it gets through code without frame
 * pointers, such as that of abort(). False if nobody prepared for it. Safe in a signal handler. */
bool mishap_trace_unwind(mishap_trace *trace, void *instruction);

/* A line a frame: address, function and offset, object. */
void mishap_trace_put(mishap_buffer *buffer, const mishap_trace *trace);

#endif
