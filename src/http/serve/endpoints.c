/* The built-in endpoints of every server. */
#include "http/documents/documents.h"
#include "http/serve/serve.h"
#include "worker/serving/trials.h"

/* Send the body of the reply, if there was memory for all of it. */
static void answer_with(const mishap_http_server *server, const mishap_http_request *request,
                        mishap_http_reply *reply, const char *media_type)
{
    if (reply->body.failed) {
        mishap *m = mishap_out_of_memory();
        mishap_http_refuse(reply, mishap_http_settings_of(server), request, m);
        mishap_free(m);
        return;
    }
    reply->status = 200;
    reply->media_type = media_type;
    reply->content = mishap_buffer_text(&reply->body);
}

static void put_ready(mishap_buffer *b, const mishap_readiness *found)
{
    if (found->known)
        mishap_json_bool(b, found->ready);
    else
        mishap_json_null(b);
}

static bool is_degraded(const mishap_served *served)
{
    mishap_readiness found;
    size_t at = 0;
    while (mishap_trials_next(served, &at, &found))
        if (found.known && !found.ready)
            return true;
    return false;
}

/* The state of each service, in one word. */
static void put_services_ready(mishap_buffer *b, const mishap_served *served)
{
    mishap_readiness found;
    size_t at = 0, count = 0;
    for (; mishap_trials_next(served, &at, &found); count++) {
        if (!count) {
            MISHAP_JSON_KEY(b, "ready");
            mishap_json_open(b, '{');
        }
        mishap_json_key(b, mishap_text_of(found.service));
        put_ready(b, &found);
    }
    if (count)
        mishap_json_close(b, '}');
}

/* The status is 200 as long as the server answers: a restart would not repair a missing store, and
 * the other services work. */
static void answer_health(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap_served *served = mishap_http_settings_of(server)->served;
    const mishap_app *app = served->app;
    size_t at = 0;
    const char *missing = mishap_served_unavailable(served, &at);
    mishap_buffer *b = &reply->body;
    (void)match;
    mishap_trials_ask(served);
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "status");
    mishap_json_string(b, mishap_text_of(is_degraded(served) ? "degraded" : "ok"));
    MISHAP_JSON_KEY(b, "name");
    mishap_json_string(b, mishap_text_of(app->name));
    MISHAP_JSON_KEY(b, "version");
    mishap_json_string(b, mishap_text_of(app->version ? app->version : "0"));
    if (missing) {
        MISHAP_JSON_KEY(b, "unavailable");
        mishap_json_open(b, '[');
        for (; missing; missing = mishap_served_unavailable(served, &at))
            mishap_json_string(b, mishap_text_of(missing));
        mishap_json_close(b, ']');
    }
    if (served->health.length && !served->health.failed) {
        MISHAP_JSON_KEY(b, "services");
        mishap_buffer_put_text(b, mishap_buffer_text(&served->health));
    }
    put_services_ready(b, served);
    mishap_json_close(b, '}');
    answer_with(server, request, reply, "application/json");
}

/* 200 for the same reason: a load balancer that removed this server because of one service would
 * remove it for the callers of all others, too. The body says which service is not ready. */
static void answer_ready(mishap_http_server *server, const mishap_http_request *request,
                         const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap_served *served = mishap_http_settings_of(server)->served;
    mishap_readiness found;
    size_t at = 0;
    mishap_buffer *b = &reply->body;
    (void)match;
    mishap_trials_ask(served);
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "status");
    mishap_json_string(b, mishap_text_of(is_degraded(served) ? "degraded" : "ready"));
    MISHAP_JSON_KEY(b, "services");
    mishap_json_open(b, '{');
    while (mishap_trials_next(served, &at, &found)) {
        mishap_json_key(b, mishap_text_of(found.service));
        mishap_json_open(b, '{');
        MISHAP_JSON_KEY(b, "ready");
        put_ready(b, &found);
        MISHAP_JSON_KEY(b, "state");
        mishap_json_string(b, mishap_text_of(found.word));
        MISHAP_JSON_KEY(b, "message");
        mishap_json_string(b, mishap_text_of(found.message));
        mishap_json_close(b, '}');
    }
    mishap_json_close(b, '}');
    mishap_json_close(b, '}');
    answer_with(server, request, reply, "application/json");
}

static void answer_metrics(mishap_http_server *server, const mishap_http_request *request,
                           const mishap_http_match *match, mishap_http_reply *reply)
{
    (void)match;
    mishap_http_put_counts(&reply->body, server);
    answer_with(server, request, reply, "text/plain; version=0.0.4; charset=utf-8");
}

static void answer_openapi(mishap_http_server *server, const mishap_http_request *request,
                           const mishap_http_match *match, mishap_http_reply *reply)
{
    const mishap_api *api = match->state;
    answer_with(server, request, reply, "application/json");
    reply->content = mishap_buffer_text(&api->openapi);
}

static void answer_codes(mishap_http_server *server, const mishap_http_request *request,
                         const mishap_http_match *match, mishap_http_reply *reply)
{
    (void)match;
    mishap_http_put_codes(&reply->body);
    answer_with(server, request, reply, "application/json");
}

static void answer_code(mishap_http_server *server, const mishap_http_request *request,
                        const mishap_http_match *match, mishap_http_reply *reply)
{
    if (mishap_http_put_code(&reply->body, match->params[0].raw)) {
        answer_with(server, request, reply, "application/json");
        return;
    }
    mishap *m = mishap_raise(NOT_FOUND, "The catalog has no such code.");
    mishap_http_refuse(reply, mishap_http_settings_of(server), request, m);
    mishap_free(m);
}

const mishap_http_endpoint mishap_http_endpoints[] = {
    { .route = "GET /health",
      .name = "health",
      .open = true,
      /* Load balancers use names of their own, and the reply contains no secrets. */
      .any_host = true,
      .answer = answer_health },
    { .route = "GET /ready",
      .name = "ready",
      .open = true,
      .any_host = true, /* for load balancers, too */
      .answer = answer_ready },
    { .route = "GET /metrics", .name = "metrics", .answer = answer_metrics },
    { .route = "GET /openapi.json", .name = "openapi", .open = true, .answer = answer_openapi },
    { .route = "GET /errors", .name = "errors", .open = true, .answer = answer_codes },
    { .route = "GET /errors/:code", .name = "error", .open = true, .answer = answer_code },
    { 0 },
};
