/*
 * Connecting to one of the hosts of an address, within a time. libpq could try the hosts by itself;
 * but a host that hangs would then take all of the time, also that of the host that works. So each
 * host is tried alone, and one that did not answer comes last the next time.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/postgresql.h"

#define pq mishap_libpq

enum {
    FIRST_HOST_MS = 5000, /* for each host, when a store is opened */
    AGAIN_MS = 3000,      /* for all hosts, when a connection was lost … */
    LEAST_HOST_MS = 1000, /* … and of it for each host, at least */
    LEAST_MS = 500,       /* for all hosts, even if the time of the call is nearly over */
};

/* -- the address ------------------------------------------------------------------------------- */

static const char *option(const pq_option *options, const char *keyword)
{
    for (; options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0)
            return options->value ? options->value : "";
    return "";
}

/*
 * libpq reads an address from the left. If a password contains an unescaped @ or /, it ends early,
 * and the rest of it becomes the name of a host, a port or a database, which libpq and the server
 * repeat in their messages.
 */
static bool escapes_its_password(const pq_option *options)
{
    const char *port = option(options, "port");
    return strspn(port, "0123456789,") == strlen(port) && !strchr(option(options, "host"), '@') &&
           !strchr(option(options, "dbname"), '@');
}

/* The error of libpq for an address that it cannot read contains parts of the address, so it is not
 * even noted. */
mishap *mishap_postgresql_check_address(const postgresql_store *store)
{
    pq_option *options = pq.PQconninfoParse(store->address, NULL);
    bool sound = options && escapes_its_password(options);
    pq.PQconninfoFree(options);
    return sound ? NULL
                 : mishap_suggest(
                       mishap_raise(NOT_CONFIGURED, "The store address is not valid."),
                       "Give it as postgresql://USER@HOST:PORT/DATABASE, with : and the password "
                       "after USER if there is one, and no parameters but those of libpq. In a "
                       "user name or a password write @ as %40, / as %2F and : as %3A.");
}

/* Note the words of libpq for the operator, unless they contain a password. */
static mishap *note_words(mishap *m, const postgresql_store *store, const char *words)
{
    static const char *const secret[] = { "password", "sslpassword" };
    pq_option *options = pq.PQconninfoParse(store->address, NULL);
    bool shown = options != NULL;
    for (size_t i = 0; options && i < sizeof secret / sizeof *secret; i++) {
        const char *value = option(options, secret[i]);
        shown = shown && (!*value || !strstr(words, value));
    }
    pq.PQconninfoFree(options);
    return mishap_note(m, "postgresql", shown ? words : "[REDACTED]");
}

/* -- the hosts of an address ------------------------------------------------------------------- */

static size_t items_of(const char *list)
{
    size_t count = 1;
    for (; *list; list++)
        count += *list == ',';
    return count;
}

/* An empty item means the default of libpq, which no option can say. */
static bool has_empty_item(const char *list)
{
    size_t length = strlen(list);
    return length > 0 && (list[0] == ',' || list[length - 1] == ',' || strstr(list, ",,") != NULL);
}

/* A list of one item is that of all hosts. */
static bool fits(const char *list, size_t count)
{
    return strlen(list) < STORE_HOSTS && !has_empty_item(list) &&
           (!*list || items_of(list) == 1 || items_of(list) == count);
}

void mishap_postgresql_read_hosts(const postgresql_store *store, postgresql_hosts *hosts)
{
    pq_option *found = pq.PQconninfoParse(store->address, NULL);
    const char *host = found ? option(found, "host") : "";
    const char *hostaddr = found ? option(found, "hostaddr") : "";
    const char *port = found ? option(found, "port") : "";
    const char *wanted = found ? option(found, "target_session_attrs") : "";
    long seconds = found ? strtol(option(found, "connect_timeout"), NULL, 10) : 0;
    size_t count = items_of(*host ? host : hostaddr);
    bool splits = count > 1 && fits(host, count) && fits(hostaddr, count) && fits(port, count);
    *hosts = (postgresql_hosts){
        .count = splits ? count : 1,
        .host_ms = seconds > 0 && seconds < 3600 ? (int)seconds * 1000 : 0,
        .wants_primary = strcmp(wanted, "read-write") == 0 || strcmp(wanted, "primary") == 0,
        .prefers_standby = strcmp(wanted, "prefer-standby") == 0,
    };
    if (splits) {
        snprintf(hosts->host, STORE_HOSTS, "%s", host);
        snprintf(hosts->hostaddr, STORE_HOSTS, "%s", hostaddr);
        snprintf(hosts->port, STORE_HOSTS, "%s", port);
    }
    pq.PQconninfoFree(found);
}

