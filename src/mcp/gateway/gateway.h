/*
 * src/mcp/gateway: an MCP server of another program, behind a gateway that checks the calls of its
 * tools and tells their failures as ours (docs/mcp-gateway.md).
 *
 *     conversation.c  what both directions share: requests in flight, messages that the gateway
 *                     sends itself, the end and the start of a server
 *     client.c        messages of the client
 *     server.c        messages of the server
 *     tools.c         the tools of the server: their schemas, and whether a call may be repeated
 *     setup.c         what the client has set up in the server: log level, subscriptions
 *     table.c         entries by a text: requests by their id, tools by their name
 *     response.c      responses of HTTP without an answer, such as error pages
 *     tell.c          failures: from an answer of the server to a mishap, and to an answer of ours
 *     tasks.c         tasks that have failed
 *     process/        the loop between the two sides, and the process of the server
 *     http/           clients that speak over HTTP
 *
 * A conversation has neither files nor processes: lines go in, and lines come out in two buffers.
 * So tests and the fuzzer use it as it is.
 *
 * Both sides are not trusted. A message that cannot be read costs this message only. Messages that
 * are right pass as the bytes that they are; the gateway writes anew only failures, lists of tools
 * that are not all allowed, and requests of the server, whose ids are replaced (server.c).
 */
#ifndef MISHAP_MCP_GATEWAY_H
#define MISHAP_MCP_GATEWAY_H

#include "client/client.h"
#include "guard/guard.h"
#include "mishap/mishap.h"

/* All texts belong to the caller. */
typedef struct mishap_mcp_gateway_settings {
    const char *program;     /* whose log has the incidents */
    const char *version;     /* … of this program */
    const char *const *argv; /* the command of the server, then NULL; or, if that is NULL, … */
    const char *url;         /* … its address, and header fields for each request */
    const mishap_client_header *headers;
    size_t header_count;
    const mishap_secrets
        *secrets;             /* values of these fields: no failure, log or answer shows them */
    const mishap_text *allow; /* the tools that are offered; NULL: all */
    size_t allow_count;
    int64_t start_ms;  /* for the answer to `initialize`, and for lists of tools */
    int64_t call_ms;   /* for the answer to a request; progress extends it */
    bool pipe_ignored; /* SIGPIPE was ignored when this process was started … */
    bool size_ignored; /* … and SIGXFSZ: the server gets what this process had */
} mishap_mcp_gateway_settings;

#endif
