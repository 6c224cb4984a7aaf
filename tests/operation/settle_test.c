/* A service that settles its calls, called from C: what is called when, and what fails how. Callers
 * that name themselves. */
#include "testing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mishap/invoke.h"
#include "operation/caller.h"
#include "operation/changes.h"

static char steps[200];                  /* what was called */
static const mishap_code *fails_at[128]; /* the code that a step fails with, by its letter */

static mishap *step(char letter)
{
    size_t length = strlen(steps);
    assert_true(length + 1 < sizeof steps);
    steps[length] = letter;
    const mishap_code *code = fails_at[(size_t)letter];
    return code ? mishap_raise_at(code, MISHAP_HERE, "Step %c.", letter) : NULL;
}

static mishap *begin(mishap_call *call)
{
    assert_ptr_equal(mishap_state(call), steps);
    return step('b');
}

static mishap *end(mishap_call *call, bool keep)
{
    assert_ptr_equal(mishap_state(call), steps);
    return step(keep ? 'k' : 'u');
}

static mishap *settle(void *state)
{
    assert_ptr_equal(state, steps);
    return step('s');
}

static mishap *open_service(const mishap_setup *setup, void **state)
{
    (void)setup;
    *state = steps;
    return NULL;
}

static char ids[2][64];
static bool loses;

static mishap *run(mishap_call *call)
{
    snprintf(ids[0], sizeof ids[0], "%s", mishap_call_id(call));
    snprintf(ids[1], sizeof ids[1], "%s", mishap_call_id(call));
    assert_false(mishap_call_is_repeated(call));
    mishap_changed(call, "thing://%d", 1);
    mishap_changed(call, "thing://%d", 2);
    mishap *failure = step('h');
    if (failure)
        return failure;
    if (loses)
        mishap_service_lost(call);
    if (mishap_boolean(call, "wrong"))
        return mishap_answer_member(call, "count", "no number");
    mishap_answer_member(call, "caller", mishap_caller(call));
    mishap_answer_member(call, "free", mishap_caller_is_free(call));
    return mishap_answer_member(call, "count", 1);
}

static int asked; /* how often apart() was called */

static bool is_wrong(const mishap_call *call)
{
    asked++;
    return mishap_boolean(call, "wrong");
}

static const mishap_settlement settlement = { .begin = begin, .end = end, .settle = settle };
static const mishap_settlement but_wrong = {
    .begin = begin, .end = end, .settle = settle, .apart = is_wrong
};
static const mishap_settlement wrong_alone = { .apart = is_wrong };
static mishap_service service = { "things", .open = open_service, .names_callers = true,
                                  .settlement = &settlement };
