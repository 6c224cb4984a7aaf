/* Setting a connection to PostgreSQL up, the tables of a service and their identity. */
#include "store/postgresql.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define pq mishap_libpq

/* -- the connection --------------------------------------------------------------------------- */

/*
 * Keep the first warning. A warning at a commit says that the change is less safe than it should
 * be: the wait for a synchronous standby was cancelled, and the server has committed alone.
 * Warnings of a service's own trigger (RAISE WARNING) are something else, and other notices are
 * ignored.
 */
static void hear_notice(void *state, const pq_result *notice)
{
    postgresql_store *store = state;
    const char *severity = pq.PQresultErrorField(notice, PQ_SEVERITY);
    const char *source = pq.PQresultErrorField(notice, PQ_SOURCE);
    const char *words = pq.PQresultErrorField(notice, PQ_MESSAGE);
    if (!*store->warning && severity && strcmp(severity, "WARNING") == 0 &&
        !(source && strcmp(source, "exec_stmt_raise") == 0))
        snprintf(store->warning, sizeof store->warning, "%s", words && *words ? words : "?");
}

void mishap_postgresql_disconnect(postgresql_store *store)
{
    if (store->connection)
        pq.PQfinish(store->connection);
    store->connection = NULL;
    store->queued = 0;
    store->begins = false;
    store->stale = false;
    mishap_postgresql_forget_marks(store);
    for (size_t i = 0; i < store->base.schema->statement_count; i++) {
        store->statements[i].prepared = false;
        mishap_release(store->statements[i].sql);
        store->statements[i].sql = NULL;
    }
}

/* -- short queries ----------------------------------------------------------------------------- */

static mishap *explain(const postgresql_store *store, const pq_result *result)
{
    store_trouble trouble = mishap_postgresql_trouble(store, result);
    const char *state = result ? pq.PQresultErrorField(result, PQ_SQLSTATE) : NULL;
    mishap *failure = trouble == STORE_FINE ? NULL
                                            : mishap_postgresql_failure(store, result, trouble);
    if (!failure || !state || strcmp(state, "42501") != 0)
        return failure;
    return mishap_because(
        mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "The user of the store address may not use the database."),
            "Grant the user CREATE on the database, or the schema of the service."),
        failure);
}

/* Through a pooler, the text sets what it needs: all of it is one transaction. */
static pq_result *run_with_settings(postgresql_store *store, const char *sql, int64_t until_ms)
{
    mishap_buffer whole;
    mishap_buffer_init(&whole, NULL, 0);
    mishap_buffer_add(&whole, store->settings, strlen(store->settings));
    mishap_buffer_add(&whole, ";", 1);
    mishap_buffer_add(&whole, sql, strlen(sql) + 1);
    pq_result *result = whole.failed ? NULL : mishap_postgresql_run(store, whole.data, until_ms);
    mishap_buffer_release(&whole);
    return result;
}

/* Run a text until that time; returns the first value of its last result, as a copy, if it is asked
 * for. */
static mishap *run_until(postgresql_store *store, const char *sql, int64_t until_ms, char *value,
                         size_t size)
{
    pq_result *result = !store->connection ? NULL
                        : store->pooled    ? run_with_settings(store, sql, until_ms)
                                           : mishap_postgresql_run(store, sql, until_ms);
    mishap *failure = explain(store, result);
    if (!failure && value)
        snprintf(value, size, "%s", pq.PQntuples(result) ? pq.PQgetvalue(result, 0, 0) : "");
    pq.PQclear(result);
    return failure;
}

static mishap *run_text(postgresql_store *store, const char *sql, char *value, size_t size)
{
    return run_until(store, sql, mishap_postgresql_until(store), value, size);
}

/* The same, with the name of the schema inserted, which is lower_snake. */
__attribute__((format(printf, 4, 5))) static mishap *run_for(postgresql_store *store, char *value,
                                                             size_t size, const char *format, ...)
{
    char sql[STORE_SETTINGS];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(sql, sizeof sql, format, values);
    va_end(values);
    return length < (int)sizeof sql ? run_text(store, sql, value, size) : mishap_out_of_memory();
}

/*
 * What is set for a connection; through a pooler, for a transaction.
 *
 * Queries of a service are short: compiling one (jit) takes longer than running it. A small table
 * is read faster from end to end than by its index; but then a serializable transaction has read
 * all of its rows, and conflicts with every transaction that changes one of them. A server may be
 * configured not to wait for its disk; but what this library confirms must be durable.
 */
