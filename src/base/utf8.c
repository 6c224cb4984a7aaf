#include "base/utf8.h"

#include <stdint.h>

static const char replacement[] = "\xEF\xBF\xBD";
enum { REPLACEMENT_LENGTH = sizeof replacement - 1 };

/* The length of the character at `at`, 0 if it is none. */
static size_t character(const unsigned char *at, const unsigned char *end)
{
    unsigned char lead = at[0];
    size_t length = lead < 0x80   ? 1
                    : lead < 0xC2 ? 0
                    : lead < 0xE0 ? 2
                    : lead < 0xF0 ? 3
                    : lead < 0xF5 ? 4
                                  : 0;
    if (length > (size_t)(end - at))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    if (length >= 3) {
        /* The second byte rules out overlong forms, surrogates and what lies beyond U+10FFFF. */
        unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (at[1] < low || at[1] > high)
            return 0;
    }
    return length;
}

/* True where all eight bytes are ASCII and none is NUL. */
static bool plain_word(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    const uint64_t high = UINT64_C(0x8080808080808080), low = UINT64_C(0x0101010101010101);
    return ((word | (word - low)) & high) == 0;
}

/* Copy text as long as it is plain: true if all of it is. Eight bytes at a time; the last eight may
 * overlap. */
static bool copy_plain(char *to, mishap_text text)
{
    size_t done = 0;
    for (; text.length - done >= 8; done += 8) {
        if (!plain_word(text.data + done))
            return false;
        memcpy(to + done, text.data + done, 8);
    }
    if (done && done < text.length) {
        done = text.length - 8;
        if (!plain_word(text.data + done))
            return false;
        memcpy(to + done, text.data + done, 8);
        return true;
    }
    for (; done < text.length; done++) {
        unsigned char byte = (unsigned char)text.data[done]; /* `char` is unsigned on arm64 */
        if (byte == 0 || byte >= 0x80)
            return false;
        to[done] = text.data[done];
    }
    return true;
}

size_t mishap_utf8_valid_length(mishap_text text)
{
    if (!text.length)
        return 0; /* there may be no data at all */
    const unsigned char *start = (const unsigned char *)text.data, *end = start + text.length;
    const unsigned char *at = start;
    while (at < end) {
        if (end - at >= 8 && plain_word((const char *)at)) {
            at += 8;
            continue;
        }
        size_t length = character(at, end);
        if (length == 0)
            break;
        at += length;
    }
    return (size_t)(at - start);
}

size_t mishap_text_character(mishap_text text, uint32_t *code)
{
    *code = MISHAP_NO_CHARACTER;
    if (!text.length)
        return 0;
    const unsigned char *at = (const unsigned char *)text.data;
    size_t length = character(at, at + text.length);
    if (!length)
        return 1;
    uint32_t value = length == 1 ? at[0] : at[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++)
        value = value << 6 | (at[i] & 0x3F);
    *code = value;
    return length;
}

mishap_text mishap_utf8_clean(mishap_arena *arena, mishap_text text)
{
    char *plain = mishap_arena_room(arena, text.length + 1);
    if (plain && copy_plain(plain, text)) {
        plain[text.length] = '\0';
        arena->next = plain + text.length + 1;
        return (mishap_text){ plain, text.length };
    }
    if (mishap_utf8_valid_length(text) == text.length && !memchr(text.data, 0, text.length))
        return mishap_arena_copy(arena, text);

    const unsigned char *end = (const unsigned char *)text.data + text.length;
    size_t size = 0;
    for (const unsigned char *at = (const unsigned char *)text.data; at < end;) {
        size_t length = *at ? character(at, end) : 0;
        size += length ? length : REPLACEMENT_LENGTH;
        at += length ? length : 1;
    }
    char *clean = mishap_arena_take(arena, size + 1), *to = clean;
    if (!clean)
        return (mishap_text){ NULL, 0 };
    for (const unsigned char *at = (const unsigned char *)text.data; at < end;) {
        size_t length = *at ? character(at, end) : 0;
        memcpy(to, length ? (const char *)at : replacement, length ? length : REPLACEMENT_LENGTH);
        to += length ? length : REPLACEMENT_LENGTH;
        at += length ? length : 1;
    }
    *to = '\0';
    return (mishap_text){ clean, size };
}

size_t mishap_utf8_cut(mishap_text text, size_t limit)
{
    if (text.length <= limit)
        return text.length;
    while (limit > 0 && ((unsigned char)text.data[limit] & 0xC0) == 0x80)
        limit--;
    return limit;
}

size_t mishap_utf8_count(mishap_text text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++)
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

size_t mishap_utf8_bytes(mishap_text text, size_t characters)
{
    size_t at = 0;
    while (at < text.length && (characters || ((unsigned char)text.data[at] & 0xC0) == 0x80)) {
        characters -= ((unsigned char)text.data[at] & 0xC0) != 0x80;
        at++;
    }
    return at;
}

bool mishap_blank(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
            return false;
    }
    return true;
}

bool mishap_lower_snake(mishap_text text)
{
    static const bool allowed[256] = { ['a' ... 'z'] = true, ['0' ... '9'] = true, ['_'] = true };
    if (text.length == 0 || !(text.data[0] >= 'a' && text.data[0] <= 'z'))
        return false;
    for (size_t i = 1; i < text.length; i++)
        if (!allowed[(unsigned char)text.data[i]])
            return false;
    return true;
}
