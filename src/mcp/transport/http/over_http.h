/*
 * src/mcp/transport/http: MCP over HTTP, Streamable HTTP at /mcp, as an extension of src/server.
 *
 *     front.c      the extension: what all loops share, and what each has
 *     over_http.c  the endpoints: the session and the revision of a request
 *     caller.c     which requests are accepted: hosts, origins, media types
 *     headers.c    the header fields of the protocol, which repeat parts of a message
 *     post.c       one POST and its response: an answer, or a stream of events
 *     questions.c  questions to the clients of sessions, and the answers, which any loop may get
 *     stream.c     GET: streams that are resumed, or stay open
 */
#ifndef MISHAP_MCP_TRANSPORT_HTTP_OVER_HTTP_H
#define MISHAP_MCP_TRANSPORT_HTTP_OVER_HTTP_H

#include <uv.h>

#include "mcp/calls/flight.h"
#include "mcp/dispatch/dispatch.h"
#include "mcp/sessions/watch.h"
#include "server/server.h"
#include "worker/serving/served.h"

typedef struct mishap_mcp_post mishap_mcp_post;
typedef struct mishap_mcp_stream mishap_mcp_stream;

/* The MCP side of one loop. */
typedef struct mishap_mcp_front {
    mishap_http_server *http;
    mishap_served *served; /* program and runner of calls, shared with other extensions */
    mishap_mcp_server server;
    mishap_mcp_sessions *sessions; /* shared by all loops … */
    mishap_mcp_watches *watches;   /* … and so are these */
    uv_async_t wake;        /* a call was cancelled, or a question answered, perhaps of this loop */
    bool ends;              /* the loop ends soon: no further question is asked */
    mishap_mcp_post *posts; /* requests that wait for something */
    mishap_mcp_stream *streams;         /* open streams */
    uint64_t changes[MISHAP_MCP_LISTS]; /* the number of changes of each list that were announced */
    uint64_t updates;                   /* the number of changes of resources that were announced */
    int caller_field;                   /* the index of X-Caller; -1: no caller names itself */
} mishap_mcp_front;

/* -- post.c ------------------------------------------------------------------------------------ */

struct mishap_mcp_post {
    mishap_mcp_channel channel; /* the first member */
    mishap_mcp_front *front;
    mishap_mcp_peer peer;
    mishap_mcp_post *next, *previous;
    mishap_buffer message;               /* the message that is being written */
    char incident[MISHAP_ID_LENGTH + 1]; /* the id of its HTTP request */
    char traceparent[64];                /* the header field; it need not end with a null byte */
    char counted_for[64];                /* its caller */

    /* Set while the endpoint runs; NULL afterwards. The request stays set while messages of a batch
     * wait. */
    mishap_http_reply *reply;
    const mishap_http_request *request;

    mishap_http_later *later; /* if it was deferred; NULL: the peer is gone */
    mishap_mcp_session session;
    uint64_t caller_key; /* the key of its request; peer.caller is its name */
    size_t bytes;        /* of the body of its request */
    bool in_session;
    bool stored; /* its events are stored, for a connection that resumes the stream */
    /* The id of the session that begins with it, whose place is reserved; "": none. */
    char begins[MISHAP_MCP_SESSION_ID + 1];
    uint32_t held;   /* the count of a stream that stays open; 0: it is not counted */
    bool may_stream; /* the client accepts a stream */
    bool streaming, answered, finished;
    int64_t quiet_since_ns;    /* of a stream: when something was sent last */
    mishap_http_task task;     /* continues with a batch in a later iteration of the loop … */
    mishap_http_request *kept; /* … for which the request is stored; NULL: none */
    bool taking;               /* … it is being processed: nothing may be freed meanwhile */
    bool sending, closing; /* the peer went away while something was sent: freed in the next tick */
    uint64_t stream; /* in a session: the number of its stream, once there is a call; 0: none */
    uint64_t place;  /* the place of its last event */
};

static inline mishap_mcp_post *mishap_mcp_post_of(mishap_mcp_peer *peer)
{
    return (mishap_mcp_post *)(void *)((char *)peer - offsetof(mishap_mcp_post, peer));
}

/* Make one, which is not deferred yet; NULL: no memory. */
mishap_mcp_post *mishap_mcp_post_make(mishap_mcp_front *front, const mishap_http_request *request,
                                      mishap_http_reply *reply);

/* The endpoint returns: what is not answered yet is deferred. */
void mishap_mcp_post_leave(mishap_mcp_post *post);

/* Store what the messages have changed in the session. */
void mishap_mcp_post_keep_session(mishap_mcp_post *post);

/* Several times per second: progress, deadlines, calls that were cancelled in another loop. */
void mishap_mcp_posts_tick(mishap_mcp_front *front);

/* Answer with a protocol error, and end it. Takes the mishap. */
#define MISHAP_MCP_NO_ID ((mishap_text){ NULL, 0 })
enum { MISHAP_MCP_INVALID_REQUEST = -32600, MISHAP_MCP_INTERNAL_ERROR = -32603 };
void mishap_mcp_post_refuse(mishap_mcp_post *post, mishap_text id, int code, int status,
                            mishap *failure);

