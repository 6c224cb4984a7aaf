/* Settings of services: from where they come, what is wrong with them, who reads them. */
#include "operation/settings.h"

#include <unistd.h>

#include "mishap/test.h"
#include "operation/call.h"
#include "operation/secret.h"
#include "testing.h"

#define SECRET "marker-of-the-secret"

/* -- a program with two services --------------------------------------------------------------- */

static char seen[400];
static bool ask_wrongly, fail_with_secret;

static mishap *open_press(const mishap_setup *setup, void **state)
{
    const mishap_call *settings = setup->settings;
    if (ask_wrongly)
        mishap_integer(settings, "folder");
    snprintf(seen, sizeof seen, "%s %lld %s %s %s", mishap_string(settings, "folder"),
             (long long)mishap_integer(settings, "copies"), mishap_string(settings, "paper"),
             mishap_boolean(settings, "fast") ? "fast" : "slow", mishap_json(settings, "colours"));
    *state = seen;
    if (fail_with_secret)
        return mishap_note(
            mishap_raise(NOT_CONFIGURED, "The door says %s.", mishap_string(settings, "token")),
            "reason", mishap_string(settings, "token"));
    return NULL;
}

static const mishap_param press_settings[] = {
    { "folder", MISHAP_STRING, .length = { 1, 200 }, .initial = "\"/usual\"", .help = "A folder" },
    { "copies", MISHAP_INTEGER, .range = { 1, 9 }, .initial = "2" },
    { "paper", MISHAP_ENUM, .choices = MISHAP_CHOICES("a4", "letter"), .initial = "\"a4\"" },
    { "fast", .type = MISHAP_BOOLEAN },
    { "colours", .type = MISHAP_ARRAY, .items = MISHAP_ITEM(MISHAP_STRING) },
    { "token", MISHAP_STRING, .secret = true, .length = { 8, 100 } },
    { "store", .type = MISHAP_STRING },
    { "door", .type = MISHAP_OBJECT,
      .members = MISHAP_PARAMS({ "number", .type = MISHAP_INTEGER }) },
    { 0 },
};
static const mishap_param vault_settings[] = {
    { "store", MISHAP_STRING, .length = { 1, 12 } },
    { "since", MISHAP_STRING, .format = "date" },
    { 0 },
};
static const mishap_param listed_settings[] = { { "level", MISHAP_INTEGER, .required = true },
                                                { 0 } };

static const mishap_service press = { "press", "Prints", open_press, .settings = press_settings };
static const mishap_service vault = { "vault", "Keeps", .settings = vault_settings };
static const mishap_service listed = { "listed", "No operation", .settings = listed_settings };

static mishap *show(mishap_call *call)
{
    mishap_answer_member(call, "seen", (const char *)mishap_state(call));
    return mishap_answer_member(call, "folder", mishap_string(mishap_settings(call), "folder"));
}

static mishap *keep(mishap_call *call)
{
    return mishap_answer_member(call, "store", mishap_string(mishap_settings(call), "store"));
}

static mishap *tell_secret(mishap_call *call)
{
    return mishap_tell(
        mishap_raise(UNAVAILABLE, "It is %s.", mishap_string(mishap_settings(call), "token")), "it",
        mishap_string(mishap_settings(call), "token"));
}

static mishap *ask_for_nothing(mishap_call *call)
{
    mishap_settings(call);
    return NULL;
}

static const mishap_param serve_params[] = { { "data", .type = MISHAP_STRING },
                                             { "listen", .type = MISHAP_STRING },
                                             { "max_age", .type = MISHAP_STRING },
                                             { 0 } };
static const mishap_operation operations[] = {
    { "show", "Show", .run = show, .service = &press },
    { "tell", "Tell", .run = tell_secret, .service = &press, .raises = MISHAP_RAISES(UNAVAILABLE) },
    { "keep", "Keep", .run = keep, .service = &vault },
    { "bare", "Bare", .run = ask_for_nothing },
    { "serve", "Serve", serve_params, ask_for_nothing, .resident = true },
    { 0 },
};
static const mishap_app app = { .name = "my-app", .operations = operations };

