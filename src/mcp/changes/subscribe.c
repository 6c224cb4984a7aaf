/*
 * Subscriptions to changes. In the older revisions every session is notified of changed lists, and
 * of the resources that it has subscribed to. In the stateless revision the request
 * subscriptions/listen stays open; it names the changes of interest, and each notification carries
 * its id.
 */
#include "mcp/calls/asks.h"
#include "mcp/calls/flight.h"
#include "mcp/changes/follow.h"
#include "mcp/changes/subscribe.h"
#include "mcp/offers/address.h"
#include "operation/changes.h"

enum {
    MOST_SUBSCRIPTIONS = 256, /* of a peer */
    MOST_URIS = 256,          /* of one subscriptions/listen */
    MOST_TASKS = 64,
};

#define SUBSCRIPTION_ID "io.modelcontextprotocol/subscriptionId"

/* A resources/subscribe (no channel, one URI), or a subscriptions/listen. One block of memory with
 * its texts at the end. */
struct mishap_mcp_subscription {
    struct mishap_mcp_subscription *next;
    mishap_mcp_channel *channel;
    mishap_text id;                  /* the id of the request, as JSON */
    struct mishap_mcp_follow *tasks; /* NULL: it follows none */
    bool wants[MISHAP_MCP_RESOURCE_UPDATED];
    size_t uri_count;
    struct mishap_mcp_watched {
        mishap_text uri;
        uint32_t hash; /* the same for all spellings of the address */
    } watched[];
};

static const struct kind {
    const char *method, *filter;
} kinds[] = {
    [MISHAP_MCP_TOOLS_CHANGED] = { "notifications/tools/list_changed", "toolsListChanged" },
    [MISHAP_MCP_PROMPTS_CHANGED] = { "notifications/prompts/list_changed", "promptsListChanged" },
    [MISHAP_MCP_RESOURCES_CHANGED] = { "notifications/resources/list_changed",
                                       "resourcesListChanged" },
    [MISHAP_MCP_RESOURCE_UPDATED] = { "notifications/resources/updated", "resourceSubscriptions" },
};

/* -- the list ---------------------------------------------------------------------------------- */

static struct mishap_mcp_subscription *make_subscription(mishap_text id, const mishap_text *uris,
                                                         size_t count)
{
    size_t texts = id.length;
    for (size_t i = 0; i < count; i++)
        texts += uris[i].length;
    struct mishap_mcp_subscription *made = mishap_allocate(sizeof *made +
                                                           count * sizeof *made->watched + texts);
    if (!made)
        return NULL;
    *made = (struct mishap_mcp_subscription){ .uri_count = count };
    char *to = (char *)&made->watched[count];
    for (size_t i = 0; i <= count; i++) {
        mishap_text from = i < count ? uris[i] : id;
        if (from.length)
            memcpy(to, from.data, from.length);
        *(i < count ? &made->watched[i].uri : &made->id) = (mishap_text){ to, from.length };
        if (i < count)
            made->watched[i].hash = mishap_mcp_address_hash(from);
        to += from.length;
    }
    return made;
}

/* Append it, so that changes are announced in the order of the subscriptions. Earlier changes are
 * not announced. */
static void append_subscription(mishap_mcp_peer *peer, struct mishap_mcp_subscription *made)
{
    if (peer->catch_up)
        peer->catch_up(peer);
    struct mishap_mcp_subscription **at = &peer->subscriptions;
    while (*at)
        at = &(*at)->next;
    *at = made;
}

static struct mishap_mcp_subscription *take_out(struct mishap_mcp_subscription **at)
{
    struct mishap_mcp_subscription *found = *at;
    *at = found->next;
    return found;
}

static void free_subscription(struct mishap_mcp_subscription *s)
{
    mishap_mcp_follow_end(s->tasks);
    mishap_release(s);
}

