/* src/call: operations as plain C calls, and expectations about them. */
#include "testing.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "mishap/inside.h"
#include "mishap/invoke.h"
#include "mishap/test.h"

extern const mishap_app app;

/* -- a program --------------------------------------------------------------------------------- */

static mishap *greet(mishap_call *call)
{
    mishap_warn(call, "It is \"%s\".", "late");
    mishap_answer_member(call, "hello", mishap_string(call, "name"));
    mishap_answer_member(call, "caller", mishap_caller(call));
    mishap_answer_member(call, "times", mishap_integer(call, "times"));
    mishap_answer_array(call, "left");
    mishap_answer_item(call, mishap_call_time_left(call) <= 30000);
    mishap_answer_item(call, 1.5);
    mishap_answer_item(call, UINT64_MAX);
    mishap_answer_end(call);
    return mishap_created(call, NULL, "/greetings/1");
}

static mishap *headed(mishap_call *call)
{
    mishap_answer_member(call, "language", mishap_header(call, "accept-language"));
    return mishap_answer_member(call, "agent", mishap_header(call, "User-Agent"));
}
static const char *const headers[] = { "Accept-Language", "User-Agent", NULL };

/* By a signal that cmocka does not catch itself. */
static mishap *crash(mishap_call *call)
{
    (void)call;
    raise(SIGABRT);
    return NULL;
}

static mishap *leave(mishap_call *call)
{
    (void)call;
    pthread_exit(NULL);
}

static mishap *misuse(mishap_call *call)
{
    mishap_string(call, "nobody");
    return NULL;
}

static mishap *refuse(mishap_call *call)
{
    (void)call;
    return mishap_tell(mishap_tell(mishap_raise(NOT_FOUND, "There is none."), "shelf", 7), "empty",
                       true);
}

/* Calls others, some of which crash, and goes on. */
static mishap *relay(mishap_call *call)
{
    static const char *const others[] = { "crash", "leave", "misuse", "greet" };
    for (size_t i = 0; i < 4; i++) {
        mishap_answered *answered;
        mishap *failure = mishap_invoke(&app, others[i], "{\"name\":\"Ada\"}", NULL, &answered);
        mishap_answer_member(call, others[i],
                             failure ? mishap_told(failure)->code->name.data
                                     : mishap_string(answered->json, "hello"));
        mishap_answered_free(answered);
        mishap_free(failure);
    }
    if (mishap_boolean(call, "crash"))
        raise(SIGABRT); /* the containment of this call is in force again */
    return NULL;
}

static mishap *identify(mishap_call *call)
{
    return mishap_answer_member(call, "id", mishap_request_id(call));
}

/* Says its secret in every part of a failure. */
static mishap *confide(mishap_call *call)
{
    const char *pin = mishap_string(call, "pin");
    mishap *m = mishap_raise(NOT_FOUND, "There is no %s.", pin);
    m = mishap_field_says(mishap_field_required(m, "other"), "It has to be %s.", pin);
    return mishap_note(mishap_tell(m, "given", pin), "noted", pin);
}

/* Its own secrets are none: it gives on what another operation has failed with. */
static mishap *pass_on(mishap_call *call)
{
    (void)call;
    return mishap_invoke(&app, "confide", "{\"pin\":\"Mk7xQ-4711\"}", NULL, NULL);
}

static mishap *document(mishap_call *call)
{
    return mishap_answer_document(call, T("one\ntwo\n"));
}

static mishap *nothing(mishap_call *call)
{
    return mishap_no_content(call);
}

static mishap *stream(mishap_call *call)
{
    mishap_stream(call, "text/csv");
    mishap_stream_write(call, T("a,b\n"));
    mishap_stream_write(call, mishap_body(call));
    return NULL;
}

static mishap *open_shelf(const mishap_setup *setup, void **state)
{
    *state = strdup(setup->data);
    return NULL;
}

/* Says whether it is cancelled, and how long it has. */
static mishap *look_up(mishap_call *call)
{
    mishap_answer_member(call, "cancelled", mishap_cancelled(call));
    return mishap_answer_member(call, "left", mishap_call_time_left(call));
}

