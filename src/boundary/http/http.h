/*
 * src/boundary/http: a program's operations as an HTTP/1.1 API.
 *
 *     serve.c        `serve`: flags into settings
 *     supervisor.c   the processes, replaced when they end
 *     listen.c       the sockets that they listen on
 *     worker.c       one process: loop, listener, jobs
 *     connection.c   sockets: accepting, reading, writing, closing
 *     wait.c         how long they may take
 *     exchange.c     one request after the other on a connection
 *     request.c      bytes into a request
 *     head.c         … its head: fields, checks, target
 *     answer.c       a request into a reply
 *     route.c        which operation is meant
 *     arguments.c    path, query and body as one object
 *     refuse.c       a mishap into a reply
 *     negotiate.c    which dialect is wanted
 *     media.c        media types, and ranges of them
 *     remote.c       which address it comes from
 *     origin.c       whose page it is that calls
 *     reply.c        status, fields and body as bytes
 *     later.c        answers that come later, and streams
 *     endpoints.c    what every server answers beside its operations
 *
 *     openapi.c, reference.c, metrics.c, keys.c, keys_commands.c, rate.c, cors.c, access.c
 *
 * Who owns what: the supervisor owns the listening sockets and the memory that all workers share
 * (metrics, rates). A worker owns its loop and everything on it. A call belongs to the thread that
 * runs its handler until that thread hands it back to the loop.
 */
#ifndef MISHAP_BOUNDARY_HTTP_H
#define MISHAP_BOUNDARY_HTTP_H

#include "base/base.h"
#include "mishap/dialect.h"
#include "mishap/http.h"
#include "operation/operation.h"

/* -- settings ---------------------------------------------------------------------------------- */

/* How a server was started. All text lives as long as the server. */
struct mishap_http_extension;

typedef struct mishap_http_settings {
    const mishap_app *app;
    mishap_setup setup;                            /* data folder and store */
    const char *host;                              /* to listen on */
    int port;                                      /* 0: any that is free */
    int workers;                                   /* processes */
    int threads;                                   /* handlers that run at once in each */
    int max_connections;                           /* of each worker; beyond that 503 */
    const struct mishap_http_extension *extension; /* what is served beside; NULL: nothing */
    bool chaos;                                    /* with the operations that fail on purpose */
    bool key_required;                             /* no call without an API key */
    bool verbose;                                  /* the private side of a failure on stderr too */
    const char *public_url; /* how callers reach it, for links, without a slash at the end; NULL:
                               where it listens */
    const char *access_log; /* a file, "-": stderr, NULL: none */
    const char *cors;       /* origins with commas between, "*": any, NULL: none */
    int rate;               /* requests a second for each caller; 0: no limit */
    size_t head_limit;      /* bytes of request line and fields */
    size_t target_limit;    /* bytes of the request target */
    size_t body_limit;
    int call_ms;  /* how long any handler may take; 0: as its operation says */
    int head_ms;  /* how long the head may take, from its first byte */
    int body_ms;  /* … and the body after it */
    int write_ms; /* how long a peer may take nothing of what is written to it */
    int idle_ms;  /* how long a connection may wait for its next request */
    int stop_ms;  /* how long to wait for what is in flight, when told to stop */
} mishap_http_settings;

/* -- requests ---------------------------------------------------------------------------------- */

typedef enum mishap_http_method {
    MISHAP_HTTP_GET,
    MISHAP_HTTP_POST,
    MISHAP_HTTP_PUT,
    MISHAP_HTTP_PATCH,
    MISHAP_HTTP_DELETE,
    MISHAP_HTTP_HEAD,
    MISHAP_HTTP_OPTIONS,
    MISHAP_HTTP_OTHER, /* CONNECT, TRACE and such: known to nobody here */
    MISHAP_HTTP_METHODS,
} mishap_http_method;

/* "GET"; for OTHER "OTHER". */
extern const mishap_text mishap_http_method_names[MISHAP_HTTP_METHODS];

