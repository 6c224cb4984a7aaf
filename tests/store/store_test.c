/*
 * Stores on both engines, by the public header: values, refusals, pages, transactions, migrations,
 * lost connections, and what is told of failures.
 *
 * tests/store/postgres.py starts PostgreSQL and runs this program with its address; without one,
 * the tests on PostgreSQL are skipped.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mishap/store.h"
#include "operation/call.h"
#include "operation/settings.h"
#include "store/postgresql.h"
#include "testing.h"

#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
_Static_assert((int)CONNECTION_OK == (int)PQ_CONNECTION_OK, "as libpq has it");
_Static_assert((int)PGRES_COMMAND_OK == (int)PQ_COMMAND_OK, "as libpq has it");
_Static_assert((int)PGRES_TUPLES_OK == (int)PQ_TUPLES_OK, "as libpq has it");
_Static_assert((int)PGRES_PIPELINE_SYNC == (int)PQ_PIPELINE_SYNC, "as libpq has it");
_Static_assert((int)PQPING_OK == (int)PQ_PING_OK, "as libpq has it");
_Static_assert(PG_DIAG_SQLSTATE == PQ_SQLSTATE, "as libpq has it");
_Static_assert(PG_DIAG_SEVERITY_NONLOCALIZED == PQ_SEVERITY, "as libpq has it");
_Static_assert(PG_DIAG_MESSAGE_PRIMARY == PQ_MESSAGE, "as libpq has it");
_Static_assert(PG_DIAG_SOURCE_FUNCTION == PQ_SOURCE, "as libpq has it");
_Static_assert(sizeof(PQconninfoOption) == sizeof(pq_option), "as libpq has it");
_Static_assert(offsetof(PQconninfoOption, val) == offsetof(pq_option, value), "as libpq has it");
#endif

/* -- a schema ---------------------------------------------------------------------------------- */

static const char *const sqlite[] = {
    "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT UNIQUE, flag INTEGER, weight REAL,"
    " bytes BLOB, owner INTEGER REFERENCES items (id)) STRICT;"
    "CREATE TABLE counter (value INTEGER NOT NULL) STRICT;"
    "INSERT INTO counter VALUES (0)",
    "ALTER TABLE items ADD COLUMN note TEXT DEFAULT 'second'",
    NULL,
};
static const char *const postgresql[] = {
    "CREATE TABLE items (id bigint PRIMARY KEY, name text UNIQUE, flag boolean,"
    " weight double precision, bytes bytea, owner bigint REFERENCES items (id));"
    "CREATE TABLE counter (value bigint NOT NULL);"
    "INSERT INTO counter VALUES (0);"
    "CREATE SEQUENCE tries;"
    "CREATE TABLE deadly (value bigint);"
    "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS"
    " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';"
    "CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON deadly DEFERRABLE INITIALLY DEFERRED"
    " FOR EACH ROW EXECUTE FUNCTION die();"
    "CREATE TABLE busy (value bigint);"
    "CREATE FUNCTION be_busy() RETURNS trigger LANGUAGE plpgsql AS"
    " 'BEGIN IF nextval(''tries'') < 3 THEN RAISE EXCEPTION ''marker'' USING ERRCODE = ''55P03'';"
    " END IF; RETURN NULL; END';"
    "CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON busy DEFERRABLE INITIALLY DEFERRED"
    " FOR EACH ROW EXECUTE FUNCTION be_busy()",
    "ALTER TABLE items ADD COLUMN note text DEFAULT 'second'",
    NULL,
};

enum {
    INSERT, /* 1 id, 2 name, 3 flag, 4 weight, 5 bytes, 6 owner */
    GET,    /* 1 id */
    PAGE,   /* 1 after, 2 limit */
    NAMED,  /* 7 name: other places are not used */
    COUNT,
    READ_COUNTER,
    WRITE_COUNTER, /* 1 value */
    INSERT_LATER,  /* 1 id */
    FIRST_VERSION, /* those above do with version 1 */
    NOTE = FIRST_VERSION,
    WRONG,
    FULL_DISK, /* the next insert finds it so; on PostgreSQL this statement does */
    DISK_AGAIN,
    DROP_ITEMS,
    SETTINGS, /* that make changes durable, waiting end, and conflicts few */
    /* PostgreSQL only: */
    SHORT_PATIENCE,
    LOCK_ITEMS,
    ASK_AGAIN,
    DIE_LATER,
    DIE_READING,
    DIE_ONCE,
    DIE_WRITING,
    DIE_AT_COMMIT,
    BUSY_AT_COMMIT, /* twice */
    KILL_OTHERS,
    STANDBY_AWAY,
    NO_STANDBY,
    RELOAD,
    CANCEL_WAITING,
    END_WAITING,
    WARN,
    WARN_READING,
    LOCK_MIGRATIONS, /* 1 name */
    SET_VERSION,     /* 1 version */
    STATEMENTS,
};
#define ONLY(sql) .text = "SELECT 1", .postgresql = sql
static const mishap_statement statements[STATEMENTS] = {
    [INSERT] = { .text = "INSERT INTO items (id, name, flag, weight, bytes, owner)"
                         " VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
                 .writes = true },
    [GET] = { .text = "SELECT id, name, flag, weight, bytes, owner FROM items WHERE id = ?1" },
    [PAGE] = { .text = "SELECT id FROM items WHERE id > ?1 ORDER BY id LIMIT ?2" },
    [NAMED] = { .text = "SELECT id /* ?1 */ FROM items WHERE name = ?7 OR name || '?2' = ?7" },
    [COUNT] = { .text = "SELECT count(*) FROM items" },
    [READ_COUNTER] = { .text = "SELECT value FROM counter" },
    [WRITE_COUNTER] = { .text = "UPDATE counter SET value = ?1", .writes = true },
    [INSERT_LATER] = { .text = "INSERT INTO items (id) VALUES (?1)",
                       .writes = true,
                       .later = true },
    [NOTE] = { .text = "SELECT note FROM items WHERE id = ?1" },
    [WRONG] = { .text = "SELECT marker_column FROM counter" },
    [FULL_DISK] = { .text = "PRAGMA max_page_count = 1",
                    .postgresql = "DO $$ BEGIN RAISE EXCEPTION 'marker' USING ERRCODE = '53100';"
                                  " END $$" },
    [DISK_AGAIN] = { .text = "PRAGMA max_page_count = 1000000", .postgresql = "SELECT 1" },
    [DROP_ITEMS] = { .text = "DROP TABLE items", .writes = true },
    [SETTINGS] = { .text = "PRAGMA synchronous",
                   .postgresql = "SELECT current_setting('synchronous_commit') || ' ' ||"
                                 " current_setting('lock_timeout') || ' ' ||"
                                 " current_setting('transaction_isolation') || ' ' ||"
                                 " current_setting('enable_seqscan')" },
    [SHORT_PATIENCE] = { ONLY("SET lock_timeout TO 100") },
    [LOCK_ITEMS] = { ONLY("LOCK TABLE items") },
    [ASK_AGAIN] = { ONLY("DO $$ BEGIN RAISE EXCEPTION 'marker' USING ERRCODE = '40001'; END $$") },
    [DIE_LATER] = { ONLY("SELECT pg_terminate_backend(pg_backend_pid())"), .writes = true,
                    .later = true },
    [DIE_READING] = { ONLY("SELECT pg_terminate_backend(pg_backend_pid())") },
    [DIE_ONCE] = { ONLY("SELECT CASE WHEN nextval('tries') = 1 THEN"
                        " pg_terminate_backend(pg_backend_pid()) END") },
    [DIE_WRITING] = { ONLY("SELECT pg_terminate_backend(pg_backend_pid())"), .writes = true },
    [DIE_AT_COMMIT] = { ONLY("INSERT INTO deadly VALUES (1)"), .writes = true },
    [BUSY_AT_COMMIT] = { ONLY("INSERT INTO busy VALUES (1)"), .writes = true },
    [KILL_OTHERS] = { ONLY("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE"
                           " pid <> pg_backend_pid() AND backend_type = 'client backend'") },
    [LOCK_MIGRATIONS] = { ONLY("SELECT pg_advisory_lock(hashtext('mishap'), hashtext(?1))") },
    [STANDBY_AWAY] = { ONLY("ALTER SYSTEM SET synchronous_standby_names = 'away'") },
    [NO_STANDBY] = { ONLY("ALTER SYSTEM RESET synchronous_standby_names") },
    [RELOAD] = { ONLY("SELECT pg_reload_conf()") },
    [CANCEL_WAITING] = { ONLY("SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE"
                              " wait_event = 'SyncRep'") },
    [END_WAITING] = { ONLY("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE"
                           " wait_event = 'SyncRep'") },
    [WARN_READING] = { ONLY("SELECT pg_cancel_backend(2147483647)") }, /* nobody's number */
    [WARN] = { ONLY("DO $$ BEGIN RAISE WARNING 'marker'; END $$"), .writes = true },
    [SET_VERSION] = { ONLY("UPDATE store SET version = ?1"), .writes = true },
};

/* Each test has a schema of its own, which on PostgreSQL is new in the same database. */
static char schema_name[40];
static mishap_store_schema schema;

/* The same before its second version. */
static mishap_store_schema version_one(void)
{
    static const char *first_sqlite[2], *first_postgresql[2];
    first_sqlite[0] = sqlite[0];
    first_postgresql[0] = postgresql[0];
    mishap_store_schema first = schema;
    first.sqlite = first_sqlite;
    first.postgresql = first_postgresql;
    return first;
}

/* -- a store for each test --------------------------------------------------------------------- */

static char folder[64], file[128], address[512];
static bool on_postgresql;
static mishap_store *store;

