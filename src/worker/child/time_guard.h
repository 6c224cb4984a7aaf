/*
 * A loop that was killed can no longer end its call here. Where other loops use this worker, too,
 * the worker sets a timer of its own, which ends it with the signal for last words.
 *
 * The timer is not set anew for each call: it sends its signal up to half a second late, and where
 * it is set to such a time already, it stays. So its signal may come when no call runs, or an
 * earlier one has ended: the handler of the signal asks mishap_time_guard_is_over(). While a call
 * runs that may go on, no signal comes.
 */
#ifndef MISHAP_WORKER_CHILD_TIME_GUARD_H
#define MISHAP_WORKER_CHILD_TIME_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* From now on calls are guarded. */
void mishap_time_guard_begin(void);

/* This process ends after so many milliseconds, or up to half a second later; 0: it does not. */
void mishap_time_guard_set(int64_t limit_ms);

/* It does not, and no signal of the timer disturbs what this process waits for. */
void mishap_time_guard_stop(void);

/* For the handler of the signal: has the call taken too long? */
bool mishap_time_guard_is_over(void);

#endif
