/* A process that waits for the next call of a service: see waiting.h. */
#include "waiting.h"

#include <unistd.h>

static bool is_ours(const service_waiting *waiting)
{
    return atomic_load(&waiting->owner) == getpid();
}

bool service_waiting_is_there(const service_waiting *waiting)
{
    return is_ours(waiting) && atomic_load(&waiting->process);
}

mishap_foreign_process *service_waiting_take(service_waiting *waiting)
{
    mishap_foreign_process *process = atomic_exchange(&waiting->process, NULL);
    return is_ours(waiting) ? process : NULL;
}

/* An inherited entry is cleared before this process becomes the owner: it must never be used. */
void service_waiting_keep(service_waiting *waiting, mishap_foreign_process *process)
{
    mishap_foreign_process *none = NULL;
    if (!is_ours(waiting)) {
        atomic_store(&waiting->process, NULL);
        atomic_store(&waiting->owner, getpid());
    }
    if (mishap_foreign_is_over(process) ||
        !atomic_compare_exchange_strong(&waiting->process, &none, process))
        mishap_foreign_stop(process);
}
