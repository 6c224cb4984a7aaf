/*
 * Answer a request: find the endpoint, identify the caller, check the rate, and call the endpoint.
 * All checks that need only the head are made before the body is read.
 */
#include "base/media.h"
#include "server/origin.h"
#include "server/state.h"

/* -- requests that are kept for a later answer ------------------------------------------------- */

/* Copy the text of a request that is needed after the input buffer is reused. */
static char *copy_text(mishap_text *text, char *to)
{
    if (!text->data)
        return to;
    memcpy(to, text->data, text->length);
    text->data = to;
    return to + text->length;
}

/* A part of the target must point into its copy. Other text is a constant. */
static mishap_text within(mishap_text part, mishap_text target, mishap_text kept)
{
    if (!part.data || part.data < target.data || part.data > target.data + target.length)
        return part;
    return (mishap_text){ kept.data + (part.data - target.data), part.length };
}

size_t mishap_http_request_size(const mishap_http_request *request)
{
    size_t size = request->target.length + request->remote.length;
    for (size_t i = 0; i < MISHAP_HTTP_MOST_FIELDS; i++)
        size += request->fields[i].length;
    return size + (request->caller ? strlen(request->caller) + 1 : 0);
}

void mishap_http_request_keep(mishap_http_request *kept, const mishap_http_request *request,
                              char *text)
{
    char *to = text;
    *kept = *request;
    kept->body = (mishap_text){ NULL, 0 };
    if (request->caller) {
        size_t size = strlen(request->caller) + 1;
        memcpy(to, request->caller, size);
        kept->caller = to;
        to += size;
    }
    to = copy_text(&kept->target, to);
    kept->path = within(request->path, request->target, kept->target);
    kept->query = within(request->query, request->target, kept->target);
    to = copy_text(&kept->remote, to);
    for (size_t i = 0; i < MISHAP_HTTP_MOST_FIELDS; i++)
        to = copy_text(&kept->fields[i], to);
}

void mishap_http_request_caller(const mishap_http_request *request, char *caller, size_t size)
{
    mishap_text who = request->caller ? mishap_text_of(request->caller) : request->remote;
    size_t length = who.length < size ? who.length : size - 1;
    if (length)
        memcpy(caller, who.data, length);
    caller[length] = '\0';
}

/* -- refusals ---------------------------------------------------------------------------------- */

void mishap_http_refuse(mishap_http_reply *reply, const mishap_http_settings *settings,
                        const mishap_http_request *request, mishap *failure)
{
    settings->refuse(reply, settings, request, failure);
}

mishap *mishap_http_busy(void)
{
    return mishap_retry_after(
        mishap_raise(UNAVAILABLE, "The server is busy: too many requests are in progress."), 1000);
}

mishap *mishap_http_too_large(size_t limit)
{
    mishap *m = mishap_raise(CONTENT_TOO_LARGE, "The request body can have at most %zu bytes.",
                             limit);
    return mishap_tell(m, "limit_bytes", (uint64_t)limit);
}

void mishap_http_refuse_at(mishap_http_server *server, const mishap_http_request *request,
                           const mishap_http_match *match, mishap_http_reply *reply,
                           mishap *failure)
{
    if (match && match->endpoint && match->endpoint->refuse) {
        match->endpoint->refuse(server, request, match, reply, failure);
        return;
    }
    mishap_http_refuse(reply, server->settings, request, failure);
    mishap_free(failure);
}

static mishap *nothing_there(const char *guide)
{
    return guide ? mishap_raise(NOT_FOUND, "No endpoint has this path; %s lists all endpoints.",
                                guide)
                 : mishap_raise(NOT_FOUND, "No endpoint has this path.");
}

static mishap *no_such_path(const mishap_http_settings *settings, const mishap_http_match *match,
                            mishap_http_reply *reply)
{
    char room[128];
    mishap_buffer methods;
    if (!match->allowed)
        return nothing_there(settings->guide);
    mishap_buffer_init(&methods, room, sizeof room);
    mishap_http_put_methods(&methods, match->allowed);
    mishap_http_reply_field(reply, "Allow", mishap_buffer_text(&methods));
    mishap *m = mishap_raise(METHOD_NOT_ALLOWED, "The endpoint allows only these methods: %.*s.",
                             (int)methods.length, methods.data);
    mishap_buffer_release(&methods);
    return m;
}

/* A caller with no key or a wrong key is counted by its address; otherwise an attacker could try
 * keys without a limit. */
static mishap *admit(mishap_http_server *server, mishap_http_request *request, bool open,
                     bool counted)
{
    mishap *refused = NULL, *limited = NULL;
    if (server->settings->admit)
        refused = server->settings->admit(server, request, open);
    if (server->rates && !counted && (refused || !open))
        limited = mishap_http_rates_check(server->rates, request, mishap_clock_monotonic_ns());
    if (!limited)
        return refused;
    mishap_free(refused);
    return limited;
}

