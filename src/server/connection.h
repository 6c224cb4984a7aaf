/* One connection, for the files that handle it: its bytes (connection.c) and its timeouts
 * (wait.c). */
#ifndef MISHAP_SERVER_CONNECTION_H
#define MISHAP_SERVER_CONNECTION_H

#include <netinet/in.h>

#include "server/loop.h"

/* Most connections are idle, so what only some need is allocated then: buffers, and what libuv
 * wants for a write or the end of one. */
typedef struct mishap_http_connection {
    uv_tcp_t socket;
    mishap_http_loop *loop;
    mishap_http_exchange exchange;
    mishap_buffer pending; /* bytes being written that the socket did not take at once */
    mishap_buffer queued;  /* … and bytes behind them: while libuv writes, it uses `pending` */
    /* In the list of connections that wait for the same. */
    struct mishap_http_connection *next, *previous;
    mishap_http_wait wait;
    uint64_t since_ms;
    int64_t began_ns; /* … when the incomplete request began */
    size_t unsent;    /* … bytes that the peer had not read then */
    size_t lingered;
    size_t passed_then;            /* … bytes of the body that had been passed on then */
    uint64_t since_turn;           /* the iteration since which it waits for its turn */
    struct mishap_http_turn *turn; /* its input in this iteration of the loop */
    bool reading, writing, peer_ended, ending;
    bool turned_away; /* it is over the limit, and refused */
    char remote[INET6_ADDRSTRLEN];
} mishap_http_connection;

/* Close it in any state. It is freed in a later iteration of the loop. */
void mishap_http_connection_close(mishap_http_connection *c);

/* All of server.out is its reply, outside of the batch of an iteration: write it, and decide what
 * the connection waits for in this state. */
void mishap_http_connection_proceed(mishap_http_connection *c, mishap_http_state state);

/* -- waiting (wait.c) -------------------------------------------------------------------------- */

/* A connection waits for something from its first moment to its last. */
void mishap_http_wait_begin(mishap_http_connection *c, mishap_http_wait wait);
void mishap_http_wait_end(mishap_http_connection *c);

/* It waits for this now. The time for the rest of a request counts from the beginning of the
 * request: a single byte now and then wins no time. The next request has its own time. */
void mishap_http_wait_for(mishap_http_connection *c, mishap_http_wait wait);

/* The timeout for what it waits for starts anew. */
void mishap_http_wait_anew(mishap_http_connection *c);

#endif
