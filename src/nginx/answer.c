/*
 * The answer to a request whose error response was held back: its head, its body, and the line for
 * the log of incidents. The status of the response stays.
 */
#include "nginx/nginx.h"

enum { STATUS_DIGITS = 3 };

static mishap_text text_of(ngx_str_t s)
{
    return (mishap_text){ (const char *)s.data, s.data ? s.len : 0 };
}

/* A copy that ends with a NUL. NULL: no memory. */
static const char *terminated(ngx_http_request_t *r, ngx_str_t s)
{
    u_char *copy = ngx_pnalloc(r->pool, s.len + 1);
    if (copy && s.len)
        ngx_memcpy(copy, s.data, s.len);
    if (copy)
        copy[s.len] = '\0';
    return (const char *)copy;
}

static int64_t duration_ns(const ngx_http_request_t *r)
{
    const volatile ngx_time_t *now = ngx_cached_time;
    int64_t ms = (int64_t)(now->sec - r->start_sec) * 1000 +
                 ((int64_t)now->msec - (int64_t)r->start_msec);
    return ms > 0 ? ms * 1000000 : 0;
}

static mishap_text request_field(ngx_http_request_t *r, const char *name)
{
    return text_of(mishap_nginx_field(r, &r->headers_in.headers, name));
}

/* What the record needs beside it. */
static void describe_request(ngx_http_request_t *r, mishap_nginx_error *error)
{
    const ngx_http_core_loc_conf_t *core = ngx_http_get_module_loc_conf(r, ngx_http_core_module);
    error->method = text_of(r->method_name);
    error->agent = request_field(r, "User-Agent");
    error->host = request_field(r, "Host");
    error->traceparent = request_field(r, "traceparent");
    error->caller = terminated(r, r->connection->addr_text);
    error->location = core->name.len ? terminated(r, core->name) : NULL;
    error->duration_ns = duration_ns(r);
}

static mishap_nginx_error describe(ngx_http_request_t *r, const mishap_nginx_held *held,
                                   ngx_int_t recorded)
{
    const ngx_http_headers_out_t *out = &r->headers_out;
    mishap_nginx_error error = {
        .status = (int)out->status,
        .type = text_of(out->content_type),
        .retry_after = text_of(mishap_nginx_field(r, &out->headers, "Retry-After")),
        .body = { (const char *)held->body, held->length },
        .end = held->end,
        .path = text_of(r->uri),
        .query = text_of(r->args),
        .accept = request_field(r, "Accept"),
    };
    if (out->content_encoding)
        error.encoding = text_of(out->content_encoding->value);
    if (recorded)
        describe_request(r, &error);
    return error;
}

/* One write, so that lines of several processes stay whole. */
static void write_record(ngx_http_request_t *r, const mishap_nginx_conf *conf, mishap_text record)
{
    if (!conf->incidents || !record.length)
        return;
    ssize_t written = ngx_write_fd(conf->incidents->fd, (void *)(uintptr_t)record.data,
                                   record.length);
    if (written != (ssize_t)record.length)
        ngx_log_error(NGX_LOG_ERR, r->connection->log, written < 0 ? ngx_errno : 0,
                      "mishap: an incident could not be written to \"%V\"", &conf->incidents->name);
}

void mishap_nginx_record_lost(ngx_http_request_t *r, const mishap_nginx_held *held)
{
    const mishap_nginx_conf *conf = ngx_http_get_module_loc_conf(r, ngx_http_mishap_module);
    mishap_nginx_answer answer;
    if (!conf->incidents)
        return;
    mishap_nginx_error error = describe(r, held, 1);
    error.end = "lost";
    mishap_nginx_tell(&error, conf->dialect, true, &answer);
    write_record(r, conf, answer.record);
    mishap_nginx_answer_release(&answer);
}

/* -- the head ---------------------------------------------------------------------------------- */

/* The reason phrase of the upstream may say anything: nginx has its own for most statuses, and the
 * catalog for the others. */
