/*
 * A loop that was killed can no longer end its call here. Where other loops use this worker, too,
 * the worker sets a timer of its own, which ends it with the signal for last words.
 */
#ifndef MISHAP_WORKER_CHILD_TIME_GUARD_H
#define MISHAP_WORKER_CHILD_TIME_GUARD_H

#include <stdint.h>

/* From now on calls are guarded. */
void mishap_time_guard_begin(void);

/* This process ends after so many milliseconds; 0: it does not. */
void mishap_time_guard_set(int64_t limit_ms);

#endif
