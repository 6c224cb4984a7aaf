/*
 * A server without sockets, processes or threads: bytes in, bytes out, handlers run when they are
 * asked for. For unit tests and the fuzz harness.
 */
#ifndef MISHAP_MEMORY_SERVER_H
#define MISHAP_MEMORY_SERVER_H

#include "boundary/http/exchange.h"

typedef struct memory_server {
    mishap_http_server server; /* the first */
    mishap_http_settings settings;
    mishap_http_routes *routes;
    mishap_http_job *job; /* that waits for its thread */
} memory_server;

/* Operations of every kind, as a server has them:
 *     POST /users (quick; name, age, email as in seed 003)    GET /slow/:id (on a thread)
 *     POST /echo (on a thread; text)                          GET /list?tag=&limit= (quick) */
extern const mishap_app memory_app;

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
