/* Memory that processes share, and how one of them is rid of it. */
#include "base/shared.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing.h"

enum { PAGE = 64 * 1024, MOST = 32 }; /* whole pages of any size: 4, 16 or 64 KB */

/* Is there any memory at this address? */
static bool is_mapped(void *memory)
{
    return msync(memory, PAGE, MS_ASYNC) == 0;
}

/* The exit status of a child that runs this. Nothing in it may use cmocka. */
static int status_of(int (*run)(char *first, char *second), char *first, char *second)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(run(first, second));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void it_is_zero_to_its_last_byte(void **state)
{
    (void)state;
    char *memory = mishap_shared_map(3 * PAGE + 7), zero[3 * PAGE + 7] = { 0 };
    assert_non_null(memory);
    assert_memory_equal(memory, zero, sizeof zero);
    mishap_shared_unmap(memory, 3 * PAGE + 7);
    assert_false(is_mapped(memory));
    assert_false(is_mapped(memory + 3 * PAGE));
}

static int write_both(char *first, char *second)
{
    strcpy(first, "by the child");
    strcpy(second + PAGE, "behind the first page");
    return 0;
}

static void what_a_child_writes_its_parent_reads(void **state)
{
    (void)state;
    char *first = mishap_shared_map(PAGE), *second = mishap_shared_map(2 * PAGE);
    assert_int_equal(status_of(write_both, first, second), 0);
    assert_string_equal(first, "by the child");
    assert_string_equal(second + PAGE, "behind the first page");
    mishap_shared_unmap(first, PAGE);
    assert_false(is_mapped(first));
    assert_true(is_mapped(second)); /* one of its own goes alone */
    mishap_shared_unmap(second, 2 * PAGE);
}

static int leave_all(char *first, char *second)
{
    strcpy(first, "before");
    mishap_shared_leave();
    if (is_mapped(first) || is_mapped(second) || is_mapped(second + PAGE))
        return 1;
    mishap_shared_leave(); /* there is nothing left to give up */
    char *another = mishap_shared_map(PAGE);
    return another && !*another ? 0 : 2;
}

static void who_leaves_has_nothing_of_it_and_others_keep_theirs(void **state)
{
    (void)state;
    char *first = mishap_shared_map(PAGE), *second = mishap_shared_map(2 * PAGE);
    strcpy(second + PAGE, "kept");
    assert_int_equal(status_of(leave_all, first, second), 0);
    assert_string_equal(first, "before");
    assert_string_equal(second + PAGE, "kept");
    mishap_shared_unmap(first, PAGE);
    mishap_shared_unmap(second, 2 * PAGE);
}

static int touch_after_leaving(char *first, char *second)
{
    (void)second;
    mishap_shared_leave();
    return madvise(first, PAGE, MADV_NORMAL) == -1 && errno == ENOMEM ? 0 : 1;
}

static void memory_that_was_given_up_is_given_up_by_its_children_too(void **state)
{
    (void)state;
    char *memory = mishap_shared_map(PAGE);
    assert_int_equal(status_of(touch_after_leaving, memory, NULL), 0);
    mishap_shared_leave();
    assert_false(is_mapped(memory));
}

/* More could not all be given up. */
static void there_is_a_limit_and_what_is_unmapped_makes_room(void **state)
{
    (void)state;
    void *all[MOST];
    for (size_t i = 0; i < MOST; i++)
        assert_non_null(all[i] = mishap_shared_map(PAGE));
    assert_null(mishap_shared_map(PAGE));
    mishap_shared_unmap(all[7], PAGE);
    assert_non_null(all[7] = mishap_shared_map(PAGE));
    assert_null(mishap_shared_map(PAGE));
    mishap_shared_leave();
    for (size_t i = 0; i < MOST; i++)
        assert_false(is_mapped(all[i]));
    for (size_t i = 0; i < MOST; i++)
        assert_non_null(all[i] = mishap_shared_map(PAGE));
    for (size_t i = 0; i < MOST; i++)
        mishap_shared_unmap(all[i], PAGE);
}

static void what_cannot_be_is_refused_and_costs_no_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * MOST; i++) {
        assert_null(mishap_shared_map(0));
        assert_null(mishap_shared_map(SIZE_MAX / 2));
        mishap_shared_unmap(NULL, PAGE);
    }
    void *memory = mishap_shared_map(PAGE);
    assert_non_null(memory);
    mishap_shared_unmap(NULL, PAGE);
    assert_true(is_mapped(memory));
    mishap_shared_unmap(memory, PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_zero_to_its_last_byte),
        TEST(what_a_child_writes_its_parent_reads),
        TEST(who_leaves_has_nothing_of_it_and_others_keep_theirs),
        TEST(memory_that_was_given_up_is_given_up_by_its_children_too),
        TEST(there_is_a_limit_and_what_is_unmapped_makes_room),
        TEST(what_cannot_be_is_refused_and_costs_no_room),
    };
    return RUN(tests);
}
