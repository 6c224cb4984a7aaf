/* The record of a failure of a tool, a resource or a prompt. */
#include "incident/incident.h"
#include "mcp/calls/flight.h"

static void put_more(const void *context, mishap_incident_more *more)
{
    const mishap_mcp_failed *failed = context;
    mishap_buffer given = { 0 };
    static const char *const methods[] = { [MISHAP_MCP_TOOL] = "tools/call",
                                           [MISHAP_MCP_RESOURCE] = "resources/read",
                                           [MISHAP_MCP_PROMPT] = "prompts/get" };
    mishap_buffer_put_text(&more->request, mishap_text_of(methods[failed->asked->offer->sort]));
    /* What was written are the members of the result. */
    MISHAP_PUT(&more->response, "{");
    mishap_buffer_put_text(&more->response, failed->response);
    MISHAP_PUT(&more->response, "}");
    if (failed->call) {
        mishap_call_put_arguments(failed->call, &more->arguments);
        mishap_call_put_words(failed->call, &more->lines);
    } else if (failed->arguments) {
        mishap_json_copy(&given, failed->arguments);
        mishap_operation_put_arguments(failed->asked->offer->operation, mishap_buffer_text(&given),
                                       &more->arguments);
        mishap_buffer_release(&given);
    }
}

void mishap_mcp_record(const mishap_mcp_failed *failed)
{
    const mishap_operation *operation = failed->asked->offer->operation;
    mishap_incident_record(&(mishap_incident_entry){
        .program = failed->app->name,
        .version = failed->app->version,
        .id = failed->incident,
        .failure = failed->failure,
        .removed = failed->removed,
        .operation = operation->name,
        .service = operation->service ? operation->service->name : NULL,
        .caller = failed->caller,
        .response_type = "application/json",
        .traceparent = failed->asked->traceparent,
        .started_ns = failed->asked->started_ns,
        .status = mishap_mcp_status_of(failed->asked, failed->failure),
        .boundary = MISHAP_INCIDENT_MCP,
        .secrets = failed->secrets,
        .more = put_more,
        .context = failed,
        .brief = operation->operator_only,
        .to_stderr = failed->verbose,
    });
}
