/*
 * Cross-origin requests, as the Fetch standard has them. A page of another origin may read a reply
 * only if the reply says so.
 *
 * No part of a request is repeated in the response: the response has the origin as the operator
 * configured it. The server uses no cookies, so credentials are never allowed; a page that has a
 * key sends it in a header. Paths that need the scope `operator` are never for other origins.
 */
#include "server/origin.h"
#include "server/state.h"

#define ALLOW_ORIGIN "Access-Control-Allow-Origin"

/* True if the origin of the request may read the reply. A reply that depends on the origin tells
 * caches so, even if this request had no origin: a cache could keep the reply and give it to a
 * page. */
static bool put_origin(mishap_http_reply *reply, const char *allowed,
                       const mishap_http_request *request)
{
    mishap_text entry = mishap_http_listed_origin(allowed, request->fields[MISHAP_HTTP_ORIGIN]);
    if (entry.data)
        mishap_http_reply_field(reply, ALLOW_ORIGIN, entry);
    reply->vary_origin = !mishap_text_equal(entry, (mishap_text)MISHAP_TEXT("*"));
    return entry.data != NULL;
}

/* Browsers refuse a reply with two Access-Control-Allow-Origin fields. */
static bool is_done(const mishap_http_reply *reply)
{
    static const char line[] = "\r\n" ALLOW_ORIGIN ": ", *const field = line + 2;
    const size_t length = sizeof line - 3;
    const mishap_buffer *fields = &reply->fields; /* values of a program may have the same text */
    return reply->vary_origin ||
           (fields->length > length && memcmp(fields->data, field, length) == 0) ||
           (fields->length && memmem(fields->data, fields->length, line, sizeof line - 1));
}

void mishap_http_cors(mishap_http_reply *reply, const mishap_http_settings *settings,
                      const mishap_http_request *request)
{
    if (!settings->cors || request->for_operator || is_done(reply))
        return;
    if (put_origin(reply, settings->cors, request))
        mishap_http_reply_field(reply, "Access-Control-Expose-Headers",
                                mishap_buffer_text(&settings->fields->exposed));
}

/* Pages of all origins may read the reply: it is the same for everyone. */
static void open_to_all(mishap_http_reply *reply, const mishap_http_settings *settings,
                        mishap_text methods)
{
    mishap_http_reply_field(reply, ALLOW_ORIGIN, (mishap_text)MISHAP_TEXT("*"));
    mishap_http_reply_field(reply, "Access-Control-Allow-Methods", methods);
    mishap_http_reply_field(reply, "Access-Control-Allow-Headers",
                            mishap_buffer_text(&settings->fields->allowed));
    mishap_http_reply_field(reply, "Access-Control-Max-Age", (mishap_text)MISHAP_TEXT("600"));
}

void mishap_http_cors_preflight(mishap_http_reply *reply, const mishap_http_settings *settings,
                                const mishap_http_request *request, unsigned methods)
{
    char room[128];
    mishap_buffer names;
    mishap_buffer_init(&names, room, sizeof room);
    mishap_http_put_methods(&names, methods);
    mishap_text list = mishap_buffer_text(&names);
    reply->status = 204;
    reply->media_type = NULL;
    mishap_http_reply_field(reply, "Allow", list);
    bool preflight = request->fields[MISHAP_HTTP_ORIGIN].data &&
                     request->fields[MISHAP_HTTP_REQUEST_METHOD].data;
    if (request->for_all && preflight)
        open_to_all(reply, settings, list);
    else if (settings->cors && preflight && !request->for_operator && !is_done(reply) &&
             put_origin(reply, settings->cors, request)) {
        mishap_http_reply_field(reply, "Access-Control-Allow-Methods", list);
        mishap_http_reply_field(reply, "Access-Control-Allow-Headers",
                                mishap_buffer_text(&settings->fields->allowed));
        mishap_http_reply_field(reply, "Access-Control-Max-Age", (mishap_text)MISHAP_TEXT("600"));
    }
    mishap_http_cors(reply, settings, request);
    mishap_buffer_release(&names);
}
