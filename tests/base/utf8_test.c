/* src/base/utf8: what is valid, what is replaced, where a text is cut. */
#include "testing.h"

#include "base/base.h"
#include "base/encode.h"
#include "base/trim.h"
#include "scarce.h"

static void valid_utf8_is_valid_to_its_end(void **state)
{
    (void)state;
    static const mishap_text valid[] = {
        MISHAP_TEXT(""),
        MISHAP_TEXT("plain ASCII that is longer than a machine word"),
        MISHAP_TEXT("\x00 a NUL is a character \x7F"),
        MISHAP_TEXT("\xC2\x80 first of two bytes"),
        MISHAP_TEXT("\xDF\xBF last of two bytes"),
        MISHAP_TEXT("\xE0\xA0\x80 first of three"),
        MISHAP_TEXT("\xED\x9F\xBF before the surrogates"),
        MISHAP_TEXT("\xEE\x80\x80 after the surrogates"),
        MISHAP_TEXT("\xEF\xBF\xBF last of three"),
        MISHAP_TEXT("\xF0\x90\x80\x80 first of four"),
        MISHAP_TEXT("\xF4\x8F\xBF\xBF U+10FFFF"),
        MISHAP_TEXT("Gr\xC3\xBC\xC3\x9F"
                    "e, \xE4\xB8\x96\xE7\x95\x8C, \xF0\x9F\x98\x80"),
    };
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        assert_int_equal(mishap_utf8_valid_length(valid[i]), valid[i].length);
}

static const struct invalid {
    mishap_text text;
    const char *cleaned;
} invalid[] = {
#define X "\xEF\xBF\xBD"
    { MISHAP_TEXT("\x80"), X }, /* a continuation alone */
    { MISHAP_TEXT("\xBF"), X },
    { MISHAP_TEXT("\xFE"), X },
    { MISHAP_TEXT("\xFF"), X },
    { MISHAP_TEXT("\xC0\x80"), X X }, /* overlong */
    { MISHAP_TEXT("\xC1\xBF"), X X },
    { MISHAP_TEXT("\xE0\x80\xAF"), X X X },
    { MISHAP_TEXT("\xE0\x9F\xBF"), X X X },
    { MISHAP_TEXT("\xF0\x80\x80\xAF"), X X X X },
    { MISHAP_TEXT("\xF0\x8F\xBF\xBF"), X X X X },
    { MISHAP_TEXT("\xED\xA0\x80"), X X X }, /* surrogates */
    { MISHAP_TEXT("\xED\xBF\xBF"), X X X },
    { MISHAP_TEXT("\xF4\x90\x80\x80"), X X X X }, /* beyond U+10FFFF */
    { MISHAP_TEXT("\xF5\x80\x80\x80"), X X X X },
    { MISHAP_TEXT("\xF8\x88\x80\x80\x80"), X X X X X }, /* five bytes */
    { MISHAP_TEXT("\xC3"), X },                         /* cut short */
    { MISHAP_TEXT("\xE4\xB8"), X X },
    { MISHAP_TEXT("\xF0\x9F\x98"), X X X },
    { MISHAP_TEXT("\xC3z"), X "z" }, /* cut short by another character */
    { MISHAP_TEXT("\xE4\xB8z"), X X "z" },
    { MISHAP_TEXT("\xE4\xC3\xBCz"), X "\xC3\xBCz" },
    { MISHAP_TEXT("\xF0\x9F\x98z"), X X X "z" },
};

static void invalid_utf8_breaks_where_it_breaks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        assert_int_equal(mishap_utf8_valid_length(invalid[i].text), 0);
        for (size_t before = 1; before < 20; before++) {
            char text[64];
            memset(text, 'a', before);
            memcpy(text + before, invalid[i].text.data, invalid[i].text.length);
            memset(text + before + invalid[i].text.length, 'b', 10);
            mishap_text whole = { text, before + invalid[i].text.length + 10 };
            assert_int_equal(mishap_utf8_valid_length(whole), before);
        }
    }
}

