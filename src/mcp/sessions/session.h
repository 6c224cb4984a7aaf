/*
 * Sessions of the older revisions over HTTP, and the events that were sent in them, in memory that
 * all loops of a server share: any loop can answer any request of a session, and a session outlives
 * the loop that began it.
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

/* Called before the loops are forked. `idle_ms`: a session that is not used for so long ends. A
 * caller may have `of_one` sessions at most. */
mishap *mishap_mcp_sessions_make(size_t event_bytes, int64_t idle_ms, size_t of_one,
                                 mishap_mcp_sessions **out);

/* … and make them survive a restart (lasting.c): what is needed for that is kept in a file of this
 * folder. If that fails, sessions end with the server. */
mishap *mishap_mcp_sessions_last(mishap_mcp_sessions *sessions, const char *folder);

/* Ids name the server from now on: from 1 to 63. 0: they do not. */
void mishap_mcp_sessions_name_server(mishap_mcp_sessions *sessions, unsigned server);
void mishap_mcp_sessions_free(mishap_mcp_sessions *sessions);

/* … and use a secret that other servers have, too, instead of that in the file. */
struct mishap_shared_secret;
void mishap_mcp_sessions_use(mishap_mcp_sessions *sessions,
                             const struct mishap_shared_secret *secret);

/* Seal the state of calls that ask with a key that is made of the secret of the sessions: so it
 * survives a restart as well. */
struct mishap_seal;
void mishap_mcp_sessions_share(const mishap_mcp_sessions *sessions, struct mishap_seal *seal);

/* What is known of a session. */
typedef struct mishap_mcp_session {
    uint64_t number; /* never 0, never used twice */
    mishap_mcp_revision revision;
    bool initialized;
    unsigned capabilities; /* what its client can be asked for (mcp/calls/asks.h) */
    mishap_level level;
} mishap_mcp_session;

/* The owner of a session: a name, and the API key that has this name now. Another key of the same
 * name is another owner. */
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

/* It begins, now that its revision is known, and its id is complete. If it does not begin, give its
 * place back with mishap_mcp_session_drop(). */
void mishap_mcp_session_begin(mishap_mcp_sessions *sessions, mishap_mcp_owner owner,
                              const mishap_mcp_session *session,
                              char id[MISHAP_MCP_SESSION_ID + 1]);

/* How many there are, idle ones and reserved places included. */
size_t mishap_mcp_sessions_count(mishap_mcp_sessions *sessions);

/* How many are in use: they were used in the last minute, or have a stream that stays open. */
size_t mishap_mcp_sessions_in_use(mishap_mcp_sessions *sessions);

/* Find a session of this owner, and count it as used. Any other owner does not find it. */
bool mishap_mcp_session_find(mishap_mcp_sessions *sessions, mishap_text id, mishap_mcp_owner owner,
                             mishap_mcp_session *session);

/*
 * For a session that is not found, though the server gave its id to this owner: the server was
 * restarted since then, the session was not used for long, or it had to make room. It begins anew
 * under the same id, initialized, but without events and subscriptions.
 *
 * NOT_FOUND: this server gave out no such id, or this owner has ended the session. RATE_LIMITED,
 * UNAVAILABLE: there is no room, as for a new one.
 */
mishap *mishap_mcp_session_revive(mishap_mcp_sessions *sessions, mishap_text id,
                                  mishap_mcp_owner owner, uint64_t holder,
                                  mishap_mcp_session *session);
mishap *mishap_mcp_no_session(void); /* the failure NOT_FOUND */

/* Store what has changed: initialized, level. */
void mishap_mcp_session_keep(mishap_mcp_sessions *sessions, const mishap_mcp_session *session);

/* End it for good, also if it is not found but could be revived. *number is the one that it had; 0:
 * it was not found. False: there is no such session of this owner. */
bool mishap_mcp_session_end(mishap_mcp_sessions *sessions, mishap_text id, mishap_mcp_owner owner,
                            uint64_t *number);

