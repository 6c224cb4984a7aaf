/*
 * What programs in the sandbox have in common with everybody else: what the system counts for the
 * whole user or the machine, and memory. With all layers, without namespaces, and without control
 * groups either; if the test runs as root, once more as an ordinary user (it executes itself).
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "testing.h"
#include "sandbox/inside.h"
#include "counters.h"

enum { STOPPED = 0, SUCCEEDED = 10, OWN_SOCKET = 3, DEADLINE_MS = 60000, LOOK_MS = 20 };
enum { MB = 1 << 20, LARGE_MB = 320, NOBODY = 65534, NOT_ENTERED = 99 };

static char folder[] = "/tmp/mishap-shares-XXXXXX";
static char readable_folder[100];
static const char *const readable[] = { MISHAP_SANDBOX_LIBRARIES, readable_folder, NULL };
static mishap_sandbox_profile profile = {
    .readable = readable,
    .temporary_bytes = 4 * MB,
    .memory_bytes = 96 * MB,
    .address_bytes = UINT64_C(1024) * MB,
    .threads = 16,
};

/* -- running programs -------------------------------------------------------------------------- */

struct run {
    mishap_sandbox *sandbox;
    mishap_sandbox_place place;
    mishap_sandbox_watch watch;
    pid_t pid;
    int socket;
    bool unwatched; /* its parent does not look at what it has */
};

static const char *attacker(void)
{
    const char *path = getenv("ATTACKER_PROGRAM");
    assert_non_null(path);
    return path;
}

static const unsigned without[] = { 0, MISHAP_SANDBOX_NAMESPACES,
                                    MISHAP_SANDBOX_NAMESPACES | MISHAP_LAYER_GROUPS };
enum { MODES = sizeof without / sizeof *without };
static const char *const mode_names[] = { "all layers", "no namespaces", "no groups either" };

static void start(struct run *run, unsigned layers, const char *what, const char *name)
{
    const char *program[] = { attacker(), what, name, folder, NULL };
    int ends[2];
    *run = (struct run){ .pid = 0 };
    assert_null(mishap_sandbox_prepare_layers(&profile, layers, &run->sandbox));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    run->pid = mishap_sandbox_fork(run->sandbox, &run->place);
    if (run->pid == 0) {
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        dup2(ends[1], OWN_SOCKET);
        if (ends[1] == OWN_SOCKET)
            fcntl(OWN_SOCKET, F_SETFD, 0);
        close_range(OWN_SOCKET + 1, ~0U, 0); /* of all the others: it may have 64 */
        const char *step = mishap_sandbox_exec(run->sandbox, &run->place, program);
        fprintf(stderr, "# the sandbox cannot be entered: %s: %s\n", step, strerror(errno));
        _exit(NOT_ENTERED);
    }
    assert_true(run->pid > 0);
    close(ends[1]);
    run->socket = ends[0];
}

/* As its parent does it. True: it has too much of something, and was killed. */
static bool look(struct run *run)
{
    if (run->unwatched || !mishap_sandbox_look(run->sandbox, &run->place, run->pid, &run->watch))
        return false;
    kill(run->pid, SIGKILL);
    return true;
}

/* So many bytes of what it says; false: it has ended, or was killed. */
static bool hear(struct run *run, void *bytes, size_t size, bool *killed)
{
    struct pollfd file = { .fd = run->socket, .events = POLLIN };
    for (int waited = 0; waited < DEADLINE_MS; waited += LOOK_MS) {
        if (poll(&file, 1, LOOK_MS) > 0)
            return recv(run->socket, bytes, size, MSG_DONTWAIT) == (ssize_t)size;
        *killed = *killed || look(run);
    }
    fail_msg("it says nothing");
    return false;
}

static int finish(struct run *run)
{
    int status = 0;
    assert_true(run->pid > 0); /* -1 would be everybody */
    kill(run->pid, SIGKILL);
    assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == NOT_ENTERED);
    close(run->socket);
    mishap_sandbox_remove(&run->place);
    mishap_sandbox_release(run->sandbox);
    return status;
}

/* -- another program of the same user ---------------------------------------------------------- */

static bool has_timer(void)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_NONE };
    return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_delete(timer) == 0;
}

