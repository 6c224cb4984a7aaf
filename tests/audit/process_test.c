/* Commands that an audit starts: where they run, what is kept of them, and that hostile ones end
 * within their limits and leave nothing behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/process/process.h"
#include "testing.h"

static mishap_audit_process process;

static void run(mishap_audit_command command, const char *script)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    command.argv = argv;
    if (!command.time_ms)
        command.time_ms = 120000;
    assert_null(mishap_audit_process_run(&command, &process));
    assert_true(process.gone);
    assert_true(process.ended);
}

/* A script that ignores SIGTERM. On a machine that is busy it may not have come so far when its
 * time is over: then it gets more. */
static void run_until_killed(const char *script)
{
    for (int ms = 300;; ms *= 6) {
        run((mishap_audit_command){ .time_ms = ms, .grace_ms = 300 }, script);
        if (process.killed || ms > 60000)
            return;
        mishap_audit_process_close(&process);
    }
}

static int close_process(void **state)
{
    (void)state;
    mishap_audit_process_close(&process);
    return 0;
}

/* What a command has printed, as a C string. */
static const char *printed(mishap_buffer *buffer)
{
    mishap_buffer_put_char(buffer, '\0');
    assert_false(buffer->failed);
    return buffer->data;
}

static void assert_exit(int code)
{
    assert_true(WIFEXITED(process.status));
    assert_int_equal(WEXITSTATUS(process.status), code);
}

/* How many of our temporary folders there are. */
static int temporary_folders(void)
{
    FILE *list = popen("ls -d ${TMPDIR:-/tmp}/mishap-audit-* 2>/dev/null | wc -l", "r");
    int count = -1;
    assert_non_null(list);
    assert_int_equal(fscanf(list, "%d", &count), 1);
    pclose(list);
    return count;
}

/* A number of seconds for sleep that no other process of this machine has: a command may be in a
 * namespace in which its processes have other ids. */
static char mark[32];

/* How many processes have the mark in their command line? */
static int count_marked(void)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    int count = 0;
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        char path[300], words[4096];
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int file = entry->d_name[0] >= '0' && entry->d_name[0] <= '9' ? open(path, O_RDONLY) : -1;
        ssize_t length = file >= 0 ? read(file, words, sizeof words) : -1;
        count += length > 0 && memmem(words, (size_t)length, mark, strlen(mark)) != NULL;
        if (file >= 0)
            close(file);
    }
    closedir(folder);
    return count;
}

static bool any_survives(void)
{
    for (int i = 0; i < 6000; i++) {
        if (!count_marked())
            return false;
        usleep(10000);
    }
    return true;
}

/* Whether wardens may have namespaces, where this process could make them at all. */
static void allow_namespaces(bool allow)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct sets[2];
    assert_int_equal(syscall(SYS_capget, &head, sets), 0);
    uint32_t bit = UINT32_C(1) << CAP_SYS_ADMIN;
    sets[0].effective = allow ? sets[0].effective | (sets[0].permitted & bit)
                              : sets[0].effective & ~bit;
    assert_int_equal(syscall(SYS_capset, &head, sets), 0);
}

static int begin_beside(void **state)
{
    (void)state;
    allow_namespaces(false);
    return 0;
}

static int end_beside(void **state)
{
    (void)state;
    mishap_audit_process_close(&process);
    allow_namespaces(true);
    return 0;
}

/* -- where a command runs ---------------------------------------------------------------------- */

static void outputs_and_the_exit_code_are_kept_apart(void **state)
{
    (void)state;
    run((mishap_audit_command){ 0 }, "echo out; echo err >&2; exit 7");
    assert_exit(7);
    assert_string_equal(printed(&process.out), "out\n");
    assert_string_equal(printed(&process.err), "err\n");
    assert_false(process.overdue || process.flooded || process.killed);
    assert_int_equal(process.survivors, 0);
    assert_int_equal(process.files, 0);
}

