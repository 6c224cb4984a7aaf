/*
 * Pages that show the answers of tools (MCP Apps): the extension io.modelcontextprotocol/ui. A tool
 * names the address of a page in `_meta.ui`, and the page is a resource of the program. Only
 * clients that declare the extension are told of either. No `csp` is told: a client then lets the
 * page load nothing from elsewhere, and send nothing to elsewhere.
 */
#include "mcp/calls/asks.h"
#include "mcp/dispatch/dispatch.h"

bool mishap_mcp_shows_views(const mishap_mcp_request *request)
{
    return mishap_mcp_capabilities(request) & MISHAP_MCP_CAN_SHOW;
}

bool mishap_mcp_has_views(const mishap_mcp_server *server)
{
    for (size_t i = 0; i < server->resource_count; i++)
        if (mishap_mcp_is_page(server->resources[i].operation))
            return true;
    return false;
}

void mishap_mcp_put_view(mishap_buffer *b, const char *address)
{
    MISHAP_JSON_KEY(b, "ui");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "resourceUri");
    mishap_json_string(b, mishap_text_of(address));
    mishap_json_close(b, '}');
}
