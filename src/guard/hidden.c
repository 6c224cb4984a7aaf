/*
 * Redact known secret values wherever a failure contains them: in a message, in a note, in the text
 * of another program. They are replaced in all output: for callers, the terminal and the log.
 *
 * They are looked for as they are and behind escapes: a text is searched, then the same text with
 * its escapes of JSON undone, once and twice, then with those of an address undone. What is found
 * there is replaced in the text itself.
 */
#include "base/encode.h"
#include "guard/guard.h"

#include "base/memory.h"

/* -- undoing escapes --------------------------------------------------------------------------- */

/* A text without its escapes, and for each of its bytes where in the first text it begins; one more
 * says where the last byte ends. */
struct view {
    char *data;
    size_t *from;
    size_t length;
};

static int hex_of(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* `count` hexadecimal digits, or -1. */
static long read_hex(const char *at, const char *end, int count)
{
    long number = 0;
    if (end - at < count)
        return -1;
    for (int i = 0; i < count; i++) {
        int digit = hex_of(at[i]);
        if (digit < 0)
            return -1;
        number = number * 16 + digit;
    }
    return number;
}

/* \u and, for what lies beyond 16 bits, a second \u. */
static size_t undo_unicode(const char *at, const char *end, char *to, size_t *put)
{
    long code = read_hex(at + 2, end, 4);
    size_t used = 6;
    if (code < 0)
        return 0;
    if (code >= 0xD800 && code < 0xDC00 && end - at >= 12 && at[6] == '\\' && at[7] == 'u') {
        long low = read_hex(at + 8, end, 4);
        if (low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            used = 12;
        }
    }
    *put = mishap_utf8_encode((uint32_t)code, to);
    return used;
}

/* The escape that begins here: how many bytes it has, and what it stands for, of up to four bytes.
 * 0: there is none. */
static size_t undo_json(const char *at, const char *end, char *to, size_t *put)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (*at != '\\' || end - at < 2)
        return 0;
    if (at[1] == 'u')
        return undo_unicode(at, end, to, put);
    const char *letter = memchr(letters, at[1], sizeof letters - 1);
    if (!letter)
        return 0;
    *to = meant[letter - letters];
    *put = 1;
    return 2;
}

static size_t undo_percent(const char *at, const char *end, char *to, size_t *put)
{
    long byte = *at == '%' ? read_hex(at + 1, end, 2) : -1;
    if (*at != '+' && byte < 0)
        return 0;
    *to = byte < 0 ? ' ' : (char)byte;
    *put = 1;
    return byte < 0 ? 1 : 3;
}

typedef size_t undoing(const char *at, const char *end, char *to, size_t *put);

/* The view of a text, or of another view, which may be the same one: a byte is read before it is
 * overwritten, since no escape is shorter than what it stands for. True: there was an escape. */
static bool look_behind(struct view *view, mishap_text text, const size_t *from, undoing *undo)
{
    const char *at = text.data, *end = at + text.length;
    size_t length = 0;
    bool found = false;
    while (at < end) {
        char plain[4] = { *at };
        size_t put = 1, begins = from ? from[at - text.data] : (size_t)(at - text.data);
        size_t used = undo(at, end, plain, &put);
        found = found || used;
        for (size_t i = 0; i < put; i++) {
            view->data[length] = plain[i];
            view->from[length++] = begins;
        }
        at += used ? used : 1;
    }
    view->from[length] = from ? from[text.length] : text.length;
    view->length = length;
    return found;
}

/* -- searching --------------------------------------------------------------------------------- */

enum { SHOWN, BEGINS, GOES_ON }; /* what a byte of the text is: part of no secret, or of which */

static bool has_escapes(mishap_text text)
{
    return memchr(text.data, '\\', text.length) || memchr(text.data, '%', text.length) ||
           memchr(text.data, '+', text.length);
}

/* Mark what is found in a view; true if something is. */
static bool mark(const mishap_secrets *secrets, const struct view *view, unsigned char *marks)
{
    mishap_text text = { view->data, view->length };
    size_t at = 0, length, next = 0;
    bool found = false;
    for (; (length = mishap_secrets_find(secrets, text, next, &at)); next = at + length) {
        size_t start = view->from[at], end = view->from[at + length];
        bool begun = marks[start] != SHOWN; /* it overlaps with another one: both are one then */
        memset(marks + start, GOES_ON, end - start);
        marks[start] = begun ? GOES_ON : BEGINS;
        found = true;
    }
    return found;
}