/* End sessions of a key that was removed, or of a caller (NULL: of the key): returns how many, and
 * their numbers. Fewer than `most`: there are no others. */
size_t mishap_mcp_sessions_revoke(mishap_mcp_sessions *sessions, uint64_t key, const char *caller,
                                  uint64_t *numbers, size_t most);
bool mishap_mcp_session_lives(mishap_mcp_sessions *sessions, uint64_t number);

/* How long a session was not used, if that is a minute at least; 0: it is in use, or has ended. The
 * second frees its place, for any owner. */
int64_t mishap_mcp_session_idle_ns(mishap_mcp_sessions *sessions, uint64_t number);
void mishap_mcp_session_drop(mishap_mcp_sessions *sessions, uint64_t number);

/* Remove the sessions that have ended. */
void mishap_mcp_sessions_clear(mishap_mcp_sessions *sessions);

/* A session has one stream that belongs to no request: the latest one. The first returns the number
 * of a new one; the second is true if it is still the latest of a living session. */
uint64_t mishap_mcp_session_stand(mishap_mcp_sessions *sessions, uint64_t number);
bool mishap_mcp_session_stands(mishap_mcp_sessions *sessions, uint64_t number, uint64_t standing);

/* -- changes of lists, whichever loop knows of them -------------------------------------------- */

enum { MISHAP_MCP_LISTS = MISHAP_MCP_RESOURCE_UPDATED }; /* the changes that are about a list */

void mishap_mcp_sessions_change(mishap_mcp_sessions *sessions, mishap_mcp_change change);

/* True if the list has changed since `seen`, which is updated. */
bool mishap_mcp_sessions_changed(mishap_mcp_sessions *sessions, mishap_mcp_change change,
                                 uint64_t *seen);

/* Which lists have changed since the session was notified, or began; it is notified now, on its
 * stream that stays open. False: none has, or another stream is the latest. */
bool mishap_mcp_session_untold(mishap_mcp_sessions *sessions, uint64_t number, uint64_t standing,
                               bool lists[MISHAP_MCP_LISTS]);

/* -- other servers of a cluster (handover.c) ----------------------------------------------------
 */

struct mishap_handover;
struct mishap_mcp_watches;

/* The sessions are shared with other servers from now on. The table is filled in, for the process
 * that talks to the database. */
void mishap_mcp_sessions_hand_over(mishap_mcp_sessions *sessions,
                                   struct mishap_mcp_watches *watches,
                                   struct mishap_handover *handover);
bool mishap_mcp_sessions_are_shared(const mishap_mcp_sessions *sessions);

/* How a change of a list is told to other servers: as that of an address that is no resource. */
extern const mishap_text mishap_mcp_list_addresses[MISHAP_MCP_LISTS];

/* The next address of a list, each with a NUL behind it, which is taken away. False: there is none,
 * or it is no address. */
bool mishap_mcp_next_watched(mishap_text *list, mishap_text *uri);

/* Other servers are to know that the subscriptions have changed. */
void mishap_mcp_session_changed(mishap_mcp_sessions *sessions, uint64_t number);

/* UNAVAILABLE while its state at another server is not known here. */
mishap *mishap_mcp_session_complete(mishap_mcp_sessions *sessions, uint64_t number);

/* True once, for a session that goes on here after another server had it. */
bool mishap_mcp_session_doubtful(mishap_mcp_sessions *sessions, uint64_t number);

typedef enum mishap_mcp_answer {
    MISHAP_MCP_ASKED,
    MISHAP_MCP_PARTLY, /* there may be more */
    MISHAP_MCP_ANSWERED,
} mishap_mcp_answer;

/* Ask what follows in a stream behind a place or, if `stream` is 0, what has changed since a
 * position. The number of the question, which has to be ended; 0: too many wait. */
size_t mishap_mcp_wish_begin(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                             uint64_t place, mishap_text position);
mishap_mcp_answer mishap_mcp_wish_look(mishap_mcp_sessions *sessions, size_t wish);
void mishap_mcp_wish_end(mishap_mcp_sessions *sessions, size_t wish);

