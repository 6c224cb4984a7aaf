/*
 * The extension io.modelcontextprotocol/tasks (its specification/draft/tasks.md): calls of tools
 * that may become tasks, and the methods tasks/get, tasks/cancel and tasks/update. Only clients
 * that declare it, in each message, get a task.
 */
#include "mcp/calls/flight.h"

#include <stddef.h>

#include "mishap/inside.h"
#include "worker/wire/frame.h"

enum {
    MISSING_CAPABILITY = -32021,
    INVALID_REQUEST = -32600,
    INVALID_PARAMS = -32602,
    INTERNAL = -32603
};

#define EXTENSION "io.modelcontextprotocol/tasks"

bool mishap_mcp_has_tasks(const mishap_mcp_server *server)
{
    return server->tasks && *server->tasks;
}

bool mishap_mcp_tasks_declared(const mishap_mcp_message *message)
{
    yyjson_val *capabilities = yyjson_obj_get(message->meta,
                                              "io.modelcontextprotocol/clientCapabilities");
    return yyjson_is_obj(yyjson_obj_get(yyjson_obj_get(capabilities, "extensions"), EXTENSION));
}

/* -- a task as the client reads it ------------------------------------------------------------- */

static void put_time(mishap_buffer *b, const char *key, int64_t ms)
{
    mishap_json_key(b, mishap_text_of(key));
    mishap_buffer_put_char(b, '"');
    mishap_clock_put_timestamp(b, ms);
    mishap_buffer_put_char(b, '"');
}

/* A tool that fails has completed: its result says so. */
static const char *status_of(mishap_task_state state)
{
    return !mishap_task_has_ended(state)    ? "working"
           : state == MISHAP_TASK_CANCELLED ? "cancelled"
                                            : "completed";
}

static void put_task(mishap_buffer *b, const mishap_task_told *told)
{
    bool ended = mishap_task_has_ended(told->state);
    MISHAP_JSON_KEY(b, "taskId");
    mishap_json_string(b, told->id);
    MISHAP_JSON_KEY(b, "status");
    mishap_json_string(b, mishap_text_of(status_of(told->state)));
    if (!ended && told->words.length) {
        MISHAP_JSON_KEY(b, "statusMessage");
        mishap_json_string(b, told->words);
    }
    put_time(b, "createdAt", told->made_ms);
    put_time(b, "lastUpdatedAt", told->changed_ms);
    MISHAP_JSON_KEY(b, "ttlMs");
    if (ended)
        mishap_json_int(b, told->changed_ms - told->made_ms + told->keep_ms);
    else
        mishap_json_null(b);
    MISHAP_JSON_KEY(b, "pollIntervalMs");
    mishap_json_int(b, MISHAP_TASK_POLL_MS);
}

static const mishap_mcp_offer *offer_of(const mishap_mcp_server *server, mishap_text operation)
{
    for (size_t i = 0; i < server->tool_count; i++)
        if (mishap_text_equal(mishap_text_of(server->tools[i].operation->name), operation))
            return &server->tools[i];
    return NULL;
}

/* The result of the tool, as its call would have got it. */
static mishap *put_result(mishap_buffer *b, const mishap_mcp_server *server,
                          mishap_mcp_revision revision, const mishap_task_told *told)
{
    mishap_mcp_asked asked = { .offer = offer_of(server, told->operation),
                               .revision = revision,
                               .replayed = true };
    char incident[MISHAP_ID_LENGTH + 1] = "";
    mishap_buffer members = { 0 };
    mishap_call *call = NULL;
    mishap *outcome = NULL;
    if (!asked.offer)
        return mishap_raise(NOT_FOUND, "The tool of this task does not exist any more.");
    mishap *failure = mishap_task_remake(server->app, asked.offer->operation, told->call,
                                         told->outcome, &call, &outcome);
    if (failure)
        return failure;
    if (told->incident.length < sizeof incident)
        memcpy(incident, told->incident.data, told->incident.length);
    mishap_mcp_put_outcome(&members, &asked, call, outcome, incident);
    MISHAP_JSON_KEY(b, "result");
    mishap_buffer_put_char(b, '{');
    mishap_buffer_put_text(b, mishap_buffer_text(&members));
    MISHAP_PUT(b, ",\"resultType\":\"complete\"}");
    b->failed = b->failed || members.failed;
    mishap_buffer_release(&members);
    mishap_free(outcome);
    mishap_call_end(call);
    return NULL;
}

