/* src/incident: the log file of a program. */
#include "testing.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "incident/file.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "worker/spawn/children.h"

#define ID "0192f7a0-0000-7000-8000-000000000000"

/* -- a folder for each test -------------------------------------------------------------------- */

static char folder[64], log_file[128];

static int enter_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/mishap-incident-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(log_file, sizeof log_file, "%s/deep/er/sample.log", folder);
    setenv("SAMPLE_LOG", log_file, 1);
    return 0;
}

static int leave_folder(void **state)
{
    (void)state;
    unsetenv("SAMPLE_LOG");
    return remove_tree(folder);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

static void record(mishap *failure, const mishap_secrets *secrets)
{
    mishap_incident_record(&(mishap_incident_entry){ .program = "sample",
                                                     .operation = "users create",
                                                     .id = ID,
                                                     .failure = failure,
                                                     .secrets = secrets });
    mishap_free(failure);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* The next line, ended where its line break was; NULL at the end. A log is long, and to a sanitizer
 * that looks at whole strings each search in it would be as long as the rest. */
static char *next_line(char **rest, char *end)
{
    char *line = *rest, *line_end = memchr(line, '\n', (size_t)(end - line));
    if (line == end)
        return NULL;
    assert_non_null(line_end);
    *line_end = '\0';
    *rest = line_end + 1;
    return line;
}

/* How many entries a log has; each line of it is the first of one, or further in. */
static size_t count_entries(const char *path)
{
    size_t length, entries = 0;
    char *text = read_file(path, &length), *rest = text;
    for (const char *line; (line = next_line(&rest, text + length));) {
        bool first = strlen(line) > 23 && strncmp(line, "20", 2) == 0 && line[10] == 'T' &&
                     line[23] == 'Z';
        entries += first;
        if (!first && strncmp(line, "  ", 2) != 0)
            fail_msg("neither the start of an entry nor further in: %s", line);
    }
    free(text);
    return entries;
}

/* -- entries ----------------------------------------------------------------------------------- */

static void an_entry_has_its_time_id_program_operation_and_account(void **state)
{
    (void)state;
    size_t length;
    record(mishap_note(mishap_raise(INTERNAL_ERROR, "The disk is full."), "disk", "sda1"), NULL);
    assert_int_equal(count_entries(log_file), 1);
    char *text = read_file(log_file, &length);
    assert_ptr_equal(strstr(text, "Z " ID " sample users create\n  INTERNAL_ERROR: "), text + 23);
    assert_non_null(strstr(text, "\n    in detail: The disk is full.\n"));
    assert_non_null(strstr(text, "\n    noted disk = \"sda1\"\n"));
    assert_non_null(strstr(text, "\n    native stack:\n"));
    free(text);
    struct stat status;
    assert_int_equal(stat(log_file, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600); /* readable by no other user */
}

static void an_operation_need_not_be_known(void **state)
{
    (void)state;
    size_t length;
    mishap *failure = mishap_raise(INTERNAL_ERROR, "It failed.");
    mishap_incident_record(
        &(mishap_incident_entry){ .program = "sample", .id = ID, .failure = failure });
    mishap_free(failure);
    char *text = read_file(log_file, &length);
    assert_non_null(strstr(text, ID " sample\n"));
    free(text);
}

static void no_text_can_pass_itself_off_as_an_entry(void **state)
{
    (void)state;
    size_t length;
    mishap *failure = mishap_raise(INTERNAL_ERROR,
                                   "a\n2026-02-09T10:20:30.123Z " ID " sample\n\033[2J\xC2\x9B\r");
    mishap_incident_record(&(mishap_incident_entry){ .program = "sample",
                                                     .operation = "x\n2026-02-09T10:20:30.123Z\033",
                                                     .id = ID,
                                                     .failure = failure });
    mishap_free(failure);
    assert_int_equal(count_entries(log_file), 1);
    char *text = read_file(log_file, &length);
    assert_non_null(strstr(text, " sample x?2026-02-09T10:20:30.123Z?\n"));
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\r'));
    assert_null(strstr(text, "\xC2\x9B"));
    free(text);
}

static void secrets_are_not_in_the_log(void **state)
{
    (void)state;
    size_t length;
    mishap_secret room[2];
    mishap_secrets secrets = { .texts = room };
    mishap_secrets_add_text(&secrets, T("hunter2"));
    mishap_secrets_add_text(&secrets, T("say \"friend\""));
    mishap_secrets_sort(&secrets);
    mishap *failure = mishap_raise(INTERNAL_ERROR, "It was hunter2 or say \"friend\".");
    record(mishap_note(mishap_note(failure, "k", "hunter2"), "q", "say \"friend\""), &secrets);
    char *text = read_file(log_file, &length);
    assert_null(strstr(text, "hunter2"));
    assert_null(strstr(text, "friend"));
    assert_non_null(strstr(text, "It was [redacted] or [redacted]."));
    assert_non_null(strstr(text, "noted q = \"[redacted]\""));
    free(text);
}

/* -- where it goes ----------------------------------------------------------------------------- */

static void what_is_only_the_callers_mistake_leaves_no_trace(void **state)
{
    (void)state;
    record(mishap_field_required(mishap_raise(VALIDATION_ERROR, "It is wrong."), "name"), NULL);
    record(mishap_raise(BAD_REQUEST, "It is no JSON."), NULL);
    assert_false(exists(log_file));
    record(mishap_raise(NOT_FOUND, "There is no user 7."), NULL);
    assert_int_equal(count_entries(log_file), 1);
}

/* What stderr gets meanwhile goes to a file. */
static int real_stderr;
static char error_file[100];

static void catch_stderr(void)
{
    snprintf(error_file, sizeof error_file, "%s/stderr", folder);
    int file = open(error_file, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC, 0600);
    real_stderr = dup(STDERR_FILENO);
    assert_true(real_stderr >= 0 && file >= 0);
    dup2(file, STDERR_FILENO);
    close(file);
}

static char *caught_stderr(size_t *length)
{
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    return read_file(error_file, length);
}

static void stderr_gets_the_same_if_it_is_asked_for(void **state)
{
    (void)state;
    size_t length, error_length;
    mishap *failures[] = { mishap_raise(INTERNAL_ERROR, "It failed."),
                           mishap_raise(VALIDATION_ERROR, "It is wrong.") };
    catch_stderr();
    for (int i = 0; i < 2; i++)
        mishap_incident_record(&(mishap_incident_entry){
            .program = "sample", .id = ID, .failure = failures[i], .to_stderr = true });
    char *error = caught_stderr(&error_length), *text = read_file(log_file, &length);
    assert_int_equal(count_entries(log_file), 1);
    assert_int_equal(count_entries(error_file), 2);
    assert_memory_equal(text, error, length);
    assert_non_null(strstr(error + length, "It is wrong."));
    free(text);
    free(error);
    mishap_free(failures[0]);
    mishap_free(failures[1]);
}

static void an_incident_that_the_log_cannot_take_goes_to_stderr(void **state)
{
    (void)state;
    static const struct {
        const char *path; /* NULL: there is none */
        bool incident, asked;
        const char *why; /* NULL: nothing goes to stderr */
    } cases[] = {
        { "/dev/full", true, false, "  The log /dev/full cannot be written: No space left on" },
        { "/dev/null/x", true, false, "  The log /dev/null/x cannot be written: Not a directory" },
        { "/dev/null/x", true, true, "  The log /dev/null/x cannot be written: Not a directory" },
        { "/dev/null/x", false, true, "  The log /dev/null/x cannot be written: Not a directory" },
        { NULL, true, false, "  There is no place for a log.\n" },
        { "/dev/null/x", false, false, NULL },
        { "", true, false, NULL }, /* none is wanted */
    };
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    unsetenv("HOME");
    unsetenv("XDG_STATE_HOME");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length;
        mishap *failure = cases[i].incident ? mishap_raise(INTERNAL_ERROR, "It failed.")
                                            : mishap_raise(NOT_FOUND, "It failed.");
        if (cases[i].path)
            setenv("SAMPLE_LOG", cases[i].path, 1);
        else
            unsetenv("SAMPLE_LOG");
        catch_stderr();
        bool kept = mishap_incident_record(&(mishap_incident_entry){
            .program = "sample", .id = ID, .failure = failure, .to_stderr = cases[i].asked });
        char *error = caught_stderr(&length);
        assert_false(kept);
        assert_int_equal(count_entries(error_file), cases[i].why ? 1 : 0);
        if (cases[i].why) {
            assert_non_null(strstr(error, "It failed."));
            assert_non_null(strstr(error, cases[i].why));
        }
        free(error);
        mishap_free(failure);
    }
    if (home)
        setenv("HOME", home, 1);
    free(home);
}

static void a_log_that_cannot_be_written_is_announced(void **state)
{
    (void)state;
    static const struct {
        const char *path, *line;
    } cases[] = {
        { "/dev/null/x", "sample: The log /dev/null/x cannot be written: Not a directory (ENOTDIR)."
                         " What belongs there goes to standard error.\n" },
        { "", "" },
        { log_file, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length;
        setenv("SAMPLE_LOG", cases[i].path, 1);
        catch_stderr();
        assert_null(mishap_logs_begin(&(mishap_logs_plan){ .program = "sample" }));
        mishap_logs_end();
        char *error = caught_stderr(&length);
        assert_string_equal(error, cases[i].line);
        free(error);
    }
    assert_int_equal(count_entries(log_file), 0);
}

/* In a server another process looks up names, for the log and for stderr. What a caller sent cannot
 * pass for a stack that has none yet. */
static __attribute__((noinline)) mishap *raise_in_server(const char *words)
{
    mishap *m = mishap_raise(INTERNAL_ERROR, "%s", words);
    return mishap_note(m, "words", words);
}

static void the_process_that_writes_the_log_names_functions(void **state)
{
    (void)state;
    size_t length;
    bool libdw = dlopen("libdw.so.1", RTLD_LAZY) != NULL;
    catch_stderr();
    assert_null(mishap_logs_begin(&(mishap_logs_plan){ .program = "sample" }));
    mishap *m = raise_in_server("forged\n\x01"
                                "401000\nforged");
    mishap_incident_record(&(mishap_incident_entry){
        .program = "sample", .id = "id-1", .failure = m, .to_stderr = true });
    mishap_logs_end();
    char *texts[] = { caught_stderr(&length), read_file(log_file, &length) };
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(strstr(texts[i], "\n  INTERNAL_ERROR: "));
        assert_non_null(strstr(texts[i], "\n  ?401000\n  forged\n"));
        assert_null(strchr(texts[i], '\x01'));
        assert_null(strchr(texts[i], '\x02'));
        assert_non_null(strstr(texts[i], "\n    native stack:\n      #0 "));
        if (libdw)
            assert_non_null(strstr(texts[i], "\n      #0 raise_in_server+0x"));
        free(texts[i]);
    }
    mishap_free(m);
}

static void the_path_is_given_or_in_the_state_folder(void **state)
{
    (void)state;
    char path[200];
    setenv("XDG_STATE_HOME", "/state", 1);
    setenv("HOME", "/home/ada", 1);
    setenv("MY_TOOL_2_LOG", "/var/log/mine", 1);
    assert_true(mishap_incident_log_path("my-tool.2", path, sizeof path));
    assert_string_equal(path, "/var/log/mine");
    assert_false(mishap_incident_log_path("my-tool.2", path, strlen("/var/log/mine")));
    setenv("MY_TOOL_2_LOG", "", 1);
    assert_false(mishap_incident_log_path("my-tool.2", path, sizeof path));
    unsetenv("MY_TOOL_2_LOG");
    assert_true(mishap_incident_log_path("my-tool.2", path, sizeof path));
    assert_string_equal(path, "/state/my-tool.2/my-tool.2.log");
    setenv("XDG_STATE_HOME", "state", 1); /* to be ignored, for it is not absolute */
    assert_true(mishap_incident_log_path("my-tool.2", path, sizeof path));
    assert_string_equal(path, "/home/ada/.local/state/my-tool.2/my-tool.2.log");
    unsetenv("XDG_STATE_HOME");
    assert_true(mishap_incident_log_path("my-tool.2", path, sizeof path));
    assert_string_equal(path, "/home/ada/.local/state/my-tool.2/my-tool.2.log");
    unsetenv("HOME");
    assert_false(mishap_incident_log_path("my-tool.2", path, sizeof path));
}

static void an_empty_path_means_no_log(void **state)
{
    (void)state;
    setenv("SAMPLE_LOG", "", 1);
    record(mishap_raise(INTERNAL_ERROR, "It failed."), NULL);
    assert_false(exists(log_file));
}

/* -- the file ---------------------------------------------------------------------------------- */

static void another_path_holds_at_once(void **state)
{
    (void)state;
    char other[100];
    snprintf(other, sizeof other, "%s/other.log", folder);
    record(mishap_raise(INTERNAL_ERROR, "It failed."), NULL);
    setenv("SAMPLE_LOG", other, 1);
    record(mishap_raise(INTERNAL_ERROR, "It failed."), NULL);
    assert_int_equal(count_entries(log_file), 1);
    assert_int_equal(count_entries(other), 1);
}

static void a_file_that_was_moved_away_is_made_anew_within_moments(void **state)
{
    (void)state;
    char moved[140];
    snprintf(moved, sizeof moved, "%s.1", log_file);
    record(mishap_raise(INTERNAL_ERROR, "It failed."), NULL);
    assert_int_equal(rename(log_file, moved), 0);
    usleep(1100000);
    record(mishap_raise(INTERNAL_ERROR, "It failed."), NULL);
    record(mishap_raise(INTERNAL_ERROR, "It failed."), NULL);
    assert_int_equal(count_entries(moved), 1);
    assert_int_equal(count_entries(log_file), 2);
}

enum { STRANGER = 12345 }; /* a user id that no user has */

/* Open a log at a path, and write a line into it. 0, or the errno. */
static int write_at(const char *path)
{
    int file = mishap_log_open(path, 0600);
    if (file < 0)
        return errno;
    assert_int_equal(write(file, "line\n", 5), 5);
    close(file);
    return 0;
}

static void make_link(const char *target, const char *path, uid_t owner)
{
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
    if (owner != geteuid())
        assert_int_equal(lchown(path, owner, (gid_t)-1), 0);
}

/* The link of this user or of root is what an operator has set up. */
static void a_link_of_ones_own_is_followed(void **state)
{
    (void)state;
    char link[128], other[128], real[128], loop[128];
    snprintf(link, sizeof link, "%s/log", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(real, sizeof real, "%s/real", folder);
    snprintf(loop, sizeof loop, "%s/loop", folder);
    make_link("real", link, geteuid()); /* relative, and to a file that is made */
    assert_int_equal(write_at(link), 0);
    make_link(link, other, geteuid()); /* a link to a link */
    assert_int_equal(write_at(other), 0);
    char *text = read_file(real, NULL);
    assert_string_equal(text, "line\nline\n");
    free(text);
    make_link("loop", loop, geteuid());
    assert_int_equal(write_at(loop), ELOOP);
    make_link("nowhere/file", link, geteuid());
    assert_int_equal(write_at(link), ENOENT);
    char longest[PATH_MAX + 10];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(write_at(longest), ENAMETOOLONG);
}

static void a_link_of_somebody_else_is_not_followed(void **state)
{
    (void)state;
    char link[128], own[128], real[128];
    if (geteuid() != 0)
        skip(); /* only root can make what belongs to others */
    snprintf(link, sizeof link, "%s/log", folder);
    snprintf(own, sizeof own, "%s/own", folder);
    snprintf(real, sizeof real, "%s/real", folder);
    make_link(real, link, STRANGER);
    assert_int_equal(write_at(link), ELOOP);
    make_link(link, own, 0); /* nor behind one of our own */
    assert_int_equal(write_at(own), ELOOP);
    assert_false(exists(real));
    /* In the log of a program, too: at the start, and in the place of a file that is open. */
    size_t length;
    catch_stderr();
    setenv("SAMPLE_LOG", link, 1);
    record(mishap_raise(INTERNAL_ERROR, "One."), NULL);
    char *said = caught_stderr(&length);
    assert_non_null(memmem(said, length, "ELOOP", 5));
    free(said);
    assert_false(exists(real));
    setenv("SAMPLE_LOG", own, 1);
    unlink(own);
    record(mishap_raise(INTERNAL_ERROR, "Two."), NULL);
    assert_int_equal(count_entries(own), 1);
    make_link(real, own, STRANGER);
    usleep(1100000); /* it looks once a second */
    catch_stderr();
    record(mishap_raise(INTERNAL_ERROR, "Three."), NULL);
    free(caught_stderr(&length));
    assert_false(exists(real));
}

/* /dev/stderr leads to a descriptor by way of /proc. */
static void a_log_may_be_a_descriptor(void **state)
{
    (void)state;
    char name[64], text[16] = "", path[128];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", ends[1]);
    assert_int_equal(write_at(name), 0);
    assert_int_equal(read(ends[0], text, sizeof text), 5);
    snprintf(path, sizeof path, "%s/to-descriptor", folder); /* as /dev/stderr is */
    make_link(name, path, geteuid());
    assert_int_equal(write_at(path), 0);
    assert_int_equal(read(ends[0], text, sizeof text), 5);
    int saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    int result = write_at("/dev/stderr");
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_int_equal(result, 0);
    assert_int_equal(read(ends[0], text, sizeof text), 5);
    close(ends[0]);
    close(ends[1]);
}

static void the_file_stays_open_between_entries(void **state)
{
    (void)state;
    char moved[140];
    snprintf(moved, sizeof moved, "%s.1", log_file);
    int64_t start = mishap_clock_monotonic_ns();
    record(mishap_raise(INTERNAL_ERROR, "It failed."), NULL);
    assert_int_equal(rename(log_file, moved), 0);
    record(mishap_raise(INTERNAL_ERROR, "It failed."), NULL);
    if (mishap_clock_monotonic_ns() - start < 900000000) /* else it was looked for again */
        assert_int_equal(count_entries(moved), 2);
}

static void a_log_that_cannot_be_written_holds_nothing_up(void **state)
{
    (void)state;
    char path[120];
    size_t length;
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    static const char *const places[] = { "/", "/proc/none/sample.log", "/dev/full", NULL };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        setenv("SAMPLE_LOG", places[i] ? places[i] : path, 1); /* a pipe without a reader */
        mishap *failure = mishap_raise(INTERNAL_ERROR, "It failed.");
        catch_stderr();
        errno = ERANGE;
        mishap_incident_record(
            &(mishap_incident_entry){ .program = "sample", .id = ID, .failure = failure });
        int error = errno;
        free(caught_stderr(&length));
        assert_int_equal(error, ERANGE); /* whose business it is not */
        mishap_free(failure);
    }
}

/* Nor does a pipe at stderr that is full. */
static void a_full_pipe_at_stderr_holds_nothing_up(void **state)
{
    (void)state;
    int ends[2];
    char byte = 'x';
    setenv("SAMPLE_LOG", "/dev/full", 1);
    mishap *failure = mishap_raise(INTERNAL_ERROR, "It failed.");
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    while (write(ends[1], &byte, 1) == 1)
        continue;
    char page[PIPE_BUF], large[20000];
    assert_int_equal(read(ends[0], page, sizeof page), sizeof page); /* room for a piece of it */
    memset(large, 'x', sizeof large);
    failure = mishap_note(failure, "large", ((mishap_text){ large, sizeof large }));
    fcntl(ends[1], F_SETFL, 0);
    real_stderr = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    alarm(60);
    for (int i = 0; i < 50; i++) /* only the first one waits */
        mishap_incident_record(
            &(mishap_incident_entry){ .program = "sample", .id = ID, .failure = failure });
    alarm(0);
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    close(ends[0]);
    close(ends[1]);
    mishap_free(failure);
}

static pid_t writer;
static volatile sig_atomic_t hung;

static void let_writer_go_on(int number)
{
    (void)number;
    hung = 1;
    kill(writer, SIGCONT);
}

/* Nor, in a server, does a stderr that takes nothing at all: only the process that writes it
 * waits. */
static void a_server_does_not_wait_for_the_process_that_writes_stderr(void **state)
{
    const struct sigaction action = { .sa_handler = let_writer_go_on, .sa_flags = SA_RESTART };
    mishap_children children;
    size_t length;
    int status;
    (void)state;
    setenv("SAMPLE_LOG", "", 1);
    catch_stderr();
    assert_null(mishap_logs_begin(&(mishap_logs_plan){ .program = "sample" }));
    mishap_children_open(&children, getpid());
    writer = mishap_children_next(&children);
    mishap_children_close(&children);
    assert_true(writer > 0);
    kill(writer, SIGSTOP);
    assert_int_equal(waitpid(writer, &status, WUNTRACED), writer);
    sigaction(SIGALRM, &action, NULL);
    alarm(20);
    for (int i = 0; i < 40000; i++) /* more than any pipe takes */
        mishap_log_say("%060d\n", i);
    alarm(0);
    kill(writer, SIGCONT);
    mishap_logs_end();
    char *said = caught_stderr(&length);
    assert_false(hung);
    assert_non_null(memmem(said, length, "lines of standard error were lost", 33));
    free(said);
}

/* -- many at once ------------------------------------------------------------------------------ */

enum { THREADS = 4, PROCESSES = 3, EACH = 50 };

static void *record_some(void *unused)
{
    (void)unused;
    for (int i = 0; i < EACH; i++) {
        mishap *m = mishap_raise(INTERNAL_ERROR, "It failed.");
        for (int j = 0; j < 40; j++) {
            char key[20];
            snprintf(key, sizeof key, "key_%d", j);
            m = mishap_note_value(m, mishap_text_of(key), mishap_value_of_string("a value"));
        }
        record(m, NULL);
    }
    return NULL;
}

static void record_in_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_some, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void entries_of_threads_and_processes_stay_whole(void **state)
{
    (void)state;
    size_t length, keys = 0;
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            record_in_threads();
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_entries(log_file), PROCESSES * THREADS * EACH);
    char *text = read_file(log_file, &length);
    /* The keys of each entry come in their order, one behind the other. */
    char *rest = text;
    for (const char *line, *at; (line = next_line(&rest, text + length));) {
        if (!(at = strstr(line, "noted key_")))
            continue;
        assert_int_equal(strtol(at + strlen("noted key_"), NULL, 10), keys % 40);
        keys++;
    }
    assert_int_equal(keys, (size_t)PROCESSES * THREADS * EACH * 40);
    free(text);
}

/* -- without memory ---------------------------------------------------------------------------- */

static size_t recorded;

static void record_secretly(const void *secrets)
{
    recorded++;
    mishap *m = mishap_raise(INTERNAL_ERROR, "It was hunter2.");
    m = mishap_note(m, "long", "x say \"friend\" x say \"friend\" x say \"friend\" x");
    for (int i = 0; i < 30; i++)
        m = mishap_because(m, mishap_raise(RUNTIME_ERROR, "A cause: say \"friend\""));
    record(m, secrets);
}

static void without_memory_an_entry_is_shorter_but_none_is_broken(void **state)
{
    (void)state;
    size_t length;
    mishap_secret room[2];
    mishap_secrets secrets = { .texts = room };
    mishap_secrets_add_text(&secrets, T("hunter2"));
    mishap_secrets_add_text(&secrets, T("say \"friend\""));
    mishap_secrets_sort(&secrets);
    mishap_use_allocator(&failing_allocator);
    torture(record_secretly, &secrets);
    mishap_use_allocator(NULL);
    assert_int_equal(count_entries(log_file), recorded);
    char *text = read_file(log_file, &length);
    assert_null(strstr(text, "hunter2"));
    assert_null(strstr(text, "friend"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(an_entry_has_its_time_id_program_operation_and_account),
        IN_FOLDER(an_operation_need_not_be_known),
        IN_FOLDER(no_text_can_pass_itself_off_as_an_entry),
        IN_FOLDER(secrets_are_not_in_the_log),
        IN_FOLDER(what_is_only_the_callers_mistake_leaves_no_trace),
        IN_FOLDER(stderr_gets_the_same_if_it_is_asked_for),
        IN_FOLDER(an_incident_that_the_log_cannot_take_goes_to_stderr),
        IN_FOLDER(a_log_that_cannot_be_written_is_announced),
        IN_FOLDER(the_process_that_writes_the_log_names_functions),
        TEST(the_path_is_given_or_in_the_state_folder),
        IN_FOLDER(an_empty_path_means_no_log),
        IN_FOLDER(another_path_holds_at_once),
        IN_FOLDER(a_file_that_was_moved_away_is_made_anew_within_moments),
        IN_FOLDER(a_link_of_ones_own_is_followed),
        IN_FOLDER(a_link_of_somebody_else_is_not_followed),
        IN_FOLDER(a_log_may_be_a_descriptor),
        IN_FOLDER(the_file_stays_open_between_entries),
        IN_FOLDER(a_log_that_cannot_be_written_holds_nothing_up),
        IN_FOLDER(a_full_pipe_at_stderr_holds_nothing_up),
        IN_FOLDER(a_server_does_not_wait_for_the_process_that_writes_stderr),
        IN_FOLDER(entries_of_threads_and_processes_stay_whole),
        IN_FOLDER(without_memory_an_entry_is_shorter_but_none_is_broken),
    };
    return RUN(tests);
}
