/* Queries and transactions on SQLite. */
#include "store/sqlite.h"

static sqlite_store *store_of(const mishap_query *query)
{
    return (sqlite_store *)query->store;
}

/* -- one query after the other ----------------------------------------------------------------- */

/* Reset the statement and, outside of a transaction, let the next writer have its turn. If the
 * connection is `broken`, connect again; a mishap: that failed. */
static mishap *finish(sqlite_store *store, bool broken)
{
    bool alone = store->base.depth == 0;
    if (store->running) {
        sqlite3_reset(store->running);
        sqlite3_clear_bindings(store->running);
    }
    store->running = NULL;
    store->base.running = false;
    if (broken)
        mishap_sqlite_disconnect(store);
    if (alone)
        mishap_sqlite_end_turn(store);
    mishap *failure = broken && alone ? mishap_sqlite_connect_again(store, store->base.identity)
                                      : NULL;
    return failure ? mishap_store_lost(&store->base, failure) : NULL;
}

/*
 * End a query that its caller did not end. Its change must not be made, but SQLite commits a
 * statement that is reset after its first row. An interrupted statement is rolled back, but a whole
 * transaction with it: so inside of one the savepoint is rolled back instead.
 */
static void abandon(mishap_store *base)
{
    sqlite_store *store = (sqlite_store *)base;
    bool writes = store->running && sqlite3_stmt_busy(store->running) &&
                  !sqlite3_stmt_readonly(store->running);
    if (writes && base->depth > 0) {
        mishap_store_note_trouble(base, STORE_BROKEN);
    } else if (writes) {
        sqlite3_interrupt(store->database);
        sqlite3_step(store->running);
    }
    mishap_free(finish(store, false));
}

/* If SQLite has rolled back a transaction by itself, or lost it with its connection, its later
 * queries must not run as single ones. */
static bool transaction_is_gone(const sqlite_store *store)
{
    return store->base.depth > 0 &&
           (!store->database || sqlite3_get_autocommit(store->database) != 0);
}

/* Make sure that there is a connection, and that the files are the ones that were opened. */
static mishap *prepare_to(sqlite_store *store, sqlite_look what)
{
    mishap *failure = store->database ? NULL
                                      : mishap_sqlite_connect_again(store, store->base.identity);
    if (failure)
        return mishap_store_lost(&store->base, failure);
    store->base.begun_ms = mishap_store_now_ms();
    return mishap_sqlite_look_for_files(store, what);
}

static void begin(mishap_query *query)
{
    sqlite_store *store = store_of(query);
    sqlite3_stmt **kept = &store->kept[query->statement];
    if (transaction_is_gone(store))
        query->failure = mishap_store_failure(STORE_BROKEN);
    else if (store->base.depth == 0)
        query->failure = prepare_to(store, query->writes ? STORE_WILL_WRITE : STORE_READS);
    if (query->failure)
        return;
    query->result = SQLITE_OK;
    if (!*kept)
        query->result = sqlite3_prepare_v3(store->database,
                                           store->base.schema->statements[query->statement].text,
                                           -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);
    query->rows = store->running = *kept;
    store->base.running = *kept != NULL;
}

/* -- values ------------------------------------------------------------------------------------ */

static int bind_value(sqlite3_stmt *statement, int place, const store_value *value)
{
    switch (value->kind) {
    case STORE_NULL:
        break;
    case STORE_INTEGER:
    case STORE_BOOLEAN:
        return sqlite3_bind_int64(statement, place, value->integer);
    case STORE_DOUBLE:
        return sqlite3_bind_double(statement, place, value->real);
    case STORE_TEXT:
        return sqlite3_bind_text64(statement, place, value->text.data, value->text.length,
                                   value->copied ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8);
    case STORE_BLOB:
        return sqlite3_bind_blob64(statement, place, value->text.data, value->text.length,
                                   SQLITE_STATIC);
    }
    return sqlite3_bind_null(statement, place);
}

static void bind(mishap_query *query, int place, const store_value *value)
{
    if (query->result == SQLITE_OK)
        query->result = bind_value(query->rows, place, value);
}

static bool step(mishap_query *query)
{
    sqlite_store *store = store_of(query);
    bool first = query->result == SQLITE_OK;
    if (first && query->writes && store->base.depth == 0)
        mishap_sqlite_wait_for_turn(store);
    if (first || query->result == SQLITE_ROW)
        query->result = sqlite3_step(query->rows);
    return query->result == SQLITE_ROW;
}

static bool is_null(mishap_query *query, int column)
{
    return sqlite3_column_type(query->rows, column) == SQLITE_NULL;
}

static int64_t integer(mishap_query *query, int column)
{
    return sqlite3_column_int64(query->rows, column);
}

static double real(mishap_query *query, int column)
{
    return sqlite3_column_double(query->rows, column);
}

/* No data: NULL in the store, no bytes, or no memory. */
static mishap_text text(mishap_query *query, int column, bool blob)
{
    const void *data = blob ? sqlite3_column_blob(query->rows, column)
                            : (const void *)sqlite3_column_text(query->rows, column);
    if (data)
        return (mishap_text){ data, (size_t)sqlite3_column_bytes(query->rows, column) };
    bool null = is_null(query, column);
    bool empty = blob && !null && sqlite3_column_bytes(query->rows, column) == 0;
    query->no_memory = query->no_memory || (!null && !empty);
    return (mishap_text){ empty ? "" : NULL, 0 };
}

/* -- the end ----------------------------------------------------------------------------------- */

