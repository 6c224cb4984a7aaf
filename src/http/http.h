/*
 * src/http: a program's operations as an HTTP API, served by src/server.
 *
 *     serve.c          `serve`: flags into settings
 *     api.c            the extension: its state in each loop, and the check of keys
 *     answer.c         a request into a call, and its outcome into a reply
 *     calls.c          calls that are answered later
 *     tails.c          … streams that wait for a change
 *     arguments.c      path, query and body as one object
 *     refuse.c         a mishap into a reply
 *     negotiate.c      which dialect is wanted
 *     endpoints.c      what every server answers beside its operations
 *     openapi.c, reference.c   the description of the API, and of the codes
 *     keys.c, keys_file.c      API keys: which caller has which, and their file
 *     keys_commands.c          … and the commands that change it
 *
 * All of it runs on the thread of a loop. src/worker decides in which process a handler runs.
 */
#ifndef MISHAP_HTTP_HTTP_H
#define MISHAP_HTTP_HTTP_H

#include <uv.h>

#include "guard/guard.h"
#include "mishap/dialect.h"
#include "mishap/http.h"
#include "server/server.h"
#include "worker/serving/served.h"

/* -- the extension ----------------------------------------------------------------------------- */

typedef struct mishap_api_call mishap_api_call; /* see calls.h */

/* Streams in the order in which they began to wait. */
typedef struct mishap_api_tails {
    mishap_api_call *first, *last;
} mishap_api_tails;

/* The API of one loop. */
typedef struct mishap_api {
    mishap_http_server *server;
    mishap_served *served;
    struct mishap_http_keys *keys;
    mishap_buffer openapi; /* the document, made once */
    int key_field;         /* the place of X-Api-Key in the fields of a request */
    int session_field;     /* … of Mishap-Session */
    int caller_field;      /* … of X-Caller; -1: no caller names itself */
    uv_poll_t turn;        /* the runner of calls has something to do */
    uv_prepare_t flush;    /* before the loop waits: hand over all new calls together */

    /* Live tails: those that wait for a change, and those whose handlers are to run. */
    mishap_api_tails waiting, due;
    size_t tails_resumed; /* the number of tails whose handlers run */
    uint64_t news_seen;   /* the number of changes that were processed */
    bool draining;        /* no stream may wait any more */
} mishap_api;

extern const mishap_http_extension mishap_api_over_http;

/* The header field that names a session, where there are any: Mishap-Session. */
extern const char mishap_api_session_field[];

/* Make keys, document and fields of an API, without its runner of calls; and release them. */
mishap *mishap_api_make(mishap_api *api, mishap_http_server *server);
void mishap_api_release(mishap_api *api);

/* settings->admit: identify the caller by its API key. */
mishap *mishap_api_admit(mishap_http_server *server, mishap_http_request *request, bool open);

/* settings->refuse: write a failure in the dialect that the request asks for: status, body,
 * Retry-After, and other fields that the code needs (WWW-Authenticate). The mishap gets the id of
 * the request; the caller keeps it. */
void mishap_api_refuse(mishap_http_reply *reply, const mishap_http_settings *settings,
                       const mishap_http_request *request, mishap *failure);

/* The JSON dialect for failures that an Accept field asks for. Without one, or if it names no known
 * dialect: `usual`, which is also chosen by its own media type. */
const mishap_dialect *mishap_http_negotiate(mishap_text accept, const mishap_dialect *usual);

/* The dialect of failures below a path: that of the service whose routes are there
 * (mishap_service.http_dialect), else http-api. Of several routes, the one with the most fixed
 * segments counts. */
const mishap_dialect *mishap_http_dialect_of(const mishap_app *app, mishap_text path);

/* The dialect that a service has declared; http-api if it has none, or is NULL. */
const mishap_dialect *mishap_http_dialect_by(const mishap_service *service);

/* -- operations -------------------------------------------------------------------------------- */

/* The operation of a request; NULL: none. */
const mishap_operation *mishap_api_operation_of(const mishap_http_request *request);

/* An endpoint for each operation that has a route (operations of chaos only if asked for), and
 * behind them some further ones, whose list ends with a NULL route. The caller releases the
 * list. */
mishap *mishap_api_endpoints(const mishap_app *app, bool chaos, const mishap_http_endpoint *further,
                             mishap_http_endpoint **out);

/* The endpoints that every server has. */
extern const mishap_http_endpoint mishap_http_endpoints[];

/* Check the head of the request: the origin of a page, the type of the body. */
bool mishap_api_screen(mishap_http_server *server, const mishap_http_request *request,
                       const mishap_http_match *match, mishap_http_reply *reply);

/* Call the operation of match->endpoint. */
void mishap_api_answer(mishap_http_server *server, const mishap_http_request *request,
                       const mishap_http_match *match, mishap_http_reply *reply);

/* Make a reply of the outcome of a call, and record it if it is an incident. Takes the failure. */
void mishap_api_conclude(const mishap_http_settings *settings, const mishap_http_request *request,
                         mishap_call *call, mishap *failure, mishap_http_reply *reply);

/* Add the header fields for an answer that is bytes. */
void mishap_api_put_bytes_fields(mishap_http_reply *reply);

/* Record the private side of a failure, if it has one worth recording. `secrets` may be NULL. */
void mishap_api_record(const mishap_served *served, const mishap_http_request *request,
                       const mishap_call *call, const mishap_secrets *secrets,
                       const mishap *failure);

/* Say where a call comes from: a request that lives as long as the call. */
void mishap_api_call_come_from(mishap_call *call, const mishap_api *api,
                               const mishap_http_request *request);