/* Invokes that within its own call, and without. */
static mishap *look_within(mishap_call *call)
{
    mishap_answered *inside = NULL, *outside = NULL;
    mishap *failure = mishap_invoke(&app, "look-up", NULL,
                                    &(mishap_invocation){ .within = call, .timeout_ms = 20000 },
                                    &inside);
    if (!failure)
        failure = mishap_invoke(&app, "look-up", NULL, NULL, &outside);
    if (!failure) {
        mishap_answer_member(call, "afterwards", mishap_cancelled(inside->json));
        mishap_answer_json(call, "inside", inside->text.data);
        mishap_answer_json(call, "outside", outside->text.data);
    }
    mishap_answered_free(inside);
    mishap_answered_free(outside);
    return failure;
}

/* Invokes it when its own time is over. */
static mishap *look_late(mishap_call *call)
{
    mishap_answered *inside = NULL;
    while (mishap_call_time_left(call))
        continue;
    mishap *failure = mishap_invoke(&app, "look-up", NULL, &(mishap_invocation){ .within = call },
                                    &inside);
    if (!failure)
        mishap_answer(call, inside->text.data);
    mishap_answered_free(inside);
    return failure;
}

/* Tells more of each failure, and what it is called. */
static void add_shelf(const mishap_operation *operation, mishap *failure)
{
    mishap_tell(mishap_type(failure, "Amended"), "of", operation->name);
}

static const mishap_service shelf = { "shelf", "A shelf", .open = open_shelf, .close = free };
static const mishap_service amended = { "amended", "Amended failures", .amend = add_shelf };

static mishap *look_at_clock(mishap_call *call)
{
    mishap_tell_operator(call, "It was asked for the time, at %s.", "noon");
    mishap_answer_member(call, "left", mishap_call_time_left(call));
    mishap_answer_member(call, "id", mishap_request_id(call));
    return mishap_answer_member(call, "hours", 12.0);
}

static mishap *where(mishap_call *call)
{
    return mishap_answer_member(call, "folder", (const char *)mishap_state(call));
}

static const mishap_param greet_params[] = {
    { "name", MISHAP_STRING, .required = true },
    { "times", MISHAP_INTEGER, .initial = "1", .range = { 1, 9 } },
    { 0 },
};
static const mishap_param relay_params[] = { { .name = "crash", .type = MISHAP_BOOLEAN }, { 0 } };
static const mishap_param confide_params[] = {
    { "pin", MISHAP_STRING, .required = true, .secret = true },
    { 0 },
};
static const mishap_operation operations[] = {
    { "identify", "Identify", NULL, identify, .danger = MISHAP_SAFE },
    { "look-up", "Look", NULL, look_up, .danger = MISHAP_SAFE },
    { "look-within", "Look within", NULL, look_within, .danger = MISHAP_SAFE },
    { "look-late", "Look late", NULL, look_late, .danger = MISHAP_SAFE },
    { "amended", "Always fails", MISHAP_PARAMS({ "name", MISHAP_STRING, .required = true }), refuse,
      .service = &amended, .raises = MISHAP_RAISES(NOT_FOUND) },
    { "confide", "Confide", confide_params, confide, .raises = MISHAP_RAISES(NOT_FOUND) },
    { "pass_on", "Pass on", NULL, pass_on, .raises = MISHAP_RAISES(NOT_FOUND) },
    { "greet", "Greet", greet_params, greet, .timeout_ms = 30000 },
    { "crash", "Crash", greet_params, crash, .danger = MISHAP_SAFE },
    { "leave", "Leave", greet_params, leave, .danger = MISHAP_SAFE },
    { "misuse", "Misuse", greet_params, misuse, .danger = MISHAP_SAFE },
    { "refuse", "Refuse", NULL, refuse, .raises = MISHAP_RAISES(NOT_FOUND) },
    { "relay", "Relay", relay_params, relay, .danger = MISHAP_SAFE },
    { "document", "Document", NULL, document, .danger = MISHAP_SAFE },
    { "nothing", "Nothing", NULL, nothing, .danger = MISHAP_SAFE },
    { "stream", "Stream", NULL, stream, .takes = "text/csv", .answers_type = "text/csv" },
    { "where", "Where", NULL, where, .service = &shelf },
    { "headed", "Headed", NULL, headed, .headers = headers },
    { "clock", "Clock", NULL, look_at_clock, .timeout_ms = 30000 },
    { "stay", "Stay", NULL, nothing, .resident = true, .local = true },
    { 0 },
};
const mishap_app app = { .name = "invoked", .version = "1", .operations = operations };

