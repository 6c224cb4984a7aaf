/* The writer of mishap/json.h: that of base/json_write.h for text that may be any bytes. */
#include "mishap/json.h"

#include "base/json_read.h"
#include "base/json_write.h"
#include "base/utf8.h"

/* A copy with U+FFFD for each byte that is no part of a character. */
static void put_repaired(mishap_buffer *to, mishap_text text)
{
    while (text.length) {
        size_t sound = mishap_utf8_valid_length(text);
        mishap_buffer_put(to, text.data, sound);
        bool broken = sound < text.length;
        if (broken)
            MISHAP_PUT(to, "\xEF\xBF\xBD");
        text = (mishap_text){ text.data + sound + broken, text.length - sound - broken };
    }
}

static void put_broken_text(mishap_buffer *buffer, mishap_text text)
{
    char storage[256];
    mishap_buffer repaired;
    mishap_buffer_init(&repaired, storage, sizeof storage);
    put_repaired(&repaired, text);
    if (!repaired.failed)
        mishap_json_string(buffer, mishap_buffer_text(&repaired));
    buffer->failed = buffer->failed || repaired.failed;
    mishap_buffer_release(&repaired);
}

static void put_text(mishap_buffer *buffer, mishap_text text)
{
    if (mishap_utf8_valid_length(text) == text.length)
        mishap_json_string(buffer, text);
    else
        put_broken_text(buffer, text);
}

static void put_key(mishap_buffer *buffer, mishap_text key)
{
    if (!key.data)
        return;
    put_text(buffer, key);
    MISHAP_PUT(buffer, ":");
}

/* As mishap_value_of_json() promises, text that is no JSON is written as a string. */
static void put_checked(mishap_buffer *buffer, mishap_text json)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    yyjson_val *at;
    if (mishap_json_read(&reader, json) &&
        mishap_json_first_flaw(&reader, &at) == MISHAP_JSON_SOUND)
        mishap_json_copy(buffer, reader.root);
    else if (reader.flaw == MISHAP_JSON_NO_MEMORY)
        buffer->failed = true;
    else
        put_text(buffer, json);
    mishap_json_reader_release(&reader);
}

void mishap_json_put_value(mishap_buffer *buffer, mishap_text key, mishap_value value)
{
    if (buffer->failed || value.kind == MISHAP_KIND_NONE)
        return;
    put_key(buffer, key);
    if (value.kind == MISHAP_KIND_TEXT)
        put_text(buffer, value.text);
    else if (value.kind == MISHAP_KIND_JSON)
        put_checked(buffer, value.text);
    else
        mishap_json_value(buffer, &value);
}

static void put_bracket(mishap_buffer *buffer, const char *key, char bracket)
{
    if (buffer->failed)
        return;
    put_key(buffer, mishap_text_of(key));
    mishap_json_open(buffer, bracket);
}

void mishap_json_put_object(mishap_buffer *buffer, const char *key)
{
    put_bracket(buffer, key, '{');
}

void mishap_json_put_array(mishap_buffer *buffer, const char *key)
{
    put_bracket(buffer, key, '[');
}

void mishap_json_put_end(mishap_buffer *buffer, char bracket)
{
    if (!buffer->failed)
        mishap_json_close(buffer, bracket);
}

void mishap_json_put_json(mishap_buffer *buffer, const char *key, mishap_text json)
{
    /* A line feed at its end would look like the beginning of a document. */
    while (json.length && strchr(" \t\r\n", json.data[json.length - 1]))
        json.length--;
    if (buffer->failed)
        return;
    put_key(buffer, mishap_text_of(key));
    if (!json.length)
        json = (mishap_text)MISHAP_TEXT("null");
    mishap_json_comma(buffer);
    mishap_buffer_put_text(buffer, json);
}