static struct mishap_mcp_subscription **find_resource(mishap_mcp_peer *peer, mishap_text uri)
{
    struct mishap_mcp_subscription **at = &peer->subscriptions;
    while (*at && ((*at)->channel || !mishap_text_equal((*at)->watched[0].uri, uri)))
        at = &(*at)->next;
    return at;
}

static bool has_room(const mishap_mcp_peer *peer)
{
    size_t count = 0;
    for (const struct mishap_mcp_subscription *s = peer->subscriptions; s; s = s->next)
        count++;
    return count < MOST_SUBSCRIPTIONS;
}

static mishap *no_room(mishap_mcp_request *request)
{
    request->code = -32600;
    return mishap_suggest(mishap_raise(RATE_LIMITED, "The limit of subscriptions is reached."),
                          "End some subscriptions first.");
}

/* -- resources/subscribe ----------------------------------------------------------------------- */

static const mishap_param uri_params[] = {
    { "uri", MISHAP_STRING, .required = true },
    { 0 },
};

static mishap *read_uri(mishap_mcp_request *request, mishap_text *uri)
{
    yyjson_val none = { .tag = YYJSON_TYPE_OBJ }, *params = request->message->params;
    mishap *failure = mishap_params_check(uri_params, params ? params : &none);
    *uri = mishap_json_text(yyjson_obj_get(params, "uri"));
    return failure;
}

/* No client is notified of a longer one. */
static bool can_be_watched(mishap_text uri)
{
    return uri.length <= MISHAP_ADDRESS_LIMIT;
}

/* Store it in the list of the peer. */
static mishap *keep_subscription(mishap_mcp_request *request, mishap_text uri)
{
    if (*find_resource(request->peer, uri))
        return NULL;
    if (!has_room(request->peer))
        return no_room(request);
    struct mishap_mcp_subscription *made = make_subscription((mishap_text){ NULL, 0 }, &uri, 1);
    if (!made)
        return mishap_out_of_memory();
    append_subscription(request->peer, made);
    return NULL;
}

bool mishap_mcp_may_watch(const mishap_mcp_server *server, unsigned scopes, mishap_text uri)
{
    const mishap_mcp_offer *resource = mishap_mcp_resource_find(server, uri);
    return !resource || !(resource->needs & ~scopes);
}

mishap *mishap_mcp_resources_subscribe(mishap_mcp_request *request, mishap_buffer *result)
{
    mishap_mcp_peer *peer = request->peer;
    mishap_text uri;
    mishap *failure = read_uri(request, &uri);
    (void)result;
    if (failure)
        return failure;
    if (!can_be_watched(uri))
        return mishap_raise(INVALID_ARGUMENT,
                            "The URI of a subscription can have at most %d bytes.",
                            MISHAP_ADDRESS_LIMIT);
    const mishap_mcp_offer *resource = mishap_mcp_resource_find(peer->server, uri);
    failure = resource ? mishap_mcp_flight_permit(request, resource) : NULL;
    if (failure)
        return failure;
    if (!mishap_mcp_resource_exists(peer, uri))
        return mishap_mcp_no_resource(request, uri);
    if (!peer->watch)
        return keep_subscription(request, uri);
    failure = peer->watch(peer, uri, true);
    if (failure)
        request->code = -32600;
    return failure;
}

mishap *mishap_mcp_resources_unsubscribe(mishap_mcp_request *request, mishap_buffer *result)
{
    mishap_text uri;
    mishap *failure = read_uri(request, &uri);
    (void)result;
    if (failure)
        return failure;
    struct mishap_mcp_subscription **at = find_resource(request->peer, uri);
    if (request->peer->watch)
        failure = request->peer->watch(request->peer, uri, false);
    else if (*at)
        mishap_release(take_out(at));
    if (failure)
        request->code = -32600;
    return failure;
}

/* -- subscriptions/listen ---------------------------------------------------------------------- */