/* -- invoking ---------------------------------------------------------------------------------- */

static void an_operation_answers_a_c_call(void **state)
{
    (void)state;
    mishap_answered *answered;
    mishap_invocation how = { .caller = "ada", .timeout_ms = 20000 };
    assert_null(
        mishap_invoke(&app, "greet", "{\"name\":\"A\\\"da\",\"times\":2}", &how, &answered));
    assert_string_equal(answered->text.data,
                        "{\"hello\":\"A\\\"da\",\"caller\":\"ada\",\"times\":2,"
                        "\"left\":[1,1.5,18446744073709551615]}");
    assert_int_equal(answered->text.length, strlen(answered->text.data));
    assert_string_equal(answered->media_type, "application/json");
    assert_int_equal(answered->status, 201);
    assert_string_equal(answered->location, "/greetings/1");
    assert_string_equal(answered->warnings.data, "[\"It is \\\"late\\\".\"]");
    assert_int_equal(answered->warnings.length, strlen(answered->warnings.data));
    assert_string_equal(mishap_string(answered->json, "hello"), "A\"da");
    assert_int_equal(mishap_count(answered->json, "left"), 3);
    assert_true(mishap_number(answered->json, "left[1]") == 1.5);
    mishap_answered_free(answered);
    mishap_answered_free(NULL);
}

static void pairs_are_arguments(void **state)
{
    (void)state;
    mishap_answered *answered;
    assert_null(mishap_invoke_with(&app, "greet", NULL, &answered,
                                   MISHAP_PAIRS({ "name", MISHAP_VALUE("q\"\xff") },
                                                { "left_out", mishap_value_none() },
                                                { "times", MISHAP_VALUE(3) })));
    assert_string_equal(mishap_string(answered->json, "hello"), "q\"\xef\xbf\xbd");
    assert_int_equal(mishap_integer(answered->json, "times"), 3);
    assert_false(mishap_given(answered->json, "caller"));
    mishap_answered_free(answered);
}

static void assert_fails(const char *operation, const char *arguments, const mishap_code *code)
{
    mishap_answered *answered = (mishap_answered *)1;
    mishap *failure = mishap_invoke(&app, operation, arguments, NULL, &answered);
    assert_non_null(failure);
    assert_null(answered);
    assert_ptr_equal(mishap_told(failure)->code, code);
    mishap_free(failure);
}

static void a_c_call_goes_through_the_same_checks(void **state)
{
    (void)state;
    assert_fails("greet", NULL, MISHAP_CODE_VALIDATION_ERROR);
    assert_fails("greet", "{\"name\":\"a\",\"times\":10}", MISHAP_CODE_VALIDATION_ERROR);
    assert_fails("greet", "{\"name\":\"a\",\"tims\":2}", MISHAP_CODE_VALIDATION_ERROR);
    assert_fails("greet", "[]", MISHAP_CODE_BAD_REQUEST);
    assert_fails("greet", "{", MISHAP_CODE_BAD_REQUEST);
    assert_fails("gret", "{}", MISHAP_CODE_NOT_FOUND);
    assert_fails("stay", "{}", MISHAP_CODE_NOT_FOUND);
    assert_fails("refuse", "{}", MISHAP_CODE_NOT_FOUND);
    assert_fails("crash", "{\"name\":\"a\"}", MISHAP_CODE_INTERNAL_ERROR);
    assert_fails("leave", "{\"name\":\"a\"}", MISHAP_CODE_INTERNAL_ERROR);
    assert_fails("misuse", "{\"name\":\"a\"}", MISHAP_CODE_INTERNAL_ERROR);
}

static int64_t time_left(int timeout_ms)
{
    mishap_answered *answered;
    mishap_invocation how = { .timeout_ms = timeout_ms };
    assert_null(mishap_invoke(&app, "clock", NULL, &how, &answered));
    int64_t left = mishap_integer(answered->json, "left");
    mishap_answered_free(answered);
    return left;
}

static void a_c_call_may_have_less_time_than_declared(void **state)
{
    (void)state;
    assert_in_range(time_left(0), 20001, 30000);
    assert_in_range(time_left(20000), 1, 20000);
    assert_in_range(time_left(40000), 20001, 30000);
}

