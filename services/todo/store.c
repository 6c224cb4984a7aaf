/* Opening the file, bringing its tables up to date, the connection, and the queue of writers. */
#include "todo/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LOG_PAGES = 1000 }; /* in the log, before they are copied into the file */

struct todo_store {
    sqlite3 *database; /* NULL: closed after a failure, and the next query connects again */

    /*
     * A descriptor of the same file, for the lock at which writers queue; -1: there is none, and
     * writers meet at SQLite's lock.
     *
     * When a process closes any descriptor of a file, the kernel drops all POSIX locks that the
     * process has on that file, and SQLite's locks are such locks. So this one is closed only after
     * SQLite has closed the file, and no second store of the process may be on the same file.
     */
    int queue;
    bool has_turn;                       /* the lock of the queue is ours */
    int64_t begun_ms;                    /* the query, or connecting, on the monotonic clock */
    sqlite3_stmt *running;               /* NULL: no query is under way */
    sqlite3_stmt *kept[TODO_STATEMENTS]; /* prepared when first needed */
    bool opened;                         /* once, with success */
    char path[];
};

/* -- failures ---------------------------------------------------------------------------------- */

static bool busy(int result)
{
    return (result & 0xff) == SQLITE_BUSY || (result & 0xff) == SQLITE_LOCKED;
}

mishap *todo_store_failure(const todo_store *store, int result)
{
    sqlite3 *database = store->database;
    if (result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE)
        return NULL;
    mishap *m = busy(result)
                    ? mishap_retry_after(mishap_raise(UNAVAILABLE, "The store is busy."), 1000)
                    : mishap_raise(INTERNAL_ERROR, "The store failed.");
    m = mishap_note(m, "sqlite", database ? sqlite3_errmsg(database) : sqlite3_errstr(result));
    return mishap_note(m, "sqlite_result", result);
}

/* What is wrong with a file that is to be opened is told to whoever set it up, and trying again is
 * no help. */
static mishap *cannot_open(const todo_store *store, int result)
{
    static const struct {
        int result;
        const char *words;
    } known[] = {
        { SQLITE_NOTADB, "is no SQLite database" },
        { SQLITE_CORRUPT, "is damaged" },
        { SQLITE_CANTOPEN, "cannot be opened" },
        { SQLITE_PERM, "cannot be opened" },
        { SQLITE_READONLY, "cannot be written" },
        { SQLITE_FULL, "cannot be written: the disk is full" },
        { SQLITE_IOERR, "cannot be read or written" },
    };
    mishap *failure = todo_store_failure(store, result);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((result & 0xff) == known[i].result)
            return mishap_because(
                mishap_raise(NOT_CONFIGURED, "The store %s %s.", store->path, known[i].words),
                failure);
    return failure;
}

/* -- waiting for other processes --------------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A write takes well below a millisecond, so look again soon; each time a little later. */
static void pause_a_little(int times)
{
    long microseconds = times < 10 ? 100 + 100 * times : 1500;
    nanosleep(&(struct timespec){ .tv_nsec = microseconds * 1000 }, NULL);
}

/* SQLite asks: another process has the lock, shall we try again? The time in the queue counts as
 * well: if another program keeps the file locked, everybody in the queue is told so after the same
 * time, not one after the other. */
