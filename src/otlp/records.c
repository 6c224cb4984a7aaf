/*
 * Log records and spans of lines of the journal.
 *
 * A whole record becomes a log record with all that the operator may know, and a span. A compact
 * line, which stands for many failures of one kind, becomes one log record with all their ids, and
 * a span for each.
 * Names of attributes are those of OpenTelemetry's conventions where these have one; others begin
 * with `mishap.`.
 */
#include "otlp/records.h"

#include "base/hex.h"

/* SeverityNumber, SpanKind and StatusCode of OTLP. */
enum { INFO = 9, WARN = 13, ERROR = 17 };
enum { SPAN_INTERNAL = 1, SPAN_SERVER = 2 };
enum { STATUS_ERROR = 2 };

enum { UUID_BYTES = 16, TRACE_DIGITS = 32, SPAN_DIGITS = 16, FIRST_FAULT = 500 };

/* A line that was read. */
typedef struct record {
    yyjson_val *root;
    mishap_text id, operation, boundary, code, category;
    mishap_otlp_name name;
    uint64_t time_ns;
    int64_t status;
    bool has_status;
} record;

/* -- reading ----------------------------------------------------------------------------------- */

static mishap_text text_member(yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    return yyjson_is_str(value) ? mishap_json_text(value) : (mishap_text){ NULL, 0 };
}

static bool int_member(yyjson_val *object, const char *key, int64_t *number)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    bool fits = yyjson_is_int(value) &&
                (yyjson_is_sint(value) || yyjson_get_uint(value) <= INT64_MAX);
    *number = fits ? yyjson_get_sint(value) : 0;
    return fits;
}

static bool text_is(mishap_text text, const char *other)
{
    return mishap_text_equal(text, mishap_text_of(other));
}

/* An id of trace context: so many digits, not all of them zero. */
static bool is_hex_id(mishap_text text, size_t digits)
{
    unsigned char bytes[UUID_BYTES];
    bool some = false;
    if (text.length != digits || !mishap_hex_read(text.data, bytes, digits / 2))
        return false;
    for (size_t i = 0; i < digits / 2; i++)
        some = some || bytes[i];
    return some;
}

/* The 32 digits of "018f…-…". */
static bool uuid_digits(mishap_text id, char digits[TRACE_DIGITS])
{
    size_t count = 0;
    for (size_t i = 0; i < id.length && count < TRACE_DIGITS; i++)
        if (id.data[i] != '-')
            digits[count++] = id.data[i];
    return id.length == MISHAP_ID_LENGTH && count == TRACE_DIGITS &&
           is_hex_id((mishap_text){ digits, TRACE_DIGITS }, TRACE_DIGITS);
}

/* What every kind of line has. */
static bool read_record(const mishap_otlp_batch *batch, yyjson_val *root, record *r)
{
    *r = (record){ .root = root,
                   .id = text_member(root, "id"),
                   .operation = text_member(root, "operation"),
                   .boundary = text_member(root, "boundary"),
                   .code = text_member(root, "code"),
                   .category = text_member(root, "category") };
    r->has_status = int_member(root, "status", &r->status);
    if (batch->find && r->operation.data)
        r->name = batch->find(batch->find_state, r->operation);
    return mishap_otlp_read_time(text_member(root, "time"), &r->time_ns);
}

/* -- attributes -------------------------------------------------------------------------------- */

/* A member as JSON text, if it is there and has something in it. */
static void put_json(mishap_otlp_batch *batch, mishap_buffer *b, const char *key, yyjson_val *value)
{
    if (!value || yyjson_is_null(value) || (yyjson_is_ctn(value) && !yyjson_get_len(value)))
        return;
    if (yyjson_is_str(value)) {
        mishap_otlp_text(b, key, mishap_json_text(value));
        return;
    }
    mishap_buffer_reset(&batch->scratch);
    mishap_json_copy(&batch->scratch, value);
    mishap_otlp_text(b, key, mishap_buffer_text(&batch->scratch));
}