static void a_c_call_tells_the_operator_under_its_id(void **state)
{
    (void)state;
    char path[] = "/tmp/mishap-log-XXXXXX";
    size_t length;
    mishap_answered *answered;
    close(mkstemp(path));
    setenv("INVOKED_LOG", path, 1);
    assert_null(mishap_invoke(&app, "clock", NULL, NULL, &answered));
    unsetenv("INVOKED_LOG");
    char *log = read_file(path, &length);
    assert_non_null(strstr(log, "\"text\":\"It was asked for the time, at noon.\"}\n"));
    assert_non_null(strstr(log, mishap_string(answered->json, "id")));
    assert_non_null(strstr(log, "\"program\":\"invoked\",\"operation\":\"clock\""));
    free(log);
    unlink(path);
    mishap_answered_free(answered);
}

/* The record of the only failure in a log, which is then empty. */
static char *take_record(const char *path)
{
    size_t length;
    char *log = read_file(path, &length);
    assert_non_null(log);
    assert_ptr_equal(strchr(log, '\n'), log + length - 1);
    assert_int_equal(truncate(path, 0), 0); /* the process has it open */
    return log;
}

/* Of a call that fails. The record has the id that the failure tells. */
static char *record_of(const char *path, const char *operation, const char *arguments)
{
    char id[80];
    mishap *failure = mishap_invoke(&app, operation, arguments,
                                    &(mishap_invocation){ .caller = "ada" }, NULL);
    assert_non_null(failure);
    assert_int_equal(mishap_told(failure)->incident.length, MISHAP_ID_LENGTH);
    snprintf(id, sizeof id, "{\"v\":1,\"kind\":\"whole\",\"id\":\"%s\"",
             mishap_told(failure)->incident.data);
    mishap_free(failure);
    char *log = take_record(path);
    assert_memory_equal(log, id, strlen(id));
    assert_non_null(strstr(log, "\"program\":\"invoked\""));
    assert_non_null(strstr(log, "\"boundary\":\"c\""));
    assert_non_null(strstr(log, "\"caller\":\"ada\""));
    assert_non_null(strstr(log, "\"duration_us\":"));
    return log;
}

/* A library writes no file on its own account: only if the program has asked for a log. */
static void a_failure_of_a_c_call_is_recorded_if_the_program_wants_that(void **state)
{
    (void)state;
    char folder[] = "/tmp/mishap-log-XXXXXX", path[64];
    size_t length;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    setenv("INVOKED_LOG", path, 1);
    assert_fails("crash", "{\"name\":\"a\"}", MISHAP_CODE_INTERNAL_ERROR);
    assert_null(mishap_app_open(&app, &(mishap_setup){ .data = folder }));
    assert_fails("refuse", "{}", MISHAP_CODE_NOT_FOUND);
    assert_int_equal(access(path, F_OK), -1);

    static mishap_setup setup = { .log = true };
    setup.data = folder;
    assert_null(mishap_app_open(&app, &setup));
    char *log = record_of(path, "refuse", NULL);
    assert_non_null(strstr(log, "\"operation\":\"refuse\""));
    assert_non_null(strstr(log, "\"shelf\":7"));
    free(log);
    log = record_of(path, "greet", "{\"name\":\"Grace\",\"times\":10}");
    assert_non_null(strstr(log, "\"code\":\"VALIDATION_ERROR\""));
    assert_non_null(strstr(log, "\"arguments\":{\"name\":\"Grace\",\"times\":10}"));
    free(log);
    log = record_of(path, "greet", "{");
    assert_non_null(strstr(log, "\"arguments\":\"no JSON object: 1 bytes\""));
    free(log);
    log = record_of(path, "gret", "{\"name\":\"Grace\"}");
    assert_null(strstr(log, "\"operation\":"));
    assert_null(strstr(log, "Grace"));
    free(log);
    log = record_of(path, "crash", "{\"name\":\"Grace\"}");
    assert_non_null(strstr(log, "\"code\":\"INTERNAL_ERROR\""));
    free(log);
    log = record_of(path, "confide", "{\"pin\":\"Mk7xQ-4711\"}");
    assert_null(strstr(log, "Mk7xQ-4711"));
    assert_non_null(strstr(log, "[redacted]"));
    free(log);

    /* One that works leaves nothing, nor one within another call, nor one without a log. */
    mishap_answered *answered;
    assert_null(
        mishap_invoke(&app, "look-late", NULL, &(mishap_invocation){ .timeout_ms = 1 }, &answered));
    mishap_answered_free(answered);
    setenv("INVOKED_LOG", "", 1);
    assert_fails("refuse", "{}", MISHAP_CODE_NOT_FOUND);
    unsetenv("INVOKED_LOG");
    free(read_file(path, &length));
    assert_int_equal(length, 0);
    assert_null(mishap_app_open(&app, NULL));
    unlink(path);
    rmdir(folder);
}

