/* The built-in endpoints of every server. */
#include "http/documents/documents.h"
#include "http/serve/serve.h"
#include "http/wire/wire.h"
#include "incident/readers.h"
#include "operation/settings.h"
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
        mishap_json_key(b, mishap_text_of(found.service->name));
        put_ready(b, &found);
    }
    if (count)
        mishap_json_close(b, '}');
}

/* One reader of the journal, unless it is off; `own` is a count that only this reader has. */
static void put_reader(mishap_buffer *b, const char *name, const mishap_reader_counts *counts,
                       const char *own, uint64_t own_count)
{
    static const char *const words[] = { "off", "follows", "retries", "refuses", "rebuilds" };
    uint32_t state = atomic_load(&counts->state);
    if (!state || state >= sizeof words / sizeof *words)
        return;
    mishap_json_key(b, mishap_text_of(name));
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "state");
    mishap_json_string(b, mishap_text_of(words[state]));
    if (state == MISHAP_READER_RETRIES) {
        MISHAP_JSON_KEY(b, "error");
        mishap_json_int(b, atomic_load(&counts->error));
    }
    MISHAP_JSON_KEY(b, "lag_bytes");
    mishap_json_int(b, (int64_t)atomic_load(&counts->lag_bytes));
    MISHAP_JSON_KEY(b, "lost");
    mishap_json_int(b, (int64_t)atomic_load(&counts->lost));
    MISHAP_JSON_KEY(b, "dropped");
    mishap_json_int(b, (int64_t)atomic_load(&counts->dropped));
    mishap_json_key(b, mishap_text_of(own));
    mishap_json_int(b, (int64_t)own_count);
    mishap_json_close(b, '}');
}

/* What reads the journal of incidents, and how far each is behind. */
static void put_readers(mishap_buffer *b)
{
    const mishap_incident_counts *counts = mishap_incident_counts_shared();
    if (!counts || (!atomic_load(&counts->index.state) && !atomic_load(&counts->otlp.state)))
        return;
    MISHAP_JSON_KEY(b, "readers");
    mishap_json_open(b, '{');
    put_reader(b, "index", &counts->index, "rebuilt", atomic_load(&counts->index.rebuilt));
    put_reader(b, "otlp", &counts->otlp, "retries", atomic_load(&counts->otlp.retries));
    mishap_json_close(b, '}');
}

/* Incidents that the log does not have, and why it cannot be written now; absent if all is well. */
static void put_lost_incidents(mishap_buffer *b)
{
    const mishap_incident_counts *counts = mishap_incident_counts_shared();
    uint64_t lost = counts ? atomic_load(&counts->lost) : 0;
    uint64_t error = counts ? atomic_load(&counts->write_error) : 0;
    if (!lost && !error)
        return;
    MISHAP_JSON_KEY(b, "incidents");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "lost");
    mishap_json_int(b, (int64_t)lost);
    if (error) {
        MISHAP_JSON_KEY(b, "error");
        mishap_json_int(b, (int64_t)error);
    }
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
    put_readers(b);
    put_lost_incidents(b);
    mishap_json_close(b, '}');
    answer_with(server, request, reply, "application/json");
}