static ngx_int_t set_status_line(ngx_http_request_t *r)
{
    const char *phrase = mishap_http_phrase((int)r->headers_out.status);
    ngx_str_null(&r->headers_out.status_line);
    if (!phrase)
        return NGX_OK;
    size_t length = ngx_strlen(phrase);
    u_char *line = ngx_pnalloc(r->pool, STATUS_DIGITS + 1 + length);
    if (!line)
        return NGX_ERROR;
    ngx_uint_t status = r->headers_out.status;
    line[0] = (u_char)('0' + status / 100 % 10);
    line[1] = (u_char)('0' + status / 10 % 10);
    line[2] = (u_char)('0' + status % 10);
    line[STATUS_DIGITS] = ' ';
    ngx_memcpy(line + STATUS_DIGITS + 1, phrase, length);
    r->headers_out.status_line = (ngx_str_t){ STATUS_DIGITS + 1 + length, line };
    return NGX_OK;
}

static void set_type(ngx_http_request_t *r, const char *media_type)
{
    ngx_str_t type = { ngx_strlen(media_type), (u_char *)(uintptr_t)media_type };
    r->headers_out.content_type = type;
    r->headers_out.content_type_len = type.len;
    r->headers_out.content_type_lowcase = NULL;
    r->headers_out.content_type_hash = 0;
    ngx_str_null(&r->headers_out.charset);
}

static ngx_int_t add_retry_after(ngx_http_request_t *r, int64_t ms)
{
    u_char digits[NGX_INT64_LEN];
    if (ms < 0 || mishap_nginx_field(r, &r->headers_out.headers, "Retry-After").len)
        return NGX_OK;
    const u_char *end = ngx_snprintf(digits, sizeof digits, "%L", (ms + 999) / 1000);
    return mishap_nginx_field_add(r, "Retry-After",
                                  (mishap_text){ (const char *)digits, (size_t)(end - digits) });
}

static ngx_int_t set_head(ngx_http_request_t *r, const mishap_nginx_answer *answer, ngx_int_t body)
{
    ngx_http_clear_content_length(r);
    if (body)
        r->headers_out.content_length_n = (off_t)answer->body.length;
    set_type(r, answer->media_type);
    if (set_status_line(r) != NGX_OK || add_retry_after(r, answer->retry_after_ms) != NGX_OK)
        return NGX_ERROR;
    if (mishap_nginx_field_add(r, "Vary", (mishap_text)MISHAP_TEXT("Accept")) != NGX_OK)
        return NGX_ERROR;
    if (!answer->record.length)
        return NGX_OK;
    return mishap_nginx_field_add(r, "X-Request-Id", (mishap_text){ answer->id, MISHAP_ID_LENGTH });
}

/* -- the body ---------------------------------------------------------------------------------- */

static ngx_buf_t *make_body(ngx_http_request_t *r, mishap_text text)
{
    ngx_buf_t *b = ngx_create_temp_buf(r->pool, text.length);
    if (!b)
        return NULL;
    b->last = ngx_cpymem(b->pos, text.data, text.length);
    b->last_buf = 1;
    b->last_in_chain = 1;
    return b;
}

ngx_int_t mishap_nginx_answer_make(ngx_http_request_t *r, const mishap_nginx_held *held,
                                   ngx_buf_t **body)
{
    const mishap_nginx_conf *conf = ngx_http_get_module_loc_conf(r, ngx_http_mishap_module);
    mishap_nginx_error error = describe(r, held, conf->incidents != NULL);
    mishap_nginx_answer answer;
    mishap_buffer removed = { 0 };
    mishap_nginx_fields_remove(r, conf->incidents ? &removed : NULL);
    error.removed = mishap_buffer_text(&removed);
    mishap_nginx_tell(&error, conf->dialect, conf->incidents != NULL, &answer);
    write_record(r, conf, answer.record);
    ngx_int_t result = set_head(r, &answer, body != NULL);
    if (body && result == NGX_OK) {
        *body = make_body(r, answer.body);
        result = *body ? NGX_OK : NGX_ERROR;
    }
    mishap_nginx_answer_release(&answer);
    mishap_buffer_release(&removed);
    return result;
}