/* The same for a text that is not looked behind: most have no escapes. */
static bool mark_plain(const mishap_secrets *secrets, mishap_text text, unsigned char *marks)
{
    size_t at = 0, length, next = 0;
    bool found = false;
    for (; (length = mishap_secrets_find(secrets, text, next, &at)); next = at + length) {
        memset(marks + at, GOES_ON, length);
        marks[at] = BEGINS;
        found = true;
    }
    return found;
}

/* Room for one view of a text, and for the marks. */
struct room {
    void *block;
    struct view view;
    unsigned char *marks;
};

static bool make_room(struct room *room, size_t length)
{
    const size_t each = sizeof *room->view.from + 2;
    if (length > SIZE_MAX / each - 1)
        return false;
    room->block = mishap_allocate((length + 1) * each);
    if (!room->block)
        return false;
    room->view.from = room->block;
    room->view.data = (char *)(room->view.from + length + 1);
    room->marks = (unsigned char *)room->view.data + length + 1;
    memset(room->marks, SHOWN, length + 1);
    return true;
}

static bool mark_all(const mishap_secrets *secrets, mishap_text text, struct room *room)
{
    struct view *view = &room->view;
    bool found = mark_plain(secrets, text, room->marks);
    if (look_behind(view, text, NULL, undo_percent))
        found = mark(secrets, view, room->marks) || found;
    if (look_behind(view, text, NULL, undo_json)) {
        found = mark(secrets, view, room->marks) || found;
        mishap_text once = { view->data, view->length };
        if (look_behind(view, once, view->from, undo_json))
            found = mark(secrets, view, room->marks) || found;
    }
    return found;
}

bool mishap_secrets_stand_in(const mishap_secrets *secrets, mishap_text text)
{
    size_t at;
    struct room room;
    if (mishap_secrets_none(secrets) || !text.length)
        return false;
    if (secrets->unknown || mishap_secrets_find(secrets, text, 0, &at))
        return true;
    if (!has_escapes(text))
        return false;
    if (!make_room(&room, text.length))
        return true; /* better safe */
    bool found = mark_all(secrets, text, &room);
    mishap_release(room.block);
    return found;
}

/* -- hiding ------------------------------------------------------------------------------------ */

static void put_plain(mishap_buffer *buffer, const mishap_secrets *secrets, mishap_text text)
{
    size_t at = 0, length, next = 0;
    for (; (length = mishap_secrets_find(secrets, text, next, &at)); next = at + length) {
        mishap_buffer_put(buffer, text.data + next, at - next);
        mishap_buffer_put_text(buffer, mishap_guard_redacted);
    }
    mishap_buffer_put(buffer, text.data + next, text.length - next);
}

static void put_unmarked(mishap_buffer *buffer, mishap_text text, const unsigned char *marks)
{
    for (size_t at = 0, start; at < text.length;) {
        for (start = at; at < text.length && marks[at] == SHOWN;)
            at++;
        mishap_buffer_put(buffer, text.data + start, at - start);
        if (at == text.length)
            break;
        mishap_buffer_put_text(buffer, mishap_guard_redacted);
        for (at++; at < text.length && marks[at] == GOES_ON;)
            at++;
    }
}

void mishap_secrets_put_hidden(mishap_buffer *buffer, const mishap_secrets *secrets,
                               mishap_text text)
{
    struct room room;
    if (mishap_secrets_none(secrets) || !text.length) {
        mishap_buffer_put_text(buffer, text);
    } else if (secrets->unknown) {
        mishap_buffer_put_text(buffer, mishap_guard_redacted);
    } else if (!has_escapes(text)) {
        put_plain(buffer, secrets, text);
    } else if (make_room(&room, text.length)) {
        mark_all(secrets, text, &room);
        put_unmarked(buffer, text, room.marks);
        mishap_release(room.block);
    } else {
        buffer->failed = true;
    }
}
