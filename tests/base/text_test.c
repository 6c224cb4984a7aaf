/* Characters and hashes of texts (mishap/text.h). */
#include "testing.h"

static uint32_t first(const char *string, size_t expected)
{
    uint32_t character = 1;
    assert_int_equal(mishap_text_character(mishap_text_of(string), &character), expected);
    return character;
}

static void characters_are_decoded(void **state)
{
    (void)state;
    assert_int_equal(first("a", 1), 'a');
    assert_int_equal(first("\x7F", 1), 0x7F);
    assert_int_equal(first("\xC2\x80", 2), 0x80);
    assert_int_equal(first("\xDF\xBF", 2), 0x7FF);
    assert_int_equal(first("\xE0\xA0\x80", 3), 0x800);
    assert_int_equal(first("\xED\x9F\xBF", 3), 0xD7FF);
    assert_int_equal(first("\xEE\x80\x80", 3), 0xE000);
    assert_int_equal(first("\xEF\xBF\xBD", 3), 0xFFFD);
    assert_int_equal(first("\xF0\x90\x80\x80", 4), 0x10000);
    assert_int_equal(first("\xF4\x8F\xBF\xBFrest", 4), 0x10FFFF);
}

static void what_is_no_character_is_one_byte(void **state)
{
    (void)state;
    static const char *const broken[] = { "\x80",
                                          "\xBF",
                                          "\xC0\x80",
                                          "\xC1\xBF",
                                          "\xC3",
                                          "\xC3(",
                                          "\xE0\x9F\xBF",
                                          "\xED\xA0\x80",
                                          "\xE2\x82",
                                          "\xE2(\xAC",
                                          "\xF0\x8F\xBF\xBF",
                                          "\xF4\x90\x80\x80",
                                          "\xF5",
                                          "\xF0\x9F\x98",
                                          "\xFF" };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_int_equal(first(broken[i], 1), MISHAP_NO_CHARACTER);
}

static void an_empty_text_has_no_character(void **state)
{
    (void)state;
    uint32_t character = 1;
    assert_int_equal(first("", 0), MISHAP_NO_CHARACTER);
    assert_int_equal(mishap_text_character((mishap_text){ NULL, 0 }, &character), 0);
    assert_int_equal(mishap_text_character(T("\0a"), &character), 1);
    assert_int_equal(character, 0);
}

/* Every code point, written by hand, is read again; and none of it can be cut off. */
static void all_code_points_are_read_as_they_were_written(void **state)
{
    (void)state;
    for (uint32_t c = 0x80; c <= 0x10FFFF; c++) {
        size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        char bytes[4];
        uint32_t read, rest = c;
        for (size_t i = length; i-- > 1; rest >>= 6)
            bytes[i] = (char)(0x80 | (rest & 0x3F));
        bytes[0] = (char)((0xF00u >> length) | rest);
        bool sound = c < 0xD800 || c > 0xDFFF;
        size_t got = mishap_text_character((mishap_text){ bytes, length }, &read);
        if (got != (sound ? length : 1) || read != (sound ? c : MISHAP_NO_CHARACTER))
            fail_msg("U+%04X is read as U+%04X of %zu bytes", (unsigned)c, (unsigned)read, got);
        if (mishap_text_character((mishap_text){ bytes, length - 1 }, &read) != 1)
            fail_msg("U+%04X is read without its last byte", (unsigned)c);
    }
}

/* The numbers are kept in files: those of the authors of FNV. */
static void the_hash_is_the_same_for_ever(void **state)
{
    (void)state;
    assert_true(mishap_text_hash(T("")) == UINT64_C(0xcbf29ce484222325));
    assert_true(mishap_text_hash(T("a")) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(mishap_text_hash(T("foobar")) == UINT64_C(0x85944171f73967e8));
    assert_true(mishap_text_hash(T("\xFF")) == UINT64_C(0xaf64724c8602eb6e));
}

static void a_hash_goes_on_where_another_ended(void **state)
{
    (void)state;
    uint64_t foo = mishap_text_hash(T("foo"));
    assert_true(mishap_text_hash_on(foo, T("bar")) == mishap_text_hash(T("foobar")));
    assert_true(mishap_text_hash_on(foo, (mishap_text){ NULL, 0 }) == foo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(characters_are_decoded),         TEST(what_is_no_character_is_one_byte),
        TEST(an_empty_text_has_no_character), TEST(all_code_points_are_read_as_they_were_written),
        TEST(the_hash_is_the_same_for_ever),  TEST(a_hash_goes_on_where_another_ended),
    };
    return RUN(tests);
}