static void the_place_is_empty(void **state)
{
    (void)state;
    setenv("MISHAP_TEST_SECRET", "s3cret", 1);
    setenv("LANG", "C.UTF-8", 1);
    run((mishap_audit_command){ 0 },
        "env -u PWD -u OLDPWD -u SHLVL -u _ -u PATH | cut -d= -f1 | sort | tr '\\n' ' '; ls -A . "
        "\"$HOME\" \"$TMPDIR\" "
        "| grep -v : | grep .; cat; test \"$(pwd)\" != \"$HOME\" && echo $LANG $TERM");
    assert_string_equal(printed(&process.out), "HOME LANG TERM TMPDIR C.UTF-8 dumb\n");
    assert_exit(0);
    assert_string_equal(printed(&process.err), "");
}

static void files_are_counted_and_removed(void **state)
{
    char home[256];
    (void)state;
    run((mishap_audit_command){ 0 },
        "mkdir -p ~/.b/c; echo 1 > ~/.b/c/d; echo 2 > z; ln -s / link; echo 3 > $TMPDIR/t; "
        "mkdir -m 0 shut; echo $HOME");
    snprintf(home, sizeof home, "%s", printed(&process.out));
    home[strcspn(home, "\n")] = '\0';
    assert_int_equal(process.files, 3);
    assert_string_equal(process.file, ".b/c/d");
    assert_int_equal(access(home, F_OK), -1);
    assert_int_equal(errno, ENOENT);
}

static void the_working_folder_can_be_kept(void **state)
{
    char here[4096];
    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    run((mishap_audit_command){ .same_folder = true }, "printf %s \"$(pwd -P)\"");
    assert_string_equal(printed(&process.out), here);
}

static void bytes_are_written_to_its_input(void **state)
{
    static char many[300000];
    const char *argv[] = { "cat", NULL };
    (void)state;
    memset(many, 'x', sizeof many);
    assert_null(mishap_audit_process_start(
        &(mishap_audit_command){ .argv = argv, .input = true, .time_ms = 120000 }, &process));
    mishap_audit_process_write(&process, (mishap_text){ "one\n", 4 });
    while (process.out.length < 4 && mishap_audit_process_wait(&process, 1000))
        continue;
    assert_int_equal(process.out.length, 4);
    mishap_audit_process_write(&process, (mishap_text){ many, sizeof many });
    mishap_audit_process_end_input(&process);
    mishap_audit_process_finish(&process);
    assert_int_equal(process.out.length, 4 + sizeof many);
    assert_exit(0);
}

static void a_command_that_cannot_start_is_a_failure(void **state)
{
    static const char *const missing[] = { "mishap-no-such-command", NULL };
    static const char *const path[] = { "/nowhere/at/all", NULL };
    static const char *const folder[] = { "/tmp", NULL };
    static const char *const none[] = { NULL };
    static const struct {
        const char *const *argv;
        const mishap_code *code;
    } cases[] = { { missing, MISHAP_CODE_NOT_FOUND },
                  { path, MISHAP_CODE_NOT_FOUND },
                  { folder, MISHAP_CODE_NOT_AUTHORIZED },
                  { none, MISHAP_CODE_NOT_FOUND } };
    int before = temporary_folders();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap *m = mishap_audit_process_start(&(mishap_audit_command){ .argv = cases[i].argv },
                                               &process);
        assert_non_null(m);
        assert_true(mishap_has_code(m, cases[i].code));
        mishap_free(m);
    }
    assert_int_equal(temporary_folders(), before);
}

/* -- hostile commands -------------------------------------------------------------------------- */

static void a_flood_is_cut_and_ended(void **state)
{
    (void)state;
    run((mishap_audit_command){ 0 }, "yes abc >&2 & exec yes 0123456789");
    assert_true(process.flooded);
    assert_false(process.overdue);
    assert_true(process.out.length == 1 << 20 || process.err.length == 1 << 20);
    assert_true(process.out.length <= 1 << 20 && process.err.length <= 1 << 20);
    assert_true(process.out_bytes + process.err_bytes < 64 << 20);
}

/* Both outputs count together: neither the one nor the other alone is allowed more. */
static void a_flood_of_one_output_is_ended(void **state)
{
    (void)state;
    run((mishap_audit_command){ .time_ms = 40000, .most = 2 << 20 }, "exec yes abc >&2");
    assert_true(process.flooded);
    assert_false(process.overdue);
    assert_int_equal(process.out_bytes, 0);
    mishap_audit_process_close(&process);
    run((mishap_audit_command){ .time_ms = 40000, .most = 2 << 20 },
        "head -c 1500000 /dev/zero; head -c 1500000 /dev/zero >&2; exec sleep 600");
    assert_true(process.flooded);
    assert_false(process.overdue);
}

