/*
 * What has changed, and which sessions watch it, in memory that all loops of a server share.
 *
 * A change is written down where it happens, so it is told even if its loop dies at once. It is
 * found in two ways. A loop asks for the addresses since it last asked, for the listeners on its
 * own connections: the last so many are kept, and who fell behind by more is told that anything may
 * have changed. A session, whose streams come and go between loops, has its addresses here, each
 * with a mark that stays until it is told.
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

/* How many changes there were so far: where a new listener begins. */
uint64_t mishap_mcp_watches_count(const mishap_mcp_watches *watches);

/* The address of the next change since `seen`, each address once; text without data: any may have
 * changed. False: there is none; then `seen` is up to date. */
bool mishap_mcp_watches_next(mishap_mcp_watches *watches, uint64_t *seen,
                             char room[MISHAP_ADDRESS_LIMIT], mishap_text *uri);

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
