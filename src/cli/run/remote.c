/*
 * Has a running server answer a command: --server URL. A session exists in the server, and outlives
 * the command.
 *
 * It is one request over HTTP, on a connection of its own. The API key, if the server wants one, is
 * in the environment (NAME_KEY). A failure of the connection is UNAVAILABLE; a failure of the call
 * is passed on unchanged.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system.h"
#include "cli/run/run.h"
#include "dialect/dialect.h"
#include "operation/call.h"

enum {
    ROOM = 64 * 1024,
    MOST = 64 * 1024 * 1024, /* bytes of a response */
    LOOK_MS = 100,           /* interval of the checks whether the command was cancelled */
};

/* -- where ------------------------------------------------------------------------------------- */

struct address {
    char host[256], port[8];
    char path[512]; /* before the routes; mostly "" */
};

/* http://HOST[:PORT][/PATH]; an IPv6 address is in brackets. */
static bool read_address(const char *url, struct address *a)
{
    static const char scheme[] = "http://";
    if (strncasecmp(url, scheme, sizeof scheme - 1) != 0)
        return false;
    const char *host = url + sizeof scheme - 1, *end = host + strcspn(host, "/?#");
    bool bracket = *host == '[';
    const char *closing = bracket ? memchr(host, ']', (size_t)(end - host)) : NULL;
    if (bracket && !closing)
        return false;
    const char *colon = memchr(closing ? closing : host, ':',
                               (size_t)(end - (closing ? closing : host)));
    const char *begin = host + bracket, *stop = closing ? closing : colon ? colon : end;
    int host_length = (int)(stop - begin);
    int port_length = colon ? (int)(end - colon - 1) : 2;
    size_t path = strcspn(end, "?#");
    while (path && end[path - 1] == '/')
        path--;
    snprintf(a->host, sizeof a->host, "%.*s", host_length, begin);
    snprintf(a->port, sizeof a->port, "%.*s", port_length, colon ? colon + 1 : "80");
    snprintf(a->path, sizeof a->path, "%.*s", (int)path, end);
    return host_length > 0 && (size_t)host_length < sizeof a->host && port_length > 0 &&
           port_length < 6 && strspn(a->port, "0123456789") == (size_t)port_length &&
           path < sizeof a->path && !strpbrk(a->host, " \r\n\t@") && !strpbrk(a->path, " \r\n\t");
}

static mishap *unreachable(const mishap_cli *cli, const char *why)
{
    mishap *m = mishap_raise(UNAVAILABLE, "The server %s does not answer: %s.", cli->server, why);
    return mishap_suggest(m, "Start the server, or leave --server out.");
}

/* -- waiting ----------------------------------------------------------------------------------- */

/* False: the time of the command is over. */
static bool wait_for(const mishap_call *call, int file, short events)
{
    for (;;) {
        struct pollfd wanted = { .fd = file, .events = events };
        int64_t left = mishap_call_time_left(call);
        if (mishap_cancelled(call) || left == 0)
            return false;
        if (poll(&wanted, 1, left > 0 && left < LOOK_MS ? (int)left : LOOK_MS) > 0)
            return true;
    }
}

static int try_address(const mishap_call *call, const struct addrinfo *found)
{
    int error = 0,
        file = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                      found->ai_protocol);
    socklen_t size = sizeof error;
    if (file < 0)
        return -1;
    if (connect(file, found->ai_addr, found->ai_addrlen) == 0)
        return file;
    error = errno;
    if (error == EINPROGRESS && wait_for(call, file, POLLOUT) &&
        getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error)
        return file;
    close(file);
    errno = error;
    return -1;
}

static mishap *reach(const mishap_cli *cli, const mishap_call *call, const struct address *a,
                     int *out)
{
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    int file = -1, error = getaddrinfo(a->host, a->port, &wanted, &found);
    if (error)
        return unreachable(cli, gai_strerror(error));
    for (const struct addrinfo *f = found; f && file < 0; f = f->ai_next)
        file = try_address(call, f);
    error = errno;
    freeaddrinfo(found);
    *out = file;
    return file >= 0 ? NULL : unreachable(cli, strerror(error));
}

