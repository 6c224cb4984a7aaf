/*
 * Timeouts of connections. Connections with the same kind of timeout are in one list, in the order
 * of their start, so a sweep checks only the first ones and no connection needs its own timer.
 */
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "server/connection.h"

typedef mishap_http_connection connection;

/* -- lists ------------------------------------------------------------------------------------- */

/* This and start_waiting() are parts of mishap_http_wait_for(), which runs for every request: they
 * are small enough to be inlined. */
static void stop_waiting(connection *c)
{
    mishap_http_loop *w = c->loop;
    *(c->previous ? &c->previous->next : &w->first[c->wait]) = c->next;
    *(c->next ? &c->next->previous : &w->last[c->wait]) = c->previous;
    c->next = c->previous = NULL;
}

/* Bytes in the buffers of the system: those that the peer has not read (SIOCOUTQ), or that this
 * process has not read (FIONREAD). */
static size_t in_system(const connection *c, unsigned long which)
{
    uv_os_fd_t file;
    int count = 0;
    if (uv_fileno((const uv_handle_t *)&c->socket, &file) != 0 || ioctl(file, which, &count) != 0)
        count = 0;
    return (size_t)count;
}

/* Unsent bytes: those of this process, and those in the buffers of the system. The latter can be
 * many, and for a slow reader only they may change for a long time. */
static size_t unsent(const connection *c)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&c->socket) + in_system(c, SIOCOUTQ);
}

static void start_waiting(connection *c, mishap_http_wait wait)
{
    mishap_http_loop *w = c->loop;
    c->wait = wait;
    c->since_ms = uv_now(&w->uv);
    c->began_ns = c->exchange.began_ns;
    if (wait == MISHAP_HTTP_WAIT_WRITE)
        c->unsent = unsent(c);
    c->passed_then = c->exchange.reader.passed;
    c->previous = w->last[wait];
    *(c->previous ? &c->previous->next : &w->first[wait]) = c;
    w->last[wait] = c;
}

void mishap_http_wait_begin(connection *c, mishap_http_wait wait)
{
    start_waiting(c, wait);
}

void mishap_http_wait_end(connection *c)
{
    stop_waiting(c);
}

void mishap_http_wait_for(connection *c, mishap_http_wait wait)
{
    bool next = wait == MISHAP_HTTP_WAIT_IDLE ||
                ((wait == MISHAP_HTTP_WAIT_HEAD || wait == MISHAP_HTTP_WAIT_BODY) &&
                 c->began_ns != c->exchange.began_ns);
    if (c->wait == wait && !next)
        return;
    if (c->wait == wait && c->loop->last[wait] == c) {
        c->since_ms = uv_now(&c->loop->uv);
        c->began_ns = c->exchange.began_ns;
        return;
    }
    stop_waiting(c);
    start_waiting(c, wait);
}

void mishap_http_wait_anew(connection *c)
{
    stop_waiting(c);
    start_waiting(c, c->wait);
}

/* -- timeouts ---------------------------------------------------------------------------------- */

/* True if there was progress after all: a slow reader may go on as long as it reads, and a
 * connection that was idle may have sent a request just now. */
static bool has_moved(const connection *c)
{
    return c->wait == MISHAP_HTTP_WAIT_WRITE  ? unsent(c) < c->unsent
           : c->wait == MISHAP_HTTP_WAIT_IDLE ? in_system(c, FIONREAD) > 0
                                              : false;
}

static void too_slow(connection *c)
{
    mishap *m;
    switch (c->wait) {
    case MISHAP_HTTP_WAIT_HEAD:
    case MISHAP_HTTP_WAIT_BODY:
        m = mishap_raise(REQUEST_TIMEOUT, "The request took too long to arrive.");
        mishap_http_connection_proceed(c,
                                       mishap_http_exchange_end(&c->loop->server, &c->exchange, m));
        break;
    case MISHAP_HTTP_WAIT_UPLOAD:
        m = mishap_raise(REQUEST_TIMEOUT, "The request took too long to arrive.");
        mishap_http_connection_proceed(
            c, mishap_http_exchange_break(&c->loop->server, &c->exchange, m));
        break;
    default:
        if (has_moved(c))
            mishap_http_wait_anew(c);
        else
            mishap_http_connection_close(c);
    }
}

/* Time in which the loop itself was held up, on a machine that slept or is very busy, does not
 * count against its peers: the loop has not read yet what they sent meanwhile. */
static void forgive(mishap_http_loop *loop, uint64_t now)
{
    uint64_t tick = uv_timer_get_repeat(&loop->timer);
    uint64_t since = loop->swept_ms ? now - loop->swept_ms : 0;
    loop->swept_ms = now;
    if (since <= 2 * tick)
        return;
    for (int wait = 0; wait < MISHAP_HTTP_WAITS; wait++)
        for (connection *c = loop->first[wait]; c; c = c->next) {
            uint64_t waited = now - c->since_ms, forgiven = since - tick;
            c->since_ms += forgiven < waited ? forgiven : waited;
        }
}

void mishap_http_connection_sweep(mishap_http_loop *loop)
{
    uint64_t now = uv_now(&loop->uv);
    forgive(loop, now);
    for (int wait = 0; wait < MISHAP_HTTP_WAITS; wait++) {
        connection *c;
        while (loop->patience_ms[wait] && (c = loop->first[wait]) &&
               now - c->since_ms >= loop->patience_ms[wait])
            too_slow(c); /* this ends the wait, or starts it anew */
    }
}

void mishap_http_connection_close_idle(mishap_http_loop *loop)
{
    connection *c, *next;
    for (c = loop->first[MISHAP_HTTP_WAIT_IDLE]; c; c = next) {
        next = c->next;
        if (!has_moved(c))
            mishap_http_connection_close(c);
    }
}

/* -- keys and callers that are revoked --------------------------------------------------------- */

static bool is_of(const mishap_http_request *request, uint64_t key, const char *caller,
                  int64_t now_s)
{
    if (caller)
        return request->caller && strcmp(request->caller, caller) == 0;
    return key ? request->caller_key == key : request->ends_s && request->ends_s < now_s;
}

/* Keys are removed rarely, so there is no list of the connections of a key. */
void mishap_http_connection_revoke(mishap_http_server *server, uint64_t key, const char *caller,
                                   int64_t now_s)
{
    /* The server is the first member of the loop. */
    mishap_http_loop *loop = (mishap_http_loop *)(void *)server;
    for (int wait = 0; wait < MISHAP_HTTP_WAITS; wait++)
        for (connection *c = loop->first[wait], *next; c; c = next) {
            mishap_http_later *later = c->exchange.later;
            next = c->next;
            if (later && is_of(&later->request, key, caller, now_s))
                mishap_http_later_revoke(later, caller != NULL);
        }
}
