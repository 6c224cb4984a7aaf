/*
 * Progress and log messages of a running flight. They are forwarded immediately, up to a limited
 * rate. A message with a leak is not sent, but written to the log with the id of the call.
 */
#include <math.h>

#include "mcp/calls/flight.h"
#include "incident/incident.h"
#include "operation/hide.h"

enum {
    ROOM = 2048,        /* enough for most messages */
    MOST_WORDS = 1024,  /* bytes of a message that are sent */
    PACE_NS = 45000000, /* between two progress messages: one every 50 ms is always sent */
    MOST_LOGGED = 64,   /* log messages in such an interval; further ones are dropped */
    MOST_RECORDED = 64, /* stack traces of one call: a handler may send them without end */
};

#define META_LOG_LEVEL "io.modelcontextprotocol/logLevel"

/* -- levels ------------------------------------------------------------------------------------ */

/* In the order of mishap_level. */
static const char *const levels[] = { "debug",    "info",  "notice",    "warning", "error",
                                      "critical", "alert", "emergency", NULL };

static bool find_level(mishap_text name, mishap_level *level)
{
    for (mishap_level i = MISHAP_DEBUG; i <= MISHAP_EMERGENCY; i++) {
        if (mishap_text_equal(mishap_text_of(levels[i]), name)) {
            *level = i;
            return true;
        }
    }
    return false;
}

static const mishap_param level_params[] = {
    { "level", MISHAP_ENUM, .required = true, .choices = levels },
    { 0 },
};

mishap *mishap_mcp_set_level(mishap_mcp_request *request, mishap_buffer *result)
{
    yyjson_val none = { .tag = YYJSON_TYPE_OBJ }, *params = request->message->params;
    mishap *failure = mishap_params_check(level_params, params ? params : &none);
    (void)result;
    if (!failure)
        find_level(mishap_json_text(yyjson_obj_get(params, "level")), &request->peer->level);
    return failure;
}

/* -- what a handler says while it runs --------------------------------------------------------- */

static mishap_mcp_flight *flight_of(const mishap_watcher *watcher)
{
    return (mishap_mcp_flight *)(void *)((uintptr_t)watcher - offsetof(mishap_mcp_flight, watcher));
}

/* What is taken out of a message is not lost: it is recorded in the log for the operator. */
static void record_words(mishap_mcp_flight *flight, mishap_text words,
                         const mishap_secrets *secrets)
{
    const mishap_call *call = flight->run.call;
    mishap_buffer text = { 0 };
    if (flight->removed++ >= MOST_RECORDED)
        return;
    MISHAP_PUT(&text, "Text of a report was not sent, since it is a leak.\n");
    mishap_secrets_put_hidden(&text, secrets, words);
    if (!text.failed)
        mishap_incident_line(call->app->name, call->operation->name, flight->incident,
                             mishap_buffer_text(&text), call->verbose);
    mishap_buffer_release(&text);
}

/* A string that the handler has sent, cut if it is too long. It is not known yet how the call ends,
 * so everything that must not leave with a failure is taken out. */
static void put_words(mishap_buffer *b, mishap_mcp_flight *flight, mishap_text words)
{
    char storage[ROOM], room[ROOM];
    mishap_arena arena;
    mishap_buffer hidden;
    const mishap_secrets *secrets = mishap_call_secrets(flight->run.call);
    mishap_arena_init(&arena, storage, sizeof storage);
    mishap_buffer_init(&hidden, room, sizeof room);
    words = mishap_utf8_clean(&arena, words);
    mishap_text clean = mishap_hide_text(words, &(mishap_sent){ .call = flight->run.call });
    if (clean.data != words.data)
        record_words(flight, words, secrets);
    words = clean;
    mishap_secrets_put_hidden(&hidden, secrets, words);
    b->failed = b->failed || hidden.failed || !words.data;
    words = mishap_buffer_text(&hidden);
    words.length = mishap_utf8_cut(words, MOST_WORDS);
    mishap_json_string(b, words);
    mishap_buffer_release(&hidden);
    mishap_arena_release(&arena);
}

static void put_number(mishap_buffer *b, double number)
{
    if (fabs(number) < 9e15 && number == (double)(int64_t)number)
        mishap_json_int(b, (int64_t)number);
    else
        mishap_buffer_put_real(b, number);
}

