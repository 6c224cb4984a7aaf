#include "base/json_write.h"

#include <endian.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/json_read.h"

/* The characters that JSON requires to be escaped: quotation mark, backslash, control characters.
 * DEL is escaped, too: it is legal, but terminals act on it. */
static const char escapes[256] = {
    [0 ... 7] = 'u', ['\b'] = 'b', ['\t'] = 't',  ['\n'] = 'n', [11] = 'u',        ['\f'] = 'f',
    ['\r'] = 'r',    ['"'] = '"',  ['\\'] = '\\', [127] = 'u',  [14 ... 31] = 'u',
};

/* Those that a single character stands for, as they are written; 0: none of them. */
#define PAIR(c)                                                                                    \
    {                                                                                              \
        '\\', c                                                                                    \
    }
static const char pairs[256][2] = {
    ['\b'] = PAIR('b'), ['\t'] = PAIR('t'), ['\n'] = PAIR('n'),  ['\f'] = PAIR('f'),
    ['\r'] = PAIR('r'), ['"'] = PAIR('"'),  ['\\'] = PAIR('\\'),
};

/*
 * Marks the bytes of a word that may need an escape, each by its high bit; 0: none needs one. A
 * byte below 0x20, or equal to one of the three others, has that bit, and the lowest mark is always
 * right. A subtraction may carry into the next byte, so a mark behind another one may be wrong.
 * Bytes of longer characters have that bit themselves; the last line excludes them, since they are
 * never escaped.
 */
static inline uint64_t marks_of(uint64_t word)
{
    const uint64_t each = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);
    uint64_t quote = word ^ (each * '"'), slash = word ^ (each * '\\'), del = word ^ (each * 127);
    uint64_t mask = (word - each * 0x20) | (quote - each) | (slash - each) | (del - each);
    return mask & ~word & high;
}

enum { WORD = 8, LONGEST_ESCAPE = 6 };

/* Write a byte, with an escape if it needs one. There is room for LONGEST_ESCAPE. Returns the end
 * of what was written. */
static inline char *put_byte(char *to, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char escape = escapes[c];
    if (!escape) {
        *to++ = (char)c;
        return to;
    }
    *to++ = '\\';
    *to++ = escape;
    if (escape != 'u')
        return to;
    *to++ = '0';
    *to++ = '0';
    *to++ = hex[c >> 4];
    *to++ = hex[c & 15];
    return to;
}

/* Write so many bytes with escapes, where `bits` of the marks stand for a byte: all of them are
 * copied between the escapes, of which only the first are meant. So there is as much again to be
 * read, and room for as much more. */
static inline char *put_marked(char *to, const char *from, size_t size, uint64_t marks,
                               unsigned bits)
{
    size_t done = 0;
    for (; marks; marks &= marks - 1) {
        size_t at = (unsigned)__builtin_ctzll(marks) / bits;
        memcpy(to, from + done, size);
        unsigned char c = (unsigned char)from[at];
        to += at - done;
        done = at + 1;
        if (pairs[c][0]) {
            memcpy(to, pairs[c], sizeof pairs[c]);
            to += sizeof pairs[c];
        } else {
            to = put_byte(to, c);
        }
    }
    memcpy(to, from + done, size);
    return to + size - done;
}

/* A word has eight bits of the marks for each byte, a chunk one. */
static inline uint64_t marks_of_word(const char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return marks_of(le64toh(word));
}

#if defined(__SSE2__)
enum { CHUNK = 16 };

static inline uint64_t marks_of_chunk(const char *from)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)from), last = _mm_set1_epi8(0x1F);
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last), bytes);
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(127));
    const __m128i all = _mm_or_si128(_mm_or_si128(control, quote), _mm_or_si128(slash, del));
    return (unsigned)_mm_movemask_epi8(all);
}
#else
enum { CHUNK = WORD }; /* words only */

static inline uint64_t marks_of_chunk(const char *from)
{
    return marks_of_word(from);
}
#endif

/* The part of a text that is not written yet. There is always room for it without escapes, and for
 * a quotation mark. */
struct rest {
    const char *from;
    size_t left;
};

/* Go on at this place, where there is room for so much more. NULL: there is no memory. */
static char *make_room(mishap_buffer *buffer, char *to, size_t more)
{
    buffer->length = (size_t)(to - buffer->data);
    return mishap_buffer_reserve(buffer, more) ? buffer->data + buffer->length : NULL;
}

/* Write pieces of this size, as long as two of them are left. */
static inline char *put_pieces(mishap_buffer *buffer, char *to, struct rest *rest, size_t size)
{
    const size_t marked = size * LONGEST_ESCAPE + size; /* that put_marked() writes, at most */
    for (; rest->left >= 2 * size; rest->left -= size, rest->from += size) {
        uint64_t marks = size == WORD ? marks_of_word(rest->from) : marks_of_chunk(rest->from);
        if (!marks) {
            memcpy(to, rest->from, size);
            to += size;
            continue;
        }
        if ((size_t)(buffer->data + buffer->capacity - to) < marked + rest->left &&
            !(to = make_room(buffer, to, marked + rest->left)))
            return NULL;
        to = put_marked(to, rest->from, size, marks, size == WORD ? WORD : 1);
    }
    return to;
}

/* Write the last bytes: a clean word and half of one at once, the others one by one. */
static inline char *put_last(mishap_buffer *buffer, char *to, struct rest rest)
{
    uint64_t word;
    uint32_t half;
    if (rest.left >= WORD && (memcpy(&word, rest.from, WORD), !marks_of(word))) {
        memcpy(to, rest.from, WORD);
        to += WORD, rest.from += WORD, rest.left -= WORD;
    }
    if (rest.left >= sizeof half &&
        (memcpy(&half, rest.from, sizeof half), !(uint32_t)marks_of(half))) {
        memcpy(to, rest.from, sizeof half);
        to += sizeof half, rest.from += sizeof half, rest.left -= sizeof half;
    }
    for (; rest.left; rest.left--, rest.from++) {
        unsigned char c = (unsigned char)*rest.from;
        if (escapes[c] && !(to = make_room(buffer, to, LONGEST_ESCAPE + rest.left)))
            return NULL;
        to = put_byte(to, c);
    }
    return to;
}

/* In JSON that is a string of JSON there are many escapes, and several close together. */
static void put_string(mishap_buffer *buffer, mishap_text text)
{
    struct rest rest = { text.data, text.length };
    if (!mishap_buffer_reserve(buffer, text.length + 2))
        return;
    char *to = buffer->data + buffer->length;
    *to++ = '"';
    if ((size_t)CHUNK > WORD)
        to = put_pieces(buffer, to, &rest, CHUNK);
    to = to ? put_pieces(buffer, to, &rest, WORD) : NULL;
    to = to ? put_last(buffer, to, rest) : NULL;
    if (!to)
        return;
    *to++ = '"';
    buffer->length = (size_t)(to - buffer->data);
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
