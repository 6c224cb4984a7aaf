/* One connection, for the files that handle it: its bytes (connection.c) and its timeouts
 * (wait.c). */
#ifndef MISHAP_SERVER_CONNECTION_H
#define MISHAP_SERVER_CONNECTION_H

#include <netinet/in.h>

#include "server/loop.h"

typedef struct mishap_http_connection {
    uv_tcp_t socket;
    mishap_http_loop *loop;
    mishap_http_exchange exchange;
    mishap_buffer pending; /* what is being written, if it could not be written at once */
    mishap_buffer queued; /* … and what comes behind it: while libuv writes, `pending` is its own */
    union {
        uv_write_t write;
        uv_shutdown_t shutdown;
    };
    struct mishap_http_connection *next, *previous; /* of those that wait for the same */
    mishap_http_wait wait;
    uint64_t since_ms;
    int64_t began_ns; /* … of the request that it waits for the rest of */
    size_t unsent;    /* … bytes that the peer had not taken then, while it waits for that */
    size_t lingered;
    uint64_t since_turn;           /* it waits for a later one */
    struct mishap_http_turn *turn; /* what it has sent in this turn of the loop */
    bool reading, writing, peer_ended, ending;
    bool turned_away; /* it is over the limit, and told so */
    char remote[INET6_ADDRSTRLEN];
} mishap_http_connection;

/* Close it, whatever it does. It is freed when the loop gets to it. */
void mishap_http_connection_close(mishap_http_connection *c);

/* All of server.out is its reply, outside of a turn of many: write it, and see what it waits for in
 * this state. */
void mishap_http_connection_proceed(mishap_http_connection *c, mishap_http_state state);

/* -- waiting (wait.c) -------------------------------------------------------------------------- */

/* From its first moment to its last, a connection waits for something. */
void mishap_http_wait_begin(mishap_http_connection *c, mishap_http_wait wait);
void mishap_http_wait_end(mishap_http_connection *c);

/* It waits for this now. Who waits for the rest of a request waits from its beginning: a byte now
 * and then wins no time, but the next request does. */
void mishap_http_wait_for(mishap_http_connection *c, mishap_http_wait wait);

/* Its time for the same begins anew. */
void mishap_http_wait_anew(mishap_http_connection *c);

#endif
