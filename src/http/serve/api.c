/*
 * The server extension for operations: its state in each loop, its endpoints, and the check of API
 * keys.
 */
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/tally.h"
#include "http/calls/uploads.h"
#include "http/cluster/cluster.h"
#include "http/documents/documents.h"
#include "http/keys/blocks.h"
#include "http/keys/keys.h"
#include "http/serve/serve.h"
#include "http/wire/wire.h"
#include "http/tokens/tokens.h"
#include "incident/incident.h"
#include "incident/readers.h"
#include "operation/caller.h"
#include "server/origin.h"
#include "worker/serving/trials.h"
#include "server/ending.h"

static const char own_field[] = "X-Api-Key";

static const mishap_http_wish fields[] = { { own_field, .from_pages = true }, { 0 } };

/* -- endpoints --------------------------------------------------------------------------------- */

static bool is_served(const mishap_operation *operation, bool chaos)
{
    return operation->route && (chaos || !operation->chaos);
}

mishap *mishap_api_endpoints(const mishap_app *app, bool chaos, const mishap_http_endpoint *further,
                             mishap_http_endpoint **out)
{
    size_t count = 1;
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        count += is_served(o, chaos);
    for (size_t i = 0; further && further[i].route; i++)
        count++;
    mishap_http_endpoint *to = *out = mishap_allocate(count * sizeof **out);
    if (!to)
        return mishap_out_of_memory();
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (is_served(o, chaos))
            *to++ = (mishap_http_endpoint){ .route = o->route,
                                            .name = o->name,
                                            .scope = mishap_operation_scopes(app, o),
                                            .answer = mishap_api_answer,
                                            .screen = mishap_api_screen,
                                            .passes = mishap_streamed_param(o) ? mishap_api_passes
                                                                               : NULL,
                                            .subject = o };
    for (size_t i = 0; further && further[i].route; i++)
        if (!mishap_http_is_taken(app, &further[i]))
            *to++ = further[i];
    *to = (mishap_http_endpoint){ 0 };
    return NULL;
}

static mishap *list(const mishap_http_settings *settings, mishap_http_endpoint **out)
{
    const mishap_served *served = settings->served;
    return mishap_api_endpoints(served->app, served->chaos, mishap_http_endpoints, out);
}

/* -- keys -------------------------------------------------------------------------------------- */

/* A key determines the name of its caller. A caller that may name itself can send a name. A wrong
 * name is not repeated in the failure, since it may be any text. */
static mishap *check_name(const mishap_api *api, const mishap_http_request *request,
                          mishap_text named)
{
    if (!named.data)
        return NULL;
    if (!mishap_caller_is_name(named))
        return mishap_raise(BAD_REQUEST, "The X-Caller header is not a name, such as %s.",
                            MISHAP_CALLER_LOOKS);
    if (request->caller)
        return mishap_text_equal(named, mishap_text_of(request->caller))
                   ? NULL
                   : mishap_raise(FORBIDDEN, "The API key is not that of the caller that the "
                                             "X-Caller header names.");
    if (request->caller_is_free)
        return NULL;
    return api->tokens
               ? mishap_suggest(mishap_raise(AUTH_REQUIRED, "Callers of this server are named by "
                                                            "API keys and access tokens."),
                                "Send one of them as `Authorization: Bearer`, and no X-Caller "
                                "header.")
               : mishap_suggest(
                     mishap_raise(AUTH_REQUIRED, "Callers of this server are named by API keys."),
                     "Send an API key as `Authorization: Bearer KEY`, and no X-Caller header.");
}

/* The scopes that are needed. A path that does not exist needs none, and neither does an endpoint
 * that is open. */
static unsigned scope_of(const mishap_http_request *request)
{
    const mishap_http_endpoint *endpoint = request->endpoint;
    if (!endpoint || endpoint->open)
        return 0;
    return endpoint->scope ? endpoint->scope : MISHAP_SCOPE_CALL;
}

/* --cors lets pages of other origins call, but never as the operator: not at /mcp either, where
 * some tools are for the operator. */
static void drop_scope_of_page(const mishap_http_settings *settings, mishap_http_request *request)
{
    mishap_text origin = request->fields[MISHAP_HTTP_ORIGIN];
    if (origin.data && settings->cors && mishap_http_listed_origin(settings->cors, origin).data)
        request->scopes &= ~(unsigned)MISHAP_SCOPE_OPERATOR;
}

