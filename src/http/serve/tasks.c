/*
 * The server extension for tasks (src/task): it looks after their process in the supervisor, has a
 * connection to it in each loop, and the endpoints below /tasks. Only a program with an operation
 * that is `.task` has it.
 */
#include "http/calls/tasks.h"
#include "http/serve/serve.h"
#include "task/task.h"

/* One server in a process. */
static mishap_task_plan plan; /* without an engine there are no tasks */

bool mishap_http_has_tasks(const mishap_operation *operations)
{
    for (; operations && operations->name; operations++)
        if (operations->task)
            return true;
    return false;
}

void mishap_http_tasks(mishap_call *call, mishap_served *served)
{
    plan = (mishap_task_plan){ .served = served };
    plan.places = (size_t)mishap_integer(call, "tasks");
    if (plan.places && served->handlers && mishap_http_has_tasks(served->app->operations))
        plan.engine = served->app->task_store;
    plan.address = mishap_string(call, "task_store");
    plan.after_ms = (int)mishap_integer(call, "task_after_ms");
    plan.most = (size_t)mishap_integer(call, "task_limit");
    plan.most_bytes = (size_t)mishap_integer(call, "task_max_mb") << 20;
    plan.keep_ms = mishap_integer(call, "task_hours") * 3600 * 1000;
    plan.stop_ms = (int)mishap_integer(call, "stop_timeout_ms");
}

/* -- the supervisor ---------------------------------------------------------------------------- */

static mishap *prepare_tasks(const mishap_http_settings *settings, void **shared)
{
    (void)settings;
    *shared = plan.engine ? &plan : NULL;
    return plan.engine ? mishap_task_process_start(&plan) : NULL;
}

static void dismiss_tasks(void *shared)
{
    if (shared)
        mishap_task_process_end();
}

static bool tasks_ended(void *shared, int pid, int status)
{
    return shared && mishap_task_process_ended(pid, status);
}

static void look_at_tasks(void *shared)
{
    if (shared)
        mishap_task_process_look();
}

static int wakes(void *shared)
{
    return shared ? mishap_task_process_wakes() : -1;
}

/* -- a loop ------------------------------------------------------------------------------------ */

static uv_poll_t turn;

static void on_turn(uv_poll_t *poll, int status, int events)
{
    const mishap_api *api = poll->data;
    (void)status, (void)events;
    mishap_task_client_turn(api->tasks);
}

static mishap *open_tasks(mishap_http_server *server, void *shared, void **state)
{
    mishap_api *api = mishap_http_state_of(server, &mishap_api_over_http);
    const mishap_http_settings *settings = mishap_http_settings_of(server);
    *state = api;
    api->prefer_field = mishap_http_field_find(settings->fields,
                                               (mishap_text)MISHAP_TEXT("Prefer"));
    if (!shared || api->prefer_field < 0)
        return NULL;
    mishap *failure = mishap_task_client_open(&api->tasks);
    if (failure)
        return failure;
    turn.data = api;
    int error = uv_poll_init(mishap_http_uv(server), &turn, mishap_task_client_file(api->tasks));
    if (error == 0)
        error = uv_poll_start(&turn, UV_READABLE, on_turn);
    if (error == 0) {
        api->served->tasks = api->tasks;
        return NULL;
    }
    mishap_task_client_close(api->tasks);
    api->tasks = NULL;
    return mishap_raise(INTERNAL_ERROR, "The server process cannot wait for tasks: %s.",
                        uv_strerror(error));
}

static void close_tasks(void *state)
{
    mishap_api *api = state;
    if (!api->tasks)
        return;
    uv_close((uv_handle_t *)&turn, NULL);
    mishap_task_client_close(api->tasks);
    api->tasks = api->served->tasks = NULL;
}

static void tick(void *state)
{
    mishap_api_task_streams_tick(state);
}

static void drain(void *state)
{
    mishap_api_task_streams_drain(state);
}

/* A removed key leaves its tasks as it leaves its calls: they end, and no caller reads their
 * answers. */
static void cancel_blocked(void *state, uint64_t key, const char *caller)
{
    const mishap_api *api = state;
    (void)key;
    if (api->tasks && caller)
        mishap_task_client_block(api->tasks, caller);
}

static size_t files(void *shared)
{
    return shared ? 2 : 0;
}

static const mishap_http_endpoint endpoints[] = {
    { .route = "GET /tasks/:id", .name = "task", .answer = mishap_api_task_show },
    { .route = "GET /tasks/:id/answer", .name = "task_answer", .answer = mishap_api_task_answer },
    { .route = "POST /tasks/:id/answers", .name = "task_give", .answer = mishap_api_task_give },
    { .route = "DELETE /tasks/:id", .name = "task_drop", .answer = mishap_api_task_drop },
    { 0 },
};

static const mishap_http_wish fields[] = {
    { .name = "Prefer", .from_pages = true, .first = true },
    { .name = "Location", .in_replies = true },
    { .name = "Retry-After", .in_replies = true },
    { .name = "Preference-Applied", .in_replies = true },
    { 0 },
};

const mishap_http_extension mishap_tasks_over_http = {
    .name = "tasks",
    .endpoints = endpoints,
    .fields = fields,
    .prepare = prepare_tasks,
    .dismiss = dismiss_tasks,
    .child_ended = tasks_ended,
    .look = look_at_tasks,
    .wakes = wakes,
    .files = files,
    .open = open_tasks,
    .close = close_tasks,
    .tick = tick,
    .drain = drain,
    .revoke = cancel_blocked,
};
