/* What readers are told: the description of the API (openapi.c) and of the codes (reference.c). The
 * halves of the former share openapi.h. */
#ifndef MISHAP_HTTP_DOCUMENTS_DOCUMENTS_H
#define MISHAP_HTTP_DOCUMENTS_DOCUMENTS_H

#include "mishap/operation.h"
#include "server/server.h"

/* OpenAPI 3.1: every operation that has a route, with its parameters, its answer and each of its
 * failures; and those of the further endpoints that are described. Their list ends with a NULL
 * route. */
void mishap_http_put_openapi(mishap_buffer *buffer, const mishap_http_settings *settings,
                             const mishap_http_endpoint *further);

/* True if an operation of the program has taken the route of an endpoint that yields. */
bool mishap_http_is_taken(const mishap_app *app, const mishap_http_endpoint *endpoint);

/* The catalog for readers: all codes, or one by any of its spellings (false if there is none). */
void mishap_http_put_codes(mishap_buffer *buffer);
bool mishap_http_put_code(mishap_buffer *buffer, mishap_text name);

#endif