static mishap *end(mishap_query *query, store_trouble *trouble)
{
    sqlite_store *store = store_of(query);
    int result = query->result;
    *trouble = mishap_sqlite_trouble(store, result);
    mishap *failure = *trouble == STORE_FINE ? NULL : mishap_sqlite_failure(store, result);
    /* A change in files that were deleted meanwhile does not count. */
    if (!failure && query->writes && store->base.depth == 0 &&
        (failure = mishap_sqlite_look_for_files(store, STORE_HAS_WRITTEN))) {
        *trouble = STORE_LOST;
        return failure;
    }
    /* After any failure but a timeout or a full disk, connect again. Connecting needs disk space,
     * for the index of the log: so after a full disk reading goes on with the old connection. */
    bool damaged = *trouble == STORE_DAMAGED;
    mishap *lost = finish(store,
                          damaged || (*trouble == STORE_BROKEN && result != SQLITE_IOERR_WRITE));
    if (damaged && lost) /* also if the file is whole again since */
        return mishap_because(failure, lost);
    return lost ? mishap_because(lost, failure) : failure;
}

/* -- transactions ------------------------------------------------------------------------------ */

static int control(sqlite_store *store, enum sqlite_control which)
{
    static const char *const texts[CONTROLS] = {
        [CONTROL_BEGIN] = "BEGIN IMMEDIATE",
        [CONTROL_COMMIT] = "COMMIT",
        [CONTROL_ROLLBACK] = "ROLLBACK",
        [CONTROL_SAVEPOINT] = "SAVEPOINT store_level",
        [CONTROL_RELEASE] = "RELEASE store_level",
        [CONTROL_ROLLBACK_TO] = "ROLLBACK TO store_level",
    };
    sqlite3_stmt **kept = &store->controls[which];
    int result = SQLITE_OK;
    if (!*kept)
        result = sqlite3_prepare_v3(store->database, texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                                    kept, NULL);
    if (result == SQLITE_OK) {
        result = sqlite3_step(*kept);
        sqlite3_reset(*kept);
    }
    return result;
}

/* The turn is kept until the end: a commit gives it up. */
static mishap *begin_transaction(sqlite_store *store, store_trouble *trouble)
{
    mishap *failure = prepare_to(store, STORE_WILL_WRITE);
    if (failure) {
        *trouble = STORE_BROKEN;
        return failure;
    }
    mishap_sqlite_wait_for_turn(store);
    int result = control(store, CONTROL_BEGIN);
    *trouble = mishap_sqlite_trouble(store, result);
    if (*trouble == STORE_FINE)
        return NULL;
    failure = mishap_sqlite_failure(store, result);
    mishap_sqlite_end_turn(store);
    return failure;
}

static void roll_back_transaction(sqlite_store *store)
{
    if (store->database && !sqlite3_get_autocommit(store->database) &&
        mishap_sqlite_trouble(store, control(store, CONTROL_ROLLBACK)) != STORE_FINE)
        mishap_sqlite_disconnect(store); /* this undoes it for certain */
    mishap_sqlite_end_turn(store);
}

/* After a commit to a file that was removed, it is not tried again: the change was made in that
 * file. */
static mishap *commit_transaction(sqlite_store *store, store_trouble *trouble)
{
    int result = control(store, CONTROL_COMMIT);
    *trouble = mishap_sqlite_trouble(store, result);
    mishap *failure = *trouble == STORE_FINE ? NULL : mishap_sqlite_failure(store, result);
    roll_back_transaction(store);
    if (!failure && (failure = mishap_sqlite_look_for_files(store, STORE_HAS_WRITTEN)))
        *trouble = STORE_BROKEN;
    return failure;
}

static mishap *change_level(sqlite_store *store, store_step step, store_trouble *trouble)
{
    static const enum sqlite_control first[] = {
        [STORE_BEGIN] = CONTROL_SAVEPOINT,
        [STORE_COMMIT] = CONTROL_RELEASE,
        [STORE_ROLL_BACK] = CONTROL_ROLLBACK_TO,
    };
    int result = control(store, first[step]);
    if (step == STORE_ROLL_BACK && mishap_sqlite_trouble(store, result) == STORE_FINE)
        result = control(store, CONTROL_RELEASE);
    *trouble = mishap_sqlite_trouble(store, result);
    return *trouble == STORE_FINE ? NULL : mishap_sqlite_failure(store, result);
}

static mishap *transact(mishap_store *base, store_step step, int level, store_trouble *trouble)
{
    sqlite_store *store = (sqlite_store *)base;
    if (level == 1 && step == STORE_BEGIN)
        return begin_transaction(store, trouble);
    if (level == 1 && step == STORE_ROLL_BACK) {
        roll_back_transaction(store);
        return NULL;
    }
    if (transaction_is_gone(store)) {
        *trouble = STORE_BROKEN;
        mishap_sqlite_end_turn(store);
        return step == STORE_ROLL_BACK ? NULL : mishap_store_failure(STORE_BROKEN);
    }
    return level == 1 ? commit_transaction(store, trouble) : change_level(store, step, trouble);
}

/* -- the engine -------------------------------------------------------------------------------- */

static void close_store(mishap_store *store)
{
    mishap_sqlite_disconnect(
        (sqlite_store *)store); /* the last process folds the log into the file */
    mishap_release(store);
}

const store_engine mishap_sqlite_engine = {
    .counts_units = true,
    .queries = MISHAP_TALLY_SQLITE_QUERIES,
    .failures = MISHAP_TALLY_SQLITE_FAILURES,
    .open = mishap_sqlite_open_store,
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
};
