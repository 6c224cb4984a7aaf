/*
 * mishap health: ask a server of this machine, or of another, whether it works: GET /health. An
 * image for containers has no other program that could. The answer must begin with "HTTP/1.1 200";
 * nothing else of it is looked at.
 */
#include "tool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system.h"

enum { STATUS_LENGTH = sizeof "HTTP/1.1 200" - 1 };

/* A question to one address. */
struct question {
    const char *host;
    int port;
    int64_t deadline_ns;
    int file;
    char status[STATUS_LENGTH + 1]; /* the beginning of the answer */
};

static int health_ms_left(const struct question *q)
{
    int64_t left = q->deadline_ns - mishap_clock_monotonic_ns();
    return left > 0 ? (int)((left + 999999) / 1000000) : 0;
}

/* Wait for the socket: 0, or an errno. */
static int wait_for(const struct question *q, short events)
{
    struct pollfd wait = { .fd = q->file, .events = events };
    int ready;
    do
        ready = poll(&wait, 1, health_ms_left(q));
    while (ready < 0 && errno == EINTR);
    return ready > 0 ? 0 : ready == 0 ? ETIMEDOUT : errno;
}

static int open_connection(struct question *q, const struct sockaddr *to, socklen_t size)
{
    int error = 0;
    socklen_t length = sizeof error;
    q->file = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (q->file < 0)
        return errno;
    if (connect(q->file, to, size) == 0)
        return 0;
    if (errno != EINPROGRESS && errno != EINTR)
        return errno;
    error = wait_for(q, POLLOUT);
    if (!error && getsockopt(q->file, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
        error = errno;
    return error;
}

static int send_question(const struct question *q)
{
    static const char request[] = "GET /health HTTP/1.1\r\nHost: localhost\r\n"
                                  "Connection: close\r\n\r\n";
    for (size_t sent = 0; sent < sizeof request - 1;) {
        ssize_t count = send(q->file, request + sent, sizeof request - 1 - sent, MSG_NOSIGNAL);
        if (count >= 0)
            sent += (size_t)count;
        else if (errno != EAGAIN && errno != EINTR)
            return errno;
        else {
            int error = wait_for(q, POLLOUT);
            if (error)
                return error;
        }
    }
    return 0;
}

static int receive_status(struct question *q)
{
    for (size_t length = 0; length < STATUS_LENGTH;) {
        ssize_t count = recv(q->file, q->status + length, STATUS_LENGTH - length, 0);
        if (count == 0)
            return ECONNRESET;
        if (count > 0) {
            length += (size_t)count;
            continue;
        }
        int error = errno != EAGAIN && errno != EINTR ? errno : wait_for(q, POLLIN);
        if (error)
            return error;
    }
    return 0;
}

static int ask_server(struct question *q)
{
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons((uint16_t)q->port) };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)q->port) };
    int error = EINVAL;
    if (inet_pton(AF_INET, q->host, &four.sin_addr) == 1)
        error = open_connection(q, (const struct sockaddr *)&four, sizeof four);
    else if (inet_pton(AF_INET6, q->host, &six.sin6_addr) == 1)
        error = open_connection(q, (const struct sockaddr *)&six, sizeof six);
    if (!error)
        error = send_question(q);
    if (!error)
        error = receive_status(q);
    if (q->file >= 0)
        close(q->file);
    return error;
}

static mishap *run_health(mishap_call *call)
{
    struct question q = {
        .host = mishap_string(call, "host"),
        .port = (int)mishap_integer(call, "port"),
        .deadline_ns = mishap_clock_monotonic_ns() + mishap_integer(call, "timeout_ms") * 1000000,
        .file = -1,
    };
    char cause[128];
    int error = ask_server(&q);
    if (error == EINVAL)
        return mishap_field_says(
            mishap_field_pattern(mishap_raise(INVALID_ARGUMENT, "The host is not an IP address."),
                                 "host", "an IP address"),
            "host must be an IP address, such as 127.0.0.1 or ::1.");
    bool healthy = !error && memcmp(q.status, "HTTP/1.1 200", STATUS_LENGTH) == 0;
    if (healthy) {
        mishap_answer_member(call, "host", q.host);
        mishap_answer_member(call, "port", q.port);
        return mishap_answer_member(call, "healthy", (bool)true);
    }
    mishap_system_error(error, cause, sizeof cause);
    mishap *m = error == ETIMEDOUT
                    ? mishap_raise(CONNECTION_TIMEOUT, "The server did not answer in time.")
                : error == ECONNREFUSED
                    ? mishap_raise(CONNECTION_REFUSED, "No server listens at this address.")
                    : mishap_raise(UNAVAILABLE, "The server does not work.");
    m = mishap_tell(mishap_tell(m, "host", q.host), "port", q.port);
    return mishap_suggest(mishap_tell_cause(m, error ? cause : "The answer is not HTTP 200."),
                          "Read the log of the server, and check the address.");
}

static const mishap_param params[] = {
    { "port", MISHAP_INTEGER, .range = { 1, 65535 }, .initial = "8080", .placeholder = "PORT",
      .help = "TCP port of the server" },
    { "host", MISHAP_STRING, .length = { 1, 64 }, .initial = "\"127.0.0.1\"",
      .placeholder = "ADDRESS", .help = "IP address of the server" },
    { "timeout_ms", MISHAP_INTEGER, .range = { 1, 25000 }, .initial = "3000", .placeholder = "N",
      .help = "Timeout in milliseconds" },
    { 0 },
};

static const mishap_example examples[] = {
    { "health", "Ask the server at 127.0.0.1:8080" },
    { "health --port 80 --timeout-ms 500", "Ask another port, with a short timeout" },
    { 0 },
};

const mishap_operation tool_health = {
    .name = "health",
    .summary = "Ask a server whether it works",
    .description =
        "The command sends GET /health to a server of Mishap, and succeeds if the answer "
        "is 200. It is the health check of the image for containers, which has no other "
        "program that could ask. Services that are missing do not matter: /ready and "
        "the body of /health name them.",
    .params = params,
    .run = run_health,
    .local = true,
    .raises = MISHAP_RAISES(INVALID_ARGUMENT, CONNECTION_REFUSED, CONNECTION_TIMEOUT, UNAVAILABLE),
    .timeout_ms = 30 * 1000,
    .examples = examples,
    .group = "Server",
};
