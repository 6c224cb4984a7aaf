/*
 * Which primaries of PostgreSQL were replaced. A server keeps the highest timelines that it has
 * used (store/timeline.h). Here the servers tell them to each other, also those of databases in
 * which only services are. A server that is new reads them before it opens any store.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "cluster/inside.h"
#include "store/store.h"

void mishap_cluster_survey(mishap_cluster *cluster)
{
    mishap_store_survey(cluster->store);
}

/* What is told, by rows that may have been written by hand. */
typedef struct cluster_told {
    store_timeline rows[STORE_TIMELINES];
    size_t count;
} cluster_told;

/* False: it is no system identifier and no timeline. */
static bool read_row(mishap_query *query, store_timeline *row)
{
    mishap_text digits = mishap_query_text(query, 0);
    int64_t timeline = mishap_query_integer(query, 1);
    *row = (store_timeline){ .timeline = (uint32_t)timeline };
    for (size_t i = 0; i < digits.length; i++) {
        uint64_t digit = (uint64_t)(unsigned char)digits.data[i] - '0';
        if (digit > 9 || row->cluster > (UINT64_MAX - digit) / 10)
            return false;
        row->cluster = row->cluster * 10 + digit;
    }
    return row->cluster && timeline > 0 && timeline <= UINT32_MAX;
}

static mishap *read_told(mishap_cluster *cluster, cluster_told *told)
{
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_TIMELINES);
    mishap_query_bind_integer(&query, 1, STORE_TIMELINES);
    while (mishap_query_step(&query))
        told->count += told->count < STORE_TIMELINES && read_row(&query, &told->rows[told->count]);
    return mishap_query_end(&query);
}

static uint32_t timeline_of(const store_timeline *rows, size_t count, uint64_t cluster)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].cluster == cluster)
            return rows[i].timeline;
    return 0;
}

static mishap *tell_one(mishap_cluster *cluster, const store_timeline *kept)
{
    mishap_query query;
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, kept->cluster);
    mishap_query_begin(&query, cluster->store, CLUSTER_TIMELINE_KEEP);
    mishap_query_bind_text(&query, 1, mishap_text_of(digits));
    mishap_query_bind_integer(&query, 2, kept->timeline);
    while (mishap_query_step(&query))
        continue;
    return mishap_query_end(&query);
}

/* The files of servers have as many records as there were databases: one or two. */
static mishap *exchange(mishap_cluster *cluster, cluster_told *told, cluster_told *kept)
{
    store_timelines *timelines = mishap_store_timelines(cluster->store);
    mishap *failure = read_told(cluster, told);
    kept->count = mishap_timelines_list(timelines, kept->rows, STORE_TIMELINES);
    for (size_t i = 0; i < told->count && !failure; i++)
        if (told->rows[i].timeline > timeline_of(kept->rows, kept->count, told->rows[i].cluster))
            mishap_timelines_learn(timelines, told->rows[i]);
    for (size_t i = 0; i < kept->count && !failure; i++)
        if (kept->rows[i].timeline > timeline_of(told->rows, told->count, kept->rows[i].cluster))
            failure = tell_one(cluster, &kept->rows[i]);
    return failure;
}

mishap *mishap_cluster_share_timelines(mishap_cluster *cluster)
{
    cluster_told *both = mishap_allocate(2 * sizeof *both);
    if (!both)
        return mishap_out_of_memory();
    both[0].count = both[1].count = 0;
    mishap *failure = exchange(cluster, &both[0], &both[1]);
    mishap_release(both);
    return failure;
}