static const mishap_param one_uri = { "uri", MISHAP_STRING, .required = true };
static const mishap_param one_task = { "taskId", MISHAP_STRING, .required = true };
static const mishap_param filter_members[] = {
    { "toolsListChanged", .type = MISHAP_BOOLEAN },
    { "promptsListChanged", .type = MISHAP_BOOLEAN },
    { "resourcesListChanged", .type = MISHAP_BOOLEAN },
    { "resourceSubscriptions", MISHAP_ARRAY, .items = &one_uri, .length = { 0, MOST_URIS } },
    { "taskIds", MISHAP_ARRAY, .items = &one_task, .length = { 0, MOST_TASKS } },
    { 0 },
};
static const mishap_param listen_params[] = {
    { "notifications", MISHAP_OBJECT, .required = true, .members = filter_members },
    { 0 },
};

static void put_id(mishap_buffer *b, const struct mishap_mcp_subscription *s)
{
    MISHAP_PUT(b, "\"_meta\":{\"" SUBSCRIPTION_ID "\":");
    mishap_buffer_put_text(b, s->id);
    mishap_json_close(b, '}');
}

/* The first message lists what will be announced, which may be less than was asked for. */
static void acknowledge(const struct mishap_mcp_subscription *s)
{
    mishap_buffer *b = mishap_mcp_begin_notification(s->channel,
                                                     "notifications/subscriptions/acknowledged");
    put_id(b, s);
    MISHAP_PUT(b, ",\"notifications\":{");
    for (size_t i = 0; i < MISHAP_MCP_RESOURCE_UPDATED; i++) {
        if (s->wants[i]) {
            mishap_json_key(b, mishap_text_of(kinds[i].filter));
            mishap_json_bool(b, true);
        }
    }
    if (s->uri_count) {
        mishap_json_key(b, mishap_text_of(kinds[MISHAP_MCP_RESOURCE_UPDATED].filter));
        mishap_json_open(b, '[');
        for (size_t i = 0; i < s->uri_count; i++)
            mishap_json_string(b, s->watched[i].uri);
        mishap_json_close(b, ']');
    }
    if (s->tasks) {
        MISHAP_JSON_KEY(b, "taskIds");
        mishap_mcp_follow_put(b, s->tasks);
    }
    mishap_json_close(b, '}');
    mishap_mcp_finish_notification(s->channel, b);
}

/* -- … of tasks -------------------------------------------------------------------------------- */

static void acknowledge_tasks(void *owner)
{
    acknowledge(owner);
}

static void tell_task(void *owner, mishap_text members)
{
    const struct mishap_mcp_subscription *s = owner;
    mishap_buffer *b = mishap_mcp_begin_notification(s->channel, "notifications/tasks");
    put_id(b, s);
    mishap_buffer_put_char(b, ',');
    mishap_buffer_put_text(b, members);
    mishap_mcp_finish_notification(s->channel, b);
}

/* A client that waited for a notification would wait for ever: too many tasks are followed, or the
 * store cannot be read. The request fails, and can be sent again. */
static void refuse_tasks(mishap_mcp_peer *peer, void *owner, const mishap *failure)
{
    struct mishap_mcp_subscription *s = owner, **at = &peer->subscriptions;
    mishap_buffer error = { 0 };
    mishap *told = mishap_is(failure, RATE_LIMITED)
                       ? mishap_raise(RATE_LIMITED, "This caller follows too many tasks.")
                       : mishap_raise(UNAVAILABLE, "Tasks cannot be read just now.");
    told = mishap_retry_after(told, MISHAP_TASK_POLL_MS);
    while (*at != s)
        at = &(*at)->next;
    take_out(at);
    mishap_free(mishap_mcp_put_error_object(&error, -32600, mishap_told(told), NULL, NULL, NULL));
    mishap_mcp_put_error(s->channel, s->id,
                         error.failed ? mishap_mcp_last_error : mishap_buffer_text(&error));
    s->channel->finish(s->channel);
    mishap_buffer_release(&error);
    mishap_free(told);
    free_subscription(s);
}

static bool has_text(const mishap_text *texts, size_t count, mishap_text text)
{
    while (count && !mishap_text_equal(texts[count - 1], text))
        count--;
    return count;
}

