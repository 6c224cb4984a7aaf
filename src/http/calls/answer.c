/*
 * Convert a request to a call of its operation, and the result of the call to a response. The loop
 * does everything up to the parameter checks, so a refused request never waits for a handler. The
 * handler runs in a worker, unless it is declared to be quick.
 */
#include <stdio.h>

#include "base/media.h"
#include "http/calls/api.h"
#include "http/calls/fit.h"
#include "http/calls/tasks.h"
#include "http/calls/uploads.h"
#include "http/wire/wire.h"
#include "dialect/dialect.h"
#include "incident/incident.h"
#include "operation/caller.h"
#include "operation/sealed.h"
#include "operation/hide.h"
#include "operation/media.h"
#include "server/ending.h"

/* -- what came of a call ----------------------------------------------------------------------- */

/* Write warnings, JSON strings with commas between, each as a value of its own. A character that a
 * header field cannot have becomes a question mark. */
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

/* A handler may put text of a caller into it: a line break would begin a new header field. */
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

/* If a browser guessed another type, it could run as a page what was meant to be shown. */
void mishap_api_put_bytes_fields(mishap_http_reply *reply)
{
    mishap_http_reply_field(reply, "X-Content-Type-Options", (mishap_text)MISHAP_TEXT("nosniff"));
}

/* The reply may outlive the call. */
static const char *keep_type(mishap_http_reply *reply, const char *type)
{
    mishap_buffer_put_text(&reply->type, mishap_text_of(type));
    mishap_buffer_put_char(&reply->type, '\0');
    return reply->type.failed ? mishap_media_bytes : reply->type.data;
}

/* If the client did not ask for the pieces of a stream, the answer is all of them together. */
static const char *media_type_of(mishap_http_reply *reply, const mishap_call *call,
                                 mishap_answer_kind kind)
{
    switch (kind) {
    case MISHAP_ANSWER_BYTES:
    case MISHAP_ANSWER_STREAM:
        return keep_type(reply, mishap_media_clean(call->answer_type));
    case MISHAP_ANSWER_DOCUMENT:
        return "text/plain; charset=utf-8";
    default:
        return "application/json";
    }
}

/* True if the client has asked for text, and not for JSON. */
static bool wants_text(const mishap_http_request *request)
{
    mishap_text accept = request->fields[MISHAP_HTTP_ACCEPT];
    return accept.data && mishap_http_accepts(accept, (mishap_text)MISHAP_TEXT("text/plain")) &&
           !mishap_http_accepts(accept, (mishap_text)MISHAP_TEXT("application/json"));
}

static const char plain_text[] = "text/plain; charset=utf-8";

/* The answer as the text that its handler wrote for readers. */
static void put_text(mishap_http_reply *reply, mishap_call *call)
{
    mishap_buffer_release(&reply->body);
    reply->body = call->text; /* the reply owns it now */
    call->text = (mishap_buffer){ 0 };
    reply->content = mishap_buffer_text(&reply->body);
    reply->media_type = plain_text;
}

const char mishap_api_session_field[] = "Mishap-Session";

static void put_session(mishap_http_reply *reply, const mishap_call *call)
{
    if (call->session_is)
        mishap_http_reply_field(reply, mishap_api_session_field, mishap_text_of(call->session_is));
    if (call->session_ends_s)
        mishap_http_reply_ends(reply, call->session_ends_s);
}

static void put_position(mishap_http_reply *reply, const mishap_http_settings *settings,
                         const mishap_http_request *request, const mishap_call *call)
{
    int place = mishap_http_field_find(settings->fields,
                                       mishap_text_of(mishap_http_position_field));
    if (place >= 0)
        mishap_http_put_position(reply, call, request->fields[place]);
}

/* A failure if the request asks for a part of the answer that does not exist. */
static mishap *put_success(mishap_http_reply *reply, const mishap_http_request *request,
                           mishap_call *call)
{
    mishap_answer_kind kind;
    mishap_call_answer(call, &kind);
    reply->status = mishap_call_status(call);
    reply->vary_accept = call->text.length != 0;
    if (call->text.length && wants_text(request)) {
        put_text(reply, call);
    } else if (kind != MISHAP_ANSWER_NOTHING) {
        reply->media_type = media_type_of(reply, call, kind);
        if (kind == MISHAP_ANSWER_BYTES || kind == MISHAP_ANSWER_STREAM)
            mishap_api_put_bytes_fields(reply);
        mishap_buffer_release(&reply->body);
        reply->body = call->answer; /* the reply owns it now */
        call->answer = (mishap_buffer){ 0 };
        reply->content = mishap_buffer_text(&reply->body);
    }
    if (call->location)
        put_location(reply, call->location);
    put_session(reply, call);
    put_warnings(reply, mishap_call_warnings(call));
    mishap_buffer_put_text(&reply->fields, mishap_buffer_text(&call->fields));
    return mishap_api_fit(reply, request, call, kind);
}