/* The fields that something here reads. The others are checked and forgotten. */
typedef enum mishap_http_field {
    MISHAP_HTTP_HOST,
    MISHAP_HTTP_ACCEPT,
    MISHAP_HTTP_CONTENT_TYPE,
    MISHAP_HTTP_AUTHORIZATION,
    MISHAP_HTTP_API_KEY, /* X-Api-Key */
    MISHAP_HTTP_ORIGIN,
    MISHAP_HTTP_EXPECT,
    MISHAP_HTTP_REQUEST_METHOD, /* Access-Control-Request-Method */
    MISHAP_HTTP_USER_AGENT,
    MISHAP_HTTP_TRANSFER_ENCODING,
    MISHAP_HTTP_MCP_SESSION, /* Mcp-Session-Id */
    MISHAP_HTTP_MCP_VERSION, /* MCP-Protocol-Version */
    MISHAP_HTTP_MCP_METHOD,  /* Mcp-Method */
    MISHAP_HTTP_MCP_NAME,    /* Mcp-Name */
    MISHAP_HTTP_LAST_EVENT,  /* Last-Event-ID */
    MISHAP_HTTP_CONTENT_ENCODING,
    MISHAP_HTTP_ACCEPT_ENCODING,
    MISHAP_HTTP_FORWARDED_FOR, /* X-Forwarded-For */
    MISHAP_HTTP_FIELDS,
} mishap_http_field;

/* A request that has come in whole. All text points into memory of the connection. */
typedef struct mishap_http_request {
    mishap_http_method method;
    mishap_text target;                     /* as it came */
    mishap_text path;                       /* without the query, still escaped: "/todos/a%20b" */
    mishap_text query;                      /* behind the question mark, still escaped */
    mishap_text fields[MISHAP_HTTP_FIELDS]; /* without white space around; no data: not there */
    mishap_text body;
    mishap_text remote; /* the caller's address, also behind a proxy: "192.0.2.1" */
    bool keep_alive;
    bool persists_by_default;      /* HTTP/1.1: keeping the connection open need not be said */
    int64_t started_ns;            /* when its first byte came, on the monotonic clock */
    char id[MISHAP_ID_LENGTH + 1]; /* X-Request-Id, and the id of an incident */
    const char *caller;            /* the name that its key stands for; NULL: none */
} mishap_http_request;

/* -- replies ----------------------------------------------------------------------------------- */

typedef struct mishap_http_reply {
    int status;
    const char *media_type;  /* NULL where there is no body */
    mishap_buffer body;      /* the reply's own */
    mishap_text content;     /* what is sent: the body, or words that need no memory */
    mishap_buffer fields;    /* further fields, each a line that ends in CR LF */
    bool vary_accept;        /* another Accept, or … */
    bool vary_origin;        /* … another Origin gets another reply: for caches */
    const mishap_code *code; /* of the failure, NULL: it worked */
    bool close;              /* the connection ends with this reply */
} mishap_http_reply;

/* Add a field: name and value are checked by nobody, so they must be clean. */
void mishap_http_reply_field(mishap_http_reply *reply, const char *name, mishap_text value);

/* Spell a failure in the dialect that the request asks for: status, body, Retry-After, and what the
 * code needs beside them (WWW-Authenticate). The mishap gets the id of the request and stays the
 * caller's. */
void mishap_http_refuse(mishap_http_reply *reply, const mishap_http_settings *settings,
                        const mishap_http_request *request, mishap *failure);

/* The dialect of JSON for failures that an Accept field asks for; without one, or if it names none
 * that we know, http-api. */
const mishap_dialect *mishap_http_negotiate(mishap_text accept);

/* -- answers that come later ------------------------------------------------------------------- */

/*
 * A request whose endpoint answers later: at once as a whole, or as a stream of events. It belongs
 * to the loop, and only the loop's thread may touch it. Whoever has it must answer or end it,
 * unless the peer goes away first: then closed() is called, and it is gone when that returns.
 *
 * The functions below never call back. closed() comes when the loop gets to it, and requests that
 * the peer has sent behind this one are read then, too. So they may be called from anywhere on the
 * loop: from an endpoint, its own or another, done() of a job, tick(), drain(), closed() of another
 * one. No lock is held meanwhile. The reply may be any but that of an endpoint that is being asked
 * for another request.
 */
typedef struct mishap_http_later mishap_http_later;
struct mishap_http_later {
    struct mishap_http_server *server;
    struct mishap_http_exchange *exchange;
    mishap_http_request request; /* with text of its own, but without the body */
    int64_t route;
    bool streaming, last;    /* the head is out; the connection ends with it */
    const mishap_code *code; /* of a failure that a stream has told of; NULL: none */
    void *owner;
    void (*closed)(mishap_http_later *later);
};

