/*
 * Waiting for answers of PostgreSQL. A server that hangs closes no connection, and a commit whose
 * standby is away waits for ever; so every wait has an end. When it is over, the connection is
 * closed: then the outcome of a statement is as if the connection had been lost. Its backend may go
 * on working or waiting, and is ended by the next connection that this process makes.
 */
#include <poll.h>

#include "operation/call.h"
#include "store/postgresql.h"

#define pq mishap_libpq

/* Of a change, the outcome should be told before the deadline of the call: a process that is killed
 * at the deadline can tell nothing, and leaves its backend. */
int64_t mishap_postgresql_until(const postgresql_store *store)
{
    const mishap_store *base = &store->base;
    int64_t now = mishap_store_now_ms();
    int64_t until = now + (base->answer_ms ? base->answer_ms : STORE_ANSWER_MS);
    if (base->until_ms && base->until_ms < until)
        until = base->until_ms;
    if (store->late && base->begun_ms + STORE_WHOLE_MS < until) /* it is repeated */
        until = base->begun_ms + STORE_WHOLE_MS;
    if (!store->hurries || !base->call)
        return until;
    int64_t left = mishap_call_time_left(base->call);
    if (left > STORE_CALL_MARGIN_MS && now + left - STORE_CALL_MARGIN_MS < until)
        until = now + left - STORE_CALL_MARGIN_MS;
    return until;
}

/* If the connection is lost, PQgetResult() says so without waiting. */
bool mishap_postgresql_wait(pq_connection *connection, int64_t until_ms)
{
    for (;;) {
        int unsent = pq.PQflush(connection);
        if (unsent < 0 || !pq.PQisBusy(connection))
            return true;
        struct pollfd socket = { .fd = pq.PQsocket(connection),
                                 .events = (short)(POLLIN | (unsent ? POLLOUT : 0)) };
        int64_t left = until_ms - mishap_store_now_ms();
        if (left <= 0)
            return false;
        if (poll(&socket, 1, left > 60000 ? 60000 : (int)left) > 0 &&
            !pq.PQconsumeInput(connection))
            return true;
    }
}

static bool is_copy(const pq_result *result)
{
    int status = result ? pq.PQresultStatus(result) : PQ_COMMAND_OK;
    return status == PQ_COPY_OUT || status == PQ_COPY_IN;
}

pq_result *mishap_postgresql_next(postgresql_store *store, int64_t until_ms)
{
    if (!store->connection)
        return NULL;
    if (mishap_postgresql_wait(store->connection, until_ms)) {
        pq_result *result = pq.PQgetResult(store->connection);
        if (is_copy(result)) /* COPY would wait for rows, or send them for ever */
            mishap_postgresql_disconnect(store);
        return result;
    }
    store->late = true;
    store->turn = store->host + 1;
    store->left = store->pooled ? (postgresql_backend){ 0 } : store->backend;
    mishap_postgresql_disconnect(store);
    return NULL;
}

static bool is_fine(const pq_result *result)
{
    int status = pq.PQresultStatus(result);
    return status == PQ_COMMAND_OK || status == PQ_TUPLES_OK;
}

/* All results of what was sent: the last one, or the first that failed. */
pq_result *mishap_postgresql_all(postgresql_store *store, int64_t until_ms)
{
    pq_result *result = NULL, *next;
    while ((next = mishap_postgresql_next(store, until_ms)) != NULL) {
        pq_result *other = result && !is_fine(result) ? next : result;
        result = other == next ? result : next;
        pq.PQclear(other);
    }
    if (!store->connection) { /* what came before the time was over says nothing about the rest */
        pq.PQclear(result);
        result = NULL;
    }
    return result;
}

pq_result *mishap_postgresql_run(postgresql_store *store, const char *text, int64_t until_ms)
{
    if (!pq.PQsendQuery(store->connection, text))
        return NULL;
    return mishap_postgresql_all(store, until_ms);
}

pq_result *mishap_postgresql_prepare(postgresql_store *store, const char *name, const char *text)
{
    if (!pq.PQsendPrepare(store->connection, name, text, 0, NULL))
        return NULL;
    return mishap_postgresql_all(store, mishap_postgresql_until(store));
}