static const mishap_operation operations[] = {
    { "add", "Add", MISHAP_PARAMS({ "wrong", MISHAP_BOOLEAN, .help = "Answer wrongly" }), run,
      .raises = MISHAP_RAISES(NOT_FOUND), .service = &service,
      .answers = MISHAP_PARAMS({ "count", MISHAP_INTEGER, .required = true },
                               { "caller", MISHAP_STRING, .help = "Who calls" },
                               { "free", MISHAP_BOOLEAN, .help = "May it name itself?" }) },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

static char changes[100];

static void hear(void *state, mishap_text address)
{
    size_t length = strlen(changes);
    (void)state;
    snprintf(changes + length, sizeof changes - length, "%.*s ", (int)address.length, address.data);
    assert_int_equal(strchr(steps, 's') != NULL, strchr(steps, 'b') != NULL); /* once it counts */
}

/* `failing`: a step that fails, with NOT_FOUND; 0: none. The code of the call. */
static const mishap_code *invoke(char failing, const mishap_code *with, const char *arguments)
{
    memset(steps, 0, sizeof steps);
    memset(changes, 0, sizeof changes);
    memset(fails_at, 0, sizeof fails_at);
    fails_at[(size_t)failing] = with;
    mishap_changes_heard_by(NULL, NULL);
    mishap_changes_heard_by(hear, NULL);
    mishap_answered *answered = NULL;
    mishap *failure = mishap_invoke(&app, "add", arguments, NULL, &answered);
    const mishap_code *code = failure ? mishap_told(failure)->code : NULL;
    assert_int_equal(answered == NULL, failure != NULL);
    mishap_answered_free(answered);
    mishap_free(failure);
    return code;
}

static void a_call_is_begun_run_ended_and_settled(void **state)
{
    static const struct {
        char failing;
        const char *steps;
    } rows[] = {
        { 0, "bhks" }, { 'b', "b" }, { 'h', "bhus" }, { 'k', "bhkus" }, { 's', "bhks" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const mishap_code *code = invoke(rows[i].failing, MISHAP_CODE_NOT_FOUND, "{}");
        assert_ptr_equal(code, rows[i].failing ? MISHAP_CODE_NOT_FOUND : NULL);
        assert_string_equal(steps, rows[i].steps);
        assert_string_equal(changes, rows[i].failing ? "" : "thing://1 thing://2 ");
    }
}

static void a_code_that_is_not_declared_is_an_internal_error(void **state)
{
    (void)state;
    for (const char *at = "bhks"; *at; at++)
        assert_ptr_equal(invoke(*at, MISHAP_CODE_CONFLICT, "{}"), MISHAP_CODE_INTERNAL_ERROR);
    assert_ptr_equal(invoke('s', MISHAP_CODE_UNAVAILABLE, "{}"), MISHAP_CODE_UNAVAILABLE);
}

static void what_a_wrong_answer_tells_of_is_undone(void **state)
{
    (void)state;
    assert_ptr_equal(invoke(0, NULL, "{\"wrong\":true}"), MISHAP_CODE_INTERNAL_ERROR);
    assert_string_equal(steps, "bhus");
    assert_string_equal(changes, "");
}

static void what_cannot_be_undone_is_not_settled(void **state)
{
    (void)state;
    memset(steps, 0, sizeof steps);
    assert_ptr_equal(invoke('u', MISHAP_CODE_UNAVAILABLE, "{\"wrong\":true}"),
                     MISHAP_CODE_INTERNAL_ERROR);
    assert_string_equal(steps, "bhu");
}

static void a_call_that_has_lost_its_service_does_not_count(void **state)
{
    (void)state;
    loses = true;
    assert_ptr_equal(invoke(0, NULL, "{}"), MISHAP_CODE_UNAVAILABLE);
    loses = false;
    assert_string_equal(steps, "bhu");
}

static void a_call_has_one_id_and_another_call_has_another(void **state)
{
    char first[64];
    (void)state;
    assert_null(invoke(0, NULL, "{}"));
    assert_int_equal(strlen(ids[0]), 36);
    assert_string_equal(ids[0], ids[1]);
    memcpy(first, ids[0], sizeof first);
    assert_null(invoke(0, NULL, "{}"));
    assert_string_not_equal(first, ids[0]);
}

/* -- declarations ------------------------------------------------------------------------------ */

static void expect_refused(const mishap_service *declared, bool quick, const char *words)
{
    const mishap_operation list[] = {
        { "add", "Add", .run = run, .service = declared, .quick = quick },
        { 0 },
    };
    mishap *failure = mishap_declaration_check(
        &(mishap_app){ .name = "sample", .version = "1.0", .operations = list });
    assert_non_null(failure);
    mishap_text message = mishap_public_message(mishap_told(failure));
    if (!memmem(message.data, message.length, words, strlen(words)))
        fail_msg("%.*s", (int)message.length, message.data);
    mishap_free(failure);
}

static void a_call_that_is_apart_is_only_run(void **state)
{
    static const struct {
        const mishap_settlement *settlement;
        const char *arguments, *steps, *changes;
    } rows[] = {
        { &but_wrong, "{}", "bhks", "thing://1 thing://2 " },
        { &but_wrong, "{\"wrong\":true}", "h", "thing://1 thing://2 " },
        { &wrong_alone, "{}", "h", "thing://1 thing://2 " },
        { &wrong_alone, "{\"wrong\":true}", "h", "thing://1 thing://2 " },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        service.settlement = rows[i].settlement;
        asked = 0;
        invoke(0, NULL, rows[i].arguments);
        assert_string_equal(steps, rows[i].steps);
        assert_string_equal(changes, rows[i].changes);
        assert_int_equal(asked, rows[i].settlement == &but_wrong); /* never while it runs */
    }
    service.settlement = &settlement;
}

static bool is_apart(const mishap_call *call)
{
    (void)call;
    return false;
}

static void wrong_declarations_are_refused(void **state)
{
    static const mishap_settlement wrong[] = { { .begin = begin, .apart = is_apart },
                                               { .end = end, .apart = is_apart },
                                               { 0 } };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(&(mishap_service){ .name = "a", .settlement = &wrong[i] }, false,
                       "a settlement without settle()");
    expect_refused(&(mishap_service){ .name = "a", .settlement = &settlement }, true, "is quick");
    expect_refused(&(mishap_service){ .name = "a", .http_dialect = "condition-report" }, false,
                   "has the HTTP dialect `condition-report`");
}

static void these_are_formats_of_failures_over_http(void **state)
{
    static const char *const names[] = { "http-api", "tool-result", "artifact",
                                         "problem",  "json-api",    "google-rpc" };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        service.http_dialect = names[i];
        assert_null(mishap_declaration_check(&app));
    }
    service.http_dialect = NULL;
}

/* -- callers ----------------------------------------------------------------------------------- */

static void a_name_has_so_many_of_these_characters(void **state)
{
    char name[MISHAP_CALLER_LONGEST + 2];
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool first = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        char text[2] = { (char)c, 'a' }, turned[2] = { 'a', (char)c };
        assert_int_equal(mishap_caller_is_name((mishap_text){ text, 2 }), first);
        assert_int_equal(mishap_caller_is_name((mishap_text){ turned, 2 }),
                         first || c == '.' || c == '_' || c == '-');
    }
    memset(name, 'a', sizeof name);
    for (size_t length = 0; length <= sizeof name; length++)
        assert_int_equal(mishap_caller_is_name((mishap_text){ name, length }),
                         length >= 1 && length <= MISHAP_CALLER_LONGEST);
}

