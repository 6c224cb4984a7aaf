/*
 * src/mcp/gateway/http: the gateway for clients that speak over HTTP (Streamable HTTP at /mcp), as
 * an extension of src/server.
 *
 *     listen.c    the extension and its endpoints: the session of a request
 *     session.c   one session: a gateway of its own, which is a process, and its lines
 *     exchange.c  one request over HTTP: its messages, and its response
 *     deliver.c   what the gateway sends: answers, progress, questions
 *
 * Each session has its own gateway and so its own server. Requests of the stateless revision share
 * one gateway; their ids are replaced, because clients do not know of each other.
 */
#ifndef MISHAP_MCP_GATEWAY_HTTP_H
#define MISHAP_MCP_GATEWAY_HTTP_H

#include "mishap/mishap.h"

typedef struct mishap_mcp_gateway_listen {
    const char *program;     /* its name, for lines on stderr */
    const char *host;        /* to listen on … */
    int port;                /* … 0: any that is free */
    const char *const *argv; /* the command of a gateway on standard input and output, then NULL */
} mishap_mcp_gateway_listen;

/* Serve until SIGTERM or SIGINT. NULL: it was stopped in order. */
mishap *mishap_mcp_gateway_serve(const mishap_mcp_gateway_listen *settings);

#endif
