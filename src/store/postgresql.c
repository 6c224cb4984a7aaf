/* Queries and transactions on PostgreSQL. */
#include "store/postgresql.h"

#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define pq mishap_libpq

static postgresql_store *store_of(const mishap_query *query)
{
    return (postgresql_store *)query->store;
}

/* -- what went wrong --------------------------------------------------------------------------- */

/* By SQLSTATE: five letters, of which the first two are a class. */
static store_trouble trouble_of_state(const char *state)
{
    static const struct {
        const char *state;
        store_trouble trouble;
    } known[] = {
        { "23505", STORE_TAKEN },                              /* unique_violation */
        { "23503", STORE_DANGLING }, { "40001", STORE_AGAIN }, /* serialization_failure */
        { "40P01", STORE_AGAIN },                              /* deadlock_detected */
        { "55P03", STORE_BUSY },    /* lock_not_available: the lock timeout is over */
        { "57014", STORE_BUSY },    /* query_canceled: the administrator's limit */
        { "53300", STORE_BUSY },    /* too_many_connections */
        { "53100", STORE_FULL },    /* disk_full */
        { "XX001", STORE_DAMAGED }, /* data_corrupted */
        { "XX002", STORE_DAMAGED }, /* index_corrupted */
        { "42P01", STORE_DAMAGED }, /* undefined_table */
        { "58P01", STORE_DAMAGED }, /* undefined_file */
        { "25006", STORE_STANDBY }, /* read_only_sql_transaction */
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].state, state) == 0)
            return known[i].trouble;
    return STORE_BROKEN;
}

store_trouble mishap_postgresql_trouble(const postgresql_store *store, const pq_result *result)
{
    int status = result ? pq.PQresultStatus(result) : -1;
    if (status == PQ_TUPLES_OK || status == PQ_COMMAND_OK)
        return STORE_FINE;
    if (!store->connection || pq.PQstatus(store->connection) != PQ_CONNECTION_OK)
        return STORE_LOST;
    const char *state = result ? pq.PQresultErrorField(result, PQ_SQLSTATE) : NULL;
    if (state && store->standby && strcmp(state, "0A000") == 0)
        return STORE_STANDBY; /* it has no serializable transactions */
    return state ? trouble_of_state(state) : STORE_BROKEN;
}

mishap *mishap_postgresql_failure(const postgresql_store *store, const pq_result *result,
                                  store_trouble trouble)
{
    const char *words = result ? pq.PQresultErrorMessage(result) : "";
    const char *state = result ? pq.PQresultErrorField(result, PQ_SQLSTATE) : NULL;
    if (mishap_store_is_refusal(trouble))
        return mishap_store_failure(trouble);
    if (!*words && store->connection)
        words = pq.PQerrorMessage(store->connection);
    if (!store->connection && store->late)
        words = "It did not answer in time.";
    else if (trouble == STORE_STANDBY)
        words = "No PostgreSQL of the address takes changes.";
    mishap *m = mishap_note(mishap_store_failure(trouble), "postgresql",
                            trouble == STORE_UNSAFE ? store->warning : words);
    return state ? mishap_note(m, "sqlstate", state) : m;
}

/* -- a connection to run it on ----------------------------------------------------------------- */

/* PostgreSQL sends nothing to an idle connection, unless it ends it: then first the reason, and
 * then the end. Noticing that before a statement is sent keeps the outcome certain. */
static bool has_ended(const postgresql_store *store)
{
    enum { MOST_READS = 8 };
    for (int i = 0; i < MOST_READS; i++) {
        struct pollfd socket = { .fd = pq.PQsocket(store->connection), .events = POLLIN };
        if (poll(&socket, 1, 0) <= 0)
            break;
        if (!pq.PQconsumeInput(store->connection))
            return true;
    }
    return pq.PQstatus(store->connection) != PQ_CONNECTION_OK;
}

/* Make sure that there is a connection; a mishap: there is none. A transaction must stay on the
 * connection on which it began. */
static mishap *be_connected(postgresql_store *store)
{
    if (store->base.depth > 0)
        return store->connection ? NULL : mishap_store_failure(STORE_LOST);
    if (store->connection &&
        (store->stale || mishap_timelines_overtaken(&store->timelines) || has_ended(store)))
        mishap_postgresql_disconnect(store);
    mishap *failure = store->connection ? NULL : mishap_postgresql_connect_again(store);
    return failure ? mishap_store_lost(&store->base, failure) : NULL;
}

