/* Dates and times beyond what mishap/types.h has. */
#ifndef MISHAP_BASE_MOMENT_H
#define MISHAP_BASE_MOMENT_H

#include "mishap/types.h"

/* True for a time of the day with its zone, as in RFC 3339: 18:30:00Z. */
bool mishap_time_is_valid(mishap_text text);

/* A point in time in UTC with six digits after the point, so that texts are in the order of the
 * times: 2026-02-28T18:30:00.250000Z. What is below a microsecond is dropped. */
const char *mishap_timestamp_write_utc(mishap_timestamp value, char text[MISHAP_WRITTEN]);

/* A duration in which units may be left out between others, as PostgreSQL writes it: P1Y3D. */
bool mishap_duration_read_loosely(mishap_text text, mishap_duration *out);

#endif
