/* Tasks that a subscriptions/listen follows: for subscribe.c. */
#ifndef MISHAP_MCP_CHANGES_FOLLOW_H
#define MISHAP_MCP_CHANGES_FOLLOW_H

#include "mcp/calls/peer.h"

struct mishap_mcp_follow;

/* What a subscription does: once, when it is known which ids are tasks of the caller; for each
 * change, with the members of a task; and if one of them cannot be followed: it ends, and may call
 * mishap_mcp_follow_end(). */
typedef struct mishap_mcp_follower {
    void (*ready)(void *owner);
    void (*tell)(void *owner, mishap_text members);
    void (*refused)(mishap_mcp_peer *peer, void *owner, const mishap *failure);
    void *owner;
} mishap_mcp_follower;

/* The peer's server has tasks. The client can answer questions of these capabilities. The ids are
 * copied; nothing happens before it begins. */
mishap *mishap_mcp_follow_make(mishap_mcp_peer *peer, unsigned capabilities, const mishap_text *ids,
                               size_t count, const mishap_mcp_follower *follower,
                               struct mishap_mcp_follow **out);
void mishap_mcp_follow_begin(struct mishap_mcp_follow *follow);
void mishap_mcp_follow_end(struct mishap_mcp_follow *follow); /* NULL: nothing happens */

/* Write the ids that are followed, as an array. */
void mishap_mcp_follow_put(mishap_buffer *b, const struct mishap_mcp_follow *follow);

#endif
