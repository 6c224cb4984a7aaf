/*
 * mishap connect: check whether a host accepts connections on a port. The connection is opened and
 * closed without sending data. --timeout-ms covers the name lookup and all attempts. Apart from the
 * given host, only the DNS resolver of this machine is contacted.
 */
#include "tool.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/system.h"

#undef HOST_NOT_FOUND /* netdb.h means another one, of a time before getaddrinfo */

enum { LONGEST_HOST = 253 };

static const mishap_param params[] = {
    { "host", MISHAP_STRING, .required = true, .length = { 1, LONGEST_HOST }, .placeholder = "HOST",
      .help = "Host name or IP address" },
    { "port", MISHAP_INTEGER, .required = true, .range = { 1, 65535 }, .placeholder = "PORT",
      .help = "TCP port" },
    { "timeout_ms", MISHAP_INTEGER, .range = { 1, 25000 }, .initial = "5000", .placeholder = "N",
      .help = "Timeout in milliseconds" },
    { 0 },
};

static const mishap_example examples[] = {
    { "connect --host db.example.com --port 5432", "Check whether a database accepts connections" },
    { "connect --host ::1 --port 8080 --timeout-ms 500", "Check a port with a short timeout" },
    { 0 },
};

/* One attempt to connect to a host, which may have several addresses. */
struct attempt {
    const char *host;
    int port;
    int64_t timeout_ms;
    int64_t started_ns, deadline_ns;
    char address[64]; /* the one that answered */
};

static int64_t ms_left(int64_t deadline_ns)
{
    int64_t left = deadline_ns - mishap_clock_monotonic_ns();
    return left > 0 ? (left + 999999) / 1000000 : 0;
}

/* -- saying why not ---------------------------------------------------------------------------- */

/* The same sentence for every reason; an IPv6 address is in brackets, to separate it from its
 * port. */
static mishap *cannot_connect(const mishap_code *code, const struct attempt *attempt,
                              const char *cause, const char *suggestion)
{
    bool brackets = strchr(attempt->host, ':');
    mishap *m = mishap_raise_at(code, MISHAP_HERE, "Cannot connect to database at %s%s%s:%d.",
                                brackets ? "[" : "", attempt->host, brackets ? "]" : "",
                                attempt->port);
    m = mishap_tell(m, "host", attempt->host);
    m = mishap_tell(m, "port", attempt->port);
    m = mishap_tell(m, "timeout_ms", attempt->timeout_ms);
    return mishap_suggest(mishap_tell_cause(m, cause), suggestion);
}

static mishap *refused(const struct attempt *attempt, int error)
{
    char cause[128],
        suggestion[LONGEST_HOST * 4 + 128]; /* a character of a name is at most four bytes */
    mishap_system_error(error, cause, sizeof cause);
    switch (error) {
    case ECONNREFUSED:
        snprintf(suggestion, sizeof suggestion,
                 "Verify that a service is running at %s and listens on port %d.", attempt->host,
                 attempt->port);
        return cannot_connect(MISHAP_CODE_CONNECTION_REFUSED, attempt, cause, suggestion);
    case ETIMEDOUT:
        return cannot_connect(MISHAP_CODE_CONNECTION_TIMEOUT, attempt, cause,
                              "Check the address and the firewalls on the way, or allow more time "
                              "with --timeout-ms.");
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
        return cannot_connect(MISHAP_CODE_HOST_UNREACHABLE, attempt, cause,
                              "Check the address, and that this machine has a route to it.");
    default:
        return cannot_connect(MISHAP_CODE_UNAVAILABLE, attempt, cause,
                              "Check the address and the network of this machine, then try again.");
    }
}

static const char *resolver_error_name(int error)
{
    switch (error) {
    case EAI_NONAME:
        return "EAI_NONAME";
    case EAI_AGAIN:
        return "EAI_AGAIN";
    case EAI_FAIL:
        return "EAI_FAIL";
    case EAI_NODATA:
        return "EAI_NODATA";
    case EAI_ADDRFAMILY:
        return "EAI_ADDRFAMILY";
    case EAI_SYSTEM:
        return "EAI_SYSTEM";
    default:
        return "EAI";
    }
}

