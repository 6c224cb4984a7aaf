/* One connection without its socket: bytes in, requests answered one after the other, bytes out. */
#ifndef MISHAP_SERVER_EXCHANGE_H
#define MISHAP_SERVER_EXCHANGE_H

#include "server/request.h"
#include "server/state.h"

typedef enum mishap_http_state {
    MISHAP_HTTP_IDLE,    /* no request has begun */
    MISHAP_HTTP_IN_HEAD, /* the head of one is on its way */
    MISHAP_HTTP_IN_BODY, /* … its body */
    MISHAP_HTTP_RUNNING, /* one is answered later: no other meanwhile */
    MISHAP_HTTP_ENDED,   /* the last reply is in server->out */
} mishap_http_state;

typedef struct mishap_http_exchange {
    mishap_http_reader reader;
    mishap_http_later *later; /* while it is RUNNING */
    mishap_text remote;
    int64_t began_ns; /* when the first byte of the request at hand came */
    size_t held;      /* bytes that its reader keeps, as they were counted */
    bool entered;     /* the head of the request at hand was looked at, and counted */
    bool continued;   /* 100 Continue was sent */
    bool peer_ended;  /* the peer sends no more */
    bool ended;       /* nothing more is read; with a `later`, it cannot be written to any more */
} mishap_http_exchange;

void mishap_http_exchange_init(mishap_http_exchange *exchange, const mishap_http_server *server,
                               mishap_text remote);

/* Release it. Endpoints that would have answered later are notified that the connection is
 * closed. */
void mishap_http_exchange_release(mishap_http_server *server, mishap_http_exchange *exchange);

/* Bytes came in (the memory is written to). Whatever they lead to is added to server->out. */
mishap_http_state mishap_http_exchange_feed(mishap_http_server *server,
                                            mishap_http_exchange *exchange, char *data,
                                            size_t length);

/* End it with a failure that is nobody's request: it came too slowly, or broke off. Takes the
 * mishap. */
mishap_http_state mishap_http_exchange_end(mishap_http_server *server,
                                           mishap_http_exchange *exchange, mishap *failure);

/* -- for answers that come later --------------------------------------------------------------- */

/* A server that drains ends each connection with the last request that it has read from it. */
bool mishap_http_exchange_is_last(const mishap_http_server *server,
                                  const mishap_http_exchange *exchange);

/* The reply at the end of `out`, and whoever counts and logs hears of it. It is the last if the
 * connection has to end, or there is no memory for it. */
void mishap_http_exchange_reply(mishap_http_server *server, mishap_http_exchange *exchange,
                                mishap_buffer *out, const mishap_http_request *request,
                                mishap_http_reply *reply, int64_t route);

/* Only the second half of that. */
void mishap_http_exchange_tell(mishap_http_server *server, const mishap_http_request *request,
                               const mishap_http_reply *reply, int64_t route, size_t sent);

/* The connection is gone: whoever has this one hears of it, and it is freed. */
void mishap_http_later_close(mishap_http_later *later);

/* The key of its request was removed: a stream is cut now, or when it would begin. closed() follows
 * when the loop gets to it. */
void mishap_http_later_revoke(mishap_http_later *later);

#endif
