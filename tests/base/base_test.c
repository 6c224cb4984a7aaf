/* src/base without JSON (that is json_test.c): buffer, arena, UTF-8, ids, clock. */
#include "testing.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mac.h"

/* An allocator that gives so many blocks and then no more. */
static size_t blocks_left;

static void *scarce_allocate(size_t size)
{
    return blocks_left ? blocks_left--, malloc(size) : NULL;
}

static void *scarce_resize(void *block, size_t size)
{
    return blocks_left ? blocks_left--, realloc(block, size) : NULL;
}

static void allow_blocks(size_t count)
{
    blocks_left = count;
    mishap_use_allocator(&(mishap_allocator){ scarce_allocate, scarce_resize, free });
}

static void allow_all(void)
{
    mishap_use_allocator(NULL);
}

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

static uint64_t random_state = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
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

/* -- arena ------------------------------------------------------------------------------------- */

static void arena_starts_in_the_storage_of_its_owner(void **state)
{
    (void)state;
    alignas(max_align_t) char storage[256];
    mishap_arena arena;
    mishap_arena_init(&arena, storage, sizeof storage);
    allow_blocks(0);
    char *first = mishap_arena_take(&arena, 64), *second = mishap_arena_take(&arena, 192);
    assert_ptr_equal(first, storage);
    assert_ptr_equal(second, storage + 64);
    assert_null(mishap_arena_take(&arena, 1));
    assert_null(mishap_arena_copy(&arena, T("")).data);
    allow_all();
    assert_non_null(mishap_arena_take(&arena, 1)); /* a failure is not for ever */
    mishap_arena_release(&arena);
}

static void arena_pieces_are_aligned_for_what_fits_in_them(void **state)
{
    (void)state;
    static const struct {
        size_t size, alignment;
    } kinds[] = {
        { sizeof(int16_t), alignof(int16_t) },         { sizeof(int32_t), alignof(int32_t) },
        { sizeof(int64_t), alignof(int64_t) },         { sizeof(void *), alignof(void *) },
        { sizeof(max_align_t), alignof(max_align_t) }, { 100, alignof(max_align_t) },
    };
    char storage[301];
    mishap_arena arena;
    mishap_arena_init(&arena, storage + 1, sizeof storage - 1);
    for (int i = 0; i < 600; i++) {
        size_t kind = (size_t)i % (sizeof kinds / sizeof *kinds);
        mishap_arena_copy(&arena, (mishap_text){ "abcdefgh", (size_t)i % 9 });
        void *piece = mishap_arena_take(&arena, kinds[kind].size);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % kinds[kind].alignment, 0);
        memset(piece, 0xAA, kinds[kind].size);
    }
    mishap_arena_release(&arena);
}

static void arena_pieces_do_not_touch_each_other(void **state)
{
    (void)state;
    enum { PIECES = 20000 };
    static unsigned char *pieces[PIECES];
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = mishap_arena_take(&arena, i % 200 + 1);
        assert_non_null(pieces[i]);
        memset(pieces[i], (int)(i % 251), i % 200 + 1);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t c = 0; c < i % 200 + 1; c++)
            assert_int_equal(pieces[i][c], i % 251);
    mishap_arena_release(&arena);
}

static void arena_gives_a_piece_larger_than_any_block(void **state)
{
    (void)state;
    enum { LARGE = 8 << 20 };
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    char *small = mishap_arena_take(&arena, 16), *large = mishap_arena_take(&arena, LARGE);
    assert_non_null(small);
    assert_non_null(large);
    memset(large, 1, LARGE);
    memset(small, 2, 16);
    assert_int_equal(large[0] + large[LARGE - 1], 2);
    assert_non_null(mishap_arena_take(&arena, 16));
    assert_null(mishap_arena_take(&arena, SIZE_MAX));
    assert_null(mishap_arena_take(&arena, SIZE_MAX - 8));
    mishap_arena_release(&arena);
}

