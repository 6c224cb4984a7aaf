/*
 * Sessions of the older revisions over HTTP, and what was sent in them, in memory that all loops of
 * a server share: any loop can answer any request of a session, and a session outlives the loop
 * that began it.
 *
 * Everything is bounded: the number of sessions, the calls and streams of each session, and the
 * bytes of stored events. A stream whose events are no longer stored cannot be resumed; the client
 * gets an error.
 */
#ifndef MISHAP_MCP_SESSIONS_SESSION_H
#define MISHAP_MCP_SESSIONS_SESSION_H

#include "mcp/changes/subscribe.h"

enum {
    MISHAP_MCP_SESSION_ID = 43, /* characters: see session_id.c */
    MISHAP_MCP_SESSIONS = 2048, /* at once */
};

typedef struct mishap_mcp_sessions mishap_mcp_sessions;

/* Before the loops are made. `idle_ms`: a session that is not used for so long is over. One caller
 * has `of_one` of them, at most. */
mishap *mishap_mcp_sessions_make(size_t event_bytes, int64_t idle_ms, size_t of_one,
                                 mishap_mcp_sessions **out);

/* … and let them outlast the server (lasting.c): what is needed for that is kept in a file of
 * this folder. If that fails, sessions do not survive a restart. */
mishap *mishap_mcp_sessions_last(mishap_mcp_sessions *sessions, const char *folder);
void mishap_mcp_sessions_free(mishap_mcp_sessions *sessions);

/* What is known of a session. */
typedef struct mishap_mcp_session {
    uint64_t number; /* never 0, never used twice */
    mishap_mcp_revision revision;
    bool initialized;
    mishap_level level;
} mishap_mcp_session;

/* Whom a session belongs to: a name, and the API key that stands for it now. Another key of the
 * same name is another owner. */
typedef struct mishap_mcp_owner {
    const char *name; /* NULL: a caller without a name */
    uint64_t key;     /* 0: there is none */
} mishap_mcp_owner;

/*
 * Reserve the place of a new one, which is counted under the number of its holder; 0: it is not
 * counted. The session gets its number, and its id, of which a part is missing still. No request
 * finds it by that, and it makes room for no other. It ends with this process if it does not begin.
 *
 * A caller that has as many as it may loses the one that it did not use for longest, if that is a
 * minute at least; else it is RATE_LIMITED. If all places are taken, it is the caller with the most
 * sessions that loses one. UNAVAILABLE: no caller has more than this one, and all are in use.
 */
mishap *mishap_mcp_session_reserve(mishap_mcp_sessions *sessions, mishap_mcp_owner owner,
                                   uint64_t holder, mishap_mcp_session *session,
                                   char id[MISHAP_MCP_SESSION_ID + 1]);

/* It begins, now that its revision is known: the id is whole. If it does not, give its place back
 * with mishap_mcp_session_drop(). */
void mishap_mcp_session_begin(mishap_mcp_sessions *sessions, mishap_mcp_owner owner,
                              const mishap_mcp_session *session,
                              char id[MISHAP_MCP_SESSION_ID + 1]);

/* Find a session of this owner, and count it as used. Any other owner does not find it. */
bool mishap_mcp_session_find(mishap_mcp_sessions *sessions, mishap_text id, mishap_mcp_owner owner,
                             mishap_mcp_session *session);

/*
 * One that is not found, though its id was given out to this owner: the server has begun again
 * since then, the session was not used for long, or it had to make room. It begins anew under the
 * same id, as one that is initialized and has neither events nor subscriptions.
 *
 * NOT_FOUND: the id is none of ours, or this owner has ended the session. RATE_LIMITED,
 * UNAVAILABLE: there is no room, as for a new one.
 */
mishap *mishap_mcp_session_revive(mishap_mcp_sessions *sessions, mishap_text id,
                                  mishap_mcp_owner owner, uint64_t holder,
                                  mishap_mcp_session *session);
mishap *mishap_mcp_no_session(void); /* the NOT_FOUND */

/* Keep what has changed: initialized, level. */
void mishap_mcp_session_keep(mishap_mcp_sessions *sessions, const mishap_mcp_session *session);

/* End it for good, also one that is not found but could begin anew. The number is the one that it
 * had; 0: it was not there. False: there is none of this owner. */
bool mishap_mcp_session_end(mishap_mcp_sessions *sessions, mishap_text id, mishap_mcp_owner owner,
                            uint64_t *number);

/* End some of the sessions of a key that was removed: how many, and their numbers. Fewer than
 * `most`: there are no others. */
