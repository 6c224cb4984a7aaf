/*
 * src/audit/mcp: the audit of an MCP server, over HTTP or as a command.
 *
 *     mcp.c      the audit: initialize, the list of tools, and which messages follow
 *     tools.c    the calls of one tool with arguments that its schema refuses
 *     judge.c    what every answer is held against
 *     link.c     one message and its answer, over either transport
 *     stdio.c    … over standard input and output
 *     http.c     … over Streamable HTTP
 *     events.c   the events of a stream (text/event-stream)
 *     schema.c   what is read of a tool and its inputSchema
 *     checks.c   the table of the checks
 */
#ifndef MISHAP_AUDIT_MCP_MCP_H
#define MISHAP_AUDIT_MCP_MCP_H

#include "audit/audit.h"
#include "client/client.h"

typedef struct mishap_audit_mcp_target {
    const char *url;         /* NULL: `argv` */
    const char *const *argv; /* a command that speaks over standard input and output; ends with
                                NULL */
    bool allow_destructive;  /* call tools that may destroy data, too */
    const mishap_client_header *headers; /* for each HTTP request; … and how many */
    size_t header_count;
    int request_ms; /* time limit of a message; 0: 10 s */
} mishap_audit_mcp_target;

/* The checks; the list ends with { 0 }. */
extern const mishap_audit_check mishap_audit_mcp_checks[];

/* A failure means that there was no audit, such as a server that cannot be reached. What a target
 * does wrong is a finding. */
mishap *mishap_audit_mcp(mishap_audit *audit, const mishap_audit_mcp_target *target);

#endif
