/* Broken declarations: each is refused with a sentence that says where and why, and sound ones are
 * not. */
#include <unistd.h>

#include "mishap/main.h"
#include "operation/declare.h"
#include "operation/findings.h"
#include "testing.h"

/* -- helpers ----------------------------------------------------------------------------------- */

static mishap *run(mishap_call *call)
{
    (void)call;
    return NULL;
}

/* The sentence must be this; NULL: the program is sound. */
static void assert_app(const mishap_app *app, const char *sentence)
{
    mishap *m = mishap_declaration_check(app);
    if (!sentence) {
        if (m)
            fail_msg("%s", mishap_public_message(mishap_told(m)).data);
        return;
    }
    if (!m)
        fail_msg("should be refused: %s", sentence);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_NOT_CONFIGURED);
    assert_string_equal(mishap_public_message(mishap_told(m)).data, sentence);
    mishap_free(m);
}

static void assert_operations(const mishap_operation *operations, const char *sentence)
{
    assert_app(&(mishap_app){ .name = "directory", .operations = operations }, sentence);
}

/* An operation that is sound but for what is given. */
#define OPERATION(...)                                                                             \
    ((const mishap_operation[]){                                                                   \
        { .name = "users.create", .summary = "Create a user", .run = run, __VA_ARGS__ }, { 0 } })
#define ASSERT_OPERATION(why, ...)                                                                 \
    assert_operations(OPERATION(__VA_ARGS__),                                                      \
                      "The declaration of the operation `users.create` is not valid: " why ".")
#define ASSERT_SOUND(...) assert_operations(OPERATION(__VA_ARGS__), NULL)

#define PARAMS(...)                                                                                \
    .params = (const mishap_param[])                                                               \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define ASSERT_PARAM(why, ...)                                                                     \
    ASSERT_OPERATION("its parameter `x` " why, PARAMS({ "x", __VA_ARGS__ }))
#define ASSERT_PARAM_SOUND(...) ASSERT_SOUND(PARAMS({ "x", __VA_ARGS__ }))
#define ASSERT_PARAMS(why, ...) ASSERT_OPERATION("its parameter " why, PARAMS(__VA_ARGS__))

#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

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
#define TWO(first, second, ...)                                                                    \
    ((const mishap_operation[]){ { .name = first, .summary = "One", .run = run, __VA_ARGS__ },     \
                                 { .name = second, .summary = "Two", .run = run, __VA_ARGS__ },    \
                                 { 0 } })
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

static void routes_are_a_method_and_a_path(void **state)
{
    (void)state;
    static const struct {
        const char *route, *why;
        mishap_danger danger;
    } cases[] = {
        { "GET /", NULL, MISHAP_SAFE },
        { "POST /users", NULL, MISHAP_SAFE },
        { "POST /users", NULL, MISHAP_MUTATING },
        { "GET /users/:id", NULL, MISHAP_SAFE },
        { "DELETE /users/:id", NULL, MISHAP_DESTRUCTIVE },
        { "GET /a-b/c.d/~e/F_1/:id", NULL, MISHAP_SAFE },
        { "", "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "/users",
          "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "get /users",
          "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "FETCH /users",
          "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "GET users",
          "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "GET  /users",
          "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "GET /users/", "it has a route with an empty segment, or with the segment . or ..",
          MISHAP_SAFE },
        { "GET //users", "it has a route with an empty segment, or with the segment . or ..",
          MISHAP_SAFE },
        { "GET /a/../b", "it has a route with an empty segment, or with the segment . or ..",
          MISHAP_SAFE },
        { "GET /users/{id}", "it has a route with the character `{`; parameters are written :name",
          MISHAP_SAFE },
        { "GET /users?x=1", "it has a route with the character `?`; parameters are written :name",
          MISHAP_SAFE },
        { "GET /us ers", "it has a route with the character ` `; parameters are written :name",
          MISHAP_SAFE },
        { "GET /users/:name", "it has a route with the parameter `name`, which is not declared",
          MISHAP_SAFE },
        { "GET /users/:", "it has a route with the parameter ``, which is not declared",
          MISHAP_SAFE },
        { "GET /:id/:id", "it has the same parameter twice in its route", MISHAP_SAFE },
        { "GET /users/:list",
          "it has the parameter `list` in its route, which must be required, a scalar and not "
          "secret",
          MISHAP_SAFE },
        { "GET /users/:maybe",
          "it has the parameter `maybe` in its route, which must be required, a scalar and not "
          "secret",
          MISHAP_SAFE },
        { "GET /users", "it has a route with GET, but is declared to change something",
          MISHAP_MUTATING },
        { "DELETE /users/:id", "it has a route with DELETE, but is declared to change nothing",
          MISHAP_SAFE },
        { "PUT /users/:id", "it has a route with PUT, but is declared to change nothing",
          MISHAP_SAFE },
        { "PUT /users/:id", NULL, MISHAP_BY_ROUTE },
        { "DELETE /users/:id", NULL, MISHAP_BY_ROUTE },
        { "GET /users/:id", NULL, MISHAP_BY_ROUTE },
    };
    static const mishap_param item = { NULL, .type = MISHAP_STRING };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sentence[300];
        snprintf(sentence, sizeof sentence,
                 "The declaration of the operation `users.create` is not valid: %s.", cases[i].why);
        assert_operations(
            OPERATION(.route = cases[i].route, .danger = cases[i].danger,
                      PARAMS({ "id", MISHAP_STRING, .required = true },
                             { "maybe", .type = MISHAP_STRING },
                             { "list", MISHAP_ARRAY, .required = true, .items = &item })),
            cases[i].why ? sentence : NULL);
    }
}

