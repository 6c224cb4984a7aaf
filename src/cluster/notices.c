/* Which servers there are, and what has changed at each of them. */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "cluster/inside.h"

static mishap *run_change(mishap_query *query)
{
    while (mishap_query_step(query))
        continue;
    return mishap_query_end(query);
}

mishap *mishap_cluster_beat(mishap_cluster *cluster, const mishap_cluster_peer *own,
                            mishap_text name, int64_t part,
                            char timeline[MISHAP_CLUSTER_TIMELINE + 1])
{
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_BEAT);
    mishap_query_bind_integer(&query, 1, own->id);
    mishap_query_bind_text(&query, 2, name);
    mishap_query_bind_integer(&query, 3, own->last);
    mishap_query_bind_integer(&query, 4, part);
    mishap_query_bind_integer(&query, 5, own->changes);
    while (mishap_query_step(&query)) {
        mishap_text text = mishap_query_text(&query, 0);
        snprintf(timeline, MISHAP_CLUSTER_TIMELINE + 1, "%.*s", (int)text.length,
                 text.data ? text.data : "");
    }
    return mishap_query_end(&query);
}

mishap *mishap_cluster_list_peers(mishap_cluster *cluster, int64_t id, mishap_cluster_peer *peers,
                                  size_t *count)
{
    mishap_query query;
    *count = 0;
    mishap_query_begin(&query, cluster->store, CLUSTER_PEERS);
    mishap_query_bind_integer(&query, 1, id);
    mishap_query_bind_integer(&query, 2, MISHAP_CLUSTER_PEERS);
    while (mishap_query_step(&query))
        if (*count < MISHAP_CLUSTER_PEERS)
            peers[(*count)++] = (mishap_cluster_peer){ .id = mishap_query_integer(&query, 0),
                                                       .last = mishap_query_integer(&query, 1),
                                                       .silent = mishap_query_boolean(&query, 2),
                                                       .changes = mishap_query_integer(&query, 3) };
    return mishap_query_end(&query);
}

mishap *mishap_cluster_leave(mishap_cluster *cluster, int64_t id)
{
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_LEAVE);
    mishap_query_bind_integer(&query, 1, id);
    return run_change(&query);
}

mishap *mishap_cluster_publish(mishap_cluster *cluster, const mishap_cluster_notice *notice)
{
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_PUBLISH);
    mishap_query_bind_integer(&query, 1, notice->server);
    mishap_query_bind_integer(&query, 2, notice->n);
    mishap_query_bind_blob(&query, 3, notice->addresses);
    mishap_query_bind_integer(&query, 4, notice->since);
    mishap_query_bind_integer(&query, 5, notice->changes);
    return run_change(&query);
}

/* {1,-2,3}, for an array of bigint. */
static void put_array(mishap_buffer *to, const mishap_cluster_peer *peers, size_t count, bool lasts)
{
    for (size_t i = 0; i < count; i++) {
        mishap_buffer_put_char(to, i ? ',' : '{');
        mishap_buffer_put_int(to, lasts ? peers[i].last : peers[i].id);
    }
    MISHAP_PUT(to, "}");
}

static void read_notices(mishap_query *query,
                         void (*hear)(void *context, const mishap_cluster_notice *notice),
                         void *context)
{
    while (mishap_query_step(query))
        hear(context, &(mishap_cluster_notice){ .server = mishap_query_integer(query, 0),
                                                .n = mishap_query_integer(query, 1),
                                                .addresses = mishap_query_blob(query, 2),
                                                .since = mishap_query_integer(query, 3),
                                                .changes = mishap_query_integer(query, 4) });
}

mishap *mishap_cluster_hear(mishap_cluster *cluster, const mishap_cluster_peer *peers, size_t count,
                            void (*hear)(void *context, const mishap_cluster_notice *notice),
                            void *context)
{
    char room[2][MISHAP_CLUSTER_PEERS * 21 + 2];
    mishap_buffer ids, lasts;
    mishap_query query;
    if (count == 0)
        return NULL;
    mishap_buffer_init(&ids, room[0], sizeof room[0]);
    mishap_buffer_init(&lasts, room[1], sizeof room[1]);
    put_array(&ids, peers, count, false);
    put_array(&lasts, peers, count, true);
    mishap_query_begin(&query, cluster->store, CLUSTER_HEAR);
    mishap_query_bind_text(&query, 1, mishap_buffer_text(&ids));
    mishap_query_bind_text(&query, 2, mishap_buffer_text(&lasts));
    mishap_query_bind_integer(&query, 3, MISHAP_CLUSTER_ROWS);
    read_notices(&query, hear, context);
    mishap *failure = mishap_query_end(&query);
    mishap_buffer_release(&ids);
    mishap_buffer_release(&lasts);
    return failure;
}

mishap *mishap_cluster_hear_since(mishap_cluster *cluster, const uint32_t *servers,
                                  const int64_t *changes, size_t count, size_t most,
                                  void (*hear)(void *context, const mishap_cluster_notice *notice),
                                  void *context)
{
    mishap_buffer ids = { 0 }, numbers = { 0 };
    mishap_query query;
    MISHAP_PUT(&ids, "{");
    MISHAP_PUT(&numbers, "{");
    for (size_t i = 0; i < count; i++) {
        mishap_buffer_put_text(&ids, mishap_text_of(i ? "," : ""));
        mishap_buffer_put_text(&numbers, mishap_text_of(i ? "," : ""));
        mishap_buffer_put_uint(&ids, servers[i]);
        mishap_buffer_put_int(&numbers, changes[i]);
    }
    MISHAP_PUT(&ids, "}");
    MISHAP_PUT(&numbers, "}");
    mishap_query_begin(&query, cluster->store, CLUSTER_HEAR_SINCE);
    mishap_query_bind_text(&query, 1, mishap_buffer_text(&ids));
    mishap_query_bind_text(&query, 2, mishap_buffer_text(&numbers));
    mishap_query_bind_integer(&query, 3, (int64_t)most);
    read_notices(&query, hear, context);
    mishap *failure = mishap_query_end(&query);
    if (!failure && (ids.failed || numbers.failed))
        failure = mishap_out_of_memory();
    mishap_buffer_release(&ids);
    mishap_buffer_release(&numbers);
    return failure;
}

mishap *mishap_cluster_prune(mishap_cluster *cluster, int64_t id, int64_t upto)
{
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_PRUNE);
    mishap_query_bind_integer(&query, 1, id);
    mishap_query_bind_integer(&query, 2, upto);
    mishap *failure = run_change(&query);
    for (size_t i = CLUSTER_PRUNE_SERVERS; i <= CLUSTER_PRUNE_CLAIMS && !failure; i++) {
        mishap_query_begin(&query, cluster->store, i);
        failure = run_change(&query);
    }
    return failure;
}
