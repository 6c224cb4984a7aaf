#include "base/printable.h"

/*
 * The bytes of a character that changes the direction of writing, or ends a line without being a
 * line feed, at this place; 0: there is none. U+061C is D8 9C, U+200E and its like are E2 80 8E, 8F
 * and A8 to AE, U+2066 to U+2069 are E2 81 A6 to A9.
 */
static size_t misleading(const char *at, const char *end)
{
    const unsigned char *c = (const unsigned char *)at;
    if (c[0] == 0xD8)
        return end - at > 1 && c[1] == 0x9C ? 2 : 0;
    if (c[0] != 0xE2 || end - at < 3)
        return 0;
    bool found = c[1] == 0x80 ? c[2] == 0x8E || c[2] == 0x8F || (c[2] >= 0xA8 && c[2] <= 0xAE)
                              : c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9;
    return found ? 3 : 0;
}

/* The number of bytes that are replaced by one question mark. */
static size_t unprintable(const char *at, const char *end, bool one_line)
{
    unsigned char c = (unsigned char)*at;
    if (c < 32)
        return one_line || (c != '\n' && c != '\t');
    if (c < 127)
        return 0;
    if (c == 127)
        return 1;
    return mishap_is_c1(at, end) ? 2 : misleading(at, end);
}

static void put_printable(mishap_buffer *buffer, mishap_text text, bool one_line)
{
    const char *end = text.data + text.length, *start = text.data;
    for (const char *at = start; at < end;) {
        size_t bytes = unprintable(at, end, one_line);
        if (!bytes) {
            at++;
            continue;
        }
        mishap_buffer_put(buffer, start, (size_t)(at - start));
        MISHAP_PUT(buffer, "?");
        at += bytes;
        start = at;
    }
    mishap_buffer_put(buffer, start, (size_t)(end - start));
}

void mishap_put_printable(mishap_buffer *buffer, mishap_text text)
{
    if (text.length)
        put_printable(buffer, text, false);
}

void mishap_put_printable_line(mishap_buffer *buffer, mishap_text text)
{
    if (text.length)
        put_printable(buffer, text, true);
}
