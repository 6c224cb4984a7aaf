/*
 * src/server: an HTTP/1.1 server. It listens, reads requests, finds the endpoint that a request
 * means and writes the reply. It does not depend on operations, MCP or any service: everything that
 * it serves comes from *extensions*, each with its routes and the header fields that it reads.
 *
 *     supervisor.c   the processes, replaced when they end
 *     child.c        a process of an extension beside the loops: child.h
 *     listen.c       the sockets that they listen on
 *     loop.c         one process that serves: its libuv loop, its extensions, its end
 *     connection.c   sockets: accepting, reading, writing, closing
 *     wait.c         the timeouts of connections
 *     turn.c         iterations of a loop, so that each connection gets its turn
 *     exchange.c     one request after the other on a connection
 *     request.c      bytes into a request
 *     head.c         … its head: fields, checks, target
 *     fields.c       the header fields that are used, as a table
 *     answer.c       a request into a reply: route, caller, rate, endpoint
 *     route.c        which endpoint is meant
 *     later.c        deferred answers, and streams
 *     bodies.c       how much memory the bodies of requests take, in all loops
 *     reply.c        status, fields and body as bytes
 *     extensions.c   what is served, and its state in this process
 *     state.c        a server as one loop has it: its clock, what extensions may ask of it
 *     remote.c       which address a request comes from
 *     proxy.c        signs that a proxy passed a request on
 *     origin.c       refuses requests of malicious web pages
 *     cors.c         which page may read a reply
 *     metrics.c      what is counted, in memory that all loops share
 *     metrics_read.c, metrics_table.c, metrics_text.c, metrics_processes.c
 *                    … as numbers; the table of all metrics; as text; what processes use, by role
 *     caller.c       the caller as a number
 *     rate.c, lease.c  how often each caller may call
 *     share.c        how many streams each caller may have open
 *     files.c        connections against the limit of open files
 *     access.c       the log of requests: access.h
 *
 *     server.h       what an extension sees: this file; origin.h; and limits.h, which it includes
 *     state.h        a server as one loop has it, for this folder
 *
 * Ownership: the supervisor owns the listening sockets and the memory that all loops share
 * (metrics, rates). A loop owns everything on its thread; there is no other thread here.
 */
#ifndef MISHAP_SERVER_SERVER_H
#define MISHAP_SERVER_SERVER_H

#include "base/base.h"
#include "mishap/mishap.h"
#include "server/metrics.h"

typedef struct mishap_http_server mishap_http_server; /* see state.h */
typedef struct mishap_http_request mishap_http_request;
typedef struct mishap_http_reply mishap_http_reply;
typedef struct mishap_http_extension mishap_http_extension;
typedef struct mishap_http_fields mishap_http_fields;

/* -- settings ---------------------------------------------------------------------------------- */