/* The item of a host; the only one if the list has one. */
static void put_item(const char *list, size_t number, char out[STORE_HOSTS])
{
    if (items_of(list) == 1)
        number = 0;
    for (; number > 0; number--)
        list = strchr(list, ',') + 1;
    snprintf(out, STORE_HOSTS, "%.*s", (int)strcspn(list, ","), list);
}

static void set_option(postgresql_options *o, const char *keyword, const char *value)
{
    if (keyword && !*value)
        return;
    o->keywords[o->count] = keyword;
    o->values[o->count++] = value;
}

/* The options of the address override those that come before it. An option that is empty is left
 * out. */
void mishap_postgresql_set_options(const postgresql_store *store, const postgresql_hosts *hosts,
                                   size_t number, const char *wanted, postgresql_options *o)
{
    o->count = 0;
    put_item(hosts->host, number, o->host);
    put_item(hosts->hostaddr, number, o->hostaddr);
    put_item(hosts->port, number, o->port);
    set_option(o, "connect_timeout", "2"); /* of PQping */
    snprintf(o->name, sizeof o->name, "mishap %s", store->schema);
    set_option(o, "fallback_application_name", o->name);
    set_option(o, "tcp_user_timeout", "10000");
    set_option(o, "keepalives_idle", "30");
    set_option(o, "dbname", store->address);
    set_option(o, "client_encoding", "UTF8");
    set_option(o, "host", o->host);
    set_option(o, "hostaddr", o->hostaddr);
    set_option(o, "port", o->port);
    set_option(o, "target_session_attrs", wanted);
    set_option(o, NULL, NULL);
}

/* -- one connection ---------------------------------------------------------------------------- */

/* NULL: no memory. If it is not connected then, its status says whether it has failed (BAD) or the
 * time is over. */
static pq_connection *connect_until(const postgresql_options *o, int64_t until_ms)
{
    pq_connection *made = pq.PQconnectStartParams(o->keywords, o->values, 1);
    int wants = PQ_POLLING_WRITING;
    while (made && pq.PQstatus(made) != PQ_CONNECTION_BAD && wants != PQ_POLLING_OK &&
           wants != PQ_POLLING_FAILED) {
        int64_t left = until_ms - mishap_store_now_ms();
        struct pollfd socket = { .fd = pq.PQsocket(made),
                                 .events = wants == PQ_POLLING_READING ? POLLIN : POLLOUT };
        if (left <= 0)
            break;
        if (poll(&socket, 1, (int)(left > 60000 ? 60000 : left)) > 0)
            wants = pq.PQconnectPoll(made);
    }
    return made;
}

/* A time within which hosts are tried, and what they have said. */
typedef struct postgresql_attempt {
    postgresql_hosts hosts;
    int64_t until_ms; /* for all hosts */
    int host_ms;      /* for each */
    bool reachable;   /* one of them has answered */
    bool lacks;       /* … and would take a connection that changes nothing */
    mishap *failure;  /* of a host that was connected to */
    char words[1000]; /* of libpq, about the others */
} postgresql_attempt;

static int64_t until_of_host(const postgresql_attempt *a)
{
    int64_t until = mishap_store_now_ms() + a->host_ms;
    return until < a->until_ms ? until : a->until_ms;
}

/* When a query was waited for in vain, the rest of its time is left for connecting. */
static void limit_attempt(const postgresql_store *store, bool again, postgresql_attempt *a)
{
    const mishap_store *base = &store->base;
    int64_t now = mishap_store_now_ms(), share = AGAIN_MS / (int64_t)a->hosts.count;
    a->until_ms = INT64_MAX;
    a->host_ms = a->hosts.host_ms ? a->hosts.host_ms : FIRST_HOST_MS;
    if (!again)
        return;
    a->until_ms = now + AGAIN_MS;
    if (!a->hosts.host_ms)
        a->host_ms = (int)(share > LEAST_HOST_MS ? share : LEAST_HOST_MS);
    if (store->late && base->begun_ms + STORE_WHOLE_MS < a->until_ms)
        a->until_ms = base->begun_ms + STORE_WHOLE_MS;
    if (base->until_ms && base->until_ms < a->until_ms)
        a->until_ms = base->until_ms;
    if (a->until_ms < now + LEAST_MS)
        a->until_ms = now + LEAST_MS;
}

/* -- why there is no connection ---------------------------------------------------------------- */

static void add_words(postgresql_attempt *a, const char *words)
{
    size_t used = strlen(a->words);
    snprintf(a->words + used, sizeof a->words - used, "%s", words);
}

