/* Lines of the journal as OTLP: what becomes of each kind, of hostile ones, and without memory. The
 * variables of OpenTelemetry: which counts, and what is refused. */
#include <errno.h>
#include <unistd.h>

#include "otlp/place.h"
#include "otlp/records.h"
#include "testing.h"

static mishap_otlp_settings settings;

static mishap_otlp_name find_name(const void *state, mishap_text operation)
{
    (void)state;
    bool known = mishap_text_equal(operation, T("todos.show"));
    return (mishap_otlp_name){ known ? "GET /todos/:id" : NULL, known ? "todos_show" : NULL };
}

static mishap_otlp_batch batch_with(bool logs, bool spans)
{
    memset(&settings, 0, sizeof settings);
    settings.program = "test";
    settings.targets[MISHAP_OTLP_LOGS].url = logs ? "http://127.0.0.1/v1/logs" : NULL;
    settings.targets[MISHAP_OTLP_TRACES].url = spans ? "http://127.0.0.1/v1/traces" : NULL;
    return (mishap_otlp_batch){ .settings = &settings, .instance = "one", .find = find_name };
}

/* With a NUL behind it. */
static char *copy_of(const char *data, size_t length)
{
    char *text = calloc(length + 1, 1);
    assert_non_null(text);
    memcpy(text, data, length);
    return text;
}

/* A batch of one line; the request of logs, or of spans, as malloc'ed text. */
static char *made_of(const char *line, bool spans)
{
    mishap_otlp_batch batch = batch_with(!spans, spans);
    mishap_otlp_batch_begin(&batch);
    bool added = mishap_otlp_batch_add(&batch, mishap_text_of(line));
    assert_true(mishap_otlp_batch_end(&batch));
    const mishap_buffer *b = spans ? &batch.spans : &batch.logs;
    size_t count = spans ? batch.span_count : batch.log_count;
    char *text = added && count ? copy_of(b->data, b->length) : NULL;
    if (added && count) { /* it is JSON, without a flaw */
        mishap_json_reader reader = MISHAP_JSON_READER;
        yyjson_val *at;
        assert_true(mishap_json_read(&reader, mishap_buffer_text(b)));
        assert_int_equal(mishap_json_first_flaw(&reader, &at), MISHAP_JSON_SOUND);
        mishap_json_reader_release(&reader);
    }
    mishap_otlp_batch_release(&batch);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    assert_non_null(text);
    if (!strstr(text, part))
        print_message("# %s is not in %s\n", part, text);
    assert_non_null(strstr(text, part));
}

#define ATTRIBUTE(key, value) "{\"key\":\"" key "\",\"value\":{\"stringValue\":\"" value "\"}}"
#define NUMBER(key, value)    "{\"key\":\"" key "\",\"value\":{\"intValue\":\"" value "\"}}"

static const char whole[] =
    "{\"v\":1,\"kind\":\"whole\",\"id\":\"018f2d2e-0a1b-7c3d-8e4f-0123456789ab\","
    "\"time\":\"2026-11-17T16:00:00.123Z\",\"program\":\"mishap\",\"version\":\"0.1.0\","
    "\"service\":\"todo\",\"operation\":\"todos.show\",\"boundary\":\"http\",\"caller\":\"alice\","
    "\"code\":\"INTERNAL_ERROR\",\"category\":\"system\",\"status\":500,\"message\":\"An internal "
    "error occurred.\",\"private_message\":\"The disk is full.\",\"group\":\"0123456789abcdef\","
    "\"response\":\"{\\\"a\\\":1}\",\"noted\":{\"disk\":\"sda1\"},\"told\":{},\"place\":{\"file\":"
    "\"a.c\",\"line\":12,\"function\":\"show\"},\"stack\":[\"show "
    "(a.c:12)\",\"main\"],\"headers\":{"
    "\"user-agent\":\"curl\"},\"duration_us\":1500,\"process\":{\"pid\":7,\"role\":\"loop\"},"
    "\"trace\":{\"id\":\"0af7651916cd43dd8448eb211c80319c\",\"span\":\"b7ad6b7169203331\","
    "\"parent\":\"00f067aa0ba902b7\"}}";

