/* Patterns: what they mean, that they end, that threads share them. */
#include <pthread.h>
#include <time.h>

#include "operation/findings.h"
#include "testing.h"

static mishap_match search(const char *pattern, const char *text)
{
    return mishap_pattern_search(pattern, mishap_text_of(text));
}

static void a_pattern_is_searched_for_not_matched_whole(void **state)
{
    (void)state;
    assert_int_equal(search("b", "abc"), MISHAP_MATCH_YES);
    assert_int_equal(search("^b", "abc"), MISHAP_MATCH_NO);
    assert_int_equal(search(".*@.*\\..*", "ada@example.com"), MISHAP_MATCH_YES);
    assert_int_equal(search(".*@.*\\..*", "invalid"), MISHAP_MATCH_NO);
    assert_int_equal(search("^$", ""), MISHAP_MATCH_YES);
    assert_int_equal(mishap_pattern_search("^$", (mishap_text){ NULL, 0 }), MISHAP_MATCH_YES);
}

/* Asked often enough that both ways to search are taken. */
static void it_means_the_same_the_first_time_and_later(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(search("^[a-z]+$", "letters"), MISHAP_MATCH_YES);
        assert_int_equal(search("^[a-z]+$", "letters\n"), MISHAP_MATCH_NO);
        assert_int_equal(search("^[a-z]+$", ""), MISHAP_MATCH_NO);
        assert_int_equal(search("^(a|b)\\1$", "aa"), MISHAP_MATCH_YES);
        assert_int_equal(search("^(a|b)\\1$", "ab"), MISHAP_MATCH_NO);
        assert_int_equal(mishap_pattern_search("^a.b$", (mishap_text){ "a\0b", 3 }),
                         MISHAP_MATCH_YES);
    }
}

static void characters_are_not_bytes_and_digits_are_ascii(void **state)
{
    (void)state;
    assert_int_equal(search("^.$", "\xE2\x82\xAC"), MISHAP_MATCH_YES);
    assert_int_equal(search("^.{2}$", "\xF0\x9F\x98\x80x"), MISHAP_MATCH_YES);
    assert_int_equal(search("^\\d$", "\xD9\xA3"), MISHAP_MATCH_NO);
    assert_int_equal(search("^\\w$", "\xC3\xA9"), MISHAP_MATCH_NO);
    assert_int_equal(search("^\xC3\xA9$", "\xC3\xA9"), MISHAP_MATCH_YES);
}

static void what_is_not_utf_8_matches_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(search("", "\xFF"), MISHAP_MATCH_NO);
        assert_int_equal(search(".*", "abc\xE2\x82"), MISHAP_MATCH_NO);
        assert_int_equal(search("^.*$", "\xED\xA0\x80"), MISHAP_MATCH_NO);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void a_search_that_runs_away_is_given_up(void **state)
{
    (void)state;
    const char *text = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    double took = 1;
    /* It takes some 20 ms; with the limit that PCRE2 itself has, 2 s. A machine that stalls makes
     * it longer, but not each time. */
    for (int round = 0; round < 5 && took >= 0.5; round++) {
        double start = seconds();
        for (int i = 0; i < 20; i++)
            assert_int_equal(search("(a+)+$", text), MISHAP_MATCH_GAVE_UP);
        took = seconds() - start;
    }
    assert_true(took < 0.5);
    assert_int_equal(search("(a+)+$", "aaaa"), MISHAP_MATCH_YES);

    /* Too deep for the stack of the compiled code. */
    size_t length = 1000000;
    char *deep = malloc(length);
    memset(deep, 'a', length);
    for (int i = 0; i < 10; i++)
        assert_int_equal(mishap_pattern_search("^(?:a|b)*$", (mishap_text){ deep, length }),
                         MISHAP_MATCH_GAVE_UP);
    free(deep);
}

static void a_flaw_is_told_in_words_that_stay(void **state)
{
    (void)state;
    const char *flaw = mishap_pattern_flaw("a(b");
    assert_string_equal(flaw, "missing closing parenthesis (at byte 3)");
    assert_ptr_equal(mishap_pattern_flaw("a(b"), flaw);
    assert_non_null(mishap_pattern_flaw("[z-a]"));
    assert_non_null(mishap_pattern_flaw("*"));
    assert_non_null(mishap_pattern_flaw("\xFF"));
    assert_non_null(mishap_pattern_flaw("\\C"));
    assert_null(mishap_pattern_flaw("a(b)"));
    assert_null(mishap_pattern_flaw(""));
    assert_int_equal(search("a(b", "ab"), MISHAP_MATCH_GAVE_UP);
}