static int begin(const char *where)
{
    static int number;
    on_postgresql = where != NULL;
    strcpy(folder, "/tmp/mishap-store-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(schema_name, sizeof schema_name, "shelf_%d", ++number);
    schema = (mishap_store_schema){ .name = schema_name,
                                    .sqlite = sqlite,
                                    .postgresql = postgresql,
                                    .statements = statements,
                                    .statement_count = STATEMENTS };
    snprintf(file, sizeof file, "%s/file", folder);
    if (where)
        snprintf(address, sizeof address, "%s", where);
    else
        snprintf(address, sizeof address, "sqlite:%s", file);
    store = NULL;
    return 0;
}

static int begin_sqlite(void **state)
{
    (void)state;
    return begin(NULL);
}

static int begin_postgresql(void **state)
{
    (void)state;
    return begin(getenv("STORE_POSTGRESQL"));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

static int end(void **state)
{
    (void)state;
    mishap_store_close(store);
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void assert_fine(mishap *failure)
{
    mishap_buffer account = { 0 };
    if (!failure)
        return;
    mishap_account(failure, &account);
    fail_msg("%.*s", (int)account.length, account.data);
}

static void open_store(void)
{
    assert_fine(mishap_store_open(address, NULL, &schema, &store));
}

/* Nothing of the inside is told, whatever the format, unless it is a failure to open the store,
 * which is for the operator. `account` is what the operator reads. */
static char account[16384];
static void assert_failure(mishap *failure, const mishap_code *code, bool retryable)
{
    static const char *const private[] = { "marker",   "sqlite",     "postgres", "SELECT",
                                           "INSERT",   "items",      "libpq.so", "/tmp",
                                           "database", "replication" };
    static const char *const dialects[] = { "artifact",         "canonical",  "cli-envelope",
                                            "condition-report", "google-rpc", "graphql",
                                            "http-api",         "json-api",   "json-rpc",
                                            "problem",          "tool-result" };
    assert_non_null(failure);
    mishap_buffer all = { 0 };
    mishap_account(failure, &all);
    snprintf(account, sizeof account, "%.*s", (int)all.length, all.data);
    mishap_buffer_release(&all);
    if (mishap_told(failure)->code != code || mishap_told(failure)->retryable != retryable)
        fail_msg("%s", account);
    for (size_t i = 0; store && i < sizeof dialects / sizeof *dialects; i++) {
        char *told = rendered(mishap_dialect_find(dialects[i]), failure);
        for (size_t j = 0; j < sizeof private / sizeof *private; j++)
            if (strcasestr(told, private[j]))
                fail_msg("%s is told: %s", private[j], told);
        free(told);
    }
    mishap_free(failure);
}

static mishap *insert_owned(mishap_store *into, int64_t id, const char *name, int64_t owner,
                            mishap_query *query)
{
    mishap_query_begin(query, into, INSERT);
    mishap_query_bind_integer(query, 1, id);
    mishap_query_bind_text(query, 2, mishap_text_of(name));
    if (owner)
        mishap_query_bind_integer(query, 6, owner);
    while (mishap_query_step(query))
        assert_int_equal(mishap_query_integer(query, 0), id);
    return mishap_query_end(query);
}

static mishap *insert(mishap_store *into, int64_t id, const char *name)
{
    mishap_query query;
    return insert_owned(into, id, name, 0, &query);
}

static mishap *read_number(mishap_store *from, size_t statement, int64_t *number)
{
    mishap_query query;
    mishap_query_begin(&query, from, statement);
    if (mishap_query_step(&query))
        *number = mishap_query_integer(&query, 0);
    return mishap_query_end(&query);
}

static int64_t number_of(size_t statement)
{
    int64_t number = -1;
    assert_fine(read_number(store, statement, &number));
    return number;
}

static mishap *run(mishap_store *on, size_t statement)
{
    mishap_query query;
    mishap_query_begin(&query, on, statement);
    while (mishap_query_step(&query))
        ;
    return mishap_query_end(&query);
}

/* -- values ------------------------------------------------------------------------------------ */

static void values_of_every_type_come_back(void **state)
{
    static const struct {
        int64_t id;
        const char *name;
        bool flag;
        double weight;
        mishap_text bytes;
    } rows[] = {
        { INT64_MAX, "it's \"?1\" $1 ; -- \xf0\x9f\x98\x80", true, 0.1, { "\0\xff'\\x", 5 } },
        { INT64_MIN, "", false, -1.7976931348623157e308, { "", 0 } },
        { 0, "a\nb\t\x01", true, 5e-324, { "\\", 1 } },
    };
    (void)state;
    open_store();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_query query;
        mishap_query_begin(&query, store, INSERT);
        mishap_query_bind_integer(&query, 1, rows[i].id);
        mishap_query_bind_text(&query, 2, mishap_text_of(rows[i].name));
        mishap_query_bind_boolean(&query, 3, rows[i].flag);
        mishap_query_bind_double(&query, 4, rows[i].weight);
        mishap_query_bind_blob(&query, 5, rows[i].bytes);
        mishap_query_bind_null(&query, 6);
        assert_true(mishap_query_step(&query));
        assert_false(mishap_query_step(&query));
        assert_fine(mishap_query_end(&query));

        mishap_query_begin(&query, store, GET);
        mishap_query_bind_integer(&query, 1, rows[i].id);
        assert_true(mishap_query_step(&query));
        assert_int_equal(mishap_query_integer(&query, 0), rows[i].id);
        assert_true(mishap_text_equal(mishap_query_text(&query, 1), mishap_text_of(rows[i].name)));
        assert_non_null(mishap_query_text(&query, 1).data);
        assert_int_equal(mishap_query_boolean(&query, 2), rows[i].flag);
        assert_true(mishap_query_double(&query, 3) == rows[i].weight);
        assert_true(mishap_text_equal(mishap_query_blob(&query, 4), rows[i].bytes));
        assert_non_null(mishap_query_blob(&query, 4).data);
        assert_true(mishap_query_is_null(&query, 5));
        assert_false(mishap_query_is_null(&query, 4));
        assert_int_equal(mishap_query_integer(&query, 5), 0);
        assert_null(mishap_query_text(&query, 5).data);
        assert_false(mishap_query_step(&query));
        assert_fine(mishap_query_end(&query));
    }
}

static void a_place_is_known_by_its_number(void **state)
{
    mishap_query query;
    (void)state;
    open_store();
    assert_fine(insert(store, 7, "seven"));
    mishap_query_begin(&query, store, NAMED);
    mishap_query_bind_integer(&query, 3, 5); /* is in no use there */
    mishap_query_bind_text(&query, 7, T("seven"));
    assert_true(mishap_query_step(&query));
    assert_int_equal(mishap_query_integer(&query, 0), 7);
    assert_fine(mishap_query_end(&query));
    mishap_query_begin(&query, store, NAMED);
    mishap_query_bind_integer(&query, MISHAP_STORE_PLACES + 1, 5);
    assert_false(mishap_query_step(&query));
    assert_failure(mishap_query_end(&query), MISHAP_CODE_INTERNAL_ERROR, false);
    mishap_query_begin(&query, store, STATEMENTS);
    assert_false(mishap_query_step(&query));
    assert_failure(mishap_query_end(&query), MISHAP_CODE_INTERNAL_ERROR, false);
    assert_int_equal(number_of(COUNT), 1); /* all goes on */
}

static void placeholders_are_numbered_without_a_gap(void **state)
{
    static const struct {
        const char *text, *sql;
        int count;
    } rows[] = {
        { "a = ?4 AND b = ?2 AND c = ?4", "a = $1 AND b = $2 AND c = $1", 2 },
        { "'?1' \"?2\" -- ?3\n/* ?4 */ ?12 ? ?|", "'?1' \"?2\" -- ?3\n/* ?4 */ $1 ? ?|", 1 },
        { "'it''s ?1' || ?1 -- ?2", "'it''s ?1' || $1 -- ?2", 1 },
        { "'?1", "'?1", 0 },
        { "?33", NULL, 0 },
        { "?0", NULL, 0 },
        { "?99999999999999999999", NULL, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        postgresql_statement statement = { 0 };
        mishap_buffer sql = { 0 };
        bool sound = mishap_postgresql_translate(rows[i].text, &statement, &sql);
        assert_int_equal(sound, rows[i].sql != NULL);
        if (sound) {
            assert_string_equal(sql.data, rows[i].sql);
            assert_int_equal(statement.count, rows[i].count);
        }
        mishap_buffer_release(&sql);
    }
}

/* -- refusals ---------------------------------------------------------------------------------- */

static void what_a_constraint_refuses_is_told_by_its_code(void **state)
{
    mishap_query query;
    (void)state;
    open_store();
    assert_fine(insert(store, 1, "one"));
    mishap *failure = insert_owned(store, 2, "one", 0, &query);
    assert_true(query.taken && !query.dangling);
    assert_failure(failure, MISHAP_CODE_ALREADY_EXISTS, false);
    failure = insert_owned(store, 1, "other", 0, &query);
    assert_true(query.taken);
    assert_failure(failure, MISHAP_CODE_ALREADY_EXISTS, false);
    failure = insert_owned(store, 3, "three", 99, &query);
    assert_true(query.dangling && !query.taken);
    assert_failure(failure, MISHAP_CODE_CONFLICT, false);
    assert_null(strstr(account, "noted")); /* a caller could fill the log with it */
    assert_int_equal(number_of(COUNT), 1);
}

static void a_mistake_in_the_sql_is_an_internal_error_and_nothing_is_told(void **state)
{
    (void)state;
    open_store();
    assert_failure(run(store, WRONG), MISHAP_CODE_INTERNAL_ERROR, false);
    assert_non_null(strstr(account, "marker_column"));
    assert_non_null(strstr(account, on_postgresql ? "42703" : "sqlite_result"));
    assert_int_equal(number_of(COUNT), 0);
}

static mishap *insert_much(mishap_store *into, void *state)
{
    static char bytes[100000];
    mishap_query query;
    (void)state;
    MISHAP_TRY(insert(into, 2, "two"));
    if (on_postgresql)
        return run(into, FULL_DISK);
    mishap_query_begin(&query, into, INSERT);
    mishap_query_bind_integer(&query, 1, 3);
    mishap_query_bind_blob(&query, 5, (mishap_text){ bytes, sizeof bytes });
    while (mishap_query_step(&query))
        ;
    return mishap_query_end(&query);
}

/* A connection that is made again finds the same: it is the store that is damaged. */
static void a_table_that_is_missing_is_damage(void **state)
{
    (void)state;
    open_store();
    assert_fine(run(store, DROP_ITEMS));
    for (int i = 0; i < 3; i++) {
        assert_failure(insert(store, 1, "one"), MISHAP_CODE_NOT_CONFIGURED, false);
        assert_non_null(strstr(account, on_postgresql ? "42P01" : "no such table"));
        assert_failure(run(store, COUNT), MISHAP_CODE_NOT_CONFIGURED, false);
    }
    assert_fine(mishap_store_begin(store));
    assert_failure(run(store, COUNT), MISHAP_CODE_NOT_CONFIGURED, false);
    assert_failure(run(store, READ_COUNTER), MISHAP_CODE_NOT_CONFIGURED, false);
    assert_failure(mishap_store_begin(store), MISHAP_CODE_NOT_CONFIGURED, false);
    assert_failure(mishap_store_commit(store), MISHAP_CODE_NOT_CONFIGURED, false);
    assert_fine(mishap_store_begin(store)); /* and another transaction has nothing to do with it */
    assert_failure(run(store, WRONG), MISHAP_CODE_INTERNAL_ERROR, false);
    assert_failure(mishap_store_commit(store), MISHAP_CODE_INTERNAL_ERROR, false);
    assert_fine(run(store, READ_COUNTER));
}

static void a_page_that_is_damaged_is_told_when_opened_and_when_open(void **state)
{
    static const off_t places[] = { 4096, 0 }; /* the first table, the head of the file */
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        open_store();
        if (i == 0)
            assert_fine(insert(store, 1, "one"));
        mishap_store_close(store); /* the log is folded into the file */
        open_store();
        int damaged = open(file, O_RDWR);
        char page[4096], before[4096];
        memset(page, 0xff, sizeof page);
        assert_int_equal(pread(damaged, before, sizeof before, places[i]), sizeof before);
        assert_int_equal(pwrite(damaged, page, sizeof page, places[i]), sizeof page);
        if (i == 0) {
            assert_failure(insert(store, 2, "two"), MISHAP_CODE_NOT_CONFIGURED, false);
            assert_failure(insert(store, 2, "two"), MISHAP_CODE_NOT_CONFIGURED, false);
        } else { /* after a mistake it connects again, and finds that it cannot */
            assert_failure(run(store, WRONG), MISHAP_CODE_NOT_CONFIGURED, false);
            assert_failure(run(store, READ_COUNTER), MISHAP_CODE_NOT_CONFIGURED, false);
        }
        mishap_store_close(store);
        store = NULL;
        mishap *failure = mishap_store_open(address, NULL, &schema, &store);
        if (i == 0) { /* the head is sound */
            assert_fine(failure);
            assert_failure(insert(store, 2, "two"), MISHAP_CODE_NOT_CONFIGURED, false);
            mishap_store_close(store);
            store = NULL;
        } else {
            assert_true(mishap_told(failure)->retry_stated);
            assert_failure(failure, MISHAP_CODE_NOT_CONFIGURED, false);
        }
        assert_int_equal(pwrite(damaged, before, sizeof before, places[i]), sizeof before);
        close(damaged);
    }
}

/* What was written lies in the log, of which the end is gone. */
static void a_log_that_ends_too_early_is_damage(void **state)
{
    char log[sizeof file + 4];
    mishap_store *other = NULL;
    (void)state;
    open_store();
    assert_fine(mishap_store_open(address, NULL, &schema, &other));
    assert_fine(insert(store, 1, "one"));
    snprintf(log, sizeof log, "%s-wal", file);
    assert_int_equal(truncate(log, 32), 0); /* its head */
    assert_failure(run(other, COUNT), MISHAP_CODE_NOT_CONFIGURED, false);
    mishap_store_close(other);
}

static void a_full_disk_is_told_by_its_code_and_reading_goes_on(void **state)
{
    (void)state;
    open_store();
    assert_fine(insert(store, 1, "one"));
    if (!on_postgresql)
        assert_fine(run(store, FULL_DISK));
    assert_failure(mishap_store_transact(store, &(mishap_transaction){ .work = insert_much }),
                   MISHAP_CODE_INSUFFICIENT_STORAGE, false);
    assert_int_equal(number_of(COUNT), 1);
    assert_fine(run(store, DISK_AGAIN));
    assert_fine(insert(store, 2, "two"));
}

static void locks_of_others_are_waited_for_and_then_it_is_busy(void **state)
{
    mishap_store *other = NULL;
    (void)state;
    open_store();
    assert_fine(mishap_store_open(address, NULL, &schema, &other));
    assert_fine(run(store, SHORT_PATIENCE));
    assert_fine(mishap_store_begin(other));
    assert_fine(run(other, LOCK_ITEMS));
    assert_failure(insert(store, 1, "one"), MISHAP_CODE_UNAVAILABLE, true);
    assert_non_null(strstr(account, "55P03"));
    mishap_store_close(other);
    assert_fine(insert(store, 1, "one"));
}

/* Not only the part in which it was waited for: others may have changed what was read before. */
static void a_transaction_in_which_it_was_busy_is_repeated_as_a_whole(void **state)
{
    mishap_store *other = NULL;
    (void)state;
    open_store();
    assert_fine(mishap_store_open(address, NULL, &schema, &other));
    assert_fine(run(store, SHORT_PATIENCE));
    assert_fine(mishap_store_begin(other));
    assert_fine(run(other, LOCK_ITEMS));
    assert_fine(mishap_store_begin(store));
    assert_fine(run(store, READ_COUNTER));
    assert_fine(mishap_store_begin(store));
    assert_failure(insert(store, 1, "one"), MISHAP_CODE_UNAVAILABLE, true);
    mishap_store_roll_back(store);
    assert_failure(run(store, READ_COUNTER), MISHAP_CODE_UNAVAILABLE, true);
    assert_failure(mishap_store_begin(store), MISHAP_CODE_UNAVAILABLE, true);
    assert_failure(mishap_store_confirm(store), MISHAP_CODE_UNAVAILABLE, true);
    assert_failure(mishap_store_commit(store), MISHAP_CODE_UNAVAILABLE, true);
    mishap_store_close(other);
    assert_fine(insert(store, 1, "one"));
}

static void text_with_a_nul_is_not_cut_off_on_postgresql(void **state)
{
    mishap_query query;
    (void)state;
    open_store();
    mishap_query_begin(&query, store, INSERT);
    mishap_query_bind_integer(&query, 1, 1);
    mishap_query_bind_text(&query, 2, (mishap_text){ "a\0b", 3 });
    mishap_query_step(&query);
    assert_failure(mishap_query_end(&query), MISHAP_CODE_INTERNAL_ERROR, false);
    assert_int_equal(number_of(COUNT), 0);
}

/* -- pages ------------------------------------------------------------------------------------- */

static void a_list_is_read_page_by_page(void **state)
{
    static const struct {
        int64_t limit, pages;
    } rows[] = { { 1, 10 }, { 3, 4 }, { 5, 2 }, { 10, 1 }, { 100, 1 } };
    (void)state;
    open_store();
    for (int64_t id = 1; id <= 10; id++)
        assert_fine(insert(store, id * 10, NULL));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t after = 0, pages = 0, listed = 0;
        mishap_page page;
        do {
            mishap_query query;
            mishap_query_begin(&query, store, PAGE);
            mishap_query_bind_integer(&query, 1, after);
            for (mishap_page_begin(&page, &query, 2, rows[i].limit);
                 mishap_page_step(&page, &query); listed++)
                assert_int_equal(after = mishap_query_integer(&query, 0), (listed + 1) * 10);
            assert_true(page.listed <= rows[i].limit);
            assert_fine(mishap_query_end(&query));
            pages++;
        } while (page.more);
        assert_int_equal(listed, 10);
        assert_int_equal(pages, rows[i].pages);
    }
}

/* -- transactions ------------------------------------------------------------------------------ */

static mishap *insert_two(mishap_store *into, void *state)
{
    mishap *failure = insert(into, 1, "one");
    if (!failure)
        failure = insert(into, 2, "two");
    return failure ? failure : *(bool *)state ? mishap_raise(CONFLICT, "No.") : NULL;
}

static void a_transaction_is_made_as_a_whole_or_not_at_all(void **state)
{
    bool fail = true;
    mishap_transaction both = { .work = insert_two, .state = &fail };
    (void)state;
    open_store();
    assert_failure(mishap_store_transact(store, &both), MISHAP_CODE_CONFLICT, false);
    assert_int_equal(number_of(COUNT), 0);
    fail = false;
    assert_fine(mishap_store_transact(store, &both));
    assert_int_equal(number_of(COUNT), 2);
    assert_failure(mishap_store_transact(store, &both), MISHAP_CODE_ALREADY_EXISTS, false);
    assert_int_equal(number_of(COUNT), 2);
}

static mishap *insert_in_parts(mishap_store *into, void *state)
{
    bool fail = true, succeed = false;
    mishap *failure = insert(into, 10, "ten");
    if (!failure) {
        mishap *part = mishap_store_transact(
            into, &(mishap_transaction){ .work = insert_two, .state = &fail });
        assert_true(mishap_is(part, CONFLICT));
        mishap_free(part);
        failure = insert(into, 11, "eleven");
    }
    if (!failure)
        failure = mishap_store_transact(
            into, &(mishap_transaction){ .work = insert_two, .state = &succeed });
    /* A part that the engine refuses takes only itself along. */
    mishap *part = failure
                       ? NULL
                       : mishap_store_transact(
                             into, &(mishap_transaction){ .work = insert_two, .state = &succeed });
    assert_true(failure || mishap_is(part, ALREADY_EXISTS));
    mishap_free(part);
    (void)state;
    return failure ? failure : insert(into, 12, "twelve");
}

static void a_part_of_a_transaction_is_rolled_back_alone(void **state)
{
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(store, &(mishap_transaction){ .work = insert_in_parts }));
    assert_int_equal(number_of(COUNT), 5);
}

