/* The connection to a file, and the queue of writers. */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LOG_PAGES = 1000 }; /* in the log, before they are copied into the file */

/* -- failures ---------------------------------------------------------------------------------- */

bool mishap_sqlite_is_busy(int result)
{
    return (result & 0xff) == SQLITE_BUSY || (result & 0xff) == SQLITE_LOCKED;
}

static bool is_no_room(int reason)
{
    return reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
}

/* SQLite itself reports only ENOSPC of a write as a full disk. A quota and the largest size of a
 * file mean the same to a caller. Each open file has its own last error. */
static bool is_full(const sqlite_store *store, int result)
{
    int of_file = 0, of_log = 0;
    sqlite3_file *log = NULL;
    if ((result & 0xff) == SQLITE_FULL || result == SQLITE_IOERR_SHMSIZE)
        return true;
    if (!store->database || (result != SQLITE_IOERR_WRITE && result != SQLITE_IOERR_FSYNC))
        return false;
    sqlite3_file_control(store->database, "main", SQLITE_FCNTL_LAST_ERRNO, &of_file);
    sqlite3_file_control(store->database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log && log->pMethods)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &of_log);
    return is_no_room(of_file) || is_no_room(of_log);
}

/* A page with impossible content, a file that ends too early, a missing table. SQLite has no error
 * code for the last. */
static bool is_damaged(const sqlite_store *store, int result)
{
    static const char no_table[] = "no such table";
    switch (result) {
    case SQLITE_IOERR_SHORT_READ:
    case SQLITE_IOERR_DATA:
    case SQLITE_IOERR_CORRUPTFS:
        return true;
    case SQLITE_ERROR:
        return store->database &&
               strncmp(sqlite3_errmsg(store->database), no_table, sizeof no_table - 1) == 0;
    default:
        return (result & 0xff) == SQLITE_CORRUPT || (result & 0xff) == SQLITE_NOTADB;
    }
}

store_trouble mishap_sqlite_trouble(const sqlite_store *store, int result)
{
    switch (result) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return STORE_FINE;
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
        return STORE_TAKEN;
    case SQLITE_CONSTRAINT_FOREIGNKEY:
        return STORE_DANGLING;
    default:
        break;
    }
    if (mishap_sqlite_is_busy(result))
        return STORE_BUSY;
    if (is_damaged(store, result))
        return STORE_DAMAGED;
    return is_full(store, result) ? STORE_FULL : STORE_BROKEN;
}

mishap *mishap_sqlite_failure(const sqlite_store *store, int result)
{
    sqlite3 *database = store->database;
    store_trouble trouble = mishap_sqlite_trouble(store, result);
    mishap *m = mishap_store_failure(trouble);
    if (mishap_store_is_refusal(trouble))
        return m;
    m = mishap_note(m, "sqlite", database ? sqlite3_errmsg(database) : sqlite3_errstr(result));
    return mishap_note(m, "sqlite_result", result);
}

/* -- waiting for other processes --------------------------------------------------------------- */

/* A write takes well below a millisecond, so try again soon; each time a little later. */
void mishap_sqlite_pause(int times)
{
    long microseconds = times < 10 ? 100 + 100 * times : 1500;
    nanosleep(&(struct timespec){ .tv_nsec = microseconds * 1000 }, NULL);
}

/* SQLite asks whether to try again while another process has the lock. The time in the queue counts
 * as well: if another program keeps the file locked, all callers in the queue are told so after the
 * same time, not one after the other. */
int mishap_sqlite_wait_for_others(void *state, int times)
{
    const sqlite_store *store = state;
    int patience = store->connecting ? STORE_SHORT_PATIENCE : MISHAP_STORE_PATIENCE;
    if (mishap_store_now_ms() - store->base.begun_ms > patience)
        return 0;
    mishap_sqlite_pause(times);
    return 1;
}

/* -- the queue of writers ---------------------------------------------------------------------- */

