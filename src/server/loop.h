/* One server process (a loop): its libuv loop, its connections, its extensions. */
#ifndef MISHAP_SERVER_LOOP_H
#define MISHAP_SERVER_LOOP_H

#include "server/exchange.h"
#include "server/listen.h"

/* Messages between a loop and the supervisor, one byte each. Each is marked with its sender. */
enum {
    MISHAP_HTTP_READY = 'R',   /* loop: it accepts connections */
    MISHAP_HTTP_ALIVE = 'A',   /* loop: it is not blocked */
    MISHAP_HTTP_LEAVING = 'L', /* loop: it has begun to drain by itself; another loop is needed */
    MISHAP_HTTP_EMPTY = 'E',   /* loop: the server stops, and it has no session */
    MISHAP_HTTP_HAS = 'H',     /* loop: … it has a session, or a stream */
    MISHAP_HTTP_TAKE = 'T',    /* supervisor: here are connections, which the loop owns now */
    MISHAP_HTTP_DRAIN = 'D',   /* supervisor: another loop has started; drain */
    MISHAP_HTTP_WARN = 'W',    /* supervisor: the server stops soon; go on accepting until then */
    MISHAP_HTTP_STOP = 'S', /* supervisor: finish requests in flight, close the other connections */
};

/* What a connection waits for. All connections that wait for the same have the same timeout. So
 * each kind has a list in the order of the start, and only the first one can be due. */
typedef enum mishap_http_wait {
    MISHAP_HTTP_WAIT_IDLE,   /* the next request */
    MISHAP_HTTP_WAIT_HEAD,   /* the rest of a head */
    MISHAP_HTTP_WAIT_BODY,   /* the rest of a body */
    MISHAP_HTTP_WAIT_UPLOAD, /* … more of a body that is passed on while it arrives */
    MISHAP_HTTP_WAIT_ANSWER, /* an answer, whose timeout is kept elsewhere */
    MISHAP_HTTP_WAIT_TURN,   /* the next iteration of the loop: it has sent requests already */
    MISHAP_HTTP_WAIT_WRITE,  /* a peer that reads slowly */
    MISHAP_HTTP_WAIT_LINGER, /* a peer that has its last reply and may still send */
    MISHAP_HTTP_WAITS,
} mishap_http_wait;

/* Of a body that is passed on, so many bytes must arrive within the time for a body. */
enum { MISHAP_HTTP_UPLOAD_LEAST = 256 * 1024 };

enum { MISHAP_HTTP_INPUT = 512 * 1024, MISHAP_HTTP_TURNS = 1024 };

typedef struct mishap_http_loop {
    mishap_http_server server; /* the first member: a pointer to one is a pointer to the other */
    uv_loop_t uv;
    struct mishap_http_listener {
        uv_tcp_t socket;
        bool waits; /* a connection waits for memory; libuv reports no other before it */
    } listeners[MISHAP_HTTP_ADDRESSES];
    int listener_count;
    uv_pipe_t control;
    uv_timer_t timer;
    uv_check_t check; /* runs after all input of an iteration was read */
    uv_async_t wake;  /* starts the next iteration */
    uv_signal_t hangup, terminate;
    struct mishap_http_connection *first[MISHAP_HTTP_WAITS], *last[MISHAP_HTTP_WAITS];
    uint64_t patience_ms[MISHAP_HTTP_WAITS]; /* timeouts; 0: none */
    uint64_t swept_ms; /* when connections were last checked for timeouts; 0: not yet */
    size_t connections;
    bool released;          /* the supervisor hands over no more connections */
    size_t turned_away;     /* connections over the limit, which are refused */
    uint64_t alive_ms;      /* when ALIVE was sent last */
    uint64_t idle_until_ms; /* while draining: when connections without a request are closed */
    uint64_t end_by_ms;     /* while draining: when all connections are closed */

    /* The input of this iteration of the loop, and the connections that it came from. */
    char input[MISHAP_HTTP_INPUT];
    size_t input_used, turn_count;
    bool turning; /* some of it was answered already */
    struct mishap_http_turn {
        struct mishap_http_connection *connection; /* NULL: closed meanwhile */
        char *data;
        size_t length;
        size_t from, to; /* the range of its replies in server.out */
        mishap_http_state state;
        bool fed; /* it was answered, so the three fields above are set */
    } turns[MISHAP_HTTP_TURNS];
} mishap_http_loop;

/* What the supervisor has created for all loops. */
typedef struct mishap_http_common {
    const mishap_http_routes *routes;
    mishap_http_metrics *metrics;
    mishap_http_rates *rates;
    mishap_http_bodies *bodies;
    size_t place;        /* the place of this loop in `bodies` */
    int64_t stops_ns;    /* the server was told to stop, and stops then; 0: it was not */
    void *const *shared; /* what the extensions have prepared */
} mishap_http_common;

/* How long the server goes on after it was told to stop, in milliseconds: at most, if it waits for
 * sessions. */
static inline int64_t mishap_http_drains_for(const mishap_http_settings *settings)
{
    return settings->sessions_ms > settings->drain_ms ? settings->sessions_ms : settings->drain_ms;
}

/* Serve on listening sockets until told to end. The process exits then. */
_Noreturn void mishap_http_loop_run(const mishap_http_settings *settings,
                                    const mishap_http_common *common,
                                    const mishap_http_sockets *sockets, int control);

/* -- for connections --------------------------------------------------------------------------- */

/* Accept a connection that waits at a listener, or that the supervisor has handed over. False:
 * there is no memory for it now. */
bool mishap_http_connection_accept(mishap_http_loop *loop, uv_stream_t *from);

/* Answer what was read so far in this iteration of the loop. At its end, go on with what was left
 * over from earlier iterations. */
void mishap_http_connection_answer(mishap_http_loop *loop);
void mishap_http_connection_end_turn(mishap_http_loop *loop);

/* Close the connections whose time is over. */
void mishap_http_connection_sweep(mishap_http_loop *loop);

/* server->push, server->lags, server->go_on, server->revoke and server->wake. */
bool mishap_http_connection_push(mishap_http_server *server, mishap_http_exchange *exchange,
                                 mishap_text bytes);
bool mishap_http_connection_lags(const mishap_http_exchange *exchange);
void mishap_http_connection_go_on(mishap_http_server *server, mishap_http_exchange *exchange);
void mishap_http_connection_revoke(mishap_http_server *server, uint64_t key, const char *caller,
                                   int64_t now_s);
void mishap_http_connection_wake(mishap_http_server *server);

/* Close every connection without a request. */
void mishap_http_connection_close_idle(mishap_http_loop *loop);

#endif
