/*
 * A handler that asks (mishap_ask), for clients of MCP. A client of the stateless revision gets a
 * result `input_required`, with the questions that it has declared to be able to answer in this
 * very request, and sends the call again. To any other client the failure of the tool says what to
 * send: `_state` and `_answers` beside the arguments.
 */
#ifndef MISHAP_MCP_CALLS_ASKS_H
#define MISHAP_MCP_CALLS_ASKS_H

#include "mcp/calls/peer.h"
#include "mcp/calls/result.h"
#include "operation/sealed.h"

/* What a client has declared that it can be asked for. */
enum {
    MISHAP_MCP_CAN_FORM = 1, /* elicitation, by form */
    MISHAP_MCP_CAN_SAMPLE = 2,
    MISHAP_MCP_CAN_ROOTS = 4,
};
unsigned mishap_mcp_capabilities_read(yyjson_val *declared);
unsigned mishap_mcp_capabilities(const mishap_mcp_request *request);

/* Of an operation that asks: take the state and the answers of a request. If it is refused, the
 * request has the code of a protocol error. */
mishap *mishap_mcp_take_answers(mishap_mcp_request *request, const mishap_mcp_asked *asked,
                                mishap_call *call);

/* Write that refusal as the object of an error. */
mishap_mcp_outcome mishap_mcp_put_bad_state(mishap_buffer *result, int code, const mishap *failure);

/* Write what a call asks. False: this client cannot be asked; the failure then says what it can do,
 * and is to be written like any other. */
bool mishap_mcp_put_questions(mishap_buffer *result, const mishap_mcp_asked *asked,
                              const mishap_call *call, mishap *failure,
                              const mishap_secrets *secrets, mishap_mcp_outcome *outcome);

#endif
