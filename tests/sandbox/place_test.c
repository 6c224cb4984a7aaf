/* Where the sandbox finds what it needs of the machine: a folder for temporary files, and a control
 * group below which it may make others. */
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "testing.h"
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

/* One with so many files that can be opened, below TMPDIR. */
static bool make_with_files(int count, mishap_sandbox_place *place)
{
    struct rlimit before, few;
    int next = dup(STDIN_FILENO);
    close(next);
    getrlimit(RLIMIT_NOFILE, &before);
    few = (struct rlimit){ (rlim_t)(next + count), before.rlim_max };
    setrlimit(RLIMIT_NOFILE, &few);
    bool made = mishap_sandbox_make_folder(place);
    setrlimit(RLIMIT_NOFILE, &before);
    return made;
}

static void a_folder_that_cannot_be_locked_is_removed(void **state)
{
    char above[] = "/tmp/mishap-tests-XXXXXX";
    const char *before = getenv("TMPDIR");
    char *kept = before ? strdup(before) : NULL;
    mishap_sandbox_place place;
    (void)state;
    assert_non_null(mkdtemp(above));
    setenv("TMPDIR", above, 1);
    for (int files = 0; files < 2; files++) { /* to open it, and to keep it open */
        place = (mishap_sandbox_place){ .lock = 5 };
        assert_false(make_with_files(files, &place));
        assert_string_equal(place.folder, "");
        assert_int_equal(place.lock, 0);
    }
    assert_true(make_with_files(2, &place));
    assert_true(place.lock > STDERR_FILENO);
    mishap_sandbox_remove(&place);
    assert_int_equal(rmdir(above), 0); /* nothing is left in it */
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
}

/* -- limits ------------------------------------------------------------------------------------ */

enum { MB = 1 << 20 };

/* 0, or the number of the row that is wrong. */
static int look_at_limits(void)
{
    static const struct {
        uint64_t address_mb, memory_mb;
        const char *words; /* NULL: it is enough */
    } rows[] = {
        { 0, 0, NULL },
        { 4096, 1024, NULL },
        { 4097, 1024, "limit of address space is 4096 MB, and the program may need 4097 MB." },
        { 4097, 1025, "limit of address space is 4096 MB, and the program may need 4097 MB." },
        { 4096, 1025, "limit of memory is 1024 MB, and the program may need 1025 MB." },
        { 0, 1025, "limit of memory is 1024 MB, and the program may need 1025 MB." },
    };
    const struct rlimit address = { UINT64_C(4096) * MB, UINT64_C(4096) * MB };
    const struct rlimit memory = { UINT64_C(1024) * MB, UINT64_C(1024) * MB };
    if (setrlimit(RLIMIT_AS, &address) != 0 || setrlimit(RLIMIT_DATA, &memory) != 0)
        return 77;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_sandbox_profile of = { .address_bytes = rows[i].address_mb * MB,
                                      .memory_bytes = rows[i].memory_mb * MB };
        mishap *m = mishap_sandbox_check_limits(&of);
        bool right = rows[i].words
                         ? m && mishap_told(m)->code == MISHAP_CODE_NOT_CONFIGURED &&
                               strstr(mishap_public_message(mishap_told(m)).data, rows[i].words)
                         : !m;
        mishap_free(m);
        if (!right)
            return (int)i + 1;
    }
    return 0;
}

static void limits_of_this_process_must_be_as_large_as_those_of_a_program(void **state)
{
    int status = 0;
    (void)state;
    if (SANITIZED)
        skip(); /* which needs more addresses than that */
    pid_t pid = fork();
    if (pid == 0)
        _exit(look_at_limits());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
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

/* In a folder that is no control group, a file takes what is written. */
static void make_file(const char *folder, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    close(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
}

static bool has(const char *folder, const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *content = read_file(path, NULL);
    bool same = strcmp(content, text) == 0;
    free(content);
    return same;
}

/* A process that was not forked into a group moves itself: its thread, where that can be done. */
static void a_process_moves_into_its_group(void **state)
{
    char above[] = "/tmp/mishap-tests-XXXXXX";
    mishap_sandbox_place place = { 0 };
    (void)state;
    assert_non_null(mkdtemp(above));
    snprintf(place.group, sizeof place.group, "%s/mishap-1-1", above);
    assert_int_equal(mkdir(place.group, 0755), 0);
    for (int version = 1; version <= 2; version++) {
        mishap_sandbox_use_groups_of(above, version == 2);
        assert_int_equal(mishap_sandbox_enter_group(&place), version == 2);
        make_file(place.group, "cgroup.procs");
        assert_true(mishap_sandbox_enter_group(&place));
        assert_true(has(place.group, "cgroup.procs", "0"));
    }
    make_file(place.group, "cgroup.procs");
    make_file(place.group, "tasks");
    assert_true(mishap_sandbox_enter_group(&place));
    assert_true(has(place.group, "tasks", "0"));
    assert_true(has(place.group, "cgroup.procs", ""));
    mishap_sandbox_use_groups_of("", false);
    mishap_sandbox_remove_folder(above);
}

/* A group is removed if the process that made it is dead. */
static void groups_of_processes_that_are_dead_are_removed(void **state)
{
    char above[] = "/tmp/mishap-tests-XXXXXX", path[8][100];
    struct stat own;
    int status;
    (void)state;
    assert_int_equal(stat("/proc/self/ns/pid", &own), 0);
    unsigned long here = (unsigned long)own.st_ino;
    pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, &status, 0), dead);
    assert_non_null(mkdtemp(above));
    snprintf(path[0], sizeof *path, "%s/mishap-%d-1-%lx", above, (int)dead, here);
    snprintf(path[1], sizeof *path, "%s/mishap-%d-12-%lx", above, (int)dead, here);
    snprintf(path[2], sizeof *path, "%s/mishap-%d-1-%lx", above, (int)getpid(), here);
    snprintf(path[3], sizeof *path, "%s/mishap-%d", above, (int)dead);
    snprintf(path[4], sizeof *path, "%s/other-%d-1", above, (int)dead);
    snprintf(path[5], sizeof *path, "%s/mishap-0-1-%lx", above, here);
    /* Just made in another namespace, or by a version that did not tell its own. */
    snprintf(path[6], sizeof *path, "%s/mishap-%d-1-%lx", above, (int)dead, here + 1);
    snprintf(path[7], sizeof *path, "%s/mishap-%d-1", above, (int)dead);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(mkdir(path[i], 0755), 0);
    mishap_sandbox_use_groups_of(above, false);
    mishap_sandbox_sweep_groups();
    mishap_sandbox_use_groups_of("", false);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(access(path[i], F_OK) == 0, i >= 2);
    mishap_sandbox_remove_folder(above);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_mounts_there_must_be_a_folder_for_temporary_files),
        cmocka_unit_test(a_folder_that_cannot_be_locked_is_removed),
        cmocka_unit_test(limits_of_this_process_must_be_as_large_as_those_of_a_program),
        cmocka_unit_test(groups_are_made_where_both_controllers_are_delegated),
        cmocka_unit_test(a_process_moves_into_its_group),
        cmocka_unit_test(groups_of_processes_that_are_dead_are_removed),
    };
    return RUN(tests);
}