/* A token is never looked up among the keys, and a key never checked as a token. */
static mishap *identify(const mishap_api *api, mishap_http_request *request, bool required)
{
    mishap_text own = request->fields[api->key_field];
    mishap_key_need need = !required     ? MISHAP_KEY_OPTIONAL
                           : api->tokens ? MISHAP_KEY_OR_TOKEN_REQUIRED
                                         : MISHAP_KEY_REQUIRED;
    return api->tokens && mishap_http_tokens_concern(request)
               ? mishap_http_tokens_check(api->tokens, request, own)
               : mishap_http_keys_check(api->keys, request, own, need);
}

/* All that are needed are noted for the reply, which tells a client what to ask its issuer for. */
static mishap *permit(const mishap_api *api, mishap_http_request *request, unsigned scope)
{
    mishap *refused = mishap_http_keys_permit(api->served->app, request, scope);
    request->lacks = refused ? scope : 0;
    return refused;
}

/* A name that a caller gives itself can be blocked, too. A subject that the map has replaced is
 * blocked under either name. */
static mishap *check_blocked(const mishap_api *api, mishap_http_request *request)
{
    char named[MISHAP_BLOCKED_LONGEST + 1] = "";
    mishap_text text = api->caller_field < 0 ? (mishap_text){ NULL, 0 }
                                             : request->fields[api->caller_field];
    if (!request->caller && text.length && text.length < sizeof named)
        memcpy(named, text.data, text.length);
    mishap *refused = NULL;
    for (size_t i = 0; i < 2 && api->blocks[i] && !refused; i++) {
        refused = mishap_http_blocks_check(api->blocks[i], request->caller);
        if (!refused)
            refused = mishap_http_blocks_check(api->blocks[i], request->subject);
        if (!refused)
            refused = mishap_http_blocks_check(api->blocks[i], *named ? named : NULL);
    }
    request->subject = NULL; /* it lives no longer */
    return refused;
}

mishap *mishap_api_admit(mishap_http_server *server, mishap_http_request *request, bool open)
{
    const mishap_api *api = mishap_http_state_of(server, &mishap_api_over_http);
    const mishap_http_settings *settings = mishap_http_settings_of(server);
    bool required = settings->key_required;
    unsigned scope = scope_of(request);
    mishap *refused = identify(api, request, (required && !open) || scope == MISHAP_SCOPE_OPERATOR);
    if (!refused)
        refused = check_blocked(api, request);
    if (!refused && !open)
        refused = permit(api, request, scope);
    if (!refused)
        drop_scope_of_page(settings, request);
    if (refused || open || api->caller_field < 0)
        return refused;
    /* A proxy may hide the address of its client, and is itself on this machine. */
    request->caller_is_free = !required && !request->caller && !request->forwarded &&
                              mishap_http_keys_are_unused(api->keys) &&
                              mishap_http_is_loopback(request->remote);
    return check_name(api, request, request->fields[api->caller_field]);
}

/* No request waits for an answer here: only the operator is told that keys cannot be read. */
static void tell_operator(const mishap_api *api, mishap *failure)
{
    char id[MISHAP_ID_LENGTH + 1];
    if (!failure)
        return;
    mishap_id_make(id);
    mishap_incident_record(&(mishap_incident_entry){
        .program = api->served->app->name,
        .operation = "serve",
        .id = id,
        .failure = failure,
        .to_stderr = api->served->verbose,
    });
    mishap_free(failure);
}

/* The principal of a subject loses its streams and sessions with it. Its other tokens, and its key,
 * are still accepted. */
static void on_blocked(void *context, const char *name)
{
    const mishap_api *api = context;
    const mishap_http_issuers *issuers = mishap_http_settings_of(api->server)->issuers;
    const char *principal = issuers ? mishap_http_map_find(&issuers->map, name) : NULL;
    mishap_http_block(api->server, name);
    if (principal)
        mishap_http_block(api->server, principal);
}

static void refresh_keys(mishap_api *api)
{
    tell_operator(api, mishap_http_keys_refresh(api->keys));
    for (size_t i = 0; i < 2 && api->blocks[i]; i++)
        tell_operator(api, mishap_http_blocks_refresh(api->blocks[i], on_blocked, api));
    if (!api->tokens)
        return;
    bool lost = false;
    tell_operator(api, mishap_http_tokens_refresh(api->tokens, &lost));
    /* A removed key cuts the streams of all tokens: clients come back, and are checked anew. */
    mishap_http_expire(api->server, lost ? INT64_MAX : (int64_t)time(NULL));
}

