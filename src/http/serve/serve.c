/* `serve`: converts its flags to settings of the server. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/cluster/cluster.h"
#include "http/keys/blocks.h"
#include "http/keys/file.h"
#include "http/serve/serve.h"
#include "http/tokens/tokens.h"
#include "http/wire/wire.h"
#include "incident/incident.h"
#include "index/index.h"
#include "mishap/worker.h"
#include "operation/call.h"
#include "operation/chosen.h"
#include "operation/declare.h"
#include "operation/settings.h"
#include "operation/shared_secret.h"
#include "server/origin.h"

enum { LONGEST_MS = 24 * 3600 * 1000, MOST_WORKERS = 64, HEAD_LIMIT = 16384 };

static const mishap_param params[] = {
    { "listen", MISHAP_STRING, .initial = "\"127.0.0.1:8080\"", .length = { 1, 300 },
      .pattern = "^(\\[[0-9a-fA-F:.%]+\\]|[^:\\s/\\[\\]]+):[0-9]{1,5}$", .placeholder = "HOST:PORT",
      .looks = "HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080",
      .help = "Address and port to listen on; port 0 selects a free port" },
    { "data", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "DIR", .environment = NULL,
      .help = "The folder for persistent data" },
    { "workers", MISHAP_INTEGER, .range = { 0, MOST_WORKERS }, .initial = "0", .placeholder = "N",
      .help = "Number of server processes; 0: one for each CPU core" },
    { "access_log", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "FILE", .file = true,
      .help = "File for the access log; - is standard error; by default requests are not logged" },
    { "require_key", MISHAP_BOOLEAN,
      .help =
          "Require an API key for every call; always on if the address is not a loopback address" },
    { "rate", MISHAP_INTEGER, .range = { 0, 1000000 }, .initial = "0", .placeholder = "N",
      .help = "Requests per second that one caller may send; 0: no limit" },
    { "caller_share", MISHAP_INTEGER, .range = { 1, 100 }, .initial = "25",
      .placeholder = "PERCENT",
      .help = "Share of all streams, sessions, subscriptions and waiting calls that one caller may "
              "use" },
    { "cors", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "ORIGINS",
      .help = "Allowed origins of web pages, separated by commas; * allows all" },
    { "public_url", MISHAP_STRING, .length = { 1, 300 },
      .pattern = "^https?://[^\\s?#\"\\\\]+[^\\s?#\"\\\\/]$",
      .looks = "https://api.example.com, without a trailing slash", .placeholder = "URL",
      .help = "Public base URL of the server, for links in responses" },
    { "oauth_issuer", MISHAP_ARRAY, .length = { 1, MISHAP_HTTP_MOST_ISSUERS },
      .items = MISHAP_ITEM(MISHAP_STRING, .length = { 1, 300 },
                           .pattern = "^([a-z0-9][a-z0-9._-]{0,14}=)?https?://[^\\s@?#\"]+$",
                           .looks = "[ALIAS=]https://login.example.com, as in the claim `iss`"),
      .placeholder = "[ALIAS=]URL",
      .help = "Accept access tokens of this OAuth issuer, beside API keys; needs --public-url" },
    { "oauth_jwks", MISHAP_ARRAY, .length = { 1, MISHAP_HTTP_MOST_ISSUERS },
      .items = MISHAP_ITEM(MISHAP_STRING, .length = { 1, 4000 }), .placeholder = "FILE",
      .help = "Key set of the issuer, a JSON file that is read again when it changes; one for each "
              "--oauth-issuer, in the same order; by default the server fetches them" },
    { "oauth_audience", MISHAP_ARRAY, .length = { 1, 8 },
      .items = MISHAP_ITEM(MISHAP_STRING, .length = { 1, 300 }), .placeholder = "NAME",
      .help = "Also accept tokens that are for this audience; always those for the public URL" },
    { "oauth_operator", MISHAP_ARRAY, .length = { 1, MISHAP_HTTP_MOST_ISSUERS },
      .items = MISHAP_ITEM(MISHAP_STRING, .length = { 1, MISHAP_TOKEN_LONGEST_ALIAS }),
      .placeholder = "ALIAS",
      .help = "Tokens of this issuer may have the scope operator; by default none may" },
    { "cluster", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "URL",
      .help = "Share API keys, MCP sessions and notices of changes with other servers, in this "
              "PostgreSQL database: postgresql://USER@HOST/DATABASE, or @FILE with that in it" },
    { "secret", MISHAP_STRING, .file = true, .length = { 1, 4000 }, .placeholder = "FILE",
      .help = "Secret that all servers behind a load balancer share, so that MCP sessions and "
              "questions work at any of them: a file with one or two lines of 64 hexadecimal "
              "digits" },
    { "keys_stale_ms", MISHAP_INTEGER, .range = { 1000, LONGEST_MS }, .initial = "60000",
      .placeholder = "N",
      .help = "With --cluster: how long keys are accepted while the database cannot be read" },
    { "oauth_map", MISHAP_STRING, .file = true, .length = { 1, 4000 }, .placeholder = "FILE",
      .help = "Names for subjects of issuers: lines with ALIAS:SUBJECT, a space and a name" },
    { "otlp", MISHAP_STRING, .length = { 1, 2000 }, .pattern = "^https?://[^\\s@?#]+$",
      .looks = "http://HOST:4318, without a user or a password", .placeholder = "URL",
      .help = "Collector of OpenTelemetry that gets incidents and metrics, as OTLP/HTTP with JSON; "
              "by default what OTEL_EXPORTER_OTLP_ENDPOINT says" },
    { "otlp_spans", MISHAP_BOOLEAN, .help = "The collector gets a span of each failed call, too" },
    MISHAP_SERVED_PARAMS,
    MISHAP_HTTP_TASK_PARAMS,
    { "incident_days", MISHAP_INTEGER, .range = { 0, 36500 }, .initial = "30", .placeholder = "N",
      .help = "Days for which incidents can be found; 0: for ever" },
    { "incident_max_mb", MISHAP_INTEGER, .range = { 0, 1 << 30 }, .initial = "1024",
      .placeholder = "N",
      .help = "Size of the index of incidents, in MB; beyond it the oldest ones are deleted; 0: no "
              "limit" },
    { "max_connections", MISHAP_INTEGER, .range = { 1, 1000000 }, .initial = "20000",
      .placeholder = "N",
      .help = "Most connections of each server process; fewer if the limit of open files is too "
              "small" },
    { "body_limit", MISHAP_INTEGER, .range = { 1, 1 << 30 }, .initial = "1048576",
      .placeholder = "BYTES", .help = "Largest body of a request" },
    { "mcp_body_limit", MISHAP_INTEGER, .range = { 1, 1 << 30 }, .initial = "10485760",
      .placeholder = "BYTES", .help = "Largest body of a request to /mcp" },
    { "max_body_memory_mb", MISHAP_INTEGER, .range = { 0, 1 << 20 }, .initial = "256",
      .placeholder = "N",
      .help = "Memory for request bodies of all server processes together, in MB; at least one "
              "body of the largest size; 0: no limit" },
    { "head_timeout_ms", MISHAP_INTEGER, .range = { 1, LONGEST_MS }, .initial = "10000",
      .placeholder = "N", .help = "Timeout for receiving the head of a request" },
    { "body_timeout_ms", MISHAP_INTEGER, .range = { 1, LONGEST_MS }, .initial = "30000",
      .placeholder = "N", .help = "Timeout for receiving the body of a request" },
    { "idle_timeout_ms", MISHAP_INTEGER, .range = { 1, LONGEST_MS }, .initial = "60000",
      .placeholder = "N", .help = "Timeout of an idle connection" },
    { "stop_timeout_ms", MISHAP_INTEGER, .range = { 1, LONGEST_MS }, .initial = "10000",
      .placeholder = "N", .help = "Timeout for requests in progress when the server stops" },
    { "drain_ms", MISHAP_INTEGER, .range = { 0, LONGEST_MS }, .initial = "0", .placeholder = "N",
      .help = "How long the server still accepts connections when it is told to stop, while /ready "
              "is 503" },
    { "drain_minutes", MISHAP_INTEGER, .range = { 0, 1440 }, .initial = "0", .placeholder = "N",
      .help = "How long the server still serves the sessions that have begun when it is told to "
              "stop; it stops earlier if none is left" },
    { "stale_ms", MISHAP_INTEGER, .range = { 0, LONGEST_MS }, .initial = "0", .placeholder = "N",
      .help = "Run searches and lists on standbys of PostgreSQL that are at most N ms behind the "
              "primary; 0: run them on the primary" },
    { "server_number", MISHAP_INTEGER, .range = { 0, 63 }, .initial = "0", .placeholder = "N",
      .help = "The number of this server in ids of MCP sessions, for a load balancer; 0: none" },
    { "chaos", MISHAP_BOOLEAN,
      .help = "Also serve the operations that fail on purpose, for drills" },
    { 0 },
};

static const mishap_example examples[] = {
    { "serve", "Serve only this machine, on port 8080" },
    { "serve --listen 0.0.0.0:80 --workers 4 --access-log access.jsonl",
      "Serve other machines; API keys are required" },
    { "serve --listen 127.0.0.1:0 --chaos",
      "Serve on a free port, with the operations for drills" },
    { "serve --service NAME,NAME", "Serve only the operations of two services" },
    { 0 },
};

/* -- where to listen --------------------------------------------------------------------------- */

