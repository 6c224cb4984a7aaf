/*
 * Metrics by OpenTelemetry's conventions: `http.server.request.duration` and
 * `mcp.server.operation.duration`, histograms of seconds. The loops count in shared memory
 * (server/metrics.c), which this process reads.
 */
#include "otlp/metrics.h"

#include <stdio.h>

#include "otlp/write.h"
#include "worker/serving/served.h"

enum { CUMULATIVE = 2, FIRST_FAULT = 500 };

/* The request that is being written. */
typedef struct points {
    mishap_buffer *b;
    const mishap_otlp_export *what;
    uint64_t now_ns;
    size_t count;
} points;

static void put_seconds(mishap_buffer *b, uint64_t ns)
{
    mishap_buffer_put_real(b, (double)ns / 1e9);
}

/* Begins a histogram, up to the list of its data points. */
static void begin_histogram(mishap_buffer *b, const char *name, const char *description)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "name");
    mishap_json_string(b, mishap_text_of(name));
    MISHAP_JSON_KEY(b, "description");
    mishap_json_string(b, mishap_text_of(description));
    MISHAP_JSON_KEY(b, "unit");
    mishap_json_string(b, (mishap_text)MISHAP_TEXT("s"));
    MISHAP_JSON_KEY(b, "histogram");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "aggregationTemporality");
    mishap_json_int(b, CUMULATIVE);
    MISHAP_JSON_KEY(b, "dataPoints");
    mishap_json_open(b, '[');
}

static void end_histogram(mishap_buffer *b)
{
    MISHAP_PUT(b, "]}}");
}

/* A data point without its attributes. The count is that of the buckets: so both agree while other
 * processes count. */
static void put_buckets(points *p, const uint64_t counts[MISHAP_HTTP_BUCKETS], uint64_t sum_ns)
{
    mishap_buffer *b = p->b;
    uint64_t total = 0;
    mishap_otlp_number(b, "startTimeUnixNano", p->what->begun_ns);
    mishap_otlp_number(b, "timeUnixNano", p->now_ns);
    MISHAP_JSON_KEY(b, "bucketCounts");
    mishap_json_open(b, '[');
    for (size_t i = 0; i < MISHAP_HTTP_BUCKETS; i++) {
        mishap_json_comma(b);
        mishap_buffer_put_char(b, '"');
        mishap_buffer_put_uint(b, counts[i]);
        mishap_buffer_put_char(b, '"');
        total += counts[i];
    }
    mishap_json_close(b, ']');
    mishap_otlp_number(b, "count", total);
    MISHAP_JSON_KEY(b, "sum");
    put_seconds(b, sum_ns);
    MISHAP_JSON_KEY(b, "explicitBounds");
    mishap_json_open(b, '[');
    for (size_t i = 0; i + 1 < MISHAP_HTTP_BUCKETS; i++) {
        mishap_json_comma(b);
        put_seconds(b, (uint64_t)mishap_http_bucket_ns(i));
    }
    mishap_json_close(b, ']');
    p->count++;
}

/* -- HTTP -------------------------------------------------------------------------------------- */

/* The conventions call a response of 5xx an error, and name it by its status. */
static void put_request_point(void *state, const mishap_http_durations *found)
{
    points *p = state;
    mishap_buffer *b = p->b;
    if (found->call)
        return;
    const char *space = found->route ? strchr(found->route, ' ') : NULL;
    char status[16];
    int length = snprintf(status, sizeof status, "%d", found->status);
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "attributes");
    mishap_json_open(b, '[');
    mishap_otlp_text(b, "http.request.method",
                     space ? (mishap_text){ found->route, (size_t)(space - found->route) }
                           : (mishap_text)MISHAP_TEXT("_OTHER"));
    mishap_otlp_text(b, "url.scheme", (mishap_text)MISHAP_TEXT("http"));
    if (space)
        mishap_otlp_text(b, "http.route", mishap_text_of(space + 1));
    if (found->status)
        mishap_otlp_int(b, "http.response.status_code", found->status);
    if (found->status >= FIRST_FAULT)
        mishap_otlp_text(b, "error.type", (mishap_text){ status, (size_t)length });
    mishap_json_close(b, ']');
    put_buckets(p, found->counts, found->sum_ns);
    mishap_json_close(b, '}');
}

/* -- MCP --------------------------------------------------------------------------------------- */

/* The conventions call a result with `isError` a tool_error. */
static void put_call_point(void *state, const mishap_http_durations *found)
{
    points *p = state;
    mishap_buffer *b = p->b;
    if (!found->call)
        return;
    const mishap_app *app = p->what->server->served->app;
    mishap_otlp_name name = mishap_otlp_find_name(app, mishap_text_of(found->call));
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "attributes");
    mishap_json_open(b, '[');
    mishap_otlp_text(b, "mcp.method.name", (mishap_text)MISHAP_TEXT("tools/call"));
    mishap_otlp_text(b, "gen_ai.tool.name", mishap_text_of(name.tool ? name.tool : found->call));
    if (found->failed)
        mishap_otlp_text(b, "error.type", (mishap_text)MISHAP_TEXT("tool_error"));
    mishap_json_close(b, ']');
    put_buckets(p, found->counts, found->sum_ns);
    mishap_json_close(b, '}');
}

/* -- all of them ------------------------------------------------------------------------------- */

size_t mishap_otlp_put_metrics(mishap_buffer *b, const mishap_otlp_export *what)
{
    points p = { .b = b, .what = what, .now_ns = (uint64_t)mishap_clock_now_ms() * 1000000 };
    mishap_otlp_begin(b, MISHAP_OTLP_METRICS, what->settings, what->instance);
    begin_histogram(b, "http.server.request.duration",
                    "Duration of requests, from the first byte of the request to the end of the "
                    "response.");
    mishap_http_metrics_visit(what->server->metrics, what->server->routes, put_request_point, &p);
    end_histogram(b);
    begin_histogram(b, "mcp.server.operation.duration",
                    "Duration of calls of operations over MCP, from the message to its answer.");
    mishap_http_metrics_visit(what->server->metrics, what->server->routes, put_call_point, &p);
    end_histogram(b);
    mishap_otlp_end(b);
    return p.count;
}