static void arena_copies_end_with_nul(void **state)
{
    (void)state;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    mishap_text copy = mishap_arena_copy(&arena, (mishap_text){ "abcdef", 3 });
    assert_string_equal(copy.data, "abc");
    assert_int_equal(copy.length, 3);
    copy = mishap_arena_copy(&arena, (mishap_text){ NULL, 0 });
    assert_string_equal(copy.data, "");
    assert_null(mishap_arena_copy(&arena, (mishap_text){ "", SIZE_MAX }).data);
    mishap_arena_release(&arena);
    assert_non_null(
        mishap_arena_copy(&arena, T("again")).data); /* after a release it starts anew */
    mishap_arena_release(&arena);
}

/* -- UTF-8 ------------------------------------------------------------------------------------- */

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

/* -- ids --------------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, MISHAP_ID_LENGTH + 1);
}

static void assert_all_different(char (*ids)[MISHAP_ID_LENGTH + 1], size_t count)
{
    qsort(ids, count, sizeof *ids, by_bytes);
    for (size_t i = 1; i < count; i++)
        assert_string_not_equal(ids[i - 1], ids[i]);
}

static void id_is_a_uuid_of_version_7(void **state)
{
    (void)state;
    for (int round = 0; round < 1000; round++) {
        char id[MISHAP_ID_LENGTH + 1];
        memset(id, 'x', sizeof id);
        mishap_id_make(id);
        assert_int_equal(strlen(id), 36);
        assert_int_equal(strspn(id, "0123456789abcdef-"), 36);
        for (int i = 0; i < 36; i++)
            assert_int_equal(id[i] == '-', i == 8 || i == 13 || i == 18 || i == 23);
        assert_int_equal(id[14], '7');
        assert_non_null(strchr("89ab", id[19]));
    }
}

static void id_begins_with_the_time(void **state)
{
    (void)state;
    char id[MISHAP_ID_LENGTH + 1], digits[13];
    int64_t before = mishap_clock_now_ms();
    mishap_id_make(id);
    int64_t after = mishap_clock_now_ms();
    memcpy(digits, id, 8);
    memcpy(digits + 8, id + 9, 4);
    digits[12] = '\0';
    int64_t told = strtoll(digits, NULL, 16);
    assert_true(before <= told && told <= after);
}

static void ids_sort_by_time(void **state)
{
    (void)state;
    char older[MISHAP_ID_LENGTH + 1], newer[MISHAP_ID_LENGTH + 1];
    mishap_id_make(older);
    for (int i = 0; i < 20; i++) {
        usleep(2000);
        mishap_id_make(newer);
        assert_true(strcmp(older, newer) < 0);
        memcpy(older, newer, sizeof older);
    }
}

static void ids_are_all_different(void **state)
{
    (void)state;
    enum { IDS = 100000 };
    static char ids[IDS][MISHAP_ID_LENGTH + 1];
    for (size_t i = 0; i < IDS; i++)
        mishap_id_make(ids[i]);
    assert_all_different(ids, IDS);
}

/* The part that is random, without the time: what must differ even in the same millisecond. */
enum { RANDOM_PART = 19, FEW_IDS = 200, MANY_IDS = 10000, THREADS = 8 };

static void make_ids(char (*ids)[MISHAP_ID_LENGTH + 1], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mishap_id_make(ids[i]);
        memset(ids[i], ' ', RANDOM_PART);
    }
}

static pthread_barrier_t all_ready;

static void *make_many_ids(void *ids)
{
    pthread_barrier_wait(&all_ready);
    make_ids(ids, MANY_IDS);
    return NULL;
}

static void ids_of_different_threads_are_different(void **state)
{
    (void)state;
    static char ids[THREADS * MANY_IDS][MISHAP_ID_LENGTH + 1];
    pthread_t threads[THREADS];
    pthread_barrier_init(&all_ready, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_many_ids, ids[i * MANY_IDS]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_ready);
    assert_all_different(ids, THREADS * MANY_IDS);
}

