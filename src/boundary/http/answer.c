/*
 * A request into a reply: which operation, who calls, with what, and what came of it.
 *
 * Everything up to the checks of the parameters is done on the loop, so a request that is refused
 * never waits for a thread. The handler runs on a thread, unless it is declared to be quick.
 */
#include <stdio.h>

#include "base/memory.h"
#include "boundary/http/server.h"
#include "incident/incident.h"
#include "operation/hide.h"

/* -- requests that are kept -------------------------------------------------------------------- */

/* The text of a request that is needed after its bytes are gone. */
static char *copy_text(mishap_text *text, char *to)
{
    if (!text->data)
        return to;
    memcpy(to, text->data, text->length);
    text->data = to;
    return to + text->length;
}

/* A part of the target stays one. Else it is a constant. */
static mishap_text within(mishap_text part, mishap_text target, mishap_text kept)
{
    if (!part.data || part.data < target.data || part.data > target.data + target.length)
        return part;
    return (mishap_text){ kept.data + (part.data - target.data), part.length };
}

size_t mishap_http_request_size(const mishap_http_request *request)
{
    size_t size = request->target.length + request->remote.length;
    for (size_t i = 0; i < MISHAP_HTTP_FIELDS; i++)
        size += request->fields[i].length;
    return size + (request->caller ? strlen(request->caller) + 1 : 0);
}

void mishap_http_request_keep(mishap_http_request *kept, const mishap_http_request *request,
                              char *text)
{
    char *to = text;
    *kept = *request;
    kept->body = (mishap_text){ NULL, 0 };
    if (request->caller) {
        size_t size = strlen(request->caller) + 1;
        memcpy(to, request->caller, size);
        kept->caller = to;
        to += size;
    }
    to = copy_text(&kept->target, to);
    kept->path = within(request->path, request->target, kept->target);
    kept->query = within(request->query, request->target, kept->target);
    to = copy_text(&kept->remote, to);
    for (size_t i = 0; i < MISHAP_HTTP_FIELDS; i++)
        to = copy_text(&kept->fields[i], to);
}

/* -- jobs -------------------------------------------------------------------------------------- */

static void run_job(mishap_job *job)
{
    mishap_http_job_run((mishap_http_job *)(void *)job); /* it is the first member */
}

static mishap_http_job *make_job(mishap_http_server *server, const mishap_http_request *request,
                                 mishap_call *call, int64_t route)
{
    mishap_http_job *job = mishap_allocate(sizeof *job + mishap_http_request_size(request));
    if (!job)
        return NULL;
    *job = (mishap_http_job){ .job = { .run = run_job, .call = call },
                              .server = server,
                              .route = route };
    mishap_http_request_keep(&job->request, request, job->text);
    call->caller = job->request.caller;
    return job;
}

void mishap_http_job_free(mishap_http_job *job)
{
    mishap_call_end(job->job.call);
    mishap_http_reply_release(&job->reply);
    mishap_release(job);
}

/* -- what came of a call ----------------------------------------------------------------------- */

void mishap_http_record(const mishap_http_settings *settings, const mishap_http_request *request,
                        const mishap_call *call, const mishap_secrets *secrets,
                        const mishap *failure)
{
    if (!mishap_incident_is_one(failure))
        return;
    mishap_incident_record(&(mishap_incident_entry){
        .program = settings->app->name,
        .operation = call->operation->name,
        .id = request->id,
        .failure = failure,
        .secrets = secrets,
        .to_stderr = settings->verbose,
    });
}

/* Warnings are JSON strings with commas between; each becomes a value of its own. What has no place
 * in a field is shown as a question mark. */
static void put_warnings(mishap_http_reply *reply, mishap_text warnings)
{
    mishap_buffer *b = &reply->fields;
    bool inside = false;
    if (!warnings.length)
        return;
    MISHAP_PUT(b, "Warning: ");
    for (size_t i = 0; i < warnings.length; i++) {
        char c = warnings.data[i];
        if (c == '"') {
            inside = !inside;
            if (inside)
                MISHAP_PUT(b, "299 - ");
        }
        mishap_buffer_put_char(b, c >= ' ' && c <= '~' ? c : '?');
        if (inside && c == '\\' && i + 1 < warnings.length)
            mishap_buffer_put_char(b, warnings.data[++i]);
        if (!inside && c == ',')
            mishap_buffer_put_char(b, ' ');
    }
    MISHAP_PUT(b, "\r\n");
}

