/* The arguments and the answer of a tool as JSON Schemas, and the body of an operation among its
 * arguments. */
#ifndef MISHAP_MCP_OFFERS_SCHEMA_H
#define MISHAP_MCP_OFFERS_SCHEMA_H

#include "mcp/offers/offers.h"
#include "operation/call.h"

/* Write a JSON Schema without the patterns that JavaScript cannot read: a client would give up on
 * all tools because of one of those. */
void mishap_mcp_put_schema(mishap_buffer *buffer, mishap_text schema);

/* Write the outputSchema of a tool: `full`: its answer, or a failure in its dialect; else the names
 * of the members of its answer. False, and nothing is written, if the tool does not declare its
 * answer. */
bool mishap_mcp_put_output_schema(mishap_buffer *buffer, const mishap_mcp_offer *tool, bool full);

/* True if the dialect is text, and not an object that can be structured content. */
bool mishap_mcp_is_text(const mishap_dialect *dialect);

/* The body of an operation that takes one: `body`, `body_base64` and `body_type` among the
 * arguments of its tool. The functions: whether a name is one of them; the schema of all arguments;
 * the arguments without them; and their values as the body of a call. */
bool mishap_mcp_is_of_body(const void *operation, mishap_text name);

/* … or of the state and the answers of an operation that asks (calls/asks.h). */
bool mishap_mcp_is_beside(const void *operation, mishap_text name);
void mishap_mcp_put_params_schema(mishap_buffer *schema, const mishap_operation *operation,
                                  bool full);
void mishap_mcp_put_others(mishap_buffer *json, const mishap_operation *operation,
                           yyjson_val *arguments);
mishap *mishap_mcp_take_body(mishap_call *call, yyjson_val *arguments);

#endif