static bool has_queued_signal(void)
{
    sigset_t set;
    siginfo_t got;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMAX);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return sigqueue(getpid(), SIGRTMAX, (union sigval){ .sival_int = 5 }) == 0 &&
           sigwaitinfo(&set, &got) == SIGRTMAX && got.si_value.sival_int == 5;
}

static bool has_process(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

static bool has_pipe(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool whole = fcntl(ends[0], F_GETPIPE_SZ) == 65536;
    close(ends[0]);
    close(ends[1]);
    return whole;
}

static bool has_watch(void)
{
    int ends[2], events = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = { .events = EPOLLIN };
    bool done = events >= 0 && pipe2(ends, O_CLOEXEC) == 0 &&
                epoll_ctl(events, EPOLL_CTL_ADD, ends[0], &event) == 0;
    close(events);
    close(ends[0]);
    close(ends[1]);
    return done;
}

static bool has_inotify(void)
{
    int file = inotify_init1(IN_CLOEXEC);
    return file >= 0 && close(file) == 0;
}

static bool has_library(void)
{
    int file = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    bool locked = file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
    close(file);
    return locked;
}

static bool has_file(void)
{
    char path[200];
    snprintf(path, sizeof path, "%s/made", folder);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return file >= 0 && write(file, "x", 1) == 1 && close(file) == 0 && unlink(path) == 0;
}

static const struct {
    const char *what;
    bool (*has)(void);
} needs[] = {
    { "a timer", has_timer },     { "a queued signal", has_queued_signal },
    { "a process", has_process }, { "a pipe of usual size", has_pipe },
    { "a watch", has_watch },     { "a group of inotify", has_inotify },
    { "a file", has_file },       { "a lock of a library's file", has_library },
};

/* -- counters ---------------------------------------------------------------------------------- */

static const struct counter {
    const char *name;
    unsigned most;
    bool plain;
    const char *what, *by;
} counters[] = {
#define ROW(name, most, plain, what, by) { #name, most, plain, what, by },
    SANDBOX_COUNTERS(ROW)
#undef ROW
};
enum { COUNTERS = sizeof counters / sizeof *counters };

/* How much one takes; -1: it had too much and was killed. */
static long taken_by(struct run *run)
{
    unsigned count = 0;
    bool killed = false;
    bool heard = hear(run, &count, sizeof count, &killed);
    run->watch.counted_ns = run->watch.used_ns = 0; /* it was counted a moment ago, perhaps */
    if (heard && !killed && !look(run))
        return count;
    return -1;
}

/* Everybody takes at once, and holds it, while others go about their business: programs outside,
 * with limits that are near, and one more in the sandbox. */
static void nobody_takes_from_others(void **state)
{
    struct rlimit before, little = { 60, 0 };
    struct run running[COUNTERS], honest;
    size_t mode = *(const size_t *)*state;
    unsigned layers = mishap_sandbox_probe()->layers & ~without[mode];
    getrlimit(RLIMIT_SIGPENDING, &before);
    little.rlim_max = before.rlim_max;
    for (size_t i = 0; i < COUNTERS; i++)
        start(&running[i], layers, "take", counters[i].name);
    for (size_t i = 0; i < COUNTERS; i++) {
        long taken = taken_by(&running[i]);
        if (taken > (long)counters[i].most)
            fail_msg("%s: %ld of them could be taken of %s, with %s", counters[i].name, taken,
                     counters[i].what, mode_names[mode]);
        if (taken < 0 && strcmp(counters[i].name, "threads") != 0 &&
            strcmp(counters[i].name, "temporary_files") != 0)
            fail_msg("%s: was killed", counters[i].name);
    }
    setrlimit(RLIMIT_SIGPENDING, &little);
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (!needs[i].has())
            fail_msg("others do not have %s any more: %s, with %s", needs[i].what, strerror(errno),
                     mode_names[mode]);
    setrlimit(RLIMIT_SIGPENDING, &before);
    unsigned count = 0;
    bool killed = false;
    start(&honest, layers, "take", "event_files"); /* an honest program that opens some files */
    assert_true(hear(&honest, &count, sizeof count, &killed) && count > 50 && !killed);
    finish(&honest);
    for (size_t i = 0; i < COUNTERS; i++)
        finish(&running[i]);
}

/* If a program is to have none of a resource, the filter alone prevents it, with any limits; except
 * for terminals, which are files. */
static void the_filter_alone_gives_none(void **state)
{
    (void)state;
    if (!(mishap_sandbox_probe()->layers & MISHAP_LAYER_SECCOMP))
        skip();
    for (size_t i = 0; i < COUNTERS; i++) {
        struct run run;
        if (counters[i].most || strcmp(counters[i].name, "terminals") == 0)
            continue;
        start(&run, MISHAP_LAYER_SECCOMP, "take", counters[i].name);
        long taken = taken_by(&run);
        finish(&run);
        if (taken != 0)
            fail_msg("%s: %ld", counters[i].name, taken);
    }
}

/* What a profile names is there, and nothing else of it. */
static void a_profile_can_have_its_share(void **state)
{
    static const struct {
        unsigned shares;
        const char *name;
        bool had;
    } rows[] = {
        { MISHAP_SHARES_TIMERS, "timers", true },        { MISHAP_SHARES_TIMERS, "pipes", false },
        { MISHAP_SHARES_EVENTS, "pipes", true },         { MISHAP_SHARES_EVENTS, "watches", true },
        { MISHAP_SHARES_EVENTS, "copying_pipes", true }, { MISHAP_SHARES_EVENTS, "timers", false },
        { MISHAP_SHARES_ALL, "queued_signals", false },
    };
    (void)state;
    if (!(mishap_sandbox_probe()->layers & MISHAP_LAYER_SECCOMP))
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run run;
        profile.shares = rows[i].shares;
        start(&run, MISHAP_LAYER_SECCOMP, "take", rows[i].name);
        profile.shares = 0;
        long taken = taken_by(&run);
        finish(&run);
        if (rows[i].had != (taken > 0))
            fail_msg("%s with %u: %ld", rows[i].name, rows[i].shares, taken);
    }
}