static void on_removed(void *context, uint64_t key)
{
    const mishap_api *api = context;
    mishap_http_revoke(api->server, key);
}

/* -- one loop ---------------------------------------------------------------------------------- */

mishap *mishap_api_make(mishap_api *api, mishap_http_server *server)
{
    const mishap_http_settings *settings = mishap_http_settings_of(server);
    *api = (mishap_api){
        .server = server,
        .served = settings->served,
        .news_seen = mishap_news_count(settings->served->news),
        .key_field = mishap_http_field_find(settings->fields, mishap_text_of(own_field)),
        .caller_field = mishap_http_field_find(settings->fields,
                                               (mishap_text)MISHAP_TEXT("X-Caller")),
        .session_field = mishap_http_field_find(settings->fields,
                                                mishap_text_of(mishap_api_session_field)),
        .position_field = mishap_http_field_find(settings->fields,
                                                 mishap_text_of(mishap_http_position_field)),
    };
    const char *data = api->served->setup.data;
    mishap *failure = mishap_http_keys_make_in(settings->cluster ? settings->cluster : data, data,
                                               api->served->app->scopes, &api->keys);
    if (!failure && settings->cluster)
        mishap_http_keys_expire(api->keys, mishap_http_cluster_confirmed(),
                                mishap_http_cluster_stale_ns());
    if (!failure)
        failure = mishap_http_blocks_make(data, &api->blocks[0]);
    if (!failure && settings->cluster)
        failure = mishap_http_blocks_make(settings->cluster, &api->blocks[1]);
    if (!failure && settings->issuers)
        failure = mishap_http_tokens_make(settings->issuers, &api->tokens);
    if (failure)
        return failure;
    mishap_http_put_openapi(&api->openapi, settings, mishap_http_endpoints);
    if (api->openapi.failed)
        return mishap_out_of_memory();
    refresh_keys(api);
    mishap_http_keys_watch(api->keys, on_removed, api);
    return NULL;
}

void mishap_api_release(mishap_api *api)
{
    mishap_http_keys_close(api->keys);
    mishap_http_tokens_free(api->tokens);
    for (size_t i = 0; i < 2; i++) {
        mishap_http_blocks_free(api->blocks[i]);
        api->blocks[i] = NULL;
    }
    mishap_buffer_release(&api->openapi);
    api->keys = NULL;
    api->tokens = NULL;
}

/* -- the runner of calls ----------------------------------------------------------------------- */

static void on_turn(uv_poll_t *poll, int status, int events)
{
    mishap_api *api = poll->data;
    (void)status, (void)events;
    mishap_runner_turn(api->served->runner);
}

static void on_flush(uv_prepare_t *prepare)
{
    mishap_api *api = prepare->data;
    mishap_api_tails_look(api);
    mishap_runner_flush(api->served->runner);
}

static mishap *open_runner(mishap_api *api)
{
    mishap_served *served = api->served;
    uv_loop_t *loop = mishap_http_uv(api->server);
    mishap_keeper_leave(&served->keeper);
    mishap *failure = mishap_served_open(served, served->connection);
    if (failure)
        return failure;
    api->turn.data = api->flush.data = api;
    int error = uv_poll_init(loop, &api->turn, mishap_runner_file(served->runner));
    if (error == 0)
        error = uv_poll_start(&api->turn, UV_READABLE, on_turn);
    if (error == 0)
        error = uv_prepare_init(loop, &api->flush);
    if (error == 0)
        error = uv_prepare_start(&api->flush, on_flush);
    if (error == 0)
        return NULL;
    return mishap_raise(INTERNAL_ERROR, "The server process cannot wait for calls: %s.",
                        uv_strerror(error));
}

/* -- the supervisor ---------------------------------------------------------------------------- */

/* The services are tried here, where a failure can be told to the person who starts the server. */
static mishap *prepare_api(const mishap_http_settings *settings, void **shared)
{
    *shared = settings->served;
    mishap_tallies_begin(); /* otherwise nothing is counted, which is no reason not to serve */
    return mishap_served_begin(settings->served);
}