static int begin(void **state)
{
    (void)state;
    ask_wrongly = fail_with_secret = false;
    return 0;
}

static int end(void **state)
{
    (void)state;
    static const char *const variables[] = { "MY_APP_PRESS_FOLDER", "MY_APP_PRESS_COPIES",
                                             "MY_APP_PRESS_FAST",   "MY_APP_PRESS_COLOURS",
                                             "MY_APP_PRESS_TOKEN",  "MY_APP_PRESS_PAPER",
                                             "MY_APP_VAULT_STORE",  "MY_APP_PRESS_DOOR" };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    mishap_service_close_all();
    mishap_service_use(NULL);
    return mishap_settings_use(&app, NULL) != NULL;
}

static void use(const char *flags, const char *file)
{
    mishap_settings_from from = { mishap_text_of(flags), mishap_text_of(file), true };
    mishap_service_close_all();
    assert_null(mishap_settings_use(&app, &from));
}

/* What the press was opened with. */
static void assert_opened(const char *expected)
{
    static const mishap_setup setup = { .data = "/tmp" };
    void *state;
    mishap_service_use(&setup);
    assert_null(mishap_service_open(&app, &press, &state));
    assert_string_equal(seen, expected);
}

/* All fields of a failure, "name:error name:error", which is freed. */
static void assert_findings(mishap *failure, const char *expected)
{
    char found[2000] = "";
    assert_non_null(failure);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_CONFIGURED);
    for (const mishap_field *field = mishap_told(failure)->fields; field; field = field->next)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%.*s:%.*s",
                 *found ? " " : "", (int)field->field.length, field->field.data,
                 (int)field->error.length, field->error.data);
    assert_string_equal(found, expected);
    mishap_free(failure);
}

/* -- from where -------------------------------------------------------------------------------- */

static void a_flag_comes_before_a_variable_a_file_and_the_default(void **state)
{
    (void)state;
    use(NULL, NULL);
    assert_opened("/usual 2 a4 slow (null)");
    use(NULL, "{\"press\":{\"folder\":\"/file\",\"copies\":3}}");
    assert_opened("/file 3 a4 slow (null)");
    setenv("MY_APP_PRESS_FOLDER", "/variable", 1);
    setenv("MY_APP_PRESS_PAPER", "", 1); /* as if it were not there */
    use(NULL, "{\"press\":{\"folder\":\"/file\",\"copies\":3}}");
    assert_opened("/variable 3 a4 slow (null)");
    use("{\"press\":{\"folder\":\"/flag\"}}", "{\"press\":{\"folder\":\"/file\",\"copies\":3}}");
    assert_opened("/flag 3 a4 slow (null)");
    use("{\"press\":{\"folder\":null}}", "{\"press\":{\"copies\":null}}");
    assert_opened("/variable 2 a4 slow (null)");
}

static void variables_are_read_by_the_type_of_their_setting(void **state)
{
    (void)state;
    setenv("MY_APP_PRESS_COPIES", "7", 1);
    setenv("MY_APP_PRESS_FAST", "true", 1);
    setenv("MY_APP_PRESS_COLOURS", "red", 1);
    use(NULL, NULL);
    assert_opened("/usual 7 a4 fast [\"red\"]");
    setenv("MY_APP_PRESS_COLOURS", "[\"red\",\"blue\"]", 1);
    use(NULL, NULL);
    assert_opened("/usual 7 a4 fast [\"red\",\"blue\"]");
}

static const char *kept_in(void)
{
    const mishap_param *declared;
    yyjson_val *value;
    assert_null(mishap_settings_check(&app, &vault));
    assert_true(mishap_settings_find(&vault, &declared, &value));
    return yyjson_get_str(yyjson_obj_get(value, "store"));
}