static void a_tail_is_the_last_of_a_route_and_a_string(void **state)
{
    (void)state;
#define TAIL(why, path, ...)                                                                       \
    ASSERT_OPERATION(why, .route = "GET " path, PARAMS({ "path", .required = true, __VA_ARGS__ }))
    ASSERT_SOUND(.route = "GET /files/{path...}",
                 PARAMS({ "path", MISHAP_STRING, .required = true }));
    ASSERT_SOUND(.route = "GET /:path...", PARAMS({ "path", MISHAP_STRING, .required = true }));
    TAIL("it has a route with a segment after its tail", "/{path...}/raw", .type = MISHAP_STRING);
    TAIL("it has a route with a segment after its tail", "/:path.../", .type = MISHAP_STRING);
    TAIL("it has the parameter `path` as the tail of its route, which must be a string",
         "/{path...}", .type = MISHAP_INTEGER);
    TAIL("it has a route with the parameter `other`, which is not declared", "/{other...}",
         .type = MISHAP_STRING);
    TAIL("it has a route with the parameter ``, which is not declared", "/{...}",
         .type = MISHAP_STRING);
    TAIL("it has the same parameter twice in its route", "/:path/{path...}", .type = MISHAP_STRING);
    TAIL("it has a route with the character `{`; parameters are written :name", "/{path}",
         .type = MISHAP_STRING);
#undef TAIL
    static const mishap_param params[] = { { "path", MISHAP_STRING, .required = true }, { 0 } };
    static const mishap_operation both[] = {
        { "files.get", "Get one", params, run, .route = "GET /files/:path" },
        { "files.tail", "Get any", params, run, .route = "GET /files/{path...}" },
        { 0 },
    };
    assert_operations(both, "The declaration of the operation `files.tail` is not valid: it has "
                            "the same route as `files.get`.");
}

static void bytes_have_media_types(void **state)
{
    (void)state;
    ASSERT_SOUND(.answers_type = "text/plain; charset=utf-8", .route = "GET /report");
    ASSERT_SOUND(.takes = "text/csv, image/*,*/*", .route = "PUT /report");
    ASSERT_SOUND(.takes = "text/csv");
    static const char *const no_types[] = {
        "", "png", "image/", "image/*", "image/png\r\nX: 1", "image/p\xc3\xa4g"
    };
    for (size_t i = 0; i < sizeof no_types / sizeof *no_types; i++)
        ASSERT_OPERATION("it has an `answers_type` that is not a media type such as image/png",
                         .answers_type = no_types[i]);
    static const char *const no_lists[] = {
        "", ",", "text/csv,,text/plain", "text", "text/csv;q=1", "text/csv text/plain", "text/\x01"
    };
    for (size_t i = 0; i < sizeof no_lists / sizeof *no_lists; i++)
        ASSERT_OPERATION("it has a `takes` that is not a list of media types separated by commas",
                         .takes = no_lists[i]);
    ASSERT_OPERATION("it takes a body, but its route has no POST, PUT or PATCH",
                     .takes = "text/csv", .route = "GET /report");
    ASSERT_OPERATION(
        "it takes a body, and has a parameter `body_type` whose name is reserved for the body",
        .takes = "text/csv", PARAMS({ "body_type", MISHAP_STRING, .length = { 1, 9 } }));
}

