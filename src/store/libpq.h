/*
 * The client library of PostgreSQL, loaded when it is first needed: a program that stores nothing
 * there need not have it. These are the functions that we call, as libpq 5 has them since
 * PostgreSQL 14; its own header is not needed to build. tests/store/store_test.c compares the two.
 */
#ifndef MISHAP_STORE_LIBPQ_H
#define MISHAP_STORE_LIBPQ_H

#include "mishap/mishap.h"

typedef struct pg_conn pq_connection;
typedef struct pg_result pq_result;
typedef struct pq_option {
    char *keyword, *environment, *compiled, *value, *label, *display;
    int display_size;
} pq_option;

enum {
    PQ_CONNECTION_OK = 0,
    PQ_CONNECTION_BAD = 1,
    PQ_POLLING_FAILED = 0,
    PQ_POLLING_READING = 1,
    PQ_POLLING_WRITING = 2,
    PQ_POLLING_OK = 3,
    PQ_COMMAND_OK = 1,
    PQ_TUPLES_OK = 2,
    PQ_COPY_OUT = 3,
    PQ_COPY_IN = 4,
    PQ_PIPELINE_SYNC = 10,
    PQ_PING_OK = 0,
    PQ_SQLSTATE = 'C',
    PQ_SEVERITY = 'V', /* in English, for any language of the server */
    PQ_MESSAGE = 'M',
    PQ_SOURCE = 'R', /* the function of the server that says it */
};

/* clang-format off */
#define LIBPQ(FUNCTION)                                                                            \
    FUNCTION(pq_connection *, PQconnectStartParams,                                                \
             (const char *const *keywords, const char *const *values, int expand_dbname))          \
    FUNCTION(int, PQconnectPoll, (pq_connection *connection))                                      \
    FUNCTION(int, PQpingParams,                                                                    \
             (const char *const *keywords, const char *const *values, int expand_dbname))          \
    FUNCTION(void, PQfinish, (pq_connection *connection))                                          \
    FUNCTION(int, PQstatus, (const pq_connection *connection))                                     \
    FUNCTION(int, PQsocket, (const pq_connection *connection))                                     \
    FUNCTION(int, PQbackendPID, (const pq_connection *connection))                                 \
    FUNCTION(int, PQsetnonblocking, (pq_connection *connection, int yes))                          \
    FUNCTION(int, PQflush, (pq_connection *connection))                                            \
    FUNCTION(int, PQisBusy, (pq_connection *connection))                                           \
    FUNCTION(int, PQconsumeInput, (pq_connection *connection))                                     \
    FUNCTION(char *, PQerrorMessage, (const pq_connection *connection))                            \
    FUNCTION(const char *, PQparameterStatus, (const pq_connection *connection, const char *name)) \
    FUNCTION(void *, PQsetNoticeReceiver,                                                          \
             (pq_connection *connection, void (*hear)(void *, const pq_result *), void *state))    \
    FUNCTION(pq_option *, PQconninfoParse, (const char *address, char **words))                    \
    FUNCTION(void, PQconninfoFree, (pq_option *options))                                           \
    FUNCTION(void, PQfreemem, (void *memory))                                                      \
    FUNCTION(int, PQsendQuery, (pq_connection *connection, const char *text))                      \
    FUNCTION(int, PQsendPrepare,                                                                   \
             (pq_connection *connection, const char *name, const char *text, int count,            \
              const unsigned *types))                                                              \
    FUNCTION(int, PQsendQueryParams,                                                               \
             (pq_connection *connection, const char *text, int count, const unsigned *types,       \
              const char *const *values, const int *lengths, const int *formats, int format))      \
    FUNCTION(int, PQsendQueryPrepared,                                                             \
             (pq_connection *connection, const char *name, int count, const char *const *values,   \
              const int *lengths, const int *formats, int format))                                 \
    FUNCTION(int, PQenterPipelineMode, (pq_connection *connection))                                \
    FUNCTION(int, PQexitPipelineMode, (pq_connection *connection))                                 \
    FUNCTION(int, PQpipelineSync, (pq_connection *connection))                                     \
    FUNCTION(pq_result *, PQgetResult, (pq_connection *connection))                                \
    FUNCTION(int, PQresultStatus, (const pq_result *result))                                       \
    FUNCTION(char *, PQresultErrorMessage, (const pq_result *result))                              \
    FUNCTION(char *, PQresultErrorField, (const pq_result *result, int field))                     \
    FUNCTION(char *, PQcmdStatus, (pq_result *result))                                             \
    FUNCTION(int, PQntuples, (const pq_result *result))                                            \
    FUNCTION(char *, PQgetvalue, (const pq_result *result, int row, int column))                   \
    FUNCTION(int, PQgetlength, (const pq_result *result, int row, int column))                     \
    FUNCTION(int, PQgetisnull, (const pq_result *result, int row, int column))                     \
    FUNCTION(int, PQnfields, (const pq_result *result))                                            \
    FUNCTION(void, PQclear, (pq_result *result))

#define LIBPQ_MEMBER(type, name, parameters) type(*name) parameters;
typedef struct libpq {
    LIBPQ(LIBPQ_MEMBER)
} libpq;
/* clang-format on */

/* Load it, unless it is there. NOT_CONFIGURED: it is not installed. */
mishap *mishap_libpq_load(void);

/* Its functions, once it is loaded. */
extern libpq mishap_libpq;

#endif
