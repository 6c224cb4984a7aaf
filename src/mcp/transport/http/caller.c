/*
 * Checks of requests to /mcp: host, origin and media types. A malicious web page must not reach a
 * local server through the browser of its visitor.
 */
#include "base/media.h"
#include "mcp/transport/http/over_http.h"
#include "server/origin.h"

/* A wrong name in Host is not the fault of a page, but of the configuration. */
mishap *mishap_mcp_check_caller(const mishap_http_settings *settings,
                                const mishap_http_request *request)
{
    mishap *failure = NULL;
    if (!mishap_http_knows_host(settings, request->fields[MISHAP_HTTP_HOST]))
        failure = mishap_suggest(
            mishap_raise(FORBIDDEN,
                         "The Host header of the request is not a host name of this server."),
            "Start the server with that host name in --public-url, or with --require-key.");
    else if (!mishap_http_knows_origin(settings, request->fields[MISHAP_HTTP_ORIGIN]))
        failure = mishap_suggest(
            mishap_raise(FORBIDDEN,
                         "Web pages of this origin are not allowed to call this server."),
            "Start the server with the origin of the page in --cors.");
    return failure;
}

bool mishap_mcp_refuse_caller(mishap_mcp_post *post, const mishap_http_request *request)
{
    mishap *failure = mishap_mcp_check_caller(mishap_http_settings_of(post->front->http), request);
    if (failure)
        mishap_mcp_post_refuse(post, MISHAP_MCP_NO_ID, MISHAP_MCP_INVALID_REQUEST, 403, failure);
    return failure;
}

/* -- media types ------------------------------------------------------------------------------- */

static bool accepts_json(const mishap_http_request *request)
{
    return mishap_http_accepts(request->fields[MISHAP_HTTP_ACCEPT],
                               (mishap_text)MISHAP_TEXT("application/json"));
}

bool mishap_mcp_accepts_stream(const mishap_http_request *request)
{
    return mishap_http_accepts(request->fields[MISHAP_HTTP_ACCEPT],
                               (mishap_text)MISHAP_TEXT("text/event-stream"));
}

static bool is_json(mishap_text type)
{
    mishap_http_media media;
    return mishap_http_media_read(type, &media) &&
           mishap_http_same_letters(media.kind, (mishap_text)MISHAP_TEXT("application")) &&
           mishap_http_same_letters(media.name, (mishap_text)MISHAP_TEXT("json"));
}

mishap *mishap_mcp_check_form(const mishap_http_request *request)
{
    if (!is_json(request->fields[MISHAP_HTTP_CONTENT_TYPE]))
        return mishap_raise(UNSUPPORTED_MEDIA_TYPE,
                            "The Content-Type of a message must be application/json.");
    if (accepts_json(request) || mishap_mcp_accepts_stream(request))
        return NULL;
    return mishap_suggest(
        mishap_raise(NOT_ACCEPTABLE,
                     "The Accept header must list application/json and text/event-stream."),
        "Send `Accept: application/json, text/event-stream`.");
}
