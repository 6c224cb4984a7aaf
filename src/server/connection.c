/*
 * Sockets: accepting, reading, writing, closing.
 *
 * A loop iteration has three parts, each for all connections that have sent data: reading,
 * answering, writing. The code of each part therefore stays in the caches of the processor.
 *
 * Bytes are read into memory of the loop and answered into other memory of the loop. An idle
 * connection therefore has no buffers, only its struct. A buffer is kept only for output that the
 * peer does not read at once, and for an incomplete request.
 */
#include "server/connection.h"

#include <stddef.h>

#include "base/memory.h"

typedef mishap_http_connection connection;

enum {
    MOST_AHEAD = 65536,                /* bytes to read in advance while an answer comes later */
    MOST_LINGERING = 16 * 1024 * 1024, /* bytes to read from a peer after its last reply: it may
                                          send a whole body before it reads. None of them is kept */
    MOST_QUEUED = 1024 * 1024 /* bytes of a stream that may wait when another piece comes */
};

/* -- closing ----------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    connection *c = handle->data;
    mishap_http_loop *loop = c->loop;
    mishap_http_exchange_release(&loop->server, &c->exchange);
    mishap_buffer_release(&c->pending);
    mishap_buffer_release(&c->queued);
    loop->turned_away -= c->turned_away;
    mishap_release(c);
    loop->connections--;
    mishap_http_metrics_add(loop->server.metrics, MISHAP_HTTP_CONNECTIONS, -1);
}

/* In HTTP/1.0 a stream ends with the connection. So an incomplete one ends with a reset: a reader
 * could not notice in any other way. */
static bool is_cut_unseen(const connection *c)
{
    const mishap_http_later *later = c->exchange.later;
    return later && later->streaming && !later->request.persists_by_default;
}

/* An answer that was to come later is left to on_closed(), which notifies its endpoint. So an
 * endpoint is never called back in the middle of its own call, even if the connection breaks
 * then. */
void mishap_http_connection_close(connection *c)
{
    if (uv_is_closing((uv_handle_t *)&c->socket))
        return;
    mishap_http_wait_end(c);
    if (c->turn)
        c->turn->connection = NULL;
    if (!is_cut_unseen(c) || uv_tcp_close_reset(&c->socket, on_closed) != 0)
        uv_close((uv_handle_t *)&c->socket, on_closed);
}

/* -- reading ----------------------------------------------------------------------------------- */

enum { LEAST_ROOM = 16 * 1024, MOST_ROOM = 64 * 1024 }; /* for one read */

static size_t room_left(const mishap_http_loop *loop)
{
    return sizeof loop->input - loop->input_used;
}

/* libuv is in the middle of a read here and must not be told to stop it: see take_bytes(). */
static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *room)
{
    connection *c = handle->data;
    mishap_http_loop *loop = c->loop;
    size_t left = room_left(loop), size = left < MOST_ROOM ? left : MOST_ROOM;
    char *lent = c->turn || c->ending ? NULL : mishap_http_exchange_lend(&c->exchange, &size);
    (void)suggested;
    *room = uv_buf_init(lent ? lent : loop->input + loop->input_used, (unsigned)size);
}

static mishap *closed_early(void)
{
    return mishap_raise(BAD_REQUEST, "The connection was closed in the middle of the request.");
}

/* The peer will send no more. A reply that it waits for still reaches it. A deferred reply does, if
 * its endpoint has asked for that. Requests that it has sent in advance are answered, too, if they
 * wait for their turn. */
static void peer_ended(connection *c)
{
    mishap_http_exchange *exchange = &c->exchange;
    c->peer_ended = exchange->peer_ended = true;
    if (c->reading)
        uv_read_stop((uv_stream_t *)&c->socket);
    c->reading = false;
    if (mishap_http_exchange_passes(exchange))
        mishap_http_connection_proceed(
            c, mishap_http_exchange_break(&c->loop->server, exchange, closed_early()));
    else if (c->wait == MISHAP_HTTP_WAIT_HEAD || c->wait == MISHAP_HTTP_WAIT_BODY)
        mishap_http_connection_proceed(
            c, mishap_http_exchange_end(&c->loop->server, exchange, closed_early()));
    else if (exchange->later ? !exchange->later->half_close
                             : !c->writing && c->wait != MISHAP_HTTP_WAIT_TURN)
        mishap_http_connection_close(c);
    else if (exchange->later && exchange->later->left)
        exchange->later->left(exchange->later);
}

