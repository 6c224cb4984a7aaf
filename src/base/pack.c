#include "base/pack.h"

/* -- writing ----------------------------------------------------------------------------------- */

static void put_number(mishap_buffer *out, uint64_t number, size_t width)
{
    char bytes[sizeof number];
    for (size_t i = 0; i < width; i++)
        bytes[i] = (char)(unsigned char)(number >> 8 * i);
    mishap_buffer_put(out, bytes, width);
}

void mishap_pack_u8(mishap_buffer *out, uint8_t number)
{
    put_number(out, number, 1);
}

void mishap_pack_u32(mishap_buffer *out, uint32_t number)
{
    put_number(out, number, 4);
}

void mishap_pack_u64(mishap_buffer *out, uint64_t number)
{
    put_number(out, number, 8);
}

void mishap_pack_f64(mishap_buffer *out, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    mishap_pack_u64(out, bits);
}

void mishap_pack_text(mishap_buffer *out, mishap_text text)
{
    if (text.length > UINT32_MAX) {
        mishap_buffer_grow(out, SIZE_MAX); /* impossible: marks the buffer as failed */
        return;
    }
    mishap_pack_u32(out, (uint32_t)text.length);
    mishap_buffer_put_text(out, text);
}

/* -- reading ----------------------------------------------------------------------------------- */

void mishap_unpack_fail(mishap_unpack *in)
{
    in->failed = true;
    in->left = 0; /* so that every later read fails */
}

/* The next bytes, NULL if there are fewer. */
static const char *take_bytes(mishap_unpack *in, size_t width)
{
    if (in->failed || width > in->left) {
        mishap_unpack_fail(in);
        return NULL;
    }
    const char *bytes = in->data;
    if (width) { /* there may be no data at all */
        in->data += width;
        in->left -= width;
    }
    return bytes;
}

static uint64_t take_number(mishap_unpack *in, size_t width)
{
    const char *bytes = take_bytes(in, width);
    uint64_t number = 0;
    for (size_t i = 0; bytes && i < width; i++)
        number |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
    return number;
}

uint8_t mishap_unpack_u8(mishap_unpack *in)
{
    return (uint8_t)take_number(in, 1);
}

uint32_t mishap_unpack_u32(mishap_unpack *in)
{
    return (uint32_t)take_number(in, 4);
}

uint64_t mishap_unpack_u64(mishap_unpack *in)
{
    return take_number(in, 8);
}

double mishap_unpack_f64(mishap_unpack *in)
{
    uint64_t bits = mishap_unpack_u64(in);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

mishap_text mishap_unpack_text(mishap_unpack *in)
{
    size_t length = mishap_unpack_u32(in);
    const char *bytes = take_bytes(in, length);
    return bytes && length ? (mishap_text){ bytes, length } : (mishap_text){ "", 0 };
}