size_t mishap_mcp_sessions_revoke(mishap_mcp_sessions *sessions, uint64_t key, uint64_t *numbers,
                                  size_t most);
bool mishap_mcp_session_lives(mishap_mcp_sessions *sessions, uint64_t number);

/* How long a session was not used, if that is a minute at least; 0: it is in use, or has ended. The
 * second frees its place, for any owner. */
int64_t mishap_mcp_session_idle_ns(mishap_mcp_sessions *sessions, uint64_t number);
void mishap_mcp_session_drop(mishap_mcp_sessions *sessions, uint64_t number);

/* Forget those that are over. */
void mishap_mcp_sessions_clear(mishap_mcp_sessions *sessions);

/* A session has one stream that belongs to no request: the latest. The number of a new one; and is
 * it still the latest of a session that lives? */
uint64_t mishap_mcp_session_stand(mishap_mcp_sessions *sessions, uint64_t number);
bool mishap_mcp_session_stands(mishap_mcp_sessions *sessions, uint64_t number, uint64_t standing);

/* -- changes of lists, whichever loop knows of them -------------------------------------------- */

enum { MISHAP_MCP_LISTS = MISHAP_MCP_RESOURCE_UPDATED }; /* the changes that are about a list */

void mishap_mcp_sessions_change(mishap_mcp_sessions *sessions, mishap_mcp_change change);

/* True if it has changed since it was `seen`, which is then up to date. */
bool mishap_mcp_sessions_changed(mishap_mcp_sessions *sessions, mishap_mcp_change change,
                                 uint64_t *seen);

/* Which lists have changed since the session was told so, or began; it is told now, on the stream
 * that stands. False: none, or another stream does. */
bool mishap_mcp_session_untold(mishap_mcp_sessions *sessions, uint64_t number, uint64_t standing,
                               bool lists[MISHAP_MCP_LISTS]);

/* -- calls that run, in whichever loop --------------------------------------------------------- */

/* Does a call with this id run? */
bool mishap_mcp_call_runs(mishap_mcp_sessions *sessions, uint64_t session, mishap_text id);

/* It begins in this process, and is to be answered on a stream. False: one of this id runs already,
 * or too many do. They end together with their stream; those of a process that is gone have ended.
 */
bool mishap_mcp_call_begin(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                           mishap_text id);
void mishap_mcp_calls_end(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream);

/* Cancel it, if it runs. Is it cancelled, or the session over? */
void mishap_mcp_call_cancel(mishap_mcp_sessions *sessions, uint64_t session, mishap_text id);
bool mishap_mcp_call_cancelled(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                               mishap_text id);

/* -- events (events.c) ------------------------------------------------------------------------- */

/* The number of a new stream in a session. */
uint64_t mishap_mcp_stream_begin(mishap_mcp_sessions *sessions);

/* Keep an event of a stream: its place in the stream, from 1. `last`: the stream ends with it.
 * False: it is too large. */
bool mishap_mcp_event_add(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                          uint64_t place, mishap_text data, bool last);

/* Before the first event: this process runs the call that the stream answers. The id of the request
 * as JSON, for who has to end the stream if the process does not. */
void mishap_mcp_stream_will(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                            mishap_text id);

/* True if this event is kept. */
bool mishap_mcp_event_known(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                            uint64_t place);

typedef enum mishap_mcp_next {
    MISHAP_MCP_EVENT,
    MISHAP_MCP_NOTHING_YET,
    MISHAP_MCP_STREAM_OVER,
    MISHAP_MCP_STREAM_LOST,    /* the process that would go on with it is gone */
    MISHAP_MCP_STREAM_DROPPED, /* what came next is not kept any more */
} mishap_mcp_next;

/* The event behind a place: added to the buffer. For a stream that was lost or dropped that is the
 * id of the request, if it is known. */
mishap_mcp_next mishap_mcp_event_next(mishap_mcp_sessions *sessions, uint64_t session,
                                      uint64_t stream, uint64_t place, mishap_buffer *data,
                                      bool *last);

/* Nothing is sent twice: a stream that was resumed is sent only by the connection that resumed it
 * last. The first returns the number of the connection that takes it over, 0 if too many resumed
 * streams are open; the second returns the connection that has it: 0 if it was never resumed. */
uint64_t mishap_mcp_stream_take_over(mishap_mcp_sessions *sessions, uint64_t session,
                                     uint64_t stream);
uint64_t mishap_mcp_stream_sender(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream);

/* The connection that resumed the stream has ended; another stream may be resumed instead. */
void mishap_mcp_stream_let_go(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                              uint64_t by);

#endif
