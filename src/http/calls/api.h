/*
 * Requests as calls of operations.
 *
 *     answer.c  a request into a call, and its outcome into a reply
 *     fit.c     conditions, ranges and compression of answers: fit.h
 *     calls.c   calls that are answered later: calls.h
 *     tails.c   … streams that wait for a change
 *     uploads.c requests with a streamed file: uploads.h
 *     tasks.c   calls that may become tasks, and requests about tasks: tasks.h
 *     task_streams.c  … and requests that follow one
 */
#ifndef MISHAP_HTTP_CALLS_API_H
#define MISHAP_HTTP_CALLS_API_H

#include <uv.h>

#include "guard/guard.h"
#include "server/server.h"
#include "worker/serving/served.h"

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
    struct mishap_http_tokens *tokens; /* NULL: there is no issuer */
    /* Which callers are refused: here, and with a cluster at all servers; else the second is
     * NULL. */
    struct mishap_http_blocks *blocks[2];
    mishap_buffer openapi; /* the document, made once */
    int key_field;         /* the place of X-Api-Key in the fields of a request */
    int session_field;     /* … of Mishap-Session */
    int position_field;    /* … of Mishap-Position; -1: no standby is used */
    int caller_field;      /* … of X-Caller; -1: no caller names itself */
    uv_poll_t turn;        /* the runner of calls has something to do */
    uv_prepare_t flush;    /* before the loop waits: hand over all new calls together */

    /* Live tails: those that wait for a change, and those whose handlers are to run. */
    mishap_api_tails waiting, due;
    size_t tails_resumed; /* the number of tails whose handlers run */
    uint64_t news_seen;   /* the number of changes that were processed */
    bool draining;        /* no stream may wait any more */
    size_t uploads;       /* the number of requests with a streamed file */

    struct mishap_task_client *tasks;            /* NULL: this server has no tasks */
    int prefer_field;                            /* … the place of Prefer */
    struct mishap_api_task_stream *task_streams; /* requests that follow a task */
} mishap_api;

/* The header field that names a session, where there are any: Mishap-Session. */
extern const char mishap_api_session_field[];

/* Check the head of the request: the origin of a page, the type of the body. */
bool mishap_api_screen(mishap_http_server *server, const mishap_http_request *request,
                       const mishap_http_match *match, mishap_http_reply *reply);

/* Call the operation of match->endpoint. */
void mishap_api_answer(mishap_http_server *server, const mishap_http_request *request,
                       const mishap_http_match *match, mishap_http_reply *reply);

/* Make a reply of the outcome of a call, and record it if it is a failure. Takes the failure. */
void mishap_api_conclude(const mishap_http_settings *settings, const mishap_http_request *request,
                         mishap_call *call, mishap *failure, mishap_http_reply *reply);

/* The same for an outcome that was recorded before. */
void mishap_api_replay(const mishap_http_settings *settings, const mishap_http_request *request,
                       mishap_call *call, mishap *failure, mishap_http_reply *reply);

/* Add the header fields for an answer that is bytes. */
void mishap_api_put_bytes_fields(mishap_http_reply *reply);

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

#endif
