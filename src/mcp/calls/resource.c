/* Is there something to read at an address? This is asked before a session subscribes to it. */
#include "mcp/calls/flight.h"
#include "mcp/offers/address.h"
#include "operation/caller.h"

enum { ROOM = 1024 }; /* enough for the parameters of most resources, as JSON */

mishap *mishap_mcp_no_resource(mishap_mcp_request *request, mishap_text uri)
{
    request->code = mishap_mcp_is_modern(request->message->revision) ? -32602 : -32002;
    MISHAP_PUT(&request->members, "\"uri\":");
    mishap_json_string(&request->members, uri);
    mishap_buffer_put_char(&request->members, '\0');
    return mishap_suggest(mishap_raise(NOT_FOUND, "The resource does not exist."),
                          "Call resources/list and resources/templates/list to get all resources.");
}

bool mishap_mcp_resource_exists(mishap_mcp_peer *peer, mishap_text uri)
{
    char room[ROOM];
    mishap_buffer object;
    mishap_call *call = NULL;
    mishap_buffer_init(&object, room, sizeof room);
    const mishap_mcp_offer *resource = mishap_mcp_resource_match(peer->server, uri, &object);
    mishap *failure = NULL;
    if (resource && resource->needs & ~peer->scopes)
        resource = NULL; /* what it is about is not for this caller */
    if (resource && !object.failed)
        failure = mishap_call_begin(peer->server->app, resource->operation,
                                    mishap_buffer_text(&object), &call);
    bool exists = resource && (!failure || mishap_told(failure)->category != MISHAP_VALIDATION);
    if (call && resource->operation->quick) {
        mishap_mcp_come_from(call, peer->incident, peer->remote);
        mishap_call_set_caller(call, peer->caller, peer->named, peer->caller_is_free, peer->scopes);
        call->counted_for = peer->counted_for;
        failure = mishap_call_run(call);
        if (call->crashed && peer->died)
            peer->died(peer);
        exists = !failure || mishap_told(failure)->category != MISHAP_RESOURCE;
    }
    mishap_free(failure);
    mishap_call_end(call);
    mishap_buffer_release(&object);
    return exists;
}
