/*
 * Requests with a streamed file (mishap_param.streamed): the body is passed on while it arrives.
 * The fields of a form come first; when the file begins, the call is checked and handed over, and
 * the bytes of the file go into a channel, from which the handler reads (operation/upload.h). While
 * the channel is full, the connection is not read.
 */
#ifndef MISHAP_HTTP_CALLS_UPLOADS_H
#define MISHAP_HTTP_CALLS_UPLOADS_H

#include "http/calls/calls.h"

enum { MISHAP_API_UPLOADS = 128 }; /* at once in a loop; each needs two files */

typedef struct mishap_api_upload mishap_api_upload;

/* mishap_http_endpoint.passes: the largest body of a request with a streamed file. */
size_t mishap_api_passes(const mishap_http_server *server, const mishap_http_request *request,
                         const mishap_http_match *match);

/* Defer a request whose body is passed on. NULL, or a failure to be answered now. */
mishap *mishap_api_upload_begin(mishap_http_server *server, const mishap_http_request *request,
                                const mishap_http_match *match);

/* Its call is over. What the caller is told instead of the outcome, if the file did not arrive as a
 * whole; NULL: the outcome counts. */
mishap *mishap_api_upload_failure(mishap_api_upload *upload);

/* The peer is gone: the handler learns that the file is not complete. */
void mishap_api_upload_cut(mishap_api_upload *upload);

/* Free it; NULL: nothing to free. Its request must have been answered, or closed. */
void mishap_api_upload_free(mishap_api_upload *upload);

#endif
