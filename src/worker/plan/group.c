/* Which operations share a worker process: see plan.h. */
#include "operation/call.h"
#include "worker/plan/plan.h"
#include "worker/wire/packets.h"

static bool same_group(const mishap_worker_group *a, const mishap_worker_group *b)
{
    return a->service == b->service && a->alone == b->alone && a->foreign == b->foreign &&
           a->apart == b->apart;
}

/* By default an operation may use `static` state, as a C programmer expects: it gets one process,
 * and one call runs at a time. An operation that declares that it keeps no state gets more
 * processes. `apart`: calls of the operation that no other call is to wait for; but a service that
 * is `.alone` has one process for all of its calls. */
static mishap_worker_group group_of(const mishap_operation *operation, bool apart)
{
    const mishap_service *service = operation->service;
    const mishap_foreign *foreign = mishap_foreign_of(operation);
    bool settled = !foreign && service && service->settlement && service->settlement->settle &&
                   !apart;
    return (mishap_worker_group){ .service = service,
                                  .foreign = foreign,
                                  .settled = settled,
                                  .apart = apart && service && !service->alone,
                                  .alone = foreign   ? false
                                           : service ? service->alone || settled
                                                     : !operation->stateless };
}

static bool may_be_apart(const mishap_operation *operation)
{
    const mishap_service *service = operation->service;
    return service && service->settlement && service->settlement->apart;
}

static size_t find_group(const mishap_worker_groups *groups, const mishap_worker_group *wanted)
{
    size_t i = 0;
    while (i < groups->count && !same_group(&groups->groups[i], wanted))
        i++;
    return i;
}

size_t mishap_worker_group_of(const mishap_worker_groups *groups, const mishap_operation *operation)
{
    mishap_worker_group wanted = group_of(operation, false);
    return find_group(groups, &wanted);
}

size_t mishap_worker_group_of_call(const mishap_worker_groups *groups, const mishap_call *call)
{
    const mishap_operation *operation = call->operation;
    bool apart = may_be_apart(operation) && operation->service->settlement->apart(call);
    mishap_worker_group wanted = group_of(operation, apart);
    return find_group(groups, &wanted);
}

static mishap *add_group(mishap_worker_groups *groups, mishap_worker_group group)
{
    if (find_group(groups, &group) < groups->count)
        return NULL;
    if (groups->count == MISHAP_WORKER_GROUPS)
        return mishap_raise(NOT_CONFIGURED,
                            "The operations need more than %d groups of processes: one for each "
                            "service, another one for its calls that are apart, and two for "
                            "operations without a service.",
                            MISHAP_WORKER_GROUPS);
    groups->groups[groups->count++] = group;
    return NULL;
}

mishap *mishap_worker_groups_make(const mishap_app *app, mishap_worker_groups *groups)
{
    mishap *failure = NULL;
    groups->count = 0;
    for (const mishap_operation *o = app->operations; o && o->name && !failure; o++) {
        if (o->local || o->resident)
            continue;
        failure = add_group(groups, group_of(o, false));
        if (!failure && may_be_apart(o))
            failure = add_group(groups, group_of(o, true));
    }
    return failure;
}
