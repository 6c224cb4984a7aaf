/*
 * From a request to arguments, and from a failure to a reply.
 *
 *     arguments.c  path, query and body as one object
 *     form.c       … a body that is a form; multipart.c reads its parts
 *     pack.c       compression of answers
 *     position.c   the header that says what the caller has changed: Mishap-Position
 *     refuse.c     a mishap into a reply, in the dialect that the request asks for or its path has:
 *                  path_dialect.c
 *     challenge.c  … what a client needs to get an access token, beside 401 and 403
 *     incident.c   the record of it for the operator
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

/* True if the body is the streamed file of the operation (mishap_param.streamed), and nothing else:
 * application/octet-stream. */
bool mishap_http_is_file(const mishap_operation *operation, mishap_text content_type);

/* Make one object of path, query and a JSON object that stands for the body, which may be empty. */
mishap *mishap_http_combine(const mishap_operation *operation, const mishap_http_match *match,
                            const mishap_http_request *request, mishap_text json,
                            mishap_buffer *object, mishap_text *arguments);

/* Mishap-Position of a request: what a standby must have replayed for a call of this service, see
 * call->log_after. The field may have no data, and any text. */
extern const char mishap_http_position_field[];
uint64_t mishap_http_position_of(mishap_text field, const mishap_service *service);

/* Add the field with call->log_position to the reply, and with what the request said of other
 * services. */
void mishap_http_put_position(mishap_http_reply *reply, const mishap_call *call, mishap_text field);

/* -- failures -----------------------------------------------------------------------------------
 */

/* The dialect of failures below a path: that of the service whose routes are there
 * (mishap_service.http_dialect), else http-api. Of several routes, the one with the most fixed
 * segments counts. */
const mishap_dialect *mishap_http_dialect_of(const mishap_app *app, mishap_text path);

/* The dialect that a service has declared; http-api if it has none, or is NULL. */
const mishap_dialect *mishap_http_dialect_by(const mishap_service *service);

/* The operation of a request; NULL: none. */
const mishap_operation *mishap_api_operation_of(const mishap_http_request *request);

/* Write a failure in the dialect that the request asks for: status, body,
 * Retry-After, and other fields that the code needs (WWW-Authenticate). The mishap gets the id of
 * the request; the caller keeps it. */
void mishap_api_refuse(mishap_http_reply *reply, const mishap_http_settings *settings,
                       const mishap_http_request *request, mishap *failure);

/* Where the documents of RFC 9728 are: the server's own, and with /mcp behind it. */
#define MISHAP_HTTP_RESOURCE "/.well-known/oauth-protected-resource"

/* Add WWW-Authenticate to a 401, and to a 403 for want of scopes. For settings->challenge. */
void mishap_http_challenge(mishap_http_reply *reply, const mishap_http_settings *settings,
                           const mishap_http_request *request, unsigned lacks);

/* mishap_api_refuse(), and record it. For settings->refuse. */
void mishap_api_refuse_and_record(mishap_http_reply *reply, const mishap_http_settings *settings,
                                  const mishap_http_request *request, mishap *failure);

/* A failure that was written into a reply. */
typedef struct mishap_api_failed {
    const mishap_http_settings *settings;
    const mishap_http_request *request;
    const mishap_http_reply *reply;
    const mishap *failure;
    const mishap *removed;          /* leaks that were found in the reply; or NULL */
    const mishap_call *call;        /* NULL: it did not begin */
    const mishap_http_match *match; /* of a call that did not begin; NULL: not known */
    const mishap_secrets *secrets;  /* of the call; or NULL */
} mishap_api_failed;

/* Record it under the id of the request. */
void mishap_api_record(const mishap_api_failed *failed);

#endif