static void a_whole_record_becomes_a_log_record(void **state)
{
    (void)state;
    char *text = made_of(whole, false);
    assert_has(text, "{\"resourceLogs\":[{\"resource\":{\"attributes\":[");
    assert_has(text, ATTRIBUTE("service.name", "test"));
    assert_has(text, ATTRIBUTE("service.instance.id", "one"));
    assert_has(text, "\"timeUnixNano\":\"1794931200123000000\"");
    assert_has(text, "\"severityNumber\":17,\"severityText\":\"ERROR\"");
    assert_has(text, "\"body\":{\"stringValue\":\"An internal error occurred.\"}");
    assert_has(text, ATTRIBUTE("mishap.incident.id", "018f2d2e-0a1b-7c3d-8e4f-0123456789ab"));
    assert_has(text, ATTRIBUTE("error.type", "INTERNAL_ERROR"));
    assert_has(text, ATTRIBUTE("http.request.method", "GET"));
    assert_has(text, ATTRIBUTE("http.route", "/todos/:id"));
    assert_has(text, NUMBER("http.response.status_code", "500"));
    assert_has(text, ATTRIBUTE("exception.type", "INTERNAL_ERROR"));
    assert_has(text, ATTRIBUTE("exception.message", "The disk is full."));
    assert_has(text, ATTRIBUTE("exception.stacktrace", "show (a.c:12)\\nmain"));
    assert_has(text, ATTRIBUTE("code.file.path", "a.c"));
    assert_has(text, NUMBER("code.line.number", "12"));
    assert_has(text, ATTRIBUTE("mishap.noted", "{\\\"disk\\\":\\\"sda1\\\"}"));
    assert_has(text, ATTRIBUTE("mishap.response", "{\\\"a\\\":1}"));
    assert_has(text, ATTRIBUTE("user_agent.original", "curl"));
    assert_has(text, NUMBER("mishap.duration_us", "1500"));
    assert_has(text, "\"traceId\":\"0af7651916cd43dd8448eb211c80319c\","
                     "\"spanId\":\"b7ad6b7169203331\"}");
    assert_null(strstr(text, "mishap.told"));
    free(text);
}

static void a_whole_record_becomes_a_span(void **state)
{
    (void)state;
    char *text = made_of(whole, true);
    assert_has(text, "{\"resourceSpans\":[{");
    assert_has(text, "{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":"
                     "\"b7ad6b7169203331\",\"parentSpanId\":\"00f067aa0ba902b7\",\"name\":"
                     "\"GET /todos/:id\",\"kind\":2,\"startTimeUnixNano\":"
                     "\"1794931200121500000\",\"endTimeUnixNano\":\"1794931200123000000\"");
    assert_has(text, "\"events\":[{\"timeUnixNano\":\"1794931200123000000\",\"name\":"
                     "\"exception\",\"attributes\":[");
    assert_has(text, "\"status\":{\"code\":2,\"message\":\"An internal error occurred.\"}");
    free(text);
}

static void a_record_without_a_trace_has_its_own(void **state)
{
    (void)state;
    char *text = made_of("{\"v\":1,\"kind\":\"whole\",\"id\":\"018f2d2e-0a1b-7c3d-8e4f-"
                         "0123456789ab\",\"time\":\"2026-11-17T16:00:00.000Z\",\"operation\":"
                         "\"todos.show\",\"boundary\":\"mcp\",\"status\":200,\"code\":"
                         "\"NOT_FOUND\",\"category\":\"resource\",\"message\":\"None.\","
                         "\"trace\":{\"id\":\"00000000000000000000000000000000\","
                         "\"span\":\"b7ad6b7169203331\"}}",
                         true);
    assert_has(text, "{\"traceId\":\"018f2d2e0a1b7c3d8e4f0123456789ab\",\"spanId\":"
                     "\"8e4f0123456789ab\",\"name\":\"tools/call todos_show\",\"kind\":2");
    assert_has(text, ATTRIBUTE("gen_ai.tool.name", "todos_show"));
    assert_has(text, ATTRIBUTE("mcp.method.name", "tools/call"));
    assert_has(text, "\"status\":{\"code\":2");
    free(text);
}

