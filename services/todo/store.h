/*
 * The store: one SQLite file with a write-ahead log, which several processes use at once.
 *
 * A process has one connection, because it runs one call at a time, and a call one query at a time.
 * Readers never wait. Writers of all processes queue at a separate lock of the store, and the
 * kernel wakes the next writer; with SQLite's own lock each writer would have to poll. SQLite's
 * lock is still taken for each write, because other programs do not use the queue.
 *
 * The wait in the queue has no limit of its own. A worker is killed when the time of its call is
 * up, and a command ends when its own time is up.
 *
 * A change that was confirmed to the caller survives a power failure. If the file is removed or
 * replaced, nothing is written to it any more: every query fails until the process opens the store
 * again.
 *
 * A store must not be carried across fork(): open it in the process that uses it. A process must
 * not open the same file twice: see the comment on `queue` in store.c.
 */
#ifndef TODO_STORE_H
#define TODO_STORE_H

#include <mishap/operation.h>

#include <sqlite3.h>

#include "todo/schema.h"

enum {
    TODO_PATIENCE = 5000, /* milliseconds to wait for SQLite's lock before giving up */
    TODO_IDENTITY = 64,   /* bytes that an identity takes, at most */
};

typedef struct todo_store todo_store;

/*
 * Open the file. Its folder must be there.
 *
 * Without an identity the file is made if it is not there, for its owner alone, and its tables are
 * brought up to date. With one nothing is made or changed: it is the store of that identity, as it
 * was, or a failure.
 */
mishap *todo_store_open(const char *path, const char *identity, todo_store **out);

/* What tells this store from every other one: a random number in it. Copies have the same. A store
 * that has none, and cannot be written now, is told from others by its place on the disk. */
const char *todo_store_identity(const todo_store *store);

/* No query may be under way. */
void todo_store_close(todo_store *store);

/*
 * The store of a call, for its queries. If the library ends the call in the middle of a query, that
 * query is rolled back and its locks are released. After a crash in a process that goes on, the
 * next query does this.
 *
 * It may end the call for lack of memory, so ask for it before there is something to release.
 */
todo_store *todo_store_of(mishap_call *call);

/* -- queries ----------------------------------------------------------------------------------- */

typedef struct todo_query {
    todo_store *store;
    sqlite3_stmt *statement; /* NULL: it could not begin */
    mishap *failure;         /* why there is no connection */
    bool writes;
    int result;    /* the last that SQLite said */
    bool taken;    /* after the end: a value is there already that may be there once only */
    bool dangling; /* after the end: it refers to something that is not there */
} todo_query;

/* What goes wrong, here or on the way, is told at the end. A query that was not ended is rolled
 * back. */
void todo_query_begin(todo_query *query, todo_store *store, todo_statement which);

/* Text is not copied. What is not bound is NULL. */
void todo_query_bind_text(todo_query *query, int place, mishap_text text);
void todo_query_bind_integer(todo_query *query, int place, int64_t integer);

/* True if there is a row, or one more. The first step of a query that writes waits for its turn. */
bool todo_query_step(todo_query *query);

/* The outcome. What the query was refused for by the tables' rules is no failure: see `taken` and
 * `dangling`. A change is made as a whole, or not at all. */
mishap *todo_query_end(todo_query *query);

/* -- what a query does with its store ---------------------------------------------------------- */

/* Are the files still those that were opened? If they are not, the connection is closed. Before a
 * change all of them are looked up, after it the one with the data, and for those who only read the
 * same, but not at every query: each look is a system call. */
typedef enum todo_look { TODO_READS, TODO_WILL_WRITE, TODO_HAS_WRITTEN } todo_look;
mishap *todo_store_look(todo_store *store, todo_look when);

/* Connect if there is no connection, and prepare the statement. A mishap: there is no connection;
 * else *result is what SQLite said, and *statement is NULL if it was an error. */
mishap *todo_store_begin(todo_store *store, todo_statement which, sqlite3_stmt **statement,
                         int *result);

/* Queue up behind other writers, in this process and in others. */
void todo_store_wait_for_turn(todo_store *store);

/* What SQLite said last, as a mishap; NULL if it is no error. If others were in the way it is
 * UNAVAILABLE and can be tried again; else INTERNAL_ERROR. SQLite's own words are for the operator
 * only. */
mishap *todo_store_failure(const todo_store *store, int result);

/* Reset the statement and let the next writer have its turn. A connection that is `broken` is made
 * anew; a mishap: it cannot be. */
mishap *todo_store_end(todo_store *store, bool broken);

#endif
