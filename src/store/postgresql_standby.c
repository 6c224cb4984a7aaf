/*
 * Reads that a standby may run (mishap_setup.stale_ms). A standby must be proven to have all that
 * the call must see; else the read goes to the primary, as all others do.
 *
 * The clocks of the servers are not compared, and no right is needed. From time to time the primary
 * is asked how far its log has come: that is a mark. All that was acknowledged before the question
 * was sent lies before the position in the answer. A standby that has replayed the position of a
 * mark is therefore no further behind than the mark is old. The oldest mark is used that is young
 * enough: so a standby has time to replay it, also while the primary changes much. An idle primary
 * makes no standby look old, since its marks do not move.
 *
 * A read is sent together with the question where the standby is, in one round trip: the standby
 * answers the question first, and reads only then. What it answers is not used if it is behind, if
 * it has been promoted, or if it follows another timeline than that of the primary: positions of
 * two timelines cannot be compared. The standby knows its timeline from its control file, which may
 * be some minutes late after a failover; until then it is not used.
 *
 * A call sees no older state than it has seen before: after a read at the primary it stays there,
 * and another standby must have replayed what the one before had.
 *
 * Nothing here may cost a call more than a moment. Connecting goes on in steps, a few milliseconds
 * for each call; a standby that does not say at once where it is, is left alone for a while.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "operation/call.h"
#include "store/postgresql.h"

#define pq mishap_libpq

enum {
    BUDGET_MS = 5,      /* of a call, for connecting */
    PROGRESS_MS = 3000, /* connecting must go on within that time */
    ASK_MS = 250,       /* for the answer where a standby is */
    POSITION_MS = 1000, /* for the answer how far the log of the primary has come */
    AGAIN_MS = 1000,    /* after a standby could not be used at all */
    BEHIND_MS = 100,    /* … or was behind, at most */
    ROTATE_MS = 2000,   /* a standby that is behind for so long is left for another */
};

/* -- connecting -------------------------------------------------------------------------------- */

bool mishap_postgresql_has_standbys(const mishap_store *base)
{
    postgresql_hosts hosts;
    mishap_postgresql_read_hosts((const postgresql_store *)base, &hosts);
    return hosts.count > 1;
}

static void give_up(postgresql_store *store, int pause_ms)
{
    postgresql_standby *reader = &store->reader;
    if (reader->connection)
        pq.PQfinish(reader->connection);
    reader->connection = NULL;
    reader->not_before_ms = mishap_store_now_ms() + pause_ms;
    reader->behind_ms = 0;
    for (size_t i = 0; i < store->base.schema->statement_count; i++)
        store->statements[i].at_standby = false;
}

void mishap_postgresql_end_standby(postgresql_store *store)
{
    if (store->reader.connection)
        give_up(store, 0);
}

static void ignore_notice(void *state, const pq_result *notice)
{
    (void)state;
    (void)notice;
}

/* Processes begin with different hosts, so that all standbys are used. */
static void begin_host(postgresql_store *store)
{
    postgresql_standby *reader = &store->reader;
    postgresql_hosts hosts;
    postgresql_options options;
    mishap_postgresql_read_hosts(store, &hosts);
    if (!reader->next)
        reader->next = (size_t)getpid();
    size_t number = reader->next++ % hosts.count;
    if (number == store->host)
        number = reader->next++ % hosts.count;
    mishap_postgresql_set_options(store, &hosts, number, "standby", &options);
    reader->connection = pq.PQconnectStartParams(options.keywords, options.values, 1);
    reader->state = STORE_STANDBY_CONNECTS;
    reader->wants = PQ_POLLING_WRITING;
    reader->hosts = hosts.count;
    reader->moved_ms = mishap_store_now_ms();
}

typedef enum step { STEP_MADE, STEP_WAITS, STEP_FAILED } step;

/* All of it in one text, so that it takes one round trip. */
static step send_set_up(postgresql_store *store)
{
    static const char form[] =
        "%s; PREPARE mishap_place AS SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() -"
        " '0/0'::pg_lsn, greatest(c.timeline_id, r.min_recovery_end_timeline)"
        " FROM pg_control_checkpoint() c, pg_control_recovery() r;"
        " SELECT pg_backend_pid(), system_identifier, identity, version"
        " FROM pg_control_system(), store";
    postgresql_standby *reader = &store->reader;
    char sql[STORE_SETTINGS + sizeof form];
    snprintf(sql, sizeof sql, form, store->settings);
    pq.PQsetNoticeReceiver(reader->connection, ignore_notice, NULL);
    if (pq.PQsetnonblocking(reader->connection, 1) != 0 || !pq.PQsendQuery(reader->connection, sql))
        return STEP_FAILED;
    reader->state = STORE_STANDBY_SETS_UP;
    reader->wants = PQ_POLLING_READING;
    reader->sound = false;
    return STEP_MADE;
}

