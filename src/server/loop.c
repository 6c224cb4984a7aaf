/*
 * One server process, with one thread. A loop that must exit, because it was stopped or is being
 * replaced, drains: it accepts no more connections, closes each connection after its next response,
 * and exits when no connection is left.
 */
#include "server/loop.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "incident/logs.h"
#include "mishap/trace.h"
#include "server/ending.h"

enum {
    LINGER_MS = 2000,
    STOP_IDLE_MS = 250, /* … when the whole server stops */
    DRAIN_LINGER_MS = 300,
    DRAIN_IDLE_MS = 5000, /* how long a client may take for its last request on a connection */
    TICK_MS = 200,
    BEAT_MS = 500,
    LAST_MS = 500,    /* additional time for answers of handlers whose time ends just then */
    ORPHAN_MS = 2000, /* to finish requests in flight when the supervisor is gone */
};

static void say_to_supervisor(mishap_http_loop *loop, char word)
{
    uv_buf_t byte = uv_buf_init(&word, 1);
    uv_try_write((uv_stream_t *)&loop->control, &byte, 1);
}

/* -- the end ----------------------------------------------------------------------------------- */

static _Noreturn void leave_loop(mishap_http_loop *loop)
{
    mishap_http_access_flush(loop->server.access);
    mishap_http_extensions_close(&loop->server);
    mishap_http_server_close(&loop->server);
    exit(0);
}

static void leave_if_done(mishap_http_loop *loop)
{
    if (!loop->server.draining || loop->turn_count)
        return; /* the loop stays, or is in the middle of answering */
    bool busy = loop->connections || !loop->released || mishap_http_extensions_busy(&loop->server);
    if (!busy || uv_now(&loop->uv) >= loop->end_by_ms)
        leave_loop(loop);
}

static void close_listener(struct mishap_http_listener *listener)
{
    if (!uv_is_closing((uv_handle_t *)&listener->socket))
        uv_close((uv_handle_t *)&listener->socket, NULL);
}

/* A socket that the supervisor has shut down accepts no connections any more (EINVAL), and libuv
 * would try again and again. If there is no file descriptor left for a connection, libuv uses a
 * spare one to accept and close it: so the client does not wait, and the loop does not spin. */
static void on_connection(uv_stream_t *stream, int status)
{
    struct mishap_http_listener *listener = (struct mishap_http_listener *)(void *)stream;
    if (status == UV_EINVAL)
        close_listener(listener);
    else if (status == 0)
        listener->waits = !mishap_http_connection_accept(stream->data, stream);
}

/* Accept the connections for which there was no memory before. */
static void accept_again(mishap_http_loop *loop)
{
    for (int i = 0; i < loop->listener_count; i++)
        if (loop->listeners[i].waits)
            on_connection((uv_stream_t *)&loop->listeners[i].socket, 0);
}

static void drain(mishap_http_loop *loop, uint64_t idle_ms, uint64_t end_ms)
{
    uint64_t now = uv_now(&loop->uv);
    if (!loop->server.draining) {
        loop->server.draining = true;
        loop->patience_ms[MISHAP_HTTP_WAIT_LINGER] = DRAIN_LINGER_MS;
        accept_again(loop);
        for (int i = 0; i < loop->listener_count; i++)
            close_listener(&loop->listeners[i]);
        loop->idle_until_ms = now + idle_ms;
        loop->end_by_ms = now + end_ms + LAST_MS;
        mishap_http_extensions_drain(&loop->server);
    }
    if (now + idle_ms < loop->idle_until_ms)
        loop->idle_until_ms = now + idle_ms;
    if (now + end_ms + LAST_MS < loop->end_by_ms)
        loop->end_by_ms = now + end_ms + LAST_MS;
}

/* A loop that drains by its own decision tells the supervisor, which starts another loop in its
 * place. It does not exit before the supervisor knows, since connections may be on their way to
 * it. */
static void drain_of_itself(mishap_http_loop *loop, uint64_t idle_ms, uint64_t end_ms)
{
    drain(loop, idle_ms, end_ms);
    say_to_supervisor(loop, MISHAP_HTTP_LEAVING);
}

/* -- events ------------------------------------------------------------------------------------ */

/* Accept the connections that the supervisor has handed over. */
static void take_over(mishap_http_loop *loop)
{
    while (uv_pipe_pending_count(&loop->control) > 0 &&
           uv_pipe_pending_type(&loop->control) == UV_TCP &&
           mishap_http_connection_accept(loop, (uv_stream_t *)&loop->control))
        continue;
}

/* If the supervisor does not receive this for some seconds, it assumes that the loop hangs. */
static void beat(mishap_http_loop *loop)
{
    uint64_t now = uv_now(&loop->uv);
    if (now - loop->alive_ms < BEAT_MS)
        return;
    loop->alive_ms = now;
    say_to_supervisor(loop, MISHAP_HTTP_ALIVE);
}