/* A failure contains what its handler told; every dialect writes that as JSON. */
static mishap *refuse_call(const mishap_http_settings *settings, const mishap_http_request *request,
                           const mishap_call *call, const mishap_secrets *secrets, mishap **failure,
                           mishap_http_reply *reply)
{
    mishap_api_refuse(reply, settings, request, *failure);
    if (reply->body.failed)
        return NULL; /* then a constant answer is sent */
    mishap *removed = mishap_hide_json(&reply->body, secrets, &(mishap_sent){ .call = call });
    if (reply->body.failed) {
        mishap_free(*failure);
        *failure = mishap_out_of_memory();
        mishap_buffer_reset(&reply->fields); /* these belong to the successful reply */
        mishap_api_refuse(reply, settings, request, *failure);
    } else {
        reply->content = mishap_buffer_text(&reply->body);
    }
    return removed;
}

/* A service whose failures are reports sends the report itself to a client that reads text. */
static bool tell_report(const mishap_http_request *request, const mishap_call *call,
                        const mishap_secrets *secrets, mishap *failure, mishap_http_reply *reply)
{
    const mishap_service *service = call->operation->service;
    mishap_buffer hidden = { 0 };
    if (!service || !service->dialect || !wants_text(request) ||
        mishap_dialect_find(service->dialect) != &mishap_condition_report)
        return false;
    mishap_buffer_reset(&reply->body);
    mishap_hide_report_leaks(failure, &(mishap_sent){ .call = call });
    mishap_text text = mishap_render(&mishap_condition_report, failure, &reply->body);
    if (mishap_secrets_stand_in(secrets, text)) {
        mishap_secrets_put_hidden(&hidden, secrets, text);
        mishap_buffer_release(&reply->body);
        reply->body = hidden;
        text = hidden.failed ? mishap_condition_report.last_words : mishap_buffer_text(&hidden);
    }
    reply->content = text;
    reply->media_type = plain_text;
    return true;
}

/* The failure of a call, without the values that the call knows to be secret. */
static void conclude_failure(const mishap_http_settings *settings,
                             const mishap_http_request *request, mishap_call *call, mishap *failure,
                             bool replayed, mishap_http_reply *reply)
{
    const mishap_secrets *secrets = mishap_call_secrets(call);
    if (mishap_asking_is(call, failure))
        mishap_sealed_tell(settings->served->seal, call, failure,
                           "Send the request again with `_state` and the answers in `_answers`: "
                           "{\"QUESTION\":{…}}, or {\"QUESTION\":null} to decline.");
    mishap_hide_failure(failure, call->operation->params, secrets);
    mishap *removed = refuse_call(settings, request, call, secrets, &failure, reply);
    tell_report(request, call, secrets, failure, reply);
    put_session(reply, call);
    /* A client that cancelled its call need not be told. */
    bool cancelled = mishap_cancelled(call) && mishap_told(failure)->code == MISHAP_CODE_CANCELLED;
    if (!replayed && (!cancelled || removed))
        mishap_api_record(&(mishap_api_failed){ .settings = settings,
                                                .request = request,
                                                .reply = reply,
                                                .failure = failure,
                                                .removed = removed,
                                                .call = call,
                                                .secrets = secrets });
    mishap_free(removed);
    mishap_free(failure);
}

static void conclude(const mishap_http_settings *settings, const mishap_http_request *request,
                     mishap_call *call, mishap *failure, bool replayed, mishap_http_reply *reply)
{
    if (!failure) {
        mishap_call_clean_document(call);
        if (call->answer.failed)
            failure = mishap_out_of_memory();
    }
    if (!failure)
        failure = put_success(reply, request, call);
    if (failure)
        conclude_failure(settings, request, call, failure, replayed, reply);
    if (call->log_position)
        put_position(reply, settings, request, call);
}

void mishap_api_conclude(const mishap_http_settings *settings, const mishap_http_request *request,
                         mishap_call *call, mishap *failure, mishap_http_reply *reply)
{
    conclude(settings, request, call, failure, false, reply);
}

void mishap_api_replay(const mishap_http_settings *settings, const mishap_http_request *request,
                       mishap_call *call, mishap *failure, mishap_http_reply *reply)
{
    conclude(settings, request, call, failure, true, reply);
}

/* -- before the call --------------------------------------------------------------------------- */

void mishap_api_call_come_from(mishap_call *call, const mishap_api *api,
                               const mishap_http_request *request)
{
    mishap_text named = api->caller_field < 0 ? (mishap_text){ NULL, 0 }
                                              : request->fields[api->caller_field];
    call->boundary = MISHAP_BY_HTTP;
    mishap_call_set_caller(call, request->caller, named, request->caller_is_free, request->scopes);
    call->owner = mishap_http_owner_of(request);
    call->request_id = (mishap_text){ request->id, MISHAP_ID_LENGTH };
    call->remote = request->remote;
    call->traceparent = request->fields[MISHAP_HTTP_TRACEPARENT];
    call->if_match = request->fields[MISHAP_HTTP_IF_MATCH];
    call->if_none_match = request->fields[MISHAP_HTTP_IF_NONE_MATCH];
    call->to_operator = mishap_incident_line;
    if (api->position_field >= 0 && call->operation->stale)
        call->log_after = mishap_http_position_of(request->fields[api->position_field],
                                                  call->operation->service);
}

