/* src/base/buffer: bytes, integers and real numbers. */
#include "testing.h"

#include <locale.h>
#include <math.h>

#include "base/mac.h"
#include "scarce.h"

#define assert_buffer(buffer, expected)                                                            \
    do {                                                                                           \
        assert_false((buffer)->failed);                                                            \
        mishap_buffer_put_char((buffer), '\0');                                                    \
        (buffer)->length--;                                                                        \
        assert_string_equal((buffer)->data, (expected));                                           \
        assert_int_equal((buffer)->length, sizeof(expected) - 1);                                  \
    } while (0)

/* -- buffer ------------------------------------------------------------------------------------ */

static void buffer_stays_in_storage_that_is_enough(void **state)
{
    (void)state;
    char storage[8];
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, storage, sizeof storage);
    allow_blocks(0);
    mishap_buffer_add(&buffer, "12345678", 8);
    allow_all();
    assert_ptr_equal(buffer.data, storage);
    assert_false(buffer.on_heap);
    assert_false(buffer.failed);
    assert_int_equal(buffer.length, 8);
    assert_memory_equal(storage, "12345678", 8);
    mishap_buffer_release(&buffer);
}

static void buffer_moves_from_storage_to_the_heap(void **state)
{
    (void)state;
    char storage[8];
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, storage, sizeof storage);
    mishap_buffer_add(&buffer, "1234567", 7);
    mishap_buffer_add(&buffer, "89", 2);
    assert_ptr_not_equal(buffer.data, storage);
    assert_true(buffer.on_heap);
    assert_buffer(&buffer, "123456789");
    mishap_buffer_release(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.length, 0);
    mishap_buffer_add(&buffer, "again", 5); /* a released buffer can be used */
    assert_buffer(&buffer, "again");
    mishap_buffer_release(&buffer);
}

static void buffer_grows_byte_by_byte_and_keeps_all(void **state)
{
    (void)state;
    enum { BYTES = 300000 };
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    for (int i = 0; i < BYTES; i++)
        mishap_buffer_put_char(&buffer, (char)('a' + i % 23));
    assert_int_equal(buffer.length, BYTES);
    assert_true(buffer.capacity >= BYTES && buffer.capacity < 4 * BYTES);
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(buffer.data[i], 'a' + i % 23);
    mishap_buffer_release(&buffer);
}

static void buffer_takes_nothing_after_a_failure(void **state)
{
    (void)state;
    char storage[8];
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, storage, sizeof storage);
    allow_blocks(0);
    mishap_buffer_add(&buffer, "1234", 4);
    mishap_buffer_add(&buffer, "56789", 5); /* one too many: none of them is taken */
    assert_true(buffer.failed);
    allow_all();
    mishap_buffer_add(&buffer, "x", 1); /* would fit, and memory is back: still no */
    mishap_buffer_put_char(&buffer, 'y');
    mishap_buffer_put_int(&buffer, -7);
    mishap_buffer_put_real(&buffer, 1.5);
    mishap_buffer_add(&buffer, "", 0);
    assert_true(buffer.failed);
    assert_int_equal(buffer.length, 4);
    assert_memory_equal(buffer.data, "1234", 4);
    mishap_buffer_release(&buffer);
}

static void buffer_that_cannot_be_resized_fails_and_keeps_what_it_has(void **state)
{
    (void)state;
    static char many[1000];
    mishap_buffer buffer;
    allow_blocks(1);
    mishap_buffer_init(&buffer, NULL, 0);
    mishap_buffer_add(&buffer, "kept", 4);
    assert_false(buffer.failed);
    mishap_buffer_add(&buffer, many, sizeof many);
    assert_true(buffer.failed);
    assert_memory_equal(buffer.data, "kept", 4);
    assert_int_equal(buffer.length, 4);
    mishap_buffer_release(&buffer);
    allow_all();
}

static void buffer_can_be_used_again_after_a_reset(void **state)
{
    (void)state;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    allow_blocks(0);
    mishap_buffer_add(&buffer, "lost", 4);
    assert_true(buffer.failed);
    allow_all();
    mishap_buffer_reset(&buffer);
    mishap_buffer_add(&buffer, "fine", 4);
    assert_buffer(&buffer, "fine");
    mishap_buffer_reset(&buffer);
    assert_int_equal(buffer.length, 0);
    mishap_buffer_release(&buffer);
}

static void buffer_refuses_a_size_that_no_memory_has(void **state)
{
    (void)state;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    assert_false(mishap_buffer_reserve(&buffer, SIZE_MAX - 1));
    assert_true(buffer.failed);
    mishap_buffer_release(&buffer);
    mishap_buffer_add(&buffer, "x", 1);
    assert_false(mishap_buffer_reserve(&buffer, SIZE_MAX)); /* would wrap around */
    mishap_buffer_release(&buffer);
}

