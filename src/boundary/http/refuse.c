/* A mishap as a reply, in the dialect that the request asks for. */
#include <stdio.h>

#include "boundary/http/http.h"
#include "dialect/dialect.h"

/* Where the code is explained, for the dialects that have a place for it. */
static void link_reference(mishap *failure, const mishap_http_settings *settings)
{
    char address[512];
    const mishap_public *told = mishap_told(failure);
    if (mishap_public_docs_url(told).length || !settings->public_url)
        return;
    int length = snprintf(address, sizeof address, "%s/errors/%s", settings->public_url,
                          told->code->name.data);
    if (length > 0 && (size_t)length < sizeof address)
        mishap_docs(failure, address);
}

static void put_retry_after(mishap_http_reply *reply, int64_t milliseconds)
{
    char seconds[24];
    int length = snprintf(seconds, sizeof seconds, "%lld",
                          (long long)((milliseconds + 999) / 1000));
    mishap_http_reply_field(reply, "Retry-After", (mishap_text){ seconds, (size_t)length });
}

void mishap_api_refuse(mishap_http_reply *reply, const mishap_http_settings *settings,
                       const mishap_http_request *request, mishap *failure)
{
    const mishap_dialect *dialect = mishap_http_negotiate(request->fields[MISHAP_HTTP_ACCEPT]);
    const mishap_public *told = mishap_told(failure);
    if (dialect != &mishap_http_api || told->category != MISHAP_VALIDATION)
        mishap_incident(failure, request->id); /* where it is shown or recorded */
    if (request->fields[MISHAP_HTTP_ACCEPT].length)
        link_reference(failure, settings);
    mishap_buffer_reset(&reply->body);
    reply->code = told->code;
    reply->status = told->code->http_status;
    reply->media_type = mishap_dialect_media_type(dialect);
    reply->vary_accept = true;
    dialect->render(told, &reply->body);
    reply->content = reply->body.failed ? dialect->last_words : mishap_buffer_text(&reply->body);
    if (told->retry_after_ms >= 0)
        put_retry_after(reply, told->retry_after_ms);
    if (reply->status == 401)
        mishap_http_reply_field(reply, "WWW-Authenticate", (mishap_text)MISHAP_TEXT("Bearer"));
}
