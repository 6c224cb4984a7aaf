/* Sending one request of an audit, and what is true of any response to it. */
#include <stdarg.h>
#include <stdio.h>

#include "audit/http/run.h"

enum { REQUEST_MS = 10000, MOST_BODY = 1 << 20, MOST_HEAD = 64 << 10, MOST_SHOWN = 1000 };

/* -- the request ------------------------------------------------------------------------------- */

/* The request as it is sent, for a dry run and for findings. Values of header fields that the user
 * gave are hidden by the audit. */
static void put_request(mishap_buffer *out, const http_run *run, const http_probe *probe)
{
    mishap_buffer_put_text(out, mishap_text_of(probe->method));
    MISHAP_PUT(out, " ");
    mishap_buffer_put_text(out, mishap_text_of(probe->target));
    MISHAP_PUT(out, " HTTP/1.1\r\nHost: ");
    mishap_buffer_put_text(out, mishap_text_of(run->authority));
    MISHAP_PUT(out, "\r\nAccept: application/json\r\n");
    for (size_t i = 0; i < run->target->header_count; i++) {
        mishap_buffer_put_text(out, mishap_text_of(run->target->headers[i].name));
        MISHAP_PUT(out, ": ");
        mishap_buffer_put_text(out, mishap_text_of(run->target->headers[i].value));
        MISHAP_PUT(out, "\r\n");
    }
    if (probe->media_type) {
        MISHAP_PUT(out, "Content-Type: ");
        mishap_buffer_put_text(out, mishap_text_of(probe->media_type));
        MISHAP_PUT(out, "\r\n");
    }
    if (probe->body.data) {
        MISHAP_PUT(out, "Content-Length: ");
        mishap_buffer_put_uint(out, probe->body.length);
        MISHAP_PUT(out, "\r\n\r\n");
        mishap_buffer_put(out, probe->body.data,
                          probe->body.length < MOST_SHOWN ? probe->body.length : MOST_SHOWN);
    } else {
        MISHAP_PUT(out, "\r\n");
    }
}

static mishap *send_probe(http_run *run, const http_probe *probe)
{
    mishap_client_header headers[24] = { { "Accept", "application/json" } };
    size_t count = 1;
    for (size_t i = 0; i < run->target->header_count && count < 22; i++)
        headers[count++] = run->target->headers[i];
    if (probe->media_type)
        headers[count++] = (mishap_client_header){ "Content-Type", probe->media_type };
    int limit_ms = run->target->request_ms > 0 ? run->target->request_ms : REQUEST_MS;
    return mishap_client_send(run->client,
                              &(mishap_client_request){ .url = run->target->url,
                                                        .method = probe->method,
                                                        .target = probe->target,
                                                        .headers = headers,
                                                        .header_count = count,
                                                        .body = probe->body,
                                                        .decode = true,
                                                        .connect_ms = limit_ms,
                                                        .total_ms = limit_ms,
                                                        .most_head = MOST_HEAD,
                                                        .most_body = MOST_BODY },
                              &run->response);
}

/* -- findings ---------------------------------------------------------------------------------- */

void mishap_audit_http_report(http_run *run, int check, mishap_audit_outcome outcome,
                              const http_probe *probe, const char *format, ...)
{
    char detail[600], storage[2048];
    mishap_buffer sent;
    va_list values;
    va_start(values, format);
    vsnprintf(detail, sizeof detail, format, values);
    va_end(values);
    mishap_buffer_init(&sent, storage, sizeof storage);
    if (outcome != MISHAP_AUDIT_PASSED)
        put_request(&sent, run, probe);
    mishap_text body = mishap_buffer_text(&run->response.body);
    mishap_audit_report(run->audit, &mishap_audit_http_checks[check], outcome,
                        &(mishap_audit_seen){ .place = run->place,
                                              .key = probe->name,
                                              .detail = mishap_text_of(detail),
                                              .sent = mishap_buffer_text(&sent),
                                              .got = body,
                                              .line = run->target->openapi && probe->operation
                                                          ? probe->operation->line
                                                          : 0 });
    mishap_buffer_release(&sent);
}

/* -- the response ------------------------------------------------------------------------------ */

/* A failure before any connection was made: there is nothing to audit. */
static bool is_unreachable(const mishap *failure)
{
    return mishap_is(failure, CONNECTION_REFUSED) || mishap_is(failure, HOST_NOT_FOUND) ||
           mishap_is(failure, CONNECTION_TIMEOUT) || mishap_is(failure, UNAVAILABLE) ||
           mishap_is(failure, INVALID_ARGUMENT) || failure == mishap_out_of_memory();
}

/* What the client says of a failure, without the address: that has a port. */
static const char *what_failed(const mishap *failure)
{
    return mishap_is(failure, GATEWAY_TIMEOUT)      ? "No complete response arrived in time."
           : mishap_is(failure, CONNECTION_REFUSED) ? "The server accepts no connection any more."
           : mishap_is(failure, CONNECTION_TIMEOUT) ? "The server accepts no connection in time."
                                                    : "What arrived is no complete HTTP response "
                                                      "within the limits.";
}

