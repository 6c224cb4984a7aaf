/*
 * src/store: rows in SQLite or PostgreSQL, behind one public header (mishap/store.h).
 *
 *     address.c          which engine an address means
 *     store.c            opening, closing, the store of a call
 *     query.c            one statement from its values to its outcome; pages
 *     transaction.c      transactions, savepoints, and when to try again
 *     failure.c          failures as callers get them
 *     sqlite.c           the connection to a file, and the queue of writers
 *     sqlite_query.c     queries and transactions on it
 *     sqlite_open.c      the file, its tables and its identity
 *     postgresql.c       queries and transactions on a connection
 *     postgresql_send.c  statements that leave together
 *     postgresql_wait.c  waiting for answers, but not for ever
 *     postgresql_connect.c  connecting to one of the hosts of an address, within a time
 *     postgresql_open.c  setting a connection up, the tables and their identity
 *     postgresql_standby.c  reads that a standby may run
 *     postgresql_survey.c  the timelines of all hosts of an address
 *     postgresql_peer.c  what is connected to: a primary that was replaced, a standby, a pooler
 *     timeline.c         the highest timelines that this server has seen
 *     typed.c            columns of the types of mishap/types.h
 *     placeholders.c     ?N as PostgreSQL has it
 *     libpq.c            the client library of PostgreSQL, loaded when it is first needed
 *
 * An engine is a table of functions. What both have in common, such as the depth of savepoints and
 * whether a transaction has failed, is in `mishap_store`; each engine has a struct of its own that
 * begins with it.
 */
#ifndef MISHAP_STORE_STORE_H
#define MISHAP_STORE_STORE_H

#include "base/tally.h"
#include "mishap/store.h"
#include "store/timeline.h"

enum {
    STORE_IDENTITY = 64,         /* bytes that an identity takes, at most */
    STORE_SHORT_PATIENCE = 1000, /* milliseconds to wait for a store that was open before */
    STORE_TRIES = 10,            /* tries of a transaction that the engine asks to repeat */
    STORE_RETRY_MS = 1000,       /* the wait that a caller is advised */
    STORE_WHOLE_MS = 10000, /* for a change, until the caller hears that its outcome is not known */
};

/* What a failed query or transaction means. */
typedef enum store_trouble {
    STORE_FINE,
    STORE_TAKEN,    /* a unique value exists already */
    STORE_DANGLING, /* a reference to nothing */
    STORE_AGAIN,    /* the engine asks to repeat the whole transaction */
    STORE_BUSY,     /* others hold locks, and the timeout is over */
    STORE_FULL,     /* there is no room on the disk */
    STORE_LOST,     /* the connection is gone; what was not committed is undone */
    STORE_UNKNOWN,  /* the connection is gone, and perhaps the change was made */
    STORE_UNSAFE,   /* the change was made, and may be lost again if another server takes over */
    STORE_DAMAGED,  /* what is stored cannot be read, or tables are missing */
    STORE_STANDBY,  /* the server takes no changes: it is a standby */
    STORE_BROKEN,   /* anything else */
} store_trouble;

typedef enum store_step { STORE_BEGIN, STORE_COMMIT, STORE_ROLL_BACK } store_step;

/* A value for a place of a statement. */
typedef enum store_kind {
    STORE_NULL,
    STORE_INTEGER,
    STORE_BOOLEAN,
    STORE_DOUBLE,
    STORE_TEXT,
    STORE_BLOB,
} store_kind;
typedef struct store_value {
    store_kind kind;
    int64_t integer; /* and boolean */
    double real;
    mishap_text text; /* and bytes */
    bool copied;      /* the text does not live until the first step */
} store_value;

typedef struct store_engine {
    mishap_tally queries, failures; /* under which they are counted */
    bool counts_units;              /* a column of decimals has integers */

    /* Connect to the store: the first time, or to the store of this identity. */
    mishap *(*open)(mishap_store *store, const char *identity);
    void (*close)(mishap_store *store); /* and free the store */

    void (*begin)(mishap_query *query);
    void (*bind)(mishap_query *query, int place, const store_value *value);
    bool (*step)(mishap_query *query);
    bool (*is_null)(mishap_query *query, int column);
    int64_t (*integer)(mishap_query *query, int column);
    double (*real)(mishap_query *query, int column);
    mishap_text (*text)(mishap_query *query, int column, bool blob);
    mishap *(*end)(mishap_query *query, store_trouble *trouble);
    void (*abandon)(mishap_store *store); /* end a query that was not ended */

    /* BEGIN, COMMIT, ROLLBACK at level 1; SAVEPOINT and so on at deeper levels. Rolling back does
     * not fail: if the engine cannot do it, the connection is closed, which has the same effect. */
    mishap *(*transact)(mishap_store *store, store_step step, int level, store_trouble *trouble);

    /* See mishap_store_confirm(). NULL: what can be read is durable. */
    mishap *(*confirm)(mishap_store *store, store_trouble *trouble);

    /* Whether no earlier change, whose connection was lost, can still be made: waits for that,
     * until store->until_ms. False: that is not known. NULL: a lost change was made at once, or
     * never. */
    bool (*is_over)(mishap_store *store);

    /* Whether the address has a standby that may run reads; where the log of the primary is now, 0:
     * not known. NULL: it has none. */
    bool (*has_standbys)(const mishap_store *store);
    uint64_t (*position)(mishap_store *store);
} store_engine;

