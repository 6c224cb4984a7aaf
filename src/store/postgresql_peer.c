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

/* -- backends that were left ------------------------------------------------------------------- */

store_trouble mishap_postgresql_leave(postgresql_store *store)
{
    store->base.left_open = true;
    store->undecided = store->pooled ? (postgresql_backend){ 0 } : store->backend;
    return STORE_UNKNOWN;
}

/* It may wait for a standby, with locks and a connection; what it commits can be seen when it has
 * ended. A user may end its own backends. The statement has no row if it has ended already: then
 * it is forgotten; else the next connection asks again. */
static void end_backend(postgresql_store *store, postgresql_backend *backend)
{
    char sql[200];
    postgresql_backend which = *backend, left = store->left;
    if (!which.pid || !store->connection)
        return;
    snprintf(sql, sizeof sql,
             "SELECT pg_terminate_backend(%d) FROM pg_stat_get_activity(%d) WHERE backend_start ="
             " '%.39s'",
             which.pid, which.pid, which.begun);
    pq_result *result = mishap_postgresql_run(store, sql, mishap_postgresql_until(store));
    bool ended = result && pq.PQresultStatus(result) == PQ_TUPLES_OK && pq.PQntuples(result) == 0;
    store->left = left; /* not the connection that has asked */
    if (ended)
        *backend = (postgresql_backend){ 0 };
    pq.PQclear(result);
}

static void end_left_backends(postgresql_store *store)
{
    bool undecided = store->undecided.pid != 0;
    end_backend(store, &store->left);
    end_backend(store, &store->undecided);
    if (undecided && !store->undecided.pid)
        store->base.left_open = false;
}

/* Of processes that ended before they could connect again: each waits for a standby for longer than
 * any call of this service waits for it. */
static void end_abandoned_backends(postgresql_store *store)
{
    char sql[400];
    int64_t wait_ms = store->base.answer_ms > STORE_ANSWER_MS ? store->base.answer_ms
                                                              : STORE_ANSWER_MS;
    postgresql_backend left = store->left;
    if (store->standby || store->pooled || !store->connection)
        return;
    snprintf(sql, sizeof sql,
             "SELECT pg_terminate_backend(pid) FROM pg_stat_get_activity(NULL) WHERE wait_event ="
             " 'SyncRep' AND application_name = current_setting('application_name') AND datid ="
             " (SELECT oid FROM pg_database WHERE datname = current_database()) AND query_start"
             " < clock_timestamp() - interval '%" PRId64 " milliseconds'",
             wait_ms + STORE_WHOLE_MS);
    pq.PQclear(mishap_postgresql_run(store, sql, mishap_postgresql_until(store)));
    store->left = left; /* not the connection that has asked */
}

bool mishap_postgresql_is_over(mishap_store *base)
{
    postgresql_store *store = (postgresql_store *)base;
    for (int attempt = 0; base->left_open; attempt++) {
        if (store->connection)
            end_left_backends(store);
        else
            mishap_free(mishap_postgresql_connect_again(store)); /* which ends them, too */
        if (base->left_open && (!store->undecided.pid || mishap_store_now_ms() >= base->until_ms))
            return false;
        if (base->left_open)
            mishap_store_pause_before(attempt);
    }
    return true;
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
    end_left_backends(store);
    end_abandoned_backends(store);
    return store->connection ? NULL : mishap_postgresql_failure(store, NULL, STORE_LOST);
}
