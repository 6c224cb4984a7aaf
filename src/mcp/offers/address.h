/* Addresses of resources: when two are the same, and which resource one is of. */
#ifndef MISHAP_MCP_OFFERS_ADDRESS_H
#define MISHAP_MCP_OFFERS_ADDRESS_H

#include "mcp/offers/offers.h"

/* Addresses are the same if they differ only in what is escaped without need (RFC 3986, 6.2.2.2),
 * or in the case of such escapes: todo://todos/%31 is todo://todos/1, but a%2Fb is not a/b. Those
 * that are have the same hash. */
bool mishap_mcp_same_address(mishap_text a, mishap_text b);
uint32_t mishap_mcp_address_hash(mishap_text address);

/* Has its address a {variable} in it? */
bool mishap_mcp_is_template(const mishap_mcp_offer *resource);

/* The resource that a URI is of, one without variables first; NULL: none. And its variables, as a
 * JSON object, in a buffer that is reset. */
const mishap_mcp_offer *mishap_mcp_resource_find(const mishap_mcp_server *server, mishap_text uri);
const mishap_mcp_offer *mishap_mcp_resource_match(const mishap_mcp_server *server, mishap_text uri,
                                                  mishap_buffer *object);

#endif
