/* Where the sandbox finds what it needs of the machine: a folder for temporary files, and a control
 * group below which it may make others. */
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "../unit/testing.h"
#include "sandbox/inside.h"

static const mishap_sandbox_profile profile = { .temporary_bytes = 1 << 20 };

/* -- folders for temporary files ----------------------------------------------------------------
 */

/* In a root folder in which nothing is. False: this user cannot have one. */
static bool enter_nothing(const char *root)
{
    return (chroot(root) == 0 || (unshare(CLONE_NEWUSER) == 0 && chroot(root) == 0)) &&
           chdir("/") == 0;
}

/* 0, or the number of what is wrong. 77: cannot be tried here. */
static int look_for_places(const char *root, bool mounts)
{
    static const mishap_sandbox_profile none = { 0 };
    if (mounts && !(mishap_sandbox_probe()->layers & MISHAP_LAYER_MOUNTS))
        return 77;
    if (!enter_nothing(root))
        return 77;
    if (mounts) /* which need no folder of the machine's */
        return mishap_sandbox_check_place(&profile) ? 4 : 0;
    if (mishap_sandbox_probe()->layers & MISHAP_LAYER_MOUNTS)
        return 77;
    if (mishap_sandbox_check_place(&none))
        return 1;
    mishap *m = mishap_sandbox_check_place(&profile);
    if (!m || mishap_told(m)->code != MISHAP_CODE_NOT_CONFIGURED || !mishap_told(m)->cause.data ||
        strcmp(mishap_told(m)->cause.data, "No such file or directory (ENOENT)") != 0 ||
        !mishap_told(m)->suggestion.length)
        return 2;
    mishap_free(m);
    if (mkdir("/tmp", 0700) != 0 || mishap_sandbox_check_place(&profile))
        return 3;
    return 0;
}

/* This comes first: what the machine offers is looked at once, and in a root folder in which
 * nothing is it offers less. */
static void without_mounts_there_must_be_a_folder_for_temporary_files(void **state)
{
    (void)state;
    for (int mounts = 0; mounts < 2; mounts++) {
        char root[] = "/tmp/mishap-tests-XXXXXX";
        int status = 0;
        assert_non_null(mkdtemp(root));
        pid_t pid = fork();
        if (pid == 0)
            _exit(look_for_places(root, mounts));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        mishap_sandbox_remove_folder(root);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
            print_message("# cannot be tried here, with mounts: %d\n", mounts);
        else
            assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* -- control groups -----------------------------------------------------------------------------
 */

/* A folder like that of a group of version 2. `controllers`: what it hands down already, and it
 * takes no more; NULL: what it is asked to. */
static void make_group_folder(const char *path, bool delegated, const char *controllers)
{
    char control[300], link[40];
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(setxattr(path, "trusted.delegate", delegated ? "1" : "0", 1, 0), 0);
    snprintf(control, sizeof control, "%s/cgroup.subtree_control", path);
    if (!controllers) {
        close(open(control, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
        return;
    }
    int file = memfd_create("control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(write(file, controllers, strlen(controllers)), (ssize_t)strlen(controllers));
    assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK), 0);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    assert_int_equal(symlink(link, control), 0);
}

static void groups_are_made_where_both_controllers_are_delegated(void **state)
{
    static const struct {
        bool delegated[2]; /* the group above, and that of this process */
        const char *controllers[2];
        const char *found; /* NULL: nowhere */
    } rows[] = {
        { { false, true }, { "", "memory pids" }, "/above/own" },
        { { true, true }, { NULL, NULL }, "/above/own" },
        { { true, true }, { NULL, "" }, "/above" },
        { { true, true }, { NULL, "pids" }, "/above" },
        { { true, true }, { NULL, "memory" }, "/above" },
        { { true, false }, { NULL, NULL }, "/above" },
        { { false, false }, { NULL, NULL }, NULL },
        { { false, true }, { NULL, "pids" }, NULL },
        { { true, true }, { "pids", "memory" }, NULL },
    };
    char root[] = "/tmp/mishap-tests-XXXXXX", path[100], found[100], expected[100];
    (void)state;
    assert_non_null(mkdtemp(root));
    bool able = setxattr(root, "trusted.delegate", "0", 1, 0) == 0;
    rmdir(root);
    if (!able)
        skip(); /* an ordinary user has what it can write to */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_group_folder(root, true, rows[i].found ? "" : NULL);
        snprintf(path, sizeof path, "%s/above", root);
        make_group_folder(path, rows[i].delegated[0], rows[i].controllers[0]);
        snprintf(path, sizeof path, "%s/above/own", root);
        make_group_folder(path, rows[i].delegated[1], rows[i].controllers[1]);
        snprintf(expected, sizeof expected, "%s%s", root, rows[i].found ? rows[i].found : "");
        bool any = mishap_sandbox_find_groups(root, "/above/own", found, sizeof found);
        if (any != (rows[i].found != NULL) || (any && strcmp(found, expected) != 0))
            fail_msg("row %zu: %d %s", i, any, found);
        assert_false(mishap_sandbox_find_groups(root, "/above/own", found, strlen(root) + 10));
        mishap_sandbox_remove_folder(root);
    }
    make_group_folder(root, false, NULL); /* that of the machine, in which this process is */
    assert_true(mishap_sandbox_find_groups(root, "/", found, sizeof found));
    mishap_sandbox_remove_folder(root);
    make_group_folder(root, true, "");
    assert_false(mishap_sandbox_find_groups(root, "/", found, sizeof found));
    mishap_sandbox_remove_folder(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_mounts_there_must_be_a_folder_for_temporary_files),
        cmocka_unit_test(groups_are_made_where_both_controllers_are_delegated),
    };
    return RUN(tests);
}
