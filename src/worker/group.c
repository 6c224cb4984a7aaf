/* Which operations share a process. */
#include "worker/foreign.h"
#include "worker/worker.h"

static bool same(const mishap_worker_group *a, const mishap_worker_group *b)
{
    return a->service == b->service && a->alone == b->alone && a->foreign == b->foreign;
}

/* What a C programmer expects of `static` state holds without a word: one process, one call at a
 * time. Whoever keeps none says so, and gets more processes. */
static mishap_worker_group group_of(const mishap_operation *operation)
{
    const mishap_service *service = operation->service;
    const mishap_foreign *foreign = mishap_foreign_of(operation);
    return (mishap_worker_group){ .service = service,
                                  .foreign = foreign,
                                  .settled = !foreign && service && service->settlement,
                                  .alone = foreign   ? false
                                           : service ? service->alone || service->settlement
                                                     : !operation->stateless };
}

size_t mishap_worker_group_of(const mishap_worker_groups *groups, const mishap_operation *operation)
{
    mishap_worker_group wanted = group_of(operation);
    size_t i = 0;
    while (i < groups->count && !same(&groups->groups[i], &wanted))
        i++;
    return i;
}

mishap *mishap_worker_groups_make(const mishap_app *app, mishap_worker_groups *groups)
{
    groups->count = 0;
    for (const mishap_operation *o = app->operations; o && o->name; o++) {
        if (o->local || o->resident || mishap_worker_group_of(groups, o) < groups->count)
            continue;
        if (groups->count == MISHAP_WORKER_GROUPS)
            return mishap_raise(NOT_CONFIGURED, "There are more than %d services.",
                                MISHAP_WORKER_GROUPS - 2);
        groups->groups[groups->count++] = group_of(o);
    }
    return NULL;
}
