/*
 * A folder for the log and the index of a benchmark, in $TMPDIR, or /var/tmp. For programs of one
 * file: the names are their own.
 */
#ifndef MISHAP_BENCH_PLACE_H
#define MISHAP_BENCH_PLACE_H

#include <stdint.h>

#include "base/base.h"
#include "bench/measure.h"
#include "mishap/mishap.h"

static char folder[256], journal[300];

/* The program ends if there is a failure. */
static inline void end_on(const char *what, mishap *failure)
{
    mishap_buffer words = { 0 };
    if (!failure)
        return;
    mishap_account(failure, &words);
    mishap_buffer_put_char(&words, '\0');
    end_void(what, words.data);
}

static inline void make_place(void)
{
    const char *above = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/mishap-bench-XXXXXX", above ? above : "/var/tmp");
    if (!mkdtemp(folder))
        end_void("folder", "it cannot be made");
    snprintf(journal, sizeof journal, "%s/bench.log", folder);
}

static inline void remove_place(void)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "mishap: %s is left\n", folder);
}

static inline uint64_t bytes_of_index(void)
{
    char command[400], text[64] = "";
    snprintf(command, sizeof command, "cat '%s'/incidents/2*.sqlite | wc -c", folder);
    FILE *pipe = popen(command, "r");
    if (!pipe || !fgets(text, sizeof text, pipe))
        end_void("size", "it cannot be read");
    pclose(pipe);
    return strtoull(text, NULL, 10);
}

#endif
