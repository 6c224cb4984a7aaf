/* The lines of an output that may say why a command failed. */
#ifndef MISHAP_WRAP_LINES_H
#define MISHAP_WRAP_LINES_H

#include "base/base.h"

enum { MISHAP_WRAP_LINES = 400, MISHAP_WRAP_LINE_LENGTH = 1000 };

typedef struct mishap_wrap_lines {
    mishap_arena arena;
    mishap_text lines[MISHAP_WRAP_LINES]; /* those that sound like an error first, of each sort the
                                             last line first */
    size_t count;
    size_t errors; /* how many of them sound like an error */
} mishap_wrap_lines;

/* Read them: the last `most` lines at most. Escape sequences, and what was overwritten after a
 * carriage return, are left out; so are source lines of a stack trace, lists of options, and lines
 * that only point at the line above them. mishap_wrap_lines_release() is due. */
void mishap_wrap_lines_read(mishap_wrap_lines *lines, mishap_text text, size_t most);
void mishap_wrap_lines_release(mishap_wrap_lines *lines);

#endif
