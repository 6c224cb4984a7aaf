/* One connection without its socket: bytes in, requests answered one after the other, bytes out. */
#ifndef MISHAP_SERVER_EXCHANGE_H
#define MISHAP_SERVER_EXCHANGE_H

#include "server/request.h"
#include "server/state.h"

typedef enum mishap_http_state {
    MISHAP_HTTP_IDLE,    /* no request has begun */
    MISHAP_HTTP_IN_HEAD, /* the head of one is on its way */
    MISHAP_HTTP_IN_BODY, /* … its body */
    MISHAP_HTTP_PASSING, /* … its body, which is passed on while it arrives */
    MISHAP_HTTP_RUNNING, /* the answer to a request comes later: no other one is processed */
    MISHAP_HTTP_ENDED,   /* the last reply is in server->out */
} mishap_http_state;

typedef struct mishap_http_exchange {
    mishap_http_reader reader;
    mishap_http_later *later; /* the deferred request, while RUNNING */
    mishap_text remote;
    int64_t began_ns; /* when the first byte of the current request came */
    size_t held;      /* bytes that its reader keeps, as they were counted */
    bool entered;     /* the head of the current request was checked and counted */
    bool continued;   /* 100 Continue was sent */
    bool peer_ended;  /* the peer sends no more */
    bool broken;      /* the rest of a body that was passed on will not come, or is of no use */
    bool ended;       /* nothing more is read; a deferred answer can no longer be written */
} mishap_http_exchange;

void mishap_http_exchange_init(mishap_http_exchange *exchange, const mishap_http_server *server,
                               mishap_text remote);

/* Release it. Endpoints whose answers are deferred are notified that the connection is closed. */
void mishap_http_exchange_release(mishap_http_server *server, mishap_http_exchange *exchange);

/* Process bytes that have arrived; their memory is written to. Replies are added to server->out. */
mishap_http_state mishap_http_exchange_feed(mishap_http_server *server,
                                            mishap_http_exchange *exchange, char *data,
                                            size_t length);

/* End the connection with a failure that belongs to no complete request: it came too slowly, or
 * broke off. Takes the mishap. */
mishap_http_state mishap_http_exchange_end(mishap_http_server *server,
                                           mishap_http_exchange *exchange, mishap *failure);

/* True if the body of a request arrives, and is passed on. */
bool mishap_http_exchange_passes(const mishap_http_exchange *exchange);

/* Memory of the endpoint that the next bytes of such a body are to be read into, and its size.
 * NULL: it has none now. */
char *mishap_http_exchange_lend(const mishap_http_exchange *exchange, size_t *size);

/* … and its rest will not come: its endpoint gets the failure, and answers. Takes the mishap. */
mishap_http_state mishap_http_exchange_break(mishap_http_server *server,
                                             mishap_http_exchange *exchange, mishap *failure);

/* -- for deferred answers ---------------------------------------------------------------------- */

/* True if this is the last request. A server that drains closes each connection after the last
 * request that it has read. */
bool mishap_http_exchange_is_last(const mishap_http_server *server,
                                  const mishap_http_exchange *exchange);

/* Write the reply at the end of `out`, count it, and log it. It is the last one if the connection
 * has to end, or if there is no memory for it. */
void mishap_http_exchange_reply(mishap_http_server *server, mishap_http_exchange *exchange,
                                mishap_buffer *out, const mishap_http_request *request,
                                mishap_http_reply *reply, int64_t route);

/* Only count it and log it. */
void mishap_http_exchange_tell(mishap_http_server *server, const mishap_http_request *request,
                               const mishap_http_reply *reply, int64_t route, size_t sent);

/* The connection is closed: notify the endpoint, and free the deferred request. */
void mishap_http_later_close(mishap_http_later *later);

/* The key of its request was removed: cut a stream now, or when it would begin; with `all` also
 * what was not answered yet. closed() follows in a later iteration of the loop. */
void mishap_http_later_revoke(mishap_http_later *later, bool all);

#endif