/* A list of texts as lines. */
static void put_lines(mishap_otlp_batch *batch, mishap_buffer *b, const char *key, yyjson_val *list)
{
    yyjson_val *item;
    size_t i, count;
    if (!yyjson_is_arr(list) || !yyjson_arr_size(list))
        return;
    mishap_buffer_reset(&batch->scratch);
    MISHAP_JSON_ITEMS (list, i, count, item) {
        if (batch->scratch.length)
            mishap_buffer_put_char(&batch->scratch, '\n');
        mishap_buffer_put_text(&batch->scratch, mishap_json_text(item));
    }
    mishap_otlp_text(b, key, mishap_buffer_text(&batch->scratch));
}

/* The method and the pattern of a route, "GET /todos/:id". */
static void put_route(mishap_buffer *b, const char *route)
{
    const char *space = route ? strchr(route, ' ') : NULL;
    if (!space)
        return;
    mishap_otlp_text(b, "http.request.method", (mishap_text){ route, (size_t)(space - route) });
    mishap_otlp_text(b, "http.route", mishap_text_of(space + 1));
}

/* What the conventions say of the boundary. An MCP result with `isError` has the status 200; only a
 * call of a tool has one. */
static void put_boundary(mishap_buffer *b, const record *r)
{
    char number[24];
    if (text_is(r->boundary, "http")) {
        put_route(b, r->name.route);
        if (r->has_status)
            mishap_otlp_int(b, "http.response.status_code", r->status);
    } else if (text_is(r->boundary, "mcp")) {
        mishap_otlp_text(b, "gen_ai.tool.name", mishap_text_of(r->name.tool));
        if (r->has_status && r->status == 200) {
            mishap_otlp_text(b, "mcp.method.name", (mishap_text)MISHAP_TEXT("tools/call"));
        } else if (r->has_status) {
            mishap_buffer digits;
            mishap_buffer_init(&digits, number, sizeof number);
            mishap_buffer_put_int(&digits, r->status);
            mishap_otlp_text(b, "rpc.response.status_code", mishap_buffer_text(&digits));
        }
    } else if (text_is(r->boundary, "cli") && r->has_status) {
        mishap_otlp_int(b, "process.exit.code", r->status);
    }
}

/* What a whole record and a compact line have both. */
static void put_shared(mishap_buffer *b, const record *r)
{
    mishap_otlp_text(b, "error.type", r->code);
    put_boundary(b, r);
    mishap_otlp_text(b, "mishap.operation", r->operation);
    mishap_otlp_text(b, "mishap.service", text_member(r->root, "service"));
    mishap_otlp_text(b, "mishap.boundary", r->boundary);
    mishap_otlp_text(b, "mishap.category", r->category);
    mishap_otlp_text(b, "mishap.caller", text_member(r->root, "caller"));
    mishap_otlp_text(b, "mishap.group", text_member(r->root, "group"));
}

static void put_exception(mishap_otlp_batch *batch, mishap_buffer *b, const record *r)
{
    mishap_text type = text_member(r->root, "type");
    mishap_text said = text_member(r->root, "private_message");
    mishap_otlp_text(b, "exception.type", type.data ? type : r->code);
    mishap_otlp_text(b, "exception.message", said.data ? said : text_member(r->root, "message"));
    put_lines(batch, b, "exception.stacktrace", yyjson_obj_get(r->root, "stack"));
}

static void put_place(mishap_buffer *b, const record *r)
{
    yyjson_val *place = yyjson_obj_get(r->root, "place");
    int64_t line;
    mishap_otlp_text(b, "code.file.path", text_member(place, "file"));
    mishap_otlp_text(b, "code.function.name", text_member(place, "function"));
    if (int_member(place, "line", &line))
        mishap_otlp_int(b, "code.line.number", line);
}

