/*
 * One process that serves. All of it but the handlers runs on the thread of its loop.
 *
 * When a handler crashes, its call is answered like any other, but the process is not to be trusted
 * any more: it says so to the supervisor, accepts nothing more, ends each connection with its next
 * reply, and ends when none is left.
 */
#include "boundary/http/worker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "mishap/trace.h"

enum {
    LINGER_MS = 2000,
    STOP_IDLE_MS = 250, /* … when all must end */
    DRAIN_LINGER_MS = 300,
    DRAIN_IDLE_MS = 5000, /* how long a caller may take for its last request on a connection */
    WAIT_MS = 10000,      /* how long a call may wait for a thread */
    TICK_MS = 200,
};

static void say(mishap_http_worker *worker, char word)
{
    uv_buf_t byte = uv_buf_init(&word, 1);
    uv_try_write((uv_stream_t *)&worker->control, &byte, 1);
}

/* -- the end ----------------------------------------------------------------------------------- */

static _Noreturn void leave(mishap_http_worker *worker)
{
    const mishap_http_extension *extension = worker->server.settings->extension;
    mishap_http_access_flush(worker->server.access);
    if (worker->tainted || worker->server.crashed || mishap_threads_busy(worker->server.threads))
        _exit(0); /* threads may hang, or the heap be damaged: nothing is tidied up */
    if (extension && extension->close)
        extension->close(worker->server.extension_state);
    mishap_threads_close(worker->server.threads);
    mishap_http_server_close(&worker->server);
    mishap_service_close_all();
    exit(0);
}

static void leave_if_done(mishap_http_worker *worker)
{
    uint64_t now = uv_now(&worker->loop);
    bool busy = worker->connections || worker->server.waiting > worker->lost_jobs;
    if (worker->turn_count)
        return; /* in the middle of answering */
    if (worker->server.draining && (!busy || now >= worker->end_by_ms))
        leave(worker);
}

static void drain(mishap_http_worker *worker, uint64_t idle_ms, uint64_t end_ms)
{
    const mishap_http_extension *extension = worker->server.settings->extension;
    uint64_t now = uv_now(&worker->loop);
    if (!worker->server.draining) {
        worker->server.draining = true;
        worker->patience_ms[MISHAP_HTTP_WAIT_LINGER] = DRAIN_LINGER_MS;
        for (int i = 0; i < worker->listener_count; i++)
            uv_close((uv_handle_t *)&worker->listeners[i].socket, NULL);
        worker->idle_until_ms = now + idle_ms;
        worker->end_by_ms = now + end_ms;
        if (extension && extension->drain)
            extension->drain(worker->server.extension_state);
    }
    if (now + idle_ms < worker->idle_until_ms)
        worker->idle_until_ms = now + idle_ms;
    if (now + end_ms < worker->end_by_ms)
        worker->end_by_ms = now + end_ms;
}

/* Who decides itself to drain says so: others must accept in its place. */
static void drain_of_itself(mishap_http_worker *worker, uint64_t idle_ms, uint64_t end_ms)
{
    drain(worker, idle_ms, end_ms);
    say(worker, MISHAP_HTTP_LEAVING);
}

static void become_tainted(mishap_http_worker *worker)
{
    uint64_t stop_ms = (uint64_t)worker->server.settings->stop_ms;
    if (worker->tainted)
        return;
    worker->tainted = true;
    drain_of_itself(worker, DRAIN_IDLE_MS, DRAIN_IDLE_MS + stop_ms);
}

/* -- jobs -------------------------------------------------------------------------------------- */

static mishap_http_worker *worker_of(mishap_http_server *server)
{
    return (mishap_http_worker *)(void *)server; /* it is the first member */
}

static void forget_job(mishap_http_worker *worker, mishap_http_job *job)
{
    *(job->previous ? &job->previous->next : &worker->jobs) = job->next;
    if (job->next)
        job->next->previous = job->previous;
    worker->server.waiting--;
    mishap_http_metrics_add(worker->server.metrics, MISHAP_HTTP_IN_FLIGHT, -1);
}

static void on_job_done(mishap_job *done)
{
    mishap_http_job *job = (mishap_http_job *)(void *)done; /* it is the first member */
    mishap_http_worker *worker = worker_of(job->server);
    forget_job(worker, job);
    if (job->crashed) {
        mishap_http_metrics_add(worker->server.metrics, MISHAP_HTTP_CRASHES, 1);
        become_tainted(worker);
    }
    mishap_http_connection_finish(worker, job);
}

static void on_wake(uv_async_t *wake)
{
    mishap_http_worker *worker = wake->data;
    for (mishap_job *job = mishap_threads_finished(worker->server.threads), *next; job;
         job = next) {
        next = job->after;
        job->done(job); /* ours, or that of an extension */
    }
    leave_if_done(worker);
}

static void wake_loop(void *state)
{
    mishap_http_worker *worker = state;
    uv_async_send(&worker->wake);
}

