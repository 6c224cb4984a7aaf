/* Bytes as hexadecimal digits (base/hex.h). */
#include "base/hex.h"

#include "testing.h"

static void digits_have_the_values_that_strtol_gives_them(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++) {
        char text[2] = { (char)c, '\0' }, *end;
        long value = strtol(text, &end, 16);
        bool digit = end != text && c != '+' && c != '-' && c != ' ';
        assert_int_equal(mishap_hex_digit((char)c), digit ? (int)value : -1);
    }
    assert_int_equal(mishap_hex_digit('\0'), -1);
}

static void all_bytes_are_read_as_they_were_written(void **state)
{
    (void)state;
    unsigned char bytes[256], read[256];
    char text[512 + 1];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    text[512] = '!';
    mishap_hex_write(text, bytes, sizeof bytes);
    assert_memory_equal(text, "000102", 6);
    assert_memory_equal(text + 506, "fdfeff!", 7);
    assert_true(mishap_hex_read(text, read, sizeof read));
    assert_memory_equal(read, bytes, sizeof bytes);
}

static void other_characters_and_capitals_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = { "", "0", "0g", "g0", "AB", "aB", " 1", "0x", "-1" };
    unsigned char byte;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(mishap_hex_read(wrong[i], &byte, 1));
    assert_true(mishap_hex_read("", NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(digits_have_the_values_that_strtol_gives_them),
        TEST(all_bytes_are_read_as_they_were_written),
        TEST(other_characters_and_capitals_are_refused),
    };
    return RUN(tests);
}
