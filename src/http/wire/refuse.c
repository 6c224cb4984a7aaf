/* A mishap as a reply, in the dialect that the request asks for. */
#include <stdio.h>

#include "http/wire/wire.h"
#include "dialect/dialect.h"
#include "dialect/negotiate.h"
#include "incident/incident.h"
#include "server/origin.h"

/* Add a link to the explanation of the code, in dialects that have a place for it. */
static void link_reference(mishap *failure, const mishap_http_settings *settings,
                           const mishap_http_request *request)
{
    char address[512];
    int length = 0;
    const mishap_public *told = mishap_told(failure);
    mishap_text host = request->fields[MISHAP_HTTP_HOST];
    if (mishap_public_docs_url(told).length)
        return;
    if (settings->public_url)
        length = snprintf(address, sizeof address, "%s/errors/%s", settings->public_url,
                          told->code->name.data);
    else if (mishap_http_links_to_host(settings, request))
        length = snprintf(address, sizeof address, "http://%.*s/errors/%s", (int)host.length,
                          host.data, told->code->name.data);
    if (length > 0 && (size_t)length < sizeof address)
        mishap_docs(failure, address);
}

/* The same as a link relative to the address of the request. The mishap itself has no relative
 * link, since it may be read elsewhere, but these formats have one. Empty: none. */
static mishap_text relative_link(const mishap_dialect *dialect, const mishap_public *told,
                                 char *room, size_t size)
{
    bool fits = dialect == &mishap_problem || dialect == &mishap_json_api;
    int length = 0;
    if (fits && !mishap_public_docs_url(told).length)
        length = snprintf(room, size, "/errors/%s", told->code->name.data);
    return (mishap_text){ room, length > 0 && (size_t)length < size ? (size_t)length : 0 };
}

static mishap_text spell(const mishap_dialect *dialect, const mishap_public *told,
                         mishap_buffer *body)
{
    char room[256];
    mishap_text link = relative_link(dialect, told, room, sizeof room);
    if (link.length) {
        mishap_public linked = *told;
        linked.docs_url = link;
        dialect->render(&linked, body);
    } else {
        mishap_dialect_answer(dialect, told, body);
    }
    return body->failed ? dialect->last_words : mishap_buffer_text(body);
}

static void put_retry_after(mishap_http_reply *reply, int64_t milliseconds)
{
    char seconds[24];
    int length = snprintf(seconds, sizeof seconds, "%lld",
                          (long long)((milliseconds + 999) / 1000));
    mishap_http_reply_field(reply, "Retry-After", (mishap_text){ seconds, (size_t)length });
}

/* A page, which is a fallback, has a subject of another kind. */
const mishap_operation *mishap_api_operation_of(const mishap_http_request *request)
{
    const mishap_http_endpoint *endpoint = request->endpoint;
    return endpoint && !endpoint->fallback ? endpoint->subject : NULL;
}

void mishap_api_refuse(mishap_http_reply *reply, const mishap_http_settings *settings,
                       const mishap_http_request *request, mishap *failure)
{
    const mishap_dialect *dialect = mishap_dialect_negotiate(
        request->fields[MISHAP_HTTP_ACCEPT],
        mishap_http_dialect_of(settings->served->app, request->path));
    const mishap_public *told = mishap_told(failure);
    mishap_service_amend(mishap_api_operation_of(request), failure);
    /* Add the id under which it is recorded. An artifact has `details` only if there is something
     * to say: its format has no other place for the id, which is also in the head of the response.
     * The result of a tool is the same as agents get. */
    bool brief = dialect == &mishap_artifact || dialect == &mishap_tool_result;
    if (brief ? mishap_incident_is_one(failure)
              : dialect != &mishap_http_api || told->category != MISHAP_VALIDATION)
        mishap_incident(failure, request->id);
    if (request->fields[MISHAP_HTTP_ACCEPT].length && !brief)
        link_reference(failure, settings, request);
    mishap_buffer_reset(&reply->body);
    reply->code = told->code;
    reply->status = told->code->http_status;
    reply->media_type = mishap_dialect_media_type(dialect);
    reply->vary_accept = true;
    reply->content = spell(dialect, told, &reply->body);
    if (told->retry_after_ms >= 0)
        put_retry_after(reply, told->retry_after_ms);
    mishap_http_challenge(reply, settings, request, request->lacks);
}
