/* What a tool takes and what it answers, as JSON Schemas, and the body among its arguments. */
#ifndef MISHAP_MCP_OFFERS_SCHEMA_H
#define MISHAP_MCP_OFFERS_SCHEMA_H

#include "mcp/offers/offers.h"
#include "operation/call.h"

/* A JSON Schema without the patterns that JavaScript could not read: a client gives up on all tools
 * for one of those. */
void mishap_mcp_put_schema(mishap_buffer *buffer, mishap_text schema);

/* The outputSchema of a tool: what it answers, or a failure in its dialect; nothing, and false, if
 * it does not say what it answers. */
bool mishap_mcp_put_output_schema(mishap_buffer *buffer, const mishap_mcp_offer *tool);

/* Is the dialect text, and not an object that can be structured content as it is? */
bool mishap_mcp_is_text(const mishap_dialect *dialect);

/* The body of an operation that takes one: `body`, `body_base64` and `body_type` among the
 * arguments of its tool. Is this name one of them; the schema of all arguments; the arguments
 * without them; and what they say as the body of a call. */
bool mishap_mcp_is_of_body(const void *operation, mishap_text name);
void mishap_mcp_put_params_schema(mishap_buffer *schema, const mishap_operation *operation);
void mishap_mcp_put_others(mishap_buffer *json, const mishap_operation *operation,
                           yyjson_val *arguments);
mishap *mishap_mcp_take_body(mishap_call *call, yyjson_val *arguments);

#endif