static const char *text_of(const postgresql_store *store, size_t statement)
{
    const mishap_statement *declared = &store->base.schema->statements[statement];
    return declared->postgresql ? declared->postgresql : declared->text;
}

static void name_of(size_t statement, char name[24])
{
    snprintf(name, 24, "s%zu", statement);
}

/* A failure is kept until the end of the query. */
static void keep_failure(postgresql_store *store, const pq_result *result, store_trouble trouble)
{
    mishap_free(store->failure);
    store->trouble = trouble;
    if (trouble == STORE_STANDBY) {
        store->stale = true;
        store->turn = store->host + 1;
    }
    store->failure = trouble == STORE_FINE ? NULL
                                           : mishap_postgresql_failure(store, result, trouble);
}

/* Preparing is not queued: the queued statements come first, and may fail. */
static pq_result *prepare_text(postgresql_store *store, const char *name, const char *text)
{
    pq_result *result = NULL;
    if (store->queued) {
        result = mishap_postgresql_settle(store);
        if (mishap_postgresql_trouble(store, result) != STORE_FINE || !store->connection)
            return result;
        pq.PQclear(result);
    }
    return mishap_postgresql_prepare(store, name, text);
}

/* Through a pooler the text is sent each time: another connection does not know the name. */
static void keep_text(postgresql_store *store, postgresql_statement *statement,
                      const mishap_buffer *sql)
{
    statement->sql = mishap_allocate(sql->length);
    if (statement->sql) {
        memcpy(statement->sql, sql->data, sql->length);
        return;
    }
    store->trouble = STORE_BROKEN;
    store->failure = mishap_out_of_memory();
}

static void prepare_statement(postgresql_store *store, size_t number)
{
    postgresql_statement *statement = &store->statements[number];
    char name[24];
    mishap_buffer sql;
    mishap_buffer_init(&sql, NULL, 0);
    *statement = (postgresql_statement){ .at_standby = statement->at_standby };
    name_of(number, name);
    if (!mishap_postgresql_translate(text_of(store, number), statement, &sql)) {
        store->trouble = STORE_BROKEN;
        store->failure = mishap_raise(INTERNAL_ERROR, "A statement has a place beyond ?%d.",
                                      MISHAP_STORE_PLACES);
    } else if (sql.failed) {
        store->trouble = STORE_BROKEN;
        store->failure = mishap_out_of_memory();
    } else if (store->pooled) {
        keep_text(store, statement, &sql);
    } else {
        pq_result *result = prepare_text(store, name, sql.data);
        keep_failure(store, result, mishap_postgresql_trouble(store, result));
        pq.PQclear(result);
    }
    statement->prepared = store->trouble == STORE_FINE;
    mishap_buffer_release(&sql);
}

/* A connection on which the statement is prepared. Preparing changes nothing, so it is tried
 * twice. */
static mishap *be_ready(postgresql_store *store, size_t statement)
{
    mishap *failure = NULL;
    for (int attempt = 0; attempt < 2; attempt++) {
        keep_failure(store, NULL, STORE_FINE);
        failure = be_connected(store);
        if (failure || store->statements[statement].prepared)
            break;
        prepare_statement(store, statement);
        if (store->trouble != STORE_LOST)
            break;
        mishap_postgresql_disconnect(store);
    }
    return failure;
}

/* -- one query after the other ----------------------------------------------------------------- */

static void finish(postgresql_store *store)
{
    pq.PQclear(store->result);
    store->result = NULL;
    mishap_arena_release(&store->arena);
    mishap_free(store->failure);
    store->failure = NULL;
    store->base.running = false;
    if (store->connection && pq.PQstatus(store->connection) != PQ_CONNECTION_OK)
        mishap_postgresql_disconnect(store);
}

static void abandon(mishap_store *base)
{
    postgresql_store *store = (postgresql_store *)base;
    if (store->writes)
        mishap_store_note_trouble(base, STORE_BROKEN);
    finish(store);
}

static void begin(mishap_query *query)
{
    postgresql_store *store = store_of(query);
    store->base.begun_ms = mishap_store_now_ms();
    store->late = store->hurries = false;
    query->failure = be_ready(store, query->statement);
    if (query->failure)
        return;
    mishap_arena_init(&store->arena, store->storage, sizeof store->storage);
    memset(store->values, 0, sizeof store->values);
    store->writes = query->writes;
    store->base.running = true;
    query->row = -1;
}

/* -- values ------------------------------------------------------------------------------------ */