/* True if the bytes lie directly behind those that it has sent before in this iteration. */
static bool goes_on(const connection *c, const uv_buf_t *data)
{
    return c->turn->data + c->turn->length == data->base;
}

static bool is_lent(const mishap_http_loop *loop, const char *data)
{
    return data < loop->input || data >= loop->input + sizeof loop->input;
}

/* Keep bytes for this iteration. Afterwards there is room for the next read of any connection.
 * Memory of an endpoint is given back at once. */
static void take_bytes(connection *c, char *data, size_t length)
{
    mishap_http_loop *loop = c->loop;
    bool lent = is_lent(loop, data);
    if (!c->turn) {
        c->turn = &loop->turns[loop->turn_count++];
        *c->turn = (struct mishap_http_turn){ .connection = c, .data = data };
    }
    c->turn->length += length;
    if (lent)
        mishap_http_metrics_add(loop->server.metrics, MISHAP_HTTP_BYTES_RECEIVED, (int64_t)length);
    else
        loop->input_used = (size_t)(data - loop->input) + length;
    if (lent || room_left(loop) < LEAST_ROOM || loop->turn_count == MISHAP_HTTP_TURNS)
        mishap_http_connection_answer(loop);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *data)
{
    connection *c = stream->data;
    if (count == 0)
        return;
    if (c->turn && (count < 0 || !goes_on(c, data)))
        mishap_http_connection_answer(c->loop); /* first answer what it has sent before */
    if (uv_is_closing((uv_handle_t *)stream))
        return;
    if (count == UV_EOF) {
        peer_ended(c);
    } else if (count < 0) {
        mishap_http_connection_close(c);
    } else if (c->ending) {
        c->lingered += (size_t)count;
        if (c->lingered > MOST_LINGERING)
            mishap_http_connection_close(c);
    } else {
        take_bytes(c, data->base, (size_t)count);
    }
}

static void read_or_not(connection *c, bool wanted)
{
    if (wanted == c->reading || c->peer_ended)
        return;
    c->reading = wanted;
    if (!wanted)
        uv_read_stop((uv_stream_t *)&c->socket);
    else if (uv_read_start((uv_stream_t *)&c->socket, on_room, on_read) != 0)
        mishap_http_connection_close(c);
}

/* -- writing ----------------------------------------------------------------------------------- */

static void on_written(uv_write_t *write, int status);

static bool write_pending(connection *c)
{
    uv_buf_t bytes = uv_buf_init(c->pending.data, (unsigned)c->pending.length);
    uv_write_t *write = c->pending.failed ? NULL : mishap_allocate(sizeof *write);
    if (write)
        write->data = c;
    c->writing = write && uv_write(write, (uv_stream_t *)&c->socket, &bytes, 1, on_written) == 0;
    if (!c->writing) {
        mishap_release(write);
        mishap_http_connection_close(c);
    }
    return c->writing;
}

/* The peer has taken all that was pending, so the timeout for what came meanwhile starts anew. */
static void write_queued(connection *c)
{
    c->pending = c->queued;
    c->queued = (mishap_buffer){ 0 };
    if (write_pending(c))
        mishap_http_wait_anew(c);
}

/* Everything is written: a stream goes on, or the next request is answered. */
static void all_written(connection *c)
{
    mishap_http_later *later = c->exchange.later;
    mishap_http_connection_proceed(
        c, mishap_http_exchange_feed(&c->loop->server, &c->exchange, NULL, 0));
    if (later && later == c->exchange.later && later->streaming && later->written)
        later->written(later);
}

static void on_written(uv_write_t *write, int status)
{
    connection *c = write->data;
    mishap_release(write);
    c->writing = false;
    mishap_buffer_release(&c->pending);
    if (uv_is_closing((uv_handle_t *)&c->socket))
        return;
    if (status < 0)
        mishap_http_connection_close(c);
    else if (c->queued.length)
        write_queued(c);
    else
        all_written(c);
}

/* Write bytes. What the socket does not take at once is kept and written later. False: it was
 * closed. */
static bool write_text(connection *c, const char *data, size_t length)
{
    union {
        const char *given;
        char *base; /* libuv only reads it */
    } start = { data };
    uv_buf_t bytes = uv_buf_init(start.base, (unsigned)length);
    int count = uv_try_write((uv_stream_t *)&c->socket, &bytes, 1);
    if (count == UV_EAGAIN)
        count = 0;
    if (count < 0) {
        mishap_http_connection_close(c);
        return false;
    }
    mishap_http_metrics_add(c->loop->server.metrics, MISHAP_HTTP_BYTES_SENT, (int64_t)length);
    if ((size_t)count == length)
        return true;
    mishap_buffer *rest = c->writing ? &c->queued : &c->pending;
    mishap_buffer_put(rest, data + count, length - (size_t)count);
    if (!c->writing)
        return write_pending(c);
    if (rest->failed)
        mishap_http_connection_close(c);
    return !rest->failed;
}

