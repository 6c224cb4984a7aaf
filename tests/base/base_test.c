/* src/base: arena, the look of a text, clock, base64, sorting, message authentication. */
#include "testing.h"

#include <stdalign.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mac.h"
#include "scarce.h"

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
        { INT64_C(253402300799999), "9999-12-31T23:59:59.999Z" },
        { INT64_C(253402300800000), "10000-01-01T00:00:00.000Z" },
        { INT64_C(-62167219200001), "-001-12-31T23:59:59.999Z" },
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

static void base64url_has_no_padding_and_one_spelling(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "", "" },           { "f", "Zg" },          { "fo", "Zm8" },       { "foo", "Zm9v" },
        { "foob", "Zm9vYg" }, { "fooba", "Zm9vYmE" }, { "\xff\xfe", "__4" }, { "\xfb\xef", "--8" },
    };
    static const char *const wrong[] = { "Z",   "Zh",    "Zm9", "Zg==",  "Zm8=",    "//4",
                                         "++8", "Zm\n8", "Z g", "Zm9vY", "\xc3\xa9" };
    unsigned char out[8];
    size_t length;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        mishap_text bytes = mishap_text_of(pairs[i][0]), text = mishap_text_of(pairs[i][1]);
        assert_true(mishap_base64url_read(text, out, bytes.length, &length)); /* just enough */
        assert_int_equal(length, bytes.length);
        assert_memory_equal(out, bytes.data, length);
        if (bytes.length)
            assert_false(mishap_base64url_read(text, out, bytes.length - 1, &length));
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(mishap_base64url_read(mishap_text_of(wrong[i]), out, sizeof out, &length));
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
        TEST(arena_starts_in_the_storage_of_its_owner),
        TEST(arena_pieces_are_aligned_for_what_fits_in_them),
        TEST(arena_pieces_do_not_touch_each_other),
        TEST(arena_gives_a_piece_larger_than_any_block),
        TEST(arena_copies_end_with_nul),
        TEST(blank_is_white_space_or_nothing),
        TEST(lower_snake_starts_with_a_small_letter),
        TEST(printable_text_has_nothing_that_a_terminal_acts_on),
        TEST(timestamp_is_rfc_3339_in_utc),
        TEST(clocks_go_on),
        TEST(base64_is_that_of_the_rfc),
        TEST(base64_has_one_spelling),
        TEST(base64url_has_no_padding_and_one_spelling),
        TEST(a_mac_is_that_of_the_rfc),
    };
    return RUN(tests);
}
