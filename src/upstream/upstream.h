/*
 * src/upstream: error responses of other servers, read as a mishap.
 *
 * Web frameworks and proxies tell failures in shapes of their own. A reader takes the status, the
 * content type and the body of a response, and makes a mishap of them: a code of the catalog, a
 * message that a caller may see, and field errors.
 *
 *     read.c      from a response to a mishap; what is told, and what is only noted
 *     ours.c      bodies that are in one of our dialects, which are read by that dialect
 *     shapes.c    JSON of FastAPI, Django REST framework, Flask, Express, Fastify, Hono, Spring,
 *                 ASP.NET, Rails, Laravel
 *     fields.c    lists and maps of field errors, and names of fields
 *     kinds.c     which of our field errors it is, by a name or by a sentence
 *     page.c      HTML pages and plain text of frameworks and proxies
 *     head.c      a response with its head, as `curl -i` prints it
 *
 * Functions are pure: there is neither a clock nor a file.
 */
#ifndef MISHAP_UPSTREAM_H
#define MISHAP_UPSTREAM_H

#include "mishap/mishap.h"

/* An error response. Its body is decoded: neither chunked nor compressed. */
typedef struct mishap_upstream_response {
    int status;               /* 400 to 599; any other number: unknown, the body may say it */
    mishap_text content_type; /* the value of the header field; may be empty */
    mishap_text retry_after;  /* … of Retry-After, in seconds; a date is not read */
    mishap_text body;         /* any bytes; may be empty */

    /* What the caller sent, such as the path of its request: to repeat it is no leak. */
    const mishap_text *known;
    size_t known_count;

    bool unnoted; /* nothing is noted for the operator: there will be no record */
} mishap_upstream_response;

/*
 * Read an error response. On success NULL is returned, and *out is a mishap that the caller owns:
 * any response is understood, since one of no known shape gives the code of its status. Without
 * memory the returned mishap says so, and *out is not changed.
 *
 * - The code is one of the catalog: the one that the body names, if it has the same status;
 *   VALIDATION_ERROR where there are field errors with status 400 or 422; MALFORMED_INPUT where the
 *   body says that the request is no JSON; else the code of the status.
 * - Of a response of 500 and above nothing is told but its code, unless the body is in one of our
 *   dialects and has a code that is not masked.
 * - All that is told has passed the leak guard in its strict form. A message with a leak is left
 *   out, so that the catalog's is shown.
 * - The response is noted for the operator: `upstream_status`, `upstream_type`, `upstream_shape`
 *   and `upstream_body`, of which at most MISHAP_UPSTREAM_NOTED bytes; not if it is `unnoted`.
 * - Retry-After of a 429 or 503 is the advice on when to retry.
 *
 * `shape` may be NULL. It is set to the name of the shape that was recognized: the name of a
 * dialect, or "fastapi", "nginx" …, "unknown" if there is none.
 */
__attribute__((warn_unused_result)) mishap *
mishap_upstream_read(const mishap_upstream_response *response, mishap **out, const char **shape);

/*
 * Split a response that begins with its status line: status, content_type, retry_after and body are
 * set and point into `whole`. If several heads follow each other, as of a redirect, the last one
 * counts, up to the first error that is no request for a login (401, 407). False: it begins with no
 * status line, and `response` is not changed.
 */
bool mishap_upstream_split(mishap_text whole, mishap_upstream_response *response);

/* The most bytes of a body that are noted, the largest body that is searched for anything but its
 * status, and how many field errors are told. */
enum {
    MISHAP_UPSTREAM_NOTED = 64 * 1024,
    MISHAP_UPSTREAM_LARGEST = 1024 * 1024,
    MISHAP_UPSTREAM_FIELDS = 100,
};

#endif
