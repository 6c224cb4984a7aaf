/*
 * Numbers and texts as bytes, for another process on the same machine.
 *
 * Integers have a fixed width and the least significant byte first; a text is its length in four
 * bytes, then its bytes. The writer appends to a buffer. The reader is a cursor over bytes that it
 * does not trust: every length is checked against the bytes that are left.
 */
#ifndef MISHAP_BASE_PACK_H
#define MISHAP_BASE_PACK_H

#include "base/buffer.h"

/* -- writing ----------------------------------------------------------------------------------- */

/* Append one value. As always with a buffer, a lack of memory leaves the mark `failed`. */
void mishap_pack_u8(mishap_buffer *out, uint8_t number);
void mishap_pack_u32(mishap_buffer *out, uint32_t number);
void mishap_pack_u64(mishap_buffer *out, uint64_t number);
void mishap_pack_f64(mishap_buffer *out, double number);

/* The same for a text. A text of 4 GB or more does not fit: the buffer fails. */
void mishap_pack_text(mishap_buffer *out, mishap_text text);

/* -- reading ----------------------------------------------------------------------------------- */

typedef struct mishap_unpack {
    const char *data;
    size_t left;
    bool failed; /* something did not fit: every later read gives zero */
} mishap_unpack;

/* Start at the first of these bytes, which the caller keeps. */
static inline mishap_unpack mishap_unpack_of(mishap_text bytes)
{
    return (mishap_unpack){ .data = bytes.data, .left = bytes.length };
}

/* Read the next value. If it does not fit in the bytes that are left, the reader fails and the
 * value is zero. */
uint8_t mishap_unpack_u8(mishap_unpack *in);
uint32_t mishap_unpack_u32(mishap_unpack *in);
uint64_t mishap_unpack_u64(mishap_unpack *in);
double mishap_unpack_f64(mishap_unpack *in);

/* The same for a text, which points into the bytes. It may be any bytes, and `data` is never NULL.
 */
mishap_text mishap_unpack_text(mishap_unpack *in);

/* Make the reader fail: a value that was read is invalid. */
void mishap_unpack_fail(mishap_unpack *in);

/* True if every read succeeded and no byte is left. */
static inline bool mishap_unpack_ended(const mishap_unpack *in)
{
    return !in->failed && in->left == 0;
}

#endif
