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
struct mishap_http_exchange;

/* Bytes in server->out: how many are written before more requests are answered, and how much memory
 * is kept for the next ones. */
enum { MISHAP_HTTP_OUT_MUCH = 256 * 1024, MISHAP_HTTP_OUT_KEPT = 1024 * 1024 };

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
    mishap_buffer aside;     /* bytes for another one: of an answer that came later */

    /* The request that an endpoint looks at, while it does; see mishap_http_defer(). */
    struct {
        struct mishap_http_exchange *exchange; /* NULL: none */
        int64_t route;
        bool deferred;
    } at_hand;

    /* For what is served beside the operations. Its jobs run on these threads, too:
     * mishap_threads_add(server->threads, &job) from the thread of the loop, with a done(), which
     * is called there. Handles on the loop are closed in the extension's close(). */
    void *extension_state;
    mishap_threads *threads; /* NULL: there are none */
    uv_loop_t *loop;         /* NULL: there is none */

    /* Run a job on another thread, and hand it to mishap_http_exchange_finish() on this one. False:
     * it cannot be done now. */
    bool (*start)(struct mishap_http_server *server, mishap_http_job *job);

    /* Write to an exchange that is not at hand, behind all that was written to it before. Text
     * without data: there was no memory for it, and the connection ends. False: it is closed. */
    bool (*push)(struct mishap_http_server *server, struct mishap_http_exchange *exchange,
                 mishap_text bytes);

    /* … its answer is complete: read on, but not before who calls this has returned. */
    void (*go_on)(struct mishap_http_server *server, struct mishap_http_exchange *exchange);
} mishap_http_server;

/* The endpoints that every server has; the list ends with a NULL route. */
extern const mishap_http_endpoint mishap_http_endpoints[];

/* These and those of an extension, which may be NULL, as one list. It is the caller's, to release.
 */
mishap *mishap_http_endpoints_join(const mishap_http_extension *extension,
                                   mishap_http_endpoint **out);

/* Make what a server needs beside its routes, and give it back. */
mishap *mishap_http_server_open(mishap_http_server *server);
void mishap_http_server_close(mishap_http_server *server);

/* A turn of the loop begins: requests that are answered in it came now. */
void mishap_http_server_look_at_clock(mishap_http_server *server);

/* To be called at least once a second: the date, keys that have changed, the access log. */
void mishap_http_server_tick(mishap_http_server *server);

/* For an extension: a handler crashed in one of its jobs (call->crashed), so this process is not to
 * be trusted any more. It drains, and is replaced. On the thread of the loop. */
void mishap_http_server_taint(mishap_http_server *server);

/* -- replies as bytes -------------------------------------------------------------------------- */

/* Empty a reply for the next use. */
void mishap_http_reply_reset(mishap_http_reply *reply);
void mishap_http_reply_release(mishap_http_reply *reply);

/* The head of a reply whose body comes in pieces. */
void mishap_http_put_head(mishap_buffer *out, const mishap_http_server *server,
                          const mishap_http_request *request, const mishap_http_reply *reply,
                          bool chunked);

/* The whole reply at the end of the buffer, or if there is no memory nothing of it. */
void mishap_http_put_reply(mishap_buffer *out, const mishap_http_server *server,
                           const mishap_http_request *request, const mishap_http_reply *reply);

/* -- jobs -------------------------------------------------------------------------------------- */

/* The text of a request that is answered after its bytes are gone: how many bytes it takes, and a
 * request with this text as its own, but without its body. */
size_t mishap_http_request_size(const mishap_http_request *request);
void mishap_http_request_keep(mishap_http_request *kept, const mishap_http_request *request,
                              char *text);

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
 * MISHAP_HTTP_NO_ROUTE. False: *job is to be started, or it is NULL and an endpoint answers the
 * exchange later, or has done so.
 */
bool mishap_http_answer(mishap_http_server *server, struct mishap_http_exchange *exchange,
                        mishap_http_request *request, mishap_http_reply *reply, int64_t *route,
                        mishap_http_job **job);

/* Record the private side of a failure, if it has one worth recording. `secrets` may be NULL. */
void mishap_http_record(const mishap_http_settings *settings, const mishap_http_request *request,
                        const mishap_call *call, const mishap_secrets *secrets,
                        const mishap *failure);

/* UNAVAILABLE: there is too much to do; to be tried again soon. */
mishap *mishap_http_busy(void);

/* Run the handler and make the reply: on any thread. */
void mishap_http_job_run(mishap_http_job *job);
void mishap_http_job_free(mishap_http_job *job);

#endif
