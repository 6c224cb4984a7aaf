/* Text inside of XML and HTML. */
#include "audit/report/report.h"

bool mishap_audit_is_shown(uint32_t c)
{
    bool control = (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7F && c < 0xA0);
    bool direction = c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
                     (c >= 0x2066 && c <= 0x2069);
    return !control && !direction && c != 0xFFFE && c != 0xFFFF && c != MISHAP_NO_CHARACTER;
}

void mishap_audit_put_xml(mishap_buffer *buffer, mishap_text text)
{
    while (text.length) {
        uint32_t c;
        size_t length = mishap_text_character(text, &c);
        if (c == '&')
            MISHAP_PUT(buffer, "&amp;");
        else if (c == '<')
            MISHAP_PUT(buffer, "&lt;");
        else if (c == '>')
            MISHAP_PUT(buffer, "&gt;");
        else if (c == '"')
            MISHAP_PUT(buffer, "&quot;");
        else if (c == '\'')
            MISHAP_PUT(buffer, "&#39;");
        else if (c == '\r' && text.length > 1 && text.data[1] == '\n')
            ; /* a line end is a line feed, which XML makes of both anyway */
        else if (!mishap_audit_is_shown(c))
            MISHAP_PUT(buffer, "\xef\xbf\xbd");
        else
            mishap_buffer_put(buffer, text.data, length);
        text.data += length;
        text.length -= length;
    }
}
