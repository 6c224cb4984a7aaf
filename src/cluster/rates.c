/*
 * What each server has of the rate of a caller: a part of the half that is divided, and leases of
 * the other half. Together they are never more than what was promised, also if servers or the
 * database fail:
 *
 * - A part is stored before it is used if it becomes larger, and after it is not used any more if
 *   it becomes smaller. Servers that enlarge theirs at the same time are serialized.
 * - The part of a server that is silent stays its own until the server has stopped to serve.
 * - Tables that were emptied by a crash say nothing: parts are enlarged only when every server that
 *   is alive has told its own again.
 */
#include "base/buffer.h"
#include "cluster/inside.h"

static mishap *run_change(mishap_query *query, bool *done)
{
    *done = false;
    while (mishap_query_step(query))
        *done = true;
    return mishap_query_end(query);
}

/* -- parts ------------------------------------------------------------------------------------- */

typedef struct cluster_parts {
    int64_t id, keep_ms, part;
    int64_t servers, others; /* how many are alive, and what the others have */
    bool complete;           /* the table has the parts of all of them */
} cluster_parts;

static mishap *read_parts(mishap_store *store, cluster_parts *parts)
{
    mishap_query query;
    mishap_query_begin(&query, store, CLUSTER_PARTS);
    mishap_query_bind_integer(&query, 1, parts->id);
    mishap_query_bind_integer(&query, 2, parts->keep_ms);
    while (mishap_query_step(&query)) {
        parts->servers = mishap_query_integer(&query, 0);
        parts->others = mishap_query_integer(&query, 1);
        parts->complete = mishap_query_boolean(&query, 2);
    }
    return mishap_query_end(&query);
}

static int64_t equal_part(const cluster_parts *parts)
{
    return MISHAP_CLUSTER_WHOLE / (parts->servers > 0 ? parts->servers : 1);
}

static mishap *store_part(mishap_store *store, const cluster_parts *parts, bool *done)
{
    mishap_query query;
    mishap_query_begin(&query, store, CLUSTER_PART_KEEP);
    mishap_query_bind_integer(&query, 1, parts->id);
    mishap_query_bind_integer(&query, 2, parts->part);
    return run_change(&query, done);
}

/* In a serializable transaction: if another server enlarges its part at the same time, one of the
 * two is repeated. */
static mishap *enlarge(mishap_store *store, void *state)
{
    cluster_parts *parts = state;
    bool done;
    int64_t before = parts->part;
    MISHAP_TRY(read_parts(store, parts));
    int64_t wanted = equal_part(parts), free = MISHAP_CLUSTER_WHOLE - parts->others;
    parts->part = wanted < free ? wanted : free;
    if (!parts->complete || parts->part <= before) {
        parts->part = before;
        return NULL;
    }
    mishap *failure = store_part(store, parts, &done);
    if (failure || !done) /* no row: the next heartbeat makes one */
        parts->part = before;
    return failure;
}

mishap *mishap_cluster_divide(mishap_cluster *cluster, int64_t id, int64_t keep_ms, int64_t *part,
                              void (*lower)(void *context, int64_t part), void *context)
{
    cluster_parts parts = { .id = id, .keep_ms = keep_ms, .part = *part };
    mishap_query query;
    bool done;
    mishap_query_begin(&query, cluster->store, CLUSTER_DIVIDED);
    MISHAP_TRY(run_change(&query, &done));
    MISHAP_TRY(read_parts(cluster->store, &parts));
    if (equal_part(&parts) < *part) {
        *part = parts.part = equal_part(&parts);
        lower(context, *part);
        return store_part(cluster->store, &parts, &done);
    }
    if (equal_part(&parts) == *part || !parts.complete)
        return NULL;
    mishap *failure = mishap_store_transact(
        cluster->store, &(mishap_transaction){ .work = enlarge, .state = &parts });
    if (!failure)
        *part = parts.part;
    return failure;
}

/* -- leases ------------------------------------------------------------------------------------ */

static void put_array(mishap_buffer *to, const mishap_cluster_lease *leases, size_t count,
                      bool wanted)
{
    for (size_t i = 0; i < count; i++) {
        mishap_buffer_put_char(to, i ? ',' : '{');
        mishap_buffer_put_int(to, wanted ? leases[i].wanted : leases[i].place);
    }
    MISHAP_PUT(to, "}");
}

/* A row that was changed by hand grants nothing that was not asked for. */
static void grant(mishap_cluster_lease *leases, size_t count, int64_t place, int64_t granted)
{
    for (size_t i = 0; i < count; i++)
        if (leases[i].place == place && granted > 0)
            leases[i].granted = granted < leases[i].wanted ? granted : leases[i].wanted;
}

mishap *mishap_cluster_take_leases(mishap_cluster *cluster, const mishap_cluster_rate *rate,
                                   mishap_cluster_lease *leases, size_t count)
{
    char room[2][MISHAP_CLUSTER_LEASES * 21 + 2];
    mishap_buffer places, wanted;
    mishap_query query;
    for (size_t i = 0; i < count; i++)
        leases[i].granted = 0;
    if (count == 0)
        return NULL;
    mishap_buffer_init(&places, room[0], sizeof room[0]);
    mishap_buffer_init(&wanted, room[1], sizeof room[1]);
    put_array(&places, leases, count, false);
    put_array(&wanted, leases, count, true);
    mishap_query_begin(&query, cluster->store, CLUSTER_LEASE);
    mishap_query_bind_text(&query, 1, mishap_buffer_text(&places));
    mishap_query_bind_text(&query, 2, mishap_buffer_text(&wanted));
    mishap_query_bind_integer(&query, 3, rate->each_ns);
    mishap_query_bind_integer(&query, 4, rate->ahead_ns);
    while (mishap_query_step(&query))
        grant(leases, count, mishap_query_integer(&query, 0), mishap_query_integer(&query, 1));
    mishap *failure = mishap_query_end(&query);
    mishap_buffer_release(&places);
    mishap_buffer_release(&wanted);
    return failure;
}