static mishap *go_on_after_a_failure(mishap_store *into, void *state)
{
    int64_t count;
    mishap *failure = insert(into, 1, "one");
    assert_null(failure);
    mishap_free(insert(into, 2, "one"));
    failure = read_number(into, COUNT, &count);
    *(bool *)state = failure != NULL;
    mishap_free(failure);
    mishap_free(insert(into, 3, "three"));
    return NULL;
}

/* PostgreSQL is so, hence SQLite must be: else a service would work on one of them only. */
static void after_a_failed_query_a_transaction_cannot_go_on(void **state)
{
    bool refused = false;
    (void)state;
    open_store();
    assert_failure(
        mishap_store_transact(
            store, &(mishap_transaction){ .work = go_on_after_a_failure, .state = &refused }),
        MISHAP_CODE_INTERNAL_ERROR, false);
    assert_true(refused);
    assert_int_equal(number_of(COUNT), 0);
}

/* What the engine has undone, or asks to repeat, is the whole transaction: a part that is rolled
 * back alone does not make it good. */
static void trouble_of_the_engine_spoils_the_whole_transaction(void **state)
{
    static const store_trouble troubles[] = { STORE_BUSY, STORE_AGAIN, STORE_LOST };
    (void)state;
    open_store();
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        assert_fine(mishap_store_begin(store));
        assert_fine(insert(store, 1, "one"));
        assert_fine(mishap_store_begin(store));
        mishap_store_note_trouble(store, troubles[i]);
        mishap_store_roll_back(store);
        assert_failure(mishap_store_begin(store), MISHAP_CODE_UNAVAILABLE, true);
        mishap *failure = insert(store, 2, "two");
        assert_non_null(failure);
        mishap_free(failure);
        assert_failure(mishap_store_commit(store), MISHAP_CODE_UNAVAILABLE, true);
        assert_int_equal(number_of(COUNT), 0);
    }
    assert_fine(mishap_store_begin(store));
    assert_fine(mishap_store_begin(store));
    mishap_store_note_trouble(store, STORE_TAKEN); /* this one is the part's alone */
    mishap_store_roll_back(store);
    assert_fine(insert(store, 1, "one"));
    assert_fine(mishap_store_commit(store));
    assert_int_equal(number_of(COUNT), 1);
}

static void a_batch_has_one_commit(void **state)
{
    mishap_store *other = NULL;
    int64_t seen = -1;
    (void)state;
    open_store();
    assert_fine(mishap_store_begin(store));
    for (int64_t id = 1; id <= 64; id++) {
        char name[24];
        snprintf(name, sizeof name, "%d", (int)(id % 5 ? id : id - 1)); /* each fifth is taken */
        assert_fine(mishap_store_begin(store));
        mishap *failure = insert(store, id, name);
        if (failure) {
            mishap_store_roll_back(store);
            assert_failure(failure, MISHAP_CODE_ALREADY_EXISTS, false);
        } else {
            assert_fine(mishap_store_commit(store));
        }
    }
    if (on_postgresql) { /* on SQLite a process has one store on a file */
        assert_fine(mishap_store_open(address, NULL, &schema, &other));
        assert_fine(read_number(other, COUNT, &seen));
        assert_int_equal(seen, 0);
        mishap_store_close(other);
    }
    assert_fine(mishap_store_commit(store));
    assert_int_equal(number_of(COUNT), 64 - 12);
    assert_failure(mishap_store_commit(store), MISHAP_CODE_INTERNAL_ERROR, false);
    mishap_store_roll_back(store);
    assert_int_equal(number_of(COUNT), 64 - 12);
}

