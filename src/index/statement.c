/* Databases, their statements and their failures: see sqlite.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/sqlite.h"

enum { BUSY_MS = 2000 };

/* -- failures ---------------------------------------------------------------------------------- */

static index_trouble trouble_of(int result, int error)
{
    switch (result & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return INDEX_FINE;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return INDEX_BUSY;
    case SQLITE_FULL:
        return INDEX_FULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return INDEX_DAMAGED;
    case SQLITE_NOMEM:
        return INDEX_NO_MEMORY;
    case SQLITE_IOERR:
        /* A file that is shorter than its pages say is damaged. */
        if (result == SQLITE_IOERR_SHORT_READ)
            return INDEX_DAMAGED;
        return error == ENOSPC || error == EDQUOT ? INDEX_FULL : INDEX_BROKEN;
    default:
        return INDEX_BROKEN;
    }
}

static void note_trouble(index_db *db, int result)
{
    if (db->trouble || (result & 0xff) == SQLITE_OK || result == SQLITE_ROW ||
        result == SQLITE_DONE)
        return;
    int error = db->handle ? mishap_index_sqlite.system_errno(db->handle) : 0;
    int full = db->handle ? mishap_index_sqlite.extended_errcode(db->handle) : result;
    db->trouble = trouble_of((full & 0xff) == (result & 0xff) ? full : result, error);
    db->error = error;
    snprintf(db->reason, sizeof db->reason, "%s (%d)",
             db->handle ? mishap_index_sqlite.errmsg(db->handle) : "not open", full);
}

mishap *mishap_index_db_failure(const index_db *db)
{
    mishap *m;
    switch (db->trouble) {
    case INDEX_FINE:
        return NULL;
    case INDEX_NO_MEMORY:
        return mishap_out_of_memory();
    case INDEX_NEWER:
        m = mishap_raise(NOT_CONFIGURED,
                         "The index of incidents was made by a newer version of this program.");
        break;
    case INDEX_BUSY:
        m = mishap_raise(UNAVAILABLE, "Another program has locked the index of incidents.");
        break;
    case INDEX_FULL:
        m = mishap_raise(UNAVAILABLE, "There is no room on the disk for the index of incidents.");
        break;
    case INDEX_DAMAGED:
        m = mishap_raise(UNAVAILABLE, "A file of the index of incidents is damaged.");
        break;
    default:
        m = mishap_raise(UNAVAILABLE, "The index of incidents cannot be used.");
    }
    m = mishap_note(m, "file", db->path);
    return mishap_note(m, "sqlite", db->reason);
}

/* -- opening ----------------------------------------------------------------------------------- */

static int64_t pragma_number(index_db *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = 0;
    if (db->trouble)
        return 0;
    note_trouble(db, mishap_index_sqlite.prepare_v3(db->handle, sql, -1, 0, &statement, NULL));
    if (!db->trouble && mishap_index_row(db, statement))
        number = mishap_index_number(statement, 0);
    mishap_index_sqlite.finalize(statement);
    return number;
}

/* A file that is empty, or whose tables were begun and not committed, is new. */
static void check_tables(index_db *db, const index_schema *schema, index_mode mode)
{
    char marks[96];
    int64_t version = pragma_number(db, "PRAGMA user_version");
    int64_t mark = pragma_number(db, "PRAGMA application_id");
    if (db->trouble)
        return;
    if (version > schema->version) {
        db->trouble = INDEX_NEWER;
        snprintf(db->reason, sizeof db->reason, "version %lld", (long long)version);
    } else if (version && (mark != schema->mark || version < schema->version)) {
        db->trouble = INDEX_DAMAGED;
        snprintf(db->reason, sizeof db->reason, "it is no index");
    } else if (!version && mode == INDEX_READS) {
        db->trouble = INDEX_MISSING;
    } else if (!version) {
        snprintf(marks, sizeof marks, "PRAGMA application_id=%d; PRAGMA user_version=%d;",
                 schema->mark, schema->version);
        mishap_index_run(db, "BEGIN IMMEDIATE");
        if (!pragma_number(db, "PRAGMA user_version")) {
            mishap_index_run(db, schema->tables);
            mishap_index_run(db, marks);
        }
        mishap_index_run(db, "COMMIT");
    }
}

/* For the owner alone; SQLite gives its logs the same mode and, if root runs this, owner. If this
 * fails, opening says why. It is done only for a new file: to close a file drops the locks that
 * SQLite has on it. */
static void make_private(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return;
    mishap_system_give_to_owner(file, path);
    close(file);
}

