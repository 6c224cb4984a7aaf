/* Opening an SQLite store: its files, its tables and its identity. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite.h"

enum { LOOK_MS = 20 }; /* queries that only read check the files at most so often */

/* -- failures ---------------------------------------------------------------------------------- */

/* A failure to open the file is reported to the operator. It is not retryable. */
static mishap *cannot_open(const sqlite_store *store, int result)
{
    static const char permit[] = "Check that the file exists, and that the server may read and "
                                 "write the file and its folder.";
    static const struct {
        int result;
        const char *words, *remedy;
    } known[] = {
        { SQLITE_CANTOPEN, "cannot be opened", permit },
        { SQLITE_PERM, "cannot be opened", permit },
        { SQLITE_READONLY, "cannot be written", permit },
        { SQLITE_FULL, "cannot be written: the disk is full", "Free some disk space." },
        { SQLITE_IOERR, "cannot be read or written", "Check the disk, then try again." },
    };
    mishap *failure = mishap_sqlite_failure(store, result);
    if (mishap_sqlite_trouble(store, result) == STORE_DAMAGED) {
        bool other = (result & 0xff) == SQLITE_NOTADB;
        mishap *m = mishap_raise(NOT_CONFIGURED, "The store %s is %s.", store->path,
                                 other ? "not an SQLite database" : "damaged");
        return mishap_because(
            mishap_store_is_damaged(m, "Restore the store from a backup, or use another store."),
            failure);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((result & 0xff) == known[i].result)
            return mishap_because(mishap_suggest(mishap_raise(NOT_CONFIGURED, "The store %s %s.",
                                                              store->path, known[i].words),
                                                 known[i].remedy),
                                  failure);
    return failure;
}

/* -- the file ---------------------------------------------------------------------------------- */

/* The name of a new file is on the disk only when its folder was synchronized. Some folders cannot
 * be: then this is skipped. */
static void sync_folder(const char *path)
{
    char folder[4096];
    int length = (int)(strrchr(path, '/') - path) + 1;
    int file = snprintf(folder, sizeof folder, "%.*s", length, path) < (int)sizeof folder
                   ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                   : -1;
    if (file < 0)
        return;
    fsync(file);
    close(file);
}

/* A file that SQLite creates could be readable by other users, so it is created here. An existing
 * file is not opened: closing it here would drop the locks that this process has on it. */
static mishap *make_file(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno != EEXIST)
        return mishap_tell_cause(
            mishap_suggest(mishap_raise(NOT_CONFIGURED, "The store %s cannot be created.", path),
                           "Check that its folder exists, and that the server may write to it."),
            strerrordesc_np(errno));
    if (file >= 0) {
        close(file);
        sync_folder(path);
    }
    return NULL;
}

/* Changing the kind of log needs a lock on the whole file, and SQLite does not wait for that. */
static int use_write_ahead_log(sqlite3 *database, int patience)
{
    int64_t start = mishap_store_now_ms();
    int result;
    for (int times = 0;; times++) {
        result = sqlite3_exec(database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (!mishap_sqlite_is_busy(result) || mishap_store_now_ms() - start > patience)
            return result;
        mishap_sqlite_pause(times);
    }
}

/* A number in the head of the file, or a count. */
static int read_pragma(sqlite3 *database, const char *sql, int *number)
{
    sqlite3_stmt *statement;
    int result = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW)
        *number = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return result == SQLITE_ROW ? SQLITE_OK : result;
}

static int read_version(sqlite3 *database, int *version)
{
    return read_pragma(database, "PRAGMA user_version", version);
}

/* The number in the file that names its service; 0: none. The version belongs to one service, so a
 * file cannot belong to two. */
