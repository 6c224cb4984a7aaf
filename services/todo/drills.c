/*
 * Operations for trying out failures: a premium feature that always asks for a payment, and a route
 * that fails in every unexpected way. The caller always gets an error response without internal
 * details.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "todo/handlers.h"

mishap *todo_premium_report(mishap_call *call)
{
    (void)call;
    return mishap_error_response(402, "Payment required for premium feature");
}

/* -- crashes ----------------------------------------------------------------------------------- */

static volatile bool always = true; /* for endless loops that the compiler must not optimize away */

/* These functions do on purpose what a sanitizer would report. */
#define ON_PURPOSE __attribute__((no_sanitize("undefined")))

ON_PURPOSE static mishap *crash(mishap_call *call, const char *marker)
{
    static const volatile char *volatile nowhere = NULL;
    (void)call;
    (void)marker;
    (void)*nowhere; /* a read: two threads that write there would be a data race as well */
    return NULL;
}

static mishap *stop(mishap_call *call, const char *marker)
{
    (void)call;
    (void)marker;
    abort();
}

ON_PURPOSE static mishap *divide(mishap_call *call, const char *marker)
{
    static volatile int zero = 0, number = 7;
    (void)call;
    (void)marker;
    number = number / zero;
    raise(SIGFPE); /* division by zero raises no signal on some processors */
    return NULL;
}

static __attribute__((noinline)) int recurse(int depth)
{
    volatile char room[1024];
    room[0] = (char)depth;
    return always ? recurse(depth + 1) + room[0] : 0;
}

static mishap *overflow(mishap_call *call, const char *marker)
{
    (void)call;
    return recurse(*marker) ? NULL : NULL;
}

/* -- other ways to fail ------------------------------------------------------------------------ */

/* Allocate until it fails: first as much as a machine has, then more than any has. */
static mishap *use_memory(mishap_call *call, const char *marker)
{
    enum { PIECE = 1 << 20, PIECES = 64 };
    for (int i = 0; i < PIECES; i++)
        *(volatile char *)mishap_call_take(call, PIECE) = *marker;
    for (size_t size = SIZE_MAX / 4; always; size += size / 2)
        *(volatile char *)mishap_call_take(call, size) = *marker;
    return NULL;
}

static mishap *raise_undeclared(mishap_call *call, const char *marker)
{
    (void)call;
    return mishap_raise(CONFLICT, "This failure is not declared: %s.", marker);
}

static mishap *answer_nonsense(mishap_call *call, const char *marker)
{
    return mishap_answer(call, mishap_call_print(call, "{\"half\":\"%s", marker));
}

static mishap *hang(mishap_call *call, const char *marker)
{
    enum { LONGEST_S = 600 };
    struct timespec start, now;
    (void)call;
    (void)marker;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000 * 1000 }, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < LONGEST_S);
    return mishap_raise(INTERNAL_ERROR, "The handler ran until its end.");
}

static mishap *raise_private(mishap_call *call, const char *marker)
{
    (void)call;
    mishap *cause = mishap_raise(CONNECTION_REFUSED, "The cause says %s.", marker);
    mishap *m = mishap_raise(INTERNAL_ERROR, "The message says %s.", marker);
    m = mishap_note(m, "noted", marker);
    return mishap_because(m, mishap_note(mishap_tell(cause, "told", marker), "noted", marker));
}

/* -- the drill --------------------------------------------------------------------------------- */

const char *const todo_drills[] = { "crash",      "abort",    "divide", "overflow", "memory",
                                    "undeclared", "nonsense", "hang",   "error",    NULL };

static mishap *(*const ways[])(mishap_call *call, const char *marker) = {
    crash,           stop, divide,       overflow, use_memory, raise_undeclared,
    answer_nonsense, hang, raise_private
};

mishap *todo_chaos_fail(mishap_call *call)
{
    const char *how = mishap_string(call, "how"), *marker = mishap_string(call, "marker");
    for (size_t i = 0; todo_drills[i]; i++)
        if (strcmp(how, todo_drills[i]) == 0)
            return ways[i](call, marker ? marker : "private");
    return NULL; /* the checks allow no other value */
}
