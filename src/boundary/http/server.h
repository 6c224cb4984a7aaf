/*
 * A server as one worker sees it: what every request needs, and nothing of sockets or processes. It
 * belongs to the thread of the loop; handlers on other threads get a job and nothing else.
 */
#ifndef MISHAP_BOUNDARY_HTTP_SERVER_H
#define MISHAP_BOUNDARY_HTTP_SERVER_H

#include <uv.h>

#include "boundary/http/http.h"
#include "guard/guard.h"
#include "operation/threads.h"

typedef struct mishap_http_job mishap_http_job;

typedef struct mishap_http_server {
    const mishap_http_settings *settings;
    const mishap_http_routes *routes;
    mishap_http_metrics *metrics; /* shared by all workers; NULL: nothing is counted */
    mishap_http_rates *rates;     /* shared by all workers; NULL: no limits */
    mishap_http_keys *keys;
    mishap_http_access *access; /* NULL: no log */
    mishap_buffer openapi;      /* the document, made once */
    char date[64];              /* of now, as the field Date has it */
    size_t date_length;
    int64_t now_ms, now_ns; /* when this turn of the loop began: of the calendar, monotonic */
    bool crashed;           /* a quick handler did: the worker is not to be trusted any more */
    bool draining;          /* every reply is the last of its connection */
    size_t waiting;         /* jobs that run or wait for a thread */
    size_t most_waiting;    /* … how many may */

    mishap_http_reply reply; /* of the request at hand; its memory is used again and again */
    mishap_buffer out;       /* bytes for the connection at hand */

    /* Run a job on another thread, and hand it to mishap_http_exchange_finish() on this one. False:
     * it cannot be done now. */
    bool (*start)(struct mishap_http_server *server, mishap_http_job *job);
} mishap_http_server;

/* The endpoints that every server has; the list ends with a NULL route. */
extern const mishap_http_endpoint mishap_http_endpoints[];

/* Make what a server needs beside its routes, and give it back. */
mishap *mishap_http_server_open(mishap_http_server *server);
void mishap_http_server_close(mishap_http_server *server);

/* A turn of the loop begins: requests that are answered in it came now. */
void mishap_http_server_look_at_clock(mishap_http_server *server);

/* To be called at least once a second: the date, keys that have changed, the access log. */
void mishap_http_server_tick(mishap_http_server *server);

/* -- replies as bytes -------------------------------------------------------------------------- */

/* Empty a reply for the next use. */
void mishap_http_reply_reset(mishap_http_reply *reply);
void mishap_http_reply_release(mishap_http_reply *reply);

/* The whole reply at the end of the buffer, or if there is no memory nothing of it. */
void mishap_http_put_reply(mishap_buffer *out, const mishap_http_server *server,
                           const mishap_http_request *request, const mishap_http_reply *reply);

/* -- jobs -------------------------------------------------------------------------------------- */

/* A call whose handler runs on another thread. While it runs it is that thread's; only `exchange`
 * and its neighbours are the loop's throughout. */
struct mishap_http_job {
    mishap_job job; /* the first */
    mishap_http_server *server;
    struct mishap_http_exchange *exchange; /* NULL: nobody waits for it any more */
    mishap_http_job *next, *previous;      /* of all that wait or run */
    mishap_http_request request;           /* with text of its own */
    mishap_http_reply reply;
    int64_t route;
    bool crashed;
    char text[];
};

/*
 * Answer a request. True: the reply is ready, and *route is the number of its route or
 * MISHAP_HTTP_NO_ROUTE. False: *job is to be started.
 */
bool mishap_http_answer(mishap_http_server *server, mishap_http_request *request,
                        mishap_http_reply *reply, int64_t *route, mishap_http_job **job);

/* Record the private side of a failure, if it has one worth recording. `secrets` may be NULL. */
void mishap_http_record(const mishap_http_settings *settings, const mishap_http_request *request,
                        const mishap_call *call, const mishap_secrets *secrets,
                        const mishap *failure);

/* Run the handler and make the reply: on any thread. */
void mishap_http_job_run(mishap_http_job *job);
void mishap_http_job_free(mishap_http_job *job);

#endif
