/* Connecting to PostgreSQL, the tables of a service and their identity. */
#include "store/postgresql.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define pq mishap_libpq

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
static mishap *check_address(const postgresql_store *store)
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

/* -- connecting -------------------------------------------------------------------------------- */

enum { KEYWORDS = 11, LONGEST_LIST = 2000 };

/* What libpq is told. */
typedef struct postgresql_options {
    const char *keywords[KEYWORDS], *values[KEYWORDS];
    /* The hosts of the address in another order, if it has several. */
    char host[LONGEST_LIST], hostaddr[LONGEST_LIST], port[LONGEST_LIST];
} postgresql_options;

/* The hosts, beginning with that whose turn it is. The number of hosts. */
static size_t turn_hosts(const postgresql_store *store, postgresql_options *o)
{
    pq_option *found = pq.PQconninfoParse(store->address, NULL);
    const char *host = found ? option(found, "host") : "";
    const char *hostaddr = found ? option(found, "hostaddr") : "";
    const char *port = found ? option(found, "port") : "";
    size_t count = 1;
    for (const char *c = *host ? host : hostaddr; *c; c++)
        count += *c == ',';
    if (strlen(host) >= LONGEST_LIST || strlen(hostaddr) >= LONGEST_LIST ||
        strlen(port) >= LONGEST_LIST)
        count = 1;
    if (count > 1) {
        mishap_postgresql_turn(host, store->turn, o->host, LONGEST_LIST);
        mishap_postgresql_turn(hostaddr, store->turn, o->hostaddr, LONGEST_LIST);
        mishap_postgresql_turn(port, store->turn, o->port, LONGEST_LIST);
    }
    pq.PQconninfoFree(found);
    return count;
}

static void set_option(postgresql_options *o, size_t *count, const char *keyword, const char *value)
{
    if (keyword && !*value)
        return;
    o->keywords[*count] = keyword;
    o->values[(*count)++] = value;
}

/* The options of the address override those that come before it. An option that is empty is left
 * out. The number of hosts of the address. */
static size_t set_options(const postgresql_store *store, bool again, postgresql_options *o)
{
    size_t count = 0;
    o->host[0] = o->hostaddr[0] = o->port[0] = '\0';
    size_t hosts = turn_hosts(store, o);
    set_option(o, &count, "connect_timeout", again ? "2" : "5");
    set_option(o, &count, "fallback_application_name", "mishap");
    set_option(o, &count, "tcp_user_timeout", "10000");
    set_option(o, &count, "keepalives_idle", "30");
    set_option(o, &count, "dbname", store->address);
    set_option(o, &count, "client_encoding", "UTF8");
    set_option(o, &count, "host", o->host);
    set_option(o, &count, "hostaddr", o->hostaddr);
    set_option(o, &count, "port", o->port);
    set_option(o, &count, NULL, NULL);
    return hosts;
}

/* A server can be reached and does not take the connection. Does a server take one that need not
 * change anything? Then the address asks for a primary, and there is none. */
static bool lacks_a_primary(const postgresql_store *store, const postgresql_options *o)
{
    const char *keywords[KEYWORDS + 1], *values[KEYWORDS + 1];
    size_t count = 0;
    pq_option *found = pq.PQconninfoParse(store->address, NULL);
    const char *wanted = found ? option(found, "target_session_attrs") : "";
    bool wants = strcmp(wanted, "read-write") == 0 || strcmp(wanted, "primary") == 0;
    pq.PQconninfoFree(found);
    if (!wants)
        return false;
    for (; o->keywords[count]; count++) {
        keywords[count] = o->keywords[count];
        values[count] = o->values[count];
    }
    keywords[count] = "target_session_attrs";
    values[count++] = "any";
    keywords[count] = values[count] = NULL;
    pq_connection *any = pq.PQconnectdbParams(keywords, values, 1);
    bool lacks = any && pq.PQstatus(any) == PQ_CONNECTION_OK;
    pq.PQfinish(any);
    return lacks;
}