static void integers_are_written_to_the_last_digit(void **state)
{
    (void)state;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    static const int64_t numbers[] = { 0, 7, -1, 10, 99, 100, -101, INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        mishap_buffer_put_int(&buffer, numbers[i]);
        mishap_buffer_put_char(&buffer, ' ');
    }
    mishap_buffer_put_uint(&buffer, UINT64_MAX);
    assert_buffer(&buffer, "0 7 -1 10 99 100 -101 9223372036854775807 -9223372036854775808 "
                           "18446744073709551615");
    for (uint64_t power = 1, i = 0; i < 20; i++, power *= 10) {
        char expected[32];
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)(power - 1));
        mishap_buffer_reset(&buffer);
        mishap_buffer_put_uint(&buffer, power - 1);
        mishap_buffer_put_char(&buffer, '\0');
        assert_string_equal(buffer.data, expected);
    }
    mishap_buffer_release(&buffer);
}

static const struct real {
    double number;
    const char *written;
} reals[] = {
    { 0.0, "0.0" },
    { -0.0, "-0.0" },
    { 1.0, "1.0" },
    { -25.0, "-25.0" },
    { 0.1, "0.1" },
    { 0.1 + 0.2, "0.30000000000000004" },
    { 1.0 / 3.0, "0.3333333333333333" },
    { 2.5, "2.5" },
    { 1e22, "1e+22" },
    { 1e-7, "1e-07" },
    { 123456789.0, "123456789.0" },
    { 9007199254740993.0, "9007199254740992.0" },
    { 1.7976931348623157e308, "1.7976931348623157e+308" },
    { 2.2250738585072014e-308, "2.2250738585072014e-308" },
    { 1e-310, "1e-310" },
    { 5e-324, "5e-324" },
    { NAN, "null" },
    { INFINITY, "null" },
    { -INFINITY, "null" },
};

static void check_reals(void)
{
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        mishap_buffer_reset(&buffer);
        mishap_buffer_put_real(&buffer, reals[i].number);
        mishap_buffer_put_char(&buffer, '\0');
        assert_string_equal(buffer.data, reals[i].written);
    }
    mishap_buffer_release(&buffer);
}

static void reals_are_written_short_and_with_a_point_or_an_exponent(void **state)
{
    (void)state;
    check_reals();
}

/* One whose point is a comma, and one whose point takes two bytes. */
static void reals_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    static const char *const locales[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "ps_AF.UTF-8",
                                           "ps_AF" };
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++)
        if (setlocale(LC_ALL, locales[i]))
            check_reals();
    setlocale(LC_ALL, "C");
}

static size_t significant_digits(const char *number)
{
    size_t digits = 0, zeros = 0;
    for (; *number && *number != 'e'; number++) {
        if (*number < '0' || *number > '9' || (*number == '0' && digits == 0))
            continue;
        zeros = *number == '0' ? zeros + 1 : 0;
        digits++;
    }
    return digits - zeros;
}

static void random_reals_read_back_the_same_from_as_few_digits_as_possible(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++) {
        /* Every other one has few bits, so that short numbers come up too. */
        uint64_t bits = i % 2 ? random_bits() : random_bits() & UINT64_C(0xFFFF000000000000);
        double number;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number))
            continue;
        char storage[64], fewest[64];
        mishap_buffer buffer;
        mishap_buffer_init(&buffer, storage, sizeof storage);
        mishap_buffer_put_real(&buffer, number);
        mishap_buffer_put_char(&buffer, '\0');
        double back = strtod(storage, NULL);
        assert_memory_equal(&back, &number, sizeof back);
        assert_non_null(strpbrk(storage, ".e"));
        for (int precision = 1; precision <= 17; precision++) {
            snprintf(fewest, sizeof fewest, "%.*g", precision, number);
            if (strtod(fewest, NULL) == number)
                break;
        }
        assert_int_equal(significant_digits(storage), significant_digits(fewest));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(buffer_stays_in_storage_that_is_enough),
        TEST(buffer_moves_from_storage_to_the_heap),
        TEST(buffer_grows_byte_by_byte_and_keeps_all),
        TEST(buffer_takes_nothing_after_a_failure),
        TEST(buffer_that_cannot_be_resized_fails_and_keeps_what_it_has),
        TEST(buffer_can_be_used_again_after_a_reset),
        TEST(buffer_refuses_a_size_that_no_memory_has),
        TEST(integers_are_written_to_the_last_digit),
        TEST(reals_are_written_short_and_with_a_point_or_an_exponent),
        TEST(reals_do_not_depend_on_the_locale),
        TEST(random_reals_read_back_the_same_from_as_few_digits_as_possible),
    };
    return RUN(tests);
}