/* "[::1]:8080" → "::1" and 8080. */
static mishap *read_listen(mishap_call *call, mishap_http_settings *settings)
{
    const char *listen = mishap_string(call, "listen"), *colon = strrchr(listen, ':');
    bool brackets = listen[0] == '[';
    long port = strtol(colon + 1, NULL, 10);
    settings->host = mishap_call_print(call, "%.*s", (int)(colon - listen) - 2 * brackets,
                                       listen + brackets);
    settings->port = (int)port;
    if (port > 65535)
        return mishap_field_range(mishap_raise(VALIDATION_ERROR, NULL), "listen",
                                  mishap_value_of_int(0), mishap_value_of_int(65535),
                                  mishap_value_of_int(port));
    return NULL;
}

/* An origin that no browser ever sends is a mistake, which is better reported now. */
static mishap *read_cors(mishap_call *call, mishap_http_settings *settings)
{
    settings->cors = mishap_string(call, "cors");
    mishap_text wrong = { NULL, 0 };
    if (settings->cors)
        wrong = mishap_http_unsound_origin(settings->cors);
    if (!wrong.data)
        return NULL;
    mishap *m = mishap_raise(
        ARG_ERROR,
        "The value `%.*s` of --cors is not an origin. An origin is scheme://host[:port] in lower "
        "case, without a path and without the default port of the scheme.",
        (int)wrong.length, wrong.data);
    return mishap_suggest(m, "For example: --cors https://app.example.com,http://localhost:3000");
}