struct asked {
    const mishap_http_fields *fields;
    const mishap_http_request *request;
};

static mishap_text find_header(const void *state, mishap_text name)
{
    const struct asked *asked = state;
    int place = mishap_http_field_find(asked->fields, name);
    return place < 0 ? (mishap_text){ NULL, 0 } : asked->request->fields[place];
}

mishap *mishap_api_keep_headers(mishap_call *call, const mishap_http_settings *settings,
                                const mishap_http_request *request)
{
    return mishap_call_keep_headers(call, find_header,
                                    &(struct asked){ settings->fields, request });
}

/* Runs on the loop: no other request is served meanwhile. */
static void call_quickly(mishap_http_server *server, const mishap_api *api,
                         const mishap_http_request *request, mishap_call *call,
                         mishap_http_reply *reply)
{
    mishap_api_call_come_from(call, api, request);
    mishap *failure = mishap_call_run(call);
    if (call->crashed)
        mishap_http_count(server, MISHAP_HTTP_CRASHES, 1);
    mishap_api_conclude(mishap_http_settings_of(server), request, call, failure, reply);
    mishap_call_end(call);
}

/* The call is handed over after the memory of the request was reused, so the body is copied. */
static mishap *keep_body(mishap_call *call, const mishap_http_request *request)
{
    mishap_text type = request->fields[MISHAP_HTTP_CONTENT_TYPE];
    call->body = mishap_arena_copy(&call->arena, request->body);
    call->body_type = mishap_arena_copy(&call->arena, type).data;
    return call->body.data && call->body_type ? NULL : mishap_out_of_memory();
}

/* The session that a header field names. */
static mishap *keep_session(mishap_call *call, const mishap_http_request *request,
                            const mishap_api *api)
{
    mishap_text named = api->session_field < 0 ? (mishap_text){ NULL, 0 }
                                               : request->fields[api->session_field];
    if (!named.data)
        return NULL;
    call->session = mishap_arena_copy(&call->arena, named);
    return call->session.data ? NULL : mishap_out_of_memory();
}

/* The state and the answers stand beside the arguments, whose names have no such beginning. */
static mishap *take_answers(mishap_call *call, const mishap_http_request *request,
                            const mishap_api *api, const mishap_served *served)
{
    yyjson_val *body = call->reader.root;
    mishap_api_call_come_from(call, api, request); /* the state belongs to the caller */
    return mishap_sealed_begin(served->seal, call, yyjson_obj_get(body, "_state"),
                               yyjson_obj_get(body, "_answers"), MISHAP_ANSWERS_PLAIN);
}

static mishap *call_operation(mishap_http_server *server, const mishap_http_request *request,
                              const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap_call *call;
    mishap_buffer object = { 0 };
    mishap_text arguments;
    const mishap_operation *operation = match->endpoint->subject;
    const mishap_served *served = mishap_http_settings_of(server)->served;
    mishap *m = mishap_http_arguments(operation, match, request, &object, &arguments);
    if (!m)
        m = mishap_call_begin(served->app, operation, arguments, &call);
    mishap_buffer_release(&object);
    if (m)
        return m;
    if (mishap_http_has_bytes(operation, request))
        m = keep_body(call, request);
    if (!m && operation->headers)
        m = mishap_api_keep_headers(call, mishap_http_settings_of(server), request);
    if (!m && operation->service && operation->service->worker)
        m = keep_session(call, request, match->state);
    if (!m && operation->asks)
        m = take_answers(call, request, match->state, served);
    if (m) {
        mishap_call_end(call);
        return m;
    }
    mishap_call_limit(call, served->call_ms);
    call->verbose = served->verbose;
    if (operation->quick) {
        call_quickly(server, match->state, request, call, reply);
        return NULL;
    }
    if (operation->task && !call->claim.expires_ms && mishap_api_task_begin(match->state, request, call))
        return NULL;
    m = mishap_api_call_begin(match->state, request, call);
    if (m)
        mishap_call_end(call);
    return m;
}

bool mishap_api_screen(mishap_http_server *server, const mishap_http_request *request,
                       const mishap_http_match *match, mishap_http_reply *reply)
{
    const mishap_http_settings *settings = mishap_http_settings_of(server);
    mishap *m = mishap_http_has_form(request)
                    ? mishap_http_check_form(match->endpoint->subject, request)
                    : NULL;
    if (!m)
        return false;
    mishap_api_refuse_and_record(reply, settings, request, m);
    mishap_free(m);
    return true;
}

void mishap_api_answer(mishap_http_server *server, const mishap_http_request *request,
                       const mishap_http_match *match, mishap_http_reply *reply)
{
    const mishap_http_settings *settings = mishap_http_settings_of(server);
    mishap *m = request->passing ? mishap_api_upload_begin(server, request, match)
                                 : call_operation(server, request, match, reply);
    if (!m)
        return;
    mishap_api_refuse(reply, settings, request, m);
    mishap_api_record(&(mishap_api_failed){
        .settings = settings, .request = request, .reply = reply, .failure = m, .match = match });
    mishap_free(m);
}
