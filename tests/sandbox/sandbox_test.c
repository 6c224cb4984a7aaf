/* The sandbox: each layer alone on its rows of sandbox_attempts.h, all together on all of them, and
 * what is left of an honest program. What this machine does not offer is said and left out. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "testing.h"
#include "sandbox/inside.h"
#include "attempts.h"

enum { STOPPED = 0, SUCCEEDED = 10, NOT_HERE = 77, NOT_ENTERED = 99 };
enum { OWN_SOCKET = 3, DEADLINE_MS = 60000, MB = 1 << 20, AT_ONCE = 8 };

static const char *const readable[] = { MISHAP_SANDBOX_LIBRARIES, NULL };
static const mishap_sandbox_profile profile = {
    .readable = readable,
    .temporary_bytes = 4 * MB,
    .memory_bytes = 128 * MB,
    .address_bytes = 256 * MB,
    .cpu_seconds = 1,
    .threads = 16,
};

static const struct attempt {
    const char *name, *layers;
    bool plain;
    const char *what;
} attempts[] = {
#define ROW(name, layers, plain, what) { #name, layers, plain, what },
    SANDBOX_ATTEMPTS(ROW)
};

enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

static const struct {
    char letter;
    mishap_sandbox_layer layer;
    const char *name;
} letters[MISHAP_SANDBOX_LAYERS] = {
    { 'S', MISHAP_LAYER_SECCOMP, "seccomp" },
    { 'L', MISHAP_LAYER_LANDLOCK, "landlock" },
    { 'R', MISHAP_LAYER_LIMITS, "limits" },
    { 'M', MISHAP_LAYER_MOUNTS, "mounts" },
    { 'P', MISHAP_LAYER_PROCESSES, "processes" },
    { 'N', MISHAP_LAYER_NETWORK, "network" },
    { 'I', MISHAP_LAYER_IPC, "ipc" },
    { 'H', MISHAP_LAYER_HOST, "host" },
    { 'U', MISHAP_LAYER_USERS, "users" },
    { 'C', MISHAP_LAYER_PRIVILEGES, "privileges" },
    { 'G', MISHAP_LAYER_GROUPS, "groups" },
};

/* -- what there is to attack --------------------------------------------------------------------
 */

static char folder[] = "/tmp/mishap-attacked-XXXXXX";
static int listening = -1, datagrams = -1, by_path = -1, abstract = -1, shm = -1, msg = -1,
           sem = -1;
static char port[10], pid_text[20], queue[40], most_ids[20];
static struct utsname machine;

static const char *in_folder(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void make_victim(void)
{
    FILE *file = fopen(in_folder("victim"), "w");
    assert_non_null(file);
    fputs("all is as it was", file);
    fclose(file);
    unlink(in_folder("moved"));
    remove(in_folder("made"));
}

/* What a PID namespace limits for itself is a setting of the whole machine on older kernels. */
static void read_most_ids(char *text, size_t size)
{
    int file = open("/proc/sys/kernel/pid_max", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size - 1) : 0;
    text[length > 0 ? length : 0] = '\0';
    if (file >= 0)
        close(file);
}

static bool is_as_it_was(void)
{
    char text[100] = "";
    FILE *file = fopen(in_folder("victim"), "r");
    bool read = file && fgets(text, sizeof text, file);
    if (file)
        fclose(file);
    return read && strcmp(text, "all is as it was") == 0 && access(in_folder("made"), F_OK) != 0 &&
           access(in_folder("moved"), F_OK) != 0;
}

static int listen_at(int family, const void *address, socklen_t size, int type)
{
    int file = socket(family, type | SOCK_CLOEXEC, 0);
    assert_true(file >= 0);
    assert_int_equal(bind(file, address, size), 0);
    if (type == SOCK_STREAM)
        assert_int_equal(listen(file, 1000), 0);
    return file;
}

static void listen_everywhere(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_un path = { .sun_family = AF_UNIX }, name = { .sun_family = AF_UNIX };
    socklen_t size = sizeof at;
    listening = listen_at(AF_INET, &at, sizeof at, SOCK_STREAM);
    getsockname(listening, (struct sockaddr *)&at, &size);
    datagrams = listen_at(AF_INET, &at, sizeof at, SOCK_DGRAM);
    snprintf(port, sizeof port, "%d", ntohs(at.sin_port));
    snprintf(path.sun_path, sizeof path.sun_path, "%s/socket", folder);
    by_path = listen_at(AF_UNIX, &path, sizeof path, SOCK_STREAM);
    int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "mishap-%d", (int)getpid());
    abstract = listen_at(AF_UNIX, &name,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length),
                         SOCK_STREAM);
}