/* Where links lead to, and where telemetry goes. */
static void read_addresses(mishap_call *call, mishap_http_settings *settings)
{
    settings->public_url = mishap_string(call, "public_url");
    settings->otlp = mishap_string(call, "otlp");
    settings->otlp_spans = mishap_boolean(call, "otlp_spans");
}

/* True if every address of the name is one of this machine alone. */
static bool is_loopback(const char *host)
{
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    bool all = getaddrinfo(host, NULL, &wanted, &found) == 0;
    for (const struct addrinfo *at = found; at; at = at->ai_next) {
        const void *address = at->ai_addr;
        if (at->ai_family == AF_INET)
            all = all && ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
        else
            all = all && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
    }
    if (found)
        freeaddrinfo(found);
    return all;
}

/* -- what is needed ---------------------------------------------------------------------------- */

static void warn_of_readers(mishap_call *call, const mishap_served *served)
{
    char line[4400];
    const char *data = served->setup.data;
    const char *path = mishap_call_print(call, "%s/keys", data);
    if (mishap_key_file_advise(data, path, path, line, sizeof line))
        dprintf(STDERR_FILENO, "%s: %s\n", served->app->name, line);
}

static mishap *check_blocks(mishap_call *call, const char *data)
{
    mishap_block_file file;
    mishap *failure = mishap_block_file_read(
        mishap_call_print(call, "%s/" MISHAP_BLOCKS_FILE, data), &file);
    mishap_block_file_release(&file);
    return failure;
}

