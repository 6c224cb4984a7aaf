/*
 * src/http: a program's operations as an HTTP API, served by src/server.
 *
 *     keys/       API keys: which caller has which
 *     wire/       from a request to arguments, from a failure to a reply
 *     documents/  what readers are told: OpenAPI, the codes
 *     calls/      requests as calls of operations
 *     serve/      the extension of src/server, and the command that serves
 *
 * Arrows between them point up in this list, from a folder to those above it (tests/house).
 *
 *     serve.c      `serve`: flags into settings
 *     issuers.c    … --oauth-issuer and the flags beside it
 *     cluster.c    … --cluster
 *     fields.c     the header fields that operations read
 *     api.c        the extension: its state in each loop, and the check of keys
 *     endpoints.c  what every server answers beside its operations
 *     incidents.c  the process that puts incidents into their index
 *     measure.c    what it adds to the metrics
 *     stale.c      reads from standbys, and the services that have none
 *     tasks.c      the process that runs tasks, and its connection in each loop
 *
 * All of it runs on the thread of a loop. src/worker decides in which process a handler runs.
 */
#ifndef MISHAP_HTTP_SERVE_SERVE_H
#define MISHAP_HTTP_SERVE_SERVE_H

#include "http/calls/api.h"
#include "index/index.h"
#include "mishap/http.h"

extern const mishap_http_extension mishap_api_over_http, mishap_index_over_http,
    mishap_tasks_over_http;

/* Make keys, document and fields of an API, without its runner of calls; and release them. */
mishap *mishap_api_make(mishap_api *api, mishap_http_server *server);
void mishap_api_release(mishap_api *api);

/* settings->admit: identify the caller by its API key. */
mishap *mishap_api_admit(mishap_http_server *server, mishap_http_request *request, bool open);

/* An endpoint for each operation that has a route (operations of chaos only if asked for), and
 * behind them some further ones, whose list ends with a NULL route. The caller releases the
 * list. */
mishap *mishap_api_endpoints(const mishap_app *app, bool chaos, const mishap_http_endpoint *further,
                             mishap_http_endpoint **out);

/* Read --oauth-issuer and what belongs to it; settings->issuers is NULL without it. ARG_ERROR,
 * NOT_CONFIGURED, PRECONDITION, INPUT_UNREADABLE: for the person who starts the server. */
mishap *mishap_serve_read_cluster(mishap_call *call, mishap_http_settings *settings);
mishap *mishap_serve_read_issuers(mishap_call *call, mishap_http_settings *settings);

/* Read --stale-ms, and tell the operator for which services it has no effect. */
void mishap_serve_read_stale(mishap_call *call, mishap_served *served);

/* How incidents are indexed; its texts live as long as the server. */
void mishap_http_index(const mishap_index_plan *plan);

/* True if an operation of the program is `.task`. */
bool mishap_http_has_tasks(const mishap_operation *operations);

/* The parameters of `serve` about tasks, and their values. */
/* clang-format off */
#define MISHAP_HTTP_TASK_PARAMS                                                                    \
    { "tasks", MISHAP_INTEGER, .range = { 0, 256 }, .initial = "4", .placeholder = "N",            \
      .help = "Most tasks that run at once; 0: calls never become tasks" },                        \
    { "task_after_ms", MISHAP_INTEGER, .range = { 0, 3600000 }, .initial = "2000",                 \
      .placeholder = "N",                                                                          \
      .help = "How long a call runs before it becomes a task, if its operation allows that" },     \
    { "task_store", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "URL",                    \
      .help = "The store of tasks, as sqlite:PATH or postgresql://USER@HOST/DATABASE, or @FILE "   \
              "with that in it; by default an SQLite file in the data folder" },                   \
    { "task_limit", MISHAP_INTEGER, .range = { 1, 1000000 }, .initial = "1000",                    \
      .placeholder = "N", .help = "Most tasks of one caller, with those that have ended" },        \
    { "task_max_mb", MISHAP_INTEGER, .range = { 1, 1 << 20 }, .initial = "64", .placeholder = "N", \
      .help = "Size of the calls and answers of all tasks of one caller, in MB" },                 \
    { "task_hours", MISHAP_INTEGER, .range = { 1, 87600 }, .initial = "24", .placeholder = "N",    \
      .help = "Hours for which a task is kept after its end" }
/* clang-format on */
void mishap_http_tasks(mishap_call *call, mishap_served *served);

/* The endpoints that every server has. */
extern const mishap_http_endpoint mishap_http_endpoints[];

/* -- metrics (measure.c) ------------------------------------------------------------------------
 */

/* The names of operations and services, for settings->counted: operations in their order in the
 * program, services in that of mishap_services_of(), then one for none. */
mishap *mishap_api_counted(const mishap_app *app, mishap_arena *arena, mishap_http_counted *out);

/* In tick(): what the workers of this loop do. The second: see mishap_http_extension. */
void mishap_api_tell_of_loop(const mishap_api *api);
void mishap_api_measure(void *state, mishap_http_measures *to);

/* -- serving ------------------------------------------------------------------------------------
 */

/* Add an extension that `serve` serves beside the operations: called before the command runs, once
 * for each. */
void mishap_http_extend(const mishap_http_extension *extension);

/* NULL if no operation has a route that the server or an extension uses; else a NOT_CONFIGURED
 * mishap that names the first one. */
mishap *mishap_http_routes_declared(const mishap_app *app);

/* NULL if there is room for all header fields that operations read; else NOT_CONFIGURED, which
 * names the first one without room. */
mishap *mishap_http_headers_declared(const mishap_app *app);
mishap *mishap_http_headers_fit(const mishap_app *app,
                                const mishap_http_extension *const *extensions);

/* The extension that asks for these fields, once they are known. */
extern const mishap_http_extension mishap_fields_of_handlers;
void mishap_http_wish_headers(const mishap_app *app, bool has_issuer, bool has_positions,
                              bool drains);

#endif
