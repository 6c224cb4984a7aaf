/*
 * Which responses are held back, and how their bodies are collected.
 *
 * The head of an error is kept until its body is known, since the answer has another length and
 * another type. There are four ways to its end: the last buffer; the limit of the bytes; the
 * deadline; and an upstream that breaks off, of which nginx tells its filters by a flush buffer
 * after it has finished with the upstream.
 *
 * After the limit or the deadline the answer is sent at once. What the upstream still sends is
 * dropped, and the request is ended as soon as nginx is out of the filters again: an endless error
 * must hold neither the client nor the upstream.
 */
#include "nginx/nginx.h"

enum {
    FIRST_ROOM = 4096,
    PATIENCE_MS = 5000, /* for the whole body of an error, from its head */
    FLUSH_MS = 50,      /* how often a slow client is waited for … */
    FLUSHES = 1200,     /* … and how many times */
};

static ngx_http_output_header_filter_pt next_header_filter;
static ngx_http_output_body_filter_pt next_body_filter;

static ngx_int_t is_covered(const mishap_nginx_conf *conf, ngx_uint_t status)
{
    if (!conf->statuses)
        return 1;
    const mishap_nginx_range *ranges = conf->statuses->elts;
    for (ngx_uint_t i = 0; i < conf->statuses->nelts; i++)
        if (status >= ranges[i].first && status <= ranges[i].last)
            return 1;
    return 0;
}

/* -- answering --------------------------------------------------------------------------------- */

static ngx_int_t send_answer(mishap_nginx_held *held)
{
    ngx_http_request_t *r = held->request;
    ngx_buf_t *body;
    held->answered = 1;
    if (held->timer.timer_set)
        ngx_del_timer(&held->timer);
    if (mishap_nginx_answer_make(r, held, &body) != NGX_OK)
        return NGX_ERROR;
    ngx_int_t result = next_header_filter(r);
    if (result == NGX_ERROR || result > NGX_OK || r->header_only)
        return result;
    ngx_chain_t out = { .buf = body, .next = NULL };
    return next_body_filter(r, &out);
}

/* End a request whose answer is sent while its upstream goes on, as nginx does it when the upstream
 * is done. A client that reads slowly is waited for. */
static void end_request(mishap_nginx_held *held)
{
    ngx_http_request_t *r = held->request;
    ngx_http_upstream_t *u = r->upstream;
    if (r->connection->buffered && held->flushes++ < FLUSHES) {
        if (next_body_filter(r, NULL) == NGX_ERROR) {
            ngx_http_finalize_request(r, NGX_ERROR);
        } else {
            ngx_add_timer(&held->timer, FLUSH_MS);
        }
        return;
    }
    if (u && u->cleanup && *u->cleanup)
        (*u->cleanup)(r);
    else
        ngx_http_finalize_request(r, NGX_ERROR);
}

/* The request may be gone afterwards. An internal redirect leaves a held response behind. */
static void on_timer(ngx_event_t *event)
{
    mishap_nginx_held *held = event->data;
    ngx_http_request_t *r = held->request;
    ngx_connection_t *c = r->connection;
    if (ngx_http_get_module_ctx(r, ngx_http_mishap_module) != held)
        return;
    if (held->answered) {
        end_request(held);
    } else {
        held->end = "slow";
        if (send_answer(held) == NGX_ERROR)
            ngx_http_finalize_request(r, NGX_ERROR);
        else
            end_request(held);
    }
    ngx_http_run_posted_requests(c);
}

/* -- the head ---------------------------------------------------------------------------------- */

/* A request that ends before it was answered: its client is gone, or nginx gave up. */
static void on_end(void *data)
{
    mishap_nginx_held *held = data;
    if (held->timer.timer_set)
        ngx_del_timer(&held->timer);
    if (!held->answered && ngx_http_get_module_ctx(held->request, ngx_http_mishap_module) == held)
        mishap_nginx_record_lost(held->request, held);
}

static mishap_nginx_held *hold(ngx_http_request_t *r)
{
    mishap_nginx_held *held = ngx_http_get_module_ctx(r, ngx_http_mishap_module);
    if (held) { /* the second head of one request: the first was never sent */
        held->length = 0;
        held->end = NULL;
        return held;
    }
    ngx_http_cleanup_t *cleanup = ngx_http_cleanup_add(r, 0);
    held = ngx_pcalloc(r->pool, sizeof *held);
    if (!held || !cleanup)
        return NULL;
    held->request = r;
    held->timer.handler = on_timer;
    held->timer.data = held;
    held->timer.log = r->connection->log;
    cleanup->handler = on_end;
    cleanup->data = held;
    ngx_http_set_ctx(r, held, ngx_http_mishap_module);
    return held;
}

static ngx_int_t answer_head(ngx_http_request_t *r)
{
    const mishap_nginx_held none = { .request = r };
    if (mishap_nginx_answer_make(r, &none, NULL) != NGX_OK)
        return NGX_ERROR;
    return next_header_filter(r);
}

