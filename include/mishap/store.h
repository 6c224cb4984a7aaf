/*
 * A store: rows in SQLite or in PostgreSQL, chosen by an address, through the same functions.
 *
 *     sqlite:PATH                         one file; the default of a service
 *     sqlite:FOLDER/                      a file for each service, such as FOLDER/todo.sqlite
 *     /PATH, ./PATH, ../PATH              the same without the scheme
 *     postgresql://USER@HOST/DATABASE     a schema for each service in this database
 *
 * A service declares its tables and every statement that it runs as data, opens its store, and runs
 * its statements one after the other:
 *
 *     enum { FIND, STATEMENTS };
 *     static const mishap_statement statements[STATEMENTS] = {
 *         [FIND] = { .text = "SELECT title FROM books WHERE id = ?1" },
 *     };
 *
 *     mishap_query query;
 *     mishap_query_begin(&query, mishap_store_of(call), FIND);
 *     mishap_query_bind_integer(&query, 1, id);
 *     if (mishap_query_step(&query))
 *         mishap_answer_member(call, "title", mishap_query_text(&query, 0));
 *     return mishap_query_end(&query);
 *
 * The functions are in libmishap-store.a (pkg-config: mishap-store), which needs SQLite. libpq, the
 * client library of PostgreSQL, is loaded when the first address asks for it.
 *
 * A store belongs to the process that opened it: it must not be carried across fork(). It belongs
 * to one thread at a time, and runs one query at a time. A process must not open the same file
 * twice at the same time: the locks of both would be lost when one of them is closed. Pointers must
 * not be NULL unless it is said.
 *
 * Failures are mishaps whose public side says nothing about the engine; what the engine said is
 * noted for the operator, except for values that a constraint refuses: those are the caller's
 * doing. The codes:
 *
 *     ALREADY_EXISTS        a value exists already that must be unique (`taken`)
 *     CONFLICT              a row refers to one that does not exist, or the other way round
 *                           (`dangling`)
 *     UNAVAILABLE           nothing was changed, and the call can be retried: the store is busy,
 *                           the connection is lost, PostgreSQL does not answer, is a standby or
 *                           was replaced by another, the file was removed or replaced
 *     INSUFFICIENT_STORAGE  nothing was changed: the disk is full. An operation that does not
 *                           declare the code fails with INTERNAL_ERROR
 *     TIMEOUT               the connection was lost while a change was committed, or PostgreSQL
 *                           did not confirm it in time, or did not wait for its standby: it is not
 *                           known whether the change was made, or lasts. See
 *                           mishap_store_outcome_unknown()
 *     NOT_CONFIGURED        the store is damaged, or a table is missing: at opening, and of every
 *                           query that finds it. Further, of opening: the address is wrong, the
 *                           file cannot be written, the store has a newer version than the
 *                           program supports or is another store, libpq is not installed
 *     INTERNAL_ERROR        everything else: a mistake in the SQL
 */
#ifndef MISHAP_STORE_H
#define MISHAP_STORE_H

#include "mishap/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MISHAP_STORE_PATIENCE = 5000, /* milliseconds to wait for locks of others before giving up */
    MISHAP_STORE_PLACES = 32,     /* places for values in one statement, at most: ?1 to ?32 */
};

/* -- declarations ------------------------------------------------------------------------------ */

/*
 * One statement. It takes its values by number, ?1 and so on, also on PostgreSQL; a place that is
 * not bound is NULL. `postgresql` is used there instead of `text`, where the two engines differ.
 * `writes` must be set if the statement changes anything.
 *
 * `later` may be set if it has no rows, and its outcome is not needed before that of the
 * transaction. In a transaction PostgreSQL then gets it together with the next statement or the
 * commit, which saves a round trip. If it fails, so does that, with the failure of this one.
 */
typedef struct mishap_statement {
    const char *text;
    const char *postgresql; /* NULL: the same text */
    bool writes;
    bool later;
} mishap_statement;

/*
 * The tables of a service, and its statements. It is data that must live as long as the program.
 *
 * A migration is a script of SQL that brings the tables from one version to the next; the first one
 * makes version 1 of an empty store. Both lists end with NULL and have the same length: the version
 * is the same on both engines. A script is run as a whole or not at all, so it must not begin or
 * end a transaction. On PostgreSQL the tables of a service are in a schema of its name, which is
 * the only one in the search path. The names `store` and `store_…` are reserved in both engines.
 */