/* Write a part of server.out. */
static bool write_out(connection *c, size_t from, size_t to)
{
    const mishap_buffer *out = &c->loop->server.out;
    if (out->failed) {
        mishap_http_connection_close(c);
        return false;
    }
    return from == to || write_text(c, out->data + from, to - from);
}

static void forget_out(mishap_buffer *out, size_t from)
{
    if (from == 0)
        mishap_buffer_reset_within(out, MISHAP_HTTP_OUT_KEPT);
    else
        out->length = from;
}

/* -- state changes ----------------------------------------------------------------------------- */

static void on_shut(uv_shutdown_t *shutdown, int status)
{
    connection *c = shutdown->data;
    mishap_release(shutdown);
    if (!uv_is_closing((uv_handle_t *)&c->socket) && (status < 0 || c->peer_ended))
        mishap_http_connection_close(c);
}

/* RFC 9112, 9.6: if the server closed the socket while the peer still sends, the peer's system
 * would drop the reply. So only the sending side is closed, and input is read until the peer closes
 * its own side. */
static void end_after_reply(connection *c)
{
    c->ending = true;
    if (c->wait == MISHAP_HTTP_WAIT_LINGER)
        return;
    mishap_http_wait_for(c, MISHAP_HTTP_WAIT_LINGER);
    read_or_not(c, true);
    if (uv_is_closing((uv_handle_t *)&c->socket))
        return;
    uv_shutdown_t *shutdown = mishap_allocate(sizeof *shutdown);
    if (shutdown)
        shutdown->data = c;
    if (!shutdown || uv_shutdown(shutdown, (uv_stream_t *)&c->socket, on_shut) != 0) {
        mishap_release(shutdown);
        mishap_http_connection_close(c);
    }
}

/* The peer has sent more requests. They are answered after those of other connections: it goes to
 * the end of the queue, and is not read until then. */
static void wait_for_turn(connection *c)
{
    if (c->wait == MISHAP_HTTP_WAIT_TURN)
        mishap_http_wait_anew(c);
    else
        mishap_http_wait_for(c, MISHAP_HTTP_WAIT_TURN);
    c->since_turn = c->loop->server.turn;
    read_or_not(c, false);
    uv_async_send(&c->loop->wake);
}

/* Its replies are written, or being written: decide what the connection waits for now. */
static void settle_connection(connection *c, mishap_http_state state)
{
    static const mishap_http_wait waits[] = {
        [MISHAP_HTTP_IDLE] = MISHAP_HTTP_WAIT_IDLE,
        [MISHAP_HTTP_IN_HEAD] = MISHAP_HTTP_WAIT_HEAD,
        [MISHAP_HTTP_IN_BODY] = MISHAP_HTTP_WAIT_BODY,
        [MISHAP_HTTP_PASSING] = MISHAP_HTTP_WAIT_UPLOAD,
        [MISHAP_HTTP_RUNNING] = MISHAP_HTTP_WAIT_ANSWER,
    };
    mishap_http_server *server = &c->loop->server;
    /* Replies that pile up are written before more requests are read. */
    while (!c->writing && state != MISHAP_HTTP_ENDED && state != MISHAP_HTTP_RUNNING &&
           mishap_http_reader_has_more(&c->exchange.reader)) {
        if (mishap_http_turn_is_over(server)) {
            wait_for_turn(c);
            return;
        }
        size_t from = server->out.length;
        state = mishap_http_exchange_feed(server, &c->exchange, NULL, 0);
        bool open = write_out(c, from, server->out.length);
        forget_out(&server->out, from);
        if (!open)
            return;
    }
    if (c->writing) {
        mishap_http_wait_for(c, MISHAP_HTTP_WAIT_WRITE);
        read_or_not(c, false);
    } else if (state == MISHAP_HTTP_ENDED) {
        end_after_reply(c);
    } else if (c->peer_ended && state != MISHAP_HTTP_RUNNING) {
        mishap_http_connection_close(c);
    } else {
        mishap_http_wait_for(c, waits[state]);
        if (state == MISHAP_HTTP_PASSING &&
            c->exchange.reader.passed - c->passed_then >= MISHAP_HTTP_UPLOAD_LEAST)
            mishap_http_wait_anew(c);
        read_or_not(c, state != MISHAP_HTTP_RUNNING ||
                           (c->exchange.reader.window_length < MOST_AHEAD &&
                            !mishap_http_exchange_passes(&c->exchange)));
    }
}