/* -- calls that run, in whichever loop --------------------------------------------------------- */

/* True if a call with this id runs. */
bool mishap_mcp_call_runs(mishap_mcp_sessions *sessions, uint64_t session, mishap_text id);

/* A call begins in this process, and will be answered on a stream. False: a call of this id runs
 * already, or too many do. Calls end together with their stream; those of a dead process have
 * ended. */
bool mishap_mcp_call_begin(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                           mishap_text id);
void mishap_mcp_calls_end(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream);

/* Cancel a call, if it runs. The second: was it cancelled, or has the session ended? */
void mishap_mcp_call_cancel(mishap_mcp_sessions *sessions, uint64_t session, mishap_text id);
bool mishap_mcp_call_cancelled(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                               mishap_text id);

/* -- questions to the client of a call that runs (questions.c) --------------------------------- */

enum {
    MISHAP_MCP_ASKED_AT_ONCE = 32, /* calls of a session that wait for an answer of their client */
};

/* A call of this process asks its client: the number of the question; 0: too many calls of its
 * session ask. A call has one open question at a time; calls_end() ends it, too. */
uint64_t mishap_mcp_question_begin(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                                   mishap_text id);

/* Keep the answer, which any loop may get, for the loop that runs the call. Only the first counts.
 * False: there is no such open question in this session. */
bool mishap_mcp_question_answer(mishap_mcp_sessions *sessions, uint64_t session, uint64_t number,
                                mishap_text answer);

typedef enum mishap_mcp_reply {
    MISHAP_MCP_NO_REPLY,
    MISHAP_MCP_REPLY,
    MISHAP_MCP_REPLY_LOST, /* there was no room to keep it */
} mishap_mcp_reply;

/* Append the answer to the buffer. The question is then no longer open. */
mishap_mcp_reply mishap_mcp_question_take(mishap_mcp_sessions *sessions, uint64_t session,
                                          uint64_t number, mishap_buffer *answer);
void mishap_mcp_question_end(mishap_mcp_sessions *sessions, uint64_t session, uint64_t number);

/* -- events (events.c) ------------------------------------------------------------------------- */

/* Remove all events of a stream. */
void mishap_mcp_events_drop(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream);

/* The number of a new stream in a session. */
uint64_t mishap_mcp_stream_begin(mishap_mcp_sessions *sessions);

/* Store an event of a stream; its place in the stream counts from 1. `last`: the stream ends with
 * it. False: it is too large. */
bool mishap_mcp_event_add(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                          uint64_t place, mishap_text data, bool last);

/* Before the first event: this process runs the call that the stream answers. The id of the
 * request, as JSON, is for the process that has to end the stream if this one dies; the scopes are
 * those of the caller, which may come back with a token that has fewer. False: there is no room,
 * and no event of the stream may be stored. */
bool mishap_mcp_stream_will(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                            mishap_text id, unsigned scopes);

/* The same for an answer of a client, which no other server sees. */
bool mishap_mcp_event_add_here(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                               uint64_t place, mishap_text data);

/* True if something of the stream is stored, and its caller had no other scopes than these. */
bool mishap_mcp_stream_known(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                             unsigned scopes);

/* True if this event is stored, and the caller of its stream had no other scopes than these. */
bool mishap_mcp_event_known(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream,
                            uint64_t place, unsigned scopes);

typedef enum mishap_mcp_next {
    MISHAP_MCP_EVENT,
    MISHAP_MCP_NOTHING_YET,
    MISHAP_MCP_STREAM_OVER,
    MISHAP_MCP_STREAM_LOST,    /* the process that ran its call has died */
    MISHAP_MCP_STREAM_DROPPED, /* the next events are no longer stored */
} mishap_mcp_next;

/* Append the event after a place to the buffer. For a stream that was lost or dropped, append the
 * id of the request instead, if it is known. */
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
