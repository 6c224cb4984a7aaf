/* Bytes as hexadecimal digits, two for each byte. */
#ifndef MISHAP_BASE_HEX_H
#define MISHAP_BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>

/* The value of a digit, in capitals or not; -1: it is none. */
static inline int mishap_hex_digit(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* Write `count` bytes as 2 * `count` digits without capitals, and no NUL. */
void mishap_hex_write(char *to, const unsigned char *bytes, size_t count);

/* Read what was written in this way: `count` bytes from 2 * `count` digits. False: there is another
 * character among them, or a capital. */
bool mishap_hex_read(const char *text, unsigned char *bytes, size_t count);

#endif
