/* Small files of the system, and limits of a process (base/system.h). */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system.h"

/* -- files ------------------------------------------------------------------------------------- */

static void write_replaces_no_more_than_its_text(void **state)
{
    (void)state;
    char path[] = "/tmp/system_test.XXXXXX", text[16];
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "abcdef", 6), 6);
    close(file);
    assert_true(mishap_system_write(path, "123"));
    assert_true(mishap_system_read(AT_FDCWD, path, text, sizeof text));
    assert_string_equal(text, "123def");
    unlink(path);
}

static void write_makes_no_file(void **state)
{
    (void)state;
    errno = 0;
    assert_false(mishap_system_write("/proc/self/no_such_file", "1"));
    assert_true(errno == ENOENT || errno == EACCES);
}

/* … and close() does not hide it. */
static void write_says_why_the_system_refuses_a_text(void **state)
{
    (void)state;
    errno = 0;
    assert_false(mishap_system_write("/proc/self/oom_score_adj", "no number"));
    assert_int_equal(errno, EINVAL);
}

static void files_of_a_process_are_read(void **state)
{
    (void)state;
    char text[4096], other[4096], wanted[40];
    snprintf(wanted, sizeof wanted, "\nPid:\t%d\n", (int)getpid());
    assert_true(mishap_system_read_about((int)getpid(), "status", text, sizeof text));
    assert_non_null(strstr(text, wanted));
    assert_false(mishap_system_read_about((int)getpid(), "no_such_file", other, sizeof other));
    assert_string_equal(other, "");
}

/* -- limits ------------------------------------------------------------------------------------ */

/* In a process of its own, since a hard limit cannot be raised again: the limit of open files after
 * `first` and then the next one. */
static struct rlimit after(uint64_t first, uint64_t spare, uint64_t next)
{
    int ends[2];
    struct rlimit found = { 0 };
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool set = mishap_system_limit(RLIMIT_NOFILE, first, spare) &&
                   mishap_system_limit(RLIMIT_NOFILE, next, 0) &&
                   getrlimit(RLIMIT_NOFILE, &found) == 0;
        _exit(set && write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], &found, sizeof found), sizeof found);
    close(ends[0]);
    close(ends[1]);
    return found;
}

static void a_limit_is_lowered_and_never_raised(void **state)
{
    (void)state;
    struct rlimit found = after(20, 0, 30);
    assert_int_equal(found.rlim_cur, 20);
    assert_int_equal(found.rlim_max, 20);
    found = after(30, 0, 20);
    assert_int_equal(found.rlim_cur, 20);
    assert_int_equal(found.rlim_max, 20);
}

static void the_spare_lies_between_the_soft_limit_and_the_hard_one(void **state)
{
    (void)state;
    struct rlimit found = after(20, 5, 22);
    assert_int_equal(found.rlim_cur, 22);
    assert_int_equal(found.rlim_max, 22);
    found = after(20, 5, 100);
    assert_int_equal(found.rlim_cur, 25);
    assert_int_equal(found.rlim_max, 25);
}

/* `most` and `spare` together do not fit into 64 bits. */
static void a_limit_above_all_numbers_is_none(void **state)
{
    (void)state;
    struct rlimit now;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    struct rlimit found = after(UINT64_MAX, 1, UINT64_MAX - 1);
    assert_int_equal(found.rlim_max, now.rlim_max);
    assert_int_equal(found.rlim_cur, now.rlim_max);
}

static void an_unknown_limit_is_refused(void **state)
{
    (void)state;
    errno = 0;
    assert_false(mishap_system_limit(1000, 1, 0));
    assert_int_equal(errno, EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(write_replaces_no_more_than_its_text),
        TEST(write_makes_no_file),
        TEST(write_says_why_the_system_refuses_a_text),
        TEST(files_of_a_process_are_read),
        TEST(a_limit_is_lowered_and_never_raised),
        TEST(the_spare_lies_between_the_soft_limit_and_the_hard_one),
        TEST(a_limit_above_all_numbers_is_none),
        TEST(an_unknown_limit_is_refused),
    };
    return RUN(tests);
}
