/*
 * Sending statements to PostgreSQL. Each takes a round trip, except for those whose outcome shows
 * in a later one: the BEGIN of a transaction, and statements that are declared so. They are queued
 * in libpq, and sent together with the next statement, or with the commit.
 *
 * Through a pooler the next transaction may be on another connection, so a transaction sets what it
 * needs for itself, and a single statement is a transaction.
 */
#include "store/postgresql.h"

#define pq mishap_libpq

static bool send_one(const postgresql_store *store, const postgresql_order *order)
{
    return order->text ? pq.PQsendQueryParams(store->connection, order->text, order->count, NULL,
                                              store->values, store->lengths, store->formats, 0)
                       : pq.PQsendQueryPrepared(store->connection, order->name, order->count,
                                                store->values, store->lengths, store->formats, 0);
}

/* If the queue cannot be used any more, its connection is closed. */
static void give_up(postgresql_store *store)
{
    mishap_postgresql_disconnect(store);
}

static bool add_to_queue(postgresql_store *store, const postgresql_order *order)
{
    bool sent = send_one(store, order);
    store->queued += sent;
    return sent;
}

static bool add_text(postgresql_store *store, const char *text)
{
    return add_to_queue(store, &(postgresql_order){ .text = text });
}

bool mishap_postgresql_queue(postgresql_store *store, const postgresql_order *order)
{
    bool sent = store->queued || pq.PQenterPipelineMode(store->connection);
    if (sent && store->begins) {
        sent = add_text(store, "BEGIN ISOLATION LEVEL SERIALIZABLE");
        store->begins = !sent;
        if (sent && store->pooled)
            sent = add_text(store, store->settings);
    }
    if (sent)
        sent = add_to_queue(store, order);
    if (!sent)
        give_up(store);
    return sent;
}

/* The result of one statement; a NULL separates it from those of the next one. */
static pq_result *read_one(postgresql_store *store, int64_t until_ms)
{
    pq_result *result = mishap_postgresql_next(store, until_ms);
    for (pq_result *more = result; more;) {
        more = mishap_postgresql_next(store, until_ms);
        pq.PQclear(more);
    }
    return result;
}

static bool is_fine(const pq_result *result)
{
    int status = result ? pq.PQresultStatus(result) : -1;
    return status == PQ_COMMAND_OK || status == PQ_TUPLES_OK;
}

/* Wait for the queue: the result of the statement with this number in it, or the first that failed.
 * After a failure PostgreSQL skips the rest of the queue. */
static pq_result *settle_queue(postgresql_store *store, int wanted)
{
    pq_result *result = NULL;
    bool alive = pq.PQpipelineSync(store->connection);
    int64_t until_ms = mishap_postgresql_until(store);
    for (int i = 0; i < store->queued && alive; i++) {
        pq_result *next = read_one(store, until_ms);
        alive = next && store->connection && pq.PQstatus(store->connection) == PQ_CONNECTION_OK;
        if (i > 0 && (!is_fine(result) || (i > wanted && is_fine(next)))) {
            pq.PQclear(next);
        } else {
            pq.PQclear(result);
            result = next;
        }
    }
    if (alive) {
        pq_result *end = mishap_postgresql_next(store, until_ms); /* of the queue */
        alive = end && pq.PQresultStatus(end) == PQ_PIPELINE_SYNC &&
                pq.PQexitPipelineMode(store->connection);
        pq.PQclear(end);
    }
    store->queued = 0;
    if (!alive)
        give_up(store);
    return result;
}

pq_result *mishap_postgresql_settle(postgresql_store *store)
{
    return settle_queue(store, store->queued - 1);
}

/* One statement as a transaction with its settings. If it fails, the transaction is still open. */
static pq_result *send_alone(postgresql_store *store, const postgresql_order *order)
{
    if (!pq.PQenterPipelineMode(store->connection) || !add_text(store, "BEGIN") ||
        !add_text(store, store->settings) || !add_to_queue(store, order) ||
        !add_text(store, "COMMIT")) {
        give_up(store);
        return NULL;
    }
    pq_result *result = settle_queue(store, 2);
    if (store->connection && !is_fine(result))
        pq.PQclear(mishap_postgresql_run(store, "ROLLBACK", mishap_postgresql_until(store)));
    return result;
}

pq_result *mishap_postgresql_send(postgresql_store *store, const postgresql_order *order)
{
    if (store->queued || store->begins)
        return mishap_postgresql_queue(store, order) ? mishap_postgresql_settle(store) : NULL;
    if (store->pooled && store->base.depth == 0)
        return send_alone(store, order);
    if (order->text && !order->count)
        return mishap_postgresql_run(store, order->text, mishap_postgresql_until(store));
    /* Outside of a transaction the statement is done before its commit, which may still fail. */
    return send_one(store, order) ? mishap_postgresql_all(store, mishap_postgresql_until(store))
                                  : NULL;
}