static mishap *set_settings(postgresql_store *store)
{
    static const char form[] =
        "SELECT set_config('search_path', '\"%s\"', %s), set_config('lock_timeout', '%d', %s),"
        " set_config('client_min_messages', 'warning', %s), set_config('jit', 'off', %s),"
        " set_config('datestyle', 'ISO', %s), set_config('intervalstyle', 'iso_8601', %s),"
        " set_config('enable_seqscan', 'off', %s), CASE WHEN current_setting('synchronous_commit')"
        " = 'off' THEN set_config('synchronous_commit', 'on', %s) END";
    const char *local = store->pooled ? "true" : "false";
    int length = snprintf(store->settings, sizeof store->settings, form, store->schema, local,
                          MISHAP_STORE_PATIENCE, local, local, local, local, local, local, local);
    if (length >= (int)sizeof store->settings)
        return mishap_out_of_memory();
    return store->pooled ? NULL : run_text(store, store->settings, NULL, 0);
}

/* Set up a connection before it is used. */
mishap *mishap_postgresql_set_up(postgresql_store *store)
{
    const char *encoding = pq.PQparameterStatus(store->connection, "server_encoding");
    pq.PQsetNoticeReceiver(store->connection, hear_notice, store);
    if (!encoding || strcmp(encoding, "UTF8") != 0)
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "The database of the store does not use UTF-8."),
            "Create the database with the encoding UTF8.");
    if (pq.PQsetnonblocking(store->connection, 1) != 0)
        return mishap_out_of_memory();
    mishap *failure = mishap_postgresql_meet(store);
    return failure ? failure : set_settings(store);
}

/* -- the tables -------------------------------------------------------------------------------- */

/* Is there a schema of this name with a table `store`, and if so, is it ours? A schema of another
 * program is not touched. An empty schema may have been made for this one. All of it is seen in one
 * snapshot, which functions such as to_regclass() do not use. */
static mishap *look_for_store(postgresql_store *store, bool *is_there)
{
    const char *name = store->schema;
    char found[16] = "";
    mishap *failure = run_for(
        store, found, sizeof found,
        "SELECT CASE WHEN count(*) = 0 THEN 'none' WHEN count(*) FILTER (WHERE relname = 'store'"
        " AND (attname, atttypid) IN (('identity', 'text'::regtype), ('version',"
        " 'integer'::regtype))) = 2 THEN 'ours' ELSE 'foreign' END FROM pg_namespace n JOIN"
        " pg_class c ON c.relnamespace = n.oid JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE nspname = '%s'",
        name);
    *is_there = *found == 'o';
    return !failure && *found == 'f' ? mishap_store_is_foreign(NULL, name) : failure;
}

/* The version of the tables, and the identity; 0 and "" if there are none. */
static mishap *read_store(postgresql_store *store, int *version, char identity[STORE_IDENTITY])
{
    char number[16] = "";
    bool is_there = false;
    *version = 0;
    *identity = '\0';
    mishap *failure = look_for_store(store, &is_there);
    if (failure || !is_there)
        return failure;
    failure = run_text(store, "SELECT version FROM store", number, sizeof number);
    *version = (int)strtol(number, NULL, 10);
    if (!failure && *version < 0)
        failure = mishap_store_is_foreign(NULL, store->schema);
    return failure ? failure
                   : run_text(store, "SELECT identity FROM store", identity, STORE_IDENTITY);
}

/* CREATE SCHEMA needs a permission even if the schema exists. */
static mishap *make_schema(postgresql_store *store)
{
    const char *name = store->schema;
    char missing[8] = "";
    mishap *failure = run_for(store, missing, sizeof missing,
                              "SELECT to_regnamespace('\"%s\"') IS NULL", name);
    if (!failure && *missing == 't')
        failure = run_for(store, NULL, 0, "CREATE SCHEMA \"%s\"", name);
    if (!failure)
        failure = run_text(
            store,
            "CREATE TABLE IF NOT EXISTS store (identity text NOT NULL, version integer "
            "NOT NULL); INSERT INTO store SELECT replace(gen_random_uuid()::text, '-', "
            "''), 0 WHERE NOT EXISTS (SELECT 1 FROM store)",
            NULL, 0);
    return failure;
}

static mishap *run_migrations(postgresql_store *store, int *version, char identity[STORE_IDENTITY])
{
    const char *const *migrations = store->base.schema->postgresql;
    int newest = mishap_store_newest(migrations);
    /* If two processes do this at once, the second one waits here, and finds the work done. */
    char lock[200];
    snprintf(lock, sizeof lock, "SELECT pg_advisory_xact_lock(hashtext('mishap'), hashtext('%s'))",
             store->schema);
    mishap *failure = run_until(store, lock, INT64_MAX, NULL, 0);
    if (!failure)
        failure = make_schema(store);
    if (!failure)
        failure = read_store(store, version, identity);
    if (failure || *version >= newest)
        return failure;
    for (int i = *version; !failure && i < newest; i++)
        failure = mishap_note(run_until(store, migrations[i], INT64_MAX, NULL, 0), "migration",
                              i + 1);
    if (!failure)
        failure = run_for(store, NULL, 0, "UPDATE store SET version = %d", newest);
    if (!failure)
        *version = newest;
    return failure;
}

