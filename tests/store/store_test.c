/*
 * Stores on both engines, by the public header: values, refusals, pages, migrations, addresses, and
 * what is told of failures.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "testing.h"
#include "set_up.h"

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

/* Its newest rows are in its log, and the last process that closes it would fold them into the
 * file. */
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

/* Another process migrates, or writes. */
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
    /* The lock is held all the time: what waited for it would fail. */
    assert_fine(reopen(NULL, &schema));
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
    assert_int_equal(status.st_mode & 0777, 0600); /* no other user may read it */
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
    connect_really = mishap_libpq.PQconnectStartParams;
    mishap_libpq.PQconnectStartParams = connect_to_a_starting_server;
    connections = 0;
    open_store();
    assert_int_equal(connections, 2);
    mishap_libpq.PQconnectStartParams = connect_really;
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
    return run_on_stores(tests, sizeof tests / sizeof *tests);
}