typedef struct mishap_store_schema {
    const char *name;              /* of the service: lower_snake, at most 40 bytes */
    const char *const *sqlite;     /* NULL: the service works on PostgreSQL only */
    const char *const *postgresql; /* NULL: the service works on SQLite only */
    const mishap_statement *statements;
    size_t statement_count;
} mishap_store_schema;

/* -- opening ----------------------------------------------------------------------------------- */

typedef struct mishap_store mishap_store;

/*
 * Open the store at this address. *out is set to NULL if it fails.
 *
 * If `identity` is NULL, a store that does not exist is created, and its tables are brought up to
 * date: a new SQLite file can be read by its owner only, and its folder must exist; a PostgreSQL
 * database must exist. Otherwise nothing is created or changed: it is the store with this identity,
 * or a failure. A store that is up to date is not locked, so opening it waits for no writer.
 *
 * An address may contain a password. It is copied, and never part of a message, a note or a log.
 */
__attribute__((warn_unused_result)) mishap *mishap_store_open(const char *address,
                                                              const char *identity,
                                                              const mishap_store_schema *schema,
                                                              mishap_store **out);

/*
 * Open the store of a service, in its open(): the address is the setting `store`, which the service
 * declares with MISHAP_STORE_SETTING, or else sqlite:DATA/NAME.sqlite with the name of the schema.
 * The identity is that of the setup.
 */
__attribute__((warn_unused_result)) mishap *
mishap_store_open_service(const mishap_setup *setup, const mishap_store_schema *schema,
                          mishap_store **out);

/* clang-format off */
#define MISHAP_STORE_SETTING                                                                       \
    { .name = "store", .type = MISHAP_STRING, .length = { 1, 4000 },                               \
      .help = "The database, as sqlite:PATH or postgresql://USER@HOST/DATABASE, or @FILE with "    \
              "that in it; by default an SQLite file in the data folder",                          \
      .placeholder = "URL" }
/* clang-format on */

/* The identity of the store: a random number that is kept in it, for `identity` of a service. A
 * copy of the store has the same identity. It belongs to the store. An SQLite file that has no
 * identity, and cannot be written now, is identified by its place on the disk. */
const char *mishap_store_identity(const mishap_store *store);

/* How long PostgreSQL may take to answer one statement, in milliseconds; 0 is 7000, as at first. A
 * statement without an answer in that time is a lost connection: UNAVAILABLE, or TIMEOUT for a
 * commit and a single change. Longer is for statements that read much. SQLite ignores it. */
void mishap_store_limit_answers(mishap_store *store, int limit_ms);

/* A transaction that is open is rolled back. NULL: nothing happens. */
void mishap_store_close(mishap_store *store);

/*
 * The store of a call: the state of its service, which must be a store. When the call ends, however
 * it ends, a query or a transaction that it has left open is rolled back and its locks are
 * released. After a crash in a process that goes on, the next call does this.
 *
 * The call may end here for lack of memory, so ask for the store before there is anything to
 * release. Asking again returns the same store.
 */
mishap_store *mishap_store_of(mishap_call *call);

/* -- queries ----------------------------------------------------------------------------------- */

/* One run of a statement. Only `taken` and `dangling` are for the caller, after the end. */
typedef struct mishap_query {
    mishap_store *store;
    void *rows;      /* what the engine has of it; NULL: it could not begin */
    mishap *failure; /* why it could not begin */
    size_t statement;
    int result; /* what the engine said last */
    int row;    /* PostgreSQL: which of its rows is read */
    bool writes;
    bool no_memory; /* a value could not be read for lack of memory */
    bool misfit;    /* a value was not of the type that was asked for */
    bool taken;     /* a value exists already that must be unique */
    bool dangling;  /* a row refers to one that does not exist, or the other way round */
} mishap_query;

/* Begin to run a statement of the schema. Failures are reported at the end: all functions can be
 * called on a query that has failed, and do nothing. */
void mishap_query_begin(mishap_query *query, mishap_store *store, size_t statement);

/* Give the place ?N a value. Text and bytes are not copied: they must stay until the first step.
 * Text is UTF-8 without NUL. Without data it is NULL. */
void mishap_query_bind_integer(mishap_query *query, int place, int64_t value);
void mishap_query_bind_boolean(mishap_query *query, int place, bool value);
void mishap_query_bind_double(mishap_query *query, int place, double value);
void mishap_query_bind_text(mishap_query *query, int place, mishap_text value);
void mishap_query_bind_blob(mishap_query *query, int place, mishap_text bytes);
void mishap_query_bind_null(mishap_query *query, int place);