/* -- the request ------------------------------------------------------------------------------- */

static void put_request(mishap_buffer *b, const mishap_cli *cli, const mishap_call *call,
                        const struct address *a)
{
    const char *route = call->operation->route, *space = strchr(route, ' ');
    const char *key = mishap_system_setting(cli->app->name, "KEY");
    mishap_buffer body = { 0 };
    mishap_json_copy(&body, call->reader.root);
    mishap_buffer_put(b, route, (size_t)(space + 1 - route));
    mishap_buffer_put_text(b, mishap_text_of(a->path));
    mishap_buffer_put_text(b, mishap_text_of(space + 1));
    MISHAP_PUT(b, " HTTP/1.1\r\nHost: ");
    bool six = strchr(a->host, ':') != NULL;
    mishap_buffer_put_text(b, mishap_text_of(six ? "[" : ""));
    mishap_buffer_put_text(b, mishap_text_of(a->host));
    mishap_buffer_put_text(b, mishap_text_of(six ? "]:" : ":"));
    mishap_buffer_put_text(b, mishap_text_of(a->port));
    MISHAP_PUT(b, "\r\nConnection: close\r\nAccept: application/json, "
                  "application/vnd.mishap+json\r\n");
    if (key && *key && !strpbrk(key, "\r\n")) {
        MISHAP_PUT(b, "X-Api-Key: ");
        mishap_buffer_put_text(b, mishap_text_of(key));
        MISHAP_PUT(b, "\r\n");
    }
    MISHAP_PUT(b, "Content-Type: application/json\r\nContent-Length: ");
    mishap_buffer_put_uint(b, body.length);
    MISHAP_PUT(b, "\r\n\r\n");
    mishap_buffer_put_text(b, mishap_buffer_text(&body));
    b->failed = b->failed || body.failed;
    mishap_buffer_release(&body);
}