/* The members of a whole record that are sent as they are. */
static void put_rest(mishap_otlp_batch *batch, mishap_buffer *b, const record *r)
{
    static const struct {
        const char *member, *key;
    } rows[] = {
        { "suggestion", "mishap.suggestion" }, { "told", "mishap.told" },
        { "noted", "mishap.noted" },           { "fields", "mishap.fields" },
        { "causes", "mishap.causes" },         { "arguments", "mishap.arguments" },
        { "headers", "mishap.headers" },       { "response", "mishap.response" },
        { "stdout", "mishap.stdout" },         { "cut", "mishap.cut" },
    };
    int64_t number;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        put_json(batch, b, rows[i].key, yyjson_obj_get(r->root, rows[i].member));
    put_lines(batch, b, "mishap.backtrace", yyjson_obj_get(r->root, "backtrace"));
    put_lines(batch, b, "mishap.lines", yyjson_obj_get(r->root, "lines"));
    mishap_otlp_text(b, "user_agent.original",
                     text_member(yyjson_obj_get(r->root, "headers"), "user-agent"));
    if (int_member(r->root, "duration_us", &number))
        mishap_otlp_int(b, "mishap.duration_us", number);
    if (int_member(yyjson_obj_get(r->root, "process"), "pid", &number))
        mishap_otlp_int(b, "process.pid", number);
}

/* -- log records ------------------------------------------------------------------------------- */

/* Begins a log record, up to the list of its attributes. */
static void begin_log(mishap_buffer *b, const record *r, int severity, mishap_text body)
{
    const char *word = severity == ERROR ? "ERROR" : severity == WARN ? "WARN" : "INFO";
    mishap_json_open(b, '{');
    mishap_otlp_number(b, "timeUnixNano", r->time_ns);
    mishap_otlp_number(b, "observedTimeUnixNano", (uint64_t)mishap_clock_now_ms() * 1000000);
    MISHAP_JSON_KEY(b, "severityNumber");
    mishap_json_int(b, severity);
    MISHAP_JSON_KEY(b, "severityText");
    mishap_json_string(b, mishap_text_of(word));
    MISHAP_JSON_KEY(b, "body");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "stringValue");
    mishap_json_string(b, body.data ? body : (mishap_text){ "", 0 });
    mishap_json_close(b, '}');
    MISHAP_JSON_KEY(b, "attributes");
    mishap_json_open(b, '[');
}

static void end_log(mishap_otlp_batch *batch)
{
    mishap_json_close(&batch->logs, ']');
    mishap_json_close(&batch->logs, '}');
    batch->log_count++;
}

/* What the caller can correct is no error of the server. */
static int severity_of(const record *r)
{
    return text_is(r->category, "system") || text_is(r->category, "execution") ? ERROR : WARN;
}

/* The trace and span of a record, if it has both. */
static bool trace_of(const record *r, mishap_text *trace, mishap_text *span)
{
    yyjson_val *member = yyjson_obj_get(r->root, "trace");
    *trace = text_member(member, "id");
    *span = text_member(member, "span");
    return is_hex_id(*trace, TRACE_DIGITS) && is_hex_id(*span, SPAN_DIGITS);
}

static void put_trace(mishap_buffer *b, mishap_text trace, mishap_text span)
{
    MISHAP_JSON_KEY(b, "traceId");
    mishap_json_string(b, trace);
    MISHAP_JSON_KEY(b, "spanId");
    mishap_json_string(b, span);
}

static void add_whole_log(mishap_otlp_batch *batch, const record *r)
{
    mishap_buffer *b = &batch->logs;
    mishap_text trace, span;
    begin_log(b, r, severity_of(r), text_member(r->root, "message"));
    mishap_otlp_text(b, "mishap.incident.id", r->id);
    put_shared(b, r);
    put_exception(batch, b, r);
    put_place(b, r);
    put_rest(batch, b, r);
    mishap_json_close(b, ']');
    if (trace_of(r, &trace, &span))
        put_trace(b, trace, span);
    mishap_json_close(b, '}');
    batch->log_count++;
}

/* An id of 16 bytes as it is told to callers. */
static void write_uuid(char text[MISHAP_ID_LENGTH], const char *bytes)
{
    static const uint8_t parts[] = { 4, 2, 2, 2, 6 };
    for (size_t i = 0; i < sizeof parts; i++) {
        if (i)
            *text++ = '-';
        mishap_hex_write(text, (const unsigned char *)bytes, parts[i]);
        text += 2 * parts[i];
        bytes += parts[i];
    }
}

static void put_uuid(mishap_buffer *b, const char *bytes)
{
    char text[MISHAP_ID_LENGTH];
    write_uuid(text, bytes);
    MISHAP_JSON_KEY(b, "stringValue");
    mishap_json_string(b, (mishap_text){ text, sizeof text });
}