/* How a server was started. All text lives as long as the server. */
typedef struct mishap_http_settings {
    const mishap_http_extension *const *extensions; /* what is served; the list ends with NULL */

    /* A pointer that all extensions share. The server only passes it on. */
    struct mishap_served *served;

    /* Identify the caller. NULL: request->caller and caller_key are set if the caller has a key,
     * and its scopes include those of the endpoint. Otherwise a failure, such as AUTH_REQUIRED.
     * `open`: callers without a key are served, too. If this pointer is NULL, every caller is
     * served. */
    mishap *(*admit)(mishap_http_server *server, mishap_http_request *request, bool open);

    /* Make a reply of a failure, for mishap_http_refuse(). */
    void (*refuse)(mishap_http_reply *reply, const struct mishap_http_settings *settings,
                   const mishap_http_request *request, mishap *failure);

    /* Write WWW-Authenticate for a reply with the status 401, or 403 for want of these scopes.
     * NULL: replies have none. */
    void (*challenge)(mishap_http_reply *reply, const struct mishap_http_settings *settings,
                      const mishap_http_request *request, unsigned lacks);

    const char *cluster; /* the folder with what the servers of a cluster share; NULL: this server
                            is alone */
    const struct mishap_http_issuers *issuers; /* whose access tokens are accepted; NULL: of none */
    mishap_http_counted counted;               /* what is counted beside routes */
    const mishap_http_fields *fields; /* the fields that are used: set by mishap_http_supervise() */
    const mishap_http_metrics *metrics; /* for processes of extensions: set by …supervise() */
    const mishap_http_routes *routes;   /* … */
    const char *otlp;  /* the URL of a collector of telemetry; NULL: variables may name one */
    bool otlp_spans;   /* … gets spans, too */
    const char *guide; /* the path of the API description, named in the reply to an unknown path */
    const char *host;  /* to listen on */
    int port;          /* 0: any that is free */
    int loops;         /* processes */
    bool heartbeat;    /* a loop that is blocked for seconds is replaced */
    int max_connections;    /* of each loop; beyond that 503 */
    int most_lingering;     /* … and so many of those that stay open to read it: set by
                               mishap_http_supervise() */
    bool key_required;      /* every call needs an API key */
    const char *public_url; /* the address for links, without a slash at the end; NULL: the Host of
                               the request, if it names this server */
    const char *program;    /* its name, for lines on stderr */
    const char *console;    /* the rest of the console's address, with a key, for the terminal on
                               which the server was started; NULL: it is not shown */
    const char *log;        /* where failures are logged, shown at the start; NULL: nowhere */
    uint64_t log_bytes;     /* the size at which that is rotated; 0: never */
    bool log_json;          /* records go to standard error as JSON */
    const char *access_log; /* a file, "-": stderr, NULL: none */
    const char *cors;       /* comma-separated origins; "*": any; NULL: none */
    int rate;               /* requests a second for each caller; 0: no limit */
    int caller_share;       /* percent of a bounded resource that one caller may have; 0: all */
    uint64_t secret[2];     /* for the numbers of callers: set by mishap_http_supervise() */
    size_t head_limit;      /* bytes of request line and fields */
    size_t target_limit;    /* bytes of the request target */
    size_t body_limit;      /* bytes of a body, unless its endpoint has another limit */
    size_t bodies_limit;    /* bytes of all bodies in memory at once, in all loops; 0: no limit */
    int head_ms;            /* how long the head may take, from its first byte */
    int body_ms;            /* … and the body after it */
    int write_ms;           /* how long a peer may read nothing of what is written to it */
    int idle_ms;            /* how long a connection may wait for its next request */
    int stop_ms;            /* how long to wait for requests in flight when told to stop … */
    int drain_ms;           /* … and how long to accept connections before, for load balancers */
    int64_t sessions_ms; /* … and how long to serve the sessions that have begun; 0: not longer */
    int server_number;   /* of this one among those behind a load balancer; 0: none */
    struct mishap_http_rates *rates; /* of all servers of a cluster; NULL: `rate` is of this one */
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
    MISHAP_HTTP_OTHER, /* CONNECT, TRACE and such: no endpoint has them */
    MISHAP_HTTP_METHODS,
} mishap_http_method;

/* "GET"; for OTHER "OTHER". */
extern const mishap_text mishap_http_method_names[MISHAP_HTTP_METHODS];

/* The fields that every server keeps. Extensions ask for more; others are checked and dropped. */
typedef enum mishap_http_field {
    MISHAP_HTTP_HOST,
    MISHAP_HTTP_ACCEPT,
    MISHAP_HTTP_CONTENT_TYPE,
    MISHAP_HTTP_AUTHORIZATION,
    MISHAP_HTTP_ORIGIN,
    MISHAP_HTTP_EXPECT,
    MISHAP_HTTP_REQUEST_METHOD, /* Access-Control-Request-Method */
    MISHAP_HTTP_USER_AGENT,
    MISHAP_HTTP_TRANSFER_ENCODING,
    MISHAP_HTTP_CONTENT_ENCODING,
    MISHAP_HTTP_ACCEPT_ENCODING,
    MISHAP_HTTP_RANGE,
    MISHAP_HTTP_FORWARDED_FOR, /* X-Forwarded-For */
    MISHAP_HTTP_TRACEPARENT,
    MISHAP_HTTP_IF_MATCH,
    MISHAP_HTTP_IF_NONE_MATCH,
    MISHAP_HTTP_IF_RANGE,
    MISHAP_HTTP_OWN_FIELDS,
} mishap_http_field;

enum { MISHAP_HTTP_MOST_FIELDS = 32 }; /* including those that extensions ask for */