/* From an endpoint's answer(), which leaves reply->status 0: the request is answered later. NULL:
 * there is no memory. */
mishap_http_later *mishap_http_defer(struct mishap_http_server *server,
                                     const mishap_http_request *request);

/* Answer as a whole. Takes nothing of the reply; the later is gone afterwards. */
void mishap_http_later_answer(mishap_http_later *later, mishap_http_reply *reply);

/* Send the head of a stream: `reply` has status, media type and fields, and no body. Then pieces of
 * it, each sent at once; false: the peer does not read, and the stream was closed. Then its end,
 * after which the later is gone. HTTP/1.1 gets chunks; for HTTP/1.0 the connection ends with it.
 * After a piece that could not be sent, closed() will follow; to end it before that is right, too.
 */
void mishap_http_later_begin(mishap_http_later *later, mishap_http_reply *reply);
bool mishap_http_later_send(mishap_http_later *later, mishap_text piece);
void mishap_http_later_end(mishap_http_later *later);

/* -- routes ------------------------------------------------------------------------------------ */

struct mishap_http_server; /* what an endpoint may look at; see worker.h */

/* Something beside operations that answers at a path: /health, /metrics, /openapi.json. */
typedef struct mishap_http_endpoint {
    const char *route; /* "GET /health"; `:name` matches a segment */
    const char *name;  /* for metrics */
    bool open;         /* also for callers without a key */
    void (*answer)(struct mishap_http_server *server, const mishap_http_request *request,
                   mishap_text segment, mishap_http_reply *reply); /* the text of the first :name */
} mishap_http_endpoint;

/* Something that is served beside the operations, with a state of its own in each worker. */
typedef struct mishap_http_extension {
    const mishap_http_endpoint *endpoints; /* the list ends with a NULL route */
    /* Before the workers are made: memory that all of them share. */
    mishap *(*prepare)(const struct mishap_http_settings *settings, void **shared);
    /* In a worker: its state is server->extension_state afterwards. */
    mishap *(*open)(struct mishap_http_server *server, void *shared, void **state);
    void (*tick)(void *state);  /* several times a second */
    void (*drain)(void *state); /* the worker ends soon: so must streams */
    void (*close)(void *state);
} mishap_http_extension;

enum { MISHAP_HTTP_PATH_PARAMS = 8 }; /* of one route, at most */

/* Where a request leads. */
typedef struct mishap_http_match {
    size_t route;                      /* the number of the route, for metrics */
    const mishap_operation *operation; /* or … */
    const mishap_http_endpoint *endpoint;
    unsigned allowed; /* methods at this path, a bit each (1 << MISHAP_HTTP_GET); 0: no such path */
    size_t param_count;
    struct {
        const char *name;
        mishap_text raw; /* the segment, still escaped */
    } params[MISHAP_HTTP_PATH_PARAMS];
} mishap_http_match;

typedef struct mishap_http_routes mishap_http_routes;

/* The routes of all operations (those for chaos only if asked for) and of some endpoints, whose
 * list ends with a NULL route. */
mishap *mishap_http_routes_make(const mishap_app *app, bool chaos,
                                const mishap_http_endpoint *endpoints, mishap_http_routes **out);
void mishap_http_routes_free(mishap_http_routes *routes);

/* How many routes there are, and what each is called ("users.create", "health"). */
size_t mishap_http_route_count(const mishap_http_routes *routes);
const char *mishap_http_route_name(const mishap_http_routes *routes, size_t route);

/*
 * True if a route has this path and method. A segment that is spelled out comes before `:name`, and
 * HEAD is GET. Else match->allowed says which methods the path has, HEAD and OPTIONS included; 0:
 * there is no such path.
 */
bool mishap_http_route_find(const mishap_http_routes *routes, mishap_http_method method,
                            mishap_text path, mishap_http_match *match);

/* "GET, HEAD, OPTIONS" */
void mishap_http_put_methods(mishap_buffer *buffer, unsigned allowed);

/* -- arguments --------------------------------------------------------------------------------- */

