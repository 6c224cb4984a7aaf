/*
 * The subscriptions of sessions, in memory that all loops of a server share, because the streams of
 * a session can move between loops. Each subscription has a flag for a change that was not yet
 * sent. Listeners on the connections of one loop use operation/news.h.
 */
#ifndef MISHAP_MCP_SESSIONS_WATCH_H
#define MISHAP_MCP_SESSIONS_WATCH_H

#include "mcp/sessions/session.h"
#include "operation/changes.h"

typedef struct mishap_mcp_watches mishap_mcp_watches;
struct mishap_position;

enum { MISHAP_MCP_WATCHES = 8192 }; /* of all sessions */

/* Called before the loops are forked. A caller may have `of_one` of them at most. */
mishap *mishap_mcp_watches_make(size_t of_one, mishap_mcp_watches **out);
void mishap_mcp_watches_free(mishap_mcp_watches *watches);

/* -- changes ----------------------------------------------------------------------------------- */

/* The resource at this address, in any spelling (mishap_mcp_same_address), has changed; text
 * without data: any may have. May be called on any thread of any loop. */
void mishap_mcp_watches_change(mishap_mcp_watches *watches, mishap_text uri);

/* -- what sessions watch ----------------------------------------------------------------------- */

/*
 * Begin to watch; twice has the same effect as once. `holder` is the number of the caller; 0: it is
 * not counted. RATE_LIMITED: the session, or all sessions of the caller, watch as much as they may;
 * the message says which. If all places are taken, even without those of ended sessions, the caller
 * with the most loses sessions that it does not use. UNAVAILABLE: it has none.
 */
mishap *mishap_mcp_watch_begin(mishap_mcp_watches *watches, mishap_mcp_sessions *sessions,
                               uint64_t session, uint64_t holder, mishap_text uri);

/* Stop it; text without data: all that the session watches. */
void mishap_mcp_watch_end(mishap_mcp_watches *watches, uint64_t session, mishap_text uri);

/* End all sessions of a key that was removed, or of a caller that was blocked, and their
 * subscriptions. */
void mishap_mcp_watches_revoke(mishap_mcp_watches *watches, mishap_mcp_sessions *sessions,
                               uint64_t key, const char *caller);

/* An address that the session watches and that has changed. The caller of this function announces
 * it, and it is not found again. False: there is none. `seen` belongs to the caller, 0 at first: it
 * makes the call cheap while nothing changes. */
bool mishap_mcp_watch_next(mishap_mcp_watches *watches, uint64_t session, uint64_t *seen,
                           char room[MISHAP_ADDRESS_LIMIT], mishap_text *uri);

/* For this session alone, an address has changed; no data: all of its addresses. */
void mishap_mcp_watch_change(mishap_mcp_watches *watches, uint64_t session, mishap_text uri);

/* The same, of all addresses that have changed: each with a NUL behind it, and the position that
 * the client has then. `position` has no servers if there is no other server. False: there is no
 * address, and unless `seen` was 0 the position was not read. */
bool mishap_mcp_watch_take(mishap_mcp_watches *watches, uint64_t session, uint64_t *seen,
                           mishap_buffer *uris, struct mishap_position *position);

#endif
