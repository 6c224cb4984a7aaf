/*
 * The extension of the server that serves operations: what is opened in each loop, which endpoints
 * there are, who may call.
 */
#include "base/memory.h"
#include "boundary/http/http.h"
#include "incident/incident.h"

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
            *to++ = (mishap_http_endpoint){
                .route = o->route, .name = o->name, .answer = mishap_api_answer, .subject = o
            };
    for (size_t i = 0; further && further[i].route; i++)
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

mishap *mishap_api_admit(mishap_http_server *server, mishap_http_request *request, bool open)
{
    const mishap_api *api = mishap_http_state_of(server, &mishap_api_over_http);
    return mishap_http_keys_check(api->keys, request, request->fields[api->key_field],
                                  mishap_http_settings_of(server)->key_required && !open);
}

/* Nobody waits for an answer here: that keys cannot be read is for the operator alone. */
static void refresh_keys(mishap_api *api)
{
    char id[MISHAP_ID_LENGTH + 1];
    mishap *failure = mishap_http_keys_refresh(api->keys);
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

/* -- one loop ---------------------------------------------------------------------------------- */

mishap *mishap_api_make(mishap_api *api, mishap_http_server *server)
{
    const mishap_http_settings *settings = mishap_http_settings_of(server);
    *api = (mishap_api){
        .server = server,
        .served = settings->served,
        .key_field = mishap_http_field_find(settings->fields, mishap_text_of(own_field)),
        .start = mishap_api_job_start,
    };
    mishap *failure = mishap_http_keys_make(api->served->setup.data, &api->keys);
    if (failure)
        return failure;
    mishap_http_put_openapi(&api->openapi, settings);
    if (api->openapi.failed)
        return mishap_out_of_memory();
    refresh_keys(api);
    return NULL;
}

void mishap_api_release(mishap_api *api)
{
    mishap_http_keys_close(api->keys);
    mishap_buffer_release(&api->openapi);
    api->keys = NULL;
}

/* -- threads ----------------------------------------------------------------------------------- */

/* Jobs have run: ours, or those of others that share the threads. */
static void on_wake(uv_async_t *wake)
{
    mishap_api *api = wake->data;
    for (mishap_job *job = mishap_threads_finished(api->served->threads), *next; job; job = next) {
        next = job->after;
        job->done(job);
    }
}

static void wake_loop(void *state)
{
    mishap_api *api = state;
    uv_async_send(&api->wake);
}

static mishap *open_threads(mishap_api *api)
{
    int error = uv_async_init(mishap_http_uv(api->server), &api->wake, on_wake);
    if (error)
        return mishap_raise(INTERNAL_ERROR, "The loop cannot be woken: %s.", uv_strerror(error));
    api->wake.data = api;
    return mishap_threads_open(api->served->thread_count, wake_loop, api, &api->served->threads);
}

/* -- the extension ----------------------------------------------------------------------------- */

/* What the services need is tried here, where a failure can be told, and closed again. */
static mishap *prepare(const mishap_http_settings *settings, void **shared)
{
    const mishap_served *served = settings->served;
    (void)shared;
    mishap_incident_announce(served->app->name);
    mishap_service_use(&served->setup);
    mishap *failure = mishap_service_open_all(served->app);
    mishap_service_close_all();
    return failure;
}

static mishap *open_api(mishap_http_server *server, void *shared, void **state)
{
    static mishap_api api; /* there is one in a process */
    (void)shared;
    *state = &api;
    mishap *failure = mishap_api_make(&api, server);
    if (!failure)
        failure = mishap_service_open_all(api.served->app);
    return failure ? failure : open_threads(&api);
}

static void tick(void *state)
{
    refresh_keys(state);
    mishap_api_jobs_sweep(state);
}

static bool close_api(void *state)
{
    mishap_api *api = state;
    if (mishap_threads_busy(api->served->threads))
        return false;
    uv_close((uv_handle_t *)&api->wake, NULL);
    mishap_threads_close(api->served->threads);
    mishap_api_release(api);
    mishap_service_close_all();
    return true;
}

const mishap_http_extension mishap_api_over_http = {
    .name = "api",
    .list = list,
    .fields = fields,
    .prepare = prepare,
    .open = open_api,
    .tick = tick,
    .close = close_api,
};
