/*
 * Calls that are answered later: calls.c has those that wait for a handler or run, tails.c the
 * streams that wait for a change.
 */
#ifndef MISHAP_HTTP_CALLS_CALLS_H
#define MISHAP_HTTP_CALLS_CALLS_H

#include "http/calls/api.h"

struct mishap_api_call {
    mishap_run run; /* the first member; without a call while it waits for a change */
    mishap_watcher watcher;
    mishap_text fields; /* of a stream: header lines of the program; no data: none */
    mishap_api *api;
    mishap_http_later *later;         /* the request that waits for it; NULL: the peer is gone */
    const char *type;                 /* of a stream; in the arena of the call */
    bool events;                      /* … and it is text/event-stream */
    uint32_t held;                    /* … its count for its caller; 0: it is not counted */
    mishap *refused;                  /* … why it is refused; NULL: it is not */
    int64_t spoke_ns;                 /* when a piece of it was sent last */
    struct mishap_api_upload *upload; /* its streamed file (uploads.h); NULL: none */

    /* Of a live tail: a stream that waits for a change. */
    uint64_t seen;        /* the number of changes when its handler began */
    mishap_api_tails *in; /* the list that it waits in; NULL: its handler runs */
    mishap_api_call *next, *previous;
    bool is_tail, resumed; /* … and its handler runs again */
    mishap_arena memory;   /* memory of what is kept of the call while it waits: */
    const mishap_operation *operation;
    mishap_text arguments, body, body_type, address, cursor;
};

/* -- calls.c ----------------------------------------------------------------------------------- */

/* Hand over a call, with its watcher, to be run. False: there are too many; nothing has changed. */
bool mishap_api_call_start(mishap_api_call *c, mishap_call *call);

/* The same for a request that was deferred before, whose streamed file the call owns then. NULL:
 * the call is owned by *out; if it could not be handed over, the request was answered, *out is
 * NULL, and the file is freed. A failure: nothing has changed, but for the call, which was ended.
 */
mishap *mishap_api_call_begin_upload(mishap_api *api, mishap_http_later *later, mishap_call *call,
                                     struct mishap_api_upload *upload, mishap_api_call **out);

/* Send the head of the stream, if that was not done yet. False: there are too many streams;
 * c->refused says why. */
bool mishap_api_call_stream(mishap_api_call *c);

/* Report a failure as far as that is possible now, and free everything. Takes the failure. `call`
 * may be NULL. */
void mishap_api_call_fail(mishap_api_call *c, mishap *failure);

/* Free what is left of it. */
void mishap_api_call_free(mishap_api_call *c);

/* -- tails.c ----------------------------------------------------------------------------------- */

/* The handler has returned and wants to wait for a change. True: the stream waits from now on,
 * without its call. False: it must end now. */
bool mishap_api_tail_wait(mishap_api_call *c);

/* It ends, or its peer is gone: it is no live tail from now on. */
void mishap_api_tail_leave(mishap_api_call *c);

#endif