/* The caller may have had more scopes when it called the tool. NULL: it may see the task. */
static mishap *check_scopes(const mishap_mcp_peer *peer, mishap_text operation)
{
    const mishap_mcp_offer *offer = offer_of(peer->server, operation);
    return offer ? mishap_scopes_permit(peer->server->app, peer->scopes, offer->needs, "caller")
                 : NULL;
}

mishap *mishap_mcp_put_task(mishap_buffer *b, const mishap_mcp_peer *peer,
                            mishap_mcp_revision revision, const mishap_task_told *told)
{
    mishap_task_told shown = *told;
    mishap *lacks = check_scopes(peer, told->operation);
    bool has_result = told->outcome.length && told->state != MISHAP_TASK_CANCELLED;
    if (lacks && has_result)
        return lacks;
    if (lacks)
        shown.words.length = 0; /* how far it is says something of the result */
    mishap_free(lacks);
    put_task(b, &shown);
    return has_result ? put_result(b, peer->server, revision, &shown) : NULL;
}

/* -- replies ----------------------------------------------------------------------------------- */

/* A question that cannot be answered. Takes the failure. */
static void refuse(mishap_mcp_flight *flight, int code, mishap *failure)
{
    mishap_buffer error = { 0 };
    const mishap_code *of = mishap_told(failure)->code;
    mishap_free(mishap_mcp_put_error_object(&error, code, mishap_told(failure), NULL, NULL, NULL));
    mishap_mcp_flight_respond(flight, &error, MISHAP_MCP_ERROR, of);
    mishap_buffer_release(&error);
    mishap_free(failure);
}

static void answer_question(mishap_mcp_flight *flight, const mishap_task_reply *reply)
{
    mishap_buffer members = { 0 };
    mishap *failure = NULL;
    if (reply->kind == MISHAP_TASK_TOLD && flight->wish == MISHAP_TASK_ANSWER)
        failure = mishap_mcp_put_task(&members, flight->peer, flight->asked.revision, &reply->told);
    if (failure)
        refuse(flight, mishap_is(failure, FORBIDDEN) ? INVALID_REQUEST : INTERNAL, failure);
    else if (reply->kind == MISHAP_TASK_REFUSED)
        refuse(flight, INTERNAL, mishap_raise(UNAVAILABLE, "Tasks cannot be read just now."));
    else if (reply->kind == MISHAP_TASK_NONE)
        refuse(flight, INVALID_PARAMS,
               mishap_suggest(mishap_raise(NOT_FOUND, "There is no such task."),
                              "A task is forgotten some time after its end."));
    else if (reply->kind == MISHAP_TASK_LOST || reply->kind == MISHAP_TASK_DECLINED)
        refuse(flight, INTERNAL, mishap_raise(UNAVAILABLE, "Tasks cannot be read just now."));
    else
        mishap_mcp_flight_respond(flight, &members, MISHAP_MCP_MEMBERS, NULL);
    mishap_buffer_release(&members);
}

static void answer_call(mishap_mcp_flight *flight, const mishap_task_reply *reply)
{
    mishap_buffer members = { 0 };
    mishap *failure = NULL;
    switch (reply->kind) {
    case MISHAP_TASK_TOLD:
        put_task(&members, &reply->told);
        mishap_mcp_flight_count(flight, NULL);
        mishap_mcp_flight_respond(flight, &members, MISHAP_MCP_TASK, NULL);
        mishap_buffer_release(&members);
        return;
    case MISHAP_TASK_DONE:
        if (!mishap_frame_take_outcome(reply->outcome, flight->run.call, &failure))
            failure = mishap_raise(INTERNAL_ERROR, "The process of tasks sent what it must not.");
        break;
    case MISHAP_TASK_DECLINED:
        if (mishap_runner_add(flight->server->runner, &flight->run))
            return;
        failure = mishap_runner_refuse(flight->server->runner, flight->run.call);
        break;
    case MISHAP_TASK_REFUSED:
        failure = mishap_raise(RATE_LIMITED, "This caller has as many tasks as are kept for one.");
        failure = mishap_retry_after(failure, MISHAP_TASK_POLL_MS);
        break;
    default:
        failure = mishap_raise(INTERNAL_ERROR, "The process of tasks was lost.");
    }
    mishap_mcp_flight_done(flight, failure);
}