/* A header field that an extension asks for. It may stand once in a request, unless `first`. */
typedef struct mishap_http_wish {
    const char *name; /* "Mcp-Session-Id"; NULL ends a list */
    bool from_pages;  /* pages of other origins may send it */
    bool to_pages;    /* … and read it in replies */
    bool first;       /* it may be repeated, and the first one counts */
    bool in_replies;  /* it is no field of requests: pages may read it in replies */
} mishap_http_wish;

/* Make the table of the fields that are kept: the server's own and those that extensions ask for. A
 * field that two ask for is in it once. NOT_CONFIGURED: there are too many. */
mishap *mishap_http_fields_make(const mishap_http_extension *const *extensions,
                                mishap_http_fields **out);
void mishap_http_fields_free(mishap_http_fields *fields);

/* The index of a field in the fields of a request, ignoring the case of letters; -1: it is not
 * kept. An extension asks once, when it is opened. */
int mishap_http_field_find(const mishap_http_fields *fields, mishap_text name);

/* The name of a field, as it was asked for; none: there are fewer. */
mishap_text mishap_http_field_name(const mishap_http_fields *fields, size_t index);

enum { MISHAP_HTTP_CHUNKED = -1 }; /* instead of the length of a body: it is not known */

/* A complete request, or its head. All text points into memory of the connection. */
struct mishap_http_request {
    mishap_http_method method;
    mishap_text target; /* as it came */
    mishap_text path;   /* without the query, still escaped: "/todos/a%20b" */
    mishap_text query;  /* behind the question mark, still escaped */
    mishap_text fields[MISHAP_HTTP_MOST_FIELDS]; /* without white space; no data: absent */
    mishap_text body;
    int64_t announced;  /* length of the body from the head; 0: no body; MISHAP_HTTP_CHUNKED */
    bool passing;       /* its body arrives later, in pieces: mishap_http_endpoint.passes */
    mishap_text remote; /* the caller's address, also behind a proxy: "192.0.2.1" */
    bool keep_alive;
    bool persists_by_default;      /* HTTP/1.1: the connection stays open by default */
    int64_t started_ns;            /* when its first byte came, on the monotonic clock */
    char id[MISHAP_ID_LENGTH + 1]; /* X-Request-Id, and the id of an incident */
    const struct mishap_http_endpoint *endpoint; /* its endpoint; NULL: none, or not known yet */
    const char *caller;                          /* the name of its key; NULL: none */
    const char *subject; /* … that the operator's map has replaced, only while it is admitted */
    bool caller_is_free; /* it has no key, and may name itself */
    bool forwarded;      /* it has a field that proxies add: its real sender is not known */
    unsigned scopes;     /* what the caller may do (base/scope.h) … */
    unsigned lacks;    /* … and those that it needs, if it was refused for want of one; else 0 */
    int64_t ends_s;    /* since 1970: its streams end then; 0: they do not */
    bool has_token;    /* it was sent with an access token, or what should be one */
    bool for_all;      /* its path is for all: see mishap_http_endpoint */
    bool for_operator; /* its path needs the scope `operator`: no page of another origin may read
                          the reply */
    uint64_t caller_key; /* the number of the key, for what belongs to a caller: another key may get
                            the same name later. 0: none */
};

/* -- replies ----------------------------------------------------------------------------------- */

struct mishap_http_reply {
    int status;
    const char *media_type;  /* NULL where there is no body */
    mishap_buffer body;      /* owned by the reply */
    mishap_text content;     /* what is sent: the body, or a constant */
    mishap_buffer type;      /* memory for a media type that is no constant */
    mishap_buffer fields;    /* further fields, each a line that ends in CR LF */
    bool vary_accept;        /* the reply depends on Accept, or … */
    bool vary_origin;        /* … on Origin, or … */
    bool vary_encoding;      /* … on Accept-Encoding: for caches */
    const mishap_code *code; /* of the failure; NULL: success */
    bool close;              /* the connection ends with this reply */
};

/* Add a header. Its name and value are not checked, so the caller must pass valid ones. */
void mishap_http_reply_field(mishap_http_reply *reply, const char *name, mishap_text value);

/* Make a reply of a failure, as settings->refuse does. The caller keeps the mishap. */
void mishap_http_refuse(mishap_http_reply *reply, const mishap_http_settings *settings,
                        const mishap_http_request *request, mishap *failure);

void mishap_http_reply_release(mishap_http_reply *reply);

