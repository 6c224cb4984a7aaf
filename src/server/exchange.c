/* One connection without its socket: see exchange.h. Runs in a loop. */
#include "server/exchange.h"
#include "server/origin.h"

void mishap_http_exchange_init(mishap_http_exchange *exchange, const mishap_http_server *server,
                               mishap_text remote)
{
    *exchange = (mishap_http_exchange){ .remote = remote };
    mishap_http_reader_init(&exchange->reader, server->settings);
}

/* Count the memory that the reader keeps for the bodies of requests. */
static void count_kept(mishap_http_server *server, mishap_http_exchange *exchange)
{
    size_t kept = exchange->reader.kept.length;
    if (kept > exchange->held)
        mishap_http_bodies_add(server, kept - exchange->held);
    else
        mishap_http_bodies_remove(server, exchange->held - kept);
    exchange->held = kept;
}

void mishap_http_exchange_release(mishap_http_server *server, mishap_http_exchange *exchange)
{
    if (exchange->later)
        mishap_http_later_close(exchange->later);
    mishap_http_reader_release(&exchange->reader);
    count_kept(server, exchange);
}

/* -- metrics and logs -------------------------------------------------------------------------- */

void mishap_http_exchange_tell(mishap_http_server *server, const mishap_http_request *request,
                               const mishap_http_reply *reply, int64_t route, size_t sent)
{
    int64_t now = server->told_ns = mishap_clock_monotonic_ns();
    if (server->metrics)
        mishap_http_metrics_count(server->metrics, route, request->method, reply->status,
                                  reply->code, now - request->started_ns);
    if (server->access)
        mishap_http_access_add(server->access, request, reply, sent, now);
}

