/* Server-sent events: lines that end with CR, LF or both; an empty line ends an event. */
#include "audit/mcp/inside.h"

/* Cut the next line off; false: there is no complete one. */
static bool next_line(mishap_text *stream, mishap_text *line)
{
    for (size_t i = 0; i < stream->length; i++) {
        if (stream->data[i] != '\n' && stream->data[i] != '\r')
            continue;
        size_t end = i + 1;
        if (stream->data[i] == '\r' && end < stream->length && stream->data[end] == '\n')
            end++;
        *line = (mishap_text){ stream->data, i };
        stream->data += end;
        stream->length -= end;
        return true;
    }
    return false;
}

bool mishap_audit_mcp_next_event(mishap_text *stream, mishap_buffer *data)
{
    static const char field[] = "data:";
    bool any = false;
    mishap_text line;
    mishap_buffer_reset(data);
    while (next_line(stream, &line)) {
        if (!line.length && any)
            return true;
        if (line.length < sizeof field - 1 || memcmp(line.data, field, sizeof field - 1) != 0)
            continue;
        if (any)
            mishap_buffer_put_char(data, '\n');
        size_t skip = sizeof field - 1;
        skip += line.length > skip && line.data[skip] == ' ';
        mishap_buffer_put(data, line.data + skip, line.length - skip);
        any = true;
    }
    return false;
}
