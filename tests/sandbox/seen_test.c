/* What the system says of a program in the sandbox, seen from outside: its limits, its rights, its
 * control group. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "testing.h"
#include "sandbox/inside.h"

enum { DEADLINE_MS = 60000, MB = 1 << 20 };

struct run {
    mishap_sandbox *sandbox;
    mishap_sandbox_place place;
    pid_t pid;
};

static const char *const readable[] = { MISHAP_SANDBOX_LIBRARIES, NULL };
static const mishap_sandbox_profile profile = {
    .readable = readable,
    .temporary_bytes = 4 * MB,
    .address_bytes = 256 * MB,
    .threads = 16,
};

static const char *attacker(void)
{
    const char *path = getenv("ATTACKER_PROGRAM");
    assert_non_null(path);
    return path;
}

/* A program that waits, as soon as it is executed. */
static void start_waiting(struct run *run, mishap_sandbox *sandbox)
{
    const char *program[] = { attacker(), "wait", NULL };
    char place[40], path[4096];
    ssize_t length = 0;
    *run = (struct run){ .sandbox = sandbox };
    run->pid = mishap_sandbox_fork(sandbox, &run->place);
    if (run->pid == 0)
        _exit(mishap_sandbox_exec(sandbox, &run->place, program) != NULL);
    assert_true(run->pid > 0);
    snprintf(place, sizeof place, "/proc/%d/exe", (int)run->pid);
    for (int i = 0; i < DEADLINE_MS; i++) {
        length = readlink(place, path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        const char *name = strrchr(path, '/');
        if (name && strcmp(name, strrchr(attacker(), '/')) == 0)
            return;
        poll(NULL, 0, 1);
    }
    fail_msg("it was not executed: %s", path);
}

static void stop_waiting(struct run *run)
{
    int status;
    assert_true(run->pid > 0); /* -1 would be everybody */
    kill(run->pid, SIGKILL);
    assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
    mishap_sandbox_remove(&run->place);
    mishap_sandbox_release(run->sandbox);
}

static void a_program_has_the_limits_of_its_profile(void **state)
{
    static const mishap_sandbox_profile limited = { .readable = readable,
                                                    .memory_bytes = 100 * MB,
                                                    .address_bytes = 200 * MB,
                                                    .stack_bytes = 1 * MB,
                                                    .cpu_seconds = 30,
                                                    .files = 20,
                                                    .file_bytes = 12345,
                                                    .threads = 7 };
    static const struct {
        __rlimit_resource_t resource;
        rlim_t soft, hard;
    } expected[] = {
        { RLIMIT_DATA, 100 * MB, 100 * MB },
        { RLIMIT_AS, 200 * MB, 200 * MB },
        { RLIMIT_STACK, 1 * MB, 1 * MB },
        { RLIMIT_CPU, 30, 31 },
        { RLIMIT_NOFILE, 20, 20 },
        { RLIMIT_FSIZE, 12345, 12345 },
        { RLIMIT_CORE, 0, 0 },
        { RLIMIT_MEMLOCK, 0, 0 },
        { RLIMIT_MSGQUEUE, 0, 0 },
        { RLIMIT_NICE, 0, 0 },
        { RLIMIT_RTPRIO, 0, 0 },
        { RLIMIT_NPROC, 8, 8 }, /* in a user namespace … */
        { RLIMIT_SIGPENDING, MISHAP_SANDBOX_SIGNALS, MISHAP_SANDBOX_SIGNALS }, /* … as this */
    };
    unsigned layers = mishap_sandbox_probe()->layers & (MISHAP_LAYER_LIMITS | MISHAP_LAYER_USERS);
    mishap_sandbox *sandbox;
    struct run run;
    (void)state;
    if (!(layers & MISHAP_LAYER_LIMITS))
        skip();
    assert_null(mishap_sandbox_prepare_layers(&limited, layers, &sandbox));
    start_waiting(&run, sandbox);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct rlimit limit;
        bool shared = expected[i].resource == RLIMIT_NPROC ||
                      expected[i].resource == RLIMIT_SIGPENDING;
        if (shared && !(layers & MISHAP_LAYER_USERS))
            continue;
        assert_int_equal(prlimit(run.pid, expected[i].resource, NULL, &limit), 0);
        if (limit.rlim_cur != expected[i].soft || limit.rlim_max != expected[i].hard)
            fail_msg("limit %d is %llu and %llu", (int)expected[i].resource,
                     (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
    }
    stop_waiting(&run);
}

/* Outside of a user namespace all programs leave a part to this process, and a limit that the
 * profile does not name is there, too. */
static void programs_leave_a_part_of_what_the_user_has(void **state)
{
    static const __rlimit_resource_t shared[] = { RLIMIT_NPROC, RLIMIT_SIGPENDING };
    static const mishap_sandbox_profile plain = { .readable = readable };
    mishap_sandbox *sandbox;
    struct run run;
    struct rlimit before, all, theirs;
    (void)state;
    getrlimit(RLIMIT_STACK, &before);
    setrlimit(RLIMIT_STACK, &(struct rlimit){ before.rlim_max, before.rlim_max });
    assert_null(mishap_sandbox_prepare_layers(&plain, MISHAP_LAYER_LIMITS, &sandbox));
    start_waiting(&run, sandbox);
    setrlimit(RLIMIT_STACK, &before);
    for (size_t i = 0; i < 2; i++) {
        getrlimit(shared[i], &all);
        assert_int_equal(prlimit(run.pid, shared[i], NULL, &theirs), 0);
        if (all.rlim_max != RLIM_INFINITY)
            assert_int_equal(theirs.rlim_max, all.rlim_max - all.rlim_max / 4);
    }
    assert_int_equal(prlimit(run.pid, RLIMIT_STACK, NULL, &theirs), 0);
    assert_int_equal(theirs.rlim_max, MISHAP_SANDBOX_STACK_MB * MB);
    assert_int_equal(prlimit(run.pid, RLIMIT_FSIZE, NULL, &theirs), 0);
    assert_int_equal(theirs.rlim_max, MISHAP_SANDBOX_FILE_MB * MB);
    assert_int_equal(prlimit(run.pid, RLIMIT_NOFILE, NULL, &theirs), 0);
    assert_int_equal(theirs.rlim_max, MISHAP_SANDBOX_FILES);
    stop_waiting(&run);
}

/* -- mounts ------------------------------------------------------------------------------------ */

static char above[] = "/tmp/mishap-seen-XXXXXX";
static char device[60], plain_file[60];

/* How a program ends that is given two words. */
static int end_of(const mishap_sandbox_profile *of, unsigned layers, const char *word,
                  const char *path)
{
    const char *program[] = { attacker(), word, path, NULL };
    struct run run = { 0 };
    int status = 0;
    assert_null(mishap_sandbox_prepare_layers(of, layers, &run.sandbox));
    run.pid = mishap_sandbox_fork(run.sandbox, &run.place);
    if (run.pid == 0)
        _exit(mishap_sandbox_exec(run.sandbox, &run.place, program) != NULL ? 99 : 0);
    assert_int_equal(waitpid(run.pid, &status, 0), run.pid);
    mishap_sandbox_remove(&run.place);
    mishap_sandbox_release(run.sandbox);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* A folder that may be read can have devices in it, and programs of root's. */
static void a_device_in_a_readable_folder_is_none(void **state)
{
    enum { STOPPED = 0, SUCCEEDED = 10 };
    static const char *const with_folder[] = { MISHAP_SANDBOX_LIBRARIES, above, NULL };
    static const mishap_sandbox_profile reading = { .readable = with_folder };
    unsigned layers = mishap_sandbox_probe()->layers & (MISHAP_LAYER_MOUNTS | MISHAP_LAYER_USERS);
    (void)state;
    if (!(layers & MISHAP_LAYER_MOUNTS))
        skip();
    assert_non_null(mkdtemp(above));
    chmod(above, 0755);
    snprintf(device, sizeof device, "%s/device", above);
    snprintf(plain_file, sizeof plain_file, "%s/file", above);
    close(open(plain_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    bool made = mknod(device, S_IFCHR | 0666, makedev(1, 3)) == 0; /* /dev/null */
    chmod(device, 0666);
    int outside = made ? open(device, O_RDONLY | O_CLOEXEC) : -1;
    int file = end_of(&reading, layers, "open", plain_file);
    int inside = end_of(&reading, layers, "open", device);
    int flags = end_of(&reading, layers, "flags", above);
    unlink(device);
    unlink(plain_file);
    rmdir(above);
    assert_int_equal(file, SUCCEEDED);
    assert_int_equal(flags & (ST_RDONLY | ST_NOSUID | ST_NODEV), ST_RDONLY | ST_NOSUID | ST_NODEV);
    if (outside < 0)
        skip(); /* only root makes devices, and some machines have none anywhere */
    close(outside);
    assert_int_equal(inside, STOPPED);
}

static void its_own_folders_have_no_programs_and_no_devices(void **state)
{
    unsigned layers = mishap_sandbox_probe()->layers & (MISHAP_LAYER_MOUNTS | MISHAP_LAYER_USERS);
    const int none = ST_NOSUID | ST_NODEV | ST_NOEXEC;
    (void)state;
    if (!(layers & MISHAP_LAYER_MOUNTS))
        skip();
    assert_int_equal(end_of(&profile, layers, "flags", "/tmp"), none);
    assert_int_equal(end_of(&profile, layers, "flags", "/"), none | ST_RDONLY);
}

/* Executing a program as root gives its rights back, unless this is locked. */
static void root_is_nobody_special(void **state)
{
    unsigned layers = mishap_sandbox_probe()->layers & MISHAP_LAYER_PRIVILEGES;
    (void)state;
    if (!layers || geteuid() != 0)
        skip();
    assert_int_equal(end_of(&profile, layers, "secure", NULL), 0);
}

/* -- what is left of those that were killed -----------------------------------------------------
 */

static void folders_of_processes_that_were_killed_are_removed(void **state)
{
    char folder[] = "/tmp/mishap-tests-XXXXXX", path[300];
    const char *before = getenv("TMPDIR");
    char *kept = before ? strdup(before) : NULL;
    mishap_sandbox_place ours = { 0 }, lost = { 0 };
    int ends[2], status;
    (void)state;
    assert_non_null(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) { /* it makes a folder, and is killed */
        bool made = mishap_sandbox_make_folder(&lost);
        snprintf(path, sizeof path, "%s/below", lost.folder);
        made = made && mkdir(path, 0300) == 0 && chmod(lost.folder, 0300) == 0;
        write(ends[1], &lost, made ? sizeof lost : 0) < 0 ? _exit(1) : raise(SIGKILL);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &lost, sizeof lost), sizeof lost);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(mishap_sandbox_make_folder(&ours));
    snprintf(path, sizeof path, "%s/other", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(access(lost.folder, F_OK), 0);
    mishap_sandbox_sweep_folders(folder, 60); /* it is young: perhaps it is not locked yet */
    assert_int_equal(access(lost.folder, F_OK), 0);
    mishap_sandbox_sweep_folders(folder, 0);
    assert_int_equal(access(lost.folder, F_OK), -1);
    assert_int_equal(access(ours.folder, F_OK), 0);
    assert_int_equal(access(path, F_OK), 0);
    mishap_sandbox_remove(&ours);
    assert_int_equal(access(folder, F_OK), 0);
    rmdir(path);
    assert_int_equal(rmdir(folder), 0);
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
}

static int open_files(void)
{
    int count = 0;
    for (int file = 0; file < 256; file++)
        count += fcntl(file, F_GETFD) >= 0;
    return count;
}

static void assert_mode(const char *path, mode_t mode)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, mode);
}

/* A program may put links in the place of its folders. */
static void removing_a_folder_follows_no_link(void **state)
{
    char folder[] = "/tmp/mishap-tests-XXXXXX", victim[100], moved[100], path[200];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(victim, sizeof victim, "%s/victim", folder);
    snprintf(moved, sizeof moved, "%s/moved", folder);
    snprintf(path, sizeof path, "%s/place", folder);
    assert_int_equal(mkdir(victim, 0755) | chmod(victim, 0755) | mkdir(moved, 0700), 0);
    assert_int_equal(symlink(victim, path), 0);
    mishap_sandbox_remove_folder(path);
    assert_mode(victim, 0755);
    int file = open(moved, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(path, sizeof path, "%s/moved/link", folder);
    assert_int_equal(symlink(victim, path), 0);
    snprintf(path, sizeof path, "%s/moved/shut", folder);
    assert_int_equal(mkdir(path, 0) | chmod(moved, 0), 0);
    snprintf(path, sizeof path, "%s/place", folder);
    mishap_sandbox_remove_opened(file, path);
    close(file);
    assert_mode(victim, 0755);
    assert_int_equal(access(moved, F_OK), -1);
    assert_int_equal(unlink(path), -1); /* the link is gone, too */
    mishap_sandbox_remove_folder(folder);
    assert_int_equal(access(folder, F_OK), -1);
}

static void a_folder_is_looked_through_no_further_than_its_limit(void **state)
{
    char folder[] = "/tmp/mishap-tests-XXXXXX", path[100];
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 10; i++) {
        snprintf(path, sizeof path, "%s/%d", folder, i);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_int_equal(write(file, path, sizeof path), sizeof path);
        close(file);
    }
    int files = open_files();
    assert_false(mishap_sandbox_folder_exceeds(folder, 10, MB));
    assert_true(mishap_sandbox_folder_exceeds(folder, 9, MB));
    assert_true(mishap_sandbox_folder_exceeds(folder, 10, 4096));
    snprintf(path, sizeof path, "%s/below", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/below/file", folder);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    snprintf(path, sizeof path, "%s/below", folder);
    chmod(path, 0300);
    assert_true(mishap_sandbox_folder_exceeds(folder, 11, MB));
    assert_false(mishap_sandbox_folder_exceeds(folder, 12, MB));
    mishap_sandbox_remove_folder(folder);
    assert_int_equal(access(folder, F_OK), -1);
    assert_int_equal(open_files(), files); /* no folder stays open */
}

static void expect_status(const char *text, const char *line)
{
    if (!strstr(text, line))
        fail_msg("no line %s in: %s", line, text);
}

static void read_status(pid_t pid, char *text, size_t size)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void a_program_has_huge_pages_unless_its_profile_refuses_them(void **state)
{
    char text[8192];
    (void)state;
    read_status(getpid(), text, sizeof text);
    if (!strstr(text, "\nTHP_enabled:\t1\n"))
        skip(); /* the kernel does not have them, or this process refuses them, too */
    for (int small = 0; small < 2; small++) {
        mishap_sandbox_profile its = profile;
        mishap_sandbox *sandbox;
        struct run run;
        its.small_pages = small;
        assert_null(mishap_sandbox_prepare_layers(&its, mishap_sandbox_probe()->layers, &sandbox));
        start_waiting(&run, sandbox);
        read_status(run.pid, text, sizeof text);
        expect_status(text, small ? "\nTHP_enabled:\t0\n" : "\nTHP_enabled:\t1\n");
        stop_waiting(&run);
    }
}

static void a_program_has_no_rights_left(void **state)
{
    const unsigned offered = mishap_sandbox_probe()->layers;
    char text[8192];
    mishap_sandbox *sandbox;
    struct run run;
    (void)state;
    assert_null(mishap_sandbox_prepare_layers(&profile, offered, &sandbox));
    start_waiting(&run, sandbox);
    read_status(run.pid, text, sizeof text);
    expect_status(text, "\nNoNewPrivs:\t1\n");
    if (offered & MISHAP_LAYER_SECCOMP)
        expect_status(text, "\nSeccomp:\t2\n");
    if (offered & MISHAP_LAYER_USERS) {
        char map[40], users[40], expected[40];
        snprintf(map, sizeof map, "/proc/%d/uid_map", (int)run.pid);
        FILE *mapped = fopen(map, "r");
        assert_non_null(mapped);
        assert_non_null(fgets(users, sizeof users, mapped));
        fclose(mapped);
        snprintf(expected, sizeof expected, "%10d %10d %10d\n", 1000, (int)geteuid(), 1);
        assert_string_equal(users, expected);
    }
    if (offered & MISHAP_LAYER_PRIVILEGES) {
        expect_status(text, "\nCapInh:\t0000000000000000\n");
        expect_status(text, "\nCapPrm:\t0000000000000000\n");
        expect_status(text, "\nCapEff:\t0000000000000000\n");
        expect_status(text, "\nCapAmb:\t0000000000000000\n");
        if (offered & MISHAP_LAYER_USERS || geteuid() == 0)
            expect_status(text, "\nCapBnd:\t0000000000000000\n");
    }
    stop_waiting(&run);
}

/* Its temporary folder is one of the machine's where there is no mount namespace. */
static void what_it_has_written_is_removed_however_deep(void **state)
{
    const char *program[] = { attacker(), "dig", NULL };
    struct run run = { 0 };
    struct stat found;
    int status = 0;
    (void)state;
    assert_null(mishap_sandbox_prepare_layers(&profile, 0, &run.sandbox));
    run.pid = mishap_sandbox_fork(run.sandbox, &run.place);
    if (run.pid == 0)
        _exit(mishap_sandbox_exec(run.sandbox, &run.place, program) != NULL);
    assert_int_equal(waitpid(run.pid, &status, 0), run.pid);
    assert_int_equal(status, 0);
    mishap_sandbox_place place = run.place;
    assert_int_equal(stat(place.folder, &found), 0);
    mishap_sandbox_remove(&run.place);
    mishap_sandbox_release(run.sandbox);
    assert_int_equal(stat(place.folder, &found), -1);
    assert_int_equal(stat("/tmp", &found), 0); /* links are not followed */
}

static void expect_in_file(const char *group, const char *name, unsigned long long least)
{
    char path[400], text[40] = "";
    snprintf(path, sizeof path, "%s/%s", group, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    unsigned long long number = strtoull(text, NULL, 10);
    assert_true(text[0] >= '0' && text[0] <= '9'); /* "max" is no limit */
    assert_in_range(number, least, least + 65536);
}

static void the_limit_of_memory_is_what_is_documented(void **state)
{
    (void)state;
    assert_int_equal(mishap_sandbox_resident(&(mishap_sandbox_profile){ 0 }), 0);
    assert_int_equal(mishap_sandbox_resident(&(mishap_sandbox_profile){ .address_bytes = 5 * MB }),
                     5 * MB);
    assert_int_equal(mishap_sandbox_resident(&(mishap_sandbox_profile){
                         .memory_bytes = 3 * MB, .address_bytes = 5 * MB, .temporary_bytes = MB }),
                     4 * MB);
    assert_int_equal(mishap_sandbox_resident(&(mishap_sandbox_profile){
                         .memory_bytes = 3 * MB, .temporary_bytes = MB, .resident_bytes = 2 * MB }),
                     2 * MB);
}

/* As a group of version 2 says it, in a folder that is none. */
static void a_group_that_ran_out_says_so(void **state)
{
    static const struct {
        const char *text;
        bool ran_out;
    } events[] = { { "low 0\noom 0\noom_kill 0\n", false },
                   { "low 0\noom 1\noom_kill 1\n", true },
                   { "", false } };
    mishap_sandbox_place place = { .group = "/tmp/mishap-group-XXXXXX" };
    char path[sizeof place.group + sizeof "/memory.events"];
    (void)state;
    assert_non_null(mkdtemp(place.group));
    snprintf(path, sizeof path, "%s/memory.events", place.group);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(events[i].text, file);
        fclose(file);
        mishap_sandbox_use_groups_of("/tmp", true);
        assert_int_equal(mishap_sandbox_excess_of(&place),
                         events[i].ran_out ? MISHAP_EXCESS_MEMORY : MISHAP_EXCESS_NONE);
        mishap_sandbox_use_groups_of("/tmp", false); /* version 1 knows nothing of it */
        assert_int_equal(mishap_sandbox_excess_of(&place), MISHAP_EXCESS_NONE);
    }
    mishap_sandbox_use_groups_of("", false);
    unlink(path);
    rmdir(place.group);
}

static void a_control_group_gets_the_limits_of_the_profile(void **state)
{
    mishap_sandbox_place place = { 0 };
    (void)state;
    if (!(mishap_sandbox_probe()->layers & MISHAP_LAYER_GROUPS))
        skip();
    assert_true(mishap_sandbox_make_group(&profile, &place));
    expect_in_file(place.group, "pids.max", profile.threads);
    int version_2 = mishap_sandbox_open_group(&place); /* which limits memory as well */
    if (version_2 >= 0)
        expect_in_file(place.group, "memory.max", mishap_sandbox_resident(&profile));
    if (version_2 >= 0)
        close(version_2);
    char group[sizeof place.group];
    memcpy(group, place.group, sizeof group);
    mishap_sandbox_remove_group(&place);
    assert_int_equal(access(group, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_has_the_limits_of_its_profile),
        cmocka_unit_test(programs_leave_a_part_of_what_the_user_has),
        cmocka_unit_test(a_program_has_no_rights_left),
        cmocka_unit_test(a_program_has_huge_pages_unless_its_profile_refuses_them),
        cmocka_unit_test(a_device_in_a_readable_folder_is_none),
        cmocka_unit_test(its_own_folders_have_no_programs_and_no_devices),
        cmocka_unit_test(root_is_nobody_special),
        cmocka_unit_test(folders_of_processes_that_were_killed_are_removed),
        cmocka_unit_test(removing_a_folder_follows_no_link),
        cmocka_unit_test(a_folder_is_looked_through_no_further_than_its_limit),
        cmocka_unit_test(the_limit_of_memory_is_what_is_documented),
        cmocka_unit_test(a_group_that_ran_out_says_so),
        cmocka_unit_test(what_it_has_written_is_removed_however_deep),
        cmocka_unit_test(a_control_group_gets_the_limits_of_the_profile),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
