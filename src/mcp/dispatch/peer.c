/*
 * Dispatch of messages: find the method of a message and check whether its revision has this
 * method. Each message is handled independently. A message that names a revision in `_meta` is
 * stateless, also after an initialize that negotiated another one. All other messages have the
 * negotiated revision.
 */
#include "mcp/calls/flight.h"
#include "mcp/changes/subscribe.h"
#include "mcp/dispatch/dispatch.h"

/* -- methods ----------------------------------------------------------------------------------- */

#define IN(revision) (1U << MISHAP_MCP_##revision)
enum {
    OLD = IN(2024_11_05) | IN(2025_03_26) | IN(2025_06_18) | IN(2025_11_25),
    NEW = IN(2026_07_28),
    FIRST = IN(NONE), /* allowed before initialize */
    APART = 1U << 16, /* its result is written into a buffer of its own, since other messages may be
                         sent before it */
};

struct method {
    mishap_text name;
    mishap_mcp_method *answer;
    unsigned revisions; /* the revisions that have it */
};

static const struct method methods[] = {
    { MISHAP_TEXT("tools/call"), mishap_mcp_tools_call, OLD | NEW | APART },
    { MISHAP_TEXT("tools/list"), mishap_mcp_tools_list, OLD | NEW },
    { MISHAP_TEXT("resources/read"), mishap_mcp_resources_read, OLD | NEW | APART },
    { MISHAP_TEXT("resources/list"), mishap_mcp_resources_list, OLD | NEW },
    { MISHAP_TEXT("resources/templates/list"), mishap_mcp_templates_list, OLD | NEW },
    { MISHAP_TEXT("resources/subscribe"), mishap_mcp_resources_subscribe, OLD | APART },
    { MISHAP_TEXT("resources/unsubscribe"), mishap_mcp_resources_unsubscribe, OLD },
    { MISHAP_TEXT("prompts/get"), mishap_mcp_prompts_get, OLD | NEW | APART },
    { MISHAP_TEXT("prompts/list"), mishap_mcp_prompts_list, OLD | NEW },
    { MISHAP_TEXT("completion/complete"), mishap_mcp_complete, OLD | NEW },
    { MISHAP_TEXT("logging/setLevel"), mishap_mcp_set_level, OLD },
    { MISHAP_TEXT("subscriptions/listen"), mishap_mcp_listen, NEW | APART },
    { MISHAP_TEXT("tasks/get"), mishap_mcp_tasks_get, NEW | APART },
    { MISHAP_TEXT("tasks/cancel"), mishap_mcp_tasks_cancel, NEW | APART },
    { MISHAP_TEXT("tasks/update"), mishap_mcp_tasks_update, NEW | APART },
    { MISHAP_TEXT("server/discover"), mishap_mcp_discover, NEW },
    { MISHAP_TEXT("initialize"), mishap_mcp_initialize, FIRST | OLD },
    { MISHAP_TEXT("ping"), mishap_mcp_ping, FIRST | OLD },
};

static const struct method *find_method(mishap_text name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (mishap_text_equal(methods[i].name, name))
            return &methods[i];
    return NULL;
}

/* -- what is refused before a method is asked -------------------------------------------------- */

/* A name that was sent may be long; only so much of it is repeated. */
static mishap_text cut_text(mishap_text text)
{
    return (mishap_text){ text.data, mishap_utf8_cut(text, 100) };
}

static mishap *no_version(mishap_mcp_request *request)
{
    static const char key[] = "_meta.io.modelcontextprotocol/protocolVersion";
    request->code = -32602;
    mishap *m = mishap_raise(VALIDATION_ERROR, "`%s` is missing.", key);
    m = mishap_suggest(m, "Name the protocol revision of the request in `_meta`.");
    return mishap_field_required(m, key);
}

static mishap *unknown_version(mishap_mcp_request *request)
{
    mishap_text asked = cut_text(request->message->claimed);
    mishap_buffer *members = &request->members;
    request->code = -32022;
    MISHAP_PUT(members, "\"supported\":[\"2026-07-28\"],\"requested\":");
    mishap_json_string(members, asked);
    mishap_buffer_put_char(members, '\0');
    return mishap_suggest(
        mishap_raise(BAD_REQUEST, "The protocol revision \"%.*s\" is not supported.",
                     (int)asked.length, asked.data),
        "Use one of the revisions in `supported`, or send initialize to negotiate an older one.");
}

