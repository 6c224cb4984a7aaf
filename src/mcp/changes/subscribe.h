/* Which clients are notified of changes, and how: subscribe.c. Sessions over HTTP keep their
 * subscriptions in shared memory instead (sessions/watch.h). */
#ifndef MISHAP_MCP_CHANGES_SUBSCRIBE_H
#define MISHAP_MCP_CHANGES_SUBSCRIBE_H

#include "mcp/calls/peer.h"

typedef enum mishap_mcp_change {
    MISHAP_MCP_TOOLS_CHANGED,
    MISHAP_MCP_PROMPTS_CHANGED,
    MISHAP_MCP_RESOURCES_CHANGED,
    MISHAP_MCP_RESOURCE_UPDATED, /* of one resource */
} mishap_mcp_change;

/* Notify a peer of a change, if it has subscribed to it. A URI without data: any of the resources
 * may have changed. */
void mishap_mcp_tell_change(mishap_mcp_peer *peer, mishap_mcp_change change, mishap_text uri);

/* True if a caller with these scopes may be notified of a resource: if it may read it. */
bool mishap_mcp_may_watch(const mishap_mcp_server *server, unsigned scopes, mishap_text uri);

/* Serialize the complete notification of a change for a session. */
void mishap_mcp_put_change(mishap_buffer *buffer, mishap_mcp_change change, mishap_text uri);

/* End the subscriptions of a closed channel, without sending anything; NULL: all of the peer. */
void mishap_mcp_unlisten(mishap_mcp_peer *peer, mishap_mcp_channel *channel);

/* True if a subscriptions/listen of this id is open. */
bool mishap_mcp_listens(const mishap_mcp_peer *peer, mishap_text id);

/* Cancel a subscriptions/listen: no response is sent, and its channel is finished. False: there is
 * none of this id. */
bool mishap_mcp_listen_cancel(mishap_mcp_peer *peer, mishap_text id);

/* The server ends: each subscriptions/listen gets its result, and its channel is finished. */
void mishap_mcp_listen_end(mishap_mcp_peer *peer);

/* The methods. */
mishap_mcp_method mishap_mcp_resources_subscribe, mishap_mcp_resources_unsubscribe,
    mishap_mcp_listen;

#endif