static bool send_all(const mishap_call *call, int file, mishap_text bytes)
{
    while (bytes.length) {
        ssize_t count = send(file, bytes.data, bytes.length, MSG_NOSIGNAL);
        if (count < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (count < 0 && !wait_for(call, file, POLLOUT))
            return false;
        bytes.data += count > 0 ? count : 0;
        bytes.length -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* -- the response ------------------------------------------------------------------------------ */

/* The value of a header field; no data: there is none. */
static mishap_text find_field(mishap_text head, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i + length + 2 < head.length; i++) {
        const char *line = head.data + i + 2;
        if (memcmp(head.data + i, "\r\n", 2) != 0 || i + 2 + length >= head.length ||
            strncasecmp(line, name, length) != 0 || line[length] != ':')
            continue;
        const char *value = line + length + 1, *end = head.data + head.length;
        while (value < end && *value == ' ')
            value++;
        const char *stop = memmem(value, (size_t)(end - value), "\r\n", 2);
        return (mishap_text){ value, (size_t)((stop ? stop : end) - value) };
    }
    return (mishap_text){ NULL, 0 };
}

/* The length of the response with its head; 0: not known yet, or until the connection ends. False:
 * it is no HTTP response. */
static bool find_length(mishap_text bytes, size_t *length)
{
    enum { MOST_DIGITS = 9 };
    const char *gap = memmem(bytes.data, bytes.length, "\r\n\r\n", 4);
    size_t head = gap ? (size_t)(gap - bytes.data) : 0;
    *length = 0;
    if (!gap)
        return bytes.length < ROOM;
    mishap_text field = find_field((mishap_text){ bytes.data, head }, "Content-Length");
    if (!field.data)
        return true;
    if (!field.length || field.length > MOST_DIGITS)
        return false;
    for (size_t i = 0; i < field.length; i++) {
        if (field.data[i] < '0' || field.data[i] > '9')
            return false;
        *length = 10 * *length + (size_t)(field.data[i] - '0');
    }
    *length += head + 4;
    return true;
}

/* Receive a whole response. If something such as a proxy keeps the connection open after it, that
 * is not waited for. */
static bool receive_all(const mishap_call *call, int file, mishap_buffer *in)
{
    size_t whole = 0;
    while (in->length < MOST && mishap_buffer_reserve(in, ROOM)) {
        if (!wait_for(call, file, POLLIN))
            return false;
        ssize_t count = recv(file, in->data + in->length, ROOM, 0);
        if (count == 0)
            return !whole;
        if (count < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        in->length += count > 0 ? (size_t)count : 0;
        if (count > 0 && !whole && !find_length(mishap_buffer_text(in), &whole))
            return false;
        if (whole && in->length >= whole) {
            in->length = whole;
            return true;
        }
    }
    return false;
}

/* `299 - "words"`, with commas between. */
static void take_warnings(mishap_call *call, mishap_text field)
{
    static const char mark[] = "299 - \"";
    if (!field.data)
        return;
    const char *at = field.data, *end = field.data + field.length;
    while ((at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1))) {
        char words[500];
        size_t length = 0;
        for (at += sizeof mark - 1; at < end && *at != '"'; at++) {
            at += *at == '\\' && at + 1 < end;
            if (length < sizeof words)
                words[length++] = *at;
        }
        mishap_warn(call, "%.*s", (int)length, words);
    }
}

static mishap *take_response(const mishap_cli *cli, mishap_call *call, mishap_text bytes)
{
    const char *gap = memmem(bytes.data, bytes.length, "\r\n\r\n", 4);
    mishap *m = NULL;
    if (!gap || bytes.length < 12 || strncmp(bytes.data, "HTTP/1.", 7) != 0)
        return unreachable(cli, "what it sends is no response");
    mishap_text head = { bytes.data, (size_t)(gap - bytes.data) };
    mishap_text body = { gap + 4, bytes.length - head.length - 4 };
    int status = (bytes.data[9] - '0') * 100 + (bytes.data[10] - '0') * 10 + bytes.data[11] - '0';
    if (status < 200 || status > 299) {
        mishap *refusal = mishap_parse(&mishap_canonical, body, &m);
        if (!refusal)
            return m; /* the server may raise codes that the operation does not declare */
        mishap_free(refusal);
        return unreachable(cli, "it is no server of this program");
    }
    take_warnings(call, find_field(head, "Warning"));
    call->answer_kind = body.length ? MISHAP_ANSWER_JSON : MISHAP_ANSWER_NOTHING;
    mishap_buffer_reset(&call->answer);
    mishap_buffer_put_text(&call->answer, body);
    mishap *wrong = mishap_call_conclude(call, NULL);
    if (!wrong || mishap_told(wrong)->code != MISHAP_CODE_INTERNAL_ERROR)
        return wrong;
    mishap_free(wrong); /* it is not a document of this program */
    return unreachable(cli, "what it sends is no answer");
}

mishap *mishap_cli_ask_server(const mishap_cli *cli, mishap_call *call)
{
    struct address address;
    mishap_buffer out = { 0 }, in = { 0 };
    int file = -1;
    if (!read_address(cli->server, &address))
        return mishap_suggest(mishap_raise(ARG_ERROR, "%s is no address of a server.", cli->server),
                              "Write it as http://HOST:PORT.");
    if (strpbrk(call->operation->route, ":{"))
        return mishap_raise(NOT_CONFIGURED, "A server cannot be asked for %s by a command.",
                            call->operation->name);
    mishap *failure = reach(cli, call, &address, &file);
    if (!failure)
        put_request(&out, cli, call, &address);
    if (!failure && out.failed)
        failure = mishap_out_of_memory();
    if (!failure &&
        (!send_all(call, file, mishap_buffer_text(&out)) || !receive_all(call, file, &in)))
        failure = in.failed ? mishap_out_of_memory() : unreachable(cli, "the connection broke off");
    if (!failure)
        failure = take_response(cli, call, mishap_buffer_text(&in));
    if (file >= 0)
        close(file);
    mishap_buffer_release(&out);
    mishap_buffer_release(&in);
    return failure;
}