/* The decimal point of the program's locale; PostgreSQL always uses a point. */
static char local_point(void)
{
    return *localeconv()->decimal_point;
}

static mishap_text spelled(const store_value *value, char digits[40])
{
    if (value->kind == STORE_INTEGER)
        snprintf(digits, 40, "%lld", (long long)value->integer);
    else if (value->kind == STORE_BOOLEAN)
        snprintf(digits, 40, "%s", value->integer ? "t" : "f");
    else if (value->kind == STORE_DOUBLE)
        snprintf(digits, 40, "%.17g", value->real);
    else
        return value->text;
    char *point = value->kind == STORE_DOUBLE ? strchr(digits, local_point()) : NULL;
    if (point)
        *point = '.';
    return mishap_text_of(digits);
}

static void refuse_value(postgresql_store *store, const char *why)
{
    mishap_free(store->failure);
    store->trouble = STORE_BROKEN;
    store->failure = mishap_raise(INTERNAL_ERROR, "A value cannot be stored: %s.", why);
}

/* Values are bound as text, except for bytes; PostgreSQL converts them to the type that the
 * statement needs. libpq reads text up to its NUL. */
static void bind(mishap_query *query, int place, const store_value *value)
{
    postgresql_store *store = store_of(query);
    const postgresql_statement *statement = &store->statements[query->statement];
    char digits[40];
    if (place < 1 || place > MISHAP_STORE_PLACES || store->trouble != STORE_FINE) {
        if (store->trouble == STORE_FINE)
            refuse_value(store, "there is no such place");
        return;
    }
    if (!statement->position[place])
        return; /* as in SQLite: another statement of the same query may use it */
    int i = statement->position[place] - 1;
    mishap_text text = value->kind == STORE_NULL ? (mishap_text){ NULL, 0 }
                                                 : spelled(value, digits);
    store->formats[i] = value->kind == STORE_BLOB;
    store->lengths[i] = (int)text.length;
    if (!text.data) {
        store->values[i] = NULL;
    } else if (text.length > INT32_MAX ||
               (value->kind == STORE_TEXT && memchr(text.data, '\0', text.length) != NULL)) {
        refuse_value(store, "it is too long, or has a NUL in it");
    } else if (!(store->values[i] = mishap_arena_copy(&store->arena, text).data)) {
        mishap_free(store->failure);
        store->trouble = STORE_BROKEN;
        store->failure = mishap_out_of_memory();
    }
}

/* What is known of a change whose statement or commit has ended like this. */
static store_trouble trouble_of_change(postgresql_store *store, store_trouble trouble)
{
    if (trouble == STORE_LOST)
        return mishap_postgresql_leave(store);
    return trouble == STORE_FINE && *store->warning ? STORE_UNSAFE : trouble;
}

/* -- running it -------------------------------------------------------------------------------- */

/* A single change whose connection was lost may have been made; one with a warning was made, but is
 * not safe. */
static void run_once(mishap_query *query)
{
    postgresql_store *store = store_of(query);
    char name[24];
    const postgresql_statement *statement = &store->statements[query->statement];
    postgresql_order order = { .text = statement->sql, .name = name, .count = statement->count };
    bool changes = query->writes && store->base.depth == 0;
    name_of(query->statement, name);
    pq.PQclear(store->result);
    store->result = NULL;
    store->base.wrote = store->base.wrote || query->writes;
    if (store->base.depth > 0 && store->base.schema->statements[query->statement].later) {
        keep_failure(store, NULL, mishap_postgresql_queue(store, &order) ? STORE_FINE : STORE_LOST);
        query->row = 0; /* it was run, and has no row */
        return;
    }
    *store->warning = '\0';
    store->hurries = changes;
    store->result = mishap_postgresql_send(store, &order);
    store_trouble trouble = mishap_postgresql_trouble(store, store->result);
    if (changes)
        trouble = trouble_of_change(store, trouble);
    keep_failure(store, store->result, trouble);
}

/* Outside of a transaction, a read can be repeated after a lost connection, and any statement after
 * a deadlock. In a transaction, only the whole transaction can be repeated. */
static bool may_repeat(mishap_query *query, int attempt)
{
    postgresql_store *store = store_of(query);
    if (store->base.depth > 0 || attempt >= STORE_TRIES)
        return false;
    if (store->trouble == STORE_AGAIN) {
        mishap_store_pause_before(attempt);
        return mishap_store_now_ms() - store->base.begun_ms < MISHAP_STORE_PATIENCE;
    }
    if (store->trouble != STORE_LOST || attempt > 1)
        return false;
    mishap_postgresql_disconnect(store);
    mishap *failure = be_ready(store, query->statement);
    if (!failure)
        return store->trouble == STORE_FINE;
    mishap_free(store->failure);
    store->failure = failure;
    store->trouble = STORE_LOST;
    return false;
}

