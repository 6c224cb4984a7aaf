/* src/mishap without memory: the reserve, the last resort, and many threads. */
#include "testing.h"

#include <errno.h>
#include <pthread.h>

static void assert_text(mishap_text text, const char *expected)
{
    assert_non_null(text.data);
    assert_string_equal(text.data, expected);
    assert_int_equal(text.length, strlen(expected));
}

/* The value that was told under this key, which must be there. */
static const mishap_value *told(const mishap *m, const char *key)
{
    const mishap_member *member = mishap_public_member(mishap_told(m), key);
    assert_non_null(member);
    return &member->value;
}

static bool account_has(const mishap *m, const char *piece)
{
    char text[8192];
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, text, sizeof text);
    mishap_account(m, &buffer);
    mishap_buffer_add(&buffer, "", 1);
    assert_false(buffer.failed || buffer.on_heap);
    return strstr(text, piece) != NULL;
}

/* -- without memory ---------------------------------------------------------------------------- */

static void *no_memory(size_t size)
{
    (void)size;
    errno = ENOMEM;
    return NULL;
}

static void *no_more_memory(void *block, size_t size)
{
    (void)block, (void)size;
    errno = ENOMEM;
    return NULL;
}

static void end_memory(void)
{
    mishap_use_allocator(&(mishap_allocator){ no_memory, no_more_memory, free });
}

static void bring_memory_back(void)
{
    mishap_use_allocator(NULL);
}

enum { RESERVE = 8 };

static void eight_mishaps_come_from_the_reserve(void **state)
{
    (void)state;
    mishap *held[RESERVE];
    end_memory();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < RESERVE; i++) {
            held[i] = mishap_tell(mishap_raise(NOT_FOUND, "Held %d.", i), "number", i);
            assert_ptr_not_equal(held[i], mishap_out_of_memory());
        }
        for (int i = 0; i < RESERVE; i++) { /* each has a block of its own */
            char message[32];
            snprintf(message, sizeof message, "Held %d.", i);
            assert_text(mishap_told(held[i])->message, message);
            assert_int_equal(told(held[i], "number")->integer, i);
        }
        assert_ptr_equal(mishap_raise(NOT_FOUND, "One too many."), mishap_out_of_memory());
        mishap_free(held[3]);
        held[3] = mishap_raise(CONFLICT, "Again.");
        assert_ptr_not_equal(held[3], mishap_out_of_memory());
        assert_ptr_equal(mishap_told(held[3])->code, MISHAP_CODE_CONFLICT);
        assert_null(mishap_told(held[3])->context); /* nothing is left of the one before */
        assert_ptr_equal(mishap_raise(NOT_FOUND, "Still too many."), mishap_out_of_memory());
        for (int i = 0; i < RESERVE; i++)
            mishap_free(held[i]);
    }
    bring_memory_back();
}

static void a_mishap_of_the_reserve_can_outlive_the_shortage(void **state)
{
    (void)state;
    end_memory();
    mishap *m = mishap_raise(NOT_FOUND, "From the reserve.");
    bring_memory_back();
    char many[3000];
    memset(many, 'x', sizeof many);
    mishap_tell(m, "many", ((mishap_text){ many, sizeof many }));
    assert_int_equal(told(m, "many")->text.length, sizeof many);
    mishap_free(m);
}

static void the_last_resort_can_be_passed_on_and_never_changes(void **state)
{
    (void)state;
    mishap *m = mishap_out_of_memory();
    mishap_public before;
    memcpy(&before, mishap_told(m), sizeof before);
    assert_ptr_equal(before.code, MISHAP_CODE_INTERNAL_ERROR);
    assert_int_equal(before.category, MISHAP_SYSTEM);
    assert_false(before.retryable);
    assert_int_equal(before.retry_after_ms, -1);
    assert_ptr_equal(mishap_tell(m, "k", 1), m);
    assert_ptr_equal(mishap_note(m, "k", 1), m);
    assert_ptr_equal(mishap_message(m, T("x")), m);
    assert_ptr_equal(mishap_suggest(m, "x"), m);
    assert_ptr_equal(mishap_retryable(m, true), m);
    assert_ptr_equal(mishap_retry_after(m, 5), m);
    assert_ptr_equal(mishap_file_under(m, MISHAP_VALIDATION), m);
    assert_ptr_equal(mishap_field_required(m, "f"), m);
    assert_ptr_equal(mishap_frame_add(m, T("f")), m);
    assert_ptr_equal(mishap_because(m, mishap_raise(NOT_FOUND, "Freed with it.")), m);
    assert_null(mishap_cause(m));
    assert_memory_equal(mishap_told(m), &before, sizeof before);
    assert_text(mishap_public_message(mishap_told(m)), "An internal error occurred.");
    mishap_free(m);
    mishap_free(m);
    assert_true(account_has(m, "INTERNAL_ERROR: An internal error occurred.\n"));
    mishap *above = mishap_because(mishap_raise(UNAVAILABLE, NULL), m);
    assert_ptr_equal(mishap_cause(above), m);
    assert_true(account_has(above, "caused by INTERNAL_ERROR"));
    mishap_free(above);
}

