/*
 * Any lines of a journal as OTLP. Each request is JSON without a flaw, in UTF-8, and has as many
 * items as were counted; a line that is refused adds nothing. The same bytes as the variable
 * OTEL_RESOURCE_ATTRIBUTES make a resource that is JSON, too.
 */
#include "fuzz.h"

#include "otlp/records.h"

static mishap_otlp_name find_name(const void *state, mishap_text operation)
{
    (void)state;
    bool known = operation.length % 2;
    return (mishap_otlp_name){ known ? "GET /a/{b}" : NULL, known ? "a_b" : NULL };
}

static void expect_items(const mishap_buffer *b, const char *resources, const char *scopes,
                         const char *items, size_t count)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    yyjson_val *at;
    mishap_text text = mishap_buffer_text(b);
    expect_utf8(text);
    EXPECT(mishap_json_read(&reader, text), "%.*s", SHOWN(text));
    EXPECT(mishap_json_first_flaw(&reader, &at) == MISHAP_JSON_SOUND, "%.*s", SHOWN(text));
    yyjson_val *scope = yyjson_arr_get_first(
        yyjson_obj_get(yyjson_arr_get_first(yyjson_obj_get(reader.root, resources)), scopes));
    EXPECT(yyjson_arr_size(yyjson_obj_get(scope, items)) == count, "%zu items: %.*s", count,
           SHOWN(text));
    mishap_json_reader_release(&reader);
}

static void add_lines(mishap_otlp_batch *batch, mishap_text rest)
{
    while (rest.length) {
        const char *feed = memchr(rest.data, '\n', rest.length);
        size_t length = feed ? (size_t)(feed - rest.data) : rest.length;
        size_t logs = batch->logs.length, spans = batch->spans.length;
        if (!mishap_otlp_batch_add(batch, (mishap_text){ rest.data, length }))
            EXPECT(batch->logs.length == logs && batch->spans.length == spans,
                   "a refused line has left something");
        rest.data += length + (feed != NULL);
        rest.length -= length + (feed != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_otlp_settings settings = { .program = "p" };
    settings.targets[MISHAP_OTLP_LOGS].url = "http://a/";
    settings.targets[MISHAP_OTLP_TRACES].url = "http://a/";
    settings.resource = input_text(data, size);
    mishap_otlp_batch batch = { .settings = &settings, .instance = "i", .find = find_name };
    mishap_otlp_batch_begin(&batch);
    add_lines(&batch, input_text(data, size));
    EXPECT(mishap_otlp_batch_end(&batch), "no memory");
    expect_items(&batch.logs, "resourceLogs", "scopeLogs", "logRecords", batch.log_count);
    expect_items(&batch.spans, "resourceSpans", "scopeSpans", "spans", batch.span_count);
    mishap_otlp_batch_release(&batch);
    return 0;
}
