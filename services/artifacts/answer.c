/* JSON of answers. An answer is stored together with the changes that it describes, so it is made
 * here, and not by the functions of mishap/call.h, which would only send it. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "artifacts/request.h"

static void put(mishap_buffer *b, const char *text)
{
    mishap_buffer_add(b, text, strlen(text));
}

static void put_quoted(mishap_buffer *b, mishap_text text)
{
    char escape[8];
    size_t from = 0;
    put(b, "\"");
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        mishap_buffer_add(b, text.data + from, i - from);
        if (c >= 0x20)
            snprintf(escape, sizeof escape, "\\%c", c);
        else
            snprintf(escape, sizeof escape, "\\u%04x", c);
        put(b, escape);
        from = i + 1;
    }
    mishap_buffer_add(b, text.data + from, text.length - from);
    put(b, "\"");
}

static void put_key(mishap_buffer *b, const char *key)
{
    char last = b->length ? b->data[b->length - 1] : '{';
    if (last != '{' && last != '[')
        put(b, ",");
    if (key) {
        put_quoted(b, mishap_text_of(key));
        put(b, ":");
    }
}

void artifacts_put_open(mishap_buffer *b, const char *key, char bracket)
{
    put_key(b, key);
    mishap_buffer_add(b, &bracket, 1);
}

void artifacts_put_close(mishap_buffer *b, char bracket)
{
    mishap_buffer_add(b, &bracket, 1);
}

void artifacts_put_text(mishap_buffer *b, const char *key, mishap_text text)
{
    put_key(b, key);
    if (text.data)
        put_quoted(b, text);
    else
        put(b, "null");
}

void artifacts_put_string(mishap_buffer *b, const char *key, const char *string)
{
    artifacts_put_text(b, key, mishap_text_of(string));
}

void artifacts_put_integer(mishap_buffer *b, const char *key, int64_t integer)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, integer);
    put_key(b, key);
    put(b, digits);
}

void artifacts_put_boolean(mishap_buffer *b, const char *key, bool boolean)
{
    put_key(b, key);
    put(b, boolean ? "true" : "false");
}

void artifacts_put_json(mishap_buffer *b, const char *key, mishap_text json)
{
    put_key(b, key);
    if (json.data)
        mishap_buffer_add(b, json.data, json.length);
    else
        put(b, "null");
}

void artifacts_put_time(mishap_buffer *b, const char *key, int64_t ms)
{
    char text[40], fraction[8];
    struct tm day;
    time_t seconds = (time_t)(ms / 1000);
    gmtime_r(&seconds, &day);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &day);
    snprintf(fraction, sizeof fraction, ".%03dZ", (int)(ms % 1000));
    memcpy(text + strlen(text), fraction, sizeof fraction);
    artifacts_put_string(b, key, text);
}

void artifacts_answer_begin(artifacts_request *r)
{
    mishap_buffer_reset(&r->answer);
    mishap_buffer_reset(&r->event);
    put(&r->answer, "{\"success\":true");
}

void artifacts_answer_end(artifacts_request *r)
{
    put(&r->answer, "}");
}