/* A server without tasks follows none. A task that is named twice is followed once. */
static mishap *follow_tasks(mishap_mcp_request *request, struct mishap_mcp_subscription *s,
                            yyjson_val *ids)
{
    mishap_mcp_follower follower = { acknowledge_tasks, tell_task, refuse_tasks, s };
    mishap_text texts[MOST_TASKS];
    size_t index, count, known = 0;
    yyjson_val *id;
    if (!ids || !mishap_mcp_has_tasks(request->peer->server))
        return NULL;
    if (!mishap_mcp_tasks_declared(request->message))
        return mishap_mcp_lacks_tasks(request);
    MISHAP_JSON_ITEMS (ids, index, count, id) {
        texts[known] = mishap_json_text(id);
        known += !has_text(texts, known, texts[known]);
    }
    return mishap_mcp_follow_make(request->peer, mishap_mcp_capabilities(request), texts, known,
                                  &follower, &s->tasks);
}

mishap *mishap_mcp_listen(mishap_mcp_request *request, mishap_buffer *result)
{
    yyjson_val none = { .tag = YYJSON_TYPE_OBJ }, *params = request->message->params, *uri;
    mishap_text uris[MOST_URIS];
    size_t index, count, known = 0;
    mishap *failure = mishap_params_check(listen_params, params ? params : &none);
    (void)result;
    if (failure)
        return failure;
    if (!has_room(request->peer))
        return no_room(request);
    yyjson_val *filter = yyjson_obj_get(params, "notifications");
    MISHAP_JSON_ITEMS (yyjson_obj_get(filter, "resourceSubscriptions"), index, count, uri) {
        uris[known] = mishap_json_text(uri);
        known += can_be_watched(uris[known]) &&
                 mishap_mcp_may_watch(request->peer->server, request->peer->scopes, uris[known]) &&
                 mishap_mcp_resource_exists(request->peer, uris[known]);
    }
    struct mishap_mcp_subscription *made = make_subscription(request->message->id, uris, known);
    if (!made)
        return mishap_out_of_memory();
    made->channel = request->channel;
    for (size_t i = 0; i < MISHAP_MCP_RESOURCE_UPDATED; i++)
        made->wants[i] = yyjson_is_true(yyjson_obj_get(filter, kinds[i].filter));
    failure = follow_tasks(request, made, yyjson_obj_get(filter, "taskIds"));
    if (failure) {
        free_subscription(made);
        return failure;
    }
    append_subscription(request->peer, made);
    request->later = true;
    if (made->tasks)
        mishap_mcp_follow_begin(made->tasks);
    else
        acknowledge(made);
    return NULL;
}

static struct mishap_mcp_subscription **find_listen(mishap_mcp_peer *peer, mishap_text id)
{
    struct mishap_mcp_subscription **at = &peer->subscriptions;
    while (*at && (!(*at)->channel || !mishap_text_equal((*at)->id, id)))
        at = &(*at)->next;
    return at;
}

bool mishap_mcp_listens(const mishap_mcp_peer *peer, mishap_text id)
{
    const struct mishap_mcp_subscription *s = peer->subscriptions;
    while (s && (!s->channel || !mishap_text_equal(s->id, id)))
        s = s->next;
    return s != NULL;
}

bool mishap_mcp_listen_cancel(mishap_mcp_peer *peer, mishap_text id)
{
    struct mishap_mcp_subscription **at = find_listen(peer, id);
    if (!*at)
        return false;
    struct mishap_mcp_subscription *found = take_out(at);
    found->channel->finish(found->channel);
    free_subscription(found);
    return true;
}

