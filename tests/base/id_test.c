/* src/base/id: ids of all threads and processes are different, and in the order of time. */
#include "testing.h"

#include <pthread.h>
#include <sys/wait.h>

#include "base/base.h"

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

static void ids_of_a_thread_are_in_order_within_a_millisecond_too(void **state)
{
    enum { IN_ONE = 2000 };
    static char ids[IN_ONE][MISHAP_ID_LENGTH + 1];
    int64_t now = mishap_clock_now_ms();
    (void)state;
    for (size_t i = 0; i < IN_ONE; i++)
        mishap_id_make_at(ids[i], now);
    for (size_t i = 1; i < IN_ONE; i++)
        assert_true(strcmp(ids[i - 1], ids[i]) < 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(id_is_a_uuid_of_version_7),
        TEST(id_begins_with_the_time),
        TEST(ids_sort_by_time),
        TEST(ids_of_a_thread_are_in_order_within_a_millisecond_too),
        TEST(ids_are_all_different),
        TEST(ids_of_different_threads_are_different),
        TEST(ids_are_different_in_parent_and_child),
    };
    return RUN(tests);
}