/* The supervisor waits for the last session. */
static void tell_of_sessions(mishap_http_loop *loop)
{
    mishap_http_server *server = &loop->server;
    if (mishap_http_sessions_end_in(server) >= 0 && !server->draining)
        say_to_supervisor(loop, mishap_http_extensions_sessions(server) ? MISHAP_HTTP_HAS
                                                                        : MISHAP_HTTP_EMPTY);
}

static void on_tick(uv_timer_t *timer)
{
    mishap_http_loop *loop = timer->data;
    beat(loop);
    mishap_http_server_tick(&loop->server);
    mishap_http_connection_sweep(loop);
    if (!loop->server.draining)
        accept_again(loop);
    take_over(loop);
    mishap_http_extensions_tick(&loop->server);
    tell_of_sessions(loop);
    if (loop->server.draining && uv_now(&loop->uv) >= loop->idle_until_ms)
        mishap_http_connection_close_idle(loop);
    leave_if_done(loop);
}

static void on_check(uv_check_t *check)
{
    mishap_http_loop *loop = check->data;
    mishap_http_connection_end_turn(loop);
}

/* Requests wait for the next iteration. Waking up the loop begins it. */
static void on_wake(uv_async_t *wake)
{
    leave_if_done(wake->data);
}

static void on_hangup(uv_signal_t *handle, int number)
{
    mishap_http_loop *loop = handle->data;
    (void)number;
    mishap_http_access_reopen(loop->server.access);
}

static void on_terminate(uv_signal_t *handle, int number)
{
    mishap_http_loop *loop = handle->data;
    (void)number;
    drain_of_itself(loop, STOP_IDLE_MS, (uint64_t)loop->server.settings->stop_ms);
}

/* Read one byte at a time, which is one order: libuv reads again at once only if a read has filled
 * the buffer. So a connection that comes just before the order to end is answered by a loop that
 * has read that order. */
static void on_control_room(uv_handle_t *handle, size_t suggested, uv_buf_t *room)
{
    static char word;
    (void)handle, (void)suggested;
    *room = uv_buf_init(&word, 1);
}

/* Extensions are told at once, so that no session begins from now on. */
static void warn(mishap_http_server *server)
{
    int64_t delay_ms = mishap_http_drains_for(server->settings);
    if (server->stopping)
        return;
    server->stopping = true;
    server->stops_ns = mishap_clock_monotonic_ns() + delay_ms * 1000000;
    mishap_http_extensions_tick(server);
}

/* If the supervisor is gone, the loop stops as if it had been told to. */
static void on_control(uv_stream_t *stream, ssize_t count, const uv_buf_t *data)
{
    mishap_http_loop *loop = stream->data;
    uint64_t stop_ms = (uint64_t)loop->server.settings->stop_ms;
    if (count < 0) {
        uv_read_stop(stream);
        loop->released = true;
        drain(loop, STOP_IDLE_MS, stop_ms < ORPHAN_MS ? stop_ms : ORPHAN_MS);
    }
    take_over(loop);
    for (ssize_t i = 0; i < count; i++) {
        char word = data->base[i];
        loop->released = loop->released || word == MISHAP_HTTP_DRAIN || word == MISHAP_HTTP_STOP;
        if (word == MISHAP_HTTP_WARN || word == MISHAP_HTTP_STOP)
            warn(&loop->server);
        if (word == MISHAP_HTTP_DRAIN)
            drain(loop, DRAIN_IDLE_MS, DRAIN_IDLE_MS + stop_ms);
        else if (word == MISHAP_HTTP_STOP)
            drain(loop, STOP_IDLE_MS, stop_ms);
    }
}

/* -- start ------------------------------------------------------------------------------------- */

static void set_patience(mishap_http_loop *loop, const mishap_http_settings *settings)
{
    loop->patience_ms[MISHAP_HTTP_WAIT_IDLE] = (uint64_t)settings->idle_ms;
    loop->patience_ms[MISHAP_HTTP_WAIT_HEAD] = (uint64_t)settings->head_ms;
    loop->patience_ms[MISHAP_HTTP_WAIT_BODY] = (uint64_t)settings->body_ms;
    loop->patience_ms[MISHAP_HTTP_WAIT_UPLOAD] = (uint64_t)settings->body_ms;
    loop->patience_ms[MISHAP_HTTP_WAIT_WRITE] = (uint64_t)settings->write_ms;
    loop->patience_ms[MISHAP_HTTP_WAIT_LINGER] = LINGER_MS;
}

static uint64_t tick_of(const mishap_http_loop *loop)
{
    uint64_t tick = TICK_MS;
    for (int i = 0; i < MISHAP_HTTP_WAITS; i++)
        if (loop->patience_ms[i] && loop->patience_ms[i] / 4 < tick)
            tick = loop->patience_ms[i] / 4;
    return tick < 10 ? 10 : tick;
}