/* -- running it -------------------------------------------------------------------------------- */

struct run {
    pid_t pid;
    int socket;
    const mishap_sandbox *sandbox;
    mishap_sandbox_place place;
};

static const char *attacker(void)
{
    const char *path = getenv("ATTACKER_PROGRAM");
    assert_non_null(path);
    return path;
}

/* A namespace needs a user namespace, but for root; with it is how it is used. */
static unsigned with_users(unsigned layers)
{
    unsigned users = mishap_sandbox_probe()->layers & MISHAP_LAYER_USERS;
    return layers & MISHAP_SANDBOX_NAMESPACES ? layers | users : layers;
}

/* One for each set of layers. */
static const mishap_sandbox *sandbox_of(unsigned layers)
{
    static struct {
        unsigned layers;
        mishap_sandbox *sandbox;
    } prepared[2 * MISHAP_SANDBOX_LAYERS + 4];
    size_t i = 0;
    while (prepared[i].sandbox && prepared[i].layers != layers)
        i++;
    assert_true(i < sizeof prepared / sizeof *prepared);
    prepared[i].layers = layers;
    if (!prepared[i].sandbox)
        assert_null(mishap_sandbox_prepare_layers(&profile, layers, &prepared[i].sandbox));
    return prepared[i].sandbox;
}

static _Noreturn void be_attacker(struct run *run, const char *const *program, int socket)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(socket, OWN_SOCKET);
    if (socket == OWN_SOCKET)
        fcntl(socket, F_SETFD, 0);
    const char *step = mishap_sandbox_exec(run->sandbox, &run->place, program);
    fprintf(stderr, "# the sandbox cannot be entered: %s: %s\n", step, strerror(errno));
    _exit(NOT_ENTERED);
}

static void start(struct run *run, unsigned layers, const char *name)
{
    const char *program[] = { attacker(), name, pid_text, folder, port, machine.nodename, NULL };
    int ends[2];
    if (strcmp(name, "wait") == 0)
        program[2] = NULL;
    run->sandbox = sandbox_of(layers);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    fflush(NULL);
    run->pid = mishap_sandbox_fork(run->sandbox, &run->place);
    if (run->pid == 0)
        be_attacker(run, program, ends[1]);
    assert_true(run->pid > 0);
    close(ends[1]);
    run->socket = ends[0];
}

/* The exit status; STOPPED, too, if the system has killed it. */
static int finish(struct run *run)
{
    struct pollfd end = { .fd = run->socket, .events = POLLRDHUP };
    int status = 0;
    assert_true(run->pid > 0); /* -1 would be everybody */
    if (poll(&end, 1, DEADLINE_MS) == 0)
        kill(run->pid, SIGKILL);
    assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
    close(run->socket);
    mishap_sandbox_remove(&run->place);
    return WIFEXITED(status) ? WEXITSTATUS(status) : STOPPED;
}

static int attempt(unsigned layers, const char *name)
{
    struct run run;
    start(&run, layers, name);
    return finish(&run);
}

/* -- which layers count for a row ---------------------------------------------------------------
 */

static bool is_slow(const struct attempt *attempt)
{
    return strcmp(attempt->name, "take_processor") == 0;
}

