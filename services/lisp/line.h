/*
 * Lines that a person types: with libedit, if it is installed, and with a history; otherwise as
 * they come from the terminal or the pipe.
 *
 * libedit is loaded only when a terminal is read, so that other commands do not need it.
 */
#ifndef LISP_LINE_H
#define LISP_LINE_H

#include <stdint.h>

#include <mishap/text.h>

typedef enum lisp_line_end {
    LISP_LINE_READ,
    LISP_LINE_DROPPED, /* Ctrl-C */
    LISP_LINE_OVER,    /* Ctrl-D, the end of the file, or a signal that ends the program */
} lisp_line_end;

typedef struct lisp_lines lisp_lines;

/* `person`: a person at a terminal, who sees prompts; otherwise there are none. The history is in
 * the file `history`, which may be NULL. NULL: there is no memory. */
lisp_lines *lisp_lines_open(bool person, const char *history);
void lisp_lines_close(lisp_lines *lines); /* NULL is allowed */

/* Add a line, with its line feed, to `out`. It is UTF-8 without NUL, for any input. */
lisp_line_end lisp_lines_read(lisp_lines *lines, const char *prompt, mishap_buffer *out);

/* Store what was typed, for this REPL and for later ones. */
void lisp_lines_remember(lisp_lines *lines, mishap_text typed);

/* -- signals ----------------------------------------------------------------------------------- */

/* From now on, until lisp_signals_leave(), SIGINT, SIGTERM and SIGHUP end reading, and cancel the
 * call that runs. */
void lisp_signals_mind(void);
void lisp_signals_leave(void);

/* The first: was there a signal since the last call? The second: was the program told to end? */
bool lisp_signals_interrupted(void);
bool lisp_signals_ended(void);

/* Not 0 after one of these signals, for mishap_invocation.cancel. */
const unsigned char *lisp_signals_cancel(void);

/* -- characters -------------------------------------------------------------------------------- */

/* How many bytes the first `count` characters have. */
size_t lisp_bytes_of(mishap_text text, size_t count);

#endif