/* Whether the server can be reached at all decides what the operator should do. The words of libpq
 * are a failure of their own: then a person at a terminal is told where the log is. */
static mishap *not_connected(const postgresql_store *store, const postgresql_options *o,
                             bool reachable)
{
    mishap *m;
    if (reachable && lacks_a_primary(store, o))
        m = mishap_suggest(mishap_raise(UNAVAILABLE, "No PostgreSQL of the address takes changes."),
                           "Promote a standby, or wait until one is promoted.");
    else if (reachable)
        m = mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "PostgreSQL refuses the connection to the store."),
            "Check the user, the password and the database in the store address, "
            "that the database exists, and that its server allows more connections.");
    else
        m = mishap_suggest(
            mishap_raise(UNAVAILABLE, "The PostgreSQL server of the store cannot be reached."),
            "Check that it runs, and the host and the port in the store address.");
    return mishap_because(m, note_words(mishap_raise(INTERNAL_ERROR, "libpq has no connection."),
                                        store, pq.PQerrorMessage(store->connection)));
}

/*
 * Keep the first warning. A warning at a commit says that the change is less safe than it should
 * be: the wait for a synchronous standby was cancelled, and the server has committed alone.
 * Warnings of a service's own trigger (RAISE WARNING) are something else, and other notices are
 * ignored.
 */
static void hear_notice(void *state, const pq_result *notice)
{
    postgresql_store *store = state;
    const char *severity = pq.PQresultErrorField(notice, PQ_SEVERITY);
    const char *source = pq.PQresultErrorField(notice, PQ_SOURCE);
    const char *words = pq.PQresultErrorField(notice, PQ_MESSAGE);
    if (!*store->warning && severity && strcmp(severity, "WARNING") == 0 &&
        !(source && strcmp(source, "exec_stmt_raise") == 0))
        snprintf(store->warning, sizeof store->warning, "%s", words && *words ? words : "?");
}

void mishap_postgresql_disconnect(postgresql_store *store)
{
    if (store->connection)
        pq.PQfinish(store->connection);
    store->connection = NULL;
    store->queued = 0;
    store->begins = false;
    store->stale = false;
    for (size_t i = 0; i < store->base.schema->statement_count; i++) {
        store->statements[i].prepared = false;
        mishap_release(store->statements[i].sql);
        store->statements[i].sql = NULL;
    }
}

/* -- short queries ----------------------------------------------------------------------------- */

static mishap *explain(const postgresql_store *store, const pq_result *result)
{
    store_trouble trouble = mishap_postgresql_trouble(store, result);
    const char *state = result ? pq.PQresultErrorField(result, PQ_SQLSTATE) : NULL;
    mishap *failure = trouble == STORE_FINE ? NULL
                                            : mishap_postgresql_failure(store, result, trouble);
    if (!failure || !state || strcmp(state, "42501") != 0)
        return failure;
    return mishap_because(
        mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "The user of the store address may not use the database."),
            "Grant the user CREATE on the database, or the schema of the service."),
        failure);
}

/* Through a pooler, the text sets what it needs: all of it is one transaction. */
static pq_result *run_with_settings(postgresql_store *store, const char *sql, int64_t until_ms)
{
    mishap_buffer whole;
    mishap_buffer_init(&whole, NULL, 0);
    mishap_buffer_add(&whole, store->settings, strlen(store->settings));
    mishap_buffer_add(&whole, ";", 1);
    mishap_buffer_add(&whole, sql, strlen(sql) + 1);
    pq_result *result = whole.failed ? NULL : mishap_postgresql_run(store, whole.data, until_ms);
    mishap_buffer_release(&whole);
    return result;
}

/* Run a text until that time; returns the first value of its last result, as a copy, if it is asked
 * for. */
static mishap *run_until(postgresql_store *store, const char *sql, int64_t until_ms, char *value,
                         size_t size)
{
    pq_result *result = !store->connection ? NULL
                        : store->pooled    ? run_with_settings(store, sql, until_ms)
                                           : mishap_postgresql_run(store, sql, until_ms);
    mishap *failure = explain(store, result);
    if (!failure && value)
        snprintf(value, size, "%s", pq.PQntuples(result) ? pq.PQgetvalue(result, 0, 0) : "");
    pq.PQclear(result);
    return failure;
}