static bool step(mishap_query *query)
{
    postgresql_store *store = store_of(query);
    if (query->row < 0 && store->trouble == STORE_FINE &&
        !(store->base.stale_ms && mishap_postgresql_read_at_standby(query)))
        for (int attempt = 1;; attempt++) {
            run_once(query);
            if (store->trouble == STORE_FINE || !may_repeat(query, attempt))
                break;
        }
    if (store->trouble != STORE_FINE || !store->result)
        return false;
    query->row += query->row < pq.PQntuples(store->result);
    return query->row < pq.PQntuples(store->result);
}

/* -- rows -------------------------------------------------------------------------------------- */

/* NULL: the value is NULL in the store, or there is no such column. */
static const char *value_of(mishap_query *query, int column)
{
    const pq_result *result = store_of(query)->result;
    if (!result || query->row < 0 || query->row >= pq.PQntuples(result) || column < 0 ||
        column >= pq.PQnfields(result) || pq.PQgetisnull(result, query->row, column))
        return NULL;
    return pq.PQgetvalue(result, query->row, column);
}

static bool is_null(mishap_query *query, int column)
{
    return value_of(query, column) == NULL;
}

static int64_t integer(mishap_query *query, int column)
{
    const char *value = value_of(query, column);
    if (!value || *value == 'f')
        return 0;
    return *value == 't' ? 1 : strtoll(value, NULL, 10);
}

