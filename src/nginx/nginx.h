/*
 * src/nginx: ngx_http_mishap_module, a filter for nginx. Error responses that pass through nginx
 * leave in a dialect, and the operator keeps the original in the log of incidents.
 *
 *     module.c   directives, and the module as nginx loads it
 *     filter.c   which responses are held back; their bodies are collected, with limits
 *     answer.c   the held response is replaced: its head, its body, and the line for the log
 *     fields.c   header fields of the response: which ones stay
 *     tell.c     from an error response to an answer and a record, without nginx
 *     inflate.c  … and bodies that are compressed
 *
 * nginx runs one thread a process, and filters must not wait. The body of an error is read as it
 * comes, and the only file is the log, which nginx opens and reopens. Success passes untouched:
 * the filter looks at its status and at nothing else.
 */
#ifndef MISHAP_NGINX_H
#define MISHAP_NGINX_H

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "nginx/tell.h"

/* Statuses from the first to the last. */
typedef struct mishap_nginx_range {
    ngx_uint_t first, last;
} mishap_nginx_range;

/* The directives of a location. */
typedef struct mishap_nginx_conf {
    ngx_flag_t on;
    const mishap_dialect *dialect;
    ngx_array_t *statuses;      /* of mishap_nginx_range; NULL: all errors */
    ngx_open_file_t *incidents; /* NULL: nothing is recorded */
    ngx_flag_t has_incidents;   /* the directive was given here, perhaps as `off` */
} mishap_nginx_conf;

/* A response that is held back. */
typedef struct mishap_nginx_held {
    ngx_http_request_t *request;
    u_char *body; /* in the pool of the request */
    size_t length, room;
    const char *end;   /* why the body is not whole; NULL: it is, or is still being read */
    ngx_event_t timer; /* the deadline of the body; then the end of the request */
    ngx_uint_t flushes;
    unsigned answered : 1;
} mishap_nginx_held;

extern ngx_module_t ngx_http_mishap_module;

/* Put the two filters into the lists of nginx. */
ngx_int_t mishap_nginx_filter_init(ngx_conf_t *cf);

/* Replace the head of the response, write the record, and make the body in the pool of the request.
 * For HEAD `body` is NULL: the head has no Content-Length then. NGX_ERROR: there is no memory. */
ngx_int_t mishap_nginx_answer_make(ngx_http_request_t *r, const mishap_nginx_held *held,
                                   ngx_buf_t **body);

/* Write the record of a response for which there will be no answer. */
void mishap_nginx_record_lost(ngx_http_request_t *r, const mishap_nginx_held *held);

/* The value of a field of a list; several of one name are joined. Empty: none, or no memory. */
ngx_str_t mishap_nginx_field(ngx_http_request_t *r, const ngx_list_t *list, const char *name);

/* Remove what belongs to the old body and what tells the inside of the program. `removed` gets the
 * latter, a line each, for the record; NULL: there is no record, and X-Request-Id stays. */
void mishap_nginx_fields_remove(ngx_http_request_t *r, mishap_buffer *removed);

/* Add a field. The value is copied. */
ngx_int_t mishap_nginx_field_add(ngx_http_request_t *r, const char *name, mishap_text value);

#endif
