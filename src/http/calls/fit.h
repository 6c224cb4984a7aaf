/* The reply of a successful call, made to fit what the request asks for: nothing if the caller has
 * the answer already (304), a part of its bytes (206), or all of them compressed. */
#ifndef MISHAP_HTTP_CALLS_FIT_H
#define MISHAP_HTTP_CALLS_FIT_H

#include "operation/call.h"
#include "server/server.h"

/* RANGE_NOT_SATISFIABLE: the request asks for a part of bytes that does not exist; then the reply
 * has the field that says how many there are, and nothing else. */
mishap *mishap_api_fit(mishap_http_reply *reply, const mishap_http_request *request,
                       const mishap_call *call, mishap_answer_kind kind);

typedef enum mishap_http_range {
    MISHAP_HTTP_RANGE_ALL,  /* none, one that is not valid, or several: all bytes are sent */
    MISHAP_HTTP_RANGE_PART, /* *from and *count are set */
    MISHAP_HTTP_RANGE_BEYOND,
} mishap_http_range;

/* Read a Range field for so many bytes (RFC 9110, 14.1.2). */
mishap_http_range mishap_http_range_read(mishap_text field, size_t length, size_t *from,
                                         size_t *count);

#endif