static mishap *run_text(postgresql_store *store, const char *sql, char *value, size_t size)
{
    return run_until(store, sql, mishap_postgresql_until(store), value, size);
}

/* The same, with the name of the schema inserted, which is lower_snake. */
__attribute__((format(printf, 4, 5))) static mishap *run_for(postgresql_store *store, char *value,
                                                             size_t size, const char *format, ...)
{
    char sql[STORE_SETTINGS];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(sql, sizeof sql, format, values);
    va_end(values);
    return length < (int)sizeof sql ? run_text(store, sql, value, size) : mishap_out_of_memory();
}

/*
 * What is set for a connection; through a pooler, for a transaction.
 *
 * Queries of a service are short: compiling one (jit) takes longer than running it. A small table
 * is read faster from end to end than by its index; but then a serializable transaction has read
 * all of its rows, and conflicts with every transaction that changes one of them. A server may be
 * configured not to wait for its disk; but what this library confirms must be durable.
 */
static mishap *set_settings(postgresql_store *store)
{
    static const char form[] =
        "SELECT set_config('search_path', '\"%s\"', %s), set_config('lock_timeout', '%d', %s),"
        " set_config('client_min_messages', 'warning', %s), set_config('jit', 'off', %s),"
        " set_config('datestyle', 'ISO', %s), set_config('intervalstyle', 'iso_8601', %s),"
        " set_config('enable_seqscan', 'off', %s), CASE WHEN current_setting('synchronous_commit')"
        " = 'off' THEN set_config('synchronous_commit', 'on', %s) END";
    const char *local = store->pooled ? "true" : "false";
    int length = snprintf(store->settings, sizeof store->settings, form, store->schema, local,
                          MISHAP_STORE_PATIENCE, local, local, local, local, local, local, local);
    if (length >= (int)sizeof store->settings)
        return mishap_out_of_memory();
    return store->pooled ? NULL : run_text(store, store->settings, NULL, 0);
}

/* Set up a connection before it is used. */
static mishap *set_up(postgresql_store *store)
{
    const char *encoding = pq.PQparameterStatus(store->connection, "server_encoding");
    pq.PQsetNoticeReceiver(store->connection, hear_notice, store);
    if (!encoding || strcmp(encoding, "UTF8") != 0)
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "The database of the store does not use UTF-8."),
            "Create the database with the encoding UTF8.");
    if (pq.PQsetnonblocking(store->connection, 1) != 0)
        return mishap_out_of_memory();
    mishap *failure = mishap_postgresql_meet(store);
    return failure ? failure : set_settings(store);
}

/* A server that was still starting may be ready by the time it is asked: then a second try
 * connects. Otherwise it refuses this connection. *hosts is how many the address has. */
static mishap *connect_to_host(postgresql_store *store, bool again, size_t *hosts)
{
    postgresql_options options;
    bool connected = false, reachable = true;
    *hosts = set_options(store, again, &options);
    for (int tries = 0; tries < 2 && !connected && reachable; tries++) {
        mishap_postgresql_disconnect(store);
        store->connection = pq.PQconnectdbParams(options.keywords, options.values, 1);
        if (!store->connection)
            return mishap_out_of_memory();
        connected = pq.PQstatus(store->connection) == PQ_CONNECTION_OK;
        reachable = connected || pq.PQpingParams(options.keywords, options.values, 1) == PQ_PING_OK;
    }
    mishap *failure = connected ? set_up(store) : not_connected(store, &options, reachable);
    if (failure)
        mishap_postgresql_disconnect(store);
    return failure;
}

/* libpq takes the first host that answers. If that is a primary which was replaced, the next one
 * may be the right one. */
static mishap *connect_to_server(postgresql_store *store, bool again)
{
    size_t hosts = 1;
    mishap *failure = NULL;
    for (size_t tries = 0; tries < hosts; tries++) {
        mishap_free(failure);
        store->refused = false;
        failure = connect_to_host(store, again, &hosts);
        if (!failure || !store->refused)
            break;
        store->turn++;
    }
    return failure;
}