static void ids_are_different_in_parent_and_child(void **state)
{
    (void)state;
    static char ids[3 * FEW_IDS][MISHAP_ID_LENGTH + 1];
    int ends[2], status;
    make_ids(ids, FEW_IDS); /* so that there is a pool that the child could inherit */
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        make_ids(ids, FEW_IDS);
        _exit(write(ends[1], ids, FEW_IDS * sizeof *ids) == (ssize_t)(FEW_IDS * sizeof *ids) ? 0
                                                                                             : 1);
    }
    close(ends[1]);
    make_ids(ids + FEW_IDS, FEW_IDS);
    char *to = ids[2 * FEW_IDS];
    for (size_t left = FEW_IDS * sizeof *ids; left;) {
        ssize_t got = read(ends[0], to, left);
        assert_true(got > 0);
        to += got;
        left -= (size_t)got;
    }
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_all_different(ids, 3 * FEW_IDS);
}

/* -- the look of a text ------------------------------------------------------------------------ */

static void blank_is_white_space_or_nothing(void **state)
{
    (void)state;
    assert_true(mishap_blank((mishap_text){ NULL, 0 }));
    assert_true(mishap_blank(T("")));
    assert_true(mishap_blank(T(" \t\r\n ")));
    assert_false(mishap_blank(T(" . ")));
    assert_false(mishap_blank((mishap_text){ "\0", 1 }));
    assert_false(mishap_blank(T("\xC2\xA0")));
}