/* Is it a copy of the primary's tables, and not a pooler, which may lead elsewhere the next time?
 */
static bool is_same_store(const postgresql_store *store, const pq_result *result)
{
    enum { PID, CLUSTER, IDENTITY, VERSION, COLUMNS };
    if (pq.PQresultStatus(result) != PQ_TUPLES_OK || pq.PQnfields(result) != COLUMNS ||
        pq.PQntuples(result) != 1)
        return false;
    uint64_t cluster = strtoull(pq.PQgetvalue(result, 0, CLUSTER), NULL, 10);
    return strtol(pq.PQgetvalue(result, 0, PID), NULL, 10) ==
               pq.PQbackendPID(store->reader.connection) &&
           cluster && cluster == store->timelines.cluster &&
           strcmp(pq.PQgetvalue(result, 0, IDENTITY), store->base.identity) == 0 &&
           strtol(pq.PQgetvalue(result, 0, VERSION), NULL, 10) ==
               mishap_store_newest(store->base.schema->postgresql);
}

static step hear_set_up(postgresql_store *store)
{
    postgresql_standby *reader = &store->reader;
    if (!pq.PQconsumeInput(reader->connection))
        return STEP_FAILED;
    while (!pq.PQisBusy(reader->connection)) {
        pq_result *result = pq.PQgetResult(reader->connection);
        if (!result) {
            reader->state = STORE_STANDBY_READY;
            return reader->sound ? STEP_MADE : STEP_FAILED;
        }
        reader->sound = is_same_store(store, result);
        pq.PQclear(result);
    }
    return STEP_MADE;
}

static step make_step(postgresql_store *store, int wait_ms)
{
    postgresql_standby *reader = &store->reader;
    if (!reader->connection || pq.PQstatus(reader->connection) == PQ_CONNECTION_BAD ||
        pq.PQflush(reader->connection) < 0)
        return STEP_FAILED;
    struct pollfd socket = { .fd = pq.PQsocket(reader->connection),
                             .events = reader->wants == PQ_POLLING_WRITING ? POLLOUT : POLLIN };
    if (poll(&socket, 1, wait_ms) <= 0)
        return STEP_WAITS;
    if (reader->state == STORE_STANDBY_SETS_UP)
        return hear_set_up(store);
    reader->wants = pq.PQconnectPoll(reader->connection);
    if (reader->wants == PQ_POLLING_OK)
        return send_set_up(store);
    return reader->wants == PQ_POLLING_FAILED ? STEP_FAILED : STEP_MADE;
}

/* Go on with connecting. True: there is a connection that may be used now. */
static bool is_connected(postgresql_store *store)
{
    postgresql_standby *reader = &store->reader;
    int64_t now = mishap_store_now_ms(), until = now + BUDGET_MS;
    if (now < reader->not_before_ms)
        return false;
    if (!reader->connection)
        begin_host(store);
    for (; reader->state != STORE_STANDBY_READY; now = mishap_store_now_ms()) {
        if (now > until)
            return false;
        step made = make_step(store, (int)(until - now));
        if (made == STEP_MADE)
            reader->moved_ms = mishap_store_now_ms();
        if (made == STEP_FAILED ||
            (made == STEP_WAITS && mishap_store_now_ms() - reader->moved_ms > PROGRESS_MS)) {
            give_up(store, AGAIN_MS);
            return false;
        }
    }
    return true;
}

/* -- marks ------------------------------------------------------------------------------------- */

void mishap_postgresql_forget_marks(postgresql_store *store)
{
    memset(store->reader.marks, 0, sizeof store->reader.marks);
}

/* Where records are inserted, which is not before where they are written: so it is behind every
 * change that can be seen. */
uint64_t mishap_postgresql_position(mishap_store *base)
{
    static const char question[] = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn";
    postgresql_store *store = (postgresql_store *)base;
    uint64_t position = 0;
    if (!store->connection || store->standby || base->depth > 0)
        return 0;
    pq_result *result = mishap_postgresql_run(store, question, mishap_store_now_ms() + POSITION_MS);
    if (result && pq.PQresultStatus(result) == PQ_TUPLES_OK && pq.PQntuples(result) == 1)
        position = strtoull(pq.PQgetvalue(result, 0, 0), NULL, 10);
    pq.PQclear(result);
    return position;
}

