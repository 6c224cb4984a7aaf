/*
 * A store in PostgreSQL: a schema of a database, on one connection of the process.
 *
 * Queries outside of a transaction are transactions of their own, at PostgreSQL's usual level;
 * those of mishap_store_transact() are serializable. After a lost connection the next query
 * connects again, but only to the store of the same identity.
 */
#ifndef MISHAP_STORE_POSTGRESQL_H
#define MISHAP_STORE_POSTGRESQL_H

#include "base/arena.h"
#include "base/rehearsal.h"
#include "store/libpq.h"
#include "store/store.h"
#include "store/timeline.h"

enum {
    STORE_ANSWER_MS = 7000,     /* the time for an answer, unless the schema says more; it is longer
                                   than MISHAP_STORE_PATIENCE, so that the answer to a statement
                                   that waits for a lock comes first */
    STORE_CALL_MARGIN_MS = 300, /* before the deadline of a call, so that the call can answer */
    STORE_BACKEND_BEGUN = 40,   /* bytes of the time at which a backend began */
    STORE_SETTINGS = 640,       /* bytes of the settings of a transaction through a pooler */
    STORE_HOSTS = 2000,         /* bytes of a list of hosts */
    STORE_KEYWORDS = 12,        /* of what libpq is told */
    STORE_MARKS = 4,            /* positions of the log that are remembered */
};

/* What is known of a statement. */
typedef struct postgresql_statement {
    int count;       /* number of its values */
    bool prepared;   /* prepared on this connection */
    bool at_standby; /* … and on the connection to a standby */
    char *sql;       /* through a pooler: the text, which is sent each time */
    /* The position of ?N among them, from 1 on; 0: not used. */
    unsigned char position[MISHAP_STORE_PLACES + 1];
} postgresql_statement;

/* A host that is being asked, and which one is next. */
typedef struct postgresql_survey {
    pq_connection *asked; /* NULL: none */
    int wants;            /* of PQconnectPoll() */
    bool sent;            /* it is connected, and the question was sent */
    size_t next;
    int64_t until_ms, due_ms;
} postgresql_survey;

/* The log of the primary had reached this position, or a later one, at that time. */
typedef struct postgresql_mark {
    int64_t at_ms; /* 0: none */
    uint64_t position;
} postgresql_mark;

/* The connection to a standby, for reads (postgresql_standby.c). */
typedef struct postgresql_standby {
    pq_connection *connection; /* NULL: none */
    enum { STORE_STANDBY_CONNECTS, STORE_STANDBY_SETS_UP, STORE_STANDBY_READY } state;
    int wants;                          /* of PQconnectPoll() */
    bool sound;                         /* what it has answered while it was set up */
    size_t next, hosts;                 /* which host is tried next, and how many there are */
    int64_t moved_ms;                   /* when it last went on with connecting */
    int64_t not_before_ms;              /* it is not asked before */
    int64_t behind_ms;                  /* since when it is too far behind; 0: it is not */
    postgresql_mark marks[STORE_MARKS]; /* of the primary, the newest first */
} postgresql_standby;

/* A process of PostgreSQL: its number may be used again, but not with the same beginning. */
typedef struct postgresql_backend {
    int pid; /* 0: none */
    char begun[STORE_BACKEND_BEGUN];
} postgresql_backend;