/* A PID namespace has a limit of its own from Linux 6.14 on. */
static bool limits_ids(void)
{
    int major = 0, minor = 0;
    char *end;
    major = (int)strtol(machine.release, &end, 10);
    minor = *end == '.' ? (int)strtol(end + 1, NULL, 10) : 0;
    return major > 6 || (major == 6 && minor >= 14);
}

static bool stops(const struct attempt *attempt, size_t letter)
{
    const char *found = strchr(attempt->layers, letters[letter].letter);
    if (!found)
        return false;
    if (letters[letter].layer == MISHAP_LAYER_PROCESSES &&
        strcmp(attempt->name, "take_threads") == 0)
        return limits_ids() && mishap_sandbox_probe()->layers & MISHAP_LAYER_MOUNTS;
    return found[1] < '0' || found[1] > '9' || mishap_sandbox_landlock_version() >= found[1] - '0';
}

static unsigned stopping(const struct attempt *attempt)
{
    unsigned layers = 0;
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++)
        layers |= stops(attempt, i) ? letters[i].layer : 0;
    return layers;
}

/* -- the tests --------------------------------------------------------------------------------- */

/* Attempts that run at once. */
struct batch {
    const char *by;
    size_t count;
    struct {
        const struct attempt *row;
        struct run run;
    } running[AT_ONCE];
};

static void finish_all(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct attempt *row = batch->running[i].row;
        int outcome = finish(&batch->running[i].run);
        if (outcome != STOPPED && outcome != NOT_HERE)
            fail_msg("%s: an attempt to %s ended with %d: %s", row->name, row->what, outcome,
                     batch->by);
        if (!is_as_it_was())
            fail_msg("%s or one beside it: the victim has changed: %s", row->name, batch->by);
    }
    batch->count = 0;
}

static void expect_stopped(struct batch *batch, const struct attempt *row, unsigned layers)
{
    if (batch->count == AT_ONCE)
        finish_all(batch);
    batch->running[batch->count].row = row;
    start(&batch->running[batch->count++].run, layers, row->name);
}

static void a_layer_alone_stops_its_rows(void **state)
{
    size_t letter = *(const size_t *)*state;
    struct batch batch = { .by = letters[letter].name };
    unsigned layer = letters[letter].layer;
    unsigned help = layer == MISHAP_LAYER_PROCESSES ? MISHAP_LAYER_MOUNTS : 0;
    size_t count = 0;
    if (!(mishap_sandbox_probe()->layers & layer)) {
        print_message("# this machine does not offer: %s\n", letters[letter].name);
        skip();
    }
    for (size_t i = 0; i < ATTEMPTS; i++)
        if (stops(&attempts[i], letter) && !is_slow(&attempts[i])) {
            unsigned others = strcmp(attempts[i].name, "take_threads") == 0 ? help : 0;
            expect_stopped(&batch, &attempts[i], with_users(layer | others));
            count++;
        }
    finish_all(&batch);
    assert_true(count > 0);
}

static void all_layers_together_stop_all_rows(void **state)
{
    unsigned layers = mishap_sandbox_probe()->layers;
    struct batch batch = { .by = "all together" };
    (void)state;
    for (size_t i = 0; i < ATTEMPTS; i++) {
        if (strcmp(attempts[i].layers, "*") != 0 && !(stopping(&attempts[i]) & layers))
            print_message("# nothing on this machine stops: %s\n", attempts[i].name);
        else if (!is_slow(&attempts[i]))
            expect_stopped(&batch, &attempts[i], layers);
    }
    finish_all(&batch);
}

/* They take seconds, and have run since the beginning, beside all other tests. */
static struct run alone, together;