/* What the caller did wrong is no error of a span that a server has. */
static void a_404_is_a_warning_and_no_error_of_its_span(void **state)
{
    static const char line[] = "{\"v\":1,\"kind\":\"whole\",\"id\":\"018f2d2e-0a1b-7c3d-8e4f-"
                               "0123456789ab\",\"time\":\"2026-11-17T16:00:00.000Z\","
                               "\"boundary\":\"http\",\"status\":404,\"code\":\"NOT_FOUND\","
                               "\"category\":\"resource\",\"message\":\"None.\"}";
    (void)state;
    char *log = made_of(line, false), *span = made_of(line, true);
    assert_has(log, "\"severityNumber\":13,\"severityText\":\"WARN\"");
    assert_has(span, "\"name\":\"NOT_FOUND\"");
    assert_null(strstr(span, "\"status\":{"));
    free(log);
    free(span);
}

static void a_compact_line_has_all_its_ids(void **state)
{
    static const char line[] =
        "{\"v\":1,\"kind\":\"compact\",\"time\":\"2026-11-17T16:00:00.000Z\",\"program\":\"p\","
        "\"group\":\"0123456789abcdef\",\"code\":\"VALIDATION_ERROR\",\"category\":\"validation\","
        "\"status\":422,\"boundary\":\"http\",\"operation\":\"todos.show\",\"count\":2,\"ids\":"
        "\"AY8tLgobfD2OTwEjRWeJqwGPLS4KG3w9jk8BI0Vnia8=\",\"us\":[5,6],\"like\":"
        "\"018f2d2e-0a1b-7c3d-8e4f-0123456789ab\"}";
    (void)state;
    char *text = made_of(line, false);
    assert_has(text, "\"body\":{\"stringValue\":\"2 failures: VALIDATION_ERROR\"}");
    assert_has(text, NUMBER("mishap.count", "2"));
    assert_has(text, "{\"key\":\"mishap.incident.ids\",\"value\":{\"arrayValue\":{\"values\":["
                     "{\"stringValue\":\"018f2d2e-0a1b-7c3d-8e4f-0123456789ab\"},"
                     "{\"stringValue\":\"018f2d2e-0a1b-7c3d-8e4f-0123456789af\"}]}}}");
    assert_has(text, ATTRIBUTE("mishap.incident.like", "018f2d2e-0a1b-7c3d-8e4f-0123456789ab"));
    assert_has(text, ATTRIBUTE("mishap.durations_us", "[5,6]"));
    free(text);
    text = made_of(line, true);
    assert_has(
        text,
        "{\"traceId\":\"018f2d2e0a1b7c3d8e4f0123456789ab\",\"spanId\":\"8e4f0123456789ab\","
        "\"name\":\"GET /todos/:id\",\"kind\":2,\"startTimeUnixNano\":\"1714449943067000000\","
        "\"endTimeUnixNano\":\"1714449943067005000\"");
    assert_has(text, "\"endTimeUnixNano\":\"1714449943067006000\"");
    assert_has(text, ATTRIBUTE("mishap.incident.id", "018f2d2e-0a1b-7c3d-8e4f-0123456789af"));
    assert_has(text, ATTRIBUTE("mishap.incident.like", "018f2d2e-0a1b-7c3d-8e4f-0123456789ab"));
    assert_null(strstr(text, "exception"));
    free(text);
}

static void a_compact_line_that_makes_no_sense_has_no_spans(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "\"count\":1,\"ids\":\"AY8t\",\"us\":[5]",
        "\"count\":2,\"ids\":\"AY8tLgobfD2OTwEjRWeJqw==\",\"us\":[]",
        "\"count\":0,\"ids\":\"\",\"us\":[]", "\"us\":[1]"
    };
    static const char *const fine[] = { "[]",      "{}",      "[5,6,7]", "[-1]",
                                        "[\"x\"]", "[1e300]", "null",    "[9223372036854775807]" };
    char line[400];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line,
                 "{\"v\":1,\"kind\":\"compact\",\"time\":\"2026-11-17T16:00:00.000Z\",\"code\":"
                 "\"NOT_FOUND\",%s}",
                 wrong[i]);
        assert_null(made_of(line, true));
    }
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        snprintf(line, sizeof line,
                 "{\"v\":1,\"kind\":\"compact\",\"time\":\"2026-11-17T16:00:00.000Z\",\"code\":"
                 "\"NOT_FOUND\",\"count\":1,\"ids\":\"AY8tLgobfD2OTwEjRWeJqw==\",\"us\":%s}",
                 fine[i]);
        free(made_of(line, true));
    }
}