/* A successful response may be a stream or a large file: that it does not end proves nothing. */
static void note_failure(http_run *run, const http_probe *probe, mishap *failure)
{
    int status = run->response.status;
    if (!run->reached && is_unreachable(failure)) {
        run->failure = failure;
        run->ended = true;
        return;
    }
    run->reached = true;
    if (mishap_is(failure, CANCELLED) || failure == mishap_out_of_memory()) {
        run->failure = failure;
        run->ended = true;
        return;
    }
    if (probe->large) { /* a server may close the connection before it has read all of it */
        mishap_free(failure);
        return;
    }
    bool successful = status >= 200 && status < 300;
    mishap_audit_http_report(run, HTTP_ANSWERED,
                             successful ? MISHAP_AUDIT_UNDECIDED : MISHAP_AUDIT_FAILED, probe, "%s",
                             what_failed(failure));
    mishap_free(failure);
    if (++run->silent >= HTTP_MOST_SILENT) {
        mishap_audit_remark(run->audit,
                            "%d requests in a row got no complete response: no further request "
                            "was sent.",
                            HTTP_MOST_SILENT);
        run->ended = true;
    }
}

/* Statuses that every operation may have without a word in its documentation: they come from the
 * server below it, or from a proxy. */
static bool is_expected(int status)
{
    return status < 200 || (status >= 300 && status < 400) || status == 405 || status == 406 ||
           status == 408 || status == 411 || status == 413 || status == 414 || status == 417 ||
           status == 421 || status == 426 || status == 429 || status == 431 || status >= 500;
}

static void judge_documented(http_run *run, const http_probe *probe)
{
    int status = run->response.status;
    if (!probe->operation || probe->syntax || !probe->operation->responses || is_expected(status))
        return;
    if (mishap_openapi_documents(probe->operation, status))
        mishap_audit_http_report(run, HTTP_DOCUMENTED, MISHAP_AUDIT_PASSED, probe, "documented");
    else
        mishap_audit_http_report(run, HTTP_DOCUMENTED, MISHAP_AUDIT_FAILED, probe,
                                 "The status %d (%s) is not documented for this operation.", status,
                                 probe->name);
}

static bool is_other_host(const http_run *run, mishap_text location)
{
    const char *after = NULL, *end = location.data ? location.data + location.length : NULL;
    if (location.length > 2 && memcmp(location.data, "//", 2) == 0)
        after = location.data + 2;
    for (size_t i = 0; !after && i + 3 < location.length && i < 10; i++)
        if (memcmp(location.data + i, "://", 3) == 0)
            after = location.data + i + 3;
    size_t length = strlen(run->authority);
    return after &&
           !((size_t)(end - after) >= length && memcmp(after, run->authority, length) == 0 &&
             (after + length == end || strchr("/?#", after[length])));
}

static void judge_redirect(http_run *run, const http_probe *probe)
{
    mishap_text location = mishap_client_field(&run->response, "Location");
    if (!is_other_host(run, location))
        mishap_audit_http_report(run, HTTP_REDIRECT, MISHAP_AUDIT_PASSED, probe, "same host");
    else
        mishap_audit_http_report(run, HTTP_REDIRECT, MISHAP_AUDIT_ADVICE, probe,
                                 "The request is redirected to another host: %s.",
                                 mishap_audit_quote(run->audit, location, 200));
}

static bool is_write(const char *method)
{
    return strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 &&
           strcmp(method, "OPTIONS") != 0;
}

int mishap_audit_http_send(http_run *run, const http_probe *probe)
{
    char storage[2048];
    mishap_buffer request;
    if (run->ended)
        return 0;
    snprintf(run->place, sizeof run->place, "%s %s", probe->method, probe->path);
    mishap_buffer_init(&request, storage, sizeof storage);
    put_request(&request, run, probe);
    bool next = mishap_audit_next(run->audit, run->place, mishap_buffer_text(&request));
    mishap_buffer_release(&request);
    if (!next) {
        run->ended = mishap_audit_stopped(run->audit);
        return 0;
    }
    mishap *failure = send_probe(run, probe);
    if (failure) {
        note_failure(run, probe, failure);
        return 0;
    }
    int status = run->response.status;
    run->reached = true;
    run->silent = 0;
    mishap_audit_http_report(run, HTTP_ANSWERED, MISHAP_AUDIT_PASSED, probe, "answered");
    if (is_write(probe->method) && status >= 200 && status < 300)
        mishap_audit_created(run->audit, run->place, status);
    judge_documented(run, probe);
    if (status >= 300 && status < 400)
        judge_redirect(run, probe);
    if (status >= 400 && strcmp(probe->method, "HEAD") != 0)
        mishap_audit_http_judge_error(run, probe);
    return status;
}