/*
 * Path, query and body as the one JSON object that an operation is called with. A body alone is
 * taken as it is; else `object` is filled. A value of path or query becomes what its parameter is
 * declared as, if it can be read so: `7` a number for an integer, `true` a boolean; a parameter
 * that is an array takes all that go by its name. What cannot be read stays a string, and the
 * checks say what is wrong with it. What is not declared is left out.
 *
 * BAD_REQUEST: broken escapes, text that is not UTF-8, a name with a NUL, another content type than
 * JSON or a content encoding, the same parameter in two places with different values, or twice in
 * the query where it is no array. A body that is no JSON object is handed on: mishap_call_begin()
 * refuses it, with line and column.
 */
mishap *mishap_http_arguments(const mishap_operation *operation, const mishap_http_match *match,
                              const mishap_http_request *request, mishap_buffer *object,
                              mishap_text *arguments);

/* -- metrics ----------------------------------------------------------------------------------- */

/*
 * Counters in memory that all workers share. The sets of labels are bounded: routes that exist (and
 * one for all other paths), statuses that exist, codes of the catalog.
 */
typedef struct mishap_http_metrics mishap_http_metrics;

/* For the supervisor, before it makes workers. */
mishap *mishap_http_metrics_make(const mishap_http_routes *routes, mishap_http_metrics **out);
void mishap_http_metrics_free(mishap_http_metrics *metrics);

enum { MISHAP_HTTP_NO_ROUTE = -1 };

/* One request was answered. Any worker, no lock. */
void mishap_http_metrics_count(mishap_http_metrics *metrics, int64_t route,
                               mishap_http_method method, int status, const mishap_code *code,
                               int64_t duration_ns);

/* What else is counted. */
typedef enum mishap_http_gauge {
    MISHAP_HTTP_CONNECTIONS,   /* open now */
    MISHAP_HTTP_ACCEPTED,      /* connections ever */
    MISHAP_HTTP_IN_FLIGHT,     /* requests whose handlers run now */
    MISHAP_HTTP_CRASHES,       /* handlers that crashed */
    MISHAP_HTTP_WORKERS_BEGUN, /* processes ever */
    MISHAP_HTTP_BYTES_RECEIVED,
    MISHAP_HTTP_BYTES_SENT,
    MISHAP_HTTP_GAUGES,
} mishap_http_gauge;
void mishap_http_metrics_add(mishap_http_metrics *metrics, mishap_http_gauge gauge, int64_t change);

/* A worker has ended, however that came: what it had open or in flight no longer is. For the
 * supervisor, once it has waited for that process. */
void mishap_http_metrics_gone(mishap_http_metrics *metrics, int process);

/* Prometheus text, exposition format 0.0.4. */
void mishap_http_metrics_put(mishap_buffer *buffer, const mishap_http_metrics *metrics,
                             const mishap_http_routes *routes);

/* -- documents --------------------------------------------------------------------------------- */

/* OpenAPI 3.1: every operation that has a route, with its parameters, its answer and each of its
 * failures. */
void mishap_http_put_openapi(mishap_buffer *buffer, const mishap_http_settings *settings);

/* The catalog for readers: all codes, and one by any of its spellings (false if there is none). */
void mishap_http_put_codes(mishap_buffer *buffer);
bool mishap_http_put_code(mishap_buffer *buffer, mishap_text name);

/* -- keys -------------------------------------------------------------------------------------- */

/* The API keys of a server: names and hashes, in the file `keys` of the data folder. */
typedef struct mishap_http_keys mishap_http_keys;

/* Read them. A file that is not there has no keys. */
mishap *mishap_http_keys_open(const char *data, mishap_http_keys **out);
void mishap_http_keys_close(mishap_http_keys *keys);

/* The same without reading them yet: mishap_http_keys_refresh() does. For a worker, which has to
 * begin whatever became of the file meanwhile. */
mishap *mishap_http_keys_make(const char *data, mishap_http_keys **out);

/*
 * Read them again if the file has changed; asked about once a second. While the file cannot be
 * read no key is taken: among those that were in it there may be one that was removed. UNAVAILABLE,
 * with the reason as its cause, for the log, once for each state of the file that is no good.
 */
mishap *mishap_http_keys_refresh(mishap_http_keys *keys);
size_t mishap_http_keys_count(const mishap_http_keys *keys);