static int open_listeners(mishap_http_loop *loop, const mishap_http_sockets *sockets)
{
    int error = 0;
    for (int i = 0; i < sockets->count && error == 0; i++) {
        uv_tcp_t *socket = &loop->listeners[i].socket;
        error = uv_tcp_init(&loop->uv, socket);
        if (error == 0)
            error = uv_tcp_open(socket, sockets->files[i]);
        socket->data = loop;
    }
    loop->listener_count = sockets->count;
    return error;
}

static void *allocate_cleared(size_t count, size_t size)
{
    void *block = size && count > SIZE_MAX / size ? NULL : mishap_allocate(count * size);
    return block ? memset(block, 0, count * size) : NULL;
}

static int open_handles(mishap_http_loop *loop, const mishap_http_sockets *sockets, int control)
{
    int error = uv_replace_allocator(mishap_allocate, mishap_resize, allocate_cleared,
                                     mishap_release);
    if (error == 0)
        error = uv_loop_init(&loop->uv);
    if (error == 0)
        error = uv_pipe_init(&loop->uv, &loop->control, true);
    if (error == 0)
        error = uv_pipe_open(&loop->control, control);
    if (error == 0)
        error = uv_timer_init(&loop->uv, &loop->timer);
    if (error == 0)
        error = uv_check_init(&loop->uv, &loop->check);
    if (error == 0)
        error = uv_async_init(&loop->uv, &loop->wake, on_wake);
    if (error == 0)
        error = uv_signal_init(&loop->uv, &loop->hangup);
    if (error == 0)
        error = uv_signal_init(&loop->uv, &loop->terminate);
    if (error == 0)
        error = open_listeners(loop, sockets);
    loop->control.data = loop->timer.data = loop;
    loop->check.data = loop->wake.data = loop;
    loop->hangup.data = loop->terminate.data = loop;
    return error;
}

/* Not if the supervisor has shut it down meanwhile: listen() would open it again. */
static int listen_on(struct mishap_http_listener *listener)
{
    int listens = 1;
    socklen_t size = sizeof listens;
    uv_os_fd_t file;
    if (uv_fileno((uv_handle_t *)&listener->socket, &file) == 0)
        getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
    return listens ? uv_listen((uv_stream_t *)&listener->socket, MISHAP_HTTP_BACKLOG, on_connection)
                   : 0;
}

static int begin_loop(mishap_http_loop *loop, const mishap_http_sockets *sockets, int control)
{
    int error = open_handles(loop, sockets, control);
    uint64_t tick = tick_of(loop);
    if (error == 0)
        error = uv_timer_start(&loop->timer, on_tick, tick, tick);
    if (error == 0)
        error = uv_check_start(&loop->check, on_check);
    if (error == 0)
        error = uv_signal_start(&loop->hangup, on_hangup, SIGHUP);
    if (error == 0)
        error = uv_signal_start(&loop->terminate, on_terminate, SIGTERM);
    if (error == 0)
        error = uv_read_start((uv_stream_t *)&loop->control, on_control_room, on_control);
    for (int i = 0; i < loop->listener_count && error == 0; i++)
        error = listen_on(&loop->listeners[i]);
    return error;
}

static _Noreturn void fail(mishap *failure)
{
    mishap_buffer account = { 0 };
    mishap_account(failure, &account);
    mishap_buffer_put_char(&account, '\n');
    mishap_log_error(mishap_buffer_text(&account));
    _exit(1);
}

_Noreturn void mishap_http_loop_run(const mishap_http_settings *settings,
                                    const mishap_http_common *common,
                                    const mishap_http_sockets *sockets, int control)
{
    static mishap_http_loop loop; /* large, and there is one in a process */
    /* A terminal sends it to all processes: the supervisor decides what it means. */
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a log that has grown too large is no reason to exit */
    prctl(PR_SET_NAME, "mishap-loop");
    mishap_trace_prepare();
    loop.server = (mishap_http_server){ .settings = settings,
                                        .routes = common->routes,
                                        .metrics = common->metrics,
                                        .rates = common->rates,
                                        .bodies = common->bodies,
                                        .place = common->place,
                                        .stopping = common->stops_ns != 0,
                                        .stops_ns = common->stops_ns,
                                        .loop = &loop.uv,
                                        .push = mishap_http_connection_push,
                                        .lags = mishap_http_connection_lags,
                                        .go_on = mishap_http_connection_go_on,
                                        .revoke = mishap_http_connection_revoke,
                                        .wake = mishap_http_connection_wake };
    mishap *failure = mishap_http_server_open(&loop.server);
    if (failure)
        fail(failure);
    set_patience(&loop, settings);
    int error = begin_loop(&loop, sockets, control);
    if (error != 0)
        fail(mishap_raise(INTERNAL_ERROR, "The server process could not start: %s.",
                          uv_strerror(error)));
    failure = mishap_http_extensions_open(&loop.server, common->shared);
    if (failure)
        fail(failure);
    mishap_http_metrics_add(common->metrics, MISHAP_HTTP_LOOPS_BEGUN, 1);
    say_to_supervisor(&loop, MISHAP_HTTP_READY);
    uv_run(&loop.uv, UV_RUN_DEFAULT);
    leave_loop(&loop);
}
