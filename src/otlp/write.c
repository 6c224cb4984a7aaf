/* Pieces of OTLP/JSON. */
#include "otlp/write.h"
#include "mishap/version.h"

#include <unistd.h>

void mishap_otlp_number(mishap_buffer *b, const char *key, uint64_t number)
{
    mishap_json_key(b, mishap_text_of(key));
    mishap_buffer_put_char(b, '"');
    mishap_buffer_put_uint(b, number);
    mishap_buffer_put_char(b, '"');
}

/* -- attributes -------------------------------------------------------------------------------- */

static void begin_attribute(mishap_buffer *b, mishap_text key)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "key");
    mishap_json_string(b, key);
    MISHAP_JSON_KEY(b, "value");
    mishap_json_open(b, '{');
}

static void end_attribute(mishap_buffer *b)
{
    mishap_json_close(b, '}');
    mishap_json_close(b, '}');
}

static void put_text_attribute(mishap_buffer *b, mishap_text key, mishap_text value)
{
    if (!value.data)
        return;
    if (value.length > MISHAP_OTLP_TEXT)
        value.length = mishap_utf8_cut(value, MISHAP_OTLP_TEXT);
    begin_attribute(b, key);
    MISHAP_JSON_KEY(b, "stringValue");
    mishap_json_string(b, value);
    end_attribute(b);
}

void mishap_otlp_text(mishap_buffer *b, const char *key, mishap_text value)
{
    put_text_attribute(b, mishap_text_of(key), value);
}

void mishap_otlp_int(mishap_buffer *b, const char *key, int64_t value)
{
    begin_attribute(b, mishap_text_of(key));
    MISHAP_JSON_KEY(b, "intValue");
    mishap_buffer_put_char(b, '"');
    mishap_buffer_put_int(b, value);
    mishap_buffer_put_char(b, '"');
    end_attribute(b);
}

void mishap_otlp_array(mishap_buffer *b, const char *key)
{
    begin_attribute(b, mishap_text_of(key));
    MISHAP_JSON_KEY(b, "arrayValue");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "values");
    mishap_json_open(b, '[');
}

void mishap_otlp_array_end(mishap_buffer *b)
{
    mishap_json_close(b, ']');
    mishap_json_close(b, '}');
    end_attribute(b);
}

/* -- the resource ------------------------------------------------------------------------------ */

/* An attribute of OTEL_RESOURCE_ATTRIBUTES whose escapes are replaced. What is no UTF-8 then is
 * left out. `named`: only service.name, else all others that we do not set ourselves. */
static bool put_own_attribute(mishap_buffer *b, mishap_text key, mishap_text value, bool named)
{
    char storage[512];
    mishap_buffer plain;
    bool is_name = mishap_text_equal(key, (mishap_text)MISHAP_TEXT("service.name"));
    bool is_ours = mishap_text_equal(key, (mishap_text)MISHAP_TEXT("telemetry.sdk.name")) ||
                   mishap_text_equal(key, (mishap_text)MISHAP_TEXT("telemetry.sdk.language")) ||
                   mishap_text_equal(key, (mishap_text)MISHAP_TEXT("telemetry.sdk.version"));
    if (!key.length || is_name != named || is_ours || mishap_utf8_valid_length(key) != key.length)
        return false;
    mishap_buffer_init(&plain, storage, sizeof storage);
    bool fine = mishap_url_unescape(&plain, value, false) && !plain.failed;
    mishap_text text = mishap_buffer_text(&plain);
    fine = fine && text.length && mishap_utf8_valid_length(text) == text.length;
    if (fine)
        put_text_attribute(b, key, text);
    mishap_buffer_release(&plain);
    return fine;
}

static bool has_attribute(mishap_text list, const char *wanted)
{
    mishap_text key, value;
    while (mishap_otlp_next_pair(&list, &key, &value))
        if (mishap_text_equal(key, mishap_text_of(wanted)))
            return true;
    return false;
}

static void put_service_name(mishap_buffer *b, const mishap_otlp_settings *settings)
{
    mishap_text list = settings->resource, key, value;
    mishap_text named = mishap_text_of(settings->service);
    bool is_put = false;
    if (!named.data)
        while (!is_put && mishap_otlp_next_pair(&list, &key, &value))
            is_put = put_own_attribute(b, key, value, true);
    if (!is_put && (!named.data || mishap_utf8_valid_length(named) != named.length))
        named = mishap_text_of(settings->program ? settings->program : "mishap");
    if (!is_put)
        mishap_otlp_text(b, "service.name", named);
}

static void put_default(mishap_buffer *b, const mishap_otlp_settings *settings, const char *key,
                        const char *value)
{
    if (value && !has_attribute(settings->resource, key))
        mishap_otlp_text(b, key, mishap_text_of(value));
}

static void put_resource(mishap_buffer *b, const mishap_otlp_settings *settings,
                         const char *instance)
{
    char host[256] = "";
    mishap_text list = settings->resource, key, value;
    bool named = gethostname(host, sizeof host - 1) == 0 && host[0] &&
                 mishap_utf8_valid_length(mishap_text_of(host)) == strlen(host);
    MISHAP_JSON_KEY(b, "resource");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "attributes");
    mishap_json_open(b, '[');
    put_service_name(b, settings);
    put_default(b, settings, "service.version", settings->version);
    put_default(b, settings, "service.instance.id", instance);
    put_default(b, settings, "host.name", named ? host : NULL);
    mishap_otlp_text(b, "telemetry.sdk.name", (mishap_text)MISHAP_TEXT("mishap"));
    mishap_otlp_text(b, "telemetry.sdk.language", (mishap_text)MISHAP_TEXT("c"));
    mishap_otlp_text(b, "telemetry.sdk.version", (mishap_text)MISHAP_TEXT(MISHAP_VERSION));
    while (mishap_otlp_next_pair(&list, &key, &value))
        put_own_attribute(b, key, value, false);
    mishap_json_close(b, ']');
    mishap_json_close(b, '}');
}

/* -- requests ---------------------------------------------------------------------------------- */

static const struct request_words {
    const char *resources, *scopes, *items;
} words[MISHAP_OTLP_KINDS] = {
    [MISHAP_OTLP_LOGS] = { "resourceLogs", "scopeLogs", "logRecords" },
    [MISHAP_OTLP_METRICS] = { "resourceMetrics", "scopeMetrics", "metrics" },
    [MISHAP_OTLP_TRACES] = { "resourceSpans", "scopeSpans", "spans" },
};

void mishap_otlp_begin(mishap_buffer *b, mishap_otlp_kind kind,
                       const mishap_otlp_settings *settings, const char *instance)
{
    mishap_json_open(b, '{');
    mishap_json_key(b, mishap_text_of(words[kind].resources));
    mishap_json_open(b, '[');
    mishap_json_open(b, '{');
    put_resource(b, settings, instance);
    mishap_json_key(b, mishap_text_of(words[kind].scopes));
    mishap_json_open(b, '[');
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "scope");
    MISHAP_PUT(b, "{\"name\":\"mishap\",\"version\":\"" MISHAP_VERSION "\"}");
    mishap_json_key(b, mishap_text_of(words[kind].items));
    mishap_json_open(b, '[');
}

void mishap_otlp_end(mishap_buffer *b)
{
    MISHAP_PUT(b, "]}]}]}");
}
