#include "base/life.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system.h"

enum {
    PROCESS_BITS = 22, /* Linux has no larger process id */
    STATE_FIELD = 3,
    STARTED_FIELD = 22,
    REMEMBERED = 8, /* processes that were checked last */
};

#define STARTED_MASK  (UINT64_MAX >> PROCESS_BITS)
#define LOOK_AGAIN_NS INT64_C(1000000000)

mishap_life mishap_life_of(int process, uint64_t started)
{
    return (uint64_t)process << (64 - PROCESS_BITS) | (started & STARTED_MASK);
}

int mishap_life_process(mishap_life life)
{
    return (int)(life >> (64 - PROCESS_BITS));
}

/* When a process was started, and its state; 0 and '?': it is not known. */
static uint64_t started(int process, char *state)
{
    char text[1024];
    bool known = mishap_system_read_about(process, "stat", text, sizeof text);
    const char *first = known ? mishap_system_stat_field(text, STATE_FIELD) : NULL;
    const char *at = known ? mishap_system_stat_field(text, STARTED_FIELD) : NULL;
    *state = first ? *first : '?';
    return at ? strtoull(at, NULL, 10) : 0;
}

char mishap_life_state(int process)
{
    char state;
    started(process, &state);
    return state;
}

bool mishap_life_is_deaf(int process, int signal)
{
    static const char *const sets[] = { "\nSigBlk:", "\nSigIgn:" };
    char text[4096];
    if (!mishap_system_read_about(process, "status", text, sizeof text))
        return false;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const char *at = strstr(text, sets[i]);
        if (at && strtoull(at + strlen(sets[i]), NULL, 16) >> (signal - 1) & 1)
            return true;
    }
    return false;
}

mishap_life mishap_life_self(void)
{
    /* Relaxed: every thread stores the same word, and that says nothing about other memory. */
    static _Atomic mishap_life known;
    mishap_life life = atomic_load_explicit(&known, memory_order_relaxed);
    int process = (int)getpid();
    char state;
    if (mishap_life_process(life) == process)
        return life;
    life = mishap_life_of(process, started(process, &state));
    atomic_store_explicit(&known, life, memory_order_relaxed);
    return life;
}

/* The process id is in use: is it the process that is meant? The last result is reused for a
 * moment, since a process that waits for the end of another asks again and again. */
static bool is_another(mishap_life life)
{
    static _Thread_local struct {
        mishap_life life;
        int64_t until_ns;
    } seen[REMEMBERED];
    size_t place = (size_t)mishap_life_process(life) % REMEMBERED;
    int64_t now = mishap_clock_monotonic_ns();
    char state;
    if (seen[place].life == life && now < seen[place].until_ns)
        return false;
    uint64_t found = started(mishap_life_process(life), &state);
    if (state == 'Z' || state == 'X')
        return true; /* dead, but not reaped yet */
    if (found && (life & STARTED_MASK) && life != mishap_life_of(mishap_life_process(life), found))
        return true;
    seen[place].life = life;
    seen[place].until_ns = now + LOOK_AGAIN_NS;
    return false;
}

bool mishap_life_is_over(mishap_life life)
{
    int process = mishap_life_process(life);
    if (!process || (kill(process, 0) != 0 && errno == ESRCH))
        return true;
    return life != mishap_life_self() && is_another(life);
}
