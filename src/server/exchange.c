#include "server/exchange.h"

void mishap_http_exchange_init(mishap_http_exchange *exchange, const mishap_http_server *server,
                               mishap_text remote)
{
    *exchange = (mishap_http_exchange){ .remote = remote };
    mishap_http_reader_init(&exchange->reader, server->settings);
}

void mishap_http_exchange_release(mishap_http_exchange *exchange)
{
    if (exchange->later)
        mishap_http_later_close(exchange->later);
    mishap_http_reader_release(&exchange->reader);
}

/* -- telling ----------------------------------------------------------------------------------- */

void mishap_http_exchange_tell(mishap_http_server *server, const mishap_http_request *request,
                               const mishap_http_reply *reply, int64_t route, size_t sent)
{
    if (!server->metrics && !server->access)
        return;
    int64_t now = mishap_clock_monotonic_ns();
    if (server->metrics)
        mishap_http_metrics_count(server->metrics, route, request->method, reply->status,
                                  reply->code, now - request->started_ns);
    if (server->access)
        mishap_http_access_add(server->access, request, reply, sent, now);
}

bool mishap_http_exchange_is_last(const mishap_http_server *server,
                                  const mishap_http_exchange *exchange)
{
    return server->draining && !mishap_http_reader_has_more(&exchange->reader);
}

void mishap_http_exchange_reply(mishap_http_server *server, mishap_http_exchange *exchange,
                                mishap_buffer *out, const mishap_http_request *request,
                                mishap_http_reply *reply, int64_t route)
{
    size_t before = out->length;
    reply->close = reply->close || !request->keep_alive ||
                   mishap_http_exchange_is_last(server, exchange);
    mishap_http_cors(reply, server->settings, request);
    mishap_http_put_reply(out, server, request, reply);
    exchange->ended = reply->close || out->failed;
    mishap_http_exchange_tell(server, request, reply, route, out->length - before);
}

static void send_reply(mishap_http_server *server, mishap_http_exchange *exchange,
                       const mishap_http_request *request, mishap_http_reply *reply, int64_t route)
{
    mishap_http_exchange_reply(server, exchange, &server->out, request, reply, route);
}

static mishap_text remote_of(const mishap_http_exchange *exchange,
                             const mishap_http_request *request)
{
    return mishap_http_remote(exchange->remote, request->fields[MISHAP_HTTP_FORWARDED_FOR]);
}

mishap_http_state mishap_http_exchange_end(mishap_http_server *server,
                                           mishap_http_exchange *exchange, mishap *failure)
{
    mishap_http_request request = { .method = MISHAP_HTTP_OTHER,
                                    .persists_by_default = true,
                                    .started_ns = exchange->began_ns };
    mishap_http_reply *reply = &server->reply;
    mishap_http_reader_know(&exchange->reader, &request);
    request.remote = remote_of(exchange, &request);
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
           : exchange->later            ? MISHAP_HTTP_RUNNING
           : exchange->reader.whole     ? MISHAP_HTTP_IDLE
           : exchange->reader.head_done ? MISHAP_HTTP_IN_BODY
           : exchange->reader.begun     ? MISHAP_HTTP_IN_HEAD
                                        : MISHAP_HTTP_IDLE;
}

/* -- answering --------------------------------------------------------------------------------- */

static void answer(mishap_http_server *server, mishap_http_exchange *exchange,
                   mishap_http_request *request)
{
    int64_t route;
    mishap_http_reply_reset(&server->reply);
    request->remote = remote_of(exchange, request);
    request->started_ns = exchange->began_ns;
    request->caller = NULL;
    mishap_id_make_at(request->id, server->now_ms);
    if (mishap_http_answer(server, exchange, request, &server->reply, &route))
        send_reply(server, exchange, request, &server->reply, route);
}

/* In the middle of an answer that comes later there is no place for another reply, so the
 * connection just ends. */
static mishap_http_state end_without_memory(mishap_http_server *server,
                                            mishap_http_exchange *exchange)
{
    if (!exchange->later)
        return mishap_http_exchange_end(server, exchange, mishap_out_of_memory());
    server->out.failed = exchange->ended = true;
    return MISHAP_HTTP_ENDED;
}

/* Every request that is whole, until one has to wait for its answer, or there is so much to be
 * written that the rest is better answered when it is. */
static mishap_http_state read_on(mishap_http_server *server, mishap_http_exchange *exchange)
{
    size_t before = server->out.length;
    mishap_http_reader *reader = &exchange->reader;
    mishap_http_request request;
    mishap_http_progress progress = MISHAP_HTTP_MORE;
    while (!exchange->ended && !exchange->later &&
           server->out.length - before < MISHAP_HTTP_OUT_MUCH &&
           (progress = mishap_http_reader_next(reader, &request)) == MISHAP_HTTP_WHOLE) {
        exchange->continued = false;
        answer(server, exchange, &request);
        exchange->began_ns = server->now_ns; /* of the one behind it, if there is any of it */
    }
    if (!exchange->ended && !exchange->later && progress == MISHAP_HTTP_FLAW)
        return mishap_http_exchange_end(server, exchange, mishap_http_reader_flaw(reader));
    if (!exchange->ended && !mishap_http_reader_keep(reader))
        return end_without_memory(server, exchange);
    if (reader->wants_continue && !exchange->continued && !exchange->ended && !exchange->later) {
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
        return end_without_memory(server, exchange);
    if (exchange->later)
        return mishap_http_reader_keep(&exchange->reader) ? MISHAP_HTTP_RUNNING
                                                          : end_without_memory(server, exchange);
    if (exchange->reader.whole || !exchange->reader.begun)
        exchange->began_ns = server->now_ns;
    return read_on(server, exchange);
}