typedef struct postgresql_store {
    mishap_store base;
    pq_connection *connection; /* NULL: lost, and the next query connects again */
    pq_result *result;         /* of the current query */
    mishap *failure;           /* of that query */
    store_trouble trouble;
    bool writes;  /* the current query changes something */
    bool late;    /* PostgreSQL did not answer in time, and the connection was closed */
    bool hurries; /* the statement must be answered before the deadline of the call */
    bool standby; /* the server was a standby when it was connected to */
    bool stale;   /* another server may be better: connect again before the next query */
    bool pooled;  /* PgBouncer or the like is in between: a connection keeps no state */
    size_t turn;  /* which host of the address is tried first */
    size_t host;  /* the one that is connected, or was */
    postgresql_backend backend; /* of the connection */
    /* Backends that were left, until they have ended: one that was working, and one whose commit
     * may still be made (left_open). */
    postgresql_backend left, undecided;
    store_timelines timelines;
    postgresql_survey survey;
    postgresql_standby reader; /* of standbys; all zero unless they are used */
    bool begins;               /* a transaction whose BEGIN was not sent yet */
    int queued;                /* statements whose results were not read yet */
    char warning[200]; /* the first warning of PostgreSQL since this was cleared; "": none */
    const char *values[MISHAP_STORE_PLACES];
    int lengths[MISHAP_STORE_PLACES], formats[MISHAP_STORE_PLACES];
    mishap_arena arena; /* values of the query, and bytes of its row */
    char storage[1024]; /* its first block */
    postgresql_statement *statements;
    char schema[MISHAP_REHEARSAL_NAME]; /* the name of the service, and more in a test */
    char settings[STORE_SETTINGS];      /* of a transaction through a pooler, as SQL */
    char address[];
} postgresql_store;

/* -- postgresql.c ------------------------------------------------------------------------------ */

extern const store_engine mishap_postgresql_engine;

/* The meaning of a result; and a mishap for it, with PostgreSQL's words for the operator, NULL if
 * it is no error. A NULL result means no memory or no connection. */
store_trouble mishap_postgresql_trouble(const postgresql_store *store, const pq_result *result);
mishap *mishap_postgresql_failure(const postgresql_store *store, const pq_result *result,
                                  store_trouble trouble);

/* -- postgresql_send.c ------------------------------------------------------------------------- */

/* A text, or a prepared statement; with the values that are bound. */
typedef struct postgresql_order {
    const char *text, *name;
    int count; /* values */
} postgresql_order;

/* Send it after everything that is queued, and wait. The result is its own or, if a queued
 * statement has failed, that of the failed one. NULL: there is no memory, the connection is lost,
 * or there was no answer in time. */
pq_result *mishap_postgresql_send(postgresql_store *store, const postgresql_order *order);

/* Queue it. False: the connection is lost. */
bool mishap_postgresql_queue(postgresql_store *store, const postgresql_order *order);

/* Wait for everything that is queued, at least one statement: the last result, or the first that
 * failed. */
pq_result *mishap_postgresql_settle(postgresql_store *store);

/* -- postgresql_standby.c ---------------------------------------------------------------------- */

/* Run a read at a standby, if its call allows that, and a standby is known to have what the call
 * must see. True: store->result has the rows. False: it is to be run at the primary, and the
 * standby has cost no more than a moment. */
bool mishap_postgresql_read_at_standby(mishap_query *query);

/* The functions of the engine. */
bool mishap_postgresql_has_standbys(const mishap_store *store);
uint64_t mishap_postgresql_position(mishap_store *store);

/* The connection to the primary is gone: what was known of its log may be that of another. */
void mishap_postgresql_forget_marks(postgresql_store *store);

void mishap_postgresql_end_standby(postgresql_store *store);

/* -- postgresql_wait.c ------------------------------------------------------------------------- */

/*
 * The next result of the connection, as PQgetResult() has it. `until_ms` is a time of
 * mishap_store_now_ms(); when it is over the connection is closed, its backend is remembered as
 * left, and the result is NULL.
 */
pq_result *mishap_postgresql_next(postgresql_store *store, int64_t until_ms);

/* Send what is left to be sent, and read, until there is a result. False: the time is over. */
bool mishap_postgresql_wait(pq_connection *connection, int64_t until_ms);

/* When the answer to a statement that is sent now must be there. */
int64_t mishap_postgresql_until(const postgresql_store *store);

/* All results of what was sent: the last one, or the first that failed; NULL: the time is over. */
pq_result *mishap_postgresql_all(postgresql_store *store, int64_t until_ms);

