/*
 * Sessions of the older revisions over HTTP, and what was sent in them, in memory that all workers
 * of a server share: any worker can answer any request of a session, and a session outlives the
 * worker that began it.
 *
 * What is kept is bounded: so many sessions, and the last so many bytes of events. A stream whose
 * events are gone cannot be resumed, and says so.
 */
#ifndef MISHAP_BOUNDARY_MCP_SESSION_H
#define MISHAP_BOUNDARY_MCP_SESSION_H

#include "boundary/mcp/mcp.h"

enum { MISHAP_MCP_SESSION_ID = 43 }; /* characters: 256 random bits */

typedef struct mishap_mcp_sessions mishap_mcp_sessions;

/* Before the workers are made. `idle_ms`: a session that is not used for so long is over. */
mishap *mishap_mcp_sessions_make(size_t event_bytes, int64_t idle_ms, mishap_mcp_sessions **out);
void mishap_mcp_sessions_free(mishap_mcp_sessions *sessions);

/* What is known of a session. */
typedef struct mishap_mcp_session {
    uint64_t number; /* never 0, never used twice */
    mishap_mcp_revision revision;
    bool initialized;
    mishap_level level;
} mishap_mcp_session;

/* A new one, which belongs to this caller (NULL: to nobody in particular). False: there are too
 * many. */
bool mishap_mcp_session_begin(mishap_mcp_sessions *sessions, const char *caller,
                              const mishap_mcp_session *session,
                              char id[MISHAP_MCP_SESSION_ID + 1]);

/* Find a session of this caller, and count it as used. To anybody else it is not there. */
bool mishap_mcp_session_find(mishap_mcp_sessions *sessions, mishap_text id, const char *caller,
                             mishap_mcp_session *session);

/* Keep what has changed: initialized, level. */
void mishap_mcp_session_keep(mishap_mcp_sessions *sessions, const mishap_mcp_session *session);

/* End it. False: there is none of this caller. */
bool mishap_mcp_session_end(mishap_mcp_sessions *sessions, mishap_text id, const char *caller);
bool mishap_mcp_session_lives(mishap_mcp_sessions *sessions, uint64_t number);

/* A session has one stream that belongs to no request: the latest. The number of a new one; and is
 * it still the latest of a session that lives? */
uint64_t mishap_mcp_session_stand(mishap_mcp_sessions *sessions, uint64_t number);
bool mishap_mcp_session_stands(mishap_mcp_sessions *sessions, uint64_t number, uint64_t standing);

/* -- changes of lists, whichever worker knows of them ------------------------------------------ */

enum { MISHAP_MCP_LISTS = MISHAP_MCP_RESOURCE_UPDATED }; /* the changes that are about a list */

void mishap_mcp_sessions_change(mishap_mcp_sessions *sessions, mishap_mcp_change change);

/* True if it has changed since it was `seen`, which is then up to date. */
bool mishap_mcp_sessions_changed(mishap_mcp_sessions *sessions, mishap_mcp_change change,
                                 uint64_t *seen);

/* -- cancelling, whichever worker runs the call ------------------------------------------------ */

void mishap_mcp_session_cancel(mishap_mcp_sessions *sessions, uint64_t number, mishap_text request);

/* True, once, if this request of the session was cancelled. */
bool mishap_mcp_session_cancelled(mishap_mcp_sessions *sessions, uint64_t number,
                                  mishap_text request);

/* -- events ------------------------------------------------------------------------------------ */

/* The number of a new stream in a session. */
uint64_t mishap_mcp_stream_begin(mishap_mcp_sessions *sessions);

/* Keep an event of a stream: its place in the stream, from 1. `last`: the stream ends with it. */
void mishap_mcp_event_add(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                          uint64_t place, mishap_text data, bool last);

/* What ends a stream if this process does not live to end it: an event that is only found when the
 * process is gone and nothing else is left to send. */
void mishap_mcp_stream_will(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                            mishap_text data);

/* True if this event is kept. */
bool mishap_mcp_event_known(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                            uint64_t place);

/* The event behind a place: added to the buffer. False: there is none yet; `gone` says that it was
 * there and was dropped, `last` that none will come. */
bool mishap_mcp_event_next(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                           uint64_t place, mishap_buffer *data, bool *last, bool *gone);

#endif