static bool start_job(mishap_http_server *server, mishap_http_job *job)
{
    mishap_http_worker *worker = worker_of(server);
    job->job.done = on_job_done;
    job->previous = NULL;
    job->next = worker->jobs;
    if (job->next)
        job->next->previous = job;
    worker->jobs = job;
    server->waiting++;
    mishap_http_metrics_add(worker->server.metrics, MISHAP_HTTP_IN_FLIGHT, 1);
    if (mishap_threads_add(worker->server.threads, &job->job))
        return true;
    forget_job(worker, job);
    return false;
}

/* It has not begun. Whoever waits for it is told that the server is busy. */
static void take_back(mishap_http_worker *worker, mishap_http_job *job)
{
    if (!mishap_threads_take_back(worker->server.threads, &job->job))
        return; /* now it has */
    forget_job(worker, job);
    if (job->exchange) {
        mishap *busy = mishap_http_busy();
        mishap_http_refuse(&job->reply, worker->server.settings, &job->request, busy);
        mishap_free(busy);
    }
    mishap_http_connection_finish(worker, job);
}

/* A handler that outstays its time is answered for. Its thread is gone until it comes back, if it
 * ever does: another takes its place, and the worker is replaced. */
static void sweep_jobs(mishap_http_worker *worker)
{
    int64_t now = mishap_clock_monotonic_ns();
    for (mishap_http_job *job = worker->jobs, *next; job; job = next) {
        int64_t deadline = atomic_load(&job->job.deadline_ns);
        next = job->next;
        if (!deadline) {
            if (!job->exchange || now - job->job.begun_ns > WAIT_MS * INT64_C(1000000))
                take_back(worker, job);
        } else if (job->exchange && now >= deadline) {
            mishap_threads_replace(worker->server.threads, &job->job);
            mishap_http_connection_give_up(worker, job);
            become_tainted(worker);
        }
    }
}

/* -- events ------------------------------------------------------------------------------------ */

static void on_connection(uv_stream_t *stream, int status)
{
    struct mishap_http_listener *listener = (struct mishap_http_listener *)(void *)stream;
    if (status == 0)
        listener->waits = !mishap_http_connection_accept(stream->data, &listener->socket);
}

/* Those for which there was no memory. */
static void accept_again(mishap_http_worker *worker)
{
    for (int i = 0; i < worker->listener_count && !worker->server.draining; i++)
        if (worker->listeners[i].waits)
            on_connection((uv_stream_t *)&worker->listeners[i].socket, 0);
}

static void on_tick(uv_timer_t *timer)
{
    mishap_http_worker *worker = timer->data;
    const mishap_http_extension *extension = worker->server.settings->extension;
    mishap_http_server_tick(&worker->server);
    mishap_http_connection_sweep(worker);
    sweep_jobs(worker);
    accept_again(worker);
    if (extension && extension->tick)
        extension->tick(worker->server.extension_state);
    if (worker->server.draining && uv_now(&worker->loop) >= worker->idle_until_ms)
        mishap_http_connection_close_idle(worker);
    leave_if_done(worker);
}

static void on_check(uv_check_t *check)
{
    mishap_http_worker *worker = check->data;
    mishap_http_connection_answer(worker);
    if (worker->server.crashed) {
        worker->server.crashed = false;
        become_tainted(worker);
    }
}

static void on_hangup(uv_signal_t *handle, int number)
{
    mishap_http_worker *worker = handle->data;
    (void)number;
    mishap_http_access_reopen(worker->server.access);
}

static void on_terminate(uv_signal_t *handle, int number)
{
    mishap_http_worker *worker = handle->data;
    (void)number;
    drain_of_itself(worker, STOP_IDLE_MS, (uint64_t)worker->server.settings->stop_ms);
}

static void on_control_room(uv_handle_t *handle, size_t suggested, uv_buf_t *room)
{
    static char bytes[16];
    (void)handle, (void)suggested;
    *room = uv_buf_init(bytes, sizeof bytes);
}

/* A supervisor that is gone can give no orders any more, and that is one. */
static void on_control(uv_stream_t *stream, ssize_t count, const uv_buf_t *data)
{
    mishap_http_worker *worker = stream->data;
    uint64_t stop_ms = (uint64_t)worker->server.settings->stop_ms;
    if (count < 0) {
        uv_read_stop(stream);
        drain(worker, STOP_IDLE_MS, stop_ms);
    }
    for (ssize_t i = 0; i < count; i++) {
        if (data->base[i] == MISHAP_HTTP_DRAIN)
            drain(worker, DRAIN_IDLE_MS, DRAIN_IDLE_MS + stop_ms);
        else if (data->base[i] == MISHAP_HTTP_STOP)
            drain(worker, STOP_IDLE_MS, stop_ms);
    }
}

/* -- the beginning ----------------------------------------------------------------------------- */

static void set_patience(mishap_http_worker *worker, const mishap_http_settings *settings)
{
    worker->patience_ms[MISHAP_HTTP_WAIT_IDLE] = (uint64_t)settings->idle_ms;
    worker->patience_ms[MISHAP_HTTP_WAIT_HEAD] = (uint64_t)settings->head_ms;
    worker->patience_ms[MISHAP_HTTP_WAIT_BODY] = (uint64_t)settings->body_ms;
    worker->patience_ms[MISHAP_HTTP_WAIT_WRITE] = (uint64_t)settings->write_ms;
    worker->patience_ms[MISHAP_HTTP_WAIT_LINGER] = LINGER_MS;
}