static mishap *not_found(const struct attempt *attempt, int error)
{
    char cause[128];
    if (error == EAI_MEMORY)
        return mishap_out_of_memory();
    snprintf(cause, sizeof cause, "%s (%s)", gai_strerror(error), resolver_error_name(error));
    return cannot_connect(
        MISHAP_CODE_HOST_NOT_FOUND, attempt, cause,
        error == EAI_AGAIN ? "Check the spelling of the host name and the resolver of this machine."
                           : "Check the spelling of the host name.");
}

/* -- finding the addresses --------------------------------------------------------------------- */

/*
 * A lookup that may take longer than we wait for it, so it has a thread of its own. Of the two that
 * hold it, the one who leaves last gives it back.
 */
struct lookup {
    atomic_bool left;
    int error;
    struct addrinfo *found;
    char port[8];
    char host[];
};

static void leave_lookup(struct lookup *lookup)
{
    if (!atomic_exchange(&lookup->left, true))
        return;
    if (lookup->found)
        freeaddrinfo(lookup->found);
    mishap_release(lookup);
}

static int ask_for_addresses(const char *host, const char *port, int flags, struct addrinfo **found)
{
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV };
    return getaddrinfo(host, port, &wanted, found);
}

static void *look_up(void *state)
{
    struct lookup *lookup = state;
    lookup->error = ask_for_addresses(lookup->host, lookup->port, 0, &lookup->found);
    leave_lookup(lookup);
    return NULL;
}

/* RFC 6761: names under `invalid` never exist, and no name server is to be asked. */
static bool never_exists(const char *host)
{
    static const char end[] = "invalid";
    size_t length = strlen(host);
    if (length && host[length - 1] == '.')
        length--;
    if (length < sizeof end - 1 ||
        strncasecmp(host + length - (sizeof end - 1), end, sizeof end - 1) != 0)
        return false;
    return length == sizeof end - 1 || host[length - sizeof end] == '.';
}

/* The addresses of a name: on success the lookup is still held and must be left. */
static mishap *resolve_host(const struct attempt *attempt, const char *port, struct lookup **out)
{
    pthread_t thread;
    size_t size = strlen(attempt->host) + 1;
    struct lookup *lookup = mishap_allocate(sizeof *lookup + size);
    if (!lookup)
        return mishap_out_of_memory();
    *lookup = (struct lookup){ .error = 0 };
    memcpy(lookup->host, attempt->host, size);
    memcpy(lookup->port, port, sizeof lookup->port);
    if (pthread_create(&thread, NULL, look_up, lookup) != 0) {
        mishap_release(lookup);
        return mishap_raise(INTERNAL_ERROR, "The lookup could not be started.");
    }
    struct timespec until = { attempt->deadline_ns / 1000000000,
                              attempt->deadline_ns % 1000000000 };
    if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) != 0) {
        pthread_detach(thread);
        leave_lookup(lookup);
        return refused(attempt, ETIMEDOUT);
    }
    *out = lookup;
    if (!lookup->error)
        return NULL;
    mishap *failure = not_found(attempt, lookup->error);
    leave_lookup(lookup);
    return failure;
}

/* -- connecting -------------------------------------------------------------------------------- */

/* On this machine the system may pick the very port that is called as our own, and we would talk to
 * ourselves. */
static bool is_own_echo(int file)
{
    struct sockaddr_storage ours = { 0 }, theirs = { 0 };
    socklen_t our_size = sizeof ours, their_size = sizeof theirs;
    return getsockname(file, (struct sockaddr *)&ours, &our_size) == 0 &&
           getpeername(file, (struct sockaddr *)&theirs, &their_size) == 0 &&
           our_size == their_size && memcmp(&ours, &theirs, our_size) == 0;
}

