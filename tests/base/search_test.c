/* Programs in the folders of PATH (base/search.h). */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/search.h"

/* A folder with a program `tool`, a file `text` that cannot be executed, and a folder `deep`. */
static char root[64], here[4096], path_before[8192];

static void make_file(const char *name, mode_t mode)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    int file = open(path, O_CREAT | O_WRONLY, mode);
    assert_true(file >= 0);
    close(file);
}

static int make_folder(void **state)
{
    char path[256];
    (void)state;
    const char *path_now = getenv("PATH");
    snprintf(path_before, sizeof path_before, "%s", path_now ? path_now : "");
    snprintf(root, sizeof root, "/tmp/search_test.XXXXXX");
    if (!mkdtemp(root) || !getcwd(here, sizeof here))
        return -1;
    snprintf(path, sizeof path, "%s/deep", root);
    mkdir(path, 0700);
    make_file("tool", 0700);
    make_file("text", 0600);
    return chdir(root);
}

static int remove_folder(void **state)
{
    (void)state;
    setenv("PATH", path_before, 1);
    return chdir(here) || remove_tree(root);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

static void folders_come_in_their_order_and_an_empty_one_is_the_current(void **state)
{
    (void)state;
    const char *list = "/a::/much/too/long:/b:";
    char folder[8];
    assert_true(mishap_search_next(&list, folder, sizeof folder));
    assert_string_equal(folder, "/a");
    assert_true(mishap_search_next(&list, folder, sizeof folder));
    assert_string_equal(folder, ".");
    assert_true(mishap_search_next(&list, folder, sizeof folder)); /* the long one is skipped */
    assert_string_equal(folder, "/b");
    assert_true(mishap_search_next(&list, folder, sizeof folder));
    assert_string_equal(folder, ".");
    assert_false(mishap_search_next(&list, folder, sizeof folder));
}

static void assert_found(const char *name, const char *folders, const char *expected)
{
    char path[4096] = "";
    setenv("PATH", folders, 1);
    assert_true(mishap_search_program(name, path, sizeof path));
    assert_string_equal(path, expected);
}

static void assert_not_found(const char *name, const char *folders, int error)
{
    char path[4096];
    setenv("PATH", folders, 1);
    errno = 0;
    assert_false(mishap_search_program(name, path, sizeof path));
    assert_int_equal(errno, error);
}

static void the_program_of_the_first_folder_is_found(void **state)
{
    (void)state;
    char folders[256], expected[256];
    snprintf(expected, sizeof expected, "%s/tool", root);
    snprintf(folders, sizeof folders, "/nowhere:%s/deep:%s", root, root);
    assert_found("tool", folders, expected);
    snprintf(expected, sizeof expected, "%s/./tool", root);
    assert_found("tool", "", expected);
    assert_found("tool", "deep:/nowhere:.", expected);
}

static void without_path_the_folders_of_the_system_count(void **state)
{
    (void)state;
    char path[4096];
    unsetenv("PATH");
    assert_true(mishap_search_program("ls", path, sizeof path));
    assert_string_equal(path, "/usr/bin/ls");
}

static void folders_and_what_cannot_be_executed_are_no_programs(void **state)
{
    (void)state;
    assert_not_found("deep", root, ENOENT);
    assert_not_found("text", root, EACCES);
    assert_not_found("missing", root, ENOENT);
    assert_not_found("", root, ENOENT);
}

static void a_name_with_a_slash_is_not_searched(void **state)
{
    (void)state;
    char expected[256], small[8];
    snprintf(expected, sizeof expected, "%s/deep/none", root);
    assert_found("deep/none", "/nowhere", expected);
    assert_found("/x/y", "/nowhere", "/x/y");
    assert_false(mishap_search_program("/x/much/too/long", small, sizeof small));
    assert_int_equal(errno, ENAMETOOLONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(folders_come_in_their_order_and_an_empty_one_is_the_current),
        IN_FOLDER(the_program_of_the_first_folder_is_found),
        IN_FOLDER(without_path_the_folders_of_the_system_count),
        IN_FOLDER(folders_and_what_cannot_be_executed_are_no_programs),
        IN_FOLDER(a_name_with_a_slash_is_not_searched),
    };
    return RUN(tests);
}
