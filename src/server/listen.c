#include "server/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "incident/logs.h"

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
        return mishap_suggest(
            m, "Stop the process that uses this port, or choose another port with --listen.");
    if (error == EACCES)
        return mishap_suggest(m, "Choose a port above 1023 with --listen.");
    if (error == EMFILE || error == ENFILE)
        return mishap_suggest(m, "Raise the limit of open files (ulimit -n), or start fewer server "
                                 "processes with --workers.");
    return mishap_suggest(m, "Give --listen an address of this machine.");
}

static mishap *cannot_find(const char *host, int error)
{
    mishap *m = mishap_raise(UNAVAILABLE, "Cannot listen on %s.", host);
    return mishap_tell_cause(mishap_retryable(m, false), gai_strerror(error));
}

/* -- one socket -------------------------------------------------------------------------------- */

/* A bound socket, or -1 and errno. */
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

/* SO_REUSEPORT lets another program of the same user share a port without an error. So a first
 * socket is tried without it: this fails if another process has the port already. */
static int probe(const struct addrinfo *at, int port)
{
    int file = bind_at(at, port, false);
    if (file < 0)
        return errno;
    close(file);
    return 0;
}

/* -- all sockets ------------------------------------------------------------------------------- */

void mishap_http_sockets_close(mishap_http_sockets *sockets)
{
    while (sockets->count > 0)
        close(sockets->files[--sockets->count]);
}

/* Have the kernel drop every packet for this socket that would begin a connection. Where that is
 * not possible, a connection that comes between the last accept() and the end is reset. */
static void let_nobody_begin(int file)
{
    enum { FLAGS_AT = 13, SYN = 2 }; /* in the header of a TCP segment */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS_AT),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SYN, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog program = { .len = sizeof code / sizeof *code, .filter = code };
    setsockopt(file, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

/* Accept connections that wait, at most as many as there is room for. Returns how many. */
static size_t accept_some(int listener, int *files)
{
    size_t count = 0;
    while (count < MISHAP_HTTP_AT_ONCE) {
        int file = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (file >= 0)
            files[count++] = file;
        else if (errno != EINTR && errno != ECONNABORTED)
            break;
    }
    return count;
}

void mishap_http_sockets_end(mishap_http_sockets *sockets,
                             void (*take)(void *state, const int *files, size_t count), void *state)
{
    int files[MISHAP_HTTP_AT_ONCE];
    size_t count;
    for (int i = 0; i < sockets->count; i++) {
        let_nobody_begin(sockets->files[i]);
        while ((count = accept_some(sockets->files[i], files)) > 0) {
            take(state, files, count);
            while (count > 0)
                close(files[--count]);
        }
        shutdown(sockets->files[i], SHUT_RDWR); /* in every process that has it open */
    }
    mishap_http_sockets_close(sockets);
}

bool mishap_http_hand_over(int to, char word, const int *files, size_t count)
{
    union {
        char room[CMSG_SPACE(MISHAP_HTTP_AT_ONCE * sizeof(int))];
        struct cmsghdr head; /* for its alignment */
    } control = { 0 };
    struct iovec bytes = { &word, 1 };
    struct msghdr message = { .msg_iov = &bytes,
                              .msg_iovlen = 1,
                              .msg_control = control.room,
                              .msg_controllen = CMSG_SPACE(count * sizeof *files) };
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(count * sizeof *files);
    memcpy(CMSG_DATA(head), files, count * sizeof *files);
    return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

static void close_all(mishap_http_sockets *sockets, int loop_count)
{
    for (int i = 0; i < loop_count; i++)
        mishap_http_sockets_close(&sockets[i]);
}

/* Open one socket for each loop, at one address. */
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

/* A list of addresses may have one twice. */
static bool is_new(const struct addrinfo *first, const struct addrinfo *at)
{
    for (; first != at; first = first->ai_next)
        if (first->ai_addrlen == at->ai_addrlen &&
            memcmp(first->ai_addr, at->ai_addr, at->ai_addrlen) == 0)
            return false;
    return true;
}

/* Listen at every address. An address that this machine does not have, such as IPv6 where it is
 * off, is an error only if there is no other. */
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
    /* A port that is free at the first address may be taken at the next. */
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

/* -- the address for people -------------------------------------------------------------------- */

/* True if the host stands for every address of the machine, and of which family. */
static int family_of_every_address(const char *host)
{
    struct in_addr old;
    struct in6_addr address;
    if (inet_pton(AF_INET, host, &old) == 1 && old.s_addr == INADDR_ANY)
        return AF_INET;
    bool every = inet_pton(AF_INET6, host, &address) == 1 && IN6_IS_ADDR_UNSPECIFIED(&address);
    return every ? AF_INET6 : AF_UNSPEC;
}

void mishap_http_put_address(mishap_buffer *buffer, const char *host, int port, bool *everywhere)
{
    int family = family_of_every_address(host);
    *everywhere = family != AF_UNSPEC;
    if (family == AF_INET)
        host = "127.0.0.1";
    else if (family == AF_INET6)
        host = "::1";
    bool brackets = strchr(host, ':');
    MISHAP_PUT(buffer, "http://");
    mishap_buffer_put_text(buffer, mishap_text_of(brackets ? "[" : ""));
    mishap_buffer_put_text(buffer, mishap_text_of(host));
    mishap_buffer_put_text(buffer, mishap_text_of(brackets ? "]:" : ":"));
    mishap_buffer_put_int(buffer, port);
}

/* A line of its own after the first line, which programs search for. */
static void put_line(mishap_buffer *lines, const char *program, const char *what, const char *path)
{
    mishap_buffer_put_text(lines, mishap_text_of(program));
    MISHAP_PUT(lines, ": ");
    mishap_buffer_put_text(lines, mishap_text_of(what));
    mishap_put_printable_line(lines, mishap_text_of(path));
    MISHAP_PUT(lines, "\n");
}

void mishap_http_tell_address(const mishap_http_settings *settings, int port)
{
    mishap_buffer lines = { 0 };
    bool everywhere;
    MISHAP_PUT(&lines, "listening on ");
    mishap_http_put_address(&lines, settings->host, port, &everywhere);
    MISHAP_PUT(&lines, "\n");
    if (everywhere)
        put_line(&lines, settings->program, "also listening on all other addresses of this machine",
                 "");
    if (settings->log)
        put_line(&lines, settings->program, "failures are logged in ", settings->log);
    if (settings->console) {
        MISHAP_PUT(&lines, "console: ");
        mishap_http_put_address(&lines, settings->host, port, &everywhere);
        mishap_buffer_put_text(&lines, mishap_text_of(settings->console));
        MISHAP_PUT(&lines, "\n");
    }
    mishap_log_error(mishap_buffer_text(&lines));
    mishap_buffer_release(&lines);
}
