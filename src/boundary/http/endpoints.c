/* The built-in endpoints of every server. */
#include "boundary/http/http.h"

/* What the reply has in its body, if there was memory for all of it. */
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

/* It is 200 as long as the server answers: a server whose store is gone is not mended by a restart,
 * and its other services work. */
static void answer_health(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply)
{
    const mishap_served *served = mishap_http_settings_of(server)->served;
    const mishap_app *app = served->app;
    size_t at = 0;
    const char *missing = mishap_served_unavailable(served, &at);
    mishap_buffer *b = &reply->body;
    (void)match;
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "status");
    mishap_json_string(b, mishap_text_of(missing ? "degraded" : "ok"));
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
      .any_host = true, /* load balancers go by names of their own, and it tells no more */
      .answer = answer_health },
    { .route = "GET /metrics", .name = "metrics", .answer = answer_metrics },
    { .route = "GET /openapi.json", .name = "openapi", .open = true, .answer = answer_openapi },
    { .route = "GET /errors", .name = "errors", .open = true, .answer = answer_codes },
    { .route = "GET /errors/:code", .name = "error", .open = true, .answer = answer_code },
    { 0 },
};
