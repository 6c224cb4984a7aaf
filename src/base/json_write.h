/*
 * JSON writing, straight into a buffer.
 *
 * There is no writer object and no stack: the last byte shows whether a comma is needed. After '{',
 * '[' and ':' none is; every complete value ends in another byte. A document therefore starts in an
 * empty buffer or after a line feed.
 */
#ifndef MISHAP_BASE_JSON_WRITE_H
#define MISHAP_BASE_JSON_WRITE_H

#include <yyjson.h>

#include "base/buffer.h"
#include "mishap/value.h"

static inline bool mishap_json_comma_due(const mishap_buffer *buffer)
{
    char last = buffer->length ? buffer->data[buffer->length - 1] : '\n';
    return last != '{' && last != '[' && last != ':' && last != '\n';
}

static inline void mishap_json_comma(mishap_buffer *buffer)
{
    if (mishap_json_comma_due(buffer))
        mishap_buffer_put_char(buffer, ',');
}

static inline void mishap_json_open(mishap_buffer *buffer, char bracket)
{
    mishap_json_comma(buffer);
    mishap_buffer_put_char(buffer, bracket);
}

static inline void mishap_json_close(mishap_buffer *buffer, char bracket)
{
    mishap_buffer_put_char(buffer, bracket);
}

/* The key of the next member: a literal that needs no escape, or any text. */
#define MISHAP_JSON_KEY(buffer, literal)                                                           \
    mishap_json_quoted_key((buffer), ",\"" literal "\":", sizeof(literal) + 3)
static inline void mishap_json_quoted_key(mishap_buffer *buffer, const char *key, size_t length)
{
    size_t skip = mishap_json_comma_due(buffer) ? 0 : 1;
    mishap_buffer_put(buffer, key + skip, length - skip);
}
void mishap_json_key(mishap_buffer *buffer, mishap_text key);

/* Values. Text must be valid UTF-8. */
void mishap_json_string(mishap_buffer *buffer, mishap_text text);
void mishap_json_bool(mishap_buffer *buffer, bool value);
void mishap_json_null(mishap_buffer *buffer);
void mishap_json_int(mishap_buffer *buffer, int64_t number);
void mishap_json_value(mishap_buffer *buffer, const mishap_value *value);

/* A value inside of a sentence, outside of any document: never a comma before it. */
void mishap_json_bare(mishap_buffer *buffer, const mishap_value *value);

/* A value as a person reads it: text as it is, the rest as JSON has it. */
void mishap_json_plain(mishap_buffer *buffer, const mishap_value *value);

/* A value that was read, in compact form: numbers beyond 64 bits keep their digits. */
void mishap_json_copy(mishap_buffer *buffer, yyjson_val *value);

/* The same for people: each member and item on a line of its own, indented by two spaces. */
void mishap_json_put_pretty(mishap_buffer *buffer, yyjson_val *value);

/* A member with text; nothing if there is no text. */
#define MISHAP_JSON_TEXT_MEMBER(buffer, literal, text)                                             \
    do {                                                                                           \
        if ((text).length) {                                                                       \
            MISHAP_JSON_KEY((buffer), literal);                                                    \
            mishap_json_string((buffer), (text));                                                  \
        }                                                                                          \
    } while (0)

/* A member with any value, left out where there is none. */
#define MISHAP_JSON_VALUE_MEMBER(buffer, literal, value)                                           \
    do {                                                                                           \
        if ((value).kind != MISHAP_KIND_NONE) {                                                    \
            MISHAP_JSON_KEY((buffer), literal);                                                    \
            mishap_json_value((buffer), &(value));                                                 \
        }                                                                                          \
    } while (0)

#endif
