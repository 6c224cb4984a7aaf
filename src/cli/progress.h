/*
 * What a handler says while it runs, on standard error: one line that shows how far it is, which is
 * drawn again and again, and lines of its log, which stay.
 *
 *     progress.c  the one line, as text
 *     live.c      when it is drawn and erased, and the lines of the log
 */
#ifndef MISHAP_CLI_PROGRESS_H
#define MISHAP_CLI_PROGRESS_H

#include "cli/cli.h"

typedef struct mishap_cli_progress {
    double first, done, total;  /* total 0: not known */
    int64_t first_ns, since_ns; /* when it was first told, and when the work began */
    mishap_text words;          /* as they may be shown */
} mishap_cli_progress;

/*
 * Put the line of this moment, in less than `width` columns: a bar, percent, the time left, words;
 * without a total a count, the time since the work began, words. The words, the bar and the time
 * are left out where there is no room for them. No line feed.
 */
void mishap_cli_put_progress(mishap_buffer *line, const mishap_cli_progress *progress,
                             int64_t now_ns, size_t width);

/* -- live.c ------------------------------------------------------------------------------------ */

/* Listen to what a call says. To be called before the handler runs. */
void mishap_cli_live_use(mishap_cli *cli, mishap_call *call);

/* Draw the line again if it is time for that. Called some twenty times a second, on the thread of
 * the watcher. */
void mishap_cli_live_tick(void);

/* Erase the line. From now on it is not drawn any more; log lines still come. Any thread. */
void mishap_cli_live_erase(void);

/* … and nothing more is shown at all: the answer follows. */
void mishap_cli_live_end(void);

#endif