/* Connect to one address and close again: 0 or an errno. */
static int connect_to(const struct addrinfo *to, int64_t deadline_ns)
{
    int error = 0, file = socket(to->ai_family, to->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                 to->ai_protocol);
    if (file < 0)
        return errno;
    if (connect(file, to->ai_addr, to->ai_addrlen) != 0)
        error = errno;
    if (error == EINPROGRESS || error == EINTR) {
        struct pollfd wait = { .fd = file, .events = POLLOUT };
        socklen_t size = sizeof error;
        int ready;
        do
            ready = poll(&wait, 1, (int)ms_left(deadline_ns));
        while (ready < 0 && errno == EINTR);
        if (ready < 0)
            error = errno;
        else if (ready == 0)
            error = ETIMEDOUT;
        else if (getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
            error = errno;
    }
    if (error == 0 && is_own_echo(file))
        error = ECONNREFUSED;
    close(file);
    return error;
}

/* Of the reasons of several addresses, the one that says most: a host that refuses is at least
 * there. */
static int weight(int error)
{
    return error == ECONNREFUSED                           ? 3
           : error == ETIMEDOUT                            ? 2
           : error == EHOSTUNREACH || error == ENETUNREACH ? 1
                                                           : 0;
}

/* Try the addresses in their order; each gets its share of the time that is left. */
static mishap *try_all(struct attempt *attempt, const struct addrinfo *addresses)
{
    int64_t count = 0;
    int reason = 0;
    for (const struct addrinfo *to = addresses; to; to = to->ai_next)
        count++;
    for (const struct addrinfo *to = addresses; to; to = to->ai_next, count--) {
        int64_t now = mishap_clock_monotonic_ns();
        int error = connect_to(to, now + (attempt->deadline_ns - now) / count);
        if (error == 0) {
            getnameinfo(to->ai_addr, to->ai_addrlen, attempt->address, sizeof attempt->address,
                        NULL, 0, NI_NUMERICHOST);
            return NULL;
        }
        if (!reason || weight(error) > weight(reason))
            reason = error;
    }
    return refused(attempt, reason);
}

static mishap *connect_by_name(struct attempt *attempt, const char *port)
{
    struct lookup *lookup = NULL;
    mishap *failure = never_exists(attempt->host) ? not_found(attempt, EAI_NONAME)
                                                  : resolve_host(attempt, port, &lookup);
    if (failure)
        return failure;
    failure = try_all(attempt, lookup->found);
    leave_lookup(lookup);
    return failure;
}

static mishap *run_connect(mishap_call *call)
{
    struct attempt attempt = {
        .host = mishap_string(call, "host"),
        .port = (int)mishap_integer(call, "port"),
        .timeout_ms = mishap_integer(call, "timeout_ms"),
        .started_ns = mishap_clock_monotonic_ns(),
    };
    attempt.deadline_ns = attempt.started_ns + attempt.timeout_ms * 1000000;
    char port[sizeof((struct lookup *)0)->port];
    struct addrinfo *numeric = NULL;
    mishap *failure;
    snprintf(port, sizeof port, "%d", attempt.port);
    if (ask_for_addresses(attempt.host, port, AI_NUMERICHOST, &numeric) == 0) {
        failure = try_all(&attempt, numeric);
        freeaddrinfo(numeric);
    } else {
        failure = connect_by_name(&attempt, port);
    }
    if (failure)
        return failure;
    mishap_answer_member(call, "host", attempt.host);
    mishap_answer_member(call, "port", attempt.port);
    mishap_answer_member(call, "address", attempt.address);
    mishap_answer_member(call, "connected", (bool)true);
    return mishap_answer_member(call, "duration_ms",
                                (mishap_clock_monotonic_ns() - attempt.started_ns) / 1000000);
}

const mishap_operation tool_connect = {
    .name = "connect",
    .summary = "Check whether a service accepts connections",
    .description = "The command opens a TCP connection and closes it without sending data. A "
                   "refused connection, an unreachable host, a timeout and an unknown host name "
                   "each have their own error code; the exit code of all four is 12.",
    .params = params,
    .run = run_connect,
    .local = true,
    .raises = MISHAP_RAISES(CONNECTION_REFUSED, CONNECTION_TIMEOUT, HOST_NOT_FOUND,
                            HOST_UNREACHABLE, UNAVAILABLE),
    .timeout_ms = 30000, /* more than --timeout-ms can be */
    .examples = examples,
    .group = "Network",
};
