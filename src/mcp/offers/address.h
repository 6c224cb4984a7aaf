/* Addresses of resources: when two are the same, and to which resource one belongs. */
#ifndef MISHAP_MCP_OFFERS_ADDRESS_H
#define MISHAP_MCP_OFFERS_ADDRESS_H

#include "mcp/offers/offers.h"

/* Two addresses are the same if they differ only in unnecessary escapes (RFC 3986, 6.2.2.2), or in
 * the case of escapes: todo://todos/%31 is todo://todos/1, but a%2Fb is not a/b. Addresses that are
 * the same have the same hash. */
bool mishap_mcp_same_address(mishap_text a, mishap_text b);
uint32_t mishap_mcp_address_hash(mishap_text address);

/* True if its address contains a {variable}. */
bool mishap_mcp_is_template(const mishap_mcp_offer *resource);

/* The resource that a URI belongs to, preferring one without variables; NULL: none. Its variables
 * are written as a JSON object into a buffer that is reset first. */
const mishap_mcp_offer *mishap_mcp_resource_find(const mishap_mcp_server *server, mishap_text uri);
const mishap_mcp_offer *mishap_mcp_resource_match(const mishap_mcp_server *server, mishap_text uri,
                                                  mishap_buffer *object);

#endif