static mishap *read_secret(mishap_call *call, mishap_served *served)
{
    static mishap_shared_secret secret; /* it lives as long as the server */
    const char *path = mishap_string(call, "secret");
    if (!path)
        return NULL;
    served->secret = &secret;
    return mishap_shared_secret_read(path, &secret);
}

static mishap *check_keys(mishap_call *call, mishap_http_settings *settings)
{
    const mishap_served *served = settings->served;
    mishap_http_keys *keys = NULL;
    mishap *failure = mishap_serve_read_cluster(call, settings);
    if (!failure)
        failure = read_secret(call, settings->served);
    if (failure)
        return failure;
    const char *data = served->setup.data, *folder = settings->cluster ? settings->cluster : data;
    failure = mishap_http_keys_open_in(folder, data, served->app->scopes, &keys);
    size_t count = failure ? 0 : mishap_http_keys_count(keys);
    if (!failure && !settings->key_required && mishap_http_keys_are_gone(keys))
        dprintf(STDERR_FILENO,
                "%s: API keys were used with this %s, and there is none any more. Callers "
                "that name themselves are refused. " MISHAP_CALLER_KEYS_ADVICE "\n",
                served->app->name, settings->cluster ? "cluster" : "data folder");
    mishap_http_keys_close(keys);
    warn_of_readers(call, served);
    if (!failure)
        failure = check_blocks(call, served->setup.data);
    if (failure || !settings->key_required || count || settings->issuers)
        return failure;
    failure = mishap_raise(NOT_CONFIGURED, "No API key exists, so every request would be refused.");
    return mishap_suggest(
        failure, mishap_call_print(call, "Create an API key: `%s keys add --name NAME --%s %s`",
                                   served->app->name, settings->cluster ? "cluster" : "data",
                                   settings->cluster ? "URL" : data));
}

/* Make the key of the operator when the server starts for the first time. Without it the server
 * works, but for /incidents. The address of the console, which has the key in it, is for a terminal
 * alone: other output may be stored where others can read it. */
static const char *make_operator_key(mishap_call *call, const mishap_served *served)
{
    char key[MISHAP_KEY_LENGTH + 1];
    const char *console = NULL;
    mishap *failure = mishap_key_operator_make(served->setup.data, key);
    if (failure)
        dprintf(STDERR_FILENO, "%s: %s There is no access to /incidents with this key.\n",
                served->app->name, mishap_told(failure)->message.data);
    else if (isatty(STDERR_FILENO))
        console = mishap_call_print(call, "/console#key=%s", key);
    mishap_free(failure);
    explicit_bzero(key, sizeof key);
    return console;
}

/* Create the folder if it does not exist. 0, or an errno that says why it cannot be used. */
static int try_folder(char *folder)
{
    struct stat status;
    if (!mishap_system_make_folder(folder) || stat(folder, &status) != 0)
        return errno;
    if (!S_ISDIR(status.st_mode))
        return ENOTDIR;
    return access(folder, R_OK | W_OK | X_OK) == 0 ? 0 : errno;
}

static mishap *make_folder(const char *path)
{
    char folder[4096], cause[128];
    size_t length = path ? strlen(path) : 0;
    if (!path)
        return mishap_suggest(mishap_raise(NOT_CONFIGURED, "No data folder is configured."),
                              "Give a data folder with --data.");
    if (length >= sizeof folder)
        return mishap_raise(NOT_CONFIGURED, "The path of the data folder is too long.");
    memcpy(folder, path, length + 1);
    int error = try_folder(folder);
    if (!error)
        return NULL;
    mishap_system_error(error, cause, sizeof cause);
    mishap *m = mishap_raise(NOT_CONFIGURED, "The data folder %s cannot be used.", path);
    m = mishap_tell(mishap_tell_cause(m, cause), "data", path);
    return mishap_suggest(m, "Give --data a folder that the server can write to.");
}

static int loop_count(mishap_call *call)
{
    int64_t wanted = mishap_integer(call, "workers");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (wanted)
        return (int)wanted;
    return cores < 1 ? 1 : cores > MOST_WORKERS ? MOST_WORKERS : (int)cores;
}

