/* Positions as text: see handover.h. */
#include "operation/handover.h"

#include <stdio.h>
#include <string.h>

void mishap_position_put(mishap_buffer *text, const mishap_position *position)
{
    char mark[MISHAP_POSITION_LIMIT / MISHAP_POSITION_SERVERS + 1];
    for (size_t i = 0; i < position->count; i++) {
        int length = snprintf(
            mark, sizeof mark, "%c%08x-%lld", i ? '.' : 'm', (unsigned)position->marks[i].server,
            (long long)(position->marks[i].change % INT64_C(1000000000000000000)));
        mishap_buffer_put(text, mark, (size_t)length);
    }
}

static bool read_hex(mishap_text *text, uint32_t *number)
{
    static const char digits[] = "0123456789abcdef";
    if (text->length < 8)
        return false;
    *number = 0;
    for (size_t i = 0; i < 8; i++) {
        const char *at = text->data[i] ? strchr(digits, text->data[i]) : NULL;
        if (!at)
            return false;
        *number = *number << 4 | (uint32_t)(at - digits);
    }
    text->data += 8;
    text->length -= 8;
    return true;
}

/* At most 18 digits, so it never overflows. */
static bool read_number(mishap_text *text, int64_t *number)
{
    size_t count = 0;
    *number = 0;
    while (text->length && *text->data >= '0' && *text->data <= '9' && count < 18) {
        *number = *number * 10 + (*text->data - '0');
        text->data++;
        text->length--;
        count++;
    }
    return count > 0;
}

static bool read_char(mishap_text *text, char wanted)
{
    if (!text->length || *text->data != wanted)
        return false;
    text->data++;
    text->length--;
    return true;
}

bool mishap_position_read(mishap_text text, mishap_position *position)
{
    position->count = 0;
    if (text.length > MISHAP_POSITION_LIMIT)
        return false;
    while (position->count < MISHAP_POSITION_SERVERS && (text.length || position->count == 0)) {
        struct mishap_position_mark *mark = &position->marks[position->count];
        if (!read_char(&text, position->count ? '.' : 'm') || !read_hex(&text, &mark->server) ||
            !read_char(&text, '-') || !read_number(&text, &mark->change))
            return false;
        position->count++;
    }
    return text.length == 0;
}

int64_t mishap_position_of(const mishap_position *position, uint32_t server)
{
    for (size_t i = 0; i < position->count; i++)
        if (position->marks[i].server == server)
            return position->marks[i].change;
    return -1;
}