static void put_ids(mishap_buffer *b, mishap_text bytes)
{
    mishap_otlp_array(b, "mishap.incident.ids");
    for (size_t at = 0; at + UUID_BYTES <= bytes.length; at += UUID_BYTES) {
        mishap_json_open(b, '{');
        put_uuid(b, bytes.data + at);
        mishap_json_close(b, '}');
    }
    mishap_otlp_array_end(b);
}

/* The ids of a compact line. False: it makes no sense. */
static bool read_ids(mishap_otlp_batch *batch, const record *r)
{
    mishap_buffer *ids = &batch->ids;
    int64_t count;
    mishap_buffer_reset(ids);
    return int_member(r->root, "count", &count) && count >= 1 && r->code.data &&
           mishap_base64_read(ids, text_member(r->root, "ids")) && ids->length % UUID_BYTES == 0 &&
           ids->length / UUID_BYTES == (uint64_t)count;
}

static void add_compact_log(mishap_otlp_batch *batch, const record *r)
{
    char storage[200];
    mishap_buffer *b = &batch->logs, body;
    int64_t count = (int64_t)(batch->ids.length / UUID_BYTES);
    mishap_buffer_init(&body, storage, sizeof storage);
    mishap_buffer_put_int(&body, count);
    mishap_buffer_put_text(&body, mishap_text_of(count == 1 ? " failure: " : " failures: "));
    mishap_buffer_put_text(&body, r->code);
    begin_log(b, r, severity_of(r), mishap_buffer_text(&body));
    mishap_buffer_release(&body);
    mishap_otlp_int(b, "mishap.count", count);
    put_ids(b, mishap_buffer_text(&batch->ids));
    mishap_otlp_text(b, "mishap.incident.like", text_member(r->root, "like"));
    put_shared(b, r);
    put_json(batch, b, "mishap.durations_us", yyjson_obj_get(r->root, "us"));
    end_log(batch);
}

static bool add_line_log(mishap_otlp_batch *batch, const record *r)
{
    mishap_text text = text_member(r->root, "text");
    if (!text.data)
        return false;
    begin_log(&batch->logs, r, INFO, text);
    mishap_otlp_text(&batch->logs, "mishap.incident.id", r->id);
    mishap_otlp_text(&batch->logs, "mishap.operation", r->operation);
    end_log(batch);
    return true;
}

static bool add_lost_log(mishap_otlp_batch *batch, const record *r)
{
    int64_t count;
    if (!int_member(r->root, "count", &count))
        return false;
    begin_log(&batch->logs, r, WARN,
              (mishap_text)MISHAP_TEXT("Incidents were lost: there was no room for them."));
    mishap_otlp_int(&batch->logs, "mishap.count", count);
    end_log(batch);
    return true;
}

/* -- spans ------------------------------------------------------------------------------------- */

static void put_span_name(mishap_otlp_batch *batch, const record *r)
{
    mishap_buffer *name = &batch->scratch;
    mishap_buffer_reset(name);
    if (text_is(r->boundary, "http") && r->name.route) {
        mishap_buffer_put_text(name, mishap_text_of(r->name.route));
    } else if (text_is(r->boundary, "mcp") && r->name.tool) {
        MISHAP_PUT(name, "tools/call ");
        mishap_buffer_put_text(name, mishap_text_of(r->name.tool));
    } else {
        mishap_buffer_put_text(name, r->operation.length ? r->operation : r->code);
    }
    MISHAP_JSON_KEY(&batch->spans, "name");
    mishap_json_string(&batch->spans, mishap_buffer_text(name));
}

/* A server's answer of 4xx is no error of its span, as the conventions have it. */
static void put_span_status(mishap_buffer *b, const record *r)
{
    bool http = text_is(r->boundary, "http");
    if (http && r->has_status && r->status < FIRST_FAULT)
        return;
    MISHAP_JSON_KEY(b, "status");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "code");
    mishap_json_int(b, STATUS_ERROR);
    mishap_text message = text_member(r->root, "message");
    MISHAP_JSON_TEXT_MEMBER(b, "message", message);
    mishap_json_close(b, '}');
}

