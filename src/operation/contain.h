/*
 * Containment: a handler that crashes ends its call, not the process.
 *
 * What it promises: the signals of crashes (base/signals.h: SIGSEGV, SIGBUS, SIGFPE, SIGILL,
 * SIGTRAP, SIGABRT and SIGSYS) raised by the thread that runs the handler, stack overflow included,
 * come back as a crash report with the native stack of the moment. So does pthread_exit() on that
 * thread, without a stack: the thread goes on.
 *
 * What it cannot do: resources of the handler are not released (locks, memory, open files), and
 * incomplete writes remain incomplete. The heap may be damaged. So only two kinds of handlers rely
 * on it: those of a command, which ends right after its answer, and those declared `.quick`, which
 * run in a loop. A loop that hangs after such a crash is replaced by its supervisor. In a worker
 * nothing is contained: see mishap_contain_report_to().
 *
 * exit() ends the process, not the call; a command answers nevertheless (cli/run/leave.c).
 * _exit() ends it and cannot be intercepted.
 */
#ifndef MISHAP_OPERATION_CONTAIN_H
#define MISHAP_OPERATION_CONTAIN_H

#include <setjmp.h>

#include "mishap/trace.h"

typedef struct mishap_crash {
    int signal;
    void *address;     /* the address whose access failed, for SIGSEGV and SIGBUS */
    bool thread_ended; /* it called pthread_exit(), or was cancelled */
    mishap_trace trace;
} mishap_crash;

/*
 * Run a function: true if it returned. False if it crashed, with the report in *crash; if it ended
 * its thread, with crash->thread_ended; or if it left through *way_out, in which case both
 * crash->signal and crash->thread_ended are 0. A function that runs in it may contain another.
 */
bool mishap_contain(void (*run)(void *state), void *state, sigjmp_buf *way_out,
                    mishap_crash *crash);

/*
 * Disable containment while a lock is held that other processes wait for: a jump out of the handler
 * would leave the lock held by a process that lives on. Until containment is resumed, a crash kills
 * the process, and the kernel releases the lock. Outside of a containment both do nothing.
 */
typedef struct mishap_contained mishap_contained;

mishap_contained *mishap_contain_pause(void);
void mishap_contain_resume(mishap_contained *contained);

/*
 * For a process that is discarded after a crash: nothing is contained any more. Every fatal signal
 * (base/signals.h), on any thread, is reported from its signal handler, on a stack of its own, and
 * then ends the process by the same signal.
 */
void mishap_contain_report_to(void (*report)(const mishap_crash *crash));

/* The stack at the moment of a signal; called inside the handler of that signal. */
void mishap_trace_at(mishap_trace *trace, const void *context);

#endif
