/* A reply as bytes: status line, fields, body. */
#include <stdio.h>

#include "server/state.h"
#include "server/ending.h"

void mishap_http_reply_field(mishap_http_reply *reply, const char *name, mishap_text value)
{
    mishap_buffer *b = &reply->fields;
    mishap_buffer_put_text(b, mishap_text_of(name));
    MISHAP_PUT(b, ": ");
    mishap_buffer_put_text(b, value);
    MISHAP_PUT(b, "\r\n");
}

const char mishap_http_ends_field[] = "Mishap-Session-Ends";

void mishap_http_reply_ends(mishap_http_reply *reply, int64_t seconds)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)seconds);
    mishap_http_reply_field(reply, mishap_http_ends_field, (mishap_text){ digits, (size_t)length });
}

void mishap_http_reply_reset(mishap_http_reply *reply)
{
    mishap_buffer_reset_within(&reply->body, 65536);
    mishap_buffer_reset(&reply->fields);
    reply->status = 0;
    reply->media_type = NULL;
    reply->content = (mishap_text){ NULL, 0 };
    reply->code = NULL;
    reply->vary_accept = reply->vary_origin = reply->vary_encoding = false;
    reply->close = false;
}

void mishap_http_reply_release(mishap_http_reply *reply)
{
    mishap_buffer_release(&reply->body);
    mishap_buffer_release(&reply->fields);
    mishap_buffer_release(&reply->type);
}

/* A 204 and a 304 have no body, and no Content-Length (RFC 9110, 8.6: of a 304 it would be that of
 * the body which the client has already). */
static bool has_body(const mishap_http_reply *reply)
{
    return reply->status != 204 && reply->status != 304;
}

/* -- bytes ------------------------------------------------------------------------------------- */

/* The reason phrases of the most frequent statuses. Seed 003 uses the name that 422 had before RFC
 * 9110. */
static const struct {
    int status;
    mishap_text line;
} lines[] = {
    { 422, MISHAP_TEXT("HTTP/1.1 422 Unprocessable Entity\r\n") },
    { 200, MISHAP_TEXT("HTTP/1.1 200 OK\r\n") },
    { 201, MISHAP_TEXT("HTTP/1.1 201 Created\r\n") },
    { 202, MISHAP_TEXT("HTTP/1.1 202 Accepted\r\n") },
    { 203, MISHAP_TEXT("HTTP/1.1 203 Non-Authoritative Information\r\n") },
    { 204, MISHAP_TEXT("HTTP/1.1 204 No Content\r\n") },
    { 206, MISHAP_TEXT("HTTP/1.1 206 Partial Content\r\n") },
    { 304, MISHAP_TEXT("HTTP/1.1 304 Not Modified\r\n") },
    { 404, MISHAP_TEXT("HTTP/1.1 404 Not Found\r\n") },
    { 400, MISHAP_TEXT("HTTP/1.1 400 Bad Request\r\n") },
};

static void put_status_line(mishap_buffer *out, int status)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].status == status) {
            mishap_buffer_put_text(out, lines[i].line);
            return;
        }
    }
    const char *phrase = mishap_http_phrase(status);
    MISHAP_PUT(out, "HTTP/1.1 ");
    mishap_buffer_put_uint(out, (uint64_t)status);
    MISHAP_PUT(out, " ");
    mishap_buffer_put_text(out, mishap_text_of(phrase ? phrase : ""));
    MISHAP_PUT(out, "\r\n");
}

static void put_media_type(mishap_buffer *out, const mishap_http_reply *reply)
{
    if (!reply->media_type || !has_body(reply))
        return;
    MISHAP_PUT(out, "Content-Type: ");
    mishap_buffer_put_text(out, mishap_text_of(reply->media_type));
    MISHAP_PUT(out, "\r\n");
}

static void put_vary(mishap_buffer *out, const mishap_http_reply *reply)
{
    if (!reply->vary_encoding && !reply->vary_origin) { /* the usual case */
        if (reply->vary_accept)
            MISHAP_PUT(out, "Vary: Accept\r\n");
        return;
    }
    if (reply->vary_encoding && reply->vary_accept)
        MISHAP_PUT(out, "Vary: Accept, Accept-Encoding");
    else if (reply->vary_encoding)
        MISHAP_PUT(out, "Vary: Accept-Encoding");
    else if (reply->vary_accept)
        MISHAP_PUT(out, "Vary: Accept");
    if (reply->vary_origin && (reply->vary_accept || reply->vary_encoding))
        MISHAP_PUT(out, ", Origin");
    else if (reply->vary_origin)
        MISHAP_PUT(out, "Vary: Origin");
    MISHAP_PUT(out, "\r\n");
}

/* The fields of every head, between the status line and the empty line. */
static void put_fields(mishap_buffer *out, const mishap_http_server *server,
                       const mishap_http_request *request, const mishap_http_reply *reply)
{
    MISHAP_PUT(out, "Date: ");
    mishap_buffer_put(out, server->date, server->date_length);
    MISHAP_PUT(out, "\r\nX-Request-Id: ");
    mishap_buffer_put(out, request->id, MISHAP_ID_LENGTH);
    MISHAP_PUT(out, "\r\n");
    if (reply->fields.length && !reply->fields.failed)
        mishap_buffer_put_text(out, mishap_buffer_text(&reply->fields));
    put_vary(out, reply);
    if (request->for_operator) /* no copy of it stays in a browser or a proxy */
        MISHAP_PUT(out, "Cache-Control: no-store\r\n");
    if (reply->close)
        MISHAP_PUT(out, "Connection: close\r\n");
    else if (!request->persists_by_default)
        MISHAP_PUT(out, "Connection: keep-alive\r\n");
    MISHAP_PUT(out, "\r\n");
}

void mishap_http_put_head(mishap_buffer *out, const mishap_http_server *server,
                          const mishap_http_request *request, const mishap_http_reply *reply,
                          bool chunked)
{
    put_status_line(out, reply->status);
    put_media_type(out, reply);
    if (chunked && has_body(reply))
        MISHAP_PUT(out, "Transfer-Encoding: chunked\r\n");
    put_fields(out, server, request, reply);
}

void mishap_http_put_reply(mishap_buffer *out, const mishap_http_server *server,
                           const mishap_http_request *request, const mishap_http_reply *reply)
{
    size_t start = out->length;
    put_status_line(out, reply->status);
    put_media_type(out, reply);
    if (has_body(reply)) {
        MISHAP_PUT(out, "Content-Length: ");
        mishap_buffer_put_uint(out, reply->content.length);
        MISHAP_PUT(out, "\r\n");
    }
    put_fields(out, server, request, reply);
    if (request->method != MISHAP_HTTP_HEAD && has_body(reply))
        mishap_buffer_put_text(out, reply->content);
    if (out->failed) {
        /* Half a reply is worse than none: the replies before it are still complete. */
        out->length = start;
    }
}
