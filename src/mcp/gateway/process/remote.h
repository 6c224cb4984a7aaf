/*
 * A server behind a URL (Streamable HTTP), as if it were a process: its lines come on standard
 * input and output. It runs in the process that is forked for a server (child.c), and ends when the
 * server cannot be reached or has forgotten the session: then the gateway starts the next one and
 * repeats the greeting, as for a server that has died.
 */
#ifndef MISHAP_MCP_GATEWAY_REMOTE_H
#define MISHAP_MCP_GATEWAY_REMOTE_H

#include "mcp/gateway/gateway.h"

/* NULL: a server at this URL can be tried. INVALID_ARGUMENT: the URL or a header field is wrong;
 * PRECONDITION: libcurl is not installed. */
mishap *mishap_mcp_gateway_remote_check(const mishap_mcp_gateway_settings *settings);

/* Until the end of standard input: 0; otherwise 1. */
int mishap_mcp_gateway_remote_run(const mishap_mcp_gateway_settings *settings);

#endif
