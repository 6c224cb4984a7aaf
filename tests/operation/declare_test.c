/*
 * Broken declarations of programs, operations and services: each is refused with a sentence that
 * says where and why, and sound ones are not.
 */

#include "operation/declare.h"
#include "testing.h"
#include "declarations.h"
#include "task/task.h"

/* -- the program ------------------------------------------------------------------------------- */

static void a_program_has_a_name_and_operations(void **state)
{
    (void)state;
    const mishap_operation *sound = OPERATION(.danger = MISHAP_SAFE);
    assert_app(
        &(mishap_app){
            .name = "directory", .version = "1.0", .summary = "A directory", .operations = sound },
        NULL);
    static const char nameless[] = "The declaration of the program `` is not valid: it has no "
                                   "name, or one that is not a word.";
    assert_app(&(mishap_app){ .operations = sound }, nameless);
    assert_app(&(mishap_app){ .name = "", .operations = sound }, nameless);
    assert_app(&(mishap_app){ .name = "two words", .operations = sound },
               "The declaration of the program `two words` is not valid: it has no name, or one "
               "that is not a word.");
    assert_app(&(mishap_app){ .name = "d" },
               "The declaration of the program `d` is not valid: it has no operations.");
    assert_app(&(mishap_app){ .name = "d", .operations = (const mishap_operation[]){ { 0 } } },
               "The declaration of the program `d` is not valid: it has no operations.");
    assert_app(&(mishap_app){ .name = "d", .timeout_ms = -1, .operations = sound },
               "The declaration of the program `d` is not valid: it has a timeout below zero.");
    assert_app(&(mishap_app){ .name = "d", .version = "1\n0", .operations = sound },
               "The declaration of the program `d` is not valid: it has a version that is more "
               "than one line or has control characters.");
    assert_app(&(mishap_app){ .name = "d", .summary = " ", .operations = sound },
               "The declaration of the program `d` is not valid: it has a summary that is empty.");
}

static void a_program_is_asked_for_its_operations_by_name(void **state)
{
    (void)state;
    mishap_app app = { .name = "d", .operations = OPERATION(.danger = MISHAP_SAFE) };
    assert_ptr_equal(mishap_operation_find(&app, T("users.create")), app.operations);
    assert_null(mishap_operation_find(&app, T("users")));
    assert_null(mishap_operation_find(&app, T("")));
    assert_null(mishap_operation_find(&(mishap_app){ .name = "d" }, T("users.create")));
}

/* -- operations -------------------------------------------------------------------------------- */

static void names_are_words_with_dots_between(void **state)
{
    (void)state;
    static const char *const sound[] = { "create",        "users.create",    "a.b.c",
                                         "evaluate-lisp", "invoke_artifact", "v2.list" };
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        ASSERT_SOUND(.name = sound[i]);
    static const char *const broken[] = { "",     ".",           "users.",       ".create",
                                          "a..b", "Users",       "users create", "a.-b",
                                          "a-.b", "a--b",        "a_-b",         "2fast",
                                          "a.2",  "caf\xC3\xA9", "-a",           "a_" };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char sentence[200];
        snprintf(sentence, sizeof sentence,
                 "The declaration of the operation `%s` is not valid: it has a name that is not "
                 "lower-case words separated by dots.",
                 broken[i]);
        assert_operations(OPERATION(.name = broken[i]), sentence);
    }
}

