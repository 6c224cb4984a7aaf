/* Opening the file, bringing its tables up to date, and who may use which connection. */
#include "todo/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Connections of one kind. Guarded by the store's lock. */
struct lane {
    todo_connection *idle;
    int open, most;
    pthread_cond_t returned;
};

struct todo_store {
    pthread_mutex_t lock;
    struct lane readers, writers;
    bool opened; /* once, with success; set before others use it */
    char path[];
};

/* -- failures ---------------------------------------------------------------------------------- */

static bool busy(int result)
{
    return (result & 0xff) == SQLITE_BUSY || (result & 0xff) == SQLITE_LOCKED;
}

mishap *todo_store_failure(sqlite3 *database, int result)
{
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
static mishap *cannot_open(const char *path, sqlite3 *database, int result)
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
    mishap *failure = todo_store_failure(database, result);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((result & 0xff) == known[i].result)
            return mishap_because(
                mishap_raise(NOT_CONFIGURED, "The store %s %s.", path, known[i].words), failure);
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

/* SQLite asks: another process has the lock, shall we try again? */
static int wait_for_others(void *state, int times)
{
    todo_connection *connection = state;
    if (times == 0)
        connection->waiting_since = now_ms();
    else if (now_ms() - connection->waiting_since > TODO_PATIENCE)
        return 0;
    pause_a_little(times);
    return 1;
}

/* -- one connection ---------------------------------------------------------------------------- */

static void disconnect(todo_connection *connection)
{
    for (size_t i = 0; i < TODO_STATEMENTS; i++)
        sqlite3_finalize(connection->kept[i]);
    sqlite3_close(connection->database);
    free(connection);
}

static int set_up(todo_connection *connection)
{
    sqlite3 *database = connection->database;
    sqlite3_extended_result_codes(database, 1);
    sqlite3_busy_handler(database, wait_for_others, connection);
    /* The file may come from anywhere: nothing in its schema is run, nothing writes past SQL. */
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return sqlite3_exec(database, "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL", NULL,
                        NULL, NULL);
}

static mishap *connect_to(const todo_store *store, bool writes, todo_connection **out)
{
    const char *path = store->path;
    todo_connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return mishap_out_of_memory();
    connection->writes = writes;
    int result = sqlite3_open_v2(path, &connection->database,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (result == SQLITE_OK)
        result = set_up(connection);
    mishap *failure = store->opened ? todo_store_failure(connection->database, result)
                                    : cannot_open(path, connection->database, result);
    if (failure)
        disconnect(connection);
    else
        *out = connection;
    return mishap_note(failure, "path", path);
}

/* -- taking turns ------------------------------------------------------------------------------ */

/* Wait for a connection, or for room to make one. False: it took too long. The lock is held. */
static bool wait_for_turn(todo_store *store, struct lane *lane)
{
    struct timespec until;
    int late = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += TODO_PATIENCE / 1000;
    while (!lane->idle && lane->open == lane->most && !late)
        late = pthread_cond_timedwait(&lane->returned, &store->lock, &until);
    return lane->idle || lane->open < lane->most;
}

mishap *todo_store_take(todo_store *store, bool to_write, todo_connection **out)
{
    struct lane *lane = to_write ? &store->writers : &store->readers;
    pthread_mutex_lock(&store->lock);
    bool ours = (lane->idle || lane->open < lane->most) || wait_for_turn(store, lane);
    todo_connection *connection = ours ? lane->idle : NULL;
    if (connection)
        lane->idle = connection->next;
    else if (ours)
        lane->open++;
    pthread_mutex_unlock(&store->lock);
    *out = connection;
    if (connection)
        return NULL;
    if (!ours)
        return mishap_retry_after(mishap_raise(UNAVAILABLE, "The store is busy."), 1000);
    mishap *failure = connect_to(store, to_write, out);
    if (failure) {
        pthread_mutex_lock(&store->lock);
        lane->open--;
        pthread_cond_signal(&lane->returned);
        pthread_mutex_unlock(&store->lock);
    }
    return failure;
}

void todo_store_give_back(todo_store *store, todo_connection *connection, bool broken)
{
    struct lane *lane = connection->writes ? &store->writers : &store->readers;
    if (broken)
        disconnect(connection);
    pthread_mutex_lock(&store->lock);
    if (broken) {
        lane->open--;
    } else {
        connection->next = lane->idle;
        lane->idle = connection;
    }
    pthread_cond_signal(&lane->returned);
    pthread_mutex_unlock(&store->lock);
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

/* From the version that the file has to ours, while no other process can see the half of it. */
static mishap *migrate(const char *path, sqlite3 *database)
{
    int version = 0, newest = 0;
    while (todo_migrations[newest])
        newest++;
    int result = sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = read_version(database, &version);
    bool known = version >= 0 && version <= newest;
    if (result == SQLITE_OK && known && version < newest)
        result = run_migrations(database, version);
    if (result == SQLITE_OK)
        result = sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    mishap *failure = cannot_open(path, database, result);
    if (!failure && !known)
        failure = mishap_raise(NOT_CONFIGURED,
                               "The store %s has version %d, but this program knows only up to %d.",
                               path, version, newest);
    if (!sqlite3_get_autocommit(database))
        sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    return failure;
}

/* -- the store --------------------------------------------------------------------------------- */

static bool init_turns(todo_store *store)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    /* These fail on clocks that there are not and attributes that are broken, and on nothing else.
     */
    bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(&store->readers.returned, &attributes) == 0 &&
                pthread_cond_init(&store->writers.returned, &attributes) == 0 &&
                pthread_mutex_init(&store->lock, NULL) == 0;
    pthread_condattr_destroy(&attributes);
    return made;
}

static todo_store *new_store(const char *path)
{
    size_t size = strlen(path) + 3;
    todo_store *store = calloc(1, sizeof *store + size);
    if (!store || !init_turns(store)) {
        free(store);
        return NULL;
    }
    /* Else SQLite would take names such as ":memory:" for something special. */
    sqlite3_snprintf((int)size, store->path, "%s%s", *path == '/' ? "" : "./", path);
    store->readers.most = TODO_READERS;
    store->writers.most = 1;
    return store;
}

mishap *todo_store_open(const char *path, todo_store **out)
{
    todo_connection *connection = NULL;
    todo_store *store = new_store(path);
    *out = NULL;
    if (!store)
        return mishap_out_of_memory();
    mishap *failure = make_file(store->path);
    if (!failure)
        failure = todo_store_take(store, true, &connection);
    if (!failure)
        failure = cannot_open(store->path, connection->database,
                              use_write_ahead_log(connection->database));
    if (!failure)
        failure = migrate(store->path, connection->database);
    if (connection)
        todo_store_give_back(store, connection, failure != NULL);
    if (failure) {
        todo_store_close(store);
        return mishap_note(failure, "path", path);
    }
    store->opened = true;
    *out = store;
    return NULL;
}

static void close_lane(struct lane *lane)
{
    while (lane->idle) {
        todo_connection *connection = lane->idle;
        lane->idle = connection->next;
        disconnect(connection);
    }
    pthread_cond_destroy(&lane->returned);
}

void todo_store_close(todo_store *store)
{
    if (!store)
        return;
    close_lane(&store->readers);
    close_lane(&store->writers); /* the last one folds the log into the file */
    pthread_mutex_destroy(&store->lock);
    free(store);
}