/* What it has changed is not to count, so neither does the rest of its transaction. */
static void a_change_that_is_not_ended_makes_its_transaction_fail(void **state)
{
    mishap_query query;
    (void)state;
    open_store();
    assert_fine(mishap_store_begin(store));
    assert_fine(insert(store, 1, "one"));
    mishap_query_begin(&query, store, INSERT);
    mishap_query_bind_integer(&query, 1, 2);
    mishap_query_bind_text(&query, 2, T("two"));
    assert_true(mishap_query_step(&query));
    assert_failure(mishap_store_commit(store), MISHAP_CODE_INTERNAL_ERROR, false);
    assert_int_equal(number_of(COUNT), 0);
}

/* Nobody would find it again. */
static void a_transaction_in_a_file_that_was_removed_has_failed(void **state)
{
    char away[sizeof file + 8];
    (void)state;
    open_store();
    snprintf(away, sizeof away, "%s.away", file);
    assert_fine(mishap_store_begin(store));
    assert_fine(insert(store, 1, "one"));
    assert_int_equal(rename(file, away), 0);
    assert_failure(mishap_store_commit(store), MISHAP_CODE_UNAVAILABLE, true);
}

static void a_transaction_that_is_left_open_is_rolled_back(void **state)
{
    (void)state;
    open_store();
    assert_fine(mishap_store_begin(store));
    assert_fine(mishap_store_begin(store));
    assert_fine(insert(store, 1, "one"));
    mishap_store_close(store);
    open_store();
    assert_int_equal(number_of(COUNT), 0);
    assert_fine(insert(store, 1, "one"));
}

/* -- calls ------------------------------------------------------------------------------------- */

static mishap *open_service(const mishap_setup *setup, void **opened)
{
    mishap_store *found = NULL;
    (void)setup;
    mishap *failure = mishap_store_open(address, NULL, &schema, &found);
    *opened = store = found;
    return failure;
}

static void close_service(void *opened)
{
    mishap_store_close(opened);
    store = NULL;
}

static const mishap_service service = {
    .name = "shelf", .summary = "A shelf", .open = open_service, .close = close_service
};

/* Two levels are begun, and a query, and then the library ends the handler. */
static mishap *leave_half_way(mishap_call *call)
{
    mishap_query query;
    mishap_store *of_call = mishap_store_of(call);
    assert_ptr_equal(mishap_store_of(call), of_call);
    MISHAP_TRY(mishap_store_begin(of_call));
    MISHAP_TRY(insert(of_call, 1, "half"));
    MISHAP_TRY(mishap_store_begin(of_call));
    mishap_query_begin(&query, of_call, INSERT);
    mishap_query_bind_integer(&query, 1, 2);
    assert_true(mishap_query_step(&query));
    mishap_string(call, "not declared");
    return NULL;
}

/* More ends than beginnings. */
static mishap *end_too_much(mishap_call *call)
{
    mishap_store *of_call = mishap_store_of(call);
    MISHAP_TRY(insert(of_call, 3, "three"));
    mishap_store_roll_back(of_call);
    return mishap_store_commit(of_call);
}

/* After a crash nothing that was deferred is called. */
static mishap *crash_half_way(mishap_call *call)
{
    mishap_store *of_call = mishap_store_of(call);
    MISHAP_TRY(mishap_store_begin(of_call));
    MISHAP_TRY(insert(of_call, 1, "half"));
    call->deferred = NULL;
    return mishap_raise(INTERNAL_ERROR, "As a crash does.");
}

static const mishap_operation operations[] = {
    { .name = "crash", .summary = "Crash", .run = crash_half_way, .service = &service },
    { .name = "leave", .summary = "Leave", .run = leave_half_way, .service = &service },
    { .name = "end", .summary = "End", .run = end_too_much, .service = &service },
    { 0 },
};
static const mishap_app app = { .name = "shelf", .operations = operations };

static void call_operation(const mishap_operation *operation)
{
    mishap_call *call = NULL;
    assert_fine(mishap_call_begin(&app, operation, T("{}"), &call));
    assert_failure(mishap_call_run(call), MISHAP_CODE_INTERNAL_ERROR, false);
    mishap_call_end(call);
}

/* The next call may be at the same address. */
static void what_a_crashed_call_has_left_open_is_rolled_back_by_the_next(void **state)
{
    mishap_call *call = NULL;
    (void)state;
    mishap_setup setup = { .data = folder };
    mishap_service_use(&setup);
    call_operation(&operations[0]);
    assert_int_equal(store->depth, 1);
    assert_fine(mishap_call_begin(&app, &operations[2], T("{}"), &call));
    store->call = call;
    assert_failure(mishap_call_run(call), MISHAP_CODE_INTERNAL_ERROR, false);
    mishap_call_end(call);
    assert_int_equal(store->depth, 0);
    assert_int_equal(number_of(COUNT), 1); /* that of the second */
    mishap_service_close_all();
    mishap_service_use(NULL);
}

static void a_call_leaves_no_transaction_behind(void **state)
{
    (void)state;
    mishap_setup setup = { .data = folder };
    mishap_service_use(&setup);
    call_operation(&operations[1]);
    assert_non_null(strstr(account, "not declared"));
    assert_int_equal(number_of(COUNT), 0);
    /* In a batch the others are left alone. */
    assert_fine(mishap_store_begin(store));
    assert_fine(insert(store, 9, "before"));
    call_operation(&operations[1]);
    call_operation(&operations[2]);
    assert_non_null(strstr(account, "none to commit"));
    assert_fine(insert(store, 10, "after"));
    assert_fine(mishap_store_commit(store));
    assert_int_equal(number_of(COUNT), 3);
    mishap_service_close_all();
    mishap_service_use(NULL);
}

/* -- many at once ------------------------------------------------------------------------------ */

enum { PROCESSES = 6, TIMES = 20 };

static mishap *count_up(mishap_store *of, void *tries)
{
    int64_t value = 0;
    mishap_query query;
    ++*(int *)tries;
    MISHAP_TRY(read_number(of, READ_COUNTER, &value));
    if (on_postgresql)
        usleep(1000); /* so that others read the same for sure */
    mishap_query_begin(&query, of, WRITE_COUNTER);
    mishap_query_bind_integer(&query, 1, value + 1);
    mishap_query_step(&query);
    return mishap_query_end(&query);
}

/* How often it was tried, at most 200; 255: something failed. A caller tries again when it is told
 * so. */
static int count_many_times(void)
{
    mishap_store *own = NULL;
    int tries = 0;
    if (mishap_store_open(address, NULL, &schema, &own))
        return 255;
    for (int i = 0; i < TIMES; i++) {
        mishap *failure;
        while ((failure = mishap_store_transact(
                    own, &(mishap_transaction){ .work = count_up, .state = &tries }))) {
            bool again = mishap_told(failure)->retryable;
            mishap_free(failure);
            if (!again)
                return 255;
        }
    }
    mishap_store_close(own);
    return tries < 200 ? tries : 200;
}

static int in_processes(int (*work)(void), int exits[PROCESSES])
{
    pid_t children[PROCESSES];
    int sum = 0;
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(work());
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(waitpid(children[i], &exits[i], 0), children[i]);
        assert_true(WIFEXITED(exits[i]));
        exits[i] = WEXITSTATUS(exits[i]);
        sum += exits[i];
    }
    return sum;
}

/* They create the store all at once, too. What one has read, another changes: without repeating
 * some would be lost. */
static void no_change_of_many_processes_is_lost(void **state)
{
    int exits[PROCESSES];
    (void)state;
    int tries = in_processes(count_many_times, exits);
    for (int i = 0; i < PROCESSES; i++)
        assert_in_range(exits[i], TIMES, 200);
    open_store();
    assert_int_equal(number_of(READ_COUNTER), PROCESSES * TIMES);
    if (on_postgresql)
        assert_true(tries > PROCESSES * TIMES); /* the engine has asked for it */
    else
        assert_int_equal(tries, PROCESSES * TIMES);
}

static int held[2], released[2]; /* pipes */

static int hold_a_transaction(void)
{
    mishap_store *own = NULL;
    char byte;
    mishap *failure = mishap_store_open(address, NULL, &schema, &own);
    if (!failure)
        failure = mishap_store_begin(own);
    if (failure || write(held[1], ".", 1) != 1 || read(released[0], &byte, 1) != 1)
        return 1;
    failure = mishap_store_commit(own);
    mishap_store_close(own);
    return failure != NULL;
}

/* How often it was put to sleep tells whether it slept or kept looking. */
static int count_asleep(void)
{
    mishap_store *own = NULL;
    struct rusage before, after;
    int tries = 0;
    mishap *failure = mishap_store_open(address, NULL, &schema, &own);
    getrusage(RUSAGE_SELF, &before);
    if (!failure && write(held[1], ".", 1) == 1)
        failure = mishap_store_transact(own,
                                        &(mishap_transaction){ .work = count_up, .state = &tries });
    getrusage(RUSAGE_SELF, &after);
    mishap_store_close(own);
    return failure || tries != 1 || after.ru_nvcsw - before.ru_nvcsw > 20;
}

static void a_transaction_sleeps_until_it_is_its_turn(void **state)
{
    int (*const work[2])(void) = { hold_a_transaction, count_asleep };
    pid_t children[2];
    char byte;
    (void)state;
    open_store();
    mishap_store_close(store);
    store = NULL;
    assert_int_equal(pipe(held), 0);
    assert_int_equal(pipe(released), 0);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(work[i]());
        assert_int_equal(read(held[0], &byte, 1), 1); /* it has begun, or is about to */
    }
    usleep(300 * 1000); /* long enough to look a hundred times */
    assert_int_equal(waitpid(children[1], NULL, WNOHANG), 0);
    assert_int_equal(write(released[1], ".", 1), 1);
    for (int i = 0; i < 2; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
        close(held[i]);
        close(released[i]);
    }
}

static mishap *never_done(mishap_store *of, void *tries)
{
    ++*(int *)tries;
    return run(of, ASK_AGAIN);
}

static mishap *other_words(mishap_store *of, void *tries)
{
    mishap_free(never_done(of, tries));
    return mishap_raise(NOT_FOUND, "Nothing.");
}

static void a_transaction_is_not_repeated_for_ever(void **state)
{
    int tries = 0;
    (void)state;
    open_store();
    mishap *failure = mishap_store_transact(
        store, &(mishap_transaction){ .work = never_done, .state = &tries });
    assert_int_equal(mishap_told(failure)->retry_after_ms, 1000);
    assert_failure(failure, MISHAP_CODE_UNAVAILABLE, true);
    assert_in_range(tries, 5, 10);
    assert_non_null(strstr(account, "40001"));
    /* Also if the work takes the failure for another one. */
    failure = mishap_store_transact(store,
                                    &(mishap_transaction){ .work = other_words, .state = &tries });
    assert_failure(failure, MISHAP_CODE_UNAVAILABLE, true);
    assert_fine(insert(store, 1, "one"));
}

/* A single query is a transaction of its own. */
static void a_single_query_is_repeated_as_well(void **state)
{
    (void)state;
    open_store();
    assert_failure(run(store, ASK_AGAIN), MISHAP_CODE_UNAVAILABLE, true);
    assert_int_equal(number_of(COUNT), 0);
}

/* -- lost connections -------------------------------------------------------------------------- */

