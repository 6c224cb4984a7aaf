#include "worker/child/time_guard.h"

#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "worker/wire/page.h"

static timer_t timer;
static bool has_timer;

void mishap_time_guard_begin(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = mishap_words_signal() };
    has_timer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

void mishap_time_guard_set(int64_t limit_ms)
{
    struct itimerspec when = { 0 };
    if (!has_timer)
        return;
    when.it_value.tv_sec = limit_ms / 1000;
    when.it_value.tv_nsec = limit_ms % 1000 * 1000000;
    timer_settime(timer, 0, &when, NULL);
}
