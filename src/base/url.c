#include "base/url.h"

#include "base/buffer.h"
#include "base/hex.h"

bool mishap_url_valid(mishap_text url)
{
    size_t scheme = 0;
    for (size_t i = 0; i < url.length; i++)
        if (!mishap_url_character((unsigned char)url.data[i]))
            return false;
    while (scheme < url.length &&
           (((url.data[scheme] | 32) >= 'a' && (url.data[scheme] | 32) <= 'z') ||
            (scheme && strchr("+-.0123456789", url.data[scheme]))))
        scheme++;
    return scheme > 0 && scheme + 1 < url.length && url.data[scheme] == ':';
}

/* -- escapes ----------------------------------------------------------------------------------- */

int mishap_url_escape(const char *at, const char *end)
{
    if (end - at < 3 || *at != '%')
        return -1;
    int high = mishap_hex_digit(at[1]), low = mishap_hex_digit(at[2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

bool mishap_url_unescape(mishap_buffer *buffer, mishap_text text, bool form)
{
    size_t before = buffer->length;
    if (text.length == 0 || !mishap_buffer_reserve(buffer, text.length))
        return true; /* a buffer that failed says so itself */
    const char *at = text.data, *end = at + text.length;
    char *to = buffer->data + before;
    while (at < end) {
        if (*at == '%') {
            int byte = mishap_url_escape(at, end);
            if (byte < 0)
                return false;
            *to++ = (char)byte;
            at += 3;
        } else {
            *to++ = *at == '+' && form ? ' ' : *at;
            at++;
        }
    }
    buffer->length = (size_t)(to - buffer->data);
    return true;
}

bool mishap_url_spells(mishap_text text, mishap_text plain)
{
    if (text.length == 0)
        return plain.length == 0;
    const char *at = text.data, *end = at + text.length;
    for (size_t i = 0; i < plain.length; i++) {
        if (at == end)
            return false;
        int byte = *at == '%' ? mishap_url_escape(at, end) : (unsigned char)*at;
        if (byte != (unsigned char)plain.data[i])
            return false;
        at += *at == '%' ? 3 : 1;
    }
    return at == end;
}

void mishap_url_put_escaped(mishap_buffer *buffer, mishap_text text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        char escape[3] = { '%', hex[c >> 4], hex[c & 15] };
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '-' || c == '_' || c == '.')
            mishap_buffer_put_char(buffer, (char)c);
        else
            mishap_buffer_put(buffer, escape, sizeof escape);
    }
}