/* … with the HTTP status of its code, and Retry-After. */
void mishap_mcp_post_refuse_for_now(mishap_mcp_post *post, mishap_text id, mishap *failure);

/* Notify all listeners of a change. */
void mishap_mcp_posts_tell(mishap_mcp_front *front, mishap_mcp_change change, mishap_text uri);

/* The loop ends soon. */
void mishap_mcp_posts_drain(mishap_mcp_front *front);

/* -- questions.c ------------------------------------------------------------------------------- */

/* Let the calls of a post ask their client. */
void mishap_mcp_questions_of(mishap_mcp_post *post);

/* Several times per second: the answer to the question of a parked call. The flight, and with it
 * its post, may be freed. */
void mishap_mcp_question_look(mishap_mcp_post *post, mishap_mcp_flight *flight, int64_t now_ns);

/* The loop ends soon: no call waits for an answer any more. */
void mishap_mcp_questions_drain(mishap_mcp_front *front);

/* -- stream.c ---------------------------------------------------------------------------------- */

/* Where a stream is resumed: behind the event `place` of `stream`, or at a position of changes
 * (operation/handover.h); all empty: it is a new one, which stays open. `ask`: this server does not
 * know the stream, but another server of the cluster may. */
typedef struct mishap_mcp_from {
    uint64_t stream, place;
    mishap_text position;
    bool ask;
} mishap_mcp_from;

/* Open a stream for a session. Answers the request, now or later. A failure, with nothing answered:
 * the caller or the session has too many streams. */
mishap *mishap_mcp_stream_open(mishap_mcp_front *front, const mishap_http_request *request,
                               mishap_http_reply *reply, const mishap_mcp_session *session,
                               const mishap_mcp_from *from);
void mishap_mcp_streams_tick(mishap_mcp_front *front);
void mishap_mcp_streams_drain(mishap_mcp_front *front);

/* One event: `id: STREAM-PLACE` if it can be resumed (stream not 0), and its data. */
void mishap_mcp_put_event(mishap_buffer *buffer, uint64_t stream, uint64_t place, mishap_text data);

/* The interval of heartbeats on a silent stream. */
#define MISHAP_MCP_HEARTBEAT_NS INT64_C(15000000000)
extern const mishap_text mishap_mcp_heartbeat;

/* Fill in the head of a stream of events. */
void mishap_mcp_head_of_stream(mishap_http_reply *reply);

/* -- caller.c, headers.c ----------------------------------------------------------------------- */

/* Check the head of a request. NULL, or FORBIDDEN because of Host or Origin; UNSUPPORTED_MEDIA_TYPE
 * or NOT_ACCEPTABLE because of its media types. */
mishap *mishap_mcp_check_caller(const mishap_http_settings *settings,
                                const mishap_http_request *request);
mishap *mishap_mcp_check_form(const mishap_http_request *request);

/* Each is true if the request was refused: because of its caller; because of its header fields. */
bool mishap_mcp_refuse_caller(mishap_mcp_post *post, const mishap_http_request *request);
bool mishap_mcp_refuse_headers(mishap_mcp_post *post, const mishap_http_request *request,
                               const mishap_mcp_message *message);

/* True if Accept names text/event-stream or a range that contains it, or if there is no Accept. */
bool mishap_mcp_accepts_stream(const mishap_http_request *request);

/* The header fields of the protocol. */
typedef enum mishap_mcp_http_field {
    MISHAP_MCP_FIELD_SESSION,    /* Mcp-Session-Id */
    MISHAP_MCP_FIELD_VERSION,    /* MCP-Protocol-Version */
    MISHAP_MCP_FIELD_METHOD,     /* Mcp-Method */
    MISHAP_MCP_FIELD_NAME,       /* Mcp-Name */
    MISHAP_MCP_FIELD_LAST_EVENT, /* Last-Event-ID */
    MISHAP_MCP_FIELDS,
} mishap_mcp_http_field;

extern const mishap_http_wish mishap_mcp_fields[MISHAP_MCP_FIELDS + 1];

/* Once in a loop: find their indexes in the fields of a request. */
void mishap_mcp_fields_place(const mishap_http_fields *fields);

/* One of them in a request; no data: it is absent. */
mishap_text mishap_mcp_field(const mishap_http_request *request, mishap_mcp_http_field field);

/* -- over_http.c, front.c ---------------------------------------------------------------------- */

extern const mishap_http_endpoint mishap_mcp_endpoints[];

extern const mishap_http_extension mishap_mcp_over_http;

/* Publish the changes so far to all listeners (subscriptions/listen): in each tick, and before a
 * new listener joins. */
void mishap_mcp_front_tell(mishap_mcp_front *front);

/* From a handler that runs in a loop (.quick): a list has changed. The listeners of all loops are
 * told soon. */
void mishap_mcp_changed(mishap_mcp_change change);

#endif