static void each_byte_that_breaks_utf8_is_replaced(void **state)
{
    (void)state;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        mishap_text cleaned = mishap_utf8_clean(&arena, invalid[i].text);
        assert_string_equal(cleaned.data, invalid[i].cleaned);
        assert_int_equal(cleaned.length, strlen(invalid[i].cleaned));
    }
    mishap_arena_release(&arena);
}

static void cleaning_replaces_nul_and_keeps_the_rest(void **state)
{
    (void)state;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    mishap_text text = mishap_utf8_clean(&arena, T("a\0b"));
    assert_string_equal(text.data, "a" X "b");
    assert_int_equal(text.length, 5);
    text = mishap_utf8_clean(&arena, T("eight ASCII bytes, then NUL\0 and \xFF and \xC3\xBC"));
    assert_string_equal(text.data, "eight ASCII bytes, then NUL" X " and " X " and \xC3\xBC");
    text = mishap_utf8_clean(&arena, T("\xE4\xB8\x96\xE7\x95\x8C \xF0\x9F\x98\x80"));
    assert_string_equal(text.data, "\xE4\xB8\x96\xE7\x95\x8C \xF0\x9F\x98\x80");
    text = mishap_utf8_clean(&arena, T(""));
    assert_string_equal(text.data, "");
    allow_blocks(0);
    mishap_arena empty;
    mishap_arena_init(&empty, NULL, 0);
    assert_null(mishap_utf8_clean(&empty, T("\xFF")).data);
    assert_null(mishap_utf8_clean(&empty, T("plain")).data);
    allow_all();
    mishap_arena_release(&arena);
}

#undef X

static void random_bytes_are_valid_once_cleaned(void **state)
{
    (void)state;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    for (int round = 0; round < 2000; round++) {
        static const unsigned char likely[] = { 'a',  0x00, 0x80, 0xBF, 0xC3, 0xE0,
                                                0xED, 0xEF, 0xF0, 0xF4, 0xFF };
        char bytes[40];
        size_t length = random_bits() % sizeof bytes;
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)(round % 2 ? likely[random_bits() % sizeof likely] : random_bits());
        mishap_text cleaned = mishap_utf8_clean(&arena, (mishap_text){ bytes, length });
        assert_int_equal(mishap_utf8_valid_length(cleaned), cleaned.length);
        assert_int_equal(strlen(cleaned.data), cleaned.length);
    }
    mishap_arena_release(&arena);
}

/* Every byte that is not plain, at every place of every short text: words of eight bytes are looked
 * at as a whole, what is left of a text byte by byte. Where `char` is unsigned, as on arm64, no
 * byte is below 0. */
static void every_byte_is_cleaned_at_every_place_of_a_short_text(void **state)
{
    (void)state;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    for (size_t length = 1; length <= 20; length++)
        for (size_t place = 0; place < length; place++)
            for (int byte = 0; byte < 256; byte++) {
                char bytes[20], expected[20 + 3] = "";
                bool plain = byte > 0 && byte < 0x80;
                memset(bytes, 'a', sizeof bytes);
                bytes[place] = (char)byte;
                memset(expected, 'a', length + (plain ? 0 : 2));
                memcpy(expected + place, plain ? (const char[]){ (char)byte } : "\xEF\xBF\xBD",
                       plain ? 1 : 3);
                mishap_text cleaned = mishap_utf8_clean(&arena, (mishap_text){ bytes, length });
                assert_int_equal(cleaned.length, length + (plain ? 0 : 2));
                assert_string_equal(cleaned.data, expected);
                size_t valid = byte < 0x80 ? length : place;
                assert_int_equal(mishap_utf8_valid_length((mishap_text){ bytes, length }), valid);
            }
    mishap_arena_release(&arena);
}

/* … and a whole character at every place, which stays. */
static void every_character_stays_at_every_place_of_a_short_text(void **state)
{
    static const char *const characters[] = { "\xC3\xBC", "\xE4\xB8\x96", "\xF0\x9F\x98\x80" };
    (void)state;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++)
        for (size_t before = 0; before < 18; before++)
            for (size_t after = 0; after < 18; after++) {
                char bytes[40] = "";
                size_t size = strlen(characters[i]), length = before + size + after;
                memset(bytes, 'a', length);
                memcpy(bytes + before, characters[i], size);
                mishap_text cleaned = mishap_utf8_clean(&arena, (mishap_text){ bytes, length });
                assert_int_equal(cleaned.length, length);
                assert_string_equal(cleaned.data, bytes);
            }
    mishap_arena_release(&arena);
}