static double real(mishap_query *query, int column)
{
    const char *value = value_of(query, column);
    char local[64];
    if (!value)
        return 0;
    snprintf(local, sizeof local, "%s", value);
    char *point = strchr(local, '.');
    if (point)
        *point = local_point();
    return strtod(local, NULL);
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Bytes are sent as \x and two digits each. */
static mishap_text bytes_of(mishap_query *query, const char *value, size_t length)
{
    size_t count = length >= 2 ? (length - 2) / 2 : 0;
    char *bytes = mishap_arena_take(&store_of(query)->arena, count + 1);
    query->no_memory = query->no_memory || !bytes;
    if (!bytes)
        return (mishap_text){ NULL, 0 };
    for (size_t i = 0; i < count; i++)
        bytes[i] = (char)(digit(value[2 + 2 * i]) << 4 | digit(value[3 + 2 * i]));
    return (mishap_text){ bytes, count };
}

static mishap_text text(mishap_query *query, int column, bool blob)
{
    const char *value = value_of(query, column);
    if (!value)
        return (mishap_text){ NULL, 0 };
    size_t length = (size_t)pq.PQgetlength(store_of(query)->result, query->row, column);
    return blob && value[0] == '\\' && value[1] == 'x' ? bytes_of(query, value, length)
                                                       : (mishap_text){ value, length };
}

/* -- the end ----------------------------------------------------------------------------------- */

static mishap *end(mishap_query *query, store_trouble *trouble)
{
    postgresql_store *store = store_of(query);
    mishap *failure = store->failure;
    *trouble = store->trouble;
    store->failure = NULL;
    store->trouble = STORE_FINE;
    finish(store);
    return failure;
}

/* -- transactions ------------------------------------------------------------------------------ */

static mishap *run_text(postgresql_store *store, const char *text, store_trouble *trouble)
{
    bool commits = strcmp(text, "COMMIT") == 0;
    *store->warning = '\0'; /* warnings of queued statements come with the commit, and count */
    store->hurries = commits;
    pq_result *result = mishap_postgresql_send(store, &(postgresql_order){ .text = text });
    *trouble = mishap_postgresql_trouble(store, result);
    /* COMMIT of a failed transaction rolls back, without an error. */
    if (*trouble == STORE_FINE && commits && strcmp(pq.PQcmdStatus(result), "COMMIT") != 0)
        *trouble = STORE_BROKEN;
    else if (commits)
        *trouble = trouble_of_change(store, *trouble);
    mishap *failure = *trouble == STORE_FINE ? NULL
                                             : mishap_postgresql_failure(store, result, *trouble);
    pq.PQclear(result);
    if (store->connection && pq.PQstatus(store->connection) != PQ_CONNECTION_OK)
        mishap_postgresql_disconnect(store);
    return failure;
}

/* BEGIN is sent with the first statement. */
static mishap *begin_transaction(postgresql_store *store, store_trouble *trouble)
{
    store->base.begun_ms = mishap_store_now_ms();
    store->late = store->hurries = false;
    mishap *failure = be_connected(store);
    *trouble = failure ? STORE_BROKEN : STORE_FINE;
    store->begins = !failure;
    return failure;
}

/* If a queued statement has failed, PostgreSQL has not executed the commit. */
static mishap *commit(postgresql_store *store, store_trouble *trouble)
{
    bool queued = store->queued > 0;
    if (store->begins) { /* no statement was sent in it */
        store->begins = false;
        return NULL;
    }
    mishap *failure = run_text(store, "COMMIT", trouble);
    if (failure && queued && store->connection) {
        pq_result *result = mishap_postgresql_run(store, "ROLLBACK",
                                                  mishap_postgresql_until(store));
        if (mishap_postgresql_trouble(store, result) != STORE_FINE)
            mishap_postgresql_disconnect(store);
        pq.PQclear(result);
    }
    return failure;
}

/* If rolling back fails, closing the connection undoes the changes. */
static mishap *roll_back(postgresql_store *store, int level, store_trouble *trouble)
{
    bool begun = !store->begins;
    store->begins = false;
    if (begun && store->queued)
        pq.PQclear(mishap_postgresql_settle(store));
    if (!begun || !store->connection)
        return NULL;
    mishap *failure = run_text(store,
                               level == 1 ? "ROLLBACK"
                                          : "ROLLBACK TO SAVEPOINT store_level;"
                                            "RELEASE SAVEPOINT store_level",
                               trouble);
    if (failure && store->connection)
        mishap_postgresql_disconnect(store);
    if (level == 1)
        *trouble = STORE_FINE;
    return failure;
}

static mishap *transact(mishap_store *base, store_step step, int level, store_trouble *trouble)
{
    postgresql_store *store = (postgresql_store *)base;
    if (step == STORE_BEGIN && level == 1)
        return begin_transaction(store, trouble);
    if (step == STORE_ROLL_BACK)
        return roll_back(store, level, trouble);
    if (!store->connection) {
        *trouble = STORE_LOST;
        return mishap_store_failure(STORE_LOST);
    }
    if (level == 1)
        return commit(store, trouble);
    return run_text(store,
                    step == STORE_BEGIN ? "SAVEPOINT store_level" : "RELEASE SAVEPOINT store_level",
                    trouble);
}

/*
 * A row can be read here as soon as its commit has waited for the standby, or its wait was
 * cancelled. If the standby confirms a later commit, that confirms all earlier ones, since the log
 * is ordered. So this makes a commit that takes a lock and changes nothing. Outside of a
 * transaction it is a commit of its own; if its outcome is lost or unknown, it has to be repeated.
 */
static mishap *confirm(mishap_store *base, store_trouble *trouble)
{
    postgresql_store *store = (postgresql_store *)base;
    mishap *failure = be_connected(store);
    if (failure) {
        *trouble = STORE_LOST;
        return failure;
    }
    failure = run_text(store, "SELECT pg_logical_emit_message(true, 'mishap', 'confirm')", trouble);
    if (failure || base->depth > 0 || !*store->warning)
        return failure;
    *trouble = STORE_UNSAFE;
    return mishap_note(mishap_store_failure(*trouble), "postgresql", store->warning);
}

/* -- the engine -------------------------------------------------------------------------------- */

static void close_store(mishap_store *base)
{
    postgresql_store *store = (postgresql_store *)base;
    if (store->survey.asked)
        mishap_postgresql_end_survey(store);
    mishap_postgresql_end_standby(store);
    mishap_postgresql_disconnect(store);
    mishap_timelines_close(&store->timelines);
    mishap_free(store->failure);
    mishap_release(store);
}

const store_engine mishap_postgresql_engine = {
    .queries = MISHAP_TALLY_POSTGRESQL_QUERIES,
    .failures = MISHAP_TALLY_POSTGRESQL_FAILURES,
    .open = mishap_postgresql_open,
    .close = close_store,
    .begin = begin,
    .bind = bind,
    .step = step,
    .is_null = is_null,
    .integer = integer,
    .real = real,
    .text = text,
    .end = end,
    .abandon = abandon,
    .transact = transact,
    .confirm = confirm,
    .is_over = mishap_postgresql_is_over,
    .has_standbys = mishap_postgresql_has_standbys,
    .position = mishap_postgresql_position,
};
