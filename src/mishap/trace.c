#include "mishap/trace.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"

#if defined(__x86_64__) || defined(__aarch64__)

/* A frame record, as both ABIs lay it out. */
struct record {
    const struct record *caller;
    void *return_address;
};

/* The end of this thread's stack: asked of the system once a thread, for it costs microseconds. */
static uintptr_t stack_end(void)
{
    static _Thread_local uintptr_t end;
    if (end == 0) {
        pthread_attr_t attributes;
        void *low;
        size_t size;
        end = 1; /* if the system does not say, nothing is walked */
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            if (pthread_attr_getstack(&attributes, &low, &size) == 0)
                end = (uintptr_t)low + size;
            pthread_attr_destroy(&attributes);
        }
    }
    return end;
}

/*
 * Code that was compiled without frame pointers leaves anything at all in the register, so each record must lie
 * further up than the one before and inside the stack; the walk ends at the first that does not.
 */
__attribute__((noinline, no_sanitize("address"))) void mishap_trace_take(mishap_trace *trace)
{
    const struct record *record = __builtin_frame_address(0);
    uintptr_t end = stack_end();
    trace->count = 0;
    if ((uintptr_t)record >= end)
        return; /* on a stack that is not the thread's own, such as a signal's */
    record = record->caller; /* leave out the function that takes the trace for its caller */
    uintptr_t low = (uintptr_t)__builtin_frame_address(0);
    while (trace->count < MISHAP_TRACE_MAX) {
        uintptr_t at = (uintptr_t)record;
        if (at <= low || at % sizeof(void *) != 0 || end < sizeof *record || at > end - sizeof *record)
            break;
        void *address = __builtin_extract_return_addr(record->return_address);
        if ((uintptr_t)address < 4096)
            break;
        trace->addresses[trace->count++] = address;
        low = at;
        record = record->caller;
    }
}

#else

void mishap_trace_take(mishap_trace *trace)
{
    int count = backtrace(trace->addresses, MISHAP_TRACE_MAX);
    trace->count = count > 0 ? (size_t)count : 0;
}

#endif

void mishap_trace_put(mishap_buffer *buffer, const mishap_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        char line[512];
        Dl_info found = { 0 };
        /* The return address may lie behind the last byte of the function: look up the call instead. */
        dladdr((char *)trace->addresses[i] - 1, &found);
        const char *object = found.dli_fname ? found.dli_fname : "?";
        const char *from = found.dli_sname ? found.dli_saddr : found.dli_fbase;
        int length = snprintf(line, sizeof line, "    #%zu %s+0x%zx (%s)\n", i,
                              found.dli_sname ? found.dli_sname : "", (size_t)((char *)trace->addresses[i] - from),
                              object);
        if (length > 0)
            mishap_buffer_put(buffer, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
    }
}
