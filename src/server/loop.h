/* One server process: its libuv loop, its connections, its extensions. */
#ifndef MISHAP_SERVER_LOOP_H
#define MISHAP_SERVER_LOOP_H

#include "server/exchange.h"
#include "server/listen.h"

/* What loop and supervisor say to each other, a byte each. */
enum {
    MISHAP_HTTP_READY = 'R',   /* loop: it accepts connections */
    MISHAP_HTTP_ALIVE = 'A',   /* loop: it turns */
    MISHAP_HTTP_LEAVING = 'L', /* loop: it drains already, of itself; there must be another */
    MISHAP_HTTP_TAKE = 'T',    /* supervisor: connections come with it, which the loop has now */
    MISHAP_HTTP_DRAIN = 'D',   /* supervisor: there is another one; let callers come to an end */
    MISHAP_HTTP_STOP = 'S',    /* supervisor: finish what is in flight, close the rest */
};

/* What a connection waits for. Those that wait for the same thing wait equally long, so each kind
 * has a list in the order of its beginning, and only the first can be due. */
typedef enum mishap_http_wait {
    MISHAP_HTTP_WAIT_IDLE,   /* the next request */
    MISHAP_HTTP_WAIT_HEAD,   /* the rest of a head */
    MISHAP_HTTP_WAIT_BODY,   /* the rest of a body */
    MISHAP_HTTP_WAIT_ANSWER, /* an answer, whose time is kept elsewhere */
    MISHAP_HTTP_WAIT_TURN,   /* the next turn of the loop: it has sent requests already */
    MISHAP_HTTP_WAIT_WRITE,  /* a peer that reads slowly */
    MISHAP_HTTP_WAIT_LINGER, /* a peer that has got its last reply and may still send */
    MISHAP_HTTP_WAITS,
} mishap_http_wait;

enum { MISHAP_HTTP_INPUT = 512 * 1024, MISHAP_HTTP_TURNS = 1024 };

typedef struct mishap_http_loop {
    mishap_http_server server; /* the first: one can be had from the other */
    uv_loop_t uv;
    struct mishap_http_listener {
        uv_tcp_t socket;
        bool waits; /* a connection does, for memory: libuv hands out no other before it */
    } listeners[MISHAP_HTTP_ADDRESSES];
    int listener_count;
    uv_pipe_t control;
    uv_timer_t timer;
    uv_check_t check; /* after everything that was to be read has been */
    uv_async_t wake;  /* there is something to do in the next turn */
    uv_signal_t hangup, terminate;
    struct mishap_http_connection *first[MISHAP_HTTP_WAITS], *last[MISHAP_HTTP_WAITS];
    uint64_t patience_ms[MISHAP_HTTP_WAITS]; /* 0: as long as it takes */
    uint64_t swept_ms; /* when those whose time was over were closed last; 0: not yet */
    size_t connections;
    bool released;          /* the supervisor hands over nothing more */
    size_t turned_away;     /* of these: over the limit, and told so */
    uint64_t alive_ms;      /* when it said last that it turns */
    uint64_t idle_until_ms; /* while draining: when connections without a request are closed */
    uint64_t end_by_ms;     /* while draining: when all are */

    /* What was read in this turn of the loop, and from whom. */
    char input[MISHAP_HTTP_INPUT];
    size_t input_used, turn_count;
    bool turning; /* some of it was answered already */
    struct mishap_http_turn {
        struct mishap_http_connection *connection; /* NULL: closed meanwhile */
        char *data;
        size_t length;
        size_t from, to; /* of its replies, in server.out */
        mishap_http_state state;
        bool fed; /* it was answered, so the three above are known */
    } turns[MISHAP_HTTP_TURNS];
} mishap_http_loop;

/* What the supervisor has made for all loops. */
typedef struct mishap_http_common {
    const mishap_http_routes *routes;
    mishap_http_metrics *metrics;
    mishap_http_rates *rates;
    mishap_http_bodies *bodies;
    size_t place;        /* of this loop in `bodies` */
    void *const *shared; /* what the extensions have prepared */
} mishap_http_common;

/* Serve on sockets that listen, until told to end. The process ends with it. */
_Noreturn void mishap_http_loop_run(const mishap_http_settings *settings,
                                    const mishap_http_common *common,
                                    const mishap_http_sockets *sockets, int control);

/* -- for connections --------------------------------------------------------------------------- */

/* Accept what waits at a listener, or was handed over by the supervisor. False: there is no memory
 * for it now. */
bool mishap_http_connection_accept(mishap_http_loop *loop, uv_stream_t *from);

/* Answer what was read so far in this turn of the loop; and, at its end, go on with what was left
 * over in turns before. */
void mishap_http_connection_answer(mishap_http_loop *loop);
void mishap_http_connection_end_turn(mishap_http_loop *loop);

/* Close those whose time is over. */
void mishap_http_connection_sweep(mishap_http_loop *loop);

/* server->push, server->lags, server->go_on, server->revoke and server->wake. */
bool mishap_http_connection_push(mishap_http_server *server, mishap_http_exchange *exchange,
                                 mishap_text bytes);
bool mishap_http_connection_lags(const mishap_http_exchange *exchange);
void mishap_http_connection_go_on(mishap_http_server *server, mishap_http_exchange *exchange);
void mishap_http_connection_revoke(mishap_http_server *server, uint64_t key);
void mishap_http_connection_wake(mishap_http_server *server);

/* Close every connection without a request. */
void mishap_http_connection_close_idle(mishap_http_loop *loop);

#endif
