/*
 * Cross-origin requests, as the Fetch standard has them. A page of another origin may read a reply
 * only if the reply says so.
 *
 * Nothing of a request is ever repeated: what is sent back is the operator's own spelling of an
 * origin that it allows. There are no cookies here, so credentials are not allowed for anybody; a
 * page that has a key sends it as a header of its own.
 */
#include "boundary/http/http.h"

#define ALLOW_ORIGIN "Access-Control-Allow-Origin"
#define VARY         "Vary"

/* Bytes that an origin is made of: visible ASCII without what lists and quotes need. */
static bool is_origin(mishap_text origin)
{
    for (size_t i = 0; i < origin.length; i++) {
        unsigned char c = (unsigned char)origin.data[i];
        if (c <= ' ' || c >= 127 || c == ',' || c == '"' || c == '*')
            return false;
    }
    return origin.length > 0;
}

static mishap_text trim(mishap_text text)
{
    while (text.length && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.length--;
    }
    while (text.length && (text.data[text.length - 1] == ' ' || text.data[text.length - 1] == '\t'))
        text.length--;
    return text;
}

/* The entry of the list that is this origin, byte for byte; no data if none is. */
static mishap_text find_origin(const char *allowed, mishap_text origin)
{
    for (const char *at = allowed; origin.data && *at;) {
        mishap_text entry = { at, strcspn(at, ",") };
        at += entry.length + (at[entry.length] == ',');
        entry = trim(entry);
        if (mishap_text_equal(entry, origin) && is_origin(entry))
            return entry;
    }
    return (mishap_text){ NULL, 0 };
}

static bool is_any(const char *allowed)
{
    return mishap_text_equal(trim(mishap_text_of(allowed)), (mishap_text)MISHAP_TEXT("*"));
}

/* True if the origin of the request may read the reply. A reply that differs by origin says so to
 * caches, also to one that had no origin: it could be kept and given to a page. */
static bool put_origin(mishap_http_reply *reply, const char *allowed,
                       const mishap_http_request *request)
{
    mishap_text origin = request->fields[MISHAP_HTTP_ORIGIN];
    if (is_any(allowed)) {
        mishap_http_reply_field(reply, ALLOW_ORIGIN, (mishap_text)MISHAP_TEXT("*"));
        return true;
    }
    mishap_text entry = find_origin(allowed, origin);
    if (entry.data)
        mishap_http_reply_field(reply, ALLOW_ORIGIN, entry);
    mishap_http_reply_field(reply, VARY, (mishap_text)MISHAP_TEXT("Origin"));
    return entry.data != NULL;
}

/* Two fields Access-Control-Allow-Origin are none: browsers refuse them. */
static bool is_done(const mishap_http_reply *reply)
{
    static const char any[] = ALLOW_ORIGIN ": ", some[] = VARY ": Origin\r\n";
    const mishap_buffer *fields = &reply->fields;
    return fields->length && (memmem(fields->data, fields->length, any, sizeof any - 1) ||
                              memmem(fields->data, fields->length, some, sizeof some - 1));
}

void mishap_http_cors(mishap_http_reply *reply, const char *allowed,
                      const mishap_http_request *request)
{
    if (!allowed || is_done(reply))
        return;
    if (put_origin(reply, allowed, request))
        mishap_http_reply_field(
            reply, "Access-Control-Expose-Headers",
            (mishap_text)MISHAP_TEXT("X-Request-Id, Location, Retry-After, Allow, Mcp-Session-Id"));
}

void mishap_http_cors_preflight(mishap_http_reply *reply, const char *allowed,
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
    if (allowed && preflight && !is_done(reply) && put_origin(reply, allowed, request)) {
        mishap_http_reply_field(reply, "Access-Control-Allow-Methods", list);
        mishap_http_reply_field(
            reply, "Access-Control-Allow-Headers",
            (mishap_text)MISHAP_TEXT("Content-Type, Authorization, X-Api-Key, Mcp-Session-Id, "
                                     "MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID"));
        mishap_http_reply_field(reply, "Access-Control-Max-Age", (mishap_text)MISHAP_TEXT("600"));
    }
    mishap_http_cors(reply, allowed, request);
    mishap_buffer_release(&names);
}
