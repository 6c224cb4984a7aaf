/* How many lines a piece of text has. */
#ifndef MISHAP_GUARD_LINES_H
#define MISHAP_GUARD_LINES_H

#include <stddef.h>

/* The line feeds from `at` to `end`; `last` is set to the last of them, if there is one. */
size_t mishap_leak_count_lines(const char *at, const char *end, const char **last);

#endif