static void other_lines(void **state)
{
    (void)state;
    char *text = made_of("{\"v\":1,\"kind\":\"line\",\"time\":\"2026-11-17T16:00:00.000Z\","
                         "\"program\":\"p\",\"text\":\"a \\\"word\\\"\\u0001 \\ud83d\\ude00\"}",
                         false);
    assert_has(text, "\"severityNumber\":9");
    assert_has(text, "{\"stringValue\":\"a \\\"word\\\"\\u0001 \xf0\x9f\x98\x80\"}");
    free(text);
    text = made_of("{\"v\":1,\"kind\":\"lost\",\"time\":\"2026-11-17T16:00:00.000Z\",\"count\":9}",
                   false);
    assert_has(text, NUMBER("mishap.count", "9"));
    free(text);
    assert_null(
        made_of("{\"v\":1,\"kind\":\"later\",\"time\":\"2026-11-17T16:00:00.000Z\"}", false));
}

/* -- hostile lines ----------------------------------------------------------------------------- */

#define ID   "\"id\":\"018f2d2e-0a1b-7c3d-8e4f-0123456789ab\""
#define TIME "\"time\":\"2026-11-17T16:00:00.000Z\""

static void lines_that_make_no_sense_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "{",
        "null",
        "[]",
        "1",
        "{}",
        "{\"v\":1}",
        "{\"v\":2,\"kind\":\"whole\"," ID "," TIME "}",
        "{\"v\":1,\"kind\":\"whole\"," ID "}",
        "{\"v\":1,\"kind\":\"whole\"," ID "," TIME "}", /* no code */
        "{\"v\":1,\"kind\":\"whole\",\"id\":\"x\",\"code\":\"A\"," TIME "}",
        "{\"v\":1,\"kind\":\"whole\",\"id\":7,\"code\":\"A\"," TIME "}",
        "{\"v\":1,\"kind\":\"whole\"," ID ",\"code\":\"A\",\"code\":\"B\"," TIME "}",
        "{\"v\":1,\"kind\":\"whole\"," ID ",\"code\":\"A\",\"time\":\"yesterday\"}",
        "{\"v\":1,\"kind\":7," ID "," TIME "}",
        "{\"v\":1,\"kind\":\"compact\"," TIME ",\"code\":\"A\",\"count\":2,\"ids\":\"AAAA\"}",
        "{\"v\":1,\"kind\":\"compact\"," TIME ",\"code\":\"A\",\"count\":-1,\"ids\":\"\"}",
        "{\"v\":1,\"kind\":\"compact\"," TIME ",\"code\":\"A\",\"count\":1152921504606846976,"
        "\"ids\":\"\"}",
        "{\"v\":1,\"kind\":\"compact\"," TIME ",\"code\":\"A\",\"count\":1,\"ids\":\"*\"}",
        "{\"v\":1,\"kind\":\"line\"," TIME "}",
        "{\"v\":1,\"kind\":\"lost\"," TIME ",\"count\":\"many\"}",
        "{\"v\":1,\"kind\":\"line\"," TIME ",\"text\":\"\xff\"}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mishap_otlp_batch batch = batch_with(true, true);
        mishap_otlp_batch_begin(&batch);
        size_t logs = batch.logs.length, spans = batch.spans.length;
        if (mishap_otlp_batch_add(&batch, mishap_text_of(wrong[i])))
            fail_msg("accepted: %s", wrong[i]);
        assert_int_equal(batch.logs.length, logs);
        assert_int_equal(batch.spans.length, spans);
        assert_true(mishap_otlp_batch_end(&batch));
        mishap_otlp_batch_release(&batch);
    }
}

/* Members of any other type are left out, and the rest is sent. */
static void members_of_another_type_are_left_out(void **state)
{
    static const char *const members[] = {
        "service", "operation", "boundary", "caller",  "category",        "status", "message",
        "group",   "response",  "told",     "noted",   "fields",          "causes", "place",
        "stack",   "backtrace", "stdout",   "headers", "lines",           "trace",  "duration_us",
        "process", "arguments", "cut",      "type",    "private_message",
    };
    static const char *const values[] = { "null",       "-1",
                                          "1e300",      "[1,[2],{}]",
                                          "{\"a\":{}}", "\"\\u0000\"",
                                          "true",       "18446744073709551615" };
    char line[1000];
    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
            snprintf(line, sizeof line,
                     "{\"v\":1,\"kind\":\"whole\"," ID "," TIME ",\"code\":\"A\",\"%s\":%s}",
                     members[i], values[j]);
            char *log = made_of(line, false), *span = made_of(line, true);
            assert_has(log, ATTRIBUTE("error.type", "A"));
            assert_has(span, ATTRIBUTE("error.type", "A"));
            free(log);
            free(span);
        }
}