static void a_cause_given_to_the_last_resort_goes_back_to_the_reserve(void **state)
{
    (void)state;
    end_memory();
    for (int i = 0; i < 3 * RESERVE; i++) {
        mishap *cause = mishap_raise(NOT_FOUND, NULL);
        assert_ptr_not_equal(cause, mishap_out_of_memory());
        mishap_because(mishap_out_of_memory(), cause);
    }
    bring_memory_back();
}

static void a_part_that_finds_no_memory_is_left_out_and_that_is_said(void **state)
{
    (void)state;
    static char many[5000];
    memset(many, 'x', sizeof many - 1);
    mishap *m = mishap_raise(NOT_FOUND, "Short.");
    assert_false(account_has(m, "left out"));
    end_memory();
    mishap_tell(m, "many", many);
    mishap_tell(m, "few", "few");
    mishap_suggest(m, many);
    bring_memory_back();
    assert_text(mishap_told(m)->message, "Short.");
    assert_text(told(m, "few")->text, "few"); /* there was room for that */
    assert_text(mishap_public_suggestion(mishap_told(m)), MISHAP_CODE_NOT_FOUND->suggestion.data);
    assert_true(account_has(m, "left out"));
    mishap_free(m);
}

static void a_long_message_is_cut_when_there_is_no_memory_for_it(void **state)
{
    (void)state;
    static char many[5000];
    memset(many, 'x', sizeof many - 1);
    end_memory();
    mishap *m = mishap_raise(NOT_FOUND, "<%s>", many);
    bring_memory_back();
    assert_true(account_has(m, "left out"));
    assert_true(mishap_public_message(mishap_told(m)).length > 0);
    mishap_free(m);
}

/* %m is errno as it was when the mishap was raised, even if raising changes errno. */
static void the_message_can_speak_of_errno(void **state)
{
    (void)state;
    end_memory();
    errno = ENOENT;
    mishap *m = mishap_raise(NOT_FOUND, "Cannot open it: %m.");
    bring_memory_back();
    assert_text(mishap_told(m)->message, "Cannot open it: No such file or directory.");
    mishap_free(m);
}

/* With memory, without, and when even the reserve is used up. */
static void errno_survives_a_raise(void **state)
{
    (void)state;
    enum { MANY = 100 };
    mishap *raised[MANY][4];
    for (int without = 0; without < 2; without++) {
        if (without)
            end_memory();
        for (int i = 0; i < MANY; i++) {
            errno = ENOENT;
            raised[i][0] = mishap_raise(NOT_FOUND, "There is no %s: %m.", "file");
            raised[i][1] = mishap_raise(TIMEOUT, NULL);
            raised[i][2] = mishap_raise_errno(EACCES, "No: %m.");
            raised[i][3] = mishap_validation("Wrong.");
            assert_int_equal(errno, ENOENT);
        }
        bring_memory_back();
        assert_true(without == (raised[MANY - 1][0] == mishap_out_of_memory()));
        for (int i = 0; i < MANY; i++)
            for (int j = 0; j < 4; j++)
                mishap_free(raised[i][j]);
    }
}

/* -- threads ----------------------------------------------------------------------------------- */

enum { THREADS = 8, ROUNDS = 100000 };

static void *raise_and_free(void *wrong)
{
    for (int i = 0; i < ROUNDS; i++) {
        mishap *m = mishap_tell(mishap_raise(NOT_FOUND, "Round %d.", i), "round", i);
        if (m != mishap_out_of_memory()) {
            char message[32];
            snprintf(message, sizeof message, "Round %d.", i);
            if (strcmp(mishap_told(m)->message.data, message) != 0 ||
                mishap_told(m)->context->value.integer != i)
                *(bool *)wrong = true;
        }
        mishap_free(m);
    }
    return NULL;
}

static void raise_in_many_threads(void)
{
    pthread_t threads[THREADS];
    bool wrong[THREADS] = { 0 };
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, raise_and_free, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_false(wrong[i]);
}

static void threads_do_not_see_each_other(void **state)
{
    (void)state;
    raise_in_many_threads();
}

/* Eight threads, each with one at a time: the reserve is enough for all of them, and none gets
 * another's block. */
static void threads_share_the_reserve(void **state)
{
    (void)state;
    end_memory();
    raise_in_many_threads();
    bring_memory_back();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(eight_mishaps_come_from_the_reserve),
        TEST(a_mishap_of_the_reserve_can_outlive_the_shortage),
        TEST(the_last_resort_can_be_passed_on_and_never_changes),
        TEST(a_cause_given_to_the_last_resort_goes_back_to_the_reserve),
        TEST(a_part_that_finds_no_memory_is_left_out_and_that_is_said),
        TEST(a_long_message_is_cut_when_there_is_no_memory_for_it),
        TEST(the_message_can_speak_of_errno),
        TEST(errno_survives_a_raise),
        TEST(threads_do_not_see_each_other),
        TEST(threads_share_the_reserve),
    };
    return RUN(tests);
}