static void a_code_is_declared_by_the_operation_its_service_or_the_program(void **state)
{
    (void)state;
    static mishap_service service = { "shelf", "A shelf", .open = open_shelf, .close = free };
    static mishap_operation one[] = { { "refuse", "Refuse", NULL, refuse, .service = &service },
                                      { 0 } };
    for (int declared = 0; declared < 4; declared++) {
        mishap_app program = { .name = "invoked", .operations = one };
        const mishap_code *const *raises = MISHAP_RAISES(GONE, NOT_FOUND);
        mishap_answered *answered;
        one[0].raises = declared == 1 ? raises : NULL;
        service.raises = declared == 2 ? raises : NULL;
        program.raises = declared == 3 ? raises : NULL;
        mishap *failure = mishap_invoke(&program, "refuse", NULL, NULL, &answered);
        assert_ptr_equal(mishap_told(failure)->code,
                         declared ? MISHAP_CODE_NOT_FOUND : MISHAP_CODE_INTERNAL_ERROR);
        mishap_free(failure);
    }
    mishap_app_close();
}

static void a_broken_declaration_is_told(void **state)
{
    (void)state;
    static const mishap_operation broken[] = { { .name = "x", .summary = "No handler" }, { 0 } };
    static const mishap_app other = { .name = "other", .operations = broken };
    mishap_answered *answered;
    mishap *failure = mishap_invoke(&other, "x", NULL, NULL, &answered);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_CONFIGURED);
    mishap_free(failure);
}

static void an_operation_that_is_not_there_has_a_near_one(void **state)
{
    (void)state;
    mishap *failure = mishap_invoke(&app, "great", NULL, NULL, NULL);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_FOUND);
    assert_string_equal(mishap_told(failure)->suggestion.data, "Did you mean greet?");
    mishap_free(failure);
    failure = mishap_invoke(&app, "sty", NULL, NULL, NULL); /* stay cannot be called */
    assert_null(mishap_told(failure)->suggestion.data);
    mishap_free(failure);
}

static void a_handler_invokes_others_that_crash(void **state)
{
    (void)state;
    mishap_answered *answered;
    assert_null(mishap_invoke(&app, "relay", NULL, NULL, &answered));
    assert_string_equal(answered->text.data,
                        "{\"crash\":\"INTERNAL_ERROR\",\"leave\":\"INTERNAL_ERROR\","
                        "\"misuse\":\"INTERNAL_ERROR\",\"greet\":\"Ada\"}");
    mishap_answered_free(answered);
    assert_fails("relay", "{\"crash\":true}", MISHAP_CODE_INTERNAL_ERROR);
}

static void what_an_operation_knows_to_be_secret_is_in_no_failure_of_a_c_call(void **state)
{
    (void)state;
    static const char *const names[] = { "confide", "pass_on" };
    for (size_t i = 0; i < 2; i++) {
        mishap_buffer all = { 0 };
        mishap *failure = mishap_invoke(&app, names[i], i ? NULL : "{\"pin\":\"Mk7xQ-4711\"}", NULL,
                                        NULL);
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_FOUND);
        mishap_render(mishap_dialect_find("cli-envelope"), failure, &all);
        mishap_account(failure, &all);
        mishap_buffer_put(&all, "", 1);
        assert_null(strstr(all.data, "Mk7xQ"));
        assert_non_null(strstr(all.data, "There is no [redacted]."));
        mishap_buffer_release(&all);
        mishap_free(failure);
    }
}

static void an_answer_knows_the_id_of_its_call_after_the_call(void **state)
{
    (void)state;
    char caller[] = "ada";
    mishap_answered *answered, *other;
    assert_null(
        mishap_invoke(&app, "identify", NULL, &(mishap_invocation){ .caller = caller }, &answered));
    memset(caller, 'x', sizeof caller - 1);
    assert_null(mishap_invoke(&app, "identify", NULL, NULL, &other)); /* on the same stack */
    assert_string_equal(mishap_request_id(answered->json), mishap_string(answered->json, "id"));
    assert_string_not_equal(mishap_request_id(answered->json), mishap_request_id(other->json));
    assert_null(mishap_caller(answered->json));
    mishap_answered_free(answered);
    mishap_answered_free(other);
}

