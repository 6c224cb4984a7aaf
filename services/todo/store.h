/*
 * The store: one SQLite file with a write-ahead log, that several threads and several processes use
 * at once.
 *
 * A process has one connection that writes, so that its own threads queue up where waiting is cheap
 * and only processes meet at the file's lock; and a few that read. A connection is one thread's
 * from todo_query_begin() to todo_query_end(). In between a handler must not call what can end the
 * call (mishap_call_take() and its like), for then the connection would be lost.
 *
 * A store must not be carried across fork(): open it in the process that uses it.
 */
#ifndef TODO_STORE_H
#define TODO_STORE_H

#include <mishap/mishap.h>

#include <sqlite3.h>

#include "todo/schema.h"

enum {
    TODO_READERS = 8,    /* connections of a process that read */
    TODO_PATIENCE = 5000 /* milliseconds to wait for others before giving up */
};

typedef struct todo_store todo_store;

/* Open or make the file, for its owner alone, with the tables of today. Its folder must be there.
 */
mishap *todo_store_open(const char *path, todo_store **out);

/* No query may be under way. */
void todo_store_close(todo_store *store);

/* -- connections ------------------------------------------------------------------------------- */

typedef struct todo_connection {
    struct todo_connection *next; /* of those that are idle */
    sqlite3 *database;
    sqlite3_stmt *kept[TODO_STATEMENTS]; /* prepared when first needed */
    bool writes;
    int64_t waiting_since; /* for another process: on the monotonic clock, in milliseconds */
} todo_connection;

/* Take one that is idle, or make one; UNAVAILABLE if all are busy for too long. */
mishap *todo_store_take(todo_store *store, bool to_write, todo_connection **out);

/* Give it back. One that is `broken` is closed. */
void todo_store_give_back(todo_store *store, todo_connection *connection, bool broken);

/* What SQLite said, as a mishap; NULL if it is no error. If others were in the way it is
 * UNAVAILABLE and can be tried again; else INTERNAL_ERROR. SQLite's own words are for the operator
 * only. */
mishap *todo_store_failure(sqlite3 *database, int result);

/* -- queries ----------------------------------------------------------------------------------- */

typedef struct todo_query {
    todo_store *store;
    todo_connection *connection; /* NULL: it could not begin */
    sqlite3_stmt *statement;
    mishap *failure; /* why it could not begin */
    int result;      /* the last that SQLite said */
    bool taken;      /* after the end: a value is there already that may be there once only */
    bool dangling;   /* after the end: it refers to something that is not there */
} todo_query;

/* What goes wrong, here or on the way, is told at the end. */
void todo_query_begin(todo_query *query, todo_store *store, todo_statement which);

/* Text is not copied. What is not bound is NULL. */
void todo_query_bind_text(todo_query *query, int place, mishap_text text);
void todo_query_bind_integer(todo_query *query, int place, int64_t integer);

/* True if there is a row, or one more. */
bool todo_query_step(todo_query *query);

/* The outcome. What the query was refused for by the tables' rules is no failure: see `taken` and
 * `dangling`. A change is made as a whole, or not at all. */
mishap *todo_query_end(todo_query *query);

#endif