static uint64_t tick_of(const mishap_http_worker *worker)
{
    uint64_t tick = TICK_MS;
    for (int i = 0; i < MISHAP_HTTP_WAITS; i++)
        if (worker->patience_ms[i] && worker->patience_ms[i] / 4 < tick)
            tick = worker->patience_ms[i] / 4;
    return tick < 10 ? 10 : tick;
}

static int open_listeners(mishap_http_worker *worker, const mishap_http_sockets *sockets)
{
    int error = 0;
    for (int i = 0; i < sockets->count && error == 0; i++) {
        uv_tcp_t *socket = &worker->listeners[i].socket;
        error = uv_tcp_init(&worker->loop, socket);
        if (error == 0)
            error = uv_tcp_open(socket, sockets->files[i]);
        socket->data = worker;
    }
    worker->listener_count = sockets->count;
    return error;
}

static int open_handles(mishap_http_worker *worker, const mishap_http_sockets *sockets, int control)
{
    int error = uv_loop_init(&worker->loop);
    if (error == 0)
        error = uv_pipe_init(&worker->loop, &worker->control, 0);
    if (error == 0)
        error = uv_pipe_open(&worker->control, control);
    if (error == 0)
        error = uv_timer_init(&worker->loop, &worker->timer);
    if (error == 0)
        error = uv_check_init(&worker->loop, &worker->check);
    if (error == 0)
        error = uv_async_init(&worker->loop, &worker->wake, on_wake);
    if (error == 0)
        error = uv_signal_init(&worker->loop, &worker->hangup);
    if (error == 0)
        error = uv_signal_init(&worker->loop, &worker->terminate);
    if (error == 0)
        error = open_listeners(worker, sockets);
    worker->control.data = worker->timer.data = worker;
    worker->check.data = worker->wake.data = worker;
    worker->hangup.data = worker->terminate.data = worker;
    return error;
}

static int begin(mishap_http_worker *worker, const mishap_http_sockets *sockets, int control)
{
    int error = open_handles(worker, sockets, control);
    uint64_t tick = tick_of(worker);
    if (error == 0)
        error = uv_timer_start(&worker->timer, on_tick, tick, tick);
    if (error == 0)
        error = uv_check_start(&worker->check, on_check);
    if (error == 0)
        error = uv_signal_start(&worker->hangup, on_hangup, SIGHUP);
    if (error == 0)
        error = uv_signal_start(&worker->terminate, on_terminate, SIGTERM);
    if (error == 0)
        error = uv_read_start((uv_stream_t *)&worker->control, on_control_room, on_control);
    for (int i = 0; i < worker->listener_count && error == 0; i++)
        error = uv_listen((uv_stream_t *)&worker->listeners[i].socket, MISHAP_HTTP_BACKLOG,
                          on_connection);
    return error;
}

static _Noreturn void fail(mishap *failure)
{
    mishap_buffer account = { 0 };
    mishap_account(failure, &account);
    fprintf(stderr, "%.*s\n", (int)account.length, account.data);
    _exit(1);
}

_Noreturn void mishap_http_worker_run(const mishap_http_settings *settings,
                                      const mishap_http_routes *routes,
                                      mishap_http_metrics *metrics, mishap_http_rates *rates,
                                      void *shared, const mishap_http_sockets *sockets, int control)
{
    static mishap_http_worker worker; /* large, and there is one in a process */
    signal(SIGINT, SIG_IGN); /* of the whole terminal: the supervisor decides what it means */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a log that has grown too large is no reason to end */
    prctl(PR_SET_NAME, "mishap-worker");
    mishap_trace_prepare();
    worker.server = (mishap_http_server){ .settings = settings,
                                          .routes = routes,
                                          .metrics = metrics,
                                          .rates = rates,
                                          .most_waiting = (size_t)settings->threads * 64,
                                          .loop = &worker.loop,
                                          .start = start_job,
                                          .push = mishap_http_connection_push,
                                          .go_on = mishap_http_connection_go_on };
    mishap *failure = mishap_http_server_open(&worker.server);
    if (!failure)
        failure = mishap_service_open_all(settings->app);
    if (failure)
        fail(failure);
    set_patience(&worker, settings);
    int error = begin(&worker, sockets, control);
    if (error != 0)
        fail(mishap_raise(INTERNAL_ERROR, "The worker could not begin: %s.", uv_strerror(error)));
    failure = mishap_threads_open(settings->threads, wake_loop, &worker, &worker.server.threads);
    const mishap_http_extension *extension = settings->extension;
    if (!failure && extension && extension->open)
        failure = extension->open(&worker.server, shared, &worker.server.extension_state);
    if (failure)
        fail(failure);
    mishap_http_metrics_add(metrics, MISHAP_HTTP_WORKERS_BEGUN, 1);
    say(&worker, MISHAP_HTTP_READY);
    uv_run(&worker.loop, UV_RUN_DEFAULT);
    leave(&worker);
}
