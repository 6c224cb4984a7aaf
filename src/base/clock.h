/* Time: the calendar, and a clock that never goes back. */
#ifndef MISHAP_BASE_CLOCK_H
#define MISHAP_BASE_CLOCK_H

#include <stdint.h>

#include "base/buffer.h"

/* Milliseconds since 1970: the time of the machine, or the time that a test has set
 * (base/rehearsal.h). */
int64_t mishap_clock_now_ms(void);

/* Nanoseconds since some fixed moment, for durations. */
int64_t mishap_clock_monotonic_ns(void);

/* The processor time of all threads of a process, in nanoseconds; -1: it is not known. */
int64_t mishap_clock_process_ns(int process);

/* The date that is so many days after 1970-01-01. */
void mishap_clock_date(int64_t days, int *year, int *month, int *day);

/* Write a time as in RFC 3339, in UTC with milliseconds: 2026-02-09T10:20:30.123Z. */
void mishap_clock_put_timestamp(mishap_buffer *buffer, int64_t milliseconds);

#endif
