/* Sessions of MCP: their state, and the events of their streams. */
#include "cluster/inside.h"

static mishap *run_change(mishap_query *query)
{
    while (mishap_query_step(query))
        continue;
    return mishap_query_end(query);
}

mishap *mishap_cluster_keep_session(mishap_cluster *cluster, mishap_text key, int64_t holder,
                                    mishap_text state)
{
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_SESSION_KEEP);
    mishap_query_bind_blob(&query, 1, key);
    mishap_query_bind_integer(&query, 2, holder);
    mishap_query_bind_blob(&query, 3, state);
    MISHAP_TRY(run_change(&query));
    mishap_query_begin(&query, cluster->store, CLUSTER_SESSION_TRIM);
    mishap_query_bind_integer(&query, 1, holder);
    mishap_query_bind_integer(&query, 2, MISHAP_CLUSTER_SESSIONS);
    return run_change(&query);
}

mishap *mishap_cluster_find_session(mishap_cluster *cluster, mishap_text key,
                                    void (*hear)(void *context, mishap_text state), void *context)
{
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_SESSION);
    mishap_query_bind_blob(&query, 1, key);
    while (mishap_query_step(&query))
        hear(context, mishap_query_blob(&query, 0));
    return mishap_query_end(&query);
}

/* -- events ------------------------------------------------------------------------------------ */

struct events {
    const mishap_cluster_event *events;
    size_t count;
};

/* They take one round trip together. */
static mishap *keep_events(mishap_store *store, void *state)
{
    const struct events *all = state;
    for (size_t i = 0; i < all->count; i++) {
        const mishap_cluster_event *event = &all->events[i];
        mishap_query query;
        mishap_query_begin(&query, store, CLUSTER_EVENT_KEEP);
        mishap_query_bind_blob(&query, 1, event->session);
        mishap_query_bind_integer(&query, 2, event->stream);
        mishap_query_bind_integer(&query, 3, event->place);
        mishap_query_bind_integer(&query, 4, event->holder);
        mishap_query_bind_integer(&query, 5, event->server);
        mishap_query_bind_integer(&query, 6, event->flags);
        mishap_query_bind_integer(&query, 7, event->scopes);
        mishap_query_bind_blob(&query, 8, event->data);
        MISHAP_TRY(run_change(&query));
    }
    return NULL;
}

mishap *mishap_cluster_keep_events(mishap_cluster *cluster, const mishap_cluster_event *events,
                                   size_t count)
{
    struct events all = { events, count };
    return mishap_store_transact(cluster->store,
                                 &(mishap_transaction){ .work = keep_events, .state = &all });
}

mishap *mishap_cluster_find_events(mishap_cluster *cluster, mishap_text key, int64_t stream,
                                   int64_t place,
                                   void (*hear)(void *context, const mishap_cluster_event *event),
                                   void *context)
{
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_EVENTS);
    mishap_query_bind_blob(&query, 1, key);
    mishap_query_bind_integer(&query, 2, stream);
    mishap_query_bind_integer(&query, 3, place);
    mishap_query_bind_integer(&query, 4, MISHAP_CLUSTER_EVENTS);
    while (mishap_query_step(&query))
        hear(context, &(mishap_cluster_event){ .session = key,
                                               .stream = mishap_query_integer(&query, 0),
                                               .place = mishap_query_integer(&query, 1),
                                               .holder = mishap_query_integer(&query, 2),
                                               .server = mishap_query_integer(&query, 3),
                                               .flags = mishap_query_integer(&query, 4),
                                               .scopes = mishap_query_integer(&query, 5),
                                               .data = mishap_query_blob(&query, 6) });
    return mishap_query_end(&query);
}

mishap *mishap_cluster_prune_sessions(mishap_cluster *cluster)
{
    mishap *failure = NULL;
    for (size_t i = CLUSTER_PRUNE_SESSIONS; i <= CLUSTER_TRIM_EVENTS && !failure; i++) {
        mishap_query query;
        mishap_query_begin(&query, cluster->store, i);
        failure = run_change(&query);
    }
    return failure;
}