static void operations_say_what_they_are_and_do(void **state)
{
    (void)state;
    char summary[130];
    memset(summary, 's', sizeof summary);
    summary[120] = '\0';
    ASSERT_SOUND(.summary = summary);
    ASSERT_SOUND(.summary = "\303\234ber alles", .group = "Users", .description = "One.\n\nTwo.");
    summary[120] = 's';
    summary[121] = '\0';
    ASSERT_OPERATION("it has a summary of more than 120 characters", .summary = summary);
    ASSERT_OPERATION("it has no summary", .summary = NULL);
    ASSERT_OPERATION("it has a summary that is empty", .summary = "");
    ASSERT_OPERATION("it has a summary that ends with a full stop", .summary = "Create a user.");
    ASSERT_OPERATION("it has a summary that is more than one line or has control characters",
                     .summary = "Create\na user");
    ASSERT_OPERATION("it has a summary that is not UTF-8", .summary = "Create \xFF");
    ASSERT_OPERATION("it has a group that is empty", .group = "");
    ASSERT_OPERATION("it has a description that is not UTF-8", .description = "One.\n\xC3");
    ASSERT_OPERATION("it has no handler function", .run = NULL);
    ASSERT_OPERATION("it has a timeout below zero", .timeout_ms = -5);
    ASSERT_OPERATION("it is neither safe nor mutating nor destructive", .danger = 4);
    ASSERT_OPERATION("it is a tool whose name is not up to 64 letters, digits, _, - and .",
                     .tool = "bad name");
    ASSERT_OPERATION("it is a tool whose name is not up to 64 letters, digits, _, - and .",
                     .tool = "");
    ASSERT_OPERATION("it is a tool whose name is not up to 64 letters, digits, _, - and .",
                     .tool = "a2345678901234567890123456789012345678901234567890123456789012345");
}

static void an_operation_without_a_name_does_not_just_end_the_list(void **state)
{
    (void)state;
    assert_operations((const mishap_operation[]){ { .name = "a", .summary = "A", .run = run },
                                                  { .summary = "B", .run = run },
                                                  { 0 } },
                      "The declaration of the program `directory` is not valid: it has an "
                      "operation, number 2, without a name.");
    assert_operations((const mishap_operation[]){ { .summary = "B", .run = run }, { 0 } },
                      "The declaration of the program `directory` is not valid: it has an "
                      "operation, number 1, without a name.");
}

static void operations_can_be_told_apart(void **state)
{
    (void)state;
    assert_operations(TWO("users.create", "users.delete", .danger = MISHAP_SAFE), NULL);
    assert_operations(TWO("users", "usersmore.create", .danger = MISHAP_SAFE), NULL);
    assert_operations(TWO("a.b", "a.b", .danger = MISHAP_SAFE),
                      "The declaration of the operation `a.b` is not valid: it is declared twice.");
    assert_operations(TWO("users", "users.create", .danger = MISHAP_SAFE),
                      "The declaration of the operation `users.create` is not valid: it and "
                      "`users` are the same command on the command line.");
    assert_operations(TWO("users.create", "users", .danger = MISHAP_SAFE),
                      "The declaration of the operation `users` is not valid: it and "
                      "`users.create` are the same command on the command line.");
    assert_operations(
        TWO("a", "b", .route = "GET /same"),
        "The declaration of the operation `b` is not valid: it has the same route as `a`.");
    const mishap_operation routes[] = {
        { .name = "a",
          .summary = "A",
          .run = run,
          .route = "GET /users/:id/todos",
          PARAMS({ "id", MISHAP_STRING, .required = true }) },
        { .name = "b",
          .summary = "B",
          .run = run,
          .route = "GET /users/:user/todos",
          PARAMS({ "user", MISHAP_STRING, .required = true }) },
        { 0 },
    };
    assert_operations(
        routes, "The declaration of the operation `b` is not valid: it has the same route as `a`.");
}

static void a_service_has_a_dialect_for_agents(void **state)
{
    (void)state;
    static const mishap_service sound = { "s", "S", .dialect = "artifact" };
    static const mishap_service odd = { "s", "S", .dialect = "http-api" };
    ASSERT_SOUND(.service = &sound);
    assert_operations(
        OPERATION(.service = &odd),
        "The declaration of the service `s` is not valid: it has the dialect `http-api`, which is "
        "none of tool-result, condition-report and artifact.");
}