static void lower_snake_starts_with_a_small_letter(void **state)
{
    (void)state;
    static const char *const good[] = { "a", "abc", "a_b", "a1", "a_", "field_required" };
    static const char *const bad[] = { "", "_a", "1a", "A", "aB", "a-b", "a b", "\xC3\xA9", "a." };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(mishap_lower_snake(mishap_text_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(mishap_lower_snake(mishap_text_of(bad[i])));
}

static void assert_printable(mishap_text text, const char *expected, const char *on_one_line)
{
    mishap_buffer buffer = { 0 };
    mishap_put_printable(&buffer, text);
    assert_int_equal(buffer.length, strlen(expected));
    assert_memory_equal(buffer.data ? buffer.data : "", expected, buffer.length);
    mishap_buffer_reset(&buffer);
    mishap_put_printable_line(&buffer, text);
    assert_int_equal(buffer.length, strlen(on_one_line));
    assert_memory_equal(buffer.data ? buffer.data : "", on_one_line, buffer.length);
    mishap_buffer_release(&buffer);
}

static void printable_text_has_nothing_that_a_terminal_acts_on(void **state)
{
    (void)state;
    assert_printable((mishap_text){ NULL, 0 }, "", "");
    assert_printable(T("Caf\xC3\xA9 \xC2\xA0\xF0\x9F\x98\x80"),
                     "Caf\xC3\xA9 \xC2\xA0\xF0\x9F\x98\x80",
                     "Caf\xC3\xA9 \xC2\xA0\xF0\x9F\x98\x80");
    assert_printable(T("a\n\tb\r"), "a\n\tb?", "a??b?");
    assert_printable(T("\033[31mred\a\x7F"), "?[31mred??", "?[31mred??");
    assert_printable(T("\xC2\x9B"
                       "31m\xC2\x80\xC2\x9F"),
                     "?31m??", "?31m??");
    assert_printable(T("a\u202eb\u2066c\u2069\u200f\u061cd\u2028e\u2029f\u202a\u202c"),
                     "a?b?c???d?e?f??", "a?b?c???d?e?f??");
    assert_printable(T("\u2010\u2027\u202f\u2065\u206a\u061b"),
                     "\u2010\u2027\u202f\u2065\u206a\u061b",
                     "\u2010\u2027\u202f\u2065\u206a\u061b");
    assert_printable((mishap_text){ "a\u202e", 3 }, "a\xE2\x80", "a\xE2\x80");
    assert_printable((mishap_text){ "a\u061c", 2 }, "a\xD8", "a\xD8");
    assert_printable((mishap_text){ "a\xC2\x9B", 2 }, "a\xC2", "a\xC2"); /* behind its end */
}

/* -- clock ------------------------------------------------------------------------------------- */

static void timestamp_is_rfc_3339_in_utc(void **state)
{
    (void)state;
    static const struct {
        int64_t milliseconds;
        const char *timestamp;
    } moments[] = {
        { 0, "1970-01-01T00:00:00.000Z" },
        { 1, "1970-01-01T00:00:00.001Z" },
        { INT64_C(951782399999), "2000-02-28T23:59:59.999Z" },
        { INT64_C(951782400000), "2000-02-29T00:00:00.000Z" },
        { INT64_C(1770632430123), "2026-02-09T10:20:30.123Z" },
        { INT64_C(4102444799050), "2099-12-31T23:59:59.050Z" },
    };
    setenv("TZ", "America/New_York", 1); /* must not matter */
    tzset();
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        mishap_buffer_reset(&buffer);
        mishap_clock_put_timestamp(&buffer, moments[i].milliseconds);
        mishap_buffer_put_char(&buffer, '\0');
        assert_string_equal(buffer.data, moments[i].timestamp);
    }
    mishap_buffer_release(&buffer);
    unsetenv("TZ");
    tzset();
}

static void clocks_go_on(void **state)
{
    (void)state;
    int64_t before = (int64_t)time(NULL), calendar = mishap_clock_now_ms();
    int64_t after = (int64_t)time(NULL), monotonic = mishap_clock_monotonic_ns();
    assert_true(calendar / 1000 >= before - 2 && calendar / 1000 <= after + 2);
    usleep(20000);
    int64_t elapsed = mishap_clock_monotonic_ns() - monotonic;
    assert_true(elapsed >= 20 * 1000000 && elapsed < INT64_C(100000) * 1000000);
    assert_true(mishap_clock_now_ms() - calendar >= 10);
}

/* -- base64 ------------------------------------------------------------------------------------ */

static void base64_is_that_of_the_rfc(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "\xff\xfe", "//4=" },
        { "\xfb\xef", "++8=" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        mishap_buffer code = { 0 }, bytes = { 0 };
        mishap_base64_put(&code, mishap_text_of(pairs[i][0]));
        assert_true(mishap_text_equal(mishap_buffer_text(&code), mishap_text_of(pairs[i][1])));
        assert_true(mishap_base64_read(&bytes, mishap_buffer_text(&code)));
        assert_true(mishap_text_equal(mishap_buffer_text(&bytes), mishap_text_of(pairs[i][0])));
        mishap_buffer_release(&code);
        mishap_buffer_release(&bytes);
    }
}

static void base64_has_one_spelling(void **state)
{
    (void)state;
    static const char *const wrong[] = { "Z",    "Zg",   "Zg=",   "Zh==",     "Zm9=",     "=Zg=",
                                         "====", "Z===", "Zm\n8", "Zg==Zg==", "Zm8=Zm9v", "Zm-_" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mishap_buffer bytes = { 0 };
        mishap_buffer_put_char(&bytes, 'x');
        assert_false(mishap_base64_read(&bytes, mishap_text_of(wrong[i])));
        assert_int_equal(bytes.length, 1);
        mishap_buffer_release(&bytes);
    }
}

/* -- sorting ----------------------------------------------------------------------------------- */

struct sorted {
    int key;
    char rest[76]; /* more than is swapped at once */
};

static size_t compared;

static int by_key(const void *a, const void *b)
{
    int x = ((const struct sorted *)a)->key, y = ((const struct sorted *)b)->key;
    compared++;
    return (x > y) - (x < y);
}

