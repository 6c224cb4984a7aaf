/* Services: opened once, when first needed, for all threads; closed in the opposite order. */
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "operation/call.h"
#include "testing.h"

/* -- services to play with --------------------------------------------------------------------- */

static int opens, closes, failures_left;
static char closed[16];
static const char *seen_data;
static char folder_copy[256];

/* A failure that tells nothing: all of it is for the operator. */
static mishap *fail_privately(void)
{
    return mishap_note(mishap_raise(INTERNAL_ERROR, "The disk says marker-private."), "noted",
                       "marker-private");
}

static mishap *(*to_fail_with)(void);

static mishap *open_counted(const mishap_setup *setup, void **state)
{
    static char things[8];
    snprintf(folder_copy, sizeof folder_copy, "%s", setup->data ? setup->data : "");
    seen_data = folder_copy;
    *state = &things[opens++ % 8]; /* also where it fails: then it must not be used */
    usleep(1000);
    if (failures_left && failures_left--)
        return to_fail_with();
    return NULL;
}

static void close_first(void *state)
{
    assert_non_null(state);
    closes++;
    strcat(closed, "1");
}

static void close_second(void *state)
{
    assert_non_null(state);
    closes++;
    strcat(closed, "2");
}

static mishap *open_and_crash(const mishap_setup *setup, void **state)
{
    (void)setup, (void)state;
    abort();
}

static const mishap_service first = { "first", "One", open_counted, .close = close_first };
static const mishap_service second = { "second", "Two", open_counted, .close = close_second };
static const mishap_service plain = { "plain", .summary = "Nothing to open" };
static const mishap_service crashing = { "crashing", "Crashes", .open = open_and_crash };

static mishap *use_state(mishap_call *call)
{
    return mishap_state(call) ? mishap_answer(call, "{\"state\":true}") : mishap_answer(call, "{}");
}

static const mishap_operation operations[] = {
    { "one", "One", NULL, use_state, .service = &first },
    { "one-more", "One more", NULL, use_state, .service = &first },
    { "two", "Two", NULL, use_state, .service = &second },
    { "bare", "Bare", NULL, use_state, .service = &plain },
    { "crash", "Crash", NULL, use_state, .service = &crashing },
    { 0 },
};
static const mishap_operation sound[] = {
    { "one", "One", NULL, use_state, .service = &first },
    { "one-more", "One more", NULL, use_state, .service = &first },
    { "none", "None", .run = use_state },
    { "two", "Two", NULL, use_state, .service = &second },
    { 0 },
};
static const mishap_app app = { .name = "test-app", .operations = operations };
static const mishap_app sound_app = { .name = "test-app", .operations = sound };
static char folder[64], data[80];
static const mishap_setup setup = { .data = data };