static void declared_codes_make_sense(void **state)
{
    (void)state;
    ASSERT_SOUND(.raises = MISHAP_RAISES(NOT_FOUND, ALREADY_EXISTS));
    ASSERT_SOUND(.raises = (const mishap_code *const[]){ NULL });
    ASSERT_OPERATION("it declares NOT_FOUND twice",
                     .raises = MISHAP_RAISES(NOT_FOUND, TIMEOUT, NOT_FOUND));
    mishap_code own = *MISHAP_CODE_NOT_FOUND;
    own.exit_code = 126;
    ASSERT_OPERATION("it declares NOT_FOUND, whose exit code 126 is not among 1 to 125",
                     .raises = (const mishap_code *const[]){ &own, NULL });
    own.exit_code = 0;
    ASSERT_OPERATION("it declares NOT_FOUND, whose exit code 0 is not among 1 to 125",
                     .raises = (const mishap_code *const[]){ &own, NULL });
    own.exit_code = 79;
    own.retry = MISHAP_RETRY_YES;
    own.effects = MISHAP_EFFECTS_PARTIAL;
    ASSERT_OPERATION("it declares NOT_FOUND, which is retryable but can leave partial effects",
                     .raises = (const mishap_code *const[]){ &own, NULL });
    own.effects = MISHAP_EFFECTS_NONE;
    own.name = (mishap_text)MISHAP_TEXT("not found");
    ASSERT_OPERATION("it declares a code whose name is not UPPER_SNAKE",
                     .raises = (const mishap_code *const[]){ &own, NULL });
    own.name = (mishap_text)MISHAP_TEXT("OUT_OF_TEA");
    ASSERT_OPERATION("it declares OUT_OF_TEA, whose table was not added; call mishap_catalog_add() "
                     "first",
                     .raises = (const mishap_code *const[]){ MISHAP_CODE_TIMEOUT, &own, NULL });
    static mishap_code added;
    static const mishap_code *const rows[] = { &added };
    static mishap_catalog table = { .name = "tea", .codes = rows, .count = 1 };
    added = own;
    mishap_catalog_add(&table);
    ASSERT_SOUND(.raises = (const mishap_code *const[]){ MISHAP_CODE_TIMEOUT, &added, NULL });
    ASSERT_OPERATION("it declares OUT_OF_TEA, whose table was not added; call mishap_catalog_add() "
                     "first",
                     .raises = (const mishap_code *const[]){ &own, NULL });
    /* Every code of the catalog can be declared. */
    for (size_t i = 0; i < mishap_code_table.count; i++)
        ASSERT_SOUND(.raises = (const mishap_code *const[]){ mishap_code_table.codes[i], NULL });
}

/* What a standby may answer is old: nothing may be decided by it, or followed. */
static void reads_that_may_be_old_change_nothing_and_are_no_streams(void **state)
{
    static const mishap_service service = { .name = "s", .summary = "S" };
    (void)state;
    ASSERT_SOUND(.stale = true, .danger = MISHAP_SAFE, .service = &service);
    ASSERT_OPERATION("it is `.stale`, and changes something", .stale = true,
                     .danger = MISHAP_MUTATING, .service = &service);
    ASSERT_OPERATION("it is `.stale`, and changes something", .stale = true, .route = "DELETE /a",
                     .service = &service);
    ASSERT_OPERATION("it is `.stale`, and has no service with a store", .stale = true,
                     .danger = MISHAP_SAFE);
    ASSERT_OPERATION("it is `.stale`, and also quick, local or resident", .stale = true,
                     .danger = MISHAP_SAFE, .service = &service, .quick = true);
    ASSERT_OPERATION("it is `.stale`, and answers bytes or a stream: its reader must not miss "
                     "a change",
                     .stale = true, .danger = MISHAP_SAFE, .service = &service,
                     .answers_type = "text/event-stream");
}

static void a_trial_is_an_operation_of_its_service(void **state)
{
    static mishap_service service = { .name = "s", .summary = "S" };
    static const mishap_operation own = { "own", "Own", .service = &service }, other = { 0 };
    mishap_trial trial = { &own, "{}", "value", "3" };
    (void)state;
    service.trial = &trial;
    ASSERT_SOUND(.service = &service);
    trial.operation = &other;
    assert_operations(OPERATION(.service = &service),
                      "The declaration of the service `s` is not valid: it has a trial that is no "
                      "operation of it.");
    trial = (mishap_trial){ &own, "{}", "value", NULL };
    assert_operations(OPERATION(.service = &service),
                      "The declaration of the service `s` is not valid: it has a trial without "
                      "arguments or an expected answer.");
}

