/*
 * Which sessions watch what, in memory that all loops of a server share. A session, whose streams
 * come and go between loops, has its addresses here, each with a mark that stays until it is told.
 * Listeners on the connections of one loop have the news (operation/news.h).
 */
#ifndef MISHAP_BOUNDARY_MCP_WATCH_H
#define MISHAP_BOUNDARY_MCP_WATCH_H

#include "boundary/mcp/session.h"
#include "operation/changes.h"

typedef struct mishap_mcp_watches mishap_mcp_watches;

/* Before the loops are made. */
mishap *mishap_mcp_watches_make(mishap_mcp_watches **out);
void mishap_mcp_watches_free(mishap_mcp_watches *watches);

/* -- changes ----------------------------------------------------------------------------------- */

/* What is at this address, in whichever spelling (mishap_mcp_same_address), is not what it was. Any
 * thread of any loop. */
void mishap_mcp_watches_change(mishap_mcp_watches *watches, mishap_text uri);

/* -- what sessions watch ----------------------------------------------------------------------- */

/* Begin to watch; twice is as good as once. False: there are too many, even without those of
 * sessions that are over. */
bool mishap_mcp_watch_begin(mishap_mcp_watches *watches, mishap_mcp_sessions *sessions,
                            uint64_t session, mishap_text uri);

/* Stop it; text without data: all that the session watches. */
void mishap_mcp_watch_end(mishap_mcp_watches *watches, uint64_t session, mishap_text uri);

/* An address that the session watches and that has changed: it is told by whoever asks, and not
 * found again. False: there is none. `seen` belongs to who asks, 0 at first: it makes asking cheap
 * while nothing changes. */
bool mishap_mcp_watch_next(mishap_mcp_watches *watches, uint64_t session, uint64_t *seen,
                           char room[MISHAP_ADDRESS_LIMIT], mishap_text *uri);

#endif