bool mishap_index_db_open(index_db *db, const char *path, const index_schema *schema,
                          index_mode mode)
{
    struct stat status;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    *db = (index_db){ .sql = schema->sql };
    if ((size_t)snprintf(db->path, sizeof db->path, "%s", path) >= sizeof db->path) {
        db->trouble = INDEX_BROKEN;
        return false;
    }
    bool missing = stat(path, &status) != 0;
    if (missing && mode == INDEX_READS) {
        db->trouble = INDEX_MISSING;
        return false;
    }
    if (mode == INDEX_WRITES)
        flags |= SQLITE_OPEN_CREATE;
    if (missing)
        make_private(path);
    note_trouble(db, mishap_index_sqlite.open_v2(path, &db->handle, flags, NULL));
    if (!db->trouble) {
        mishap_index_sqlite.busy_timeout(db->handle, BUSY_MS);
        if (mode == INDEX_WRITES)
            mishap_index_run(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                                 "PRAGMA cache_size=-8192; PRAGMA wal_autocheckpoint=2000;"
                                 "PRAGMA temp_store=MEMORY");
        else
            mishap_index_run(db, "PRAGMA cache_size=-4096; PRAGMA temp_store=MEMORY");
        check_tables(db, schema, mode);
    }
    if (!db->trouble && stat(path, &status) == 0) {
        db->device = status.st_dev;
        db->inode = status.st_ino;
    }
    if (!db->trouble)
        return true;
    index_trouble trouble = db->trouble;
    mishap_index_db_close(db);
    db->trouble = trouble;
    return false;
}

bool mishap_index_db_is_current(const index_db *db)
{
    struct stat status;
    return stat(db->path, &status) == 0 && status.st_dev == db->device &&
           status.st_ino == db->inode;
}

void mishap_index_db_close(index_db *db)
{
    for (size_t i = 0; i < INDEX_STATEMENTS; i++) {
        if (db->kept[i])
            mishap_index_sqlite.finalize(db->kept[i]);
        db->kept[i] = NULL;
    }
    if (db->handle)
        mishap_index_sqlite.close_v2(db->handle);
    db->handle = NULL;
    db->trouble = INDEX_FINE;
}

/* -- statements -------------------------------------------------------------------------------- */

sqlite3_stmt *mishap_index_ask(index_db *db, int which)
{
    sqlite3_stmt **kept = &db->kept[which];
    if (db->trouble || !db->handle)
        return NULL;
    if (!*kept) {
        int result = mishap_index_sqlite.prepare_v3(db->handle, db->sql[which], -1,
                                                    SQLITE_PREPARE_PERSISTENT, kept, NULL);
        note_trouble(db, result);
        if (result == SQLITE_ERROR) /* a table or a column is missing */
            db->trouble = INDEX_DAMAGED;
    }
    if (db->trouble)
        return NULL;
    mishap_index_sqlite.reset(*kept);
    mishap_index_sqlite.clear_bindings(*kept);
    return *kept;
}

bool mishap_index_row(index_db *db, sqlite3_stmt *statement)
{
    if (!statement || db->trouble)
        return false;
    int result = mishap_index_sqlite.step(statement);
    if (result == SQLITE_ROW)
        return true;
    note_trouble(db, result);
    mishap_index_sqlite.reset(statement);
    return false;
}

void mishap_index_do(index_db *db, sqlite3_stmt *statement)
{
    while (mishap_index_row(db, statement))
        ;
}

void mishap_index_run(index_db *db, const char *sql)
{
    if (!db->trouble)
        note_trouble(db, mishap_index_sqlite.exec(db->handle, sql, NULL, NULL, NULL));
}

void mishap_index_bind(sqlite3_stmt *statement, int place, int64_t number)
{
    if (statement)
        mishap_index_sqlite.bind_int64(statement, place, number);
}

static int size_of(size_t count)
{
    return count < INT_MAX ? (int)count : INT_MAX;
}

void mishap_index_bind_text(sqlite3_stmt *statement, int place, mishap_text text)
{
    if (statement && text.data)
        mishap_index_sqlite.bind_text(statement, place, text.data, size_of(text.length),
                                      SQLITE_STATIC);
}

void mishap_index_bind_blob(sqlite3_stmt *statement, int place, const void *bytes, size_t count)
{
    if (statement)
        mishap_index_sqlite.bind_blob(statement, place, bytes, size_of(count), SQLITE_STATIC);
}

int64_t mishap_index_number(sqlite3_stmt *statement, int column)
{
    return mishap_index_sqlite.column_int64(statement, column);
}

bool mishap_index_is_null(sqlite3_stmt *statement, int column)
{
    return mishap_index_sqlite.column_type(statement, column) == SQLITE_NULL;
}

mishap_text mishap_index_text(sqlite3_stmt *statement, int column)
{
    const void *data = mishap_index_sqlite.column_blob(statement, column);
    int count = mishap_index_sqlite.column_bytes(statement, column);
    return (mishap_text){ data ? data : "", data && count > 0 ? (size_t)count : 0 };
}

bool mishap_index_blob(sqlite3_stmt *statement, int column, void *bytes, size_t count)
{
    mishap_text text = mishap_index_text(statement, column);
    memset(bytes, 0, count);
    if (text.length != count)
        return false;
    memcpy(bytes, text.data, count);
    return true;
}