/*
 * The lock belongs to the open file and not to the process (OFD), so it does not interfere with the
 * locks that SQLite has on the same file, and the kernel releases it when the process ends in any
 * way. It is on one byte far beyond those that SQLite locks (from 1 << 30 on) and beyond the
 * largest file that SQLite can have (1 << 48).
 *
 * Some file systems do not support such locks. Then writers do without the queue, as other programs
 * do.
 */
static const off_t queue_byte = (off_t)1 << 62;

static bool lock_queue(const sqlite_store *store, int command, short type)
{
    struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = queue_byte, .l_len = 1 };
    int result;
    while ((result = fcntl(store->queue, command, &lock)) != 0 && errno == EINTR)
        ;
    return result == 0;
}

void mishap_sqlite_wait_for_turn(sqlite_store *store)
{
    if (!store->has_turn && store->queue >= 0)
        store->has_turn = lock_queue(store, F_OFD_SETLKW, F_WRLCK);
}

void mishap_sqlite_end_turn(sqlite_store *store)
{
    if (store->has_turn)
        lock_queue(store, F_OFD_SETLK, F_UNLCK);
    store->has_turn = false;
}

/* SQLite calls this after a commit, when it has released its lock. The next writer can go on while
 * this process copies the log into the file, which waits for the disk. SQLite would do it as often,
 * and would ignore a failure, too: the log is complete, and a later commit tries again. */
static int committed(void *state, sqlite3 *database, const char *name, int pages)
{
    mishap_sqlite_end_turn(state);
    if (pages >= LOG_PAGES)
        sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

/* -- the connection ---------------------------------------------------------------------------- */

static void forget_statements(sqlite3_stmt **statements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sqlite3_finalize(statements[i]);
        statements[i] = NULL;
    }
}

/* SQLite first: see `queue`. Closing that file ends the turn of this process as well. */
void mishap_sqlite_disconnect(sqlite_store *store)
{
    forget_statements(store->kept, store->base.schema->statement_count);
    forget_statements(store->controls, CONTROLS);
    sqlite3_close(store->database);
    store->database = NULL;
    store->running = NULL;
    store->base.running = false;
    if (store->queue >= 0)
        close(store->queue);
    store->queue = -1;
    store->has_turn = false;
}

void mishap_sqlite_leave_log_alone(sqlite3 *database, bool alone)
{
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, alone, NULL);
}

int mishap_sqlite_set_up(sqlite_store *store)
{
    sqlite3 *database = store->database;
    sqlite3_extended_result_codes(database, 1);
    sqlite3_busy_handler(database, mishap_sqlite_wait_for_others, store);
    sqlite3_wal_hook(database, committed, store);
    /* The file may come from an untrusted source: nothing in its schema is run, and nothing is
     * written except by SQL. */
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    mishap_sqlite_leave_log_alone(database, true); /* until it is known what the file is */
    return sqlite3_exec(database, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL", NULL, NULL,
                        NULL);
}

/* -- the store --------------------------------------------------------------------------------- */

mishap_store *mishap_sqlite_store_new(mishap_text path, const mishap_store_schema *schema)
{
    static const char *const endings[STORE_FILES] = { "", "-wal", "-shm" };
    size_t size = path.length + sizeof "./-wal", align = _Alignof(sqlite3_stmt *);
    size_t paths = (sizeof(sqlite_store) + STORE_FILES * size + align - 1) / align * align;
    sqlite_store *store = mishap_allocate(paths + schema->statement_count * sizeof *store->kept);
    if (!store)
        return NULL;
    *store = (sqlite_store){ .base = { .engine = &mishap_sqlite_engine, .schema = schema },
                             .queue = -1 };
    store->kept = (sqlite3_stmt **)(void *)((char *)store + paths);
    memset(store->kept, 0, schema->statement_count * sizeof *store->kept);
    /* Otherwise SQLite would give names such as ":memory:" a special meaning. */
    for (size_t i = 0; i < STORE_FILES; i++) {
        store->paths[i] = store->path + i * size;
        snprintf(store->paths[i], size, "%s%.*s%s",
                 path.data[0] == '/' || path.data[0] == '.' ? "" : "./", (int)path.length,
                 path.data, endings[i]);
    }
    return &store->base;
}