static int begin(void **state)
{
    (void)state;
    opens = closes = failures_left = 0;
    to_fail_with = fail_privately;
    closed[0] = '\0';
    snprintf(folder, sizeof folder, "/tmp/mishap-service-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(data, sizeof data, "%s/deep/er", folder);
    mishap_service_use(&setup);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mishap_service_close_all();
    mishap_service_use(NULL);
    return remove_tree(folder);
}

static mishap *run(const char *name)
{
    mishap_call *call;
    mishap *failure = mishap_call_begin(&app, mishap_operation_find(&app, mishap_text_of(name)),
                                        T("{}"), &call);
    assert_null(failure);
    failure = mishap_call_run(call);
    mishap_call_end(call);
    return failure;
}

static void assert_code(mishap *m, const mishap_code *code)
{
    assert_non_null(m);
    assert_ptr_equal(mishap_told(m)->code, code);
    mishap_free(m);
}

/* -- opening ----------------------------------------------------------------------------------- */

static void a_service_is_opened_by_its_first_call_and_only_then(void **state)
{
    (void)state;
    void *one = NULL, *again = NULL;
    assert_int_equal(opens, 0);
    assert_null(run("bare"));
    assert_int_equal(opens, 0);
    assert_null(run("one"));
    assert_null(run("one-more"));
    assert_int_equal(opens, 1);
    assert_null(mishap_service_open(&app, &first, &one));
    assert_null(mishap_service_open(&app, &first, &again));
    assert_non_null(one);
    assert_ptr_equal(one, again);
    assert_int_equal(opens, 1);
}

static void a_service_sees_how_the_program_was_started(void **state)
{
    (void)state;
    assert_null(run("one"));
    assert_string_equal(seen_data, data);
}

static void the_data_folder_is_there_for_this_user_only(void **state)
{
    (void)state;
    struct stat status;
    mode_t before = umask(0);
    assert_null(run("one"));
    umask(before);
    assert_int_equal(stat(data, &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    assert_int_equal(status.st_mode & 0777, 0700);
}

static void without_services_no_folder_is_made(void **state)
{
    (void)state;
    assert_null(run("bare"));
    assert_int_equal(access(data, F_OK), -1);
}

static void a_data_folder_that_cannot_be_made_is_told_with_the_reason(void **state)
{
    (void)state;
    static const mishap_setup nowhere = { .data = "/dev/null/data" };
    mishap_service_use(&nowhere);
    mishap *m = run("one");
    assert_non_null(m);
    const mishap_public *told = mishap_told(m);
    assert_ptr_equal(told->code, MISHAP_CODE_NOT_CONFIGURED);
    assert_false(told->retryable);
    assert_string_equal(mishap_public_message(told).data, "The service first is not available.");
    assert_string_equal(told->cause.data, "The data folder /dev/null/data cannot be created. "
                                          "Not a directory (ENOTDIR)");
    assert_string_equal(mishap_public_suggestion(told).data,
                        "Set TEST_APP_DATA to a folder that the program can write to.");
    assert_int_equal(opens, 0);
    mishap_free(m);
}

static void without_a_setup_the_data_folder_is_the_users(void **state)
{
    (void)state;
    mishap_service_use(NULL);
    setenv("TEST_APP_DATA", data, 1);
    assert_null(run("one"));
    assert_string_equal(seen_data, data);
    unsetenv("TEST_APP_DATA");
}

static void without_any_folder_a_service_is_not_configured(void **state)
{
    (void)state;
    mishap_service_use(NULL);
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    unsetenv("HOME");
    unsetenv("XDG_DATA_HOME");
    assert_code(run("one"), MISHAP_CODE_NOT_CONFIGURED);
    assert_int_equal(opens, 0);
    if (home)
        setenv("HOME", home, 1);
    free(home);
}

static mishap *fail_for_a_moment(void)
{
    mishap *m = mishap_raise(UNAVAILABLE, "The store is busy.");
    m = mishap_note(mishap_retry_after(m, 700), "noted", "marker-private");
    return mishap_suggest(mishap_tell_cause(m, "Somebody else has it."), "Wait for the others.");
}

static void what_a_service_tells_of_its_failure_is_passed_on(void **state)
{
    (void)state;
    failures_left = 1;
    to_fail_with = fail_for_a_moment;
    mishap *m = run("one");
    assert_non_null(m);
    const mishap_public *told = mishap_told(m);
    assert_ptr_equal(told->code, MISHAP_CODE_UNAVAILABLE);
    assert_string_equal(told->message.data, "The service first is not available.");
    assert_string_equal(told->cause.data, "The store is busy. Somebody else has it.");
    assert_string_equal(told->suggestion.data, "Wait for the others.");
    assert_true(told->retryable);
    assert_int_equal(told->retry_after_ms, 700);
    char *text = rendered(mishap_dialect_find("canonical"), m);
    assert_null(strstr(text, "marker-private"));
    free(text);
    mishap_free(m);
}

static mishap *fail_for_good(void)
{
    return mishap_raise(NOT_CONFIGURED, "The store is of another kind.");
}

static mishap *fail_and_say_so(void)
{
    return mishap_retryable(mishap_raise(RUNTIME_ERROR, "The store is of another kind."), false);
}

static void to_try_again_is_no_advice_where_something_must_be_put_right(void **state)
{
    (void)state;
    mishap *(*const failures[])(void) = { fail_for_good, fail_and_say_so };
    for (size_t i = 0; i < 2; i++) {
        failures_left = 1;
        to_fail_with = failures[i];
        mishap *m = run("one");
        assert_non_null(m);
        assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_NOT_CONFIGURED);
        assert_false(mishap_told(m)->retryable);
        assert_string_equal(mishap_told(m)->cause.data, "The store is of another kind.");
        mishap_free(m);
    }
}

static void a_failure_to_open_is_private_and_the_next_call_tries_again(void **state)
{
    (void)state;
    failures_left = 2;
    for (int i = 0; i < 2; i++) {
        mishap *m = run("one");
        assert_non_null(m);
        assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_UNAVAILABLE);
        char *text = rendered(mishap_dialect_find("canonical"), m);
        assert_null(strstr(text, "marker-private"));
        assert_int_equal(mishap_told(m)->cause.length, 0);
        free(text);
        assert_ptr_equal(mishap_told(mishap_cause(m))->code, MISHAP_CODE_INTERNAL_ERROR);
        mishap_free(m);
    }
    assert_null(run("one"));
    assert_int_equal(opens, 3);
}

static void what_a_failed_open_left_behind_is_nobodys_state(void **state)
{
    (void)state;
    void *none = &none;
    failures_left = 1;
    mishap_free(run("one"));
    assert_null(mishap_service_open(&app, &plain, &none));
    assert_null(none);
}

static void all_services_of_a_program_are_opened_once_each(void **state)
{
    (void)state;
    assert_null(mishap_service_open_all(&sound_app));
    assert_int_equal(opens, 2);
    assert_null(mishap_service_open_all(&sound_app));
    assert_int_equal(opens, 2);
}

static void opening_all_stops_at_the_first_that_fails(void **state)
{
    (void)state;
    failures_left = 1;
    assert_code(mishap_service_open_all(&sound_app), MISHAP_CODE_UNAVAILABLE);
    assert_int_equal(opens, 1);
}

static void services_are_closed_last_first_and_can_be_opened_again(void **state)
{
    (void)state;
    assert_null(mishap_service_open_all(&sound_app));
    mishap_service_close_all();
    assert_string_equal(closed, "21");
    mishap_service_close_all();
    assert_int_equal(closes, 2);
    assert_null(run("two"));
    assert_int_equal(opens, 3);
}

static bool is_lost(const char *name)
{
    mishap_call *call;
    assert_null(mishap_call_begin(
        &sound_app, mishap_operation_find(&sound_app, mishap_text_of(name)), T("{}"), &call));
    mishap_service_lost(call);
    bool lost = call->lost;
    mishap_call_end(call);
    return lost;
}

static void without_a_service_there_is_none_to_lose(void **state)
{
    (void)state;
    assert_true(is_lost("one"));
    assert_false(is_lost("none"));
}

static void there_is_room_for_32_services(void **state)
{
    (void)state;
    static mishap_service many[33];
    void *ignored;
    for (size_t i = 0; i < 33; i++) {
        many[i] = plain;
        mishap *m = mishap_service_open(&app, &many[i], &ignored);
        if (i < 32)
            assert_null(m);
        else
            assert_code(m, MISHAP_CODE_INTERNAL_ERROR);
    }
}

/* -- threads ----------------------------------------------------------------------------------- */

static void *ask_often(void *result)
{
    void *state = NULL;
    for (int i = 0; i < 2000; i++)
        mishap_free(mishap_service_open(&app, i % 2 ? &first : &second, &state));
    mishap_free(mishap_service_open(&app, &first, result));
    return NULL;
}

static void many_threads_share_one_state(void **state)
{
    (void)state;
    pthread_t threads[8];
    void *states[8] = { 0 };
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &states[i]), 0);
    for (size_t i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(opens, 2);
    for (size_t i = 0; i < 8; i++) {
        assert_non_null(states[i]);
        assert_ptr_equal(states[i], states[0]);
    }
}