/* CONTENT_TOO_LARGE, which names the limit. */
mishap *mishap_http_too_large(size_t limit);

/* -- deferred answers -------------------------------------------------------------------------- */

/*
 * A deferred request: its endpoint answers later, in one piece or as a stream. It belongs to the
 * loop, and only the thread of the loop may use it. The endpoint must answer or end it, unless the
 * peer closes the connection first: then closed() is called, and the struct is freed when that
 * returns.
 *
 * The functions below never call back. closed() is called in a later iteration of the loop, and
 * requests that the peer has sent after this one are read then, too. So they may be called from
 * anywhere on the loop: from an endpoint, its own or another, any callback of libuv, tick(),
 * drain(), closed() of another request. No lock is held meanwhile. `reply` may be any reply but the
 * one that an endpoint is filling for another request.
 */
typedef struct mishap_http_later mishap_http_later;
struct mishap_http_later {
    mishap_http_server *server;
    struct mishap_http_exchange *exchange;
    mishap_http_request request; /* with its own copy of the text, but without the body */
    int64_t route;
    bool streaming, last; /* the head was sent; the connection ends with it */
    bool revoked;         /* the key of its request was removed: it may not begin a stream */
    bool half_close; /* the peer may close its sending side and still wait for the answer. Otherwise
                        that counts as leaving: the reader of a stream that goes away looks the same
                      */
    const mishap_code *code; /* of a failure that a stream has reported; NULL: none */
    void *owner;
    void (*closed)(mishap_http_later *later);
    /* The peer has taken all pieces so far; may be NULL. */
    void (*written)(mishap_http_later *later);
    void (*left)(mishap_http_later *later); /* with half_close: the peer has closed its sending
                                               side. It may wait, or be gone; may be NULL */

    /* Of a request that is `passing`: a piece of its body, never empty; the end of the body; the
     * rest will not come, since it is malformed, too slow or cut off: the callee owns the failure.
     * Each may answer the request, which is the last one of its connection if its body has not
     * ended. `full`: the endpoint takes no more before mishap_http_later_resume(). */
    void (*piece)(mishap_http_later *later, mishap_text bytes);
    void (*whole)(mishap_http_later *later);
    void (*broken)(mishap_http_later *later, mishap *failure);
    bool full;
    char *(*room)(mishap_http_later *later, size_t *size); /* where to read pieces; may be NULL */
};

/* Called in an endpoint's answer(), which leaves reply->status 0: the request will be answered
 * later. NULL: there is no memory. */
mishap_http_later *mishap_http_defer(mishap_http_server *server,
                                     const mishap_http_request *request);

/* The endpoint takes pieces of the body again. They come in a later iteration of the loop. */
void mishap_http_later_resume(mishap_http_later *later);

/* End an incomplete stream so that its reader notices: the connection ends without the last chunk.
 * The struct is freed, now or later, without a call of closed(). */
void mishap_http_later_cut(mishap_http_later *later);

/* Answer in one piece. The caller keeps the reply; the struct is freed. */
void mishap_http_later_answer(mishap_http_later *later, mishap_http_reply *reply);

/* Send the head of a stream: `reply` has status, media type and fields, and no body. Then send
 * pieces, each at once; false: the peer does not read, and the stream was closed. Then end it,
 * which frees the struct. HTTP/1.1 gets chunks; HTTP/1.0 gets the end of the connection. After a
 * piece that could not be sent, closed() will follow; ending the stream before that is allowed,
 * too. */
void mishap_http_later_begin(mishap_http_later *later, mishap_http_reply *reply);
bool mishap_http_later_send(mishap_http_later *later, mishap_text piece);
void mishap_http_later_end(mishap_http_later *later);

/* True if there are pieces that the peer has not taken yet. An endpoint with more pieces should
 * wait for written(): if a peer lags behind by more than a megabyte, its connection is closed. */
bool mishap_http_later_lags(const mishap_http_later *later);

/* True if the peer has closed its sending side. It may wait for the answer, or be gone. */
bool mishap_http_later_half_closed(const mishap_http_later *later);

/* -- routes ------------------------------------------------------------------------------------ */

typedef struct mishap_http_match mishap_http_match;

