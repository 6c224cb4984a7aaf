/* Lines of the journal (docs/incident.schema.json) into log records and spans. A line is not
 * trusted: what it should not have is left out, and a line that makes no sense is refused. */
#ifndef MISHAP_OTLP_RECORDS_H
#define MISHAP_OTLP_RECORDS_H

#include "otlp/write.h"

/* What an operation is called outside. Members may be NULL. */
typedef struct mishap_otlp_name {
    const char *route; /* "GET /todos/:id" */
    const char *tool;  /* "todos_show" */
} mishap_otlp_name;

/* Look up an operation of the journal. */
typedef mishap_otlp_name (*mishap_otlp_find)(const void *state, mishap_text operation);

/* The same in a mishap_app, which is `state`. The names are valid until the next call. */
mishap_otlp_name mishap_otlp_find_name(const void *state, mishap_text operation);

/* The requests that are being made. */
typedef struct mishap_otlp_batch {
    const mishap_otlp_settings *settings;
    const char *instance; /* service.instance.id */
    mishap_otlp_find find;
    const void *find_state;
    mishap_buffer logs, spans;
    size_t log_count, span_count;
    bool failed; /* there was no memory for a part */
    mishap_json_reader reader;
    mishap_buffer scratch, ids; /* of a line */
} mishap_otlp_batch;

/* Begin two requests. */
void mishap_otlp_batch_begin(mishap_otlp_batch *batch);

/* Add a line. False: it is malformed, and nothing was added. A line of a kind that is not known is
 * fine, and adds nothing. */
bool mishap_otlp_batch_add(mishap_otlp_batch *batch, mishap_text line);

/* Complete both. False: there was no memory for all of it. */
bool mishap_otlp_batch_end(mishap_otlp_batch *batch);

void mishap_otlp_batch_release(mishap_otlp_batch *batch);

/* "2026-02-09T10:20:30.123Z" in nanoseconds since 1970. False: it is not such a time. */
bool mishap_otlp_read_time(mishap_text text, uint64_t *ns);

#endif
