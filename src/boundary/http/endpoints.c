/* What every server answers beside its operations, and what it needs for it. */
#include <stdio.h>
#include <time.h>

#include "base/memory.h"
#include "boundary/http/server.h"
#include "incident/incident.h"

/* What the reply has in its body, if there was memory for all of it. */
static void answer_with(const mishap_http_server *server, const mishap_http_request *request,
                        mishap_http_reply *reply, const char *media_type)
{
    if (reply->body.failed) {
        mishap *m = mishap_out_of_memory();
        mishap_http_refuse(reply, server->settings, request, m);
        mishap_free(m);
        return;
    }
    reply->status = 200;
    reply->media_type = media_type;
    reply->content = mishap_buffer_text(&reply->body);
}

static void answer_health(mishap_http_server *server, const mishap_http_request *request,
                          mishap_text segment, mishap_http_reply *reply)
{
    const mishap_app *app = server->settings->app;
    mishap_buffer *b = &reply->body;
    (void)segment;
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "status");
    mishap_json_string(b, (mishap_text)MISHAP_TEXT("ok"));
    MISHAP_JSON_KEY(b, "name");
    mishap_json_string(b, mishap_text_of(app->name));
    MISHAP_JSON_KEY(b, "version");
    mishap_json_string(b, mishap_text_of(app->version ? app->version : "0"));
    mishap_json_close(b, '}');
    answer_with(server, request, reply, "application/json");
}

static void answer_metrics(mishap_http_server *server, const mishap_http_request *request,
                           mishap_text segment, mishap_http_reply *reply)
{
    (void)segment;
    if (server->metrics)
        mishap_http_metrics_put(&reply->body, server->metrics, server->routes);
    answer_with(server, request, reply, "text/plain; version=0.0.4; charset=utf-8");
}

static void answer_openapi(mishap_http_server *server, const mishap_http_request *request,
                           mishap_text segment, mishap_http_reply *reply)
{
    (void)segment;
    answer_with(server, request, reply, "application/json");
    reply->content = mishap_buffer_text(&server->openapi);
}

static void answer_codes(mishap_http_server *server, const mishap_http_request *request,
                         mishap_text segment, mishap_http_reply *reply)
{
    (void)segment;
    mishap_http_put_codes(&reply->body);
    answer_with(server, request, reply, "application/json");
}

static void answer_code(mishap_http_server *server, const mishap_http_request *request,
                        mishap_text segment, mishap_http_reply *reply)
{
    if (mishap_http_put_code(&reply->body, segment)) {
        answer_with(server, request, reply, "application/json");
        return;
    }
    mishap *m = mishap_raise(NOT_FOUND, "There is no such code.");
    mishap_http_refuse(reply, server->settings, request, m);
    mishap_free(m);
}

const mishap_http_endpoint mishap_http_endpoints[] = {
    { .route = "GET /health", .name = "health", .open = true, .answer = answer_health },
    { .route = "GET /metrics", .name = "metrics", .answer = answer_metrics },
    { .route = "GET /openapi.json", .name = "openapi", .open = true, .answer = answer_openapi },
    { .route = "GET /errors", .name = "errors", .open = true, .answer = answer_codes },
    { .route = "GET /errors/:code", .name = "error", .open = true, .answer = answer_code },
    { 0 },
};

static size_t count(const mishap_http_endpoint *endpoints)
{
    size_t n = 0;
    while (endpoints && endpoints[n].route)
        n++;
    return n;
}

mishap *mishap_http_endpoints_join(const mishap_http_extension *extension,
                                   mishap_http_endpoint **out)
{
    const mishap_http_endpoint *further = extension ? extension->endpoints : NULL;
    size_t ours = count(mishap_http_endpoints), theirs = count(further);
    mishap_http_endpoint *all = mishap_allocate((ours + theirs + 1) * sizeof *all);
    *out = all;
    if (!all)
        return mishap_out_of_memory();
    memcpy(all, mishap_http_endpoints, ours * sizeof *all);
    if (theirs)
        memcpy(all + ours, further, theirs * sizeof *all);
    all[ours + theirs] = (mishap_http_endpoint){ 0 };
    return NULL;
}

/* -- the server -------------------------------------------------------------------------------- */

static void set_date(mishap_http_server *server)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    struct tm at;
    gmtime_r(&now, &at);
    int length = snprintf(server->date, sizeof server->date,
                          "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + at.tm_wday * 3,
                          at.tm_mday, months + at.tm_mon * 3, at.tm_year + 1900, at.tm_hour,
                          at.tm_min, at.tm_sec);
    server->date_length = length < (int)sizeof server->date ? (size_t)length : 0;
}

void mishap_http_server_look_at_clock(mishap_http_server *server)
{
    server->now_ms = mishap_clock_now_ms();
    server->now_ns = mishap_clock_monotonic_ns();
}

/* Nobody waits for an answer here: that keys cannot be read is for the operator alone. */
static void refresh_keys(mishap_http_server *server)
{
    char id[MISHAP_ID_LENGTH + 1];
    mishap *failure = mishap_http_keys_refresh(server->keys);
    if (!failure)
        return;
    mishap_id_make_at(id, server->now_ms);
    mishap_incident_record(&(mishap_incident_entry){
        .program = server->settings->app->name,
        .operation = "serve",
        .id = id,
        .failure = failure,
        .to_stderr = server->settings->verbose,
    });
    mishap_free(failure);
}

mishap *mishap_http_server_open(mishap_http_server *server)
{
    const mishap_http_settings *settings = server->settings;
    mishap *failure = mishap_http_keys_make(settings->setup.data, &server->keys);
    if (!failure)
        failure = mishap_http_access_open(settings->access_log, &server->access);
    mishap_http_put_openapi(&server->openapi, settings);
    if (!failure && server->openapi.failed)
        failure = mishap_out_of_memory();
    set_date(server);
    mishap_http_server_look_at_clock(server);
    if (!failure)
        refresh_keys(server);
    return failure;
}

void mishap_http_server_close(mishap_http_server *server)
{
    mishap_http_keys_close(server->keys);
    mishap_http_access_close(server->access);
    mishap_buffer_release(&server->openapi);
    mishap_buffer_release(&server->out);
    mishap_buffer_release(&server->aside);
    mishap_http_reply_release(&server->reply);
    server->keys = NULL;
    server->access = NULL;
}

void mishap_http_server_taint(mishap_http_server *server)
{
    server->crashed = true; /* the worker looks at it in each turn of its loop */
}

void mishap_http_server_tick(mishap_http_server *server)
{
    set_date(server);
    mishap_http_server_look_at_clock(server);
    refresh_keys(server);
    mishap_http_access_flush(server->access);
}