static void a_caller_in_c_is_who_it_says(void **state)
{
    mishap_answered *answered;
    (void)state;
    memset(fails_at, 0, sizeof fails_at);
    memset(steps, 0, sizeof steps);
    assert_null(
        mishap_invoke(&app, "add", "{}", &(mishap_invocation){ .caller = "alice" }, &answered));
    assert_string_equal(mishap_string(answered->json, "caller"), "alice");
    assert_true(mishap_boolean(answered->json, "free"));
    mishap_answered_free(answered);
}

static void write_keys(const char *path, const char *text, size_t length)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, length), length);
    close(file);
}

static void any_line_of_the_file_may_be_a_key(void **state)
{
    static const struct {
        const char *text;
        mishap_caller_keys keys;
    } rows[] = { { "", MISHAP_CALLER_KEYS_GONE },
                 { "# a\n\n", MISHAP_CALLER_KEYS_GONE },
                 { "#", MISHAP_CALLER_KEYS_GONE },
                 { " \t\r\n", MISHAP_CALLER_KEYS_GONE },
                 { "# a # b\n #\n", MISHAP_CALLER_KEYS_GONE },
                 { "a 1 2\n", MISHAP_CALLER_KEYS_USED },
                 { "# a\nb", MISHAP_CALLER_KEYS_USED },
                 { "\n\nnonsense", MISHAP_CALLER_KEYS_USED },
                 { "disabled\na 1 2\n", MISHAP_CALLER_KEYS_USED },
                 { "disabl", MISHAP_CALLER_KEYS_USED },
                 { "disabledd\n", MISHAP_CALLER_KEYS_USED },
                 { " disabled\n", MISHAP_CALLER_KEYS_USED },
                 { "disable\n\n", MISHAP_CALLER_KEYS_USED },
                 { "disabled", MISHAP_CALLER_KEYS_UNUSED },
                 { "# a\n\ndisabled\n", MISHAP_CALLER_KEYS_UNUSED } };
    char folder[] = "/tmp/settle-test-XXXXXX", path[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/keys", folder);
    assert_int_equal(mishap_caller_keys_of(folder), MISHAP_CALLER_KEYS_UNUSED);
    assert_int_equal(mishap_caller_keys_of(NULL), MISHAP_CALLER_KEYS_UNUSED);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_keys(path, rows[i].text, strlen(rows[i].text));
        if (mishap_caller_keys_of(folder) != rows[i].keys)
            fail_msg("%s", rows[i].text);
        mishap *refused = mishap_caller_check_flag("alice", folder);
        assert_int_equal(refused != NULL, rows[i].keys != MISHAP_CALLER_KEYS_UNUSED);
        mishap_free(refused);
    }
    write_keys(path, "\0\0\n", 3); /* what a crash of the system may leave of a key */
    assert_int_equal(mishap_caller_keys_of(folder), MISHAP_CALLER_KEYS_USED);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0); /* it cannot be read: its outcome is not known */
    assert_int_equal(mishap_caller_keys_of(folder), MISHAP_CALLER_KEYS_USED);
    rmdir(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_is_begun_run_ended_and_settled),
        TEST(a_code_that_is_not_declared_is_an_internal_error),
        TEST(what_a_wrong_answer_tells_of_is_undone),
        TEST(what_cannot_be_undone_is_not_settled),
        TEST(a_call_that_has_lost_its_service_does_not_count),
        TEST(a_call_has_one_id_and_another_call_has_another),
        TEST(a_call_that_is_apart_is_only_run),
        TEST(wrong_declarations_are_refused),
        TEST(these_are_formats_of_failures_over_http),
        TEST(a_name_has_so_many_of_these_characters),
        TEST(a_caller_in_c_is_who_it_says),
        TEST(any_line_of_the_file_may_be_a_key),
    };
    return RUN(tests);
}
