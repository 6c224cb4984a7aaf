/* Server-sent events: see events.h. */
#include "mcp/gateway/process/events.h"

/* The value of a line "NAME: VALUE"; no data: it is another field. */
static mishap_text value_of(mishap_text line, mishap_text name)
{
    if (line.length < name.length + 1 || memcmp(line.data, name.data, name.length) != 0 ||
        line.data[name.length] != ':')
        return (mishap_text){ NULL, 0 };
    size_t skip = name.length + 1;
    skip += line.length > skip && line.data[skip] == ' ';
    return (mishap_text){ line.data + skip, line.length - skip };
}

/* A stream may begin with a mark of the byte order, which is no part of its first line. */
static mishap_text after_mark(mishap_text line, bool begun)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t skip = !begun && line.length >= 3 && memcmp(line.data, mark, 3) == 0 ? 3 : 0;
    return (mishap_text){ line.data + skip, line.length - skip };
}

static void take_line(gateway_events *e, size_t most)
{
    mishap_text line = after_mark(mishap_buffer_text(&e->line), e->begun);
    mishap_text data = value_of(line, (mishap_text)MISHAP_TEXT("data"));
    mishap_text kind = value_of(line, (mishap_text)MISHAP_TEXT("event"));
    if (kind.data)
        e->other = kind.length && !mishap_text_equal(kind, (mishap_text)MISHAP_TEXT("message"));
    if (!data.data)
        return;
    if (data.length + 1 > most - (e->data.length < most ? e->data.length : most)) {
        e->lost = true;
        return;
    }
    if (e->any)
        mishap_buffer_put_char(&e->data, '\n');
    mishap_buffer_put_text(&e->data, data);
    e->any = true;
}

static void begin_event(gateway_events *e)
{
    mishap_buffer_reset(&e->data);
    e->any = e->other = e->lost = false;
}

void mishap_mcp_gateway_events_reset(gateway_events *events)
{
    begin_event(events);
    mishap_buffer_reset(&events->line);
    events->line_lost = events->after_cr = events->begun = false;
}

void mishap_mcp_gateway_events_release(gateway_events *events)
{
    mishap_buffer_release(&events->line);
    mishap_buffer_release(&events->data);
}

/* The number of bytes before the next line end. */
static size_t before_end(mishap_text piece)
{
    size_t i = 0;
    while (i < piece.length && piece.data[i] != '\n' && piece.data[i] != '\r')
        i++;
    return i;
}

/* An empty line: true if an event was lost. */
static bool end_event(gateway_events *e, void (*take)(void *state, mishap_text data), void *state)
{
    bool lost = e->lost || e->data.failed;
    if (e->any && !lost && !e->other)
        take(state, mishap_buffer_text(&e->data));
    begin_event(e);
    return lost;
}

size_t mishap_mcp_gateway_events_feed(gateway_events *e, mishap_text piece, size_t most,
                                      void (*take)(void *state, mishap_text data), void *state)
{
    size_t lost = 0;
    while (piece.length) {
        size_t length = before_end(piece);
        if (length)
            e->after_cr = false;
        if (length > most - (e->line.length < most ? e->line.length : most))
            e->line_lost = true;
        else if (!e->line_lost)
            mishap_buffer_put(&e->line, piece.data, length);
        if (length == piece.length)
            break;
        bool cr = piece.data[length] == '\r';
        piece = (mishap_text){ piece.data + length + 1, piece.length - length - 1 };
        if (!cr && e->after_cr && !length) { /* the second half of CR LF */
            e->after_cr = false;
            continue;
        }
        e->after_cr = cr;
        bool empty = !e->line.length && !e->line_lost;
        e->lost = e->lost || e->line_lost || e->line.failed;
        if (empty)
            lost += end_event(e, take, state);
        else if (!e->line_lost)
            take_line(e, most);
        e->begun = true;
        mishap_buffer_reset(&e->line);
        e->line_lost = false;
    }
    return lost;
}