static void a_long_value_is_cut_at_a_character(void **state)
{
    size_t size = 100000;
    char *line = malloc(size + 300);
    int begun = snprintf(line, 300,
                         "{\"v\":1,\"kind\":\"whole\"," ID "," TIME ",\"code\":\"A\","
                         "\"response\":\"x");
    (void)state;
    for (size_t i = 0; i < size / 2; i++)
        memcpy(line + begun + 2 * i, "\xc3\xa4", 2);
    memcpy(line + (size_t)begun + size, "\"}", 3);
    char *text = made_of(line, false);
    assert_true(strlen(text) < MISHAP_OTLP_TEXT + 4000);
    assert_has(text, "\xc3\xa4\"}}");
    free(text);
    free(line);
}

static void times(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } rows[] = {
        { "1970-01-01T00:00:00.000Z", 0 },
        { "1972-02-29T00:00:00.001Z", UINT64_C(68169600001000000) },
        { "2000-03-01T00:00:00.000Z", UINT64_C(951868800000000000) },
        { "2026-11-17T16:00:00.123Z", UINT64_C(1794931200123000000) },
        { "2100-12-31T23:59:60.999Z", UINT64_C(4133980800999000000) },
    };
    static const char *const wrong[] = { "",
                                         "2026-11-17",
                                         "2026-13-17T16:00:00.123Z",
                                         "2026-00-17T16:00:00.123Z",
                                         "2026-11-32T16:00:00.123Z",
                                         "2026-11-17T24:00:00.123Z",
                                         "1969-11-17T16:00:00.123Z",
                                         "2026-11-17 16:00:00.123Z",
                                         "2026-11-17T16:00:00.123+",
                                         "2026-11-17T16:00:00.123Z ",
                                         "9999-11-17T16:00:00.123Z",
                                         "-026-11-17T16:00:00.123Z" };
    uint64_t ns;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(mishap_otlp_read_time(mishap_text_of(rows[i].text), &ns));
        assert_int_equal(ns, rows[i].ns);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(mishap_otlp_read_time(mishap_text_of(wrong[i]), &ns));
}

static void make_without_memory(const void *input)
{
    mishap_otlp_batch batch = batch_with(true, true);
    mishap_otlp_batch_begin(&batch);
    bool added = mishap_otlp_batch_add(&batch, mishap_text_of(input));
    bool all = mishap_otlp_batch_end(&batch);
    assert_true((added && all) || calls >= fail_at);
    if (all && added)
        assert_memory_equal(batch.logs.data + batch.logs.length - 6, "]}]}]}", 6);
    mishap_otlp_batch_release(&batch);
}

static void every_allocation_fails(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(make_without_memory, whole);
    mishap_use_allocator(NULL);
}

/* -- settings ---------------------------------------------------------------------------------- */

static const char *const variables[] = {
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_SDK_DISABLED",
    "OTEL_LOGS_EXPORTER",
    "OTEL_SERVICE_NAME",
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_METRIC_EXPORT_INTERVAL",
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
};

static int clear_variables(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    return 0;
}

static void read_settings(const char *url, bool spans)
{
    assert_null(mishap_otlp_settings_read(
        &(mishap_otlp_wish){ .url = url, .spans = spans, .program = "p", .version = "1" },
        &settings));
}