static void take_mark(postgresql_store *store)
{
    postgresql_mark *marks = store->reader.marks;
    postgresql_mark mark = { .at_ms = mishap_store_now_ms() };
    mark.position = mishap_postgresql_position(&store->base);
    if (!mark.position)
        return;
    memmove(marks + 1, marks, (STORE_MARKS - 1) * sizeof *marks);
    marks[0] = mark;
}

/* What a standby must have replayed for a read that begins now. False: that is not known. */
static bool find_mark(postgresql_store *store, uint64_t *position)
{
    const postgresql_mark *marks = store->reader.marks;
    int64_t begun_ms = store->base.begun_ms, stale_ms = store->base.stale_ms;
    bool found = false;
    if (!marks[0].at_ms || begun_ms - marks[0].at_ms > stale_ms / 2)
        take_mark(store);
    for (size_t i = 0; i < STORE_MARKS; i++)
        if (marks[i].at_ms && begun_ms - marks[i].at_ms <= stale_ms) {
            *position = marks[i].position;
            found = true;
        }
    return found;
}

/* -- the question where a standby is ----------------------------------------------------------- */

typedef enum standby_place {
    PLACE_FINE,
    PLACE_SHORT,  /* it lacks what this caller must see */
    PLACE_BEHIND, /* … what every caller must see */
    PLACE_OTHER,  /* it follows another timeline, or does not say where it is */
    PLACE_NEWER,  /* it has left the primary: it was promoted, or follows another */
} standby_place;

/* What the read must see. */
typedef struct standby_needs {
    uint64_t mark, after;
} standby_needs;

static standby_place judge(const postgresql_store *store, const pq_result *result,
                           const standby_needs *wanted, uint64_t *replayed)
{
    enum { RECOVERS, REPLAYED, TIMELINE, COLUMNS };
    if (!result || pq.PQresultStatus(result) != PQ_TUPLES_OK || pq.PQntuples(result) != 1 ||
        pq.PQnfields(result) != COLUMNS)
        return PLACE_OTHER;
    unsigned long timeline = strtoul(pq.PQgetvalue(result, 0, TIMELINE), NULL, 10);
    *replayed = strtoull(pq.PQgetvalue(result, 0, REPLAYED), NULL, 10); /* NULL is empty */
    if (*pq.PQgetvalue(result, 0, RECOVERS) != 't' || timeline > store->timelines.timeline)
        return PLACE_NEWER;
    if (timeline != store->timelines.timeline)
        return PLACE_OTHER;
    if (*replayed < wanted->mark)
        return PLACE_BEHIND;
    return *replayed < wanted->after ? PLACE_SHORT : PLACE_FINE;
}

/* What follows for the next reads. A caller can ask for a position that no standby has; that must
 * not keep others from it. */
static void mind_place(postgresql_store *store, standby_place place)
{
    postgresql_standby *reader = &store->reader;
    int64_t now = mishap_store_now_ms();
    int pause_ms = store->base.stale_ms / 4;
    if (place == PLACE_FINE || place == PLACE_SHORT) {
        reader->behind_ms = 0;
    } else if (place == PLACE_BEHIND) {
        reader->behind_ms = reader->behind_ms ? reader->behind_ms : now;
        reader->not_before_ms = now + (pause_ms < BEHIND_MS ? pause_ms : BEHIND_MS);
        if (reader->hosts > 2 && now - reader->behind_ms > ROTATE_MS)
            give_up(store, 0);
    } else {
        store->stale = store->stale || place == PLACE_NEWER;
        give_up(store, AGAIN_MS);
    }
}

/* -- reading ----------------------------------------------------------------------------------- */

static pq_result *next_result(pq_connection *connection, int64_t until_ms, bool *alive)
{
    *alive = *alive && mishap_postgresql_wait(connection, until_ms);
    return *alive ? pq.PQgetResult(connection) : NULL;
}

/* The result of one statement; a NULL separates it from those of the next one. */
static pq_result *read_one(pq_connection *connection, int64_t until_ms, bool *alive)
{
    pq_result *result = next_result(connection, until_ms, alive);
    for (pq_result *more = result; more;) {
        more = next_result(connection, until_ms, alive);
        pq.PQclear(more);
    }
    *alive = *alive && result && pq.PQstatus(connection) == PQ_CONNECTION_OK;
    return result;
}

static void read_end(pq_connection *connection, int64_t until_ms, bool *alive)
{
    pq_result *end = next_result(connection, until_ms, alive);
    *alive = *alive && end && pq.PQresultStatus(end) == PQ_PIPELINE_SYNC;
    pq.PQclear(end);
}