static int wait_for_others(void *state, int times)
{
    const todo_store *store = state;
    if (now_ms() - store->begun_ms > TODO_PATIENCE)
        return 0;
    pause_a_little(times);
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

static void end_turn(todo_store *store)
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
    end_turn(state);
    if (pages >= LOG_PAGES)
        sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

/* -- the connection ---------------------------------------------------------------------------- */

/* SQLite first: see `queue`. Closing that ends our turn as well. */
static void disconnect(todo_store *store)
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

static int set_up(todo_store *store)
{
    sqlite3 *database = store->database;
    sqlite3_extended_result_codes(database, 1);
    sqlite3_busy_handler(database, wait_for_others, store);
    sqlite3_wal_hook(database, committed, store);
    /* The file may come from anywhere: nothing in its schema is run, nothing writes past SQL. */
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return sqlite3_exec(database, "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL", NULL,
                        NULL, NULL);
}

/*
 * If the file is replaced between the two times that it is opened here, the queue is at another
 * file than the data. The same holds between processes, if the file is replaced while one has it
 * open. Nothing is lost by it: SQLite's lock, which is at the file with the data, decides who may
 * write, and writers who are not in the same queue wait there.
 */
static mishap *connect_to_file(todo_store *store)
{
    store->begun_ms = now_ms();
    int result = sqlite3_open_v2(store->path, &store->database,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (result == SQLITE_OK)
        result = set_up(store);
    mishap *failure = store->opened ? todo_store_failure(store, result)
                                    : cannot_open(store, result);
    if (failure)
        disconnect(store);
    else
        store->queue = open(store->path, O_RDWR | O_CLOEXEC);
    return mishap_note(failure, "path", store->path);
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
static void abandon(void *state)
{
    todo_store *store = state;
    if (store->running) {
        roll_back(store);
        todo_store_end(store, false);
    }
}

todo_store *todo_store_of(mishap_call *call)
{
    todo_store *store = mishap_state(call);
    mishap_call_defer(call, abandon, store);
    return store;
}

mishap *todo_store_begin(todo_store *store, todo_statement which, sqlite3_stmt **statement,
                         int *result)
{
    abandon(store);
    *statement = NULL;
    mishap *failure = store->database ? NULL : connect_to_file(store);
    if (failure)
        return failure;
    store->begun_ms = now_ms();
    *result = SQLITE_OK;
    if (!store->kept[which])
        *result = sqlite3_prepare_v3(store->database, todo_sql_of[which].text, -1,
                                     SQLITE_PREPARE_PERSISTENT, &store->kept[which], NULL);
    store->running = *statement = store->kept[which];
    return NULL;
}

void todo_store_end(todo_store *store, bool broken)
{
    if (store->running) {
        sqlite3_reset(store->running);
        sqlite3_clear_bindings(store->running);
    }
    store->running = NULL;
    if (broken)
        disconnect(store);
    end_turn(store);
}

/* -- the file ---------------------------------------------------------------------------------- */

/* A file that SQLite makes could be read by others. One that is there already is left alone: to
 * close it here would drop the locks that this process has on it. */
static mishap *make_file(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno != EEXIST)
        return mishap_tell_cause(mishap_raise(NOT_CONFIGURED, "The store %s cannot be made.", path),
                                 strerrordesc_np(errno));
    if (file >= 0)
        close(file);
    return NULL;
}

/* To change the kind of log the whole file is locked, and SQLite does not wait for that. */
static int use_write_ahead_log(sqlite3 *database)
{
    int64_t start = now_ms();
    int result;
    for (int times = 0;; times++) {
        result = sqlite3_exec(database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (!busy(result) || now_ms() - start > TODO_PATIENCE)
            return result;
        pause_a_little(times);
    }
}

static int read_version(sqlite3 *database, int *version)
{
    sqlite3_stmt *statement;
    int result = sqlite3_prepare_v2(database, "PRAGMA user_version", -1, &statement, NULL);
    if (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW)
        *version = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return result == SQLITE_ROW ? SQLITE_OK : result;
}

static int run_migrations(sqlite3 *database, int version)
{
    char done[48];
    int result = SQLITE_OK;
    for (; result == SQLITE_OK && todo_migrations[version]; version++)
        result = sqlite3_exec(database, todo_migrations[version], NULL, NULL, NULL);
    sqlite3_snprintf(sizeof done, done, "PRAGMA user_version = %d", version);
    return result == SQLITE_OK ? sqlite3_exec(database, done, NULL, NULL, NULL) : result;
}

/* From the version that the file has to ours, while no other process can see the half of it.
 * Another process may have done it since we looked. */
static int bring_up_to_date(sqlite3 *database, int newest, int *version)
{
    int result = sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = read_version(database, version);
    if (result == SQLITE_OK && *version < newest)
        result = run_migrations(database, *version);
    if (result == SQLITE_OK)
        result = sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    if (!sqlite3_get_autocommit(database))
        sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    return result;
}

/* A file that is up to date is not locked, so that opening it waits for no writer. */
static mishap *migrate(todo_store *store)
{
    int version = 0, newest = 0;
    while (todo_migrations[newest])
        newest++;
    int result = read_version(store->database, &version);
    if (result == SQLITE_OK && version >= 0 && version < newest) {
        todo_store_wait_for_turn(store);
        result = bring_up_to_date(store->database, newest, &version);
        end_turn(store);
    }
    mishap *failure = cannot_open(store, result);
    if (!failure && (version < 0 || version > newest))
        failure = mishap_raise(NOT_CONFIGURED,
                               "The store %s has version %d, but this program knows only up to %d.",
                               store->path, version, newest);
    return failure;
}

/* -- the store --------------------------------------------------------------------------------- */

static todo_store *new_store(const char *path)
{
    size_t size = strlen(path) + 3;
    todo_store *store = mishap_allocate(sizeof *store + size);
    if (!store)
        return NULL;
    *store = (todo_store){ .queue = -1 };
    /* Else SQLite would take names such as ":memory:" for something special. */
    sqlite3_snprintf((int)size, store->path, "%s%s", *path == '/' ? "" : "./", path);
    return store;
}

mishap *todo_store_open(const char *path, todo_store **out)
{
    todo_store *store = new_store(path);
    *out = NULL;
    if (!store)
        return mishap_out_of_memory();
    mishap *failure = make_file(store->path);
    if (!failure)
        failure = connect_to_file(store);
    if (!failure)
        failure = cannot_open(store, use_write_ahead_log(store->database));
    if (!failure)
        failure = migrate(store);
    if (failure) {
        todo_store_close(store);
        return mishap_note(failure, "path", path);
    }
    store->opened = true;
    *out = store;
    return NULL;
}

void todo_store_close(todo_store *store)
{
    if (!store)
        return;
    disconnect(store); /* the last process that does so folds the log into the file */
    mishap_release(store);
}
