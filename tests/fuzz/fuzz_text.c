/* Any bytes as text: UTF-8 is recognized, mended and cut as RFC 3629 says, and what the guard
 * redacts is gone. */
#include "fuzz.h"

#include "base/json_read.h"
#include "guard/guard.h"
#include "mishap/json.h"
#include "operation/format.h"

/* -- UTF-8
 * ----------------------------------------------------------------------------------------------------
 */

/* The character at the start of the text, read bit by bit: its length, or 0 if it is none. */
static size_t plain_character(const uint8_t *at, size_t size)
{
    static const struct {
        uint8_t mask, lead;
        uint32_t least;
    } forms[] = {
        { 0x80, 0x00, 0 }, { 0xE0, 0xC0, 0x80 }, { 0xF0, 0xE0, 0x800 }, { 0xF8, 0xF0, 0x10000 }
    };
    for (size_t length = 1; length <= 4; length++) {
        if ((at[0] & forms[length - 1].mask) != forms[length - 1].lead)
            continue;
        uint32_t number = at[0] & (uint8_t)~forms[length - 1].mask;
        for (size_t i = 1; i < length; i++) {
            if (i >= size || (at[i] & 0xC0) != 0x80)
                return 0;
            number = number << 6 | (at[i] & 0x3F);
        }
        bool surrogate = number >= 0xD800 && number <= 0xDFFF;
        return number >= forms[length - 1].least && number <= 0x10FFFF && !surrogate ? length : 0;
    }
    return 0;
}

/* The cleaned text has each good character in place, and U+FFFD for each other byte. */
static void expect_clean(const uint8_t *data, size_t size, mishap_text clean)
{
    size_t at = 0, to = 0, valid = SIZE_MAX, characters = 0;
    while (at < size) {
        size_t length = plain_character(data + at, size - at);
        if (length == 0 && valid == SIZE_MAX)
            valid = at;
        bool kept = length && data[at];
        const char *expected = kept ? (const char *)data + at : "\xEF\xBF\xBD";
        size_t count = kept ? length : 3;
        EXPECT(to + count <= clean.length && memcmp(clean.data + to, expected, count) == 0,
               "at byte %zu", at);
        to += count;
        at += length ? length : 1;
        characters++;
    }
    EXPECT(to == clean.length && clean.data[to] == '\0', "%zu bytes, not %zu", clean.length, to);
    EXPECT(mishap_utf8_count(clean) == characters, "%zu characters", characters);
    mishap_text text = input_text(data, size);
    EXPECT(mishap_utf8_valid_length(text) == (valid == SIZE_MAX ? size : valid), "%zu", valid);
}

/* Written as a key and as a value, and read again, it has each good character in place, and U+FFFD
 * for each other byte. */
static void expect_json(const uint8_t *data, size_t size)
{
    mishap_text text = input_text(data, size), read;
    mishap_buffer json = { 0 };
    mishap_json_reader reader = { 0 };
    mishap_json_put_object(&json, NULL);
    mishap_json_put_value(&json, text, mishap_value_of_text(text));
    mishap_json_put_end(&json, '}');
    EXPECT(!json.failed && mishap_json_read(&reader, mishap_buffer_text(&json)), "not JSON");
    yyjson_val *key = unsafe_yyjson_get_first(reader.root);
    read = mishap_json_text(key);
    EXPECT(yyjson_obj_size(reader.root) == 1, "%zu members", yyjson_obj_size(reader.root));
    EXPECT(mishap_text_equal(read, mishap_json_text(key + 1)), "the key is not the value");
    size_t at = 0, to = 0;
    while (at < size) {
        uint32_t character;
        size_t length = plain_character(data + at, size - at);
        const char *expected = length ? (const char *)data + at : "\xEF\xBF\xBD";
        size_t count = length ? length : 3;
        EXPECT(to + count <= read.length && memcmp(read.data + to, expected, count) == 0,
               "at byte %zu", at);
        EXPECT(mishap_text_character(input_text(data + at, size - at), &character) ==
                   (length ? length : 1),
               "at byte %zu", at);
        EXPECT(length || character == MISHAP_NO_CHARACTER, "U+%04X", (unsigned)character);
        to += count;
        at += length ? length : 1;
    }
    EXPECT(to == read.length, "%zu bytes, not %zu", read.length, to);
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&json);
}