static void codes_of_a_service_and_of_a_program_make_sense(void **state)
{
    (void)state;
    static const mishap_code unknown = { .name = MISHAP_TEXT("OUT_OF_MILK"), .exit_code = 1 };
    mishap_service service = { .name = "store", .raises = MISHAP_RAISES(LOCKED, TIMEOUT) };
    mishap_app app = { .name = "directory",
                       .raises = MISHAP_RAISES(LOCKED, RATE_LIMITED),
                       .operations = OPERATION(.service = &service,
                                               .raises = MISHAP_RAISES(NOT_FOUND, LOCKED)) };
    assert_app(&app, NULL);
    app.raises = MISHAP_RAISES(LOCKED, RATE_LIMITED, LOCKED);
    assert_app(
        &app, "The declaration of the program `directory` is not valid: it declares LOCKED twice.");
    app.raises = (const mishap_code *const[]){ &unknown, NULL };
    assert_app(&app, "The declaration of the program `directory` is not valid: it declares "
                     "OUT_OF_MILK, whose table was not added; call mishap_catalog_add() first.");
    app.raises = NULL;
    service.raises = MISHAP_RAISES(TIMEOUT, TIMEOUT);
    assert_app(&app,
               "The declaration of the service `store` is not valid: it declares TIMEOUT twice.");
    service.raises = (const mishap_code *const[]){ &unknown, NULL };
    assert_app(&app, "The declaration of the service `store` is not valid: it declares "
                     "OUT_OF_MILK, whose table was not added; call mishap_catalog_add() first.");
}

/* Its own, then those of its service, then those of the program, each once. */
static void codes_are_those_of_the_operation_its_service_and_the_program(void **state)
{
    (void)state;
    const mishap_service service = { .name = "store", .raises = MISHAP_RAISES(LOCKED, TIMEOUT) };
    const mishap_app app = { .name = "directory",
                             .raises = MISHAP_RAISES(TIMEOUT, GONE, CONFLICT) };
    const mishap_operation *o = OPERATION(.service = &service,
                                          .raises = MISHAP_RAISES(CONFLICT, NOT_FOUND));
    const struct {
        const mishap_app *app;
        const mishap_operation *operation;
        const mishap_code *const *codes;
    } cases[] = {
        { &app, o, MISHAP_RAISES(CONFLICT, NOT_FOUND, LOCKED, TIMEOUT, GONE) },
        { NULL, o, MISHAP_RAISES(CONFLICT, NOT_FOUND, LOCKED, TIMEOUT) },
        { &app, OPERATION(.raises = NULL), MISHAP_RAISES(TIMEOUT, GONE, CONFLICT) },
        { &app, OPERATION(.service = &service), MISHAP_RAISES(LOCKED, TIMEOUT, GONE, CONFLICT) },
        { NULL, OPERATION(.raises = NULL), (const mishap_code *const[]){ NULL } },
        { NULL, OPERATION(.raises = MISHAP_RAISES(GONE, LOCKED, GONE)),
          MISHAP_RAISES(GONE, LOCKED) },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t at = 0;
        for (const mishap_code *const *code = cases[i].codes; *code; code++) {
            assert_ptr_equal(mishap_operation_code(cases[i].app, cases[i].operation, &at), *code);
            assert_true(mishap_operation_declares(cases[i].app, cases[i].operation, *code));
        }
        assert_null(mishap_operation_code(cases[i].app, cases[i].operation, &at));
        assert_null(mishap_operation_code(cases[i].app, cases[i].operation, &at));
        assert_false(mishap_operation_declares(cases[i].app, cases[i].operation,
                                               MISHAP_CODE_PAYMENT_REQUIRED));
    }
}