static void a_command_that_ignores_sigterm_is_killed(void **state)
{
    (void)state;
    run_until_killed("trap '' TERM; echo ready; while :; do sleep 600; done");
    assert_true(process.overdue);
    assert_true(process.killed && !process.unwatched);
    assert_true(WIFSIGNALED(process.status));
    assert_int_equal(WTERMSIG(process.status), SIGKILL);
}

static void a_command_that_obeys_sigterm_is_not_killed(void **state)
{
    const char *argv[] = { "sh", "-c",
                           "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done", NULL };
    (void)state;
    assert_null(mishap_audit_process_start(
        &(mishap_audit_command){ .argv = argv, .time_ms = 120000, .grace_ms = 60000 }, &process));
    while (!process.out.length && mishap_audit_process_wait(&process, 1000))
        continue;
    mishap_audit_process_terminate(&process);
    mishap_audit_process_finish(&process);
    assert_false(process.killed || process.overdue);
    assert_exit(5);
}

static void a_daemon_does_not_survive(void **state)
{
    char script[300];
    (void)state;
    snprintf(script, sizeof script,
             "(setsid sh -c 'trap \"\" TERM HUP; sleep %s & echo begun; exec >/dev/null 2>&1; "
             ": > ~/begun; wait' &) ; while [ ! -e ~/begun ]; do sleep 0.05; done; exit 0",
             mark);
    run((mishap_audit_command){ 0 }, script);
    assert_string_equal(printed(&process.out), "begun\n");
    assert_true(process.survivors >= 1);
    assert_exit(0);
    assert_false(any_survives());
}

static void a_closed_output_is_no_end(void **state)
{
    (void)state;
    run((mishap_audit_command){ 0 }, "exec >&- 2>&-; sleep 0.2; exit 3");
    assert_exit(3);
}

static void output_without_a_reader_ends_a_command(void **state)
{
    (void)state;
    run((mishap_audit_command){ .unread = true }, "exec yes");
    assert_true(WIFSIGNALED(process.status));
    assert_int_equal(WTERMSIG(process.status), SIGPIPE);
}

static void many_files_are_counted_and_removed(void **state)
{
    int before = temporary_folders();
    (void)state;
    run((mishap_audit_command){ 0 },
        "i=0; while [ $i -lt 3000 ]; do : > $HOME/f$i; i=$((i + 1)); done; "
        "a=aaaaaaaaaaaaaaaa; a=$a/$a/$a/$a/$a; a=$a/$a/$a/$a/$a; a=$a/$a/$a/$a; "
        "mkdir -p $a; cd $a; mkdir -p $a; cd $a; mkdir -p $a"); /* 300 folders in each other */
    assert_exit(0);
    assert_int_equal(process.files, 3000);
    assert_string_equal(process.file, "f0");
    assert_int_equal(temporary_folders(), before);
}

static void a_fork_storm_ends(void **state)
{
    (void)state;
    run((mishap_audit_command){ .time_ms = 500, .grace_ms = 200 },
        "i=0; while [ $i -lt 60 ]; do (trap '' TERM; setsid sleep 600) & i=$((i + 1)); done; wait");
    assert_true(process.killed || process.ended);
    assert_true(process.gone);
}

static void nothing_survives_an_audit_that_is_killed(void **state)
{
    int pipes[2];
    char script[200], word[8] = "";
    int before = temporary_folders();
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    snprintf(script, sizeof script, "trap '' TERM HUP; echo begun; while :; do sleep %s; done",
             mark);
    pid_t audit = fork();
    if (audit == 0) {
        const char *argv[] = { "sh", "-c", script, NULL };
        mishap_audit_process other;
        mishap *m = mishap_audit_process_start(&(mishap_audit_command){ .argv = argv }, &other);
        while (!m && !memchr(other.out.data ? other.out.data : "", '\n', other.out.length) &&
               mishap_audit_process_wait(&other, 1000))
            continue;
        (void)!write(pipes[1], other.out.data, other.out.length);
        raise(SIGKILL);
    }
    close(pipes[1]);
    FILE *said = fdopen(pipes[0], "r");
    assert_int_equal(fscanf(said, "%7s", word), 1);
    assert_string_equal(word, "begun");
    waitpid(audit, NULL, 0);
    fclose(said);
    assert_false(any_survives());
    for (int i = 0; i < 6000 && temporary_folders() > before; i++)
        usleep(10000);
    assert_true(temporary_folders() <= before);
}