void mishap_http_connection_proceed(connection *c, mishap_http_state state)
{
    mishap_buffer *out = &c->loop->server.out;
    bool open = write_out(c, 0, out->length);
    forget_out(out, 0);
    if (open)
        settle_connection(c, state);
}

/* -- loop iterations --------------------------------------------------------------------------- */

/* Write the replies to some of the connections that were answered. If memory ran out, the last of
 * them has an incomplete reply, and those before have complete ones. */
static void write_turns(mishap_http_loop *loop, size_t first, size_t end)
{
    mishap_buffer *out = &loop->server.out;
    bool failed = out->failed;
    for (size_t i = first; i < end; i++) {
        struct mishap_http_turn *turn = &loop->turns[i];
        connection *c = turn->connection;
        if (!c)
            continue;
        c->turn = NULL;
        out->failed = failed && i + 1 == end;
        if (write_out(c, turn->from, turn->to))
            settle_connection(c, turn->state);
    }
    forget_out(out, 0);
}

void mishap_http_connection_answer(mishap_http_loop *loop)
{
    mishap_http_server *server = &loop->server;
    size_t written = 0, i = 0;
    mishap_http_server_look_at_clock(server);
    if (!loop->turning)
        mishap_http_turn_begin(server);
    loop->turning = true;
    for (; i < loop->turn_count; i++) {
        struct mishap_http_turn *turn = &loop->turns[i];
        if (!turn->connection)
            continue;
        turn->from = server->out.length;
        turn->state = mishap_http_exchange_feed(server, &turn->connection->exchange, turn->data,
                                                turn->length);
        turn->to = server->out.length;
        turn->fed = true;
        if (server->out.failed || server->out.length > MISHAP_HTTP_OUT_MUCH) {
            write_turns(loop, written, i + 1);
            written = i + 1;
        }
    }
    write_turns(loop, written, i);
    if (loop->input_used)
        mishap_http_metrics_add(server->metrics, MISHAP_HTTP_BYTES_RECEIVED,
                                (int64_t)loop->input_used);
    loop->turn_count = loop->input_used = 0;
}

/* Go on with the connection that waits longest. False: none has waited since an earlier
 * iteration. */
static bool answer_ahead(mishap_http_loop *loop)
{
    connection *c = loop->first[MISHAP_HTTP_WAIT_TURN];
    if (!c || c->since_turn == loop->server.turn)
        return false;
    mishap_http_connection_proceed(
        /* The wait ends here. */
        c, mishap_http_exchange_feed(&loop->server, &c->exchange, NULL, 0));
    return true;
}

/* Connections and tasks in turn. Those that are not reached come first in the next iteration. */
static void go_on_ahead(mishap_http_loop *loop)
{
    mishap_http_server *server = &loop->server;
    bool any;
    mishap_http_turn_extend(server);
    do {
        any = answer_ahead(loop);
        any = mishap_http_task_next(server) || any;
    } while (any && !mishap_http_turn_is_over(server));
    if (loop->first[MISHAP_HTTP_WAIT_TURN] || server->first_task)
        uv_async_send(&loop->wake);
}

void mishap_http_connection_end_turn(mishap_http_loop *loop)
{
    mishap_http_connection_answer(loop);
    if (loop->first[MISHAP_HTTP_WAIT_TURN] || loop->server.first_task)
        go_on_ahead(loop);
    loop->turning = false;
}

void mishap_http_connection_wake(mishap_http_server *server)
{
    /* The server is the first member of the loop. */
    mishap_http_loop *loop = (mishap_http_loop *)(void *)server;
    uv_async_send(&loop->wake);
}

/* -- answers that come later ------------------------------------------------------------------- */

static connection *connection_of(mishap_http_exchange *exchange)
{
    return (connection *)(void *)((char *)exchange - offsetof(connection, exchange));
}

/* May be called at any time: while another connection is answered, or when this one has sent
 * something in the same iteration that was answered already but not written. */
