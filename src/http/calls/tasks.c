/*
 * Calls that may become tasks, and requests about tasks. Each is a deferred request that waits for
 * a reply of the process of tasks.
 */
#include "http/calls/tasks.h"

#include <stdio.h>
#include <strings.h>

#include "base/trim.h"
#include "base/memory.h"
#include "http/calls/calls.h"
#include "http/wire/wire.h"
#include "worker/wire/frame.h"

enum { LONGEST_WAIT_S = 24 * 3600 };

typedef struct task_request {
    mishap_task_wait wait; /* the first member */
    mishap_api *api;
    mishap_http_later *later;
    mishap_call *call; /* the call that may become a task; NULL: it is about one */
    bool preferred;    /* its caller has asked for that */
    mishap_task_wish wish;
} task_request;

/* -- Prefer (RFC 7240) ------------------------------------------------------------------------- */

/* The next part before `end`, or the rest. What is in quotes is one word. False: there is none. */
static bool next_part(mishap_text *rest, char end, mishap_text *part)
{
    size_t length = 0;
    bool quoted = false;
    if (!rest->data)
        return false;
    for (; length < rest->length && (quoted || rest->data[length] != end); length++) {
        if (rest->data[length] == '"')
            quoted = !quoted;
        else if (quoted && rest->data[length] == '\\' && length + 1 < rest->length)
            length++;
    }
    *part = mishap_trim((mishap_text){ rest->data, length }, " \t");
    *rest = length < rest->length
                ? (mishap_text){ rest->data + length + 1, rest->length - length - 1 }
                : (mishap_text){ NULL, 0 };
    return true;
}

static bool is_named(mishap_text text, const char *name)
{
    return text.length == strlen(name) && strncasecmp(text.data, name, text.length) == 0;
}

static int read_wait(mishap_text value)
{
    int seconds = 0;
    if (value.length >= 2 && value.data[0] == '"' && value.data[value.length - 1] == '"')
        value = (mishap_text){ value.data + 1, value.length - 2 };
    for (size_t i = 0; i < value.length; i++) {
        if (value.data[i] < '0' || value.data[i] > '9')
            return -1;
        if (seconds < LONGEST_WAIT_S)
            seconds = 10 * seconds + value.data[i] - '0';
    }
    if (!value.length)
        return -1;
    return (seconds < LONGEST_WAIT_S ? seconds : LONGEST_WAIT_S) * 1000;
}

/* The first of two that say different things counts. */
bool mishap_http_prefer_read(mishap_text value, int *wait_ms)
{
    mishap_text rest = value, one, words, name, said;
    bool async = false;
    *wait_ms = -1;
    while (next_part(&rest, ',', &one)) {
        next_part(&one, ';', &words);
        next_part(&words, '=', &name);
        said = words.data ? mishap_trim(words, " \t") : (mishap_text){ NULL, 0 };
        async = async || (is_named(name, "respond-async") && !said.data);
        if (is_named(name, "wait") && said.data && *wait_ms < 0)
            *wait_ms = read_wait(said);
    }
    return async;
}

/* -- replies ----------------------------------------------------------------------------------- */

static const mishap_http_settings *settings_of(const task_request *q)
{
    return mishap_http_settings_of(q->api->server);
}

static void release(task_request *q)
{
    mishap_call_end(q->call);
    mishap_release(q);
}

static void answer(task_request *q, mishap_http_reply *reply)
{
    mishap_http_later *later = q->later;
    later->closed = NULL;
    mishap_http_later_answer(later, reply);
    mishap_http_reply_release(reply);
    release(q);
}

static void fail(task_request *q, mishap *failure)
{
    mishap_http_reply reply = { 0 };
    mishap_http_refuse(&reply, settings_of(q), &q->later->request, failure);
    mishap_free(failure);
    answer(q, &reply);
}

static void put_time(mishap_buffer *b, const char *key, int64_t ms)
{
    mishap_json_key(b, mishap_text_of(key));
    mishap_buffer_put_char(b, '"');
    mishap_clock_put_timestamp(b, ms);
    mishap_buffer_put_char(b, '"');
}

static void put_number(mishap_buffer *b, double number)
{
    mishap_value value = mishap_value_of_real(number);
    mishap_json_value(b, &value);
}

static void put_progress(mishap_buffer *b, const mishap_task_told *told)
{
    MISHAP_JSON_KEY(b, "progress");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "done");
    put_number(b, told->done);
    if (told->total > 0) {
        MISHAP_JSON_KEY(b, "total");
        put_number(b, told->total);
    }
    if (told->words.length) {
        MISHAP_JSON_KEY(b, "message");
        mishap_json_string(b, told->words);
    }
    mishap_json_close(b, '}');
}