/* What a handler puts into it may come from a caller: a line break would be a field of its own. */
static void put_location(mishap_http_reply *reply, const char *location)
{
    static const char hex[] = "0123456789ABCDEF";
    mishap_buffer *b = &reply->fields;
    MISHAP_PUT(b, "Location: ");
    for (const char *at = location; *at; at++) {
        unsigned char c = (unsigned char)*at;
        char escape[3] = { '%', hex[c >> 4], hex[c & 15] };
        if (c > ' ' && c < 127)
            mishap_buffer_put_char(b, *at);
        else
            mishap_buffer_put(b, escape, sizeof escape);
    }
    MISHAP_PUT(b, "\r\n");
}

static void put_success(mishap_http_reply *reply, mishap_call *call)
{
    mishap_answer_kind kind;
    mishap_call_answer(call, &kind);
    reply->status = mishap_call_status(call);
    if (kind != MISHAP_ANSWER_NOTHING) {
        reply->media_type = kind == MISHAP_ANSWER_DOCUMENT ? "text/plain; charset=utf-8"
                                                           : "application/json";
        mishap_buffer_release(&reply->body);
        reply->body = call->answer; /* it changes hands */
        call->answer = (mishap_buffer){ 0 };
        reply->content = mishap_buffer_text(&reply->body);
    }
    if (call->location)
        put_location(reply, call->location);
    put_warnings(reply, mishap_call_warnings(call));
}

/* Run the handler. If it worked, what it says is as it may leave; what was taken out of it comes
 * back, to be recorded. */
static mishap *run_call(mishap_call *call, const mishap_secrets *secrets, mishap **failure)
{
    *failure = mishap_call_run(call);
    if (*failure)
        return NULL;
    mishap *removed = mishap_hide_answer(call, secrets);
    if (call->answer.failed)
        *failure = mishap_out_of_memory();
    return removed;
}

/* A failure tells what its handler told, and every dialect spells it as JSON. */
static mishap *refuse_call(const mishap_http_settings *settings, mishap_http_request *request,
                           const mishap_secrets *secrets, mishap **failure,
                           mishap_http_reply *reply)
{
    mishap_http_refuse(reply, settings, request, *failure);
    if (reply->body.failed)
        return NULL; /* then it is answered with words that are constant */
    mishap *removed = mishap_hide_json(&reply->body, secrets);
    if (reply->body.failed) {
        mishap_free(*failure);
        *failure = mishap_out_of_memory();
        mishap_buffer_reset(&reply->fields); /* which are of the other one */
        mishap_http_refuse(reply, settings, request, *failure);
    } else {
        reply->content = mishap_buffer_text(&reply->body);
    }
    return removed;
}

/* Run the handler and make a reply of what it did: on the thread that runs it. */
static void conclude(const mishap_http_settings *settings, mishap_http_request *request,
                     mishap_call *call, mishap_http_reply *reply)
{
    mishap_secrets secrets = { 0 };
    mishap *failure;
    mishap_hide_learn(&secrets, call);
    call->caller = request->caller;
    mishap *removed = run_call(call, &secrets, &failure);
    if (failure)
        removed = mishap_because(refuse_call(settings, request, &secrets, &failure, reply),
                                 removed);
    else
        put_success(reply, call);
    if (failure)
        mishap_http_record(settings, request, call, &secrets, failure);
    if (removed)
        mishap_http_record(settings, request, call, &secrets, removed);
    mishap_free(removed);
    mishap_free(failure);
}

void mishap_http_job_run(mishap_http_job *job)
{
    conclude(job->server->settings, &job->request, job->job.call, &job->reply);
    job->crashed = job->job.call->crashed;
}

/* -- before the call --------------------------------------------------------------------------- */

static mishap *no_such_path(const mishap_http_match *match, mishap_http_reply *reply)
{
    char room[128];
    mishap_buffer methods;
    if (!match->allowed)
        return mishap_raise(NOT_FOUND,
                            "There is nothing at this address; /openapi.json says what there is.");
    mishap_buffer_init(&methods, room, sizeof room);
    mishap_http_put_methods(&methods, match->allowed);
    mishap_http_reply_field(reply, "Allow", mishap_buffer_text(&methods));
    mishap *m = mishap_raise(METHOD_NOT_ALLOWED, "This address takes %.*s.", (int)methods.length,
                             methods.data);
    mishap_buffer_release(&methods);
    return m;
}

/* Who has no key, or a wrong one, is counted by its address: else keys could be tried without end.
 */