/* -- the tables -------------------------------------------------------------------------------- */

/* Is there a schema of this name with a table `store`, and if so, is it ours? A schema of another
 * program is not touched. An empty schema may have been made for this one. All of it is seen in one
 * snapshot, which functions such as to_regclass() do not use. */
static mishap *look_for_store(postgresql_store *store, bool *is_there)
{
    const char *name = store->schema;
    char found[16] = "";
    mishap *failure = run_for(
        store, found, sizeof found,
        "SELECT CASE WHEN count(*) = 0 THEN 'none' WHEN count(*) FILTER (WHERE relname = 'store'"
        " AND (attname, atttypid) IN (('identity', 'text'::regtype), ('version',"
        " 'integer'::regtype))) = 2 THEN 'ours' ELSE 'foreign' END FROM pg_namespace n JOIN"
        " pg_class c ON c.relnamespace = n.oid JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE nspname = '%s'",
        name);
    *is_there = *found == 'o';
    return !failure && *found == 'f' ? mishap_store_is_foreign(NULL, name) : failure;
}

/* The version of the tables, and the identity; 0 and "" if there are none. */
static mishap *read_store(postgresql_store *store, int *version, char identity[STORE_IDENTITY])
{
    char number[16] = "";
    bool is_there = false;
    *version = 0;
    *identity = '\0';
    mishap *failure = look_for_store(store, &is_there);
    if (failure || !is_there)
        return failure;
    failure = run_text(store, "SELECT version FROM store", number, sizeof number);
    *version = (int)strtol(number, NULL, 10);
    if (!failure && *version < 0)
        failure = mishap_store_is_foreign(NULL, store->schema);
    return failure ? failure
                   : run_text(store, "SELECT identity FROM store", identity, STORE_IDENTITY);
}

/* CREATE SCHEMA needs a permission even if the schema exists. */
static mishap *make_schema(postgresql_store *store)
{
    const char *name = store->schema;
    char missing[8] = "";
    mishap *failure = run_for(store, missing, sizeof missing,
                              "SELECT to_regnamespace('\"%s\"') IS NULL", name);
    if (!failure && *missing == 't')
        failure = run_for(store, NULL, 0, "CREATE SCHEMA \"%s\"", name);
    if (!failure)
        failure = run_text(
            store,
            "CREATE TABLE IF NOT EXISTS store (identity text NOT NULL, version integer "
            "NOT NULL); INSERT INTO store SELECT replace(gen_random_uuid()::text, '-', "
            "''), 0 WHERE NOT EXISTS (SELECT 1 FROM store)",
            NULL, 0);
    return failure;
}

static mishap *run_migrations(postgresql_store *store, int *version, char identity[STORE_IDENTITY])
{
    const char *const *migrations = store->base.schema->postgresql;
    int newest = mishap_store_newest(migrations);
    /* If two processes do this at once, the second one waits here, and finds the work done. */
    char lock[200];
    snprintf(lock, sizeof lock, "SELECT pg_advisory_xact_lock(hashtext('mishap'), hashtext('%s'))",
             store->schema);
    mishap *failure = run_until(store, lock, INT64_MAX, NULL, 0);
    if (!failure)
        failure = make_schema(store);
    if (!failure)
        failure = read_store(store, version, identity);
    if (failure || *version >= newest)
        return failure;
    for (int i = *version; !failure && i < newest; i++)
        failure = mishap_note(run_until(store, migrations[i], INT64_MAX, NULL, 0), "migration",
                              i + 1);
    if (!failure)
        failure = run_for(store, NULL, 0, "UPDATE store SET version = %d", newest);
    if (!failure)
        *version = newest;
    return failure;
}