static mishap *too_early(mishap_mcp_request *request)
{
    request->code = -32600;
    return mishap_suggest(
        mishap_raise(BAD_REQUEST, "This session is not initialized yet."),
        "Send initialize first, or name the protocol revision of the request in `_meta`.");
}

static mishap *no_method(mishap_mcp_request *request, bool known)
{
    const mishap_mcp_message *message = request->message;
    mishap_text name = cut_text(message->method);
    request->code = -32601;
    return mishap_raise(METHOD_NOT_FOUND,
                        known ? "The method %.*s is not part of revision %s."
                              : "The method %.*s does not exist in revision %s.",
                        (int)name.length, name.data, mishap_mcp_revision_name(message->revision));
}

static mishap *same_id(mishap_mcp_request *request)
{
    request->code = -32600;
    return mishap_suggest(
        mishap_raise(BAD_REQUEST, "Another request with this id is still in progress."),
        "Give each request a unique id.");
}

/* True if the message has members of the stateless revision, but not the one that names it. */
static bool means_stateless(const mishap_mcp_message *message, const struct method *method)
{
    return (method && !(method->revisions & (FIRST | OLD))) ||
           yyjson_obj_get(message->meta, "io.modelcontextprotocol/clientCapabilities");
}

static mishap *choose(mishap_mcp_request *request, mishap_mcp_message *message,
                      const struct method **method)
{
    mishap_mcp_peer *peer = request->peer;
    *method = find_method(message->method);
    if (!message->claims && mishap_mcp_is_modern(message->revision))
        return no_version(request);
    message->revision = message->claims ? mishap_mcp_revision_find(message->claimed)
                                        : peer->revision;
    if (message->claims && !mishap_mcp_is_modern(message->revision))
        return unknown_version(request);
    bool there = *method && ((*method)->revisions & 1U << message->revision);
    if (!there && message->revision == MISHAP_MCP_NONE)
        return means_stateless(message, *method) ? no_version(request) : too_early(request);
    if (!there)
        return no_method(request, *method != NULL);
    if ((peer->flights && mishap_mcp_flight_find(peer, message->id)) ||
        (peer->runs && peer->runs(peer, message->id)) ||
        (peer->subscriptions && mishap_mcp_listens(peer, message->id)))
        return same_id(request);
    return NULL;
}

/* -- requests ---------------------------------------------------------------------------------- */

/* The HTTP statuses that the protocol prescribes. A method that refuses its request is answered
 * with 200. */
static int status_of(int code, mishap_mcp_revision revision)
{
    if (code == -32601)
        return mishap_mcp_is_modern(revision) ? 404 : 200;
    return code == -32600 || (code >= -32022 && code <= -32020) ? 400 : 200;
}

static void refuse_request(mishap_mcp_request *request, mishap *failure, int status)
{
    const char *members = request->members.failed ? NULL : request->members.data;
    if (request->channel->lacks)
        status = mishap_told(failure)->code->http_status;
    if (!request->code)
        request->code = mishap_told(failure)->category == MISHAP_VALIDATION ? -32602 : -32603;
    mishap_mcp_refuse(
        request->peer, request->channel, request->message->id, request->code,
        status ? status : status_of(request->code, request->message->revision), failure, members,
        &(mishap_sent){ .json = request->message->params, .text = request->message->method });
}

static mishap *answer_request(mishap_mcp_request *request, const struct method *method)
{
    mishap_mcp_channel *channel = request->channel;
    mishap_buffer *b = mishap_mcp_begin_result(channel, request->message->id);
    mishap *failure = method->answer(request, b);
    if (failure || request->later)
        mishap_mcp_take_back(channel, b);
    else
        mishap_mcp_finish_result(request->peer->server->app, channel, b, request->message->revision,
                                 request->outcome);
    return failure;
}