static void examples_are_of_the_command(void **state)
{
    (void)state;
#define EXAMPLES(...)                                                                              \
    .examples = (const mishap_example[])                                                           \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
    ASSERT_SOUND(EXAMPLES({ "users create --name Ada", "Create Ada" }, { "users create", NULL }));
    ASSERT_SOUND(.tool_example = "{}");
    ASSERT_OPERATION("it has a tool example that it would refuse: {\"nam\":1}",
                     .tool_example = "{\"nam\":1}");
    ASSERT_OPERATION("it has a tool example that it would refuse: [", .tool_example = "[");
    ASSERT_OPERATION("it has an example that runs another command: `users delete`",
                     EXAMPLES({ "users delete", "Delete" }));
    ASSERT_OPERATION("it has an example that runs another command: `directory users create`",
                     EXAMPLES({ "directory users create", NULL }));
    ASSERT_OPERATION("it has an example that runs another command: `users createmore`",
                     EXAMPLES({ "users createmore", NULL }));
    ASSERT_OPERATION("it has an example that runs another command: `users`",
                     EXAMPLES({ "users", NULL }));
    ASSERT_OPERATION("it has an example, number 1, that is empty",
                     EXAMPLES({ "users create", "" }));
    ASSERT_OPERATION(
        "it has an example, number 2, that is more than one line or has control characters",
        EXAMPLES({ "users create", NULL }, { "users create\n", NULL }));
    ASSERT_OPERATION("it has an example, number 1, without a command", EXAMPLES({ NULL, "What" }));
}

/* -- what is told, and without memory ---------------------------------------------------------- */

static void operation_and_parameter_are_told(void **state)
{
    (void)state;
    mishap_app app = { .name = "directory",
                       .operations = OPERATION(
                           PARAMS({ "age", MISHAP_INTEGER, .length = { 1, 2 } })) };
    mishap *m = mishap_declaration_check(&app);
    char *text = rendered(mishap_dialect_find("canonical"), m);
    assert_string_equal(
        text, "{\"code\":\"NOT_CONFIGURED\",\"message\":\"The declaration of the operation "
              "`users.create` is not valid: its parameter `age` has a length, which only a string, "
              "bytes, a file, an array or a map "
              "has.\",\"category\":\"system\",\"retryable\":false,\"suggestion\":\"Correct the "
              "declaration and build the program "
              "again.\",\"context\":{\"operation\":\"users.create\",\"parameter\":\"age\"}}");
    free(text);
    mishap_free(m);
}

/* A sound declaration may be refused then, never the other way round; nothing leaks. */
static void without_memory_nothing_broken_passes(void **state)
{
    (void)state;
    const mishap_app sound = { .name = "d",
                               .operations = OPERATION(PARAMS(
                                   { "x", MISHAP_STRING, .pattern = "^a", .initial = "\"ab\"" })) };
    const mishap_app broken = {
        .name = "d",
        .operations = OPERATION(
            PARAMS({ "x", MISHAP_STRING, .pattern = "^a", .initial = "\"bc\"" }))
    };
    mishap_pattern_forget();
    mishap_use_allocator(&failing_allocator);
    fail_once = true;
    for (int i = 0; i < 2; i++) {
        for (fail_at = 1, calls = 1; calls >= fail_at; fail_at++) {
            mishap_pattern_forget();
            calls = 0;
            blocks = 0;
            mishap *m = mishap_declaration_check(i ? &broken : &sound);
            if (i)
                assert_non_null(m);
            if (!i && calls < fail_at)
                assert_null(m);
            mishap_free(m);
            mishap_pattern_forget();
            assert_int_equal(blocks, 0);
        }
    }
    fail_at = 0;
    mishap_use_allocator(NULL);
}

static void a_line_is_looked_at_to_its_last_byte(void **state)
{
    (void)state;
    static const char *const sound[] = {
        "a",        "seven 7",          "eight  8",          "        b",
        "~~~~~~~~", "Grüße aus Zürich", "eight 8 and four ☃"
    };
    static const struct {
        const char *line, *flaw;
    } broken[] = {
        { "", "empty" },
        { "          ", "empty" },
        { "1234567\n", "more than one line or has control characters" },
        { "\t12345678", "more than one line or has control characters" },
        { "12345678\x1F", "more than one line or has control characters" },
        { "123\x7F", "more than one line or has control characters" },
        { "12345678123\x7F"
          "4567",
          "more than one line or has control characters" },
        { "12345678\xFF", "not UTF-8" },
        { "1234567\xC3", "not UTF-8" },
    };
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        assert_null(mishap_line_flaw(sound[i]));
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_string_equal(mishap_line_flaw(broken[i].line), broken[i].flaw);
}

