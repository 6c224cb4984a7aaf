/* A response of HTTP without an answer to its request, such as an error page. */
#ifndef MISHAP_MCP_GATEWAY_RESPONSE_H
#define MISHAP_MCP_GATEWAY_RESPONSE_H

#include "base/json_read.h"
#include "mishap/mishap.h"

/* The notification with a response to which no call belongs, or with which the server is lost. */
#define GATEWAY_RESPONSE_METHOD "dev.mishap/response"

enum { GATEWAY_MOST_RESPONSE = 64 << 10 }; /* bytes of a body that the operator gets */

typedef struct gateway_response {
    int status;
    int64_t retry_after_ms; /* negative: it does not say */
    bool large;             /* it was too large: the body is its beginning … */
    bool lost;              /* … or it has shown that the server is lost */
    mishap_text type;       /* the value of Content-Type, any bytes; may be empty */
    mishap_text body;       /* any bytes; may be empty */
    mishap_buffer bytes;    /* of the two texts, if it was read from a message */
} gateway_response;

/* Write it as a message: an error that answers the request `id`, or, if that is empty, a
 * notification. */
void mishap_mcp_gateway_response_put(mishap_buffer *out, mishap_text id,
                                     const gateway_response *response);

/* Read it from the data of such an error, or the parameters of such a notification; it has to be
 * released. False: there is none, or no memory, and nothing is to be released. */
bool mishap_mcp_gateway_response_read(yyjson_val *holder, gateway_response *response);
void mishap_mcp_gateway_response_release(gateway_response *response);

/* The mishap of it, as src/upstream reads it: its status has the code and the advice on when to
 * retry, and all of it is noted for the operator. Texts in `known` are of the caller itself. */
mishap *mishap_mcp_gateway_response_tell(const gateway_response *response, const mishap_text *known,
                                         size_t count);

/* Note it for the operator. */
mishap *mishap_mcp_gateway_response_note(mishap *m, const gateway_response *response);

/* True if the number of an error says no more than that there is one. */
bool mishap_mcp_gateway_number_is_general(int64_t number);

#endif
