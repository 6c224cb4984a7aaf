/*
 * A pseudo-terminal for the output of a command, so that it prints colours and progress as it does
 * on the terminal behind it. It changes no byte: the terminal behind it does what a terminal does.
 */
#ifndef MISHAP_WRAP_TERMINAL_H
#define MISHAP_WRAP_TERMINAL_H

#include <stdbool.h>

/* Make one like the terminal `model`. *ours is the end that is read, *theirs the end of the
 * command. False: there is none to be had. */
bool mishap_wrap_terminal_open(int model, int *ours, int *theirs);

/* The terminal behind it may have another size now. True: it has, and so has `ours`. */
bool mishap_wrap_terminal_resize(int model, int ours);

#endif