/* One body of the largest size, with its head, always fits. */
static size_t bodies_limit(mishap_call *call)
{
    size_t limit = (size_t)mishap_integer(call, "max_body_memory_mb") << 20;
    size_t body = (size_t)mishap_integer(call, "body_limit");
    size_t message = (size_t)mishap_integer(call, "mcp_body_limit");
    size_t least = (body > message ? body : message) + HEAD_LIMIT;
    return !limit || limit > least ? limit : least;
}

/* The API, and further extensions; NULL ends the list. There is room for one more than a server
 * accepts, which the server reports when it starts. */
static const mishap_http_extension *extensions[MISHAP_HTTP_MOST_EXTENSIONS + 2] = {
    &mishap_api_over_http, &mishap_index_over_http, &mishap_fields_of_handlers,
    &mishap_http_resource, &mishap_cluster_over_http
};

void mishap_http_extend(const mishap_http_extension *extension)
{
    size_t count = 0;
    while (extensions[count])
        count++;
    if (count <= MISHAP_HTTP_MOST_EXTENSIONS)
        extensions[count] = extension;
}

static const mishap_http_endpoint *find_endpoint(const mishap_http_endpoint *endpoints,
                                                 const char *route)
{
    for (; endpoints && endpoints->route; endpoints++)
        if (!endpoints->yields && !endpoints->fallback &&
            mishap_route_same(endpoints->route, route))
            return endpoints;
    return NULL;
}

mishap *mishap_http_headers_declared(const mishap_app *app)
{
    return mishap_http_headers_fit(app, extensions);
}

mishap *mishap_http_routes_declared(const mishap_app *app)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++) {
        const mishap_http_endpoint *own = NULL;
        if (o->route)
            own = find_endpoint(mishap_http_endpoints, o->route);
        for (size_t i = 0; o->route && !own && extensions[i]; i++)
            own = find_endpoint(extensions[i]->endpoints, o->route);
        if (own)
            return mishap_declared_wrongly(
                &(mishap_declared){ .app = app, .operation = o },
                "has the route `%s`, which is a built-in route of the server", own->route);
    }
    return NULL;
}

static void read_limits(mishap_call *call, mishap_http_settings *settings)
{
    settings->rate = (int)mishap_integer(call, "rate");
    settings->caller_share = (int)mishap_integer(call, "caller_share");
    settings->head_limit = HEAD_LIMIT;
    settings->target_limit = 8192;
    settings->body_limit = (size_t)mishap_integer(call, "body_limit");
    settings->bodies_limit = bodies_limit(call);
    settings->head_ms = (int)mishap_integer(call, "head_timeout_ms");
    settings->body_ms = (int)mishap_integer(call, "body_timeout_ms");
    settings->write_ms = 30000;
    settings->idle_ms = (int)mishap_integer(call, "idle_timeout_ms");
    settings->stop_ms = (int)mishap_integer(call, "stop_timeout_ms");
    settings->server_number = (int)mishap_integer(call, "server_number");
    settings->drain_ms = (int)mishap_integer(call, "drain_ms");
    settings->sessions_ms = mishap_integer(call, "drain_minutes") * 60000;
    mishap_http_tasks(call, settings->served);
}

/* The address of the store of incidents; NULL: none is given. It is a setting of the service that
 * shows incidents, and counts also where that service is not served. */
static const char *incident_store(const mishap_app *app)
{
    const mishap_service *services[MISHAP_MOST_SERVICES];
    const mishap_param *declared;
    yyjson_val *values;
    size_t count = mishap_services_of(app, services);
    for (size_t i = 0; i < count; i++)
        if (strcmp(services[i]->name, MISHAP_INDEX_SERVICE) == 0 &&
            mishap_settings_find(services[i], &declared, &values))
            return yyjson_get_str(yyjson_obj_get(values, MISHAP_INDEX_STORE));
    return NULL;
}

static mishap *plan_index(mishap_call *call, const mishap_served *served,
                          const mishap_http_settings *settings)
{
    const char *store = incident_store(call->app);
    mishap *failure = mishap_index_store_check(store);
    if (failure)
        return failure;
    mishap_http_index(&(mishap_index_plan){
        .program = served->app->name,
        .data = served->setup.data,
        .journal = settings->log,
        .days = (int)mishap_integer(call, "incident_days"),
        .max_bytes = (uint64_t)mishap_integer(call, "incident_max_mb") << 20,
        .store = store,
    });
    return NULL;
}