static mishap *bring_up_to_date(postgresql_store *store, int *version,
                                char identity[STORE_IDENTITY])
{
    mishap *failure = run_text(store, "BEGIN", NULL, 0);
    if (!failure)
        failure = run_migrations(store, version, identity);
    if (!failure)
        return run_text(store, "COMMIT", NULL, 0);
    mishap_free(run_text(store, "ROLLBACK", NULL, 0));
    return failure;
}

/* Without an identity this is the first opening, which creates what is missing. */
static mishap *take_store(postgresql_store *store, const char *identity)
{
    int version = 0, newest = mishap_store_newest(store->base.schema->postgresql);
    char found[STORE_IDENTITY] = "";
    mishap *failure = read_store(store, &version, found);
    if (!failure && !identity && version < newest)
        failure = bring_up_to_date(store, &version, found);
    if (failure)
        return failure;
    if (version > newest)
        return mishap_store_is_newer(NULL, version, newest);
    if (identity && (version != newest || strcmp(found, identity) != 0))
        return mishap_store_is_another(NULL);
    memcpy(store->base.identity, found, sizeof found);
    return NULL;
}

/* -- opening ----------------------------------------------------------------------------------- */

static mishap *connect_to_store(postgresql_store *store, const char *identity)
{
    mishap *failure = connect_to_server(store, identity != NULL);
    if (!failure && (failure = take_store(store, identity)))
        mishap_postgresql_disconnect(store);
    return failure;
}

mishap *mishap_postgresql_connect_again(postgresql_store *store)
{
    char identity[STORE_IDENTITY];
    memcpy(identity, store->base.identity, sizeof identity);
    return connect_to_store(store, identity);
}

/* A schema that was made for a test, which is over. A process that the test has killed may hold its
 * locks a little longer, and a busy server may answer late: then there is another try. */
static bool drop_schema(const char *address, const char *name)
{
    enum { LONGEST_MS = 60000, PAUSE_US = 100000 };
    static const mishap_store_schema none = { .name = "" };
    mishap_store *base = mishap_postgresql_store_new(address, &none);
    postgresql_store *store = (postgresql_store *)base;
    int64_t begun = mishap_store_now_ms();
    bool dropped = false, again = store != NULL;
    while (again) {
        mishap *failure = connect_to_server(store, false);
        if (!failure)
            failure = run_for(store, NULL, 0, "DROP SCHEMA IF EXISTS \"%s\" CASCADE", name);
        dropped = !failure;
        again = failure && mishap_told(failure)->retryable &&
                mishap_store_now_ms() - begun < LONGEST_MS;
        mishap_free(failure);
        if (again)
            usleep(PAUSE_US);
    }
    mishap_store_close(base);
    return dropped;
}

mishap *mishap_postgresql_open(mishap_store *base, const char *identity)
{
    postgresql_store *store = (postgresql_store *)base;
    mishap *failure = mishap_libpq_load();
    if (!failure)
        failure = check_address(store);
    if (!failure && mishap_rehearsal_page && *mishap_rehearsal_page->suffix &&
        !mishap_rehearsal_keep_schema(drop_schema, store->address, store->schema))
        return mishap_raise(NOT_CONFIGURED, "A test has too many stores.");
    mishap_timelines_open(&store->timelines, base->folder);
    return failure ? failure : connect_to_store(store, identity);
}

mishap_store *mishap_postgresql_store_new(const char *address, const mishap_store_schema *schema)
{
    size_t align = _Alignof(postgresql_statement);
    size_t size = (sizeof(postgresql_store) + strlen(address) + align) / align * align;
    size_t statements = schema->statement_count * sizeof(postgresql_statement);
    postgresql_store *store = mishap_allocate(size + statements);
    if (!store)
        return NULL;
    memset(store, 0, size + statements);
    store->base.engine = &mishap_postgresql_engine;
    store->timelines.file = -1;
    store->base.schema = schema;
    snprintf(store->schema, sizeof store->schema, "%s%s", schema->name,
             mishap_rehearsal_page ? mishap_rehearsal_page->suffix : "");
    store->statements = (postgresql_statement *)(void *)((char *)store + size);
    memcpy(store->address, address, strlen(address) + 1);
    return &store->base;
}
