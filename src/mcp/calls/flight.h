/*
 * Calls of operations: how they begin, what they say while they run, and how they end.
 *
 *     flight.c    calls that run
 *     report.c    what they say meanwhile
 *     resource.c  is there something to read at an address?
 */
#ifndef MISHAP_MCP_CALLS_FLIGHT_H
#define MISHAP_MCP_CALLS_FLIGHT_H

#include "mcp/calls/peer.h"
#include "mcp/calls/result.h"
#include "worker/loop/runner.h"

/* A call that waits or runs. */
struct mishap_mcp_flight {
    mishap_run run; /* the first */
    mishap_mcp_peer *peer;
    mishap_mcp_channel *channel;
    mishap_mcp_flight *next, *previous;
    const mishap_mcp_server *server;
    mishap_mcp_asked asked;     /* … with a copy of its own of the URI */
    mishap_text id;             /* of the request, as JSON; its own copy */
    mishap_text progress_token; /* as JSON; no data: none */
    bool logs;                  /* log messages from `level` on are wanted */
    mishap_level level;
    mishap_watcher watcher;
    char incident[MISHAP_ID_LENGTH + 1];
    int removed;          /* traces that it was about to say */
    mishap_buffer latest; /* the progress that came too soon after another: its params */
    double progress;
    int64_t progress_ns; /* when the last one was sent */
    int64_t window_ns;   /* log messages are counted from here on … */
    size_t window_count; /* … so many */
};

/*
 * Begin a call with the arguments, an object. One that the operation does not have is refused. If
 * it is over at once (quick, or refused) `result` has what came of it (request->outcome). Else a
 * flight was started, which answers later (request->later).
 */
typedef struct mishap_mcp_arguments {
    yyjson_val *object;           /* as they are given; NULL: none, or elsewhere in the message */
    const mishap_buffer *spelled; /* … as they are meant, if that differs: JSON */
    bool mended;                  /* they are not what was sent (mishap_mcp_message): refused */
} mishap_mcp_arguments;
/* Say where a call comes from. What it points to lives as long as the call; `id` may be NULL. */
void mishap_mcp_come_from(mishap_call *call, const char *id, mishap_text remote);

void mishap_mcp_flight_begin(mishap_mcp_request *request, const mishap_mcp_asked *asked,
                             const mishap_mcp_arguments *arguments, mishap_buffer *result);

/* The progress that was kept back, to its channel (report.c). */
void mishap_mcp_flight_report(mishap_mcp_flight *flight);

/* Before the handler begins, and when nothing more will be said of it. */
void mishap_mcp_report_begin(mishap_mcp_flight *flight, const mishap_mcp_request *request);
void mishap_mcp_report_end(mishap_mcp_flight *flight);

/* The client does not wait for it any more: no response is sent. Its handler is told
 * (mishap_cancelled). The flight is freed. */
void mishap_mcp_flight_cancel(mishap_mcp_flight *flight);
mishap_mcp_flight *mishap_mcp_flight_find(const mishap_mcp_peer *peer, mishap_text id);

/* The method logging/setLevel. */
mishap_mcp_method mishap_mcp_set_level;

/* -- resources (resource.c) ---------------------------------------------------------------------
 */

/* Is there something to read, or may be? Its variables hold against the rules; and if the handler
 * is quick, it was asked and did not say that there is nothing. */
bool mishap_mcp_resource_exists(mishap_mcp_peer *peer, mishap_text uri);

/* There is no such resource: the failure of a request, with its code and `uri` in `data`. */
mishap *mishap_mcp_no_resource(mishap_mcp_request *request, mishap_text uri);

#endif
