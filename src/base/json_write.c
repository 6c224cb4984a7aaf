#include "base/json_write.h"

#include "base/json_read.h"

/* The characters that JSON requires to be escaped: quotation mark, backslash, control characters.
 * DEL is escaped, too: it is legal, but terminals act on it. */
static const char escapes[256] = {
    [0 ... 7] = 'u', ['\b'] = 'b', ['\t'] = 't',  ['\n'] = 'n', [11] = 'u',        ['\f'] = 'f',
    ['\r'] = 'r',    ['"'] = '"',  ['\\'] = '\\', [127] = 'u',  [14 ... 31] = 'u',
};

static void put_escape(mishap_buffer *buffer, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char escape[6] = { '\\', escapes[c], '0', '0', hex[c >> 4], hex[c & 15] };
    mishap_buffer_put(buffer, escape, escapes[c] == 'u' ? 6 : 2);
}

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

/* Copy up to the first byte that needs an escape; returns the number of bytes. The last eight bytes
 * may overlap. */
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
    if (done && done < length && length - done < 8) {
        memcpy(&word, from + length - 8, 8);
        if (!word_needs_escape(word)) {
            memcpy(to + length - 8, &word, 8);
            return length;
        }
    }
    if (!done && length >= 4) {
        /* Four to seven bytes: two halves of a word that overlap. */
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + length - 4, 4);
        if (length < 8 && !word_needs_escape((uint64_t)last << 32 | first)) {
            memcpy(to, &first, 4);
            memcpy(to + length - 4, &last, 4);
            return length;
        }
    }
    for (; done < length && !escapes[(unsigned char)from[done]]; done++)
        to[done] = from[done];
    return done;
}

static void put_string(mishap_buffer *buffer, mishap_text text)
{
    if (!mishap_buffer_reserve(buffer, text.length + 2))
        return;
    buffer->data[buffer->length++] = '"';
    for (size_t done = 0;;) {
        size_t left = text.length - done;
        size_t clean = left ? copy_clean(buffer->data + buffer->length, text.data + done, left) : 0;
        buffer->length += clean;
        done += clean;
        if (done == text.length)
            break;
        put_escape(buffer, (unsigned char)text.data[done++]);
        if (!mishap_buffer_reserve(buffer, text.length - done + 1))
            return;
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
