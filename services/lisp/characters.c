/* UTF-8 characters, for text that is typed and text that is shown. */
#include "lisp/line.h"

size_t lisp_bytes_of(mishap_text text, size_t count)
{
    size_t at = 0;
    uint32_t character;
    while (count-- > 0 && at < text.length)
        at += mishap_text_character((mishap_text){ text.data + at, text.length - at }, &character);
    return at;
}