/*
 * Values of the types of mishap/types.h. They are copied. Their columns:
 *
 *     type        SQLite    PostgreSQL       how
 *     decimal     INTEGER   NUMERIC(18, S)   SQLite counts units of 10 to the power of -S: 12.50 is
 *                                            1250, so sums and comparisons are exact
 *     money       two columns: a decimal, and TEXT for the currency
 *     timestamp   TEXT      TIMESTAMPTZ      in UTC, with microseconds; the zone is not kept: store
 *                                            its offset in a column of its own
 *     date        TEXT      DATE
 *     duration    TEXT      INTERVAL
 *     UUID        TEXT      UUID
 *     bytes       BLOB      BYTEA            mishap_query_bind_blob()
 *     enum        TEXT      TEXT             mishap_query_bind_text()
 *     map, array  TEXT      JSONB            mishap_query_bind_text(), with mishap_json()
 *
 * All values of a column of decimals have the same scale S. If a decimal has more digits after its
 * point, or a value that is read is not of its type, the query fails at its end with
 * INTERNAL_ERROR.
 */
void mishap_query_bind_decimal(mishap_query *query, int place, mishap_decimal value, int scale);
void mishap_query_bind_timestamp(mishap_query *query, int place, mishap_timestamp value);
void mishap_query_bind_date(mishap_query *query, int place, mishap_date value);
void mishap_query_bind_duration(mishap_query *query, int place, mishap_duration value);
void mishap_query_bind_uuid(mishap_query *query, int place, mishap_uuid value);

/*
 * True if there is a row, or one more. The first step runs the statement; one that writes waits
 * for its turn first. A single read on PostgreSQL is repeated if its connection was lost.
 *
 * Step until it is false: some constraints are checked only after the last row.
 */
bool mishap_query_step(mishap_query *query);

/*
 * The values of the row, columns counted from 0. NULL in the store is 0, false or text without
 * data. Text and bytes live until the next step or the end. A boolean is stored as 0 or 1 in
 * SQLite, as boolean in PostgreSQL.
 */
bool mishap_query_is_null(mishap_query *query, int column);
int64_t mishap_query_integer(mishap_query *query, int column);
bool mishap_query_boolean(mishap_query *query, int column);
double mishap_query_double(mishap_query *query, int column);
mishap_text mishap_query_text(mishap_query *query, int column);
mishap_text mishap_query_blob(mishap_query *query, int column);

/* Values of the types of mishap/types.h. NULL in the store is a value whose members are all 0. */
mishap_decimal mishap_query_decimal(mishap_query *query, int column, int scale);
mishap_timestamp mishap_query_timestamp(mishap_query *query, int column);
mishap_date mishap_query_date(mishap_query *query, int column);
mishap_duration mishap_query_duration(mishap_query *query, int column);
mishap_uuid mishap_query_uuid(mishap_query *query, int column);

/*
 * The outcome. NULL: the query has worked, and a change outside of a transaction is durable. Every
 * query that was begun must be ended; if it is not, the end of the call rolls it back. (PostgreSQL
 * makes a single change in the first step, so that only a change in a transaction is rolled back.)
 *
 * A query that fails inside of a transaction makes the transaction fail: no other query can run in
 * it, on either engine, until it is rolled back. To go on after a query that may fail, run it in a
 * transaction of its own inside of the other (mishap_store_begin()), or use ON CONFLICT.
 */
__attribute__((warn_unused_result)) mishap *mishap_query_end(mishap_query *query);

/* -- pages ------------------------------------------------------------------------------------- */

/*
 * Read a list page by page, by the key of the last row:
 *
 *     SELECT id, title FROM books WHERE id > ?1 ORDER BY id LIMIT ?2
 *
 *     mishap_query_bind_integer(&query, 1, after);
 *     for (mishap_page_begin(&page, &query, 2, limit); mishap_page_step(&page, &query);)
 *         last = mishap_query_integer(&query, 0);
 *     failure = mishap_query_end(&query);          if page.more, the next page begins after `last`
 *
 * One row more than `limit` is asked for, which must be at `place` in the statement, and not shown.
 * A page costs the same wherever it is in the list, if there is an index on the key.
 */
typedef struct mishap_page {
    int64_t limit;
    int64_t listed; /* rows so far */
    bool more;      /* there are rows after this page */
} mishap_page;

void mishap_page_begin(mishap_page *page, mishap_query *query, int place, int64_t limit);
bool mishap_page_step(mishap_page *page, mishap_query *query);

/* -- transactions ------------------------------------------------------------------------------ */

