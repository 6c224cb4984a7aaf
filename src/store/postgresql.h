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

/* What is known of a statement. */
typedef struct postgresql_statement {
    int count;     /* number of its values */
    bool prepared; /* prepared on this connection */
    /* The position of ?N among them, from 1 on; 0: not used. */
    unsigned char position[MISHAP_STORE_PLACES + 1];
} postgresql_statement;

typedef struct postgresql_store {
    mishap_store base;
    pq_connection *connection; /* NULL: lost, and the next query connects again */
    pq_result *result;         /* of the current query */
    mishap *failure;           /* of that query */
    store_trouble trouble;
    bool writes;       /* the current query changes something */
    bool begins;       /* a transaction whose BEGIN was not sent yet */
    int queued;        /* statements whose results were not read yet */
    char warning[200]; /* the first warning of PostgreSQL since this was cleared; "": none */
    const char *values[MISHAP_STORE_PLACES];
    int lengths[MISHAP_STORE_PLACES], formats[MISHAP_STORE_PLACES];
    mishap_arena arena; /* values of the query, and bytes of its row */
    char storage[1024]; /* its first block */
    postgresql_statement *statements;
    char schema[MISHAP_REHEARSAL_NAME]; /* the name of the service, and more in a test */
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

/* A text, or a prepared statement with the values that are bound. */
typedef struct postgresql_order {
    const char *text, *name;
    int count; /* values */
} postgresql_order;

/* Send it after everything that is queued, and wait. The result is its own or, if a queued
 * statement has failed, that of the failed one. NULL: there is no memory, or the connection is
 * lost. */
pq_result *mishap_postgresql_send(postgresql_store *store, const postgresql_order *order);

/* Queue it. False: the connection is lost. */
bool mishap_postgresql_queue(postgresql_store *store, const postgresql_order *order);

/* Wait for everything that is queued, at least one statement: the last result, or the first that
 * failed. */
pq_result *mishap_postgresql_settle(postgresql_store *store);

/* -- postgresql_open.c ------------------------------------------------------------------------- */

mishap *mishap_postgresql_open(mishap_store *store, const char *identity);

/* Connect to the store of this identity, and to no other. */
mishap *mishap_postgresql_connect_again(postgresql_store *store);

void mishap_postgresql_disconnect(postgresql_store *store);

/* -- placeholders.c ---------------------------------------------------------------------------- */

/* Write the statement with PostgreSQL's placeholders, and a NUL. False: a place has a number that
 * is not allowed. */
bool mishap_postgresql_translate(const char *text, postgresql_statement *statement,
                                 mishap_buffer *sql);

#endif
