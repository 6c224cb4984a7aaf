/* src/incident: the log file of a program. */
#include "testing.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "incident/file.h"
#include "incident/fit.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "mishap/bind.h"
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
                                                     .operation = "users.create",
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

/* How many records a log has; each line of it is one. */
static size_t count_records(const char *path)
{
    size_t length, records = 0;
    char *text = read_file(path, &length), *rest = text;
    for (char *line; (line = next_line(&rest, text + length)); records++) {
        mishap_json_reader reader = MISHAP_JSON_READER;
        if (!mishap_json_read(&reader, mishap_text_of(line)) ||
            strncmp(line, "{\"v\":1,\"kind\":\"whole\",\"id\":\"", 28) != 0 ||
            rest - line > 128 << 10)
            fail_msg("no record: %s", line);
        mishap_json_reader_release(&reader);
    }
    free(text);
    return records;
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

/* -- records ----------------------------------------------------------------------------------- */

static void a_record_has_the_stack_of_another_language_before_the_native_one(void **state)
{
    (void)state;
    size_t length;
    mishap *m = mishap_raise(INTERNAL_ERROR, "The disk is full.");
    m = mishap_stack_add(m, T("save"), T("/srv/app.py"), 3);
    record(mishap_stack_add(m, T("main"), T(""), 0), NULL);
    char *text = read_file(log_file, &length);
    assert_non_null(strstr(text, "\"stack\":[\"save (/srv/app.py:3)\",\"main\",\"")); /* and ours */
    free(text);
    m = mishap_raise_text(MISHAP_CODE_INTERNAL_ERROR, T("No native stack."));
    record(mishap_stack_add(m, T("save"), T("/srv/app.py"), 3), NULL);
    text = read_file(log_file, &length);
    assert_non_null(strstr(text, "\"stack\":[\"save (/srv/app.py:3)\"]"));
    free(text);
}

static void a_record_has_its_time_id_program_operation_and_account(void **state)
{
    (void)state;
    size_t length;
    record(mishap_note(mishap_raise(INTERNAL_ERROR, "The disk is full."), "disk", "sda1"), NULL);
    assert_int_equal(count_records(log_file), 1);
    char *text = read_file(log_file, &length);
    assert_non_null(strstr(text, "\"id\":\"" ID "\",\"time\":\"20"));
    assert_non_null(strstr(text, "Z\",\"program\":\"sample\",\"operation\":\"users.create\","));
    assert_non_null(strstr(text, "\"code\":\"INTERNAL_ERROR\",\"category\":\"system\""));
    assert_non_null(strstr(text, "\"private_message\":\"The disk is full.\""));
    assert_non_null(strstr(text, "\"noted\":{\"disk\":\"sda1\"}"));
    assert_non_null(strstr(text, "\"place\":{\"file\":\"tests/incident/incident_test.c\""));
    assert_non_null(strstr(text, "\"stack\":[\""));
    assert_non_null(strstr(text, "\"process\":{\"pid\":"));
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
    assert_null(strstr(text, "\"operation\""));
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
    assert_int_equal(count_records(log_file), 1);
    catch_stderr();
    setenv("SAMPLE_LOG", "/dev/full", 1);
    mishap_incident_record(&(mishap_incident_entry){ .program = "sample",
                                                     .operation = "x\n2026-02-09T10:20:30.123Z\033",
                                                     .id = ID,
                                                     .failure = failure });
    mishap_free(failure);
    char *text = caught_stderr(&length);
    assert_int_equal(count_entries(error_file), 1);
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
    assert_non_null(strstr(text, "\"q\":\"[redacted]\""));
    free(text);
}

static void put_more(const void *context, mishap_incident_more *more)
{
    (void)context;
    MISHAP_PUT(&more->arguments,
               "{\"deep\":[{\"api_key\":\"k-1\",\"pin\":4711,\"x\":\"a hunter2\"}]}");
    MISHAP_PUT(&more->headers, "{\"authorization\":\"Bearer k-2\",\"cookie\":\"k-3\","
                               "\"referer\":\"http://u:k-4@host/\"}");
    MISHAP_PUT(&more->lines, "[\"said hunter2\"]");
    MISHAP_PUT(&more->request, "GET /hunter2");
}

static void no_part_of_a_record_has_secrets(void **state)
{
    (void)state;
    size_t length;
    mishap_secret room[1];
    mishap_secret_number numbers[1];
    mishap_secrets secrets = { .texts = room, .numbers = numbers };
    mishap_secrets_add_text(&secrets, T("hunter2"));
    mishap_secrets_add_number(&secrets, T("4711"));
    mishap_secrets_sort(&secrets);
    mishap *failure = mishap_raise(NOT_FOUND, "Not hunter2.");
    failure = mishap_tell(failure, "told", "hunter2");
    failure = mishap_note(failure, "number", 4711);
    failure = mishap_note(failure, "client_secret", "k-5");
    failure = mishap_because(failure, mishap_raise(RUNTIME_ERROR, "For hunter2."));
    mishap_incident_record(&(mishap_incident_entry){
        .program = "sample",
        .operation = "users.create",
        .id = ID,
        .caller = "hunter2",
        .failure = failure,
        .response = MISHAP_TEXT("{\"x\":\"hunter2\"}"),
        .secrets = &secrets,
        .more = put_more,
    });
    mishap_free(failure);
    assert_int_equal(count_records(log_file), 1);
    char *text = read_file(log_file, &length);
    static const char *const planted[] = { "hunter2", "4711", "k-1", "k-2", "k-3", "k-4", "k-5" };
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        if (strstr(text, planted[i]))
            fail_msg("%s is in %s", planted[i], text);
    assert_non_null(strstr(text, "\"arguments\":{\"deep\":[{\"api_key\":\"[redacted]\","
                                 "\"pin\":\"[redacted]\",\"x\":\"a [redacted]\"}]}"));
    free(text);
}

#define KEY_LINE "MIIEowIBAAKCAQEAx1y2z3a4b5c6d7e8f9g0h1i2j3k4l5m6n7o8p9q0r1s2t3u4"

/* What the guard finds is not in the log either, though no parameter was said to be secret. */
static void credentials_of_a_failure_are_not_in_the_log(void **state)
{
    (void)state;
    size_t length;
    mishap *failure = mishap_raise(INTERNAL_ERROR, "The key AKIA2E0A8F3B244C9986 is unknown.");
    failure = mishap_note(failure, "file",
                          "-----BEGIN RSA PRIVATE KEY-----\n" KEY_LINE "\n" KEY_LINE
                          "\n-----END RSA PRIVATE KEY-----\nbehind");
    failure = mishap_tell(failure, "env",
                          "HOME=/home/ada\nPATH=/usr/bin:/bin\nSHELL=/bin/sh\nUSER=ada-1815\n");
    failure = mishap_tell(failure, "object",
                          mishap_value_of_json("{\"HOME\":\"/home/ada\",\"PATH\":\"/usr/bin:/bin\","
                                               "\"SHELL\":\"/bin/sh\",\"DB\":\"ada-1815\"}"));
    failure = mishap_tell(failure, "server", "Server=x;User Id=sa;Password=correct-horse-7;");
    record(failure, NULL);
    char *text = read_file(log_file, &length);
    static const char *const planted[] = { "AKIA2E0A", KEY_LINE, "ada-1815", "correct-horse" };
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        if (strstr(text, planted[i]))
            fail_msg("%s is in %s", planted[i], text);
    assert_non_null(strstr(text, "The key [redacted] is unknown."));
    assert_non_null(strstr(text, "behind"));
    free(text);
}

#define SOME_DIGITS "0123456789abcdef0123456789abcdef01234567"
#define HANDLE      "c0ffee00" SOME_DIGITS

static void put_session(const void *context, mishap_incident_more *more)
{
    (void)context;
    MISHAP_PUT(&more->arguments, "{\"session\":\"" HANDLE "\",\"deep\":[\"a" HANDLE "\"]}");
    MISHAP_PUT(&more->lines, "[\"in " HANDLE "\"]");
}

/* The caller gets it, with the failure too, and goes on in its session. */
static void handles_of_sessions_are_not_in_the_log(void **state)
{
    (void)state;
    size_t length;
    mishap *failure = mishap_raise(RUNTIME_ERROR, "In " HANDLE " and " HANDLE ".");
    failure = mishap_note(mishap_tell(failure, "session", HANDLE), "other", "-" HANDLE "-");
    catch_stderr();
    mishap_incident_record(&(mishap_incident_entry){
        .program = "sample",
        .id = ID,
        .failure = failure,
        .response = MISHAP_TEXT("{\"session\":\"" HANDLE "\"}"),
        .more = put_session,
        .to_stderr = true,
    });
    char *told = caught_stderr(&length);
    assert_null(strstr(told, SOME_DIGITS));
    assert_non_null(strstr(told, "told session = \"c0ffee00[redacted]\""));
    free(told);
    assert_string_equal(mishap_told(failure)->context->value.text.data, HANDLE);
    mishap_free(failure);
    char *text = read_file(log_file, &length);
    char *rest = strstr(text, SOME_DIGITS); /* one digit more is no handle */
    assert_ptr_equal(strstr(text, "a" HANDLE) + 9, rest);
    assert_null(strstr(rest + 1, SOME_DIGITS));
    assert_non_null(strstr(text, "\"message\":\"In c0ffee00[redacted] and c0ffee00[redacted].\""));
    assert_non_null(strstr(text, "\"arguments\":{\"session\":\"c0ffee00[redacted]\""));
    assert_non_null(strstr(text, "{\\\"session\\\":\\\"c0ffee00[redacted]\\\"}"));
    assert_non_null(strstr(text, "\"lines\":[\"in c0ffee00[redacted]\"]"));
    free(text);
}

static void a_record_that_is_too_long_is_cut_and_says_where(void **state)
{
    (void)state;
    enum { LONG = 400 << 10 };
    size_t length;
    char *large = test_calloc(LONG + 1, 1);
    for (size_t i = 0; i < LONG; i += 2)
        memcpy(large + i, &"\n\xC3\xA9"[i % 3], 2);
    mishap *failure = mishap_raise(INTERNAL_ERROR, "It failed.");
    failure = mishap_note(failure, "large", ((mishap_text){ large, LONG }));
    mishap_incident_record(&(mishap_incident_entry){ .program = "sample",
                                                     .id = ID,
                                                     .failure = failure,
                                                     .response = { large, LONG },
                                                     .response_type = "text/plain" });
    mishap_free(failure);
    assert_int_equal(count_records(log_file), 1);
    char *text = read_file(log_file, &length);
    assert_true(length > 60000);
    assert_non_null(strstr(text, "\"cut\":[\"response\",\"noted\"]}\n"));
    assert_non_null(strstr(text, "\"code\":\"INTERNAL_ERROR\""));
    free(text);
    test_free(large);
}

/* As a process that has gone wrong may leave it in the memory of records. */
static void what_is_no_record_is_cut_without_harm(void **state)
{
    (void)state;
    static const char *const starts[] = { "{\"",         "{\"a",        "{\"a\"",   "{\"a\":",
                                          "{\"a\":\"\\", "{\"a\\",      "{",        "",
                                          "[[[",         "{\"a\":{\"b", "{\"a\":\"" };
    static const char fills[] = "x\"\\{[:,u\xFF";
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        for (size_t at = 0; at < sizeof fills - 1; at++)
            for (size_t more = 0; more < 3; more++) {
                mishap_buffer json = { 0 };
                mishap_buffer_put_text(&json, mishap_text_of(starts[i]));
                while (json.length < MISHAP_INCIDENT_LINE + more)
                    mishap_buffer_put_char(&json, fills[at]);
                mishap_incident_fit(&json);
                assert_false(json.failed);
                assert_true(json.length < MISHAP_INCIDENT_LINE);
                mishap_buffer_release(&json);
            }
}

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
    alarm(120); /* 40000 lines are not said at once by a slow machine, either */
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
    assert_int_equal(count_records(log_file), PROCESSES * THREADS * EACH);
    char *text = read_file(log_file, &length);
    /* The keys of each record come in their order, one behind the other. */
    char *rest = text;
    for (const char *line, *at; (line = next_line(&rest, text + length));)
        for (at = line; (at = strstr(at, "\"key_")); at++) {
            assert_int_equal(strtol(at + strlen("\"key_"), NULL, 10), keys % 40);
            keys++;
        }
    assert_int_equal(keys, (size_t)PROCESSES * THREADS * EACH * 40);
    free(text);
}

