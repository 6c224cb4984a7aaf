/*
 * Protocol errors: what is answered to a message that cannot be served at all. A tool that fails is
 * a result, and result.c's; so are resources and prompts that fail, though as errors.
 *
 *     {"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"…","data":{"code":"METHOD_NOT_FOUND",
 * …}}}
 *
 * The number is for programs that know nothing of us. `data` is the public side of the failure in
 * canonical form; the private side stays here, under an incident id.
 */
#include "mcp/mcp.h"
#include "dialect/parts.h"
#include "incident/incident.h"
#include "mishap/inside.h"
#include "operation/hide.h"

/* When there is no memory for more. */
const mishap_text mishap_mcp_last_error = MISHAP_TEXT(MISHAP_MCP_LAST_ERROR);

static void record(const mishap_mcp_peer *peer, const char *id, const mishap *failure)
{
    mishap_incident_record(&(mishap_incident_entry){
        .program = peer->server->app->name,
        .caller = peer->counted_for,
        .operation = "mcp",
        .id = id,
        .failure = failure,
        .to_stderr = peer->server->verbose,
    });
}

/* Clients show the message of an error and drop its data: what is wrong with the fields is told
 * there, too. */
static void put_words(mishap_buffer *words, const mishap_public *told)
{
    enum { MOST = 5 };
    size_t count = 0;
    mishap_buffer_put_text(words, mishap_public_message(told));
    for (const mishap_field *field = told->fields; field && count < MOST; field = field->next) {
        mishap_buffer_put_char(words, ' ');
        mishap_put_field_sentence(words, field);
        count++;
    }
    if (told->field_count > count) {
        MISHAP_PUT(words, " There are ");
        mishap_buffer_put_uint(words, told->field_count - count);
        MISHAP_PUT(words, " more.");
    }
}

/* The text of a failure may come from a service. */
mishap *mishap_mcp_put_error_object(mishap_buffer *b, int code, const mishap_public *told,
                                    const char *members, const mishap_secrets *secrets)
{
    mishap_public worded = *told;
    mishap_buffer words = { 0 };
    if (told->fields && !told->message.length) {
        put_words(&words, told);
        worded.message = mishap_buffer_text(&words);
    }
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "code");
    mishap_json_int(b, code);
    MISHAP_JSON_KEY(b, "message");
    mishap_json_string(b, mishap_public_message(&worded));
    MISHAP_JSON_KEY(b, "data");
    mishap_json_open(b, '{');
    mishap_put_canonical(b, &worded, MISHAP_WITH_MESSAGE);
    if (members && *members) {
        mishap_json_comma(b);
        mishap_buffer_put_text(b, mishap_text_of(members));
    }
    mishap_json_close(b, '}');
    mishap_json_close(b, '}');
    b->failed = b->failed || words.failed;
    mishap_buffer_release(&words);
    return b->failed ? NULL : mishap_hide_json(b, secrets);
}

void mishap_mcp_refuse(const mishap_mcp_peer *peer, mishap_mcp_channel *channel, mishap_text id,
                       int code, int status, mishap *failure, const char *members)
{
    char incident[MISHAP_ID_LENGTH + 1], storage[2048];
    const mishap_public *told = mishap_told(failure);
    mishap_buffer error;
    bool known = told->incident.length; /* then whoever gave it the id has recorded it */
    bool recorded = !known && mishap_incident_is_one(failure);
    mishap_id_make(incident);
    if (recorded)
        mishap_incident(failure, incident);
    mishap_buffer_init(&error, storage, sizeof storage);
    mishap *removed = mishap_mcp_put_error_object(&error, code, told, members, NULL);
    channel->status = status;
    channel->code = told->code;
    mishap_mcp_put_error(channel, id,
                         error.failed ? mishap_mcp_last_error : mishap_buffer_text(&error));
    if (recorded)
        record(peer, incident, failure);
    if (removed)
        record(peer, known ? told->incident.data : incident, removed);
    mishap_free(removed);
    mishap_buffer_release(&error);
}

void mishap_mcp_refuse_flaw(const mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                            mishap_mcp_flaw *flaw)
{
    if (flaw->failure)
        mishap_mcp_refuse(peer, channel, flaw->id, flaw->code, flaw->status, flaw->failure, NULL);
    mishap_free(flaw->failure);
    flaw->failure = NULL;
    channel->finish(channel);
}