bool mishap_http_connection_push(mishap_http_server *server, mishap_http_exchange *exchange,
                                 mishap_text bytes)
{
    connection *c = connection_of(exchange);
    struct mishap_http_turn *turn = c->turn;
    if (uv_is_closing((uv_handle_t *)&c->socket))
        return false;
    bool streaming = exchange->later && exchange->later->streaming;
    if (!bytes.data || (streaming && c->queued.length > MOST_QUEUED)) {
        mishap_http_connection_close(c);
        return false;
    }
    if (turn && turn->fed && turn->from < turn->to) { /* earlier replies are written first */
        size_t from = turn->from;
        turn->from = turn->to;
        if (!write_text(c, server->out.data + from, turn->to - from))
            return false;
    }
    if (!write_text(c, bytes.data, bytes.length))
        return false;
    if (c->writing) {
        mishap_http_wait_for(c, MISHAP_HTTP_WAIT_WRITE);
        read_or_not(c, false);
    }
    return true;
}

bool mishap_http_connection_lags(const mishap_http_exchange *exchange)
{
    const connection *c = (const void *)((const char *)exchange - offsetof(connection, exchange));
    return c->writing;
}

/* Requests that were kept are answered in the next iteration, since the caller may be in the middle
 * of answering another one. The same holds for the body of a request that is still deferred: it is
 * passed on again. */
void mishap_http_connection_go_on(mishap_http_server *server, mishap_http_exchange *exchange)
{
    connection *c = connection_of(exchange);
    mishap_http_state state = exchange->ended ? MISHAP_HTTP_ENDED : MISHAP_HTTP_IDLE;
    if (uv_is_closing((uv_handle_t *)&c->socket))
        return;
    if (exchange->later && (c->turn || c->writing))
        return; /* its body is passed on then */
    if (c->turn) {
        c->turn->state = state; /* if it was not processed yet, that decides the state */
    } else if (state == MISHAP_HTTP_ENDED || c->writing ||
               (!exchange->later && !mishap_http_reader_has_more(&exchange->reader))) {
        settle_connection(c, state);
    } else {
        mishap_http_wait_for(c, MISHAP_HTTP_WAIT_TURN);
        c->since_turn = server->turn;
        uv_async_send(&c->loop->wake);
    }
}

/* -- accepting --------------------------------------------------------------------------------- */

static void name_peer(connection *c)
{
    struct sockaddr_storage address;
    int size = sizeof address;
    c->remote[0] = '\0';
    if (uv_tcp_getpeername(&c->socket, (struct sockaddr *)&address, &size) != 0)
        return;
    if (address.ss_family == AF_INET6)
        uv_ip6_name((struct sockaddr_in6 *)&address, c->remote, sizeof c->remote);
    else
        uv_ip4_name((struct sockaddr_in *)&address, c->remote, sizeof c->remote);
}

/* Over the limit: send the refusal at once. Some of these connections may linger, so that the peer
 * reads it even if it sends a request first. Further ones are closed at once, since they use files
 * that others need. */
static void turn_away(connection *c)
{
    mishap_http_loop *loop = c->loop;
    mishap *m = mishap_raise(UNAVAILABLE, "The server has reached its limit of connections.");
    bool lingers = loop->turned_away < (size_t)loop->server.settings->most_lingering;
    c->turned_away = true;
    loop->turned_away++;
    c->exchange.began_ns = loop->server.now_ns;
    mishap_http_connection_proceed(
        c, mishap_http_exchange_end(&loop->server, &c->exchange, mishap_retry_after(m, 1000)));
    if (!lingers)
        mishap_http_connection_close(c);
}

/* libuv keeps a connection that was not accepted, and reports no other one until it is. */
bool mishap_http_connection_accept(mishap_http_loop *loop, uv_stream_t *from)
{
    connection *c = mishap_allocate(sizeof *c);
    if (!c)
        return false;
    memset(c, 0, sizeof *c);
    c->loop = loop;
    uv_tcp_init(&loop->uv, &c->socket);
    c->socket.data = c;
    loop->connections++;
    mishap_http_metrics_add(loop->server.metrics, MISHAP_HTTP_CONNECTIONS, 1);
    mishap_http_wait_begin(c, MISHAP_HTTP_WAIT_IDLE);
    if (uv_accept(from, (uv_stream_t *)&c->socket) != 0) {
        mishap_http_connection_close(c);
        return true;
    }
    mishap_http_metrics_add(loop->server.metrics, MISHAP_HTTP_ACCEPTED, 1);
    uv_tcp_nodelay(&c->socket, 1);
    name_peer(c);
    mishap_http_exchange_init(&c->exchange, &loop->server, mishap_text_of(c->remote));
    if (loop->connections - loop->turned_away > (size_t)loop->server.settings->max_connections)
        turn_away(c);
    else
        read_or_not(c, true);
    return true;
}
