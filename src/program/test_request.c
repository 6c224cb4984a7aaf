/* Requests of a test to its server, and their responses. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mishap/dialect.h"
#include "program/test_server.h"

enum { PATIENCE_MS = 120000 };

/* -- bytes ------------------------------------------------------------------------------------- */

static void connect_to(mishap_test_server *server)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)server->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    server->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->socket < 0 ||
        connect(server->socket, (const struct sockaddr *)&address, sizeof address) != 0)
        mishap_test_give_up("The server of the test cannot be reached.");
}

/* A server may answer before it has read a body, and close: that is no failure of sending. */
static void send_all(const mishap_test_server *server, mishap_text text)
{
    while (text.length) {
        ssize_t sent = send(server->socket, text.data, text.length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return;
        text.data += sent;
        text.length -= (size_t)sent;
    }
}

/* False: the connection is closed. */
static bool receive_some(mishap_test_server *server)
{
    char bytes[16384];
    struct pollfd ready = { .fd = server->socket, .events = POLLIN };
    ssize_t got;
    do {
        if (poll(&ready, 1, PATIENCE_MS) == 0)
            mishap_test_give_up("The server of the test does not answer.");
        got = recv(server->socket, bytes, sizeof bytes, 0);
    } while (got < 0 && errno == EINTR);
    if (got > 0)
        mishap_buffer_put(&server->raw, bytes, (size_t)got);
    if (server->raw.failed)
        mishap_test_give_up("Not enough memory for a response.");
    return got > 0;
}

static void drop_raw(mishap_test_server *server, size_t count)
{
    mishap_buffer *raw = &server->raw;
    memmove(raw->data, raw->data + count, raw->length - count);
    raw->length -= count;
}

/* -- the head ---------------------------------------------------------------------------------- */

/* The value of a header in a head whose lines end with NUL; NULL: there is none. */
static const char *find_header(const mishap_buffer *head, const char *name)
{
    size_t length = strlen(name);
    for (size_t at = 0; at < head->length; at += strlen(head->data + at) + 1) {
        const char *line = head->data + at;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1 + strspn(line + length + 1, " \t");
    }
    return NULL;
}

const char *mishap_test_header(const mishap_test *test, const char *name)
{
    return test->status ? find_header(&test->server->head, name) : NULL;
}

static _Noreturn void give_up_response(void)
{
    mishap_test_give_up("The server of the test has not sent a whole response.");
}

static int read_head(mishap_test_server *server)
{
    char *end;
    while (!server->raw.length ||
           !(end = memmem(server->raw.data, server->raw.length, "\r\n\r\n", 4)))
        if (!receive_some(server))
            give_up_response();
    size_t length = (size_t)(end - server->raw.data) + 2;
    for (size_t i = 0; i < length; i++)
        if (server->raw.data[i] != '\r')
            mishap_buffer_put_char(&server->head,
                                   server->raw.data[i] == '\n' ? '\0' : server->raw.data[i]);
    drop_raw(server, length + 2);
    if (server->head.failed)
        mishap_test_give_up("Not enough memory for a response.");
    return server->head.length > 12 ? (int)strtol(server->head.data + 9, NULL, 10) : 0;
}

static void expect_body(mishap_test_server *server, bool empty)
{
    const char *size = find_header(&server->head, "Content-Length");
    const char *coding = find_header(&server->head, "Transfer-Encoding");
    const char *type = find_header(&server->head, "Content-Type");
    server->events = type && strncmp(type, "text/event-stream", 17) == 0;
    server->left = size ? (size_t)strtoull(size, NULL, 10) : 0;
    if (empty)
        server->part = MISHAP_TEST_ENDED;
    else if (coding)
        server->part = MISHAP_TEST_SIZE;
    else
        server->part = size ? MISHAP_TEST_BYTES : MISHAP_TEST_ALL;
}

/* -- the body ---------------------------------------------------------------------------------- */

/* Move bytes of the body from those that were received. */
static void take_bytes(mishap_test_server *server, mishap_test_part then)
{
    size_t count = server->raw.length < server->left ? server->raw.length : server->left;
    mishap_buffer_put(&server->body, server->raw.data, count);
    if (server->body.failed)
        mishap_test_give_up("Not enough memory for a response.");
    drop_raw(server, count);
    server->left -= count;
    if (server->left == 0)
        server->part = then;
}

/* A line of chunked coding. False: it is not all there. */
static bool take_line(mishap_test_server *server, bool size)
{
    char *end = memchr(server->raw.data, '\n', server->raw.length);
    if (!end)
        return false;
    if (size) {
        server->left = (size_t)strtoull(server->raw.data, NULL, 16);
        server->part = server->left ? MISHAP_TEST_CHUNK : MISHAP_TEST_ENDED;
    } else {
        server->part = MISHAP_TEST_SIZE;
    }
    drop_raw(server, (size_t)(end - server->raw.data) + 1);
    return true;
}

/* One step with what was received. False: more is needed. */
static bool take_part(mishap_test_server *server)
{
    if (server->part == MISHAP_TEST_ENDED)
        return false;
    if (server->part == MISHAP_TEST_BYTES && server->left == 0) {
        server->part = MISHAP_TEST_ENDED;
        return true;
    }
    if (server->raw.length == 0)
        return false;
    switch (server->part) {
    case MISHAP_TEST_ALL:
        server->left = server->raw.length;
        take_bytes(server, MISHAP_TEST_ALL);
        return true;
    case MISHAP_TEST_SIZE:
        return take_line(server, true);
    case MISHAP_TEST_CHUNK_END:
        return take_line(server, false);
    case MISHAP_TEST_CHUNK:
        take_bytes(server, MISHAP_TEST_CHUNK_END);
        return true;
    case MISHAP_TEST_BYTES:
        take_bytes(server, MISHAP_TEST_ENDED);
        return true;
    case MISHAP_TEST_ENDED:
        break;
    }
    return false;
}

/* Receive more of the body. False: it has ended, or was cut off. */
static bool read_more_body(mishap_test_server *server)
{
    if (server->part == MISHAP_TEST_ENDED || !receive_some(server)) {
        server->part = MISHAP_TEST_ENDED;
        return false;
    }
    while (take_part(server))
        ;
    return true;
}

static void read_body(mishap_test_server *server)
{
    while (take_part(server))
        ;
    while (read_more_body(server))
        ;
}

/* -- streams ----------------------------------------------------------------------------------- */

static const char *read_piece(mishap_test *test, size_t *length)
{
    mishap_test_server *server = test->server;
    mishap_buffer *body = &server->body;
    const char *end = NULL;
    mishap_buffer_reset(&test->piece);
    while (take_part(server))
        ;
    while (server->events ? !body->length || !(end = memmem(body->data, body->length, "\n\n", 2))
                          : !body->length)
        if (!read_more_body(server))
            break;
    if (!body->length)
        return NULL;
    *length = end ? (size_t)(end - body->data) : body->length;
    size_t taken = *length + (end ? 2 : 0);
    mishap_buffer_put(&test->piece, body->data, *length);
    mishap_buffer_put_char(&test->piece, '\0');
    if (test->piece.failed)
        mishap_test_give_up("Not enough memory for a piece of a stream.");
    memmove(body->data, body->data + taken, body->length - taken);
    body->length -= taken;
    return test->piece.data;
}

/* -- requests ---------------------------------------------------------------------------------- */

static void put_header(mishap_buffer *out, const char *name, const char *value)
{
    mishap_buffer_put_text(out, mishap_text_of(name));
    MISHAP_PUT(out, ": ");
    mishap_buffer_put_text(out, mishap_text_of(value));
    MISHAP_PUT(out, "\r\n");
}

static void put_request(mishap_buffer *out, const mishap_test_request *request, const char *method)
{
    char size[32];
    mishap_buffer_put_text(out, mishap_text_of(method));
    MISHAP_PUT(out, " ");
    mishap_buffer_put_text(out, mishap_text_of(request->path ? request->path : "/"));
    MISHAP_PUT(out, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    if (request->key) {
        MISHAP_PUT(out, "Authorization: Bearer ");
        mishap_buffer_put_text(out, mishap_text_of(request->key));
        MISHAP_PUT(out, "\r\n");
    }
    if (request->body.data) {
        snprintf(size, sizeof size, "%zu", request->body.length);
        put_header(out, "Content-Type",
                   request->body_type ? request->body_type : "application/json");
        put_header(out, "Content-Length", size);
    }
    for (const char *const *at = request->headers; at && at[0] && at[1]; at += 2)
        put_header(out, at[0], at[1]);
    MISHAP_PUT(out, "\r\n");
    mishap_buffer_put_text(out, request->body);
}

/* A failure is read from its document; anything else is an answer. */
static void take_response(mishap_test *test)
{
    mishap_test_server *server = test->server;
    const char *type = find_header(&server->head, "Content-Type");
    const char *id = find_header(&server->head, "X-Request-Id");
    mishap_text body = mishap_buffer_text(&server->body);
    if (test->status >= 400) {
        mishap_free(mishap_parse(mishap_dialect_find("http-api"), body, &test->failure));
        snprintf(test->id, sizeof test->id, "%s", id ? id : "");
    }
    if (!test->failure)
        mishap_free(mishap_answered_make(test->app, body, type, test->status, &test->answered));
}

void mishap_test_send(mishap_test *test, const mishap_test_request *request)
{
    mishap_buffer out = { 0 };
    const char *method = request->method ? request->method : request->body.data ? "POST" : "GET";
    mishap_test_forget(test);
    mishap_test_server *server = mishap_test_serve(test);
    snprintf(test->request, sizeof test->request, "%s %s", method,
             request->path ? request->path : "/");
    test->operation = test->request;
    put_request(&out, request, method);
    if (out.failed)
        mishap_test_give_up("Not enough memory for a request.");
    connect_to(server);
    send_all(server, mishap_buffer_text(&out));
    mishap_buffer_release(&out);
    test->status = read_head(server);
    expect_body(server, strcmp(method, "HEAD") == 0 || test->status == 204 || test->status == 304);
    if (request->stream && test->status < 400) {
        test->read_more = read_piece;
        return;
    }
    read_body(server);
    take_response(test);
    mishap_test_end_fault(test);
}