static void put_span_event(mishap_otlp_batch *batch, const record *r)
{
    mishap_buffer *b = &batch->spans;
    MISHAP_JSON_KEY(b, "events");
    mishap_json_open(b, '[');
    mishap_json_open(b, '{');
    mishap_otlp_number(b, "timeUnixNano", r->time_ns);
    MISHAP_JSON_KEY(b, "name");
    mishap_json_string(b, (mishap_text)MISHAP_TEXT("exception"));
    MISHAP_JSON_KEY(b, "attributes");
    mishap_json_open(b, '[');
    put_exception(batch, b, r);
    mishap_json_close(b, ']');
    mishap_json_close(b, '}');
    mishap_json_close(b, ']');
}

/* What differs from one failure to another. */
struct span {
    mishap_text id, trace, span, parent; /* without a parent it is empty */
    uint64_t start_ns, end_ns;
    bool whole; /* the line has the failure itself */
};

static void put_span(mishap_otlp_batch *batch, const record *r, const struct span *span)
{
    mishap_buffer *b = &batch->spans;
    bool server = text_is(r->boundary, "http") || text_is(r->boundary, "mcp");
    mishap_json_open(b, '{');
    put_trace(b, span->trace, span->span);
    if (span->parent.length) {
        MISHAP_JSON_KEY(b, "parentSpanId");
        mishap_json_string(b, span->parent);
    }
    put_span_name(batch, r);
    MISHAP_JSON_KEY(b, "kind");
    mishap_json_int(b, server ? SPAN_SERVER : SPAN_INTERNAL);
    mishap_otlp_number(b, "startTimeUnixNano", span->start_ns);
    mishap_otlp_number(b, "endTimeUnixNano", span->end_ns);
    MISHAP_JSON_KEY(b, "attributes");
    mishap_json_open(b, '[');
    mishap_otlp_text(b, "mishap.incident.id", span->id);
    if (!span->whole)
        mishap_otlp_text(b, "mishap.incident.like", text_member(r->root, "like"));
    put_shared(b, r);
    mishap_json_close(b, ']');
    if (span->whole)
        put_span_event(batch, r);
    put_span_status(b, r);
    mishap_json_close(b, '}');
    batch->span_count++;
}

static uint64_t nanoseconds(int64_t us)
{
    return us > 0 && us < INT64_MAX / 1000 ? (uint64_t)us * 1000 : 0;
}

/* A record without a trace has one of its own: its id. */
static void add_whole_span(mishap_otlp_batch *batch, const record *r)
{
    char own[TRACE_DIGITS];
    int64_t us;
    int_member(r->root, "duration_us", &us);
    uint64_t took_ns = nanoseconds(us);
    mishap_text parent = text_member(yyjson_obj_get(r->root, "trace"), "parent");
    struct span span = { .id = r->id,
                         .start_ns = took_ns < r->time_ns ? r->time_ns - took_ns : r->time_ns,
                         .end_ns = r->time_ns,
                         .whole = true };
    uuid_digits(r->id, own);
    if (!trace_of(r, &span.trace, &span.span)) {
        span.trace = (mishap_text){ own, TRACE_DIGITS };
        span.span = (mishap_text){ own + TRACE_DIGITS - SPAN_DIGITS, SPAN_DIGITS };
    }
    if (is_hex_id(parent, SPAN_DIGITS))
        span.parent = parent;
    put_span(batch, r, &span);
}

/* The journal keeps no trace of these: each has one of its own, its id, which also has the time at
 * which it began. */
