/*
 * Answers that come later: as a whole, or as a stream in pieces.
 *
 * Bytes that are written while the endpoint of the request still runs are added after the responses
 * to earlier requests. At any other time they are written to the connection at once.
 *
 * Nothing here calls back. If a connection breaks while something is written to it, that shows in
 * `exchange->ended`; closed() is called later by the loop, with no other function of the server on
 * the stack. A request that waited for an earlier response is not parsed before the function that
 * sent this response has returned.
 */
#include <stdio.h>

#include "base/memory.h"
#include "server/exchange.h"
#include "server/origin.h"

/* A deferred request with the fields that only this file needs. */
struct kept {
    mishap_http_later later; /* the first member */
    size_t sent;             /* bytes of the stream and its head */
    size_t held;             /* bytes of the body, of which the endpoint has a copy */
    int status;
    const mishap_code *code;
    char text[]; /* the text of the request */
};

static struct kept *kept_of(mishap_http_later *later)
{
    return (struct kept *)(void *)later;
}

mishap_http_later *mishap_http_defer(mishap_http_server *server, const mishap_http_request *request)
{
    mishap_http_exchange *exchange = server->at_hand.exchange;
    if (!exchange || server->at_hand.deferred)
        return NULL; /* no request is being answered, or it was deferred already */
    struct kept *kept = mishap_allocate(sizeof *kept + mishap_http_request_size(request));
    if (!kept)
        return NULL;
    *kept = (struct kept){
        .later = { .server = server, .exchange = exchange, .route = server->at_hand.route },
        .held = request->body.length,
    };
    mishap_http_bodies_add(server, kept->held);
    mishap_http_request_keep(&kept->later.request, request, kept->text);
    server->at_hand.deferred = true;
    exchange->later = &kept->later;
    return &kept->later;
}

static void free_later(mishap_http_later *later)
{
    mishap_http_bodies_remove(later->server, kept_of(later)->held);
    mishap_release(later);
}

/* -- writing to the connection ----------------------------------------------------------------- */

static bool is_at_hand(const mishap_http_later *later)
{
    return later->server->at_hand.exchange == later->exchange;
}

static mishap_buffer *room_of(mishap_http_later *later)
{
    return is_at_hand(later) ? &later->server->out : &later->server->aside;
}

/* Send the bytes in its buffer. If memory ran out, there are none. False: the connection can no
 * longer be written to. */
static bool hand_over(mishap_http_later *later)
{
    mishap_http_server *server = later->server;
    mishap_buffer *aside = &server->aside;
    if (is_at_hand(later))
        return !server->out.failed;
    mishap_text bytes = aside->failed ? (mishap_text){ NULL, 0 } : mishap_buffer_text(aside);
    bool open = server->push(server, later->exchange, bytes);
    mishap_buffer_reset_within(aside, MISHAP_HTTP_OUT_KEPT);
    return open;
}

/* The same for a part of a stream, from `before` on. */
static bool hand_over_part(mishap_http_later *later, mishap_buffer *out, size_t before)
{
    if (out->failed)
        out->length = before; /* an incomplete part is worse than none */
    kept_of(later)->sent += out->length - before;
    bool open = hand_over(later);
    if (!open)
        later->exchange->ended = true;
    return open;
}

/* End the connection without completing the response. */
static void break_off(mishap_http_later *later)
{
    mishap_http_server *server = later->server;
    later->exchange->ended = true;
    if (is_at_hand(later))
        server->out.failed = true;
    else
        server->push(server, later->exchange, (mishap_text){ NULL, 0 });
}

/* -- streams ----------------------------------------------------------------------------------- */

static bool has_body(mishap_http_later *later)
{
    int status = kept_of(later)->status;
    return later->request.method != MISHAP_HTTP_HEAD && status != 204 && status != 304;
}

/* RFC 9112, 7.1. HTTP/1.0 has no chunks: there the body ends with the connection. */
static bool is_chunked(const mishap_http_later *later)
{
    return later->request.persists_by_default;
}