/* Run a text, which may have several statements: the last result, or the first that failed. */
pq_result *mishap_postgresql_run(postgresql_store *store, const char *text, int64_t until_ms);

/* Prepare a statement. */
pq_result *mishap_postgresql_prepare(postgresql_store *store, const char *name, const char *text);

/* -- postgresql_peer.c ------------------------------------------------------------------------- */

/*
 * After connecting: what is at the other end? Finds out whether it is a standby, whether a pooler
 * is in between, and ends the backend that this process has left before. A mishap: it is a primary
 * that was replaced by another.
 */
mishap *mishap_postgresql_meet(postgresql_store *store);

/* The connection was lost while a change was being made, so its backend may still make it:
 * STORE_UNKNOWN. */
store_trouble mishap_postgresql_leave(postgresql_store *store);

/* See store_engine. Behind a pooler it is never known. */
bool mishap_postgresql_is_over(mishap_store *base);

/* The question about what a server is, and its answer: the system identifier and the timeline.
 * False: it is no primary, or none of PostgreSQL. */
extern const char mishap_postgresql_ask_peer[];
bool mishap_postgresql_read_timeline(const pq_result *result, store_timeline *found);

/* -- postgresql_connect.c ---------------------------------------------------------------------- */

/* NOT_CONFIGURED: libpq cannot read the address, or not as it was meant. */
mishap *mishap_postgresql_check_address(const postgresql_store *store);

/* Connect to a server, and set the connection up. `again`: a connection was lost, and calls wait:
 * then it takes three seconds at most, and after a query that was waited for in vain the rest of
 * STORE_WHOLE_MS. */
mishap *mishap_postgresql_connect(postgresql_store *store, bool again);

/* The hosts of an address. */
typedef struct postgresql_hosts {
    char host[STORE_HOSTS], hostaddr[STORE_HOSTS], port[STORE_HOSTS];
    size_t count; /* 1: all that the address says is left to libpq */
    int host_ms;  /* for each of them, as the address has it; 0: it does not say */
    bool wants_primary, prefers_standby;
} postgresql_hosts;

void mishap_postgresql_read_hosts(const postgresql_store *store, postgresql_hosts *hosts);

/* What libpq is told for one host. */
typedef struct postgresql_options {
    const char *keywords[STORE_KEYWORDS], *values[STORE_KEYWORDS];
    size_t count;
    char host[STORE_HOSTS], hostaddr[STORE_HOSTS], port[STORE_HOSTS];
    char name[sizeof "mishap " + MISHAP_REHEARSAL_NAME]; /* of the program, for operators */
} postgresql_options;

/* `wanted`: the attributes of the session; "": as the address has it. */
void mishap_postgresql_set_options(const postgresql_store *store, const postgresql_hosts *hosts,
                                   size_t number, const char *wanted, postgresql_options *options);

/* -- postgresql_survey.c ----------------------------------------------------------------------- */

/* Ask all hosts of an address that has several, and wait until each has answered or does not in
 * time: the highest timeline is kept. */
void mishap_postgresql_survey(postgresql_store *store);

/* End a survey that is under way. */
void mishap_postgresql_end_survey(postgresql_store *store);

/* -- postgresql_open.c ------------------------------------------------------------------------- */

mishap *mishap_postgresql_open(mishap_store *store, const char *identity);

/* Connect to the store of this identity, and to no other. */
mishap *mishap_postgresql_connect_again(postgresql_store *store);

void mishap_postgresql_disconnect(postgresql_store *store);

/* Set up a connection before it is used. */
mishap *mishap_postgresql_set_up(postgresql_store *store);

/* -- placeholders.c ---------------------------------------------------------------------------- */

/* Write the statement with PostgreSQL's placeholders, and a NUL. False: a place has a number that
 * is not allowed. */
bool mishap_postgresql_translate(const char *text, postgresql_statement *statement,
                                 mishap_buffer *sql);

#endif