static void start_slow_ones(void)
{
    if (!(mishap_sandbox_probe()->layers & MISHAP_LAYER_LIMITS))
        return;
    start(&alone, MISHAP_LAYER_LIMITS, "take_processor");
    start(&together, mishap_sandbox_probe()->layers, "take_processor");
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(uname(&machine), 0);
    read_most_ids(most_ids, sizeof most_ids);
    make_victim();
    listen_everywhere();
    snprintf(pid_text, sizeof pid_text, "%d", (int)getpid());
    snprintf(queue, sizeof queue, "/mishap-%d", (int)getpid());
    shm = shmget(getpid(), 4096, IPC_CREAT | 0600);
    msg = msgget(getpid(), IPC_CREAT | 0600);
    sem = semget(getpid(), 1, IPC_CREAT | 0600);
    mq_open(queue, O_RDWR | O_CREAT | O_CLOEXEC, 0600, NULL);
    start_slow_ones();
    return 0;
}

static void the_machine_is_as_it_was(void **state)
{
    char ids[20];
    struct utsname now;
    (void)state;
    read_most_ids(ids, sizeof ids);
    assert_string_equal(ids, most_ids);
    assert_int_equal(uname(&now), 0);
    assert_string_equal(now.nodename, machine.nodename);
    assert_true(is_as_it_was());
}

static int tear_down(void **state)
{
    (void)state;
    shmctl(shm, IPC_RMID, NULL);
    msgctl(msg, IPC_RMID, NULL);
    semctl(sem, 0, IPC_RMID);
    mq_unlink(queue);
    static const char *const names[] = { "victim", "socket", "made", "moved" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(in_folder(names[i]));
    return rmdir(folder);
}

static void processor_time_is_limited(void **state)
{
    (void)state;
    if (!alone.pid)
        skip();
    int first = finish(&alone), second = finish(&together);
    assert_int_equal(first, STOPPED);
    assert_int_equal(second, STOPPED);
}

/* Without a sandbox most attempts succeed: it is the sandbox that stops them. */
static void attempts_are_real(void **state)
{
    size_t succeeded = 0, expected = 0;
    (void)state;
    for (size_t i = 0; i < ATTEMPTS; i++) {
        if (!attempts[i].plain)
            continue;
        expected++;
        if (attempt(0, attempts[i].name) == SUCCEEDED)
            succeeded++;
        else
            print_message("# does not work on this machine anyway: %s\n", attempts[i].name);
        make_victim();
    }
    assert_true(expected >= 60);
    assert_true(succeeded >= expected / 2);
}

static void an_honest_program_works(void **state)
{
    unsigned offered = mishap_sandbox_probe()->layers;
    (void)state;
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++)
        if (offered & letters[i].layer)
            assert_int_equal(attempt(with_users(letters[i].layer), "work"), 0);
    assert_int_equal(attempt(offered, "work"), 0);
    assert_int_equal(attempt(0, "work"), 0);
}

/* The parent is a process between the test and the sandbox. */
static void it_dies_with_its_parent(void **state)
{
    int ends[2], status;
    char byte;
    (void)state;
    mishap_sandbox_probe();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        struct run run;
        const char *program[] = { attacker(), "wait", NULL };
        run.sandbox = sandbox_of(mishap_sandbox_probe()->layers & ~(unsigned)MISHAP_LAYER_GROUPS);
        run.pid = mishap_sandbox_fork(run.sandbox, &run.place);
        if (run.pid == 0)
            be_attacker(&run, program, ends[1]);
        _exit(run.pid < 0);
    }
    close(ends[1]);
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_int_equal(status, 0);
    struct pollfd end = { .fd = ends[0], .events = POLLIN };
    assert_int_equal(poll(&end, 1, DEADLINE_MS), 1);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

static void nothing_is_left_of_it(void **state)
{
    const unsigned tries[] = { 0, mishap_sandbox_probe()->layers };
    struct stat status;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct run run;
        start(&run, tries[i], "fill_file");
        mishap_sandbox_place place = run.place;
        if (tries[i] & MISHAP_LAYER_MOUNTS)
            assert_string_equal(place.folder, "");
        else
            assert_int_equal(stat(place.folder, &status), 0);
        finish(&run);
        assert_string_equal(run.place.folder, "");
        if (place.folder[0])
            assert_int_equal(stat(place.folder, &status), -1);
        if (place.group[0])
            assert_int_equal(stat(place.group, &status), -1);
    }
}