/* As the details of a 428 have them. */
static void put_questions(mishap_buffer *b, const mishap_task_told *told,
                          const mishap_operation *operation)
{
    mishap_task_questions open;
    if (!told->questions.length || !operation ||
        !mishap_task_questions_take(told->questions, operation, &open))
        return;
    MISHAP_JSON_KEY(b, "questions");
    mishap_json_open(b, '{');
    for (size_t i = 0; i < open.count; i++)
        mishap_asking_put_question(b, &open.list[i].asked);
    mishap_json_close(b, '}');
}

static void put_status(mishap_buffer *b, const mishap_task_told *told,
                       const mishap_operation *operation)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "id");
    mishap_json_string(b, told->id);
    MISHAP_JSON_KEY(b, "operation");
    mishap_json_string(b, told->operation);
    MISHAP_JSON_KEY(b, "state");
    mishap_json_string(b, mishap_text_of(mishap_task_state_words[told->state]));
    put_time(b, "created", told->made_ms);
    put_time(b, "updated", told->changed_ms);
    if (mishap_task_has_ended(told->state)) {
        put_time(b, "expires", told->changed_ms + told->keep_ms);
        MISHAP_JSON_KEY(b, "answer");
        mishap_buffer_put_text(b, mishap_text_of("\"/tasks/"));
        mishap_buffer_put_text(b, told->id);
        mishap_buffer_put_text(b, mishap_text_of("/answer\""));
    } else if (told->cancel) {
        MISHAP_JSON_KEY(b, "cancelling");
        mishap_json_bool(b, true);
    }
    if (told->has_progress && !mishap_task_has_ended(told->state))
        put_progress(b, told);
    if (told->state == MISHAP_TASK_ASKING) {
        put_time(b, "expires", told->changed_ms + told->keep_ms);
        put_questions(b, told, operation);
    }
    mishap_json_close(b, '}');
}

static const mishap_operation *operation_of(const mishap_api *api, mishap_text name)
{
    return mishap_task_operation(api->served->app, name);
}

/* The caller may have had more scopes when it made the call. */
static mishap *check_scopes(const mishap_api *api, const mishap_http_request *request,
                            const mishap_operation *operation)
{
    const mishap_app *app = api->served->app;
    if (!operation)
        return mishap_raise(NOT_FOUND, "The operation of this task does not exist any more.");
    return mishap_scopes_permit(app, request->scopes, mishap_operation_scopes(app, operation),
                                "caller");
}

void mishap_api_task_put(mishap_buffer *b, const mishap_api *api,
                         const mishap_http_request *request, const mishap_task_told *told)
{
    mishap_task_told shown = *told;
    const mishap_operation *operation = operation_of(api, told->operation);
    mishap *lacks = check_scopes(api, request, operation);
    shown.has_progress = told->has_progress && !lacks;
    if (lacks)
        shown.questions.length = 0;
    mishap_free(lacks);
    put_status(b, &shown, operation);
}

static void put_retry(mishap_http_reply *reply)
{
    char seconds[16];
    int length = snprintf(seconds, sizeof seconds, "%d", MISHAP_TASK_POLL_MS / 1000);
    mishap_http_reply_field(reply, "Retry-After", (mishap_text){ seconds, (size_t)length });
}

static void answer_status(task_request *q, int status, const mishap_task_told *told)
{
    mishap_http_reply reply = { .status = status, .media_type = "application/json" };
    char location[16 + MISHAP_TASK_ID];
    int length = snprintf(location, sizeof location, "/tasks/%.*s", (int)told->id.length,
                          told->id.data);
    mishap_api_task_put(&reply.body, q->api, &q->later->request, told);
    if (reply.body.failed) {
        mishap_http_reply_release(&reply);
        fail(q, mishap_out_of_memory());
        return;
    }
    if (q->call)
        mishap_http_reply_field(&reply, "Location", (mishap_text){ location, (size_t)length });
    if (q->preferred)
        mishap_http_reply_field(&reply, "Preference-Applied",
                                (mishap_text)MISHAP_TEXT("respond-async"));
    if (!mishap_task_has_ended(told->state) && told->state != MISHAP_TASK_ASKING)
        put_retry(&reply);
    mishap_http_reply_field(&reply, "Cache-Control", (mishap_text)MISHAP_TEXT("no-store"));
    reply.content = mishap_buffer_text(&reply.body);
    answer(q, &reply);
}