static void text_is_cut_on_a_character_boundary(void **state)
{
    (void)state;
    mishap_text text = T("a\xC3\xBC\xE4\xB8\x96\xF0\x9F\x98\x80z"); /* of 1, 2, 3, 4 and 1 bytes */
    static const size_t cuts[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11, 11 };
    for (size_t limit = 0; limit < sizeof cuts / sizeof *cuts; limit++)
        assert_int_equal(mishap_utf8_cut(text, limit), cuts[limit]);
    assert_int_equal(mishap_utf8_cut(text, SIZE_MAX), text.length);
    assert_int_equal(mishap_utf8_cut((mishap_text){ NULL, 0 }, 5), 0);
}

static void characters_are_counted_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(mishap_utf8_count(T("")), 0);
    assert_int_equal(mishap_utf8_count(T("abc")), 3);
    assert_int_equal(mishap_utf8_count(T("a\xC3\xBC\xE4\xB8\x96\xF0\x9F\x98\x80z")), 5);
}

static void the_first_characters_have_all_their_bytes(void **state)
{
    (void)state;
    const mishap_text text = T("a\xC3\xBC\xE4\xB8\x96\xF0\x9F\x98\x80z");
    static const size_t bytes[] = { 0, 1, 3, 6, 10, 11, 11 };
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        assert_int_equal(mishap_utf8_bytes(text, i), bytes[i]);
    assert_int_equal(mishap_utf8_bytes(text, SIZE_MAX), text.length);
    assert_int_equal(mishap_utf8_bytes((mishap_text){ NULL, 0 }, 5), 0);
}

static void each_character_is_encoded_as_it_is_decoded(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char bytes[4];
        uint32_t read;
        bool half = c >= 0xD800 && c <= 0xDFFF;
        size_t expected = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        size_t length = mishap_utf8_encode(c, bytes);
        size_t taken = mishap_text_character((mishap_text){ bytes, length }, &read);
        if (length != expected || taken != (half ? 1 : length) || read != (half ? 0xFFFD : c))
            fail_msg("U+%04X has %zu bytes, and is read as U+%04X of %zu", (unsigned)c, length,
                     (unsigned)read, taken);
    }
}

static void a_text_is_trimmed_at_both_ends(void **state)
{
    (void)state;
    static const struct {
        mishap_text text, trimmed;
    } rows[] = {
        { MISHAP_TEXT(""), MISHAP_TEXT("") },
        { MISHAP_TEXT(" \t "), MISHAP_TEXT("") },
        { MISHAP_TEXT("a b"), MISHAP_TEXT("a b") },
        { MISHAP_TEXT("\t a \t b  "), MISHAP_TEXT("a \t b") },
        { MISHAP_TEXT(" \ra\n "), MISHAP_TEXT("\ra\n") },
        { MISHAP_TEXT(" \0 "), MISHAP_TEXT("\0") }, /* the end of the list is no character of it */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(mishap_text_equal(mishap_trim(rows[i].text, " \t"), rows[i].trimmed));
    assert_null(mishap_trim((mishap_text){ NULL, 0 }, " \t").data);
    assert_true(mishap_text_equal(mishap_trim(T(" a"), ""), T(" a")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(valid_utf8_is_valid_to_its_end),
        TEST(invalid_utf8_breaks_where_it_breaks),
        TEST(each_byte_that_breaks_utf8_is_replaced),
        TEST(cleaning_replaces_nul_and_keeps_the_rest),
        TEST(random_bytes_are_valid_once_cleaned),
        TEST(every_byte_is_cleaned_at_every_place_of_a_short_text),
        TEST(every_character_stays_at_every_place_of_a_short_text),
        TEST(text_is_cut_on_a_character_boundary),
        TEST(characters_are_counted_not_bytes),
        TEST(the_first_characters_have_all_their_bytes),
        TEST(each_character_is_encoded_as_it_is_decoded),
        TEST(a_text_is_trimmed_at_both_ends),
    };
    return RUN(tests);
}
