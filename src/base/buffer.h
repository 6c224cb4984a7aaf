/*
 * Writing into a mishap_buffer (mishap/text.h). The short paths are inline: a rendering is made of
 * some forty small pieces, and most of them fit in what is already there.
 */
#ifndef MISHAP_BASE_BUFFER_H
#define MISHAP_BASE_BUFFER_H

#include <stdint.h>

#include "mishap/text.h"

/* Make room for `more` bytes. False: there is no memory, and the buffer has failed. */
bool mishap_buffer_grow(mishap_buffer *buffer, size_t more);

static inline bool mishap_buffer_reserve(mishap_buffer *buffer, size_t more)
{
    return more <= buffer->capacity - buffer->length || mishap_buffer_grow(buffer, more);
}

static inline void mishap_buffer_put(mishap_buffer *buffer, const char *data, size_t length)
{
    if (mishap_buffer_reserve(buffer, length) && length) {
        memcpy(buffer->data + buffer->length, data, length);
        buffer->length += length;
    }
}

static inline void mishap_buffer_put_text(mishap_buffer *buffer, mishap_text text)
{
    mishap_buffer_put(buffer, text.data, text.length);
}

static inline void mishap_buffer_put_char(mishap_buffer *buffer, char c)
{
    if (mishap_buffer_reserve(buffer, 1))
        buffer->data[buffer->length++] = c;
}

/* Clear the buffer, and release its memory if it is more than `most`: one large text is no reason
 * to keep its memory for ever. */
static inline void mishap_buffer_reset_within(mishap_buffer *buffer, size_t most)
{
    if (buffer->capacity > most)
        mishap_buffer_release(buffer);
    mishap_buffer_reset(buffer);
}

#define MISHAP_PUT(buffer, literal) mishap_buffer_put((buffer), "" literal, sizeof(literal) - 1)

/* Decimal numbers. A real number is the shortest that reads back the same, always with a point or
 * an exponent, in any locale. JSON cannot express infinities and not-a-number: they become null. */
void mishap_buffer_put_int(mishap_buffer *buffer, int64_t number);
void mishap_buffer_put_uint(mishap_buffer *buffer, uint64_t number);
void mishap_buffer_put_real(mishap_buffer *buffer, double number);

#endif
