/* UTF-8 characters, for text that is typed and text that is shown. */
#include "lisp/line.h"

size_t lisp_character(mishap_text text, uint32_t *character)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    *character = LISP_NO_CHARACTER;
    if (!text.length)
        return 0;
    unsigned char first = (unsigned char)text.data[0];
    size_t length = first < 0x80             ? 1
                    : (first & 0xE0) == 0xC0 ? 2
                    : (first & 0xF0) == 0xE0 ? 3
                    : (first & 0xF8) == 0xF0 ? 4
                                             : 0;
    if (length == 0 || length > text.length)
        return 1;
    uint32_t value = length == 1 ? first : first & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        unsigned char next = (unsigned char)text.data[i];
        if ((next & 0xC0) != 0x80)
            return 1;
        value = value << 6 | (next & 0x3F);
    }
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        return 1;
    *character = value;
    return length;
}

size_t lisp_bytes_of(mishap_text text, size_t count)
{
    size_t at = 0;
    uint32_t character;
    while (count-- > 0 && at < text.length)
        at += lisp_character((mishap_text){ text.data + at, text.length - at }, &character);
    return at;
}