static mishap *admit(mishap_http_server *server, mishap_http_request *request, bool open)
{
    mishap *refused = NULL, *limited = NULL;
    if (server->keys)
        refused = mishap_http_keys_check(server->keys, request,
                                         server->settings->key_required && !open);
    if (server->rates && (refused || !open))
        limited = mishap_http_rates_check(server->rates, request, mishap_clock_monotonic_ns());
    if (!limited)
        return refused;
    mishap_free(refused);
    return limited;
}

mishap *mishap_http_busy(void)
{
    return mishap_retry_after(mishap_raise(UNAVAILABLE, "The server is busy with other requests."),
                              1000);
}

/* A handler has as long as its operation says, or less if the server says so: from now on, however
 * long the request was on its way. */
static void set_deadline(mishap_call *call, int limit_ms)
{
    if (!limit_ms)
        return;
    int64_t limit_ns = mishap_clock_monotonic_ns() + (int64_t)limit_ms * 1000000;
    if (limit_ns < call->deadline_ns)
        call->deadline_ns = limit_ns;
}

static mishap *call_operation(mishap_http_server *server, mishap_http_request *request,
                              const mishap_http_match *match, mishap_http_reply *reply,
                              mishap_http_job **job)
{
    mishap_call *call;
    mishap_buffer object = { 0 };
    mishap_text arguments;
    const mishap_operation *operation = match->operation;
    mishap *m = mishap_http_check_origin(server->settings, request);
    if (!m)
        m = mishap_http_arguments(operation, match, request, &object, &arguments);
    if (!m)
        m = mishap_call_begin(server->settings->app, operation, arguments, &call);
    mishap_buffer_release(&object);
    if (m)
        return m;
    set_deadline(call, server->settings->call_ms);
    if (operation->quick) {
        conclude(server->settings, request, call, reply);
        server->crashed = server->crashed || call->crashed;
        if (call->crashed && server->metrics)
            mishap_http_metrics_add(server->metrics, MISHAP_HTTP_CRASHES, 1);
        mishap_call_end(call);
        return NULL;
    }
    if (server->waiting < server->most_waiting)
        *job = make_job(server, request, call, (int64_t)match->route);
    if (*job)
        return NULL;
    mishap_call_end(call);
    return server->waiting < server->most_waiting ? mishap_out_of_memory() : mishap_http_busy();
}

/* An endpoint answers in the reply, or defers; then whatever it has left in the reply is no answer.
 */
static mishap *ask_endpoint(mishap_http_server *server, struct mishap_http_exchange *exchange,
                            const mishap_http_request *request, const mishap_http_match *match,
                            mishap_http_reply *reply)
{
    mishap_text segment = { NULL, 0 };
    if (match->param_count)
        segment = match->params[0].raw;
    server->at_hand.exchange = exchange;
    server->at_hand.route = (int64_t)match->route;
    server->at_hand.deferred = false;
    match->endpoint->answer(server, request, segment, reply);
    server->at_hand.exchange = NULL;
    if (server->at_hand.deferred)
        reply->status = 0;
    else if (!reply->status)
        return mishap_raise(INTERNAL_ERROR, "The endpoint %s did not answer.",
                            match->endpoint->name);
    return NULL;
}

bool mishap_http_answer(mishap_http_server *server, struct mishap_http_exchange *exchange,
                        mishap_http_request *request, mishap_http_reply *reply, int64_t *route,
                        mishap_http_job **job)
{
    mishap_http_match match;
    mishap *m = NULL;
    *job = NULL;
    *route = MISHAP_HTTP_NO_ROUTE;
    bool found = mishap_http_route_find(server->routes, request->method, request->path, &match);
    bool options = request->method == MISHAP_HTTP_OPTIONS;
    bool everything = options && request->path.length == 1 && request->path.data[0] == '*';
    if (everything)
        match.allowed = ~0U;
    if (options && match.allowed) {
        mishap_http_cors_preflight(reply, server->settings->cors, request, match.allowed);
        return true;
    }
    if (found)
        *route = (int64_t)match.route;
    m = admit(server, request, found && match.endpoint && match.endpoint->open);
    if (!m && !found)
        m = no_such_path(&match, reply);
    else if (!m && match.endpoint)
        m = ask_endpoint(server, exchange, request, &match, reply);
    else if (!m)
        m = call_operation(server, request, &match, reply, job);
    if (m)
        mishap_http_refuse(reply, server->settings, request, m);
    mishap_free(m);
    return reply->status != 0;
}