/* It is the sandbox that stops it. The parent's look is a part of the sandbox: the memory of many
 * threads, with a sanitizer, is more than the profile gives. */
static void without_a_sandbox_they_are_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNTERS; i++) {
        struct run run;
        if (!counters[i].plain)
            continue;
        start(&run, 0, "take", counters[i].name);
        run.unwatched = true;
        long taken = taken_by(&run);
        int status = finish(&run);
        if (taken <= (long)counters[i].most)
            fail_msg("%s: %ld, and it ended with signal %d", counters[i].name, taken,
                     WTERMSIG(status));
    }
}

/* -- memory ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *what;
} growths[] = {
#define ROW(name, what) { #name, what },
    SANDBOX_GROWTHS(ROW)
#undef ROW
};

static uint64_t number_in(pid_t pid, const char *file, const char *name)
{
    char path[64], text[8192];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *opened = fopen(path, "r");
    size_t length = opened ? fread(text, 1, sizeof text - 1, opened) : 0;
    if (opened)
        fclose(opened);
    text[length] = '\0';
    const char *line = strstr(text, name);
    return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

/* What it has at most, after each of its steps, until it gets no more or is killed. `weighed`: its
 * PSS may be read. */
static uint64_t largest_of(struct run *run, bool weighed, bool *killed)
{
    uint64_t largest = 0;
    char byte;
    while (hear(run, &byte, 1, killed) && !*killed) {
        uint64_t now = number_in(run->pid, "smaps_rollup", "\nPss:") +
                       number_in(run->pid, "status", "\nVmPTE:");
        largest = now > largest ? now : largest;
        run->watch.used_ns = 0; /* with any clock: it has run */
        if (!weighed) {
            run->watch.weighed = UINT64_MAX / 2;
            run->watch.weighed_ns = INT64_MAX / 2;
        }
        *killed = look(run);
        if (!*killed && send(run->socket, "", 1, MSG_NOSIGNAL) != 1)
            break;
    }
    return largest;
}