/* What the boundaries share, and the header fields that this makes them read. */
static void read_served(mishap_call *call, mishap_served *served)
{
    mishap_served_read(served, call);
    mishap_serve_read_stale(call, served);
    mishap_http_wish_headers(served->app, mishap_count(call, "oauth_issuer") > 0,
                             served->setup.stale_ms > 0, mishap_integer(call, "drain_minutes") > 0);
}

static mishap *run_serve(mishap_call *call)
{
    mishap_app app;
    mishap *failure = mishap_app_choose(call->app, mishap_string(call, "service"), &call->arena,
                                        &app);
    if (failure)
        return failure;
    mishap_served served = {
        .app = &app,
        .services = mishap_string(call, "service"),
        .setup = { .data = mishap_call_data_folder(call) },
        .chaos = mishap_boolean(call, "chaos"),
        .verbose = call->verbose,
        .call_ms = call->timeout_ms,
        .caller_share = (int)mishap_integer(call, "caller_share"),
        .server_number = (int)mishap_integer(call, "server_number"),
        .message_limit = (size_t)mishap_integer(call, "mcp_body_limit"),
    };
    char log[4096];
    read_served(call, &served);
    mishap_http_settings settings = {
        .extensions = extensions,
        .served = &served,
        .admit = mishap_api_admit,
        .challenge = mishap_http_challenge,
        .refuse = mishap_api_refuse_and_record,
        .guide = "/openapi.json",
        .program = call->app->name,
        .loops = loop_count(call),
        .heartbeat = served.handlers > 0,
        .max_connections = (int)mishap_integer(call, "max_connections"),
        .access_log = mishap_string(call, "access_log"),
        .log_bytes = served.log_bytes,
        .log_json = served.log_json,
    };
    read_limits(call, &settings);
    failure = mishap_api_counted(served.app, &call->arena, &settings.counted);
    if (!failure)
        failure = read_listen(call, &settings);
    if (!failure)
        failure = read_cors(call, &settings);
    if (!failure)
        failure = make_folder(served.setup.data);
    if (failure)
        return failure;
    settings.key_required = mishap_boolean(call, "require_key") || !is_loopback(settings.host);
    read_addresses(call, &settings);
    if (!mishap_incident_log_is_off(call->app->name) &&
        mishap_incident_log_path(call->app->name, log, sizeof log))
        settings.log = log;
    failure = mishap_serve_read_issuers(call, &settings);
    if (!failure)
        failure = check_keys(call, &settings);
    if (failure)
        return failure;
    settings.console = make_operator_key(call, &served);
    failure = plan_index(call, &served, &settings);
    if (!failure)
        failure = mishap_http_supervise(&settings);
    return failure ? failure : mishap_answer_member(call, "stopped", (bool)true);
}

const mishap_operation mishap_serve = {
    .name = "serve",
    .summary = "Serve the operations over HTTP",
    .description =
        "The server has one endpoint for each operation that declares a route. All error responses "
        "have the same format. The server also has /health, /ready, /metrics, /openapi.json and "
        "/errors, which explains each error code. A browser gets pages: /, /docs, /errors and "
        "/console. At /mcp, agents can call the operations as tools of the "
        "Model Context Protocol.\n\nA supervisor process starts and monitors the server processes, "
        "which read requests and send responses: one for each CPU core, or as many as --workers "
        "says. Handlers run in separate worker processes: a handler that crashes, hangs or exits "
        "fails only its own call. The timeout of a handler is the one that its operation declares, "
        "or 30 seconds; --timeout-ms can only shorten it.\n\nOn SIGTERM or SIGINT the server "
        "closes its listening sockets, at once or after --drain-ms, and exits after all accepted "
        "requests are answered; a second signal stops it at once. SIGHUP reopens the access log. "
        "SIGUSR1 replaces the "
        "server processes. Signals that have no meaning for the server do not stop it.",
    .params = params,
    .run = run_serve,
    .raises = MISHAP_RAISES(UNAVAILABLE, NOT_CONFIGURED, PRECONDITION, INPUT_UNREADABLE,
                            OUTPUT_FAILED),
    .danger = MISHAP_MUTATING,
    .examples = examples,
    .group = "Server",
    .resident = true,
};