static void after_a_lost_connection_the_next_query_connects_again(void **state)
{
    (void)state;
    open_store();
    assert_fine(insert(store, 1, "one"));
    assert_fine(run(store, DIE_ONCE)); /* who only reads need not know */
    assert_failure(run(store, DIE_READING), MISHAP_CODE_UNAVAILABLE, true);
    assert_non_null(strstr(account, "noted postgresql"));
    assert_int_equal(number_of(COUNT), 1);
    assert_fine(insert(store, 2, "two"));
}

static void a_connection_that_ended_while_idle_is_noticed_before_a_change(void **state)
{
    mishap_store *other = NULL;
    (void)state;
    open_store();
    assert_fine(mishap_store_open(address, NULL, &schema, &other));
    assert_fine(insert(store, 1, "one"));
    assert_fine(run(other, KILL_OTHERS));
    assert_fine(insert(store, 2, "two"));
    assert_fine(run(other, KILL_OTHERS));
    assert_fine(mishap_store_begin(store));
    mishap_store_roll_back(store);
    mishap_store_close(other);
}

static void a_single_change_that_is_not_confirmed_is_told_as_unknown(void **state)
{
    (void)state;
    open_store();
    mishap *failure = run(store, DIE_WRITING);
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
    failure = mishap_raise(TIMEOUT, "Another.");
    assert_false(mishap_store_outcome_unknown(failure));
    mishap_free(failure);
    assert_false(mishap_store_outcome_unknown(NULL));
    assert_int_equal(number_of(COUNT), 0);
}

struct losing {
    int tries, looked, die_before, die_at_commit;
    bool done, late;
};

static mishap *insert_and_lose(mishap_store *into, void *state)
{
    struct losing *losing = state;
    losing->tries++;
    MISHAP_TRY(insert(into, 1, "one"));
    if (losing->tries <= losing->die_before)
        MISHAP_TRY(run(into, DIE_WRITING));
    return losing->tries <= losing->die_at_commit ? run(into, DIE_AT_COMMIT) : NULL;
}

static mishap *look_up(mishap_store *in, void *state, bool *done)
{
    struct losing *losing = state;
    int64_t count = 0;
    mishap *failure = read_number(in, COUNT, &count);
    losing->looked++;
    *done = losing->done || count > 0;
    if (losing->late && losing->looked == 1) /* the commit that was not confirmed is made now */
        assert_fine(insert(in, 1, "one"));
    return failure;
}

static void a_transaction_that_was_lost_before_its_commit_is_repeated(void **state)
{
    struct losing losing = { .die_before = 2 };
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(
        store, &(mishap_transaction){ .work = insert_and_lose, .state = &losing }));
    assert_int_equal(losing.tries, 3);
    assert_int_equal(number_of(COUNT), 1);
}

static void a_commit_that_is_not_confirmed_is_not_repeated_blindly(void **state)
{
    struct losing losing = { .die_at_commit = 1 };
    (void)state;
    open_store();
    mishap *failure = mishap_store_transact(
        store, &(mishap_transaction){ .work = insert_and_lose, .state = &losing });
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
    assert_int_equal(losing.tries, 1);
    assert_int_equal(number_of(COUNT), 0);
}

static mishap *be_busy(mishap_store *in, void *tries)
{
    ++*(int *)tries;
    return run(in, BUSY_AT_COMMIT);
}

static void a_commit_that_was_busy_is_repeated(void **state)
{
    int tries = 0;
    (void)state;
    open_store();
    assert_fine(
        mishap_store_transact(store, &(mishap_transaction){ .work = be_busy, .state = &tries }));
    assert_int_equal(tries, 3);
}

/* As careless as a function can be. */
static mishap *look_and_leave(mishap_store *in, void *state, bool *done)
{
    mishap_query query;
    struct losing *losing = state;
    losing->looked++;
    *done = losing->done;
    assert_fine(mishap_store_begin(in));
    assert_fine(mishap_store_begin(in));
    mishap_query_begin(&query, in, READ_COUNTER);
    mishap_query_step(&query);
    return NULL;
}

static void what_looking_up_leaves_open_is_ended(void **state)
{
    struct losing losing = { .die_at_commit = 1, .done = true };
    mishap_transaction transaction = { .work = insert_and_lose,
                                       .look_up = look_and_leave,
                                       .state = &losing };
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(store, &transaction));
    assert_int_equal(losing.looked, 1);
    assert_int_equal(store->depth, 0);
    assert_fine(insert(store, 2, "two"));
    mishap_store *other = NULL; /* which sees it: it is in no transaction that is left open */
    int64_t count = 0;
    assert_fine(mishap_store_open(address, NULL, &schema, &other));
    assert_fine(read_number(other, COUNT, &count));
    assert_int_equal(count, 1);
    mishap_store_close(other);
}

static mishap *lose_and_refuse(mishap_store *into, void *state)
{
    struct losing *losing = state;
    if (losing->tries++ > 0)
        return mishap_raise(NOT_FOUND, "There is none any more.");
    MISHAP_TRY(insert(into, 1, "one"));
    return run(into, DIE_AT_COMMIT);
}

static mishap *look_twice(mishap_store *in, void *state, bool *done)
{
    struct losing *losing = state;
    (void)in;
    *done = false;
    return ++losing->looked == 2 && losing->late ? mishap_raise(INTERNAL_ERROR, "Never.") : NULL;
}

/* The second try fails: because the first one was made after all, or for a reason of its own? */
static void a_failure_after_a_commit_in_doubt_is_told_only_if_the_doubt_is_gone(void **state)
{
    struct losing losing = { 0 };
    mishap_transaction transaction = { .work = lose_and_refuse,
                                       .look_up = look_twice,
                                       .state = &losing };
    (void)state;
    open_store();
    assert_failure(mishap_store_transact(store, &transaction), MISHAP_CODE_NOT_FOUND, false);
    assert_int_equal(losing.looked, 2);
    losing = (struct losing){ .late = true };
    mishap *failure = mishap_store_transact(store, &transaction);
    assert_int_equal(losing.looked, 2);
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
}

static mishap *look_later(mishap_store *in, void *state, bool *done)
{
    struct losing *losing = state;
    (void)in;
    *done = true;
    if (++losing->looked < 3)
        return mishap_raise(UNAVAILABLE, "Not yet.");
    return losing->late ? mishap_raise(INTERNAL_ERROR, "Never.") : NULL;
}

static void looking_up_is_repeated_while_the_store_is_away(void **state)
{
    struct losing losing = { .die_at_commit = 1 };
    mishap_transaction transaction = { .work = insert_and_lose,
                                       .look_up = look_later,
                                       .state = &losing };
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(store, &transaction));
    assert_int_equal(losing.looked, 3);
    losing = (struct losing){ .die_at_commit = 1, .late = true };
    mishap *failure = mishap_store_transact(store, &transaction); /* nobody can tell */
    assert_int_equal(losing.looked, 3);
    assert_int_equal(losing.tries, 1);
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
}

/* The address asks for less than that. */
static void a_connection_is_durable_and_does_not_wait_for_ever(void **state)
{
    mishap_query query;
    size_t length = strlen(address);
    (void)state;
    if (on_postgresql)
        snprintf(address + length, sizeof address - length, "%coptions=-csynchronous_commit%%3Doff",
                 strchr(address, '?') ? '&' : '?');
    open_store();
    assert_fine(mishap_store_begin(store));
    mishap_query_begin(&query, store, SETTINGS);
    assert_true(mishap_query_step(&query));
    assert_true(mishap_text_equal(mishap_query_text(&query, 0),
                                  on_postgresql ? T("on 5s serializable off") : T("2")));
    assert_fine(mishap_query_end(&query));
    assert_fine(mishap_store_commit(store));
}

static void a_commit_that_comes_late_is_looked_up_again(void **state)
{
    struct losing losing = { .die_at_commit = 1, .late = true };
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(
        store,
        &(mishap_transaction){ .work = insert_and_lose, .look_up = look_up, .state = &losing }));
    assert_int_equal(losing.tries, 2);
    assert_int_equal(losing.looked, 2);
    assert_int_equal(number_of(COUNT), 1);
}

static void a_commit_that_is_not_confirmed_is_looked_up(void **state)
{
    struct losing losing = { .die_at_commit = 1 };
    mishap_transaction transaction = { .work = insert_and_lose,
                                       .look_up = look_up,
                                       .state = &losing };
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(store, &transaction)); /* it was not made: again */
    assert_int_equal(losing.tries, 2);
    assert_int_equal(losing.looked, 1);
    assert_int_equal(number_of(COUNT), 1);
    losing = (struct losing){ .die_at_commit = 1, .done = true };
    schema_name[0] = 'r'; /* another schema: renamed */
    mishap_store_close(store);
    open_store();
    assert_fine(mishap_store_transact(store, &transaction)); /* it was made: that is all */
    assert_int_equal(losing.tries, 1);
    assert_int_equal(losing.looked, 1);
}

/* -- statements whose outcome comes later ------------------------------------------------------ */

static mishap *insert_later(mishap_store *into, int64_t id)
{
    mishap_query query;
    mishap_query_begin(&query, into, INSERT_LATER);
    mishap_query_bind_integer(&query, 1, id);
    assert_false(mishap_query_step(&query));
    return mishap_query_end(&query);
}

/* What the work of a transaction does: one letter for each step. */
struct plan {
    const char *steps;
    int64_t first; /* id */
    int tries;
    int64_t seen; /* rows, by the last `c` */
};

static mishap *follow(mishap_store *in, void *state)
{
    struct plan *plan = state;
    plan->tries++;
    for (const char *step = plan->steps; *step; step++)
        switch (*step) {
        case 'c':
            MISHAP_TRY(read_number(in, COUNT, &plan->seen));
            break;
        case 'n':
            MISHAP_TRY(run(in, READ_COUNTER)); /* which is prepared only now */
            break;
        case 'd':
            MISHAP_TRY(run(in, DIE_LATER));
            break;
        case 'a':
            if (plan->tries == 1)
                MISHAP_TRY(run(in, ASK_AGAIN));
            break;
        case '(':
            MISHAP_TRY(mishap_store_begin(in));
            break;
        case ')':
            MISHAP_TRY(mishap_store_commit(in));
            break;
        case '<':
            mishap_store_roll_back(in);
            break;
        case '!':
            return mishap_raise(CONFLICT, "No.");
        default:
            MISHAP_TRY(insert_later(in, plan->first + *step - '0'));
        }
    return NULL;
}

static mishap *transact_by(struct plan *plan)
{
    return mishap_store_transact(store, &(mishap_transaction){ .work = follow, .state = plan });
}

static void a_later_change_is_made_in_its_turn(void **state)
{
    static const struct {
        const char *steps;
        int64_t seen, left;
    } plans[] = {
        { "", 0, 0 },         { "c", 0, 0 },      { "1", 0, 1 },      { "12c3", 2, 3 },
        { "1n2", 0, 2 },      { "1(2)3", 0, 3 },  { "1(2<3c", 2, 2 }, { "(1<", 0, 0 },
        { "(1(2)c)3", 2, 3 }, { "1c2c3c", 3, 3 },
    };
    (void)state;
    open_store();
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        int64_t before = number_of(COUNT);
        struct plan plan = { .steps = plans[i].steps, .first = (int64_t)i * 10, .seen = before };
        assert_fine(transact_by(&plan));
        assert_int_equal(plan.seen - before, plans[i].seen);
        assert_int_equal(number_of(COUNT) - before, plans[i].left);
    }
}