static int mark_of(const mishap_store_schema *schema)
{
    /* FNV-1a with 32 bits, which is all that SQLite has room for; files have it already. */
    uint32_t hash = 2166136261;
    for (const char *c = schema->name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619;
    return (int)(hash >> 1 | 1);
}

static int run_migrations(sqlite3 *database, const mishap_store_schema *schema, int *version)
{
    char done[100];
    int result = SQLITE_OK;
    sqlite3_snprintf(sizeof done, done, "PRAGMA application_id = %d", mark_of(schema));
    if (*version == 0)
        result = sqlite3_exec(database, done, NULL, NULL, NULL);
    while (result == SQLITE_OK && schema->sqlite[*version]) {
        result = sqlite3_exec(database, schema->sqlite[*version], NULL, NULL, NULL);
        *version += result == SQLITE_OK;
    }
    sqlite3_snprintf(sizeof done, done, "PRAGMA user_version = %d", *version);
    return result == SQLITE_OK ? sqlite3_exec(database, done, NULL, NULL, NULL) : result;
}

/* Migrate the file to the newest version in one transaction, so that no other process sees a half
 * of it. Another process may have done it since the version was read. *foreign: there are tables,
 * but no version was recorded. SQLite has the words of a failure only until the next statement. */
static mishap *bring_up_to_date(sqlite_store *store, int newest, int *version, int *foreign)
{
    sqlite3 *database = store->database;
    bool running = false;
    int result = sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = read_version(database, version);
    if (result == SQLITE_OK && *version == 0)
        result = read_pragma(database, "SELECT count(*) FROM sqlite_schema", foreign);
    if (result == SQLITE_OK && (running = *version < newest && !*foreign))
        result = run_migrations(database, store->base.schema, version);
    if (result == SQLITE_OK)
        result = sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    mishap *failure = cannot_open(store, result);
    if (failure && running)
        failure = mishap_note(failure, "migration", *version + 1);
    if (!sqlite3_get_autocommit(database))
        sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    return failure;
}

static mishap *is_of_another_service(const sqlite_store *store)
{
    return mishap_suggest(
        mishap_raise(NOT_CONFIGURED, "The store %s belongs to another service.", store->path),
        "Give each service a file of its own, or give all of them a folder: sqlite:FOLDER/");
}

/* A file that is up to date is not locked, so opening it waits for no writer. */
static mishap *migrate(sqlite_store *store)
{
    const mishap_store_schema *schema = store->base.schema;
    int version = 0, mark = 0, foreign = 0, newest = mishap_store_newest(schema->sqlite);
    int result = read_version(store->database, &version);
    if (result == SQLITE_OK)
        result = read_pragma(store->database, "PRAGMA application_id", &mark);
    if (result == SQLITE_OK && mark != 0 && mark != mark_of(schema))
        return is_of_another_service(store);
    mishap *failure = cannot_open(store, result);
    if (!failure && version >= 0 && version < newest) {
        mishap_sqlite_wait_for_turn(store);
        failure = bring_up_to_date(store, newest, &version, &foreign);
        mishap_sqlite_end_turn(store);
    }
    if (!failure && foreign)
        return mishap_store_is_foreign(store->path, schema->name);
    return !failure && (version < 0 || version > newest)
               ? mishap_store_is_newer(store->path, version, newest)
               : failure;
}

/* -- where the files are ----------------------------------------------------------------------- */

static struct sqlite_place look_up(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return (struct sqlite_place){ 0, 0 };
    return (struct sqlite_place){ status.st_dev, status.st_ino };
}

static bool same(struct sqlite_place a, struct sqlite_place b)
{
    return a.device == b.device && a.number == b.number;
}

/* As long as this process has a file open, no other file gets its inode number. */
static bool in_place(const sqlite_store *store, int files)
{
    for (int i = 0; i < files; i++)
        if (store->places[i].number && !same(look_up(store->paths[i]), store->places[i]))
            return false;
    return true;
}

/* To be called after a first query, when SQLite has opened all three files. The data file must be
 * the one that SQLite has open, and so must the file of the queue: otherwise it was replaced
 * meanwhile. */
static mishap *remember_places(sqlite_store *store)
{
    struct stat queue;
    int moved = 0;
    for (int i = 0; i < STORE_FILES; i++)
        store->places[i] = look_up(store->paths[i]);
    sqlite3_file_control(store->database, NULL, SQLITE_FCNTL_HAS_MOVED, &moved);
    store->looked_ms = mishap_store_now_ms();
    if (!moved && (store->queue < 0 || (fstat(store->queue, &queue) == 0 &&
                                        same((struct sqlite_place){ queue.st_dev, queue.st_ino },
                                             store->places[STORE_DATA])))) {
        mishap_sqlite_leave_log_alone(store->database, false);
        return NULL;
    }
    return mishap_raise(NOT_CONFIGURED, "The store %s was replaced while it was opened.",
                        store->path);
}

static mishap *gone(sqlite_store *store)
{
    mishap_sqlite_leave_log_alone(store->database, true);
    mishap_sqlite_disconnect(store);
    return mishap_store_lost(
        &store->base, mishap_note(mishap_raise(INTERNAL_ERROR,
                                               "The files of the store were removed or replaced."),
                                  "path", store->path));
}

mishap *mishap_sqlite_look_for_files(sqlite_store *store, sqlite_look when)
{
    if (!store->database ||
        (when == STORE_READS && store->base.begun_ms - store->looked_ms < LOOK_MS))
        return NULL;
    store->looked_ms = store->base.begun_ms;
    return in_place(store, when == STORE_WILL_WRITE ? STORE_FILES : STORE_DATA + 1) ? NULL
                                                                                    : gone(store);
}

/* -- the identity ------------------------------------------------------------------------------ */

/* The table is independent of the versions: programs that do not know it ignore it. */
static const char has_identity[] =
    "SELECT 1 FROM sqlite_schema WHERE name = 'store' AND type = 'table'";
static const char identity_of_store[] = "SELECT identity FROM store";
static const char make_identity_of_store[] =
    "CREATE TABLE IF NOT EXISTS store (identity TEXT NOT NULL) STRICT;"
    "INSERT INTO store SELECT lower(hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM store)";

/* The first value of a query, as text. SQLITE_DONE: it has no row. */
static int read_text(sqlite3 *database, const char *sql, char *text, size_t size)
{
    sqlite3_stmt *statement;
    int result = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *found = (const char *)sqlite3_column_text(statement, 0);
        if (found)
            snprintf(text, size, "%s", found);
        else
            result = SQLITE_NOMEM;
    }
    sqlite3_finalize(statement);
    return result;
}