/* An endpoint: the code that answers at a path. */
typedef struct mishap_http_endpoint {
    const char *route; /* "GET /health"; `:name` matches a segment, `{name...}` at the end all
                          further ones. NULL ends a list */
    const char *name;  /* for metrics */
    bool open;         /* callers without a key may use it, too */
    unsigned scope; /* the scopes that its callers need (base/scope.h); 0: `call`, unless `open` */
    bool any_host;  /* Host and Origin are not checked, or the endpoint checks them itself */
    bool fallback;  /* it is used only where no other route has the path, or one that yields */
    bool html;      /* … and only for requests that prefer text/html to JSON */
    bool for_all;   /* it needs no credentials, looks at none, and pages of all origins may read
                       the reply; for paths in /.well-known/ */
    bool yields;    /* a fallback at the same path is preferred, and an operation of the program
                       may take its route */
    /* Fill the reply, or defer: see mishap_http_defer(). */
    void (*answer)(mishap_http_server *server, const mishap_http_request *request,
                   const mishap_http_match *match, mishap_http_reply *reply);

    /* Each of these may be NULL. Check the head of a request before its body is read. True: it is
     * refused, and the reply is filled. */
    bool (*screen)(mishap_http_server *server, const mishap_http_request *request,
                   const mishap_http_match *match, mishap_http_reply *reply);

    /* Make a reply of a failure that the server has found in a request, such as a body that is too
     * large; NULL: settings->refuse does. Takes the failure. */
    void (*refuse)(mishap_http_server *server, const mishap_http_request *request,
                   const mishap_http_match *match, mishap_http_reply *reply, mishap *failure);

    /* The largest body in bytes; NULL: settings->body_limit. */
    size_t (*body_limit)(const mishap_http_settings *settings);

    /* The largest body in bytes, if it is passed on in pieces while it arrives; 0: it is held.
     * answer() is called when the head is known, and defers, with functions for the pieces. */
    size_t (*passes)(const mishap_http_server *server, const mishap_http_request *request,
                     const mishap_http_match *match);
    const void *subject; /* the operation that it calls, if it is one; the server does not look */
} mishap_http_endpoint;

enum { MISHAP_HTTP_PATH_PARAMS = 8 }; /* of one route, at most */

/* The endpoint of a request. */
struct mishap_http_match {
    size_t route;                         /* the number of the route, for metrics */
    const mishap_http_endpoint *endpoint; /* NULL: none */
    size_t extension;                     /* the index of its extension … */
    void *state;                          /* … and the state of that extension in this process */
    /* Methods at this path, one bit each (1 << MISHAP_HTTP_GET); 0: no such path. */
    unsigned allowed;
    bool for_operator; /* an endpoint at this path needs the scope `operator` */
    bool for_all;      /* an endpoint at this path is `for_all` */
    size_t param_count;
    struct {
        const char *name;
        mishap_text raw; /* the segment, or those of the tail, still escaped */
    } params[MISHAP_HTTP_PATH_PARAMS];
};

/* Make the routes of some lists of endpoints, one list for each extension; NULL is an empty one.
 * The endpoints are copied, their text is not. */
mishap *mishap_http_routes_make(const mishap_http_endpoint *const *lists, size_t count,
                                mishap_http_routes **out);
void mishap_http_routes_free(mishap_http_routes *routes);

/* How many routes there are, and the name of each ("users.create", "health"). */
size_t mishap_http_route_count(const mishap_http_routes *routes);
const char *mishap_http_route_name(const mishap_http_routes *routes, size_t route);
/* … and as it was declared: "GET /users/:id". */
const char *mishap_http_route_text(const mishap_http_routes *routes, size_t route);

/* True if it calls an operation: its endpoint has a subject. */
bool mishap_http_route_is_call(const mishap_http_routes *routes, size_t route);

/*
 * True if a route has this path and method. A spelled-out segment is preferred to `:name`, and that
 * to a tail. HEAD counts as GET. A tail has at least one segment; it matches nothing if one of them
 * is empty, `.` or `..`, or has an escaped slash or NUL. If the result is false, match->allowed
 * says which methods the path has, HEAD and OPTIONS included; 0: there is no such path.
 */
bool mishap_http_route_find(const mishap_http_routes *routes, mishap_http_method method,
                            mishap_text path, mishap_http_match *match);

/* The same among the endpoints that are a `fallback`, which the function above does not see. */
bool mishap_http_route_fall_back(const mishap_http_routes *routes, mishap_http_method method,
                                 mishap_text path, mishap_http_match *match);

