/* Processes that wait for the next session: see spare.h. */
#include "worker/keeper/spare.h"

#include <unistd.h>

#include "base/base.h"
#include "base/life.h"
#include "worker/keeper/processes.h"

/* The keeper has more urgent things to do right after its start, and while sessions begin. */
static const int64_t quiet_ns = INT64_C(1000000000);
/* Until the next attempt, after one that ended by itself or could not be started. */
static const int64_t again_ns = INT64_C(60000000000);

/* The state of this file: one in a process. */
static struct {
    const mishap_keeper_plan *plan;
    struct spare {
        uint32_t worker; /* 0: there is none */
        int32_t pid;
        int end;
        int64_t due_ns; /* when it is to be started */
    } of[MISHAP_WORKER_GROUPS];
} s;

void mishap_spares_begin(const mishap_keeper_plan *plan)
{
    s.plan = plan;
    for (size_t i = 0; i < plan->groups.count; i++)
        s.of[i] = (struct spare){ .due_ns = mishap_clock_monotonic_ns() + quiet_ns };
}

static const mishap_foreign *waits(size_t group)
{
    const mishap_foreign *foreign = s.plan->groups.groups[group].foreign;
    return foreign && foreign->sessions && foreign->waits ? foreign : NULL;
}

/* A process that was killed, or has ended and is not reaped yet, is of no use. */
static bool is_alive(const struct spare *spare)
{
    const mishap_kept *worker = mishap_kept_by_number(spare->worker);
    char state = mishap_life_state(spare->pid);
    return worker && !worker->killed && !worker->kill_at_ns &&
           (state == 'S' || state == 'R' || state == 'D');
}

bool mishap_spare_take(uint32_t group, uint32_t *worker, int32_t *pid, int *end)
{
    struct spare *spare = &s.of[group], taken = *spare;
    bool alive = taken.worker && is_alive(&taken);
    if (taken.worker && !alive)
        return false; /* mishap_spares_worker_ended() follows */
    *spare = (struct spare){ .due_ns = mishap_clock_monotonic_ns() + quiet_ns };
    if (!alive)
        return false;
    *worker = taken.worker;
    *pid = taken.pid;
    *end = taken.end;
    return true;
}

void mishap_spares_worker_ended(uint32_t worker)
{
    for (size_t i = 0; i < s.plan->groups.count; i++)
        if (s.of[i].worker == worker) {
            close(s.of[i].end);
            s.of[i] = (struct spare){ .due_ns = mishap_clock_monotonic_ns() + again_ns };
        }
}

static bool is_usable(const mishap_foreign *foreign)
{
    mishap *failure = foreign->usable ? foreign->usable() : NULL;
    mishap_free(failure);
    return !failure;
}

static void start(size_t group, const mishap_foreign *foreign, int64_t now_ns)
{
    struct spare *spare = &s.of[group];
    mishap_kept *worker;
    int end;
    spare->due_ns = now_ns + again_ns;
    if (!is_usable(foreign) || !mishap_kept_spawn((uint32_t)group, true, &worker, &end))
        return;
    *spare = (struct spare){ .worker = worker->number, .pid = worker->pid, .end = end };
}

int64_t mishap_spares_look(int64_t now_ns)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < s.plan->groups.count; i++) {
        const mishap_foreign *foreign = waits(i);
        if (!foreign || s.of[i].worker)
            continue;
        if (now_ns >= s.of[i].due_ns)
            start(i, foreign, now_ns);
        if (!s.of[i].worker && s.of[i].due_ns < next)
            next = s.of[i].due_ns;
    }
    return next;
}