/* -- without memory ---------------------------------------------------------------------------- */

static size_t recorded;

#define FRIENDS                                                                                    \
    "x say \"friend\" x say \"friend\" x say \"friend\" x say \"friend\" x say \"friend\" x "      \
    "xxxxxxx "

static void record_secretly(const void *secrets)
{
    recorded++;
    mishap *m = mishap_raise(INTERNAL_ERROR, "It was hunter2.");
    /* longer than the memory on the stack in which secrets are hidden */
    m = mishap_note(m, "long", FRIENDS FRIENDS FRIENDS FRIENDS FRIENDS FRIENDS FRIENDS FRIENDS);
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
    assert_int_equal(count_records(log_file), recorded);
    char *text = read_file(log_file, &length);
    assert_null(strstr(text, "hunter2"));
    assert_null(strstr(text, "friend"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_record_has_its_time_id_program_operation_and_account),
        IN_FOLDER(a_record_has_the_stack_of_another_language_before_the_native_one),
        IN_FOLDER(an_operation_need_not_be_known),
        IN_FOLDER(no_text_can_pass_itself_off_as_an_entry),
        IN_FOLDER(secrets_are_not_in_the_log),
        IN_FOLDER(no_part_of_a_record_has_secrets),
        IN_FOLDER(credentials_of_a_failure_are_not_in_the_log),
        IN_FOLDER(handles_of_sessions_are_not_in_the_log),
        IN_FOLDER(a_record_that_is_too_long_is_cut_and_says_where),
        TEST(what_is_no_record_is_cut_without_harm),
        IN_FOLDER(the_callers_mistakes_are_recorded_too),
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
        IN_FOLDER(entries_of_threads_and_processes_stay_whole),
        IN_FOLDER(without_memory_an_entry_is_shorter_but_none_is_broken),
    };
    return RUN(tests);
}
