/* Bytes as text and back: base64 with padding (RFC 4648, 4). */
#ifndef MISHAP_BASE_BASE64_H
#define MISHAP_BASE_BASE64_H

#include "base/buffer.h"

void mishap_base64_put(mishap_buffer *buffer, mishap_text bytes);

/* Add the bytes that a text stands for. False, with nothing added: it is no base64, or there is no
 * memory. Padding must be there, no other character may stand in between, and the bits that are
 * left over must be zero: so each sequence of bytes has one spelling. */
bool mishap_base64_read(mishap_buffer *buffer, mishap_text text);

/* True if it is base64 as above; *size is the number of bytes that it stands for. */
bool mishap_base64_measure(mishap_text text, size_t *size);

/* The bytes that a text in base64url without padding stands for (RFC 4648, 5; RFC 7515, 2). False:
 * it is none, has bits left over that are not zero, or stands for more than `size` bytes. */
bool mishap_base64url_read(mishap_text text, unsigned char *out, size_t size, size_t *length);

#endif