/* Find the endpoint of a request: match->endpoint is NULL if there is none. */
bool mishap_http_find(mishap_http_server *server, mishap_http_request *request,
                      mishap_http_match *match);

/* "GET, HEAD, OPTIONS" */
void mishap_http_put_methods(mishap_buffer *buffer, unsigned allowed);

/* -- extensions -------------------------------------------------------------------------------- */

enum { MISHAP_HTTP_MOST_EXTENSIONS = 10 };

/* A part of the server, with a state of its own in each loop. Every function may be NULL. */
struct mishap_http_extension {
    const char *name;
    const mishap_http_endpoint *endpoints; /* … or, where they are not known before it starts: */
    mishap *(*list)(const mishap_http_settings *settings, mishap_http_endpoint **out);
    const mishap_http_wish *fields; /* the header fields that it reads */

    /* In the supervisor, before it has forked any process: read settings that no other process may
     * inherit. Undone by dismiss(). NULL: there are none. */
    mishap *(*read)(const mishap_http_settings *settings);

    /* In the supervisor, before there are loops: make the memory that all of them share. No file
     * may stay open, since it would be shared across a fork. */
    mishap *(*prepare)(const mishap_http_settings *settings, void **shared);

    /* Undo read() and prepare(), even if one of them failed. */
    void (*dismiss)(void *shared);

    /* In the supervisor: a loop is about to be forked; was forked; has ended. The number that the
     * first returns is passed to the last; -1: none. */
    int (*before_loop)(void *shared);
    void (*loop_forked)(void *shared);
    void (*loop_ended)(void *shared, int number);

    /* … a child process that is no loop has ended or stopped. True: it belongs to the extension. */
    bool (*child_ended)(void *shared, int pid, int status);
    void (*look)(void *shared); /* … called about every second, and if `wakes` can be read */
    int (*wakes)(void *shared); /* a file; -1: none */

    size_t (*files)(void *shared); /* … after prepare(): files that it may have open in a loop */

    /* In a loop, before any request. Extensions are opened in the order of the list and closed in
     * reverse order. */
    mishap *(*open)(mishap_http_server *server, void *shared, void **state);
    void (*tick)(void *state);  /* called several times per second */
    void (*drain)(void *state); /* the loop ends soon: end all streams */
    /* See mishap_http_revoke(), and mishap_http_block(): then `key` is 0. */
    void (*revoke)(void *state, uint64_t key, const char *caller);
    bool (*busy)(void *state);       /* true if work is left that no connection waits for */
    size_t (*sessions)(void *state); /* that are left, of a server that stops (ending.h) */
    /* … the metrics are asked for: add what this extension knows (mishap_http_measure). */
    void (*measure)(void *state, mishap_http_measures *to);

    void (*close)(void *state); /* close the handles on the loop and free the state */
};

/* The state of an extension in this loop; NULL: it is not open. */
void *mishap_http_state_of(const mishap_http_server *server, const mishap_http_extension *which);

/* The routes of all extensions. */
mishap *mishap_http_extensions_route(const mishap_http_settings *settings,
                                     mishap_http_routes **out);

/* -- callers ----------------------------------------------------------------------------------- */

/* The number of a caller, never 0, for counts by caller. A caller is identified by its key (another
 * key of the same name is another caller), else by its name, else by its address; of an IPv6
 * address by its 64-bit network. Without the secret the number does not identify the caller. */
uint64_t mishap_http_caller_number(const uint64_t secret[2], const mishap_http_request *request);

/* … with the secret of the server: the same in all of its loops. */
uint64_t mishap_http_caller_of(const mishap_http_server *server,
                               const mishap_http_request *request);

/* The owner of a request, for what belongs to a caller: the number of its API key, or of its name;
 * 0: it has neither. */
uint64_t mishap_http_owner_of(const mishap_http_request *request);

/* -- shares ------------------------------------------------------------------------------------ */

enum { MISHAP_HTTP_STREAMS = 10000 }; /* open in one loop, at most */

/* How many of `count` places one caller may have, by settings->caller_share; at least one. */
size_t mishap_http_share_of(const mishap_http_settings *settings, size_t all);