static mishap *bring_up_to_date(postgresql_store *store, int *version,
                                char identity[STORE_IDENTITY])
{
    mishap *failure = run_text(store, "BEGIN", NULL, 0);
    if (!failure)
        failure = run_migrations(store, version, identity);
    if (!failure)
        return run_text(store, "COMMIT", NULL, 0);
    mishap_free(run_text(store, "ROLLBACK", NULL, 0));
    return failure;
}

/* Without an identity this is the first opening, which creates what is missing. */
static mishap *take_store(postgresql_store *store, const char *identity)
{
    int version = 0, newest = mishap_store_newest(store->base.schema->postgresql);
    char found[STORE_IDENTITY] = "";
    mishap *failure = read_store(store, &version, found);
    if (!failure && !identity && version < newest)
        failure = bring_up_to_date(store, &version, found);
    if (failure)
        return failure;
    if (version > newest)
        return mishap_store_is_newer(NULL, version, newest);
    if (identity && (version != newest || strcmp(found, identity) != 0))
        return mishap_store_is_another(NULL);
    memcpy(store->base.identity, found, sizeof found);
    return NULL;
}

/* -- opening ----------------------------------------------------------------------------------- */

static mishap *connect_to_store(postgresql_store *store, const char *identity)
{
    mishap *failure = mishap_postgresql_connect(store, identity != NULL);
    if (!failure && (failure = take_store(store, identity)))
        mishap_postgresql_disconnect(store);
    return failure;
}

mishap *mishap_postgresql_connect_again(postgresql_store *store)
{
    char identity[STORE_IDENTITY];
    memcpy(identity, store->base.identity, sizeof identity);
    return connect_to_store(store, identity);
}

/* A schema that was made for a test, which is over. A process that the test has killed may hold its
 * locks a little longer, and a busy server may answer late: then there is another try. */
static bool drop_schema(const char *address, const char *name)
{
    enum { LONGEST_MS = 60000, PAUSE_US = 100000 };
    static const mishap_store_schema none = { .name = "" };
    mishap_store *base = mishap_postgresql_store_new(address, &none);
    postgresql_store *store = (postgresql_store *)base;
    int64_t begun = mishap_store_now_ms();
    bool dropped = false, again = store != NULL;
    while (again) {
        mishap *failure = mishap_postgresql_connect(store, false);
        if (!failure)
            failure = run_for(store, NULL, 0, "DROP SCHEMA IF EXISTS \"%s\" CASCADE", name);
        dropped = !failure;
        again = failure && mishap_told(failure)->retryable &&
                mishap_store_now_ms() - begun < LONGEST_MS;
        mishap_free(failure);
        if (again)
            usleep(PAUSE_US);
    }
    mishap_store_close(base);
    return dropped;
}

mishap *mishap_postgresql_open(mishap_store *base, const char *identity)
{
    postgresql_store *store = (postgresql_store *)base;
    mishap *failure = mishap_libpq_load();
    if (!failure)
        failure = mishap_postgresql_check_address(store);
    if (!failure && mishap_rehearsal_page && *mishap_rehearsal_page->suffix &&
        !mishap_rehearsal_keep_schema(drop_schema, store->address, store->schema))
        return mishap_raise(NOT_CONFIGURED, "A test has too many stores.");
    mishap_timelines_open(&store->timelines, base->folder);
    if (!failure && !identity)
        mishap_postgresql_survey(store);
    return failure ? failure : connect_to_store(store, identity);
}

mishap_store *mishap_postgresql_store_new(const char *address, const mishap_store_schema *schema)
{
    size_t align = _Alignof(postgresql_statement);
    size_t size = (sizeof(postgresql_store) + strlen(address) + align) / align * align;
    size_t statements = schema->statement_count * sizeof(postgresql_statement);
    postgresql_store *store = mishap_allocate(size + statements);
    if (!store)
        return NULL;
    memset(store, 0, size + statements);
    store->base.engine = &mishap_postgresql_engine;
    store->timelines.file = -1;
    store->base.schema = schema;
    snprintf(store->schema, sizeof store->schema, "%s%s", schema->name,
             mishap_rehearsal_page ? mishap_rehearsal_page->suffix : "");
    store->statements = (postgresql_statement *)(void *)((char *)store + size);
    memcpy(store->address, address, strlen(address) + 1);
    return &store->base;
}
