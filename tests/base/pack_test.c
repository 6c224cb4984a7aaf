/* src/base/pack: numbers and texts as bytes, and a reader that trusts none of them. */
#include "testing.h"

#include <math.h>

#include "base/pack.h"

static void numbers_are_written_with_the_least_byte_first(void **state)
{
    (void)state;
    char storage[64];
    mishap_buffer out;
    mishap_buffer_init(&out, storage, sizeof storage);
    mishap_pack_u8(&out, 0xFE);
    mishap_pack_u32(&out, 0x01020384);
    mishap_pack_u64(&out, UINT64_C(0x8102030405060708));
    mishap_pack_text(&out, T("ab"));
    mishap_pack_text(&out, (mishap_text){ NULL, 0 });
    static const char expected[] = "\xFE\x84\x03\x02\x01\x08\x07\x06\x05\x04\x03\x02\x81"
                                   "\x02\0\0\0ab\0\0\0\0";
    assert_int_equal(out.length, sizeof expected - 1);
    assert_memory_equal(out.data, expected, sizeof expected - 1);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    static const double reals[] = { 0.1, -0.0, INFINITY, 5e-324, 1e308 };
    char storage[128];
    mishap_buffer out;
    mishap_buffer_init(&out, storage, sizeof storage);
    mishap_pack_u8(&out, UINT8_MAX);
    mishap_pack_u32(&out, UINT32_MAX - 1);
    mishap_pack_u64(&out, UINT64_MAX - 2);
    for (size_t i = 0; i < 5; i++)
        mishap_pack_f64(&out, reals[i]);
    mishap_pack_text(&out, (mishap_text){ "a\0\xFF", 3 });
    mishap_pack_text(&out, T(""));
    mishap_unpack in = mishap_unpack_of(mishap_buffer_text(&out));
    assert_int_equal(mishap_unpack_u8(&in), UINT8_MAX);
    assert_int_equal(mishap_unpack_u32(&in), UINT32_MAX - 1);
    assert_true(mishap_unpack_u64(&in) == UINT64_MAX - 2);
    for (size_t i = 0; i < 5; i++) {
        double real = mishap_unpack_f64(&in);
        assert_memory_equal(&real, &reals[i], sizeof real);
    }
    mishap_text text = mishap_unpack_text(&in);
    assert_int_equal(text.length, 3);
    assert_memory_equal(text.data, "a\0\xFF", 3);
    text = mishap_unpack_text(&in);
    assert_non_null(text.data);
    assert_int_equal(text.length, 0);
    assert_true(mishap_unpack_ended(&in));
}

static void a_value_that_does_not_fit_fails_the_reader_for_good(void **state)
{
    (void)state;
    mishap_unpack in = mishap_unpack_of(T("\1\2\3"));
    assert_int_equal(mishap_unpack_u32(&in), 0);
    assert_true(in.failed);
    assert_int_equal(mishap_unpack_u8(&in), 0); /* though a byte would be there */
    assert_int_equal(mishap_unpack_text(&in).length, 0);
    assert_non_null(mishap_unpack_text(&in).data);
    assert_false(mishap_unpack_ended(&in));

    in = mishap_unpack_of((mishap_text){ NULL, 0 });
    assert_true(mishap_unpack_ended(&in));
    assert_true(mishap_unpack_f64(&in) == 0);
    assert_true(in.failed);
}

static void a_length_beyond_the_end_fails_the_reader(void **state)
{
    (void)state;
    static const mishap_text bytes[] = { MISHAP_TEXT("\4\0\0\0abc"), MISHAP_TEXT("\xFF\xFF\xFF\xFF"
                                                                                 "abc") };
    for (size_t i = 0; i < 2; i++) {
        mishap_unpack in = mishap_unpack_of(bytes[i]);
        assert_int_equal(mishap_unpack_text(&in).length, 0);
        assert_true(in.failed);
    }
    mishap_unpack in = mishap_unpack_of(T("\3\0\0\0abc"));
    assert_true(mishap_text_equal(mishap_unpack_text(&in), T("abc")));
    assert_true(mishap_unpack_ended(&in));
}

static void bytes_that_are_left_are_not_the_end(void **state)
{
    (void)state;
    mishap_unpack in = mishap_unpack_of(T("\1\2"));
    mishap_unpack_u8(&in);
    assert_false(mishap_unpack_ended(&in));
    assert_false(in.failed);
    mishap_unpack_fail(&in);
    assert_int_equal(mishap_unpack_u8(&in), 0);
}

static void a_text_of_4_gigabytes_fails_the_buffer(void **state)
{
    (void)state;
    char storage[16];
    mishap_buffer out;
    mishap_buffer_init(&out, storage, sizeof storage);
    mishap_pack_text(&out, (mishap_text){ "", (size_t)UINT32_MAX + 1 });
    assert_true(out.failed);
    assert_int_equal(out.length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(numbers_are_written_with_the_least_byte_first),
        TEST(what_was_written_is_read),
        TEST(a_value_that_does_not_fit_fails_the_reader_for_good),
        TEST(a_length_beyond_the_end_fails_the_reader),
        TEST(bytes_that_are_left_are_not_the_end),
        TEST(a_text_of_4_gigabytes_fails_the_buffer),
    };
    return RUN(tests);
}
