/*
 * The extension io.modelcontextprotocol/tasks (its specification/draft/tasks.md): calls of tools
 * that may become tasks, and the methods tasks/get, tasks/cancel and tasks/update. Only clients
 * that declare it, in each message, get a task.
 */
#include "mcp/calls/asks.h"
#include "mcp/calls/flight.h"

#include <stddef.h>

#include "mishap/inside.h"
#include "operation/hide.h"
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

/* A tool that fails has completed: its result says so. One that broke off has failed (put_end). */
static const char *status_of(mishap_task_state state)
{
    return state == MISHAP_TASK_ASKING      ? "input_required"
           : !mishap_task_has_ended(state)  ? "working"
           : state == MISHAP_TASK_CANCELLED ? "cancelled"
                                            : "completed";
}

static void put_task_as(mishap_buffer *b, const mishap_task_told *told, const char *status)
{
    bool ended = mishap_task_has_ended(told->state);
    MISHAP_JSON_KEY(b, "taskId");
    mishap_json_string(b, told->id);
    MISHAP_JSON_KEY(b, "status");
    mishap_json_string(b, mishap_text_of(status));
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

static void put_task(mishap_buffer *b, const mishap_task_told *told)
{
    put_task_as(b, told, status_of(told->state));
}

/* A key is never used for two questions of a task: one that is asked again has another. */
static void put_request(mishap_buffer *b, const mishap_task_question *question)
{
    char room[256];
    mishap_buffer key;
    mishap_buffer_init(&key, room, sizeof room);
    mishap_task_question_put_key(&key, question);
    mishap_json_key(b, mishap_buffer_text(&key));
    b->failed = b->failed || key.failed;
    mishap_buffer_release(&key);
    mishap_json_open(b, '{');
    mishap_mcp_put_question(b, &question->asked);
    mishap_json_close(b, '}');
}

/* What this client can answer of what a task asks. A client is sent nothing that it has not
 * declared. Returns how many there are. */
static size_t keep_answerable(mishap_task_questions *open, const mishap_mcp_asked *asked)
{
    size_t count = 0;
    for (size_t i = 0; i < open->count; i++)
        if (mishap_mcp_can_answer(asked, open->list[i].asked.question))
            open->list[count++] = open->list[i];
    return open->count = count;
}

static void put_requests(mishap_buffer *b, const mishap_task_questions *open)
{
    MISHAP_JSON_KEY(b, "inputRequests");
    mishap_json_open(b, '{');
    for (size_t i = 0; i < open->count; i++)
        put_request(b, &open->list[i]);
    mishap_json_close(b, '}');
}

static const mishap_mcp_offer *offer_of(const mishap_mcp_server *server, mishap_text operation)
{
    for (size_t i = 0; i < server->tool_count; i++)
        if (mishap_text_equal(mishap_text_of(server->tools[i].operation->name), operation))
            return &server->tools[i];
    return NULL;
}

/* The result of the tool, as its call would have got it. */
static void put_result(mishap_buffer *b, const mishap_mcp_asked *asked, mishap_call *call,
                       mishap *outcome, const char *incident)
{
    mishap_buffer members = { 0 };
    mishap_mcp_put_outcome(&members, asked, call, outcome, incident);
    MISHAP_JSON_KEY(b, "result");
    mishap_buffer_put_char(b, '{');
    mishap_buffer_put_text(b, mishap_buffer_text(&members));
    MISHAP_PUT(b, ",\"resultType\":\"complete\"}");
    b->failed = b->failed || members.failed;
    mishap_buffer_release(&members);
}

/* The tool has told nothing: its process died, or it told what it must not. */
static void put_error(mishap_buffer *b, const mishap_mcp_asked *asked, mishap_call *call,
                      mishap *outcome, const char *incident)
{
    mishap_buffer error = { 0 };
    const mishap_secrets *secrets = call ? mishap_call_secrets(call) : NULL;
    mishap_service_amend(asked->offer->operation, outcome);
    mishap_hide_failure(outcome, asked->offer->operation->params, secrets);
    mishap_incident(outcome, incident);
    mishap_free(mishap_mcp_put_error_object(&error, INTERNAL, mishap_told(outcome), NULL, secrets,
                                            &(mishap_sent){ .call = call }));
    MISHAP_JSON_KEY(b, "error");
    mishap_buffer_put_text(b, error.failed ? mishap_mcp_last_error : mishap_buffer_text(&error));
    mishap_buffer_release(&error);
}

/* A task that has ended, and was not cancelled. A call that waits gets INTERNAL_ERROR as a result,
 * so that a model reads it. A task says it by its state, as its extension asks for. */
static mishap *put_end(mishap_buffer *b, const mishap_mcp_server *server,
                       mishap_mcp_revision revision, const mishap_task_told *told)
{
    mishap_mcp_asked asked = { .offer = offer_of(server, told->operation),
                               .revision = revision,
                               .replayed = true };
    char incident[MISHAP_ID_LENGTH + 1] = "";
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
    bool broke_off = outcome && mishap_is(outcome, INTERNAL_ERROR);
    put_task_as(b, told, broke_off ? "failed" : "completed");
    if (broke_off)
        put_error(b, &asked, call, outcome, incident);
    else
        put_result(b, &asked, call, outcome, incident);
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

/* A status of `input_required` without a request would tell nothing: to a client that cannot
 * answer, the task works on, and says what it waits for. */
static void put_asking(mishap_buffer *b, const mishap_mcp_peer *peer, const mishap_mcp_asked *asked,
                       mishap_task_told *shown)
{
    const mishap_mcp_offer *offer = offer_of(peer->server, shown->operation);
    mishap_task_questions open = { 0 };
    bool any = offer && shown->questions.length &&
               mishap_task_questions_take(shown->questions, offer->operation, &open) &&
               keep_answerable(&open, asked);
    if (!any) {
        shown->state = MISHAP_TASK_RUNNING;
        shown->words = (mishap_text)MISHAP_TEXT("It waits for an answer.");
    }
    put_task(b, shown);
    if (any)
        put_requests(b, &open);
}

mishap *mishap_mcp_put_task(mishap_buffer *b, const mishap_mcp_peer *peer,
                            const mishap_mcp_asked *asked, const mishap_task_told *told)
{
    mishap_task_told shown = *told;
    mishap *lacks = check_scopes(peer, told->operation);
    bool has_result = told->outcome.length && told->state != MISHAP_TASK_CANCELLED;
    if (lacks && has_result)
        return lacks;
    if (lacks)
        shown.words.length = shown.questions.length = 0; /* they say something of the result */
    mishap_free(lacks);
    if (has_result)
        return put_end(b, peer->server, asked->revision, &shown);
    if (shown.state == MISHAP_TASK_ASKING)
        put_asking(b, peer, asked, &shown);
    else
        put_task(b, &shown);
    return NULL;
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

/* The failure is the reply's own. */
static void refuse_answers(mishap_mcp_flight *flight, const mishap *failure)
{
    if (mishap_is(failure, FORBIDDEN))
        refuse(flight, INVALID_REQUEST,
               mishap_suggest(mishap_raise(FORBIDDEN, "The caller lacks a scope of this tool."),
                              "Send a token or a key that has the scopes of this call."));
    else if (mishap_is(failure, CONTENT_TOO_LARGE))
        refuse(flight, INVALID_PARAMS,
               mishap_raise(CONTENT_TOO_LARGE, "The answers are longer than %d bytes.",
                            (int)MISHAP_ASKING_REPLIES));
    else if (mishap_is(failure, NOT_FOUND))
        refuse(flight, INVALID_PARAMS,
               mishap_raise(NOT_FOUND, "The tool of this task does not exist any more."));
    else
        refuse(flight, INTERNAL, mishap_raise(UNAVAILABLE, "Tasks cannot be read just now."));
}

static void answer_question(mishap_mcp_flight *flight, const mishap_task_reply *reply)
{
    mishap_buffer members = { 0 };
    mishap *failure = NULL;
    if (reply->kind == MISHAP_TASK_TOLD && flight->wish == MISHAP_TASK_ANSWER)
        failure = mishap_mcp_put_task(&members, flight->peer, &flight->asked, &reply->told);
    if (failure)
        refuse(flight, mishap_is(failure, FORBIDDEN) ? INVALID_REQUEST : INTERNAL, failure);
    else if (reply->kind == MISHAP_TASK_REFUSED && flight->gives)
        refuse_answers(flight, reply->failure);
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
        if (!mishap_is(reply->failure, RATE_LIMITED)) {
            failure = mishap_raise(INTERNAL_ERROR, "The process of tasks has no answer: %s",
                                   mishap_told(reply->failure)->message.data);
            break;
        }
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

/* The task of a client that cannot answer would wait for its question to end. So the call runs as
 * one, and its failure says what to send. */
static bool can_be_asked(const mishap_mcp_asked *asked)
{
    const mishap_question *question = asked->offer->operation->asks;
    for (; question && question->name; question++)
        if (!mishap_mcp_can_answer(asked, question))
            return false;
    return true;
}

bool mishap_mcp_task_begin(mishap_mcp_flight *flight, const mishap_mcp_message *message)
{
    const mishap_mcp_server *server = flight->server;
    const mishap_mcp_offer *offer = flight->asked.offer;
    if (!mishap_mcp_has_tasks(server) || offer->sort != MISHAP_MCP_TOOL ||
        !offer->operation->task || !mishap_mcp_is_modern(flight->asked.revision) ||
        !mishap_mcp_tasks_declared(message) || !can_be_asked(&flight->asked))
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

mishap *mishap_mcp_task_permit(mishap_mcp_request *request, const mishap_mcp_offer *offer)
{
    if (!offer->operation->task_only || !mishap_mcp_has_tasks(request->peer->server) ||
        mishap_mcp_tasks_declared(request->message))
        return NULL;
    if (mishap_mcp_is_modern(request->message->revision))
        return mishap_mcp_lacks_tasks(request);
    request->code = INVALID_REQUEST;
    return mishap_suggest(mishap_raise(BAD_REQUEST,
                                       "%s is always a task, which revision "
                                       "2026-07-28 has.",
                                       offer->operation->name),
                          "Use a client that has the extension " EXTENSION ".");
}

/* NULL: *flight waits for the reply to a question about the task of the request. */
static mishap *make_flight(mishap_mcp_request *request, mishap_mcp_flight **out)
{
    yyjson_val none = { .tag = YYJSON_TYPE_OBJ }, *params = request->message->params;
    if (!mishap_mcp_has_tasks(request->peer->server)) {
        request->code = -32601;
        return mishap_raise(METHOD_NOT_FOUND, "This server has no tasks.");
    }
    if (!mishap_mcp_tasks_declared(request->message))
        return mishap_mcp_lacks_tasks(request);
    if (!yyjson_is_str(yyjson_obj_get(params, "taskId"))) {
        request->code = INVALID_PARAMS;
        mishap *failure = mishap_params_check(task_params, params ? params : &none);
        return failure ? failure : mishap_raise(VALIDATION_ERROR, "`taskId` is not a string.");
    }
    mishap_mcp_flight *flight = mishap_mcp_flight_make_empty(request);
    if (!flight)
        return mishap_retry_after(mishap_raise(UNAVAILABLE, "The server is busy."), 1000);
    flight->asked.capabilities = mishap_mcp_capabilities(request);
    flight->wait.answered = on_answered;
    flight->waits = true;
    request->later = true;
    *out = flight;
    return NULL;
}

static void end_unless(mishap_mcp_flight *flight, bool sent)
{
    if (!sent)
        answer_question(flight, &(mishap_task_reply){ .kind = MISHAP_TASK_LOST });
}

static mishap *ask(mishap_mcp_request *request, mishap_task_wish wish)
{
    mishap_mcp_flight *flight = NULL;
    MISHAP_TRY(make_flight(request, &flight));
    mishap_task_asker asker = mishap_mcp_task_asker(request->peer);
    mishap_text id = mishap_json_text(yyjson_obj_get(request->message->params, "taskId"));
    flight->wish = wish;
    end_unless(flight,
               mishap_task_client_ask(*flight->server->tasks, &flight->wait, wish, &asker, id));
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

static mishap *give(mishap_mcp_request *request, mishap_text answers)
{
    mishap_mcp_flight *flight = NULL;
    MISHAP_TRY(make_flight(request, &flight));
    mishap_task_asker asker = mishap_mcp_task_asker(request->peer);
    mishap_text id = mishap_json_text(yyjson_obj_get(request->message->params, "taskId"));
    mishap_task_given given = { .form = MISHAP_ANSWERS_OF_CLIENT,
                                .scopes = request->peer->scopes,
                                .answers = answers };
    flight->gives = true;
    end_unless(flight,
               mishap_task_client_give(*flight->server->tasks, &flight->wait, &asker, id, &given));
    return NULL;
}

/* The answers that are wrong are asked for again, under other keys. */
mishap *mishap_mcp_tasks_update(mishap_mcp_request *request, mishap_buffer *result)
{
    yyjson_val *responses = yyjson_obj_get(request->message->params, "inputResponses");
    mishap_buffer answers = { 0 };
    mishap *failure = NULL;
    (void)result;
    if (responses && !yyjson_is_obj(responses)) {
        request->code = INVALID_PARAMS;
        return mishap_raise(VALIDATION_ERROR, "`inputResponses` is not an object.");
    }
    if (responses)
        mishap_json_copy(&answers, responses);
    else
        MISHAP_PUT(&answers, "{}");
    failure = answers.failed ? mishap_out_of_memory() : give(request, mishap_buffer_text(&answers));
    mishap_buffer_release(&answers);
    return failure;
}
