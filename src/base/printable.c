#include "base/printable.h"

static void put(mishap_buffer *buffer, mishap_text text, bool one_line)
{
    const char *end = text.data + text.length, *start = text.data;
    for (const char *at = start; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        bool space = c == '\n' || c == '\t', c1 = mishap_is_c1(at, end);
        if (!(c < 32 && (one_line || !space)) && c != 127 && !c1)
            continue;
        mishap_buffer_put(buffer, start, (size_t)(at - start));
        MISHAP_PUT(buffer, "?");
        at += c1;
        start = at + 1;
    }
    mishap_buffer_put(buffer, start, (size_t)(end - start));
}

void mishap_put_printable(mishap_buffer *buffer, mishap_text text)
{
    if (text.length)
        put(buffer, text, false);
}

void mishap_put_printable_line(mishap_buffer *buffer, mishap_text text)
{
    if (text.length)
        put(buffer, text, true);
}
