/*
 * The end of a call whose time is over. A handler of a signal writes the failure and ends the
 * process: it needs no lock of the interpreter, so code that is inside of one operation for ever,
 * such as 10**10**10, ends like any other. Code that blocks the signals is killed by the parent.
 */
#include "host.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile long long id;   /* of the call; 0: none */
static struct timespec ends_at; /* monotonic */

long long current_id(void)
{
    return id;
}

static bool is_over(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > ends_at.tv_sec ||
           (now.tv_sec == ends_at.tv_sec && now.tv_nsec >= ends_at.tv_nsec);
}

/* Of the timer, or of the parent: before the end of its time the call was cancelled. */
static void on_signal(int number)
{
    (void)number;
    if (!id || !claim_end())
        return;
    if (is_over())
        refuse("TIMEOUT", "timeout", "The code was not finished in time.");
    refuse("CANCELLED", "cancelled", "The call was cancelled.");
}

void begin_deadline(long long call, long long most_ms)
{
    struct sigaction action = { .sa_handler = on_signal };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX - 1 };
    timer_t timer;
    sigfillset(&action.sa_mask);
    clock_gettime(CLOCK_MONOTONIC, &ends_at);
    ends_at.tv_sec += most_ms / 1000;
    ends_at.tv_nsec += most_ms % 1000 * 1000000;
    if (ends_at.tv_nsec >= 1000000000) {
        ends_at.tv_nsec -= 1000000000;
        ends_at.tv_sec++;
    }
    id = call;
    struct itimerspec when = { .it_value = ends_at };
    if (sigaction(SIGINT, &action, NULL) != 0 || sigaction(event.sigev_signo, &action, NULL) != 0 ||
        timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, TIMER_ABSTIME, &when, NULL) != 0)
        leave(MISHAP_EXIT_REFUSED, "mishap-python: the timer of a call cannot be set\n");
}