/* The outcome as its first caller would have got it, with the id of that request. */
static void answer_outcome(task_request *q, const mishap_task_told *told)
{
    const mishap_operation *operation = operation_of(q->api, told->operation);
    mishap_http_request request = q->later->request;
    mishap_http_reply reply = { 0 };
    mishap *outcome = NULL;
    mishap *failure = check_scopes(q->api, &request, operation);
    if (!failure)
        failure = mishap_task_remake(q->api->served->app, operation, told->call, told->outcome,
                                     &q->call, &outcome);
    if (failure) {
        q->call = NULL;
        fail(q, failure);
        return;
    }
    mishap_api_call_come_from(q->call, q->api, &request);
    snprintf(request.id, sizeof request.id, "%.*s", (int)told->incident.length,
             told->incident.data);
    mishap_api_replay(settings_of(q), &request, q->call, outcome, &reply);
    answer(q, &reply);
}

static void answer_told(task_request *q, const mishap_task_told *told)
{
    if (q->call)
        answer_status(q, 202, told);
    else if (q->wish != MISHAP_TASK_ANSWER)
        answer_status(q, q->wish == MISHAP_TASK_DROP ? 202 : 200, told);
    else if (told->state == MISHAP_TASK_ASKING)
        fail(q, mishap_suggest(mishap_raise(CONFLICT, "The task asks, and has not ended yet."),
                               "Send the answers to its questions: POST /tasks/ID/answers."));
    else if (!mishap_task_has_ended(told->state))
        fail(q, mishap_suggest(
                    mishap_retry_after(mishap_raise(CONFLICT, "The task has not ended yet."),
                                       MISHAP_TASK_POLL_MS),
                    "Ask for the task until its state is asking, succeeded, failed or "
                    "cancelled."));
    else
        answer_outcome(q, told);
}

/* The call ended before it became a task. */
static void answer_done(task_request *q, mishap_text outcome)
{
    mishap *failure = NULL;
    mishap_http_reply reply = { 0 };
    if (!mishap_frame_take_outcome(outcome, q->call, &failure))
        failure = mishap_raise(INTERNAL_ERROR, "The process of tasks sent what it must not.");
    mishap_api_conclude(settings_of(q), &q->later->request, q->call, failure, &reply);
    answer(q, &reply);
}

/* There are no tasks now: the caller waits, as for any other operation. */
static void run_here(task_request *q)
{
    mishap_api_call *made;
    mishap_http_later *later = q->later;
    mishap_call *call = q->call;
    later->closed = NULL;
    q->call = NULL;
    mishap *failure = mishap_api_call_begin_upload(q->api, later, call, NULL, &made);
    if (failure)
        fail(q, failure);
    else
        release(q);
}

mishap *mishap_api_task_refused(const mishap_task_reply *reply)
{
    if (reply->kind == MISHAP_TASK_NONE)
        return mishap_raise(NOT_FOUND, "There is no such task.");
    return mishap_retry_after(mishap_raise(UNAVAILABLE, "Tasks cannot be read just now."),
                              MISHAP_TASK_POLL_MS);
}

/* A question can be asked again; whether a call that was lost has run is not known. */
static mishap *refused(const task_request *q, const mishap_task_reply *reply)
{
    return q->call && reply->kind != MISHAP_TASK_NONE
               ? mishap_raise(INTERNAL_ERROR, "The process of tasks was lost.")
               : mishap_api_task_refused(reply);
}

static void on_answered(mishap_task_wait *wait, const mishap_task_reply *from)
{
    task_request *q = (task_request *)(void *)wait;
    mishap_http_reply reply = { 0 };
    switch (from->kind) {
    case MISHAP_TASK_DONE:
        answer_done(q, from->outcome);
        return;
    case MISHAP_TASK_TOLD:
        answer_told(q, &from->told);
        return;
    case MISHAP_TASK_REMOVED:
        reply.status = 204;
        answer(q, &reply);
        return;
    case MISHAP_TASK_REFUSED:
        mishap_http_refuse(&reply, settings_of(q), &q->later->request, from->failure);
        answer(q, &reply);
        return;
    case MISHAP_TASK_DECLINED:
        if (q->call) {
            run_here(q);
            return;
        }
        break;
    default:
        break;
    }
    fail(q, refused(q, from));
}

/* -- requests ---------------------------------------------------------------------------------- */

static void on_closed(mishap_http_later *later)
{
    task_request *q = later->owner;
    mishap_task_client_leave(q->api->tasks, &q->wait);
    release(q);
}

/* A deferred request that waits for the process of tasks; NULL: there is no memory. */
static task_request *defer(mishap_api *api, const mishap_http_request *request)
{
    task_request *q = mishap_allocate(sizeof *q);
    mishap_http_later *later = q ? mishap_http_defer(api->server, request) : NULL;
    if (!later) {
        mishap_release(q);
        return NULL;
    }
    *q = (task_request){ .wait = { .answered = on_answered }, .api = api, .later = later };
    later->owner = q;
    later->closed = on_closed;
    later->half_close = true;
    return q;
}