/* Any number of items in any order, and none gets lost. */
static void sorts_whatever_the_order(void **state)
{
    (void)state;
    enum { MOST = 2000 };
    static struct sorted items[MOST];
    static const size_t counts[] = { 0, 1, 2, 3, 11, 12, 13, 14, 31, 32, 33, 500, MOST };
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int order = 0; order < 4; order++) {
            size_t count = counts[c];
            long long sum = 0, after = 0;
            for (size_t i = 0; i < count; i++) {
                int key = order == 0   ? (int)i
                          : order == 1 ? -(int)i
                          : order == 2 ? (int)(i * 7919 % 101)
                                       : 5;
                items[i].key = key;
                memset(items[i].rest, key & 127, sizeof items[i].rest);
                sum += (long long)key * key + key;
            }
            compared = 0;
            mishap_sort(items, count, sizeof *items, by_key);
            assert_true(compared <= 2 * 11 * count + 100);
            for (size_t i = 0; i < count; i++) {
                assert_true(i == 0 || items[i - 1].key <= items[i].key);
                assert_int_equal(items[i].rest[75], (char)(items[i].key & 127));
                after += (long long)items[i].key * items[i].key + items[i].key;
            }
            assert_true(sum == after);
        }
}

/* RFC 4231, 4.2 and 4.3, and no key with no message. A shorter key is filled up with zeros. */
static void a_mac_is_that_of_the_rfc(void **state)
{
    (void)state;
    static const struct {
        const char *key, *message, *mac;
    } cases[] = {
        { "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b",
          "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
        { "Jefe", "what do ya want for nothing?",
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
        { "", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char key[MISHAP_MAC_KEY] = { 0 }, mac[MISHAP_MAC];
        char spelled[2 * MISHAP_MAC + 1];
        memcpy(key, cases[i].key, strlen(cases[i].key));
        mishap_mac(key, mishap_text_of(cases[i].message), mac);
        for (size_t at = 0; at < sizeof mac; at++)
            snprintf(spelled + 2 * at, 3, "%02x", mac[at]);
        assert_string_equal(spelled, cases[i].mac);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sorts_whatever_the_order),
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
        TEST(arena_starts_in_the_storage_of_its_owner),
        TEST(arena_pieces_are_aligned_for_what_fits_in_them),
        TEST(arena_pieces_do_not_touch_each_other),
        TEST(arena_gives_a_piece_larger_than_any_block),
        TEST(arena_copies_end_with_nul),
        TEST(valid_utf8_is_valid_to_its_end),
        TEST(invalid_utf8_breaks_where_it_breaks),
        TEST(each_byte_that_breaks_utf8_is_replaced),
        TEST(cleaning_replaces_nul_and_keeps_the_rest),
        TEST(random_bytes_are_valid_once_cleaned),
        TEST(every_byte_is_cleaned_at_every_place_of_a_short_text),
        TEST(every_character_stays_at_every_place_of_a_short_text),
        TEST(text_is_cut_on_a_character_boundary),
        TEST(characters_are_counted_not_bytes),
        TEST(blank_is_white_space_or_nothing),
        TEST(lower_snake_starts_with_a_small_letter),
        TEST(printable_text_has_nothing_that_a_terminal_acts_on),
        TEST(id_is_a_uuid_of_version_7),
        TEST(id_begins_with_the_time),
        TEST(ids_sort_by_time),
        TEST(ids_are_all_different),
        TEST(ids_of_different_threads_are_different),
        TEST(ids_are_different_in_parent_and_child),
        TEST(timestamp_is_rfc_3339_in_utc),
        TEST(clocks_go_on),
        TEST(base64_is_that_of_the_rfc),
        TEST(base64_has_one_spelling),
        TEST(a_mac_is_that_of_the_rfc),
    };
    return RUN(tests);
}