static void one_store_stands_for_all_that_are_given_none(void **state)
{
    (void)state;
    use("{\"store\":\"flag:all\"}", "{\"vault\":{\"store\":\"file:own\"}}");
    assert_string_equal(kept_in(), "flag:all");
    use("{\"store\":\"flag:all\",\"vault\":{\"store\":\"flag:own\"}}", NULL);
    assert_string_equal(kept_in(), "flag:own");
    use(NULL, "{\"store\":\"file:all\"}");
    assert_string_equal(kept_in(), "file:all");
    use(NULL, "{\"store\":\"file:all\",\"vault\":{\"store\":\"file:own\"}}");
    assert_string_equal(kept_in(), "file:own");
    setenv("MY_APP_VAULT_STORE", "variable", 1);
    use(NULL, "{\"vault\":{\"store\":\"file:own\"}}");
    assert_string_equal(kept_in(), "variable");
    use("{\"store\":5}", NULL);
    assert_findings(mishap_settings_check(&app, NULL), "--store:invalid_type --store:invalid_type");
    use("{\"store\":\"longer than vaults take\"}", NULL); /* the rules of each service hold */
    assert_findings(mishap_settings_check(&app, NULL), "--store:invalid_length");
    assert_true(mishap_app_has_store(&app));
}

static void settings_that_nobody_has_given_are_read_when_a_service_is_opened(void **state)
{
    (void)state;
    setenv("MY_APP_PRESS_FOLDER", "/variable", 1);
    assert_opened("/variable 2 a4 slow (null)");
    mishap_service_close_all();
    setenv("MY_APP_PRESS_COPIES", "70", 1);
    assert_null(mishap_settings_use(&app, NULL));
    void *ignored;
    mishap *m = mishap_service_open(&app, &press, &ignored);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_NOT_CONFIGURED);
    assert_string_equal(mishap_told(m)->cause.data, "A setting is not valid: MY_APP_PRESS_COPIES.");
    mishap_free(m);
}

/* -- what is wrong ----------------------------------------------------------------------------- */

static void all_that_is_wrong_is_found_at_once_under_the_name_it_came_by(void **state)
{
    (void)state;
    setenv("MY_APP_PRESS_FAST", "perhaps", 1);
    setenv("MY_APP_PRESS_COLOURS", "\xFF", 1);
    use("{\"press\":{\"copies\":10,\"paper\":\"a5\"}}",
        "{\"press\":{\"foldr\":\"x\",\"token\":5,\"door\":{\"number\":\"x\",\"numbr\":1}},"
        "\"vault\":{\"since\":\"2026-02-31\"},\"valt\":{},\"lisen\":1,\"listen\":7}");
    mishap *m = mishap_settings_check(&app, NULL);
    assert_non_null(m);
    const mishap_field *unknown = mishap_told(m)->fields;
    assert_string_equal(unknown->field.data, "press.foldr");
    assert_string_equal(unknown->expected.text.data, "folder");
    assert_findings(m, "press.foldr:unknown_field press.door.numbr:unknown_field "
                       "valt:unknown_field lisen:unknown_field "
                       "MY_APP_PRESS_COLOURS:not_utf8 "
                       "--press-copies:value_out_of_range --press-paper:pattern_mismatch "
                       "MY_APP_PRESS_FAST:invalid_type press.token:invalid_type "
                       "press.door.number:invalid_type vault.since:pattern_mismatch");
}

static void a_sentence_names_what_the_operator_wrote(void **state)
{
    (void)state;
    setenv("MY_APP_PRESS_PAPER", "a5", 1);
    use(NULL, NULL);
    mishap *m = mishap_settings_check(&app, NULL);
    assert_string_equal(mishap_told(m)->fields->message.data,
                        "MY_APP_PRESS_PAPER must be one of a4 or letter, not a5.");
    assert_string_equal(mishap_told(m)->message.data,
                        "A setting is not valid: MY_APP_PRESS_PAPER.");
    mishap_free(m);
}

static void a_service_is_an_object_and_a_file_is_one(void **state)
{
    (void)state;
    static const char *const broken[] = { "",
                                          "nothing",
                                          "[]",
                                          "5",
                                          "{\"press\":{},\"press\":{}}",
                                          "{\"press\":{\"folder\":\"a\",\"folder\":\"b\"}}",
                                          "{\"press\":{\"folder\":\"\\ud800\"}}",
                                          "{\"pre\\u0000ss\":1}" };
    use(NULL, "{\"press\":5,\"vault\":[]}");
    assert_findings(mishap_settings_check(&app, NULL), "press:invalid_type vault:invalid_type");
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        mishap_settings_from from = { { NULL, 0 }, mishap_text_of(broken[i]), true };
        mishap *m = mishap_settings_use(&app, &from);
        assert_non_null(m);
        assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_BAD_REQUEST);
        mishap_free(m);
        assert_null(mishap_settings_check(&app, NULL)); /* nothing of it is used */
    }
}