/* -- what a command does to the audit ---------------------------------------------------------- */

/* The command sends this signal to its parent, and has a daemon. */
static void assert_outlives_nothing(const char *signal)
{
    char script[256];
    int before = temporary_folders();
    snprintf(script, sizeof script,
             "setsid sleep %s >/dev/null 2>&1 & : > $HOME/f; kill -%s $PPID; sleep 0.3; exit 4",
             mark, signal);
    run((mishap_audit_command){ 0 }, script);
    assert_exit(4);
    assert_true(process.survivors >= 1);
    assert_int_equal(process.files, 1);
    assert_false(any_survives());
    assert_int_equal(temporary_folders(), before);
}

static void a_command_that_kills_its_parent_does_not_survive(void **state)
{
    (void)state;
    assert_outlives_nothing("KILL");
}

static void a_command_that_stops_its_parent_does_not_survive(void **state)
{
    (void)state;
    assert_outlives_nothing("STOP");
}

/* … and does not end by itself. */
static void a_command_that_kills_its_parent_has_limits(void **state)
{
    (void)state;
    run_until_killed("trap '' TERM; kill -KILL $PPID; while :; do sleep 600; done");
    assert_true(process.overdue && process.killed);
}

static void a_command_that_stops_its_grandparent_is_waited_for(void **state)
{
    (void)state;
    run((mishap_audit_command){ 0 },
        "kill -STOP $(ps -o ppid= -p $PPID 2>/dev/null || cut -d' ' -f4 /proc/$PPID/stat); exit 6");
    assert_exit(6);
}

/* Without a namespace the command can kill the warden and the deputy: then the audit ends it. */
static void a_command_that_kills_both_its_watchers_does_not_survive(void **state)
{
    char script[400];
    int before = temporary_folders();
    (void)state;
    snprintf(
        script, sizeof script,
        "setsid sleep %s >/dev/null 2>&1 & : > $HOME/f; trap '' TERM; "
        "read a b c d rest < /proc/$PPID/stat; kill -KILL $d $PPID; while :; do sleep %s; done",
        mark, mark);
    run((mishap_audit_command){ 0 }, script);
    assert_true(process.killed && process.unwatched);
    assert_true(WIFSIGNALED(process.status) && WTERMSIG(process.status) == SIGKILL);
    mishap_audit_process_close(&process);
    assert_int_equal(count_marked(), 0);
    assert_int_equal(temporary_folders(), before);
}

