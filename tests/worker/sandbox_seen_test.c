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
#include <sys/wait.h>

#include "../unit/testing.h"
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
        { RLIMIT_NPROC, 8, 8 }, /* in a user namespace */
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
        if (expected[i].resource == RLIMIT_NPROC && !(layers & MISHAP_LAYER_USERS))
            continue;
        assert_int_equal(prlimit(run.pid, expected[i].resource, NULL, &limit), 0);
        if (limit.rlim_cur != expected[i].soft || limit.rlim_max != expected[i].hard)
            fail_msg("limit %d is %llu and %llu", (int)expected[i].resource,
                     (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
    }
    stop_waiting(&run);
}

static void expect_status(const char *text, const char *line)
{
    if (!strstr(text, line))
        fail_msg("no line %s in: %s", line, text);
}

static void a_program_has_no_rights_left(void **state)
{
    const unsigned offered = mishap_sandbox_probe()->layers;
    char path[40], text[8192];
    mishap_sandbox *sandbox;
    struct run run;
    (void)state;
    assert_null(mishap_sandbox_prepare_layers(&profile, offered, &sandbox));
    start_waiting(&run, sandbox);
    snprintf(path, sizeof path, "/proc/%d/status", (int)run.pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    expect_status(text, "\nNoNewPrivs:\t1\n");
    if (offered & MISHAP_LAYER_SECCOMP)
        expect_status(text, "\nSeccomp:\t2\n");
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
        expect_in_file(place.group, "memory.max", profile.address_bytes + profile.temporary_bytes);
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
        cmocka_unit_test(a_program_has_no_rights_left),
        cmocka_unit_test(what_it_has_written_is_removed_however_deep),
        cmocka_unit_test(a_control_group_gets_the_limits_of_the_profile),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