/* SQLITE_DONE: the store has no identity. */
static int read_identity(sqlite3 *database, char identity[STORE_IDENTITY])
{
    char found[8];
    int result = read_text(database, has_identity, found, sizeof found);
    return result == SQLITE_ROW ? read_text(database, identity_of_store, identity, STORE_IDENTITY)
                                : result;
}

/* Identify the file by its place, as long as it is there. */
static void identify_by_place(const sqlite_store *store, char identity[STORE_IDENTITY])
{
    struct sqlite_place place = look_up(store->path);
    snprintf(identity, STORE_IDENTITY, "file:%llx:%llx", (unsigned long long)place.device,
             (unsigned long long)place.number);
}

/* A store that was made before there were identities gets one, if it can be written at once: this
 * does not wait for a lock. */
static int make_identity(sqlite_store *store)
{
    sqlite3 *database = store->database;
    sqlite3_busy_handler(database, NULL, NULL);
    int result = sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    sqlite3_busy_handler(database, mishap_sqlite_wait_for_others, store);
    if (result == SQLITE_OK)
        result = sqlite3_exec(database, make_identity_of_store, NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    if (!sqlite3_get_autocommit(database))
        sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    return result == SQLITE_OK ? read_identity(database, store->base.identity) : result;
}

static mishap *identify(sqlite_store *store)
{
    int result = read_identity(store->database, store->base.identity);
    if (result == SQLITE_DONE)
        result = make_identity(store);
    if (result == SQLITE_ROW)
        return NULL;
    identify_by_place(store, store->base.identity);
    return mishap_sqlite_is_busy(result) || (result & 0xff) == SQLITE_READONLY ||
                   result == SQLITE_DONE
               ? NULL
               : cannot_open(store, result);
}

/* Check that it is the expected store, with the newest tables. */
static mishap *verify(sqlite_store *store, const char *identity)
{
    char found[STORE_IDENTITY] = "";
    int version = 0, newest = mishap_store_newest(store->base.schema->sqlite);
    bool by_place = strncmp(identity, "file:", 5) == 0;
    int result = read_version(store->database, &version);
    if (result == SQLITE_OK && version > newest)
        return mishap_store_is_newer(store->path, version, newest);
    if (by_place)
        identify_by_place(store, found);
    else if (result == SQLITE_OK)
        result = read_identity(store->database, found);
    if (result != SQLITE_OK && result != SQLITE_ROW && result != SQLITE_DONE)
        return cannot_open(store, result);
    if (version != newest || strcmp(found, identity) != 0)
        return mishap_store_is_another(store->path);
    memcpy(store->base.identity, found, sizeof found);
    return NULL;
}

/* -- opening ----------------------------------------------------------------------------------- */

static mishap *connect_to_file(sqlite_store *store)
{
    store->base.begun_ms = mishap_store_now_ms();
    int result = sqlite3_open_v2(store->path, &store->database,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (result == SQLITE_OK)
        result = mishap_sqlite_set_up(store);
    if (result == SQLITE_OK)
        store->queue = open(store->path, O_RDWR | O_CLOEXEC);
    return cannot_open(store, result);
}

/* Connect to a store that was open before, and to no other. */
mishap *mishap_sqlite_connect_again(sqlite_store *store, const char *identity)
{
    store->connecting = true;
    mishap *failure = connect_to_file(store);
    if (!failure)
        failure = verify(store, identity);
    if (!failure)
        failure = cannot_open(store, use_write_ahead_log(store->database, STORE_SHORT_PATIENCE));
    if (!failure)
        failure = remember_places(store);
    store->connecting = false;
    if (failure)
        mishap_sqlite_disconnect(store);
    return mishap_note(failure, "path", store->path);
}

/* -- the store --------------------------------------------------------------------------------- */

/* The first opening: create what is missing. */
static mishap *connect_first(sqlite_store *store)
{
    mishap *failure = make_file(store->path);
    if (!failure)
        failure = connect_to_file(store);
    if (!failure)
        failure = cannot_open(store, use_write_ahead_log(store->database, MISHAP_STORE_PATIENCE));
    if (!failure)
        failure = migrate(store);
    if (!failure)
        failure = identify(store);
    return failure ? failure : remember_places(store);
}

mishap *mishap_sqlite_open_store(mishap_store *base, const char *identity)
{
    sqlite_store *store = (sqlite_store *)base;
    mishap *failure = identity ? mishap_sqlite_connect_again(store, identity)
                               : connect_first(store);
    return mishap_note(failure, "path", store->path);
}
