#include "base/base64.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void mishap_base64_put(mishap_buffer *buffer, mishap_text bytes)
{
    const unsigned char *at = (const unsigned char *)bytes.data;
    size_t left = bytes.length;
    if (!left || left > SIZE_MAX / 2 || !mishap_buffer_reserve(buffer, (left + 2) / 3 * 4))
        return;
    char *to = buffer->data + buffer->length;
    for (; left >= 3; left -= 3, at += 3) {
        uint32_t group = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
        for (int shift = 18; shift >= 0; shift -= 6)
            *to++ = digits[group >> shift & 63];
    }
    if (left) {
        uint32_t group = (uint32_t)at[0] << 16 | (left > 1 ? (uint32_t)at[1] << 8 : 0);
        *to++ = digits[group >> 18 & 63];
        *to++ = digits[group >> 12 & 63];
        *to++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *to++ = '=';
    }
    buffer->length = (size_t)(to - buffer->data);
}

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Four characters, of which the last `padding` are equals signs. */
static bool read_group(const char *at, size_t padding, unsigned char out[3])
{
    uint32_t group = 0;
    for (size_t i = 0; i < 4; i++) {
        int value = i >= 4 - padding ? 0 : value_of(at[i]);
        if (value < 0)
            return false;
        group = group << 6 | (uint32_t)value;
    }
    for (size_t i = 0; i < 3; i++)
        out[i] = (unsigned char)(group >> (16 - 8 * i) & 0xFF);
    for (size_t i = 3 - padding; i < 3; i++)
        if (out[i])
            return false;
    return true;
}

bool mishap_base64_read(mishap_buffer *buffer, mishap_text text)
{
    size_t start = buffer->length, padding = 0;
    if (text.length % 4 || !mishap_buffer_reserve(buffer, text.length / 4 * 3))
        return false;
    if (text.length && text.data[text.length - 1] == '=')
        padding = text.data[text.length - 2] == '=' ? 2 : 1;
    for (size_t i = 0; i < text.length; i += 4) {
        unsigned char out[3];
        size_t missing = i + 4 == text.length ? padding : 0;
        if (!read_group(text.data + i, missing, out)) {
            buffer->length = start;
            return false;
        }
        mishap_buffer_put(buffer, (const char *)out, 3 - missing);
    }
    return !buffer->failed;
}

bool mishap_base64_measure(mishap_text text, size_t *size)
{
    size_t padding = 0;
    unsigned char out[3];
    if (text.length % 4)
        return false;
    if (text.length && text.data[text.length - 1] == '=')
        padding = text.data[text.length - 2] == '=' ? 2 : 1;
    for (size_t i = 0; i + 4 < text.length; i++)
        if (value_of(text.data[i]) < 0)
            return false;
    *size = text.length / 4 * 3 - padding;
    return !text.length || read_group(text.data + text.length - 4, padding, out);
}

/* -- base64url --------------------------------------------------------------------------------- */

static int url_value_of(char c)
{
    if (c == '-')
        return 62;
    if (c == '_')
        return 63;
    return c == '+' || c == '/' ? -1 : value_of(c);
}

bool mishap_base64url_read(mishap_text text, unsigned char *out, size_t size, size_t *length)
{
    uint32_t bits = 0;
    unsigned held = 0; /* bits that are not written yet: fewer than 8 */
    size_t count = 0;
    *length = 0;
    if (text.length % 4 == 1 || text.length / 4 * 3 + text.length % 4 * 3 / 4 > size)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        int value = url_value_of(text.data[i]);
        if (value < 0)
            return false;
        bits = (bits << 6 | (uint32_t)value) & 0x3FFF;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[count++] = (unsigned char)(bits >> held);
        }
    }
    if (bits & ((1U << held) - 1))
        return false;
    *length = count;
    return true;
}