/* Each service that was tried or cannot be opened, under its name. */
static void put_services(mishap_buffer *b, const mishap_served *served)
{
    mishap_readiness found;
    size_t at = 0;
    mishap_json_open(b, '{');
    while (mishap_trials_next(served, &at, &found)) {
        mishap_json_key(b, mishap_text_of(found.service->name));
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
}

/* What is missing, as a list and as words for people. False: nothing is. */
static bool put_missing(mishap_buffer *list, mishap_buffer *words, const mishap_http_server *server)
{
    const mishap_served *served = mishap_http_settings_of(server)->served;
    mishap_readiness found;
    size_t at = 0, count = 0;
    mishap_json_open(list, '[');
    while (mishap_trials_next(served, &at, &found)) {
        if (!found.known || found.ready)
            continue;
        bool store = found.state == MISHAP_TRIAL_CLOSED && mishap_service_has_store(found.service);
        mishap_json_open(list, '{');
        MISHAP_JSON_KEY(list, "what");
        mishap_json_string(list, mishap_text_of(store ? "store" : "service"));
        MISHAP_JSON_KEY(list, "service");
        mishap_json_string(list, mishap_text_of(found.service->name));
        mishap_json_close(list, '}');
        mishap_buffer_put_text(words, mishap_text_of(count++ ? "; " : ""));
        mishap_buffer_put_text(words, mishap_text_of(store ? "the store of " : "the service "));
        mishap_buffer_put_text(words, mishap_text_of(found.service->name));
        mishap_buffer_put_text(words,
                               mishap_text_of(store ? " cannot be opened" : " does not work"));
    }
    if (mishap_http_is_stopping(server)) {
        mishap_buffer_put_text(
            list, mishap_text_of(count ? ",{\"what\":\"draining\"}" : "{\"what\":\"draining\"}"));
        mishap_buffer_put_text(
            words, mishap_text_of(count++ ? "; it is about to stop" : "it is about to stop"));
    }
    mishap_json_close(list, ']');
    mishap_buffer_put_char(list, '\0');
    mishap_buffer_put_char(words, '\0');
    return count > 0;
}

/* 503: a load balancer sends no requests here. It asks again and again, and each answer would be an
 * incident that hides the others: so it is counted, and leaves no record. */
static void refuse_ready(mishap_http_server *server, const mishap_http_request *request,
                         mishap_http_reply *reply, const char *list, const char *words)
{
    mishap_buffer services = { 0 };
    put_services(&services, mishap_http_settings_of(server)->served);
    mishap_buffer_put_char(&services, '\0');
    mishap *m = services.failed ? mishap_out_of_memory()
                                : mishap_raise(UNAVAILABLE, "The server is not ready: %s.", words);
    if (!services.failed)
        m = mishap_tell_value(
            mishap_tell_value(m, (mishap_text)MISHAP_TEXT("missing"), mishap_value_of_json(list)),
            (mishap_text)MISHAP_TEXT("services"), mishap_value_of_json(services.data));
    mishap_api_refuse(reply, mishap_http_settings_of(server), request, m); /* no record of it */
    mishap_free(m);
    mishap_buffer_release(&services);
}

static void answer_ready(mishap_http_server *server, const mishap_http_request *request,
                         const mishap_http_match *match, mishap_http_reply *reply)
{
    mishap_served *served = mishap_http_settings_of(server)->served;
    mishap_buffer list = { 0 }, words = { 0 };
    mishap_buffer *b = &reply->body;
    (void)match;
    mishap_trials_ask(served);
    bool missing = put_missing(&list, &words, server);
    if (missing && !list.failed && !words.failed) {
        refuse_ready(server, request, reply, list.data, words.data);
    } else {
        b->failed = b->failed || list.failed || words.failed;
        mishap_json_open(b, '{');
        MISHAP_JSON_KEY(b, "status");
        mishap_json_string(b, (mishap_text)MISHAP_TEXT("ready"));
        MISHAP_JSON_KEY(b, "services");
        put_services(b, served);
        mishap_json_close(b, '}');
        answer_with(server, request, reply, "application/json");
    }
    mishap_buffer_release(&list);
    mishap_buffer_release(&words);
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
    reply->vary_accept = true; /* a page may answer in its place */
    mishap_http_put_codes(&reply->body);
    answer_with(server, request, reply, "application/json");
}

static void answer_code(mishap_http_server *server, const mishap_http_request *request,
                        const mishap_http_match *match, mishap_http_reply *reply)
{
    reply->vary_accept = true;
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
    { .route = "GET /metrics",
      .name = "metrics",
      .scope = MISHAP_SCOPE_METRICS,
      .answer = answer_metrics },
    { .route = "GET /openapi.json", .name = "openapi", .open = true, .answer = answer_openapi },
    { .route = "GET /errors",
      .name = "errors",
      .open = true,
      .yields = true,
      .answer = answer_codes },
    { .route = "GET /errors/:code",
      .name = "error",
      .open = true,
      .yields = true,
      .answer = answer_code },
    { 0 },
};
