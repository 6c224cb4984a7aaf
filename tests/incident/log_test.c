/* src/incident: where the log of a program goes, and its file. */
#include "incident_folder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "incident/file.h"
#include "incident/logs.h"
#include "mishap/inside.h"
#include "worker/spawn/children.h"

/* -- where it goes ----------------------------------------------------------------------------- */

static void the_callers_mistakes_are_recorded_too(void **state)
{
    (void)state;
    record(mishap_field_required(mishap_raise(VALIDATION_ERROR, "It is wrong."), "name"), NULL);
    record(mishap_raise(BAD_REQUEST, "It is no JSON."), NULL);
    record(mishap_raise(NOT_FOUND, "There is no user 7."), NULL);
    assert_int_equal(count_records(log_file), 3);
    char *text = read_file(log_file, NULL);
    assert_non_null(strstr(text, "\"fields\":[{\"field\":\"name\",\"error\":\"field_required\"}]"));
    free(text);
}

typedef int visit_file(struct dl_phdr_info *, size_t, void *);
static _Atomic int passes; /* of the library over the files of this program */

/* The linker puts it in place of the function of the C library (--wrap). */
int __real_dl_iterate_phdr(visit_file *visit, void *state);
int __wrap_dl_iterate_phdr(visit_file *visit, void *state);
int __wrap_dl_iterate_phdr(visit_file *visit, void *state)
{
    passes++;
    return __real_dl_iterate_phdr(visit, state);
}

static void the_functions_of_a_command_are_found_once(void **state)
{
    (void)state;
    static const char *const names[] = { "abort", "qsort", "getenv", "exit" };
    mishap *m = mishap_raise(NOT_FOUND, "There is no user 7.");
    for (m->trace.count = 0; m->trace.count < sizeof names / sizeof *names; m->trace.count++) {
        char *function = dlsym(RTLD_DEFAULT, names[m->trace.count]);
        assert_non_null(function);
        m->trace.addresses[m->trace.count] = function + 1; /* a return address */
    }
    passes = 0;
    record(m, NULL);
    assert_int_equal(passes, 1);
    char *text = read_file(log_file, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s+0x1 (",
                 names[i]); /* a sanitizer has other names in front */
        if (!strstr(text, line))
            fail_msg("%s is not in %s", line, text);
    }
    free(text);
}

static void stderr_gets_text_for_people_if_it_is_asked_for(void **state)
{
    (void)state;
    size_t error_length;
    mishap *failures[] = { mishap_raise(INTERNAL_ERROR, "It failed."),
                           mishap_raise(VALIDATION_ERROR, "It is wrong.") };
    catch_stderr();
    for (int i = 0; i < 2; i++)
        mishap_incident_record(&(mishap_incident_entry){
            .program = "sample", .id = ID, .failure = failures[i], .to_stderr = true });
    char *error = caught_stderr(&error_length);
    assert_int_equal(count_records(log_file), 2);
    assert_int_equal(count_entries(error_file), 2);
    assert_ptr_equal(strstr(error, "Z " ID " sample\n  INTERNAL_ERROR: "), error + 23);
    assert_non_null(strstr(error, "\n    in detail: It failed.\n"));
    assert_non_null(strstr(error, "\n    native stack:\n"));
    assert_non_null(strstr(error, "  VALIDATION_ERROR: It is wrong.\n"));
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
    assert_int_equal(count_records(log_file), 0);
}

/* At their end the processes that write have a second. On a slow machine names alone may take
 * longer, so what they write is awaited before. */
static void await_written(const char *path, const char *words)
{
    bool written = false;
    for (int i = 0; i < 12000 && !written; i++) {
        size_t length;
        char *text = exists(path) ? read_file(path, &length) : NULL;
        written = text && strstr(text, words);
        free(text);
        if (!written)
            poll(NULL, 0, 10);
    }
    if (!written)
        fail_msg("%s has no %s", path, words);
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
    await_written(error_file, "\n    native stack:\n      #0 ");
    await_written(log_file, "\n");
    mishap_logs_end();
    char *error = caught_stderr(&length), *text = read_file(log_file, &length);
    assert_int_equal(count_records(log_file), 1);
    assert_non_null(strstr(error, "\n  INTERNAL_ERROR: "));
    assert_non_null(strstr(error, "\n  ?401000\n  forged\n"));
    assert_null(strchr(error, '\x01'));
    assert_non_null(strstr(error, "\n    native stack:\n      #0 "));
    assert_non_null(strstr(text, "forged\\n\\u0001401000\\nforged"));
    assert_null(strchr(text, '\x01'));
    if (libdw) {
        if (!strstr(error, "\n      #0 raise_in_server+0x"))
            fail_msg("no name of the function: %s", error);
        assert_non_null(strstr(text, "\"stack\":[\"raise_in_server+0x"));
    }
    free(error);
    free(text);
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
    assert_int_equal(count_records(log_file), 1);
    assert_int_equal(count_records(other), 1);
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
    assert_int_equal(count_records(moved), 1);
    assert_int_equal(count_records(log_file), 2);
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
    assert_int_equal(count_records(own), 1);
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
        assert_int_equal(count_records(moved), 2);
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
    alarm(120);                     /* 40000 lines are not said at once by a slow machine, either */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_callers_mistakes_are_recorded_too),
        IN_FOLDER(the_functions_of_a_command_are_found_once),
        IN_FOLDER(stderr_gets_text_for_people_if_it_is_asked_for),
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
    };
    return RUN(tests);
}
