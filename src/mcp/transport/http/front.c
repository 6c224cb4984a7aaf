/*
 * The server extension for MCP: the memory that all loops share, and the state of each loop.
 */
#include "base/memory.h"
#include "mcp/transport/http/over_http.h"
#include "incident/logs.h"
#include "operation/changes.h"
#include "operation/handover.h"

enum {
    EVENT_BYTES = 8 * 1024 * 1024, /* events of all streams of all sessions */
    SESSION_IDLE_MS = 30 * 60 * 1000,
};

/* In memory that all processes of the server share. */
static mishap_mcp_sessions *sessions;
static mishap_mcp_watches *watches;

static mishap_news *news;
static mishap_handover handover;

void mishap_mcp_changed(mishap_mcp_change change)
{
    if (!sessions || change >= MISHAP_MCP_RESOURCE_UPDATED)
        return;
    mishap_mcp_sessions_change(sessions, change);
    mishap_news_add(news, mishap_mcp_list_addresses[change]);
}

/* Without data any resource may have changed. */
static void hear_update(void *state, mishap_text uri)
{
    bool all = mishap_text_equal(uri, (mishap_text)MISHAP_TEXT(MISHAP_ADDRESS_LISTS));
    for (mishap_mcp_change list = 0; list < MISHAP_MCP_RESOURCE_UPDATED; list++)
        if (all || mishap_text_equal(uri, mishap_mcp_list_addresses[list]))
            mishap_mcp_sessions_change(sessions, list);
    mishap_mcp_watches_change(state, uri);
}

/* The server starts even if this fails: then clients of an earlier run have to begin a new
 * session. */
static void let_sessions_last(const char *program, const char *folder)
{
    mishap *failure = mishap_mcp_sessions_last(sessions, folder);
    if (!failure)
        return;
    const mishap_public *told = mishap_told(failure);
    mishap_log_say("%s: MCP sessions will not survive a restart of the server. %.*s %.*s\n",
                   program, (int)told->message.length, told->message.data, (int)told->cause.length,
                   told->cause.data ? told->cause.data : "");
    mishap_free(failure);
}

static mishap *prepare_front(const mishap_http_settings *settings, void **shared)
{
    (void)shared;
    mishap *failure = mishap_mcp_sessions_make(EVENT_BYTES, SESSION_IDLE_MS,
                                               mishap_http_share_of(settings, MISHAP_MCP_SESSIONS),
                                               &sessions);
    if (!failure)
        mishap_mcp_sessions_name_server(sessions, (unsigned)settings->server_number);
    if (!failure)
        let_sessions_last(settings->program,
                          settings->cluster ? settings->cluster : settings->served->setup.data);
    if (!failure && settings->served->secret)
        mishap_mcp_sessions_use(sessions, settings->served->secret);
    else if (!failure)
        mishap_mcp_sessions_share(sessions, settings->served->seal);
    if (!failure)
        failure = mishap_mcp_watches_make(mishap_http_share_of(settings, MISHAP_MCP_WATCHES),
                                          &watches);
    if (!failure)
        mishap_changes_heard_by(hear_update, watches);
    news = settings->served->news;
    if (!failure && settings->cluster) {
        mishap_mcp_sessions_hand_over(sessions, watches, &handover);
        settings->served->handover = &handover;
    }
    return failure;
}

static void on_wake(uv_async_t *wake)
{
    mishap_mcp_posts_tick(wake->data);
}

/* The state of this loop: one in a process. */
static mishap_mcp_front front;

/* Operations that every server has are not in the program, and are not counted. */
static void count_call(const mishap_mcp_server *server, const mishap_operation *operation,
                       const mishap_code *code, int64_t duration_ns)
{
    uintptr_t place = ((uintptr_t)operation - (uintptr_t)server->app->operations) /
                      sizeof *operation;
    mishap_http_count_call(front.http, place, code, duration_ns);
}

/* Sessions of all loops. */
static void measure(void *state, mishap_http_measures *to)
{
    const mishap_mcp_front *f = state;
    mishap_http_measure(to, MISHAP_METRIC_MCP_SESSIONS, 0,
                        (int64_t)mishap_mcp_sessions_count(f->sessions));
}