void mishap_http_later_begin(mishap_http_later *later, mishap_http_reply *reply)
{
    mishap_http_server *server = later->server;
    mishap_buffer *out = room_of(later);
    size_t before = out->length;
    if (later->streaming || later->exchange->ended)
        return;
    if (later->revoked) {
        break_off(later);
        return;
    }
    later->last = reply->close || !later->request.keep_alive || !is_chunked(later) ||
                  mishap_http_exchange_is_last(server, later->exchange);
    mishap_http_cors(reply, server->settings, &later->request);
    kept_of(later)->status = reply->status;
    kept_of(later)->code = reply->code;
    reply->close = later->last;
    mishap_http_put_head(out, server, &later->request, reply, is_chunked(later));
    hand_over_part(later, out, before);
    later->streaming = true;
}

bool mishap_http_later_send(mishap_http_later *later, mishap_text piece)
{
    char size[2 * sizeof piece.length + 3];
    mishap_buffer *out = room_of(later);
    size_t before = out->length;
    if (!later->streaming || later->exchange->ended)
        return false;
    if (!piece.length || !has_body(later))
        return true; /* an empty chunk would be the last one */
    if (is_chunked(later))
        mishap_buffer_put(out, size, (size_t)snprintf(size, sizeof size, "%zx\r\n", piece.length));
    mishap_buffer_put_text(out, piece);
    if (is_chunked(later))
        MISHAP_PUT(out, "\r\n");
    return hand_over_part(later, out, before);
}

bool mishap_http_later_lags(const mishap_http_later *later)
{
    return later->server->lags && later->server->lags(later->exchange);
}

bool mishap_http_later_half_closed(const mishap_http_later *later)
{
    return later->exchange->peer_ended;
}

void mishap_http_later_resume(mishap_http_later *later)
{
    later->full = false;
    if (!is_at_hand(later) && !later->exchange->ended)
        later->server->go_on(later->server, later->exchange);
}

/* -- ends -------------------------------------------------------------------------------------- */

static void tell_of_stream(mishap_http_later *later)
{
    const struct kept *kept = kept_of(later);
    mishap_http_reply reply = { .status = kept->status,
                                .code = later->code ? later->code : kept->code };
    mishap_http_exchange_tell(later->server, &later->request, &reply, later->route, kept->sent);
}

void mishap_http_later_end(mishap_http_later *later)
{
    mishap_http_server *server = later->server;
    mishap_http_exchange *exchange = later->exchange;
    mishap_buffer *out = room_of(later);
    size_t before = out->length;
    bool at_hand = is_at_hand(later);
    if (later->streaming && !exchange->ended && is_chunked(later) && has_body(later)) {
        MISHAP_PUT(out, "0\r\n\r\n");
        hand_over_part(later, out, before);
    }
    if (later->streaming)
        tell_of_stream(later);
    /* A request that was never answered cannot be answered any more. */
    exchange->ended = exchange->ended || later->last || !later->streaming ||
                      mishap_http_exchange_is_last(server, exchange);
    exchange->later = NULL;
    free_later(later);
    if (!at_hand)
        server->go_on(server, exchange);
}

void mishap_http_later_cut(mishap_http_later *later)
{
    later->closed = NULL;
    break_off(later);
}

void mishap_http_later_revoke(mishap_http_later *later, bool all)
{
    later->revoked = true;
    if (!later->streaming && !all)
        return;
    later->code = MISHAP_CODE_UNAUTHORIZED; /* for metrics and access log */
    break_off(later);
}

void mishap_http_later_answer(mishap_http_later *later, mishap_http_reply *reply)
{
    mishap_http_server *server = later->server;
    mishap_http_exchange *exchange = later->exchange;
    if (later->streaming || exchange->ended) {
        mishap_http_later_end(later); /* a stream that has begun can only be ended */
        return;
    }
    mishap_http_exchange_reply(server, exchange, room_of(later), &later->request, reply,
                               later->route);
    bool at_hand = is_at_hand(later), open = hand_over(later);
    exchange->ended = exchange->ended || !open;
    exchange->later = NULL;
    free_later(later);
    if (!at_hand)
        server->go_on(server, exchange);
}

void mishap_http_later_close(mishap_http_later *later)
{
    later->exchange->ended = true;
    later->exchange->later = NULL;
    if (later->streaming)
        tell_of_stream(later);
    if (later->closed)
        later->closed(later);
    free_later(later);
}