static void other_kinds_of_answers_have_their_media_types(void **state)
{
    (void)state;
    mishap_answered *answered;
    mishap_invocation how = { .body = T("1,2\n"), .body_type = "text/csv" };
    assert_null(mishap_invoke(&app, "document", NULL, NULL, &answered));
    assert_string_equal(answered->text.data, "one\ntwo\n");
    assert_string_equal(answered->media_type, "text/plain; charset=utf-8");
    assert_null(answered->json);
    mishap_answered_free(answered);
    assert_null(mishap_invoke(&app, "stream", NULL, &how, &answered));
    assert_string_equal(answered->text.data, "a,b\n1,2\n");
    assert_string_equal(answered->media_type, "text/csv");
    mishap_answered_free(answered);
    assert_null(mishap_invoke(&app, "nothing", NULL, NULL, &answered));
    assert_null(answered->text.data);
    assert_null(answered->media_type);
    assert_int_equal(answered->status, 204);
    assert_string_equal(answered->warnings.data, "[]");
    mishap_answered_free(answered);
}

static void without_memory_a_c_call_fails_and_leaves_nothing(void **state)
{
    (void)state;
    size_t failed = 0;
    mishap_use_allocator(&failing_allocator);
    for (size_t at = 1;; at++) {
        mishap_answered *answered;
        calls = 0;
        fail_at = at;
        mishap *failure = mishap_invoke_with(
            &app, "greet", NULL, &answered,
            MISHAP_PAIRS({ "name", MISHAP_VALUE("Ada\xff") }, { "times", MISHAP_VALUE(3) }));
        bool worked = !failure;
        failed += !worked;
        mishap_answered_free(answered);
        mishap_free(failure);
        fail_at = 0;
        if (worked)
            break;
        assert_true(at < 200);
    }
    mishap_use_allocator(NULL);
    assert_true(failed > 3);
    assert_int_equal(blocks, 0);
}

/* -- expectations ------------------------------------------------------------------------------ */

static char *told; /* what a test wrote to standard output */
static int code;   /* its exit code */

static void play(void (*expectations)(mishap_test *test))
{
    char path[] = "/tmp/mishap-told-XXXXXX";
    size_t length;
    int file = mkstemp(path), before = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    mishap_test *test = mishap_test_begin(&app);
    expectations(test);
    code = mishap_test_end(test);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    close(file);
    free(told);
    told = read_file(path, &length);
    unlink(path);
}

static void expect_what_holds(mishap_test *t)
{
    mishap_test_as(t, "ada");
    mishap_test_call(t, "greet", "{\"name\":\"Ada\"}");
    mishap_expect_ok(t);
    mishap_expect_answer(t, "{\"left\":[1,1.5,18446744073709551615], \"hello\":\"Ada\", "
                            "\"times\":1, \"caller\":\"ada\"}");
    mishap_expect_value(t, "hello", "Ada");
    mishap_expect_value(t, "times", 1);
    mishap_expect_value(t, "left[1]", 1.5);
    mishap_expect_value(t, "left[2]", UINT64_MAX);
    mishap_expect_value(t, "left", mishap_value_of_json("[1,1.5,18446744073709551615]"));
    mishap_expect_nothing(t, "left[3]");
    mishap_expect_nothing(t, "absent.deeper");
    mishap_test_call_with(t, "greet", MISHAP_PAIRS({ "times", MISHAP_VALUE(10) }));
    mishap_expect_code(t, VALIDATION_ERROR);
    mishap_expect_field(t, "name", "field_required");
    mishap_expect_field(t, "times", "value_out_of_range");
    mishap_test_call(t, "refuse", NULL);
    mishap_expect_code(t, NOT_FOUND);
    mishap_expect_told(t, "shelf", 7);
    mishap_expect_told(t, "empty", true);
    mishap_expect(t, mishap_test_failure(t) && !mishap_test_answered(t), "it %s", "failed");
    mishap_test_call(t, "where", NULL);
    mishap_expect_value(t, "folder", mishap_test_folder(t));
    static const char *const sent[] = { "X-Other", "1", "accept-language", "de\nX", NULL };
    mishap_test_headers(t, sent);
    mishap_test_call(t, "headed", NULL);
    mishap_expect_answer(t, "{\"language\":\"de\",\"agent\":null}");
    mishap_test_headers(t, NULL);
    mishap_test_call(t, "headed", NULL);
    mishap_expect_nothing(t, "language");
    mishap_test_call(t, "clock", NULL);
    mishap_expect_value(t, "hours", 12);
    mishap_expect_value(t, "hours", 12.0);
}