/* A server can be reached and does not take the connection. Does it take one that need not change
 * anything? Then the address asks for a primary, and it is none. */
static void ask_for_less(const postgresql_store *store, size_t number, postgresql_attempt *a)
{
    postgresql_options o;
    mishap_postgresql_set_options(store, &a->hosts, number, "any", &o);
    pq_connection *any = connect_until(&o, until_of_host(a));
    a->lacks = a->lacks || (any && pq.PQstatus(any) == PQ_CONNECTION_OK);
    pq.PQfinish(any);
}

/* Whether a server can be reached at all decides what the operator should do. The words of libpq
 * are a failure of their own: then a person at a terminal is told where the log is. */
static mishap *not_connected(const postgresql_store *store, const postgresql_attempt *a)
{
    mishap *m;
    if (a->lacks)
        m = mishap_suggest(mishap_raise(UNAVAILABLE, "No PostgreSQL of the address takes changes."),
                           "Promote a standby, or wait until one is promoted.");
    else if (a->reachable)
        m = mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "PostgreSQL refuses the connection to the store."),
            "Check the user, the password and the database in the store address, "
            "that the database exists, and that its server allows more connections.");
    else
        m = mishap_suggest(
            mishap_raise(UNAVAILABLE, "The PostgreSQL server of the store cannot be reached."),
            "Check that it runs, and the host and the port in the store address.");
    return mishap_because(
        m, note_words(mishap_raise(INTERNAL_ERROR, "libpq has no connection."), store, a->words));
}

/* -- one host after the other ------------------------------------------------------------------ */

/* A server that was still starting may be ready by the time it is asked: then a second try
 * connects. Otherwise it refuses this connection. False: no memory. */
static bool connect_to_host(postgresql_store *store, size_t number, const char *wanted,
                            postgresql_attempt *a)
{
    postgresql_options o;
    bool answers = true; /* so far */
    mishap_postgresql_set_options(store, &a->hosts, number, wanted, &o);
    for (int tries = 0; tries < 2 && answers; tries++) {
        mishap_postgresql_disconnect(store);
        store->connection = connect_until(&o, until_of_host(a));
        if (!store->connection)
            return false;
        int status = pq.PQstatus(store->connection);
        if (status == PQ_CONNECTION_OK)
            return true;
        answers = status == PQ_CONNECTION_BAD &&
                  pq.PQpingParams(o.keywords, o.values, 1) == PQ_PING_OK;
        if (status != PQ_CONNECTION_BAD)
            add_words(a, "The server did not answer in time.\n");
        else if (tries > 0 || !answers)
            add_words(a, pq.PQerrorMessage(store->connection));
        a->reachable = a->reachable || answers;
    }
    if (answers && a->hosts.wants_primary && !a->lacks)
        ask_for_less(store, number, a);
    mishap_postgresql_disconnect(store);
    return true;
}

/* True: no other host has to be tried. */
static bool try_host(postgresql_store *store, size_t number, const char *wanted,
                     postgresql_attempt *a)
{
    if (!connect_to_host(store, number, wanted, a)) {
        mishap_free(a->failure);
        a->failure = mishap_out_of_memory();
        return true;
    }
    if (!store->connection)
        return false;
    store->host = number;
    mishap_free(a->failure);
    a->failure = mishap_postgresql_set_up(store);
    if (a->failure)
        mishap_postgresql_disconnect(store);
    return !a->failure;
}

/* Begin with the host whose turn it is. A primary that was replaced, and a host that hangs, are
 * passed over. */
static bool try_all_hosts(postgresql_store *store, const char *wanted, postgresql_attempt *a)
{
    size_t count = a->hosts.count, first = store->turn % count;
    for (size_t i = 0; i < count && (i == 0 || mishap_store_now_ms() < a->until_ms); i++)
        if (try_host(store, (first + i) % count, wanted, a))
            return true;
    return false;
}

mishap *mishap_postgresql_connect(postgresql_store *store, bool again)
{
    postgresql_attempt a = { .words = "" };
    mishap_postgresql_read_hosts(store, &a.hosts);
    limit_attempt(store, again, &a);
    bool done = a.hosts.count > 1 && a.hosts.prefers_standby
                    ? try_all_hosts(store, "standby", &a) || try_all_hosts(store, "any", &a)
                    : try_all_hosts(store, "", &a);
    if (!done && !a.failure)
        a.failure = not_connected(store, &a);
    if (!a.failure && a.hosts.wants_primary)
        store->turn = store->host;
    return a.failure;
}
