/*
 * From a request to arguments, and from a failure to a reply.
 *
 *     arguments.c  path, query and body as one object
 *     negotiate.c  which dialect is wanted
 *     refuse.c     a mishap into a reply
 */
#ifndef MISHAP_HTTP_WIRE_WIRE_H
#define MISHAP_HTTP_WIRE_WIRE_H

#include "mishap/dialect.h"
#include "server/server.h"
#include "worker/serving/served.h"

/*
 * Make one JSON object of path, query and body, with which the operation is called. A body alone is
 * used unchanged; else `object` is filled. A value of path or query becomes what its parameter is
 * declared as, if possible: `7` a number for an integer, `true` a boolean; a parameter that is an
 * array takes all values of its name. A value that cannot be converted stays a string, and the
 * checks say what is wrong with it. Undeclared parameters are left out.
 *
 * BAD_REQUEST: broken escapes, text that is not UTF-8, a name with a NUL, another content type than
 * JSON or a content encoding, the same parameter in two places with different values, or twice in
 * the query where it is no array. A body that is no JSON object is passed on: mishap_call_begin()
 * refuses it, with line and column.
 */
mishap *mishap_http_arguments(const mishap_operation *operation, const mishap_http_match *match,
                              const mishap_http_request *request, mishap_buffer *object,
                              mishap_text *arguments);

/* True if the head announces a body, so that its type matters. A chunked body may turn out to be
 * empty; then its type does not matter. */
static inline bool mishap_http_has_form(const mishap_http_request *request)
{
    return request->announced > 0 ||
           (request->announced && request->fields[MISHAP_HTTP_CONTENT_TYPE].data);
}

/* The first part of the above, for a head with a body: check its type and coding. */
mishap *mishap_http_check_form(const mishap_operation *operation,
                               const mishap_http_request *request);

/* True if the request has a body that its operation takes as bytes. Then the arguments are those of
 * path and query. */
bool mishap_http_has_bytes(const mishap_operation *operation, const mishap_http_request *request);

/* -- failures -----------------------------------------------------------------------------------
 */

/* The JSON dialect for failures that an Accept field asks for. Without one, or if it names no known
 * dialect: `usual`, which is also chosen by its own media type. */
const mishap_dialect *mishap_http_negotiate(mishap_text accept, const mishap_dialect *usual);

/* The dialect of failures below a path: that of the service whose routes are there
 * (mishap_service.http_dialect), else http-api. Of several routes, the one with the most fixed
 * segments counts. */
const mishap_dialect *mishap_http_dialect_of(const mishap_app *app, mishap_text path);

/* The dialect that a service has declared; http-api if it has none, or is NULL. */
const mishap_dialect *mishap_http_dialect_by(const mishap_service *service);

/* The operation of a request; NULL: none. */
const mishap_operation *mishap_api_operation_of(const mishap_http_request *request);

/* settings->refuse: write a failure in the dialect that the request asks for: status, body,
 * Retry-After, and other fields that the code needs (WWW-Authenticate). The mishap gets the id of
 * the request; the caller keeps it. */
void mishap_api_refuse(mishap_http_reply *reply, const mishap_http_settings *settings,
                       const mishap_http_request *request, mishap *failure);

#endif
