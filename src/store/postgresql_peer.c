/*
 * What a new connection leads to. The address says where PostgreSQL is, and not what runs there
 * now: it may be a primary that was replaced and came back, a standby, or a pooler.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/postgresql.h"

#define pq mishap_libpq

/* -- what it says about itself ----------------------------------------------------------------- */

enum { PEER_PID, PEER_STANDBY, PEER_CLUSTER, PEER_TIMELINE, PEER_BEGUN, PEER_COLUMNS };

/* No function in it needs a right. A standby has no timeline of its own. */
const char mishap_postgresql_ask_peer[] =
    "SELECT pg_backend_pid(), pg_is_in_recovery(), system_identifier, CASE WHEN pg_is_in_recovery()"
    " THEN 0 ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint "
    "END,"
    " (SELECT backend_start FROM pg_stat_get_activity(pg_backend_pid())) FROM pg_control_system()";

static bool is_answer(const pq_result *result)
{
    return result && pq.PQresultStatus(result) == PQ_TUPLES_OK && pq.PQntuples(result) == 1 &&
           pq.PQnfields(result) == PEER_COLUMNS;
}

bool mishap_postgresql_read_timeline(const pq_result *result, store_timeline *found)
{
    *found = (store_timeline){ 0 };
    if (is_answer(result)) {
        found->cluster = strtoull(pq.PQgetvalue(result, 0, PEER_CLUSTER), NULL, 10);
        found->timeline = (uint32_t)strtoul(pq.PQgetvalue(result, 0, PEER_TIMELINE), NULL, 10);
    }
    return found->cluster && found->timeline;
}

/* What another server that speaks the protocol of PostgreSQL may lack of it is not known then:
 * nothing is refused. */
static bool read_peer(postgresql_store *store, store_timeline *found)
{
    pq_result *result = mishap_postgresql_run(store, mishap_postgresql_ask_peer,
                                              mishap_postgresql_until(store));
    mishap_postgresql_read_timeline(result, found);
    store->standby = store->pooled = false;
    store->backend = (postgresql_backend){ 0 };
    if (is_answer(result)) {
        int pid = (int)strtol(pq.PQgetvalue(result, 0, PEER_PID), NULL, 10);
        store->standby = *pq.PQgetvalue(result, 0, PEER_STANDBY) == 't';
        store->pooled = pid != pq.PQbackendPID(store->connection);
        store->backend.pid = pid;
        snprintf(store->backend.begun, sizeof store->backend.begun, "%s",
                 pq.PQgetvalue(result, 0, PEER_BEGUN));
    }
    pq.PQclear(result);
    return store->connection && pq.PQstatus(store->connection) == PQ_CONNECTION_OK;
}

/* -- a primary that was replaced --------------------------------------------------------------- */

static mishap *replaced(uint32_t timeline, uint32_t highest)
{
    return mishap_suggest(
        mishap_raise(UNAVAILABLE,
                     "The PostgreSQL server of the store has timeline %" PRIu32
                     ", and timeline %" PRIu32 " of it has been used.",
                     timeline, highest),
        "It is a primary that was replaced by another one. Stop it, and let it follow the new "
        "primary, for example with pg_rewind.");
}

/* -- a backend that was left ------------------------------------------------------------------- */

/* It may wait for a standby, with locks and a connection. A user may end its own backends. */
static void end_left_backend(postgresql_store *store)
{
    char sql[200];
    if (!store->left.pid)
        return;
    snprintf(sql, sizeof sql,
             "SELECT pg_terminate_backend(%d) FROM pg_stat_get_activity(%d) WHERE backend_start ="
             " '%.39s'",
             store->left.pid, store->left.pid, store->left.begun);
    postgresql_backend left = store->left;
    store->left = (postgresql_backend){ 0 };
    pq_result *result = mishap_postgresql_run(store, sql, mishap_postgresql_until(store));
    if (!result || pq.PQresultStatus(result) != PQ_TUPLES_OK)
        store->left = left; /* the next connection asks again */
    pq.PQclear(result);
}

mishap *mishap_postgresql_meet(postgresql_store *store)
{
    store_timeline found;
    uint32_t highest = 0;
    if (!read_peer(store, &found))
        return mishap_postgresql_failure(store, NULL, STORE_LOST);
    if (found.cluster && found.timeline &&
        !mishap_timelines_admit(&store->timelines, found.cluster, found.timeline, &highest))
        return replaced(found.timeline, highest);
    end_left_backend(store);
    return store->connection ? NULL : mishap_postgresql_failure(store, NULL, STORE_LOST);
}