static void add_compact_spans(mishap_otlp_batch *batch, const record *r)
{
    char id[MISHAP_ID_LENGTH], own[TRACE_DIGITS];
    yyjson_val *durations = yyjson_obj_get(r->root, "us");
    yyjson_val *us = yyjson_is_arr(durations) ? yyjson_arr_get_first(durations) : NULL;
    size_t left = us ? yyjson_arr_size(durations) : 0;
    for (size_t at = 0; at < batch->ids.length; at += UUID_BYTES) {
        const unsigned char *bytes = (const unsigned char *)batch->ids.data + at;
        uint64_t ms = 0, took_ns = left && yyjson_is_int(us) ? nanoseconds(yyjson_get_sint(us)) : 0;
        for (size_t i = 0; i < 6; i++)
            ms = ms << 8 | bytes[i];
        write_uuid(id, batch->ids.data + at);
        mishap_hex_write(own, bytes, UUID_BYTES);
        put_span(batch, r,
                 &(struct span){ .id = { id, sizeof id },
                                 .trace = { own, TRACE_DIGITS },
                                 .span = { own + TRACE_DIGITS - SPAN_DIGITS, SPAN_DIGITS },
                                 .start_ns = ms * 1000000,
                                 .end_ns = ms * 1000000 + took_ns });
        if (left && --left)
            us = unsafe_yyjson_get_next(us);
    }
}

/* -- lines ------------------------------------------------------------------------------------- */

static bool add_whole(mishap_otlp_batch *batch, const record *r)
{
    char digits[TRACE_DIGITS];
    if (!r->code.data || !uuid_digits(r->id, digits))
        return false;
    if (batch->settings->targets[MISHAP_OTLP_LOGS].url)
        add_whole_log(batch, r);
    if (batch->settings->targets[MISHAP_OTLP_TRACES].url)
        add_whole_span(batch, r);
    return true;
}

static bool add_compact(mishap_otlp_batch *batch, const record *r)
{
    if (!read_ids(batch, r))
        return false;
    if (batch->settings->targets[MISHAP_OTLP_LOGS].url)
        add_compact_log(batch, r);
    if (batch->settings->targets[MISHAP_OTLP_TRACES].url)
        add_compact_spans(batch, r);
    return true;
}

/* A kind of line. Those without a span are nothing where no logs are sent. */
static bool add_record(mishap_otlp_batch *batch, const record *r, mishap_text kind)
{
    bool logs = batch->settings->targets[MISHAP_OTLP_LOGS].url;
    if (text_is(kind, "whole"))
        return add_whole(batch, r);
    if (text_is(kind, "compact"))
        return add_compact(batch, r);
    if (text_is(kind, "line"))
        return !logs || add_line_log(batch, r);
    if (text_is(kind, "lost"))
        return !logs || add_lost_log(batch, r);
    return true;
}

void mishap_otlp_batch_begin(mishap_otlp_batch *batch)
{
    mishap_buffer_reset(&batch->logs);
    mishap_buffer_reset(&batch->spans);
    batch->log_count = batch->span_count = 0;
    batch->failed = false;
    mishap_otlp_begin(&batch->logs, MISHAP_OTLP_LOGS, batch->settings, batch->instance);
    mishap_otlp_begin(&batch->spans, MISHAP_OTLP_TRACES, batch->settings, batch->instance);
}

bool mishap_otlp_batch_add(mishap_otlp_batch *batch, mishap_text line)
{
    record r;
    int64_t version;
    yyjson_val *flawed;
    if (!mishap_json_read(&batch->reader, line)) {
        batch->failed = batch->failed || batch->reader.flaw == MISHAP_JSON_NO_MEMORY;
        return false;
    }
    yyjson_val *root = batch->reader.root;
    mishap_text kind = text_member(root, "kind");
    bool added = yyjson_is_obj(root) &&
                 mishap_json_first_flaw(&batch->reader, &flawed) == MISHAP_JSON_SOUND &&
                 int_member(root, "v", &version) && version == 1 && kind.data &&
                 read_record(batch, root, &r) && add_record(batch, &r, kind);
    batch->failed = batch->failed || batch->scratch.failed || batch->ids.failed;
    return added;
}

bool mishap_otlp_batch_end(mishap_otlp_batch *batch)
{
    mishap_otlp_end(&batch->logs);
    mishap_otlp_end(&batch->spans);
    return !batch->logs.failed && !batch->spans.failed && !batch->failed;
}

void mishap_otlp_batch_release(mishap_otlp_batch *batch)
{
    mishap_buffer_release(&batch->logs);
    mishap_buffer_release(&batch->spans);
    mishap_buffer_release(&batch->scratch);
    mishap_buffer_release(&batch->ids);
    mishap_json_reader_release(&batch->reader);
}