/* A program that makes up patterns as it goes gets its answers, and the memory stays what it is. */
static void more_patterns_than_are_kept_still_work(void **state)
{
    (void)state;
    char pattern[32], text[32];
    for (int i = 0; i < 3000; i++) {
        snprintf(pattern, sizeof pattern, "^x%dx$", i);
        snprintf(text, sizeof text, "x%dx", i);
        assert_int_equal(search(pattern, text), MISHAP_MATCH_YES);
        assert_int_equal(search(pattern, "x"), MISHAP_MATCH_NO);
    }
    assert_string_equal(mishap_pattern_flaw("one(more"), "it cannot be compiled");
    mishap_pattern_forget();
    assert_int_equal(search("^x1x$", "x1x"), MISHAP_MATCH_YES);
}

/* The same buffer with other words in it is another pattern. */
static void a_pattern_is_known_by_its_text_not_by_its_address(void **state)
{
    (void)state;
    char pattern[8] = "^a$";
    assert_int_equal(search(pattern, "a"), MISHAP_MATCH_YES);
    memcpy(pattern, "^b$", 4);
    assert_int_equal(search(pattern, "a"), MISHAP_MATCH_NO);
    assert_int_equal(search(pattern, "b"), MISHAP_MATCH_YES);
}

enum { THREADS = 8, PATTERNS = 40, TURNS = 60 };

static pthread_barrier_t together;

static void *search_all(void *state)
{
    size_t *wrong = state;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < PATTERNS; i++) {
            char pattern[32], text[32];
            if (turn == 0)
                pthread_barrier_wait(&together); /* all want the same new pattern at once */
            snprintf(pattern, sizeof pattern, "^thread-%d(a|b)+$", i);
            snprintf(text, sizeof text, "thread-%d%s", i, turn % 2 ? "abab" : "abc");
            *wrong += search(pattern, text) != (turn % 2 ? MISHAP_MATCH_YES : MISHAP_MATCH_NO);
            *wrong += mishap_pattern_flaw(pattern) != NULL;
        }
    }
    return NULL;
}

static void threads_share_patterns(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    size_t wrong[THREADS] = { 0 };
    mishap_pattern_forget();
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, search_all, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
    pthread_barrier_destroy(&together);
}

/* -- without memory ---------------------------------------------------------------------------- */

static void without_memory_a_search_is_given_up_and_nothing_leaks(void **state)
{
    (void)state;
    mishap_pattern_forget();
    mishap_use_allocator(&failing_allocator);
    fail_once = true;
    size_t gave_up = 0;
    for (fail_at = 1, calls = fail_at; calls >= fail_at; fail_at++) {
        calls = 0;
        blocks = 0;
        /* Often enough for machine code: that it cannot be made does not matter. */
        for (int i = 0; i < 8; i++) {
            mishap_match match = search("^(a|b)+$", "abab");
            assert_true(match == MISHAP_MATCH_YES || match == MISHAP_MATCH_GAVE_UP);
            gave_up += match == MISHAP_MATCH_GAVE_UP;
            const char *flaw = mishap_pattern_flaw("(");
            assert_non_null(flaw);
        }
        mishap_pattern_forget();
        assert_int_equal(blocks, 0);
    }
    mishap_use_allocator(NULL);
    assert_true(gave_up > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_pattern_is_searched_for_not_matched_whole),
        TEST(it_means_the_same_the_first_time_and_later),
        TEST(characters_are_not_bytes_and_digits_are_ascii),
        TEST(what_is_not_utf_8_matches_nothing),
        TEST(a_search_that_runs_away_is_given_up),
        TEST(a_flaw_is_told_in_words_that_stay),
        TEST(more_patterns_than_are_kept_still_work),
        TEST(a_pattern_is_known_by_its_text_not_by_its_address),
        TEST(threads_share_patterns),
        TEST(without_memory_a_search_is_given_up_and_nothing_leaks),
    };
    return RUN(tests);
}