static void memory_stays_below_its_limit(void **state)
{
    size_t mode = *(const size_t *)*state;
    unsigned layers = mishap_sandbox_probe()->layers & ~without[mode];
    uint64_t most = mishap_sandbox_resident(&profile);
    assert_int_equal(most, profile.memory_bytes + profile.temporary_bytes);
    for (size_t i = 0; i < sizeof growths / sizeof *growths; i++) {
        struct run run;
        bool killed = false;
        start(&run, layers, "grow", growths[i].name);
        uint64_t largest = largest_of(&run, true, &killed);
        int status = finish(&run);
        if (largest > most + most / 10)
            fail_msg("%s: %llu MB of %s, with %s", growths[i].name,
                     (unsigned long long)(largest / MB), growths[i].what, mode_names[mode]);
        if (WIFEXITED(status) && WEXITSTATUS(status) != STOPPED)
            fail_msg("%s: it ended with %d", growths[i].name, WEXITSTATUS(status));
        if (strcmp(growths[i].name, "grow_file") == 0)
            assert_true(killed || layers & MISHAP_LAYER_GROUPS);
    }
}

/* A sandbox below its minimum has no filter: what that would refuse is noticed from outside. Its
 * own memory tells that, and its PSS need not be read. */
static void what_the_filter_would_refuse_is_noticed(void **state)
{
    static const char *const names[] = { "grow_shared", "grow_memfd", "grow_down" };
    uint64_t most = mishap_sandbox_resident(&profile);
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct run run;
        bool killed = false;
        start(&run, MISHAP_LAYER_LIMITS, "grow", names[i]);
        uint64_t largest = largest_of(&run, false, &killed);
        finish(&run);
        if (!killed || largest > most + most / 10)
            fail_msg("%s: %llu MB", names[i], (unsigned long long)(largest / MB));
    }
}

/* Without a limit of addresses nothing else limits them. */
static void page_tables_are_memory(void **state)
{
    uint64_t most = mishap_sandbox_resident(&profile), addresses = profile.address_bytes;
    struct run run;
    bool killed = false;
    (void)state;
    profile.address_bytes = 0;
    start(&run, MISHAP_LAYER_LIMITS, "grow", "grow_tables");
    uint64_t largest = largest_of(&run, false, &killed);
    profile.address_bytes = addresses;
    finish(&run);
    assert_true(killed);
    assert_in_range(largest, most, most + most / 10);
}

/* … and the filter refuses it at the first step, with any limits. */
static void the_filter_alone_refuses_memory_that_no_limit_counts(void **state)
{
    static const char *const names[] = { "grow_shared", "grow_memfd", "grow_down",
                                         "grow_system_v" };
    (void)state;
    if (!(mishap_sandbox_probe()->layers & MISHAP_LAYER_SECCOMP))
        skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct run run;
        bool killed = false;
        char byte;
        start(&run, MISHAP_LAYER_SECCOMP, "grow", names[i]);
        bool grown = hear(&run, &byte, 1, &killed);
        finish(&run);
        if (grown || killed)
            fail_msg("%s is not refused", names[i]);
    }
}

/* One that does not run is not read about. */
static void a_process_that_rests_is_left_alone(void **state)
{
    struct run run;
    unsigned count = 0;
    bool killed = false;
    (void)state;
    start(&run, MISHAP_LAYER_LIMITS, "take", "event_files");
    assert_true(hear(&run, &count, sizeof count, &killed));
    run.watch = (mishap_sandbox_watch){ .used_ns = -1000000000 };
    assert_false(look(&run));
    assert_true(run.watch.resident > 0);
    run.watch.resident = 0;
    assert_false(look(&run));
    assert_false(run.watch.ran);
    assert_int_equal(run.watch.resident, 0);
    finish(&run);
}

/* docs/sandbox.md has both tables, line by line. */
static void the_document_has_the_tables(void **state)
{
    char path[1000], line[200];
    (void)state;
    snprintf(path, sizeof path, "%s/../docs/sandbox.md", getenv("MISHAP_TESTS"));
    char *text = read_file(path, NULL);
    for (size_t i = 0; i < COUNTERS; i++) {
        const char *by = strcmp(counters[i].by, "nothing") == 0 ? "" : counters[i].by;
        snprintf(line, sizeof line, "| %s | %s | %s", counters[i].what, by,
                 counters[i].most ? "" : "none |\n");
        if (!strstr(text, line))
            fail_msg("docs/sandbox.md has no line: %s", line);
    }
    for (size_t i = 0; i < sizeof growths / sizeof *growths; i++) {
        snprintf(line, sizeof line, "\n| %s |\n", growths[i].what);
        if (!strstr(text, line))
            fail_msg("docs/sandbox.md has no line: %s", line);
    }
    free(text);
}

