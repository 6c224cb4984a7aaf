/*
 * The MCP boundary over the HTTP boundary: Streamable HTTP at /mcp. The two do not know each other;
 * this is where they meet.
 *
 *     mcp_http.c    whose request it is and by which rules: hosts, headers, sessions
 *     mcp_post.c    one POST and what comes back: an answer, or a stream of events
 *     mcp_stream.c  GET: streams that are resumed, or stay open
 */
#ifndef MISHAP_PROGRAM_MCP_HTTP_H
#define MISHAP_PROGRAM_MCP_HTTP_H

#include "boundary/http/server.h"
#include "boundary/mcp/session.h"

typedef struct mishap_mcp_post mishap_mcp_post;
typedef struct mishap_mcp_stream mishap_mcp_stream;

/* The MCP side of one worker. */
typedef struct mishap_mcp_front {
    mishap_http_server *http;
    mishap_mcp_server server;
    mishap_mcp_sessions *sessions;      /* shared by all workers */
    uv_async_t wake;                    /* a call has something to say while it runs */
    mishap_mcp_post *posts;             /* that wait for something */
    mishap_mcp_stream *streams;         /* that are open */
    uint64_t changes[MISHAP_MCP_LISTS]; /* of lists, that were told of */
} mishap_mcp_front;

/* -- mcp_post.c -------------------------------------------------------------------------------- */

struct mishap_mcp_post {
    mishap_mcp_channel channel; /* the first */
    mishap_mcp_front *front;
    mishap_mcp_peer peer;
    mishap_mcp_post *next, *previous;
    mishap_buffer message; /* that is being written */

    /* While the endpoint is on the stack; NULL afterwards. */
    mishap_http_reply *reply;
    const mishap_http_request *request;

    mishap_http_later *later; /* if it has to wait; NULL: the peer is gone */
    mishap_mcp_session session;
    bool in_session, begins_session;
    bool streaming, answered, finished;
    bool sending, closing; /* the peer went away while something was sent: freed in the next tick */
    uint64_t stream, place; /* of the last event, in a session */
};

/* Once in a worker, before any request. */
void mishap_mcp_posts_begin(mishap_mcp_front *front);

/* A new one, which is not waiting yet; NULL: no memory. */
mishap_mcp_post *mishap_mcp_post_make(mishap_mcp_front *front, const mishap_http_request *request,
                                      mishap_http_reply *reply);

/* The endpoint leaves the stack: what is not answered yet is answered later. */
void mishap_mcp_post_leave(mishap_mcp_post *post);

/* Several times a second: reports, deadlines, calls that were cancelled through another worker. */
void mishap_mcp_posts_tick(mishap_mcp_front *front);

/* A list has changed: tell those who listen. */
void mishap_mcp_posts_tell(mishap_mcp_front *front, mishap_mcp_change change);

/* The worker ends soon. */
void mishap_mcp_posts_drain(mishap_mcp_front *front);

/* -- mcp_stream.c ------------------------------------------------------------------------------ */

/* Open a stream for a session, from the event behind `place` of `stream` on, or, if `stream` is 0,
 * one of its own that stays open. Answers the request, now or later. */
void mishap_mcp_stream_open(mishap_mcp_front *front, const mishap_http_request *request,
                            mishap_http_reply *reply, const mishap_mcp_session *session,
                            uint64_t stream, uint64_t place);
void mishap_mcp_streams_tick(mishap_mcp_front *front);
void mishap_mcp_streams_tell(mishap_mcp_front *front, mishap_mcp_change change);
void mishap_mcp_streams_drain(mishap_mcp_front *front);

/* One event: `id: STREAM-PLACE` if it can be resumed (stream not 0), and its data. */
void mishap_mcp_put_event(mishap_buffer *buffer, uint64_t stream, uint64_t place, mishap_text data);

/* The head of a stream of events. */
void mishap_mcp_head_of_stream(mishap_http_reply *reply);

/* -- mcp_http.c -------------------------------------------------------------------------------- */

extern const mishap_http_extension mishap_mcp_over_http;

/* Further resources and prompts; the lists end with NULL. Said once, before `serve` runs. */
void mishap_mcp_offer(const mishap_mcp_resource *const *resources,
                      const mishap_mcp_prompt *const *prompts);

/* From a handler: a list has changed. Whoever listens to any worker is told soon. */
void mishap_mcp_changed(mishap_mcp_change change);

#endif