static bool send_text(const postgresql_store *store, size_t number, const char *name)
{
    const mishap_statement *declared = &store->base.schema->statements[number];
    postgresql_statement unused = { 0 };
    mishap_buffer sql;
    mishap_buffer_init(&sql, NULL, 0);
    bool sent = mishap_postgresql_translate(
                    declared->postgresql ? declared->postgresql : declared->text, &unused, &sql) &&
                !sql.failed && pq.PQsendPrepare(store->reader.connection, name, sql.data, 0, NULL);
    mishap_buffer_release(&sql);
    return sent;
}

/* The question, and then the read, each as a transaction of its own: so the read sees what was
 * replayed when the question was answered, at each level of isolation that may be set there. */
static bool send_both(const postgresql_store *store, size_t number)
{
    pq_connection *connection = store->reader.connection;
    const postgresql_statement *statement = &store->statements[number];
    char name[24];
    snprintf(name, sizeof name, "s%zu", number);
    return pq.PQenterPipelineMode(connection) &&
           pq.PQsendQueryPrepared(connection, "mishap_place", 0, NULL, NULL, NULL, 0) &&
           pq.PQpipelineSync(connection) &&
           (statement->at_standby || send_text(store, number, name)) &&
           pq.PQsendQueryPrepared(connection, name, statement->count, store->values, store->lengths,
                                  store->formats, 0) &&
           pq.PQpipelineSync(connection);
}

/* Read what comes after the answer to the question, in any case: the connection is used again. */
static pq_result *read_rest(postgresql_store *store, size_t number, int64_t until_ms, bool *alive)
{
    pq_connection *connection = store->reader.connection;
    postgresql_statement *statement = &store->statements[number];
    if (!statement->at_standby) {
        pq_result *prepared = read_one(connection, until_ms, alive);
        statement->at_standby = prepared && pq.PQresultStatus(prepared) == PQ_COMMAND_OK;
        pq.PQclear(prepared);
    }
    pq_result *result = read_one(connection, until_ms, alive);
    read_end(connection, until_ms, alive);
    *alive = *alive && pq.PQexitPipelineMode(connection);
    return result;
}

/* NULL: it cannot be read there. */
static pq_result *read_there(postgresql_store *store, size_t number, const standby_needs *wanted,
                             uint64_t *replayed)
{
    pq_connection *connection = store->reader.connection;
    int64_t asked_until = mishap_store_now_ms() + ASK_MS;
    bool alive = send_both(store, number);
    pq_result *answer = read_one(connection, asked_until, &alive), *result = NULL;
    read_end(connection, asked_until, &alive);
    standby_place place = judge(store, answer, wanted, replayed);
    pq.PQclear(answer);
    if (alive)
        result = read_rest(store, number,
                           place == PLACE_FINE ? mishap_postgresql_until(store)
                                               : mishap_store_now_ms() + ASK_MS,
                           &alive);
    if (alive)
        mind_place(store, place);
    else
        give_up(store, AGAIN_MS);
    if (alive && place == PLACE_FINE && pq.PQresultStatus(result) == PQ_TUPLES_OK)
        return result;
    pq.PQclear(result);
    return NULL;
}

static bool may_be_elsewhere(const mishap_query *query)
{
    const postgresql_store *store = (const postgresql_store *)query->store;
    const mishap_call *call = store->base.call;
    return call && call->operation->stale && !call->within && !query->writes &&
           !store->base.wrote && store->base.depth == 0 &&
           store->base.reads != STORE_READS_AT_PRIMARY && call->log_after != MISHAP_LOG_UNKNOWN &&
           store->connection && !store->standby && !store->pooled;
}

bool mishap_postgresql_read_at_standby(mishap_query *query)
{
    postgresql_store *store = (postgresql_store *)query->store;
    mishap_call *call = store->base.call;
    standby_needs wanted = { 0 };
    uint64_t replayed = 0;
    pq_result *result = NULL;
    if (may_be_elsewhere(query) && is_connected(store) && find_mark(store, &wanted.mark)) {
        wanted.after = call->log_after > call->log_position ? call->log_after : call->log_position;
        result = read_there(store, query->statement, &wanted, &replayed);
    }
    store->base.reads = result ? STORE_READS_AT_STANDBY : STORE_READS_AT_PRIMARY;
    if (!result)
        return false;
    call->log_position = replayed > call->log_position ? replayed : call->log_position;
    mishap_tally_add(MISHAP_TALLY_STANDBY_QUERIES);
    pq.PQclear(store->result);
    store->result = result;
    query->row = -1;
    return true;
}