static void the_option_and_the_variables_name_targets(void **state)
{
    (void)state;
    read_settings(NULL, true);
    assert_false(mishap_otlp_wanted(&settings));
    mishap_otlp_settings_release(&settings);

    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "", 1); /* as if it were not there */
    read_settings(NULL, true);
    assert_false(mishap_otlp_wanted(&settings));
    mishap_otlp_settings_release(&settings);

    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:4318/base/", 1);
    setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://b/x", 1);
    setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2000", 1);
    setenv("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "3000", 1);
    setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem", 1);
    read_settings(NULL, false);
    assert_string_equal(settings.targets[MISHAP_OTLP_LOGS].url, "http://b/x");
    assert_string_equal(settings.targets[MISHAP_OTLP_METRICS].url, "http://a:4318/base/v1/metrics");
    assert_null(settings.targets[MISHAP_OTLP_TRACES].url); /* without --otlp-spans */
    assert_int_equal(settings.targets[MISHAP_OTLP_LOGS].timeout_ms, 2000);
    assert_int_equal(settings.targets[MISHAP_OTLP_METRICS].timeout_ms, 3000);
    assert_string_equal(settings.targets[MISHAP_OTLP_LOGS].authorities, "/ca.pem");
    mishap_otlp_settings_release(&settings);

    setenv("OTEL_LOGS_EXPORTER", "none", 1);
    read_settings("http://c", true);
    assert_null(settings.targets[MISHAP_OTLP_LOGS].url);
    assert_string_equal(settings.targets[MISHAP_OTLP_TRACES].url, "http://c/v1/traces");
    mishap_otlp_settings_release(&settings);

    setenv("OTEL_SDK_DISABLED", "TRUE", 1);
    read_settings("http://c", true);
    assert_false(mishap_otlp_wanted(&settings));
    mishap_otlp_settings_release(&settings);
}

static void header_fields_are_read_and_forgotten(void **state)
{
    (void)state;
    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a", 1);
    setenv("OTEL_EXPORTER_OTLP_HEADERS", " Authorization = Bearer%20s3cret , x-two=a%2Cb,", 1);
    setenv("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "api-key=k", 1);
    char *value = getenv("OTEL_EXPORTER_OTLP_HEADERS");
    read_settings(NULL, false);
    const mishap_otlp_target *metrics = &settings.targets[MISHAP_OTLP_METRICS];
    const mishap_otlp_target *logs = &settings.targets[MISHAP_OTLP_LOGS];
    assert_int_equal(metrics->header_count, 3);
    assert_string_equal(metrics->headers[0].name, "Content-Type");
    assert_string_equal(metrics->headers[1].name, "Authorization");
    assert_string_equal(metrics->headers[1].value, "Bearer s3cret");
    assert_string_equal(metrics->headers[2].value, "a,b");
    assert_int_equal(logs->header_count, 2); /* that of the signal replaces the other */
    assert_string_equal(logs->headers[1].name, "api-key");
    assert_null(getenv("OTEL_EXPORTER_OTLP_HEADERS"));
    assert_null(getenv("OTEL_EXPORTER_OTLP_LOGS_HEADERS"));
    assert_int_equal(value[0], 0);
    mishap_otlp_settings_release(&settings);
}

static void variables_that_cannot_be_used(void **state)
{
    static const struct {
        const char *name, *value;
    } rows[] = {
        { "OTEL_EXPORTER_OTLP_HEADERS", "s3cret" },
        { "OTEL_EXPORTER_OTLP_HEADERS", "=s3cret" },
        { "OTEL_EXPORTER_OTLP_HEADERS", "a=%s3cret" },
        { "OTEL_EXPORTER_OTLP_HEADERS", "a=s3cret%00" },
        { "OTEL_EXPORTER_OTLP_HEADERS", "Content-Length=s3cret" },
        { "OTEL_EXPORTER_OTLP_TIMEOUT", "0" },
        { "OTEL_EXPORTER_OTLP_TIMEOUT", "10s" },
        { "OTEL_EXPORTER_OTLP_TIMEOUT", "-1" },
        { "OTEL_EXPORTER_OTLP_TIMEOUT", "99999999999999999999" },
        { "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc" },
        { "OTEL_METRIC_EXPORT_INTERVAL", "often" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a", 1);
        setenv(rows[i].name, rows[i].value, 1);
        mishap *m = mishap_otlp_settings_read(&(mishap_otlp_wish){ .program = "p" }, &settings);
        assert_true(mishap_is(m, NOT_CONFIGURED));
        assert_non_null(strstr(mishap_told(m)->message.data, rows[i].name));
        assert_null(strstr(mishap_told(m)->message.data, "s3cret"));
        mishap_free(m);
        assert_null(getenv("OTEL_EXPORTER_OTLP_HEADERS"));
        clear_variables(NULL);
    }
}

static void the_resource_has_what_the_variables_say(void **state)
{
    static const struct {
        const char *service, *attributes, *has, *has_not;
    } rows[] = {
        { NULL, NULL, ATTRIBUTE("service.name", "p"), "deployment" },
        { "s", "service.name=x", ATTRIBUTE("service.name", "s"), "\"x\"" },
        { NULL, "a=b, service.name=x ,c=d%20e", ATTRIBUTE("service.name", "x"), "\"p\"" },
        { NULL, "a=b,c=d%20e", ATTRIBUTE("c", "d e"), "%20" },
        { NULL, "broken,=b,x=%zz,y=%ff,ok=1", ATTRIBUTE("ok", "1"), "%zz" },
        { NULL, "service.version=9", ATTRIBUTE("service.version", "9"), "\"1\"" },
        { NULL, "telemetry.sdk.name=no", ATTRIBUTE("telemetry.sdk.name", "mishap"), "\"no\"" },
    };
    mishap_buffer b;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].service)
            setenv("OTEL_SERVICE_NAME", rows[i].service, 1);
        if (rows[i].attributes)
            setenv("OTEL_RESOURCE_ATTRIBUTES", rows[i].attributes, 1);
        read_settings("http://a", false);
        mishap_buffer_init(&b, NULL, 0);
        mishap_otlp_begin(&b, MISHAP_OTLP_LOGS, &settings, "one");
        mishap_otlp_end(&b);
        mishap_buffer_put_char(&b, '\0');
        assert_has(b.data, rows[i].has);
        assert_null(strstr(b.data, rows[i].has_not));
        mishap_buffer_release(&b);
        mishap_otlp_settings_release(&settings);
        clear_variables(NULL);
    }
}

