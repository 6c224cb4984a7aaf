/*
 * A server without sockets and without other processes: bytes in, bytes out. Calls wait until
 * mishap_runner_flush() runs their handlers, in this process. For unit tests and the fuzz harness.
 */
#ifndef MISHAP_MEMORY_SERVER_H
#define MISHAP_MEMORY_SERVER_H

#include "http/serve/serve.h"
#include "http/wire/wire.h"
#include "server/exchange.h"

typedef struct memory_server {
    mishap_http_server server; /* the first */
    mishap_http_settings settings;
    mishap_http_routes *routes;
    mishap_http_fields *fields;
    mishap_served served;
    mishap_api api;
    mishap_http_later *later; /* that waits for its answer, or the rest of it */
    int steps;                /* … how much of it was sent */
    mishap_buffer *to;        /* where it goes */
    size_t closed;            /* how many were gone before they were answered */
    bool silent;              /* no answer ever comes */
    bool deaf;                /* the peer takes nothing that is pushed */
} memory_server;

/* Operations of every kind, as a server has them:
 *     POST /users (quick; name, age, email as in seed 003)    GET /slow/:id (in a worker)
 *     POST /echo (in a worker; text)                          GET /list?tag=&limit= (quick)
 *     GET /pieces/:id (in a worker, a stream; "broken" fails after two pieces, "none" before any)
 * and beside them, all deferred:
 *     GET /now (answered at once)      GET /later (when more has come in, or nothing more comes)
 *     GET /stream (one piece at once, another each time that more has come in, or at the end) */
extern const mishap_app memory_app;

/* Of GET /slow/:id: how often it has run, and how many milliseconds it had the last time. */
extern size_t memory_slow_runs;
extern int64_t memory_slow_time_left;

void memory_server_open(memory_server *m);
void memory_server_close(memory_server *m);

/*
 * One connection from beginning to end: the bytes are fed in pieces, whose sizes are taken from
 * `pieces` in turn (0 and NULL: all at once). What comes out is added to `out`. The result is the
 * last state.
 */
mishap_http_state memory_server_talk(memory_server *m, mishap_text bytes, const uint8_t *pieces,
                                     size_t piece_count, mishap_buffer *out);

/* Replace ids and dates, which differ from run to run, by x. */
void memory_server_steady(mishap_buffer *out);

#endif