void mishap_mcp_listen_end(mishap_mcp_peer *peer)
{
    for (struct mishap_mcp_subscription **at = &peer->subscriptions; *at;) {
        if (!(*at)->channel) {
            at = &(*at)->next;
            continue;
        }
        struct mishap_mcp_subscription *found = take_out(at);
        mishap_mcp_channel *channel = found->channel;
        mishap_buffer *b = mishap_mcp_begin_result(channel, found->id);
        MISHAP_PUT(b, "\"_meta\":{\"" SUBSCRIPTION_ID "\":");
        mishap_buffer_put_text(b, found->id);
        MISHAP_JSON_KEY(b, "io.modelcontextprotocol/serverInfo");
        mishap_mcp_put_implementation(b, peer->server->app, MISHAP_MCP_2026_07_28, false);
        MISHAP_PUT(b, "},\"resultType\":\"complete\"}}");
        mishap_mcp_end_message(channel, b, MISHAP_MCP_RESPONSE);
        channel->finish(channel);
        free_subscription(found);
    }
}

void mishap_mcp_unlisten(mishap_mcp_peer *peer, mishap_mcp_channel *channel)
{
    for (struct mishap_mcp_subscription **at = &peer->subscriptions; *at;) {
        if (!channel || (*at)->channel == channel)
            free_subscription(take_out(at));
        else
            at = &(*at)->next;
    }
}

/* -- telling ----------------------------------------------------------------------------------- */

static void put_uri(mishap_buffer *b, mishap_text uri)
{
    MISHAP_JSON_KEY(b, "uri");
    mishap_json_string(b, uri);
}

void mishap_mcp_put_change(mishap_buffer *buffer, mishap_mcp_change change, mishap_text uri)
{
    MISHAP_PUT(buffer, "{\"jsonrpc\":\"2.0\",\"method\":\"");
    mishap_buffer_put_text(buffer, mishap_text_of(kinds[change].method));
    MISHAP_PUT(buffer, "\"");
    if (change == MISHAP_MCP_RESOURCE_UPDATED) {
        MISHAP_PUT(buffer, ",\"params\":{");
        put_uri(buffer, uri);
        MISHAP_PUT(buffer, "}");
    }
    MISHAP_PUT(buffer, "}");
}

/* Send it to a session, or to a listener under its id. */
static void tell_change(mishap_mcp_channel *channel, const struct mishap_mcp_subscription *listener,
                        mishap_mcp_change change, mishap_text uri)
{
    mishap_buffer *b = mishap_mcp_begin_notification(channel, kinds[change].method);
    if (listener)
        put_id(b, listener);
    if (change == MISHAP_MCP_RESOURCE_UPDATED)
        put_uri(b, uri);
    mishap_mcp_finish_notification(channel, b);
}

/* The channel on which a session is notified of changes; NULL: none, or none yet. */
static mishap_mcp_channel *channel_of_session(const mishap_mcp_peer *peer)
{
    return peer->initialized && peer->revision != MISHAP_MCP_NONE ? peer->aside : NULL;
}

static void tell_of_resource(const mishap_mcp_peer *peer, const struct mishap_mcp_subscription *s,
                             mishap_text uri, uint32_t hash)
{
    mishap_mcp_channel *channel = s->channel ? s->channel : channel_of_session(peer);
    for (size_t i = 0; i < s->uri_count && channel; i++) {
        const struct mishap_mcp_watched *w = &s->watched[i];
        if (!uri.data || (w->hash == hash && mishap_mcp_same_address(w->uri, uri)))
            tell_change(channel, s->channel ? s : NULL, MISHAP_MCP_RESOURCE_UPDATED, w->uri);
    }
}

void mishap_mcp_tell_change(mishap_mcp_peer *peer, mishap_mcp_change change, mishap_text uri)
{
    bool of_list = change != MISHAP_MCP_RESOURCE_UPDATED;
    uint32_t hash = mishap_mcp_address_hash(uri);
    if (of_list && channel_of_session(peer))
        tell_change(channel_of_session(peer), NULL, change, uri);
    for (const struct mishap_mcp_subscription *s = peer->subscriptions; s; s = s->next) {
        if (!of_list)
            tell_of_resource(peer, s, uri, hash);
        else if (s->channel && s->wants[change])
            tell_change(s->channel, s, change, uri);
    }
}