/*
 * Who calls? NULL, and request->caller set if a key was given that is known. UNAUTHORIZED if one
 * was given that is not; AUTH_REQUIRED if none was and `required`; UNAVAILABLE if one was given and
 * the file cannot be read. A key is given as
 * `Authorization: Bearer KEY` or `X-Api-Key: KEY`. The name lives as long as the keys.
 */
mishap *mishap_http_keys_check(const mishap_http_keys *keys, mishap_http_request *request,
                               bool required);

/* keys.add, keys.list, keys.remove: commands beside `serve`. */
/* mishap_keys_add, mishap_keys_list, mishap_keys_remove (mishap/http.h) are in keys_commands.c. */

/* -- rates ------------------------------------------------------------------------------------- */

/* How often each caller may call, in memory that all workers share. */
typedef struct mishap_http_rates mishap_http_rates;
mishap *mishap_http_rates_make(int per_second, mishap_http_rates **out); /* *out NULL: no limit */
void mishap_http_rates_free(mishap_http_rates *rates);

/* NULL, or RATE_LIMITED with the time after which to try again. The caller goes by its name, else
 * by its address, of IPv6 the network of 64 bits. Any worker, no lock. `now_ns` is the monotonic
 * clock of this moment, not of when the request began. */
mishap *mishap_http_rates_check(mishap_http_rates *rates, const mishap_http_request *request,
                                int64_t now_ns);

/* -- addresses --------------------------------------------------------------------------------- */

/* The address that a request comes from: that of the peer or, if the peer is a proxy on this
 * machine, the last one of X-Forwarded-For. What is no address is not believed. */
mishap_text mishap_http_remote(mishap_text peer, mishap_text forwarded);

/* -- origins ----------------------------------------------------------------------------------- */

/* Is the server meant by this Host, or is it a name that somebody else can make stand for this
 * machine? Where a key is required any name will do. */
bool mishap_http_knows_host(const mishap_http_settings *settings, mishap_text host);

/* May pages of this origin call: none was said, it is one of this machine, the server's own, or one
 * of --cors. */
bool mishap_http_knows_origin(const mishap_http_settings *settings, mishap_text origin);

/* NULL, or FORBIDDEN: a page calls that a browser was lured to. For operations. Whoever is no
 * browser may go by any name. */
mishap *mishap_http_check_origin(const mishap_http_settings *settings,
                                 const mishap_http_request *request);

/* The entry of a list, as --cors has it, that stands for this origin: itself, or the star that is
 * all of the list. No data: none does. */
mishap_text mishap_http_listed_origin(const char *list, mishap_text origin);

/* The first entry that is no origin as browsers spell it (scheme://host[:port] in small letters, no
 * port that goes without saying, or null) and could never match; no data: there is none. */
mishap_text mishap_http_unsound_origin(const char *list);

/* -- cors -------------------------------------------------------------------------------------- */

/* The fields that let a page of another origin read the reply, if its origin is among the allowed.
 * A reply that has them already is left alone. */
void mishap_http_cors(mishap_http_reply *reply, const char *allowed,
                      const mishap_http_request *request);

/* The whole answer to OPTIONS: 204, Allow, the fields above, and for a preflight what may be sent.
 */
void mishap_http_cors_preflight(mishap_http_reply *reply, const char *allowed,
                                const mishap_http_request *request, unsigned methods);

/* -- the access log ---------------------------------------------------------------------------- */

/* One JSON object a line; gathered, and written when there is much of it or a moment has passed. */
typedef struct mishap_http_access mishap_http_access;
mishap *mishap_http_access_open(const char *file,
                                mishap_http_access **out); /* NULL file: *out NULL */
void mishap_http_access_add(mishap_http_access *access, const mishap_http_request *request,
                            const mishap_http_reply *reply, size_t sent, int64_t now_ns);
void mishap_http_access_flush(mishap_http_access *access);
void mishap_http_access_reopen(mishap_http_access *access); /* after the file was moved away */
void mishap_http_access_close(mishap_http_access *access);

/* -- serving ----------------------------------------------------------------------------------- */

/* What `serve` serves beside the operations: said once, before the command runs. */
void mishap_http_extend(const mishap_http_extension *extension);

/* Run until SIGTERM or SIGINT. NULL: it was stopped in order. */
mishap *mishap_http_supervise(mishap_http_settings *settings);

#endif
