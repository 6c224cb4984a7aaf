/* The signals by which a process dies of its own code, handlers for signals that have no meaning
 * for the processes of a server, and a safe way to send signals. */
#ifndef MISHAP_BASE_SIGNALS_H
#define MISHAP_BASE_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The signals that end a process by default, and whose arrival says something about the code that
 * ran. All code that catches or names such signals uses this table. Which instruction raises which
 * one depends on the processor: __builtin_trap() is SIGILL on x86-64 and SIGTRAP on arm64.
 */
typedef struct mishap_fatal_signal {
    int number;
    bool crash; /* a mistake of the code; else a limit was reached, or a person ended the process */
    bool address; /* it comes with the address whose access failed */
    bool
        called; /* it usually comes inside of a function of the C library, without frame pointers */
} mishap_fatal_signal;

enum { MISHAP_FATAL_SIGNALS = 9 };
extern const mishap_fatal_signal mishap_fatal_signals[MISHAP_FATAL_SIGNALS];

/* NULL: it is none of them. */
const mishap_fatal_signal *mishap_signal_find_fatal(int number);

/* Call this for each signal that has no meaning for this program and that ends a process by
 * default: SIGHUP, SIGUSR1, SIGUSR2, those of timers and of input, and the real-time signals. The
 * signals of mistakes (SIGSEGV), of limits (SIGXCPU) and of terminals (SIGQUIT) are not among
 * them. */
void mishap_signals_unused(void (*each)(int number, void *state), void *state);

/*
 * Catch each of them without effect, so that none ends this process. A signal that is caught or
 * ignored already is not changed. They are caught and not ignored: a program that this process
 * executes starts with the default action.
 */
void mishap_signals_survive(void);

/* Send a signal to one process, or to the process group of one. Nothing is sent for the ids to
 * which kill() gives another meaning: 0 is the caller's own group, -1 every process that the caller
 * may signal, 1 the first process of the system. False: nothing was sent. */
bool mishap_signal_process(int process, int number);
bool mishap_signal_group(int process, int number);

/* End this process by a signal, as another process was ended: without a core file, also if it is
 * caught or blocked. Returns only if the signal ends no process. */
void mishap_signal_die_of(int number);

#endif
