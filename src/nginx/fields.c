/*
 * Header fields of an error response: which ones stay.
 *
 * Fields that describe the old body go, since there is a new one. Fields with which frameworks tell
 * the inside of a program go, and so does every other field in whose value the leak guard finds
 * something. Fields that a client acts on stay as they are.
 */
#include "nginx/nginx.h"

#include "mishap/bind.h"

enum fate { KEPT, OF_BODY, PRIVATE, REPLACED, JUDGED };

static const struct {
    const char *name; /* with a hyphen at the end: all names that begin so */
    enum fate fate;
} rows[] = {
    { "Retry-After", KEPT },
    { "WWW-Authenticate", KEPT },
    { "Proxy-Authenticate", KEPT },
    { "Allow", KEPT },
    { "Set-Cookie", KEPT },
    { "Access-Control-", KEPT },
    { "Vary", KEPT },
    { "Cache-Control", KEPT },
    { "Content-Security-Policy", KEPT },
    { "Strict-Transport-Security", KEPT },
    { "Location", KEPT },
    { "Upgrade", KEPT },
    { "ETag", OF_BODY },
    { "Last-Modified", OF_BODY },
    { "Accept-Ranges", OF_BODY },
    { "Content-Encoding", OF_BODY },
    { "Content-Range", OF_BODY },
    { "Content-MD5", OF_BODY },
    { "Content-Digest", OF_BODY },
    { "Repr-Digest", OF_BODY },
    { "Digest", OF_BODY },
    { "Content-Disposition", OF_BODY },
    { "Content-Language", OF_BODY },
    { "Content-Location", OF_BODY },
    { "X-Request-Id", REPLACED }, /* by the id of the incident, if there is one */
    { "X-Powered-By", PRIVATE },
    { "X-Runtime", PRIVATE },
    { "X-AspNet-", PRIVATE },
    { "X-AspNetMvc-", PRIVATE },
    { "X-Debug-", PRIVATE },
    { "X-Debug", PRIVATE },
    { "X-Error", PRIVATE },
    { "X-Error-", PRIVATE },
    { "X-Exception", PRIVATE },
    { "X-Exception-", PRIVATE },
    { "X-Stack-", PRIVATE },
    { "Server-Timing", PRIVATE },
};

static ngx_int_t is_named(const ngx_str_t *key, const char *name)
{
    size_t length = ngx_strlen(name);
    ngx_int_t begins = length && name[length - 1] == '-';
    return (begins ? key->len > length : key->len == length) &&
           ngx_strncasecmp(key->data, (u_char *)(uintptr_t)name, length) == 0;
}

static enum fate fate_of(const ngx_table_elt_t *field)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_named(&field->key, rows[i].name))
            return rows[i].fate;
    return JUDGED;
}

static ngx_int_t leaks(const ngx_table_elt_t *field)
{
    mishap_buffer judged = { 0 };
    ngx_int_t found = mishap_guard_text(
        (mishap_text){ (const char *)field->value.data, field->value.len }, true, NULL, 0, &judged);
    found = found || judged.failed;
    mishap_buffer_release(&judged);
    return found;
}

static void put_line(mishap_buffer *b, const ngx_table_elt_t *field)
{
    mishap_buffer_add(b, (const char *)field->key.data, field->key.len);
    mishap_buffer_add(b, ": ", 2);
    mishap_buffer_add(b, (const char *)field->value.data, field->value.len);
    mishap_buffer_add(b, "\n", 1);
}

/* nginx keeps pointers to some fields of the list. */
static void forget_pointers(ngx_http_request_t *r)
{
    ngx_http_clear_accept_ranges(r);
    ngx_http_clear_last_modified(r);
    ngx_http_clear_etag(r);
    r->headers_out.content_encoding = NULL;
    r->headers_out.content_range = NULL;
    r->headers_out.trailers.part.nelts = 0;
    r->headers_out.trailers.part.next = NULL;
    r->headers_out.trailers.last = &r->headers_out.trailers.part;
}

void mishap_nginx_fields_remove(ngx_http_request_t *r, mishap_buffer *removed)
{
    for (ngx_list_part_t *part = &r->headers_out.headers.part; part; part = part->next) {
        ngx_table_elt_t *fields = part->elts;
        for (ngx_uint_t i = 0; i < part->nelts; i++) {
            enum fate fate = fields[i].hash ? fate_of(&fields[i]) : KEPT;
            if (fate == JUDGED)
                fate = leaks(&fields[i]) ? PRIVATE : KEPT;
            if (fate == REPLACED)
                fate = removed ? PRIVATE : KEPT;
            if (fate == KEPT)
                continue;
            if (fate == PRIVATE && removed)
                put_line(removed, &fields[i]);
            fields[i].hash = 0;
        }
    }
    forget_pointers(r);
}

ngx_str_t mishap_nginx_field(ngx_http_request_t *r, const ngx_list_t *list, const char *name)
{
    ngx_str_t found = ngx_null_string;
    for (const ngx_list_part_t *part = &list->part; part; part = part->next) {
        const ngx_table_elt_t *fields = part->elts;
        for (ngx_uint_t i = 0; i < part->nelts; i++) {
            if (!fields[i].hash || !is_named(&fields[i].key, name))
                continue;
            if (!found.data) {
                found = fields[i].value;
                continue;
            }
            size_t length = found.len + 2 + fields[i].value.len;
            u_char *joined = ngx_pnalloc(r->pool, length);
            if (!joined)
                return found;
            ngx_sprintf(joined, "%V, %V", &found, &fields[i].value);
            found = (ngx_str_t){ length, joined };
        }
    }
    return found;
}

ngx_int_t mishap_nginx_field_add(ngx_http_request_t *r, const char *name, mishap_text value)
{
    u_char *copy = ngx_pnalloc(r->pool, value.length);
    ngx_table_elt_t *field = copy ? ngx_list_push(&r->headers_out.headers) : NULL;
    if (!field)
        return NGX_ERROR;
    ngx_memzero(field, sizeof *field);
    ngx_memcpy(copy, value.data, value.length);
    field->hash = 1;
    field->key = (ngx_str_t){ ngx_strlen(name), (u_char *)(uintptr_t)name };
    field->value = (ngx_str_t){ value.length, copy };
    return NGX_OK;
}