static void a_later_change_that_fails_makes_the_transaction_fail(void **state)
{
    static const char *const plans[] = { "11",   "12c13",  "11c",   "11n",
                                         "1(1)", "11(2)3", "1(2)1", "(11)" };
    (void)state;
    open_store();
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct plan plan = { .steps = plans[i] };
        assert_failure(transact_by(&plan), MISHAP_CODE_ALREADY_EXISTS, false);
        assert_int_equal(plan.tries, 1);
        assert_int_equal(number_of(COUNT), 0);
    }
    struct plan undone = { .steps = "12!" };
    assert_failure(transact_by(&undone), MISHAP_CODE_CONFLICT, false);
    assert_int_equal(number_of(COUNT), 0);
    assert_fine(insert_later(store, 5)); /* outside of a transaction it is a query like others */
    assert_failure(insert_later(store, 5), MISHAP_CODE_ALREADY_EXISTS, false);
    assert_fine(insert(store, 7, "after all"));
}

static void a_transaction_with_later_changes_is_repeated(void **state)
{
    struct plan plan = { .steps = "12a3" };
    (void)state;
    open_store();
    assert_fine(transact_by(&plan));
    assert_int_equal(plan.tries, 2);
    assert_int_equal(number_of(COUNT), 3);
}

/* How often libpq waits for PostgreSQL. */
static libpq uncounted;
static int round_trips;

static pq_result *count_exec(pq_connection *connection, const char *text)
{
    round_trips++;
    return uncounted.PQexec(connection, text);
}

static pq_result *count_prepared(pq_connection *connection, const char *name, int count,
                                 const char *const *values, const int *lengths, const int *formats,
                                 int format)
{
    round_trips++;
    return uncounted.PQexecPrepared(connection, name, count, values, lengths, formats, format);
}

static int count_sync(pq_connection *connection)
{
    round_trips++;
    return uncounted.PQpipelineSync(connection);
}

static void begin_and_later_changes_take_no_round_trip(void **state)
{
    static const struct {
        const char *steps;
        int round_trips;
    } plans[] = { { "", 0 },    { "!", 0 },  { "c", 2 },   { "cc", 3 },
                  { "c12", 2 }, { "12", 1 }, { "12c3", 2 } };
    struct plan warm = { .steps = "1c" };
    (void)state;
    open_store();
    assert_fine(transact_by(&warm)); /* the statements are prepared */
    uncounted = mishap_libpq;
    mishap_libpq.PQexec = count_exec;
    mishap_libpq.PQexecPrepared = count_prepared;
    mishap_libpq.PQpipelineSync = count_sync;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct plan plan = { .steps = plans[i].steps, .first = 10 + (int64_t)i * 10 };
        round_trips = 0;
        mishap_free(transact_by(&plan));
        assert_int_equal(round_trips, plans[i].round_trips);
    }
    mishap_libpq = uncounted;
}

static void a_commit_that_is_lost_with_later_changes_is_told_as_unknown(void **state)
{
    struct plan plan = { .steps = "1d2" };
    (void)state;
    open_store();
    mishap *failure = transact_by(&plan);
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
    assert_int_equal(plan.tries, 1);
    assert_int_equal(number_of(COUNT), 0);
}

/* -- a standby that is away -------------------------------------------------------------------- */

static int begin_standby(void **state)
{
    begin_postgresql(state);
    open_store();
    assert_fine(run(store, STANDBY_AWAY));
    assert_fine(run(store, RELOAD));
    return 0;
}

static int end_standby(void **state)
{
    mishap_store *own = NULL; /* the other one may wait */
    assert_fine(mishap_store_open(address, NULL, &schema, &own));
    assert_fine(run(own, NO_STANDBY));
    assert_fine(run(own, RELOAD));
    mishap_store_close(own);
    return end(state);
}

/* Let a process disturb what waits for the standby: c cancels its wait, t ends its connection. */
static pid_t disturb(const char *how)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    mishap_store *own = NULL;
    int64_t found = 0;
    alarm(120);
    if (mishap_store_open(address, NULL, &schema, &own))
        _exit(1);
    for (; *how; how++, found = 0)
        while (found == 0) {
            if (read_number(own, *how == 'c' ? CANCEL_WAITING : END_WAITING, &found))
                _exit(2);
            usleep(5000);
        }
    _exit(0);
}

struct standing {
    int64_t id;
    int looked;
};

static mishap *insert_next(mishap_store *into, void *state)
{
    struct standing *standing = state;
    return insert(into, ++standing->id, NULL);
}

static mishap *insert_next_later(mishap_store *into, void *state)
{
    struct standing *standing = state;
    return insert_later(into, ++standing->id);
}

static mishap *find_next(mishap_store *in, void *state, bool *done)
{
    struct standing *standing = state;
    int64_t count = 0;
    standing->looked++;
    mishap *failure = read_number(in, COUNT, &count);
    *done = count == standing->id;
    return failure;
}

static mishap *confirm_only(mishap_store *in, void *state)
{
    (void)state;
    return mishap_store_confirm(in);
}

/* The server learns a little later than it is told that it has to wait: so, until it does. Without
 * a transaction: confirm alone. */
static mishap *while_disturbed(const char *how, const mishap_transaction *transaction)
{
    pid_t child = disturb(how);
    mishap *failure = NULL;
    int status = -1;
    alarm(120);
    while (!failure)
        failure = transaction ? mishap_store_transact(store, transaction)
                              : mishap_store_confirm(store);
    alarm(0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return failure;
}

static void assert_unknown(mishap *failure)
{
    assert_non_null(failure);
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
    assert_non_null(strstr(account, "synchronous replication"));
}

/* PostgreSQL commits all the same, and says so in a warning. */
static void a_commit_whose_wait_for_a_standby_is_cancelled_is_told_as_unknown(void **state)
{
    struct standing standing = { 0 };
    mishap_transaction transaction = { .work = insert_next, .state = &standing };
    (void)state;
    assert_unknown(while_disturbed("c", &transaction));
    assert_int_equal(number_of(COUNT), standing.id);
    transaction.work = insert_next_later;
    assert_unknown(while_disturbed("c", &transaction));
    assert_int_equal(number_of(COUNT), standing.id);
    transaction.look_up = find_next; /* it would find the row, and that says nothing */
    assert_unknown(while_disturbed("c", &transaction));
    assert_int_equal(standing.looked, 0);
    pid_t child = disturb("c"); /* a change that is no transaction */
    assert_unknown(insert(store, ++standing.id, NULL));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(number_of(COUNT), standing.id);
}

static void what_is_found_of_a_lost_commit_is_confirmed_before_it_counts(void **state)
{
    struct standing standing = { 0 };
    mishap_transaction transaction = { .work = insert_next,
                                       .look_up = find_next,
                                       .state = &standing };
    pid_t child = disturb("tc");
    mishap *failure;
    (void)state;
    alarm(120);
    do /* until one was waiting, and lost its connection */
        failure = mishap_store_transact(store, &transaction);
    while (!failure && !standing.looked);
    alarm(0);
    if (!failure) /* it was found, and would be lost if the standby took over */
        kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(standing.looked > 0);
    assert_unknown(failure);
    assert_int_equal(number_of(COUNT), standing.id);
}

static void what_was_read_can_be_confirmed(void **state)
{
    (void)state;
    assert_unknown(while_disturbed("c", NULL));
    assert_unknown(while_disturbed("c", &(mishap_transaction){ .work = confirm_only }));
    assert_fine(run(store, NO_STANDBY));
    assert_fine(run(store, RELOAD));
    assert_fine(mishap_store_confirm(store));
    assert_fine(mishap_store_transact(store, &(mishap_transaction){ .work = confirm_only }));
}

struct killing {
    mishap_store *other;
    int tries;
};

static mishap *confirm_without_connection(mishap_store *in, void *state)
{
    struct killing *killing = state;
    MISHAP_TRY(run(in, READ_COUNTER));
    if (killing->tries++ == 0)
        assert_fine(run(killing->other, KILL_OTHERS));
    return mishap_store_confirm(in);
}

static void a_transaction_that_cannot_be_confirmed_is_repeated(void **state)
{
    struct killing killing = { 0 };
    (void)state;
    open_store();
    assert_fine(mishap_store_open(address, NULL, &schema, &killing.other));
    assert_fine(mishap_store_transact(
        store, &(mishap_transaction){ .work = confirm_without_connection, .state = &killing }));
    assert_int_equal(killing.tries, 2);
    mishap_store_close(killing.other);
}

static void without_a_standby_there_is_nothing_to_confirm(void **state)
{
    (void)state;
    open_store();
    assert_fine(mishap_store_confirm(store));
    assert_fine(mishap_store_transact(store, &(mishap_transaction){ .work = confirm_only }));
    assert_fine(mishap_store_begin(store));
    assert_failure(run(store, WRONG), MISHAP_CODE_INTERNAL_ERROR, false);
    assert_failure(mishap_store_confirm(store), MISHAP_CODE_INTERNAL_ERROR, false);
    mishap_store_roll_back(store);
}

static mishap *warn(mishap_store *in, void *state)
{
    (void)state;
    return run(in, WARN);
}

static void a_warning_of_the_service_itself_is_no_failure(void **state)
{
    (void)state;
    open_store();
    assert_fine(run(store, WARN));
    assert_fine(mishap_store_transact(store, &(mishap_transaction){ .work = warn }));
}

static mishap *warn_and_insert(mishap_store *in, void *state)
{
    (void)state;
    MISHAP_TRY(insert(in, 2, "two"));
    return run(in, WARN_READING);
}

/* What PostgreSQL warned of before says nothing about a commit. */
static void a_warning_of_an_earlier_query_is_no_failure(void **state)
{
    (void)state;
    open_store();
    assert_fine(run(store, WARN_READING));
    assert_fine(insert(store, 1, "one"));
    assert_fine(mishap_store_transact(store, &(mishap_transaction){ .work = warn_and_insert }));
    assert_int_equal(number_of(COUNT), 2);
}

/* -- versions and identities ------------------------------------------------------------------- */

static mishap *reopen(const char *identity, const mishap_store_schema *with)
{
    mishap_store_close(store);
    return mishap_store_open(address, identity, with, &store);
}

static void tables_are_brought_up_to_date_and_rows_are_kept(void **state)
{
    char identity[MISHAP_IDENTITY_LIMIT];
    mishap_query query;
    (void)state;
    mishap_store_schema first = version_one();
    assert_fine(mishap_store_open(address, NULL, &first, &store));
    assert_fine(insert(store, 1, "old"));
    snprintf(identity, sizeof identity, "%s", mishap_store_identity(store));
    assert_int_equal(strlen(identity), 32);
    /* A server that was started with the old tables does not change them by itself. */
    assert_failure(reopen(identity, &schema), MISHAP_CODE_NOT_CONFIGURED, false);
    assert_fine(reopen(NULL, &schema));
    assert_string_equal(mishap_store_identity(store), identity);
    mishap_query_begin(&query, store, NOTE);
    mishap_query_bind_integer(&query, 1, 1);
    assert_true(mishap_query_step(&query));
    assert_true(mishap_text_equal(mishap_query_text(&query, 0), T("second")));
    assert_fine(mishap_query_end(&query));
    assert_fine(reopen(NULL, &schema)); /* … once */
    assert_fine(reopen(identity, &schema));
    /* The program of before does not know them. */
    assert_failure(reopen(NULL, &first), MISHAP_CODE_NOT_CONFIGURED, false);
    assert_null(store);
    assert_non_null(
        strstr(account, "has version 2, but this program supports only versions up to 1"));
    assert_non_null(strstr(account, "suggestion: Run a newer version of the program"));
    assert_failure(reopen(identity, &first), MISHAP_CODE_NOT_CONFIGURED, false);
    assert_non_null(strstr(account, "has version 2"));
    assert_fine(reopen(NULL, &schema));
    assert_int_equal(number_of(COUNT), 1);
}

static void a_migration_that_fails_leaves_nothing_behind(void **state)
{
    (void)state;
    const char *const broken_sqlite[] = { sqlite[0], "CREATE TABLE half (a INTEGER); WRONG", NULL };
    const char *const broken_postgresql[] = { postgresql[0], "CREATE TABLE half (a bigint); WRONG",
                                              NULL };
    mishap_store_schema first = version_one(), broken = schema;
    assert_fine(mishap_store_open(address, NULL, &first, &store));
    broken.sqlite = broken_sqlite;
    broken.postgresql = broken_postgresql;
    assert_failure(reopen(NULL, &broken), MISHAP_CODE_INTERNAL_ERROR, false);
    /* The operator reads which script it was, and what is wrong with it. */
    assert_non_null(strstr(account, "noted migration = 2"));
    assert_non_null(strstr(account, "syntax error"));
    assert_fine(reopen(NULL, &schema));
}

/* Have the migration of a store of its own run a text. */
static void run_elsewhere(const char *sql)
{
    const char *const texts[] = { sql, NULL };
    mishap_store_schema other = schema;
    mishap_store *made = NULL;
    char name[64];
    snprintf(name, sizeof name, "e%s", schema_name);
    other.name = name;
    other.postgresql = other.sqlite = texts;
    assert_fine(mishap_store_open(address, NULL, &other, &made));
    mishap_store_close(made);
}

/* A database has other users, and a schema of the name may be theirs. */
static void tables_of_another_program_are_left_alone(void **state)
{
    static const char *const foreign[] = {
        "CREATE TABLE items (a bigint)",
        "CREATE TABLE store (a bigint)",
        "CREATE TABLE store (identity text, version text)",
        "CREATE TABLE store (identity text, version integer); INSERT INTO store VALUES ('x', -3)",
    };
    char sql[512];
    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        schema_name[0] = (char)('a' + i);
        snprintf(sql, sizeof sql,
                 "CREATE SCHEMA %s; SET search_path TO %s; %s; SET search_path TO e%s", schema_name,
                 schema_name, foreign[i], schema_name);
        run_elsewhere(sql);
        assert_failure(mishap_store_open(address, NULL, &schema, &store),
                       MISHAP_CODE_NOT_CONFIGURED, false);
        assert_non_null(strstr(account, "is not that of this service"));
    }
    schema_name[0] = 'z'; /* but one that was made for us is used */
    snprintf(sql, sizeof sql, "CREATE SCHEMA %s", schema_name);
    run_elsewhere(sql);
    open_store();
}

