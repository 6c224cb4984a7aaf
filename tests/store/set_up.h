/*
 * A store for each test, on one engine or the other. tests/store/postgres.py starts PostgreSQL and
 * runs a program with its address; without one, the tests on PostgreSQL are skipped.
 */
#ifndef MISHAP_SET_UP_H
#define MISHAP_SET_UP_H

#include "store/postgresql.h"
#include "testing.h"

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
    WAITING,
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
    [WAITING] = { ONLY(
        "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") },
    [END_WAITING] = { ONLY("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE"
                           " wait_event = 'SyncRep'") },
    /* A number that no row has. */
    [WARN_READING] = { ONLY("SELECT pg_cancel_backend(2147483647)") },
    [WARN] = { ONLY("DO $$ BEGIN RAISE WARNING 'marker'; END $$"), .writes = true },
    [SET_VERSION] = { ONLY("UPDATE store SET version = ?1"), .writes = true },
};

/* Each test has a schema of its own, which on PostgreSQL is new in the same database. */
static char schema_name[40];

static mishap_store_schema schema;

static char folder[64], file[128], address[512];
static bool on_postgresql;
static mishap_store *store;

static inline int begin(const char *where)
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

static inline int begin_sqlite(void **state)
{
    (void)state;
    return begin(NULL);
}

static inline int begin_postgresql(void **state)
{
    (void)state;
    return begin(getenv("STORE_POSTGRESQL"));
}

static inline int end(void **state)
{
    (void)state;
    mishap_store_close(store);
    return remove_tree(folder);
}

static inline void assert_fine(mishap *failure)
{
    mishap_buffer account = { 0 };
    if (!failure)
        return;
    mishap_account(failure, &account);
    fail_msg("%.*s", (int)account.length, account.data);
}

static inline void open_store(void)
{
    assert_fine(mishap_store_open(address, NULL, &schema, &store));
}

/* No internal detail is told, in any format, unless it is a failure to open the store, which is for
 * the operator. `account` is what the operator reads. */
static char account[16384];

static inline void assert_failure(mishap *failure, const mishap_code *code, bool retryable)
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

static inline mishap *insert_owned(mishap_store *into, int64_t id, const char *name, int64_t owner,
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

static inline mishap *insert(mishap_store *into, int64_t id, const char *name)
{
    mishap_query query;
    return insert_owned(into, id, name, 0, &query);
}

static inline mishap *read_number(mishap_store *from, size_t statement, int64_t *number)
{
    mishap_query query;
    mishap_query_begin(&query, from, statement);
    if (mishap_query_step(&query))
        *number = mishap_query_integer(&query, 0);
    return mishap_query_end(&query);
}

static inline int64_t number_of(size_t statement)
{
    int64_t number = -1;
    assert_fine(read_number(store, statement, &number));
    return number;
}

static inline mishap *run(mishap_store *on, size_t statement)
{
    mishap_query query;
    mishap_query_begin(&query, on, statement);
    while (mishap_query_step(&query))
        ;
    return mishap_query_end(&query);
}

static inline mishap *insert_later(mishap_store *into, int64_t id)
{
    mishap_query query;
    mishap_query_begin(&query, into, INSERT_LATER);
    mishap_query_bind_integer(&query, 1, id);
    assert_false(mishap_query_step(&query));
    return mishap_query_end(&query);
}

static inline int begin_standby(void **state)
{
    begin_postgresql(state);
    open_store();
    assert_fine(run(store, STANDBY_AWAY));
    assert_fine(run(store, RELOAD));
    return 0;
}

#define SQLITE(name)                                                                               \
    {                                                                                              \
#name " on SQLite", name, begin_sqlite, end, NULL                                          \
    }

#define POSTGRESQL(name)                                                                           \
    {                                                                                              \
#name " on PostgreSQL", name, begin_postgresql, end, NULL                                  \
    }

#define BOTH(name) SQLITE(name), POSTGRESQL(name)

/* All that can be run here. */
static inline int run_on_stores(const struct CMUnitTest *tests, size_t count)
{
    static struct CMUnitTest here[200];
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < sizeof here / sizeof *here; i++)
        if ((tests[i].setup_func != begin_postgresql && tests[i].setup_func != begin_standby) ||
            getenv("STORE_POSTGRESQL"))
            here[kept++] = tests[i];
    if (kept < count)
        printf("# SKIP there is no PostgreSQL: %zu tests\n", count - kept);
    fflush(stdout);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return _cmocka_run_group_tests("stores", here, kept, NULL, NULL);
}

#endif