static void a_command_waits_for_its_own_patterns_and_defaults_alone(void **state)
{
    (void)state;
    const mishap_operation operations[] = {
        { .name = "sound", .summary = "Sound", .run = run },
        { .name = "pattern",
          .summary = "P",
          .run = run,
          PARAMS({ "x", MISHAP_STRING, .pattern = "(" }) },
        { .name = "initial",
          .summary = "D",
          .run = run,
          PARAMS({ "x", MISHAP_INTEGER, .initial = "{" }) },
        { 0 },
    };
    const mishap_app app = { .name = "d", .operations = operations };
    assert_null(mishap_declaration_check_shape(&app));
    assert_null(mishap_declaration_check_operation(&app, &operations[0]));
    for (size_t i = 1; i < 3; i++) {
        mishap *m = mishap_declaration_check_operation(&app, &operations[i]);
        assert_non_null(m);
        mishap_free(m);
    }
    mishap *m = mishap_declaration_check(&app);
    assert_non_null(m);
    mishap_free(m);
}

static void a_task_has_what_can_be_stored_and_no_caller(void **state)
{
    static const struct mishap_task_engine engine;
    static const mishap_foreign program = { .program = "/bin/false" };
    static const mishap_service foreign = { "foreign", .worker = &program };
    static const mishap_param sure[] = { { "sure", .type = MISHAP_BOOLEAN }, { 0 } };
    static const mishap_question asks[] = { { "sure", .params = sure }, { 0 } };
    (void)state;
    assert_app(&(mishap_app){ .name = "d",
                              .operations = OPERATION(.task = true, .task_only = true),
                              .task_store = &engine },
               NULL);
    ASSERT_OPERATION("it is `.task`, but its program has no `.task_store`", .task = true);
    ASSERT_OPERATION("it is `.task_only`, but not `.task`", .task_only = true);
    ASSERT_OPERATION("it is `.task_only`, and also a resource or a prompt, which cannot be tasks",
                     .task = true, .task_only = true, .prompt = "plan");
    ASSERT_OPERATION("it is `.task_only`, and also a resource or a prompt, which cannot be tasks",
                     .task = true, .task_only = true, .resource = "users://all");
    ASSERT_OPERATION("it is `.task`, and also quick, local or resident", .task = true,
                     .quick = true);
    ASSERT_OPERATION("it is `.task`, and also quick, local or resident", .task = true,
                     .local = true);
    ASSERT_OPERATION("it is `.task`, and has a file that is streamed", .task = true,
                     .route = "POST /users",
                     PARAMS({ "file", .type = MISHAP_FILE, .required = true, .streamed = true,
                              .length = { 0, 1000 } }));
    ASSERT_OPERATION("it is `.task`, and is run by a foreign program", .task = true,
                     .service = &foreign);
    ASSERT_OPERATION("it is `.task`, and asks questions: its call is stored meanwhile, so it must "
                     "have neither secret parameters nor headers",
                     .task = true, .asks = asks,
                     PARAMS({ "token", .type = MISHAP_STRING, .secret = true }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_program_has_a_name_and_operations),
        TEST(a_program_is_asked_for_its_operations_by_name),
        TEST(names_are_words_with_dots_between),
        TEST(operations_say_what_they_are_and_do),
        TEST(an_operation_without_a_name_does_not_just_end_the_list),
        TEST(operations_can_be_told_apart),
        TEST(a_service_has_a_dialect_for_agents),
        TEST(declared_codes_make_sense),
        TEST(reads_that_may_be_old_change_nothing_and_are_no_streams),
        TEST(a_trial_is_an_operation_of_its_service),
        TEST(codes_of_a_service_and_of_a_program_make_sense),
        TEST(codes_are_those_of_the_operation_its_service_and_the_program),
        TEST(examples_are_of_the_command),
        TEST(operation_and_parameter_are_told),
        TEST(without_memory_nothing_broken_passes),
        TEST(a_line_is_looked_at_to_its_last_byte),
        TEST(a_command_waits_for_its_own_patterns_and_defaults_alone),
        TEST(a_task_has_what_can_be_stored_and_no_caller),
    };
    return RUN(tests);
}