static void expectations_that_hold_are_ok(void **state)
{
    (void)state;
    play(expect_what_holds);
    assert_int_equal(code, 0);
    assert_null(strstr(told, "not ok"));
    assert_null(strstr(told, "#"));
    assert_non_null(strstr(told, "ok 1 - greet: works\nok 2 - greet: answers {\"left\":"));
    assert_non_null(strstr(told, "\nok 3 - greet: hello is \"Ada\"\n"));
    assert_non_null(strstr(told, "\nok 10 - greet: fails with VALIDATION_ERROR\n"));
    assert_non_null(strstr(told, "\nok 11 - greet: says field_required of name\n"));
    assert_non_null(strstr(told, "\nok 15 - refuse: empty is told as true\n"));
    assert_non_null(strstr(told, "\nok 16 - refuse: it failed\n"));
    assert_non_null(strstr(told, "\n1..21\n"));
}

static void expect_what_does_not_hold(mishap_test *t)
{
    mishap_test_call(t, "greet", "{\"name\":\"Ada\"}");
    mishap_expect_answer(t, "{\"hello\":\"Ada\"}");
    mishap_expect_answer(t, "no json");
    mishap_expect_value(t, "hello", "Bob");
    mishap_expect_value(t, "times", "1");
    mishap_expect_value(t, "times", 1.5);
    mishap_expect_value(t, "times", true);
    mishap_expect_value(t, "times", false);
    mishap_expect_value(t, "hello", 0);
    mishap_expect_value(t, "hello", 0.0);
    mishap_expect_value(t, "caller", false);
    mishap_expect_value(t, "times", UINT64_MAX);
    mishap_expect_value(t, "left", mishap_value_of_json("[]"));
    mishap_expect_nothing(t, "hello");
    mishap_expect_code(t, NOT_FOUND);
    mishap_expect_field(t, "name", "field_required");
    mishap_expect_told(t, "shelf", 7);
    mishap_test_call(t, "crash", "{\"name\":\"Ada\"}");
    mishap_expect_ok(t);
    mishap_expect_answer(t, "{}");
    mishap_expect_value(t, "hello", "Ada");
    mishap_expect_code(t, NOT_FOUND);
    mishap_test_call(t, "refuse", NULL);
    mishap_expect_told(t, "shelf", 8);
    mishap_expect_told(t, "floor", 7);
    mishap_test_call(t, "greet", NULL);
    mishap_expect_field(t, "name", "invalid_type");
    mishap_expect_field(t, "nome", "field_required");
    mishap_expect(t, false, "never");
    mishap_expect(t, false, "it is # SKIP\nok 99 - forged");
    mishap_test_call(t, "greet", "{\"name\":\"Ada\"}");
    mishap_expect_value(t, "left[", 1);
    mishap_expect_nothing(t, "left..x");
    mishap_expect_nothing(t, NULL);
}

static void expectations_that_do_not_hold_say_what_came(void **state)
{
    (void)state;
    size_t failed = 0;
    play(expect_what_does_not_hold);
    assert_int_equal(code, 1);
    for (const char *at = told; (at = strstr(at, "not ok ")); at++)
        failed++;
    assert_int_equal(failed, 29);
    assert_non_null(strstr(told, "\n1..29\n"));
    assert_null(strstr(told, "\nok "));
    assert_non_null(strstr(told, "not ok 26 - greet: it is \\# SKIP ok 99 - forged\n"));
    assert_non_null(strstr(told, "not ok 3 - greet: hello is \"Bob\"\n# expected at "));
    assert_non_null(strstr(told, "invoke_test.c:"));
    assert_non_null(strstr(told, "# {\"hello\":\"Ada\",\"caller\":null,"));
    assert_non_null(strstr(told, "crashed with SIGABRT")); /* the private side: it is their test */
    assert_non_null(strstr(told, "not ok 27 - greet: left[ is 1\n# expected at "));
    assert_non_null(strstr(told, "# What is expected is not at a path, such as items[2].name.\n"));
    assert_non_null(strstr(told, "# What is expected is not JSON.\n"));
}

