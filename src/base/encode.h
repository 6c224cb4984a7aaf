/* UTF-8, written: the other way of mishap_text_character(). */
#ifndef MISHAP_BASE_ENCODE_H
#define MISHAP_BASE_ENCODE_H

#include <stddef.h>
#include <stdint.h>

/* Encode a character, at most U+10FFFF; the result is the number of bytes. Half of a surrogate pair
 * is encoded like a character, which is no valid UTF-8. */
static inline size_t mishap_utf8_encode(uint32_t character, char bytes[4])
{
    size_t length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; character >>= 6)
        bytes[i] = (char)(0x80 | (character & 0x3F));
    bytes[0] = (char)(length == 1 ? character : (0xF00U >> length & 0xFF) | character);
    return length;
}

#endif
