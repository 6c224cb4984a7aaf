#include "worker/child/time_guard.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "worker/wire/page.h"

#ifndef sigev_notify_thread_id /* a C library that has the member, but not its name */
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { SLACK_MS = 500, NS_OF_MS = 1000000 };

static timer_t timer;
static bool has_timer;
/* When the call has taken too long; 0: no call is guarded. And when the timer sends its signal; 0:
 * it is not set. The handler of the signal reads and writes both. */
static _Atomic(int64_t) over_ns, set_to_ns;

void mishap_time_guard_begin(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
                              .sigev_signo = mishap_words_signal() };
    event.sigev_notify_thread_id = gettid(); /* the one that runs calls: no other is disturbed */
    has_timer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

static void set_timer(int64_t at_ns)
{
    struct itimerspec when = { 0 };
    atomic_store(&set_to_ns, at_ns);
    when.it_value.tv_sec = at_ns / (1000 * NS_OF_MS);
    when.it_value.tv_nsec = at_ns % (1000 * NS_OF_MS);
    timer_settime(timer, TIMER_ABSTIME, &when, NULL);
}

void mishap_time_guard_set(int64_t limit_ms)
{
    if (!has_timer)
        return;
    int64_t over = limit_ms ? mishap_clock_monotonic_ns() + limit_ms * NS_OF_MS : 0;
    int64_t latest = over + SLACK_MS * (int64_t)NS_OF_MS, set_to = atomic_load(&set_to_ns);
    atomic_store(&over_ns, over);
    if (over && (set_to < over || set_to > latest))
        set_timer(latest);
}

void mishap_time_guard_stop(void)
{
    if (!has_timer)
        return;
    atomic_store(&over_ns, 0);
    set_timer(0);
}

bool mishap_time_guard_is_over(void)
{
    int64_t over = atomic_load(&over_ns);
    if (over && mishap_clock_monotonic_ns() >= over)
        return true;
    atomic_store(&set_to_ns, 0);
    return false;
}
