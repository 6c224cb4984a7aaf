#include "server/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_TRIES = 8 };

/* -- failures ---------------------------------------------------------------------------------- */

static mishap *cannot_listen(const mishap_http_settings *settings, int error)
{
    char cause[128];
    mishap_system_error(error, cause, sizeof cause);
    mishap *m = mishap_raise(UNAVAILABLE, "Cannot listen on %s:%d.", settings->host,
                             settings->port);
    m = mishap_tell(mishap_tell(m, "host", settings->host), "port", settings->port);
    m = mishap_retryable(mishap_tell_cause(m, cause), false);
    if (error == EADDRINUSE)
        return mishap_suggest(m, "Stop what listens there, or choose another port with --listen.");
    if (error == EACCES)
        return mishap_suggest(m, "Choose a port above 1023 with --listen.");
    return mishap_suggest(m, "Give --listen an address of this machine.");
}

static mishap *cannot_find(const char *host, int error)
{
    mishap *m = mishap_raise(UNAVAILABLE, "Cannot listen on %s.", host);
    return mishap_tell_cause(mishap_retryable(m, false), gai_strerror(error));
}

/* -- one socket -------------------------------------------------------------------------------- */

/* A socket that is bound, or -1 and errno. */
static int bind_at(const struct addrinfo *at, int port, bool shared)
{
    int on = 1, error = 0;
    struct sockaddr_storage address;
    int file = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (file < 0)
        return -1;
    memcpy(&address, at->ai_addr, at->ai_addrlen);
    if (at->ai_family == AF_INET6)
        ((struct sockaddr_in6 *)&address)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)&address)->sin_port = htons((uint16_t)port);
    if (setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        (shared && setsockopt(file, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) ||
        bind(file, (struct sockaddr *)&address, at->ai_addrlen) != 0)
        error = errno;
    if (!error)
        return file;
    close(file);
    errno = error;
    return -1;
}

static int port_of(int file)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(file, (struct sockaddr *)&address, &size) != 0)
        return 0;
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
}

/* SO_REUSEPORT lets another program of the same user share a port without a word. So the first
 * socket is tried without it: whoever has the port already is found out. */
static int probe(const struct addrinfo *at, int port)
{
    int file = bind_at(at, port, false);
    if (file < 0)
        return errno;
    close(file);
    return 0;
}

/* -- all of them ------------------------------------------------------------------------------- */

void mishap_http_sockets_close(mishap_http_sockets *sockets)
{
    while (sockets->count > 0)
        close(sockets->files[--sockets->count]);
}

static void close_all(mishap_http_sockets *sockets, int loop_count)
{
    for (int i = 0; i < loop_count; i++)
        mishap_http_sockets_close(&sockets[i]);
}

/* One for each loop, at one address. */
static int listen_at(const struct addrinfo *at, mishap_http_sockets *sockets, int loop_count,
                     int *port)
{
    int error = *port ? probe(at, *port) : 0;
    for (int i = 0; i < loop_count && !error; i++) {
        int file = bind_at(at, *port, true);
        if (file < 0)
            return errno;
        sockets[i].files[sockets[i].count++] = file;
        if (listen(file, MISHAP_HTTP_BACKLOG) != 0)
            return errno;
        *port = port_of(file);
    }
    return error;
}

/* Lists of names may have one twice. */
static bool is_new(const struct addrinfo *first, const struct addrinfo *at)
{
    for (; first != at; first = first->ai_next)
        if (first->ai_addrlen == at->ai_addrlen &&
            memcmp(first->ai_addr, at->ai_addr, at->ai_addrlen) == 0)
            return false;
    return true;
}

/* At every address. One that is not there, such as that of IPv6 where there is none, is told of
 * only if no other is. */
static int listen_everywhere(const struct addrinfo *found, mishap_http_sockets *sockets,
                             int loop_count, int *port)
{
    int missing = EADDRNOTAVAIL;
    for (const struct addrinfo *at = found; at; at = at->ai_next) {
        if (!is_new(found, at) || sockets[0].count == MISHAP_HTTP_ADDRESSES)
            continue;
        int error = listen_at(at, sockets, loop_count, port);
        if (error == EADDRNOTAVAIL || error == EAFNOSUPPORT)
            missing = error;
        else if (error)
            return error;
    }
    return sockets[0].count ? 0 : missing;
}

mishap *mishap_http_listen(const mishap_http_settings *settings, mishap_http_sockets *sockets,
                           int loop_count, int *port)
{
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found = NULL;
    int error = getaddrinfo(settings->host, NULL, &wanted, &found);
    if (error != 0)
        return cannot_find(settings->host, error);
    /* A port that is free at the first address may not be at the next. */
    for (int tries = 0; tries < (settings->port ? 1 : MOST_TRIES); tries++) {
        close_all(sockets, loop_count);
        *port = settings->port;
        error = listen_everywhere(found, sockets, loop_count, port);
        if (error != EADDRINUSE)
            break;
    }
    freeaddrinfo(found);
    if (error)
        close_all(sockets, loop_count);
    return error ? cannot_listen(settings, error) : NULL;
}
