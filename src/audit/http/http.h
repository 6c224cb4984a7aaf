/*
 * src/audit/http: the audit of an HTTP server.
 *
 *     http.c        the audit: which requests are sent, in which order
 *     operations.c  those for each operation of an OpenAPI document
 *     openapi.c     reads the document; sample.c makes values for its schemas
 *     send.c        sends one request; judge.c, body.c and claims.c judge the response
 *     checks.c      the table of the checks
 */
#ifndef MISHAP_AUDIT_HTTP_HTTP_H
#define MISHAP_AUDIT_HTTP_HTTP_H

#include "audit/audit.h"
#include "client/client.h"

typedef struct mishap_audit_http_target {
    const char *url;     /* http:// or https:// */
    const char *openapi; /* a file; NULL: /openapi.json of the server, if it has one */
    bool allow_writes;   /* send POST, PUT, PATCH and DELETE, too */
    const mishap_client_header *headers; /* for each request; … and how many */
    size_t header_count;
    int request_ms; /* time limit of a request; 0: 10 s */
} mishap_audit_http_target;

/* The checks; the list ends with { 0 }. */
extern const mishap_audit_check mishap_audit_http_checks[];

/* A failure means that there was no audit, such as a server that cannot be reached or a file that
 * cannot be read. What a target does wrong is a finding. */
mishap *mishap_audit_http(mishap_audit *audit, const mishap_audit_http_target *target);

#endif