bool mishap_http_exchange_is_last(const mishap_http_server *server,
                                  const mishap_http_exchange *exchange)
{
    const mishap_http_reader *reader = &exchange->reader;
    return (reader->passing && !reader->whole) ||
           (server->draining && !mishap_http_reader_has_more(reader));
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

/* Once the head is known, the endpoint of the request formats the failure. */
static void refuse_known(mishap_http_server *server, const mishap_http_exchange *exchange,
                         mishap_http_request *request, mishap *failure)
{
    mishap_http_match match;
    bool known = exchange->reader.head_done && request->path.length &&
                 mishap_http_find(server, request, &match);
    mishap_http_refuse_at(server, request, known ? &match : NULL, &server->reply, failure);
}

mishap_http_state mishap_http_exchange_end(mishap_http_server *server,
                                           mishap_http_exchange *exchange, mishap *failure)
{
    mishap_http_request request = { .method = MISHAP_HTTP_OTHER,
                                    .persists_by_default = true,
                                    .started_ns = exchange->began_ns };
    mishap_http_reply *reply = &server->reply;
    if (exchange->reader.dropping) {
        mishap_free(failure); /* the request has its reply already */
    } else {
        mishap_http_reader_know(&exchange->reader, &request);
        request.remote = remote_of(exchange, &request);
        mishap_http_reply_reset(reply);
        mishap_id_make_at(request.id, server->now_ms);
        refuse_known(server, exchange, &request, failure);
        reply->close = true;
        send_reply(server, exchange, &request, reply, MISHAP_HTTP_NO_ROUTE);
    }
    exchange->ended = true;
    mishap_http_reader_release(&exchange->reader);
    count_kept(server, exchange);
    return MISHAP_HTTP_ENDED;
}

static mishap_http_state state_of(const mishap_http_exchange *exchange)
{
    return exchange->ended   ? MISHAP_HTTP_ENDED
           : exchange->later ? mishap_http_exchange_passes(exchange) && !exchange->later->full
                                   ? MISHAP_HTTP_PASSING
                                   : MISHAP_HTTP_RUNNING
           : exchange->reader.whole     ? MISHAP_HTTP_IDLE
           : exchange->reader.head_done ? MISHAP_HTTP_IN_BODY
           : exchange->reader.begun     ? MISHAP_HTTP_IN_HEAD
                                        : MISHAP_HTTP_IDLE;
}

/* -- answering --------------------------------------------------------------------------------- */

/* Bytes of an unwanted body that are skipped to reach the next request. */
enum { MOST_DROPPED = 64 * 1024 };

/* The request was answered at its head. A small body is skipped. With a larger one, or if the peer
 * waits for 100 Continue, the connection ends. */
static void leave_body(mishap_http_exchange *exchange, const mishap_http_request *request,
                       mishap_http_reply *reply)
{
    mishap_http_reader *reader = &exchange->reader;
    if (request->announced == MISHAP_HTTP_CHUNKED || request->announced > MOST_DROPPED ||
        reader->wants_continue)
        reply->close = true;
    else
        mishap_http_reader_drop(reader);
}

/* True if the request may go to its endpoint. If not, its reply was written. */
static bool enter(mishap_http_server *server, mishap_http_exchange *exchange,
                  mishap_http_request *request, mishap_http_match *match)
{
    const mishap_http_reader *reader = &exchange->reader;
    mishap_http_reply *reply = &server->reply;
    bool again = exchange->entered;
    mishap_http_reply_reset(reply);
    request->remote = remote_of(exchange, request);
    request->started_ns = exchange->began_ns;
    request->caller = request->subject = NULL;
    request->endpoint = NULL;
    request->passing = false;
    request->caller_key = 0;
    request->lacks = 0;
    request->ends_s = 0;
    request->has_token = false;
    request->caller_is_free = false;
    mishap_id_make_at(request->id, server->now_ms);
    exchange->entered = true;
    if (mishap_http_enter(server, request, again, match, reply)) {
        exchange->reader.body_limit = mishap_http_body_limit(server, request, match);
        return true;
    }
    if (!reader->whole)
        leave_body(exchange, request, reply);
    send_reply(server, exchange, request, reply,
               match->endpoint ? (int64_t)match->route : MISHAP_HTTP_NO_ROUTE);
    return false;
}

/* -- bodies that are passed on ----------------------------------------------------------------- */

bool mishap_http_exchange_passes(const mishap_http_exchange *exchange)
{
    const mishap_http_reader *reader = &exchange->reader;
    return exchange->later && reader->passing && (!reader->whole || reader->ends_later) &&
           !exchange->broken && !exchange->ended;
}

/* What follows the body is not for the endpoint, so no more than the rest of the body is read. */
char *mishap_http_exchange_lend(const mishap_http_exchange *exchange, size_t *size)
{
    mishap_http_later *later = exchange->later;
    uint64_t left = mishap_http_reader_left(&exchange->reader);
    size_t lent;
    if (!left || !later || !later->room || later->full || !mishap_http_exchange_passes(exchange))
        return NULL;
    char *room = later->room(later, &lent);
    if (room)
        *size = lent < left ? lent : (size_t)left;
    return room;
}

/* Pass on what has arrived, until the endpoint takes no more, or has answered. What it answers
 * comes after the replies to earlier requests. */
static void pass_on(mishap_http_server *server, mishap_http_exchange *exchange)
{
    mishap_http_reader *reader = &exchange->reader;
    mishap_http_request request;
    mishap_http_progress progress;
    server->at_hand.exchange = exchange;
    server->at_hand.deferred = true;
    while (mishap_http_exchange_passes(exchange) && !exchange->later->full &&
           (progress = mishap_http_reader_next(reader, &request)) != MISHAP_HTTP_MORE) {
        mishap_http_later *later = exchange->later;
        if (progress == MISHAP_HTTP_PIECE) {
            later->piece(later, request.body);
        } else if (progress == MISHAP_HTTP_WHOLE) {
            exchange->entered = exchange->continued = false;
            exchange->began_ns = server->now_ns;
            later->whole(later);
        } else {
            exchange->broken = true;
            later->broken(later, mishap_http_reader_flaw(reader));
        }
    }
    server->at_hand.exchange = NULL;
}

mishap_http_state mishap_http_exchange_break(mishap_http_server *server,
                                             mishap_http_exchange *exchange, mishap *failure)
{
    mishap_http_later *later = exchange->later;
    exchange->broken = true;
    server->at_hand.exchange = exchange;
    server->at_hand.deferred = true;
    later->broken(later, failure);
    server->at_hand.exchange = NULL;
    return state_of(exchange);
}

/* The head was accepted: the endpoint begins to take the body, or refuses the request. */
static void begin_passing(mishap_http_server *server, mishap_http_exchange *exchange,
                          mishap_http_request *request, const mishap_http_match *match)
{
    mishap_http_reply *reply = &server->reply;
    exchange->broken = false;
    mishap_http_reader_pass(&exchange->reader, true);
    if (mishap_http_answer(server, exchange, request, match, reply)) {
        mishap_http_reader_pass(&exchange->reader, false);
        leave_body(exchange, request, reply);
        send_reply(server, exchange, request, reply, (int64_t)match->route);
        return;
    }
    if (exchange->reader.wants_continue && exchange->later) {
        exchange->continued = true;
        MISHAP_PUT(&server->out, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    pass_on(server, exchange);
}

/* In the middle of a deferred answer there is no place for another reply, so the connection just
 * ends. */
static mishap_http_state end_without_memory(mishap_http_server *server,
                                            mishap_http_exchange *exchange)
{
    if (!exchange->later)
        return mishap_http_exchange_end(server, exchange, mishap_out_of_memory());
    server->out.failed = exchange->ended = true;
    return MISHAP_HTTP_ENDED;
}

/* Process the head of a request, or all of it. `*entered`: its head was accepted just now, and
 * `match` belongs to it. */
static void step(mishap_http_server *server, mishap_http_exchange *exchange,
                 mishap_http_progress progress, mishap_http_request *request,
                 mishap_http_match *match, bool *entered)
{
    bool answered = exchange->reader.dropping; /* at its head */
    if (progress == MISHAP_HTTP_HEADED) {
        *entered = enter(server, exchange, request, match);
        if (*entered && request->passing) {
            begin_passing(server, exchange, request, match);
            *entered = false;
        }
        return;
    }
    if (!answered && (*entered || enter(server, exchange, request, match)) &&
        mishap_http_answer(server, exchange, request, match, &server->reply))
        send_reply(server, exchange, request, &server->reply, (int64_t)match->route);
    *entered = exchange->entered = exchange->continued = false;
    exchange->began_ns = server->now_ns; /* the time of the next request, if a part of it is here */
}

/* Keep the part of a body that has arrived, if there is room for it. */
static bool keep_body(mishap_http_server *server, mishap_http_exchange *exchange, bool *room)
{
    const mishap_http_reader *reader = &exchange->reader;
    size_t before = exchange->held;
    if (!mishap_http_reader_keep(&exchange->reader))
        return false;
    size_t kept = reader->kept.length;
    if (kept > before && reader->head_done && !reader->whole && !exchange->later) {
        mishap_http_bodies_look(server);
        *room = mishap_http_bodies_fit(server, kept - before);
    }
    count_kept(server, exchange);
    return true;
}

/* Requests that were sent in advance wait for the next iteration of the loop if this one is
 * over. */
static bool may_go_on(const mishap_http_server *server)
{
    return !server->turn_ends_ns || server->told_ns < server->turn_ends_ns;
}

/* The endpoint has answered before it was told that the body is complete: it does not hear of that
 * any more, and the next request begins. */
static void forget_end_of_body(mishap_http_server *server, mishap_http_exchange *exchange)
{
    if (!exchange->reader.ends_later)
        return;
    exchange->reader.ends_later = exchange->entered = exchange->continued = false;
    exchange->began_ns = server->now_ns;
}

/* No request is deferred: read on. */
static mishap_http_progress read_next(mishap_http_server *server, mishap_http_exchange *exchange,
                                      mishap_http_request *request)
{
    forget_end_of_body(server, exchange);
    return mishap_http_reader_next(&exchange->reader, request);
}

/* Answer every complete request, until one is deferred, or there is so much to write that the rest
 * is better answered later, or other connections wait. */
static mishap_http_state read_on(mishap_http_server *server, mishap_http_exchange *exchange)
{
    size_t before = server->out.length;
    mishap_http_reader *reader = &exchange->reader;
    mishap_http_request request;
    mishap_http_match match;
    bool entered = false, room = true, first = true;
    mishap_http_progress progress = MISHAP_HTTP_MORE;
    while (!exchange->ended && !exchange->later &&
           server->out.length - before < MISHAP_HTTP_OUT_MUCH && (first || may_go_on(server)) &&
           (progress = read_next(server, exchange, &request)) >= MISHAP_HTTP_HEADED) {
        step(server, exchange, progress, &request, &match, &entered);
        first = progress == MISHAP_HTTP_HEADED && entered;
    }
    if (!exchange->ended && !exchange->later && progress == MISHAP_HTTP_FLAW)
        return mishap_http_exchange_end(server, exchange, mishap_http_reader_flaw(reader));
    if (!exchange->ended && !keep_body(server, exchange, &room))
        return end_without_memory(server, exchange);
    if (!room)
        return mishap_http_exchange_end(server, exchange, mishap_http_bodies_full());
    if (reader->wants_continue && !exchange->continued && !exchange->ended && !exchange->later) {
        exchange->continued = true;
        MISHAP_PUT(&server->out, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    if (exchange->ended) { /* bytes behind the last request are ignored */
        mishap_http_reader_release(reader);
        count_kept(server, exchange);
    }
    return state_of(exchange);
}

mishap_http_state mishap_http_exchange_feed(mishap_http_server *server,
                                            mishap_http_exchange *exchange, char *data,
                                            size_t length)
{
    bool room = true;
    if (exchange->ended)
        return MISHAP_HTTP_ENDED;
    if (exchange->later && exchange->broken)
        return state_of(exchange); /* what still comes of its body is dropped */
    if (!mishap_http_reader_take(&exchange->reader, data, length))
        return end_without_memory(server, exchange);
    if (mishap_http_exchange_passes(exchange))
        pass_on(server, exchange);
    if (exchange->later)
        return keep_body(server, exchange, &room) ? state_of(exchange)
                                                  : end_without_memory(server, exchange);
    if (exchange->reader.whole || !exchange->reader.begun)
        exchange->began_ns = server->now_ns;
    return read_on(server, exchange);
}
