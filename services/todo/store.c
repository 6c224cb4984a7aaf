/* The connection, one query after the other, and the queue of writers. */
#include "todo/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LOG_PAGES = 1000 }; /* in the log, before they are copied into the file */

/* -- failures ---------------------------------------------------------------------------------- */

bool todo_is_busy(int result)
{
    return (result & 0xff) == SQLITE_BUSY || (result & 0xff) == SQLITE_LOCKED;
}

mishap *todo_store_failure(const todo_store *store, int result)
{
    sqlite3 *database = store->database;
    if (result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE)
        return NULL;
    mishap *m = todo_is_busy(result)
                    ? mishap_retry_after(mishap_raise(UNAVAILABLE, "The store is busy."), 1000)
                    : mishap_raise(INTERNAL_ERROR, "The store failed.");
    m = mishap_note(m, "sqlite", database ? sqlite3_errmsg(database) : sqlite3_errstr(result));
    return mishap_note(m, "sqlite_result", result);
}

/* A store that was open and cannot be used any more. Why, is for the operator; the library tries to
 * open it again, and tells callers what comes of that. */
mishap *todo_store_lost(todo_store *store, mishap *cause)
{
    if (store->call)
        mishap_service_lost(store->call);
    mishap *m = mishap_raise(UNAVAILABLE, "The store is not available.");
    return mishap_because(mishap_retry_after(m, 1000), cause);
}

/* -- waiting for other processes --------------------------------------------------------------- */

int64_t todo_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A write takes well below a millisecond, so look again soon; each time a little later. */
void todo_pause(int times)
{
    long microseconds = times < 10 ? 100 + 100 * times : 1500;
    nanosleep(&(struct timespec){ .tv_nsec = microseconds * 1000 }, NULL);
}

/* SQLite asks: another process has the lock, shall we try again? The time in the queue counts as
 * well: if another program keeps the file locked, everybody in the queue is told so after the same
 * time, not one after the other. */
int todo_wait_for_others(void *state, int times)
{
    const todo_store *store = state;
    int patience = store->connecting ? TODO_SHORT_PATIENCE : TODO_PATIENCE;
    if (todo_now_ms() - store->begun_ms > patience)
        return 0;
    todo_pause(times);
    return 1;
}

/* -- the queue of writers ---------------------------------------------------------------------- */

/*
 * The lock belongs to the open file and not to the process (OFD), so it has nothing to do with the
 * locks that SQLite has on the same file, and the kernel releases it when the process ends, however
 * it ends. It is on one byte far beyond those that SQLite locks (from 1 << 30 on) and beyond the
 * largest file that SQLite can have (1 << 48).
 *
 * Some file systems know no such lock. Then writers do without the queue, as other programs do.
 */
static const off_t queue_byte = (off_t)1 << 62;

static bool lock_queue(const todo_store *store, int command, short type)
{
    struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = queue_byte, .l_len = 1 };
    int result;
    while ((result = fcntl(store->queue, command, &lock)) != 0 && errno == EINTR)
        ;
    return result == 0;
}

void todo_store_wait_for_turn(todo_store *store)
{
    if (!store->has_turn && store->queue >= 0)
        store->has_turn = lock_queue(store, F_OFD_SETLKW, F_WRLCK);
}

void todo_store_end_turn(todo_store *store)
{
    if (store->has_turn)
        lock_queue(store, F_OFD_SETLK, F_UNLCK);
    store->has_turn = false;
}

/* SQLite calls this after a commit, when it has released its lock. The next writer can go on while
 * this process copies the log into the file, which waits for the disk. SQLite would do it as often,
 * and would not care either whether it fails: the log is complete, and a later commit tries again.
 */
static int committed(void *state, sqlite3 *database, const char *name, int pages)
{
    todo_store_end_turn(state);
    if (pages >= LOG_PAGES)
        sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

/* -- the connection ---------------------------------------------------------------------------- */

/* SQLite first: see `queue`. Closing that ends our turn as well. */
void todo_store_disconnect(todo_store *store)
{
    for (size_t i = 0; i < TODO_STATEMENTS; i++) {
        sqlite3_finalize(store->kept[i]);
        store->kept[i] = NULL;
    }
    sqlite3_close(store->database);
    store->database = NULL;
    store->running = NULL;
    if (store->queue >= 0)
        close(store->queue);
    store->queue = -1;
    store->has_turn = false;
}

void todo_leave_log_alone(sqlite3 *database, bool alone)
{
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, alone, NULL);
}

int todo_store_set_up(todo_store *store)
{
    sqlite3 *database = store->database;
    sqlite3_extended_result_codes(database, 1);
    sqlite3_busy_handler(database, todo_wait_for_others, store);
    sqlite3_wal_hook(database, committed, store);
    /* The file may come from anywhere: nothing in its schema is run, nothing writes past SQL. */
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    todo_leave_log_alone(database, true); /* until it is known what the file is */
    return sqlite3_exec(database, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL", NULL, NULL,
                        NULL);
}

/* -- one query after the other ----------------------------------------------------------------- */

/* A change that a call was ended in is not to be made, but SQLite commits a statement that is reset
 * after its first row. One that is interrupted is rolled back. */
static void roll_back(todo_store *store)
{
    if (sqlite3_stmt_busy(store->running) && !sqlite3_stmt_readonly(store->running)) {
        sqlite3_interrupt(store->database);
        sqlite3_step(store->running);
    }
}

/* What is left of a query that was not ended; usually nothing. */
static void abandon_query(todo_store *store)
{
    if (store->running) {
        roll_back(store);
        todo_store_end(store, false);
    }
}

static void abandon(void *state)
{
    todo_store *store = state;
    abandon_query(store);
    store->call = NULL;
}

todo_store *todo_store_of(mishap_call *call)
{
    todo_store *store = mishap_state(call);
    mishap_call_defer(call, abandon, store);
    store->call = call;
    return store;
}

mishap *todo_store_begin(todo_store *store, todo_statement which, sqlite3_stmt **statement,
                         int *result)
{
    abandon_query(store);
    *statement = NULL;
    mishap *failure = store->database ? NULL : todo_store_connect_again(store, store->identity);
    if (failure)
        return todo_store_lost(store, failure);
    store->begun_ms = todo_now_ms();
    failure = todo_store_look(store, todo_sql_of[which].writes ? TODO_WILL_WRITE : TODO_READS);
    if (failure)
        return failure;
    *result = SQLITE_OK;
    if (!store->kept[which])
        *result = sqlite3_prepare_v3(store->database, todo_sql_of[which].text, -1,
                                     SQLITE_PREPARE_PERSISTENT, &store->kept[which], NULL);
    store->running = *statement = store->kept[which];
    return NULL;
}

mishap *todo_store_end(todo_store *store, bool broken)
{
    if (store->running) {
        sqlite3_reset(store->running);
        sqlite3_clear_bindings(store->running);
    }
    store->running = NULL;
    if (broken)
        todo_store_disconnect(store);
    todo_store_end_turn(store);
    mishap *failure = broken ? todo_store_connect_again(store, store->identity) : NULL;
    return failure ? todo_store_lost(store, failure) : NULL;
}

/* -- the store --------------------------------------------------------------------------------- */

const char *todo_store_identity(const todo_store *store)
{
    return store->identity;
}

void todo_store_close(todo_store *store)
{
    if (!store)
        return;
    todo_store_disconnect(store); /* the last process that does so folds the log into the file */
    mishap_release(store);
}
