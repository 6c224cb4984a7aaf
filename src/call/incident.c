/* The record of the last call, as operators see it. */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "call/test.h"
#include "operation/call.h"

enum { PATIENCE_S = 60, PAUSE_NS = 20000000 };

/* The line of the log that begins with this id; no data: there is none yet. */
static bool find_record(const char *path, const char *id, mishap_buffer *line)
{
    char piece[4096], key[96];
    FILE *file = fopen(path, "re");
    bool found = false;
    snprintf(key, sizeof key, "\"id\":\"%s\"", id);
    while (file && !found && fgets(piece, sizeof piece, file)) {
        mishap_buffer_put_text(line, mishap_text_of(piece));
        if (line->length == 0 || line->data[line->length - 1] != '\n')
            continue;
        found = memmem(line->data, line->length < 200 ? line->length : 200, key, strlen(key));
        if (!found)
            mishap_buffer_reset(line);
    }
    if (file)
        fclose(file);
    return found && !line->failed;
}

/* A server hands its records to another process, which writes them soon. */
const mishap_call *mishap_test_incident(mishap_test *test)
{
    mishap_buffer line = { 0 };
    if (test->incident)
        return test->incident->json;
    if (!test->failure || !*test->id)
        return NULL;
    int64_t until = mishap_clock_monotonic_ns() + PATIENCE_S * INT64_C(1000000000);
    bool found = find_record(test->log, test->id, &line);
    while (!found && test->server && mishap_clock_monotonic_ns() < until) {
        mishap_buffer_reset(&line);
        nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
        found = find_record(test->log, test->id, &line);
    }
    if (found)
        mishap_free(mishap_answered_make(test->app, mishap_buffer_text(&line), "application/json",
                                         200, &test->incident));
    mishap_buffer_release(&line);
    return test->incident ? test->incident->json : NULL;
}
