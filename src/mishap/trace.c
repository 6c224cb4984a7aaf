#include "mishap/trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* All addresses of a trace lie behind what they tell of, as return addresses do. An instruction
 * that crashed may be the first of its function; one byte before it there is another. */
static void *behind(void *instruction)
{
    return (void *)((uintptr_t)instruction + 1);
}

#if defined(__x86_64__) || defined(__aarch64__)

enum { LOWEST = 4096 }; /* no code lies below this address, with any page size */

/* A frame record, as both ABIs lay it out. */
struct record {
    const struct record *caller;
    void *return_address;
};

/* The C library's word for where the main thread's stack began. */
extern void *__libc_stack_end;

/* The end of this thread's stack, or a place shortly before it. A signal handler may be the first
 * on its thread to ask, in the middle of malloc(), so this must not allocate, as
 * pthread_getattr_np() does. The C library keeps what pthread_self() points to at the end of the
 * thread's stack, above all of its frames. */
static uintptr_t stack_end(void)
{
    static _Thread_local uintptr_t end;
    if (end == 0)
        end = (uintptr_t)(gettid() == getpid() ? __libc_stack_end : (void *)pthread_self());
    return end;
}

/*
 * Follow the records from one that lies above `low`. Code that was compiled without frame pointers
 * leaves anything at all in the register, so each record must lie further up than the one before
 * and inside the stack; the walk ends at the first that does not.
 */
__attribute__((no_sanitize("address"))) static void
follow(mishap_trace *trace, const struct record *record, uintptr_t low)
{
    uintptr_t end = stack_end();
    while (trace->count < MISHAP_TRACE_MAX) {
        uintptr_t at = (uintptr_t)record;
        if (at <= low || at % sizeof(void *) != 0 || end < sizeof *record ||
            at > end - sizeof *record)
            break;
        void *address = mishap_trace_strip(record->return_address);
        if ((uintptr_t)address < LOWEST)
            break;
        trace->addresses[trace->count++] = address;
        low = at;
        record = record->caller;
    }
}

__attribute__((noinline, no_sanitize("address"))) void mishap_trace_take(mishap_trace *trace)
{
    const struct record *record = __builtin_frame_address(0);
    trace->count = 0;
    if ((uintptr_t)record <
        stack_end()) /* else this is not the thread's own stack, but a signal's */
        follow(trace, record->caller, (uintptr_t)record);
}

/* The code of the program itself, as the linker places it: from the one to the other. The linker of
 * a shared library does not place the first. */
extern const char __executable_start[] __attribute__((weak));
extern const char etext[] __attribute__((visibility("hidden")));

/* Not at its very beginning: the bytes before the address are read. */
static bool is_of_program(const void *address)
{
    enum { LONGEST_CALL = 8 };
    uintptr_t start = (uintptr_t)__executable_start, low = start + LONGEST_CALL;
    return start && (uintptr_t)address - low < (uintptr_t)etext - low;
}

/* The beginning of the function that contains an address, from the tables for unwinding; NULL: they
 * were not prepared. */
static void *(*_Atomic find_function)(void *address);

#if defined(__x86_64__)
/* A stack that ran over ends above its pointer: what that points to cannot be read. The system
 * reads a set of signals before it refuses the first argument, which means nothing. */
static bool can_be_read(const void *address)
{
    int error = errno;
    bool can = syscall(SYS_rt_sigprocmask, -1, address, NULL, sizeof(uint64_t)) != 0 &&
               errno != EFAULT;
    errno = error;
    return can;
}
#endif

/* Are these in two functions, for sure? */
static bool are_apart(void *one, void *other)
{
    void *(*find)(void *) = atomic_load(&find_function);
    void *first = find ? find(one) : NULL, *second = find ? find(other) : NULL;
    return first && second && first != second;
}

/*
 * A function that has no frame, or none any more, was called by the function whose frame is the
 * current one: then that one is not in the records. So it is with strlen() of the C library, and
 * with small functions of the program: compilers for arm64 give no frame to those that call
 * nothing. The address that it returns to is in a register (arm64), or on top of the stack
 * (x86-64). Where a function has a frame something else is there: on arm64 often an address in
 * itself, behind its last call. NULL: the caller is not known.
 */
__attribute__((no_sanitize("address"))) static void *caller_of(const mishap_trace_start *start)
{
    void *caller = mishap_trace_strip(start->link);
#if defined(__x86_64__)
    if ((uintptr_t)start->stack % sizeof caller == 0 &&
        (uintptr_t)start->stack < stack_end() - sizeof caller && can_be_read(start->stack))
        caller = *(void *const *)start->stack;
#endif
    if (!is_of_program(caller) || !mishap_trace_is_behind_call(caller))
        return NULL;
    return is_of_program(start->instruction) && !are_apart(behind(start->instruction), caller)
               ? NULL
               : caller;
}

void mishap_trace_take_from(mishap_trace *trace, const mishap_trace_start *start)
{
    trace->count = 0;
    trace->addresses[trace->count++] = behind(start->instruction);
    /* From the stack pointer up to its end the stack is there for sure; below, a look could crash
     * again. */
    if ((uintptr_t)start->stack >= stack_end())
        return;
    void *caller = caller_of(start);
    if (caller)
        trace->addresses[trace->count++] = caller;
    size_t known = trace->count;
    follow(trace, start->frame, (uintptr_t)start->stack - 1);
    if (caller && trace->count > known && trace->addresses[known] == caller) { /* it has a frame */
        trace->count--;
        memmove(trace->addresses + known, trace->addresses + known + 1,
                (trace->count - known) * sizeof *trace->addresses);
    }
}

#else

void mishap_trace_take(mishap_trace *trace)
{
    int count = backtrace(trace->addresses, MISHAP_TRACE_MAX);
    trace->count = count > 0 ? (size_t)count : 0;
}

void mishap_trace_take_from(mishap_trace *trace, const mishap_trace_start *start)
{
    trace->addresses[0] = behind(start->instruction);
    trace->count = start->instruction != NULL;
}

#endif

/* -- unwinding --------------------------------------------------------------------------------- */

static atomic_bool prepared;

/* backtrace() loads the library that unwinds, which has a function for this, too. */
static void prepare_to_find(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
    void *library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
    union {
        void *address;
        void *(*find)(void *);
    } found = { library ? dlsym(library, "_Unwind_FindEnclosingFunction") : NULL };
    if (found.address)
        atomic_store(&find_function, found.find);
#endif
}

void mishap_trace_prepare(void)
{
    void *frame[1];
    backtrace(frame, 1);
    prepare_to_find();
    atomic_store(&prepared, true);
}

bool mishap_trace_unwind(mishap_trace *trace, void *instruction)
{
    enum { OWN = 8 }; /* frames of the signal handler and of this, at most */
    void *frames[MISHAP_TRACE_MAX + OWN];
    int count = atomic_load(&prepared) ? backtrace(frames, MISHAP_TRACE_MAX + OWN) : 0, first = 0;
    while (first < count && frames[first] != instruction)
        first++;
    if (first == count)
        return false;
    trace->count = 0;
    for (int i = first; i < count && trace->count < MISHAP_TRACE_MAX; i++)
        trace->addresses[trace->count++] = i == first ? behind(frames[i]) : frames[i];
    return true;
}