/* True if a server has sent no HTTP, which nginx passes on without a head as if the client had
 * asked for HTTP/0.9. */
static bool is_without_head(const ngx_http_request_t *r)
{
    return r->http_version == NGX_HTTP_VERSION_9 && r->http_major;
}

/* True if what a server has sent is no final response: nginx takes an interim one for that, and
 * what follows it for the body. */
static bool is_no_response(const ngx_http_request_t *r)
{
    return r->upstream &&
           ((r->headers_out.status < NGX_HTTP_OK && !r->upstream->upgrade) || is_without_head(r));
}

/* It is answered as if the server had not been there. */
static void refuse_response(ngx_http_request_t *r)
{
    if (is_without_head(r))
        r->http_version = r->http_major * 1000 + r->http_minor;
    r->headers_out.status = NGX_HTTP_BAD_GATEWAY;
    r->headers_out.status_line.len = 0;
    r->upstream->keepalive = 0;
    r->keepalive = 0;
}

/* Subrequests are parts of another response, whose status counts. */
static ngx_int_t header_filter(ngx_http_request_t *r)
{
    bool none = r == r->main && is_no_response(r);
    if ((r->headers_out.status < NGX_HTTP_BAD_REQUEST && !none) || r != r->main)
        return next_header_filter(r);
    const mishap_nginx_conf *conf = ngx_http_get_module_loc_conf(r, ngx_http_mishap_module);
    if (none && conf->on)
        refuse_response(r);
    if (!conf->on || !is_covered(conf, r->headers_out.status))
        return next_header_filter(r);
    if (r->method == NGX_HTTP_HEAD || r->header_only)
        return answer_head(r);

    mishap_nginx_held *held = hold(r);
    if (!held)
        return NGX_ERROR;
    if (held->answered)
        return next_header_filter(r);
    r->filter_need_in_memory = 1;
    if (r->upstream && !held->timer.timer_set)
        ngx_add_timer(&held->timer, PATIENCE_MS);
    return NGX_OK;
}

/* -- the body ---------------------------------------------------------------------------------- */

static ngx_int_t make_room(mishap_nginx_held *held, size_t more)
{
    off_t told = held->request->headers_out.content_length_n;
    size_t room = held->room                              ? held->room
                  : told > 0 && told <= MISHAP_NGINX_MOST ? (size_t)told
                                                          : FIRST_ROOM;
    while (room < held->length + more && room < MISHAP_NGINX_MOST)
        room *= 2;
    room = ngx_min(room, MISHAP_NGINX_MOST);
    if (room <= held->room)
        return NGX_OK;
    u_char *body = ngx_palloc(held->request->pool, room);
    if (!body)
        return NGX_ERROR;
    if (held->length)
        ngx_memcpy(body, held->body, held->length);
    if (held->body)
        ngx_pfree(held->request->pool, held->body);
    held->body = body;
    held->room = room;
    return NGX_OK;
}

/* What has no place is left out. Without memory the body ends here. */
static void keep(mishap_nginx_held *held, const ngx_buf_t *b)
{
    size_t size = (size_t)(b->last - b->pos);
    if (make_room(held, size) != NGX_OK || size > held->room - held->length) {
        size = ngx_min(size, held->room - held->length);
        held->end = "long";
    }
    if (size)
        ngx_memcpy(held->body + held->length, b->pos, size);
    held->length += size;
}

/* All buffers are taken. True: the body is at its end, in one of the four ways. */
static ngx_int_t collect(mishap_nginx_held *held, ngx_chain_t *in)
{
    const ngx_http_upstream_t *u = held->request->upstream;
    ngx_int_t ended = 0;
    for (; in; in = in->next) {
        ngx_buf_t *b = in->buf;
        if (ngx_buf_special(b) && b->flush && !b->last_buf && u && !u->cleanup) {
            held->end = "cut";
            ended = 1;
        }
        if (ngx_buf_in_memory(b)) {
            if (!held->answered && !held->end && b->last != b->pos)
                keep(held, b);
            b->pos = b->last;
        }
        b->file_pos = b->file_last;
        ended = ended || b->last_buf;
    }
    return ended || held->end;
}

static ngx_int_t body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    mishap_nginx_held *held = ngx_http_get_module_ctx(r, ngx_http_mishap_module);
    if (!held)
        return next_body_filter(r, in);
    ngx_int_t ended = collect(held, in);
    if (held->answered)
        return r->connection->buffered ? next_body_filter(r, NULL) : NGX_OK;
    if (!ended)
        return NGX_OK;
    ngx_int_t result = send_answer(held);
    if (held->end && result != NGX_ERROR && r->upstream && r->upstream->cleanup)
        ngx_add_timer(&held->timer, 1);
    return result;
}

ngx_int_t mishap_nginx_filter_init(ngx_conf_t *cf)
{
    (void)cf;
    next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = header_filter;
    next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = body_filter;
    return NGX_OK;
}
