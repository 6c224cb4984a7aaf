/*
 * One conversation, over any transport, and one request in it: what calls, changes and methods have
 * in common. The transport sets most members of a peer.
 */
#ifndef MISHAP_MCP_CALLS_PEER_H
#define MISHAP_MCP_CALLS_PEER_H

#include "mcp/offers/offers.h"
#include "mcp/wire/write.h"
#include "operation/call.h"

typedef struct mishap_mcp_flight mishap_mcp_flight;

/* One conversation: the process on the other end of standard input, a session over HTTP, or, for
 * the stateless revision over HTTP, a single request. */
typedef struct mishap_mcp_peer {
    const mishap_mcp_server *server;
    mishap_mcp_revision revision; /* agreed with initialize */
    bool initialized;             /* the client has confirmed it */
    unsigned capabilities;        /* … and what it can be asked for (asks.h) */
    bool single_request; /* stateless over HTTP: closing the channel cancels its requests */
    unsigned scopes;     /* what the caller may do (base/scope.h): which tools it sees */
    const char *caller;  /* by its API key; NULL: a caller without a name */
    uint64_t owner;      /* the number of its key, or of its name; 0: none */
    mishap_text named;   /* the name that the caller gives itself; no data: none */
    bool caller_is_free; /* … and whether it may name itself */
    /* The caller that a failure is counted for; lives as long as the peer. */
    const char *counted_for;
    const char *incident; /* the id under which failures of its calls are recorded; NULL: each call
                             has its own */
    mishap_text traceparent;    /* the header field over HTTP, for calls whose _meta has none */
    mishap_text remote;         /* the address of the client over HTTP; no data: none */
    mishap_text conversation;   /* its id, in revisions with sessions */
    mishap_level level;         /* of log messages, in revisions with logging/setLevel */
    mishap_mcp_flight *flights; /* calls that run or wait */
    size_t flight_count;
    struct mishap_mcp_subscription *subscriptions; /* for subscribe.c */
    /* Messages of a batch that were not processed yet; NULL: none. */
    struct mishap_mcp_batch *paused;

    /* Set by the transport: a flight is about to begin; false: it cannot now. NULL: it always
     * can. */
    bool (*start)(struct mishap_mcp_peer *peer, mishap_mcp_flight *flight);
    /* … pass the header fields to a call that its operation declares. NULL: there are none. */
    mishap *(*headers)(struct mishap_mcp_peer *peer, mishap_call *call);
    /* … count that the process which ran a call died of it, or would have; a timeout does not
     * count. NULL: not counted. */
    void (*died)(struct mishap_mcp_peer *peer);
    /* … between two messages of a batch: do other clients wait, so that the rest should run later,
     * by mishap_mcp_go_on()? NULL: they never do. */
    bool (*pause)(struct mishap_mcp_peer *peer);
    /* … true if a call of this id runs for another peer of the same conversation. NULL: this is the
     * only peer. */
    bool (*runs)(struct mishap_mcp_peer *peer, mishap_text id);
    /* … the number of a question to the client, in a revision in which the server sends requests;
     * 0: too many are open. False: no answer could reach the call. NULL: this peer is never asked.
     */
    bool (*ask)(struct mishap_mcp_peer *peer, mishap_mcp_flight *flight, uint64_t *number);
    /* … hand over the answer to a question of a call, which may run for another peer of the same
     * conversation. NULL: this is the only peer. */
    void (*answer)(struct mishap_mcp_peer *peer, uint64_t number, mishap_text answer);
    /* … a question is over without an answer. NULL: nothing is to be done. */
    void (*withdraw)(struct mishap_mcp_peer *peer, uint64_t number);
    uint64_t questions; /* how many were asked, if it is the only peer */
    /* … the channel for messages that belong to no request: changed lists and resources, in the
     * older revisions. NULL: none. */
    mishap_mcp_channel *aside;
    /* … store or remove a resources/subscribe, if the conversation outlives the peer. A failure:
     * there are too many. NULL: the peer has a list of its own. */
    mishap *(*watch)(struct mishap_mcp_peer *peer, mishap_text uri, bool begin);
    /* … publish the changes so far to all listeners: a new one is about to join them, which must
     * not receive these. NULL: there are none. */
    void (*catch_up)(struct mishap_mcp_peer *peer);
} mishap_mcp_peer;

/* The methods: one row each in peer.c. A method answers on the channel, or returns a failure that
 * becomes a protocol error with `code` (0: by its category: validation -32602, else -32603). */
typedef struct mishap_mcp_request {
    mishap_mcp_peer *peer;
    mishap_mcp_channel *channel;
    const mishap_mcp_message *message;
    int code;
    bool later;                 /* the method answers later, on its own */
    mishap_mcp_outcome outcome; /* what is in `result` */
    /* Further members of `data` if it fails, NUL-terminated; the caller owns it. */
    mishap_buffer members;
} mishap_mcp_request;
typedef mishap *mishap_mcp_method(mishap_mcp_request *request, mishap_buffer *result);

#endif