static void a_command_checks_its_own_service_and_all_names(void **state)
{
    (void)state;
    use(NULL, "{\"press\":{\"copies\":10},\"valt\":1}");
    assert_findings(mishap_settings_check(&app, &vault), "valt:unknown_field");
    assert_findings(mishap_settings_check(&app, &press),
                    "valt:unknown_field press.copies:value_out_of_range");
}

static void a_service_that_is_listed_has_settings_without_operations(void **state)
{
    (void)state;
    const mishap_app with = { .name = "my-app",
                              .operations = operations,
                              .services = MISHAP_SERVICES(&listed, &press) };
    const mishap_service *services[MISHAP_MOST_SERVICES];
    assert_int_equal(mishap_services_of(&with, services), 3);
    assert_ptr_equal(services[0], &listed);
    assert_ptr_equal(services[2], &vault);
    use(NULL, NULL);
    assert_findings(mishap_settings_check(&with, NULL), "--listed-level:field_required");
    assert_null(mishap_declaration_check(&with));
}

/* -- who reads them ---------------------------------------------------------------------------- */

static void handlers_and_tests_read_settings_too(void **state)
{
    (void)state;
    mishap_answered *answered;
    mishap_setup setup = { .data = "/tmp",
                           .config = "{\"press\":{\"folder\":\"/c\"},\"store\":\"c:all\"}" };
    assert_null(mishap_app_open(&app, &setup));
    assert_null(mishap_invoke(&app, "show", NULL, NULL, &answered));
    assert_string_equal(mishap_string(answered->json, "folder"), "/c");
    assert_string_equal(mishap_string(answered->json, "seen"), "/c 2 a4 slow (null)");
    mishap_answered_free(answered);
    assert_null(mishap_invoke(&app, "keep", NULL, NULL, &answered));
    assert_string_equal(mishap_string(answered->json, "store"), "c:all");
    mishap_answered_free(answered);
    mishap_app_close();

    setup.config = "{\"press\":{\"copies\":0},\"lisen\":1}";
    assert_findings(mishap_app_open(&app, &setup),
                    "lisen:unknown_field press.copies:value_out_of_range");
    setup.config = "{";
    mishap *m = mishap_app_open(&app, &setup);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_BAD_REQUEST);
    mishap_free(m);
}

static void a_test_begins_with_settings(void **state)
{
    (void)state;
    char path[] = "/tmp/mishap-told-XXXXXX";
    int output = mkstemp(path), before = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(output, STDOUT_FILENO);
    mishap_test *test = mishap_test_begin_with(
        &app, "{\"press\":{\"folder\":\"/test\"},\"store\":\"t:own\"}");
    mishap_test_call(test, "show", NULL);
    bool holds = mishap_expect_value(test, "folder", "/test");
    mishap_test_end(test);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    close(output);
    unlink(path);
    assert_true(holds);
}

static void a_service_or_handler_that_asks_wrongly_is_ended(void **state)
{
    (void)state;
    mishap_answered *answered;
    assert_null(mishap_app_open(&app, &(mishap_setup){ .data = "/tmp" }));
    mishap *m = mishap_invoke(&app, "bare", NULL, NULL, &answered);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
    mishap_free(m);
    ask_wrongly = true;
    m = mishap_invoke(&app, "show", NULL, NULL, &answered);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_UNAVAILABLE);
    mishap_buffer account = { 0 };
    mishap_account(m, &account);
    mishap_buffer_put(&account, "", 1);
    assert_non_null(strstr(account.data, "with a type other than the declared type"));
    mishap_buffer_release(&account);
    mishap_free(m);
    ask_wrongly = false;
    assert_null(mishap_invoke(&app, "show", NULL, NULL, &answered));
    mishap_answered_free(answered);
}

