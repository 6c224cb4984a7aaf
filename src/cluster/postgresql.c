/* Opening and closing; the functions as one table. */
#include "cluster/inside.h"

#include <string.h>

#include "base/memory.h"
#include "store/store.h"

/* An address may have a password in it: no message repeats any of it. */
static mishap *check_scheme(const char *address)
{
    static const char *const schemes[] = { "postgresql://", "postgres://" };
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(address, schemes[i], strlen(schemes[i])) == 0)
            return NULL;
    return mishap_suggest(
        mishap_raise(NOT_CONFIGURED, "What a cluster shares must be in PostgreSQL."),
        "Give --cluster as postgresql://USER@HOST/DATABASE.");
}

static mishap *open_cluster(const char *address, const char *folder, mishap_cluster **out)
{
    *out = NULL;
    mishap *failure = check_scheme(address);
    if (failure)
        return failure;
    mishap_cluster *cluster = mishap_allocate(sizeof *cluster);
    if (!cluster)
        return mishap_out_of_memory();
    failure = mishap_store_open_kept(address, NULL, folder, &mishap_cluster_schema,
                                     &cluster->store);
    if (failure)
        mishap_release(cluster);
    else
        *out = cluster;
    return failure;
}

static void close_cluster(mishap_cluster *cluster)
{
    if (!cluster)
        return;
    mishap_store_close(cluster->store);
    mishap_release(cluster);
}

const mishap_cluster_engine mishap_cluster_in_postgresql = {
    .open = open_cluster,
    .close = close_cluster,
    .state = mishap_cluster_read_state,
    .keys = mishap_cluster_read_keys,
    .add = mishap_cluster_add_keys,
    .remove = mishap_cluster_remove_key,
    .disable = mishap_cluster_disable_keys,
    .secret = mishap_cluster_read_secret,
    .survey = mishap_cluster_survey,
    .timelines = mishap_cluster_share_timelines,
    .divide = mishap_cluster_divide,
    .lease = mishap_cluster_take_leases,
    .blocks = mishap_cluster_read_blocks,
    .block = mishap_cluster_block,
    .unblock = mishap_cluster_unblock,
    .beat = mishap_cluster_beat,
    .peers = mishap_cluster_list_peers,
    .leave = mishap_cluster_leave,
    .publish = mishap_cluster_publish,
    .hear = mishap_cluster_hear,
    .prune = mishap_cluster_prune,
    .hear_since = mishap_cluster_hear_since,
    .keep_session = mishap_cluster_keep_session,
    .find_session = mishap_cluster_find_session,
    .keep_events = mishap_cluster_keep_events,
    .find_events = mishap_cluster_find_events,
    .claim = mishap_cluster_claim_states,
    .prune_sessions = mishap_cluster_prune_sessions,
};
