#include "boundary/http/exchange.h"

void mishap_http_exchange_init(mishap_http_exchange *exchange, const mishap_http_server *server,
                               mishap_text remote)
{
    *exchange = (mishap_http_exchange){ .remote = remote };
    mishap_http_reader_init(&exchange->reader, server->settings);
}

void mishap_http_exchange_release(mishap_http_exchange *exchange)
{
    if (exchange->job)
        exchange->job->exchange = NULL;
    exchange->job = NULL;
    mishap_http_reader_release(&exchange->reader);
}

/* -- telling ----------------------------------------------------------------------------------- */

/* The reply goes out, and whoever counts and logs hears of it. */
static void send_reply(mishap_http_server *server, mishap_http_exchange *exchange,
                       mishap_http_request *request, mishap_http_reply *reply, int64_t route)
{
    size_t before = server->out.length;
    reply->close = reply->close || server->draining || !request->keep_alive;
    if (server->settings->cors)
        mishap_http_cors(reply, server->settings->cors, request);
    mishap_http_put_reply(&server->out, server, request, reply);
    exchange->ended = reply->close || server->out.failed;
    if (!server->metrics && !server->access)
        return;
    int64_t now = mishap_clock_monotonic_ns();
    if (server->metrics)
        mishap_http_metrics_count(server->metrics, route, request->method, reply->status,
                                  reply->code, now - request->started_ns);
    if (server->access)
        mishap_http_access_add(server->access, request, reply, server->out.length - before, now);
}

mishap_http_state mishap_http_exchange_end(mishap_http_server *server,
                                           mishap_http_exchange *exchange, mishap *failure)
{
    mishap_http_request request = { .method = MISHAP_HTTP_OTHER,
                                    .remote = exchange->remote,
                                    .persists_by_default = true,
                                    .started_ns = exchange->began_ns };
    mishap_http_reply *reply = &server->reply;
    mishap_http_reply_reset(reply);
    mishap_id_make_at(request.id, server->now_ms);
    reply->close = true;
    mishap_http_refuse(reply, server->settings, &request, failure);
    send_reply(server, exchange, &request, reply, MISHAP_HTTP_NO_ROUTE);
    mishap_free(failure);
    exchange->ended = true;
    return MISHAP_HTTP_ENDED;
}

static mishap_http_state state_of(const mishap_http_exchange *exchange)
{
    return exchange->ended              ? MISHAP_HTTP_ENDED
           : exchange->job              ? MISHAP_HTTP_RUNNING
           : exchange->reader.whole     ? MISHAP_HTTP_IDLE
           : exchange->reader.head_done ? MISHAP_HTTP_IN_BODY
           : exchange->reader.begun     ? MISHAP_HTTP_IN_HEAD
                                        : MISHAP_HTTP_IDLE;
}

/* -- answering --------------------------------------------------------------------------------- */

static void start_job(mishap_http_server *server, mishap_http_exchange *exchange,
                      mishap_http_job *job)
{
    job->exchange = exchange;
    exchange->job = job;
    if (server->start(server, job))
        return;
    mishap *busy = mishap_raise(UNAVAILABLE, "The server is busy with other requests.");
    mishap_http_refuse(&job->reply, server->settings, &job->request,
                       mishap_retry_after(busy, 1000));
    send_reply(server, exchange, &job->request, &job->reply, job->route);
    mishap_free(busy);
    exchange->job = NULL;
    mishap_http_job_free(job);
}

static void answer(mishap_http_server *server, mishap_http_exchange *exchange,
                   mishap_http_request *request)
{
    mishap_http_job *job = NULL;
    int64_t route;
    mishap_http_reply_reset(&server->reply);
    request->remote = exchange->remote;
    request->started_ns = exchange->began_ns;
    request->caller = NULL;
    mishap_id_make_at(request->id, server->now_ms);
    if (mishap_http_answer(server, request, &server->reply, &route, &job))
        send_reply(server, exchange, request, &server->reply, route);
    else
        start_job(server, exchange, job);
}

/* Every request that is whole, until one has to wait for its handler. */
static mishap_http_state read_on(mishap_http_server *server, mishap_http_exchange *exchange)
{
    mishap_http_reader *reader = &exchange->reader;
    mishap_http_request request;
    mishap_http_progress progress = MISHAP_HTTP_MORE;
    while (!exchange->ended && !exchange->job &&
           (progress = mishap_http_reader_next(reader, &request)) == MISHAP_HTTP_WHOLE) {
        exchange->continued = false;
        answer(server, exchange, &request);
    }
    if (!exchange->ended && !exchange->job && progress == MISHAP_HTTP_FLAW)
        return mishap_http_exchange_end(server, exchange, mishap_http_reader_flaw(reader));
    if (!exchange->ended && !mishap_http_reader_keep(reader))
        return mishap_http_exchange_end(server, exchange, mishap_out_of_memory());
    if (reader->wants_continue && !exchange->continued && !exchange->ended && !exchange->job) {
        exchange->continued = true;
        MISHAP_PUT(&server->out, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    return state_of(exchange);
}

mishap_http_state mishap_http_exchange_feed(mishap_http_server *server,
                                            mishap_http_exchange *exchange, char *data,
                                            size_t length)
{
    if (exchange->ended)
        return MISHAP_HTTP_ENDED;
    if (!mishap_http_reader_take(&exchange->reader, data, length))
        return mishap_http_exchange_end(server, exchange, mishap_out_of_memory());
    if (exchange->job)
        return mishap_http_reader_keep(&exchange->reader)
                   ? MISHAP_HTTP_RUNNING
                   : mishap_http_exchange_end(server, exchange, mishap_out_of_memory());
    if (exchange->reader.whole || !exchange->reader.begun)
        exchange->began_ns = server->now_ns;
    return read_on(server, exchange);
}

mishap_http_state mishap_http_exchange_finish(mishap_http_server *server, mishap_http_job *job)
{
    mishap_http_exchange *exchange = job->exchange;
    if (!exchange) {
        mishap_http_job_free(job);
        return MISHAP_HTTP_ENDED;
    }
    exchange->job = NULL;
    send_reply(server, exchange, &job->request, &job->reply, job->route);
    mishap_http_job_free(job);
    if (exchange->ended)
        return MISHAP_HTTP_ENDED;
    mishap_http_server_look_at_clock(server);
    exchange->began_ns = server->now_ns;
    return read_on(server, exchange);
}

mishap_http_state mishap_http_exchange_give_up(mishap_http_server *server,
                                               mishap_http_exchange *exchange)
{
    mishap_http_job *job = exchange->job;
    mishap_http_reply *reply = &server->reply;
    mishap *failure = mishap_raise(TIMEOUT, NULL);
    mishap_http_reply_reset(reply);
    mishap_http_refuse(reply, server->settings, &job->request, failure);
    send_reply(server, exchange, &job->request, reply, job->route);
    mishap_http_record(server->settings, &job->request, job->job.call, NULL, failure);
    mishap_free(failure);
    exchange->job = NULL;
    job->exchange = NULL; /* it goes on for nobody */
    return exchange->ended ? MISHAP_HTTP_ENDED : read_on(server, exchange);
}
