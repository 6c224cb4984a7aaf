/* src/incident: the records of a log. */
#include "incident_folder.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "incident/fit.h"
#include "mishap/bind.h"

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

/* A password by its name, and variables that were told one by one. */
static void what_is_a_credential_only_beside_others_is_not_in_a_record(void **state)
{
    (void)state;
    size_t length;
    mishap *failure = mishap_tell(mishap_raise(CONFLICT, "No."), "smtp_pass", "correct-horse-7");
    failure = mishap_tell(failure, "said", "The key AKIA2E0A8F3B244C9986 is unknown.");
    failure = mishap_tell(failure, "deep",
                          mishap_value_of_json("[{\"smtp_pass\":\"correct-horse-8\"}]"));
    record(mishap_tell(failure, "user", "ada"), NULL);
    failure = mishap_tell(mishap_raise(CONFLICT, "No."), "HOME", "/home/ada-1815");
    failure = mishap_tell(mishap_tell(failure, "USER", "ada-1815"), "LANG", "C.UTF-8");
    record(mishap_tell(failure, "SHELL", "/bin/sh"), NULL);
    char *text = read_file(log_file, &length);
    assert_null(strstr(text, "correct-horse"));
    assert_null(strstr(text, "ada-1815"));
    assert_non_null(strstr(text, "\"said\":\"The key [redacted] is unknown.\""));
    assert_non_null(strstr(text, "\"user\":\"ada\""));
    assert_non_null(strstr(text, "\"HOME\":\"[redacted]\""));
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
        IN_FOLDER(what_is_a_credential_only_beside_others_is_not_in_a_record),
        IN_FOLDER(handles_of_sessions_are_not_in_the_log),
        IN_FOLDER(a_record_that_is_too_long_is_cut_and_says_where),
        TEST(what_is_no_record_is_cut_without_harm),
        IN_FOLDER(entries_of_threads_and_processes_stay_whole),
        IN_FOLDER(without_memory_an_entry_is_shorter_but_none_is_broken),
    };
    return RUN(tests);
}