static char folder_of_test[64];

static void expect_nothing_at_all(mishap_test *t)
{
    snprintf(folder_of_test, sizeof folder_of_test, "%s", mishap_test_folder(t));
    char path[96];
    snprintf(path, sizeof path, "%s/inner", folder_of_test);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/inner/file", folder_of_test);
    close(open(path, O_CREAT | O_WRONLY, 0600));
}

static void a_test_without_expectations_fails_and_leaves_no_folder(void **state)
{
    (void)state;
    struct stat about;
    play(expect_nothing_at_all);
    assert_int_equal(code, 1);
    assert_string_equal(told, "1..0\n");
    assert_int_not_equal(stat(folder_of_test, &about), 0);
    free(told);
}

static void a_call_within_another_is_cancelled_with_it_and_has_its_time(void **state)
{
    (void)state;
    for (unsigned char cancel = 0; cancel < 2; cancel++) {
        mishap_answered *answered;
        mishap *failure = mishap_invoke(
            &app, "look-within", NULL,
            &(mishap_invocation){ .cancel = &cancel, .timeout_ms = 10000 }, &answered);
        assert_null(failure);
        assert_int_equal(mishap_boolean(answered->json, "inside.cancelled"), cancel);
        assert_in_range(mishap_integer(answered->json, "inside.left"), 1, 10000);
        assert_false(mishap_boolean(answered->json, "afterwards")); /* what was lent is forgotten */
        assert_false(mishap_cancelled(answered->json));
        assert_false(mishap_boolean(answered->json, "outside.cancelled"));
        assert_in_range(mishap_integer(answered->json, "outside.left"), 10001, 30000);
        mishap_answered_free(answered);
    }
}

static void a_call_within_another_whose_time_is_over_has_none(void **state)
{
    mishap_answered *answered;
    (void)state;
    assert_null(
        mishap_invoke(&app, "look-late", NULL, &(mishap_invocation){ .timeout_ms = 5 }, &answered));
    assert_in_range(mishap_integer(answered->json, "left"), 0, 1);
    mishap_answered_free(answered);
}

static void a_service_adds_to_every_failure_of_its_operations(void **state)
{
    static const char *const arguments[] = { "{}", "{\"other\":1}", "{", "{\"name\":\"x\"}" };
    (void)state;
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        mishap *failure = mishap_invoke(&app, "amended", arguments[i], NULL, NULL);
        assert_non_null(failure);
        const mishap_public *seen = mishap_told(failure);
        assert_true(mishap_text_equal(seen->type, T("Amended")));
        const mishap_member *member = seen->context;
        while (member->next)
            member = member->next;
        assert_true(mishap_text_equal(member->key, T("of")));
        assert_true(mishap_text_equal(member->value.text, T("amended")));
        mishap_free(failure);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_operation_answers_a_c_call),
        TEST(pairs_are_arguments),
        TEST(a_c_call_goes_through_the_same_checks),
        TEST(a_c_call_may_have_less_time_than_declared),
        TEST(a_c_call_tells_the_operator_under_its_id),
        TEST(a_failure_of_a_c_call_is_recorded_if_the_program_wants_that),
        TEST(a_code_is_declared_by_the_operation_its_service_or_the_program),
        TEST(a_broken_declaration_is_told),
        TEST(an_operation_that_is_not_there_has_a_near_one),
        TEST(a_handler_invokes_others_that_crash),
        TEST(what_an_operation_knows_to_be_secret_is_in_no_failure_of_a_c_call),
        TEST(an_answer_knows_the_id_of_its_call_after_the_call),
        TEST(other_kinds_of_answers_have_their_media_types),
        TEST(without_memory_a_c_call_fails_and_leaves_nothing),
        TEST(a_call_within_another_is_cancelled_with_it_and_has_its_time),
        TEST(a_call_within_another_whose_time_is_over_has_none),
        TEST(a_service_adds_to_every_failure_of_its_operations),
        TEST(expectations_that_hold_are_ok),
        TEST(expectations_that_do_not_hold_say_what_came),
        TEST(a_test_without_expectations_fails_and_leaves_no_folder),
    };
    return RUN(tests);
}
