/*
 * WWW-Authenticate (RFC 6750, 3; RFC 9728, 5.1): where a client finds out how to get an access
 * token, and for which scopes. Without an issuer it says Bearer alone.
 */
#include "base/scope.h"
#include "http/wire/wire.h"

/* Those for want of which it was refused, else those of its endpoint. */
static unsigned scopes_of(const mishap_http_request *request, unsigned lacks)
{
    const mishap_http_endpoint *endpoint = request->endpoint;
    if (lacks)
        return lacks;
    return endpoint && endpoint->scope ? endpoint->scope : MISHAP_SCOPE_CALL;
}

static bool is_of_mcp(const mishap_http_request *request)
{
    return mishap_text_equal(request->path, (mishap_text)MISHAP_TEXT("/mcp"));
}

static bool has_credential(const mishap_http_request *request)
{
    return request->fields[MISHAP_HTTP_AUTHORIZATION].data != NULL;
}

/* The public URL is the operator's. Its pattern (serve.c) excludes what ends a quoted string. */
static void put_challenge(mishap_buffer *b, const mishap_http_settings *settings,
                          const mishap_http_request *request, unsigned scopes, const char *error)
{
    MISHAP_PUT(b, "Bearer resource_metadata=\"");
    mishap_buffer_put_text(b, mishap_text_of(settings->public_url));
    MISHAP_PUT(b, MISHAP_HTTP_RESOURCE);
    if (is_of_mcp(request))
        MISHAP_PUT(b, "/mcp");
    MISHAP_PUT(b, "\", scope=\"");
    mishap_scopes_put(b, settings->served->app->scopes, scopes, ' ');
    MISHAP_PUT(b, "\"");
    if (error) {
        MISHAP_PUT(b, ", error=\"");
        mishap_buffer_put_text(b, mishap_text_of(error));
        MISHAP_PUT(b, "\"");
    }
}

void mishap_http_challenge(mishap_http_reply *reply, const mishap_http_settings *settings,
                           const mishap_http_request *request, unsigned lacks)
{
    char room[600];
    mishap_buffer b;
    bool forbidden = reply->status == 403 && lacks;
    if (reply->status != 401 && !(forbidden && settings->issuers))
        return;
    mishap_buffer_init(&b, room, sizeof room);
    if (settings->issuers)
        put_challenge(&b, settings, request, scopes_of(request, lacks),
                      forbidden                 ? "insufficient_scope"
                      : has_credential(request) ? "invalid_token"
                                                : NULL);
    else
        MISHAP_PUT(&b, "Bearer");
    mishap_http_reply_field(reply, "WWW-Authenticate", mishap_buffer_text(&b));
    mishap_buffer_release(&b);
}