static void expect_cut(mishap_text text, size_t limit)
{
    size_t cut = mishap_utf8_cut(text, limit);
    EXPECT(cut <= limit && cut <= text.length, "%zu of %zu", cut, limit);
    EXPECT(cut == text.length || cut + 4 > limit, "%zu of %zu is too little", cut, limit);
    expect_utf8((mishap_text){ text.data, cut });
    expect_utf8((mishap_text){ text.data + cut, text.length - cut });
}

/* -- what must not leak
 * --------------------------------------------------------------------------------------- */

/* Every password lies within the text, and each is found after the one before. */
static size_t count_passwords(mishap_text text, bool redacted)
{
    size_t count = 0, from = 0, start, length;
    while ((length = mishap_guard_find_password(text, from, &start))) {
        EXPECT(start >= from && length <= text.length && start <= text.length - length, "%zu+%zu",
               start, length);
        EXPECT(!redacted || mishap_text_equal((mishap_text){ text.data + start, length },
                                              mishap_guard_redacted),
               "%.*s in %.*s", (int)length, text.data + start, SHOWN(text));
        from = start + length;
        count++;
    }
    return count;
}

static void expect_redacted(mishap_arena *arena, mishap_text text)
{
    mishap_text redacted = mishap_guard_redact(arena, text);
    EXPECT(redacted.data, "out of memory");
    EXPECT(count_passwords(text, false) == count_passwords(redacted, true), "%.*s",
           SHOWN(redacted));
    mishap_text again = mishap_guard_redact(arena, redacted);
    EXPECT(mishap_text_equal(redacted, again), "%.*s\n%.*s", SHOWN(redacted), SHOWN(again));
    expect_utf8(redacted);
}

/* A trace is found wherever its lines stand. */
static void expect_trace(mishap_text text)
{
    const char *language = NULL, *moved = NULL;
    bool found = mishap_guard_finds_trace(text, &language);
    EXPECT(found == (language != NULL), "%s", language);
    EXPECT(mishap_guard_finds_trace(text, NULL) == found, "%s", language);
    char *lines = malloc(text.length + 16);
    int before = snprintf(lines, 16, "Something\n  ");
    memcpy(lines + before, text.data, text.length);
    EXPECT(mishap_guard_finds_trace((mishap_text){ lines, (size_t)before + text.length }, &moved) >=
               found,
           "%s", language);
    free(lines);
}

/* No format reads beyond the end, none has a NUL in it, and what one is does not hang on what
 * stands behind the text. */
static void expect_formats(mishap_text text)
{
    static const char *const names[] = { "date",     "time", "date-time", "duration", "email",
                                         "hostname", "ipv4", "ipv6",      "uri",      "uuid" };
    char *exact = malloc(text.length);
    EXPECT(exact, "%zu bytes", text.length);
    memcpy(exact, text.data, text.length);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const mishap_format *format = mishap_format_find(names[i]);
        bool holds = format->holds((mishap_text){ exact, text.length });
        EXPECT(holds == format->holds(text), "%s", names[i]);
        EXPECT(!holds || !memchr(exact, '\0', text.length), "%s", names[i]);
    }
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_arena arena;
    if (size == 0)
        return 0;
    mishap_arena_init(&arena, NULL, 0);
    mishap_text clean = mishap_utf8_clean(&arena, input_text(data, size));
    expect_clean(data, size, clean);
    expect_json(data, size);
    expect_formats(input_text(data, size));
    for (size_t limit = 0; limit <= clean.length + 1 && limit < 64; limit++)
        expect_cut(clean, limit);
    expect_cut(clean, clean.length / 2);
    expect_redacted(&arena, clean);
    expect_trace(clean);
    mishap_guard_secret_name(clean);
    mishap_arena_release(&arena);
    return 0;
}