/* The caller opens a stream that stays open. NULL: *held is for mishap_http_stream_ended().
 * RATE_LIMITED: this caller has as many as it may. UNAVAILABLE: all callers together have. Streams
 * are counted and limited in each loop by itself. */
mishap *mishap_http_stream_begins(mishap_http_server *server, const mishap_http_request *request,
                                  uint32_t *held);

/* `held` 0: it did not begin. */
void mishap_http_stream_ended(mishap_http_server *server, uint32_t held);

/* -- the server, for extensions ---------------------------------------------------------------- */

const mishap_http_settings *mishap_http_settings_of(const mishap_http_server *server);

/* For handles of an extension, which it closes in its close(); NULL: there is no loop. */
struct uv_loop_s *mishap_http_uv(const mishap_http_server *server);

/* The current request consists of so many messages: see mishap_http_rates_check_all(). */
mishap *mishap_http_check_rate(mishap_http_server *server, const mishap_http_request *request,
                               size_t count);

/* An API key was removed (request->caller_key): all extensions are told, and streams that answer
 * requests with this key are cut, as if their peers had left. An answer in one piece still reaches
 * its peer. Called by the extension that manages the keys, in its tick(). */
void mishap_http_revoke(mishap_http_server *server, uint64_t key);

/* The caller of this name was blocked: the same, and requests that were not answered yet are cut as
 * well. */
void mishap_http_block(mishap_http_server *server, const char *caller);

/* Streams that answer requests whose `ends_s` has passed are cut in the same way. Called by the
 * extension that sets it, in its tick(). */
void mishap_http_expire(mishap_http_server *server, int64_t now_s);

/* Call tick() of all extensions now, beside the times at which it is called anyway. From a callback
 * of the loop alone, not from an endpoint or another hook. */
void mishap_http_tick(mishap_http_server *server);

/* True if the server was told to stop. It may still accept connections: settings->drain_ms. */
bool mishap_http_is_stopping(const mishap_http_server *server);

/* Count something; the metrics as text. Nothing happens in a server without metrics. */
void mishap_http_count(mishap_http_server *server, mishap_http_gauge gauge, int64_t change);
void mishap_http_put_counts(mishap_buffer *buffer, const mishap_http_server *server);

/* Count a call that has no request of its own: one of MCP. `call` is its place in
 * settings->counted. */
void mishap_http_count_call(mishap_http_server *server, size_t call, const mishap_code *code,
                            int64_t duration_ns);

/* What this loop has of something, for a service; the metrics show the sum of all loops. Called in
 * tick(). */
void mishap_http_tell_of_loop(mishap_http_server *server, mishap_metric metric, size_t service,
                              int64_t value);

/* -- serving ----------------------------------------------------------------------------------- */

/* The caller, for limits and counts: its name, else its address. */
void mishap_http_request_caller(const mishap_http_request *request, char *caller, size_t size);

/* True if this iteration of the loop has taken so long that other connections wait for the next
 * one. An endpoint that has more work for one client then continues it as a task. */
bool mishap_http_turn_is_over(const mishap_http_server *server);

/* Work that continues in a later iteration of the loop, after the requests that other connections
 * have sent meanwhile. It is a member of the endpoint's own struct. */
typedef struct mishap_http_task {
    void (*go_on)(struct mishap_http_task *task); /* may wait again, or free it */
    struct mishap_http_task *next, *previous;     /* used by the server */
    uint64_t since;                               /* … the iteration in which it began to wait */
    bool waits;
} mishap_http_task;

/* Let a task wait for a later iteration, if it does not wait yet; stop it from waiting. */
void mishap_http_task_wait(mishap_http_server *server, mishap_http_task *task);
void mishap_http_task_drop(mishap_http_server *server, mishap_http_task *task);

/* UNAVAILABLE: the server is too busy; to be tried again soon. */
mishap *mishap_http_busy(void);

/* The text of a request that is answered later, when the input buffer is reused: how many bytes it
 * takes, and a copy of the request with its own text, but without the body. */
size_t mishap_http_request_size(const mishap_http_request *request);
void mishap_http_request_keep(mishap_http_request *kept, const mishap_http_request *request,
                              char *text);

/* Run until SIGTERM or SIGINT. NULL: it was stopped in order. */
mishap *mishap_http_supervise(mishap_http_settings *settings);

#include "server/limits.h" /* bodies and rates */

#endif