static mishap_sandbox_report report_without(unsigned missing)
{
    mishap_sandbox_report report = *mishap_sandbox_probe();
    report.missing = missing;
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++)
        if (report.offers[i].layer & missing) {
            report.offers[i].step = "clone";
            report.offers[i].error = EPERM;
        }
    return report;
}

static void below_the_minimum_it_is_refused_unless_weak(void **state)
{
    mishap_sandbox_report whole = report_without(0);
    mishap_sandbox_report less = report_without(MISHAP_LAYER_LANDLOCK | MISHAP_LAYER_MOUNTS);
    (void)state;
    assert_null(mishap_sandbox_check_report(&whole, MISHAP_SANDBOX_STRICT));
    assert_null(mishap_sandbox_check_report(&less, MISHAP_SANDBOX_WEAK));
    mishap *m = mishap_sandbox_check_report(&less, MISHAP_SANDBOX_STRICT);
    assert_non_null(m);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_NOT_CONFIGURED);
    assert_string_equal(mishap_told(m)->cause.data,
                        "landlock: clone: Operation not permitted (EPERM); "
                        "mounts: clone: Operation not permitted (EPERM)");
    assert_true(mishap_told(m)->suggestion.length > 0);
    mishap_free(m);
}

static void a_group_without_limits_is_none(void **state)
{
    char above[] = "/tmp/mishap-groups-XXXXXX", path[400];
    mishap_sandbox_place place = { 0 };
    (void)state;
    assert_non_null(mkdtemp(above));
    mishap_sandbox_use_groups_of(above, true);
    /* In a folder that is no control group there are no files to write to. */
    assert_false(mishap_sandbox_make_group(&profile, &place));
    assert_string_equal(place.group, "");
    mishap_sandbox_use_groups_of("", false);
    snprintf(path, sizeof path, "%s", above);
    assert_int_equal(rmdir(path), 0);
}

/* A group of version 2 that has no controllers will do: what counts is who is in it. */
static bool make_empty_group(mishap_sandbox_place *place)
{
    static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
    char path[100];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/cgroup.procs", roots[i]);
        snprintf(place->group, sizeof place->group, "%s/mishap-forked-%d", roots[i], (int)getpid());
        if (access(path, W_OK) == 0 && mkdir(place->group, 0755) == 0)
            return true;
    }
    return false;
}