static void on_answered(mishap_task_wait *wait, const mishap_task_reply *reply)
{
    mishap_mcp_flight *flight = (mishap_mcp_flight *)(void *)((char *)wait -
                                                              offsetof(mishap_mcp_flight, wait));
    flight->waits = false;
    if (flight->run.call)
        answer_call(flight, reply);
    else
        answer_question(flight, reply);
}

/* -- calls ------------------------------------------------------------------------------------- */

mishap_task_asker mishap_mcp_task_asker(const mishap_mcp_peer *peer)
{
    return (mishap_task_asker){ peer->owner, peer->caller, peer->remote };
}

bool mishap_mcp_task_begin(mishap_mcp_flight *flight, const mishap_mcp_message *message)
{
    const mishap_mcp_server *server = flight->server;
    const mishap_mcp_offer *offer = flight->asked.offer;
    if (!mishap_mcp_has_tasks(server) || offer->sort != MISHAP_MCP_TOOL ||
        !offer->operation->task || !mishap_mcp_is_modern(flight->asked.revision) ||
        !mishap_mcp_tasks_declared(message))
        return false;
    flight->wait.answered = on_answered;
    mishap_task_asker asker = mishap_mcp_task_asker(flight->peer);
    flight->waits = mishap_task_client_start(*server->tasks, &flight->wait, flight->run.call,
                                             &asker, -1);
    return flight->waits;
}

/* -- methods ----------------------------------------------------------------------------------- */

static const mishap_param task_params[] = {
    { "taskId", MISHAP_STRING, .required = true },
    { 0 },
};

mishap *mishap_mcp_lacks_tasks(mishap_mcp_request *request)
{
    request->code = MISSING_CAPABILITY;
    MISHAP_PUT(&request->members,
               "\"requiredCapabilities\":{\"extensions\":{\"" EXTENSION "\":{}}}");
    mishap_buffer_put_char(&request->members, '\0');
    return mishap_suggest(
        mishap_raise(BAD_REQUEST, "The client has not declared the extension " EXTENSION "."),
        "Declare it in `io.modelcontextprotocol/clientCapabilities` of `_meta`.");
}

static mishap *ask(mishap_mcp_request *request, mishap_task_wish wish)
{
    yyjson_val none = { .tag = YYJSON_TYPE_OBJ }, *params = request->message->params;
    yyjson_val *id = yyjson_obj_get(params, "taskId");
    const mishap_mcp_server *server = request->peer->server;
    if (!mishap_mcp_has_tasks(server)) {
        request->code = -32601;
        return mishap_raise(METHOD_NOT_FOUND, "This server has no tasks.");
    }
    if (!mishap_mcp_tasks_declared(request->message))
        return mishap_mcp_lacks_tasks(request);
    if (!yyjson_is_str(id)) {
        request->code = INVALID_PARAMS;
        mishap *failure = mishap_params_check(task_params, params ? params : &none);
        return failure ? failure : mishap_raise(VALIDATION_ERROR, "`taskId` is not a string.");
    }
    mishap_mcp_flight *flight = mishap_mcp_flight_make_empty(request);
    if (!flight)
        return mishap_retry_after(mishap_raise(UNAVAILABLE, "The server is busy."), 1000);
    flight->wish = wish;
    flight->wait.answered = on_answered;
    flight->waits = true;
    request->later = true;
    mishap_task_asker asker = mishap_mcp_task_asker(request->peer);
    if (!mishap_task_client_ask(*server->tasks, &flight->wait, wish, &asker, mishap_json_text(id)))
        answer_question(flight, &(mishap_task_reply){ .kind = MISHAP_TASK_LOST });
    return NULL;
}

mishap *mishap_mcp_tasks_get(mishap_mcp_request *request, mishap_buffer *result)
{
    (void)result;
    return ask(request, MISHAP_TASK_ANSWER);
}

mishap *mishap_mcp_tasks_cancel(mishap_mcp_request *request, mishap_buffer *result)
{
    (void)result;
    return ask(request, MISHAP_TASK_STOP);
}

/* No task asks questions, so there is nothing to be updated. */
mishap *mishap_mcp_tasks_update(mishap_mcp_request *request, mishap_buffer *result)
{
    (void)result;
    return ask(request, MISHAP_TASK_SHOW);
}