/*
 * Several queries as one change. `work` runs its queries and returns NULL to commit, or a mishap to
 * roll back, which is then the outcome.
 *
 * Transactions are serializable: the outcome is as if they had run one after the other. SQLite lets
 * one process write at a time, and the others wait. PostgreSQL lets them run at once and may ask
 * for one of them to be repeated: so `work` may be called several times, with the changes of the
 * earlier times rolled back. It must not change anything outside of the store, and must start anew
 * each time. If the engine asks again and again, UNAVAILABLE is the outcome, with the time after
 * which to retry; at most 10 tries are made, and none after MISHAP_STORE_PATIENCE.
 *
 * If PostgreSQL gives a warning when it commits, it has committed without the synchronous standby
 * that it was to wait for: the change is there, but lost if the standby takes over. The outcome is
 * TIMEOUT (mishap_store_outcome_unknown()).
 *
 * If the connection is lost while PostgreSQL commits, it is not known whether the change was made.
 * Without `look_up` the outcome is TIMEOUT (mishap_store_outcome_unknown()), and `work` is not
 * called again. With it, a new connection is made and `look_up` says in *done whether the change is
 * in the store: if so it is confirmed (mishap_store_confirm()) and the outcome is success, else
 * `work` is called again. The old connection might still be committing then: so what `look_up`
 * looks for must be a row that `work` inserts under a unique key, such as the id of the call, and
 * the store refuses the second of the two. If `work` then fails, for that or another reason,
 * `look_up` is asked once more: success is the outcome if the first was committed late.
 *
 * Inside of another transaction it is a part of that one which can be rolled back alone (a
 * savepoint). It is not repeated alone, and `look_up` is not used.
 */
typedef struct mishap_transaction {
    mishap *(*work)(mishap_store *store, void *state);
    mishap *(*look_up)(mishap_store *store, void *state, bool *done); /* may be NULL */
    void *state;                                                      /* for both */
} mishap_transaction;
__attribute__((warn_unused_result)) mishap *
mishap_store_transact(mishap_store *store, const mishap_transaction *transaction);

/*
 * The same step by step, without repeating: for a transaction that lasts longer than a function,
 * such as a batch of calls with one commit. Begin inside of a transaction begins a savepoint;
 * commit and roll back end the innermost one. A call can end neither a transaction nor a savepoint
 * that was begun before it asked for its store. Therefore begin() and end() of a settlement take
 * the store from mishap_state(): what is begun after mishap_store_of() ends with the call.
 *
 * Commit of a transaction in which a query has failed rolls it back and fails. A commit that fails
 * has ended the transaction or savepoint. Roll back without a transaction does nothing.
 */
__attribute__((warn_unused_result)) mishap *mishap_store_begin(mishap_store *store);
__attribute__((warn_unused_result)) mishap *mishap_store_commit(mishap_store *store);
void mishap_store_roll_back(mishap_store *store);

/*
 * A program that finds a change in the store which an earlier call has made, and answers as if it
 * had made it now, promises that the change will last. On PostgreSQL with a synchronous standby a
 * row can be read that the standby does not have: the wait for it was cancelled, and the row is
 * lost if the standby takes over. After this, the transaction commits only when the standby has all
 * that was read in it; outside of a transaction this waits for the standby itself. Without a
 * synchronous standby it costs a commit, on SQLite nothing.
 *
 * A failure is that of a commit: TIMEOUT if the standby has not confirmed it.
 */
__attribute__((warn_unused_result)) mishap *mishap_store_confirm(mishap_store *store);

/* Whether a failure says that a change may or may not have been made. NULL: false. */
bool mishap_store_outcome_unknown(const mishap *failure);

/* -- incidents --------------------------------------------------------------------------------- */

/* For `.incident_store` of a mishap_app: the incidents of several servers in one PostgreSQL
 * database, which the setting `--incident-store postgresql://…` names. */
extern const struct mishap_index_engine mishap_incidents_in_postgresql;

/* -- clusters ---------------------------------------------------------------------------------- */

/* For `.cluster` of a mishap_app: what the servers of a cluster share, in the schema `mishap` of a
 * PostgreSQL database, which `serve --cluster postgresql://…` names. */
extern const struct mishap_cluster_engine mishap_cluster_in_postgresql;
/* -- tasks ------------------------------------------------------------------------------------- */

/* For `.task_store` of a mishap_app: tasks in a store, by default an SQLite file in the data folder
 * of the server (`serve --task-store`). */
extern const struct mishap_task_engine mishap_tasks_in_store;

#ifdef __cplusplus
}
#endif

#endif