/* To be moved into one takes tens of milliseconds. */
static void a_process_is_forked_into_a_control_group_of_version_2(void **state)
{
    mishap_sandbox_place place = { 0 };
    int status = 0;
    (void)state;
    if (!make_empty_group(&place))
        skip();
    mishap_sandbox_use_groups_of("/sys/fs/cgroup", true);
    int group = mishap_sandbox_open_group(&place);
    pid_t pid = mishap_sandbox_clone(0, group);
    if (pid == 0) {
        char text[4096] = "";
        int file = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
        bool there = read(file, text, sizeof text - 1) > 0 &&
                     strstr(text, strrchr(place.group, '/'));
        mishap_sandbox_use_groups_of("/nowhere", true);
        _exit(there && mishap_sandbox_enter_group(&place) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(group);
    mishap_sandbox_remove_group(&place);
    mishap_sandbox_use_groups_of("", false);
    assert_true(group >= 0);
    assert_int_equal(status, 0);
}

/* docs/sandbox.md has the table, line by line. */
static void the_document_has_the_table(void **state)
{
    char path[1000], line[400];
    (void)state;
    snprintf(path, sizeof path, "%s/../docs/sandbox.md", getenv("MISHAP_TESTS"));
    char *text = read_file(path, NULL);
    for (size_t i = 0; i < ATTEMPTS; i++) {
        size_t length = (size_t)snprintf(line, sizeof line, "| %s |", attempts[i].what);
        for (size_t j = 0; j < MISHAP_SANDBOX_LAYERS; j++) {
            const char *found = strchr(attempts[i].layers, letters[j].letter);
            const char *version = found && found[1] >= '0' && found[1] <= '9' ? found + 1 : "";
            if (found)
                length += (size_t)snprintf(line + length, sizeof line - length, "%s%s%s%.1s",
                                           line[length - 1] == '|' ? " " : ", ", letters[j].name,
                                           *version ? " " : "", version);
        }
        snprintf(line + length, sizeof line - length, "%s |\n",
                 attempts[i].layers[0] == '*' ? " always" : "");
        if (!strstr(text, line))
            fail_msg("docs/sandbox.md has no line: %s", line);
    }
    free(text);
}

/* Is a temporary folder made below this one? */
static bool is_used_for_temporary_files(const char *above)
{
    mishap_sandbox_place place;
    setenv("TMPDIR", above, 1);
    assert_true(mishap_sandbox_make_folder(&place));
    assert_int_equal(rmdir(place.folder), 0);
    return strncmp(place.folder, above, strlen(above)) == 0;
}

static void a_folder_that_others_can_change_has_no_temporary_files(void **state)
{
    enum { NOBODY = 65534 };
    static const struct {
        mode_t mode;
        bool used;
    } modes[] = {
        { 0700, true }, { 0755, true }, { 0775, false }, { 0777, false }, { 01777, true }
    };
    char above[] = "/tmp/mishap-tests-XXXXXX";
    const char *before = getenv("TMPDIR");
    char *kept = before ? strdup(before) : NULL;
    (void)state;
    assert_non_null(mkdtemp(above));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(above, modes[i].mode), 0);
        assert_int_equal(is_used_for_temporary_files(above), modes[i].used);
    }
    chmod(above, 0755);
    if (chown(above, NOBODY, (gid_t)-1) == 0)
        assert_false(is_used_for_temporary_files(above));
    assert_false(is_used_for_temporary_files("tmp")); /* from the folder that a server runs in */
    rmdir(above);
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
}

int main(void)
{
    static size_t numbers[MISHAP_SANDBOX_LAYERS];
    static char names[MISHAP_SANDBOX_LAYERS][40];
    struct CMUnitTest tests[MISHAP_SANDBOX_LAYERS + 12] = { 0 };
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(an_honest_program_works),
        cmocka_unit_test(all_layers_together_stop_all_rows),
        cmocka_unit_test(attempts_are_real),
        cmocka_unit_test(it_dies_with_its_parent),
        cmocka_unit_test(nothing_is_left_of_it),
        cmocka_unit_test(below_the_minimum_it_is_refused_unless_weak),
        cmocka_unit_test(a_group_without_limits_is_none),
        cmocka_unit_test(a_process_is_forked_into_a_control_group_of_version_2),
        cmocka_unit_test(the_document_has_the_table),
        cmocka_unit_test(a_folder_that_others_can_change_has_no_temporary_files),
    };
    const size_t count = sizeof others / sizeof *others;
    memcpy(tests, others, sizeof others);
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++) {
        numbers[i] = i;
        snprintf(names[i], sizeof names[i], "%s_alone_stops_its_rows", letters[i].name);
        tests[count + i] = (struct CMUnitTest){ names[i], a_layer_alone_stops_its_rows, NULL, NULL,
                                                &numbers[i] };
    }
    tests[MISHAP_SANDBOX_LAYERS + count] = (struct CMUnitTest)cmocka_unit_test(
        processor_time_is_limited);
    tests[MISHAP_SANDBOX_LAYERS + count + 1] = (struct CMUnitTest)cmocka_unit_test(
        the_machine_is_as_it_was);
    signal(SIGPIPE, SIG_IGN);
    close_range(OWN_SOCKET, ~0U, CLOSE_RANGE_CLOEXEC); /* what this program was started with */
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
