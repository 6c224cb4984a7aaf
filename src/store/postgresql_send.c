/*
 * Sending statements to PostgreSQL. Each takes a round trip, except for those whose outcome shows
 * in a later one: the BEGIN of a transaction, and statements that are declared so. They are queued
 * in libpq, and sent together with the next statement, or with the commit.
 */
#include "store/postgresql.h"

#define pq mishap_libpq

static bool send_one(const postgresql_store *store, const postgresql_order *order)
{
    return order->text
               ? pq.PQsendQueryParams(store->connection, order->text, 0, NULL, NULL, NULL, NULL, 0)
               : pq.PQsendQueryPrepared(store->connection, order->name, order->count, store->values,
                                        store->lengths, store->formats, 0);
}

/* If the queue cannot be used any more, its connection is closed. */
static void give_up(postgresql_store *store)
{
    mishap_postgresql_disconnect(store);
}

bool mishap_postgresql_queue(postgresql_store *store, const postgresql_order *order)
{
    static const postgresql_order begin = { .text = "BEGIN ISOLATION LEVEL SERIALIZABLE" };
    bool sent = store->queued || pq.PQenterPipelineMode(store->connection);
    if (sent && store->begins) {
        sent = send_one(store, &begin);
        store->queued += sent;
        store->begins = !sent;
    }
    if (sent) {
        sent = send_one(store, order);
        store->queued += sent;
    }
    if (!sent)
        give_up(store);
    return sent;
}

/* The result of one statement; a NULL separates it from those of the next one. */
static pq_result *read_one(const postgresql_store *store)
{
    pq_result *result = pq.PQgetResult(store->connection);
    for (pq_result *more = result; more;) {
        more = pq.PQgetResult(store->connection);
        pq.PQclear(more);
    }
    return result;
}

static bool is_fine(const pq_result *result)
{
    int status = result ? pq.PQresultStatus(result) : -1;
    return status == PQ_COMMAND_OK || status == PQ_TUPLES_OK;
}

/* After a failure PostgreSQL skips the rest of the queue, so the first failure counts. */
pq_result *mishap_postgresql_settle(postgresql_store *store)
{
    pq_result *result = NULL;
    bool alive = pq.PQpipelineSync(store->connection);
    for (int i = 0; i < store->queued && alive; i++) {
        pq_result *next = read_one(store);
        alive = next && pq.PQstatus(store->connection) == PQ_CONNECTION_OK;
        if (i > 0 && !is_fine(result)) {
            pq.PQclear(next);
        } else {
            pq.PQclear(result);
            result = next;
        }
    }
    if (alive) {
        pq_result *end = pq.PQgetResult(store->connection); /* of the queue */
        alive = end && pq.PQresultStatus(end) == PQ_PIPELINE_SYNC &&
                pq.PQexitPipelineMode(store->connection);
        pq.PQclear(end);
    }
    store->queued = 0;
    if (!alive)
        give_up(store);
    return result;
}

pq_result *mishap_postgresql_send(postgresql_store *store, const postgresql_order *order)
{
    if (!store->queued && !store->begins)
        return order->text ? pq.PQexec(store->connection, order->text)
                           : pq.PQexecPrepared(store->connection, order->name, order->count,
                                               store->values, store->lengths, store->formats, 0);
    return mishap_postgresql_queue(store, order) ? mishap_postgresql_settle(store) : NULL;
}