static void dismiss(void *shared)
{
    mishap_served_end(shared);
    mishap_tallies_end();
}

/* A loop is about to be forked: make its connection to the keeper. */
static int before_loop(void *shared)
{
    mishap_served *served = shared;
    int kept = -1;
    served->connection = -1;
    if (served->handlers && !mishap_keeper_connect(&served->keeper, &served->connection, &kept))
        kept = -1;
    return kept;
}

static void loop_forked(void *shared)
{
    mishap_served *served = shared;
    if (served->connection >= 0)
        close(served->connection);
    served->connection = -1;
}

static void loop_ended(void *shared, int kept)
{
    mishap_served *served = shared;
    if (kept >= 0)
        mishap_keeper_disconnect(&served->keeper, kept);
}

static bool child_ended(void *shared, int pid, int status)
{
    mishap_served *served = shared;
    return served->handlers && mishap_keeper_ended(&served->keeper, pid, status);
}

static size_t files(void *shared)
{
    const mishap_served *served = shared;
    bool any = false;
    for (const mishap_operation *o = served->app->operations; o && o->name; o++)
        any = any || mishap_streamed_param(o);
    return mishap_served_files(served) + (any ? 2 * (size_t)MISHAP_API_UPLOADS : 0);
}

static void look_at_keeper(void *shared)
{
    mishap_served *served = shared;
    if (served->handlers)
        mishap_keeper_look(&served->keeper);
}

/* -- the extension ----------------------------------------------------------------------------- */

static mishap *open_api(mishap_http_server *server, void *shared, void **state)
{
    static mishap_api api; /* one in a process */
    (void)shared;
    *state = &api;
    mishap *failure = mishap_api_make(&api, server);
    return failure ? failure : open_runner(&api);
}

/* Live tails of incidents go on when the log has grown: by what this server has written, or by a
 * line of a command, which the process that indexes has found. */
static void tell_of_incidents(const mishap_served *served)
{
    mishap_incident_counts *counts = mishap_incident_counts_shared();
    if (counts)
        mishap_news_add_total(served->news,
                              atomic_load(&counts->written_whole) +
                                  atomic_load(&counts->written_compact) +
                                  atomic_load(&counts->index.records),
                              (mishap_text)MISHAP_TEXT(MISHAP_NEWS_INCIDENTS));
}

/* The server was told to stop, and waits for sessions. */
static void end_sessions(const mishap_api *api)
{
    int64_t left_ms = mishap_http_sessions_end_in(api->server);
    if (left_ms >= 0)
        mishap_runner_end_sessions(api->served->runner,
                                   mishap_clock_monotonic_ns() + left_ms * 1000000);
}

static void tick(void *state)
{
    const mishap_api *api = state;
    refresh_keys(state);
    mishap_runner_tend(api->served->runner);
    end_sessions(api);
    mishap_trials_tend(api->served);
    tell_of_incidents(api->served);
    mishap_api_tell_of_loop(api);
    mishap_api_tails_tick(state);
}

/* A stream that waits for a change is a session, too. */
static size_t count_sessions(void *state)
{
    const mishap_api *api = state;
    size_t count = mishap_runner_sessions_left(api->served->runner);
    for (const mishap_api_call *tail = api->waiting.first; tail; tail = tail->next)
        count++;
    for (const mishap_api_call *tail = api->due.first; tail; tail = tail->next)
        count++;
    return count;
}

static void drain(void *state)
{
    mishap_api_tails_drain(state);
}

/* Calls whose callers have left are not waited for: their workers end with this process. */
static void close_api(void *state)
{
    mishap_api *api = state;
    uv_close((uv_handle_t *)&api->turn, NULL);
    uv_close((uv_handle_t *)&api->flush, NULL);
    mishap_served_close(api->served);
    mishap_api_release(api);
}

const mishap_http_extension mishap_api_over_http = {
    .name = "api",
    .list = list,
    .fields = fields,
    .prepare = prepare_api,
    .dismiss = dismiss,
    .before_loop = before_loop,
    .loop_forked = loop_forked,
    .loop_ended = loop_ended,
    .child_ended = child_ended,
    .look = look_at_keeper,
    .files = files,
    .open = open_api,
    .tick = tick,
    .drain = drain,
    .sessions = count_sessions,
    .measure = mishap_api_measure,
    .close = close_api,
};