static void a_file_of_another_program_is_left_alone(void **state)
{
    sqlite3 *other;
    (void)state;
    assert_int_equal(sqlite3_open(file, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "CREATE TABLE theirs (a)", NULL, NULL, NULL), SQLITE_OK);
    assert_failure(mishap_store_open(address, NULL, &schema, &store), MISHAP_CODE_NOT_CONFIGURED,
                   false);
    assert_non_null(strstr(account, "has tables of another program"));
    assert_int_equal(sqlite3_exec(other, "DROP TABLE theirs", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    open_store();
}

/* Its newest rows are in its log, and whoever closes it last would fold them into the file. */
static void the_log_of_another_program_is_left_alone(void **state)
{
    char log[140];
    struct stat before, after;
    (void)state;
    snprintf(log, sizeof log, "%s-wal", file);
    pid_t child = fork();
    if (child == 0) { /* it dies without closing it */
        sqlite3 *database = NULL;
        _exit(sqlite3_open(file, &database) != SQLITE_OK ||
              sqlite3_exec(database, "PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)", NULL,
                           NULL, NULL) != SQLITE_OK);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(stat(log, &before), 0);
    assert_true(before.st_size > 0);
    assert_failure(mishap_store_open(address, NULL, &schema, &store), MISHAP_CODE_NOT_CONFIGURED,
                   false);
    assert_int_equal(stat(log, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    assert_int_equal(before.st_ino, after.st_ino);
}

static void a_store_is_opened_by_its_identity_or_not_at_all(void **state)
{
    (void)state;
    char identity[MISHAP_IDENTITY_LIMIT];
    open_store();
    snprintf(identity, sizeof identity, "%s", mishap_store_identity(store));
    assert_failure(reopen("0123456789abcdef0123456789abcdef", &schema), MISHAP_CODE_NOT_CONFIGURED,
                   false);
    assert_non_null(strstr(account, "not the store that the server opened when it started"));
    assert_fine(reopen(identity, &schema));
    mishap_store_close(store);
    store = NULL;
    schema_name[0] = 'n'; /* there is none of this name */
    snprintf(file, sizeof file, "%s/none", folder);
    if (!on_postgresql)
        snprintf(address, sizeof address, "sqlite:%s", file);
    assert_failure(mishap_store_open(address, identity, &schema, &store),
                   MISHAP_CODE_NOT_CONFIGURED, false);
    assert_fine(mishap_store_open(address, NULL, &schema, &store)); /* nothing was made of it */
    assert_string_not_equal(mishap_store_identity(store), identity);
}

/* While it is open it is replaced by another of the same name. */
static void a_connection_is_made_again_to_the_same_store_alone(void **state)
{
    mishap_query query;
    mishap_store *other = NULL;
    (void)state;
    open_store();
    assert_fine(mishap_store_open(address, NULL, &schema, &other));
    mishap_query_begin(&query, other, SET_VERSION);
    mishap_query_bind_integer(&query, 1, 99);
    mishap_query_step(&query);
    assert_fine(mishap_query_end(&query));
    assert_fine(run(other, KILL_OTHERS));
    assert_failure(insert(store, 1, "one"), MISHAP_CODE_UNAVAILABLE, true);
    assert_non_null(strstr(account, "has version 99"));
    mishap_query_begin(&query, other, SET_VERSION);
    mishap_query_bind_integer(&query, 1, 2);
    mishap_query_step(&query);
    assert_fine(mishap_query_end(&query));
    mishap_store_close(other);
    assert_fine(insert(store, 1, "one"));
}

/* Somebody else migrates, or writes. */
static void a_store_that_is_up_to_date_is_opened_without_a_lock(void **state)
{
    mishap_store *other = NULL;
    sqlite3 *database = NULL;
    mishap_query query;
    (void)state;
    open_store();
    if (on_postgresql) {
        assert_fine(mishap_store_open(address, NULL, &schema, &other));
        mishap_query_begin(&query, other, LOCK_MIGRATIONS);
        mishap_query_bind_text(&query, 1, mishap_text_of(schema_name));
        mishap_query_step(&query);
        assert_fine(mishap_query_end(&query));
    } else {
        mishap_store_close(store);
        store = NULL;
        sqlite3_open(file, &database);
        assert_int_equal(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    }
    alarm(4); /* less than MISHAP_STORE_PATIENCE */
    assert_fine(reopen(NULL, &schema));
    alarm(0);
    mishap_store_close(other);
    sqlite3_close(database);
}

/* -- addresses --------------------------------------------------------------------------------- */

static void a_plain_path_and_a_folder_are_addresses(void **state)
{
    struct stat status;
    (void)state;
    snprintf(address, sizeof address, "%s", file);
    open_store();
    assert_int_equal(stat(file, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600); /* it is nobody else's to read */
    mishap_store_close(store);
    snprintf(address, sizeof address, "sqlite:%s/", folder);
    open_store();
    snprintf(file, sizeof file, "%s/%s.sqlite", folder, schema_name);
    assert_int_equal(access(file, F_OK), 0);
}

static void a_file_belongs_to_one_service(void **state)
{
    (void)state;
    open_store();
    mishap_store_close(store);
    store = NULL;
    schema_name[0] = 'o';
    assert_failure(mishap_store_open(address, NULL, &schema, &store), MISHAP_CODE_NOT_CONFIGURED,
                   false);
    assert_non_null(strstr(account, "belongs to another service"));
    schema_name[0] = 's';
    open_store();
}

static void a_service_without_tables_for_postgresql_says_so(void **state)
{
    (void)state;
    schema.postgresql = NULL;
    assert_failure(mishap_store_open("postgresql://me:marker@host/db", NULL, &schema, &store),
                   MISHAP_CODE_NOT_CONFIGURED, false);
    assert_null(strstr(account, "marker"));
    const char *const fewer[] = { postgresql[0], NULL };
    schema.postgresql = fewer;
    assert_failure(mishap_store_open(address, NULL, &schema, &store), MISHAP_CODE_INTERNAL_ERROR,
                   false);
    assert_non_null(strstr(account, "the same number of migrations"));
}

/* Wherever libpq takes a part of the password for something else. */
static void an_address_that_is_wrong_is_never_repeated(void **state)
{
    static const char *const wrong[] = {
        "postgresql://me:mar@ker@127.0.0.1:1/db",
        "postgresql://me:ma/rker@127.0.0.1:1/db",
        "postgresql://me:12/marker@127.0.0.1:1/db",
        "postgresql://me:marker:x@127.0.0.1:1/db@marker",
        "postgresql://me:x?marker/y@127.0.0.1:1/db",
        "postgresql://me:x%zzmarker@127.0.0.1/db",
        "postgresql://marker:marker@127.0.0.1:marker/db",
        "postgresql://127.0.0.1:1/db?password=marker&marker",
        "postgre://me:marker@host/db",
        "marker",
        "sqlite",
        "sqlite:",
        "",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_failure(mishap_store_open(wrong[i], NULL, &schema, &store),
                       MISHAP_CODE_NOT_CONFIGURED, false);
        assert_null(store);
        if (strstr(account, "ker"))
            fail_msg("%s: %s", wrong[i], account);
        /* What to write instead is not taken for a password. */
        if (!strstr(account, "suggestion: Give ") || strcasestr(account, "redacted"))
            fail_msg("%s: %s", wrong[i], account);
    }
}

static void a_file_that_cannot_be_made_is_named_as_it_was_given(void **state)
{
    static const char *const given[] = { "./nowhere/x.sqlite", "sqlite:nowhere/x.sqlite",
                                         "sqlite:./nowhere/x.sqlite" };
    (void)state;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        assert_failure(mishap_store_open(given[i], NULL, &schema, &store),
                       MISHAP_CODE_NOT_CONFIGURED, false);
        assert_non_null(strstr(account, "The store ./nowhere/x.sqlite cannot be created."));
        assert_non_null(strstr(account, "Check that its folder exists"));
    }
}

/* The password is "marker p@ss/word:1?", escaped. */
static void a_password_is_used_and_never_shown(void **state)
{
    char wrong[512];
    (void)state;
    snprintf(address, sizeof address, "%s", getenv("STORE_POSTGRESQL_PASSWORD"));
    assert_non_null(strstr(address, "marker%20p%40ss"));
    open_store();
    assert_failure(run(store, DIE_READING), MISHAP_CODE_UNAVAILABLE, true);
    assert_null(strstr(account, "p@ss"));
    assert_failure(run(store, WRONG), MISHAP_CODE_INTERNAL_ERROR, false);
    assert_null(strstr(account, "p@ss"));
    mishap_store_close(store);
    snprintf(wrong, sizeof wrong, "%s", address);
    memcpy(strstr(wrong, "marker"), "MARKER", 6);
    assert_failure(mishap_store_open(wrong, NULL, &schema, &store), MISHAP_CODE_NOT_CONFIGURED,
                   false);
    assert_null(strcasestr(account, "marker"));
    assert_non_null(strstr(account, "password authentication failed"));
    /* A database that is named like the password is not shown either. */
    snprintf(wrong, sizeof wrong, "postgresql://role:marker@/marker?%s", strstr(address, "host="));
    assert_failure(mishap_store_open(wrong, NULL, &schema, &store), MISHAP_CODE_NOT_CONFIGURED,
                   false);
    assert_null(strcasestr(account, "marker"));
}

static void a_server_that_does_not_answer_can_be_tried_again(void **state)
{
    (void)state;
    assert_failure(
        mishap_store_open("postgresql://me:marker@/db?host=/nowhere", NULL, &schema, &store),
        MISHAP_CODE_UNAVAILABLE, true);
    assert_null(strstr(account, "marker"));
    assert_non_null(strstr(account, "cannot be reached"));
}

static pq_connection *(*connect_really)(const char *const *, const char *const *, int);
static int connections;

/* The first time the server was starting, as its clients see it. */
static pq_connection *connect_to_a_starting_server(const char *const *keywords,
                                                   const char *const *values, int expand)
{
    const char *const elsewhere[] = { "host", NULL }, *const nowhere[] = { "/nowhere", NULL };
    return connections++ ? connect_really(keywords, values, expand)
                         : connect_really(elsewhere, nowhere, expand);
}

static void a_server_that_has_just_started_is_connected_to(void **state)
{
    (void)state;
    open_store();
    mishap_store_close(store);
    connect_really = mishap_libpq.PQconnectdbParams;
    mishap_libpq.PQconnectdbParams = connect_to_a_starting_server;
    connections = 0;
    open_store();
    assert_int_equal(connections, 2);
    mishap_libpq.PQconnectdbParams = connect_really;
}

/* Every dlopen() of this program. */
static bool no_libraries;

void *dlopen(const char *name, int flags)
{
    static void *(*real)(const char *, int);
    if (no_libraries)
        return NULL;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    return real(name, flags);
}

static void without_libpq_the_package_is_named(void **state)
{
    (void)state;
    no_libraries = true; /* it runs before all tests that load it */
    mishap *failure = mishap_store_open("postgresql://me:marker@host/db", NULL, &schema, &store);
    no_libraries = false;
    assert_failure(failure, MISHAP_CODE_NOT_CONFIGURED, false);
    assert_non_null(strstr(account, "libpq5"));
    assert_null(strstr(account, "marker"));
}

/* -- memory ------------------------------------------------------------------------------------ */

static mishap *insert_blob(mishap_store *into, void *state)
{
    static char bytes[3000];
    mishap_query query;
    (void)state;
    mishap_query_begin(&query, into, INSERT);
    mishap_query_bind_integer(&query, 1, 1);
    mishap_query_bind_text(&query, 2, T("name"));
    mishap_query_bind_blob(&query, 5, (mishap_text){ bytes, sizeof bytes });
    while (mishap_query_step(&query))
        ;
    MISHAP_TRY(mishap_query_end(&query));
    mishap_query_begin(&query, into, GET);
    mishap_query_bind_integer(&query, 1, 1);
    size_t length = mishap_query_step(&query) ? mishap_query_blob(&query, 4).length : 0;
    mishap *failure = mishap_query_end(&query);
    assert_true(failure || length == sizeof bytes);
    return failure ? failure : mishap_raise(CONFLICT, "Enough.");
}

static void use_store(const void *input)
{
    mishap_store *own = NULL;
    (void)input;
    mishap *failure = mishap_store_open(address, NULL, &schema, &own);
    if (!failure)
        failure = mishap_store_transact(own, &(mishap_transaction){ .work = insert_blob });
    assert_non_null(failure);
    if (!mishap_is(failure, CONFLICT) && !mishap_is(failure, INTERNAL_ERROR) &&
        !mishap_is(failure, UNAVAILABLE))
        fail_msg("%s", mishap_told(failure)->code->name.data);
    mishap_free(failure);
    mishap_store_close(own);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    open_store(); /* it is there, and libpq is loaded */
    mishap_store_close(store);
    store = NULL;
    mishap_use_allocator(&failing_allocator);
    torture(use_store, NULL);
    mishap_use_allocator(NULL);
    open_store();
    assert_int_equal(number_of(COUNT), 0);
}

/* -- all --------------------------------------------------------------------------------------- */

#define SQLITE(name)                                                                               \
    {                                                                                              \
#name " on SQLite", name, begin_sqlite, end, NULL                                          \
    }
#define POSTGRESQL(name)                                                                           \
    {                                                                                              \
#name " on PostgreSQL", name, begin_postgresql, end, NULL                                  \
    }
/* Of the whole server, for as long as the test lasts. */
#define STANDBY(name)                                                                              \
    {                                                                                              \
#name " on PostgreSQL", name, begin_standby, end_standby, NULL                             \
    }
#define BOTH(name) SQLITE(name), POSTGRESQL(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SQLITE(without_libpq_the_package_is_named),
        BOTH(values_of_every_type_come_back),
        BOTH(a_place_is_known_by_its_number),
        SQLITE(placeholders_are_numbered_without_a_gap),
        BOTH(what_a_constraint_refuses_is_told_by_its_code),
        BOTH(a_mistake_in_the_sql_is_an_internal_error_and_nothing_is_told),
        BOTH(a_table_that_is_missing_is_damage),
        SQLITE(a_page_that_is_damaged_is_told_when_opened_and_when_open),
        SQLITE(a_log_that_ends_too_early_is_damage),
        BOTH(a_full_disk_is_told_by_its_code_and_reading_goes_on),
        POSTGRESQL(locks_of_others_are_waited_for_and_then_it_is_busy),
        POSTGRESQL(a_transaction_in_which_it_was_busy_is_repeated_as_a_whole),
        POSTGRESQL(text_with_a_nul_is_not_cut_off_on_postgresql),
        BOTH(a_list_is_read_page_by_page),
        BOTH(a_transaction_is_made_as_a_whole_or_not_at_all),
        BOTH(a_part_of_a_transaction_is_rolled_back_alone),
        BOTH(after_a_failed_query_a_transaction_cannot_go_on),
        BOTH(trouble_of_the_engine_spoils_the_whole_transaction),
        BOTH(a_batch_has_one_commit),
        BOTH(a_transaction_that_is_left_open_is_rolled_back),
        BOTH(a_change_that_is_not_ended_makes_its_transaction_fail),
        SQLITE(a_transaction_in_a_file_that_was_removed_has_failed),
        BOTH(a_call_leaves_no_transaction_behind),
        BOTH(what_a_crashed_call_has_left_open_is_rolled_back_by_the_next),
        BOTH(no_change_of_many_processes_is_lost),
        SQLITE(a_transaction_sleeps_until_it_is_its_turn),
        POSTGRESQL(a_transaction_is_not_repeated_for_ever),
        POSTGRESQL(a_single_query_is_repeated_as_well),
        POSTGRESQL(after_a_lost_connection_the_next_query_connects_again),
        POSTGRESQL(a_connection_that_ended_while_idle_is_noticed_before_a_change),
        POSTGRESQL(a_single_change_that_is_not_confirmed_is_told_as_unknown),
        POSTGRESQL(a_transaction_that_was_lost_before_its_commit_is_repeated),
        POSTGRESQL(a_commit_that_is_not_confirmed_is_not_repeated_blindly),
        POSTGRESQL(a_commit_that_is_not_confirmed_is_looked_up),
        POSTGRESQL(a_commit_that_comes_late_is_looked_up_again),
        POSTGRESQL(a_commit_that_was_busy_is_repeated),
        POSTGRESQL(what_looking_up_leaves_open_is_ended),
        POSTGRESQL(a_failure_after_a_commit_in_doubt_is_told_only_if_the_doubt_is_gone),
        POSTGRESQL(looking_up_is_repeated_while_the_store_is_away),
        BOTH(a_connection_is_durable_and_does_not_wait_for_ever),
        BOTH(a_later_change_is_made_in_its_turn),
        BOTH(a_later_change_that_fails_makes_the_transaction_fail),
        POSTGRESQL(a_transaction_with_later_changes_is_repeated),
        POSTGRESQL(begin_and_later_changes_take_no_round_trip),
        POSTGRESQL(a_commit_that_is_lost_with_later_changes_is_told_as_unknown),
        STANDBY(a_commit_whose_wait_for_a_standby_is_cancelled_is_told_as_unknown),
        STANDBY(what_is_found_of_a_lost_commit_is_confirmed_before_it_counts),
        STANDBY(what_was_read_can_be_confirmed),
        POSTGRESQL(a_transaction_that_cannot_be_confirmed_is_repeated),
        BOTH(without_a_standby_there_is_nothing_to_confirm),
        POSTGRESQL(a_warning_of_an_earlier_query_is_no_failure),
        POSTGRESQL(a_warning_of_the_service_itself_is_no_failure),
        BOTH(tables_are_brought_up_to_date_and_rows_are_kept),
        BOTH(a_migration_that_fails_leaves_nothing_behind),
        BOTH(a_store_is_opened_by_its_identity_or_not_at_all),
        POSTGRESQL(a_connection_is_made_again_to_the_same_store_alone),
        BOTH(a_store_that_is_up_to_date_is_opened_without_a_lock),
        SQLITE(a_plain_path_and_a_folder_are_addresses),
        SQLITE(a_file_that_cannot_be_made_is_named_as_it_was_given),
        SQLITE(a_file_belongs_to_one_service),
        SQLITE(a_file_of_another_program_is_left_alone),
        SQLITE(the_log_of_another_program_is_left_alone),
        POSTGRESQL(tables_of_another_program_are_left_alone),
        SQLITE(a_service_without_tables_for_postgresql_says_so),
        POSTGRESQL(a_server_that_has_just_started_is_connected_to),
        POSTGRESQL(an_address_that_is_wrong_is_never_repeated),
        POSTGRESQL(a_password_is_used_and_never_shown),
        POSTGRESQL(a_server_that_does_not_answer_can_be_tried_again),
        BOTH(every_allocation_may_fail),
    };
    struct CMUnitTest here[sizeof tests / sizeof *tests]; /* all that can be run */
    size_t count = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if ((tests[i].setup_func != begin_postgresql && tests[i].setup_func != begin_standby) ||
            getenv("STORE_POSTGRESQL"))
            here[count++] = tests[i];
    if (count < sizeof tests / sizeof *tests)
        printf("# SKIP there is no PostgreSQL: %zu tests\n", sizeof tests / sizeof *tests - count);
    fflush(stdout);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return _cmocka_run_group_tests("stores", here, count, NULL, NULL);
}