static void resources_have_an_address(void **state)
{
    (void)state;
#define TWO_PARAMS                                                                                 \
    PARAMS({ "id", MISHAP_INTEGER, .required = true }, { .name = "kind", .type = MISHAP_STRING })
    ASSERT_SOUND(.resource = "todo://todos");
    ASSERT_SOUND(.resource = "todo:todos%20here");
    ASSERT_SOUND(TWO_PARAMS, .resource = "todo://todos/{id}");
    ASSERT_SOUND(TWO_PARAMS, .resource = "todo://{kind}/{id}/all");
    ASSERT_SOUND(.resource = "todo://todos", .prompt = "todos", .tool = "todos");
    static const char *const none[] = { "",          "todos",        "/todos",
                                        "todo:",     "7:todos",      "todo://a b",
                                        "todo://%4", "{id}://todos", "todo://\xC3\xA9",
                                        "todo://\"" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ASSERT_OPERATION("it has an address that is not a URI such as todo://todos/{id}",
                         PARAMS({ .name = "id", .type = MISHAP_INTEGER }), .resource = none[i]);
    ASSERT_OPERATION("it has an address with {nobody}, which is not a parameter", TWO_PARAMS,
                     .resource = "todo://todos/{id}/{nobody}");
    ASSERT_OPERATION("it has an address with {}, which is not a parameter", TWO_PARAMS,
                     .resource = "todo://todos/{}");
    ASSERT_OPERATION("it has {id} twice in its address", TWO_PARAMS,
                     .resource = "todo://todos/{id}/{id}");
    ASSERT_OPERATION("it has an address with a brace that does not close", TWO_PARAMS,
                     .resource = "todo://todos/{id");
    ASSERT_OPERATION("it has an address with a brace that does not close", TWO_PARAMS,
                     .resource = "todo://todos/{id/x}");
    ASSERT_OPERATION("it has an address with a brace that was not opened", TWO_PARAMS,
                     .resource = "todo://todos/{id}/}");
    static const char *const partial[] = { "todo://todos/a{id}", "todo://todos/{id}.json",
                                           "todo://todos/{id}{kind}", "todo:{id}" };
    for (size_t i = 0; i < sizeof partial / sizeof *partial; i++)
        ASSERT_OPERATION(
            "it has an address in which {id} is not a complete segment between two slashes",
            TWO_PARAMS, .resource = partial[i]);
    ASSERT_OPERATION("it requires `id`, which its address todo://todos/{kind} does not contain",
                     TWO_PARAMS, .resource = "todo://todos/{kind}");
    ASSERT_OPERATION("it has {key} in its address, which must be a scalar and not secret",
                     PARAMS({ "key", MISHAP_STRING, .secret = true }),
                     .resource = "todo://a/{key}");
    ASSERT_OPERATION("it has {map} in its address, which must be a scalar and not secret",
                     PARAMS({ .name = "map", .type = MISHAP_OBJECT }),
                     .resource = "todo://a/{map}");
    ASSERT_OPERATION("it has an address with :id; there a parameter is written {id}", TWO_PARAMS,
                     .resource = "todo://{kind}/:id/x");
    ASSERT_SOUND(.resource = "todo://todos/:id"); /* of no parameter: a text like any other */
    ASSERT_OPERATION("it is a resource, but is declared to change something",
                     .danger = MISHAP_MUTATING, .resource = "todo://todos");
    ASSERT_OPERATION("it is declared for the command line only, but it is a resource",
                     .local = true, .resource = "todo://todos");
    ASSERT_OPERATION("it is resident, but it is a resource", .resident = true,
                     .resource = "todo://todos");
    assert_operations(
        TWO("a", "b", .resource = "todo://same"),
        "The declaration of the operation `b` is not valid: it has the same address as `a`.");
    const mishap_operation same[] = {
        { .name = "a",
          .summary = "A",
          .run = run,
          PARAMS({ "id", MISHAP_INTEGER, .required = true }),
          .resource = "todo://todos/{id}/x" },
        { .name = "b",
          .summary = "B",
          .run = run,
          PARAMS({ "todo", MISHAP_INTEGER, .required = true }),
          .resource = "todo://todos/{todo}/x" },
        { 0 },
    };
    assert_operations(
        same, "The declaration of the operation `b` is not valid: it has the same address as `a`.");
}

static void prompts_have_a_name(void **state)
{
    (void)state;
    static const char *const none[] = {
        "", "a b", "a/b", "\xC3\xA9",
        "a1234567890123456789012345678901234567890123456789012345678901234"
    };
    ASSERT_SOUND(.prompt = "plan_day");
    ASSERT_SOUND(.prompt = "Plan-day.2", .danger = MISHAP_MUTATING);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ASSERT_OPERATION("it is a prompt whose name is not letters, digits, _, - and ., 64 at most",
                         .prompt = none[i]);
    ASSERT_OPERATION("it is declared for the command line only, but it is a prompt", .local = true,
                     .prompt = "a");
    ASSERT_OPERATION("it is resident, but it is a prompt", .resident = true, .prompt = "a");
    assert_operations(
        TWO("a", "b", .prompt = "same"),
        "The declaration of the operation `b` is not valid: it is the same prompt as `a`.");
}

/* By the name that is declared, or that is made of the operation's own. */
static void tools_can_be_told_apart(void **state)
{
    (void)state;
    static const char same[] =
        "The declaration of the operation `b_c` is not valid: it is the same tool as "
        "`b.c`; `.tool` names it otherwise.";
    static const char named[] =
        "The declaration of the operation `b` is not valid: it is the same tool as `a`; "
        "`.tool` names it otherwise.";
    assert_operations(TWO("b.c", "b_c", .local = false), same);
    assert_operations(TWO("b.c", "b_c", .local = true), NULL);
    assert_operations(TWO("a", "b", .tool = "x"), named);
    assert_operations(TWO("a", "b", .tool = "x", .resident = true), NULL);
    const mishap_operation list[] = { { "a", "A", .run = run, .tool = "b" },
                                      { "b", "B", .run = run },
                                      { 0 } };
    assert_operations(list, named);
    const mishap_operation prompt[] = { { "a", "A", .run = run, .tool = "b" },
                                        { "b", "B", .run = run, .prompt = "b" },
                                        { "b2", "B", .run = run, .tool = "b3" },
                                        { 0 } };
    assert_operations(prompt, NULL);
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

static void a_status_is_one_of_success(void **state)
{
    (void)state;
    ASSERT_SOUND(.status = 202);
    ASSERT_OPERATION("it has the status 203, which is none of 200, 201, 202 and 204",
                     .status = 203);
    ASSERT_OPERATION("it has the status 404, which is none of 200, 201, 202 and 204",
                     .status = 404);
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
    static mishap_catalog table = { .name = "tea", .codes = &added, .count = 1 };
    added = own;
    mishap_catalog_add(&table);
    ASSERT_SOUND(.raises = (const mishap_code *const[]){ MISHAP_CODE_TIMEOUT, &added, NULL });
    ASSERT_OPERATION("it declares OUT_OF_TEA, whose table was not added; call mishap_catalog_add() "
                     "first",
                     .raises = (const mishap_code *const[]){ &own, NULL });
    /* Whatever the catalog has can be declared. */
    for (size_t i = 0; i < mishap_code_table.count; i++)
        ASSERT_SOUND(.raises = (const mishap_code *const[]){ &mishap_code_table.codes[i], NULL });
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

/* The first line that a program says on standard error, which ends with this exit code. */
static void assert_program_says(const mishap_app *app, int status, const char *line)
{
    char said[400] = "", *argv[] = { (char[]){ "directory" }, (char[]){ "--version" }, NULL };
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO), out = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(fileno(file), STDERR_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    int ended = mishap_main(2, argv, app);
    fflush(stdout);
    dup2(before, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    close(before);
    close(out);
    rewind(file);
    assert_non_null(fgets(said, sizeof said, file));
    fclose(file);
    said[strcspn(said, "\n")] = '\0';
    assert_string_equal(said, line);
    assert_int_equal(ended, status);
}

static void no_route_is_one_of_the_server(void **state)
{
    (void)state;
    static const struct {
        const char *route, *own;
    } cases[] = {
        { "GET /health", "GET /health" },
        { "GET /metrics", "GET /metrics" },
        { "GET /openapi.json", "GET /openapi.json" },
        { "GET /errors", "GET /errors" },
        { "GET /errors/:name", "GET /errors/:code" },
        { "GET /errors/{name...}", "GET /errors/:code" },
        { "POST /mcp", "POST /mcp" },
        { "GET /mcp", "GET /mcp" },
        { "DELETE /mcp", "DELETE /mcp" },
        { "POST /health", NULL },
        { "GET /healthy", NULL },
        { "GET /:name", NULL },
        { "GET /mcp/tools", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[300] = "directory 1.0";
        if (cases[i].own)
            snprintf(line, sizeof line,
                     "The declaration of the operation `users.create` is not valid: it has the "
                     "route `%s`, which is a built-in route of the server.",
                     cases[i].own);
        const mishap_app app = {
            .name = "directory",
            .version = "1.0",
            .operations = OPERATION(.route = cases[i].route,
                                    PARAMS({ "name", MISHAP_STRING, .required = true })),
        };
        assert_program_says(&app, cases[i].own ? 70 : 0, line);
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

/* -- parameters -------------------------------------------------------------------------------- */

static void parameters_have_a_name_and_a_type(void **state)
{
    (void)state;
    static const char *const sound[] = { "x",       "name",   "created_at", "line_2", "x1",
                                         "dueDate", "userID", "x509Cert",   "aB" };
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        ASSERT_SOUND(PARAMS({ sound[i], .type = MISHAP_STRING }));
    static const char *const broken[] = {
        "",   "Name",         "created-at", "a.b",      "_a",       "a_",      "a__b",
        "1a", "na\xC3\xAFve", "a b",        "due_Date", "dueDate_", "due-Date"
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char sentence[200];
        snprintf(sentence, sizeof sentence,
                 "The declaration of the operation `users.create` is not valid: its parameter `%s` "
                 "has a name that is neither lower_snake nor camelCase.",
                 broken[i]);
        assert_operations(OPERATION(PARAMS({ broken[i], .type = MISHAP_STRING })), sentence);
    }
    ASSERT_PARAM("has no type, or an unknown type", .required = true);
    ASSERT_PARAM("has no type, or an unknown type", .type = 8);
    ASSERT_PARAM("has no type, or an unknown type", .type = -1);
    ASSERT_PARAM("has a help text that is empty", .type = MISHAP_STRING, .help = "");
    ASSERT_PARAM("has a help text that is not UTF-8", .type = MISHAP_STRING, .help = "\xFE");
    ASSERT_OPERATION("it has a parameter, number 2, without a name",
                     PARAMS({ "x", .type = MISHAP_STRING }, { NULL, .type = MISHAP_STRING }));
    ASSERT_PARAMS("`dueDate` differs from `due_date` only in capitals or underscores",
                  { "due_date", .type = MISHAP_STRING }, { "dueDate", .type = MISHAP_STRING });
    static const mishap_param members[] = { { "due_date", .type = MISHAP_STRING },
                                            { "dueDate", .type = MISHAP_STRING },
                                            { 0 } };
    ASSERT_PARAM_SOUND(MISHAP_OBJECT, .members = members); /* no flags */
    ASSERT_PARAMS("`x` is declared twice", { "x", .type = MISHAP_STRING },
                  { "y", .type = MISHAP_STRING }, { "x", .type = MISHAP_INTEGER });
}

static const mishap_param text_item = { NULL, .type = MISHAP_STRING };

static void lengths_are_of_strings_and_arrays(void **state)
{
    (void)state;
    ASSERT_PARAM_SOUND(MISHAP_STRING, .length = { 1, 1 });
    ASSERT_PARAM_SOUND(MISHAP_STRING, .length = { .min = 5 });
    ASSERT_PARAM_SOUND(MISHAP_ARRAY, .length = { 1, 2 }, .items = &text_item);
    ASSERT_PARAM("has a length of at least 5 and at most 4", MISHAP_STRING, .length = { 5, 4 });
    static const char *const red[] = { "red", NULL };
    ASSERT_PARAM("has a length, which only a string or an array has", MISHAP_INTEGER,
                 .length = { 1, 2 });
    ASSERT_PARAM("has a length, which only a string or an array has", MISHAP_BOOLEAN,
                 .length = { 0, 2 });
    ASSERT_PARAM("has a length, which only a string or an array has", MISHAP_OBJECT,
                 .length = { 1, 0 });
    ASSERT_PARAM("has a length, which only a string or an array has", MISHAP_ENUM, .choices = red,
                 .length = { 1, 2 });
}

static void ranges_are_of_numbers(void **state)
{
    (void)state;
    ASSERT_PARAM_SOUND(MISHAP_INTEGER, .range = { 0, 150 });
    ASSERT_PARAM_SOUND(MISHAP_INTEGER, .range = { -INFINITY, 0 });
    ASSERT_PARAM_SOUND(MISHAP_NUMBER, .range = { 0.5, 0.5 });
    ASSERT_PARAM_SOUND(MISHAP_NUMBER, .range = { -INFINITY, INFINITY });
    ASSERT_PARAM("has a range, which only an integer or a number has", MISHAP_STRING,
                 .range = { 0, 1 });
    ASSERT_PARAM("has a range, which only an integer or a number has", MISHAP_BOOLEAN,
                 .range = { 1, 1 });
    ASSERT_PARAM("has a range with a bound that is not a number", MISHAP_NUMBER,
                 .range = { 0, NAN });
    ASSERT_PARAM("has a range from 5 to 0; use INFINITY for no limit", MISHAP_NUMBER,
                 .range = { .min = 5 });
    ASSERT_PARAM("has an empty range", MISHAP_NUMBER, .range = { INFINITY, INFINITY });
    ASSERT_PARAM("has an empty range", MISHAP_NUMBER, .range = { -INFINITY, -INFINITY });
    ASSERT_PARAM("is an integer with a bound that is not an integer or is too large; use INFINITY "
                 "for no limit",
                 MISHAP_INTEGER, .range = { 0.5, 2 });
    ASSERT_PARAM("is an integer with a bound that is not an integer or is too large; use INFINITY "
                 "for no limit",
                 MISHAP_INTEGER, .range = { 0, 1e19 });
}

static void patterns_and_choices_work(void **state)
{
    (void)state;
    static const char *const none[] = { NULL }, *const colours[] = { "red", "green", NULL },
                             *const twice[] = { "red", "green", "red", NULL },
                             *const empty[] = { "red", "", NULL };
    ASSERT_PARAM_SOUND(MISHAP_STRING, .pattern = "^[a-z]+$");
    ASSERT_PARAM("has a pattern, which only a string has", MISHAP_INTEGER, .pattern = "x");
    ASSERT_PARAM("has a pattern, which only a string has", MISHAP_ENUM, .choices = colours,
                 .pattern = "x");
    ASSERT_PARAM("has a pattern that cannot be compiled: missing closing parenthesis (at byte 1)",
                 MISHAP_STRING, .pattern = "(");
    ASSERT_PARAM_SOUND(MISHAP_STRING, .format = "date-time", .looks = "a point in time");
    ASSERT_PARAM("has a format, which only a string has", MISHAP_INTEGER, .format = "date");
    ASSERT_PARAM("has a format, which only a string has", MISHAP_ENUM, .choices = colours,
                 .format = "date");
    ASSERT_PARAM("has the format `datetime`, which is not one of date, time, date-time, duration, "
                 "email, hostname, ipv4, ipv6, uri or uuid",
                 MISHAP_STRING, .format = "datetime");
    ASSERT_PARAM("has a default that breaks its own rules: pattern_mismatch", MISHAP_STRING,
                 .format = "date", .initial = "\"2026-02-31\"");
    ASSERT_PARAM_SOUND(MISHAP_ENUM, .choices = colours);
    ASSERT_PARAM("is an enum without choices", .type = MISHAP_ENUM);
    ASSERT_PARAM("is an enum without choices", MISHAP_ENUM, .choices = none);
    ASSERT_PARAM("has choices, which only an enum has", MISHAP_STRING, .choices = colours);
    ASSERT_PARAM("has the choice `red` twice", MISHAP_ENUM, .choices = twice);
    ASSERT_PARAM("has a choice, number 2, that is empty", MISHAP_ENUM, .choices = empty);
}

static void what_is_inside_is_checked_too(void **state)
{
    (void)state;
    static const mishap_param city[] = { { "city", MISHAP_STRING, .required = true }, { 0 } },
                              nothing[] = { { 0 } };
    static const mishap_param flawed[] = { { "city", MISHAP_STRING, .pattern = "(" }, { 0 } };
    static const mishap_param object_item = { NULL, MISHAP_OBJECT, .members = flawed };
    ASSERT_PARAM_SOUND(.type = MISHAP_OBJECT);
    ASSERT_PARAM_SOUND(MISHAP_OBJECT, .members = city);
    ASSERT_PARAM("has items, which only an array has", MISHAP_STRING, .items = &text_item);
    ASSERT_PARAM("has members, which only an object has", MISHAP_STRING, .members = city);
    ASSERT_PARAM("is an object with an empty list of members; NULL allows any", MISHAP_OBJECT,
                 .members = nothing);
    ASSERT_PARAMS(
        "`x.city` has a pattern that cannot be compiled: missing closing parenthesis (at byte 1)",
        { "x", MISHAP_OBJECT, .members = flawed });
    ASSERT_PARAMS(
        "`x[].city` has a pattern that cannot be compiled: missing closing parenthesis (at byte 1)",
        { "x", MISHAP_ARRAY, .items = &object_item });

    static const mishap_param with_letter[] = { { "city", MISHAP_STRING, .letter = 'c' }, { 0 } };
    static const mishap_param with_default[] = { { "city", MISHAP_STRING, .initial = "\"Rome\"" },
                                                 { 0 } };
    ASSERT_PARAMS("`x.city` is nested in another parameter, so it cannot have a flag, a position "
                  "or a variable",
                  { "x", MISHAP_OBJECT, .members = with_letter });
    ASSERT_PARAMS("`x.city` is nested in another parameter, where a default is not supported",
                  { "x", MISHAP_OBJECT, .members = with_default });
}

static void a_declaration_that_contains_itself_is_refused(void **state)
{
    (void)state;
    static mishap_param node = { NULL, .type = MISHAP_ARRAY };
    node.items = &node;
    ASSERT_PARAMS(
        "`x[][][][][][][][][][][][][][][][]` is nested more than 16 deep, or contains itself",
        { "x", MISHAP_ARRAY, .items = &node });
}

static void defaults_hold_their_own_rules(void **state)
{
    (void)state;
    static const char *const colours[] = { "red", "green", NULL };
    ASSERT_PARAM_SOUND(MISHAP_INTEGER, .range = { 1, 9 }, .initial = "5");
    ASSERT_PARAM_SOUND(MISHAP_ENUM, .choices = colours, .initial = "\"red\"");
    ASSERT_PARAM_SOUND(MISHAP_STRING, .initial = "\"\"");
    ASSERT_PARAM_SOUND(MISHAP_ARRAY, .items = &text_item, .initial = "[]");
    mishap *m = mishap_declaration_check(&(mishap_app){
        .name = "d", .operations = OPERATION(PARAMS({ "x", MISHAP_STRING, .initial = "text" })) });
    assert_non_null(
        strstr(mishap_public_message(mishap_told(m)).data, "`x` has a default that is not JSON: "));
    mishap_free(m);
    ASSERT_PARAM("has a default that is not JSON: the text is empty; a string has quotes of its "
                 "own, \"\\\"text\\\"\"",
                 MISHAP_STRING, .initial = "");
    ASSERT_PARAM("has a default that is not JSON: the text is empty", MISHAP_INTEGER,
                 .initial = "");
    ASSERT_PARAM("has a default that breaks its own rules: value_out_of_range", MISHAP_INTEGER,
                 .range = { 1, 9 }, .initial = "10");
    ASSERT_PARAM("has a default that breaks its own rules: invalid_type", MISHAP_INTEGER,
                 .initial = "\"5\"");
    ASSERT_PARAM("has a default that breaks its own rules: pattern_mismatch", MISHAP_ENUM,
                 .choices = colours, .initial = "\"blue\"");
    ASSERT_PARAM("has a default that breaks its own rules: invalid_length", MISHAP_STRING,
                 .length = { 2, 3 }, .initial = "\"\"");
    ASSERT_PARAM("has a default that breaks its own rules: invalid_type", MISHAP_ARRAY,
                 .items = &text_item, .initial = "[1]");
    ASSERT_PARAM("has the default null, which is not allowed", MISHAP_STRING, .initial = "null");
    ASSERT_PARAM("has a default that could not be checked", MISHAP_STRING, .pattern = "(a+)+$",
                 .initial = "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"");
    ASSERT_PARAM("is required and has a default, which would never be used", MISHAP_STRING,
                 .required = true, .initial = "\"a\"");
    ASSERT_PARAM("is secret and has a default, which everyone could read", MISHAP_STRING,
                 .secret = true, .initial = "\"a\"");
}

static void headers_have_names_and_are_no_keys(void **state)
{
    (void)state;
#define HEADERS(...) OPERATION(.headers = (const char *const[]){ __VA_ARGS__, NULL })
#define REFUSED(why)                                                                               \
    "The declaration of the operation `users.create` is not valid: it reads " why "."
    assert_operations(HEADERS("User-Agent", "traceparent", "X-1"), NULL);
    static const char odd[] = REFUSED("a header whose name is not up to 63 letters, digits "
                                      "and -");
    assert_operations(HEADERS("User Agent"), odd);
    assert_operations(HEADERS(""), odd);
    assert_operations(HEADERS("ok", "a:b"), odd);
    assert_operations(HEADERS("X-API-Key"),
                      REFUSED("the header X-API-Key, which contains the API key of the caller"));
    assert_operations(
        HEADERS("authorization"),
        REFUSED("the header authorization, which contains the API key of the caller"));
}

/* Six beside those that the server reads anyway, whatever the case of their letters. */
static void header_fields_are_not_more_than_a_server_keeps(void **state)
{
    (void)state;
    static const char *const first[] = { "X-1", "X-2", "X-3", "User-Agent", "Mcp-Name", NULL };
    static const char *const second[] = { "x-1", "X-4", "X-5", "X-6", NULL };
    static const char *const third[] = { "x-6", "X-7", NULL };
    mishap_operation list[] = { { "a", "One", .run = run, .headers = first },
                                { "b", "Two", .run = run, .headers = second },
                                { "c", "Three", .run = run },
                                { 0 } };
    const mishap_app app = { .name = "directory", .version = "1.0", .operations = list };
    assert_program_says(&app, 0, "directory 1.0");
    list[2].headers = third;
    assert_program_says(
        &app, 70,
        "The declaration of the operation `c` is not valid: it reads the header field X-7; all "
        "operations together can read 6 beside those of the server.");
}

static void the_command_line_is_not_ambiguous(void **state)
{
    (void)state;
    assert_operations(TWO("helper", "users.help", .local = false), NULL);
    assert_operations(
        TWO("a", "help", .local = false),
        "The declaration of the operation `help` is not valid: it could not be called on a command "
        "line, because `help` shows the help.");
    assert_operations(
        TWO("help.me", "a", .local = false),
        "The declaration of the operation `help.me` is not valid: it could not be called on a "
        "command line, because `help` shows the help.");
    ASSERT_PARAM_SOUND(MISHAP_STRING, .letter = 'p', .environment = "MY_X2", .placeholder = "WORD");
    ASSERT_PARAM("has a short flag that is not a letter", MISHAP_STRING, .letter = '1');
    ASSERT_PARAM("has a short flag that is not a letter", MISHAP_STRING, .letter = '-');
    ASSERT_PARAM("has the short flag -h, which shows the help of a command", MISHAP_STRING,
                 .letter = 'h');
    ASSERT_PARAM_SOUND(MISHAP_STRING, .letter = 'v'); /* it comes before that of --verbose */
    ASSERT_PARAMS("`help` could not be given on a command line, because --help shows the help",
                  { "help", MISHAP_STRING, .help = "Of whom" });
    static const mishap_param inner[] = { { "help", MISHAP_STRING, .length = { 1, 9 } }, { 0 } };
    ASSERT_SOUND(PARAMS({ "helper", MISHAP_STRING, .length = { 1, 9 } },
                        { "version", MISHAP_STRING, .length = { 1, 9 } },
                        { "output", MISHAP_OBJECT, .members = inner }));
    ASSERT_PARAMS("`no_color` and `color` are the same flag on a command line, where --no-NAME "
                  "sets a boolean to false",
                  { "color", MISHAP_BOOLEAN, .letter = 'c' },
                  { "no_color", MISHAP_STRING, .letter = 'n' });
    ASSERT_PARAMS("`dueDate` and `noDueDate` are the same flag on a command line, where --no-NAME "
                  "sets a boolean to false",
                  { "noDueDate", MISHAP_STRING, .letter = 'n' },
                  { "dueDate", MISHAP_BOOLEAN, .letter = 'd' });
    ASSERT_SOUND(PARAMS(
        { "tice", MISHAP_BOOLEAN, .letter = 't' }, { "notice", MISHAP_STRING, .letter = 'n' },
        { "no_name", MISHAP_STRING, .letter = 'x' }, { "name", MISHAP_STRING, .letter = 'y' }));
    ASSERT_PARAM("has `looks`, but no pattern", MISHAP_STRING, .looks = "HOST:PORT");
    ASSERT_PARAM("has a `looks` that is empty", MISHAP_STRING, .pattern = ":", .looks = "");
    ASSERT_PARAM("has a placeholder that is empty", MISHAP_STRING, .placeholder = "");
    static const char *const variables[] = { "", "lower", "A-B", "1A", "A B" };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        ASSERT_PARAM("is read from a variable whose name is not UPPER_SNAKE", MISHAP_STRING,
                     .environment = variables[i]);
    ASSERT_PARAM("is secret and positional; a secret must not be given on a command line",
                 MISHAP_STRING, .secret = true, .positional = true);
    ASSERT_PARAMS("`y` has the short flag -p, which `x` also has",
                  { "x", MISHAP_STRING, .letter = 'p' }, { "y", MISHAP_STRING, .letter = 'p' });
    ASSERT_SOUND(
        PARAMS({ "x", MISHAP_STRING, .letter = 'p' }, { "y", MISHAP_STRING, .letter = 'P' }));
    ASSERT_PARAMS("`y` is read from the variable HOME, from which `x` is also read",
                  { "x", MISHAP_STRING, .environment = "HOME" },
                  { "y", MISHAP_STRING, .environment = "HOME" });
    ASSERT_SOUND(PARAMS({ "x", MISHAP_STRING, .required = true, .positional = true },
                        { "y", MISHAP_STRING, .positional = true },
                        { "z", MISHAP_ARRAY, .items = &text_item, .positional = true }));
    ASSERT_PARAMS("`y` is positional and required, but comes after `x`, which is optional",
                  { "x", MISHAP_STRING, .positional = true },
                  { "y", MISHAP_STRING, .required = true, .positional = true });
    ASSERT_PARAMS("`y` is positional after the array `x`, which takes all following arguments",
                  { "x", MISHAP_ARRAY, .items = &text_item, .positional = true },
                  { "y", MISHAP_STRING, .positional = true });
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
        text,
        "{\"code\":\"NOT_CONFIGURED\",\"message\":\"The declaration of the operation "
        "`users.create` is not valid: its parameter `age` has a length, which only a string or an "
        "array has.\",\"category\":\"system\",\"retryable\":false,\"suggestion\":\"Correct the "
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_program_has_a_name_and_operations),
        TEST(a_program_is_asked_for_its_operations_by_name),
        TEST(names_are_words_with_dots_between),
        TEST(operations_say_what_they_are_and_do),
        TEST(an_operation_without_a_name_does_not_just_end_the_list),
        TEST(operations_can_be_told_apart),
        TEST(routes_are_a_method_and_a_path),
        TEST(a_tail_is_the_last_of_a_route_and_a_string),
        TEST(bytes_have_media_types),
        TEST(resources_have_an_address),
        TEST(prompts_have_a_name),
        TEST(tools_can_be_told_apart),
        TEST(a_service_has_a_dialect_for_agents),
        TEST(a_status_is_one_of_success),
        TEST(declared_codes_make_sense),
        TEST(a_trial_is_an_operation_of_its_service),
        TEST(codes_of_a_service_and_of_a_program_make_sense),
        TEST(codes_are_those_of_the_operation_its_service_and_the_program),
        TEST(no_route_is_one_of_the_server),
        TEST(examples_are_of_the_command),
        TEST(parameters_have_a_name_and_a_type),
        TEST(lengths_are_of_strings_and_arrays),
        TEST(ranges_are_of_numbers),
        TEST(patterns_and_choices_work),
        TEST(what_is_inside_is_checked_too),
        TEST(a_declaration_that_contains_itself_is_refused),
        TEST(defaults_hold_their_own_rules),
        TEST(headers_have_names_and_are_no_keys),
        TEST(header_fields_are_not_more_than_a_server_keeps),
        TEST(the_command_line_is_not_ambiguous),
        TEST(operation_and_parameter_are_told),
        TEST(without_memory_nothing_broken_passes),
        TEST(a_line_is_looked_at_to_its_last_byte),
        TEST(a_command_waits_for_its_own_patterns_and_defaults_alone),
    };
    return RUN(tests);
}
