/*
 * A request into a reply: where it leads, who calls, how often, and then the endpoint that it
 * means.
 */
#include "server/state.h"

/* -- requests that are kept -------------------------------------------------------------------- */

/* The text of a request that is needed after its bytes are gone. */
static char *copy_text(mishap_text *text, char *to)
{
    if (!text->data)
        return to;
    memcpy(to, text->data, text->length);
    text->data = to;
    return to + text->length;
}

/* A part of the target stays one. Else it is a constant. */
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
    return mishap_retry_after(mishap_raise(UNAVAILABLE, "The server is busy with other requests."),
                              1000);
}

static mishap *nothing_there(const char *guide)
{
    return guide ? mishap_raise(NOT_FOUND,
                                "There is nothing at this address; %s says what there is.", guide)
                 : mishap_raise(NOT_FOUND, "There is nothing at this address.");
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
    mishap *m = mishap_raise(METHOD_NOT_ALLOWED, "This address takes %.*s.", (int)methods.length,
                             methods.data);
    mishap_buffer_release(&methods);
    return m;
}

/* Who has no key, or a wrong one, is counted by its address: else keys could be tried without end.
 */
static mishap *admit(mishap_http_server *server, mishap_http_request *request, bool open)
{
    mishap *refused = NULL, *limited = NULL;
    if (server->settings->admit)
        refused = server->settings->admit(server, request, open);
    if (server->rates && (refused || !open))
        limited = mishap_http_rates_check(server->rates, request, mishap_clock_monotonic_ns());
    if (!limited)
        return refused;
    mishap_free(refused);
    return limited;
}

/* -- answers ----------------------------------------------------------------------------------- */

/* An endpoint answers in the reply, or defers; then whatever it has left in the reply is no answer.
 */
static mishap *ask_endpoint(mishap_http_server *server, struct mishap_http_exchange *exchange,
                            const mishap_http_request *request, mishap_http_match *match,
                            mishap_http_reply *reply)
{
    match->state = server->states[match->extension];
    server->at_hand.exchange = exchange;
    server->at_hand.route = (int64_t)match->route;
    server->at_hand.deferred = false;
    match->endpoint->answer(server, request, match, reply);
    server->at_hand.exchange = NULL;
    if (server->at_hand.deferred)
        reply->status = 0;
    else if (!reply->status)
        return mishap_raise(INTERNAL_ERROR, "The endpoint %s did not answer.",
                            match->endpoint->name);
    return NULL;
}

bool mishap_http_answer(mishap_http_server *server, struct mishap_http_exchange *exchange,
                        mishap_http_request *request, mishap_http_reply *reply, int64_t *route)
{
    mishap_http_match match;
    mishap *m = NULL;
    *route = MISHAP_HTTP_NO_ROUTE;
    bool found = mishap_http_route_find(server->routes, request->method, request->path, &match);
    bool options = request->method == MISHAP_HTTP_OPTIONS;
    bool everything = options && request->path.length == 1 && request->path.data[0] == '*';
    if (everything)
        match.allowed = ~0U;
    if (options && match.allowed) {
        mishap_http_cors_preflight(reply, server->settings, request, match.allowed);
        return true;
    }
    if (found)
        *route = (int64_t)match.route;
    m = admit(server, request, found && match.endpoint->open);
    if (!m && !found)
        m = no_such_path(server->settings, &match, reply);
    else if (!m && !match.endpoint->any_host)
        m = mishap_http_check_origin(server->settings, request);
    if (!m && found)
        m = ask_endpoint(server, exchange, request, &match, reply);
    if (m)
        mishap_http_refuse(reply, server->settings, request, m);
    mishap_free(m);
    return reply->status != 0;
}