/* In a process of its own, for the lock is lost. */
static void a_crash_while_opening_does_not_hang_those_who_come_after(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        assert_null(run("one"));
        mishap *crash = run("crash"), *later = run("two"), *open_already = run("one");
        mishap_service_close_all(); /* nor the end of the program */
        bool right = crash && mishap_told(crash)->code == MISHAP_CODE_INTERNAL_ERROR && later &&
                     mishap_told(later)->code == MISHAP_CODE_UNAVAILABLE && !open_already;
        _exit(right ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* -- the data folder --------------------------------------------------------------------------- */

static void assert_folder(const char *program, const char *expected)
{
    char path[64];
    assert_true(mishap_data_folder(program, path, sizeof path));
    assert_string_equal(path, expected);
}

static void the_data_folder_comes_from_the_first_place_that_names_one(void **state)
{
    (void)state;
    char path[64], *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    assert_false(mishap_data_folder("my-app", path, sizeof path));
    setenv("HOME", "/home/ada", 1);
    assert_folder("my-app", "/home/ada/.local/share/my-app");
    setenv("XDG_DATA_HOME", "relative", 1);
    assert_folder("my-app", "/home/ada/.local/share/my-app");
    setenv("XDG_DATA_HOME", "/data", 1);
    assert_folder("my-app", "/data/my-app");
    setenv("MY_APP_DATA", "", 1);
    assert_folder("my-app", "/data/my-app");
    setenv("MY_APP_DATA", "here", 1);
    assert_folder("my-app", "here");
    setenv("MY_APP_DATA", "/a/path/that/is/longer/than/the/64/bytes/that/there/are/for/it/here", 1);
    assert_false(mishap_data_folder("my-app", path, sizeof path));
    unsetenv("MY_APP_DATA");
    /* The name of a program may be longer than a variable's room. */
    assert_false(
        mishap_data_folder("an-application-whose-name-is-much-longer-than-any-name-should-be-"
                           "and-longer-than-64-bytes",
                           path, sizeof path));
    unsetenv("XDG_DATA_HOME");
    if (home)
        setenv("HOME", home, 1);
    free(home);
}

#define SERVICE_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVICE_TEST(a_service_is_opened_by_its_first_call_and_only_then),
        SERVICE_TEST(a_service_sees_how_the_program_was_started),
        SERVICE_TEST(without_a_setup_the_data_folder_is_the_users),
        SERVICE_TEST(the_data_folder_is_there_for_this_user_only),
        SERVICE_TEST(without_services_no_folder_is_made),
        SERVICE_TEST(a_data_folder_that_cannot_be_made_is_told_with_the_reason),
        SERVICE_TEST(without_any_folder_a_service_is_not_configured),
        SERVICE_TEST(what_a_service_tells_of_its_failure_is_passed_on),
        SERVICE_TEST(to_try_again_is_no_advice_where_something_must_be_put_right),
        SERVICE_TEST(a_failure_to_open_is_private_and_the_next_call_tries_again),
        SERVICE_TEST(what_a_failed_open_left_behind_is_nobodys_state),
        SERVICE_TEST(all_services_of_a_program_are_opened_once_each),
        SERVICE_TEST(opening_all_stops_at_the_first_that_fails),
        SERVICE_TEST(services_are_closed_last_first_and_can_be_opened_again),
        SERVICE_TEST(without_a_service_there_is_none_to_lose),
        SERVICE_TEST(there_is_room_for_32_services),
        SERVICE_TEST(many_threads_share_one_state),
        SERVICE_TEST(a_crash_while_opening_does_not_hang_those_who_come_after),
        SERVICE_TEST(the_data_folder_comes_from_the_first_place_that_names_one),
    };
    return RUN(tests);
}
