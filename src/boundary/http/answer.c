/*
 * A request into a call of its operation, and what came of the call into a reply.
 *
 * Everything up to the checks of the parameters is done on the loop, so a request that is refused
 * never waits for a thread. The handler runs on a thread, unless it is declared to be quick.
 */
#include <stdio.h>

#include "boundary/http/http.h"
#include "incident/incident.h"
#include "operation/hide.h"

/* -- what came of a call ----------------------------------------------------------------------- */

void mishap_api_record(const mishap_served *served, const mishap_http_request *request,
                       const mishap_call *call, const mishap_secrets *secrets,
                       const mishap *failure)
{
    if (!mishap_incident_is_one(failure))
        return;
    mishap_incident_record(&(mishap_incident_entry){
        .program = served->app->name,
        .operation = call->operation->name,
        .id = request->id,
        .failure = failure,
        .secrets = secrets,
        .to_stderr = served->verbose,
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
static mishap *refuse_call(const mishap_http_settings *settings, const mishap_http_request *request,
                           const mishap_secrets *secrets, mishap **failure,
                           mishap_http_reply *reply)
{
    mishap_api_refuse(reply, settings, request, *failure);
    if (reply->body.failed)
        return NULL; /* then it is answered with words that are constant */
    mishap *removed = mishap_hide_json(&reply->body, secrets);
    if (reply->body.failed) {
        mishap_free(*failure);
        *failure = mishap_out_of_memory();
        mishap_buffer_reset(&reply->fields); /* which are of the other one */
        mishap_api_refuse(reply, settings, request, *failure);
    } else {
        reply->content = mishap_buffer_text(&reply->body);
    }
    return removed;
}

void mishap_api_conclude(const mishap_http_settings *settings, const mishap_http_request *request,
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
        mishap_api_record(settings->served, request, call, &secrets, failure);
    if (removed)
        mishap_api_record(settings->served, request, call, &secrets, removed);
    mishap_free(removed);
    mishap_free(failure);
}

/* -- before the call --------------------------------------------------------------------------- */

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

/* On the loop: nobody else is served meanwhile. */
static void call_quickly(mishap_http_server *server, const mishap_http_request *request,
                         mishap_call *call, mishap_http_reply *reply)
{
    mishap_api_conclude(mishap_http_settings_of(server), request, call, reply);
    if (call->crashed) {
        mishap_http_count(server, MISHAP_HTTP_CRASHES, 1);
        mishap_http_server_taint(server);
    }
    mishap_call_end(call);
}

static mishap *call_operation(mishap_http_server *server, const mishap_http_request *request,
                              const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap_call *call;
    mishap_buffer object = { 0 };
    mishap_text arguments;
    const mishap_operation *operation = match->endpoint->subject;
    const mishap_http_settings *settings = mishap_http_settings_of(server);
    const mishap_served *served = settings->served;
    mishap *m = mishap_http_check_origin(settings, request);
    if (!m)
        m = mishap_http_arguments(operation, match, request, &object, &arguments);
    if (!m)
        m = mishap_call_begin(served->app, operation, arguments, &call);
    mishap_buffer_release(&object);
    if (m)
        return m;
    set_deadline(call, served->call_ms);
    if (operation->quick) {
        call_quickly(server, request, call, reply);
        return NULL;
    }
    m = mishap_api_job_begin(match->state, request, call);
    if (m)
        mishap_call_end(call);
    return m;
}

void mishap_api_answer(mishap_http_server *server, const mishap_http_request *request,
                       const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap *m = call_operation(server, request, match, reply);
    if (m)
        mishap_api_refuse(reply, mishap_http_settings_of(server), request, m);
    mishap_free(m);
}
