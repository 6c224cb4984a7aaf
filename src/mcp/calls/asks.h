/*
 * A handler that asks (mishap_ask), for clients of MCP.
 *
 *     asks.c    the stateless revision: the result is `input_required`, with the questions that the
 *               client has declared to be able to answer in this very request; it sends the call
 *               again
 *     parked.c  the older revisions: the client gets a request of the server, if it has declared in
 *               `initialize` that it can answer; the call waits, without a worker
 *
 * To any other client the failure of the tool says what to send: `_state` and `_answers` beside the
 * arguments.
 */
#ifndef MISHAP_MCP_CALLS_ASKS_H
#define MISHAP_MCP_CALLS_ASKS_H

#include "mcp/calls/peer.h"
#include "mcp/calls/result.h"
#include "operation/sealed.h"

/* What a client has declared that it can be asked for, and that it shows pages. */
enum {
    MISHAP_MCP_CAN_FORM = 1, /* elicitation, by form */
    MISHAP_MCP_CAN_SAMPLE = 2,
    MISHAP_MCP_CAN_ROOTS = 4,
    MISHAP_MCP_CAN_SHOW = 8, /* pages of HTML, which show answers of tools (dispatch/views.c) */
};
#define MISHAP_MCP_VIEWS "io.modelcontextprotocol/ui" /* the extension for that */
unsigned mishap_mcp_capabilities_read(yyjson_val *declared);
unsigned mishap_mcp_capabilities(const mishap_mcp_request *request);

/* The capability that a client needs for a question; 0: no client can declare it. The second: has
 * the client of a call declared it, and does its revision have forms of this kind? */
unsigned mishap_mcp_need_of(const mishap_question *question);
bool mishap_mcp_can_answer(const mishap_mcp_asked *asked, const mishap_question *question);

/* Write a question as members of a request: "method":…,"params":{…} */
void mishap_mcp_put_question(mishap_buffer *b, const mishap_asked *asked);

enum { MISHAP_MCP_BAD_STATE = -32602 }; /* invalid params */

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