mishap_task_asker mishap_api_task_asker(const mishap_http_request *request)
{
    return (mishap_task_asker){ mishap_http_owner_of(request), request->caller, request->remote };
}

bool mishap_api_task_begin(mishap_api *api, const mishap_http_request *request, mishap_call *call)
{
    int wait_ms;
    if (!api->tasks)
        return false;
    bool prefers = mishap_http_prefer_read(request->fields[api->prefer_field], &wait_ms);
    task_request *q = prefers || call->operation->task_only ? defer(api, request) : NULL;
    if (!q)
        return false;
    q->call = call;
    q->preferred = prefers;
    mishap_api_call_come_from(call, api, &q->later->request);
    call->request_id = mishap_arena_copy(&call->arena, call->request_id);
    call->holder = mishap_http_caller_of(api->server, &q->later->request);
    mishap_task_asker asker = mishap_api_task_asker(&q->later->request);
    if (!mishap_task_client_start(api->tasks, &q->wait, call, &asker, wait_ms))
        run_here(q);
    return true;
}

static void ask(mishap_http_server *server, const mishap_http_request *request,
                const mishap_http_match *match, mishap_task_wish wish, mishap_http_reply *reply)
{
    mishap_api *api = match->state;
    task_request *q = api->tasks ? defer(api, request) : NULL;
    if (!q) {
        mishap *m = api->tasks ? mishap_out_of_memory()
                               : mishap_raise(NOT_FOUND, "There is no such task.");
        mishap_http_refuse(reply, mishap_http_settings_of(server), request, m);
        mishap_free(m);
        return;
    }
    q->wish = wish;
    mishap_task_asker asker = mishap_api_task_asker(&q->later->request);
    if (!mishap_task_client_ask(api->tasks, &q->wait, wish, &asker, match->params[0].raw))
        fail(q, refused(q, &(mishap_task_reply){ .kind = MISHAP_TASK_DECLINED }));
}

void mishap_api_task_show(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap_api *api = match->state;
    if (!api->tasks || !mishap_api_task_stream(api, request, match->params[0].raw))
        ask(server, request, match, MISHAP_TASK_SHOW, reply);
}

void mishap_api_task_answer(mishap_http_server *server, const mishap_http_request *request,
                            const mishap_http_match *match, mishap_http_reply *reply)
{
    ask(server, request, match, MISHAP_TASK_ANSWER, reply);
}

void mishap_api_task_drop(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply)
{
    ask(server, request, match, MISHAP_TASK_DROP, reply);
}

/* -- answers to what a task asks ----------------------------------------------------------------
 */

static const mishap_param give_params[] = {
    { "id", MISHAP_STRING, .required = true },
    { "answers", MISHAP_OBJECT, .required = true },
    { 0 },
};
static const mishap_operation give_operation = { .name = "tasks.reply", .params = give_params };

/* The answers of a request, as JSON. */
static mishap *read_answers(const mishap_api *api, const mishap_http_request *request,
                            const mishap_http_match *match, mishap_buffer *answers)
{
    mishap_buffer object = { 0 };
    mishap_text arguments;
    mishap_call *call = NULL;
    mishap *failure = mishap_http_arguments(&give_operation, match, request, &object, &arguments);
    if (!failure)
        failure = mishap_call_begin_closed(api->served->app, &give_operation, arguments, &call);
    mishap_buffer_release(&object);
    if (!failure)
        mishap_json_copy(answers, call->values[1]);
    mishap_call_end(call);
    return failure ? failure : answers->failed ? mishap_out_of_memory() : NULL;
}

void mishap_api_task_give(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap_api *api = match->state;
    mishap_buffer answers = { 0 };
    mishap *failure = read_answers(api, request, match, &answers);
    task_request *q = !failure && api->tasks ? defer(api, request) : NULL;
    if (!q) {
        mishap *m = failure      ? failure
                    : api->tasks ? mishap_out_of_memory()
                                 : mishap_raise(NOT_FOUND, "There is no such task.");
        mishap_http_refuse(reply, mishap_http_settings_of(server), request, m);
        mishap_free(m);
        mishap_buffer_release(&answers);
        return;
    }
    mishap_task_asker asker = mishap_api_task_asker(&q->later->request);
    mishap_task_given given = { .form = MISHAP_ANSWERS_PLAIN,
                                .scopes = q->later->request.scopes,
                                .answers = mishap_buffer_text(&answers) };
    if (!mishap_task_client_give(api->tasks, &q->wait, &asker, match->params[0].raw, &given))
        fail(q, refused(q, &(mishap_task_reply){ .kind = MISHAP_TASK_DECLINED }));
    mishap_buffer_release(&answers);
}
