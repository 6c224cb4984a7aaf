/* Callers that are blocked at all servers. */
#include "cluster/inside.h"

mishap *mishap_cluster_read_blocks(mishap_cluster *cluster,
                                   void (*hear)(void *context, mishap_text name, mishap_text since),
                                   void *context)
{
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_BLOCKS);
    mishap_query_bind_integer(&query, 1, MISHAP_CLUSTER_BLOCKS + 1);
    int64_t count = 0;
    while (mishap_query_step(&query))
        if (++count <= MISHAP_CLUSTER_BLOCKS)
            hear(context, mishap_query_text(&query, 0), mishap_query_text(&query, 1));
    mishap *failure = mishap_query_end(&query);
    if (failure || count <= MISHAP_CLUSTER_BLOCKS)
        return failure;
    return mishap_suggest(mishap_raise(NOT_CONFIGURED, "The cluster has too many blocked callers."),
                          "Remove those of old tokens with `keys unblock`.");
}

/* True if the statement has had a row. */
static mishap *change(mishap_cluster *cluster, enum cluster_statement statement, mishap_text name,
                      bool *done)
{
    mishap_query query;
    *done = false;
    mishap_query_begin(&query, cluster->store, statement);
    mishap_query_bind_text(&query, 1, name);
    while (mishap_query_step(&query))
        *done = true;
    return mishap_query_end(&query);
}

mishap *mishap_cluster_block(mishap_cluster *cluster, mishap_text name, bool *done)
{
    return change(cluster, CLUSTER_BLOCK, name, done);
}

mishap *mishap_cluster_unblock(mishap_cluster *cluster, mishap_text name, bool *done)
{
    return change(cluster, CLUSTER_UNBLOCK, name, done);
}