/* Where the reads of a call are run: it must not see an older state than it has seen before. */
typedef enum store_reads {
    STORE_READS_ANYWHERE,
    STORE_READS_AT_STANDBY,
    STORE_READS_AT_PRIMARY,
} store_reads;

struct mishap_store {
    const store_engine *engine;
    const mishap_store_schema *schema;
    mishap_call *call; /* the call that runs; NULL: none */
    int depth;         /* 0: no transaction; 1: one; more: savepoints in it */
    int call_depth;    /* the depth when the call began */
    int failed_depth;  /* at this depth or deeper, the only thing that can be done is to roll back;
                          0: no failure */
    bool again;        /* the engine asks to repeat the transaction */
    bool damaged;      /* a query of the transaction has found damage */
    bool running;      /* a query is under way */
    /* When the query or transaction, or connecting, began; on the monotonic clock. */
    int64_t begun_ms;
    int64_t until_ms;  /* how long to ask for a change whose outcome is not known; 0: no limit */
    int answer_ms;     /* see mishap_store_limit_answers(); 0: as the engine has it */
    int stale_ms;      /* see mishap_setup.stale_ms; 0: off */
    store_reads reads; /* of the call */
    bool wrote;        /* the call has run a statement that changes something */
    bool left_open;    /* a change whose connection was lost may still be made */
    char *folder;      /* of data, for what this server must remember of its stores; NULL: none */
    char identity[STORE_IDENTITY];
};

/* -- store.c ----------------------------------------------------------------------------------- */

int64_t mishap_store_now_ms(void);

/* How many versions the schema has. */
int mishap_store_newest(const char *const *migrations);

/* mishap_store_open() with the data folder of a server (NULL: none), for what it must remember of
 * the store. */
mishap *mishap_store_open_kept(const char *address, const char *identity, const char *folder,
                               const mishap_store_schema *schema, mishap_store **out);

/* -- postgresql_survey.c: of stores in PostgreSQL alone ---------------------------------------- */

/* Call it often. It asks the hosts of the address for their timelines, every few seconds, and does
 * not wait for them. */
void mishap_store_survey(mishap_store *store);

/* The timelines that are kept in the folder of the store. */
store_timelines *mishap_store_timelines(mishap_store *store);

/* -- address.c --------------------------------------------------------------------------------- */

/* A new store that is not connected, for the engine of the address. */
mishap *mishap_store_for_address(const char *address, const mishap_store_schema *schema,
                                 mishap_store **out);

mishap_store *mishap_sqlite_store_new(mishap_text path, const mishap_store_schema *schema);
mishap_store *mishap_postgresql_store_new(const char *address, const mishap_store_schema *schema);

/* -- failure.c --------------------------------------------------------------------------------- */

/* A failure of a query or a transaction, without the words of the engine. NULL for STORE_FINE. */
mishap *mishap_store_failure(store_trouble trouble);

/* What to do about a damaged store, and that trying again does not help: the service that it
 * belongs to says so as long as it is closed. */
mishap *mishap_store_is_damaged(mishap *failure, const char *advice);

/* True if a constraint refused it. That is the fault of the caller, and not for the log: so nothing
 * is noted. */
static inline bool mishap_store_is_refusal(store_trouble trouble)
{
    return trouble == STORE_TAKEN || trouble == STORE_DANGLING;
}

/* An open store cannot be used any more: the library is told, and callers get UNAVAILABLE, or
 * NOT_CONFIGURED if it is damaged. The cause is for the operator. */
mishap *mishap_store_lost(mishap_store *store, mishap *cause);

/* Before each query and each begin and commit of a transaction: NULL, unless a test has asked for a
 * store that is gone (base/rehearsal.h). */
mishap *mishap_store_use(mishap_store *store);

/* Failures of opening. `where` is the path of a file; NULL: a database. */
mishap *mishap_store_is_newer(const char *where, int version, int newest);
mishap *mishap_store_is_another(const char *where);
mishap *mishap_store_is_foreign(const char *where, const char *service);

/* -- transaction.c ----------------------------------------------------------------------------- */

/* A query has failed: so has the transaction that it is in. */
void mishap_store_note_trouble(mishap_store *store, store_trouble trouble);

/* Why a transaction in which a query has failed cannot go on. */
store_trouble mishap_store_trouble_of(const mishap_store *store);

/* Roll back to this depth, and end a query that is under way. */
void mishap_store_unwind(mishap_store *store, int depth);

/* Wait before another try: longer each time, with a random part. */
void mishap_store_pause_before(int attempt);

#endif
