/*
 * SQLite, found when it is first needed: the one in this program if it has one, else the library of
 * the system. So a program that needs no store is linked without SQLite, and still has an index.
 *
 * A database has statements that are prepared once, from a table. The first failure stays until it
 * is cleared, and every function does nothing after it: so a caller asks once, at the end.
 */
#ifndef MISHAP_INDEX_SQLITE_H
#define MISHAP_INDEX_SQLITE_H

#include <sqlite3.h>

#include "base/base.h"
#include "mishap/mishap.h"

#define INDEX_SQLITE(ROW)                                                                          \
    ROW(int, open_v2, (const char *, sqlite3 **, int, const char *))                               \
    ROW(int, close_v2, (sqlite3 *))                                                                \
    ROW(int, exec,                                                                                 \
        (sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **))        \
    ROW(int, prepare_v3, (sqlite3 *, const char *, int, unsigned, sqlite3_stmt **, const char **)) \
    ROW(int, step, (sqlite3_stmt *))                                                               \
    ROW(int, reset, (sqlite3_stmt *))                                                              \
    ROW(int, finalize, (sqlite3_stmt *))                                                           \
    ROW(int, clear_bindings, (sqlite3_stmt *))                                                     \
    ROW(int, bind_int64, (sqlite3_stmt *, int, sqlite3_int64))                                     \
    ROW(int, bind_blob, (sqlite3_stmt *, int, const void *, int, void (*)(void *)))                \
    ROW(int, bind_text, (sqlite3_stmt *, int, const char *, int, void (*)(void *)))                \
    ROW(int, column_type, (sqlite3_stmt *, int))                                                   \
    ROW(sqlite3_int64, column_int64, (sqlite3_stmt *, int))                                        \
    ROW(const void *, column_blob, (sqlite3_stmt *, int))                                          \
    ROW(int, column_bytes, (sqlite3_stmt *, int))                                                  \
    ROW(int, changes, (sqlite3 *))                                                                 \
    ROW(int, busy_timeout, (sqlite3 *, int))                                                       \
    ROW(int, extended_errcode, (sqlite3 *))                                                        \
    ROW(int, system_errno, (sqlite3 *))                                                            \
    ROW(const char *, errmsg, (sqlite3 *))                                                         \
    ROW(int, libversion_number, (void))                                                            \
    ROW(int, compileoption_used, (const char *))

#define INDEX_SQLITE_MEMBER(type, name, parameters) type(*name) parameters;
typedef struct index_sqlite {
    INDEX_SQLITE(INDEX_SQLITE_MEMBER)
} index_sqlite;

extern index_sqlite mishap_index_sqlite;

/* NOT_CONFIGURED: there is none, it is too old, or it has no full-text search. */
mishap *mishap_index_sqlite_load(void);

/* -- statement.c ------------------------------------------------------------------------------- */

enum { INDEX_STATEMENTS = 48, INDEX_PATH = 4096 };

/* What is wrong with a database. */
typedef enum index_trouble {
    INDEX_FINE,
    INDEX_MISSING, /* there is no such file */
    INDEX_BUSY,    /* another program holds a lock of SQLite */
    INDEX_FULL,    /* there is no room on the disk */
    INDEX_DAMAGED, /* it is no database, or its pages are wrong */
    INDEX_NEWER,   /* a newer version of this program has made it */
    INDEX_NO_MEMORY,
    INDEX_BROKEN, /* anything else */
} index_trouble;

typedef struct index_db {
    sqlite3 *handle; /* NULL: not open */
    const char *const *sql;
    sqlite3_stmt *kept[INDEX_STATEMENTS];
    index_trouble trouble;  /* the first failure */
    int error;              /* … its errno, if the system had one */
    char reason[160];       /* … in the words of SQLite */
    uint64_t device, inode; /* of the file that was opened */
    char path[INDEX_PATH];
} index_db;

/* How to open one: its tables, made if the file is new, and the version that they are. */
typedef struct index_schema {
    const char *tables;
    const char *const *sql;
    int version, mark; /* user_version and application_id */
} index_schema;

typedef enum index_mode { INDEX_READS, INDEX_WRITES } index_mode;

/* False: db->trouble says why. A file that does not exist is made only by one that writes. */
bool mishap_index_db_open(index_db *db, const char *path, const index_schema *schema,
                          index_mode mode);
void mishap_index_db_close(index_db *db);

/* True if the file at its path is still the one that was opened: another process may have moved it
 * aside. */
bool mishap_index_db_is_current(const index_db *db);

/* The failure for the operator; NULL if there is none. */
mishap *mishap_index_db_failure(const index_db *db);

/* Begin a statement of the table: prepared if it was not, reset, without values. NULL: failed. */
sqlite3_stmt *mishap_index_ask(index_db *db, int which);

/* The next row; false: there is none, or it failed. The statement is then reset. */
bool mishap_index_row(index_db *db, sqlite3_stmt *statement);

/* Run it to its end. */
void mishap_index_do(index_db *db, sqlite3_stmt *statement);
void mishap_index_run(index_db *db, const char *sql);

/* Values by place, counted from 1; text without data is null. They must stay until the statement
 * has run. */
void mishap_index_bind(sqlite3_stmt *statement, int place, int64_t number);
void mishap_index_bind_text(sqlite3_stmt *statement, int place, mishap_text text);
void mishap_index_bind_blob(sqlite3_stmt *statement, int place, const void *bytes, size_t count);

/* Columns of a row, counted from 0; valid until the next one. */
int64_t mishap_index_number(sqlite3_stmt *statement, int column);
bool mishap_index_is_null(sqlite3_stmt *statement, int column);
mishap_text mishap_index_text(sqlite3_stmt *statement, int column);

/* Copy a blob of exactly that size; false: it has another one, and zeros are put there. */
bool mishap_index_blob(sqlite3_stmt *statement, int column, void *bytes, size_t count);

#endif
