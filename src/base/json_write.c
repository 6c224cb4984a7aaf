#include "base/json_write.h"

#include "base/json_read.h"

/* The characters that JSON requires to be escaped: quotation mark, backslash, control characters.
 * DEL is escaped, too: it is legal, but terminals act on it. */
static const char escapes[256] = {
    [0 ... 7] = 'u', ['\b'] = 'b', ['\t'] = 't',  ['\n'] = 'n', [11] = 'u',        ['\f'] = 'f',
    ['\r'] = 'r',    ['"'] = '"',  ['\\'] = '\\', [127] = 'u',  [14 ... 31] = 'u',
};

/*
 * True if one of the eight bytes needs an escape. A byte below 0x20, or equal to one of the three
 * others, leaves its high bit in the mask. Bytes of longer characters have that bit themselves; the
 * last line excludes them, since they are never escaped.
 */
static bool word_needs_escape(uint64_t word)
{
    const uint64_t each = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);
    uint64_t quote = word ^ (each * '"'), slash = word ^ (each * '\\'), del = word ^ (each * 127);
    uint64_t mask = (word - each * 0x20) | (quote - each) | (slash - each) | (del - each);
    return (mask & ~word & high) != 0;
}

enum { LONGEST_ESCAPE = 6 };

/* Write some bytes one by one, with escapes. There is room for LONGEST_ESCAPE of each. Returns the
 * end of what was written. */
static char *put_bytes(char *to, const char *from, size_t length)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)from[i];
        char escape = escapes[c];
        if (!escape) {
            *to++ = (char)c;
            continue;
        }
        *to++ = '\\';
        *to++ = escape;
        if (escape != 'u')
            continue;
        *to++ = '0';
        *to++ = '0';
        *to++ = hex[c >> 4];
        *to++ = hex[c & 15];
    }
    return to;
}

/* Copy the words that need no escape; returns how many bytes. */
static size_t copy_clean(char *to, const char *from, size_t length)
{
    size_t done = 0;
    uint64_t word;
    for (; length - done >= 8; done += 8) {
        memcpy(&word, from + done, 8);
        if (word_needs_escape(word))
            break;
        memcpy(to + done, &word, 8);
    }
    return done;
}

/* Copy a text of four to seven bytes, as two halves of a word that overlap. False: it needs an
 * escape. */
static bool copy_short(char *to, const char *from, size_t length)
{
    uint32_t first, last;
    memcpy(&first, from, 4);
    memcpy(&last, from + length - 4, 4);
    if (word_needs_escape((uint64_t)last << 32 | first))
        return false;
    memcpy(to, &first, 4);
    memcpy(to + length - 4, &last, 4);
    return true;
}

/* A word with an escape is written byte by byte as a whole: in JSON that is a string of JSON, there
 * are several in most of them. */
static void put_string(mishap_buffer *buffer, mishap_text text)
{
    if (!mishap_buffer_reserve(buffer, text.length + 2))
        return;
    buffer->data[buffer->length++] = '"';
    for (size_t left = text.length; left;) {
        const char *from = text.data + text.length - left;
        size_t clean = copy_clean(buffer->data + buffer->length, from, left);
        buffer->length += clean;
        left -= clean;
        from += clean;
        size_t count = left < 8 ? left : 8;
        if (count >= 4 && count < 8 && copy_short(buffer->data + buffer->length, from, count)) {
            buffer->length += count;
            break;
        }
        if (!mishap_buffer_reserve(buffer, count * LONGEST_ESCAPE + left - count + 1))
            return;
        char *at = buffer->data + buffer->length;
        buffer->length += (size_t)(put_bytes(at, from, count) - at);
        left -= count;
    }
    mishap_buffer_put_char(buffer, '"');
}

void mishap_json_key(mishap_buffer *buffer, mishap_text key)
{
    mishap_json_comma(buffer);
    put_string(buffer, key);
    mishap_buffer_put_char(buffer, ':');
}

void mishap_json_string(mishap_buffer *buffer, mishap_text text)
{
    mishap_json_comma(buffer);
    put_string(buffer, text);
}

void mishap_json_bool(mishap_buffer *buffer, bool value)
{
    mishap_json_comma(buffer);
    mishap_buffer_put_text(buffer, mishap_text_of(value ? "true" : "false"));
}

