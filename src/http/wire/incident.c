/* The record of a failure over HTTP. What takes time is only made for a whole record. */
#include "http/wire/wire.h"
#include "incident/incident.h"
#include "mishap/json.h"
#include "operation/call.h"

/* The name of a session is enough to use it. */
static bool names_session(mishap_text lower)
{
    return mishap_text_equal(lower, (mishap_text)MISHAP_TEXT("mcp-session-id")) ||
           mishap_text_equal(lower, (mishap_text)MISHAP_TEXT("mishap-session"));
}

/* The fields that the server keeps, with names in lower case. */
static void put_headers(mishap_buffer *json, const mishap_api_failed *failed)
{
    mishap_json_open(json, '{');
    for (size_t i = 0; i < MISHAP_HTTP_MOST_FIELDS; i++) {
        mishap_text value = failed->request->fields[i];
        mishap_text name = mishap_http_field_name(failed->settings->fields, i);
        char lower[64];
        if (!value.data || !name.length || name.length >= sizeof lower)
            continue;
        for (size_t at = 0; at < name.length; at++)
            lower[at] = (char)(name.data[at] >= 'A' && name.data[at] <= 'Z' ? name.data[at] | 32
                                                                            : name.data[at]);
        mishap_json_key(json, (mishap_text){ lower, name.length });
        if (names_session((mishap_text){ lower, name.length }))
            value = (mishap_text)MISHAP_TEXT("[redacted]");
        mishap_json_put_value(json, (mishap_text){ NULL, 0 }, mishap_value_of_text(value));
    }
    mishap_json_close(json, '}');
}

/* Those of a call that did not begin are read once more. */
static void put_arguments(mishap_buffer *json, const mishap_api_failed *failed)
{
    const mishap_operation *operation = mishap_api_operation_of(failed->request);
    mishap_buffer object = { 0 };
    mishap_text arguments = { NULL, 0 };
    if (failed->call) {
        mishap_call_put_arguments(failed->call, json);
        return;
    }
    if (!operation || !failed->match)
        return;
    mishap_free(
        mishap_http_arguments(operation, failed->match, failed->request, &object, &arguments));
    mishap_operation_put_arguments(operation, arguments, json);
    mishap_buffer_release(&object);
}

static void put_more(const void *context, mishap_incident_more *more)
{
    const mishap_api_failed *failed = context;
    const mishap_http_request *request = failed->request;
    put_headers(&more->headers, failed);
    put_arguments(&more->arguments, failed);
    if (failed->call)
        mishap_call_put_words(failed->call, &more->lines);
    if (!request->path.length)
        return;
    mishap_buffer_put_text(&more->request, mishap_http_method_names[request->method]);
    mishap_buffer_put_char(&more->request, ' ');
    mishap_buffer_put_text(&more->request, request->path);
}

void mishap_api_record(const mishap_api_failed *failed)
{
    char caller[64];
    const mishap_http_request *request = failed->request;
    const mishap_served *served = failed->settings->served;
    const mishap_operation *operation = failed->call ? failed->call->operation
                                                     : mishap_api_operation_of(request);
    mishap_http_request_caller(request, caller, sizeof caller);
    mishap_incident_record(&(mishap_incident_entry){
        .program = served->app->name,
        .version = served->app->version,
        .id = request->id,
        .failure = failed->failure,
        .removed = failed->removed,
        .operation = operation ? operation->name : NULL,
        .service = operation && operation->service ? operation->service->name : NULL,
        .caller = caller,
        .response = failed->reply->content,
        .response_type = failed->reply->media_type,
        .traceparent = request->fields[MISHAP_HTTP_TRACEPARENT],
        .started_ns = request->started_ns,
        .status = failed->reply->status,
        .boundary = MISHAP_INCIDENT_HTTP,
        .secrets = failed->secrets,
        .more = put_more,
        .context = failed,
        .brief = operation && operation->operator_only,
        .to_stderr = served->verbose,
    });
}

void mishap_api_refuse_and_record(mishap_http_reply *reply, const mishap_http_settings *settings,
                                  const mishap_http_request *request, mishap *failure)
{
    mishap_api_refuse(reply, settings, request, failure);
    mishap_api_record(&(mishap_api_failed){
        .settings = settings, .request = request, .reply = reply, .failure = failure });
}