static mishap *open_front(mishap_http_server *server, void *shared, void **state)
{
    const mishap_http_settings *settings = mishap_http_settings_of(server);
    mishap_served *served = settings->served;
    (void)shared;
    front = (mishap_mcp_front){
        .http = server,
        .caller_field = mishap_http_field_find(settings->fields,
                                               (mishap_text)MISHAP_TEXT("X-Caller")),
        .served = served,
        .server = { .app = served->app,
                    .services = served->services,
                    .message_limit = served->message_limit,
                    .full_schemas = served->full_schemas,
                    .flight_limit = 64,
                    .call_ms = served->call_ms,
                    .verbose = served->verbose,
                    .runner = served->runner,
                    .seal = served->seal,
                    .tasks = &served->tasks,
                    .count = count_call },
        .sessions = sessions,
        .watches = watches,
        .updates = mishap_news_count(served->news),
    };
    for (mishap_mcp_change list = 0; list < MISHAP_MCP_RESOURCE_UPDATED; list++)
        mishap_mcp_sessions_changed(sessions, list, &front.changes[list]);
    mishap *failure = mishap_mcp_server_make(&front.server, served->chaos);
    int error = failure ? 0 : uv_async_init(mishap_http_uv(server), &front.wake, on_wake);
    if (error) {
        mishap_mcp_server_release(&front.server);
        failure = mishap_raise(INTERNAL_ERROR,
                               "The server process cannot set up its wake-up event: %s.",
                               uv_strerror(error));
    }
    if (failure)
        return failure;
    front.wake.data = *state = &front;
    mishap_mcp_fields_place(settings->fields);
    return NULL;
}

void mishap_mcp_front_tell(mishap_mcp_front *f)
{
    char room[MISHAP_ADDRESS_LIMIT];
    mishap_text uri;
    for (mishap_mcp_change list = 0; list < MISHAP_MCP_RESOURCE_UPDATED; list++)
        if (mishap_mcp_sessions_changed(f->sessions, list, &f->changes[list]))
            mishap_mcp_posts_tell(f, list, (mishap_text){ NULL, 0 });
    while (mishap_news_next(f->served->news, &f->updates, room, &uri))
        mishap_mcp_posts_tell(f, MISHAP_MCP_RESOURCE_UPDATED, uri);
}

static void tick(void *state)
{
    mishap_mcp_front_tell(state);
    mishap_mcp_posts_tick(state);
    mishap_mcp_streams_tick(state);
}

static void drain(void *state)
{
    mishap_mcp_questions_drain(state);
    mishap_mcp_posts_drain(state);
    mishap_mcp_streams_drain(state);
}

/* A key was removed. The server itself ends the streams. Events and subscriptions in shared memory,
 * and calls whose clients have left, end with the sessions. */
static void end_sessions_of(void *state, uint64_t key, const char *caller)
{
    const mishap_mcp_front *f = state;
    mishap_mcp_watches_revoke(f->watches, f->sessions, key, caller);
}

/* Calls whose clients have left go on, for clients that resume their streams. */
static bool is_busy(void *state)
{
    const mishap_mcp_front *f = state;
    for (const mishap_mcp_post *post = f->posts; post; post = post->next)
        if (post->peer.flight_count || post->peer.paused)
            return true;
    return false;
}

static size_t count_sessions(void *state)
{
    const mishap_mcp_front *f = state;
    return mishap_mcp_sessions_in_use(f->sessions);
}

static void close_front(void *state)
{
    mishap_mcp_front *f = state;
    uv_close((uv_handle_t *)&f->wake, NULL);
    mishap_mcp_server_release(&f->server);
}

const mishap_http_extension mishap_mcp_over_http = {
    .name = "mcp",
    .endpoints = mishap_mcp_endpoints,
    .fields = mishap_mcp_fields,
    .prepare = prepare_front,
    .open = open_front,
    .tick = tick,
    .drain = drain,
    .revoke = end_sessions_of,
    .busy = is_busy,
    .sessions = count_sessions,
    .measure = measure,
    .close = close_front,
};
