/*
 * The history of the REPL, in a file that only its user can read: one entry per line, in which \n
 * stands for a line feed and \\ for a backslash.
 */
#ifndef LISP_HISTORY_H
#define LISP_HISTORY_H

#include <mishap/text.h>

/* Call `take` for each entry of the file, the oldest first; it is NUL-terminated. A file that has
 * become too long is shortened. */
void lisp_history_load(const char *path, void (*take)(void *state, mishap_text entry), void *state);

/* Add an entry. If it cannot be written, the REPL goes on without it. */
void lisp_history_add(const char *path, mishap_text entry);

#endif