/* Send a notification; its params are complete but for the last brace. */
static void send(const mishap_mcp_flight *flight, const char *method, mishap_text params)
{
    mishap_buffer *buffer = mishap_mcp_begin_notification(flight->channel, method);
    mishap_buffer_put_text(buffer, params);
    mishap_mcp_finish_notification(flight->channel, buffer);
}

static const char progress_method[] = "notifications/progress";

/* Progress that comes too soon is held until newer progress replaces it, or it is sent at the
 * end. */
static void add_progress(mishap_mcp_flight *flight, double done, const mishap_buffer *params)
{
    int64_t now = mishap_clock_monotonic_ns();
    if (!(done > flight->progress) || params->failed)
        return;
    flight->progress = done;
    mishap_buffer_reset(&flight->latest);
    if (now - flight->progress_ns >= PACE_NS) {
        flight->progress_ns = now;
        send(flight, progress_method, mishap_buffer_text(params));
    } else {
        mishap_buffer_put_text(&flight->latest, mishap_buffer_text(params));
    }
}

static void on_progress(const mishap_watcher *watcher, double done, double total, mishap_text words)
{
    mishap_mcp_flight *flight = flight_of(watcher);
    char room[ROOM];
    mishap_buffer line;
    if (!isfinite(done))
        return;
    mishap_buffer_init(&line, room, sizeof room);
    MISHAP_PUT(&line, "\"progressToken\":");
    mishap_buffer_put_text(&line, flight->progress_token);
    MISHAP_JSON_KEY(&line, "progress");
    put_number(&line, done);
    if (isfinite(total) && total > 0) {
        MISHAP_JSON_KEY(&line, "total");
        put_number(&line, total);
    }
    if (words.data && flight->asked.revision >= MISHAP_MCP_2025_03_26) {
        MISHAP_JSON_KEY(&line, "message");
        put_words(&line, flight, words);
    }
    add_progress(flight, done, &line);
    mishap_buffer_release(&line);
}

static void on_log(const mishap_watcher *watcher, mishap_level level, mishap_text words)
{
    mishap_mcp_flight *flight = flight_of(watcher);
    char room[ROOM];
    mishap_buffer line;
    int64_t now = mishap_clock_monotonic_ns();
    if (level < flight->level || level > MISHAP_EMERGENCY)
        return;
    if (now - flight->window_ns >= PACE_NS) {
        flight->window_ns = now;
        flight->window_count = 0;
    }
    if (flight->window_count++ >= MOST_LOGGED)
        return;
    mishap_buffer_init(&line, room, sizeof room);
    MISHAP_PUT(&line, "\"level\":");
    mishap_json_string(&line, mishap_text_of(levels[level]));
    MISHAP_JSON_KEY(&line, "logger");
    mishap_json_string(&line, flight->asked.offer->name);
    MISHAP_JSON_KEY(&line, "data");
    put_words(&line, flight, words);
    if (!line.failed)
        send(flight, "notifications/message", mishap_buffer_text(&line));
    mishap_buffer_release(&line);
}

void mishap_mcp_flight_report(mishap_mcp_flight *flight)
{
    if (!flight->latest.length)
        return;
    flight->progress_ns = mishap_clock_monotonic_ns();
    send(flight, progress_method, mishap_buffer_text(&flight->latest));
    mishap_buffer_reset(&flight->latest);
}

/* -- beginning and end ------------------------------------------------------------------------- */

/* In older revisions the session chooses the level. In the stateless one the request does;
 * otherwise no log messages are sent. */
static void choose_level(mishap_mcp_flight *flight, const mishap_mcp_request *request)
{
    yyjson_val *level = yyjson_obj_get(request->message->meta, META_LOG_LEVEL);
    flight->level = request->peer->level;
    flight->logs = !mishap_mcp_is_modern(flight->asked.revision) ||
                   find_level(mishap_json_text(level), &flight->level);
}

void mishap_mcp_report_begin(mishap_mcp_flight *flight, const mishap_mcp_request *request)
{
    choose_level(flight, request);
    flight->progress = -INFINITY;
    flight->progress_ns = flight->window_ns = INT64_MIN / 2;
    flight->watcher.progress = flight->progress_token.length ? on_progress : NULL;
    flight->watcher.log = flight->logs ? on_log : NULL;
    flight->run.call->watcher = &flight->watcher;
}

void mishap_mcp_report_end(mishap_mcp_flight *flight)
{
    mishap_buffer_release(&flight->latest);
}
