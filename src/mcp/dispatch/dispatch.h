/*
 * src/mcp: a program's operations as tools, resources and prompts of the Model Context Protocol.
 *
 *     wire/            messages as bytes: how one is read, how one is written
 *     offers/          what a server offers: tables, names, addresses, schemas
 *     calls/           a conversation, the calls in it, and their outcomes
 *     changes/         which clients are notified of changes
 *     dispatch/        from a message to its method, and back
 *     sessions/        sessions of the older revisions over HTTP, in memory that all loops share
 *     transport/       standard input and output
 *     transport/http/  MCP over HTTP, an extension of src/server
 *
 * Arrows between them point up in this list, from a folder to those above it (tests/house).
 *
 * Only the two transports deal with sockets and files. A transport reads a message and hands it
 * over with a channel for the answers. Calls that take time are run by src/worker. The same code
 * serves standard input and output and HTTP, and all revisions at once: each message says, or its
 * session has agreed, which revision it is of.
 *
 * Ownership: everything belongs to the reading thread, which is the only thread.
 *
 * This header is what a transport uses.
 *
 *     peer.c       which method is meant       tools.c      tools: list, call
 *     batch.c      several in one array        resources.c  resources: list, read
 *     refuse.c     protocol errors             prompts.c    prompts, completion of arguments
 *     lifecycle.c  initialize, discover    views.c      pages that show answers
 */
#ifndef MISHAP_MCP_DISPATCH_DISPATCH_H
#define MISHAP_MCP_DISPATCH_DISPATCH_H

#include "mcp/calls/peer.h"

void mishap_mcp_peer_init(mishap_mcp_peer *peer, const mishap_mcp_server *server);

/* Drop its flights and subscriptions. Running flights are cancelled, and their results are
 * discarded. */
void mishap_mcp_peer_release(mishap_mcp_peer *peer);

/*
 * Process a message and answer it on the channel, now or when its flight is done; channel->finish()
 * is called in the end, for every message. A batch, in a revision that has them, is answered with
 * one array. For a whole text, which need not be a message: mishap_mcp_take_text().
 */
void mishap_mcp_take(mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                     mishap_mcp_message *message);
void mishap_mcp_take_text(mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                          mishap_json_reader *reader, mishap_text text);

/* Messages of a batch, at most: a refusal may need a hundred times the size of its message. */
enum { MISHAP_MCP_BATCH_LIMIT = 256 };

/* The messages of an array, in the two revisions that have batches (batch.c). */
static inline bool mishap_mcp_has_batches(mishap_mcp_revision revision)
{
    return revision == MISHAP_MCP_2024_11_05 || revision == MISHAP_MCP_2025_03_26;
}
void mishap_mcp_take_batch(mishap_mcp_peer *peer, mishap_mcp_channel *channel, yyjson_val *items);

/* Go on with a paused batch, until it is over or paused again. The second forgets it; its flights
 * must have ended before that. */
void mishap_mcp_go_on(mishap_mcp_peer *peer);
void mishap_mcp_drop_paused(mishap_mcp_peer *peer);

/* -- methods ------------------------------------------------------------------------------------
 */

/* `result` is the open object of the result; the caller adds what the revision requires
 * (resultType, _meta with serverInfo) and closes it. */
mishap_mcp_method mishap_mcp_initialize, mishap_mcp_ping, mishap_mcp_discover, /* lifecycle.c */
    mishap_mcp_tools_list, mishap_mcp_tools_call,                              /* tools.c */
    mishap_mcp_resources_list, mishap_mcp_templates_list, mishap_mcp_resources_read,
    mishap_mcp_prompts_list, mishap_mcp_prompts_get, mishap_mcp_complete; /* prompts.c */

/* -- pages that show the answers of tools (views.c) ----------------------------------------------
 */

/* True if the client of this request shows pages; true if the program has some. */
bool mishap_mcp_shows_views(const mishap_mcp_request *request);
bool mishap_mcp_has_views(const mishap_mcp_server *server);

/* Write the member of `_meta` that names the page of a tool. */
void mishap_mcp_put_view(mishap_buffer *buffer, const char *address);

/* -- refusals (refuse.c) ------------------------------------------------------------------------
 */

/* Send a response with an error. `data` is the canonical form of the failure's public side;
 * `members` may add further members as JSON text without braces. The caller keeps the failure; if
 * it has a private side, it is recorded under an id of its own. `sent` is what the caller sent, or
 * NULL. */
void mishap_mcp_refuse(const mishap_mcp_peer *peer, mishap_mcp_channel *channel, mishap_text id,
                       int code, int status, mishap *failure, const char *members,
                       const mishap_sent *sent);

/* Answer a text that is no message; frees its mishap, and finishes the channel. */
void mishap_mcp_refuse_flaw(const mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                            mishap_mcp_flaw *flaw);

#endif