static void assert_hidden(mishap *m)
{
    mishap_buffer account = { 0 };
    assert_non_null(m);
    mishap_account(m, &account);
    mishap_buffer_put(&account, "", 1);
    assert_null(strstr(account.data, SECRET));
    assert_non_null(strstr(account.data, "[redacted]"));
    mishap_buffer_release(&account);
    mishap_free(m);
}

static void a_secret_setting_is_in_no_failure(void **state)
{
    (void)state;
    static const mishap_setup setup = { .data = "/tmp" };
    void *ignored;
    mishap_call *call;
    setenv("MY_APP_PRESS_TOKEN", SECRET, 1);
    use(NULL, NULL);
    mishap_service_use(&setup);
    fail_with_secret = true;
    assert_hidden(mishap_service_open(&app, &press, &ignored));
    fail_with_secret = false;

    assert_null(mishap_call_begin(&app, &operations[1], T("{}"), &call));
    mishap *m = mishap_call_run(call);
    mishap_hide_failure(m, operations[1].params, mishap_call_secrets(call));
    assert_hidden(m);
    mishap_call_end(call);

    setenv("MY_APP_PRESS_TOKEN", "hunter2", 1); /* too short */
    use(NULL, NULL);
    m = mishap_settings_check(&app, NULL);
    mishap_buffer account = { 0 };
    mishap_account(m, &account);
    mishap_buffer_put(&account, "", 1);
    assert_non_null(strstr(account.data, "MY_APP_PRESS_TOKEN"));
    assert_null(strstr(account.data, "hunter2"));
    mishap_buffer_release(&account);
    mishap_free(m);
}

/* -- declarations ------------------------------------------------------------------------------ */

static void assert_wrong(const mishap_service *service, const mishap_service *other,
                         const char *sentence)
{
    const mishap_app broken = { .name = "my-app",
                                .operations = operations,
                                .services = MISHAP_SERVICES(service, other) };
    mishap *m = mishap_declaration_check(&broken);
    assert_non_null(m);
    assert_string_equal(mishap_told(m)->message.data, sentence);
    mishap_free(m);
}

static void settings_that_could_not_be_given_are_refused(void **state)
{
    (void)state;
#define SERVICE(its_name, ...)                                                                     \
    (&(mishap_service){ .name = (its_name), .settings = MISHAP_PARAMS({ __VA_ARGS__ }) })
    assert_null(mishap_declaration_check(&app));
    assert_wrong(SERVICE("Bad Name", "a", .type = MISHAP_STRING), NULL,
                 "The declaration of the service `Bad Name` is not valid: it has settings, but its "
                 "name is not lower-case words separated by - or _.");
    assert_wrong(SERVICE("x", "a", MISHAP_STRING, .range = { 1, 2 }), NULL,
                 "The declaration of the service `x` is not valid: its setting `a` has a range, "
                 "which only an integer, a number, a decimal or money has.");
    assert_wrong(SERVICE("x", "dueDate", .type = MISHAP_STRING), NULL,
                 "The declaration of the service `x` is not valid: its setting `dueDate` has a "
                 "name that is not lower_snake.");
    assert_wrong(SERVICE("x", "a", MISHAP_STRING, .letter = 'a'), NULL,
                 "The declaration of the service `x` is not valid: its setting `a` has a short "
                 "flag, a position or a variable, which only parameters can have.");
    assert_wrong(SERVICE("x", "a", MISHAP_STRING, .environment = "A"), NULL,
                 "The declaration of the service `x` is not valid: its setting `a` has a short "
                 "flag, a position or a variable, which only parameters can have.");
    assert_wrong(SERVICE("x", "a", MISHAP_STRING, .positional = true), NULL,
                 "The declaration of the service `x` is not valid: its setting `a` has a short "
                 "flag, a position or a variable, which only parameters can have.");
    assert_wrong(SERVICE("max", "age", .type = MISHAP_STRING), NULL,
                 "The declaration of the service `max` is not valid: its setting `age` would have "
                 "the same flag as the parameter `max_age` of the operation `serve`.");
    assert_wrong(SERVICE("timeout", "ms", .type = MISHAP_STRING), NULL,
                 "The declaration of the service `timeout` is not valid: its setting `ms` would "
                 "have the same flag as an option of every command.");
    assert_wrong(SERVICE("x-y", "z", .type = MISHAP_STRING),
                 SERVICE("x", "y_z", .type = MISHAP_STRING),
                 "The declaration of the service `x` is not valid: its setting `y_z` would have "
                 "the same flag as the setting `z` of the service `x-y`.");
    assert_wrong(SERVICE("listen", "a", .type = MISHAP_STRING), NULL,
                 "The declaration of the service `listen` is not valid: it has settings, but its "
                 "name is the name of an option of the command `serve`.");
    assert_wrong(SERVICE("press", "a", .type = MISHAP_STRING), NULL,
                 "The declaration of the service `press` is not valid: it is declared twice, and "
                 "one declaration has settings.");
#undef SERVICE
}