/* The same for a method that may send other messages first, or leave the answer to a flight. */
static mishap *answer_apart(mishap_mcp_request *request, const struct method *method)
{
    char storage[4096];
    mishap_buffer result;
    mishap_buffer_init(&result, storage, sizeof storage);
    MISHAP_PUT(&result, "{"); /* no comma is due after it */
    mishap *failure = method->answer(request, &result);
    if (request->outcome >= MISHAP_MCP_ERROR) {
        mishap_text error = { result.data + 1, result.length - 1 };
        request->channel->status = request->outcome == MISHAP_MCP_ERROR_400 ? 400 : 200;
        mishap_mcp_put_error(request->channel, request->message->id,
                             result.failed ? mishap_mcp_last_error : error);
    } else if (!failure && !request->later) {
        mishap_buffer *b = mishap_mcp_begin_result(request->channel, request->message->id);
        mishap_buffer_put(b, result.data + 1, result.length - 1);
        b->failed = b->failed || result.failed;
        mishap_mcp_finish_result(request->peer->server->app, request->channel, b,
                                 request->message->revision, request->outcome);
    }
    mishap_buffer_release(&result);
    return failure;
}

static void take_request(mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                         mishap_mcp_message *message)
{
    const struct method *method;
    mishap_mcp_request request = { .peer = peer, .channel = channel, .message = message };
    mishap *failure = choose(&request, message, &method);
    /* If the claimed revision is wrong, the HTTP status says so, too. */
    int status = failure && request.code == -32602 ? 400 : 0;
    if (!failure)
        failure = method->revisions & APART ? answer_apart(&request, method)
                                            : answer_request(&request, method);
    if (failure)
        refuse_request(&request, failure, status);
    mishap_free(failure);
    mishap_buffer_release(&request.members);
    /* Nothing may be used after this: the transport may free everything. */
    if (!request.later)
        channel->finish(channel);
}

/* -- notifications ----------------------------------------------------------------------------- */

static void cancel(mishap_mcp_peer *peer, yyjson_val *request_id)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    if (!mishap_mcp_id_read(request_id, room, &id))
        return;
    mishap_mcp_flight *flight = mishap_mcp_flight_find(peer, id);
    if (flight)
        mishap_mcp_flight_cancel(flight);
    else
        mishap_mcp_listen_cancel(peer, id);
}

/* Unknown notifications are ignored, and so are those that only inform. */
static void take_notification(mishap_mcp_peer *peer, const mishap_mcp_message *message)
{
    static const mishap_text cancelled = MISHAP_TEXT("notifications/cancelled"),
                             initialized = MISHAP_TEXT("notifications/initialized");
    if (mishap_text_equal(message->method, cancelled))
        cancel(peer, yyjson_obj_get(message->params, "requestId"));
    else if (mishap_text_equal(message->method, initialized))
        peer->initialized = peer->revision != MISHAP_MCP_NONE;
}

/* -- peers ------------------------------------------------------------------------------------- */

void mishap_mcp_peer_init(mishap_mcp_peer *peer, const mishap_mcp_server *server)
{
    *peer = (mishap_mcp_peer){ .server = server,
                               .level = MISHAP_INFO,
                               .scopes = MISHAP_SCOPES_USUAL };
}

void mishap_mcp_peer_release(mishap_mcp_peer *peer)
{
    while (peer->flights)
        mishap_mcp_flight_cancel(peer->flights);
    mishap_mcp_drop_paused(peer);
    mishap_mcp_unlisten(peer, NULL);
}

void mishap_mcp_take(mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                     mishap_mcp_message *message)
{
    if (message->batch) {
        mishap_mcp_take_batch(peer, channel, message->batch);
    } else if (message->kind == MISHAP_MCP_REQUEST) {
        take_request(peer, channel, message);
    } else {
        if (message->kind == MISHAP_MCP_NOTIFICATION)
            take_notification(peer, message);
        else
            mishap_mcp_take_response(peer, message);
        channel->finish(channel);
    }
}

void mishap_mcp_take_text(mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                          mishap_json_reader *reader, mishap_text text)
{
    mishap_mcp_message message;
    mishap_mcp_flaw flaw;
    if (mishap_mcp_read(reader, text, &message, &flaw))
        mishap_mcp_take(peer, channel, &message);
    else
        mishap_mcp_refuse_flaw(peer, channel, &flaw);
}