/* -- as an ordinary user ----------------------------------------------------------------------- */

static void an_ordinary_user_sees_the_same(void **state)
{
    int status = 0;
    (void)state;
    if (geteuid() != 0)
        skip();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
            setresuid(NOBODY, NOBODY, NOBODY) != 0)
            _exit(77);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execl("/proc/self/exe", "sandbox_shares_test", "ordinary", NULL);
        _exit(77);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

/* An ordinary user may not be allowed to reach the folder that it was built in, such as root's. */
static void copy_attacker(void)
{
    char path[200];
    snprintf(path, sizeof path, "%s/attacker", folder);
    int from = open(attacker(), O_RDONLY | O_CLOEXEC);
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    ssize_t copied;
    assert_true(from >= 0 && to >= 0);
    while ((copied = sendfile(to, from, NULL, (size_t)16 * MB)) > 0)
        continue;
    assert_int_equal(copied, 0);
    assert_int_equal(fchmod(to, 0755), 0);
    close(from);
    close(to);
    assert_int_equal(setenv("ATTACKER_PROGRAM", path, 1), 0);
}

static int set_up(void **state)
{
    char path[200];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(readable_folder, sizeof readable_folder, "%s/readable", folder);
    assert_int_equal(mkdir(readable_folder, 0755), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    copy_attacker();
    snprintf(path, sizeof path, "%s/large", readable_folder);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(ftruncate(file, (off_t)LARGE_MB * MB), 0);
    close(file);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mishap_sandbox_remove_folder(folder);
    return access(folder, F_OK) == 0;
}

int main(int count, char **words)
{
    static size_t modes[MODES] = { 0, 1, 2 };
    static char names[2 * MODES][80];
    struct CMUnitTest tests[2 * MODES + 9];
    size_t at = 0;
    bool ordinary = count > 1 && strcmp(words[1], "ordinary") == 0;
    for (size_t i = 0; i < MODES; i++) {
        snprintf(names[2 * i], sizeof *names, "nobody_takes_from_others: %s", mode_names[i]);
        snprintf(names[2 * i + 1], sizeof *names, "memory_stays_below_its_limit: %s",
                 mode_names[i]);
        tests[at++] = (struct CMUnitTest){ names[2 * i], nobody_takes_from_others, NULL, NULL,
                                           &modes[i] };
        tests[at++] = (struct CMUnitTest){ names[2 * i + 1], memory_stays_below_its_limit, NULL,
                                           NULL, &modes[i] };
    }
    tests[at++] = (struct CMUnitTest)cmocka_unit_test(the_filter_alone_gives_none);
    tests[at++] = (struct CMUnitTest)cmocka_unit_test(a_profile_can_have_its_share);
    tests[at++] = (struct CMUnitTest)cmocka_unit_test(without_a_sandbox_they_are_taken);
    tests[at++] = (struct CMUnitTest)cmocka_unit_test(what_the_filter_would_refuse_is_noticed);
    tests[at++] = (struct CMUnitTest)cmocka_unit_test(
        the_filter_alone_refuses_memory_that_no_limit_counts);
    tests[at++] = (struct CMUnitTest)cmocka_unit_test(a_process_that_rests_is_left_alone);
    tests[at++] = (struct CMUnitTest)cmocka_unit_test(page_tables_are_memory);
    tests[at++] = (struct CMUnitTest)cmocka_unit_test(the_document_has_the_tables);
    tests[at++] = (struct CMUnitTest)cmocka_unit_test(an_ordinary_user_sees_the_same);
    signal(SIGPIPE, SIG_IGN);
    close_range(OWN_SOCKET, ~0U, CLOSE_RANGE_CLOEXEC);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    if (ordinary) /* without those that need not run twice */
        return _cmocka_run_group_tests("ordinary", tests, 2 * MODES, set_up, tear_down);
    return _cmocka_run_group_tests("tests", tests, at, set_up, tear_down);
}
