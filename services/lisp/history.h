/*
 * What was typed at the REPL, in a file that only its user can read: an entry a line, in which \n
 * stands for a line feed and \\ for a backslash.
 */
#ifndef LISP_HISTORY_H
#define LISP_HISTORY_H

#include <mishap/text.h>

/* Call `take` for each entry of the file, the oldest first; it has a NUL behind it. A file that has
 * become long is made shorter. */
void lisp_history_load(const char *path, void (*take)(void *state, mishap_text entry), void *state);

/* Add an entry. That it cannot be written is no reason to stop. */
void lisp_history_add(const char *path, mishap_text entry);

#endif