void mishap_json_null(mishap_buffer *buffer)
{
    mishap_json_comma(buffer);
    MISHAP_PUT(buffer, "null");
}

void mishap_json_int(mishap_buffer *buffer, int64_t number)
{
    mishap_json_comma(buffer);
    mishap_buffer_put_int(buffer, number);
}

void mishap_json_value(mishap_buffer *buffer, const mishap_value *value)
{
    mishap_json_comma(buffer);
    mishap_json_bare(buffer, value);
}

void mishap_json_bare(mishap_buffer *buffer, const mishap_value *value)
{
    switch (value->kind) {
    case MISHAP_KIND_NONE:
    case MISHAP_KIND_NULL:
        MISHAP_PUT(buffer, "null");
        break;
    case MISHAP_KIND_BOOL:
        mishap_buffer_put_text(buffer, mishap_text_of(value->boolean ? "true" : "false"));
        break;
    case MISHAP_KIND_INT:
        mishap_buffer_put_int(buffer, value->integer);
        break;
    case MISHAP_KIND_UINT:
        mishap_buffer_put_uint(buffer, value->natural);
        break;
    case MISHAP_KIND_REAL:
        mishap_buffer_put_real(buffer, value->real);
        break;
    case MISHAP_KIND_TEXT:
        put_string(buffer, value->text);
        break;
    case MISHAP_KIND_JSON:
        mishap_buffer_put_text(buffer, value->text);
        break;
    }
}

void mishap_json_plain(mishap_buffer *buffer, const mishap_value *value)
{
    if (value->kind == MISHAP_KIND_TEXT)
        mishap_buffer_put_text(buffer, value->text);
    else
        mishap_json_bare(buffer, value);
}

void mishap_json_copy(mishap_buffer *buffer, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *item;
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_OBJ:
        mishap_json_open(buffer, '{');
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            mishap_json_key(buffer, mishap_json_text(key));
            mishap_json_copy(buffer, item);
        }
        mishap_json_close(buffer, '}');
        break;
    case YYJSON_TYPE_ARR:
        mishap_json_open(buffer, '[');
        MISHAP_JSON_ITEMS (value, index, count, item)
            mishap_json_copy(buffer, item);
        mishap_json_close(buffer, ']');
        break;
    case YYJSON_TYPE_RAW:
        mishap_json_comma(buffer);
        mishap_buffer_put_text(buffer, mishap_json_text(value));
        break;
    default: {
        mishap_value scalar = mishap_json_scalar(value);
        mishap_json_value(buffer, &scalar);
    }
    }
}

static void put_new_line(mishap_buffer *buffer, size_t depth)
{
    MISHAP_PUT(buffer, "\n");
    for (size_t i = 0; i < depth; i++)
        MISHAP_PUT(buffer, "  ");
}

static void put_bare(mishap_buffer *buffer, yyjson_val *scalar)
{
    mishap_value value = mishap_json_scalar(scalar);
    if (yyjson_is_raw(scalar))
        mishap_buffer_put_text(buffer, mishap_json_text(scalar));
    else
        mishap_json_bare(buffer, &value);
}

static void put_pretty(mishap_buffer *buffer, yyjson_val *value, size_t depth)
{
    size_t index, count;
    yyjson_val *key, *item;
    bool object = yyjson_is_obj(value);
    if (!yyjson_is_ctn(value)) {
        put_bare(buffer, value);
        return;
    }
    mishap_buffer_put_char(buffer, object ? '{' : '[');
    MISHAP_JSON_MEMBERS (value, index, count, key, item) {
        if (index)
            MISHAP_PUT(buffer, ",");
        put_new_line(buffer, depth + 1);
        put_bare(buffer, key);
        MISHAP_PUT(buffer, ": ");
        put_pretty(buffer, item, depth + 1);
    }
    MISHAP_JSON_ITEMS (value, index, count, item) {
        if (index)
            MISHAP_PUT(buffer, ",");
        put_new_line(buffer, depth + 1);
        put_pretty(buffer, item, depth + 1);
    }
    if (unsafe_yyjson_get_len(value))
        put_new_line(buffer, depth);
    mishap_buffer_put_char(buffer, object ? '}' : ']');
}

void mishap_json_put_pretty(mishap_buffer *buffer, yyjson_val *value)
{
    put_pretty(buffer, value, 0);
}
