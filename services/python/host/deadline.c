/*
 * The end of a call whose time is over. The parent keeps the time, and sends a signal: timers of
 * this process would count against a limit of the whole user, which code of other callers could use
 * up. The signal handler writes the failure and ends the process. It needs no lock of the
 * interpreter, so it also ends code that stays in one operation for ever, such as 10**10**10. Code
 * that blocks the signal is killed by the parent.
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

/* The parent has begun to count a moment earlier. If this is wrong, the parent corrects it. */
static bool is_over(void)
{
    enum { EARLIER_MS = 20 };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long left_ms = (ends_at.tv_sec - now.tv_sec) * 1000LL +
                        (ends_at.tv_nsec - now.tv_nsec) / 1000000;
    return left_ms <= EARLIER_MS;
}

/* If its time is not over, the call was cancelled. */
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
    sigfillset(&action.sa_mask);
    clock_gettime(CLOCK_MONOTONIC, &ends_at);
    ends_at.tv_sec += most_ms / 1000;
    ends_at.tv_nsec += most_ms % 1000 * 1000000;
    if (ends_at.tv_nsec >= 1000000000) {
        ends_at.tv_nsec -= 1000000000;
        ends_at.tv_sec++;
    }
    id = call;
    if (sigaction(SIGINT, &action, NULL) != 0)
        leave(MISHAP_EXIT_REFUSED, "mishap-python: the signal of a call cannot be caught\n");
}
