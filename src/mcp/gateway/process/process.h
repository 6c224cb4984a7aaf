/*
 * src/mcp/gateway/process: what has files and processes, beside a conversation, which has none.
 *
 *     run.c      the process of the gateway: the loop between a client and a server
 *
 *     child.c    … and its child, the server: how it is started, ended and looked at
 *
 *     remote.c   the child of a gateway whose server is behind a URL: a process of ours
 *
 *     post.c     … one request of it over HTTP
 *
 *     events.c   … server-sent events in a response
 */
#ifndef MISHAP_MCP_GATEWAY_PROCESS_H
#define MISHAP_MCP_GATEWAY_PROCESS_H

#include "mcp/gateway/gateway.h"

/*
 * Serve the client on standard input and output until its input ends, or SIGTERM, SIGINT or SIGHUP
 * comes. NULL: it has ended. NOT_FOUND, NOT_AUTHORIZED or UNAVAILABLE: the command could not be
 * started, and `*error` is the errno; 0: it was something else. No process of the server is left.
 */
mishap *mishap_mcp_gateway_run(const mishap_mcp_gateway_settings *settings, int *error);

#endif