/* RFC 8615 paths such as /.well-known/oauth-protected-resource/mcp and
 * /mcp/.well-known/openid-configuration. Clients look there for a way to get a key, and take 404
 * for "there is none"; some of them give up on a 401. So these paths need no key: the client may
 * even send one that was removed. */
static bool is_well_known(mishap_text path)
{
    static const char part[] = "/.well-known/";
    return memmem(path.data, path.length, part, sizeof part - 1) != NULL;
}

/* -- heads ------------------------------------------------------------------------------------- */

/* True: a fallback has this path, for a request like this one. It is *match now. */
static bool fall_back(const mishap_http_server *server, const mishap_http_request *request,
                      mishap_http_match *match)
{
    mishap_http_match other;
    if (!mishap_http_route_fall_back(server->routes, request->method, request->path, &other) ||
        (other.endpoint->html &&
         !mishap_http_prefers(request->fields[MISHAP_HTTP_ACCEPT],
                              (mishap_text)MISHAP_TEXT("text/html"),
                              (mishap_text)MISHAP_TEXT("application/json"))))
        return false;
    *match = other;
    return true;
}

bool mishap_http_find(mishap_http_server *server, mishap_http_request *request,
                      mishap_http_match *match)
{
    bool found = mishap_http_route_find(server->routes, request->method, request->path, match);
    if (found ? match->endpoint->yields : !match->allowed)
        found = fall_back(server, request, match) || found;
    if (found)
        match->state = server->states[match->extension];
    else
        match->endpoint = NULL;
    request->endpoint = match->endpoint;
    request->for_operator = match->for_operator;
    request->for_all = match->for_all;
    return found;
}

size_t mishap_http_body_limit(const mishap_http_server *server, mishap_http_request *request,
                              const mishap_http_match *match)
{
    const mishap_http_endpoint *endpoint = match->endpoint;
    size_t passed = endpoint && endpoint->passes ? endpoint->passes(server, request, match) : 0;
    request->passing = passed != 0;
    if (passed)
        return passed;
    return endpoint && endpoint->body_limit ? endpoint->body_limit(server->settings)
                                            : server->settings->body_limit;
}

/* True: the body is too large, as far as its length is known, or there is no room for it. The reply
 * says so. */
static bool refuse_body(mishap_http_server *server, mishap_http_request *request,
                        const mishap_http_match *match, mishap_http_reply *reply)
{
    size_t limit = mishap_http_body_limit(server, request, match);
    uint64_t length = request->announced > 0 ? (uint64_t)request->announced : 0;
    mishap *m = NULL;
    if (length > limit)
        m = mishap_http_too_large(limit);
    else if (!request->passing && !mishap_http_bodies_fit(server, (size_t)length))
        m = mishap_http_bodies_full();
    if (m)
        mishap_http_refuse_at(server, request, match, reply, m);
    return m;
}

bool mishap_http_enter(mishap_http_server *server, mishap_http_request *request, bool again,
                       mishap_http_match *match, mishap_http_reply *reply)
{
    bool found = mishap_http_find(server, request, match);
    bool options = request->method == MISHAP_HTTP_OPTIONS;
    bool everything = options && request->path.length == 1 && request->path.data[0] == '*';
    if (everything)
        match->allowed = ~0U;
    if (options && match->allowed) {
        mishap_http_cors_preflight(reply, server->settings, request, match->allowed);
        return false;
    }
    bool nowhere = !found && !match->allowed && is_well_known(request->path);
    bool for_all = found && match->endpoint->for_all;
    mishap *m = nowhere || for_all ? NULL
                                   : admit(server, request, found && match->endpoint->open, again);
    if (!m && !found)
        m = no_such_path(server->settings, match, reply);
    else if (!m && !match->endpoint->any_host)
        m = mishap_http_check_origin(server->settings, request);
    if (m) {
        mishap_http_refuse(reply, server->settings, request, m);
        mishap_free(m);
        return false;
    }
    if (request->announced && !again && refuse_body(server, request, match, reply))
        return false;
    return !match->endpoint->screen || !match->endpoint->screen(server, request, match, reply);
}

/* -- answers ----------------------------------------------------------------------------------- */

/* An endpoint answers in the reply, or defers. If it defers, the reply is ignored. */
bool mishap_http_answer(mishap_http_server *server, struct mishap_http_exchange *exchange,
                        const mishap_http_request *request, const mishap_http_match *match,
                        mishap_http_reply *reply)
{
    server->at_hand.exchange = exchange;
    server->at_hand.route = (int64_t)match->route;
    server->at_hand.deferred = false;
    match->endpoint->answer(server, request, match, reply);
    server->at_hand.exchange = NULL;
    if (server->at_hand.deferred) {
        reply->status = 0;
    } else if (!reply->status) {
        mishap *m = mishap_raise(INTERNAL_ERROR, "The endpoint %s sent no response.",
                                 match->endpoint->name);
        mishap_http_refuse(reply, server->settings, request, m);
        mishap_free(m);
    }
    return reply->status != 0;
}
