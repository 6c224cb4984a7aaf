/* The line that shows how far a call is, as text. When it is drawn is run/live.c's. */
#ifndef MISHAP_CLI_SCREEN_PROGRESS_H
#define MISHAP_CLI_SCREEN_PROGRESS_H

#include "base/base.h"

typedef struct mishap_cli_progress {
    double first, done, total;  /* total 0: not known */
    int64_t first_ns, since_ns; /* when progress was first reported, and when the work began */
    mishap_text words;          /* cleaned for display */
} mishap_cli_progress;

/*
 * Write the current line, in less than `width` columns: a bar, percent, the time left, words;
 * without a total a count, the time since the work began, words. The words, the bar and the time
 * are left out where there is no room for them. No line feed.
 */
void mishap_cli_put_progress(mishap_buffer *line, const mishap_cli_progress *progress,
                             int64_t now_ns, size_t width);

#endif