/* -- the saved place --------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void the_place_is_saved_and_a_damaged_one_is_the_start(void **state)
{
    static const char *const damaged[] = { "",
                                           "\n",
                                           "1",
                                           "1 2 3 4",
                                           "1 2 3 4 5",
                                           "2 2 3 4 5\n",
                                           "1 2 3 4 5 6\n",
                                           "1 2 x 4 5\n",
                                           "1 2 3 4 99999999999999999999999\n",
                                           "1 2 3 -4 5\n" };
    char folder[] = "/tmp/otlp_records.XXXXXX", path[200];
    mishap_follow_place place = { 1, UINT64_MAX, 3, INT64_MAX }, read;
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_true(mishap_otlp_place_path(folder, path, sizeof path));
    read = mishap_otlp_place_read(path);
    assert_int_equal(read.inode, 0);
    assert_true(mishap_otlp_place_save(path, place));
    read = mishap_otlp_place_read(path);
    assert_memory_equal(&read, &place, sizeof place);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        write_file(path, damaged[i]);
        read = mishap_otlp_place_read(path);
        assert_true(!read.device && !read.inode && !read.offset);
    }
    assert_false(mishap_otlp_place_save("/nonexistent/place", place));
    assert_false(mishap_otlp_place_path(folder, path, 10));
    assert_int_equal(errno, ENAMETOOLONG);
    remove_tree(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_record_becomes_a_log_record),
        TEST(a_whole_record_becomes_a_span),
        TEST(a_record_without_a_trace_has_its_own),
        TEST(a_404_is_a_warning_and_no_error_of_its_span),
        TEST(a_compact_line_has_all_its_ids),
        TEST(a_compact_line_that_makes_no_sense_has_no_spans),
        TEST(other_lines),
        TEST(lines_that_make_no_sense_are_refused),
        TEST(members_of_another_type_are_left_out),
        TEST(a_long_value_is_cut_at_a_character),
        TEST(times),
        TEST(every_allocation_fails),
        cmocka_unit_test_setup_teardown(the_option_and_the_variables_name_targets, clear_variables,
                                        clear_variables),
        cmocka_unit_test_setup_teardown(header_fields_are_read_and_forgotten, clear_variables,
                                        clear_variables),
        cmocka_unit_test_setup_teardown(variables_that_cannot_be_used, clear_variables,
                                        clear_variables),
        cmocka_unit_test_setup_teardown(the_resource_has_what_the_variables_say, clear_variables,
                                        clear_variables),
        TEST(the_place_is_saved_and_a_damaged_one_is_the_start),
    };
    return RUN(tests);
}