/* Copy the header fields that its operation declares. */
mishap *mishap_api_keep_headers(mishap_call *call, const mishap_http_settings *settings,
                                const mishap_http_request *request);

/* Answer a request later with the outcome of a call. NULL: the caller no longer owns the call. */
mishap *mishap_api_call_begin(mishap_api *api, const mishap_http_request *request,
                              mishap_call *call);

/* Live tails, for the loop: before it waits, several times per second, and when it ends soon. */
void mishap_api_tails_look(mishap_api *api);
void mishap_api_tails_tick(mishap_api *api);
void mishap_api_tails_drain(mishap_api *api);

/* -- arguments --------------------------------------------------------------------------------- */

/*
 * Make one JSON object of path, query and body, with which the operation is called. A body alone is
 * used unchanged; else `object` is filled. A value of path or query becomes what its parameter is
 * declared as, if possible: `7` a number for an integer, `true` a boolean; a parameter that is an
 * array takes all values of its name. A value that cannot be converted stays a string, and the
 * checks say what is wrong with it. Undeclared parameters are left out.
 *
 * BAD_REQUEST: broken escapes, text that is not UTF-8, a name with a NUL, another content type than
 * JSON or a content encoding, the same parameter in two places with different values, or twice in
 * the query where it is no array. A body that is no JSON object is passed on: mishap_call_begin()
 * refuses it, with line and column.
 */
mishap *mishap_http_arguments(const mishap_operation *operation, const mishap_http_match *match,
                              const mishap_http_request *request, mishap_buffer *object,
                              mishap_text *arguments);

/* True if the head announces a body, so that its type matters. A chunked body may turn out to be
 * empty; then its type does not matter. */
static inline bool mishap_http_has_form(const mishap_http_request *request)
{
    return request->announced > 0 ||
           (request->announced && request->fields[MISHAP_HTTP_CONTENT_TYPE].data);
}

/* The first part of the above, for a head with a body: check its type and coding. */
mishap *mishap_http_check_form(const mishap_operation *operation,
                               const mishap_http_request *request);

/* True if the request has a body that its operation takes as bytes. Then the arguments are those of
 * path and query. */
bool mishap_http_has_bytes(const mishap_operation *operation, const mishap_http_request *request);

/* -- documents --------------------------------------------------------------------------------- */

/* OpenAPI 3.1: every operation that has a route, with its parameters, its answer and each of its
 * failures. */
void mishap_http_put_openapi(mishap_buffer *buffer, const mishap_http_settings *settings);

/* The catalog for readers: all codes, or one by any of its spellings (false if there is none). */
void mishap_http_put_codes(mishap_buffer *buffer);
bool mishap_http_put_code(mishap_buffer *buffer, mishap_text name);

/* -- keys -------------------------------------------------------------------------------------- */

/* The API keys of a server: names and hashes, in the file `keys` of the data folder. */
typedef struct mishap_http_keys mishap_http_keys;

/* Read them. A missing file has no keys. */
mishap *mishap_http_keys_open(const char *data, mishap_http_keys **out);
void mishap_http_keys_close(mishap_http_keys *keys);

/* The same without reading the file yet: mishap_http_keys_refresh() does that. For a loop, which
 * must start even if the file has become unreadable meanwhile. */
mishap *mishap_http_keys_make(const char *data, mishap_http_keys **out);

/*
 * Read them again if the file has changed; called about once per second. While the file cannot be
 * read, no key is accepted, since one of the known keys may have been removed. UNAVAILABLE, with
 * the reason as its cause, for the log, once for each unreadable state of the file. NOT_CONFIGURED,
 * also once: there was a key, and now there is none.
 */
mishap *mishap_http_keys_refresh(mishap_http_keys *keys);
size_t mishap_http_keys_count(const mishap_http_keys *keys);

/* The first: callers may name themselves, because keys were never used here or are disabled. The
 * second: keys were used, and there is none any more. If neither is true, there are keys, or the
 * file cannot be read. */
bool mishap_http_keys_are_unused(const mishap_http_keys *keys);
bool mishap_http_keys_are_gone(const mishap_http_keys *keys);

/* From now on `removed` is called for each key that is no longer in the file when it is read again,
 * with the number that requests have as their caller_key. While the file cannot be read, no key
 * counts as removed. */
void mishap_http_keys_watch(mishap_http_keys *keys, void (*removed)(void *context, uint64_t key),
                            void *context);

/*
 * Identify the caller. NULL: request->caller and caller_key are set if a known key was sent.
 * UNAUTHORIZED: the key is not known. AUTH_REQUIRED: no key was sent, and `required`. UNAVAILABLE:
 * a key was sent, and the file cannot be read. A key is sent as `Authorization: Bearer KEY` or
 * `X-Api-Key: KEY`, of which `own` is the value. The name lives as long as the keys.
 */
mishap *mishap_http_keys_check(const mishap_http_keys *keys, mishap_http_request *request,
                               mishap_text own, bool required);

/* keys.add, keys.list, keys.remove, keys.disable: commands beside `serve`; mishap_keys_add and so
 * on (mishap/http.h) are in keys_commands.c. */

/* -- serving ----------------------------------------------------------------------------------- */

/* Add an extension that `serve` serves beside the operations: called before the command runs, once
 * for each. */
void mishap_http_extend(const mishap_http_extension *extension);

/* NULL if no operation has a route that the server or an extension uses; else a NOT_CONFIGURED
 * mishap that names the first one. */
mishap *mishap_http_routes_declared(const mishap_app *app);

/* NULL if there is room for all header fields that operations read; else NOT_CONFIGURED, which
 * names the first one without room. */
mishap *mishap_http_headers_declared(const mishap_app *app);

#endif