/* A service may be called `store`: its settings in a file are not the address of all stores. */
static void settings_of_a_service_called_store_are_no_store(void **state)
{
    (void)state;
    static const mishap_param sizes[] = { { .name = "size", .type = MISHAP_INTEGER }, { 0 } };
    static const mishap_param stores[] = { { .name = "store", .type = MISHAP_STRING }, { 0 } };
    static const mishap_service store = { "store", "A shop", .settings = sizes };
    static const mishap_service archive = { "archive", "An archive", .settings = stores };
    static const mishap_service *const services[] = { &store, &archive, NULL };
    static const mishap_app shop = { .name = "shop",
                                     .operations = operations,
                                     .services = services };
    mishap_settings_from from = { .file = T("{\"store\":{\"size\":3}}"), .flags = true };
    assert_null(mishap_declaration_check(&shop));
    assert_null(mishap_settings_use(&shop, &from));
    assert_null(mishap_settings_check(&shop, &archive));
    assert_null(mishap_settings_use(&shop, NULL));
}

/* -- without memory ---------------------------------------------------------------------------- */

static void read_without_memory(const void *input)
{
    (void)input;
    mishap_settings_from from = { T("{\"press\":{\"copies\":10}}"),
                                  T("{\"press\":{\"folder\":\"/f\"},\"valt\":1}"), true };
    mishap *m = mishap_settings_use(&app, &from);
    if (!m)
        m = mishap_settings_check(&app, NULL);
    assert_non_null(m);
    mishap_free(m);
    mishap_free(mishap_settings_use(&app, &(mishap_settings_from){ .file = from.given }));
    mishap_free(mishap_settings_check(&app, &vault));
    mishap_free(mishap_settings_use(&app, NULL));
}

static void settings_survive_lack_of_memory(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(read_without_memory, NULL);
    mishap_use_allocator(NULL);
}

#define SETTINGS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SETTINGS_TEST(a_flag_comes_before_a_variable_a_file_and_the_default),
        SETTINGS_TEST(variables_are_read_by_the_type_of_their_setting),
        SETTINGS_TEST(one_store_stands_for_all_that_are_given_none),
        SETTINGS_TEST(settings_that_nobody_has_given_are_read_when_a_service_is_opened),
        SETTINGS_TEST(all_that_is_wrong_is_found_at_once_under_the_name_it_came_by),
        SETTINGS_TEST(a_sentence_names_what_the_operator_wrote),
        SETTINGS_TEST(a_service_is_an_object_and_a_file_is_one),
        SETTINGS_TEST(a_command_checks_its_own_service_and_all_names),
        SETTINGS_TEST(a_service_that_is_listed_has_settings_without_operations),
        SETTINGS_TEST(handlers_and_tests_read_settings_too),
        SETTINGS_TEST(a_test_begins_with_settings),
        SETTINGS_TEST(a_service_or_handler_that_asks_wrongly_is_ended),
        SETTINGS_TEST(a_secret_setting_is_in_no_failure),
        SETTINGS_TEST(settings_that_could_not_be_given_are_refused),
        SETTINGS_TEST(settings_of_a_service_called_store_are_no_store),
        SETTINGS_TEST(settings_survive_lack_of_memory),
    };
    return RUN(tests);
}