/* Does the system allow this process a namespace of processes with a /proc of its own? */
static bool may_have_namespace(void)
{
    int status = 0;
    pid_t above = fork();
    if (above == 0) {
        pid_t first = unshare(CLONE_NEWPID | CLONE_NEWNS) == 0 ? fork() : -1;
        if (first == 0)
            _exit(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
                  mount("proc", "/proc", "proc", 0, NULL) != 0);
        _exit(first < 0 || waitpid(first, &status, 0) != first || status != 0);
    }
    assert_int_equal(waitpid(above, &status, 0), above);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* … and with one it sees neither of them. */
static void in_a_namespace_a_command_sees_only_itself(void **state)
{
    char script[400];
    int before = temporary_folders();
    (void)state;
    run((mishap_audit_command){ 0 }, "echo $PPID; cat /proc/1/comm");
    bool apart = strcmp(printed(&process.out), "1\nmishap-warden\n") == 0;
    assert_int_equal(apart, may_have_namespace());
    if (!apart)
        return;
    mishap_audit_process_close(&process);
    snprintf(script, sizeof script,
             "kill -KILL 1; kill -STOP 1; for p in /proc/[0-9]*; do cat $p/comm; done; "
             "setsid sleep %s >/dev/null 2>&1 & : > $HOME/f; exit 4",
             mark);
    run((mishap_audit_command){ 0 }, script);
    assert_exit(4);
    assert_int_equal(process.files, 1);
    assert_int_equal(process.survivors, 1);
    const char *seen = printed(&process.out);
    assert_int_equal(strncmp(seen, "mishap-warden\n", 14), 0);
    assert_null(strstr(seen, "mishap-deputy"));
    assert_int_equal(count_marked(), 0);
    assert_int_equal(temporary_folders(), before);
}

static void a_folder_that_was_moved_is_removed(void **state)
{
    char victim[] = "/tmp/mishap-victim-XXXXXX", script[256], file[64];
    struct stat status;
    int before = temporary_folders();
    (void)state;
    assert_non_null(mkdtemp(victim));
    assert_int_equal(chmod(victim, 0755), 0);
    snprintf(file, sizeof file, "%s/file", victim);
    fclose(fopen(file, "w"));
    snprintf(script, sizeof script,
             "R=$(dirname $HOME); : > $HOME/f; ln -s %s $R/l; mkdir -m 0 $R/shut; cd /; "
             "mv $R $R.moved; ln -s %s $R; chmod 0 $R.moved",
             victim, victim);
    run((mishap_audit_command){ 0 }, script);
    assert_exit(0);
    assert_int_equal(process.files, 1);
    assert_int_equal(temporary_folders(), before);
    assert_int_equal(stat(victim, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0755);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(victim), 0);
}

static void it_waits_until_a_command_is_idle(void **state)
{
    const char *argv[] = { "sh", "-c",
                           "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; echo idle; read x",
                           NULL };
    (void)state;
    assert_null(mishap_audit_process_start(
        &(mishap_audit_command){ .argv = argv, .input = true, .time_ms = 120000 }, &process));
    assert_true(mishap_audit_process_settle(&process, 60000));
    assert_string_equal(printed(&process.out), "idle\n");
    mishap_audit_process_end_input(&process);
    assert_false(mishap_audit_process_settle(&process, 60000));
}

int main(void)
{
#define CASE(name)   cmocka_unit_test_teardown(name, close_process)
#define BESIDE(name) cmocka_unit_test_setup_teardown(name, begin_beside, end_beside)
    const struct CMUnitTest tests[] = {
        CASE(outputs_and_the_exit_code_are_kept_apart),
        CASE(the_place_is_empty),
        CASE(files_are_counted_and_removed),
        CASE(the_working_folder_can_be_kept),
        CASE(bytes_are_written_to_its_input),
        CASE(a_command_that_cannot_start_is_a_failure),
        CASE(a_flood_is_cut_and_ended),
        CASE(a_flood_of_one_output_is_ended),
        CASE(a_command_that_ignores_sigterm_is_killed),
        CASE(a_command_that_obeys_sigterm_is_not_killed),
        CASE(a_daemon_does_not_survive),
        CASE(a_closed_output_is_no_end),
        CASE(output_without_a_reader_ends_a_command),
        CASE(many_files_are_counted_and_removed),
        CASE(a_fork_storm_ends),
        CASE(nothing_survives_an_audit_that_is_killed),
        BESIDE(a_daemon_does_not_survive),
        BESIDE(nothing_survives_an_audit_that_is_killed),
        BESIDE(a_command_that_kills_its_parent_does_not_survive),
        BESIDE(a_command_that_stops_its_parent_does_not_survive),
        BESIDE(a_command_that_kills_its_parent_has_limits),
        BESIDE(a_command_that_stops_its_grandparent_is_waited_for),
        BESIDE(a_command_that_kills_both_its_watchers_does_not_survive),
        CASE(in_a_namespace_a_command_sees_only_itself),
        CASE(a_folder_that_was_moved_is_removed),
        CASE(it_waits_until_a_command_is_idle),
    };
    /* Other audits may run on this machine: their folders are elsewhere. */
    char folder[] = "/tmp/mishap-process-test-XXXXXX";
    if (!mkdtemp(folder) || setenv("TMPDIR", folder, 1) != 0)
        return 1;
    snprintf(mark, sizeof mark, "6%d.25", (int)getpid());
    int failed = RUN(tests);
    return rmdir(folder) != 0 ? 1 : failed;
}
