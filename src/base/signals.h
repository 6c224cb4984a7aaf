/* Handlers for signals that have no meaning for the processes of a server. */
#ifndef MISHAP_BASE_SIGNALS_H
#define MISHAP_BASE_SIGNALS_H

#include <stddef.h>

/* Call this for each signal that a process is sent for no reason of ours and that ends a process by
 * default: SIGHUP, SIGUSR1, SIGUSR2, those of timers and of input, and the real-time signals. The
 * signals of mistakes (SIGSEGV), of limits (SIGXCPU) and of terminals (SIGQUIT) are none of them.
 */
void mishap_signals_unused(void (*each)(int number, void *state), void *state);

/*
 * Catch each of them without effect, so that none ends this process. One that is caught or ignored
 * already stays as it is. They are caught rather than ignored: a program that this process executes
 * starts with the default.
 */
void mishap_signals_survive(void);

#endif
