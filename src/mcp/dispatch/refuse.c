/*
 * Protocol errors: the answers to messages that cannot be served at all. result.c writes the
 * failures of tools, as results, and of resources and prompts, as errors.
 *
 *     {"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"…","data":{"code":"METHOD_NOT_FOUND",
 * …}}}
 *
 * The number is for programs that do not know this library. `data` is the public side of the
 * failure in canonical form; the private side stays here, under an incident id.
 */
#include "mcp/dispatch/dispatch.h"
#include "incident/incident.h"
#include "mishap/inside.h"

struct refused {
    const mishap_mcp_peer *peer;
    const char *incident;
    const mishap *failure, *removed;
    int code;
    mishap_text response;
};

static void record_refusal(const struct refused *refused)
{
    const mishap_mcp_server *server = refused->peer->server;
    mishap_incident_record(&(mishap_incident_entry){
        .program = server->app->name,
        .version = server->app->version,
        .id = refused->incident,
        .failure = refused->failure,
        .removed = refused->removed,
        .shown = "mcp",
        .caller = refused->peer->counted_for,
        .response = refused->response,
        .response_type = "application/json",
        .status = refused->code,
        .boundary = MISHAP_INCIDENT_MCP,
        .to_stderr = server->verbose,
    });
}

void mishap_mcp_refuse(const mishap_mcp_peer *peer, mishap_mcp_channel *channel, mishap_text id,
                       int code, int status, mishap *failure, const char *members,
                       const mishap_sent *sent)
{
    char own[MISHAP_ID_LENGTH + 1], storage[2048];
    const mishap_public *told = mishap_told(failure);
    mishap_buffer error;
    bool known = told->incident.length; /* then the code that gave it the id has recorded it */
    const char *incident = known ? told->incident.data : peer->incident ? peer->incident : own;
    mishap_id_make(own);
    if (!known && mishap_incident_is_one(failure))
        mishap_incident(failure, incident);
    mishap_buffer_init(&error, storage, sizeof storage);
    mishap *removed = mishap_mcp_put_error_object(&error, code, told, members, NULL, sent);
    mishap_text text = error.failed ? mishap_mcp_last_error : mishap_buffer_text(&error);
    channel->status = status;
    channel->code = told->code;
    mishap_mcp_put_error(channel, id, text);
    if (!known || removed)
        record_refusal(&(struct refused){ .peer = peer,
                                          .incident = incident,
                                          .failure = failure,
                                          .removed = removed,
                                          .code = code,
                                          .response = text });
    mishap_free(removed);
    mishap_buffer_release(&error);
}

void mishap_mcp_refuse_flaw(const mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                            mishap_mcp_flaw *flaw)
{
    if (flaw->failure)
        mishap_mcp_refuse(peer, channel, flaw->id, flaw->code, flaw->status, flaw->failure, NULL,
                          NULL);
    mishap_free(flaw->failure);
    flaw->failure = NULL;
    channel->finish(channel);
}
